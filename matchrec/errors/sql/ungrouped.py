"""Find a column in the SELECT of a query that is neither in GROUP BY nor in an aggregate.

Spark's error has the name of the column but not its location. Sail's error says only that the query
has such a column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

# The messages of Spark, and the message of Sail, in which a number stands for the column.
UNGROUPED = re.compile(
    r'\[MISSING_AGGREGATION\] [^"]*"(?P<name>[^"]*)"|\[MISSING_GROUP_BY\]'
    r'|No field named (?:[^.\s]+\.)?"#\d+"'
)


@dataclass(frozen=True, slots=True)
class UngroupedColumn:
    """A column in the text of a query that is neither grouped nor aggregated."""

    name: str
    start: int  # its first character
    end: int  # the character after it

    @property
    def sentence(self) -> str:
        """The headline of the error."""
        return f"column `{self.name}` is neither in GROUP BY nor in an aggregate"

    @property
    def hint(self) -> str:
        """The help of the error."""
        return f"add {self.name} to GROUP BY, or write an aggregate of it, such as max({self.name})"


def find_ungrouped_column(message: str, text: str) -> UngroupedColumn | None:
    """Return the ungrouped column that an error of the engine is about; None for other errors.

    Args:
        message: the message of the engine.
        text: the query, as the engine reads it.

    >>> message = 'No field named "#3"'
    >>> find_ungrouped_column(message, "SELECT k, v + 1, max(w) FROM t GROUP BY k")
    UngroupedColumn(name='v', start=10, end=11)
    """
    match = UNGROUPED.search(message)
    if match is None:
        return None
    try:
        tree = parse_one(text, dialect="spark")
    except SqlglotError:
        return None
    name = (match["name"] or "").rpartition(".")[2].lower()
    for select in tree.find_all(exp.Select):
        for column in find_ungrouped_columns(select):
            location = column.this.meta
            if "start" in location and name in ("", column.name.lower()):
                return UngroupedColumn(column.name, location["start"], location["end"] + 1)
    return None


def find_ungrouped_columns(select: exp.Select) -> Iterator[exp.Column]:
    """Yield the columns of a SELECT with groups that have several values in a group."""
    group = select.args.get("group")
    items = select.expressions
    if group is None and not any(map(has_aggregate, items)):
        return
    if group is not None and group.args.get("all"):
        return
    grouped = set[str]()  # the columns of GROUP BY, in lower case
    for key in () if group is None else group.find_all(exp.Column, exp.Literal):
        if isinstance(key, exp.Column):
            grouped.add(key.name.lower())
        elif key.is_int and 1 <= int(key.name) <= len(items):  # GROUP BY 1
            grouped.add(items[int(key.name) - 1].alias_or_name.lower())
    for item in items:
        if item.alias_or_name.lower() not in grouped:
            yield from find_columns_outside_aggregates(item, grouped)
    # HAVING and ORDER BY can also name items of the SELECT list.
    named = grouped | {item.alias_or_name.lower() for item in items}
    for part in (select.args.get("having"), select.args.get("order")):
        if part is not None:
            yield from find_columns_outside_aggregates(part, named)


def has_aggregate(item: exp.Expression) -> bool:
    """Return whether an item of a SELECT list aggregates rows, other than over a window."""
    return any(call.find_ancestor(exp.Window) is None for call in item.find_all(exp.AggFunc))


def find_columns_outside_aggregates(
    node: exp.Expression, grouped: set[str]
) -> Iterator[exp.Column]:
    """Yield the columns of an expression that are neither grouped nor in an aggregate.

    Columns in a subquery, in a window or in a function that sqlglot does not know are left out,
    because an unknown function may be an aggregate.

    Args:
        node: the expression.
        grouped: the names, in lower case, that have one value in each group.
    """
    if isinstance(node, exp.AggFunc | exp.Window | exp.Query | exp.Anonymous):
        return
    if isinstance(node, exp.Column):
        if node.name.lower() not in grouped and not isinstance(node.this, exp.Star):
            yield node
        return
    for child in node.iter_expressions():
        yield from find_columns_outside_aggregates(child, grouped)
