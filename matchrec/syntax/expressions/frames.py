"""Read frames in DEFINE: `avg(x) OVER (ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)`.

A frame consists of rows of the partition, in the order of the clause. It does not depend on the
match, so Spark computes the aggregate for every row before the match.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from matchrec.errors.sql import expression as errors
from matchrec.errors.sql import navigation as navigation_errors
from matchrec.plan.expression import MATCH_NUMBER, Aggregate, Frame, list_inner_references
from matchrec.plan.show import show_frame
from matchrec.syntax.amounts import read_whole_number
from matchrec.syntax.expressions.cursor import ExpressionCursor
from matchrec.syntax.tokens import TokenSequence

# For each side of the current row, the sign of a distance from the current row.
_DIRECTIONS = {"PRECEDING": -1, "FOLLOWING": 1}

# The frame that errors suggest if the window does not show which rows the user means.
EXAMPLE_FRAME = Frame(-2, 0)


def read_frame(reader: ExpressionCursor, aggregate: Aggregate) -> Aggregate:
    """Read the frame after an aggregate, and return the aggregate over the frame.

    Args:
        reader: the cursor. The position is at OVER, and then after the frame.
        aggregate: the aggregate without a frame.

    Raises:
        MatchRecognizeError: OVER has no frame of rows, or the aggregate cannot have a frame.
    """
    over = reader.position
    opening = over + 1
    closing = reader.sequence.pairs.get(opening)
    if reader.key_at(opening) != "(" or closing is None:
        raise navigation_errors.over_without_frame(
            reader.tokens[over].span, frame=show_frame(EXAMPLE_FRAME)
        )
    span = reader.sequence.span(opening, closing + 1)
    if aggregate.variable is not None:
        raise navigation_errors.over_with_variable(aggregate.span or span, name=aggregate.variable)
    if aggregate.distinct:
        raise navigation_errors.distinct_with_over(aggregate.span or span)
    for reference in list_inner_references(aggregate):
        if reference == MATCH_NUMBER and reference.span is not None:
            raise errors.nested_match_function(
                reference.span,
                inner="MATCH_NUMBER",
                function=aggregate.function,
                clause=reader.where,
            )
    frame = None
    if reader.key_at(opening + 1) == "ROWS":
        frame = _read_bounds(reader.sequence, opening + 2, closing)
    if frame is None:
        suggestion = _suggest_frame(reader.sequence, opening + 1, closing)
        raise navigation_errors.over_without_frame(span, frame=show_frame(suggestion))
    if frame.start is not None and frame.end is not None and frame.start > frame.end:
        raise navigation_errors.empty_frame(span)
    start = reader.sequence.index_at[(aggregate.span or span).start]
    reader.position = closing + 1
    return replace(aggregate, frame=frame, span=reader.sequence.span(start, closing + 1))


def _read_bounds(tokens: TokenSequence, start: int, end: int) -> Frame | None:
    """Return the frame with the bounds in tokens `start .. end`; None if they are not bounds."""
    if tokens.key(start) != "BETWEEN":
        first = _read_bound(tokens, start, end)
        return None if first is None else Frame(first.rows_after_current, 0)
    and_index = next((index for index in range(start, end) if tokens.key(index) == "AND"), end)
    first = _read_bound(tokens, start + 1, and_index)
    last = _read_bound(tokens, and_index + 1, end)
    if first is None or last is None:
        return None
    return Frame(first.rows_after_current, last.rows_after_current)


def _suggest_frame(tokens: TokenSequence, start: int, end: int) -> Frame:
    """Return the frame of rows that errors suggest for the window in tokens `start .. end`.

    window                                     suggested frame
    with a frame of ROWS                       the same frame
    RANGE or GROUPS, with UNBOUNDED or
    CURRENT ROW as both bounds                 the same bounds, in rows
    without a frame, with ORDER BY             all rows up to the current row
    without a frame, without ORDER BY          all rows of the partition
    anything else                              `EXAMPLE_FRAME`
    """
    keys = [tokens.key(index) for index in range(start, end)]
    for unit in ("ROWS", "RANGE", "GROUPS"):
        if unit not in keys:
            continue
        frame = _read_bounds(tokens, start + keys.index(unit) + 1, end)
        if frame is None:
            return EXAMPLE_FRAME
        has_equivalent = unit == "ROWS" or {frame.start, frame.end} <= {0, None}
        return frame if has_equivalent else EXAMPLE_FRAME
    if "ORDER" in keys:
        return Frame(None, 0)
    return Frame(None, None) if not keys or keys[0] == "PARTITION" else EXAMPLE_FRAME


@dataclass(frozen=True, slots=True)
class FrameBound:
    """A bound of a frame: `2 PRECEDING`, CURRENT ROW or UNBOUNDED FOLLOWING."""

    # The number of rows after the current row: negative for PRECEDING, None for UNBOUNDED.
    rows_after_current: int | None


def _read_bound(tokens: TokenSequence, start: int, end: int) -> FrameBound | None:
    """Return the bound of a frame in tokens `start .. end`; None if they are not a bound."""
    if end - start != 2:
        return None
    rows = tokens.key(start)
    side = tokens.key(start + 1)
    if (rows, side) == ("CURRENT", "ROW"):
        return FrameBound(0)
    if side not in _DIRECTIONS:
        return None
    if rows == "UNBOUNDED":
        return FrameBound(None)
    digits = tokens[start].text
    number = read_whole_number(digits) if digits.isdigit() else None
    return None if number is None else FrameBound(_DIRECTIONS[side] * number)
