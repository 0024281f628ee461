"""The reference for the Pattern API: enumerate the matches of a pattern over a list of events.

It is slow and obvious. It does not use matchrec, and has no automaton. The stream is a list of
Python dicts with the time in `t`. Otherwise an event is its position in the stream, from 0.

    begin(a).followed_by(b)     over     a1 c1 b1 b2     gives     a: a1, b: b1

1. `Search.follow_chain` goes through the pattern stage by stage. Whenever the run waits for an
   event of a stage, `accept` tries every later event.
2. An event is accepted if it suits the stage (`is_acceptable`), and if every event between it and
   the last accepted one may be skipped (`is_skippable`).
3. `complete` decides whether a run that went through the whole pattern is a match: negated stages
   at the end may still forbid it.
4. `select_matches` and `report_matches` apply the after-match skip strategy. They must agree.

The definitions do not decide everything. Where the result depends on how runs are computed, event
by event, a comment says "as computed".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, permutations, product
from math import factorial, prod

from tests.generators.pattern_trees import (
    Accepted,
    Condition,
    Contiguity,
    Element,
    Event,
    Group,
    Not,
    Pattern,
    Stage,
    list_stage_names,
)

MAX_WAITS = 20_000  # a search with more waits gives up
MAX_ORDERS = 24  # a search whose matches have more possible orders gives up

Mapped = tuple[tuple[str, tuple[int, ...]], ...]
"""The stages that accepted events, in the order of the pattern, each with the positions."""


@dataclass(frozen=True)
class Match:
    """A match."""

    mapped: Mapped
    # The position of the event that completes it. The end of the stream counts as a position, too.
    completes: int

    @cached_property
    def positions(self) -> tuple[int, ...]:
        """The positions of all its events, in ascending order."""
        return tuple(sorted(p for _, positions in self.mapped for p in positions))

    @property
    def first(self) -> int:
        """The position of its first event."""
        return self.positions[0]

    def positions_of(self, stage: str) -> tuple[int, ...]:
        """Return the positions of the events that a stage accepted."""
        return dict(self.mapped).get(stage, ())


@dataclass(frozen=True)
class TimedOut:
    """A partial match whose window has ended."""

    mapped: Mapped
    time: int  # at which the window ended


@dataclass(frozen=True)
class Skip:
    """An after-match skip strategy."""

    to: str = "no skip"  # or: next, past last event, first, last
    stage: str = ""  # of `first` and `last`
    throws: bool = False  # whether it is an error if the match has no event to skip to


class MissError(Exception):
    """A match has no event of the stage that is skipped to, or begins with that event."""


class TooMuchError(Exception):
    """There are too many ways through a pattern for a test."""


@dataclass(frozen=True)
class Run:
    """The events that a run has accepted, and the restrictions on the next event."""

    accepted: tuple[tuple[str, int], ...] = ()  # stage and position of each event, in order
    # Passed since the last accepted event:
    negated: tuple[Not, ...] = ()  # negated stages
    left_greedy: tuple[Stage, ...] = ()  # greedy stages that might have accepted more events
    closed: bool = False  # the last event was forbidden, so no more events can be accepted

    @property
    def first(self) -> int:
        """The position of the first accepted event."""
        return self.accepted[0][1]

    @property
    def last(self) -> int:
        """The position of the last accepted event."""
        return self.accepted[-1][1]

    def pass_negated(self, *negated: Not) -> Run:
        """Return the run after it has passed negated stages."""
        return replace(self, negated=(*self.negated, *negated))

    def leave(self, stage: Stage) -> Run:
        """Return the run after it has left a stage.

        `greedy` has no effect on an exact count, because there is no choice.
        """
        if stage.greedy and stage.least != stage.most:
            return replace(self, left_greedy=(*self.left_greedy, stage))
        return self


@dataclass(frozen=True)
class Wait:
    """A wait of a run for an event of a stage."""

    stage: Stage
    later: bool  # the event would be the second one of the stage, or a later one
    contiguity: Contiguity  # which events may be skipped
    stops: tuple[Condition, ...]  # the `until` conditions of the groups that hold the stage

    @property
    def window(self) -> int | None:
        """Return the time limit from the last accepted event to the next, None without a limit."""
        limits = [self.stage.window, self.stage.gap if self.later else None]
        return min((limit for limit in limits if limit is not None), default=None)


@dataclass(frozen=True)
class Context:
    """The context of a chain in the pattern."""

    head: Contiguity | None = None  # for its first stage, instead of the contiguity written there
    stops: tuple[Condition, ...] = ()  # the `until` conditions of the groups that hold it
    behind: tuple[Not, ...] = ()  # the negated stages that follow it


@dataclass(frozen=True)
class Open:
    """A run that waits."""

    run: Run
    until: int  # the position of the event that ends the wait, or the end of the stream
    timed_out: int | None  # the time at which a window ended, if that ends the wait


class Search:
    """The search for all matches of a pattern in a stream of events, which is in order."""

    def __init__(self, pattern: Pattern, stream: Sequence[Event]) -> None:
        self.pattern = pattern
        self.stream = stream
        self.end = len(stream)
        self.names = tuple(list_stage_names(pattern.chain))
        trailing: list[Not] = []
        body = list(pattern.chain)
        while isinstance(body[-1], Not):
            trailing.insert(0, body.pop())
        self.body = tuple(body)
        self.trailing = tuple(trailing)  # the negated stages at the end of the pattern
        self.open: set[Open] = set()  # every run that ever waited
        self.waits = 0
        self.matches = self.find_all()

    # All matches

    def find_all(self) -> set[Match]:
        """Return every match, and leave every run that waits in `open`."""
        context = Context(behind=self.list_trailing_between_repetitions())
        runs = set(self.follow_chain(Run(), self.body, context))
        return {match for run in runs if run.accepted for match in self.complete(run)}

    def list_trailing_between_repetitions(self) -> tuple[Not, ...]:
        """Return the negated stages at the end that also end runs between two repetitions.

        If a `not_followed_by` waits for the end of the window, it decides about every prefix of a
        loop before it separately, and so lets the loop go on.
        """
        if self.trailing and not self.trailing[-1].direct:
            return tuple(negated for negated in self.trailing if negated.direct)
        return self.trailing

    def complete(self, run: Run) -> Iterator[Match]:
        """Yield the match of a run through the whole pattern, unless a negated stage forbids it."""
        if not self.trailing:
            # As computed: stages after a `not_next` that may be empty are passed together with the
            # last accepted event, whatever comes next. So `not_next` is about that event.
            before = replace(run, accepted=run.accepted[:-1])
            if not any(n.direct and self.is_hit(n, before, run.last) for n in run.negated):
                yield Match(self.map_stages(run), run.last)
        elif run.closed:
            return
        elif self.trailing[-1].direct:
            yield from self.complete_at_next_event(run)
        else:
            yield from self.complete_at_window_end(run)

    def complete_at_next_event(self, run: Run) -> Iterator[Match]:
        """Yield the match if the next event, which must be in the window, is not forbidden."""
        after = run.last + 1
        end = self.find_window_end(run, *(negated.window for negated in self.trailing))
        if after == self.end or not self.is_before(after, end):
            self.open.add(Open(run, after, end))
            return
        self.open.add(Open(run, after, None))
        if not any(self.is_hit(negated, run, after) for negated in self.trailing):
            yield Match(self.map_stages(run), after)

    def complete_at_window_end(self, run: Run) -> Iterator[Match]:
        """Yield the match if no event in the window is forbidden."""
        after = run.last + 1
        end = self.find_window_end(run, *(negated.window for negated in self.trailing))
        positions = [q for q in range(after, self.end) if self.is_before(q, end)]
        hits = [q for q in positions if any(self.is_forbidden(n, run, q) for n in self.trailing)]
        window_end = after + len(positions)
        if not hits:
            yield Match(self.map_stages(run), window_end)
        self.open.add(Open(run, hits[0] if hits else window_end, None))

    # Ways through the pattern

    def follow_chain(
        self, run: Run, elements: Sequence[Element], context: Context
    ) -> Iterator[Run]:
        """Yield the run after every way through elements that follow each other."""
        if not elements:
            yield run
            return
        element = elements[0]
        remaining = elements[1:]
        later = replace(context, head=None)
        if isinstance(element, Not):
            yield from self.follow_chain(run.pass_negated(element), remaining, later)
            return
        negated = list_leading_negated(remaining)
        inner = replace(context, behind=negated if remaining else context.behind)
        if isinstance(element, Stage):
            ways = self.follow_stage(run, element, inner)
        else:
            ways = self.follow_group(run, element, inner)
        for longer in ways:
            yield from self.follow_chain(longer, remaining, later)

    def follow_stage(self, run: Run, stage: Stage, context: Context) -> Iterator[Run]:
        """Yield the run after every way through a stage."""
        if stage.optional:
            yield run.leave(stage)
        yield from self.repeat_stage(run, stage, context, 1)

    def repeat_stage(self, run: Run, stage: Stage, context: Context, count: int) -> Iterator[Run]:
        """Yield the run after repetition `count` (from 1) of a stage, and after later ones."""
        if count == 1:
            contiguity = context.head or stage.contiguity
        else:
            contiguity = stage.inner
            run = run.pass_negated(
                *list_negated_between(context.behind, may_leave=count > stage.least)
            )
        for longer in self.accept(run, Wait(stage, count > 1, contiguity, context.stops)):
            if count >= stage.least:
                yield longer.leave(stage)
            if stage.most is None or count < stage.most:
                yield from self.repeat_stage(longer, stage, context, count + 1)

    def follow_group(self, run: Run, group: Group, context: Context) -> Iterator[Run]:
        """Yield the run after every way through a group."""
        if group.optional:
            yield run
        yield from self.repeat_group(run, group, context, 1)

    def repeat_group(self, run: Run, group: Group, context: Context, count: int) -> Iterator[Run]:
        """Yield the run after repetition `count` (from 1) of a group, and after later ones."""
        stops = (*context.stops, group.until) if group.until else context.stops
        if count == 1:
            head = context.head or group.contiguity
        else:
            head = group.inner
            run = run.pass_negated(
                *list_negated_between(context.behind, may_leave=count > group.least)
            )
        for longer in self.follow_chain(run, group.chain, Context(head, stops, context.behind)):
            if count >= group.least:
                yield longer
            if group.most is not None:
                may_repeat = count < group.most
            else:  # an empty repetition is followed by another one only if more are required
                is_empty = longer.accepted == run.accepted
                may_repeat = not is_empty or count < group.least
            if may_repeat:
                yield from self.repeat_group(longer, group, context, count + 1)

    # One wait

    def accept(self, run: Run, wait: Wait) -> Iterator[Run]:
        """Yield the run after each event that it can accept for the stage it waits for."""
        self.waits += 1
        if self.waits > MAX_WAITS:
            raise TooMuchError
        if run.closed:
            return
        if not run.accepted:  # the first event of a match; nothing is skipped before it
            for q in range(self.end):
                if self.is_acceptable(run, wait, q):
                    yield self.take(run, wait, q)
            return
        after = range(run.last + 1, self.end)
        end = self.find_window_end(run, wait.window)
        for q in after:
            gap = range(run.last + 1, q)
            is_gap_skippable = all(self.is_skippable(run, wait, skipped) for skipped in gap)
            if is_gap_skippable and self.is_before(q, end) and self.is_acceptable(run, wait, q):
                yield self.take(run, wait, q)
        in_window = [q for q in after if self.is_before(q, end)]
        unskippable = [q for q in in_window if not self.is_skippable(run, wait, q)]
        if unskippable:
            self.open.add(Open(run, unskippable[0], None))
        else:
            self.open.add(Open(run, run.last + 1 + len(in_window), end))

    def is_acceptable(self, run: Run, wait: Wait, q: int) -> bool:
        """Return whether the awaited stage may accept an event, apart from gap and window."""
        if any(negated.direct and self.is_forbidden(negated, run, q) for negated in run.negated):
            return False
        stops = (*wait.stops, wait.stage.until)
        return (
            self.holds(wait.stage.condition, run, q)
            and not any(stop and self.holds(stop, run, q) for stop in stops)
            and not self.is_held_by_greed(run, q)
        )

    def is_skippable(self, run: Run, wait: Wait, q: int) -> bool:
        """Return whether a run that waits may skip an event."""
        if any(self.is_forbidden(negated, run, q) for negated in run.negated):
            return False
        if self.is_held_by_greed(run, q):
            return False
        stops = (*wait.stops, wait.stage.until if wait.later else None)
        if any(stop and self.holds(stop, run, q) for stop in stops):
            return False
        match wait.contiguity:
            case Contiguity.STRICT:
                return False
            case Contiguity.RELAXED:
                return not self.holds(wait.stage.condition, run, q)
            case Contiguity.ANY:
                return True

    def take(self, run: Run, wait: Wait, q: int) -> Run:
        """Return the run after it has accepted an event.

        The event may be one that a negated stage forbids. It may complete the pattern, but no
        other event can follow it.
        """
        is_forbidden = any(self.is_forbidden(negated, run, q) for negated in run.negated)
        return Run((*run.accepted, (wait.stage.name, q)), closed=is_forbidden)

    def is_held_by_greed(self, run: Run, q: int) -> bool:
        """Return whether a greedy stage that the run has left could accept the event.

        Then nothing else may be done with the event, unless the `until` condition of the stage
        holds for the event directly after the last accepted one.
        """
        directly_after = run.last + 1 if run.accepted else q
        return any(
            self.holds(stage.condition, run, q)
            and not (stage.until and self.holds(stage.until, run, directly_after))
            for stage in run.left_greedy
        )

    # Conditions and windows

    def is_forbidden(self, negated: Not, run: Run, q: int) -> bool:
        """Return whether a negated stage forbids an event. `not_next` forbids only the next one."""
        if negated.direct and q != run.last + 1:
            return False
        return self.is_hit(negated, run, q)

    def is_hit(self, negated: Not, run: Run, q: int) -> bool:
        """Return whether an event satisfies the condition of a negated stage."""
        return self.holds(negated.condition, run, q)

    def holds(self, condition: Condition | None, run: Run, q: int) -> bool:
        """Return whether a condition is true for an event. NULL counts as false."""
        return condition is None or condition(self.stream[q], self.group_events(run)) is True

    def group_events(self, run: Run) -> Accepted:
        """Return the accepted events of each stage."""
        return {
            name: [self.stream[q] for stage, q in run.accepted if stage == name]
            for name in self.names
        }

    def find_window_end(self, run: Run, *from_last: int | None) -> int | None:
        """Return the time at which the first of a run's windows ends, None if it has none.

        `within` counts from the first event of the run, the durations `from_last` from its last.
        """
        last_time = self.stream[run.last]["t"]
        ends = [last_time + duration for duration in from_last if duration is not None]
        if self.pattern.within_ is not None:
            ends.append(self.stream[run.first]["t"] + self.pattern.within_)
        return min(ends, default=None)

    def is_before(self, q: int, end: int | None) -> bool:
        """Return whether an event comes before the end of a window. The end is outside of it."""
        return end is None or self.stream[q]["t"] < end

    # Results

    def map_stages(self, run: Run) -> Mapped:
        """Return the positions that each stage has accepted, without stages that accepted none."""
        positions = {
            name: tuple(q for stage, q in run.accepted if stage == name) for name in self.names
        }
        return tuple((name, positions[name]) for name in self.names if positions[name])

    def find_timed_out(self) -> set[TimedOut]:
        """Return the partial matches that time out if nothing is skipped after a match."""
        return {
            TimedOut(self.map_stages(waiting.run), waiting.timed_out)
            for waiting in self.open
            if waiting.timed_out is not None
        }

    def list_orders(self) -> Iterator[list[Match]]:
        """Yield every order in which the matches may be considered.

        Matches are considered by `rank`. The definitions do not say which comes first of several
        with the same rank, which map the same events to different stages.
        """
        ranked = sorted(self.matches, key=rank)
        ties = [list(group) for _, group in groupby(ranked, key=rank)]
        if prod(factorial(len(tie)) for tie in ties) > MAX_ORDERS:
            raise TooMuchError
        for choice in product(*(permutations(tie) for tie in ties)):
            yield [match for tie in choice for match in tie]


def rank(match: Match) -> tuple[int, int, tuple[int, ...]]:
    """Return the sort key of matches: first event, the event that completes it, all events."""
    return match.first, match.completes, match.positions


def list_leading_negated(elements: Sequence[Element]) -> tuple[Not, ...]:
    """Return the negated stages with which elements begin."""
    negated: list[Not] = []
    for element in elements:
        if not isinstance(element, Not):
            break
        negated.append(element)
    return tuple(negated)


def list_negated_between(behind: Sequence[Not], *, may_leave: bool) -> Iterator[Not]:
    """Return the negated stages after a loop that also hold between its repetitions.

    A `not_next` holds there only if the loop may be left.
    """
    return (negated for negated in behind if may_leave or not negated.direct)


# Skipping after a match


def find_bar(match: Match, skip: Skip) -> int:
    """Return the first position at which a later match may begin.

    Raises:
        MissError: `skip.throws`, and the match has no event of the stage, or begins with it.
    """
    if skip.to == "no skip":
        return -1
    if skip.to == "next":
        return match.first + 1
    if skip.to == "past last event":
        return match.positions[-1] + 1
    positions = match.positions_of(skip.stage)
    if not positions:
        if skip.throws:
            raise MissError(skip.stage)
        return -1
    target = positions[0] if skip.to == "first" else positions[-1]
    if skip.throws and target == match.first:
        raise MissError(skip.stage)
    return target


def select_matches(ordered: Sequence[Match], skip: Skip) -> list[Match]:
    """Return the matches that are left after skipping, by the formulation over all matches.

    A match is left out if it begins before the bar that an earlier match of the result has set.

    Raises:
        MissError: see `find_bar`.
    """
    bar = -1
    result = []
    for match in ordered:
        if match.first >= bar:
            result.append(match)
            bar = max(bar, find_bar(match, skip))
    return result


@dataclass(frozen=True)
class Reported:
    """The result of a search."""

    matches: tuple[Match, ...]  # in the order in which they are output
    timed_out: frozenset[TimedOut]  # partial matches


def report_matches(search: Search, ordered: Sequence[Match], skip: Skip) -> Reported:
    """Return the matches that are left after skipping, as computed event by event.

    A completed match is held back while a run is open that began earlier, because that run may
    still become a match that comes first. A match of the result ends the runs that began before its
    bar, so that these do not time out.

    Raises:
        MissError: see `find_bar`.
    """
    result: list[Match] = []
    timed_out: set[TimedOut] = set()
    completed: list[Match] = []  # not yet decided, in order
    bar = -1
    for now in range(search.end + 1):
        for waiting in search.open:
            if waiting.until == now and waiting.timed_out is not None and waiting.run.first >= bar:
                timed_out.add(TimedOut(search.map_stages(waiting.run), waiting.timed_out))
        completed += (match for match in ordered if match.completes == now)
        completed.sort(key=ordered.index)
        while completed:
            is_held_back = any(
                waiting.run.last <= now < waiting.until
                and bar <= waiting.run.first < completed[0].first
                for waiting in search.open
            )
            if is_held_back and skip.to != "no skip":
                break
            match = completed.pop(0)
            if match.first >= bar:
                result.append(match)
                bar = max(bar, find_bar(match, skip))
    return Reported(tuple(result), frozenset(timed_out))
