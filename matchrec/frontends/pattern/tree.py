"""The stages of a pattern, as its calls describe them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from matchrec.dataclass import dataclass
from matchrec.frontends.pattern.durations import Duration
from matchrec.plan.stages import Contiguity

__all__ = [
    "All",
    "Condition",
    "Contiguity",
    "Either",
    "Stage",
    "Test",
    "all_stages",
    "named_stages",
    "textual",
]


@dataclass(frozen=True, slots=True)
class Test:
    """One condition: SQL text, or a Spark Column."""

    __test__ = False  # for pytest: no test

    expression: Any


@dataclass(frozen=True, slots=True)
class All:
    """All of them must hold, two or more."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """One of them must hold, of two or more."""

    parts: tuple[Condition, ...]


Condition = Test | All | Either


def with_test(
    combine: type[All] | type[Either], condition: Condition | None, test: Test
) -> Condition:
    """The condition together with one test more."""
    if condition is None:
        return test
    if isinstance(condition, All | Either) and isinstance(condition, combine):
        return combine((*condition.parts, test))
    return combine((condition, test))


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: events that satisfy a condition, a whole pattern as a group, or a NOT.

    content: the stage's name, or the stages of a group. contiguity: which events may be skipped
    before its first one; of a NOT, STRICT is not_next and RELAXED not_followed_by; nothing is
    skipped before the first stage of a whole pattern. condition: None is always true.
    least, most: how often, most None without a bound; optional adds "not at all". inner: the
    contiguity from the second repetition on. gap: the time between two repetitions. within: from
    the first to the last event of the whole match; near: from the event before to each of this
    stage. Both gap and near are less than, not equal.
    """

    content: str | tuple[Stage, ...]
    contiguity: Contiguity
    negated: bool = False
    condition: Condition | None = None
    quantified: bool = False
    least: int = 1
    most: int | None = 1
    optional: bool = False
    greedy: bool = False
    inner: Contiguity | None = None
    until: Condition | None = None
    gap: Duration | None = None
    within: Duration | None = None
    near: Duration | None = None

    @property
    def is_group(self) -> bool:
        """Whether it is a pattern of its own."""
        return not isinstance(self.content, str)

    @property
    def is_loop(self) -> bool:
        """Whether there is no bound to its repetitions."""
        return self.most is None

    @property
    def may_be_missing(self) -> bool:
        """Whether there are matches without it: it is optional, or all stages of a group are."""
        inside = () if isinstance(self.content, str) else self.content
        return self.optional or (bool(inside) and all(one.may_be_missing for one in inside))

    @property
    def label(self) -> str:
        """What to call it in a message."""
        if isinstance(self.content, str):
            return f"stage `{self.content}`"
        return f"group ({', '.join(one.label for one in self.content)})"


def all_stages(stages: tuple[Stage, ...]) -> Iterator[Stage]:
    """All stages, a group before those inside of it."""
    for stage in stages:
        yield stage
        if not isinstance(stage.content, str):
            yield from all_stages(stage.content)


def named_stages(stages: tuple[Stage, ...]) -> Iterator[Stage]:
    """All stages that are no groups, those inside of groups in their place."""
    return (stage for stage in all_stages(stages) if not stage.is_group)


def textual(stages: tuple[Stage, ...], taken: int = 0) -> tuple[tuple[Stage, ...], dict[str, Any]]:
    """The stages with names of columns in place of Columns, and the Columns by these names.

    taken: how many such names other patterns have.
    """
    columns: dict[str, Any] = {}

    def named(test: Test) -> Test:
        if isinstance(test.expression, str):
            return test
        name = f"__condition_{taken + len(columns)}"
        columns[name] = test.expression
        return Test(name)

    return with_tests(stages, named), columns


def with_tests(stages: tuple[Stage, ...], change: Callable[[Test], Test]) -> tuple[Stage, ...]:
    """The stages with every test changed."""

    def changed(condition: Condition) -> Condition:
        match condition:
            case Test():
                return change(condition)
            case All(parts):
                return All(tuple(map(changed, parts)))
            case Either(parts):
                return Either(tuple(map(changed, parts)))

    def stage_changed(stage: Stage) -> Stage:
        content = stage.content
        return replace(
            stage,
            content=content if isinstance(content, str) else with_tests(content, change),
            condition=stage.condition and changed(stage.condition),
            until=stage.until and changed(stage.until),
        )

    return tuple(stage_changed(stage) for stage in stages)
