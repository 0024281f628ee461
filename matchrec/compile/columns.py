"""The columns that cross: those that outputs, conditions on the run, windows and messages read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from matchrec.compile.executable import Crossing
from matchrec.conditions.aggregates import basic
from matchrec.conditions.residual import (
    Combined,
    Lambda,
    ListAggregate,
    RunningAggregate,
    Step,
    Value,
    VariableAt,
)
from matchrec.conditions.row_column import RowColumn, cast, row_column
from matchrec.conditions.split_aggregates import framed
from matchrec.conditions.types import NUMBERS, SPARKS_OWN, Family, ValueType
from matchrec.conditions.typing.typer import TRUE_COLUMN, RunColumns
from matchrec.conditions.within import gap_columns, near_columns, window_columns
from matchrec.errors.conditions import not_measured_by
from matchrec.output.read_measures import is_collected
from matchrec.output.schema import OutputColumn, RowOutput, TimeoutOutput
from matchrec.plan.clauses import Measure
from matchrec.plan.expression import (
    Aggregate,
    ColumnReference,
    looks_at_columns_only,
    references,
    row_text,
    terms,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Span

SENT_ONCE = frozenset({Family.STRING, Family.BINARY})
WITHOUT_DISTANCE = SPARKS_OWN | {Family.STRING, Family.BINARY, Family.BOOLEAN}


def key_columns(plan: MatchPlan) -> tuple[RowColumn, ...]:
    """The columns by whose values a message names a partition."""
    return tuple(row_column(key.text) for key in plan.partition_by)


def find_columns_sent_once(
    plan: MatchPlan, types: Mapping[RowColumn, ValueType]
) -> tuple[RowColumn, ...]:
    """The columns by which rows are partitioned that only a partition's first row need bring."""
    keys = dict.fromkeys(key_columns(plan))
    return tuple(key for key in keys if types[key].family in SENT_ONCE)


def build_crossing(
    plan: MatchPlan,
    types: Mapping[RowColumn, ValueType],
    measured: Iterable[RowColumn],
    run: RunColumns,
) -> Crossing:
    """The columns that cross, each once. measured: those that reads know by their index."""
    keys, once = key_columns(plan), find_columns_sent_once(plan, types)
    window, ends = type_window(plan, types), type_ends(plan, types)
    gap = type_gap(plan, types)
    read = (*measured, *run.integers, *run.floats, *window, *gap, *ends, *keys)
    columns = tuple(dict.fromkeys(read))
    index = {column: place for place, column in enumerate(columns)}

    def places(those: Iterable[RowColumn]) -> tuple[int, ...]:
        return tuple(index[column] for column in those)

    return Crossing(
        columns,
        places(run.integers),
        places(run.floats),
        frozenset(places(run.ranked)),
        tuple((column.text, index[column]) for column in keys),
        places(once),
        places(window),
        None if plan.within is None else plan.within.found,
        places(gap),
        places(ends),
    )


def output_row_columns(output: OutputColumn) -> Iterator[RowColumn]:
    """The columns that an output column reads."""
    if isinstance(output, RowOutput):
        yield row_column(output.text)
    scalars = [output.value] if isinstance(output, Measure) else []
    if isinstance(output, TimeoutOutput):
        ends = (*output.timeouts.near, output.timeouts.whole)
        scalars = [end for end in ends if end is not None]
    for reference in (one for scalar in scalars for one in references(scalar)):
        if isinstance(reference, ColumnReference):
            yield row_column(reference.argument)
        elif isinstance(reference, Aggregate):
            yield from aggregate_columns(reference)


def aggregate_columns(aggregate: Aggregate) -> Iterator[RowColumn]:
    """The columns that an aggregate may read, in its basic form and in Spark's."""
    if aggregate.frame is not None:
        yield RowColumn((framed(aggregate),))
        return
    form = basic(aggregate)
    if form is not None and form.column is not None:
        yield form.column
    for term in terms(aggregate):
        if looks_at_columns_only(term) and (references(term) or is_collected(aggregate)):
            yield row_column(row_text(term))
        for piece in references(term):
            if isinstance(piece, ColumnReference):
                yield row_column(piece.argument)


def step_columns(step: Step) -> Iterator[RowColumn]:
    """The columns that a step reads."""
    match step:
        case Value(column=column, missing=missing, formula=formula, late=late):
            yield column
            if missing is not None:
                yield from (missing, TRUE_COLUMN)
            for same in (formula, late):
                if same is not None:
                    yield from step_columns(same)
        case RunningAggregate(column=RowColumn() as column, listed=listed):
            yield column
            if listed is not None:
                yield from step_columns(listed)
        case VariableAt(by_variable=columns):
            yield from columns
        case ListAggregate(columns=rows):
            for one in (one for row in rows for one in row):
                yield from (one,) if isinstance(one, RowColumn) else step_columns(one)
        case Combined(operands=operands):
            for operand in operands:
                yield from step_columns(operand)
        case Lambda(body=body):
            yield from step_columns(body)
        case _:
            return


def type_window(plan: MatchPlan, types: Mapping[RowColumn, ValueType]) -> tuple[RowColumn, ...]:
    """The two columns of the window as values of one type: a date plus hours is a timestamp."""
    if plan.within is None:
        return ()
    return type_ends_of(window_columns(plan), types, plan.within.interval.span)


def type_gap(plan: MatchPlan, types: Mapping[RowColumn, ValueType]) -> tuple[RowColumn, ...]:
    """The same of the window between a row and the next one."""
    gap = plan.row_gap
    return () if gap is None else type_ends_of(gap_columns(plan), types, gap.interval.span)


def type_ends_of(
    columns: tuple[RowColumn, ...], types: Mapping[RowColumn, ValueType], span: Span | None
) -> tuple[RowColumn, ...]:
    """An order and an end as values of one type."""
    order, bound = (types[column] for column in columns)
    times = (Family.DATE, Family.TIMESTAMP), (Family.DATE, Family.TIMESTAMP_NTZ)
    alike = {order.family, bound.family} <= NUMBERS or (order.family, bound.family) in times
    if order.family in WITHOUT_DISTANCE or not (order == bound or alike):
        raise not_measured_by(span)
    return columns if order == bound else (cast(columns[0], bound.name), columns[1])


def type_ends(plan: MatchPlan, types: Mapping[RowColumn, ValueType]) -> tuple[RowColumn, ...]:
    """When windows end, if some are between neighbours; dates among timestamps become such."""
    near = near_columns(plan)
    found = (*window_columns(plan)[1:], *near) if near else ()
    times = [types[one] for one in found if types[one].family is not Family.DATE]
    if not times:
        return found
    dates = (types[one].family is Family.DATE for one in found)
    return tuple(
        cast(one, times[0].name) if is_date else one
        for one, is_date in zip(found, dates, strict=True)
    )
