"""The algorithms, as what they are called: a query that is planned needs no more of them.

What searches is loaded by the first search, in a worker, and only that of the algorithm that runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from matchrec.dataclass import dataclass
from matchrec.engine.interface import Algorithm, Room, Task

if TYPE_CHECKING:
    from matchrec.engine.matches import Matches
    from matchrec.engine.partitions import IntArray, Partitions


@dataclass(frozen=True, slots=True)
class ContiguousAlgorithm:
    """An algorithm for matches whose rows follow each other."""

    engine: str
    name: str
    room: Room

    def search(
        self, task: Task, partitions: Partitions, _counters: IntArray | None = None
    ) -> Iterator[Matches]:
        """All matches, in chunks, in order of partition and match number. Raises RunFailure."""
        from matchrec.engine.contiguous.search import run
        from matchrec.engine.contiguous.searches import SEARCHES

        search = SEARCHES[self.engine, self.name]
        return run(search(task, partitions, self.room.memory), task, partitions, self.room)


@dataclass(frozen=True, slots=True)
class Chained:
    """Backtracking whose matches share the rows from which on they are the same."""

    room: Room
    engine: str = field(default="backtracking", init=False)
    name: str = field(default="chained", init=False)

    def search(
        self, task: Task, partitions: Partitions, _counters: IntArray | None = None
    ) -> Iterator[Matches]:
        """All matches, as chains where the task asks for them. Raises RunFailure."""
        from matchrec.engine.contiguous.chained import find_chains

        return find_chains(task, partitions, self.room)


@dataclass(frozen=True, slots=True)
class SelectionAlgorithm:
    """An algorithm for matches that may skip rows, or of which all are asked for.

    merge_runs: whether runs with the same future are searched once.
    """

    engine: str
    name: str
    room: Room
    merge_runs: bool = False

    def search(
        self, task: Task, partitions: Partitions, counters: IntArray | None = None
    ) -> Iterator[Matches]:
        """All matches, in chunks, in the order in which they are complete. Raises RunFailure."""
        from matchrec.engine.selection.records import prepare_input
        from matchrec.engine.selection.searches import SEARCHES

        arrays = prepare_input(task, partitions, merge_runs=self.merge_runs)
        return SEARCHES[self.engine, self.name](task, arrays, self.room, counters)


@dataclass(frozen=True, slots=True)
class WithPartial:
    """An algorithm whose matches come out together with runs that are none.

    matching: finds the matches.
    """

    matching: Algorithm
    room: Room

    @property
    def engine(self) -> str:
        return self.matching.engine

    @property
    def name(self) -> str:
        return f"{self.matching.name}, then runs of rows without a match"

    def search(
        self, task: Task, partitions: Partitions, counters: IntArray | None = None
    ) -> Iterator[Matches]:
        """All matches in chunks, as they are found, then all runs. Raises RunFailure."""
        from matchrec.engine.partial.search import find_all

        return find_all(self.matching, task, partitions, self.room, counters)
