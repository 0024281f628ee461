"""The query's tokens with their brackets, and where its clauses stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from matchrec.errors.sql import query as errors
from matchrec.frontends.expressions.function_names import words
from matchrec.frontends.lexing.dialect import SPARK, Dialect
from matchrec.frontends.lexing.tokens import Kind, Token, innermost
from matchrec.source import Span

_BEFORE_RELATION = words("FROM JOIN USING")
_BEFORE_KIND = words("CREATE ALTER OR REPLACE GLOBAL TEMP TEMPORARY MATERIALIZED STREAMING REFRESH")
_BEFORE_EXPRESSION = words("SELECT WHERE AND OR NOT ON HAVING CASE WHEN THEN ELSE BY IN DISTINCT")


@dataclass(frozen=True, slots=True)
class Cut:
    """One clause: the index of its word, of its opening and of its closing parenthesis."""

    word: int
    opening: int
    closing: int


@dataclass(frozen=True)
class Outline:
    """A query's tokens with their brackets. pairs: closing index of each opening one."""

    tokens: tuple[Token, ...]
    pairs: dict[int, int]
    dialect: Dialect = SPARK

    @cached_property
    def openings(self) -> dict[int, int]:
        """Opening index of each closing one."""
        return {closing: opening for opening, closing in self.pairs.items()}

    @cached_property
    def _around(self) -> tuple[int, ...]:
        return innermost(self.pairs, len(self.tokens))

    def key(self, index: int) -> str:
        """The key of a token; nothing before the first and after the last."""
        return self.tokens[index].key if 0 <= index < len(self.tokens) else ""

    def span(self, start: int, end: int) -> Span:
        """The characters of tokens `start .. end`."""
        return self.tokens[start].span.to(self.tokens[end - 1].span)

    def enclosing(self, index: int) -> int:
        """The end of the innermost parenthesis around `index`, or of the query."""
        opening = self._around[index] if index < len(self.tokens) else -1
        while opening >= 0 and self.key(opening) != "(":
            opening = self._around[opening]
        return len(self.tokens) if opening < 0 else self.pairs[opening]

    def level(self, start: int, end: int) -> Iterator[int]:
        """The indices from `start` to `end`, without what stands in brackets that open there."""
        index = start
        while index < end:
            yield index
            index = self.pairs.get(index, index) + 1


def cuts(outline: Outline) -> tuple[Cut, ...]:
    """The clauses of a query in the order of evaluation: the inner ones end first.

    Their parentheses are closed.
    """
    found = []
    index = 0
    while index < len(outline.tokens):
        if is_clause(outline, index):
            cut = Cut(index, index + 1, outline.pairs[index + 1])
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


def _refuse_inner(outline: Outline, cut: Cut) -> None:
    for index in range(cut.opening + 1, cut.closing):
        if is_clause(outline, index):
            raise errors.clause_in_clause(outline.tokens[index].span)


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


def keeps_text(outline: Outline) -> bool:
    """Whether the statement makes a temporary view of its query: CREATE ... VIEW, CACHE TABLE."""
    return outline.key(0) == "CACHE" or outline.key(_created(outline)) == "VIEW"


def _created(outline: Outline) -> int:
    """The index of what CREATE or ALTER is about, such as VIEW; 0 in other statements."""
    index = 0
    if outline.key(0) in ("CREATE", "ALTER"):
        while outline.key(index) in _BEFORE_KIND:
            index += 1
    return index


def refuse_stored_text(outline: Outline, cut: Cut) -> None:
    """A clause in a permanent view or function."""
    kind = _created(outline)
    head = [outline.key(index) for index in range(min(kind, cut.word))]
    temporary = "TEMP" in head or "TEMPORARY" in head
    if outline.key(kind) == "VIEW" and kind and not temporary:
        raise errors.stored_text("a permanent view", outline.span(0, kind + 1))
    if outline.key(kind) == "FUNCTION" and kind:
        raise errors.stored_text("a function", outline.span(0, kind + 1))
