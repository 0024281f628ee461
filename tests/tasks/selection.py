"""Tasks with event selection for tests of engines, and what the reference says of them.

Rows are words of the variables whose row condition they satisfy: "A AB -" is three rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from matchrec.conditions.types import Kind
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.plan.pattern import RowPattern
from matchrec.search.interface import Absent, Condition, Task
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import Partitions
from matchrec.search.strategies import Algorithm
from matchrec.syntax.row_pattern import parse_row_pattern
from tests.references.event_selection import CLOSING, Mapped, Partition, SelectionQuery, State, ways
from tests.references.matcher import Failure, Value
from tests.tasks.compiled import compiled
from tests.tasks.contiguous import Rows, kind_of, search, words

STRICT = EventSelection.STRICT_CONTIGUITY
NEXT = EventSelection.SKIP_TILL_NEXT_MATCH
ANY = EventSelection.SKIP_TILL_ANY_MATCH

Found = tuple[int, int, int, Mapped]  # partition, number, starting row, rows over all partitions
Outcome = list[Found] | tuple[str, int, int]


@dataclass(frozen=True)
class WindowedRows:
    """Rows, and for each of them the first row outside of its window, by partition, if any."""

    rows: Rows
    window_end: tuple[tuple[int, ...], ...] | None = None

    @property
    def offsets(self) -> list[int]:
        return [0, *np.cumsum([len(partition) for partition in self.rows.words]).tolist()]

    def partitions(self, variables: tuple[str, ...]) -> Partitions:
        plain = self.rows.partitions(variables)
        if self.window_end is None:
            return plain
        ends = zip(self.offsets, self.window_end, strict=False)
        flat = [offset + end for offset, partition in ends for end in partition]
        return replace(plain, window_end=np.array(flat, np.int64))

    def seen_by(self, query: SelectionQuery) -> list[Partition]:
        seen = []
        for number, (begin, end) in enumerate(pairwise(self.offsets)):
            columns: dict[Kind, list[list[Value]]] = {
                kind: [list(column[begin:end]) for column in columns]
                for kind, columns in self.rows.columns.items()
            }
            ends = (end - begin,) * (end - begin)
            if self.window_end is not None:
                ends = self.window_end[number]
            seen.append(Partition(query, self.rows.words[number], columns, ends))
        return seen


def task(query: SelectionQuery) -> Task:
    names = query.variables

    def ids(*unions: str) -> frozenset[int]:
        members = (member for name in unions for member in query.members[name])
        return frozenset(names.index(member) for member in members)

    conditions = [Condition(i, query.run_conditions.get(name)) for i, name in enumerate(names)]
    if query.closing is not None:
        conditions[-1] = Condition(None, query.closing)
    return Task(
        compiled(query.pattern, names, query.selection, query.output),
        tuple(conditions),
        {name: ids(name) for name in query.members},
        query.after_match,
        query.selection,
        query.output,
        tuple(
            Absent(
                names.index(absence.variable),
                None if absence.after is None else ids(*absence.after),
                None if absence.before is None else ids(*absence.before),
            )
            for absence in query.absences
        ),
        None if query.closing is None else names.index(CLOSING),
    )


def run_algorithm(algorithm: Algorithm, query: SelectionQuery, rows: WindowedRows) -> Outcome:
    return run_task(algorithm, task(query), rows)


def run_task(algorithm: Algorithm, task: Task, rows: WindowedRows) -> Outcome:
    partitions = rows.partitions(task.variables)
    try:
        chunks = list(search(algorithm, task, partitions))
    except RunFailure as failure:
        partition = int(np.searchsorted(partitions.starts, failure.row, side="right")) - 1
        return kind_of(failure), partition, failure.row
    return [match for chunk in chunks for match in _listed(chunk, task.variables)]


def _listed(matches: Matches, names: tuple[str, ...]) -> list[Found]:
    listed = []
    for i in range(matches.count):
        begin, end = (int(offset) for offset in matches.offsets[i : i + 2])
        start = int(matches.start[i])
        rows = range(start, start + end - begin)
        if matches.rows is not None:
            rows = matches.rows[begin:end].tolist()
        mapped = zip(rows, (names[v] for v in matches.classifiers[begin:end]), strict=True)
        number = int(matches.number[i])
        listed.append((int(matches.partition[i]), number, start, tuple(mapped)))
    return listed


def run_reference(query: SelectionQuery, rows: WindowedRows) -> Outcome:
    outcome = []
    for number, partition in enumerate(rows.seen_by(query)):
        offset = rows.offsets[number]
        try:
            for count, (start, mapped) in enumerate(partition.matches(), 1):
                shifted = tuple((offset + row, variable) for row, variable in mapped)
                outcome.append((number, count, offset + start, shifted))
        except Failure as failure:
            return failure.kind, number, offset + failure.row
    return outcome


def query(
    text: str, selection: EventSelection, output: MatchOutput = MatchOutput.ALL
) -> SelectionQuery:
    return SelectionQuery(parse_row_pattern(text), selection, output)


def texts(outcome: Outcome) -> list[str]:
    """Matches of one partition as "A0 B2": variables with the rows mapped to them."""
    assert isinstance(outcome, list), outcome
    return [" ".join(f"{variable}{row}" for row, variable in mapped) for *_, mapped in outcome]


def plain_rows(text: str, *window_end: int) -> WindowedRows:
    return WindowedRows(words(text), (window_end,) if window_end else None)


def is_deterministic(pattern: RowPattern) -> bool:
    """Whether the rows of a run lead to one state only: skip till next match asks which it is."""
    waiting: list[State] = [(pattern,)]
    known = set(waiting)
    for state in waiting:  # grows while it is read
        onward = [way for way in ways(state) if way is not None]
        if len({variable for variable, _ in onward}) < len(onward):
            return False
        new = {target for _, target in onward} - known
        waiting += new
        known |= new
    return True
