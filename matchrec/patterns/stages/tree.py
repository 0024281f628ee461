"""The stages of a Pattern as the user's calls describe them: a tree, because groups have stages.

`Pattern.begin("a").where("x > 1").followed_by("b").optional()` has two stages: `a`, which has a
condition, and `b`, which is optional. `calls` writes stages as the calls again, and `steps` builds
the steps of a plan from them, which are what `plan.stages` describes.

Conditions may be Spark Columns. `name_columns` replaces them by names before a plan is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeVar

from matchrec.arguments import ColumnLike, Condition
from matchrec.plan.stages import Contiguity
from matchrec.syntax.durations import Duration


@dataclass(frozen=True, slots=True)
class StageCondition:
    """One condition, as it was passed to `where`, `or_where` or `until`."""

    # SQL text, or a Spark Column.
    expression: Condition
    # Whether it was passed to `or_where`: an alternative to all conditions before it.
    is_alternative: bool = False

    @property
    def python_code(self) -> str:
        """The argument of the call that made it, for display: Python code, but not for a Column."""
        return repr(self.expression) if isinstance(self.expression, str) else str(self.expression)


T = TypeVar("T")


def combine_conditions(
    conditions: tuple[StageCondition, ...],
    convert: Callable[[StageCondition], T],
    join: Callable[[str, list[T]], T],
) -> T:
    """Combine one or more conditions, from left to right.

    Neighbours with the same operator are joined together.

    Args:
        conditions: the conditions.
        convert: converts one condition, such as to an expression.
        join: joins converted conditions by the operator "AND" or "OR".

    >>> first, second = StageCondition("a"), StageCondition("b")
    >>> alternative = StageCondition("c", is_alternative=True)
    >>> combine_conditions(
    ...     (first, second, alternative),
    ...     lambda condition: condition.expression,
    ...     lambda operator, texts: f"({f' {operator} '.join(texts)})",
    ... )
    '((a AND b) OR c)'
    """
    combined = convert(conditions[0])
    for is_alternative, group in groupby(conditions[1:], lambda item: item.is_alternative):
        operator = "OR" if is_alternative else "AND"
        combined = join(operator, [combined, *(convert(condition) for condition in group)])
    return combined


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: a single one, which accepts events, a group, which is a pattern, or a NOT."""

    # Unique, except that every group is called "group".
    name: str
    # Which events a match may skip before the first event of the stage. For a NOT, STRICT means
    # `not_next` and RELAXED means `not_followed_by`. The first stage of a pattern has STRICT: no
    # event is skipped before it, whatever this says.
    contiguity: Contiguity
    # The stages of a group, in order; empty for a single stage.
    stages: tuple[Stage, ...] = ()
    # Whether it is a NOT: no event may satisfy its conditions.
    negated: bool = False
    # What events of the stage must satisfy; empty if every event is accepted.
    conditions: tuple[StageCondition, ...] = ()
    # How often the stage is repeated; `most` is None if there is no limit.
    least: int = 1
    most: int | None = 1
    # Whether a call has set `least` and `most`.
    quantified: bool = False
    # Whether the stage may also have no event, whatever `least` is.
    optional: bool = False
    # Whether it takes as many events as it can before the next stage.
    greedy: bool = False
    # Which events a match may skip between repetitions; None if no call has set it.
    inner_contiguity: Contiguity | None = None
    # An event that satisfies this condition ends the loop; None if no event ends it.
    until: StageCondition | None = None
    # Three windows: times must be less than these. None if there is no such limit.
    # From one repetition to the next.
    repetition_window: Duration | None = None
    # From the event accepted before to each event of the stage.
    neighbour_window: Duration | None = None
    # From the first to the last event of the whole match. If several stages have one, the smallest
    # counts.
    match_window: Duration | None = None

    @property
    def is_group(self) -> bool:
        """Return whether the stage is a group: a pattern inside the pattern."""
        return bool(self.stages)

    @property
    def may_be_missing(self) -> bool:
        """Return whether a match may lack the stage: it or all its inner stages are optional."""
        if self.optional:
            return True
        return self.is_group and all(stage.may_be_missing for stage in self.stages)

    @property
    def label(self) -> str:
        """The name of the stage in messages: stage `a`, or group (stage `a`, stage `b`)."""
        if not self.is_group:
            return f"stage `{self.name}`"
        labels = ", ".join(stage.label for stage in self.stages)
        return f"group ({labels})"


# The stages of a pattern.


def walk_stages(stages: tuple[Stage, ...]) -> Iterator[Stage]:
    """Yield all stages, a group before the stages inside it."""
    for stage in stages:
        yield stage
        yield from walk_stages(stage.stages)


def list_single_stages(stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """Return all stages that are not groups, also those inside groups, in order."""
    return tuple(stage for stage in walk_stages(stages) if not stage.is_group)


# Conditions that are Columns.


def name_columns(
    stages: tuple[Stage, ...], rule_prefix: str = ""
) -> tuple[tuple[Stage, ...], dict[str, ColumnLike]]:
    """Replace conditions that are Spark Columns by names of new columns.

    The names are numbered: `__condition_0`, `__condition_1`. In a stage, the condition of `until`
    comes before the others, and the inner stages of a group before both.

    Args:
        stages: the stages of a pattern.
        rule_prefix: what to write before the number, such as `1a2b_`, so that the names of several
            rules differ.

    Returns:
        The stages, whose conditions are all text, and the Columns by the new names.
    """
    namer = _ColumnNamer(rule_prefix)
    named_stages = tuple(namer.name_columns_in_stage(stage) for stage in stages)
    return named_stages, namer.columns


class _ColumnNamer:
    """Replaces Columns by names, and collects the Columns."""

    def __init__(self, rule_prefix: str) -> None:
        """Start without Columns. For the argument, see `name_columns`."""
        self.rule_prefix = rule_prefix
        # The Columns by their new names.
        self.columns: dict[str, ColumnLike] = {}

    def name_columns_in_stage(self, stage: Stage) -> Stage:
        """Return a stage whose conditions are text, also in inner stages."""
        inner_stages = tuple(self.name_columns_in_stage(inner) for inner in stage.stages)
        until = None if stage.until is None else self.name_column(stage.until)
        conditions = tuple(self.name_column(condition) for condition in stage.conditions)
        return replace(stage, stages=inner_stages, conditions=conditions, until=until)

    def name_column(self, condition: StageCondition) -> StageCondition:
        """Return a condition that is text: itself, or the name of its Column."""
        if isinstance(condition.expression, str):
            return condition
        name = f"__condition_{self.rule_prefix}{len(self.columns)}"
        self.columns[name] = condition.expression
        return replace(condition, expression=name)
