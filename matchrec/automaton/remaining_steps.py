"""What is left of a pattern of stages while it is compiled, and what holds until the next row.

The compiler makes a state for each combination of what follows (`RemainingSteps`, `Repetitions`)
and what the next row must not be (`Constraints`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from matchrec.plan.stages import Contiguity, ForbiddenEvent, RepeatedPart, SingleStage

StageNames = tuple[str, ...]
Nots = tuple[ForbiddenEvent, ...]


@dataclass(frozen=True, slots=True)
class Constraints:
    """The tests that the next rows must not satisfy, until one of them is mapped."""

    # A row that satisfies one of these tests stops the run.
    stopping_tests: StageNames = ()
    # No edge may read a row that satisfies one of these tests.
    unread_tests: StageNames = ()
    # The NOTs since the last part. If nothing follows, they end the pattern.
    pending_nots: Nots = ()
    # Number of enclosing groups, counted from the innermost, whose repetition has no row yet.
    empty_groups: int = 0

    def add_stopping_tests(self, *tests: str) -> Constraints:
        """Add tests to `stopping_tests`, each once."""
        return replace(self, stopping_tests=tuple(dict.fromkeys((*self.stopping_tests, *tests))))

    def add_unread_tests(self, *tests: str | None) -> Constraints:
        """Add tests to `unread_tests`, each once. None is ignored."""
        unread_tests = (test for test in (*self.unread_tests, *tests) if test is not None)
        return replace(self, unread_tests=tuple(dict.fromkeys(unread_tests)))


NO_CONSTRAINTS = Constraints()


@dataclass(frozen=True, slots=True)
class RemainingSteps:
    """The part of a pattern that follows: some steps from an index on, and what follows them.

    The hash does not visit the steps, because many of these share them.
    """

    steps: tuple[RepeatedPart | ForbiddenEvent, ...]
    # The index of the first step.
    index: int
    # What follows the steps; None is the end of the pattern.
    then: RemainingSteps | Repetitions | None
    # Tests of the enclosing groups' loops that end them. None of the steps may read their rows.
    until: StageNames = ()
    # The contiguity of the first step if an enclosing group decides it.
    first_contiguity: Contiguity | None = None

    def skip_first(self) -> RemainingSteps:
        """Return what follows the first step."""
        return replace(self, index=self.index + 1, first_contiguity=None)

    def find_leading_nots(self) -> Nots:
        """Return the NOTs before the next stage or group."""
        nots = []
        for step in self.steps[self.index :]:
            if not isinstance(step, ForbiddenEvent):
                break
            nots.append(step)
        return tuple(nots)

    def __hash__(self) -> int:
        return hash((self.index, self.then, self.until, self.first_contiguity))


@dataclass(frozen=True, slots=True)
class Repetitions:
    """The part of a pattern that follows some repetitions of a part."""

    part: RepeatedPart
    # Number of repetitions so far.
    count: int
    # The remaining steps; the first one is the part.
    remaining: RemainingSteps

    def repeat_once(self) -> Repetitions:
        """Return what follows one more repetition."""
        count = self.count + 1
        if self.part.most is None:
            # Beyond the least number of an unbounded loop, the count makes no difference.
            count = min(count, self.part.least)
        return replace(self, count=count)

    @property
    def may_leave(self) -> bool:
        """Return whether the part may be left after these repetitions."""
        return self.count >= self.part.least or (self.count == 0 and self.part.optional)

    @property
    def is_enough(self) -> bool:
        """Return whether a group need not be repeated if its last repetition had no rows."""
        return self.count >= (self.part.least if self.part.most is None else self.part.most)

    @property
    def contiguity(self) -> Contiguity:
        """Return which rows may be skipped before the next repetition."""
        if self.count > 0:
            return self.part.inner
        return self.remaining.first_contiguity or self.part.contiguity


def find_following_nots(remaining: RemainingSteps | Repetitions | None) -> Nots:
    """Return the NOTs directly after a part, which hold between its repetitions, too.

    NOTs that wait for the end of the window are left out: they judge each prefix of a loop by
    itself.
    """
    if remaining is None:
        return ()
    if isinstance(remaining, Repetitions):
        return find_following_nots(remaining.remaining.skip_first())
    if remaining.index == len(remaining.steps):
        return find_following_nots(remaining.then)
    nots = remaining.find_leading_nots()
    ends_pattern = remaining.then is None and remaining.index + len(nots) == len(remaining.steps)
    if ends_pattern and nots and not nots[-1].only_next:
        return tuple(event for event in nots if event.only_next)
    return nots


def is_over(remaining: RemainingSteps) -> bool:
    """Return whether only NOTs follow until the end of the pattern."""
    only_nots = all(isinstance(step, ForbiddenEvent) for step in remaining.steps[remaining.index :])
    return only_nots and remaining.then is None


def name_part(part: RepeatedPart) -> str:
    """Return the names of the stages of a part, separated by spaces."""
    if isinstance(part.content, SingleStage):
        return part.content.name
    return " ".join(name_part(step) for step in part.content if isinstance(step, RepeatedPart))
