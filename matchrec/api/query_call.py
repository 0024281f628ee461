"""A query of Spark SQL that was passed, from its text to what it gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from matchrec.api.dialects import parse_query
from matchrec.api.evaluation import Evaluation
from matchrec.api.inputs import Arguments, runner_for
from matchrec.api.signatures import ARGUMENTS
from matchrec.api.suggestions import naming_dialect
from matchrec.dataclass import dataclass
from matchrec.errors.calls import unused_name
from matchrec.frontends.sql import Query
from matchrec.spark.question import Options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_QUERY = re.compile(
    r"(\s|--[^\n]*\n|/\*([^*]|\*(?!/))*\*/|\()*(SELECT|WITH|FROM|VALUES)\b", re.IGNORECASE
)
_WRITES = re.compile(r"\b(INSERT|UPDATE|DELETE|MERGE)\b", re.IGNORECASE)


@dataclass(frozen=True)
class QueryCall:
    """The query, the values of its markers and the DataFrames that it names."""

    spark: SparkSession
    text: str
    args: Arguments
    frames: dict[str, Any]

    @classmethod
    def of(
        cls, spark: SparkSession, text: str, args: Arguments, frames: dict[str, Any]
    ) -> QueryCall:
        """The call of a function of ours. Raises for what the query does not name."""
        for name in frames:
            if not re.search(rf"{{\s*{re.escape(name)}\b", text):
                raise unused_name(name, ARGUMENTS)
        return cls(spark, text, args, frames)

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
        """Errors raised inside name the dialect in which the query can be run, if there is one.

        A statement that writes is not tried: Spark runs it as soon as it is planned.
        """
        if not only_reads(self.text):
            yield
            return
        with naming_dialect(self.text, dialect, self.dataframe):
            yield


def only_reads(text: str) -> bool:
    """Whether a statement can be nothing but a query.

    >>> only_reads("-- all\\nSELECT 1"), only_reads("WITH c AS (SELECT 1) INSERT INTO t FROM c")
    (True, False)
    """
    return _QUERY.match(text) is not None and _WRITES.search(text) is None
