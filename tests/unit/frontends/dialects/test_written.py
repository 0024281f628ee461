"""What other products mean by the same words: written otherwise, noted or refused."""

import pytest

from matchrec.errors import MatchRecognizeError
from matchrec.frontends.dialects.products import PRODUCTS
from matchrec.frontends.dialects.translate import Translation, translate_query


def measure(read: str, write: str, text: str, rows: str = "") -> Translation:
    clause = f"ORDER BY y NULLS LAST MEASURES {text} AS m {rows} PATTERN (A B)"
    query = f"SELECT * FROM t MATCH_RECOGNIZE ({clause})"
    return translate_query(query, PRODUCTS[read], PRODUCTS[write])


def written(read: str, write: str, text: str) -> str:
    found = measure(read, write, text).text
    return " ".join(found[found.index("MEASURES ") + 9 : found.index(" AS m ")].split())


TEXTS = [
    ("oracle", "spark", "x || y", "NULLIF(CONCAT_WS('', x, y), '')"),
    (
        "oracle",
        "snowflake",
        "x || y",
        "NULLIF(COALESCE(CAST(x AS VARCHAR), '') || COALESCE(CAST(y AS VARCHAR), ''), '')",
    ),
    ("oracle", "bigquery", "x || 'a'", "COALESCE(CAST(x AS STRING), '') || 'a'"),
    ("spark", "oracle", "COUNT(*) DIV 2", "TRUNC(COUNT(*) / 2)"),
    ("bigquery", "trino", "TO_JSON_STRING(x)", "JSON_FORMAT(CAST(x AS JSON))"),
    ("oracle", "trino", "CAST(x AS VARCHAR2(3))", "CAST(x AS VARCHAR(3))"),
    ("spark", "oracle", "CAST(x AS DATE)", "TRUNC(CAST(x AS DATE))"),
    ("spark", "oracle", "TRUNC(x, 'MM')", "TRUNC(x, 'MM')"),
    ("spark", "trino", "DATE_TRUNC('MM', x)", "DATE_TRUNC('MONTH', x)"),
    ("snowflake", "trino", "EQUAL_NULL(x, y)", "(x IS NOT DISTINCT FROM y)"),
    ("trino", "spark", "bool_or(x IN (SELECT 'a'))", "bool_or(x IN (SELECT 'a' AS text))"),
    ("trino", "spark", "x IN (SELECT 'a' FROM u)", "x IN (SELECT 'a' FROM u)"),
    (
        "snowflake",
        "spark",
        "REGEXP_SUBSTR(x, 'a(b)', 1, 1, 'e')",
        "TRY_ELEMENT_AT(REGEXP_EXTRACT_ALL(x, 'a(b)', 1), 1)",
    ),
    (
        "snowflake",
        "spark",
        "REGEXP_SUBSTR(x, 'a(b)', 1, 2, 'c')",
        "TRY_ELEMENT_AT(REGEXP_EXTRACT_ALL(x, 'a(b)', 0), 2)",
    ),
    ("oracle", "trino", "GREATEST(x, y)", "GREATEST(x, y)"),
    ("oracle", "snowflake", "GREATEST(x, y)", "GREATEST(x, y)"),
    ("spark", "snowflake", "greatest(x, y)", "GREATEST_IGNORE_NULLS(x, y)"),
    ("oracle", "spark", "GREATEST(x, 1)", "CASE WHEN NOT x IS NULL THEN GREATEST(x, 1) END"),
    ("oracle", "trino", "TO_CHAR(COUNT(*))", "CAST(COUNT(*) AS VARCHAR)"),
    ("oracle", "trino", "TRUNC(x, 'MM')", "DATE_TRUNC('MONTH', x)"),
    ("oracle", "snowflake", "TO_CHAR(x, '990.0')", "TO_CHAR(x, '990.0')"),
    ("snowflake", "trino", "CONTAINS(x, 'a')", "STRPOS(x, 'a') > 0"),
    ("snowflake", "oracle", "STARTSWITH(x, 'a')", "INSTR(x, 'a') = 1"),
    ("snowflake", "oracle", "ENDSWITH(x, 'a')", "SUBSTR(x, -LENGTH('a')) = 'a'"),
    ("snowflake", "oracle", "DATE_PART('minute', x)", "EXTRACT(MINUTE FROM x)"),
    ("snowflake", "oracle", "x + INTERVAL '2 minutes'", "x + INTERVAL '2' MINUTE"),
    ("flink", "oracle", "FLOOR(x TO MINUTE)", "TRUNC(x, 'MI')"),
    ("flink", "trino", "TIMESTAMPADD(HOUR, 1, x)", "(x + INTERVAL '1' HOUR)"),
    ("spark", "flink", "regexp_extract(x, 'b(c)')", "regexp_extract(x, 'b(c)', 1)"),
    ("spark", "trino", "date_format(x, 'd.MM')", "date_format(CAST(x AS TIMESTAMP), '%e.%m')"),
    ("spark", "oracle", "date_format(x, 'dd.MM')", "TO_CHAR(CAST(x AS TIMESTAMP), 'DD.MM')"),
    ("spark", "oracle", "to_timestamp(x, 'd.M')", "to_timestamp(x, 'DD.MM')"),
]


@pytest.mark.parametrize(("read", "write", "text", "expected"), TEXTS)
def test_the_same_in_other_words(read: str, write: str, text: str, expected: str) -> None:
    assert written(read, write, text) == expected


ALL_ROWS = "ALL ROWS PER MATCH"
NOTED = [
    ("trino", "snowflake", "array_agg(x)", "", "ARRAY_AGG keeps NULLs in Trino"),
    ("spark", "trino", "array_agg(x)", "", "leaves them out in Spark SQL"),
    ("bigquery", "trino", "array_agg(x)", "", None),
    ("trino", "oracle", "x || y", "", "as of an empty text in Oracle"),
    ("oracle", "databricks", "COUNT(*)", ALL_ROWS, "over the whole match in Databricks"),
    ("oracle", "databricks", "COUNT(*)", "", None),
    ("oracle", "databricks", "FINAL COUNT(*)", ALL_ROWS, None),
    ("oracle", "snowflake", "PREV(x)", "", "LAG of MEASURES sees rows of the match alone"),
    ("oracle", "trino", "FIRST(B.x)", ALL_ROWS, "FIRST finds rows after the row of the measure"),
    ("oracle", "trino", "FIRST(x)", ALL_ROWS, None),
    ("trino", "snowflake", "date_diff('hour', x, y)", "", "how often a unit of time begins"),
    ("bigquery", "snowflake", "DATE_DIFF(DATE '2020-01-02', DATE '2020-01-01', DAY)", "", None),
    ("spark", "trino", "least(x, y)", "", "LEAST of values and a NULL is NULL in Trino"),
    ("spark", "trino", "regexp_extract(x, 'a')", "", "without a match is NULL in Trino"),
]


@pytest.mark.parametrize(("read", "write", "text", "rows", "words"), NOTED)
def test_what_differs_is_noted(
    read: str, write: str, text: str, rows: str, words: str | None
) -> None:
    notes = [one.message for one in measure(read, write, text, rows).notes if not one.is_met]
    assert (words is None and not notes) or (
        words is not None and any(words in one for one in notes)
    )


def to_flink(pattern: str, define: str = "A AS x") -> Translation:
    clause = f"ORDER BY y PATTERN ({pattern}) DEFINE {define}"
    query = f"SELECT * FROM t MATCH_RECOGNIZE ({clause})"
    return translate_query(query, PRODUCTS["spark"], PRODUCTS["flink"])


def test_loops_that_give_rows_back_are_noted_for_flink() -> None:
    words = (
        "a loop never gives rows back in Flink SQL: no row that `A` could go on with is a row of "
        "`B`"
    )
    assert [one.message for one in to_flink("A+ B").notes] == [words]
    assert not to_flink("A B").notes


@pytest.mark.parametrize(
    ("pattern", "define", "words"),
    [
        ("A B+", "A AS x", "no greedy quantifier at the end of PATTERN"),
        ("A?? B", "A AS x", "no quantifier `\\?\\?`"),
        ("A B A", "A AS x", "no repeated variables in PATTERN"),
        ("A B", "A AS x > PREV(x)", "no PREV and NEXT"),
    ],
)
def test_what_flink_has_not(pattern: str, define: str, words: str) -> None:
    with pytest.raises(MatchRecognizeError, match=words):
        to_flink(pattern, define)


@pytest.mark.parametrize(
    ("write", "text", "words"),
    [
        ("oracle", "COLLECT_LIST(x)", "an array: have a row for each value"),
        ("oracle", "COUNT(DISTINCT x)", "no DISTINCT: an aggregate of a clause is over all"),
        ("trino", "SUM(x) FILTER (WHERE y > 0)", "no FILTER: an aggregate of a clause is over all"),
        ("oracle", "TRUNC(x, 'DECADE')", "no TRUNC to a unit of DECADE"),
        ("snowflake", "date_format(x, 'd.M.')", "a number without leading zeros in a format"),
        ("trino", "median(x)", "no exact percentile: write approx_percentile"),
    ],
)
def test_what_measures_of_others_have_not(write: str, text: str, words: str) -> None:
    with pytest.raises(MatchRecognizeError, match=words):
        measure("spark", write, text)


@pytest.mark.parametrize("write", ["oracle", "trino"])
def test_keys_that_are_expressions(write: str) -> None:
    query = "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY x % 2 ORDER BY y PATTERN (A))"
    with pytest.raises(MatchRecognizeError, match="expressions in PARTITION BY"):
        translate_query(query, PRODUCTS["spark"], PRODUCTS[write])


def test_an_alternative_of_a_concatenation_in_snowflake() -> None:
    given = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY y NULLS LAST PATTERN ({}))"
    read = translate_query(given.format("A B | C"), PRODUCTS["snowflake"], PRODUCTS["spark"])
    assert any("by the page of Snowflake" in one.message for one in read.notes)
    clear = translate_query(given.format("(A B) | C"), PRODUCTS["snowflake"], PRODUCTS["spark"])
    assert not clear.notes
    write = translate_query(given.format("A B | C D+"), PRODUCTS["trino"], PRODUCTS["snowflake"])
    assert "PATTERN ((A B) | (C D+))" in " ".join(write.text.split())


@pytest.mark.parametrize("write", ["trino", "bigquery", "flink", "databricks"])
def test_names_of_measures_follow_as(write: str) -> None:
    clause = "ORDER BY y MEASURES LAST(A.x) m PATTERN (A B) DEFINE A AS x > 1"
    query = f"SELECT * FROM t MATCH_RECOGNIZE ({clause})"
    found = translate_query(query, PRODUCTS["oracle"], PRODUCTS[write])
    assert " AS m" in found.text


ROWS = "SELECT k FROM t QUALIFY RANK() OVER (ORDER BY n) = 1 ORDER BY n LIMIT 2"


def test_qualify_of_oracle_is_a_number() -> None:
    text = translate_query(ROWS, PRODUCTS["snowflake"], PRODUCTS["oracle"]).text
    assert " ".join(text.split()) == (
        "SELECT k FROM (SELECT k, (CASE WHEN RANK() OVER (ORDER BY n) = 1 THEN 1 ELSE 0 END) AS"
        " qualified, n AS key_1 FROM t) t_ WHERE qualified = 1 ORDER BY key_1 FETCH FIRST 2 ROWS"
        " ONLY"
    )


@pytest.mark.parametrize(
    ("read", "write", "query", "words"),
    [
        ("snowflake", "trino", ROWS.replace("k", "*", 1), "no QUALIFY with"),
        ("snowflake", "trino", "SELECT f.value FROM LATERAL FLATTEN(x) f", "no FLATTEN: write"),
        ("snowflake", "trino", "SELECT 1 FROM TABLE(GENERATOR(ROWCOUNT => 2))", "no GENERATOR"),
        ("spark", "trino", "SELECT k, count(*) FROM t GROUP BY ALL", "no GROUP BY ALL"),
        ("trino", "oracle", "SELECT n FROM UNNEST(a) WITH ORDINALITY AS u(v, n)", "ORDINALITY:"),
        ("trino", "oracle", "SELECT histogram(x) FROM t", "no histogram: write"),
        ("trino", "oracle", "SELECT to_unixtime(x) FROM t", "no seconds since 1970"),
        ("flink", "trino", "SELECT SPLIT_INDEX(x, ';', 1) FROM t", "no SPLIT_INDEX: write"),
        ("oracle", "trino", "SELECT TO_CHAR(n, '999.99') FROM t", "no TO_CHAR of numbers"),
        ("snowflake", "trino", "SELECT TIME_SLICE(d, 2, 'DAY') FROM t", "no TIME_SLICE"),
        ("spark", "oracle", "SELECT to_json(struct(k)) FROM t", "no TO_JSON"),
        ("oracle", "trino", "SELECT LEVEL FROM dual CONNECT BY LEVEL < 3", "no CONNECT BY"),
        ("flink", "trino", "SELECT 1 FROM t GROUP BY TUMBLE(ts, INTERVAL '1' DAY)", "no TUMBLE"),
    ],
)
def test_tables_and_texts_that_the_other_lacks(
    read: str, write: str, query: str, words: str
) -> None:
    with pytest.raises(MatchRecognizeError, match=words):
        translate_query(query, PRODUCTS[read], PRODUCTS[write])
