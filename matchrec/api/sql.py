"""`sql`, `explain` and `match_recognize`: the clause in a query, or over a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matchrec.api.dialects import parse_clause_of
from matchrec.api.inputs import Arguments, relation_of
from matchrec.api.query_call import QueryCall
from matchrec.api.remarks import explained, remarks_on, warn
from matchrec.api.signatures import ARGUMENTS
from matchrec.api.suggestions import naming_dialect
from matchrec.arguments import DATAFRAME, FLAG, TEXT, checked
from matchrec.errors.kinds import shown_in
from matchrec.frontends.sql.lower import lower
from matchrec.spark.after.expand import explode_rows
from matchrec.spark.environment import check_session
from matchrec.spark.execute import execute
from matchrec.spark.question import Options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from matchrec.explanation import Explanation
    from matchrec.spark.counters import Counters


@checked(query=TEXT, **ARGUMENTS)
def sql(  # noqa: PLR0913 -- public signature
    spark: SparkSession,
    query: str,
    args: Arguments = None,
    *,
    dialect: str = "spark",
    engine: str = "auto",
    transport: str = "auto",
    sort: str = "auto",
    max_steps: int | None = None,
    counters: Counters | None = None,
    **frames: Any,
) -> DataFrame:
    """The result of a Spark SQL query that may contain MATCH_RECOGNIZE clauses, anywhere.

    args: values of `:name` markers. frames: DataFrames that the query names as `{name}`, as in
    `spark.sql`. dialect: whose SQL the query is written in: "spark", "databricks", "snowflake",
    "oracle", "trino", "flink", "bigquery" or "azure". engine: "auto", "backtracking" or
    "breadth_first". transport: how rows reach the Python workers, "auto", "arrow" or "pandas".
    sort: who sorts each partition, "spark", the Python "worker", or "auto", which takes the worker
    where it can do so; `explain` says who does and why.
    max_steps: how often conditions that depend on the run may be asked in one partition before the
    query ends with an error, None for no limit; the cost of all others is bounded, as `explain`
    says. counters: see `Counters`.

    Runs no job; raises MatchRecognizeError for what is wrong with a clause, and Spark's own errors
    for the rest of the query.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> matchrec.sql(spark, '''
    ...     SELECT 95 - lowest AS rise FROM {ticks} MATCH_RECOGNIZE (
    ...         ORDER BY day
    ...         MEASURES LAST(DOWN.price) AS lowest
    ...         PATTERN (DOWN+ UP)
    ...         DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)
    ...     )''', ticks=ticks).show()
    +----+
    |rise|
    +----+
    |  25|
    +----+
    """
    check_session(spark)
    call = QueryCall.of(spark, query, args, frames)
    options = Options(engine, transport, sort, counters=counters, max_steps=max_steps)
    result = _result(call, dialect, options)
    return spark.sql(query, args, **frames) if result is None else result


def _result(call: QueryCall, dialect: str, options: Options) -> DataFrame | None:
    """The result of a statement; None of one that Spark reads as it is."""
    with call.naming_dialect(dialect):
        parsed = call.read(dialect)
        if parsed.sites:
            result = call.evaluation(parsed, options).dataframe()
            return result if options.counters is None else options.counters.of_query(result)
        if parsed.source.text == call.text:
            return None
        return call.evaluation(parsed, options).outer()


@checked(query=TEXT, analyze=FLAG, **ARGUMENTS)
def explain(  # noqa: PLR0913 -- public signature
    spark: SparkSession,
    query: str,
    args: Arguments = None,
    *,
    dialect: str = "spark",
    engine: str = "auto",
    sort: str = "auto",
    max_steps: int | None = None,
    analyze: bool = False,
    **frames: Any,
) -> Explanation:
    """What the query's clauses compile to and which engine runs them; arguments as of `sql`.

    analyze: the query also runs, its rows are dropped, and what it has counted is shown.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> print(matchrec.explain(spark, '''
    ...     SELECT * FROM {ticks} MATCH_RECOGNIZE (
    ...         ORDER BY day MEASURES COUNT(*) AS days
    ...         PATTERN (DOWN+) DEFINE DOWN AS price < PREV(price)
    ...     )''', ticks=ticks))
    row pattern
      DOWN+
    ...
    """
    from matchrec.explanation import Explanation
    from matchrec.spark.counters import Counters
    from matchrec.spark.environment import advice_on

    check_session(spark)
    call = QueryCall.of(spark, query, args, frames)
    with call.naming_dialect(dialect):
        parsed = call.read(dialect)
        counters = Counters() if analyze and parsed.sites else None
        options = Options(engine, sort=sort, counters=counters, max_steps=max_steps)
        evaluation = call.evaluation(parsed, options)
        results = evaluation.all()
    explanation = Explanation(tuple(explained(one, evaluation.remarks(one)) for one in results))
    if counters is None:
        return explanation
    counters.run(evaluation.outer())
    return explanation.with_counters(counters, advice_on(spark))


@checked(clause=TEXT, **ARGUMENTS)
def match_recognize(  # noqa: PLR0913 -- public signature
    df: DataFrame,
    clause: str,
    *,
    dialect: str = "spark",
    engine: str = "auto",
    transport: str = "auto",
    sort: str = "auto",
    max_steps: int | None = None,
    counters: Counters | None = None,
) -> DataFrame:
    """The rows of a MATCH_RECOGNIZE clause over a DataFrame.

    clause: what would stand between the parentheses, from PARTITION BY to DEFINE.

    Otherwise as `sql`.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> matchrec.match_recognize(ticks, '''
    ...     ORDER BY day
    ...     MEASURES FIRST(day) AS first_day, LAST(price) AS lowest
    ...     PATTERN (DOWN+)
    ...     DEFINE DOWN AS price < PREV(price)
    ... ''').show()
    +---------+------+
    |first_day|lowest|
    +---------+------+
    |        2|    70|
    +---------+------+
    """
    check_session(df.sparkSession)
    options = Options(engine, transport, sort, counters=counters, max_steps=max_steps)
    with naming_dialect(clause, dialect, lambda other: _matched(df, clause, other, options)):
        return _matched(df, clause, dialect, options)


@checked(result=DATAFRAME, column=TEXT.or_none())
def rows_of(result: DataFrame, column: str | None = None) -> DataFrame:
    """The rows of matches that come as values, one row each, as ALL ROWS PER MATCH has them.

    column: the array of rows, as MATCHED_ROWS() in MEASURES makes it or `detect` for a stage; None
    for the only one of MATCHED_ROWS(). First come the other columns of the result, then those of
    the row that the result has not; an empty match has no row.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> falls = matchrec.match_recognize(ticks, '''
    ...     ORDER BY day
    ...     MEASURES FIRST(price) - LAST(price) AS loss, MATCHED_ROWS() AS rows
    ...     PATTERN (STRT DOWN+)
    ...     DEFINE DOWN AS price < PREV(price)
    ... ''')
    >>> matchrec.rows_of(falls.where("loss > 10")).orderBy("day").show()
    +----+---+-----+----------+
    |loss|day|price|classifier|
    +----+---+-----+----------+
    |  20|  1|   90|      STRT|
    |  20|  2|   80|      DOWN|
    |  20|  3|   70|      DOWN|
    +----+---+-----+----------+
    """
    return explode_rows(result, column)


def _matched(df: DataFrame, clause: str, dialect: str, options: Options) -> DataFrame:
    node, source = parse_clause_of(df, clause, dialect)
    with shown_in(source):
        result = execute(lower(node), relation_of(df), None, options)
        warn(*remarks_on(result, source))
    return result.dataframe
