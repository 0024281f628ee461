"""What could not be computed, where the engine does not say it: asked once more after a failure.

    Division by zero    →    the condition of `A` cannot be computed: division by zero
                               line 3, column 15
                                   DEFINE A AS 10 / A.b > 2
                                               ^^^^^^^^
Spark shows the SQL that has failed (see `errors.run.origins`). Of a session that says no more than
what is wrong, the calls that run something are watched. One that fails names in its plan, by
tokens, the queries of ours that it has run. Of these, what is computed of each row of the input,
then what is computed of each match, is asked again, and halved until a single expression is left
that fails by itself; of its operands the same is asked. Without a failure nothing is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial, wraps
from threading import Lock
from typing import Any, TypeVar, cast
from uuid import uuid4
from weakref import WeakKeyDictionary

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from matchrec.compile.path import Draft
from matchrec.conditions.row_column import RowColumn
from matchrec.errors.kinds import TOLD, MatchRecognizeRunError
from matchrec.errors.language import holding
from matchrec.errors.run.failures import row_not_computed
from matchrec.errors.run.origins import SqlOrigin, failure_of
from matchrec.plan import expression
from matchrec.plan.expression import Operation, Scalar, conjuncts, joined, row_text
from matchrec.spark.errors.users_terms import reworded
from matchrec.spark.relation import Relation, Runner
from matchrec.spark.sail.words import sentence_of_value
from matchrec.spark.session import quiet_analysis
from matchrec.spark.ties import warn_of_ties

T = TypeVar("T")
F = TypeVar("F")

TOKEN = re.compile(rb"matchrec-look-[0-9a-f]{32}")
WATCHED, HELD = "_matchrec_watched", "_matchrec_look"

# The calls of a client of Connect that run a plan, or a command with one in it; the last ones give
# their answers bit by bit.
CALLS = (
    *("to_table", "to_pandas", "execute_command"),
    *("to_table_as_iterator", "execute_command_as_iterator"),
)

# How a worker begins to say that it was given a row that cannot be computed.
NOT_COMPUTED = row_not_computed(reason="").message

_LOOKING: ContextVar[bool] = ContextVar("whether a second look asks", default=False)


@dataclass(frozen=True, eq=False)
class SecondLook:
    """SQL that a query computes, by the text, with what the user wrote. select: from the rows of
    which it is computed, which `rows` gives. scalars: of the plan, in which texts are found again.
    neighbours: what asks for values of several rows of the input.
    """

    token: str
    origins: Mapping[str, SqlOrigin]
    select: Callable[[Sequence[str]], DataFrame]
    rows: Callable[[], DataFrame]
    scalars: tuple[Scalar, ...] = ()
    neighbours: tuple[SqlOrigin, ...] = ()

    def find(self, of_rows: str | None) -> MatchRecognizeRunError | None:
        """The error of the first expression that fails by itself; None where the rows do. of_rows:
        what a worker says that it was given. Where each expression over one row can be computed,
        and only one part of the query asks for more rows, it is that part.
        """
        found = first_failing(tuple(self.origins), self.said)
        known = self.neighbours[0] if of_rows and len(self.neighbours) == 1 else None
        if (found is None and known is None) or said_by(self.rows) is not None:
            return None
        if found is None:
            failed = of_rows and known and failure_of(known, "", of_rows)
            return MatchRecognizeRunError.of_failure(failed) if failed else None
        culprit, first_said = found
        text = self.narrowed(culprit)
        said = first_said if text == culprit else self.said([text])
        if said is None:  # by now
            return None
        return MatchRecognizeRunError.of_failure(failure_of(self.origins[culprit], text, said))

    def said(self, texts: Sequence[str]) -> str | None:
        """What cannot be computed of some expressions, in words; None where all can be."""
        items = [f"{text} AS x{place}" for place, text in enumerate(texts)]
        return said_by(lambda: self.select(items))

    def narrowed(self, text: str) -> str:
        """The smallest part of an expression that must be what fails: where it alone of several
        operands does so, nothing else can be.
        """
        parts = (part for scalar in self.scalars for part in expression.subexpressions(scalar))
        own = filter(expression.looks_at_columns_only, parts)
        scalar = next((part for part in own if text in texts_of(part)), None)
        while isinstance(scalar, Operation):
            failing = [one for one in scalar.operands if self.said([row_text(one)]) is not None]
            if len(failing) != 1:
                return row_text(scalar)
            scalar = failing[0]
        return text if scalar is None else row_text(scalar)


def texts_of(part: Scalar) -> tuple[str, str]:
    """An expression over one row as it is written, and with its conditions joined anew."""
    return row_text(part), row_text(joined("AND", conjuncts(part)))


_looks: WeakKeyDictionary[SecondLook, None] = WeakKeyDictionary()  # those of the input come first
_changing = Lock()


def watch_rows(rows: DataFrame, relation: Relation, drafts: Iterable[Draft]) -> str:
    """From now on, a query over `rows` that fails says which expression over a row of the relation
    it was. Returns the token that its workers are to have.
    """
    known, scalars = dict[str, SqlOrigin](), list[Scalar]()
    neighbours = dict[SqlOrigin, None]()
    for drafted in drafts:
        for text, origin in drafted.origins.items():
            if isinstance(text, str):
                known.setdefault(text, origin)
            elif not isinstance(text, RowColumn) or not text.looks_at_one_row:
                neighbours.setdefault(origin)
        scalars += drafted.plan.expressions
    token, of_plan = f"matchrec-look-{uuid4().hex}", (tuple(scalars), tuple(neighbours))
    keep(SecondLook(token, known, relation.select, lambda: relation.rows, *of_plan), rows)
    watch(rows.sparkSession)
    return token


def watch_matches(
    runner: Runner, matched: DataFrame, token: str, items: Mapping[str, SqlOrigin]
) -> None:
    """Find out which of some expressions it was if a query over `matched` fails from now on.

    Args:
        runner: runs the expressions as the query does: its session may lack some functions.
        matched: the rows of the workers, which have the token.
        token: what `watch_rows` has returned.
        items: where the user wrote each expression, by its SQL over `matched`.
    """
    if items:
        select = partial(runner.select, matched)
        keep(SecondLook(token, items, select, lambda: matched), matched)


def keep(look: SecondLook, rows: DataFrame) -> None:
    """Keeps a look for as long as there is a DataFrame over some rows: at the plan of these."""
    vars(cast("Any", rows)._plan).setdefault(HELD, []).append(look)
    with _changing:
        _looks[look] = None


def first_failing(some: Sequence[T], ask: Callable[[Sequence[T]], F | None]) -> tuple[T, F] | None:
    """The first of several that fails by itself, with how; None where they do not fail together:
    then none does by itself, so that few questions are asked.
    """
    if not some or (found := ask(some)) is None:
        return None
    if len(some) == 1:
        return some[0], found
    middle = len(some) // 2
    return first_failing(some[:middle], ask) or first_failing(some[middle:], ask)


def said_by(frame: Callable[[], DataFrame]) -> str | None:
    """What of a DataFrame cannot be computed, in words; its rows go nowhere."""
    try:
        frame().write.format("noop").mode("overwrite").save()
    except PySparkException as error:
        return sentence_of_value(str(error))
    return None


def watch(spark: SparkSession) -> None:
    """The calls of a session's client that run something are watched, if they are not yet."""
    client: Any = cast("Any", spark).client
    if vars(client).setdefault(WATCHED, False):
        return
    for name in CALLS:
        setattr(client, name, watched(getattr(client, name)))
    setattr(client, WATCHED, True)


def watched(call: Callable[..., Any]) -> Callable[..., Any]:
    """One of the `CALLS`, which explains a failure, and warns of ties once it has run."""

    @wraps(call)
    def run(plan: Any, *args: Any, **arguments: Any) -> Any:
        with failures_explained(plan):
            found = call(plan, *args, **arguments)
        if isinstance(found, Iterator):
            return in_bits(found, plan)
        warn_of_ties()
        return found

    return run


def in_bits(answer: Iterator[Any], plan: Any) -> Iterator[Any]:
    with failures_explained(plan):
        yield from answer
    warn_of_ties()


@contextmanager
def failures_explained(plan: Any) -> Iterator[None]:
    """An error of a plan that runs inside says what could not be computed, if that is found."""
    try:
        yield
    except PySparkException as error:
        if _LOOKING.get() or (found := explain(error, plan)) is None:
            raise
        raise found from None


def explain(error: PySparkException, plan: Any) -> PySparkException | None:
    """The error, of its class, in terms of the user's text; None where a value is not to blame."""
    carried = MatchRecognizeRunError.from_exception(error)
    said = str(error) if carried is None else carried.message
    of_input = carried is None or said.startswith(NOT_COMPUTED)
    sentence = sentence_of_value(said)
    if not of_input or sentence is None:
        return None
    of_rows = None if carried is None else sentence.removeprefix(NOT_COMPUTED)
    tokens = {one.decode() for one in TOKEN.findall(plan.SerializeToString())}
    with _changing:
        looks = [one for one in _looks if one.token in tokens]
    with quiet_analysis(), holding(_LOOKING, True):
        found = next(filter(None, (look.find(of_rows) for look in looks)), None)
    if found is None:
        return None
    told: PySparkException = reworded(error, str(found))
    setattr(told, TOLD, found)
    return told
