"""Find out which expression could not be computed, if the engine does not name it.

    Division by zero    →    the condition of `A` cannot be computed: division by zero
                               line 3, column 15
                                   DEFINE A AS 10 / A.b > 2
                                               ^^^^^^^^

Spark shows the SQL that has failed (see `errors.run.origins`). Other engines give only the reason,
such as a division by zero. On these engines matchrec evaluates expressions once more after a
failure:

1. `keep_expressions` and `keep_match_expressions` store a `SecondLook` for some rows: the
   expressions over them. Both functions mark the rows with a token, which is then in the plan of
   every query over these rows.
2. After a failure, `failed_actions` calls `find_failed_expression`, which searches the failed plan
   for tokens, and so finds the looks.
3. The looks are searched one after the other, those over the input before those over matches. All
   expressions of a look are evaluated together. If they fail, their list is halved until a single
   expression is left that fails by itself.
4. The same is done with the operands of this expression, to find the smallest part that fails.

Without a failure no expression is listed and nothing is evaluated.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar, cast
from uuid import uuid4
from weakref import WeakKeyDictionary

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from typing_extensions import override

from matchrec.compile.split_query import SplitQuery
from matchrec.conditions.row_column import RowColumn
from matchrec.errors.kinds import MatchRecognizeRunError, make_computation_error
from matchrec.errors.language import set_variable
from matchrec.errors.run.failures import row_not_computed, value_not_computed
from matchrec.errors.run.origins import SqlOrigin, build_failure, explain_implicit_cast
from matchrec.errors.run.repairs import split_at_operator
from matchrec.plan import expression
from matchrec.plan.build_expressions import join_conditions
from matchrec.plan.expression import Operation, Scalar, split_conjuncts, write_row_sql
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.relation import Relation
from matchrec.spark.runner import Runner
from matchrec.spark.sail.error_messages import explain_value_failure, find_value_failure
from matchrec.worker.wire import SelectItem

Item = TypeVar("Item")
FoundFailure = TypeVar("FoundFailure")

TOKEN = re.compile(rb"matchrec-look-[0-9a-f]{32}")

# The attribute of a plan that holds its look.
LOOK = "_matchrec_look"

# The beginning of a worker's message about an input row that the engine cannot compute.
NOT_COMPUTED = row_not_computed(reason="", hint=None).message

# A value in the reason of a failure.
QUOTED_VALUE = re.compile(r"'[^']*'")

# A comment in generated SQL, about a name of ours.
COMMENT = re.compile(r"/\*.*?\*/")

# True while a second look runs queries: their failures are not explained.
_LOOKING: ContextVar[bool] = ContextVar("is_looking", default=False)


@dataclass(frozen=True, eq=False)
class SecondLook(ABC):
    """The expressions that a query computes from some rows, to be evaluated again if it fails."""

    # The text that marks the rows in the plan of the query.
    token: str

    @abstractmethod
    def find_origins(self) -> Mapping[str, SqlOrigin]:
        """Return the origin of each expression, by its SQL."""

    @abstractmethod
    def select(self, items: Sequence[str]) -> DataFrame:
        """Return the DataFrame of some expressions over the rows."""

    @abstractmethod
    def select_rows(self) -> DataFrame:
        """Return the rows without any expression."""

    @property
    def scalars(self) -> Sequence[Scalar]:
        """Return all expressions of the plan, if the SQL that fails is made from parts of them.

        Returns no expressions if it is made otherwise, such as SQL over the reads of a match.
        """
        return ()

    def find_origins_of_several_rows(self) -> Sequence[SqlOrigin]:
        """Return the origins of expressions that read several rows of the input.

        SQL over one row cannot compute them, so they are not evaluated again.
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
            The error; None if no expression is to blame, or if the rows themselves cannot be read.
        """
        origins = self.find_origins()
        first_failing = find_first_failing(tuple(origins), self.find_failure)
        if first_failing is None:
            return self.find_error_over_several_rows(worker_sentence)
        if find_frame_failure(self.select_rows) is not None:
            return None
        failing_sql, whole_sentence = first_failing
        part, sentence = self.find_failing_part(failing_sql, whole_sentence)
        failure = build_failure(origins[failing_sql], part, sentence)
        operand_types = self.find_operand_types(part)
        if operand_types is not None:
            failure = explain_implicit_cast(failure, operand_types)
        return make_computation_error(failure)

    def find_operand_types(self, text: str) -> tuple[str, str] | None:
        """Return the types of the two operands of an expression; None if it does not have two.

        Args:
            text: the expression as SQL over one row.
        """
        operands = split_at_operator(COMMENT.sub("", text))
        if operands is None:
            return None
        left, _, right = operands
        try:
            fields = self.select([f"{left} AS x0", f"{right} AS x1"]).schema.fields
        except PySparkException:
            return None
        return fields[0].dataType.simpleString(), fields[1].dataType.simpleString()

    def find_error_over_several_rows(
        self, worker_sentence: str | None
    ) -> MatchRecognizeRunError | None:
        """Return the error of the only expression that reads several rows.

        Returns None if no worker failed, if there is not exactly one such expression, or if the
        rows themselves cannot be read.

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
        """Return why some expressions cannot be computed; None if all can be. Runs a query."""
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
        """
        scalar = self.find_scalar(text)
        if scalar is None:
            return text, sentence
        while isinstance(scalar, Operation):
            failures = []
            for operand in scalar.operands:
                operand_sentence = self.find_failure([write_row_sql(operand)])
                if operand_sentence is not None:
                    failures.append((operand, operand_sentence))
            if len(failures) != 1:
                break
            ((operand, operand_sentence),) = failures
            if not have_same_reason(operand_sentence, sentence):
                break
            scalar, sentence = operand, operand_sentence
        return write_row_sql(scalar), sentence

    def find_scalar(self, text: str) -> Scalar | None:
        """Return the part of the plan's expressions that a SQL text over one row was made from.

        Returns None if the text was made from something else.
        """
        for scalar in self.scalars:
            for part in expression.walk_scalar(scalar):
                if expression.reads_columns_only(part) and text in render_both_forms(part):
                    return part
        return None


@dataclass(frozen=True, eq=False)
class InputLook(SecondLook):
    """The expressions that some queries compute over their input."""

    # The input.
    relation: Relation
    # The queries of the rules, with the origins of the expressions that the engine computes.
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
                is_of_one_row = isinstance(value, RowColumn) and value.reads_one_row
                if not isinstance(value, str) and not is_of_one_row:
                    origins.setdefault(origin)
        return tuple(origins)


@dataclass(frozen=True, eq=False)
class MatchLook(SecondLook):
    """The expressions that a query computes over its matches."""

    # Runs the expressions in the session of the query, which has its functions.
    runner: Runner
    # The rows of the workers, or rows that are computed from them.
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
    """Return whether two sentences give the same reason, perhaps for other values in quotes.

    >>> have_same_reason("Cannot cast '1,5'. Write ...", "Cannot cast '2,5'. Write ...")
    True
    >>> have_same_reason("Division by zero", "Overflow")
    False
    """
    return QUOTED_VALUE.sub("", sentence) == QUOTED_VALUE.sub("", other)


def render_both_forms(part: Scalar) -> tuple[str, str]:
    """Return the texts of an expression over one row: as written, and with its ANDs joined again.

    The compiler may split a condition and join its parts again, which changes the parentheses.
    """
    return write_row_sql(part), write_row_sql(join_conditions("AND", split_conjuncts(part)))


# The looks that are kept, in the order of their queries: those over the input come before those
# over its matches.
_looks: WeakKeyDictionary[SecondLook, None] = WeakKeyDictionary()
_looks_lock = Lock()


def keep_expressions(
    rows: DataFrame, relation: Relation, queries: Iterable[SplitQuery]
) -> DataFrame:
    """Store the expressions over the input, for a second look if a query over its rows fails.

    Args:
        rows: the prepared rows.
        relation: the input that they are computed from.
        queries: the queries of the rules, with the origins of what the engine computes.

    Returns:
        The rows, marked.
    """
    return mark_rows(rows, InputLook(make_token(), relation, tuple(queries)))


def keep_match_expressions(
    output_rows: DataFrame,
    runner: Runner,
    items: Sequence[SelectItem],
    origins: Sequence[SqlOrigin | None],
) -> DataFrame:
    """Store expressions over the matches, for a second look if a query that computes them fails.

    Takes the same arguments as `Backend.watch_matches`.

    Returns:
        The rows, marked. Only the query that computes these expressions may read the marked rows.
        So each result is looked at separately, even if several rules read the same matches.
    """
    return mark_rows(output_rows, MatchLook(make_token(), runner, output_rows, items, origins))


def make_token() -> str:
    """Return a new token, which `TOKEN` finds in a plan."""
    return f"matchrec-look-{uuid4().hex}"


def mark_rows(rows: DataFrame, look: SecondLook) -> DataFrame:
    """Return rows with the token of a look in their plan, as their alias.

    The look is attached to this plan, so that it lives as long as a DataFrame over the rows.
    """
    marked_rows = rows.alias(look.token)
    vars(cast("Any", marked_rows)._plan)[LOOK] = look
    with _looks_lock:
        _looks[look] = None
    return marked_rows


def find_first_failing(
    items: Sequence[Item], find_failure: Callable[[Sequence[Item]], FoundFailure | None]
) -> tuple[Item, FoundFailure] | None:
    """Return the first of several items that fails by itself, and its failure.

    Returns None if no item fails by itself. Items that do not fail together do not fail by
    themselves either, so few calls suffice: about 2 log2(n) for n items.

    Args:
        items: the items.
        find_failure: returns the failure of some items together; None if they do not fail.
    """
    if not items:
        return None
    failure = find_failure(items)
    if failure is None:
        return None
    if len(items) == 1:
        return items[0], failure
    middle = len(items) // 2
    return find_first_failing(items[:middle], find_failure) or find_first_failing(
        items[middle:], find_failure
    )


def find_frame_failure(make_frame: Callable[[], DataFrame]) -> str | None:
    """Return why the rows of a DataFrame cannot be computed. Computes all of them.

    Returns None if they can be computed, or if the reason is not a value.
    """
    try:
        make_frame().write.format("noop").mode("overwrite").save()
    except PySparkException as error:
        return explain_value_failure(str(error))
    return None


def is_second_look() -> bool:
    """Return whether the running query belongs to a second look."""
    return _LOOKING.get()


def find_failed_expression(error: PySparkException, plan: Any) -> MatchRecognizeRunError | None:
    """Return the error of the expression that a query could not compute.

    Runs queries that evaluate the expressions again.

    Args:
        error: the failure, in the words of the engine or of a worker.
        plan: the plan of the query, as a protobuf message of Spark Connect.

    Returns:
        The error; None if no value of the input is to blame, or no expression fails by itself.
    """
    worker_error = MatchRecognizeRunError.from_exception(error)
    text = str(error) if worker_error is None else worker_error.message
    is_about_input = worker_error is None or text.startswith(NOT_COMPUTED)
    sentence = explain_value_failure(text)
    if not is_about_input or sentence is None:
        return None
    worker_sentence = None if worker_error is None else sentence.removeprefix(NOT_COMPUTED)
    tokens = {token.decode() for token in TOKEN.findall(plan.SerializeToString())}
    with _looks_lock:
        looks = [look for look in _looks if look.token in tokens]
    run_error = None
    with silence_analysis(), set_variable(_LOOKING, True):
        for look in looks:
            run_error = look.find_error(worker_sentence)
            if run_error is not None:
                break
    if run_error is None and looks:
        run_error = explain_elsewhere(text, is_in_input=worker_sentence is not None)
    return run_error


def explain_elsewhere(text: str, *, is_in_input: bool) -> MatchRecognizeRunError | None:
    """Return the error of a value that cannot be computed before or around the clause.

    Args:
        text: the message of the engine or of a worker.
        is_in_input: whether a worker could not read a row of the input.

    Returns:
        The error; None if the reason is not known in plain words.
    """
    failure = find_value_failure(text.removeprefix(NOT_COMPUTED))
    if failure is None:
        return None
    reason, hint = failure
    if is_in_input:
        return row_not_computed(reason=reason, hint=hint)
    return value_not_computed(reason=reason, hint=hint)
