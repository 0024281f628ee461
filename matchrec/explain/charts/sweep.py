"""The results of one clause with many values: a table, and a line chart of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from matchrec.explain.charts.axes import (
    SMALL,
    WIDTH,
    AxisLabels,
    shorten,
    show_numbers,
    style_panel,
)
from matchrec.explain.pictures.figures import INK, PicturedText, make_figure, render
from matchrec.explain.pictures.html import build_html_table, make_data_frame

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# The columns of the table that follow the columns of the values.
FIGURE_COLUMNS = ("matches", "partitions", "rows", "median_rows", "median_span")

# How many colours a chart has, and the line styles: one for as many lines as there are colours.
COLOURS, LINE_STYLES = 10, ("-", "--", ":", "-.")

# How many lines a column of the legend has.
MOST_LEGEND_LINES = 14


@dataclass(frozen=True, repr=False)
class Sweep(PicturedText):
    """The figures of each combination of values, from `sweep`. It prints as a table.

    Attributes:
        parameters: the names of the parameters.
        rows: for each combination its values, then the number of matches, the number of partitions
            with a match, the number of rows in all matches, and two medians over the matches: of
            their number of rows, and of the distance from their first to their last row along the
            first ORDER BY column.

    >>> clause = "ORDER BY id PATTERN (A+) DEFINE A AS id > :least"
    >>> matchrec.sweep(spark.range(5), clause, {"least": [1, 3]})
    <Sweep: 2 combinations of least>
    """

    parameters: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...] = field(default=())

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the table."""
        return (*self.parameters, *FIGURE_COLUMNS)

    @property
    def text(self) -> str:
        """The table, as `print` shows it."""
        rows = [self.columns, *self._make_cells()]
        widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in rows
        ]
        return "\n".join(lines)

    def _make_cells(self) -> list[tuple[str, ...]]:
        """Return the cells of all rows as texts."""
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
        """Return a chart of the matches against the values of the first parameter, as SVG.

        Each combination of the other values has a line, or only points if the first parameter has
        strings. Needs matplotlib.

        >>> clause = "ORDER BY id PATTERN (A+) DEFINE A AS id > :least"
        >>> print(matchrec.sweep(spark.range(5), clause, {"least": [1, 3]}).svg())
        <?xml ...
        """
        return render(self.figure, "svg").decode()

    def figure(self) -> Figure:
        """Return the chart as a figure of matplotlib."""
        figure = make_figure(WIDTH, 3.4)
        panel = figure.subplots()
        name, *other_names = self.parameters
        matches_column = self.columns.index("matches")
        values = list(dict.fromkeys(show_value(row[0]) for row in self.rows))
        # The points of each line, by the values of all parameters but the first.
        lines: dict[tuple[str, ...], dict[int, int]] = {}
        for row in self.rows:
            label = tuple(show_value(value) for value in row[1 : len(self.parameters)])
            lines.setdefault(label, {})[values.index(show_value(row[0]))] = row[matches_column]
        # Texts have no order and nothing between them, so a line would suggest a trend.
        are_texts = any(isinstance(row[0], str) for row in self.rows)
        for index, (label, points) in enumerate(lines.items()):
            line_style = LINE_STYLES[index // COLOURS % len(LINE_STYLES)]
            panel.plot(
                list(points),
                list(points.values()),
                marker="o",
                color=f"C{index % COLOURS}",
                linestyle="none" if are_texts else line_style,
                clip_on=False,  # the marker of 0 is on the axis
                # Each line is thinner than those below it, so that equal lines are all visible.
                linewidth=1.6 + 3 * (1 - (index + 1) / len(lines)),
                markersize=5 + 4 * (1 - (index + 1) / len(lines)),
                label=shorten(", ".join(label)),
            )
        style_panel(
            panel, f"Matches for each value of {shorten(name)}", AxisLabels(name, "matches")
        )
        matches = [row[matches_column] for row in self.rows]
        show_numbers(panel.yaxis, matches)
        panel.set_ylim(0, 1.08 * max([1, *matches]))
        panel.margins(x=0.03)
        step = count_values_per_tick(values)
        tick_labels = [shorten(value, MOST_VALUE) for value in values[::step]]
        panel.set_xticks(range(0, len(values), step), tick_labels)
        if other_names:
            draw_legend(figure, other_names, len(lines))
        return figure

    def __repr__(self) -> str:
        """Return the number of combinations and the names of the parameters."""
        return f"<Sweep: {len(self.rows)} combinations of {', '.join(self.parameters)}>"

    def _repr_html_(self) -> str:
        """Return the table as HTML."""
        return build_html_table(self.columns, self._make_cells())


def draw_legend(figure: Figure, names: Sequence[str], line_count: int) -> None:
    """Write right of the chart which values each line has: one for each of some parameters."""
    legend = figure.legend(
        loc="outside right upper",
        title=shorten(", ".join(names)),
        title_fontsize=SMALL,
        fontsize=SMALL,
        labelcolor=INK,
        frameon=False,
        ncols=-(-line_count // MOST_LEGEND_LINES),
    )
    legend.get_title().set(color=INK)


def show_value(value: object) -> str:
    """Return a value of a parameter as the chart writes it.

    >>> show_value(0.05), show_value(None)
    ('0.05', 'NULL')
    """
    return "NULL" if value is None else str(value)


# How many characters fit below the chart, and how many of them one value may have.
MOST_TICK_CHARACTERS, MOST_VALUE = 90, 16


def count_values_per_tick(values: Sequence[str]) -> int:
    """Return how many values have one tick, so that the labels of ticks do not overlap.

    >>> count_values_per_tick(["1", "2"]), count_values_per_tick([str(n) for n in range(100, 160)])
    (1, 4)
    """
    longest = max((min(len(value), MOST_VALUE) for value in values), default=0)
    return max(1, -(-len(values) * (longest + 3) // MOST_TICK_CHARACTERS))


def show_cell(value: object) -> str:
    """Return a value as a cell of the table: nothing for None."""
    return "" if value is None else str(value)
