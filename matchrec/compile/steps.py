"""The steps of compilation, each a function: `spark.compile.compile_query` takes them in order.

- `resolve_query` turns a `MatchPlan` into a `ResolvedQuery`. It does what needs neither types nor
  a choice of who sorts: it resolves names, guards what can raise an error, lists the output
  columns, compiles the row pattern, and finds windows.
- `split_query` turns the `ResolvedQuery` into a `SplitQuery`. It splits the conditions for who
  reads neighbouring rows, replaces NOTs by tests, and finds rows that need not be sent.
- `join_query` turns the `SplitQuery` into a `JoinedQueries`, which says what Spark computes of each
  row. `compile.rule_set.join_rule_queries` joins the queries of several rules, so that they share
  rows and bits.
- `type_conditions` types the conditions that Spark does not compute. It rejects a condition that
  the workers cannot compute exactly as Spark does.
- `build_compiled_query` makes reads of measures, builds the task of the search, and chooses its
  strategy.

No step changes what it gets, so conditions can be split again for another choice of who sorts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from typing import NamedTuple

from matchrec.automaton.compile import compile_pattern
from matchrec.automaton.compiled_pattern import CompiledPattern
from matchrec.automaton.facts import needs_marked_choice
from matchrec.automaton.folding import Choice
from matchrec.compile.columns import (
    ComputedValue,
    build_sent_columns,
    find_conjuncts,
    find_dividing_columns,
    find_key_columns,
    find_measure_origin,
    find_origins,
    find_output_columns,
    find_step_columns,
    guard_reads,
)
from matchrec.compile.compiled_query import CompiledQuery, ResultColumn, TotalledColumn
from matchrec.compile.negation import compile_negations
from matchrec.compile.pruning.condition_windows import (
    find_condition_window,
    measure_windows,
    replace_gaps_by_conditions,
)
from matchrec.compile.pruning.irrelevant_rows import find_row_filters
from matchrec.compile.pruning.locality import Shortcut, find_obstacle
from matchrec.compile.totals import link_totals
from matchrec.conditions.functions.function import SessionSettings
from matchrec.conditions.residual import NearbyTest, SplitCondition, TypedStep
from matchrec.conditions.row_column import ALWAYS_TRUE, RowColumn, build_row_column, show_column
from matchrec.conditions.run_condition import (
    MathFunction,
    PythonExpression,
    RunExpression,
    RunOperation,
    walk_expression,
)
from matchrec.conditions.split import RowScope, split_conditions
from matchrec.conditions.types import NESTED, ValueType, is_wide_decimal
from matchrec.conditions.typing.steps import StepTyper
from matchrec.conditions.typing.typer import DEFAULT_SETTINGS, RunColumns, Typer
from matchrec.conditions.window_columns import OrderType, list_window_columns
from matchrec.errors.conditions import only_engine_can_compute
from matchrec.errors.run.origins import SqlOrigin
from matchrec.output import schema
from matchrec.output.read_collector import ReadCollector
from matchrec.output.reads import ReadPointer
from matchrec.plan.clauses import Absence, Measure
from matchrec.plan.expression import Scalar, split_conjuncts
from matchrec.plan.match_plan import EVERYTHING, MatchPlan, ResultUse
from matchrec.plan.operations import is_partial
from matchrec.plan.pattern import list_negations, show_pattern
from matchrec.plan.resolve import InputColumns, resolve
from matchrec.search.strategies import choose
from matchrec.search.task import AbsenceCondition, Condition, NearbyCondition, StageOptions, Task
from matchrec.shortcuts import current_shortcuts


@dataclass(frozen=True)
class ResolvedQuery:
    """A query whose names are resolved and whose row pattern is compiled."""

    # The plan as it runs. Conditions may have become windows, and windows conditions.
    plan: MatchPlan
    # The plan as the user wrote it, with names resolved.
    written_plan: MatchPlan
    # The row pattern. In a split query, it has tests instead of NOTs.
    pattern: CompiledPattern
    # The columns of the result that the query around the clause uses.
    outputs: tuple[schema.OutputColumn, ...]
    # All columns of the result, in their order. Those that nobody uses are checked, not computed.
    all_outputs: tuple[schema.OutputColumn, ...]

    @cached_property
    def unused_outputs(self) -> tuple[schema.OutputColumn, ...]:
        """Return the columns of the result that nobody uses."""
        if self.outputs == self.all_outputs:  # fast, also for thousands of columns
            return ()
        return tuple(output for output in self.all_outputs if output not in self.outputs)


@dataclass(frozen=True)
class SplitQuery(ResolvedQuery):
    """A resolved query whose conditions are split. The types of its columns are not known yet."""

    # The conditions of variables and tests, in parts. A variable without a condition has no entry.
    conditions: tuple[SplitCondition, ...]
    # Filters. A row is sent if it passes at least one of them; all rows are sent if there are none.
    row_filters: tuple[RowColumn, ...] = ()
    # Truth values of rows that belong to no condition of this query but are needed for something
    # else, such as coverage. Spark or the worker computes them.
    observed: tuple[RowColumn | NearbyTest, ...] = ()
    # Who reads neighbouring rows for the conditions.
    scope: RowScope = RowScope.SPARK
    # Where the user wrote what Spark computes, for messages.
    origins: Mapping[ComputedValue, SqlOrigin] = field(default_factory=dict)
    # What the tests that Spark computes consist of, joined by AND, if that is known. Their types
    # can be found from it.
    conjuncts: Mapping[RowColumn, tuple[Scalar, ...]] = field(default_factory=dict)

    @cached_property
    def row_conditions(self) -> tuple[RowColumn, ...]:
        """Return the truth values that Spark computes before the match, each once.

        A condition that is always true is left out for stages. It is kept for variables of other
        patterns, because later steps look up the bit of a TRUE that the user wrote.
        """
        row_tests = [condition.row_test for condition in self.conditions]
        if self.plan.staging is not None:
            row_tests = [test for test in row_tests if test != ALWAYS_TRUE]
        tests = (*row_tests, *self.observed)
        return tuple(dict.fromkeys(test for test in tests if isinstance(test, RowColumn)))

    @cached_property
    def columns(self) -> tuple[RowColumn, ...]:
        """Return every column whose type must be known to compile the query, each once."""
        run_steps = [condition.run_step for condition in self.conditions]
        steps = [step for step in run_steps if step is not None]
        steps += [test.step for _, test in self.find_nearby_tests()]
        columns = (
            *chain.from_iterable(find_output_columns(output) for output in self.all_outputs),
            *chain.from_iterable(find_step_columns(step) for step in steps),
            *list_window_columns(self.plan),
            *find_key_columns(self.plan),
        )
        return tuple(dict.fromkeys(columns))

    def find_nearby_tests(self) -> list[tuple[SplitCondition, NearbyTest]]:
        """Return the truth values that the worker computes, each with its condition.

        The conditions of variables come first. An observed truth value is a condition by itself,
        with its text instead of a variable.
        """
        tests = [
            (condition, condition.nearby_test)
            for condition in self.conditions
            if condition.nearby_test is not None
        ]
        for test in self.observed:
            if isinstance(test, NearbyTest):
                text = show_column(test.column)
                tests.append((SplitCondition(text, span=None, nearby_test=test), test))
        return tests

    @property
    def reason_for_spark_sort(self) -> str | None:
        """Return why Spark must sort the rows; None if the workers may be able to.

        Spark must sort if it has to compute a value of several rows.
        """
        for column in (*self.row_conditions, *self.columns):
            if not column.reads_one_row:
                return (
                    f"only the engine can compute {show_column(column)}, which reads several rows"
                )
        return None

    @property
    def can_raise_before_match(self) -> bool:
        """Return whether a condition on rows before the match can raise an error.

        Sums do not count: their overflow is checked where they are added up.
        """
        conjuncts_of_run = {
            part for condition in self.conditions for part in condition.run_conjuncts
        }
        return any(
            is_partial(conjunct.operations)
            for definition in self.plan.definitions
            for conjunct in split_conjuncts(definition.condition)
            if conjunct not in conjuncts_of_run
        )

    def compute_unused_outputs(self) -> SplitQuery:
        """Return the query of the columns that nobody uses, instead of those that are used."""
        outputs = self.unused_outputs
        measures = tuple(output for output in outputs if isinstance(output, Measure))
        return replace(self, plan=replace(self.plan, measures=measures), outputs=outputs)


def resolve_query(
    plan: MatchPlan,
    columns: InputColumns,
    name_expression: Callable[[str], str],
    find_order_type: Callable[[str], OrderType] | None = None,
    use: ResultUse = EVERYTHING,
) -> ResolvedQuery:
    """Resolve a plan over an input with these columns, and compile its row pattern.

    Args:
        plan: the plan of the query.
        columns: the columns of the input.
        name_expression: returns the name of an output column: see `schema.find_output_columns`.
        find_order_type: returns the type of an order column, given as text. If it is None, no
            condition becomes a window, and the end of a window is computed as a sum.
        use: what the query around the clause uses of its result.

    Raises:
        MatchRecognizeError: the query is wrong, whatever the types of its columns are.
    """
    resolved = resolve(plan, columns)
    guarded = guard_reads(resolved)
    all_outputs = schema.find_output_columns(guarded, columns, name_expression, use)
    outputs = choose_outputs(all_outputs, use)
    pattern = compile_pattern(guarded)
    windowed = find_windows(guarded, pattern, find_order_type)
    written_plan = resolved
    if outputs != all_outputs:
        measures = tuple(measure for measure in windowed.measures if measure in outputs)
        windowed = replace(windowed, measures=measures)
        written_plan = replace(resolved, measures=measures)
    return ResolvedQuery(
        plan=windowed,
        written_plan=written_plan,
        pattern=pattern,
        outputs=outputs,
        all_outputs=all_outputs,
    )


def choose_outputs(
    outputs: tuple[schema.OutputColumn, ...], use: ResultUse
) -> tuple[schema.OutputColumn, ...]:
    """Return the columns of the result that are computed: those that are used, but at least one.

    Args:
        outputs: all columns of the result.
        use: what the query around the clause uses of them.
    """
    if not current_shortcuts().columns:
        return outputs
    used = tuple(output for output in outputs if use.reads(output.name))
    return used or outputs[:1]  # rows need a column to be counted


def split_query(query: ResolvedQuery, scope: RowScope = RowScope.SPARK) -> SplitQuery:
    """Split the conditions of a query, and find the rows that need not be sent.

    Args:
        query: the query.
        scope: who reads neighbouring rows for the conditions.

    Raises:
        MatchRecognizeError: a condition is not supported, whatever the types of its columns are.
    """
    plan = query.plan
    if list_negations(plan.pattern):
        pattern, conditions = compile_negations(plan, query.pattern, scope)
    else:
        pattern = query.pattern
        conditions = split_conditions(plan, scope)
    reads_neighbours = any(condition.nearby_test is not None for condition in conditions)
    has_row_condition = any(condition.row_test is not None for condition in conditions)
    row_filters: tuple[RowColumn, ...] = ()
    if has_row_condition and not reads_neighbours:  # neighbouring rows may be any rows
        row_filters = find_row_filters(plan, pattern, conditions)
    return SplitQuery(
        plan=plan,
        written_plan=query.written_plan,
        pattern=pattern,
        outputs=query.outputs,
        all_outputs=query.all_outputs,
        conditions=conditions,
        row_filters=row_filters,
        scope=scope,
        origins=find_origins(plan, conditions, query.all_outputs),
        conjuncts=find_conjuncts(plan, conditions),
    )


def find_windows(
    plan: MatchPlan, pattern: CompiledPattern, find_order_type: Callable[[str], OrderType] | None
) -> MatchPlan:
    """Return the plan with its windows in the form that is cheapest to check.

    1. The lengths of windows become distances, if the type of the order allows it.
    2. Windows inside of a match become conditions, if rows alone do not tell where they end.
    3. Conditions that bound a match become a window.

    Args:
        plan: the plan of the query.
        pattern: its row pattern, compiled.
        find_order_type: see `resolve_query`.
    """
    if find_order_type is not None and plan.intervals:
        plan = measure_windows(plan, find_order_type(plan.order_by[0].expression.text))
    if plan.gaps:
        plan = replace_gaps_by_conditions(plan, pattern.follow)
    if find_order_type is not None and current_shortcuts().windows:
        plan = find_condition_window(plan, pattern.follow, find_order_type)
    return plan


# What Spark computes for queries that share one pass over the input.


class NearbyKey(NamedTuple):
    """The identity of a condition that the worker computes. Rules with equal keys share its bit."""

    # The columns by which the rule divides partitions further.
    dividing_columns: tuple[RowColumn, ...]
    # The bit of the part that Spark computes; None without such a part.
    spark_bit: int | None
    # The condition as Spark would compute it.
    column: RowColumn


@dataclass(frozen=True)
class JoinedQueries:
    """Queries that share one pass over the input: a single one, or all rules of a set.

    It says what Spark computes of each row, for all of them together.
    """

    queries: tuple[SplitQuery, ...]
    # A plan with the partitions and the order of the rows.
    plan: MatchPlan
    # The conditions that Spark computes, each once. The index of a condition is its bit.
    conditions: tuple[RowColumn, ...]
    # Filters. A row is sent if it passes at least one of them; all rows are sent if there are none.
    filters: tuple[RowColumn, ...]
    # Columns that are sent for all queries, in addition to those that each of them needs.
    shared_columns: tuple[RowColumn, ...] = ()
    # As in `SplitQuery`.
    origins: Mapping[ComputedValue, SqlOrigin] = field(default_factory=dict)
    conjuncts: Mapping[RowColumn, tuple[Scalar, ...]] = field(default_factory=dict)

    @cached_property
    def columns(self) -> tuple[RowColumn, ...]:
        """Return every column whose type must be known to compile the queries, each once."""
        query_columns = [column for query in self.queries for column in query.columns]
        return tuple(dict.fromkeys((*self.shared_columns, *query_columns)))

    @cached_property
    def spark_bits(self) -> Mapping[RowColumn, int]:
        """Return the bit of each condition that Spark computes."""
        return {condition: bit for bit, condition in enumerate(self.conditions)}

    @cached_property
    def nearby_bits(self) -> Mapping[NearbyKey, int]:
        """Return the bit of each condition that a worker computes. They follow Spark's bits."""
        bits: dict[NearbyKey, int] = {}
        for query in self.queries:
            dividing_columns = find_dividing_columns(query.plan)
            for condition, test in query.find_nearby_tests():
                spark_bit = find_spark_bit(condition, self.spark_bits)
                key = NearbyKey(dividing_columns, spark_bit, test.column)
                bits.setdefault(key, len(self.conditions) + len(bits))
        return bits


def join_query(query: SplitQuery) -> JoinedQueries:
    """Return what Spark computes for a single query."""
    return JoinedQueries(
        queries=(query,),
        plan=query.plan,
        conditions=query.row_conditions,
        filters=query.row_filters,
        origins=query.origins,
        conjuncts=query.conjuncts,
    )


def find_spark_bit(condition: SplitCondition, spark_bits: Mapping[RowColumn, int]) -> int | None:
    """Return the bit of the part of a condition that Spark computes; None without such a part.

    Args:
        condition: the condition.
        spark_bits: the bits of all parts that Spark computes.
    """
    return None if condition.row_test is None else spark_bits.get(condition.row_test)


# The types of what Spark does not compute.
#
# Row conditions of the worker are typed like conditions on the run. A condition is rejected if
# computing it in the worker would cost more than Spark's sort, or would not give exactly what Spark
# computes. Spark sorts the rows of such a query.


@dataclass(frozen=True)
class TypedConditions:
    """The conditions of a query that the search and the workers compute, typed."""

    # The types of the columns of the query.
    types: Mapping[RowColumn, ValueType]
    # By the name of the variable, the part of its condition that depends on the run.
    run_conditions: Mapping[str, RunExpression]
    # The row conditions that the worker computes, each once.
    nearby: tuple[NearbyCondition, ...]
    # The columns that these expressions read.
    columns: RunColumns
    # Whether the session is in ANSI mode, and its other settings.
    ansi: bool
    session: SessionSettings


@dataclass(frozen=True, slots=True)
class RejectedCondition:
    """A condition that the workers cannot compute exactly as Spark does."""

    # Why they cannot, for `explain`.
    reason: str


def type_conditions(
    query: SplitQuery,
    types: Mapping[RowColumn, ValueType],
    joined: JoinedQueries,
    *,
    ansi: bool,
    session: SessionSettings = DEFAULT_SETTINGS,
) -> TypedConditions:
    """Type the conditions of a query that Spark does not compute.

    Args:
        query: the query.
        types: the types of `joined.columns`.
        joined: all queries that share the rows, which number the bits.
        ansi: whether the session is in ANSI mode.
        session: other settings of the session.

    Raises:
        MatchRecognizePlanError: a condition is not boolean.
        MatchRecognizeUnsupportedError: the types do not allow an operation.
    """
    typer = StepTyper(types, ansi, session)
    run_conditions = {
        condition.variable: typer.type_condition(condition.run_step)
        for condition in query.conditions
        if condition.run_step is not None
    }
    nearby = type_nearby_tests(query, typer, joined)
    return TypedConditions(
        types=types,
        run_conditions=run_conditions,
        nearby=nearby,
        columns=typer.columns,
        ansi=ansi,
        session=session,
    )


def type_nearby_tests(
    query: SplitQuery, typer: Typer, joined: JoinedQueries
) -> tuple[NearbyCondition, ...]:
    """Return the row conditions that the worker computes, each once, typed.

    Raises:
        MatchRecognizeUnsupportedError: only Spark can compute one of them.
    """
    dividing_columns = find_dividing_columns(query.plan)
    conditions: dict[int, NearbyCondition] = {}
    for condition, test in query.find_nearby_tests():
        spark_bit = find_spark_bit(condition, joined.spark_bits)
        bit = joined.nearby_bits[NearbyKey(dividing_columns, spark_bit, test.column)]
        if bit not in conditions:
            conditions[bit] = NearbyCondition(
                expression=type_nearby_test(test, typer),
                row_condition=spark_bit,
                column=test.column,
                bit=bit,
                variable=condition.variable,
            )
    return tuple(conditions.values())


def type_nearby_test(test: NearbyTest, typer: Typer) -> RunExpression:
    """Return the expression of a row condition that the worker computes.

    Raises:
        MatchRecognizeUnsupportedError: only Spark can compute it.
    """
    typed = typer.type_step(test.step)
    expression = typer.place_columns(typer.type_truth(typed))
    operations = list(find_operations(typed))
    calls_function = any(is_call(part) for part in walk_expression(expression))
    has_wide_decimals = any(is_wide_decimal(operation.type) for operation in operations)
    has_nested_operands = any(
        operand.type.family in NESTED for operation in operations for operand in operation.operands
    )
    if calls_function or has_wide_decimals or has_nested_operands:
        raise only_engine_can_compute(test.step.span, condition=show_column(test.column))
    return expression


def is_call(part: RunExpression) -> bool:
    """Return whether an expression is a call of a Python function or a mathematical function."""
    is_mathematical = isinstance(part, RunOperation) and isinstance(part.operator, MathFunction)
    return isinstance(part, PythonExpression) or is_mathematical


def find_operations(typed: TypedStep) -> Iterator[TypedStep]:
    """Yield the operations of an expression, outer ones first."""
    if typed.operands:
        yield typed
    for part in typed.operands:
        yield from find_operations(part)


def build_compiled_query(  # noqa: PLR0913 -- what earlier steps return, and two options
    query: SplitQuery,
    conditions: TypedConditions,
    joined: JoinedQueries,
    algorithm: str,
    earlier_columns: tuple[RowColumn, ...] = (),
    max_steps: int | None = None,
) -> CompiledQuery:
    """Return the compiled query of a query whose conditions are typed.

    Args:
        query: the query.
        conditions: its conditions, typed.
        joined: all queries that share the rows.
        algorithm: "auto" or the name of an algorithm. An algorithm that cannot run the plan is an
            error. It is never replaced by another one.
        earlier_columns: the columns that are sent for all queries and for those compiled before
            this one. `CompiledQuery.sent_columns` has them first, and then the columns that only
            this query needs.
        max_steps: the largest number of steps in one partition; None for no limit.

    Raises:
        MatchRecognizeError: the algorithm cannot run the plan, or a measure is not supported.
    """
    plan = query.plan
    outputs, collector = build_result_columns(query, conditions, earlier_columns)
    task = build_task(query, conditions, joined, max_steps)
    totalled: tuple[TotalledColumn, ...] = ()
    if plan.totals is not None:
        task, totalled = link_totals(plan, plan.totals, task, collector)
    strategy, reason = choose(task, algorithm)
    sent_columns = build_sent_columns(
        plan=plan,
        types=conditions.types,
        shared_indices=collector.sent_columns,
        measure_columns=collector.columns,
        run_columns=conditions.columns,
    )
    reason_against_pieces = find_obstacle(Shortcut.PIECES, plan, query.pattern.follow)
    return CompiledQuery(
        pattern=show_pattern(plan.pattern),
        task=task,
        strategy=strategy,
        reason=reason,
        rows_per_match=plan.rows_per_match,
        sent_columns=sent_columns,
        row_conditions=joined.conditions,
        used_bits=tuple(joined.spark_bits[condition] for condition in query.row_conditions),
        row_filters=joined.filters,
        reads=collector.list_reads(plan.rows_per_match),
        aggregates=tuple(collector.aggregates),
        outputs=outputs,
        ansi=conditions.ansi,
        window_rows=plan.within_rows,
        totalled=totalled,
        nearby=conditions.nearby,
        needed=find_needed_bits(query, joined),
        in_pieces=current_shortcuts().search_in_pieces and not reason_against_pieces,
    )


def build_result_columns(
    query: SplitQuery, conditions: TypedConditions, earlier_columns: tuple[RowColumn, ...]
) -> tuple[tuple[ResultColumn, ...], ReadCollector]:
    """Turn the output columns of a query into SQL over reads.

    Args:
        query: the query.
        conditions: its conditions, typed.
        earlier_columns: see `build_compiled_query`.

    Returns:
        The output columns, and the collector of all that they read. Nothing is added to it later.

    Raises:
        MatchRecognizeError: a measure is not supported.
    """
    indices = {column: index for index, column in enumerate(earlier_columns)}
    collector = ReadCollector(query.plan, conditions.types, indices, conditions.session)
    outputs = tuple(build_result_column(output, collector) for output in query.outputs)
    return outputs, collector


def build_result_column(output: schema.OutputColumn, collector: ReadCollector) -> ResultColumn:
    """Return an output column as SQL over reads. The reads are added to `collector`."""
    if isinstance(output, schema.RowOutput):
        return ResultColumn(
            output.name, (collector.add_row_value(build_row_column(output.text)),), is_measure=False
        )
    if isinstance(output, schema.TimeoutOutput):
        return ResultColumn(
            output.name, collector.translate_timeouts(output.timeouts), is_measure=False
        )
    if isinstance(output, schema.TotalOutput):
        value = None if output.measure is None else output.measure.value
        return ResultColumn(
            output.name, (collector.add_total(output.aggregate, value),), is_measure=False
        )
    if isinstance(output, schema.PointerOutput):
        return ResultColumn(
            output.name, (collector.add_read(ReadPointer(output.field)),), is_measure=False
        )
    return ResultColumn(
        name=output.name,
        pieces=collector.translate_measure(output.value),
        is_measure=not output.has_value_without_match,
        origin=find_measure_origin(output),
    )


def build_task(
    query: SplitQuery, conditions: TypedConditions, joined: JoinedQueries, max_steps: int | None
) -> Task:
    """Return the task of the search.

    Args:
        query: the query.
        conditions: its conditions, typed.
        joined: all queries that share the rows.
        max_steps: the largest number of steps in one partition; None for no limit.
    """
    plan = query.plan
    bits = find_condition_bits(query, conditions, joined)
    names = (*plan.variables, *plan.unions)
    has_windows = (plan.within, plan.within_rows, plan.row_gap) != (None, None, None)
    stages = None
    if plan.staging is not None:
        stages = StageOptions(
            skip=plan.staging.skip, outputs_timeouts=plan.staging.timeouts is not None
        )
    return Task(
        pattern=query.pattern,
        conditions=tuple(
            Condition(
                row_condition=bits.get(name), run_condition=conditions.run_conditions.get(name)
            )
            for name in query.pattern.program.variables
        ),
        members={name: plan.members[name] for name in names},
        after_match=plan.after_match,
        selection=plan.selection,
        output=plan.output,
        absences=tuple(build_absence_condition(plan, absence) for absence in plan.absences),
        closing_condition=None
        if plan.match_condition is None
        else plan.variables.index(plan.match_condition),
        has_window=has_windows,
        stages=stages,
        partial=plan.partial,
        most_matches=None if plan.first_matches is None else plan.first_matches.count,
        max_steps=max_steps,
    )


def find_condition_bits(
    query: SplitQuery, conditions: TypedConditions, joined: JoinedQueries
) -> Mapping[str, int | None]:
    """Return the bit of the row condition of each variable; None if it has no row condition.

    If the worker computes a part of the condition, its bit stands for the whole row condition.
    """
    nearby_bits = {
        (nearby.row_condition, nearby.column): nearby.bit for nearby in conditions.nearby
    }
    bits = {}
    for condition in query.conditions:
        bit = find_spark_bit(condition, joined.spark_bits)
        if condition.nearby_test is not None:
            bit = nearby_bits[bit, condition.nearby_test.column]
        bits[condition.variable] = bit
    return bits


def build_absence_condition(plan: MatchPlan, absence: Absence) -> AbsenceCondition:
    """Return an absence as the search gets it, with the ids of its variables."""
    return AbsenceCondition(
        variable=plan.variables.index(absence.variable),
        after=find_members(plan, absence.after),
        before=find_members(plan, absence.before),
    )


def find_members(plan: MatchPlan, names: tuple[str, ...] | None) -> frozenset[int] | None:
    """Return the ids of all primary variables that some names stand for; None for no names."""
    if names is None:
        return None
    return frozenset[int]().union(*(plan.members[name] for name in names))


def find_needed_bits(query: SplitQuery, joined: JoinedQueries) -> tuple[int, ...]:
    """Return the bits of Spark's conditions without which a partition has no output.

    Each of these conditions holds for some row of every partition that has output. So a partition
    without such a row need not be searched.
    """
    follow = query.pattern.follow
    bits_by_name = {
        condition.variable: find_spark_bit(condition, joined.spark_bits)
        for condition in query.conditions
    }
    all_bits = {bit for bit in bits_by_name.values() if bit is not None}
    if not all_bits or not current_shortcuts().partitions:
        return ()
    if find_obstacle(Shortcut.PARTITIONS, query.plan, follow):
        return ()
    names = query.pattern.program.variables
    bits_by_variable = {variable: bits_by_name.get(name) for variable, name in enumerate(names)}

    def tests_bit(choice: Choice, bit: int) -> bool:
        """Return whether the condition of a choice's variable, or its test, is this bit."""
        variable = choice.variable if choice.test is None else choice.test
        return variable is not None and bits_by_variable.get(variable) == bit

    folding = query.pattern.folding
    return tuple(
        bit for bit in sorted(all_bits) if needs_marked_choice(folding, partial(tests_bit, bit=bit))
    )
