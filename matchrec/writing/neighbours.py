"""WITHIN ... BETWEEN ROWS of SQL, and `within(window, "previous_to_current")` of a Pattern.

The one is of all rows of a match but the first, the other of the events of one stage. They say the
same where every stage has the same window; a first stage of one event needs none.
"""

from __future__ import annotations

from dataclasses import replace

from matchrec.errors import stages as errors
from matchrec.frontends.pattern import Pattern
from matchrec.frontends.pattern.checks import windows
from matchrec.frontends.pattern.durations import Duration
from matchrec.frontends.pattern.tree import Stage, named_stages
from matchrec.plan.clauses import Gap, RowExpression

Stages = tuple[Stage, ...]


def needs_window(stage: Stage, *, is_first: bool) -> bool:
    """Whether an event of a stage may come after another one. is_first: of the whole pattern."""
    return not is_first or stage.is_group or stage.quantified


def gap_of(stages: Stages) -> tuple[Gap, ...]:
    """The window between rows that follow each other, if there is one.

    Raises MatchRecognizeUnsupportedError where stages have different ones.
    """
    if all(stage.near is None for stage in named_stages(stages)):
        return ()
    first, *others = stages
    asked = [*named_stages((first,))] if needs_window(first, is_first=True) else []
    asked += named_stages(tuple(others))
    lengths = {stage.near for stage in asked}
    near = asked[0].near if asked else None
    if len(lengths) > 1 or near is None:
        raise errors.not_in_sql("the pattern", "has a window between some neighbours only")
    return (Gap(RowExpression(near.sql)),)


def without_near(stages: Stages) -> Stages:
    """The stages without windows between neighbours."""
    return tuple(with_length(stage, None) for stage in stages)


def with_near(pattern: Pattern, length: Duration) -> Pattern:
    """The pattern with a window between all neighbours. Raises MatchRecognizePlanError."""
    first, *others = pattern.stages
    if needs_window(first, is_first=True):
        first = with_length(first, length)
    stages = (first, *(with_length(stage, length) for stage in others))
    windows(stages)
    return Pattern(stages)


def with_length(stage: Stage, length: Duration | None) -> Stage:
    """The stage, or all of a group, with a window between neighbours or without."""
    if isinstance(stage.content, str):
        return replace(stage, near=length)
    return replace(stage, content=tuple(with_length(one, length) for one in stage.content))
