"""An argument without effect gives a `NoEffectWarning`, and the same argument with effect none."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec import Pattern
from matchrec.warnings import NoEffectWarning

A = Pattern.begin("a").where("price > 9")
A_B = A.next("b").where("price < 9")
PREVIOUS = "previous_to_current"
LONG_GAP = (
    "`gap` of stage `a` has no effect, because the window of the match is not longer than the gap"
)
NO_EVENT_BEFORE = (
    '`within(..., "previous_to_current")` at stage `a` has no effect, because no event comes '
    "before it"
)


@pytest.fixture(scope="module")
def prices(spark: SparkSession) -> DataFrame:
    """Return three prices."""
    return spark.createDataFrame([(1, 10), (2, 8), (3, 9)], "ts int, price int")


@pytest.mark.parametrize(
    ("pattern", "timeouts", "message"),
    [
        (A_B, True, "`timeouts` has no effect, because the pattern has no window"),
        (A.within(5), False, "`within` has no effect, because a match has only one event"),
        (A.optional().within(5).next("b"), False, None),
        (A.not_followed_by("b").within(5), False, None),
        (A.one_or_more().within(5), False, None),
        (A_B.within(5), True, None),
        (A_B.within(5, PREVIOUS), True, None),
        (A.within(5, PREVIOUS).next("b"), False, NO_EVENT_BEFORE),
        (Pattern.begin(A.within(5, PREVIOUS).next("b")).next("c"), False, NO_EVENT_BEFORE),
        # Its second event, or the second repetition of the group, has an event before it.
        (A.one_or_more().within(5, PREVIOUS).next("b"), False, None),
        (Pattern.begin(A.within(5, PREVIOUS).next("b")).times(2), False, None),
        (
            A.next("b").times(1, gap=5),
            False,
            "`gap` of stage `b` has no effect, because the stage occurs only once",
        ),
        (
            A.next("b").times(0, 1, gap=5),
            False,
            "`gap` of stage `b` has no effect, because the stage occurs only once",
        ),
        (A.next("b").times(1, 2, gap=5), False, None),
        (A.one_or_more(gap=5).within(5), False, LONG_GAP),
        (A.one_or_more(gap=4).within(5), False, None),
    ],
)
def test_windows_without_effect_raise_a_warning(
    prices: DataFrame, pattern: Pattern, timeouts: bool, message: str | None
) -> None:
    query = matchrec.query(prices, pattern, order_by="ts", timeouts=timeouts)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        query.to_df()
    assert [(item.category, str(item.message).split("\n")[0]) for item in caught] == [
        (NoEffectWarning, text) for text in [message] if text is not None
    ]
    assert [item.filename for item in caught] == [__file__] * len(caught)
    assert ("has no effect" in query.explain().text) is (message is not None)


def test_a_rule_names_itself(prices: DataFrame) -> None:
    with pytest.warns(NoEffectWarning, match="^rule `high`: `within` has no effect"):
        matchrec.match_rules(prices, {"high": A.within(5)}, order_by="ts")


SQL = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B) DEFINE B AS price > 1)"


@pytest.mark.parametrize(
    ("query", "arguments", "message"),
    [
        (SQL, {"order_by": "ts"}, "`order_by` has no effect, because a query in SQL has its own"),
        (SQL, {"partition_by": "k"}, "`partition_by` has no effect, because a query in SQL has"),
        (SQL, {"events": "log"}, "`events` has no effect, because a query in SQL names its tables"),
        (SQL, {"type_column": "kind"}, "`type_column` has no effect, because only events of SASE"),
        (A_B, {"order_by": "ts", "type_column": "kind"}, "`type_column` has no effect"),
    ],
)
def test_arguments_of_transpile_without_effect_raise_a_warning(
    query: str | Pattern, arguments: dict[str, Any], message: str
) -> None:
    with pytest.warns(NoEffectWarning) as caught:
        matchrec.transpile(query, **arguments)
    (warning,) = caught
    assert str(warning.message).startswith(message)
    assert warning.filename == __file__


def test_arguments_of_transpile_with_effect_raise_no_warning() -> None:
    matchrec.transpile(
        "PATTERN SEQ(x a, y b)", read="sase", events="log", order_by="ts", type_column="kind"
    )
    matchrec.transpile(A_B, events="log", order_by="ts", partition_by="k")


def test_the_table_of_to_sql_has_no_effect_on_a_query(
    spark: SparkSession, prices: DataFrame
) -> None:
    clause = "ORDER BY ts PATTERN (A) DEFINE A AS price > 1"
    assert "FROM log " in matchrec.query(prices, clause).to_sql(events="log").text
    query = matchrec.query(spark, f"SELECT * FROM {{p}} MATCH_RECOGNIZE ({clause})", p=prices)
    with pytest.warns(NoEffectWarning, match="`events` has no effect"):
        query.to_sql(events="log")


def test_per_has_no_effect_without_aggregates(prices: DataFrame) -> None:
    query = matchrec.query(
        prices, "ORDER BY ts MEASURES A.ts AS n PATTERN (A) DEFINE A AS price > 1"
    )
    with pytest.warns(NoEffectWarning, match="`per` has no effect, because without `aggregates`"):
        query.explain(per="end")
    query.explain(per="end", aggregates={"n": "count(*)"})


def test_the_match_number_of_a_plot_with_ends(prices: DataFrame) -> None:
    pytest.importorskip("matplotlib")
    query = matchrec.query(
        prices,
        "ORDER BY ts MEASURES A.ts AS s, A.ts AS e, MATCH_NUMBER() AS n "
        "PATTERN (A) DEFINE A AS price > 1",
    )
    with pytest.warns(NoEffectWarning, match="`match` has no effect, because `between` says"):
        query.plot(x="ts", y="price", between=("s", "e"), match="n")


@pytest.mark.parametrize(
    ("least", "args", "message"),
    [
        ("9", {"n": 9}, "the query has no `:n`"),
        ("9", {"n": 9, "m": 1}, "the query has no `:n`"),
        ("9", {}, None),
        ("9", None, None),
        (":n", {"n": 9}, None),
        # One dict may serve several queries.
        (":n", {"n": 9, "m": 1}, None),
    ],
)
def test_values_have_no_effect_without_parameters(
    prices: DataFrame, least: str, args: dict[str, Any] | None, message: str | None
) -> None:
    clause = f"ORDER BY ts MEASURES A.ts AS at PATTERN (A) DEFINE A AS price > {least}"
    query = f"SELECT * FROM {{prices}} MATCH_RECOGNIZE ({clause})"
    sase = f"PATTERN SEQ(ANY a) WHERE skip_till_next_match {{ a.price > {least} }}"
    pattern = matchrec.Pattern.begin("a").where(f"price > {least}")
    calls = [
        lambda: matchrec.match_recognize(prices, clause, args),
        lambda: matchrec.query(prices, clause, args).to_df(),
        lambda: matchrec.sql(prices.sparkSession, query, args, prices=prices),
        lambda: matchrec.match_sase(prices, sase, order_by="ts", args=args),
        lambda: matchrec.match_pattern(prices, pattern, order_by="ts", args=args),
    ]
    for call in calls:
        if message is None:
            assert len(call().collect()) == 1
            continue
        with pytest.raises(matchrec.MatchRecognizeError) as caught:
            call()
        assert caught.value.code == "unknown-parameter"
        assert str(caught.value).startswith(message)
