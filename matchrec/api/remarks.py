"""Warnings about queries that run but are probably not meant; `explain` shows them too."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from matchrec.api.clauses import Reading
from matchrec.compile.executable import Executable
from matchrec.compile.path import Draft
from matchrec.errors.warnings import (
    MatchRecognizeWarning,
    days_in_hours,
    unbounded_runs,
    unbounded_state,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.remarks import remarks
from matchrec.source import Source
from matchrec.spark.execute import ClauseResult
from matchrec.spark.prepare import Prepared
from matchrec.spark.question import Question
from matchrec.spark.sail.zones import windows_in_hours
from matchrec.spark.session import is_connect
from matchrec.spark.tuning import untuned_at_first

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

    from matchrec.explanation import ExplainedClause

Remarks = tuple[MatchRecognizeWarning, ...]
PACKAGE = __name__.partition(".")[0]


def remarks_in(drafted: Draft, question: Question, source: Source) -> Remarks:
    """The remarks on what a clause or a rule asks, which show their lines of the query."""
    spark = question.runner.spark
    is_asked = bool(drafted.plan.intervals) and is_connect(spark)
    days = windows_in_hours(drafted.plan, spark, question.type_of_order) if is_asked else ()
    in_hours = (days_in_hours(one.span, written=one.text) for one in days)
    return tuple(one.located(source) for one in (*remarks(drafted.written), *in_hours))


def remarks_on(result: ClauseResult, reading: Reading) -> Remarks:
    """The remarks on a clause that has been planned, of SQL those on streams included."""
    drafted, question = result.drafted, result.prepared.question
    found = remarks_in(drafted, question, reading.source)
    if not question.is_stream or reading.language is not None:
        return found
    return (*found, *remarks_on_state(drafted.written, result.executable, reading.source))


def remarks_on_state(plan: MatchPlan, executable: Executable, source: Source) -> Remarks:
    """Whether nothing bounds what is kept of a stream."""
    if executable.is_bounded or executable.crossing.ends:
        return ()
    unbounded = unbounded_runs if executable.task.selects else unbounded_state
    return (unbounded(plan.pattern.span).located(source),)


def remarks_on_session(spark: SparkSession, prepared: Sequence[Prepared[Any]]) -> Remarks:
    """What would make the queries of a session faster, at the first one that would be."""
    if not prepared or any(one.question.is_stream for one in prepared):
        return ()
    found = untuned_at_first(spark, (kind for one in prepared for kind in types_of_values(one)))
    return () if found is None else (found,)


def types_of_values(prepared: Prepared[Any]) -> Iterator[DataType]:
    """The types of what may cross, beside keys and order: nobody has these in kilobytes."""
    plan = prepared.demand.draft.plan
    sorting = {one.text for one in (*plan.keys, *(item.expression for item in plan.order_by))}
    for column, field in prepared.fields.items():
        if not (column.looks_at_one_row and column.text in sorting):
            yield field.dataType


def explained(result: ClauseResult, found: Remarks) -> ExplainedClause:
    """What a clause compiles to, with the remarks on it."""
    from matchrec.explanation import ExplainedClause

    return ExplainedClause(
        result.drafted.plan,
        result.executable,
        result.prepared.preparation.keys,
        tuple(map(str, found)),
        result.prepared.question.is_stream,
        result.drafted.written,
        result.prepared.preparation.sorts,
        result.built,
        result.prepared.preparation.show_ranges(),
    )


def warn(*found: MatchRecognizeWarning) -> None:
    """Gives warnings at the line of the program that calls matchrec."""
    level = users_level()
    for warning in found:
        warnings.warn(warning, stacklevel=level)


def users_level() -> int:
    """How many calls lie between `warn` and the first one that is none of matchrec's."""
    frame = inspect.currentframe()
    level = 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        frame, level = frame.f_back, level + 1
    return level
