"""The columns that cross: those that outputs, conditions on the run, windows and messages read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from functools import partial

from matchrec.compile.executable import Crossing
from matchrec.conditions import residual
from matchrec.conditions.aggregates import basic, framed
from matchrec.conditions.row_column import (
    Framed,
    RowColumn,
    Shifted,
    cast,
    length_of,
    near_columns,
    row_column,
    term_column,
    texts_in,
    window_columns,
)
from matchrec.conditions.split import guard, holds_of_rows
from matchrec.conditions.types import NUMBERS, SPARKS_OWN, Family, ValueType
from matchrec.conditions.typing.typer import TRUE_COLUMN, RunColumns
from matchrec.errors.conditions import not_measured_by
from matchrec.errors.language import part
from matchrec.errors.run.origins import SqlOrigin, origin
from matchrec.output.measure_reader import MeasureReader, is_collected
from matchrec.output.schema import OutputColumn, RowOutput, TimeoutOutput, TotalOutput
from matchrec.plan.clauses import Gap, Measure, Within
from matchrec.plan.expression import (
    MATCHED_ROWS,
    Aggregate,
    ColumnReference,
    Reference,
    Scalar,
    looks_at_columns_only,
    row_text,
    terms,
    with_references,
    with_terms,
)
from matchrec.plan.match_plan import MatchPlan, with_expressions
from matchrec.plan.operations import is_partial, may_fail
from matchrec.plan.text import sum_or_null

WITHOUT_DISTANCE = SPARKS_OWN | {Family.STRING, Family.BINARY, Family.BOOLEAN}


def key_columns(plan: MatchPlan) -> tuple[RowColumn, ...]:
    """The columns by whose values a message names a partition."""
    return tuple(row_column(key.text) for key in plan.partition_by)


def further_keys(plan: MatchPlan) -> tuple[RowColumn, ...]:
    """What divides the partitions further, such as an equivalence test."""
    known = key_columns(plan)
    keys = dict.fromkeys(row_column(part.text) for part in plan.equal)
    return tuple(key for key in keys if key not in known)


def build_crossing(
    plan: MatchPlan, types: Mapping[RowColumn, ValueType], measures: MeasureReader, run: RunColumns
) -> Crossing:
    """The columns that cross, each once: those of measures, and others that are added to them."""
    keys = key_columns(plan)
    within, row_gap = plan.within, plan.row_gap
    window, gap = (type_window(plan, one, types) for one in (within, row_gap))
    ends = type_ends(plan, types)
    for column in (*run.integers, *run.floats, *window, *gap, *ends, *keys):
        measures.place(column)
    index = measures.columns

    def places(those: Iterable[RowColumn]) -> tuple[int, ...]:
        return tuple(map(index.__getitem__, those))

    return Crossing(
        tuple(measures.crossing),
        tuple(index.values()),
        places(run.integers),
        places(run.floats),
        frozenset(places(run.ranked)),
        tuple((column.text, index[column]) for column in keys),
        places(window),
        within.distance if within else None,
        places(gap),
        row_gap.distance if row_gap else None,
        places(ends),
    )


def output_row_columns(output: OutputColumn) -> Iterator[RowColumn]:
    if isinstance(output, RowOutput):
        yield row_column(output.text)
    scalars = [output.value] if isinstance(output, Measure) else []
    if isinstance(output, TotalOutput):
        scalars = [output.measure.value] if output.measure else []
    if isinstance(output, TimeoutOutput):
        ends = (*output.timeouts.near, output.timeouts.whole)
        scalars = [end for end in ends if end is not None]
    for scalar in scalars:
        for reference in scalar.references:
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
        if looks_at_columns_only(term) and (term.references or is_collected(aggregate)):
            yield term_column(term)
        for piece in term.references:
            if isinstance(piece, ColumnReference):
                yield row_column(piece.argument)


def step_columns(step: object) -> Iterator[RowColumn]:
    """The columns that a step, or a condition of steps, reads, wherever they stand in it."""
    match step:
        case RowColumn():
            yield step
        case tuple():
            for one in step:
                yield from step_columns(one)
        case residual.Value(missing=RowColumn()):
            yield TRUE_COLUMN
    if isinstance(step, residual.Step | residual.Nearby | residual.SplitCondition):
        for part_of_step in fields(step):
            yield from step_columns(getattr(step, part_of_step.name))


def type_window(
    plan: MatchPlan, window: Within | Gap | None, types: Mapping[RowColumn, ValueType]
) -> tuple[RowColumn, ...]:
    """The order and the end of a window, if there is one, as values of one type: a date plus hours
    is a timestamp. The order alone where it is known how far the window reaches.

    An end that overflows is NULL, which the worker reports; one of a float does not.
    """
    if window is None:
        return ()
    start, end = window_columns(plan, window)
    order, bound = types[start], types[end]
    times = (Family.DATE, Family.TIMESTAMP), (Family.DATE, Family.TIMESTAMP_NTZ)
    alike = {order.family, bound.family} <= NUMBERS or (order.family, bound.family) in times
    if order.family in WITHOUT_DISTANCE or not (order == bound or alike):
        raise not_measured_by(window.interval.span)
    if window.distance is not None:
        return (start,)
    if order.family is not Family.FLOATING:
        end = row_column(sum_or_null(start.text, length_of(window.interval)))
    return (start if order == bound else cast(start, bound.name)), end


def type_ends(plan: MatchPlan, types: Mapping[RowColumn, ValueType]) -> tuple[RowColumn, ...]:
    """When windows end, if some are between neighbours; dates among timestamps become such."""
    near = near_columns(plan)
    if not near:
        return ()
    found = (*window_columns(plan, plan.within)[1:], *near)
    times = [types[column] for column in found if types[column].family is not Family.DATE]
    if not times:
        return found
    return tuple(
        cast(column, times[0].name) if types[column].family is Family.DATE else column
        for column in found
    )


# What is read of a row because it is mapped to a variable: computed where that may be.
#
#     MEASURES sum(10 / A.z) ... DEFINE A AS z > 0   →   sum(CASE WHEN z > 0 THEN 10 / z END)
#
# Spark computes it for every row, before the match; it must not fail on rows that no match has.


def guard_reads(plan: MatchPlan) -> MatchPlan:
    """The plan with guards around what may fail: in aggregates, and in navigation of measures."""

    def guarded(scalar: Scalar, variable: str | None) -> Scalar:
        return with_references(scalar, partial(guard_read, plan, of_measure=variable is None))

    return with_expressions(plan, guarded)


def guard_read(plan: MatchPlan, reference: Reference, *, of_measure: bool) -> Reference:
    """An aggregate, or a column that a measure reads, with a guard where it may fail."""
    match reference:
        case ColumnReference(navigation=navigation) if of_measure:
            # a row at a distance from a mapped one may be mapped to no variable
            if navigation.physical_offset or not is_partial(reference.operations):
                return reference
            known = holds_of_rows(plan, navigation.variable)
            if known is not None:
                argument = f"CASE WHEN {row_text(known)} THEN {reference.argument} END"
                return replace(reference, argument=argument, names=())
        case Aggregate(frame=None) if reference.function != MATCHED_ROWS:
            return guard_aggregate(plan, reference)
    return reference


def guard_aggregate(plan: MatchPlan, aggregate: Aggregate) -> Aggregate:
    """Its terms, of rows that are mapped to its variable and that its FILTER lets pass."""
    known = holds_of_rows(plan, aggregate.variable)
    mapped = [] if known is None else [known]
    condition = aggregate.condition
    passing = [] if condition is None or not looks_at_columns_only(condition) else [condition]

    def guarded(term: Scalar) -> Scalar:
        if not looks_at_columns_only(term) or not term.references or not may_fail(term.operations):
            return term
        others = [] if term is condition else passing
        return guard([*(mapped if is_partial(term.operations) else ()), *others], term)

    return with_terms(aggregate, guarded)


# Where the user wrote what Spark computes: see `errors.run.origins`.

Computed = str | RowColumn | Shifted | Framed  # SQL over one row, or what is of several rows


def find_origins(
    plan: MatchPlan, conditions: Iterable[residual.SplitCondition], outputs: Iterable[OutputColumn]
) -> Mapping[Computed, SqlOrigin]:
    """The origin of all that is computed before the match; of what several ask for, the first."""
    found: dict[Computed, SqlOrigin] = {}
    for key in plan.sorted_by:
        clause = part("PARTITION BY" if key in plan.keys else "ORDER BY")
        found.setdefault(key.text, origin(f"an expression in {clause}", clause, key.span))
    for condition in conditions:
        name = condition.variable
        known = origin(f"the condition of `{name}`", f"{part('DEFINE')} {name}", condition.span)
        add(found, known, step_columns(condition))
    for output in outputs:
        if isinstance(output, Measure):
            add(found, of_measure(output), output_row_columns(output))
    return found


def add(found: dict[Computed, SqlOrigin], known: SqlOrigin, columns: Iterable[RowColumn]) -> None:
    for column in columns:
        shifted = (piece for piece in column.pieces if not isinstance(piece, str))
        for one in (*texts_in(column), column, *shifted):
            found.setdefault(one, known)


def of_measure(measure: Measure) -> SqlOrigin:
    name = measure.name
    return origin(f"the measure `{name}`", f"{part('MEASURES')} {name}", measure.value.span)
