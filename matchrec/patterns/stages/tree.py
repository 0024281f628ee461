"""The stages of a Pattern as the user's calls describe them: a tree, because groups have stages.

`Pattern.begin("a").where("x > 1").followed_by("b").optional()` has two stages: `a`, which has a
condition, and `b`, which is optional. `calls` writes stages as calls again. `steps` builds the
steps of a plan from stages: `plan.stages` defines steps.

Conditions may be Spark Columns. `name_column_conditions` replaces them by the names of new columns
before a plan is made.
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
        """Return the argument of the call, for display: Python code for SQL text.

        For a Column, it is the text that `str` returns, which is not Python code.
        """
        return repr(self.expression) if isinstance(self.expression, str) else str(self.expression)


T = TypeVar("T")


def combine_conditions(
    conditions: tuple[StageCondition, ...],
    convert: Callable[[StageCondition], T],
    join: Callable[[str, list[T]], T],
) -> T:
    """Combine one or more conditions by AND and OR, from left to right.

    A condition of `or_where` is an alternative to all conditions before it together. Consecutive
    conditions with the same operator are joined by one call of `join`.

    Args:
        conditions: the conditions, at least one.
        convert: converts one condition, such as to an expression.
        join: joins converted conditions by an operator, "AND" or "OR", which is its first argument.

    >>> first, second = StageCondition("a"), StageCondition("b")
    >>> alternative = StageCondition("c", is_alternative=True)
    >>> combine_conditions(
    ...     (first, second, alternative),
    ...     lambda condition: condition.expression,
    ...     lambda operator, texts: f"({f' {operator} '.join(texts)})",
    ... )
    '((a AND b) OR c)'
    """
    combination = convert(conditions[0])
    for is_alternative, group in groupby(conditions[1:], lambda item: item.is_alternative):
        operator = "OR" if is_alternative else "AND"
        combination = join(operator, [combination, *(convert(condition) for condition in group)])
    return combination


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a pattern.

    A stage is a single stage, which accepts events, a group, which has stages, or a negated stage,
    which no event may satisfy.
    """

    # The name that the user chose, which is unique; "group" for every group.
    name: str
    # Which events a match may skip before the first event of the stage. For a negated stage,
    # STRICT means `not_next` and RELAXED means `not_followed_by`. The first stage of a pattern has
    # STRICT, which has no effect: a match begins with the first event of this stage.
    contiguity: Contiguity
    # The stages of a group, in order; empty for a single stage and a negated one.
    stages: tuple[Stage, ...] = ()
    # Whether the stage is negated.
    is_negated: bool = False
    # The conditions that an event of the stage must satisfy, in the order of the calls; empty if
    # the stage accepts every event.
    conditions: tuple[StageCondition, ...] = ()
    # The smallest number of repetitions.
    least: int = 1
    # The largest number of repetitions; None if there is no limit.
    most: int | None = 1
    # Whether a call has set `least` and `most`.
    is_quantified: bool = False
    # Whether a match may have no event of the stage, whatever `least` is.
    is_optional: bool = False
    # Whether the stage takes as many events as it can before the next stage.
    is_greedy: bool = False
    # Which events a match may skip between two repetitions; None if no call has set it.
    inner_contiguity: Contiguity | None = None
    # The condition of an event that ends the loop; None if no event ends the loop.
    until: StageCondition | None = None
    # The three windows limit the time between two events: it must be less than the window. A window
    # is None if there is no such limit.
    # The time from the last event of a repetition to the first event of the next repetition.
    repetition_window: Duration | None = None
    # The time from the event accepted before to each event of the stage. A negated stage with
    # this window forbids only events within this time.
    neighbour_window: Duration | None = None
    # The time from the first to the last event of the whole match. If several stages have such a
    # window, the smallest one counts.
    match_window: Duration | None = None

    @property
    def is_group(self) -> bool:
        """Return whether the stage is a group: a pattern inside the pattern."""
        return bool(self.stages)

    @property
    def may_be_missing(self) -> bool:
        """Return whether a match may have no event of the stage.

        The stage is optional, or it is a group in which every stage may be missing.
        """
        if self.is_optional:
            return True
        return self.is_group and all(stage.may_be_missing for stage in self.stages)

    @property
    def label(self) -> str:
        """Return the name of the stage in messages: stage `a`, or group (stage `a`, stage `b`)."""
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


def name_column_conditions(
    stages: tuple[Stage, ...], rule_prefix: str = ""
) -> tuple[tuple[Stage, ...], dict[str, ColumnLike]]:
    """Replace conditions that are Spark Columns by names of new columns.

    The names are numbered: `__condition_0`, `__condition_1`. In a stage, the condition of `until`
    comes before the other conditions. In a group, the conditions of its stages come before the
    group's conditions.

    Args:
        stages: the stages of a pattern.
        rule_prefix: a text before the number, such as `1a2b_`, so that the names in several rules
            differ.

    Returns:
        The stages with SQL text as conditions, and the Columns by the new names.
    """
    namer = _ColumnNamer(rule_prefix)
    named_stages = tuple(namer.name_columns_in_stage(stage) for stage in stages)
    return named_stages, namer.columns


class _ColumnNamer:
    """A namer of Columns, which replaces them by names and collects them."""

    def __init__(self, rule_prefix: str) -> None:
        """Start without Columns. The argument is as for `name_column_conditions`."""
        self.rule_prefix = rule_prefix
        # The Columns by their new names.
        self.columns: dict[str, ColumnLike] = {}

    def name_columns_in_stage(self, stage: Stage) -> Stage:
        """Return the stage with names instead of Columns, also in inner stages."""
        inner_stages = tuple(
            self.name_columns_in_stage(inner_stage) for inner_stage in stage.stages
        )
        until = None if stage.until is None else self.name_column(stage.until)
        conditions = tuple(self.name_column(condition) for condition in stage.conditions)
        return replace(stage, stages=inner_stages, conditions=conditions, until=until)

    def name_column(self, condition: StageCondition) -> StageCondition:
        """Return the condition with the name of a new column if it is a Column, else unchanged."""
        if isinstance(condition.expression, str):
            return condition
        name = f"__condition_{self.rule_prefix}{len(self.columns)}"
        self.columns[name] = condition.expression
        return replace(condition, expression=name)
