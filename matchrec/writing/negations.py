"""NOT between the parts of a row pattern: where a plan keeps it apart, and what calls say of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from matchrec.errors import stages as errors
from matchrec.frontends.pattern.tree import Contiguity, Stage, all_stages
from matchrec.plan.clauses import Absence
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import Negation, RowPattern, concatenation, top, variable_names
from matchrec.plan.stages import Not, Steps, words


def pattern_with_absences(plan: MatchPlan) -> RowPattern:
    """The row pattern with a NOT for each absence, where it stands."""
    parts = top(plan.pattern)
    found: list[RowPattern] = []
    for place in range(len(parts) + 1):
        here = (one for one in plan.absences if place_of(one, plan, parts) == place)
        found += (Negation((one.variable,), one.span) for one in here)
        found += parts[place : place + 1]
    return concatenation(found, plan.pattern.span)


def place_of(absence: Absence, plan: MatchPlan, parts: tuple[RowPattern, ...]) -> int:
    """How many of the parts stand before an absence."""
    if absence.after is None:
        return 0
    if absence.before is None:
        return len(parts)
    names = set(primary(absence.after, plan) or ())
    return max(n for n, part in enumerate(parts, 1) if names & set(variable_names(part)))


def between_primary(absence: Absence, plan: MatchPlan) -> Absence:
    """The absence without union variables."""
    after, before = (primary(names, plan) for names in (absence.after, absence.before))
    return replace(absence, after=after, before=before)


def primary(names: tuple[str, ...] | None, plan: MatchPlan) -> tuple[str, ...] | None:
    """The primary variables that some names stand for."""
    if names is None:
        return None
    return tuple(plan.variables[one] for name in names for one in sorted(plan.members(name)))


def pattern_with_nots(steps: Steps) -> RowPattern:
    """The row pattern of a sequence of stages with a NOT for each negated one."""
    return concatenation(
        Negation((one.name,)) if isinstance(one, Not) else words(Steps((one,)))
        for one in steps.steps
    )


def check_nots(stages: tuple[Stage, ...], contiguity: Contiguity) -> None:
    """Raises MatchRecognizeUnsupportedError for a NOT that means something else in a clause.

    contiguity: of all stages.
    """
    for stage in all_stages(stages):
        if stage.negated:
            obstacle = obstacle_of(stage, stages, contiguity)
            if obstacle is not None:
                raise errors.not_in_sql(stage.label, obstacle)


def obstacle_of(stage: Stage, stages: tuple[Stage, ...], contiguity: Contiguity) -> str | None:
    """What a clause cannot say of a NOT, or None."""
    if not any(one is stage for one in stages):
        return "is a NOT in a group"
    place = next(n for n, one in enumerate(stages) if one is stage)
    before, after = tuple(_positive(stages[:place])), tuple(_positive(stages[place:]))
    if before[-1].quantified or before[-1].optional or before[-1].is_group:
        return "is a NOT after a stage that is repeated or a group"
    if stage.contiguity is Contiguity.STRICT:
        return obstacle_of_next(after, contiguity)
    if contiguity is Contiguity.STRICT:
        return "is a not_followed_by where no event is skipped"
    if not after:
        return None
    if len(after) > 1 or stages[-1].negated:
        return "is a not_followed_by before two stages, where an event of both kinds ends a run"
    if after[0].quantified or after[0].is_group:
        return "is a not_followed_by before a stage that is repeated or a group"
    return None


def obstacle_of_next(after: tuple[Stage, ...], contiguity: Contiguity) -> str | None:
    """The same of a not_next. after: the stages of events after it."""
    if contiguity is not Contiguity.STRICT:
        return "is a not_next where events are skipped"
    if not after:
        return "is a not_next at the end, which waits for a next event"
    if after[0].is_group or after[0].optional:
        return "is a not_next before a group or an optional stage"
    return None


def _positive(stages: tuple[Stage, ...]) -> Iterator[Stage]:
    """The stages of events."""
    return (one for one in stages if not one.negated)
