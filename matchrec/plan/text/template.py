"""SQL text with holes for DataFrames."""

from __future__ import annotations

from dataclasses import field

from matchrec.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class View:
    """A hole that a DataFrame fills: a user's frame, or the rows of an evaluated clause.

    width: how many characters stood there; a shorter name is padded, so that what follows keeps
    its column.
    """

    name: str
    width: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Instead:
    """Text in the place of other text of the user's, `width` characters of it."""

    text: str
    width: int


Template = tuple[str | View | Instead, ...]


def template(*pieces: str | View | Instead | Template) -> Template:
    """One template of several pieces.

    >>> template("SELECT 1 FROM ", View("t"), template(" WHERE ", "x"))
    ('SELECT 1 FROM ', View(name='t'), ' WHERE ', 'x')
    """
    flat: list[str | View | Instead] = []
    for piece in pieces:
        flat.extend(piece if isinstance(piece, tuple) else (piece,))
    return tuple(flat)
