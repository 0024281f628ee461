"""Mark rows, so that a failed query over them leads to the expressions that it computes.

`mark_input_rows` and `mark_match_rows` store a `SecondLook`: some rows, and the expressions that a
query computes from them. Both functions mark the rows with a token, which is then in the plan of
every query over these rows. After a failure, `take_second_look` searches the failed plan for
tokens, and so finds the second looks. It tries them one after the other: those over an input before
those over its matches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from threading import Lock
from typing import Any, cast
from uuid import uuid4
from weakref import WeakKeyDictionary

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from matchrec.compile.split_query import SplitQuery
from matchrec.errors.context import set_variable
from matchrec.errors.kinds import MatchRecognizeRunError
from matchrec.errors.run.failures import row_not_computed, value_not_computed
from matchrec.errors.run.origins import SqlOrigin
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.errors.second_look import NOT_COMPUTED, InputLook, MatchLook, SecondLook
from matchrec.spark.relation import Relation
from matchrec.spark.runner import Runner
from matchrec.spark.sail.value_failures import explain_value_failure, find_value_failure
from matchrec.spark.select_items import SelectItem

# A token, as `make_token` returns it, in the bytes of a plan.
TOKEN = re.compile(rb"matchrec-look-[0-9a-f]{32}")

# The attribute of a plan that holds its second look.
SECOND_LOOK = "_matchrec_look"

# True while the queries of a second look run. Their own failures are not explained.
_IS_LOOKING: ContextVar[bool] = ContextVar("is_looking", default=False)

# The stored second looks, in the order in which they were made. So those over an input come before
# those over its matches.
_looks: WeakKeyDictionary[SecondLook, None] = WeakKeyDictionary()

# A thread holds this lock while it reads or changes `_looks`.
_looks_lock = Lock()


def mark_input_rows(
    rows: DataFrame, relation: Relation, queries: Iterable[SplitQuery]
) -> DataFrame:
    """Mark the rows of an input, and store the expressions over it, for a second look.

    Args:
        rows: the prepared rows, which the query reads.
        relation: the input that the rows are computed from.
        queries: the queries, with the origins of the expressions that the engine computes.

    Returns:
        The marked rows. A query over these rows can be explained.
    """
    return mark_rows(rows, InputLook(make_token(), relation, tuple(queries)))


def mark_match_rows(
    output_rows: DataFrame,
    runner: Runner,
    items: Sequence[SelectItem],
    origins: Sequence[SqlOrigin | None],
) -> DataFrame:
    """Mark the rows of matches, and store expressions over them, for a second look.

    If several rules compute expressions from the same output rows, each rule marks them for itself.

    Args:
        output_rows: the rows that the expressions are computed from.
        runner: runs the expressions in the session of the query, which has its functions.
        items: the expressions, as SQL over `output_rows`.
        origins: where the user wrote each expression; None for one that cannot fail.

    Returns:
        The marked rows. No other query than the one that computes these expressions must read them,
        because its failures would be explained by these expressions.
    """
    return mark_rows(output_rows, MatchLook(make_token(), runner, output_rows, items, origins))


def make_token() -> str:
    """Return a new token, which `TOKEN` matches."""
    return f"matchrec-look-{uuid4().hex}"


def mark_rows(rows: DataFrame, look: SecondLook) -> DataFrame:
    """Return rows with the token of a second look in their plan, as their alias.

    The second look is an attribute of this plan, so that it lives as long as a DataFrame over the
    rows.
    """
    marked_rows = rows.alias(look.token)
    vars(cast("Any", marked_rows)._plan)[SECOND_LOOK] = look
    with _looks_lock:
        _looks[look] = None
    return marked_rows


def is_second_look() -> bool:
    """Return whether the running query belongs to a second look."""
    return _IS_LOOKING.get()


def take_second_look(error: PySparkException, plan: Any) -> MatchRecognizeRunError | None:
    """Return the error of the expression that a query could not compute.

    Runs queries that evaluate the expressions of the query again.

    Args:
        error: the failure, in the words of the engine or of a worker.
        plan: the plan of the query, as a protobuf message of Spark Connect.

    Returns:
        The error; None if the failure is not about a value, if the plan has no second look, or if
        no expression fails by itself and the reason is not known in plain words.
    """
    worker_error = MatchRecognizeRunError.from_exception(error)
    text = str(error) if worker_error is None else worker_error.message
    is_error_of_engine = worker_error is None or text.startswith(NOT_COMPUTED)
    sentence = explain_value_failure(text)
    if not is_error_of_engine or sentence is None:
        return None
    worker_sentence = None if worker_error is None else sentence.removeprefix(NOT_COMPUTED)
    tokens = {token.decode() for token in TOKEN.findall(plan.SerializeToString())}
    with _looks_lock:
        looks = [look for look in _looks if look.token in tokens]
    run_error = None
    with silence_analysis(), set_variable(_IS_LOOKING, True):
        for look in looks:
            run_error = look.find_error(worker_sentence)
            if run_error is not None:
                break
    if run_error is None and looks:
        run_error = explain_outside_clause(text, is_in_input=worker_sentence is not None)
    return run_error


def explain_outside_clause(text: str, *, is_in_input: bool) -> MatchRecognizeRunError | None:
    """Return the error of a value outside the clause: in its input, or in the query around it.

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
