"""Words with another meaning in other products are rewritten, noted or rejected."""

import pytest

from matchrec.dialects.products import PRODUCTS, SPARK
from matchrec.dialects.translate import Translation, translate_query
from matchrec.errors import MatchRecognizeError


def translate_measure(read: str, write: str, text: str, rows: str = "") -> Translation:
    """Translate a query with one measure."""
    clause = f"ORDER BY y NULLS LAST MEASURES {text} AS m {rows} PATTERN (A B)"
    query = f"SELECT * FROM t MATCH_RECOGNIZE ({clause})"
    return translate_query(query, PRODUCTS[read], PRODUCTS[write])


def write_measure(read: str, write: str, text: str) -> str:
    """Return a measure in another dialect."""
    text_of_query = translate_measure(read, write, text).text
    return " ".join(
        text_of_query[text_of_query.index("MEASURES ") + 9 : text_of_query.index(" AS m ")].split()
    )


EXPRESSIONS = [
    ("oracle", "spark", "x || y", "NULLIF(CONCAT_WS('', x, y), '')"),
    (
        "oracle",
        "snowflake",
        "x || y",
        "NULLIF(CONCAT(COALESCE(CAST(x AS VARCHAR), ''), COALESCE(CAST(y AS VARCHAR), '')), '')",
    ),
    (
        "oracle",
        "spark",
        "DATE '2020-01-02' || x",
        "NULLIF(CONCAT_WS('', UPPER(DATE_FORMAT(CAST('2020-01-02' AS DATE), 'dd-MMM-yy')), x), '')",
    ),
    ("oracle", "trino", "TO_CHAR(x, 'fmDD.MM. HH24')", "DATE_FORMAT(x, '%e.%c. %k')"),
    (
        "oracle",
        "trino",
        "x || 1",
        "CONCAT(COALESCE(CAST(x AS VARCHAR), ''), COALESCE(CAST(1 AS VARCHAR), ''))",
    ),
    ("oracle", "bigquery", "x || 'a'", "CONCAT(COALESCE(CAST(x AS STRING), ''), 'a')"),
    ("bigquery", "trino", "TO_JSON_STRING(x)", "JSON_FORMAT(CAST(x AS JSON))"),
    ("oracle", "trino", "CAST(x AS VARCHAR2(3))", "CAST(x AS VARCHAR(3))"),
    # CHAR without a length is CHAR(1); Flink writes CHAR VARYING for VARCHAR, too.
    ("trino", "spark", "CAST(x AS CHAR)", "LEFT(CAST(x AS STRING), 1)"),
    ("oracle", "spark", "CAST(x AS CHARACTER)", "LEFT(CAST(x AS STRING), 1)"),
    ("flink", "spark", "CAST(x AS CHARACTER)", "LEFT(CAST(x AS STRING), 1)"),
    ("flink", "spark", "CAST(x AS CHARACTER(2))", "LEFT(CAST(x AS STRING), 2)"),
    ("flink", "spark", "CAST(x AS CHAR VARYING(2))", "LEFT(CAST(x AS STRING), 2)"),
    ("trino", "oracle", "CAST(x AS CHAR)", "CAST(x AS CHAR)"),
    # Snowflake does not pad CHAR(n), which is VARCHAR(n).
    ("snowflake", "spark", "x::CHAR(3)", "CAST(x AS STRING)"),
    ("snowflake", "spark", "x::VARCHAR", "CAST(x AS STRING)"),
    ("snowflake", "trino", "x::CHAR(3)", "CAST(x AS VARCHAR(3))"),
    ("snowflake", "oracle", "CAST(x AS STRING(3))", "CAST(x AS VARCHAR2(3))"),
    ("snowflake", "spark", "TRY_CAST(x AS VARCHAR(3))", "CASE WHEN LENGTH(x) <= 3 THEN x END"),
    ("spark", "oracle", "TRUNC(x, 'MM')", "TRUNC(x, 'MM')"),
    ("spark", "oracle", "CAST(x AS DOUBLE)", "CAST(x AS DOUBLE PRECISION)"),
    ("spark", "trino", "CAST(x AS DOUBLE)", "CAST(x AS DOUBLE)"),
    ("spark", "trino", "TRY_CAST(x AS DOUBLE)", "TRY_CAST(x AS DOUBLE)"),
    # a reserved word, in the case that it has in the product without quotes
    ("spark", "oracle", "`date`", '"DATE"'),
    ("spark", "oracle", "date + level", '"DATE" + "LEVEL"'),
    ("spark", "oracle", "a.number", 'a."NUMBER"'),
    ("spark", "oracle", "`my date`", '"my date"'),
    ("spark", "oracle", "date", '"DATE"'),
    ("spark", "snowflake", "date", "date"),
    ("spark", "snowflake", "`Price` + price", '"PRICE" + price'),
    ("spark", "snowflake", "a.increment", 'a."INCREMENT"'),
    ("snowflake", "oracle", '"date"', '"date"'),
    ("spark", "flink", "value", "`value`"),
    ("spark", "bigquery", "hash", "`hash`"),
    ("spark", "trino", "date", "date"),
    ("spark", "trino", "level", "level"),
    ("spark", "flink", "regexp_extract(x, 'a')", "regexp_extract(x, 'a', 1)"),
    ("trino", "spark", "x IN (SELECT 'a' FROM u)", "x IN (SELECT 'a' FROM u)"),
    ("oracle", "trino", "GREATEST(x, y)", "GREATEST(x, y)"),
    ("oracle", "snowflake", "GREATEST(x, y)", "GREATEST(x, y)"),
    ("spark", "snowflake", "greatest(x, y)", "GREATEST_IGNORE_NULLS(x, y)"),
    ("oracle", "spark", "GREATEST(x, 1)", "CASE WHEN NOT x IS NULL THEN GREATEST(x, 1) END"),
    ("oracle", "trino", "TRUNC(x, 'MM')", "DATE_TRUNC('MONTH', x)"),
    ("oracle", "spark", "TO_CHAR(SYSDATE)", "UPPER(DATE_FORMAT(CURRENT_TIMESTAMP(), 'dd-MMM-yy'))"),
    (
        "oracle",
        "spark",
        "TO_CHAR(TRUNC(SYSDATE))",
        "UPPER(DATE_FORMAT(DATE_TRUNC('DAY', CURRENT_TIMESTAMP()), 'dd-MMM-yy'))",
    ),
    ("oracle", "snowflake", "TO_CHAR(x, '990.0')", "TO_CHAR(x, '990.0')"),
    ("oracle", "snowflake", "TO_CHAR(x, 'TM')", "TO_CHAR(x, 'TM')"),
    ("flink", "trino", "TIMESTAMPADD(HOUR, 1, x)", "(x + INTERVAL '1' HOUR)"),
    ("spark", "trino", "date_format(x, 'd.MM')", "date_format(CAST(x AS TIMESTAMP), '%e.%m')"),
    ("spark", "bigquery", "x DIV 2", "DIV(x, 2)"),
    ("spark", "bigquery", "MATCH_ROW_NUMBER()", "MATCH_ROW_NUMBER()"),
    ("spark", "trino", "first_value(A.x)", "FIRST(A.x)"),
    ("spark", "oracle", "last_value(x)", "LAST(x)"),
    ("spark", "snowflake", "last_value(x)", "last_value(x)"),
    ("spark", "oracle", "CAST(x AS INT)", "CAST(x AS INT)"),
    ("bigquery", "spark", "SAFE_DIVIDE(x, y)", "(x / NULLIF(y, 0))"),
    # In Spark and BigQuery, shifts are stronger than `&`, then come `^` and `|`.
    ("spark", "trino", "x | y & z", "BITWISE_OR(x, (BITWISE_AND(y, z)))"),
    ("spark", "snowflake", "x ^ -y[1] & f(z)", "BITXOR(x, (BITAND(-y[1], f(z))))"),
    ("spark", "snowflake", "x & y | z", "BITOR(BITAND(x, y), z)"),
    ("bigquery", "spark", "x | y & z", "x | (y & z)"),
    ("bigquery", "spark", "(x | y) & z", "(x | y) & z"),
    ("bigquery", "spark", "x & y << 2", "x & (SHIFTLEFT(y, 2))"),
    ("bigquery", "trino", "f(1, x | a.y & z)", "f(1, BITWISE_OR(x, (BITWISE_AND(a.y, z))))"),
    ("trino", "spark", "BITWISE_AND(BITWISE_OR(x, y), z)", "(x | y) & z"),
    ("spark", "bigquery", "shiftleft(x, 2) + 1", "(x << 2) + 1"),
    # In Spark and Oracle, `||` is as strong as `+`. BigQuery's is stronger, Trino's is weaker.
    ("spark", "snowflake", "x || y + z", "(x || y) + z"),
    ("spark", "bigquery", "x + y || z", "(x + y) || z"),
    ("trino", "spark", "x || y + z", "x || (y + z)"),
    # Azure's operators on bits are as strong as `+`.
    ("azure", "spark", "x & y + z", "(x & y) + z"),
    ("azure", "trino", "x + y & z", "BITWISE_AND(x + y, z)"),
    ("azure", "trino", "x | y & z * 2", "BITWISE_AND((BITWISE_OR(x, y)), z * 2)"),
    # Oracle has no `&`.
    ("spark", "oracle", "(x & 4) + 1", "(BITAND(x, 4)) + 1"),
    ("spark", "oracle", "x + y & z", "BITAND(x + y, z)"),
    # Snowflake and BigQuery have no FILTER in an aggregate.
    ("spark", "snowflake", "FINAL SUM(x) FILTER (WHERE y > 1)", "FINAL SUM(IFF(y > 1, x, NULL))"),
    ("spark", "bigquery", "FINAL SUM(x) FILTER (WHERE y > 1)", "FINAL SUM(IF(y > 1, x, NULL))"),
    ("trino", "oracle", "BITWISE_AND(x, 2) = 2", "BITAND(x, 2) = 2"),
]


@pytest.mark.parametrize(("read", "write", "text", "expected"), EXPRESSIONS)
def test_an_expression_is_written_for_a_product(
    read: str, write: str, text: str, expected: str
) -> None:
    assert write_measure(read, write, text) == expected


ALL_ROWS = "ALL ROWS PER MATCH"
NOTED = [
    ("trino", "snowflake", "array_agg(x)", "", "ARRAY_AGG keeps NULLs in Trino"),
    ("spark", "trino", "array_agg(x)", "", "drops them in Spark SQL"),
    ("bigquery", "trino", "array_agg(x)", "", None),
    ("trino", "oracle", "x || y", "", "and x in Oracle"),
    ("trino", "spark", "CAST(x AS CHAR(2))", "", "CHAR(n) is padded with spaces in Trino"),
    ("flink", "spark", "CAST(x AS CHAR(2))", "", "CHAR(n) is padded with spaces in Flink SQL"),
    ("flink", "spark", "CAST(x AS VARCHAR(2))", "", None),
    ("snowflake", "spark", "x::VARCHAR(2)", "", "an error for a longer string in Snowflake"),
    ("snowflake", "oracle", "CAST(x AS CHAR)", "", "an error for a longer string in Snowflake"),
    ("snowflake", "spark", "TRY_CAST(x AS VARCHAR(2))", "", None),
    ("oracle", "spark", "TO_CHAR(SYSDATE)", "", None),
    ("oracle", "spark", "TO_CHAR(TRUNC(SYSDATE))", "", None),
    ("oracle", "spark", "TO_CHAR(SYSDATE - 1)", "", "if t is a TIMESTAMP in Oracle"),
    ("oracle", "databricks", "COUNT(*)", ALL_ROWS, "over the whole match in Databricks"),
    ("oracle", "databricks", "COUNT(*)", "", None),
    ("oracle", "databricks", "FINAL COUNT(*)", ALL_ROWS, None),
    ("oracle", "snowflake", "PREV(x)", "", "LAG in MEASURES reads only rows of the match"),
    ("oracle", "trino", "FIRST(B.x)", ALL_ROWS, "FIRST also reads rows after the current one"),
    ("oracle", "trino", "FIRST(x)", ALL_ROWS, None),
    ("trino", "snowflake", "date_diff('hour', x, y)", "", "how often a unit of time begins"),
    ("bigquery", "snowflake", "DATE_DIFF(DATE '2020-01-02', DATE '2020-01-01', DAY)", "", None),
    ("spark", "trino", "least(x, y)", "", "LEAST of values and a NULL is NULL in Trino"),
    (
        "spark",
        "trino",
        "regexp_extract(x, 'a')",
        "",
        "without a match, Spark returns an empty string",
    ),
    ("spark", "oracle", "COUNT(*) DIV 2", "", "Oracle's CAST AS INT rounds: write TRUNC(a / b)"),
    ("spark", "oracle", "CAST(x AS DATE)", "", "Oracle's DATE keeps the time of day"),
    ("spark", "oracle", "COLLECT_LIST(x)", "", "Oracle's SQL has no arrays"),
    ("spark", "oracle", "to_json(struct(x))", "", "Oracle has no TO_JSON of a struct"),
    ("spark", "oracle", "datediff(x, y)", "", "Oracle has no DATEDIFF: write TRUNC(t)"),
    ("spark", "snowflake", "datediff(x, y)", "", "how often a unit of time begins"),
    ("spark", "snowflake", "timestampdiff(DAY, x, y)", "", "how often a unit of time begins"),
    ("spark", "snowflake", "date_format(x, 'd.M.')", "", "a number without leading zeros"),
    ("spark", "snowflake", "x RLIKE 'a'", "", "Snowflake matches the whole string"),
    ("spark", "snowflake", "regexp_like(x, 'a')", "", "Snowflake matches the whole string"),
    ("spark", "trino", "median(x)", "", "Trino returns an approximate value"),
    (
        "spark",
        "trino",
        "avg(CAST(x AS DECIMAL(9, 2)))",
        "",
        "AVG of decimals keeps their number of digits",
    ),
    ("spark", "trino", "listagg(x, '-')", "", "is not allowed in the clause: write ARRAY_JOIN("),
    ("spark", "trino", "trunc(x, 'MM')", "", "it needs the full name of the unit"),
    ("spark", "bigquery", "isnull(x)", "", "only Spark has this function: write x IS NULL"),
    ("spark", "trino", "collect_set(x)", "", "write ARRAY_DISTINCT"),
    (
        "oracle",
        "spark",
        "x || 1.50",
        "",
        "without trailing zeros and without a zero before the decimal point",
    ),
    ("spark", "trino", "percentile(x, 0.5)", "", "Trino returns an approximate value"),
    ("snowflake", "trino", "TIME_SLICE(x, 2, 'DAY')", "", "Spark has no TIME_SLICE"),
    ("snowflake", "trino", "DAYOFWEEK(x)", "", "Sunday is 0 in Snowflake"),
    ("spark", "trino", "percentile(x, 0.5)", "", "does not support"),  # as sqlglot says
]


@pytest.mark.parametrize(("read", "write", "text", "rows", "words"), NOTED)
def test_notes_name_what_differs(
    read: str, write: str, text: str, rows: str, words: str | None
) -> None:
    messages = (
        note.message
        for note in translate_measure(read, write, text, rows).notes
        if not note.is_compensated
    )
    notes = [
        message for message in messages if "rejects" not in message
    ]  # the clause has no DEFINE
    assert (words is None and not notes) or (
        words is not None and any(words in note for note in notes)
    )


def translate_to_flink(pattern: str, define: str = "A AS x", within: str = "") -> Translation:
    """Translate a clause to Flink SQL."""
    clause = f"ORDER BY y PATTERN ({pattern}) {within} DEFINE {define}"
    query = f"SELECT * FROM t MATCH_RECOGNIZE ({clause})"
    return translate_query(query, PRODUCTS["spark"], PRODUCTS["flink"])


def test_loops_that_give_rows_back_are_noted_for_flink() -> None:
    words = "a loop never gives rows back in Flink SQL: a row that fits `A` is never mapped to `B`"
    assert [note.message for note in translate_to_flink("A+ B").notes] == [words]
    assert not translate_to_flink("A B").notes


@pytest.mark.parametrize("write", ["snowflake", "bigquery", "databricks"])
def test_loops_of_flink_need_subset(write: str) -> None:
    clause = "ORDER BY y PATTERN (A{} B) DEFINE A AS A.x > 1, B AS B.x < 5"
    query = f"SELECT * FROM t MATCH_RECOGNIZE ({clause})"
    with pytest.raises(MatchRecognizeError, match="no SUBSET, without which a greedy loop"):
        translate_query(query.format("+"), PRODUCTS["flink"], PRODUCTS[write])
    assert (
        "(A{2} B)"
        in translate_query(query.format("{2}"), PRODUCTS["flink"], PRODUCTS["bigquery"]).text
    )


def test_an_option_of_flink_is_reluctant() -> None:
    words = "`?` means `??` in Flink SQL: a row that fits what follows is mapped to that"
    assert [note.message for note in translate_to_flink("A? B").notes] == [words]
    reluctant = translate_to_flink("A?? B")
    assert "PATTERN (A? B)" in reluctant.text
    assert not reluctant.notes


@pytest.mark.parametrize(
    ("pattern", "define", "words"),
    [
        ("A B+", "A AS x", "no quantifier `\\?` or a greedy one at the end of PATTERN"),
        ("A B??", "A AS x", "no quantifier `\\?` or a greedy one at the end of PATTERN"),
        ("A B A", "A AS x", "no repeated variables in PATTERN"),
        ("A B", "A AS x > PREV(x)", "no PREV and NEXT"),
    ],
)
def test_features_that_flink_lacks_are_rejected(pattern: str, define: str, words: str) -> None:
    with pytest.raises(MatchRecognizeError, match=words):
        translate_to_flink(pattern, define)


@pytest.mark.parametrize(
    ("write", "text", "words"),
    [
        (
            "oracle",
            "COUNT(DISTINCT x)",
            "no DISTINCT, because an aggregate in the clause reads all",
        ),
        (
            "trino",
            "SUM(x) FILTER (WHERE y > 0)",
            "no FILTER, because an aggregate in the clause reads all",
        ),
        (
            "oracle",
            "FINAL SUM(x) FILTER (WHERE y > 0)",
            "no FILTER, because an aggregate in the clause reads all",
        ),
    ],
)
def test_features_of_measures_that_others_lack_are_rejected(
    write: str, text: str, words: str
) -> None:
    with pytest.raises(MatchRecognizeError, match=words):
        translate_measure("spark", write, text)


REJECTED_EXPRESSIONS = [
    ("trino", "try_multiply(x, y)", "no arithmetic that returns NULL instead of an error"),
    ("flink", "try_mod(x, y)", "no arithmetic that returns NULL instead of an error"),
    ("trino", "try_sum(x)", "no arithmetic that returns NULL instead of an error"),
    ("oracle", "exists(x, e -> e > 1)", "no EXISTS over the elements of an array"),
    ("trino", "element_at(x, -1)", "does not count array elements from the end"),
    ("bigquery", "unix_timestamp(x)", "write TIMESTAMPDIFF"),
    ("snowflake", "datediff(MINUTE, x, y)", "write TIMESTAMPDIFF"),
    ("trino", "mode(x)", "Trino has no MODE"),
    ("trino", "substring(x, 0, 2)", "Trino counts the positions in a string from 1"),
    ("trino", "COUNT(*) DIV 2", "write FLOOR"),
    ("trino", "FINAL CLASSIFIER()", "write FINAL LAST"),
    ("oracle", "TRY_CAST(x AS DOUBLE)", "DEFAULT NULL ON CONVERSION ERROR"),
    ("oracle", "x | y", r"write x \+ y - BITAND\(x, y\)"),
    ("oracle", "~x & 1", "write -1 - x for ~x"),
    ("oracle", "shiftleft(x, 2)", r"write x \* POWER\(2, n\)"),
]


@pytest.mark.parametrize(("write", "text", "words"), REJECTED_EXPRESSIONS)
def test_functions_that_others_lack_are_rejected(write: str, text: str, words: str) -> None:
    with pytest.raises(MatchRecognizeError, match=words):
        translate_measure("spark", write, text)


def test_a_frame_in_a_condition_is_rejected_for_trino() -> None:
    frame = "avg(x) OVER (ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"
    query = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY y PATTERN (A) DEFINE A AS x > {frame})"
    with pytest.raises(MatchRecognizeError, match="Trino has no OVER in DEFINE"):
        translate_query(query, PRODUCTS["spark"], PRODUCTS["trino"])


def test_a_pivot_is_rejected_for_trino() -> None:
    query = "SELECT * FROM t PIVOT (max(x) FOR g IN ('a', 'b'))"
    with pytest.raises(MatchRecognizeError, match="sqlglot drops PIVOT"):
        translate_query(query, PRODUCTS["spark"], PRODUCTS["trino"])


@pytest.mark.parametrize(
    ("write", "pattern", "words"),
    [
        ("trino", "(A B)", "Trino rejects a clause without DEFINE: write DEFINE A AS 1 = 1"),
        ("oracle", "(A B)", "Oracle rejects a clause without DEFINE"),
        ("oracle", "(A) DEFINE A AS x > 1", None),
        ("bigquery", "(A B) DEFINE A AS x", "BigQuery rejects variables without a condition"),
        ("bigquery", "(A B) DEFINE A AS x, B AS x", None),
    ],
)
def test_a_missing_define_is_noted_for_products_that_need_it(
    write: str, pattern: str, words: str | None
) -> None:
    query = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY y NULLS LAST PATTERN {pattern})"
    notes = [note.message for note in translate_query(query, SPARK, PRODUCTS[write]).notes]
    assert [words in note for note in notes] == [True] if words else not notes


@pytest.mark.parametrize(
    ("write", "is_noted"), [("trino", True), ("oracle", True), ("snowflake", False)]
)
@pytest.mark.parametrize("bounds", ["{0}", "{0,0}"])
def test_a_part_without_rows_is_written_with_a_note(
    write: str, is_noted: bool, bounds: str
) -> None:
    query = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY y PATTERN (A B{bounds}) DEFINE A AS x > 1)"
    written = translate_query(query, SPARK, PRODUCTS[write])
    assert f"PATTERN (A B{bounds})" in written.text
    assert ["takes no row" in note.message for note in written.notes] == [True] * is_noted


@pytest.mark.parametrize(
    ("write", "words"), [("trino", "STRICT CONTIGUITY"), ("bigquery", "LONGEST MATCH")]
)
def test_words_after_a_pattern_are_rejected(write: str, words: str) -> None:
    query = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY y PATTERN (A) {words} DEFINE A AS x)"
    with pytest.raises(MatchRecognizeError, match=f"{PRODUCTS[write].title} has no"):
        translate_query(query, SPARK, PRODUCTS[write])


@pytest.mark.parametrize("search", ["INITIAL", "SEEK"])
def test_the_search_of_a_window_stays(search: str) -> None:
    query = (
        "SELECT COUNT(*) OVER (ORDER BY y NULLS LAST ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING"
        f" {search} PATTERN (A) DEFINE A AS x > 1) AS n FROM t"
    )
    assert translate_query(query, PRODUCTS["spark"], PRODUCTS["trino"]).text == query
    clause = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY y {search} PATTERN (A) DEFINE A AS x > 1)"
    with pytest.raises(MatchRecognizeError, match=f"{search} in MATCH_RECOGNIZE"):
        translate_query(clause, PRODUCTS["spark"], PRODUCTS["trino"])


def test_a_second_clause_applies_to_a_subquery() -> None:
    """Only BigQuery allows a clause directly after another clause."""
    first = (
        "MATCH_RECOGNIZE (ORDER BY y NULLS LAST MEASURES LAST(x) AS x PATTERN (A) DEFINE A AS y)"
    )
    second = "MATCH_RECOGNIZE (ORDER BY {}x NULLS LAST PATTERN (B) DEFINE B AS x > 1)"
    query = f"SELECT * FROM t {first} AS m {second.format('')} {second.format('')} AS n"
    translation = translate_query(query, PRODUCTS["spark"], PRODUCTS["trino"]).text
    inner = f"(SELECT * FROM t {first} AS m) {second.format('')}"
    assert translation == f"SELECT * FROM (SELECT * FROM {inner}) {second.format('')} AS n"
    assert translate_query(query, PRODUCTS["trino"], PRODUCTS["spark"]).text == query


def test_measures_over_a_window_are_named_in_trino() -> None:
    window = (
        "(ORDER BY y NULLS LAST MEASURES LAST(x) AS low ROWS BETWEEN CURRENT ROW AND UNBOUNDED"
        " FOLLOWING PATTERN (A) DEFINE A AS x > 1)"
    )
    query = f"SELECT low OVER w, first_value(x) OVER w AS l FROM t WINDOW w AS {window}"
    translation = translate_query(query, PRODUCTS["spark"], PRODUCTS["trino"]).text
    assert translation == query.replace("low OVER w,", "low OVER w AS low,")


@pytest.mark.parametrize("write", ["oracle", "trino"])
def test_keys_that_are_expressions_are_rejected(write: str) -> None:
    query = "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY x % 2 ORDER BY y PATTERN (A))"
    with pytest.raises(MatchRecognizeError, match="expressions in PARTITION BY"):
        translate_query(query, PRODUCTS["spark"], PRODUCTS[write])


def test_a_concatenation_in_an_alternative_is_noted_for_snowflake() -> None:
    template = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY y NULLS LAST PATTERN ({}))"
    read = translate_query(template.format("A B | C"), PRODUCTS["snowflake"], PRODUCTS["spark"])
    assert any("in the documentation of Snowflake" in note.message for note in read.notes)
    clear = translate_query(template.format("(A B) | C"), PRODUCTS["snowflake"], PRODUCTS["spark"])
    assert not clear.notes
    write = translate_query(template.format("A B | C D+"), PRODUCTS["trino"], PRODUCTS["snowflake"])
    assert any("in the documentation of Snowflake" in note.message for note in write.notes)


@pytest.mark.parametrize("write", ["trino", "bigquery", "flink", "databricks"])
def test_names_of_measures_follow_as(write: str) -> None:
    clause = "ORDER BY y MEASURES LAST(A.x) m PATTERN (A B) DEFINE A AS x > 1"
    query = f"SELECT * FROM t MATCH_RECOGNIZE ({clause})"
    translation = translate_query(query, PRODUCTS["oracle"], PRODUCTS[write])
    assert " AS m" in translation.text


ROWS = "SELECT k FROM t QUALIFY RANK() OVER (ORDER BY n) = 1 ORDER BY n LIMIT 2"


@pytest.mark.parametrize("write", ["oracle", "trino"])
def test_qualify_before_limit_is_rejected_for_products_without_it(write: str) -> None:
    with pytest.raises(MatchRecognizeError, match="sqlglot limits before it filters"):
        translate_query(ROWS, PRODUCTS["snowflake"], PRODUCTS[write])


def test_queries_that_spark_rejects_are_noted_for_others() -> None:
    query = "SELECT LEVEL FROM dual CONNECT BY LEVEL < 3"
    notes = translate_query(query, PRODUCTS["oracle"], PRODUCTS["trino"]).notes
    assert [note for note in notes if "CONNECT BY" in note.message]


def test_a_window_that_includes_its_end_in_flink_is_noted() -> None:
    notes = [
        note.message
        for note in translate_to_flink("A B", within="WITHIN INTERVAL '4' SECOND").notes
    ]
    assert notes == ["WITHIN includes its end in Flink SQL"]


@pytest.mark.parametrize("within", ["4", "2 * 3", ":w", "INTERVAL '1' HOUR * 2"])
def test_a_window_that_is_not_an_interval_is_rejected_for_flink(within: str) -> None:
    with pytest.raises(
        MatchRecognizeError, match="Flink SQL has no WITHIN with a number"
    ) as raised:
        translate_to_flink("A B", within=f"WITHIN {within}")
    assert "WITHIN INTERVAL '4' SECOND" in str(raised.value)


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("hello world, this is no SQL (", "hello"),
        ("", "the query is empty"),
        (";", "the query is empty"),
        ("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS x > > 1)", ">"),
        ("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS x > )", "x"),
        ("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A) DEFINE B AS x > 1)", "B"),
    ],
)
@pytest.mark.parametrize("write", ["spark", "trino"])
def test_statements_that_are_not_queries_are_rejected(query: str, word: str, write: str) -> None:
    with pytest.raises(MatchRecognizeError) as raised:
        translate_query(query, PRODUCTS["spark"], PRODUCTS[write])
    assert word in str(raised.value)


@pytest.mark.parametrize(
    ("write", "notes"),
    [
        (
            "snowflake",
            [
                "Snowflake rejects columns of another variable in DEFINE",
                "Snowflake rejects FIRST in DEFINE",
                "Snowflake rejects CLASSIFIER in DEFINE",
            ],
        ),
        ("bigquery", []),
        ("trino", []),
    ],
)
def test_documented_limits_of_a_product_are_noted(write: str, notes: list[str]) -> None:
    """Each limit is noted once, although C also reads a column of another variable."""
    query = """SELECT x FROM t MATCH_RECOGNIZE (ORDER BY y NULLS LAST MEASURES B.x AS x
        PATTERN (A B C) DEFINE A AS x, B AS B.x > A.x AND FIRST(x) > 1,
        C AS CLASSIFIER() = 'C' AND C.x > B.x)"""
    messages = [note.message for note in translate_query(query, SPARK, PRODUCTS[write]).notes]
    assert [message for message in messages if "rejects" in message] == notes


@pytest.mark.parametrize(
    ("write", "is_noted"), [("oracle", True), ("flink", True), ("bigquery", False)]
)
def test_a_parameter_as_a_bound_is_noted(write: str, is_noted: bool) -> None:
    """BigQuery's page takes one; the grammars of the others have numbers there."""
    query = (
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY y NULLS LAST PATTERN (A{:n} B) DEFINE A AS x)"
    )
    notes = [note.message for note in translate_query(query, SPARK, PRODUCTS[write]).notes]
    assert any("bound of a quantifier: write the number" in note for note in notes) is is_noted


def test_the_hint_for_a_window_fits_the_product() -> None:
    query = """SELECT x FROM t MATCH_RECOGNIZE (ORDER BY y NULLS LAST MEASURES B.x AS x
        PATTERN (A B) WITHIN INTERVAL '1' HOUR DEFINE B AS x > 1)"""
    with pytest.raises(MatchRecognizeError, match="has no WITHIN") as trino:
        translate_query(query, SPARK, PRODUCTS["trino"])
    assert "FIRST(y)" in str(trino.value.hint)
    with pytest.raises(MatchRecognizeError, match="has no WITHIN") as snowflake:
        translate_query(query, SPARK, PRODUCTS["snowflake"])
    assert "FIRST(y)" not in str(snowflake.value.hint)


def test_reserved_names_of_the_whole_query_are_quoted() -> None:
    text = """SELECT date, start.price, `mode`.x FROM access MATCH_RECOGNIZE (
  PARTITION BY level ORDER BY date
  MEASURES COUNT(*) AS number, start.date AS date
  AFTER MATCH SKIP TO LAST up PATTERN (start up+) SUBSET file = (start, up)
  DEFINE up AS size > start.size) mode"""
    assert translate_query(text, PRODUCTS["spark"], PRODUCTS["oracle"]).text == (
        """SELECT "DATE", "START".price, "MODE".x FROM "ACCESS" MATCH_RECOGNIZE (
  PARTITION BY "LEVEL" ORDER BY "DATE" NULLS FIRST
  MEASURES COUNT(*) AS "NUMBER", "START"."DATE" AS "DATE"
  AFTER MATCH SKIP TO LAST up PATTERN ("START" up+) SUBSET "FILE" = ("START", up)
  DEFINE up AS "SIZE" > "START"."SIZE") "MODE\""""
    )


def test_variables_of_bigquery_keep_their_case_in_quotes() -> None:
    text = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES CLASSIFIER() AS c
        PATTERN (Start Up) DEFINE Start AS TRUE, Up AS Start.x > 1)"""
    written = translate_query(text, PRODUCTS["bigquery"], PRODUCTS["oracle"]).text
    assert 'PATTERN ("Start" "Up") DEFINE "Start" AS' in written
    assert '"Up" AS "Start".x > 1' in written
