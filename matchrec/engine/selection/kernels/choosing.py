"""Whether a run may map a row by a choice: both algorithms ask for each choice of a state."""

from matchrec.engine.contiguous.kernels.starts import is_anchored
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import Partition
from matchrec.engine.kernels.mapping import Places, holds_after, update_copy
from matchrec.engine.selection.kernels.layout import Rows, Rules, Work
from matchrec.engine.selection.kernels.matches import Code, evaluate
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import inlined, spliced


@spliced
def may_map(
    choice: int,
    places: Places,
    row: int,
    partition: Partition,
    rules: Rules,
    rows: Rows,
    work: Work,
) -> int:
    """HOLDS, with the registers of the run that maps the row in place; HOLDS_NOT, or an error.

    Of stages, the condition is evaluated on the registers from before the row is mapped.
    """
    program = rules.program
    mask = program[choice, layout.MASK]
    if rows.satisfied[row, program[choice, layout.WORD]] & mask != mask:
        return HOLDS_NOT
    guard = program[choice, layout.GUARD]
    if guard != 0 and not is_anchored(guard, row, partition):
        return HOLDS_NOT
    if rules.instructions.shape[0] == 0:
        return HOLDS
    if rules.tests_before_mapping:
        code = Code(program[choice, layout.CODE], program[choice, layout.CODE_END])
        answer = evaluate(code, places.before, row, partition, rules, rows, work)
        if answer != HOLDS:
            return answer
    update_copy(choice, places, row, partition, rules, rows, work)
    if rules.tests_before_mapping:
        return HOLDS
    return holds_after(choice, places.after, row, partition, rules, rows, work)


@inlined
def note_failure(answer: int, choice: int, row: int, work: Work) -> int:
    """Note in `progress` where a condition has failed; the status that says so."""
    work.progress[layout.ROW] = row
    work.progress[layout.CHOICE] = choice
    return layout.CONDITION_FAILED + answer
