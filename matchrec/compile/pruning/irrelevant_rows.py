"""Which rows of the input can matter: all others need not be sorted, nor cross to the engine.

A row that satisfies no condition is skipped where rows may be skipped. Where they may not, it can
only be mapped to a *filler*, a variable without a condition; in a funnel such as `A X*? B Y*? C`
every such row is taken by the one loop over a filler that follows the run's last row, and
without it the run is where it was. So matches are the same without these rows, as long as nothing
reads or counts them: conditions and measures may look at other variables, and at the first and the
last row of the match, neither of which is a filler's.

A loop over a variable whose condition looks at one row is a filler as well, as X is with
`X AS e <> 'b'`: then the rows stay behind that satisfy the conditions of all fillers and no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from matchrec.automaton.closure import Choice, Folded, targets
from matchrec.automaton.compile import CompiledPattern
from matchrec.automaton.program import VariableId
from matchrec.compile.pruning.locality import Shortcut, why_not
from matchrec.conditions.residual import SplitCondition
from matchrec.conditions.row_column import EVERYWHERE, RowColumn, row_column
from matchrec.plan.clauses import EventSelection, MatchOutput, RowsPerMatch
from matchrec.plan.expression import Aggregate, MatchValue, Reference, inner_references
from matchrec.plan.match_plan import MatchPlan
from matchrec.shortcuts import taken

if TYPE_CHECKING:
    from matchrec.plan.stages import Staging


Variables = frozenset[VariableId]
NO_FILLERS: Variables = frozenset()
RowTests = Mapping[str, RowColumn | None]  # by variable what Spark computes of its condition


def find_relevance_tests(
    plan: MatchPlan, pattern: CompiledPattern, conditions: tuple[SplitCondition, ...]
) -> tuple[RowColumn, ...]:
    """Conditions of which a row must satisfy one to matter; none where every row may matter."""
    if not taken().rows or why_not(Shortcut.ROWS, plan, pattern.follow) is not None:
        return ()
    tests = {condition.variable: condition.before for condition in conditions}
    if plan.staging is not None:
        return find_tests_of_stages(plan, plan.staging, pattern, tests)
    if plan.selection is not EventSelection.STRICT_CONTIGUITY:
        return tests_beside(NO_FILLERS, plan, pattern, tests)
    # variables without a condition may have to take any row
    free = frozenset(i for i, name in enumerate(plan.variables) if name not in tests)
    choices = (free | find_loops(plan, pattern, conditions), free)
    found = (tests_beside(choice, plan, pattern, tests) for choice in choices)
    return next(filter(None, found), ())


def tests_beside(
    fillers: Variables, plan: MatchPlan, pattern: CompiledPattern, tests: RowTests
) -> tuple[RowColumn, ...]:
    """The tests with these fillers: another condition holds, or one of theirs does not."""
    looped = {plan.variables[filler] for filler in fillers} & tests.keys()
    # the condition of a filler reads the row itself; all others must read and count none of these
    scalars = [one.condition for one in plan.definitions if one.variable not in looped]
    scalars += [one.value for one in plan.measures]
    read = (reference for scalar in scalars for reference in scalar.references)
    if not all(sees_no_row(plan, reference, fillers) for reference in read):
        return ()
    found: dict[RowColumn, None] = {}
    for number, variable in enumerate(plan.variables):
        test = tests.get(variable)
        if variable == plan.closing or (number in fillers and test is None):
            continue
        if test is None or not test.looks_at_one_row:
            return ()
        found[fails(test) if number in fillers else test] = None
    return tuple(found) if finds_the_same_without(plan, pattern, fillers) else ()


def fails(test: RowColumn) -> RowColumn:
    return row_column(f"({test.text}) IS NOT TRUE")


def find_tests_of_stages(
    plan: MatchPlan, staging: Staging, pattern: CompiledPattern, tests: RowTests
) -> tuple[RowColumn, ...]:
    """Tests for a pattern of stages: a row that satisfies none is skipped, if every run may skip it
    and waits as before.

    It may end a window; then the next row does, or the end of the data. That changes which matches
    are complete first if a NOT ends the pattern.
    """
    if pattern.program.pending or not all(skips_alike(pattern)):
        return ()
    asked = {choice.test for choices in pattern.folding.choices for choice in choices}
    asked -= {None, *(plan.ids[near] for near in staging.near)}
    found: dict[RowColumn, None] = {}
    for number in sorted(one for one in asked if one is not None):
        test = tests.get(plan.variables[number])
        if test is None or test == EVERYWHERE or not test.looks_at_one_row:
            return ()
        found[test] = None
    return tuple(found)


def skips_alike(pattern: CompiledPattern) -> Iterator[bool]:
    """For each place, whether a run that skips a row there waits for the same as before."""
    folding, final = pattern.folding, pattern.program.final
    for place, waits in enumerate(folding.waits):
        choices = folding.choices[place]
        if place >= folding.starts and folding.states[place] != final:
            yield waits is not None and folding.choices[waits] == choices
        yield all(choice.test is not None for choice in choices if folding.states[place] != final)


def find_loops(
    plan: MatchPlan, pattern: CompiledPattern, conditions: tuple[SplitCondition, ...]
) -> Variables:
    """The variables that look at one row and only ever leave a run where it was."""
    folded = pattern.folding.choices
    if any(choice.test is not None for choices in folded for choice in choices):
        return NO_FILLERS  # they ask more than the condition of their variable
    of_spark = (one for one in conditions if one.during is None and one.nearby is None)
    known = (one for one in of_spark if one.before is not None and one.before.looks_at_one_row)
    return find_staying(folded).intersection(plan.ids[one.variable] for one in known)


def find_staying(folded: Folded) -> Variables:
    """The variables whose rows only ever leave a run where it was, and never begin one."""
    rows = [
        (state, choice.variable, choice.target)
        for state, choices in enumerate(folded)
        for choice in choices
        if choice.variable is not None and choice.target is not None
    ]
    moving = {
        variable
        for state, variable, target in rows
        if state == 0 or ways(folded[target]) != ways(folded[state])
    }
    return frozenset(variable for _, variable, _ in rows) - moving


def finds_the_same_without(plan: MatchPlan, pattern: CompiledPattern, fillers: Variables) -> bool:
    """Whether the matches are the same without the rows that only fillers could take."""
    folded = pattern.folding.choices
    if plan.selection is not EventSelection.STRICT_CONTIGUITY:
        # a preferred match that may end early does so rather than skip a row, if there is one
        ends = ([choice.target is None for choice in choices] for choices in folded)
        may_end_early = any(any(one) and not all(one) for one in ends)
        return not (plan.output is MatchOutput.PREFERRED and may_end_early)
    if plan.selects or plan.rows_per_match is not RowsPerMatch.ONE_ROW:
        return False
    if plan.output is MatchOutput.LONGEST:  # which match that is, fillers decide as well
        return False
    skips_to_one = plan.after_match.variable is not None
    return not skips_to_one and takes_any_row(folded, fillers)


def takes_any_row(folded: Folded, free: Variables) -> bool:
    """Whether a run takes a row that only `free` variables can take, and is where it was.

    A match that began with one, or ended where it could go on, would be another match.
    """
    if any(choice.variable in free for choice in folded[0]):
        return False
    waiting = {state for source in range(len(folded)) for state in targets(folded, source)}
    for choices in (folded[state] for state in waiting):
        onward = [choice for choice in choices if choice.target is not None]
        taken = [choice.target for choice in onward if choice.variable in free]
        if onward and (len(onward) < len(choices) or len(taken) != 1):
            return False
        if any(ways(folded[target]) != ways(choices) for target in taken if target is not None):
            return False
    return True


def ways(choices: tuple[Choice, ...]) -> list[tuple[VariableId | None, int | None]]:
    return [(choice.variable, choice.target) for choice in choices]


def sees_no_row(plan: MatchPlan, reference: Reference, fillers: Variables) -> bool:
    if isinstance(reference, MatchValue):
        return True
    if isinstance(reference, Aggregate):
        others = not plan.members[reference.variable] & fillers
        inner = inner_references(reference)
        return others and all(sees_no_row(plan, one, fillers) for one in inner)
    navigation = reference.navigation
    at_an_end = navigation.variable is None and navigation.logical_offset == 0
    return at_an_end or not plan.members[navigation.variable] & fillers
