"""Each keyword of Spark is usable as a name around a clause and in it, as in a query without one.

Spark's parser says which queries are valid without a clause. Those with a clause must be valid too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import pytest
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

import matchrec
from matchrec.errors import MatchRecognizeError
from matchrec.plan.expression import ColumnReference
from matchrec.plan.templates import Template
from matchrec.syntax.locate import parse_sql
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.query_pieces import write_outer_query, write_relation_query
from tests.quick.scale import LONG_RUN

pytestmark = [
    pytest.mark.one_of(16),
    pytest.mark.filterwarnings("ignore:MATCH_RECOGNIZE has no:UserWarning"),
]

OUTER_QUERIES = {
    "item": "SELECT {k} FROM {t}",
    "operand": "SELECT {k} + 1 AS y FROM {t}",
    "argument": "SELECT ROUND({k}, 2) FROM {t}",
    "condition": "SELECT * FROM {t} WHERE {k} > 0",
    "order": "SELECT * FROM {t} ORDER BY {k} DESC",
    "group": "SELECT count(*) FROM {t} GROUP BY {k}",
    "qualified": "SELECT m.{k} FROM {t} m",
    "alias of an item": "SELECT g AS {k} FROM {t}",
    "alias of rows": "SELECT * FROM {t} AS {k}",
    "alias of rows, without AS": "SELECT * FROM {t} {k}",
    "qualifier": "SELECT {k}.g FROM {t} AS {k}",
    "in a WITH clause": "WITH {k} AS (SELECT * FROM {t}) SELECT * FROM {k}",
    "beside a join": "SELECT * FROM {k} JOIN {t} ON x = {k}.x",
}
WITHOUT_AS = "alias of the input, without AS"
INPUT_QUERIES = {
    "alias of the input": "SELECT * FROM t AS {k}{clause}",
    WITHOUT_AS: "SELECT * FROM t {k}{clause}",
    "name of the input": "SELECT * FROM {k}{clause}",
    "schema of the input": "SELECT * FROM {k}.t{clause}",
    "column of a subquery": "SELECT * FROM (SELECT v AS {k} FROM t WHERE {k} > 1){clause}",
}
TESTED_WITH_ALL_WORDS = {"item", "alias of rows, without AS", WITHOUT_AS}
"""Queries in which a word can be a name or an operator. Others get a third of the words."""
CLAUSE = " MATCH_RECOGNIZE (ORDER BY n PATTERN (A B+) DEFINE B AS v < PREV(v))"
FORMS = """
    {k}   {k} + 1   -{k}   abs({k})   v > {k}   {k} IS NULL   v BETWEEN {k} AND {k}
    {k} IN ({k}, 2)   CASE WHEN {k} > 1 THEN {k} ELSE {k} END   CASE {k} WHEN 1 THEN {k} END
    CAST({k} AS STRING)   {k}::string   {k} LIKE {k}   v = 1 AND {k}   v OR {k} = 2   {k}[0]
    v LIKE 'a' OR {k} RLIKE 'b'   struct(v AS {k}, {k} AS v)   trim(BOTH FROM {k})   {k}.v
    extract(DAY FROM {k})   v - INTERVAL '1' DAY > {k}   v IS DISTINCT FROM {k}   NOT ({k} > 1)
"""
EXPRESSIONS = [
    form.strip() for line in FORMS.splitlines() for form in line.split("   ") if form.strip()
]
AMBIGUOUS = {"as", "not", "is"}
"""Names that Spark accepts because it tries all readings of a text. Here they need backticks."""
AFTER_RELATION = {"where", "having", "qualify", "limit", "offset"}
"""Words that follow a relation. `FROM t where MATCH_RECOGNIZE (...)` needs AS or backticks."""
CURRENT = {"current_date", "current_time", "current_timestamp", "current_user", "session_user"}
"""Values that are not columns, unless they are qualified."""
CURRENT |= {"user", "localtime", "true", "false", "null"}


@pytest.fixture(scope="module")
def keywords(spark: SparkSession) -> list[str]:
    """Return all keywords of Spark."""
    keywords = [
        row.keyword.lower() for row in spark.sql("SELECT keyword FROM sql_keywords()").collect()
    ]
    assert len(keywords) > 400
    return keywords


def choose_words(words: Sequence[str], number: int, step: int = 3) -> Sequence[str]:
    """Return every n-th word, other ones for each test, or all words in a long run."""
    return words if LONG_RUN else words[number % step :: step]


def list_words(keywords: list[str], shapes: Mapping[str, str], name: str) -> Sequence[str]:
    """Return the words with which a query of `shapes` is tested."""
    words = sorted(set(keywords) - AMBIGUOUS)
    return words if name in TESTED_WITH_ALL_WORDS else choose_words(words, [*shapes].index(name))


@cache
def is_spark_sql(spark: SparkSession, text: str) -> bool:
    """Return whether Spark can parse a text."""
    parser = spark._jsparkSession.sessionState().sqlParser()  # type: ignore[attr-defined]
    try:
        parser.parsePlan(text)
    except ParseException:
        return False
    return True


def write_query(template: Template) -> str:
    """Return the text of a query."""
    return "".join(part if isinstance(part, str) else part.name for part in template)


def list_spark_queries(query: str) -> Iterator[str]:
    """Yield the queries that matchrec passes to Spark."""
    parsed = parse_sql(query)
    for site in parsed.sites:
        lower_clause(site.clause)
        yield write_query(write_relation_query(parsed, site))
    yield write_query(write_outer_query(parsed))


def is_valid_query(spark: SparkSession, query: str) -> bool:
    """Return whether a query with a clause can be parsed, by matchrec and then by Spark."""
    try:
        return all(is_spark_sql(spark, text) for text in list_spark_queries(query))
    except MatchRecognizeError:
        return False


@pytest.mark.parametrize("name", OUTER_QUERIES)
def test_keywords_around_a_clause_are_names_as_in_spark(
    spark: SparkSession, keywords: list[str], name: str
) -> None:
    query = OUTER_QUERIES[name]
    different = [
        word
        for word in list_words(keywords, OUTER_QUERIES, name)
        if is_valid_query(spark, query.format(k=word, t=f"t{CLAUSE}"))
        is not is_spark_sql(spark, query.format(k=word, t="match_recognize_0"))
    ]
    assert not different


@pytest.mark.parametrize("name", INPUT_QUERIES)
def test_keywords_in_the_input_of_a_clause_are_names_as_in_spark(
    spark: SparkSession, keywords: list[str], name: str
) -> None:
    query = INPUT_QUERIES[name]
    rejected = [
        word
        for word in list_words(keywords, INPUT_QUERIES, name)
        if is_spark_sql(spark, query.format(k=word, clause=""))
        and not is_valid_query(spark, query.format(k=word, clause=CLAUSE))
    ]
    assert not {*rejected} - (AFTER_RELATION if name == WITHOUT_AS else set())


@pytest.mark.parametrize(("number", "expression"), [*enumerate(EXPRESSIONS)])
def test_keywords_in_an_expression_are_names_as_in_spark(
    spark: SparkSession, keywords: list[str], number: int, expression: str
) -> None:
    rejected = []
    words = sorted(set(keywords) - AMBIGUOUS - CURRENT)
    for word in choose_words(words, number, 6):
        text = expression.format(k=word)
        if not is_spark_sql(spark, f"SELECT {text} AS y FROM t"):
            continue
        query = f"SELECT * FROM t MATCH_RECOGNIZE (MEASURES {text} AS y PATTERN (A))"
        try:
            (measure,) = lower_clause(parse_sql(query).sites[0].clause).measures
        except MatchRecognizeError:
            rejected.append(word)
            continue
        columns = [
            reference
            for reference in measure.value.references
            if isinstance(reference, ColumnReference)
        ]
        if word not in {column.argument.split(".")[0] for column in columns}:
            rejected.append(word)
    assert not rejected


@pytest.mark.parametrize(
    ("number", "part"),
    [
        (0, "PARTITION BY {k}"),
        (1, "ORDER BY {k} DESC"),
        (2, "ORDER BY {k}"),
        (3, "ORDER BY n, {k} MEASURES CASE WHEN B.x > 1 THEN 2 END AS y"),
        (4, "MEASURES B.{k} AS {k}"),
    ],
)
def test_keywords_in_a_part_of_a_clause_are_names_as_in_spark(
    spark: SparkSession, keywords: list[str], number: int, part: str
) -> None:
    column_names = [
        word
        for word in keywords
        if is_spark_sql(spark, f"SELECT {word}, t.{word} AS {word} FROM t")
        and word not in CURRENT | AMBIGUOUS
    ]
    assert len(column_names) > 400
    query = f"SELECT * FROM t MATCH_RECOGNIZE ({part} PATTERN (A B))"
    words = choose_words(column_names, number)
    rejected = [word for word in words if not is_valid_query(spark, query.format(k=word))]
    assert not rejected


def test_one_query_can_have_all_keywords_as_names(spark: SparkSession, keywords: list[str]) -> None:
    """Columns named like keywords have the same values as in a query without a clause."""
    names = [word for word in keywords if word not in AMBIGUOUS | CURRENT]
    columns = ", ".join(f"{number} + n AS `{name}`" for number, name in enumerate(names))
    spark.sql(f"SELECT {columns} FROM VALUES (1), (2) AS v(n)").createOrReplaceTempView("words")
    items = ", ".join(f"q.{name}" for name in names)
    plain = spark.sql(f"SELECT {items} FROM words q")
    matches = matchrec.sql(
        spark, f"SELECT {items} FROM words MATCH_RECOGNIZE (ALL ROWS PER MATCH PATTERN (A+)) AS q"
    )
    assert matches.columns == plain.columns
    assert sorted(matches.collect()) == sorted(plain.collect())
    spark.catalog.dropTempView("words")


def test_a_column_called_as_a_part_of_a_query_ends_no_condition(spark: SparkSession) -> None:
    """A condition on all rows is not taken from half of a WHERE."""
    rows = "VALUES (1, 1, 5), (2, 1, 6), (3, 1, 7) AS t(g, n, {k})"
    clause = "MATCH_RECOGNIZE (PARTITION BY g ORDER BY n MEASURES LAST({k}) AS {k} PATTERN (A))"
    where = "WHERE g = 1 AND {k} = 5 OR g = 2"
    for word in ("limit", "group", "order", "having", "offset", "window", "minus", "qualify"):
        query = f"SELECT * FROM {rows} {clause} {where}".format(k=word)
        matches = matchrec.sql(spark, query).collect()
        assert sorted(tuple(row) for row in matches) == [(1, 5), (2, 6)], word


def test_a_colon_reads_a_field_of_a_variant(spark: SparkSession) -> None:
    query = """SELECT parse_json(s):a::int AS a, low FROM (
        SELECT * FROM VALUES (1, '{"a": 3}'), (2, '{"a": 1}') AS t(n, s)
      ) MATCH_RECOGNIZE (ORDER BY n MEASURES LAST(s) AS s, LAST(parse_json(s):a::int) AS low
        PATTERN (A B) DEFINE B AS parse_json(s):a::int < 2)"""
    assert [tuple(row) for row in matchrec.sql(spark, query).collect()] == [(1, 1)]
