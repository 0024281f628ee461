"""`Sweep`, the results of a clause for many values of its parameters: a table and a line chart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matchrec.errors.wording import show_count
from matchrec.explain.charts.sweep_picture import draw_sweep, group_points
from matchrec.explain.pictures.figures import PicturedText, render_picture
from matchrec.explain.pictures.html import build_html_table, make_data_frame
from matchrec.public_names import public

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# The columns of the table after the parameter columns. `api.sweep.count_matches` computes them.
FIGURE_COLUMNS = ("matches", "partitions", "rows", "median_rows", "median_span")


@public
@dataclass(frozen=True, repr=False, match_args=False)
class Sweep(PicturedText):
    """The figures of each combination of values, from `sweep`. It prints as a table.

    Attributes:
        parameters: the names of the parameters.
        rows: a tuple for each combination, with the values of `columns`.

    >>> clause = "ORDER BY id PATTERN (A+) DEFINE A AS id > :least"
    >>> matchrec.sweep(spark.range(5), clause, {"least": [1, 3]})
    <Sweep: 2 combinations of least>
    """

    parameters: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the table: the parameters, then the figures.

        The figures of a combination are:

        - `matches`: the number of matches;
        - `partitions`: the number of partitions with a match;
        - `rows`: the number of rows in all matches;
        - `median_rows`: the median number of rows of a match;
        - `median_span`: the median distance from the first to the last row of a match, along the
          first ORDER BY column. It is a number in the unit of the column, or a timedelta if the
          column has dates or times; on Sail, dates give a number of days. It is None if there are
          no matches, or if values of the column have no distance.
        """
        return (*self.parameters, *FIGURE_COLUMNS)

    @property
    def text(self) -> str:
        """The text that `print` shows: the table, with cells aligned to the right."""
        rows = [self.columns, *self._make_cells()]
        widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in rows
        ]
        return "\n".join(lines)

    def _make_cells(self) -> list[tuple[str, ...]]:
        """Return the cells of the table as texts: a tuple for each row, without the header."""
        return [tuple(show_cell(value) for value in row) for row in self.rows]

    def toPandas(self) -> pd.DataFrame:  # noqa: N802 -- as PySpark calls it
        """Return the table as a pandas DataFrame.

        >>> clause = "ORDER BY id PATTERN (A+) DEFINE A AS id > :least"
        >>> found = matchrec.sweep(spark.range(5), clause, {"least": [1, 3]}).toPandas()
        >>> list(found["rows"])
        [3, 1]
        """
        return make_data_frame(self.columns, self.rows)

    def svg(self) -> str:
        """Return a chart of the number of matches for each value of the first parameter, as SVG.

        Each combination of the other parameters' values has a line, or only points if the values of
        the first parameter are strings.

        Raises:
            MatchRecognizeError: matplotlib is not installed.

        >>> clause = "ORDER BY id PATTERN (A+) DEFINE A AS id > :least"
        >>> print(matchrec.sweep(spark.range(5), clause, {"least": [1, 3]}).svg())
        <?xml ...
        """
        return render_picture(self.figure, "svg").decode()

    def figure(self) -> Figure:
        """Return the chart as a figure of matplotlib, for example to change its size.

        Raises:
            MatchRecognizeError: matplotlib is not installed.

        >>> clause = "ORDER BY id PATTERN (A+) DEFINE A AS id > :least"
        >>> counts = matchrec.sweep(spark.range(5), clause, {"least": [1, 3]})
        >>> type(counts.figure()).__name__
        'Figure'
        """
        chart = group_points(self.rows, len(self.parameters), self.columns.index("matches"))
        return draw_sweep(self.parameters, chart)

    def __repr__(self) -> str:
        """Return the number of combinations and the names of the parameters."""
        combinations = show_count(len(self.rows), "combination")
        return f"<Sweep: {combinations} of {', '.join(self.parameters)}>"

    def _repr_html_(self) -> str:
        """Return the table as HTML."""
        return build_html_table(self.columns, self._make_cells())


def show_cell(value: object) -> str:
    """Return a value as a cell of the table: an empty cell for None."""
    return "" if value is None else str(value)
