"""The reference for matches, and for the runs that SHOW TIMEOUT and UNFINISHED MATCHES add.

It is slow and obvious, and does not use matchrec. Rows are Python dicts. A row pattern is a small
tree of this module, whose `str` is SQL.

The rest of a pattern is a list of parts. `list_next_steps` lists the variables to which the
next row may be mapped, most preferred first, each with the parts that remain afterwards. The
definitions of docs/reference/partial_matches.md follow from it:

- the match is the first mapping after which no more parts are needed;
- a run is live if another row could be mapped to some variable.

Not supported: parts that may be empty inside a loop, and anchors other than `$` at the end. With
these, another variable does not prove that a run is live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

Row = Mapping[str, Any]
"""An input row: column -> value."""

Variables = tuple[str, ...]
"""The variables of the mapped rows."""

Hiddens = tuple[bool, ...]
"""For each mapped row, whether ALL ROWS PER MATCH leaves it out, because it is in an exclusion."""

MATCHED, TIMED_OUT, UNFINISHED = "MATCHED", "TIMED OUT", "UNFINISHED"


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
    most: int | None  # None without a limit
    greedy: bool = True

    def __str__(self) -> str:
        quantifiers = {(0, None): "*", (1, None): "+", (0, 1): "?"}
        most = "" if self.most is None else self.most
        quantifier = quantifiers.get((self.least, self.most), f"{{{self.least},{most}}}")
        reluctant = "" if self.greedy else "?"
        return f"{self.part}{quantifier}{reluctant}"


Node = str | Chain | Choice | AnyOrder | Hidden | Loop
"""A row pattern. A text is a variable."""

Step = tuple[str, bool, tuple[Node, ...]]
"""A variable for the next row, whether the row is hidden, and the parts that remain afterwards."""


def list_next_steps(remaining: tuple[Node, ...], hidden: bool = False) -> Iterator[Step | None]:
    """Yield the steps of the next row, most preferred first; None ends the match.

    Before the first row of `A* B` there are two steps: A, after which `A* B` remains, and B, after
    which nothing remains.
    """
    if not remaining:
        yield None
        return
    part = remaining[0]
    behind = remaining[1:]
    match part:
        case str():
            yield part, hidden, behind
        case Chain(parts):
            yield from list_next_steps((*parts, *behind), hidden)
        case Choice(parts):
            for alternative in parts:
                yield from list_next_steps((alternative, *behind), hidden)
        case AnyOrder(parts):
            for order in permutations(parts):
                yield from list_next_steps((*order, *behind), hidden)
        case Hidden(excluded):  # it has one variable, so the remaining parts are not hidden
            yield from list_next_steps((excluded, *behind), True)
        case Loop(body, least, most, greedy):
            fewer = Loop(body, max(0, least - 1), None if most is None else most - 1, greedy)
            repeat = (body, fewer, *behind)
            if most == 0:
                ways = [behind]
            elif least > 0:
                ways = [repeat]
            else:
                ways = [repeat, behind] if greedy else [behind, repeat]
            for way in ways:
                yield from list_next_steps(way, hidden)


@dataclass(frozen=True)
class MatchOrRun:
    """A match or a run."""

    start: int
    status: str  # MATCHED, TIMED_OUT or UNFINISHED
    number: int | None  # of the match; None for a run
    due: Any  # the time at which the window of a run that timed out has ended
    rows: tuple[int, ...]  # the positions of the mapped rows
    variables: Variables
    hidden: Hiddens


Condition = Callable[[Sequence[Row], tuple[int, ...], Variables], bool | None]
"""Return whether the last of the mapped rows satisfies its variable's condition; None is NULL.

The arguments are the rows of the partition, the positions of the mapped rows, and their variables.
"""


@dataclass(frozen=True)
class Query:
    """The parts of a clause that decide which matches and runs there are."""

    pattern: Node
    conditions: Mapping[str, Condition]
    window: int | None  # the length of WITHIN along the column `t`; None without WITHIN
    skip: str = "past last row"  # or "to next row"
    finds_all_matches: bool = False  # SKIP TILL ANY MATCH ALL MATCHES
    longest: bool = False  # LONGEST MATCH
    to_end: bool = False  # whether the pattern ends with `$`
    timed_out: bool = True  # SHOW TIMEOUT MATCHES
    unfinished: bool = False  # SHOW UNFINISHED MATCHES
    descending: bool = False  # ORDER BY t DESC


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
        begin = self.rows[start]["t"]
        for position in range(start, len(self.rows)):
            time = self.rows[position]["t"]
            if begin is None or time is None or time - begin >= self.query.window:
                return position
        return len(self.rows)

    def find_due_time(self, start: int) -> Any:
        """Return the time at which the window of a starting row ends."""
        assert self.query.window is not None
        return self.rows[start]["t"] + self.query.window

    # Contiguous matches

    def list_preferred(self) -> Iterator[MatchOrRun]:
        """Yield one match or run for each starting row that AFTER MATCH SKIP visits."""
        start = 0
        number = 1
        has_unfinished = False
        while start < len(self.rows):
            match = self.find_match(start)
            if match is not None:
                variables, hidden = match
                rows = tuple(range(start, start + len(variables)))
                yield MatchOrRun(start, MATCHED, number, None, rows, variables, hidden)
                start += max(1, len(variables)) if self.skips_past_last_row else 1
                number += 1
                continue
            end = self.find_window_end(start)
            status = self.find_status(end)
            if status == TIMED_OUT or (status == UNFINISHED and not has_unfinished):
                run = next(self.list_live_runs(start, end, (self.query.pattern,), (), ()), None)
                if run is not None:
                    has_unfinished = has_unfinished or status == UNFINISHED
                    due = self.find_due_time(start) if status == TIMED_OUT else None
                    rows = tuple(range(start, end))
                    yield MatchOrRun(start, status, None, due, rows, *run)
            start += 1

    @property
    def skips_past_last_row(self) -> bool:
        """Return whether the next search begins after the match, and not at the next row."""
        return self.query.skip == "past last row"

    def find_status(self, end: int) -> str | None:
        """Return the status of a run whose window ends at a row; None if SHOW does not list it."""
        if end == len(self.rows) and self.query.unfinished:
            return UNFINISHED
        return TIMED_OUT if self.query.timed_out else None

    def find_match(self, start: int) -> tuple[Variables, Hiddens] | None:
        """Return the preferred match at a starting row, or the first of the longest ones."""
        end = self.find_window_end(start)
        ways = self.list_ways_to_match(start, end, (self.query.pattern,), (), ())
        if not self.query.longest:
            return next(ways, None)
        return max(ways, key=lambda way: len(way[0]), default=None)

    def list_ways_to_match(
        self,
        start: int,
        end: int,
        remaining: tuple[Node, ...],
        variables: Variables,
        hidden: Hiddens,
    ) -> Iterator[tuple[Variables, Hiddens]]:
        """Yield the matches that continue a run from a starting row, most preferred first."""
        row = start + len(variables)
        for step in list_next_steps(remaining):
            if step is None:
                if not self.query.to_end or row == len(self.rows):
                    yield variables, hidden
                continue
            variable, is_hidden, behind = step
            longer = (*variables, variable)
            if row < end and self.holds(tuple(range(start, row + 1)), longer):
                yield from self.list_ways_to_match(start, end, behind, longer, (*hidden, is_hidden))

    def list_live_runs(
        self,
        start: int,
        end: int,
        remaining: tuple[Node, ...],
        variables: Variables,
        hidden: Hiddens,
    ) -> Iterator[tuple[Variables, Hiddens]]:
        """Yield the runs that continue a run and are live at the end of the window.

        The most preferred one comes first.
        """
        row = start + len(variables)
        if row == end:
            if variables and any(list_next_steps(remaining)):
                yield variables, hidden
            return
        for step in list_next_steps(remaining):
            if step is None:
                continue
            variable, is_hidden, behind = step
            longer = (*variables, variable)
            if self.holds(tuple(range(start, row + 1)), longer):
                yield from self.list_live_runs(start, end, behind, longer, (*hidden, is_hidden))

    def holds(self, rows: tuple[int, ...], variables: Variables) -> bool:
        """Return whether the last row satisfies the condition of its variable."""
        condition = self.query.conditions.get(variables[-1])
        return condition is None or condition(self.rows, rows, variables) is True

    # SKIP TILL ANY MATCH ALL MATCHES

    def list_all(self) -> Iterator[MatchOrRun]:
        """Yield the matches and runs, by trying every set of rows in every window."""
        matches = set()
        runs = set()
        for start in range(len(self.rows)):
            for rows in self.list_row_sets(start):
                for variables, hidden, remaining in self.map_rows(
                    rows, (self.query.pattern,), (), ()
                ):
                    steps = list(list_next_steps(remaining))
                    if None in steps:
                        matches.add((rows, variables, hidden))
                    if any(steps):
                        runs.add((rows, variables, hidden))
        for rows, variables, hidden in matches:
            yield MatchOrRun(rows[0], MATCHED, 0, None, rows, variables, hidden)
        for rows, variables, hidden in runs if self.query.timed_out else ():
            yield MatchOrRun(
                rows[0], TIMED_OUT, None, self.find_due_time(rows[0]), rows, variables, hidden
            )

    def list_row_sets(self, start: int) -> Iterator[tuple[int, ...]]:
        """Yield every set of rows in the window of a starting row that begins with that row."""
        end = self.find_window_end(start)
        if start == end:
            return
        later = range(start + 1, end)
        for size in range(len(later) + 1):
            for rows in combinations(later, size):
                yield start, *rows

    def map_rows(
        self,
        rows: tuple[int, ...],
        remaining: tuple[Node, ...],
        variables: Variables,
        hidden: Hiddens,
    ) -> Iterator[tuple[Variables, Hiddens, tuple[Node, ...]]]:
        """Yield the ways to map exactly these rows, each with the parts that remain.

        Args:
            remaining: the parts that remain after the rows mapped so far.
            variables: the variables of the rows mapped so far.
        """
        if len(variables) == len(rows):
            yield variables, hidden, remaining
            return
        for step in list_next_steps(remaining):
            if step is None:
                continue
            variable, is_hidden, behind = step
            longer = (*variables, variable)
            if self.holds(rows[: len(longer)], longer):
                yield from self.map_rows(rows, behind, longer, (*hidden, is_hidden))
