"""Whether a run may map a row by a choice; both engines ask for each choice of a state."""

from matchrec.engine.contiguous.kernels.starts import is_anchored
from matchrec.engine.kernels.layout import (
    CHOICE,
    CODE,
    CODE_END,
    CONDITION_FAILED,
    GUARD,
    MASK,
    ROW,
    WORD,
)
from matchrec.engine.kernels.mapping import map_row, update
from matchrec.engine.selection.kernels.layout import Rows, Rules, Work
from matchrec.engine.selection.kernels.matches import evaluated
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.evaluate.kernels import Input
from matchrec.jit.decorators import inlined, inner


@inlined
def may_map(
    choice: int,
    before: int,
    after: int,
    row: int,
    lower: int,
    upper: int,
    rules: Rules,
    rows: Rows,
    work: Work,
) -> int:
    """HOLDS, with the registers of the run that maps the row at `after`; HOLDS_NOT, or an error.

    Of stages, the run at `before` is asked, which has not mapped the row.
    """
    program = rules.program
    mask = program[choice, MASK]
    if rows.satisfied[row, program[choice, WORD]] & mask != mask:
        return HOLDS_NOT
    guard = program[choice, GUARD]
    if guard != 0 and not is_anchored(guard, row, lower, upper):
        return HOLDS_NOT
    if rules.instructions.shape[0] == 0:
        return HOLDS
    if rules.asks_first:
        return ask_and_map(choice, before, after, row, lower, upper, rules, rows, work)
    return map_row(choice, before, after, row, lower, upper, rules, rows, work)


@inner
def ask_and_map(
    choice: int,
    before: int,
    after: int,
    row: int,
    lower: int,
    upper: int,
    rules: Rules,
    rows: Rows,
    work: Work,
) -> int:
    """As `map_row`, but the condition is asked of the registers at `before`."""
    code, code_end = rules.program[choice, CODE], rules.program[choice, CODE_END]
    answer = evaluated(code, code_end, before, row, lower, upper, rules, rows, work)
    if answer == HOLDS:
        given = Input(rows.columns, rows.valid, lower, upper)
        update(choice, before, after, row, given, rules, work)
    return answer


@inlined
def failed(answer: int, choice: int, row: int, work: Work) -> int:
    """The status of a condition that has failed, with its place in `progress`."""
    work.progress[ROW] = row
    work.progress[CHOICE] = choice
    return CONDITION_FAILED + answer
