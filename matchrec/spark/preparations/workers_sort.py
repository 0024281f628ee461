"""The query before the match if the workers sort the rows of each partition.

It is one projection, and its rows are shuffled by the partition keys. Keys and order are sent as
well, because the workers sort by them. For example, for

    PARTITION BY sym ORDER BY ts MEASURES LAST(A.price * 2) AS x PATTERN (A B+)
    DEFINE A AS price > 10, B AS price < PREV(price)

it is this query, whose names `worker.internal_names` explains. Bit 1 is `price > 10`:

    SELECT __c0, __c1, __c2, __x3, CASE WHEN __x4 THEN 2 ELSE 0 END AS __bits0
    FROM (SELECT sym AS __c0, price * 2 AS __c1, price AS __c2, ts AS __x3, price > 10 AS __x4
          FROM ticks)

There is no window, so every column and every bit is computed from one row. Bits are packed before
the shuffle, so that only what the workers need goes through it. The workers set bit 0, which marks
the first row of a partition, after they have sorted. If Spark computes no condition, they make the
column of bits themselves. If there is no other column to send either, Spark sends a column of bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame
from pyspark.sql.functions import expr
from pyspark.sql.types import StructField, StructType
from typing_extensions import override

from matchrec.conditions.row_column import RowColumn
from matchrec.conditions.types import BOOLEAN, ValueType
from matchrec.conditions.typing.known_types import find_known_type
from matchrec.plan.expression import ColumnReference, Reference
from matchrec.plan.templates import Template
from matchrec.plan.text import quote_name
from matchrec.shortcuts import current_shortcuts
from matchrec.spark.preparations.column_names import ColumnNames, add_columns, find_field_texts
from matchrec.spark.preparations.preparation import KnownFields, PartitionPreparation, RowColumns
from matchrec.spark.ranges import Ranges
from matchrec.spark.select_items import SelectItem, pack_bit_columns
from matchrec.spark.ties import make_tie_reporter
from matchrec.spark.types import is_nested
from matchrec.worker import internal_names
from matchrec.worker.column_roles import Sorting, Struct
from matchrec.worker.task_input import TaskInput


@dataclass(frozen=True)
class WorkerSortedPreparation(PartitionPreparation):
    """A preparation whose rows the workers sort. Rows with equal keys are in the same task."""

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

    @override
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
            bit_type = self.backend.choose_bit_column_type(len(tests)).simpleString()
            items += pack_bit_columns(tests, internal_names.name_bits, bit_type)
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
        sort_texts = [expression.text for expression in self.joined.sorted_by]
        texts = (*find_field_texts(columns), *sort_texts)
        return add_columns(items, [names.by_text[text] for text in texts])

    @override
    def infer_fields(self, columns: RowColumns) -> list[StructField] | None:
        """Return the fields of the rows with these columns, inferred from the input's fields.

        Returns None if only the session knows them, or if asking the session is cheap, because it
        needs no message to a server.
        """
        if not self.backend.requests_schemas or not current_shortcuts().types:
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
        # The session rejects a test that is not boolean, so it must see each test whose type is not
        # known. Key filters are SQL text, and types are known only of expressions as trees.
        if self.key_filters or not all(self.is_known_boolean(test) for test in tests):
            return None
        if conditions or not items:
            count = internal_names.count_bit_columns(len(conditions))
            bit_type = self.backend.choose_bit_column_type(1 + len(conditions))
            fields += [
                StructField(internal_names.name_bits(number), bit_type) for number in range(count)
            ]
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

    @override
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
            column: fields_by_name[internal_names.name_column(index)]
            for index, column in enumerate(columns)
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
                name=internal_names.name_column(index),
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
class CutPreparation(WorkerSortedPreparation):
    """A preparation whose partitions are cut into ranges. All rows of a range are in one task."""

    # How partitions are cut.
    ranges: Ranges

    @override
    def infer_fields(self, columns: RowColumns) -> None:
        """Return None: only the session knows the fields of rows that are joined with ranges."""

    @override
    def finish_rows(self, rows: DataFrame, columns: RowColumns) -> DataFrame:
        """Return the rows that can be in a match. All rows of a range are in one task."""
        order = self.name_columns(columns).by_text[self.joined.order_by[0].expression.text]
        shuffle_keys = self.write_shuffle_keys(columns)
        rows = self.ranges.assign(self.relation.runner, rows, shuffle_keys, order)
        return self.shuffle_rows(rows, [*shuffle_keys, internal_names.RANGE])

    @override
    def build_sorting(self, names: ColumnNames) -> Sorting:
        """Return the columns by which a worker sorts. To the worker, a range is a partition."""
        sorting = super().build_sorting(names)
        return replace(sorting, keys=(*sorting.keys, internal_names.RANGE))
