"""One question at a time: what a trace asks of the conditions that the searches evaluate.

The path so far is in `work`: registers[d] is the computation state after d rows, path has the rows
and the choices.
"""

from matchrec.engine.contiguous.kernels.starts import whole_partition
from matchrec.engine.kernels.mapping import Places, on_run_of
from matchrec.engine.selection.kernels.choosing import may_map
from matchrec.engine.selection.kernels.layout import Negation, Rows, Rules, Work
from matchrec.engine.selection.kernels.matches import closes, lacks_absent
from matchrec.evaluate.instructions import HOLDS
from matchrec.jit.decorators import kernel


@kernel
def ask(choice: int, depth: int, row: int, rules: Rules, rows: Rows, work: Work) -> int:
    """Whether a run of `depth` rows may map a row by a choice: HOLDS, HOLDS_NOT or an error.

    If it may, registers[depth + 1] are those of the run after it.
    """
    partition = whole_partition(rows.starts, work.progress)
    on_run = on_run_of(partition, rules, rows, work)
    return may_map(choice, Places(depth, depth + 1), row, rules, rows.satisfied, on_run)


@kernel
def ask_whole(
    depth: int, row: int, rules: Rules, rows: Rows, work: Work, negation: Negation | None
) -> int:
    """Whether the path of `depth` rows, the last of them `row`, may be a match as a whole."""
    partition = whole_partition(rows.starts, work.progress)
    on_run = on_run_of(partition, rules, rows, work)
    answer = closes(row, depth, negation, rows.satisfied, on_run)
    if answer == HOLDS:
        program, window_end, path = rules.program, rows.window_end, work.path
        answer = lacks_absent(0, depth, depth, negation, program, window_end, path, on_run)
    return answer
