"""Hints for operations whose operands have types that the operation does not take.

The hints repeat the texts of the user's operands, so that they can be pasted:

    day > 5            write unix_date(day) > 5 for days since 1970, or a date such as ...
    sym - 1            write CAST(sym AS DOUBLE) - 1
    NOT price          write NOT (price > 0)

`find_operands_hint` calls the function for the form of the operation: a cast, logic, LIKE, an
operator between two values (`_Infix`), a list, a choice or a call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from matchrec.errors.sql.brackets import find_closing_bracket
from matchrec.errors.sql.type_kinds import (
    LENGTHS_OF_TIME,
    TIMES,
    TypedText,
    TypeKind,
    classify_type,
)
from matchrec.errors.sql.written_times import EXAMPLE_LITERALS, is_written_literal, write_literal
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import shorten, write_name

# The page that lists the functions of Spark SQL with their arguments.
SPARK_FUNCTIONS = "https://spark.apache.org/docs/latest/api/sql/"

COMPARISONS = frozenset(
    ("=", "<=>", "<>", "<", "<=", ">", ">=", "IN", "NOT IN", "BETWEEN", "NOT BETWEEN")
) | {"IS DISTINCT FROM", "IS NOT DISTINCT FROM"}
_ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "DIV"))
_BIT_OPERATORS = frozenset(("&", "|", "^", "~"))
# Operators and functions that return the value of one of their operands.
CHOICES = frozenset(
    ("CASE", "CASE OF", "IF", "COALESCE", "NVL", "NVL2", "IFNULL", "NULLIF", "GREATEST", "LEAST")
) | {"DECODE", "NANVL"}
LOGIC = frozenset(("AND", "OR", "NOT"))

_INTEGER = re.compile(r"\d+")
# The beginning of an operand whose value is the name of a variable: `CLASSIFIER()`, or
# `LAST(CLASSIFIER(), 1)`.
_CLASSIFIER = re.compile(r"(?:\w+\s*\(\s*)*CLASSIFIER\s*\(", re.IGNORECASE)
# A string that is a date.
_WRITTEN_DATE = re.compile(r"'\d{4}-\d{1,2}-\d{1,2}'")
_PARAMETER = re.compile(r":\w+|\?")
_COMPARISON = re.compile(r"[^<>=]+(?:<=?|>=?)\s*(?P<right>[^<>=\s][^<>=]*)", re.DOTALL)
# A name, a number or a string, and the name of a function with the parenthesis after it.
_PLAIN_OPERAND = re.compile(r"[\w.]+|'[^']*'")
_CALL = re.compile(r"[\w.]+\(")


def find_operands_hint(
    operator: str, operands: Sequence[TypedText], target: str = ""
) -> str | None:
    """Return what to write instead of an operation, with the user's operands.

    Args:
        operator: the name of the operator or the function.
        operands: the values, in the order in which the operation takes them.
        target: the type to which a CAST converts; "" for other operations.

    >>> find_operands_hint("-", [TypedText("sym", "string"), TypedText("1", "int")])
    'write CAST(sym AS DOUBLE) - 1'
    >>> find_operands_hint(">", [TypedText("tags", "array<string>"), TypedText("3", "int")])
    'write size(tags) > 3 for the number of elements, or tags[0] > 3 for one element'
    """
    if operator in ("<<", ">>") and len(operands) == 2:
        comparison = f"{operands[0].text} {operator[0]} {operands[1].text}"
        return f"write {comparison} to compare them; {operator} moves bits"
    if operator in ("CAST", "TRY_CAST"):
        return _find_cast_hint(operands[0], target)
    if operator in LOGIC:
        return _find_condition_hint(operator, operands)
    if operator in ("CASE", "IF") and len(operands) == 1:
        return f"write a condition: {' or '.join(write_conditions(operands[0]))}"
    if operator in ("LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"):
        return _find_like_hint(operator, operands)
    if operator in ("NEG", "~"):
        return _find_sign_hint(operator, operands[0])
    is_infix = operator in COMPARISONS or operator == "DIV" or not operator.isidentifier()
    if is_infix and len(operands) == 2:
        left, right = operands
        return _find_infix_hint(_Infix(left, operator, right))
    if operator in COMPARISONS:
        return _find_list_hint(operands[0], _find_other_kind(operands))
    if operator in CHOICES:
        return _find_choice_hint(operands)
    return _find_function_hint(operator, operands)


def write_conditions(value: TypedText) -> list[str]:
    """Return conditions about a value that is not one, the likeliest first.

    >>> write_conditions(TypedText("price", "double"))
    ['price > 0', 'price IS NOT NULL']
    """
    text = _parenthesize(value)
    is_not_null = f"{text} IS NOT NULL"
    match value.kind:
        case TypeKind.NUMBER:
            return [f"{text} > 0", is_not_null]
        case TypeKind.STRING:
            return [f"{text} = 'a'", is_not_null]
        case kind if kind in EXAMPLE_LITERALS:
            return [f"{text} > {EXAMPLE_LITERALS[kind]}", is_not_null]
    return [is_not_null]


def _is_parameter(value: TypedText) -> bool:
    """Return whether an operand is a parameter, `:gap` or `?`, so that the call has its value."""
    return _PARAMETER.fullmatch(value.text) is not None


def _write_cast(value: TypedText, type_name: str) -> str:
    """Return a value cast to a type.

    The value stays as it is if it already has a type of this kind, or cannot become a number.
    """
    if value.kind is classify_type(type_name):
        return value.text
    cannot_be_number = LENGTHS_OF_TIME | {TypeKind.OTHER, TypeKind.BINARY}
    if type_name == "DOUBLE" and value.kind in cannot_be_number:
        return value.text
    return f"CAST({value.text} AS {type_name})"


def _parenthesize(value: TypedText) -> str:
    """Return a value as the operand of `.`, `[` or an operator: in parentheses if it needs them.

    >>> _parenthesize(TypedText("f(a, b)", "int")), _parenthesize(TypedText("f(a) + g(b)", "int"))
    ('f(a, b)', '(f(a) + g(b))')
    """
    text = value.text
    call = _CALL.match(text)
    is_call = call is not None and find_closing_bracket(text, call.end() - 1) == len(text) - 1
    return text if is_call or _PLAIN_OPERAND.fullmatch(text) else f"({text})"


def _drop_parentheses(text: str) -> str:
    """Return an expression without the parentheses around it.

    >>> _drop_parentheses("(split(s, ','))"), _drop_parentheses("(a) + (b)")
    ("split(s, ',')", '(a) + (b)')
    """
    if text.startswith("(") and find_closing_bracket(text, 0) == len(text) - 1:
        return text[1:-1].strip()
    return text


def _find_cast_hint(value: TypedText, target: str) -> str:
    """Return what to write instead of a CAST that no value of a type allows."""
    text = value.text
    operand = _parenthesize(value)
    target_kind = classify_type(target)
    match value.outer_type:
        case "array":
            return f"write CAST({operand}[0] AS {target}) for one element"
        case "map":
            return f"write CAST({operand}['key'] AS {target}) for one value"
        case "struct":
            return f"write CAST({_write_field(value, target_kind)} AS {target}) for one field"
    match value.kind, target_kind:
        case TypeKind.DATE, TypeKind.NUMBER:
            return f"write unix_date({text}) for the number of days since 1970"
        case TypeKind.NUMBER, TypeKind.DATE:
            return f"write date_from_unix_date({text}) for a number of days since 1970"
        case TypeKind.BOOLEAN, _:
            return f"write CAST(CAST({text} AS INT) AS {target})"
    return f"write CAST(CAST({text} AS STRING) AS {target})"


def _find_like_hint(operator: str, operands: Sequence[TypedText]) -> str:
    """Return what to write instead of LIKE of values that are not strings."""
    value, *patterns = operands
    string = _write_cast(value, "STRING")
    if not patterns:
        return f"write {string} {operator}"
    pattern = patterns[0]
    pattern_text = pattern.text
    if pattern.kind is not TypeKind.STRING:
        is_constant = _CONSTANT.fullmatch(pattern.text) is not None
        pattern_text = f"'{pattern.text}%'" if is_constant else f"CAST({pattern.text} AS STRING)"
    return f"write {string} {operator} {pattern_text}"


def _find_condition_hint(operator: str, operands: Sequence[TypedText]) -> str:
    """Return what to write instead of AND, OR or NOT of values that are not conditions."""
    wrong = next((value for value in operands if value.kind is not TypeKind.BOOLEAN), operands[0])
    comparison = write_comparison_with(operator, operands[0], wrong)
    if comparison is not None:
        return f"write {comparison}"
    conditions = write_conditions(wrong)
    if operator == "NOT":
        return f"write NOT ({conditions[0]})"
    return f"write a condition instead of {wrong.text}: {' or '.join(conditions)}"


# The last condition of `x > 1 AND y = 'buy'`: a comparison with a constant.
_LAST_COMPARISON = re.compile(
    r"(?:.*\b(?:AND|OR)\s+)?(?P<left>[^<>=!()]+?)\s*(?P<operator><=|>=|<>|!=|<|>|=)\s*"
    r"(?P<right>'[^']*'|[\d.]+)",
    re.IGNORECASE | re.DOTALL,
)
_CONSTANT = re.compile(r"'[^']*'|-?\d+(?:\.\d+)?")


def write_comparison_with(operator: str, condition: TypedText, value: TypedText) -> str | None:
    """Return the comparison that is meant by a constant after AND or OR; None for other values.

    >>> condition = TypedText("side = 'buy'", "boolean")
    >>> write_comparison_with("OR", condition, TypedText("'sell'", "string"))
    "side IN ('buy', 'sell')"
    >>> condition = TypedText("price <> 1", "boolean")
    >>> write_comparison_with("AND", condition, TypedText("2", "int"))
    'price <> 1 AND price <> 2'
    """
    comparison = _LAST_COMPARISON.fullmatch(condition.text)
    if comparison is None or operator == "NOT" or _CONSTANT.fullmatch(value.text) is None:
        return None
    left, right = comparison["left"].strip(), comparison["right"]
    if (operator, comparison["operator"]) == ("OR", "="):
        return f"{left} IN ({right}, {value.text})"
    compared = f"{left} {comparison['operator']}"
    return f"{compared} {right} {operator} {compared} {value.text}"


def _find_sign_hint(operator: str, value: TypedText) -> str | None:
    """Return what to write instead of `-` or `~` before a value."""
    if value.kind is TypeKind.BOOLEAN:
        return f"write NOT {_parenthesize(value)}"
    number = _write_number(value)
    if number is None:
        return None
    return f"write ~{number}" if operator == "~" else f"write -{number}"


def _find_list_hint(first: TypedText, other: TypedText) -> str | None:
    """Return what to write instead of IN or BETWEEN with values of other types than the first."""
    if first.kind in EXAMPLE_LITERALS:
        literal = write_literal(first.kind, other.text)
        such_as = "" if is_written_literal(first.kind, other.text) else "values such as "
        return f"write {such_as}{literal} instead of {shorten(other.text)}"
    if other.kind in TIMES and first.kind is TypeKind.STRING:
        return f"write CAST({first.text} AS {other.type_name.upper()})"
    number = _write_number(first)
    if number is not None and other.kind is TypeKind.NUMBER:
        return f"write {number} instead of {shorten(first.text)}"
    return f"write values of type {first.type_name} instead of {shorten(other.text)}"


def _find_choice_hint(operands: Sequence[TypedText]) -> str:
    """Return what to write instead of a choice between values of several types."""
    kept = operands[0]
    replaced = _find_other_kind(operands)
    if kept.kind is TypeKind.OTHER or replaced.kind is TypeKind.STRING:
        kept, replaced = replaced, kept
    replacement = f"CAST({replaced.text} AS {kept.type_name.upper()})"
    if replaced.kind is TypeKind.OTHER:
        replacement = _write_part(replaced, kept.kind)
    elif kept.kind in EXAMPLE_LITERALS and replaced.kind in (TypeKind.NUMBER, TypeKind.BOOLEAN):
        replacement = write_literal(kept.kind, replaced.text)
    elif kept.kind is TypeKind.BOOLEAN:
        replacement = "TRUE or FALSE"
    return f"write {replacement} instead of {replaced.text}"


def _find_other_kind(operands: Sequence[TypedText]) -> TypedText:
    """Return the first operand of another kind than the first one, or else the last operand."""
    first_kind = operands[0].kind
    return next((operand for operand in operands if operand.kind is not first_kind), operands[-1])


def _write_part(nested: TypedText, kind: TypeKind) -> str:
    """Return one value of an array, a map or a struct. Other values are cast to a string.

    Args:
        nested: the array, the map or the struct.
        kind: the kind that the field of a struct should have.
    """
    operand = _parenthesize(nested)
    match nested.outer_type:
        case "array":
            return f"{operand}[0]"
        case "map":
            return f"{operand}['key']"
        case "struct":
            return _write_field(nested, kind)
    return f"CAST({nested.text} AS STRING)"


@dataclass(frozen=True, slots=True)
class _Infix:
    """An operation with an operator between two values, such as `day > 5`."""

    left: TypedText
    operator: str
    right: TypedText

    @property
    def kinds(self) -> frozenset[TypeKind]:
        """The kinds of the two values."""
        return frozenset((self.left.kind, self.right.kind))

    def find(self, *kinds: TypeKind) -> TypedText | None:
        """Return the first value that is of one of these kinds, or None."""
        return next((value for value in (self.left, self.right) if value.kind in kinds), None)

    def find_other(self, value: TypedText) -> TypedText:
        """Return the value that is not this one."""
        return self.right if value is self.left else self.left

    def write(self, value: TypedText, text: str) -> str:
        """Return the operation with another text for one of its values.

        >>> day = TypedText("day", "date")
        >>> _Infix(day, ">", TypedText("5", "int")).write(day, "unix_date(day)")
        'unix_date(day) > 5'
        """
        left = text if value is self.left else self.left.text
        right = text if value is self.right else self.right.text
        return f"{left} {self.operator} {right}"


def _find_infix_hint(infix: _Infix) -> str | None:
    """Return what to write instead of an operator between two values."""
    operator, left, right = infix.operator, infix.left, infix.right
    if operator in _BIT_OPERATORS and TypeKind.BOOLEAN in infix.kinds:
        logical_operator = {"&": "AND", "|": "OR"}.get(operator, "<>")
        return f"write {logical_operator} instead of {operator}"
    if operator in ("IN", "NOT IN") and right.outer_type == "array":
        contains = f"array_contains({_drop_parentheses(right.text)}, {left.text})"
        return f"write {'NOT ' if operator == 'NOT IN' else ''}{contains}"
    if TypeKind.OTHER in infix.kinds:
        return _find_nested_hint(infix)
    if operator in COMPARISONS:
        return _find_comparison_hint(infix)
    if operator in _ARITHMETIC:
        return _find_arithmetic_hint(infix)
    return None


def _find_nested_hint(infix: _Infix) -> str:
    """Return what to write instead of an operator of an array, a map or a struct."""
    operator, left, right = infix.operator, infix.left, infix.right
    if left.kind is right.kind:
        return (
            f"compare plain values, such as to_json({left.text}) {operator} to_json({right.text})"
        )
    nested = left if left.kind is TypeKind.OTHER else right
    plain = infix.find_other(nested)
    with_part = infix.write(nested, _write_part(nested, plain.kind))
    match nested.outer_type:
        case "array" if operator in ("=", "<=>"):
            contains = f"array_contains({nested.text}, {plain.text})"
            return f"write {contains}, or {with_part} for the first element"
        case "array" if plain.kind is TypeKind.NUMBER:
            with_size = infix.write(nested, f"size({nested.text})")
            return f"write {with_size} for the number of elements, or {with_part} for one element"
        case "array":
            return f"write {with_part} for one element"
        case "map":
            return f"write {with_part} for the value of one key"
        case "struct":
            return f"write {with_part} for one field"
    return f"write {with_part}"


_INNER_TYPES = re.compile(r"<[^<>]*>")


def _write_field(struct: TypedText, kind: TypeKind | None) -> str:
    """Return a field of a struct: the first one whose type is of a kind, or else the first one.

    >>> _write_field(TypedText("info", "struct<name:string,qty:int>"), TypeKind.NUMBER)
    'info.qty'
    >>> _write_field(TypedText("x", "struct<a:array<int>,b:struct<c:int,d:int>>"), TypeKind.NUMBER)
    'x.a'
    """
    field_list = struct.type_name.removeprefix("struct<").removesuffix(">")
    while "<" in field_list:  # leave out the fields of structs in it
        shorter_list = _INNER_TYPES.sub("", field_list)
        if shorter_list == field_list:
            break
        field_list = shorter_list
    fields = re.findall(r"(?:^|,)([^:,()]+):(\w+)", field_list)
    names = [name for name, type_name in fields if classify_type(type_name) is kind]
    names += [name for name, _ in fields]
    return f"{_parenthesize(struct)}.{write_name(names[0]) if names else 'field'}"


def _find_comparison_hint(infix: _Infix) -> str | None:
    """Return what to write instead of a comparison of two plain values of different kinds."""
    number = infix.find(TypeKind.NUMBER)
    time = infix.find(*TIMES)
    length = infix.find(*LENGTHS_OF_TIME)
    if number is not None and time is not None:
        if is_written_literal(time.kind, number.text):
            return f"write {infix.write(number, write_literal(time.kind, number.text))}"
        is_date = time.kind is TypeKind.DATE
        with_number = infix.write(time, _write_number(time) or time.text)
        unit = "days" if is_date else "seconds"
        example = f"{'date' if is_date else 'timestamp'} such as {EXAMPLE_LITERALS[time.kind]}"
        return f"write {with_number} for {unit} since 1970, or a {example} instead of {number.text}"
    if number is not None and length is not None:
        return _find_length_hint(infix, length, number)
    if time is not None and length is not None:
        with_difference = infix.write(time, f"({time.text} - PREV({time.text}))")
        return f"write the difference of two times, such as {with_difference}"
    boolean = infix.find(TypeKind.BOOLEAN)
    if boolean is not None:
        return _find_boolean_hint(infix, boolean)
    string = infix.find(TypeKind.STRING)
    if string is not None:
        return _find_string_hint(infix, string)
    return None


def _find_boolean_hint(infix: _Infix, boolean: TypedText) -> str:
    """Return what to write instead of a comparison of a boolean with a value of another kind."""
    other = infix.find_other(boolean)
    # A chain such as `1 < x < 5`, in which `1 < x` is compared with 5.
    if boolean is infix.left and infix.operator in ("<", "<=", ">", ">="):
        if "||" in boolean.text and "'" not in boolean.text:  # `x > 1 || x < 5`
            disjunction = re.sub(r"\s*\|\|\s*", " OR ", boolean.text)
            return f"write {disjunction} {infix.operator} {other.text}; || joins strings"
        chain = _COMPARISON.fullmatch(boolean.text)
        # the value in the middle is compared with both others, unless the sign is inside of a call
        if chain is not None and chain["right"].count("(") == chain["right"].count(")"):
            return f"write {boolean.text} AND {infix.write(boolean, chain['right'])}"
        return "write x > 1 AND x < 5 for a value between two others"
    if boolean.text.upper() in ("TRUE", "FALSE"):
        if other.kind is TypeKind.NUMBER:
            is_negated = infix.operator in ("<>", "IS DISTINCT FROM")
            is_nonzero = (boolean.text.upper() == "TRUE") is not is_negated
            return f"write {other.text} {'<>' if is_nonzero else '='} 0"
        return f"write {infix.write(other, _write_cast(other, 'BOOLEAN'))}"
    if other.kind is TypeKind.NUMBER and not _INTEGER.fullmatch(other.text):
        return f"write {infix.write(boolean, _write_cast(boolean, 'INT'))}"
    if other.kind is TypeKind.STRING and not _CONSTANT.fullmatch(other.text):
        return f"write {infix.write(other, _write_cast(other, 'BOOLEAN'))}"
    return f"write {boolean.text} for true, NOT {_parenthesize(boolean)} for false"


def _find_string_hint(infix: _Infix, string: TypedText) -> str:
    """Return what to write instead of a comparison of a string with a value of another kind."""
    other_kind = infix.find_other(string).kind
    if other_kind is TypeKind.INTERVAL and _is_parameter(string):
        return current_surface().advise_on_length(string.text)
    if other_kind in LENGTHS_OF_TIME:
        return f"write {write_literal(other_kind, string.text)} instead of {string.text}"
    if _CLASSIFIER.match(string.text):
        other_text = infix.find_other(string).text
        return f"write the name of a variable in quotes, such as 'A', instead of {other_text}"
    type_name = "DOUBLE" if other_kind is TypeKind.NUMBER else other_kind.value.upper()
    return f"write {infix.write(string, _write_cast(string, type_name))}"


def _find_length_hint(infix: _Infix, length: TypedText, number: TypedText) -> str:
    """Return what to write instead of an operator between a length of time and a number.

    Args:
        infix: the operation.
        length: the operand that is a length of time.
        number: the operand that is a number.

    >>> length, number = TypedText("ts - PREV(ts)", "interval day"), TypedText("30", "int")
    >>> _find_length_hint(_Infix(length, ">", number), length, number)
    'write datediff(ts, PREV(ts)) > 30'
    >>> length, number = TypedText("d", "interval day to second"), TypedText("1/24", "double")
    >>> _find_length_hint(_Infix(length, "<", number), length, number)
    "write d < INTERVAL '1' HOUR"
    """
    if length.kind is TypeKind.INTERVAL and _is_parameter(number):
        return current_surface().advise_on_length(number.text)
    dates = length.text.split(" - ")
    if length.type_name == "interval day" and len(dates) == 2:
        days = f"datediff({dates[0]}, {dates[1]})"
        return f"write {infix.write(length, days)}"
    is_whole_number = _INTEGER.fullmatch(number.text) is not None
    if length.text.upper().startswith("INTERVAL") and not is_whole_number:
        return f"write a number instead of {length.text}, or a length of time for {number.text}"
    part_of_day = re.fullmatch(r"\(?(\d+)\s*/\s*(24|1440|86400)\)?", number.text)
    if length.kind is TypeKind.INTERVAL and part_of_day is not None:  # Oracle counts in days
        unit = {"24": "HOUR", "1440": "MINUTE", "86400": "SECOND"}[part_of_day[2]]
        interval = f"INTERVAL '{part_of_day[1]}' {unit}"
        return f"write {infix.write(number, interval)}"
    unit = "SECOND"
    other_units = ", or MINUTE, HOUR or DAY"
    if length.kind is TypeKind.MONTHS:
        unit = "MONTH"
        other_units = ", or YEAR"
    interval = f"INTERVAL '{number.text if is_whole_number else 1}' {unit}"
    if length.kind is TypeKind.INTERVAL and not is_whole_number:
        interval = f"{_parenthesize(number)} * {interval}"
    return f"write {infix.write(number, interval)}{other_units}"


def _find_arithmetic_hint(infix: _Infix) -> str | None:
    """Return what to write instead of arithmetic with two plain values."""
    operator, left, right = infix.operator, infix.left, infix.right
    is_sum = operator in ("+", "-")
    time = infix.find(*TIMES)
    if time is not None and infix.kinds <= TIMES:
        return f"write {left.text} - {right.text} for the time between them"
    if time is not None and is_sum and TypeKind.BOOLEAN not in infix.kinds:
        return _find_time_sum_hint(infix, time)
    number = infix.find(TypeKind.NUMBER)
    length = infix.find(*LENGTHS_OF_TIME)
    if is_sum and number is not None and length is not None:
        return _find_length_hint(infix, length, number)
    name = infix.find(TypeKind.STRING)
    if name is not None and _CLASSIFIER.match(name.text):
        return f"write {left.text} || {right.text} to join strings" if operator == "+" else None
    if infix.kinds == {TypeKind.STRING} and operator == "+":
        joined = f"{left.text} || {right.text}"
        numbers = f"{_write_cast(left, 'DOUBLE')} + {_write_cast(right, 'DOUBLE')}"
        return f"write {joined} to join strings, or {numbers} to add numbers"
    if is_sum and name is not None and number is not None and _WRITTEN_DATE.fullmatch(name.text):
        return f"write {infix.write(name, f'DATE{name.text}')}"
    left_number, right_number = _write_number(left), _write_number(right)
    if left_number is None or right_number is None:
        return None
    if (left_number, right_number) == (left.text, right.text):
        return None
    return f"write {left_number} {operator} {right_number}"


def _find_time_sum_hint(infix: _Infix, time: TypedText) -> str:
    """Return what to write instead of a time plus or minus a number, a string or another value.

    >>> day = TypedText("day", "date")
    >>> _find_time_sum_hint(_Infix(day, "+", TypedText("5", "int")), day)
    "write day + INTERVAL '5' DAY"
    """
    other = infix.find_other(time)
    if _is_parameter(other):
        return current_surface().advise_on_length(other.text)
    if time.kind is TypeKind.DATE and other.kind is TypeKind.INTERVAL:
        return f"write {infix.write(time, _write_cast(time, 'TIMESTAMP'))}"
    other_text = other.text.strip("'\"")
    if is_written_literal(TypeKind.INTERVAL, other_text):
        return f"write {infix.write(other, write_literal(TypeKind.INTERVAL, other_text))}"
    count = other_text if _INTEGER.fullmatch(other_text) else "1"
    other_units = "" if time.kind is TypeKind.DATE else ", or HOUR, MINUTE or SECOND"
    return f"write {time.text} {infix.operator} INTERVAL '{count}' DAY{other_units}"


def _write_number(value: TypedText) -> str | None:
    """Return an expression that makes a number of a value; None if no expression does."""
    match value.kind:
        case TypeKind.NUMBER:
            return value.text
        case TypeKind.STRING | TypeKind.COLLATED:
            return f"CAST({value.text} AS DOUBLE)"
        case TypeKind.BOOLEAN:
            return f"CAST({value.text} AS INT)"
        case TypeKind.DATE:
            return f"unix_date({value.text})"
        case TypeKind.TIMESTAMP | TypeKind.TIMESTAMP_NTZ:
            return f"unix_timestamp({value.text})"
        case TypeKind.OTHER if value.outer_type in ("array", "map"):
            return f"size({value.text})"
    return None


# For a function and the outer type of its first argument: what to write. `{x}` stands for the first
# argument, `{arguments}` for all arguments.
_FUNCTION_HINTS = {
    ("LENGTH", "array"): "size({x})",
    ("CHAR_LENGTH", "array"): "size({x})",
    ("LENGTH", "map"): "size({x})",
    ("SIZE", "string"): "length({x})",
    ("CARDINALITY", "string"): "length({x})",
    ("ARRAY_CONTAINS", "string"): "contains({arguments})",
}
# Functions whose first argument is a time, and functions whose first argument is a number.
_FUNCTIONS_OF_TIMES = frozenset(
    ("YEAR", "MONTH", "DAY", "DAYOFWEEK", "DAYOFMONTH", "DAYOFYEAR", "HOUR", "MINUTE", "SECOND")
) | {"QUARTER", "WEEKOFYEAR", "WEEKDAY", "LAST_DAY", "TO_DATE", "DATE_TRUNC", "DATE_FORMAT"}
_FUNCTIONS_OF_NUMBERS = frozenset(
    ("SUM", "AVG", "MEAN", "ABS", "SQRT", "POWER", "POW", "ROUND", "FLOOR", "CEIL", "EXP", "LN")
) | {"LOG", "SIGN", "STDDEV", "VARIANCE", "MEDIAN"}


# For some functions: a note on their arguments, which is the same on each engine.
EXPECTED_ARGUMENTS = {
    **dict.fromkeys(
        ("DATE_ADD", "DATE_SUB"), "its arguments must be a date and a whole number of days"
    ),
    "ADD_MONTHS": "its arguments must be a date and a whole number of months",
}


def _find_days_hint(function: str, date: TypedText, days: TypedText) -> str:
    """Return what to write instead of a call that adds days or months to a date.

    >>> _find_days_hint("DATE_ADD", TypedText("day", "date"), TypedText("'x'", "string"))
    'write date_add(day, 1)'
    >>> _find_days_hint("DATE_SUB", TypedText("ts", "int"), TypedText("7", "int"))
    "write date_sub(date_from_unix_date(ts), 7) for days since 1970, or a date, DATE'2026-01-31'"
    """
    number = days.text if _INTEGER.fullmatch(days.text) else "1"
    name = function.lower()
    example = EXAMPLE_LITERALS[TypeKind.DATE]
    if date.kind in TIMES and days.kind in LENGTHS_OF_TIME:
        return f"write {date.text} {'-' if function == 'DATE_SUB' else '+'} {days.text}"
    if date.kind in TIMES or date.kind is TypeKind.STRING:
        return f"write {name}({date.text}, {number})"
    if date.type_name in ("tinyint", "smallint", "int"):
        days_since_1970 = f"{name}(date_from_unix_date({date.text}), {number})"
        return f"write {days_since_1970} for days since 1970, or a date, {example}"
    return f"write a date in it: {name}({example}, {number})"


# Aggregates whose argument is a condition.
_AGGREGATES_OF_CONDITIONS = frozenset(("ANY", "SOME", "EVERY", "BOOL_AND", "BOOL_OR", "COUNT_IF"))


def _find_function_hint(function: str, arguments: Sequence[TypedText]) -> str:
    """Return what to write instead of a call of a function with arguments of other types."""
    name = function.lower()
    reference = f"see {SPARK_FUNCTIONS}#{name}"
    if not arguments:
        return reference
    first = arguments[0]
    template = _FUNCTION_HINTS.get((function, first.outer_type))
    if template is not None:
        all_arguments = ", ".join(argument.text for argument in arguments)
        return f"write {template.format(x=first.text, arguments=all_arguments)}"
    further_arguments = "".join(f", {argument.text}" for argument in arguments[1:])
    number = _write_number(first)
    if function in _FUNCTIONS_OF_NUMBERS and number not in (None, first.text):
        return f"write {name}({number}{further_arguments})"
    if function in _FUNCTIONS_OF_TIMES and first.kind is TypeKind.NUMBER:
        time = f"timestamp_seconds({first.text})"
        return f"write {name}({time}{further_arguments}) for seconds since 1970"
    if function == "EXTRACT":
        return f"write a date, a timestamp or an interval instead of {first.text}"
    if function in _AGGREGATES_OF_CONDITIONS:
        return f"write a condition in it: {name}({write_conditions(first)[0]})"
    if function == "DATEDIFF" and len(arguments) == 2:
        dates = [
            argument.text if argument.kind in TIMES else write_literal(TypeKind.DATE, argument.text)
            for argument in arguments
        ]
        return f"write datediff({dates[0]}, {dates[1]})"
    if function in EXPECTED_ARGUMENTS and len(arguments) == 2:
        return _find_days_hint(function, *arguments)
    if first.outer_type == "array":
        element = f"{_parenthesize(first)}[0]"
        return f"write {name}({element}{further_arguments}) for one element; {reference}"
    if first.outer_type == "struct":
        field = _write_field(first, None)
        return f"write {name}({field}{further_arguments}) for one field; {reference}"
    return f"write arguments of other types; {reference}"
