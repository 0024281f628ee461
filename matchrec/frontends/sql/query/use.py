"""What the query around a clause uses of its rows, told from the query's words.

A column that is named nowhere else is not read, unless something stands for all columns. A WHERE
that follows the clause and compares a column with constants holds of every row of the result.
Wherever that is not plain to see, everything is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from matchrec.frontends.expressions.function_names import words
from matchrec.frontends.lexing.tokens import Kind
from matchrec.frontends.sql.query.outline import Outline
from matchrec.plan.use import KeyTest, Use

Range = tuple[int, int]

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


def words_of(outline: Outline) -> Words:
    """The words of a whole query."""
    every = range(len(outline.tokens))
    stars = (i for i in every if outline.key(i) == "*" and not _is_operator(outline, i))
    return Words(*_counted(outline, every), tuple(stars))


def _counted(outline: Outline, indices: range) -> tuple[Counter[str], Counter[str]]:
    tokens = outline.tokens[indices.start : indices.stop]
    names = (token.name.lower() for token in tokens if token.can_name)
    return Counter(token.key for token in tokens), Counter(names)


def use_of(outline: Outline, start: int, closing: int, whole: Words) -> Use:
    """The use of the clause whose relation starts at `start` and that closes at `closing`.

    whole: the words of the query.
    """
    inside = range(start, closing + 1)
    names = None if _has_column_list(outline, closing) else _names(outline, inside, whole)
    return Use(names, tuple(_key_tests(outline, start, closing)))


def _names(outline: Outline, inside: range, whole: Words) -> frozenset[str] | None:
    keys, names = _counted(outline, inside)
    around = {key for key, count in whole.keys.items() if count > keys[key]}
    if "SELECT" not in around or around & _ALL_COLUMNS:
        return None
    if any(star not in inside for star in whole.stars):
        return None
    return frozenset(name for name, count in whole.names.items() if count > names[name])


def _is_operator(outline: Outline, index: int) -> bool:
    """Whether `*` multiplies, or counts rows."""
    before = outline.tokens[index - 1]
    if before.key == "(":
        return outline.key(index + 1) == ")" and outline.key(index - 2) == "COUNT"
    if before.kind in (Kind.NUMBER, Kind.STRING, Kind.QUOTED) or before.key in (")", "]"):
        return True
    return before.is_name and outline.key(index - 2) == "."


def _has_column_list(outline: Outline, closing: int) -> bool:
    """Whether an alias gives the columns other names: `AS m (a, b)`."""
    name = closing + 1 + (outline.key(closing + 1) == "AS")
    if outline.key(name + 1) != "(" or outline.key(name) in _BEFORE_PARENTHESIS:
        return False
    return outline.tokens[name].can_name


def _key_tests(outline: Outline, start: int, closing: int) -> Iterator[KeyTest]:
    """The tests of WHERE, if the clause is all that FROM names."""
    alias = closing + 1 + (outline.key(closing + 1) == "AS")
    where = alias if outline.key(alias) == "WHERE" else alias + 1
    if outline.key(start - 1) != "FROM" or outline.key(where) != "WHERE":
        return
    end = _end(outline, where + 1)
    level = list(outline.level(where + 1, end))
    if any(outline.key(index) in ("OR", "NOT", "CASE") for index in level):
        return
    for first, behind in _conjuncts(outline, level, end):
        qualified = alias < where and outline.key(first + 1) == "."
        name = first + 2 if qualified and _same_name(outline, first, alias) else first
        yield from _key_test(outline, name, behind)


def _same_name(outline: Outline, one: int, other: int) -> bool:
    return outline.tokens[one].name.lower() == outline.tokens[other].name.lower()


def _end(outline: Outline, start: int) -> int:
    inside = outline.enclosing(start)
    ends = (i for i in outline.level(start, inside) if outline.key(i) in _END_OF_WHERE)
    return next(ends, inside)


def _conjuncts(outline: Outline, level: list[int], end: int) -> Iterator[Range]:
    """The parts between AND; the one of BETWEEN parts nothing."""
    first, between = level[0] if level else end, False
    for index in level:
        key = outline.key(index)
        if key == "AND" and not between:
            yield first, index
            first = index + 1
        between = key == "BETWEEN" or (between and key != "AND")
    yield first, end


def _key_test(outline: Outline, name: int, end: int) -> Iterator[KeyTest]:
    """A column and a test of it that reads nothing else, if that is what stands there."""
    test = name + 1
    if test >= end or not outline.tokens[name].is_name:
        return
    key = outline.key(test)
    constants = range(test + 1, end)
    if key == "IN" and outline.pairs.get(test + 1) == end - 1:
        constants = range(test + 2, end - 1)
    elif key != "BETWEEN" and key not in _COMPARISONS:
        return
    if _are_constants(outline, constants):
        written = " ".join(token.text for token in outline.tokens[test:end])
        yield KeyTest(outline.tokens[name].name, written)


def _are_constants(outline: Outline, indices: range) -> bool:
    """Whether only constants stand there, and what parts them."""
    return len(indices) > 0 and all(
        outline.tokens[index].kind in (Kind.NUMBER, Kind.STRING)
        or outline.key(index) in ("-", ",", "AND")
        or (outline.key(index) in _BEFORE_CONSTANT and outline.tokens[index + 1].is_string)
        for index in indices
    )
