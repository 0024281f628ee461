"""Totals, aggregates over all matches, are those of the matches that the reference finds.

A search carries them along its runs, without building the matches: for `sum(count(A.x))` each run
knows the counts of its matches so far, and their sum.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from matchrec.compile.absences import end_runs_at_absent_rows
from matchrec.compile.totals import require_one_run_per_match
from matchrec.conditions.types import Kind
from matchrec.errors.match_totals import MustBuildMatchesError
from matchrec.plan.clauses import AfterMatchSkip, EventSelection, Grouping, MatchOutput
from matchrec.search.compiled_task import compile_task
from matchrec.search.incremental import SearchCall, make_empty_state
from matchrec.search.kernels import carried_totals as kernel
from matchrec.search.live_runs import count_node_columns
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import IntArray, Partitions
from matchrec.search.strategies import SearchAlgorithm
from matchrec.search.task import Capacity, Task, TaskTotals, Total, TotalFunction
from matchrec.syntax.row_pattern import parse_row_pattern
from tests.generators.selection import cases, general, sequences
from tests.properties.test_algorithms import PARTITIONS
from tests.properties.test_negation import list_all_matches
from tests.properties.test_negation import queries as negated_queries
from tests.quick.scale import examples
from tests.references.event_selection import SelectionQuery
from tests.references.matcher import Value
from tests.tasks.contiguous import Query as ContiguousQuery
from tests.tasks.contiguous import Rows, SearchFailure
from tests.tasks.selection import (
    FoundMatch,
    WindowedRows,
    build_task,
    is_deterministic,
    make_query,
    make_rows,
    run_reference,
)
from tests.unit.search.test_incremental import (
    make_call,
    search_and_finish,
    take_partition,
    write_and_read,
)

# The number of copies of each partition in the larger size.
COPIES = 30
CAPACITIES = (Capacity(), Capacity(mapped_rows=3, matches=2, initial_rows=1))
# The inner functions.
INNER_FUNCTIONS = ("count", "sum", "min", "max", "first", "last")


@dataclass(frozen=True)
class CarriedAggregate:
    """An aggregate over all matches of an aggregate of each match, such as `sum(count(A.x))`.

    The inner aggregate is over the rows that a match maps to the variable.
    """

    # The function over all matches, such as `sum`.
    outer_function: str
    # The function over the rows of a match, such as `count`.
    inner_function: str
    # The variable whose rows are aggregated; None for all rows of the match.
    variable: str | None
    # The kind of the column, and its index among the columns of this kind; None for `count(A.*)`.
    kind: Kind
    column: int | None

    def compute_for_match(self, values: list[Value]) -> Value:
        """Return the inner aggregate of a match, given the values of its rows of the variable."""
        not_null = [value for value in values if value is not None]
        if self.inner_function == "count":
            return len(values if self.column is None else not_null)
        if self.inner_function in ("first", "last"):
            return values[0 if self.inner_function == "first" else -1] if values else None
        if not not_null:
            return None
        return {"sum": sum, "min": min, "max": max}[self.inner_function](not_null)  # type: ignore[operator]

    def compute_over_matches(self, values: list[Value]) -> Value:
        """Return the outer aggregate, given the inner one of each match."""
        not_null = [value for value in values if value is not None]
        if self.outer_function == "count":
            return len(not_null)
        if not not_null:
            return None
        return {"sum": sum, "min": min, "max": max}[self.outer_function](not_null)  # type: ignore[operator]


@st.composite
def carried_aggregates(draw: st.DrawFn, query: SelectionQuery) -> CarriedAggregate:
    """Draw an aggregate that a search can carry along its runs."""
    outer_function = draw(st.sampled_from(["count", "sum", "min", "max"]))
    inner_function = draw(st.sampled_from(INNER_FUNCTIONS))
    assume(outer_function != "sum" or inner_function not in ("min", "max"))
    kind = draw(st.sampled_from(Kind))
    column = None if inner_function == "count" and draw(st.booleans()) else draw(st.integers(0, 1))
    variable = draw(st.sampled_from([None, *query.primary_variables]))
    return CarriedAggregate(outer_function, inner_function, variable, kind, column)


def add_columns(
    aggregates: list[CarriedAggregate], rows: Rows, partitions: Partitions
) -> Partitions:
    """Return the partitions with a column for each aggregate, as a worker makes them.

    The columns of the aggregates come last. An aggregate without a column has one of zeros, unless
    no aggregate after it has a column.
    """
    numbers_by_aggregate = []
    is_valid_by_aggregate = []
    for aggregate in aggregates:
        values = [None] * partitions.row_count
        if aggregate.column is not None:
            values = list(rows.columns[aggregate.kind][aggregate.column])
        numbers_by_aggregate.append(encode_numbers(aggregate, values))
        is_valid_by_aggregate.append([value is not None for value in values])
    # Aggregates after the last one with a column need none.
    counts = [count for count, item in enumerate(aggregates, 1) if item.column is not None]
    column_count = max(counts, default=0)
    shape = column_count, partitions.row_count
    columns = np.array(numbers_by_aggregate[:column_count], np.int64).reshape(shape)
    is_valid = np.array(is_valid_by_aggregate[:column_count], np.bool_).reshape(shape)
    return replace(
        partitions,
        columns=np.concatenate([partitions.columns, columns]),
        valid=np.concatenate([partitions.valid, is_valid]),
    )


def encode_numbers(aggregate: CarriedAggregate, values: list[Value]) -> IntArray:
    """Return the integers that a worker makes of a column: int64[n], 0 for None.

    Numbers that are added up stay integers, or become the bits of doubles. If only the order of
    numbers counts, they may be doubled, so that halves become whole numbers.
    """
    numbers = np.array([value or 0 for value in values], np.float64)
    if not is_added(aggregate):
        return (2 * numbers).astype(np.int64)
    return numbers.view(np.int64) if aggregate.kind is Kind.FLOATING else numbers.astype(np.int64)


def is_added(aggregate: CarriedAggregate) -> bool:
    """Return whether the numbers of the column are added up, so that more than order counts."""
    return aggregate.inner_function != "count" and (
        aggregate.outer_function == "sum" or aggregate.inner_function == "sum"
    )


def make_total(index: int, aggregate: CarriedAggregate, query: SelectionQuery) -> Total:
    """Return an aggregate for a task. Its column, if it has one, has the same index."""
    names = query.variables
    members = query.primary_variables[aggregate.variable] if aggregate.variable else names
    ids = frozenset(names.index(member) for member in members)
    column = None if aggregate.column is None else index
    is_float = is_added(aggregate) and aggregate.kind is Kind.FLOATING
    return Total(
        outer_function=TotalFunction(aggregate.outer_function),
        inner_function=TotalFunction(aggregate.inner_function),
        members=ids,
        column=column,
        is_float=is_float,
    )


def read_number(words: IntArray) -> int:
    """Return a number of 128 bits, given its low and high word."""
    low = int(words[0]) % 2**64
    high = int(words[1])
    return low + high * 2**64


def read_total(
    index: int,
    aggregate: CarriedAggregate,
    words: IntArray,
    rows: Rows,
    numbers: IntArray | None = None,
) -> Value:
    """Return the value of an aggregate for a group.

    Args:
        index: the index of the aggregate.
        aggregate: the aggregate.
        words: the state of the group in the search.
        rows: all rows.
        numbers: for each searched row, its number among `rows`; None if all rows were searched.
    """
    begin = kernel.locate_total(index)
    known_matches = words[begin + kernel.KNOWN_COUNT :]
    value = words[begin + kernel.VALUE :]
    if aggregate.outer_function == "count":
        return read_number(known_matches)
    if read_number(known_matches) == 0:
        return None
    is_float = aggregate.kind is Kind.FLOATING and aggregate.inner_function != "count"
    if aggregate.outer_function == "sum":
        return float(value[2:3].view(np.float64)[0]) if is_float else read_number(value)
    if aggregate.inner_function == "count" or aggregate.inner_function == "sum":
        return float(value[:1].view(np.float64)[0]) if is_float else int(value[0])
    assert aggregate.column is not None
    row = int(value[kernel.ROW])
    column = rows.columns[aggregate.kind][aggregate.column]
    return column[row if numbers is None else int(numbers[row])]


# For each group, the number of its matches, then the aggregates over them.
GroupTotals = dict[int, tuple[Value, ...]]


def compute_totals(
    aggregates: list[CarriedAggregate],
    matches: list[FoundMatch],
    rows: Rows,
    grouping: Grouping,
    query: SelectionQuery,
) -> GroupTotals:
    """Return the totals of each group of matches that the reference has found.

    Args:
        aggregates: the aggregates.
        matches: all matches.
        rows: all rows.
        grouping: which matches belong to a group.
        query: the query, which names the variables.
    """
    groups: dict[int, list[FoundMatch]] = defaultdict(list)
    for match in matches:
        groups[find_group(match, grouping)].append(match)
    totals: GroupTotals = {}
    for group, group_matches in groups.items():
        values: list[Value] = []
        for aggregate in aggregates:
            values_by_match = [
                aggregate.compute_for_match(read_aggregated_values(aggregate, match, rows, query))
                for match in group_matches
            ]
            values.append(aggregate.compute_over_matches(values_by_match))
        totals[group] = (len(group_matches), *values)
    return totals


def find_group(match: FoundMatch, grouping: Grouping) -> int:
    """Return the key of the group of a match: its first row, its last row, or its partition."""
    match grouping:
        case Grouping.START:
            return match.mapped[0][0]
        case Grouping.END:
            return match.mapped[-1][0]
        case Grouping.PARTITION:
            return match.partition


def read_aggregated_values(
    aggregate: CarriedAggregate, match: FoundMatch, rows: Rows, query: SelectionQuery
) -> list[Value]:
    """Return the values of the rows of a match that an aggregate reads; zeros without a column."""
    names = query.primary_variables[aggregate.variable] if aggregate.variable else query.variables
    mapped_rows = [row for row, name in match.mapped if name in names]
    if aggregate.column is None:
        return [0] * len(mapped_rows)
    column = rows.columns[aggregate.kind][aggregate.column]
    return [column[row] for row in mapped_rows]


def search_totals(
    aggregates: list[CarriedAggregate],
    query: SelectionQuery,
    rows: WindowedRows,
    grouping: Grouping,
    capacity: Capacity,
) -> GroupTotals:
    """Return the totals of each group that the search computes."""
    totals_task = make_totals_task(aggregates, query, grouping)
    partitions = add_columns(aggregates, rows.rows, rows.partitions(query.variables))
    algorithm = SearchAlgorithm("breadth_first", capacity)
    assert SearchAlgorithm("backtracking").find_obstacle(totals_task)
    (matches,) = algorithm.choose_strategy(totals_task).search(totals_task, partitions)
    if not matches.count:
        return {}
    assert matches.totals is not None
    group_of_match = matches.partition if grouping is Grouping.PARTITION else matches.start
    return {
        int(group): read_group(aggregates, words, rows.rows)
        for group, words in zip(group_of_match, matches.totals, strict=True)
    }


def read_group(
    aggregates: list[CarriedAggregate], words: IntArray, rows: Rows, numbers: IntArray | None = None
) -> tuple[Value, ...]:
    """Return the number of matches of a group, and its totals.

    `read_total` explains the arguments.
    """
    totals = (
        read_total(index, aggregate, words, rows, numbers)
        for index, aggregate in enumerate(aggregates)
    )
    return (read_number(words), *totals)


def make_totals_task(
    aggregates: list[CarriedAggregate], query: SelectionQuery, grouping: Grouping
) -> Task:
    """Return the task of a query with its totals."""
    totals = tuple(make_total(index, item, query) for index, item in enumerate(aggregates))
    return replace(make_carrying_task(query, grouping), totals=TaskTotals(totals, grouping))


def make_carrying_task(query: SelectionQuery, grouping: Grouping = Grouping.PARTITION) -> Task:
    """Return the task of a query whose matches are not built.

    Raises:
        MustBuildMatchesError: no search can carry aggregates over the matches of the query.
    """
    return end_runs_at_absent_rows(require_one_run_per_match(build_task(query), grouping))


def copy_partitions(rows: WindowedRows) -> WindowedRows:
    """Return the partitions `COPIES` times, one after the other."""
    columns = {
        kind: tuple(column * COPIES for column in columns_of_kind)
        for kind, columns_of_kind in rows.rows.columns.items()
    }
    ends = None if rows.window_end is None else rows.window_end * COPIES
    return WindowedRows(Rows(rows.rows.words * COPIES, columns), ends)


class Piece(NamedTuple):
    """Some rows of a stream that come at once."""

    # The largest number of rows; fewer come if the stream ends.
    row_count: int
    # Whether windows end by the clock, and not only by a later row.
    ends_by_clock: bool


@pytest.mark.night  # compiles searches of its own
@pytest.mark.parametrize("depends_on_run", [False, True])
@pytest.mark.parametrize("grouping", Grouping)
@pytest.mark.parametrize("selection", EventSelection)
def test_random_totals_are_those_of_the_matches_of_the_reference(
    selection: EventSelection, grouping: Grouping, depends_on_run: bool
) -> None:
    shapes = st.one_of(sequences(), general())
    if selection is EventSelection.SKIP_TILL_NEXT_MATCH:
        shapes = shapes.filter(lambda shape: is_deterministic(shape.pattern))

    @settings(
        max_examples=max(examples(32) // 4, 4),
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    @given(
        cases(
            shapes=shapes,
            selection=selection,
            output=MatchOutput.ALL,
            depends_on_run=depends_on_run,
            most_rows=6,
        ),
        st.data(),
        st.sampled_from(CAPACITIES),
    )
    def agree(
        case: tuple[SelectionQuery, WindowedRows], data: st.DataObject, capacity: Capacity
    ) -> None:
        query, rows = case
        try:
            make_carrying_task(query)
        except MustBuildMatchesError:
            assume(False)
        aggregates = data.draw(st.lists(carried_aggregates(query), max_size=3))
        reference = run_reference(query, rows)
        if isinstance(reference, SearchFailure):
            with pytest.raises(RunFailure):
                search_totals(aggregates, query, rows, grouping, capacity)
            return
        expected = compute_totals(aggregates, reference, rows.rows, grouping, query)
        assert search_totals(aggregates, query, rows, grouping, capacity) == expected
        is_by_partition = grouping is Grouping.PARTITION
        groups_per_copy = len(rows.rows.words) if is_by_partition else rows.offsets[-1]
        expected_of_copies = {
            group + copy * groups_per_copy: values
            for group, values in expected.items()
            for copy in range(COPIES)
        }
        copies = copy_partitions(rows)
        assert search_totals(aggregates, query, copies, grouping, capacity) == expected_of_copies

    agree()


@pytest.mark.night  # compiles a search of its own
@settings(
    max_examples=examples(64), deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
@given(
    st.one_of(
        cases(
            shapes=sequences(),
            selection=EventSelection.SKIP_TILL_ANY_MATCH,
            output=MatchOutput.ALL,
            depends_on_run=depends,
            most_rows=7,
            steps=(0,),  # a row's neighbours may not have come yet
        )
        for depends in (False, True)
    ),
    st.data(),
    st.lists(st.builds(Piece, st.integers(0, 4), st.booleans()), max_size=6),
)
def test_a_stream_gives_the_groups_of_the_whole(
    case: tuple[SelectionQuery, WindowedRows], data: st.DataObject, pieces: list[Piece]
) -> None:
    query, rows = case
    try:
        make_carrying_task(query, Grouping.END)
    except MustBuildMatchesError:
        assume(False)
    aggregates = data.draw(st.lists(carried_aggregates(query), max_size=3))
    reference = run_reference(query, rows)
    assume(isinstance(reference, list))
    assert isinstance(reference, list)
    expected = compute_totals(aggregates, reference, rows.rows, Grouping.END, query)
    assert search_in_pieces(aggregates, query, rows, pieces) == expected


def search_in_pieces(
    aggregates: list[CarriedAggregate],
    query: SelectionQuery,
    rows: WindowedRows,
    pieces: list[Piece],
) -> GroupTotals:
    """Return the totals of a search whose rows come in pieces. It must return each group once.

    Args:
        aggregates: the aggregates.
        query: the query.
        rows: all rows.
        pieces: the pieces. All rows that they lack come in a last one.
    """
    totals_task = make_totals_task(aggregates, query, Grouping.END)
    partitions = add_columns(aggregates, rows.rows, rows.partitions(query.variables))
    totals: GroupTotals = {}
    for partition, first_row in enumerate(partitions.starts[:-1].tolist()):
        all_rows = take_partition(partitions, partition)
        registers = compile_task(totals_task, all_rows.integer_count).register_count
        state = make_empty_state(registers, count_node_columns(totals_task))
        arrived = 0
        for row_count, ends_by_clock in (*pieces, Piece(all_rows.row_count, ends_by_clock=True)):
            arrived = min(all_rows.row_count, arrived + row_count)
            numbers = np.concatenate([state.row_numbers, np.arange(state.rows_searched, arrived)])
            call = make_call(
                totals_task,
                all_rows,
                numbers,
                kept=len(state.row_numbers),
                arrived=arrived,
                ends_by_clock=ends_by_clock,
            )
            ranked_call = change_ranks(call, totals_task)
            chunks, (next_state, _) = search_and_finish(totals_task, state, ranked_call)
            for row, words in chain.from_iterable(map(list_groups, chunks)):
                number = first_row + int(numbers[row])
                assert number not in totals
                totals[number] = read_group(aggregates, words, rows.rows, first_row + numbers)
            state = write_and_read(next_state)
        assert state.is_idle
    return totals


def list_groups(matches: Matches) -> Iterator[tuple[int, IntArray]]:
    """Yield the row with which the matches of each group end, and what is known of the group."""
    if matches.count:
        assert matches.totals is not None
        yield from zip(matches.start.tolist(), matches.totals, strict=True)


def change_ranks(call: SearchCall, totals_task: Task) -> SearchCall:
    """Return the call with other ranks of values that are only compared, in the same order.

    Each call of a stream has its own ranks.
    """
    assert totals_task.totals is not None
    totals = totals_task.totals.aggregates
    columns = call.partitions.columns.copy()
    last = max((total.column for total in totals if total.column is not None), default=-1)
    begin = len(columns) - 1 - last
    for total in totals:
        if total.is_row_value and total.column is not None:
            ranks = np.unique(columns[begin + total.column], return_inverse=True)[1]
            columns[begin + total.column] = ranks - 3
    return replace(call, partitions=replace(call.partitions, columns=columns))


@pytest.mark.slow  # compiles a search of its own
@settings(
    max_examples=examples(256),
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(negated_queries(), PARTITIONS.map(Rows))
def test_random_counts_with_not(drawn_query: ContiguousQuery, rows: Rows) -> None:
    query = replace(drawn_query, after_match=AfterMatchSkip(), output=MatchOutput.ALL)
    try:
        once = require_one_run_per_match(query.task(), Grouping.PARTITION)
    except MustBuildMatchesError:
        assume(False)
    totals_task = replace(once, totals=TaskTotals((), Grouping.PARTITION))
    partitions = query.mark_restrictions(rows).partitions(totals_task.variables)
    algorithm = SearchAlgorithm("breadth_first")
    (matches,) = algorithm.choose_strategy(totals_task).search(totals_task, partitions)
    counts = {}
    if matches.count:
        assert matches.totals is not None
        numbers = map(read_number, matches.totals)
        counts = dict(zip(matches.partition.tolist(), numbers, strict=True))
    assert counts == Counter(partition for partition, *_ in list_all_matches(query, rows))


@pytest.mark.parametrize("text", ["A+ NOT B", "A+ NOT B A*", "(A | A NOT B A)+"])
def test_choices_with_tests_are_not_merged(text: str) -> None:
    query = ContiguousQuery(parse_row_pattern(text), output=MatchOutput.ALL)
    with pytest.raises(MustBuildMatchesError):
        require_one_run_per_match(query.task(), Grouping.PARTITION)


def test_ways_that_map_rows_alike_are_carried_as_one() -> None:
    ambiguous = ("A+ A+", "(A | B)* A*", "A+ B? A+", "(A | A B) B?")
    for text in ambiguous:
        with pytest.raises(MustBuildMatchesError):
            make_carrying_task(make_query(text, EventSelection.SKIP_TILL_NEXT_MATCH))
        make_carrying_task(make_query(text, EventSelection.SKIP_TILL_ANY_MATCH))
    many_sets = make_query("A+ (A | B)* A" + " (A | B)" * 9, EventSelection.SKIP_TILL_ANY_MATCH)
    with pytest.raises(MustBuildMatchesError):
        make_carrying_task(many_sets)
    for text in ("A+", "A | B", "A* B*", "A? A", "(A+ B?)+", "PERMUTE(A, B, C)", "(A | B)+ C"):
        unchanged = build_task(make_query(text, EventSelection.SKIP_TILL_ANY_MATCH))
        assert require_one_run_per_match(unchanged, Grouping.PARTITION) is unchanged


@pytest.mark.slow  # compiles a search of its own
def test_counts_of_more_than_64_bits_are_exact() -> None:
    for rows in (40, 63, 64, 65, 100, 126):
        counted = search_totals(
            [CarriedAggregate("sum", "count", "A", Kind.INTEGER, None)],
            make_query("A+", EventSelection.SKIP_TILL_ANY_MATCH),
            make_rows(" ".join("A" * rows)),
            Grouping.PARTITION,
            Capacity(),
        )
        total = rows * 2 ** (rows - 1)  # every row is in half of the subsets
        wrapped = (total + 2**127) % 2**128 - 2**127
        assert counted == {0: (2**rows - 1, wrapped)}
