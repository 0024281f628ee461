"""Edits of a text, and the way back: where in the text before them a place of the new text is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property

from matchrec.dataclass import dataclass
from matchrec.source import Span


@dataclass(frozen=True, slots=True)
class Edit:
    """The characters of `span` give way to `text`; an empty span is where it is inserted."""

    span: Span
    text: str


@dataclass(frozen=True)
class Edited:
    """A text with edits, which do not overlap and come in the order of the text.

    >>> edited = Edited("SELECT a::int FROM t", (Edit(Span(7, 13), "CAST(a AS INT)"),))
    >>> edited.text
    'SELECT CAST(a AS INT) FROM t'
    >>> edited.before(Span(27, 28))
    Span(start=19, end=20)
    """

    original: str
    edits: tuple[Edit, ...]

    @cached_property
    def text(self) -> str:
        """The text after the edits."""
        parts, at = [], 0
        for edit in self.edits:
            parts += [self.original[at : edit.span.start], edit.text]
            at = edit.span.end
        return "".join([*parts, self.original[at:]])

    @cached_property
    def _starts(self) -> list[int]:
        """Where the text of each edit starts in the new text."""
        starts, shift = [], 0
        for edit in self.edits:
            starts.append(edit.span.start + shift)
            shift += len(edit.text) - (edit.span.end - edit.span.start)
        return starts

    def before(self, span: Span) -> Span:
        """The characters of the original text that became those of `span` in the new one.

        Of a part of an edit, all that the edit replaced.
        """
        start = self._place(span.start)
        last = self._place(max(span.start, span.end - 1))
        return Span(start.start, max(start.end, last.end))

    def _place(self, at: int) -> Span:
        """The original character for a new one, or the span of the edit that it comes from."""
        index = bisect_right(self._starts, at) - 1
        if index < 0:
            return Span(at, at + 1)
        edit, start = self.edits[index], self._starts[index]
        if at < start + len(edit.text):
            return edit.span
        place = edit.span.end + at - start - len(edit.text)
        return Span(place, place + 1)

    def composed(self, others: Iterable[Edit]) -> tuple[Edit, ...]:
        """Edits of the new text as edits of the original one; those of this text are undone."""
        return tuple(Edit(self._original_span(one.span), one.text) for one in others)

    def _original_span(self, span: Span) -> Span:
        if span.start == span.end:
            place = self._place(span.start)
            return Span(place.start, place.start)
        return self.before(span)


@dataclass(frozen=True)
class EditedTwice:
    """A text with edits, and edits of that text."""

    first: Edited
    second: Edited

    @property
    def original(self) -> str:
        """The text before all edits."""
        return self.first.original

    @property
    def text(self) -> str:
        """The text after all edits."""
        return self.second.text

    def before(self, span: Span) -> Span:
        """See `Edited.before`."""
        return self.first.before(self.second.before(span))


def edited(text: str, edits: Iterable[Edit]) -> Edited:
    """The text with edits, in any order."""
    return Edited(text, tuple(sorted(edits, key=lambda one: (one.span.start, one.span.end))))
