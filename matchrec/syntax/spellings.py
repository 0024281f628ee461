"""Find spellings of Spark SQL that Sail reads differently, and spell them for both engines.

    PIVOT (sum(v) FOR kind IN ('x'))            FOR (kind) IN ('x')
    FROM ticks AS match_recognize               FROM ticks AS `match_recognize`
    WITH Rises AS (...) SELECT * FROM rises     SELECT * FROM Rises

Only the query around the clauses, and the relations to which they apply, are searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from matchrec.errors.sql import query as errors
from matchrec.plan.text import quote_name
from matchrec.plan.words import NO_ALIAS_OF_SAIL
from matchrec.syntax.from_relations import find_relations_after
from matchrec.syntax.text_edits import TextEdit
from matchrec.syntax.tokenize import read_query_tokens
from matchrec.syntax.tokens import SPARK, QuoteDialect, TokenRange, TokenSequence
from matchrec.syntax.with_clauses import WithClause, find_with_clauses

# The words that such a part contains or comes after. A query without them needs no second look.
_WORDS_OF_SPELLINGS = re.compile(
    rf"\b(WITH|PIVOT|UNPIVOT|{'|'.join(sorted(NO_ALIAS_OF_SAIL))})\b", re.IGNORECASE
)


def find_spellings(text: str, dialect: QuoteDialect = SPARK) -> tuple[TextEdit, ...]:
    """Return the edits that respell a query so that Sail and Spark read it alike.

    Raises:
        MatchRecognizeUnsupportedError: UNPIVOT has an alias, which Sail leaves out.

    >>> query = "SELECT * FROM t PIVOT (sum(v) FOR kind IN ('x')) AS format"
    >>> for spelling in find_spellings(query):
    ...     print(spelling.span.start, spelling.text)
    34 (kind)
    52 `format`
    """
    if not _WORDS_OF_SPELLINGS.search(text):
        return ()
    tokens = read_query_tokens(text, dialect)
    reject_unpivot_aliases(tokens)
    return (*spell_pivot_columns(tokens), *spell_relation_names(tokens))


def spell_pivot_columns(tokens: TokenSequence) -> Iterator[TextEdit]:
    """Yield an edit to `(column)` for the column of each PIVOT over one column."""
    for pivot in tokens.indices_by_key.get("PIVOT", ()):
        closing = tokens.pairs.get(pivot + 1)
        if tokens.key(pivot + 1) != "(" or closing is None:
            continue
        for index in tokens.walk_level(pivot + 2, closing):
            is_named = tokens.key(index) == "FOR" and tokens[index + 1].is_name
            if is_named and tokens.has_keys(index + 2, "IN", "("):
                span = tokens[index + 1].span
                yield TextEdit(span, f"({tokens.text_at(span)})")


def spell_relation_names(tokens: TokenSequence) -> Iterator[TextEdit]:
    """Yield the edits of aliases that need backticks, and of names of WITH queries.

    Sail compares the name of a WITH query with regard to case, so a relation gets the name as it is
    written in WITH.
    """
    with_clauses = tuple(find_with_clauses(tokens))
    for word in sorted(
        (*tokens.indices_by_key.get("FROM", ()), *tokens.indices_by_key.get("JOIN", ()))
    ):
        for relation in find_relations_after(tokens, word, len(tokens)):
            for alias in relation.aliases:
                if tokens[alias].is_word and tokens.key(alias) in NO_ALIAS_OF_SAIL:
                    yield TextEdit(tokens[alias].span, quote_name(tokens[alias].text))
            name = find_defined_name(tokens, with_clauses, relation.start)
            if name is not None and name != tokens[relation.start].name:
                yield TextEdit(tokens[relation.start].span, quote_name(name))


def find_defined_name(
    tokens: TokenSequence, with_clauses: Sequence[WithClause], index: int
) -> str | None:
    """Return the name of the WITH query that a relation reads, as it is written in WITH.

    Names are compared without regard to case. If several WITH clauses define the name, the
    innermost one around the relation counts. The result is None if the relation is another table.

    Args:
        tokens: the tokens of the query.
        with_clauses: the WITH clauses of the query, outer ones first.
        index: the index of the first token of the relation.
    """
    if not tokens[index].is_name or tokens.key(index + 1) in (".", "("):
        return None
    name = tokens[index].name.lower()
    for clause in reversed(with_clauses):
        if not clause.start < index < clause.end:
            continue
        for table in reversed(clause.definitions):
            is_visible = table.closing < index or clause.is_recursive
            if is_visible and tokens[table.name].name.lower() == name:
                return tokens[table.name].name
    return None


def reject_unpivot_aliases(tokens: TokenSequence) -> None:
    """Reject an alias in UNPIVOT, as in `UNPIVOT (v FOR name IN (low AS bottom))`.

    Sail reads the alias but returns the name of the column, so the rows would be wrong.

    Raises:
        MatchRecognizeUnsupportedError: a column of UNPIVOT has an alias.
    """
    for start, end in find_unpivoted_columns(tokens):
        as_words = [index for index in tokens.walk_level(start, end) if tokens.key(index) == "AS"]
        if as_words and as_words[0] + 1 < end:
            column = tokens.text_at(tokens.span(start, as_words[0]))
            alias = tokens[as_words[0] + 1].text
            raise errors.alias_in_unpivot(tokens.span(start, end), column=column, alias=alias)


def find_unpivoted_columns(tokens: TokenSequence) -> Iterator[TokenRange]:
    """Yield the range of each column, with its alias, in the lists of UNPIVOT."""
    for unpivot in tokens.indices_by_key.get("UNPIVOT", ()):
        has_option = tokens.key(unpivot + 2) == "NULLS"  # UNPIVOT INCLUDE NULLS (
        opening = unpivot + (3 if has_option else 1)
        closing = tokens.pairs.get(opening)
        if tokens.key(opening) != "(" or closing is None:
            continue
        for index in tokens.walk_level(opening + 1, closing):
            if tokens.has_keys(index, "IN", "(") and index + 1 in tokens.pairs:
                yield from tokens.split_at_commas(index + 2, tokens.pairs[index + 1])
