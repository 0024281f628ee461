"""Random queries: both algorithms give the rows of a reference in plain Python.

The reference is `tests/references/queries`. A long run:

    MATCHREC_EXAMPLES=5000 MATCHREC_SEED=1000 pytest tests/properties/test_queries.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import reduce
from itertools import product

import pyarrow as pa
import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.conditions.row_column import build_row_column
from matchrec.conditions.split import RowScope
from matchrec.plan.text import quote_name
from tests.generators.expressions import COLUMNS, Type
from tests.generators.queries import NAMES, SCHEMA, Batch, Query, random_batch
from tests.quick.scale import SEED, copies_of, examples
from tests.references.queries import Answer, TooManyWords, answer
from tests.references.sql_values import Value
from tests.tasks.many_keys import make_copies, take_one_copy
from tests.tasks.query_batches import Prepared, QueryBatch, Result, Run

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries

EXAMPLES = examples(18)
QUERIES_PER_BATCH = 50
QUERIES_OF_A_QUICK_RUN = 8
ALGORITHMS = ("backtracking", "breadth_first")
INTERPRETED = {  # faster for so many columns and so few rows
    "codegen__wholeStage": "false",
    "codegen__factoryMode": "NO_CODEGEN",
    "shuffle__partitions": "1",
}
MESSAGES = {
    "skip_to_missing_row": "the match has no row of",
    "skip_to_first_row": "goes to the first row of the match",
}


def compute_answers(batch: Batch) -> dict[Query, Answer]:
    """Return the answers of the reference, without queries for which it would take too long."""
    answers = {}
    for query in batch.queries:
        with suppress(TooManyWords):
            answers[query] = answer(batch, query)
    assert len(answers) > 0.9 * len(batch.queries)
    return answers


def find_column_types(batch: Batch, query: Query) -> list[Type | None]:
    """Return the types of the output columns; None for the partition key and the number."""
    measures = {f"m{i}": measure.type for i, measure in enumerate(query.measures)}
    return [measures.get(name, COLUMNS.get(name)) for name in batch.columns(query)]


def cast_to_text(value: Value) -> str | None:
    """Return a value as Spark casts it to a string. Doubles are written as in Python."""
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


def count_rows(batch: Batch, query: Query, rows: Result) -> Counter[tuple[str | None, ...]] | str:
    """Count the rows of a result. Doubles are written as in Python."""
    if isinstance(rows, str):
        return rows
    floating = [kind is Type.FLOATING for kind in find_column_types(batch, query)]
    return Counter(
        tuple(
            str(float(text)) if is_float and text is not None else text
            for text, is_float in zip(row, floating, strict=True)
        )
        for row in rows
    )


def count_expected_rows(
    batch: Batch, query: Query, answer: Answer
) -> Counter[tuple[str | None, ...]]:
    """Count the output rows of the reference."""
    rows = [tuple(map(cast_to_text, row)) for row in answer.all_rows()]
    counts = count_rows(batch, query, rows)
    assert isinstance(counts, Counter)
    return counts


@contextmanager
def temporary_view(spark: SparkSession, batch: Batch, name: str) -> Iterator[None]:
    """Create a temporary view with the rows of a batch."""
    rows = [tuple(row[column] for column in NAMES) for row in batch.rows]
    spark.createDataFrame(rows, SCHEMA).createOrReplaceTempView(name)
    try:
        yield
    finally:
        spark.catalog.dropTempView(name)


@contextmanager
def settings(spark: SparkSession, **values: str) -> Iterator[None]:
    """Change settings whose names begin with `spark.sql.`; `__` in a name stands for a dot."""
    names = {name: "spark.sql." + name.replace("__", ".") for name in values}
    before = {name: spark.conf.get(names[name]) for name in values}
    for name, value in values.items():
        spark.conf.set(names[name], value)
    try:
        yield
    finally:
        for name, old in before.items():
            spark.conf.set(names[name], str(old))


def list_partitions_without_failure(answer: Answer, batch: Batch, prepared: Prepared) -> list[int]:
    """Return the numbers of the partitions in which the query does not fail."""
    starts = pa.array(prepared.starts)
    keys = [
        prepared.columns[build_row_column(quote_name(name))].filter(starts) for name in batch.by
    ]
    count = int(prepared.starts.sum())
    return [i for i in range(count) if tuple(key[i].as_py() for key in keys) not in answer.failures]


def list_runs(run: Run, batch: Batch, answer: Answer) -> list[Run]:
    """Return the run over all partitions. If some of them fail, add a run over the others."""
    if not answer.failures:
        return [run]
    return [
        run,
        replace(run, partitions=list_partitions_without_failure(answer, batch, run.prepared)),
    ]


def find_differences(
    spark: SparkSession,
    batch: Batch,
    answers: dict[Query, Answer],
    respell: Callable[[str], str] = str,
    scope: RowScope = RowScope.SPARK,
) -> list[str]:
    """Run both algorithms over the batch, and describe the results that are wrong.

    Args:
        respell: returns another spelling of a query.
        scope: the scope of the conditions that Spark computes.
    """
    texts = {query: respell(batch.text(query, "random_rows")) for query in answers}
    with temporary_view(spark, batch, "random_rows"), settings(spark, **INTERPRETED):
        queries = QueryBatch(spark, "random_rows", list(texts.values()), scope)
        linked = {algorithm: queries.link(algorithm) for algorithm in ALGORITHMS}
        prepared = queries.prepared(linked[ALGORITHMS[0]].values())
        cases = []
        runs: list[Run] = []
        for algorithm, (number, query) in product(ALGORITHMS, enumerate(answers)):
            if texts[query] in queries.refused:
                continue
            compiled_query = linked[algorithm][texts[query]]
            run = Run(compiled_query, prepared, None, (2, 1 << 20)[number % 2])
            query_runs = list_runs(run, batch, answers[query])
            cases.append((algorithm, query, slice(len(runs), len(runs) + len(query_runs))))
            runs += query_runs
        results = queries.answers(runs)
    differences = [f"{message}\n{query}" for query, message in queries.refused.items()]
    for algorithm, query, run_slice in cases:
        difference = describe_difference(batch, query, answers[query], results[run_slice])
        if difference:
            differences.append(f"{algorithm}: {texts[query]}\n{difference}")
    return differences


def describe_difference(
    batch: Batch, query: Query, answer: Answer, results: list[Result]
) -> str | None:
    """Describe the difference from the rows, or the error, of the reference; None without one."""
    if answer.failures:
        message = results[0]
        messages = [MESSAGES[kind] for kind in answer.failures.values()]
        if not isinstance(message, str) or not any(part in message for part in messages):
            return f"expected an error: {messages}\nhas {message}"
    expected = count_expected_rows(batch, query, answer)
    result = count_rows(batch, query, results[-1])
    if isinstance(result, str):
        return result if expected or not answer.failures else None
    if result == expected:
        return None
    return f"only expected: {expected - result}\nonly in the result: {result - expected}"


@pytest.mark.parametrize("seed", range(SEED, SEED + max(1, EXAMPLES // QUERIES_PER_BATCH)))
def test_both_algorithms_give_the_rows_of_the_reference(spark: SparkSession, seed: int) -> None:
    batch = random_batch(seed, min(max(EXAMPLES, QUERIES_OF_A_QUICK_RUN), QUERIES_PER_BATCH))
    assert find_differences(spark, batch, compute_answers(batch)) == []


@pytest.mark.night
def test_conditions_over_neighbours_may_be_the_workers(spark: SparkSession) -> None:
    batch = random_batch(SEED + 400_000, 25)
    assert find_differences(spark, batch, compute_answers(batch), scope=RowScope.WORKER) == []


def has_interval(batch: Batch, query: Query) -> bool:
    """Return whether a column is an interval, which the pandas transport rejects."""
    return "INTERVAL" in batch.text(query, "random_rows")


@pytest.mark.once
@pytest.mark.parametrize(
    ("algorithm", "transport", "partitions"),
    [
        ("backtracking", "arrow", 3),
        ("backtracking", "pandas", 1),
        ("breadth_first", "arrow", 1),
        ("breadth_first", "pandas", 3),
    ],
)
def test_sql_gives_the_rows_of_the_reference(
    spark: SparkSession, algorithm: str, transport: str, partitions: int
) -> None:
    batch = random_batch(SEED + 100_000 + partitions, 6)
    correct_answers = {
        query: answer
        for query, answer in compute_answers(batch).items()
        if not answer.failures and not (transport == "pandas" and has_interval(batch, query))
    }
    knobs = {
        "execution__arrow__maxRecordsPerBatch": "64",
        "shuffle__partitions": str(partitions),
        "adaptive__coalescePartitions__enabled": "false",
    }
    copied_batch = replace(batch, by=("copy", *batch.by))
    copies = copies_of(len(batch.rows))
    with temporary_view(spark, batch, "random_rows"), settings(spark, **knobs):
        frames = []
        rows = make_copies(spark.table("random_rows"), copies)
        for number, query in enumerate(correct_answers):
            text = copied_batch.text(query, "{rows}")
            frame = matchrec.sql(
                spark,
                text,
                rows=rows,
                options=matchrec.Options(algorithm=algorithm, transport=transport),
            )
            names = [name for name in frame.columns if name != "copy"]
            assert tuple(names) == batch.columns(query)
            casts = ", ".join(f"CAST({name} AS STRING)" for name in names)
            frames.append(frame.selectExpr(f"{number} AS run", f"array({casts}) AS texts"))
        result_rows = take_one_copy(reduce(DataFrame.unionAll, frames), copies)
    for number, query in enumerate(correct_answers):
        texts = [tuple(row.texts) for row in result_rows if row.run == number]
        assert count_rows(batch, query, texts) == count_expected_rows(
            batch, query, correct_answers[query]
        )


@pytest.mark.once
def test_sql_fails_where_the_reference_does(spark: SparkSession) -> None:
    batch = random_batch(SEED + 200_000, 60)
    failing = {
        query: query_answer
        for query, query_answer in compute_answers(batch).items()
        if query_answer.failures
    }
    assert failing
    query, expected_answer = next(iter(failing.items()))
    with temporary_view(spark, batch, "random_rows"), pytest.raises(PythonException) as error:
        matchrec.sql(spark, batch.text(query, "random_rows")).collect()
    assert any(MESSAGES[kind] in str(error.value) for kind in expected_answer.failures.values())
