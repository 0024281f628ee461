"""Aggregates that the engine computes over the rows of a match, in a few basic forms.

Several of Spark's aggregates are one of five in other words: `count_if(c)` counts `IF(c, 1, NULL)`,
`bool_and(c)` is the least of the truth values, a FILTER is a NULL in the argument.
"""

from __future__ import annotations

from matchrec.conditions.row_column import RowColumn, row_column
from matchrec.dataclass import dataclass
from matchrec.plan.expression import Aggregate, looks_at_columns_only, row_text, terms

BASIC = {
    "count": "count",
    "sum": "sum",
    "avg": "avg",
    "mean": "avg",
    "min": "min",
    "max": "max",
    "count_if": "count",
    "bool_and": "min",
    "every": "min",
    "bool_or": "max",
    "some": "max",
    "any": "max",
}


@dataclass(frozen=True, slots=True)
class BasicAggregate:
    """count, sum, avg, min or max of a column over the rows of a variable; None counts rows.

    so_far: the current row is left out.
    """

    function: str
    variable: str | None
    column: RowColumn | None
    so_far: bool = False


def basic(aggregate: Aggregate) -> BasicAggregate | None:
    """The basic form of an aggregate, or None where it has none."""
    function = BASIC.get(aggregate.function)
    distinct_matters = aggregate.distinct and function not in ("min", "max")
    if function is None or distinct_matters or len(aggregate.arguments) > 1 or aggregate.ordering:
        return None
    if not all(looks_at_columns_only(term) for term in terms(aggregate)):
        return None
    column = counted_column(aggregate)
    return BasicAggregate(function, aggregate.variable, column, aggregate.so_far)


def counted_column(aggregate: Aggregate) -> RowColumn | None:
    """The column whose values the basic form takes, NULL where they are left out."""
    text = row_text(aggregate.arguments[0]) if aggregate.arguments else None
    if aggregate.function == "count_if":
        text = f"IF({text}, 1, NULL)"
    if aggregate.condition is not None:
        text = f"IF({row_text(aggregate.condition)}, {text or 1}, NULL)"
    return None if text is None else row_column(text)
