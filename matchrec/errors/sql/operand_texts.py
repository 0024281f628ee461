"""Rewrite an operand of the user's SQL for hints: cast it, or take one value out of it.

    write_cast           price + 1    CAST(price + 1 AS DOUBLE)
    parenthesize         price + 1    (price + 1)
    write_inner_value    tags         tags[0]
    write_as_number      tags         size(tags)
    write_conditions     price        price > 0

The modules `operand_hints`, `infix_hints` and `call_hints` build hints from these texts.
"""

from __future__ import annotations

import re

from matchrec.errors.sql.brackets import find_closing_bracket
from matchrec.errors.sql.type_kinds import LENGTHS_OF_TIME, TypedText, TypeKind, classify_type
from matchrec.errors.sql.written_times import EXAMPLE_LITERALS
from matchrec.errors.wording import write_name

# A whole number without a sign.
INTEGER = re.compile(r"\d+")
# A string, or a number with or without a minus sign.
CONSTANT = re.compile(r"'[^']*'|-?\d+(?:\.\d+)?")

_PARAMETER = re.compile(r":\w+|\?")
# A name, a number or a string.
_PLAIN_OPERAND = re.compile(r"[\w.]+|'[^']*'")
# The name of a function with the parenthesis after it.
_START_OF_CALL = re.compile(r"[\w.]+\(")
# The innermost brackets of a type, with the types in them.
_INNER_TYPES = re.compile(r"<[^<>]*>")


def is_parameter(value: TypedText) -> bool:
    """Return whether an operand is a parameter, `:gap` or `?`, whose value no hint can show."""
    return _PARAMETER.fullmatch(value.text) is not None


def write_cast(value: TypedText, type_name: str) -> str:
    """Return a value cast to a type.

    Return the value unchanged if its type is already of this kind, or if the target is DOUBLE and
    Spark cannot cast the value, such as an array, to a number.

    >>> write_cast(TypedText("sym", "string"), "DOUBLE"), write_cast(TypedText("n", "int"), "INT")
    ('CAST(sym AS DOUBLE)', 'n')
    """
    if value.kind is classify_type(type_name):
        return value.text
    cannot_be_number = LENGTHS_OF_TIME | {TypeKind.OTHER, TypeKind.BINARY}
    if type_name == "DOUBLE" and value.kind in cannot_be_number:
        return value.text
    return f"CAST({value.text} AS {type_name})"


def parenthesize(value: TypedText) -> str:
    """Return a value as the operand of `.`, `[` or an operator: in parentheses if it needs them.

    >>> parenthesize(TypedText("f(a, b)", "int")), parenthesize(TypedText("f(a) + g(b)", "int"))
    ('f(a, b)', '(f(a) + g(b))')
    """
    text = value.text
    call = _START_OF_CALL.match(text)
    is_call = call is not None and find_closing_bracket(text, call.end() - 1) == len(text) - 1
    return text if is_call or _PLAIN_OPERAND.fullmatch(text) else f"({text})"


def drop_parentheses(text: str) -> str:
    """Return an expression without the parentheses around it.

    >>> drop_parentheses("(split(s, ','))"), drop_parentheses("(a) + (b)")
    ("split(s, ',')", '(a) + (b)')
    """
    if text.startswith("(") and find_closing_bracket(text, 0) == len(text) - 1:
        return text[1:-1].strip()
    return text


def write_inner_value(nested: TypedText, kind: TypeKind) -> str:
    """Return one element of an array, one value of a map or one field of a struct.

    A value of another type is cast to STRING.

    >>> write_inner_value(TypedText("tags", "array<int>"), TypeKind.NUMBER)
    'tags[0]'
    >>> write_inner_value(TypedText("m", "map<string,int>"), TypeKind.NUMBER)
    "m['key']"
    >>> write_inner_value(TypedText("s", "struct<a:string,b:int>"), TypeKind.NUMBER)
    's.b'

    Args:
        nested: the array, the map or the struct.
        kind: for a struct, the preferred kind of the field.
    """
    operand = parenthesize(nested)
    match nested.outer_type:
        case "array":
            return f"{operand}[0]"
        case "map":
            return f"{operand}['key']"
        case "struct":
            return write_struct_field(nested, kind)
    return f"CAST({nested.text} AS STRING)"


def write_struct_field(struct: TypedText, kind: TypeKind | None) -> str:
    """Return a field of a struct: the first one whose type is of a kind, or else the first one.

    >>> write_struct_field(TypedText("info", "struct<name:string,qty:int>"), TypeKind.NUMBER)
    'info.qty'

    Args:
        struct: the struct.
        kind: the wanted kind; None to take the first field.
    """
    fields = list_fields(struct)
    name = fields[0][0] if fields else "field"
    for field_name, type_name in fields:
        if classify_type(type_name) is kind:
            name = field_name
            break
    return f"{parenthesize(struct)}.{write_name(name)}"


def list_fields(struct: TypedText) -> list[tuple[str, str]]:
    """Return the name and the outer type of each field of a struct, such as ("a", "array").

    >>> list_fields(TypedText("x", "struct<a:array<int>,b:struct<c:int,d:int>,e:decimal(10,2)>"))
    [('a', 'array'), ('b', 'struct'), ('e', 'decimal')]
    """
    field_list = struct.type_name.removeprefix("struct<").removesuffix(">")
    # Remove the types in brackets from the inside out, so that only the struct's own fields stay.
    while _INNER_TYPES.search(field_list):
        field_list = _INNER_TYPES.sub("", field_list)
    # No parentheses in a name, so that the 2 of decimal(10,2) is not read as one.
    return re.findall(r"(?:^|,)([^:,()]+):(\w+)", field_list)


def write_as_number(value: TypedText) -> str | None:
    """Return an expression that converts a value to a number; None if there is none.

    >>> write_as_number(TypedText("day", "date")), write_as_number(TypedText("tags", "array<int>"))
    ('unix_date(day)', 'size(tags)')
    """
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


def write_conditions(value: TypedText) -> list[str]:
    """Return conditions that may be meant by a value that is not boolean, the most likely first.

    >>> write_conditions(TypedText("price", "double"))
    ['price > 0', 'price IS NOT NULL']
    """
    text = parenthesize(value)
    is_not_null = f"{text} IS NOT NULL"
    match value.kind:
        case TypeKind.NUMBER:
            return [f"{text} > 0", is_not_null]
        case TypeKind.STRING:
            return [f"{text} = 'a'", is_not_null]
        case kind if kind in EXAMPLE_LITERALS:
            return [f"{text} > {EXAMPLE_LITERALS[kind]}", is_not_null]
    return [is_not_null]
