"""Which registers a run still needs: those that a condition may read before they are overwritten.

Registers that are not live in a state neither tell two runs in it apart nor need to be kept up to
date on the way to it.

Source: SASE+, "Merging equivalent runs" (the bitmasks M), as the live variables of data-flow
analysis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from matchrec.dataclass import dataclass
from matchrec.evaluate.registers import Step

RegisterSet = frozenset[int]


@dataclass(frozen=True, slots=True)
class Move:
    """A choice that maps a row to `variable`: from `source` to `target`, states.

    test: the variable whose condition is asked of the row once it is mapped.
    """

    source: int
    variable: int
    target: int
    test: int


def live_registers(
    moves: Sequence[Move],
    states: int,
    steps: Sequence[tuple[Step, ...]],
    reads: Sequence[RegisterSet],
    kept: Mapping[int, RegisterSet] | None = None,
) -> list[RegisterSet]:
    """The live registers of every state. steps, reads: by variable. kept: live in any case."""
    live: list[RegisterSet] = [(kept or {}).get(state, frozenset()) for state in range(states)]
    changed = True
    while changed:
        changed = False
        for move in reversed(moves):
            after = reads[move.test] | live[move.target]
            before = needed_before(steps[move.variable], after) | live[move.source]
            changed = changed or before != live[move.source]
            live[move.source] = before
    return live


def needed_before(steps: tuple[Step, ...], after: RegisterSet) -> RegisterSet:
    """The registers whose value before `steps` matters to the registers `after` them."""
    needed = set(after)
    for _ in useful(steps, needed):
        pass
    return frozenset(needed)


def useful_steps(steps: tuple[Step, ...], after: RegisterSet) -> tuple[Step, ...]:
    """The steps without those that no register of `after` depends on."""
    return tuple(reversed(tuple(useful(steps, set(after)))))


def useful(steps: tuple[Step, ...], needed: set[int]) -> Iterator[Step]:
    """The steps on which `needed` depends, last first; it becomes what is needed before them."""
    for step in reversed(steps):
        if not needed.isdisjoint(step.writes):
            needed.difference_update(step.writes)
            needed.update(step.reads)
            yield step
