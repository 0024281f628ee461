"""SQL text with holes for DataFrames."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class View:
    """A hole that a DataFrame fills: a user's frame, or the rows of an evaluated clause.

    width: how many characters stood there; a shorter name is padded, so that what follows keeps
    its column.
    """

    name: str
    width: int = field(default=0, compare=False, repr=False)


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
