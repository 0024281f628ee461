"""Queries with event selection for tests of searches, run by an algorithm and by the reference.

Rows are written as in `tests.tasks.contiguous`: "A AB -" is three rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from matchrec.conditions.types import Kind
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.plan.pattern import RowPattern
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import Partitions
from matchrec.search.strategies import SearchAlgorithm
from matchrec.search.task import AbsenceCondition, Condition, Task
from matchrec.syntax.row_pattern import parse_row_pattern
from tests.references.event_selection import (
    CLOSING,
    Mapped,
    Partition,
    SelectionQuery,
    State,
    list_ways,
)
from tests.references.matcher import Failure, Value
from tests.tasks.compiled import compile_for_output
from tests.tasks.contiguous import Rows, SearchFailure, name_failure, read_rows, search

STRICT = EventSelection.STRICT_CONTIGUITY
NEXT = EventSelection.SKIP_TILL_NEXT_MATCH
ANY = EventSelection.SKIP_TILL_ANY_MATCH


class FoundMatch(NamedTuple):
    """A match that a search or the reference has found. Rows are numbered over all partitions."""

    # The index of the partition.
    partition: int
    # The number of the match in its partition, from 1.
    number: int
    # The starting row.
    start: int
    # The mapped rows, each with the name of its variable.
    mapped: Mapped


Outcome = list[FoundMatch] | SearchFailure


@dataclass(frozen=True)
class WindowedRows:
    """Rows with windows."""

    rows: Rows
    # partition -> starting row -> first row of the partition after the window; None without windows
    window_end: tuple[tuple[int, ...], ...] | None = None

    @property
    def offsets(self) -> list[int]:
        """Return the first row of each partition, and the number of all rows."""
        return [0, *np.cumsum([len(partition) for partition in self.rows.words]).tolist()]

    def partitions(self, variables: tuple[str, ...]) -> Partitions:
        """Return the rows as arrays. Bit i of a row says whether it satisfies variable i."""
        plain = self.rows.partitions(variables)
        if self.window_end is None:
            return plain
        ends = zip(self.offsets, self.window_end, strict=False)
        flat = [offset + end for offset, partition in ends for end in partition]
        return replace(plain, window_end=np.array(flat, np.int64))

    def build_partitions(self, query: SelectionQuery) -> list[Partition]:
        """Return the partitions as the reference reads them."""
        partitions = []
        for number, (begin, end) in enumerate(pairwise(self.offsets)):
            columns: dict[Kind, list[list[Value]]] = {
                kind: [list(column[begin:end]) for column in columns]
                for kind, columns in self.rows.columns.items()
            }
            ends = (end - begin,) * (end - begin)
            if self.window_end is not None:
                ends = self.window_end[number]
            partitions.append(Partition(query, self.rows.words[number], columns, ends))
        return partitions


def build_task(query: SelectionQuery) -> Task:
    """Return the task of a search for a query."""
    names = query.variables

    def ids(*unions: str) -> frozenset[int]:
        """Return the ids of the primary variables of some variables."""
        members = (member for name in unions for member in query.primary_variables[name])
        return frozenset(names.index(member) for member in members)

    conditions = [Condition(i, query.run_conditions.get(name)) for i, name in enumerate(names)]
    if query.closing is not None:
        conditions[-1] = Condition(None, query.closing)
    return Task(
        compile_for_output(query.pattern, names, query.selection, query.output),
        tuple(conditions),
        {name: ids(name) for name in query.primary_variables},
        query.after_match,
        query.selection,
        query.output,
        tuple(
            AbsenceCondition(
                names.index(absence.variable),
                None if absence.after is None else ids(*absence.after),
                None if absence.before is None else ids(*absence.before),
            )
            for absence in query.absences
        ),
        None if query.closing is None else names.index(CLOSING),
    )


def run_algorithm(algorithm: SearchAlgorithm, query: SelectionQuery, rows: WindowedRows) -> Outcome:
    """Search rows for the matches of a query with an algorithm."""
    return run_task(algorithm, build_task(query), rows)


def run_task(algorithm: SearchAlgorithm, task: Task, rows: WindowedRows) -> Outcome:
    """Run the task of a search with an algorithm."""
    partitions = rows.partitions(task.variables)
    try:
        chunks = list(search(algorithm, task, partitions))
    except RunFailure as failure:
        partition = int(np.searchsorted(partitions.starts, failure.row, side="right")) - 1
        return SearchFailure(name_failure(failure), partition, failure.row)
    return [match for chunk in chunks for match in list_matches(chunk, task.variables)]


def list_matches(matches: Matches, names: tuple[str, ...]) -> list[FoundMatch]:
    """Return the matches of a chunk as they are in an `Outcome`."""
    result = []
    for i in range(matches.count):
        begin, end = (int(offset) for offset in matches.offsets[i : i + 2])
        start = int(matches.start[i])
        rows = range(start, start + end - begin)
        if matches.rows is not None:
            rows = matches.rows[begin:end].tolist()
        mapped = zip(rows, (names[v] for v in matches.classifiers[begin:end]), strict=True)
        number = int(matches.number[i])
        result.append(FoundMatch(int(matches.partition[i]), number, start, tuple(mapped)))
    return result


def run_reference(query: SelectionQuery, rows: WindowedRows) -> Outcome:
    """Search rows for the matches of a query with the reference."""
    outcome = []
    for partition_index, partition in enumerate(rows.build_partitions(query)):
        offset = rows.offsets[partition_index]
        try:
            for match_number, (start, mapped) in enumerate(partition.list_matches(), 1):
                shifted = tuple((offset + row, variable) for row, variable in mapped)
                outcome.append(FoundMatch(partition_index, match_number, offset + start, shifted))
        except Failure as failure:
            return SearchFailure(failure.kind, partition_index, offset + failure.row)
    return outcome


def make_query(
    text: str, selection: EventSelection, output: MatchOutput = MatchOutput.ALL
) -> SelectionQuery:
    """Return the query for a row pattern."""
    return SelectionQuery(parse_row_pattern(text), selection, output)


def write_matches(outcome: Outcome) -> list[str]:
    """Return the matches of one partition as texts: "A0 B2" maps row 0 to A and row 2 to B."""
    assert isinstance(outcome, list), outcome
    return [" ".join(f"{variable}{row}" for row, variable in match.mapped) for match in outcome]


def make_rows(text: str, *window_end: int) -> WindowedRows:
    """Return the rows of one partition; without `window_end` there are no windows."""
    return WindowedRows(read_rows(text), (window_end,) if window_end else None)


def is_deterministic(pattern: RowPattern) -> bool:
    """Return whether each run is in a single state: its rows and their variables determine it.

    Otherwise skip till next match depends on the state that a run is in.
    """
    states: list[State] = [(pattern,)]
    reached = set(states)
    for state in states:  # grows during the loop
        steps = [way for way in list_ways(state) if way is not None]
        if len({variable for variable, _ in steps}) < len(steps):
            return False
        new = {target for _, target in steps} - reached
        states += new
        reached |= new
    return True
