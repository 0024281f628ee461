"""The partition and the row that a question about a clause names: `Target`.

A question is a call such as `why` with `partition={"sym": "X"}, row=5`. `TargetFinder` writes the
values of a target as SQL tests of whether a row of the input belongs to the target. If the input
has no such partition or row, its errors list partitions or rows that are near.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from numbers import Number

import numpy as np
from pyspark.sql import types as spark_types

from matchrec.conditions.row_column import RowColumn, build_row_column
from matchrec.errors import MatchRecognizeError
from matchrec.errors import inspection as errors
from matchrec.errors.language import current_surface
from matchrec.errors.run.location import show_value
from matchrec.errors.wording import LONGEST, quote_in_backticks
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quote_string
from matchrec.search.partitions import BoolArray
from matchrec.source import make_sort_key
from matchrec.spark import types
from matchrec.spark.literals import convert_instant, to_python_value, write_literal
from matchrec.spark.request import MatchRequest
from matchrec.spark.value_texts import write_value_text

MAX_KEYS = 5  # partitions that a message lists

# For each row, the values of the ORDER BY columns as texts.
OrderValues = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Target:
    """The partition and the row of a clause that a question is about."""

    # The values of the partition, by the names of their columns; None for the only partition. If
    # the user has passed something else, such as a value without a name, `TargetFinder` rejects it.
    partition: Mapping[str, object] | None = None
    # The values of the first ORDER BY columns; None for all rows.
    row: tuple[object, ...] | None = None


def is_plain(value: object) -> bool:
    """Return whether a message can write a value as Python code: a text or a number."""
    return isinstance(value, str | int | float) and len(str(value)) <= LONGEST


@dataclass(frozen=True)
class TargetFinder:
    """Finds the partition and the rows of a target in the input of a clause."""

    # The request whose only rule is the clause.
    request: MatchRequest
    # The plan of the clause, as it runs.
    plan: MatchPlan
    target: Target

    @cached_property
    def key_texts(self) -> dict[str, str]:
        """Return SQL of the partition keys, by their names."""
        key_texts = {}
        for key in self.plan.partition_keys:
            name = key.name or self.request.columns.find_by_text(key.text) or key.text
            key_texts[name] = key.text
        return key_texts

    @cached_property
    def number_keys(self) -> list[str]:
        """Return the names of the partition keys that are whole numbers."""
        find_type = self.request.relation.find_type
        return [
            name
            for name, text in self.key_texts.items()
            if isinstance(find_type(text), spark_types.IntegralType)
        ]

    @cached_property
    def order_texts(self) -> tuple[str, ...]:
        """Return SQL of the ORDER BY items."""
        return tuple(item.expression.text for item in self.plan.order_by)

    @property
    def order_names(self) -> tuple[str, ...]:
        """Return the names of the ORDER BY items: of a column its name, otherwise the SQL."""
        columns = self.request.columns
        return tuple(columns.find_by_text(text) or text for text in self.order_texts)

    # The partition that the target names.

    def collect_key_values(self) -> dict[str, str]:
        """Return the values of the partition as SQL literals, by the names of the keys.

        The values are in the order of the clause's keys. The dict is empty if the target names no
        partition and the input has only one. Runs jobs: one counts the partitions if the target
        names none, others check the types of values.

        Raises:
            MatchRecognizeError: there are several partitions and none is named, or the target does
                not name the columns of the keys.
        """
        partition = self.target.partition
        if partition is None:
            self.check_single_partition()
            return {}
        self.reject_values_without_names(partition)
        target_names = self.find_target_names(partition)
        key_values = {
            name: self.write_value("partition", self.key_texts[name], partition[target_name])
            for name, target_name in target_names.items()
        }
        return {name: key_values[name] for name in self.key_texts}

    def check_single_partition(self) -> None:
        """Check that the input has only one partition. Runs a job.

        Raises:
            MatchRecognizeError: the input has several partitions.
        """
        some_keys = self.find_some_keys()
        if len(some_keys) > 1:
            lines = errors.format_rows(some_keys)
            raise errors.several_partitions(some=lines, example=self.write_example(some_keys[0]))

    def find_target_names(self, partition: Mapping[str, object]) -> dict[str, str]:
        """Return the names that the user wrote for the keys, by the names of the keys.

        Args:
            partition: the values of the partition, by the names that the user wrote.

        Raises:
            MatchRecognizeError: a name is not a key, or a key is missing.
        """
        folded = self.request.columns.fold_name
        key_names = {folded(name): name for name in self.key_texts}
        target_names = {key_names.get(folded(name), name): name for name in partition}
        for name, target_name in target_names.items():
            if name not in self.key_texts:
                raise errors.unknown_partition_column(name=target_name, keys=self.key_texts)
        for name in self.key_texts:
            if name not in target_names:
                example = self.write_similar_example(
                    {name: partition[target_name] for name, target_name in target_names.items()}
                )
                raise errors.partition_column_missing(name, self.key_texts, example)
        return target_names

    def reject_values_without_names(self, value: object) -> None:
        """Raise an error for `partition="X"` and other partitions that are not a dict.

        Runs a job to find an example, unless the value can be one.

        Raises:
            MatchRecognizeError: the value is not a dict.
        """
        if isinstance(value, Mapping):
            return
        values = list(value) if isinstance(value, list | tuple) else [value]
        if not self.key_texts:
            hint = "leave partition out: the clause has no PARTITION BY"
        elif len(values) == len(self.key_texts) and all(map(is_plain, values)):
            pairs = list(zip(self.key_texts, values, strict=True))
            hint = f"write {current_surface().write_partition(pairs)}"
        else:
            some_keys = self.find_some_keys()
            hint = f"write {self.write_example(some_keys[0])}" if some_keys else "name the columns"
        raise errors.wrong_partition(value, hint)

    def write_key_tests(self, key_values: Mapping[str, str]) -> tuple[str, ...]:
        """Return SQL tests of whether a row is in the partition. A row must pass all of them.

        Args:
            key_values: what `collect_key_values` has returned.
        """
        return tuple(
            f"({self.write_comparable(self.key_texts[name])}) <=> {value}"
            for name, value in key_values.items()
        )

    def explain_no_rows(self) -> MatchRecognizeError:
        """Return the error for a partition without rows."""
        some_keys = self.find_some_keys()
        if not some_keys:
            return errors.no_rows()
        return errors.unknown_partition(
            partition=self.describe_partition(self.target.partition or {}),
            some=errors.format_rows(some_keys),
            example=self.write_example(some_keys[0]),
        )

    def describe_partition(self, partition: Mapping[str, object]) -> str:
        """Return the values of a partition as messages name it: "`sym` = 'X', `id` = 7".

        The command line has texts for all values, so a number has no quotes if its column has
        whole numbers.

        Args:
            partition: the values by the names of the keys, as the user writes them.
        """
        equalities = []
        for name, value in partition.items():
            is_number = name in self.number_keys and isinstance(value, str)
            shown_value = value if is_number else show_value(value)
            equalities.append(f"{quote_in_backticks(name)} = {shown_value}")
        return ", ".join(equalities)

    def find_some_keys(self) -> list[dict[str, str | None]]:
        """Return the values of the keys of some partitions as texts, by their names. Runs a job.

        The list is sorted; numbers in texts are compared as numbers. It is empty if the clause has
        no PARTITION BY.
        """
        if not self.key_texts:
            return []
        items = [
            f"CAST({self.write_comparable(text)} AS STRING) AS k{index}"
            for index, text in enumerate(self.key_texts.values())
        ]
        rows = self.request.relation.select(items).distinct().limit(MAX_KEYS + 1).collect()
        rows.sort(key=lambda row: [make_sort_key(errors.show_key_value(text)) for text in row])
        return [dict(zip(self.key_texts, row, strict=True)) for row in rows]

    def write_example(self, keys: Mapping[str, str | None]) -> str:
        """Return how a user would name the partition with these keys, as Python code."""
        return errors.write_partition_example(keys, self.number_keys)

    def write_similar_example(self, named_values: Mapping[str, object]) -> str:
        """Return how a user would name a partition that has some values, or else any partition.

        Args:
            named_values: the values of some keys, by the names of the keys.
        """
        some_keys = self.find_some_keys()
        texts = {name: str(value) for name, value in named_values.items()}
        similar = [keys for keys in some_keys if keys | texts == keys]
        examples = similar or some_keys
        return self.write_example(examples[0]) if examples else ""

    # The rows that the target names.

    def build_target_tests(self, key_tests: tuple[str, ...]) -> tuple[RowColumn, RowColumn]:
        """Return a test of whether the target names a row, and a test of whether it is before it.

        A row is before the target if its first ORDER BY value comes first in the order, or is NULL.
        Runs jobs, which check the types of values.

        Args:
            key_tests: what `write_key_tests` has returned.

        Raises:
            MatchRecognizeError: the target has too many values for a row, or none.
        """
        assert self.target.row is not None, "the target names all rows"
        if not 1 <= len(self.target.row) <= len(self.order_texts):
            raise errors.wrong_number_of_order_values(len(self.target.row), self.order_texts)
        comparisons = []
        for text, value in zip(self.order_texts, self.target.row, strict=False):
            literal_text = self.write_value("row", text, value, key_tests)
            comparisons.append((self.write_comparable(text), literal_text))
        is_target = " AND ".join(f"({text} <=> {value})" for text, value in comparisons)
        first_text, first_value = comparisons[0]
        operator = ">" if self.plan.order_by[0].descending else "<"
        is_before = f"coalesce(({first_text} {operator} {first_value}), TRUE)"
        return build_row_column(is_target), build_row_column(is_before)

    def find_target_rows(
        self, order_values: OrderValues, is_target: BoolArray, rows_before: int
    ) -> tuple[int, ...]:
        """Return the positions of the rows that the target names.

        Args:
            order_values: the ORDER BY values of all rows of the partition.
            is_target: bool[n], whether the target names each row.
            rows_before: the number of rows before the target.

        Raises:
            MatchRecognizeError: the target names no row. The error lists rows that are near.
        """
        assert self.target.row is not None, "the target names all rows"
        if not is_target.any():
            first_near = max(0, rows_before - 2)  # two rows before the target, two after it
            near_values = order_values[first_near : rows_before + 2]
            nearest = find_nearest_values(near_values, rows_before - first_near, self.target.row[0])
            near_rows = [dict(zip(self.order_texts, values, strict=True)) for values in near_values]
            target_values = zip(self.order_texts, self.target.row, strict=False)
            raise errors.unknown_row(
                row=", ".join(f"{text} = {value}" for text, value in target_values),
                rows=errors.format_rows(near_rows),
                nearest=tuple(map(self.read_order_value, self.order_texts, nearest)),
            )
        return tuple(np.flatnonzero(is_target).tolist())

    def read_order_value(self, text: str, value: str) -> int | float | str:
        """Return the value of an ORDER BY expression as `row=` takes it: numbers as numbers."""
        type_ = self.request.relation.find_type(text)
        try:
            if isinstance(type_, spark_types.IntegralType):
                return int(value)
            if isinstance(type_, spark_types.FloatType | spark_types.DoubleType):
                return float(value)
        except ValueError:  # NULL
            pass
        return value

    # Values as SQL.

    def write_as_text(self, text: str) -> str:
        """Return SQL of the text that names the value of an expression."""
        return write_value_text(text, self.request.relation.find_type(text))

    def write_comparable(self, text: str) -> str:
        """Return SQL of an expression in the form in which `write_value` writes values.

        Bytes and nested values are compared by their texts.
        """
        type_ = self.request.relation.find_type(text)
        if is_compared_as_text(type_):
            return self.write_as_text(text)
        return types.normalize_value(text, type_)

    def write_value(
        self, argument: str, text: str, value: object, key_tests: tuple[str, ...] = ()
    ) -> str:
        """Return a value of the user as SQL that can be compared with an expression.

        Can run a job, see `check_type`.

        Args:
            argument: the argument that has the value, for messages.
            text: the expression.
            value: the value.
            key_tests: tests of the rows from which a message takes an example of a right value.

        Raises:
            MatchRecognizePlanError: the expression's type does not have this value.
        """
        type_ = self.request.relation.find_type(text)
        value = to_python_value(value)
        literal_text = write_literal(convert_instant(value, type_), argument)
        is_number = isinstance(value, Number) and not isinstance(value, bool)
        if value is None or (is_number and isinstance(type_, spark_types.NumericType)):
            return literal_text
        if isinstance(type_, spark_types.StringType) or is_compared_as_text(type_):
            is_bytes = isinstance(value, bytes | bytearray)
            return quote_string(literal_text if is_bytes else str(value))
        self.check_type(argument, text, value, literal_text, key_tests)
        return literal_text

    def check_type(
        self, argument: str, text: str, value: object, literal_text: str, key_tests: tuple[str, ...]
    ) -> None:
        """Check that Spark can cast a literal to the type of an expression. Runs a job.

        The error shows a value of the expression as an example. If no row has one, nothing is
        checked.

        Args:
            argument: the argument that has the value.
            text: the expression.
            value: the value.
            literal_text: the value as a literal.
            key_tests: tests that the row of the example passes. If the target names a row, the
                example is of the same partition.

        Raises:
            MatchRecognizePlanError: Spark cannot cast the literal.
        """
        type_name = self.request.relation.find_type(text).simpleString()
        items = [
            f"try_cast(CAST({literal_text} AS STRING) AS {type_name}) AS cast_value",
            f"{self.write_as_text(text)} AS example",
            f"{' AND '.join(key_tests) or 'TRUE'} AS in_partition",
        ]
        rows = self.request.relation.select(items)
        for row in rows.where("in_partition AND example IS NOT NULL").limit(1).collect():
            if row.cast_value is None:
                raise errors.value_of_wrong_type(
                    argument=argument,
                    value=value,
                    name=self.request.columns.find_by_text(text) or text,
                    type_name=type_name,
                    example=row.example,
                )


def is_compared_as_text(type_: spark_types.DataType) -> bool:
    """Return whether the values of a type are named by their text: bytes and nested values."""
    return types.is_nested(type_) or isinstance(type_, spark_types.BinaryType)


def find_nearest_values(
    near_values: OrderValues, count_before: int, target: object
) -> tuple[str, ...]:
    """Return the ORDER BY values of the row that is closest to a target.

    If the first value is neither a number nor a time, the row before the target counts as closest.

    Args:
        near_values: the rows before the target, followed by those after it; at least one row.
        count_before: how many of them are before the target.
        target: the first ORDER BY value of the target.

    >>> find_nearest_values((("1",), ("4",)), 1, 3)
    ('4',)
    """
    if count_before == 0:
        return near_values[0]
    before = near_values[count_before - 1]
    if count_before == len(near_values):
        return before
    after = near_values[count_before]
    target_number = read_as_number(str(target))
    number_before = read_as_number(before[0])
    number_after = read_as_number(after[0])
    if target_number is None or number_before is None or number_after is None:
        return before
    is_after_closer = abs(number_after - target_number) < abs(target_number - number_before)
    return after if is_after_closer else before


def read_as_number(text: str) -> float | None:
    """Return the number in a text, or the seconds of a date or time; None for any other text."""
    with suppress(ValueError):
        return float(text)
    with suppress(ValueError):
        return datetime.fromisoformat(text).timestamp()
    return None
