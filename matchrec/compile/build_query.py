"""Build the compiled query of a query whose conditions are typed: reads, task and strategy.

First, `translate_outputs` translates the outputs of each query that shares the rows, and numbers
the columns that are sent for all of these queries. Then `build_compiled_query` compiles each query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from typing_extensions import assert_never

from matchrec.automaton.facts import output_needs_condition
from matchrec.automaton.program import VariableId, VariableIds
from matchrec.compile.compiled_query import CompiledQuery, ResultColumn, TotalledColumn
from matchrec.compile.joined_queries import JoinedQueries
from matchrec.compile.origins import find_measure_origin
from matchrec.compile.pruning.proven_shortcuts import Shortcut, find_obstacle
from matchrec.compile.sent_columns import build_sent_columns, list_used_columns
from matchrec.compile.split_query import SplitQuery
from matchrec.compile.totals import link_totals
from matchrec.compile.typed_conditions import TypedConditions
from matchrec.conditions.row_column import RowColumn, build_row_column
from matchrec.output import schema
from matchrec.output.measure_sql import SqlPieces
from matchrec.output.measure_translator import MeasureTranslator
from matchrec.output.read_collector import ReadCollector
from matchrec.output.reads import ReadPointer
from matchrec.plan.clauses import Absence, Measure
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import show_pattern
from matchrec.search.strategies import choose_algorithm_and_strategy
from matchrec.search.task import AbsenceCondition, Condition, StageOptions, Task
from matchrec.shortcuts import current_shortcuts


@dataclass(frozen=True, slots=True)
class TranslatedOutputs:
    """The output columns of a query, and the reads that they need."""

    # The output columns as SQL over reads.
    columns: tuple[ResultColumn, ...]
    # The reads of the output columns.
    collector: ReadCollector


def build_compiled_query(  # noqa: PLR0913 -- what earlier steps return, and two options
    query: SplitQuery,
    conditions: TypedConditions,
    joined_queries: JoinedQueries,
    outputs: TranslatedOutputs,
    columns: tuple[RowColumn, ...],
    algorithm: str,
    max_steps: int | None = None,
) -> CompiledQuery:
    """Return the compiled query of a query whose conditions are typed.

    Args:
        query: the split query, with its plan and pattern.
        conditions: its conditions, typed.
        joined_queries: all queries that share the rows.
        outputs: the output columns of this query, translated.
        columns: the columns that are sent for all of these queries. `translate_outputs` has
            numbered them in this order.
        algorithm: "auto" or the name of an algorithm. If this algorithm cannot run the plan, an
            error is raised: no other algorithm replaces it.
        max_steps: the largest number of steps in one partition; None for no limit.

    Raises:
        MatchRecognizeError: the algorithm cannot run the plan.
    """
    plan = query.plan
    collector = outputs.collector
    task = build_task(query, conditions, joined_queries, max_steps)
    totalled_columns: tuple[TotalledColumn, ...] = ()
    if plan.totals is not None:
        task, totalled_columns = link_totals(plan, plan.totals, task, collector, conditions.types)
    strategy = choose_algorithm_and_strategy(task, algorithm)
    strategy_reason = "you chose this algorithm"
    if algorithm == "auto":
        strategy_reason = strategy.explain_choice(task)
    sent_columns = build_sent_columns(
        plan=plan,
        types=conditions.types,
        columns=columns,
        measure_columns=collector.columns,
        run_columns=conditions.columns,
    )
    obstacle_to_pieces = find_obstacle(Shortcut.PIECES, plan, query.pattern.follow_sets)
    searches_in_pieces = current_shortcuts().search_in_pieces and not obstacle_to_pieces
    return CompiledQuery(
        pattern_text=show_pattern(plan.pattern),
        task=task,
        strategy=strategy,
        strategy_reason=strategy_reason,
        rows_per_match=plan.rows_per_match,
        sent_columns=sent_columns,
        row_conditions=joined_queries.row_conditions,
        used_bits=tuple(joined_queries.spark_bits[condition] for condition in query.row_conditions),
        row_filters=joined_queries.row_filters,
        reads=collector.list_reads(plan.rows_per_match),
        aggregates=tuple(collector.aggregates),
        outputs=outputs.columns,
        ansi=conditions.ansi,
        window_rows=plan.within_rows,
        totalled_columns=totalled_columns,
        nearby_conditions=conditions.nearby_conditions,
        needed_bits=find_needed_bits(query, joined_queries),
        can_be_searched_in_pieces=searches_in_pieces,
    )


def translate_outputs(
    query: SplitQuery, conditions: TypedConditions, indices: dict[RowColumn, int]
) -> TranslatedOutputs:
    """Turn the output columns of a query into SQL over reads, and number the columns it needs.

    Args:
        query: the split query, whose `outputs` are translated.
        conditions: its conditions, typed.
        indices: the index of each column that is sent for the queries that share the rows. The
            columns that this query needs are added to `indices`, after the columns already there.

    Raises:
        MatchRecognizeError: a measure is not supported, or a window is not a distance along its
            order.
    """
    collector = ReadCollector(indices)
    translator = MeasureTranslator(
        plan=query.plan, types=conditions.types, session=conditions.session, collector=collector
    )
    outputs = tuple(build_result_column(output, translator) for output in query.outputs)
    used_columns = list_used_columns(
        query.plan, conditions.types, collector.columns, conditions.columns
    )
    for column in used_columns:
        indices.setdefault(column, len(indices))
    return TranslatedOutputs(outputs, collector)


def build_result_column(output: schema.OutputColumn, translator: MeasureTranslator) -> ResultColumn:
    """Return an output column as SQL over reads, which are added to the translator's collector."""
    collector = translator.collector
    match output:
        case schema.RowOutput():
            pieces: SqlPieces = (collector.add_row_value(build_row_column(output.text)),)
        case schema.TimeoutOutput():
            pieces = translator.translate_stage_timeouts(output.timeouts)
        case schema.TotalOutput():
            value = None if output.measure is None else output.measure.value
            pieces = (translator.translate_total(output.aggregate, value),)
        case schema.PointerOutput():
            pieces = (collector.add_read(ReadPointer(output.field)),)
        case Measure():
            return ResultColumn(
                name=output.name,
                pieces=translator.translate_measure(output.value),
                is_measure=not output.has_value_without_match,
                origin=find_measure_origin(output),
            )
        case _:
            assert_never(output)
    return ResultColumn(name=output.name, pieces=pieces, is_measure=False)


def build_task(
    query: SplitQuery,
    conditions: TypedConditions,
    joined_queries: JoinedQueries,
    max_steps: int | None,
) -> Task:
    """Return the task of the search.

    Args:
        query: the split query.
        conditions: its conditions, typed.
        joined_queries: all queries that share the rows.
        max_steps: the largest number of steps in one partition; None for no limit.
    """
    plan = query.plan
    bits = find_condition_bits(query, conditions, joined_queries)
    search_conditions = tuple(
        Condition(row_bit=bits.get(name), run_condition=conditions.run_conditions.get(name))
        for name in query.pattern.program.variables
    )
    return Task(
        pattern=query.pattern,
        conditions=search_conditions,
        members={name: plan.members[name] for name in (*plan.variables, *plan.unions)},
        after_match=plan.after_match,
        selection=plan.selection,
        output=plan.output,
        absences=tuple(build_absence_condition(plan, absence) for absence in plan.absences),
        closing_condition=find_closing_condition(plan),
        has_window=has_any_window(plan),
        stages=build_stage_options(plan),
        partial=plan.partial,
        max_matches=None if plan.first_matches is None else plan.first_matches.count,
        max_steps=max_steps,
    )


def find_closing_condition(plan: MatchPlan) -> VariableId | None:
    """Return the id of the condition on the whole match; None if the plan has none."""
    if plan.match_condition is None:
        return None
    return plan.variables.index(plan.match_condition)


def has_any_window(plan: MatchPlan) -> bool:
    """Return whether a length of time or a number of rows limits a match, or a gap inside it."""
    windows = (plan.within, plan.within_rows, plan.row_gap)
    return any(window is not None for window in windows)


def build_stage_options(plan: MatchPlan) -> StageOptions | None:
    """Return the options of stages for the search; None if the plan has no stages."""
    if plan.staging is None:
        return None
    return StageOptions(skip=plan.staging.skip, outputs_timeouts=plan.staging.timeouts is not None)


def find_condition_bits(
    query: SplitQuery, conditions: TypedConditions, joined_queries: JoinedQueries
) -> Mapping[str, int | None]:
    """Return the bit of the row condition of each variable; None for a variable without one.

    If Spark computes one part of a row condition and the worker another part, the bit of the
    worker's part is the truth value of the whole row condition.
    """
    nearby_bits = {
        (nearby.spark_bit, nearby.column): nearby.bit for nearby in conditions.nearby_conditions
    }
    bits = {}
    for condition in query.conditions:
        bit = joined_queries.find_spark_bit(condition)
        if condition.nearby_test is not None:
            bit = nearby_bits[bit, condition.nearby_test.column]
        bits[condition.variable] = bit
    return bits


def build_absence_condition(plan: MatchPlan, absence: Absence) -> AbsenceCondition:
    """Return an absence for the search, with the ids of its variables instead of their names."""
    return AbsenceCondition(
        variable=plan.variables.index(absence.variable),
        variables_before=find_members(plan, absence.after),
        variables_after=find_members(plan, absence.before),
    )


def find_members(plan: MatchPlan, names: tuple[str, ...] | None) -> VariableIds | None:
    """Return the ids of the primary variables of some variables, union variables included.

    The result is None if `names` is None, for an absence at the start or the end of a match.
    """
    if names is None:
        return None
    return VariableIds().union(*(plan.members[name] for name in names))


def find_needed_bits(query: SplitQuery, joined_queries: JoinedQueries) -> tuple[int, ...]:
    """Return the bits of Spark's conditions without which a partition has no output.

    Each of these conditions holds for some row of every partition that has output. So a partition
    without such a row need not be searched.
    """
    if not current_shortcuts().partitions:
        return ()
    if find_obstacle(Shortcut.PARTITIONS, query.plan, query.pattern.follow_sets):
        return ()
    bits_by_name = {
        condition.variable: joined_queries.find_spark_bit(condition)
        for condition in query.conditions
    }
    # Variables and tests with the same condition have the same bit.
    variables_by_bit: dict[int, set[VariableId]] = {}
    for variable, name in enumerate(query.pattern.program.variables):
        bit = bits_by_name.get(name)
        if bit is not None:
            variables_by_bit.setdefault(bit, set()).add(variable)
    return tuple(
        bit
        for bit, variables in sorted(variables_by_bit.items())
        if output_needs_condition(query.pattern.folding, variables)
    )
