"""Differences of Sail from Spark are hidden, or rejected before a query runs."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyspark
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.api.frames import to_dataframe
from matchrec.errors.surface import COMMAND_LINE, PYTHON, use_surface
from matchrec.shortcuts import ALL, use_shortcuts
from matchrec.spark import sent_rows
from matchrec.spark.backends import find_backend
from matchrec.spark.sail import probes

PROBES = {
    "takes_any_condition": True,
    "analyses_late": True,
    "compares_as_decimals": True,
    "drops_hours": True,
    "tells_zeros_apart": True,
    "has_try_add": False,
    "can_observe": False,
    "has_watermarks": False,
}
"""Probes and their answers on Sail. The answers on Spark are the opposite."""


@pytest.mark.parametrize("probe", PROBES)
def test_probes_tell_sail_from_spark(
    spark: SparkSession, request: pytest.FixtureRequest, probe: str
) -> None:
    on_sail = request.config.getoption("--on") == "sail"
    answer: Callable[[SparkSession], bool] = getattr(probes, probe)
    assert answer(spark) is (PROBES[probe] is on_sail)


def test_a_session_is_named(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    on_sail = request.config.getoption("--on") == "sail"
    name = "Sail" if on_sail else "Spark"
    assert find_backend(spark).engine == name
    with pytest.raises(matchrec.MatchRecognizePlanError, match=f"{name} rejects an expression in"):
        matchrec.match_recognize(
            spark.range(3), "ORDER BY id MEASURES 1 AS n PATTERN (A) DEFINE A AS id + 1e400 > 1"
        )


# Where counters are requested: the option to leave out, and the way to run on Spark.
REQUESTS_FOR_COUNTERS = [
    (PYTHON, "analyze=True", 'matchrec.session(engine="spark")'),
    (COMMAND_LINE, "--analyze", "--engine spark"),
]


def test_an_error_names_the_option_that_needs_counters(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark counts")
    query = matchrec.query(spark, "SELECT 1")
    for surface, option, run_on_spark in REQUESTS_FOR_COUNTERS:
        with use_surface(surface), pytest.raises(matchrec.MatchRecognizeUnsupportedError) as raised:
            query.explain(analyze=True)
        assert raised.value.message == "counters are not supported on Sail"
        assert raised.value.hint == f"leave {option} out, or run on Spark: {run_on_spark}"


def test_the_help_for_a_sum_with_a_text_joins_them(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark casts the text, and fails when the query runs")
    query = """SELECT * FROM VALUES (1) AS t(i) MATCH_RECOGNIZE (ORDER BY i
        MEASURES MATCH_NUMBER() + CLASSIFIER() AS x PATTERN (A) DEFINE A AS i > 0)"""
    with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
        matchrec.sql(spark, query)
    assert caught.value.hint == "write MATCH_NUMBER() || CLASSIFIER() to join strings"
    joined = matchrec.sql(spark, query.replace("+ CLASS", "|| CLASS"))
    assert [row.x for row in joined.collect()] == ["1A"]


def test_the_help_for_a_query_that_ends_early_repeats_its_last_words(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark reads the last words as an alias, or has another sentence")
    query = """SELECT * FROM VALUES (1) AS t(i) MATCH_RECOGNIZE (ORDER BY i
        MEASURES i AS x PATTERN (A) DEFINE A AS i > 0) GROUP BY"""
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(spark, query)
    assert caught.value.hint == "write a column after GROUP BY, or remove GROUP BY"


def test_tune_says_what_to_do_about_the_number_of_partitions(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark uses the setting")
    before = spark.conf.get("spark.sql.shuffle.partitions")
    settings = {setting.name: setting for setting in matchrec.tune(spark).settings}
    partitions = settings["spark.sql.shuffle.partitions"]
    assert not partitions.is_new
    assert partitions.reason == (
        "Sail does not use it, so there is nothing to do: matchrec chooses the number of tasks "
        "by the cores and the rows"
    )
    assert spark.conf.get("spark.sql.shuffle.partitions") == before


# Queries that Sail cannot plan, and what the error says to write.
UNPLANNED = {
    "SELECT id, (SELECT m.id + 1) AS k FROM {t} AS m": "write its value without SELECT",
    "SELECT id, 1 IN (SELECT 1) AS is_in FROM {t}": (
        r"(?s)^IN \(SELECT \.\.\.\) outside of WHERE is not supported on Sail.*"
        r"help: write array_contains\(\(SELECT collect_list\(1\)\), 1\)"
    ),
    "WITH w AS (FROM {t}) SELECT * FROM w": r"write SELECT \* FROM",
    "FROM {t}": r"write SELECT \* FROM",
}


@pytest.mark.parametrize("query", UNPLANNED)
def test_a_query_that_sail_cannot_plan_is_rejected(
    spark: SparkSession, request: pytest.FixtureRequest, query: str
) -> None:
    clause = "{rows} MATCH_RECOGNIZE (ORDER BY id MEASURES A.id AS id PATTERN (A) DEFINE A AS TRUE)"
    text = query.format(t=f"(SELECT * FROM {clause})")
    if request.config.getoption("--on") == "sail":
        with pytest.raises(PySparkException, match=UNPLANNED[query]):
            matchrec.sql(spark, text, rows=spark.range(1))
    else:
        assert matchrec.sql(spark, text, rows=spark.range(1)).collect()[0]["id"] == 0


def test_all_nan_and_both_zeros_are_one_key(spark: SparkSession) -> None:
    """Keys compare as in Spark, whatever their bits: sqrt(-1) is NaN with another sign."""
    rows = """SELECT id, CASE id % 4 WHEN 0 THEN double('NaN') WHEN 1 THEN sqrt(-1D)
        WHEN 2 THEN 0.0D ELSE -0.0D END AS k FROM range(0, 4000, 1, 4)"""
    for sort in ("auto", "engine"):
        matches = matchrec.match_recognize(
            spark.sql(rows),
            "PARTITION BY k ORDER BY id MEASURES count(*) AS n PATTERN (A+) DEFINE A AS id >= 0",
            options=matchrec.Options(sort=sort),  # type: ignore[arg-type]
        )
        assert sorted(row["n"] for row in matches.collect()) == [2000, 2000]


def test_ranges_do_not_depend_on_the_bits_of_nan(spark: SparkSession) -> None:
    """The ranges of a partition do not depend on the bits of its NaN, so no match is lost."""
    rows = spark.sql("SELECT id, IF(id % 2 = 0, double('NaN'), sqrt(-1D)) AS k FROM range(4000)")
    clause = """PARTITION BY k ORDER BY id MEASURES B.id AS id AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A B) WITHIN 10 DEFINE B AS id > 0"""
    with use_shortcuts(replace(ALL, min_rows_of_range=100)):
        matches = matchrec.match_recognize(
            rows, clause, options=matchrec.Options(sort="ranges")
        ).collect()
    assert sorted(row["id"] for row in matches) == [*range(1, 4000)]


def test_figures_count_all_nan_and_both_zeros_as_one_key(spark: SparkSession) -> None:
    """There are two partitions with two rows each, in all results that count matches."""
    rows = spark.sql("VALUES (double('NaN'), 1), (sqrt(-1D), 2), (0.0D, 3), (-0.0D, 4) AS t(k, id)")
    clause = """PARTITION BY k ORDER BY id MEASURES A.id AS id AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A) DEFINE A AS id >= 0"""
    query = matchrec.query(rows, clause, options=matchrec.Options(algorithm="backtracking"))
    totals = query.aggregate({"n": "count(*)", "ids": "sum(id)"}).collect()
    assert sorted((row["n"], row["ids"]) for row in totals) == [(2, 3), (2, 7)]
    swept = matchrec.sweep(rows, clause.replace("0", ":least"), {"least": [0]})
    assert swept.rows[0][:3] == (0, 4, 2)
    labels = spark.sql("VALUES (sqrt(-1D), 1, 1), (-0.0D, 3, 4) AS t(k, b, e)")
    incidents = query.backtest(labels, start="b", end="e").incidents.collect()
    assert sorted((row["b"], row["outcome"], row["matches"]) for row in incidents) == [
        (1, "hit", 1),
        (3, "hit", 2),
    ]
    assert "2 rows" in str(query.why(partition={"k": float("nan")}))
    pairs = "PATTERN SEQ(Odd a, Even b) WHERE skip_till_any_match AND [k]"
    events = rows.selectExpr("*", "IF(id % 2 = 1, 'Odd', 'Even') AS event_type")
    graph = matchrec.match_sase(events, pairs, order_by="id", output="graph")
    assert sorted(row["b"][0]["id"] for row in matchrec.explode_graph(graph).collect()) == [2, 4]


def test_all_nan_and_both_zeros_are_equal_in_order_by(spark: SparkSession) -> None:
    rows = "SELECT id, CASE id WHEN 0 THEN double('NaN') WHEN 1 THEN sqrt(-1D) WHEN 2 THEN 0.0D "
    rows += "ELSE -0.0D END AS x FROM range(4)"
    for sort in ("auto", "engine"):
        matches = matchrec.match_recognize(
            spark.sql(rows),
            "ORDER BY x, id MEASURES array_agg(id) AS ids PATTERN (A+) DEFINE A AS id >= 0",
            options=matchrec.Options(sort=sort),  # type: ignore[arg-type]
        )
        assert matches.collect()[0]["ids"] == [2, 3, 0, 1]


def test_a_query_is_divided_as_the_session_is(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    """The input may have another number of tasks, which a shuffle on Sail would keep."""
    on_sail = request.config.getoption("--on") == "sail"
    rows = spark.range(0, 1000, 1, 1)
    assert find_backend(spark).count_tasks(rows) == (3 if on_sail else None)  # for two cores
    matches = matchrec.match_recognize(
        rows, "PARTITION BY id ORDER BY -id MEASURES A.id AS n PATTERN (A) DEFINE A AS id >= 0"
    )
    tasks = matches.mapInArrow(count_rows_of_task, "rows bigint").collect()
    assert sum(task["rows"] for task in tasks) == 1000
    assert len(tasks) == (3 if on_sail else 1)


@pytest.mark.filterwarnings("ignore:is_categorical_dtype:DeprecationWarning")  # of PySpark 3.5
def test_rows_without_keys_stay_together_and_in_order(spark: SparkSession) -> None:
    """They do so even if the engine sorts: Sail would divide the rows after a window."""
    rows = spark.range(0, 30_000, 1, 1).selectExpr("id", "id % 3 AS x")
    clause = (
        "ORDER BY id MEASURES count(*) AS n PATTERN (A+) DEFINE A AS id = 0 OR PREV(id) = id - 1"
    )
    for options in (
        matchrec.Options(),
        matchrec.Options(sort="engine"),
        matchrec.Options(transport="pandas"),
    ):
        matches = matchrec.match_recognize(rows, clause, options=options)
        assert [row["n"] for row in matches.collect()] == [30_000]
    framed = clause + " AND max(x) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) < 3"
    query = matchrec.query(rows, framed)
    assert [row["n"] for row in query.to_df().collect()] == [30_000]
    assert "inside match 1, rows 1 to 30000: A{30000}" in str(query.why(row=29_000))


KEYS_WITHOUT_RANGES = (
    "encode(CAST(id AS STRING), 'utf-8')",
    "INTERVAL 1 DAY * id",
    "struct(id, 'x' AS s)",
    "struct(id, array(id) AS s)",
)
"""Keys that Sail can sort by, but not use in a window frame with a range of values."""


@pytest.mark.parametrize("key", KEYS_WITHOUT_RANGES)
def test_keys_without_ranges_are_sorted_by(spark: SparkSession, key: str) -> None:
    """Row numbers, PREV and NEXT need no window frame with a range of values."""
    rows = spark.range(6)
    clause = (
        f"ORDER BY {key} DESC MEASURES FIRST(id) AS f, LAST(id) AS l PATTERN (A B*)"
        " DEFINE B AS PREV(id, 2) = id + 2 OR NEXT(id) = id - 1 AND id > 3"
    )
    matches = matchrec.match_recognize(rows, clause, options=matchrec.Options(sort="engine"))
    assert sorted(map(tuple, matches.collect())) == [(5, 0)]


def count_rows_of_task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the number of rows of a task."""
    rows = sum(batch.num_rows for batch in batches)
    yield pa.RecordBatch.from_pydict({"rows": [rows]})


def test_nested_clauses_run_up_to_a_depth(spark: SparkSession) -> None:
    """PySpark 4 and later send a limited number of nested clauses to Sail, unless there is a view.

    Spark plans any number, and so does Sail with PySpark 3.5.
    """

    def nest_clauses(rows: str, depth: int) -> str:
        """Return a query in which each clause reads the rows of the next one."""
        for _ in range(depth):
            rows = f"""(SELECT * FROM {rows} MATCH_RECOGNIZE (ORDER BY id ALL ROWS PER MATCH
                PATTERN (A) DEFINE A AS id >= 0))"""
        return f"SELECT * FROM {rows}"

    inner = matchrec.sql(spark, nest_clauses("range(5)", 7))
    inner.createOrReplaceTempView("inner_rows")
    assert matchrec.sql(spark, nest_clauses("inner_rows", 7)).count() == 5
    if find_backend(spark).engine != "Sail" or pyspark.__version__ < "4":
        assert matchrec.sql(spark, nest_clauses("range(5)", 14)).count() == 5
        return
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="make a view of an inner"):
        matchrec.sql(spark, nest_clauses("range(5)", 14))


STREAM = "ORDER BY timestamp MEASURES 1 AS n PATTERN (A) WITHIN INTERVAL 1 MINUTE DEFINE A AS TRUE"
CALLS_OVER_A_STREAM: dict[str, Callable[[DataFrame], object]] = {
    "clause": lambda rows: matchrec.match_recognize(rows, STREAM),
    "query": lambda rows: matchrec.sql(
        rows.sparkSession, f"SELECT * FROM {{rows}} MATCH_RECOGNIZE ({STREAM})", rows=rows
    ),
    "pattern": lambda rows: matchrec.match_pattern(
        rows, matchrec.Pattern.begin("a").within("9 seconds"), order_by="timestamp"
    ),
    "rules": lambda rows: matchrec.match_rules(
        rows, {"a": STREAM.removeprefix("ORDER BY timestamp ")}, order_by="timestamp"
    ),
}


@pytest.mark.parametrize("with_watermark", [False, True])
@pytest.mark.parametrize("call", CALLS_OVER_A_STREAM)
def test_streams_are_rejected(
    spark: SparkSession, request: pytest.FixtureRequest, call: str, with_watermark: bool
) -> None:
    if request.config.getoption("--on") != "sail":
        pytest.skip("streams are searched")
    rows = spark.readStream.format("rate").load()
    if with_watermark:
        rows = rows.withWatermark("timestamp", "1 second")
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="streams are not supported"):
        CALLS_OVER_A_STREAM[call](rows)


CALL_ERRORS = {
    "upper(A.s, 1)": "upper in MEASURES takes 1 argument, not 2",
    "upper()": "upper in MEASURES takes 1 argument, not 0",
    "sum(A.id, 1)": "sum in MEASURES takes 1 argument, not 2",
    "min(A.id, 1)": "min in MEASURES takes 1 argument, not 2",
    "year(A.s, 1)": "year in MEASURES takes 1 argument, not 2",
    "A.id + 1e400": "Sail rejects an expression in MEASURES: the number 1e400 is too large",
    # it has no end
    "coalesce()": "Sail rejects an expression in MEASURES: the analysis fails without a reason",
}


@pytest.mark.parametrize("call", CALL_ERRORS)
def test_an_error_about_arguments_is_in_plain_words(
    spark: SparkSession, request: pytest.FixtureRequest, call: str
) -> None:
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark has its own words")
    rows = spark.createDataFrame([(1, "a")], "id int, s string")
    clause = f"ORDER BY id MEASURES {call} AS x PATTERN (A)"
    with pytest.raises(matchrec.MatchRecognizePlanError) as raised:
        matchrec.match_recognize(rows, clause)
    assert raised.value.message.startswith(CALL_ERRORS[call])
    span = raised.value.spans[0]
    assert clause[span.start : span.end] == call


def test_a_long_unknown_column_is_shortened(spark: SparkSession) -> None:
    name = "x" * 5000
    with pytest.raises(matchrec.MatchRecognizePlanError, match=r"unknown column `x{75}[.]{3}` in"):
        matchrec.match_recognize(spark.range(3), f"MEASURES {name} AS n PATTERN (A)")


def test_a_folder_without_files_is_rejected(
    spark: SparkSession, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Sail reads such a folder as a table without columns. Spark's reader raises an error."""
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark rejects it when it reads")
    rows = spark.read.parquet(str(tmp_path))
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        matchrec.match_recognize(rows, "ORDER BY ts PATTERN (A) DEFINE A AS x > 1")
    assert refused.value.notes == ("the input has no columns",)
    assert refused.value.hint == "if the input is a folder, check that it has files"


SENT = """PARTITION BY k ORDER BY t
  MEASURES FIRST(t) AS s, count(*) AS n, LAST(note) AS note, sum(cost) AS cost
  PATTERN (UP+) DEFINE UP AS v > 0"""


def make_rows(costs: list[Decimal | None]) -> pa.Table:
    """Return 15,000 rows. Each fifth row ends a match; only the last ones have a note and costs."""
    count = 15_000
    return pa.table(
        {
            "k": [row // 1000 for row in range(count)],
            "t": [*range(count)],
            "v": [row % 5 for row in range(count)],
            "note": [None] * (count - 1) + ["the last"],
            "cost": [None] * (count - len(costs)) + costs,
        }
    )


def list_views(spark: SparkSession) -> set[str]:
    """Return the views that hold rows sent by this program."""
    gc.collect()
    return {
        table.name for table in spark.catalog.listTables() if table.name.startswith("matchrec_")
    }


@pytest.mark.parametrize(
    ("library", "bytes_per_call", "messages"),
    [("pandas", 300_000, 2), ("pyarrow", 1 << 20, 1), ("pyspark", 300_000, 2)],
)
def test_rows_of_the_program_are_sent_once(
    spark: SparkSession,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    library: str,
    bytes_per_call: int,
    messages: int,
) -> None:
    if library == "pyarrow" and pyspark.__version__.startswith("3."):
        pytest.skip("no DataFrame of a table of Arrow")
    monkeypatch.setattr(sent_rows, "BYTES_PER_CALL", bytes_per_call)
    monkeypatch.setattr(sent_rows, "MIN_BYTES_OF_VIEW", 1 << 16)
    before = list_views(spark)
    rows = make_rows([Decimal("1.5"), Decimal("12345.678")])
    if library == "pandas":
        rows = rows.to_pandas()
    elif library == "pyspark":
        rows = spark.createDataFrame(rows.to_pandas())
    matches = matchrec.match_recognize(rows, SENT)
    new_views = list_views(spark) - before
    engine = request.config.getoption("--on")
    del rows
    last = matches.orderBy("s").collect()[-1]
    assert matches.count() == 3000
    assert last.asDict() == {
        "k": 14,
        "s": 14_996,
        "n": 4,
        "note": "the last",
        "cost": Decimal("12347.178"),
    }
    if engine == "sail":
        assert len(new_views) == 1 if library == "pyspark" else len(new_views) >= messages
    else:
        assert len(new_views) == (1 if engine == "connect" else 0)
    del matches
    list_views(spark)
    matchrec.match_recognize(make_rows([Decimal(1)]).to_pandas(), SENT)
    assert not new_views & list_views(spark)


def make_rows_of_many_types() -> pd.DataFrame:
    """Return columns of many types, with missing values. Some types appear only in late rows."""
    count = 40
    times = pd.date_range("2026-01-31", periods=count, freq="10min")
    return pd.DataFrame(
        {
            "o": [*range(count)],
            "float": [None if row % 3 else float(row) for row in range(count)],
            "flag": pd.Series([True, None] * 20, dtype=object),
            "late": [None] * (count - 1) + ["z"],
            "long": pd.array([1, None] * 20, dtype="Int64"),
            "word": pd.Categorical(["a", "b"] * 20),
            "time": times.where(times.minute > 0, pd.NaT),
            "instant": times.tz_localize("Europe/Berlin"),
            "day": times.date,
            "cost": [Decimal("1.5"), None] * 19 + [Decimal("12345.678"), None],
            "bytes": [b"a", b"", None, b"\x00"] * 10,
            "list": [[]] * (count - 1) + [[1.5]],
            "struct": [{"a": 1, "b": "x"}, None] * 20,
            "nothing": [None] * count,
        }
    )


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_rows_that_are_sent_once_are_the_same(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    if pyspark.__version__.startswith("3."):
        pytest.skip("no DataFrame of a table of Arrow, and others of pandas")
    rows = make_rows_of_many_types()
    rows = pa.Table.from_pandas(rows) if library == "pyarrow" else rows
    clause = "ORDER BY o ALL ROWS PER MATCH PATTERN (A+) DEFINE A AS o >= 0"
    results = []
    for few_bytes, bytes_per_call in ((1 << 40, 1 << 40), (0, 1 << 40), (0, 200)):
        monkeypatch.setattr(sent_rows, "MIN_BYTES_OF_VIEW", few_bytes)
        monkeypatch.setattr(sent_rows, "BYTES_PER_CALL", bytes_per_call)
        result = matchrec.match_recognize(rows, clause).orderBy("o")
        results.append((result.schema, result.collect()))
    assert len(results[0][1]) == len(rows)
    assert results[0] == results[1] == results[2]


LAST_VALUE = "ORDER BY t MEASURES LAST(v) AS v PATTERN (A+) DEFINE A AS t >= 0"

# The first value of a column, its last value, their common type, and the last value as collected.
WIDENED: dict[str, tuple[Any, Any, str, Any]] = {
    "float": (1, 1.5, "double", 1.5),
    "list": ([1], [1.5], "array<double>", [1.5]),
    "struct": ({"a": 1}, {"b": 2}, "struct<a:bigint,b:bigint>", (None, 2)),
    "list of structs": (
        [{"a": 1}],
        [{"a": 2.5, "b": "x"}],
        "array<struct<a:double,b:string>>",
        [(2.5, "x")],
    ),
    "decimal": (Decimal("1.5"), Decimal("12345.678"), "decimal(8,3)", Decimal("12345.678")),
    "decimal after int": (1, Decimal("1.25"), "decimal(3,2)", Decimal("1.25")),
    "missing": (float("nan"), "z", "string", "z"),
    "array": (np.array([1]), np.array([1.5]), "array<double>", [1.5]),
    "instant": (
        datetime(2026, 1, 1, tzinfo=timezone.utc),
        datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=2))),
        "timestamp",
        datetime(2025, 12, 31, 22),
    ),
}


@pytest.mark.parametrize("name", WIDENED)
def test_a_later_value_widens_the_type_of_its_column(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A column has the common type of all rows, even if only the last piece has the wider one."""
    if pyspark.__version__.startswith("3."):
        pytest.skip("other types of pandas")
    first, last, type_name, collected = WIDENED[name]
    values = pd.Series([first] * 2_000 + [last], dtype=object)
    rows = pd.DataFrame({"t": range(2_001), "v": values}).set_index(pd.Index([7] * 2_001))
    monkeypatch.setattr(sent_rows, "MIN_BYTES_OF_VIEW", 0)
    monkeypatch.setattr(sent_rows, "BYTES_PER_CALL", 4_000)
    matches = matchrec.match_recognize(rows, LAST_VALUE)
    assert matches.dtypes == [("v", type_name)]
    assert matches.collect() == [(collected,)]


def test_a_frame_above_32_mib_keeps_its_values(spark: SparkSession) -> None:
    """Only the last five of 1,500,000 rows have 1.5; they would not match if it became 1."""
    count = 1_500_000
    values = pd.Series([1] * (count - 5) + [1.5] * 5, dtype=object)
    rows = pd.DataFrame({"t": np.arange(count), "v": values, "w": np.zeros(count)})
    clause = "ORDER BY t MEASURES A.t AS t, A.v AS v PATTERN (A) DEFINE A AS v > 1"
    matches = matchrec.match_recognize(rows, clause).orderBy("t").collect()
    assert matches == [(t, 1.5) for t in range(count - 5, count)]


@pytest.mark.parametrize(
    ("values", "pattern"),
    [
        ([1, 1, ["x"]], r"row 2, .*\['x'\], of type list, and earlier rows are int"),
        ([{"a": 1}, {"a": 2}, 3], "row 2, .*3, of type int, and earlier rows are dict"),
        ([None, 1.5, Decimal("1.25")], "row 2, .*of type Decimal, and earlier rows are float"),
        ([1, 2, 2**63], f"beyond BIGINT .*\n.*row 2, .*{2**63}\n.*map\\(decimal.Decimal"),
        ([date(2026, 1, 1), None, datetime(2026, 1, 2, 3)], "row 2, .*03:00:00, a time without"),
        ([datetime(2026, 1, 2, 3), date(2026, 1, 1)], "row 1, .*2026-01-01, a date"),
        ([datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=timezone.utc)], "row 1, .*a time with"),
    ],
    ids=["list", "struct", "decimal", "bigint", "time after date", "date after time", "zone"],
)
@pytest.mark.parametrize("bytes_per_call", [50, 1 << 20])
@pytest.mark.filterwarnings("ignore:createDataFrame attempted Arrow")
def test_values_without_a_common_type_are_rejected(
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    values: list[Any],
    pattern: str,
    bytes_per_call: int,
) -> None:
    """The error names the column and the row, in however many pieces the rows are sent."""
    monkeypatch.setattr(sent_rows, "BYTES_PER_CALL", bytes_per_call)
    rows = pd.DataFrame({"t": range(len(values)), "v": pd.Series(values, dtype=object)})
    with pytest.raises(matchrec.MatchRecognizePlanError, match="column `v` of `df` has") as refused:
        matchrec.match_recognize(rows, LAST_VALUE)
    assert re.search(pattern, str(refused.value))


def test_numbers_and_texts_in_one_column_are_rejected(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--on") == "spark":
        pytest.skip("PySpark converts the numbers to texts, and warns")
    rows = pd.DataFrame({"t": range(3), "v": [1, None, "x"]})
    with pytest.raises(matchrec.MatchRecognizePlanError, match=r"row 2, .*'x', of type str"):
        matchrec.match_recognize(rows, LAST_VALUE)


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_long_rows_are_sent_in_small_messages(
    spark: SparkSession,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    library: str,
) -> None:
    """No message is larger than a call allows, unless a single row is larger."""
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark has other ways to be sent rows")
    if library == "pyarrow" and pyspark.__version__.startswith("3."):
        pytest.skip("no DataFrame of a table of Arrow")
    sizes = []
    create = spark.createDataFrame

    def measure(*args: Any) -> Any:
        """Note the size of the rows, and send them."""
        frame = create(*args)
        sizes.append(sent_rows.count_bytes(frame._plan))
        return frame

    texts = ["x"] * 3_000 + ["y" * 500] * 30 + ["z" * 5_000]
    rows = pd.DataFrame({"t": range(len(texts)), "v": texts})
    rows = pa.Table.from_pandas(rows) if library == "pyarrow" else rows
    monkeypatch.setattr(spark, "createDataFrame", measure)
    monkeypatch.setattr(sent_rows, "BYTES_PER_CALL", 4_000)
    (last,) = matchrec.match_recognize(rows, LAST_VALUE).collect()
    assert last.v == "z" * 5_000
    assert len(sizes) > 10
    assert sorted(sizes)[-2] <= 4_000 < sorted(sizes)[-1]
    monkeypatch.setattr(sent_rows, "MAX_BYTES_PER_PLAN", 5_000)
    with pytest.raises(matchrec.MatchRecognizePlanError, match="row 3,030 has"):
        matchrec.match_recognize(rows, LAST_VALUE)


def test_tables_of_many_chunks_keep_their_values(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chunks have one row each, texts with 64-bit offsets, and a dictionary."""
    if pyspark.__version__.startswith("3."):
        pytest.skip("no DataFrame of a table of Arrow")
    for bytes_per_call in (1 << 20, 100):
        monkeypatch.setattr(sent_rows, "BYTES_PER_CALL", bytes_per_call)
        for kind in (pa.large_string(), pa.dictionary(pa.int8(), pa.string())):
            chunks = [pa.array([f"x{row}"], pa.string()).cast(kind) for row in range(50)]
            table = pa.table({"t": range(50), "v": pa.chunked_array(chunks, kind)})
            frames = [pd.DataFrame({"v": pd.array(chunk, pd.ArrowDtype(kind))}) for chunk in chunks]
            frame = pd.concat(frames)
            for rows in (table, frame.assign(t=range(50))):
                assert matchrec.match_recognize(rows, LAST_VALUE).collect() == [("x49",)]


def test_rows_sent_in_pieces_can_have_two_columns_of_one_name(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sent_rows, "MIN_BYTES_OF_VIEW", 0)
    monkeypatch.setattr(sent_rows, "BYTES_PER_CALL", 1_000)
    rows = pd.DataFrame({"t": range(200), "v": range(200), "w": "x"})
    rows.columns = pd.Index(["t", "v", "v"])
    frame = to_dataframe(spark, "df", rows)
    assert frame.columns == ["t", "v", "v"]
    assert sorted(frame.collect())[-1] == (199, 199, "x")


def test_rows_that_a_result_of_sql_reads(
    spark: SparkSession, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows stay as long as the result, even if nothing else reads them."""
    if pyspark.__version__.startswith("3."):
        pytest.skip("no DataFrame of a table of Arrow")
    monkeypatch.setattr(sent_rows, "MIN_BYTES_OF_VIEW", 1 << 16)
    before = list_views(spark)
    matches = matchrec.match_recognize(make_rows([Decimal(1)]), SENT)
    new_views = list_views(spark) - before
    result = spark.sql("SELECT count(*) AS n FROM {d}", d=matches)
    filtered = result.where("n > 0")
    del matches, result
    for _ in range(2):  # each one drops the views that are no longer read
        list_views(spark)
        matchrec.match_recognize(make_rows([Decimal(1)]), SENT)
        assert filtered.collect() == [(3000,)]
    assert new_views <= list_views(spark)
    del filtered
    list_views(spark)
    matchrec.match_recognize(make_rows([Decimal(1)]), SENT)
    assert not new_views & list_views(spark)


def test_more_rows_than_a_call_takes(
    spark: SparkSession, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark has other ways to be sent rows")
    monkeypatch.setattr(sent_rows, "MAX_BYTES_PER_PLAN", 1 << 19)
    rows = spark.createDataFrame(make_rows([Decimal(1)]).to_pandas())
    with pytest.raises(matchrec.MatchRecognizePlanError, match="pass the pandas"):
        matchrec.match_recognize(rows, SENT)


RISES = """MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(v) AS low, LAST(v) AS high
    PATTERN (A B+) DEFINE B AS v > PREV(v))"""
TICKS = "(SELECT * FROM VALUES (1, 10), (2, 20) AS t(ts, v))"

# A query that Sail rejects, what the error says to write, and the rows on Spark.
REFUSED_ON_SAIL = {
    "a word as an alias of a column": (
        f"SELECT high time FROM {TICKS} {RISES}",
        "write `time` in backticks",
        [(20,)],
    ),
    "an alias before PIVOT": (
        f"SELECT * FROM {TICKS} {RISES} AS m PIVOT (max(high) FOR low IN (10))",
        "write the alias after the parentheses of PIVOT, not before it",
        [(20,)],
    ),
    "an alias in UNPIVOT": (
        f"SELECT * FROM {TICKS} {RISES} UNPIVOT (v FOR name IN (low AS first, high))",
        "rename the column in a subquery: FROM (SELECT *, low AS first FROM ...)",
        [("first", 10), ("high", 20)],
    ),
}


@pytest.mark.parametrize(
    ("query", "hint", "rows"), REFUSED_ON_SAIL.values(), ids=REFUSED_ON_SAIL.keys()
)
def test_spellings_that_sail_does_not_read(
    spark: SparkSession, query: str, hint: str, rows: list[tuple[Any, ...]]
) -> None:
    if find_backend(spark).engine == "Sail":
        errors = (PySparkException, matchrec.MatchRecognizeError)
        with pytest.raises(errors, match=re.escape(hint)):
            matchrec.sql(spark, query)
    else:
        assert [tuple(row) for row in matchrec.sql(spark, query).collect()] == rows


def test_an_error_points_into_the_text_as_written(spark: SparkSession) -> None:
    """The caret is under the user's word, although Sail gets a longer text."""
    query = f"SELECT * FROM {TICKS} {RISES} time JOIN {TICKS} AS user ON time.low = nowhere"
    with pytest.raises(PySparkException) as caught:
        matchrec.sql(spark, query)
    lines = str(caught.value).splitlines()
    index = next(i for i, line in enumerate(lines) if line.endswith("= nowhere"))
    carets = lines[index + 1].rstrip()
    assert carets.endswith("^" * len("nowhere"))
    assert len(carets) == len(lines[index])


CLAUSE = "ORDER BY n MEASURES {} AS x PATTERN (A) DEFINE A AS {}"
INDICES = {
    f"SELECT * FROM rows MATCH_RECOGNIZE ({CLAUSE.format(1, 'array(1, 2)[n] > 0')})": (
        "array(1, 2)[n]",
        " in DEFINE",
        "get(array(1, 2), n)",
    ),
    f"SELECT * FROM rows MATCH_RECOGNIZE ({CLAUSE.format('A.tags[A.n + 1]', 'n > 0')})": (
        "A.tags[A.n + 1]",
        " in MEASURES",
        "get(A.tags, A.n + 1)",
    ),
    f"SELECT * FROM rows MATCH_RECOGNIZE ({CLAUSE.format('A.tags[-1]', 'n > 0')})": (
        "A.tags[-1]",
        " in MEASURES",
        "element_at(A.tags, -1), which counts from the end",
    ),
    f"SELECT array(5, 6)[x] FROM rows MATCH_RECOGNIZE ({CLAUSE.format(1, 'n > 0')})": (
        "array(5, 6)[x]",
        "",
        "get(array(5, 6), x)",
    ),
    "SELECT * FROM (SELECT n, tags[n] AS t FROM rows) "
    f"MATCH_RECOGNIZE ({CLAUSE.format(1, 'n > 0')})": ("tags[n]", "", "get(tags, n)"),
    "SELECT n, tags[n] FROM rows": ("tags[n]", "", "get(tags, n)"),
}


@pytest.mark.parametrize("query", INDICES)
def test_an_index_of_an_array_that_is_not_a_number(spark: SparkSession, query: str) -> None:
    """Sail reads the column as a string. The error repeats the user's text instead."""
    spark.sql("SELECT 1 AS n, array('a', 'b') AS tags").createOrReplaceTempView("rows")
    try:
        with pytest.raises((PySparkException, matchrec.MatchRecognizeError)) as caught:
            matchrec.sql(spark, query)
    finally:
        spark.catalog.dropTempView("rows")
    error: Any = caught.value
    indexed, place, call = INDICES[query]
    assert isinstance(error, matchrec.MatchRecognizeUnsupportedError)
    assert error.message == f"`{indexed}`{place} is not supported on Sail"
    assert error.code == "computed-array-index"
    assert query[error.span.start : error.span.end] == indexed
    assert error.hint == f"write {call}"


@pytest.mark.parametrize(
    ("literal", "sql"),
    [("DATE'tomorrow'", "date_add(current_date(), 1)"), ("TIMESTAMP'now'", "current_timestamp()")],
)
def test_words_for_dates_are_functions_on_sail(spark: SparkSession, literal: str, sql: str) -> None:
    clause = f"ORDER BY id MEASURES 1 AS x PATTERN (A) DEFINE A AS CAST({literal} AS STRING) > ''"
    with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
        matchrec.match_recognize(spark.range(1), clause)
    kind = literal.partition("'")[0].lower()
    assert caught.value.notes == (f"only Spark reads this word as a {kind}",)
    assert caught.value.hint == f"write {sql}"
    repaired = clause.replace(literal, sql)
    assert len(matchrec.match_recognize(spark.range(1), repaired).collect()) == 1
