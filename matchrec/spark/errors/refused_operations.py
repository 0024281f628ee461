"""Explain a refused expression by the operation in it whose operands have the wrong types.

    sym - 1 > 0      Cannot coerce arithmetic expression Utf8 - Int32 to valid types
        →   `-` in DEFINE cannot combine string and int

1. `find_smallest_refused` goes down from the expression to the smallest operation that the engine
   refuses, although it accepts all operands of that operation.
2. The words of the refusal show whether it is about the type of a CAST, the number of arguments, or
   the types of the operands: see `RefusedOperation.explain`. The engine is asked for these types.
3. The error is made from the operation and the types, so it is the same on each engine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from pyspark.errors import PySparkException
from pyspark.sql.types import NullType

from matchrec.errors import MatchRecognizeError
from matchrec.errors.run.origins import read_users_text
from matchrec.errors.sql.engine_explanations import describe_expected_argument, read_argument_counts
from matchrec.errors.sql.type_kinds import TypedText
from matchrec.errors.sql.types_and_literals import unknown_type
from matchrec.errors.sql.wrong_types import incompatible_types, wrong_number_of_function_arguments
from matchrec.plan.expression import Aggregate, Branches, Operation, Scalar, render, split_branches
from matchrec.plan.show import show_scalar
from matchrec.source import Span
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.errors.refusals import read_sentence
from matchrec.spark.errors.row_expressions import (
    ExpressionSql,
    has_aggregate,
    render_over_all_rows,
    render_stand_in,
)
from matchrec.spark.relation import Relation

# A refusal that is about the types of operands, in words of Spark or of Sail.
ABOUT_TYPES = re.compile(
    r"data type mismatch|DATATYPE_MISMATCH|Cannot coerce|Failed to coerce|Cannot infer|common type"
    r"|compatible types|coerced type|Cannot get result type|Unsupported CAST|does not support"
    r"|cannot cast \w+ to|failed to match any signature|expects .* got|can only (?:be|accept)"
    r"|Unsupported Data Type: Spark|requires \w+, but received|not implemented for type"
    r"|No function matches|syntax for type interval",
    re.IGNORECASE,
)
# A refusal that is about the number of arguments, in words of Spark or of Sail.
ABOUT_ARGUMENT_COUNT = re.compile(
    r"^\w+ values? expected|expected at least one value|requires [\w ,\[\]]+ arguments?"
    r"|requires [\w ,\[\]]+ parameter|expects \d+ arguments? but received"
    r"|was called with \d+ arguments|RST_STREAM|WRONG_NUM_ARGS"
)

# A refusal that is about the type of a CAST, in words of Spark or of Sail.
ABOUT_TYPE_NAME = re.compile(r"Unsupported data type|UNSUPPORTED_DATATYPE|found \w+ at \d+:\d+")

# The largest number of arguments with which a call is tried.
MAX_ARGUMENTS = 5

# Operators with tests and results: a test must be a condition, and all results must have one type.
CONDITIONALS = ("IF", "CASE")

# Operators that are words and not written as calls.
OPERATOR_WORDS = ("AND", "OR", "NOT", "IN", "LIKE", "DIV", "CASE", "CAST", "BETWEEN", "NEG")


def explain_operation(
    expression: ExpressionSql, refusal: PySparkException, relation: Relation
) -> MatchRecognizeError | None:
    """Return the error for the operation that an engine refuses in an expression.

    Returns None if the expression was not parsed, or if the engine refuses it for another reason.

    Args:
        expression: the expression that the engine refuses.
        refusal: the engine's error about the expression.
        relation: the input.
    """
    if expression.scalar is None:
        return None
    with silence_analysis():
        smallest = find_smallest_refused(RefusedScalar(expression.scalar, refusal), relation)
        operation = read_operation(smallest, expression.clause, relation)
        if operation is None:
            return explain_opaque_call(smallest, expression.clause, relation)
        return operation.explain()


class RefusedScalar(NamedTuple):
    """An expression that the engine refuses by itself, and its refusal."""

    scalar: Scalar
    refusal: PySparkException


@dataclass(frozen=True, slots=True)
class RefusedOperation:
    """An operation or an aggregate that the engine refuses, although it accepts all operands."""

    # The operator as `plan.operators` names it, or the aggregate in upper case.
    name: str
    operands: Sequence[Scalar]
    # The tests and the results of IF and CASE; None for other operators.
    branches: Branches | None
    # The words of the operator, such as the type of a CAST.
    words: tuple[str, ...]
    # The location of the operation in the user's text.
    span: Span
    # The name of its clause.
    clause: str
    # The engine's refusal.
    refusal: PySparkException
    # The input.
    relation: Relation

    def explain(self) -> MatchRecognizeError | None:
        """Return the error for the operation; None if the refusal has another reason.

        The reason is the first of these: a type that does not exist, the number of arguments, the
        types of the operands.
        """
        return self.explain_type_name() or self.explain_argument_count() or self.explain_types()

    @property
    def is_about_argument_count(self) -> bool:
        """Return whether this is a call, and the refusal is about the number of arguments."""
        return is_call(self.name) and ABOUT_ARGUMENT_COUNT.search(str(self.refusal)) is not None

    def explain_type_name(self) -> MatchRecognizeError | None:
        """Return the error for a CAST to a type that does not exist; None for other refusals."""
        is_cast = self.name in ("CAST", "TRY_CAST")
        if not is_cast or not self.words or not ABOUT_TYPE_NAME.search(str(self.refusal)):
            return None
        type_name = re.match(r"\w+", self.words[0])
        if type_name is None:
            return None
        return unknown_type(self.span, name=type_name[0], clause=self.clause)

    def explain_argument_count(self) -> MatchRecognizeError | None:
        """Return the error for a wrong number of arguments; None for other refusals."""
        if not self.is_about_argument_count:
            return None
        counts = read_argument_counts(read_sentence(self.refusal)) or find_accepted_counts(
            self.name, self.relation, self.operands
        )
        if str(len(self.operands)) in counts:
            return None
        function = find_called_name(self.span) or self.name.lower()
        return wrong_number_of_function_arguments(
            function, counts, len(self.operands), self.span, clause=self.clause
        )

    def explain_types(self) -> MatchRecognizeError | None:
        """Return the error for operands with wrong types.

        Returns None if the refusal has another reason, or if the type of an operand is not known.
        """
        if not self.is_about_argument_count and not ABOUT_TYPES.search(str(self.refusal)):
            return None
        operands = self.operands
        if self.branches is not None:
            operands = find_mistyped_operands(self.branches, self.relation)
        typed_operands = []
        for operand in operands:
            typed_operand = type_operand(operand, self.relation)
            if typed_operand is None:
                return None
            typed_operands.append(typed_operand)
        if not typed_operands:
            return None
        expected = describe_expected_argument(read_sentence(self.refusal))
        if self.name.upper() == "EXTRACT":
            expected = ""  # the argument of another function, by which Spark replaces EXTRACT
        return incompatible_types(
            self.name,
            typed_operands,
            self.span,
            clause=self.clause,
            target=self.words[0] if self.words else "",
            expected=expected,
        )


def read_operation(
    refused: RefusedScalar, clause: str, relation: Relation
) -> RefusedOperation | None:
    """Return the operation or the aggregate that a refused expression consists of.

    Returns None if it consists of something else, such as a call that the parser cannot read.

    Args:
        refused: the expression.
        clause: the clause of the expression.
        relation: the input.
    """
    scalar, refusal = refused
    aggregate = find_only_aggregate(scalar)
    if aggregate is not None:
        return RefusedOperation(
            name=aggregate.function.upper(),
            operands=aggregate.arguments,
            branches=None,
            words=(),
            span=aggregate.span or scalar.span,
            clause=clause,
            refusal=refusal,
            relation=relation,
        )
    if not isinstance(scalar, Operation):
        return None
    is_conditional = scalar.operator in CONDITIONALS
    return RefusedOperation(
        name=scalar.operator,
        operands=scalar.operands,
        branches=split_branches(scalar) if is_conditional else None,
        words=scalar.words,
        span=scalar.span,
        clause=clause,
        refusal=refusal,
        relation=relation,
    )


# A call of a function, with nothing after it.
CALL = re.compile(r"\s*(?P<name>\w+)\s*\((?P<arguments>.*)\)\s*", re.DOTALL)


def explain_opaque_call(
    refused: RefusedScalar, clause: str, relation: Relation
) -> MatchRecognizeError | None:
    """Return the error for a wrong number of arguments of a call that the parser cannot read.

    Returns None if the expression is something else, or is refused for another reason.

    Args:
        refused: the expression.
        clause: the clause of the expression.
        relation: the input.
    """
    span = refused.scalar.span
    call = CALL.fullmatch(read_users_text(span) or "")
    if call is None or not ABOUT_ARGUMENT_COUNT.search(str(refused.refusal)):
        return None
    function = call["name"]
    counts = read_argument_counts(read_sentence(refused.refusal)) or find_accepted_counts(
        function, relation
    )
    actual = count_arguments(call["arguments"])
    if str(actual) in counts:
        return None
    return wrong_number_of_function_arguments(function, counts, actual, span, clause=clause)


def count_arguments(text: str) -> int:
    """Return the number of arguments of a call.

    Args:
        text: the text between the parentheses of the call.

    >>> count_arguments("a, f(b, c), ','"), count_arguments(" ")
    (3, 0)
    """
    text = re.sub(r"'[^']*'|`[^`]*`", "x", text)
    # Replace the innermost brackets until there are none.
    replacements = 1
    while replacements:
        text, replacements = re.subn(r"\([^()]*\)|\[[^][]*\]", "x", text)
    return text.count(",") + 1 if text.strip() else 0


def find_mistyped_operands(branches: Branches, relation: Relation) -> Sequence[Scalar]:
    """Return the operands of a refused IF or CASE that have wrong types.

    If a test is not a condition, it is this test. Otherwise the results have no common type.
    """
    for test in branches.tests:
        typed_test = type_operand(test, relation)
        if typed_test is not None and typed_test.type_name not in ("boolean", "void"):
            return (test,)
    return branches.results


def find_smallest_refused(refused: RefusedScalar, relation: Relation) -> RefusedScalar:
    """Return the smallest part of a refused expression that the engine refuses as well.

    The engine accepts all operands of this part, or the part has no operands. Each operand on the
    way is analysed by the engine.
    """
    while True:
        refused_operand = find_refused_operand(list_operands(refused.scalar), relation)
        if refused_operand is None:
            return refused
        refused = refused_operand


def list_operands(scalar: Scalar) -> tuple[Scalar, ...]:
    """Return the operands of an operation, or the arguments of an aggregate."""
    if isinstance(scalar, Operation):
        return scalar.operands
    aggregate = find_only_aggregate(scalar)
    return () if aggregate is None else aggregate.arguments


def find_refused_operand(operands: Iterable[Scalar], relation: Relation) -> RefusedScalar | None:
    """Return the first operand that the engine refuses by itself; None if it accepts all."""
    for operand in operands:
        refusal = find_refusal([write_stand_in(operand)], relation)
        if refusal is not None:
            return RefusedScalar(operand, refusal)
    return None


def find_refusal(texts: Sequence[str], relation: Relation) -> PySparkException | None:
    """Return the engine's refusal of expressions over one row; None if it accepts them."""
    try:
        relation.runner.analyse(relation.select(texts))
    except PySparkException as refusal:
        return refusal
    return None


def write_stand_in(scalar: Scalar) -> str:
    """Return SQL over the input that has the type of an expression over a match.

    If the expression has an aggregate, the SQL is over all rows, otherwise over one row.
    """
    return render(scalar, render_over_all_rows if has_aggregate(scalar) else render_stand_in)


def find_only_aggregate(scalar: Scalar) -> Aggregate | None:
    """Return the aggregate that an expression consists of; None if it is something else."""
    match scalar.pieces:
        case (Aggregate() as aggregate,):
            return aggregate
        case _:
            return None


def is_call(operator: str) -> bool:
    """Return whether an operator is written as a call. `+`, `DIV`, `AND` and others are not."""
    return operator.isidentifier() and operator not in OPERATOR_WORDS


def find_called_name(span: Span) -> str | None:
    """Return the name of a called function as the user wrote it; None if the text is no call."""
    call = re.match(r"\s*(\w+)\s*\(", read_users_text(span) or "")
    return call[1] if call else None


def find_accepted_counts(
    function: str, relation: Relation, arguments: Sequence[Scalar] = ()
) -> list[str]:
    """Return the numbers of arguments with which the engine accepts a function, as texts.

    Tries the numbers from 1 to `MAX_ARGUMENTS`. The list is empty if the engine accepts none.

    Args:
        function: the name of the function.
        relation: the input.
        arguments: the arguments of the refused call. A call that needs more arguments gets NULL,
            which fits any type.
    """
    texts = [write_stand_in(argument) for argument in arguments] + ["NULL"] * MAX_ARGUMENTS
    counts = []
    for count in range(1, MAX_ARGUMENTS + 1):
        call = f"{function}({', '.join(texts[:count])})"
        if find_refusal([call], relation) is None:
            counts.append(str(count))
    return counts


def type_operand(operand: Scalar, relation: Relation) -> TypedText | None:
    """Return the user's text of an operand and its type; None if the type is not known."""
    type_name = find_type_name(operand, relation)
    if type_name is None:
        return None
    text = read_users_text(operand.span) or show_scalar(operand)
    return TypedText(" ".join(text.split()), type_name)


def find_type_name(operand: Scalar, relation: Relation) -> str | None:
    """Return the type of an operand in Spark's words.

    Returns None if the engine refuses the operand, or if its stand-in is NULL, but the user has not
    written NULL: see `render_stand_in`.
    """
    with silence_analysis(), suppress(PySparkException):
        type_ = relation.find_type(write_stand_in(operand))
        is_unknown = isinstance(type_, NullType) and bool(operand.references)
        return None if is_unknown else type_.simpleString()
    return None
