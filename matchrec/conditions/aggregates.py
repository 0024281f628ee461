"""Aggregates of conditions on the run: a few basic forms that the engine grows, and lists of rows.

Several of Spark's aggregates are one of five in other words: `count_if(c)` counts `IF(c, 1, NULL)`,
`bool_and(c)` is the least of the truth values, a FILTER is a NULL in the argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from matchrec.conditions.functions.function import by_name
from matchrec.conditions.residual import NOWHERE, RunningAggregate, Step, Value
from matchrec.conditions.row_column import Framed, Shifted, row_column
from matchrec.errors.conditions import AS_MEASURE, aggregate_not_grown, not_a_constant
from matchrec.plan import expression
from matchrec.plan.text import string_literal
from matchrec.source import Span

BASIC = by_name(
    {
        "count count_if": "count",
        "sum": "sum",
        "avg mean": "avg",
        "min bool_and every": "min",
        "max bool_or some any": "max",
    }
)

OF_TRUTH_VALUES = frozenset({"bool_and", "every", "bool_or", "some", "any"})


def basic(aggregate: expression.Aggregate) -> RunningAggregate | None:
    function = BASIC.get(aggregate.function)
    distinct_matters = aggregate.distinct and function not in ("min", "max")
    if function is None or distinct_matters or len(aggregate.arguments) > 1 or aggregate.ordering:
        return None
    if not all(expression.looks_at_columns_only(term) for term in expression.terms(aggregate)):
        return None
    text = expression.row_text(aggregate.arguments[0]) if aggregate.arguments else None
    if aggregate.function == "count_if":
        text = f"IF({text}, 1, NULL)"
    if aggregate.function in OF_TRUTH_VALUES:  # so that Spark refuses what is none
        text = f"NOT (NOT ({text}))"
    if aggregate.condition is not None:
        text = f"IF({expression.row_text(aggregate.condition)}, {text or 1}, NULL)"
    column = None if text is None else row_column(text)  # NULL where a value is left out
    return RunningAggregate(function, aggregate, column, aggregate.span or NOWHERE)


SplitTerm = Callable[[str, expression.Scalar], Step]


def split_aggregate(
    aggregate: expression.Aggregate, variables: Sequence[str], split: SplitTerm, span: Span
) -> RunningAggregate:
    """An aggregate reference as one that the engine grows, or else as one over a list.

    variables: by the id of each primary variable, as whose rows its own are listed. split: what a
    term is made of on a row that is mapped to a variable.
    """
    form = basic(aggregate)
    if form is not None and form.function not in ("sum", "avg"):
        return replace(form, span=span)
    from matchrec.conditions.accumulators import AGGREGATES, INSTEAD

    name = f"{aggregate.function} WITHIN GROUP" if aggregate.ordering else aggregate.function
    known = AGGREGATES.get(name)
    if known is None:
        cure = f"write {INSTEAD[name]}" if name in INSTEAD else AS_MEASURE
        raise aggregate_not_grown(span, function=name, cure=cure)
    for place, argument in enumerate(aggregate.arguments):
        if place == known.constant and argument.references:
            raise not_a_constant(argument.span, place=place + 1, function=aggregate.function)
    columns = tuple(listed_columns(aggregate, one, split, span) for one in variables)
    form = form or RunningAggregate(None, aggregate, None, span)
    return replace(form, span=span, columns=columns)


def listed_columns(
    aggregate: expression.Aggregate, variable: str, split: SplitTerm, span: Span
) -> tuple[Step, ...]:
    """What a row of a list has that is mapped to a variable: see `RunningAggregate`."""

    def write(reference: expression.Reference) -> str:
        match reference:
            case expression.ColumnReference():
                return expression.operand_of(reference)
            case expression.Classifier():
                return string_literal(variable)
            case _:
                raise aggregate_not_grown(span, function=aggregate.function, cure=AS_MEASURE)

    def listed(term: expression.Scalar) -> Step:
        if expression.MATCH_NUMBER in term.references:
            return split(variable, term)
        column = row_column(expression.render(term, write), expression.amount_of(term))
        return Value(column, None, None, span)

    condition = aggregate.condition
    counts = Value(row_column("TRUE"), None, None, span) if condition is None else listed(condition)
    return counts, *map(listed, aggregate.arguments)


def framed(aggregate: expression.Aggregate) -> Framed:
    """An aggregate over a frame as what Spark computes for every row; a constant stays written."""
    assert aggregate.frame is not None
    call: list[str | Shifted] = [f"{aggregate.function}("]
    for number, argument in enumerate(aggregate.arguments):
        text = expression.row_text(argument)
        call += [", " if number else "", Shifted(text, 0) if argument.references else text]
    call += [")" if aggregate.arguments else "*)", " IGNORE NULLS" * aggregate.ignore_nulls]
    return Framed(tuple(call), aggregate.frame)
