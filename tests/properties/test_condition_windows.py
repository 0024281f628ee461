"""Conditions that form a window, and windows inside a match, against a slow reference.

A query whose conditions form a window also runs without that window. A long run:

    MATCHREC_EXAMPLES=2000 pytest tests/properties/test_condition_windows.py
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random
from typing import NamedTuple

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import DataType

from matchrec.compile.split_query import SplitQuery
from matchrec.conditions.window_columns import OrderType
from matchrec.plan.clauses import AfterMatchSkip, SkipTo
from matchrec.spark.types import to_value_type
from matchrec.syntax.locate import parse_sql
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.row_pattern import parse_row_pattern
from tests.generators.order_bounds import (
    COLUMNS,
    KINDS,
    BoundedQuery,
    Conjunct,
    Number,
    OrderColumn,
    RandomGap,
    random_query,
    random_value,
)
from tests.quick.scale import SEED, examples, some_of
from tests.references.matcher import find_all
from tests.references.sql_values import make_sort_key
from tests.tasks.query_batches import QueryBatch, Run, split_table_plan

# The columns of the table.
NAMES = ("part", "id", "ts", "kind")
# Is after the text of a query whose window is used, to tell its results from those without it.
WITH_ITS_WINDOW = " -- with its window"
# An order column, and ORDER BY: the queries of a job have the same.
BATCHES = (
    *((column, "ts") for column in COLUMNS),
    (COLUMNS[1], "ts NULLS LAST"),
    (COLUMNS[2], "ts NULLS LAST"),
    (COLUMNS[0], "ts DESC"),
)
# How many queries a job has. It holds the rows of all of them.
QUERIES = max(10, min(20, examples(110) // len(BATCHES)))
ROUNDS = max(1, examples(110) // (QUERIES * len(BATCHES)))

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries


class Event(NamedTuple):
    """A row of the table."""

    part: int
    number: int
    value: Number | None
    kind: str


def random_events(random: Random, column: OrderColumn) -> list[Event]:
    """Return four partitions of a few rows."""
    return [
        Event(number % 4, number, random_value(random, column), random.choice(KINDS))
        for number in range(36)
    ]


def sort_events(events: list[Event], order: str) -> list[Event]:
    """Return the rows of a partition in the order of the query."""
    with_value = [event for event in events if event.value is not None]
    with_null = [event for event in events if event.value is None]
    with_value.sort(key=lambda event: event.number)
    with_value.sort(key=lambda event: make_sort_key(event.value), reverse="DESC" in order)  # type: ignore[arg-type]
    nulls_first = "LAST" not in order and "DESC" not in order
    return with_null + with_value if nulls_first else with_value + with_null


def find_row(row: str, start: int, variables: tuple[str, ...]) -> int | None:
    """Return the position of the row with a name, or None if the match has no such row.

    Args:
        row: a value of `order_bounds.ROWS`.
        start: the position of the starting row.
        variables: the variables of the rows of the match.
    """
    if row == "first":
        return start
    positions = [start + index for index, name in enumerate(variables) if name == row[-1]]
    if not positions:
        return None
    return positions[0] if row.startswith("first") else positions[-1]


def holds(conjunct: Conjunct, rows: list[Event], start: int, variables: tuple[str, ...]) -> bool:
    """Return whether a conjunct holds for the last row of a run."""
    position = find_row(conjunct.row, start, variables)
    value = rows[start + len(variables) - 1].value
    other = None if position is None else rows[position].value
    return value is not None and other is not None and conjunct.truth(value, other)


def is_near(gap: RandomGap, rows: list[Event], start: int, variables: tuple[str, ...]) -> bool:
    """Return whether the last row of a run is as near to an earlier row as a window demands."""
    last = start + len(variables) - 1
    position = find_row(gap.after, start, variables) if gap.after else last - 1
    is_bounded = variables[-1] == gap.to if gap.to else len(variables) > 1
    if not is_bounded or position is None:
        return True
    value, other = rows[last].value, rows[position].value
    return value is not None and other is not None and gap.truth(value, other)


def find_matches(query: BoundedQuery, events: list[Event]) -> Iterator[tuple[str | None, ...]]:
    """Yield the partition, the first and last id, and the last variable of each match, slowly."""
    skip = SkipTo.NEXT_ROW if query.skip == "TO NEXT ROW" else SkipTo.PAST_LAST_ROW
    for part in range(4):
        rows = sort_events([event for event in events if event.part == part], query.order)

        def is_mapped(
            _: int, start: int, variables: tuple[str, ...], rows: list[Event] = rows
        ) -> bool:
            """Return whether the last row of a run satisfies the condition of its variable."""
            kinds, conjuncts = query.conditions[variables[-1]]
            return (
                rows[start + len(variables) - 1].kind in kinds
                and all(is_near(gap, rows, start, variables) for gap in query.gaps)
                and all(holds(conjunct, rows, start, variables) for conjunct in conjuncts)
            )

        pattern = parse_row_pattern(query.pattern)
        for match in find_all(pattern, len(rows), is_mapped, AfterMatchSkip(skip), {}):
            if not match.word:
                yield str(part), None, None, None
                continue
            first = rows[match.start]
            last = rows[match.start + len(match.word) - 1]
            yield str(part), str(first.number), str(last.number), match.word[-1][0]


def write_literal(column: OrderColumn, value: Number | None) -> str:
    """Return an order value as SQL."""
    if value is None:
        return f"CAST(NULL AS {column.type})"
    text = "NaN" if isinstance(value, float) and math.isnan(value) else column.text(value)
    return f"CAST('{text}' AS {column.type})"


def create_view(spark: SparkSession, column: OrderColumn, events: list[Event]) -> None:
    """Create the view `bounded` with the events."""
    rows = [
        f"({event.part}, {event.number}, {write_literal(column, event.value)}, '{event.kind}')"
        for event in events
    ]
    query = f"SELECT * FROM VALUES {', '.join(rows)} AS t(part, id, ts, kind)"
    spark.sql(query).createOrReplaceTempView("bounded")


@pytest.mark.parametrize("number", some_of(range(len(BATCHES) * ROUNDS)))
def test_a_window_that_is_found_changes_nothing(spark: SparkSession, number: int) -> None:
    column, order = BATCHES[number % len(BATCHES)]
    random = Random(f"{SEED} {number}")
    events = random_events(random, column)
    create_view(spark, column, events)
    drawn_queries = [random_query(random, column, order) for _ in range(QUERIES)]
    queries = {query.text("bounded"): query for query in drawn_queries}
    batch = QueryBatch(spark, "bounded", [])
    batch.split_queries |= split_queries(queries, spark.table("bounded").schema["ts"].dataType)
    if order != "ts DESC":
        assert len(batch.split_queries) > len(queries), "no window is found"
    linked = [(algorithm, batch.link(algorithm)) for algorithm in ("backtracking", "breadth_first")]
    assert not batch.refused
    prepared = batch.prepared(linked[0][1].values())
    cases = [
        (algorithm, text, compiled_query)
        for algorithm, compiled_queries in linked
        for text, compiled_query in compiled_queries.items()
    ]
    runs = [Run(compiled_query, prepared, None, 1 << 20) for _, _, compiled_query in cases]
    results = batch.answers(runs)
    for (algorithm, text, _), rows in zip(cases, results, strict=True):
        expected = Counter(find_matches(queries[text.removesuffix(WITH_ITS_WINDOW)], events))
        assert Counter(rows) == expected, f"{algorithm}: {text}\n{events}"


def split_queries(queries: Iterable[str], type_: DataType) -> Iterator[tuple[str, SplitQuery]]:
    """Yield each query with its conditions split, and again with the window that they form.

    Args:
        queries: the texts of the queries.
        type_: the type of the order column.
    """
    order = OrderType(to_value_type(type_), has_fixed_offset=True)
    for text in queries:
        plan = lower_clause(parse_sql(text).sites[0].clause)
        yield text, split_table_plan(plan, NAMES)
        with_window = split_table_plan(plan, NAMES, lambda _: order)
        if with_window.plan.within is not None:
            yield text + WITH_ITS_WINDOW, with_window
