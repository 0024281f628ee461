"""`sweep` computes for each combination of values the figures of a query with these values."""

from __future__ import annotations

from datetime import timedelta
from itertools import product
from statistics import median

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.api.parameters import find_clause_parameters

CLAUSE = """PARTITION BY k ORDER BY id MEASURES FIRST(id) AS f
    PATTERN (A{:least,} B) DEFINE A AS v > :v AND s <> ':v', B AS v < LAST(A.v)"""


@pytest.fixture
def rows(spark: SparkSession) -> DataFrame:
    """Return 2,000 rows with seven keys."""
    return spark.sql(
        "SELECT CAST(id % 7 AS INT) AS k, id, CAST(hash(id) % 100 AS INT) AS v, 'x' AS s"
        " FROM range(2000)"
    )


# The condition compares with the text ':v', which the sweep must not replace.
@pytest.mark.filterwarnings("ignore::matchrec.warnings.NoEffectWarning")
def test_a_point_has_the_figures_of_its_query(rows: DataFrame) -> None:
    grid = {"least": [1, 2, 4], "v": range(-50, 100, 50)}
    swept = matchrec.sweep(rows, CLAUSE, grid)
    assert swept.columns[:2] == ("least", "v")
    measured = CLAUSE.replace("FIRST(id) AS f", "count(*) AS n, LAST(id) - FIRST(id) AS span")
    for row, (least, v) in zip(swept.rows, product(*grid.values()), strict=True):
        matches = matchrec.match_recognize(rows, measured, {"least": least, "v": v}).collect()
        lengths = [match.n for match in matches]
        spans = [match.span for match in matches]
        assert row == (
            *(least, v, len(matches), len({match.k for match in matches}), sum(lengths)),
            *(median(figures) if figures else None for figures in (lengths, spans)),
        )


def test_a_point_without_a_match_has_a_row(spark: SparkSession) -> None:
    rows = spark.sql("SELECT id, CAST(id AS STRING) AS s FROM range(5)")
    clause = "ORDER BY s PATTERN (A+) DEFINE A AS id > :id"
    swept = matchrec.sweep(rows, clause, {"id": [2, 9]})
    assert swept.rows == ((2, 1, 1, 2, 2.0, None), (9, 0, 0, 0, None, None))
    assert str(swept).splitlines() == [
        "id  matches  partitions  rows  median_rows  median_span",
        " 2        1           1     2          2.0             ",
        " 9        0           0     0                          ",
    ]
    assert repr(swept) == "<Sweep: 2 combinations of id>"
    assert repr(matchrec.sweep(rows, clause, {"id": [2]})) == "<Sweep: 1 combination of id>"
    assert swept.toPandas().shape == (2, 6)
    assert "<svg" in swept.svg()
    assert swept._repr_html_().count("<tr") == 3


def test_a_value_that_is_listed_twice_counts_once(spark: SparkSession) -> None:
    clause = "ORDER BY id PATTERN (A+) DEFINE A AS id > :id"
    swept = matchrec.sweep(spark.range(5), clause, {"id": np.array([2, 2, 3] * 400)})
    assert swept.rows == ((2, 1, 1, 2, 2.0, 1.0), (3, 1, 1, 1, 1.0, 0.0))


def test_a_grid_can_have_values_of_numpy_and_pandas(spark: SparkSession) -> None:
    """The rows 0 to 5 are one hour apart. Each type of value works as a parameter."""
    rows = spark.sql(
        "SELECT id, TIMESTAMP'2026-01-01' + id * INTERVAL '1' HOUR AS at FROM range(6)"
    )
    clause = "ORDER BY at PATTERN (A{:n}) WITHIN :gap DEFINE A AS id > :x AND at > :at"
    first = np.datetime64("2026-01-01T00:30", "ns")
    grid = {
        "n": np.arange(1, 3),
        "gap": [np.timedelta64(90, "m")],
        "x": pd.Series([0.5, 3.5]),
        "at": np.array([first]),
    }
    swept = matchrec.sweep(rows, clause, grid)
    assert [row[4] for row in swept.rows] == [5, 2, 2, 1]
    assert str(swept).split()[:4] == ["n", "gap", "x", "at"]
    clause = clause.replace("PATTERN", "MEASURES FIRST(id) AS id PATTERN")
    args = {"n": rows.toPandas().id.max() - 3, "gap": grid["gap"][0], "x": 0, "at": first}
    assert matchrec.match_recognize(rows, clause, args).count() == 2


@pytest.mark.parametrize("order", ["ASC", "DESC"])
def test_a_span_is_a_distance_in_either_order(spark: SparkSession, order: str) -> None:
    rows = spark.sql("SELECT id, DATE '2024-01-01' + CAST(id AS INT) AS d FROM range(6)")
    clause = f"ORDER BY key {order} PATTERN (A{{:n}}) DEFINE A AS id >= 0"
    swept = matchrec.sweep(rows, clause.replace("key", "id"), {"n": [3]})
    assert swept.rows == ((3, 2, 1, 6, 3.0, 2.0),)
    (days,) = matchrec.sweep(rows, clause.replace("key", "d"), {"n": [3]}).rows
    assert days[-1] == timedelta(days=2)


def test_the_axes_of_the_chart_have_labels(spark: SparkSession) -> None:
    pytest.importorskip("matplotlib")
    clause = "ORDER BY id PATTERN (A+) DEFINE A AS id > :least"
    (panel, *_) = matchrec.sweep(spark.range(5), clause, {"least": [1, 3]}).figure().axes
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("least", "number of matches")


def test_excluded_rows_are_rows_of_the_match(spark: SparkSession) -> None:
    clause = "ORDER BY id PATTERN (A {- B{:n} -} C {- D -}) DEFINE A AS id % 2 = 0"
    swept = matchrec.sweep(spark.range(10), clause, {"n": [1, 3]})
    assert swept.rows == ((1, 2, 1, 8, 4.0, 3.0), (3, 1, 1, 6, 6.0, 5.0))


def test_a_path_or_a_type_is_no_parameter() -> None:
    clause = "DEFINE A AS x::int > :int AND j:int <> ':int'"
    assert [clause[span.start - 1 : span.end] for _, span in find_clause_parameters(clause)] == [
        " :int"
    ]


@pytest.mark.parametrize(
    ("clause", "grid", "message"),
    [
        (
            "ORDER BY id PATTERN (A) DEFINE A AS id > :x",
            {"y": [1]},
            r"no parameter `:y` .*\n.*has: :x",
        ),
        (
            "ORDER BY id PATTERN (A) DEFINE A AS id > :x AND id < :z",
            {"x": [1]},
            "missing values of parameter `:z` .*\n  line 1, column 54\n",
        ),
        (
            "ORDER BY id PATTERN (A) DEFINE A AS id > :x",
            {"x": 5},
            r"help: write the values in brackets: \[5\]$",
        ),
        (
            "ORDER BY id PATTERN (A{:n}) DEFINE A AS id > :x AND id < 9 * :x",
            {},
            r"help: write grid=\{\"n\": \[1, 2\], \"x\": \[1, 2\]\}, with your values$",
        ),
        (
            "ORDER BY id PATTERN (A) DEFINE A AS id > 1",
            {},
            r"a dict with values for .*, but is \{\} .*\n  help: write :n instead of a value in",
        ),
        ("ORDER BY id PATTERN (A) DEFINE A AS id > :x", {"x": []}, r"`grid.'x'.` of .* a list"),
        ("ORDER BY id PATTERN (A) DEFINE A AS id > :x", {"x": pd.Timedelta(1)}, r"`grid.'x'.` of"),
        ("ORDER BY id PATTERN (A) DEFINE A AS id > :x", {"x": range(2000)}, "2,000 combinations"),
        ("ORDER BY id PATTERN (A) DEFINE A AS nix > :x", {"x": [1]}, "nix"),
        ("ORDER BY id PATTERN (A) DEFINE B AS id > :x", {"x": [1]}, "DEFINE has `B`"),
        ("ORDER BY id PATTERN (A{:x}) DEFINE A AS id > 1", {"x": ["y"]}, "y"),
        ("ORDER BY id PATTERN (A{:x}) DEFINE A AS id > 1", {"x": [1, "y"]}, "`:x`, the bound"),
        ("ORDER BY id PATTERN (A) DEFINE A AS id > :x", {"x": [1, [2]]}, r"rule `x = \[2\]`"),
    ],
)
def test_wrong_grids_are_rejected(
    spark: SparkSession, clause: str, grid: dict[str, list[object]], message: str
) -> None:
    with pytest.raises(matchrec.MatchRecognizeError, match=message) as raised:
        matchrec.sweep(spark.range(5), clause, grid)
    assert "__0" not in str(raised.value)


@pytest.mark.parametrize(
    ("first", "second", "span"),
    [
        ("-100Y", "100Y", 200.0),
        ("-30000S", "30000S", 60000.0),
        ("-2000000000", "2000000000", 4e9),
        ("-8000000000000000000L", "8000000000000000000L", 1.6e19),
        ("false", "true", None),
        ("array(1)", "array(2)", None),
        ("struct(1, 2)", "struct(1, 3)", None),
    ],
)
def test_a_span_need_not_be_of_the_type_of_the_order(
    spark: SparkSession, first: str, second: str, span: float | None
) -> None:
    rows = spark.sql(f"SELECT {first} AS t UNION ALL SELECT {second}")
    swept = matchrec.sweep(rows, "ORDER BY t PATTERN (A{:n}) DEFINE A AS TRUE", {"n": [2]})
    assert swept.rows == ((2, 1, 1, 2, 2.0, span),)
