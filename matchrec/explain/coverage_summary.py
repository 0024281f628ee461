"""Compute the coverage of a clause from what the workers have counted.

The workers count by choices and states of runs. The coverage has a count for each occurrence of a
variable in PATTERN, so `compute_clause_coverage` adds up the counts that belong to the same
occurrence. It also finds the texts of conditions.

The *number* of an occurrence says where a run had its last row: 0 is the start, before any row, and
n + 1 is occurrence n, counted from 0 in the order of PATTERN.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
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
from matchrec.plan.expression import Scalar
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

# A loop that needs at most this number of rows has a line for each number of its rows.
MAX_LISTED_ROWS = 6


@dataclass(frozen=True, slots=True)
class ConditionPart:
    """A part of a condition, such as one operand of its AND."""

    # The name of the variable or stage to whose condition the part belongs.
    variable: str
    # The part as the user wrote it.
    text: str


def compute_clause_coverage(counted_coverage: CountedCoverage) -> ClauseCoverage:
    """Return the coverage of a clause from what the workers have counted."""
    plan = counted_coverage.query.plan
    occurrences = counted_coverage.query.occurrences
    # All of these lists are indexed by the number of an occurrence.
    endings_by_number = find_endings(counted_coverage)
    stopped = [sum(ending.count for ending in endings) for endings in endings_by_number]
    starting_row_count = sum(stopped) + counted_coverage.figures.matches
    reached = [starting_row_count, *counted_coverage.counts.reached_counts.tolist()]
    variables = [None, *(plan.variables[variable] for variable in occurrences.variables)]
    loops = [(), *find_loops(counted_coverage, reached[1:], endings_by_number[1:])]
    return ClauseCoverage(
        pattern=show_pattern(plan.pattern),
        figures=counted_coverage.figures,
        occurrences=tuple(
            OccurrenceCoverage(
                number=number,
                variable=variables[number],
                reached=reached[number],
                stopped=stopped[number],
                stop_reasons=endings_by_number[number],
                false_parts=find_false_parts(counted_coverage, number),
                loop=loops[number],
            )
            for number in range(len(reached))
        ),
        nearest=counted_coverage.nearest,
        tries_every_row=counted_coverage.task.needs_event_selection,
        ranges_requested=counted_coverage.ranges_requested,
    )


def find_loops(
    counted_coverage: CountedCoverage, reached: list[int], endings: Sequence[tuple[RunEnding, ...]]
) -> Iterator[tuple[LoopCoverage, ...]]:
    """Yield for each occurrence how many starting rows reached one, two, ... rows of its loop.

    For an occurrence that is not a loop, or whose loop needs only one row, the tuple is empty.

    Args:
        counted_coverage: what the workers have counted.
        reached: for each occurrence, how many starting rows reached it.
        endings: for each occurrence, why runs ended whose last row was there.
    """
    plan = counted_coverage.query.plan
    if plan.staging is not None:  # occurrences are stages, which have no quantifiers in PATTERN
        yield from [()] * len(reached)
        return
    needed_after = find_rows_needed_after(counted_coverage.query.occurrences)
    for occurrence, loop_length in enumerate(find_loop_lengths(plan.pattern)):
        if loop_length < 2 or occurrence not in needed_after:
            yield ()
        else:
            yield tuple(
                count_loop_rows(
                    loop_length,
                    reached[occurrence],
                    endings[occurrence],
                    needed_after=needed_after[occurrence],
                )
            )


def find_rows_needed_after(occurrences: Occurrences) -> dict[int, int]:
    """Return how many rows a match needs, at least, after the last row of each occurrence.

    For `A{5,} B` it needs one row after A, and none after B. An occurrence after which no match is
    possible is left out.
    """
    needed_after: dict[int, int] = {}
    _, *states_after_choices = find_states_after(occurrences)
    for state, occurrence in zip(
        states_after_choices, occurrences.occurrence_by_choice, strict=True
    ):
        if state is None:
            continue
        needed = occurrences.remaining_rows[state]
        if needed < needed_after.get(occurrence, UNREACHABLE):
            needed_after[occurrence] = needed
    return needed_after


def find_loop_lengths(pattern: RowPattern, *, repeats: bool = False) -> Iterator[int]:
    """Yield, for each occurrence of a variable, the number of rows that its loop needs, or 1.

    Only a quantifier of the variable itself counts as its loop.

    Args:
        pattern: a row pattern.
        repeats: whether a run can reach the pattern several times or in several orders. Then the
            number of rows that a run still needs does not tell how many rows it has in the loop,
            so the loops in the pattern count as 1.

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
    loop_length: int, reached: int, endings: Sequence[RunEnding], *, needed_after: int
) -> Iterator[LoopCoverage]:
    """Yield how many starting rows reached each listed number of rows of a loop.

    A run that has left the loop has all the rows that the loop needs. A run that ended in the loop
    lacks as many rows of the loop as a match still needed, apart from the rows after the loop.

    Args:
        loop_length: the number of rows that the loop needs.
        reached: the number of starting rows that reached the loop.
        endings: why runs ended in the loop.
        needed_after: the number of rows that a match needs after the loop.

    For `A{5,} B`, a run that ended in the loop when a match still needed three rows had three rows
    of the loop: it lacked two of these, and B.

    >>> endings = [RunEnding(Reason.FALSE, ("A",), remaining=3, count=4)]
    >>> loop = count_loop_rows(5, 10, endings, needed_after=1)
    >>> [(coverage.rows, coverage.reached) for coverage in loop]
    [(1, 10), (2, 10), (3, 10), (4, 6), (5, 6)]
    """
    listed_numbers = list_row_numbers(loop_length)
    next_numbers = [*listed_numbers[1:], loop_length + 1]
    for row_number, next_number in zip(listed_numbers, next_numbers, strict=True):
        stopped = tuple(
            ending
            for ending in endings
            if row_number <= loop_length - max(0, ending.remaining - needed_after) < next_number
        )
        yield LoopCoverage(row_number, reached, stopped)
        reached -= sum(ending.count for ending in stopped)


def list_row_numbers(loop_length: int) -> list[int]:
    """Return the numbers of rows that are listed for a loop: all of a few, or 1, 2, 5, 10, ...

    >>> list_row_numbers(4), list_row_numbers(60)
    ([1, 2, 3, 4], [1, 2, 5, 10, 20, 50, 60])
    """
    if loop_length <= MAX_LISTED_ROWS:
        return list(range(1, loop_length + 1))
    powers = range(len(str(loop_length)))
    round_numbers = (factor * 10**power for power in powers for factor in (1, 2, 5))
    return [*(number for number in round_numbers if number < loop_length), loop_length]


def find_endings(counted_coverage: CountedCoverage) -> list[tuple[RunEnding, ...]]:
    """Return, for each number of an occurrence, why runs ended that had their last row there.

    The most frequent ending of each occurrence is first.
    """
    query = counted_coverage.query
    occurrences = query.occurrences
    states = find_states_after(occurrences)
    numbers = [0, *(occurrence + 1 for occurrence in occurrences.occurrence_by_choice)]
    number_count = len(occurrences.variables) + 1
    counts_by_number: list[Counter[RunEnding]] = [Counter() for _ in range(number_count)]
    counts_by_reason = counted_coverage.counts.end_counts.tolist()
    for state, number, reason_counts in zip(states, numbers, counts_by_reason, strict=True):
        for reason, count in zip(Reason, reason_counts, strict=True):
            if state is not None and count:
                # Endings that differ only in the state become one, because the keys are equal.
                counts_by_number[number][build_ending(query, state, reason)] += count
    return [
        tuple(replace(ending, count=count) for ending, count in ending_counts.most_common())
        for ending_counts in counts_by_number
    ]


def find_states_after(occurrences: Occurrences) -> list[int | None]:
    """Return the state in which a run is before any choice, then the state after each choice.

    The state after a choice that accepts is None.
    """
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
        remaining=occurrences.remaining_rows[state],
        count=0,
    )


def find_false_parts(counted_coverage: CountedCoverage, number: int) -> tuple[FalsePart, ...]:
    """Return the parts of conditions that were not true after an occurrence.

    The most frequent part is first.

    Args:
        counted_coverage: what the workers have counted.
        number: the number of the occurrence.
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

    A part that is the whole condition of its variable is None in the list, because the reason of a
    run ending already names that condition.
    """
    plan = query.plan
    conditions = {condition.variable: condition for condition in query.conditions}
    stage_names = {} if plan.staging is None else find_stages_by_test(plan.staging)
    parts: list[ConditionPart] = []
    for variable in plan.variables:
        show_part: Callable[[Scalar], str] = show_scalar
        if plan.staging is not None:
            show_part = partial(show_stage_condition, tested_variable=variable)
        name = stage_names.get(variable, variable)
        texts = show_condition_parts(conditions.get(variable), show_part)
        parts += [ConditionPart(name, drop_backticks(text)) for text in texts]
    part_counts = Counter(part.variable for part in parts)
    return [part if part_counts[part.variable] > 1 else None for part in parts]


def find_stages_by_test(staging: Staging) -> dict[str, str]:
    """Return the name of the stage to which each test belongs, by the name of the test.

    A stage with an UNTIL condition has a second test: see `Until.take_test`.
    """
    names = {}
    for part in walk_repeated_parts(staging.steps):
        if isinstance(part.content, SingleStage):
            names[part.content.test] = part.content.name
            if part.until is not None and part.until.take_test is not None:
                names[part.until.take_test] = part.content.name
    return names
