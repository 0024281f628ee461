"""Edits of a text, the way back to the text before them, and notes on what differs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise

from sqlglot import Token

from matchrec.source import Origin, Source, Span


@dataclass(frozen=True, slots=True)
class Edit:
    """The characters of `span` give way to `text`; an empty span is where it is inserted.

    origin: what says the same in the text before, where that stands elsewhere.
    """

    span: Span
    text: str
    origin: Span | None = None


@dataclass(frozen=True)
class Edited:
    """A text with edits, which do not overlap and come in the order of the text.

    >>> edited = Edited("SELECT a::int FROM t", (Edit(Span(7, 13), "CAST(a AS INT)"),))
    >>> edited.text
    'SELECT CAST(a AS INT) FROM t'
    >>> edited.before(Span(27, 28))
    Span(start=19, end=20)
    """

    written: str
    edits: tuple[Edit, ...]

    def source(self, written: Source) -> Source:
        """The new text. written: the original one, which errors show."""
        return Source(self.text, Origin(written, self.before))

    @cached_property
    def text(self) -> str:
        parts, at = [], 0
        for edit in self.edits:
            parts += [self.written[at : edit.span.start], edit.text]
            at = edit.span.end
        return "".join([*parts, self.written[at:]])

    @cached_property
    def _starts(self) -> list[int]:
        """Where the text of each edit starts in the new text."""
        starts, shift = [], 0
        for edit in self.edits:
            starts.append(edit.span.start + shift)
            shift += len(edit.text) - (edit.span.end - edit.span.start)
        return starts

    def before(self, span: Span) -> Span:
        """What became `span` in the original text; of a part of an edit, all that this replaced."""
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
            return edit.origin or edit.span
        place = edit.span.end + at - start - len(edit.text)
        return Span(place, place + 1)

    def origin_of(self, span: Span) -> Span:
        """As `before`; of what is empty, where it stands."""
        if span.start == span.end:
            place = self._place(span.start)
            return Span(place.start, place.start)
        return self.before(span)


def edited(text: str, edits: Iterable[Edit]) -> Edited:
    """The text with edits, in any order."""
    return Edited(text, tuple(sorted(edits, key=lambda one: (one.span.start, one.span.end))))


@dataclass(frozen=True, slots=True)
class Note:
    """What differs, in one sentence. span: of the text that was translated.

    is_met: whether it is the same when the query runs here; only its text means something else.
    """

    message: str
    span: Span
    is_met: bool = False

    def shown(self, source: Source) -> str:
        return f"{self.message}\n{source.excerpt(self.span)}"


BESIDE = 1  # token on each side of a difference: up to two between two make one of them

Tokenizer = Callable[[str], Sequence[Token]]


def edits_between(
    old: str, new: str, tokens: tuple[Tokenizer, Tokenizer], anchors: frozenset[str] = frozenset()
) -> Iterator[Edit]:
    """The edits that make `new` of `old`, but for layout. tokens: what finds those of each text.

    anchors: words that stand once in both texts, in the same order; no edit touches them. Raises
    ValueError where they do not.
    """
    before, after = tokens[0](old), tokens[1](new)
    left = [i for i, token in enumerate(before) if token.text in anchors]
    right = [i for i, token in enumerate(after) if token.text in anchors]
    if [before[i].text for i in left] != [after[i].text for i in right]:
        raise ValueError("the translation moves what must stay")
    ends = pairwise([-1, *left, len(before)]), pairwise([-1, *right, len(after)])
    for (a, b), (c, d) in zip(*ends, strict=True):
        yield from _segment(old, new, before[a + 1 : b], after[c + 1 : d])


def _segment(old: str, new: str, before: Sequence[Token], after: Sequence[Token]) -> Iterator[Edit]:
    keys = [_written(old, one) for one in before], [_written(new, one) for one in after]
    for group in SequenceMatcher(None, *keys, autojunk=False).get_grouped_opcodes(BESIDE):
        changed = [opcode for opcode in group if opcode[0] != "equal"]
        (_, i, _, k, _), (_, _, j, _, m) = changed[0], changed[-1]
        text = new[after[k].start : after[m - 1].end + 1] if m > k else ""
        start, end = _place(old, before, i, j)
        if text and _gap(new, after, k) and not (start and old[start - 1].isspace()):
            text = f" {text}"
        if text and _gap(new, after, m) and not old[end : end + 1].isspace():
            text = f"{text} "
        if not text and old[max(0, start - 1) : start].isspace() and old[end : end + 1].isspace():
            end += 1
        yield Edit(Span(start, end), text)


def _place(text: str, tokens: Sequence[Token], start: int, end: int) -> tuple[int, int]:
    """The characters of tokens; of none, where they would follow the token before."""
    if end > start:
        return tokens[start].start, tokens[end - 1].end + 1
    if start > 0:
        return (tokens[start - 1].end + 1,) * 2
    return (tokens[0].start if tokens else len(text),) * 2


def _gap(text: str, tokens: Sequence[Token], index: int) -> bool:
    """Whether there is a blank before a token that is not the first one."""
    return 0 < index < len(tokens) and text[tokens[index].start - 1].isspace()


def _written(text: str, token: Token) -> str:
    """A token as written; case counts in quotes only."""
    written = text[token.start : token.end + 1]
    return written if written[:1] in "'\"`" else written.upper()
