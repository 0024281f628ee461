"""Small queries and partitions for tests of searches, run by an algorithm and by the reference.

A row is written as the variables whose row conditions it satisfies. "A AB -" is three rows; the
last one satisfies no condition. Conditions on other rows of the run are expressions of the query
(`Query.run_conditions`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from matchrec.automaton.compiled_pattern import CompiledPattern
from matchrec.automaton.negation import Restriction, replace_negations
from matchrec.compile.lookaround import find_lookaround
from matchrec.conditions.run_condition import RunExpression
from matchrec.conditions.types import Kind
from matchrec.errors.run import failures
from matchrec.plan.clauses import AfterMatchSkip, MatchOutput
from matchrec.plan.pattern import RowPattern, list_negations, list_variable_names
from matchrec.search.chained import ChainedStrategy
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import NO_EDGE, Frontier, IntArray, Partitions
from matchrec.search.strategies import SearchAlgorithm
from matchrec.search.task import Condition, Task
from matchrec.syntax.row_pattern import parse_row_pattern
from tests.references.matcher import CanMap, ConditionContext, Failure, Value, find_all
from tests.tasks.by_python import is_small, outcome
from tests.tasks.compiled import compile_for_output
from tests.tasks.copies import search_both_sizes


class WordMatch(NamedTuple):
    """A match of contiguous rows. Rows are numbered over all partitions."""

    # The index of the partition.
    partition: int
    # The number of the match in its partition, from 1.
    number: int
    # The starting row.
    start: int
    # The variables of its rows, with blanks between them; of an excluded row in brackets.
    word: str


class SearchFailure(NamedTuple):
    """The failure of a search, or of the reference. Rows are numbered over all partitions."""

    # The name of the failure's message: see `name_failure`.
    kind: str
    # The index of the partition, and the row at which the search failed.
    partition: int
    row: int


Outcome = list[WordMatch] | SearchFailure


@dataclass(frozen=True)
class Query:
    """A query over `Rows`."""

    pattern: RowPattern
    after_match: AfterMatchSkip = AfterMatchSkip()
    subsets: dict[str, frozenset[str]] = field(default_factory=dict)
    # By variable: a condition that must hold in addition to the row condition.
    run_conditions: dict[str, RunExpression] = field(default_factory=dict)
    output: MatchOutput = MatchOutput.PREFERRED

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """Return the variables that rows can be mapped to, by id."""
        return list_variable_names(self.pattern)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the variables that rows can be mapped to, then the variables in negations."""
        negated = (name for negation in list_negations(self.pattern) for name in negation.names)
        return tuple(dict.fromkeys((*self.variables, *negated)))

    @cached_property
    def primary_variables(self) -> dict[str, frozenset[str]]:
        """Return the primary variables of each variable; a SUBSET may have several."""
        return {name: frozenset([name]) for name in self.variables} | self.subsets

    @cached_property
    def compiled(self) -> tuple[CompiledPattern, tuple[Restriction, ...]]:
        """Return the compiled pattern, and the restrictions that replace its negations.

        For the program a restriction is one more variable: `test 0`, `test 1` and so on.
        """
        pattern = compile_for_output(self.pattern, self.names, output=self.output)
        if not list_negations(self.pattern):
            return pattern, ()
        folding, restrictions = replace_negations(pattern.folding, len(self.names), self.pattern)
        tests = tuple(f"test {number}" for number, _ in enumerate(restrictions))
        program = replace(pattern.program, variables=(*self.names, *tests))
        return CompiledPattern(program, folding), restrictions

    def mark_restrictions(self, rows: Rows) -> Rows:
        """Return the rows with the restrictions that they satisfy added to their variables."""
        _, restrictions = self.compiled
        if not restrictions:
            return rows
        partitions = (
            tuple(self.add_restrictions(partition, restrictions)) for partition in rows.words
        )
        return replace(rows, words=tuple(partitions))

    def add_restrictions(
        self, partition: tuple[frozenset[str], ...], restrictions: tuple[Restriction, ...]
    ) -> Iterator[frozenset[str]]:
        """Yield the variables of each row, and the restrictions that it satisfies."""
        for row, next_row in itertools.zip_longest(partition, partition[1:], fillvalue=()):
            ids = self.find_ids(row)
            next_ids = self.find_ids(next_row)
            yield frozenset(row) | {
                f"test {number}"
                for number, restriction in enumerate(restrictions)
                if restriction.variable in ids
                and not (
                    restriction.forbidden_on_row & ids
                    or restriction.forbidden_on_next_row & next_ids
                )
                and (
                    not restriction.required_on_next_row
                    or restriction.required_on_next_row & next_ids
                )
            }

    def find_ids(self, row: Iterable[str]) -> set[int]:
        """Return the ids of the variables with which a row is written."""
        return {self.names.index(name) for name in row if name in self.names}

    def task(self) -> Task:
        """Return the task of a search for this query."""
        names = self.variables
        pattern, restrictions = self.compiled
        restricted = (self.names[restriction.variable] for restriction in restrictions)
        tested = (*self.names, *restricted)
        return Task(
            pattern,
            tuple(Condition(i, self.run_conditions.get(name)) for i, name in enumerate(tested)),
            {
                name: frozenset(names.index(member) for member in members if member in names)
                for name, members in self.primary_variables.items()
            },
            self.after_match,
            output=self.output,
        )


@dataclass(frozen=True)
class Rows:
    """Partitions of rows."""

    # partition -> row -> variables whose row condition it satisfies
    words: tuple[tuple[frozenset[str], ...], ...]
    # kind -> column -> row over all partitions -> value
    columns: dict[Kind, tuple[tuple[Value, ...], ...]] = field(
        default_factory=lambda: {Kind.INTEGER: (), Kind.FLOATING: ()}
    )
    # partition -> starting row -> first row of the partition after the window
    window_end: tuple[tuple[int, ...], ...] | None = None

    @cached_property
    def offsets(self) -> list[int]:
        """Return the first row of each partition, and the number of all rows."""
        return [0, *itertools.accumulate(map(len, self.words))]

    def partitions(self, variables: tuple[str, ...]) -> Partitions:
        """Return the rows as arrays. Bit i of a row says whether it satisfies variable i."""
        rows = [row for partition in self.words for row in partition]
        bits = [sum(1 << variables.index(v) for v in row if v in variables) for row in rows]
        integers = self.columns[Kind.INTEGER]
        floats = self.columns[Kind.FLOATING]
        columns = (*integers, *floats)

        # The shapes are explicit because there may be no columns or no rows.
        integer_values = np.array([[v or 0 for v in column] for column in integers], np.int64)
        integer_values = integer_values.reshape(len(integers), len(rows))
        float_values = np.array([[v or 0 for v in column] for column in floats], np.float64)
        float_values = float_values.reshape(len(floats), len(rows))
        is_not_null = np.array([[v is not None for v in column] for column in columns], bool)
        return Partitions(
            np.array(self.offsets, np.int64),
            np.array(bits, np.uint64).reshape(-1, 1),
            np.concatenate([integer_values, float_values.view(np.int64)]),
            is_not_null.reshape(len(columns), len(rows)),
            len(integers),
            self.window_ends(),
        )

    def part(self, number: int, begin: int, end: int) -> Rows:
        """Return rows `begin` to `end` (exclusive) of one partition.

        A window that ends later is cut to one row after `end`, so that it counts as unfinished.
        """
        offset = self.offsets[number]
        columns = {
            kind: tuple(column[offset + begin : offset + end] for column in columns)
            for kind, columns in self.columns.items()
        }
        window_end = None
        if self.window_end is not None:
            ends = self.window_end[number][begin:end]
            window_end = (tuple(min(row, end + 1) - begin for row in ends),)
        return Rows((self.words[number][begin:end],), columns, window_end)

    def window_ends(self) -> npt.NDArray[np.int64] | None:
        """Return `window_end` as an array of rows over all partitions."""
        if self.window_end is None:
            return None
        ends = zip(self.offsets, self.window_end, strict=False)
        return np.array([offset + end for offset, part in ends for end in part], np.int64)


def read_rows(text: str) -> Rows:
    """Return the rows of a text such as "A AB - / B", in which `/` ends a partition.

    Each letter is a variable.
    """
    return Rows(
        tuple(
            tuple(frozenset(row.replace("-", "")) for row in partition.split())
            for partition in text.split("/")
        )
    )


def make_query(text: str) -> Query:
    """Return the query for a row pattern."""
    return Query(parse_row_pattern(text))


def search(
    algorithm: SearchAlgorithm, task: Task, partitions: Partitions, counters: IntArray | None = None
) -> Iterator[Matches]:
    """Yield the matches that an algorithm finds, with windows if the rows have any.

    Also check copies of the rows (see `tests.tasks.copies`). If the strategy can chain matches,
    check that it finds the same matches with chains and without.
    """
    task = replace(task, has_window=partitions.window_end is not None)
    strategy = algorithm.choose_strategy(task)
    if isinstance(strategy, ChainedStrategy) and not task.wants_chains and is_small(partitions):
        unchained_outcome = outcome(strategy, task, partitions)
        chained_outcome = outcome(strategy, replace(task, wants_chains=True), partitions)
        assert chained_outcome == unchained_outcome
    return search_both_sizes(strategy, task, partitions, counters)


def name_failure(failure: RunFailure) -> str:
    """Return the name of a failure's message, which is the `kind` of the reference's `Failure`."""
    return next(name for name, value in vars(failures).items() if value is failure.make_error)


def run_algorithm(algorithm: SearchAlgorithm, query: Query, rows: Rows) -> Outcome:
    """Search all rows at once with an algorithm."""
    task = query.task()
    try:
        partitions = query.mark_restrictions(rows).partitions(task.variables)
        chunks = list(search(algorithm, task, partitions))
    except RunFailure as failure:
        partition = int(np.searchsorted(partitions.starts, failure.row, side="right")) - 1
        return SearchFailure(name_failure(failure), partition, failure.row)
    return [match for chunk in chunks for match in list_matches(chunk, query.variables)]


def run_algorithm_in_pieces(
    algorithm: SearchAlgorithm, query: Query, rows: Rows, step: int
) -> Outcome:
    """Search each partition in pieces, as a stream does: each call adds `step` rows.

    Rows are dropped when the search is past them and no condition can read them any more.
    """
    task = query.task()
    lookaround = find_lookaround(task, len(rows.columns[Kind.INTEGER]), ())
    assert lookaround is not None
    outcome: list[WordMatch] = []
    rows = query.mark_restrictions(rows)
    for partition, offset in enumerate(rows.offsets[:-1]):
        length = len(rows.words[partition])
        begin = 0  # the first row of the partition that is kept
        end = 0  # the row after the last one that has arrived
        edge = 0  # the first row that may lack rows after it, counted from `begin`
        # The state of the search: the next starting row (counted from `begin`), the number of
        # matches, and the number of steps.
        start = 0
        number = 0
        steps = 0
        while edge != NO_EDGE:
            end = min(end + step, length)
            edge = end - begin - lookaround.rows_after if end < length else NO_EDGE
            piece = rows.part(partition, begin, end).partitions(task.variables)
            frontier = Frontier.create(
                piece.starts, next_start=start, edge=edge, match_number=number, step_count=steps
            )
            first_row = offset + begin
            try:
                chunks = list(search(algorithm, task, replace(piece, frontier=frontier)))
            except RunFailure as failure:
                return SearchFailure(name_failure(failure), partition, first_row + failure.row)
            for chunk in chunks:
                for match in list_matches(chunk, query.variables):
                    start_row = first_row + match.start
                    outcome.append(WordMatch(partition, match.number, start_row, match.word))
            start = int(frontier.next_start[0])
            number = int(frontier.match_number[0])
            steps = int(frontier.step_count[0])
            dropped = max(start - max(1, lookaround.rows_before), 0)
            begin += dropped
            start -= dropped
    return outcome


def list_matches(matches: Matches, names: tuple[str, ...]) -> list[WordMatch]:
    """Return the matches of a chunk as they are in an `Outcome`."""
    result = []
    for i in range(matches.count):
        begin, end = matches.offsets[i : i + 2]
        mapped = zip(matches.classifiers[begin:end], matches.is_excluded[begin:end], strict=True)
        word = " ".join(f"[{names[v]}]" if excluded else names[v] for v, excluded in mapped)
        partition = int(matches.partition[i])
        number = int(matches.number[i])
        start = int(matches.start[i])
        result.append(WordMatch(partition, number, start, word))
    return result


def build_can_map(query: Query, rows: Rows, number: int) -> CanMap:
    """Return the function by which the reference tests whether a row may be mapped."""
    satisfies = build_satisfies(query, rows, number)

    def can_map(match: int, start: int, variables: tuple[str, ...]) -> bool:
        """Return whether the last row may be mapped to the last variable."""
        row = start + len(variables) - 1
        if rows.window_end is not None and row >= rows.window_end[number][start]:
            return False
        return satisfies(match, start, variables)

    return can_map


def build_satisfies(query: Query, rows: Rows, number: int) -> CanMap:
    """Return the function by which the reference tests a condition, whatever the window."""
    partition = rows.words[number]
    offset = rows.offsets[number]
    columns = {
        kind: [list(column[offset : offset + len(partition)]) for column in columns]
        for kind, columns in rows.columns.items()
    }

    def satisfies(match: int, start: int, variables: tuple[str, ...]) -> bool:
        """Return whether the last row satisfies the condition of the last variable."""
        name = variables[-1]
        if name not in partition[start + len(variables) - 1]:
            return False
        if name not in query.run_conditions:
            return True
        mapped = tuple(range(start, start + len(variables)))
        context = ConditionContext(
            row=mapped[-1],
            mapped_rows=mapped,
            mapped_variables=variables,
            columns=columns,
            variable_names=query.variables,
            primary_variables=query.primary_variables,
            match_number=match,
        )
        return bool(context.compute(query.run_conditions[name]))

    return satisfies


def run_reference(query: Query, rows: Rows) -> Outcome:
    """Search the rows with the reference matcher."""
    outcome = []
    offset = 0
    for number, partition in enumerate(rows.words):
        matches = find_all(
            query.pattern,
            len(partition),
            build_can_map(query, rows, number),
            query.after_match,
            query.primary_variables,
            longest=query.output is MatchOutput.LONGEST,
            satisfies=build_satisfies(query, rows, number),
        )
        try:
            for match in matches:
                word = " ".join(f"[{v}]" if excluded else v for v, excluded in match.word)
                outcome.append(WordMatch(number, match.number, offset + match.start, word))
        except Failure as failure:
            return SearchFailure(failure.kind, number, offset + failure.row)
        offset += len(partition)
    return outcome
