"""Where something was written: the text of a query, spans of it, and excerpts for error messages.

Every syntax node and plan node carries a `Span`. Only an error that is about to be shown needs a
`Source` to turn its span into a line, a column and an excerpt. Helpers for text in messages are
here, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.resources import files
from math import inf
from unicodedata import combining, east_asian_width

_REPLACEMENT_CHARACTER = 0xFFFD

# The texts that `replace_control_characters` shows instead of characters.
_PICTURES = {
    # Control characters of ASCII, except newline and tab, have pictures in Unicode.
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    # Control characters beyond ASCII
    **dict.fromkeys(range(0x80, 0xA0), _REPLACEMENT_CHARACTER),
    # Characters that change the direction of writing
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), _REPLACEMENT_CHARACTER),
    # Surrogates: halves of characters, which cannot be encoded
    **dict.fromkeys(range(0xD800, 0xE000), _REPLACEMENT_CHARACTER),
}

# The most characters of a line that an excerpt shows.
WIDTH = 120


@dataclass(frozen=True, slots=True)
class ReadText:
    """The source from which a command has read a text, and what was written there."""

    # The path of the file; None if the text is from the command line or standard input.
    path: str | None
    # The text as its author wrote it: with the names of files instead of the names of their tables.
    # All other characters have the same positions.
    text: str


# The source of each text, by the text that a command runs; None outside a command.
_READ_TEXTS: ContextVar[dict[str, ReadText] | None] = ContextVar("read texts", default=None)


@contextmanager
def use_read_texts() -> Iterator[None]:
    """Let excerpts inside of the `with` statement be as `record_read_text` says."""
    token = _READ_TEXTS.set({})
    try:
        yield
    finally:
        _READ_TEXTS.reset(token)


def record_read_text(text: str, read_text: ReadText) -> None:
    """Record where a text was read. Without effect outside of `use_read_texts`."""
    read_texts = _READ_TEXTS.get()
    if read_texts is not None:
        read_texts[text] = read_text


def replace_control_characters(text: str) -> str:
    """Replace the characters of a text that a terminal would obey instead of showing them.

    The result has as many characters as the text, so that positions in it stay valid.

    >>> replace_control_characters("a\\x1b[2Jb\\x9b\\ud800")
    'a␛[2Jb��'
    """
    return text.translate(_PICTURES)


_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def make_sort_key(keys: str) -> list[tuple[float, str]]:
    """Return the sort key of a text, so that numbers are sorted by value and before other texts.

    Args:
        keys: one text, or several with `, ` between them, which are compared one by one.

    >>> sorted(["10", "9", "x", "-1.5"], key=make_sort_key)
    ['-1.5', '9', '10', 'x']
    """
    texts = keys.split(", ")
    return [(float(text), "") if _NUMBER.fullmatch(text) else (inf, text) for text in texts]


@dataclass(frozen=True, slots=True)
class Span:
    """The characters of a query's text from `start` up to, but not including, `end`."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """Return the smallest span that covers both spans."""
        return Span(min(self.start, other.start), max(self.end, other.end))

    def contains(self, other: Span) -> bool:
        """Return whether all characters of the other span are in this one."""
        return self.start <= other.start and other.end <= self.end

    def shift_by(self, distance: int) -> Span:
        """Return the span in a larger text that contains this text from `distance` on."""
        return Span(self.start + distance, self.end + distance)


@dataclass(frozen=True, slots=True)
class Origin:
    """The text that was translated into another text."""

    source: Source
    # Returns where a span of the translation comes from in `source`.
    find_old_span: Callable[[Span], Span]


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a query: as its author wrote it, or a translation of that text.

    Excerpts and positions of a translation are taken from the author's text.

    >>> print(Source("SELECT 1\\nFROM t").format_excerpt(Span(14, 15)))
      line 2, column 6
          FROM t
               ^
    """

    text: str
    # The text that this one was translated from; None if it is the author's.
    origin: Origin | None = None

    @property
    def author(self) -> Source:
        """The text that the author wrote, before any translation."""
        return self if self.origin is None else self.origin.source.author

    def trace_to_author(self, span: Span) -> tuple[Source, Span]:
        """Return the author's text, and the span of it that a span of this text comes from."""
        if self.origin is None:
            return self, span
        return self.origin.source.trace_to_author(self.origin.find_old_span(span))

    def text_at(self, span: Span) -> str:
        """Return the text at a span."""
        return self.text[span.start : span.end]

    def find(self, name: str, span: Span) -> Span:
        """Return where a name is first written in a span, or the span if it is not.

        Case and quotes do not matter, nor do blanks around the dots of a name.

        >>> Source("LAST(`dwn` .price)").find("DWN", Span(0, 18))
        Span(start=5, end=10)
        """
        parts = r"\s*[.]\s*".join(rf"`?{re.escape(part)}`?" for part in name.split("."))
        pattern = re.compile(rf"(?<!\w){parts}(?!\w)", re.IGNORECASE)
        match = pattern.search(self.text, span.start, span.end)
        return span if match is None else Span(*match.span())

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of a character, both counted from 1."""
        text_before = self.text[:offset]
        line = text_before.count("\n") + 1
        start_of_line = text_before.rfind("\n") + 1
        return line, offset - start_of_line + 1

    def format_excerpt(self, span: Span) -> str:
        """Return the line of a span with carets under the span.

        Of a longer span, the first line is shown. Of a long line, the part around the span is
        shown, with `...` where it is cut. The location names the file if the text is from one:
        `falls.sql:3:21`, as editors and terminals open it.
        """
        if self.origin:
            return self.origin.source.format_excerpt(self.origin.find_old_span(span))
        read_text = (_READ_TEXTS.get() or {}).get(self.text, ReadText(None, self.text))
        span = _cover_file_name(span, self.text, read_text.text)
        line, column = self.position(span.start)
        full_text = read_text.text.split("\n")[line - 1].rstrip().expandtabs(1)
        # Leave out the indentation, but no character of the span.
        indentation = min(len(full_text) - len(full_text.lstrip()), column - 1)
        text = full_text[indentation:]
        # The span in the text of the line. At least one caret is shown, even after its end.
        start = column - 1 - indentation
        end = max(start + 1, min(start + span.end - span.start, len(text)))
        left, right = _choose_window(start, end, len(text))
        dots_before = "..." if left > 0 else ""
        dots_after = "..." if right < len(text) else ""
        shown = f"{dots_before}{text[left:right]}{dots_after}"
        blanks = " " * _count_columns(dots_before + text[left:start].ljust(start - left))
        carets = "^" * max(1, _count_columns(text[start : min(end, right)]))
        path = read_text.path
        location = f"line {line}, column {column}" if path is None else f"{path}:{line}:{column}"
        return f"  {location}\n      {shown}\n      {blanks}{carets}"


def _cover_file_name(span: Span, text: str, written_text: str) -> Span:
    """Return a span that ends with the name of a table, up to the end of the file's name.

    Args:
        span: the span.
        text: the text with names of tables, such as `FROM flights       x`.
        written_text: the same text with names of files, such as `FROM 'flights.csv' x`.

    >>> _cover_file_name(Span(5, 12), "FROM flights       x", "FROM 'flights.csv' x")
    Span(start=5, end=18)
    """
    end = span.end
    while end < len(text) and text[end] == " " and written_text[end] != " ":
        end += 1
    return Span(span.start, end)


def _choose_window(start: int, end: int, length: int) -> tuple[int, int]:
    """Return which characters of a line to show around those from `start` to `end`.

    At most WIDTH characters are shown. A third of them is left for the text around a long span.
    """
    if length <= WIDTH:
        return 0, length
    margin = max(WIDTH - (end - start), WIDTH // 3) // 2
    left = max(0, min(start - margin, length - WIDTH))
    return left, left + WIDTH


def _count_columns(text: str) -> int:
    """Return how many columns a text takes up in a terminal.

    Wide characters take up two columns, and combining characters none.
    """
    columns = 0
    for character in text:
        if not combining(character):
            columns += 2 if east_asian_width(character) in ("W", "F") else 1
    return columns


def read_table(package: str, name: str) -> Iterator[list[str]]:
    """Yield the rows of a table that is a text file of a package.

    Each line is a row of cells with ` | ` between them. Empty lines and lines that begin with `#`
    are skipped.

    Args:
        package: the name of the package.
        name: the name of the file.

    >>> next(read_table("matchrec.errors.sql", "foreign_names.txt"))
    ['CAST(s AS BOOLEAN)', 'TO_BOOLEAN']
    """
    for line in files(package).joinpath(name).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield [cell.strip() for cell in re.split(r" \|(?= |$)", line)]
