"""Random SASE+ queries over random streams: both algorithms find the matches of the reference.

The reference enumerates matches as the definitions say. A long run:

    MATCHREC_EXAMPLES=2000 MATCHREC_SEED=1000 pytest tests/properties/test_sase.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import groupby, product
from random import Random

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.compile.compiled_query import CompiledQuery
from matchrec.patterns.sase import compile_sase, nodes
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns
from matchrec.spark.types import to_value_type
from tests.generators.sase import NAMES, SCHEMA, random_query, random_stream
from tests.generators.sase_trees import Event, Query, Value
from tests.properties.test_queries import INTERPRETED, settings
from tests.quick.scale import SEED, copies_of, examples
from tests.references.sase import EventsByVariable, find_matches, find_non_overlapping
from tests.tasks.linking import link, split_plan
from tests.tasks.many_keys import KEY, make_copies, take_one_copy
from tests.tasks.query_batches import QueryBatch, Result, Run

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries

EXAMPLES = examples(30)
QUERIES_PER_BATCH = 60
QUERIES_OF_A_QUICK_RUN = 3
STREAMS_PER_BATCH = 50
ALGORITHMS = ("backtracking", "breadth_first")
Rows = Counter[tuple[float | str | None, ...]]
ResultsByCase = dict[tuple[str, "SaseCase"], Result]


@dataclass(frozen=True)
class SaseCase:
    """A query, and which of its matches are output."""

    query: Query
    output: MatchOutput

    def plan(self) -> MatchPlan:
        """Return the plan of the query."""
        streams = nodes.StreamOptions(("t", "n"), ("s",), output=self.output)
        return compile_sase(str(self.query), streams)


class Streams:
    """Random streams as one table; the number of a stream is its partition."""

    def __init__(self, random: Random) -> None:
        numbers = range(STREAMS_PER_BATCH)
        self.streams = [random_stream(random, number) for number in numbers]

    def frame(self, spark: SparkSession, random: Random) -> DataFrame:
        """Return the events of all streams in random order."""
        rows = [tuple(event[name] for name in NAMES) for stream in self.streams for event in stream]
        random.shuffle(rows)
        return spark.createDataFrame(rows, SCHEMA)

    @contextmanager
    def view(self, spark: SparkSession, random: Random) -> Iterator[None]:
        """Create a temporary view with the events of all streams."""
        self.frame(spark, random).createOrReplaceTempView("random_events")
        try:
            yield
        finally:
            spark.catalog.dropTempView("random_events")

    def list_answers(self, case: SaseCase) -> list[list[Rows]]:
        """Return for each stream all correct answers, each as the output rows of the stream."""
        query = case.query
        if case.output is MatchOutput.NON_OVERLAPPING:
            return [list_alternatives(query, stream) for stream in self.streams]
        return [[compute_items(query, find_matches(query, stream))] for stream in self.streams]


def list_alternatives(query: Query, stream: list[Event]) -> list[Rows]:
    """Return the rows of every way to choose among matches of equal rank."""
    choices = product(*find_non_overlapping(query, stream))
    return [compute_items(query, choice) for choice in choices]


def compute_items(query: Query, selected: Sequence[EventsByVariable]) -> Rows:
    """Return the values of RETURN for some matches."""
    return Counter(
        tuple(make_comparable(tree.value(match)) for _, tree in query.items) for match in selected
    )


def make_comparable(value: Value) -> float | str | None:
    """Return a value, or its text in Spark, for comparison: numbers become doubles."""
    try:
        return None if value is None else float(value)
    except ValueError:
        return str(value)


class Batch(QueryBatch):
    """SASE+ queries with the same partitions, two Spark jobs for all of them."""

    def __init__(self, spark: SparkSession, cases: Sequence[SaseCase]) -> None:
        super().__init__(spark, "random_events", ())
        for case in cases:
            self.split_queries[case] = split_plan(case.plan(), InputColumns(NAMES), str)

    def link_for(self, algorithm: str) -> dict[SaseCase, CompiledQuery]:
        """Return the compiled queries for an algorithm."""
        columns = dict.fromkeys(
            column for split in self.split_queries.values() for column in split.columns
        )
        fields = self.columns(tuple(columns)).schema.fields
        types = {
            column: to_value_type(field.dataType)
            for column, field in zip(columns, fields, strict=False)
        }
        return {
            case: link(split, types, algorithm, ansi=True)
            for case, split in self.split_queries.items()
        }


def collect_results(
    spark: SparkSession, cases: Sequence[SaseCase], random: Random
) -> ResultsByCase:
    """Return the result of each algorithm, for queries with the same partitions."""
    batch = Batch(spark, cases)
    linked = {algorithm: batch.link_for(algorithm) for algorithm in ALGORITHMS}
    prepared = batch.prepared(linked[ALGORITHMS[0]].values())
    keys = [(algorithm, case) for algorithm in ALGORITHMS for case in cases]
    runs = [
        Run(linked[algorithm][case], prepared, None, random.choice((2, 1 << 20)))
        for algorithm, case in keys
    ]
    return dict(zip(keys, batch.answers(runs), strict=True))


def group_by_stream(rows: Result) -> list[Rows]:
    """Return the rows of each stream; the first column is its number."""
    streams: list[Rows] = [Counter() for _ in range(STREAMS_PER_BATCH)]
    for number, *values in rows:
        streams[int(number)][tuple(map(make_comparable, values))] += 1
    return streams


def find_difference(case: SaseCase, streams: Streams, rows: Result) -> str | None:
    """Describe the shortest stream whose rows are wrong; None if all are correct."""
    if isinstance(rows, str):
        return f"{case.query}\n{rows}"
    wrong = [
        (len(stream), number)
        for number, (stream, answers, stream_rows) in enumerate(
            zip(streams.streams, streams.list_answers(case), group_by_stream(rows), strict=True)
        )
        if stream_rows not in answers
    ]
    if not wrong:
        return None
    number = min(wrong)[1]
    events = "\n".join(map(str, streams.streams[number]))
    expected = streams.list_answers(case)[number][0]
    result = group_by_stream(rows)[number]
    return (
        f"{case.query}\n{case.output.value}: {len(wrong)} streams differ\n{events}\n"
        f"only expected: {dict(expected - result)}\nonly in the result: {dict(result - expected)}"
    )


def draw_cases(random: Random, count: int) -> list[SaseCase]:
    """Draw queries, each with the matches to output."""
    outputs = (MatchOutput.ALL, MatchOutput.ALL, MatchOutput.NON_OVERLAPPING)
    return [SaseCase(random_query(random), random.choice(outputs)) for _ in range(count)]


def list_keys(case: SaseCase) -> tuple[str, ...]:
    """Return the attributes that a query partitions by."""
    return () if case.query.strategy == "strict_contiguity" else case.query.keys


@pytest.mark.parametrize("seed", range(SEED, SEED + max(1, EXAMPLES // QUERIES_PER_BATCH)))
def test_both_algorithms_find_what_the_definitions_say(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    streams = Streams(random)
    differences = []
    with streams.view(spark, random), settings(spark, **INTERPRETED):
        count = min(max(EXAMPLES, QUERIES_OF_A_QUICK_RUN), QUERIES_PER_BATCH)
        cases = sorted(draw_cases(random, count), key=list_keys)
        for _, group in groupby(cases, key=list_keys):
            results = collect_results(spark, list(group), random)
            for (algorithm, case), rows in results.items():
                difference = find_difference(case, streams, rows)
                if difference is not None:
                    differences.append(f"{algorithm}: {difference}")
    assert not differences, "\n\n".join(sorted(differences, key=len)[:5])


def match_verbose(frame: DataFrame, query: Query, algorithm: str) -> DataFrame:
    """Return the matches of a query, each in one row."""
    streams = {"order_by": ("t", "n"), "partition_by": (KEY, "s")}
    return matchrec.match_sase(
        frame, str(query), **streams, options=matchrec.Options(algorithm=algorithm)
    )


def match_graph(frame: DataFrame, query: Query) -> DataFrame:
    """Return the matches of a query, unwound from a graph."""
    graph = matchrec.match_sase(
        frame, str(query), order_by=("t", "n"), partition_by=(KEY, "s"), output="graph"
    )
    return matchrec.explode_graph(graph)


WAYS = (
    partial(match_verbose, algorithm="backtracking"),
    partial(match_verbose, algorithm="breadth_first"),
    match_graph,
)


def write_numbers(query: Query, selected: EventsByVariable) -> str:
    """Return the numbers of the events of each variable, as text."""
    return "; ".join(
        " ".join(str(event["n"]) for event in selected[component.variable])
        for component in query.positive
    )


@pytest.mark.night  # compiles kernels that no other test needs, and joins large inputs
def test_verbose_and_unwound_matches_are_those_of_the_definitions(spark: SparkSession) -> None:
    random = Random(SEED + 100_000)
    streams = Streams(random)
    queries = [replace(random_query(random), items=()) for _ in range(max(1, EXAMPLES // 20))]
    knobs = {
        "execution__arrow__maxRecordsPerBatch": "64",
        "shuffle__partitions": "2",
        "adaptive__coalescePartitions__enabled": "false",
    }
    with settings(spark, **(INTERPRETED | knobs)):
        rows = streams.frame(spark, random).localCheckpoint()
        copies = copies_of(rows.count())
        frame = make_copies(rows, copies)
        results = []
        for (number, query), (way_number, way) in product(enumerate(queries), enumerate(WAYS)):
            arrays = (f"array_join({part.variable}.n, ' ')" for part in query.positive)
            texts = f"concat_ws('; ', {', '.join(arrays)}) AS match"
            run = f"{number * len(WAYS) + way_number} AS run"
            results.append(way(frame, query).selectExpr(run, "s", texts))
        result = take_one_copy(reduce(DataFrame.unionAll, results), copies)
    for run, (query, _) in enumerate(product(queries, WAYS)):
        expected = Counter(
            (number, write_numbers(query, match))
            for number, stream in enumerate(streams.streams)
            for match in find_matches(query, stream)
        )
        assert Counter((row.s, row.match) for row in result if row.run == run) == expected, query
