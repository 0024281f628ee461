"""Find out which expression could not be computed, if the engine does not name it.

    Division by zero    →    the condition of `A` cannot be computed: division by zero
                               line 3, column 15
                                   DEFINE A AS 10 / A.b > 2
                                               ^^^^^^^^

Spark shows the SQL that has failed (see `errors.run.origins`). Other engines give only the reason,
such as a division by zero. On these engines, matchrec evaluates expressions once more after a
failure. A `SecondLook` has some rows, and the expressions that a query computes from them;
`marked_rows` stores it until the query fails. `SecondLook.find_error` takes these steps:

1. All expressions are evaluated together. If they fail, their list is halved until a single
   expression is left that fails by itself.
2. The operands of this expression are evaluated next, to find the smallest part that fails.

Without a failure, no expression is listed and nothing is evaluated.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from typing_extensions import override

from matchrec.compile.split_query import SplitQuery
from matchrec.conditions.row_column import RowColumn
from matchrec.errors.kinds import MatchRecognizeRunError, make_computation_error
from matchrec.errors.run.expression_text import split_at_operator
from matchrec.errors.run.failures import row_not_computed
from matchrec.errors.run.origins import SqlOrigin
from matchrec.errors.run.sql_failures import OperandTypes, build_failure, explain_implicit_cast
from matchrec.plan.build_expressions import join_conditions
from matchrec.plan.expression import (
    Operation,
    Scalar,
    reads_columns_only,
    split_conjuncts,
    walk_scalar,
    write_row_sql,
)
from matchrec.spark.relation import Relation
from matchrec.spark.runner import Runner
from matchrec.spark.sail.value_failures import explain_value_failure
from matchrec.spark.select_items import SelectItem

Item = TypeVar("Item")
ItemFailure = TypeVar("ItemFailure")

# The beginning of a worker's message about an input row that the engine cannot compute.
NOT_COMPUTED = row_not_computed(reason="", hint=None).message

# A value in the reason of a failure.
QUOTED_VALUE = re.compile(r"'[^']*'")

# A comment in generated SQL, about a name of ours.
COMMENT = re.compile(r"/\*.*?\*/")


@dataclass(frozen=True, eq=False)
class SecondLook(ABC):
    """The expressions that a query computes from some rows, to be evaluated again if it fails.

    Expressions are SQL over one of these rows.
    """

    # The text that marks the rows in the plan of the query.
    token: str

    @abstractmethod
    def find_origins(self) -> Mapping[str, SqlOrigin]:
        """Return the origin of each expression, by its SQL."""

    @abstractmethod
    def select(self, items: Sequence[str]) -> DataFrame:
        """Return the DataFrame of some expressions over the rows.

        Args:
            items: the select list, as SQL.
        """

    @abstractmethod
    def select_rows(self) -> DataFrame:
        """Return the rows without any expression."""

    @property
    def scalars(self) -> Sequence[Scalar]:
        """Return the expressions of the user's query that the SQL over one row is made from.

        Returns no expressions if the SQL has another form, such as SQL over the reads of a match.
        """
        return ()

    def find_origins_of_several_rows(self) -> Sequence[SqlOrigin]:
        """Return the origins of the expressions that read several rows of the input.

        SQL over one row cannot compute these expressions, so they are not evaluated again.
        """
        return ()

    def find_error(self, worker_sentence: str | None) -> MatchRecognizeRunError | None:
        """Return the error of the first expression that fails by itself.

        If all of them can be computed and exactly one expression reads several rows, this
        expression is to blame.

        Args:
            worker_sentence: the worker's message about a row that it has read; None if no worker
                failed.

        Returns:
            The error; None if no expression is to blame, or if the rows themselves cannot be
            computed.
        """
        origins = self.find_origins()
        first_failing = find_first_failing(tuple(origins), self.find_failure)
        if first_failing is None:
            return self.find_error_over_several_rows(worker_sentence)
        if find_frame_failure(self.select_rows) is not None:
            return None
        failing_text, sentence_about_text = first_failing
        part, sentence = self.find_failing_part(failing_text, sentence_about_text)
        failure = build_failure(origins[failing_text], part, sentence)
        operand_types = self.find_operand_types(part)
        if operand_types is not None:
            failure = explain_implicit_cast(failure, operand_types)
        return make_computation_error(failure)

    def find_operand_types(self, text: str) -> OperandTypes | None:
        """Return the types of the two operands of an expression.

        Returns None if the expression does not have two operands, or if their types are not known.

        Args:
            text: the expression as SQL over one row.
        """
        operation = split_at_operator(COMMENT.sub("", text))
        if operation is None:
            return None
        try:
            operands = self.select([f"{operation.left} AS x0", f"{operation.right} AS x1"])
            fields = operands.schema.fields
        except PySparkException:
            return None
        left_type, right_type = (field.dataType.simpleString() for field in fields)
        return OperandTypes(left_type, right_type)

    def find_error_over_several_rows(
        self, worker_sentence: str | None
    ) -> MatchRecognizeRunError | None:
        """Return the error of the only expression that reads several rows.

        Returns None if no worker failed, if there is not exactly one such expression, or if the
        rows themselves cannot be computed.

        Args:
            worker_sentence: as in `find_error`.
        """
        if not worker_sentence:
            return None
        origins = self.find_origins_of_several_rows()
        if len(origins) != 1 or find_frame_failure(self.select_rows) is not None:
            return None
        return make_computation_error(build_failure(origins[0], "", worker_sentence))

    def find_failure(self, texts: Sequence[str]) -> str | None:
        """Return a sentence about why some expressions fail; None if they do not. Runs a query."""
        items = [f"{text} AS x{index}" for index, text in enumerate(texts)]
        return find_frame_failure(lambda: self.select(items))

    def find_failing_part(self, text: str, sentence: str) -> tuple[str, str]:
        """Return the smallest part of an expression that must be the cause, and why it fails.

        If exactly one of several operands fails by itself, and for the same reason, it is the
        cause, and its operands are evaluated next. A part that fails for another reason is guarded
        by the rest of the expression: `b <> 0 AND 10 DIV b + n > 0` does not divide by zero.

        Args:
            text: the expression as SQL over one row.
            sentence: why the whole expression fails.

        Returns:
            The part as SQL over one row, and the sentence about why it fails.
        """
        part = self.find_scalar(text)
        if part is None:
            return text, sentence
        while isinstance(part, Operation):
            failing_operands = self.find_failing_operands(part)
            if len(failing_operands) != 1:
                break
            ((operand, operand_sentence),) = failing_operands
            if not have_same_reason(operand_sentence, sentence):
                break
            part = operand
            sentence = operand_sentence
        return write_row_sql(part), sentence

    def find_failing_operands(self, operation: Operation) -> list[tuple[Scalar, str]]:
        """Return the operands that fail by themselves, each with why it fails. Runs queries."""
        failing_operands = []
        for operand in operation.operands:
            sentence = self.find_failure([write_row_sql(operand)])
            if sentence is not None:
                failing_operands.append((operand, sentence))
        return failing_operands

    def find_scalar(self, text: str) -> Scalar | None:
        """Return the part of an expression that a SQL text over one row was made from.

        Returns None if the text was not made from a part of `scalars`.
        """
        for scalar in self.scalars:
            for part in walk_scalar(scalar):
                if reads_columns_only(part) and text in render_both_forms(part):
                    return part
        return None


@dataclass(frozen=True, eq=False)
class InputLook(SecondLook):
    """The expressions that some queries compute over their input."""

    # The input.
    relation: Relation
    # The queries, with the origins of the expressions that the engine computes.
    queries: tuple[SplitQuery, ...]

    @override
    def find_origins(self) -> Mapping[str, SqlOrigin]:
        origins: dict[str, SqlOrigin] = {}
        for query in self.queries:
            for value, origin in query.origins.items():
                if isinstance(value, str):
                    origins.setdefault(value, origin)
        return origins

    @override
    def select(self, items: Sequence[str]) -> DataFrame:
        return self.relation.select(items)

    @override
    def select_rows(self) -> DataFrame:
        return self.relation.rows

    @property
    def scalars(self) -> Sequence[Scalar]:
        """Return the conditions and the measures of all queries."""
        return [scalar for query in self.queries for scalar in query.plan.expressions]

    @override
    def find_origins_of_several_rows(self) -> Sequence[SqlOrigin]:
        origins = dict[SqlOrigin, None]()  # an ordered set
        for query in self.queries:
            for value, origin in query.origins.items():
                is_column_of_one_row = isinstance(value, RowColumn) and value.reads_one_row
                if not isinstance(value, str) and not is_column_of_one_row:
                    origins.setdefault(origin)
        return tuple(origins)


@dataclass(frozen=True, eq=False)
class MatchLook(SecondLook):
    """The expressions that a query computes over its matches."""

    # Runs the expressions in the session of the query, which has its functions.
    runner: Runner
    # The output rows of the workers, or rows that are computed from them.
    output_rows: DataFrame
    # The expressions, as SQL over these rows.
    items: Sequence[SelectItem]
    # The origin of each expression; None if the expression cannot fail.
    item_origins: Sequence[SqlOrigin | None]

    @override
    def find_origins(self) -> Mapping[str, SqlOrigin]:
        pairs = zip(self.items, self.item_origins, strict=True)
        return {item.sql: origin for item, origin in pairs if origin is not None}

    @override
    def select(self, items: Sequence[str]) -> DataFrame:
        return self.runner.select(self.output_rows, items)

    @override
    def select_rows(self) -> DataFrame:
        return self.output_rows


def have_same_reason(sentence: str, other: str) -> bool:
    """Return whether two sentences give the same reason. They can have different values in quotes.

    >>> have_same_reason("Cannot cast '1,5'. Write ...", "Cannot cast '2,5'. Write ...")
    True
    >>> have_same_reason("Division by zero", "Overflow")
    False
    """
    return QUOTED_VALUE.sub("", sentence) == QUOTED_VALUE.sub("", other)


def render_both_forms(part: Scalar) -> tuple[str, str]:
    """Return the two texts that the SQL of an expression over one row can have.

    The second text is for the compiler, which can split a condition at AND and join its parts
    again. This changes the parentheses.
    """
    return write_row_sql(part), write_row_sql(join_conditions("AND", split_conjuncts(part)))


def find_first_failing(
    items: Sequence[Item], find_failure: Callable[[Sequence[Item]], ItemFailure | None]
) -> tuple[Item, ItemFailure] | None:
    """Return the first of several items that fails by itself, and its failure.

    Returns None if no item fails by itself. If a single one of n items fails, about 2 log2(n) calls
    of `find_failure` find it.

    Args:
        items: the items.
        find_failure: returns the failure of some items together; None if none of them fails.
    """
    if not items:
        return None
    failure = find_failure(items)
    if failure is None:
        return None
    if len(items) == 1:
        return items[0], failure
    middle = len(items) // 2
    first_half, second_half = items[:middle], items[middle:]
    return find_first_failing(first_half, find_failure) or find_first_failing(
        second_half, find_failure
    )


def find_frame_failure(make_frame: Callable[[], DataFrame]) -> str | None:
    """Return a sentence about why the rows of a DataFrame cannot be computed. Computes all of them.

    Returns None if they can be computed, or if the engine rejects something other than a value.

    Args:
        make_frame: returns the DataFrame. Its errors count as errors of the rows.
    """
    try:
        make_frame().write.format("noop").mode("overwrite").save()
    except PySparkException as error:
        return explain_value_failure(str(error))
    return None
