"""From the last pointer of a run to its matches: one, or where runs have merged one for each.

Source: SASE+, "The shared versioned match buffer" (retrieval) and "Merging equivalent runs".
"""

import numpy as np

from matchrec.engine.kernels import layout
from matchrec.engine.kernels.mapping import OnRun
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.kernels.buffer import is_expired
from matchrec.engine.selection.kernels.layout import Found, Negation, Rules, Work
from matchrec.engine.selection.kernels.matches import keep_better, lacks_absent, write_match
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import spliced


@spliced
def unwind_matches(
    node: int,
    row: int,
    place: int,
    window_end: IntArray,
    rules: Rules,
    work: Work,
    output: Found,
    negation: Negation | None,
    on_run: OnRun,
) -> int:
    """Write out, or compare with the best, each match that ends at `node` with its row `row`.

    A match is written to `path` from its end: what comes after a join serves both of its sides.
    One whose window has ended is left out. DONE or a status.
    """
    nodes, path, ways = work.nodes, work.path, work.ways
    progress, asked, program = work.progress, rules.output, rules.program
    size = path.shape[1]
    ways[0, 0], ways[0, 1] = node, 0
    top = np.int64(1)
    while top > 0:
        top -= 1
        at, length = ways[top, 0], ways[top, 1]
        expired = is_expired(nodes, at, row, window_end)
        while at >= 0 and not expired:
            choice = nodes[at, own.NODE_CHOICE]
            if choice != own.JOIN:
                if length == size:
                    return layout.PATH_FULL
                length += 1
                path[own.ROWS, size - length] = nodes[at, own.NODE_ROW]
                path[own.CHOICES, size - length] = choice
                at = nodes[at, own.NODE_BEFORE]
                continue
            if top == ways.shape[0]:
                return layout.PATH_FULL
            ways[top, 0], ways[top, 1] = nodes[at, own.NODE_OTHER], length
            top += 1
            at = nodes[at, own.NODE_BEFORE]
            expired = is_expired(nodes, at, row, window_end)
        if expired:
            continue
        answer = lacks_absent(
            size - length, length, place, negation, program, window_end, path, on_run
        )
        if answer == HOLDS_NOT:
            continue
        if answer != HOLDS:
            return layout.CONDITION_FAILED + answer
        if asked == own.GRAPH:
            nodes[node, own.NODE_OTHER] = own.COMPLETES
            continue
        if asked == own.NON_OVERLAPPING:
            keep_better(size - length, length, path, progress)
            continue
        status = write_match(own.ROWS, size - length, length, path, progress, output)
        if status != layout.DONE:
            return status
    return layout.DONE
