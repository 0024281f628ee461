"""What the workers have counted → what `coverage` says of a clause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from matchrec.compile.counted import Counted
from matchrec.compile.coverage import parts_of
from matchrec.explanation.coverage.figures import (
    ClauseCoverage,
    Ending,
    FalsePart,
    OccurrenceCoverage,
    Reason,
)
from matchrec.plan.pattern import show

NO_ROW_YET = 0  # of counts by choice and by occurrence


def summarise(counted: Counted) -> ClauseCoverage:
    """The funnel of a clause."""
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
    return ClauseCoverage(pattern, counted.figures, occurrences, counted.nearest)


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
    conditions = {one.variable: one for one in counted.asked.drafted.conditions}
    for variable in counted.asked.drafted.plan.variables:
        for text in parts_of(conditions.get(variable)):
            yield variable, text
