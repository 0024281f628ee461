"""Find out which rows of the input can matter. All others need not be sorted or sent to a worker.

If a search may skip rows, it skips a row that satisfies no condition. If it may not, such a row can
only be mapped to a *filler*: a variable without a condition. In a funnel such as
`A X*? B Y*? C`, after every row that a run maps it waits in a loop over one filler, which can take
any row and leaves the run where it was. So the matches are the same without the rows that satisfy
no condition, as long as nothing reads or counts them: conditions and measures may read rows of
other variables, and the first and the last row of the match, which are never mapped to a filler.

A variable in a loop is a filler, too, if its condition reads one row only, such as X in
`X AS e <> 'b'`. Then a row does not matter if it satisfies the conditions of all fillers and no
other condition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from matchrec.automaton.compiled_pattern import CompiledPattern
from matchrec.automaton.facts import find_targets
from matchrec.automaton.folding import Choice, Folded
from matchrec.automaton.program import VariableId, VariableIds
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

# For each variable with a condition, what Spark computes of it before the match; None for nothing.
RowTests = Mapping[str, RowColumn | None]


def find_row_filters(
    plan: MatchPlan, pattern: CompiledPattern, conditions: tuple[SplitCondition, ...]
) -> tuple[RowColumn, ...]:
    """Return filters: a row matters only if it passes one of them. Empty if all rows may matter.

    Args:
        plan: the plan of a query.
        pattern: its row pattern, compiled.
        conditions: the conditions of all variables that have one. None reads neighbouring rows.
    """
    if (
        not current_shortcuts().rows
        or find_obstacle(Shortcut.ROWS, plan, pattern.follow) is not None
    ):
        return ()
    tests = {condition.variable: condition.row_test for condition in conditions}
    if plan.staging is not None:
        return find_tests_of_stages(plan, plan.staging, pattern, tests)
    if plan.selection is not EventSelection.STRICT_CONTIGUITY:
        return find_tests_with_fillers(NO_FILLERS, plan, pattern, tests)
    # Variables without a condition may have to take any row.
    free_variables = frozenset(
        variable for variable, name in enumerate(plan.variables) if name not in tests
    )
    loop_variables = find_loops(plan, pattern, conditions)
    return find_tests_with_fillers(
        free_variables | loop_variables, plan, pattern, tests
    ) or find_tests_with_fillers(free_variables, plan, pattern, tests)


def find_tests_with_fillers(
    fillers: VariableIds, plan: MatchPlan, pattern: CompiledPattern, tests: RowTests
) -> tuple[RowColumn, ...]:
    """Return the filters if some variables are fillers, or nothing if all rows may matter.

    A row matters if it satisfies the condition of another variable, or if it does not satisfy the
    condition of one of the fillers.
    """
    if reads_fillers(plan, fillers, tests):
        return ()
    filters: dict[RowColumn, None] = {}
    for variable, name in enumerate(plan.variables):
        test = tests.get(name)
        is_filler = variable in fillers
        if name == plan.match_condition or (is_filler and test is None):
            continue
        if test is None or not test.reads_one_row:
            return ()
        filters[negate_test(test) if is_filler else test] = None
    return tuple(filters) if are_matches_same_without(plan, pattern, fillers) else ()


def reads_fillers(plan: MatchPlan, fillers: VariableIds, tests: RowTests) -> bool:
    """Return whether a condition or a measure may read or count rows of fillers.

    The condition of a filler does not count: it reads the row itself and no other.
    """
    fillers_with_condition = {plan.variables[filler] for filler in fillers} & tests.keys()
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


def find_tests_of_stages(
    plan: MatchPlan, staging: Staging, pattern: CompiledPattern, tests: RowTests
) -> tuple[RowColumn, ...]:
    """Return the filters of a pattern of stages, or nothing if all rows may matter.

    A row that satisfies no condition does not matter if every run may skip it and then waits for
    the same as before. Such a row can still end the window of a run, but without it the next row
    does, or the end of the data. That changes which matches are complete first if a NOT ends the
    pattern, so then all rows matter.
    """
    if pattern.program.completed_by_time or not all_runs_can_skip(pattern):
        return ()
    window_tests = {plan.ids[window.test] for window in staging.neighbour_windows}
    tested_variables = {
        choice.test
        for choices in pattern.folding.choices
        for choice in choices
        if choice.test is not None and choice.test not in window_tests
    }
    filters: dict[RowColumn, None] = {}
    for variable in sorted(tested_variables):
        test = tests.get(plan.variables[variable])
        if test is None or test == ALWAYS_TRUE or not test.reads_one_row:
            return ()
        filters[test] = None
    return tuple(filters)


def all_runs_can_skip(pattern: CompiledPattern) -> bool:
    """Return whether every run of a pattern of stages can skip a row and wait for the same.

    That is a row which satisfies no condition, so every choice must have one. Complete matches are
    no runs, and runs without a row need not wait.
    """
    folding = pattern.folding
    for state, waiting_state in enumerate(folding.waiting_states):
        if folding.states[state] == pattern.program.final:
            continue
        choices = folding.choices[state]
        if any(choice.test is None for choice in choices):
            return False
        has_rows = state >= folding.start_count
        if has_rows and (waiting_state is None or folding.choices[waiting_state] != choices):
            return False
    return True


def find_loops(
    plan: MatchPlan, pattern: CompiledPattern, conditions: tuple[SplitCondition, ...]
) -> VariableIds:
    """Return the variables whose rows leave a run where it was, and whose conditions read one row.

    Spark must compute the whole condition.
    """
    folded = pattern.folding.choices
    if any(choice.test is not None for choices in folded for choice in choices):
        return NO_FILLERS  # tests check more than the condition of their variable
    variables_of_one_row = {
        plan.ids[condition.variable] for condition in conditions if reads_one_row(condition)
    }
    return find_loop_variables(folded) & variables_of_one_row


def reads_one_row(condition: SplitCondition) -> bool:
    """Return whether Spark computes a condition as a whole, and it reads one row."""
    is_computed_by_spark = condition.run_step is None and condition.nearby_test is None
    test = condition.row_test
    return is_computed_by_spark and test is not None and test.reads_one_row


def find_loop_variables(folded: Folded) -> VariableIds:
    """Return the variables whose rows always leave a run where it was, and never begin a run.

    For example, X and Y in `A X*? B Y* C`, but not X in `A X* B X C`.
    """
    staying = set()
    moving = set()
    for state, choices in enumerate(folded):
        for choice in choices:
            if choice.variable is None or choice.target is None:
                continue
            begins_run = state == 0
            if begins_run or list_steps(folded[choice.target]) != list_steps(choices):
                moving.add(choice.variable)
            else:
                staying.add(choice.variable)
    return frozenset(staying - moving)


def are_matches_same_without(
    plan: MatchPlan, pattern: CompiledPattern, fillers: VariableIds
) -> bool:
    """Return whether the matches are the same without the rows that only fillers can take.

    Args:
        plan: the plan of a query.
        pattern: its row pattern, compiled.
        fillers: the fillers; none if the search may skip rows.
    """
    folded = pattern.folding.choices
    if plan.selection is not EventSelection.STRICT_CONTIGUITY:
        # A preferred match that may end early does so if the alternative is to skip a row. So it
        # depends on whether there is a row to skip.
        return not (plan.output is MatchOutput.PREFERRED and may_end_early(folded))
    if plan.needs_event_selection or not plan.rows_per_match.summarizes_matches:
        return False
    if plan.output is MatchOutput.LONGEST:
        return False  # rows of fillers count for the length
    if plan.after_match.variable is not None:
        return False  # AFTER MATCH SKIP TO a variable may look for a filler
    return can_always_take_row(folded, fillers)


def may_end_early(folded: Folded) -> bool:
    """Return whether a match may end in a state from which it could also go on."""
    for choices in folded:
        ends = [choice.target is None for choice in choices]
        if any(ends) and not all(ends):
            return True
    return False


def can_always_take_row(folded: Folded, free: VariableIds) -> bool:
    """Return whether every run can take any row and is then where it was.

    A match must not begin with such a row, and must not end where it could go on: without the row
    it would be another match.

    Args:
        folded: the choices of each state.
        free: variables that can take any row.
    """
    if any(choice.variable in free for choice in folded[0]):
        return False
    states_after_a_row = {
        state for source in range(len(folded)) for state in find_targets(folded, source)
    }
    for state in states_after_a_row:
        choices = folded[state]
        onward = [choice for choice in choices if choice.target is not None]
        if not onward:
            continue
        free_targets = [choice.target for choice in onward if choice.variable in free]
        can_end = len(onward) < len(choices)
        if can_end or len(free_targets) != 1:
            return False
        for target in free_targets:
            if target is not None and list_steps(folded[target]) != list_steps(choices):
                return False
    return True


def list_steps(choices: tuple[Choice, ...]) -> list[tuple[VariableId | None, int | None]]:
    """Return the variable and the target of each choice. States with equal lists go on alike."""
    return [(choice.variable, choice.target) for choice in choices]


def may_read_filler(plan: MatchPlan, reference: Reference, fillers: VariableIds) -> bool:
    """Return whether a reference may read or count a row of a filler.

    A column of the first or the last row of the match does not: these are never fillers.
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
