"""Aggregates over all matches: which queries leave the search to compute them, and with what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from tests.quick.scale import some_of

CLAUSE = """t MATCH_RECOGNIZE (PARTITION BY k ORDER BY id
    MEASURES count(*) AS n, sum(A.v) AS s, LAST(B.d) AS d, FIRST(A.s) AS t, sum(A.f) AS x,
        avg(A.v) AS mean, A.v + B.v AS both, FIRST(id) AS f, LAST(id) AS l
    PATTERN (A+ B) SKIP TILL ANY MATCH ALL MATCHES WITHIN 9 DEFINE A AS v > 3, B AS v < 8)"""
BUILT = f"(SELECT * FROM {CLAUSE})"


@pytest.fixture(autouse=True, scope="module")
def rows(spark: SparkSession) -> Iterator[None]:
    spark.sql(
        "SELECT CAST(id % 2 AS INT) AS k, id, CAST(id * 7 % 11 AS INT) AS v, string(id % 5) AS s,"
        " id * 0.5D AS f, CAST(id * 7 % 13 AS DECIMAL(10, 2)) AS d FROM range(24)"
    ).createOrReplaceTempView("t")
    yield
    spark.catalog.dropTempView("t")


def section(spark: SparkSession, query: str) -> str:
    """What `explain` says of aggregates over all matches."""
    text = matchrec.query(spark, query).explain().text
    return text.partition("aggregates over all matches\n")[2].partition("\n")[0].strip()


def values(frame: DataFrame) -> list[tuple[object, ...]]:
    found = [tuple(map(plain, row)) for row in frame.collect()]
    return sorted(found, key=repr)


def plain(value: object) -> object:
    return float(value) if isinstance(value, int | Decimal | float) else value


PUSHED = [
    "SELECT k, count(*), sum(n), max(d) FROM {} GROUP BY k",
    "SELECT count(*) AS c, avg(m.n) a, sum(x) FROM {} m",
    "SELECT f, count(*) c, MIN(m.t) FROM {} AS m GROUP BY f HAVING count(*) > 3 ORDER BY f",
    "SELECT k, l, max(s) - min(s) AS spread, ROUND(sum(x), 1) AS r FROM {} GROUP BY k, l",
    "SELECT k, CAST(sum(s) AS DOUBLE) / CAST(count(*) AS DOUBLE) AS r FROM {} GROUP BY k",
    "SELECT k, sum(n) FROM {} WHERE k = 1 GROUP BY k",
    "SELECT k, avg(x), max(x), min(s), count(t), max(t), sum(d) FROM {} GROUP BY k",
    "SELECT count(*), sum(n), min(t), avg(n) FROM {} WHERE k > 5",
    "WITH c AS (SELECT k, count(*) AS c FROM {} GROUP BY k) SELECT k, c FROM c UNION SELECT 9, 9",
    "SELECT count(1), count(*) AS n FROM {} AS m WHERE m.k <= 1",
    "SELECT (SELECT count(*) FROM {}) AS one, 2 AS two",
    "SELECT DISTINCT count(*) FROM {} GROUP BY ALL LIMIT 3",
    "SELECT sum(c) AS c FROM (SELECT k, count(*) AS c FROM {} GROUP BY k)",
    "SELECT CASE WHEN k = 0 THEN 'even' ELSE 'odd' END AS half, count(*) AS `n` FROM {} GROUP BY k",
]


@pytest.mark.parametrize("query", PUSHED)
def test_the_search_gives_what_built_matches_give(spark: SparkSession, query: str) -> None:
    assert section(spark, query.format(CLAUSE)).startswith("by the search, which builds no match")
    assert section(spark, query.format(BUILT)) == ""
    ours, built = (matchrec.sql(spark, query.format(one)) for one in (CLAUSE, BUILT))
    assert ours.columns == built.columns
    assert values(ours) == [
        tuple(pytest.approx(one) if isinstance(one, float) else one for one in row)
        for row in values(built)
    ]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT n, count(*) FROM {} GROUP BY n", "`n` is no column of a group of matches"),
        ("SELECT k, sum(n) FROM {} WHERE n > 3 GROUP BY k", "`n` is no column of a group"),
        ("SELECT k, sum(mean) FROM {} GROUP BY k", "no run carries sum over matches of avg of int"),
        ("SELECT k, sum(both) FROM {} GROUP BY k", "Spark computes a measure after the match"),
        ("SELECT avg(d) FROM {}", "no run carries avg over matches of last of decimal(10,2)"),
        ("SELECT collect_list(k), count(*) FROM {}", "`collect_list` may be an aggregate"),
        ("SELECT f, l, count(*) FROM {} GROUP BY f, l", "by where they start and by where they"),
        ("SELECT count(DISTINCT n) FROM {}", "`count(DISTINCT n)` is no aggregate of a measure"),
        ("SELECT count(*) FILTER (WHERE n > 3) FROM {}", "FILTER follows `count(*)`"),
        ("SELECT k, count(*) FROM {} GROUP BY ROLLUP(k)", "`ROLLUP` may be an aggregate"),
        ("SELECT k, sum(s) / count(*) AS r FROM {} GROUP BY k", "cast each to DOUBLE"),
        ("SELECT count(*) + 1 FROM {}", "an expression with an aggregate has no name"),
        ("SELECT count(*) FROM {} m JOIN t ON t.id = m.f", "`JOIN` stands behind the clause"),
        ("SELECT sum(k), count(*) FROM {}", "`sum(k)` is no aggregate of a measure"),
    ],
)
def test_what_is_not_pushed_builds_each_match(spark: SparkSession, query: str, reason: str) -> None:
    found = section(spark, query.format(CLAUSE))
    assert found.startswith("by Spark: each match is built, because ")
    assert reason in found
    ours, built = (matchrec.sql(spark, query.format(one)) for one in (CLAUSE, BUILT))
    assert ours.schema == built.schema
    assert values(ours) == values(built)


def test_rows_of_matches_are_no_matches(spark: SparkSession) -> None:
    query = "SELECT k, count(*) AS c FROM {} GROUP BY k"
    rows = """t MATCH_RECOGNIZE (PARTITION BY k ORDER BY id MEASURES count(*) AS n
        ALL ROWS PER MATCH PATTERN (A+ B) SKIP TILL ANY MATCH ALL MATCHES WITHIN 9
        DEFINE A AS v > 3, B AS v < 8)"""
    reason = "each match is built, because more than one row comes out for a match"
    assert reason in section(spark, query.format(rows))
    counted = {row.k: row.c for row in matchrec.sql(spark, query.format(rows)).collect()}
    whole = matchrec.sql(spark, f"SELECT * FROM {rows}").groupBy("k").count().collect()
    assert counted == {row.k: row["count"] for row in whole}


def test_qualified_keys(spark: SparkSession) -> None:
    query = "SELECT k, count(*) AS c FROM {} GROUP BY k".format(CLAUSE.replace("BY k", "BY t.k"))
    assert section(spark, query).startswith("by the search")
    assert matchrec.sql(spark, query).count() == 2


def test_columns_of_one_name_are_refused_as_ever(spark: SparkSession) -> None:
    query = f"SELECT count(*) AS c FROM {CLAUSE.replace('MEASURES', 'MEASURES max(v) AS K,')}"
    with pytest.raises(matchrec.MatchRecognizeError, match="K"):
        matchrec.sql(spark, query)


@pytest.mark.parametrize(("rows", "matches"), [(20, 2**20 - 1), (100, 2**63 - 1024)])
def test_counters_count_what_is_not_built(spark: SparkSession, rows: int, matches: int) -> None:
    counters = matchrec.Counters()
    options = matchrec.Options(counters=counters)
    matchrec.sql(spark, POWERS.format("count(*)", rows), options=options).collect()
    assert counters.values()["matches"] == matches


def test_plain_matches_are_aggregated_by_spark(spark: SparkSession) -> None:
    query = f"SELECT count(*) AS c FROM {CLAUSE}".replace("SKIP TILL ANY MATCH ALL MATCHES", "")
    assert section(spark, query) == ""
    assert matchrec.sql(spark, query).schema["c"].dataType.simpleString() == "bigint"


POWERS = """SELECT {} AS c FROM (SELECT id FROM range({}))
    MATCH_RECOGNIZE (ORDER BY id MEASURES count(*) AS n
        PATTERN (A+) SKIP TILL ANY MATCH ALL MATCHES DEFINE A AS true)"""


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_a_count_is_exact_or_an_error(spark: SparkSession, ansi: str) -> None:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", ansi or "")
    try:
        found = matchrec.sql(spark, POWERS.format("count(*)", 120)).collect()
        assert found == [(Decimal(2**120 - 1),)]
        with pytest.raises(Exception, match=r"DECIMAL\(38, 0\)"):
            matchrec.sql(spark, POWERS.format("count(*)", 130)).collect()
        roughly = POWERS.format("CAST(count(*) AS DOUBLE)", 500)
        assert matchrec.sql(spark, roughly).collect() == [(2.0**500,)]
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before or "")


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_a_sum_over_groups_is_exact_or_an_error(spark: SparkSession, ansi: str) -> None:
    many = "(SELECT id, g FROM range(126) LATERAL VIEW explode(sequence(1, 3)) s AS g)"
    query = POWERS.format("count(*)", 0).replace("(SELECT id FROM range(0))", many)
    query = query.replace("(ORDER BY id", "(PARTITION BY g ORDER BY id")
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", ansi or "")
    try:
        with pytest.raises(Exception, match=r"38 digits|ARITHMETIC_OVERFLOW|NUMERIC_VALUE"):
            matchrec.sql(spark, query).collect()
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before or "")


def test_thousands_of_partitions(spark: SparkSession) -> None:
    query = """SELECT count(*) AS groups, min(c) AS least, max(c) AS most, sum(c) AS c FROM (
        SELECT k, count(*) AS c FROM (SELECT id, id % 3000 AS k FROM range(30000))
            MATCH_RECOGNIZE (PARTITION BY k ORDER BY id MEASURES count(*) AS n
                PATTERN (A+) SKIP TILL ANY MATCH ALL MATCHES DEFINE A AS true)
        GROUP BY k)"""
    assert matchrec.sql(spark, query).collect() == [(3000, 1023, 1023, 3000 * 1023)]


@pytest.fixture
def events(spark: SparkSession) -> DataFrame:
    return spark.sql(
        "SELECT CAST(id % 2 AS INT) AS k, id AS ts, CAST(id * 7 % 11 AS INT) AS v,"
        " element_at(array('A', 'B', 'C'), CAST(id * 7 % 3 + 1 AS INT)) AS event_type"
        " FROM range(30)"
    )


ALL_PAIRS = """PATTERN SEQ(A+ a[], B b) WHERE skip_till_any_match AND b.v > 2 WITHIN 20
    RETURN COUNT(a[]) AS n, SUM(a[].v) AS s, b.v AS bv"""


@pytest.mark.parametrize("by", ["partition", "start", "end"])
def test_aggregates_of_sase(events: DataFrame, by: str) -> None:
    text = ALL_PAIRS + ", a[1].ts AS first_ts, b.ts AS last_ts"
    query = matchrec.query(events, text, order_by="ts", partition_by="k")
    asked = {"c": "count(*)", "n": "sum(n)", "most": "MAX( `bv` )", "mean": "avg(s)"}
    keys = {"partition": [], "start": ["first_ts"], "end": ["last_ts"]}[by]
    built = (
        query.dataframe()
        .groupBy("k", *keys)
        .agg({"k": "count", "n": "sum", "bv": "max", "s": "avg"})
    )
    found = query.aggregate(asked, by=by)  # type: ignore[arg-type]
    assert found.columns == ["k", *(["ts"] if keys else []), *asked]
    built = built.select("k", *keys, "count(k)", "sum(n)", "max(bv)", "avg(s)")
    assert values(found) == values(built)


def test_aggregates_of_a_pattern(events: DataFrame) -> None:
    pattern = matchrec.Pattern.begin("a").where("v > 3").one_or_more().followed_by("b")
    pattern = pattern.where("v < 3").within("20")
    query = matchrec.query(events, pattern, order_by="ts", partition_by="k")
    built = {(row.k, row["count"]) for row in query.dataframe().groupBy("k").count().collect()}
    assert {tuple(row) for row in query.aggregate().collect()} == built
    skipping = pattern.after_match(matchrec.AfterMatch.SKIP_TO_NEXT)  # whose matches are built
    query = matchrec.query(events, skipping, order_by="ts", partition_by="k")
    built = {(row.k, row["count"]) for row in query.dataframe().groupBy("k").count().collect()}
    found = query.aggregate()
    assert {tuple(row) for row in found.collect()} == built
    assert found.schema["matches"].dataType.simpleString() == "decimal(38,0)"


ABSENCES = [
    "PATTERN SEQ(A+ a[], ~(C c), B b) WHERE skip_till_any_match AND c.v > a[a.LEN].v WITHIN 20",
    "PATTERN SEQ(A a, ~(C c), B+ b[]) WHERE skip_till_next_match AND c.v > 8 WITHIN 20",
    "PATTERN SEQ(~(C c), A+ a[], B b) WHERE skip_till_any_match AND c.v > b.v WITHIN 9",
    "PATTERN SEQ(A+ a[], B b, ~(C c)) WHERE skip_till_any_match AND c.v > a[1].v WITHIN 9",
]
WAITING = (
    matchrec.Pattern.begin("a")
    .where("event_type = 'A'")
    .one_or_more()
    .allow_combinations()
    .not_followed_by("c")
    .where("v > 8")
    .followed_by_any("b")
    .where("event_type = 'B'")
    .not_followed_by("d")
    .where("v = 10")
    .within("9")
)
BUILT_ALL_THE_SAME = [
    (ABSENCES[0].replace("> a[a.LEN].v", "< b.v"), "compared with a later row of the match"),
    (ABSENCES[0].replace("> a[a.LEN].v", "+ a[1].v > 9"), "may fail, so only matches ask it"),
]


@pytest.mark.parametrize("text", some_of([*ABSENCES, WAITING]))
def test_rows_that_must_be_absent(events: DataFrame, text: str | matchrec.Pattern) -> None:
    query = matchrec.query(events, text, order_by="ts", partition_by="k")
    with matches_refused():
        found = query.aggregate()
    built = query.dataframe().groupBy("k").count()
    assert values(found) == values(built) != []


@contextmanager
def matches_refused() -> Iterator[None]:
    """Fails where an aggregate is not pushed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matchrec.api.totals.over_matches", None)
        yield


@pytest.mark.parametrize(("text", "reason"), some_of(BUILT_ALL_THE_SAME))
def test_rows_that_only_a_match_finds(events: DataFrame, text: str, reason: str) -> None:
    query = matchrec.query(events, text, order_by="ts", partition_by="k")
    assert values(query.aggregate()) == values(query.dataframe().groupBy("k").count())
    with pytest.raises(TypeError), matches_refused():
        query.aggregate()


def test_what_is_no_aggregate_is_refused(events: DataFrame) -> None:
    query = matchrec.query(events, ALL_PAIRS, order_by="ts", partition_by="k")
    for asked, words in (
        ({"x": "median(n)"}, "`median\\(n\\)` is no aggregate over matches"),
        ({"x": "sum(*)"}, "`sum\\(\\*\\)` is no aggregate over matches"),
        ({"x": "sum(z)"}, "no measure is called `z`"),
    ):
        with pytest.raises(matchrec.MatchRecognizeError, match=words):
            query.aggregate(asked)
    by_sum = matchrec.query(events, ALL_PAIRS, order_by="ts + 1", partition_by="k")
    with pytest.raises(matchrec.MatchRecognizeError, match="not sorted by a column"):
        by_sum.aggregate(by="start")


@pytest.mark.parametrize("name", ["K", "ts"])
def test_an_aggregate_is_not_called_as_a_column_of_groups(events: DataFrame, name: str) -> None:
    query = matchrec.query(events, ALL_PAIRS, order_by="ts", partition_by="k")
    with pytest.raises(matchrec.MatchRecognizeError, match=f"would have two columns `{name}`"):
        query.aggregate({name: "count(*)"}, by="end")
    with pytest.raises(matchrec.MatchRecognizeError, match="would have two columns `C`"):
        query.aggregate({"c": "count(*)", "C": "sum(n)"})


@pytest.mark.parametrize("by", ["start", "end"])
def test_a_measure_may_be_called_as_what_rows_are_sorted_by(events: DataFrame, by: str) -> None:
    text = (
        ALL_PAIRS.partition("RETURN")[0] + "RETURN b.v AS ts, a[1].ts AS first_ts, b.ts AS last_ts"
    )
    query = matchrec.query(events, text, order_by="ts", partition_by="k")
    built = query.dataframe().groupBy("k", "first_ts" if by == "start" else "last_ts")
    found = query.aggregate({"most": "max(ts)"}, by=by)  # type: ignore[arg-type]
    assert found.columns == ["k", "ts", "most"]
    assert values(found) == values(built.agg({"ts": "max"}))


@pytest.mark.parametrize("form", ["non_overlapping", "compressed"])
def test_what_is_aggregated_is_what_comes_out(events: DataFrame, form: str) -> None:
    query = matchrec.query(
        events, ALL_PAIRS.partition("RETURN")[0], order_by="ts", partition_by="k", form=form
    )
    rows = query.dataframe()
    matches = matchrec.unwind(rows) if form == "compressed" else rows
    assert values(query.aggregate()) == values(matches.groupBy("k").count()) != []


def test_explain_says_how_an_aggregate_is_run(events: DataFrame) -> None:
    query = matchrec.query(events, ALL_PAIRS, order_by="ts", partition_by="k")
    carried = query.explain(aggregates={"n": "sum(n)"}, by="end", analyze=True).text
    assert "by the search, which builds no match: a row for each row with which" in carried
    assert "sum(FINAL count" in carried
    built = query.explain(aggregates={"s": "sum(s)", "v": "max(bv)"}, by="start").text
    assert "each row with which matches start" in built
    assert "aggregates over all matches" not in query.explain().text


def test_a_window_is_not_asked_about(spark: SparkSession) -> None:
    query = """SELECT id, n OVER w FROM t WINDOW w AS (PARTITION BY k ORDER BY id
        MEASURES count(*) AS n ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
        PATTERN (A+) DEFINE A AS v > 3)"""
    with pytest.raises(matchrec.MatchRecognizeError, match="aggregate of a window with PATTERN"):
        matchrec.query(spark, query).aggregate()


def test_over_a_stream_each_match_is_built(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load().withWatermark("timestamp", "1 second")
    query = """SELECT count(*) AS c FROM {stream} MATCH_RECOGNIZE (ORDER BY timestamp
        MEASURES count(*) AS n PATTERN (A B) SKIP TILL ANY MATCH ALL MATCHES
        WITHIN INTERVAL 1 HOUR DEFINE A AS value > 1)"""
    text = matchrec.query(spark, query, stream=stream).explain().text
    assert "by Spark: each match is built, because the rows are a stream" in text
    sase = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match WITHIN 1 hour"
    rows = stream.selectExpr("timestamp", "'A' AS event_type")
    for by in ("start", "partition"):
        asked = matchrec.query(rows, sase, order_by="timestamp")
        with pytest.raises(matchrec.MatchRecognizeError, match="further matches of such a group"):
            asked.aggregate(by=by)  # type: ignore[arg-type]
    assert asked.aggregate(by="end").columns == ["timestamp", "matches"]
