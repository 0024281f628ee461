"""Find the columns that Spark computes and sends to the workers.

A column is sent if an output, a condition on the run, a window or a message reads it. It is sent
once, even if several of them do. The module also puts guards around what can raise an error, and
finds out where the user wrote what Spark computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from functools import partial

from matchrec.compile.compiled_query import SentColumns
from matchrec.conditions import residual
from matchrec.conditions.aggregates import build_framed_aggregate, find_basic_form
from matchrec.conditions.guards import add_guards_to_expression
from matchrec.conditions.mapped_rows import find_condition_of_rows
from matchrec.conditions.row_column import (
    FramedAggregate,
    RowColumn,
    ShiftedValue,
    build_aggregate_term_column,
    build_row_column,
    cast_column,
    find_row_texts,
)
from matchrec.conditions.types import COMPARED_BY_SPARK, NUMBERS, Family, ValueType
from matchrec.conditions.typing.run_columns import TRUE_COLUMN, RunColumns
from matchrec.conditions.window_columns import (
    build_neighbour_window_columns,
    build_window_columns,
    write_window_length,
)
from matchrec.errors.conditions import within_not_a_length
from matchrec.errors.language import name_part
from matchrec.errors.run.origins import SqlOrigin, make_origin
from matchrec.output.read_collector import is_collected_list
from matchrec.output.schema import OutputColumn, RowOutput, TimeoutOutput, TotalOutput
from matchrec.plan.clauses import Gap, Measure, Within
from matchrec.plan.expression import (
    MATCHED_ROWS,
    Aggregate,
    ColumnReference,
    Reference,
    Scalar,
    list_inputs,
    map_inputs,
    map_references,
    reads_columns_only,
    split_conjuncts,
    write_row_sql,
)
from matchrec.plan.match_plan import MatchPlan, map_expressions
from matchrec.plan.operations import is_partial, may_fail
from matchrec.plan.text import write_sum_or_null

# Families of types whose values have no distance, so that no window can be measured along them.
WITHOUT_DISTANCE = COMPARED_BY_SPARK | {Family.STRING, Family.BINARY, Family.BOOLEAN}


def find_key_columns(plan: MatchPlan) -> tuple[RowColumn, ...]:
    """Return the columns of PARTITION BY, whose values name a partition in messages."""
    return tuple(build_row_column(key.text) for key in plan.partition_by)


def find_dividing_columns(plan: MatchPlan) -> tuple[RowColumn, ...]:
    """Return the columns of equivalence tests of SASE+, which also divide rows into partitions.

    Columns of PARTITION BY are not among them.
    """
    keys = find_key_columns(plan)
    columns = dict.fromkeys(
        build_row_column(expression.text) for expression in plan.equivalence_keys
    )
    return tuple(column for column in columns if column not in keys)


def build_sent_columns(
    plan: MatchPlan,
    types: Mapping[RowColumn, ValueType],
    shared_indices: Mapping[RowColumn, int],
    measure_columns: Iterable[RowColumn],
    run_columns: RunColumns,
) -> SentColumns:
    """List the columns that are sent to the workers, each once, with the purpose of each.

    Args:
        plan: the plan of the query.
        types: the types of the columns.
        shared_indices: the index of each column that is sent for other rules or for the measures of
            this query.
        measure_columns: the columns that the measures of this query read.
        run_columns: the columns that conditions on the run read.

    Raises:
        MatchRecognizeUnsupportedError: a window is not a distance along its order.
    """
    keys = find_key_columns(plan)
    window = find_window_columns(plan, plan.within, types)
    gap = find_window_columns(plan, plan.row_gap, types)
    ends = find_window_end_columns(plan, types)
    read_by_run = (*run_columns.integers, *run_columns.floats)
    used = tuple(dict.fromkeys((*measure_columns, *read_by_run, *window, *gap, *ends, *keys)))
    indices = dict(shared_indices)
    for column in used:
        indices.setdefault(column, len(indices))

    def find_indices(columns: Iterable[RowColumn]) -> tuple[int, ...]:
        """Return the indices of columns among the columns that are sent."""
        return tuple(indices[column] for column in columns)

    return SentColumns(
        columns=tuple(indices),
        used=find_indices(used),
        integers=find_indices(run_columns.integers),
        floats=find_indices(run_columns.floats),
        ranked=frozenset(find_indices(run_columns.ranked)),
        keys=tuple((column.text, indices[column]) for column in keys),
        window=find_indices(window),
        distance=None if plan.within is None else plan.within.distance,
        gap=find_indices(gap),
        gap_distance=None if plan.row_gap is None else plan.row_gap.distance,
        ends=find_indices(ends),
    )


def find_output_columns(output: OutputColumn) -> Iterator[RowColumn]:
    """Yield the columns that an output column reads."""
    if isinstance(output, RowOutput):
        yield build_row_column(output.text)
    for scalar in find_output_scalars(output):
        for reference in scalar.references:
            if isinstance(reference, ColumnReference):
                yield build_row_column(reference.argument)
            elif isinstance(reference, Aggregate):
                yield from find_aggregate_columns(reference)


def find_output_scalars(output: OutputColumn) -> list[Scalar]:
    """Return the expressions over the rows of a match that an output column is computed from."""
    if isinstance(output, Measure):
        return [output.value]
    if isinstance(output, TotalOutput):
        return [] if output.measure is None else [output.measure.value]
    if isinstance(output, TimeoutOutput):
        ends = [window.end for window in output.timeouts.neighbour_windows]
        if output.timeouts.match_end is not None:
            ends.append(output.timeouts.match_end)
        return ends
    return []


def find_aggregate_columns(aggregate: Aggregate) -> Iterator[RowColumn]:
    """Yield the columns that an aggregate can read, whether the worker or Spark computes it."""
    if aggregate.frame is not None:
        yield RowColumn((build_framed_aggregate(aggregate),))
        return
    basic_form = find_basic_form(aggregate)
    if basic_form is not None and basic_form.column is not None:
        yield basic_form.column
    for term in list_inputs(aggregate):
        if reads_columns_only(term) and (term.references or is_collected_list(aggregate)):
            yield build_aggregate_term_column(term)
        for reference in term.references:
            if isinstance(reference, ColumnReference):
                yield build_row_column(reference.argument)


def find_step_columns(step: object) -> Iterator[RowColumn]:
    """Yield the columns that a step or a condition reads, also inside its operands.

    Args:
        step: a step, a condition that has steps, or the value of any of their fields.
    """
    match step:
        case RowColumn():
            yield step
        case tuple():
            for element in step:
                yield from find_step_columns(element)
        case residual.ColumnRead(missing=RowColumn()):
            yield TRUE_COLUMN
    if isinstance(step, residual.Step | residual.NearbyTest | residual.SplitCondition):
        for step_field in fields(step):
            yield from find_step_columns(getattr(step, step_field.name))


def find_window_columns(
    plan: MatchPlan, window: Within | Gap | None, types: Mapping[RowColumn, ValueType]
) -> tuple[RowColumn, ...]:
    """Return the columns of a window: the order column, and the end of the window.

    They are cast to one type, so that they can be compared: a date plus hours is a timestamp. An
    end that overflows is NULL, which the worker reports. A floating-point end never overflows.

    Args:
        plan: the plan of the query.
        window: a window of the plan, or None.
        types: the types of the columns.

    Returns:
        Both columns; only the order column if the distance of the window is known; nothing without
        a window.

    Raises:
        MatchRecognizeUnsupportedError: the window is not a distance along this order.
    """
    if window is None:
        return ()
    order, end = build_window_columns(plan, window.interval)
    order_type = types[order]
    end_type = types[end]
    are_numbers = {order_type.family, end_type.family} <= NUMBERS
    is_date_with_timestamp = order_type.family is Family.DATE and end_type.family in (
        Family.TIMESTAMP,
        Family.TIMESTAMP_NTZ,
    )
    are_comparable = order_type == end_type or are_numbers or is_date_with_timestamp
    if order_type.family in WITHOUT_DISTANCE or not are_comparable:
        raise within_not_a_length(window.interval.span)
    if window.distance is not None:
        return (order,)
    if order_type.family is not Family.FLOATING:
        end = build_row_column(write_sum_or_null(order.text, write_window_length(window.interval)))
    if order_type != end_type:
        order = cast_column(order, end_type.name)
    return order, end


def find_window_end_columns(
    plan: MatchPlan, types: Mapping[RowColumn, ValueType]
) -> tuple[RowColumn, ...]:
    """Return the ends of all windows as columns of one type.

    The result is empty unless the plan has windows between neighbours in its pattern. If some ends
    are timestamps, ends that are dates are cast to timestamps.
    """
    neighbour_ends = build_neighbour_window_columns(plan)
    if not neighbour_ends:
        return ()
    ends = neighbour_ends
    if plan.within is not None:
        ends = (build_window_columns(plan, plan.within.interval).end, *neighbour_ends)
    other_types = [types[end] for end in ends if types[end].family is not Family.DATE]
    if not other_types:
        return ends
    common_type = other_types[0].name
    return tuple(
        cast_column(end, common_type) if types[end].family is Family.DATE else end for end in ends
    )


# Guards: an expression that can raise is computed only for rows that can be mapped to its variable.
#
#     MEASURES sum(10 / A.z) ... DEFINE A AS z > 0   →   sum(CASE WHEN z > 0 THEN 10 / z END)
#
# Spark computes it for every row, before the search. So it must not raise an error on rows that are
# in no match.


def guard_reads(plan: MatchPlan) -> MatchPlan:
    """Return the plan with guards around what can raise an error on rows that are in no match.

    Aggregates get guards wherever they are written; columns get guards in measures only.
    """

    def guard_scalar(scalar: Scalar, variable: str | None) -> Scalar:
        """Return a scalar with guards around the references that can raise."""
        in_measure = variable is None
        return map_references(scalar, partial(guard_reference, plan, in_measure=in_measure))

    return map_expressions(plan, guard_scalar)


def guard_reference(plan: MatchPlan, reference: Reference, *, in_measure: bool) -> Reference:
    """Return a reference, with a guard if it can raise an error: see `guard_reads`.

    Args:
        plan: the plan of the query.
        reference: a reference in a measure or in a condition.
        in_measure: whether it is in a measure.
    """
    match reference:
        case ColumnReference() if in_measure:
            return guard_column(plan, reference)
        case Aggregate(frame=None) if reference.function != MATCHED_ROWS:
            return guard_aggregate(plan, reference)
    return reference


def guard_column(plan: MatchPlan, reference: ColumnReference) -> ColumnReference:
    """Return a column that a measure reads on a mapped row, with a guard if it can raise.

    A column that is read at a distance from a mapped row gets no guard, because that row may be
    mapped to no variable.
    """
    navigation = reference.navigation
    if navigation.physical_offset or not is_partial(reference.operations):
        return reference
    condition = find_condition_of_rows(plan, navigation.variable)
    if condition is None:
        return reference
    argument = f"CASE WHEN {write_row_sql(condition)} THEN {reference.argument} END"
    return replace(reference, argument=argument, names=())


def guard_aggregate(plan: MatchPlan, aggregate: Aggregate) -> Aggregate:
    """Return an aggregate with guards around the terms that can raise.

    A guarded term is computed only for rows that can be mapped to the variable of the aggregate and
    that pass its FILTER.
    """
    mapped_condition = find_condition_of_rows(plan, aggregate.variable)
    row_filter = aggregate.condition
    if row_filter is not None and not reads_columns_only(row_filter):
        row_filter = None

    def guard_term(term: Scalar) -> Scalar:
        """Return a term that is computed only on the rows that the aggregate reads."""
        if not reads_columns_only(term) or not term.references or not may_fail(term.operations):
            return term
        conditions = []
        if mapped_condition is not None and is_partial(term.operations):
            conditions.append(mapped_condition)
        if row_filter is not None and term is not row_filter:
            conditions.append(row_filter)
        return add_guards_to_expression(conditions, term)

    return map_inputs(aggregate, guard_term)


def find_conjuncts(
    plan: MatchPlan, conditions: Iterable[residual.SplitCondition]
) -> Mapping[RowColumn, tuple[Scalar, ...]]:
    """Return, for each test that Spark computes before the search, the conjuncts it consists of.

    From `sym = 'X' AND price >= 90 AND price < PREV(price)`, Spark computes three tests: each of
    the first two conjuncts, and both of them joined by AND.

    Args:
        plan: the plan of the query.
        conditions: the split conditions. Those that belong to no definition are left out, such as
            the tests that replace NOTs.
    """
    definitions = {definition.variable: definition.condition for definition in plan.definitions}
    conjuncts_by_test: dict[RowColumn, tuple[Scalar, ...]] = {}
    for condition in conditions:
        if condition.variable not in definitions:
            continue
        conjuncts_before_run = [
            conjunct
            for conjunct in split_conjuncts(definitions[condition.variable])
            if conjunct not in condition.run_conjuncts
        ]
        conjuncts_of_row = []
        for conjunct, test in zip(conjuncts_before_run, condition.tests, strict=True):
            if isinstance(test, RowColumn):
                conjuncts_by_test[test] = (conjunct,)
                conjuncts_of_row.append(conjunct)
        if condition.row_test is not None:
            conjuncts_by_test[condition.row_test] = tuple(conjuncts_of_row)
    return conjuncts_by_test


# Where the user wrote what Spark computes: see `errors.run.origins`.

# What Spark computes: SQL over one row (a text or a column), or a value of several rows.
ComputedValue = str | RowColumn | ShiftedValue | FramedAggregate


def find_origins(
    plan: MatchPlan, conditions: Iterable[residual.SplitCondition], outputs: Iterable[OutputColumn]
) -> Mapping[ComputedValue, SqlOrigin]:
    """Return where the user wrote each value that Spark computes before the search.

    If several parts of a query need the same value, its origin is the first of them in this order:
    partition and order columns, conditions, measures.
    """
    origins: dict[ComputedValue, SqlOrigin] = {}
    for expression in plan.sorted_by:
        clause = name_part("PARTITION BY" if expression in plan.keys else "ORDER BY")
        key_origin = make_origin(f"an expression in {clause}", clause, expression.span)
        origins.setdefault(expression.text, key_origin)
    for condition in conditions:
        add_origins(origins, find_condition_origin(condition), find_step_columns(condition))
    for output in outputs:
        if isinstance(output, Measure):
            add_origins(origins, find_measure_origin(output), find_output_columns(output))
    return origins


def add_origins(
    origins: dict[ComputedValue, SqlOrigin], new_origin: SqlOrigin, columns: Iterable[RowColumn]
) -> None:
    """Add an origin for columns, and for the values that they are computed from."""
    for column in columns:
        shifted_values = [piece for piece in column.pieces if not isinstance(piece, str)]
        for computed_value in (*find_row_texts(column), column, *shifted_values):
            origins.setdefault(computed_value, new_origin)


def find_condition_origin(condition: residual.SplitCondition) -> SqlOrigin:
    """Return where the user wrote the condition of a variable."""
    name = condition.variable
    return make_origin(
        f"the condition of `{name}`", f"{name_part('DEFINE')} {name}", condition.span
    )


def find_measure_origin(measure: Measure) -> SqlOrigin:
    """Return where the user wrote a measure."""
    name = measure.name
    return make_origin(
        f"the measure `{name}`", f"{name_part('MEASURES')} {name}", measure.value.span
    )
