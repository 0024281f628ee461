"""A query of Spark SQL that was passed, from its text to what it gives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matchrec.api.binding import Arguments, runner_for
from matchrec.api.dialects import parse_query
from matchrec.api.evaluation import Evaluation
from matchrec.api.suggestions import naming_dialect
from matchrec.frontends.sql import Query
from matchrec.spark.execute import Options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class QueryCall:
    """The query, the values of its markers and the DataFrames that it names."""

    spark: SparkSession
    text: str
    args: Arguments
    frames: dict[str, Any]

    def read(self, dialect: str) -> Query:
        """The query, read in a dialect."""
        return parse_query(self.spark, self.text, self.args, self.frames, dialect)

    def evaluation(self, query: Query, options: Options) -> Evaluation:
        """The query on its way to a DataFrame."""
        return Evaluation(query, runner_for(self.spark, query, self.args, self.frames), options)

    def dataframe(self, dialect: str) -> DataFrame:
        """The result of the query, read in a dialect."""
        return self.evaluation(self.read(dialect), Options()).dataframe()

    @contextmanager
    def naming_dialect(self, dialect: str) -> Iterator[None]:
        """Errors raised inside name the dialect in which the query can be run, if there is one."""
        with naming_dialect(self.text, dialect, self.dataframe):
            yield
