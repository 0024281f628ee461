"""Edits of a text, the way back to the text before them, and notes on what differs.

A translation is a list of edits, and never a new text. So the text between the edits keeps its
layout and its comments, and an error about the new text can point at the text that the user wrote.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from matchrec.public_names import public
from matchrec.source import Origin, Source, Span


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of some characters of a text."""

    # The characters of the old text that are replaced. At an empty span, `text` is inserted.
    span: Span
    # The text that replaces these characters.
    text: str
    # The characters of the old text to which errors about `text` point; None: the text at `span`.
    # If the edit moves text that another edit deletes, these are the deleted characters.
    origin: Span | None = None


@dataclass(frozen=True)
class EditedText:
    """A text with edits.

    >>> edited = EditedText("SELECT a::int FROM t", (Edit(Span(7, 13), "CAST(a AS INT)"),))
    >>> edited.text
    'SELECT CAST(a AS INT) FROM t'
    >>> edited.find_old_span(Span(27, 28))
    Span(start=19, end=20)
    """

    # The text before the edits.
    old_text: str
    # The edits, in the order of the text. They do not overlap.
    edits: tuple[Edit, ...]

    def make_source(self, old_source: Source) -> Source:
        """Return the new text as a source whose errors show the old text.

        Args:
            old_source: the source of the old text.
        """
        return Source(self.text, Origin(old_source, self.find_old_span))

    @cached_property
    def text(self) -> str:
        """Return the text after the edits."""
        pieces = []
        end = 0
        for edit in self.edits:
            pieces.append(self.old_text[end : edit.span.start])
            pieces.append(edit.text)
            end = edit.span.end
        pieces.append(self.old_text[end:])
        return "".join(pieces)

    @cached_property
    def _starts(self) -> list[int]:
        """Return the offset in the new text at which the text of each edit starts."""
        starts = []
        shift = 0
        for edit in self.edits:
            starts.append(edit.span.start + shift)
            shift += len(edit.text) - (edit.span.end - edit.span.start)
        return starts

    def find_old_span(self, span: Span) -> Span:
        """Return the characters of the old text that became `span` in the new text.

        An error points at these characters, so an empty span becomes the character that follows it.
        If `span` begins or ends inside the text of an edit, the result has everything that the edit
        replaced, or its `origin`.
        """
        first = self._find_old_characters(span.start)
        last = self._find_old_characters(max(span.start, span.end - 1))
        return Span(first.start, max(first.end, last.end))

    def find_old_span_of_edit(self, span: Span) -> Span:
        """Return the characters of the old text to replace for an edit of the new text at `span`.

        The result is the same as from `find_old_span`, unless `span` is empty, because the edit
        inserts text. Then the result is empty as well, right before the character that follows the
        insertion. An insertion inside the text of an earlier edit goes before the text which that
        edit has replaced.

        >>> edited = EditedText("SELECT a::int FROM t", (Edit(Span(7, 13), "CAST(a AS INT)"),))
        >>> edited.find_old_span_of_edit(Span(22, 22)), edited.find_old_span(Span(22, 22))
        (Span(start=14, end=14), Span(start=14, end=15))
        """
        is_insertion = span.start == span.end
        if not is_insertion:
            return self.find_old_span(span)
        start = self._find_old_characters(span.start).start
        return Span(start, start)

    def _find_old_characters(self, offset: int) -> Span:
        """Return the characters of the old text that became the character at an offset.

        For a character in the text of an edit, the result is the `origin` of the edit, or else its
        span. For any other character, the result is the same character in the old text. The end of
        the new text counts as one more character.
        """
        index = bisect_right(self._starts, offset) - 1
        if index < 0:
            return Span(offset, offset + 1)
        edit = self.edits[index]
        end = self._starts[index] + len(edit.text)
        if offset < end:
            return edit.origin or edit.span
        old_offset = edit.span.end + offset - end
        return Span(old_offset, old_offset + 1)


def apply_edits(text: str, edits: Iterable[Edit]) -> EditedText:
    """Return the text with edits, which may be in any order but must not overlap.

    Insertions at the same offset keep their order.
    """
    sorted_edits = sorted(edits, key=lambda edit: (edit.span.start, edit.span.end))
    return EditedText(text, tuple(sorted_edits))


def insert_part(text: str, start: int, part: str, origin: Span | None = None) -> Edit:
    """Return the edit that inserts a part of a clause before another part.

    If the other part begins a line, the inserted part gets a line with the same indent.

    >>> insert_part("ORDER BY ts\\n  PATTERN (A)", 14, "ONE ROW PER MATCH").text
    'ONE ROW PER MATCH\\n  '
    >>> insert_part("ORDER BY ts PATTERN (A)", 12, "ONE ROW PER MATCH").text
    'ONE ROW PER MATCH '

    Args:
        text: the text.
        start: the offset at which the other part begins.
        part: the part to insert.
        origin: the origin of the edit.
    """
    before = text[text.rfind("\n", 0, start) + 1 : start]
    separator = " " if before.strip() else f"\n{before}"
    return Edit(Span(start, start), part + separator, origin)


def remove_part(text: str, span: Span) -> Edit:
    """Return the edit that removes a part of a clause or query, and the blanks next to it.

    If nothing else is in its line, the edit removes the line.

    >>> line = "ORDER BY ts\\n  LIMIT DURATION (day, 1)\\n  PATTERN (A)"
    >>> apply_edits(line, [remove_part(line, Span(14, 37))]).text
    'ORDER BY ts\\n  PATTERN (A)'
    >>> words = "FROM ticks TIMESTAMP BY ts MATCH_RECOGNIZE"
    >>> apply_edits(words, [remove_part(words, Span(11, 26))]).text
    'FROM ticks MATCH_RECOGNIZE'
    """
    line_start = text.rfind("\n", 0, span.start) + 1
    line_end = text.find("\n", span.end)
    if line_end < 0:
        line_end = len(text)
    before = text[line_start : span.start]
    after = text[span.end : line_end]
    if not after.strip():
        if not before.strip():
            return Edit(Span(line_start, min(line_end + 1, len(text))), "")
        return Edit(Span(line_start + len(before.rstrip()), span.end), "")
    if not before or before[-1].isspace():
        return Edit(Span(span.start, line_end - len(after.lstrip())), "")
    return Edit(span, "")


@public
@dataclass(frozen=True, match_args=False)
class TranslationNote:
    """A difference between a text and its translation, as in `Conversion.notes`.

    Attributes:
        message: the difference, in one sentence.
        span: where it is in the text that was translated.
        is_compensated: whether matchrec returns the result of the product in spite of the
            difference, if it runs the query with `dialect=`. Then nothing has to be changed.
        is_rejected: whether the documentation of the product excludes this part of the text, so
            that the query can be an error there.

    >>> halves = "SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A B) DEFINE B AS x < PREV(x) / 2)"
    >>> [note.message for note in matchrec.transpile(halves, write="trino").notes]
    ['the quotient of two integers is an integer in Trino, and has a fraction in Spark SQL']
    """

    message: str
    span: Span
    is_compensated: bool = False
    is_rejected: bool = False

    def show(self, source: Source) -> str:
        """Return the message and an excerpt of the source, in several lines.

        Args:
            source: the text that was translated.
        """
        return f"{self.message}\n{source.format_excerpt(self.span)}"
