"""Explain trials with the values that their conditions read.

1. `choose_trials` chooses the trials whose values are shown.
2. `make_matches_of_trials` turns them into matches, over which Spark computes the measures of
   `condition_parts`.
3. `Explainer` writes a sentence for each conjunct of each trial:
   `price < PREV(price): 12 < 10 is false`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from matchrec.automaton.run_endings import A_MATCH
from matchrec.explain.tracing.condition_parts import ConditionParts, Conjunct, ReferencePart
from matchrec.explain.tracing.trials import (
    CONDITION_OUTCOMES,
    Attempt,
    MappedRow,
    Outcome,
    PathRows,
    Trial,
    TrialKey,
)
from matchrec.plan.expression import End, Navigation
from matchrec.search.matches import Matches
from matchrec.search.task import Task

# The largest total number of rows of the matches made from trials. Spark gets all of these rows.
MAX_MAPPED_ROWS = 1_000_000

# The values of all measures for one trial, as texts, in the order of `ConditionParts.measures`.
# None is NULL. The value of a condition is "true" or "false".
MeasureTexts = Sequence[str | None]

# The values of all measures for each trial.
MeasureValues = Mapping[TrialKey, MeasureTexts]


class Truth(Enum):
    """The truth of a conjunct in a trial, as a user reads it."""

    TRUE = "true"
    FALSE = "false"
    # The value of the conjunct is NULL.
    NULL = "NULL, so not true"
    # The conjunct was not evaluated, because a conjunct before it does not hold.
    NOT_EVALUATED = "not evaluated"


@dataclass(frozen=True, slots=True)
class ExplainedConjunct:
    """A sentence for a conjunct of a trial's condition."""

    # The conjunct, its truth and the values of its parts: `price < 10: 12 < 10 is false`.
    sentence: str
    # Whether the conjunct is known to be true.
    is_true: bool


def choose_trials(attempts: Sequence[Attempt]) -> list[TrialKey]:
    """Return the trials whose values are shown, the most important trials first.

    For each attempt, the trials that stopped its best path are followed by the trials on the best
    path, from its end to its beginning. The other trials of all attempts come last. The list ends
    before the matches made from the trials would have more than `MAX_MAPPED_ROWS` rows in total.
    Trials that evaluate no condition are left out.
    """
    keys_of_best_paths: list[TrialKey] = []
    all_keys: list[TrialKey] = []
    for attempt_index, attempt in enumerate(attempts):
        important_trials = [*attempt.stopping_trials, *reversed(attempt.best_path)]
        keys_of_best_paths += [TrialKey(attempt_index, index) for index in important_trials]
        all_keys += [TrialKey(attempt_index, index) for index in range(len(attempt.trials))]
    remaining_rows = MAX_MAPPED_ROWS
    chosen_keys = []
    for key in dict.fromkeys([*keys_of_best_paths, *all_keys]):
        trial = attempts[key.attempt_index].trials[key.trial_index]
        if trial.outcome not in CONDITION_OUTCOMES:
            continue
        remaining_rows -= trial.depth + 1
        if remaining_rows < 0:
            break
        chosen_keys.append(key)
    return chosen_keys


def make_matches_of_trials(
    task: Task, attempts: Sequence[Attempt], keys: Sequence[TrialKey]
) -> Matches:
    """Return a match for each trial: the rows mapped before the trial, then the row that is tried.

    The row that is tried is mapped to the variable of the trial, see `list_rows_of_trial`.

    Args:
        task: the task of the search.
        attempts: the attempts of the trace.
        keys: the trials. The matches are in the same order.
    """
    paths = [list_rows_of_trial(task, attempts[key.attempt_index], key.trial_index) for key in keys]
    numbers = [attempts[key.attempt_index].matches_before + 1 for key in keys]
    rows = [mapped.row for path in paths for mapped in path]
    variables = [mapped.variable for path in paths for mapped in path]
    return Matches(
        partition=np.zeros(len(keys), np.int64),
        number=np.array(numbers, np.int64),
        start=np.array([path[0].row for path in paths], np.int64),
        offsets=np.cumsum([0, *map(len, paths)]).astype(np.int64),
        classifiers=np.array(variables, np.int16),
        is_excluded=np.zeros(len(rows), np.bool_),
        rows=np.array(rows, np.int64) if task.needs_event_selection else None,
        kind=np.full(len(keys), A_MATCH, np.int64),
    )


def list_rows_of_trial(task: Task, attempt: Attempt, trial_index: int) -> PathRows:
    """Return the rows mapped before a trial, then the row that is tried.

    In a pattern of stages, the row that is tried is mapped to the variable of the condition, not to
    the stage: a condition counts only earlier rows among the events of its stage.

    Args:
        task: the task of the search.
        attempt: an attempt of the trace.
        trial_index: the index of a trial in the attempt.
    """
    trial = attempt.trials[trial_index]
    last_variable = trial.variable if task.stages is None else trial.condition_variable
    earlier_trials = [attempt.trials[index] for index in attempt.find_path_to(trial.previous)]
    mapped_before = [MappedRow(earlier.row, earlier.variable) for earlier in earlier_trials]
    return (*mapped_before, MappedRow(trial.row, last_variable))


@dataclass(frozen=True)
class Explainer:
    """An explainer of the conditions of trials, which writes a sentence for each conjunct."""

    # The task of the search.
    task: Task
    # The parts of all conditions.
    parts: ConditionParts
    # The attempts that are explained.
    attempts: Sequence[Attempt]
    # The trials that are explained, as `choose_trials` returns them.
    keys: Sequence[TrialKey]
    # The values of the measures for `keys`. A trial without values may be missing.
    values: MeasureValues
    # The number of rows of the partition.
    row_count: int

    def explain_conditions(self) -> dict[TrialKey, tuple[ExplainedConjunct, ...]]:
        """Return, for each trial, an explanation of each conjunct of its condition."""
        return {
            key: tuple(self.explain_condition(key, self.values.get(key, ()))) for key in self.keys
        }

    def explain_condition(self, key: TrialKey, values: MeasureTexts) -> Iterator[ExplainedConjunct]:
        """Yield an explanation of each conjunct of a trial's condition, or of a missing condition.

        Args:
            key: the indices of the attempt and of its trial.
            values: the values of all measures; empty if there are none for this trial.
        """
        attempt = self.attempts[key.attempt_index]
        trial = attempt.trials[key.trial_index]
        conjuncts = self.parts.conjuncts.get(self.task.variables[trial.condition_variable], ())
        if not conjuncts:
            yield ExplainedConjunct("no condition: always true", is_true=True)
            return
        truths = find_truths(trial, conjuncts, values)
        mapped = list_rows_of_trial(self.task, attempt, key.trial_index)
        for conjunct, truth in zip(conjuncts, truths, strict=True):
            if truth is None:
                sentence = conjunct.text
            elif conjunct.truth_measure is None or truth is Truth.NOT_EVALUATED:
                sentence = f"{conjunct.text}: {truth.value}"  # there are no values to show
            else:
                sentence = self.write_sentence(conjunct, truth, values, mapped)
            yield ExplainedConjunct(sentence, is_true=truth is Truth.TRUE)

    def write_sentence(
        self, conjunct: Conjunct, truth: Truth, values: MeasureTexts, mapped: PathRows
    ) -> str:
        """Return a sentence with the truth of a conjunct and the values of its parts.

        Args:
            conjunct: a conjunct with measures.
            truth: whether the conjunct is true.
            values: the values of all measures, for the trial.
            mapped: the rows mapped before the trial, then the row that is tried.
        """
        sides = f" {conjunct.operator} ".join(
            show_measure_value(values[side]) for side in conjunct.side_measures
        )
        result = f"{sides} is {truth.value}" if sides else truth.value
        notes = []
        for reference in conjunct.references:
            note = self.describe_reference(reference, values, mapped)
            if note is not None:
                notes.append(note)
        sentence = f"{conjunct.text}: {result}"
        return f"{sentence} ({', '.join(notes)})" if notes else sentence

    def describe_reference(
        self, part: ReferencePart, values: MeasureTexts, mapped: PathRows
    ) -> str | None:
        """Return the value of a reference and the row that it reads: `PREV(price) = 10 from row 3`.

        The value is left out if a side of the comparison already shows it. The row is left out if
        it is the row that is tried. The result is None if both are left out.

        Args:
            part: the reference, with the index of its measure.
            values: the values of all measures, for the trial.
            mapped: the rows mapped before the trial, then the row that is tried.
        """
        row_text = ""
        if part.navigation is not None:
            row = self.find_read_row(part.navigation, mapped)
            if row is None:
                return f"{part.text} finds no row"
            if row != mapped[-1].row:
                row_text = f" from row {row + 1}"
        if part.is_side:
            return f"{part.text}{row_text}" if row_text else None
        return f"{part.text} = {show_measure_value(values[part.measure])}{row_text}"

    def find_read_row(self, navigation: Navigation, mapped: PathRows) -> int | None:
        """Return the position of the row that a navigation reads; None if there is no such row.

        Args:
            navigation: the navigation, whose current row is the last row of `mapped`.
            mapped: the rows mapped before the trial, then the row that is tried.
        """
        rows = [row for row, _ in mapped]
        if navigation.variable is not None:
            members = self.task.members[navigation.variable]
            rows = [row for row, variable in mapped if variable in members]
        offset = navigation.logical_offset
        if offset >= len(rows):
            return None
        row = rows[offset] if navigation.end is End.FIRST else rows[-1 - offset]
        row += navigation.physical_offset
        return row if 0 <= row < self.row_count else None


def show_measure_value(value: str | None) -> str:
    """Return the value of a measure as a sentence shows it: `NULL` for None."""
    return "NULL" if value is None else value


def find_truths(
    trial: Trial, conjuncts: Sequence[Conjunct], values: MeasureTexts
) -> tuple[Truth | None, ...]:
    """Return the truth of each conjunct of a trial's condition; None if the truth is not known.

    If the values contradict the outcome of the trial, no truth is known, because the outcome is
    right and the values are not.

    Args:
        trial: a trial that evaluates a condition.
        conjuncts: the conjuncts of the condition, at least one.
        values: the values of all measures; empty if there are none for this trial.
    """
    holds = trial.outcome is not Outcome.FAILED
    unknown: tuple[Truth | None, ...] = (None,) * len(conjuncts)
    is_first_row = trial.depth == 0
    lacks_row_before = is_first_row and any(conjunct.excludes_tried_row for conjunct in conjuncts)
    if not values or lacks_row_before:
        # The measures say nothing: there are none, or they need a row before the tried row, which
        # the starting row does not have. But if the condition holds, all conjuncts do.
        return (Truth.TRUE,) * len(conjuncts) if holds else unknown
    truths = infer_unmeasured(read_truths(conjuncts, values), holds=holds)
    all_are_true = all(truth is Truth.TRUE for truth in truths)
    fits_outcome = None in truths or all_are_true == holds
    return tuple(truths) if fits_outcome else unknown


def read_truths(conjuncts: Sequence[Conjunct], values: MeasureTexts) -> list[Truth | None]:
    """Return the truth of each conjunct by its measure; None for a conjunct without a measure.

    A guarded conjunct is not evaluated if a conjunct before it does not hold.
    """
    truths: list[Truth | None] = []
    for conjunct in conjuncts:
        if conjunct.is_guarded and any(truth not in (None, Truth.TRUE) for truth in truths):
            truths.append(Truth.NOT_EVALUATED)
        elif conjunct.truth_measure is None:
            truths.append(None)
        else:
            value = values[conjunct.truth_measure]
            truths.append(Truth.NULL if value is None else Truth(value))
    return truths


def infer_unmeasured(truths: list[Truth | None], *, holds: bool) -> list[Truth | None]:
    """Fill in the truths of conjuncts without a measure, if they follow from the other truths.

    Args:
        truths: the truths by measures.
        holds: whether the condition as a whole holds.

    >>> [truth.name for truth in infer_unmeasured([Truth.TRUE, None], holds=False)]
    ['TRUE', 'FALSE']
    """
    if holds:
        return [Truth.TRUE if truth is None else truth for truth in truths]
    others_hold = all(truth in (None, Truth.TRUE) for truth in truths)
    if truths.count(None) == 1 and others_hold:
        return [Truth.FALSE if truth is None else truth for truth in truths]
    return truths
