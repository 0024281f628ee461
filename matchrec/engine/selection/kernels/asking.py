"""One question at a time: what a trace asks of the conditions that the searches evaluate.

The path so far is in `work`: registers[d] is the computation state after d rows, path has the rows
and the choices.
"""

from matchrec.engine.contiguous.kernels.starts import whole_partition
from matchrec.engine.kernels.mapping import Places
from matchrec.engine.selection.kernels.choosing import may_map
from matchrec.engine.selection.kernels.layout import Rows, Rules, Work
from matchrec.engine.selection.kernels.matches import closes, lacks_absent
from matchrec.evaluate.instructions import HOLDS
from matchrec.jit.decorators import kernel


@kernel
def ask(choice: int, depth: int, row: int, rules: Rules, rows: Rows, work: Work) -> int:
    """Whether a run of `depth` rows may map a row by a choice: HOLDS, HOLDS_NOT or an error.

    If it may, registers[depth + 1] are those of the run after it.
    """
    partition = whole_partition(rows.starts, work.progress)
    return may_map(choice, Places(depth, depth + 1), row, partition, rules, rows, work)


@kernel
def ask_whole(depth: int, row: int, rules: Rules, rows: Rows, work: Work) -> int:
    """Whether the path of `depth` rows, the last of them `row`, may be a match as a whole."""
    partition = whole_partition(rows.starts, work.progress)
    answer = closes(row, depth, partition, rules, rows, work)
    if answer == HOLDS:
        answer = lacks_absent(0, depth, depth, partition, rules, rows, work)
    return answer
