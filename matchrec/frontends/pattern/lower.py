"""Pattern → MatchPlan: stages become steps, each condition a test, each window a column or a test.

The conditions of a pattern stand one below the other in a text, so that errors can show them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import cached_property

from matchrec.dataclass import dataclass
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import PATTERN_CALLS
from matchrec.frontends.expressions.analysis import Clause, Scope
from matchrec.frontends.expressions.expression import parse_scalar
from matchrec.frontends.lexing.dialect import SPARK, Dialect
from matchrec.frontends.pattern import checks
from matchrec.frontends.pattern.after_match import AfterMatch
from matchrec.frontends.pattern.builder import Pattern
from matchrec.frontends.pattern.conditions import later, refuse_other_rows, too_far, with_candidate
from matchrec.frontends.pattern.durations import Duration
from matchrec.frontends.pattern.measures import end_of, event_measures, match_measures
from matchrec.frontends.pattern.tree import All, Condition, Either, Stage, Test, named_stages
from matchrec.plan.clauses import (
    Definition,
    MatchOutput,
    Measure,
    RowExpression,
    RowsPerMatch,
    SkipTo,
    SortItem,
    Within,
)
from matchrec.plan.combined import complement, joined
from matchrec.plan.expression import End, Scalar, Term
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.rules import check
from matchrec.plan.stages import (
    Contiguity,
    Not,
    Part,
    Single,
    Skip,
    Staging,
    Steps,
    Timeouts,
    Until,
    words,
)
from matchrec.source import Source, Span

EVERYWHERE = "TRUE"


@dataclass(frozen=True, slots=True)
class PatternQuery:
    """A pattern, and what is to be done with its matches.

    order_by, partition_by, columns: SQL over one row; columns are those of an event. rows: a row
    for each match, or for each of its events. timeouts: whether partial matches come out as well.
    dialect: in which conditions are written.
    """

    pattern: Pattern
    order_by: tuple[str, ...]
    partition_by: tuple[str, ...]
    columns: tuple[str, ...]
    skip: AfterMatch = AfterMatch.NO_SKIP
    rows: RowsPerMatch = RowsPerMatch.ONE_ROW
    timeouts: bool = False
    dialect: Dialect = SPARK


def lower_pattern(query: PatternQuery) -> tuple[MatchPlan, Source]:
    """The plan of a pattern, and the text of its conditions."""
    stages = query.pattern.stages
    checks.complete(stages)
    if query.skip.stage is not None:
        call = "skip_to_first" if query.skip.to is SkipTo.FIRST else "skip_to_last"
        checks.skip_target(stages, query.skip.stage, call)
    written = Written.of(stages)
    with shown_in(written.source, PATTERN_CALLS):
        tests = Tests(query, written)
        steps = tests.steps(stages)
        window = checks.whole_window(stages)
        plan = MatchPlan(
            pattern=words(steps),
            partition_by=tuple(RowExpression(text) for text in query.partition_by),
            order_by=tuple(SortItem(RowExpression(text)) for text in query.order_by),
            measures=measures(query),
            rows_per_match=query.rows,
            within=None if window is None else Within(RowExpression(window.sql)),
            definitions=tuple(tests.definitions.values()),
            output=MatchOutput.ALL,
            staging=Staging(
                steps,
                tuple(tests.definitions),
                tests.windows,
                tests.ends,
                skip_of(query.skip),
                tests.timeouts(window) if query.timeouts else None,
            ),
        )
        check(plan)
        return plan, written.source


def skip_of(skip: AfterMatch) -> Skip | None:
    """The skip strategy of a plan."""
    return None if skip.to is None else Skip(skip.to, skip.stage, skip.throws)


def measures(query: PatternQuery) -> tuple[Measure, ...]:
    """The columns of the result, but for those of the partition."""
    order = query.order_by[0]
    if query.rows is not RowsPerMatch.ONE_ROW:
        return tuple(event_measures())
    names = [str(one.content) for one in named_stages(query.pattern.stages) if not one.negated]
    return tuple(match_measures(order, names, query.columns))


@dataclass(frozen=True, slots=True)
class Written:
    """All conditions as one text, and where each of them stands."""

    source: Source
    places: dict[int, int]

    @staticmethod
    def of(stages: tuple[Stage, ...]) -> Written:
        pieces, places, length = [], {}, 0
        for label, condition in written_conditions(stages):
            places[id(condition)] = length + len(label) + 2
            pieces.append(f"{label}: {condition.expression}\n")
            length += len(pieces[-1])
        return Written(Source("".join(pieces)), places)


def written_conditions(stages: tuple[Stage, ...]) -> Iterator[tuple[str, Test]]:
    """Every condition of a pattern, with what to call it."""
    for stage in stages:
        if isinstance(stage.content, tuple):
            yield from written_conditions(stage.content)
        name = stage.content if isinstance(stage.content, str) else "group"
        yield from ((f"{name}, where", one) for one in tests_of(stage.condition))
        yield from ((f"{name}, until", one) for one in tests_of(stage.until))


def tests_of(condition: Condition | None) -> Iterator[Test]:
    """The conditions of one call after the other."""
    match condition:
        case Test():
            yield condition
        case All(parts) | Either(parts):
            for part in parts:
                yield from tests_of(part)


@dataclass
class Tests:
    """The definitions of all tests so far, by name; near: windows between neighbours, by test."""

    query: PatternQuery
    written: Written
    definitions: dict[str, Definition] = field(default_factory=dict)
    near: dict[str, Duration] = field(default_factory=dict)

    __test__ = False  # for pytest: no test

    def steps(self, stages: tuple[Stage, ...]) -> Steps:
        """The steps of a sequence of stages."""
        return Steps(tuple(self.step(stage) for stage in stages))

    def step(self, stage: Stage) -> Part | Not:
        if stage.negated:
            assert isinstance(stage.content, str)
            test = self.define(f"{stage.content} where", self.scalar(stage.condition))
            near = self.distance(f"{stage.content} near", stage.near)
            return Not(stage.content, test, stage.contiguity is Contiguity.STRICT, near)
        content = self.content(stage)
        label = stage.content if isinstance(stage.content, str) else "group"
        return Part(
            content,
            stage.contiguity,
            stage.least,
            stage.most,
            stage.optional,
            stage.greedy,
            stage.inner or Contiguity.RELAXED,
            self.until(stage, label),
            self.distance(f"{label} near", stage.near),
            self.distance(f"{label} gap", stage.gap),
        )

    def content(self, stage: Stage) -> Single | Steps:
        if isinstance(stage.content, tuple):
            return self.steps(stage.content)
        name = stage.content
        return Single(name, self.define(f"{name} where", self.scalar(stage.condition)))

    def until(self, stage: Stage, label: str) -> Until | None:
        if stage.until is None:
            return None
        ends = self.scalar(stage.until)
        test = self.define(f"{label} until", ends)
        goes_on = self.define(f"{label} not until", complement(ends))
        if stage.is_group:
            return Until(test, goes_on)
        take = joined("AND", (self.scalar(stage.condition), complement(ends)))
        return Until(test, goes_on, self.define(f"{label} where, not until", take))

    def distance(self, label: str, window: Duration | None) -> str | None:
        """The test that a row lies too far after the one mapped before."""
        whole = checks.whole_window(self.query.pattern.stages)
        if window is None or (whole is not None and window >= whole):  # then it says nothing new
            return None
        test = self.define(label, too_far(self.query.order_by[0], window.sql))
        self.near[test] = window
        return test

    @property
    def windows(self) -> tuple[str, ...]:
        """The tests of windows between neighbours, the smallest window first."""
        return tuple(sorted(self.near, key=lambda test: self.near[test]))

    @property
    def ends(self) -> tuple[str, ...]:
        """When each of them ends that begins with a row."""
        order = self.query.order_by[0]
        return tuple(later(order, self.near[test].sql) for test in self.windows)

    def timeouts(self, whole: Duration | None) -> Timeouts:
        """When windows end."""
        order = self.query.order_by[0]
        ends = tuple(end_of(End.LAST, order, self.near[test].sql) for test in self.windows)
        return Timeouts(None if whole is None else end_of(End.FIRST, order, whole.sql), ends)

    def define(self, label: str, scalar: Scalar) -> str:
        """The name of a new test; stages have no colon in their names."""
        name = f":{label}"
        while name in self.definitions:
            name += "'"
        self.definitions[name] = Definition(name, with_candidate(scalar, name))
        return name

    def scalar(self, condition: Condition | None) -> Scalar:
        """A condition as an expression."""
        match condition:
            case None:
                return Term((EVERYWHERE,), Span(0, 0))
            case All(parts):
                return joined("AND", tuple(map(self.scalar, parts)))
            case Either(parts):
                return joined("OR", tuple(map(self.scalar, parts)))
            case Test(text):
                offset = self.written.places[id(condition)]
                parsed = parse_scalar(text, offset, self.scope)
                return refuse_other_rows(parsed, self.stage_names)

    @cached_property
    def scope(self) -> Scope:
        """What a condition may refer to."""
        return Scope(Clause.DEFINE, tuple(self.stage_names), dialect=self.query.dialect)

    @cached_property
    def stage_names(self) -> dict[str, str]:
        """Each way to write a stage in a condition, and its name."""
        found: dict[str, str] = {}
        for stage in named_stages(self.query.pattern.stages):
            if not stage.negated:
                name = str(stage.content)
                found |= {name: name, name.upper(): name}
        return found
