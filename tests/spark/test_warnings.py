"""A query warns once, at the line that calls matchrec, in the words of its language.

`tests/unit/plan/warnings.txt` shows which queries warn.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec import Pattern

NO_ORDER = "ALL ROWS PER MATCH PATTERN (A B) DEFINE B AS price > PREV(price)"


@pytest.fixture(scope="module")
def prices(spark: SparkSession) -> DataFrame:
    """Return three prices with a day each."""
    rows = [("p", 1, 10, "2024-01-01"), ("p", 2, 8, "2024-01-02"), ("p", 3, 9, "2024-01-04")]
    frame = spark.createDataFrame(rows, "kind string, ts int, price int, day string")
    return frame.selectExpr("kind", "ts", "price", "to_date(day) AS day")


def test_a_query_warns_once_at_the_line_that_calls(spark: SparkSession, prices: DataFrame) -> None:
    query = """SELECT * FROM {p} MATCH_RECOGNIZE (ALL ROWS PER MATCH PATTERN (A B)
      DEFINE B AS day - PREV(day) < 2)"""
    with pytest.warns(matchrec.warnings.NoOrderWarning) as warned:
        matchrec.sql(spark, query, dialect="oracle", p=prices)  # parses twice, to find out types
    assert [warning.filename for warning in warned] == [__file__]
    with pytest.warns(matchrec.warnings.NoOrderWarning, match="line 1, column 1") as warned:
        matchrec.match_recognize(prices, NO_ORDER)
    assert [warning.filename for warning in warned] == [__file__]


def test_explain_prints_them_instead(spark: SparkSession, prices: DataFrame) -> None:
    query = f"SELECT * FROM {{p}} MATCH_RECOGNIZE ({NO_ORDER})"
    *_, section = str(matchrec.query(spark, query, p=prices).explain()).partition("\nwarnings\n")
    assert section.startswith("  MATCH_RECOGNIZE has no ORDER BY\n    line 1, column 36\n")
    assert "warnings" not in str(
        matchrec.query(spark, query.replace("ALL", "ORDER BY ts ALL"), p=prices).explain()
    )


def test_sase_text_has_its_own_words(prices: DataFrame) -> None:
    text = "PATTERN SEQ(p a, p b) WHERE skip_till_any_match { b.ts > 1 AND b.price = b.price }"
    with pytest.warns(
        matchrec.warnings.SameValueWarning, match="comparison in WHERE has the same"
    ) as warned:
        matchrec.match_sase(prices, text, order_by="ts", type_column="kind")
    assert "b.price = b.price }\n" in str(warned[0].message)
    assert "write a.price for the event of a" in str(warned[0].message)
    explained = matchrec.query(prices, text, order_by="ts", type_column="kind").explain()
    assert "\nwarnings\n  a comparison in WHERE has the same value" in str(explained)


def test_a_pattern_has_its_own_words(prices: DataFrame) -> None:
    pattern = Pattern.begin("a").where("price > 8").next("b").where("price <> NULL")
    with pytest.warns(
        matchrec.warnings.NeverTrueWarning, match=r"`<>` with NULL in where\(\) of stage `b`"
    ) as warned:
        matchrec.match_pattern(prices, pattern, order_by="ts")
    assert str(warned[0].message).endswith("write price IS NOT NULL")
    explained = matchrec.query(prices, pattern, order_by="ts").explain()
    assert "\nwarnings\n  `<>` with NULL in where() of stage `b`" in str(explained)


def test_an_error_lists_stages_only(prices: DataFrame) -> None:
    """A Pattern has variables of its own for its conditions, which no user can name."""
    pattern = Pattern.begin("a").where("price > c.price").next("b").where("price > 1")
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        matchrec.match_pattern(prices, pattern, order_by="ts")
    assert refused.value.code == "unknown-variable"
    assert refused.value.notes == ("the pattern has: a, b",)


def begin_with(name: str, condition: str) -> Pattern:
    """Return a pattern of one stage with a condition."""
    return Pattern.begin(name).where(condition)


@pytest.mark.parametrize(
    ("pattern", "read", "note"),
    [
        (begin_with("a", "price > b.price").next("b"), "b.price", "an event is tested for a"),
        (
            begin_with("a", "price > last(b.price)").next("b"),
            "last(b.price)",
            "an event is tested for a",
        ),
        (begin_with("a", "a.price > 5").next("b"), "a.price", "its first one is tested"),
        (
            begin_with("a", "a.price > 5").one_or_more().next("b"),
            "a.price",
            "its first one is tested",
        ),
        (
            begin_with("a", "TRUE").not_followed_by("n").where("price > c.price").followed_by("c"),
            "c.price",
            "an event is tested for n",
        ),
        (
            Pattern.begin(begin_with("c", "price > d.price").next("d")).times(2),
            "d.price",
            "an event is tested for c",
        ),
        (
            begin_with("a", "TRUE").one_or_more().until("price > b.price").next("b"),
            "b.price",
            "an event is tested for a",
        ),
    ],
)
def test_a_stage_that_has_no_event_yet(
    prices: DataFrame, pattern: Pattern, read: str, note: str
) -> None:
    with pytest.warns(matchrec.warnings.NeverTrueWarning) as warned:
        matchrec.match_pattern(prices, pattern, order_by="ts")
    (warning,) = warned
    assert f"a comparison with `{read}` in " in str(warning.message)
    assert " is never true\n" in str(warning.message)
    assert f"no event yet when {note}, so {read} is NULL" in str(warning.message)
    assert "NEXT" not in str(warning.message)


@pytest.mark.parametrize(
    "pattern",
    [
        begin_with("a", "TRUE").next("b").where("price > a.price"),
        begin_with("a", "price > a.price OR count(a) = 0").one_or_more(),
        begin_with("a", "TRUE").one_or_more().until("price > a.price").next("b"),
        Pattern.begin(
            begin_with("a", "TRUE").not_followed_by("n").where("price > c.price").followed_by("c")
        ).times(2),
        begin_with("a", "count(b) = 0 AND price <=> b.price").next("b"),
    ],
)
def test_a_stage_that_may_have_events(prices: DataFrame, pattern: Pattern) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", matchrec.warnings.NeverTrueWarning)
        matchrec.match_pattern(prices, pattern, order_by="ts")


@pytest.mark.parametrize(
    ("pattern", "intended"),
    [
        (begin_with("a", "price > price"), "compare it with a value of another event"),
        (begin_with("a", "TRUE").next("b").where("price > price"), "write last(a.price) fo"),
        (begin_with("a", "TRUE").next("b").where("a.price>a.price"), "write price > a.price"),
        (
            "SEQ(X a, X+ b[]) WHERE skip_till_next_match { a.price > a.price }",
            "compare it with a value of another event",
        ),
        (
            "SEQ(X a, X+ b[]) WHERE skip_till_next_match { b[i].price > b[i].price }",
            "write b[i-1].price for the prev",
        ),
        (
            "SEQ(X a, X c) WHERE skip_till_next_match { c.price > c.price }",
            "write a.price for the event of a",
        ),
    ],
)
def test_advice_says_which_row_was_intended(
    prices: DataFrame, pattern: Pattern | str, intended: str
) -> None:
    query = pattern if isinstance(pattern, Pattern) else f"PATTERN {pattern}"
    events = prices.selectExpr("*", "'X' AS event_type")
    explanation = str(matchrec.query(events, query, order_by="ts").explain())
    assert "has the same value on both sides" in explanation
    assert f"  help: {intended}" in explanation


@pytest.mark.parametrize(
    "condition",
    ["price > :x", "kind > 'a' AND price < :x * 2", "price BETWEEN :x AND 3", "ts NOT IN (1, :x)"],
)
def test_a_condition_on_a_parameter_that_is_null(prices: DataFrame, condition: str) -> None:
    clause = f"ORDER BY ts MEASURES A.ts AS ts PATTERN (A) DEFINE A AS {condition}"
    with pytest.warns(matchrec.warnings.NeverTrueWarning, match="args has None for :x"):
        matches = matchrec.match_recognize(prices, clause, args={"x": None})
    assert matches.collect() == []
    # The help of the warning.
    clause = f"ORDER BY ts MEASURES A.ts AS ts PATTERN (A) DEFINE A AS (:x IS NULL OR {condition})"
    assert matchrec.match_recognize(prices, clause, args={"x": None}).count() == prices.count()


@pytest.mark.parametrize(
    "condition",
    [
        "price > coalesce(:x, 0)",
        "price <=> :x",
        "price NOT BETWEEN :x AND 3",
        "price IN (1, :x)",
        "price > 9 OR price > :x",
        "price > :y",
    ],
)
def test_a_parameter_that_is_null_and_expected(prices: DataFrame, condition: str) -> None:
    clause = f"ORDER BY ts ALL ROWS PER MATCH PATTERN (A) DEFINE A AS {condition}"
    args = {"y": 9} if ":y" in condition else {"x": None}
    with warnings.catch_warnings():
        warnings.simplefilter("error", matchrec.warnings.NeverTrueWarning)
        matchrec.match_recognize(prices, clause, args=args)


@pytest.mark.parametrize(
    ("condition", "intended"),
    [
        ("kind = ':x'", "write :x"),
        ("contains(kind, ':x')", "write :x"),
        ("kind LIKE '%:x%'", "write '%' || :x || '%'"),
        ("kind = :x", None),
        ("kind = ':y'", None),
        ("kind = ':xx'", None),
        ("kind = 'a:x' OR kind = ': x' OR kind = ':x b'", None),
    ],
)
def test_a_parameter_in_quotes(prices: DataFrame, condition: str, intended: str | None) -> None:
    clause = f"ORDER BY ts ALL ROWS PER MATCH PATTERN (A B) DEFINE A AS {condition}, B AS kind > :x"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", matchrec.warnings.NoEffectWarning)
        matchrec.match_recognize(prices, clause, args={"x": "p"})
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == (intended is not None)
    assert all(message.endswith(f"help: {intended}") for message in messages)


# Common mistakes with event selection: the rows of the clause, and those of the suggested one.

ORDERS = """VALUES (1, 'o'), (2, 'x'), (3, 'p'), (4, 'o'), (5, 'x'), (20, 'o'), (21, 'p')
    AS orders(ts, kind)"""


def test_a_negation_at_the_end_and_its_correction(spark: SparkSession) -> None:
    """Order 1 is paid at 3, order 4 is not paid, and order 20 is paid at once."""
    clause = """ORDER BY ts MEASURES O.ts AS at PATTERN (O NOT PAID) {} WITHIN 7
        DEFINE O AS kind = 'o', PAID AS kind = 'p'"""
    orders = spark.sql(f"SELECT * FROM {ORDERS}")
    with pytest.warns(matchrec.warnings.NextRowWarning):
        matches = matchrec.match_recognize(orders, clause.format(""))
    assert [row.at for row in matches.collect()] == [1, 4]
    suggested = clause.format("SKIP TILL NEXT MATCH ALL MATCHES")
    assert [row.at for row in matchrec.match_recognize(orders, suggested).collect()] == [4]


def test_a_loop_at_the_end_and_its_correction(spark: SparkSession) -> None:
    """Five rows of kind a are within 10 of the first one, with other rows between them."""
    clause = """ORDER BY ts MEASURES LAST(ts) AS last, count(*) AS n PATTERN (A{{3,}}) {} WITHIN 10
        DEFINE A AS kind = 'a'"""
    kinds = "aaaxaxax"
    rows = ", ".join(f"({at}, '{kind}')" for at, kind in enumerate(kinds, 1))
    events = spark.sql(f"SELECT * FROM VALUES {rows}, (30, 'a') AS t(ts, kind)")
    with pytest.warns(matchrec.warnings.EarlyEndWarning):
        matches = matchrec.match_recognize(events, clause.format("SKIP TILL NEXT MATCH"))
    assert matches.collect() == [(3, 3)]
    with pytest.warns(matchrec.warnings.EarlyEndWarning, match="always repeats exactly 3 times"):
        matches = matchrec.match_recognize(
            events, clause.format("SKIP TILL NEXT MATCH NON-OVERLAPPING MATCHES")
        )
    assert matches.collect() == [(3, 3)]
    suggested = clause.format("SKIP TILL NEXT MATCH ALL MATCHES")
    all_matches = {tuple(row) for row in matchrec.match_recognize(events, suggested).collect()}
    assert (7, 5) in all_matches
    without_others = matchrec.match_recognize(events.where("kind = 'a'"), clause.format(""))
    assert without_others.collect() == [(7, 5)]


def test_a_wildcard_that_finds_nothing(spark: SparkSession) -> None:
    events = spark.sql("SELECT * FROM VALUES (1, 'payment_card') AS t(ts, kind)")
    clause = "ORDER BY ts MEASURES A.ts AS at PATTERN (A) DEFINE A AS kind {}"
    for condition in ("LIKE 'payment*'", "= 'payment%'", "RLIKE 'payment%'", "ILIKE 'payment_*'"):
        with pytest.warns(matchrec.warnings.WildcardWarning):
            matches = matchrec.match_recognize(events, clause.format(condition))
        assert matches.collect() == []
    matches = matchrec.match_recognize(events, clause.format("LIKE 'payment%'"))
    assert [row.at for row in matches.collect()] == [1]
    pattern = Pattern.begin("a").where("kind = 'payment%'")
    with pytest.warns(matchrec.warnings.WildcardWarning, match=r"in where\(\) .* looks for a"):
        matchrec.match_pattern(events, pattern, order_by="ts")


def test_count_of_a_condition_counts_rows_where_it_is_false(spark: SparkSession) -> None:
    # 3 rows have a price, 2 of them a price above 1.
    rows = "VALUES (1, 5), (2, 1), (3, NULL), (4, 7)"
    events = spark.sql(f"SELECT * FROM {rows} AS t(ts, price)")
    clause = "ORDER BY ts MEASURES {} AS n PATTERN (A+) DEFINE A AS ts > 0"
    with pytest.warns(
        matchrec.warnings.CountedConditionWarning, match=r"write count_if\(price > 1"
    ):
        matches = matchrec.match_recognize(events, clause.format("COUNT(price > 1)"))
    assert [row.n for row in matches.collect()] == [3]
    matches = matchrec.match_recognize(events, clause.format("count_if(price > 1)"))
    assert [row.n for row in matches.collect()] == [2]


# Ties: rows with equal ORDER BY values. The warning comes with the first action on the result.

FALLS = """PARTITION BY sym ORDER BY ts MEASURES count(*) AS n PATTERN (A DOWN+)
    DEFINE DOWN AS price < PREV(price)"""
TICKS = [("X", 1, 10), ("X", 1, 8), ("X", 2, 9), ("X", 2, 9), ("Y", 1, 7), ("Y", 2, None)]


@pytest.fixture(scope="module")
def ticks(spark: SparkSession) -> DataFrame:
    """Return rows with one tie of two different rows, and one tie of two equal rows."""
    return spark.createDataFrame(TICKS, "sym string, ts int, price int")


def collect_ties(action: Callable[[], object]) -> list[warnings.WarningMessage]:
    """Return the warnings about ties that an action gives."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", matchrec.warnings.TiesWarning)
        action()
    return [
        warning for warning in warned if issubclass(warning.category, matchrec.warnings.TiesWarning)
    ]


def test_ties_give_one_warning_per_query(ticks: DataFrame) -> None:
    falls = matchrec.match_recognize(ticks, FALLS)
    (warning,) = collect_ties(falls.collect)
    assert warning.filename == __file__
    assert str(warning.message).splitlines() == [
        "1 row has the same ORDER BY values as the row before it",
        "  note: their order can differ from run to run, and so can the result",
        "  note: for example, two rows have sym = 'X', ts = 1",
        "  help: add a column to ORDER BY that tells these rows apart",
    ]
    assert collect_ties(falls.collect) == []
    assert len(collect_ties(matchrec.match_recognize(ticks, FALLS).collect)) == 1


@pytest.mark.parametrize(
    "action",
    [
        lambda rows: rows.count(),
        lambda rows: rows.toPandas(),
        lambda rows: rows.filter("n > 0").collect(),
        lambda rows: rows.write.format("noop").mode("overwrite").save(),
    ],
)
def test_all_actions_warn_about_ties(
    ticks: DataFrame, action: Callable[[DataFrame], object]
) -> None:
    falls = matchrec.match_recognize(ticks, FALLS)
    assert len(collect_ties(lambda: action(falls))) == 1


def test_orders_without_ties_raise_no_warning(ticks: DataFrame) -> None:
    """There is no warning if all orders are different, or if tied rows are equal."""
    apart = FALLS.replace("ORDER BY ts", "ORDER BY ts, price")
    assert collect_ties(matchrec.match_recognize(ticks, apart).collect) == []
    equal_rows = matchrec.match_recognize(ticks.where("NOT (sym = 'X' AND ts = 1)"), FALLS)
    assert collect_ties(equal_rows.collect) == []


def test_order_by_partition_keys_gives_no_second_warning(ticks: DataFrame) -> None:
    """The NoEffectWarning about ORDER BY already says that rows have no order."""
    clause = FALLS.replace("BY sym ORDER BY ts", "BY sym, ts ORDER BY ts")
    with pytest.warns(matchrec.warnings.NoEffectWarning, match="remove ts from PARTITION BY"):
        falls = matchrec.match_recognize(ticks, clause)
    assert collect_ties(falls.collect) == []
    pattern = Pattern.begin("a").next("b").where("price < last(a.price)")
    events = matchrec.match_pattern(ticks, pattern, order_by="ts", partition_by=["sym", "ts"])
    assert len(collect_ties(events.collect)) == 1


def test_ties_can_be_errors_or_be_ignored(ticks: DataFrame) -> None:
    falls = matchrec.match_recognize(ticks, FALLS)
    with warnings.catch_warnings():
        warnings.simplefilter("error", matchrec.warnings.TiesWarning)
        with pytest.raises(matchrec.warnings.TiesWarning):
            falls.collect()
        warnings.simplefilter("ignore", matchrec.warnings.TiesWarning)
        _ = matchrec.match_recognize(ticks, FALLS).collect()


def test_other_languages_and_rules_warn_about_ties(ticks: DataFrame) -> None:
    pattern = Pattern.begin("a").next("b").where("price < last(a.price)")
    matches = matchrec.match_pattern(ticks, pattern, order_by="ts", partition_by="sym")
    (warning,) = collect_ties(matches.collect)
    assert "add a column to order_by" in str(warning.message)
    rules = {"fall": "PATTERN (A DOWN+) DEFINE DOWN AS price < PREV(price)"}
    result = matchrec.match_rules(ticks, rules, order_by="ts", partition_by="sym")
    assert len(collect_ties(result.matches.collect)) == 1


def test_spark_that_sorts_counts_no_ties(ticks: DataFrame) -> None:
    by_engine = matchrec.Options(sort="engine")
    assert collect_ties(matchrec.match_recognize(ticks, FALLS, options=by_engine).collect) == []
