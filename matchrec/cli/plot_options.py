"""The option `--plot` of `run` and its axes: the picture of the matches over the input rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

import matchrec
from matchrec.cli.engine_errors import raise_run_errors
from matchrec.cli.messages import print_notice, show_busy
from matchrec.cli.written_files import replace_when_complete
from matchrec.errors import command as errors


@dataclass(frozen=True, slots=True)
class PlotOptions:
    """The picture of --plot and its columns."""

    # The file to which the picture is written.
    picture: Path
    # The columns of the axes.
    x: str
    y: str
    # The column with a series for each of its values; None for a single series.
    series: str | None
    # The columns of the result with the first and the last x of a match; None to find them.
    between: tuple[str, str] | None

    def draw(self, query: matchrec.Query) -> None:
        """Draw the matches of a query over its rows, and write the picture.

        Raises:
            MatchRecognizeError: a column cannot be drawn, the query fails, or the picture cannot be
                written.
        """
        with show_busy("Drawing"), raise_run_errors():
            plot = query.plot(x=self.x, y=self.y, by=self.series, between=self.between)
        with replace_when_complete(self.picture) as temporary_file:
            plot.save(temporary_file)
        print_notice(f"picture written to {self.picture}")


def read_plot_options(
    picture: Path | None,
    *,
    x: str | None,
    y: str | None,
    series: str | None,
    between: tuple[str, str] | None,
) -> PlotOptions | None:
    """Return the options of a picture; None without --plot.

    Args:
        picture: the file of --plot; None without this option.
        x: the column of --x; None without this option.
        y: the column of --y; None without this option.
        series: the column of --series; None without this option.
        between: the two columns of --between; None without this option.

    Raises:
        click.UsageError: --plot lacks an axis, or another option lacks --plot.
        MatchRecognizeError: matplotlib is not installed.
    """
    from matchrec.explain.pictures.figures import check_matplotlib

    if picture is None:
        columns = {"x": x, "y": y, "series": series, "between": between}
        for name, value in columns.items():
            if value is not None:
                error = errors.argument_needs_another(argument=f"--{name}", other="--plot")
                raise click.UsageError(str(error))
        return None
    if x is None:
        raise make_missing_axis_error("--x")
    if y is None:
        raise make_missing_axis_error("--y")
    check_matplotlib()
    return PlotOptions(picture, x, y, series, between)


def make_missing_axis_error(option: str) -> click.UsageError:
    """Return the error for --plot without the option of an axis."""
    error = errors.missing_option(option=option, value="COLUMN", reader="--plot")
    return click.UsageError(str(error))
