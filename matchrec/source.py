"""Where something was written: the text of a query, spans of it, and excerpts for error messages.

Every syntax node and plan node has a `Span`. Only an error that is about to be shown needs a
`Source`, which turns the span into a line, a column and an excerpt.

`errors` may import no other module of the package, so functions that it shares with other packages
are here, too: `replace_control_characters`, `make_sort_key` and `read_package_table`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from importlib.resources import files
from math import inf
from unicodedata import combining, east_asian_width

_REPLACEMENT_CHARACTER = 0xFFFD

# The characters that `replace_control_characters` shows instead of others; both as code points.
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

# The sign before and after the heading of a section: see `write_section`. No query has it.
_HEADING_SIGN = "\x1d"
_HEADING = re.compile(f"{_HEADING_SIGN}([^{_HEADING_SIGN}]*){_HEADING_SIGN}")

# The largest number of characters of a line that an excerpt shows.
WIDTH = 120


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text that a command has read: where it was written, and how."""

    # The path of the file; None if the text is from the command line or standard input.
    path: str | None
    # The text as its author wrote it, with names of files, as in `FROM 'flights.csv'`. The text
    # that runs has names of tables instead. All other characters have the same positions in both.
    text: str


# What a command has read, by the text that it runs; None outside of `use_read_texts`.
_READ_TEXTS: ContextVar[dict[str, ReadText] | None] = ContextVar("read texts", default=None)


@contextmanager
def use_read_texts() -> Iterator[None]:
    """Record texts inside the `with` block, so that excerpts show what their authors wrote."""
    token = _READ_TEXTS.set({})
    try:
        yield
    finally:
        _READ_TEXTS.reset(token)


def record_read_text(text: str, read_text: ReadText) -> None:
    """Record where and how a text was written. Does nothing outside of `use_read_texts`.

    Args:
        text: the text that the command runs.
        read_text: the text as it was read.
    """
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


def write_section(heading: str) -> str:
    """Return the beginning of a section of a text that is made from several texts of the user.

    Positions in the section are counted from its own first character, and an excerpt shows the
    heading. The heading is a part of the text, because some errors get only the text of a query.

    >>> source = Source(f"{write_section('where()')}x > 1\\n{write_section('until()')}y > 2\\n")
    >>> print(source.format_excerpt(source.find_name("y", Span(0, len(source.text)))))
      until(), line 1, column 1
          y > 2
          ^
    """
    return f"{_HEADING_SIGN}{heading}{_HEADING_SIGN}"


_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def make_sort_key(text: str) -> list[tuple[float, str]]:
    """Return the sort key of a text, so that numbers are sorted by value and before other texts.

    >>> sorted(["10", "9", "x", "-1.5"], key=make_sort_key)
    ['-1.5', '9', '10', 'x']
    >>> sorted(["b, 10", "a, 2", "b, 9"], key=make_sort_key)
    ['a, 2', 'b, 9', 'b, 10']

    Args:
        text: one value, or several with `, ` between them, which are compared one by one.
    """
    values = text.split(", ")
    return [(float(value), "") if _NUMBER.fullmatch(value) else (inf, value) for value in values]


@dataclass(frozen=True, slots=True)
class Span:
    """The characters of a query's text from `start` up to, but not including, `end`, from 0."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """Return the smallest span that covers both spans."""
        return Span(min(self.start, other.start), max(self.end, other.end))

    def contains(self, other: Span) -> bool:
        """Return whether all characters of the other span are in this one."""
        return self.start <= other.start and other.end <= self.end

    def shift_by(self, distance: int) -> Span:
        """Return the span in a larger text, in which the span's text begins at index `distance`."""
        return Span(self.start + distance, self.end + distance)


@dataclass(frozen=True, slots=True)
class Origin:
    """The text from which another text was translated."""

    # The text before the translation.
    source: Source
    # Returns the span of `source` from which a span of the translation comes.
    find_old_span: Callable[[Span], Span]


@dataclass(frozen=True, slots=True)
class TextSection:
    """A part of a text that the user wrote as a separate text: see `write_section`."""

    # Empty if the whole text is one section.
    heading: str
    start: int
    end: int


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
        """Return the text that the author wrote, before any translation."""
        return self if self.origin is None else self.origin.source.author

    def trace_to_author(self, span: Span) -> tuple[Source, Span]:
        """Return the author's text, and the span of it that a span of this text comes from."""
        if self.origin is None:
            return self, span
        return self.origin.source.trace_to_author(self.origin.find_old_span(span))

    def text_at(self, span: Span) -> str:
        """Return the text at a span."""
        return self.text[span.start : span.end]

    def find_name(self, name: str, span: Span) -> Span:
        """Return where a name is first written in a span; the span itself if the name is not there.

        Case and quotes do not matter, nor do blanks around the dots of a name.

        >>> Source("LAST(`dwn` .price)").find_name("DWN", Span(0, 18))
        Span(start=5, end=10)
        """
        parts = r"\s*[.]\s*".join(rf"`?{re.escape(part)}`?" for part in name.split("."))
        pattern = re.compile(rf"(?<!\w){parts}(?!\w)", re.IGNORECASE)
        match = pattern.search(self.text, span.start, span.end)
        return span if match is None else Span(*match.span())

    def find_section(self, index: int) -> TextSection:
        """Return the section that has the character at an index; a query is one section."""
        headings = list(_HEADING.finditer(self.text)) if self.text.startswith(_HEADING_SIGN) else []
        section = TextSection("", 0, len(self.text))
        for heading in headings:
            if heading.end() > index:
                return replace(section, end=heading.start())
            section = TextSection(heading[1], heading.end(), len(self.text))
        return section

    def find_position(self, index: int) -> tuple[int, int]:
        """Return the line and the column of a character, both counted from 1.

        Args:
            index: the index of the character in the text, from 0.
        """
        section = self.find_section(index)
        index -= section.start
        text_before = self.text[section.start :][:index]
        line = text_before.count("\n") + 1
        start_of_line = text_before.rfind("\n") + 1
        return line, index - start_of_line + 1

    def format_excerpt(self, span: Span) -> str:
        """Return the line of a span with carets under the span.

        If the span has several lines, its first line is shown. If the line is long, the part around
        the span is shown, with `...` where the line is cut. If the text is from a file, the
        location names the file, as in `falls.sql:3:21`, which editors and terminals can open.
        """
        if self.origin:
            return self.origin.source.format_excerpt(self.origin.find_old_span(span))
        read_text = (_READ_TEXTS.get() or {}).get(self.text, ReadText(None, self.text))
        span = _cover_file_name(span, self.text, read_text.text)
        line, column = self.find_position(span.start)
        section = self.find_section(span.start)
        lines = read_text.text[section.start : section.end].split("\n")
        line_text = lines[line - 1].rstrip().expandtabs(1)
        shown_text, carets = _draw_carets(line_text, column - 1, span.end - span.start)
        path = read_text.path
        location = f"line {line}, column {column}" if path is None else f"{path}:{line}:{column}"
        if section.heading:
            location = f"{section.heading}, {location}"
        return f"  {location}\n      {shown_text}\n      {carets}"


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


def _draw_carets(line_text: str, start: int, length: int) -> tuple[str, str]:
    """Return the part of a line that an excerpt shows, and the carets to print below it.

    >>> _draw_carets("    FROM t", 9, 1)
    ('FROM t', '     ^')

    Args:
        line_text: the line, in which a tab has been replaced by one blank.
        start: the index in the line at which the span begins. It may be after the end of the line.
        length: the number of characters of the span, which may continue on the next line.
    """
    # Leave out the indentation, but no character of the span.
    indentation = min(len(line_text) - len(line_text.lstrip()), start)
    text = line_text[indentation:]
    start -= indentation
    # At least one caret is shown, even after the end of the line.
    end = max(start + 1, min(start + length, len(text)))
    left, right = _choose_window(start, end, len(text))
    dots_before = "..." if left > 0 else ""
    dots_after = "..." if right < len(text) else ""
    blanks = " " * _count_columns(dots_before + text[left:start].ljust(start - left))
    carets = "^" * max(1, _count_columns(text[start : min(end, right)]))
    return f"{dots_before}{text[left:right]}{dots_after}", f"{blanks}{carets}"


def _choose_window(start: int, end: int, length: int) -> tuple[int, int]:
    """Return the begin and the end of the part of a line to show around a span.

    At most WIDTH characters are shown. A third of them is left for the text around a long span.

    Args:
        start: the index at which the span begins.
        end: the index after the span.
        length: the number of characters of the line.
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


def read_package_table(package: str, name: str) -> Iterator[list[str]]:
    """Yield the rows of a table that is a text file of a package.

    Each line is a row of cells with ` | ` between them. Empty lines and lines that begin with `#`
    are skipped.

    Args:
        package: the name of the package.
        name: the name of the file.

    >>> next(read_package_table("matchrec.errors.sql", "foreign_names.txt"))
    ['CAST(s AS BOOLEAN)', 'TO_BOOLEAN']
    """
    for line in files(package).joinpath(name).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield [cell.strip() for cell in re.split(r" \|(?= |$)", line)]
