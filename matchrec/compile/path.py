"""From a plan to something that can run: the whole compile path on one screen.

`draft`: resolve → guard reads → output columns → compile the row pattern → find windows → make
tests of NOTs → split → prune.
Once Spark has said what types the columns of the draft have, `type_conditions`: by them it is known
whether the workers can sort. Then `link`: choose → build the task → what is read → executable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from operator import attrgetter

from matchrec.compile.columns import (
    ComputedValue,
    build_crossing,
    find_dividing_columns,
    find_key_columns,
    find_measure_origin,
    find_origins,
    find_output_columns,
    find_step_columns,
    guard_reads,
)
from matchrec.compile.executable import Executable, Output, TotalledColumn
from matchrec.compile.negation import compile_negations
from matchrec.compile.totals import link_totals
from matchrec.conditions.functions.function import Settings
from matchrec.conditions.residual import Nearby, SplitCondition, Typed
from matchrec.conditions.row_column import (
    EVERYWHERE,
    OrderType,
    RowColumn,
    near_columns,
    row_column,
    show_column,
    window_columns,
)
from matchrec.conditions.run_condition import Call, MathFunction, Operate, RunExpression, parts_of
from matchrec.conditions.split import RowScope, split
from matchrec.conditions.types import NESTED, ValueType, is_wide_decimal
from matchrec.conditions.typing.steps import StepTyper
from matchrec.conditions.typing.typer import IN_UTC, RunColumns, Typer
from matchrec.engine.engines import choose
from matchrec.engine.interface import Absent, Condition, NearbyCondition, Staged, Task
from matchrec.errors.conditions import only_spark_computes
from matchrec.errors.run.origins import SqlOrigin
from matchrec.nfa.closure import Choice, is_needed
from matchrec.nfa.compile import CompiledPattern, compile_pattern
from matchrec.output import schema
from matchrec.output.measure_reader import MeasureReader, timeout_pieces
from matchrec.output.reads import ReadPointer
from matchrec.plan.clauses import Absence
from matchrec.plan.expression import conjuncts
from matchrec.plan.match_plan import EVERYTHING, MatchPlan, Use
from matchrec.plan.operations import is_partial
from matchrec.plan.pattern import negations, show
from matchrec.plan.resolve import InputColumns, resolve
from matchrec.pruning.condition_windows import (
    find_condition_window,
    gaps_as_conditions,
    measure_windows,
)
from matchrec.pruning.irrelevant_rows import find_relevance_tests
from matchrec.pruning.locality import Shortcut, why_not
from matchrec.shortcuts import taken


@dataclass(frozen=True)
class Draft:
    """A query before the types of its columns are known.

    relevant: as in `Executable`, once it is pruned. observed: truth values that are no
    variable's condition, Spark's or the worker's. written: the plan as it was written; `plan` may
    have other windows. scope: of conditions that Spark computes. origins: where the user wrote what
    Spark computes. sends_all: whether all rows cross, whatever the matches need.
    """

    plan: MatchPlan
    written: MatchPlan
    pattern: CompiledPattern
    conditions: tuple[SplitCondition, ...]
    outputs: tuple[schema.OutputColumn, ...]
    relevant: tuple[RowColumn, ...] = ()
    observed: tuple[RowColumn | Nearby, ...] = ()
    scope: RowScope = RowScope.NEIGHBOURS
    origins: Mapping[ComputedValue, SqlOrigin] = field(default_factory=dict)
    sends_all: bool = False

    @cached_property
    def row_conditions(self) -> tuple[RowColumn, ...]:
        """The truth values that Spark computes before the match, each once.

        Not that of a stage without a condition: other passes may ask a TRUE that was written.
        """
        conditions = [one.before for one in self.conditions]
        if self.plan.staging is not None:
            conditions = [one for one in conditions if one != EVERYWHERE]
        tests = (*conditions, *self.observed)
        return tuple(dict.fromkeys(one for one in tests if isinstance(one, RowColumn)))

    def columns(self) -> tuple[RowColumn, ...]:
        """Every column whose type the link needs, each once."""
        steps = [one.during for one in self.conditions if one.during is not None]
        tests = (*map(attrgetter("nearby"), self.conditions), *self.observed)
        steps += [test.step for test in tests if isinstance(test, Nearby)]
        found = (
            *chain.from_iterable(map(find_output_columns, self.outputs)),
            *chain.from_iterable(map(find_step_columns, steps)),
            *window_columns(self.plan, self.plan.within),
            *window_columns(self.plan, self.plan.row_gap),
            *near_columns(self.plan),
            *find_key_columns(self.plan),
        )
        return tuple(dict.fromkeys(found))

    @property
    def needs_spark(self) -> str | None:
        """Why Spark must sort the rows: what it computes of several of them; None if nothing."""
        for column in (*self.row_conditions, *self.columns()):
            if not column.looks_at_one_row:
                shown = show_column(column)
                return f"{shown} spans several rows, and only Spark can compute it"
        return None

    @property
    def tests_may_fail(self) -> bool:
        """Whether what is asked of rows before the match may fail, but for sums."""
        rest = {part for one in self.conditions for part in one.rest}
        parts = (part for one in self.plan.definitions for part in conjuncts(one.condition))
        return any(is_partial(part.operations) for part in parts if part not in rest)

    def prune(self) -> Draft:
        reads_neighbours = any(one.nearby is not None for one in self.conditions)  # and needs all
        knows_a_row = any(one.before is not None for one in self.conditions)
        if reads_neighbours or not knows_a_row or self.sends_all:
            return replace(self, relevant=())
        found = find_relevance_tests(self.plan, self.pattern, self.conditions)
        return replace(self, relevant=found)

    def narrow(self, outputs: tuple[schema.OutputColumn, ...]) -> Draft:
        """The draft with these outputs only, so that more rows may be left out."""
        measures = tuple(measure for measure in self.plan.measures if measure in outputs)
        plan, written = (replace(one, measures=measures) for one in (self.plan, self.written))
        return replace(self, plan=plan, written=written, outputs=outputs).prune()


# Conditions that the worker computes for all rows before the match, since it sorts them.
#
# They are typed as conditions on the run are. What would be slower than Spark's sort, or not what
# Spark computes to the last bit, is refused here: such a query is one for Spark's sort.


@dataclass(frozen=True, slots=True)
class RowBits:
    """The bits of row conditions, of one query or of several that share them.

    spark: of what Spark computes. worker: of what a worker computes, once for all queries that
    divide the partitions alike; these follow Spark's.
    """

    spark: Mapping[RowColumn, int]
    worker: dict[object, int] = field(default_factory=dict)

    @staticmethod
    def of(conditions: tuple[RowColumn, ...]) -> RowBits:
        return RowBits({column: bit for bit, column in enumerate(conditions)})

    def number_nearby(self, *key: object) -> int:
        """The bit of a condition over neighbours. key: what tells it from others."""
        return self.worker.setdefault(key, len(self.spark) + len(self.worker))

    def of_spark(self, condition: SplitCondition) -> int | None:
        """The bit of what Spark computes of a condition; None where that holds of every row."""
        return None if condition.before is None else self.spark.get(condition.before)


def link_nearby(drafted: Draft, typer: Typer, bits: RowBits) -> tuple[NearbyCondition, ...]:
    """The conditions of a draft that the worker computes, each once.

    Raises MatchRecognizeUnsupportedError for what only Spark computes.
    """
    asked = [
        (condition.variable, condition.nearby, bits.of_spark(condition))
        for condition in drafted.conditions
        if condition.nearby is not None
    ]
    asked += [
        (show_column(one.column), one, None) for one in drafted.observed if isinstance(one, Nearby)
    ]
    divided_by = find_dividing_columns(drafted.plan)
    found: dict[tuple[int | None, RowColumn], NearbyCondition] = {}
    for variable, nearby, row_condition in asked:
        key = row_condition, nearby.column
        if key not in found:
            expression = type_nearby(nearby, typer)
            bit = bits.number_nearby(divided_by, *key)
            found[key] = NearbyCondition(expression, *key, bit, variable)
    return tuple(found.values())


def type_nearby(nearby: Nearby, typer: Typer) -> RunExpression:
    """Its expression. Raises MatchRecognizeUnsupportedError for what only Spark computes."""
    typed = typer.type_step(nearby.step)
    expression = typer.placed(typer.truth(typed))
    found = list(operations(typed))
    calls = any(
        isinstance(part, Call)
        or (isinstance(part, Operate) and isinstance(part.operator, MathFunction))
        for part in parts_of(expression)
    )
    wide = any(is_wide_decimal(one.type) for one in found)
    if calls or wide or any(part.type.family in NESTED for one in found for part in one.parts):
        raise only_spark_computes(nearby.step.span, condition=show_column(nearby.column))
    return expression


def operations(typed: Typed) -> Iterator[Typed]:
    if typed.parts:
        yield typed
    for part in typed.parts:
        yield from operations(part)


def build_task(drafted: Draft, conditions: TypedConditions) -> Task:
    plan, staging = drafted.plan, drafted.plan.staging
    of_spark = conditions.bits.of_spark
    worker = {(one.row_condition, one.column): one.bit for one in conditions.nearby}
    bits = {
        one.variable: worker[of_spark(one), one.nearby.column] if one.nearby else of_spark(one)
        for one in drafted.conditions
    }
    variables = drafted.pattern.program.variables
    return Task(
        drafted.pattern,
        tuple(Condition(bits.get(one), conditions.during.get(one)) for one in variables),
        {name: plan.members[name] for name in (*plan.variables, *plan.unions)},
        plan.after_match,
        plan.selection,
        plan.output,
        tuple(map(partial(absent, plan), plan.absences)),
        None if plan.closing is None else plan.variables.index(plan.closing),
        (plan.within, plan.within_rows, plan.row_gap) != (None, None, None),
        None if staging is None else Staged(staging.skip, staging.timeouts is not None),
        plan.partial,
        most_matches=None if plan.first_matches is None else plan.first_matches.count,
    )


def absent(plan: MatchPlan, absence: Absence) -> Absent:
    after, before = (
        None if names is None else frozenset[int]().union(*(plan.members[one] for one in names))
        for names in (absence.after, absence.before)
    )
    return Absent(plan.variables.index(absence.variable), after, before)


def draft(  # noqa: PLR0913 -- each is known to another caller
    plan: MatchPlan,
    columns: InputColumns,
    name_of: Callable[[str], str],
    scope: RowScope = RowScope.NEIGHBOURS,
    type_of_order: Callable[[str], OrderType] | None = None,
    use: Use = EVERYTHING,
) -> Draft:
    """The draft of a plan over an input with these columns.

    name_of: see `schema.output_columns`. scope: of conditions that Spark computes. type_of_order:
    of the text of an order column; without it no condition is found to be a window, and ends of
    windows are sums. use: what the query around the clause reads of its rows.

    Raises MatchRecognizeError for all that is wrong with a query, whatever the types are.
    """
    resolved = resolve(plan, columns)
    guarded = guard_reads(resolved)
    outputs = schema.output_columns(guarded, columns, name_of, use)
    compiled = compile_pattern(guarded)
    in_windows = guarded
    if type_of_order is not None and guarded.intervals:
        in_windows = measure_windows(guarded, type_of_order(guarded.order_by[0].expression.text))
    if in_windows.gaps:
        in_windows = gaps_as_conditions(in_windows, compiled.follow)
    if type_of_order is not None and taken().windows:
        in_windows = find_condition_window(in_windows, compiled.follow, type_of_order)
    if negations(in_windows.pattern):
        pattern, conditions = compile_negations(in_windows, compiled, scope)
    else:
        pattern, conditions = compiled, split(in_windows, scope)
    drafted = Draft(
        in_windows,
        resolved,
        pattern,
        conditions,
        outputs,
        scope=scope,
        origins=find_origins(guarded, conditions, outputs),
    )
    return drafted.prune()


@dataclass(frozen=True)
class TypedConditions:
    """What a search and a worker compute of a draft's conditions.

    types: of the columns of the draft. during: by variable, what depends on the run. columns: those
    that the expressions read. bits: of row conditions. ansi, session: the session's settings.
    """

    types: Mapping[RowColumn, ValueType]
    during: Mapping[str, RunExpression]
    nearby: tuple[NearbyCondition, ...]
    columns: RunColumns
    bits: RowBits
    ansi: bool
    session: Settings


def type_conditions(
    drafted: Draft,
    types: Mapping[RowColumn, ValueType],
    *,
    ansi: bool,
    session: Settings = IN_UTC,
    bits: RowBits | None = None,
) -> TypedConditions:
    """The conditions of a draft that Spark does not compute.

    types: of `drafted.columns()`. ansi, session: the session's settings. bits: where several drafts
    share them.
    Raises MatchRecognizeUnsupportedError for what the types do not allow.
    """
    typer = StepTyper(types, ansi, session)
    during = {
        condition.variable: typer.condition(condition.during)
        for condition in drafted.conditions
        if condition.during is not None
    }
    known = RowBits.of(drafted.row_conditions) if bits is None else bits
    nearby = link_nearby(drafted, typer, known)
    return TypedConditions(types, during, nearby, typer.columns, known, ansi, session)


def link(
    drafted: Draft,
    conditions: TypedConditions,
    algorithm: str,
    crossing: dict[RowColumn, int] | None = None,
) -> Executable:
    """The executable of a draft. conditions: its own. crossing: the places of the columns that
    cross for others, to which its own are added.

    algorithm: "auto" or a name; one that cannot run the plan is an error, never replaced.
    """
    plan, types = drafted.plan, conditions.types
    task, spark = build_task(drafted, conditions), conditions.bits.spark
    measures = MeasureReader(plan, types, {} if crossing is None else crossing, conditions.session)
    outputs = tuple(map(partial(link_output, measures=measures), drafted.outputs))
    totalled: tuple[TotalledColumn, ...] = ()
    if plan.totals is not None:
        task, totalled = link_totals(plan, plan.totals, task, measures)
    strategy, reason = choose(task, algorithm)
    return Executable(
        pattern=show(plan.pattern),
        task=task,
        strategy=strategy,
        reason=reason,
        rows_per_match=plan.rows_per_match,
        crossing=build_crossing(plan, types, measures, conditions.columns),
        conditions=tuple(spark),
        used_bits=tuple(map(spark.__getitem__, drafted.row_conditions)),
        relevant=drafted.relevant,
        reads=measures.all_reads(plan.rows_per_match),
        aggregates=tuple(measures.aggregates),
        outputs=outputs,
        ansi=conditions.ansi,
        window_rows=plan.within_rows,
        totalled=totalled,
        nearby=conditions.nearby,
        needed=find_needed(drafted, conditions.bits),
        in_chunks=taken().pieces and not why_not(Shortcut.PIECES, plan, drafted.pattern.follow),
    )


def find_needed(drafted: Draft, bits: RowBits) -> tuple[int, ...]:
    """The bits of Spark's conditions of which each holds of some row of every partition from which
    anything comes out.
    """
    plan, pattern = drafted.plan, drafted.pattern
    by_name = {one.variable: bits.of_spark(one) for one in drafted.conditions}
    known = {bit for bit in by_name.values() if bit is not None}
    if not (known and taken().partitions) or why_not(Shortcut.PARTITIONS, plan, pattern.follow):
        return ()
    by_variable = dict(enumerate(map(by_name.get, pattern.program.variables)))

    def asks(choice: Choice, bit: int) -> bool:
        asked = choice.variable if choice.test is None else choice.test
        return asked is not None and by_variable.get(asked) == bit

    folding = pattern.folding
    return tuple(bit for bit in sorted(known) if is_needed(folding, partial(asks, bit=bit)))


def link_output(output: schema.OutputColumn, measures: MeasureReader) -> Output:
    if isinstance(output, schema.RowOutput):
        return Output(output.name, (measures.row(row_column(output.text)),), is_measure=False)
    if isinstance(output, schema.TimeoutOutput):
        return Output(output.name, timeout_pieces(output.timeouts, measures), is_measure=False)
    if isinstance(output, schema.TotalOutput):
        value = None if output.measure is None else output.measure.value
        return Output(output.name, (measures.total(output.asked, value),), is_measure=False)
    if isinstance(output, schema.PointerOutput):
        return Output(output.name, (measures.read(ReadPointer(output.field)),), is_measure=False)
    pieces = measures.pieces(output.value)
    return Output(output.name, pieces, not output.over_rows, find_measure_origin(output))
