"""SQL text with holes for DataFrames."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class View:
    """A hole that a DataFrame fills: a user's frame, or the rows of an evaluated clause."""

    name: str


Template = tuple[str | View, ...]


def template(*pieces: str | View | Template) -> Template:
    """One template of several pieces.

    >>> template("SELECT 1 FROM ", View("t"), template(" WHERE ", "x"))
    ('SELECT 1 FROM ', View(name='t'), ' WHERE ', 'x')
    """
    flat: list[str | View] = []
    for piece in pieces:
        flat.extend(piece if isinstance(piece, tuple) else (piece,))
    return tuple(flat)
