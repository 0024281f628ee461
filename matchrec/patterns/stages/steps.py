"""Build the steps of a plan, see `plan.stages`, from the stages of a Pattern.

A step names tests, which the two builders make in different ways:

    PictureStepBuilder              the test is the text of its condition
    definitions.TestDefinitions     the test is a definition of the plan
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from typing_extensions import override

from matchrec.patterns.stages.tree import Stage, combine_conditions
from matchrec.plan.stages import Contiguity, ForbiddenEvent, RepeatedPart, SingleStage, Steps, Until
from matchrec.syntax.durations import Duration


class StepBuilder(ABC):
    """A builder of steps from stages. A subclass makes the tests that the steps name."""

    def build_steps(self, stages: tuple[Stage, ...]) -> Steps:
        """Return the steps of a sequence of stages."""
        return tuple(self.build_step(stage) for stage in stages)

    def build_step(self, stage: Stage) -> RepeatedPart | ForbiddenEvent:
        """Return the step of one stage.

        A plan has its tests in the order in which they are made, so that order is fixed:
        conditions, until, near, gap.
        """
        if stage.negated:
            condition_test = self.make_condition_test(stage)
            distance_test = self.make_distance_test(f"{stage.name} near", stage.neighbour_window)
            return ForbiddenEvent(
                stage.name,
                test=condition_test,
                only_next=stage.contiguity is Contiguity.STRICT,
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
            optional=stage.optional,
            greedy=stage.greedy,
            inner=stage.inner_contiguity or Contiguity.RELAXED,
            until=until,
            distance_test=distance_test,
            gap_test=gap_test,
        )

    @abstractmethod
    def make_condition_test(self, stage: Stage) -> str:
        """Make the test that an event satisfies the conditions of a stage; return its name."""

    @abstractmethod
    def make_until_tests(self, stage: Stage) -> Until | None:
        """Make the tests that end the loop of a stage.

        Returns:
            Their names; None if no event ends the loop.
        """

    @abstractmethod
    def make_distance_test(self, label: str, window: Duration | None) -> str | None:
        """Make the test that a row is too far after the row mapped before it.

        Args:
            label: what to call the test, such as `b near`.
            window: the distance that is too far; None if no distance is.

        Returns:
            The name of the test; None if there is none.
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
        """Return the condition that ends the loop of a stage, and its complement, as text."""
        if stage.until is None:
            return None
        text = str(stage.until.expression)
        return Until(text, f"({text}) IS NOT TRUE")

    @override
    def make_distance_test(self, label: str, window: Duration | None) -> None:
        """Return None: pictures do not show distances."""
