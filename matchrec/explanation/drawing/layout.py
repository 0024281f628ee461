"""Where the states of a program are drawn: columns from left to right, lanes from top to bottom.

A state stands right of all that lead to it, but for edges that go back. States are numbered in an
order in which preferred ways come first, and each takes the first free lane: the preferred way is
the top line. An edge over several columns has a lane of its own between them,
one that goes back below all that it passes. Cost: O(edges x columns).

Source: Sugiyama, Tagawa, Toda, "Methods for visual understanding of hierarchical system
structures", its layers. Crossings need no search here, for which see `order_states`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import field

from matchrec.dataclass import dataclass

Way = tuple[int, int]  # from node to node


@dataclass(frozen=True, slots=True)
class Layout:
    """The column and the lane of each node, and the lane of each way that passes other columns."""

    places: dict[int, tuple[int, int]]
    lanes: dict[Way, int]


def lay_out(nodes: Sequence[int], ways: Sequence[Way]) -> Layout:
    """Places of nodes that are numbered so that few ways lead to a smaller number.

    ways: of each node in preferment order. The lane of its first one is taken at once, that of any
    other when all between the two nodes have their places.
    """
    columns = find_columns(nodes, ways)
    long = [way for way in ways if columns[way[1]] > columns[way[0]] + 1]
    first = {source: (source, target) for source, target in reversed(ways)}
    used = _Used()
    places: dict[int, tuple[int, int]] = {}
    lanes: dict[Way, int] = {}
    for node in nodes:
        arriving = [way for way in long if way[1] == node and way not in lanes]
        lanes |= {way: used.between(columns, way) for way in arriving}
        places[node] = (columns[node], used.take(range(columns[node], columns[node] + 1)))
        if first.get(node) in long:
            lanes[first[node]] = used.between(columns, first[node])
    back = [way for way in ways if way[1] < way[0]]
    lanes |= {way: used.take(range(columns[way[1]], columns[way[0]] + 1)) for way in back}
    return Layout(places, lanes)


def find_columns(nodes: Sequence[int], ways: Sequence[Way]) -> dict[int, int]:
    """The column of each node: one more than the last of those with a way to it."""
    columns = dict.fromkeys(nodes, 0)
    for source, target in sorted(ways):
        if target > source:
            columns[target] = max(columns[target], columns[source] + 1)
    return columns


@dataclass(frozen=True, slots=True)
class _Used:
    """The next free lane of each column."""

    lanes: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))

    def between(self, columns: dict[int, int], way: Way) -> int:
        """A lane in all columns that a way passes."""
        return self.take(range(columns[way[0]] + 1, columns[way[1]]))

    def take(self, columns: range) -> int:
        """The first lane that is free in all of these columns, and below all that is in them."""
        lane = max(self.lanes[column] for column in columns)
        for column in columns:
            self.lanes[column] = lane + 1
        return lane
