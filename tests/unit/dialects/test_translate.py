"""Clauses and queries of other products as Spark SQL, and back; expected texts by hand."""

import pytest

from matchrec.dialects.products import PRODUCTS
from matchrec.dialects.translate import translate_clause, translate_query
from matchrec.errors import MatchRecognizeError

SPARK = PRODUCTS["spark"]

CLAUSES = [
    (
        "bigquery",
        "PATTERN (a{@n} b{@low,@high}) DEFINE a AS x > @y OPTIONS (use_longest_match = TRUE)",
        "PATTERN (a{:n} b{:low,:high}) LONGEST MATCH DEFINE a AS x > :y",
    ),
    (
        "trino",
        "PATTERN (A) DEFINE A AS date_add('quarter', 1, d) < date_add('millisecond', -1500, e)",
        "PATTERN (A) DEFINE A AS (d + INTERVAL '3' MONTH) < (e + INTERVAL '-1.500' SECOND)",
    ),
    (
        "flink",
        "AFTER MATCH SKIP TO NEXT ROW PATTERN (A) DEFINE A AS CAST(x AS VARCHAR(3)) = 'abc'",
        "AFTER MATCH SKIP TO NEXT ROW PATTERN (A) DEFINE A AS LEFT(CAST(x AS STRING), 3) = 'abc'",
    ),
    # rows without columns, which COUNT(*) around the clause counts
    (
        "oracle",
        "ORDER BY d DESC PATTERN (A) DEFINE A AS x > 1",
        (
            "ORDER BY d DESC NULLS FIRST MEASURES MATCH_NUMBER() AS match_number "
            "PATTERN (A) DEFINE A AS x > 1"
        ),
    ),
    (
        "trino",
        "MEASURES FINAL LAST(x || '(') AS a, FINAL arbitrary(')') AS b PATTERN (A)",
        "MEASURES FINAL LAST(x || '(') AS a, FINAL ANY_VALUE(')') AS b PATTERN (A)",
    ),
    (
        "oracle",
        "MEASURES TO_CHAR(A.t, 'yyyy-mm-dd hh24:mi') AS s PATTERN (A)",
        "MEASURES DATE_FORMAT(A.t, 'yyyy-MM-dd HH:mm') AS s PATTERN (A)",
    ),
    (
        "databricks",
        "PATTERN (A) DEFINE A AS x > match_recognize_prev(x)",
        "PATTERN (A) DEFINE A AS x > PREV(x)",
    ),
    (
        "snowflake",
        "ORDER BY d PATTERN (A B+) DEFINE B AS price < LAG(price)",
        "ORDER BY d NULLS LAST PATTERN (A B+) DEFINE B AS price < PREV(price)",
    ),
    (
        "snowflake",
        "ORDER BY d DESC PATTERN (A) DEFINE A AS x > LEAD(x, 2, 0)",
        (
            "ORDER BY d DESC NULLS FIRST PATTERN (A) "
            "DEFINE A AS x > IF(NEXT((x) IS NULL, 2) IS NULL, 0, NEXT(x, 2))"
        ),
    ),
    (
        "snowflake",
        "MEASURES MATCH_SEQUENCE_NUMBER() AS n, CLASSIFIER AS c, FIRST_VALUE(x) AS f PATTERN (A)",
        "MEASURES RUNNING COUNT(*) AS n, CLASSIFIER() AS c, FIRST(x) AS f PATTERN (A)",
    ),
    (
        "snowflake",
        'MEASURES FINAL SUM(A.x::int) AS "a sum" PATTERN ("a b" A) DEFINE A AS "a b".x = 1',
        "MEASURES FINAL SUM(CAST(A.x AS INT)) AS `a sum` PATTERN (`a b` A) DEFINE A AS `a b`.x = 1",
    ),
    (
        "oracle",
        "ORDER BY d NULLS FIRST MEASURES NVL(A.x, 0) n PATTERN (A) DEFINE A AS NEXT(x) > 1",
        "ORDER BY d NULLS FIRST MEASURES COALESCE(A.x, 0) n PATTERN (A) DEFINE A AS NEXT(x) > 1",
    ),
    (
        "trino",
        "MEASURES count() AS n, RUNNING arbitrary(x) AS y PATTERN (^ A{2,} | B$) SUBSET U = (A, B)",
        (
            "MEASURES count(*) AS n, RUNNING ANY_VALUE(x) AS y PATTERN (^ A{2,} | B$) "
            "SUBSET U = (A, B)"
        ),
    ),
    (
        "flink",
        "ORDER BY ts PATTERN (A B) WITHIN INTERVAL '1' HOUR DEFINE A AS TRUE",
        (
            "ORDER BY ts AFTER MATCH SKIP TO NEXT ROW "
            "PATTERN (A B) WITHIN INTERVAL '1' HOUR + INTERVAL '0.000001' SECOND DEFINE A AS TRUE"
        ),
    ),
    (
        "flink",
        "AFTER MATCH SKIP PAST LAST ROW PATTERN (A B)",
        "AFTER MATCH SKIP PAST LAST ROW PATTERN (A B)",
    ),
    (
        "bigquery",
        "MEASURES MAX(MATCH_ROW_NUMBER()) AS n PATTERN (A) DEFINE A AS x > PREV(x) + @step",
        "MEASURES MAX(MATCH_ROW_NUMBER()) AS n PATTERN (A) DEFINE A AS x > PREV(x) + :step",
    ),
    (
        "bigquery",
        (
            "MEASURES STRING_AGG(CLASSIFIER()) AS s, SUM(low.x) AS n PATTERN (low Low+) "
            "DEFINE low AS y"
        ),
        (
            "MEASURES ARRAY_JOIN(NULLIF(COLLECT_LIST(CLASSIFIER()), ARRAY()), ',') AS s, "
            "SUM(`low`.x) AS n PATTERN (`low` `low`+) DEFINE `low` AS y"
        ),
    ),
    (
        "bigquery",
        "MEASURES ANY_VALUE(x HAVING MIN y) AS m PATTERN ((a|) (| b | )+)",
        ("MEASURES MIN_BY(x, y) AS m PATTERN ((a| ()) (() | b | () )+)"),
    ),
    (
        "bigquery",
        "PATTERN (A B+) DEFINE A AS x = 1, B AS x > 1 OPTIONS (use_longest_match = TRUE)",
        "PATTERN (A B+) LONGEST MATCH DEFINE A AS x = 1, B AS x > 1",
    ),
    (
        "snowflake",
        "MEASURES LAG(x) AS a, FINAL LEAD(x, 2, 0) AS b ALL ROWS PER MATCH PATTERN (A)",
        (
            "MEASURES IF(COUNT(*) > 1, PREV(x, 1), NULL) AS a, "
            "IF(FINAL COUNT(*) + 2 <= FINAL COUNT(*), NEXT(FINAL LAST(x), 2), 0) AS b "
            "ALL ROWS PER MATCH PATTERN (A)"
        ),
    ),
    (
        "snowflake",
        "PATTERN (A) DEFINE A AS FIRST_VALUE(x) < AVG(x) OVER (ROWS 2 PRECEDING)",
        (
            "PATTERN (A) DEFINE A AS FIRST_VALUE(x) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND "
            "UNBOUNDED FOLLOWING) < AVG(x) OVER (ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"
        ),
    ),
    (
        "snowflake",
        "MEASURES DATEADD(minute, -5, t) AS a, DATEDIFF(hour, s, t) AS b PATTERN (A)",
        (
            "MEASURES (t + INTERVAL '-5' MINUTE) AS a, "
            "TIMESTAMPDIFF(hour, DATE_TRUNC('HOUR', s), DATE_TRUNC('HOUR', t)) AS b PATTERN (A)"
        ),
    ),
    (
        "databricks",
        "MEASURES max(x) AS m, RUNNING sum(x) AS s ALL ROWS PER MATCH PATTERN (A)",
        "MEASURES FINAL max(x) AS m, RUNNING sum(x) AS s ALL ROWS PER MATCH PATTERN (A)",
    ),
    (
        "databricks",
        "MEASURES nvl(A.x, 1) AS n -- kept\nPATTERN (A)",
        "MEASURES nvl(A.x, 1) AS n -- kept\nPATTERN (A)",
    ),
    # an alternative without rows
    ("bigquery", "PATTERN (a (b |)+ ||c)", "PATTERN (a (b | ())+ |() |c)"),
    ("bigquery", "PATTERN ((|)|)", "PATTERN ((() | ())| ())"),
]


@pytest.mark.parametrize(("product", "text", "expected"), CLAUSES)
def test_a_clause_as_spark_reads_it(product: str, text: str, expected: str) -> None:
    assert translate_clause(text, PRODUCTS[product], SPARK).text == expected


QUERIES = [
    (
        "snowflake",
        (
            'SELECT "a b"::int FROM (SELECT * FROM t WHERE x::date > d) '
            "MATCH_RECOGNIZE (PATTERN (A)) ORDER BY 1"
        ),
        (
            "SELECT CAST(`a b` AS INT) FROM (SELECT * FROM t WHERE CAST(x AS DATE) > d) "
            "MATCH_RECOGNIZE (PATTERN (A)) ORDER BY 1 NULLS LAST"
        ),
    ),
    (
        "trino",
        'SELECT * FROM {frame} MATCH_RECOGNIZE (PATTERN (A)) AS m WHERE "X" > :least',
        "SELECT * FROM {frame} MATCH_RECOGNIZE (PATTERN (A)) AS m WHERE `X` > :least",
    ),
    (
        "trino",
        (
            "SELECT * FROM (SELECT * FROM t MATCH_RECOGNIZE (ORDER BY a PATTERN (A))) u "
            "MATCH_RECOGNIZE (ORDER BY b DESC PATTERN (B))"
        ),
        (
            "SELECT * FROM (SELECT * FROM t MATCH_RECOGNIZE (ORDER BY a NULLS LAST PATTERN (A))) "
            "AS u MATCH_RECOGNIZE (ORDER BY b DESC PATTERN (B))"
        ),
    ),
]


@pytest.mark.parametrize(("product", "text", "expected"), QUERIES)
def test_a_query_as_spark_reads_it(product: str, text: str, expected: str) -> None:
    translation = translate_query(text, PRODUCTS[product], SPARK).text
    assert " ".join(translation.split()) == " ".join(expected.split())


@pytest.mark.parametrize(
    "product", [name for name, product in PRODUCTS.items() if product.is_translation_target]
)
def test_a_query_that_is_translated_to_a_product_and_back_is_the_same(product: str) -> None:
    text = (
        "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts NULLS FIRST\n"
        "MEASURES LAST(A.x) AS y, `A b`.z AS `q w` -- a comment\n"
        "ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW\n"
        "PATTERN (A `A b`+) DEFINE `A b` AS x > PREV(x) AND y < 3) AS m"
    )
    if product == "flink":  # which has neither PREV nor an open end
        text = text.replace("+)", "{2})").replace("PREV(x)", "LAST(x, 1)")
    if product == "bigquery":  # which rejects variables without a condition
        text = text.replace("y < 3)", "y < 3, A AS TRUE)")
    translated = translate_query(text, SPARK, PRODUCTS[product]).text
    back = translate_query(translated, PRODUCTS[product], SPARK).text
    assert " ".join(back.split()) == " ".join(text.split())


@pytest.mark.parametrize(
    ("definitions", "kept"),
    [
        ("X AS x, A AS y", "DEFINE A AS y"),
        ("A AS y, X AS x", "DEFINE A AS y"),
        ("X AS x, Y AS z::int, A AS y, Z AS x, B AS z, X AS x", "DEFINE A AS y, B AS z"),
        ("X AS x", ""),
    ],
)
def test_definitions_that_snowflake_does_not_use(definitions: str, kept: str) -> None:
    clause = f"PATTERN (A B) DEFINE {definitions}"
    translation = translate_clause(clause, PRODUCTS["snowflake"], SPARK)
    assert translation.text == f"PATTERN (A B) {kept}"


AZURE_QUERY = (
    "SELECT * INTO o FROM i TIMESTAMP BY t OVER k MATCH_RECOGNIZE (LIMIT DURATION(mi, 5) "
    "PARTITION BY k\nMEASURES Last(A.x) AS x, Classifier() AS c PATTERN (A) "
    "DEFINE A AS System.Timestamp() > y) AS m"
)


def test_a_query_of_azure_is_translated() -> None:
    translation = translate_query(AZURE_QUERY, PRODUCTS["azure"], SPARK)
    assert " ".join(translation.text.split()) == (
        "SELECT * FROM i MATCH_RECOGNIZE ( PARTITION BY k ORDER BY t "
        "MEASURES Last(A.x) AS x, COLLECT_LIST(Classifier()) AS c AFTER MATCH SKIP TO NEXT ROW "
        "PATTERN (`A`) WITHIN INTERVAL '5' MINUTE DEFINE `A` AS t > y) AS m"
    ).replace("Last(A.x)", "Last(`A`.x)")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("A . B", "A  ANY_ROW  B"),
        ("A.*(.|B)+", "A ANY_ROW *( ANY_ROW |B)+"),
        (". any_row", "ANY_ROW_  any_row"),
    ],
)
def test_any_row_in_a_pattern_of_azure_becomes_a_variable(pattern: str, expected: str) -> None:
    clause = f"LIMIT DURATION (day, 1) PATTERN ({pattern}) DEFINE A AS x > 1) AS m"
    query = f"SELECT * FROM i TIMESTAMP BY t OVER k, l MATCH_RECOGNIZE (PARTITION BY l, k {clause}"
    translation = translate_query(query, PRODUCTS["azure"], SPARK).text
    pattern = translation[translation.index("PATTERN (") + 9 : translation.index(") WITHIN")]
    assert " ".join(pattern.split()) == " ".join(expected.split())


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_product_converts_to_itself(product: str) -> None:
    options = "" if product == "spark" else " OPTIONS (n = 1)"
    text = f"SELECT lag(x) OVER (ORDER BY y)  FROM t MATCH_RECOGNIZE (PATTERN (a b?){options})"
    assert translate_query(text, PRODUCTS[product], PRODUCTS[product]).text == text


def test_an_option_of_bigquery_is_an_error_in_snowflake() -> None:
    clause = "PATTERN (A) DEFINE A AS TRUE OPTIONS (use_longest_match = FALSE)"
    assert translate_clause(clause, PRODUCTS["bigquery"], SPARK).text == (
        "PATTERN (A) DEFINE A AS TRUE"
    )
    with pytest.raises(MatchRecognizeError):
        translate_clause(clause, PRODUCTS["snowflake"], SPARK)


@pytest.mark.parametrize(
    ("product", "clause"),
    [
        ("bigquery", "PATTERN (A) DEFINE A AS TRUE OPTIONS (use_longest_match = TRUE"),
        ("azure", "LIMIT DURATION (minute, 5 PATTERN (A) DEFINE A AS TRUE"),
    ],
)
def test_an_option_that_is_not_closed_is_an_error(product: str, clause: str) -> None:
    with pytest.raises(MatchRecognizeError, match=r"`\(` is not closed in MATCH_RECOGNIZE"):
        translate_clause(clause, PRODUCTS[product], SPARK)


@pytest.mark.parametrize("read", ["snowflake", "databricks"])
def test_another_order_of_columns_is_noted(read: str) -> None:
    clause = "MEASURES LAST(x) AS y ALL ROWS PER MATCH PATTERN (A) DEFINE A AS TRUE"
    notes = translate_clause(clause, PRODUCTS[read], SPARK).notes
    assert [(note.is_compensated, "another order" in note.message) for note in notes] == [
        (True, True)
    ]


REJECTED_CLAUSES = [
    (
        "bigquery",
        "spark",
        "MEASURES SUM(x HAVING MAX y) AS a PATTERN (A)",
        "Spark SQL has no equivalent of this SUM",
    ),
    (
        "bigquery",
        "spark",
        "MEASURES CAST(x AS STRING FORMAT 'YYYY') AS a PATTERN (A)",
        "Spark SQL has no equivalent of this CAST",
    ),
    ("azure", "spark", "PATTERN (A) DEFINE A AS TRUE", "Azure Stream Analytics orders events by"),
    ("spark", "snowflake", "PATTERN (A B) SUBSET U = (A, B)", "Snowflake has no SUBSET"),
    ("spark", "oracle", "MEASURES matched_rows(A) AS m PATTERN (A)", "Oracle has no MATCHED_ROWS"),
    ("spark", "trino", "PATTERN (A B) ALL MATCHES", "Trino has no event selection"),
    ("spark", "standard", "ORDER BY t PATTERN (A) WITHIN 5", "the standard has no WITHIN"),
    ("trino", "flink", "PATTERN (A | B)", "Flink SQL has no alternatives `|`"),
    ("spark", "databricks", "PATTERN (A+? B)", "Databricks has no reluctant quantifiers"),
    ("spark", "bigquery", "ALL ROWS PER MATCH PATTERN (A)", "BigQuery has no ALL ROWS PER MATCH"),
    (
        "oracle",
        "spark",
        "MEASURES TO_CHAR(x, '999.9EEEE') AS s PATTERN (A)",
        "Spark SQL has no equivalent of this TO_CHAR",
    ),
    (
        "oracle",
        "spark",
        "MEASURES TO_CHAR(x, 'DD MON', 'NLS_DATE_LANGUAGE=German') AS s PATTERN (A)",
        "Spark SQL has no equivalent of this TO_CHAR",
    ),
    # Trino has no minutes without leading zeros, and Snowflake no such days.
    (
        "oracle",
        "trino",
        "MEASURES TO_CHAR(x, 'fmHH24:MI') AS s PATTERN (A)",
        "Trino SQL has no equivalent of this TO_CHAR",
    ),
    (
        "oracle",
        "snowflake",
        "MEASURES TO_CHAR(x, 'fmDD') AS s PATTERN (A)",
        "Snowflake SQL has no equivalent of this TO_CHAR",
    ),
    # DATE_FORMAT, as sqlglot writes for Trino, does not accept a number.
    (
        "oracle",
        "trino",
        "MEASURES TO_CHAR(x, 'TM9') AS s PATTERN (A)",
        "Trino SQL has no equivalent of this TO_CHAR",
    ),
    (
        "oracle",
        "trino",
        'MEASURES FINAL "A".x AS s PATTERN (A)',
        "FINAL is not allowed before a column",
    ),
    (
        "bigquery",
        "spark",
        "MEASURES CAST(x AS STRING(3)) AS s PATTERN (A)",
        "Spark SQL has no equivalent of this CAST",
    ),
    ("snowflake", "spark", "PATTERN (A) DEFINE A AS x::", "this is not valid Snowflake SQL"),
]


@pytest.mark.parametrize(("read", "write", "text", "message"), REJECTED_CLAUSES)
def test_constructs_without_a_translation_are_rejected(
    read: str, write: str, text: str, message: str
) -> None:
    with pytest.raises(MatchRecognizeError) as raised:
        translate_clause(text, PRODUCTS[read], PRODUCTS[write])
    assert raised.value.message.startswith(message)
    assert raised.value.span is not None


@pytest.mark.parametrize(
    ("read", "write", "text", "noted"),
    [
        ("trino", "spark", "PATTERN (A) DEFINE A AS x / 2 > 1", True),
        ("trino", "spark", "PATTERN (A) DEFINE A AS x / 2e0 > 1", False),
        ("spark", "trino", "PATTERN (A) DEFINE A AS (x + 1) / y > 1", True),
        ("trino", "flink", "PATTERN (A) DEFINE A AS x / 2 > 1", False),
        ("snowflake", "spark", "PATTERN (A) DEFINE A AS x / 2 > 1", False),
    ],
)
def test_a_quotient_of_integers_is_noted(read: str, write: str, text: str, noted: bool) -> None:
    translation = translate_clause(text, PRODUCTS[read], PRODUCTS[write])
    assert [note.span.start for note in translation.notes] == [24] * noted


@pytest.mark.parametrize(
    ("write", "other"), [("spark", "an interval in Spark SQL"), ("trino", "another value in Trino")]
)
def test_a_difference_of_unknown_types_names_the_other_product(write: str, other: str) -> None:
    text = "MEASURES LAST(d) - FIRST(d) AS s PATTERN (A) DEFINE A AS TRUE"
    (note,) = translate_clause(text, PRODUCTS["oracle"], PRODUCTS[write]).notes
    assert other in note.message


def test_quotients_of_decimals_have_digits_as_in_trino() -> None:
    text = "PATTERN (A) DEFINE A AS 0.25 * COUNT(*) / 3 > x / 2.0"
    translation = translate_clause(text, PRODUCTS["trino"], PRODUCTS["spark"])
    assert "CAST(0.25 * COUNT(*) / 3 AS DECIMAL(38, 2)) > x / 2.0" in translation.text
    (note,) = translation.notes
    assert note.message.startswith("Trino rounds a quotient of decimals")
    assert text[note.span.start : note.span.end] == "0.25 * COUNT(*) / 3 > x / 2.0"


@pytest.mark.parametrize(
    ("read", "write", "clause", "message"),
    [
        (
            "bigquery",
            "trino",
            "PATTERN (A) DEFINE A AS x > 1 OPTIONS (use_longest_match = TRUE)",
            "Trino has no LONGEST MATCH",
        ),
        (
            "spark",
            "trino",
            "PATTERN (A) FIRST 3 MATCHES DEFINE A AS x > 1",
            r"Trino has no FIRST k MATCHES",
        ),
        ("snowflake", "oracle", "PATTERN (A) WITHIN 3 DEFINE A AS x > 1", "Oracle has no WITHIN"),
    ],
)
def test_an_error_names_the_feature_that_the_product_lacks(
    read: str, write: str, clause: str, message: str
) -> None:
    with pytest.raises(MatchRecognizeError, match=message):
        translate_clause(clause, PRODUCTS[read], PRODUCTS[write])


WINDOWS = (
    'SELECT id, "low" OVER w, array_agg(x) OVER w, '
    'lag(x) OVER (PARTITION BY "k" ORDER BY id {frame})\n'
    'FROM "t" WINDOW w AS (ORDER BY id MEASURES LAST(x) AS "low" {frame})'
)
FRAME = "ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING SEEK PATTERN (A+) DEFINE A AS {condition}"


def test_windows_are_translated_with_their_calls() -> None:
    trino = FRAME.format(condition="\"x\" = date_add('day', 1, d)")
    spark = FRAME.format(condition="`x` = (d + INTERVAL '1' DAY)")
    text = translate_query(WINDOWS.format(frame=trino), PRODUCTS["trino"], SPARK).text
    collected = "NULLIF(TRANSFORM(COLLECT_LIST(STRUCT(x AS item)), row -> row.item), ARRAY())"
    assert text == (
        f"SELECT id, `low` OVER w, {collected} OVER w, "
        f"lag(x) OVER (PARTITION BY `k` ORDER BY id NULLS LAST {spark})\n"
        f"FROM `t` WINDOW w AS (ORDER BY id NULLS LAST MEASURES LAST(x) AS `low` {spark})"
    )


def test_windows_with_patterns_are_rejected_for_oracle() -> None:
    text = WINDOWS.format(frame=FRAME.format(condition="x > 1"))
    with pytest.raises(MatchRecognizeError, match="Oracle SQL has no PATTERN in windows"):
        translate_query(text, PRODUCTS["trino"], PRODUCTS["oracle"])
