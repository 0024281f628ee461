"""`ClauseTokens`: the tokens between the parentheses of a clause or a row pattern window."""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.plan.words import read_words
from matchrec.source import Span
from matchrec.syntax.tokens import TokenKind, TokenSequence, pair_brackets, split_words

# Keywords that end an expression only if they name a column, such as AND and CASE.
NOT_AT_END_OF_EXPRESSION = read_words("NOT AT AN END")
# CASE starts an expression if WHEN is the first of these words after it.
_WORDS_AFTER_CASE = split_words("WHEN CASE AS PATTERN")


@dataclass(frozen=True, kw_only=True)
class ClauseTokens(TokenSequence):
    """The tokens between the parentheses of a clause."""

    # Where the text between the parentheses is in the whole query.
    inside: Span
    # Whether these are the tokens of a row pattern window, which has a frame.
    is_in_window: bool = False

    def ends_expression(self, index: int) -> bool:
        """Return whether an expression may end with the token at `index`.

        For the index -1, the result is True: at the start of the clause, as after an expression, a
        part may start.
        """
        key = self.key(index)
        before = self.key(index - 1)
        if index >= 0 and self[index].kind is TokenKind.SYMBOL:
            return key in (")", "]", "?")
        if key not in NOT_AT_END_OF_EXPRESSION or before == ".":
            return True
        # Such a word ends an expression only if it names a column. The first word of an item names
        # a column, as in `ORDER BY and`, because of these words only NOT and CASE can start an
        # expression.
        starts_item = before in ("BY", ",")
        if not starts_item or key == "NOT":
            return False
        return key != "CASE" or not self._is_case(index)

    def _is_case(self, index: int) -> bool:
        """Return whether the CASE at `index` starts an expression, and does not name a column.

        CASE starts an expression if a WHEN follows that belongs to it.
        """
        for following in self.walk_level(index + 1, len(self)):
            if self.key(following) in _WORDS_AFTER_CASE:
                return self.key(following) == "WHEN"
        return False


def cut_out_tokens(query: TokenSequence, opening: int, closing: int) -> ClauseTokens:
    """Return the tokens of a clause of a query.

    Args:
        query: the tokens of the query.
        opening: the index of the clause's opening parenthesis.
        closing: the index of the clause's closing parenthesis.
    """
    tokens = query.tokens[opening + 1 : closing]
    inside = Span(query[opening].span.end, query[closing].span.start)
    pairs = pair_brackets(tokens)
    return ClauseTokens(query.text, tokens, pairs, dialect=query.dialect, inside=inside)


def make_clause_tokens(text: TokenSequence) -> ClauseTokens:
    """Return the tokens of a clause from a text without the parentheses of the clause."""
    inside = Span(0, len(text.text))
    return ClauseTokens(text.text, text.tokens, text.pairs, dialect=text.dialect, inside=inside)
