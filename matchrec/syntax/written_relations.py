"""The relations of a query, by its tokens: where each stands in FROM, and what it is called.

    relation := primary sample* [[AS] alias [(columns)]] (PIVOT (...) [[AS] alias])*
    primary  := (query) | VALUES rows | {frame} | name [(arguments)] | name@version

Only brackets and the words of FROM are read, so that whatever Spark takes elsewhere is right here.
Source: Spark's SqlBaseParser.g4, relationPrimary, relationExtension, strictNonReserved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from matchrec.plan.text import words_of
from matchrec.source import Span
from matchrec.syntax.tokens import Token, TokenSequence, words

NO_ALIAS = words_of("NO ALIAS")

_ROTATIONS = words("PIVOT UNPIVOT MATCH_RECOGNIZE")
_LITERALS = words("NULL TRUE FALSE")
_TRAVEL = words("VERSION TIMESTAMP SYSTEM_VERSION SYSTEM_TIME")
_SET_OPERATORS = words("UNION INTERSECT EXCEPT MINUS |> ;")
_BY = words("GROUP ORDER SORT CLUSTER DISTRIBUTE")
_AFTER_FROM = words("WHERE HAVING WINDOW LIMIT OFFSET QUALIFY LATERAL") | _BY
_BEFORE_NAME = words(
    "AND OR NOT IN LIKE BETWEEN = == <> != < <= > >= + - * / % || , ( . AS BY SELECT"
)


@dataclass(frozen=True, slots=True)
class WrittenRelation:
    """Tokens `start .. end` are a relation with its aliases, of which the last one counts."""

    start: int
    end: int
    name: str | None  # by which its columns may be qualified
    names: tuple[str, ...]  # it, and what it was called before
    aliases: tuple[int, ...] = ()  # the tokens of its aliases


def read_relation(tokens: TokenSequence, start: int, end: int) -> WrittenRelation:
    """The relation that starts at `start`, up to `end` or to what is no part of it."""
    index, name = _primary(tokens, start, end)
    names = [name] if name else []
    aliases: list[int] = []
    while index < end and not starts_part(tokens, index):
        after = past_sample(tokens, index, end)
        opening = _rotation(tokens, index)
        if after > index:
            index = after
        elif opening in tokens.pairs:
            index, name = tokens.past(opening), None
        elif (place := find_alias(tokens, index)) is not None and place < end:
            name = tokens[place].name
            names.append(name)
            aliases.append(place)
            index = tokens.past(place + 1) if tokens.key(place + 1) == "(" else place + 1
        else:
            break
    return WrittenRelation(start, min(index, end), name, tuple(names), tuple(aliases))


def relation_names(tokens: TokenSequence, start: int, end: int) -> frozenset[str]:
    """What the relations among tokens `start .. end` are called, in upper case."""
    found = (one for index in range(start, end) for one in relations_after(tokens, index, end))
    return frozenset(name.upper() for relation in found for name in relation.names)


def qualified_names(tokens: TokenSequence, indices: range) -> Iterator[tuple[Token, Span]]:
    """Each name with a dot after it and none before it, and where all of its path stands."""
    for index in indices:
        if tokens.can_name(index) and tokens.says(index + 1, ".") and tokens.key(index - 1) != ".":
            last = index
            while tokens.key(last + 1) == ".":
                last += 2
            yield tokens[index], tokens.span(index, min(last + 1, len(tokens)))


def relations_after(tokens: TokenSequence, index: int, end: int) -> Iterator[WrittenRelation]:
    """The relations of the FROM at `index`, or that of the JOIN there."""
    if is_word(tokens, index, "JOIN"):
        yield read_relation(tokens, index + 1, end)
    if not is_from(tokens, index):
        return
    yield read_relation(tokens, index + 1, end)
    for place in tokens.level(index + 1, min(end, tokens.enclosing(index))):
        if starts_part(tokens, place):
            return
        if tokens.key(place) == ",":
            yield read_relation(tokens, place + 1, end)


def is_word(tokens: TokenSequence, index: int, *written: str) -> bool:
    """Whether one of these words stands at `index`, and no field or alias of that name."""
    is_part = tokens.key(index - 1) in (".", "AS") or tokens.key(index + 1) == "."
    return tokens.key(index) in written and not is_part


def is_from(tokens: TokenSequence, index: int) -> bool:
    """Whether the FROM of a query stands at `index`: not that of `extract(DAY FROM x)`."""
    if tokens.key(index) != "FROM" or "." in (tokens.key(index - 1), tokens.key(index + 1)):
        return False
    if tokens.key(index - 1) == "DISTINCT" and tokens.key(index - 2) in ("IS", "NOT"):
        return False
    opening = tokens.around[index]
    before = {tokens.key(one) for one in tokens.level(opening + 1, index)}
    if tokens.key(index - 1) == "AS" and "SELECT" in before:
        return tokens.key(index + 1) not in ("", ",", ")", "FROM")  # else an alias
    return opening in (-1, index - 1) or not _QUERIES.isdisjoint(before)


_QUERIES = words("SELECT DELETE FROM WITH UNION INTERSECT EXCEPT MINUS")


def starts_part(tokens: TokenSequence, index: int) -> bool:
    """Whether what follows the relations of FROM, such as WHERE, starts at `index`."""
    if not is_word(tokens, index, *_AFTER_FROM):
        return False
    key, after = tokens.key(index), tokens.key(index + 1)
    if key == "WINDOW":
        return tokens.key(index + 2) == "AS"
    if key in _BY:
        return after == "BY"
    if key == "LATERAL":
        return after == "VIEW"
    return tokens.key(index - 1) not in _BEFORE_NAME and index + 1 < len(tokens)


def is_set_operator(tokens: TokenSequence, index: int) -> bool:
    """Whether a query ends at `index`, and another may start; not at that of `* EXCEPT (x)`."""
    return is_word(tokens, index, *_SET_OPERATORS) and tokens.key(index - 1) not in _BEFORE_NAME


def _primary(tokens: TokenSequence, start: int, end: int) -> tuple[int, str | None]:
    """The token after what comes before samples and aliases, and its own name if it has one."""
    if tokens.key(start) in ("(", "{"):
        return tokens.past(start), None
    if (rows := rows_of_values(tokens, start, end)) is not None:
        return rows, None
    index = start + (tokens.key(start) == "STREAM" and tokens.can_name(start + 1))
    while tokens.key(index + 1) == "." and index + 2 < end:
        index += 2
    if index >= end or not tokens[index].is_name:
        return start, None
    if tokens.key(index + 1) == "(":  # of a function; `STREAM(t)` has the name of its table
        is_stream = tokens.key(index) == "STREAM" and tokens.pairs.get(index + 1) == index + 3
        return tokens.past(index + 1), tokens[index + 2].name if is_stream else None
    is_version = tokens.key(index + 1) == "@"  # t@v1, t@20240101000000000
    return index + (3 if is_version else 1), tokens[index].name


def find_alias(tokens: TokenSequence, index: int) -> int | None:
    """Where the alias that starts at `index` has its name; None at a PIVOT or a sample."""
    has_as = tokens.key(index) == "AS" and tokens.can_name(index + 1)
    place = index + has_as
    if not tokens.can_name(place) or tokens.key(place) in NO_ALIAS:
        return None
    is_sampled = past_sample(tokens, place, len(tokens)) > place
    follows = is_sampled or _rotation(tokens, place) in tokens.pairs or starts_part(tokens, place)
    return place if has_as or not follows else None


def _rotation(tokens: TokenSequence, index: int) -> int:
    """Where the parenthesis of PIVOT, of UNPIVOT INCLUDE NULLS, of a clause at `index` opens."""
    if tokens.key(index) not in _ROTATIONS:
        return -1
    between = 2 if tokens.key(index + 2) == "NULLS" else 0
    return index + 1 + between if tokens.key(index + 1 + between) == "(" else -1


def rows_of_values(tokens: TokenSequence, start: int, end: int) -> int | None:
    """The token after the last row of the VALUES at `start`; None where no VALUES stands there."""
    if tokens.key(start) != "VALUES":
        return None
    rows = tokens.separated(start + 1, end)
    ends = [_row_end(tokens, *row) for row in rows]
    complete = ends[:-1] == [stop for _, stop in rows[:-1]]
    return ends[-1] if complete else None


def _row_end(tokens: TokenSequence, start: int, end: int) -> int | None:
    """Where the row of VALUES that starts at `start` ends, or None where none does."""
    if start >= end:
        return None
    index = start + (tokens.key(start) == "-")
    token = tokens[index]
    is_row = token.key == "(" or token.is_constant or token.key in _LITERALS
    return tokens.past(index) if is_row else None


def past_sample(tokens: TokenSequence, index: int, end: int) -> int:
    """The token after a sample, a version to travel to or options at `index`; `index` for none."""
    key = tokens.key(index)
    if key == "TABLESAMPLE" and index + 1 in tokens.pairs:
        after = tokens.pairs[index + 1] + 1
        return tokens.past(after + 1) if tokens.key(after) == "REPEATABLE" else after
    if key == "WITH" and tokens.key(index + 1) == "(":
        return tokens.past(index + 1)
    word = index + (key == "FOR")
    if tokens.key(word) not in _TRAVEL or not tokens.says(word + 1, "AS", "OF"):
        return index
    first = word + 3
    is_constant = first < end and tokens[first].is_constant
    for at in tokens.level(first, end):
        if at > first and (is_constant or tokens.key(at) in ("TABLESAMPLE", "AS")):
            return at
    return end
