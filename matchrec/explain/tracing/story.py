"""A trace in words: what text, table and picture have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from matchrec.explain.tracing.explained import Key
from matchrec.explain.tracing.search import Attempt, Mapped, Outcome, Trial
from matchrec.explain.tracing.trace import EngineMatch, Trace
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import show
from matchrec.search.interface import Task
from matchrec.source import counted


@dataclass(frozen=True, slots=True)
class Line:
    """A trial in words. row: from 1. place: of the row in the order. depth: rows mapped before.

    variable: its name, empty where none is asked for. is_key: whether it belongs to the way that
    came furthest, or says why that way ended. folded: how many rows with the same outcomes follow
    that are not shown.
    """

    row: int
    place: str
    variable: str
    outcome: str
    conditions: tuple[str, ...]
    depth: int
    is_key: bool
    folded: int = 0

    @property
    def fold(self) -> str:
        """What stands for the rows that are not shown, nothing where there are none."""
        rows = counted(self.folded, "more row")
        return f"... {rows} with the same outcomes" if self.folded else ""


@dataclass(frozen=True, slots=True)
class AttemptStory:
    """An attempt in words. title: what came of it. ends: how far it came, and what it needed."""

    start: int
    title: str
    lines: tuple[Line, ...]
    ends: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """A trace in words. orders: what rows are sorted by. found: matches, or what else is known."""

    heading: tuple[str, ...]
    orders: str
    found: tuple[str, ...]
    attempts: tuple[AttemptStory, ...]


@dataclass(frozen=True)
class TracedRows:
    """The rows of the partition. keys: by which it is divided. orders: names of what they are
    sorted by; places: their values. irrelevant: positions of those left out before the search.
    """

    keys: Mapping[str, str]
    orders: Sequence[str]
    places: Sequence[Sequence[str]]
    irrelevant: frozenset[int]

    def place(self, row: int) -> str:
        """Where a row stands in the order; nothing without an order."""
        return ", ".join(self.places[row]) if row < len(self.places) else "end"

    def named(self, row: int) -> str:
        if row >= len(self.places) or not self.orders:
            return f"row {row + 1}"
        pairs = zip(self.orders, self.places[row], strict=True)
        return f"row {row + 1} ({', '.join(f'{name} = {value}' for name, value in pairs)})"


@dataclass(frozen=True)
class Teller:
    """Words for a trace. conditions: sentences for its trials."""

    plan: MatchPlan
    task: Task
    rows: TracedRows
    trace: Trace
    conditions: Mapping[Key, tuple[str, ...]]

    def story(self) -> Story:
        pattern = " ".join([f"PATTERN ({show(self.plan.pattern)})", *self.window()])
        keys = ", ".join(f"{name} = {value}" for name, value in self.rows.keys.items())
        partition = f"partition {keys}" if keys else "the only partition"
        heading = pattern, f"{partition}: {counted(len(self.rows.places), 'row')}"
        found = self.found() if self.trace.passed is None else self.passed(self.trace.passed)
        attempts = (self.attempt(number, one) for number, one in enumerate(self.trace.attempts))
        return Story(heading, ", ".join(self.rows.orders), tuple(found), tuple(attempts))

    def found(self) -> Iterator[str]:
        matches, trace = self.trace.matches, self.trace
        if not matches:
            yield f"no match; searched from {trace.tried:,} of the rows"
        for one in matches[:MOST_MATCHES]:
            yield f"match {one.number}: {self.span(one.mapped, one.start)}"
        if len(matches) > MOST_MATCHES:
            more = len(matches) - MOST_MATCHES
            yield f"and {counted(more, 'more match', 'more matches')}"
        if trace.until is not None:
            yield f"too many trials: attempts are known up to row {trace.until}"

    def passed(self, rows: Mapping[int, EngineMatch | None]) -> Iterator[str]:
        for row, match in rows.items():
            yield f"{self.rows.named(row)}: no search started from it"
            if match is None:
                continue
            variables = [v for at, v in match.mapped if at == row]
            mapped = f", mapped to {self.task.variables[variables[0]]}" if variables else ""
            span = self.span(match.mapped, match.start)
            yield f"  it lies in match {match.number}, {span}{mapped}"
            skip = self.plan.after_match.words
            yield f"  {skip}: the search went on from row {match.next + 1}"
            yield "  write AFTER MATCH SKIP TO NEXT ROW to search from every row"

    def span(self, mapped: Mapped, start: int) -> str:
        if not mapped:
            return f"empty, at row {start + 1}"
        first, last = mapped[0][0] + 1, mapped[-1][0] + 1
        rows = f"row {first}" if first == last else f"rows {first} to {last}"
        names = (self.task.variables[variable] for _, variable in mapped)
        runs = ((name, len(list(same))) for name, same in groupby(names))
        word = " ".join(name if count == 1 else f"{name}{{{count}}}" for name, count in runs)
        return f"{rows}: {word}"

    def attempt(self, number: int, attempt: Attempt) -> AttemptStory:
        key = {*attempt.best, *attempt.stopped}
        lines = (
            self.line(trial, (number, i), attempt, is_key=i in key)
            for i, trial in enumerate(attempt.trials)
        )
        title, ends = self.title(attempt), tuple(self.ends(attempt))
        return AttemptStory(attempt.start + 1, title, tuple(lines), ends)

    def line(self, trial: Trial, key: Key, attempt: Attempt, *, is_key: bool) -> Line:
        given_back = trial.outcome is Outcome.TAKEN and key[1] not in attempt.best
        outcome = "given back" if given_back else trial.outcome.value
        place, name = self.rows.place(trial.row), self.name(trial)
        conditions = self.conditions.get(key, ())
        return Line(trial.row + 1, place, name, outcome, conditions, trial.depth, is_key)

    def name(self, trial: Trial) -> str:
        """The variable of a trial, or what else it asks: of stages, the words of a call."""
        asked = trial.variable if trial.variable >= 0 else trial.asked
        return self.task.variables[asked].removeprefix(":") if asked >= 0 else ""

    def title(self, attempt: Attempt) -> str:
        name = self.rows.named(attempt.start)
        own = [one for one in self.trace.matches if one.start == attempt.start]
        if own and self.task.output is not MatchOutput.ALL:
            one = own[0]
            return f"{name}: match {one.number}, {self.span(one.mapped, one.start)}"
        if own:
            return f"{name}: {counted(len(own), 'match', 'matches')}"
        if attempt.matches:
            return f"{name}: a match that leaves room for others and was left out"
        return f"{name}: no match"

    def ends(self, attempt: Attempt) -> Iterator[str]:
        if attempt.start in self.rows.irrelevant:
            yield "it is left out before the search: no variable but of loops can take it"
        if attempt.is_cut:
            count = len(attempt.trials)
            yield f"the search was cut after {count:,} trials; what follows is of those"
        if attempt.matches:
            return
        if not attempt.best:
            yield "no row could be mapped"
        else:
            way = tuple((attempt.trials[i].row, attempt.trials[i].variable) for i in attempt.best)
            yield f"came as far as {self.span(way, attempt.start)}"
        yield from self.needed([attempt.trials[i] for i in attempt.stopped], attempt.start)

    def needed(self, stopped: Sequence[Trial], start: int) -> Iterator[str]:
        """What was asked in vain where the best way ended. start: the starting row."""
        trials = [one for one in stopped if one.variable >= 0 and one.outcome is not Outcome.KNOWN]
        if any(trial.outcome is Outcome.NO_ROW for trial in trials):
            trials = [trial for trial in trials if trial.outcome is Outcome.NO_ROW]
            names = alternatives(self.task.variables[trial.variable] for trial in trials)
            yield f"then it needed {names}, but {self.end(trials[0].row, start)}"
        elif trials:
            rows = sorted({trial.row for trial in trials})
            names = alternatives(self.task.variables[trial.variable] for trial in trials)
            where = self.rows.named(rows[0])
            if len(rows) > 1:
                where = f"one of the rows {rows[0] + 1} to {rows[-1] + 1}"
            yield f"then it needed {names} on {where}"
        for one in stopped:
            if one.outcome in (Outcome.ENDED, Outcome.BLOCKED):
                yield f"{self.rows.named(one.row)} ended it: {self.name(one)} holds of it"
        if any(trial.outcome is Outcome.NOT_THERE and trial.variable < 0 for trial in stopped):
            yield "then the pattern asked for the partition's start or end, which is not there"
        if any(trial.outcome is Outcome.REJECTED for trial in stopped):
            yield "the rows were no match as a whole: a negation or the closing condition failed"

    def end(self, row: int, start: int) -> str:
        """Why there is no row at a position for an attempt from a starting row."""
        if row >= len(self.rows.places):
            return "the partition has no further row"
        of = "".join(f" of {self.rows.named(start)}, {length}" for length in self.window())
        return f"{self.rows.named(row)} lies outside of the window{of}"

    def window(self) -> Iterator[str]:
        """How far the last row of a match may be from its first, if rows do not say it."""
        within = self.plan.within
        if within is not None and within.interval.text:
            yield f"WITHIN {within.interval.text}"
        elif within is not None and within.distance is not None:
            yield f"{within.distance.written} after it"


MOST_MATCHES = 10


def alternatives(names: Iterable[str]) -> str:
    """The names, each once: `A, B or C`."""
    *first, last = dict.fromkeys(names)
    return f"{', '.join(first)} or {last}" if first else last
