"""The throughput charts of the SASE+ paper.

`sase` draws them from what it has measured. This command draws them from the tables of the page:

    python -m tests.benchmarks.sase_charts
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from matchrec.explain.charts.axes import WIDTH
from tests.benchmarks.pictures import new_figure, save

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE = DOCS / "contributing" / "sase_benchmark.md"

# By query: a rate, a rate for each algorithm, or a rate for each size of the window. In experiment
# 6, it has a rate for each algorithm for each size of the window.
Rates = dict[str, Any]

# How the markers of the algorithms are filled, the same for all panels.
FILLS = {"basic": "none", "merging": "full", "backtracking": "bottom"}
ALGORITHMS = tuple(FILLS)
# The colour, the marker and its size for each query, the same for all panels. Queries with similar
# rates have different sizes: the smaller curve is drawn inside the larger one.
QUERIES = {
    "p1 s2": ("#1f77b4", "o", 10),
    "p1 s3": ("#ff7f0e", "s", 7),
    "p2 s2": ("#2ca02c", "^", 7),
    "p2 s3": ("#d62728", "D", 5),
    "p3 s2": ("#9467bd", "v", 7),
    "p3 s3": ("#8c564b", "p", 4),
    "p3* s2": ("#808080", ">", 7),
    "p3* s3": ("#7a9cc6", "<", 7),
}
GREY = "#808080"
TEXT_SIZE = 9.5  # points, large enough at the width of a page
LEGEND: Any = {
    "loc": "upper left",
    "fontsize": TEXT_SIZE,
    "handlelength": 1.0,
    "handletextpad": 0.4,
    "columnspacing": 0.7,
    "frameon": False,
}
TITLES = {
    "1": "1. All matches, by query",
    "2": "2. All matches, by window",
    "3": "3. All matches, with backtracking",
    "4": "4. Non-overlapping matches",
    "5": "5. All matches, with merging",
    "6": "6. Search only, no matches built",
}
# The columns of each table of the page that the charts show, by the number of the experiment.
COLUMNS = {
    "1": ("events/s",),
    "2": ("W = 500", "W = 1000", "W = 1500", "W = 2000"),
    "3": ("basic, events/s", "backtracking"),
    "4": ("basic", "merging", "backtracking"),
    "5": ("basic", "merging"),
    "6": ("basic", "merging"),
}


def read_page(page: str) -> dict[str, Rates]:
    """Return the rates in the tables of the page, by the number of the experiment.

    >>> page = "## 1. A\\n\\n| query | events/s |\\n|---|---:|\\n| p1 s2 | 3,000 |\\n"
    >>> read_page(page)["1"]
    {'p1 s2': 3000.0}
    """
    return {
        number: read_experiment(number, section)
        for number, section in re.findall(r"^## (\d)\. (.*?)(?=^## |\Z)", page, re.M | re.S)
    }


def read_experiment(number: str, section: str) -> Rates:
    """Return the rates of the experiment with a number, from its section of the page."""
    lines = [line for line in section.splitlines() if line.startswith("|")]
    head, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines)
    rates_by_query: Rates = {}
    for row in rows:
        # Two columns may have the same name: rates come first, before what was counted.
        cells = dict(reversed(list(zip(head, row, strict=True))))
        name, _, window = cells["query"].partition(", W = ")
        rates = tuple(float(cells[column].replace(",", "")) for column in COLUMNS[number])
        if number == "6":  # a row for each window
            rates_by_query.setdefault(name, []).append(rates)
        elif window in ("", "500"):
            rates_by_query[name] = rates[0] if len(rates) == 1 else rates
    return rates_by_query


def draw(rates_by_experiment: dict[str, Rates], sizes: Sequence[int], path: Path) -> None:
    """Draw a panel for each experiment, as SVG. The file is the same for the same figures.

    Args:
        rates_by_experiment: the rates, by the number of the experiment.
        sizes: the sizes of the window.
        path: the file.
    """
    figure = new_figure(figsize=(WIDTH, 9.2))
    panels = figure.subplots(3, 2).flat
    for panel, (number, title) in zip(panels, TITLES.items(), strict=True):
        panel.set_title(title, loc="left", fontsize=10, fontweight="bold")
        panel.set_yscale("log")
        panel.set_ylim(1e4, 1e9)  # the same for all, so that panels compare
        panel.set_ylabel("events per second of CPU", fontsize=TEXT_SIZE)
        panel.tick_params(labelsize=TEXT_SIZE)
        panel.minorticks_off()
        panel.grid(axis="y", linewidth=0.4)
        panel.set_axisbelow(True)
        rates_by_query = rates_by_experiment.get(number, {})
        if number in ("2", "6"):
            draw_lines(panel, rates_by_query, sizes)
        elif rates_by_query:
            algorithms = {
                "1": ALGORITHMS[:1],
                "3": ALGORITHMS[::2],
                "4": ALGORITHMS,
                "5": ALGORITHMS[:2],
            }
            draw_points(panel, rates_by_query, algorithms[number])
    save(figure, path)


def choose_style(query: str) -> dict[str, Any]:
    """Return the colour, the marker and the sizes of a query as arguments of matplotlib."""
    colour, marker, size = QUERIES[query]
    sizes: Any = {"markersize": size, "linewidth": size / 3}
    return {"color": colour, "marker": marker, "markerfacecoloralt": "none", **sizes}


def draw_points(panel: Axes, rates_by_query: Rates, algorithms: Sequence[str]) -> None:
    """Draw a group of points for each query, with a point for each algorithm.

    Args:
        panel: the panel.
        rates_by_query: for each query, its rate; a rate for each algorithm if there are several.
        algorithms: the names of the algorithms.
    """
    distance = 0.6 / len(algorithms)
    for query_index, (query, rates) in enumerate(rates_by_query.items()):
        for algorithm_index, algorithm in enumerate(algorithms):
            rate = rates[algorithm_index] if len(algorithms) > 1 else rates
            # The points of a query are around its tick.
            x = query_index + (algorithm_index - (len(algorithms) - 1) / 2) * distance
            point_style = {**choose_style(query), "markersize": 7}
            panel.plot([x], [rate], fillstyle=FILLS[algorithm], **point_style)
    query_count = len(rates_by_query)
    panel.set_xticks(range(query_count), [name.replace(" ", "\n") for name in rates_by_query])
    panel.set_xlim(-0.6, query_count - 0.4)
    panel.set_xlabel("condition (p) and strategy (s)", fontsize=TEXT_SIZE)
    grey: Any = {"color": GREY, "marker": "o", "markerfacecoloralt": "none", "linestyle": ""}
    handles = [
        Line2D([], [], label=algorithm, fillstyle=FILLS[algorithm], **grey)
        for algorithm in algorithms
    ]
    panel.legend(handles=handles, **LEGEND, ncols=len(algorithms))


def draw_lines(panel: Axes, rates_by_query: Rates, sizes: Sequence[int]) -> None:
    """Draw a line for each query, and a dotted one for basic if there are two algorithms.

    Args:
        panel: the panel.
        rates_by_query: for each query, a rate for each size, or the rates of two algorithms.
        sizes: the sizes of the window.
    """
    handles = []
    has_two_algorithms = False
    for query, rates in rates_by_query.items():
        has_two_algorithms = isinstance(rates[0], tuple)
        style = choose_style(query)
        if has_two_algorithms:
            basic_rates = [basic_rate for basic_rate, _ in rates]
            panel.plot(sizes, basic_rates, linestyle=":", fillstyle=FILLS["basic"], **style)
        last_rates = [rate[-1] if has_two_algorithms else rate for rate in rates]
        fill = FILLS["merging" if has_two_algorithms else "basic"]
        handles += panel.plot(sizes, last_rates, label=query, fillstyle=fill, **style)
    if has_two_algorithms:
        for form, algorithm in (("-", "merging"), (":", "basic")):
            grey: Any = {"color": GREY, "marker": "o", "markerfacecoloralt": "none"}
            fill = FILLS[algorithm]
            handles.append(Line2D([], [], linestyle=form, label=algorithm, fillstyle=fill, **grey))
    panel.set_xticks(sizes)
    panel.set_xlabel("window W, in events", fontsize=TEXT_SIZE)
    if rates_by_query:
        panel.legend(handles=handles, **LEGEND, ncols=3)


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    draw(read_page(page), (500, 1000, 1500, 2000), DOCS / "images" / "sase_throughput.svg")
