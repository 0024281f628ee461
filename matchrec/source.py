"""Where something was written: a query's text, spans in it, and the picture of a span.

Every syntax node and plan node carries a `Span`; only an error about to be shown needs a `Source`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from math import inf
from unicodedata import combining, east_asian_width

_CONTROLS = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
}
WIDTH = 120  # characters of a line that an excerpt shows


def printable(text: str) -> str:
    """A text that a terminal shows and does not obey, with as many characters.

    Controls are Unicode's pictures of them, but for newlines and tabs; those beyond ASCII, those
    that turn the direction of writing, and halves of characters are the replacement character.

    >>> printable("a\\x1b[2Jb\\x9b\\ud800")
    'a␛[2Jb��'
    """
    return text.translate(_CONTROLS)


def by_number(keys: str) -> list[tuple[float, str]]:
    """What sorts keys, listed with commas between them: numbers by their values, before others.

    >>> sorted(["10", "9", "x", "-1.5"], key=by_number)
    ['-1.5', '9', '10', 'x']
    """
    texts = keys.split(", ")
    return [(float(text), "") if _NUMBER.fullmatch(text) else (inf, text) for text in texts]


_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def counted(number: int, thing: str, things: str | None = None) -> str:
    """A number of things.

    >>> counted(0, "value"), counted(1, "value"), counted(2000, "match", "matches")
    ('0 values', '1 value', '2,000 matches')
    """
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` up to, not including, `end` of a query's text."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The least span that covers both."""
        return Span(min(self.start, other.start), max(self.end, other.end))

    def holds(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end

    def shifted(self, distance: int) -> Span:
        """The span in a larger text, into which this one stands `distance` characters."""
        return Span(self.start + distance, self.end + distance)


@dataclass(frozen=True, slots=True)
class Origin:
    """The text that was translated into another one. before: where a span of that one was."""

    source: Source
    before: Callable[[Span], Span]


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a query as its author wrote it, or what it was translated into.

    origin: what its author wrote, where that is another text; excerpts are of that.

    >>> print(Source("SELECT 1\\nFROM t").excerpt(Span(14, 15)))
      line 2, column 6
          FROM t
               ^
    """

    text: str
    origin: Origin | None = None

    @property
    def author(self) -> Source:
        """The text that its author wrote, before any translation."""
        return self if self.origin is None else self.origin.source.author

    def written(self, span: Span) -> tuple[Source, Span]:
        """The author's text and place for a span of this one."""
        if self.origin is None:
            return self, span
        return self.origin.source.written(self.origin.before(span))

    def at(self, span: Span) -> str:
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
        """The first line of `span`, or what is around it in a long one, with carets under it."""
        if self.origin:
            return self.origin.source.excerpt(self.origin.before(span))
        line, column = self.position(span.start)
        text = self.text.split("\n")[line - 1].rstrip().expandtabs(1)
        indent = min(len(text) - len(text.lstrip()), column - 1)
        text, start = text[indent:], column - 1 - indent
        end = max(start + 1, min(start + span.end - span.start, len(text)))
        left, right = 0, len(text)
        if right > WIDTH:
            beside = max(WIDTH - (end - start), WIDTH // 3) // 2
            left = max(0, min(start - beside, len(text) - WIDTH))
            right = left + WIDTH
        before, after = "..." * (left > 0), "..." * (right < len(text))
        space = " " * _columns(before + text[left:start].ljust(start - left))
        caret = "^" * max(1, _columns(text[start : min(end, right)]))
        shown = f"{before}{text[left:right]}{after}"
        return f"  line {line}, column {column}\n      {shown}\n      {space}{caret}"


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes up: wide characters two, combining ones none."""
    return sum(
        0 if combining(one) else 2 if east_asian_width(one) in ("W", "F") else 1 for one in text
    )


def read_table(package: str, name: str) -> Iterator[list[str]]:
    """The rows of a table that a package has as text: lines of cells with ` | ` between them.

    Empty lines and those that begin with `#` are no rows.

    >>> next(read_table("matchrec.errors.sql", "foreign_names.txt"))
    ['CAST(s AS BOOLEAN)', 'TO_BOOLEAN']
    """
    for line in files(package).joinpath(name).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield [cell.strip() for cell in re.split(r" \|(?= |$)", line)]
