"""Errors about windows with PATTERN, which a query has in OVER or WINDOW."""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
)
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.misspelt_keywords import explain_misspelt_option
from matchrec.errors.wording import join_lines, join_names
from matchrec.source import Span

# A note that lists the frames of a window with PATTERN.
_FRAMES = (
    "the frames are: ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING, AND n FOLLOWING, "
    "AND CURRENT ROW"
)


def pattern_window_outside_select(span: Span) -> MatchRecognizeUnsupportedError:
    """Return the error for a window with PATTERN that is in no SELECT."""
    return MatchRecognizeUnsupportedError(
        "PATTERN in a window outside of a SELECT is not supported",
        span,
        hint="write SELECT ... OVER w FROM t WINDOW w AS (...)",
        code="pattern-window-outside-select",
    )


def pattern_window_without_from(span: Span) -> MatchRecognizeUnsupportedError:
    """Return the error for a window with PATTERN in a SELECT without FROM."""
    return MatchRecognizeUnsupportedError(
        "missing FROM in a SELECT with PATTERN in a window",
        span,
        hint="write SELECT ... FROM t",
        code="pattern-window-without-from",
    )


def pattern_window_with_join(span: Span) -> MatchRecognizeUnsupportedError:
    """Return the error for a window with PATTERN over a JOIN, a comma or LATERAL in FROM."""
    return MatchRecognizeUnsupportedError(
        "PATTERN in a window over several relations is not supported",
        span,
        hint="join them in a subquery: FROM (SELECT ... FROM a JOIN b ...) AS t",
        code="pattern-window-with-join",
    )


def pattern_window_with_grouping(span: Span, *, word: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a window with PATTERN in a SELECT with GROUP BY, HAVING or QUALIFY."""
    hint = "group in a subquery: FROM (SELECT ... GROUP BY ...) AS t"
    if word == "QUALIFY":
        hint = "keep rows in a query around this one: SELECT * FROM (SELECT ...) WHERE ..."
    return MatchRecognizeUnsupportedError(
        f"PATTERN in a window is not supported together with {word}",
        span,
        hint=hint,
        code="pattern-window-with-grouping",
    )


def duplicate_window(span: Span, *, name: str) -> MatchRecognizeParseError:
    """Return the error for two windows in WINDOW with the same name."""
    return MatchRecognizeParseError(
        f"window `{name}` is defined twice in WINDOW",
        span,
        hint="give one of them another name",
        code="duplicate-window",
    )


def derived_from_pattern_window(span: Span, *, name: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a window that extends a window with PATTERN."""
    return MatchRecognizeUnsupportedError(
        f"a window derived from `{name}`, which has PATTERN, is not supported",
        span,
        notes=("a window that has a frame cannot be extended",),
        hint=f"derive both from a window without PATTERN, or write OVER {name}",
        code="derived-from-pattern-window",
    )


def unknown_window(span: Span, *, name: str, windows: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for a window that WINDOW does not have, in OVER or in another window.

    Args:
        span: the name of the missing window.
        name: this name.
        windows: the names of the windows in WINDOW.
    """
    near = find_nearest(name, windows)
    hint = f"add WINDOW {name} AS (PARTITION BY ... ORDER BY ...), or write these in OVER"
    if near:
        hint = f"write {near}"
    return MatchRecognizePlanError(
        f"unknown window `{name}`",
        span,
        notes=(f"WINDOW has: {join_names(windows)}" if windows else "",),
        hint=hint,
        code="unknown-window",
    )


def derived_window_keys(span: Span, *, part: str, name: str) -> MatchRecognizeParseError:
    """Return the error for keys that a window adds to the keys of the window that it extends."""
    return MatchRecognizeParseError(
        f"{part} is not allowed in a window derived from `{name}`",
        span,
        notes=(f"only ORDER BY can be added, if `{name}` has none",),
        hint=f"remove {part}, or write the whole window without `{name}`",
        code="derived-window-keys",
    )


def window_base_has_frame(span: Span, *, name: str) -> MatchRecognizeParseError:
    """Return the error for a window with PATTERN that extends a window with a frame or PATTERN."""
    return MatchRecognizeParseError(
        f"a window with PATTERN is not allowed to derive from `{name}`, which has a frame",
        span,
        hint=f"remove the frame of `{name}`",
        code="window-base-has-frame",
    )


def misplaced_pattern_window_call(span: Span) -> MatchRecognizeUnsupportedError:
    """Return the error for a call over a window with PATTERN in WHERE and the like."""
    return MatchRecognizeUnsupportedError(
        "a call over a window with PATTERN is supported only in the SELECT list and in ORDER BY",
        span,
        hint="test it in a query around this one: SELECT * FROM (SELECT ...) WHERE ...",
        code="misplaced-pattern-window-call",
    )


def star_with_pattern_window(span: Span, *, word: str) -> MatchRecognizeUnsupportedError:
    """Return the error for * EXCEPT (...) and the like beside a window with PATTERN."""
    return MatchRecognizeUnsupportedError(
        f"* {word} in a SELECT with PATTERN in a window is not supported",
        span,
        hint="name the columns, or write it in a query around this one",
        code="star-with-pattern-window",
    )


def pattern_window_without_frame(span: Span) -> MatchRecognizeParseError:
    """Return the error for a window with PATTERN and without ROWS BETWEEN."""
    return MatchRecognizeParseError(
        "missing frame in a window with PATTERN",
        span,
        notes=(_FRAMES,),
        hint="write ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING after MEASURES",
        code="pattern-window-without-frame",
    )


def wrong_pattern_window_frame(span: Span, *, text: str) -> MatchRecognizeParseError:
    """Return the error for a frame that a window with PATTERN cannot have.

    Examples are RANGE, GROUPS, another start than CURRENT ROW, EXCLUDE, and a length such as 1.5 or
    count(*).
    """
    ends = ("UNBOUNDED FOLLOWING INITIAL", "UNBOUNDED FOLLOWING", "* FOLLOWING")
    misspelt = explain_misspelt_option(
        text,
        span,
        options=[f"ROWS BETWEEN CURRENT ROW AND {end}" for end in ends],
        where="a window with PATTERN",
    )
    if misspelt is not None:
        return misspelt
    return MatchRecognizeParseError(
        f"frame `{join_lines(text)}` is not allowed in a window with PATTERN",
        span,
        notes=(_FRAMES, "a match begins at the current row"),
        hint="write ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
        code="wrong-pattern-window-frame",
    )


def wrong_frame_length(span: Span | None, *, length: str) -> MatchRecognizePlanError:
    """Return the error for a frame whose length has an invalid value, such as -1.

    Args:
        span: the location in the text of the query.
        length: the predicate of the sentence: what is wrong with the length, such as
            "negative".
    """
    return MatchRecognizePlanError(
        f"the length of a frame is {length}",
        span,
        notes=("a length is a whole number of rows after the current row, 0 or more",),
        hint="write AND 5 FOLLOWING, or AND UNBOUNDED FOLLOWING",
        code="wrong-frame-length",
    )


def part_not_allowed_in_window(span: Span | None, *, what: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a part of MATCH_RECOGNIZE that a window cannot have."""
    match what.upper():
        case "ONE ROW PER MATCH" | "ALL ROWS PER MATCH":
            hint = "remove it: the result has each row of the input once"
        case "MATCHED_ROWS()":
            hint = "write collect_list(struct(x, y)) with the columns that you need"
        case "WITHIN":
            hint = "limit the frame instead: AND n FOLLOWING, or write FROM t MATCH_RECOGNIZE (...)"
        case _:
            hint = f"remove {what}, or write FROM t MATCH_RECOGNIZE (...)"
    return MatchRecognizeUnsupportedError(
        f"{what} is not supported in a window", span, hint=hint, code="part-not-allowed-in-window"
    )


def part_not_allowed_with_seek(span: Span | None, *, what: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a part of a query that cannot be combined with SEEK.

    Args:
        span: the part in the text of the query.
        what: the part, as the subject of the sentence, such as "MATCH_ROW_NUMBER()".
    """
    return MatchRecognizeUnsupportedError(
        f"{what} in a window with SEEK is not supported",
        span,
        hint="write INITIAL, or leave SEEK out",
        code="part-not-allowed-with-seek",
    )


def over_in_window_define(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for OVER in a condition of a window with PATTERN."""
    return MatchRecognizeUnsupportedError(
        "OVER in DEFINE of a window with PATTERN is not supported",
        span,
        notes=("a match sees the rows of the window's frame only",),
        hint="compute it in a subquery: FROM (SELECT *, avg(x) OVER (...) AS y FROM t)",
        code="over-in-window-define",
    )


def rows_beyond_frame(span: Span | None, *, function: str) -> MatchRecognizeUnsupportedError:
    """Return the error for PREV or NEXT of a row that may be outside the window's frame."""
    return MatchRecognizeUnsupportedError(
        f"{function} of a row that may be outside the window's frame is not supported",
        span,
        notes=("the end of the frame is known only relative to the tested row",),
        hint=f"write {function}(x) of that row, or move functions into it: {function}(upper(x))",
        code="rows-beyond-frame",
    )


def next_with_varying_frame(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for NEXT in MEASURES of a window whose frame length is an expression.

    The worker knows a length only if it is a number in the text of the query.
    """
    return MatchRecognizeUnsupportedError(
        "NEXT in MEASURES of a window is not supported if the frame's length is an expression",
        span,
        hint="write a number of rows, AND 5 FOLLOWING, or AND UNBOUNDED FOLLOWING",
        code="next-with-varying-frame",
    )


def qualified_measure(span: Span, *, name: str, measure: str) -> MatchRecognizeParseError:
    """Return the error for t.m OVER w.

    Args:
        span: the location in the text of the query.
        name: the measure with its qualifier, `t.m`.
        measure: the measure, `m`.
    """
    return MatchRecognizeParseError(
        f"`{name}` before OVER is neither a measure nor a function",
        span,
        notes=("a measure of a window has no qualifier",),
        hint=f"write {measure} OVER ...",
        code="qualified-measure",
    )


def unknown_window_measure(
    span: Span, *, name: str, window: str, measures: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for m OVER w if the window w has PATTERN, but no measure m."""
    near = find_nearest(name, measures)
    hint = f"write {near}" if near else f"add it: MEASURES LAST({name}) AS {name}"
    return MatchRecognizePlanError(
        f"unknown measure `{name}` of window {window}",
        span,
        notes=(f"MEASURES has: {join_names(measures)}",),
        hint=hint,
        code="unknown-window-measure",
    )


def measure_of_plain_window(span: Span, *, name: str) -> MatchRecognizePlanError:
    """Return the error for m OVER w if the window w has no PATTERN."""
    return MatchRecognizePlanError(
        f"`{name}` before OVER is not a function, and the window has no PATTERN",
        span,
        notes=("measures are those of a window with PATTERN in the same SELECT",),
        hint=f"name that window, or call a function: max({name}) OVER ...",
        code="measure-of-plain-window",
    )


def function_not_over_pattern_window(span: Span, *, name: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a call that cannot be computed over a match.

    Examples are upper(x) OVER w, prev(x) OVER w and first_value(x) IGNORE NULLS OVER w.
    """
    return MatchRecognizeUnsupportedError(
        f"`{name}` over a window with PATTERN is not supported",
        span,
        notes=(
            (
                "these are supported: a measure, an aggregate, first_value, last_value, nth_value, "
                "row_number, rank, dense_rank, percent_rank, cume_dist, ntile, lag and lead"
            ),
        ),
        hint="make it a measure of the window: MEASURES ... AS m, then m OVER w",
        code="function-not-over-pattern-window",
    )


def pattern_window_without_order(span: Span) -> MatchRecognizeParseError:
    """Return the error for a window with PATTERN and without ORDER BY."""
    return MatchRecognizeParseError(
        "missing ORDER BY in a window with PATTERN",
        span,
        hint="add ORDER BY",
        code="pattern-window-without-order",
    )


def method_not_for_pattern_window(*, call: str) -> MatchRecognizeUnsupportedError:
    """Return the error for `why` and similar calls of a window with PATTERN."""
    return MatchRecognizeUnsupportedError(
        f"{call} of a window with PATTERN is not supported",
        hint="ask about the same pattern in FROM t MATCH_RECOGNIZE (...)",
        code="method-not-for-pattern-window",
    )
