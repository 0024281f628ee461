"""Write functions of strings so that Sail gives Spark's results.

    call                       Spark           Sail
    left(name, -1)             ''              counts a negative length from the other end
    right(name, -1)            ''              likewise
    substring('abc', -5, 4)    'ab'            counts 4 characters from the first one: 'abc'
    initcap('a-b c')           'A-b C'         begins a word after each sign: 'A-B C'
    CAST(1e7D AS STRING)       '1.0E7'         writes '10000000.0', except in arrays
    concat(1e7D, 'x')          '1.0E7x'        likewise

Whether a session has such a difference is probed only if the query has such a call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

from pyspark.sql.types import DoubleType, FloatType

from matchrec.conditions.types import Family
from matchrec.errors import conditions as errors
from matchrec.plan import build_expressions
from matchrec.plan.change_expressions import map_operations
from matchrec.plan.expression import ColumnReference, Operation, Reference, Scalar, Term, render
from matchrec.plan.match_plan import MatchPlan, map_expressions
from matchrec.source import Span
from matchrec.spark.relation import Relation
from matchrec.spark.sail.doubles import DoubleWriter
from matchrec.spark.sail.hidden_operations import find_hidden_operations
from matchrec.spark.sail.negation import find_operand_type
from matchrec.spark.sail.probes import (
    begins_words_after_signs,
    counts_from_other_end,
    moves_substrings,
    writes_all_digits,
)
from matchrec.spark.sail.sums import find_commas_and_end

# Functions with a length, and functions with a start and a length.
LENGTH_FUNCTIONS = frozenset({"LEFT", "RIGHT"})
SUBSTRING_FUNCTIONS = frozenset({"SUBSTRING", "SUBSTR"})
INITCAP = "INITCAP"
CASTS = frozenset({"CAST", "TRY_CAST", "STRING"})
# The types of casts to strings. No engine cuts or pads the text of a cast to VARCHAR(n) or CHAR(n).
TEXT_TYPE = re.compile(r"STRING|(VARCHAR|CHAR|CHARACTER)\s*\(.*\)")

# The names of these functions in `Term.operations`.
FUNCTION_NAMES = frozenset(
    f"{name}()" for name in (*LENGTH_FUNCTIONS, *SUBSTRING_FUNCTIONS, INITCAP)
)

# The beginning of a call, and the words between the arguments of `substring(name FROM 1 FOR 2)`.
CALL = re.compile(
    rf"\b(?P<function>{'|'.join((*LENGTH_FUNCTIONS, *SUBSTRING_FUNCTIONS, INITCAP))})\s*\(",
    re.IGNORECASE,
)
FROM_OR_FOR = re.compile(r"\b(?:FROM|FOR)\b", re.IGNORECASE)


def correct_strings(
    plan: MatchPlan, relation: Relation, find_column: Callable[[tuple[str, ...]], str | None]
) -> MatchPlan:
    """Return the plan with other SQL for calls that the session computes differently from Spark.

    Args:
        plan: the plan.
        relation: the input.
        find_column: returns the input's column of a name, which may have several parts, or None.

    Raises:
        MatchRecognizeUnsupportedError: such a call is in a text that cannot be rewritten, because
            it is not parsed: `FIRST(left(name, -1))` or `PARTITION BY left(name, -1)`.
    """
    spark = relation.runner.spark
    numbers = DoubleWriter(relation, find_column, has_nested_fractions=True)

    def is_floating(scalar: Scalar) -> bool:
        """Return whether the values of an expression are floating-point numbers."""
        family = numbers.read_family(scalar)
        if family is not None:
            return family is Family.FLOATING
        return isinstance(find_operand_type(scalar, relation), FloatType | DoubleType)

    def is_different(function: str) -> bool:
        """Return whether the session computes some calls of a function differently from Spark."""
        if function in LENGTH_FUNCTIONS:
            return counts_from_other_end(spark)
        if function in SUBSTRING_FUNCTIONS:
            return moves_substrings(spark)
        return begins_words_after_signs(spark)

    def correct_operation(operation: Operation) -> Operation:
        """Return an operation, with other SQL if the session computes its value differently."""
        text_operands = list_operands_as_text(operation)
        floating_ids = {id(operand) for operand in text_operands if is_floating(operand)}
        if floating_ids and writes_all_digits(spark):
            return write_numbers_as_text(operation, floating_ids)
        rewritten = rewrite_call(operation)
        if rewritten is not None and is_different(operation.operator):
            return rewritten
        return operation

    for term in find_hidden_operations(plan, FUNCTION_NAMES):
        for function in find_different_calls(render(term, write_reference)):
            if is_different(function):
                raise errors.string_function_in_argument(term.span, function=function)
    for key in plan.sorted_by:
        for function in find_different_calls(key.text):
            if is_different(function):
                raise errors.string_function_in_key(key.span_or_start, function=function)
    return map_expressions(plan, lambda scalar, _: map_operations(scalar, correct_operation))


def rewrite_call(operation: Operation) -> Operation | None:
    """Return a call with SQL that has Spark's result on every engine.

    Returns None if every engine computes the call as it is written like Spark.
    """
    match operation:
        case Operation(operator, (text, length)) if operator in LENGTH_FUNCTIONS:
            if is_natural(length):
                return None
            return write_call(operator, (text, write_natural(length)), operation.span)
        case Operation(operator, (text, start, length)) if operator in SUBSTRING_FUNCTIONS:
            if is_natural(start) and is_natural(length):
                return None
            arguments = (text, start, write_length(text, start, length))
            return write_call(operator, arguments, operation.span)
        case Operation(operator, (text,)) if operator == INITCAP:
            parts = (
                "array_join(transform(split(lower(",
                text,
                "), ' ', -1), word -> concat(upper(left(word, 1)), substring(word, 2))), ' ')",
            )
            return Operation(operator, parts, operation.span)
    return None


def list_operands_as_text(operation: Operation) -> tuple[Scalar, ...]:
    """Return the operands that a cast or a concatenation turns into strings."""
    match operation:
        case Operation("CAST" | "TRY_CAST", operands):
            return operands if TEXT_TYPE.fullmatch(" ".join(operation.words)) else ()
        case Operation("STRING" | "||" | "CONCAT", operands):
            return operands
    return ()


def write_numbers_as_text(operation: Operation, floating_ids: set[int]) -> Operation:
    """Return a cast or a concatenation that writes floating-point numbers as Spark does.

    Args:
        operation: a cast to a string, or a concatenation.
        floating_ids: the ids of the operands that are floating-point numbers.
    """
    if operation.operator in CASTS:
        return replace(operation, parts=build_number_cast(*operation.operands))

    def cast_number(operand: Scalar) -> Scalar:
        """Return an operand as a string if it is a floating-point number."""
        if id(operand) not in floating_ids:
            return operand
        return Operation("CAST", build_number_cast(operand), operand.span, words=("STRING",))

    return operation.map_operands(cast_number)


def build_number_cast(number: Scalar) -> tuple[str, Scalar, str]:
    """Return the parts of a cast of a floating-point number to a string, as Spark writes it.

    Sail writes a number inside of an array as Spark does, so the number is written in an array, and
    the brackets are removed. In an array, NULL is written as the text NULL.
    """
    return ("NULLIF(trim(BOTH '[]' FROM CAST(array(", number, ") AS STRING)), 'NULL')")


def is_natural(number: Scalar) -> bool:
    """Return whether an expression is a constant that is not negative."""
    return isinstance(number, Term) and number.amount is not None and number.amount.value >= 0


def write_call(function: str, arguments: tuple[Scalar, ...], span: Span) -> Operation:
    """Return a call of a function."""
    parts: list[str | Scalar] = [f"{function}("]
    for argument in arguments:
        parts += [argument, ", "]
    parts[-1] = ")"
    return Operation(function, tuple(parts), span)


def write_binary(first: Scalar, operator: str, second: Scalar) -> Operation:
    """Return an operation on two operands, with parentheses around both."""
    return Operation(operator, ("(", first, f") {operator} (", second, ")"), first.span)


def write_natural(length: Scalar) -> Operation:
    """Return a length, with 0 instead of a negative length. `greatest` would ignore NULL."""
    zero = build_expressions.make_number(0, length.span)
    is_negative = write_binary(length, "<", zero)
    parts = ("CASE WHEN ", is_negative, " THEN ", zero, " ELSE ", length, " END")
    return Operation("CASE", parts, length.span)


def write_length(text: Scalar, start: Scalar, length: Scalar) -> Operation:
    """Return the length that gives `substring(text, start, length)` Spark's result on Sail.

    On Spark, the length also counts positions before the first character of the text:

        substring('abc', -5, 4)   →   substring('abc', -5, 4 - 5 + length('abc'))
    """
    span = length.span
    zero = build_expressions.make_number(0, span)
    end = write_binary(
        write_binary(length, "+", start), "+", write_call("LENGTH", (text,), text.span)
    )
    shorter = write_call("GREATEST", (zero, write_call("LEAST", (length, end), span)), span)
    is_from_end = write_binary(
        write_binary(start, "<", zero), "AND", write_binary(length, ">", zero)
    )
    parts = (
        *("CASE WHEN ", is_from_end, " THEN ", shorter),
        *(" ELSE ", write_natural(length), " END"),
    )
    return Operation("CASE", parts, span)


def find_different_calls(text: str) -> Iterator[str]:
    """Yield the functions in a text whose result may differ, judging by constant arguments.

    Lengths and starts that are computed count as not negative.
    """
    for call in CALL.finditer(text):
        offsets = find_commas_and_end(text, call.end())
        function = call["function"].upper()
        if offsets is not None and has_different_value(function, text, [call.end(), *offsets]):
            yield function


def write_reference(reference: Reference) -> str:
    """Return the text of a column that a reference reads; NULL for anything else."""
    return reference.argument if isinstance(reference, ColumnReference) else "NULL"


def has_different_value(function: str, text: str, offsets: list[int]) -> bool:
    """Return whether a call has another value on Sail, judging by its constant arguments.

    Args:
        function: the function that is called, in upper case.
        text: a text with the call.
        offsets: the positions in the text of the first argument, of each comma between arguments,
            and of the closing parenthesis.
    """
    if function == INITCAP:
        return True
    arguments = [text[start:end] for start, end in pairwise(offsets)]
    if len(arguments) == 1:  # substring(name FROM -5 FOR 4)
        arguments = FROM_OR_FOR.split(arguments[0])
    has_length = len(arguments) == (2 if function in LENGTH_FUNCTIONS else 3)
    return has_length and any(argument.strip(" ,").startswith("-") for argument in arguments[1:])
