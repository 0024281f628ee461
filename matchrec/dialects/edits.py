"""Edits of a text, the way back to the text before them, and notes on what differs.

A translation never builds a new text from nothing. It is a list of edits, so that all else keeps
its layout and comments, and an error about the new text can point at the text that the user wrote.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise

from sqlglot import Token

from matchrec.source import Origin, Source, Span


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of some characters of a text."""

    # The characters that are replaced. An empty span is where `text` is inserted.
    span: Span
    # What replaces them.
    text: str
    # Where the old text says the same, if that is elsewhere; errors about `text` point there.
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
        """The text after the edits."""
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
        """The offset in the new text at which the text of each edit starts."""
        starts = []
        shift = 0
        for edit in self.edits:
            starts.append(edit.span.start + shift)
            shift += len(edit.text) - (edit.span.end - edit.span.start)
        return starts

    def find_old_span(self, span: Span) -> Span:
        """Return the characters of the old text that became `span` in the new text.

        They are for an error to point at, so an empty span becomes the character that follows it.
        If `span` begins or ends inside the text of an edit, the result has everything that the edit
        replaced, or its `origin`.
        """
        first = self._find_old_characters(span.start)
        last = self._find_old_characters(max(span.start, span.end - 1))
        return Span(first.start, max(first.end, last.end))

    def find_old_span_of_edit(self, span: Span) -> Span:
        """Return the characters of the old text to replace for an edit of the new text at `span`.

        They are the same as for `find_old_span`, except for an insertion, whose span is empty: it
        inserts before the character that follows it, or inside the text of an edit, before what
        that edit replaced.

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
        """Return the origin of a character of the new text.

        That is one character of the old text, or the origin of the edit whose text it is part of.
        An offset at the end of the new text counts as one more character there.
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
    """Return the text with edits, which may be in any order but must not overlap."""
    sorted_edits = sorted(edits, key=lambda edit: (edit.span.start, edit.span.end))
    return EditedText(text, tuple(sorted_edits))


@dataclass(frozen=True, slots=True)
class TranslationNote:
    """A difference between a text and its translation, from `Conversion.notes`.

    Attributes:
        message: the difference, in one sentence.
        span: where it is in the text that was translated.
        is_compensated: whether the query still has the same result when it runs here, because
            matchrec makes up for the difference. Then only a reader of the text has to know it.

    >>> halves = "SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A B) DEFINE B AS x < PREV(x) / 2)"
    >>> [note.message for note in matchrec.transpile(halves, write="trino").notes]
    ['the quotient of two integers is an integer in Trino, and has a fraction in Spark SQL']
    """

    message: str
    span: Span
    is_compensated: bool = False

    def show(self, source: Source) -> str:
        """Return the sentence and an excerpt of the source, in several lines."""
        return f"{self.message}\n{source.format_excerpt(self.span)}"


# Finding the edits that turn a text into its translation, token by token.
#
# sqlglot prints a whole new text. Only the tokens in which it differs become edits:
#
#     old   x ::  int  + 1
#     new   CAST ( x AS INT ) + 1     one edit: `x :: int` becomes `CAST(x AS INT)`

# The number of tokens that are kept on each side of a change. Two changes with at most twice as
# many equal tokens between them are one edit.
CONTEXT = 1


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """A text, and all of its tokens or some that follow each other."""

    text: str
    tokens: Sequence[Token]

    def find_anchors(self, anchors: frozenset[str]) -> list[int]:
        """Return the indexes of the tokens that are anchors."""
        return [index for index, token in enumerate(self.tokens) if token.text in anchors]

    def split_at(self, indexes: Sequence[int]) -> list[TokenizedText]:
        """Return the same text with the tokens before, between and after those at the indexes."""
        bounds = pairwise([-1, *indexes, len(self.tokens)])
        return [TokenizedText(self.text, self.tokens[start + 1 : end]) for start, end in bounds]

    def find_span(self, start: int, end: int) -> Span:
        """Return the characters of the tokens from index `start` to `end`.

        If there are no such tokens, the span is empty. It is where tokens would be inserted: right
        behind the token before.
        """
        if end > start:
            return Span(self.tokens[start].start, self.tokens[end - 1].end + 1)
        if start > 0:
            offset = self.tokens[start - 1].end + 1
        elif self.tokens:
            offset = self.tokens[0].start
        else:
            offset = len(self.text)
        return Span(offset, offset)

    def has_blank_before(self, index: int) -> bool:
        """Return whether there is a blank before a token that is not the first one."""
        if not 0 < index < len(self.tokens):
            return False
        return self.text[self.tokens[index].start - 1].isspace()

    def list_comparison_keys(self) -> list[str]:
        """Return the texts by which tokens are compared. Case counts only in quotes."""
        keys = []
        for token in self.tokens:
            text = self.text[token.start : token.end + 1]
            is_quoted = text[:1] in "'\"`"
            keys.append(text if is_quoted else text.upper())
        return keys


def find_edits(old: TokenizedText, new: TokenizedText, anchors: frozenset[str]) -> Iterator[Edit]:
    """Yield the edits that turn `old` into `new`. Differences in layout alone are left out.

    Args:
        old: the text.
        new: its translation.
        anchors: words that occur once in both texts, in the same order. No edit touches them.

    Raises:
        ValueError: the anchors are not the same in both texts, or in another order.
    """
    old_anchors = old.find_anchors(anchors)
    new_anchors = new.find_anchors(anchors)
    old_words = [old.tokens[index].text for index in old_anchors]
    new_words = [new.tokens[index].text for index in new_anchors]
    if old_words != new_words:
        raise ValueError("the translation moves what must stay")
    old_parts = old.split_at(old_anchors)
    new_parts = new.split_at(new_anchors)
    for old_part, new_part in zip(old_parts, new_parts, strict=True):
        yield from _find_edits_between_anchors(old_part, new_part)


def _find_edits_between_anchors(old: TokenizedText, new: TokenizedText) -> Iterator[Edit]:
    """Yield the edits that turn the tokens of `old` into the tokens of `new`."""
    matcher = SequenceMatcher(
        None, old.list_comparison_keys(), new.list_comparison_keys(), autojunk=False
    )
    for group in matcher.get_grouped_opcodes(CONTEXT):
        changes = [opcode for opcode in group if opcode[0] != "equal"]
        _, old_start, _, new_start, _ = changes[0]
        _, _, old_end, _, new_end = changes[-1]
        if new_start == new_end:
            yield _delete_tokens(old, range(old_start, old_end))
        else:
            yield _replace_tokens(old, range(old_start, old_end), new, range(new_start, new_end))


def _delete_tokens(old: TokenizedText, deleted: range) -> Edit:
    """Return the edit that deletes some tokens. It leaves one of two blanks around them."""
    span = old.find_span(deleted.start, deleted.stop)
    blank_precedes = old.text[max(0, span.start - 1) : span.start].isspace()
    blank_follows = old.text[span.end : span.end + 1].isspace()
    return Edit(Span(span.start, span.end + 1) if blank_precedes and blank_follows else span, "")


def _replace_tokens(
    old: TokenizedText, replaced: range, new: TokenizedText, replacing: range
) -> Edit:
    """Return the edit that replaces some tokens of a text by tokens of its translation.

    It has a blank to the tokens before and after it where the translation has one. So `a / b`
    becomes `a / NULLIF(b, 0)`, because the edit inserts `NULLIF(` right before `b`.

    Args:
        old: the text.
        replaced: the indexes of the tokens that are replaced. If there are none, tokens are
            inserted before the one at `replaced.stop`.
        new: the translation.
        replacing: the indexes of the tokens that replace them.
    """
    span = old.find_span(replaced.start, replaced.stop)
    start, end = span.start, span.end
    new_span = new.find_span(replacing.start, replacing.stop)
    text = new.text[new_span.start : new_span.end]
    # After the tokens, add a blank or leave out the one that the text has.
    if new.has_blank_before(replacing.stop):
        if not old.text[end : end + 1].isspace():
            text = f"{text} "
    elif replaced.stop < len(old.tokens) and replacing.stop < len(new.tokens):
        next_start = old.tokens[replaced.stop].start
        if not replaced:
            start = end = next_start  # the blank then stands before what is inserted
        elif old.text[end:next_start].isspace():
            end = next_start
    # The same before the tokens.
    if new.has_blank_before(replacing.start):
        if not old.text[max(0, start - 1) : start].isspace():
            text = f" {text}"
    elif replaced.start > 0 and replacing.start > 0:
        previous_end = old.tokens[replaced.start - 1].end + 1
        if old.text[previous_end:start].isspace():
            start = previous_end
    return Edit(Span(start, end), text)
