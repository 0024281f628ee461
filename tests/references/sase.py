"""The matches of a SASE+ query by definition, over events that are Python dicts. Slow and obvious.

There is no automaton, no run and no buffer: every mapping of events to components is tried that the
conditions allow, and those are left out that skip an event which must not be skipped, or that have
an event which must not be there. Nothing of matchrec is used, nor is the engines' reference.

Source: seeds, part I and the decisions: WITHIN is strict (D1), what may be skipped (D3), each
mapping once (D4), negation (D5), NULL (D6), partitions (D7), prefixes of a Kleene plus at the end
(D8), non-overlapping matches (D9).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from tests.generators.sase_trees import (
    Aggregate,
    Attribute,
    Component,
    Event,
    Length,
    Query,
    Tree,
    Value,
    conjuncts,
)

Match = tuple[tuple[int, ...], ...]
"""For each positive component the positions of its events."""

Selected = dict[str, tuple[Event, ...]]
"""For each positive component the events, by its variable."""


def matches(query: Query, stream: Sequence[Event]) -> list[Selected]:
    """All matches in one partition. stream: in its order, with the time `t` of each event."""
    searches = [Search(query, own) for own in divided(query, stream)]
    return [search.bindings(match) for search in searches for match in search.all()]


def non_overlapping(query: Query, stream: Sequence[Event]) -> list[list[Selected]]:
    """The matches of which none overlaps, in each partition that the equivalence tests make.

    Where several are as good, each of them: the same events mapped otherwise.
    """
    chosen: list[list[Selected]] = []
    for own in divided(query, stream):
        search, behind = Search(query, own), -1
        found = search.all()
        while found := [match for match in found if match[0][0] > behind]:
            best = min(map(rank, found))
            chosen.append([search.bindings(match) for match in found if rank(match) == best])
            behind = best[0]
    return chosen


def rank(match: Match) -> tuple[int, int, tuple[int, ...]]:
    """D9: earliest end, then earliest start, then the least positions."""
    positions = tuple(position for events in match for position in events)
    return positions[-1], positions[0], positions


def divided(query: Query, stream: Sequence[Event]) -> Iterator[list[Event]]:
    """The streams that the equivalence tests make; strict contiguity sees the whole stream."""
    if query.strategy == "strict_contiguity":
        yield list(stream)
        return
    keys = dict.fromkeys(key_of(query, event) for event in stream)
    for key in keys:
        if None not in key:
            yield [event for event in stream if key_of(query, event) == key]


def key_of(query: Query, event: Event) -> tuple[Value, ...]:
    return tuple(event[name] for name in query.keys)


class Search:
    """One query over one stream. A binding maps each variable to its events, a tuple."""

    def __init__(self, query: Query, stream: list[Event]) -> None:
        self.query, self.stream = query, stream
        self.positive = query.positive
        self.variables = [component.variable for component in self.positive]

    # Where a predicate is tested

    @cached_property
    def placed(self) -> dict[tuple[int, int] | str, list[Tree]]:
        """The conjuncts by the place at which each is tested.

        Place (c, 0) is the first or only event of positive component c, (c, 1) each later one;
        behind the last component is the end. A negated variable is a place of its own.
        """
        found: dict[tuple[int, int] | str, list[Tree]] = {}
        for predicate in self.query.predicates:
            for conjunct in conjuncts(predicate):
                found.setdefault(self.place(conjunct), []).append(conjunct)
        return found

    def place(self, conjunct: Tree) -> tuple[int, int] | str:
        negated = {one.variable for one in self.query.components if one.negated}
        read = [one for one in conjunct.leaves() if isinstance(one, Attribute | Aggregate | Length)]
        for one in read:
            if one.variable in negated:
                return one.variable
        return max((self.bound(one) for one in read), default=(0, 0))

    def bound(self, leaf: Attribute | Aggregate | Length) -> tuple[int, int]:
        """From which place on a value is known."""
        number = self.variables.index(leaf.variable)
        index = "[]" if isinstance(leaf, Length) else leaf.index
        if index in ("", "[1]"):
            return number, 0
        return (number, 1) if index in ("[i]", "[i-1]", "[..i-1]") else (number + 1, 0)

    # Whether an event may be selected

    def holds(self, place: tuple[int, int] | str, bindings: Selected) -> bool:
        return all(one.value(bindings) is True for one in self.placed.get(place, ()))

    def selectable(self, match: Match, position: int, number: int) -> bool:
        """Whether the event there may come next in the match, for component `number`."""
        component, later = self.positive[number], number < len(match)
        longer = selected(match, position, number)
        first = longer[0][0]
        return (
            self.fits(component, self.stream[position], self.stream[first])
            and self.in_window(first, position)
            and self.holds((number, int(later)), self.bindings(longer))
        )

    def fits(self, component: Component, event: Event, first: Event) -> bool:
        """The event's type, and the equivalence tests."""
        if component.event_type not in (None, event["event_type"]):
            return False
        key = key_of(self.query, event)
        return None not in key and key == key_of(self.query, first)

    def in_window(self, early: int, late: int) -> bool:
        if self.query.time is not None:
            return self.stream[late]["t"] - self.stream[early]["t"] < self.query.time
        return self.query.rows is None or late - early < self.query.rows

    def bindings(self, match: Match) -> Selected:
        return {
            name: tuple(self.stream[position] for position in positions)
            for name, positions in zip(self.variables, match, strict=False)
        }

    # Matches

    def all(self) -> list[Match]:
        complete = (match for match in self.extended(()) if len(match) == len(self.positive))
        return [
            match
            for match in complete
            if self.holds((len(self.positive), 0), self.bindings(match)) and self.unspoilt(match)
        ]

    def extended(self, match: Match) -> Iterator[Match]:
        """The match, which may be incomplete, and all that it can be extended to."""
        if match:
            yield match
        for position in range(match[-1][-1] + 1 if match else 0, len(self.stream)):
            for number in self.next_components(match):
                if self.reaches(match, position) and self.selectable(match, position, number):
                    yield from self.extended(selected(match, position, number))

    def next_components(self, match: Match) -> list[int]:
        """Which components may get the next event: a Kleene plus another one, or the next."""
        number = len(match)
        again = [number - 1] if match and self.positive[number - 1].kleene else []
        return again + ([number] if number < len(self.positive) else [])

    def reaches(self, match: Match, position: int) -> bool:
        """Whether all events from the last one of the match to `position` may be skipped."""
        if not match:
            return True
        between = range(match[-1][-1] + 1, position)
        if self.query.strategy in ("strict_contiguity", "partition_contiguity"):
            return not between
        if self.query.strategy == "skip_till_any_match":
            return True
        waited_for = self.next_components(match)[0]
        return not any(self.selectable(match, skipped, waited_for) for skipped in between)

    # Negation

    def unspoilt(self, match: Match) -> bool:
        """No event is there that a negated component speaks of."""
        bindings = self.bindings(match)
        for place, component in enumerate(self.query.components):
            if not component.negated:
                continue
            before = sum(not one.negated for one in self.query.components[:place])
            for position in self.forbidden(match, before):
                event = self.stream[position]
                both = bindings | {component.variable: (event,)}
                if self.fits(component, event, self.stream[match[0][0]]) and self.holds(
                    component.variable, both
                ):
                    return False
        return True

    def forbidden(self, match: Match, before: int) -> list[int]:
        """Positions at which the negated event must not be, behind `before` positive components."""
        first, last = match[0][0], match[-1][-1]
        if before == 0:
            return [one for one in range(first) if self.in_window(one, last)]
        if before == len(match):
            behind = range(last + 1, len(self.stream))
            return [one for one in behind if self.in_window(first, one)]
        return list(range(match[before - 1][-1] + 1, match[before][0]))


def selected(match: Match, position: int, number: int) -> Match:
    """The match with one more event for component `number`."""
    if number == len(match):
        return (*match, (position,))
    return (*match[:-1], (*match[-1], position))
