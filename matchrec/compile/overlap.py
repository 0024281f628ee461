"""By how many rows slices of a partition overlap, which is how far a query looks from a match.

Where that has a bound, the starting rows of one partition may be searched in several places at
once, each with the rows of a contiguous slice and those near its ends. Which rows these are may
depend on the matches before: see `engine.slices.starting_rows`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from matchrec.compile.executable import Executable
from matchrec.conditions.row_column import Framed, Shifted
from matchrec.conditions.within import window_columns
from matchrec.engine.choose import choose
from matchrec.engine.compiled import compile_task
from matchrec.engine.skipping import longest_leap
from matchrec.engine.slices.starting_rows import SliceOverlap, SliceSearch
from matchrec.output.reads import ReadMatchNumber
from matchrec.plan.clauses import AfterMatchSkip, SkipTo
from matchrec.plan.match_plan import MatchPlan

LEAPS = 8  # ways from one starting row to the next meet after a few matches


def find_slice_overlap(plan: MatchPlan, executable: Executable) -> SliceOverlap | str:
    """How far a query looks, or the reason why it must have each partition as a whole."""
    lookaround, task = executable.lookaround, executable.task
    if lookaround is None:
        what = "event selection" if task.selects else "a search for runs that are no matches"
        return f"{what} looks at each partition as a whole"
    obstacle = find_obstacle(plan, executable)
    if obstacle is not None:
        return obstacle
    offsets = [0, *find_offsets(executable)]
    before, after = lookaround.before - min(offsets), lookaround.after + max(offsets)
    longest = task.pattern.longest
    leap = longest_leap(plan.after_match, longest)
    if leap != 1 and before and executable.neighbours:
        before += 1  # whether a row is left out depends on the row before it
    has_ends = plan.within is not None and len(set(window_columns(plan))) == 2
    windowed = has_ends or plan.within_rows is not None
    if windowed and not after:
        return SliceOverlap(before, None, 1 if leap == 1 else None, LEAPS)
    if longest is not None:
        return SliceOverlap(before, max(0, longest - 1) + after, leap, LEAPS)
    if windowed:
        return "NEXT looks behind the last row of a window"
    return "a match may have any number of rows, and there is no WITHIN"


def cut_into_slices(executable: Executable, overlap: SliceOverlap) -> Executable:
    """The same over partitions that are slices with such an overlap."""
    every_row = replace(executable.task, after_match=AfterMatchSkip(SkipTo.NEXT_ROW))
    algorithm, _ = choose(every_row, executable.algorithm.engine)
    return replace(executable, sliced=SliceSearch(overlap, every_row, algorithm))


def find_offsets(executable: Executable) -> Iterator[int]:
    """How far from a row Spark reads before the match, where that has a bound."""
    for piece in find_others(executable):
        if isinstance(piece, Shifted):
            yield piece.offset
        else:
            yield from (
                bound for bound in (piece.frame.start, piece.frame.end) if bound is not None
            )


def find_others(executable: Executable) -> Iterator[Shifted | Framed]:
    """What Spark reads before the match on other rows."""
    for column in (*executable.crossing.columns, *executable.conditions):
        yield from (piece for piece in column.pieces if not isinstance(piece, str))


def find_obstacle(plan: MatchPlan, executable: Executable) -> str | None:
    """What makes a starting row depend on more than the rows near it."""
    if not plan.order_by:
        return "there is no ORDER BY"
    frames = [one.frame for one in find_others(executable) if isinstance(one, Framed)]
    if any(None in (frame.start, frame.end) for frame in frames):
        return "a frame of OVER has no bound"
    if executable.task.pattern.has_anchors:
        return "^ or $ ask where a partition begins or ends"
    if plan.rows_per_match.shows_unmatched:
        return "unmatched rows come out, and whether a row is one depends on matches far away"
    compiled = compile_task(executable.task, len(executable.crossing.integers))
    if ReadMatchNumber() in executable.reads or compiled.counts_matches:
        return "MATCH_NUMBER() counts all matches before"
    return None
