"""Conditions that are windows, and windows inside of a match: by a slow reference, and with the
window that conditions say or without it.

A long run: MATCHREC_EXAMPLES=2000 pytest tests/properties/test_condition_windows.py
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import DataType

from matchrec.compile.path import Draft
from matchrec.conditions.row_column import OrderType
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
from tests.references.sql_values import ordered
from tests.tasks.query_batches import QueryBatch, Run, drafted

NAMES = ("part", "id", "ts", "kind")
BATCHES = (
    *((column, "ts") for column in COLUMNS),
    (COLUMNS[1], "ts NULLS LAST"),
    (COLUMNS[2], "ts NULLS LAST"),
    (COLUMNS[0], "ts DESC"),
)
QUERIES = max(10, min(20, examples(110) // len(BATCHES)))  # of one job, which holds all their rows
ROUNDS = max(1, examples(110) // (QUERIES * len(BATCHES)))
Event = tuple[int, int, Number | None, str]

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries


def random_events(random: Random, column: OrderColumn) -> list[Event]:
    """Four partitions of a few rows."""
    return [
        (number % 4, number, random_value(random, column), random.choice(KINDS))
        for number in range(36)
    ]


def sorted_events(events: list[Event], order: str) -> list[Event]:
    """A partition's rows in order."""
    known = [one for one in events if one[2] is not None]
    unknown = [one for one in events if one[2] is None]
    known.sort(key=lambda one: one[1])
    known.sort(key=lambda one: ordered(one[2]), reverse="DESC" in order)  # type: ignore[arg-type]
    first = "LAST" not in order and "DESC" not in order
    return unknown + known if first else known + unknown


def named_row(row: str, start: int, variables: tuple[str, ...]) -> int | None:
    """The position of the row that a conjunct names, if there is one."""
    if row == "first":
        return start
    found = [start + place for place, name in enumerate(variables) if name == row[-1]]
    return None if not found else found[0] if row.startswith("first") else found[-1]


def holds(one: Conjunct, rows: list[Event], start: int, variables: tuple[str, ...]) -> bool:
    """Whether a conjunct is true of the last of the variables."""
    place = named_row(one.row, start, variables)
    value = rows[start + len(variables) - 1][2]
    other = None if place is None else rows[place][2]
    return value is not None and other is not None and one.truth(value, other)


def keeps_to(one: RandomGap, rows: list[Event], start: int, variables: tuple[str, ...]) -> bool:
    """Whether the last of the variables lies as near to another one as a window says."""
    last = start + len(variables) - 1
    place = named_row(one.after, start, variables) if one.after else last - 1
    asked = variables[-1] == one.to if one.to else len(variables) > 1
    if not asked or place is None:
        return True
    value, other = rows[last][2], rows[place][2]
    return value is not None and other is not None and one.truth(value, other)


def reference(query: BoundedQuery, events: list[Event]) -> Iterator[tuple[str | None, ...]]:
    """Part, first and last id and last variable of each match, slowly."""
    skip = SkipTo.NEXT_ROW if query.skip == "TO NEXT ROW" else SkipTo.PAST_LAST_ROW
    for part in range(4):
        rows = sorted_events([one for one in events if one[0] == part], query.order)

        def may(_: int, start: int, variables: tuple[str, ...], rows: list[Event] = rows) -> bool:
            kinds, conjuncts = query.conditions[variables[-1]]
            is_kind = rows[start + len(variables) - 1][3] in kinds
            near = all(keeps_to(one, rows, start, variables) for one in query.gaps)
            bound = all(holds(one, rows, start, variables) for one in conjuncts)
            return is_kind and near and bound

        pattern = parse_row_pattern(query.pattern)
        for found in find_all(pattern, len(rows), may, AfterMatchSkip(skip), {}):
            if not found.word:
                yield str(part), None, None, None
                continue
            last = rows[found.start + len(found.word) - 1]
            yield str(part), str(rows[found.start][1]), str(last[1]), found.word[-1][0]


def literal(column: OrderColumn, value: Number | None) -> str:
    if value is None:
        return f"CAST(NULL AS {column.type})"
    text = "NaN" if isinstance(value, float) and math.isnan(value) else column.text(value)
    return f"CAST('{text}' AS {column.type})"


def create_view(spark: SparkSession, column: OrderColumn, events: list[Event]) -> None:
    rows = (f"({part}, {one}, {literal(column, ts)}, '{kind}')" for part, one, ts, kind in events)
    query = f"SELECT * FROM VALUES {', '.join(rows)} AS t(part, id, ts, kind)"
    spark.sql(query).createOrReplaceTempView("bounded")


@pytest.mark.parametrize("number", some_of(range(len(BATCHES) * ROUNDS)))
def test_a_window_that_is_found_changes_nothing(spark: SparkSession, number: int) -> None:
    column, order = BATCHES[number % len(BATCHES)]
    random = Random(f"{SEED} {number}")
    events = random_events(random, column)
    create_view(spark, column, events)
    found = (random_query(random, column, order) for _ in range(QUERIES))
    queries = {one.text("bounded"): one for one in found}
    batch = QueryBatch(spark, "bounded", [])
    batch.drafts |= drafts_of(queries, spark.table("bounded").schema["ts"].dataType)
    if order != "ts DESC":
        assert len(batch.drafts) > len(queries), "no window is found"
    linked = [(engine, batch.link(engine)) for engine in ("backtracking", "breadth_first")]
    assert not batch.refused
    prepared = batch.prepared(linked[0][1].values())
    runs = [(engine, text, one) for engine, all_ in linked for text, one in all_.items()]
    results = batch.answers([Run(one, prepared, None, 1 << 20) for _, _, one in runs])
    for (engine, text, _), rows in zip(runs, results, strict=True):
        expected = Counter(reference(queries[text.split(" -- ")[0]], events))
        assert Counter(rows) == expected, f"{engine}: {text}\n{events}"


def drafts_of(queries: Iterable[str], type_: DataType) -> Iterator[tuple[str, Draft]]:
    """The draft of each query, and once more if it has a window. type_: of the order column."""
    order = OrderType(to_value_type(type_), has_one_offset=True)
    for text in queries:
        plan = lower_clause(parse_sql(text).sites[0].clause)
        yield text, drafted(plan, NAMES)
        found = drafted(plan, NAMES, lambda _: order)
        if found.plan.within is not None:
            yield f"{text} -- with its window", found
