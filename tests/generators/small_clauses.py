"""Draw row patterns, conditions and rows, as SQL and for `references/matches_and_runs`.

Rows have the columns of `SCHEMA`: a key, a time that no other row of the key has, a letter and a
number that may be NULL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.references.matches_and_runs import (
    AnyOrder,
    Chain,
    Choice,
    Condition,
    Hidden,
    Loop,
    Node,
    Path,
    Query,
    Row,
)

SCHEMA = "k int, t int, kind string, x int"
KEYS = 12
VARIABLES = "ABC"
BOUNDS = ((0, None), (1, None), (0, 1), (2, 2), (1, 2), (0, 2), (2, None))


# Rows


def random_rows(random: Random) -> list[dict[str, Any]]:
    """Draw partitions of up to seven rows; some have another row without a time."""
    rows = []
    for key in range(KEYS):
        time = 0
        for _ in range(random.randint(1, 7)):
            time += random.choice((1, 1, 2, 4))
            x = random.choice((None, 0, 1, 2, 3))
            rows.append({"k": key, "t": time, "kind": random.choice("aabbcd"), "x": x})
        if random.random() < 0.15:
            rows.append({"k": key, "t": None, "kind": "a", "x": 1})
    return rows


def sort_partitions(rows: Sequence[Row], *, descending: bool = False) -> list[list[Row]]:
    """Return the rows of each key, sorted by time with NULL last."""
    partitions = []
    for key in sorted({row["k"] for row in rows}):
        key_rows = [row for row in rows if row["k"] == key]
        timed = [row for row in key_rows if row["t"] is not None]
        timed.sort(key=lambda row: row["t"], reverse=descending)
        partitions.append([*timed, *(row for row in key_rows if row["t"] is None)])
    return partitions


# Row patterns


def random_pattern(random: Random, depth: int, *, hides: bool = False) -> Node:
    """Draw a row pattern.

    Args:
        depth: how deep patterns are nested at most.
        hides: whether some variables may be in an exclusion.
    """
    kinds = ("variable", "chain", "chain", "choice", "loop", "loop", "any order")
    kind = random.choice(kinds) if depth else "variable"
    count = 0 if kind == "variable" else random.choice((2, 2, 3))
    parts = tuple(random_pattern(random, depth - 1, hides=hides) for _ in range(count))
    match kind:
        case "chain":
            return Chain(parts)
        case "choice":
            return Choice(parts)
        case "any order":
            return AnyOrder(parts[:2])
        case "loop" if not may_be_empty(parts[0]) and not isinstance(parts[0], Loop):
            return Loop(parts[0], *random.choice(BOUNDS), random.random() < 0.7)
    variable = random.choice(VARIABLES)
    return Hidden(variable) if hides and random.random() < 0.2 else variable


def random_pattern_with_a_and_b(
    random: Random, depth: int, *, hides: bool, finds_all_matches: bool
) -> Node:
    """Draw a row pattern that uses the variables A and B.

    With `finds_all_matches` it is never empty and has no exclusions, because ALL MATCHES takes two
    matches that differ only in their excluded rows as one match.

    Args:
        depth: how deep patterns are nested at most.
        hides: whether some variables may be in an exclusion.
        finds_all_matches: whether the query has ALL MATCHES.
    """
    while True:
        pattern = random_pattern(random, depth, hides=hides and not finds_all_matches)
        is_allowed = not finds_all_matches or not may_be_empty(pattern)
        if {"A", "B"} <= list_variables(pattern) and is_allowed:
            return pattern


def may_be_empty(node: Node) -> bool:
    """Return whether a pattern matches no rows."""
    match node:
        case str():
            return False
        case Chain(parts) | AnyOrder(parts):
            return all(map(may_be_empty, parts))
        case Choice(parts):
            return any(map(may_be_empty, parts))
        case Hidden(part):
            return may_be_empty(part)
        case Loop(part, least):
            return least == 0 or may_be_empty(part)


def list_variables(node: Node) -> set[str]:
    """Return the variables that a pattern uses."""
    match node:
        case str():
            return {node}
        case Chain(parts) | Choice(parts) | AnyOrder(parts):
            return set().union(*map(list_variables, parts))
        case Hidden(part) | Loop(part):
            return list_variables(part)


# Conditions


@dataclass(frozen=True)
class Definition:
    """A condition of DEFINE."""

    text: str  # its SQL
    holds: Condition  # the same for rows that are Python dicts


def random_definitions(random: Random, variables: set[str]) -> Mapping[str, Definition]:
    """Return conditions for most of the variables, for at least one of them."""
    drawn = {name: random_definition(random, name) for name in sorted(variables)}
    kept = {name: drawn[name] for name in drawn if random.random() < 0.9}
    return kept or drawn


def random_definition(random: Random, variable: str) -> Definition:
    """Return a condition for a variable, on the row alone or on rows before it."""
    letters = "".join(sorted(random.sample("abcd", random.choice((1, 2, 2, 3)))))
    of_kind = f"instr('{letters}', kind) > 0"

    def is_of_kind(rows: Sequence[Row], path: Path) -> bool:
        """Return whether the letter of the row is one of those that were drawn."""
        return rows[path[-1].position]["kind"] in letters

    def is_one_of_two(rows: Sequence[Row], path: Path) -> bool:
        """Return whether the row is also among the first two rows of the variable."""
        count = sum(mapped_row.variable == variable for mapped_row in path)
        return count < 3 and is_of_kind(rows, path)

    return random.choice(
        (
            Definition(of_kind, is_of_kind),
            Definition(of_kind, is_of_kind),
            Definition("x > PREV(x)", rises),
            Definition(f"count({variable}.*) < 3 AND {of_kind}", is_one_of_two),
            Definition("x >= FIRST(x)", reaches_first),
            Definition("x <= max(A.x)", is_below_highest_a),
        )
    )


def rises(rows: Sequence[Row], path: Path) -> bool:
    """Return whether `x > PREV(x)`. The row before it need not be in the match."""
    position = path[-1].position
    current = rows[position]["x"]
    before = rows[position - 1]["x"] if position else None
    return None not in (current, before) and current > before


def reaches_first(rows: Sequence[Row], path: Path) -> bool:
    """Return whether `x >= FIRST(x)`."""
    current = rows[path[-1].position]["x"]
    first = rows[path[0].position]["x"]
    return None not in (current, first) and current >= first


def is_below_highest_a(rows: Sequence[Row], path: Path) -> bool:
    """Return whether `x <= max(A.x)`. If no row of A has a value, it is NULL, which is not true."""
    values = [rows[mapped_row.position]["x"] for mapped_row in path if mapped_row.variable == "A"]
    not_null = [value for value in values if value is not None]
    current = rows[path[-1].position]["x"]
    return bool(not_null) and current is not None and current <= max(not_null)


# Clauses


def write_clause_end(
    query: Query, pattern: str, window: object, definitions: Mapping[str, Definition]
) -> str:
    """Return a clause from AFTER MATCH to its end.

    Args:
        pattern: the text in PATTERN.
        window: the length in WITHIN; None without WITHIN.
    """
    skip = "" if query.finds_all_matches else f"AFTER MATCH SKIP {query.skip.value}"
    output = "LONGEST MATCH" if query.finds_longest else ""
    output = "SKIP TILL ANY MATCH ALL MATCHES" if query.finds_all_matches else output
    within = "" if window is None else f"WITHIN {window}"
    conditions = (f"{name} AS {definition.text}" for name, definition in definitions.items())
    return f"""{skip}
            PATTERN ({pattern}) {output} {within}
            DEFINE {", ".join(conditions)}"""
