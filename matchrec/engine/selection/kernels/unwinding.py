"""From the last pointer of a run to its matches: one, or where runs have merged one for each.

Source: SASE+, "The shared versioned match buffer" (retrieval) and "Merging equivalent runs".
"""

from matchrec.engine.kernels.layout import DONE, PATH_FULL
from matchrec.engine.selection.kernels.buffer import is_over
from matchrec.engine.selection.kernels.layout import (
    CHOICES,
    COMPLETES,
    GRAPH,
    JOIN,
    NODE_BEFORE,
    NODE_CHOICE,
    NODE_OTHER,
    NODE_ROW,
    NON_OVERLAPPING,
    ROWS,
    Found,
    Rows,
    Rules,
    Work,
)
from matchrec.engine.selection.kernels.matches import keep_better, lacks_absent, write_match
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import inner


@inner
def unwind_matches(
    node: int,
    row: int,
    place: int,
    lower: int,
    upper: int,
    rules: Rules,
    rows: Rows,
    work: Work,
    output: Found,
) -> int:
    """Write out, or compare with the best, each match that ends at `node` with its row `row`.

    A match is written to `path` from its end: what lies behind a join serves both of its sides.
    One whose window has ended is left out. DONE, a status, or minus an answer of a condition that
    has failed.
    """
    nodes, path, ways = work.nodes, work.path, work.ways
    size = path.shape[1]
    ways[0, 0], ways[0, 1] = node, 0
    top = 1
    while top > 0:
        top -= 1
        at, length = ways[top, 0], ways[top, 1]
        over = is_over(nodes, at, row, rows.window_end)
        while at >= 0 and not over:
            choice = nodes[at, NODE_CHOICE]
            if choice != JOIN:
                if length == size:
                    return PATH_FULL
                length += 1
                path[ROWS, size - length] = nodes[at, NODE_ROW]
                path[CHOICES, size - length] = choice
                at = nodes[at, NODE_BEFORE]
                continue
            if top == ways.shape[0]:
                return PATH_FULL
            ways[top, 0], ways[top, 1] = nodes[at, NODE_OTHER], length
            top += 1
            at = nodes[at, NODE_BEFORE]
            over = is_over(nodes, at, row, rows.window_end)
        if over:
            continue
        answer = lacks_absent(size - length, length, place, lower, upper, rules, rows, work)
        if answer == HOLDS_NOT:
            continue
        if answer != HOLDS:
            return -answer
        if rules.output == GRAPH:
            nodes[node, NODE_OTHER] = COMPLETES
            continue
        if rules.output == NON_OVERLAPPING:
            keep_better(size - length, length, work)
            continue
        begin = size - length
        status = write_match(path[ROWS, begin:], path[CHOICES, begin:], work, output)
        if status != DONE:
            return status
    return DONE
