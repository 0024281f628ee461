"""Features of examples found elsewhere: spellings, windows of aggregates, kinds of columns."""

import pytest

from matchrec.dialects.products import PRODUCTS
from matchrec.dialects.rules.value_kinds import ValueKind
from matchrec.dialects.rules.visible_columns import ClauseKinds
from matchrec.dialects.translate import QueryKnowledge, translate_query
from matchrec.errors import MatchRecognizeError

SPARK = PRODUCTS["spark"]
ARRAY = "NULLIF(TRANSFORM({}, row -> row.item), ARRAY())"
LIST = "COLLECT_LIST(STRUCT(x AS item))"

QUERIES = [
    # OVER and FILTER follow the aggregate itself, and not the expression around it.
    ("trino", "array_agg(x) OVER (PARTITION BY k)", ARRAY.format(f"{LIST} OVER (PARTITION BY k)")),
    ("trino", "array_agg(x) FILTER (WHERE y)", ARRAY.format(f"{LIST} FILTER (WHERE y)")),
    (
        "trino",
        "array_agg(x) FILTER (WHERE y) OVER w",
        ARRAY.format(f"{LIST} FILTER (WHERE y) OVER w"),
    ),
    (
        "bigquery",
        "array_agg(x ignore nulls) OVER (PARTITION BY k)",
        "NULLIF(COLLECT_LIST(x) OVER (PARTITION BY k), ARRAY())",
    ),
    ("flink", "$rowtime", "`$rowtime`"),
]


@pytest.mark.parametrize(("product", "text", "expected"), QUERIES)
def test_expressions_around_a_clause_are_translated(product: str, text: str, expected: str) -> None:
    query = "SELECT {} AS v FROM t WINDOW w AS (ORDER BY y NULLS LAST)"
    translation = translate_query(query.format(text), PRODUCTS[product], SPARK).text
    assert " ".join(translation.split()) == query.format(expected)


def translate_clause(product: str, text: str) -> str:
    """Return a clause of a product in Spark's SQL, from MEASURES or PATTERN on."""
    query = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY y NULLS FIRST {text})"
    translation = translate_query(query, PRODUCTS[product], SPARK).text
    return " ".join(
        translation[len("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY y NULLS FIRST ") : -1].split()
    )


def test_arrays_without_nulls_are_allowed_in_conditions() -> None:
    clause = "PATTERN (A B) DEFINE B AS array_agg({}) = ARRAY['A', 'B']"
    expected = "PATTERN (A B) DEFINE B AS {} = ARRAY('A', 'B')"
    for argument in ("CLASSIFIER()", "coalesce(x, 'A')"):
        translation = translate_clause("trino", clause.format(argument))
        assert translation == expected.format(f"COLLECT_LIST({argument})")
    with pytest.raises(MatchRecognizeError, match="an array in DEFINE with NULLs"):
        translate_clause("trino", clause.format("x"))


def test_names_in_brackets_of_azure() -> None:
    query = "SELECT * FROM i TIMESTAMP BY t MATCH_RECOGNIZE (LIMIT DURATION(day, 1) {})"
    text = query.format(
        "MEASURES Last([A].[x]) AS [X y] PATTERN ([A] [b c]) DEFINE [A] AS [A].x > 1"
    )
    translation = " ".join(translate_query(text, PRODUCTS["azure"], SPARK).text.split())
    assert "MEASURES Last(A.`x`) AS `X y`" in translation
    assert "PATTERN (A `b c`) WITHIN INTERVAL '1' DAY DEFINE A AS A.x > 1" in translation


def test_formats_of_snowflake_are_translated() -> None:
    translation = translate_clause(
        "snowflake", "MEASURES TO_CHAR(x, 'YYYY-MM-DD HH24:MI') AS m PATTERN (A)"
    )
    assert translation == "MEASURES DATE_FORMAT(x, 'yyyy-MM-dd HH:mm') AS m PATTERN (A)"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT {} FROM (SELECT f, LAG(l) OVER (ORDER BY f) AS b FROM {clause})",
        "WITH m AS (SELECT * FROM {clause}), n AS (SELECT f, l AS b FROM m) SELECT {} FROM n",
        "WITH m AS (SELECT f, l AS b FROM {clause} UNION ALL SELECT f, l FROM x) SELECT {} FROM m",
    ],
)
def test_types_of_columns_are_known_through_subqueries(query: str) -> None:
    """The difference of two dates is a number of days in Oracle."""
    text = "t MATCH_RECOGNIZE (MEASURES FIRST(d) AS f, LAST(d) AS l PATTERN (A))"
    outputs = {"f": ValueKind.TIMESTAMP, "l": ValueKind.TIMESTAMP}
    text_of_query = query.format("ROUND((f - b) * 24) AS hours", clause=text)
    knowledge = QueryKnowledge([ClauseKinds({}, outputs)])
    translation = translate_query(text_of_query, PRODUCTS["oracle"], SPARK, knowledge)
    assert "UNIX_MICROS" in translation.text
    assert not translation.untyped_columns


def test_a_column_with_the_name_of_a_function_of_snowflake() -> None:
    query = "SELECT classifier FROM t"
    assert translate_query(query, PRODUCTS["snowflake"], SPARK).text == query


REJECTED_QUERIES = [
    ("oracle", "SELECT rownum FROM t", "rownum", r"write ROW_NUMBER\(\)"),
    ("oracle", "SELECT MAX(x) KEEP (DENSE_RANK FIRST ORDER BY y) FROM t", "KEEP", "write MAX_BY"),
    ("oracle", "SELECT a FROM t, u CONNECT BY PRIOR a = b", "CONNECT BY", "no CONNECT BY"),
    ("oracle", "SELECT a FROM t FETCH FIRST 5 PERCENT ROWS ONLY", "PERCENT", "write NTILE"),
    ("trino", "SELECT a FROM t FETCH FIRST 5 ROWS WITH TIES", "WITH TIES", r"write RANK\(\)"),
    (
        "oracle",
        "SELECT a FROM t WHERE a >= ALL (SELECT b FROM u)",
        ">= ALL",
        "does not support comparisons with ALL",
    ),
    ("flink", "SELECT a FROM t WHERE a SIMILAR TO 'b'", "SIMILAR TO", "write RLIKE"),
    ("bigquery", "SELECT INSTR(a, 'b', -1) FROM t", "INSTR", "does not search from the end"),
    ("oracle", "SELECT a FROM t WHERE ROWNUM < 3 ORDER BY a", "ROWNUM", "no ROWNUM"),
    ("oracle", "SELECT a FROM t MODEL DIMENSION BY (a)", "DIMENSION", "this is not valid"),
    ("bigquery", "SELECT FORMAT_TIMESTAMP(x) FROM t", "SELECT", "a function lacks an argument"),
    ("bigquery", "SELECT ARRAY_AGG(ORDER BY y LIMIT 2) FROM t", "SELECT", "lacks an argument"),
    ("azure", "SELECT System.Timestamp() AS t FROM i", "SELECT", "no System.Timestamp outside"),
    ("azure", "SELECT * FROM i TIMESTAMP BY t", "TIMESTAMP BY", "without MATCH_RECOGNIZE"),
    ("snowflake", "SELECT TO_CHAR(x, 'YYYY-MM-DD TZH') FROM t", "TO_CHAR(", "the format YYYY"),
    # Spark's formats would be invalid, drop the brackets, and keep the double quotes.
    ("snowflake", "SELECT TO_CHAR(x, 'YYYY''MM') FROM t", "TO_CHAR(", "the format YYYY'MM"),
    ("snowflake", "SELECT TO_CHAR(x, '[YYYY]') FROM t", "TO_CHAR(", r"the format \[YYYY"),
    ("snowflake", "SELECT TO_CHAR(x, 'YYYY\"-\"MM') FROM t", "TO_CHAR(", 'the format YYYY"'),
    (
        "flink",
        "SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A+ B A C) DEFINE A AS x)",
        "A C",
        "no repeated variables in PATTERN",
    ),
]


@pytest.mark.parametrize(
    ("product", "query", "expected"),
    [
        ("snowflake", "SELECT 1 // one\nFROM t // '", "SELECT 1 -- one\nFROM t -- '"),
        ("snowflake", "SELECT '//' /* // */ -- //", "SELECT '//' /* // */ -- //"),
        ("bigquery", "SELECT '#' # one", "SELECT '#' -- one"),
    ],
)
def test_comments_of_other_products_become_comments_of_spark(
    product: str, query: str, expected: str
) -> None:
    assert translate_query(query, PRODUCTS[product], SPARK).text == expected


def test_an_integer_of_an_unknown_type_is_noted() -> None:
    translation = translate_query("SELECT CAST(a AS INTEGER) FROM t", PRODUCTS["trino"], SPARK)
    assert "rounds in Trino, and truncates in Spark SQL" in translation.notes[0].message
    text = "SELECT CAST(lower(a) AS INTEGER) FROM t"
    assert not translate_query(text, PRODUCTS["trino"], SPARK).notes


@pytest.mark.parametrize(("product", "query", "marked", "words"), REJECTED_QUERIES)
def test_an_error_points_to_the_unsupported_part(
    product: str, query: str, marked: str, words: str
) -> None:
    with pytest.raises(MatchRecognizeError, match=words) as raised:
        translate_query(query, PRODUCTS[product], SPARK)
    lines = str(raised.value).split("\n")
    carets = next(line for line in lines if line.strip().strip("^") == "")
    assert carets.index("^") - carets.index(" ") - 6 == query.index(marked)


@pytest.mark.parametrize(
    ("query", "is_known"),
    [
        ("SELECT * FROM {t} MATCH_RECOGNIZE ({c})", True),
        ("SELECT * FROM (SELECT * FROM {t}) MATCH_RECOGNIZE ({c})", False),
        ("WITH s AS (SELECT 1) SELECT * FROM {t} MATCH_RECOGNIZE ({c})", False),
    ],
)
def test_a_query_over_a_table_is_translated_once(query: str, is_known: bool) -> None:
    tables = {"`db`.`t`": {"d": ValueKind.DATE}}
    text = query.format(t="db.t", c="MEASURES LAST(d) - FIRST(d) AS days PATTERN (A+)")
    translation = translate_query(
        text, PRODUCTS["oracle"], SPARK, QueryKnowledge(look_up_table=tables.get)
    )
    assert bool(translation.untyped_columns) is not is_known
    assert ("UNIX_DATE" in translation.text) is is_known
