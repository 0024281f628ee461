"""Days, texts and functions of Oracle that its documented examples do not show."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.quick.scale import together
from tests.spark.dialects.documented import make_tables, show_value, write_answer

pytestmark = pytest.mark.one_of(2)


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """Create the tables of the documented examples."""
    make_tables(spark, "oracle")


WITHIN = """
    SELECT * FROM logins MATCH_RECOGNIZE (
        ORDER BY {at} MEASURES COUNT(*) AS n, {measure} AS m
        PATTERN (a b*) DEFINE b AS {condition})
"""


CONDITIONS = [
    ("{at} - PREV({at}) < 1", [3, 1]),
    ("{at} - PREV({at}) < 1/24", [2, 1, 1]),
    ("({at} - PREV({at})) * 24 * 60 <= 20", [2, 1, 1]),
    ("ROUND(({at} - PREV({at})) * 24) < 6", [2, 1, 1]),
    ("{at} - FIRST(a.{at}) BETWEEN 0 AND 2", [4]),
    ("{at} < PREV({at}) + 20/1440", [1, 1, 1, 1]),
    ("{at} <= PREV({at}) + INTERVAL '20' MINUTE", [2, 1, 1]),
    ("{at} <= PREV({at}) + INTERVAL '1' MINUTE * 20", [2, 1, 1]),
    ("{at} - PREV({at}) <= INTERVAL '0 00:20:00' DAY TO SECOND", [2, 1, 1]),
    ("{at} - PREV({at}) <= '0 00:20:00'", [2, 1, 1]),
    ("TRUNC({at}) = TRUNC(PREV({at}))", [3, 1]),
    ("TRUNC({at}, 'HH24') = TRUNC(PREV({at}), 'HH24')", [2, 1, 1]),
    ("TRUNC({at}) - TRUNC(PREV({at})) < 2", [3, 1]),
    ("{at} - id > TIMESTAMP '2020-03-01 09:59:00' - 2", [2, 2]),
]


COLUMNS = (("at", "ntz"), ("ntz", "at"))
CASES = [
    (column, *condition)
    for index, condition in enumerate(CONDITIONS)
    for column in COLUMNS[index % 2]
]


@pytest.mark.parametrize(("at", "condition", "counts"), CASES)
def test_days_between_dates_can_have_fractions(
    spark: SparkSession, at: str, condition: str, counts: list[int]
) -> None:
    query = WITHIN.format(at=at, measure="0", condition=condition.format(at=at))
    assert write_answer(spark, query, "oracle") == [f"{n} 0" for n in counts]


FUNCTIONS = [
    ("(LAST(at) - FIRST(at)) * 24", "6"),
    ("TRUNC(LAST(at) - FIRST(at), 2)", "0.25"),
    ("FIRST(at) + 1/24", "2020-03-01 11:00:00"),
    ("FIRST(at) - 1", "2020-02-29 10:00:00"),
    ("TRUNC(FIRST(at), 'MM')", "2020-03-01 00:00:00"),
    ("TO_CHAR(TRUNC(LAST(at), 'MM'))", "01-MAR-20"),
    ("TO_CHAR(LAST(at), 'DD-MON-YYYY HH24:MI:SS')", "01-MAR-2020 16:00:00"),
    ("FIRST(name, 1) || '+' || LAST(name)", "+b"),
    ("FIRST(name, 1) || FIRST(name, 1)", "-"),
    ("NVL2(FIRST(name, 1), 'some', 'none')", "none"),
    ("DECODE(FIRST(name, 1), NULL, 'none', 'a', 'an a')", "none"),
    ("TRUNC(LAST(id) / 2)", "1"),
    ("TO_CHAR(DATE '1975-04-01', 'ddMONrr DY')", "01APR75 TUE"),
    ("TO_CHAR(DATE '1975-04-01', 'dd mon')", "01 apr"),
    ("TO_CHAR(DATE '1975-04-01', '\"DD\" DD \"AM\"')", "DD 01 AM"),
    ("TO_CHAR(DATE '1975-04-01', 'dd Mon')", "01 Apr"),
    ("DATE '1975-04-01' || '!'", "01-APR-75!"),
    ("TO_CHAR(DATE '1975-04-01', '(DD_MM) \"[''yy#]\" RR')", "(01_04) ['yy#] 75"),
]


@pytest.mark.parametrize("cases", together(FUNCTIONS))
def test_functions_of_dates_numbers_and_texts_have_oracles_values(
    spark: SparkSession, cases: list[tuple[str, str]]
) -> None:
    measures = ", ".join(f"{measure} AS m{number}" for number, (measure, _) in enumerate(cases))
    query = WITHIN.format(at="at", measure=f"{measures}, 0", condition="at - PREV(at) < 1")
    row = matchrec.sql(spark, query, dialect="oracle").first()
    assert row is not None
    assert [show_value(value) or "-" for value in row] == ["3", *(value for _, value in cases), "0"]


@pytest.mark.parametrize(
    ("measure", "end"), [("TO_CHAR(at)", ""), ("TO_CHAR(ntz)", ""), ("at || '!'", "!")]
)
def test_a_timestamp_without_a_format_is_a_day_and_says_so(
    spark: SparkSession, measure: str, end: str
) -> None:
    query = WITHIN.format(at="at", measure=measure, condition="at - PREV(at) < 1")
    with pytest.warns(UserWarning, match="if t is a TIMESTAMP in Oracle"):
        assert write_answer(spark, query, "oracle") == [f"3 01-MAR-20{end}", f"1 03-MAR-20{end}"]


def test_a_bare_difference_of_timestamps_is_an_interval_and_says_so(spark: SparkSession) -> None:
    query = WITHIN.format(at="at", measure="LAST(at) - FIRST(at)", condition="at - PREV(at) < 1")
    with pytest.warns(UserWarning, match=r"write `\(a - b\) \* 1` for days"):
        assert write_answer(spark, query, "oracle") == ["3 6:00:00", "1 0:00:00"]
    assert write_answer(
        spark, query.replace("LAST(at) - FIRST(at)", "(LAST(at) - FIRST(at)) * 1"), "oracle"
    ) == ["3 0.25", "1 0"]


def test_the_query_around_a_clause_knows_the_types_of_its_columns(spark: SparkSession) -> None:
    query = """
        SELECT m.until - m.since AS days, until + 1 AS next
        FROM runs MATCH_RECOGNIZE (
            ORDER BY run_date MEASURES run_date AS until, FIRST(run_date) AS since
            PATTERN (a b+) DEFINE b AS run_date - PREV(run_date) <= 1) m
    """
    expected = ["2 2018-04-04", "1 2018-04-08", "2 2018-04-16"]
    assert write_answer(spark, query, "oracle") == expected


def test_a_difference_of_unknown_types_is_named(spark: SparkSession) -> None:
    query = """SELECT * FROM (SELECT DATE_FROM_UNIX_DATE(9) - start_date AS days FROM ranges)
        MATCH_RECOGNIZE (ORDER BY days MEASURES COUNT(*) AS n PATTERN (a b) DEFINE b AS 1 = 1)"""
    with pytest.warns(UserWarning, match="a number of days in Oracle"):
        matchrec.sql(spark, query, dialect="oracle")


def test_a_clause_can_compute_with_dates_of_another_clause(spark: SparkSession) -> None:
    query = """
        SELECT * FROM (
            SELECT * FROM runs MATCH_RECOGNIZE (ORDER BY run_date
            MEASURES FIRST(run_date) AS since, run_date + 1 AS until
            PATTERN (a b*) DEFINE b AS run_date - PREV(run_date) <= 1))
        MATCH_RECOGNIZE (ORDER BY since
            MEASURES SUM(until - since) AS days, LAST(until) - FIRST(since) AS span
            PATTERN (c d*) DEFINE d AS since - PREV(until) < 3)
    """
    assert write_answer(spark, query, "oracle") == ["9 15"]


def test_dates_of_tables_are_known(spark: SparkSession) -> None:
    query = """WITH logins AS (SELECT id, at FROM logins)
        SELECT TRUNC(at) - TRUNC(at - 1/2) AS days, at - 1 AS before FROM logins
        WHERE id = (SELECT MIN(id) FROM logins)"""
    assert write_answer(spark, query, "oracle") == ["1 2020-02-29 10:00:00"]


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("TO_CHAR(run_date, 'Day')", "names of months and days, which Oracle pads"),
        ("TO_CHAR(run_date, 'MON Dy')", "names of months, days and AM in different cases"),
        ("TO_CHAR(run_date, 'dd-MOn')", r"MOn in a format(.|\n)*write MON, Mon or mon"),
        ("TO_CHAR(run_date, 'HH12:MI Am')", r"Am in a format(.|\n)*write AM or am"),
        ("TO_CHAR(run_date, 'HH12:MI pM')", r"pM in a format(.|\n)*write PM or pm"),
        ("TO_CHAR(id, '999.99MI')", "Spark has other number formats"),
        ("TO_CHAR(id, 'TM9')", r"the number format TM9: write TO_CHAR\(x\) or ROUND\(x, 2\)"),
        ("TO_CHAR(id, 'FMTM')", "the number format FMTM: write"),
        ("TO_CHAR(id, 'B999')", "the number format B999: write"),
        ("TO_CHAR(run_date, '\"100%\" HH')", "the format"),
        ("TO_CHAR(run_date, 'YYYY''MM')", "the character ' in the format YYYY'MM of a time"),
        ("TO_CHAR(run_date, 'YYYY[MM]')", r"the character \[ in the format"),
        ("TO_CHAR(run_date, 'YYYY%')", "the character % in the format"),
        ("TO_CHAR(run_date, 'SS.FF0')", "the character 0 in the format"),
        ("TO_CHAR(run_date, '\"at HH')", 'the character " in the format'),
        ("TO_CHAR(run_date, 'D')", "the format D of a time"),
        ("TO_CHAR(run_date, 'HH:MI p.m.')", "the format HH:MI p.m. of a time"),
        ("TO_CHAR(run_date, 'MON \"of\" YY')", "in different cases"),
        ("TO_CHAR(run_date, 'IYYY-IW')", "the format IYYY-IW of a time"),
        ("TRUNC(run_date, 'CC')", "no TRUNC to 'CC'"),
        ("TO_DATE('01-01-1975', 'DD-MM-YYYY')", r"this TO_DATE(.|\n)*write DATE '2020-02-01'"),
        ("CAST(at AS DATE)", r"this CAST(.|\n)*or TRUNC\(x\) for the day"),
    ],
)
def test_functions_that_spark_lacks_are_rejected(
    spark: SparkSession, measure: str, message: str
) -> None:
    query = f"""SELECT * FROM runs MATCH_RECOGNIZE (
        ORDER BY run_date MEASURES {measure} AS m PATTERN (a) DEFINE a AS 1 = 1)"""
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match=message):
        matchrec.sql(spark, query, dialect="oracle")


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("XMLAGG(XMLELEMENT(e, name))", r"no XMLAGG\n +help: write LISTAGG"),
        ("INSTR(name, 'a', -1)", r"write INSTR\(REVERSE"),
        ("INITCAP(name)", "in Spark, only spaces separate words"),
    ],
)
def test_functions_around_the_clause_are_rejected(
    spark: SparkSession, expression: str, message: str
) -> None:
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match=message):
        matchrec.sql(spark, f"SELECT {expression} AS x FROM logins", dialect="oracle")


def test_connect_by_is_refused(spark: SparkSession) -> None:
    query = """SELECT * FROM (SELECT a FROM t CONNECT BY PRIOR a = b)
        MATCH_RECOGNIZE (ORDER BY a PATTERN (x) DEFINE x AS a > 1)"""
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="write WITH RECURSIVE"):
        matchrec.sql(spark, query, dialect="oracle")
