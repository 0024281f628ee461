"""Queries of one language as those of another: texts, notes and refusals."""

from pathlib import Path

import pytest

import matchrec
from matchrec import Pattern
from matchrec.errors import MatchRecognizeError
from matchrec.writing.convert import Conversion
from tests.quick.embedded import invoke
from tests.unit import golden_text

SASE = "PATTERN SEQ(A a, B b) WHERE strict_contiguity { [k] AND b.x > a.x }"


def answer(given: str) -> str:
    head, _, text = given.partition("\n")
    read, write, *options = head.split()
    told = dict(option.split("=") for option in options)
    try:
        return matchrec.convert(
            text,
            read=read,
            write=write,
            table="t",
            order_by=told.get("order", ()),
            partition_by=told.get("partition", ()),
            type_column=told.get("type", "event_type"),
        ).text
    except MatchRecognizeError as error:
        return str(error)


STRICT = "STRICT CONTIGUITY ALL MATCHES"
GAPS = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.x AS x
    PATTERN (A B) STRICT CONTIGUITY ALL MATCHES WITHIN 5 {} DEFINE B AS x > 1)"""


def test_conversions(pytestconfig: pytest.Config) -> None:
    update = pytestconfig.getoption("--update")
    golden_text.check(Path(__file__).with_name("conversions.txt"), answer, update)


def notes(conversion: Conversion) -> list[tuple[str, str]]:
    """Each note with the text that it is about."""
    return [(one.message, conversion.source.at(one.span)) for one in conversion.notes]


def test_notes_of_sase() -> None:
    text = SASE.replace("strict_contiguity", "skip_till_any_match")
    assert notes(matchrec.convert(text, read="sase", order_by="ts")) == [
        ("`k` becomes a column of the result", "k"),
        (
            "the events do not come out: MEASURES takes columns by name, as RETURN does",
            "SEQ(A a, B b)",
        ),
    ]


def test_notes_of_sql() -> None:
    sql = """SELECT m.x FROM t MATCH_RECOGNIZE (PARTITION BY k, j ORDER BY ts
        MEASURES A.x AS x ALL ROWS PER MATCH
        PATTERN (A B) STRICT CONTIGUITY NON-OVERLAPPING MATCHES) AS m"""
    found = notes(matchrec.convert(sql, write="sase"))
    assert found[:4] == [
        ("SASE+ has no FROM: pass these rows as the DataFrame of events", "t"),
        ("SASE+ has no query around the pattern: it is left out", "SELECT"),
        ("SASE+ has no PARTITION BY: pass partition_by, with k, j", "k, j"),
        ("SASE+ has no ORDER BY: pass order_by, with ts", "ts"),
    ]
    assert [message for message, _ in found[4:]] == [
        "SASE+ has no ALL ROWS PER MATCH SHOW EMPTY MATCHES: it gives a row for each match",
        'SASE+ has no NON-OVERLAPPING MATCHES: pass form="non_overlapping"',
    ]


def test_notes_of_a_vendors_query_are_at_its_own_text() -> None:
    sql = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY "ts" MEASURES A."x"::int AS x
        AFTER MATCH SKIP PAST LAST ROW PATTERN (A))"""
    converted = matchrec.convert(sql, read="snowflake", write="pattern")
    assert converted.text.endswith("    .after_match(AfterMatch.SKIP_PAST_LAST_EVENT)\n)")
    found = dict(notes(converted))
    assert found["a Pattern has no ORDER BY: pass order_by, with `ts`"].startswith('"ts"')
    assert found["where `ts` is NULL, events come first there, here last"].startswith('"ts"')


def test_a_pattern_as_code_of_its_own() -> None:
    pattern = Pattern.begin("a").where("x > 1").not_next("b").next("c").optional()
    names: dict[str, object] = {}
    exec(matchrec.convert(pattern, write="pattern").text, names)
    assert names["pattern"] == pattern


def test_sase_stays_as_it_is_written() -> None:
    assert matchrec.convert(SASE, read="sase", write="sase").text == SASE


def test_sql_says_what_it_sorts_by() -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError, match="order_by names nothing"):
        matchrec.convert(SASE, read="sase", write="spark")


def test_a_pattern_has_no_language_to_be_read_in() -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError, match="without read="):
        matchrec.convert(Pattern.begin("a"), read="sase")


def test_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "query.sase"
    file.write_text("PATTERN SEQ(A a) RETURN a.x")
    told = ["--read", "sase", "--write", "spark", "--order-by", "ts", "--order-by", "n"]
    result = invoke("convert", str(file), *told, "--events", "t", "--type-column", "kind")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "SELECT * FROM t MATCH_RECOGNIZE (\n"
        "  ORDER BY ts, n\n"
        "  MEASURES A.x AS x\n"
        "  PATTERN (A) SKIP TILL NEXT MATCH ALL MATCHES\n"
        "  DEFINE A AS A.kind = 'A'\n"
        ")\n"
    )


def test_windows_between_rows() -> None:
    a, window = Pattern.begin("A"), ("5 minutes", "previous_to_current")
    pattern = a.next("B").one_or_more().consecutive().within("1 hour").within(*window)
    text = matchrec.convert(pattern, order_by="ts").text
    assert "WITHIN INTERVAL 1 HOUR, INTERVAL 5 MINUTE BETWEEN ROWS" in text
    assert (
        ".within('5 minute', 'previous_to_current')" in matchrec.convert(text, write="pattern").text
    )
    assert "BETWEEN ROWS" in matchrec.convert(text.replace("A B+", "A B"), write="spark").text


@pytest.mark.parametrize(
    ("query", "write", "message"),
    [
        (
            Pattern.begin("a").next("b").within(5, "previous_to_current").next("c"),
            "spark",
            "the pattern has a window between some neighbours only",
        ),
        (GAPS.format("BETWEEN ROWS"), "sase", "SASE+ has no equivalent of WITHIN BETWEEN ROWS"),
        (
            GAPS.format("FROM A TO B"),
            "pattern",
            "a Pattern has no equivalent of WITHIN FROM a variable",
        ),
        (
            GAPS.format("BETWEEN ROWS").replace(STRICT, ""),
            "snowflake",
            "Snowflake has no WITHIN between rows",
        ),
        (GAPS.format("BETWEEN ROWS, 4"), "pattern", "within previous_to_current of stage `B` is 5"),
    ],
)
def test_windows_that_another_language_lacks(
    query: str | Pattern, write: str, message: str
) -> None:
    with pytest.raises(matchrec.MatchRecognizeError, match=message.replace("+", r"\+")):
        matchrec.convert(query, write=write, order_by="ts" if write == "spark" else ())


@pytest.mark.parametrize("write", ["oracle", "sase"])
def test_a_measure_that_may_read_another_one_is_noted(write: str) -> None:
    measures = "MEASURES A.x AS p, p + 1 AS q, LAST(p) AS r"
    text = GAPS.replace("MEASURES A.x AS x", measures).replace(" WITHIN 5 {}", "")
    found = matchrec.convert(
        text.replace(f" {STRICT}", "" if write == "oracle" else f" {STRICT}"), write=write
    )
    (note,) = [one for one in found.notes if "earlier measure" in one.message]
    assert text[note.span.start :].startswith("p + 1")
