"""Stages: a form of patterns in which every step says which events may be skipped before it.

A test is the name of a definition to which no row is mapped. While a test is evaluated, the row
that it is about is not mapped yet, so a reference to a stage reads rows before it.

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
    """Which events may be skipped before an event is accepted."""

    STRICT = "next"  # no event
    RELAXED = "followed_by"  # events that do not satisfy the stage's own condition
    ANY = "followed_by_any"  # any event


@dataclass(frozen=True, slots=True)
class SingleStage:
    """A stage that accepts one row, which satisfies its test and is mapped to its variable."""

    # The name of the stage, and so of the variable.
    name: str
    # The name of the test.
    test: str


@dataclass(frozen=True, slots=True)
class Until:
    """The tests of a loop that an event can end, by their names."""

    # The test that an event ends the loop.
    test: str
    # The test that an event does not end the loop.
    complement: str
    # For a single stage: the test that an event satisfies the stage and does not end the loop.
    take: str | None = None


@dataclass(frozen=True, slots=True)
class RepeatedPart:
    """A single stage or a group, repeated from `least` to `most` times."""

    dependencies: ClassVar[tuple[Dependency, ...]] = ()

    # The stage, or the steps of the group.
    content: SingleStage | Steps
    # Which events may be skipped before its first row.
    contiguity: Contiguity
    # The least number of repetitions.
    least: int = 1
    # The most repetitions; None if there is no limit.
    most: int | None = 1
    # Whether a match may have no row of it, whatever `least` is.
    optional: bool = False
    # Whether it takes as many events as it can before the next step.
    greedy: bool = False
    # Which events may be skipped before the second and each later repetition.
    inner: Contiguity = Contiguity.RELAXED
    # The tests that end the loop.
    until: Until | None = None
    # For a single stage: the test that a row is too far after the row mapped before it.
    distance_test: str | None = None
    # The test that a second or later repetition is too far after the row mapped before it.
    gap_test: str | None = None

    @property
    def has_choice(self) -> bool:
        """Return whether a run may either repeat the part or leave it after some repetition."""
        return self.least != self.most


@dataclass(frozen=True, slots=True)
class ForbiddenEvent:
    """A NOT: no row may satisfy its test."""

    dependencies: ClassVar[tuple[Dependency, ...]] = (Dependency.COMPLETED_LATER,)

    # The name of the stage.
    name: str
    # The name of the test that no row may satisfy.
    test: str
    # Whether the test is for the next row only. Otherwise it is for all rows up to the next mapped
    # row.
    only_next: bool
    # At the end of a pattern: the test that a row is too far away to matter.
    distance_test: str | None = None


# The steps of a pattern, or of a group.
Steps = tuple[RepeatedPart | ForbiddenEvent, ...]


@dataclass(frozen=True, slots=True)
class Skip:
    """The row to skip to: a match drops all later matches that start before this row."""

    # The row after the first or the last row of the match, or the first or last row of `variable`.
    to: SkipTo
    # The name of the stage; None if the row is relative to the whole match.
    variable: str | None = None
    # Whether it is an error if the match has no such row, or if it is the first row of the match.
    # Otherwise such a match drops no match.
    fails_on_miss: bool = False


@dataclass(frozen=True, slots=True)
class NeighbourWindow:
    """A window between neighbouring rows of a match: it begins with a row and limits the next one.

    Several stages can have windows of one length; each window has its own test.
    """

    # The test that a row is too far after the row mapped before it.
    test: str
    # The length of the window.
    length: RowExpression
    # The end of the window that begins with a row, as SQL over that row.
    end_sql: str
    # The end of the window that begins with the last row of a run.
    end: Scalar


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The windows at whose end a run times out."""

    # The end of the window of the whole match; None if there is no such window.
    match_end: Scalar | None
    # As in `Staging`.
    neighbour_windows: tuple[NeighbourWindow, ...]


@dataclass(frozen=True, slots=True)
class Staging:
    """The stages of a plan, and everything else that only plans of stages have."""

    # The steps of the pattern.
    steps: Steps
    # The names of all tests.
    tests: tuple[str, ...]
    # The windows between neighbouring rows, the shortest first.
    neighbour_windows: tuple[NeighbourWindow, ...] = ()
    # The row to skip to after a match; None if all matches are output.
    skip: Skip | None = None
    # The windows at whose end a run times out; None if such runs are not output.
    timeouts: Timeouts | None = None


def walk_steps(steps: Steps) -> Iterator[RepeatedPart | ForbiddenEvent]:
    """Yield all steps, a group before the steps inside it."""
    for step in steps:
        yield step
        if isinstance(step, RepeatedPart) and isinstance(step.content, tuple):
            yield from walk_steps(step.content)


def list_repeated_parts(steps: Steps) -> Iterator[RepeatedPart]:
    """Yield all single stages and groups, those inside groups included."""
    return (step for step in walk_steps(steps) if isinstance(step, RepeatedPart))


def list_negations(steps: Steps) -> Iterator[ForbiddenEvent]:
    """Yield all NOTs, those inside groups included."""
    return (step for step in walk_steps(steps) if isinstance(step, ForbiddenEvent))


def build_row_pattern(steps: Steps) -> RowPattern:
    """Return the row pattern of the rows of matches.

    It says which stages follow each other, whatever events are skipped between them.
    """
    return make_concatenation(
        build_part_pattern(step) for step in steps if isinstance(step, RepeatedPart)
    )


def build_part_pattern(part: RepeatedPart) -> RowPattern:
    """Return the row pattern of the rows of one part."""
    content = part.content
    inner = (
        Variable(content.name) if isinstance(content, SingleStage) else build_row_pattern(content)
    )
    if (part.least, part.most) != (1, 1):
        inner = Quantified(inner, part.least, part.most)
    return Quantified(inner, 0, 1) if part.optional else inner


@dataclass(frozen=True, slots=True)
class StageTest:
    """A test of a stage or a group, and the stages that may have rows when it is evaluated."""

    # The name of the test.
    test: str
    # What the test is about: the name of a stage, or "the group".
    subject: str
    # The names of the stages that may have rows by then.
    stages_before: frozenset[str]


def find_tests_of_events(steps: Steps) -> dict[str, StageTest]:
    """Return the tests of a pattern by name, with the stages before any event of their stage.

    See `list_tests`. Use it for a part of a condition that need not hold for every event.
    """
    return {stage_test.test: stage_test for stage_test in list_tests(steps, frozenset())}


def find_tests_of_first_events(steps: Steps) -> dict[str, StageTest]:
    """Return the tests of a pattern by name, with the stages before the first event of their stage.

    See `list_first_tests`; tests that it leaves out are as in `find_tests_of_events`. Use it for a
    part of a condition that must hold for every event of the stage, and so for the first one.
    """
    first_tests = {test.test: test for test in list_first_tests(steps, frozenset())}
    return find_tests_of_events(steps) | first_tests


def list_tests(steps: Steps, before: frozenset[str]) -> Iterator[StageTest]:
    """Yield all tests, each with the stages that may have rows before it.

    Every stage of a loop may have rows from an earlier repetition.

    >>> a = RepeatedPart(SingleStage("a", ":a where"), Contiguity.STRICT)
    >>> b = RepeatedPart(SingleStage("b", ":b where"), Contiguity.RELAXED)
    >>> loop = RepeatedPart((a, b), Contiguity.STRICT, most=None)
    >>> for stage_test in list_tests((loop,), frozenset()):
    ...     print(stage_test.test, sorted(stage_test.stages_before))
    :a where ['a', 'b']
    :b where ['a', 'b']

    Args:
        steps: the steps of a pattern or of a group.
        before: the stages before these steps, and the stages of the loops around them.
    """
    for step in steps:
        if isinstance(step, ForbiddenEvent):
            yield StageTest(step.test, step.name, before)
            continue
        content = step.content
        after = before | find_stages(step)
        before_content = before if step.most == 1 else after
        if isinstance(content, SingleStage):
            subject = content.name
            yield StageTest(content.test, subject, before_content)
        else:
            subject = "the group"
            yield from list_tests(content, before_content)
        if step.until is not None:
            yield StageTest(step.until.test, subject, after)
        before = after


def list_first_tests(steps: Steps, before: frozenset[str]) -> Iterator[StageTest]:
    """Yield the tests of single stages, with the stages before them in a loop's first repetition.

    >>> a = RepeatedPart(SingleStage("a", ":a where"), Contiguity.STRICT)
    >>> b = RepeatedPart(SingleStage("b", ":b where"), Contiguity.RELAXED)
    >>> loop = RepeatedPart((a, b), Contiguity.STRICT, most=None)
    >>> for stage_test in list_first_tests((loop,), frozenset()):
    ...     print(stage_test.test, sorted(stage_test.stages_before))
    :a where []
    :b where ['a']

    Args:
        steps: the steps of a pattern or of a group.
        before: the stages before these steps.
    """
    for step in steps:
        if isinstance(step, ForbiddenEvent):
            continue
        if isinstance(step.content, SingleStage):
            yield StageTest(step.content.test, step.content.name, before)
        else:
            yield from list_first_tests(step.content, before)
        before |= find_stages(step)


def find_stages(part: RepeatedPart) -> frozenset[str]:
    """Return the names of the stages of a part that have rows."""
    return frozenset(list_variable_names(build_part_pattern(part)))
