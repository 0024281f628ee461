"""Event selection by definition: all matches of a pattern that may skip rows. Slow and obvious.

It shares with matchrec the nodes of row patterns, of run conditions and of clauses, and nothing
else. A match is a tuple of (row, variable). A state is what remains to be matched, a tuple of
patterns; a run whose rows lead to several states is several runs. Anchors are left out.

Source: SASE+, as decided: which rows may be skipped (D3), equal matches are one (D4), absence (D5),
prefixes of a loop at the end (D8), non-overlapping matches (D9).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

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
    permutation,
    variable_names,
)
from tests.references.matcher import Candidate, Value, next_start

Mapped = tuple[tuple[int, str], ...]

CLOSING = "closing"


@dataclass(frozen=True)
class SelectionQuery:
    """What is asked for. run_conditions: conditions beside the words of rows, by variable.

    closing: the condition of a match as a whole.
    """

    pattern: RowPattern
    selection: EventSelection
    output: MatchOutput = MatchOutput.ALL
    after_match: AfterMatchSkip = AfterMatchSkip()
    subsets: dict[str, frozenset[str]] = field(default_factory=dict)
    run_conditions: dict[str, RunExpression] = field(default_factory=dict)
    absences: tuple[Absence, ...] = ()
    closing: RunExpression | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """Names by id: of the pattern, then those that no row is mapped to."""
        absent = dict.fromkeys(absence.variable for absence in self.absences)
        return (*variable_names(self.pattern), *absent, *([CLOSING] if self.closing else []))

    @property
    def members(self) -> dict[str, frozenset[str]]:
        return {name: frozenset([name]) for name in self.variables} | self.subsets


@dataclass(frozen=True)
class Iteration:
    """In a state, the end of an iteration: another one or none comes next.

    number: of the iteration, from 1; all those that no bound tells apart have the same one. taken:
    whether a row was mapped in it.
    """

    loop: Quantified
    number: int
    taken: bool = False


State = tuple[RowPattern | Iteration, ...]
Way = tuple[str, State] | None  # map a row to a variable and go on in a state, or accept


@lru_cache(maxsize=10_000)
def ways(state: State) -> tuple[Way, ...]:
    """The ways on from a state, preferred ones first."""
    return tuple(dict.fromkeys(_ways(state)))


def _ways(state: State) -> Iterator[Way]:
    if not state:
        yield None
        return
    node, rest = state[0], state[1:]
    match node:
        case Empty():
            yield from _ways(rest)
        case Variable(name):
            yield name, _with_row(rest)
        case Concatenation(parts):
            yield from _ways((*parts, *rest))
        case Alternation(parts):
            for part in parts:
                yield from _ways((part, *rest))
        case Permutation(parts) if all(isinstance(part, Variable) for part in parts):
            for place, part in enumerate(parts):  # one state for all that may come next
                others = parts[:place] + parts[place + 1 :]
                yield from _ways((part, permutation(others), *rest))
        case Permutation(parts):
            for order in itertools.permutations(parts):
                yield from _ways((*order, *rest))
        case Exclusion(part):
            yield from _ways((part, *rest))
        case Quantified():
            yield from _iterations(node, 1, rest)
        case Iteration(loop, number, taken):
            if taken or number < loop.least:
                yield from _iterations(loop, number + 1, rest)
            else:  # an empty iteration is the last one, unless more are required
                yield from _ways(rest)
        case PartitionStart() | PartitionEnd():
            raise NotImplementedError("anchors")


def _iterations(loop: Quantified, number: int, rest: State) -> Iterator[Way]:
    """Iteration `number` and what follows it, or `rest` in its place."""
    if loop.most is not None and number > loop.most:
        yield from _ways(rest)
        return
    end = Iteration(loop, min(number, loop.least) if loop.most is None else number)
    again = (loop.part, end, *rest)
    if number <= loop.least:
        order = [again]
    else:
        order = [again, rest] if loop.greedy else [rest, again]
    for state in order:
        yield from _ways(state)


def _with_row(state: State) -> State:
    """The state after a row: it belongs to every iteration that has begun."""
    return tuple(
        Iteration(node.loop, node.number, True) if isinstance(node, Iteration) else node
        for node in state
    )


def looping(state: State) -> str | None:
    """The variable of the unbounded loop over one variable that a run in this state is in.

    It is `p` in the state p[i] of SASE+: the next row may be one more p, and p need not come again.
    """
    if not state:
        return None
    node, rest = state[0], state[1:]
    match node:
        case Quantified(Variable(name), 0, None):
            return name
        case Iteration(Quantified(Variable(name), least, None), number) if number >= least:
            return name
        case Iteration(Quantified(most=most), number, True) if number == most:
            return looping(rest)
        case Empty():
            return looping(rest)
        case Concatenation(parts):
            return looping((*parts, *rest))
        case Exclusion(part):
            return looping((part, *rest))
    return None


@dataclass(frozen=True)
class Partition:
    """One partition as a query sees it. words: for each row, the variables it may be mapped to.

    window_end: for each first row of a match, the first row that is outside of its window. number:
    of the match that is tried.
    """

    query: SelectionQuery
    words: tuple[frozenset[str], ...]
    columns: dict[Kind, list[list[Value]]]
    window_end: tuple[int, ...]
    number: int = 1

    def satisfies(self, variable: str, row: int | None, mapped: Mapped) -> bool:
        """Whether a condition holds of a row and the mapped rows, of which it may be the last."""
        if row is not None and variable not in self.words[row]:
            return False
        if variable not in self.query.run_conditions:
            return True
        return self.is_true(self.query.run_conditions[variable], row, mapped)

    def is_true(self, condition: RunExpression, row: int | None, mapped: Mapped) -> bool:
        rows = tuple(row for row, _ in mapped)
        names = tuple(variable for _, variable in mapped)
        candidate = Candidate(
            row, rows, names, self.columns, self.query.variables, self.query.members, self.number
        )
        return bool(candidate.value(condition))

    def may_take(self, mapped: Mapped, row: int, variable: str) -> bool:
        return self.satisfies(variable, row, (*mapped, (row, variable)))

    def may_skip(self, mapped: Mapped, row: int, state: State) -> bool:
        """Whether a run may leave a row between two mapped ones, by strategy."""
        match self.query.selection:
            case EventSelection.STRICT_CONTIGUITY:
                return False
            case EventSelection.SKIP_TILL_ANY_MATCH:
                return True
            case EventSelection.SKIP_TILL_NEXT_MATCH:
                loop = looping(state)
                blocking = {loop} if loop else {way[0] for way in ways(state) if way}
                return not any(self.may_take(mapped, row, variable) for variable in blocking)

    def words_from(self, start: int, mapped: Mapped, row: int, state: State) -> Iterator[Mapped]:
        """What the rows from `row` on make of a run, preferred first, some more than once."""
        inside = row < self.window_end[start]
        for way in ways(state):
            if way is None:
                yield mapped
            elif inside and self.may_take(mapped, row, way[0]):
                longer = (*mapped, (row, way[0]))
                yield from self.words_from(start, longer, row + 1, way[1])
        if inside and mapped and self.may_skip(mapped, row, state):
            yield from self.words_from(start, mapped, row + 1, state)

    def matches_from(self, start: int) -> Iterator[Mapped]:
        """The matches that start at a row, and an empty one, preferred first, perhaps repeated."""
        for mapped in self.words_from(start, (), start, (self.query.pattern,)):
            if self.holds(mapped):
                yield mapped

    def holds(self, mapped: Mapped) -> bool:
        """Whether a word is a match: its closing condition is true and nothing absent is there.

        The empty word is one: no query with such a condition asks for it.
        """
        if not mapped:
            return True
        closing = self.query.closing
        if closing is not None and not self.is_true(closing, None, mapped):
            return False
        return not any(
            self.satisfies(absence.variable, row, mapped)
            for absence in self.query.absences
            for row in self.interval(absence, mapped)
        )

    def interval(self, absence: Absence, mapped: Mapped) -> Iterable[int]:
        """The rows that an absence is about; none where a variable that bounds it has no row."""
        members = self.query.members
        first, last = mapped[0][0], mapped[-1][0]
        if absence.after is None:
            return [row for row in range(first) if self.window_end[row] > last]
        if absence.before is None:
            return range(last + 1, self.window_end[first])
        before, behind = (
            [row for row, variable in mapped if any(variable in members[name] for name in names)]
            for names in (absence.after, absence.before)
        )
        return range(before[-1] + 1, behind[0]) if before and behind else ()

    def by_rows(self, first: int = 0) -> list[Mapped]:
        """Every match from a row on, not empty, by last row, first row, rows; preferred first."""
        starts = range(first, len(self.words))
        found = (mapped for start in starts for mapped in self.matches_from(start))
        different = dict.fromkeys(mapped for mapped in found if mapped)
        return sorted(different, key=order_of_rows)

    def all_matches(self) -> list[Mapped]:
        """Every match that is not empty, by last row, first row, rows and variables."""
        return sorted(self.by_rows(), key=lambda mapped: (order_of_rows(mapped), self.ids(mapped)))

    def ids(self, mapped: Mapped) -> list[int]:
        return [self.query.variables.index(variable) for _, variable in mapped]

    def non_overlapping(self) -> Iterator[Mapped]:
        """The least of all matches, then the least of those that start after its last row."""
        first, number = 0, 1
        while found := replace(self, number=number).by_rows(first):
            yield found[0]
            first, number = found[0][-1][0] + 1, number + 1

    def preferred(self) -> Iterator[tuple[int, Mapped]]:
        """Starting row and match, which may be empty. Raises Failure."""
        start, number = 0, 1
        while start < len(self.words):
            mapped = next(replace(self, number=number).matches_from(start), None)
            if mapped is None:
                start += 1
                continue
            number += 1
            yield start, mapped
            start = next_start(mapped, start, self.query.after_match, self.query.members)

    def matches(self) -> Iterator[tuple[int, Mapped]]:
        """Starting row and match, in the order of their numbers. Raises Failure."""
        match self.query.output:
            case MatchOutput.ALL:
                yield from ((mapped[0][0], mapped) for mapped in self.all_matches())
            case MatchOutput.NON_OVERLAPPING:
                yield from ((mapped[0][0], mapped) for mapped in self.non_overlapping())
            case MatchOutput.PREFERRED:
                yield from self.preferred()


def order_of_rows(mapped: Mapped) -> tuple[int, int, list[int]]:
    return mapped[-1][0], mapped[0][0], [row for row, _ in mapped]
