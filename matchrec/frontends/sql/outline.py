"""The query's tokens, where its clauses stand, and the relation before each, found by brackets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from matchrec.errors import query as errors
from matchrec.frontends.functions import words
from matchrec.frontends.tokens import CLOSING, Kind, Token
from matchrec.source import Span

_BEFORE_RELATION = words("FROM JOIN USING")
_BEFORE_EXPRESSION = words("SELECT WHERE AND OR NOT ON HAVING CASE WHEN THEN ELSE BY IN DISTINCT")


@dataclass(frozen=True, slots=True)
class Cut:
    """One clause: the index of its word, of its opening and of its closing parenthesis."""

    word: int
    opening: int
    closing: int


@dataclass(frozen=True, slots=True)
class Outline:
    """A query's tokens with their brackets. pairs: closing index of each opening one."""

    tokens: tuple[Token, ...]
    pairs: dict[int, int]

    def key(self, index: int) -> str:
        """The key of a token; nothing before the first and after the last."""
        return self.tokens[index].key if 0 <= index < len(self.tokens) else ""

    def span(self, start: int, end: int) -> Span:
        """The characters of tokens `start .. end`."""
        return self.tokens[start].span.to(self.tokens[end - 1].span)

    def enclosing(self, index: int) -> int:
        """The end of the innermost parenthesis around `index`, or of the query."""
        around = [
            (closing - opening, closing)
            for opening, closing in self.pairs.items()
            if opening < index < closing and self.key(opening) == "("
        ]
        return min(around)[1] if around else len(self.tokens)

    def level(self, start: int, end: int) -> Iterator[int]:
        """The indices from `start` to `end`, without what stands in brackets that open there."""
        index = start
        while index < end:
            yield index
            index = self.pairs.get(index, index) + 1


def cuts(outline: Outline) -> tuple[Cut, ...]:
    """The clauses of a query in the order of evaluation: the inner ones end first."""
    found = []
    index = 0
    while index < len(outline.tokens):
        if is_clause(outline, index):
            cut = Cut(index, index + 1, _closing(outline, index))
            _refuse_inner(outline, cut)
            found.append(cut)
            index = cut.closing
        index += 1
    return tuple(found)


def is_clause(outline: Outline, index: int) -> bool:
    """Whether a clause starts at `index`, and not a column, a table or a function of that name."""
    if outline.key(index) != "MATCH_RECOGNIZE" or outline.key(index + 1) != "(":
        return False
    if outline.key(index - 1) in (".", "AS"):
        return False
    closing = outline.pairs.get(index + 1, len(outline.tokens))
    has_pattern = any(
        outline.key(i) == "PATTERN" and outline.key(i + 1) == "("
        for i in outline.level(index + 2, closing)
    )
    return has_pattern or _ends_relation(outline, index - 1)


def _ends_relation(outline: Outline, index: int) -> bool:
    if index < 0:
        return False
    if outline.tokens[index].kind is Kind.SYMBOL:
        return outline.key(index) in (")", "}")
    return outline.key(index) not in _BEFORE_EXPRESSION | _BEFORE_RELATION


def _closing(outline: Outline, index: int) -> int:
    closing = outline.pairs.get(index + 1)
    if closing is None:
        raise errors.clause_not_closed(outline.span(index, index + 2))
    return closing


def _refuse_inner(outline: Outline, cut: Cut) -> None:
    for index in range(cut.opening + 1, cut.closing):
        if is_clause(outline, index):
            raise errors.clause_in_clause(outline.tokens[index].span)


def relation_start(outline: Outline, cut: Cut, is_values: bool) -> int:
    """The index where the relation before a clause starts.

    is_values: it is VALUES without parentheses, which has commas of its own.
    """
    openings = {closing: opening for opening, closing in outline.pairs.items()}
    index = cut.word
    while index > 0:
        before = openings.get(index - 1, index - 1)
        key = outline.key(before)
        word = key in _BEFORE_RELATION and outline.key(before - 1) != "."
        if word or (key == "(" and before == index - 1) or (key == "," and not is_values):
            break
        index = before
        if key == "VALUES" and is_values:
            break
    if outline.key(cut.word - 1) == "|>":
        raise errors.clause_in_wrong_place(outline.tokens[cut.word].span)
    if index == cut.word:
        raise errors.clause_without_relation(outline.tokens[cut.word].span)
    if outline.key(index) == "LATERAL":
        raise errors.lateral_relation(outline.tokens[index].span)
    return index


def needs_alias(outline: Outline, start: int, cut: Cut) -> bool:
    """Whether sqlglot needs an alias to tell the marker from one: VALUES, a sample, a version."""
    last = cut.word - 1
    keys = [outline.key(index) for index in outline.level(start, cut.word)]
    sampled = "TABLESAMPLE" in keys or (
        "AS" in keys and "OF" in keys and ("VERSION" in keys or "TIMESTAMP" in keys)
    )
    if sampled:
        kind = outline.tokens[last].kind
        return outline.key(last) in CLOSING or kind in (Kind.NUMBER, Kind.STRING)
    opening = next((first for first, end in outline.pairs.items() if end == last), None)
    if opening is None or outline.key(last) != ")":
        return False
    before = outline.tokens[opening - 1]
    return not before.is_name or before.key in _BEFORE_RELATION | {"VALUES"}


def refuse_window_patterns(outline: Outline) -> None:
    """PATTERN and DEFINE in the parentheses of OVER or WINDOW (R020)."""
    for opening, closing in outline.pairs.items():
        named = outline.key(opening - 1) == "AS" and "WINDOW" in (
            outline.key(opening - 3),
            *(outline.key(i) for i in outline.level(0, opening)),
        )
        if outline.key(opening) != "(" or not (outline.key(opening - 1) == "OVER" or named):
            continue
        inside = tuple(outline.level(opening + 1, closing))
        keys = [outline.key(index) for index in inside]
        defined = any(
            key == "DEFINE" and outline.key(index + 2) == "AS"
            for index, key in zip(inside, keys, strict=True)
        )
        for index, key in zip(inside, keys, strict=True):
            if key == "PATTERN" and outline.key(index + 1) == "(" and defined:
                raise errors.pattern_in_window(outline.tokens[index].span)


def refuse_stored_text(outline: Outline, cut: Cut) -> None:
    """A clause in a permanent view or function."""
    keys = [outline.key(index) for index in outline.level(0, cut.word)]
    if not keys or keys[0] not in ("CREATE", "ALTER"):
        return
    head = keys[: keys.index("AS")] if "AS" in keys else keys
    temporary = "TEMP" in head or "TEMPORARY" in head
    for kind, named in (("VIEW", "a permanent view"), ("FUNCTION", "a function")):
        if kind in head and (kind == "FUNCTION" or not temporary):
            raise errors.stored_text(named, outline.span(0, head.index(kind) + 1))
