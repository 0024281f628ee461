"""Resolve the names of a plan, compile its row pattern, and choose its windows and outputs.

This is the first step of compilation. It needs neither types nor a choice of who sorts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from matchrec.automaton.compile import compile_pattern
from matchrec.automaton.compiled_pattern import CompiledPattern
from matchrec.compile.pruning.condition_windows import replace_conditions_by_window
from matchrec.compile.pruning.gap_conditions import replace_gaps_by_conditions
from matchrec.compile.pruning.window_limits import measure_windows
from matchrec.compile.read_guards import guard_reads
from matchrec.conditions.window_columns import OrderType
from matchrec.output import schema
from matchrec.plan.match_plan import EVERYTHING, MatchPlan, ResultUse
from matchrec.plan.resolve import InputColumns, resolve
from matchrec.shortcuts import current_shortcuts


@dataclass(frozen=True)
class ResolvedQuery:
    """A query whose names are resolved and whose row pattern is compiled."""

    # The plan as it runs. Conditions may have become windows, and windows conditions.
    plan: MatchPlan
    # The plan before that, which explanations and warnings show: its names are resolved.
    resolved_plan: MatchPlan
    # The row pattern. In a split query, it has tests instead of NOTs.
    pattern: CompiledPattern
    # The columns of the result that the query around the clause uses.
    outputs: tuple[schema.OutputColumn, ...]
    # All columns of the result, in their order. A column that nobody uses is only checked.
    all_outputs: tuple[schema.OutputColumn, ...]

    @cached_property
    def unused_outputs(self) -> tuple[schema.OutputColumn, ...]:
        """Return the columns of the result that nobody uses."""
        if self.outputs == self.all_outputs:  # This is fast even for thousands of columns.
            return ()
        return tuple(output for output in self.all_outputs if output not in self.outputs)


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
        name_expression: returns the name of an output column: see `schema.list_output_columns`.
        find_order_type: returns the type of an order column, given as text. If it is None, no
            condition becomes a window, and the end of a window is computed as a sum.
        use: the part of the result that the query around the clause uses.

    Raises:
        MatchRecognizeError: the query is wrong, whatever the types of its columns are.
    """
    resolved_plan = resolve(plan, columns)
    guarded_plan = guard_reads(resolved_plan)
    all_outputs = schema.list_output_columns(guarded_plan, columns, name_expression)
    outputs = choose_outputs(all_outputs, use)
    pattern = compile_pattern(guarded_plan)
    running_plan = choose_windows(guarded_plan, pattern, find_order_type)
    if outputs != all_outputs:
        measures = tuple(measure for measure in running_plan.measures if measure in outputs)
        running_plan = replace(running_plan, measures=measures)
        resolved_plan = replace(resolved_plan, measures=measures)
    return ResolvedQuery(
        plan=running_plan,
        resolved_plan=resolved_plan,
        pattern=pattern,
        outputs=outputs,
        all_outputs=all_outputs,
    )


def choose_outputs(
    outputs: tuple[schema.OutputColumn, ...], use: ResultUse
) -> tuple[schema.OutputColumn, ...]:
    """Return the columns of the result that are computed: the used columns, but at least one.

    Args:
        outputs: all columns of the result.
        use: the part of the result that the query around the clause uses.
    """
    if not current_shortcuts().columns:
        return outputs
    used_outputs = tuple(output for output in outputs if use.may_read(output.name))
    return used_outputs or outputs[:1]  # Rows need a column to be counted.


def choose_windows(
    plan: MatchPlan, pattern: CompiledPattern, find_order_type: Callable[[str], OrderType] | None
) -> MatchPlan:
    """Return the plan with its windows in the form that is cheapest to check.

    1. The lengths of windows become distances, if the type of the order column allows it.
    2. Windows inside a match become conditions, unless rows alone show where they end.
    3. Conditions that bound a match become a window.

    Args:
        plan: the plan of the query.
        pattern: its row pattern, compiled.
        find_order_type: see `resolve_query`.
    """
    if find_order_type is not None and plan.window_lengths:
        plan = measure_windows(plan, find_order_type(plan.order_by[0].expression.text))
    if plan.gaps:
        plan = replace_gaps_by_conditions(plan, pattern.follow_sets)
    if find_order_type is not None and current_shortcuts().windows:
        plan = replace_conditions_by_window(plan, pattern.follow_sets, find_order_type)
    return plan
