"""What the user wrote, as SQL over one row, smallest parts first."""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.dataclass import dataclass
from matchrec.plan.combined import conjuncts
from matchrec.plan.expression import (
    Aggregate,
    Classifier,
    ColumnReference,
    Reference,
    Scalar,
    references,
    render,
    terms,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text.sql_text import as_operand
from matchrec.source import Span


@dataclass(frozen=True, slots=True)
class Written:
    """SQL over one row that stands for something the user wrote, and where.

    call: of the function around it, up to there, or with which it is compared. beside: the texts
    with it.
    """

    clause: str
    text: str
    span: Span | None
    call: str = ""
    beside: tuple[str, ...] = ()


def everything_written(plan: MatchPlan) -> Iterator[Written]:
    """The parts of every expression, smallest first, so that the caret is under the culprit."""
    yield from keys(plan)
    yield from (Written("WITHIN", one.text, one.span) for one in plan.intervals)
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


def conditions_over_one_row(plan: MatchPlan) -> Iterator[Written]:
    """The conditions that can be written over one row, each part of AND by itself."""
    for definition in plan.definitions:
        for part in conjuncts(definition.condition):
            yield from over_one_row("DEFINE", part)


def written_in(clause: str, scalar: Scalar) -> Iterator[Written]:
    """The arguments of the references, then the whole expression, or the parts of its AND."""
    beside = tuple(text for one in references(scalar) for text in arguments(one))
    for reference in references(scalar):
        call = call_around(reference, scalar)
        for text in arguments(reference):
            yield Written(clause, text, reference.span or scalar.span, call, beside)
        if isinstance(reference, Aggregate):
            yield Written(clause, over_all_rows(reference), reference.span or scalar.span)
    for part in conjuncts(scalar):
        yield from over_one_row(clause, part)


def call_around(reference: Reference, scalar: Scalar) -> str:
    """The aggregate that a reference is, or CLASSIFIER where that is compared with columns."""
    terms_of = terms(reference) if isinstance(reference, Aggregate) else (scalar,)
    if any(isinstance(one, Classifier) for term in terms_of for one in references(term)):
        return "CLASSIFIER("
    if not isinstance(reference, Aggregate):
        return ""
    return f"{reference.function.upper()}({'DISTINCT ' * reference.distinct}"


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
