"""Errors in navigation, such as PREV(A.x, 2), and in frames of rows, which OVER has."""

from __future__ import annotations

import re
from collections.abc import Sequence

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
)
from matchrec.errors.language import name_part
from matchrec.errors.surface import current_surface
from matchrec.source import Span


def navigation_without_column(span: Span, *, function: str, clause: str) -> MatchRecognizePlanError:
    """Return the error for a navigation whose argument has no column, as in PREV(1)."""
    return MatchRecognizePlanError(
        f"{function} in {clause} reads no column",
        span,
        hint=f"write {function}(A.x) or {function}(CLASSIFIER())",
        code="navigation-without-column",
    )


def wrong_navigation_nesting(
    *spans: Span, inner: str, outer: str, clause: str, arguments: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for FIRST(PREV(x)) and other navigations in a wrong order.

    Args:
        spans: the locations of both in the text of the query.
        inner: the inner navigation.
        outer: the navigation around it.
        clause: the clause.
        arguments: the arguments of the inner navigation, as the query writes them.
    """
    value = arguments[0] if arguments else "A.x"
    if outer in ("FIRST", "LAST") and inner in ("PREV", "NEXT"):
        corrected = ", ".join([f"{outer}({value})", *arguments[1:]])
        hint = f"write {outer} inside: {inner}({corrected})"
    elif inner == outer and inner in ("PREV", "NEXT"):
        hint = f"write one of them, with the sum of their offsets: {outer}({value}, 2)"
    elif inner in ("PREV", "NEXT") and outer in ("PREV", "NEXT"):
        hint = "write one of them, with the difference of their offsets"
    elif inner in ("FIRST", "LAST") and outer in ("FIRST", "LAST"):
        hint = f"write one of them: {outer}({value})"
    else:
        hint = "write PREV(FIRST(A.x, 2), 3), with the whole expression in the inner one"
    return MatchRecognizePlanError(
        f"{inner} is not allowed in {outer} in {clause}",
        *spans,
        notes=("PREV and NEXT may contain FIRST or LAST; no other nesting is allowed",),
        hint=hint,
        code="wrong-navigation-nesting",
    )


def malformed_offset(  # noqa: PLR0913 -- the parts of the call
    span: Span, *, function: str, clause: str, value: str, offset: str, default: int
) -> MatchRecognizePlanError:
    """Return the error for an offset of a navigation that is not a constant whole number.

    Args:
        span: the location in the text of the query.
        function: the navigation.
        clause: the clause.
        value: the first argument as the query writes it.
        offset: the offset as the query writes it.
        default: the offset that a navigation without one has.
    """
    digits = re.match(r"\d+", offset)
    number = digits[0] if digits else str(default)
    if value.isdecimal():  # the arguments are in the wrong order
        value, number = offset, value
    return MatchRecognizePlanError(
        f"offset of {function} in {clause} is `{offset}`, not a constant whole number of rows",
        span,
        hint=f"write a whole number of rows, 0 or more, such as {function}({value}, {number})",
        code="malformed-offset",
    )


def offset_too_large(
    span: Span, *, function: str, clause: str, limit: int
) -> MatchRecognizeUnsupportedError:
    """Return the error for an offset that is larger than any partition."""
    return MatchRecognizeUnsupportedError(
        f"offset of {function} in {clause} is over {limit:,}",
        span,
        hint="write a number of rows that a partition can have",
        code="offset-too-large",
    )


def negative_offset(
    span: Span, *, function: str, clause: str, value: str, rows: str
) -> MatchRecognizePlanError:
    """Return the error for a negative offset of a navigation.

    Args:
        span: the location in the text of the query.
        function: the navigation.
        clause: the clause.
        value: the first argument as the query writes it.
        rows: the offset without its sign: the number of rows in the opposite direction.
    """
    opposites = {"PREV": "NEXT", "NEXT": "PREV", "FIRST": "LAST", "LAST": "FIRST"}
    opposite = opposites.get(function.upper(), "NEXT")
    hint = f"write {opposite}({value}, {rows}) to go the other way"
    return MatchRecognizePlanError(
        f"offset of {function} in {clause} is `-{rows}`; offsets are whole numbers, 0 or more",
        span,
        hint=hint,
        code="negative-offset",
    )


def wrong_number_of_arguments(  # noqa: PLR0913 -- the parts of the call
    span: Span, *, function: str, clause: str, expected: str, count: int, value: str = ""
) -> MatchRecognizePlanError:
    """Return the error for a navigation or match function with too few or too many arguments.

    Args:
        span: the call in the text of the query.
        function: the navigation or function.
        clause: the part of the clause.
        expected: the number of arguments that it takes, in words, such as "one argument".
        count: the number of arguments of the call.
        value: the first argument as the query writes it; "" if there is none.
    """
    surface = current_surface()
    hint: str | None
    match function.upper():
        case "PREV" | "NEXT" | "FIRST" | "LAST" if value:
            hint = f"write {function}({value}) or {function}({value}, 2)"
        case "PREV" | "NEXT" | "FIRST" | "LAST":
            hint = f"write a column in it, {function}(x), perhaps with an offset, {function}(x, 2)"
        case "CLASSIFIER" | "MATCHED_ROWS":
            hint = f"write {function}() or {function}(A)"
        case "MATCH_NUMBER" | "MATCH_ROW_NUMBER":
            hint = f"write {function}()"
        case "COUNT":
            hint = (
                "write count(*) for all rows, count(A.*) for the rows of A, or pass "
                f"{surface.write_option('dialect', 'trino')}"
            )
        case _:
            hint = None
    return MatchRecognizePlanError(
        f"{function} in {clause} takes {expected}, not {count}",
        span,
        hint=hint,
        code="wrong-number-of-arguments",
    )


def modifier_after_navigation(
    function: str, modifier: str, clause: str, span: Span
) -> MatchRecognizeParseError:
    """Return the error for FILTER, IGNORE NULLS or another modifier of a navigation.

    Args:
        function: the navigation, such as FIRST.
        modifier: the first word of the modifier, such as IGNORE.
        clause: the clause of the expression.
        span: the modifier in the text of the query.
    """
    if modifier in ("IGNORE", "RESPECT"):
        modifier = f"{modifier} NULLS"
    hint_template = _HINTS_FOR_MODIFIERS.get((function, modifier), f"remove {modifier}")
    hint = hint_template.format(define=name_part("DEFINE"))
    argument = "a variable" if function == "CLASSIFIER" else "an offset"
    return MatchRecognizeParseError(
        f"{modifier} is not allowed with {function} in {clause}",
        span,
        notes=(f"{function} reads one row of the match and takes {argument} only",),
        hint=hint,
        code="modifier-after-navigation",
    )


# For a navigation and a modifier: what to write instead.
_HINTS_FOR_MODIFIERS = {
    ("FIRST", "FILTER"): "test the row in {define}, or write min_by(A.x, order) FILTER (WHERE ...)",
    ("LAST", "FILTER"): "test the row in {define}, or write max_by(A.x, order) FILTER (WHERE ...)",
    ("FIRST", "IGNORE NULLS"): "write min_by(A.x, order) FILTER (WHERE A.x IS NOT NULL)",
    ("LAST", "IGNORE NULLS"): "write max_by(A.x, order) FILTER (WHERE A.x IS NOT NULL)",
}


def over_without_frame(span: Span, *, frame: str) -> MatchRecognizeUnsupportedError:
    """Return the error for OVER that is not exactly a frame of rows.

    Args:
        span: the location in the text of the query.
        frame: the frame to write.
    """
    return MatchRecognizeUnsupportedError(
        f"OVER without a frame of rows is not supported in {name_part('DEFINE')}",
        span,
        notes=(
            "OVER takes only a frame; the rows are those of the clause's PARTITION BY and ORDER BY",
        ),
        hint=f"write OVER ({frame})",
        code="over-without-frame",
        condition="MATCH_RECOGNIZE_UNSUPPORTED_WINDOW_FUNCTION",
    )


def unbounded_on_wrong_side(
    span: Span, *, bound: str, side: str, frame: str
) -> MatchRecognizePlanError:
    """Return the error for ROWS BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW.

    Args:
        span: the location in the text of the query.
        bound: the bound, such as UNBOUNDED FOLLOWING.
        side: where the frame has this bound: "start" or "end".
        frame: the frame to write.
    """
    return MatchRecognizePlanError(
        f"{bound} is not allowed at the {side} of a frame",
        span,
        hint=f"write OVER ({frame})",
        code="unbounded-on-wrong-side",
    )


def empty_frame(span: Span, *, frame: str) -> MatchRecognizePlanError:
    """Return the error for ROWS BETWEEN CURRENT ROW AND 2 PRECEDING.

    Args:
        span: the location in the text of the query.
        frame: the frame to write.
    """
    return MatchRecognizePlanError(
        "this frame ends before it starts",
        span,
        hint=f"write OVER ({frame}), the earlier row first",
        code="empty-frame",
    )


def over_with_variable(span: Span, *, name: str) -> MatchRecognizeUnsupportedError:
    """Return the error for sum(A.x) OVER (ROWS ...)."""
    return MatchRecognizeUnsupportedError(
        f"OVER after an aggregate over the rows of `{name}` is not supported",
        span,
        notes=("a frame has rows of the partition, whichever variables they are mapped to",),
        hint=f"remove `{name}.`, or remove OVER",
        code="over-with-variable",
    )


def distinct_with_over(span: Span) -> MatchRecognizeUnsupportedError:
    """Return the error for count(DISTINCT x) OVER (ROWS ...)."""
    return MatchRecognizeUnsupportedError(
        "DISTINCT in an aggregate with OVER is not supported",
        span,
        hint="write size(collect_set(x) OVER (...)) for the count of distinct values",
        code="distinct-with-over",
    )
