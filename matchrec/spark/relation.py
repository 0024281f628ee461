"""The input of a clause: write queries over it, and find the types of expressions over it.

    relation.select(["price * 2"])      the DataFrame of SELECT price * 2 FROM <the input>
    relation.find_type("price * 2")     its type, for which the engine analyses this query

A `Relation` stores every type that the engine has returned, so that the engine analyses an
expression once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
)

from matchrec.conditions.types import ValueType
from matchrec.plan.templates import Template, join_template, write_select
from matchrec.plan.text import quote_name
from matchrec.spark.runner import PARAMETER_SIGN, SUBQUERY_START, Runner
from matchrec.spark.types import to_value_type

# The beginning of a call of a function, and of some other SQL, such as `x IN (1, 2)`.
CALL_START = re.compile(r"[\w`]\s*\(")

# The types that PySpark gives to parameters whose values have these classes.
TYPES_BY_CLASS = {bool: BooleanType(), float: DoubleType(), str: StringType()}
# The least positive integer that does not fit into an INT.
LEAST_BIGINT = 1 << 31


@dataclass(frozen=True)
class Relation:
    """The input of a clause, and the types that the engine has returned for it so far."""

    # Runs the queries over the input.
    runner: Runner
    # The text after FROM in a query over the input.
    text: Template
    # Creates the DataFrame of the input's rows when they are first needed. None if the DataFrame is
    # `SELECT *` over `text`.
    create_rows: Callable[[], DataFrame] | None = None

    @cached_property
    def rows(self) -> DataFrame:
        """Return the DataFrame of the input."""
        return self.select(["*"]) if self.create_rows is None else self.create_rows()

    @cached_property
    def task_count(self) -> int | None:
        """Return the number of tasks to divide the rows into; None if the engine decides."""
        return self.runner.backend.count_tasks(self.rows)

    def write_query(self, items: Iterable[str]) -> Template:
        """Return the text of a query over the input, with a select list.

        Args:
            items: the items of the select list, as SQL.
        """
        select_list = self.runner.find_holes(", ".join(items))
        return write_select(select_list, self.text, self.runner.with_clauses)

    def select(self, items: Iterable[str]) -> DataFrame:
        """Return the DataFrame of a query over the input, with a select list."""
        return self.runner.sql(self.write_query(items))

    def write_query_over(self, query: Template, items: Iterable[str]) -> Template:
        """Return the text of a query over another query, with a select list.

        Spark analyses one text at once. It would analyse two DataFrames one after the other.

        Args:
            query: the other query, which has the WITH clauses that it needs.
            items: the items of the select list, as SQL.
        """
        select_list = ", ".join(items)
        has_subquery = SUBQUERY_START.search(select_list) is not None
        return write_select(
            self.runner.find_holes(select_list),
            join_template("(", query, ")"),
            self.runner.with_clauses if has_subquery else (),
        )

    @cached_property
    def known_fields(self) -> dict[str, StructField]:
        """Return the fields of expressions whose types are known, by the SQL of the expressions.

        At first the dict has the columns, with quoted names: "`price`". `find_fields` adds the
        fields of other expressions. Columns with the same name are left out, because an expression
        that names them is ambiguous.
        """
        schema = self.rows.schema
        name_counts = Counter(name.lower() for name in schema.names)
        return {
            quote_name(column.name): column
            for column in schema
            if name_counts[column.name.lower()] == 1
        }

    @cached_property
    def column_types(self) -> dict[str, str]:
        """Return the types of the columns as Spark writes them, by quoted names: {"`v`": "int"}.

        Columns with the same name are left out, as in `known_fields`.
        """
        columns = {quote_name(name) for name in self.rows.schema.names}
        return {
            name: field.dataType.simpleString()
            for name, field in self.known_fields.items()
            if name in columns
        }

    @cached_property
    def analysed_fields(self) -> dict[str, StructField]:
        """Return the fields of SQL that the session has analysed over the input, by the SQL.

        In contrast to `known_fields`, a field has the name of a generated column, such as `__c0`.
        The dict is empty at first; `Preparation.remember_fields` adds to it.
        """
        return {}

    def has_fixed_type(self, text: str) -> bool:
        """Return whether the type of SQL follows from the types of columns and parameters alone.

        It does not if the expression calls a function or has a subquery: a function or a table of
        this name can be replaced at any time.

        Args:
            text: the expression, as SQL.
        """
        if CALL_START.search(text) or SUBQUERY_START.search(text):
            return False
        values = self.runner.args
        if not values or not PARAMETER_SIGN.search(text):
            return True
        if isinstance(values, list):
            return False
        return all(find_parameter_type(value) is not None for value in values.values())

    def find_fields(self, texts: Iterable[str]) -> list[StructField]:
        """Return the fields of expressions over the input, in their order.

        The engine analyses all expressions together whose fields are not yet known.

        Args:
            texts: the expressions, as SQL.

        Raises one of Spark's `QUERY_ERRORS`.
        """
        texts = tuple(texts)
        new_texts = tuple(dict.fromkeys(text for text in texts if text not in self.known_fields))
        if new_texts:
            new_fields = self.runner.find_fields(self.select(new_texts), " ".join(new_texts))
            self.known_fields.update(zip(new_texts, new_fields, strict=True))
        return [self.known_fields[text] for text in texts]

    def find_type(self, text: str) -> DataType:
        """Return the type of an expression over the input."""
        return self.find_fields([text])[0].dataType

    def find_known_type(self, text: str) -> ValueType | None:
        """Return the type of an expression if it is known without an analysis; otherwise None.

        The types of columns, of parameters and of expressions that were analysed before are known.

        Args:
            text: the expression, as SQL. The name of a column must be quoted.
        """
        type_: DataType | None = None
        values = self.runner.args
        if text in self.known_fields:
            type_ = self.known_fields[text].dataType
        elif text.startswith(":") and isinstance(values, dict):
            type_ = find_parameter_type(values.get(text[1:]))
        return None if type_ is None else to_value_type(type_)

    def find_name(self, text: str) -> str:
        """Return the name that Spark gives to the column of an expression over the input."""
        return self.find_fields([text])[0].name


def find_parameter_type(value: object) -> DataType | None:
    """Return the type of the value of a parameter; None if its class does not decide the type.

    >>> find_parameter_type(-(1 << 31)), find_parameter_type(1 << 31), find_parameter_type(None)
    (IntegerType(), LongType(), None)
    """
    if type(value) is int:
        return IntegerType() if -LEAST_BIGINT <= value < LEAST_BIGINT else LongType()
    return TYPES_BY_CLASS.get(type(value))
