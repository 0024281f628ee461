"""What is left of a pattern of stages while it is compiled, and what holds until the next row.

A state is made for what follows it (`Rest`, `Repeated`) and for what the next row must not be
(`Pending`).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

from matchrec.dataclass import dataclass
from matchrec.plan.stages import Contiguity, Not, Part, Single


@dataclass(frozen=True, slots=True)
class Pending:
    """What holds until the next row is mapped.

    stops: tests whose rows stop the run. kills: tests whose rows no edge may read. closing: the
    NOTs since the last part, which end the pattern if nothing follows. empty: how many of the
    groups around, from the innermost on, have no row yet in their repetition.
    """

    stops: tuple[str, ...] = ()
    kills: tuple[str, ...] = ()
    closing: tuple[Not, ...] = ()
    empty: int = 0

    def with_stops(self, *tests: str) -> Pending:
        return replace(self, stops=tuple(dict.fromkeys((*self.stops, *tests))))

    def with_kills(self, *tests: str | None) -> Pending:
        found = (test for test in (*self.kills, *tests) if test is not None)
        return replace(self, kills=tuple(dict.fromkeys(found)))


NOTHING = Pending()


@dataclass(frozen=True, slots=True)
class Rest:
    """What follows: steps from `at` on, then what follows them; None is the end of the pattern.

    first: the contiguity of the first step, which a group decides.
    until: tests of the groups around it, for which none of their rows may be read. Its hash does
    not look at each of the steps, which many of these share.
    """

    steps: tuple[Part | Not, ...]
    at: int
    then: Rest | Repeated | None
    until: tuple[str, ...] = ()
    first: Contiguity | None = None

    def tail(self) -> Rest:
        """What follows the first step."""
        return replace(self, at=self.at + 1, first=None)

    def __hash__(self) -> int:
        return hash((self.at, self.then, self.until, self.first))


@dataclass(frozen=True, slots=True)
class Repeated:
    """What follows a repetition of `part`, which was number `count`."""

    part: Part
    count: int
    rest: Rest


def next_count(part: Part, count: int) -> int:
    """The number of the next repetition; beyond the least of a loop it does not matter."""
    return min(count + 1, part.least) if part.most is None else count + 1


def may_leave(part: Part, count: int) -> bool:
    """Whether a part may be left after so many repetitions."""
    return count >= part.least or (count == 0 and part.optional)


def is_enough(part: Part, count: int) -> bool:
    """Whether a group need not be repeated after a repetition without rows, number `count`."""
    return count >= part.least if part.most is None else count >= part.most


def contiguity_of(part: Part, count: int, rest: Rest) -> Contiguity:
    """Which rows may be skipped before the next repetition."""
    return part.inner if count > 0 else rest.first or part.contiguity


def following_nots(rest: Rest | Repeated | None) -> tuple[Not, ...]:
    """The NOTs directly after a part: they hold between its repetitions too.

    Not those that wait for the end of the window, which judge each prefix of a loop by itself.
    """
    if rest is None:
        return ()
    if isinstance(rest, Repeated):
        return following_nots(rest.rest.tail())
    if rest.at == len(rest.steps):
        return following_nots(rest.then)
    first = takewhile(lambda step: isinstance(step, Not), rest.steps[rest.at :])
    nots = tuple(step for step in first if isinstance(step, Not))
    ends = rest.then is None and rest.at + len(nots) == len(rest.steps)
    if ends and nots and not nots[-1].only_next:
        return tuple(one for one in nots if one.only_next)
    return nots


def is_over(rest: Rest) -> bool:
    """Whether nothing but NOTs follows."""
    only_nots = all(isinstance(step, Not) for step in rest.steps[rest.at :])
    return only_nots and rest.then is None


def part_name(part: Part) -> str:
    """The names of the stages of a part."""
    if isinstance(part.content, Single):
        return part.content.name
    return " ".join(part_name(one) for one in part.content.steps if isinstance(one, Part))
