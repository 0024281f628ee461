"""Find the edits that turn a text into its translation, token by token.

sqlglot prints a whole new text. Only the tokens in which it differs become edits:

    old   x ::  int  + 1
    new   CAST ( x AS INT ) + 1     one edit: `x :: int` becomes `CAST(x AS INT)`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from sqlglot import Token

from matchrec.dialects.edits import Edit
from matchrec.source import Span

# How many equal tokens `SequenceMatcher` keeps on each side of a change. If the kept tokens of two
# changes touch, the changes are one edit. So an edit can contain up to twice as many equal tokens.
CONTEXT_TOKENS = 1


class MovedAnchorsError(Exception):
    """A translation has the anchors of `find_edits` in another order, or lacks some of them."""


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """A text, and all of its tokens or some that follow each other."""

    # The whole text.
    text: str
    # sqlglot's tokens of the whole text or of a part of it, in order. The `end` of such a token is
    # the offset of its last character, and not the offset after it.
    tokens: Sequence[Token]

    def find_anchors(self, anchors: frozenset[str]) -> list[int]:
        """Return the indices of the tokens whose text is one of the anchors, see `find_edits`."""
        return [index for index, token in enumerate(self.tokens) if token.text in anchors]

    def split_at(self, indices: Sequence[int]) -> list[TokenizedText]:
        """Return the sections of tokens before, between and after the tokens at some indices.

        Each section has the whole text. There is one more section than indices.
        """
        bounds = pairwise([-1, *indices, len(self.tokens)])
        return [TokenizedText(self.text, self.tokens[start + 1 : end]) for start, end in bounds]

    def find_span(self, start: int, end: int) -> Span:
        """Return the characters of the tokens from index `start` to `end`.

        If `start` equals `end`, the span is empty. Tokens would be inserted there: right after the
        token before `start`.
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
        """Return whether there is a blank before a token. False for the first token and outside."""
        if not 0 < index < len(self.tokens):
            return False
        return self.text[self.tokens[index].start - 1].isspace()

    def is_joined(self, index: int) -> bool:
        """Return whether a token directly follows the token before it, without a blank."""
        return 0 < index < len(self.tokens) and not self.has_blank_before(index)

    def is_blank(self, offset: int) -> bool:
        """Return whether the text has a blank at an offset, which may be outside of the text."""
        return 0 <= offset < len(self.text) and self.text[offset].isspace()

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

    The edits have spans of `old.text`.

    Args:
        old: the text.
        new: its translation.
        anchors: words that occur once in both texts, in the same order. No edit touches them.

    Raises:
        MovedAnchorsError: the anchors are not the same in both texts, or in another order.
    """
    old_anchors = old.find_anchors(anchors)
    new_anchors = new.find_anchors(anchors)
    old_words = [old.tokens[index].text for index in old_anchors]
    new_words = [new.tokens[index].text for index in new_anchors]
    if old_words != new_words:
        raise MovedAnchorsError(f"{old_words} became {new_words}")
    old_sections = old.split_at(old_anchors)
    new_sections = new.split_at(new_anchors)
    for old_section, new_section in zip(old_sections, new_sections, strict=True):
        yield from _find_edits_between_anchors(old_section, new_section)


def _find_edits_between_anchors(old: TokenizedText, new: TokenizedText) -> Iterator[Edit]:
    """Yield the edits that turn the tokens of `old` into the tokens of `new`."""
    for change in _find_changes(old, new):
        if change.new_tokens:
            yield _replace_tokens(old, new, change)
        else:
            yield _delete_tokens(old, change.old_tokens)


class _Change(NamedTuple):
    """A difference between the tokens of a text and the tokens of its translation, as indices."""

    # The tokens of the text that are replaced. An empty range is where tokens are inserted.
    old_tokens: range
    # The tokens of the translation that replace them. If the range is empty, tokens are deleted.
    new_tokens: range


def _find_changes(old: TokenizedText, new: TokenizedText) -> Iterator[_Change]:
    """Yield the changes from `old` to `new`, from left to right.

    Changes with at most `2 * CONTEXT_TOKENS` equal tokens between them are one change.
    """
    matcher = SequenceMatcher(
        None, old.list_comparison_keys(), new.list_comparison_keys(), autojunk=False
    )
    # An opcode is a tag, and the start and the end of a range in each of the two texts.
    for group in matcher.get_grouped_opcodes(CONTEXT_TOKENS):
        opcodes = [opcode for opcode in group if opcode[0] != "equal"]
        _, old_start, _, new_start, _ = opcodes[0]
        _, _, old_end, _, new_end = opcodes[-1]
        yield _Change(range(old_start, old_end), range(new_start, new_end))


def _delete_tokens(old: TokenizedText, deleted: range) -> Edit:
    """Return the edit that deletes some tokens.

    If there is a blank on each side, the edit deletes one of the two as well.
    """
    span = old.find_span(deleted.start, deleted.stop)
    if old.is_blank(span.start - 1) and old.is_blank(span.end):
        span = Span(span.start, span.end + 1)
    return Edit(span, "")


def _replace_tokens(old: TokenizedText, new: TokenizedText, change: _Change) -> Edit:
    """Return the edit that replaces some tokens of a text by tokens of its translation.

    On each side, the edited text has a blank if the translation has one:

        a / b          a / NULLIF(b, 0)      inserts `NULLIF(` right before `b`

    Args:
        old: the text.
        new: its translation.
        change: the tokens of both texts. The translation has at least one.
    """
    old_tokens, new_tokens = change
    span = old.find_span(old_tokens.start, old_tokens.stop)
    joins_previous = old_tokens.start > 0 and new.is_joined(new_tokens.start)
    joins_next = old_tokens.stop < len(old.tokens) and new.is_joined(new_tokens.stop)
    if joins_next and not old_tokens:
        # Insert text after the blank before the next token, so that the blank stays.
        next_start = old.tokens[old_tokens.stop].start
        span = Span(next_start, next_start)
    new_span = new.find_span(new_tokens.start, new_tokens.stop)
    text = new.text[new_span.start : new_span.end]
    # Add the blanks that only the translation has.
    if new.has_blank_before(new_tokens.start) and not old.is_blank(span.start - 1):
        text = f" {text}"
    if new.has_blank_before(new_tokens.stop) and not old.is_blank(span.end):
        text = f"{text} "
    # Replace the blanks that only the old text has.
    if joins_previous:
        previous_end = old.tokens[old_tokens.start - 1].end + 1
        if old.text[previous_end : span.start].isspace():
            span = Span(previous_end, span.end)
    if joins_next:
        next_start = old.tokens[old_tokens.stop].start
        if old.text[span.end : next_start].isspace():
            span = Span(span.start, next_start)
    return Edit(span, text)
