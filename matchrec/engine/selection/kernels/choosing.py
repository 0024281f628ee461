"""Whether a run may map a row by a choice; both engines ask for each choice of a state."""

from matchrec.engine.contiguous.kernels.starts import is_anchored
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.mapping import update
from matchrec.engine.selection.kernels.layout import Rows, Rules, Work
from matchrec.engine.selection.kernels.matches import evaluated
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.evaluate.kernels import Input, holds
from matchrec.jit.decorators import inlined, spliced


@spliced
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
    mask = program[choice, layout.MASK]
    if rows.satisfied[row, program[choice, layout.WORD]] & mask != mask:
        return HOLDS_NOT
    guard = program[choice, layout.GUARD]
    if guard != 0 and not is_anchored(guard, row, lower, upper):
        return HOLDS_NOT
    if rules.instructions.shape[0] == 0:
        return HOLDS
    if rules.asks_first:
        begin, end = program[choice, layout.CODE], program[choice, layout.CODE_END]
        answer = evaluated(begin, end, before, row, lower, upper, rules, rows, work)
        if answer != HOLDS:
            return answer
    given = Input(rows.columns, rows.valid, lower, upper)
    update(choice, before, after, row, given, rules, work)
    if rules.asks_first:
        return HOLDS
    begin, end = program[choice, layout.CODE], program[choice, layout.CODE_END]
    return holds(rules.instructions, begin, end, work.registers, after, row, given, work.stack)


@inlined
def failed(answer: int, choice: int, row: int, work: Work) -> int:
    """The status of a condition that has failed, with its place in `progress`."""
    work.progress[layout.ROW] = row
    work.progress[layout.CHOICE] = choice
    return layout.CONDITION_FAILED + answer
