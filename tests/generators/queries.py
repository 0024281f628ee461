"""Draw random queries: rows, row pattern, conditions, measures, ROWS PER MATCH, AFTER MATCH SKIP.

A query holds its SQL, in the dialect that Spark and Trino share, and what a reference needs to
compute it. A batch is many queries over one table with one PARTITION BY and ORDER BY, so that one
Spark job can run all of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random

from matchrec.plan.clauses import CLAUSE_CHOICES, AfterMatchSkip, RowsPerMatch, SkipTo
from matchrec.plan.pattern import (
    Empty,
    Exclusion,
    PartitionEnd,
    PartitionStart,
    Quantified,
    RowPattern,
    Variable,
    list_negations,
    list_variable_names,
    make_alternation,
    make_concatenation,
    make_permutation,
    show_pattern,
    walk_pattern,
)
from matchrec.plan.row_counts import always_is_first_row
from tests.generators.conditions import Conditions, Measures
from tests.generators.expressions import Expression, Expressions, Limits, Row
from tests.references.sql_values import Value, write_constant

SCHEMA = "k string, n int, x int, y double, s string, t timestamp, b boolean"
NAMES = tuple(column.split()[0] for column in SCHEMA.split(", "))
# Bounds of quantifiers. The frequent ones are listed twice.
BOUNDS = (
    (0, None),
    (0, None),
    (1, None),
    (1, None),
    (0, 1),
    (2, 2),
    (2, None),
    (0, 2),
    (1, 3),
    (0, 0),
)
UNION = "U"
NO_LIMITS = Limits()
EPOCH = datetime(2024, 1, 1)


@dataclass(frozen=True)
class Order:
    """An item of ORDER BY. Only `n` is unique in a partition."""

    column: str
    descending: bool = False
    nulls_first: bool = True

    @property
    def text(self) -> str:
        """Return the SQL of the item."""
        direction = "DESC" if self.descending else "ASC"
        return f"{self.column} {direction} NULLS {'FIRST' if self.nulls_first else 'LAST'}"


@dataclass(frozen=True, eq=False)
class Query:
    """A query over the rows of its batch."""

    pattern: RowPattern
    definitions: dict[str, Expression]
    measures: tuple[Expression, ...]  # are named m0, m1, ...
    union: tuple[str, ...]  # the members of the SUBSET variable; empty without SUBSET
    rows_per_match: RowsPerMatch
    after_match: AfterMatchSkip
    skip_text: str  # the SQL of `after_match`
    window: int | None = None  # WITHIN, along the first sort key: minutes of `t`, or units of `n`
    window_rows: int | None = None  # WITHIN n ROWS

    @property
    def primary_variables(self) -> dict[str, frozenset[str]]:
        """Return for each variable the primary variables that it stands for."""
        negated = (name for negation in list_negations(self.pattern) for name in negation.names)
        names = (*list_variable_names(self.pattern), *negated)
        primary = {name: frozenset([name]) for name in names}
        return {**primary, UNION: frozenset(self.union)} if self.union else primary

    @property
    def has_one_row(self) -> bool:
        """Return whether the query has ONE ROW PER MATCH."""
        return self.rows_per_match is RowsPerMatch.ONE_ROW


@dataclass(frozen=True)
class Batch:
    """Queries over one table."""

    rows: tuple[Row, ...]
    by: tuple[str, ...]  # the columns of PARTITION BY
    order: tuple[Order, ...]
    queries: tuple[Query, ...]

    def partitions(self) -> dict[tuple[Value, ...], list[Row]]:
        """Return the sorted rows of each partition by its key. NULL keys are equal."""
        partitions: dict[tuple[Value, ...], list[Row]] = {}
        for row in self.rows:
            key = tuple(row[name] for name in self.by)
            partitions.setdefault(key, []).append(row)
        for rows in partitions.values():
            # Sorts are stable, so the last item goes first; then NULLs move to their end.
            for item in reversed(self.order):
                rows.sort(key=lambda row: make_sort_key(row[item.column]), reverse=item.descending)
                rows.sort(key=lambda row: (row[item.column] is None) is not item.nulls_first)
        return partitions

    def columns(self, query: Query) -> tuple[str, ...]:
        """Return the names of the output columns, in order."""
        measures = tuple(f"m{i}" for i in range(len(query.measures)))
        if query.has_one_row:
            return (*self.by, *measures)
        first = (*self.by, *(item.column for item in self.order))
        return (*first, *measures, *(name for name in NAMES if name not in first))

    def text(self, query: Query, relation: str) -> str:
        """Return the SQL of a query over a table or a subquery."""
        by = f"PARTITION BY {', '.join(self.by)} " if self.by else ""
        order = ", ".join(item.text for item in self.order)
        measures = ", ".join(f"{m.text} AS m{i}" for i, m in enumerate(query.measures))
        union = f" SUBSET {UNION} = ({', '.join(query.union)})" if query.union else ""
        within = ""
        if query.window is not None:
            minutes = self.order[0].column == "t"
            within = f" WITHIN {f'INTERVAL {query.window} MINUTES' if minutes else query.window}"
        if query.window_rows is not None:
            within = f" WITHIN {query.window_rows} ROWS"
        define = ", ".join(f"{name} AS {c.text}" for name, c in query.definitions.items())
        return (
            f"SELECT * FROM {relation} MATCH_RECOGNIZE ({by}ORDER BY {order} MEASURES {measures} "
            f"{query.rows_per_match.value} AFTER MATCH SKIP {query.skip_text} "
            f"PATTERN ({show_pattern(query.pattern)}){within}{union} DEFINE {define}) AS r"
        )

    def is_in_window(self, query: Query, first: Row, row: Row) -> bool:
        """Return whether a row is in the window of a starting row.

        It is not if the sort key of either is NULL.
        """
        if query.window is None:
            return True
        begin, end = first[self.order[0].column], row[self.order[0].column]
        if begin is None or end is None:
            return False
        window = query.window if self.order[0].column == "n" else timedelta(minutes=query.window)
        return bool(end - begin < window)


def make_sort_key(value: Value) -> tuple[bool, Value]:
    """Return a key by which values sort, NULL first."""
    return value is not None, 0 if value is None else value


def write_values(rows: Sequence[Row]) -> str:
    """Return the rows as a subquery that every engine can read."""
    types = dict(column.split() for column in SCHEMA.split(", "))
    types["s"] = types["k"] = "varchar(9)"
    listed = ", ".join(
        "(" + ", ".join(write_value(row[name]) for name in NAMES) + ")" for row in rows
    )
    casts = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in types.items())
    return f"(SELECT {casts} FROM (VALUES {listed}) AS v ({', '.join(NAMES)})) AS d"


def write_value(value: Value) -> str:
    """Return a value as SQL writes it before a cast to its type."""
    if isinstance(value, datetime):
        return f"'{value}'"
    return "'NaN'" if isinstance(value, float) and math.isnan(value) else write_constant(value)


def random_rows(random: Random, partitions: int, longest: int, *, with_nan: bool) -> list[Row]:
    """Draw shuffled rows.

    `n` is unique in the table. Partition keys and other values may be NULL.
    """
    keys = [None, *(f"k{i}" for i in range(1, partitions))][:partitions]
    floats = [None, 0.0, 0.5, 1.0, 1.75, -2.25, 0.1] + ([math.nan] if with_nan else [])
    rows: list[Row] = []
    for key in keys:
        for _ in range(random.randint(1, longest)):
            minutes = random.choice([None, 0, 10, 20, 30, 40, 50])
            row: Row = {
                "k": key,
                "n": len(rows),
                "x": random.choice([None, 0, 1, 1, 2, 3]),
                "y": random.choice(floats),
                "s": random.choice([None, "a", "b", "ab", "c"]),
                "t": None if minutes is None else EPOCH + timedelta(minutes=minutes),
                "b": random.choice([None, True, False]),
            }
            rows.append(row)
    random.shuffle(rows)
    return rows


class Patterns:
    """A source of random row patterns over some variables."""

    def __init__(self, random: Random, names: Sequence[str]) -> None:
        self.random = random
        self.names = names

    def draw_pattern(self, leaves: int) -> RowPattern:
        """Draw a pattern with a number of atoms."""
        random = self.random
        if leaves == 1:
            return self.quantify(self.draw_atom()) if random.random() < 0.45 else self.draw_atom()
        cut = random.randint(1, leaves - 1)
        parts = [self.draw_pattern(cut), self.draw_pattern(leaves - cut)]
        combine = random.choice(
            [*[make_concatenation] * 5, make_alternation, make_alternation, make_permutation]
        )
        node = combine(parts)
        if random.random() < 0.06:
            node = Exclusion(node)
        return self.quantify(node) if random.random() < 0.25 else node

    def draw_atom(self) -> RowPattern:
        """Draw a variable, an excluded variable, an anchor or the empty pattern."""
        if self.random.random() < 0.06:
            return self.random.choice([Empty(), PartitionStart(), PartitionEnd()])
        node: RowPattern = Variable(self.random.choice(self.names))
        return Exclusion(node) if self.random.random() < 0.05 else node

    def quantify(self, part: RowPattern) -> RowPattern:
        """Return the pattern with a random quantifier."""
        least, most = self.random.choice(BOUNDS)
        return Quantified(part, least, most, self.random.random() < 0.7)


def random_query(random: Random, limits: Limits, windows: Sequence[int]) -> Query:
    """Draw a query with at least one variable, definition and measure.

    Args:
        windows: the lengths of WITHIN to choose from; none for queries without WITHIN.
    """
    pattern = Patterns(random, "ABC").draw_pattern(random.randint(2, 5))
    names = list_variable_names(pattern)
    if not names:
        return random_query(random, limits, windows)
    union = tuple(random.sample(names, random.randint(1, len(names))))
    union = union if random.random() < 0.5 else ()
    expressions = Expressions(random, names, [UNION] if union else [], limits)
    defined = [name for name in names if random.random() < 0.6] or [names[0]]
    rows_per_match = random_rows_per_match(random, pattern)
    measures = Measures(expressions, all_rows=rows_per_match is not RowsPerMatch.ONE_ROW)
    after_match, skip_text = random_skip(random, pattern, names, union)
    query = Query(
        pattern,
        {name: Conditions(expressions, name).draw_condition() for name in defined},
        tuple(measures.draw_measure() for _ in range(random.randint(2, 4))),
        union,
        rows_per_match,
        after_match,
        skip_text,
        random.choice(windows) if windows and random.random() < 0.25 else None,
    )
    if limits.within and query.window is None and random.random() < 0.15:
        return replace(query, window_rows=random.randint(1, 4))
    return query


def random_rows_per_match(random: Random, pattern: RowPattern) -> RowsPerMatch:
    """Draw ROWS PER MATCH. A pattern with an exclusion cannot have WITH UNMATCHED ROWS."""
    excludes = any(isinstance(node, Exclusion) for node in walk_pattern(pattern))
    unmatched = RowsPerMatch.ALL_ROWS_WITH_UNMATCHED
    return random.choice(
        [option for option in CLAUSE_CHOICES if not (excludes and option is unmatched)]
    )


def random_skip(
    random: Random, pattern: RowPattern, names: Sequence[str], union: Sequence[str]
) -> tuple[AfterMatchSkip, str]:
    """Draw AFTER MATCH SKIP, and return it with its SQL.

    A skip to the first row of every match is replaced, because no plan may have one.

    Args:
        random: the source of randomness.
        pattern: the row pattern.
        names: its variables.
        union: the members of UNION; empty if there is none.
    """
    to = random.choice([*SkipTo, SkipTo.NEXT_ROW, SkipTo.PAST_LAST_ROW])
    if to in (SkipTo.NEXT_ROW, SkipTo.PAST_LAST_ROW):
        return AfterMatchSkip(to), to.value
    name = random.choice([*names, UNION] if union else names)
    members = frozenset(union if name == UNION else (name,))
    if always_is_first_row(pattern, members, last_of_members=to is SkipTo.LAST):
        return AfterMatchSkip(SkipTo.NEXT_ROW), SkipTo.NEXT_ROW.value
    short = to is SkipTo.LAST and random.random() < 0.5
    return AfterMatchSkip(to, name), f"TO {name}" if short else f"{to.value} {name}"


def random_batch(
    seed: int, queries: int, limits: Limits = NO_LIMITS, *, with_nan: bool = True
) -> Batch:
    """Draw a table and queries over it. One batch in eight is a single partition."""
    random = Random(seed)
    single = random.random() < 0.125
    rows = random_rows(random, 1 if single else 10, 6, with_nan=with_nan)
    order = [Order("n", random.random() < 0.2)]
    if random.random() < 0.5:
        flip = random.random() < 0.5
        order.insert(0, Order("t", random.random() < 0.3, flip))
    by = () if single else ("k",)
    windows = (15, 25, 45) if order[0].column == "t" else (2, 3, 5)
    windows = windows if limits.within and not order[0].descending else ()
    random_queries = tuple(random_query(random, limits, windows) for _ in range(queries))
    return Batch(tuple(rows), by, tuple(order), random_queries)


def random_streams(seed: int, queries: int) -> Batch:
    """Draw queries over streams.

    They are ordered by `t`, and have no `$`, because there is no last row.
    """
    random = Random(seed)
    rows = [row for row in random_rows(random, 10, 12, with_nan=True) if row["t"] is not None]
    order = (Order("t"), Order("n", random.random() < 0.5, random.random() < 0.5))
    random_queries: list[Query] = []
    while len(random_queries) < queries:
        query = random_query(random, NO_LIMITS, (15, 25, 45))
        if not any(isinstance(node, PartitionEnd) for node in walk_pattern(query.pattern)):
            random_queries.append(query)
    return Batch(tuple(rows), ("k",), order, tuple(random_queries))


def take_part(batch: Batch, keys: Sequence[tuple[Value, ...]], queries: Sequence[Query]) -> Batch:
    """Return a batch of some queries over some partitions."""
    kept = tuple(row for row in batch.rows if tuple(row[name] for name in batch.by) in keys)
    return replace(batch, rows=kept, queries=tuple(queries))
