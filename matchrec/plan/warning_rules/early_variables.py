"""Find the variables that can have rows when a part of a condition is tested.

    PATTERN (A (B C)+)     at the first row of B: A and B       at a later row of B: A, B and C

A part of a condition that must hold, as `x > 1` in `x > 1 AND c`, must hold for the first row of
the variable, too. So the first row counts for such a part, and every row for all other parts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matchrec.plan import pattern as patterns
from matchrec.plan.match_plan import MatchPlan

if TYPE_CHECKING:
    from matchrec.plan.stages import StageTest


@dataclass(frozen=True, slots=True)
class Subject:
    """The variable or stage that a part of a condition tests."""

    # The name of a variable or a stage, or "the group".
    name: str
    # The names of the variables that can have rows when the part is tested.
    early_variables: Collection[str]


class EarlyVariables:
    """The variables that can have rows when the conditions of a plan are tested."""

    def __init__(self, plan: MatchPlan) -> None:
        """Find the tests of stages, if the plan has stages."""
        self.plan = plan
        self.variables = patterns.list_variable_names(plan.pattern)
        # The tests of stages, by their names: for parts of conditions that need not hold. Empty if
        # the plan has no stages.
        self.tests_of_events: Mapping[str, StageTest] = {}
        # The tests of stages, by their names: for parts of conditions that must hold. Empty if the
        # plan has no stages.
        self.tests_of_first_events: Mapping[str, StageTest] = {}
        # The subjects that `find_subject` has found, by its arguments.
        self.subjects: dict[tuple[str, bool], Subject] = {}
        if plan.staging is not None:
            from matchrec.plan import stages  # SQL has no stages

            self.tests_of_events = stages.find_tests_of_events(plan.staging.steps)
            self.tests_of_first_events = stages.find_tests_of_first_events(plan.staging.steps)

    def find_subject(self, variable: str, *, is_required: bool) -> Subject:
        """Return the subject of a part of a condition.

        Args:
            variable: the name of the condition: a variable, or the test of a stage.
            is_required: whether the part must hold for the condition to hold. If so, the part must
                hold for the first row of the variable, too, before which fewer variables have rows.
        """
        key = (variable, is_required)
        if key not in self.subjects:
            self.subjects[key] = self._compute_subject(variable, is_required=is_required)
        return self.subjects[key]

    def _compute_subject(self, variable: str, *, is_required: bool) -> Subject:
        """Compute what `find_subject` returns."""
        if self.plan.staging is not None:
            tests = self.tests_of_first_events if is_required else self.tests_of_events
            if variable not in tests:
                return Subject(variable, self.variables)
            return Subject(tests[variable].subject, tests[variable].stages_before)
        if variable in self.plan.negated_variables:
            return Subject(variable, self.variables)
        variables_before = find_variables_before(
            variable, self.plan.pattern, only_first_row=is_required
        )
        return Subject(variable, {variable} | variables_before)


def find_variables_before(
    name: str, pattern: patterns.RowPattern, *, only_first_row: bool
) -> set[str]:
    """Return the variables that can have rows before a row of a variable.

    In `(A B)+`, B can have rows before the second row of A, but not before the first one. So if
    every row of A must follow a row of B, then no row can be mapped to A.

    Args:
        name: the name of the variable.
        pattern: a row pattern.
        only_first_row: whether to look only at the first row of the variable in a match.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> loop = parse_row_pattern("(A B)+")
    >>> find_variables_before("A", loop, only_first_row=True)
    set()
    >>> sorted(find_variables_before("A", loop, only_first_row=False))
    ['A', 'B']
    """
    parts = patterns.list_children(pattern)
    indexes = [
        index for index, part in enumerate(parts) if name in patterns.list_variable_names(part)
    ]
    if not indexes:
        return set()
    # The children that can be matched before the variable gets a row.
    earlier_parts: tuple[patterns.RowPattern, ...] = ()
    if isinstance(pattern, patterns.Concatenation):
        earlier_parts = parts[: indexes[-1]]
    elif isinstance(pattern, patterns.Permutation) or is_loop(pattern):
        earlier_parts = parts
    if only_first_row:
        # After a part that always has a row of the variable, no later row of it is the first one.
        earlier_parts = tuple(
            part for part in earlier_parts if not patterns.always_has_row(part, frozenset({name}))
        )
    variables: set[str] = set()
    for index in indexes:
        variables |= find_variables_before(name, parts[index], only_first_row=only_first_row)
    for part in earlier_parts:
        variables.update(patterns.list_variable_names(part))
    return variables


def is_loop(pattern: patterns.RowPattern) -> bool:
    """Return whether a node is a quantifier that can repeat its part."""
    return isinstance(pattern, patterns.Quantified) and pattern.most != 1
