"""Structs that are made and their fields, and what a map has for a key of another row."""

from __future__ import annotations

from collections.abc import Mapping

from matchrec.conditions.functions.arrays import size, together
from matchrec.conditions.functions.comparisons import normalized
from matchrec.conditions.functions.function import (
    Compute,
    Function,
    FunctionUse,
    Value,
    function,
    gives,
)
from matchrec.conditions.types import (
    BOOLEAN,
    INT,
    Family,
    ValueType,
    array,
    struct,
)

MAP = Family.MAP

Pairs = tuple[tuple[Value, Value], ...]


def has_key(use: FunctionUse) -> bool:
    """Whether the second argument is of the type of the map's keys."""
    return use.types[0].parts[0] == use.types[1]


def of_value(use: FunctionUse) -> ValueType | None:
    """Of a map and a key."""
    return use.types[0].parts[1] if has_key(use) else None


def truth_of_key(use: FunctionUse) -> ValueType | None:
    return BOOLEAN if has_key(use) else None


def value_at(pairs: Pairs, wanted: Value) -> Value:
    """NULL where there is no such key."""
    key = normalized(wanted)
    return next((value for one, value in pairs if normalized(one) == key), None)


def contains_key(pairs: Pairs, wanted: Value) -> bool:
    key = normalized(wanted)
    return any(normalized(one) == key for one, _ in pairs)


def place_of_field(type_: ValueType, name: str) -> int | None:
    """The place of the field of a name, in any case, if it is one."""
    places = [at for at, one in enumerate(type_.names) if one.lower() == name.lower()]
    return places[0] if len(places) == 1 else None


def field_type(use: FunctionUse) -> ValueType | None:
    """Of a struct, or of each struct in an array."""
    holder = use.types[0].element or use.types[0]
    place = place_of_field(holder, use.words[0])
    if place is None:
        return None
    return array(holder.parts[place]) if use.types[0].element else holder.parts[place]


def field(use: FunctionUse) -> Compute:
    """`x.name`"""
    holder = use.types[0].element or use.types[0]
    place = place_of_field(holder, use.words[0])
    assert place is not None
    if use.types[0].element:
        return lambda values: tuple(None if one is None else one[place] for one in values)
    return lambda value: value[place]


def struct_type(use: FunctionUse) -> ValueType | None:
    return struct(use.words, use.types)


SIZE = Function((MAP,), gives(INT), size, takes_nulls=True)
AT = function((MAP, None), of_value, value_at)

STRUCTS_AND_MAPS: Mapping[str, Function] = {
    ".": Function((None,), field_type, field),
    "STRUCT": Function((None,), struct_type, lambda _: together, takes_nulls=True, repeats=True),
    "MAP_CONTAINS_KEY": function((MAP, None), truth_of_key, contains_key),
    "MAP []": AT,
    "MAP ELEMENT_AT": AT,
    "MAP TRY_ELEMENT_AT": AT,
    "MAP SIZE": SIZE,
    "MAP CARDINALITY": SIZE,
}
"""Those of maps that arrays have too begin with MAP."""
