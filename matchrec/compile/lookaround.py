"""How far from the rows of a run a query looks, so that a partition may come in pieces.

A search decides on a starting row once it has seen the rows that it looks at, so a partition may
come to the engine in pieces that overlap by what conditions and measures see around a match.
"""

from __future__ import annotations

from collections.abc import Iterable

from matchrec.dataclass import dataclass
from matchrec.engine.interface import Task
from matchrec.output.reads import Read, ReadAt


@dataclass(frozen=True, slots=True)
class Lookaround:
    """The most rows before a run's first row, and after its last one, that are read."""

    before: int
    after: int


def find_lookaround(
    task: Task, integers: int, reads: Iterable[Read], offsets: Iterable[int] = ()
) -> Lookaround | None:
    """How far conditions and measures see; None where a partition must be at hand as a whole.

    integers: how many integer columns conditions read. offsets: how far row conditions see.
    """
    if task.needs_whole_partitions:
        return None
    from matchrec.engine.compiled import compile_task

    steps = [*offsets]
    steps += [one.navigation.physical_offset for one in reads if isinstance(one, ReadAt)]
    steps += compile_task(task, integers).offsets
    return Lookaround(-min([0, *steps]), max([0, *steps]))
