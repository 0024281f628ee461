"""The stages of a Pattern, as the user's calls describe them, and what is made from them.

`show_pattern` returns the calls again, and `StepBuilder` the steps of `plan.stages`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, TypeVar

from matchrec.plan.stages import Contiguity, ForbiddenEvent, RepeatedPart, SingleStage, Steps, Until
from matchrec.syntax.durations import Duration


@dataclass(frozen=True, slots=True)
class Test:
    """One condition, as it was passed to `where`, `or_where` or `until`."""

    __test__ = False  # not a test for pytest

    # SQL text, or a Spark Column.
    expression: Any
    # Whether it was passed to `or_where`: an alternative to all conditions before it.
    is_alternative: bool = False

    @property
    def python_code(self) -> str:
        """The argument of the call that made it, as Python code."""
        return repr(self.expression) if isinstance(self.expression, str) else str(self.expression)


T = TypeVar("T")
StageTests = tuple[Test, ...]


def combine_tests(
    tests: StageTests, make: Callable[[Test], T], join: Callable[[str, list[T]], T]
) -> T:
    """Combine one or more conditions, from left to right.

    `where(a).where(b).or_where(c)` becomes `(a AND b) OR c`.

    Args:
        tests: the conditions.
        make: converts one condition, such as to an expression.
        join: joins several converted conditions by AND or OR.
    """
    combined = make(tests[0])
    for is_alternative, group in groupby(tests[1:], lambda test: test.is_alternative):
        operator = "OR" if is_alternative else "AND"
        combined = join(operator, [combined, *(make(test) for test in group)])
    return combined


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: events that satisfy a condition, a whole pattern as a group, or a NOT."""

    # Unique except for groups: each of them is called "group".
    name: str
    # Which events a match may skip before the first event of the stage. Of a NOT, STRICT is
    # `not_next` and RELAXED is `not_followed_by`. The first stage of a pattern has STRICT, but no
    # event is skipped before it in any case.
    contiguity: Contiguity
    # The stages of a group.
    stages: tuple[Stage, ...] = ()
    # Whether it is a NOT: no event may satisfy its conditions.
    negated: bool = False
    # Every event satisfies a stage without conditions.
    conditions: StageTests = ()
    # Whether a call has set `least` and `most`.
    quantified: bool = False
    # How often the stage is repeated; `most` is None if there is no limit.
    least: int = 1
    most: int | None = 1
    # Whether the stage may also have no event, whatever `least` is.
    optional: bool = False
    # Whether it takes as many events as it can before the next stage.
    greedy: bool = False
    # Which events a match may skip between repetitions; None if no call has set it.
    inner: Contiguity | None = None
    # An event that satisfies this condition ends the loop.
    until: Test | None = None
    # The time between two repetitions must be less than this.
    gap: Duration | None = None
    # The time from the first to the last event of the whole match must be less than this.
    within: Duration | None = None
    # The time from the event accepted before to each event of the stage must be less than this.
    near: Duration | None = None

    @property
    def is_group(self) -> bool:
        """Return whether the stage is a group: a pattern inside the pattern."""
        return bool(self.stages)

    @property
    def may_be_missing(self) -> bool:
        """Return whether a match may lack the stage: it or all its inner stages are optional."""
        if self.optional:
            return True
        return self.is_group and all(stage.may_be_missing for stage in self.stages)

    @property
    def label(self) -> str:
        """The name of the stage in messages: stage `a`, or group (stage `a`, stage `b`)."""
        if not self.is_group:
            return f"stage `{self.name}`"
        labels = ", ".join(stage.label for stage in self.stages)
        return f"group ({labels})"


def walk_stages(stages: tuple[Stage, ...]) -> Iterator[Stage]:
    """Yield all stages, a group before the stages inside it."""
    for stage in stages:
        yield stage
        yield from walk_stages(stage.stages)


def list_named_stages(stages: tuple[Stage, ...]) -> Iterator[Stage]:
    """Yield all stages that are not groups, those inside groups included."""
    return (stage for stage in walk_stages(stages) if not stage.is_group)


def name_columns(
    stages: tuple[Stage, ...], rule: str = ""
) -> tuple[tuple[Stage, ...], dict[str, Any]]:
    """Replace conditions that are Spark Columns by names of new columns.

    Args:
        stages: the stages of a pattern.
        rule: a part of these names that is different for each rule of a rule set.

    Returns:
        The stages, whose conditions are all text, and the Columns by the new names.
    """
    columns: dict[str, Any] = {}

    def name_column(test: Test) -> Test:
        """Return the test with a column name instead of a Spark Column, which `columns` keeps."""
        if isinstance(test.expression, str):
            return test
        name = f"__condition_{rule}{len(columns)}"
        columns[name] = test.expression
        return replace(test, expression=name)

    def name_columns_in_stage(stage: Stage) -> Stage:
        """Return a stage, inner stages included, with column names in its conditions."""
        inner_stages = tuple(name_columns_in_stage(inner) for inner in stage.stages)
        until = None if stage.until is None else name_column(stage.until)
        conditions = tuple(name_column(condition) for condition in stage.conditions)
        return replace(stage, stages=inner_stages, conditions=conditions, until=until)

    return tuple(name_columns_in_stage(stage) for stage in stages), columns


# A pattern as the calls that build it.


def show_pattern(stages: tuple[Stage, ...]) -> str:
    """Return the calls that build the stages, in an order in which each call is allowed."""
    calls = ["Pattern"]
    for index, stage in enumerate(stages):
        calls += show_stage(stage, is_first=index == 0)
    return ".".join(calls)


def show_stage(stage: Stage, *, is_first: bool) -> Iterator[str]:
    """Yield the calls that build one stage."""
    content = show_pattern(stage.stages) if stage.is_group else repr(stage.name)
    yield f"{find_append_call(stage, is_first=is_first)}({content})"
    for test in stage.conditions:
        yield f"{'or_where' if test.is_alternative else 'where'}({test.python_code})"
    if stage.quantified:
        yield show_quantifier(stage)
    if stage.optional and not is_repeated_from_zero(stage):
        yield "optional()"
    if stage.greedy:
        yield "greedy()"
    if stage.inner is not None:
        yield "consecutive()" if stage.inner is Contiguity.STRICT else "allow_combinations()"
    if stage.until is not None:
        yield f"until({stage.until.python_code})"
    if stage.within is not None:
        yield f"within('{stage.within}')"
    if stage.near is not None:
        yield f"within('{stage.near}', 'previous_to_current')"


def find_append_call(stage: Stage, *, is_first: bool) -> str:
    """Return the name of the call that appends a stage."""
    if is_first:
        return "begin"
    if not stage.negated:
        return stage.contiguity.value
    return "not_next" if stage.contiguity is Contiguity.STRICT else "not_followed_by"


def is_repeated_from_zero(stage: Stage) -> bool:
    """Return whether `times(0, n)` repeats the stage."""
    return stage.optional and stage.least == 1 and stage.most not in (1, None)


def show_quantifier(stage: Stage) -> str:
    """Return the call that repeats a stage."""
    gap = f", gap='{stage.gap}'" if stage.gap is not None else ""
    if stage.most is None and stage.least == 1:
        return f"one_or_more({gap.removeprefix(', ')})"
    if stage.most is None:
        return f"times_or_more({stage.least}{gap})"
    least = 0 if is_repeated_from_zero(stage) else stage.least
    most = "" if stage.most == least else f", {stage.most}"
    return f"times({least}{most}{gap})"


# A pattern as steps.


class StepBuilder:
    """A builder of steps from stages.

    These steps are for pictures: where a step needs the name of a test, they have the text of the
    condition. `lower.TestDefinitions` defines tests and returns their names.
    """

    def build_steps(self, stages: tuple[Stage, ...]) -> Steps:
        """Return the steps of a sequence of stages."""
        return tuple(self.build_step(stage) for stage in stages)

    def build_step(self, stage: Stage) -> RepeatedPart | ForbiddenEvent:
        """Return the step of one stage.

        Tests are named in a fixed order: conditions, until, near, gap.
        """
        if stage.negated:
            return ForbiddenEvent(
                stage.name,
                test=self.name_condition(stage),
                only_next=stage.contiguity is Contiguity.STRICT,
                distance_test=self.name_distance(f"{stage.name} near", stage.near),
            )
        content: SingleStage | Steps
        if stage.is_group:
            content = self.build_steps(stage.stages)
        else:
            content = SingleStage(stage.name, self.name_condition(stage))
        return RepeatedPart(
            content,
            contiguity=stage.contiguity,
            least=stage.least,
            most=stage.most,
            optional=stage.optional,
            greedy=stage.greedy,
            inner=stage.inner or Contiguity.RELAXED,
            until=self.name_until(stage),
            distance_test=self.name_distance(f"{stage.name} near", stage.near),
            gap_test=self.name_distance(f"{stage.name} gap", stage.gap),
        )

    def name_condition(self, stage: Stage) -> str:
        """Return the name of the test that an event satisfies the conditions of a stage."""
        if not stage.conditions:
            return "every event"
        return combine_tests(
            stage.conditions,
            lambda test: str(test.expression),
            lambda operator, parts: f" {operator} ".join(f"({part})" for part in parts),
        )

    def name_until(self, stage: Stage) -> Until | None:
        """Return the names of the tests that end the loop of a stage; None if there are none."""
        return None if stage.until is None else Until(str(stage.until.expression), "")

    def name_distance(self, _label: str, _window: Duration | None) -> str | None:
        """Return the name of the test that a row is too far after the row mapped before it.

        None if there is no such test. Pictures do not show them.

        Args:
            _label: what to call the test.
            _window: the distance that is too far; None for none.
        """
        return None
