"""Aggregates over lists in conditions: the algorithms find what the reference finds.

The reference computes each aggregate again for each row.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.conditions.accumulators.table import AGGREGATES
from matchrec.conditions.evaluate import lists
from matchrec.conditions.functions.function import AggregateUse
from matchrec.conditions.run_condition import (
    BasicOperator,
    Comparison,
    Constant,
    ListItem,
    PythonAggregate,
    ReadValue,
    RunExpression,
    RunOperation,
    build_operation,
)
from matchrec.conditions.types import BIGINT, BOOLEAN, Kind
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.plan.pattern import list_variable_names
from tests.generators.selection import ABSENT, cases, general, sequences
from tests.properties import test_algorithms as contiguous
from tests.properties import test_selection as selection
from tests.quick.scale import LONG_RUN, examples
from tests.references.event_selection import SelectionQuery
from tests.tasks import copies
from tests.tasks.contiguous import Query, Rows
from tests.tasks.selection import ANY, NEXT, STRICT, WindowedRows, is_deterministic

WITH_DISTINCT = ("count", "sum", "median", "var_pop", "mode")
ORDERED = ("first_value", "last_value")
NAMES = (*WITH_DISTINCT, *ORDERED, "max_by")
INTEGERS = st.sampled_from([None, 0, 1, 1, 2, 5, -3])


def make_aggregate(
    name: str, variable: str | None, columns: list[tuple[int, ...]], *, distinct: bool, so_far: bool
) -> PythonAggregate:
    """Return an aggregate in a run condition.

    Args:
        name: the name of the aggregate.
        variable: the variable whose rows are aggregated; None for all rows of the match.
        columns: for each variable, the column that says whether a row counts, and the columns of
            the arguments.
        distinct: whether equal values count once.
        so_far: whether the current row is left out.
    """
    rows = tuple(
        (
            ListItem(ReadValue(row[0], Kind.INTEGER), BOOLEAN),
            *(ListItem(ReadValue(column, Kind.INTEGER), BIGINT) for column in row[1:]),
        )
        for row in columns
    )
    use = AggregateUse((BIGINT,) * (len(columns[0]) - 1), distinct=distinct)
    type_ = AGGREGATES[name].find_type(use)
    assert type_ is not None
    return PythonAggregate(name, variable, rows, use, type_, so_far)


@st.composite
def aggregates(
    draw: st.DrawFn, names: list[str | None], variables: int, current_names: frozenset[str | None]
) -> RunExpression:
    """Draw a comparison of an aggregate.

    Args:
        names: the variables to choose from.
        variables: the number of variables.
        current_names: the variables that the current row would be mapped to. Aggregates over these
            may leave the row out.
    """
    name = draw(st.sampled_from(NAMES))
    width = 2 if name == "max_by" else 1
    column = st.integers(0, 1)
    row = st.tuples(*[column] * (width + 1))
    columns = [draw(row)] * variables
    if draw(st.booleans()):
        columns = draw(st.lists(row, min_size=variables, max_size=variables))
    variable = draw(st.sampled_from(names))
    distinct = name in WITH_DISTINCT and draw(st.booleans())
    so_far = variable in current_names and draw(st.booleans())
    call = make_aggregate(name, variable, columns, distinct=distinct, so_far=so_far)
    value = {Kind.INTEGER: st.integers(0, 3), Kind.FLOATING: st.sampled_from([0.8, 1.3, 2.7])}
    other = Constant(draw(value[call.type.kind]), call.type.kind)
    comparison = build_operation(draw(st.sampled_from(Comparison)), call, other)
    if draw(st.booleans()):
        return comparison
    # A comparison may fail on the first row of each match, so let matches begin without it.
    count = make_aggregate("count", None, columns, distinct=False, so_far=False)
    has_few_values = build_operation(Comparison.LESS, count, Constant(2, Kind.INTEGER))
    return RunOperation(BasicOperator.OR, (has_few_values, comparison))


@st.composite
def with_aggregates(draw: st.DrawFn) -> tuple[Query, Rows]:
    """Draw a query whose conditions are aggregates, and rows."""
    plain, rows = draw(contiguous.cases_with_run_conditions())
    names: list[str | None] = [None, *plain.variables, *plain.subsets]
    run_conditions = {
        name: draw(aggregates(names, len(plain.variables), frozenset()))
        for name in plain.variables
        if draw(st.integers(0, 3)) > 0
    }
    count = sum(map(len, rows.words))
    columns = tuple(
        tuple(draw(st.lists(INTEGERS, min_size=count, max_size=count))) for _ in range(2)
    )
    kinds = {Kind.INTEGER: columns, Kind.FLOATING: ()}
    return replace(plain, run_conditions=run_conditions), replace(rows, columns=kinds)


@pytest.fixture(scope="module", params=[1 << 18, 3], ids=["all lists", "few lists"], autouse=True)
def room_for_lists(request: pytest.FixtureRequest) -> object:
    """Keep all lists, or so few that lists without a run are dropped again and again.

    Python computes an aggregate row by row, so the second size has only thousands of rows.
    """
    with pytest.MonkeyPatch.context() as patch:
        if LONG_RUN is None:
            patch.setattr(copies, "LARGE", copies.MIDDLE)
        patch.setattr(lists, "MAX_ROWS", request.param)
        yield


@contiguous.random_examples
@given(with_aggregates())
def test_random_aggregates_find_the_matches_of_the_reference(case: tuple[Query, Rows]) -> None:
    contiguous.assert_agreement(*case)


@contiguous.random_examples
@given(with_aggregates(), st.data())
def test_random_aggregates_in_windows(case: tuple[Query, Rows], data: st.DataObject) -> None:
    query, rows = case
    contiguous.assert_agreement(query, data.draw(contiguous.add_windows(rows)))


@contiguous.random_examples
@given(with_aggregates(), st.integers(1, 5))
def test_random_aggregates_in_pieces(case: tuple[Query, Rows], step: int) -> None:
    contiguous.assert_agreement_in_pieces(*case, step)


@pytest.mark.parametrize("output", selection.OUTPUTS)
@pytest.mark.parametrize("strategy", [STRICT, NEXT, ANY])
def test_random_aggregates_with_event_selection(
    strategy: EventSelection, output: MatchOutput
) -> None:
    shapes = st.one_of(sequences(), general())
    if strategy is NEXT:
        shapes = shapes.filter(lambda shape: is_deterministic(shape.pattern))
    random_cases = cases(
        shapes=shapes, selection=strategy, output=output, depends_on_run=False, most_rows=6
    )

    @settings(selection.random_examples, max_examples=max(examples(50) // 10, 1))
    @given(random_cases, st.data())
    def compare(case: tuple[SelectionQuery, WindowedRows], data: st.DataObject) -> None:
        query, rows = case
        names = list_variable_names(query.pattern)
        targets = (*names, *query.subsets)
        run_conditions = dict(query.run_conditions)
        for name in names:
            current_names = frozenset(
                [None, *(target for target in targets if name in query.primary_variables[target])]
            )
            conditions = aggregates([None, *targets], len(names) + len(ABSENT), current_names)
            run_conditions[name] = data.draw(conditions)
        selection.assert_agreement(replace(query, run_conditions=run_conditions), rows)

    compare()
