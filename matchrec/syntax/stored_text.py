"""Find statements whose text Spark stores and reads again later.

CREATE TEMPORARY VIEW v AS SELECT ...    stores text that only this session reads: allowed
CREATE VIEW v AS SELECT ...              read by other sessions, where nobody evaluates a clause
"""

from __future__ import annotations

from matchrec.errors.sql import query as errors
from matchrec.syntax.clause_locations import ClauseLocation
from matchrec.syntax.tokens import TokenSequence, split_words

# The words of CREATE and ALTER before the one for what is created, such as VIEW.
_WORDS_BEFORE_OBJECT = split_words(
    "CREATE ALTER OR REPLACE GLOBAL TEMP TEMPORARY MATERIALIZED STREAMING REFRESH"
)


def stores_text(tokens: TokenSequence) -> bool:
    """Return whether Spark stores the text of the query: CREATE ... VIEW and CACHE TABLE."""
    return tokens.key(0) == "CACHE" or tokens.key(_find_created_object(tokens)) == "VIEW"


def _find_created_object(tokens: TokenSequence) -> int:
    """Return the index of the word for what CREATE or ALTER is about, such as VIEW.

    In other statements it is 0, the index of their first word.
    """
    index = 0
    if tokens.key(0) in ("CREATE", "ALTER"):
        while tokens.key(index) in _WORDS_BEFORE_OBJECT:
            index += 1
    return index


def reject_stored_text(tokens: TokenSequence, location: ClauseLocation) -> None:
    """Raise an error for a clause in a view of several sessions, in a function or in a script.

    Their text is stored, and read where nobody evaluates the clause.
    """
    if tokens.key(0) == "BEGIN":
        raise errors.clause_in_script(tokens[0].span)
    index = _find_created_object(tokens)
    if index == 0:
        return
    modifiers = [tokens.key(before) for before in range(min(index, location.word))]
    is_temporary = "TEMP" in modifiers or "TEMPORARY" in modifiers
    if tokens.key(index) == "VIEW" and "GLOBAL" in modifiers:
        raise errors.clause_in_global_view(tokens.span(0, index + 1))
    if tokens.key(index) == "VIEW" and not is_temporary:
        raise errors.clause_in_stored_text(tokens.span(0, index + 1), kind="a permanent view")
    if tokens.key(index) == "FUNCTION":
        raise errors.clause_in_stored_text(tokens.span(0, index + 1), kind="a function")
