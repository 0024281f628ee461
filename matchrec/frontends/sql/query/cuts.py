"""Where the clauses of a query stand."""

from __future__ import annotations

from matchrec.dataclass import dataclass
from matchrec.errors.sql import query as errors
from matchrec.frontends.lexing.function_names import words
from matchrec.frontends.lexing.token_sequence import TokenSequence
from matchrec.frontends.lexing.tokens import TokenKind

_BEFORE_RELATION = words("FROM JOIN USING")
_BEFORE_EXPRESSION = words("SELECT WHERE AND OR NOT ON HAVING CASE WHEN THEN ELSE BY IN DISTINCT")


@dataclass(frozen=True, slots=True)
class Cut:
    """One clause: the index of its word, of its opening and of its closing parenthesis."""

    word: int
    opening: int
    closing: int


def find_clauses(tokens: TokenSequence) -> tuple[Cut, ...]:
    """The clauses of a query in the order of evaluation: the inner ones end first.

    Their parentheses are closed.
    """
    found = []
    index = 0
    while index < len(tokens):
        if is_clause(tokens, index):
            cut = Cut(index, index + 1, tokens.pairs[index + 1])
            _refuse_inner(tokens, cut)
            found.append(cut)
            index = cut.closing
        index += 1
    return tuple(found)


def is_clause(tokens: TokenSequence, index: int) -> bool:
    """Whether a clause starts at `index`, and not a column, a table or a function of that name."""
    if tokens.key(index) != "MATCH_RECOGNIZE" or tokens.key(index + 1) != "(":
        return False
    if tokens.key(index - 1) in (".", "AS"):
        return False
    closing = tokens.pairs.get(index + 1, len(tokens))
    has_pattern = any(tokens.says(i, "PATTERN", "(") for i in tokens.level(index + 2, closing))
    return has_pattern or _ends_relation(tokens, index - 1)


def _ends_relation(tokens: TokenSequence, index: int) -> bool:
    if index < 0:
        return False
    if tokens[index].kind is TokenKind.SYMBOL:
        return tokens.key(index) in (")", "}")
    return tokens.key(index) not in _BEFORE_EXPRESSION | _BEFORE_RELATION


def _refuse_inner(tokens: TokenSequence, cut: Cut) -> None:
    for index in range(cut.opening + 1, cut.closing):
        if is_clause(tokens, index):
            raise errors.clause_in_clause(tokens[index].span)
