"""Spark's complaint about generated SQL → an error about the user's own text.

Every expression of the user is tried by itself; the first that Spark refuses is the culprit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.errors import AnalysisException

from matchrec.errors import MatchRecognizeError
from matchrec.errors.analysis import refused_by_spark, unknown_column
from matchrec.errors.conditions import not_boolean
from matchrec.plan.expression import (
    Aggregate,
    ColumnReference,
    Reference,
    Scalar,
    Term,
    references,
    render,
    terms,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns
from matchrec.source import Span
from matchrec.spark.columns import Relation


@dataclass(frozen=True, slots=True)
class Written:
    """SQL over one row that stands for something the user wrote, and where."""

    clause: str
    text: str
    span: Span | None


def diagnosed(
    error: AnalysisException, plan: MatchPlan, relation: Relation, columns: InputColumns
) -> MatchRecognizeError:
    """The error that explains Spark's refusal of one of the plan's expressions."""
    for written in everything_written(plan):
        refusal = refusal_of(written, relation)
        if refusal is not None:
            return explained(refusal, written, plan, columns)
    for condition in whole_conditions(plan):
        type_name = relation.select([condition.text]).schema.fields[0].dataType.simpleString()
        if type_name != "boolean":
            return not_boolean(type_name, condition.span)
    return refused_by_spark("MATCH_RECOGNIZE", first_line(error), None)


def refusal_of(written: Written, relation: Relation) -> AnalysisException | None:
    """What Spark says against an expression over one row, or None."""
    try:
        relation.select([written.text])
    except AnalysisException as refusal:
        return refusal
    return None


def explained(
    refusal: AnalysisException, written: Written, plan: MatchPlan, columns: InputColumns
) -> MatchRecognizeError:
    """One refusal in our words: an unknown column by name, anything else in Spark's words."""
    if str(refusal).startswith("[UNRESOLVED_COLUMN"):
        found = re.search(r"with name ((?:`[^`]*`\.?)+)", str(refusal))
        name = found[1].replace("`", "") if found else written.text
        return unknown_column(name, written.clause, columns.names, plan.variables, written.span)
    return refused_by_spark(written.clause, first_line(refusal), written.span)


def everything_written(plan: MatchPlan) -> Iterator[Written]:
    """The parts of every expression, smallest first, so that the caret is under the culprit."""
    for part in plan.partition_by:
        yield Written("PARTITION BY", part.text, part.span)
        by_part = f"row_number() OVER (PARTITION BY {part.text} ORDER BY 1)"
        yield Written("PARTITION BY", by_part, part.span)
    for item in plan.order_by:
        yield Written("ORDER BY", item.expression.text, item.expression.span)
        in_order = f"row_number() OVER (ORDER BY {item.expression.text})"
        yield Written("ORDER BY", in_order, item.expression.span)
    for definition in plan.definitions:
        yield from written_in("DEFINE", definition.condition)
    for measure in plan.measures:
        yield from written_in("MEASURES", measure.value)


def whole_conditions(plan: MatchPlan) -> Iterator[Written]:
    """The conditions that can be written over one row."""
    for definition in plan.definitions:
        yield from whole("DEFINE", definition.condition)


def written_in(clause: str, scalar: Scalar) -> Iterator[Written]:
    """The arguments of the references, then the whole expression."""
    for reference in references(scalar):
        for text in arguments(reference):
            yield Written(clause, text, reference.span or scalar.span)
    yield from whole(clause, scalar)


def whole(clause: str, scalar: Scalar) -> Iterator[Written]:
    """The expression as if every reference read the row itself; nothing where it aggregates."""
    if not any(isinstance(reference, Aggregate) for reference in references(scalar)):
        yield Written(clause, render(scalar, stand_in), scalar.span)


def arguments(reference: Reference) -> tuple[str, ...]:
    match reference:
        case ColumnReference(argument=argument):
            return (argument,)
        case Aggregate():
            return tuple(one.argument for term in terms(reference) for one in columns_of(term))
        case _:
            return ()


def columns_of(term: Term) -> Iterator[ColumnReference]:
    return (one for one in references(term) if isinstance(one, ColumnReference))


def stand_in(reference: Reference) -> str:
    """Something of the reference's type over one row."""
    match reference:
        case ColumnReference(argument=argument):
            return argument
        case Aggregate():
            raise AssertionError(reference)
        case _:
            return "''" if type(reference).__name__ == "Classifier" else "1L"


def first_line(error: AnalysisException) -> str:
    """Spark's sentence, without its condition name, SQLSTATE and query context."""
    text = str(error).split("\n")[0]
    text = re.sub(r"^\[[A-Z0-9_.]+\]\s*", "", text)
    return re.sub(r"\s*SQLSTATE: \w+.*$", "", text).rstrip(". ")
