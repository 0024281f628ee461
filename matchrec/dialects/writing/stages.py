"""A pattern of stages as a plan with one event selection, where both mean the same.

    next, consecutive()                  STRICT CONTIGUITY       not_next          NOT
    followed_by, single stages only      SKIP TILL NEXT MATCH    not_followed_by   NOT
    followed_by_any, allow_combinations  SKIP TILL ANY MATCH     not_followed_by   NOT

What one strategy cannot say is refused: other NOTs, until, greedy, windows between
neighbours, conditions on earlier events of the same stage, and a mixture of strategies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from matchrec.dialects.writing.forms import find_conjunct_shapes
from matchrec.dialects.writing.names import rename_in_reference
from matchrec.errors import stages as errors
from matchrec.patterns.stages.lower import PatternQuery, lower_pattern
from matchrec.patterns.stages.tree import Stage, all_stages, named_stages
from matchrec.plan import clauses
from matchrec.plan.expression import variable_of, with_references
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import Negation, RowPattern, concatenation, top, variable_names
from matchrec.plan.stages import Contiguity, ForbiddenEvent, Single, nots, parts, words
from matchrec.source import Source
from matchrec.syntax.lower import take_out_negations


def insert_negations(plan: MatchPlan) -> RowPattern:
    """The row pattern with a NOT for each absence, where it stands."""
    parts = top(plan.pattern)
    nots: list[list[RowPattern]] = [[] for _ in range(len(parts) + 1)]  # before each, and after all
    for absence in plan.absences:
        after = absence.after or ()
        names = {plan.variables[one] for name in after for one in plan.members[name]}
        ends = (n for n, part in enumerate(parts, 1) if names & set(variable_names(part)))
        place = len(parts) if names and absence.before is None else max(ends, default=0)
        nots[place].append(Negation((absence.variable,), absence.span))
    found = [one for at, here in enumerate(nots) for one in (*here, *parts[at : at + 1])]
    return concatenation(found, plan.pattern.span)


_OTHER_NOTS = (
    "is neither a not_next between single stages where no event is skipped, nor elsewhere a "
    "not_followed_by after a single stage, at the end or before a last single stage"
)


def is_expressible(stage: Stage, stages: tuple[Stage, ...], *, strict: bool) -> bool:
    """Whether a clause says the same of a NOT. strict: no event is skipped."""
    place = next((n for n, one in enumerate(stages) if one is stage), None)
    if place is None or (stage.contiguity is Contiguity.STRICT) is not strict:
        return False
    before = [one for one in stages[:place] if not one.negated]
    after = [one for one in stages[place:] if not one.negated]
    if before[-1].quantified or before[-1].optional or before[-1].is_group:
        return False
    if strict:  # which waits for a next event
        return bool(after) and not (after[0].is_group or after[0].optional)
    is_last = len(after) == 1 and not stages[-1].negated  # an event of two kinds ends a run
    return not after or (is_last and not (after[0].quantified or after[0].is_group))


SELECTION = {
    Contiguity.STRICT: clauses.EventSelection.STRICT_CONTIGUITY,
    Contiguity.RELAXED: clauses.EventSelection.SKIP_TILL_NEXT_MATCH,
    Contiguity.ANY: clauses.EventSelection.SKIP_TILL_ANY_MATCH,
}


def lower_to_clause(query: PatternQuery) -> tuple[MatchPlan, Source]:
    """The plan with one event selection, and the text of the pattern's conditions.

    Its measures are the times of a match. Raises MatchRecognizeUnsupportedError for what one
    strategy cannot say.
    """
    stages = query.pattern.stages
    contiguity = find_contiguity(stages)
    selection, strict = SELECTION[contiguity], contiguity is Contiguity.STRICT
    for stage in named_stages(stages):
        if not all(isinstance(test.expression, str) for test in stage.conditions):
            raise errors.not_in_sql(what=stage.label, obstacle="has a Column as condition")
    for stage in all_stages(stages):
        if stage.negated and not is_expressible(stage, stages, strict=strict):
            raise errors.not_in_sql(what=stage.label, obstacle=_OTHER_NOTS)
    plan, source = lower_pattern(query)
    assert plan.staging is not None
    pattern = concatenation(
        Negation((step.name,)) if isinstance(step, ForbiddenEvent) else words((step,))
        for step in plan.staging.steps
    )
    windowed = plan.within is not None
    pattern, absences = take_out_negations(pattern, selection, plan.output, windowed=windowed)
    clause = replace(
        plan,
        pattern=pattern,
        absences=absences,
        selection=selection,
        staging=None,
        measures=tuple(one for one in plan.measures if one.name in ("start_time", "end_time")),
        definitions=tuple(convert_definitions(plan)),
    )
    return clause, source


def convert_definitions(plan: MatchPlan) -> Iterator[clauses.Definition]:
    """The conditions of stages as conditions of variables; those that always hold are left out."""
    assert plan.staging is not None
    steps = plan.staging.steps
    singles = [part.content for part in parts(steps)]
    stage_of = {one.test: one.name for one in singles if isinstance(one, Single)}
    stage_of |= {event.test: event.name for event in nots(steps)}
    earlier = {
        step.name: variable_names(words(steps[:place]))
        for place, step in enumerate(steps)
        if isinstance(step, ForbiddenEvent)
    }
    of_stage = partial(rename_in_reference, name=lambda test: stage_of.get(test, test))
    for one in plan.definitions:
        name = stage_of[one.variable]
        read = {variable_of(each) for each in one.condition.references}
        if name in read:
            raise errors.not_in_sql(what=f"stage `{name}`", obstacle="reads its own earlier events")
        if name in earlier and not read <= {*earlier[name], one.variable}:
            raise errors.not_in_sql(
                what=f"stage `{name}`", obstacle="is a NOT that reads events after it"
            )
        condition = with_references(one.condition, of_stage)
        if any(find_conjunct_shapes(condition)):
            yield clauses.Definition(name, condition, one.condition.span)


def find_contiguity(stages: tuple[Stage, ...]) -> Contiguity:
    found: dict[Contiguity, None] = {}
    for stage in all_stages(stages):
        obstacles = {
            "has until()": stage.until is not None,
            "is greedy()": stage.greedy,
            "has a window between neighbours": stage.gap is not None or stage.near is not None,
        }
        for obstacle, is_there in obstacles.items():
            if is_there:
                raise errors.not_in_sql(what=stage.label, obstacle=obstacle)
    for group in (stages, *(stage.stages for stage in all_stages(stages))):
        found.update(dict.fromkeys(one.contiguity for one in group[1:] if not one.negated))
    for stage in all_stages(stages):
        if stage.quantified and stage.most != 1:
            found[stage.inner or Contiguity.RELAXED] = None
    kinds = tuple(found) or (stages[-1].contiguity,)  # of one stage, and of NOTs after it
    if len(kinds) > 1:
        raise errors.not_in_sql(
            what="the pattern", obstacle=f"mixes {' and '.join(k.value for k in kinds)}"
        )
    if kinds == (Contiguity.RELAXED,):
        for stage in all_stages(stages):
            if stage.quantified or stage.optional or stage.is_group:
                what = "may be left otherwise than under SKIP TILL NEXT MATCH"
                raise errors.not_in_sql(what=stage.label, obstacle=what)
    return kinds[0]
