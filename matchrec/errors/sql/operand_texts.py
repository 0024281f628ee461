"""Write an operand of the user's text in another way: cast, in parentheses, or one value in it.

    price + 1    (price + 1)    CAST(price + 1 AS DOUBLE)
    tags         tags[0]        size(tags)

The modules `operand_hints`, `infix_hints` and `call_hints` build hints from these texts.
"""

from __future__ import annotations

import re

from matchrec.errors.sql.brackets import find_closing_bracket
from matchrec.errors.sql.type_kinds import LENGTHS_OF_TIME, TypedText, TypeKind, classify_type
from matchrec.errors.sql.written_times import EXAMPLE_LITERALS
from matchrec.errors.wording import write_name

# A whole number without a sign, and a string or a number.
INTEGER = re.compile(r"\d+")
CONSTANT = re.compile(r"'[^']*'|-?\d+(?:\.\d+)?")

_PARAMETER = re.compile(r":\w+|\?")
# A name, a number or a string.
_PLAIN_OPERAND = re.compile(r"[\w.]+|'[^']*'")
# The name of a function with the parenthesis after it.
_START_OF_CALL = re.compile(r"[\w.]+\(")
# The innermost brackets of a type, with the types in them.
_INNER_TYPES = re.compile(r"<[^<>]*>")


def is_parameter(value: TypedText) -> bool:
    """Return whether an operand is a parameter, `:gap` or `?`, so that the call has its value."""
    return _PARAMETER.fullmatch(value.text) is not None


def write_cast(value: TypedText, type_name: str) -> str:
    """Return a value cast to a type.

    The value stays as it is if it already has a type of this kind. It also stays if the type is
    DOUBLE and the value cannot become a number, as an array cannot.

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
    """Return one value of an array, a map or a struct. A value of another type becomes a string.

    Args:
        nested: the array, the map or the struct.
        kind: the kind that the field of a struct should have.
    """
    operand = parenthesize(nested)
    match nested.outer_type:
        case "array":
            return f"{operand}[0]"
        case "map":
            return f"{operand}['key']"
        case "struct":
            return write_field(nested, kind)
    return f"CAST({nested.text} AS STRING)"


def write_field(struct: TypedText, kind: TypeKind | None) -> str:
    """Return a field of a struct: the first one whose type is of a kind, or else the first one.

    >>> write_field(TypedText("info", "struct<name:string,qty:int>"), TypeKind.NUMBER)
    'info.qty'
    >>> write_field(TypedText("x", "struct<a:array<int>,b:struct<c:int,d:int>>"), TypeKind.NUMBER)
    'x.a'
    """
    field_list = struct.type_name.removeprefix("struct<").removesuffix(">")
    while _INNER_TYPES.search(field_list):  # leave out the fields of structs in it
        field_list = _INNER_TYPES.sub("", field_list)
    fields = re.findall(r"(?:^|,)(?P<name>[^:,()]+):(?P<type>\w+)", field_list)
    names_of_kind = [name for name, type_name in fields if classify_type(type_name) is kind]
    all_names = [name for name, _ in fields]
    name, *_ = (*names_of_kind, *all_names, "field")
    return f"{parenthesize(struct)}.{write_name(name)}"


def write_as_number(value: TypedText) -> str | None:
    """Return an expression that makes a number of a value; None if no expression does.

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
    """Return conditions to write instead of a value that is not a condition, the likeliest first.

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
