"""Read the relations of a query from its tokens: where each is in FROM, and its names.

    relation := primary sample* [[AS] alias [(columns)]] (PIVOT (...) [[AS] alias])*
    primary  := (query) | VALUES rows | {name of a DataFrame} | name [(arguments)] | name@version

In `FROM db.t AS a JOIN VALUES (1), (2) AS b (x)` the relations are `db.t AS a`, with the names `t`
and `a`, and `VALUES (1), (2) AS b (x)` with the name `b`.

Only brackets and the words of FROM are read, so that everything that Spark accepts elsewhere is
accepted here. Functions called `skip_...` return the index of the token after the skipped tokens.
Source: Spark's SqlBaseParser.g4, relationPrimary, relationExtension, strictNonReserved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from matchrec.plan.words import read_words
from matchrec.source import Span
from matchrec.syntax.tokens import Token, TokenSequence, split_words

# Words that cannot be an alias right after a relation.
NO_ALIAS = read_words("NO ALIAS")
# Words that can follow a relation, each before an opening parenthesis. A new alias can follow the
# closing one.
_ROTATIONS = split_words("PIVOT UNPIVOT MATCH_RECOGNIZE")
_LITERALS = split_words("NULL TRUE FALSE")
_TIME_TRAVEL = split_words("VERSION TIMESTAMP SYSTEM_VERSION SYSTEM_TIME")
_SET_OPERATORS = split_words("UNION INTERSECT EXCEPT MINUS |> ;")
# Words of a query that can come before its FROM.
_WORDS_BEFORE_FROM = split_words("SELECT DELETE FROM WITH UNION INTERSECT EXCEPT MINUS")
_WORDS_BEFORE_BY = split_words("GROUP ORDER SORT CLUSTER DISTRIBUTE")
_WORDS_AFTER_FROM = (
    split_words("WHERE HAVING WINDOW LIMIT OFFSET QUALIFY LATERAL") | _WORDS_BEFORE_BY
)
# Tokens after which an operand or a name follows, so that a keyword there is a name.
_BEFORE_NAME = split_words(
    "AND OR NOT IN LIKE BETWEEN = == <> != < <= > >= + - * / % || , ( . AS BY SELECT"
)


@dataclass(frozen=True, slots=True)
class FromRelation:
    """A relation of FROM with its samples, aliases and PIVOTs."""

    # The index of the first token.
    start: int
    # The index of the token after the relation.
    end: int
    # The name with which columns can be qualified: the last alias, or else the name of the table.
    # None if the relation has no name.
    name: str | None
    # All names, from left to right: the name of the table, and the aliases.
    names: tuple[str, ...]
    # The indices of the aliases.
    aliases: tuple[int, ...] = ()


def read_relation(tokens: TokenSequence, start: int, end: int) -> FromRelation:
    """Return the relation that starts at `start`.

    The relation ends at `end`, or before the first token that cannot be part of it. If no relation
    starts at `start`, the result is empty: its end is `start`.
    """
    primary = _read_primary(tokens, start, end)
    index = primary.end
    name = primary.name
    names = [name] if name else []
    aliases: list[int] = []
    while index < end and not starts_part_after_from(tokens, index):
        after_sample = _skip_sample_or_version(tokens, index, end)
        if after_sample > index:
            index = after_sample
            continue
        opening = _find_rotation(tokens, index)
        if opening is not None:
            index = tokens.index_after(opening)
            name = None  # The rotated rows have only the name of an alias after them.
            continue
        alias = find_alias(tokens, index)
        if alias is None or alias >= end:
            break
        name = tokens[alias].name
        names.append(name)
        aliases.append(alias)
        index = alias + 1
        if tokens.key(index) == "(":
            index = tokens.index_after(index)
    return FromRelation(start, min(index, end), name, tuple(names), tuple(aliases))


def list_relation_names(tokens: TokenSequence, start: int, end: int) -> frozenset[str]:
    """Return the names of all relations among tokens `start .. end`, in upper case."""
    names: set[str] = set()
    for index in range(start, end):
        for relation in find_relations_after(tokens, index, end):
            names.update(name.upper() for name in relation.names)
    return frozenset(names)


class QualifiedName(NamedTuple):
    """A path with a dot, such as `t.x`."""

    # The first name of the path.
    qualifier: Token
    # The span of the whole path.
    span: Span


def find_qualified_names(tokens: TokenSequence, indices: range) -> Iterator[QualifiedName]:
    """Yield every path with a dot that starts at one of the indices, from left to right."""
    for index in indices:
        starts_path = tokens.key(index - 1) != "." and tokens.key(index + 1) == "."
        if starts_path and tokens.can_name(index):
            last = _find_path_end(tokens, index)
            span = tokens.span(index, min(last + 1, len(tokens)))
            yield QualifiedName(tokens[index], span)


def _find_path_end(tokens: TokenSequence, index: int) -> int:
    """Return the index of the last name of the path at `index`, such as `c` of `a.b.c`."""
    while tokens.key(index + 1) == ".":
        index += 2
    return index


def find_relations_after(tokens: TokenSequence, index: int, end: int) -> Iterator[FromRelation]:
    """Yield the relations of the FROM at `index`, or the relation of the JOIN at `index`.

    The relations of a FROM are separated by commas. For other tokens, nothing is yielded.
    """
    if is_word(tokens, index, "JOIN"):
        yield read_relation(tokens, index + 1, end)
    if not is_from(tokens, index):
        return
    yield read_relation(tokens, index + 1, end)
    for following in tokens.walk_level(index + 1, min(end, tokens.find_end_of_parentheses(index))):
        if starts_part_after_from(tokens, following):
            return
        if tokens.key(following) == ",":
            yield read_relation(tokens, following + 1, end)


def is_word(tokens: TokenSequence, index: int, *keys: str) -> bool:
    """Return whether one of these words is at `index`, and is not a field or an alias."""
    is_name = tokens.key(index - 1) in (".", "AS") or tokens.key(index + 1) == "."
    return tokens.key(index) in keys and not is_name


def is_from(tokens: TokenSequence, index: int) -> bool:
    """Return whether the FROM of a query is at `index`.

    FROM does not belong to a query in `extract(DAY FROM x)`, in `x IS DISTINCT FROM y`, and if it
    is a name.
    """
    if tokens.key(index) != "FROM" or "." in (tokens.key(index - 1), tokens.key(index + 1)):
        return False
    words_before = tokens.key(index - 2), tokens.key(index - 1)
    if words_before in (("IS", "DISTINCT"), ("NOT", "DISTINCT")):
        return False
    opening = tokens.enclosing_openings[index]
    keys_before = {tokens.key(before) for before in tokens.walk_level(opening + 1, index)}
    if tokens.key(index - 1) == "AS" and "SELECT" in keys_before:
        # In `SELECT x AS from`, FROM is an alias. In `SELECT x AS FROM t`, AS is an alias.
        is_alias = tokens.key(index + 1) in ("", ",", ")", "FROM")
        return not is_alias
    is_in_no_brackets = opening == -1
    is_first_in_brackets = opening == index - 1
    if is_in_no_brackets or is_first_in_brackets:
        return True
    return not _WORDS_BEFORE_FROM.isdisjoint(keys_before)


def starts_part_after_from(tokens: TokenSequence, index: int) -> bool:
    """Return whether a part of the query that follows FROM starts at `index`, such as WHERE."""
    if not is_word(tokens, index, *_WORDS_AFTER_FROM):
        return False
    key = tokens.key(index)
    if key == "WINDOW":
        return tokens.key(index + 2) == "AS"
    if key in _WORDS_BEFORE_BY:
        return tokens.key(index + 1) == "BY"
    if key == "LATERAL":
        return tokens.key(index + 1) == "VIEW"
    return tokens.key(index - 1) not in _BEFORE_NAME and index + 1 < len(tokens)


def is_set_operator(tokens: TokenSequence, index: int) -> bool:
    """Return whether a query ends at `index`, with UNION, `;`, `|>` or a similar token.

    The EXCEPT of `* EXCEPT (x)` does not end a query.
    """
    return is_word(tokens, index, *_SET_OPERATORS) and tokens.key(index - 1) not in _BEFORE_NAME


class _Primary(NamedTuple):
    """The primary of a relation: `db.t` in `db.t AS a`, or a subquery, a call, VALUES, ..."""

    # The index of the token after the primary.
    end: int
    # The name of the table, without the names before it; None for a primary without a name.
    name: str | None


def _read_primary(tokens: TokenSequence, start: int, end: int) -> _Primary:
    """Return the primary of the relation at `start`.

    If no relation starts there, the primary is empty: its end is `start`.
    """
    if tokens.key(start) in ("(", "{"):
        return _Primary(tokens.index_after(start), None)
    values_end = skip_values(tokens, start, end)
    if values_end is not None:
        return _Primary(values_end, None)
    index = start
    if tokens.key(start) == "STREAM" and tokens.can_name(start + 1):
        index += 1
    while tokens.key(index + 1) == "." and index + 2 < end:  # the last name of a path
        index += 2
    if index >= end or not tokens[index].is_name:
        return _Primary(start, None)
    is_function = tokens.key(index + 1) == "("
    if is_function:
        # The result of a function has no name, but `STREAM(t)` has the name of its table.
        is_stream = tokens.key(index) == "STREAM" and tokens.pairs.get(index + 1) == index + 3
        name = tokens[index + 2].name if is_stream else None
        return _Primary(tokens.index_after(index + 1), name)
    has_version = tokens.key(index + 1) == "@"  # t@v1, t@20240101000000000
    return _Primary(index + (3 if has_version else 1), tokens[index].name)


def find_alias(tokens: TokenSequence, index: int) -> int | None:
    """Return the index of the alias in the `[AS] alias` at `index`.

    The result is None if other words are at `index`, for example a PIVOT, a sample or WHERE.
    """
    has_as = tokens.key(index) == "AS" and tokens.can_name(index + 1)
    alias = index + 1 if has_as else index
    if not tokens.can_name(alias) or tokens.key(alias) in NO_ALIAS:
        return None
    if has_as:
        return alias
    is_something_else = (
        _skip_sample_or_version(tokens, alias, len(tokens)) > alias
        or _find_rotation(tokens, alias) is not None
        or starts_part_after_from(tokens, alias)
    )
    return None if is_something_else else alias


def _find_rotation(tokens: TokenSequence, index: int) -> int | None:
    """Return the opening parenthesis of the PIVOT, UNPIVOT or clause at `index`.

    The result is None if none of them is at `index`, or if the parenthesis is not closed.
    """
    if tokens.key(index) not in _ROTATIONS:
        return None
    has_option = tokens.key(index + 2) == "NULLS"  # UNPIVOT INCLUDE NULLS (
    opening = index + (3 if has_option else 1)
    return opening if tokens.key(opening) == "(" and opening in tokens.pairs else None


def skip_values(tokens: TokenSequence, start: int, end: int) -> int | None:
    """Return the index of the token after the last row of the VALUES at `start`.

    The result is None if the word is not VALUES, or if no rows follow, so that VALUES is a name.
    """
    if tokens.key(start) != "VALUES":
        return None
    *rows, last_row = tokens.split_at_commas(start + 1, end)
    for row_start, comma in rows:
        if _find_row_end(tokens, row_start, comma) != comma:
            return None
    return _find_row_end(tokens, *last_row)


def _find_row_end(tokens: TokenSequence, start: int, end: int) -> int | None:
    """Return the index of the token after the row of VALUES that starts at `start`.

    A row is in parentheses, or it is a single constant. The result is None for other tokens.
    """
    if start >= end:
        return None
    index = start + 1 if tokens.key(start) == "-" else start
    token = tokens[index]
    is_row = token.key == "(" or token.is_constant or token.key in _LITERALS
    return tokens.index_after(index) if is_row else None


def _skip_sample_or_version(tokens: TokenSequence, index: int, end: int) -> int:
    """Return the index after the sample, the version of the table or the options at `index`.

        TABLESAMPLE (10 PERCENT) REPEATABLE (7)    VERSION AS OF 5    WITH (option = 1)

    For other tokens, the result is `index` itself.
    """
    key = tokens.key(index)
    if key == "TABLESAMPLE" and index + 1 in tokens.pairs:
        sample_end = tokens.pairs[index + 1] + 1
        if tokens.key(sample_end) == "REPEATABLE":
            return tokens.index_after(sample_end + 1)
        return sample_end
    if key == "WITH" and tokens.key(index + 1) == "(":
        return tokens.index_after(index + 1)
    word = index + 1 if key == "FOR" else index
    if tokens.key(word) not in _TIME_TRAVEL or not tokens.has_keys(word + 1, "AS", "OF"):
        return index
    # The version or the time is a constant, which is one token, or an expression up to an alias.
    first = word + 3
    is_constant = first < end and tokens[first].is_constant
    if is_constant:
        return min(first + 1, end)
    for index_after_first in tokens.walk_level(first, end):
        if index_after_first > first and tokens.key(index_after_first) in ("TABLESAMPLE", "AS"):
            return index_after_first
    return end
