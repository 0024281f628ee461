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

Measured = dict[str, Any]  # by query: a rate, one by engine, or one by window (and engine)

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


def read_page(page: str) -> dict[str, Measured]:
    """Return what the tables of the page have, in the form that `sase` measures it.

    >>> page = "## 1. A\\n\\n| query | events/s |\\n|---|---:|\\n| p1 s2 | 3,000 |\\n"
    >>> read_page(page)["1"]
    {'p1 s2': 3000.0}
    """
    return {
        number: read_experiment(number, section)
        for number, section in re.findall(r"^## (\d)\. (.*?)(?=^## |\Z)", page, re.M | re.S)
    }


def read_experiment(number: str, section: str) -> Measured:
    """Return the rates of the experiment with a number, from its section of the page."""
    lines = [line for line in section.splitlines() if line.startswith("|")]
    head, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines)
    measured: Measured = {}
    for row in rows:
        # Two columns may have the same name: rates come first, before what was counted.
        cells = dict(reversed(list(zip(head, row, strict=True))))
        name, _, window = cells["query"].partition(", W = ")
        rates = tuple(float(cells[column].replace(",", "")) for column in COLUMNS[number])
        if number == "6":  # a row for each window
            measured.setdefault(name, []).append(rates)
        elif window in ("", "500"):
            measured[name] = rates[0] if len(rates) == 1 else rates
    return measured


def draw(measured: dict[str, Measured], sizes: Sequence[int], path: Path) -> None:
    """Draw a panel for each experiment. The file is the same for the same figures."""
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
        found = measured.get(number, {})
        if number in ("2", "6"):
            lines(panel, found, sizes)
        elif found:
            engines = {
                "1": ALGORITHMS[:1],
                "3": ALGORITHMS[::2],
                "4": ALGORITHMS,
                "5": ALGORITHMS[:2],
            }
            points(panel, found, engines[number])
    save(figure, path)


def style(query: str) -> dict[str, Any]:
    """Return the colour, the marker and the sizes of a query as arguments of matplotlib."""
    colour, marker, size = QUERIES[query]
    sizes: Any = {"markersize": size, "linewidth": size / 3}
    return {"color": colour, "marker": marker, "markerfacecoloralt": "none", **sizes}


def points(panel: Axes, found: Measured, engines: Sequence[str]) -> None:
    """Draw a group of points for each query, with a point for each algorithm."""
    distance = 0.6 / len(engines)
    for index, (query, rates) in enumerate(found.items()):
        for place, engine in enumerate(engines):
            rate = rates[place] if len(engines) > 1 else rates
            x = index + (place - (len(engines) - 1) / 2) * distance
            panel.plot([x], [rate], fillstyle=FILLS[engine], **{**style(query), "markersize": 7})
    panel.set_xticks(range(len(found)), [name.replace(" ", "\n") for name in found])
    panel.set_xlim(-0.6, len(found) - 0.4)
    panel.set_xlabel("condition (p) and strategy (s)", fontsize=TEXT_SIZE)
    grey: Any = {"color": GREY, "marker": "o", "markerfacecoloralt": "none", "linestyle": ""}
    handles = [Line2D([], [], label=engine, fillstyle=FILLS[engine], **grey) for engine in engines]
    panel.legend(handles=handles, **LEGEND, ncols=len(engines))


def lines(panel: Axes, found: Measured, sizes: Sequence[int]) -> None:
    """Draw a line for each query, and a dotted one for basic if there are two algorithms."""
    handles = []
    has_two = False
    for query, rates in found.items():
        has_two = isinstance(rates[0], tuple)
        if has_two:
            basic = [rate[0] for rate in rates]
            panel.plot(sizes, basic, linestyle=":", fillstyle=FILLS["basic"], **style(query))
        best = [rate[-1] if has_two else rate for rate in rates]
        fill = FILLS["merging" if has_two else "basic"]
        handles += panel.plot(sizes, best, label=query, fillstyle=fill, **style(query))
    if has_two:
        for form, algorithm in (("-", "merging"), (":", "basic")):
            grey: Any = {"color": GREY, "marker": "o", "markerfacecoloralt": "none"}
            fill = FILLS[algorithm]
            handles.append(Line2D([], [], linestyle=form, label=algorithm, fillstyle=fill, **grey))
    panel.set_xticks(sizes)
    panel.set_xlabel("window W, in events", fontsize=TEXT_SIZE)
    if found:
        panel.legend(handles=handles, **LEGEND, ncols=3)


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    draw(read_page(page), (500, 1000, 1500, 2000), DOCS / "images" / "sase_throughput.svg")
