"""Read frames in DEFINE: `avg(x) OVER (ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)`.

A frame consists of rows of the partition, in the order of the clause. It does not depend on the
match, so Spark computes the aggregate for every row before the match.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from matchrec.errors.sql import expression as errors
from matchrec.errors.sql import navigation as navigation_errors
from matchrec.plan.expression import MATCH_NUMBER, Aggregate, Frame, list_inner_references
from matchrec.plan.show import show_frame
from matchrec.source import Span
from matchrec.syntax.amounts import MAX_ROWS, read_whole_number
from matchrec.syntax.expressions.cursor import ExpressionCursor
from matchrec.syntax.tokens import TokenSequence

# For each side of the current row, the sign of a distance from the current row.
_SIGNS = {"PRECEDING": -1, "FOLLOWING": 1}

# The frame that errors suggest if the window does not show which rows the user means.
_EXAMPLE_FRAME = Frame(-2, 0)

# The distances of UNBOUNDED FOLLOWING and UNBOUNDED PRECEDING, which no number of rows reaches.
_AFTER_ALL_ROWS = MAX_ROWS + 1
_BEFORE_ALL_ROWS = -_AFTER_ALL_ROWS


class _FrameBounds(NamedTuple):
    """The bounds of a frame as they are written, even if the frame ends before it starts.

    Each is a distance from the current row: negative for PRECEDING, 0 for CURRENT ROW.
    """

    start: int
    end: int

    def sort(self) -> _FrameBounds:
        """Return the same bounds, the earlier one first."""
        return _FrameBounds(*sorted(self))

    def build_frame(self) -> Frame:
        """Return the frame. A bound of UNBOUNDED, on either side, does not limit the frame."""
        return Frame(
            None if abs(self.start) == _AFTER_ALL_ROWS else self.start,
            None if abs(self.end) == _AFTER_ALL_ROWS else self.end,
        )


def read_window_frame(cursor: ExpressionCursor, aggregate: Aggregate) -> Aggregate:
    """Read the frame after an aggregate, and return the aggregate over the frame.

    Args:
        cursor: the cursor, at OVER. Afterwards it is behind the frame.
        aggregate: the aggregate without a frame.

    Raises:
        MatchRecognizeError: OVER has no frame of rows, or the aggregate cannot have a frame.
    """
    over = cursor.position
    opening = over + 1
    closing = cursor.sequence.pairs.get(opening)
    if cursor.key_at(opening) != "(" or closing is None:
        raise navigation_errors.over_without_frame(
            cursor.tokens[over].span, frame=show_frame(_EXAMPLE_FRAME)
        )
    span = cursor.sequence.span(opening, closing + 1)
    if aggregate.variable is not None:
        raise navigation_errors.over_with_variable(aggregate.span or span, name=aggregate.variable)
    if aggregate.is_distinct:
        raise navigation_errors.distinct_with_over(aggregate.span or span)
    for reference in list_inner_references(aggregate):
        if reference == MATCH_NUMBER:
            raise errors.nested_match_function(
                reference.span or span,
                inner="MATCH_NUMBER",
                function=aggregate.function,
                clause=cursor.where,
            )
    bounds = None
    if cursor.key_at(opening + 1) == "ROWS":
        bounds = _read_bounds(cursor.sequence, opening + 2, closing)
    if bounds is None:
        suggestion = _suggest_frame(cursor.sequence, opening + 1, closing)
        raise navigation_errors.over_without_frame(span, frame=show_frame(suggestion))
    _check_order(bounds, span)
    frame = bounds.build_frame()
    start = cursor.sequence.index_at[(aggregate.span or span).start]
    cursor.position = closing + 1
    return replace(aggregate, frame=frame, span=cursor.sequence.span(start, closing + 1))


def _read_bounds(tokens: TokenSequence, start: int, end: int) -> _FrameBounds | None:
    """Return the bounds in the tokens from `start` up to before `end`; None for other tokens."""
    if tokens.key(start) != "BETWEEN":
        first = _read_bound(tokens, start, end)
        return None if first is None else _FrameBounds(first, 0)
    and_index = next((index for index in range(start, end) if tokens.key(index) == "AND"), end)
    first = _read_bound(tokens, start + 1, and_index)
    last = _read_bound(tokens, and_index + 1, end)
    if first is None or last is None:
        return None
    return _FrameBounds(first, last)


def _check_order(bounds: _FrameBounds, span: Span) -> None:
    """Check that a frame does not end before it starts.

    Args:
        bounds: the bounds of the frame.
        span: the parentheses with the frame.

    Raises:
        MatchRecognizePlanError: the frame starts at UNBOUNDED FOLLOWING, ends at UNBOUNDED
            PRECEDING, or has no rows.
    """
    frame = show_frame(bounds.sort().build_frame())
    if bounds.start == _AFTER_ALL_ROWS:
        raise navigation_errors.unbounded_on_wrong_side(
            span, bound="UNBOUNDED FOLLOWING", side="start", frame=frame
        )
    if bounds.end == _BEFORE_ALL_ROWS:
        raise navigation_errors.unbounded_on_wrong_side(
            span, bound="UNBOUNDED PRECEDING", side="end", frame=frame
        )
    if bounds.start > bounds.end:
        raise navigation_errors.empty_frame(span, frame=frame)


def _suggest_frame(tokens: TokenSequence, start: int, end: int) -> Frame:
    """Return the frame to suggest for a window that is not exactly a frame of rows.

        window                                     suggested frame
        with a frame of ROWS                       the same frame, the earlier bound first
        RANGE or GROUPS, with UNBOUNDED or
        CURRENT ROW as both bounds                 the same bounds, in rows
        without a frame, with ORDER BY             all rows up to the current row
        without a frame, without ORDER BY          all rows of the partition
        anything else                              `_EXAMPLE_FRAME`

    Args:
        tokens: the tokens of the expression.
        start: the first token in the parentheses of OVER.
        end: the closing parenthesis.
    """
    keys = [tokens.key(index) for index in range(start, end)]
    unit = next((unit for unit in ("ROWS", "RANGE", "GROUPS") if unit in keys), None)
    if unit is not None:
        bounds = _read_bounds(tokens, start + keys.index(unit) + 1, end)
        if bounds is None:
            return _EXAMPLE_FRAME
        frame = bounds.sort().build_frame()
        has_same_rows = unit == "ROWS" or {frame.start, frame.end} <= {0, None}
        return frame if has_same_rows else _EXAMPLE_FRAME
    if "ORDER" in keys:
        return Frame(None, 0)
    if not keys or keys[0] == "PARTITION":
        return Frame(None, None)
    return _EXAMPLE_FRAME


def _read_bound(tokens: TokenSequence, start: int, end: int) -> int | None:
    """Return a bound of a frame as a distance from the current row; None for other tokens.

    `2 PRECEDING` is -2, CURRENT ROW is 0, and UNBOUNDED FOLLOWING is `_AFTER_ALL_ROWS`.

    Args:
        tokens: the tokens of the expression.
        start: the first token of the bound.
        end: the token after the bound.
    """
    if end - start != 2:
        return None
    distance = tokens.key(start)
    side = tokens.key(start + 1)
    if (distance, side) == ("CURRENT", "ROW"):
        return 0
    if side not in _SIGNS:
        return None
    if distance == "UNBOUNDED":
        return _SIGNS[side] * _AFTER_ALL_ROWS
    digits = tokens[start].text
    number = read_whole_number(digits) if digits.isdecimal() else None
    return None if number is None else _SIGNS[side] * number
