"""A folded program as flat arrays, which is all that a kernel sees of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from matchrec.nfa.closure import Choice, Folded
from matchrec.nfa.facts import reached_twice


class ProgramTables(NamedTuple):
    """Choices of all states one after the other, in preferment order within a state.

    first: int64[s + 1], the choices of state s are first[s] .. first[s + 1]; state 0 starts.
    source, target: int32[c], states; target -1 accepts, below that it is an `Effect`.
    variable: int16[c], -1 where the choice accepts. guard: uint8[c], see `closure`.
    test: int16[c], the variable whose condition is asked, -1 for none. excluded, again, blocks:
    bool[c].
    memo: int32[c], a number for the target where its failures are worth remembering, else -1.
    """

    first: npt.NDArray[np.int64]
    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    variable: npt.NDArray[np.int16]
    guard: npt.NDArray[np.uint8]
    excluded: npt.NDArray[np.bool_]
    again: npt.NDArray[np.bool_]
    memo: npt.NDArray[np.int32]
    test: npt.NDArray[np.int16]
    blocks: npt.NDArray[np.bool_]


def program_tables(folded: Folded, *, selects: bool = False) -> ProgramTables:
    """The arrays of a folded program; every state that can be reached twice has a memo number.

    selects: rows may be skipped, so that any state can be.
    """
    choices = [choice for state in folded for choice in state]
    first = np.cumsum([0, *(len(state) for state in folded)])
    twice = np.array(reached_twice(folded)) | selects
    memo = np.where(twice, np.cumsum(twice) - 1, -1)
    return ProgramTables(
        first=first.astype(np.int64),
        source=np.repeat(np.arange(len(folded)), np.diff(first)).astype(np.int32),
        target=np.array([_target(c) for c in choices], np.int32),
        variable=np.array([-1 if c.variable is None else c.variable for c in choices], np.int16),
        guard=np.array([c.guard for c in choices], np.uint8),
        excluded=np.array([c.excluded for c in choices], np.bool_),
        again=np.array([c.again for c in choices], np.bool_),
        memo=np.array([-1 if c.target is None else memo[c.target] for c in choices], np.int32),
        test=np.array([_test(c) for c in choices], np.int16),
        blocks=np.array([c.blocks for c in choices], np.bool_),
    )


def _target(choice: Choice) -> int:
    if choice.effect is not None:
        return int(choice.effect)
    return -1 if choice.target is None else choice.target


def _test(choice: Choice) -> int:
    asked = choice.variable if choice.test is None else choice.test
    return -1 if asked is None else asked
