"""Conversion of SASE+ and Patterns to SQL, and of SQL to other products: texts, notes, errors."""

from pathlib import Path
from typing import Any

import pytest

import matchrec
from matchrec import Pattern
from matchrec.dialects.writing.convert import Conversion
from matchrec.errors import MatchRecognizeError
from tests.quick.embedded import invoke
from tests.unit import golden_text

SASE = "PATTERN SEQ(A a, B b) WHERE strict_contiguity { [k] AND b.x > a.x }"


def show_conversion(record_text: str) -> str:
    """Return the translation of a record, or the message of its error."""
    head, _, text = record_text.partition("\n")
    read, write, *options = head.split()
    options_by_name = dict(option.split("=") for option in options)
    events = "t" if read == "sase" else "events"  # SQL names its tables itself
    try:
        return matchrec.transpile(
            text,
            read=read,
            write=write,
            events=events,
            order_by=options_by_name.get("order", ()),
            partition_by=options_by_name.get("partition", ()),
            type_column=options_by_name.get("type", "event_type"),
        ).text
    except MatchRecognizeError as error:
        return str(error)


def test_queries_are_converted_as_recorded(pytestconfig: pytest.Config) -> None:
    update = pytestconfig.getoption("--update")
    golden_text.check(Path(__file__).with_name("conversions.txt"), show_conversion, update)


def list_notes(conversion: Conversion) -> list[tuple[str, str]]:
    """Return each note with the text that it is about."""
    return [(note.message, conversion.source.text_at(note.span)) for note in conversion.notes]


def test_notes_say_what_differs_from_sase() -> None:
    text = SASE.replace("strict_contiguity", "skip_till_any_match")
    assert list_notes(matchrec.transpile(text, read="sase", order_by="ts")) == [
        ("`k` becomes a column of the result", "k"),
        (
            "whole events are not columns of the result: name their attributes in RETURN",
            "SEQ(A a, B b)",
        ),
    ]


DIVISION = """PATTERN SEQ(A a, B b)
WHERE strict_contiguity { [k] AND a.x > b.x AND b.x DIV 2 = a.x }
WITHIN 3 hours
RETURN b.x AS x"""
DEFAULT_STRATEGY = "PATTERN SEQ(A a, B b) RETURN b.x AS x"


@pytest.mark.parametrize(
    ("text", "write", "marked"),
    [
        (DIVISION, "trino", "DIV"),
        (DIVISION.replace("b.x DIV 2", "b.x"), "oracle", "3 hours"),
        (DIVISION.replace("3 hours", "20 EVENTS").replace("b.x DIV 2", "b.x"), "trino", "WITHIN"),
        (
            "PATTERN SEQ(A a, B b) WHERE skip_till_any_match { b.x = a.x } RETURN b.x AS x",
            "trino",
            "skip_till_any_match",
        ),
        (DEFAULT_STRATEGY, "trino", "SEQ(A a, B b)"),
        (
            "PATTERN SEQ(A a, B b) WHERE strict_contiguity RETURN exists(b.xs, x -> x > 1) AS e",
            "trino",
            "exists(b.xs, x -> x > 1)",
        ),
    ],
)
def test_an_error_in_the_written_sql_points_at_the_text_of_the_user(
    text: str, write: Any, marked: str
) -> None:
    with pytest.raises(MatchRecognizeError) as raised:
        matchrec.transpile(text, read="sase", write=write, order_by="ts")
    error = raised.value
    assert error.source is not None
    assert error.span is not None
    assert error.source.text == text
    assert error.source.text_at(error.span) == marked
    assert "after its translation" not in str(error)


def test_an_error_in_the_written_sql_points_at_a_condition_of_the_pattern() -> None:
    pattern = Pattern.begin("a").where("x > 1").next("b").where("x > 2").where("x DIV 2 = y")
    with pytest.raises(MatchRecognizeError, match="no equivalent of this DIV") as raised:
        matchrec.transpile(pattern, write="trino", order_by="ts")
    assert "where() of stage `b`, line 1, column 3" in str(raised.value)


def test_a_note_on_the_written_sql_points_at_the_text_of_the_user() -> None:
    text = "PATTERN SEQ(A a, B b) WHERE strict_contiguity { b.x > 1 AND b.y > a.y } RETURN a.x"
    conversion = matchrec.transpile(text, read="sase", write="snowflake", order_by="ts")
    ((message, marked),) = list_notes(conversion)
    assert message == "Snowflake rejects columns of another variable in DEFINE"
    assert marked == "a"


def test_a_conversion_shows_its_sql() -> None:
    """A cell of a notebook that ends with a conversion shows what `print` shows."""
    begin = "SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A B) DEFINE B AS "
    converted = matchrec.transpile(f"{begin}x < PREV(x) / 2)\n", write="trino")
    assert repr(converted) == (
        f"{begin}x < CAST(PREV(x) AS DOUBLE) / NULLIF(2, 0))\n"
        "-- the quotient of two integers is an integer in Trino, and has a fraction in Spark SQL\n"
        "--   line 1, column 60\n"
        f"--       {begin}x < PREV(x) / 2)\n"
        f"--       {' ' * 59}{'^' * 15}"
    )


def test_sase_without_order_by_is_an_error() -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError, match="missing order_by"):
        matchrec.transpile(SASE, read="sase", write="spark")


def test_a_pattern_with_read_is_an_error() -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError, match="without read="):
        matchrec.transpile(Pattern.begin("a"), read="sase")


def test_the_command_line_converts_sase(tmp_path: Path) -> None:
    file = tmp_path / "query.sase"
    file.write_text("PATTERN SEQ(A a) RETURN a.x")
    arguments = ["--read", "sase", "--write", "spark", "--order-by", "ts", "--order-by", "n"]
    result = invoke("transpile", str(file), *arguments, "--events", "t", "--type-column", "kind")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "SELECT * FROM t MATCH_RECOGNIZE (\n"
        "  ORDER BY ts, n\n"
        "  MEASURES A.x AS x\n"
        "  PATTERN (A) SKIP TILL NEXT MATCH ALL MATCHES\n"
        "  DEFINE A AS A.kind = 'A'\n"
        ")\n"
    )


def test_a_window_between_two_events_is_rejected() -> None:
    pattern = Pattern.begin("a").next("b").within(5, "previous_to_current").next("c")
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="between two events"):
        matchrec.transpile(pattern, order_by="ts")


@pytest.mark.parametrize("write", ["sase", "pattern"])
def test_languages_that_are_only_read_are_not_targets(write: Any) -> None:
    with pytest.raises(
        matchrec.MatchRecognizePlanError, match=f"unknown value `{write}` for `write`"
    ) as raised:
        matchrec.transpile(Pattern.begin("a"), write=write, order_by="ts")
    assert "must be one of spark, standard, databricks" in str(raised.value)
    assert "SASE+ and Patterns can be read, but not written" in str(raised.value)


@pytest.mark.parametrize("text", ["", "-- nothing", "SELECT 1"])
def test_a_product_that_is_only_read_is_not_a_target(text: str) -> None:
    with pytest.raises(MatchRecognizeError, match="for Azure Stream Analytics is not supported"):
        matchrec.transpile(text, write="azure")


def test_a_measure_that_may_read_another_one_is_noted() -> None:
    text = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts
        MEASURES A.x AS p, p + 1 AS q, LAST(p) AS r PATTERN (A B) DEFINE B AS x > 1)"""
    translation = matchrec.transpile(text, write="oracle")
    (note,) = [
        candidate for candidate in translation.notes if "earlier measure" in candidate.message
    ]
    assert text[note.span.start :].startswith("p + 1")


def test_conditions_that_sql_cannot_express_are_rejected() -> None:
    condition = "any_value(a.x) IGNORE NULLS > 1"
    pattern = Pattern.begin("a").followed_by("b").where(condition)
    with pytest.raises(MatchRecognizeError, match="the condition of `B`") as raised:
        matchrec.transpile(pattern, write="spark", order_by="ts")
    assert condition in str(raised.value)


def test_an_aggregate_of_a_pattern_is_written_with_distinct_and_filter() -> None:
    condition = "count(DISTINCT a.x) FILTER (WHERE a.y > 1) > 1"
    pattern = Pattern.begin("a").followed_by("b").where(condition)
    text = matchrec.transpile(pattern, write="spark", order_by="ts").text
    assert "B AS count(DISTINCT A.x) FILTER (WHERE A.y > 1) > 1" in text


def test_only_products_that_can_be_written_are_listed() -> None:
    unknown: Any = "postgres"
    with pytest.raises(matchrec.MatchRecognizePlanError, match="unknown value") as caught:
        matchrec.transpile("SELECT 1", write=unknown)
    assert caught.value.notes == (
        "it must be one of spark, standard, databricks, snowflake, oracle, trino, flink, bigquery",
    )
    assert caught.value.hint is None


def test_a_data_frame_in_a_query_has_a_note() -> None:
    query = "SELECT * FROM {t} MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B) DEFINE B AS x > 1)"
    snowflake = matchrec.transpile(query, write="snowflake")
    assert str(snowflake).splitlines()[1:] == [
        "-- `{t}` is a DataFrame of this program: write the name of a table",
        "--   line 1, column 15",
        f"--       {query}",
        "--                     ^^^",
    ]
    assert matchrec.transpile(query, write="spark").notes == ()
