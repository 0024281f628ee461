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
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pyspark.sql.types import DoubleType, FloatType

from matchrec.conditions.types import Family
from matchrec.errors import conditions as errors
from matchrec.plan import build_expressions
from matchrec.plan.change_expressions import map_operations
from matchrec.plan.expression import ColumnReference, Operation, Reference, Scalar, Term, render
from matchrec.plan.match_plan import MatchPlan, map_expressions
from matchrec.plan.resolve import InputColumns
from matchrec.source import Span
from matchrec.spark.relation import Relation
from matchrec.spark.sail.call_arguments import split_call_arguments
from matchrec.spark.sail.hidden_operations import find_hidden_operations
from matchrec.spark.sail.number_families import FamilyFinder
from matchrec.spark.sail.operand_types import find_operand_type
from matchrec.spark.sail.probes import (
    begins_words_after_signs,
    counts_from_other_end,
    moves_substrings,
    writes_all_digits,
)

# Functions with a length, and functions with a start and a length.
LENGTH_FUNCTIONS = frozenset({"LEFT", "RIGHT"})
SUBSTRING_FUNCTIONS = frozenset({"SUBSTRING", "SUBSTR"})
INITCAP = "INITCAP"
STRING_FUNCTIONS = (*sorted(LENGTH_FUNCTIONS), *sorted(SUBSTRING_FUNCTIONS), INITCAP)

# The same functions, as `Term.operations` names them.
STRING_OPERATIONS = frozenset(f"{function}()" for function in STRING_FUNCTIONS)

CASTS = frozenset({"CAST", "TRY_CAST", "STRING"})
# The types of casts to strings. No engine cuts or pads the text of a cast to VARCHAR(n) or CHAR(n).
TEXT_TYPE = re.compile(r"STRING|(VARCHAR|CHAR|CHARACTER)\s*\(.*\)")

# The beginning of a call, and the words between the arguments of `substring(name FROM 1 FOR 2)`.
CALL_START = re.compile(rf"\b(?P<function>{'|'.join(STRING_FUNCTIONS)})\s*\(", re.IGNORECASE)
FROM_OR_FOR = re.compile(r"\b(?:FROM|FOR)\b", re.IGNORECASE)


def correct_strings(plan: MatchPlan, relation: Relation, columns: InputColumns) -> MatchPlan:
    """Return the plan with other SQL for calls that the session computes differently from Spark.

    Args:
        plan: the plan.
        relation: the input.
        columns: the columns of the input.

    Raises:
        MatchRecognizeUnsupportedError: such a call is in a text that cannot be rewritten, because
            it is not parsed: `FIRST(left(name, -1))` or `PARTITION BY left(name, -1)`.
    """
    corrector = StringCorrector(relation, FamilyFinder(relation, columns))
    corrector.reject_fixed_calls(plan)
    return map_expressions(plan, lambda scalar, _: map_operations(scalar, corrector.correct))


@dataclass(frozen=True)
class StringCorrector:
    """Corrects functions of strings in the expressions over one input."""

    relation: Relation
    # Tells by the text of an expression whether it is a floating-point number.
    family_finder: FamilyFinder

    def reject_fixed_calls(self, plan: MatchPlan) -> None:
        """Check the texts that cannot be rewritten: keys, and terms that are not parsed.

        Raises:
            MatchRecognizeUnsupportedError: such a text has a call that the session computes
                differently.
        """
        for term in find_hidden_operations(plan, STRING_OPERATIONS):
            function = self.find_different_function(render(term, write_reference))
            if function is not None:
                raise errors.string_function_in_argument(term.span, function=function)
        for key in plan.sorted_by:
            function = self.find_different_function(key.text)
            if function is not None:
                raise errors.string_function_in_key(key.span_or_start, function=function)

    def find_different_function(self, text: str) -> str | None:
        """Return the first function in SQL that the session computes differently, or None."""
        for function in find_suspect_calls(text):
            if self.differs_from_spark(function):
                return function
        return None

    def differs_from_spark(self, function: str) -> bool:
        """Return whether the session computes some calls of a function differently from Spark."""
        spark = self.relation.runner.spark
        if function in LENGTH_FUNCTIONS:
            return counts_from_other_end(spark)
        if function in SUBSTRING_FUNCTIONS:
            return moves_substrings(spark)
        return begins_words_after_signs(spark)

    def correct(self, operation: Operation) -> Operation:
        """Return an operation, with other SQL if the session computes its value differently."""
        operands = list_operands_as_text(operation)
        floating_ids = {id(operand) for operand in operands if self.is_floating(operand)}
        if floating_ids and writes_all_digits(self.relation.runner.spark):
            return write_numbers_as_text(operation, floating_ids)
        rewritten_call = rewrite_call(operation)
        if rewritten_call is not None and self.differs_from_spark(operation.operator):
            return rewritten_call
        return operation

    def is_floating(self, scalar: Scalar) -> bool:
        """Return whether the values of an expression are floating-point numbers."""
        family = self.family_finder.read_family(scalar)
        if family is not None:
            return family is Family.FLOATING
        return isinstance(find_operand_type(scalar, self.relation), FloatType | DoubleType)


def rewrite_call(operation: Operation) -> Operation | None:
    """Return a call with SQL that has Spark's result on every engine.

    Returns None if every engine computes the call like Spark as it is written.
    """
    match operation:
        case Operation(operator, (text, length)) if operator in LENGTH_FUNCTIONS:
            if is_nonnegative_constant(length):
                return None
            return write_call(operator, (text, write_nonnegative(length)), operation.span)
        case Operation(operator, (text, start, length)) if operator in SUBSTRING_FUNCTIONS:
            if is_nonnegative_constant(start) and is_nonnegative_constant(length):
                return None
            arguments = (text, start, write_substring_length(text, start, length))
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


def is_nonnegative_constant(number: Scalar) -> bool:
    """Return whether an expression is a constant that is not negative."""
    return isinstance(number, Term) and number.amount is not None and number.amount.value >= 0


def write_call(function: str, arguments: tuple[Scalar, ...], span: Span) -> Operation:
    """Return a call of a function with at least one argument."""
    first_argument, *other_arguments = arguments
    parts: list[str | Scalar] = [f"{function}(", first_argument]
    for argument in other_arguments:
        parts += [", ", argument]
    parts.append(")")
    return Operation(function, tuple(parts), span)


def write_binary(first: Scalar, operator: str, second: Scalar) -> Operation:
    """Return an operation on two operands, with parentheses around both."""
    return Operation(operator, ("(", first, f") {operator} (", second, ")"), first.span)


def write_nonnegative(length: Scalar) -> Operation:
    """Return `CASE WHEN (n) < (0) THEN 0 ELSE n END` for a length n.

    `greatest(n, 0)` would be 0 if the length is NULL.
    """
    zero = build_expressions.make_number(0, length.span)
    is_negative = write_binary(length, "<", zero)
    parts = ("CASE WHEN ", is_negative, " THEN ", zero, " ELSE ", length, " END")
    return Operation("CASE", parts, length.span)


def write_substring_length(text: Scalar, start: Scalar, length: Scalar) -> Operation:
    """Return the length that gives `substring(text, start, length)` Spark's result on Sail.

    On Spark, the length also counts positions before the first character of the text:

        substring('abc', -5, 4)   →   substring('abc', -5, 4 - 5 + length('abc'))

    The sum is the length from the first character on. It is used only if it is less than the
    length, and the result is at least 0.
    """
    span = length.span
    zero = build_expressions.make_number(0, span)
    text_length = write_call("LENGTH", (text,), text.span)
    length_from_first = write_binary(write_binary(length, "+", start), "+", text_length)
    least_length = write_call("LEAST", (length, length_from_first), span)
    shortened_length = write_call("GREATEST", (zero, least_length), span)
    starts_from_end = write_binary(start, "<", zero)
    has_length = write_binary(length, ">", zero)
    needs_change = write_binary(starts_from_end, "AND", has_length)
    parts = (
        "CASE WHEN ",
        needs_change,
        " THEN ",
        shortened_length,
        " ELSE ",
        write_nonnegative(length),
        " END",
    )
    return Operation("CASE", parts, span)


def find_suspect_calls(text: str) -> Iterator[str]:
    """Yield the functions in SQL whose result can differ, judging by their constant arguments.

    Lengths and starts that are computed count as not negative.

    >>> [*find_suspect_calls("left(a, -1) || Right(b, 2) || substring(c FROM -5 FOR 4)")]
    ['LEFT', 'SUBSTRING']
    """
    for call in CALL_START.finditer(text):
        arguments = split_call_arguments(text, call.end())
        function = call["function"].upper()
        if arguments is not None and is_suspect_call(function, arguments.texts):
            yield function


def is_suspect_call(function: str, arguments: list[str]) -> bool:
    """Return whether a call can have another value on Sail, judging by its constant arguments.

    Args:
        function: the function, in upper case.
        arguments: the texts of its arguments. `substring(name FROM -5 FOR 4)` has only one.
    """
    if function == INITCAP:
        return True
    if len(arguments) == 1:
        arguments = FROM_OR_FOR.split(arguments[0])
    count_with_length = 2 if function in LENGTH_FUNCTIONS else 3
    if len(arguments) != count_with_length:
        return False
    return any(argument.strip(" ").startswith("-") for argument in arguments[1:])


def write_reference(reference: Reference) -> str:
    """Return the text of a column that a reference reads; NULL for anything else."""
    return reference.argument if isinstance(reference, ColumnReference) else "NULL"
