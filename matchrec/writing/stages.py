"""A pattern of stages as a plan with one event selection, where both mean the same.

    next, consecutive()                  STRICT CONTIGUITY       not_next          NOT
    followed_by, single stages only      SKIP TILL NEXT MATCH    not_followed_by   NOT
    followed_by_any, allow_combinations  SKIP TILL ANY MATCH     not_followed_by   NOT

What one strategy cannot say is refused: other NOTs, until, greedy, windows between some neighbours
only, conditions on earlier events of the same stage, and a mixture of strategies.
"""

from __future__ import annotations

from dataclasses import replace

from matchrec.errors import stages as errors
from matchrec.frontends.pattern import Pattern, PatternQuery, lower_pattern
from matchrec.frontends.pattern.lower import tests_of
from matchrec.frontends.pattern.tree import Contiguity, Stage, all_stages, named_stages
from matchrec.frontends.sql.absences import take_out_negations
from matchrec.plan.clauses import Definition, EventSelection, MatchOutput
from matchrec.plan.expression import references, variable_of, with_references
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import variable_names
from matchrec.plan.stages import Not, Single, Steps, nots, parts, words
from matchrec.source import Source
from matchrec.writing.names import of_variable
from matchrec.writing.negations import check_nots, pattern_with_nots
from matchrec.writing.neighbours import gap_of, without_near
from matchrec.writing.same_meaning import conjunct_shapes

SELECTION = {
    Contiguity.STRICT: EventSelection.STRICT_CONTIGUITY,
    Contiguity.RELAXED: EventSelection.SKIP_TILL_NEXT_MATCH,
    Contiguity.ANY: EventSelection.SKIP_TILL_ANY_MATCH,
}
CONTIGUITY = {selection: contiguity for contiguity, selection in SELECTION.items()}
TIMES = ("start_time", "end_time")


def as_clause(query: PatternQuery) -> tuple[MatchPlan, Source]:
    """The plan with one event selection, and the text of the pattern's conditions.

    Its measures are the times of a match. Raises MatchRecognizeUnsupportedError for what one
    strategy cannot say.
    """
    stages, gaps = without_near(query.pattern.stages), gap_of(query.pattern.stages)
    selection = strategy_of(stages)
    for stage in named_stages(stages):
        if not all(isinstance(test.expression, str) for test in tests_of(stage.condition)):
            raise errors.not_in_sql(stage.label, "has a Column as condition")
    check_nots(stages, CONTIGUITY[selection])
    plan, source = lower_pattern(replace(query, pattern=Pattern(stages)))
    assert plan.staging is not None
    pattern, absences = take_out_negations(
        pattern_with_nots(plan.staging.steps),
        selection,
        MatchOutput.ALL,
        windowed=plan.within is not None,
    )
    return (
        replace(
            plan,
            pattern=pattern,
            absences=absences,
            selection=selection,
            staging=None,
            gaps=gaps,
            measures=tuple(one for one in plan.measures if one.name in TIMES),
            definitions=definitions(plan),
        ),
        source,
    )


def definitions(plan: MatchPlan) -> tuple[Definition, ...]:
    """The conditions of stages as conditions of variables; those that always hold are left out."""
    assert plan.staging is not None
    steps = plan.staging.steps
    singles = [part.content for part in parts(steps)]
    stage_of = {one.test: one.name for one in singles if isinstance(one, Single)}
    stage_of |= {one.test: one.name for one in nots(steps)}
    earlier = {
        one.name: variable_names(words(Steps(steps.steps[:place])))
        for place, one in enumerate(steps.steps)
        if isinstance(one, Not)
    }
    found = []
    for one in plan.definitions:
        name = stage_of[one.variable]
        read = {variable_of(each) for each in references(one.condition)}
        if name in read:
            raise errors.not_in_sql(f"stage `{name}`", "reads its own earlier events")
        if name in earlier and not read <= {*earlier[name], one.variable}:
            raise errors.not_in_sql(f"stage `{name}`", "is a NOT that reads events after it")
        condition = with_references(
            one.condition, lambda each: of_variable(each, lambda test: stage_of.get(test, test))
        )
        if any(conjunct_shapes(condition)):
            found.append(Definition(name, condition, one.condition.span))
    return tuple(found)


def strategy_of(stages: tuple[Stage, ...]) -> EventSelection:
    """The one strategy of all stages."""
    found: dict[Contiguity, None] = {}
    for stage in all_stages(stages):
        obstacle = unsayable(stage)
        if obstacle is not None:
            raise errors.not_in_sql(stage.label, obstacle)
    for group in (stages, *(s.content for s in all_stages(stages) if isinstance(s.content, tuple))):
        found.update(dict.fromkeys(one.contiguity for one in group[1:] if not one.negated))
    for stage in all_stages(stages):
        if stage.quantified and stage.most != 1:
            found[stage.inner or Contiguity.RELAXED] = None
    kinds = tuple(found) or (stages[-1].contiguity,)  # of one stage, and of NOTs after it
    if len(kinds) > 1:
        raise errors.not_in_sql("the pattern", f"mixes {' and '.join(k.value for k in kinds)}")
    if kinds == (Contiguity.RELAXED,):
        for stage in all_stages(stages):
            if stage.quantified or stage.optional or stage.is_group:
                what = "may be left otherwise than under SKIP TILL NEXT MATCH"
                raise errors.not_in_sql(stage.label, what)
    return SELECTION[kinds[0]]


def unsayable(stage: Stage) -> str | None:
    """What of a stage the clause cannot say, or None."""
    if stage.until is not None:
        return "has until()"
    if stage.greedy:
        return "is greedy()"
    if stage.gap is not None:
        return "has a window between repetitions"
    return None
