"""Stages: the form of a pattern in which every step says which events may be skipped before it.

A test is the name of a condition: of a variable to which no row is mapped. Where a test is asked,
the row that it is about is not mapped yet, so a reference to a stage reads the rows before it.

Source: Flink CEP, "The Pattern API", contiguity of individual and of looping patterns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from matchrec.plan.clauses import RowExpression, SkipTo
from matchrec.plan.expression import Scalar
from matchrec.plan.pattern import Quantified, RowPattern, Variable, concatenation, variable_names


class Contiguity(Enum):
    """Which events may be skipped before an event is accepted."""

    STRICT = "next"  # none
    RELAXED = "followed_by"  # those that do not satisfy the stage's own condition
    ANY = "followed_by_any"  # all


@dataclass(frozen=True, slots=True)
class Single:
    """One row, mapped to the variable `name` where `test` holds."""

    name: str
    test: str


@dataclass(frozen=True, slots=True)
class Until:
    """What ends a loop: `test`; its complement; and of a single stage its own test without it."""

    test: str
    complement: str
    take: str | None = None


@dataclass(frozen=True, slots=True)
class RepeatedPart:
    """A single stage or a group, `least` to `most` times; most None has no bound.

    contiguity: before its first row; inner: before each further repetition. near, gap: tests that
    say that the row mapped before is too far away, for each row of a single stage and for each
    further repetition.
    """

    content: Single | Steps
    contiguity: Contiguity
    least: int = 1
    most: int | None = 1
    optional: bool = False
    greedy: bool = False
    inner: Contiguity = Contiguity.RELAXED
    until: Until | None = None
    near: str | None = None
    gap: str | None = None

    @property
    def has_choice(self) -> bool:
        """Whether it may go on or leave after some repetition."""
        return self.least != self.most


@dataclass(frozen=True, slots=True)
class ForbiddenEvent:
    """No row for which `test` holds: directly after, or up to the next mapped one."""

    name: str
    test: str
    only_next: bool
    near: str | None = None  # at the end of the pattern, that a row is too far away to matter


# A sequence, or the content of a group.
Steps = tuple[RepeatedPart | ForbiddenEvent, ...]


@dataclass(frozen=True, slots=True)
class Skip:
    """Matches that come out leave no room for those that start earlier than this.

    to: a row after the match's first row or after its last, or the first or the last row of
    `variable`. fails_on_miss: a match without such a row, or whose first row it is, is an error;
    otherwise such a match leaves room for all.
    """

    to: SkipTo
    variable: str | None = None
    fails_on_miss: bool = False


@dataclass(frozen=True, slots=True)
class Timeouts:
    """When windows end. whole: that of the match, if it has one. near: those between neighbours."""

    whole: Scalar | None
    near: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Staging:
    """What a plan of stages asks for beside its steps."""

    steps: Steps
    tests: tuple[str, ...]  # names of all conditions
    near: tuple[str, ...] = ()  # those that say that the row before is too far away, least first
    ends: tuple[str, ...] = ()  # when the window ends that begins with a row, as SQL over it
    skip: Skip | None = None  # None where all matches come out
    timeouts: Timeouts | None = None  # of runs whose window has ended; None where none come out
    lengths: tuple[RowExpression, ...] = ()  # of the windows that `near` tests


def all_steps(steps: Steps) -> Iterator[RepeatedPart | ForbiddenEvent]:
    """All steps, a group before those inside of it."""
    for step in steps:
        yield step
        if isinstance(step, RepeatedPart) and isinstance(step.content, tuple):
            yield from all_steps(step.content)


def parts(steps: Steps) -> Iterator[RepeatedPart]:
    """All parts, those inside of groups too."""
    return (step for step in all_steps(steps) if isinstance(step, RepeatedPart))


def nots(steps: Steps) -> Iterator[ForbiddenEvent]:
    """All NOTs, those inside of groups too."""
    return (step for step in all_steps(steps) if isinstance(step, ForbiddenEvent))


def words(steps: Steps) -> RowPattern:
    """The rows of matches as a row pattern: what follows what, whatever is skipped between."""
    return concatenation(_word(step) for step in steps if isinstance(step, RepeatedPart))


def _word(part: RepeatedPart) -> RowPattern:
    content = part.content
    inner = Variable(content.name) if isinstance(content, Single) else words(content)
    if (part.least, part.most) != (1, 1):
        inner = Quantified(inner, part.least, part.most)
    return Quantified(inner, 0, 1) if part.optional else inner


def mapped_before(steps: Steps, *, is_needed: bool) -> dict[str, tuple[str, frozenset[str]]]:
    """For each condition of the steps what it is of, and the stages that may have rows by then.

    is_needed: the first event of a stage must satisfy it, too, when its loops have none yet.
    """
    found = {test: (of, names) for test, of, names in _tests(steps, frozenset(), in_loops=True)}
    if is_needed:
        at_first = _tests(steps, frozenset(), in_loops=False)
        found |= {test: (of, names) for test, of, names in at_first}
    return found


def _tests(
    steps: Steps, before: frozenset[str], *, in_loops: bool
) -> Iterator[tuple[str, str, frozenset[str]]]:
    """The tests with all stages in their loops; without, those of stages as loops begin."""
    for step in steps:
        if isinstance(step, ForbiddenEvent):
            if in_loops:
                yield step.test, step.name, before
            continue
        with_own = before.union(variable_names(_word(step)))
        inside = with_own if in_loops and step.most != 1 else before
        content, name = step.content, "the group"
        if isinstance(content, tuple):
            yield from _tests(content, inside, in_loops=in_loops)
        else:
            name = content.name
            yield content.test, name, inside
        if in_loops and step.until is not None:
            yield step.until.test, name, with_own
        before = with_own
