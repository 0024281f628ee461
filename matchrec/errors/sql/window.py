"""Errors of row pattern windows: PATTERN in OVER or WINDOW."""

from __future__ import annotations

from collections.abc import Iterable

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
    listed,
    nearest,
)
from matchrec.source import Span

_FRAMES = (
    "the frames are: ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING, AND n FOLLOWING, "
    "AND CURRENT ROW"
)


def window_without_select(span: Span) -> MatchRecognizeUnsupportedError:
    """A window in a query that does not begin with SELECT."""
    return MatchRecognizeUnsupportedError(
        "PATTERN in a window outside of a SELECT is not supported",
        span,
        hint="write SELECT ... OVER w FROM t WINDOW w AS (...)",
    )


def window_without_relation(span: Span) -> MatchRecognizeUnsupportedError:
    """SELECT m OVER (...) without FROM after the select list."""
    return MatchRecognizeUnsupportedError(
        "SELECT with PATTERN in a window, but without a FROM after its list",
        span,
        hint="write SELECT ... FROM t",
    )


def joined_rows(span: Span) -> MatchRecognizeUnsupportedError:
    """FROM a JOIN b, FROM a, b, LATERAL VIEW."""
    return MatchRecognizeUnsupportedError(
        "PATTERN in a window over several relations is not supported",
        span,
        hint="join them in a subquery: FROM (SELECT ... FROM a JOIN b ...) AS t",
    )


def grouped_rows(word: str, span: Span) -> MatchRecognizeUnsupportedError:
    """GROUP BY, HAVING, QUALIFY."""
    grouping = "GROUP BY" if word == "GROUP" else word
    return MatchRecognizeUnsupportedError(
        f"PATTERN in a window beside {grouping} is not supported",
        span,
        hint=(
            "keep rows in a query around this one: SELECT * FROM (SELECT ...) WHERE ..."
            if word == "QUALIFY"
            else "group in a subquery: FROM (SELECT ... GROUP BY ...) AS t"
        ),
    )


def duplicate_window(name: str, span: Span) -> MatchRecognizeParseError:
    """WINDOW w AS (...), w AS (...)."""
    return MatchRecognizeParseError(
        f"window `{name}` is defined twice in WINDOW", span, hint="give one of them another name"
    )


def derived_window(name: str, span: Span) -> MatchRecognizeUnsupportedError:
    """OVER (w ORDER BY x), where w has PATTERN."""
    return MatchRecognizeUnsupportedError(
        f"a window that is derived from `{name}`, which has PATTERN",
        span,
        notes=("a window that has a frame cannot be extended",),
        hint=f"derive both from a window without PATTERN, or write OVER {name}",
    )


def unknown_base(name: str, known: Iterable[str], span: Span) -> MatchRecognizePlanError:
    """OVER (v MEASURES ...), where WINDOW has no v."""
    known = tuple(known)
    notes = (f"WINDOW has: {listed(known)}",) if known else ("there is no such window",)
    return MatchRecognizePlanError(
        f"unknown window `{name}`", span, notes=notes, hint=nearest(name, known)
    )


def second_keys(part: str, name: str, span: Span) -> MatchRecognizeParseError:
    """OVER (v PARTITION BY x ...), or ORDER BY where v has one."""
    return MatchRecognizeParseError(
        f"{part} in a window that is derived from `{name}`",
        span,
        notes=("only ORDER BY can be added, where there is none",),
        hint=f"remove {part}, or write all of the window without `{name}`",
    )


def base_with_frame(name: str, span: Span) -> MatchRecognizeParseError:
    """A row pattern window that is derived from one with a frame."""
    return MatchRecognizeParseError(
        f"a window with PATTERN that is derived from `{name}`, which has a frame",
        span,
        hint=f"remove the frame of `{name}`",
    )


def call_in_wrong_place(span: Span) -> MatchRecognizeUnsupportedError:
    """WHERE m OVER w > 1."""
    return MatchRecognizeUnsupportedError(
        "a call over a window with PATTERN stands in the SELECT list or in ORDER BY only",
        span,
        hint="test it in a query around this one: SELECT * FROM (SELECT ...) WHERE ...",
    )


def star_with_changes(word: str, span: Span) -> MatchRecognizeUnsupportedError:
    """`* EXCEPT (x)` beside a call over a row pattern window."""
    return MatchRecognizeUnsupportedError(
        f"* {word} in a SELECT with PATTERN in a window is not supported",
        span,
        hint="name the columns, or write it in a query around this one",
    )


def window_without_frame(span: Span) -> MatchRecognizeParseError:
    """PATTERN in a window, but no ROWS BETWEEN."""
    return MatchRecognizeParseError(
        "a window with PATTERN, but without a frame",
        span,
        notes=(_FRAMES,),
        hint="write ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING after MEASURES",
    )


def wrong_frame(text: str, span: Span) -> MatchRecognizeParseError:
    """RANGE, GROUPS, another start than CURRENT ROW, EXCLUDE."""
    return MatchRecognizeParseError(
        f"frame `{text}` of a window with PATTERN",
        span,
        notes=(_FRAMES, "a match begins at the current row"),
        hint="write ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    )


def misplaced_frame(span: Span) -> MatchRecognizeParseError:
    """ROWS BETWEEN before MEASURES, or after AFTER MATCH."""
    return MatchRecognizeParseError(
        "the frame of a window with PATTERN stands in the wrong place",
        span,
        notes=(
            "the order is: PARTITION BY, ORDER BY, MEASURES, ROWS BETWEEN,",
            "AFTER MATCH SKIP, INITIAL or SEEK, PATTERN, SUBSET, DEFINE",
        ),
        hint="write it after MEASURES and before AFTER MATCH SKIP",
    )


def not_in_window(what: str, span: Span) -> MatchRecognizeUnsupportedError:
    """ONE ROW PER MATCH, WITHIN, event selection, ^, MATCH_NUMBER()."""
    return MatchRecognizeUnsupportedError(
        f"{what} cannot stand in a window",
        span,
        hint=_INSTEAD.get(what, f"remove {what}, or write FROM t MATCH_RECOGNIZE (...)"),
    )


_INSTEAD = {
    "ONE ROW PER MATCH": "remove it: each row of the input comes out once",
    "ALL ROWS PER MATCH": "remove it: each row of the input comes out once",
    "MATCHED_ROWS()": "write collect_list(struct(x, y)), with the columns that are wanted",
    "WITHIN": "limit the frame instead: AND n FOLLOWING, or write FROM t MATCH_RECOGNIZE (...)",
}


def not_with_seek(what: str, span: Span | None) -> MatchRecognizeUnsupportedError:
    """What SEEK cannot go with."""
    return MatchRecognizeUnsupportedError(
        f"{what} in a window with SEEK is not supported",
        span,
        hint="write INITIAL, or leave SEEK out",
    )


def frame_in_condition(span: Span | None) -> MatchRecognizeUnsupportedError:
    """avg(x) OVER (ROWS ...) in DEFINE of a window."""
    return MatchRecognizeUnsupportedError(
        "OVER in DEFINE of a window with PATTERN is not supported",
        span,
        notes=("a match sees the rows of the window's frame only",),
        hint="compute it in a subquery: FROM (SELECT *, avg(x) OVER (...) AS y FROM t)",
    )


def rows_beyond_frame(function: str, span: Span | None) -> MatchRecognizeUnsupportedError:
    """A function of several rows, of which PREV or NEXT may lie outside of the frame."""
    return MatchRecognizeUnsupportedError(
        f"{function} of a row that may lie outside of the window's frame",
        span,
        notes=("only from the row that is tested is it known how far the frame goes",),
        hint=f"write {function}(x) of that row, or move functions into it: {function}(upper(x))",
    )


def next_in_own_frame(span: Span | None) -> MatchRecognizeUnsupportedError:
    """NEXT in a measure, where each row says how long its frame is."""
    return MatchRecognizeUnsupportedError(
        "NEXT in MEASURES of a window whose rows say how long their frames are",
        span,
        hint="write a number of rows, AND 5 FOLLOWING, or AND UNBOUNDED FOLLOWING",
    )


def qualified_measure(name: str, span: Span) -> MatchRecognizeParseError:
    """t.m OVER w."""
    return MatchRecognizeParseError(
        f"`{name}` before OVER is neither a measure nor a function",
        span,
        notes=("a measure of a window has no qualifier",),
        hint=f"write {name.rpartition('.')[2]} OVER ...",
    )


def unknown_measure(
    name: str, known: Iterable[str], window: str, span: Span
) -> MatchRecognizePlanError:
    """M OVER w, where w has no measure m."""
    known = tuple(known)
    has = listed(known) if known else "none"
    close = nearest(name, known)
    return MatchRecognizePlanError(
        f"unknown measure `{name}` of window {window}",
        span,
        notes=(f"MEASURES has: {has}",),
        hint=f"write {close}" if close else f"add it: MEASURES LAST({name}) AS {name}",
    )


def measure_of_plain_window(name: str, span: Span) -> MatchRecognizePlanError:
    """M OVER v, where v has no PATTERN."""
    return MatchRecognizePlanError(
        f"`{name}` before OVER is no function, and the window has no PATTERN",
        span,
        notes=("measures are those of a window with PATTERN in the same SELECT",),
        hint=f"name that window, or call a function: max({name}) OVER ...",
    )


def not_over_rows(name: str, span: Span) -> MatchRecognizeUnsupportedError:
    """upper(x) OVER w, prev(x) OVER w, first_value(x) IGNORE NULLS OVER w."""
    return MatchRecognizeUnsupportedError(
        f"`{name}` over a window with PATTERN is not supported",
        span,
        notes=(
            "there may stand: a measure, an aggregate, first_value, last_value, nth_value;",
            "row_number, rank, dense_rank, percent_rank, cume_dist, ntile, lag, lead",
        ),
        hint="write it as a measure of the window: MEASURES ... AS m, then m OVER w",
    )


def needs_order(span: Span | None) -> MatchRecognizeParseError:
    """A window whose rows have no order."""
    return MatchRecognizeParseError(
        "a window with PATTERN, but without ORDER BY", span, hint="add ORDER BY"
    )


def window_asked_about(call: str) -> MatchRecognizeUnsupportedError:
    """why, coverage or convert of a query with a row pattern window."""
    return MatchRecognizeUnsupportedError(
        f"{call} of a window with PATTERN is not supported",
        hint="ask about the same pattern in FROM t MATCH_RECOGNIZE (...)",
    )
