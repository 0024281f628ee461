"""The worker computes conditions over neighbouring rows as Spark's window functions do.

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
from matchrec.compile.joined_queries import JoinedQueries
from matchrec.compile.split_query import SplitQuery
from matchrec.conditions.row_column import RowColumn
from matchrec.conditions.split import RowScope
from matchrec.conditions.types import ValueType
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.plan.resolve import InputColumns
from matchrec.search.nearby import add_nearby_bits
from matchrec.spark.backends import make_runner
from matchrec.spark.preparations.spark_sorts import SortedPreparation
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


class ConditionGenerator:
    """A generator of conditions over a row and its neighbours."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def draw_read(self, column: str) -> str:
        """Return a column of the row or of a neighbour."""
        forms = ["{0}", "B.{0}", "PREV({0})", "PREV(B.{0})", "NEXT({0})", "PREV({0}, 2)"]
        return self.random.choice([*forms, *forms, "LAST(B.{0})"]).format(column)

    def draw_value(self, column: str, depth: int = 1) -> str:
        """Return an expression of the type of a column, or any number if that type is a number."""
        choice = self.random.random()
        if choice < 0.1:
            return self.random.choice([*LITERALS[column], "NULL"])
        if depth == 0 or choice < 0.6:
            return self.draw_read(column)
        left = self.draw_value(column, depth - 1)
        right = self.draw_value(column, depth - 1)
        forms = ["coalesce({0}, {1})", "CASE WHEN {2} THEN {0} ELSE {1} END", "greatest({0}, {1})"]
        if column in NUMBERS:
            right = self.draw_value(self.random.choice([column, column, "i", "d", "f"]), depth - 1)
            forms = [*forms, *["({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} % {1})"]]
            integer = self.draw_value(self.random.choice("isl"), 0)
            forms += [f"({integer} {sign} {integer})" for sign in "&|^"]
            forms += [f"try_multiply({integer}, 3)", f"shiftright({integer}, 1)"]
            forms += [f"~{integer}", f"try_divide({integer}, 2)"]
            forms += ["({0} / {1})", "abs({0})", "-({0})", "PREV({3} * 2)", "pmod({0}, {1})"]
        form = self.random.choice(forms)
        return form.format(left, right, self.draw_condition(0), column)

    def draw_condition(self, depth: int = 2) -> str:
        """Return a condition."""
        if depth and self.random.random() < 0.4:
            parts = [self.draw_condition(depth - 1) for _ in range(self.random.choice([2, 2, 3]))]
            word = self.random.choice([" AND ", " OR "])
            return f"{self.random.choice(['', 'NOT '])}({word.join(parts)})"
        column = self.random.choice(COMPARED)
        other = self.random.choice([column, column, *"id"]) if column in NUMBERS else column
        parts = [self.draw_value(column, min(depth, 1)) for _ in range(2)]
        parts.append(self.draw_value(other, 0))
        forms = [f"{{0}} {sign} {{2}}" for sign in ("=", "<>", "<", "<=", ">", ">", ">=", "<=>")]
        forms += ["{0} BETWEEN {1} AND {2}", "{0} IN ({1}, {2})", "{0} IS NULL", "{0} IS NOT NULL"]
        forms += ["{0} NOT IN ({1}, {2})", "{0} IS DISTINCT FROM {1}"]
        return self.random.choice(forms).format(*parts)


def split_one_condition(condition: str, scope: RowScope) -> SplitQuery:
    """Return the split form of a query with one condition, without filters of rows."""
    text = f"PARTITION BY k ORDER BY t MEASURES 1 AS one PATTERN (B) DEFINE B AS {condition}"
    columns = InputColumns(("k", "t", *COLUMNS))
    return replace(
        split_plan(lower_clause(parse_clause(text)), columns, str, scope=scope), row_filters=()
    )


@dataclass(frozen=True, eq=False)
class SplitCondition:
    """A condition, split for Spark's window and for the worker."""

    for_spark: SplitQuery
    for_worker: SplitQuery

    def list_columns(self) -> tuple[RowColumn, ...]:
        """Return the columns that Spark computes, before types are known."""
        conditions = (*self.for_spark.row_conditions, *self.for_worker.row_conditions)
        return (*conditions, *self.for_worker.columns)


def prepare(spark: SparkSession, split: SplitQuery, columns: Iterable[RowColumn]) -> DataFrame:
    """Return the columns for all rows, sorted."""
    relation = Relation(make_runner(spark), ("awkward",))
    plan = split.plan
    nothing = JoinedQueries((), plan.partition_keys, plan.order_by, (), ())
    return SortedPreparation(relation, nothing).build_rows(tuple(columns))


def link_conditions(
    conditions: Iterable[SplitCondition], types: Mapping[RowColumn, ValueType]
) -> dict[SplitCondition, CompiledQuery]:
    """Return the compiled queries of the conditions that the worker can compute."""
    compiled_queries = {}
    for condition in conditions:
        if condition.for_worker.reason_for_spark_sort is None:
            with suppress(MatchRecognizeUnsupportedError):
                compiled_queries[condition] = link(condition.for_worker, types, "auto", ansi=False)
    return compiled_queries


def compute_in_worker(compiled_query: CompiledQuery, prepared: Prepared) -> list[bool]:
    """Return for each row whether it satisfies the only condition of a query."""
    table = prepared.table(compiled_query, None)
    starts = np.append(np.flatnonzero(prepared.starts), table.num_rows).astype(np.int64)
    partitions = encode_partitions(compiled_query, table, starts)
    result = add_nearby_bits(partitions, compiled_query.nearby_conditions)
    (condition,) = compiled_query.task.conditions
    assert compiled_query.task.reads_only_data
    assert condition.row_bit is not None
    bits = result.condition_bits[:, 0] >> np.uint64(condition.row_bit) & np.uint64(1)
    return [bool(bit) for bit in bits]


@pytest.mark.parametrize("batch", range(-(-CONDITIONS // BATCH)))
def test_the_worker_computes_conditions_as_spark_does(spark: SparkSession, batch: int) -> None:
    random = Random(SEED + batch)
    texts = [ConditionGenerator(random).draw_condition() for _ in range(min(CONDITIONS, BATCH))]
    conditions = {
        SplitCondition(
            split_one_condition(text, RowScope.SPARK), split_one_condition(text, RowScope.WORKER)
        ): text
        for text in texts
    }
    any_split = next(iter(conditions)).for_worker  # for its keys
    with settings(spark, ansi__enabled="false", **INTERPRETED):
        create_rows(spark, random, "awkward", COLUMNS)
        columns = dict.fromkeys(
            column for condition in conditions for column in condition.list_columns()
        )
        fields = prepare(spark, any_split, columns).schema.fields
        types = {
            column: to_value_type(field.dataType)
            for column, field in zip(columns, fields, strict=False)
        }
        compiled_queries = link_conditions(conditions, types)
        sent_columns = (
            column
            for compiled_query in compiled_queries.values()
            for column in compiled_query.sent_columns.columns
        )
        columns |= dict.fromkeys(sent_columns)
        frame = prepare(spark, any_split, columns)
        table = fetch_rows(frame).combine_chunks()
    arrays = [table.column(f"__c{i}").combine_chunks() for i in range(len(columns))]
    starts = table.column("__bits0").to_numpy() == 1
    prepared = Prepared(dict(zip(columns, arrays, strict=True)), {}, starts)
    assert len(compiled_queries) > 0.8 * len(conditions)
    for condition, compiled_query in compiled_queries.items():
        (column,) = condition.for_spark.row_conditions
        expected = prepared.columns[column].fill_null(False).to_pylist()
        assert compute_in_worker(compiled_query, prepared) == expected, conditions[condition]
