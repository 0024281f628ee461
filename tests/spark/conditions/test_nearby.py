"""Conditions over neighbours are the same bits, whether Spark's window or the worker computes them.

A long run: MATCHREC_EXAMPLES=5000 MATCHREC_SEED=1000 pytest tests/spark/conditions/test_nearby.py
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.compile.steps import JoinedQueries, SplitQuery
from matchrec.conditions.row_column import RowColumn
from matchrec.conditions.split import RowScope
from matchrec.conditions.types import ValueType
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.plan.resolve import InputColumns
from matchrec.search.nearby import satisfy_nearby
from matchrec.spark.backends import make_runner
from matchrec.spark.columns import SortedPreparation
from matchrec.spark.relation import Relation
from matchrec.spark.types import to_value_type
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.lower import lower_clause
from matchrec.worker.encode import encode_partitions
from tests.generators.run_forms import Columns
from tests.properties.test_queries import INTERPRETED, settings
from tests.quick.scale import SEED, examples
from tests.spark.conditions.rows import create_rows
from tests.tasks.linking import link, split_plan
from tests.tasks.query_batches import Prepared, fetch_rows

CONDITIONS = examples(160)
BATCH = 160
COLUMNS: Columns = {
    "i": ("INT", [0, 1, 2, -3, 2**31 - 1, -(2**31)]),
    "s": ("SMALLINT", [0, 1, 2, -3, 2**15 - 1, -(2**15)]),
    "l": ("BIGINT", [0, 1, 2, -3, 2**63 - 1, -(2**63) + 1]),
    "d": ("DOUBLE", [0.0, -0.0, 0.5, 1.0, -3.0, 1e300, float("nan"), float("inf")]),
    "f": ("FLOAT", [0.0, -0.0, 0.1, 0.2, 0.35, 16777216, 3e38, float("nan")]),
    "m": ("DECIMAL(7, 2)", ["0", "1.25", "0.01", "-3", "99999.99"]),
    "w": ("DECIMAL(20, 3)", ["0", "1.250", "99999999999999999.999"]),
    "b": ("BOOLEAN", ["true", "false"]),
    "day": ("DATE", ["2024-02-29", "2024-03-01", "1969-12-31"]),
    "ts": ("TIMESTAMP", ["2024-02-29 00:00:00", "2024-03-01 12:00:00.000001"]),
    "name": ("STRING", ["a", "b", "", "é", "aa"]),
}
NUMBERS = "islldddffm"
COMPARED = [*NUMBERS, "w", "b", "day", "ts", "name", "f"]
LITERALS = {
    "i": ["1", "-3"],
    "s": ["2"],
    "l": ["2"],
    "d": ["0.5D", "1.1"],
    "f": ["1", "CAST(0.3 AS FLOAT)", "0.1"],
    "m": ["1.25"],
    "w": ["1.250"],
    "b": ["TRUE"],
    "day": ["DATE'2024-03-01'"],
    "ts": ["TIMESTAMP'2024-03-01 12:00:00'"],
    "name": ["'a'"],
}


class Conditions:
    """Draws conditions over a row and its neighbours."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def read(self, column: str) -> str:
        """Return a column of the row, or of one beside it."""
        ways = ["{0}", "B.{0}", "PREV({0})", "PREV(B.{0})", "NEXT({0})", "PREV({0}, 2)"]
        return self.random.choice([*ways, *ways, "LAST(B.{0})"]).format(column)

    def value(self, column: str, depth: int = 1) -> str:
        """Return a value of the type of a column, or of a number."""
        choice = self.random.random()
        if choice < 0.1:
            return self.random.choice([*LITERALS[column], "NULL"])
        if depth == 0 or choice < 0.6:
            return self.read(column)
        one, other = self.value(column, depth - 1), self.value(column, depth - 1)
        forms = ["coalesce({0}, {1})", "CASE WHEN {2} THEN {0} ELSE {1} END", "greatest({0}, {1})"]
        if column in NUMBERS:
            other = self.value(self.random.choice([column, column, "i", "d", "f"]), depth - 1)
            forms = [*forms, *["({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} % {1})"]]
            whole = self.value(self.random.choice("isl"), 0)
            forms += [f"({whole} {one} {whole})" for one in "&|^"] + [f"try_multiply({whole}, 3)"]
            forms += [f"shiftright({whole}, 1)", f"~{whole}", f"try_divide({whole}, 2)"]
            forms += ["({0} / {1})", "abs({0})", "-({0})", "PREV({3} * 2)", "pmod({0}, {1})"]
        form = self.random.choice(forms)
        return form.format(one, other, self.condition(0), column)

    def condition(self, depth: int = 2) -> str:
        """Anything that is true, false or unknown."""
        if depth and self.random.random() < 0.4:
            parts = [self.condition(depth - 1) for _ in range(self.random.choice([2, 2, 3]))]
            word = self.random.choice([" AND ", " OR "])
            return f"{self.random.choice(['', 'NOT '])}({word.join(parts)})"
        column = self.random.choice(COMPARED)
        other = self.random.choice([column, column, *"id"]) if column in NUMBERS else column
        parts = [self.value(column, min(depth, 1)) for _ in range(2)] + [self.value(other, 0)]
        forms = [f"{{0}} {one} {{2}}" for one in ("=", "<>", "<", "<=", ">", ">", ">=", "<=>")]
        forms += ["{0} BETWEEN {1} AND {2}", "{0} IN ({1}, {2})", "{0} IS NULL", "{0} IS NOT NULL"]
        forms += ["{0} NOT IN ({1}, {2})", "{0} IS DISTINCT FROM {1}"]
        return self.random.choice(forms).format(*parts)


def split_one_condition(condition: str, scope: RowScope) -> SplitQuery:
    """Return the split form of a query with one condition, from which no row stays behind."""
    text = f"PARTITION BY k ORDER BY t MEASURES 1 AS one PATTERN (B) DEFINE B AS {condition}"
    columns = InputColumns(("k", "t", *COLUMNS))
    return replace(
        split_plan(lower_clause(parse_clause(text)), columns, str, scope=scope), row_filters=()
    )


@dataclass(frozen=True, eq=False)
class Asked:
    """A condition, split for Spark's window and for the worker."""

    beside: SplitQuery
    ours: SplitQuery

    def columns(self) -> tuple[RowColumn, ...]:
        """Return what Spark is to compute before types are known."""
        conditions = (*self.beside.row_conditions, *self.ours.row_conditions)
        return (*conditions, *self.ours.columns)


def prepare(spark: SparkSession, split: SplitQuery, columns: Iterable[RowColumn]) -> DataFrame:
    """Return columns of all rows, sorted."""
    relation = Relation(make_runner(spark), ("awkward",))
    nothing = JoinedQueries((), split.plan, (), ())
    return SortedPreparation(relation, nothing).dataframe(tuple(columns))


def link_conditions(
    asked: Iterable[Asked], types: Mapping[RowColumn, ValueType]
) -> dict[Asked, CompiledQuery]:
    """Return the compiled queries of the conditions that the worker knows."""
    found = {}
    for one in asked:
        if one.ours.reason_for_spark_sort is None:
            with suppress(MatchRecognizeUnsupportedError):
                found[one] = link(one.ours, types, "auto", ansi=False)
    return found


def compute_in_worker(compiled_query: CompiledQuery, prepared: Prepared) -> list[bool]:
    """Return which rows satisfy the only condition of a query, as the worker computes it."""
    table = prepared.table(compiled_query, None)
    starts = np.append(np.flatnonzero(prepared.starts), table.num_rows).astype(np.int64)
    partitions = encode_partitions(compiled_query, table, starts)
    found = satisfy_nearby(partitions, compiled_query.nearby)
    (condition,) = compiled_query.task.conditions
    assert compiled_query.task.reads_only_data
    assert condition.row_condition is not None
    bits = found.satisfied[:, 0] >> np.uint64(condition.row_condition) & np.uint64(1)
    return [bool(bit) for bit in bits]


@pytest.mark.parametrize("batch", range(-(-CONDITIONS // BATCH)))
def test_the_worker_computes_what_sparks_window_does(spark: SparkSession, batch: int) -> None:
    random = Random(SEED + batch)
    texts = [Conditions(random).condition() for _ in range(min(CONDITIONS, BATCH))]
    asked = {
        Asked(split_one_condition(t, RowScope.SPARK), split_one_condition(t, RowScope.WORKER)): t
        for t in texts
    }
    plain = next(iter(asked)).ours
    with settings(spark, ansi__enabled="false", **INTERPRETED):
        create_rows(spark, random, "awkward", COLUMNS)
        columns = dict.fromkeys(column for one in asked for column in one.columns())
        fields = prepare(spark, plain, columns).schema.fields
        types = {c: to_value_type(f.dataType) for c, f in zip(columns, fields, strict=False)}
        compiled_queries = link_conditions(asked, types)
        crossing = (c for one in compiled_queries.values() for c in one.sent_columns.columns)
        columns |= dict.fromkeys(crossing)
        frame = prepare(spark, plain, columns)
        table = fetch_rows(frame).combine_chunks()
    arrays = [table.column(f"__c{i}").combine_chunks() for i in range(len(columns))]
    starts = table.column("__bits0").to_numpy() == 1
    prepared = Prepared(dict(zip(columns, arrays, strict=True)), {}, starts)
    assert len(compiled_queries) > 0.8 * len(asked)
    for one, compiled_query in compiled_queries.items():
        (column,) = one.beside.row_conditions
        expected = prepared.columns[column].fill_null(False).to_pylist()
        assert compute_in_worker(compiled_query, prepared) == expected, asked[one]
