"""Functions of structs and maps: of columns, of what aggregates collect, and that make them.

Keys that are equal are an error, also where `spark.sql.mapKeyDedupPolicy` lets the last one win.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

from matchrec.conditions.functions.arrays import ARRAY, Array, as_all, size, together
from matchrec.conditions.functions.comparisons import normalized
from matchrec.conditions.functions.function import (
    Compute,
    Function,
    FunctionError,
    Use,
    Value,
    function,
    gives,
)
from matchrec.conditions.types import (
    BOOLEAN,
    INT,
    VOID,
    Family,
    ValueType,
    array,
    map_of,
    struct,
)

MAP = Family.MAP

Pairs = tuple[tuple[Value, Value], ...]


def of_keys(use: Use) -> ValueType | None:
    return array(use.types[0].parts[0])


def of_values(use: Use) -> ValueType | None:
    return array(use.types[0].parts[1])


def of_entries(use: Use) -> ValueType | None:
    return array(struct(("key", "value"), use.types[0].parts))


def has_key(use: Use) -> bool:
    """Whether the second argument is of the type of the map's keys."""
    return use.types[0].parts[0] == use.types[1]


def of_value(use: Use) -> ValueType | None:
    """Of a map and a key."""
    return use.types[0].parts[1] if has_key(use) else None


def truth_of_key(use: Use) -> ValueType | None:
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


def field_type(use: Use) -> ValueType | None:
    """Of a struct, or of each struct in an array."""
    holder = use.types[0].element or use.types[0]
    place = place_of_field(holder, use.words[0])
    if place is None:
        return None
    return array(holder.parts[place]) if use.types[0].element else holder.parts[place]


def field(use: Use) -> Compute:
    """`x.name`"""
    holder = use.types[0].element or use.types[0]
    place = place_of_field(holder, use.words[0])
    assert place is not None
    if use.types[0].element:
        return lambda values: tuple(None if one is None else one[place] for one in values)
    return lambda value: value[place]


def struct_type(use: Use) -> ValueType | None:
    return struct(use.words, use.types)


def map_type(key: ValueType, value: ValueType) -> ValueType | None:
    """The type of a map that is made; keys compare."""
    return map_of(key, value) if key != VOID and key.is_ordered else None


def as_map(pairs: Iterable[tuple[Value, Value]]) -> Pairs:
    """A map of keys and values. Raises FunctionError where two keys are equal, or one is NULL."""
    found: dict[Value, Value] = {}
    for key, value in pairs:
        if key is None:
            raise FunctionError("NULL_MAP_KEY: a key of a map is NULL")
        if normalized(key) in found:
            raise FunctionError(f"DUPLICATED_MAP_KEY: {key!r} is a key of a map twice")
        found[normalized(key)] = value
    return tuple(found.items())


def type_of_pairs(use: Use) -> ValueType | None:
    """Of keys and values in turn, each of one type."""
    keys, values = set(use.types[::2]), set(use.types[1::2])
    fits = len(keys) == len(values) == 1 and len(use.types) % 2 == 0
    return map_type(*keys, *values) if fits else None


def map_of_pairs(*parts: Value) -> Pairs:
    return as_map(zip(parts[::2], parts[1::2], strict=True))


def type_of_arrays(use: Use) -> ValueType | None:
    keys, values = use.types
    return map_type(keys.parts[0], values.parts[0])


def map_of_arrays(keys: Array, values: Array) -> Pairs:
    if len(keys) != len(values):
        raise FunctionError("a map has as many keys as values")
    return as_map(zip(keys, values, strict=True))


def type_of_entries(use: Use) -> ValueType | None:
    (entry,) = use.types[0].parts
    is_pair = entry.family is Family.STRUCT and len(entry.parts) == 2
    return map_type(*entry.parts) if is_pair else None


def map_of_entries(entries: Array) -> Pairs | None:
    """NULL where an entry is."""
    return None if None in entries else as_map(entries)


def concat_maps(*maps: Pairs) -> Pairs:
    return as_map(chain.from_iterable(maps))


SIZE = Function((MAP,), gives(INT), size, takes_nulls=True)
AT = function((MAP, None), of_value, value_at)

STRUCTS_AND_MAPS: Mapping[str, Function] = {
    ".": Function((None,), field_type, field),
    "STRUCT": Function((None,), struct_type, lambda _: together, takes_nulls=True, repeats=True),
    "MAP": Function(
        (None, None), type_of_pairs, lambda _: map_of_pairs, takes_nulls=True, repeats=True
    ),
    "MAP_FROM_ARRAYS": function((ARRAY, ARRAY), type_of_arrays, map_of_arrays),
    "MAP_FROM_ENTRIES": function((ARRAY,), type_of_entries, map_of_entries),
    "MAP_CONCAT": Function((MAP,), as_all, lambda _: concat_maps, repeats=True),
    "MAP_CONTAINS_KEY": function((MAP, None), truth_of_key, contains_key),
    "MAP_KEYS": function((MAP,), of_keys, lambda pairs: tuple(key for key, _ in pairs)),
    "MAP_VALUES": function((MAP,), of_values, lambda pairs: tuple(value for _, value in pairs)),
    "MAP_ENTRIES": function((MAP,), of_entries, lambda pairs: pairs),
    "MAP []": AT,
    "MAP ELEMENT_AT": AT,
    "MAP TRY_ELEMENT_AT": AT,
    "MAP SIZE": SIZE,
    "MAP CARDINALITY": SIZE,
}
"""Those of maps that arrays have too begin with MAP."""
