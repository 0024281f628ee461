"""If partitions are cut into ranges of their order, the matches are the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.arguments import Sort
from matchrec.errors import MatchRecognizeError
from matchrec.shortcuts import Shortcuts, use_shortcuts
from tests.quick.scale import some_of

KINDS = "DEFINE A AS kind = 'A', B AS kind = 'B' AND x > A.x - 0.5, C AS kind = 'C'"
ENDS = "DEFINE A AS kind = 'A', C AS kind = 'C'"
FALLS = "DEFINE B AS x < PREV(x), C AS x > PREV(x)"
QUERIES = {
    "a window": f"PATTERN (A Z*? B Z*? C) WITHIN 20 {KINDS}",
    "a window that conditions say": f"PATTERN (A Z*? B Z*? C) {KINDS} AND C.t - A.t <= 20",
    "matches that overlap": f"AFTER MATCH SKIP TO NEXT ROW PATTERN (A Z*? C) WITHIN 9 {ENDS}",
    "neighbours in a match": f"PATTERN (A B+ C+) WITHIN 6 {FALLS}",
    "no condition of the first row": "PATTERN (Z{1,3} C) WITHIN 3 DEFINE C AS kind = 'C'",
    "event selection": f"PATTERN (A B C) SKIP TILL ANY MATCH ALL MATCHES WITHIN 12 {KINDS}",
    "optional parts": f"PATTERN (A B? (C | Z)) WITHIN 4 {KINDS}",
    "all rows": f"ALL ROWS PER MATCH PATTERN (A Z*? C) WITHIN 9 {ENDS}",
    "empty matches": f"ALL ROWS PER MATCH PATTERN ((A C)*) WITHIN 4 {ENDS}",
    "a window of the least length": f"ALL ROWS PER MATCH PATTERN ((A C)*) WITHIN 1 {ENDS}",
}
ORDERS = {
    "numbers": "t",
    "dates": "date_add(DATE'1969-12-20', t)",
    "times": "timestamp_seconds(t)",
    "local times": "CAST(timestamp_seconds(t) AS TIMESTAMP_NTZ)",
}
UNITS = {"dates": "INTERVAL '{}' DAY", "times": "INTERVAL {} SECOND"}
UNITS["local times"] = UNITS["times"]


SMALL_RANGES = Shortcuts(min_rows_of_range=1, large_key_one_in=1 << 20)
"""Ranges are as short as possible, and each key counts as large."""


@pytest.fixture(autouse=True)
def small_ranges() -> Iterator[None]:
    """Cut into ranges wherever it is possible."""
    with use_shortcuts(SMALL_RANGES):
        yield


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    """Return 900 random rows."""
    kinds = "substr('AABBCCZZZZ', CAST(rand(2) * 10 AS INT) + 1, 1) AS kind"
    order = "CASE WHEN rand(1) > 0.02 THEN CAST(rand(3) * 3000 AS INT) - 1500 END AS t"
    return spark.range(900).selectExpr("id", order, kinds, "rand(4) AS x", "id % 3 AS k").cache()


def find_matches(rows: DataFrame, clause: str, sort: Sort) -> list[str]:
    """Return the matches of a clause as text, sorted."""
    options = matchrec.Options(sort=sort)
    result = matchrec.match_recognize(rows, clause, options=options)
    return sorted(map(str, result.collect()))


@pytest.mark.parametrize("keys", ["", "PARTITION BY k "])
@pytest.mark.parametrize("name", some_of(tuple(QUERIES)))
def test_ranges_do_not_change_the_result(rows: DataFrame, name: str, keys: str) -> None:
    measures = "MEASURES FIRST(id) AS f, LAST(id) AS l, count(*) AS n "
    clause = f"{keys}ORDER BY t, id {measures}{QUERIES[name]}"
    matches = find_matches(rows, clause, "worker")
    assert len(matches) > 1
    assert find_matches(rows, clause, "ranges") == matches


@pytest.mark.parametrize("name", some_of(tuple(ORDERS)[1:]))
def test_types_of_the_order(rows: DataFrame, name: str) -> None:
    ordered = rows.selectExpr("id", "kind", "x", f"{ORDERS[name]} AS t")
    window = UNITS[name].format(9)
    query = QUERIES["matches that overlap"].replace("WITHIN 9", f"WITHIN {window}")
    clause = f"ORDER BY t, id MEASURES FIRST(id) AS f, LAST(id) AS l {query}"
    matches = find_matches(ordered, clause, "worker")
    assert len(matches) > 1
    assert find_matches(ordered, clause, "ranges") == matches


def test_rows_that_no_match_has_are_not_shuffled(rows: DataFrame) -> None:
    clause = f"ORDER BY t, id MEASURES LAST(id) AS l {QUERIES['a window']} AND x < 0.3"
    result = matchrec.query(
        rows.sparkSession,
        f"SELECT * FROM {{rows}} MATCH_RECOGNIZE ({clause})",
        rows=rows,
        options=matchrec.Options(sort="ranges"),
    )
    assert "cut into ranges of `t` for several tasks" in str(result.explain())
    analyzed = str(result.explain(analyze=True))
    assert "rows are sent, in" in analyzed
    assert "one task searches a whole partition, because counters count all rows" in analyzed
    assert "\n  partitions were not cut into ranges, because all rows are counted\n" in analyzed


def test_counters_of_whole_partitions_say_so(rows: DataFrame) -> None:
    clause = f"ORDER BY t, id MEASURES LAST(id) AS l {QUERIES['a window']} AND x < 0.3"
    line = "partitions were not cut into ranges, because all rows are counted"
    not_cut = matchrec.Counters()
    by_worker = matchrec.Counters()
    for sort, counters in (("ranges", not_cut), ("worker", by_worker)):
        options = matchrec.Options(sort=sort, counters=counters)
        matchrec.match_recognize(rows, clause, options=options).collect()
    assert str(not_cut).splitlines()[-1] == line
    assert line in not_cut._repr_html_()
    assert "ranges" not in str(by_worker)
    assert not_cut.values()["rows"] == by_worker.values()["rows"]


def test_counters_do_not_hide_that_ranges_are_impossible(rows: DataFrame) -> None:
    clause = "ORDER BY t MEASURES LAST(id) AS l PATTERN (A B) DEFINE A AS x > 0.5"
    options = matchrec.Options(sort="ranges", counters=matchrec.Counters())
    with pytest.raises(MatchRecognizeError, match="no WITHIN limits the distance along ORDER BY"):
        matchrec.match_recognize(rows, clause, options=options)


REFUSED = {
    "no window": (
        "{m} PATTERN (A B) DEFINE A AS x > 0.5",
        "no WITHIN limits the distance along ORDER BY",
    ),
    "numbers": (
        "MEASURES MATCH_NUMBER() AS n PATTERN (A B) WITHIN 5",
        "MATCH_NUMBER() depends on earlier matches",
    ),
    "first": (
        "{m} PATTERN (A B) FIRST 2 MATCHES WITHIN 5",
        "FIRST 2 MATCHES depends on earlier matches",
    ),
    "unmatched": (
        "{m} ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A B) WITHIN 5",
        "outputs rows that are in no match",
    ),
    "anchors": ("{m} PATTERN (^ A B) WITHIN 5", "^ tests where the partition begins"),
    "rows before": (
        "{m} PATTERN (A B) WITHIN 5 DEFINE A AS x > PREV(x)",
        "reads rows before or after a match",
    ),
    "rows behind": (
        "{m} PATTERN (A B) WITHIN 5 DEFINE B AS x > NEXT(x)",
        "reads rows before or after a match",
    ),
    "measures": (
        "MEASURES NEXT(B.x) AS n PATTERN (A B) WITHIN 5",
        "reads rows before or after a match",
    ),
    "numbers in DEFINE": (
        "{m} PATTERN (A B) WITHIN 5 DEFINE A AS MATCH_NUMBER() <= 3",
        "MATCH_NUMBER() depends on earlier matches",
    ),
    "numbers in aggregates": (
        "{m} PATTERN (A+ B) WITHIN 5 DEFINE A AS sum(x + MATCH_NUMBER()) < 9",
        "MATCH_NUMBER() depends on earlier matches",
    ),
    "absent before": (
        "{m} PATTERN (NOT N A B) SKIP TILL ANY MATCH ALL MATCHES WITHIN 5 DEFINE N AS kind = 'C'",
        "NOT N forbids rows before a match",
    ),
    "rows before the first": (
        "{m} PATTERN (A B C) WITHIN 5 DEFINE B AS x > PREV(x), C AS x > PREV(FIRST(x))",
        "PREV reads rows before or after a match",
    ),
    "rows beside an absent one": (
        "{m} PATTERN (A B NOT N) SKIP TILL ANY MATCH ALL MATCHES WITHIN 5 DEFINE N AS x < NEXT(x)",
        "NEXT reads rows before or after a match",
    ),
    "rows": ("{m} PATTERN (A B+) WITHIN 5 ROWS", "no WITHIN limits the distance along ORDER BY"),
    "months": (
        "{m} PATTERN (A B+) WITHIN INTERVAL 1 MONTH",
        "the length of INTERVAL 1 MONTH is not known",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_query_that_cannot_be_cut_has_a_reason(rows: DataFrame, name: str) -> None:
    clause, reason = REFUSED[name]
    order = "timestamp_seconds(t)" if name == "months" else "t"
    with pytest.raises(MatchRecognizeError) as refused:
        find_matches(
            rows, f"ORDER BY {order} {clause.format(m='MEASURES LAST(id) AS l')}", "ranges"
        )
    assert reason in str(refused.value)
    assert 'Options(sort="auto")' in str(refused.value)


def test_an_order_that_only_spark_sorts_is_not_cut(rows: DataFrame) -> None:
    clause = "ORDER BY t, array(x) MEASURES LAST(id) AS l PATTERN (A) WITHIN 5"
    with pytest.raises(MatchRecognizeError, match="only the engine can sort by"):
        find_matches(rows, clause, "ranges")


def test_rules_are_not_cut(rows: DataFrame) -> None:
    options = matchrec.Options(sort="ranges")
    with pytest.raises(MatchRecognizeError, match="rules share the rows of a partition"):
        matchrec.match_rules(rows, {"a": "PATTERN (A) WITHIN 5"}, order_by="t", options=options)


def test_a_small_input_is_not_cut_by_default(spark: SparkSession) -> None:
    clause = "ORDER BY id MEASURES LAST(id) AS l PATTERN (A B) WITHIN 5"
    query = f"SELECT * FROM {{rows}} MATCH_RECOGNIZE ({clause})"
    text = str(matchrec.query(spark, query, rows=spark.range(9)).explain())
    assert "one task searches a whole partition, because the input is small" in text


def test_a_large_table_is_cut_by_default(spark: SparkSession) -> None:
    with use_shortcuts(replace(SMALL_RANGES, min_bytes_to_cut=1)):
        check_large_table(spark)


def check_large_table(spark: SparkSession) -> None:
    """Check when the input is cut into ranges by default, if its size is no reason against it."""
    clause = "ORDER BY id MEASURES LAST(id) AS l PATTERN (A B) WITHIN 5 DEFINE B AS id % 7 = 0"
    few = clause.replace("(A B)", "(A Z*? B)").replace("DEFINE", "DEFINE A AS id % 7 = 6,")
    query_of_few = f"SELECT * FROM {{rows}} MATCH_RECOGNIZE ({few})"
    explained = str(matchrec.query(spark, query_of_few, rows=spark.range(100)).explain())
    assert "one task searches a whole partition, because few of its rows are sent" in explained
    query = f"SELECT * FROM {{rows}} MATCH_RECOGNIZE ({clause})"
    prepared = matchrec.query(spark, query, rows=spark.range(100))
    assert "cut into ranges of `id`" in str(prepared.explain())
    assert prepared.to_df().count() == 14
    joined = spark.range(100).join(spark.range(3), "id")
    text = str(matchrec.query(spark, query, rows=joined).explain())
    assert "ranges would read the input three times" in text
