"""Spark's complaint about generated SQL → an error about the user's own text.

Every expression of the user is tried by itself; the first that Spark refuses is the culprit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from matchrec.conditions.split import conjuncts
from matchrec.conditions.within import window_columns
from matchrec.errors import MatchRecognizeError
from matchrec.errors.calls import marker_without_value, unbound_parameter
from matchrec.errors.conditions import not_boolean, not_measured_by, within_of_other_type
from matchrec.errors.sql.analysis import (
    Names,
    ambiguous_column,
    not_sortable,
    refused_by_spark,
    unknown_column,
    unknown_function,
    unknown_type_column,
)
from matchrec.plan.expression import (
    Aggregate,
    ColumnReference,
    Reference,
    Scalar,
    references,
    render,
    terms,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns
from matchrec.plan.text.parameters import marker_of
from matchrec.plan.text.sql_text import as_operand
from matchrec.source import Span
from matchrec.spark.relation import Relation
from matchrec.spark.session import REFUSALS, SUBQUERY, quiet_analysis

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class Written:
    """SQL over one row that stands for something the user wrote, and where."""

    clause: str
    text: str
    span: Span | None


def diagnose(
    error: PySparkException, plan: MatchPlan, relation: Relation, columns: InputColumns
) -> MatchRecognizeError:
    """The error that explains Spark's refusal of one of the plan's expressions."""
    refused = first_refused(tuple(dict.fromkeys(everything_written(plan))), relation)
    if refused is not None:
        written, refusal = refused
        return explain_refusal(refusal, written, plan, (relation, columns))
    if is_refused_window(plan, relation):
        return other_window(plan, relation)
    for condition in conditions_over_one_row(plan):
        type_name = relation.select([condition.text]).schema.fields[0].dataType.simpleString()
        if type_name != "boolean":
            return not_boolean(type_name, condition.span)
    for key in keys(plan):
        if not is_sortable(key, relation):
            type_ = relation.select([key.text]).schema.fields[0].dataType
            return not_sortable(key.clause, type_.simpleString(), key.span)
    return refused_by_spark("MATCH_RECOGNIZE", first_line(error), None)


def mismatch_of_within(
    error: MatchRecognizeError, plan: MatchPlan, relation: Relation
) -> MatchRecognizeError | None:
    """An error at the interval of WITHIN with the types that do not fit; None for others."""
    if plan.within is None:
        return None
    expected = not_measured_by(plan.within.interval.span)
    if (error.message, error.span) != (expected.message, expected.span):
        return None
    return other_window(plan, relation)


def is_refused_window(plan: MatchPlan, relation: Relation) -> bool:
    """Whether Spark cannot add the window to the key along which it is measured."""
    texts = [column.text for column in window_columns(plan)]
    return bool(texts) and refusal_of(texts, relation) is not None


def other_window(plan: MatchPlan, relation: Relation) -> MatchRecognizeError:
    """The error of a window that is no distance along its key."""
    assert plan.within is not None
    order, within = plan.order_by[0].expression, plan.within.interval
    fields = relation.select([order.text, within.text]).schema.fields
    names = [field.dataType.simpleString() for field in fields]
    return within_of_other_type(names[0], names[1], (order.span, within.span))


def refusal_of(texts: Sequence[str], relation: Relation) -> PySparkException | None:
    """What Spark says against expressions over one row, or None."""
    try:
        relation.runner.analyse(relation.select(texts))
    except REFUSALS as refusal:
        return refusal
    return None


def first_refused(
    written: Sequence[Written], relation: Relation
) -> tuple[Written, PySparkException] | None:
    """The first of several expressions that Spark refuses by itself, with what it says.

    What it takes together it takes one by one, so that few questions are asked about many.
    """
    refusal = refusal_of([one.text for one in written], relation) if written else None
    if refusal is None:
        return None
    if len(written) == 1:
        return written[0], refusal
    middle = len(written) // 2
    found = first_refused(written[:middle], relation)
    return found or first_refused(written[middle:], relation)


def explain_refusal(
    refusal: PySparkException,
    written: Written,
    plan: MatchPlan,
    known: tuple[Relation, InputColumns],
) -> MatchRecognizeError:
    """One refusal in our words: unknown names by name, anything else in Spark's words."""
    relation, columns = known
    unbound = unbound_name(refusal)
    if unbound is not None:
        return unbound_in(written, unbound, tuple(relation.runner.args or ()))
    found = re.match(r"\[([A-Z_]+).*?((?:`[^`]*`\.?)+)", str(refusal), re.DOTALL)
    name = found[2].replace("`", "").rstrip(".") if found else written.text
    match found[1] if found else None:
        case "UNRESOLVED_COLUMN" if not SUBQUERY.search(written.text):
            here = written.span
            others = (m for m in plan.measures if here is None or not m.value.span.holds(here))
            measures = tuple(measure.name for measure in others)
            keys = tuple(key.name for key in plan.partition_by if key.name)
            names = Names(tuple(columns.names), plan.variables, measures, keys)
            return unknown_column(name, written.clause, names, written.span)
        case "UNRESOLVED_ROUTINE":
            functions = [str(row[0]) for row in relation.runner.sql(("SHOW FUNCTIONS",)).collect()]
            return unknown_function(name, written.clause, functions, written.span)
        case "AMBIGUOUS_REFERENCE":
            return ambiguous_column(name, written.clause, written.span)
    return refused_by_spark(written.clause, first_line(refusal), written.span, function_of(refusal))


def unbound_name(refusal: PySparkException) -> str | None:
    """The parameter without a value, where Spark speaks of one."""
    found = re.search(r"\[UNBOUND_SQL_PARAMETER\].*?: `?(\w+)", str(refusal))
    return found[1] if found else None


def unbound_in(written: Written, name: str, known: tuple[str, ...]) -> MatchRecognizeError:
    """A parameter without a value in an expression of the user."""
    marker = marker_of(name)
    if marker is not None:
        return marker_without_value(marker)
    return unbound_parameter(name, known, written.span).under(f":{name}")


def everything_written(plan: MatchPlan) -> Iterator[Written]:
    """The parts of every expression, smallest first, so that the caret is under the culprit."""
    yield from keys(plan)
    if plan.within is not None:
        yield Written("WITHIN", plan.within.interval.text, plan.within.interval.span)
    for definition in plan.definitions:
        yield from written_in("DEFINE", definition.condition)
    for measure in plan.measures:
        yield from written_in("MEASURES", measure.value)


def keys(plan: MatchPlan) -> Iterator[Written]:
    """What rows are sorted by."""
    for part in plan.partition_by:
        yield Written("PARTITION BY", part.text, part.span)
    for part in plan.equal:
        yield Written("[...]", part.text, part.span)
    for item in plan.order_by:
        yield Written("ORDER BY", item.expression.text, item.expression.span)


def is_sortable(key: Written, relation: Relation) -> bool:
    """Whether Spark can put rows together and in order by a key."""
    window = f"row_number() OVER (PARTITION BY {key.text} ORDER BY {key.text})"
    return refusal_of([window], relation) is None


def conditions_over_one_row(plan: MatchPlan) -> Iterator[Written]:
    """The conditions that can be written over one row, each part of AND by itself."""
    for definition in plan.definitions:
        for part in conjuncts(definition.condition):
            yield from over_one_row("DEFINE", part)


def written_in(clause: str, scalar: Scalar) -> Iterator[Written]:
    """The arguments of the references, then the whole expression, or the parts of its AND."""
    for reference in references(scalar):
        for text in arguments(reference):
            yield Written(clause, text, reference.span or scalar.span)
        if isinstance(reference, Aggregate):
            yield Written(clause, over_all_rows(reference), reference.span or scalar.span)
    for part in conjuncts(scalar):
        yield from over_one_row(clause, part)


def over_one_row(clause: str, scalar: Scalar) -> Iterator[Written]:
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


def over_all_rows(aggregate: Aggregate) -> str:
    """The aggregate as a query of its own over the input."""
    texts = [render(argument, stand_in) for argument in aggregate.arguments]
    ordering = [f"{render(term, stand_in)} {words}" for term, words in aggregate.ordering]
    distinct = "DISTINCT " if aggregate.distinct else ""
    within = f" WITHIN GROUP (ORDER BY {', '.join(ordering)})" if ordering else ""
    condition = aggregate.condition
    where = f" FILTER (WHERE {render(condition, stand_in)})" if condition else ""
    arguments = ", ".join(texts) or ("*" if aggregate.function == "count" else "")
    nulls = " IGNORE NULLS" if aggregate.ignore_nulls else ""
    return f"{aggregate.function}({distinct}{arguments}){within}{where}{nulls}"


def columns_of(term: Scalar) -> Iterator[ColumnReference]:
    return (one for one in references(term) if isinstance(one, ColumnReference))


def stand_in(reference: Reference) -> str:
    """Something of the reference's type over one row."""
    match reference:
        case ColumnReference(argument=argument):
            return as_operand(argument)
        case Aggregate():
            raise AssertionError(reference)
        case _:
            return "''" if type(reference).__name__ == "Classifier" else "1L"


def function_of(refusal: PySparkException) -> str:
    """The function of whose call Spark says something, or nothing."""
    about = refusal.getMessageParameters() or {}
    found = re.match(r"\W*(\w+)", about.get("functionName") or about.get("sqlExpr") or "")
    return found[1] if found else ""


def first_line(error: PySparkException) -> str:
    """Spark's sentence, without its condition name, SQLSTATE and query context."""
    text = str(error).strip().split("\n")[0]
    text = re.sub(r"^\[[A-Z0-9_.]+\]\s*", "", text)
    text = re.sub(r"\s*Please, refer to '[^']*' for a fix\.", "", text)
    return re.sub(r"\s*SQLSTATE: \w+.*$", "", text).rstrip(". ")


def check_type_column(df: DataFrame, name: str, plan: MatchPlan) -> None:
    """Raises where the plan tests types of events by a column that the DataFrame does not have."""
    read = (one for definition in plan.definitions for one in references(definition.condition))
    if not any(isinstance(one, ColumnReference) and one.argument == name for one in read):
        return
    with quiet_analysis():
        try:
            _ = df.selectExpr(name).schema
        except REFUSALS as error:
            raise unknown_type_column(name, df.columns) from error
