"""Hints for operations whose operands have types that the operation does not take.

The hints repeat the texts of the user's operands, so that they can be pasted:

    day > 5            write unix_date(day) > 5 for days since 1970, or a date such as ...
    sym - 1            write CAST(sym AS DOUBLE) - 1
    NOT price          write NOT (price > 0)

`find_operands_hint` calls the function for the form of the operation: here a cast, logic, LIKE, a
list or a choice, in `infix_hints` an operator between two values, in `call_hints` a call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from matchrec.errors.sql.call_hints import find_call_hint
from matchrec.errors.sql.infix_hints import COMPARISONS, InfixOperation, find_infix_hint
from matchrec.errors.sql.operand_texts import (
    CONSTANT,
    parenthesize,
    write_as_number,
    write_cast,
    write_conditions,
    write_inner_value,
    write_struct_field,
)
from matchrec.errors.sql.type_kinds import TIMES, TypedText, TypeKind, classify_type
from matchrec.errors.sql.written_times import EXAMPLE_LITERALS, is_written_literal, write_literal
from matchrec.errors.wording import shorten

# Operators and functions that return the value of one of their operands.
CHOICES = frozenset(
    {
        *("CASE", "CASE OF", "IF", "COALESCE", "NVL", "NVL2", "IFNULL", "NULLIF"),
        *("GREATEST", "LEAST", "DECODE", "NANVL"),
    }
)
LOGIC = frozenset({"AND", "OR", "NOT"})


def find_operands_hint(
    operator: str, operands: Sequence[TypedText], target: str = ""
) -> str | None:
    """Return what to write instead of an operation, with the user's operands.

    Returns None if that is not clear.

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
        return find_infix_hint(InfixOperation(left, operator, right))
    if operator in COMPARISONS:
        return _find_list_hint(operands[0], _find_other_kind(operands))
    if operator in CHOICES:
        return _find_choice_hint(operands)
    return find_call_hint(operator, operands)


def _find_cast_hint(value: TypedText, target: str) -> str:
    """Return what to write instead of a CAST that no value of a type allows."""
    text = value.text
    operand = parenthesize(value)
    target_kind = classify_type(target)
    match value.outer_type:
        case "array":
            return f"write CAST({operand}[0] AS {target}) for one element"
        case "map":
            return f"write CAST({operand}['key'] AS {target}) for one value"
        case "struct":
            return f"write CAST({write_struct_field(value, target_kind)} AS {target}) for one field"
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
    string = write_cast(value, "STRING")
    if not patterns:
        return f"write {string} {operator}"
    pattern = patterns[0]
    pattern_text = pattern.text
    if pattern.kind is not TypeKind.STRING:
        is_constant = CONSTANT.fullmatch(pattern.text) is not None
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
    if comparison is None or operator == "NOT" or CONSTANT.fullmatch(value.text) is None:
        return None
    left, right = comparison["left"].strip(), comparison["right"]
    if (operator, comparison["operator"]) == ("OR", "="):
        return f"{left} IN ({right}, {value.text})"
    compared = f"{left} {comparison['operator']}"
    return f"{compared} {right} {operator} {compared} {value.text}"


def _find_sign_hint(operator: str, value: TypedText) -> str | None:
    """Return what to write instead of `-` or `~` before a value."""
    if value.kind is TypeKind.BOOLEAN:
        return f"write NOT {parenthesize(value)}"
    number = write_as_number(value)
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
    number = write_as_number(first)
    if number is not None and other.kind is TypeKind.NUMBER:
        return f"write {number} instead of {shorten(first.text)}"
    return f"write values of type {first.type_name} instead of {shorten(other.text)}"


def _find_choice_hint(operands: Sequence[TypedText]) -> str:
    """Return what to write instead of a choice between values of several types."""
    kept_operand = operands[0]
    replaced_operand = _find_other_kind(operands)
    if kept_operand.kind is TypeKind.OTHER or replaced_operand.kind is TypeKind.STRING:
        kept_operand, replaced_operand = replaced_operand, kept_operand
    replacement = f"CAST({replaced_operand.text} AS {kept_operand.type_name.upper()})"
    if replaced_operand.kind is TypeKind.OTHER:
        replacement = write_inner_value(replaced_operand, kept_operand.kind)
    elif kept_operand.kind in EXAMPLE_LITERALS and replaced_operand.kind in (
        TypeKind.NUMBER,
        TypeKind.BOOLEAN,
    ):
        replacement = write_literal(kept_operand.kind, replaced_operand.text)
    elif kept_operand.kind is TypeKind.BOOLEAN:
        replacement = "TRUE or FALSE"
    return f"write {replacement} instead of {replaced_operand.text}"


def _find_other_kind(operands: Sequence[TypedText]) -> TypedText:
    """Return the first operand of another kind than the first one, or else the last operand."""
    first_kind = operands[0].kind
    return next((operand for operand in operands if operand.kind is not first_kind), operands[-1])
