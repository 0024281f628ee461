"""The tokens of a text in a row, with their brackets: what every parser of SQL text reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from sqlglot import Token as SqlglotToken

from matchrec.dataclass import dataclass
from matchrec.frontends.lexing.dialect import SPARK, Dialect
from matchrec.frontends.lexing.sqlglot_tokens import sqlglot_tokens, tokens_of
from matchrec.frontends.lexing.tokens import Token, TokenKind, find_enclosing, level, pair_brackets
from matchrec.source import Span

Range = tuple[int, int]
"""Indices of tokens, half open."""

_ALSO_FUNCTIONS = frozenset({"MAP", "REDUCE"})
_QUERY_WORDS = _ALSO_FUNCTIONS | {"SELECT", "WITH", "FROM", "VALUES", "TABLE"}


@dataclass(frozen=True)
class TokenSequence:
    """Tokens of a text that starts at `offset` of the query; spans count from the query's start.

    pairs: the closing bracket of each opening one. sqlglot: what sqlglot's parser takes; its
    indices are others. dialect: how the text is read.
    """

    text: str
    tokens: tuple[Token, ...]
    pairs: dict[int, int]
    sqlglot: tuple[SqlglotToken, ...] = ()
    offset: int = 0
    dialect: Dialect = SPARK

    @cached_property
    def openings(self) -> dict[int, int]:
        """The opening bracket of each closing one."""
        return {closing: opening for opening, closing in self.pairs.items()}

    @cached_property
    def around(self) -> tuple[int, ...]:
        """For each token the bracket that opens the innermost pair around it, -1 for none."""
        return find_enclosing(self.pairs, len(self.tokens))

    @cached_property
    def index_at(self) -> dict[int, int]:
        """The index of the token that starts at a place of the query."""
        return {token.span.start: index for index, token in enumerate(self.tokens)}

    @property
    def whole(self) -> Span:
        """All characters of the text."""
        return Span(self.offset, self.offset + len(self.text))

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, index: int) -> Token:
        return self.tokens[index]

    def key(self, index: int) -> str:
        """The key of a token; nothing before the first and after the last."""
        return self.tokens[index].key if 0 <= index < len(self.tokens) else ""

    def says(self, index: int, *keys: str) -> bool:
        """Whether tokens with these keys stand at `index` and after it."""
        return all(self.key(place) == key for place, key in enumerate(keys, index))

    def past(self, index: int) -> int:
        """The index after a token, or after the brackets that it opens."""
        return self.pairs.get(index, index) + 1

    def can_name(self, index: int) -> bool:
        """Whether a name, or a string in double quotes for one, stands at `index`."""
        return 0 <= index < len(self.tokens) and self.tokens[index].can_name

    def span(self, start: int, end: int) -> Span:
        """The characters of tokens `start .. end`."""
        return self.tokens[start].span.to(self.tokens[end - 1].span)

    def text_at(self, span: Span) -> str:
        """The text as it was written."""
        return self.text[span.start - self.offset : span.end - self.offset]

    def is_call(self, index: int) -> bool:
        """Whether an unqualified function's name and its parenthesis stand at `index`."""
        return (
            0 <= index < len(self.tokens)
            and self.tokens[index].kind is TokenKind.WORD
            and self.key(index + 1) == "("
            and self.key(index - 1) != "."
        )

    def is_subquery(self, index: int) -> bool:
        """Whether the parenthesis at `index` holds a query."""
        is_function = self.key(index + 1) in _ALSO_FUNCTIONS and self.key(index + 2) == "("
        return self.key(index) == "(" and self.key(index + 1) in _QUERY_WORDS and not is_function

    def enclosing(self, index: int) -> int:
        """The end of the innermost parenthesis around `index`, or of the text."""
        opening = self.around[index] if index < len(self.tokens) else -1
        while opening >= 0 and self.key(opening) != "(":
            opening = self.around[opening]
        return len(self.tokens) if opening < 0 else self.pairs[opening]

    def level(self, start: int, end: int) -> Iterator[int]:
        """The indices from `start` to `end`, without what stands in brackets that open there."""
        return level(self.pairs, start, end)

    def separated(self, start: int, end: int) -> tuple[Range, ...]:
        """The ranges between the commas of `start .. end` that stand in no bracket."""
        parts = []
        first = start
        for index in self.level(start, end):
            if self.tokens[index].key == ",":
                parts.append((first, index))
                first = index + 1
        return (*parts, (first, end))


def read_tokens(text: str, dialect: Dialect = SPARK, offset: int = 0) -> TokenSequence:
    """The tokens of a text.

    >>> [token.key for token in read_tokens("order by a.x").tokens]
    ['ORDER', 'BY', 'A', '.', 'X']
    """
    return sequence_of(sqlglot_tokens(text, offset, dialect), text, dialect, offset)


def sequence_of(
    found: Sequence[SqlglotToken], text: str, dialect: Dialect = SPARK, offset: int = 0
) -> TokenSequence:
    """The sequence of the tokens that a tokenizer of sqlglot has found in a text."""
    tokens = tokens_of(found, text, offset)
    return TokenSequence(text, tokens, pair_brackets(tokens), tuple(found), offset, dialect)
