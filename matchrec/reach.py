"""How far a query looks from the first row of a match: what slices of a partition overlap by.

Where that has a bound, the starting rows of one partition may be searched in several places at
once, each with the rows of a contiguous slice and those near its ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from matchrec.executable import Executable
from matchrec.nfa.closure import Folded, fold
from matchrec.nfa.facts import most_rows
from matchrec.output.reads import ReadMatchNumber
from matchrec.plan.clauses import RowsPerMatch, SkipTo
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.row_column import Shifted


@dataclass(frozen=True, slots=True)
class Reach:
    """before: how many rows in front of a match's first row may be read.

    behind: how many rows behind its first row; None where its window is the bound.
    """

    before: int
    behind: int | None


def reach(plan: MatchPlan, executable: Executable) -> Reach | str:
    """How far a query looks, or the reason why it must have each partition as a whole."""
    sight, task = executable.sight, executable.task
    if sight is None:
        return "event selection looks at each partition as a whole"
    folded = fold(task.program)
    assert folded is not None
    obstacle = obstacle_of(plan, executable, folded)
    if obstacle is not None:
        return obstacle
    offsets = [0, *(one.offset for one in shifted(executable))]
    before, behind = sight.before - min(offsets), sight.behind + max(offsets)
    longest = most_rows(folded)
    if task.windowed and not behind:
        return Reach(before, None)
    if longest is not None:
        return Reach(before, max(0, longest - 1) + behind)
    if task.windowed:
        return "NEXT looks behind the last row of a window"
    return "a match may have any number of rows, and there is no WITHIN"


def shifted(executable: Executable) -> Iterator[Shifted]:
    """What Spark reads before the match on rows at a fixed distance."""
    for column in (*executable.columns, *executable.conditions):
        yield from (piece for piece in column.pieces if isinstance(piece, Shifted))


def obstacle_of(plan: MatchPlan, executable: Executable, folded: Folded) -> str | None:
    """What makes a starting row depend on more than the rows near it."""
    if not plan.order_by:
        return "there is no ORDER BY"
    if any(choice.guard for choices in folded for choice in choices):
        return "^ or $ ask where a partition begins or ends"
    if plan.rows_per_match is RowsPerMatch.ALL_ROWS_WITH_UNMATCHED:
        return "unmatched rows come out, and whether a row is one depends on matches far away"
    if plan.after_match.to is not SkipTo.NEXT_ROW:
        return "which rows start a match depends on all matches before"
    if ReadMatchNumber() in executable.reads:
        return "MATCH_NUMBER() counts all matches before"
    return None
