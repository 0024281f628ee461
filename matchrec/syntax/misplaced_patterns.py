"""Make the errors about parentheses of PATTERN and SUBSET, and about symbols outside of them.

PATTERN A B+ DEFINE ...          no parentheses
PATTERN (A B+ DEFINE ...         no closing parenthesis
PATTERN ^(A B+)$ DEFINE ...      symbols outside the parentheses
"""

from __future__ import annotations

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import clause as errors
from matchrec.syntax.clause_locations import find_part_at
from matchrec.syntax.clause_tokens import ClauseTokens
from matchrec.syntax.tokens import TokenKind, TokenSequence, split_words

# Symbols of row patterns that may be outside PATTERN's parentheses by mistake.
_SYMBOLS_OF_PATTERNS = split_words("^ $ * + ? { |")


def explain_unclosed_parenthesis(clause: ClauseTokens, opening: int) -> MatchRecognizeError:
    """Return the error for a part of a clause whose parenthesis at `opening` is not closed.

    The error names the next part, before which the closing parenthesis may be missing.
    """
    span = clause[opening].span
    for index in range(opening + 1, len(clause)):
        part = find_part_at(clause, index)
        if part:
            return errors.bracket_not_closed(
                span, clause[index].span, query=clause.text, keyword=part
            )
    return errors.bracket_not_closed(span, query=clause.text)


def explain_missing_parentheses(clause: ClauseTokens, index: int) -> MatchRecognizeError:
    """Return the error for PATTERN at `index` without a parenthesis after it.

    If `^` is between PATTERN and the parenthesis, the error says to write it inside.
    """
    following = index + 1
    while clause.key(following) == "^":
        following += 1
    has_start_before_parenthesis = following > index + 1 and clause.key(following) == "("
    if has_start_before_parenthesis:
        outside = explain_symbol_outside_pattern(clause, index, index + 1)
        if outside:
            return outside
    if clause.has_keys(index + 1, "SEQ", "("):
        return errors.sase_as_clause(clause.span(index, index + 2))
    return errors.pattern_without_parentheses(
        clause[index].span, row_pattern=_find_bare_pattern(clause, index)
    )


# The keys that can follow a row pattern without parentheses.
_KEYS_AFTER_BARE_PATTERN = ("WITHIN", "SUBSET", "DEFINE", "AS", ";")


def _find_bare_pattern(clause: ClauseTokens, index: int) -> str:
    """Return the text of the row pattern after PATTERN at `index`, which has no parentheses.

    Other products name a pattern, as in `PATTERN P AS (A B+)`: then the result is `A B+`. If there
    is no row pattern, the result is `A B+` as an example.
    """
    end = index + 1
    while end < len(clause) and clause.key(end) not in _KEYS_AFTER_BARE_PATTERN:
        end += 1
    if clause.has_keys(end, "AS", "(") and clause.pairs.get(end + 1, 0) > end + 2:
        return clause.text_at(clause.span(end + 2, clause.pairs[end + 1]))
    if end == index + 1 or clause.key(end) == "AS":
        return "A B+"
    return clause.text_at(clause.span(index + 1, end))


def explain_symbol_outside_pattern(
    tokens: TokenSequence, keyword: int, symbol: int
) -> MatchRecognizeError | None:
    """Return the error for a symbol of a row pattern outside PATTERN's parentheses.

    The result is None if the token is not a symbol of row patterns.

    Args:
        tokens: the tokens of the clause.
        keyword: the index of the word PATTERN.
        symbol: the index of a token outside the parentheses.
    """
    if tokens.key(symbol) not in _SYMBOLS_OF_PATTERNS:
        return None
    # The text to put into parentheses: all symbols, the parentheses, and the variables after `|`.
    start = keyword + 1
    end = start
    while end < len(tokens) and (
        tokens[end].kind is TokenKind.SYMBOL or tokens.key(end - 1) == "|"
    ):
        end = tokens.index_after(end)
    text = tokens.text_at(tokens.span(start, end))
    return errors.symbol_outside_pattern(tokens[symbol].span, symbol=tokens[symbol].text, text=text)
