"""The reference for event selection: enumerate every run of a pattern that may skip rows.

It is slow and obvious. From matchrec it uses only the trees that row patterns, conditions and
clauses are written in. Anchors are not supported.

A state of a run is what remains to be matched: a tuple of patterns that follow each other.
`list_ways` lists how a run can go on from there. Before the first row of `A B+ C` the state is
(A B+ C). The only way from there is to map a row to A, which leads to the state (B+, C).

1. `complete_run` tries every way on every row, and also skips the row if the strategy allows it.
2. `holds` drops the results whose closing condition is not true, or for which a row exists that
   must be absent.
3. `list_matches` selects and orders: all matches, non-overlapping ones, or the preferred match of
   each starting row.

The definitions are those of SASE+:

- under skip till next match, a row may be skipped if it cannot be mapped (`may_skip`);
- runs that map the same rows to the same variables are one match;
- every prefix of a loop at the end of the pattern is a match, too;
- the first non-overlapping match is the one that ends first; if several do, the one of them that
  starts first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from matchrec.conditions.run_condition import RunExpression
from matchrec.conditions.types import Kind
from matchrec.plan.clauses import Absence, AfterMatchSkip, EventSelection, MatchOutput
from matchrec.plan.pattern import (
    Alternation,
    Concatenation,
    Empty,
    Exclusion,
    PartitionEnd,
    PartitionStart,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
    list_variable_names,
    make_permutation,
)
from tests.references.matcher import ConditionContext, Value, find_next_start


class MappedRow(NamedTuple):
    """A row of a match or a run, and the variable to which it is mapped."""

    row: int
    variable: str


# The rows of a match or a run, in their order.
Mapped = tuple[MappedRow, ...]

# The name under which the closing condition has an id, as variables do.
CLOSING = "closing"


@dataclass(frozen=True)
class SelectionQuery:
    """A query with event selection."""

    pattern: RowPattern
    selection: EventSelection
    output: MatchOutput = MatchOutput.ALL
    after_match: AfterMatchSkip = AfterMatchSkip()
    # The primary variables of each union variable.
    subsets: dict[str, frozenset[str]] = field(default_factory=dict)
    # By variable: a condition in addition to the row condition (see `Partition.words`).
    run_conditions: dict[str, RunExpression] = field(default_factory=dict)
    # The rows that must not exist.
    absences: tuple[Absence, ...] = ()
    # The condition on a match as a whole; None if there is none.
    closing: RunExpression | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """Return the variables by id: first of the pattern, then the variables without rows."""
        absent = dict.fromkeys(absence.variable for absence in self.absences)
        return (*list_variable_names(self.pattern), *absent, *([CLOSING] if self.closing else []))

    @property
    def primary_variables(self) -> dict[str, frozenset[str]]:
        """Return the primary variables of each variable; a SUBSET may have several."""
        return {name: frozenset([name]) for name in self.variables} | self.subsets


@dataclass(frozen=True)
class Iteration:
    """The end of an iteration in a state: after it the loop is repeated or left."""

    loop: Quantified
    # The number of the iteration, from 1. Iterations that no bound tells apart have the same
    # number, so that a run has finitely many states: all iterations of `A*`, and the iterations of
    # `A{2,}` from the second one on.
    number: int
    # Whether a row was mapped in this iteration.
    has_row: bool = False


# What remains to be matched: patterns that follow each other.
State = tuple[RowPattern | Iteration, ...]


class Way(NamedTuple):
    """A way on from a state: the next row is mapped to a variable."""

    variable: str
    # The state after this row.
    next_state: State


@lru_cache(maxsize=10_000)
def list_ways(state: State) -> tuple[Way | None, ...]:
    """Return the different ways on from a state, preferred ones first; None is to end the match."""
    return tuple(dict.fromkeys(_enumerate_ways(state)))


def _enumerate_ways(state: State) -> Iterator[Way | None]:
    """Yield the ways on from a state, preferred ones first, some more than once."""
    if not state:
        yield None
        return
    node = state[0]
    remaining = state[1:]
    match node:
        case Empty():
            yield from _enumerate_ways(remaining)
        case Variable(name):
            yield Way(name, mark_iterations(remaining))
        case Concatenation(parts):
            yield from _enumerate_ways((*parts, *remaining))
        case Alternation(parts):
            for part in parts:
                yield from _enumerate_ways((part, *remaining))
        case Permutation(parts) if all(isinstance(part, Variable) for part in parts):
            # The state does not say in which order the others come. A state for each order would
            # be several runs where SASE+ has one.
            for index, part in enumerate(parts):
                others = parts[:index] + parts[index + 1 :]
                yield from _enumerate_ways((part, make_permutation(others), *remaining))
        case Permutation(parts):
            for order in itertools.permutations(parts):
                yield from _enumerate_ways((*order, *remaining))
        case Exclusion(part):
            yield from _enumerate_ways((part, *remaining))
        case Quantified():
            yield from _repeat_or_leave(node, 1, remaining)
        case Iteration(loop, number, has_row):
            if has_row or number < loop.least:
                yield from _repeat_or_leave(loop, number + 1, remaining)
            else:  # an empty iteration is the last one, unless more are required
                yield from _enumerate_ways(remaining)
        case PartitionStart() | PartitionEnd():
            raise NotImplementedError("anchors")


def _repeat_or_leave(loop: Quantified, number: int, remaining: State) -> Iterator[Way | None]:
    """Yield the ways that begin iteration `number`, and the ways that leave the loop."""
    if loop.most is not None and number > loop.most:
        yield from _enumerate_ways(remaining)
        return
    end = Iteration(loop, min(number, loop.least) if loop.most is None else number)
    repeated = (loop.part, end, *remaining)
    if number <= loop.least:
        states = [repeated]
    elif loop.is_greedy:
        states = [repeated, remaining]
    else:
        states = [remaining, repeated]
    for state in states:
        yield from _enumerate_ways(state)


def mark_iterations(state: State) -> State:
    """Return the state after a row was mapped: every iteration that has begun holds a row."""
    return tuple(
        Iteration(node.loop, node.number, True) if isinstance(node, Iteration) else node
        for node in state
    )


def find_loop_variable(state: State) -> str | None:
    """Return the variable of the unbounded loop that a run in this state is in; None without one.

    It is `p` in the state p[i] of SASE+: the next row may be mapped to p, but need not be.
    """
    if not state:
        return None
    node = state[0]
    remaining = state[1:]
    match node:
        case Quantified(Variable(name), 0, None):
            return name
        case Iteration(Quantified(Variable(name), least, None), number) if number >= least:
            return name
        case Iteration(Quantified(most=most), number, True) if number == most:
            return find_loop_variable(remaining)
        case Empty():
            return find_loop_variable(remaining)
        case Concatenation(parts):
            return find_loop_variable((*parts, *remaining))
        case Exclusion(part):
            return find_loop_variable((part, *remaining))
    return None


@dataclass(frozen=True)
class Partition:
    """A partition, and the query whose matches are looked for in it."""

    query: SelectionQuery
    # For each row, the variables whose row condition it satisfies.
    words: tuple[frozenset[str], ...]
    # The values of a column by the positions of the rows, for each kind and each index of a column.
    columns: dict[Kind, list[list[Value]]]
    # For each starting row, the first row after its window.
    window_end: tuple[int, ...]
    # The number that the next match would have.
    number: int = 1

    def satisfies(self, variable: str, row: int, mapped: Mapped) -> bool:
        """Return whether a row satisfies the condition of a variable.

        Args:
            mapped: the rows that the condition may read; the last may be `row` itself.
        """
        if variable not in self.words[row]:
            return False
        if variable not in self.query.run_conditions:
            return True
        return self.is_true(self.query.run_conditions[variable], row, mapped)

    def is_true(self, condition: RunExpression, row: int | None, mapped: Mapped) -> bool:
        """Return whether a condition is true, rather than false or NULL.

        Args:
            row: the row that the condition is computed for; None for the match as a whole.
        """
        rows = tuple(row for row, _ in mapped)
        names = tuple(variable for _, variable in mapped)
        context = ConditionContext(
            row=row,
            mapped_rows=rows,
            mapped_variables=names,
            columns=self.columns,
            variable_names=self.query.variables,
            primary_variables=self.query.primary_variables,
            match_number=self.number,
        )
        return bool(context.compute(condition))

    def may_take(self, mapped: Mapped, row: int, variable: str) -> bool:
        """Return whether a run may map a row to a variable."""
        return self.satisfies(variable, row, (*mapped, MappedRow(row, variable)))

    def may_skip(self, mapped: Mapped, row: int, state: State) -> bool:
        """Return whether the event selection strategy lets a run skip a row."""
        match self.query.selection:
            case EventSelection.STRICT_CONTIGUITY:
                return False
            case EventSelection.SKIP_TILL_ANY_MATCH:
                return True
            case EventSelection.SKIP_TILL_NEXT_MATCH:
                # A row is skipped if it is not the one that the run waits for. A run in a loop
                # waits for one more row of the loop: it may skip rows of the variable after it.
                loop = find_loop_variable(state)
                awaited = {loop} if loop else {way.variable for way in list_ways(state) if way}
                return not any(self.may_take(mapped, row, variable) for variable in awaited)

    def complete_run(self, start: int, mapped: Mapped, row: int, state: State) -> Iterator[Mapped]:
        """Yield the complete runs that continue a run, preferred ones first, some repeatedly.

        Args:
            start: the starting row of the run.
            mapped: what the run has mapped.
            row: the next row.
            state: what remains to be matched.
        """
        is_in_window = row < self.window_end[start]
        for way in list_ways(state):
            if way is None:
                yield mapped
                continue
            if is_in_window and self.may_take(mapped, row, way.variable):
                longer = (*mapped, MappedRow(row, way.variable))
                yield from self.complete_run(start, longer, row + 1, way.next_state)
        if is_in_window and mapped and self.may_skip(mapped, row, state):
            yield from self.complete_run(start, mapped, row + 1, state)

    def find_matches_from(self, start: int) -> Iterator[Mapped]:
        """Yield the matches of a starting row, the empty one included, preferred ones first.

        Some are yielded repeatedly.
        """
        for mapped in self.complete_run(start, (), start, (self.query.pattern,)):
            if self.holds(mapped):
                yield mapped

    def holds(self, mapped: Mapped) -> bool:
        """Return whether a complete run is a match.

        Its closing condition must be true, and no row may exist that must be absent. An empty run
        is always a match: queries with such conditions have no empty matches.
        """
        if not mapped:
            return True
        closing = self.query.closing
        if closing is not None and not self.is_true(closing, None, mapped):
            return False
        return not any(
            self.satisfies(absence.variable, row, mapped)
            for absence in self.query.absences
            for row in self.find_absence_rows(absence, mapped)
        )

    def find_absence_rows(self, absence: Absence, mapped: Mapped) -> Iterable[int]:
        """Return the rows among which no row may satisfy the condition of an absence.

        - At the beginning of the pattern: the rows before the match whose window holds all of it.
        - At the end: the rows after the match that are in its window.
        - Otherwise: the rows between the last row of the variables before the absence and the first
          row of those after it; none if either has no row.
        """
        first = mapped[0][0]
        last = mapped[-1][0]
        if absence.after is None:
            return [row for row in range(first) if self.window_end[row] > last]
        if absence.before is None:
            return range(last + 1, self.window_end[first])
        rows_before = self.list_rows_mapped_to(absence.after, mapped)
        rows_after = self.list_rows_mapped_to(absence.before, mapped)
        if not rows_before or not rows_after:
            return ()
        return range(rows_before[-1] + 1, rows_after[0])

    def list_rows_mapped_to(self, names: Iterable[str], mapped: Mapped) -> list[int]:
        """Return the rows that are mapped to one of several variables."""
        targets = frozenset().union(*(self.query.primary_variables[name] for name in names))
        return [row for row, variable in mapped if variable in targets]

    def list_matches_by_rows(self, first: int = 0) -> list[Mapped]:
        """Return the matches that start at row `first` or later, in the order of their rows.

        Of matches with the same rows, the preferred one comes first. Empty ones are left out.
        """
        different: dict[Mapped, None] = {}
        for start in range(first, len(self.words)):
            for mapped in self.find_matches_from(start):
                if mapped:
                    different.setdefault(mapped)
        return sorted(different, key=make_row_sort_key)

    def list_all(self) -> list[Mapped]:
        """Return the matches that are not empty, by their rows, then by their variables."""
        return sorted(
            self.list_matches_by_rows(),
            key=lambda mapped: (make_row_sort_key(mapped), self.list_variable_ids(mapped)),
        )

    def list_variable_ids(self, mapped: Mapped) -> list[int]:
        """Return the ids of the variables."""
        return [self.query.variables.index(variable) for _, variable in mapped]

    def list_non_overlapping(self) -> Iterator[Mapped]:
        """Yield the first match in the order of rows, then the first that starts after its end."""
        first = 0
        number = 1
        while matches := replace(self, number=number).list_matches_by_rows(first):
            match = matches[0]
            yield match
            first = match[-1][0] + 1
            number += 1

    def list_preferred(self) -> Iterator[tuple[int, Mapped]]:
        """Yield the starting row and the match, which may be empty, of every search.

        Raises:
            Failure: AFTER MATCH SKIP has no row to go to, or a condition raises it.
        """
        start = 0
        number = 1
        while start < len(self.words):
            mapped = next(replace(self, number=number).find_matches_from(start), None)
            if mapped is None:
                start += 1
                continue
            number += 1
            yield start, mapped
            query = self.query
            start = find_next_start(mapped, start, query.after_match, query.primary_variables)

    def list_matches(self) -> Iterator[tuple[int, Mapped]]:
        """Yield the starting row and the match, in the order of MATCH_NUMBER.

        Raises:
            Failure: see `list_preferred`.
        """
        match self.query.output:
            case MatchOutput.ALL:
                yield from ((mapped[0][0], mapped) for mapped in self.list_all())
            case MatchOutput.NON_OVERLAPPING:
                yield from ((mapped[0][0], mapped) for mapped in self.list_non_overlapping())
            case MatchOutput.PREFERRED:
                yield from self.list_preferred()


def make_row_sort_key(mapped: Mapped) -> tuple[int, int, list[int]]:
    """Return the sort key of matches: the last row, then the first row, then all rows."""
    return mapped[-1][0], mapped[0][0], [row for row, _ in mapped]
