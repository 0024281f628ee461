"""The reference for SASE+: try every mapping of events to the components of a query.

It is slow and obvious. It has no automaton, no runs and no buffer, and it uses neither matchrec nor
the other references. Events are Python dicts. In a match they are positions in the stream.

    PATTERN SEQ(a, b+[] c)     over     a0 b1 b2 c3     gives     ((0,), (1, 2), (3,)), ...

1. `split_stream` divides the events into the streams that the equivalence tests make.
2. `list_extensions` adds events to a match in every way that the predicates and the event selection
   strategy allow.
3. `has_no_forbidden_event` drops the matches that a negated component rules out.

The definitions are those of SASE+:

- an event is outside of the window if its distance from the first event is exactly the length of
  the window;
- NULL counts as false, and an event with NULL in an equivalence test belongs to no stream;
- under skip till next match, an event may be skipped if the awaited component cannot have it;
- the same events mapped in the same way are one match;
- a Kleene plus at the end of the pattern gives a match for each of its prefixes;
- the first non-overlapping match is the one that ends first; if several do, the one of them that
  starts first.
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
    list_conjuncts,
)

# For each positive component (one that is not negated), the positions of its events.
Match = tuple[tuple[int, ...], ...]

# The events of each positive component, by its variable.
EventsByVariable = dict[str, tuple[Event, ...]]

# When a predicate is tested: (c, 0) is when the first or only event of positive component c is
# selected, and (c, 1) when a later event of c is selected. With two components, (2, 0) is the end
# of the match. For a predicate on a negated component it is the variable of the component.
TestPoint = tuple[int, int] | str


def find_matches(query: Query, stream: Sequence[Event]) -> list[EventsByVariable]:
    """Return all matches in a stream.

    Args:
        query: the query.
        stream: the events in their order, each with its time in `t`.
    """
    searches = [Search(query, part) for part in split_stream(query, stream)]
    return [search.group_events(match) for search in searches for match in search.find_all()]


def find_non_overlapping(query: Query, stream: Sequence[Event]) -> list[list[EventsByVariable]]:
    """Return the non-overlapping matches of each stream that the equivalence tests make.

    Instead of each match there is a list: the matches that map the same events differently. Any of
    them may be the result.
    """
    result: list[list[EventsByVariable]] = []
    for part in split_stream(query, stream):
        search = Search(query, part)
        all_matches = search.find_all()
        last_used = -1
        while True:
            candidates = [match for match in all_matches if match[0][0] > last_used]
            if not candidates:
                break
            best = min(map(rank, candidates))
            result.append(
                [search.group_events(match) for match in candidates if rank(match) == best]
            )
            last_used = best[0]
    return result


def rank(match: Match) -> tuple[int, int, tuple[int, ...]]:
    """Return the sort key of matches: their end, then their start, then all positions."""
    positions = tuple(position for events in match for position in events)
    return positions[-1], positions[0], positions


def split_stream(query: Query, stream: Sequence[Event]) -> Iterator[list[Event]]:
    """Yield the streams that the equivalence tests make.

    Strict contiguity is about the whole stream, so for it the stream is not split.
    """
    if query.strategy == "strict_contiguity":
        yield list(stream)
        return
    keys = dict.fromkeys(read_key(query, event) for event in stream)
    for key in keys:
        if None not in key:
            yield [event for event in stream if read_key(query, event) == key]


def read_key(query: Query, event: Event) -> tuple[Value, ...]:
    """Return the values that the equivalence tests compare."""
    return tuple(event[name] for name in query.keys)


class Search:
    """The search for the matches of a query in a stream."""

    def __init__(self, query: Query, stream: list[Event]) -> None:
        self.query = query
        self.stream = stream
        self.positive = query.positive
        self.variables = [component.variable for component in self.positive]

    # Where a predicate is tested

    @cached_property
    def conjuncts_by_test(self) -> dict[TestPoint, list[Tree]]:
        """Return the conjuncts of the predicates, grouped by when they are tested."""
        result: dict[TestPoint, list[Tree]] = {}
        for predicate in self.query.predicates:
            for conjunct in list_conjuncts(predicate):
                result.setdefault(self.find_test(conjunct), []).append(conjunct)
        return result

    def find_test(self, conjunct: Tree) -> TestPoint:
        """Return when a conjunct is tested: as soon as everything that it reads is available."""
        negated = {component.variable for component in self.query.components if component.negated}
        reads = [
            leaf for leaf in conjunct.leaves() if isinstance(leaf, Attribute | Aggregate | Length)
        ]
        for read in reads:
            if read.variable in negated:
                return read.variable
        return max((self.find_first_test(read) for read in reads), default=(0, 0))

    def find_first_test(self, read: Attribute | Aggregate | Length) -> tuple[int, int]:
        """Return the first test at which a value is available."""
        number = self.variables.index(read.variable)
        index = "[]" if isinstance(read, Length) else read.index
        if index in ("", "[1]"):
            return number, 0
        if index in ("[i]", "[i-1]", "[..i-1]"):
            return number, 1
        return number + 1, 0  # all events of the component

    # Whether an event may be selected

    def holds(self, test: TestPoint, bindings: EventsByVariable) -> bool:
        """Return whether the predicates of a test are true."""
        return all(tree.value(bindings) is True for tree in self.conjuncts_by_test.get(test, ()))

    def is_selectable(self, match: Match, position: int, number: int) -> bool:
        """Return whether an event may come next in the match, for positive component `number`."""
        component = self.positive[number]
        is_later = number < len(match)
        longer = add_event(match, position, number)
        first = longer[0][0]
        return (
            self.fits(component, self.stream[position], self.stream[first])
            and self.is_in_window(first, position)
            and self.holds((number, int(is_later)), self.group_events(longer))
        )

    def fits(self, component: Component, event: Event, first: Event) -> bool:
        """Return whether an event has the type of a component and passes the equivalence tests."""
        if component.event_type not in (None, event["event_type"]):
            return False
        key = read_key(self.query, event)
        return None not in key and key == read_key(self.query, first)

    def is_in_window(self, early: int, late: int) -> bool:
        """Return whether a match from one position to another is within the window."""
        if self.query.time is not None:
            return self.stream[late]["t"] - self.stream[early]["t"] < self.query.time
        return self.query.rows is None or late - early < self.query.rows

    def group_events(self, match: Match) -> EventsByVariable:
        """Return the events of a match by variable."""
        return {
            name: tuple(self.stream[position] for position in positions)
            for name, positions in zip(self.variables, match, strict=False)
        }

    # Matches

    def find_all(self) -> list[Match]:
        """Return all matches of the stream."""
        end = (len(self.positive), 0)
        return [
            match
            for match in self.list_extensions(())
            if len(match) == len(self.positive)
            and self.holds(end, self.group_events(match))
            and self.has_no_forbidden_event(match)
        ]

    def list_extensions(self, match: Match) -> Iterator[Match]:
        """Yield the match, which may be incomplete, and all its extensions."""
        if match:
            yield match
        for position in range(match[-1][-1] + 1 if match else 0, len(self.stream)):
            for number in self.list_next_components(match):
                if self.reaches(match, position) and self.is_selectable(match, position, number):
                    yield from self.list_extensions(add_event(match, position, number))

    def list_next_components(self, match: Match) -> list[int]:
        """Return the numbers of the positive components that may get the next event.

        These are the component of the last event, if it is a Kleene plus, and the one after it.
        """
        following = len(match)
        numbers = []
        if match and self.positive[following - 1].kleene:
            numbers.append(following - 1)
        if following < len(self.positive):
            numbers.append(following)
        return numbers

    def reaches(self, match: Match, position: int) -> bool:
        """Return whether every event between the match so far and `position` may be skipped.

        Under skip till next match, a match in a Kleene plus waits for another event of that
        component: it may skip events of the next component.
        """
        if not match:
            return True
        skipped = range(match[-1][-1] + 1, position)
        if self.query.strategy in ("strict_contiguity", "partition_contiguity"):
            return not skipped
        if self.query.strategy == "skip_till_any_match":
            return True
        awaited = self.list_next_components(match)[0]
        return not any(self.is_selectable(match, event, awaited) for event in skipped)

    # Negation

    def has_no_forbidden_event(self, match: Match) -> bool:
        """Return whether no event that is forbidden satisfies a negated component."""
        bindings = self.group_events(match)
        first_event = self.stream[match[0][0]]
        for index, component in enumerate(self.query.components):
            if not component.negated:
                continue
            positive_before = sum(not other.negated for other in self.query.components[:index])
            for position in self.find_negated_positions(match, positive_before):
                event = self.stream[position]
                with_event = bindings | {component.variable: (event,)}
                is_suitable = self.fits(component, event, first_event)
                if is_suitable and self.holds(component.variable, with_event):
                    return False
        return True

    def find_negated_positions(self, match: Match, positive_before: int) -> list[int]:
        """Return the positions that a negated component is about.

        - At the beginning of the pattern: positions before the match whose window holds all of it.
        - At the end: positions after the match that are in its window.
        - Otherwise: positions between the events of the components before and after it.

        Args:
            positive_before: the number of positive components before the negated one.
        """
        first = match[0][0]
        last = match[-1][-1]
        if positive_before == 0:
            return [position for position in range(first) if self.is_in_window(position, last)]
        if positive_before == len(match):
            behind = range(last + 1, len(self.stream))
            return [position for position in behind if self.is_in_window(first, position)]
        return list(range(match[positive_before - 1][-1] + 1, match[positive_before][0]))


def add_event(match: Match, position: int, number: int) -> Match:
    """Return the match with one more event for positive component `number`."""
    if number == len(match):
        return (*match, (position,))
    return (*match[:-1], (*match[-1], position))
