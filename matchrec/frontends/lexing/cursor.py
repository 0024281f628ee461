"""A position in a row of tokens: what stands before it has been read."""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.frontends.lexing.tokens import Token, TokenKind
from matchrec.source import Span


class Cursor:
    """Reads tokens `position .. end` from left to right; parsers add a method for each rule."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.position = 0
        self.end = len(tokens)

    @property
    def key(self) -> str:
        """The key of the token to be read next; nothing at the end."""
        return self.key_at(self.position)

    def key_at(self, index: int) -> str:
        return self.tokens[index].key if index < self.end else ""

    def kind_at(self, index: int) -> TokenKind:
        return self.tokens[index].kind if index < self.end else TokenKind.END

    def accept(self, *keys: str) -> bool:
        """Whether these keys stood next; if so, they are read."""
        for index, key in enumerate(keys, self.position):
            if self.key_at(index) != key:
                return False
        self.position += len(keys)
        return True

    def span(self, start: int, end: int) -> Span:
        """The characters of tokens `start .. end`."""
        return self.tokens[start].span.to(self.tokens[end - 1].span)
