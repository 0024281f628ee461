"""Random clauses as one rule set over streams: the output so far is that of the reference.

The reference is `tests/references/queries`. A long run:

    MATCHREC_EXAMPLES=2000 MATCHREC_SEED=1000 pytest tests/properties/test_rule_streams.py
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
from matchrec.spark.streaming.key_states import read_all_key_states
from matchrec.spark.streaming.search import ContiguousStates
from tests.generators.queries import Batch, Query, random_streams
from tests.properties.test_queries import (
    ALGORITHMS,
    INTERPRETED,
    cast_to_text,
    compute_answers,
    count_rows,
    settings,
    temporary_view,
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
from tests.tasks.stream_pieces import FakeGroupState, StreamedRules, read_times

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries

EXAMPLES = examples(8)
RULES = min(12, EXAMPLES)
# By key, then by the number of the rule, the first undecided starting row.
Decided = dict[tuple[Any, ...], dict[int, int]]


@pytest.mark.parametrize("seed", range(SEED, SEED + max(1, EXAMPLES // RULES)))
def test_rules_give_what_is_decided_of_the_reference(spark: SparkSession, seed: int) -> None:
    batch = sort_ascending(random_streams(SEED + 900_000 + seed, RULES))
    answers_by_rule = {
        f"rule {number}": pair for number, pair in enumerate(compute_answers(batch).items())
    }
    rules = {name: write_clause(batch, query) for name, (query, _) in answers_by_rule.items()}
    decided: Decided = {}

    with temporary_view(spark, batch, "random_rules"), settings(spark, **INTERPRETED):
        streamed = build_supported_rules(spark.table("random_rules"), rules, ALGORITHMS[seed % 2])
        batches = list(match_in_pieces(streamed, decided, Random(seed)))
        rows = pa.Table.from_batches(batches, streamed.worker.output.schema)
        matches = streamed.make_matches(hand_over(spark, rows, streamed.matches.rows.schema))
        texts, errors = collect_rows_by_rule(matches), collect_failures(matches)
    for number, name in enumerate(rules):
        query, answer = answers_by_rule[name]
        failures = set(answer.failures)
        assert set(list_failed_partitions(errors, name)) <= failures, name
        failed_keys = {cast_to_text(key) for (key,) in failures}
        decided_rows = [row for row in texts[name] if row[0] not in failed_keys]
        until = {key: by_rule[number] for key, by_rule in decided.items() if key not in failures}
        assert count_rows(batch, query, decided_rows) == compute_expected_rows(
            batch, query, until
        ), name


def build_supported_rules(
    events: DataFrame, rules: dict[str, str], algorithm: str
) -> StreamedRules:
    """Build the rule set, and delete rules that are not supported over streams from `rules`."""

    def match(rows: DataFrame) -> matchrec.RuleMatches:
        """Match the rules."""
        return matchrec.match_rules(
            rows,
            rules,
            order_by=["t", "n"],
            partition_by="k",
            on_error="continue",
            options=matchrec.Options(algorithm=algorithm),  # type: ignore[arg-type]
        )

    try:
        return StreamedRules(match, events, "t")
    except matchrec.MatchRecognizeUnsupportedError as error:
        refused = re.match("rule `(.*?)`: an aggregate that only Spark can compute", str(error))
        if refused is None:
            raise
        del rules[refused[1]]
        return build_supported_rules(events, rules, algorithm)


def match_in_pieces(
    streamed: StreamedRules, decided: Decided, random: Random
) -> Iterator[pa.RecordBatch]:
    """Yield the output rows of events that arrive in random pieces, nearly in order."""
    for frame in streamed.draw_buckets(random):
        # Some events arrive 700 seconds late.
        arrivals = [time + random.choice((0, 0, 700_000)) for time in read_times(frame)]
        order = sorted(range(len(frame)), key=lambda event: arrivals[event])
        events = frame.take(order).reset_index(drop=True)
        pieces = draw_pieces(read_times(events), random)
        group = FakeGroupState()
        rows = list(streamed.search_in_pieces(events, pieces, group))
        yield from pa.Table.from_pylist(rows, streamed.worker.output.schema).to_batches()
        decided.update(count_decided(streamed, group, frame))


def count_decided(streamed: StreamedRules, group: FakeGroupState, frame: pd.DataFrame) -> Decided:
    """Return how many starting rows of each key are decided, by key and rule."""
    searches = streamed.worker.searches
    (name,) = streamed.worker.event_layout.keys
    rows = Counter(
        streamed.worker.event_layout.encoding.decode_frame(frame).column(name).to_pylist()
    )
    decided = {(key,): dict.fromkeys(range(len(searches)), count) for key, count in rows.items()}
    if not group.exists:
        return decided
    keys = group.bucket_state.keys.column(name).to_pylist()
    numbers = {search.name: number for number, search in enumerate(searches)}
    for search, key_states in read_all_key_states(group.bucket_state.arrays, searches).items():
        assert isinstance(key_states.search_states, ContiguousStates)
        starts = key_states.search_states.undecided_start.values
        kept_rows = key_states.search_states.is_covered.sizes
        for key, start, count in zip(key_states.keys.tolist(), starts, kept_rows, strict=True):
            # The rows before `start` are decided. The kept rows from there on are not.
            decided[(keys[key],)][numbers[search]] += int(start - count)
    return decided


def compute_expected_rows(
    batch: Batch, query: Query, until: dict[tuple[Any, ...], int]
) -> Counter[tuple[str | None, ...]]:
    """Return the rows of the reference up to the first undecided starting row of each partition."""
    partitions = batch.partitions()
    rows = [
        tuple(map(cast_to_text, row))
        for key, decided in until.items()
        for row in compute_partition_rows(batch, query, partitions[key], decided)
    ]
    counts = count_rows(batch, query, rows)
    assert isinstance(counts, Counter)
    return counts
