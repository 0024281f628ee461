"""The input of SASE+ texts and Patterns: events with an order and partitions.

In SQL the clause says how rows are divided and sorted. SASE+ texts and Patterns do not, so these
are arguments of the call.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from typing_extensions import override

from matchrec.api.front_end import FrontEnd
from matchrec.api.inputs import ColumnsOrSql, find_quote_dialect, write_terms
from matchrec.errors.kinds import locate_errors
from matchrec.errors.language import SASE
from matchrec.patterns.sase import StreamOptions, compile_sase
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Source
from matchrec.spark.errors.type_checks import check_type_column
from matchrec.syntax.key_arguments import read_order_by, read_partition_by


@dataclass(frozen=True)
class Events:
    """A DataFrame of events, with their order and their partitions."""

    df: DataFrame
    # The items of ORDER BY, which sort the events. Each is SQL over one row.
    order_by: tuple[str, ...]
    # The items of PARTITION BY, which divide the events. Each is SQL over one row.
    partition_by: tuple[str, ...]

    @staticmethod
    def build(df: DataFrame, order_by: ColumnsOrSql, partition_by: ColumnsOrSql) -> Events:
        """Return the rows of a DataFrame as events.

        Args:
            df: the rows.
            order_by: the items of ORDER BY, as SQL or as Columns of the DataFrame.
            partition_by: the items of PARTITION BY, in the same form.

        Raises:
            MatchRecognizePlanError: an item is not an expression, or it is a computed Column.
        """
        order_texts = write_terms(df, "order_by", order_by)
        partition_texts = write_terms(df, "partition_by", partition_by)
        dialect = find_quote_dialect(df.sparkSession, order_texts, partition_texts)
        return Events(
            df,
            order_by=read_order_by(order_texts, dialect),
            partition_by=read_partition_by(partition_texts, dialect),
        )

    def lower_sase(self, source: Source, type_column: str, output: MatchOutput) -> MatchPlan:
        """Return the plan of a SASE+ text over these events.

        Args:
            source: the text.
            type_column: the column whose value is the type of an event.
            output: which matches the plan finds, and in which form.

        Raises:
            MatchRecognizeError: the text has a mistake, or the type column is missing.
        """
        stream_options = StreamOptions(
            order_by=self.order_by,
            partition_by=self.partition_by,
            type_column=type_column,
            output=output,
        )
        with locate_errors(source, SASE):
            plan = compile_sase(source, stream_options)
            check_type_column(self.df, type_column, plan)
        return plan


@dataclass(frozen=True)
class EventFrontEnd(FrontEnd):
    """A front end of a language in which the call, and not the text, sorts and divides the rows."""

    events: Events

    @property
    @override
    def session(self) -> SparkSession:
        """Return the session of the events."""
        return self.events.df.sparkSession
