"""Turn a pattern of stages into a plan with one event selection strategy, if both mean the same.

On the left how stages follow each other, in the middle the strategy, and on the right the negated
stages that become a NOT:

    next, consecutive()                  STRICT CONTIGUITY       not_next          NOT
    followed_by, single stages only      SKIP TILL NEXT MATCH    not_followed_by   NOT
    followed_by_any, allow_combinations  SKIP TILL ANY MATCH     not_followed_by   NOT

What one strategy cannot express is an error: other NOTs, until, greedy, windows between neighbours,
conditions on earlier events of the same stage, and a mixture of strategies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from matchrec.dialects.writing.names import rename_in_reference
from matchrec.dialects.writing.shapes import walk_conjunct_shapes
from matchrec.errors import stages as errors
from matchrec.patterns.stages.lower import LoweredPattern, lower_pattern
from matchrec.patterns.stages.query import PatternQuery
from matchrec.patterns.stages.tree import Stage, list_single_stages, walk_stages
from matchrec.plan import clauses
from matchrec.plan.change_expressions import map_references
from matchrec.plan.expression import find_variable
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import (
    Negation,
    RowPattern,
    list_top_level_parts,
    list_variable_names,
    make_concatenation,
)
from matchrec.plan.stages import (
    Contiguity,
    ForbiddenEvent,
    SingleStage,
    Steps,
    build_row_pattern,
    walk_forbidden_events,
    walk_repeated_parts,
)
from matchrec.syntax.negations import take_out_negations

# For the contiguity of stages, the event selection of a clause that means the same.
SELECTION_BY_CONTIGUITY = {
    Contiguity.STRICT: clauses.EventSelection.STRICT_CONTIGUITY,
    Contiguity.RELAXED: clauses.EventSelection.SKIP_TILL_NEXT_MATCH,
    Contiguity.ANY: clauses.EventSelection.SKIP_TILL_ANY_MATCH,
}

# The names of the measures of a pattern that a clause can have, too.
_TIME_MEASURES = ("start_time", "end_time")

_UNSUPPORTED_NOT = (
    "is not one of the two forms that SQL can express: not_next between single stages if no event "
    "is skipped, or else not_followed_by after a single stage, at the end or before the last stage"
)


def lower_to_clause(query: PatternQuery) -> LoweredPattern:
    """Return the plan of a pattern as a clause has it, and the text of its conditions.

    The measures of the plan are the times of a match.

    Raises:
        MatchRecognizeUnsupportedError: one strategy cannot express a part of the pattern.
    """
    stages = query.pattern._stages
    contiguity = find_contiguity(stages)
    for stage in list_single_stages(stages):
        if not all(isinstance(test.expression, str) for test in stage.conditions):
            raise errors.pattern_not_in_sql(what=stage.label, obstacle="has a Column as condition")
    is_strict = contiguity is Contiguity.STRICT
    for stage in walk_stages(stages):
        if stage.is_negated and not can_be_negation(stage, stages, is_strict=is_strict):
            raise errors.pattern_not_in_sql(what=stage.label, obstacle=_UNSUPPORTED_NOT)
    plan, source = lower_pattern(query)
    assert plan.staging is not None
    selection = SELECTION_BY_CONTIGUITY[contiguity]
    pattern, absences = take_out_negations(
        _build_pattern(plan.staging.steps),
        selection,
        plan.output,
        has_match_window=plan.within is not None,
    )
    clause = replace(
        plan,
        pattern=pattern,
        absences=absences,
        selection=selection,
        staging=None,
        measures=tuple(measure for measure in plan.measures if measure.name in _TIME_MEASURES),
        definitions=tuple(convert_definitions(plan)),
    )
    return LoweredPattern(clause, source)


def _build_pattern(steps: Steps) -> RowPattern:
    """Return the row pattern of a sequence of stages, with a NOT for each negated one."""
    return make_concatenation(
        Negation((step.name,)) if isinstance(step, ForbiddenEvent) else build_row_pattern((step,))
        for step in steps
    )


def insert_negations(plan: MatchPlan) -> RowPattern:
    """Return the row pattern with a NOT for each absence: the opposite of `take_out_negations`."""
    pattern_parts = list_top_level_parts(plan.pattern)
    # The NOTs before each part, and those after the last one.
    negations: list[list[RowPattern]] = [[] for _ in range(len(pattern_parts) + 1)]
    for absence in plan.absences:
        negation = Negation((absence.variable,), absence.span)
        negations[_count_parts_before(absence, plan, pattern_parts)].append(negation)
    sequence = []
    for index, negations_before in enumerate(negations):
        sequence += negations_before
        sequence += pattern_parts[index : index + 1]
    return make_concatenation(sequence, plan.pattern.span)


def _count_parts_before(
    absence: clauses.Absence, plan: MatchPlan, pattern_parts: tuple[RowPattern, ...]
) -> int:
    """Return the number of parts of a pattern that come before an absence."""
    names_before = {
        plan.variables[member] for name in absence.after or () for member in plan.members[name]
    }
    if names_before and absence.before is None:
        return len(pattern_parts)
    count = 0
    for index, part in enumerate(pattern_parts):
        if not names_before.isdisjoint(list_variable_names(part)):
            count = index + 1
    return count


def can_be_negation(stage: Stage, stages: tuple[Stage, ...], *, is_strict: bool) -> bool:
    """Return whether a NOT in a clause means the same as a negated stage.

    Args:
        stage: the stage.
        stages: the stages of the whole pattern. A stage inside a group is not among them.
        is_strict: whether no event is skipped.
    """
    index = next((index for index, other in enumerate(stages) if other is stage), None)
    if index is None or (stage.contiguity is Contiguity.STRICT) is not is_strict:
        return False
    previous_stage = [other for other in stages[:index] if not other.is_negated][-1]
    stages_after = [other for other in stages[index:] if not other.is_negated]
    if previous_stage.is_quantified or previous_stage.is_optional or previous_stage.is_group:
        return False
    if not stages_after:
        # not_next waits for the next event, so another stage must follow.
        return not is_strict
    next_stage = stages_after[0]
    if is_strict:
        return not (next_stage.is_group or next_stage.is_optional)
    # Two NOTs at the end are excluded, because an event of two kinds ends a run.
    is_before_last = len(stages_after) == 1 and not stages[-1].is_negated
    return is_before_last and not (next_stage.is_quantified or next_stage.is_group)


def convert_definitions(plan: MatchPlan) -> Iterator[clauses.Definition]:
    """Yield the conditions of stages as conditions of variables, except for those always true.

    Raises:
        MatchRecognizeUnsupportedError: a condition reads earlier events of the stage that it
            belongs to, or the condition of a NOT reads events after it.
    """
    assert plan.staging is not None
    steps = plan.staging.steps
    stage_by_test = _find_stages_of_tests(steps)
    variables_before_negations = _find_variables_before_negations(steps)
    rename = partial(rename_in_reference, rename=lambda test: stage_by_test.get(test, test))
    for definition in plan.definitions:
        name = stage_by_test[definition.variable]
        read_variables = {find_variable(reference) for reference in definition.condition.references}
        if name in read_variables:
            raise errors.pattern_not_in_sql(
                what=f"stage `{name}`", obstacle="reads its own earlier events"
            )
        if name in variables_before_negations:
            readable_variables = {*variables_before_negations[name], definition.variable}
            if not read_variables <= readable_variables:
                raise errors.pattern_not_in_sql(
                    what=f"stage `{name}`", obstacle="is a NOT that reads events after it"
                )
        condition = map_references(definition.condition, rename)
        is_always_true = not any(walk_conjunct_shapes(condition))
        if not is_always_true:
            yield clauses.Definition(name, condition, definition.condition.span)


def _find_variables_before_negations(steps: Steps) -> dict[str, tuple[str, ...]]:
    """Return the variables of the stages before each NOT, by the name of the NOT."""
    return {
        step.name: tuple(list_variable_names(build_row_pattern(steps[:index])))
        for index, step in enumerate(steps)
        if isinstance(step, ForbiddenEvent)
    }


def _find_stages_of_tests(steps: Steps) -> dict[str, str]:
    """Return the name of the stage to which each test belongs, by the name of the test.

    In the plan of stages, conditions are named after tests and not after stages.
    """
    stage_by_test = {}
    for part in walk_repeated_parts(steps):
        if isinstance(part.content, SingleStage):
            stage_by_test[part.content.test] = part.content.name
    for event in walk_forbidden_events(steps):
        stage_by_test[event.test] = event.name
    return stage_by_test


def find_contiguity(stages: tuple[Stage, ...]) -> Contiguity:
    """Return the contiguity that all stages have.

    Raises:
        MatchRecognizeUnsupportedError: they have several, or a clause cannot express a stage.
    """
    for stage in walk_stages(stages):
        obstacle = _find_obstacle(stage)
        if obstacle is not None:
            raise errors.pattern_not_in_sql(what=stage.label, obstacle=obstacle)
    contiguity, *others = _list_contiguities(stages)
    if others:
        names = " and ".join(item.value for item in (contiguity, *others))
        raise errors.pattern_not_in_sql(what="the pattern", obstacle=f"mixes {names}")
    if contiguity is Contiguity.RELAXED:
        _reject_repeated_stages(stages)
    return contiguity


def _list_contiguities(stages: tuple[Stage, ...]) -> tuple[Contiguity, ...]:
    """Return the contiguities between stages, then those between repetitions, each once.

    If the pattern has only one stage that is not a NOT, and no repetition, nothing shows a
    contiguity. Then the result is the contiguity of the last stage, which may be a NOT.
    """
    contiguities: dict[Contiguity, None] = {}  # a set that keeps the order
    sequences = [stages, *(stage.stages for stage in walk_stages(stages))]
    for sequence in sequences:
        for stage in sequence[1:]:  # before the first stage, nothing is skipped
            if not stage.is_negated:
                contiguities[stage.contiguity] = None
    for stage in walk_stages(stages):
        if stage.is_quantified and stage.most != 1:
            contiguities[stage.inner_contiguity or Contiguity.RELAXED] = None
    return tuple(contiguities) or (stages[-1].contiguity,)


def _reject_repeated_stages(stages: tuple[Stage, ...]) -> None:
    """Raise an error for a stage that SKIP TILL NEXT MATCH would match differently.

    Raises:
        MatchRecognizeUnsupportedError: a stage has a quantifier, is optional, or is a group.
    """
    for stage in walk_stages(stages):
        if stage.is_quantified or stage.is_optional or stage.is_group:
            obstacle = "takes or skips events in another way than SKIP TILL NEXT MATCH"
            raise errors.pattern_not_in_sql(what=stage.label, obstacle=obstacle)


def _find_obstacle(stage: Stage) -> str | None:
    """Return why a clause cannot express a stage, for a message; None if it can."""
    if stage.until is not None:
        return "has until()"
    if stage.is_greedy:
        return "is greedy()"
    if stage.repetition_window is not None or stage.neighbour_window is not None:
        return "has a window between two events"
    return None
