"""Preparations: they write the query that Spark runs before the match, which computes what is sent.

Spark sends columns of values to the workers, and columns of bits, which hold the truth values of
conditions. A `Preparation` writes the query of these columns, and makes the DataFrame of the rows
that the workers return. Nothing runs before a user collects a DataFrame. These are the classes:

    Preparation
        PartitionPreparation           rows that are divided into partitions
            SortedPreparation          Spark sorts them: see `spark_sorts`
            WorkerSortedPreparation    the workers sort them: see `workers_sort`
                CutPreparation         and partitions are cut into ranges
        EventPreparation               events of a stream: see `spark.streaming.event_preparation`

The columns have the names of `column_names`, which `worker.internal_names` explains.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType
from typing_extensions import Self, override

from matchrec.compile.compiled_query import CompiledQuery, SorterChoice
from matchrec.compile.joined_queries import JoinedQueries
from matchrec.compile.origins import ComputedValue
from matchrec.conditions.row_column import RowColumn, show_column
from matchrec.errors.run.origins import SqlOrigin
from matchrec.plan.templates import Template, join_template
from matchrec.spark.arrow_tables import to_arrow_schema
from matchrec.spark.backend import Backend
from matchrec.spark.backends import find_backend
from matchrec.spark.preparations.column_names import ColumnNames, name_values
from matchrec.spark.relation import Relation
from matchrec.spark.request import MatchRequest
from matchrec.spark.substitutes import build_sent_schema, encode_columns
from matchrec.spark.transport import build_output_schema, plan_worker_output
from matchrec.spark.types import normalize_value
from matchrec.worker import internal_names
from matchrec.worker.column_roles import PlannedColumn, ShownColumn, SortColumn, Sorting
from matchrec.worker.query_worker import QueryWorker
from matchrec.worker.task_input import TaskInput

if TYPE_CHECKING:
    from matchrec.worker.rule_set import RuleSetOutput

# The names of the time zone UTC in settings, in lower case, as `Runner.settings` has the values.
UTC_NAMES = {"utc", "etc/utc", "gmt", "etc/gmt", "z", "+00:00"}

RowColumns = tuple[RowColumn, ...]

# The field of each column. The session has analysed the column, or the field was inferred.
KnownFields = Mapping[RowColumn, StructField]


@dataclass(frozen=True)
class Preparation(ABC):
    """The query that Spark runs before the match, and the DataFrame of what the workers return.

    A preparation does not store the types of its columns: `analyse_columns` returns them.
    """

    # The input.
    relation: Relation
    # The queries to match, and what Spark computes for all of them.
    joined: JoinedQueries
    # Tests of partition columns, as SQL. Only rows that pass all of them are sent.
    key_filters: tuple[str, ...] = ()
    # Who sorts the rows of each partition, and why; None for a stream.
    sorter: SorterChoice | None = None
    # The results of `build_rows` by its columns, because it is called several times for each.
    _rows: dict[RowColumns, DataFrame] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def backend(self) -> Backend:
        """Return the backend of the session: what differs between Spark, Connect and Sail."""
        return find_backend(self.relation.runner.spark)

    # What the workers return.

    @abstractmethod
    def plan_query(
        self, request: MatchRequest, compiled_query: CompiledQuery, schema: StructType, name: str
    ) -> DataFrame:
        """Return the DataFrame of the reads that the workers return for a query. Nothing runs.

        Args:
            request: the request that has the query, and its options.
            compiled_query: the query to match.
            schema: the schema of the DataFrame: the reads of the query, then the counters if the
                options have some.
            name: the name of the operator in Spark's plan.

        Raises:
            MatchRecognizeUnsupportedError: pandas would alter a column that is sent.
        """

    @abstractmethod
    def plan_rules(self, output: RuleSetOutput, schema: StructType, name: str) -> DataFrame:
        """Return the DataFrame of the output rows of a rule set. Nothing runs.

        Args:
            output: the rules to match, and how a worker makes output rows of their matches.
            schema: the schema of the DataFrame.
            name: the name of the operator in Spark's plan.

        Raises:
            MatchRecognizeUnsupportedError: the rows are a stream, and pandas would alter a column.
        """

    # What the workers get.

    def analyse_columns(self) -> KnownFields:
        """Return the fields of all columns of the queries.

        The session analyses `full_query`, unless the fields can be inferred without it.

        Raises one of Spark's `QUERY_ERRORS`.
        """
        columns = self.joined.columns
        rows = self.build_rows(columns)
        row_fields = self.infer_fields(columns)
        if row_fields is None:
            runner = self.relation.runner
            runner.analyse(rows, self.full_query)
            row_fields = runner.find_fields(rows, str(columns))
            self.remember_fields(row_fields)
        return self.map_fields(row_fields, columns)

    def remember_fields(self, row_fields: Iterable[StructField]) -> None:
        """Store the analysed fields of `full_query` in `Relation.analysed_fields`."""
        texts = self.name_columns(self.joined.columns).texts
        self.relation.analysed_fields.update(
            {texts[field.name]: field for field in row_fields if field.name in texts}
        )

    @cached_property
    def full_query(self) -> Template:
        """Return the query that computes all columns of the queries to match."""
        return self.build_query(self.joined.columns)

    def with_key_filters(self, key_filters: tuple[str, ...]) -> Self:
        """Return a preparation that sends only rows that pass these tests of partition columns."""
        return replace(self, key_filters=key_filters)

    def build_rows(self, columns: RowColumns) -> DataFrame:
        """Return the DataFrame of the rows with these columns. Nothing runs.

        Raises one of Spark's `QUERY_ERRORS`.
        """
        if columns not in self._rows:
            has_all_columns = columns == self.joined.columns
            query = self.full_query if has_all_columns else self.build_query(columns)
            self._rows[columns] = self.finish_rows(self.relation.runner.sql(query), columns)
        return self._rows[columns]

    def finish_rows(self, rows: DataFrame, columns: RowColumns) -> DataFrame:  # noqa: ARG002 -- for subclasses
        """Return the rows after steps that the query does not contain, such as a shuffle.

        Args:
            rows: the rows of the query that `build_query` returns for the columns.
            columns: the columns.

        Raises one of Spark's `QUERY_ERRORS`.
        """
        return rows

    @abstractmethod
    def build_query(self, columns: RowColumns) -> Template:
        """Return the query of these columns, of the bits, and of what else the workers need."""

    def infer_fields(self, columns: RowColumns) -> list[StructField] | None:  # noqa: ARG002 -- for subclasses
        """Return the fields of the rows with these columns; None if they cannot be inferred."""
        return None

    def map_fields(self, row_fields: Sequence[StructField], columns: RowColumns) -> KnownFields:
        """Return the field of each column.

        Args:
            row_fields: the fields of the DataFrame that `build_rows` returns for these columns.
                Here they are a field for each column, in the same order, and the fields of bits.
            columns: the columns.
        """
        return dict(zip(columns, row_fields, strict=False))

    def find_fields(
        self, columns: RowColumns, known_fields: KnownFields
    ) -> tuple[StructField, ...]:
        """Return the fields of these columns, in the same order.

        If one of the fields is not known yet, the session analyses all columns.

        Args:
            columns: the columns.
            known_fields: the fields that `analyse_columns` has returned.
        """
        if not known_fields.keys() >= set(columns):
            rows = self.build_rows(columns)
            known_fields = self.map_fields(self.relation.runner.find_fields(rows), columns)
        return tuple(known_fields[column] for column in columns)

    @cached_property
    def origins(self) -> Mapping[ComputedValue, SqlOrigin]:
        """Return the origins of the computed values, including the types of the input's columns."""
        column_types = self.relation.column_types
        return {
            value: replace(origin, column_types=column_types)
            for value, origin in self.joined.origins.items()
        }

    def name_columns(self, columns: RowColumns) -> ColumnNames:
        """Return the names of everything that Spark computes for these columns and the bits."""
        return self.build_names(columns, self.joined.row_conditions)

    def build_names(
        self, columns: RowColumns, conditions: RowColumns, texts: Iterable[str] = ()
    ) -> ColumnNames:
        """Return the names of everything that Spark computes.

        Args:
            columns: the columns that are sent.
            conditions: the conditions that the query computes as columns of their own.
            texts: other SQL over one row that the query computes.
        """
        key_and_filter_texts = (
            *(expression.text for expression in self.joined.sorted_by),
            *self.key_filters,
            *(column.text for column in self.joined.row_filters),
        )
        return name_values(columns, conditions, (*key_and_filter_texts, *texts), self.origins)

    def build_inner_query(self, names: ColumnNames) -> Template:
        """Return the innermost query: it computes values of one row, and drops irrelevant rows."""
        query = self.relation.write_query(map(str, names.select_texts()))
        tests = [names.by_text[key_filter] for key_filter in self.key_filters]
        if self.joined.row_filters:
            any_filter = " OR ".join(
                names.by_text[column.text] for column in self.joined.row_filters
            )
            tests.append(f"({any_filter})")
        if not tests:
            return query
        return join_template("SELECT * FROM (", query, f") AS __rows WHERE {' AND '.join(tests)}")

    def build_sorting(self, names: ColumnNames) -> Sorting:
        """Return the columns of the partition keys, and the columns that order each partition."""
        keys = tuple(names.by_text[key.text] for key in self.joined.partition_keys)
        order = tuple(
            SortColumn(
                name=names.by_text[item.expression.text],
                descending=item.is_descending,
                nulls_first=not item.puts_nulls_last,
            )
            for item in self.joined.order_by
        )
        return Sorting(keys, order)

    def write_key(self, names: ColumnNames, key: str) -> str:
        """Return a key as SQL in which equal values have the same bits.

        Args:
            names: the names of everything that Spark computes.
            key: an expression of PARTITION BY or ORDER BY, as SQL over the input.
        """
        return normalize_value(names.by_text[key], self.relation.find_type(key))


@dataclass(frozen=True)
class PartitionPreparation(Preparation):
    """A preparation of rows that are divided into partitions. Streams have `EventPreparation`."""

    @override
    def plan_query(
        self, request: MatchRequest, compiled_query: CompiledQuery, schema: StructType, name: str
    ) -> DataFrame:
        """Return the DataFrame of the reads that the workers return for a query. Nothing runs."""
        columns = compiled_query.sent_columns.columns
        counted_schema = None if request.options.counters is None else build_output_schema(schema)
        worker = QueryWorker(compiled_query, self.build_task_input(columns), counted_schema)
        pandas_query = compiled_query if request.sends_pandas else None
        return plan_worker_output(
            self.build_worker_rows(columns), worker, schema, name, pandas_query
        )

    @override
    def plan_rules(self, output: RuleSetOutput, schema: StructType, name: str) -> DataFrame:
        """Return the DataFrame of the output rows of a rule set. Nothing runs."""
        from matchrec.worker.rule_set import RuleSetWorker  # which loads what workers need

        columns = output.rule_set.columns
        worker = RuleSetWorker(output, self.build_task_input(columns))
        return plan_worker_output(self.build_worker_rows(columns), worker, schema, name)

    def build_worker_rows(self, columns: RowColumns) -> DataFrame:
        """Return the DataFrame of the rows with these columns, as workers get them. Nothing runs.

        If the engine's error would not name the expression that failed, the rows are marked, so
        that `errors.second_look` finds it after a failure.

        Raises one of Spark's `QUERY_ERRORS`.
        """
        rows = encode_columns(self.build_rows(columns))
        return self.backend.mark_rows_for_errors(rows, self.relation, self.joined.queries)

    def build_task_input(self, columns: RowColumns) -> TaskInput:
        """Return the form in which rows with these columns reach a worker."""
        order_columns = self.list_order_columns(self.name_columns(columns))
        sent_names = {internal_names.name_column(index) for index in range(len(columns))}
        is_order_sent = all(column.name in sent_names for column in order_columns)
        return TaskInput(
            planned_columns=self.list_planned_columns(columns),
            order_columns=order_columns if is_order_sent else (),
        )

    def list_order_columns(self, names: ColumnNames) -> tuple[ShownColumn, ...]:
        """Return the ORDER BY expressions with the names of their columns."""
        texts = [item.expression.text for item in self.joined.order_by]
        return tuple(ShownColumn(text, names.by_text[text]) for text in texts)

    def list_planned_columns(self, columns: RowColumns) -> tuple[PlannedColumn, ...]:
        """Return the names and types that the sent columns have while the query is planned.

        Some sessions analyse a DataFrame again when it runs, and a view can have other types by
        then. So the workers compare the columns that arrive with the planned columns. The result is
        empty if the session analyses a DataFrame only once, when it is made.
        """
        runner = self.relation.runner
        if not self.backend.analyses_every_action:
            return ()
        texts = self.name_columns(columns).texts
        texts |= {
            internal_names.name_column(index): show_column(column)
            for index, column in enumerate(columns)
        }
        fields = runner.find_fields(self.build_rows(columns), " ".join(texts.values()))
        schema = to_arrow_schema(build_sent_schema(StructType(fields)))
        in_utc = runner.settings["spark.sql.session.timeZone"] in UTC_NAMES
        return tuple(
            PlannedColumn(
                text=texts.get(field.name, field.name),
                type_name=field.dataType.simpleString(),
                field=arrow_field,
                in_utc=in_utc,
            )
            for field, arrow_field in zip(fields, schema, strict=True)
        )
