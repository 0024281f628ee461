"""`match_pattern` over DataFrames: its arguments, and the form of its results.

The matches themselves are tested in `tests/cases/patterns`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as sql

import matchrec
from matchrec import AfterMatch, Pattern

pytestmark = pytest.mark.one_of(2)

A = Pattern.begin("a").where("kind = 'a'")
SOON = A.followed_by("b").where("kind = 'b'").within("3 seconds")


@pytest.fixture
def events(spark: SparkSession) -> DataFrame:
    """Return events of kinds a, b and c for two keys, one second apart."""
    rows = [
        (key, kind, second)
        for key, kinds in (("x", "abcab"), ("y", "a"))
        for second, kind in enumerate(kinds)
    ]
    frame = spark.createDataFrame(rows, "key string, kind string, second int")
    return frame.selectExpr("*", "timestamp_seconds(second) AS time")


def find_matches(events: DataFrame, pattern: Pattern, **arguments: Any) -> list[Row]:
    """Return the matches of a pattern, sorted by time for each key."""
    return matchrec.match_pattern(
        events, pattern, order_by="time", partition_by="key", **arguments
    ).collect()


def test_output_matches_has_a_row_for_each_match(events: DataFrame) -> None:
    first, second = find_matches(events, SOON)
    assert (first.key, first.match_number, second.match_number) == ("x", 1, 2)
    assert second.start_time.second == 3
    assert [row.second for row in second.a] == [3]
    assert [row.asDict() for row in second.b] == [
        {"key": "x", "kind": "b", "second": 4, "time": second.end_time}
    ]


def test_an_absent_stage_is_an_empty_array(events: DataFrame) -> None:
    maybe = A.next("n").where("kind = 'n'").optional().next("b").where("kind = 'b'")
    assert [row.n for row in find_matches(events, maybe)] == [[], []]


def test_output_events_has_a_row_for_each_event(events: DataFrame) -> None:
    rows = find_matches(events, SOON, output="events")
    assert [(row.match_number, row.stage, row.second) for row in rows] == [
        (1, "a", 0),
        (1, "b", 1),
        (2, "a", 3),
        (2, "b", 4),
    ]


@pytest.mark.parametrize("algorithm", ["breadth_first", "backtracking"])
def test_timed_out_runs(events: DataFrame, algorithm: str) -> None:
    options = matchrec.Options(algorithm=algorithm)
    rows = [
        row
        for row in find_matches(
            events.drop("time").withColumnRenamed("second", "time"),
            Pattern((*SOON._stages[:-1], replace(SOON._stages[-1], match_window=None))).within(3),
            timeouts=True,
            options=options,
        )
        if row.match_number is None
    ]
    assert [(row.key, row.timed_out_at, row.b) for row in rows] == [("y", 3, [])]


@pytest.mark.parametrize("kind", ["decimal(10, 2)", "decimal(38, 10)", "double"])
def test_ends_of_windows_along_decimals_are_compared(events: DataFrame, kind: str) -> None:
    """The ends of both windows are compared, although they have different numbers of digits."""
    pattern = A.followed_by("b").where("kind = 'b'").within("0.75", "previous_to_current")
    rows = matchrec.match_pattern(
        events.selectExpr("key", "kind", f"CAST(second AS {kind}) / 2 AS time"),
        pattern.within("1"),
        order_by="time",
        partition_by="key",
        timeouts=True,
    ).collect()
    matches = {(row.key, float(row.start_time), row.match_number) for row in rows}
    assert matches == {("x", 0.0, 1), ("x", 1.5, 2), ("y", 0.0, None)}
    assert [float(row.timed_out_at) for row in rows if row.match_number is None] == [0.75]


def test_a_condition_can_be_a_column(events: DataFrame) -> None:
    kind = sql.col("kind")
    pattern = Pattern.begin("a").where(kind == "a").followed_by("b").where(kind.isin("b", "c"))
    rows = find_matches(events, pattern.within(timedelta(seconds=3)))
    assert [[event.second for event in row.b] for row in rows] == [[1], [4]]
    assert "__condition_0" not in rows[0].asDict()


def test_after_match_strategies_skip_matches(events: DataFrame) -> None:
    all_pairs = A.followed_by_any("b").where("kind = 'b'")
    assert len(find_matches(events, all_pairs)) == 3
    assert len(find_matches(events, all_pairs.after_match(AfterMatch.SKIP_TO_NEXT))) == 2
    assert len(find_matches(events, all_pairs.after_match(AfterMatch.skip_to_last("b")))) == 2


def test_a_skip_to_an_unknown_stage_suggests_the_last_one(events: DataFrame) -> None:
    pairs = A.followed_by("b").after_match(AfterMatch.skip_to_last("zz"))
    with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
        find_matches(events, pairs)
    assert str(caught.value) == (
        "unknown stage `zz` in skip_to_last() [unknown-skip-target]\n"
        "  note: stages: a, b\n"
        "  help: write skip_to_last('b')"
    )


def test_a_missed_stage_is_an_error_that_names_the_partition(events: DataFrame) -> None:
    maybe = A.next("b").where("kind = 'b'").optional()
    with pytest.raises(Exception, match=r"(?s)no event of it.*`key` = 'x'"):
        find_matches(events, maybe.after_match(AfterMatch.skip_to_first("b").throw_on_miss()))


@pytest.mark.parametrize(
    "pattern",
    [
        A.next("b").where("kind <> 'a'").one_or_more().consecutive(),
        SOON,
        A.followed_by_any("b").where("kind = 'b'").followed_by_any("c").optional(),
        A.followed_by_any("b")
        .where("kind = 'b' AND second > last(a.second)")
        .times(1, 2)
        .allow_combinations(),
    ],
)
def test_a_transpiled_pattern_gives_the_same_matches(
    spark: SparkSession, events: DataFrame, pattern: Pattern
) -> None:
    query = matchrec.transpile(pattern, events="{events}", order_by="time", partition_by="key")
    rows = matchrec.sql(spark, query.text, events=events).collect()
    expected = Counter(
        (row.key, row.start_time, row.end_time) for row in find_matches(events, pattern)
    )
    assert Counter((row.key, row.start_time, row.end_time) for row in rows) == expected


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (A.next("b").followed_by("c"), "mixes next and followed_by"),
        (A.followed_by("b").one_or_more(), "stage `b` takes or skips events in another way"),
        (A.next("b").where("count(b) < 2").one_or_more().consecutive(), "its own earlier events"),
    ],
)
def test_patterns_without_sql_are_rejected(pattern: Pattern, message: str) -> None:
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match=message):
        matchrec.transpile(pattern, events="t", order_by="time")


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("second > sum(second)", r"sum in where\(\) of stage `a` does not name a stage"),
        (
            "second > sum(c.second)",
            "(?s)unknown stage `c` in sum .*note: stages: a\n  help: write a$",
        ),
        (
            "second > PREV(second)",
            (
                r"(?s)PREV and NEXT are not supported in where\(\) of stage `a`"
                r".*help: write last\(a\.second\) for the last event so far of stage a$"
            ),
        ),
        ("second + 1", "^a condition must be boolean, but this is int"),
    ],
)
def test_messages_show_the_condition(events: DataFrame, condition: str, message: str) -> None:
    with pytest.raises(matchrec.MatchRecognizeError, match=message):
        find_matches(events, Pattern.begin("a").where(condition))


@pytest.mark.parametrize(
    ("pattern", "call", "position", "excerpt"),
    [
        (Pattern.begin("a").where("kimd = 'a'"), "where() of stage `a`", (1, 1), "kimd = 'a'"),
        (
            Pattern.begin("a").where("second > 1").or_where("second > 2 AND\n  kimd = 'a'"),
            "or_where() of stage `a`",
            (2, 3),
            "kimd = 'a'",
        ),
        (
            A.next(Pattern.begin("b").next("c")).one_or_more().until("kimd = 'z'"),
            "until() of group (stage `b`, stage `c`)",
            (1, 1),
            "kimd = 'z'",
        ),
    ],
)
def test_a_mistake_in_a_condition_is_marked_in_its_call(
    events: DataFrame, pattern: Pattern, call: str, position: tuple[int, int], excerpt: str
) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
        find_matches(events, pattern)
    line, column = position
    assert (caught.value.line, caught.value.column) == position
    assert str(caught.value).split("\n")[:4] == [
        f"unknown column `kimd` in {call} [unknown-column]",
        f"  {call}, line {line}, column {column}",
        f"      {excerpt}",
        "      ^^^^",
    ]


def test_explain_shows_which_events_are_ignored(events: DataFrame) -> None:
    pattern = SOON.not_followed_by("n").where("kind = 'n'")
    text = str(matchrec.query(events, pattern, order_by="time").explain())
    assert "ignore -> b if not (`kind` = 'b') and in the window" in text
    assert "ignore -> n if not (`kind` = 'n') and in the window" in text


def test_explain_shows_the_values_that_each_state_needs(events: DataFrame) -> None:
    rising = A.one_or_more().followed_by("b").where("second > last(a.second)").times(2, 3)
    lines = str(matchrec.query(events, rising, order_by="time").explain()).split("\n")
    states = [line for line in lines if line.startswith("  state ") and " needs: " in line]
    assert len(set(states)) == len(states) > 2
    assert "  V1 = `second` on the last row of a; read by b where" in lines


def test_a_stage_with_the_name_of_a_partition_column(events: DataFrame) -> None:
    pattern = Pattern.begin("KIND").next("b")
    with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
        matchrec.match_pattern(events, pattern, order_by="time", partition_by="kind")
    assert str(caught.value) == (
        "stage name `KIND` is not allowed: the result has a column of this name [stage-name-taken]"
        '\n  help: write another name, such as "KIND_event"'
    )
    # The events have the name of their stage in a column, so stages have no columns.
    rows = matchrec.match_pattern(
        events, pattern, order_by="time", partition_by="kind", output="events"
    )
    assert rows.columns[:4] == ["kind", "time", "match_number", "stage"]


@pytest.mark.parametrize("order_by", [5, None, ["t", 5]])
def test_order_by_takes_texts(events: DataFrame, order_by: object) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError, match="`order_by` of `match_pattern`"):
        matchrec.match_pattern(events, A, order_by=order_by)  # type: ignore[arg-type]


def test_an_unknown_column_of_order_by(events: DataFrame) -> None:
    with pytest.raises(
        matchrec.MatchRecognizePlanError, match="unknown column `nosuch` in order_by"
    ):
        matchrec.match_pattern(events, matchrec.Pattern.begin("a"), order_by="nosuch")


def test_conditions_that_are_columns_are_checked(events: DataFrame) -> None:
    from pyspark.sql.functions import col, count, udf

    def catch_message(column: Any) -> str:
        """Return the message of the error for a condition."""
        with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
            matchrec.match_pattern(
                events, matchrec.Pattern.begin("a").where(column), order_by="time"
            )
        return str(caught.value)

    assert "must be boolean, but `second` is " in catch_message(col("second"))
    assert "Spark cannot evaluate the condition" in catch_message(col("nosuch") > 1)
    assert "`nosuch`" in catch_message(col("nosuch") > 1)
    assert "Spark cannot evaluate the condition" in catch_message(count("second") > 1)
    text = udf(lambda second, least: str(second > least))
    message = catch_message(text("second", col("second") + 1))
    assert message.startswith("a condition must be boolean, but `<lambda>(")
    assert message.endswith('declare the type of your own function: udf(f, "boolean")')
    message = catch_message(text("nosuch", "second"))
    assert "cannot evaluate the condition `<lambda>(" in message
    assert message.endswith(
        'or add the condition as a column, df.withColumn("...", ...), and write where("...")'
    )


@pytest.mark.parametrize("gap", [False, True])
def test_hours_along_dates_count_from_day_to_day(
    spark: SparkSession, request: pytest.FixtureRequest, gap: bool
) -> None:
    """There are 24 hours between a day and the next one, and 48 between the first and the third."""
    days = spark.sql(
        "SELECT date_add(DATE'2026-01-01', n) AS at, n FROM VALUES (0), (1), (2) AS t(n)"
    )
    if gap:
        near = Pattern.begin("a").times(2, gap="36 hours").allow_combinations()
    else:
        near = Pattern.begin("a").followed_by_any("b").within("36 hours", "previous_to_current")
    if request.config.getoption("--on") == "sail":
        with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="adds only whole days"):
            matchrec.match_pattern(days, near, order_by="at")
        return
    matches = matchrec.match_pattern(days, near, order_by="at", output="events").orderBy(
        "match_number", "at"
    )
    assert [row["n"] for row in matches.collect()] == [0, 1, 1, 2]


def test_columns_order_and_divide(spark: SparkSession) -> None:
    events = spark.sql("VALUES (1, 'x', 1), (2, 'x', 2), (3, 'y', 3) AS e(at, `a key`, v)")
    pattern = matchrec.Pattern.begin("a").next("b").where("v > last(a.v)")
    expected = matchrec.match_pattern(events, pattern, order_by="at", partition_by="`a key`")
    for order in (sql.col("at"), [events["at"], "v"]):
        matches = matchrec.match_pattern(
            events, pattern, order_by=order, partition_by=sql.col("a key")
        )
        assert matches.columns == expected.columns
        assert matches.select("a").collect() == expected.select("a").collect() != []
    for wrong in (sql.col("at").desc(), sql.col("at") + 1):
        with pytest.raises(matchrec.MatchRecognizePlanError, match="a Column in `order_by` must"):
            matchrec.match_pattern(events, pattern, order_by=wrong)
