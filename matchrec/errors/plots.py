"""Errors in the arguments of `plot`, such as columns that it cannot draw."""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.errors.kinds import MatchRecognizePlanError
from matchrec.errors.misspellings import find_nearest_or_part
from matchrec.errors.surface import ProgramKind, current_surface
from matchrec.errors.wording import join_names, show_count, write_name


def _name_argument(argument: str) -> str:
    """Return how a sentence names an argument of `plot`: `x` of `plot`, or `--x`."""
    surface = current_surface()
    name = f"`{surface.name_option(argument)}`"
    return f"{name} of `plot`" if surface.program is not ProgramKind.COMMAND_LINE else name


def _name_plot() -> str:
    """Return how a sentence names the call or the option that draws a picture."""
    surface = current_surface()
    return "`plot`" if surface.program is not ProgramKind.COMMAND_LINE else "`--plot`"


def unknown_plot_column(
    *, argument: str, name: str, columns: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for an argument of `plot` that names no column, or several."""
    option = _name_argument(argument)
    lower_names = [column.lower() for column in columns]
    if lower_names.count(name.lower()) > 1:
        return MatchRecognizePlanError(
            f"column `{name}` in {option} is ambiguous",
            notes=(f"the columns are: {join_names(columns)}",),
            hint="rename one of these columns in the query",
            code="ambiguous-plot-column",
        )
    near = find_nearest_or_part(name, columns)
    return MatchRecognizePlanError(
        f"unknown column `{name}` in {option}",
        notes=(f"the columns are: {join_names(columns)}",),
        hint=f"write {write_name(near)}" if near else "name one of these",
        code="unknown-plot-column",
    )


def wrong_axis_type(*, name: str, type_name: str) -> MatchRecognizePlanError:
    """Return the error for `x` of `plot` with a type that has no axis."""
    return MatchRecognizePlanError(
        f"column `{name}` in {_name_argument('x')} has type {type_name}",
        notes=("the horizontal axis needs a date, a timestamp or a number",),
        hint="name a column of one of these types",
        code="wrong-axis-type",
    )


def no_match_columns(*, x: str, candidates: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for a result whose matches have no begin and end that `plot` can find.

    Args:
        x: the column of the horizontal axis.
        candidates: the columns of the same type.
    """
    plot = _name_plot()
    columns_of_type = f"columns with the type of `{x}`: {join_names(candidates)}"
    if len(candidates) < 2:
        columns = f"only {candidates[0]} has" if candidates else "no columns have"
        columns_of_type = f"{columns} the type of `{x}`, but two columns are needed"
    return MatchRecognizePlanError(
        "the result has no columns that say where a match begins and ends",
        notes=(
            f"{plot} needs arrays of events with `{x}`, or columns such as first_{x} and last_{x}",
            f"for ALL ROWS PER MATCH, {plot} needs `{x}` and match_number",
            columns_of_type,
        ),
        hint=_advise_on_match_ends(x, candidates),
        code="no-match-columns",
    )


def _advise_on_match_ends(x: str, candidates: Sequence[str]) -> str:
    """Return what to write so that `plot` finds the matches, see `no_match_columns`."""
    first_name, last_name = write_name(f"first_{x}"), write_name(f"last_{x}")
    measures = f"FIRST({write_name(x)}) AS {first_name}, LAST({write_name(x)}) AS {last_name}"
    advice = f"add {measures} to MEASURES"
    if x.lower() in map(str.lower, candidates):  # probably the rows of matches
        advice = (
            f"for ONE ROW PER MATCH, {advice}; for ALL ROWS PER MATCH, add "
            "MATCH_NUMBER() AS match_number"
        )
    if len(candidates) < 2:
        return advice
    surface = current_surface()
    if len(candidates) == 2:
        first, last = candidates
        condition = f"if matches begin at {first} and end at {last}"
    else:  # it is not clear which columns they are
        first, last = surface.example_match_ends
        condition = "with the columns at which matches begin and end"
    name_ends = surface.advice_on_match_ends.format(first=first, last=last)
    return f"{name_ends} {condition}; or {advice}"


def series_column_missing(*, name: str) -> MatchRecognizePlanError:
    """Return the error for `by` of `plot` with a column that the result does not have."""
    return MatchRecognizePlanError(
        f"the result has no column `{name}`, which {_name_argument('by')} names",
        hint=f"add {write_name(name)} to PARTITION BY or MEASURES",
        code="series-column-missing",
    )


def backtest_not_drawable(*, type_name: str) -> MatchRecognizePlanError:
    """Return the error for incidents of a backtest whose order has a type without an axis."""
    return MatchRecognizePlanError(
        f"incidents cannot be drawn along an order of type {type_name}",
        hint="sort by a number, a date or a timestamp, or print the figures",
        code="backtest-not-drawable",
    )


def unknown_plot_page(*, page: int, pages: int) -> MatchRecognizePlanError:
    """Return the error for `page` of `plot` with a number that is too small or too large."""
    return MatchRecognizePlanError(
        f"unknown page {page} of {_name_plot()}: there {'is' if pages == 1 else 'are'} "
        f"{show_count(pages, 'page')}",
        hint=f"write {current_surface().write_option('page', pages)}",
        code="unknown-plot-page",
    )
