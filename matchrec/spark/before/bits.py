"""Truth values packed in integer columns, and tests of them, as SQL.

Bit 0 of the first column marks the first row of a partition, bit c + 1 the rows on which condition
c holds; a further column takes over every 62 bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from matchrec.conditions.row_column import Neighbours
from matchrec.spark import wire
from matchrec.spark.wire import SelectItem

BITS_A_COLUMN = 62
NARROWEST = ((7, "TINYINT"), (15, "SMALLINT"), (31, "INT"), (BITS_A_COLUMN + 1, "BIGINT"))


def bit_columns(first: str, conditions: Iterable[str]) -> list[SelectItem]:
    """The columns of the mark of a partition's first row and of the conditions."""
    chunks = enumerate(chunks_of([first, *conditions]))
    return [SelectItem(pack(chunk), wire.bits(index)) for index, chunk in chunks]


def null_columns(marks: Sequence[str]) -> list[SelectItem]:
    """The columns of tests that say which other columns are NULL."""
    chunks = enumerate(chunks_of(marks))
    return [SelectItem(pack(chunk), wire.nulls(index)) for index, chunk in chunks]


def chunks_of(tests: Sequence[str]) -> Iterator[Sequence[str]]:
    """The tests of each column."""
    for begin in range(0, len(tests), BITS_A_COLUMN):
        yield tests[begin : begin + BITS_A_COLUMN]


def pack(tests: Sequence[str]) -> str:
    """Pack up to 62 truth values into one integer, as narrow as it can be."""
    width = next(name for bits, name in NARROWEST if len(tests) <= bits)
    bits = [f"CASE WHEN {test} THEN {1 << i}L ELSE 0L END" for i, test in enumerate(tests)]
    return f"CAST({' | '.join(bits)} AS {width})"


def may_be_matched(neighbours: Iterable[Neighbours]) -> str:
    """Whether a row may be in a match by its bits and its neighbours'; first rows always stay."""
    ways = [f"{wire.ROW_NUMBER} = 1"]
    for one in neighbours:
        tests = [] if one.here is None else [holds(wire.FIRST_BITS, [one.here])]
        if one.before is not None:
            tests.append(holds(wire.BITS_BEFORE, one.before))
        if one.behind is not None:
            tests.append(holds(wire.BITS_AFTER, one.behind))
        ways.append(f"({' AND '.join(tests) or 'TRUE'})")
    return " OR ".join(ways)


def holds(bits: str, conditions: Iterable[int]) -> str:
    """Whether at least one of the conditions holds, by a column of bits."""
    return f"{bits} & {sum(2 << condition for condition in conditions)}L <> 0"
