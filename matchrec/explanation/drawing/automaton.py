"""The program as a picture in SVG, which needs no other program and no library."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from html import escape

from matchrec.dataclass import dataclass
from matchrec.explanation.drawing.layout import Layout, Way, lay_out
from matchrec.explanation.drawing.paths import (
    COLUMN,
    RADIUS,
    Path,
    Point,
    curve,
    going_back,
    loop,
    passing,
)
from matchrec.explanation.drawing.repeats import Repeat, find_repeats
from matchrec.nfa.program import Action, Formulas, Program, StateId

MOST_STATES = 80  # in a picture
LANE, MARGIN, TEXT_LINE, CHARACTER = 62, 46, 12, 7.2
LINES = {
    Action.BEGIN: 'stroke-width="1.5"',
    Action.TAKE: 'stroke-width="2.5"',
    Action.IGNORE: 'stroke-width="1.5" stroke-dasharray="6 4"',
    Action.PROCEED: 'stroke-width="1.5" stroke-dasharray="2 3"',
}
TEXT, GREY = "#2b2f36", "#5b6676"
HEAD = (
    '<marker id="matchrec-arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7"'
    ' markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">'
    f'<path d="M0 0L10 5L0 10z" fill="{GREY}"/></marker>'
)


def draw_program(program: Program, formulas: Formulas) -> str:
    """The picture; a sentence instead where the program has too many states for one.

    Lines: begin thin, take thick, ignore dashed, proceed dotted. A number is an edge's place in the
    preferment order, if its state has several. Formulas are shown under the pointer.
    """
    picture = _Picture(program, formulas)
    count = len(picture.nodes)
    return picture.svg() if count <= MOST_STATES else f"<p>{count} states are too many to draw</p>"


@dataclass(frozen=True)
class _Picture:
    program: Program
    formulas: Formulas

    @cached_property
    def nodes(self) -> dict[StateId, int]:
        """Each state that is drawn, of copies the first, and how many it stands for."""
        found: dict[StateId, int] = {}
        for state in range(len(self.program.states)):
            found[self.node(state)] = found.get(self.node(state), 0) + 1
        return found

    def node(self, state: StateId) -> StateId:
        for repeat in self.repeats:
            state = repeat.original(state)
        return state

    @cached_property
    def repeats(self) -> tuple[Repeat, ...]:
        return find_repeats(self.program, self.formulas)

    @cached_property
    def ways(self) -> dict[Way, dict[str, tuple[Action, str]]]:
        """From node to node: the labels of the edges, with action and formula."""
        found: dict[Way, dict[str, tuple[Action, str]]] = {}
        for number, state in enumerate(self.program.states):
            for place, edge in enumerate(state.edges):
                order = f"{place + 1}: " if len(state.edges) > 1 else ""
                label = f"{order}{self.program.label(edge)}"
                way = (self.node(number), self.node(edge.target))
                formula = self.formulas.get((number, place), "")
                found.setdefault(way, {})[label] = (edge.action, formula)
        return found

    @cached_property
    def layout(self) -> Layout:
        return lay_out(list(self.nodes), list(self.ways))

    @cached_property
    def column(self) -> int:
        """How far columns are apart: room for the longest label between two states."""
        longest = max((len(label) for edges in self.ways.values() for label in edges), default=0)
        return max(COLUMN, round(longest * CHARACTER) + 2 * RADIUS)

    @cached_property
    def top(self) -> int:
        """Where the top line is: below all that is said of a loop."""
        loops = (len(edges) for (source, target), edges in self.ways.items() if source == target)
        return MARGIN + TEXT_LINE * max(0, max(loops, default=0) - 1)

    def svg(self) -> str:
        columns = max(column for column, _ in self.layout.places.values())
        every = (*(lane for _, lane in self.layout.places.values()), *self.layout.lanes.values())
        width, height = columns * self.column + 2 * MARGIN, max(every) * LANE + self.top + MARGIN
        parts = [part for way in self.ways for part in self.draw_way(way)]
        parts += [part for node in self.nodes for part in self.draw_node(node)]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            f' font-family="sans-serif" font-size="11" style="background:#ffffff">'
            f"<defs>{HEAD}</defs>{''.join(parts)}</svg>"
        )

    def at(self, node: StateId) -> Point:
        """The centre of a state."""
        column, lane = self.layout.places[node]
        return MARGIN + column * self.column, self.top + lane * LANE

    def draw_node(self, node: StateId) -> Iterator[str]:
        x, y = self.at(node)
        yield circle(x, y, RADIUS)
        if node == self.program.final:
            yield circle(x, y, RADIUS - 3)
        if node == self.program.start:
            yield f'<path d="M{x - 40} {y}H{x - RADIUS}" {LINES[Action.BEGIN]} {ARROW}/>'
        yield label_at(x, y + 4, self.program.named(node))
        if self.nodes[node] > 1:
            yield label_at(x, y + RADIUS + 13, f"{self.nodes[node]} times")

    def draw_way(self, way: Way) -> Iterator[str]:
        """The edges between two states as one line, with their labels."""
        path, x, y = self.path(way)
        edges = self.ways[way]
        action = next(iter(edges.values()))[0]
        said = "\n".join(
            f"{label} if {formula}" if formula else label for label, (_, formula) in edges.items()
        )
        yield f'<path d="{path}" {LINES[action]} {ARROW}><title>{escape(said)}</title></path>'
        for line, label in enumerate(reversed(edges)):
            yield label_at(x, y - 5 - TEXT_LINE * line, label)

    def path(self, way: Way) -> Path:
        """The line between two states, and where its label stands."""
        start, end = map(self.at, way)
        lane = self.top + self.layout.lanes[way] * LANE if way in self.layout.lanes else None
        if way[0] == way[1]:
            return loop(*start)
        if lane is None:
            return curve(start, end)
        return (
            passing(start, end, lane, self.column) if end > start else going_back(start, end, lane)
        )


ARROW = f'fill="none" stroke="{GREY}" marker-end="url(#matchrec-arrow)"'


def circle(x: int, y: int, radius: int) -> str:
    colours = f'fill="#eef3fa" stroke="{GREY}" stroke-width="1.5"'
    return f'<circle cx="{x}" cy="{y}" r="{radius}" {colours}/>'


def label_at(x: int, y: int, text: str) -> str:
    """A text whose middle is at `x`, with a pale edge that keeps it apart from lines."""
    return (
        f'<text x="{x}" y="{y}" text-anchor="middle" fill="{TEXT}" stroke="#ffffff"'
        f' stroke-width="3" paint-order="stroke">{escape(text)}</text>'
    )
