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
