"""What the workers have counted → what `coverage` says of a clause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from matchrec.compile.counted import Counted
from matchrec.compile.coverage import parts_of
from matchrec.explanation.coverage.figures import (
    QUERY,
    ClauseCoverage,
    Ending,
    FalsePart,
    OccurrenceCoverage,
    Reason,
)
from matchrec.explanation.stage_conditions import show_test
from matchrec.plan.pattern import show
from matchrec.plan.show import show_scalar
from matchrec.plan.stages import Single, Staging
from matchrec.plan.stages import parts as stage_parts

NO_ROW_YET = 0  # of counts by choice and by occurrence


def summarise(counted: Counted, question: str = QUERY) -> ClauseCoverage:
    """The funnel of a clause. question: see `ClauseCoverage`."""
    endings = endings_by_occurrence(counted)
    names = counted.asked.drafted.plan.variables
    variables = [names[variable] for variable in counted.asked.occurrences.variables]
    ended = [sum(one.count for one in group) for group in endings]
    tried = sum(ended) + counted.figures.matches
    came = [tried, *counted.counts.came.tolist()]
    occurrences = tuple(
        OccurrenceCoverage(
            number, variable, came[number], ended[number], endings[number], parts(counted, number)
        )
        for number, variable in enumerate([None, *variables])
    )
    pattern = show(counted.asked.drafted.plan.pattern)
    selects = counted.task.selects
    return ClauseCoverage(pattern, counted.figures, occurrences, counted.nearest, question, selects)


def endings_by_occurrence(counted: Counted) -> list[tuple[Ending, ...]]:
    """Why runs ended whose last row had taken each occurrence, the most frequent reason first."""
    occurrences = counted.asked.occurrences
    choices = [choice for state in occurrences.pattern.folding.choices for choice in state]
    states = [0, *(choice.target for choice in choices)]
    places = [NO_ROW_YET, *(taken + 1 for taken in occurrences.taken)]
    found: list[Counter[Ending]] = [Counter() for _ in range(len(occurrences.variables) + 1)]
    for state, place, counts in zip(states, places, counted.counts.ended.tolist(), strict=True):
        for reason in Reason:
            if state is not None and counts[reason.value]:
                found[place][ending(counted, state, reason)] += counts[reason.value]
    return [tuple(replace(one, count=n) for one, n in group.most_common()) for group in found]


def ending(counted: Counted, state: int, reason: Reason) -> Ending:
    """An ending in a state, of no run yet."""
    occurrences, names = counted.asked.occurrences, counted.asked.drafted.plan.variables
    nearer = (names[occurrences.variables[occurrences.taken[i]]] for i in occurrences.nearer[state])
    return Ending(reason, tuple(dict.fromkeys(nearer)), occurrences.remaining[state], 0)


def parts(counted: Counted, number: int) -> tuple[FalsePart, ...]:
    """The parts of conditions that were not true after an occurrence, the most frequent first."""
    counts = counted.counts.parts_false[number].tolist()
    known = list(all_parts(counted))
    several = Counter(variable for variable, _ in known)
    found = [
        FalsePart(variable, text, count)
        for (variable, text), count in zip(known, counts, strict=True)
        if count and several[variable] > 1
    ]
    return tuple(sorted(found, key=lambda part: -part.count))


def all_parts(counted: Counted) -> Iterator[tuple[str, str]]:
    """The parts of all conditions: the variable, and the part as it was written."""
    plan = counted.asked.drafted.plan
    conditions = {one.variable: one for one in counted.asked.drafted.conditions}
    stages = {} if plan.staging is None else stages_by_test(plan.staging)
    for variable in plan.variables:
        show_part = partial(show_test, test=variable) if plan.staging else show_scalar
        for text in parts_of(conditions.get(variable), show_part):
            yield stages.get(variable, variable), text


def stages_by_test(staging: Staging) -> dict[str, str]:
    """The names of stages, by those of the tests that their rows satisfy."""
    found = {}
    for part in stage_parts(staging.steps):
        if isinstance(part.content, Single):
            found[part.content.test] = part.content.name
            if part.until is not None and part.until.take is not None:
                found[part.until.take] = part.content.name
    return found
