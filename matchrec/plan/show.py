"""Show parts of a plan as a user would write them, for messages and explanations."""

from __future__ import annotations

import re
from collections.abc import Iterable

from typing_extensions import assert_never

from matchrec.plan.expression import (
    MATCHED_ROWS,
    Aggregate,
    Classifier,
    ColumnReference,
    Frame,
    MatchValue,
    Navigation,
    Reference,
    Scalar,
    render,
)
from matchrec.plan.pattern import show_name

# A string, or a name in backticks. After a dot, the name is a field, otherwise a column.
_STRING_OR_NAME = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\.?`(?:[^`]|``)*`""")


def show_scalar(scalar: Scalar) -> str:
    """Return an expression with its references written out."""
    return render(scalar, show_reference)


def show_reference(reference: Reference) -> str:
    """Return a reference as a user would write it.

    >>> show_reference(ColumnReference(Navigation("A", physical_offset=-1), "price"))
    'PREV(A.price)'
    >>> show_reference(Classifier(Navigation(logical_offset=1)))
    'LAST(CLASSIFIER(), 1)'
    """
    match reference:
        case ColumnReference(navigation, argument):
            return show_navigation(navigation, argument)
        case Classifier(navigation):
            return show_classifier(navigation)
        case Aggregate(function=function, variable=variable) if function == MATCHED_ROWS:
            return show_matched_rows(variable)
        case Aggregate():
            return show_aggregate(reference)
        case MatchValue(match_function):
            return f"{match_function.value}()"
        case _:
            assert_never(reference)


def show_aggregate(aggregate: Aggregate) -> str:
    """Return an aggregate over the rows of a variable, or over a frame.

    >>> show_aggregate(Aggregate("count", "A", ()))
    'count(A.*)'
    """
    arguments = ", ".join(show_scalar(argument) for argument in aggregate.arguments)
    distinct = "DISTINCT " if aggregate.is_distinct else ""
    suffix_so_far = " so far" if aggregate.excludes_current_row else ""
    content = arguments or f"{show_qualifier(aggregate.variable)}*"
    text = f"{aggregate.function}({distinct}{content}{suffix_so_far})"
    if aggregate.condition is not None:
        text += f" FILTER (WHERE {show_scalar(aggregate.condition)})"
    if aggregate.frame is not None:
        text += f" OVER ({show_frame(aggregate.frame)})"
    return text


def show_matched_rows(variable: str | None) -> str:
    """Return the call that makes an array of the rows of a match, or of one of its variables."""
    return f"MATCHED_ROWS({show_name(variable) if variable else ''})"


def show_frame(frame: Frame) -> str:
    """Return a frame as a user would write it.

    >>> show_frame(Frame(-2, 0))
    'ROWS BETWEEN 2 PRECEDING AND CURRENT ROW'
    """
    start, end = show_bound(frame.start, "PRECEDING"), show_bound(frame.end, "FOLLOWING")
    return f"ROWS BETWEEN {start} AND {end}"


def show_bound(offset: int | None, side: str) -> str:
    """Return a bound of a frame.

    Args:
        offset: the distance from the current row; negative for rows before it, None for no bound.
        side: PRECEDING or FOLLOWING: the word after UNBOUNDED if there is no bound.
    """
    if offset is None:
        return f"UNBOUNDED {side}"
    if offset == 0:
        return "CURRENT ROW"
    return f"{abs(offset)} {'PRECEDING' if offset < 0 else 'FOLLOWING'}"


def show_navigation(navigation: Navigation, argument: str) -> str:
    """Return a navigation with its argument, qualified by the variable: `PREV(A.price)`."""
    return wrap_in_steps(navigation, f"{show_qualifier(navigation.variable)}{argument}")


def show_classifier(navigation: Navigation) -> str:
    """Return CLASSIFIER of the row that a navigation finds."""
    name = show_name(navigation.variable) if navigation.variable else ""
    return wrap_in_steps(navigation, f"CLASSIFIER({name})")


def wrap_in_steps(navigation: Navigation, inner: str) -> str:
    """Return the calls of a navigation around a text. The last row needs no LAST.

    >>> wrap_in_steps(Navigation(logical_offset=1, physical_offset=-2), "price")
    'PREV(LAST(price, 1), 2)'
    """
    if navigation.is_last:
        logical_step = inner
    else:
        offset = f", {navigation.logical_offset}" if navigation.logical_offset else ""
        logical_step = f"{navigation.end.value}({inner}{offset})"
    return show_step(navigation.physical_offset, logical_step)


def show_step(offset: int, text: str) -> str:
    """Return PREV or NEXT of a text; for an offset of 0, the text itself."""
    if offset == 0:
        return text
    distance = f", {abs(offset)}" if abs(offset) > 1 else ""
    return f"{'PREV' if offset < 0 else 'NEXT'}({text}{distance})"


def show_qualifier(variable: str | None) -> str:
    """Return the text before a column of a variable: `A.`; empty for the universal variable."""
    return f"{show_name(variable)}." if variable else ""


def qualify_columns(text: str, variable: str | None) -> str:
    """Return SQL over one row with the variable before each of its columns.

    >>> qualify_columns("abs(`price`) > 1 AND `point`.`x` <> '`price`'", "A")
    "abs(A.`price`) > 1 AND A.`point`.`x` <> '`price`'"

    Args:
        text: the SQL, with its columns in backticks.
        variable: the variable of the row; None for the universal variable, which needs no name.
    """
    qualifier = show_qualifier(variable)

    def qualify(token: re.Match[str]) -> str:
        return f"{qualifier}{token[0]}" if token[0].startswith("`") else token[0]

    return _STRING_OR_NAME.sub(qualify, text)


def write_aggregate_call(
    call: Aggregate, arguments: Iterable[str], ordering: Iterable[str], condition: str | None
) -> str:
    """Return the call of an aggregate as SQL over rows.

    Args:
        call: the aggregate, for its function, DISTINCT and IGNORE NULLS.
        arguments: its arguments as SQL.
        ordering: the items of WITHIN GROUP as SQL.
        condition: the condition of FILTER as SQL, or None.
    """
    distinct = "DISTINCT " if call.is_distinct else ""
    content = ", ".join(arguments) or ("*" if call.function == "count" else "")
    items = ", ".join(ordering)
    within_group = f" WITHIN GROUP (ORDER BY {items})" if items else ""
    filter_where = f" FILTER (WHERE {condition})" if condition else ""
    ignore_nulls = " IGNORE NULLS" if call.ignore_nulls else ""
    return f"{call.function}({distinct}{content}){within_group}{filter_where}{ignore_nulls}"
