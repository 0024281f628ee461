"""From the last pointer of a run to its matches: one, or where runs have merged one for each.

Source: SASE+, "The shared versioned match buffer" (retrieval) and "Merging equivalent runs".
"""

from matchrec.engine.kernels.layout import DONE, PATH_FULL, ChoiceArray, RunArray
from matchrec.engine.kernels.selection.buffer import is_over
from matchrec.engine.kernels.selection.layout import (
    CHOICES,
    JOIN,
    NODE_BEFORE,
    NODE_CHOICE,
    NODE_OTHER,
    NODE_ROW,
    NON_OVERLAPPING,
    ROWS,
)
from matchrec.engine.kernels.selection.matches import keep_better, lacks_absent, write_match
from matchrec.engine.partitions import BoolArray, IntArray
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.evaluate.jit import inner


@inner
def unwind_matches(
    node: int,
    row: int,
    place: int,
    output: int,
    nodes: IntArray,
    path: IntArray,
    ways: IntArray,
    found: IntArray,
    taken: ChoiceArray,
    taken_rows: IntArray,
    progress: IntArray,
    program: IntArray,
    window_end: RunArray,
    absent: IntArray,
    members: BoolArray,
    following: IntArray,
    lower: int,
    upper: int,
    instructions: RunArray,
    registers: RunArray,
    columns: RunArray,
    valid: RunArray,
    stack: RunArray,
) -> int:
    """Write out, or compare with the best, each match that ends at `node` with its row `row`.

    A match is written to `path` from its end: what lies behind a join serves both of its sides.
    DONE, a status, or minus an answer of a condition that has failed.
    """
    size = path.shape[1]
    ways[0, 0], ways[0, 1] = node, 0
    top = 1
    while top > 0:
        top -= 1
        at, length = ways[top, 0], ways[top, 1]
        while at >= 0 and not is_over(nodes, at, row, window_end):
            if nodes[at, NODE_CHOICE] == JOIN:
                if top == ways.shape[0]:
                    return PATH_FULL
                ways[top, 0], ways[top, 1] = nodes[at, NODE_OTHER], length
                top += 1
            else:
                if length == size:
                    return PATH_FULL
                length += 1
                path[ROWS, size - length] = nodes[at, NODE_ROW]
                path[CHOICES, size - length] = nodes[at, NODE_CHOICE]
            at = nodes[at, NODE_BEFORE]
        if at >= 0:
            continue
        answer = lacks_absent(
            path,
            size - length,
            length,
            place,
            program,
            window_end,
            absent,
            members,
            following,
            lower,
            upper,
            instructions,
            registers,
            columns,
            valid,
            stack,
        )
        if answer != HOLDS:
            if answer != HOLDS_NOT:
                return -answer
        elif output == NON_OVERLAPPING:
            keep_better(path, size - length, length, progress)
        else:
            status = write_match(
                path, ROWS, size - length, length, found, taken, taken_rows, progress
            )
            if status != DONE:
                return status
    return DONE
