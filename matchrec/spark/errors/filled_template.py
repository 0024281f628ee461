"""A query text as the engine reads it: a template with a name in each hole.

A name has another length than its hole. To map a position in the engine's text to the user's text,
subtract, for each name before the position, how much longer the name is than its hole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from matchrec.plan.parameters import NAME_PREFIX
from matchrec.plan.templates import Replacement, Template, View
from matchrec.source import Source, Span

# The names that PySpark gives to its temporary views.
PYSPARK_NAME = re.compile(r"_pyspark_(?:connect_temp_view_)?[0-9a-f]{32}")

# The length of such a name over Spark Connect, in characters.
PYSPARK_LENGTH = len("_pyspark_connect_temp_view_") + 32

# The beginning of the name of a clause's hole, which is also the name of the clause in messages.
CLAUSE = "match_recognize"

# The name that a `?` has in the text that the engine reads.
POSITIONAL_PARAMETER = re.compile(rf":{NAME_PREFIX}\d+")

# The sentence in which Spark suggests columns instead of an unknown column.
SUGGESTIONS = re.compile(r" Did you mean one of the following\? \[(?P<names>[^]]*)\]\.")


def fill_piece(piece: str | View | Replacement, names: Mapping[str, str]) -> str | View:
    """Return a piece of a template as the engine reads it. A hole without a name stays a hole.

    Args:
        piece: the piece.
        names: the names of the views in the holes, by the names of the holes.
    """
    if isinstance(piece, Replacement):
        return piece.text
    if isinstance(piece, View) and piece.name in names:
        return names[piece.name].ljust(piece.width)
    return piece


@dataclass(frozen=True)
class FilledTemplate:
    """A template as the engine reads it, and the user's text that it was made from.

    the user's text      SELECT low FROM t MATCH_RECOGNIZE (...)
    the template         `SELECT low FROM `, a hole as wide as `t MATCH_RECOGNIZE (...)`
    the engine's text    SELECT low FROM _pyspark_2717...
    """

    template: Template
    # The names of the views in the holes, by the names of the holes. PySpark fills all other holes.
    names: Mapping[str, str]
    # The user's text.
    source: Source

    @property
    def text(self) -> str:
        """Return the text that the engine reads, with `_` for each character of PySpark's names.

        Positions in this text are the positions that the engine's errors have.
        """
        return "".join(self._fill(piece) for piece in self.template)

    def _fill(self, piece: str | View | Replacement) -> str:
        """Return the text of a piece, with `_` for a name that PySpark will choose."""
        filled = fill_piece(piece, self.names)
        if isinstance(filled, str):
            return filled
        return ("_" * PYSPARK_LENGTH).ljust(filled.width)

    def locate(self, start: int, end: int) -> Span | None:
        """Return the span of the user's text for a range of the engine's text.

        Args:
            start: the offset of the first character of the range.
            end: the offset after its last character.

        Returns:
            The span; None if no part of the user's text became this range.
        """
        span = Span(self._find_user_offset(start), self._find_user_offset(end))
        return span if span.start < span.end <= len(self.source.text) else None

    def _find_user_offset(self, offset: int) -> int:
        """Return the offset in the user's text for an offset in the engine's text.

        An offset within a replacement is mapped to at most the end of the replaced text. An offset
        within the name in a hole is counted from the start of the hole.
        """
        end = 0  # the end of the piece in the engine's text
        excess = 0  # how much longer the engine's text is than the user's before the piece
        for piece in self.template:
            start = end
            length = len(self._fill(piece))
            end = start + length
            if end > offset:
                if isinstance(piece, Replacement):
                    return start - excess + min(offset - start, piece.width)
                break
            if not isinstance(piece, str):
                excess += length - piece.width
        return offset - excess

    def show(self, text: str) -> str:
        """Return a text of the engine with the user's names for views, and `?` for parameters.

        Args:
            text: the text, such as a sentence of an error.
        """
        text = SUGGESTIONS.sub(drop_hidden_names, POSITIONAL_PARAMETER.sub("?", text))
        for hole, name in self.names.items():
            text = text.replace(name, self._find_user_name(hole))
        holes = {piece.name for piece in self.template if isinstance(piece, View)}
        user_name = CLAUSE  # if it is not known which of several holes a name of PySpark is in
        if len(holes) == 1:
            user_name = self._find_user_name(*holes)
        return PYSPARK_NAME.sub(user_name, text)

    @property
    def has_clause(self) -> bool:
        """Return whether the text is the query around a clause."""
        views = (piece.name for piece in self.template if isinstance(piece, View))
        return any(name.startswith(CLAUSE) for name in views)

    def _find_user_name(self, hole: str) -> str:
        """Return what the user calls a hole: the name of a DataFrame in braces, or the clause."""
        return CLAUSE if hole.startswith(CLAUSE) else f"{{{hole}}}"


def drop_hidden_names(suggestions: re.Match[str]) -> str:
    """Return Spark's sentence of suggestions without generated names; "" if no name is left."""
    names = [name for name in suggestions["names"].split(", ") if f"`{NAME_PREFIX}" not in name]
    return suggestions[0].replace(suggestions["names"], ", ".join(names)) if names else ""


def mask_names(text: str) -> str:
    """Return a text with `_` for each character of the names that PySpark has generated."""
    return PYSPARK_NAME.sub(lambda name: "_" * len(name[0]), text)
