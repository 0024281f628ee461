"""Small tasks and partitions for tests of engines, and what the reference says of them.

Rows are words of the variables whose row condition they satisfy: "A AB -" is three rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from matchrec.automaton.compile import CompiledPattern
from matchrec.compile.executable import find_lookaround
from matchrec.compile.negation import Restriction, Separation
from matchrec.conditions.run_condition import RunExpression
from matchrec.conditions.types import Kind
from matchrec.errors.run import failures
from matchrec.plan.clauses import AfterMatchSkip, MatchOutput
from matchrec.plan.pattern import RowPattern, negations, variable_names
from matchrec.search.interface import Condition, Task
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import NO_EDGE, Frontier, IntArray, Partitions
from matchrec.search.strategies import Algorithm, Chained
from matchrec.syntax.row_pattern import parse_row_pattern
from tests.references.matcher import Candidate, Failure, May, Value, find_all
from tests.tasks.by_python import is_small, outcome
from tests.tasks.compiled import compiled
from tests.tasks.copies import search_both_sizes

Outcome = list[tuple[int, int, int, str]] | tuple[str, int, int]


@dataclass(frozen=True)
class Query:
    """A pattern over rows given as words. run_conditions: beside the words, by variable."""

    pattern: RowPattern
    after_match: AfterMatchSkip = AfterMatchSkip()
    subsets: dict[str, frozenset[str]] = field(default_factory=dict)
    run_conditions: dict[str, RunExpression] = field(default_factory=dict)
    output: MatchOutput = MatchOutput.PREFERRED

    @cached_property
    def variables(self) -> tuple[str, ...]:
        return variable_names(self.pattern)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The variables of rows, then those under NOT."""
        negated = (name for one in negations(self.pattern) for name in one.names)
        return tuple(dict.fromkeys((*self.variables, *negated)))

    @cached_property
    def members(self) -> dict[str, frozenset[str]]:
        return {name: frozenset([name]) for name in self.variables} | self.subsets

    @cached_property
    def compiled(self) -> tuple[CompiledPattern, tuple[Restriction, ...]]:
        """The compiled pattern, and what its tests ask of words."""
        pattern = compiled(self.pattern, self.names, output=self.output)
        separation = Separation(pattern.folding, len(self.names), None)
        folding = separation.separate() if negations(self.pattern) else pattern.folding
        tests = tuple(f"test {number}" for number, _ in enumerate(separation.restrictions))
        program = replace(pattern.program, variables=(*self.names, *tests))
        return CompiledPattern(program, folding), tuple(separation.restrictions)

    def satisfied(self, rows: Rows) -> Rows:
        """The rows with the tests that they satisfy among their words."""
        _, guards = self.compiled
        if not guards:
            return rows
        found = (tuple(self.tested(partition, guards)) for partition in rows.words)
        return replace(rows, words=tuple(found))

    def tested(
        self, partition: tuple[frozenset[str], ...], guards: tuple[Restriction, ...]
    ) -> Iterator[frozenset[str]]:
        names = self.names
        for row, following in itertools.zip_longest(partition, partition[1:], fillvalue=()):
            here, after = (
                {names.index(name) for name in words if name in names} for words in (row, following)
            )
            yield frozenset(row) | {
                f"test {number}"
                for number, guard in enumerate(guards)
                if guard.variable in here
                and not (guard.here & here or guard.absent & after)
                and (not guard.present or guard.present & after)
            }

    def task(self) -> Task:
        names = self.variables
        pattern, guards = self.compiled
        asked = (*self.names, *(self.names[guard.variable] for guard in guards))
        return Task(
            pattern,
            tuple(Condition(i, self.run_conditions.get(name)) for i, name in enumerate(asked)),
            {
                name: frozenset(names.index(member) for member in members if member in names)
                for name, members in self.members.items()
            },
            self.after_match,
            output=self.output,
        )


@dataclass(frozen=True)
class Rows:
    """Partitions of rows: the variables that each may be mapped to, and columns of values.

    window_end: for each row of each partition the first row there that is outside of its window.
    """

    words: tuple[tuple[frozenset[str], ...], ...]
    columns: dict[Kind, tuple[tuple[Value, ...], ...]] = field(
        default_factory=lambda: {Kind.INTEGER: (), Kind.FLOATING: ()}
    )
    window_end: tuple[tuple[int, ...], ...] | None = None

    @cached_property
    def offsets(self) -> list[int]:
        return [0, *itertools.accumulate(map(len, self.words))]

    def partitions(self, variables: tuple[str, ...]) -> Partitions:
        rows = [row for partition in self.words for row in partition]
        bits = [sum(1 << variables.index(v) for v in row if v in variables) for row in rows]
        integers, floats = self.columns[Kind.INTEGER], self.columns[Kind.FLOATING]

        def shape(columns: tuple[tuple[Value, ...], ...]) -> tuple[int, int]:
            return len(columns), len(rows)

        every = (*integers, *floats)
        whole = np.array([[v or 0 for v in c] for c in integers], np.int64)
        whole = whole.reshape(shape(integers))
        fractions = np.array([[v or 0 for v in c] for c in floats], np.float64)
        bits_of_floats = fractions.reshape(shape(floats)).view(np.int64)
        return Partitions(
            np.array(self.offsets, np.int64),
            np.array(bits, np.uint64).reshape(-1, 1),
            np.concatenate([whole, bits_of_floats]),
            np.array([[v is not None for v in c] for c in every], bool).reshape(shape(every)),
            len(integers),
            self.window_ends(),
        )

    def part(self, number: int, begin: int, end: int) -> Rows:
        """Rows begin .. end of one partition; windows that end behind them go on after them."""
        offset = self.offsets[number]
        columns = {
            kind: tuple(column[offset + begin : offset + end] for column in columns)
            for kind, columns in self.columns.items()
        }
        window_end = None
        if self.window_end is not None:
            ends = self.window_end[number][begin:end]
            window_end = (tuple(min(one, end + 1) - begin for one in ends),)
        return Rows((self.words[number][begin:end],), columns, window_end)

    def window_ends(self) -> npt.NDArray[np.int64] | None:
        if self.window_end is None:
            return None
        ends = zip(self.offsets, self.window_end, strict=False)
        return np.array([offset + end for offset, part in ends for end in part], np.int64)


def words(text: str) -> Rows:
    """Rows from text; partitions are parted by `/`. Variables are single letters."""
    return Rows(
        tuple(
            tuple(frozenset(row.replace("-", "")) for row in partition.split())
            for partition in text.split("/")
        )
    )


def query(text: str) -> Query:
    return Query(parse_row_pattern(text))


def search(
    algorithm: Algorithm, task: Task, partitions: Partitions, counters: IntArray | None = None
) -> Iterator[Matches]:
    """The matches that the engine's algorithm for a task finds, in windows if the rows have any."""
    asked = replace(task, windowed=partitions.window_end is not None)
    strategy = algorithm.choose(asked)
    if isinstance(strategy, Chained) and not asked.chained and is_small(partitions):
        chained = replace(asked, chained=True)
        once, again = (outcome(strategy, one, partitions) for one in (asked, chained))
        assert again == once
    return search_both_sizes(strategy, asked, partitions, counters)


def kind_of(failure: RunFailure) -> str:
    """As the reference has it: see `references.matcher.Failure`."""
    return next(name for name, one in vars(failures).items() if one is failure.message)


def run_algorithm(algorithm: Algorithm, query: Query, rows: Rows) -> Outcome:
    """Matches as (partition, number, first row, word), an excluded row's variable in brackets."""
    task = query.task()
    try:
        partitions = query.satisfied(rows).partitions(task.variables)
        chunks = list(search(algorithm, task, partitions))
    except RunFailure as failure:
        partition = int(np.searchsorted(partitions.starts, failure.row, side="right")) - 1
        return kind_of(failure), partition, failure.row
    return [match for chunk in chunks for match in listed(chunk, query.variables)]


def run_algorithm_in_pieces(algorithm: Algorithm, query: Query, rows: Rows, step: int) -> Outcome:
    """As `run_algorithm`, with `step` more rows of a partition at each call, without those done."""
    task = query.task()
    seen = find_lookaround(task, len(rows.columns[Kind.INTEGER]), ())
    assert seen is not None
    outcome: list[tuple[int, int, int, str]] = []
    rows = query.satisfied(rows)
    for partition, offset in enumerate(rows.offsets[:-1]):
        begin, here, edge, start, number, steps = 0, 0, 0, 0, 0, 0
        length = len(rows.words[partition])
        while edge != NO_EDGE:
            here = min(here + step, length)
            edge = here - begin - seen.after if here < length else NO_EDGE
            piece = rows.part(partition, begin, here).partitions(task.variables)
            frontier = Frontier.of(piece.starts, start, edge, number, steps)
            place = offset + begin
            try:
                chunks = list(search(algorithm, task, replace(piece, frontier=frontier)))
            except RunFailure as failure:
                return kind_of(failure), partition, place + failure.row
            found = [one for chunk in chunks for one in listed(chunk, query.variables)]
            outcome += [(partition, number, place + at, word) for _, number, at, word in found]
            start, number, steps = (
                int(one[0]) for one in (frontier.start, frontier.number, frontier.steps)
            )
            done = max(start - max(1, seen.before), 0)
            begin, start = begin + done, start - done
    return outcome


def listed(matches: Matches, names: tuple[str, ...]) -> list[tuple[int, int, int, str]]:
    found = []
    for i in range(matches.count):
        begin, end = matches.offsets[i : i + 2]
        mapped = zip(matches.classifiers[begin:end], matches.excluded[begin:end], strict=True)
        word = " ".join(f"[{names[v]}]" if excluded else names[v] for v, excluded in mapped)
        place = (int(matches.partition[i]), int(matches.number[i]), int(matches.start[i]))
        found.append((*place, word))
    return found


def may_of(query: Query, rows: Rows, number: int) -> May:
    """Whether rows of one partition may be mapped to variables, by the reference."""
    satisfies = satisfies_of(query, rows, number)

    def may(match: int, start: int, variables: tuple[str, ...]) -> bool:
        row = start + len(variables) - 1
        if rows.window_end is not None and row >= rows.window_end[number][start]:
            return False
        return satisfies(match, start, variables)

    return may


def satisfies_of(query: Query, rows: Rows, number: int) -> May:
    """Whether a row satisfies a variable's condition, be it in the window or not."""
    partition, offset = rows.words[number], rows.offsets[number]
    columns = {
        kind: [list(column[offset : offset + len(partition)]) for column in columns]
        for kind, columns in rows.columns.items()
    }

    def satisfies(match: int, start: int, variables: tuple[str, ...]) -> bool:
        name = variables[-1]
        if name not in partition[start + len(variables) - 1]:
            return False
        if name not in query.run_conditions:
            return True
        mapped = tuple(range(start, start + len(variables)))
        candidate = Candidate(
            mapped[-1], mapped, variables, columns, query.variables, query.members, match
        )
        return bool(candidate.value(query.run_conditions[name]))

    return satisfies


def run_reference(query: Query, rows: Rows) -> Outcome:
    """What the reference matcher finds, in the same form; rows are numbered over all partitions."""
    outcome = []
    offset = 0
    for number, partition in enumerate(rows.words):
        may, satisfies = may_of(query, rows, number), satisfies_of(query, rows, number)
        try:
            longest = query.output is MatchOutput.LONGEST
            parts = query.pattern, len(partition), may, query.after_match, query.members
            for found in find_all(*parts, longest, satisfies):
                word = " ".join(f"[{v}]" if excluded else v for v, excluded in found.word)
                outcome.append((number, found.number, offset + found.start, word))
        except Failure as failure:
            return failure.kind, number, offset + failure.row
        offset += len(partition)
    return outcome
