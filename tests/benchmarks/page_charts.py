"""The two charts of docs/contributing/benchmarks.md, drawn from the figures on that page.

    python -m tests.benchmarks.page_charts

performance.svg  seconds of one query with matchrec and with the alternatives that users would write
growth.svg       seconds per million rows, as rows grow
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from matchrec.explain.pictures.figures import FAINT_COLOUR, TEXT_COLOUR
from tests.benchmarks.pictures import new_figure, save

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE = "contributing/benchmarks.md"

WORKLOAD = "V-shape, ONE ROW"
CONTENDERS = {  # by the heading of their column
    "applyInPandas": "applyInPandas",
    "window SQL": "window SQL by hand",
    "matchrec": "matchrec",
}
SERIES = "rows, 1,000 per key"
ENGINES = {  # by the heading of their column: the name, the colour and the marker of the line
    "spark": ("matchrec on Spark", "#4477aa", "o"),
    "window SQL in DuckDB": ("window SQL by hand in DuckDB", "#6e7781", "s"),
    "sail": ("matchrec on Sail", "#228833", "^"),
}


def read_markdown_table(page: str, section: str) -> list[dict[str, str]]:
    """Return the rows of the first table of a section of the page, each by its headings.

    If the first two columns have no heading, the second one is called `size`.

    >>> page = "<!-- a -->\\n| |  | b |\\n|-|-|-|\\n| x | 2 | 3 |\\n<!-- end a -->"
    >>> read_markdown_table(page, "a")
    [{'': 'x', 'size': '2', 'b': '3'}]
    """
    text = page.partition(f"<!-- {section} -->")[2].partition(f"<!-- end {section} -->")[0]
    table = text[text.index("|") :].partition("\n\n")[0]
    head, _, *rows = (
        [cell.strip() for cell in line.split("|")[1:-1]] for line in table.strip().splitlines()
    )
    if head[1] == "":
        head[1] = "size"
    return [dict(zip(head, row, strict=True)) for row in rows]


def draw_performance(page: str) -> Figure:
    """Draw a bar for each way to write the V-shape; its length is the elapsed time."""
    (workload,) = (
        row for row in read_markdown_table(page, "workloads") if row["seconds"] == WORKLOAD
    )
    seconds = {name: workload[column].split(",")[0] for column, name in CONTENDERS.items()}
    figure = new_figure(figsize=(7, 1.9))
    panel = figure.subplots()
    _, spark_colour, _ = ENGINES["spark"]
    colours = [spark_colour if name == "matchrec" else FAINT_COLOUR for name in seconds]
    panel.barh(list(seconds), [float(text) for text in seconds.values()], 0.62, color=colours)
    for index, text in enumerate(seconds.values()):
        panel.text(
            float(text) + 0.06, index, f"{text} s", va="center", color=TEXT_COLOUR, fontsize=10
        )
    panel.set_xlim(0, 1.12 * max(map(float, seconds.values())))
    panel.set_xlabel("seconds (lower is better)", color=TEXT_COLOUR)
    panel.set_title("V-shapes in 2,000,000 rows, Spark, 2 cores", loc="left", color=TEXT_COLOUR)
    panel.tick_params(axis="y", length=0, labelsize=10, colors=TEXT_COLOUR)
    remove_box(panel)
    panel.spines["left"].set_visible(False)
    return figure


def draw_growth(page: str) -> Figure:
    """Draw a line for each engine: the seconds per million rows against the number of rows."""
    rows = [row for row in read_markdown_table(page, "engines growth") if row[""] == SERIES]
    figure = new_figure(figsize=(7, 3))
    panel = figure.subplots()
    sizes = [int(row["size"].replace(",", "")) for row in rows]
    times = {column: [float(row[column]) for row in rows] for column in ENGINES}
    most = max(max(line) for line in times.values())
    for column, (_, colour, marker) in ENGINES.items():
        # Hollow markers, so that two points at almost the same place are both visible.
        panel.plot(sizes, times[column], color=colour, marker=marker, markerfacecolor="none")
        # The last figure is beside the name of the line.
        for index, time in enumerate(times[column][:-1]):
            others = [line[index] for other, line in times.items() if other != column]
            # A figure is above its point, but below it if another line is close above.
            is_above = not any(time <= other < time + 0.13 * most for other in others)
            style: Any = {"xytext": (0, 6 if is_above else -14), "ha": "center", "fontsize": 9}
            style |= {"textcoords": "offset points", "color": TEXT_COLOUR}
            panel.annotate(f"{time:.3f}", (sizes[index], time), **style)
    height = 2 * most
    for column in sorted(ENGINES, key=lambda column: -times[column][-1]):
        name, colour, _ = ENGINES[column]
        height = min(times[column][-1], height - 0.08 * most)  # names keep a distance
        label = f"{name} {times[column][-1]:.3f}"
        panel.text(1.4 * sizes[-1], height, label, va="center", color=colour, fontsize=9)
    panel.set_xscale("log")
    panel.set_xticks(sizes, [f"{size / 10**6:.0f}" for size in sizes])
    panel.minorticks_off()
    panel.set_xlim(0.7 * sizes[0], 16 * sizes[-1])  # with room for the names
    panel.set_xlabel("millions of rows, on a logarithmic scale", color=TEXT_COLOUR, fontsize=9)
    panel.set_ylim(0, 1.14 * most)
    panel.yaxis.set_major_locator(MultipleLocator(0.2))
    panel.set_ylabel("seconds per million rows", color=TEXT_COLOUR, fontsize=9)
    panel.set_title("V-shapes, 2 cores (lower is better)", loc="left", color=TEXT_COLOUR)
    panel.tick_params(colors=TEXT_COLOUR, labelsize=9)
    panel.grid(axis="y", color="#edf0f4")
    panel.set_axisbelow(True)
    remove_box(panel)
    return figure


def remove_box(panel: Axes) -> None:
    """Hide the upper and the right border of a panel."""
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


CHARTS = {"performance": draw_performance, "growth": draw_growth}


def write_charts(docs: Path) -> None:
    """Draw the charts of a folder of docs again, after figures of its page have changed."""
    page = (docs / PAGE).read_text(encoding="utf-8")
    for name, draw in CHARTS.items():
        save(draw(page), docs / "images" / f"{name}.svg")


if __name__ == "__main__":
    write_charts(DOCS)
