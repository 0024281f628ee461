"""Random clauses as one rule set: each rule has the rows and failures of the reference.

The reference is `tests/references/queries`. A long run:

    MATCHREC_EXAMPLES=2000 MATCHREC_SEED=1000 pytest tests/properties/test_rule_sets.py
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

import matchrec
from matchrec.spark.preparations import preparation
from matchrec.worker.task_input import TaskInput
from tests.generators.queries import Batch, Order, Query, random_batch
from tests.properties.test_queries import (
    INTERPRETED,
    compute_answers,
    count_expected_rows,
    count_rows,
    settings,
    temporary_view,
)
from tests.quick.scale import SEED, copies_of, examples
from tests.references.queries import Answer
from tests.tasks.many_keys import KEY, make_copies, take_one_copy

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries

EXAMPLES = examples(12)
RULES = min(24, EXAMPLES)
ALGORITHMS = ("backtracking", "breadth_first")
SORTS = ("auto", "engine")


def sort_ascending(batch: Batch) -> Batch:
    """Return the batch in an order that a rule set can have."""
    return replace(batch, order=tuple(Order(item.column) for item in batch.order))


def write_clause(batch: Batch, query: Query) -> str:
    """Return the text of a query's clause from its measures on."""
    text = batch.text(query, "t")
    return text[text.index("MEASURES") : text.rindex(") AS r")]


def collect_rows_by_rule(
    matches: matchrec.RuleMatches, copies: int = 1
) -> dict[str, list[tuple[str | None, ...]]]:
    """Return the rows of each rule as text, and check that all copies have the same ones."""
    frames = []
    for name in matches.rules:
        frame = matches.rule(name)
        names = (column for column in frame.columns if column != KEY)
        texts = ", ".join(f"CAST({column} AS STRING)" for column in names)
        frames.append(frame.selectExpr(f"'{name}' AS rule", f"array({texts}) AS texts"))
    rows: dict[str, list[tuple[str | None, ...]]] = {name: [] for name in matches.rules}
    for row in take_one_copy(reduce(DataFrame.unionAll, frames), copies):
        rows[row.rule].append(tuple(row.texts))
    return rows


def collect_failures(matches: matchrec.RuleMatches, copies: int = 1) -> list[Row]:
    """Return the rule and the keys of each failure, and check that all copies have the same."""
    return take_one_copy(matches.errors.drop(KEY, "message"), copies)


def list_failed_partitions(failures: list[Row], name: str) -> Counter[tuple[Any, ...]]:
    """Return the keys of the partitions in which a rule failed."""
    return Counter(tuple(row)[1:] for row in failures if row.rule == name)


@pytest.mark.parametrize("seed", range(SEED, SEED + max(1, EXAMPLES // RULES)))
def test_each_rule_gives_the_rows_and_failures_of_the_reference(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    batch = sort_ascending(random_batch(SEED + 700_000 + seed, RULES))
    answers_by_rule: dict[str, tuple[Query, Answer]] = {
        f"rule {number}": pair for number, pair in enumerate(compute_answers(batch).items())
    }
    rules = {name: write_clause(batch, query) for name, (query, _) in answers_by_rule.items()}
    order = [item.column for item in batch.order]
    with temporary_view(spark, batch, "random_rules"), settings(spark, **INTERPRETED):
        for copies, rows_per_call in ((1, 3), (copies_of(len(batch.rows)), 256)):
            few = partial(TaskInput, rows_per_call=rows_per_call)
            monkeypatch.setattr(preparation, "TaskInput", few)
            events = make_copies(spark.table("random_rules"), copies)
            algorithm = ALGORITHMS[seed % 2]
            sort = SORTS[(seed + seed // 2) % 2]
            options = matchrec.Options(algorithm=algorithm, sort=sort)
            streams: Any = {"order_by": order, "partition_by": [KEY, *batch.by]}
            matches = matchrec.match_rules(
                events, rules, **streams, on_error="continue", options=options
            ).cache()
            rows = collect_rows_by_rule(matches, copies)
            errors = collect_failures(matches, copies)
            matches.unpersist()
            for name, (query, expected) in answers_by_rule.items():
                expected_rows = count_expected_rows(batch, query, expected)
                assert count_rows(batch, query, rows[name]) == expected_rows, name
                assert list_failed_partitions(errors, name) == Counter(list(expected.failures)), (
                    name
                )
