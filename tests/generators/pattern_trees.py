"""Patterns as plain trees, built by the same methods as `matchrec.Pattern`.

The trees do not use matchrec. The same Python text builds a pattern of either class.
`pattern_conditions` parses the conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from tests.references.pattern_conditions import build_condition, join_by_and, join_by_or

# An int, a float, a str, a bool or None.
Value = Any
# The value of each column of an event.
Event = Mapping[str, Value]
# By stage, the events that the stage has accepted so far.
Accepted = Mapping[str, Sequence[Event]]
# Returns whether a condition is true for the event in the first argument; None is NULL.
Condition = Callable[[Event, Accepted], bool | None]


class Contiguity(Enum):
    """The events that may be skipped before an event is accepted."""

    # No event.
    STRICT = "strict"
    # The events that the stage could not accept.
    RELAXED = "relaxed"
    # All events.
    ANY = "non-deterministic relaxed"


@dataclass(frozen=True)
class Stage:
    """A stage that accepts events."""

    name: str
    # Which events may be skipped before its first event.
    contiguity: Contiguity = Contiguity.RELAXED
    # The condition on its events; None if it accepts every event.
    condition: Condition | None = None
    # Which events may be skipped before each later event.
    inner: Contiguity = Contiguity.RELAXED
    # The bounds of the number of its events; `most` is None without a limit.
    least: int = 1
    most: int | None = 1
    # Whether it may have no event, whatever `least` is.
    optional: bool = False
    # Whether it accepts as many events as it can before the next stage.
    greedy: bool = False
    # The condition that ends the loop; None if no event ends it.
    until: Condition | None = None
    # The time from one of its events to the next must be less than this; None without a limit.
    gap: int | None = None
    # The time from the event before each of its events must be less than this; None without a
    # limit.
    window: int | None = None


@dataclass(frozen=True)
class Not:
    """A negated stage, which forbids events."""

    name: str
    # Whether it forbids only the next event: `not_next`, as opposed to `not_followed_by`.
    only_next: bool
    condition: Condition | None = None
    window: int | None = None


@dataclass(frozen=True)
class Group:
    """A chain of stages that is quantified as a whole."""

    chain: tuple[Element, ...]
    contiguity: Contiguity = Contiguity.RELAXED
    inner: Contiguity = Contiguity.RELAXED
    least: int = 1
    most: int | None = 1
    optional: bool = False
    until: Condition | None = None


Element = Stage | Not | Group


@dataclass(frozen=True)
class Pattern:
    """A pattern. Each method returns a new pattern, as the same method of `matchrec.Pattern`."""

    # The stages, negated stages and groups, in order.
    chain: tuple[Element, ...]
    # The shortest of the windows from the first to the last event; None without a window.
    within_: int | None = None

    # The chain

    @staticmethod
    def begin(name: str | Pattern) -> Pattern:
        """Return a pattern of one stage or group."""
        return Pattern(()).append(name, Contiguity.RELAXED)

    def next(self, name: str | Pattern) -> Pattern:
        """Add a stage or group before which no event is skipped."""
        return self.append(name, Contiguity.STRICT)

    def followed_by(self, name: str | Pattern) -> Pattern:
        """Add a stage or group before which only unacceptable events are skipped."""
        return self.append(name, Contiguity.RELAXED)

    def followed_by_any(self, name: str | Pattern) -> Pattern:
        """Add a stage or group before which any event may be skipped."""
        return self.append(name, Contiguity.ANY)

    def not_next(self, name: str) -> Pattern:
        """Add a negated stage that forbids the very next event."""
        return replace(self, chain=(*self.chain, Not(name, only_next=True)))

    def not_followed_by(self, name: str) -> Pattern:
        """Add a negated stage that forbids events up to the next stage."""
        return replace(self, chain=(*self.chain, Not(name, only_next=False)))

    def append(self, name: str | Pattern, contiguity: Contiguity) -> Pattern:
        """Return the pattern with one more stage or group."""
        if isinstance(name, str):
            return replace(self, chain=(*self.chain, Stage(name, contiguity)))
        windows = [window for window in (self.within_, name.within_) if window is not None]
        chain = (*self.chain, Group(name.chain, contiguity))
        return Pattern(chain, min(windows, default=None))

    @property
    def last(self) -> Any:
        """Return the last stage or group."""
        return self.chain[-1]

    def change_last(self, **fields: Any) -> Pattern:
        """Return the pattern with other fields in its last stage."""
        return replace(self, chain=(*self.chain[:-1], replace(self.last, **fields)))

    # Conditions

    def where(self, text: str) -> Pattern:
        """Add a condition that must hold as well."""
        return self.change_last(condition=join_by_and(self.last.condition, build_condition(text)))

    def or_where(self, text: str) -> Pattern:
        """Add a condition that may hold instead."""
        return self.change_last(condition=join_by_or(self.last.condition, build_condition(text)))

    def until(self, text: str) -> Pattern:
        """Set the condition that ends the loop of the last stage."""
        return self.change_last(until=build_condition(text))

    # Quantifiers

    def one_or_more(self, gap: int | None = None) -> Pattern:
        """Repeat the last stage once or more often."""
        return self.times_or_more(1, gap)

    def times_or_more(self, least: int, gap: int | None = None) -> Pattern:
        """Repeat the last stage `least` times or more often."""
        return self.quantify(least, None, gap)

    def times(self, least: int, most: int | None = None, gap: int | None = None) -> Pattern:
        """Repeat the last stage `least` times, or `least` to `most` times."""
        if least == 0:
            return self.quantify(1, most, gap).optional()
        return self.quantify(least, least if most is None else most, gap)

    def quantify(self, least: int, most: int | None, gap: int | None) -> Pattern:
        """Return the pattern with a quantified last stage."""
        pattern = self.change_last(least=least, most=most)
        return pattern if gap is None else pattern.change_last(gap=gap)

    def optional(self) -> Pattern:
        """Let the last stage be left out."""
        return self.change_last(optional=True)

    def greedy(self) -> Pattern:
        """Let the last stage accept as many events as it can."""
        return self.change_last(greedy=True)

    def consecutive(self) -> Pattern:
        """Skip no event between the repetitions of the last stage."""
        return self.change_last(inner=Contiguity.STRICT)

    def allow_combinations(self) -> Pattern:
        """Let any event be skipped between the repetitions of the last stage."""
        return self.change_last(inner=Contiguity.ANY)

    def within(self, duration: int, kind: str = "first_to_last") -> Pattern:
        """Limit the time of the match, or the time from the event before the last stage."""
        if kind == "previous_to_current":
            return self.change_last(window=duration)
        return replace(self, within_=min(duration, self.within_ or duration))


def list_stage_names(chain: Sequence[Element]) -> Iterator[str]:
    """Yield the names of the stages that accept events, in the order of the pattern."""
    for element in chain:
        if isinstance(element, Stage):
            yield element.name
        elif isinstance(element, Group):
            yield from list_stage_names(element.chain)
