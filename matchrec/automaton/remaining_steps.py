"""Keys of the states of stages: the remaining steps, and the constraints on the next rows.

For example, a run of `a b+ c` that has mapped a row to `a` has these remaining steps, where `steps`
has the steps a, b+ and c:

    RemainingRepetitions(
        part=b+, count=0, part_and_rest=RemainingSteps(steps, index=1, rest_after_steps=None)
    )

After one or more rows of `b`, `count` is 1. After a row of `c`, no step remains.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from matchrec.plan.stages import Contiguity, ForbiddenEvent, RepeatedPart, SingleStage

# Names of tests, such as `:b where`: see `plan.stages`.
TestNames = tuple[str, ...]
Nots = tuple[ForbiddenEvent, ...]


@dataclass(frozen=True, slots=True)
class Constraints:
    """Constraints on the next rows. They apply until one of the rows is mapped."""

    # The tests of NOTs: a row that satisfies one of them stops the run.
    stopping_tests: TestNames = ()
    # No TAKE or IGNORE edge may consume a row that satisfies one of these tests.
    excluded_tests: TestNames = ()
    # The NOTs since the last part. If no part follows, they end the pattern.
    pending_nots: Nots = ()
    # How many enclosing groups, from the innermost outwards, have no row in their current
    # repetition.
    empty_groups: int = 0

    def add_stopping_tests(self, *tests: str) -> Constraints:
        """Add tests to `stopping_tests`, each once."""
        return replace(self, stopping_tests=tuple(dict.fromkeys((*self.stopping_tests, *tests))))

    def add_excluded_tests(self, *tests: str | None) -> Constraints:
        """Add tests to `excluded_tests`, each once. None is ignored."""
        excluded_tests = (test for test in (*self.excluded_tests, *tests) if test is not None)
        return replace(self, excluded_tests=tuple(dict.fromkeys(excluded_tests)))


NO_CONSTRAINTS = Constraints()


@dataclass(frozen=True, slots=True)
class RemainingSteps:
    """The rest of a pattern: `steps[index:]`, and what follows the last of these steps."""

    # All steps of the pattern, or of the group that the run is in.
    steps: tuple[RepeatedPart | ForbiddenEvent, ...]
    # The index of the next step.
    index: int
    # What follows the last step of a group: the rest of the pattern after a repetition of the
    # group. None for the steps of the whole pattern, which ends after them.
    rest_after_steps: RemainingSteps | RemainingRepetitions | None
    # The `until` tests of the enclosing groups. No step may consume a row that satisfies any of
    # them.
    until_tests: TestNames = ()
    # The contiguity of the first step if an enclosing group decides it.
    first_contiguity: Contiguity | None = None

    def skip_first(self) -> RemainingSteps:
        """Return the rest of the pattern after the first step."""
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
        # The steps are left out: they are long, and many keys have the same steps.
        return hash((self.index, self.rest_after_steps, self.until_tests, self.first_contiguity))


@dataclass(frozen=True, slots=True)
class RemainingRepetitions:
    """The rest of a pattern after `count` repetitions of `part`."""

    part: RepeatedPart
    # The repetitions so far. In a loop without an upper limit, `count` is capped at `part.least`.
    count: int
    # The part, then all steps after it.
    part_and_rest: RemainingSteps

    @property
    def rest_after_part(self) -> RemainingSteps:
        """Return the rest of the pattern after the last repetition."""
        return self.part_and_rest.skip_first()

    def repeat_once(self) -> RemainingRepetitions:
        """Return the rest of the pattern after one more repetition."""
        count = self.count + 1
        if self.part.most is None:
            # More repetitions than `least` make no difference, so they have the same key.
            count = min(count, self.part.least)
        return replace(self, count=count)

    @property
    def can_leave(self) -> bool:
        """Return whether a run can leave the part after these repetitions."""
        return self.count >= self.part.least or (self.count == 0 and self.part.is_optional)

    @property
    def can_skip_empty_repetition(self) -> bool:
        """Return whether a group is left after a repetition without rows.

        The group is left if `count` is capped (see `repeat_once`) or is `part.most`, because one
        more repetition would lead back to the same key. With a lower count, the group is repeated.
        """
        return self.count >= (self.part.least if self.part.most is None else self.part.most)

    @property
    def contiguity(self) -> Contiguity:
        """Return which rows may be skipped before the next repetition."""
        if self.count > 0:
            return self.part.inner_contiguity
        return self.part_and_rest.first_contiguity or self.part.contiguity


def find_nots_after_part(rest: RemainingSteps | RemainingRepetitions | None) -> Nots:
    """Return the NOTs after a part that also apply between the repetitions of the part.

    NOTs that apply until the end of the window are left out: each number of repetitions is a
    separate match, and later rows of the loop do not end it.

    Args:
        rest: the rest of the pattern after the part, which may begin with NOTs; None if no step
            remains.
    """
    if rest is None:
        return ()
    if isinstance(rest, RemainingRepetitions):
        return find_nots_after_part(rest.rest_after_part)
    if rest.index == len(rest.steps):
        return find_nots_after_part(rest.rest_after_steps)
    nots = rest.find_leading_nots()
    ends_pattern = rest.rest_after_steps is None and rest.index + len(nots) == len(rest.steps)
    # If NOTs end the pattern, the last NOT decides when a match is complete. With `not_next`, the
    # match is complete at the next row, so earlier NOTs apply to this row only. With
    # `not_followed_by`, it is complete when its window ends, and each earlier `not_followed_by`
    # also applies until then.
    if ends_pattern and nots and not nots[-1].forbids_only_next:
        return tuple(event for event in nots if event.forbids_only_next)
    return nots


def has_only_nots_left(rest: RemainingSteps) -> bool:
    """Return whether only NOTs follow until the end of the pattern."""
    steps = rest.steps[rest.index :]
    return all(isinstance(step, ForbiddenEvent) for step in steps) and rest.rest_after_steps is None


def name_part(part: RepeatedPart) -> str:
    """Return the names of the stages of a part, separated by spaces."""
    if isinstance(part.content, SingleStage):
        return part.content.name
    return " ".join(name_part(step) for step in part.content if isinstance(step, RepeatedPart))
