"""Write the queries that Spark runs before the match: they compute the columns that are sent.

Spark sends columns of values, and columns of bits, which hold the truth values of conditions. A
`Preparation` writes the query of these columns, and makes the DataFrame of the rows that the
workers return. Nothing runs before a user collects a DataFrame. There are two forms of the query,
and a third form for streams (`streaming.prepare.EventPreparation`). `worker.wire` explains the
names of columns. The examples below are the queries of

    PARTITION BY sym ORDER BY ts MEASURES LAST(A.price * 2) AS x PATTERN (A B+)
    DEFINE A AS price > 10, B AS price < PREV(price)

If Spark sorts the rows, a `SortedPreparation` returns sorted partitions. Bit 0 marks the first row
of a partition, and bit 1 is `price > 10`. The workers compare a price with the previous one.

    SELECT __c0, __c1, __c2, __x4 | CASE WHEN __n = 1 THEN 1 ELSE 0 END AS __bits0
    FROM (SELECT *, row_number() OVER (PARTITION BY __c0 ORDER BY __x3) AS __n
          FROM (SELECT sym AS __c0, price * 2 AS __c1, price AS __c2, ts AS __x3,
                       CASE WHEN price > 10 THEN 2 ELSE 0 END AS __x4
                FROM ticks))

- The inner query narrows the rows before the shuffle: it leaves out irrelevant rows and columns.
- The row_number makes Spark shuffle and sort by its own rules. It also marks where partitions
  start, so that Spark decides which keys are equal.
- If only Spark can compute a value of several rows, lag and lead over the same window read the rows
  at a fixed distance, each of them once. The workers compute all other values of neighbouring rows.
- A column has the same name in the inner query and the outer one. Spark would send a renamed column
  through the shuffle a second time.

If the workers sort the rows, an `UnsortedPreparation` makes one projection and a shuffle by the
keys. The keys and the order are sent too, because the workers sort by them:

    SELECT __c0, __c1, __c2, __x3, CASE WHEN __x4 THEN 2 ELSE 0 END AS __bits0
    FROM (SELECT sym AS __c0, price * 2 AS __c1, price AS __c2, ts AS __x3, price > 10 AS __x4
          FROM ticks)

There is no window, so every column and every bit is computed from one row. Bits are packed before
the shuffle, so that only what the workers need goes through it. The workers set bit 0 after they
have sorted, and if Spark computes no condition, they make the column of bits themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql.functions import expr
from pyspark.sql.types import StructField, StructType
from typing_extensions import Self, override

from matchrec.compile.compiled_query import CompiledQuery, Sorter
from matchrec.compile.joined_queries import JoinedQueries
from matchrec.compile.origins import ComputedValue
from matchrec.conditions.row_column import RowColumn, show_column
from matchrec.conditions.types import BOOLEAN, ValueType
from matchrec.conditions.typing.known_types import find_known_type
from matchrec.errors.run.origins import SqlOrigin, mark_origin
from matchrec.plan.clauses import SortItem
from matchrec.plan.expression import ColumnReference, Reference
from matchrec.plan.templates import Template, join_template
from matchrec.plan.text import quote_name
from matchrec.shortcuts import current_shortcuts
from matchrec.spark.arrow_tables import to_arrow_schema
from matchrec.spark.backend import Backend
from matchrec.spark.backends import find_backend
from matchrec.spark.column_names import ColumnNames, add_columns, find_field_texts, name_values
from matchrec.spark.ranges import Ranges
from matchrec.spark.relation import Relation
from matchrec.spark.request import MatchRequest
from matchrec.spark.substitutes import build_sent_schema, encode_columns
from matchrec.spark.ties import make_tie_reporter
from matchrec.spark.transport import build_output_schema, plan_worker_output
from matchrec.spark.types import is_nested, normalize_value
from matchrec.worker import wire
from matchrec.worker.column_roles import PlannedColumn, ShownColumn, SortColumn, Sorting, Struct
from matchrec.worker.query_worker import QueryWorker
from matchrec.worker.task_input import TaskInput
from matchrec.worker.wire import SelectItem, pack_bit_columns

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
    sorter: Sorter | None = None
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
                descending=item.descending,
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
        return self.backend.watch_rows(rows, self.relation, self.joined.queries)

    def build_task_input(self, columns: RowColumns) -> TaskInput:
        """Return the form in which rows with these columns reach a worker."""
        order_columns = self.list_order_columns(self.name_columns(columns))
        sent_names = {wire.name_column(index) for index in range(len(columns))}
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
        if not self.backend.has_repeated_analysis:
            return ()
        texts = self.name_columns(columns).texts
        texts |= {
            wire.name_column(index): show_column(column) for index, column in enumerate(columns)
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


@dataclass(frozen=True)
class SortedPreparation(PartitionPreparation):
    """A preparation whose rows Spark sorts."""

    def build_query(self, columns: RowColumns) -> Template:
        """Return the query of the columns __c0, __c1, ..., then __bits0, ...

        The query returns sorted partitions. Irrelevant rows are left out before the sort. The bits
        of conditions on one row are packed before the sort. The bits of conditions on several rows
        are packed after it, and both are joined by `|`.
        """
        conditions = self.joined.row_conditions
        bits_before_sort = self.pack_conditions_of_one_row()
        names = self.build_names(
            columns,
            tuple(condition for condition in conditions if not condition.reads_one_row),
            [bit_column.sql for bit_column in bits_before_sort],
        )
        tests_after_sort = [
            "FALSE" if condition.reads_one_row else names.write_column(condition)
            for condition in conditions
        ]
        is_first_row = f"{wire.ROW_NUMBER} = 1"
        bits_after_sort = pack_bit_columns([is_first_row, *tests_after_sort], wire.name_bits)
        bits = [
            SelectItem(f"{names.by_text[before.sql]} | {after.sql}", after.name)
            for before, after in zip(bits_before_sort, bits_after_sort, strict=True)
        ]
        items = names.select_sent(columns) + bits
        return self.relation.write_query_over(self.build_sorted_query(names), map(str, items))

    def pack_conditions_of_one_row(self) -> list[SelectItem]:
        """Return the columns of bits in which conditions on several rows are false."""
        origins = self.origins
        tests = [
            mark_origin(condition.text, origins.get(condition.text))
            if condition.reads_one_row
            else "FALSE"
            for condition in self.joined.row_conditions
        ]
        # The first bit marks the first row of a partition, which only the window can find.
        return pack_bit_columns(["FALSE", *tests], wire.name_bits)

    def build_sorted_query(self, names: ColumnNames) -> Template:
        """Return the query that sorts the rows, and adds row numbers and values of other rows."""
        frame = self.backend.running_frame
        window = self.write_window(names)
        number = SelectItem(f"row_number() OVER ({window} {frame})", wire.ROW_NUMBER)
        items = [number, *names.select_window_values(window, frame)]
        select_list = ", ".join(str(item) for item in items)
        return join_template(f"SELECT *, {select_list} FROM (", self.build_inner_query(names), ")")

    def write_order_item(self, names: ColumnNames, item: SortItem) -> str:
        """Return an item of ORDER BY as SQL."""
        text = item.expression.text
        key = self.write_key(names, text)
        return self.backend.write_order_key(key, item, self.relation.find_type(text))

    def write_window(self, names: ColumnNames) -> str:
        """Return the window as SQL, for instance `PARTITION BY __c0 ORDER BY __x3`."""
        order = ", ".join(self.write_order_item(names, item) for item in self.joined.order_by)
        keys = ", ".join(self.write_key(names, key.text) for key in self.joined.partition_keys)
        keys = self.backend.write_window_keys(keys)
        partition = f"PARTITION BY {keys} " if keys else ""
        return f"{partition}ORDER BY {order or '1'}"  # `row_number` needs an order


@dataclass(frozen=True)
class UnsortedPreparation(PartitionPreparation):
    """A preparation whose rows the workers sort. Rows with equal keys come to the same task."""

    # Whether the workers count rows that the order does not tell apart: see `spark.ties`.
    watches_ties: bool = False
    # The results of `name_columns` by its columns, because it is called several times for each.
    _names: dict[RowColumns, ColumnNames] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def cut_partitions(self, ranges: Ranges) -> CutPreparation:
        """Return the preparation of the same rows, with partitions cut into ranges."""
        return CutPreparation(
            relation=self.relation,
            joined=self.joined,
            key_filters=self.key_filters,
            sorter=self.sorter,
            watches_ties=self.watches_ties,
            ranges=ranges,
        )

    def build_query(self, columns: RowColumns) -> Template:
        """Return the query of the columns __c0, ..., then keys and order, then __bits0, ...

        Keys and order are left out if they are among the columns. Irrelevant rows are left out.
        """
        names = self.name_columns(columns)
        items = self.select_unpacked(columns)
        conditions = self.joined.row_conditions
        if conditions or not items:
            # The workers set the first bit.
            tests = ["FALSE", *(names.write_column(condition) for condition in conditions)]
            bit_type = self.backend.find_bit_type(len(tests)).simpleString()
            items += pack_bit_columns(tests, wire.name_bits, bit_type)
        return self.relation.write_query_over(self.build_inner_query(names), map(str, items))

    def select_unpacked(self, columns: RowColumns) -> list[SelectItem]:
        """Return the select list of the columns, and of keys and order that are not among them.

        Each value is sent once: if the fields of a struct are columns, they are sent instead of the
        struct.
        """
        names = self.name_columns(columns)
        items = [
            item
            for item, column in zip(names.select_sent(columns), columns, strict=True)
            if not column.fields
        ]
        sorted_by = [expression.text for expression in self.joined.sorted_by]
        texts = (*find_field_texts(columns), *sorted_by)
        return add_columns(items, [names.by_text[text] for text in texts])

    def infer_fields(self, columns: RowColumns) -> list[StructField] | None:
        """Return the fields of the rows with these columns, inferred from the input's fields.

        Returns None if only the session knows them, or if it returns them without a message to a
        server.
        """
        if not self.backend.has_remote_schemas or not current_shortcuts().types:
            return None
        items = self.select_unpacked(columns)
        texts = self.name_columns(columns).texts
        input_fields = {**self.relation.analysed_fields, **self.relation.known_fields}
        fields = []
        for item in items:
            input_field = input_fields.get(texts[item.name])
            if input_field is None or input_field.metadata or is_nested(input_field.dataType):
                return None
            fields.append(StructField(item.name, input_field.dataType, input_field.nullable))
        conditions = self.joined.row_conditions
        tests = (*conditions, *self.joined.row_filters)
        if self.key_filters or not all(self.is_known_boolean(test) for test in tests):
            return None
        if conditions or not items:
            count = wire.count_bit_columns(len(conditions))
            bit_type = self.backend.find_bit_type(1 + len(conditions))
            fields += [StructField(wire.name_bits(number), bit_type) for number in range(count)]
        return fields

    def is_known_boolean(self, test: RowColumn) -> bool:
        """Return whether a test of a row is boolean, without an analysis by the session.

        False also means that this is not known: see `conditions.typing.known_types`.
        """
        conjuncts = self.joined.conjuncts.get(test, ())
        types = [find_known_type(conjunct, self.find_leaf_type) for conjunct in conjuncts]
        return bool(types) and all(type_ == BOOLEAN for type_ in types)

    def find_leaf_type(self, leaf: Reference | str) -> ValueType | None:
        """Return the type of a column or of a parameter in a test; None if it is not known."""
        match leaf:
            case ColumnReference(argument=column):
                return self.relation.find_known_type(column)
            case str():
                return self.relation.find_known_type(leaf)
        return None

    @override
    def finish_rows(self, rows: DataFrame, columns: RowColumns) -> DataFrame:
        """Return the rows, shuffled so that all rows of a partition are in one task."""
        rows = self.shuffle_rows(rows, self.write_shuffle_keys(columns))
        fields = self.infer_fields(columns)
        if fields is not None:
            self.backend.set_schema(rows, fields)
        return rows

    def write_shuffle_keys(self, columns: RowColumns) -> list[str]:
        """Return the PARTITION BY keys as SQL over the columns. Equal keys have the same bits."""
        names = self.name_columns(columns)
        return [self.write_key(names, key.text) for key in self.joined.partition_keys]

    def shuffle_rows(self, rows: DataFrame, shuffle_keys: Sequence[str]) -> DataFrame:
        """Return the rows with all rows of equal keys in one task."""
        task_count = self.relation.task_count if shuffle_keys else 1
        return self.backend.repartition(rows, [expr(key) for key in shuffle_keys], task_count)

    def map_fields(self, row_fields: Sequence[StructField], columns: RowColumns) -> KnownFields:
        """Return the field of each column. The type of a struct is made of its fields."""
        fields_by_name = {row_field.name: row_field for row_field in row_fields}
        for struct in self.find_structs(columns):
            struct_fields = []
            for name, field_column in zip(struct.fields, struct.field_columns, strict=True):
                sent_field = fields_by_name[field_column]
                struct_fields.append(
                    StructField(name, sent_field.dataType, sent_field.nullable, sent_field.metadata)
                )
            struct_type = StructType(struct_fields)
            fields_by_name[struct.name] = StructField(struct.name, struct_type, nullable=False)
        return {
            column: fields_by_name[wire.name_column(index)] for index, column in enumerate(columns)
        }

    @override
    def build_task_input(self, columns: RowColumns) -> TaskInput:
        """Return how a worker sorts rows with these columns, and makes structs of their fields."""
        names = self.name_columns(columns)
        sorting = self.build_sorting(names)
        if self.watches_ties:
            tie_reporter = make_tie_reporter(self.relation.runner.spark, self.joined, sorting)
            sorting = replace(sorting, tie_counter=tie_reporter)
        task_count = self.relation.task_count if sorting.keys else 1
        return TaskInput(
            sorting=sorting,
            structs=self.find_structs(columns),
            task_count=task_count or 1,
            planned_columns=self.list_planned_columns(columns),
            order_columns=self.list_order_columns(names),
        )

    def find_structs(self, columns: RowColumns) -> tuple[Struct, ...]:
        """Return the structs that the workers make of their fields."""
        names = self.name_columns(columns)
        return tuple(
            Struct(
                name=wire.name_column(index),
                fields=column.fields,
                field_columns=tuple(names.by_text[quote_name(field)] for field in column.fields),
            )
            for index, column in enumerate(columns)
            if column.fields
        )

    @override
    def name_columns(self, columns: RowColumns) -> ColumnNames:
        """Return the names of everything that Spark computes, including the fields of structs."""
        if columns not in self._names:
            field_texts = find_field_texts(columns)
            self._names[columns] = self.build_names(
                columns, self.joined.row_conditions, field_texts
            )
        return self._names[columns]


@dataclass(frozen=True, kw_only=True)
class CutPreparation(UnsortedPreparation):
    """A preparation whose partitions are cut into ranges. All rows of a range are in one task."""

    # How partitions are cut.
    ranges: Ranges

    def infer_fields(self, columns: RowColumns) -> None:
        """Return None: only the session knows the fields of rows that are joined with ranges."""

    @override
    def finish_rows(self, rows: DataFrame, columns: RowColumns) -> DataFrame:
        """Return the rows that can be in a match. All rows of a range are in one task."""
        order = self.name_columns(columns).by_text[self.joined.order_by[0].expression.text]
        shuffle_keys = self.write_shuffle_keys(columns)
        rows = self.ranges.assign(self.relation.runner, rows, shuffle_keys, order)
        return self.shuffle_rows(rows, [*shuffle_keys, wire.RANGE])

    def build_sorting(self, names: ColumnNames) -> Sorting:
        """Return the columns by which a worker sorts. To the worker, a range is a partition."""
        sorting = super().build_sorting(names)
        return replace(sorting, keys=(*sorting.keys, wire.RANGE))
