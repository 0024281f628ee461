"""Where something was written: a query's text, spans in it, and the picture of a span.

Every syntax node and plan node carries a `Span`; only an error about to be shown needs a `Source`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` up to, not including, `end` of a query's text."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The least span that covers both."""
        return Span(min(self.start, other.start), max(self.end, other.end))

    def holds(self, other: Span) -> bool:
        """Whether all characters of `other` are among these."""
        return self.start <= other.start and other.end <= self.end

    def shifted(self, distance: int) -> Span:
        """The same characters in a text that stands `distance` characters into a larger one."""
        return Span(self.start + distance, self.end + distance)


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a query as its author wrote it.

    >>> print(Source("SELECT 1\\nFROM t").excerpt(Span(14, 15)))
      line 2, column 6
          FROM t
               ^
    """

    text: str

    def at(self, span: Span) -> str:
        """The characters of `span`."""
        return self.text[span.start : span.end]

    def find(self, name: str, span: Span) -> Span:
        """Where `name`, dots and quotes apart, first stands in `span`; `span` where it does not.

        >>> Source("LAST(`dwn` .price)").find("DWN", Span(0, 18))
        Span(start=5, end=10)
        """
        parts = r"\s*[.]\s*".join(rf"`?{re.escape(part)}`?" for part in name.split("."))
        pattern = re.compile(rf"(?<!\w){parts}(?!\w)", re.IGNORECASE)
        found = pattern.search(self.text, span.start, span.end)
        return Span(*found.span()) if found else span

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, both counted from 1."""
        before = self.text[:offset]
        return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1

    def excerpt(self, span: Span) -> str:
        """The line of `span` with carets under it; of a longer span, its first line."""
        line, column = self.position(span.start)
        text = self.text.split("\n")[line - 1].rstrip("\r")
        visible = text.expandtabs(1).rstrip()
        width = max(1, min(span.end - span.start, len(visible) - column + 1))
        indent = len(visible) - len(visible.lstrip())
        caret = " " * (column - 1 - indent) + "^" * width
        return f"  line {line}, column {column}\n      {visible.lstrip()}\n      {caret}"
