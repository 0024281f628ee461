"""Hints for calls of functions whose arguments have types that the function does not take.

    length(tags)       write size(tags)
    year(seconds)      write year(timestamp_seconds(seconds)) for seconds since 1970
    bool_or(volume)    write a condition in it: bool_or(volume > 0)

If nothing better is known, the hint names the page of Spark that describes the function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matchrec.errors.sql.operand_texts import (
    INTEGER,
    parenthesize,
    write_as_number,
    write_conditions,
    write_struct_field,
)
from matchrec.errors.sql.type_kinds import LENGTHS_OF_TIME, TIMES, TypedText, TypeKind
from matchrec.errors.sql.written_times import EXAMPLE_LITERALS, write_literal

# The page that lists the functions of Spark SQL with their arguments.
SPARK_FUNCTIONS = "https://spark.apache.org/docs/latest/api/sql/"

# For a function and the outer type of its first argument: what to write. `{x}` stands for the first
# argument, `{arguments}` for all arguments.
_OTHER_CALLS = {
    ("LENGTH", "array"): "size({x})",
    ("CHAR_LENGTH", "array"): "size({x})",
    ("LENGTH", "map"): "size({x})",
    ("SIZE", "string"): "length({x})",
    ("CARDINALITY", "string"): "length({x})",
    ("ARRAY_CONTAINS", "string"): "contains({arguments})",
}
# Functions whose first argument is a time.
_FUNCTIONS_OF_TIMES = frozenset(
    {
        *("YEAR", "QUARTER", "MONTH", "WEEKOFYEAR", "DAY", "DAYOFWEEK", "DAYOFMONTH", "DAYOFYEAR"),
        *("WEEKDAY", "HOUR", "MINUTE", "SECOND"),
        *("LAST_DAY", "TO_DATE", "DATE_TRUNC", "DATE_FORMAT"),
    }
)
# Functions whose first argument is a number.
_FUNCTIONS_OF_NUMBERS = frozenset(
    {
        *("SUM", "AVG", "MEAN", "MEDIAN", "STDDEV", "VARIANCE"),
        *("ABS", "SIGN", "SQRT", "POWER", "POW", "EXP", "LN", "LOG", "ROUND", "FLOOR", "CEIL"),
    }
)
# Aggregates whose argument is a condition.
_AGGREGATES_OF_CONDITIONS = frozenset({"ANY", "SOME", "EVERY", "BOOL_AND", "BOOL_OR", "COUNT_IF"})

# Functions of an array and of a value that has the type of its elements.
_FUNCTIONS_OF_ELEMENTS = frozenset(
    {"ARRAY_CONTAINS", "ARRAY_POSITION", "ARRAY_REMOVE", "ARRAY_APPEND", "ARRAY_PREPEND"}
)

# For functions that add days or months to a date: a note on their arguments, which is the same on
# each engine.
EXPECTED_ARGUMENTS = {
    **dict.fromkeys(
        ("DATE_ADD", "DATE_SUB"), "its arguments must be a date and a whole number of days"
    ),
    "ADD_MONTHS": "its arguments must be a date and a whole number of months",
}


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of a function with at least one argument."""

    # The name of the function in upper case.
    function: str
    arguments: Sequence[TypedText]

    @property
    def first(self) -> TypedText:
        """The first argument."""
        return self.arguments[0]

    @property
    def reference(self) -> str:
        """A pointer to the page that describes the function."""
        return _refer_to_page(self.function)

    def replace_first(self, text: str) -> str:
        """Return the call as text, with another text for its first argument.

        >>> _Call("ROUND", [TypedText("x", "string"), TypedText("2", "int")]).replace_first("y")
        'round(y, 2)'
        """
        arguments = (text, *(argument.text for argument in self.arguments[1:]))
        return f"{self.function.lower()}({', '.join(arguments)})"


def _refer_to_page(function: str) -> str:
    """Return a pointer to the page that describes a function."""
    return f"see {SPARK_FUNCTIONS}#{function.lower()}"


def find_call_hint(function: str, arguments: Sequence[TypedText]) -> str:
    """Return what to write instead of a call of a function that takes arguments of other types.

    Args:
        function: the name of the function in upper case.
        arguments: the arguments, in their order.

    >>> find_call_hint("LENGTH", [TypedText("tags", "array<string>")])
    'write size(tags)'
    """
    if not arguments:
        return _refer_to_page(function)
    call = _Call(function, arguments)
    return _find_function_hint(call) or _find_nested_hint(call)


def _find_function_hint(call: _Call) -> str | None:
    """Return what to write instead of a call of a function that is known here, or None."""
    function, first = call.function, call.first
    other_call = _OTHER_CALLS.get((function, first.outer_type))
    if other_call is not None:
        all_arguments = ", ".join(argument.text for argument in call.arguments)
        return f"write {other_call.format(x=first.text, arguments=all_arguments)}"
    number = write_as_number(first)
    if function in _FUNCTIONS_OF_NUMBERS and number is not None and number != first.text:
        return f"write {call.replace_first(number)}"
    if function in _FUNCTIONS_OF_TIMES and first.kind is TypeKind.NUMBER:
        with_time = call.replace_first(f"timestamp_seconds({first.text})")
        return f"write {with_time} for seconds since 1970"
    if function == "EXTRACT":
        return f"write a date, a timestamp or an interval instead of {first.text}"
    if function in _AGGREGATES_OF_CONDITIONS:
        return f"write a condition in it: {function.lower()}({write_conditions(first)[0]})"
    if function == "DATEDIFF" and len(call.arguments) == 2:
        dates = [
            argument.text if argument.kind in TIMES else write_literal(TypeKind.DATE, argument.text)
            for argument in call.arguments
        ]
        return f"write datediff({dates[0]}, {dates[1]})"
    if function == "TIMESTAMPDIFF" and len(call.arguments) == 2:
        start, end = call.arguments
        difference = f"{parenthesize(end)} - {parenthesize(start)}"
        return f"write {difference} for numbers, or CAST both to TIMESTAMP"
    if function in _FUNCTIONS_OF_ELEMENTS and len(call.arguments) == 2:
        return _find_element_hint(function, *call.arguments)
    if function in EXPECTED_ARGUMENTS and len(call.arguments) == 2:
        return _find_date_sum_hint(function, *call.arguments)
    return None


def _find_element_hint(function: str, array: TypedText, value: TypedText) -> str | None:
    """Return what to write if a value is not of the type of an array's elements, or None.

    The array is cast if the value is a DOUBLE, because a cast to another number can change it.

    >>> numbers = TypedText("x", "array<int>")
    >>> _find_element_hint("ARRAY_CONTAINS", numbers, TypedText("'7'", "string"))
    "write array_contains(x, CAST('7' AS int))"
    >>> _find_element_hint("ARRAY_CONTAINS", numbers, TypedText("y", "double"))
    'write array_contains(CAST(x AS array<double>), y)'
    """
    if array.outer_type != "array" or value.kind is TypeKind.OTHER:
        return None
    if value.type_name == "double":
        return f"write {function.lower()}(CAST({array.text} AS array<double>), {value.text})"
    element_type = array.type_name.removeprefix("array<").removesuffix(">")
    return f"write {function.lower()}({array.text}, CAST({value.text} AS {element_type}))"


def _find_date_sum_hint(function: str, date: TypedText, count: TypedText) -> str:
    """Return what to write instead of a call that adds days or months to a date.

    Args:
        function: a key of `EXPECTED_ARGUMENTS`.
        date: the first argument, which may be of another type than a date.
        count: the second argument, which may be another value than a whole number.

    >>> _find_date_sum_hint("DATE_ADD", TypedText("day", "date"), TypedText("'x'", "string"))
    'write date_add(day, 1)'
    >>> _find_date_sum_hint("DATE_SUB", TypedText("ts", "int"), TypedText("7", "int"))
    "write date_sub(date_from_unix_date(ts), 7) for days since 1970, or a date, DATE'2026-01-31'"
    """
    number = count.text if INTEGER.fullmatch(count.text) else "1"
    name = function.lower()
    example = EXAMPLE_LITERALS[TypeKind.DATE]
    if date.kind in TIMES and count.kind in LENGTHS_OF_TIME:
        return f"write {date.text} {'-' if function == 'DATE_SUB' else '+'} {count.text}"
    if date.kind in TIMES or date.kind is TypeKind.STRING:
        return f"write {name}({date.text}, {number})"
    if date.type_name in ("tinyint", "smallint", "int"):
        days_since_1970 = f"{name}(date_from_unix_date({date.text}), {number})"
        return f"write {days_since_1970} for days since 1970, or a date, {example}"
    return f"write a date in it: {name}({example}, {number})"


def _find_nested_hint(call: _Call) -> str:
    """Return what to write for one value of an array or a struct, or else where to look."""
    match call.first.outer_type:
        case "array":
            with_element = call.replace_first(f"{parenthesize(call.first)}[0]")
            return f"write {with_element} for one element; {call.reference}"
        case "struct":
            with_field = call.replace_first(write_struct_field(call.first, None))
            return f"write {with_field} for one field; {call.reference}"
    return f"write arguments of other types; {call.reference}"
