"""Columns of types that Spark does not have, in pandas, Arrow and files, keep their values."""

from __future__ import annotations

import warnings
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import matchrec
from matchrec.spark.backends import find_backend
from matchrec.spark.nanoseconds import find_ambiguous_times
from matchrec.spark.sail.probes import has_times_of_day

READ_AS = {"uint8": "smallint", "uint16": "int", "uint32": "bigint", "uint64": "decimal(20,0)"}
HIGH = {"uint8": 200, "uint16": 40_000, "uint32": 3_000_000_000, "uint64": 2**63 - 1}
CLAUSE = "ORDER BY t MEASURES LAST({0}) AS last, max({0}) AS most PATTERN (A B+) "
CLAUSE += "DEFINE B AS {0} > PREV({0})"
RISES = CLAUSE.format("v")


@pytest.mark.parametrize("form", ["uint{}", "UInt{}", "uint{}[pyarrow]"])
@pytest.mark.parametrize("kind", HIGH)
def test_unsigned_integers_of_pandas_keep_their_values(
    spark: SparkSession, form: str, kind: str
) -> None:
    """In a signed type of the same size, 200 would be -56, and the rise would be a fall."""
    high = HIGH[kind]
    bits = kind.removeprefix("uint")
    rows = pd.DataFrame({"t": [1, 2, 3], "v": pd.array([100, high - 1, high], form.format(bits))})
    matches = matchrec.match_recognize(rows, RISES)
    assert [tuple(row) for row in matches.collect()] == [(high, high)]


def test_a_pandas_column_can_be_named_like_a_method_of_arrow(spark: SparkSession) -> None:
    """An Arrow table has a method `slice`, and a pandas frame an attribute for each column."""
    rows = pd.DataFrame({"t": [1, 2], "slice": [3, 4]})
    matches = matchrec.match_recognize(rows, CLAUSE.format("slice"))
    assert [tuple(row) for row in matches.collect()] == [(4, 4)]


class Events(pd.DataFrame):
    """A class that is derived from the frames of pandas, as GeoPandas has one."""


def test_a_derived_class_of_pandas_is_a_frame(spark: SparkSession) -> None:
    rows = Events({"t": [1, 2, 3], "v": [5, 4, 6]})
    matches = matchrec.match_recognize(rows, RISES)
    assert [tuple(row) for row in matches.collect()] == [(6, 6)]


@pytest.mark.parametrize(
    ("kind", "values", "type_name"),
    [
        (pa.dictionary(pa.uint8(), pa.uint8()), [100, 200], "smallint"),
        (pa.date64(), [date(2022, 1, 1), date(2022, 1, 2)], "date"),
        (pa.string_view(), ["a", "b"], "string"),
        (pa.binary_view(), [b"a", b"b"], "binary"),
        (pa.list_(pa.string_view()), [["a"], ["b"]], "array<string>"),
        (pa.time32("s"), [time(1), time(2)], "time(6)"),
        (pa.time64("ns"), [time(1), time(2)], "time(6)"),
    ],
    ids=str,
)
def test_other_types_of_arrow_are_converted_or_rejected(
    spark: SparkSession, kind: pa.DataType, values: list[Any], type_name: str
) -> None:
    rows = pa.table({"t": [1, 2], "v": pa.array(values, kind)})
    clause = "ORDER BY t MEASURES LAST(v) AS last PATTERN (A B) DEFINE B AS t > 1"
    if type_name == "time(6)" and not has_times_of_day(spark):
        with pytest.raises(
            matchrec.MatchRecognizePlanError, match=r"`v` is a time of day .*\n.*cast"
        ):
            matchrec.match_recognize(rows, clause)
        return
    matches = matchrec.match_recognize(rows, clause)
    assert matches.schema["last"].dataType.simpleString() == type_name
    assert [*matches.collect()[0]] == values[1:]


def test_numbers_beyond_bigint_are_rejected(spark: SparkSession) -> None:
    rows = pd.DataFrame({"v": pd.array([2**63], "uint64[pyarrow]")})
    with pytest.raises(matchrec.MatchRecognizePlanError, match="and numbers beyond BIGINT"):
        matchrec.match_recognize(rows, "ORDER BY v PATTERN (A) DEFINE A AS v > 0")


def test_unsigned_integers_of_a_file_keep_their_values(spark: SparkSession, tmp_path: Path) -> None:
    """The type is right in conditions, keys and measures, although Sail says TINYINT for 200."""
    columns = {kind: pa.array([100, high - 1, high], kind) for kind, high in HIGH.items()}
    file = str(tmp_path / "unsigned.parquet")
    parquet.write_table(pa.table({"t": [1, 2, 3]} | columns), file)
    rows = spark.read.parquet(file)
    for kind, high in HIGH.items():
        clause = CLAUSE.format(kind)
        query = matchrec.query(rows, f"{clause} AND {kind} > FIRST({kind})")
        assert [tuple(row) for row in query.to_df().collect()] == [(high, high)]
        assert query.to_df().dtypes[0][1] == READ_AS[kind]
        assert f"{high - 1} > 100 is true" in str(query.why(row=1))
        rules = {"rises": clause.removeprefix("ORDER BY t ")}
        matches = matchrec.match_rules(rows, rules, order_by="t").rule("rises")
        assert matches.collect()[0][0] == high
        keys = f"PARTITION BY {kind} ORDER BY t MEASURES count(*) AS n PATTERN (A+)"
        rows_of_keys = matchrec.match_recognize(rows, f"{keys} DEFINE A AS {kind} > 1").collect()
        assert sorted(row[0] for row in rows_of_keys) == [100, high - 1, high]


def test_lists_of_a_file(spark: SparkSession, tmp_path: Path) -> None:
    """The file has lists of unsigned numbers, and lists of a fixed length."""
    kinds = {"u": pa.list_(pa.uint8()), "f": pa.list_(pa.int16(), 1)}
    columns = {name: pa.array([[100], [200], [250]], kind) for name, kind in kinds.items()}
    parquet.write_table(pa.table({"t": [1, 2, 3]} | columns), file := str(tmp_path / "l.parquet"))
    for name in kinds:
        clause = f"ORDER BY t MEASURES LAST({name}) AS last, max({name}) AS most PATTERN (A B+)"
        clause += f" DEFINE B AS {name}[0] > PREV({name}[0]) AND {name} > FIRST({name})"
        matches = matchrec.match_recognize(spark.read.parquet(file), clause)
        assert [tuple(row) for row in matches.collect()] == [([250], [250])]
        assert matches.dtypes[0][1] == "array<smallint>"


def test_nested_unsigned_integers_of_a_file_keep_their_values(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Structs, maps and arrays are nested, and their fields can have any names."""
    inner = pa.struct([("a Int8", pa.uint8()), ('say "Map(', pa.decimal128(5, 2))])
    pairs = pa.map_(pa.string(), pa.uint16())
    kind = pa.struct([("s", inner), ("l", pa.list_(pa.list_(pa.uint32()))), ("m", pairs)])
    high = [200, 40_000, 3_000_000_000]
    text = 'say "Map('
    values = [{"s": {"a Int8": n, text: None}, "l": [[n]], "m": [("k", n)]} for n in (1, 200)]
    values[1] |= {"l": [[high[2]]], "m": [("k", high[1])]}
    file = str(tmp_path / "nested.parquet")
    parquet.write_table(pa.table({"t": [1, 2], "v": pa.array(values, kind)}), file)
    clause = "ORDER BY t MEASURES LAST(v) AS v, LAST(v.s.`a Int8`) AS n PATTERN (A B)"
    clause += " DEFINE B AS v.s.`a Int8` > 199 AND v.m['k'] > PREV(v.m['k'])"
    (row,) = matchrec.match_recognize(spark.read.parquet(file), clause).collect()
    assert [row.v.s["a Int8"], row.v.m["k"], row.v.l[0][0], row.n] == [*high, 200]


def test_a_nested_choice_has_the_type_of_all_its_values(spark: SparkSession) -> None:
    """Sail's schema has the type of the first value of the choice."""
    choices = {
        "named_struct('a', IF({} > 9, 1, 2.5D))": "struct<a:double>",
        "IF({} > 9, array(), array(2.5D))": "array<double>",
        "CASE WHEN {} > 9 THEN map('a', 1) ELSE map('a', 2.5D) END": "map<string,double>",
    }
    rows = spark.createDataFrame([(1,), (2,)], "t int")
    for choice, kind in choices.items():
        measures = f"LAST({choice.format('t')}) AS x, {choice.format('A.t')} AS y"
        clause = f"ORDER BY t MEASURES {measures} PATTERN (A) DEFINE A AS t = 2"
        matches = matchrec.match_recognize(rows, clause)
        assert matches.dtypes == [("x", kind), ("y", kind)]
        (row,) = matches.collect()
        assert row.x == row.y
        assert "2.5" in str(row.x)


@pytest.mark.parametrize("words", ["IF(t = 1, {}, {})", "CASE WHEN t = 1 THEN {} ELSE {} END"])
def test_a_nested_choice_can_have_null(spark: SparkSession, words: str) -> None:
    """Sail's schema says that a part is never NULL if that is true for the first value."""
    parts = {
        "a": words.format("array(1)", "array(2, NULL)"),
        "m": words.format("map('k', 1)", "map('k', CAST(NULL AS INT))"),
        "s": words.format("struct(array(1) AS l)", "struct(array(2, NULL) AS l)"),
    }
    rows = spark.createDataFrame([(1,), (2,)], "t int")
    chosen = rows.selectExpr("t", *(f"{choice} AS {name}" for name, choice in parts.items()))
    clause = "ORDER BY t MEASURES A.a AS a, A.m AS m, A.s AS s PATTERN (A) DEFINE A AS t = 2"
    (row,) = matchrec.match_recognize(chosen, clause).collect()
    assert [row.a, row.m, row.s.l] == [[2, None], {"k": None}, [2, None]]
    all_rows = "ORDER BY t ALL ROWS PER MATCH PATTERN (A B) DEFINE A AS t = 1"
    united = chosen.where("t = 1").unionAll(chosen.where("t = 2"))
    last = matchrec.match_recognize(united, all_rows).collect()[-1]
    assert [last.a, last.m, last.s.l] == [[2, None], {"k": None}, [2, None]]


@pytest.mark.parametrize(
    ("values", "message", "cast"),
    [
        (pd.Categorical(["a", "b"]), "has a column of categories", "STRING"),
        (
            pd.to_timedelta([1, 2], unit="h"),
            "has durations that are not in micro",
            "INTERVAL DAY TO SECOND",
        ),
        (
            pd.DatetimeIndex(["2026-01-31", "2026-02-01"]),
            "has times in nanoseconds",
            "TIMESTAMP_NTZ",
        ),
    ],
)
def test_columns_of_a_file_of_pandas_that_sail_does_not_read(
    spark: SparkSession, tmp_path: Path, values: pd.Index, message: str, cast: str
) -> None:
    """The error says which CAST helps."""
    if find_backend(spark).engine == "Spark":
        pytest.skip("reads all of them, or rejects them in other words")
    pd.DataFrame({"t": [1, 2], "v": values}).to_parquet(file := str(tmp_path / "pandas.parquet"))
    query = f"SELECT * FROM parquet.`{file}` MATCH_RECOGNIZE ({RISES})"
    with pytest.raises(PySparkException, match=message) as refused:
        matchrec.sql(spark, query)
    assert f"FROM (SELECT ..., CAST(x AS {cast}) AS x FROM t)" in str(refused.value)
    corrected = query.replace(
        "FROM parquet", f"FROM (SELECT t, CAST(v AS {cast}) AS v FROM parquet"
    )
    matches = matchrec.sql(spark, corrected.replace("` MATCH", "`) MATCH"))
    assert matches.count() == 1


ARROW_TYPES_IN_PANDAS = {
    "timestamp[ns][pyarrow]": (pd.Timestamp(2026, 1, 31, 10), "timestamp"),
    "timestamp[us, UTC][pyarrow]": (pd.Timestamp("2026-01-31 10:00Z"), "timestamp"),
    "timestamp[ns, UTC][pyarrow]": (pd.Timestamp("2026-01-31 10:00Z"), "timestamp"),
    "duration[ns][pyarrow]": (pd.Timedelta(hours=1), "interval day to second"),
}


@pytest.mark.parametrize("kind", ARROW_TYPES_IN_PANDAS)
def test_times_of_arrow_in_a_pandas_frame_are_converted(spark: SparkSession, kind: str) -> None:
    """`dtype_backend="pyarrow"` makes such columns, in nanoseconds, for which Spark has no type."""
    value, spark_type = ARROW_TYPES_IN_PANDAS[kind]
    later = [value + pd.Timedelta(minutes=minutes) for minutes in (0, 5, 20)]
    rows = pd.DataFrame({"t": [1, 2, 3], "v": pd.array([*later], kind)})
    clause = "MEASURES LAST(t) AS t, LAST(v) AS v PATTERN (A B) DEFINE B AS v > PREV(v)"
    matches = matchrec.match_recognize(rows, f"ORDER BY v {clause}")
    assert [row.t for row in matches.collect()] == [2]
    assert matches.dtypes[1] == ("v", spark_type)


def test_categories_become_their_values(spark: SparkSession) -> None:
    kind = pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
    numbers = pd.Categorical(pd.array([100, 200], "UInt8"))
    for values, last in ((pd.array(["a", "b"], kind), "b"), (numbers, 200)):
        matches = matchrec.match_recognize(pd.DataFrame({"t": [1, 2], "v": values}), RISES)
        assert [tuple(row) for row in matches.collect()] == [(last, last)]


EMPTY = {
    "n": ("int16", "smallint"),
    "x": ("float64", "double"),
    "flag": ("bool", "boolean"),
    "at": ("datetime64[ns]", "timestamp"),
    "instant": ("datetime64[us, Europe/Berlin]", "timestamp"),
    "gap": ("timedelta64[ns]", "interval day to second"),
    "o": ("object", "string"),
    "s": ("string", "string"),
    "u": ("UInt8", "smallint"),
    "word": (pd.CategoricalDtype(["a", "b"]), "string"),
    "list": (pd.ArrowDtype(pa.list_(pa.int32())), "array<int>"),
    "cost": (pd.ArrowDtype(pa.decimal128(8, 3)), "decimal(8,3)"),
}


def test_frames_without_rows_keep_their_types(spark: SparkSession) -> None:
    """The result is empty, and its columns have the types that the frame declares."""
    rows = pd.DataFrame({name: pd.Series(dtype=kind) for name, (kind, _) in EMPTY.items()})
    clause = "ORDER BY at ALL ROWS PER MATCH PATTERN (A+) DEFINE A AS x > 1 AND cost > 0"
    matches = matchrec.match_recognize(rows, clause)
    assert sorted(matches.dtypes) == sorted(
        (name, type_name) for name, (_, type_name) in EMPTY.items()
    )
    assert matches.collect() == []
    numbers = matchrec.sql(spark, f"SELECT n FROM {{d}} MATCH_RECOGNIZE ({clause})", d=rows)
    assert numbers.collect() == []
    columns_only = pd.DataFrame(columns=["t", "v"])
    assert matchrec.match_recognize(columns_only, CLAUSE.format("v")).collect() == []


def test_frames_without_columns_are_rejected(spark: SparkSession) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError, match="a pandas frame without columns"):
        matchrec.match_recognize(pd.DataFrame(), CLAUSE.format("v"))


# Nanoseconds since 1970. Rows 0 and 1 differ only in nanoseconds, and so do rows 2, 3 and 4, which
# have two keys. Rows 5 and 6 are equal. No other row is near the last one.
CLOSE = [1_100, 1_900, 5_001, 5_002, 5_003, 7_007, 7_007, 9_009]
KEYS = ["x", "x", "x", "y", "y", None, None, "x"]
SEQUENCE = [1, 2, 1, 1, 1, 1, 1, 1]


def make_frames_of_close_times() -> dict[str, Any]:
    """Return the same rows in several types, with an index and one missing time."""
    ts = pd.array([*CLOSE, None], "Int64")
    columns = {"k": [*KEYS, "x"], "seq": [*SEQUENCE, 1], "v": range(9)}
    times = pd.to_datetime(ts)
    frame = pd.DataFrame({"ts": times, **columns}, index=range(9, 0, -1))
    return {
        "numpy": frame,
        "zone": frame.assign(ts=frame["ts"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")),
        "object": frame.assign(ts=frame["ts"].astype(object)),
        "arrow dtype": frame.assign(ts=frame["ts"].astype("timestamp[ns][pyarrow]")),
        "category": frame.assign(k=frame["k"].astype("category")),
        "list": frame.assign(k=[[key] for key in frame["k"]]),
        "duration": frame.assign(ts=frame["ts"] - pd.Timestamp(0)),
        "arrow": pa.Table.from_pandas(frame),
    }


@pytest.mark.parametrize("form", make_frames_of_close_times())
@pytest.mark.parametrize(
    ("clause", "count"),
    [
        ("ORDER BY ts", 5),
        ("PARTITION BY k ORDER BY ts", 4),  # row 2 is the only one near its time with its key
        ("ORDER BY ts, seq", 3),  # `seq` differs in rows 0 and 1
        ("PARTITION BY k ORDER BY TS DESC, seq", 2),
        ("ORDER BY v, ts", 0),
        ("ORDER BY ts, v % 3", 0),  # the expression may differ in these rows
        ("PARTITION BY v ORDER BY ts", 0),
        ("ORDER BY v", 0),
    ],
)
def test_times_that_differ_in_nanoseconds(
    spark: SparkSession, form: str, clause: str, count: int
) -> None:
    rows = make_frames_of_close_times()[form]
    if form == "arrow" and spark.version.startswith("3."):
        pytest.skip("no DataFrame of a table of Arrow")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", matchrec.warnings.NanosecondsWarning)
        matchrec.match_recognize(rows, f"{clause} MEASURES A.v AS a PATTERN (A)")
    assert [str(warning.message).partition(" rows")[0] for warning in warned] == [str(count)][
        : count > 0
    ]


@pytest.mark.parametrize(
    "values",
    [[datetime(2024, 1, 1), datetime(9999, 1, 1)], [timedelta(1), timedelta(days=200_000)]],
    ids=["datetime", "timedelta"],
)
def test_times_that_do_not_fit_into_nanoseconds(spark: SparkSession, values: list[Any]) -> None:
    rows = pd.DataFrame({"ts": pd.Series(values, dtype=object), "v": [1, 2]})
    clause = "ORDER BY ts MEASURES A.ts AS ts PATTERN (A) DEFINE A AS v = 2"
    assert matchrec.match_recognize(rows, clause).collect() == [(values[1],)]


def test_times_of_day_keep_their_nanoseconds_for_the_warning(spark: SparkSession) -> None:
    """They have no type in Python, so pandas must not convert them."""
    times = [1_001, 1_002]
    rows = pa.table(
        {
            "ts": pa.array(times, pa.timestamp("ns")),
            "t": pa.array(times, pa.time64("ns")),
            "v": [1, 2],
        }
    )
    ambiguous_times = find_ambiguous_times("df", "pyarrow", rows)
    assert ambiguous_times is not None
    assert ambiguous_times.count_ties(["ts"], []) == 2
    assert ambiguous_times.count_ties(["t"], []) == 2


def test_nanoseconds_of_a_polars_frame_have_advice_for_polars(spark: SparkSession) -> None:
    """The warning suggests an expression of Polars, not one of Arrow."""
    if spark.version.startswith("3."):
        pytest.skip("no DataFrame of a table of Arrow")

    class DataFrame:
        """A stand-in for a Polars DataFrame, so that Polars need not be installed."""

        __module__ = "polars.dataframe.frame"

        def to_arrow(self) -> pa.Table:
            """Return two rows that differ only in nanoseconds."""
            return pa.table({"ts": pa.array([1_001, 1_002], pa.timestamp("ns")), "v": [1, 2]})

    clause = "ORDER BY ts MEASURES A.v AS a PATTERN (A) DEFINE A AS v > 0"
    with pytest.warns(matchrec.warnings.NanosecondsWarning) as warned:
        matchrec.match_recognize(cast("Any", DataFrame()), clause)
    warning = cast("matchrec.warnings.NanosecondsWarning", warned[0].message)
    suggestion = 'df.with_columns(ns=df["ts"].to_physical() % 1000)'
    assert warning.hint == f"pass {suggestion}, and write ORDER BY ts, ns"


def test_nanoseconds_raise_a_warning_wherever_the_frame_is_read(spark: SparkSession) -> None:
    """There is a warning in a subquery, a rule and `explain`. Its hint keeps the order."""
    rows = make_frames_of_close_times()["numpy"].iloc[[1, 0]]
    clause = "MEASURES FIRST(v) AS v PATTERN (A B) DEFINE A AS v >= 0"
    query = f"SELECT * FROM (SELECT * FROM {{d}}) MATCH_RECOGNIZE (ORDER BY ts {clause})"
    with pytest.warns(matchrec.warnings.NanosecondsWarning, match="2 rows of `d` differ"):
        matchrec.sql(spark, query, d=rows)
    assert "2 rows of `d` differ" in str(matchrec.query(spark, query, d=rows).explain())
    with pytest.warns(matchrec.warnings.NanosecondsWarning, match="2 rows of `df` differ"):
        matchrec.match_rules(rows, {"r": clause}, order_by="ts")
    with warnings.catch_warnings():
        warnings.simplefilter("error", matchrec.warnings.NanosecondsWarning)
        corrected = rows.assign(ns=rows["ts"].astype("int64") % 1000)
        assert matchrec.match_recognize(corrected, f"ORDER BY ts, ns {clause}").collect() == [(0,)]


@pytest.mark.parametrize(
    ("values", "note"),
    [
        ([1, "x"], "row 1, counted from 0, is 'x', of type str, and earlier rows are int"),
        ([None, "x", 1], "row 2, counted from 0, is 1, of type int, and earlier rows are str"),
        # the types of both rows are the same, so the types of their items are the reason
        ([[1], ["x"]], "row 1, counted from 0, is ['x'], of type list, which does not fit: "),
    ],
)
def test_a_value_of_another_type_is_named(values: list[object], note: str) -> None:
    frame = pd.DataFrame({"v": pd.Series(values, dtype=object), "id": range(len(values))})
    with pytest.raises(matchrec.MatchRecognizePlanError, match="column `v` of `df`") as raised:
        matchrec.match_recognize(frame, "ORDER BY id PATTERN (A) DEFINE A AS id = 0")
    assert raised.value.code == "values-without-common-type"
    assert raised.value.notes[0].startswith(note)
