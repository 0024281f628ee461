"""A token of our own, whichever text it is of, and how brackets pair up.

One word each (`PARTITION BY` is two), half-open spans in the whole query, and none that are
invented (sqlglot reads `1BD` as `1::BD`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from enum import Enum

from matchrec.dataclass import dataclass
from matchrec.source import Span


class TokenKind(Enum):
    """What a token is, apart from its text."""

    WORD = "word"
    QUOTED = "quoted name"
    NUMBER = "number"
    STRING = "string"
    SYMBOL = "symbol"
    REFERENCE = "what reads rows of a match"
    END = "end of the text"


@dataclass(frozen=True, slots=True)
class Token:
    """text: as written; of a quoted name, the name. span: in the whole query.

    key: an upper-case word, a symbol, or nothing: what grammars compare.
    """

    kind: TokenKind
    text: str
    span: Span
    key: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        key = self.text.upper() if self.kind in (TokenKind.WORD, TokenKind.SYMBOL) else ""
        object.__setattr__(self, "key", key)

    @property
    def is_name(self) -> bool:
        """Whether it can name something."""
        return self.kind in (TokenKind.WORD, TokenKind.QUOTED)

    @property
    def is_string(self) -> bool:
        """Whether it is a string, in either kind of quotes."""
        return self.kind is TokenKind.STRING

    @property
    def is_constant(self) -> bool:
        """Whether it is a number or a string."""
        return self.kind in (TokenKind.NUMBER, TokenKind.STRING)

    @property
    def in_double_quotes(self) -> bool:
        """Whether it is a string in double quotes, which would be a name in another dialect."""
        return self.kind is TokenKind.STRING and self.text.startswith('"')

    @property
    def can_name(self) -> bool:
        """Whether it names something where no string can stand: double quotes are for both."""
        return self.is_name or self.in_double_quotes

    @property
    def name(self) -> str:
        """The name as it was written, without quotes."""
        return self.text[1:-1].replace('""', '"') if self.kind is TokenKind.STRING else self.text

    @property
    def variable(self) -> str:
        """The pattern variable that it names, normalized: upper case unless quoted."""
        return self.name.upper() if self.kind is TokenKind.WORD else self.name


OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = frozenset(OPENING.values())


def pair_brackets(tokens: Sequence[Token]) -> dict[int, int]:
    """For the index of each bracket that opens, the index of the one that closes it.

    A `]` or `}` that does not close the innermost bracket closes nothing; a `)` closes what is open
    inside its parentheses.
    """
    pairs: dict[int, int] = {}
    waiting: list[int] = []
    for index, token in enumerate(tokens):
        if token.key in OPENING:
            waiting.append(index)
        elif token.key == ")" and any(tokens[opening].key == "(" for opening in waiting):
            while tokens[waiting[-1]].key != "(":
                waiting.pop()
            pairs[waiting.pop()] = index
        elif token.key in CLOSING and waiting and OPENING[tokens[waiting[-1]].key] == token.key:
            pairs[waiting.pop()] = index
    return pairs


def level(pairs: dict[int, int], start: int, end: int) -> Iterator[int]:
    """The indices from `start` to `end`, without what stands in brackets that open there."""
    index = start
    while index < end:
        yield index
        index = pairs.get(index, index) + 1


def find_enclosing(pairs: dict[int, int], count: int) -> tuple[int, ...]:
    """For each of `count` tokens, the innermost bracket around it, by its opening; -1 for none."""
    around = []
    waiting = [-1]
    ends = set(pairs.values())
    for index in range(count):
        if index in ends:
            waiting.pop()
        around.append(waiting[-1])
        if index in pairs:
            waiting.append(index)
    return tuple(around)
