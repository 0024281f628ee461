"""Aggregates over all matches, carried along the runs: what the matches of a slow matcher give."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, starmap

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from matchrec.compile.absences import end_runs_at_absent_rows
from matchrec.compile.totals import find_each_match_once
from matchrec.conditions.types import Kind
from matchrec.errors.match_totals import MustBuildMatchesError
from matchrec.plan.clauses import EventSelection, Grouping, MatchOutput
from matchrec.search.incremental import SearchCall, make_empty_state
from matchrec.search.kernel_input import compile_task
from matchrec.search.kernels import carried_totals as kernel
from matchrec.search.live_runs import count_node_columns
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import IntArray, Partitions
from matchrec.search.strategies import SearchAlgorithm
from matchrec.search.task import Capacity, Task, TaskTotals, Total
from tests.generators.selection import cases, general, sequences
from tests.quick.scale import examples
from tests.references.event_selection import SelectionQuery
from tests.references.matcher import Value
from tests.tasks.contiguous import Rows
from tests.tasks.selection import (
    Found,
    WindowedRows,
    is_deterministic,
    plain_rows,
    run_reference,
    task,
)
from tests.tasks.selection import query as query_of
from tests.unit.search.test_incremental import (
    call_of,
    matches_and_answer,
    one_partition,
    through_bytes,
)

COPIES = 30
CAPACITIES = (Capacity(), Capacity(mapped_rows=3, matches=2, initial_rows=1))
IN_A_MATCH = ("count", "sum", "min", "max", "first", "last")


@dataclass(frozen=True)
class Asked:
    """An aggregate `over` all matches of one of a match, of the rows of a variable."""

    over: str
    inside: str
    variable: str | None
    kind: Kind
    column: int | None

    def value(self, values: list[Value]) -> Value:
        """What a match has, by the values of its rows of the variable, in order."""
        known = [value for value in values if value is not None]
        if self.inside == "count":
            return len(values if self.column is None else known)
        if self.inside in ("first", "last"):
            return values[0 if self.inside == "first" else -1] if values else None
        if not known:
            return None
        return {"sum": sum, "min": min, "max": max}[self.inside](known)  # type: ignore[operator]

    def over_matches(self, found: list[Value]) -> Value:
        """What all matches have together."""
        known = [one for one in found if one is not None]
        if self.over == "count":
            return len(known)
        if not known:
            return None
        return {"sum": sum, "min": min, "max": max}[self.over](known)  # type: ignore[operator]


@st.composite
def aggregates(draw: st.DrawFn, query: SelectionQuery) -> Asked:
    """Any that is carried."""
    over = draw(st.sampled_from(["count", "sum", "min", "max"]))
    inside = draw(st.sampled_from(IN_A_MATCH))
    assume(over != "sum" or inside not in ("min", "max"))
    kind = draw(st.sampled_from(Kind))
    column = None if inside == "count" and draw(st.booleans()) else draw(st.integers(0, 1))
    variable = draw(st.sampled_from([None, *query.members]))
    return Asked(over, inside, variable, kind, column)


def columns_of(asked: list[Asked], rows: Rows, partitions: Partitions) -> Partitions:
    """The partitions with a column for each aggregate, as a worker makes it."""
    values, valid = [], []
    for one in asked:
        column = [None] * partitions.rows
        if one.column is not None:
            column = list(rows.columns[one.kind][one.column])
        present = [value is not None for value in column]
        numbers = np.array([value or 0 for value in column], np.float64)
        if is_added(one) and one.kind is Kind.FLOATING:
            values.append(numbers.view(np.int64))
        else:  # halves are ordered as whole numbers are
            values.append((numbers * (1 if is_added(one) else 2)).astype(np.int64))
        valid.append(present)
    own = [place + 1 for place, one in enumerate(asked) if one.column is not None]
    count = max(own, default=0)
    shape = count, partitions.rows
    added = np.array(values[:count], np.int64).reshape(shape)
    known = np.array(valid[:count], np.bool_).reshape(shape)
    return replace(
        partitions,
        columns=np.concatenate([partitions.columns, added]),
        valid=np.concatenate([partitions.valid, known]),
    )


def is_added(one: Asked) -> bool:
    """Whether the numbers of the column count, and not only their order."""
    return one.inside != "count" and (one.over == "sum" or one.inside == "sum")


def total_of(place: int, one: Asked, query: SelectionQuery) -> Total:
    names = query.variables
    members = query.members[one.variable] if one.variable else names
    ids = frozenset(names.index(member) for member in members)
    values = None if one.column is None else place
    floats = is_added(one) and one.kind is Kind.FLOATING
    return Total(one.over, one.inside, ids, values, floats)


def numbers_of(words: IntArray) -> int:
    low, high = int(words[0]) % 2**64, int(words[1])
    return low + high * 2**64


def answer(
    place: int, one: Asked, words: IntArray, rows: Rows, numbers: IntArray | None = None
) -> Value:
    """What a group's words say of an aggregate. numbers: of the rows that were searched."""
    at = kernel.locate_total(place)
    known, value = words[at + kernel.KNOWN :], words[at + kernel.VALUE :]
    if one.over == "count":
        return numbers_of(known)
    if numbers_of(known) == 0:
        return None
    floats = one.kind is Kind.FLOATING and one.inside != "count"
    if one.over == "sum":
        return float(value[2:3].view(np.float64)[0]) if floats else numbers_of(value)
    if one.inside == "count" or one.inside == "sum":
        return float(value[:1].view(np.float64)[0]) if floats else int(value[0])
    assert one.column is not None
    row = int(value[kernel.ROW])
    return rows.columns[one.kind][one.column][row if numbers is None else int(numbers[row])]


def expected(
    asked: list[Asked], found: list[Found], rows: Rows, grouped: Grouping, query: SelectionQuery
) -> dict[int, tuple[Value, ...]]:
    """By group: the number of its matches, then the aggregates."""
    groups: dict[int, list[Found]] = defaultdict(list)
    for one in found:
        mapped = [row for row, _ in one[3]]
        ends = {Grouping.START: mapped[0], Grouping.END: mapped[-1]}
        groups[ends.get(grouped, one[0])].append(one)

    def of(aggregate: Asked, match: Found) -> Value:
        names = query.members[aggregate.variable] if aggregate.variable else query.variables
        taken = [row for row, name in match[3] if name in names]
        if aggregate.column is None:
            return aggregate.value([0] * len(taken))
        column = rows.columns[aggregate.kind][aggregate.column]
        return aggregate.value([column[row] for row in taken])

    return {
        group: (
            len(matches),
            *(one.over_matches([of(one, match) for match in matches]) for one in asked),
        )
        for group, matches in groups.items()
    }


def found_by_engine(
    asked: list[Asked],
    query: SelectionQuery,
    rows: WindowedRows,
    grouped: Grouping,
    capacity: Capacity,
) -> dict[int, tuple[Value, ...]]:
    """The totals of each group, as the engine says them."""
    own = asking(asked, query, grouped)
    partitions = columns_of(asked, rows.rows, rows.partitions(query.variables))
    algorithm = SearchAlgorithm("breadth_first", capacity)
    assert SearchAlgorithm("backtracking").find_obstacle(own)
    (matches,) = algorithm.choose(own).search(own, partitions)
    return dict(starmap(row_of(asked, rows.rows, matches, grouped), enumerate(matches.start)))


def asking(asked: list[Asked], query: SelectionQuery, grouped: Grouping) -> Task:
    """The task of a query with its totals."""
    totals = tuple(total_of(place, one, query) for place, one in enumerate(asked))
    return replace(carried(query, grouped), totals=TaskTotals(totals, grouped))


def carried(query: SelectionQuery, grouped: Grouping = Grouping.PARTITION) -> Task:
    """The task of a query whose matches are not built. Raises NotCarriedError."""
    return end_runs_at_absent_rows(find_each_match_once(task(query), grouped))


def row_of(asked: list[Asked], rows: Rows, matches: Matches, grouped: Grouping):  # type: ignore[no-untyped-def]
    def of(place: int, row: int) -> tuple[int, tuple[Value, ...]]:
        assert matches.totals is not None
        words = matches.totals[place]
        group = int(matches.partition[place]) if grouped is Grouping.PARTITION else int(row)
        return group, (
            numbers_of(words),
            *(answer(number, one, words, rows) for number, one in enumerate(asked)),
        )

    return of


def copied(rows: WindowedRows) -> WindowedRows:
    """The partitions, many times over."""
    own = rows.rows
    columns = {kind: tuple(one * COPIES for one in of) for kind, of in own.columns.items()}
    ends = None if rows.window_end is None else rows.window_end * COPIES
    return WindowedRows(Rows(own.words * COPIES, columns), ends)


@pytest.mark.night  # compiles searches of its own
@pytest.mark.parametrize("depends_on_run", [False, True])
@pytest.mark.parametrize("grouped", Grouping)
@pytest.mark.parametrize("selection", EventSelection)
def test_random_totals(selection: EventSelection, grouped: Grouping, depends_on_run: bool) -> None:
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
            carried(query)
        except MustBuildMatchesError:
            assume(False)
        asked = data.draw(st.lists(aggregates(query), max_size=3))
        reference = run_reference(query, rows)
        if isinstance(reference, tuple):
            with pytest.raises(RunFailure):
                found_by_engine(asked, query, rows, grouped, capacity)
            return
        wanted = expected(asked, reference, rows.rows, grouped, query)
        assert found_by_engine(asked, query, rows, grouped, capacity) == wanted
        often, size = copied(rows), len(rows.rows.words)
        if grouped is not Grouping.PARTITION:
            size = rows.offsets[-1]
        many = {
            group + copy * size: values
            for group, values in wanted.items()
            for copy in range(COPIES)
        }
        assert found_by_engine(asked, query, often, grouped, capacity) == many

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
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=6),
)
def test_a_stream_gives_the_groups_of_the_whole(
    case: tuple[SelectionQuery, WindowedRows], data: st.DataObject, pieces: list[tuple[int, bool]]
) -> None:
    query, rows = case
    try:
        carried(query, Grouping.END)
    except MustBuildMatchesError:
        assume(False)
    asked = data.draw(st.lists(aggregates(query), max_size=3))
    reference = run_reference(query, rows)
    assume(isinstance(reference, list))
    assert isinstance(reference, list)
    wanted = expected(asked, reference, rows.rows, Grouping.END, query)
    assert found_in_pieces(asked, query, rows, pieces) == wanted


def found_in_pieces(
    asked: list[Asked], query: SelectionQuery, rows: WindowedRows, pieces: list[tuple[int, bool]]
) -> dict[int, tuple[Value, ...]]:
    """What a search says that stops and goes on, each group once."""
    own = asking(asked, query, Grouping.END)
    partitions = columns_of(asked, rows.rows, rows.partitions(query.variables))
    found: dict[int, tuple[Value, ...]] = {}
    for partition, first in enumerate(partitions.starts[:-1].tolist()):
        whole = one_partition(partitions, partition)
        registers = compile_task(own, whole.integers).registers
        state, come = make_empty_state(registers, count_node_columns(own)), 0
        for size, clock in (*pieces, (whole.rows, True)):
            come = min(whole.rows, come + size)
            numbers = np.concatenate([state.numbers, np.arange(state.done, come)])
            call = call_of(own, whole, numbers, (len(state.numbers), come, clock))
            matches, (then, _) = matches_and_answer(own, state, ranked_anew(call, own))
            for row, words in chain.from_iterable(map(groups_of, matches)):
                number = first + int(numbers[row])
                assert number not in found
                found[number] = (
                    numbers_of(words),
                    *(
                        answer(at, one, words, rows.rows, first + numbers)
                        for at, one in enumerate(asked)
                    ),
                )
            state = through_bytes(then)
        assert state.is_idle
    return found


def groups_of(matches: Matches) -> Iterator[tuple[int, IntArray]]:
    """The rows with which matches end, and what is known of those of each."""
    if matches.count:
        assert matches.totals is not None
        yield from zip(matches.start.tolist(), matches.totals, strict=True)


def ranked_anew(call: SearchCall, own: Task) -> SearchCall:
    """The call with other ranks of what is only compared, as each call has ranks of its own."""
    assert own.totals is not None
    columns = call.partitions.columns.copy()
    last = max((one.values for one in own.totals.aggregates if one.values is not None), default=-1)
    begin = len(columns) - 1 - last
    for one in own.totals.aggregates:
        if one.is_row_value and one.values is not None:
            ranks = np.unique(columns[begin + one.values], return_inverse=True)[1]
            columns[begin + one.values] = ranks - 3
    return replace(call, partitions=replace(call.partitions, columns=columns))


def test_ways_that_map_rows_alike_are_carried_as_one() -> None:
    ambiguous = ("A+ A+", "(A | B)* A*", "A+ B? A+", "(A | A B) B?")
    for text in ambiguous:
        with pytest.raises(MustBuildMatchesError):
            carried(query_of(text, EventSelection.SKIP_TILL_NEXT_MATCH))
        carried(query_of(text, EventSelection.SKIP_TILL_ANY_MATCH))
    many_sets = query_of("A+ (A | B)* A" + " (A | B)" * 9, EventSelection.SKIP_TILL_ANY_MATCH)
    with pytest.raises(MustBuildMatchesError):
        carried(many_sets)
    for text in ("A+", "A | B", "A* B*", "A? A", "(A+ B?)+", "PERMUTE(A, B, C)", "(A | B)+ C"):
        asked = task(query_of(text, EventSelection.SKIP_TILL_ANY_MATCH))
        assert find_each_match_once(asked, Grouping.PARTITION) is asked


@pytest.mark.slow  # compiles a search of its own
def test_counts_of_more_than_64_bits_are_exact() -> None:
    for rows in (40, 63, 64, 65, 100, 126):
        counted = found_by_engine(
            [Asked("sum", "count", "A", Kind.INTEGER, None)],
            query_of("A+", EventSelection.SKIP_TILL_ANY_MATCH),
            plain_rows(" ".join("A" * rows)),
            Grouping.PARTITION,
            Capacity(),
        )
        total = rows * 2 ** (rows - 1)  # every row is in half of the subsets
        wrapped = (total + 2**127) % 2**128 - 2**127
        assert counted == {0: (2**rows - 1, wrapped)}
