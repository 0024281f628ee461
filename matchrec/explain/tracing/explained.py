"""Tests with the values of what their conditions read: matches for Spark, then sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from matchrec.automaton.program import A_MATCH
from matchrec.explain.tracing.parts import Conjunct, Parts, ReferencePart, number_of
from matchrec.explain.tracing.search import CONDITION, Attempt, Mapped, Outcome, Trial
from matchrec.plan.expression import End, Navigation
from matchrec.search.interface import Task
from matchrec.search.matches import Matches

MOST_MAPPED = 1_000_000  # rows of all matches that Spark is asked about
Texts = Sequence[str | None]
Values = Mapping[int, Texts]
Key = tuple[int, int]  # an attempt and a trial, by index


def wanted_trials(attempts: Sequence[Attempt]) -> list[Key]:
    """The trials whose values are shown, those that matter most first, as far as there is room."""
    found: dict[Key, None] = {}
    ways = ((one.stopped, one.best[::-1], tuple(range(len(one.trials)))) for one in attempts)
    for own in zip(*ways, strict=True):
        for number, way in enumerate(own):
            asked = (i for i in way if attempts[number].trials[i].outcome in CONDITION)
            found.update(dict.fromkeys((number, i) for i in asked))
    room, kept = MOST_MAPPED, []
    for number, i in found:
        room -= attempts[number].trials[i].depth + 1
        if room < 0:
            break
        kept.append((number, i))
    return kept


def as_matches(task: Task, attempts: Sequence[Attempt], keys: Sequence[Key]) -> Matches:
    """The trials as matches that end with the row in question, mapped to what it is asked for."""
    mapped = [rows_of(task, attempts[number], i) for number, i in keys]
    numbers = [number_of(n, attempts[key[0]].number + 1) for n, key in enumerate(keys)]
    rows = [row for one in mapped for row, _ in one]
    return Matches(
        partition=np.zeros(len(keys), np.int64),
        number=np.array(numbers, np.int64),
        start=np.array([one[0][0] for one in mapped], np.int64),
        offsets=np.cumsum([0, *map(len, mapped)]).astype(np.int64),
        classifiers=np.array([v for one in mapped for _, v in one], np.int16),
        excluded=np.zeros(len(rows), np.bool_),
        rows=np.array(rows, np.int64) if task.selects else None,
        kind=np.full(len(keys), A_MATCH, np.int64),
    )


def rows_of(task: Task, attempt: Attempt, index: int) -> Mapped:
    """The rows mapped before a trial, and the row that it is about."""
    trial = attempt.trials[index]  # of stages mapped to the test, which no stage has as an event
    last = trial.variable if task.stages is None else trial.asked
    way = (attempt.trials[i] for i in attempt.path_to(trial.before))
    return (*((one.row, one.variable) for one in way), (trial.row, last))


@dataclass(frozen=True)
class Explainer:
    """Words for trials. values: of measures, by index among `keys`. rows: how many there are."""

    task: Task
    parts: Parts
    attempts: Sequence[Attempt]
    keys: Sequence[Key]
    values: Values
    rows: int

    def conditions(self) -> dict[Key, tuple[str, ...]]:
        """For each trial a sentence for each conjunct of its condition."""
        return {
            key: tuple(self.sentences(key, self.values.get(number, ())))
            for number, key in enumerate(self.keys)
        }

    def sentences(self, key: Key, values: Texts) -> Iterator[str]:
        trial = self.attempts[key[0]].trials[key[1]]
        own = self.parts.conjuncts.get(self.task.variables[trial.asked], ())
        if not own:
            yield "no condition: true of every row"
            return
        truths = known_truths(trial, own, values)
        mapped = rows_of(self.task, self.attempts[key[0]], key[1])
        for conjunct, truth in zip(own, truths, strict=True):
            if truth is None:
                yield conjunct.text
            elif conjunct.truth is None or truth == NOT_ASKED:
                yield f"{conjunct.text}: {truth}"
            else:
                yield self.sentence(conjunct, truth, values, mapped)

    def sentence(self, conjunct: Conjunct, truth: str, values: Texts, mapped: Mapped) -> str:
        sides = f" {conjunct.operator} ".join(value_text(values[side]) for side in conjunct.sides)
        shown = f"{sides} is {truth}" if sides else truth
        found = (self.note(reference, values, mapped) for reference in conjunct.references)
        notes = ", ".join(note for note in found if note is not None)
        return f"{conjunct.text}: {shown}" + f" ({notes})" * bool(notes)

    def note(self, part: ReferencePart, values: Texts, mapped: Mapped) -> str | None:
        """Of a reference its value, where no side shows it, and the row that it reads."""
        row = None if part.navigation is None else self.row_read(part.navigation, mapped)
        place = ""
        if part.navigation is not None and row != mapped[-1][0]:
            place = " of no row" if row is None else f" of row {row + 1}"
        value = value_text(values[part.measure])
        if part.is_side:
            return f"{part.text}{place}" if place else None
        return f"{part.text} = {value}{place}"

    def row_read(self, navigation: Navigation, mapped: Mapped) -> int | None:
        name, members = navigation.variable, self.task.members
        rows = [row for row, variable in mapped if name is None or variable in members[name]]
        if navigation.logical_offset >= len(rows):
            return None
        first = navigation.end is End.FIRST
        row = rows[navigation.logical_offset if first else -1 - navigation.logical_offset]
        row += navigation.physical_offset
        return row if 0 <= row < self.rows else None


def value_text(value: str | None) -> str:
    return "NULL" if value is None else value


NOT_ASKED = "not asked"


def known_truths(trial: Trial, own: Sequence[Conjunct], values: Texts) -> tuple[str | None, ...]:
    """Whether each conjunct is true, false or unknown; None where that is not known.

    What no measure reads follows from the trial where all others are true. Where the values do not
    give what the engine found, nothing is said.
    """
    held = trial.outcome is not Outcome.FAILED
    if not values or any(conjunct.looks_back and trial.depth == 0 for conjunct in own):
        return (None,) * len(own) if len(own) > 1 or not held else ("true",)
    found = [
        None if conjunct.truth is None else (values[conjunct.truth] or "unknown, as it is NULL")
        for conjunct in own
    ]
    for place, conjunct in enumerate(own):
        if conjunct.is_guarded and any(one not in (None, "true") for one in found[:place]):
            found[place] = NOT_ASKED
    missing = found.count(None)
    if held:
        found = ["true" if one is None else one for one in found]
    elif missing == 1 and all(one in (None, "true") for one in found):
        found = ["false" if one is None else one for one in found]
    agrees = None in found or held == all(one == "true" for one in found)
    return tuple(found) if agrees else (None,) * len(own)
