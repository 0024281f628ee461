"""Random clauses as one rule set over streams: what has come out of each rule is the oracle's.

A long run: MATCHREC_EXAMPLES=2000 MATCHREC_SEED=1000 pytest tests/properties/test_rule_streams.py
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.spark.streaming.bucket import read_key_states
from matchrec.spark.streaming.search import COVERED, START
from tests.generators.queries import Batch, Query, random_streams
from tests.properties.test_queries import (
    ALGORITHMS,
    INTERPRETED,
    answers,
    counted,
    settings,
    table,
    text_of,
)
from tests.properties.test_rule_sets import (
    collect_failures,
    collect_rows_by_rule,
    list_failed_partitions,
    sort_ascending,
    write_clause,
)
from tests.quick.scale import SEED, examples
from tests.references.queries import compute_partition_rows
from tests.spark.test_streaming import draw_pieces
from tests.tasks.query_batches import hand_over
from tests.tasks.stream_pieces import Group, StreamedRules, read_times

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries

EXAMPLES = examples(8)
RULES = min(12, EXAMPLES)
Decided = dict[tuple[Any, ...], dict[int, int]]  # by key and rule, the first undecided starting row


@pytest.mark.parametrize("seed", range(SEED, SEED + max(1, EXAMPLES // RULES)))
def test_rules_give_what_is_decided_of_the_oracle(spark: SparkSession, seed: int) -> None:
    batch = sort_ascending(random_streams(SEED + 900_000 + seed, RULES))
    oracle = {f"rule {number}": one for number, one in enumerate(answers(batch).items())}
    rules = {name: write_clause(batch, query) for name, (query, _) in oracle.items()}
    decided: Decided = {}

    with table(spark, batch, "random_rules"), settings(spark, **INTERPRETED):
        streamed = build_streamed_rules(spark.table("random_rules"), rules, ALGORITHMS[seed % 2])
        batches = list(come_out(streamed, decided, Random(seed)))
        rows = pa.Table.from_batches(batches, streamed.bucket.rules.schema)
        found = streamed.of(hand_over(spark, rows, streamed.found.rows.schema))
        texts, errors = collect_rows_by_rule(found), collect_failures(found)
    for number, name in enumerate(rules):
        one, answer = oracle[name]
        failures = set(answer.failures)
        assert set(list_failed_partitions(errors, name)) <= failures, name
        apart = {text_of(key) for (key,) in failures}
        own = [row for row in texts[name] if row[0] not in apart]
        until = {key: by_rule[number] for key, by_rule in decided.items() if key not in failures}
        assert counted(batch, one, own) == compute_expected_rows(batch, one, until), name


def build_streamed_rules(events: DataFrame, rules: dict[str, str], algorithm: str) -> StreamedRules:
    """Return the rules that can stream; the others are refused, and taken out."""

    def query(rows: DataFrame) -> matchrec.RuleMatches:
        how: Any = {"on_error": "continue", "options": matchrec.Options(algorithm=algorithm)}
        return matchrec.match_rules(rows, rules, order_by=["t", "n"], partition_by="k", **how)

    try:
        return StreamedRules(query, events, "t")
    except matchrec.MatchRecognizeUnsupportedError as error:
        refused = re.match("rule `(.*?)`: an aggregate that only Spark can compute", str(error))
        if refused is None:
            raise
        del rules[refused[1]]
        return build_streamed_rules(events, rules, algorithm)


def come_out(streamed: StreamedRules, decided: Decided, random: Random) -> Iterator[pa.RecordBatch]:
    """Yield the rows of all rules, of events that come in random pieces, nearly in order."""
    for frame in streamed.buckets(random):
        near = [second + random.choice((0, 0, 700_000)) for second in read_times(frame)]
        events = frame.take(sorted(range(len(frame)), key=near.__getitem__))
        pieces, group = draw_pieces(read_times(events), random), Group()
        rows = list(streamed.in_pieces(events.reset_index(drop=True), pieces, group))
        yield from pa.Table.from_pylist(rows, streamed.bucket.rules.schema).to_batches()
        decided.update(count_decided(streamed, group, frame))


def count_decided(streamed: StreamedRules, group: Group, frame: pd.DataFrame) -> Decided:
    """Return how many starting rows of each key are decided, by key and rule."""
    searches, (name,) = streamed.bucket.searches, streamed.bucket.arriving.keys
    rows = Counter(streamed.bucket.arriving.encoding.decode_frame(frame).column(name).to_pylist())
    found = {(key,): dict.fromkeys(range(len(searches)), count) for key, count in rows.items()}
    if not group.exists:
        return found
    keys = group.memory.keys.column(name).to_pylist()
    numbers = {one.name: number for number, one in enumerate(searches)}
    for search, needs in read_key_states(group.memory.arrays, searches).items():
        starts, kept = needs.states[START].values, needs.states[COVERED].sizes
        for key, start, count in zip(needs.keys.tolist(), starts, kept, strict=True):
            found[keys[key],][numbers[search]] += int(start - count)
    return found


def compute_expected_rows(
    batch: Batch, query: Query, until: dict[tuple[Any, ...], int]
) -> Counter[tuple[str | None, ...]]:
    """Return the rows of the oracle up to the first undecided starting row of each partition."""
    partitions = batch.partitions()
    rows = [
        tuple(map(text_of, row))
        for key, decided in until.items()
        for row in compute_partition_rows(batch, query, partitions[key], decided)
    ]
    found = counted(batch, query, rows)
    assert isinstance(found, Counter)
    return found
