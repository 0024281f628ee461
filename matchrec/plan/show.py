"""Shows parts of a plan as one would write them, for messages and explanations."""

from __future__ import annotations

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


def show_scalar(scalar: Scalar) -> str:
    return render(scalar, show_reference)


def show_reference(reference: Reference) -> str:
    """A reference as one would write it.

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
        case Aggregate(function=function, variable=variable, arguments=arguments):
            written = ", ".join(show_scalar(argument) for argument in arguments)
            distinct = "DISTINCT " if reference.distinct else ""
            so_far = " so far" if reference.so_far else ""
            called = f"{function}({distinct}{written or f'{qualifier(variable)}*'}{so_far})"
            tested, frame = reference.condition, reference.frame
            where = f" FILTER (WHERE {show_scalar(tested)})" if tested else ""
            return called + where + (f" OVER ({show_frame(frame)})" if frame else "")
        case MatchValue(called):
            return f"{called.value}()"
        case _:
            assert_never(reference)


def show_matched_rows(variable: str | None) -> str:
    """The rows of a match, or those of one of its variables, as a value."""
    return f"MATCHED_ROWS({show_name(variable) if variable else ''})"


def show_frame(frame: Frame) -> str:
    """A frame as one would write it.

    >>> show_frame(Frame(-2, 0))
    'ROWS BETWEEN 2 PRECEDING AND CURRENT ROW'
    """
    start, end = show_bound(frame.start, "PRECEDING"), show_bound(frame.end, "FOLLOWING")
    return f"ROWS BETWEEN {start} AND {end}"


def show_bound(offset: int | None, side: str) -> str:
    """A bound of a frame. side: on which it lies where it has no offset."""
    if offset is None:
        return f"UNBOUNDED {side}"
    way = "PRECEDING" if offset < 0 else "FOLLOWING"
    return f"{abs(offset)} {way}" if offset else "CURRENT ROW"


def show_navigation(navigation: Navigation, argument: str) -> str:
    return at_position(navigation, f"{qualifier(navigation.variable)}{argument}")


def show_classifier(navigation: Navigation) -> str:
    name = show_name(navigation.variable) if navigation.variable else ""
    return at_position(navigation, f"CLASSIFIER({name})")


def at_position(navigation: Navigation, inner: str) -> str:
    """The text at the row that a navigation finds; the last row needs no LAST."""
    if not navigation.is_last:
        offset = f", {navigation.logical_offset}" if navigation.logical_offset else ""
        inner = f"{navigation.end.value}({inner}{offset})"
    return step(navigation.physical_offset, inner)


def step(offset: int, text: str) -> str:
    distance = f", {abs(offset)}" if abs(offset) > 1 else ""
    return f"{'PREV' if offset < 0 else 'NEXT'}({text}{distance})" if offset else text


def qualifier(variable: str | None) -> str:
    return f"{show_name(variable)}." if variable else ""


def call_of_aggregate(
    call: Aggregate, arguments: Iterable[str], ordering: Iterable[str], condition: str | None
) -> str:
    """The call of an aggregate as SQL over rows. ordering: the items of WITHIN GROUP."""
    distinct = "DISTINCT " if call.distinct else ""
    listed = ", ".join(arguments) or ("*" if call.function == "count" else "")
    items = ", ".join(ordering)
    within = f" WITHIN GROUP (ORDER BY {items})" if items else ""
    rows = f" FILTER (WHERE {condition})" if condition else ""
    nulls = " IGNORE NULLS" if call.ignore_nulls else ""
    return f"{call.function}({distinct}{listed}){within}{rows}{nulls}"
