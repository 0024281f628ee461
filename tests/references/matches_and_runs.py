"""The reference for matches, and for the runs that SHOW TIMEOUT and UNFINISHED MATCHES add.

It is slow and obvious, and does not use matchrec. Rows are Python dicts. A row pattern is a small
tree of this module, whose `str` is SQL.

What remains of a pattern is a list of parts that follow each other. `list_next_steps` lists the
variables to which the next row may be mapped, most preferred first, each with the parts that remain
afterwards. The definitions of docs/reference/partial_matches.md follow from it:

- the match is the first path after which no more parts are needed;
- a run is live if another row could be mapped to some variable.

Not supported: parts that may be empty inside a loop, and anchors other than `$` at the end. With
these, another variable does not prove that a run is live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations, permutations
from typing import Any, NamedTuple

# An input row: the value of each column, by its name.
Row = Mapping[str, Any]


class MappedRow(NamedTuple):
    """A row of a match or run."""

    # The index of the row in its partition.
    position: int
    variable: str
    # Whether ALL ROWS PER MATCH leaves the row out, because it is in an exclusion.
    is_hidden: bool


# The rows of a match or run, in their order.
Path = tuple[MappedRow, ...]


class Status(Enum):
    """How a match or run has ended. The value is what MATCH_STATUS() returns."""

    MATCHED = "MATCHED"
    TIMED_OUT = "TIMED OUT"
    UNFINISHED = "UNFINISHED"


class Skip(Enum):
    """Where the search continues after a match. The value is written after AFTER MATCH SKIP."""

    TO_NEXT_ROW = "TO NEXT ROW"
    PAST_LAST_ROW = "PAST LAST ROW"


@dataclass(frozen=True)
class Chain:
    """Parts that follow each other."""

    parts: tuple[Node, ...]

    def __str__(self) -> str:
        return f"({' '.join(map(str, self.parts))})"


@dataclass(frozen=True)
class Choice:
    """One of several parts."""

    parts: tuple[Node, ...]

    def __str__(self) -> str:
        return f"({' | '.join(map(str, self.parts))})"


@dataclass(frozen=True)
class AnyOrder:
    """PERMUTE: all parts, in any order."""

    parts: tuple[Node, ...]

    def __str__(self) -> str:
        return f"PERMUTE({', '.join(map(str, self.parts))})"


@dataclass(frozen=True)
class Hidden:
    """An exclusion: ALL ROWS PER MATCH leaves its rows out."""

    part: Node

    def __str__(self) -> str:
        return f"{{- {self.part} -}}"


@dataclass(frozen=True)
class Loop:
    """A part several times."""

    part: Node
    least: int
    # None if there is no limit.
    most: int | None
    # Whether more repetitions are preferred to fewer.
    greedy: bool = True

    def __str__(self) -> str:
        quantifiers = {(0, None): "*", (1, None): "+", (0, 1): "?"}
        most = "" if self.most is None else self.most
        quantifier = quantifiers.get((self.least, self.most), f"{{{self.least},{most}}}")
        reluctant = "" if self.greedy else "?"
        return f"{self.part}{quantifier}{reluctant}"


# A row pattern. A text is a variable.
Node = str | Chain | Choice | AnyOrder | Hidden | Loop


class Step(NamedTuple):
    """A way to map the next row."""

    variable: str
    is_hidden: bool
    # The parts of the pattern that remain after the row.
    remaining_parts: tuple[Node, ...]


def list_next_steps(
    remaining_parts: tuple[Node, ...], *, is_hidden: bool = False
) -> Iterator[Step | None]:
    """Yield the steps of the next row, most preferred first; None ends the match.

    Before the first row of `A* B` there are two steps: A, after which `A* B` remains, and B, after
    which nothing remains.

    Args:
        remaining_parts: the parts of the pattern that follow.
        is_hidden: whether the next row is in an exclusion.
    """
    if not remaining_parts:
        yield None
        return
    part, *later_parts = remaining_parts
    match part:
        case str():
            yield Step(part, is_hidden, tuple(later_parts))
        case Chain(parts):
            yield from list_next_steps((*parts, *later_parts), is_hidden=is_hidden)
        case Choice(parts):
            for alternative in parts:
                yield from list_next_steps((alternative, *later_parts), is_hidden=is_hidden)
        case AnyOrder(parts):
            for order in permutations(parts):
                yield from list_next_steps((*order, *later_parts), is_hidden=is_hidden)
        case Hidden(excluded):  # it has one variable, so the later parts are not hidden
            yield from list_next_steps((excluded, *later_parts), is_hidden=True)
        case Loop():
            for parts in list_ways_through_loop(part):
                yield from list_next_steps((*parts, *later_parts), is_hidden=is_hidden)


def list_ways_through_loop(loop: Loop) -> list[tuple[Node, ...]]:
    """Return the parts that may replace a loop, most preferred first.

    The loop is repeated once, which leaves a loop with lower bounds, or it is left.
    """
    if loop.most == 0:
        return [()]
    lower_most = None if loop.most is None else loop.most - 1
    repeated = (loop.part, Loop(loop.part, max(0, loop.least - 1), lower_most, loop.greedy))
    if loop.least > 0:
        return [repeated]
    return [repeated, ()] if loop.greedy else [(), repeated]


@dataclass(frozen=True)
class MatchOrRun:
    """A match or a run."""

    # The position of the starting row.
    start: int
    status: Status
    # MATCH_NUMBER of a match; None for a run. With ALL MATCHES it is 0.
    number: int | None
    # For a run that timed out, the time at which its window ended; otherwise None.
    due: Any
    path: Path


# Returns whether the last row of a path satisfies its variable's condition; None is NULL. The
# arguments are the rows of the partition and the path.
Condition = Callable[[Sequence[Row], Path], bool | None]


@dataclass(frozen=True)
class Query:
    """The parts of a clause that decide which matches and runs there are."""

    pattern: Node
    # The conditions by variable. Any row may be mapped to a variable without a condition.
    conditions: Mapping[str, Condition]
    # The length of WITHIN along the column `t`; None without WITHIN.
    window: int | None
    skip: Skip = Skip.PAST_LAST_ROW
    # Whether the clause has SKIP TILL ANY MATCH ALL MATCHES.
    finds_all_matches: bool = False
    # Whether it has LONGEST MATCH.
    finds_longest: bool = False
    # Whether the pattern ends with `$`.
    ends_with_anchor: bool = False
    # Whether it has SHOW TIMEOUT MATCHES, and SHOW UNFINISHED MATCHES.
    shows_timed_out: bool = True
    shows_unfinished: bool = False
    # Whether it has ORDER BY t DESC.
    is_descending: bool = False


@dataclass(frozen=True)
class Partition:
    """A partition with its rows in order, and the query over it."""

    query: Query
    rows: Sequence[Row]

    def find_all(self) -> list[MatchOrRun]:
        """Return all matches and runs."""
        return list(self.list_all() if self.query.finds_all_matches else self.list_preferred())

    def find_window_end(self, start: int) -> int:
        """Return the first position after the window of a starting row."""
        if self.query.window is None:
            return len(self.rows)
        first_time = self.rows[start]["t"]
        for position in range(start, len(self.rows)):
            time = self.rows[position]["t"]
            if first_time is None or time is None or time - first_time >= self.query.window:
                return position
        return len(self.rows)

    def find_due_time(self, start: int) -> Any:
        """Return the time at which the window of a starting row ends."""
        assert self.query.window is not None
        return self.rows[start]["t"] + self.query.window

    # Contiguous matches

    def list_preferred(self) -> Iterator[MatchOrRun]:
        """Yield one match or run for each starting row that AFTER MATCH SKIP visits.

        Only the first unfinished run of the partition is among them.
        """
        start = 0
        number = 1
        has_unfinished = False
        while start < len(self.rows):
            match = self.find_match(start)
            if match is not None:
                yield MatchOrRun(start, Status.MATCHED, number, None, match)
                skips_match = self.query.skip is Skip.PAST_LAST_ROW
                start += max(1, len(match)) if skips_match else 1
                number += 1
                continue
            run = self.find_run(start)
            is_unfinished = run is not None and run.status is Status.UNFINISHED
            if run is not None and not (is_unfinished and has_unfinished):
                has_unfinished = has_unfinished or is_unfinished
                yield run
            start += 1

    def find_match(self, start: int) -> Path | None:
        """Return the preferred match at a starting row, or the first of the longest ones."""
        end = self.find_window_end(start)
        matches = self.list_matches(start, end, (self.query.pattern,), ())
        if not self.query.finds_longest:
            return next(matches, None)
        return max(matches, key=len, default=None)

    def list_matches(
        self, start: int, end: int, remaining_parts: tuple[Node, ...], path: Path
    ) -> Iterator[Path]:
        """Yield the matches that continue a path, most preferred first.

        Args:
            start: the position of the starting row.
            end: the first position after its window.
            remaining_parts: the parts of the pattern that remain after the path.
            path: the rows mapped so far.
        """
        position = start + len(path)
        for step in list_next_steps(remaining_parts):
            if step is None:
                if not self.query.ends_with_anchor or position == len(self.rows):
                    yield path
            elif position < end:
                longer_path = (*path, MappedRow(position, step.variable, step.is_hidden))
                if self.holds(longer_path):
                    yield from self.list_matches(start, end, step.remaining_parts, longer_path)

    def find_run(self, start: int) -> MatchOrRun | None:
        """Return the preferred live run of a starting row; None if it has none to show."""
        end = self.find_window_end(start)
        status = self.find_status(end)
        path = next(self.list_live_runs(start, end, (self.query.pattern,), ()), None)
        if status is None or path is None:
            return None
        due = self.find_due_time(start) if status is Status.TIMED_OUT else None
        return MatchOrRun(start, status, None, due, path)

    def find_status(self, end: int) -> Status | None:
        """Return the status of a run whose window ends at a row; None if SHOW does not list it."""
        if end == len(self.rows) and self.query.shows_unfinished:
            return Status.UNFINISHED
        return Status.TIMED_OUT if self.query.shows_timed_out else None

    def list_live_runs(
        self, start: int, end: int, remaining_parts: tuple[Node, ...], path: Path
    ) -> Iterator[Path]:
        """Yield the runs that continue a path and are live at the end of the window.

        The most preferred one comes first. The arguments are as for `list_matches`.
        """
        position = start + len(path)
        if position == end:
            if path and any(list_next_steps(remaining_parts)):
                yield path
            return
        for step in list_next_steps(remaining_parts):
            if step is None:
                continue
            longer_path = (*path, MappedRow(position, step.variable, step.is_hidden))
            if self.holds(longer_path):
                yield from self.list_live_runs(start, end, step.remaining_parts, longer_path)

    def holds(self, path: Path) -> bool:
        """Return whether the last row of a path satisfies the condition of its variable."""
        condition = self.query.conditions.get(path[-1].variable)
        return condition is None or condition(self.rows, path) is True

    # SKIP TILL ANY MATCH ALL MATCHES

    def list_all(self) -> Iterator[MatchOrRun]:
        """Yield the matches and runs, by trying every set of rows in every window."""
        matches: set[Path] = set()
        runs: set[Path] = set()
        for start in range(len(self.rows)):
            for positions in self.list_row_sets(start):
                for path, remaining_parts in self.map_rows(positions, (self.query.pattern,), ()):
                    steps = list(list_next_steps(remaining_parts))
                    if None in steps:
                        matches.add(path)
                    if any(steps):
                        runs.add(path)
        for path in matches:
            yield MatchOrRun(path[0].position, Status.MATCHED, 0, None, path)
        for path in runs if self.query.shows_timed_out else ():
            start = path[0].position
            yield MatchOrRun(start, Status.TIMED_OUT, None, self.find_due_time(start), path)

    def list_row_sets(self, start: int) -> Iterator[tuple[int, ...]]:
        """Yield every set of positions in the window of a starting row that begins with the row."""
        end = self.find_window_end(start)
        if start == end:
            return
        later_positions = range(start + 1, end)
        for size in range(len(later_positions) + 1):
            for positions in combinations(later_positions, size):
                yield start, *positions

    def map_rows(
        self, positions: tuple[int, ...], remaining_parts: tuple[Node, ...], path: Path
    ) -> Iterator[tuple[Path, tuple[Node, ...]]]:
        """Yield the paths that map exactly these rows, each with the parts that remain.

        Args:
            positions: the rows.
            remaining_parts: the parts that remain after the rows mapped so far.
            path: the rows mapped so far: the first of `positions`.
        """
        if len(path) == len(positions):
            yield path, remaining_parts
            return
        for step in list_next_steps(remaining_parts):
            if step is None:
                continue
            mapped_row = MappedRow(positions[len(path)], step.variable, step.is_hidden)
            longer_path = (*path, mapped_row)
            if self.holds(longer_path):
                yield from self.map_rows(positions, step.remaining_parts, longer_path)
