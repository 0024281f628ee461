"""Errors in what MEASURES and DEFINE say about the rows of a match.

`clause` is the clause in which the expression stands, e.g. MEASURES.
"""

from __future__ import annotations

from collections.abc import Iterable

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
    listed,
    nearest,
)
from matchrec.errors.language import part
from matchrec.errors.sql.foreign_names import or_dialect
from matchrec.errors.sql.syntax import IN_DOUBLE_QUOTES, in_backticks, name_in_double_quotes
from matchrec.source import Span


def unknown_variable(
    name: str,
    primary: Iterable[str],
    clause: str,
    span: Span | None,
    unions: Iterable[str] = (),
) -> MatchRecognizePlanError:
    """A pattern variable that neither PATTERN nor SUBSET has."""
    primary, unions = list(primary), list(unions)
    meant = nearest(name, primary + unions)
    subset = (f"SUBSET has: {listed(unions)}",) if unions else ()
    added = f"add {name} to {part('PATTERN')}"
    return MatchRecognizePlanError(
        f"unknown pattern variable `{name}` in {clause}",
        span,
        notes=(f"{part('PATTERN')} has: {listed(primary)}", *subset),
        hint=f"write {meant}, or {added}" if meant else added,
    )


def two_variables(
    function: str, clause: str, names: tuple[str, str], spans: tuple[Span, Span]
) -> MatchRecognizePlanError:
    """Columns of two variables where all must be of one; no name is the universal variable."""
    first, second = (f"`{name}`" if name else "all variables" for name in names)
    return MatchRecognizePlanError(
        f"{function} in {clause} looks at rows of {first} and of {second}",
        *spans,
        notes=("every column in it must belong to one variable; x alone belongs to all of them",),
        hint=f"write the variable before each column, or one {function} for each variable",
    )


def aggregate_in(
    outer: str, aggregate: str, clause: str, spans: tuple[Span, Span]
) -> MatchRecognizePlanError:
    """An aggregate in a navigation or in another aggregate."""
    return MatchRecognizePlanError(
        f"aggregate {aggregate} cannot stand in {outer} in {clause}",
        *spans,
        hint="write the two side by side, each over columns only",
    )


def navigation_in_aggregate(
    aggregate: str, navigation: str, clause: str, spans: tuple[Span, Span]
) -> MatchRecognizePlanError:
    """PREV, NEXT, FIRST or LAST in an aggregate."""
    return MatchRecognizePlanError(
        f"{navigation} cannot stand in aggregate {aggregate} in {clause}",
        *spans,
        notes=("an aggregate is over columns of the rows that are mapped to one variable",),
        hint="compute the value as a column of the input, e.g. with LAG, and aggregate that",
    )


def expression_for_variable(function: str, clause: str, span: Span) -> MatchRecognizePlanError:
    """CLASSIFIER(A.x), MATCHED_ROWS(A.x)."""
    return MatchRecognizePlanError(
        f"{function} in {clause} takes a pattern variable, not an expression",
        span,
        hint=f"write {function}() or {function}(A)",
    )


def matched_rows_of_unfinished_match(clause: str, span: Span) -> MatchRecognizePlanError:
    """MATCHED_ROWS() in DEFINE."""
    return MatchRecognizePlanError(
        f"MATCHED_ROWS cannot stand in {clause}",
        span,
        notes=("it is the whole match, which is known when its last row is",),
        hint=f"in {clause} write an aggregate of the rows so far, such as collect_list(A.x)",
    )


def constant_key(text: str, clause: str, span: Span) -> MatchRecognizePlanError:
    """ORDER BY 1, PARTITION BY "sym"."""
    notes: tuple[str, ...] = ()
    hint = f"name a column, or leave {clause} out"
    if text.startswith('"'):
        notes, hint = IN_DOUBLE_QUOTES, in_backticks(text)
    elif text.isdigit():
        notes = ("a number is no position of a column there",)
    return MatchRecognizePlanError(
        f"`{text}` in {clause} is the same for every row", span, notes=notes, hint=hint
    )


def column_in_double_quotes(text: str, clause: str, span: Span) -> MatchRecognizeParseError:
    """A."x", where Spark reads a string."""
    return name_in_double_quotes(f"column in double quotes in {clause}", text, span)


def semantics_before(
    word: str, function: str | None, clause: str, span: Span
) -> MatchRecognizePlanError:
    """RUNNING or FINAL before what has no such semantics; function None: before no function."""
    before = function or "a column"
    return MatchRecognizePlanError(
        f"{word} cannot stand before {before} in {clause}",
        span,
        notes=(f"{word} stands before FIRST, LAST, CLASSIFIER and aggregates",),
        hint=f"remove {word}" if function else f"write {word} LAST(A.x)",
    )


def final_in_define(function: str, span: Span) -> MatchRecognizePlanError:
    """FINAL in a condition, when the rest of the match is not known yet."""
    return MatchRecognizePlanError(
        f"FINAL cannot stand before {function} in {part('DEFINE')}",
        span,
        notes=("while rows are being matched only the rows so far are known",),
        hint=f"leave FINAL out: everything in {part('DEFINE')} is RUNNING",
    )


def nondeterministic(function: str, span: Span) -> MatchRecognizePlanError:
    """rand() and its like in a condition."""
    return MatchRecognizePlanError(
        f"{function}() in {part('DEFINE')} gives another value at every evaluation",
        span,
        notes=("a condition may be evaluated for a row never, once or several times",),
        hint="compute it as a column of the input, in a subquery before the clause",
    ).named("MATCH_RECOGNIZE_NONDETERMINISTIC_DEFINE")


def window_function(
    function: str | None, clause: str, instead: str | None, span: Span
) -> MatchRecognizePlanError:
    """OVER, or a function that needs it."""
    return MatchRecognizePlanError(
        f"window function {function} in {clause}" if function else f"OVER in {clause}",
        span,
        notes=("the rows of the match take the place of a window",),
        hint=(
            or_dialect(f"write {instead}", "snowflake")
            if function is not None and instead and function.upper() in ("LAG", "LEAD")
            else f"write {instead}"
            if instead
            else "write PREV, NEXT or an aggregate, or compute it as a column of the input"
        ),
    ).named("MATCH_RECOGNIZE_UNSUPPORTED_WINDOW_FUNCTION")


def correlated_subquery(name: str, clause: str, span: Span) -> MatchRecognizeUnsupportedError:
    """A subquery that looks at a row of the match."""
    return MatchRecognizeUnsupportedError(
        f"subquery in {clause} that refers to pattern variable `{name}` is not supported",
        span,
        hint="join the input with the subquery's table first",
    )


def kept_nulls(function: str, clause: str, span: Span) -> MatchRecognizeUnsupportedError:
    """RESPECT NULLS of an aggregate that collects values."""
    return MatchRecognizeUnsupportedError(
        f"RESPECT NULLS of {function} in {clause} is not supported",
        span,
        hint=f"collect what is never NULL, such as {function}(struct(A.x))",
    )


def match_number_inside(function: str, clause: str, span: Span) -> MatchRecognizeUnsupportedError:
    """MATCH_NUMBER() in a navigation, or in an aggregate over a frame."""
    return MatchRecognizeUnsupportedError(
        f"MATCH_NUMBER() in the argument of {function} in {clause} is not supported",
        span,
        hint=f"write MATCH_NUMBER() outside {function}: it is the same on every row of a match",
    )


def ending_inside(
    inner: str, function: str, clause: str, span: Span
) -> MatchRecognizeUnsupportedError:
    """MATCH_STATUS() or MATCH_TIMEOUT() in a navigation or an aggregate."""
    return MatchRecognizeUnsupportedError(
        f"{inner}() in the argument of {function} in {clause} is not supported",
        span,
        hint=f"write {inner}() outside {function}: it is the same on every row of a run",
    )


def ending_in_define(function: str, span: Span) -> MatchRecognizePlanError:
    """MATCH_STATUS() or MATCH_TIMEOUT() in DEFINE."""
    return MatchRecognizePlanError(
        f"{function}() in DEFINE",
        span,
        notes=("how a run ends is not known before it has ended",),
        hint="write it in MEASURES",
    )


def row_number_inside(function: str, clause: str, span: Span) -> MatchRecognizeUnsupportedError:
    """MATCH_ROW_NUMBER() in an aggregate in DEFINE, or in a navigation."""
    return MatchRecognizeUnsupportedError(
        f"MATCH_ROW_NUMBER() in the argument of {function} in {clause} is not supported",
        span,
        hint="write MATCH_ROW_NUMBER() by itself, or in an aggregate in MEASURES",
    )


def reads_rows_of_a_match(function: str, clause: str, span: Span) -> MatchRecognizePlanError:
    """Navigation, an aggregate or a window function in PARTITION BY, ORDER BY or WITHIN."""
    return MatchRecognizePlanError(
        f"{function} cannot stand in {clause}",
        span,
        notes=(f"{clause} is evaluated before the match, on each row by itself",),
        hint="compute it as a column of the input, in a subquery before the clause",
    )


def star_outside_count(function: str, clause: str, span: Span) -> MatchRecognizePlanError:
    """`*` where one value is wanted."""
    return MatchRecognizePlanError(
        f"`*` cannot stand in {function} in {clause}",
        span,
        hint="write count(*) or count(A.*), or name the columns",
    )


def bare_star(clause: str, span: Span) -> MatchRecognizeUnsupportedError:
    """`struct(A.*)` outside any navigation."""
    return MatchRecognizeUnsupportedError(
        f"all columns of a row, `*`, outside a navigation are not supported in {clause}",
        span,
        hint="write LAST(struct(A.*)), or name the columns",
    )
