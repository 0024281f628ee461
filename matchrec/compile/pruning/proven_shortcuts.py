"""Decide for which plans a shortcut is proven to give the same matches.

A shortcut leaves rows out, or searches a partition in parts. Before it is taken, `find_obstacle`
checks that it is proven for every dependency of the plan: see `dependencies`. If not, the query
runs without it.

Shortcuts fail closed: a test checks that each dependency has an entry in `PROVEN_FOR`, and a
look-up of a dependency without an entry fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from matchrec.automaton.follow_sets import FollowSets
from matchrec.compile.pruning.dependencies import find_dependencies
from matchrec.plan.choices import Dependency
from matchrec.plan.match_plan import MatchPlan


class Shortcut(Enum):
    """A shortcut that leaves rows out or searches a partition in parts: see `shortcuts.Shortcuts`.

    The comment at each member says what the shortcut relies on.
    """

    # Partitions are cut into ranges. All rows from a possible first row of a match to the end of
    # its window are in one range.
    RANGES = "ranges"
    # Partitions are left out. A partition without a row that every match needs has no match.
    PARTITIONS = "partitions"
    # Rows are left out. All rows that satisfy a condition stay, even the condition of an absence.
    ROWS = "rows"
    # A partition is searched in pieces. Rows before the first undecided starting row are dropped:
    # only conditions and measures of their own match read them.
    PIECES = "search_in_pieces"
    # Matches are added up without being built. Runs carry the values that are added up, and each
    # match is identified by its rows.
    TOTALS = "totals"


RANGES, PARTITIONS, ROWS, PIECES, TOTALS = Shortcut

# For each dependency, the shortcuts that are proven for a plan with it.
PROVEN_FOR: Mapping[Dependency, tuple[Shortcut, ...]] = {
    Dependency.UNMATCHED_BETWEEN: (RANGES, PARTITIONS, PIECES, TOTALS),
    Dependency.NEIGHBOURS: (PARTITIONS, PIECES, TOTALS),
    Dependency.ROW_COUNTS: (RANGES, PARTITIONS, PIECES, TOTALS),
    Dependency.POSITIONS: (PARTITIONS,),
    Dependency.ABSENT_BEFORE: (PARTITIONS, ROWS, TOTALS),
    Dependency.ABSENT_BETWEEN: (RANGES, PARTITIONS, ROWS, TOTALS),
    Dependency.ABSENT_AFTER: (RANGES, PARTITIONS, ROWS, TOTALS),
    Dependency.COMPLETED_LATER: (PARTITIONS, ROWS, TOTALS),
    Dependency.EMPTY_MATCHES: (RANGES, PIECES, TOTALS),
    Dependency.PARTITION_EDGES: (PARTITIONS, PIECES, TOTALS),
    Dependency.OVERLAP: (RANGES, PARTITIONS, ROWS, PIECES, TOTALS),
    Dependency.EARLIER_MATCHES: (PARTITIONS, ROWS, PIECES),
    Dependency.UNMATCHED_ROWS: (PIECES,),
    Dependency.PARTIAL_MATCHES: (),
    Dependency.TIMED_OUT: (ROWS,),
}


def find_obstacle(shortcut: Shortcut, plan: MatchPlan, follow: FollowSets) -> str | None:
    """Return why a shortcut may not be taken, as a sentence; None if it may be taken.

    Args:
        shortcut: the shortcut.
        plan: the plan of a query.
        follow: the follow sets of its row pattern.
    """
    for plan_dependency in find_dependencies(plan, follow):
        if shortcut not in PROVEN_FOR[plan_dependency.dependency]:
            return str(plan_dependency)
    return None


def show_table() -> str:
    """Return a Markdown table for the documentation: which shortcuts are proven for what."""
    names = [shortcut.value for shortcut in Shortcut]
    lines = [f"| what a part of a query does | {' | '.join(names)} |"]
    lines.append("|---|" + ":-:|" * len(names))
    for dependency in Dependency:
        marks = (" yes " if shortcut in PROVEN_FOR[dependency] else " " for shortcut in Shortcut)
        lines.append(f"| {dependency.value} |{'|'.join(marks)}|")
    return "\n".join(lines)
