"""Patterns as plain trees, and a builder with the calls of `matchrec.Pattern` that makes them.

It shares nothing with matchrec, so that one text of a pattern can be given to both. Conditions are
read by `pattern_conditions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from tests.references.pattern_conditions import both, condition, either

Value = Any  # int, float, str, bool or None
Event = Mapping[str, Value]
Accepted = Mapping[str, Sequence[Event]]  # by stage, the events accepted so far
Condition = Callable[[Event, Accepted], bool | None]


class Contiguity(Enum):
    """Which events may be skipped: none, those that could not be accepted, all."""

    STRICT = "strict"
    RELAXED = "relaxed"
    ANY = "non-deterministic relaxed"


@dataclass(frozen=True)
class Stage:
    """A stage that accepts events.

    condition: None is always true. contiguity: of the wait for the first repetition, inner: for
    each later one. most: None is no limit. gap: between two repetitions, window: between the event
    before and each one accepted here, both exclusive.
    """

    name: str
    contiguity: Contiguity = Contiguity.RELAXED
    condition: Condition | None = None
    inner: Contiguity = Contiguity.RELAXED
    least: int = 1
    most: int | None = 1
    optional: bool = False
    greedy: bool = False
    until: Condition | None = None
    gap: int | None = None
    window: int | None = None


@dataclass(frozen=True)
class Not:
    """A stage that forbids events. direct: only the very next one (`not_next`)."""

    name: str
    direct: bool
    condition: Condition | None = None
    window: int | None = None


@dataclass(frozen=True)
class Group:
    """A whole chain as one stage."""

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
    """What stands under the calls of a pattern. within: the least window of any stage."""

    chain: tuple[Element, ...]
    within_: int | None = None

    # The chain

    @staticmethod
    def begin(name: str | Pattern) -> Pattern:
        return Pattern(()).appended(name, Contiguity.RELAXED)

    def next(self, name: str | Pattern) -> Pattern:
        return self.appended(name, Contiguity.STRICT)

    def followed_by(self, name: str | Pattern) -> Pattern:
        return self.appended(name, Contiguity.RELAXED)

    def followed_by_any(self, name: str | Pattern) -> Pattern:
        return self.appended(name, Contiguity.ANY)

    def not_next(self, name: str) -> Pattern:
        return replace(self, chain=(*self.chain, Not(name, direct=True)))

    def not_followed_by(self, name: str) -> Pattern:
        return replace(self, chain=(*self.chain, Not(name, direct=False)))

    def appended(self, name: str | Pattern, contiguity: Contiguity) -> Pattern:
        if isinstance(name, str):
            return replace(self, chain=(*self.chain, Stage(name, contiguity)))
        windows = [one for one in (self.within_, name.within_) if one is not None]
        chain = (*self.chain, Group(name.chain, contiguity))
        return Pattern(chain, min(windows, default=None))

    @property
    def last(self) -> Any:
        return self.chain[-1]

    def changed(self, **fields: Any) -> Pattern:
        """The pattern with another last stage."""
        return replace(self, chain=(*self.chain[:-1], replace(self.last, **fields)))

    # Conditions

    def where(self, text: str) -> Pattern:
        return self.changed(condition=both(self.last.condition, condition(text)))

    def or_where(self, text: str) -> Pattern:
        return self.changed(condition=either(self.last.condition, condition(text)))

    def until(self, text: str) -> Pattern:
        return self.changed(until=condition(text))

    # Quantifiers

    def one_or_more(self, gap: int | None = None) -> Pattern:
        return self.times_or_more(1, gap)

    def times_or_more(self, least: int, gap: int | None = None) -> Pattern:
        return self.quantified(least, None, gap)

    def times(self, least: int, most: int | None = None, gap: int | None = None) -> Pattern:
        if least == 0:
            return self.quantified(1, most, gap).optional()
        return self.quantified(least, least if most is None else most, gap)

    def quantified(self, least: int, most: int | None, gap: int | None) -> Pattern:
        changed = self.changed(least=least, most=most)
        return changed if gap is None else changed.changed(gap=gap)

    def optional(self) -> Pattern:
        return self.changed(optional=True)

    def greedy(self) -> Pattern:
        return self.changed(greedy=True)

    def consecutive(self) -> Pattern:
        return self.changed(inner=Contiguity.STRICT)

    def allow_combinations(self) -> Pattern:
        return self.changed(inner=Contiguity.ANY)

    def within(self, duration: int, kind: str = "first_to_last") -> Pattern:
        if kind == "previous_to_current":
            return self.changed(window=duration)
        return replace(self, within_=min(duration, self.within_ or duration))


def stage_names(chain: Sequence[Element]) -> Iterator[str]:
    """The stages that accept events, in the order of the pattern."""
    for one in chain:
        if isinstance(one, Stage):
            yield one.name
        elif isinstance(one, Group):
            yield from stage_names(one.chain)
