"""Rows that must be absent between two rows of a match, decided when they come.

A match that is built is looked through for such rows. Where matches are not built, the program says
it: each of its states becomes one for each guess that a run may have made of which row is the last
one of those after which the absence is asked for. A run whose guess was wrong is no match, and one
whose guess was right ends with a row that must be absent.

    A+ ~(N n) B      after an A that is not the last one:     A
                     after the last one:                      B, and a row that is an N ends the run

There are at most four states for each absence, and in most patterns two after `A+` and one after
`A`. What must be absent before or after a match is none of this: it is decided by the first and the
last row alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import product

from matchrec.conditions.run_condition import (
    Arithmetic,
    Basic,
    Comparison,
    Constant,
    Operate,
    ReadValue,
    Reduce,
    Reduction,
    RunExpression,
    parts_of,
)
from matchrec.engine.interface import Absent, Task
from matchrec.errors import calls as errors
from matchrec.nfa.closure import Choice, Effect, Folding, number_states, reachable
from matchrec.plan.clauses import EventSelection
from matchrec.plan.expression import Navigation


class Part(Enum):
    """Where a run is, seen from an absence.

    BEFORE: no row has come after which it is asked for. AGAIN: one has, and another one will.
    WITHIN: the last one has. AFTER: so has the row up to which it is asked for.
    """

    BEFORE = 0
    AGAIN = 1
    WITHIN = 2
    AFTER = 3


Parts = tuple[Part, ...]
Place = tuple[int, Parts]  # a state, and where a run is that is there, seen from each absence

NOWHERE: Place = (-1, ())  # where a run is that can be no match any more

Move = tuple[Choice, Place]

CANNOT_FAIL = (*Basic, *Comparison)


def decide_between(task: Task) -> Task:
    """The task whose runs end with a row that must be absent between two of their rows.

    Raises MatchRecognizeUnsupportedError where only the whole match tells which rows these are.
    """
    between = tuple(one for one in task.absent if None not in (one.after, one.before))
    if not between:
        return task
    division = Division(task, between)
    division.find_moves()
    for number, one in enumerate(between):
        check_condition(task, one, division.variables_after(number))
    pattern = replace(task.pattern, folding=division.folding())
    return replace(
        task, pattern=pattern, absent=tuple(one for one in task.absent if one not in between)
    )


@dataclass
class Division:
    """Divides the states of a task by where runs are. ends: where a run may be a match."""

    task: Task
    between: tuple[Absent, ...]
    moves: dict[Place, list[Move]] = field(default_factory=dict)
    ends: set[Place] = field(default_factory=set)

    def find_moves(self) -> None:
        """Fill in `moves` and `ends`, from the start on."""
        waiting: list[Place] = [(0, (Part.BEFORE,) * len(self.between))]
        for place in waiting:  # grows while it is read
            if place not in self.moves:
                self.moves[place] = list(self.moves_from(place))
                waiting += [target for _, target in self.moves[place] if target != NOWHERE]
        sources = defaultdict(set)
        for place, moves in self.moves.items():
            for _, target in moves:
                sources[target].add(place)
        useful = set(reachable(self.ends, lambda place: sources[place]))
        for place, moves in self.moves.items():
            self.moves[place] = [
                (choice, target if target in useful else NOWHERE) for choice, target in moves
            ]

    def moves_from(self, place: Place) -> Iterator[Move]:
        """Where the choices of a place lead that map a row; notes whether one accepts."""
        state, parts = place
        for choice in self.task.pattern.folding.choices[state]:
            if choice.accepts and Part.WITHIN in parts:
                raise errors.NotCarriedError(errors.ABSENT_ROWS)
            if choice.accepts and Part.AGAIN not in parts:
                self.ends.add(place)
            if choice.target is None:
                continue
            seen = zip(parts, self.between, strict=True)
            ways = list(product(*(self.parts_after(*one, choice) for one in seen)))
            yield from ((choice, (choice.target, way)) for way in ways)
            if not ways:
                yield choice, NOWHERE

    def parts_after(self, part: Part, absent: Absent, choice: Choice) -> Parts:
        """Where a run may be when it has mapped a row; none if no match goes on so."""
        assert absent.after is not None
        assert absent.before is not None
        if choice.variable in absent.after:
            is_possible = part in (Part.BEFORE, Part.AGAIN)
            return (Part.WITHIN, Part.AGAIN) if is_possible else ()
        is_end = part is Part.WITHIN and choice.variable in absent.before
        return (Part.AFTER if is_end else part,)

    def variables_after(self, number: int) -> frozenset[int]:
        """The variables to which a run may map a row when it is within a part, or later."""
        within_part = (move for move in self.moves if move[1][number] is Part.WITHIN)
        later = set(reachable(within_part, lambda one: [to for _, to in self.going_on(one)]))
        mapped = (choice.variable for one in later for choice, _ in self.going_on(one))
        return frozenset(variable for variable in mapped if variable is not None)

    def going_on(self, place: Place) -> list[Move]:
        """The moves of a place after which a run may still be a match."""
        return [one for one in self.moves[place] if one[1] != NOWHERE]

    def folding(self) -> Folding:
        """The program that says it: the first state is still the one in which runs begin."""
        begin = next(iter(self.moves))
        places, choices = zip(*number_states([begin], self.choices), strict=True)
        states = self.task.pattern.folding.states
        return Folding(choices, tuple(states[max(state, 0)] for state, _ in places))

    def choices(self, place: Place) -> Iterator[tuple[Choice, Place | None]]:
        """All choices of a place in the order in which they are asked, and where they lead.

        The row up to which an absence is asked for may itself be one that must be absent. One that
        is mapped before it may not.
        """
        state, parts = place
        if place in self.ends:
            accepting = (one for one in self.task.pattern.folding.choices[state] if one.accepts)
            yield from ((one, None) for one in accepting)
        asked: frozenset[int] = frozenset()
        moves = sorted(self.kept_moves(place), key=lambda one: len(within(one[1][1])))
        for choice, target in moves:
            here = within(parts) & within(target[1])
            if not asked <= here:
                raise errors.NotCarriedError(errors.ABSENT_ROWS)
            yield from self.endings(here - asked)
            yield choice, target
            asked = here
        yield from self.endings(within(parts) - asked)

    def kept_moves(self, place: Place) -> Iterator[Move]:
        """The moves of a place that count: one that leads nowhere does where a row that can be
        mapped may not be skipped.
        """
        moves = self.moves.get(place, [])
        somewhere = [choice for choice, target in moves if target != NOWHERE]
        blocks = self.task.selection is EventSelection.SKIP_TILL_NEXT_MATCH
        for choice, target in moves:
            if target != NOWHERE or (blocks and choice not in somewhere):
                yield choice, target

    def endings(self, numbers: Iterable[int]) -> Iterator[tuple[Choice, None]]:
        """What a row does that must be absent, by the numbers of absences."""
        for number in sorted(numbers):
            test = self.between[number].variable
            yield Choice(0, None, None, test=test, effect=Effect.ENDS), None


def within(parts: Parts) -> frozenset[int]:
    return frozenset(number for number, part in enumerate(parts) if part is Part.WITHIN)


def check_condition(task: Task, absent: Absent, later: frozenset[int]) -> None:
    """Raises MatchRecognizeUnsupportedError for a condition of a row that must be absent whose
    value may be another one when the match is found. later: the variables mapped after such a row.
    """
    condition = task.conditions[absent.variable].run_condition
    for part in () if condition is None else parts_of(condition):
        if may_fail(part):
            raise errors.NotCarriedError(errors.ABSENCE_MAY_FAIL)
        match part:
            case ReadValue(navigation=Navigation(variable=name)) | Reduce(variable=name):
                if later if name is None else later & task.members[name]:
                    raise errors.NotCarriedError(errors.ABSENCE_BY_LATER_ROW)


def may_fail(part: RunExpression) -> bool:
    """Whether an expression may be an error, which a run that is no match must not raise."""
    if isinstance(part, Arithmetic):
        return part.ansi and not part.tries
    if isinstance(part, Reduce):
        return part.function is Reduction.SUM
    if isinstance(part, Operate):
        return part.operator not in CANNOT_FAIL
    return not isinstance(part, Constant | ReadValue)
