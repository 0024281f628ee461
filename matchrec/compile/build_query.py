"""Build the compiled query of a query whose conditions are typed: reads, task and strategy.

1. `QueryCompiler.translate_outputs` translates the output columns of each query that shares the
   rows. It numbers the columns that are sent for all of these queries.
2. `QueryCompiler.build_compiled_query` compiles each query, over these columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from typing_extensions import assert_never

from matchrec.automaton.facts import output_needs_condition
from matchrec.automaton.program import VariableId, VariableIds
from matchrec.compile.compiled_query import CompiledQuery, ResultColumn
from matchrec.compile.joined_queries import JoinedQueries
from matchrec.compile.origins import find_measure_origin
from matchrec.compile.pruning.proven_shortcuts import Shortcut, find_obstacle
from matchrec.compile.sent_columns import build_sent_columns, list_used_columns
from matchrec.compile.split_query import SplitQuery
from matchrec.compile.totals import TaskWithTotals, link_totals
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
from matchrec.search.strategies import AUTO, choose_algorithm_and_strategy
from matchrec.search.task import AbsenceCondition, Condition, StageOptions, Task
from matchrec.shortcuts import current_shortcuts


@dataclass(frozen=True, slots=True)
class TranslatedOutputs:
    """The output columns of a query, and the reads that they need."""

    # The output columns as SQL over reads.
    columns: tuple[ResultColumn, ...]
    # The reads of the output columns.
    collector: ReadCollector


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The options of a search that users can set."""

    # AUTO, or the name of an algorithm. If this algorithm cannot run the plan, an error is raised:
    # no other algorithm replaces it.
    algorithm: str = AUTO
    # The largest number of steps in one partition; None for no limit.
    max_steps: int | None = None


@dataclass(frozen=True, slots=True)
class QueryCompiler:
    """A compiler of one query whose conditions are typed."""

    # The split query, with its plan and pattern.
    query: SplitQuery
    # The conditions of the query that the workers and the search compute.
    conditions: TypedConditions
    # All queries that share the rows, with this one.
    joined_queries: JoinedQueries

    def translate_outputs(self, indices: dict[RowColumn, int]) -> TranslatedOutputs:
        """Turn the output columns into SQL over reads, and number the columns that are sent.

        Args:
            indices: the index of each column that is sent for the queries that share the rows. The
                columns that this query needs are added to `indices`, after the columns already
                there.

        Raises:
            MatchRecognizeError: a measure is not supported, or a window is not a distance along its
                order.
        """
        collector = ReadCollector(indices)
        translator = MeasureTranslator(
            plan=self.query.plan,
            types=self.conditions.types,
            session=self.conditions.session,
            collector=collector,
        )
        outputs = tuple(build_result_column(output, translator) for output in self.query.outputs)
        used_columns = list_used_columns(
            self.query.plan, self.conditions.types, collector.columns, self.conditions.columns
        )
        for column in used_columns:
            indices.setdefault(column, len(indices))
        return TranslatedOutputs(outputs, collector)

    def build_compiled_query(
        self, outputs: TranslatedOutputs, columns: tuple[RowColumn, ...], options: SearchOptions
    ) -> CompiledQuery:
        """Return the compiled query.

        Args:
            outputs: the output columns, as `translate_outputs` returns them.
            columns: the columns that are sent for all queries that share the rows, in the order of
                the indices that `translate_outputs` has given them.
            options: how to search.

        Raises:
            MatchRecognizeError: the algorithm of the options cannot run the plan, or the totals of
                the plan need matches that are built.
        """
        plan = self.query.plan
        conditions = self.conditions
        joined_queries = self.joined_queries
        collector = outputs.collector
        linked_totals = self.add_totals(self.build_task(options.max_steps), collector)
        task = linked_totals.task
        choice = choose_algorithm_and_strategy(task, options.algorithm)
        return CompiledQuery(
            pattern_text=show_pattern(plan.pattern),
            task=task,
            strategy=choice.strategy,
            strategy_reason=choice.reason,
            rows_per_match=plan.rows_per_match,
            sent_columns=build_sent_columns(
                plan=plan,
                types=conditions.types,
                columns=columns,
                measure_columns=collector.columns,
                run_columns=conditions.columns,
            ),
            row_conditions=joined_queries.row_conditions,
            tested_bits=tuple(
                joined_queries.spark_bits[condition] for condition in self.query.row_conditions
            ),
            row_filters=joined_queries.row_filters,
            reads=collector.list_reads(plan.rows_per_match),
            aggregates=tuple(collector.aggregates),
            outputs=outputs.columns,
            ansi=conditions.ansi,
            window_rows=plan.within_rows,
            totalled_columns=linked_totals.columns,
            nearby_conditions=conditions.nearby_conditions,
            bits_needed_for_output=self.find_bits_needed_for_output(),
            can_be_searched_in_pieces=self.can_be_searched_in_pieces(),
        )

    def build_task(self, max_steps: int | None) -> Task:
        """Return the task of the search, without totals.

        Args:
            max_steps: see `SearchOptions`.
        """
        plan = self.query.plan
        pattern = self.query.pattern
        bits = self.find_condition_bits()
        run_conditions = self.conditions.run_conditions
        return Task(
            pattern=pattern,
            conditions=tuple(
                Condition(row_bit=bits.get(name), run_condition=run_conditions.get(name))
                for name in pattern.program.variables
            ),
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

    def add_totals(self, task: Task, collector: ReadCollector) -> TaskWithTotals:
        """Return the task with the totals of the plan, if the plan has any, and their columns.

        Raises:
            MustBuildMatchesError: the matches must be built to compute the totals.
        """
        plan = self.query.plan
        if plan.totals is None:
            return TaskWithTotals(task, columns=())
        return link_totals(plan, plan.totals, task, collector, self.conditions.types)

    def find_condition_bits(self) -> Mapping[str, int | None]:
        """Return the bit of the row condition of each variable; None for a variable without one.

        If Spark computes one part of a row condition and the worker another part, the bit of the
        worker's part is the truth value of the whole row condition.
        """
        nearby_bits = {
            (nearby.spark_bit, nearby.column): nearby.bit
            for nearby in self.conditions.nearby_conditions
        }
        bits = {}
        for condition in self.query.conditions:
            bit = self.joined_queries.find_spark_bit(condition)
            if condition.nearby_test is not None:
                bit = nearby_bits[bit, condition.nearby_test.column]
            bits[condition.variable] = bit
        return bits

    def find_bits_needed_for_output(self) -> tuple[int, ...]:
        """Return the bits of Spark's conditions without which a partition has no output.

        Each of these conditions holds for some row of every partition that has output. So a
        partition without such a row need not be searched.
        """
        pattern = self.query.pattern
        if not current_shortcuts().partitions:
            return ()
        if find_obstacle(Shortcut.PARTITIONS, self.query.plan, pattern.follow_sets):
            return ()
        bits_by_name = {
            condition.variable: self.joined_queries.find_spark_bit(condition)
            for condition in self.query.conditions
        }
        # Variables and tests with the same condition have the same bit.
        variables_by_bit: dict[int, set[VariableId]] = {}
        for variable, name in enumerate(pattern.program.variables):
            bit = bits_by_name.get(name)
            if bit is not None:
                variables_by_bit.setdefault(bit, set()).add(variable)
        return tuple(
            bit
            for bit, variables in sorted(variables_by_bit.items())
            if output_needs_condition(pattern.folding, variables)
        )

    def can_be_searched_in_pieces(self) -> bool:
        """Return whether a partition can be searched in pieces, in the order of its rows."""
        if not current_shortcuts().search_in_pieces:
            return False
        follow_sets = self.query.pattern.follow_sets
        return not find_obstacle(Shortcut.PIECES, self.query.plan, follow_sets)


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
