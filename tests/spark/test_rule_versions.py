"""Versions of rules: each version matches the rows of its time, over a table and over a stream.

The result of a version must be that of its text alone over the rows of its time. A stream must give
the same result if its rules become known little by little, more of them at each start.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, datetime, timezone
from json import dumps
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

import matchrec
from matchrec import Pattern, RuleMatches
from matchrec.search.partitions import IntArray
from matchrec.spark.streaming.stream_worker import build_rules_worker
from matchrec.worker import internal_names
from tests.pages.blocks import read_blocks
from tests.properties.test_queries import INTERPRETED, settings
from tests.quick.scale import batches
from tests.spark.test_rule_sets_over_streams import (
    RULES,
    build_query_of_rules,
    convert_value,
    draw_events,
)
from tests.spark.test_streaming import SCHEMA, Feed, draw_pieces, list_events
from tests.tasks.stream_pieces import FakeGroupState, StreamedRules, read_times

pytestmark = pytest.mark.filterwarnings("ignore::matchrec.warnings.MatchRecognizeWarning")

Content = str | Pattern | None
Versions = dict[int | None, Content]  # by the second from which they are valid
FALL = "MEASURES LAST(D.price) AS low PATTERN (S D+) DEFINE D AS price < PREV(price)"
FRAME = "PATTERN (A) DEFINE A AS price > avg(price) OVER (ROWS 2 PRECEDING)"
RISE = "MEASURES U.price AS high PATTERN (U) DEFINE U AS price > PREV(price)"


@pytest.fixture
def ticks(spark: SparkSession) -> DataFrame:
    """Return prices of A and B on six days."""
    prices = {"A": [10, 9, 8, 7, 9, 3], "B": [5, 6, 4, 3, 2, 9]}
    rows = [
        (key, day, price)
        for key, prices_of_key in prices.items()
        for day, price in enumerate(prices_of_key, 1)
    ]
    return spark.createDataFrame(rows, "k string, day int, price int")


def match_ticks(ticks: DataFrame, rules: Any, **options: Any) -> RuleMatches:
    """Match rules over the ticks, ordered by day and partitioned by k unless options differ."""
    arguments = {"order_by": "day", "partition_by": "k", **options}
    return matchrec.match_rules(ticks, rules, **arguments)


def show_rows(result: RuleMatches) -> list[tuple[Any, ...]]:
    """Return rule, version, key, number, start and end of each match, sorted."""
    columns = ("rule", "rule_version", "k", "match_number", "start_time", "end_time")
    return sorted(map(tuple, result.matches.select(*columns).collect()), key=str)


@pytest.mark.once
def test_a_version_has_the_rows_of_its_time_and_its_matches_do_not_cross_it(
    ticks: DataFrame,
) -> None:
    rules = {"fall": {None: FALL, 4: FALL.replace("D+", "D"), 6: None}, "rise": RISE}
    with settings(ticks.sparkSession, **INTERPRETED):
        result = match_ticks(ticks, rules).cache()
        assert show_rows(result) == [
            ("fall", 4, "B", 1, 4, 5),
            ("fall", None, "A", 1, 1, 3),
            ("fall", None, "B", 1, 2, 3),
            ("rise", None, "A", 1, 5, 5),
            ("rise", None, "B", 1, 2, 2),
            ("rise", None, "B", 2, 6, 6),
        ]
        lows = [tuple(row) for row in result.rule("fall").collect()]
        assert sorted(lows) == [("A", 8), ("B", 2), ("B", 4)]
    assert result.rules == ("fall", "rise")


@pytest.mark.once
def test_prev_does_not_read_rows_of_another_version(ticks: DataFrame) -> None:
    text = "PATTERN (U) DEFINE U AS price < PREV(price)"
    rules = {"all": text, "late": {3: text}, "later": {4: text}}
    with settings(ticks.sparkSession, **INTERPRETED):
        matched_rows = [
            row[:2] + row[4:5] for row in show_rows(match_ticks(ticks, rules)) if row[2] == "A"
        ]
    assert matched_rows == [
        *(("all", None, day) for day in (2, 3, 4, 6)),
        *(("late", 3, day) for day in (4, 6)),
        ("later", 4, 6),
    ]


@pytest.mark.once
def test_prev_does_not_read_rows_of_another_version_after_another_rule_has_failed(
    ticks: DataFrame,
) -> None:
    # The rule divides by zero in both partitions, after it has compared the prices of all days.
    failing = """PATTERN (U V) DEFINE U AS price < PREV(price),
        V AS 1 / (price - PREV(price) + 1) > 5"""
    rules = {"failing": failing, "late": {3: "PATTERN (U) DEFINE U AS price < PREV(price)"}}
    with settings(ticks.sparkSession, **INTERPRETED):
        result = match_ticks(ticks, rules, on_error="continue").cache()
        assert sorted(row["k"] for row in result.errors.collect()) == ["A", "B"]
        assert [(row[2], row[4]) for row in show_rows(result)] == [
            *(("A", day) for day in (4, 6)),
            *(("B", day) for day in (4, 5)),
        ]


ALIKE = """PATTERN SEQ(ANY a, ANY b) WHERE skip_till_next_match { [odd] AND a.price > b.price }
    RETURN a.day AS first, b.day AS last"""
TWINS = """MEASURES A.day AS d AFTER MATCH SKIP TO LAST B
    PATTERN (A B?) DEFINE A AS price > 8, B AS price = 8"""


@pytest.mark.once
def test_partitions_of_a_version_may_be_divided_and_may_fail(ticks: DataFrame) -> None:
    rows = ticks.selectExpr("*", "price % 2 AS odd")
    rules = {"alike": {None: ALIKE, 3: ALIKE, 6: None}, "twins": {2: TWINS, 5: TWINS}}
    with settings(ticks.sparkSession, **INTERPRETED):
        result = match_ticks(rows, rules, on_error="continue")
        pairs = Counter(map(tuple, result.rule("alike").collect()))
        failed = sorted(tuple(row)[:3] for row in result.errors.collect())
        expected: Counter[tuple[Any, ...]] = Counter()
        for days in ("day < 3", "day >= 3 AND day < 6"):
            matches = match_ticks(rows.where(days), {"alike": ALIKE}).rule("alike")
            expected += Counter(map(tuple, matches.collect()))
    assert pairs == expected != Counter()
    assert failed == [("twins", 5, "A"), ("twins", 5, "B")]
    assert [row[:6] for row in show_rows(result) if row[0] == "twins"] == [
        ("twins", 2, "A", 1, 2, 3)
    ]


@pytest.mark.once
def test_a_table_of_rules_matches_like_a_dict(ticks: DataFrame) -> None:
    rules = {"fall": {2: FALL, 5: None}, "rise": {3: RISE, 4: RISE}}
    spark = ticks.sparkSession
    rows = [(rule, text, day) for rule, versions in rules.items() for day, text in versions.items()]
    table = spark.createDataFrame(rows, "rule string, text string, valid_from int")
    with settings(spark, **INTERPRETED):
        expected = show_rows(match_ticks(ticks, rules))
        assert show_rows(match_ticks(ticks, table)) == expected != []
        assert (
            show_rows(match_ticks(ticks, lambda: table.withColumn("beside", table.rule)))
            == expected
        )


@pytest.mark.once
def test_invalid_rules_of_a_table_are_rejected(ticks: DataFrame) -> None:
    texts = {"rise": RISE, "open": "PATTERN (A", "other": "PATTERN (A) DEFINE A AS prise > 1"}
    texts["type"] = "MEASURES sqrt(A.price, 1) AS x PATTERN (A)"
    rows = [(name, text, None) for name, text in texts.items()]
    table = ticks.sparkSession.createDataFrame(rows, "rule string, text string, valid_from int")
    with pytest.warns(matchrec.warnings.RejectedRuleWarning, match="left out: rule `open`"):
        result = match_ticks(ticks, table, on_error="continue")
    assert result.rules == ("rise",)
    assert sorted(result.rejected) == ["open", "other", "type"]
    assert "unknown column `prise` in DEFINE" in str(result.rejected["other"])
    with pytest.raises(matchrec.MatchRecognizeError, match=r"^rule `open`: "):
        match_ticks(ticks, table)
    with pytest.raises(matchrec.MatchRecognizeError, match=r"^rule `open`: "):
        match_ticks(ticks, table.where("rule = 'open'"), on_error="continue")


FALLS = FALL.replace("D+", "D{:days,}") + " - :by"
PAIRS = """PATTERN SEQ(ANY a, ANY b)
WHERE skip_till_next_match { a.price > b.price + :by AND a.k = :k }
RETURN a.day AS first, b.day AS last"""
TABLE = "rule string, text string, valid_from int"
WITH_PARAMETERS = f"{TABLE}, parameters string"


@pytest.mark.once
def test_parameters_of_a_table_replace_placeholders_in_rules(ticks: DataFrame) -> None:
    spark = ticks.sparkSession
    rows = [
        ("fall", FALLS, None, '{"days": 1, "by": 0.5}'),
        ("fall", FALLS, 4, '{"by": -1e0, "days": 1}'),
        ("pair", PAIRS, None, '{"by": 0.5, "k": "B"}'),
        ("fall", None, 6, "{"),
    ]
    as_text = [
        ("fall", FALL + " - 0.5", None),
        ("fall", FALL + " - (-1e0)", 4),
        ("pair", PAIRS.replace(":by", "0.5").replace(":k", "'B'"), None),
        ("fall", None, 6),
    ]
    with settings(spark, **INTERPRETED):
        expected = show_rows(match_ticks(ticks, spark.createDataFrame(as_text, TABLE)))
        assert (
            show_rows(match_ticks(ticks, spark.createDataFrame(rows, WITH_PARAMETERS))) == expected
        )
    assert {row[:2] for row in expected} == {("fall", None), ("fall", 4), ("pair", None)}


@pytest.mark.once
@pytest.mark.parametrize("within", ["WITHIN :gap", "WITHIN INTERVAL :gap"])
def test_a_parameter_of_a_table_can_be_an_interval(ticks: DataFrame, within: str) -> None:
    """Prices 10, 9 and 8 of three days: the third day is two days after the first."""
    fall = FALL.replace("DEFINE", f"{within} DEFINE")
    rows = [("two", fall, None, '{"gap": "48 hours"}'), ("three", fall, None, '{"gap": "3 days"}')]
    table = ticks.sparkSession.createDataFrame(
        rows, "rule string, text string, valid_from timestamp, parameters string"
    )
    falls = ticks.where("k = 'A' AND day < 4").selectExpr(
        "k", "timestamp_seconds(86400 * day) AS at", "price"
    )
    with settings(ticks.sparkSession, **INTERPRETED):
        result = matchrec.match_rules(falls, table, order_by="at")
        assert [row.low for row in result.rule("two").collect()] == [9]
        assert [row.low for row in result.rule("three").collect()] == [8]


NEEDS_A_LENGTH = "needs a length of time"
HAS_NO_UNIT = "has a number without a unit"
LENGTHS = {
    "WITHIN :gap": (
        2,
        2,
        "but ORDER BY has type TIMESTAMP",
        "but ORDER BY has type TIMESTAMP",
        NEEDS_A_LENGTH,
    ),
    "WITHIN INTERVAL :gap": (2, 2, HAS_NO_UNIT, HAS_NO_UNIT, NEEDS_A_LENGTH),
    "WITHIN INTERVAL :gap MINUTE": (2, 2, 2, 2, NEEDS_A_LENGTH),
}


@pytest.mark.once
@pytest.mark.parametrize("within", LENGTHS)
def test_a_table_reads_an_interval_as_a_call_does(spark: SparkSession, within: str) -> None:
    """Rows at 0, 5, 10 and 15 minutes: two matches of rows less than 10 minutes apart."""
    rows = spark.sql("SELECT id AS n, timestamp_seconds(300 * id) AS at FROM range(4)")
    text = f"PATTERN (A B+) {within} DEFINE B AS n > 0"

    def count_matches_of_call(value: object) -> int:
        """Return the number of matches, with the value in a call."""
        clause = f"ORDER BY at MEASURES COUNT(*) AS k {text}"
        return matchrec.match_recognize(rows, clause, {"gap": value}).count()

    def count_matches_of_table(value: object) -> int:
        """Return the number of matches, with the value in a table of rules."""
        rule = ("x", text, None, dumps({"gap": value}))
        columns = "rule string, text string, valid_from timestamp, parameters string"
        table = spark.createDataFrame([rule], columns)
        return matchrec.match_rules(rows, table, order_by="at").matches.count()

    values = ("10 minutes", "INTERVAL '10' MINUTE", 10, "10", "rubbish")
    for value, expected in zip(values, LENGTHS[within], strict=True):
        for count in (count_matches_of_call, count_matches_of_table):
            if isinstance(expected, int):
                assert count(value) == expected
            else:
                with pytest.raises(matchrec.MatchRecognizeError, match=expected):
                    count(value)


@pytest.mark.once
def test_a_text_parameter_has_the_same_value_in_all_dialects(ticks: DataFrame) -> None:
    text = "MEASURES :t AS t PATTERN (A) DEFINE A AS day > 5"
    values = {"t": "a\\b'c"}
    table = ticks.sparkSession.createDataFrame([("x", text, None, dumps(values))], WITH_PARAMETERS)
    for dialect in ("spark", "oracle"):
        with settings(ticks.sparkSession, **INTERPRETED):
            matches = match_ticks(ticks, table, dialect=dialect).rule("x")
            assert {row.t for row in matches.collect()} == set(values.values())


WRONG_PARAMETERS: dict[str, tuple[str, str | None, str]] = {
    "another name": (FALLS, '{"days": 1, "bye": 1}', "parameter `:by` has no value"),
    "no parameters": (FALLS, None, "parameter `:days` has no value"),
    "one too many": (FALL, '{"by": 1}', "the clause has no parameter `:by`"),
    "no JSON": (FALL, "by=1", "the parameters are 'by=1', which is not a JSON object"),
    "a list": (FALLS, '{"days": [1], "by": 1}', "which is not a JSON object of numbers"),
    "a bound that is none": (FALLS, '{"days": "x", "by": 1}', "{:days,}"),
    "a column": (FALLS.replace("PREV(price)", "PREV(prise)"), '{"days": 1, "by": 1}', "`prise`"),
    "an event": (PAIRS.replace("b.price", "c.price"), '{"by": 1, "k": "A"}', "c.price + :by"),
}


@pytest.mark.once
def test_a_rule_with_wrong_parameters_is_left_out_and_shown_as_written(ticks: DataFrame) -> None:
    rows = [(name, text, None, values) for name, (text, values, _) in WRONG_PARAMETERS.items()]
    table = ticks.sparkSession.createDataFrame([("rise", RISE, None, "{}"), *rows], WITH_PARAMETERS)
    with pytest.warns(matchrec.warnings.RejectedRuleWarning):
        result = match_ticks(ticks, table, on_error="continue")
    assert result.rules == ("rise",)
    for name, (_, _, message) in WRONG_PARAMETERS.items():
        assert message in str(result.rejected[name]), name


ORDERS: dict[str, tuple[str, Any]] = {
    "instants": ("timestamp_seconds(day)", datetime.fromtimestamp(3)),
    "instants of a zone": ("timestamp_seconds(day)", datetime.fromtimestamp(3, timezone.utc)),
    "wall clocks": (
        "timestampadd(DAY, day, TIMESTAMP_NTZ'2026-01-01 00:00:00')",
        datetime(2026, 1, 4),
    ),
    "dates": ("date_add(DATE'2026-01-01', day)", date(2026, 1, 4)),
    "numbers": ("CAST(day AS BIGINT)", 3),
}


@pytest.mark.once
@pytest.mark.parametrize("name", ORDERS)
def test_versions_by_all_types_of_an_order(ticks: DataFrame, name: str) -> None:
    order, since = ORDERS[name]
    rows = ticks.selectExpr("k", "price", f"{order} AS day").where("k = 'A'")
    with settings(ticks.sparkSession, **INTERPRETED):
        result = match_ticks(rows, {"any": {since: "PATTERN (A)"}})
        (first, last) = result.matches.selectExpr("min(start_time)", "max(rule_version)").first()
        assert result.matches.count() == 4
        assert dict(result.matches.dtypes)["rule_version"] == dict(rows.dtypes)["day"]
    assert first == last
    table = rows.selectExpr("'any' AS rule", "'PATTERN (A)' AS text", "day AS valid_from").limit(1)
    with settings(ticks.sparkSession, **INTERPRETED):
        assert match_ticks(rows, table).matches.count() == len(rows.collect())


# Days beyond the years 1 to 9999, which are all that dates of Python have.
FAR_ORDERS = {
    "instants": "timestampadd(DAY, day, TIMESTAMP'+11998-12-15 00:00:00Z')",
    "wall clocks": "timestampadd(DAY, day, TIMESTAMP_NTZ'+11998-12-15 00:00:00')",
    "dates": "date_add(DATE'+11998-12-15', day)",
    "dates before Christ": "date_add(DATE'-0221-09-04', day)",
}


@pytest.mark.once
@pytest.mark.parametrize("name", FAR_ORDERS)
def test_versions_can_begin_beyond_the_years_of_python(ticks: DataFrame, name: str) -> None:
    rows = ticks.selectExpr("k", "price", f"{FAR_ORDERS[name]} AS day").where("k = 'A'")
    third_day = ticks.where("k = 'A' AND day = 3").selectExpr(f"{FAR_ORDERS[name]} AS valid_from")
    table = third_day.selectExpr("'any' AS rule", "'PATTERN (A)' AS text", "valid_from")
    with settings(ticks.sparkSession, **INTERPRETED):
        result = match_ticks(rows, table)
        versions = result.matches.selectExpr("CAST(rule_version AS STRING) AS text").collect()
    valid_from = third_day.selectExpr("CAST(valid_from AS STRING)").first()
    assert versions == [valid_from] * 4
    with pytest.raises(matchrec.MatchRecognizeError) as raised:
        match_ticks(rows, table.unionAll(table))
    assert str(valid_from[0]) in str(raised.value)


def make_table(columns: str) -> Callable[[DataFrame], DataFrame]:
    """Return a function that makes a table of rules with these columns."""
    return lambda ticks: ticks.sparkSession.range(2).selectExpr(*columns.split("; "))


TEXT = "'PATTERN (A)' AS text"
MESSAGES: dict[str, tuple[Any, dict[str, Any], str]] = {
    "a time of another type": (
        {"fall": {"monday": FALL}},
        {},
        "the valid_from of a version of rule `fall` is 'monday', of type str, which is not",
    ),
    "a time of NumPy": (
        {"fall": {np.datetime64("2024-01-01"): FALL}},
        {},
        "the valid_from of a version of rule `fall` is of type datetime64, which is not a",
    ),
    "a time of pandas": (
        {"fall": {pd.Timestamp("2024-01-01"): FALL}},
        {},
        "the valid_from of a version of rule `fall` is a pandas Timestamp, which is not a",
    ),
    "two at once": (
        make_table(f"'fall' AS rule; {TEXT}; 3 AS valid_from"),
        {},
        "rule `fall` has two versions that are valid from 3",
    ),
    "no times": (
        make_table(f"'fall' AS rule; {TEXT}"),
        {},
        "the table of rules has no column `valid_from`",
    ),
    "times of another type": (
        make_table(f"'fall' AS rule; {TEXT}; current_date() AS valid_from"),
        {},
        "column `valid_from` of the table of rules is of type date",
    ),
    "numbers as names": (
        make_table(f"id AS rule; {TEXT}; 3 AS valid_from"),
        {},
        "column `rule` of the table of rules is of type bigint",
    ),
    "no name": (
        make_table(f"IF(id = 1, 'x', NULL) AS rule; {TEXT}; NULL AS valid_from"),
        {},
        "missing name of a rule in a row of the table of rules",
    ),
    "an order of doubles": (
        make_table(f"'x' AS rule; {TEXT}; NULL AS valid_from"),
        {"order_by": "CAST(day AS DOUBLE)"},
        "versions of rules are not supported for rows ordered by `CAST(day AS DOUBLE)` of type",
    ),
    "only ends": ({"fall": {3: None}}, {}, "`rules` of `match_rules` is empty"),
    "an order of no sense": ({"fall": {3: FALL}}, {"order_by": "dai"}, "`dai`"),
    "another order": (
        {"fall": {3: FALL}},
        {"partition_by": ["k", "day"], "order_by": "k"},
        "versions of rules are not supported",
    ),
    "what Spark sorts": (
        {"fall": {3: FALL}},
        {"options": matchrec.Options(sort="engine")},
        (
            "versions of rules are not supported if the engine sorts the rows: "
            "the option sort is engine"
        ),
    ),
    "what only Spark computes": (
        {"fall": {3: FRAME}},
        {},
        "versions of rules are not supported if the engine sorts the rows: ",
    ),
    "what only Spark computes with these types": (
        {"fall": {3: "PATTERN (A) DEFINE A AS array(price) > PREV(array(price))"}},
        {},
        (
            "versions of rules are not supported if the engine sorts the rows: "
            "rule `fall, valid from 3`: "
        ),
    ),
    "a condition that is not boolean": (
        {"fall": {3: "PATTERN (A) DEFINE A AS PREV(price)"}},
        {},
        "rule `fall, valid from 3`: a condition in DEFINE must be boolean, but this is ",
    ),
    "a version that is no rule": (
        {"fall": {None: FALL, 3: "PATTERN (A"}},
        {},
        "rule `fall, valid from 3`: `(` is not closed in MATCH_RECOGNIZE",
    ),
}


@pytest.mark.once
@pytest.mark.parametrize("name", MESSAGES)
def test_wrong_versions_raise_an_error_that_says_why(ticks: DataFrame, name: str) -> None:
    rules, options, message = MESSAGES[name]
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        match_ticks(ticks, rules(ticks) if callable(rules) else rules, **options)
    assert message in str(caught.value).splitlines()[0]


@pytest.mark.parametrize(
    ("rule", "options", "help_line"),
    [
        (
            FALL,
            matchrec.Options(sort="engine"),
            'leave out options=matchrec.Options(sort="engine")',
        ),
        (FRAME, matchrec.Options(), "add a column to the input that has this value, or one that"),
    ],
)
def test_the_help_names_only_options_that_the_user_has_written(
    ticks: DataFrame, rule: str, options: matchrec.Options, help_line: str
) -> None:
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        match_ticks(ticks, {"fall": {3: rule}}, options=options)
    (shown_line,) = [line for line in str(caught.value).splitlines() if line.startswith("  help: ")]
    assert shown_line.startswith(f"  help: {help_line}")


@pytest.mark.once
@pytest.mark.parametrize("type_name", ["timestamp", "timestamp_ntz", "date"])
def test_nat_is_not_a_time(spark: SparkSession, type_name: str) -> None:
    rows = spark.createDataFrame([(1.0,)], "price double")
    rows = rows.selectExpr("price", f"CAST('2024-01-01' AS {type_name}) AS day")
    with pytest.raises(matchrec.MatchRecognizeError, match="`fall` is a pandas NaTType, which"):
        matchrec.match_rules(rows, {"fall": {pd.NaT: FALL}}, order_by="day")


@pytest.mark.once
def test_a_set_without_rules_has_help(ticks: DataFrame) -> None:
    table = make_table(f"'fall' AS rule; {TEXT}; CAST(id AS INT) AS valid_from")(ticks)
    only_ends = table.selectExpr("rule", "CAST(NULL AS STRING) AS text", "valid_from").limit(1)
    dict_help = 'write rules={"name": "PATTERN (...) DEFINE ..."}'
    table_help = "add a row with the name of a rule, and its text in column `text`"
    for rules, expected_help in (
        ({}, dict_help),
        ({"fall": {3: None}}, dict_help),
        (table.limit(0), table_help),
        (only_ends, table_help),
    ):
        with pytest.raises(matchrec.MatchRecognizeError, match="is empty") as caught:
            match_ticks(ticks, rules)
        assert caught.value.hint == expected_help


@pytest.mark.once
def test_versions_with_different_columns_have_no_common_result(ticks: DataFrame) -> None:
    result = match_ticks(ticks, {"x": {None: FALL, 3: RISE}})
    with pytest.raises(matchrec.MatchRecognizeError, match="versions of rule `x` have different"):
        result.rule("x")


# Random versions, over a table, and over a stream that knows more of them at each start.


def make_instant(second: int | None) -> datetime | None:
    """Return the time of a second since 1970, or None for None."""
    return None if second is None else datetime.fromtimestamp(second, timezone.utc)


def draw_versions(generator: random.Random) -> dict[str, Versions]:
    """Return rules whose texts change at random times, also back to an earlier text."""
    rules = {}
    for number in range(generator.randint(2, 4)):
        moments = sorted(generator.sample(range(100, 127), generator.randint(0, 3)))
        begins = [None, *moments] if generator.random() < 0.6 or not moments else moments
        contents = generator.sample([*RULES.values()], min(2, len(begins)))
        rules[f"rule {number}"] = {
            since: generator.choice([*contents, *contents, None]) if index else contents[0]
            for index, since in enumerate(begins)
        }
    return rules


def select_known(rules: dict[str, Versions], second: int) -> dict[str, Versions]:
    """Return the versions that are valid from a second or from an earlier one."""
    known_rules = {
        rule: {
            since: content
            for since, content in versions.items()
            if since is None or since <= second
        }
        for rule, versions in rules.items()
    }
    return {rule: versions for rule, versions in known_rules.items() if any(versions.values())}


def build_query(rules: dict[str, Versions]) -> Callable[[DataFrame], RuleMatches]:
    """Return a function that matches the rules over events."""
    by_time: Any = {
        rule: {make_instant(since): content for since, content in versions.items()}
        for rule, versions in rules.items()
    }
    return build_query_of_rules(by_time)


def list_rows(result: RuleMatches, rows: list[dict[str, Any]]) -> Counter[str]:
    """Return rows of the workers as text, with names of rules and without empty slots."""
    built = result._built_set

    def write_row(row: dict[str, Any]) -> str:
        """Return a row as text."""
        number = row[internal_names.RULE_NUMBER]
        reads = [row[internal_names.name_read(slot)] for slot in built.slots[number]]
        others = {name: value for name, value in row.items() if not name.startswith("__r")}
        return repr(
            (built.rule_set.rules[number].name, convert_value(others), convert_value(reads))
        )

    return Counter(map(write_row, rows))


def collect_rows(result: RuleMatches) -> Counter[str]:
    """Run a query and return its rows as `list_rows` does."""
    rows = [row.asDict(recursive=True) for row in result._built_set.rows.collect()]
    return list_rows(result, rows)


def run_each_version(events: DataFrame, rules: dict[str, Versions]) -> Counter[str]:
    """Return the rows that the text of each version gives over the rows of its time."""
    all_rows: Counter[str] = Counter()
    for rule, versions in rules.items():
        begins = [*versions, None]
        for index, (since, content) in enumerate(versions.items()):
            if content is None:
                continue
            until = begins[index + 1]
            rows = events
            rows = rows if since is None else rows.where(f"ts >= timestamp_seconds({since})")
            rows = rows if until is None else rows.where(f"ts < timestamp_seconds({until})")
            time = f"1970-01-01 00:{(since or 0) // 60:02}:{(since or 0) % 60:02} UTC"
            name = rule if since is None else f"{rule}, valid from {time}"
            all_rows += collect_rows(build_query_of_rules({name: content})(rows))
    return all_rows


@pytest.mark.parametrize("seed", batches(5))
def test_versions_match_like_each_text_over_the_rows_of_its_time(
    spark: SparkSession, seed: int
) -> None:
    generator = random.Random(seed)
    rows = draw_events(generator, [*"pqrstu", None])
    events = list_events(spark, sorted(rows, key=lambda row: row[1] + generator.choice((0, 0, 3))))
    rules = draw_versions(generator)
    with settings(spark, **INTERPRETED):
        result = build_query(rules)(events)
        expected = run_each_version(events, rules)
        assert collect_rows(result) == expected
        seconds = sorted(
            {since for versions in rules.values() for since in versions if since is not None}
        )
        starts = sorted(generator.sample(seconds, min(2, len(seconds))))
        streams = []
        for start in (*starts, LAST):
            known_rules = select_known(rules, start)
            if known_rules:
                stream = StreamedRules(build_query(known_rules), events, "ts")
                streams.append((stream, choose_later_second(seconds, start)))
    workers = [stream.worker for stream, _ in streams]
    queries = {
        build_rules_worker(worker.output, worker.event_layout).query_digest for worker in workers
    }
    assert len(queries) == 1, "each set of rules must be able to continue with the state of another"
    assert run_buckets(streams, generator) == expected


LAST = 10**6


def choose_later_second(seconds: list[int], start: int) -> int:
    """Return the first second after `start`, or LAST if there is none."""
    return min((second for second in seconds if second > start), default=LAST)


def run_buckets(streams: list[tuple[StreamedRules, int]], generator: random.Random) -> Counter[str]:
    """Send the events of each bucket in pieces to streams with more and more rules.

    Returns the rows that come back.

    Args:
        streams: a stream for each set of rules, with the second from which further rules are
            needed.
    """
    first_stream = streams[0][0]
    all_rows = Counter[str]()
    buckets = np.array([generator.randrange(3) for _ in first_stream.events_by_key])[
        first_stream.key_numbers
    ]
    delays = np.array([generator.choice((0, 0, 4000)) for _ in first_stream.events_by_key])[
        first_stream.key_numbers
    ]
    times = np.array(read_times(first_stream.events))
    for bucket in np.unique(buckets):
        events = np.flatnonzero(buckets == bucket)
        events = events[np.argsort((times + delays)[events], kind="stable")]
        group = FakeGroupState()
        stream_index = 0
        begin = 0
        for size, watermark in (
            *draw_pieces(times[events].tolist(), generator),
            (len(events), 10**15),
        ):
            piece = events[begin : begin + size]
            begin += size
            latest = times[piece].max(initial=group.watermark)
            stream_index = find_stream(latest, stream_index + (generator.random() < 0.1), streams)
            all_rows += run_piece(streams[stream_index][0], piece, group)
            group.watermark = max(group.watermark, watermark)
            if group.timer is not None and group.timer < group.watermark:
                stream_index = find_stream(group.watermark, stream_index, streams)
                all_rows += run_piece(streams[stream_index][0], piece[:0], group)
    return all_rows


def find_stream(latest: int, start: int, streams: list[tuple[StreamedRules, int]]) -> int:
    """Return the index of the first stream, from `start` on, with the rules of the newest row."""
    last = len(streams) - 1
    return next((n for n in range(start, last) if latest < 1000 * streams[n][1]), last)


def run_piece(stream: StreamedRules, piece: IntArray, group: FakeGroupState) -> Counter[str]:
    """Send a piece of a bucket to a stream and return the rows that come back."""
    return list_rows(stream.matches, list(stream.call_worker(stream.events.take(piece), group)))


# A stream that is started again with other rules.

SOON_TEXT = "PATTERN SEQ(a p, b q) WHERE skip_till_next_match { q.x > p.x } WITHIN 6 seconds"
HELD = "MEASURES A.x AS x PATTERN (A B) DEFINE A AS v = 'a', B AS v = 'b'"
OTHER = "MEASURES A.x AS x PATTERN (A B) DEFINE A AS v = 'a', B AS v = 'b' AND x > 1"
BEFORE: dict[str, Versions] = {
    "held": {None: HELD},
    "over": {None: OTHER, 110: None},
    "later": {200: OTHER},
}
AFTER: dict[str, tuple[dict[str, Versions], str | None]] = {
    "the same": ({}, None),
    "a new one": ({"new": {146: OTHER}}, None),
    "another text later": ({"held": {None: HELD, 146: OTHER}}, None),
    "an end": ({"held": {None: HELD, 146: None}}, None),
    "one forgotten that is over": ({"over": {}}, None),
    "one that has not begun": ({"later": {}}, None),
    "a new one too late": ({"new": {145: OTHER}}, "new, valid from 1970-01-01 00:02:25 UTC"),
    "a new one that was over": ({"new": {None: OTHER, 105: None}}, "new"),
    "another text": ({"held": {None: OTHER}}, "held"),
    "one that is gone": ({"held": {}}, "held"),
    "an end too late": ({"held": {None: HELD, 145: None}}, "held"),
}


@pytest.mark.once
@pytest.mark.parametrize("name", AFTER)
def test_a_change_must_not_concern_rows_that_the_stream_has_read(
    spark: SparkSession, name: str
) -> None:
    """The stream has read rows up to second 145, and its watermark is at 130."""
    changes, rule = AFTER[name]
    events = list_events(spark, [("p", 100 + 15 * i, "aabaz"[i], i) for i in range(5)])
    rules = {name: versions for name, versions in (BEFORE | changes).items() if versions}
    with settings(spark, **INTERPRETED):
        first = StreamedRules(build_query(BEFORE), events, "ts")
        restarted = StreamedRules(build_query(rules), events, "ts")
    (frame,) = first.events_by_key
    group = FakeGroupState()
    group.watermark = 130_000
    rows = list(first.call_worker(frame[:4], group))
    assert list_rows(first.matches, rows).total() == 1
    group.watermark = 140_000
    if rule is None:
        list(restarted.call_worker(restarted.events_by_key[0][4:], group))
        return
    with pytest.raises(matchrec.MatchRecognizeRunError) as caught:
        list(restarted.call_worker(restarted.events_by_key[0][4:], group))
    headline = f"rule `{rule}` has changed for rows that the stream has already read, up to "
    assert caught.value.message == f"{headline}1970-01-01 00:02:25 UTC"


@pytest.mark.once
def test_a_rule_that_ends_drops_its_state(spark: SparkSession) -> None:
    rows = [("pq"[i % 2], 100 + i, "a", i) for i in range(40)]
    waits = "PATTERN (A B) DEFINE A AS v = 'a', B AS v = 'b'"
    rules: dict[str, Versions] = {"waits": {None: "PATTERN (A+ B)" + waits[13:], 150: None}}
    with settings(spark, **INTERPRETED):
        streamed = StreamedRules(build_query(rules), list_events(spark, rows), "ts")
    group = FakeGroupState()
    group.watermark = 139_000
    list(streamed.call_worker(streamed.events, group))
    assert group.bucket_state.rows.num_rows == 40
    assert group.timer == 149_999
    group.watermark = 150_000
    list(streamed.call_worker(streamed.events[:0], group))
    assert (group.bucket_state.rows.num_rows, group.bucket_state.keys.num_rows) == (0, 0)


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Feed:
    """Return an empty feed."""
    return Feed(spark, tmp_path)


def format_time(second: int) -> str:
    """Return a second of 2026 as text."""
    return f"2026-01-01T00:{second // 60:02}:{second % 60:02}Z"


@dataclass(frozen=True)
class RuleTable:
    """A table of rules that grows, in a folder."""

    spark: SparkSession
    path: str

    def write(self, *rules: tuple[str, str | None, int | None], **parameters: str) -> None:
        """Write rules, each with the second from which it is valid, and some with parameters."""
        rows = [
            (rule, text, None if second is None else format_time(second), parameters.get(rule))
            for rule, text, second in rules
        ]
        table = self.spark.createDataFrame(rows, WITH_PARAMETERS.replace("int", "string"))
        table = table.withColumn("valid_from", table.valid_from.cast("timestamp"))
        table.write.mode("append").parquet(self.path)

    def read(self) -> DataFrame:
        """Read the table."""
        return self.spark.read.parquet(self.path)

    def matches(self, events: DataFrame) -> DataFrame:
        """Match the rules of the table over events."""
        return build_query_of_rules(self.read)(events).matches


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> RuleTable:
    """Return an empty table of rules."""
    return RuleTable(spark, str(tmp_path / "rules"))


LONG = "MEASURES A.x AS y PATTERN (A B+ C) DEFINE A AS v = :a, B AS v = 'b', C AS v = 'c'"
A = '{"a": "a"}'


@pytest.mark.slow
def test_a_restarted_stream_reads_new_rules_of_its_table(feed: Feed, table: RuleTable) -> None:
    """Open runs continue after the restart, except those of a rule that has changed."""
    table.write(("pair", HELD, None), ("long", LONG, None), ("bad", HELD, 4), long=A)
    feed.put([("p", 1, "a", 1), ("q", 2, "a", 2)], [("p", 5, "b", 3), ("p", 12, "b", 5)])
    assert feed.run(table.matches) == 0
    early = feed.rows()
    bad = OTHER.replace("1", ":least")
    table.write(("new", SOON_TEXT, 13), ("pair", None, 40), ("bad", bad, 14), bad='{"least": 1}')
    feed.put([("p", 13, "b", 4), ("q", 14, "b", 6), ("p", 16, "c", 1), ("q", 17, "a", 1)])
    feed.put([("q", 20, "b", 2), ("p", 50, "a", 1), ("p", 51, "b", 1)], [("q", 200, "z", 0)])
    feed.put([("p", 300, "z", 0), ("q", 300, "z", 0)], [("p", 400, "z", 0)])
    feed.run(table.matches)
    rows = feed.rows()
    assert set(early) < set(rows)
    assert rows == feed.at_once(table.matches)
    assert any("rule='long'" in row for row in rows), "a run was open when the rules changed"


@pytest.mark.night
def test_a_loop_starts_a_query_again_as_its_rules_change(feed: Feed, table: RuleTable) -> None:
    names: dict[str, Any] = {}
    page = Path(__file__).parents[2] / "docs" / "how-to" / "rule_streams.md"
    exec(
        next(block.code for block in read_blocks(page) if "def keep_matching" in block.code), names
    )
    queries: list[StreamingQuery] = []

    def start() -> StreamingQuery:
        """Start a query with the rules that the table has now."""
        stream = feed.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        events = stream.json(str(feed.source)).withWatermark("ts", "5 seconds")
        writer = table.matches(events).writeStream.format("parquet")
        writer = writer.option("checkpointLocation", feed.checkpoint)
        query = writer.trigger(processingTime="100 milliseconds").start(str(feed.result))
        queries.append(query)
        return query

    def add_events() -> None:
        """Add events while the query runs. New rules are known before the events they concern."""
        wait_for(lambda: len(queries) == 1)
        try:
            for number in range(12):
                event = ("p", 10 * number, "abc"[number % 3], 1)
                feed.put([event, ("q", 10 * number + 3, "ab"[number % 2], number)])
                if number in (3, 7):
                    count = len(queries)
                    table.write(("pair", None if number == 3 else HELD, 10 * number + 12))
                    wait_for(lambda count=count: len(queries) > count)
            feed.put([("p", 900, "z", 0), ("q", 900, "z", 0)], [("p", 1800, "z", 0)])
            queries[-1].processAllAvailable()
        finally:
            queries[-1].stop()

    table.write(("pair", HELD, None), ("long", LONG, None), long=A)
    feed.put([("p", 0, "a", 1)])
    with ThreadPoolExecutor() as pool:
        future = pool.submit(add_events)
        names["keep_matching"](start, table.read, seconds=1)
        future.result()
    assert len(queries) == 3
    assert feed.rows() == feed.at_once(table.matches) != []


def wait_for(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds, at most a minute."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize("since", [128, -129])
def test_a_version_begins_at_a_number_that_the_order_can_have(
    spark: SparkSession, since: int
) -> None:
    rows = spark.sql("SELECT CAST(1 AS TINYINT) AS t")
    text = "PATTERN (A) DEFINE A AS t > 0"
    table = spark.sql(f"SELECT 'r' AS rule, '{text}' AS text, {since}L AS valid_from")
    for rules in ({"r": {since: text}}, table):
        with pytest.raises(matchrec.MatchRecognizePlanError, match="a whole number of TINYINT"):
            matchrec.match_rules(rows, rules, order_by="t")
    result = matchrec.match_rules(rows, {"r": {-128: text, 127: None}}, order_by="t")
    assert result.matches.count() == 1
