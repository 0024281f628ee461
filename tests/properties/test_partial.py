"""Runs that time out or are unfinished: as worked out by hand, and as the reference finds them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matchrec.automaton import run_endings
from matchrec.plan.clauses import (
    AfterMatchSkip,
    EventSelection,
    MatchOutput,
    PartialMatches,
    SkipTo,
)
from matchrec.plan.pattern import show_pattern
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import Partitions
from matchrec.search.strategies import choose_algorithm_and_strategy
from matchrec.search.task import Capacity, Task
from tests.generators.selection import cases, general
from tests.properties.test_algorithms import (
    LONG_PARTITION,
    add_windows,
    cases_with_run_conditions,
    queries,
)
from tests.quick.scale import examples
from tests.references.event_selection import Mapped, SelectionQuery
from tests.references.matcher import CanMap, Failure, Word, WordSearch, find_all
from tests.references.partial import (
    TIMED_OUT,
    UNFINISHED,
    RunSelection,
    find_live_run,
    list_selected_runs,
    list_unmatched_starts,
)
from tests.tasks.contiguous import Query, Rows, build_can_map, make_query, name_failure, read_rows
from tests.tasks.copies import search_both_sizes
from tests.tasks.selection import NEXT, WindowedRows, build_task, is_deterministic

EXAMPLES = examples(50)
MATCH = "match"
KINDS = {
    run_endings.TIMED_OUT: TIMED_OUT,
    run_endings.UNFINISHED: UNFINISHED,
    run_endings.A_MATCH: MATCH,
}
PARTIAL_KINDS = (
    PartialMatches(shows_timed_out=True),
    PartialMatches(shows_unfinished=True),
    PartialMatches(shows_timed_out=True, shows_unfinished=True),
)
BY_TIME, BY_END, BY_BOTH = PARTIAL_KINDS
SMALL_CAPACITY = Capacity(mapped_rows=3, matches=2, initial_rows=1)


class MatchOrRun(NamedTuple):
    """A match, or a run that is output. Rows are numbered over all partitions."""

    # The starting row.
    start: int
    # TIMED_OUT, UNFINISHED or MATCH.
    kind: str
    # The mapped rows, each with the name of its variable.
    mapped: Mapped

    def shift(self, offset: int) -> MatchOrRun:
        """Return this match or run with its rows numbered from another row on."""
        mapped = tuple((row + offset, variable) for row, variable in self.mapped)
        return MatchOrRun(self.start + offset, self.kind, mapped)


class FailedSearch(NamedTuple):
    """The failure of a search, or of the reference."""

    # The name of the failure's message: see `name_failure`.
    kind: str
    # The row at which it failed, numbered over all partitions.
    row: int


# What a search finds, sorted.
Outcome = list[MatchOrRun] | FailedSearch

random_examples = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def run_algorithm(name: str, capacity: Capacity, task: Task, partitions: Partitions) -> Outcome:
    """Search rows for matches and runs with an algorithm.

    Args:
        name: the name of the algorithm.
        capacity: the capacity of the search at its beginning.
        task: the task of the query.
        partitions: the rows.
    """
    planned_task = replace(task, has_window=partitions.window_end is not None)
    strategy = choose_algorithm_and_strategy(planned_task, name).strategy
    if strategy.finds_runs:
        strategy = replace(strategy, capacity=capacity)
    try:
        chunks = list(search_both_sizes(strategy, planned_task, partitions))
    except RunFailure as failure:
        return FailedSearch(name_failure(failure), failure.row)
    return sorted(
        found for chunk in chunks for found in list_matches_and_runs(chunk, task.variables)
    )


def list_matches_and_runs(matches: Matches, names: tuple[str, ...]) -> list[MatchOrRun]:
    """Return the matches and runs of a chunk. Only matches have a number."""
    assert matches.kind is not None
    result = []
    for i, start in enumerate(matches.start.tolist()):
        begin, end = matches.offsets[i : i + 2]
        variables = (names[v] for v in matches.classifiers[begin:end])
        rows = range(start, start + int(end - begin))
        if matches.rows is not None:
            rows = matches.rows[begin:end].tolist()
        mapped = tuple(zip(rows, variables, strict=True))
        result.append(MatchOrRun(start, KINDS[int(matches.kind[i])], mapped))
        assert (matches.number[i] < 0) == (matches.kind[i] != run_endings.A_MATCH)
    return result


def run_reference(query: Query, rows: Rows, partial: PartialMatches) -> Outcome:
    """Return the matches and runs of the reference for contiguous matches, or its error."""
    partitions = [make_partition(query, rows, number) for number in range(len(rows.words))]
    outcome: list[MatchOrRun] = []
    matches_by_partition = []
    offset = 0
    try:
        # An algorithm finds the matches of all partitions first, and fails there first.
        for partition, offset in zip(partitions, rows.offsets, strict=False):  # noqa: B007
            matches_by_partition.append(list(partition.list_matches()))
        for partition, matches, offset in zip(
            partitions, matches_by_partition, rows.offsets, strict=False
        ):
            outcome += (match.shift(offset) for match in matches)
            outcome += (run.shift(offset) for run in partition.list_runs(matches, partial))
    except Failure as failure:
        return FailedSearch(failure.kind, offset + failure.row)
    return sorted(outcome)


@dataclass(frozen=True)
class ReferencePartition:
    """A partition for the reference matcher. Its methods may raise Failure.

    Rows are numbered from the first row of the partition.
    """

    query: Query
    # Says whether a row may be mapped to a variable.
    can_map: CanMap
    # For each starting row, the first row after its window.
    window_end: tuple[int, ...]

    def list_matches(self) -> Iterator[MatchOrRun]:
        """Yield the matches of the partition."""
        query = self.query
        row_count = len(self.window_end)
        longest = query.output is MatchOutput.LONGEST
        for match in find_all(
            query.pattern,
            row_count,
            self.can_map,
            query.after_match,
            query.primary_variables,
            longest,
        ):
            yield MatchOrRun(match.start, MATCH, map_word(match.start, match.word))

    def list_runs(self, matches: list[MatchOrRun], partial: PartialMatches) -> Iterator[MatchOrRun]:
        """Yield the runs that are output.

        Args:
            matches: the matches of the partition.
            partial: the kinds of runs that are output.
        """
        row_count = len(self.window_end)
        unmatched_starts = list_unmatched_starts(
            row_count,
            [(match.start, match.mapped) for match in matches],
            self.query.after_match,
            self.query.primary_variables,
        )
        selection = RunSelection(row_count, self.window_end, partial)
        for run in selection.list_runs(unmatched_starts, self.list_live_runs):
            yield MatchOrRun(*run)

    def list_live_runs(self, start: int, number: int) -> Iterator[Mapped]:
        """Yield the preferred live run of a starting row, if there is one."""
        search = WordSearch(len(self.window_end), start, self.can_map, number)
        run = find_live_run(search, self.query.pattern, self.window_end[start])
        if run is not None:
            yield map_word(start, run)


def make_partition(query: Query, rows: Rows, number: int) -> ReferencePartition:
    """Return a partition of the rows, by its number."""
    size = len(rows.words[number])
    ends = rows.window_end[number] if rows.window_end else (size,) * size
    return ReferencePartition(query, build_can_map(query, rows, number), ends)


def map_word(start: int, word: Word) -> Mapped:
    """Return the rows from `start` on with the variables of a word."""
    return tuple((start + i, name) for i, (name, _) in enumerate(word))


def assert_agreement(query: Query, rows: Rows, partial: PartialMatches) -> None:
    """Assert that each algorithm, at each capacity, has the outcome of the reference."""
    expected = run_reference(query, rows, partial)
    task = replace(query.task(), partial=partial)
    partitions = rows.partitions(query.variables)
    names = ("backtracking", "breadth_first")
    if query.output is MatchOutput.LONGEST and not task.reads_only_data:
        names = names[1:]
    for name, capacity in itertools.product(names, (Capacity(), SMALL_CAPACITY)):
        outcome = run_algorithm(name, capacity, task, partitions)
        assert outcome == expected, (name, capacity, show_pattern(query.pattern))


@pytest.mark.parametrize(
    ("text", "rows", "ends", "partial", "expected"),
    [
        # the row at which the window of row 0 ends is row 2
        ("A B", "A - A", (1, 2, 3), BY_TIME, "timed out A0, timed out A2"),
        ("A B C", "A B C", (2, 3, 3), BY_TIME, "timed out A0 B1"),
        ("A B C", "A - -", (2, 3, 3), BY_TIME, ""),  # ended by a row, not by time
        ("A B*", "A B B", (2, 3, 3), BY_TIME, "match A0 B1"),  # a match needs no more rows
        # each starting row has its own run
        ("A+ B", "A A A", (2, 3, 3), BY_TIME, "timed out A0 A1, timed out A1 A2, timed out A2"),
        # the preferred run of several
        ("(A | B)+ C", "AB AB", (2, 2), BY_TIME, "timed out A0 A1, timed out A1"),
        ("(A | B)+? C", "AB AB", (2, 2), BY_TIME, "timed out A0 A1, timed out A1"),
        ("(A B | A A) C", "A AB", (2, 2), BY_TIME, "timed out A0 B1, timed out A1"),
        # no run starts in the rows of a match
        ("A B", "A B A -", (2, 2, 3, 4), BY_TIME, "match A0 B1, timed out A2"),
        # not live: no row can follow the end of the partition or come before its start
        ("A $ B", "A", (1,), BY_TIME, ""),
        ("A ^ B", "A", (1,), BY_TIME, ""),
        ("A (B ^ C | D)", "A", (1,), BY_TIME, "timed out A0"),
        ("A (B ^ C | D)", "A B", (2, 2), BY_TIME, ""),
        ("A B $", "A -", (1, 2), BY_TIME, "timed out A0"),
        ("A+ $", "A A -", (2, 3, 3), BY_TIME, "timed out A0 A1"),
        # at the partition's end
        ("A+ B", "A A A", (3, 3, 3), BY_END, "unfinished A0 A1 A2"),
        ("A+ B", "A A A", (2, 3, 3), BY_END, "unfinished A1 A2"),
        ("A+ B", "A A A", (2, 3, 3), BY_BOTH, "timed out A0 A1, unfinished A1 A2"),
        ("A+ B", "A A A", (), BY_END, "unfinished A0 A1 A2"),
        ("A+ B", "A B A A", (), BY_END, "match A0 B1, unfinished A2 A3"),
        ("A+ B | C", "A C", (), BY_END, "match C1"),
        ("A X* B | C", "A CX", (), BY_END, "unfinished A0 X1, match C1"),
        # a row without a time is in no window
        ("A B", "A A", (0, 1), BY_TIME, ""),
    ],
)
def test_runs_that_are_output_are_those_by_hand(
    text: str, rows: str, ends: tuple[int, ...], partial: PartialMatches, expected: str
) -> None:
    input_rows = replace(read_rows(rows), window_end=(ends,) if ends else None)
    outcome = run_reference(make_query(text), input_rows, partial)
    assert isinstance(outcome, list)
    written = [
        f"{kind} {' '.join(f'{name}{row}' for row, name in mapped)}" for _, kind, mapped in outcome
    ]
    assert written == (expected.split(", ") if expected else [])
    assert_agreement(make_query(text), input_rows, partial)


@random_examples
@given(st.data())
def test_runs_of_random_patterns_are_those_of_the_reference(data: st.DataObject) -> None:
    query = data.draw(queries())
    if data.draw(st.booleans()):
        query = replace(query, output=MatchOutput.LONGEST)
    rows = Rows(data.draw(st.lists(LONG_PARTITION, min_size=1, max_size=2).map(tuple)))
    partial = data.draw(st.sampled_from(PARTIAL_KINDS))
    if partial.shows_timed_out or data.draw(st.booleans()):
        rows = data.draw(add_windows(rows))
    assert_agreement(query, rows, partial)


@random_examples
@given(st.data())
def test_random_conditions_that_depend_on_the_run(data: st.DataObject) -> None:
    query, rows = data.draw(cases_with_run_conditions())
    assert_agreement(query, data.draw(add_windows(rows)), data.draw(st.sampled_from(PARTIAL_KINDS)))


@pytest.mark.parametrize("depends_on_run", [False, True])
@pytest.mark.parametrize("output", [MatchOutput.PREFERRED, MatchOutput.ALL])
@pytest.mark.parametrize("selection", EventSelection)
def test_random_event_selection(
    selection: EventSelection, output: MatchOutput, depends_on_run: bool
) -> None:
    shapes = general()
    if selection is NEXT:
        shapes = shapes.filter(lambda shape: is_deterministic(shape.pattern))

    @settings(random_examples, max_examples=max(EXAMPLES // 4, 1))
    @given(
        cases(
            shapes=shapes,
            selection=selection,
            output=output,
            depends_on_run=depends_on_run,
            most_rows=5,
        ),
        st.sampled_from(PARTIAL_KINDS),
    )
    def compare(case: tuple[SelectionQuery, WindowedRows], partial: PartialMatches) -> None:
        query, rows = case
        query = replace(query, absences=(), closing=None)
        partial = BY_TIME if output is MatchOutput.ALL else partial
        expected = run_selection_reference(query, rows, partial)
        for name in ("backtracking", "breadth_first"):
            for capacity in (Capacity(), SMALL_CAPACITY):
                planned = replace(build_task(query), partial=partial)
                outcome = run_algorithm(name, capacity, planned, rows.partitions(planned.variables))
                assert outcome == expected, (name, capacity, show_pattern(query.pattern))

    compare()


def run_selection_reference(
    query: SelectionQuery, rows: WindowedRows, partial: PartialMatches
) -> Outcome:
    """Return the matches and runs of the reference for event selection, or its error."""
    partitions = list(zip(rows.build_partitions(query), rows.offsets, strict=False))
    outcome: list[MatchOrRun] = []
    offset = 0
    try:
        for partition, offset in partitions:
            for start, mapped in partition.list_matches():
                outcome.append(MatchOrRun(start, MATCH, mapped).shift(offset))
        for partition, offset in partitions:
            runs = list_selected_runs(partition, partial)
            outcome += (MatchOrRun(*run).shift(offset) for run in runs)
    except Failure as failure:
        return FailedSearch(failure.kind, failure.row + offset)
    return sorted(outcome)


@pytest.mark.parametrize("to", [SkipTo.NEXT_ROW, SkipTo.PAST_LAST_ROW])
def test_no_run_starts_in_rows_that_a_match_skips(to: SkipTo) -> None:
    """A0 A1 B2 is a match; a run from A1 times out only if the search continues there."""
    skipping_query = replace(make_query("A A B | A B C"), after_match=AfterMatchSkip(to))
    rows = replace(read_rows("A A B"), window_end=((3, 3, 3),))
    assert_agreement(skipping_query, rows, BY_TIME)
    results = run_reference(skipping_query, rows, BY_TIME)
    assert len(results) == (2 if to is SkipTo.NEXT_ROW else 1)
