"""Find clauses and windows whose words are misspelt, or whose parentheses are missing.

Spark would reject these queries with an error about something else:

    FROM t MATCH RECOGNIZE (PATTERN ...)      two words
    FROM t MATCH_RECOGNISE (PATTERN ...)      a wrong letter
    FROM t MATCH_RECOGNIZE PATTERN (A B)      no parentheses
    SELEC * FROM t MATCH_RECOGNIZE (...)      a wrong first word of the statement
"""

from __future__ import annotations

import re

from matchrec.errors.kinds import locate_errors
from matchrec.errors.misspellings import (
    STATEMENT_KEYWORDS,
    count_misspelt_letters,
    find_keyword,
    find_query_keyword,
)
from matchrec.errors.misspelt_keywords import misspelt_keyword
from matchrec.errors.sql import query as errors
from matchrec.errors.sql.clause import pattern_without_parentheses
from matchrec.errors.sql.tokens import strange_sign
from matchrec.source import Source, Span
from matchrec.syntax.clause_parts import ClausePart, find_definite_part
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import TokenSequence

CLAUSE_NAME = re.compile(r"\bMATCH_RECOGNIZE\b", re.IGNORECASE)

# Words before a parenthesis that may be MATCH_RECOGNIZE, misspelt: see `_is_near_clause_name`.
_MAYBE_MISSPELT = re.compile(
    r"\b(MATCH[-_\s]*RE[A-Z0-9_]*|[A-Z]{3,8}[-_\s]*[A-Z0-9]{4,12}_?)(?=\s*\()", re.IGNORECASE
)

# The most wrong letters of a word that is read as a misspelt MATCH_RECOGNIZE.
_MAX_WRONG_LETTERS = 3

# A window with DEFINE, for a quick test of a query.
_WINDOW_WITH_DEFINE = re.compile(
    r"\b(OVER|WINDOW)\b.*\bDEFINE\s+\w+\s+AS\b", re.IGNORECASE | re.DOTALL
)


def reject_misspelt_clause(text: str) -> None:
    """Raise an error if MATCH_RECOGNIZE is misspelt before parentheses with PATTERN.

    Both `MATCH RECOGNIZE (` and `MATCH_RECOGNISE (` are found.
    """
    if "PATTERN" not in text.upper():
        return
    candidates = [
        candidate
        for candidate in _MAYBE_MISSPELT.finditer(text)
        if _is_near_clause_name(candidate[0])
    ]
    if not candidates:
        return
    tokens = read_tokens(text)
    for opening, closing in tokens.pairs.items():
        name_end = tokens[opening - 1].span.end
        for candidate in candidates:
            if candidate.end() != name_end:
                continue
            level = tokens.walk_level(opening + 1, closing)
            if any(find_definite_part(tokens, index) is ClausePart.PATTERN for index in level):
                raise misspelt_keyword(
                    Span(*candidate.span()), text=candidate[0], keyword="MATCH_RECOGNIZE"
                )


def reject_window_without_pattern(text: str) -> None:
    """Raise an error for a window with DEFINE whose PATTERN is misspelt or has no parentheses."""
    if not _WINDOW_WITH_DEFINE.search(text):
        return
    tokens = read_tokens(text)
    for opening, closing in tokens.pairs.items():
        level = list(tokens.walk_level(opening + 1, closing))
        has_define = any(
            tokens.key(index) == "DEFINE" and tokens.key(index + 2) == "AS" for index in level
        )
        if not has_define:
            continue
        for index in level:
            token = tokens[index]
            if token.key == "PATTERN":
                raise pattern_without_parentheses(token.span)
            if tokens.key(index + 1) == "(" and find_keyword(token.key) == "PATTERN":
                raise misspelt_keyword(
                    token.span, text=token.text, keyword="PATTERN", where="a row pattern window"
                )


def reject_clause_without_parenthesis(tokens: TokenSequence) -> None:
    """Raise an error for a MATCH_RECOGNIZE whose parts are not in parentheses.

    The query has no complete clause. A column or a table may be called MATCH_RECOGNIZE.
    """
    words = tokens.indices_by_key.get("MATCH_RECOGNIZE")
    if not words:
        return
    word = words[0]
    first = word + 1  # the first token of the parts
    if first < len(tokens) and tokens[first].needs_quotes:  # such as a full-width parenthesis
        raise strange_sign(tokens[first].text, "the query", tokens[first].span)
    if not _has_parts_after(tokens, word):
        return
    before = tokens.key(word - 1)
    has_parenthesis = tokens.key(first) == "("
    if before == "." and has_parenthesis:
        raise errors.dot_before_clause(tokens[word - 1].span)
    is_name = has_parenthesis or before in (".", "AS")
    if is_name:
        return
    has_table = tokens.key(first + 1) == "(" and tokens.can_name(first)  # MATCH_RECOGNIZE t (...)
    raise errors.clause_without_parenthesis(
        tokens[word].span,
        text=tokens.text_at(tokens.span(first, min(first + 3, len(tokens)))),
        table=tokens[first].text if has_table else "",
    )


def _has_parts_after(tokens: TokenSequence, word: int) -> bool:
    """Return whether PATTERN and another part of a clause seem to follow MATCH_RECOGNIZE.

    Args:
        tokens: the tokens of the query.
        word: the index of MATCH_RECOGNIZE.
    """
    after = range(word + 1, len(tokens))
    has_pattern = any(tokens.has_keys(index, "PATTERN", "(") for index in after)
    has_other_part = any(tokens.key(index) in ("MEASURES", "DEFINE") for index in after)
    begins_with_part = tokens.key(word + 1) in ("PARTITION", "ORDER", "PATTERN")
    return has_pattern and (has_other_part or begins_with_part)


def reject_misspelt_statement(tokens: TokenSequence) -> None:
    """Raise an error if the first word of a statement, such as SELEC, is a misspelt keyword."""
    if len(tokens) == 0 or not tokens[0].is_word:
        return
    keyword = find_query_keyword(tokens[0].text)
    if keyword in STATEMENT_KEYWORDS:
        raise misspelt_keyword(tokens[0].span, text=tokens[0].text, keyword=keyword)


def reject_misspelt_word_after_clause(tokens: TokenSequence, alias: int) -> None:
    """Raise an error if the alias of a clause is a misspelt keyword before an expression.

    In `) WHER (x > 1)`, the parentheses would be read as a list of column names. If other tokens
    follow the misspelt word, the engine reports it.

    Args:
        tokens: the tokens of the query.
        alias: the index of the alias.
    """
    word = tokens[alias]
    closing = tokens.pairs.get(alias + 1)
    if not word.is_word or tokens.key(alias - 1) == "AS" or tokens.key(alias + 1) != "(":
        return
    inside = tokens.tokens[alias + 2 : closing]
    keyword = find_query_keyword(word.text)
    has_expression = any(not token.can_name and token.key != "," for token in inside)
    if keyword is not None and has_expression:
        raise misspelt_keyword(word.span, text=word.text, keyword=keyword)


def reject_misspelt_text(text: str) -> None:
    """Raise the error of `reject_misspelt_statement` for a text.

    Raises:
        MatchRecognizeError: the first word is a misspelt keyword, or the text cannot be divided
            into tokens.
    """
    with locate_errors(Source(text)):
        reject_misspelt_statement(read_tokens(text))


def _is_near_clause_name(text: str) -> bool:
    """Return whether a text is MATCH_RECOGNIZE with a few letters wrong."""
    if CLAUSE_NAME.fullmatch(text):
        return False
    letters = re.sub(r"[-_\s]", "", text.upper())
    if letters.startswith("MATCHRE"):
        return True
    return (
        count_misspelt_letters(letters, "MATCHRECOGNIZE", _MAX_WRONG_LETTERS) <= _MAX_WRONG_LETTERS
    )
