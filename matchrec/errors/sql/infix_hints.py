"""Hints for operators between two values whose types the operator does not combine.

    day > 5                write unix_date(day) > 5 for days since 1970, or a date such as ...
    ts - PREV(ts) > 30     write ts - PREV(ts) > INTERVAL '30' SECOND, or MINUTE, HOUR or DAY
    name + 1               write CAST(name AS DOUBLE) + 1

`find_infix_hint` calls the function for the group of the operator and the kinds of the operands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from matchrec.errors.sql.operand_texts import (
    CONSTANT,
    INTEGER,
    drop_parentheses,
    is_parameter,
    parenthesize,
    write_as_number,
    write_cast,
    write_inner_value,
)
from matchrec.errors.sql.type_kinds import LENGTHS_OF_TIME, TIMES, TypedText, TypeKind
from matchrec.errors.sql.written_times import EXAMPLE_LITERALS, is_written_literal, write_literal
from matchrec.errors.surface import current_surface

COMPARISONS = frozenset(
    {
        *("=", "<=>", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"),
        *("IN", "NOT IN", "BETWEEN", "NOT BETWEEN"),
    }
)
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "DIV"})
_BIT_OPERATORS = frozenset({"&", "|", "^", "~"})

# The beginning of an operand whose value is the name of a variable: `CLASSIFIER()`, or
# `LAST(CLASSIFIER(), 1)`.
_CLASSIFIER = re.compile(r"(?:\w+\s*\(\s*)*CLASSIFIER\s*\(", re.IGNORECASE)
# A string that is a date.
_WRITTEN_DATE = re.compile(r"'\d{4}-\d{1,2}-\d{1,2}'")
# A comparison such as `1 < x`, which may be the first half of a chain `1 < x < 5`.
_COMPARISON = re.compile(r"[^<>=]+(?:<=?|>=?)\s*(?P<right>[^<>=\s][^<>=]*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class InfixOperation:
    """An operation with an operator between two values, such as `day > 5`."""

    left: TypedText
    operator: str
    right: TypedText

    @property
    def kinds(self) -> frozenset[TypeKind]:
        """The kinds of the two operands."""
        return frozenset((self.left.kind, self.right.kind))

    def find_operand(self, *kinds: TypeKind) -> TypedText | None:
        """Return the first operand that is of one of these kinds, or None."""
        return next((operand for operand in (self.left, self.right) if operand.kind in kinds), None)

    def find_other_operand(self, operand: TypedText) -> TypedText:
        """Return the operand that is not this one."""
        return self.right if operand is self.left else self.left

    def replace(self, operand: TypedText, text: str) -> str:
        """Return the operation as text, with another text for one of its operands.

        >>> day = TypedText("day", "date")
        >>> InfixOperation(day, ">", TypedText("5", "int")).replace(day, "unix_date(day)")
        'unix_date(day) > 5'
        """
        left = text if operand is self.left else self.left.text
        right = text if operand is self.right else self.right.text
        return f"{left} {self.operator} {right}"


def find_infix_hint(infix: InfixOperation) -> str | None:
    """Return what to write instead of an operation with two operands; None if that is not clear.

    >>> find_infix_hint(InfixOperation(TypedText("a", "boolean"), "&", TypedText("b", "boolean")))
    'write AND instead of &'
    """
    operator, left, right = infix.operator, infix.left, infix.right
    if operator in _BIT_OPERATORS and TypeKind.BOOLEAN in infix.kinds:
        logical_operator = {"&": "AND", "|": "OR"}.get(operator, "<>")
        return f"write {logical_operator} instead of {operator}"
    if operator in ("IN", "NOT IN") and right.outer_type == "array":
        contains = f"array_contains({drop_parentheses(right.text)}, {left.text})"
        return f"write {'NOT ' if operator == 'NOT IN' else ''}{contains}"
    if TypeKind.OTHER in infix.kinds:
        return _find_nested_hint(infix)
    if operator in COMPARISONS:
        return _find_comparison_hint(infix)
    if operator in _ARITHMETIC:
        return _find_arithmetic_hint(infix)
    return None


def _find_nested_hint(infix: InfixOperation) -> str:
    """Return what to write instead of an operator of an array, a map or a struct."""
    operator, left, right = infix.operator, infix.left, infix.right
    if left.kind is right.kind:
        return (
            f"compare plain values, such as to_json({left.text}) {operator} to_json({right.text})"
        )
    nested = left if left.kind is TypeKind.OTHER else right
    plain = infix.find_other_operand(nested)
    with_part = infix.replace(nested, write_inner_value(nested, plain.kind))
    match nested.outer_type:
        case "array" if operator in ("=", "<=>"):
            contains = f"array_contains({nested.text}, {plain.text})"
            return f"write {contains}, or {with_part} for the first element"
        case "array" if plain.kind is TypeKind.NUMBER:
            with_size = infix.replace(nested, f"size({nested.text})")
            return f"write {with_size} for the number of elements, or {with_part} for one element"
        case "array":
            return f"write {with_part} for one element"
        case "map":
            return f"write {with_part} for the value of one key"
        case "struct":
            return f"write {with_part} for one field"
    return f"write {with_part}"


def _find_comparison_hint(infix: InfixOperation) -> str | None:
    """Return what to write instead of a comparison of two plain values of different kinds."""
    number = infix.find_operand(TypeKind.NUMBER)
    time = infix.find_operand(*TIMES)
    length = infix.find_operand(*LENGTHS_OF_TIME)
    if number is not None and time is not None:
        if is_written_literal(time.kind, number.text):
            return f"write {infix.replace(number, write_literal(time.kind, number.text))}"
        is_date = time.kind is TypeKind.DATE
        with_number = infix.replace(time, write_as_number(time) or time.text)
        unit = "days" if is_date else "seconds"
        example = f"{'date' if is_date else 'timestamp'} such as {EXAMPLE_LITERALS[time.kind]}"
        return f"write {with_number} for {unit} since 1970, or a {example} instead of {number.text}"
    if number is not None and length is not None:
        return _find_length_hint(infix, length, number)
    if time is not None and length is not None:
        with_difference = infix.replace(time, f"({time.text} - PREV({time.text}))")
        return f"write the difference of two times, such as {with_difference}"
    boolean = infix.find_operand(TypeKind.BOOLEAN)
    if boolean is not None:
        return _find_boolean_hint(infix, boolean)
    string = infix.find_operand(TypeKind.STRING)
    if string is not None:
        return _find_string_hint(infix, string)
    return None


def _find_boolean_hint(infix: InfixOperation, boolean: TypedText) -> str:
    """Return what to write instead of a comparison of a boolean with a value of another kind."""
    other = infix.find_other_operand(boolean)
    # A chain such as `1 < x < 5`, in which `1 < x` is compared with 5.
    if boolean is infix.left and infix.operator in ("<", "<=", ">", ">="):
        if "||" in boolean.text and "'" not in boolean.text:  # `x > 1 || x < 5`
            disjunction = re.sub(r"\s*\|\|\s*", " OR ", boolean.text)
            return f"write {disjunction} {infix.operator} {other.text}; || joins strings"
        chain = _COMPARISON.fullmatch(boolean.text)
        # the value in the middle is compared with both others, unless the sign is inside of a call
        if chain is not None and chain["right"].count("(") == chain["right"].count(")"):
            return f"write {boolean.text} AND {infix.replace(boolean, chain['right'])}"
        return "write x > 1 AND x < 5 for a value between two others"
    if boolean.text.upper() in ("TRUE", "FALSE"):
        if other.kind is TypeKind.NUMBER:
            is_negated = infix.operator in ("<>", "IS DISTINCT FROM")
            is_nonzero = (boolean.text.upper() == "TRUE") is not is_negated
            return f"write {other.text} {'<>' if is_nonzero else '='} 0"
        return f"write {infix.replace(other, write_cast(other, 'BOOLEAN'))}"
    if other.kind is TypeKind.NUMBER and not INTEGER.fullmatch(other.text):
        return f"write {infix.replace(boolean, write_cast(boolean, 'INT'))}"
    if other.kind is TypeKind.STRING and not CONSTANT.fullmatch(other.text):
        return f"write {infix.replace(other, write_cast(other, 'BOOLEAN'))}"
    return f"write {boolean.text} for true, NOT {parenthesize(boolean)} for false"


def _find_string_hint(infix: InfixOperation, string: TypedText) -> str:
    """Return what to write instead of a comparison of a string with a value of another kind."""
    other_kind = infix.find_other_operand(string).kind
    if other_kind is TypeKind.INTERVAL and is_parameter(string):
        return current_surface().advise_on_length(string.text)
    if other_kind in LENGTHS_OF_TIME:
        return f"write {write_literal(other_kind, string.text)} instead of {string.text}"
    if _CLASSIFIER.match(string.text):
        other_text = infix.find_other_operand(string).text
        return f"write the name of a variable in quotes, such as 'A', instead of {other_text}"
    type_name = "DOUBLE" if other_kind is TypeKind.NUMBER else other_kind.value.upper()
    return f"write {infix.replace(string, write_cast(string, type_name))}"


def _find_length_hint(infix: InfixOperation, length: TypedText, number: TypedText) -> str:
    """Return what to write instead of an operator between a length of time and a number.

    Args:
        infix: the operation.
        length: the operand that is a length of time.
        number: the operand that is a number.

    >>> length, number = TypedText("ts - PREV(ts)", "interval day"), TypedText("30", "int")
    >>> _find_length_hint(InfixOperation(length, ">", number), length, number)
    'write datediff(ts, PREV(ts)) > 30'
    >>> length, number = TypedText("d", "interval day to second"), TypedText("1/24", "double")
    >>> _find_length_hint(InfixOperation(length, "<", number), length, number)
    "write d < INTERVAL '1' HOUR"
    """
    if length.kind is TypeKind.INTERVAL and is_parameter(number):
        return current_surface().advise_on_length(number.text)
    dates = length.text.split(" - ")
    if length.type_name == "interval day" and len(dates) == 2:
        days = f"datediff({dates[0]}, {dates[1]})"
        return f"write {infix.replace(length, days)}"
    is_whole_number = INTEGER.fullmatch(number.text) is not None
    if length.text.upper().startswith("INTERVAL") and not is_whole_number:
        return f"write a number instead of {length.text}, or a length of time for {number.text}"
    part_of_day = re.fullmatch(r"\(?(\d+)\s*/\s*(24|1440|86400)\)?", number.text)
    if length.kind is TypeKind.INTERVAL and part_of_day is not None:  # Oracle counts in days
        unit = {"24": "HOUR", "1440": "MINUTE", "86400": "SECOND"}[part_of_day[2]]
        interval = f"INTERVAL '{part_of_day[1]}' {unit}"
        return f"write {infix.replace(number, interval)}"
    unit = "SECOND"
    other_units = ", or MINUTE, HOUR or DAY"
    if length.kind is TypeKind.MONTHS:
        unit = "MONTH"
        other_units = ", or YEAR"
    interval = f"INTERVAL '{number.text if is_whole_number else 1}' {unit}"
    if length.kind is TypeKind.INTERVAL and not is_whole_number:
        interval = f"{parenthesize(number)} * {interval}"
    return f"write {infix.replace(number, interval)}{other_units}"


def _find_arithmetic_hint(infix: InfixOperation) -> str | None:
    """Return what to write instead of arithmetic with two plain values."""
    operator, left, right = infix.operator, infix.left, infix.right
    is_sum = operator in ("+", "-")
    time = infix.find_operand(*TIMES)
    if time is not None and infix.kinds <= TIMES:
        return f"write {left.text} - {right.text} for the time between them"
    if time is not None and is_sum and TypeKind.BOOLEAN not in infix.kinds:
        return _find_time_sum_hint(infix, time)
    number = infix.find_operand(TypeKind.NUMBER)
    length = infix.find_operand(*LENGTHS_OF_TIME)
    if is_sum and number is not None and length is not None:
        return _find_length_hint(infix, length, number)
    name = infix.find_operand(TypeKind.STRING)
    if name is not None and _CLASSIFIER.match(name.text):
        return f"write {left.text} || {right.text} to join strings" if operator == "+" else None
    if infix.kinds == {TypeKind.STRING} and operator == "+":
        joined = f"{left.text} || {right.text}"
        numbers = f"{write_cast(left, 'DOUBLE')} + {write_cast(right, 'DOUBLE')}"
        return f"write {joined} to join strings, or {numbers} to add numbers"
    if is_sum and name is not None and number is not None and _WRITTEN_DATE.fullmatch(name.text):
        return f"write {infix.replace(name, f'DATE{name.text}')}"
    left_number, right_number = write_as_number(left), write_as_number(right)
    if left_number is None or right_number is None:
        return None
    if (left_number, right_number) == (left.text, right.text):
        return None
    return f"write {left_number} {operator} {right_number}"


def _find_time_sum_hint(infix: InfixOperation, time: TypedText) -> str:
    """Return what to write instead of a time plus or minus a number, a string or another value.

    >>> day = TypedText("day", "date")
    >>> _find_time_sum_hint(InfixOperation(day, "+", TypedText("5", "int")), day)
    "write day + INTERVAL '5' DAY"
    """
    other = infix.find_other_operand(time)
    if is_parameter(other):
        return current_surface().advise_on_length(other.text)
    if time.kind is TypeKind.DATE and other.kind is TypeKind.INTERVAL:
        return f"write {infix.replace(time, write_cast(time, 'TIMESTAMP'))}"
    other_text = other.text.strip("'\"")
    if is_written_literal(TypeKind.INTERVAL, other_text):
        return f"write {infix.replace(other, write_literal(TypeKind.INTERVAL, other_text))}"
    count = other_text if INTEGER.fullmatch(other_text) else "1"
    other_units = "" if time.kind is TypeKind.DATE else ", or HOUR, MINUTE or SECOND"
    return f"write {time.text} {infix.operator} INTERVAL '{count}' DAY{other_units}"
