"""Find filters for rows that cannot matter, so that they need not be sorted or sent to a worker.

A row matters only if it passes at least one of the filters:

    PATTERN (A X*? B) DEFINE A AS e = 'a', B AS e = 'b'                    e = 'a'; e = 'b'
    PATTERN (A X*? B) DEFINE A AS e = 'a', B AS e = 'b', X AS e <> 'c'     the same, and
                                                                           (e <> 'c') IS NOT TRUE

There are three cases:

- A pattern of stages: every run skips a row that satisfies no condition.
- SQL that may skip rows: every run skips a row that satisfies no condition.
- Other SQL: a row that satisfies no condition can be mapped only to a *filler*, such as X. After
  every row that it maps, a run of `A X*? B Y*? C` waits in a loop over one filler. The filler can
  take any row, and leaves the run in the same situation.

A filler is a variable without a condition, or a variable in a loop whose condition reads only one
row. A row does not matter if it satisfies the conditions of all fillers and no other condition. The
matches are the same without such a row if no condition or measure reads or counts it. They may read
rows of other variables, and the first and the last row of the match, because these rows are never
mapped to a filler.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from matchrec.automaton.compiled_pattern import CompiledPattern
from matchrec.automaton.facts import find_targets
from matchrec.automaton.folding import Choice, ChoicesByState
from matchrec.automaton.program import VariableIds
from matchrec.compile.pruning.proven_shortcuts import Shortcut, find_obstacle
from matchrec.conditions.residual import SplitCondition
from matchrec.conditions.row_column import ALWAYS_TRUE, RowColumn, build_row_column
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.plan.expression import Aggregate, MatchValue, Reference, list_inner_references
from matchrec.plan.match_plan import MatchPlan
from matchrec.shortcuts import current_shortcuts

if TYPE_CHECKING:
    from matchrec.plan.stages import Staging


NO_FILLERS: VariableIds = frozenset()

# By the name of each variable with a condition, the part that Spark computes before the match; None
# if there is no such part.
RowTests = Mapping[str, RowColumn | None]


def find_row_filters(
    plan: MatchPlan, pattern: CompiledPattern, conditions: tuple[SplitCondition, ...]
) -> tuple[RowColumn, ...]:
    """Return filters: a row matters only if it passes one of them.

    The result is empty if all rows may matter.

    Args:
        plan: the plan of a query.
        pattern: its row pattern, compiled.
        conditions: the conditions of all variables that have one. No condition reads neighbouring
            rows.
    """
    if not current_shortcuts().rows:
        return ()
    if find_obstacle(Shortcut.ROWS, plan, pattern.follow_sets) is not None:
        return ()
    row_tests = {condition.variable: condition.row_test for condition in conditions}
    if plan.staging is not None:
        return find_filters_of_stages(plan, plan.staging, pattern, row_tests)
    if plan.selection is not EventSelection.STRICT_CONTIGUITY:
        return find_filters_with_fillers(NO_FILLERS, plan, pattern, row_tests)

    unconditional_variables = frozenset(
        variable for variable, name in enumerate(plan.variables) if name not in row_tests
    )
    loop_variables = find_loops_of_one_row(plan, pattern, conditions)
    # More fillers leave out more rows, but a condition or a measure may read the rows of a loop.
    filters = find_filters_with_fillers(
        unconditional_variables | loop_variables, plan, pattern, row_tests
    )
    return filters or find_filters_with_fillers(unconditional_variables, plan, pattern, row_tests)


def find_filters_with_fillers(
    fillers: VariableIds, plan: MatchPlan, pattern: CompiledPattern, row_tests: RowTests
) -> tuple[RowColumn, ...]:
    """Return the filters if some variables are fillers, or nothing if all rows may matter.

    A row matters if it satisfies the condition of another variable, or if it does not satisfy the
    condition of one of the fillers.

    Args:
        fillers: the fillers; empty if the search may skip rows.
        plan: the plan of the query.
        pattern: its row pattern, compiled.
        row_tests: the part of each condition that Spark computes.
    """
    if reads_fillers(plan, fillers, row_tests):
        return ()
    if not can_leave_out_fillers(plan, pattern, fillers):
        return ()
    filters: dict[RowColumn, None] = {}  # a set that keeps the order
    for variable, name in enumerate(plan.variables):
        row_test = row_tests.get(name)
        is_filler = variable in fillers
        is_about_match = name == plan.match_condition
        takes_any_row = is_filler and row_test is None
        if is_about_match or takes_any_row:
            continue
        if row_test is None or not row_test.reads_one_row:
            return ()
        filters[negate_test(row_test) if is_filler else row_test] = None
    return tuple(filters)


def reads_fillers(plan: MatchPlan, fillers: VariableIds, row_tests: RowTests) -> bool:
    """Return whether a condition or a measure may read or count rows of fillers.

    The condition of a filler does not count, because it reads only the tested row.
    """
    fillers_with_condition = {plan.variables[filler] for filler in fillers} & row_tests.keys()
    scalars = [
        definition.condition
        for definition in plan.definitions
        if definition.variable not in fillers_with_condition
    ]
    scalars += [measure.value for measure in plan.measures]
    return any(
        may_read_filler(plan, reference, fillers)
        for scalar in scalars
        for reference in scalar.references
    )


def negate_test(test: RowColumn) -> RowColumn:
    """Return the test that a condition on one row is false or NULL."""
    return build_row_column(f"({test.text}) IS NOT TRUE")


def find_filters_of_stages(
    plan: MatchPlan, staging: Staging, pattern: CompiledPattern, row_tests: RowTests
) -> tuple[RowColumn, ...]:
    """Return the filters of a pattern of stages, or nothing if all rows may matter.

    A row that satisfies no condition does not matter if every run may skip it, and then has the
    same choices as before.

    Such a row may end the window of a run. Without the row, the next row or the end of the data
    ends the window. If a NOT ends the pattern, this can change which matches are complete first, so
    then all rows matter.
    """
    if pattern.program.completed_by_time or not all_runs_can_skip(pattern):
        return ()
    window_tests = {plan.ids[window.test] for window in staging.neighbour_windows}
    stage_tests = {
        choice.test
        for choices in pattern.folding.choices
        for choice in choices
        if choice.test is not None and choice.test not in window_tests
    }
    filters: dict[RowColumn, None] = {}
    for test_id in sorted(stage_tests):
        row_test = row_tests.get(plan.variables[test_id])
        if row_test is None or row_test == ALWAYS_TRUE or not row_test.reads_one_row:
            return ()
        filters[row_test] = None
    return tuple(filters)


def all_runs_can_skip(pattern: CompiledPattern) -> bool:
    """Return whether every run of a pattern of stages can skip a row that satisfies no condition.

    After the row, the run must have the same choices as before. Every choice must have a condition:
    a run could map the row by a choice without a condition. Complete matches are not runs, and runs
    without a row need not skip rows.
    """
    folding = pattern.folding
    for state, state_after_skip in enumerate(folding.states_after_skip):
        if folding.states[state] == pattern.program.final:
            continue
        choices = folding.choices[state]
        if any(choice.test is None for choice in choices):
            return False
        has_rows = state >= folding.start_count
        if has_rows and (state_after_skip is None or folding.choices[state_after_skip] != choices):
            return False
    return True


def find_loops_of_one_row(
    plan: MatchPlan, pattern: CompiledPattern, conditions: tuple[SplitCondition, ...]
) -> VariableIds:
    """Return the loop variables whose condition reads one row, and is computed by Spark alone.

    See `find_loop_variables`.
    """
    choices_by_state = pattern.folding.choices
    if any(choice.test is not None for choices in choices_by_state for choice in choices):
        return NO_FILLERS  # Tests check more than the condition of their variable.
    variables_of_one_row = {
        plan.ids[condition.variable] for condition in conditions if reads_one_row(condition)
    }
    return find_loop_variables(choices_by_state) & variables_of_one_row


def reads_one_row(condition: SplitCondition) -> bool:
    """Return whether Spark computes the whole condition, and the condition reads only one row."""
    is_computed_by_spark = condition.run_step is None and condition.nearby_test is None
    test = condition.row_test
    return is_computed_by_spark and test is not None and test.reads_one_row


def find_loop_variables(choices_by_state: ChoicesByState) -> VariableIds:
    """Return the variables whose rows always leave a run with the same choices.

    Variables that can begin a run are left out. In `A X*? B Y* C`, the result is X and Y. In
    `A X* B X C`, it is empty, because the second X leads to other choices.
    """
    loop_variables = set()
    moving_variables = set()
    for state, choices in enumerate(choices_by_state):
        for choice in choices:
            if choice.variable is None or choice.target is None:
                continue
            begins_run = state == 0
            if begins_run or not have_same_choices(choices_by_state[choice.target], choices):
                moving_variables.add(choice.variable)
            else:
                loop_variables.add(choice.variable)
    return frozenset(loop_variables - moving_variables)


def can_leave_out_fillers(plan: MatchPlan, pattern: CompiledPattern, fillers: VariableIds) -> bool:
    """Return whether the matches are the same without the rows that only fillers can take.

    Args:
        plan: the plan of a query.
        pattern: its row pattern, compiled.
        fillers: the fillers; empty if the search may skip rows.
    """
    choices_by_state = pattern.folding.choices
    if plan.selection is not EventSelection.STRICT_CONTIGUITY:
        # A preferred match that may end early ends if it would have to skip the next row otherwise.
        # So the match depends on the rows that it would skip.
        return not (plan.output is MatchOutput.PREFERRED and may_end_early(choices_by_state))
    if plan.needs_event_selection or not plan.rows_per_match.summarizes_matches:
        return False
    if plan.output is MatchOutput.LONGEST:
        return False  # Rows of fillers count for the length.
    if plan.after_match.variable is not None:
        return False  # AFTER MATCH SKIP TO a variable may look for a filler.
    return can_always_take_row(choices_by_state, fillers)


def may_end_early(choices_by_state: ChoicesByState) -> bool:
    """Return whether a match may end in a state from which it could also go on."""
    for choices in choices_by_state:
        ends = [choice.target is None for choice in choices]
        if any(ends) and not all(ends):
            return True
    return False


def can_always_take_row(choices_by_state: ChoicesByState, fillers: VariableIds) -> bool:
    """Return whether every run can map any row to a filler, and then has the same choices.

    A match must not begin with such a row, and must not end in a state from which it could go on:
    without the row, it would be another match.

    Args:
        choices_by_state: the choices of each state.
        fillers: variables that can take any row.
    """
    if any(choice.variable in fillers for choice in choices_by_state[0]):
        return False
    states_after_a_row = {
        state
        for source in range(len(choices_by_state))
        for state in find_targets(choices_by_state, source)
    }
    return all(can_wait_in_state(choices_by_state, state, fillers) for state in states_after_a_row)


def can_wait_in_state(choices_by_state: ChoicesByState, state: int, fillers: VariableIds) -> bool:
    """Return whether a run in a state can map any row to one filler, and then has the same choices.

    A run that can only end need not wait, so the result is True. For a run that can either end or
    go on, the result is False.
    """
    choices = choices_by_state[state]
    row_choices = [choice for choice in choices if choice.target is not None]
    if not row_choices:
        return True
    can_end = len(row_choices) < len(choices)
    filler_targets = [choice.target for choice in row_choices if choice.variable in fillers]
    if can_end or len(filler_targets) != 1:
        return False
    (target,) = filler_targets
    return target is not None and have_same_choices(choices_by_state[target], choices)


def have_same_choices(left: tuple[Choice, ...], right: tuple[Choice, ...]) -> bool:
    """Return whether two states have choices with the same variables and targets, in order."""
    left_moves = [(choice.variable, choice.target) for choice in left]
    right_moves = [(choice.variable, choice.target) for choice in right]
    return left_moves == right_moves


def may_read_filler(plan: MatchPlan, reference: Reference, fillers: VariableIds) -> bool:
    """Return whether a reference may read or count a row of a filler.

    A column of the first or the last row of the match does not read a filler: see the start of this
    module.
    """
    if isinstance(reference, MatchValue):
        return False
    if isinstance(reference, Aggregate):
        if plan.members[reference.variable] & fillers:
            return True
        return any(
            may_read_filler(plan, inner, fillers) for inner in list_inner_references(reference)
        )
    navigation = reference.navigation
    if navigation.variable is None and navigation.logical_offset == 0:
        return False
    return bool(plan.members[navigation.variable] & fillers)
