"""Explain a refused expression by the operation in it whose operands have the wrong types.

    sym - 1 > 0      Cannot coerce arithmetic expression Utf8 - Int32 to valid types
        →   `-` in DEFINE cannot combine string and int

1. `find_smallest_refused` goes down from the expression to the smallest operation that the engine
   refuses, although it accepts all operands of that operation.
2. The engine is asked for the types of the operands.
3. If the refusal is about types or about the number of arguments, the error is written from the
   operation and these types. So it is the same on each engine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress

from pyspark.errors import PySparkException

from matchrec.errors import MatchRecognizeError
from matchrec.errors.run.origins import read_users_text
from matchrec.errors.sql.engine_errors import (
    describe_expected_argument,
    read_argument_counts,
    unknown_type,
)
from matchrec.errors.sql.wrong_types import (
    TypedText,
    incompatible_types,
    wrong_number_of_function_arguments,
)
from matchrec.plan.expression import Aggregate, Operation, Scalar, render, split_branches
from matchrec.plan.show import show_scalar
from matchrec.source import Span
from matchrec.spark.errors.refusals import read_sentence
from matchrec.spark.errors.row_expressions import (
    ExpressionSql,
    has_aggregate,
    render_over_all_rows,
    render_stand_in,
)
from matchrec.spark.relation import Relation
from matchrec.spark.session import silence_analysis

# A refusal that is about the types of operands, in words of Spark or of Sail.
ABOUT_TYPES = re.compile(
    r"data type mismatch|DATATYPE_MISMATCH|Cannot coerce|Failed to coerce|Cannot infer|common type"
    r"|compatible types|coerced type|Cannot get result type|Unsupported CAST|does not support"
    r"|cannot cast \w+ to|failed to match any signature|expects .* got|can only (?:be|accept)"
    r"|Unsupported Data Type: Spark|requires \w+, but received|not implemented for type"
    r"|No function matches",
    re.IGNORECASE,
)
# A refusal that is about the number of arguments.
ABOUT_ARGUMENTS = re.compile(
    r"^\w+ values? expected|expected at least one value|requires [\w ,\[\]]+ arguments?"
    r"|requires [\w ,\[\]]+ parameter|expects \d+ arguments? but received"
    r"|was called with \d+ arguments|RST_STREAM|WRONG_NUM_ARGS"
)

# A refusal of the type of a CAST.
ABOUT_TYPE_NAME = re.compile(r"Unsupported data type|UNSUPPORTED_DATATYPE|found \w+ at \d+:\d+")

# The largest number of arguments with which a call is tried.
MOST_ARGUMENTS = 6

# Operators whose first operand, or whose tests, must be conditions.
CONDITIONALS = ("IF", "CASE")


def explain_operation(
    expression: ExpressionSql, refusal: PySparkException, relation: Relation
) -> MatchRecognizeError | None:
    """Return the error for the operation that an engine refuses in an expression.

    None if the expression has no structure, or if the refusal has another reason.

    Args:
        expression: the expression that the engine refuses.
        refusal: what the engine says about it.
        relation: the input.
    """
    if expression.scalar is None:
        return None
    with silence_analysis():
        smallest, refusal = find_smallest_refused(expression.scalar, refusal, relation)
        aggregate = find_only_aggregate(smallest)
        words: tuple[str, ...] = ()
        if aggregate is not None:
            name, operands = aggregate.function.upper(), aggregate.arguments
            span = aggregate.span or smallest.span
        elif isinstance(smallest, Operation):
            name, operands, span = smallest.operator, smallest.operands, smallest.span
            words = smallest.words
        else:
            return explain_opaque_call(smallest, refusal, expression.clause, relation)
        text = str(refusal)
        if name in ("CAST", "TRY_CAST") and ABOUT_TYPE_NAME.search(text):
            type_name = re.match(r"\w+", words[0]) if words else None
            if type_name is not None:
                return unknown_type(span, name=type_name[0], clause=expression.clause)
        if ABOUT_ARGUMENTS.search(text) and is_call(name):
            counts = read_argument_counts(read_sentence(refusal)) or list_counts(
                name, relation, operands
            )
            if str(len(operands)) not in counts:
                called = find_called_name(span) or name.lower()
                return wrong_number_of_function_arguments(
                    called, counts, len(operands), span, clause=expression.clause
                )
        if ABOUT_TYPES.search(text) or (ABOUT_ARGUMENTS.search(text) and is_call(name)):
            return make_types_error(smallest, name, operands, span, expression, refusal, relation)
    return None


# A call of a function, with nothing after it.
CALL = re.compile(r"\s*(?P<name>\w+)\s*\((?P<arguments>.*)\)\s*", re.DOTALL)


def explain_opaque_call(
    term: Scalar, refusal: PySparkException, clause: str, relation: Relation
) -> MatchRecognizeError | None:
    """Return the error for a call with a wrong number of arguments, which the parser cannot read.

    None if the term is something else, or refused for another reason.
    """
    call = CALL.fullmatch(read_users_text(term.span) or "")
    if call is None or not ABOUT_ARGUMENTS.search(str(refusal)):
        return None
    name = call["name"]
    counts = read_argument_counts(read_sentence(refusal)) or list_counts(name, relation)
    actual = count_arguments(call["arguments"])
    if str(actual) in counts:
        return None
    return wrong_number_of_function_arguments(name, counts, actual, term.span, clause=clause)


def count_arguments(text: str) -> int:
    """Return the number of arguments between the parentheses of a call.

    >>> count_arguments("a, f(b, c), ','"), count_arguments(" ")
    (3, 0)
    """
    text_before = ""
    text = re.sub(r"'[^']*'|`[^`]*`", "x", text)
    while text != text_before:
        text_before = text
        text = re.sub(r"\([^()]*\)|\[[^][]*\]", "x", text)
    return text.count(",") + 1 if text.strip() else 0


def make_types_error(  # noqa: PLR0913 -- what is known about an operation
    smallest: Scalar,
    name: str,
    operands: Sequence[Scalar],
    span: Span,
    expression: ExpressionSql,
    refusal: PySparkException,
    relation: Relation,
) -> MatchRecognizeError | None:
    """Return the error for an operation with wrong types; None if a type is not known."""
    if name in CONDITIONALS and isinstance(smallest, Operation):
        operands = choose_branches(smallest, relation)
    typed = [type_operand(operand, relation) for operand in operands]
    known = [operand for operand in typed if operand is not None]
    if not known or len(known) < len(typed):
        return None
    words = smallest.words if isinstance(smallest, Operation) else ()
    return incompatible_types(
        name,
        known,
        span,
        clause=expression.clause,
        target=words[0] if words else "",
        expected=describe_expected_argument(read_sentence(refusal)),
    )


def choose_branches(choice: Operation, relation: Relation) -> tuple[Scalar, ...]:
    """Return the operands of IF or CASE that have wrong types: a test, or else the results."""
    branches = split_branches(choice)
    for test in branches.tests:
        typed = type_operand(test, relation)
        if typed is not None and typed.type_name not in ("boolean", "void"):
            return (test,)
    return branches.results


def find_smallest_refused(
    scalar: Scalar, refusal: PySparkException, relation: Relation
) -> tuple[Scalar, PySparkException]:
    """Return the smallest operation in an expression that the engine refuses, and its refusal."""
    while True:
        refused = find_refused_operand(list_parts(scalar), relation)
        if refused is None:
            return scalar, refusal
        scalar, refusal = refused


def list_parts(scalar: Scalar) -> tuple[Scalar, ...]:
    """Return the operands of an operation, or the arguments of an aggregate."""
    if isinstance(scalar, Operation):
        return scalar.operands
    aggregate = find_only_aggregate(scalar)
    return () if aggregate is None else aggregate.arguments


def find_refused_operand(
    operands: Iterable[Scalar], relation: Relation
) -> tuple[Scalar, PySparkException] | None:
    """Return the first of some operands that the engine refuses by itself, and its refusal."""
    for operand in operands:
        refusal = find_refusal([write_stand_in(operand)], relation)
        if refusal is not None:
            return operand, refusal
    return None


def find_refusal(texts: Sequence[str], relation: Relation) -> PySparkException | None:
    """Return the engine's refusal of expressions over one row; None if it accepts them."""
    try:
        relation.runner.analyse(relation.select(texts))
    except PySparkException as refusal:
        return refusal
    return None


def write_stand_in(scalar: Scalar) -> str:
    """Return SQL over the input that has the type of an expression over a match."""
    return render(scalar, render_over_all_rows if has_aggregate(scalar) else render_stand_in)


def find_only_aggregate(scalar: Scalar) -> Aggregate | None:
    """Return the aggregate that an expression consists of; None if it is something else."""
    match scalar.pieces:
        case (Aggregate() as aggregate,):
            return aggregate
        case _:
            return None


def is_call(operator: str) -> bool:
    """Return whether an operator is a function. `DIV`, `AND` and others are not called."""
    return operator.isidentifier() and operator not in (
        *("AND", "OR", "NOT", "IN", "LIKE", "DIV", "CASE", "CAST", "BETWEEN", "NEG"),
    )


def find_called_name(span: Span) -> str | None:
    """Return the name of a function as the user wrote it at the beginning of a call, or None."""
    call = re.match(r"\s*(\w+)\s*\(", read_users_text(span) or "")
    return call[1] if call else None


def list_counts(function: str, relation: Relation, arguments: Sequence[Scalar] = ()) -> list[str]:
    """Return the numbers of arguments with which the engine accepts a function; [] if none is.

    Args:
        function: the name of the function.
        relation: the input.
        arguments: the arguments of the refused call. A call with more of them has NULL as well,
            which has any type.
    """
    texts = [*map(write_stand_in, arguments), *(["NULL"] * MOST_ARGUMENTS)]
    calls = {
        str(count): f"{function}({', '.join(texts[:count])})" for count in range(1, MOST_ARGUMENTS)
    }
    return [count for count, call in calls.items() if find_refusal([call], relation) is None]


def type_operand(operand: Scalar, relation: Relation) -> TypedText | None:
    """Return the user's text of an operand and its type; None if the engine does not know it."""
    type_name = find_type_name(operand, relation)
    if type_name is None:
        return None
    text = read_users_text(operand.span) or show_scalar(operand)
    return TypedText(" ".join(text.split()), type_name)


def find_type_name(operand: Scalar, relation: Relation) -> str | None:
    """Return the type of an operand in Spark's words; None if the engine refuses it."""
    with silence_analysis(), suppress(PySparkException):
        return relation.find_type(write_stand_in(operand)).simpleString()
    return None
