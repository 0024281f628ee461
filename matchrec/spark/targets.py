"""Find the partition and the row that a user asks about, such as in `why(partition=..., row=...)`.

A `Target` has the values that the user wrote. `TargetFinder` writes them as SQL tests of whether a
row of the input belongs to the target:

    partition={"sym": "X"}, row=5      (sym) <=> 'X'      (ts <=> 5)

If the input has no such partition or row, the error lists partitions or rows that are near.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from numbers import Number

import numpy as np
from pyspark.sql import types as spark_types

from matchrec.conditions.row_column import RowColumn, build_row_column
from matchrec.errors import MatchRecognizeError
from matchrec.errors import inspection as errors
from matchrec.errors.run.location import show_value
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import LONGEST, quote_in_backticks
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quote_string
from matchrec.search.partitions import BoolArray
from matchrec.source import make_sort_key
from matchrec.spark import types
from matchrec.spark.literals import convert_instant, to_python_value, write_literal
from matchrec.spark.request import MatchRequest
from matchrec.spark.value_texts import write_value_text

# The largest number of partitions that a message lists.
MAX_SHOWN_PARTITIONS = 6
# The number of rows before a missing row, and of rows after it, that a message lists.
NEAR_ROWS = 2

# The literals of booleans, by the texts in lower case that Spark casts to them.
BOOLEAN_LITERALS = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), "TRUE"),
    **dict.fromkeys(("false", "f", "no", "n", "0"), "FALSE"),
}

# The types of intervals that values can have, and the literals that name their values.
INTERVAL_TYPES = (spark_types.DayTimeIntervalType, spark_types.YearMonthIntervalType)
INTERVAL_LITERAL = re.compile(r"INTERVAL\s+'[^']+'\s+[A-Z]+(?:\s+TO\s+[A-Z]+)?", re.IGNORECASE)

# For each row, the values of the ORDER BY items as texts.
OrderValues = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Target:
    """The partition and the row of a clause that a user asks about."""

    # The values of the partition keys, by the names of the keys; None for the only partition. If
    # the user has passed something else, such as a value without a name, `TargetFinder` rejects it.
    partition: Mapping[str, object] | None = None
    # The values of the first ORDER BY items; None for all rows.
    row: tuple[object, ...] | None = None


def has_short_literal(value: object) -> bool:
    """Return whether a message can show a value as Python code: a number or a short text."""
    return isinstance(value, str | int | float) and len(str(value)) <= LONGEST


@dataclass(frozen=True)
class TargetFinder:
    """A finder of the partition and the rows of a target in the input of a clause."""

    # The request. Its only rule is the clause.
    request: MatchRequest
    # The plan of the clause that runs.
    plan: MatchPlan
    # What the user asks about.
    target: Target

    @cached_property
    def key_texts(self) -> dict[str, str]:
        """Return the SQL of each partition key, by the name of the key."""
        key_texts = {}
        for key in self.plan.partition_keys:
            name = key.output_name or self.request.columns.find_by_text(key.text) or key.text
            key_texts[name] = key.text
        return key_texts

    @cached_property
    def integer_keys(self) -> list[str]:
        """Return the names of the partition keys whose type is an integer type."""
        find_type = self.request.relation.find_type
        return [
            name
            for name, text in self.key_texts.items()
            if isinstance(find_type(text), spark_types.IntegralType)
        ]

    @cached_property
    def order_texts(self) -> tuple[str, ...]:
        """Return the SQL of each ORDER BY item."""
        return tuple(item.expression.text for item in self.plan.order_by)

    @property
    def order_names(self) -> tuple[str, ...]:
        """Return the names of the ORDER BY items: of a column its name, otherwise the SQL."""
        columns = self.request.columns
        return tuple(columns.find_by_text(text) or text for text in self.order_texts)

    # The partition that the target names.

    def collect_key_values(self) -> dict[str, str]:
        """Return the values of the partition as SQL, by the names of the keys.

        The values are in the order of the keys, and in the form of `write_value`. The dict is empty
        if the target names no partition and the input has only one. Runs jobs, which count the
        partitions if the target names none, and check the types of values.

        Raises:
            MatchRecognizeError: there are several partitions and none is named, a name is not a
                key, a key is missing, or a value has a wrong type.
        """
        partition = self.target.partition
        if partition is None:
            self.check_single_partition()
            return {}
        self.check_values_have_names(partition)
        user_names = self.find_user_names(partition)
        # The values are checked in the order in which the user wrote them.
        values_by_key = {
            key: self.write_value("partition", self.key_texts[key], partition[user_name])
            for key, user_name in user_names.items()
        }
        return {key: values_by_key[key] for key in self.key_texts}

    def check_single_partition(self) -> None:
        """Check that the input has only one partition. Runs a job.

        Raises:
            MatchRecognizeError: the input has several partitions.
        """
        some_keys = self.find_some_keys()
        if len(some_keys) > 1:
            raise errors.several_partitions(
                partitions=some_keys, example=self.write_example(some_keys[0])
            )

    def find_user_names(self, partition: Mapping[str, object]) -> dict[str, str]:
        """Return the name that the user wrote for each key, by the name of the key.

        The two can differ in upper and lower case. The names are in the order of `partition`.

        Args:
            partition: the values of the partition, by the names that the user wrote.

        Raises:
            MatchRecognizeError: a name is not a key, or a key is missing.
        """
        fold_name = self.request.columns.fold_name
        keys_by_folded_name = {fold_name(key): key for key in self.key_texts}
        user_names = {}
        for user_name in partition:
            key = keys_by_folded_name.get(fold_name(user_name))
            if key is None:
                raise errors.unknown_partition_column(name=user_name, keys=self.key_texts)
            user_names[key] = user_name
        for key in self.key_texts:
            if key not in user_names:
                values_by_key = {name: partition[user_names[name]] for name in user_names}
                example = self.write_similar_example(values_by_key)
                raise errors.partition_column_missing(key, self.key_texts, example)
        return user_names

    def check_values_have_names(self, value: object) -> None:
        """Check that the user has not passed `partition="X"`, for instance, instead of a dict.

        If the value is not a dict, a job can run to find an example for the error.

        Raises:
            MatchRecognizeError: the value is not a dict.
        """
        if isinstance(value, Mapping):
            return
        values = list(value) if isinstance(value, list | tuple) else [value]
        if not self.key_texts:
            hint = "leave partition out: the clause has no PARTITION BY"
        elif len(values) == len(self.key_texts) and all(map(has_short_literal, values)):
            pairs = list(zip(self.key_texts, values, strict=True))
            hint = f"write {current_surface().write_partition(pairs)}"
        else:
            some_keys = self.find_some_keys()
            hint = f"write {self.write_example(some_keys[0])}" if some_keys else "name the columns"
        raise errors.wrong_partition(value, hint)

    def write_key_tests(self, key_values: Mapping[str, str]) -> tuple[str, ...]:
        """Return SQL tests of whether a row is in the partition. A row must pass all of them.

        Args:
            key_values: the values that `collect_key_values` has returned.
        """
        return tuple(
            f"({self.write_comparable(self.key_texts[name])}) <=> {value}"
            for name, value in key_values.items()
        )

    def explain_no_rows(self) -> MatchRecognizeError:
        """Return the error for a partition without rows. Runs a job to list other partitions."""
        some_keys = self.find_some_keys()
        if not some_keys:
            return errors.no_rows()
        return errors.unknown_partition(
            equalities=self.list_equalities(self.target.partition or {}),
            partitions=some_keys,
            example=self.write_example(some_keys[0]),
        )

    def list_equalities(self, partition: Mapping[str, object]) -> list[str]:
        """Return the values of a partition as messages write them: ``["`sym` = 'X'", "`id` = 7"]``.

        The command line passes all values as texts, so a text has no quotes if its key is an
        integer.

        Args:
            partition: the values, by the names of the keys.
        """
        equalities = []
        for name, value in partition.items():
            is_integer_text = name in self.integer_keys and isinstance(value, str)
            shown_value = value if is_integer_text else show_value(value)
            equalities.append(f"{quote_in_backticks(name)} = {shown_value}")
        return equalities

    def find_some_keys(self) -> list[dict[str, str | None]]:
        """Return the key values of some partitions as texts, by the names of the keys. Runs a job.

        The partitions are sorted; numbers in texts are compared as numbers. The list is empty if
        the clause has no PARTITION BY.
        """
        if not self.key_texts:
            return []
        items = [
            f"CAST({self.write_comparable(text)} AS STRING) AS k{index}"
            for index, text in enumerate(self.key_texts.values())
        ]
        partitions = self.request.relation.select(items).distinct()
        rows = partitions.limit(MAX_SHOWN_PARTITIONS).collect()
        rows.sort(key=lambda row: [make_sort_key(errors.show_key_value(text)) for text in row])
        return [dict(zip(self.key_texts, row, strict=True)) for row in rows]

    def write_example(self, keys: Mapping[str, str | None]) -> str:
        """Return the argument or option by which a user names the partition with these keys."""
        return errors.write_partition_example(keys, self.integer_keys)

    def write_similar_example(self, values_by_key: Mapping[str, object]) -> str:
        """Return an example of how a user names a partition; "" if the input has none. Runs a job.

        Args:
            values_by_key: the values of some keys, by the names of the keys. The example has them,
                if a partition does.
        """
        some_keys = self.find_some_keys()
        texts = {name: str(value) for name, value in values_by_key.items()}
        similar_keys = [keys for keys in some_keys if keys | texts == keys]
        examples = similar_keys or some_keys
        return self.write_example(examples[0]) if examples else ""

    # The rows that the target names.

    def build_target_tests(self, key_tests: tuple[str, ...]) -> tuple[RowColumn, RowColumn]:
        """Return a test of whether a row is the target, and a test of whether it is before it.

        A row is before the target if its first ORDER BY value comes before the target's, or is
        NULL. Runs jobs, which check the types of values.

        Args:
            key_tests: the tests that `write_key_tests` has returned.

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
        operator = ">" if self.plan.order_by[0].is_descending else "<"
        is_before = f"coalesce(({first_text} {operator} {first_value}), TRUE)"
        return build_row_column(is_target), build_row_column(is_before)

    def find_target_rows(
        self, order_values: OrderValues, is_target: BoolArray, rows_before: int
    ) -> tuple[int, ...]:
        """Return the positions of the rows that the target names, from 0.

        Args:
            order_values: the ORDER BY values of all rows of the partition.
            is_target: bool[n], whether each row is the target.
            rows_before: the number of rows before the target.

        Raises:
            MatchRecognizeError: the target names no row. The error lists rows that are near.
        """
        assert self.target.row is not None, "the target names all rows"
        if is_target.any():
            return tuple(np.flatnonzero(is_target).tolist())
        first_near = max(0, rows_before - NEAR_ROWS)
        near_values = order_values[first_near : rows_before + NEAR_ROWS]
        nearest_texts = find_nearest_values(
            near_values, rows_before - first_near, self.target.row[0]
        )
        near_rows = [dict(zip(self.order_texts, values, strict=True)) for values in near_values]
        # The target can have fewer values than ORDER BY has items.
        target_values = zip(self.order_texts, self.target.row, strict=False)
        raise errors.unknown_row(
            equalities=[f"{text} = {value}" for text, value in target_values],
            near_rows=near_rows,
            nearest=[
                self.read_order_value(text, value)
                for text, value in zip(self.order_texts, nearest_texts, strict=True)
            ],
        )

    def read_order_value(self, text: str, value: str) -> int | float | str:
        """Return the value of an ORDER BY item as a user writes it in `row=`: numbers as numbers.

        Args:
            text: the item, as SQL.
            value: the text of its value.
        """
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
        """Return SQL of the text by which users and messages name the value of an expression."""
        return write_value_text(text, self.request.relation.find_type(text))

    def write_comparable(self, text: str) -> str:
        """Return SQL of an expression that can be compared with the SQL of `write_value`.

        Bytes, arrays, maps and structs are compared by their texts.
        """
        type_ = self.request.relation.find_type(text)
        if is_named_by_text(type_):
            return self.write_as_text(text)
        return types.normalize_value(text, type_)

    def write_value(
        self, argument: str, text: str, value: object, key_tests: tuple[str, ...] = ()
    ) -> str:
        """Return a value of the user as SQL that can be compared with `write_comparable`.

        Runs a job if the type of the value must be checked: see `check_type`.

        Args:
            argument: the name of the argument that has the value, for messages.
            text: the expression with whose values the value is compared, as SQL.
            value: the value.
            key_tests: see `check_type`.

        Raises:
            MatchRecognizePlanError: the type of the expression does not have this value.
        """
        type_ = self.request.relation.find_type(text)
        value = to_python_value(value)
        literal_text = write_literal(convert_instant(value, type_), argument)
        is_number = isinstance(value, Number) and not isinstance(value, bool)
        if value is None or (is_number and isinstance(type_, spark_types.NumericType)):
            return literal_text
        if isinstance(type_, spark_types.StringType) or is_named_by_text(type_):
            is_bytes = isinstance(value, bytes | bytearray)
            return quote_string(literal_text if is_bytes else str(value))
        if isinstance(type_, spark_types.BooleanType):
            # Not every engine compares booleans with texts, such as options of the command line.
            boolean_literal = BOOLEAN_LITERALS.get(str(value).strip().lower())
            if boolean_literal is not None:
                return boolean_literal
        if isinstance(type_, INTERVAL_TYPES):
            if isinstance(value, str) and INTERVAL_LITERAL.fullmatch(value.strip()):
                return value.strip()
            if isinstance(value, timedelta) and isinstance(type_, spark_types.DayTimeIntervalType):
                return literal_text
            literal_text = "NULL"  # engines cast few texts, and Sail none, so that the cast fails
        self.check_type(argument, text, value, literal_text, key_tests)
        return write_typed_text(value, type_) or literal_text

    def check_type(
        self, argument: str, text: str, value: object, literal_text: str, key_tests: tuple[str, ...]
    ) -> None:
        """Check that Spark can cast a literal to the type of an expression. Runs a job.

        The error shows a value of the expression as an example. If no row has one, nothing is
        checked.

        Args:
            argument: the name of the argument that has the value.
            text: the expression, as SQL.
            value: the value.
            literal_text: the value as an SQL literal; "NULL" if it does not have the type.
            key_tests: tests of rows, as SQL. The example is from a row that passes all of them: for
                a row of a partition, from the same partition.

        Raises:
            MatchRecognizePlanError: Spark cannot cast the literal.
        """
        type_name = self.request.relation.find_type(text).simpleString()
        can_cast = f"try_cast(CAST({literal_text} AS STRING) AS {type_name}) IS NOT NULL"
        items = [
            f"{'FALSE' if literal_text == 'NULL' else can_cast} AS has_type",
            f"{self.write_as_text(text)} AS example",
            f"{' AND '.join(key_tests) or 'TRUE'} AS in_partition",
        ]
        rows = self.request.relation.select(items)
        examples = rows.where("in_partition AND example IS NOT NULL").limit(1).collect()
        if examples and not examples[0].has_type:
            raise errors.value_of_wrong_type(
                argument=argument,
                value=value,
                name=self.request.columns.find_by_text(text) or text,
                type_name=type_name,
                example=examples[0].example,
            )


def write_typed_text(value: object, type_: spark_types.DataType) -> str | None:
    """Return the text of a number or a date as a literal of its type; None for any other value.

    >>> write_typed_text("7", spark_types.LongType()), write_typed_text("7", spark_types.DateType())
    ('7', None)
    >>> write_typed_text("NaN", spark_types.DoubleType())
    "DOUBLE('nan')"
    """
    if not isinstance(value, str):
        return None
    text = value.strip()
    if isinstance(type_, spark_types.IntegralType) and re.fullmatch(r"[+-]?[0-9]+", text):
        return str(int(text))
    if isinstance(type_, spark_types.FloatType | spark_types.DoubleType):
        with suppress(ValueError):
            return write_literal(float(text), "partition")
    if isinstance(type_, spark_types.DateType) and re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return f"DATE'{text}'"
    return None


def is_named_by_text(type_: spark_types.DataType) -> bool:
    """Return whether users name values of a type by their texts: bytes, arrays, maps, structs."""
    return types.is_nested(type_) or isinstance(type_, spark_types.BinaryType)


def find_nearest_values(
    near_values: OrderValues, count_before: int, target: object
) -> tuple[str, ...]:
    """Return the ORDER BY values of the row that is closest to a target.

    If the first value is neither a number nor a time, the row before the target counts as closest.

    Args:
        near_values: the ORDER BY values of rows before the target, then of rows after it; at least
            one row.
        count_before: the number of rows before the target.
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
    distance_before = abs(target_number - number_before)
    distance_after = abs(number_after - target_number)
    return after if distance_after < distance_before else before


def read_as_number(text: str) -> float | None:
    """Return the number in a text, or the seconds of a date or time; None for any other text."""
    with suppress(ValueError):
        return float(text)
    with suppress(ValueError):
        return datetime.fromisoformat(text).timestamp()
    return None
