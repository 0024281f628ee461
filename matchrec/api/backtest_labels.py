"""Labelled incidents, and which matches or attempts overlap them.

An incident is a row of the labels: a partition, a beginning and an end. A *span* is the range of a
match, or of an attempt to find one, along the first ORDER BY column. In the SQL of joins, `label`
and `span` are the aliases of the two, with these columns:

    label.__key_0 ...   the partition; no columns if incidents concern all partitions
    label.__begin       the first order value of the incident; NULL if the beginning is open
    label.__end         the last order value of the incident; NULL if the end is open
    span.__key_0 ...    the partition
    span.__low          the smallest order value of the match or attempt
    span.__high         the largest order value of the match or attempt
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.functions import expr

from matchrec.errors import labels as errors
from matchrec.explain.charts.backtest import ATTEMPT_COLUMNS, MATCH_COLUMNS
from matchrec.explain.charts.columns import find_single_column, name_comparable_type
from matchrec.plan.text import quote_name
from matchrec.spark.types import normalize_columns, normalize_value

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, GroupedData

# SQL that is true if a span overlaps an incident. An incident that ends before it begins overlaps
# nothing.
OVERLAPS = (
    "coalesce(label.__begin <= label.__end, TRUE)"
    " AND (label.__begin IS NULL OR span.__high >= label.__begin)"
    " AND (label.__end IS NULL OR span.__low <= label.__end)"
)

# Python code that converts a column of a pandas frame, by the type of Spark that it gets. An error
# message shows it.
CASTS_IN_PANDAS = {
    **dict.fromkeys(("timestamp", "timestamp_ntz"), "pandas.to_datetime(labels.{})"),
    "date": "pandas.to_datetime(labels.{}).dt.date",
}

# The argument `key` of `Query.backtest`.
Key = str | Sequence[str] | None


@dataclass(frozen=True)
class Labels:
    """Labelled incidents that can be compared with the matches of a query."""

    # One row for each incident.
    frame: DataFrame
    # The partition columns of the query.
    partition_columns: tuple[str, ...]
    # The columns of the labels with the partition values, in the order of `partition_columns`;
    # empty if an incident concerns all partitions.
    key_columns: tuple[str, ...]
    # The columns with the beginning and the end of an incident.
    start_column: str
    end_column: str

    @staticmethod
    def build(frame: DataFrame, matches: DataFrame, key: Key, ends: tuple[str, str]) -> Labels:
        """Check the labels of a user, and return them.

        Args:
            frame: one row for each incident.
            matches: the matches, with their partition, first and last order value.
            key: as for `Query.backtest`.
            ends: the columns of the labels with the start and the end of an incident.

        Raises:
            MatchRecognizePlanError: the labels do not fit the matches.
        """
        *key_fields, (_, order_type), _ = matches.dtypes
        partition_columns = [name for name, _ in key_fields]
        key_columns = find_key_columns(frame, partition_columns, key)
        start, end = ends
        start_column = find_label_column(frame, start, "start")
        end_column = find_label_column(frame, end, "end")

        # There are no key columns for key=[].
        for column, (name, query_type) in zip(key_columns, key_fields, strict=False):
            check_type(frame, column, query_type, f"`{name}` of the query")
        for column in (start_column, end_column):
            check_type(frame, column, order_type, "the order of the query")
        check_no_result_columns(frame)
        return Labels(frame, tuple(partition_columns), tuple(key_columns), start_column, end_column)

    def select_incidents(self, *other_columns: str) -> DataFrame:
        """Return the incidents with the columns of `label`.

        Args:
            other_columns: other columns, as SQL over the columns of the labels. They come first.
        """
        columns = (*self.key_columns, self.start_column, self.end_column)
        new_names = [*name_keys(len(self.key_columns)), "__begin", "__end"]
        types = {field.name: field.dataType for field in self.frame.schema.fields}
        compared_columns = [
            f"{normalize_value(quote_name(column), types[column])} AS {new_name}"
            for column, new_name in zip(columns, new_names, strict=True)
        ]
        return self.frame.selectExpr(*other_columns, *compared_columns)

    def select_spans(self, rows: DataFrame, other_columns: Sequence[str] = ()) -> DataFrame:
        """Return rows with the columns of `span` and other columns.

        If the order is descending, the last row is the low end.

        Args:
            rows: the partition, the first and the last order value, and the other columns.
            other_columns: the names of the other columns.
        """
        keys = name_keys(len(self.partition_columns))
        named_rows = rows.toDF(*keys, "__first", "__last", *other_columns)
        comparable_rows = named_rows.selectExpr(*normalize_columns(named_rows.schema.fields))
        low = "least(__first, __last) AS __low"
        high = "greatest(__first, __last) AS __high"
        return comparable_rows.selectExpr(*keys, low, high, *other_columns)

    def build_overlap(self) -> Column:
        """Return the condition that a span overlaps an incident in the same partition."""
        return expr(f"{self.write_partition_test('span')} AND {OVERLAPS}")

    def write_partition_test(self, alias: str) -> str:
        """Return SQL that is true if the row with an alias is in the partition of the label."""
        tests = [f"label.{name} <=> {alias}.{name}" for name in name_keys(len(self.key_columns))]
        return " AND ".join(tests) or "TRUE"

    def write_incident_test(self, alias: str) -> str:
        """Return SQL that is true if the row with an alias is about the incident of the label."""
        tests = [f"label.{end} <=> {alias}.{end}" for end in ("__begin", "__end")]
        return " AND ".join([self.write_partition_test(alias), *tests])

    def join_incidents(self, spans: DataFrame) -> GroupedData:
        """Return the spans that overlap each incident, grouped by incident."""
        incidents = self.select_incidents().distinct().alias("label")
        keys = [f"label.{name}" for name in name_keys(len(self.key_columns))]
        overlaps = incidents.join(spans.alias("span"), self.build_overlap())
        return overlaps.groupBy(*keys, "label.__begin", "label.__end")


def name_keys(count: int) -> list[str]:
    """Return the names of the columns of a partition with `count` columns."""
    return [f"__key_{index}" for index in range(count)]


def check_type(frame: DataFrame, column: str, query_type: str, compared_with: str) -> None:
    """Check that a column of the labels can be compared with a column of the query.

    Args:
        frame: the labels.
        column: the column.
        query_type: the name of the type of the other column.
        compared_with: the other column, for the error.

    Raises:
        MatchRecognizePlanError: the types differ too much.
    """
    label_type = dict(frame.dtypes)[column]
    if name_comparable_type(label_type) == name_comparable_type(query_type):
        return
    pandas_cast = CASTS_IN_PANDAS.get(query_type, "labels.{}.astype(...)").format(column)
    raise errors.label_type_differs(
        name=column,
        what=compared_with,
        type_name=label_type,
        expected_type=query_type,
        in_pandas=pandas_cast,
    )


def check_no_result_columns(frame: DataFrame) -> None:
    """Check that the labels have no columns with the names that the result adds.

    Raises:
        MatchRecognizePlanError: the labels have such a column.
    """
    columns_by_lower_name = {column.lower(): column for column in frame.columns}
    for name in (*MATCH_COLUMNS, *ATTEMPT_COLUMNS):
        if name in columns_by_lower_name:
            raise errors.label_column_taken(name=columns_by_lower_name[name])


def find_key_columns(frame: DataFrame, partition_columns: Sequence[str], key: Key) -> list[str]:
    """Return the columns of labels with the partition values, as the labels spell them.

    Args:
        frame: the labels.
        partition_columns: the partition columns of the query.
        key: as for `Query.backtest`.

    Raises:
        MatchRecognizePlanError: a column is missing, there are too few or too many, or the query
            has no PARTITION BY.
    """
    if key is None:
        return [find_label_column(frame, name) for name in partition_columns]
    key_names = [key] if isinstance(key, str) else key
    if key_names and not partition_columns:
        raise errors.key_without_partition()
    columns = [find_label_column(frame, name, "key") for name in key_names]
    if columns and len(columns) != len(partition_columns):
        raise errors.wrong_number_of_keys(count=len(columns), names=partition_columns)
    return columns


def find_label_column(frame: DataFrame, name: str, argument: str = "") -> str:
    """Return a column as the labels spell it.

    Args:
        frame: the labels.
        name: the name that the user or the query has for the column.
        argument: the argument that names the column, or "" if none does.

    Raises:
        MatchRecognizePlanError: the labels have no such column.
    """
    column = find_single_column(frame, name)
    if column is not None:
        return column
    if argument:
        raise errors.unknown_label_column(argument=argument, name=name, columns=frame.columns)
    raise errors.label_key_missing(name=name, columns=frame.columns)
