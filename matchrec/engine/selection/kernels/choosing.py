"""Whether a run may map a row by a choice: both algorithms ask for each choice of a state."""

import numpy as np

from matchrec.engine.contiguous.kernels.starts import is_anchored
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.mapping import OnRun, Places, holds_at, update_copy
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels.layout import Rules
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import spliced


@spliced
def may_map(
    choice: int,
    places: Places,
    row: int,
    rules: Rules,
    satisfied: IntArray,
    on_run: OnRun,
) -> int:
    """HOLDS, with the registers of the run that maps the row in place; HOLDS_NOT, or an error.

    Of stages, the condition is evaluated on the registers from before the row is mapped. The loop
    says what comes first, so that either stands, and is compiled, in one place.
    """
    program, asks_first = rules.program, rules.tests_before_mapping
    mask = program[choice, layout.MASK]
    if satisfied[row, program[choice, layout.WORD]] & mask != mask:
        return HOLDS_NOT
    guard = program[choice, layout.GUARD]
    if guard != 0 and not is_anchored(guard, row, on_run.given.lower, on_run.given.upper):
        return HOLDS_NOT
    if on_run.instructions.shape[0] == 0:
        return HOLDS
    place = places.before if asks_first else places.after
    turn = np.int64(-1)
    while turn < 1:
        turn += 1
        if (turn == 0) == asks_first:
            answer = holds_at(choice, place, row, program, on_run)
            if answer != HOLDS:
                return answer
        else:
            update_copy(choice, places, row, program, on_run)
    return HOLDS


@spliced
def note_failure(answer: int, choice: int, row: int, progress: IntArray) -> int:
    """Note in `progress` where a condition has failed; the status that says so."""
    progress[layout.ROW] = row
    progress[layout.CHOICE] = choice
    return layout.CONDITION_FAILED + answer
