"""Words that name columns, though sqlglot would read them as words of its grammar.

    ROUND(drop, 2)    case > 1    CASE WHEN like THEN outer END    B.select

Spark reserves no word by default, and finds by what stands around one whether it is a name: where
an operand is due and nothing that the word could introduce follows, there is no other reading.
Source: Spark's SqlBaseParser.g4, nonReserved, strictNonReserved, primaryExpression.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from sqlglot import Token as SqlglotToken
from sqlglot import TokenType

from matchrec.frontends.lexing.tokens import (
    UNITS_OF_TIME,
    Token,
    TokenKind,
    TokenSequence,
    renamed,
    words,
)
from matchrec.plan.text import CURRENT_VALUES

_VALUES = words("TRUE FALSE NULL") | CURRENT_VALUES

_AFTER_OPERAND = words(
    """
    AND AS ASC AT BETWEEN COLLATE DESC DIV ELSE END ESCAPE FILTER FOR FROM IGNORE ILIKE IN IS LIKE
    NOT NULLS OR OVER PLACING REGEXP RESPECT RLIKE THEN USING WHEN WITHIN XOR
    """
)
_NEGATED = words("BETWEEN ILIKE IN LIKE REGEXP RLIKE")
_BEFORE_OPERAND = words("NOT DISTINCT ALL INTERVAL CASE WHEN WHERE")
_OF_READERS = _AFTER_OPERAND | _BEFORE_OPERAND | words("IF LIST ARRAY MAP STRUCT")
_SIGNS = words("- + ~ ! (")
_CASTS = words("CAST TRY_CAST")


def with_names(text: TokenSequence) -> TokenSequence:
    """The tokens of an expression, in which no word that is a name is one of SQL's.

    >>> from matchrec.frontends.lexing.tokens import read_tokens
    >>> text = with_names(read_tokens("case > 1 AND NOT drop"))
    >>> [token.text for token in text.tokens if token.kind is TokenKind.NAME]
    ['case', 'drop']
    """
    reader = _Reader(text)
    found = tuple(reader.names())
    paths = {text[index].span.start - text.offset for index in reader.paths}
    places = {text[index].span.start - text.offset: index for index in found}
    places = {token.start: places[token.start] for token in text.sqlglot if _is_read(token, places)}
    if not places and not paths:
        return text
    own = list(text.tokens)
    for index in places.values():
        own[index] = Token(TokenKind.NAME, own[index].text, own[index].span)
    sqlglot = (
        renamed(token, TokenType.IDENTIFIER, f"_{token.text}") if token.start in places else token
        for token in text.sqlglot  # which reads `array[0]` by its name, in quotes too
    )
    dotted = (  # `v:a.b` of a variant, which sqlglot's Spark does not know
        renamed(token, TokenType.DOT, ".") if token.start in paths else token for token in sqlglot
    )
    return replace(text, tokens=tuple(own), sqlglot=tuple(dotted))


def _is_read(token: SqlglotToken, places: Collection[int]) -> bool:
    """Whether sqlglot, or a reader of ours, sees more than a name in a word that is one."""
    word = token.token_type is not TokenType.VAR or token.text.upper() in _OF_READERS
    return token.start in places and word and token.text.isidentifier()


class _Reader:
    """Goes from operand to operator; what stands in brackets is an expression again."""

    def __init__(self, text: TokenSequence) -> None:
        self.text = text
        self.tokens, self.pairs = text.tokens, text.pairs
        self.key = text.key
        self.cases: list[int] = []
        self.paths: list[int] = []

    def names(self) -> Iterator[int]:
        index, is_due = 0, True
        while index < len(self.tokens):
            token = self.tokens[index]
            if self.text.is_subquery(index):
                index, is_due = self.text.past(index), False
            elif token.kind is not TokenKind.WORD:
                if token.key == ":" and not is_due:
                    self.paths.append(index)
                is_due = token.kind is TokenKind.SYMBOL and token.key not in (")", "]", "}", "?")
                index = self.past_type(index) if token.key == "::" else index + 1
                is_due = is_due and token.key != "::"
            elif self.key(index - 1) in (".", ":") or (is_due and self.is_name(index)):
                yield index
                index, is_due = index + 1, False
            elif is_due:
                index, is_due = self.past_introduction(index)
            else:
                if token.key == "AS" and self.is_field(index + 1):
                    yield index + 1
                index, is_due = self.past_operator(index)

    def is_name(self, index: int) -> bool:
        """Whether a word where an operand is due is all of one."""
        key, after = self.key(index), self.key(index + 1)
        if key in _VALUES or after == "(" or self.is_in_window(index):
            return False
        if key in UNITS_OF_TIME and self.key(index - 1) == "(" and after in (",", "FROM"):
            return False
        if key == "WHEN" and self.cases and self.cases[-1] == index - 1:
            return False
        if key == "CASE" and self.is_case(index):
            return False
        if self.key(index - 1) == "IS" or self.text.says(index - 2, "IS", "NOT"):
            return False
        if key == "FROM" and self.key(index - 1) == "DISTINCT":
            return False
        if key == "NOT" and after == "NOT":  # `NOT NOT a`, or a column of `NOT NOT IN (1, 2)`
            return self.key(index + 2) in _NEGATED
        if key == "WHERE" and self.key(index - 1) == "(" and self.key(index - 2) == "FILTER":
            return False
        if key == "INTERVAL" and self.is_interval(index):
            return False
        if index + 1 >= len(self.tokens):
            return True
        following = self.tokens[index + 1]
        if following.kind is TokenKind.WORD:
            return after in _AFTER_OPERAND and not self.introduces_name(index)
        introduces = key == "NOT" or self.is_quantifier(index)
        return following.kind is TokenKind.SYMBOL and not (introduces and after in _SIGNS | {"*"})

    def is_quantifier(self, index: int) -> bool:
        """Whether DISTINCT or ALL may stand before the argument of an aggregate."""
        return self.key(index) in ("DISTINCT", "ALL") and self.key(index - 1) == "("

    def introduces_name(self, index: int) -> bool:
        """Whether NOT, DISTINCT or ALL stands before a name that is a word of an operator."""
        after = self.key(index + 2)
        if self.is_quantifier(index):
            return after in (")", ",", ".")
        is_last = index + 2 >= len(self.tokens) or after in _AFTER_OPERAND
        is_last = is_last or (
            self.tokens[index + 2].kind is TokenKind.SYMBOL and after not in _SIGNS
        )
        return self.key(index) == "NOT" and is_last and self.key(index + 1) != "IS"

    def is_case(self, index: int) -> bool:
        """Whether CASE ... WHEN ... END starts at `index`."""
        after = self.key(index + 1)
        if index + 1 >= len(self.tokens):
            return False
        following = self.tokens[index + 1]
        if following.kind is TokenKind.SYMBOL and after not in _SIGNS:
            return False
        if after in _AFTER_OPERAND and after != "WHEN":
            return self.key(index + 2) == "WHEN"
        keys = self.level(index + 1)
        is_compared = bool(self.cases) and self.cases[-1] == index - 1 and after == "WHEN"
        return "WHEN" in keys and (not is_compared or keys.count("END") > 1)

    def is_interval(self, index: int) -> bool:
        """Whether a value with a unit follows INTERVAL, or a text."""
        value = index + 1 + (self.key(index + 1) in ("-", "+"))
        end = self.pairs.get(value, value) + 1
        if value < len(self.tokens) and self.tokens[value].is_string:
            return True
        return self.key(end) in UNITS_OF_TIME and self.key(value) not in _AFTER_OPERAND

    def is_in_window(self, index: int) -> bool:
        """Whether a word stands in the parentheses of OVER, which have words of their own."""
        return any(self.key(one - 1) == "OVER" for one in self.text.brackets_around(index))

    def level(self, index: int) -> list[str]:
        """The keys from `index` on that are in the same brackets."""
        return [self.key(one) for one in self.text.level(index, self.closing(index - 1))]

    def closing(self, index: int) -> int:
        """Where the brackets around a token close."""
        return self.pairs.get(self.text.around[index], len(self.tokens))

    def is_field(self, index: int) -> bool:
        """Whether the word after AS names a field of a struct: it is no type of a cast."""
        if index >= len(self.tokens) or self.tokens[index].kind is not TokenKind.WORD:
            return False
        opening = self.text.around[index]
        return opening > 0 and self.key(opening - 1) not in _CASTS

    def past_introduction(self, index: int) -> tuple[int, bool]:
        """After a word where an operand is due that is none, and whether one is due there."""
        key = self.key(index)
        if key == "CASE":
            self.cases.append(index)
        if key == "INTERVAL":
            return self.past_interval(index), False
        return index + 1, key not in _VALUES | UNITS_OF_TIME

    def past_interval(self, index: int) -> int:
        """The token after INTERVAL with its values and units."""
        index += 1
        while index < len(self.tokens):
            value = index + (self.key(index) in ("-", "+"))
            end = self.pairs.get(value, value) + 1
            if self.key(end) in UNITS_OF_TIME:
                index = end + 1
                index += 2 if self.key(index) == "TO" else 0
            elif self.tokens[min(value, len(self.tokens) - 1)].is_string:
                index = end
            else:
                break
        return index

    def past_operator(self, index: int) -> tuple[int, bool]:
        """After a word that follows an operand, and whether another operand is due there."""
        key = self.key(index)
        if key == "AS" and self.is_field(index + 1):
            return index + 2, False
        if key == "AS":
            return self.closing(index), False
        if key in ("IGNORE", "RESPECT", "NULLS"):
            return index + 2, False
        return index + 1, key not in ("END", "ASC", "DESC")

    def past_type(self, index: int) -> int:
        """The token after `::` and the name of a type."""
        is_nested = self.key(index + 1) in ("ARRAY", "MAP", "STRUCT") and self.key(index + 2) == "<"
        index += 2
        deep = 0
        while is_nested and index < len(self.tokens):
            deep += (self.key(index) == "<") - (self.key(index) == ">")
            index += 1
            is_nested = deep > 0
        return self.text.past(index) if self.key(index) == "(" else index
