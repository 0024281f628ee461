"""Rules that change: each version has the rows of its time, over a table and over a stream.

What comes of a version is what its text gives by itself over the rows of its time. A stream whose
rules become known little by little, with other sets of them at each start, gives the same.
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
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

import matchrec
from matchrec import Pattern, RuleMatches
from matchrec.search.partitions import IntArray
from matchrec.spark.streaming.bucket import build_bucket
from matchrec.worker import wire
from tests.pages.blocks import read_blocks
from tests.properties.test_queries import INTERPRETED, settings
from tests.quick.scale import batches
from tests.spark.test_rule_sets_over_streams import (
    RULES,
    convert_value,
    query_of_rules,
    random_events,
)
from tests.spark.test_streaming import SCHEMA, Feed, draw_pieces, list_events
from tests.tasks.stream_pieces import Group, StreamedRules, read_times

pytestmark = pytest.mark.filterwarnings("ignore::matchrec.warnings.MatchRecognizeWarning")

Content = str | Pattern | None
Versions = dict[int | None, Content]  # by the second from which they are valid
FALL = "MEASURES LAST(D.price) AS low PATTERN (S D+) DEFINE D AS price < PREV(price)"
RISE = "MEASURES U.price AS high PATTERN (U) DEFINE U AS price > PREV(price)"


@pytest.fixture
def ticks(spark: SparkSession) -> DataFrame:
    prices = {"A": [10, 9, 8, 7, 9, 3], "B": [5, 6, 4, 3, 2, 9]}
    rows = [(key, day, price) for key, each in prices.items() for day, price in enumerate(each, 1)]
    return spark.createDataFrame(rows, "k string, day int, price int")


def match(ticks: DataFrame, rules: Any, **options: Any) -> RuleMatches:
    asked = {"order_by": "day", "partition_by": "k", **options}
    return matchrec.match_rules(ticks, rules, **asked)


def show_rows(found: RuleMatches) -> list[tuple[Any, ...]]:
    columns = ("rule", "rule_version", "k", "match_number", "start_time", "end_time")
    return sorted(map(tuple, found.matches.select(*columns).collect()), key=str)


@pytest.mark.once
def test_a_version_has_the_rows_of_its_time_and_its_matches_do_not_cross_it(
    ticks: DataFrame,
) -> None:
    rules = {"fall": {None: FALL, 4: FALL.replace("D+", "D"), 6: None}, "rise": RISE}
    with settings(ticks.sparkSession, **INTERPRETED):
        found = match(ticks, rules).cache()
        assert show_rows(found) == [
            ("fall", 4, "B", 1, 4, 5),
            ("fall", None, "A", 1, 1, 3),
            ("fall", None, "B", 1, 2, 3),
            ("rise", None, "A", 1, 5, 5),
            ("rise", None, "B", 1, 2, 2),
            ("rise", None, "B", 2, 6, 6),
        ]
        lows = [tuple(row) for row in found.rule("fall").collect()]
        assert sorted(lows) == [("A", 8), ("B", 2), ("B", 4)]
    assert found.rules == ("fall", "rise")


@pytest.mark.once
def test_conditions_over_neighbours_see_those_of_their_version_only(ticks: DataFrame) -> None:
    one = "PATTERN (U) DEFINE U AS price < PREV(price)"
    rules = {"all": one, "late": {3: one}, "later": {4: one}}
    with settings(ticks.sparkSession, **INTERPRETED):
        found = [row[:2] + row[4:5] for row in show_rows(match(ticks, rules)) if row[2] == "A"]
    assert found == [
        *(("all", None, day) for day in (2, 3, 4, 6)),
        *(("late", 3, day) for day in (4, 6)),
        ("later", 4, 6),
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
        found = match(rows, rules, on_error="continue")
        pairs = Counter(map(tuple, found.rule("alike").collect()))
        failed = sorted(tuple(row)[:3] for row in found.errors.collect())
        expected: Counter[tuple[Any, ...]] = Counter()
        for days in ("day < 3", "day >= 3 AND day < 6"):
            each = match(rows.where(days), {"alike": ALIKE}).rule("alike")
            expected += Counter(map(tuple, each.collect()))
    assert pairs == expected != Counter()
    assert failed == [("twins", 5, "A"), ("twins", 5, "B")]
    assert [row[:6] for row in show_rows(found) if row[0] == "twins"] == [
        ("twins", 2, "A", 1, 2, 3)
    ]


@pytest.mark.once
def test_a_table_of_rules_gives_what_a_dict_of_them_gives(ticks: DataFrame) -> None:
    rules = {"fall": {2: FALL, 5: None}, "rise": {3: RISE, 4: RISE}}
    spark = ticks.sparkSession
    rows = [(rule, text, day) for rule, each in rules.items() for day, text in each.items()]
    table = spark.createDataFrame(rows, "rule string, text string, valid_from int")
    with settings(spark, **INTERPRETED):
        expected = show_rows(match(ticks, rules))
        assert show_rows(match(ticks, table)) == expected != []
        assert show_rows(match(ticks, lambda: table.withColumn("beside", table.rule))) == expected


@pytest.mark.once
def test_what_is_no_rule_is_left_out_and_named(ticks: DataFrame) -> None:
    texts = {"rise": RISE, "open": "PATTERN (A", "other": "PATTERN (A) DEFINE A AS prise > 1"}
    texts["type"] = "MEASURES sqrt(A.price, 1) AS x PATTERN (A)"
    rows = [(name, text, None) for name, text in texts.items()]
    table = ticks.sparkSession.createDataFrame(rows, "rule string, text string, valid_from int")
    with pytest.warns(matchrec.warnings.RejectedRuleWarning, match="left out: rule `open`"):
        found = match(ticks, table, on_error="continue")
    assert found.rules == ("rise",)
    assert sorted(found.rejected) == ["open", "other", "type"]
    assert "unknown column `prise` in DEFINE" in str(found.rejected["other"])
    with pytest.raises(matchrec.MatchRecognizeError, match=r"^rule `open`: "):
        match(ticks, table)
    with pytest.raises(matchrec.MatchRecognizeError, match=r"^rule `open`: "):
        match(ticks, table.where("rule = 'open'"), on_error="continue")


FALLS = FALL.replace("D+", "D{:days,}") + " - :by"
PAIRS = """PATTERN SEQ(ANY a, ANY b)
WHERE skip_till_next_match { a.price > b.price + :by AND a.k = :k }
RETURN a.day AS first, b.day AS last"""
TABLE = "rule string, text string, valid_from int"
WITH_PARAMETERS = f"{TABLE}, parameters string"


@pytest.mark.once
def test_parameters_of_a_table_are_put_into_the_texts_of_rules(ticks: DataFrame) -> None:
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
        expected = show_rows(match(ticks, spark.createDataFrame(as_text, TABLE)))
        assert show_rows(match(ticks, spark.createDataFrame(rows, WITH_PARAMETERS))) == expected
    assert {row[:2] for row in expected} == {("fall", None), ("fall", 4), ("pair", None)}


@pytest.mark.once
@pytest.mark.parametrize("within", ["WITHIN :gap", "WITHIN INTERVAL :gap"])
def test_a_parameter_is_an_interval(ticks: DataFrame, within: str) -> None:
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
        found = matchrec.match_rules(falls, table, order_by="at")
        assert [row.low for row in found.rule("two").collect()] == [9]
        assert [row.low for row in found.rule("three").collect()] == [8]


UNREAD = "needs a length of time"
ALONE = "has a number without a unit"
LENGTHS = {
    "WITHIN :gap": (2, 2, "is not a distance along", "is not a distance along", UNREAD),
    "WITHIN INTERVAL :gap": (2, 2, ALONE, ALONE, UNREAD),
    "WITHIN INTERVAL :gap MINUTE": (2, 2, 2, 2, UNREAD),
}


@pytest.mark.once
@pytest.mark.parametrize("within", LENGTHS)
def test_a_table_reads_an_interval_as_a_call_does(spark: SparkSession, within: str) -> None:
    """Rows at 0, 5, 10 and 15 minutes: two matches of rows that lie less than 10 minutes apart."""
    rows = spark.sql("SELECT id AS n, timestamp_seconds(300 * id) AS at FROM range(4)")
    text = f"PATTERN (A B+) {within} DEFINE B AS n > 0"

    def matches_of_call(value: object) -> int:
        clause = f"ORDER BY at MEASURES COUNT(*) AS k {text}"
        return matchrec.match_recognize(rows, clause, {"gap": value}).count()

    def matches_of_table(value: object) -> int:
        rule = ("x", text, None, dumps({"gap": value}))
        columns = "rule string, text string, valid_from timestamp, parameters string"
        table = spark.createDataFrame([rule], columns)
        return matchrec.match_rules(rows, table, order_by="at").matches.count()

    values = ("10 minutes", "INTERVAL '10' MINUTE", 10, "10", "rubbish")
    for value, expected in zip(values, LENGTHS[within], strict=True):
        for count in (matches_of_call, matches_of_table):
            if isinstance(expected, int):
                assert count(value) == expected
            else:
                with pytest.raises(matchrec.MatchRecognizeError, match=expected):
                    count(value)


@pytest.mark.once
def test_a_text_in_parameters_is_the_same_in_all_dialects(ticks: DataFrame) -> None:
    text, values = "MEASURES :t AS t PATTERN (A) DEFINE A AS day > 5", {"t": "a\\b'c"}
    table = ticks.sparkSession.createDataFrame([("x", text, None, dumps(values))], WITH_PARAMETERS)
    for dialect in ("spark", "oracle"):
        with settings(ticks.sparkSession, **INTERPRETED):
            found = match(ticks, table, dialect=dialect).rule("x")
            assert {row.t for row in found.collect()} == set(values.values())


WRONG: dict[str, tuple[str, str | None, str]] = {
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
    rows = [(name, text, None, values) for name, (text, values, _) in WRONG.items()]
    table = ticks.sparkSession.createDataFrame([("rise", RISE, None, "{}"), *rows], WITH_PARAMETERS)
    with pytest.warns(matchrec.warnings.RejectedRuleWarning):
        found = match(ticks, table, on_error="continue")
    assert found.rules == ("rise",)
    for name, (_, _, words) in WRONG.items():
        assert words in str(found.rejected[name]), name


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
        found = match(rows, {"any": {since: "PATTERN (A)"}})
        (first, last) = found.matches.selectExpr("min(start_time)", "max(rule_version)").first()
        assert found.matches.count() == 4
        assert dict(found.matches.dtypes)["rule_version"] == dict(rows.dtypes)["day"]
    assert first == last
    table = rows.selectExpr("'any' AS rule", "'PATTERN (A)' AS text", "day AS valid_from").limit(1)
    with settings(ticks.sparkSession, **INTERPRETED):
        assert match(rows, table).matches.count() == len(rows.collect())


def table_of(columns: str) -> Callable[[DataFrame], DataFrame]:
    return lambda ticks: ticks.sparkSession.range(2).selectExpr(*columns.split("; "))


TEXT = "'PATTERN (A)' AS text"
MESSAGES: dict[str, tuple[Any, dict[str, Any], str]] = {
    "a time of another type": (
        {"fall": {"monday": FALL}},
        {},
        "a version of rule `fall` is valid from 'monday', of type str",
    ),
    "two at once": (
        table_of(f"'fall' AS rule; {TEXT}; 3 AS valid_from"),
        {},
        "rule `fall` has two versions that are valid from 3",
    ),
    "no times": (
        table_of(f"'fall' AS rule; {TEXT}"),
        {},
        "the table of rules has no column `valid_from`",
    ),
    "times of another type": (
        table_of(f"'fall' AS rule; {TEXT}; current_date() AS valid_from"),
        {},
        "column `valid_from` of the table of rules is of type date",
    ),
    "numbers as names": (
        table_of(f"id AS rule; {TEXT}; 3 AS valid_from"),
        {},
        "column `rule` of the table of rules is of type bigint",
    ),
    "no name": (
        table_of(f"IF(id = 1, 'x', NULL) AS rule; {TEXT}; NULL AS valid_from"),
        {},
        "missing name of a rule in a row of the table of rules",
    ),
    "an order of doubles": (
        table_of(f"'x' AS rule; {TEXT}; NULL AS valid_from"),
        {"order_by": "CAST(day AS DOUBLE)"},
        "times of rules are not supported for rows ordered by CAST(day AS DOUBLE) of type double",
    ),
    "only ends": ({"fall": {3: None}}, {}, "`rules` of `match_rules` is empty"),
    "an order of no sense": ({"fall": {3: FALL}}, {"order_by": "dai"}, "`dai`"),
    "another order": (
        {"fall": {3: FALL}},
        {"partition_by": ["k", "day"], "order_by": "k"},
        "times of",
    ),
    "what Spark sorts": (
        {"fall": {3: FALL}},
        {"options": matchrec.Options(sort="engine")},
        (
            "rules with times are not supported if the engine sorts the rows: "
            "the option sort is engine"
        ),
    ),
    "what only Spark computes": (
        {"fall": {3: "PATTERN (A) DEFINE A AS price > avg(price) OVER (ROWS 2 PRECEDING)"}},
        {},
        "rules with times are not supported if the engine sorts the rows: ",
    ),
    "what only Spark computes with these types": (
        {"fall": {3: "PATTERN (A) DEFINE A AS array(price) > PREV(array(price))"}},
        {},
        (
            "rules with times are not supported if the engine sorts the rows: "
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
        "rule `fall, valid from 3`: parenthesis of PATTERN is not closed",
    ),
}


@pytest.mark.once
@pytest.mark.parametrize("name", MESSAGES)
def test_what_is_wrong_with_versions_is_said(ticks: DataFrame, name: str) -> None:
    rules, options, message = MESSAGES[name]
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        match(ticks, rules(ticks) if callable(rules) else rules, **options)
    assert message in str(caught.value).splitlines()[0]


@pytest.mark.once
def test_versions_with_other_columns_have_no_result_in_common(ticks: DataFrame) -> None:
    found = match(ticks, {"x": {None: FALL, 3: RISE}})
    with pytest.raises(matchrec.MatchRecognizeError, match="versions of rule `x` have different"):
        found.rule("x")


# Random versions, over a table and over a stream in pieces, with other sets of them as it goes on.


def instant(second: int | None) -> datetime | None:
    return None if second is None else datetime.fromtimestamp(second, timezone.utc)


def random_versions(rnd: random.Random) -> dict[str, Versions]:
    """Return rules that change at some moments, to others of all kinds, and back."""
    found = {}
    for number in range(rnd.randint(2, 4)):
        moments = sorted(rnd.sample(range(100, 127), rnd.randint(0, 3)))
        begins = [None, *moments] if rnd.random() < 0.6 or not moments else moments
        contents = rnd.sample([*RULES.values()], min(2, len(begins)))
        found[f"rule {number}"] = {
            since: rnd.choice([*contents, *contents, None]) if place else contents[0]
            for place, since in enumerate(begins)
        }
    return found


def select_known(rules: dict[str, Versions], second: int) -> dict[str, Versions]:
    """Return what of the rules is valid from a second on, or earlier."""
    own = {
        rule: {since: one for since, one in each.items() if since is None or since <= second}
        for rule, each in rules.items()
    }
    return {rule: each for rule, each in own.items() if any(each.values())}


def build_query(rules: dict[str, Versions]) -> Callable[[DataFrame], RuleMatches]:
    by_time: Any = {
        rule: {instant(since): one for since, one in each.items()} for rule, each in rules.items()
    }
    return query_of_rules(by_time)


def list_rows(found: RuleMatches, rows: list[dict[str, Any]]) -> Counter[str]:
    """Return rows of the workers as text, with the names of their rules and without empty slots."""
    built = found._built

    def text(row: dict[str, Any]) -> str:
        number = row[wire.RULE]
        reads = [row[wire.read(slot)] for slot in built.slots[number]]
        others = {name: one for name, one in row.items() if not name.startswith("__r")}
        return repr(
            (built.rule_set.rules[number].name, convert_value(others), convert_value(reads))
        )

    return Counter(map(text, rows))


def collect_rows(found: RuleMatches) -> Counter[str]:
    rows = [row.asDict(recursive=True) for row in found._built.rows.collect()]
    return list_rows(found, rows)


def run_each_version(events: DataFrame, rules: dict[str, Versions]) -> Counter[str]:
    """Return what the text of each version gives over the rows of its time."""
    found: Counter[str] = Counter()
    for rule, versions in rules.items():
        begins = [*versions, None]
        for place, (since, content) in enumerate(versions.items()):
            if content is None:
                continue
            until, rows = begins[place + 1], events
            rows = rows if since is None else rows.where(f"ts >= timestamp_seconds({since})")
            rows = rows if until is None else rows.where(f"ts < timestamp_seconds({until})")
            time = f"1970-01-01 00:{(since or 0) // 60:02}:{(since or 0) % 60:02} UTC"
            name = rule if since is None else f"{rule}, valid from {time}"
            found += collect_rows(query_of_rules({name: content})(rows))
    return found


@pytest.mark.parametrize("seed", batches(5))
def test_versions_give_what_each_gives_by_itself(spark: SparkSession, seed: int) -> None:
    rnd = random.Random(seed)
    rows = random_events(rnd, [*"pqrstu", None])
    events = list_events(spark, sorted(rows, key=lambda row: row[1] + rnd.choice((0, 0, 3))))
    rules = random_versions(rnd)
    with settings(spark, **INTERPRETED):
        whole = build_query(rules)(events)
        expected = run_each_version(events, rules)
        assert collect_rows(whole) == expected
        seconds = sorted({since for each in rules.values() for since in each if since is not None})
        starts = sorted(rnd.sample(seconds, min(2, len(seconds))))
        known_until = [
            (select_known(rules, one), choose_later_second(seconds, one)) for one in (*starts, LAST)
        ]
        streams = [
            (StreamedRules(build_query(one), events, "ts"), until)
            for one, until in known_until
            if one
        ]
    queries = {build_bucket(one.bucket.rules, one.bucket.arriving).query for one, _ in streams}
    assert len(queries) == 1, "any set goes on with the state of another"
    assert come_out(streams, rnd) == expected


LAST = 10**6


def choose_later_second(seconds: list[int], one: int) -> int:
    """Return the next of the seconds, or one that does not come."""
    return min((second for second in seconds if second > one), default=LAST)


def come_out(streams: list[tuple[StreamedRules, int]], rnd: random.Random) -> Counter[str]:
    """Return the rows of buckets whose events come in pieces, searched for more and more rules.

    streams: for sets of rules, each with the second before which its events must be, as other
    rules are not known.
    """
    keys, found = streams[0][0], Counter[str]()
    bucket = np.array([rnd.randrange(3) for _ in keys.by_key])[keys.number]
    later = np.array([rnd.choice((0, 0, 4000)) for _ in keys.by_key])[keys.number]
    come = np.array(read_times(keys.frame))
    for one in np.unique(bucket):
        events = np.flatnonzero(bucket == one)
        events = events[np.argsort((come + later)[events], kind="stable")]
        group, place, begin = Group(), 0, 0
        for size, watermark in (*draw_pieces(come[events].tolist(), rnd), (len(events), 10**15)):
            piece = events[begin : begin + size]
            begin += size
            latest = come[piece].max(initial=group.watermark)
            place = find_first_knowing(latest, place + (rnd.random() < 0.1), streams)
            found += rows_of_piece(streams[place][0], piece, group)
            group.watermark = max(group.watermark, watermark)
            if group.timer is not None and group.timer < group.watermark:
                place = find_first_knowing(group.watermark, place, streams)
                found += rows_of_piece(streams[place][0], piece[:0], group)
    return found


def find_first_knowing(latest: int, place: int, streams: list[tuple[StreamedRules, int]]) -> int:
    """Return the first set, from a place on, that knows the rules of the newest row."""
    last = len(streams) - 1
    return next((n for n in range(place, last) if latest < 1000 * streams[n][1]), last)


def rows_of_piece(stream: StreamedRules, piece: IntArray, group: Group) -> Counter[str]:
    return list_rows(stream.found, list(stream.batch(stream.frame.take(piece), group)))


# A stream that goes on with other rules.

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
def test_what_has_come_is_searched_for_the_rules_of_its_time(
    spark: SparkSession, name: str
) -> None:
    """Rows have come up to 145, of which the watermark has passed 130."""
    changes, rule = AFTER[name]
    events = list_events(spark, [("p", 100 + 15 * i, "aabaz"[i], i) for i in range(5)])
    rules = {name: each for name, each in (BEFORE | changes).items() if each}
    with settings(spark, **INTERPRETED):
        first = StreamedRules(build_query(BEFORE), events, "ts")
        then = StreamedRules(build_query(rules), events, "ts")
    (frame,), group = first.by_key, Group()
    group.watermark = 130_000
    found = list(first.batch(frame[:4], group))
    assert list_rows(first.found, found).total() == 1
    group.watermark = 140_000
    if rule is None:
        list(then.batch(then.by_key[0][4:], group))
        return
    with pytest.raises(matchrec.MatchRecognizeRunError) as caught:
        list(then.batch(then.by_key[0][4:], group))
    said = f"rule `{rule}` has changed for rows that the stream has already read, up to "
    assert caught.value.message == f"{said}1970-01-01 00:02:25 UTC"


@pytest.mark.once
def test_a_rule_that_ends_lets_go_of_its_state(spark: SparkSession) -> None:
    rows = [("pq"[i % 2], 100 + i, "a", i) for i in range(40)]
    waits = "PATTERN (A B) DEFINE A AS v = 'a', B AS v = 'b'"
    rules: dict[str, Versions] = {"waits": {None: "PATTERN (A+ B)" + waits[13:], 150: None}}
    with settings(spark, **INTERPRETED):
        streamed = StreamedRules(build_query(rules), list_events(spark, rows), "ts")
    group = Group()
    group.watermark = 139_000
    list(streamed.batch(streamed.frame, group))
    assert group.memory.rows.num_rows == 40
    assert group.timer == 149_999
    group.watermark = 150_000
    list(streamed.batch(streamed.frame[:0], group))
    assert (group.memory.rows.num_rows, group.memory.keys.num_rows) == (0, 0)


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Feed:
    return Feed(spark, tmp_path)


def moment(second: int) -> str:
    return f"2026-01-01T00:{second // 60:02}:{second % 60:02}Z"


@dataclass(frozen=True)
class RuleTable:
    """A table of rules that grows, in a folder."""

    spark: SparkSession
    path: str

    def write(self, *rules: tuple[str, str | None, int | None], **parameters: str) -> None:
        """Write rules, each with the second from which it is valid, and some with parameters."""
        rows = [
            (rule, text, None if at is None else moment(at), parameters.get(rule))
            for rule, text, at in rules
        ]
        table = self.spark.createDataFrame(rows, WITH_PARAMETERS.replace("int", "string"))
        table = table.withColumn("valid_from", table.valid_from.cast("timestamp"))
        table.write.mode("append").parquet(self.path)

    def read(self) -> DataFrame:
        return self.spark.read.parquet(self.path)

    def matches(self, events: DataFrame) -> DataFrame:
        return query_of_rules(self.read)(events).matches


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> RuleTable:
    return RuleTable(spark, str(tmp_path / "rules"))


LONG = "MEASURES A.x AS y PATTERN (A B+ C) DEFINE A AS v = :a, B AS v = 'b', C AS v = 'c'"
A = '{"a": "a"}'


@pytest.mark.slow
def test_a_stream_goes_on_with_the_rules_of_a_table_that_grows(
    feed: Feed, table: RuleTable
) -> None:
    """Runs that are open when it stops go on, but for those of a rule that changes."""
    write, matches = table.write, table.matches
    write(("pair", HELD, None), ("long", LONG, None), ("bad", HELD, 4), long=A)
    feed.put([("p", 1, "a", 1), ("q", 2, "a", 2)], [("p", 5, "b", 3), ("p", 12, "b", 5)])
    assert feed.run(matches) == 0
    early = feed.rows()
    bad = OTHER.replace("1", ":least")
    write(("new", SOON_TEXT, 13), ("pair", None, 40), ("bad", bad, 14), bad='{"least": 1}')
    feed.put([("p", 13, "b", 4), ("q", 14, "b", 6), ("p", 16, "c", 1), ("q", 17, "a", 1)])
    feed.put([("q", 20, "b", 2), ("p", 50, "a", 1), ("p", 51, "b", 1)], [("q", 200, "z", 0)])
    feed.put([("p", 300, "z", 0), ("q", 300, "z", 0)], [("p", 400, "z", 0)])
    feed.run(matches)
    found = feed.rows()
    assert set(early) < set(found)
    assert found == feed.at_once(matches)
    assert any("rule='long'" in row for row in found), "its run was open when the rules changed"


@pytest.mark.night
def test_a_loop_starts_a_query_again_as_its_rules_change(feed: Feed, table: RuleTable) -> None:
    names: dict[str, Any] = {}
    page = Path(__file__).parents[2] / "docs" / "how-to" / "rule_streams.md"
    exec(
        next(block.code for block in read_blocks(page) if "def keep_matching" in block.code), names
    )
    started: list[StreamingQuery] = []

    def start() -> StreamingQuery:
        stream = feed.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        events = stream.json(str(feed.source)).withWatermark("ts", "5 seconds")
        writer = table.matches(events).writeStream.format("parquet")
        writer = writer.option("checkpointLocation", feed.checkpoint)
        started.append(writer.trigger(processingTime="100 milliseconds").start(str(feed.result)))
        return started[-1]

    def come() -> None:
        """Add events while the query runs. New rules are known before the events they concern."""
        wait_for(lambda: len(started) == 1)
        try:
            for number in range(12):
                own = ("p", 10 * number, "abc"[number % 3], 1)
                feed.put([own, ("q", 10 * number + 3, "ab"[number % 2], number)])
                if number in (3, 7):
                    count = len(started)
                    table.write(("pair", None if number == 3 else HELD, 10 * number + 12))
                    wait_for(lambda count=count: len(started) > count)
            feed.put([("p", 900, "z", 0), ("q", 900, "z", 0)], [("p", 1800, "z", 0)])
            started[-1].processAllAvailable()
        finally:
            started[-1].stop()

    table.write(("pair", HELD, None), ("long", LONG, None), long=A)
    feed.put([("p", 0, "a", 1)])
    with ThreadPoolExecutor() as pool:
        coming = pool.submit(come)
        names["keep_matching"](start, table.read, seconds=1)
        coming.result()
    assert len(started) == 3
    assert feed.rows() == feed.at_once(table.matches) != []


def wait_for(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
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
    found = matchrec.match_rules(rows, {"r": {-128: text, 127: None}}, order_by="t")
    assert found.matches.count() == 1
