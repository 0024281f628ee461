"""Find the clauses of a query.

    SELECT * FROM t MATCH_RECOGNIZE ( PATTERN (A B) ... ) AS m
                    word            opening             closing

Nothing is parsed: brackets and a few keywords of the query's tokens are enough. They are reliable
only if the brackets of the query pair up, so `clause_structure` checks this first.
"""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.plan.words import RESERVED
from matchrec.syntax.clause_structure import check_structure
from matchrec.syntax.tokens import TokenKind, TokenSequence, split_words

# Words that are not reserved, and after which MATCH_RECOGNIZE is a name all the same: no relation
# ends with them.
_WORDS_BEFORE_NAME = split_words("DIV ILIKE INTERVAL LIMIT MINUS QUALIFY REGEXP RLIKE SET VIEW XOR")


@dataclass(frozen=True, slots=True)
class ClauseLocation:
    """The location of a clause in a query, as indices of tokens."""

    # The word MATCH_RECOGNIZE.
    word: int
    # The parenthesis that opens the clause.
    opening: int
    # The parenthesis that closes the clause.
    closing: int


def find_clauses(tokens: TokenSequence) -> tuple[ClauseLocation, ...]:
    """Return the clauses of a query in the order of the text, which is the order of evaluation.

    Raises:
        MatchRecognizeError: the query has a clause, and its structure is wrong, see
            `clause_structure.check_structure`.
    """
    words = tokens.indices_by_key.get("MATCH_RECOGNIZE", ())
    clause_words = [word for word in words if _starts_clause(tokens, word)]
    if clause_words:
        check_structure(tokens, clause_words)
    return tuple(ClauseLocation(word, word + 1, tokens.pairs[word + 1]) for word in clause_words)


def _starts_clause(tokens: TokenSequence, word: int) -> bool:
    """Return whether a clause starts at the token `word`, which is MATCH_RECOGNIZE.

    The word can also be the name of a column, a table or a function. It starts a clause if a
    parenthesis follows, and either PATTERN is in the parentheses or a relation ends before the
    word. In the second case the clause is malformed, and our errors about it are better than the
    engine's, which would read a call of a function.
    """
    if tokens.key(word + 1) != "(" or tokens.key(word - 1) in (".", "AS"):
        return False
    # Until the check of the structure, the parenthesis may have no counterpart.
    inside_end = tokens.pairs.get(word + 1, len(tokens))
    level = tokens.walk_level(word + 2, inside_end)
    if any(tokens.has_keys(index, "PATTERN", "(") for index in level):
        return True
    return word > 0 and _can_end_relation(tokens, word - 1)


def _can_end_relation(tokens: TokenSequence, index: int) -> bool:
    """Return whether a relation in FROM may end with a token: a name, a string, `)` or `}`."""
    token = tokens[index]
    match token.kind:
        case TokenKind.SYMBOL:
            return token.key in (")", "}")
        case TokenKind.WORD:
            return token.key not in RESERVED | _WORDS_BEFORE_NAME
        case TokenKind.QUOTED | TokenKind.STRING:  # in some products, "t" is a string
            return True
    return False
