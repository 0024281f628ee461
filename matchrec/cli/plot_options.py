"""The option `--plot` of `run` and its axes: the picture of the matches over the input rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

import matchrec
from matchrec.cli.argument_types import PICTURE_TYPE, WholeNumber
from matchrec.cli.common_options import combine_options
from matchrec.cli.engine_errors import raise_run_errors
from matchrec.cli.messages import print_notice, show_busy
from matchrec.cli.written_files import replace_when_complete
from matchrec.errors import command as errors

PLOT_OPTIONS = combine_options(
    click.option(
        "--plot",
        "picture",
        type=PICTURE_TYPE,
        help="Draw the matches over the input rows, as png, svg or pdf.",
    ),
    click.option(
        "--x",
        metavar="COLUMN",
        help="Horizontal axis: times, dates or numbers. Required by --plot.",
    ),
    click.option(
        "--y", metavar="COLUMN", help="Vertical axis: numbers or strings. Required by --plot."
    ),
    click.option("--by", metavar="COLUMN", help="Draw a series for each value of this column."),
    click.option(
        "--between",
        nargs=2,
        metavar="FIRST LAST",
        help="Result columns with the first and the last x of a match. [default: by their names]",
    ),
    click.option(
        "--match",
        metavar="COLUMN",
        help="Result column with the match number, for ALL ROWS PER MATCH. [default: by its name]",
    ),
    click.option("--page", type=WholeNumber(example=1), help="Page to draw. [default: 1]"),
    click.option(
        "--panels",
        type=WholeNumber(example=6),
        help="Draw at most N panels on a page. [default: 6]",
    ),
)


@dataclass(frozen=True, slots=True)
class PlotOptions:
    """The picture of --plot and its columns."""

    # The file to which the picture is written.
    picture: Path
    # The columns of the axes.
    x: str
    y: str
    # The column with a series for each of its values; None for a single series.
    by: str | None = None
    # The columns of the result with the first and the last x of a match; None to find them.
    between: tuple[str, str] | None = None
    # The column of the result with the match number; None to find it.
    match: str | None = None
    # The number of the page to draw, from 1, and the largest number of panels on it.
    page: int = 1
    panels: int = 6

    def draw(self, query: matchrec.Query) -> None:
        """Draw the matches of a query over its rows, and write the picture.

        Raises:
            MatchRecognizeError: a column cannot be drawn, the query fails, or the picture cannot be
                written.
        """
        with show_busy("Drawing"), raise_run_errors():
            plot = query.plot(
                x=self.x,
                y=self.y,
                by=self.by,
                between=self.between,
                match=self.match,
                page=self.page,
                panels=self.panels,
            )
        with replace_when_complete(self.picture) as temporary_file:
            plot.save(temporary_file)
        print_notice(f"picture written to {self.picture}: {plot.summary}")


def read_plot_options(picture: Path | None, options: Mapping[str, Any]) -> PlotOptions | None:
    """Return the options of a picture; None without --plot.

    Args:
        picture: the file of --plot; None without this option.
        options: the values of the other fields of `PlotOptions`; None for an option that is not
            passed.

    Raises:
        click.UsageError: --plot lacks an axis, or another option lacks --plot.
        MatchRecognizeError: matplotlib is not installed.
    """
    from matchrec.explain.pictures.figures import check_matplotlib

    passed_options = {name: value for name, value in options.items() if value is not None}
    if picture is None:
        for name in passed_options:
            error = errors.argument_needs_another(argument=f"--{name}", other="--plot")
            raise click.UsageError(str(error))
        return None
    for axis in ("x", "y"):
        if axis not in passed_options:
            raise make_missing_axis_error(f"--{axis}")
    check_matplotlib()
    return PlotOptions(picture, **passed_options)


def make_missing_axis_error(option: str) -> click.UsageError:
    """Return the error for --plot without the option of an axis."""
    error = errors.missing_option(option=option, value="COLUMN", reader="--plot")
    return click.UsageError(str(error))
