"""The lines between states, as paths of SVG, each with where its text stands."""

from __future__ import annotations

COLUMN, RADIUS = 150, 15  # how far columns are apart at least, how large a state is
Point = tuple[int, int]
Path = tuple[str, int, int]  # and where the label stands


def loop(x: int, y: int) -> Path:
    """A line from a state to itself, above it."""
    up = y - RADIUS
    return f"M{x - 7} {up + 2}C{x - 24} {up - 24} {x + 24} {up - 24} {x + 7} {up + 2}", x, up - 16


def curve(start: Point, end: Point) -> Path:
    """A line to the next column; its label is where few other lines of the two states are."""
    (x, y), (to_x, to_y) = start, end
    middle = (x + to_x) // 2
    path = f"M{x + RADIUS} {y}C{middle} {y} {middle} {to_y} {to_x - RADIUS} {to_y}"
    if to_y > y:
        return path, x + (to_x - x) * 5 // 7, y + (to_y - y) * 5 // 6
    if to_y < y:
        return path, x + (to_x - x) * 2 // 7, y + (to_y - y) * 2 // 9
    return path, middle, y


def passing(start: Point, end: Point, lane: int, column: int) -> Path:
    """A line over columns between, at the height of its lane. column: how far they are apart."""
    (x, y), (to_x, to_y) = start, end
    first, last, half = x + column, to_x - column, column // 2
    to_lane = f"C{x + half} {y} {x + half} {lane} {first} {lane}H{last}"
    to_end = f"C{to_x - half} {lane} {to_x - half} {to_y} {to_x - RADIUS} {to_y}"
    return f"M{x + RADIUS} {y}{to_lane}{to_end}", (first + last) // 2, lane


def going_back(start: Point, end: Point, lane: int) -> Path:
    """A line back, beside the states below the two and under all between them."""
    (x, y), (to_x, to_y) = start, end
    beside, corner, edge = RADIUS + 9, 12, RADIUS * 5 // 7
    right, left = x + beside, to_x - beside
    down = f"M{x + edge} {y + edge}Q{right} {y + beside} {right} {y + 2 * beside}V{lane - corner}"
    across = f"Q{right} {lane} {right - corner} {lane}H{left + corner}"
    across += f"Q{left} {lane} {left} {lane - corner}"
    up = f"V{to_y + 2 * beside}Q{left} {to_y + beside} {to_x - edge} {to_y + edge}"
    return down + across + up, (x + to_x) // 2, lane
