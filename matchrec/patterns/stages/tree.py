"""The stages of a pattern, as its calls describe them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, TypeVar

from matchrec.plan.stages import Contiguity, ForbiddenEvent, RepeatedPart, Single, Steps, Until
from matchrec.syntax.durations import Duration


@dataclass(frozen=True, slots=True)
class Test:
    """One condition: SQL text, or a Spark Column. either: it may hold in place of those before."""

    __test__ = False  # for pytest: no test

    expression: Any
    either: bool = False

    @property
    def written(self) -> str:
        """The argument of the call that made it."""
        return repr(self.expression) if isinstance(self.expression, str) else str(self.expression)


T = TypeVar("T")
Tests = tuple[Test, ...]


def combined(tests: Tests, one: Callable[[Test], T], join: Callable[[str, list[T]], T]) -> T:
    """One or more conditions as one, read from left to right. join: several by AND or OR."""
    found = one(tests[0])
    for either, others in groupby(tests[1:], lambda test: test.either):
        found = join("OR" if either else "AND", [found, *map(one, others)])
    return found


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: events that satisfy a condition, a whole pattern as a group, or a NOT.

    name: of all groups the same. stages: of a group. contiguity: which events may be skipped
    before its first one; of a NOT, STRICT is not_next and RELAXED not_followed_by; nothing is
    skipped before the first stage of a whole pattern. conditions: none is always true.
    least, most: how often, most None without a bound; optional adds "not at all". inner: the
    contiguity from the second repetition on. gap: the time between two repetitions. within: from
    the first to the last event of the whole match; near: from the event before to each of this
    stage. Both gap and near are less than, not equal.
    """

    name: str
    contiguity: Contiguity
    stages: tuple[Stage, ...] = ()
    negated: bool = False
    conditions: Tests = ()
    quantified: bool = False
    least: int = 1
    most: int | None = 1
    optional: bool = False
    greedy: bool = False
    inner: Contiguity | None = None
    until: Test | None = None
    gap: Duration | None = None
    within: Duration | None = None
    near: Duration | None = None

    @property
    def is_group(self) -> bool:
        return bool(self.stages)

    @property
    def may_be_missing(self) -> bool:
        """Whether there are matches without it: it is optional, or all stages of a group are."""
        are_missing = self.is_group and all(stage.may_be_missing for stage in self.stages)
        return self.optional or are_missing

    @property
    def label(self) -> str:
        inside = ", ".join(stage.label for stage in self.stages)
        return f"group ({inside})" if self.is_group else f"stage `{self.name}`"


def all_stages(stages: tuple[Stage, ...]) -> Iterator[Stage]:
    """All stages, a group before those inside of it."""
    for stage in stages:
        yield stage
        yield from all_stages(stage.stages)


def named_stages(stages: tuple[Stage, ...]) -> Iterator[Stage]:
    """All stages that are no groups, those inside of groups in their place."""
    return (stage for stage in all_stages(stages) if not stage.is_group)


def textual(stages: tuple[Stage, ...], rule: str = "") -> tuple[tuple[Stage, ...], dict[str, Any]]:
    """The stages with names of columns in place of Columns, and the Columns by these names.

    rule: what tells them from those of other rules, whichever these are.
    """
    columns: dict[str, Any] = {}

    def named(test: Test) -> Test:
        if isinstance(test.expression, str):
            return test
        name = f"__condition_{rule}{len(columns)}"
        columns[name] = test.expression
        return replace(test, expression=name)

    def changed(stage: Stage) -> Stage:
        inside, until = tuple(map(changed, stage.stages)), stage.until and named(stage.until)
        conditions = tuple(map(named, stage.conditions))
        return replace(stage, stages=inside, conditions=conditions, until=until)

    return tuple(map(changed, stages)), columns


def shown(stages: tuple[Stage, ...]) -> str:
    """The calls that build the stages, in an order in which each is allowed."""
    found = (call for at, stage in enumerate(stages) for call in calls(stage, first=at == 0))
    return ".".join(("Pattern", *found))


def calls(stage: Stage, *, first: bool) -> Iterator[str]:
    content = shown(stage.stages) if stage.is_group else repr(stage.name)
    call = "begin" if first else stage.contiguity.value
    if stage.negated and not first:
        call = "not_next" if stage.contiguity is Contiguity.STRICT else "not_followed_by"
    yield f"{call}({content})"
    for test in stage.conditions:
        yield f"{'or_where' if test.either else 'where'}({test.written})"
    if stage.quantified:
        yield quantifier(stage)
    if stage.optional and not is_from_none(stage):
        yield "optional()"
    if stage.greedy:
        yield "greedy()"
    if stage.inner is not None:
        yield "consecutive()" if stage.inner is Contiguity.STRICT else "allow_combinations()"
    if stage.until is not None:
        yield f"until({stage.until.written})"
    if stage.within is not None:
        yield f"within('{stage.within}')"
    if stage.near is not None:
        yield f"within('{stage.near}', 'previous_to_current')"


def is_from_none(stage: Stage) -> bool:
    """Whether it is written `times(0, n)`."""
    return stage.optional and stage.least == 1 and stage.most not in (1, None)


def quantifier(stage: Stage) -> str:
    gap = f", gap='{stage.gap}'" if stage.gap is not None else ""
    if stage.most is None and stage.least == 1:
        return f"one_or_more({gap.removeprefix(', ')})"
    if stage.most is None:
        return f"times_or_more({stage.least}{gap})"
    least = 0 if is_from_none(stage) else stage.least
    most = "" if stage.most == least else f", {stage.most}"
    return f"times({least}{most}{gap})"


class Outline:
    """Stages → steps to be drawn: in the places of tests stand the conditions themselves."""

    def steps(self, stages: tuple[Stage, ...]) -> Steps:
        return tuple(map(self.step, stages))

    def step(self, stage: Stage) -> RepeatedPart | ForbiddenEvent:
        name = stage.name
        if stage.negated:
            strict = stage.contiguity is Contiguity.STRICT
            test, near = self.condition(stage), self.distance(f"{name} near", stage.near)
            return ForbiddenEvent(name, test, strict, near)
        part = self.steps(stage.stages) if stage.is_group else Single(name, self.condition(stage))
        how = stage.contiguity, stage.least, stage.most, stage.optional, stage.greedy
        until, near = self.until(stage), self.distance(f"{name} near", stage.near)
        gap = self.distance(f"{name} gap", stage.gap)
        return RepeatedPart(part, *how, stage.inner or Contiguity.RELAXED, until, near, gap)

    def condition(self, stage: Stage) -> str:
        if not stage.conditions:
            return "every event"
        return combined(
            stage.conditions,
            lambda test: str(test.expression),
            lambda word, parts: f" {word} ".join(f"({part})" for part in parts),
        )

    def until(self, stage: Stage) -> Until | None:
        return None if stage.until is None else Until(str(stage.until.expression), "")

    def distance(self, _label: str, _window: Duration | None) -> str | None:
        """The test that a row lies too far after the one mapped before; pictures have none."""
        return None
