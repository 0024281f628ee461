"""Which known name the user probably meant by an unknown one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from string import digits

# The parts of a clause, for `find_keyword`.
KEYWORDS = (
    "PARTITION BY",
    "ORDER BY",
    "MEASURES",
    "ONE ROW PER MATCH",
    "ALL ROWS PER MATCH",
    "AFTER MATCH SKIP",
    "PATTERN",
    "WITHIN",
    "SUBSET",
    "DEFINE",
)


def find_keyword(word: str) -> str | None:
    """Return the part of the clause whose first word `word` probably misspells, or None.

    >>> find_keyword("PARTION"), find_keyword("DEFIEN"), find_keyword("price")
    ('PARTITION BY', 'DEFINE', None)
    """
    parts_by_first_word = {part.split()[0]: part for part in KEYWORDS}
    first_word = find_nearest(word, parts_by_first_word)
    return None if first_word is None else parts_by_first_word[first_word]


# The words with which a statement of SQL begins.
STATEMENT_KEYWORDS = (
    *("SELECT", "WITH", "FROM", "VALUES", "TABLE", "INSERT", "UPDATE", "DELETE", "MERGE", "CREATE"),
    *("REPLACE", "ALTER", "DROP", "TRUNCATE", "CACHE", "UNCACHE", "REFRESH", "EXPLAIN", "DESCRIBE"),
    *("DESC", "SHOW", "SET", "RESET", "USE", "ANALYZE", "EXECUTE", "DECLARE", "BEGIN", "CALL"),
)

# The words that follow an item or a table of a query.
_QUERY_KEYWORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "WINDOW", "VALUES"),
    *("JOIN", "INNER", "CROSS", "NATURAL", "OUTER", "USING", "LATERAL", "UNION", "INTERSECT"),
    *("EXCEPT", "DISTINCT", "PARTITION", "BETWEEN", "LIKE", "CASE", "WHEN", "THEN", "ELSE"),
)


def find_query_keyword(word: str) -> str | None:
    """Return the keyword of a query that `word` probably misspells, or None.

    The keyword may be one with which a statement begins, or one within a query.

    >>> find_query_keyword("WHER"), find_query_keyword("gruop"), find_query_keyword("INSRT")
    ('WHERE', 'GROUP', 'INSERT')
    >>> find_query_keyword("WHERE"), find_query_keyword("ord"), find_query_keyword("price")
    (None, None, None)
    """
    upper = word.upper()
    keywords = (*_QUERY_KEYWORDS, *STATEMENT_KEYWORDS)
    if upper in keywords or len(upper) < 3:
        return None
    for keyword in keywords:
        limit = 1 if len(keyword) < 8 else 2
        if len(keyword) > 3 and count_misspelt_letters(upper, keyword, limit) <= limit:
            return keyword
    return None


def find_misspelt_operator(word: str) -> str | None:
    """Return the operator that a word misspells by one letter; None for other words.

    >>> [find_misspelt_operator(word) for word in ("BETWEN", "an", "like", "x")]
    ['BETWEEN', 'AND', None, None]
    """
    operators = ("BETWEEN", "RLIKE", "LIKE", "AND")
    upper = word.upper()
    if len(word) < 2 or upper in operators:
        return None
    for operator in operators:
        if count_misspelt_letters(upper, operator, 1) <= 1:
            return operator
    return None


def find_nearest_or_part(name: str, known_names: Iterable[str]) -> str | None:
    """Return the nearest known name or, if no name is near, the only one that abbreviates `name`.

    A name abbreviates another name if one contains the other and has at most two letters more.

    >>> find_nearest_or_part("cnt", ["day", "n"]), find_nearest_or_part("kk", ["k", "v"])
    ('n', 'k')
    >>> find_nearest_or_part("prise", ["i", "v"]), find_nearest_or_part("nk", ["n", "k"])
    (None, None)
    """
    known_names = tuple(known_names)
    near = find_nearest(name, known_names)
    if near is not None:
        return near
    upper = name.upper()
    parts = [
        known_name
        for known_name in known_names
        if abs(len(known_name) - len(name)) <= 2
        and (known_name.upper() in upper or upper in known_name.upper())
    ]
    return parts[0] if len(parts) == 1 else None


def find_nearest(name: str, known_names: Iterable[str]) -> str | None:
    """Return the known name that `name` is probably a misspelling of, or None.

    Two names are near if one of these holds, whatever their case, with hyphens as underscores:

    - letters are wrong, missing, too many or swapped with the next one: one letter in a name of
      three or more, one letter missing in a name of three, one in four letters of the longer name;
    - one name begins with the other, and both have three letters or more;
    - they differ only by the number at their ends;
    - if no known name is near in one of these ways, `name` abbreviates a known name: it has four
      letters or more, at least half of the letters of the known name in their order, and the first
      and the last one.

    >>> find_nearest("DWN", ["STRT", "DOWN", "UP"]), find_nearest("pirce", ["price"])
    ('DOWN', 'price')
    >>> find_nearest("B", ["A"])
    >>> find_nearest("P1", ["A", "P"]), find_nearest("amnt", ["sym", "amount"])
    ('P', 'amount')
    """
    upper = name.upper().replace("-", "_")
    known_names = tuple(known_names)
    candidates = []
    for known_name in known_names:
        is_long = len(name) >= 3 or (len(name) == 2 and len(known_name) == 3)  # `dy` for `day`
        least_limit = 1 if is_long else 0
        limit = max(least_limit, max(len(name), len(known_name)) // 4)
        distance = count_misspelt_letters(upper, known_name.upper(), limit)
        if distance <= limit or are_same_but_for_end(upper, known_name.upper()):
            candidates.append((distance, known_name))
    if candidates:
        _, nearest_name = min(candidates, key=lambda candidate: candidate[0])
        return nearest_name
    full_names = [name for name in known_names if _abbreviates(upper, name.upper())]
    return min(full_names, key=len, default=None)


def _abbreviates(short: str, long: str) -> bool:
    """Return whether a name is another name without some inner letters: see `find_nearest`."""
    if len(short) < 4 or len(short) * 2 < len(long):
        return False
    return re.fullmatch(".*".join(map(re.escape, short)), long) is not None


def find_nearest_choice(word: str, choices: Sequence[str]) -> str | None:
    """Return the choice that `word` probably means, or None.

    The choices are few, so a word may differ more from its choice than in `find_nearest`.

    >>> find_nearest_choice("orcl", ["spark", "oracle"])
    'oracle'
    >>> find_nearest_choice("postgres", ["spark", "oracle"])
    """
    near = find_nearest(word, choices)
    if near is not None:
        return near
    from difflib import get_close_matches  # here, because workers import this module

    similar = get_close_matches(word.lower(), choices, n=1)
    return similar[0] if similar else None


def are_same_but_for_end(left: str, right: str) -> bool:
    """Return whether one name begins with the other, or they differ only by their last number.

    A name that begins another one has at least three letters.
    """
    if left.rstrip(digits) == right.rstrip(digits) != "":
        return True
    return min(len(left), len(right)) >= 3 and (left.startswith(right) or right.startswith(left))


def count_misspelt_letters(typed: str, intended: str, limit: int) -> int:
    """Return how many letters are wrong, missing, too many or swapped with the next one.

    The number is the optimal string alignment distance. Any number above `limit` is returned as
    `limit` + 1, because callers do not need it.

    >>> count_misspelt_letters("DWN", "DOWN", 2), count_misspelt_letters("pirce", "price", 2)
    (1, 1)
    >>> count_misspelt_letters("x", "price", 2)
    3
    """
    if abs(len(typed) - len(intended)) > limit:
        return limit + 1
    # A mistake can remove at most one letter of `intended`. This test is much faster than the
    # computation below.
    if len(set(intended).difference(typed)) > limit:
        return limit + 1
    # Rows of distances between the beginnings of both texts: row[j] is the distance between the
    # letters of `typed` so far and the first j letters of `intended`.
    row_before: list[int] = []
    row = list(range(len(intended) + 1))
    for typed_index, typed_letter in enumerate(typed):
        two_rows_before = row_before
        row_before = row
        row = [typed_index + 1]
        for j, letter in enumerate(intended):
            replaced = row_before[j] + (typed_letter != letter)
            left_out = row_before[j + 1] + 1
            added = row[j] + 1
            distance = min(replaced, left_out, added)
            are_swapped = (
                typed_index > 0
                and j > 0
                and typed_letter == intended[j - 1]
                and letter == typed[typed_index - 1]
            )
            if are_swapped:
                distance = min(distance, two_rows_before[j - 1] + 1)
            row.append(distance)
    return min(row[-1], limit + 1)
