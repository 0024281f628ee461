"""Find statements whose text Spark stores and reads again later.

Other sessions may read the text without matchrec, so it must not contain a clause:

    CREATE TEMPORARY VIEW v AS SELECT ...    only this session reads the text: allowed
    CREATE VIEW v AS SELECT ...              all sessions read the text: rejected
"""

from __future__ import annotations

from matchrec.errors.sql import query as errors
from matchrec.syntax.clause_locations import ClauseLocation
from matchrec.syntax.tokens import TokenSequence, split_words

# The words of CREATE and ALTER before the type of the object, such as VIEW.
_WORDS_BEFORE_OBJECT = split_words(
    "CREATE ALTER OR REPLACE GLOBAL TEMP TEMPORARY MATERIALIZED STREAMING REFRESH"
)


def stores_text(tokens: TokenSequence) -> bool:
    """Return whether Spark stores the text of the query, as for CREATE VIEW and CACHE TABLE."""
    return tokens.key(0) == "CACHE" or tokens.key(_find_created_object(tokens)) == "VIEW"


def _find_created_object(tokens: TokenSequence) -> int:
    """Return the index of the word for the type of the created or altered object, such as VIEW.

    For other statements, the result is 0, the index of their first word.
    """
    index = 0
    if tokens.key(0) in ("CREATE", "ALTER"):
        while tokens.key(index) in _WORDS_BEFORE_OBJECT:
            index += 1
    return index


def reject_stored_text(tokens: TokenSequence, location: ClauseLocation) -> None:
    """Raise an error for a clause in a view of several sessions, in a function or in a script.

    Spark reads the text of these without matchrec.

    Args:
        tokens: the tokens of the query.
        location: the location of a clause in the query.
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
