"""Stages: the plan of a `Pattern`, in which each step has a rule for the events that are skipped.

    Pattern.begin("a").where("x > 1").followed_by("b").where("x > a.x").times(2)

An event is a row of the input. The steps of a pattern are single stages, groups of steps, and NOTs.
They are in the `Staging` of a plan. The row pattern of the plan, here `a b{2}`, shows only the
order in which stages have rows.

A *test* is a condition on one event: that a stage accepts the event, that the event ends a loop, or
that it comes too late. Each test is a definition of the plan with a separate name, such as
`:b where`, and steps refer to the test by this name. No row is ever mapped to the name of a test.
In the condition of a test, the name of the test means the tested event, and the name of a stage
means the events that the stage has accepted before:

    :a where    :a where.x > 1
    :b where    :b where.x > a.x

Source: Flink CEP, "The Pattern API", contiguity of individual and of looping patterns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from matchrec.plan.choices import Dependency
from matchrec.plan.clauses import RowExpression, SkipTo
from matchrec.plan.expression import Scalar
from matchrec.plan.pattern import (
    Quantified,
    RowPattern,
    Variable,
    list_variable_names,
    make_concatenation,
)


class Contiguity(Enum):
    """The events that may be skipped before an event is accepted."""

    STRICT = "next"  # no event
    RELAXED = "followed_by"  # events that do not satisfy the stage's own condition
    ANY = "followed_by_any"  # any event


@dataclass(frozen=True, slots=True)
class SingleStage:
    """A stage that accepts one event: the row satisfies its test and is mapped to its variable."""

    # The name of the stage, which is also the name of the variable.
    name: str
    # The name of the test that the stage accepts an event.
    test: str


@dataclass(frozen=True, slots=True)
class Until:
    """The names of the tests of a loop that an event can end: `one_or_more().until("x = 0")`."""

    # The test that an event ends the loop: `x = 0`.
    test: str
    # The test that an event does not end the loop: `x = 0` is false or NULL.
    complement: str
    # The test that the stage accepts an event that does not end the loop. None for a group, whose
    # inner stages have tests of their own.
    take_test: str | None = None


@dataclass(frozen=True, slots=True)
class RepeatedPart:
    """A single stage or a group, repeated from `least` to `most` times."""

    dependencies: ClassVar[tuple[Dependency, ...]] = ()

    # The stage, or the steps of the group.
    content: SingleStage | Steps
    # Which events may be skipped before the first row of the part.
    contiguity: Contiguity
    # The least number of repetitions.
    least: int = 1
    # The most repetitions; None if there is no limit.
    most: int | None = 1
    # Whether a match may have no row of the part, whatever `least` is.
    is_optional: bool = False
    # Whether the part takes as many events as it can before the next step.
    is_greedy: bool = False
    # Which events may be skipped before the second and each later repetition.
    inner_contiguity: Contiguity = Contiguity.RELAXED
    # The tests that end the loop; None if no event ends it.
    until: Until | None = None
    # The name of the test that an event comes too late after the previous accepted event, so that
    # the stage must not accept it. None for a group, and for a stage without such a limit.
    distance_test: str | None = None
    # The name of the same test, but only for the first event of the second and each later
    # repetition. None if the time between repetitions is not limited.
    gap_test: str | None = None

    @property
    def has_choice(self) -> bool:
        """Return whether a run may either repeat the part or leave it after some repetition."""
        return self.least != self.most


@dataclass(frozen=True, slots=True)
class ForbiddenEvent:
    """A NOT: no event after the last accepted event may satisfy its test."""

    dependencies: ClassVar[tuple[Dependency, ...]] = (Dependency.COMPLETED_LATER,)

    # The name of the stage.
    name: str
    # The name of the test that no event may satisfy.
    test: str
    # Whether the test forbids only the next event. Otherwise it forbids all events up to the next
    # accepted event.
    forbids_only_next: bool
    # For a NOT at the end of a pattern: the name of the test that an event comes so late after the
    # last accepted event that the NOT does not forbid it. None if only other windows decide that.
    distance_test: str | None = None


# The steps of a pattern or of a group, in order.
Steps = tuple[RepeatedPart | ForbiddenEvent, ...]


@dataclass(frozen=True, slots=True)
class Skip:
    """The row to skip to: a match drops all later matches that start before this row."""

    # The row after the first or the last row of the match, or the first or last row of `variable`.
    to: SkipTo
    # The name of a stage; None if the row is relative to the whole match.
    variable: str | None = None
    # Whether it is an error if the match has no such row, or if it is the first row of the match.
    # Otherwise such a match drops no match.
    fails_on_miss: bool = False


@dataclass(frozen=True, slots=True)
class NeighbourWindow:
    """A window between neighbouring rows of a match: it begins with a row and limits the next one.

    Several stages can have windows of one length; each window has its own test.
    """

    # The name of the test that a row is beyond the window which begins with the row mapped before.
    test: str
    # The length of the window.
    length: RowExpression
    # The end of a window as SQL over the row with which it begins: `ts + INTERVAL 5 MINUTE`.
    end_sql: str
    # The end of the window that begins with the last row of a run: `end_sql` on that row.
    end: Scalar


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The windows at whose end a run times out."""

    # The end of the window of the whole match; None if there is no such window.
    match_end: Scalar | None
    # The windows between neighbouring rows, the shortest first.
    neighbour_windows: tuple[NeighbourWindow, ...]


class IdleReason(Enum):
    """Why a window that the user wrote excludes no match."""

    # The gap of a stage that occurs only once.
    ONE_REPETITION = "one repetition"
    # A gap that is not shorter than the window of the whole match.
    LONGER_THAN_MATCH = "longer than the match"
    # A window from the event before, at a stage that takes only the first event of a match.
    FIRST_EVENT = "first event"
    # The window of the whole match, if a match has only one event.
    ONE_EVENT = "one event"


@dataclass(frozen=True, slots=True)
class IdleWindow:
    """A window that the user wrote and that excludes no match, so that a warning is due."""

    reason: IdleReason
    # The label of the stage in messages, such as "stage `b`".
    stage: str
    # The lengths of this window and of the window of the whole match, as text.
    length: str
    match_length: str = ""


@dataclass(frozen=True, slots=True)
class Staging:
    """The steps of a plan, and everything else that only the plan of a `Pattern` has."""

    steps: Steps
    # The names of all tests, in the order of their definitions.
    tests: tuple[str, ...]
    # The windows between neighbouring rows, the shortest first.
    neighbour_windows: tuple[NeighbourWindow, ...] = ()
    # The row to skip to after a match; None if all matches are output.
    skip: Skip | None = None
    # The windows at whose end a run times out; None if such runs are not output.
    timeouts: Timeouts | None = None
    # The windows without effect, for warnings.
    idle_windows: tuple[IdleWindow, ...] = ()


def walk_steps(steps: Steps) -> Iterator[RepeatedPart | ForbiddenEvent]:
    """Yield all steps, a group before the steps inside it."""
    for step in steps:
        yield step
        if isinstance(step, RepeatedPart) and isinstance(step.content, tuple):
            yield from walk_steps(step.content)


def walk_repeated_parts(steps: Steps) -> Iterator[RepeatedPart]:
    """Yield all single stages and groups, a group before the steps inside it."""
    return (step for step in walk_steps(steps) if isinstance(step, RepeatedPart))


def walk_forbidden_events(steps: Steps) -> Iterator[ForbiddenEvent]:
    """Yield all NOTs, including NOTs inside groups."""
    return (step for step in walk_steps(steps) if isinstance(step, ForbiddenEvent))


def build_row_pattern(steps: Steps) -> RowPattern:
    """Return the row pattern of a match: the stages in their order, with their repetitions.

    The row pattern shows which stages follow each other, whatever events are skipped between them.
    NOTs have no rows, so the row pattern does not contain them.
    """
    return make_concatenation(
        build_part_pattern(step) for step in steps if isinstance(step, RepeatedPart)
    )


def build_part_pattern(part: RepeatedPart) -> RowPattern:
    """Return the row pattern of one part.

    >>> from matchrec.plan.pattern import show_pattern
    >>> stage = SingleStage("A", ":A where")
    >>> part = RepeatedPart(stage, Contiguity.STRICT, least=2, most=3, is_optional=True)
    >>> show_pattern(build_part_pattern(part))
    '(A{2,3})?'
    """
    pattern: RowPattern
    if isinstance(part.content, SingleStage):
        pattern = Variable(part.content.name)
    else:
        pattern = build_row_pattern(part.content)
    if (part.least, part.most) != (1, 1):
        pattern = Quantified(pattern, part.least, part.most)
    return Quantified(pattern, 0, 1) if part.is_optional else pattern


@dataclass(frozen=True, slots=True)
class StageTest:
    """A test of a stage or a group, and the stages that may have rows when it is evaluated."""

    # The name of the test.
    name: str
    # What the test is about: the name of a stage, or "the group".
    subject: str
    # The names of the stages that may have rows by then.
    stages_before: frozenset[str]


def find_tests_of_events(steps: Steps) -> dict[str, StageTest]:
    """Return the tests of a pattern, with the stages before any event of their stage.

    Use it for a part of a condition that need not hold for every event. In a loop, every stage may
    have rows from an earlier repetition.

    >>> a = RepeatedPart(SingleStage("a", ":a where"), Contiguity.STRICT)
    >>> b = RepeatedPart(SingleStage("b", ":b where"), Contiguity.RELAXED)
    >>> loop = RepeatedPart((a, b), Contiguity.STRICT, most=None)
    >>> for name, stage_test in find_tests_of_events((loop,)).items():
    ...     print(name, sorted(stage_test.stages_before))
    :a where ['a', 'b']
    :b where ['a', 'b']
    """
    return {stage_test.name: stage_test for stage_test in _walk_tests(steps, frozenset())}


def find_tests_of_first_events(steps: Steps) -> dict[str, StageTest]:
    """Return the tests of a pattern, with the stages before the first event of their stage.

    In a loop, the first event belongs to the first repetition. Use it for a part of a condition
    that must hold for every event of the stage, and so for the first one. The tests of NOTs and of
    ends of loops are as in `find_tests_of_events`.

    >>> a = RepeatedPart(SingleStage("a", ":a where"), Contiguity.STRICT)
    >>> b = RepeatedPart(SingleStage("b", ":b where"), Contiguity.RELAXED)
    >>> loop = RepeatedPart((a, b), Contiguity.STRICT, most=None)
    >>> for name, stage_test in find_tests_of_first_events((loop,)).items():
    ...     print(name, sorted(stage_test.stages_before))
    :a where []
    :b where ['a']
    """
    first_tests = {test.name: test for test in _walk_first_tests(steps, frozenset())}
    return find_tests_of_events(steps) | first_tests


def _walk_tests(steps: Steps, stages_before: frozenset[str]) -> Iterator[StageTest]:
    """Yield the tests of stages, NOTs and ends of loops, each with the stages before any event.

    Args:
        steps: the steps of a pattern or of a group.
        stages_before: the stages before these steps, and the stages of the loops around them.
    """
    for step in steps:
        if isinstance(step, ForbiddenEvent):
            yield StageTest(step.test, step.name, stages_before)
            continue
        content = step.content
        stages_with_step = stages_before | find_stages(step)
        # Before a repetition, the stages of earlier repetitions have rows, too.
        stages_before_content = stages_before if step.most == 1 else stages_with_step
        if isinstance(content, SingleStage):
            subject = content.name
            yield StageTest(content.test, subject, stages_before_content)
        else:
            subject = "the group"
            yield from _walk_tests(content, stages_before_content)
        if step.until is not None:
            yield StageTest(step.until.test, subject, stages_with_step)
        stages_before = stages_with_step


def _walk_first_tests(steps: Steps, stages_before: frozenset[str]) -> Iterator[StageTest]:
    """Yield the tests of single stages, each with the stages before its first event.

    Args:
        steps: the steps of a pattern or of a group.
        stages_before: the stages before these steps, in the first repetition of the loops around
            them.
    """
    for step in steps:
        if isinstance(step, ForbiddenEvent):
            continue
        if isinstance(step.content, SingleStage):
            yield StageTest(step.content.test, step.content.name, stages_before)
        else:
            yield from _walk_first_tests(step.content, stages_before)
        stages_before |= find_stages(step)


def find_stages(part: RepeatedPart) -> frozenset[str]:
    """Return the names of the single stages of a part, including stages inside groups.

    NOTs are not among them: they have no rows.
    """
    return frozenset(list_variable_names(build_part_pattern(part)))
