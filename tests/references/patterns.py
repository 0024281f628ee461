"""The matches of a pattern by definition, over events that are Python dicts. Slow and obvious.

There is no automaton: the ways to give events to stages are enumerated, stage by stage, and each
gap between two accepted events is judged by itself: which stage was waited for, and whether every
event in the gap could be skipped. Nothing of matchrec is used.

What the definitions leave to the way a run is computed is marked with "as computed".
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
    stage_names,
)

MOST_WAITS = 20_000
MOST_ORDERS = 24

Mapped = tuple[tuple[str, tuple[int, ...]], ...]
"""For each stage that accepted something, in the order of the pattern, the positions."""


@dataclass(frozen=True)
class Match:
    """completes: the position of the event that completes it; the end of the stream is one too."""

    mapped: Mapped
    completes: int

    @cached_property
    def positions(self) -> tuple[int, ...]:
        return tuple(sorted(p for _, positions in self.mapped for p in positions))

    @property
    def first(self) -> int:
        return self.positions[0]

    def of(self, stage: str) -> tuple[int, ...]:
        return dict(self.mapped).get(stage, ())


@dataclass(frozen=True)
class TimedOut:
    """A partial match whose window has ended, and the time of that end."""

    mapped: Mapped
    time: int


@dataclass(frozen=True)
class Skip:
    """An after-match skip strategy. to: no skip, next, past last event, first, last."""

    to: str = "no skip"
    stage: str = ""
    throws: bool = False


class MissError(Exception):
    """A match has no event of the stage that is skipped to, or begins with it."""


class TooMuchError(Exception):
    """So many ways that a test would take too long."""


@dataclass(frozen=True)
class Run:
    """What has been accepted, and what holds for the wait for the next event.

    accepted: stage and position, in order. forbidden: the negated stages that were passed since the
    last accepted event, left: the greedy ones. closed: the last event was forbidden; nothing more
    can be accepted.
    """

    accepted: tuple[tuple[str, int], ...] = ()
    forbidden: tuple[Not, ...] = ()
    left: tuple[Stage, ...] = ()
    closed: bool = False

    @property
    def first(self) -> int:
        return self.accepted[0][1]

    @property
    def last(self) -> int:
        return self.accepted[-1][1]

    def passing(self, *negated: Not) -> Run:
        return replace(self, forbidden=(*self.forbidden, *negated))

    def leaving(self, stage: Stage) -> Run:
        """Greediness has no effect on an exact count, where there is no choice."""
        if stage.greedy and stage.least != stage.most:
            return replace(self, left=(*self.left, stage))
        return self


@dataclass(frozen=True)
class Wait:
    """What a run waits for: an event of a stage.

    later: it is not the first repetition. contiguity: of this wait. stops: the until conditions of
    the groups around.
    """

    stage: Stage
    later: bool
    contiguity: Contiguity
    stops: tuple[Condition, ...]

    @property
    def window(self) -> int | None:
        """How long after the event before the awaited one must come."""
        limits = [self.stage.window, self.stage.gap if self.later else None]
        return min((one for one in limits if one is not None), default=None)


@dataclass(frozen=True)
class Around:
    """What a chain stands in.

    head: the contiguity for its first stage, if not that one's own. stops: until conditions of the
    groups around. behind: the negated stages that follow it.
    """

    head: Contiguity | None = None
    stops: tuple[Condition, ...] = ()
    behind: tuple[Not, ...] = ()


@dataclass(frozen=True)
class Open:
    """A run that waits. until: the position of the event that ends it, or the end of the stream.

    timed_out: set if what ends it is the end of a window, at that time.
    """

    run: Run
    until: int
    timed_out: int | None


class Search:
    """One pattern over one stream: events in their order, with their time in `t`."""

    def __init__(self, pattern: Pattern, stream: Sequence[Event]) -> None:
        self.pattern, self.stream = pattern, stream
        self.end = len(stream)
        self.names = tuple(stage_names(pattern.chain))
        chain = pattern.chain
        behind = 0
        while isinstance(chain[len(chain) - behind - 1], Not):
            behind += 1
        self.body = chain[: len(chain) - behind]
        self.trailing = tuple(one for one in chain[len(self.body) :] if isinstance(one, Not))
        self.open: set[Open] = set()
        self.waits = 0
        self.found = self.all()

    # All matches

    def all(self) -> set[Match]:
        """Every match; every run that waits is left in `open`."""
        around = Around(behind=self.killing(self.trailing))
        runs = set(self.chain(Run(), self.body, around))
        return {match for run in runs if run.accepted for match in self.completed(run)}

    def killing(self, trailing: Sequence[Not]) -> tuple[Not, ...]:
        """Which of the stages at the end also end runs between two repetitions before them.

        Those that wait for the end of the window look at each prefix by itself (D13).
        """
        if trailing and not trailing[-1].direct:
            return tuple(one for one in trailing if one.direct)
        return tuple(trailing)

    def completed(self, run: Run) -> Iterator[Match]:
        """The match that a run through the whole chain is, if it is one."""
        if not self.trailing:
            # as computed (25, step 4): what can be empty behind a `not_next` is passed with the
            # event that is being accepted, whatever comes next
            before = replace(run, accepted=run.accepted[:-1])
            if not any(one.direct and self.hit(one, before, run.last) for one in run.forbidden):
                yield Match(self.mapped(run), run.last)
            return
        if run.closed:
            return
        after = run.last + 1
        end = self.window_end(run, *(one.window for one in self.trailing))
        within = [q for q in range(after, self.end) if self.before(q, end)]
        direct = [one for one in self.trailing if one.direct]
        lasting = [one for one in self.trailing if not one.direct]
        if not self.trailing[-1].direct:
            over = after + len(within)
            bad = any(self.hit(one, run, q) for one in lasting for q in within)
            if not bad and not any(self.hit(one, run, q) for one in direct for q in within[:1]):
                yield Match(self.mapped(run), over)
            self.open.add(Open(run, self.first_hit(run, lasting, direct, within, over), None))
            return
        if not within:
            self.open.add(Open(run, after, end))
            return
        self.open.add(Open(run, after, None))
        if not any(self.hit(one, run, after) for one in self.trailing):
            yield Match(self.mapped(run), after)

    def first_hit(
        self,
        run: Run,
        lasting: Sequence[Not],
        direct: Sequence[Not],
        within: Sequence[int],
        over: int,
    ) -> int:
        hits = (q for q in within if any(self.hit(one, run, q) for one in lasting))
        if within and any(self.hit(one, run, within[0]) for one in direct):
            return within[0]
        return next(hits, over)

    # Ways through the pattern

    def chain(self, run: Run, elements: Sequence[Element], around: Around) -> Iterator[Run]:
        """Every way of a run through elements that follow each other."""
        if not elements:
            yield run
            return
        first, rest = elements[0], elements[1:]
        later = replace(around, head=None)
        if isinstance(first, Not):
            yield from self.chain(run.passing(first), rest, later)
            return
        negated = tuple(following(rest))
        own = replace(around, behind=negated or (() if rest else around.behind))
        ways = self.stage if isinstance(first, Stage) else self.group
        for one in ways(run, first, own):  # type: ignore[operator]
            yield from self.chain(one, rest, later)

    def stage(self, run: Run, stage: Stage, around: Around) -> Iterator[Run]:
        if stage.optional:
            yield run.leaving(stage)
        yield from self.repetitions(run, stage, around, 1)

    def repetitions(self, run: Run, stage: Stage, around: Around, count: int) -> Iterator[Run]:
        """The repetition of that number and perhaps later ones."""
        contiguity = stage.inner if count > 1 else around.head or stage.contiguity
        waiting = run
        if count > 1:
            waiting = run.passing(*between(around.behind, may_leave=count > stage.least))
        for one in self.accept(waiting, Wait(stage, count > 1, contiguity, around.stops)):
            if count >= stage.least:
                yield one.leaving(stage)
            if stage.most is None or count < stage.most:
                yield from self.repetitions(one, stage, around, count + 1)

    def group(self, run: Run, group: Group, around: Around) -> Iterator[Run]:
        if group.optional:
            yield run
        yield from self.rounds(run, group, around, 1)

    def rounds(self, run: Run, group: Group, around: Around, count: int) -> Iterator[Run]:
        """The repetition of a group of that number and perhaps later ones."""
        stops = (*around.stops, group.until) if group.until else around.stops
        head = group.inner if count > 1 else around.head or group.contiguity
        waiting = run
        if count > 1:
            waiting = run.passing(*between(around.behind, may_leave=count > group.least))
        for one in self.chain(waiting, group.chain, Around(head, stops, around.behind)):
            if count >= group.least:
                yield one
            moved = one.accepted != run.accepted
            if group.most is None:
                more = moved or count < group.least
            else:
                more = count < group.most
            if more:
                yield from self.rounds(one, group, around, count + 1)

    # One wait

    def accept(self, run: Run, wait: Wait) -> Iterator[Run]:
        """The run with each event that it can accept for what it waits for."""
        self.waits += 1
        if self.waits > MOST_WAITS:
            raise TooMuchError
        if run.closed:
            return
        if not run.accepted:
            for q in range(self.end):
                if self.acceptable(run, wait, q):
                    yield self.accepted(run, wait, q)
            return
        after = range(run.last + 1, self.end)
        end = self.window_end(run, wait.window)
        for q in after:
            gap = range(run.last + 1, q)
            skipped = all(self.skippable(run, wait, one) for one in gap)
            if skipped and self.before(q, end) and self.acceptable(run, wait, q):
                yield self.accepted(run, wait, q)
        within = [q for q in after if self.before(q, end)]
        stuck = next((q for q in within if not self.skippable(run, wait, q)), None)
        over = run.last + 1 + len(within)
        self.open.add(Open(run, over, end) if stuck is None else Open(run, stuck, None))

    def acceptable(self, run: Run, wait: Wait, q: int) -> bool:
        """Whether the event may be accepted for what is waited for, as far as it alone tells."""
        if any(one.direct and self.forbidden(one, run, q) for one in run.forbidden):
            return False
        stops = (*wait.stops, wait.stage.until)
        return (
            self.holds(wait.stage.condition, run, q)
            and not any(stop and self.holds(stop, run, q) for stop in stops)
            and not self.held_by_greed(run, q)
        )

    def skippable(self, run: Run, wait: Wait, q: int) -> bool:
        """Whether the event may be skipped."""
        if any(self.forbidden(one, run, q) for one in run.forbidden):
            return False
        if self.held_by_greed(run, q):
            return False
        stops = (*wait.stops, wait.stage.until if wait.later else None)
        if any(stop and self.holds(stop, run, q) for stop in stops):
            return False
        if wait.contiguity is Contiguity.RELAXED:
            return not self.holds(wait.stage.condition, run, q)
        return wait.contiguity is Contiguity.ANY

    def accepted(self, run: Run, wait: Wait, q: int) -> Run:
        hit = any(self.forbidden(one, run, q) for one in run.forbidden)  # D10
        return Run((*run.accepted, (wait.stage.name, q)), closed=hit)

    def held_by_greed(self, run: Run, q: int) -> bool:
        """Whether a greedy stage that was left could accept the event.

        An until condition lifts it that holds for the event read directly after the last accepted.
        """
        directly = run.last + 1 if run.accepted else q
        return any(
            self.holds(stage.condition, run, q)
            and not (stage.until and self.holds(stage.until, run, directly))
            for stage in run.left
        )

    # Conditions and windows

    def forbidden(self, negated: Not, run: Run, q: int) -> bool:
        return not (negated.direct and q != run.last + 1) and self.hit(negated, run, q)

    def hit(self, negated: Not, run: Run, q: int) -> bool:
        return self.holds(negated.condition, run, q)

    def holds(self, condition: Condition | None, run: Run, q: int) -> bool:
        """Unknown counts as false (D6)."""
        return condition is None or condition(self.stream[q], self.events(run)) is True

    def events(self, run: Run) -> Accepted:
        return {
            name: [self.stream[q] for stage, q in run.accepted if stage == name]
            for name in self.names
        }

    def window_end(self, run: Run, *behind_last: int | None) -> int | None:
        """When the run's window ends: that of its first event, or one of those of its last."""
        ends = [self.stream[run.last]["t"] + one for one in behind_last if one is not None]
        if self.pattern.within_ is not None:
            ends.append(self.stream[run.first]["t"] + self.pattern.within_)
        return min(ends, default=None)

    def before(self, q: int, end: int | None) -> bool:
        return end is None or self.stream[q]["t"] < end

    # Results

    def mapped(self, run: Run) -> Mapped:
        by_stage = ((name, tuple(q for s, q in run.accepted if s == name)) for name in self.names)
        return tuple((name, positions) for name, positions in by_stage if positions)

    def timed_out(self) -> set[TimedOut]:
        """All partial matches that time out if nothing is skipped after a match."""
        return {
            TimedOut(self.mapped(one.run), one.timed_out)
            for one in self.open
            if one.timed_out is not None
        }

    def orders(self) -> Iterator[list[Match]]:
        """The order in which matches are considered; each of several, where it is open (D11)."""
        ranked = sorted(self.found, key=rank)
        ties = [list(group) for _, group in groupby(ranked, key=rank)]
        if prod(factorial(len(tie)) for tie in ties) > MOST_ORDERS:
            raise TooMuchError
        for choice in product(*(permutations(tie) for tie in ties)):
            yield [match for tie in choice for match in tie]


def rank(match: Match) -> tuple[int, int, tuple[int, ...]]:
    return match.first, match.completes, match.positions


def following(elements: Sequence[Element]) -> Iterator[Not]:
    """The negated stages directly at the beginning of elements."""
    for one in elements:
        if not isinstance(one, Not):
            return
        yield one


def between(behind: Sequence[Not], *, may_leave: bool) -> Iterator[Not]:
    """Which negated stages behind a loop hold between its repetitions.

    `not_next` is looked at where the loop may be left.
    """
    return (one for one in behind if may_leave or not one.direct)


# Skipping after a match


def bar(match: Match, skip: Skip) -> int:
    """The first position at which the next match may begin. Raises MissError."""
    if skip.to == "no skip":
        return -1
    if skip.to == "next":
        return match.first + 1
    if skip.to == "past last event":
        return match.positions[-1] + 1
    positions = match.of(skip.stage)
    if not positions:
        if skip.throws:
            raise MissError(skip.stage)
        return -1
    target = positions[0] if skip.to == "first" else positions[-1]
    if skip.throws and target == match.first:
        raise MissError(skip.stage)
    return target


def selected(ordered: Sequence[Match], skip: Skip) -> list[Match]:
    """The matches that are given, by the formulation over all of them (22). Raises MissError."""
    least, given = -1, []
    for match in ordered:
        if match.first >= least:
            given.append(match)
            least = max(least, bar(match, skip))
    return given


@dataclass(frozen=True)
class Reported:
    """What a search gives: the matches in order, and the partial matches that timed out."""

    matches: tuple[Match, ...]
    timed_out: frozenset[TimedOut]


def reported(search: Search, ordered: Sequence[Match], skip: Skip) -> Reported:
    """The matches event by event, as computed (25), and the partial matches that time out.

    A match is held back while a run is open that began earlier; a given match ends the runs that
    began before its bar. Raises MissError.
    """
    given: list[Match] = []
    timed_out: set[TimedOut] = set()
    waiting: list[Match] = []
    least = -1
    for now in range(search.end + 1):
        for one in search.open:
            if one.until == now and one.timed_out is not None and one.run.first >= least:
                timed_out.add(TimedOut(search.mapped(one.run), one.timed_out))
        waiting += (match for match in ordered if match.completes == now)
        waiting.sort(key=ordered.index)
        while waiting:
            held = any(
                one.run.last <= now < one.until and least <= one.run.first < waiting[0].first
                for one in search.open
            )
            if held and skip.to != "no skip":
                break
            match = waiting.pop(0)
            if match.first >= least:
                given.append(match)
                least = max(least, bar(match, skip))
    return Reported(tuple(given), frozenset(timed_out))
