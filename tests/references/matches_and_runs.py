"""Matches of MATCH_RECOGNIZE, and the runs that SHOW TIMEOUT and SHOW UNFINISHED MATCHES add.

Slow and obvious, over rows that are Python dicts. Nothing of matchrec is used: a row pattern is a
small tree of this module, which can also be written as SQL.

The rest of a pattern is a list of parts. `next_steps` lists the variables to which the next row may
be mapped, most preferred first, each with the parts that remain afterwards. The definitions of
docs/reference/which_matches.md, Partial matches, follow from it:

- the match is the first mapping after which no more parts are needed;
- a run is live if there is a variable for a further row.

Not modelled: parts that may be empty inside a loop, and anchors other than a last `$`. There, a
further variable does not prove that a run is live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

Row = Mapping[str, Any]
Variables = tuple[str, ...]
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
    """A part several times; `most` is None without a limit."""

    part: Node
    least: int
    most: int | None
    greedy: bool = True

    def __str__(self) -> str:
        bounds = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((self.least, self.most))
        most = "" if self.most is None else self.most
        return f"{self.part}{bounds or f'{{{self.least},{most}}}'}{'' if self.greedy else '?'}"


Node = str | Chain | Choice | AnyOrder | Hidden | Loop
Step = tuple[str, bool, tuple[Node, ...]]  # a variable, whether it is hidden, the parts that remain


def next_steps(to_come: tuple[Node, ...], hidden: bool = False) -> Iterator[Step | None]:
    """Yield what the next row may be mapped to, most preferred first; None ends the match."""
    if not to_come:
        yield None
        return
    first, rest = to_come[0], to_come[1:]
    match first:
        case str():
            yield first, hidden, rest
        case Chain(parts):
            yield from next_steps((*parts, *rest), hidden)
        case Choice(parts):
            for part in parts:
                yield from next_steps((part, *rest), hidden)
        case AnyOrder(parts):
            for order in permutations(parts):
                yield from next_steps((*order, *rest), hidden)
        case Hidden(part):  # it holds one variable, so nothing that remains is hidden
            yield from next_steps((part, *rest), True)
        case Loop(part, least, most, greedy):
            less = None if most is None else most - 1
            once_more = (part, Loop(part, max(0, least - 1), less, greedy), *rest)
            ways = [once_more] if most != 0 else []
            if least == 0:
                ways = [*ways, rest] if greedy else [rest, *ways]
            for way in ways:
                yield from next_steps(way, hidden)


@dataclass(frozen=True)
class MatchOrRun:
    """A match or a run.

    rows: the positions of the mapped rows. due: when the window of a run ended. hidden: for each
    row, whether ALL ROWS PER MATCH leaves it out.
    """

    start: int
    status: str
    number: int | None
    due: Any
    rows: tuple[int, ...]
    variables: Variables
    hidden: tuple[bool, ...]


Condition = Callable[[Sequence[Row], tuple[int, ...], Variables], bool | None]
"""Returns whether the last of the mapped rows satisfies its variable's condition; None is NULL."""


@dataclass(frozen=True)
class Query:
    """The parts of a clause that decide which matches and runs there are.

    window: the length of WITHIN along the column `t`; None without WITHIN. skip: "to next row" or
    "past last row". finds_all_matches: SKIP TILL ANY MATCH ALL MATCHES. longest: LONGEST MATCH.
    to_end: the pattern ends with `$`. timed_out, unfinished: what SHOW lists.
    """

    pattern: Node
    conditions: Mapping[str, Condition]
    window: int | None
    skip: str = "past last row"
    finds_all_matches: bool = False
    longest: bool = False
    to_end: bool = False
    timed_out: bool = True
    unfinished: bool = False
    descending: bool = False


@dataclass(frozen=True)
class Partition:
    """One partition with its rows in order, and the query over it."""

    query: Query
    rows: Sequence[Row]

    def find_all(self) -> list[MatchOrRun]:
        """Return all matches and runs."""
        return list(self.all_matches() if self.query.finds_all_matches else self.preferred())

    def window_end(self, start: int) -> int:
        """Return the first position after the window of a starting row."""
        if self.query.window is None:
            return len(self.rows)
        begin = self.rows[start]["t"]
        for position in range(start, len(self.rows)):
            time = self.rows[position]["t"]
            if begin is None or time is None or time - begin >= self.query.window:
                return position
        return len(self.rows)

    def due(self, start: int) -> Any:
        """Return the time at which the window of a starting row ends."""
        assert self.query.window is not None
        return self.rows[start]["t"] + self.query.window

    # Contiguous matches

    def preferred(self) -> Iterator[MatchOrRun]:
        """Yield one match or run for each starting row that AFTER MATCH SKIP visits."""
        start, number, has_unfinished = 0, 1, False
        while start < len(self.rows):
            match = self.match_at(start)
            if match is not None:
                variables, hidden = match
                rows = tuple(range(start, start + len(variables)))
                yield MatchOrRun(start, MATCHED, number, None, rows, variables, hidden)
                start = max(start + 1, start + len(variables) if self.skips_all else 0)
                number += 1
                continue
            end = self.window_end(start)
            status = self.status_of_run(end)
            if status == TIMED_OUT or (status == UNFINISHED and not has_unfinished):
                run = next(self.live_runs(start, end, (self.query.pattern,), (), ()), None)
                if run is not None:
                    has_unfinished = has_unfinished or status == UNFINISHED
                    due = self.due(start) if status == TIMED_OUT else None
                    rows = tuple(range(start, end))
                    yield MatchOrRun(start, status, None, due, rows, *run)
            start += 1

    @property
    def skips_all(self) -> bool:
        return self.query.skip == "past last row"

    def status_of_run(self, end: int) -> str | None:
        """Return the status of a run whose window ends at a row; None if SHOW does not list it."""
        if end == len(self.rows) and self.query.unfinished:
            return UNFINISHED
        return TIMED_OUT if self.query.timed_out else None

    def match_at(self, start: int) -> tuple[Variables, tuple[bool, ...]] | None:
        """Return the preferred match at a starting row, or the first of the longest ones."""
        end = self.window_end(start)
        ways = self.ways_to_match(start, end, (self.query.pattern,), (), ())
        if not self.query.longest:
            return next(ways, None)
        return max(ways, key=lambda way: len(way[0]), default=None)

    def ways_to_match(
        self, start: int, end: int, to_come: tuple[Node, ...], variables: Variables, hidden: Any
    ) -> Iterator[tuple[Variables, tuple[bool, ...]]]:
        """Yield the matches at a starting row, most preferred first."""
        row = start + len(variables)
        for step in next_steps(to_come):
            if step is None:
                if not self.query.to_end or row == len(self.rows):
                    yield variables, hidden
            elif row < end and self.holds(tuple(range(start, row + 1)), (*variables, step[0])):
                further = (*variables, step[0]), (*hidden, step[1])
                yield from self.ways_to_match(start, end, step[2], *further)

    def live_runs(
        self, start: int, end: int, to_come: tuple[Node, ...], variables: Variables, hidden: Any
    ) -> Iterator[tuple[Variables, tuple[bool, ...]]]:
        """Yield the runs that are live at the end of the window, most preferred first."""
        row = start + len(variables)
        if row == end:
            if variables and any(next_steps(to_come)):
                yield variables, hidden
            return
        for step in next_steps(to_come):
            if step and self.holds(tuple(range(start, row + 1)), (*variables, step[0])):
                further = (*variables, step[0]), (*hidden, step[1])
                yield from self.live_runs(start, end, step[2], *further)

    def holds(self, rows: tuple[int, ...], variables: Variables) -> bool:
        """Return whether the last row satisfies the condition of its variable."""
        condition = self.query.conditions.get(variables[-1])
        return condition is None or condition(self.rows, rows, variables) is True

    # SKIP TILL ANY MATCH ALL MATCHES

    def all_matches(self) -> Iterator[MatchOrRun]:
        """Try every set of rows in the window of each starting row."""
        matches, runs = set(), set()
        for start in range(len(self.rows)):
            end = self.window_end(start)
            later = range(start + 1, end)
            for size in range(len(later) + 1 if start < end else 0):
                for chosen in combinations(later, size):
                    rows = (start, *chosen)
                    mappings = self.map_rows(rows, (self.query.pattern,), (), ())
                    for variables, hidden, to_come in mappings:
                        ways = list(next_steps(to_come))
                        if None in ways:
                            matches.add((rows, variables, hidden))
                        if any(ways):
                            runs.add((rows, variables, hidden))
        for rows, variables, hidden in matches:
            yield MatchOrRun(rows[0], MATCHED, 0, None, rows, variables, hidden)
        for rows, variables, hidden in runs if self.query.timed_out else ():
            yield MatchOrRun(rows[0], TIMED_OUT, None, self.due(rows[0]), rows, variables, hidden)

    def map_rows(
        self, rows: tuple[int, ...], to_come: tuple[Node, ...], variables: Variables, hidden: Any
    ) -> Iterator[tuple[Variables, tuple[bool, ...], tuple[Node, ...]]]:
        """Yield the ways to map exactly these rows, each with the parts that remain."""
        if len(variables) == len(rows):
            yield variables, hidden, to_come
            return
        for step in next_steps(to_come):
            if step and self.holds(rows[: len(variables) + 1], (*variables, step[0])):
                further = (*variables, step[0]), (*hidden, step[1])
                yield from self.map_rows(rows, step[2], *further)
