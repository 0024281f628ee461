"""Build the steps of a plan, which `plan.stages` defines, from the stages of a Pattern.

A step refers to its tests by their names. The two subclasses of `StepBuilder` make the tests in
different ways:

    definitions.TestDefinitions     a test is a definition of the plan, with a name such as
                                    `:b where`
    PictureStepBuilder              a test is only a name, which is the text of its condition

A window between events of stage `b` has these names in the user's call, in `Stage`, in a test and
in the step:

    call                                    field of Stage       name of test    field of the step
    within(..., "previous_to_current")      neighbour_window     :b near         distance_test
    times(2, gap=...)                       repetition_window    :b gap          gap_test
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from typing_extensions import override

from matchrec.patterns.stages.tree import Stage, combine_conditions
from matchrec.plan.stages import Contiguity, ForbiddenEvent, RepeatedPart, SingleStage, Steps, Until
from matchrec.syntax.durations import Duration


class StepBuilder(ABC):
    """A builder of steps from stages. Subclasses make the tests to which the steps refer."""

    def build_steps(self, stages: tuple[Stage, ...]) -> Steps:
        """Return the steps of a sequence of stages.

        >>> from matchrec.patterns.stages.tree import StageCondition
        >>> conditions = (StageCondition("x > 1"), StageCondition("y = 2", is_alternative=True))
        >>> stage = Stage("b", Contiguity.RELAXED, conditions=conditions, least=2, most=2)
        >>> step, = PictureStepBuilder().build_steps((stage,))
        >>> step.content
        SingleStage(name='b', test='(x > 1) OR (y = 2)')
        >>> step.contiguity, step.least, step.most
        (<Contiguity.RELAXED: 'followed_by'>, 2, 2)
        """
        return tuple(self.build_step(stage) for stage in stages)

    def build_step(self, stage: Stage) -> RepeatedPart | ForbiddenEvent:
        """Return the step of one stage.

        The tests are made in a fixed order: conditions, until, near, gap. This is the order of the
        definitions in the plan.
        """
        if stage.is_negated:
            condition_test = self.make_condition_test(stage)
            distance_test = self.make_distance_test(f"{stage.name} near", stage.neighbour_window)
            return ForbiddenEvent(
                stage.name,
                test=condition_test,
                forbids_only_next=stage.contiguity is Contiguity.STRICT,
                distance_test=distance_test,
            )
        content: SingleStage | Steps
        if stage.is_group:
            content = self.build_steps(stage.stages)
        else:
            content = SingleStage(stage.name, self.make_condition_test(stage))
        until = self.make_until_tests(stage)
        distance_test = self.make_distance_test(f"{stage.name} near", stage.neighbour_window)
        gap_test = self.make_distance_test(f"{stage.name} gap", stage.repetition_window)
        return RepeatedPart(
            content,
            contiguity=stage.contiguity,
            least=stage.least,
            most=stage.most,
            is_optional=stage.is_optional,
            is_greedy=stage.is_greedy,
            inner_contiguity=stage.inner_contiguity or Contiguity.RELAXED,
            until=until,
            distance_test=distance_test,
            gap_test=gap_test,
        )

    @abstractmethod
    def make_condition_test(self, stage: Stage) -> str:
        """Make the test that an event satisfies the conditions of a stage.

        Returns:
            The name of the test.
        """

    @abstractmethod
    def make_until_tests(self, stage: Stage) -> Until | None:
        """Make the tests that end the loop of a stage.

        Returns:
            The names of the tests; None if no event ends the loop.
        """

    @abstractmethod
    def make_distance_test(self, label: str, window: Duration | None) -> str | None:
        """Make the test that a row is too far after the row mapped before it.

        Args:
            label: the stage and the kind of window, such as `b near`.
            window: the smallest distance that is too far; None if the distance is not limited.

        Returns:
            The name of the test; None if no test is needed.
        """


class PictureStepBuilder(StepBuilder):
    """A builder of steps for pictures, in which each test is named by the text of its condition."""

    @override
    def make_condition_test(self, stage: Stage) -> str:
        """Return the conditions of a stage as text, such as `(x > 1) OR (y = 2)`."""
        if not stage.conditions:
            return "every event"
        return combine_conditions(
            stage.conditions,
            lambda condition: str(condition.expression),
            lambda operator, texts: f" {operator} ".join(f"({text})" for text in texts),
        )

    @override
    def make_until_tests(self, stage: Stage) -> Until | None:
        """Return the texts of the condition that ends the loop of a stage, and of its complement.

        Return None if no event ends the loop.
        """
        if stage.until is None:
            return None
        text = str(stage.until.expression)
        return Until(text, f"({text}) IS NOT TRUE")

    @override
    def make_distance_test(self, label: str, window: Duration | None) -> None:
        """Return None: pictures do not show distances."""
