"""The spills of one stream: many are merged to few before all of them are.

Spills of tables are merged as soon as there are as many as a merge has room for, so are the spills
that come of that, and so on: the files that are open at a time are few.

Cost: a row is written once for each level, which are few: with 32 spills to a merge, 256 MiB in
memory and levels of 8 GiB and 256 GiB.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

import pyarrow as pa

from matchrec.dataclass import dataclass
from matchrec.spark.sorting.gather import sort_table
from matchrec.spark.sorting.merge import merge
from matchrec.spark.sorting.sorting import Sorting
from matchrec.spark.sorting.spills import Spill, spill

SPILLS_A_MERGE = 32


@dataclass(slots=True)
class Spills:
    """Spills by level, at most as many on each as a merge has room for; closing removes them."""

    sorting: Sorting
    budget: int
    levels: list[list[Spill]] = field(default_factory=list)

    def add(self, table: pa.Table) -> None:
        """Sort more rows, and have them wait."""
        sorted_rows = sort_table(table, self.sorting)
        self.put(spill(iter([sorted_rows]), self.bytes_a_batch), 0)

    def put(self, one: Spill, level: int) -> None:
        """Have a spill wait on a level."""
        if level == len(self.levels):
            self.levels.append([])
        spills = self.levels[level]
        spills.append(one)
        if len(spills) == SPILLS_A_MERGE:
            merged = self.merge_to_one(spills)
            spills.clear()
            self.put(merged, level + 1)

    def rows(self) -> Iterator[pa.Table]:
        """All rows in order, and the first of each partition marked."""
        spills = [one for level in reversed(self.levels) for one in level]  # as they have come
        self.levels = [spills]
        while len(spills) > SPILLS_A_MERGE:
            spills[-SPILLS_A_MERGE:] = [self.merge_to_one(spills[-SPILLS_A_MERGE:])]
        yield from merge(spills, self.sorting)

    def merge_to_one(self, spills: list[Spill]) -> Spill:
        """Merge spills that follow each other; they are closed."""
        merged = spill(merge(spills, self.sorting), self.bytes_a_batch)
        for one in spills:
            one.close()
        return merged

    @property
    def bytes_a_batch(self) -> int:
        """So that a batch of each spill of a merge fits into the budget."""
        return self.budget // SPILLS_A_MERGE

    def close(self) -> None:
        """Remove the files."""
        for level in self.levels:
            for one in level:
                one.close()
