"""From a plan to something that can run: the whole compile path on one screen.

    resolve → split → typed → compile → link

An `Executable` knows which columns Spark must compute before the match, the program and the engine
that match, what the output reads, and which text Spark evaluates afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from matchrec.conditions.aggregates import basic
from matchrec.conditions.residual import Combined, Grown, SplitCondition, Step, Value, VariableAt
from matchrec.conditions.row_column import Neighbours, RowColumn, cast, row_column
from matchrec.conditions.run_condition import Glue
from matchrec.conditions.split import split
from matchrec.conditions.types import NUMBERS, Family, ValueType
from matchrec.conditions.typing import TRUE_COLUMN, GlueColumns, Typer
from matchrec.conditions.within import near_columns, window_columns
from matchrec.engine.choose import choose
from matchrec.engine.interface import (
    OPTIMISED,
    Absent,
    Condition,
    Engine,
    Optimisations,
    Staged,
    Task,
)
from matchrec.engine.slices.starting_rows import Reach
from matchrec.errors.calls import engine_cannot, unconstrained_proceed
from matchrec.errors.conditions import not_measured_by
from matchrec.nfa.compile import compile_pattern
from matchrec.nfa.places import windows_of
from matchrec.nfa.program import Program
from matchrec.nfa.stages import compile_stages
from matchrec.output.pieces import Pieces, RowAggregate
from matchrec.output.read_measures import MeasureReader, is_collected, timeout_pieces
from matchrec.output.reads import Read, ReadPointer
from matchrec.output.schema import OutputColumn, PointerOutput, RowOutput, TimeoutOutput
from matchrec.output.sight import Sight, sight
from matchrec.plan.clauses import Absence, EventSelection, Measure, RowsPerMatch
from matchrec.plan.expression import (
    Aggregate,
    ColumnReference,
    looks_at_columns_only,
    references,
    row_text,
    terms,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import show
from matchrec.plan.simplify import simplify
from matchrec.plan.stages import Staging
from matchrec.pruning.irrelevant_rows import relevant_rows
from matchrec.pruning.neighbours import neighbours

SENT_ONCE = frozenset({Family.STRING, Family.BINARY})
WITHOUT_DISTANCE = frozenset({Family.STRING, Family.BINARY, Family.BOOLEAN, Family.OTHER})


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the result: SQL text over reads, by index."""

    name: str
    pieces: Pieces
    is_measure: bool


@dataclass(frozen=True, slots=True)
class Executable:
    """A linked query. Picklable: Spark carries it to its workers.

    columns: what Spark computes for every row and sends, in order; indices below count in it.
    conditions: what it computes and packs as one bit each. relevant: those of which a row must
    satisfy one to be sent at all, or none. neighbours: what a row and those beside it must satisfy
    for the row to be sent, or none. integers, floats: the columns that glue reads. ranked: those of
    them that are replaced by their rank. aggregates: those that Spark computes over the rows of
    each match. keys: the partition's, by name, for messages. once: those of which equal values
    are the same and cost much, so that only the first row of a partition brings them. ansi: whether
    overflow is an error. window: the columns of the key along which a window is measured and of the
    end of each row's window, or none. window_rows: how many rows a window has. ends: if there are
    windows between neighbours, the columns of the ends of the windows that begin with a row: that
    of the match, if it has one, then those between neighbours, the smallest first. sliced: where
    partitions are slices, with borrowed rows, how far the query looks.
    """

    pattern: str
    task: Task
    engine: Engine
    reason: str
    rows_per_match: RowsPerMatch
    columns: tuple[RowColumn, ...]
    conditions: tuple[RowColumn, ...]
    relevant: tuple[RowColumn, ...]
    neighbours: tuple[Neighbours, ...]
    integers: tuple[int, ...]
    floats: tuple[int, ...]
    ranked: frozenset[int]
    reads: tuple[Read, ...]
    aggregates: tuple[RowAggregate, ...]
    outputs: tuple[Output, ...]
    keys: tuple[tuple[str, int], ...]
    once: tuple[int, ...]
    ansi: bool
    window: tuple[int, ...] = ()
    window_rows: int | None = None
    ends: tuple[int, ...] = ()
    sliced: Reach | None = None

    @property
    def sight(self) -> Sight | None:
        """How much of a partition must be at hand beside a match; None for all of it."""
        return sight(self.task, len(self.integers), self.reads)

    def limited(self, max_steps: int | None) -> Executable:
        """The same with so many steps in a partition at most: see `Task`."""
        return replace(self, task=replace(self.task, max_steps=max_steps))


@dataclass(frozen=True, slots=True)
class Draft:
    """A resolved plan, split, before the types of its columns are known.

    relevant, neighbours: as in `Executable`.
    """

    plan: MatchPlan
    conditions: tuple[SplitCondition, ...]
    outputs: tuple[OutputColumn, ...]
    relevant: tuple[RowColumn, ...]
    neighbours: tuple[Neighbours, ...]

    @property
    def row_conditions(self) -> tuple[RowColumn, ...]:
        """The conditions that Spark evaluates before the match, each once."""
        return row_conditions(self.conditions)

    def columns(self) -> tuple[RowColumn, ...]:
        """Every column whose type the link needs, each once."""
        found: dict[RowColumn, None] = {}
        for output in self.outputs:
            found.update(dict.fromkeys(output_row_columns(output)))
        for condition in self.conditions:
            if condition.during is not None:
                found.update(dict.fromkeys(step_columns(condition.during)))
        found.update(dict.fromkeys((*window_columns(self.plan), *near_columns(self.plan))))
        found.update(dict.fromkeys(key_columns(self.plan)))
        return tuple(found)


def draft(plan: MatchPlan, outputs: tuple[OutputColumn, ...]) -> Draft:
    """Splits the conditions of a resolved plan."""
    conditions = split(plan)
    relevant = relevant_rows(plan, conditions)
    bits = row_conditions(conditions)
    beside = () if relevant else neighbours(plan, conditions, bits)
    return Draft(plan, conditions, outputs, relevant, beside)


def row_conditions(conditions: tuple[SplitCondition, ...]) -> tuple[RowColumn, ...]:
    """What Spark evaluates of conditions before the match, each once."""
    return tuple(dict.fromkeys(one.before for one in conditions if one.before is not None))


def link(
    drafted: Draft,
    types: Mapping[RowColumn, ValueType],
    engine: str,
    *,
    ansi: bool,
    optimisations: Optimisations = OPTIMISED,
) -> Executable:
    """The executable of a draft.

    types: of `drafted.columns()`. engine: "auto" or an engine's name; one that cannot run the plan
    is an error, never replaced. optimisations: those of event selection.
    """
    plan = drafted.plan
    typer = Typer(types, ansi)
    glue = {
        condition.variable: typer.condition(condition.during)
        for condition in drafted.conditions
        if condition.during is not None
    }
    task = linked_task(drafted, glue, optimisations)
    chosen, reason = able_engine(task, engine)
    measures = MeasureReader(plan, types)
    outputs = tuple(linked_output(output, measures) for output in drafted.outputs)
    window = typed_window(plan, types)
    ends = typed_ends(plan, types)
    columns = all_columns(measures.columns, typer.columns, (*window, *ends, *key_columns(plan)))
    index = {column: place for place, column in enumerate(columns)}
    return Executable(
        pattern=show(plan.pattern),
        task=task,
        engine=chosen,
        reason=reason,
        rows_per_match=plan.rows_per_match,
        columns=columns,
        conditions=drafted.row_conditions,
        relevant=drafted.relevant,
        neighbours=drafted.neighbours,
        integers=tuple(index[column] for column in typer.columns.integers),
        floats=tuple(index[column] for column in typer.columns.floats),
        ranked=frozenset(index[column] for column in typer.columns.ranked),
        reads=measures.all_reads(plan.rows_per_match),
        aggregates=tuple(measures.aggregates),
        outputs=outputs,
        keys=tuple((column.text, index[column]) for column in key_columns(plan)),
        once=tuple(index[column] for column in sent_once(plan, types)),
        ansi=ansi,
        window=tuple(index[column] for column in window),
        window_rows=plan.within_rows,
        ends=tuple(index[column] for column in ends),
    )


def linked_task(drafted: Draft, glue: Mapping[str, Glue], optimisations: Optimisations) -> Task:
    """What an engine is asked. glue: by variable."""
    plan = drafted.plan
    return Task(
        compiled_program(plan, optimisations),
        plan.variables,
        tuple(task_conditions(plan, drafted.conditions, drafted.row_conditions, glue)),
        {name: plan.members(name) for name in names(plan)},
        plan.after_match,
        plan.selection,
        plan.output,
        tuple(absent(plan, absence) for absence in plan.absences),
        None if plan.closing is None else plan.variables.index(plan.closing),
        optimisations,
        plan.within is not None or plan.within_rows is not None,
        None if plan.staging is None else staged(plan, plan.staging),
    )


def compiled_program(plan: MatchPlan, optimisations: Optimisations) -> Program:
    """The program of a plan's pattern."""
    if plan.staging is not None:
        return compile_stages(plan.staging.steps, plan.variables)
    constrained = optimisations.constrain_proceed
    if not constrained and plan.selection is EventSelection.SKIP_TILL_NEXT_MATCH:
        raise unconstrained_proceed()
    return compile_pattern(
        simplify(plan.pattern), plan.variables, plan.selection, constrain_proceed=constrained
    )


def staged(plan: MatchPlan, staging: Staging) -> Staged:
    """What an engine is told of stages."""
    windows = windows_of(plan, staging)
    return Staged(staging.steps, windows, staging.skip, staging.timeouts is not None)


def absent(plan: MatchPlan, absence: Absence) -> Absent:
    """An absence by ids."""
    return Absent(
        plan.variables.index(absence.variable),
        None if absence.after is None else plan.members(absence.after),
        None if absence.before is None else plan.members(absence.before),
    )


def typed_window(plan: MatchPlan, types: Mapping[RowColumn, ValueType]) -> tuple[RowColumn, ...]:
    """The two columns of the window as values of one type: a date plus hours is a timestamp."""
    window = window_columns(plan)
    if not window or plan.within is None:
        return ()
    order, bound = (types[column] for column in window)
    times = (Family.DATE, Family.TIMESTAMP), (Family.DATE, Family.TIMESTAMP_NTZ)
    alike = {order.family, bound.family} <= NUMBERS or (order.family, bound.family) in times
    if order.family in WITHOUT_DISTANCE or not (order == bound or alike):
        raise not_measured_by(plan.within.interval.span)
    return window if order == bound else (cast(window[0], bound.name), window[1])


def typed_ends(plan: MatchPlan, types: Mapping[RowColumn, ValueType]) -> tuple[RowColumn, ...]:
    """When windows end, if some are between neighbours: dates beside timestamps are timestamps."""
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


def able_engine(task: Task, name: str) -> tuple[Engine, str]:
    """The engine of that name, which can run the task, and the reason for it."""
    engine, reason = choose(task, name)
    obstacle = engine.supports(task)
    if obstacle is not None:
        raise engine_cannot(engine.name, obstacle)
    return engine, reason


def names(plan: MatchPlan) -> Iterator[str]:
    """Every primary and union variable."""
    yield from plan.variables
    yield from (subset.name for subset in plan.subsets)


def task_conditions(
    plan: MatchPlan,
    split_conditions: tuple[SplitCondition, ...],
    row_conditions: tuple[RowColumn, ...],
    glue: Mapping[str, Glue],
) -> Iterator[Condition]:
    """The condition of every variable, by id; one without DEFINE is true everywhere."""
    before = {one.variable: one.before for one in split_conditions}
    bits = {column: bit for bit, column in enumerate(row_conditions)}
    for variable in plan.variables:
        column = before.get(variable)
        bit = None if column is None else bits[column]
        yield Condition(bit, glue.get(variable))


def linked_output(output: OutputColumn, measures: MeasureReader) -> Output:
    """An output column as text over reads."""
    if isinstance(output, RowOutput):
        return Output(output.name, (measures.row(row_column(output.text)),), is_measure=False)
    if isinstance(output, TimeoutOutput):
        return Output(output.name, timeout_pieces(output.timeouts, measures), is_measure=False)
    if isinstance(output, PointerOutput):
        return Output(output.name, (measures.read(ReadPointer(output.field)),), is_measure=False)
    return Output(output.name, measures.pieces(output.value), is_measure=True)


def key_columns(plan: MatchPlan) -> tuple[RowColumn, ...]:
    """The columns by whose values a message names a partition."""
    return tuple(row_column(key.text) for key in plan.partition_by)


def sent_once(plan: MatchPlan, types: Mapping[RowColumn, ValueType]) -> tuple[RowColumn, ...]:
    """The columns by which rows are partitioned that only a partition's first row need bring."""
    keys = dict.fromkeys(key_columns(plan))
    return tuple(key for key in keys if types[key].family in SENT_ONCE)


def all_columns(
    measured: Iterable[RowColumn], glue: GlueColumns, others: Iterable[RowColumn]
) -> tuple[RowColumn, ...]:
    """Every column that crosses, each once."""
    return tuple(dict.fromkeys((*measured, *glue.integers, *glue.floats, *others)))


def output_row_columns(output: OutputColumn) -> Iterator[RowColumn]:
    """The columns that an output column reads."""
    if isinstance(output, RowOutput):
        yield row_column(output.text)
    scalars = [output.value] if isinstance(output, Measure) else []
    if isinstance(output, TimeoutOutput):
        whole = output.timeouts.whole
        scalars = [*output.timeouts.near, *([] if whole is None else [whole])]
    for reference in (one for scalar in scalars for one in references(scalar)):
        if isinstance(reference, ColumnReference):
            yield row_column(reference.argument)
        elif isinstance(reference, Aggregate):
            yield from aggregate_columns(reference)


def aggregate_columns(aggregate: Aggregate) -> Iterator[RowColumn]:
    """The columns that an aggregate may read, in its basic form and in Spark's."""
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
        case Value(column=column, missing=None):
            yield column
        case Value(column=column, missing=RowColumn() as missing):
            yield from (column, missing, TRUE_COLUMN)
        case Grown(column=RowColumn() as column):
            yield column
        case VariableAt(by_variable=columns):
            yield from columns
        case Combined(operands=operands):
            for operand in operands:
                yield from step_columns(operand)
        case _:
            return
