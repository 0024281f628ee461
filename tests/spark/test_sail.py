"""What a session does otherwise than Spark is refused before it runs; on Spark nothing is."""

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
from matchrec.api.inputs import to_dataframe
from matchrec.errors.language import COMMAND_LINE, PYTHON, use_surface
from matchrec.shortcuts import ALL, use_shortcuts
from matchrec.spark.backends import find_backend
from matchrec.spark.sail import probes
from matchrec.spark.sail import sent as sent_rows

PROBES = {
    "takes_any_condition": True,
    "analyses_late": True,
    "compares_as_decimals": True,
    "drops_hours": True,
    "tells_zeros_apart": True,
    "tries_to_add": False,
    "can_observe": False,
    "has_watermarks": False,
}
"""What a session on Sail answers, and one on Spark does not."""


@pytest.mark.parametrize("probe", PROBES)
def test_a_session_is_asked(
    spark: SparkSession, request: pytest.FixtureRequest, probe: str
) -> None:
    on_sail = request.config.getoption("--on") == "sail"
    asked: Callable[[SparkSession], bool] = getattr(probes, probe)
    assert asked(spark) is (PROBES[probe] is on_sail)


def test_a_session_is_named(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    on_sail = request.config.getoption("--on") == "sail"
    name = "Sail" if on_sail else "Spark"
    assert find_backend(spark).engine == name
    with pytest.raises(matchrec.MatchRecognizePlanError, match=f"{name} rejects an expression in"):
        matchrec.match_recognize(
            spark.range(3), "ORDER BY id MEASURES 1 AS n PATTERN (A) DEFINE A AS size(id) > 1"
        )


WHERE_ASKED = [
    (PYTHON, "analyze=True", 'matchrec.session(engine="spark")'),
    (COMMAND_LINE, "--analyze", "--engine spark"),
]


def test_counters_are_refused_by_the_name_of_what_asks_for_them(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark counts")
    asked = matchrec.query(spark, "SELECT 1")
    for surface, given, on in WHERE_ASKED:
        with use_surface(surface), pytest.raises(matchrec.MatchRecognizeUnsupportedError) as raised:
            asked.explain(analyze=True)
        assert raised.value.hint == f"leave {given} out, or run on Spark: {on}"


def test_tune_says_what_to_do_about_the_number_of_partitions(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark uses the setting")
    before = spark.conf.get("spark.sql.shuffle.partitions")
    settings = {setting.name: setting for setting in matchrec.tune(spark).settings}
    partitions = settings["spark.sql.shuffle.partitions"]
    assert not partitions.is_new
    assert partitions.why == (
        "Sail does not use it, so there is nothing to do: a query has a task for each core, "
        "or as many as matchrec.session(cores=...) says"
    )
    assert spark.conf.get("spark.sql.shuffle.partitions") == before


UNPLANNED = {
    "SELECT id, (SELECT m.id + 1) AS k FROM {t} AS m": "write its value without SELECT",
    "SELECT id, 1 IN (SELECT 1) AS is_in FROM {t}": "write EXISTS",
    "WITH w AS (FROM {t}) SELECT * FROM w": r"write SELECT \* FROM",
    "FROM {t}": r"write SELECT \* FROM",
}


@pytest.mark.parametrize("query", UNPLANNED)
def test_what_has_no_plan_is_refused_before_it_runs(
    spark: SparkSession, request: pytest.FixtureRequest, query: str
) -> None:
    clause = "{rows} MATCH_RECOGNIZE (ORDER BY id MEASURES A.id AS id PATTERN (A) DEFINE A AS TRUE)"
    text = query.format(t=f"(SELECT * FROM {clause})")
    if request.config.getoption("--on") == "sail":
        with pytest.raises(PySparkException, match=UNPLANNED[query]):
            matchrec.sql(spark, text, rows=spark.range(1))
    else:
        assert matchrec.sql(spark, text, rows=spark.range(1)).collect()[0]["id"] == 0


def test_keys_with_one_nan_and_one_zero(spark: SparkSession) -> None:
    """Keys compare as in Spark, whatever their bits are: sqrt(-1) has another sign than NaN."""
    rows = """SELECT id, CASE id % 4 WHEN 0 THEN double('NaN') WHEN 1 THEN sqrt(-1D)
        WHEN 2 THEN 0.0D ELSE -0.0D END AS k FROM range(0, 4000, 1, 4)"""
    for sort in ("auto", "engine"):
        found = matchrec.match_recognize(
            spark.sql(rows),
            "PARTITION BY k ORDER BY id MEASURES count(*) AS n PATTERN (A+) DEFINE A AS id >= 0",
            options=matchrec.Options(sort=sort),  # type: ignore[arg-type]
        )
        assert sorted(row["n"] for row in found.collect()) == [2000, 2000]


def test_ranges_of_keys_with_one_nan(spark: SparkSession) -> None:
    """Rows of one partition are cut by one measure, and each match is found."""
    rows = spark.sql("SELECT id, IF(id % 2 = 0, double('NaN'), sqrt(-1D)) AS k FROM range(4000)")
    clause = """PARTITION BY k ORDER BY id MEASURES B.id AS id AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A B) WITHIN 10 DEFINE B AS id > 0"""
    with use_shortcuts(replace(ALL, min_rows_of_range=100)):
        found = matchrec.match_recognize(
            rows, clause, options=matchrec.Options(sort="ranges")
        ).collect()
    assert sorted(row["id"] for row in found) == [*range(1, 4000)]


def test_figures_of_keys_with_one_nan_and_one_zero(spark: SparkSession) -> None:
    """Two partitions with two rows each: what is counted of matches is of no more."""
    rows = spark.sql("VALUES (double('NaN'), 1), (sqrt(-1D), 2), (0.0D, 3), (-0.0D, 4) AS t(k, id)")
    clause = """PARTITION BY k ORDER BY id MEASURES A.id AS id AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A) DEFINE A AS id >= 0"""
    built = matchrec.query(rows, clause, options=matchrec.Options(algorithm="backtracking"))
    totals = built.aggregate({"n": "count(*)", "ids": "sum(id)"}).collect()
    assert sorted((row["n"], row["ids"]) for row in totals) == [(2, 3), (2, 7)]
    swept = matchrec.sweep(rows, clause.replace("0", ":least"), {"least": [0]})
    assert swept.rows[0][:3] == (0, 4, 2)
    labels = spark.sql("VALUES (sqrt(-1D), 1, 1), (-0.0D, 3, 4) AS t(k, b, e)")
    incidents = built.backtest(labels, start="b", end="e").incidents.collect()
    assert sorted((row["b"], row["outcome"], row["matches"]) for row in incidents) == [
        (1, "hit", 1),
        (3, "hit", 2),
    ]
    assert "2 rows" in str(built.why(partition={"k": float("nan")}))
    pairs = "PATTERN SEQ(Odd a, Even b) WHERE skip_till_any_match AND [k]"
    events = rows.selectExpr("*", "IF(id % 2 = 1, 'Odd', 'Even') AS event_type")
    graph = matchrec.match_sase(events, pairs, order_by="id", output="graph")
    assert sorted(row["b"][0]["id"] for row in matchrec.explode_graph(graph).collect()) == [2, 4]


def test_orders_with_one_nan_and_one_zero(spark: SparkSession) -> None:
    rows = "SELECT id, CASE id WHEN 0 THEN double('NaN') WHEN 1 THEN sqrt(-1D) WHEN 2 THEN 0.0D "
    rows += "ELSE -0.0D END AS x FROM range(4)"
    for sort in ("auto", "engine"):
        found = matchrec.match_recognize(
            spark.sql(rows),
            "ORDER BY x, id MEASURES array_agg(id) AS ids PATTERN (A+) DEFINE A AS id >= 0",
            options=matchrec.Options(sort=sort),  # type: ignore[arg-type]
        )
        assert found.collect()[0]["ids"] == [2, 3, 0, 1]


def test_a_query_is_divided_as_the_session_is(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    """Its input may be divided otherwise: on Sail, a shuffle alone keeps the tasks before it."""
    on_sail = request.config.getoption("--on") == "sail"
    rows = spark.range(0, 1000, 1, 1)
    assert find_backend(spark).count_tasks(rows) == (3 if on_sail else None)  # for two cores
    found = matchrec.match_recognize(
        rows, "PARTITION BY id ORDER BY id MEASURES A.id AS n PATTERN (A) DEFINE A AS id >= 0"
    )
    tasks = found.mapInArrow(rows_of_a_task, "rows bigint").collect()
    assert sum(task["rows"] for task in tasks) == 1000
    assert len(tasks) == (3 if on_sail else 1)


@pytest.mark.filterwarnings("ignore:is_categorical_dtype:DeprecationWarning")  # of PySpark 3.5
def test_rows_without_keys_stay_together_and_in_order(spark: SparkSession) -> None:
    """This holds if the session sorts, too: Sail would divide the rows after a window."""
    rows = spark.range(0, 30_000, 1, 1).selectExpr("id", "id % 3 AS x")
    clause = (
        "ORDER BY id MEASURES count(*) AS n PATTERN (A+) DEFINE A AS id = 0 OR PREV(id) = id - 1"
    )
    for options in (
        matchrec.Options(),
        matchrec.Options(sort="engine"),
        matchrec.Options(transport="pandas"),
    ):
        found = matchrec.match_recognize(rows, clause, options=options)
        assert [row["n"] for row in found.collect()] == [30_000]
    framed = clause + " AND max(x) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) < 3"
    query = matchrec.query(rows, framed)
    assert [row["n"] for row in query.to_df().collect()] == [30_000]
    assert "inside match 1, rows 1 to 30000: A{30000}" in str(query.why(row=29_000))


UNLIKE_NUMBERS = (
    "encode(CAST(id AS STRING), 'utf-8')",
    "INTERVAL 1 DAY * id",
    "struct(id, 'x' AS s)",
    "struct(id, array(id) AS s)",
)
"""Keys by which Sail sorts rows, and of whose values it has no ranges."""


@pytest.mark.parametrize("key", UNLIKE_NUMBERS)
def test_keys_without_ranges_are_sorted_by(spark: SparkSession, key: str) -> None:
    """Numbers of rows, and values of rows before and after, need no ranges of values."""
    rows = spark.range(6)
    clause = (
        f"ORDER BY {key} DESC MEASURES FIRST(id) AS f, LAST(id) AS l PATTERN (A B*)"
        " DEFINE B AS PREV(id, 2) = id + 2 OR NEXT(id) = id - 1 AND id > 3"
    )
    found = matchrec.match_recognize(rows, clause, options=matchrec.Options(sort="engine"))
    assert sorted(map(tuple, found.collect())) == [(5, 0)]


def rows_of_a_task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    rows = sum(batch.num_rows for batch in batches)
    yield pa.RecordBatch.from_pydict({"rows": [rows]})


def test_clauses_in_one_another_are_read_or_refused(spark: SparkSession) -> None:
    """Spark plans any number, and so does PySpark 3.5 over Connect; what later ones send ends at
    some, and a view begins anew.
    """

    def nested(rows: str, deep: int) -> str:
        for _ in range(deep):
            rows = f"""(SELECT * FROM {rows} MATCH_RECOGNIZE (ORDER BY id ALL ROWS PER MATCH
                PATTERN (A) DEFINE A AS id >= 0))"""
        return f"SELECT * FROM {rows}"

    inner = matchrec.sql(spark, nested("range(5)", 7))
    inner.createOrReplaceTempView("inner_rows")
    assert matchrec.sql(spark, nested("inner_rows", 7)).count() == 5
    if find_backend(spark).engine != "Sail" or pyspark.__version__ < "4":
        assert matchrec.sql(spark, nested("range(5)", 14)).count() == 5
        return
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="make a view of an inner"):
        matchrec.sql(spark, nested("range(5)", 14))


STREAM = "ORDER BY timestamp MEASURES 1 AS n PATTERN (A) WITHIN INTERVAL 1 MINUTE DEFINE A AS TRUE"
OVER_A_STREAM: dict[str, Callable[[DataFrame], object]] = {
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
@pytest.mark.parametrize("asked", OVER_A_STREAM)
def test_a_stream_is_refused_by_name(
    spark: SparkSession, request: pytest.FixtureRequest, asked: str, with_watermark: bool
) -> None:
    if request.config.getoption("--on") != "sail":
        pytest.skip("streams are searched")
    rows = spark.readStream.format("rate").load()
    if with_watermark:
        rows = rows.withWatermark("timestamp", "1 second")
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="streams are not supported"):
        OVER_A_STREAM[asked](rows)


CALL_ERRORS = {
    "upper(A.s, 1)": "a function that takes one has another number of arguments",
    "upper()": "a function that takes one has another number of arguments",
    "sum(A.id, 1)": "the function sum takes another number of arguments than 2",
    "min(A.id, 1)": "the functions min and max take one argument",
    "year(A.s, 1)": "Spark `year` function requires 1 argument, got 2",
    "A.id + 1e400": "the number 1e400 is too large",
    "coalesce()": "its analysis fails and does not say why",  # as it does not end there
}


@pytest.mark.parametrize("call", CALL_ERRORS)
def test_what_a_call_lacks_is_said_in_plain_words(
    spark: SparkSession, request: pytest.FixtureRequest, call: str
) -> None:
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark has its own words")
    rows = spark.createDataFrame([(1, "a")], "id int, s string")
    clause = f"ORDER BY id MEASURES {call} AS x PATTERN (A)"
    with pytest.raises(matchrec.MatchRecognizePlanError) as raised:
        matchrec.match_recognize(rows, clause)
    said = f"Sail rejects an expression in MEASURES: {CALL_ERRORS[call]}"
    assert raised.value.message.startswith(said)
    span = raised.value.spans[0]
    assert clause[span.start : span.end] == call


def test_a_long_name_is_a_column_that_is_not_there(spark: SparkSession) -> None:
    name = "x" * 5000
    with pytest.raises(matchrec.MatchRecognizePlanError, match=r"unknown column `x{75}[.]{3}` in"):
        matchrec.match_recognize(spark.range(3), f"MEASURES {name} AS n PATTERN (A)")


def test_a_folder_without_files(
    spark: SparkSession, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Sail makes a table without columns of it, where Spark's reader refuses it."""
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark refuses it when it reads")
    rows = spark.read.parquet(str(tmp_path))
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        matchrec.match_recognize(rows, "ORDER BY ts PATTERN (A) DEFINE A AS x > 1")
    assert refused.value.notes == ("the input has: none",)
    assert refused.value.hint == "if the input is a folder, check that it has files"


SENT = """PARTITION BY k ORDER BY t
  MEASURES FIRST(t) AS s, count(*) AS n, LAST(note) AS note, sum(cost) AS cost
  PATTERN (UP+) DEFINE UP AS v > 0"""


def rows_of_program(costs: list[Decimal | None]) -> pa.Table:
    """15,000 rows, of which every fifth ends a run; notes are NULL, and costs, but in the last."""
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
    """Return the views that hold rows of this program."""
    gc.collect()
    return {
        table.name for table in spark.catalog.listTables() if table.name.startswith("matchrec_")
    }


@pytest.mark.parametrize(
    ("library", "bytes_per_call", "sent"),
    [("pandas", 300_000, 2), ("pyarrow", 1 << 20, 1), ("pyspark", 300_000, 2)],
)
def test_rows_of_the_program_are_sent_once(
    spark: SparkSession,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    library: str,
    bytes_per_call: int,
    sent: int,
) -> None:
    if library == "pyarrow" and pyspark.__version__.startswith("3."):
        pytest.skip("no DataFrame of a table of Arrow")
    monkeypatch.setattr(sent_rows, "BYTES_PER_CALL", bytes_per_call)
    monkeypatch.setattr(sent_rows, "FEW_BYTES", 1 << 16)
    before, rows = list_views(spark), rows_of_program([Decimal("1.5"), Decimal("12345.678")])
    if library == "pandas":
        rows = rows.to_pandas()
    elif library == "pyspark":
        rows = spark.createDataFrame(rows.to_pandas())
    found = matchrec.match_recognize(rows, SENT)
    new = list_views(spark) - before
    on = request.config.getoption("--on")
    del rows
    last = found.orderBy("s").collect()[-1]
    assert found.count() == 3000
    assert last.asDict() == {
        "k": 14,
        "s": 14_996,
        "n": 4,
        "note": "the last",
        "cost": Decimal("12347.178"),
    }
    if on == "sail":
        assert len(new) == 1 if library == "pyspark" else len(new) >= sent
    else:
        assert len(new) == (1 if on == "connect" else 0)
    del found
    list_views(spark)
    matchrec.match_recognize(rows_of_program([Decimal(1)]).to_pandas(), SENT)
    assert not new & list_views(spark)


def make_rows_of_many_types() -> pd.DataFrame:
    """Return what frames of pandas have, as missing values and such as only the last rows tell."""
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
    found = []
    for few, at_once in ((1 << 40, 1 << 40), (0, 1 << 40), (0, 200)):
        monkeypatch.setattr(sent_rows, "FEW_BYTES", few)
        monkeypatch.setattr(sent_rows, "BYTES_PER_CALL", at_once)
        result = matchrec.match_recognize(rows, clause).orderBy("o")
        found.append((result.schema, result.collect()))
    assert len(found[0][1]) == len(rows)
    assert found[0] == found[1] == found[2]


LAST_VALUE = "ORDER BY t MEASURES LAST(v) AS v PATTERN (A+) DEFINE A AS t >= 0"

# The first value of a column, its last one, the type of both together, and the last value as read.
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
def test_a_later_value_of_a_wider_type(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The type is that of all rows, though pieces are sent and the last one alone has the value."""
    if pyspark.__version__.startswith("3."):
        pytest.skip("other types of pandas")
    first, last, type_name, read = WIDENED[name]
    values = pd.Series([first] * 2_000 + [last], dtype=object)
    rows = pd.DataFrame({"t": range(2_001), "v": values}).set_index(pd.Index([7] * 2_001))
    monkeypatch.setattr(sent_rows, "FEW_BYTES", 0)
    monkeypatch.setattr(sent_rows, "BYTES_PER_CALL", 4_000)
    found = matchrec.match_recognize(rows, LAST_VALUE)
    assert found.dtypes == [("v", type_name)]
    assert found.collect() == [(read,)]


def test_a_frame_above_32_mib(spark: SparkSession) -> None:
    """1,500,000 rows; a rule finds the five rows at the end, and none where 1.5 became 1."""
    count = 1_500_000
    values = pd.Series([1] * (count - 5) + [1.5] * 5, dtype=object)
    rows = pd.DataFrame({"t": np.arange(count), "v": values, "w": np.zeros(count)})
    clause = "ORDER BY t MEASURES A.t AS t, A.v AS v PATTERN (A) DEFINE A AS v > 1"
    found = matchrec.match_recognize(rows, clause).orderBy("t").collect()
    assert found == [(t, 1.5) for t in range(count - 5, count)]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1, 1, ["x"]], "row 2, .*cannot mix list"),
        ([{"a": 1}, {"a": 2}, 3], "row 2, .*cannot mix struct"),
        ([None, 1.5, Decimal("1.25")], "row 2, .*type decimal.Decimal"),
        ([1, 2, 2**63], f"beyond BIGINT .*\n.*row 2, .*{2**63}\n.*map\\(decimal.Decimal"),
        ([date(2026, 1, 1), None, datetime(2026, 1, 2, 3)], "row 2, .*03:00:00, a time without"),
        ([datetime(2026, 1, 2, 3), date(2026, 1, 1)], "row 1, .*2026-01-01, a date"),
        ([datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=timezone.utc)], "row 1, .*a time with"),
    ],
    ids=["list", "struct", "decimal", "bigint", "time after date", "date after time", "zone"],
)
@pytest.mark.parametrize("bytes_per_call", [50, 1 << 20])
@pytest.mark.filterwarnings("ignore:createDataFrame attempted Arrow")
def test_values_without_a_common_type(
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    values: list[Any],
    words: str,
    bytes_per_call: int,
) -> None:
    """The error has the column and the row, however the rows are sent."""
    monkeypatch.setattr(sent_rows, "BYTES_PER_CALL", bytes_per_call)
    rows = pd.DataFrame({"t": range(len(values)), "v": pd.Series(values, dtype=object)})
    with pytest.raises(matchrec.MatchRecognizePlanError, match="column `v` of `df` has") as refused:
        matchrec.match_recognize(rows, LAST_VALUE)
    assert re.search(words, str(refused.value))


def test_numbers_and_texts_in_one_column(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--on") == "spark":
        pytest.skip("PySpark makes texts of the numbers, with a warning of its own")
    rows = pd.DataFrame({"t": range(3), "v": [1, None, "x"]})
    with pytest.raises(matchrec.MatchRecognizePlanError, match=r"row 2, .*'x' with type str"):
        matchrec.match_recognize(rows, LAST_VALUE)


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_rows_of_which_the_last_are_long(
    spark: SparkSession,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    library: str,
) -> None:
    """No message is larger than a call allows, unless a single row is."""
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark has other ways to be sent rows")
    if library == "pyarrow" and pyspark.__version__.startswith("3."):
        pytest.skip("no DataFrame of a table of Arrow")
    sizes, create = [], spark.createDataFrame

    def measured(*given: Any) -> Any:
        frame = create(*given)
        sizes.append(sent_rows.count_bytes(frame._plan))
        return frame

    texts = ["x"] * 3_000 + ["y" * 500] * 30 + ["z" * 5_000]
    rows = pd.DataFrame({"t": range(len(texts)), "v": texts})
    rows = pa.Table.from_pandas(rows) if library == "pyarrow" else rows
    monkeypatch.setattr(spark, "createDataFrame", measured)
    monkeypatch.setattr(sent_rows, "BYTES_PER_CALL", 4_000)
    (last,) = matchrec.match_recognize(rows, LAST_VALUE).collect()
    assert last.v == "z" * 5_000
    assert len(sizes) > 10
    assert sorted(sizes)[-2] <= 4_000 < sorted(sizes)[-1]
    monkeypatch.setattr(sent_rows, "MOST_BYTES", 5_000)
    with pytest.raises(matchrec.MatchRecognizePlanError, match="row 3,030 has"):
        matchrec.match_recognize(rows, LAST_VALUE)


def test_tables_of_many_chunks(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_two_columns_of_one_name_in_pieces(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sent_rows, "FEW_BYTES", 0)
    monkeypatch.setattr(sent_rows, "BYTES_PER_CALL", 1_000)
    rows = pd.DataFrame({"t": range(200), "v": range(200), "w": "x"})
    rows.columns = pd.Index(["t", "v", "v"])
    found = to_dataframe(spark, "df", rows)
    assert found.columns == ["t", "v", "v"]
    assert sorted(found.collect())[-1] == (199, 199, "x")


def test_rows_that_a_result_of_sql_reads(
    spark: SparkSession, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows stay as long as the result, even if nothing else reads them."""
    if pyspark.__version__.startswith("3."):
        pytest.skip("no DataFrame of a table of Arrow")
    monkeypatch.setattr(sent_rows, "FEW_BYTES", 1 << 16)
    before = list_views(spark)
    matches = matchrec.match_recognize(rows_of_program([Decimal(1)]), SENT)
    new = list_views(spark) - before
    counted = spark.sql("SELECT count(*) AS n FROM {d}", d=matches)
    filtered = counted.where("n > 0")
    del matches, counted
    for _ in range(2):  # each drops the views that are not read any more
        list_views(spark)
        matchrec.match_recognize(rows_of_program([Decimal(1)]), SENT)
        assert filtered.collect() == [(3000,)]
    assert new <= list_views(spark)
    del filtered
    list_views(spark)
    matchrec.match_recognize(rows_of_program([Decimal(1)]), SENT)
    assert not new & list_views(spark)


def test_more_rows_than_a_call_takes(
    spark: SparkSession, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark has other ways to be sent rows")
    monkeypatch.setattr(sent_rows, "MOST_BYTES", 1 << 19)
    rows = spark.createDataFrame(rows_of_program([Decimal(1)]).to_pandas())
    with pytest.raises(matchrec.MatchRecognizePlanError, match="pass the pandas"):
        matchrec.match_recognize(rows, SENT)


RISES = """MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(v) AS low, LAST(v) AS high
    PATTERN (A B+) DEFINE B AS v > PREV(v))"""
TICKS = "(SELECT * FROM VALUES (1, 10), (2, 20) AS t(ts, v))"

# A query that Sail refuses, what it says, and the rows on Spark.
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
    ("query", "cure", "rows"), REFUSED_ON_SAIL.values(), ids=REFUSED_ON_SAIL.keys()
)
def test_spellings_that_sail_does_not_read(
    spark: SparkSession, query: str, cure: str, rows: list[tuple[Any, ...]]
) -> None:
    if find_backend(spark).engine == "Sail":
        refusals = (PySparkException, matchrec.MatchRecognizeError)
        with pytest.raises(refusals, match=re.escape(cure)):
            matchrec.sql(spark, query)
    else:
        assert [tuple(row) for row in matchrec.sql(spark, query).collect()] == rows


def test_places_after_another_spelling(spark: SparkSession) -> None:
    """The caret is at the user's word, although Sail reads a longer text."""
    query = f"SELECT * FROM {TICKS} {RISES} time JOIN {TICKS} AS user ON time.low = nowhere"
    with pytest.raises(PySparkException) as caught:
        matchrec.sql(spark, query)
    shown = str(caught.value).splitlines()
    line = next(index for index, one in enumerate(shown) if one.endswith("= nowhere"))
    assert shown[line + 1].rstrip().endswith("^" * len("nowhere"))
    assert len(shown[line + 1].rstrip()) == len(shown[line])
