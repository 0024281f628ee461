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
from enum import Enum
from functools import cached_property
from itertools import chain, groupby, permutations, product
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

# A search with more waits gives up.
MAX_WAITS = 20_000
# A search whose matches have more possible orders gives up.
MAX_ORDERS = 24

# The stages that accepted events, in the order of the pattern, each with the positions.
Mapped = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Match:
    """A match."""

    mapped: Mapped
    # The position of the event that completes it. The end of the stream counts as a position, too.
    completes: int

    @cached_property
    def positions(self) -> tuple[int, ...]:
        """Return the positions of all its events, in ascending order."""
        return tuple(sorted(chain.from_iterable(positions for _, positions in self.mapped)))

    @property
    def first(self) -> int:
        """Return the position of its first event."""
        return self.positions[0]

    def positions_of(self, stage: str) -> tuple[int, ...]:
        """Return the positions of the events that a stage accepted."""
        return dict(self.mapped).get(stage, ())


@dataclass(frozen=True)
class TimedOut:
    """A partial match whose window has ended."""

    mapped: Mapped
    # The time at which the window ended.
    time: int


class SkipTo(Enum):
    """The event of a match to which the search skips."""

    NO_SKIP = "no skip"
    NEXT = "next"
    PAST_LAST_EVENT = "past last event"
    # The first or the last event of a stage.
    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True)
class Skip:
    """An after-match skip strategy."""

    to: SkipTo = SkipTo.NO_SKIP
    # The stage of FIRST and LAST; "" for other strategies.
    stage: str = ""
    # Whether it is an error if the match has no event to skip to.
    throws: bool = False


class MissError(Exception):
    """A match has no event of the stage that is skipped to, or begins with that event."""


class TooManyWaysError(Exception):
    """There are too many ways through a pattern for a test."""


@dataclass(frozen=True)
class Run:
    """The events that a run has accepted, and the restrictions on the next event."""

    # The accepted events in order: the stage and the position of each.
    accepted: tuple[tuple[str, int], ...] = ()
    # The negated stages that the run has passed since the last accepted event.
    negated: tuple[Not, ...] = ()
    # The greedy stages that it has left since then, and that might have accepted more events.
    left_greedy: tuple[Stage, ...] = ()
    # Whether the last event was forbidden, so that no more events can be accepted.
    is_closed: bool = False

    @property
    def first(self) -> int:
        """Return the position of the first accepted event."""
        return self.accepted[0][1]

    @property
    def last(self) -> int:
        """Return the position of the last accepted event."""
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
    # Whether the event would be the second one of the stage, or a later one.
    is_repetition: bool
    # Which events may be skipped.
    contiguity: Contiguity
    # The `until` conditions of the groups that contain the stage.
    group_stops: tuple[Condition, ...]

    @property
    def window(self) -> int | None:
        """Return the time limit from the last accepted event to the next, None without a limit."""
        limits = [self.stage.window, self.stage.gap if self.is_repetition else None]
        return min((limit for limit in limits if limit is not None), default=None)


@dataclass(frozen=True)
class Context:
    """What is around a chain in the pattern."""

    # The contiguity of its first stage, instead of the contiguity that is written there; None if
    # that one applies.
    first_contiguity: Contiguity | None = None
    # The `until` conditions of the groups that contain the chain.
    group_stops: tuple[Condition, ...] = ()
    # The negated stages that follow the chain.
    next_negated: tuple[Not, ...] = ()


@dataclass(frozen=True)
class OpenRun:
    """A run that waits for an event."""

    run: Run
    # The position of the event that ends the wait, or the end of the stream.
    wait_end: int
    # The time at which a window ends, if that ends the wait; otherwise None.
    timeout: int | None


class Search:
    """The search for all matches of a pattern in a stream of events, which is in order."""

    def __init__(self, pattern: Pattern, stream: Sequence[Event]) -> None:
        self.pattern = pattern
        self.stream = stream
        self.stream_end = len(stream)
        self.stage_names = tuple(list_stage_names(pattern.chain))
        trailing: list[Not] = []
        body = list(pattern.chain)
        while isinstance(body[-1], Not):
            trailing.insert(0, body.pop())
        self.body = tuple(body)
        # The negated stages at the end of the pattern. `body` is the chain before them.
        self.trailing_negated = tuple(trailing)
        # Every run that ever waited.
        self.open_runs: set[OpenRun] = set()
        self.wait_count = 0
        self.matches = self.find_all()

    # All matches

    def find_all(self) -> set[Match]:
        """Return every match, and leave every run that waits in `open_runs`."""
        context = Context(next_negated=self.list_trailing_between_repetitions())
        runs = set(self.follow_chain(Run(), self.body, context))
        return {match for run in runs if run.accepted for match in self.complete(run)}

    def list_trailing_between_repetitions(self) -> tuple[Not, ...]:
        """Return the negated stages at the end that also end runs between two repetitions.

        If a `not_followed_by` waits for the end of the window, it decides about every prefix of a
        loop before it separately, and so lets the loop go on.
        """
        if self.trailing_negated and not self.trailing_negated[-1].only_next:
            return tuple(negated for negated in self.trailing_negated if negated.only_next)
        return self.trailing_negated

    def complete(self, run: Run) -> Iterator[Match]:
        """Yield the match of a run through the whole pattern, unless a negated stage forbids it."""
        if not self.trailing_negated:
            # As computed: stages after a `not_next` that may be empty are passed together with the
            # last accepted event, whatever comes next. So `not_next` is about that event.
            before = replace(run, accepted=run.accepted[:-1])
            if not any(
                negated.only_next and self.is_hit(negated, before, run.last)
                for negated in run.negated
            ):
                yield Match(self.map_stages(run), run.last)
        elif run.is_closed:
            return
        elif self.trailing_negated[-1].only_next:
            yield from self.complete_at_next_event(run)
        else:
            yield from self.complete_at_window_end(run)

    def complete_at_next_event(self, run: Run) -> Iterator[Match]:
        """Yield the match if the next event, which must be in the window, is not forbidden."""
        next_position = run.last + 1
        window_end = self.find_window_end(
            run, *(negated.window for negated in self.trailing_negated)
        )
        if next_position == self.stream_end or not self.is_before(next_position, window_end):
            self.open_runs.add(OpenRun(run, next_position, window_end))
            return
        self.open_runs.add(OpenRun(run, next_position, None))
        if not any(self.is_hit(negated, run, next_position) for negated in self.trailing_negated):
            yield Match(self.map_stages(run), next_position)

    def complete_at_window_end(self, run: Run) -> Iterator[Match]:
        """Yield the match if no event in the window is forbidden."""
        next_position = run.last + 1
        window_end = self.find_window_end(
            run, *(negated.window for negated in self.trailing_negated)
        )
        positions = [
            position
            for position in range(next_position, self.stream_end)
            if self.is_before(position, window_end)
        ]
        hits = [
            position
            for position in positions
            if any(self.is_forbidden(negated, run, position) for negated in self.trailing_negated)
        ]
        position_after_window = next_position + len(positions)
        if not hits:
            yield Match(self.map_stages(run), position_after_window)
        self.open_runs.add(OpenRun(run, hits[0] if hits else position_after_window, None))

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
        later = replace(context, first_contiguity=None)
        if isinstance(element, Not):
            yield from self.follow_chain(run.pass_negated(element), remaining, later)
            return
        negated = list_leading_negated(remaining)
        inner = replace(context, next_negated=negated if remaining else context.next_negated)
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
            contiguity = context.first_contiguity or stage.contiguity
        else:
            contiguity = stage.inner
            run = run.pass_negated(
                *list_negated_between(context.next_negated, may_leave=count > stage.least)
            )
        for longer in self.accept(run, Wait(stage, count > 1, contiguity, context.group_stops)):
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
        stops = (*context.group_stops, group.until) if group.until else context.group_stops
        if count == 1:
            contiguity = context.first_contiguity or group.contiguity
        else:
            contiguity = group.inner
            run = run.pass_negated(
                *list_negated_between(context.next_negated, may_leave=count > group.least)
            )
        inner = Context(contiguity, stops, context.next_negated)
        for longer in self.follow_chain(run, group.chain, inner):
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
        self.wait_count += 1
        if self.wait_count > MAX_WAITS:
            raise TooManyWaysError
        if run.is_closed:
            return
        if not run.accepted:  # the first event of a match; nothing is skipped before it
            for position in range(self.stream_end):
                if self.is_acceptable(run, wait, position):
                    yield self.take(run, wait, position)
            return
        later_positions = range(run.last + 1, self.stream_end)
        window_end = self.find_window_end(run, wait.window)
        positions_in_window = [
            position for position in later_positions if self.is_before(position, window_end)
        ]
        for position in positions_in_window:
            gap = range(run.last + 1, position)
            is_gap_skippable = all(self.is_skippable(run, wait, skipped) for skipped in gap)
            if is_gap_skippable and self.is_acceptable(run, wait, position):
                yield self.take(run, wait, position)
        unskippable = [
            position
            for position in positions_in_window
            if not self.is_skippable(run, wait, position)
        ]
        if unskippable:
            self.open_runs.add(OpenRun(run, unskippable[0], None))
        else:
            position_after_window = run.last + 1 + len(positions_in_window)
            self.open_runs.add(OpenRun(run, position_after_window, window_end))

    def is_acceptable(self, run: Run, wait: Wait, position: int) -> bool:
        """Return whether the awaited stage may accept an event, apart from gap and window."""
        if any(
            negated.only_next and self.is_forbidden(negated, run, position)
            for negated in run.negated
        ):
            return False
        stops = (*wait.group_stops, wait.stage.until)
        return (
            self.holds(wait.stage.condition, run, position)
            and not any(stop and self.holds(stop, run, position) for stop in stops)
            and not self.is_held_by_greed(run, position)
        )

    def is_skippable(self, run: Run, wait: Wait, position: int) -> bool:
        """Return whether a run that waits may skip an event."""
        if any(self.is_forbidden(negated, run, position) for negated in run.negated):
            return False
        if self.is_held_by_greed(run, position):
            return False
        stops = (*wait.group_stops, wait.stage.until if wait.is_repetition else None)
        if any(stop and self.holds(stop, run, position) for stop in stops):
            return False
        match wait.contiguity:
            case Contiguity.STRICT:
                return False
            case Contiguity.RELAXED:
                return not self.holds(wait.stage.condition, run, position)
            case Contiguity.ANY:
                return True

    def take(self, run: Run, wait: Wait, position: int) -> Run:
        """Return the run after it has accepted an event.

        The event may be one that a negated stage forbids. It may complete the pattern, but no
        other event can follow it.
        """
        is_forbidden = any(self.is_forbidden(negated, run, position) for negated in run.negated)
        return Run((*run.accepted, (wait.stage.name, position)), is_closed=is_forbidden)

    def is_held_by_greed(self, run: Run, position: int) -> bool:
        """Return whether a greedy stage that the run has left could accept the event.

        Then nothing else may be done with the event, unless the `until` condition of the stage
        holds for the event directly after the last accepted one.
        """
        directly_after = run.last + 1 if run.accepted else position
        return any(
            self.holds(stage.condition, run, position)
            and not (stage.until and self.holds(stage.until, run, directly_after))
            for stage in run.left_greedy
        )

    # Conditions and windows

    def is_forbidden(self, negated: Not, run: Run, position: int) -> bool:
        """Return whether a negated stage forbids an event. `not_next` forbids only the next one."""
        if negated.only_next and position != run.last + 1:
            return False
        return self.is_hit(negated, run, position)

    def is_hit(self, negated: Not, run: Run, position: int) -> bool:
        """Return whether an event satisfies the condition of a negated stage."""
        return self.holds(negated.condition, run, position)

    def holds(self, condition: Condition | None, run: Run, position: int) -> bool:
        """Return whether a condition is true for an event. NULL counts as false."""
        return condition is None or condition(self.stream[position], self.group_events(run)) is True

    def group_events(self, run: Run) -> Accepted:
        """Return the accepted events of each stage."""
        return {
            name: [self.stream[position] for stage, position in run.accepted if stage == name]
            for name in self.stage_names
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

    def is_before(self, position: int, end: int | None) -> bool:
        """Return whether an event comes before the end of a window. The end is outside of it."""
        return end is None or self.stream[position]["t"] < end

    # Results

    def map_stages(self, run: Run) -> Mapped:
        """Return the positions that each stage has accepted, without stages that accepted none."""
        positions = {
            name: tuple(position for stage, position in run.accepted if stage == name)
            for name in self.stage_names
        }
        return tuple((name, positions[name]) for name in self.stage_names if positions[name])

    def find_timed_out(self) -> set[TimedOut]:
        """Return the partial matches that time out if nothing is skipped after a match."""
        return {
            TimedOut(self.map_stages(open_run.run), open_run.timeout)
            for open_run in self.open_runs
            if open_run.timeout is not None
        }

    def list_orders(self) -> Iterator[list[Match]]:
        """Yield every order in which the matches may be considered.

        Matches are considered by `rank`. The definitions do not say which comes first of several
        with the same rank, which map the same events to different stages.
        """
        ranked = sorted(self.matches, key=rank)
        ties = [list(group) for _, group in groupby(ranked, key=rank)]
        if prod(factorial(len(tie)) for tie in ties) > MAX_ORDERS:
            raise TooManyWaysError
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


def list_negated_between(next_negated: Sequence[Not], *, may_leave: bool) -> Iterator[Not]:
    """Return the negated stages after a loop that also hold between its repetitions.

    A `not_next` holds there only if the loop may be left.
    """
    return (negated for negated in next_negated if may_leave or not negated.only_next)


# Skipping after a match


def find_first_start(match: Match, skip: Skip) -> int:
    """Return the first position at which a match after this one may begin; -1 if any may follow.

    Raises:
        MissError: `skip.throws`, and the match has no event of the stage, or begins with it.
    """
    match skip.to:
        case SkipTo.NO_SKIP:
            return -1
        case SkipTo.NEXT:
            return match.first + 1
        case SkipTo.PAST_LAST_EVENT:
            return match.positions[-1] + 1
        case SkipTo.FIRST | SkipTo.LAST:
            positions = match.positions_of(skip.stage)
            if not positions:
                if skip.throws:
                    raise MissError(skip.stage)
                return -1
            target = positions[0] if skip.to is SkipTo.FIRST else positions[-1]
            if skip.throws and target == match.first:
                raise MissError(skip.stage)
            return target


def select_matches(ordered: Sequence[Match], skip: Skip) -> list[Match]:
    """Return the matches that are left after skipping, by the formulation over all matches.

    A match is left out if it begins before the position to which an earlier match of the result
    skips.

    Args:
        ordered: all matches, in the order in which they are considered.
        skip: the after-match skip strategy.

    Raises:
        MissError: see `find_first_start`.
    """
    first_start = -1
    selected = []
    for match in ordered:
        if match.first >= first_start:
            selected.append(match)
            first_start = max(first_start, find_first_start(match, skip))
    return selected


@dataclass(frozen=True)
class SearchResult:
    """The matches and the partial matches that a search outputs."""

    # The matches, in the order in which they are output.
    matches: tuple[Match, ...]
    timed_out: frozenset[TimedOut]


def report_matches(search: Search, ordered: Sequence[Match], skip: Skip) -> SearchResult:
    """Return the matches that are left after skipping, as computed event by event.

    A completed match is held back while a run is open that began earlier, because that run may
    still become a match that comes first. A match of the result ends the runs that began before the
    position to which it skips, so that these do not time out.

    Args:
        search: the search that found the matches.
        ordered: all of its matches, in the order in which they are considered.
        skip: the after-match skip strategy.

    Raises:
        MissError: see `find_first_start`.
    """
    reported: list[Match] = []
    timed_out: set[TimedOut] = set()
    # The completed matches that are held back, in order.
    completed: list[Match] = []
    first_start = -1
    for now in range(search.stream_end + 1):
        for open_run in search.open_runs:
            ends_now = open_run.wait_end == now and open_run.timeout is not None
            if ends_now and open_run.run.first >= first_start:
                timed_out.add(TimedOut(search.map_stages(open_run.run), open_run.timeout))
        completed += (match for match in ordered if match.completes == now)
        completed.sort(key=ordered.index)
        while completed:
            is_held_back = any(
                open_run.run.last <= now < open_run.wait_end
                and first_start <= open_run.run.first < completed[0].first
                for open_run in search.open_runs
            )
            if is_held_back and skip.to is not SkipTo.NO_SKIP:
                break
            match = completed.pop(0)
            if match.first >= first_start:
                reported.append(match)
                first_start = max(first_start, find_first_start(match, skip))
    return SearchResult(tuple(reported), frozenset(timed_out))
