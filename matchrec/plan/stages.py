"""Stages: a form of patterns in which every step says which events may be skipped before it.

A test is the name of a definition to which no row is mapped. While a test is evaluated, the row
that it is about is not mapped yet, so a reference to a stage reads rows before it.

Source: Flink CEP, "The Pattern API", contiguity of individual and of looping patterns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

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
class Single:
    """One row that satisfies a test, and is mapped to a variable."""

    name: str  # of the variable, which is the name of the stage
    test: str


@dataclass(frozen=True, slots=True)
class Until:
    """The tests of a loop that an event can end."""

    test: str  # the event ends the loop
    complement: str  # it does not
    # For a single stage: the event satisfies the stage, and does not end the loop.
    take: str | None = None


@dataclass(frozen=True, slots=True)
class RepeatedPart:
    """A single stage or a group, repeated from `least` to `most` times."""

    content: Single | Steps
    # Which events may be skipped before its first row.
    contiguity: Contiguity
    least: int = 1
    most: int | None = 1  # None if there is no limit
    # Whether a match may have no row of it, whatever `least` is.
    optional: bool = False
    # Whether it takes as many events as it can before the next step.
    greedy: bool = False
    # Which events may be skipped before the second and each later repetition.
    inner: Contiguity = Contiguity.RELAXED
    # The tests that end the loop.
    until: Until | None = None
    # For a single stage: the test that a row is too far after the row mapped before it.
    near: str | None = None
    # The test that a second or later repetition is too far after the row mapped before it.
    gap: str | None = None

    @property
    def has_choice(self) -> bool:
        """Return whether there is a repetition after which a run may go on or leave."""
        return self.least != self.most


@dataclass(frozen=True, slots=True)
class ForbiddenEvent:
    """A NOT: no row may satisfy its test."""

    name: str
    test: str
    # Whether only the next row may not satisfy it. Otherwise, no row up to the next mapped one may.
    only_next: bool
    # At the end of a pattern: the test that a row is too far away to matter.
    near: str | None = None


# The steps of a pattern, or of a group.
Steps = tuple[RepeatedPart | ForbiddenEvent, ...]


@dataclass(frozen=True, slots=True)
class Skip:
    """The row to skip to: a match drops all later matches that start before this row."""

    # The row after the first or the last row of the match, or the first or last row of `variable`.
    to: SkipTo
    variable: str | None = None
    # Whether it is an error if the match has no such row, or if it is the first row of the match.
    # Otherwise such a match drops no match.
    fails_on_miss: bool = False


@dataclass(frozen=True, slots=True)
class Timeouts:
    """When the windows of a run end."""

    # When the window of the whole match ends; None if there is none.
    match_end: Scalar | None
    # When the windows between neighbouring events end, in the order of `Staging.near`.
    near: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Staging:
    """The stages of a plan, and what only plans of stages have."""

    steps: Steps
    # The names of all tests.
    tests: tuple[str, ...]
    # Those tests that say that the row mapped before is too far away, the shortest window first.
    near: tuple[str, ...] = ()
    # For each of `near`, when the window ends that begins with a row, as SQL over that row.
    ends: tuple[str, ...] = ()
    # The row to skip to after a match; None if all matches are output.
    skip: Skip | None = None
    # When the windows of runs end that timed out; None if such runs are not output.
    timeouts: Timeouts | None = None
    # For each of `near`, the length of the window.
    lengths: tuple[RowExpression, ...] = ()


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
    inner = Variable(content.name) if isinstance(content, Single) else build_row_pattern(content)
    if (part.least, part.most) != (1, 1):
        inner = Quantified(inner, part.least, part.most)
    return Quantified(inner, 0, 1) if part.optional else inner


def find_mapped_before(steps: Steps, *, is_required: bool) -> dict[str, tuple[str, frozenset[str]]]:
    """Return which stages may have rows when a condition of a step is tested.

    Args:
        steps: the steps of a pattern.
        is_required: whether a part of the condition is meant that each event must satisfy. If so,
            the first event of the stage must satisfy it, too, when the loops around it have no
            other event yet.

    Returns:
        For each test of a condition, what it is about (a stage or "the group"), and those stages.
    """
    mapped_before = {
        test: (subject, names)
        for test, subject, names in _find_tests(steps, frozenset(), is_inside_loops=True)
    }
    if is_required:
        for test, subject, names in _find_tests(steps, frozenset(), is_inside_loops=False):
            mapped_before[test] = (subject, names)
    return mapped_before


def _find_tests(
    steps: Steps, before: frozenset[str], *, is_inside_loops: bool
) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Yield tests, each with what it is about and the stages that may have rows before it.

    Args:
        steps: the steps of a pattern or of a group.
        before: the stages before these steps.
        is_inside_loops: whether loops may have been repeated, so that all of their stages may have
            rows. Otherwise, only tests of single stages are yielded, as each loop begins.
    """
    for step in steps:
        if isinstance(step, ForbiddenEvent):
            if is_inside_loops:
                yield step.test, step.name, before
            continue
        after = before.union(list_variable_names(build_part_pattern(step)))
        inside = after if is_inside_loops and step.most != 1 else before
        if isinstance(step.content, tuple):
            subject = "the group"
            yield from _find_tests(step.content, inside, is_inside_loops=is_inside_loops)
        else:
            subject = step.content.name
            yield step.content.test, subject, inside
        if is_inside_loops and step.until is not None:
            yield step.until.test, subject, after
        before = after
