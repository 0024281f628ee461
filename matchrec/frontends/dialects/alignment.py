"""From a text and its translation to the edits that lead from one to the other, token by token."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from sqlglot import Token

from matchrec.frontends.dialects.edits import Edit
from matchrec.source import Span

NEAR = 2  # tokens

Tokenizer = Callable[[str], Sequence[Token]]


def edits_between(
    old: str, new: str, tokens: tuple[Tokenizer, Tokenizer], anchors: frozenset[str] = frozenset()
) -> Iterator[Edit]:
    """The edits that make `new` of `old`, but for layout. tokens: what finds those of each text.

    anchors: words that stand once in both texts, in the same order; no edit touches them. Raises
    ValueError where they do not.
    """
    before, after = tokens[0](old), tokens[1](new)
    for left, right in _segments(before, after, anchors):
        yield from _segment(old, new, before[slice(*left)], after[slice(*right)])


_Range = tuple[int, int]


def _segments(
    before: Sequence[Token], after: Sequence[Token], anchors: frozenset[str]
) -> Iterator[tuple[_Range, _Range]]:
    """The ranges of tokens between the anchors."""
    left, right = (
        [i for i, one in enumerate(side) if one.text in anchors] for side in (before, after)
    )
    if [before[i].text for i in left] != [after[i].text for i in right]:
        raise ValueError("the translation moves what must stay")
    starts = zip([-1, *left], [-1, *right], strict=True)
    ends = zip([*left, len(before)], [*right, len(after)], strict=True)
    for (a, b), (c, d) in zip(starts, ends, strict=True):
        yield (a + 1, c), (b + 1, d)


def _segment(old: str, new: str, before: Sequence[Token], after: Sequence[Token]) -> Iterator[Edit]:
    keys = [_written(old, one) for one in before], [_written(new, one) for one in after]
    for (i, j), (k, m) in _changes(*keys):
        text = new[after[k].start : after[m - 1].end + 1] if m > k else ""
        start, end = _place(old, before, i, j)
        if text and _gap(new, after, k) and not (start and old[start - 1].isspace()):
            text = f" {text}"
        if text and _gap(new, after, m) and not old[end : end + 1].isspace():
            text = f"{text} "
        if not text and old[max(0, start - 1) : start].isspace() and old[end : end + 1].isspace():
            end += 1
        yield Edit(Span(start, end), text)


def _place(text: str, tokens: Sequence[Token], start: int, end: int) -> _Range:
    """The characters of tokens; of none, where they would follow the token before."""
    if end > start:
        return tokens[start].start, tokens[end - 1].end + 1
    if start > 0:
        return (tokens[start - 1].end + 1,) * 2
    return (tokens[0].start if tokens else len(text),) * 2


def _gap(text: str, tokens: Sequence[Token], index: int) -> bool:
    """Whether there is a blank before a token that is not the first one."""
    return 0 < index < len(tokens) and text[tokens[index].start - 1].isspace()


def _changes(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[_Range, _Range]]:
    """What differs; differences with few like tokens between them are one."""
    waiting: tuple[_Range, _Range] | None = None
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind == "equal":
            if waiting and j - i > NEAR:
                yield waiting
                waiting = None
        elif waiting:
            waiting = (waiting[0][0], j), (waiting[1][0], m)
        else:
            waiting = (i, j), (k, m)
    if waiting:
        yield waiting


def _written(text: str, token: Token) -> str:
    """A token as written; case counts in quotes only."""
    written = text[token.start : token.end + 1]
    return written if written[:1] in "'\"`" else written.upper()
