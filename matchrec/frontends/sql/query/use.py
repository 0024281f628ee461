"""The words of a query tell what it uses of a clause's rows.

A column that is named nowhere else is not read, unless something stands for all columns. A WHERE
that follows the clause and compares a column with constants holds of every row of the result.
Wherever that is not plain to see, everything is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from matchrec.dataclass import dataclass
from matchrec.frontends.lexing.function_names import words
from matchrec.frontends.lexing.token_sequence import Range, TokenSequence
from matchrec.frontends.lexing.tokens import TokenKind
from matchrec.plan.use import KeyTest, Use

_ALL_COLUMNS = words("PIVOT UNPIVOT NATURAL IDENTIFIER TRANSFORM |>")
_END_OF_WHERE = words(
    "GROUP HAVING ORDER SORT CLUSTER DISTRIBUTE LIMIT OFFSET WINDOW QUALIFY UNION INTERSECT EXCEPT "
    "MINUS"
)
_COMPARISONS = words("= == <=> < <= > >= <> !=")
_BEFORE_PARENTHESIS = words("USING ON WHERE HAVING")
_BEFORE_CONSTANT = words("DATE TIMESTAMP")


@dataclass(frozen=True, slots=True)
class Words:
    """How often a query has each key and each name, lower case; where `*` is all columns."""

    keys: Counter[str]
    names: Counter[str]
    stars: tuple[int, ...]


def count_words(tokens: TokenSequence) -> Words:
    """The words of a query."""
    every = range(len(tokens))
    stars = (i for i in every if tokens.key(i) == "*" and not _is_operator(tokens, i))
    return Words(*_counted(tokens, every), tuple(stars))


def _counted(tokens: TokenSequence, indices: range) -> tuple[Counter[str], Counter[str]]:
    counted = tokens.tokens[indices.start : indices.stop]
    names = (token.name.lower() for token in counted if token.can_name)
    return Counter(token.key for token in counted), Counter(names)


def find_use(tokens: TokenSequence, start: int, closing: int, query: Words) -> Use:
    """The use of the clause whose relation starts at `start` and that closes at `closing`.

    query: the words of all of it.
    """
    inside = range(start, closing + 1)
    names = None if _has_column_list(tokens, closing) else _names(tokens, inside, query)
    return Use(names, tuple(_key_tests(tokens, start, closing)))


def _names(tokens: TokenSequence, inside: range, query: Words) -> frozenset[str] | None:
    keys, names = _counted(tokens, inside)
    around = {key for key, count in query.keys.items() if count > keys[key]}
    if "SELECT" not in around or around & _ALL_COLUMNS:
        return None
    if any(star not in inside for star in query.stars):
        return None
    return frozenset(name for name, count in query.names.items() if count > names[name])


def all_names(query: Words) -> frozenset[str] | None:
    """All that a query names, or None where something may stand for all columns."""
    if query.stars or query.keys.keys() & _ALL_COLUMNS:
        return None
    return frozenset(query.names)


def _is_operator(tokens: TokenSequence, index: int) -> bool:
    """Whether `*` multiplies, or counts rows."""
    before = tokens[index - 1]
    if before.key == "(":
        return tokens.key(index + 1) == ")" and tokens.key(index - 2) == "COUNT"
    if before.kind in (TokenKind.NUMBER, TokenKind.STRING, TokenKind.QUOTED) or before.key in (
        ")",
        "]",
    ):
        return True
    return before.is_name and tokens.key(index - 2) == "."


def _has_column_list(tokens: TokenSequence, closing: int) -> bool:
    """Whether an alias gives the columns other names: `AS m (a, b)`."""
    name = closing + 1 + (tokens.key(closing + 1) == "AS")
    if tokens.key(name + 1) != "(" or tokens.key(name) in _BEFORE_PARENTHESIS:
        return False
    return tokens[name].can_name


def _key_tests(tokens: TokenSequence, start: int, closing: int) -> Iterator[KeyTest]:
    """The tests of WHERE, if the clause is all that FROM names."""
    alias = closing + 1 + (tokens.key(closing + 1) == "AS")
    where = alias if tokens.key(alias) == "WHERE" else alias + 1
    if tokens.key(start - 1) != "FROM" or tokens.key(where) != "WHERE":
        return
    end = _end(tokens, where + 1)
    level = list(tokens.level(where + 1, end))
    if any(tokens.key(index) in ("OR", "NOT", "CASE") for index in level):
        return
    for first, after in _conjuncts(tokens, level, end):
        qualified = alias < where and tokens.key(first + 1) == "."
        name = first + 2 if qualified and _same_name(tokens, first, alias) else first
        yield from _key_test(tokens, name, after)


def _same_name(tokens: TokenSequence, one: int, other: int) -> bool:
    return tokens[one].name.lower() == tokens[other].name.lower()


def _end(tokens: TokenSequence, start: int) -> int:
    inside = tokens.enclosing(start)
    ends = (i for i in tokens.level(start, inside) if tokens.key(i) in _END_OF_WHERE)
    return next(ends, inside)


def _conjuncts(tokens: TokenSequence, level: list[int], end: int) -> Iterator[Range]:
    """The parts between AND; the one of BETWEEN parts nothing."""
    first, between = level[0] if level else end, False
    for index in level:
        key = tokens.key(index)
        if key == "AND" and not between:
            yield first, index
            first = index + 1
        between = key == "BETWEEN" or (between and key != "AND")
    yield first, end


def _key_test(tokens: TokenSequence, name: int, end: int) -> Iterator[KeyTest]:
    """A column and a test of it that reads nothing else, if that is what stands there."""
    test = name + 1
    if test >= end or not tokens[name].is_name:
        return
    key = tokens.key(test)
    constants = range(test + 1, end)
    if key == "IN" and tokens.pairs.get(test + 1) == end - 1:
        constants = range(test + 2, end - 1)
    elif key != "BETWEEN" and key not in _COMPARISONS:
        return
    if _are_constants(tokens, constants):
        written = " ".join(token.text for token in tokens.tokens[test:end])
        yield KeyTest(tokens[name].name, written)


def _are_constants(tokens: TokenSequence, indices: range) -> bool:
    """Whether only constants stand there, and what parts them."""
    return len(indices) > 0 and all(
        tokens[index].is_constant
        or tokens.key(index) in ("-", ",", "AND")
        or (tokens.key(index) in _BEFORE_CONSTANT and tokens[index + 1].is_string)
        for index in indices
    )
