"""The workers or the engine sort the rows; `explain` says which, and the result is the same."""

from __future__ import annotations

from typing import Any

import pyspark
import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.arguments import Sort
from matchrec.errors import MatchRecognizeError
from matchrec.spark import sorter_choice
from matchrec.spark.sorter_choice import choose_spark
from tests.quick.scale import some_of

ROWS = """
    SELECT * FROM VALUES
        ('a', 1.5D, 'x', 3, 1), ('a', 2.5D, 'y', 1, 2), ('a', double('NaN'), 'x', 2, 3),
        ('b', -0.0D, 'é', NULL, 4), ('b', 0.0D, NULL, 5, 5), ('b', NULL, 'z', 4, 6),
        (NULL, 1D, 'x', 2, 7), (NULL, double('-inf'), 'y', 1, 8), (NULL, 9D, '', 3, 9)
    AS rows(k, d, s, i, id)"""
CHANGES = """
    MEASURES FIRST(id) AS first_id, LAST(id) AS last_id, count(*) AS n
    PATTERN (A B*) DEFINE B AS PREV(id) IS NOT NULL AND (B.id > PREV(B.id) OR i IS NULL)"""
ORDERS = {
    "doubles": "PARTITION BY k ORDER BY d, id",
    "doubles, falling": "PARTITION BY k ORDER BY d DESC, id",
    "texts, NULL last": "PARTITION BY k ORDER BY s NULLS LAST, id DESC",
    "no keys": "ORDER BY i DESC NULLS FIRST, s, id",
    "keys of doubles": "PARTITION BY d ORDER BY id",
    "several keys": "PARTITION BY k, s ORDER BY id",
    "keys that are computed": "PARTITION BY upper(k), i > 2 ORDER BY cast(d AS decimal(30, 9)), id",
}


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    """Return rows with NULL, NaN and zeros of both signs, in three tasks."""
    return spark.sql(ROWS).repartition(3)


def collect_rows(df: DataFrame, clause: str, sort: Sort) -> list[str]:
    """Return the rows of a clause.

    If Spark sorts, rows are sent in pandas, so that Spark also computes PREV and NEXT.
    """
    options = matchrec.Options(sort=sort, transport="pandas" if sort == "engine" else "auto")
    return sorted(map(str, matchrec.match_recognize(df, clause, options=options).collect()))


def find_sorter(df: DataFrame, clause: str, **options: Any) -> str:
    """Return the line of `explain` that says who sorts."""
    query = f"SELECT * FROM {{df}} MATCH_RECOGNIZE ({clause})"
    options_of_query = matchrec.Options(**options)
    explanation = matchrec.query(df.sparkSession, query, df=df, options=options_of_query).explain()
    (line,) = (
        line for line in str(explanation).splitlines() if line.strip().startswith("sorted by")
    )
    return line.strip()


@pytest.mark.parametrize("order", some_of(tuple(ORDERS)))
def test_the_result_does_not_depend_on_who_sorts(rows: DataFrame, order: str) -> None:
    clause = ORDERS[order] + CHANGES
    by_workers = collect_rows(rows, clause, "worker")
    assert by_workers
    assert by_workers == collect_rows(rows, clause, "engine")


@pytest.mark.once
def test_arithmetic_with_constants_is_sparks(rows: DataFrame) -> None:
    clause = """PARTITION BY k ORDER BY id MEASURES CLASSIFIER() AS c
        ALL ROWS PER MATCH PATTERN ((A | B | C | D)+)
        DEFINE A AS d > 0.1 * PREV(d) + 0.3, B AS i - PREV(i) <= 1 AND i * 3 - 7 < NEXT(i) + 2,
            C AS d - 0.1 < NEXT(d) - 1.7 OR NEXT(i) - 1.5 > i, D AS PREV(d) - 0.5 IS NULL"""
    by_workers = collect_rows(rows, clause, "worker")
    assert by_workers == collect_rows(rows, clause, "engine") != []


def test_workers_sort_no_rows(rows: DataFrame) -> None:
    assert collect_rows(rows.where("FALSE"), ORDERS["doubles"] + CHANGES, "worker") == []


def test_rows_that_no_match_contains_are_not_sent(rows: DataFrame) -> None:
    clause = "PARTITION BY k ORDER BY id MEASURES A.id AS a PATTERN (A) DEFINE A AS i = 3"
    assert collect_rows(rows, clause, "worker") == collect_rows(rows, clause, "engine") != []


def test_spark_shuffles_and_does_not_sort(
    rows: DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    matchrec.match_recognize(rows, ORDERS["doubles"] + CHANGES).explain()
    plan = capsys.readouterr().out
    assert plan.count("Exchange") == 2, "one of the rows themselves, and one of the clause"
    assert "Sort" not in plan
    assert "Window" not in plan


def test_the_workers_sort_by_default(rows: DataFrame) -> None:
    assert find_sorter(rows, ORDERS["doubles"] + CHANGES).startswith("sorted by the workers")
    line = find_sorter(rows, ORDERS["doubles"] + CHANGES, sort="engine")
    assert line == "sorted by the engine: the option sort is engine"


STRUCT = "named_struct('k', k)"
FRAME = "avg(i) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"
REASONS = {
    "order": (
        "ORDER BY array(d) MEASURES id AS a PATTERN (A) DEFINE A AS i > 0",
        "only the engine can sort by array(d), which is array<double>",
    ),
    "key": (
        f"PARTITION BY {STRUCT} ORDER BY id MEASURES id AS a PATTERN (A) DEFINE A AS i > 0",
        f"only the engine can sort by {STRUCT}, which is struct<k:string>",
    ),
    "frame": (
        f"ORDER BY id MEASURES id AS a PATTERN (A) DEFINE A AS {FRAME} > 0",
        "only the engine can compute",
    ),
    "function": (
        "ORDER BY id MEASURES id AS a PATTERN (A B) DEFINE B AS concat_ws(s, PREV(s), s) <> s",
        "only the engine can compute",
    ),
    "function, and other rows of the match": (
        """ORDER BY id MEASURES id AS a PATTERN (A B)
            DEFINE B AS soundex(concat(PREV(s), s)) <> FIRST(A.s)""",
        "only the engine can compute soundex(concat(PREV(`s`), `s`))",
    ),
    "type": (
        """ORDER BY id MEASURES id AS a PATTERN (A B)
            DEFINE B AS CAST(i AS DECIMAL(38, 9)) * PREV(i) > 1""",
        "only the engine can compute",
    ),
}


@pytest.mark.parametrize("condition", ["pirce > 1", "neg(i) > 1", "s > 1 AND i - FIRST(A.s) > 0"])
def test_a_wrong_query_is_not_tried_with_another_sort(
    rows: DataFrame, monkeypatch: pytest.MonkeyPatch, condition: str
) -> None:
    """Such a query is rejected at once, except for types, which are tried with Spark's sort."""
    sorts: list[str] = []

    def record_choice(*arguments: object) -> object:
        """Note that Spark's sort is tried."""
        sorts.append("Spark")
        return choose_spark(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(sorter_choice, "choose_spark", record_choice)
    clause = f"ORDER BY id MEASURES id AS a PATTERN (A B) DEFINE A AS TRUE, B AS {condition}"
    with pytest.raises(MatchRecognizeError):
        matchrec.match_recognize(rows, clause)
    assert sorts == (["Spark"] if "FIRST" in condition else [])


@pytest.mark.parametrize("reason_name", some_of(tuple(REASONS)))
def test_spark_sorts_if_only_it_can(rows: DataFrame, reason_name: str) -> None:
    clause, reason = REASONS[reason_name]
    line = find_sorter(rows, clause)
    assert line.startswith("sorted by the engine: ")
    assert reason in line
    with pytest.raises(MatchRecognizeError) as refused:
        matchrec.match_recognize(rows, clause, options=matchrec.Options(sort="worker"))
    assert reason in refused.value.message
    assert "sort" in refused.value.hint


def test_the_workers_do_not_sort_pandas(rows: DataFrame) -> None:
    clause = ORDERS["doubles"] + CHANGES
    with pytest.raises(MatchRecognizeError, match="pandas"):
        matchrec.match_recognize(
            rows, clause, options=matchrec.Options(sort="worker", transport="pandas")
        )


@pytest.mark.once
def test_patterns_and_sase_match_the_same_whoever_sorts(rows: DataFrame) -> None:
    pattern = matchrec.Pattern.begin("a").where("i = 3").followed_by("b").where("i = 1")
    text = "PATTERN SEQ(x a, y b) WHERE skip_till_next_match(a, b) { a.i > b.i }"
    by_workers, by_engine = (
        [
            sorted(map(str, matches.collect()))
            for matches in (
                matchrec.match_pattern(
                    rows,
                    pattern,
                    order_by="id",
                    partition_by="k",
                    options=matchrec.Options(sort=sort),
                ),
                matchrec.match_sase(
                    rows,
                    text,
                    order_by="id",
                    partition_by="k",
                    type_column="s",
                    options=matchrec.Options(sort=sort),
                ),
            )
        ]
        for sort in ("worker", "engine")
    )
    assert by_workers == by_engine
    assert all(by_workers)


@pytest.mark.once
def test_events_keep_their_types_and_names(spark: SparkSession) -> None:
    """The events have all columns, although the time and the key are also sent alone."""
    events = spark.sql(
        """SELECT k AS `k``ey`, id, k, timestamp_seconds(id) AS at, CAST(d AS DECIMAL(30, 2)) AS m,
            CASE WHEN id <> 2 THEN make_interval(0, 1, 0, id) END AS calendar, array(s) AS list,
            make_dt_interval(id) AS days, make_ym_interval(id) AS months, struct(s, NULL AS n) AS st
        FROM VALUES ('a', 1, 1.5, 'x'), ('a', 2, NULL, 'y'), ('b', 3, 2.5, NULL), ('b', 4, 3, 'z')
            AS t(k, id, d, s)"""
    )
    if pyspark.__version__ < "4":  # PySpark 3.5 has no such type in a schema
        events = events.drop("calendar")
    pattern = matchrec.Pattern.begin("a").next("b").where("days > last(a.days)")
    by_workers, by_spark = (
        matchrec.match_pattern(
            events,
            pattern,
            order_by="at",
            partition_by="`k``ey`",
            options=matchrec.Options(sort=sort),
        )
        for sort in ("worker", "engine")
    )
    assert by_workers.schema == by_spark.schema
    rows_by_workers, rows_by_spark = (
        sorted(matches.selectExpr("CAST(struct(*) AS STRING)").collect())
        for matches in (by_workers, by_spark)
    )
    assert rows_by_workers == rows_by_spark
    assert len(rows_by_workers) == 2
