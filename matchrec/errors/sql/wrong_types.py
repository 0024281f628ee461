"""Errors for values whose types an operator or a function does not take.

    `>` in DEFINE cannot compare date and int [incompatible-types]
      line 9, column 15
          DEFINE B AS day > 5
                      ^^^^^^^
      note: day is of type date, 5 is of type int
      help: write unix_date(day) > 5 for days since 1970, or a date such as DATE'2026-01-31'

The help repeats the texts of the user's operands, so that it can be pasted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from matchrec.errors.kinds import MatchRecognizePlanError
from matchrec.errors.language import name_part
from matchrec.errors.sql.foreign_names import find_arguments_hint
from matchrec.errors.sql.type_mismatches import classify_type
from matchrec.errors.wording import join_alternatives, shorten, write_name
from matchrec.source import Span

# The page that lists the functions of Spark SQL with their arguments.
SPARK_FUNCTIONS = "https://spark.apache.org/docs/latest/api/sql/"

COMPARISONS = frozenset(
    ("=", "<=>", "<>", "<", "<=", ">", ">=", "IN", "NOT IN", "BETWEEN", "NOT BETWEEN")
) | {"IS DISTINCT FROM", "IS NOT DISTINCT FROM"}
_ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "DIV"))
_BIT_OPERATORS = frozenset(("&", "|", "^", "~"))
# Operators and functions that return the value of one of their operands.
_CHOICES = frozenset(
    ("CASE", "CASE OF", "IF", "COALESCE", "NVL", "NVL2", "IFNULL", "NULLIF", "GREATEST", "LEAST")
) | {"DECODE", "NANVL"}
_LOGIC = frozenset(("AND", "OR", "NOT"))
# How operators are written whose names here are other ones.
_WRITTEN = {"NEG": "-", "CASE OF": "CASE"}
# Operators and other words that are written in capitals. Functions are not.
_WORDS = frozenset(("DIV", "LIKE", "ILIKE", "RLIKE", "CASE", "CAST", "TRY_CAST")) | _LOGIC

# An error lists at most this many numbers of arguments.
MOST_COUNTS = 3

_TIMES = frozenset(("date", "timestamp", "timestamp_ntz"))
_INTERVALS = frozenset(("interval", "months"))
# An example of a value of each kind of type.
_EXAMPLES = {
    "date": "DATE'2026-01-31'",
    "timestamp": "TIMESTAMP'2026-01-31 12:00:00'",
    "timestamp_ntz": "TIMESTAMP_NTZ'2026-01-31 12:00:00'",
    "interval": "INTERVAL '10' MINUTE",
    "months": "INTERVAL '3' MONTH",
}
_INTEGER = re.compile(r"\d+")
_WORD = re.compile(r"[\w.]+(?:\(.*\))?|'[^']*'", re.DOTALL)


class TypedText(NamedTuple):
    """A value in the user's text, and its type."""

    # As the user wrote it, or as a query would have it.
    text: str
    # In Spark's words, such as `array<string>`.
    type_name: str

    @property
    def kind(self) -> str:
        """The kind of the type, as `classify_type` returns it."""
        return classify_type(self.type_name)


def incompatible_types(  # noqa: PLR0913 -- what is known about an operation
    operator: str,
    operands: Sequence[TypedText],
    span: Span | None,
    *,
    clause: str,
    target: str = "",
    expected: str = "",
) -> MatchRecognizePlanError:
    """Return the error for an operator or a function that does not take values of these types.

    Args:
        operator: its name in upper case, as `plan.operators` has it.
        operands: the values.
        span: the operation in the text of the query.
        clause: the clause of the operation, such as DEFINE.
        target: the type of a CAST.
        expected: a note on the types that it takes, if they are known.
    """
    type_names = [operand.type_name for operand in operands]
    if len(operands) != 2:
        type_names = list(dict.fromkeys(type_names))
    joined = " and ".join(filter(None, (", ".join(type_names[:-1]), type_names[-1])))
    is_function = operator.isidentifier() and operator not in _WORDS | COMPARISONS
    name = operator.lower() if is_function else _WRITTEN.get(operator, operator)
    in_clause = f"in {name_part(clause)}"
    if operator in ("CAST", "TRY_CAST") and target:
        headline = f"`{operator}` {in_clause} cannot convert {joined} to {target.lower()}"
    elif operator in COMPARISONS:
        headline = f"`{name}` {in_clause} cannot compare {joined}"
    elif operator in _LOGIC or (operator in ("CASE", "IF") and len(operands) == 1):
        wrong = " and ".join(name for name in type_names if name != "boolean")
        headline = f"`{name}` {in_clause} needs boolean, not {wrong}"
    elif len(operands) > 1 and (operator in _CHOICES or not is_function):
        headline = f"`{name}` {in_clause} cannot combine {joined}"
    else:
        headline = f"`{name}` {in_clause} does not take {joined}"
    texts_by_type = {operand.type_name: operand.text for operand in reversed(operands)}
    note = ", ".join(
        f"{shorten(operand.text)} is of type {operand.type_name}"
        for operand in dict.fromkeys(operands)
        if len(operands) == 2 or operand.text == texts_by_type[operand.type_name]
    )
    return MatchRecognizePlanError(
        headline,
        span,
        notes=(note, expected),
        hint=find_operands_hint(operator, operands, target),
        code="incompatible-types",
    )


def unreadable_literal(
    text: str, span: Span | None, *, clause: str, value: TypedText, columns: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for a string that is compared with a number or a time, and is not one.

    Args:
        text: the text of the string.
        span: the string in the text of the query.
        clause: the clause of the comparison.
        value: the value with which it is compared.
        columns: the columns of the input. The user may have put one in quotes.
    """
    column = next((name for name in columns if name.lower() == text.lower()), None)
    if re.fullmatch(r":\w+", text):
        hint = f"write {text}, without quotes, for the value of a parameter"
    elif column is not None:
        hint = f"quotes make it a string: write {write_name(column)} for the column"
    else:
        example = _EXAMPLES.get(value.kind, "a number without quotes")
        hint = f"write {example} instead of '{text}', or compare CAST({value.text} AS STRING)"
    return MatchRecognizePlanError(
        f"'{shorten(text)}' in {name_part(clause)} cannot be compared with {value.type_name}",
        span,
        notes=(f"{shorten(value.text)} is of type {value.type_name}, and strings are cast to it",),
        hint=hint,
        code="unreadable-literal",
    )


def wrong_number_of_function_arguments(
    function: str, expected: Sequence[str], actual: int, span: Span | None, *, clause: str
) -> MatchRecognizePlanError:
    """Return the error for a call of a function of Spark with too few or many arguments.

    Args:
        function: the name of the function, as the user wrote it.
        expected: the numbers of arguments that it takes; empty if they are not known.
        actual: the number of arguments of the call.
        span: the call in the text of the query.
        clause: the clause of the call.
    """
    takes = "another number of arguments"
    if len(expected) > MOST_COUNTS:
        takes = f"at least {expected[0]} arguments"
    elif expected:
        takes = f"{join_alternatives(expected)} argument{'' if list(expected) == ['1'] else 's'}"
    pages = f"{SPARK_FUNCTIONS}#{function.lower()}"
    hint = find_arguments_hint(function)
    return MatchRecognizePlanError(
        f"{function} in {name_part(clause)} takes {takes}, not {actual}",
        span,
        notes=(f"{pages} describes its arguments",),
        hint=hint or f"write {function} with {takes if expected else 'other arguments'}",
        code="wrong-number-of-arguments",
    )


def find_operands_hint(
    operator: str, operands: Sequence[TypedText], target: str = ""
) -> str | None:
    """Return what to write instead of an operation, with the user's operands.

    Args:
        operator: the name of the operator or the function.
        operands: the values.
        target: the type of a CAST.

    >>> find_operands_hint("-", [TypedText("sym", "string"), TypedText("1", "int")])
    'write CAST(sym AS DOUBLE) - 1'
    >>> find_operands_hint(">", [TypedText("tags", "array<string>"), TypedText("3", "int")])
    'write size(tags) > 3 for the number of elements, or tags[0] > 3 for one element'
    """
    if operator in ("CAST", "TRY_CAST"):
        return _find_cast_hint(operands[0], target)
    if operator in _LOGIC:
        return _find_condition_hint(operator, operands)
    if operator in ("CASE", "IF") and len(operands) == 1:
        return f"write a condition: {write_condition(operands[0])}"
    if operator in ("LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"):
        value, *patterns = operands
        texts = [o.text if o.kind == "string" else f"'{o.text}%'" for o in patterns[:1]]
        return f"write {_cast(value, 'STRING')} {operator} {texts[0] if texts else ''}".rstrip()
    if operator == "NEG" or operator == "~":
        return _find_sign_hint(operator, operands[0])
    if len(operands) == 2 and (operator in COMPARISONS or not operator.isidentifier()):
        return _find_pair_hint(operator, *operands)
    if operator == "DIV" and len(operands) == 2:
        return _find_pair_hint(operator, *operands)
    if operator in COMPARISONS:
        first = operands[0]
        other = next((one for one in operands if one.kind != first.kind), operands[-1])
        return _find_list_hint(first, other)
    if operator in _CHOICES:
        return _find_choice_hint(operands)
    return _find_function_hint(operator, operands)


def write_condition(value: TypedText) -> str:
    """Return a condition about a value that is not one.

    >>> write_condition(TypedText("price", "double"))
    'price > 0 or price IS NOT NULL'
    """
    text = value.text if _WORD.fullmatch(value.text) else f"({value.text})"
    examples = {"number": " > 0", "string": " = 'a'"}
    example = examples.get(value.kind)
    if example is None and value.kind in _EXAMPLES:
        example = f" > {_EXAMPLES[value.kind]}"
    is_set = f"{text} IS NOT NULL"
    return is_set if example is None else f"{text}{example} or {is_set}"


def _cast(value: TypedText, type_name: str) -> str:
    """Return a value cast to a type, or as it is if it has a type of this kind."""
    if value.kind == classify_type(type_name):
        return value.text
    if type_name == "DOUBLE" and value.kind in ("interval", "months", "other", "binary"):
        return value.text
    return f"CAST({value.text} AS {type_name})"


def _in_parentheses(value: TypedText) -> str:
    """Return a text as the operand of `.`, `[` or an operator."""
    return value.text if _WORD.fullmatch(value.text) else f"({value.text})"


def _find_cast_hint(value: TypedText, target: str) -> str:
    """Return what to write instead of a CAST that no value of a type allows."""
    text, operand = value.text, _in_parentheses(value)
    target_kind = classify_type(target)
    word = value.type_name.split("<", maxsplit=1)[0]
    match word, value.kind, target_kind:
        case "array", _, _:
            return f"write CAST({operand}[0] AS {target}) for one element"
        case "map", _, _:
            return f"write CAST({operand}['key'] AS {target}) for one value"
        case "struct", _, _:
            return f"write CAST({_write_field(value, target_kind)} AS {target}) for one field"
        case _, "date", "number":
            return f"write unix_date({text}) for the number of days since 1970"
        case _, "number", "date":
            return f"write date_from_unix_date({text}) for a number of days since 1970"
        case _, "boolean", _:
            return f"write CAST(CAST({text} AS INT) AS {target})"
    return f"write CAST(CAST({text} AS STRING) AS {target})"


def _find_condition_hint(operator: str, operands: Sequence[TypedText]) -> str:
    """Return what to write instead of AND, OR or NOT of values that are not conditions."""
    wrong = next((value for value in operands if value.kind != "boolean"), operands[0])
    condition = write_condition(wrong)
    if operator == "NOT":
        return f"write NOT ({condition.split(' or ')[0]})"
    return f"write a condition instead of {wrong.text}: {condition}"


def _find_sign_hint(operator: str, value: TypedText) -> str | None:
    """Return what to write instead of `-` or `~` before a value."""
    if value.kind == "boolean":
        return f"write NOT {_in_parentheses(value)}"
    number = _write_number(value)
    return f"write {operator if operator == '~' else '-'}{number}" if number else None


def _find_list_hint(first: TypedText, other: TypedText) -> str | None:
    """Return what to write instead of IN or BETWEEN with values of other types than the first."""
    if first.kind in _EXAMPLES:
        return f"write values such as {_EXAMPLES[first.kind]} instead of {shorten(other.text)}"
    if other.kind in _TIMES and first.kind == "string":
        return f"write CAST({first.text} AS {other.type_name.upper()})"
    number = _write_number(first)
    if number is not None and other.kind == "number":
        return f"write {number} instead of {shorten(first.text)}"
    return f"write values of type {first.type_name} instead of {shorten(other.text)}"


def _find_choice_hint(operands: Sequence[TypedText]) -> str:
    """Return what to write instead of a choice between values of several types."""
    first = operands[0]
    other = next((one for one in operands if one.kind != first.kind), operands[-1])
    if first.kind == "other" or other.kind == "string":
        first, other = other, first
    replacement = f"CAST({other.text} AS {first.type_name.upper()})"
    if other.kind == "other":
        replacement = _write_part(other, first.kind)
    elif first.kind in _EXAMPLES and other.kind in ("number", "boolean"):
        replacement = _EXAMPLES[first.kind]
    elif first.kind == "boolean":
        replacement = "TRUE or FALSE"
    return f"write {replacement} instead of {other.text}"


def _write_part(nested: TypedText, kind: str) -> str:
    """Return one value of an array, a map or a struct; for a struct of a kind, if it has one."""
    word = nested.type_name.split("<", maxsplit=1)[0]
    operand = _in_parentheses(nested)
    parts = {"array": f"{operand}[0]", "map": f"{operand}['key']"}
    if word == "struct":
        return _write_field(nested, kind)
    return parts.get(word, f"CAST({nested.text} AS STRING)")


def _find_pair_hint(operator: str, left: TypedText, right: TypedText) -> str | None:
    """Return what to write instead of an operator between two values."""
    kinds = {left.kind, right.kind}
    is_comparison = operator in COMPARISONS
    if operator in _BIT_OPERATORS and "boolean" in kinds:
        word = {"&": "AND", "|": "OR"}.get(operator)
        return f"write {word} instead of {operator}" if word else "write <> instead of ^"
    if operator in ("IN", "NOT IN") and right.type_name.startswith("array"):
        contains = f"array_contains({right.text.strip('()')}, {left.text})"
        return f"write {'NOT ' if operator == 'NOT IN' else ''}{contains}"
    if "other" in kinds:
        return _find_nested_hint(operator, left, right)
    if is_comparison:
        return _find_comparison_hint(operator, left, right)
    if operator in _ARITHMETIC:
        return _find_arithmetic_hint(operator, left, right)
    return None


def _find_nested_hint(operator: str, left: TypedText, right: TypedText) -> str:
    """Return what to write instead of an operator of an array, a map or a struct."""
    nested, other = (left, right) if left.kind == "other" else (right, left)
    word = nested.type_name.split("<", maxsplit=1)[0]
    operand = _in_parentheses(nested)

    def write(replacement: str) -> str:
        """Return the operation with another text for the nested value."""
        texts = (replacement if one is nested else one.text for one in (left, right))
        return f" {operator} ".join(texts)

    if other.kind == "other":
        return (
            f"compare plain values, such as to_json({left.text}) {operator} to_json({right.text})"
        )
    match word:
        case "array" if operator in ("=", "<=>"):
            contains = f"array_contains({nested.text}, {other.text})"
            return f"write {contains}, or {write(f'{operand}[0]')} for the first element"
        case "array" if other.kind == "number":
            size = write(f"size({nested.text})")
            element = write(f"{operand}[0]")
            return f"write {size} for the number of elements, or {element} for one element"
        case "array":
            return f"write {write(f'{operand}[0]')} for one element"
        case "map":
            key = write(f"{operand}['key']")
            return f"write {key} for the value of one key"
        case "struct":
            return f"write {write(_write_field(nested, other.kind))} for one field"
    return f"write {write(f'CAST({nested.text} AS STRING)')}"


def _write_field(struct: TypedText, kind: str) -> str:
    """Return a field of a struct, if possible one whose type is of a kind.

    >>> _write_field(TypedText("info", "struct<name:string,qty:int>"), "number")
    'info.qty'
    """
    fields = re.findall(r"(?:struct<|,)([^:,<>]+):(\w+)", struct.type_name)
    names = [name for name, type_name in fields if classify_type(type_name) == kind]
    names += [name for name, _ in fields]
    return f"{_in_parentheses(struct)}.{names[0] if names else 'field'}"


def _find_comparison_hint(operator: str, left: TypedText, right: TypedText) -> str | None:
    """Return what to write instead of a comparison of two plain values of different kinds."""
    kinds = {left.kind, right.kind}
    number = _find_value(left, right, "number")
    time = next((value for value in (left, right) if value.kind in _TIMES), None)
    interval = next((value for value in (left, right) if value.kind in _INTERVALS), None)
    if number is not None and time is not None:
        seconds = "days" if time.kind == "date" else "seconds"
        text = _write_pair(operator, left, right, {time: _write_number(time) or time.text})
        example = f"{time.kind.replace('_ntz', '')} such as {_EXAMPLES[time.kind]}"
        return f"write {text} for {seconds} since 1970, or a {example} instead of {number.text}"
    if number is not None and interval is not None:
        return _find_length_hint(operator, left, right, interval, number)
    if time is not None and interval is not None:
        pair = _write_pair(operator, left, right, {time: f"({time.text} - PREV({time.text}))"})
        return f"write the difference of two times, such as {pair}"
    boolean = _find_value(left, right, "boolean")
    if boolean is not None:
        other = right if boolean is left else left
        if boolean is left and operator in ("<", "<=", ">", ">="):  # `1 < x < 5`
            return "write x > 1 AND x < 5 for a value between two others"
        if boolean.text.upper() in ("TRUE", "FALSE"):
            comparison = "<>" if boolean.text.upper() == "TRUE" else "="
            if other.kind == "number":
                return f"write {other.text} {comparison} 0"
            return f"write {_write_pair(operator, left, right, {other: _cast(other, 'BOOLEAN')})}"
        if other.kind == "number" and not _INTEGER.fullmatch(other.text):
            return f"write {_write_pair(operator, left, right, {boolean: _cast(boolean, 'INT')})}"
        return f"write {boolean.text} for true, NOT {_in_parentheses(boolean)} for false"
    string = _find_value(left, right, "string")
    if string is not None:
        (kind,) = kinds - {"string"} or {"string"}
        if kind in _INTERVALS:
            return f"write {_EXAMPLES[kind]} instead of {string.text}"
        type_name = "DOUBLE" if kind == "number" else kind.upper()
        return f"write {_write_pair(operator, left, right, {string: _cast(string, type_name)})}"
    return None


def _find_length_hint(
    operator: str, left: TypedText, right: TypedText, length: TypedText, number: TypedText
) -> str:
    """Return what to write instead of a comparison of a length of time with a number."""
    unit = "MONTH" if length.kind == "months" else "SECOND"
    dates = length.text.split(" - ")
    if length.type_name == "interval day" and len(dates) == 2:
        days = f"datediff({dates[0]}, {dates[1]})"
        return f"write {_write_pair(operator, left, right, {length: days})}"
    if length.text.upper().startswith("INTERVAL") and not _INTEGER.fullmatch(number.text):
        return f"write a number instead of {length.text}, or a length of time for {number.text}"
    count = number.text if _INTEGER.fullmatch(number.text) else "1"
    pair = _write_pair(operator, left, right, {number: f"INTERVAL '{count}' {unit}"})
    others = ", or YEAR" if unit == "MONTH" else ", or MINUTE, HOUR or DAY"
    return f"write {pair}{others}"


def _find_arithmetic_hint(operator: str, left: TypedText, right: TypedText) -> str | None:
    """Return what to write instead of arithmetic with two plain values."""
    kinds = {left.kind, right.kind}
    time = next((value for value in (left, right) if value.kind in _TIMES), None)
    if time is not None and kinds <= _TIMES:
        difference = f"{left.text} - {right.text}"
        return f"write {difference} for the time between them"
    if time is not None and operator in "+-" and "boolean" not in kinds:
        other = right if time is left else left
        count = other.text.strip("'\"")
        count = count if _INTEGER.fullmatch(count) else "1"
        length = f"INTERVAL '{count}' DAY"
        units = "" if time.kind == "date" else ", or HOUR, MINUTE or SECOND"
        return f"write {time.text} {operator} {length}{units}"
    if _INTERVALS & kinds and "number" in kinds and operator in "+-":
        number = _find_value(left, right, "number")
        interval = right if number is left else left
        assert number is not None
        return _find_length_hint(operator, left, right, interval, number)
    if kinds == {"string"} and operator == "+":
        joined = f"{left.text} || {right.text}"
        numbers = f"{_cast(left, 'DOUBLE')} + {_cast(right, 'DOUBLE')}"
        return f"write {joined} to join strings, or {numbers} to add numbers"
    texts = [_write_number(value) for value in (left, right)]
    if None in texts or texts == [left.text, right.text]:
        return None
    return f"write {texts[0]} {operator} {texts[1]}"


def _write_number(value: TypedText) -> str | None:
    """Return an expression that makes a number of a value; None if there is none."""
    match value.kind:
        case "number":
            return value.text
        case "string" | "collated":
            return f"CAST({value.text} AS DOUBLE)"
        case "boolean":
            return f"CAST({value.text} AS INT)"
        case "date":
            return f"unix_date({value.text})"
        case "timestamp" | "timestamp_ntz":
            return f"unix_timestamp({value.text})"
        case "other" if value.type_name.startswith(("array", "map")):
            return f"size({value.text})"
    return None


def _find_value(left: TypedText, right: TypedText, kind: str) -> TypedText | None:
    """Return the one of two values whose type is of a kind, or None."""
    return next((value for value in (left, right) if value.kind == kind), None)


def _write_pair(
    operator: str, left: TypedText, right: TypedText, replaced: dict[TypedText, str]
) -> str:
    """Return an operation of two values, with other texts for some of them."""
    return f"{replaced.get(left, left.text)} {operator} {replaced.get(right, right.text)}"


# For a function and a kind of type, what to write. `{x}` is the argument.
_FUNCTION_HINTS = {
    ("LENGTH", "array"): "size({x})",
    ("CHAR_LENGTH", "array"): "size({x})",
    ("LENGTH", "map"): "size({x})",
    ("SIZE", "string"): "length({x})",
    ("CARDINALITY", "string"): "length({x})",
    ("ARRAY_CONTAINS", "string"): "contains({arguments})",
}
_FUNCTIONS_OF_TIMES = frozenset(
    ("YEAR", "MONTH", "DAY", "DAYOFWEEK", "DAYOFMONTH", "DAYOFYEAR", "HOUR", "MINUTE", "SECOND")
) | {"QUARTER", "WEEKOFYEAR", "WEEKDAY", "LAST_DAY", "TO_DATE", "DATE_TRUNC", "DATE_FORMAT"}
_FUNCTIONS_OF_NUMBERS = frozenset(
    ("SUM", "AVG", "MEAN", "ABS", "SQRT", "POWER", "POW", "ROUND", "FLOOR", "CEIL", "EXP", "LN")
) | {"LOG", "SIGN", "STDDEV", "VARIANCE", "MEDIAN"}


_AGGREGATES_OF_CONDITIONS = frozenset(("ANY", "SOME", "EVERY", "BOOL_AND", "BOOL_OR", "COUNT_IF"))


def _find_function_hint(function: str, arguments: Sequence[TypedText]) -> str:
    """Return what to write instead of a call of a function with arguments of other types."""
    pages = f"see {SPARK_FUNCTIONS}#{function.lower()}"
    if not arguments:
        return pages
    first = arguments[0]
    word = first.type_name.split("<", maxsplit=1)[0].split("(", maxsplit=1)[0]
    template = _FUNCTION_HINTS.get((function, word))
    joined = ", ".join(argument.text for argument in arguments)
    if template is not None:
        return f"write {template.format(x=first.text, arguments=joined)}"
    rest = "".join(f", {argument.text}" for argument in arguments[1:])
    name = function.lower()
    number = _write_number(first)
    if function in _FUNCTIONS_OF_NUMBERS and number not in (None, first.text):
        return f"write {name}({number}{rest})"
    if function in _FUNCTIONS_OF_TIMES and first.kind == "number":
        return f"write {name}(timestamp_seconds({first.text}){rest}) for seconds since 1970"
    if function in _AGGREGATES_OF_CONDITIONS:
        return f"write a condition in it: {name}({write_condition(first).split(' or ')[0]})"
    if function == "DATEDIFF" and len(arguments) == 2:
        dates = [
            argument.text if argument.kind in _TIMES else _EXAMPLES["date"]
            for argument in arguments
        ]
        return f"write datediff({dates[0]}, {dates[1]})"
    if word == "array":
        return f"write {name}({_in_parentheses(first)}[0]{rest}) for one element; {pages}"
    if word == "struct":
        return f"write {name}({_write_field(first, '')}{rest}) for one field; {pages}"
    return f"write arguments of other types; {pages}"
