"""Compute the coverage of a clause from what the workers have counted.

The workers count by choice of a run and by state; the coverage is by occurrence of a variable in
PATTERN. `summarise` adds up the counts of each occurrence and finds the texts of conditions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from matchrec.automaton.facts import UNREACHABLE
from matchrec.automaton.occurrences import Occurrences
from matchrec.compile.counted_coverage import CountedCoverage
from matchrec.compile.coverage import CoverageQuery, show_condition_parts
from matchrec.errors.wording import drop_backticks
from matchrec.explain.clause_coverage import (
    ClauseCoverage,
    FalsePart,
    LoopCoverage,
    OccurrenceCoverage,
    Reason,
    RunEnding,
)
from matchrec.explain.condition_texts import show_stage_condition
from matchrec.plan.pattern import (
    Permutation,
    Quantified,
    RowPattern,
    Variable,
    list_children,
    show_pattern,
)
from matchrec.plan.show import show_scalar
from matchrec.plan.stages import SingleStage, Staging, walk_repeated_parts

# A loop that needs at most this number of rows has a line for each of them.
MOST_LISTED_ROWS = 6


@dataclass(frozen=True, slots=True)
class ConditionPart:
    """A part of a condition, such as one operand of its AND."""

    variable: str
    text: str  # as the user wrote it


def summarise(counted_coverage: CountedCoverage) -> ClauseCoverage:
    """Return the coverage of a clause from what the workers have counted."""
    plan = counted_coverage.query.plan
    # In all of these lists, index 0 is the place before any row, as in `OccurrenceCoverage.number`.
    endings = find_endings(counted_coverage)
    stopped = [sum(ending.count for ending in group) for group in endings]
    tried = sum(stopped) + counted_coverage.figures.matches
    reached = [tried, *counted_coverage.counts.reached.tolist()]
    occurrences = counted_coverage.query.occurrences
    variables = [None, *(plan.variables[variable] for variable in occurrences.variables)]
    loops = [(), *find_loops(counted_coverage, reached[1:], endings[1:])]
    return ClauseCoverage(
        pattern=show_pattern(plan.pattern),
        figures=counted_coverage.figures,
        occurrences=tuple(
            OccurrenceCoverage(
                number=number,
                variable=variables[number],
                reached=reached[number],
                stopped=stopped[number],
                stop_reasons=endings[number],
                false_parts=find_false_parts(counted_coverage, number),
                loop=loops[number],
            )
            for number in range(len(reached))
        ),
        nearest=counted_coverage.nearest,
        selects=counted_coverage.task.needs_event_selection,
        asked_for_ranges=counted_coverage.asked_for_ranges,
    )


def find_loops(
    counted_coverage: CountedCoverage, reached: list[int], endings: Sequence[tuple[RunEnding, ...]]
) -> Iterator[tuple[LoopCoverage, ...]]:
    """Yield for each occurrence how many starting rows reached one, two, ... rows of its loop.

    Yield an empty tuple for an occurrence that is not a loop, or whose loop needs only one row.

    A run that has left a loop has all the rows that the loop needs. A run that ended in it lacks as
    many of these as the pattern still needed in the loop.

    Args:
        counted_coverage: what the workers have counted.
        reached: for each occurrence, how many starting rows reached it.
        endings: for each occurrence, what ended the runs that had their last row there.
    """
    plan = counted_coverage.query.plan
    occurrences = counted_coverage.query.occurrences
    if plan.staging is not None:  # occurrences are stages there, not variables of PATTERN
        yield from (() for _ in reached)
        return
    targets = find_states_after(occurrences)[1:]
    for number, needed in enumerate(find_loop_lengths(plan.pattern)):
        states = [
            state
            for state, occurrence in zip(targets, occurrences.occurrence_by_choice, strict=True)
            if occurrence == number and state is not None
        ]
        needed_after = min((occurrences.remaining[state] for state in states), default=UNREACHABLE)
        if needed < 2 or needed_after >= UNREACHABLE:
            yield ()
        else:
            yield tuple(count_loop_rows(needed, needed_after, reached[number], endings[number]))


def find_loop_lengths(pattern: RowPattern, *, repeats: bool = False) -> Iterator[int]:
    """Yield for each variable, in order, the number of rows that its loop needs, or 1.

    Only a quantifier of the variable itself counts as its loop.

    Args:
        pattern: a row pattern.
        repeats: whether the variable can be reached several times or in several orders. Then what
            a run still needs does not tell how often it has been through the loop.

    >>> from matchrec.plan.pattern import make_concatenation
    >>> a, b = Variable("A"), Variable("B")
    >>> list(find_loop_lengths(make_concatenation([Quantified(a, 5, None), b])))
    [5, 1]
    >>> list(find_loop_lengths(Quantified(make_concatenation([Quantified(a, 5, 5), b]), 1, None)))
    [1, 1]
    """
    match pattern:
        case Variable():
            yield 1
        case Quantified(part=Variable()):
            yield 1 if repeats else pattern.least
        case _:
            is_loop = isinstance(pattern, Quantified) and pattern.most != 1
            repeats = repeats or is_loop or isinstance(pattern, Permutation)
            for child in list_children(pattern):
                yield from find_loop_lengths(child, repeats=repeats)


def count_loop_rows(
    needed: int, needed_after: int, reached: int, endings: Sequence[RunEnding]
) -> Iterator[LoopCoverage]:
    """Yield how many starting rows reached each listed number of rows of a loop.

    Args:
        needed: how many rows the loop needs.
        needed_after: how many rows the pattern needs after the loop.
        reached: how many starting rows reached the loop.
        endings: what ended runs in the loop.
    """
    numbers = list_row_numbers(needed)
    for number, next_number in zip(numbers, [*numbers[1:], needed + 1], strict=True):
        stopped = tuple(
            ending
            for ending in endings
            if number <= needed - max(0, ending.remaining - needed_after) < next_number
        )
        yield LoopCoverage(number, reached, stopped)
        reached -= sum(ending.count for ending in stopped)


def list_row_numbers(needed: int) -> list[int]:
    """Return the numbers of rows that are listed for a loop: all of a few, or 1, 2, 5, 10, ...

    >>> list_row_numbers(4), list_row_numbers(60)
    ([1, 2, 3, 4], [1, 2, 5, 10, 20, 50, 60])
    """
    if needed <= MOST_LISTED_ROWS:
        return list(range(1, needed + 1))
    steps = (factor * 10**power for power in range(len(str(needed))) for factor in (1, 2, 5))
    return [*(number for number in steps if number < needed), needed]


def find_endings(counted_coverage: CountedCoverage) -> list[tuple[RunEnding, ...]]:
    """Return the reasons why runs ended, for each occurrence at which they had their last row.

    The first entry is for runs without a row. In each entry the most frequent reason comes first.
    """
    query = counted_coverage.query
    occurrences = query.occurrences
    states = find_states_after(occurrences)
    numbers = [0, *(occurrence + 1 for occurrence in occurrences.occurrence_by_choice)]
    counts: list[Counter[RunEnding]] = [Counter() for _ in range(len(occurrences.variables) + 1)]
    rows = counted_coverage.counts.end_counts.tolist()
    for state, number, reason_counts in zip(states, numbers, rows, strict=True):
        for reason, count in zip(Reason, reason_counts, strict=True):
            if state is not None and count:
                counts[number][build_ending(query, state, reason)] += count
    return [
        tuple(replace(ending, count=count) for ending, count in group.most_common())
        for group in counts
    ]


def find_states_after(occurrences: Occurrences) -> list[int | None]:
    """Return the state in which a run is before any choice, then after each choice."""
    choices = [choice for state in occurrences.pattern.folding.choices for choice in state]
    return [0, *(choice.target for choice in choices)]


def build_ending(query: CoverageQuery, state: int, reason: Reason) -> RunEnding:
    """Return the ending of runs that ended in a state for a reason, with a count of 0."""
    occurrences = query.occurrences
    names = query.plan.variables
    awaited = [
        names[occurrences.variables[occurrences.occurrence_by_choice[choice]]]
        for choice in occurrences.nearer_choices[state]
    ]
    return RunEnding(
        reason=reason,
        awaited=tuple(dict.fromkeys(awaited)),
        remaining=occurrences.remaining[state],
        count=0,
    )


def find_false_parts(counted_coverage: CountedCoverage, number: int) -> tuple[FalsePart, ...]:
    """Return the parts of conditions that were not true after an occurrence, by frequency.

    Args:
        counted_coverage: what the workers have counted.
        number: the number of the occurrence, see `OccurrenceCoverage`.
    """
    counts = counted_coverage.counts.false_parts[number].tolist()
    parts = list_condition_parts(counted_coverage.query)
    false_parts = [
        FalsePart(part.variable, part.text, count)
        for part, count in zip(parts, counts, strict=True)
        if count and part is not None
    ]
    return tuple(sorted(false_parts, key=lambda part: -part.count))


def list_condition_parts(query: CoverageQuery) -> list[ConditionPart | None]:
    """Return the parts of all conditions in the order in which they are counted.

    None takes the place of a part that is the whole condition of its variable: the reason of a run
    ending already names that condition.
    """
    plan = query.plan
    conditions = {condition.variable: condition for condition in query.conditions}
    stages = {} if plan.staging is None else find_stages_by_test(plan.staging)
    parts: list[ConditionPart] = []
    for variable in plan.variables:
        show_part = partial(show_stage_condition, test=variable) if plan.staging else show_scalar
        name = stages.get(variable, variable)
        texts = show_condition_parts(conditions.get(variable), show_part)
        parts += [ConditionPart(name, drop_backticks(text)) for text in texts]
    part_counts = Counter(part.variable for part in parts)
    return [part if part_counts[part.variable] > 1 else None for part in parts]


def find_stages_by_test(staging: Staging) -> dict[str, str]:
    """Return the name of the stage to which each test belongs, by the name of the test."""
    names = {}
    for part in walk_repeated_parts(staging.steps):
        if isinstance(part.content, SingleStage):
            names[part.content.test] = part.content.name
            if part.until is not None and part.until.take is not None:
                names[part.until.take] = part.content.name
    return names
