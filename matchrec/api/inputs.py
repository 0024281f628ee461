"""What a query is about: the DataFrame of its events, the dialect of its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matchrec.frontends.arguments import keys, orders
from matchrec.frontends.lexing.dialect import SPARK, Dialect, DoubleQuotes
from matchrec.plan.text.template import Template, View, template
from matchrec.spark.relation import Relation
from matchrec.spark.session import Runner

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def dialect_of(spark: SparkSession, *texts: object) -> Dialect:
    """How texts are to be read in a session, which is asked only if they have double quotes.

    Spark heeds its setting in ANSI mode only.
    """
    if not any('"' in str(text) for text in texts):
        return SPARK
    runner = Runner(spark)
    settings = ("spark.sql.ansi.enabled", "spark.sql.ansi.doubleQuotedIdentifiers")
    names = all(runner.setting(name) == "true" for name in settings)
    return Dialect(DoubleQuotes.NAME) if names else SPARK


def streams_of(
    df: DataFrame, order_by: str | Sequence[str], partition_by: str | Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What events are sorted by, and what divides them into streams. Raises MatchRecognizeError."""
    dialect = dialect_of(df.sparkSession, order_by, partition_by)
    return orders(order_by, dialect), keys(partition_by, dialect)


def relation_of(df: DataFrame) -> Relation:
    """A DataFrame as the input of a clause."""

    def select_from_df(select_list: Template) -> Template:
        return template("SELECT ", select_list, " FROM ", View("df"))

    return Relation(Runner(df.sparkSession, None, {"df": df}), select_from_df, lambda: df)
