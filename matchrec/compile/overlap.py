"""How far a query looks from the first row of a match: what slices of a partition overlap by.

Where that has a bound, the starting rows of one partition may be searched in several places at
once, each with the rows of a contiguous slice and those near its ends. Which rows these are may
depend on the matches before: see `engine.slices.starting_rows`.
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.compile.executable import Executable
from matchrec.conditions.row_column import Shifted
from matchrec.engine.skipping import longest_leap
from matchrec.engine.slices.starting_rows import Reach
from matchrec.nfa.closure import Folded, fold
from matchrec.nfa.facts import most_rows
from matchrec.output.reads import ReadMatchNumber
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.match_plan import MatchPlan

LEAPS = 8  # ways from one starting row to the next meet after a few matches


def reach(plan: MatchPlan, executable: Executable) -> Reach | str:
    """How far a query looks, or the reason why it must have each partition as a whole."""
    lookaround, task = executable.lookaround, executable.task
    if lookaround is None:
        return "event selection looks at each partition as a whole"
    folded = fold(task.program)
    assert folded is not None
    obstacle = obstacle_of(plan, executable, folded)
    if obstacle is not None:
        return obstacle
    offsets = [0, *(one.offset for one in shifted(executable))]
    before, behind = lookaround.before - min(offsets), lookaround.behind + max(offsets)
    longest = most_rows(folded)
    leap = longest_leap(plan.after_match, longest)
    if leap != 1 and before and executable.neighbours:
        before += 1  # whether a row stays behind depends on the row before it
    if task.windowed and not behind:
        return Reach(before, None, 1 if leap == 1 else None, LEAPS)
    if longest is not None:
        return Reach(before, max(0, longest - 1) + behind, leap, LEAPS)
    if task.windowed:
        return "NEXT looks behind the last row of a window"
    return "a match may have any number of rows, and there is no WITHIN"


def shifted(executable: Executable) -> Iterator[Shifted]:
    """What Spark reads before the match on rows at a fixed distance."""
    for column in (*executable.crossing.columns, *executable.conditions):
        yield from (piece for piece in column.pieces if isinstance(piece, Shifted))


def obstacle_of(plan: MatchPlan, executable: Executable, folded: Folded) -> str | None:
    """What makes a starting row depend on more than the rows near it."""
    if not plan.order_by:
        return "there is no ORDER BY"
    if any(choice.guard for choices in folded for choice in choices):
        return "^ or $ ask where a partition begins or ends"
    if plan.rows_per_match is RowsPerMatch.ALL_ROWS_WITH_UNMATCHED:
        return "unmatched rows come out, and whether a row is one depends on matches far away"
    if ReadMatchNumber() in executable.reads:
        return "MATCH_NUMBER() counts all matches before"
    return None
