"""The searches for matches whose rows follow each other, by the algorithms that they belong to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from matchrec.engine.contiguous.backtracking import BacktrackingSearch
from matchrec.engine.contiguous.breadth_first import BreadthFirstSearch, PlainBreadthFirstSearch
from matchrec.engine.contiguous.distances import LongestSearch, WindowedSearch
from matchrec.engine.contiguous.search import Search
from matchrec.engine.interface import Task
from matchrec.engine.partitions import Partitions

SEARCHES: Mapping[tuple[str, str], Callable[[Task, Partitions, int], Search]] = {
    ("backtracking", "memoised"): BacktrackingSearch,
    ("backtracking", "plain"): BacktrackingSearch,
    ("backtracking", "windowed"): WindowedSearch,
    ("backtracking", "longest"): LongestSearch,
    ("breadth_first", "merging"): BreadthFirstSearch,
    ("breadth_first", "plain"): PlainBreadthFirstSearch,
    ("breadth_first", "longest"): BreadthFirstSearch,
    ("breadth_first", "longest without merging"): PlainBreadthFirstSearch,
}
"""What begins the search of an algorithm, by its engine and its name."""
