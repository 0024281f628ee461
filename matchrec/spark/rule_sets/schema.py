"""The rows of many rules: what every match has, and slots that the rules share.


    __rule      the number of the rule       __kind    what the row is, see `RowKind`
    __k0 ...    the partition's keys         __n       the number of the match
    __first, __last     the order of its first and last row
    __events    its rows, an array           __message why the rule failed in the partition
    __r0 ...    slots

A rule's reads come in slots, columns of their types. Rules have them in common: a set needs as many
slots of a type as the rule that reads most of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import IntEnum

from pyspark.sql import types

from matchrec.compile.rule_set import RuleSet
from matchrec.dataclass import dataclass
from matchrec.spark import wire
from matchrec.spark.types import schema_of_reads

VARIABLE = "variable"


class RowKind(IntEnum):
    """What a row of the workers is.

    MATCH: a match, and its reads where the rule has one row for each. ROW: a row of a rule that has
    several rows for a match. FAILURE: a rule that failed in a partition. PARTIAL: as MATCH, of a
    run that is no match and comes out beside them.
    """

    MATCH = 0
    ROW = 1
    FAILURE = 2
    PARTIAL = 3


@dataclass(frozen=True)
class Slots:
    """The slots of all rules. fields: theirs. of_rule: for each rule the slot of each read."""

    fields: tuple[types.StructField, ...]
    of_rule: tuple[tuple[int, ...], ...]


def find_slots(rule_set: RuleSet, inputs: Sequence[types.StructField]) -> Slots:
    """The slots of a set. inputs: the fields of the columns that cross."""
    fields: list[types.StructField] = []
    places: dict[tuple[str, int], int] = {}
    of_rule = []
    for rule in rule_set.rules:
        used: Counter[str] = Counter()
        slots = []
        for field in schema_of_reads(rule.executable, inputs).fields:
            kind = field.dataType.json()
            place = places.setdefault((kind, used[kind]), len(fields))
            if place == len(fields):
                fields.append(types.StructField(wire.read(place), field.dataType))
            used[kind] += 1
            slots.append(place)
        of_rule.append(tuple(slots))
    return Slots(tuple(fields), tuple(of_rule))


def schema_of_rows(
    rule_set: RuleSet, inputs: Sequence[types.StructField], slots: Slots
) -> types.StructType:
    """The schema of the workers' rows, before types that do not cross are replaced."""

    def field(name: str, type_: types.DataType) -> types.StructField:
        return types.StructField(name, type_)

    order = inputs[rule_set.order].dataType
    event = [field(name, inputs[place].dataType) for name, place in rule_set.events.items()]
    event.append(field(VARIABLE, types.StringType()))
    keys = enumerate(rule_set.keys)
    return types.StructType(
        [
            types.StructField(wire.RULE, types.IntegerType(), nullable=False),
            types.StructField(wire.KIND, types.IntegerType(), nullable=False),
            *(field(wire.key(i), inputs[place].dataType) for i, place in keys),
            field(wire.ROW_NUMBER, types.LongType()),
            field(wire.FIRST, order),
            field(wire.LAST, order),
            field(wire.EVENTS, types.ArrayType(types.StructType(event), containsNull=False)),
            field(wire.MESSAGE, types.StringType()),
            *slots.fields,
        ]
    )
