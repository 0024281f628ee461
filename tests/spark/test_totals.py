"""Compare aggregates over all matches with those that Spark computes from the same matches.

The search adds up some aggregates itself, without building matches; the engine computes the
others from all matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.types import AggregatePer, Algorithm
from tests.properties.test_queries import settings
from tests.quick.scale import batches, some_of

MEASURES = """count(*) AS row_count, sum(A.v) AS int_sum, LAST(B.d) AS last_decimal,
    FIRST(A.s) AS first_text, sum(A.f) AS float_sum, sum(B.d) AS decimal_sum, avg(A.v) AS int_mean,
    A.v + B.v AS sum_of_two_variables, FIRST(id) AS first_id, LAST(id) AS last_id"""
CLAUSE = f"""PARTITION BY k ORDER BY id MEASURES {MEASURES}
    PATTERN (A+ B) SKIP TILL ANY MATCH ALL MATCHES WITHIN 9 DEFINE A AS v > 3, B AS v < 8"""
MATCHES = f"t MATCH_RECOGNIZE ({CLAUSE})"
# Aggregates over all matches of CLAUSE that the search computes itself.
CARRIED = (
    "count(*)",
    "count(last_decimal)",
    "sum(row_count)",
    "sum(int_sum)",
    "sum(last_decimal)",
    "sum(decimal_sum)",
    "sum(float_sum)",
    "avg(row_count)",
    "avg(int_sum)",
    "avg(float_sum)",
    "min(int_sum)",
    "min(last_decimal)",
    "max(first_text)",
    "max(float_sum)",
    "CAST(count(*) AS DOUBLE)",
    "CAST(count(first_text) AS DECIMAL(38, 0))",
    "CAST(sum(int_sum) AS DECIMAL(38, 0))",
    "CAST(sum(decimal_sum) AS DECIMAL(38, 2))",
    "CAST(sum(row_count) AS DOUBLE)",
    "CAST(sum(float_sum) AS DOUBLE)",
)
# For each kind of group of matches, the columns by which Spark groups the matches.
KEYS: dict[AggregatePer, str] = {"partition": "k", "start": "k, first_id", "end": "k, last_id"}


pytestmark = pytest.mark.slow  # compiles a search that no other test uses


@pytest.fixture(autouse=True, scope="module")
def create_views(spark: SparkSession) -> Iterator[None]:
    """Create the views `t`, with two partitions, and `large`, with eighty."""
    spark.sql(
        "SELECT CAST(id % 2 AS INT) AS k, id, CAST(id * 7 % 11 AS INT) AS v, string(id % 5) AS s,"
        " id * 0.5D AS f, CAST(id * 7 % 13 AS DECIMAL(10, 2)) AS d FROM range(24)"
    ).createOrReplaceTempView("t")
    copies = spark.range(40).selectExpr("CAST(id AS INT) AS copy")
    large = (
        spark.table("t").crossJoin(copies).selectExpr("k + 2 * copy AS k", "id", "v", "s", "f", "d")
    )
    large.createOrReplaceTempView("large")
    yield
    spark.catalog.dropTempView("t")
    spark.catalog.dropTempView("large")


def collect_approximately(frame: DataFrame) -> list[tuple[object, ...]]:
    """Return the rows in a fixed order, with all numbers as floats."""
    rows = [tuple(map(convert_value, row)) for row in frame.collect()]
    return sorted(rows, key=repr)


def collect_sorted(frame: DataFrame) -> list[tuple[object, ...]]:
    """Return the rows in a fixed order."""
    return sorted((tuple(row) for row in frame.collect()), key=repr)


def convert_value(value: object) -> object:
    """Return a number as a float, and any other value as it is."""
    return float(value) if isinstance(value, int | Decimal | float) else value


def name_aggregates(aggregates: Iterable[str]) -> dict[str, str]:
    """Return the aggregates by the names `c0`, `c1` and so on."""
    return {f"c{index}": text for index, text in enumerate(aggregates)}


def list_types(frame: DataFrame, columns: Iterable[str]) -> list[str]:
    """Return the names of the types of these columns."""
    return [frame.schema[column].dataType.simpleString() for column in columns]


def aggregate_in_spark(
    spark: SparkSession, matches: str, aggregates: dict[str, str], per: AggregatePer
) -> DataFrame:
    """Return the aggregates that Spark computes when it groups the matches."""
    columns = ", ".join(f"{text} AS {name}" for name, text in aggregates.items())
    return matchrec.sql(spark, f"SELECT {KEYS[per]}, {columns} FROM {matches} GROUP BY {KEYS[per]}")


@contextmanager
def refuse_building_matches() -> Iterator[None]:
    """Make `Query.aggregate` raise TypeError if it would aggregate built matches.

    `write_over_matches`, which writes the SQL over built matches, is None meanwhile.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matchrec.api.total_sql.write_over_matches", None)
        yield


def draw_clause(random: Random) -> str:
    """Return a random clause for which the search can add up CARRIED."""
    pattern = random.choice(("A+ B", "A B+", "A+ B+", "A C? B", "(A C)+ B", "A NOT C B"))
    selection = random.choice(("SKIP TILL ANY MATCH", "SKIP TILL NEXT MATCH", ""))
    within = random.choice(("WITHIN 5", "WITHIN 11"))
    conditions = [f"{name} AS v > {random.randrange(6)}" for name in "ABC" if name in pattern]
    conditions[0] += random.choice(("", " AND (count(A.*) = 1 OR v <> LAST(A.v, 1))"))
    return f"""PARTITION BY k ORDER BY id MEASURES {MEASURES}
        PATTERN ({pattern}) {selection} ALL MATCHES {within} DEFINE {", ".join(conditions)}"""


@pytest.mark.parametrize("table", ["t", "large"])
@pytest.mark.parametrize("seed", batches(24))
def test_totals_of_the_search_equal_those_of_spark(
    spark: SparkSession, seed: int, table: str
) -> None:
    random = Random(seed)
    clause = draw_clause(random)
    per = random.choice(list(KEYS))
    aggregates = name_aggregates(random.sample(CARRIED, 12))
    with refuse_building_matches():
        searched = matchrec.query(spark.table(table), clause).aggregate(aggregates, per=per)
    built = aggregate_in_spark(spark, f"{table} MATCH_RECOGNIZE ({clause})", aggregates, per)
    assert list_types(searched, aggregates) == list_types(built, aggregates)
    assert collect_sorted(searched) == collect_sorted(built)


@pytest.mark.parametrize("per", KEYS)
def test_totals_of_built_matches_equal_those_of_the_search(
    spark: SparkSession, per: AggregatePer
) -> None:
    aggregates = name_aggregates(CARRIED)
    backtracking = matchrec.Options(algorithm="backtracking")
    rows = spark.table("t")
    searched = matchrec.query(rows, CLAUSE).aggregate(aggregates, per=per)
    built = matchrec.query(rows, CLAUSE, options=backtracking)
    assert (
        "computed by the engine from all matches, because the chosen algorithm finds one match"
        in (built.explain(aggregates=aggregates).text)
    )
    aggregated = built.aggregate(aggregates, per=per)
    assert aggregated.schema == searched.schema
    assert collect_sorted(aggregated) == collect_sorted(searched)


@pytest.mark.parametrize(
    ("aggregate", "reason"),
    [
        ("sum(int_mean)", "the search cannot compute sum over matches of avg of int"),
        ("sum(sum_of_two_variables)", "the engine computes a measure after the match"),
        (
            "avg(last_decimal)",
            "the search cannot compute avg over matches of last of decimal(10,2)",
        ),
        (
            "CAST(sum(last_decimal) AS DOUBLE)",
            "the search cannot compute sum over matches of last of decimal(10,2)",
        ),
    ],
)
def test_other_aggregates_are_computed_from_built_matches(
    spark: SparkSession, aggregate: str, reason: str
) -> None:
    query = matchrec.query(spark.table("t"), CLAUSE)
    aggregates = {"c": aggregate}
    assert (
        f"computed by the engine from all matches, because {reason}"
        in query.explain(aggregates=aggregates).text
    )
    totals = query.aggregate(aggregates)
    built = aggregate_in_spark(spark, MATCHES, aggregates, "partition")
    assert list_types(totals, aggregates) == list_types(built, aggregates)
    assert collect_approximately(totals) == collect_approximately(built)


@pytest.mark.parametrize("measure", ["CLASSIFIER()", "MATCH_NUMBER()", "collect_list(A.v)"])
def test_unsupported_measures_make_the_engine_build_matches(
    spark: SparkSession, measure: str
) -> None:
    clause = CLAUSE.replace("A.v + B.v AS sum_of_two_variables", f"{measure} AS other")
    explanation = matchrec.query(spark.table("t"), clause).explain(aggregates={"c": "max(other)"})
    assert (
        "computed by the engine from all matches, because a run carries only values of columns, "
        "counts, sums, averages and extremes"
    ) in explanation.text


@pytest.mark.parametrize("algorithm", ["backtracking", "breadth_first"])
@pytest.mark.parametrize("type_", ["double", "float"])
def test_nan_is_the_greatest_number(spark: SparkSession, algorithm: Algorithm, type_: str) -> None:
    """Minimum and maximum treat NaN so in any order of rows, whether or not matches are built."""
    partitions = ("1 NaN 0", "NaN 0 1", "0 1 NaN", "NaN NaN NULL", "2 NULL 1", "NULL NULL")
    rows = ", ".join(
        f"({k}, {n}, CAST({value if value == 'NULL' else repr(value)} AS {type_}))"
        for k, row in enumerate(partitions)
        for n, value in enumerate(row.split())
    )
    clause = """MATCH_RECOGNIZE (PARTITION BY k ORDER BY n MEASURES A.v AS v, max(A.v) AS most
        PATTERN (A) ALL MATCHES)"""
    text = f"SELECT * FROM (SELECT * FROM VALUES {rows} AS t(k, n, v)) {clause}"
    query = matchrec.query(spark, text, options=matchrec.Options(algorithm=algorithm))
    carried = {"least": "min(v)", "most": "max(most)"}
    expected = ["0.0 NaN", "0.0 NaN", "0.0 NaN", "NaN NaN", "1.0 2.0", "NULL NULL"]
    # The search cannot add up greatest values, so a sum of them makes the engine build matches.
    for aggregates in (carried, carried | {"total": "sum(most)"}):
        rendered = query.aggregate(aggregates).selectExpr(
            "k", *(f"string({name})" for name in carried)
        )
        texts = [" ".join(value or "NULL" for value in row[1:]) for row in rendered.collect()]
        assert sorted(texts) == sorted(expected)


def test_spark_computes_aggregates_in_sql(spark: SparkSession) -> None:
    text = f"SELECT k, count(*), max(row_count) FROM {MATCHES} GROUP BY k"
    query = matchrec.query(spark, text)
    assert "aggregates over all matches" not in query.explain().text
    assert list_types(query.to_df(), ["count(1)", "max(row_count)"]) == ["bigint", "bigint"]
    assert "by the search" in query.explain(aggregates={"c": "count(*)"}, clause=1).text


@pytest.mark.parametrize("keys", ["", "PARTITION BY k"])
@pytest.mark.parametrize("selection", ["SKIP TILL ANY MATCH ALL MATCHES WITHIN 4", ""])
def test_without_arguments_matches_are_counted(
    spark: SparkSession, keys: str, selection: str
) -> None:
    clause = f"{keys} ORDER BY id PATTERN (A B) {selection} DEFINE A AS v > 8, B AS v < 8"
    totals = matchrec.query(spark.table("t"), clause).aggregate()
    assert totals.columns == ["k", "matches"] if keys else ["matches"]
    assert list_types(totals, ["matches"]) == ["bigint"]
    clause_with_measure = clause.replace("PATTERN", "MEASURES 1 AS one PATTERN")
    matches = matchrec.query(spark.table("t"), clause_with_measure).to_df().count()
    assert sum(row.matches for row in totals.collect()) == matches > 0


def test_unsupported_casts_are_rejected(spark: SparkSession) -> None:
    query = matchrec.query(spark.table("t"), CLAUSE)
    for aggregate, supported in (
        ("CAST(sum(last_decimal) AS DECIMAL(38, 0))", "CAST(sum(last_decimal) AS DECIMAL(38, 2))"),
        ("CAST(count(*) AS DECIMAL(38, 1))", "CAST(count(*) AS DECIMAL(38, 0))"),
        ("CAST(sum(float_sum) AS DECIMAL(38, 0))", "sum(float_sum)"),
    ):
        with pytest.raises(matchrec.MatchRecognizeError) as caught:
            query.aggregate({"c": aggregate})
        assert caught.value.hint == f"write {supported}"
    for aggregate in (
        "CAST(max(row_count) AS DOUBLE)",
        "CAST(avg(row_count) AS DECIMAL(38, 0))",
        "CAST(count(*) AS INT)",
    ):
        with pytest.raises(matchrec.MatchRecognizeError, match="is not an aggregate over matches"):
            query.aggregate({"c": aggregate})


# Every non-empty set of rows is a match, so n rows have 2 ** n - 1 matches.
CLAUSE_OF_ALL_SUBSETS = """ORDER BY id MEASURES count(*) AS n, LAST(id) AS last
    PATTERN (A+) SKIP TILL ANY MATCH ALL MATCHES DEFINE A AS true"""


@pytest.mark.parametrize(
    ("row_count", "match_count"),
    [
        (20, 2**20 - 1),
        # The counter stops at the largest double below 2 ** 63.
        (100, 2**63 - 1024),
    ],
)
def test_counters_count_matches_that_are_not_built(
    spark: SparkSession, row_count: int, match_count: int
) -> None:
    counters = matchrec.Counters()
    options = matchrec.Options(counters=counters)
    aggregates = {"c": "CAST(count(*) AS DOUBLE)"}
    query = matchrec.query(spark.range(row_count), CLAUSE_OF_ALL_SUBSETS, options=options)
    query.aggregate(aggregates).collect()
    assert counters.values()["matches"] == match_count


def aggregate_all_subsets(spark: SparkSession, row_count: int, aggregate: str) -> object:
    """Return an aggregate over all non-empty sets of rows."""
    query = matchrec.query(spark.range(row_count), CLAUSE_OF_ALL_SUBSETS)
    ((total,),) = query.aggregate({"c": aggregate}).collect()
    return total


@pytest.mark.parametrize("enabled", ["true", "false"])
def test_a_total_is_exact_or_an_error(spark: SparkSession, enabled: str) -> None:
    decimal = "CAST(count(*) AS DECIMAL(38, 0))"
    with settings(spark, ansi__enabled=enabled):
        assert aggregate_all_subsets(spark, 63, "count(*)") == 2**63 - 1
        assert aggregate_all_subsets(spark, 120, decimal) == 2**120 - 1
        assert aggregate_all_subsets(spark, 500, "CAST(count(*) AS DOUBLE)") == 2.0**500
        assert aggregate_all_subsets(spark, 300, "avg(n)") == 150.0
        for row_count, aggregate, type_name, hint in (
            (64, "count(*)", "BIGINT", "write it as CAST(... AS DECIMAL(38, 0)) or"),
            (60, "sum(n)", "BIGINT", "write it as CAST(... AS DECIMAL(38, 0)) or"),
            (127, decimal, "DECIMAL(38, 0)", "write it as CAST(... AS DOUBLE)"),
            (130, decimal, "DECIMAL(38, 0)", "write it as CAST(... AS DOUBLE)"),
            (1100, "avg(n)", "DOUBLE", "bound the quantifiers or write WITHIN"),
        ):
            with pytest.raises(Exception, match="an aggregate over all matches") as caught:
                aggregate_all_subsets(spark, row_count, aggregate)
            error = matchrec.MatchRecognizeRunError.from_exception(caught.value)
            assert error is not None
            assert error.message.endswith(f"is too large for {type_name}")
            assert (error.hint or "").startswith(hint)


# Each row is a match.
CLAUSE_OF_SINGLE_ROWS = """ORDER BY id MEASURES LAST(A.x) AS x
    PATTERN (A) SKIP TILL ANY MATCH ALL MATCHES DEFINE A AS true"""
MAX_BIGINT = 2**63 - 1


@pytest.mark.parametrize("enabled", ["true", "false"])
@pytest.mark.parametrize("per", ["partition", "end"])
@pytest.mark.parametrize("algorithm", ["auto", "backtracking"])
def test_a_sum_that_is_too_large_is_an_error(
    spark: SparkSession, algorithm: Algorithm, per: AggregatePer, enabled: str
) -> None:
    # All rows have the same id, so there is only one group of matches, for each `per`.
    rows = spark.range(3).selectExpr("0 AS id", f"{MAX_BIGINT}L AS x")
    options = matchrec.Options(algorithm=algorithm)
    query = matchrec.query(rows, CLAUSE_OF_SINGLE_ROWS, options=options)
    with settings(spark, ansi__enabled=enabled):
        for aggregate, expected in (
            ("CAST(sum(x) AS DECIMAL(38, 0))", 3 * MAX_BIGINT),
            ("CAST(sum(x) AS DOUBLE)", float(3 * MAX_BIGINT)),
            ("avg(x)", float(MAX_BIGINT)),
        ):
            totals = query.aggregate({"c": aggregate}, per=per)
            assert [row.c for row in totals.collect()] == [expected]
        with pytest.raises(Exception, match=r"is too large for BIGINT") as caught:
            query.aggregate({"c": "sum(x)"}, per=per).collect()
        assert "write it as CAST(... AS DECIMAL(38, 0)) or CAST(... AS DOUBLE)" in str(caught.value)


@pytest.mark.parametrize("enabled", ["true", "false"])
def test_a_sum_of_decimals_that_is_too_large_is_an_error(spark: SparkSession, enabled: str) -> None:
    rows = spark.range(30).selectExpr("id", "CAST(9e37 AS DECIMAL(38, 0)) AS x")
    # The decimals have too many digits for the search, so matches are built.
    query = matchrec.query(rows, CLAUSE_OF_SINGLE_ROWS)
    with settings(spark, ansi__enabled=enabled):
        for aggregate in ("sum(x)", "avg(x)"):
            with pytest.raises(Exception, match=r"is too large for DECIMAL"):
                query.aggregate({"c": aggregate}).collect()
        ((total,),) = query.aggregate({"c": "CAST(sum(x) AS DOUBLE)"}).collect()
        assert total == pytest.approx(2.7e39)


@pytest.mark.parametrize("enabled", ["true", "false"])
def test_a_sum_of_decimals_has_ten_digits_more(spark: SparkSession, enabled: str) -> None:
    rows = spark.range(41).selectExpr("id", "CAST(9.5 AS DECIMAL(2, 1)) AS x")
    query = matchrec.query(rows, CLAUSE_OF_ALL_SUBSETS.replace("LAST(id) AS last", "LAST(x) AS x"))
    matches = 2**41 - 1
    with settings(spark, ansi__enabled=enabled):
        exact = query.aggregate({"c": "CAST(sum(x) AS DECIMAL(38, 1))"})
        assert exact.collect() == [(Decimal("9.5") * matches,)]
        with pytest.raises(Exception, match=r"is too large for DECIMAL\(12, 1\)"):
            query.aggregate({"c": "sum(x)"}).collect()


CLAUSE_OF_SUBSET_SUMS = """ORDER BY id MEASURES sum(A.x) AS s
    PATTERN (A+) SKIP TILL ANY MATCH ALL MATCHES DEFINE A AS true"""


def find_extreme_sum(spark: SparkSession, type_name: str, values: list[str], extreme: str) -> Any:
    """Return the least or greatest sum over all sets of values."""
    rows = ", ".join(f"({i}, CAST({value} AS {type_name}))" for i, value in enumerate(values))
    frame = spark.sql(f"SELECT * FROM VALUES {rows} AS t(id, x)")
    query = matchrec.query(frame, CLAUSE_OF_SUBSET_SUMS)
    ((extreme_sum,),) = query.aggregate({"c": f"{extreme}(s)"}).collect()
    return extreme_sum


@pytest.mark.parametrize("enabled", ["true", "false"])
def test_extremes_of_sums_are_right_for_each_type(spark: SparkSession, enabled: str) -> None:
    with settings(spark, ansi__enabled=enabled):
        assert find_extreme_sum(spark, "BIGINT", ["3", "-4", "5"], "max") == 8
        assert find_extreme_sum(spark, "BIGINT", ["3", "-4", "NULL", "-5"], "min") == -9
        assert find_extreme_sum(spark, "BIGINT", ["9000000000000000000"], "max") == 9 * 10**18
        large = "9000000000000000000"
        assert find_extreme_sum(spark, "DECIMAL(38, 0)", [large, f"-{large}"], "min") == -9 * 10**18
        assert find_extreme_sum(spark, "DOUBLE", ["1.5", "-0.5", "2.5"], "max") == 4.0
        assert find_extreme_sum(spark, "DOUBLE", ["1.5", "-0.5", "-2.5"], "min") == -3.0
        greatest = find_extreme_sum(spark, "DOUBLE", ["1.5", "'NaN'"], "max")
        assert greatest != greatest  # NaN is the greatest value


@pytest.mark.parametrize("enabled", ["true", "false"])
def test_extremes_of_sums_that_wrap_or_cancel_are_an_error(
    spark: SparkSession, enabled: str
) -> None:
    """If the sum of a match wraps around or is NaN, it cannot be compared with other sums.

    The sums of 9e18 and -9e18 are 9e18, -9e18 and 0. Runs do not know that no sum wraps: the
    absolute values of the match with both rows add up to 18e18.
    """
    large = "9000000000000000000"
    too_large = "absolute values in a match add up to more than BIGINT"
    for type_name, values, extreme, message in (
        ("BIGINT", [large, large], "max", too_large),
        ("BIGINT", [f"-{large}", f"-{large}", "1"], "min", too_large),
        ("BIGINT", [large, f"-{large}"], "min", too_large),
        ("DOUBLE", ["'-Infinity'", "5.0", "'Infinity'"], "max", "if a sum is infinite"),
        ("DOUBLE", ["1e308", "1e308", "'-Infinity'"], "max", "if a sum is infinite"),
    ):
        with (
            settings(spark, ansi__enabled=enabled),
            pytest.raises(Exception, match=message) as caught,
        ):
            find_extreme_sum(spark, type_name, values, extreme)
        assert matchrec.MatchRecognizeRunError.from_exception(caught.value) is not None


def test_thousands_of_partitions_are_counted(spark: SparkSession) -> None:
    rows = spark.range(30000).selectExpr("id", "id % 3000 AS k")
    counted = matchrec.query(rows, f"PARTITION BY k {CLAUSE_OF_ALL_SUBSETS}").aggregate()
    assert counted.groupBy("matches").count().collect() == [(1023, 3000)]


@pytest.fixture
def events(spark: SparkSession) -> DataFrame:
    """Return events of types A, B and C in two partitions."""
    return spark.sql(
        "SELECT CAST(id % 2 AS INT) AS k, id AS ts, CAST(id * 7 % 11 AS INT) AS v,"
        " element_at(array('A', 'B', 'C'), CAST(id * 7 % 3 + 1 AS INT)) AS event_type"
        " FROM range(30)"
    )


ALL_PAIRS = """PATTERN SEQ(A+ a[], B b) WHERE skip_till_any_match AND b.v > 2 WITHIN 20
    RETURN COUNT(a[]) AS n, SUM(a[].v) AS s, b.v AS bv"""


@pytest.mark.parametrize("per", ["partition", "start", "end"])
def test_aggregates_of_sase_are_those_of_the_built_matches(
    events: DataFrame, per: AggregatePer
) -> None:
    text = ALL_PAIRS + ", a[1].ts AS first_ts, b.ts AS last_ts"
    query = matchrec.query(events, text, order_by="ts", partition_by="k")
    aggregates = {"c": "count(*)", "n": "sum(n)", "most": "MAX( `bv` )", "mean": "avg(s)"}
    keys: list[str] = {"partition": [], "start": ["first_ts"], "end": ["last_ts"]}[per]
    built = (
        query.to_df().groupBy("k", *keys).agg({"k": "count", "n": "sum", "bv": "max", "s": "avg"})
    )
    totals = query.aggregate(aggregates, per=per)
    assert totals.columns == ["k", *(["ts"] if keys else []), *aggregates]
    built = built.select("k", *keys, "count(k)", "sum(n)", "max(bv)", "avg(s)")
    assert collect_approximately(totals) == collect_approximately(built)


def test_aggregates_of_a_pattern_are_those_of_the_built_matches(events: DataFrame) -> None:
    pattern = matchrec.Pattern.begin("a").where("v > 3").one_or_more().followed_by("b")
    pattern = pattern.where("v < 3").within("20")
    query = matchrec.query(events, pattern, order_by="ts", partition_by="k")
    built = {(row.k, row["count"]) for row in query.to_df().groupBy("k").count().collect()}
    assert {tuple(row) for row in query.aggregate().collect()} == built
    # This skip strategy makes the engine build matches.
    skipping = pattern.after_match(matchrec.AfterMatch.SKIP_TO_NEXT)
    query = matchrec.query(events, skipping, order_by="ts", partition_by="k")
    built = {(row.k, row["count"]) for row in query.to_df().groupBy("k").count().collect()}
    totals = query.aggregate()
    assert {tuple(row) for row in totals.collect()} == built
    assert list_types(totals, ["matches"]) == ["bigint"]


def test_a_match_that_its_window_completes_counts_once(spark: SparkSession) -> None:
    """Two ways map one row to `a`, in the first and in the second iteration."""
    group = matchrec.Pattern.begin("a").where("v = 1").optional()
    pattern = (
        matchrec.Pattern.begin(group)
        .times(2)
        .followed_by("b")
        .where("v = 2")
        .not_followed_by("c")
        .where("v = 3")
        .within("4")
    )
    rows = spark.sql("SELECT * FROM VALUES (1, 1), (2, 2), (9, 1), (10, 2), (11, 3) AS t(id, v)")
    query = matchrec.query(rows, pattern, order_by="id")
    # The matches are rows 1 and 2, and row 2 alone. Row 11 forbids rows 9 and 10, and row 10 alone.
    assert query.count() == 2
    assert collect_sorted(query.aggregate()) == [(2,)]
    limited = matchrec.query(rows, pattern.first_matches(2), order_by="id")
    assert limited.count() == 2


def draw_stage(random: Random, stage: matchrec.Pattern) -> matchrec.Pattern:
    """Return the pattern with a condition on its last stage, which may be repeated or optional."""
    stage = stage.where(f"v {random.choice(('>', '<', '<>'))} {random.randrange(4)}")
    repetition = random.randrange(5)
    if repetition == 0:
        stage = stage.one_or_more()
    elif repetition == 1:
        stage = stage.times(1, 2)
    if repetition <= 1 and random.random() < 0.5:
        stage = stage.allow_combinations()
    return stage.optional() if random.random() < 0.4 else stage


def draw_repeated_pattern(random: Random) -> matchrec.Pattern:
    """Return a pattern with a repeated group. Several ways may map the same rows to its stages."""
    group = draw_stage(random, matchrec.Pattern.begin("a"))
    if random.random() < 0.6:
        group = draw_stage(random, random.choice((group.followed_by, group.followed_by_any))("b"))
    pattern = matchrec.Pattern.begin(group).times(2)
    if random.random() < 0.5:
        pattern = pattern.allow_combinations()
    pattern = random.choice((pattern.followed_by, pattern.next))("c").where("v < 3")
    if random.random() < 0.7:
        pattern = pattern.not_followed_by("n").where("v = 3")
    return pattern.within("4")


@pytest.mark.parametrize("seed", batches(48))
def test_totals_of_patterns_are_those_of_the_matches(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    pattern = draw_repeated_pattern(random)
    values = ", ".join(f"({time}, {random.randrange(4)})" for time in range(9))
    rows = spark.sql(f"SELECT * FROM VALUES {values} AS t(id, v)")
    query = matchrec.query(rows, pattern, order_by="id")
    assert [row.matches for row in query.aggregate().collect()] == [query.count()]


SASE_WITH_ABSENT_ROWS = [
    "PATTERN SEQ(A+ a[], ~(C c), B b) WHERE skip_till_any_match AND c.v > a[a.LEN].v WITHIN 20",
    "PATTERN SEQ(A a, ~(C c), B+ b[]) WHERE skip_till_next_match AND c.v > 8 WITHIN 20",
    "PATTERN SEQ(~(C c), A+ a[], B b) WHERE skip_till_any_match AND c.v > b.v WITHIN 9",
    "PATTERN SEQ(A+ a[], B b, ~(C c)) WHERE skip_till_any_match AND c.v > a[1].v WITHIN 9",
]
PATTERN_WITH_ABSENT_ROWS = (
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
# Queries with a condition on absent rows for which the engine must build the matches, each with the
# reason.
NEEDS_MATCHES = [
    (SASE_WITH_ABSENT_ROWS[0].replace("> a[a.LEN].v", "< b.v"), "reads a later row of the match"),
    (
        SASE_WITH_ABSENT_ROWS[0].replace("> a[a.LEN].v", "+ a[1].v > 9"),
        "has an operation that may raise an error",
    ),
    (
        SASE_WITH_ABSENT_ROWS[0].replace(
            "c.v > a[a.LEN].v", "c.event_type LIKE a[1].event_type || '%'"
        ),
        "has a function that is computed in Python",
    ),
]


@pytest.mark.parametrize("text", some_of([*SASE_WITH_ABSENT_ROWS, PATTERN_WITH_ABSENT_ROWS]))
def test_totals_with_absent_rows_need_no_matches(
    events: DataFrame, text: str | matchrec.Pattern
) -> None:
    query = matchrec.query(events, text, order_by="ts", partition_by="k")
    with refuse_building_matches():
        totals = query.aggregate()
    built = query.to_df().groupBy("k").count()
    assert collect_approximately(totals) == collect_approximately(built) != []


NEGATED_ROWS = "VALUES (1, 5), (2, 20), (3, 5) AS t(id, price)"


@pytest.mark.parametrize(
    ("pattern", "match_count", "row_count"),
    [
        # The matches are rows 1 2, 1 2 3, 2, 2 3 and 3; not 1, because row 2 is a B.
        ("A+ NOT B", 5, 9),
        # Rows 1 2, 1 2 3 and 2 3.
        ("A+ A+ NOT B", 3, 7),
        # Rows 1, 2, 2 3 and 3; not 1 2, because row 2 is a B.
        ("A (NOT B A)*", 4, 5),
        # All ranges of rows: the first alternative maps row 2 after row 1.
        ("(A | A NOT B A)+", 6, 10),
    ],
)
@pytest.mark.parametrize("contiguity", ["", "STRICT CONTIGUITY"])
def test_matches_that_not_rules_out_are_not_counted(
    spark: SparkSession, pattern: str, match_count: int, row_count: int, contiguity: str
) -> None:
    clause = f"""ORDER BY id MEASURES count(*) AS n PATTERN ({pattern}) {contiguity} ALL MATCHES
        DEFINE A AS price > 0, B AS price > 10"""
    query = matchrec.query(spark.sql(f"SELECT * FROM {NEGATED_ROWS}"), clause)
    totals = query.aggregate({"match_count": "count(*)", "row_count": "sum(n)"})
    assert collect_sorted(totals) == [(match_count, row_count)]
    lengths = [row.n for row in query.collect()]
    assert (len(lengths), sum(lengths)) == (match_count, row_count)


@pytest.mark.parametrize(
    ("pattern", "selection", "reason"),
    [
        # There is one way to map a row to A, whichever row follows.
        ("A+ NOT B", "", "NOT tests the next row, so the search may find a match in two ways"),
        ("A NOT B A", "", ""),
        (
            "A+ A+",
            "SKIP TILL NEXT MATCH",
            "PATTERN has several ways to map the same rows to the same",
        ),
    ],
)
def test_explain_says_why_not_needs_matches(
    spark: SparkSession, pattern: str, selection: str, reason: str
) -> None:
    define_b = ", B AS price > 10" if "B" in pattern else ""
    clause = f"""ORDER BY id PATTERN ({pattern}) {selection} ALL MATCHES
        DEFINE A AS price > 0{define_b}"""
    query = matchrec.query(spark.sql(f"SELECT * FROM {NEGATED_ROWS}"), clause)
    explanation = query.explain(aggregates={"c": "count(*)"}).text
    if reason:
        assert f"computed by the engine from all matches, because {reason}" in explanation
    else:
        assert "computed by the search, which builds no matches" in explanation


# Patterns with NOT that are allowed with SKIP TILL ... MATCH. NEGATED also has those that are not.
NEGATED_WITH_SKIPS = (
    "A+ NOT B",
    "A NOT B C",
    "A+ NOT B C",
    "A+ NOT B C+",
    "A A+ NOT B",
    "A C? NOT B",
)
NEGATED = (
    *NEGATED_WITH_SKIPS,
    "A+ A+ NOT B",
    "(A | C)+ NOT B",
    "A (NOT B A)*",
    "(A | A NOT B A)+",
    "A+ NOT (B | C) A*",
    "A NOT B (A | C)+ NOT B",
    "A+ NOT B C+ NOT B",
    "(A NOT B)+ C?",
)


def draw_negated_clause(random: Random) -> str:
    """Return a clause with NOT in PATTERN. The search cannot compute the totals of some of them."""
    contiguous = ("", "STRICT CONTIGUITY")
    selection = random.choice((*contiguous, "SKIP TILL NEXT MATCH", "SKIP TILL ANY MATCH"))
    pattern = random.choice(NEGATED if selection in contiguous else NEGATED_WITH_SKIPS)
    conditions = [f"{name} AS v > {random.randrange(8)}" for name in "ABC" if name in pattern]
    conditions[0] += random.choice(("", "", " AND (count(A.*) = 1 OR v <> LAST(A.v, 1))"))
    return f"""PARTITION BY k ORDER BY id
        MEASURES count(*) AS row_count, sum(A.v) AS int_sum, FIRST(id) AS first_id,
            LAST(id) AS last_id
        PATTERN ({pattern}) {selection} ALL MATCHES WITHIN {random.choice((4, 7))}
        DEFINE {", ".join(conditions)}"""


@pytest.mark.parametrize("seed", batches(64))
def test_totals_with_not_are_those_of_the_matches(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    clause = draw_negated_clause(random)
    per = random.choice(list(KEYS))
    aggregates = name_aggregates(
        ("count(*)", "sum(row_count)", "max(int_sum)", "sum(last_id)", "min(first_id)")
    )
    built = aggregate_in_spark(spark, f"t MATCH_RECOGNIZE ({clause})", aggregates, per)
    totals = matchrec.query(spark.table("t"), clause).aggregate(aggregates, per=per)
    assert collect_sorted(totals) == collect_sorted(built)


@pytest.mark.parametrize(("text", "reason"), some_of(NEEDS_MATCHES))
def test_totals_with_some_absent_rows_need_matches(
    events: DataFrame, text: str, reason: str
) -> None:
    query = matchrec.query(events, text, order_by="ts", partition_by="k")
    assert collect_approximately(query.aggregate()) == collect_approximately(
        query.to_df().groupBy("k").count()
    )
    assert (
        f"from all matches, because the condition of a row that NOT forbids {reason}"
        in query.explain(aggregates={"matches": "count(*)"}).text
    )
    with pytest.raises(TypeError), refuse_building_matches():
        query.aggregate()


def test_other_expressions_are_rejected(events: DataFrame) -> None:
    query = matchrec.query(events, ALL_PAIRS, order_by="ts", partition_by="k")
    for aggregates, message in (
        ({"x": "median(n)"}, "`median\\(n\\)` is not an aggregate over matches"),
        ({"x": "sum(*)"}, "`sum\\(\\*\\)` is not an aggregate over matches"),
        ({"x": "sum(z)"}, "unknown measure `z`"),
    ):
        with pytest.raises(matchrec.MatchRecognizeError, match=message):
            query.aggregate(aggregates)
    sorted_by_sum = matchrec.query(events, ALL_PAIRS, order_by="ts + 1", partition_by="k")
    with pytest.raises(
        matchrec.MatchRecognizeError, match="not supported unless the rows are sorted by a column"
    ):
        sorted_by_sum.aggregate(per="start")


@pytest.mark.parametrize("name", ["K", "ts"])
def test_an_aggregate_with_the_name_of_a_key_is_rejected(events: DataFrame, name: str) -> None:
    query = matchrec.query(events, ALL_PAIRS, order_by="ts", partition_by="k")
    with pytest.raises(matchrec.MatchRecognizeError, match=f"would have two columns `{name}`"):
        query.aggregate({name: "count(*)"}, per="end")
    with pytest.raises(matchrec.MatchRecognizeError, match="would have two columns `C`"):
        query.aggregate({"c": "count(*)", "C": "sum(n)"})


@pytest.mark.parametrize("per", ["start", "end"])
def test_a_measure_can_have_the_name_of_the_order(events: DataFrame, per: AggregatePer) -> None:
    text = (
        ALL_PAIRS.partition("RETURN")[0] + "RETURN b.v AS ts, a[1].ts AS first_ts, b.ts AS last_ts"
    )
    query = matchrec.query(events, text, order_by="ts", partition_by="k")
    built = query.to_df().groupBy("k", "first_ts" if per == "start" else "last_ts")
    totals = query.aggregate({"most": "max(ts)"}, per=per)
    assert totals.columns == ["k", "ts", "most"]
    assert collect_approximately(totals) == collect_approximately(built.agg({"ts": "max"}))


@pytest.mark.parametrize("output", ["non_overlapping", "graph"])
def test_aggregates_are_over_the_output_matches(events: DataFrame, output: str) -> None:
    query = matchrec.query(
        events, ALL_PAIRS.partition("RETURN")[0], order_by="ts", partition_by="k", output=output
    )
    rows = query.to_df()
    matches = matchrec.explode_graph(rows) if output == "graph" else rows
    assert (
        collect_approximately(query.aggregate())
        == collect_approximately(matches.groupBy("k").count())
        != []
    )


def test_explain_says_how_an_aggregate_is_run(events: DataFrame) -> None:
    query = matchrec.query(events, ALL_PAIRS, order_by="ts", partition_by="k")
    by_search = query.explain(aggregates={"n": "sum(n)"}, per="end", analyze=True).text
    assert "by the search, which builds no matches: a row for each row that" in by_search
    assert "sum(FINAL count" in by_search
    from_matches = query.explain(aggregates={"s": "sum(s)", "v": "max(bv)"}, per="start").text
    assert "each row that begins matches" in from_matches
    assert "aggregates over all matches" not in query.explain().text


def test_a_window_with_a_pattern_is_rejected(spark: SparkSession) -> None:
    query = """SELECT id, n OVER w FROM t WINDOW w AS (PARTITION BY k ORDER BY id
        MEASURES count(*) AS n ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
        PATTERN (A+) DEFINE A AS v > 3)"""
    with pytest.raises(matchrec.MatchRecognizeError, match="aggregate of a window with PATTERN"):
        matchrec.query(spark, query).aggregate()


def test_streams_support_only_per_end(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load().withWatermark("timestamp", "1 second")
    sase = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match WITHIN 1 hour"
    rows = stream.selectExpr("timestamp", "'A' AS event_type")
    query = matchrec.query(rows, sase, order_by="timestamp")
    unsupported: tuple[AggregatePer, ...] = ("start", "partition")
    for per in unsupported:
        with pytest.raises(matchrec.MatchRecognizeError, match="more matches of such a group"):
            query.aggregate(per=per)
    assert query.aggregate(per="end").columns == ["timestamp", "matches"]


def test_explain_of_a_count_names_only_functions_of_the_query(spark: SparkSession) -> None:
    clause = "ORDER BY id PATTERN (A+) DEFINE A AS id > 1"
    query = matchrec.query(spark.range(4), clause)
    assert "MATCH_NUMBER" not in str(query.explain(aggregates={"matches": "count(*)"}))
    assert query.aggregate().collect() == [(1,)]


@pytest.mark.parametrize("per", ["partition", "start", "end"])
@pytest.mark.parametrize("measures", ["", "MEASURES count(*) AS n"])
def test_explain_shows_no_internal_names(
    spark: SparkSession, per: AggregatePer, measures: str
) -> None:
    clause = f"ORDER BY id {measures} PATTERN (A+) {{}} DEFINE A AS id > 1"
    for matches in ("", "ALL MATCHES"):
        query = matchrec.query(spark.range(4), clause.format(matches))
        text = query.explain(aggregates={"matches": "count(*)"}, per=per).text
        assert "__" not in text
        if per == "partition":
            assert "count(*) over all matches" in text or "only counted" in text
