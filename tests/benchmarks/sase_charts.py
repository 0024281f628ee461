"""The throughput charts of the SASE+ paper, drawn from what `sase` has measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from tests.benchmarks.pictures import new_figure, save

Measured = dict[str, Any]  # by query: a rate, one by engine, or one by window (and engine)

ALGORITHMS = ("basic", "merging", "backtracking")
COLOURS = {"basic": "#4477aa", "merging": "#228833", "backtracking": "#ee6677"}
LEGEND: Any = {"loc": "upper left", "fontsize": 7, "handlelength": 1.2, "columnspacing": 1}
TITLES = {
    "1": "1. Predicate and strategy, all results",
    "2": "2. W varied, basic, all results",
    "3": "3. Basic and backtracking, all results",
    "4": "4. Non-overlapping results",
    "5": "5. Merging, all results",
    "6": "6. Merging, W varied, construction off",
}


def draw(measured: dict[str, Measured], sizes: Sequence[int], path: Path) -> None:
    """One panel for each experiment; the file is the same for the same figures."""
    figure = new_figure(figsize=(11, 6.5))
    panels = figure.subplots(2, 3).flat
    for panel, (number, title) in zip(panels, TITLES.items(), strict=True):
        panel.set_title(title)
        panel.set_yscale("log")
        panel.set_ylim(1e4, 1e9)  # the same for all, so that panels compare
        panel.set_ylabel("events/s")
        panel.minorticks_off()
        panel.grid(axis="y", linewidth=0.4)
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
            bars(panel, found, engines[number])
    save(figure, path)


def bars(panel: Axes, found: Measured, engines: Sequence[str]) -> None:
    """A group of bars for each query, one for each engine."""
    width = 0.8 / len(engines)
    for place, engine in enumerate(engines):
        heights = [one[place] if len(engines) > 1 else one for one in found.values()]
        left = [index + (place - (len(engines) - 1) / 2) * width for index in range(len(heights))]
        panel.bar(left, heights, width, label=engine, color=COLOURS[engine])
    panel.set_xticks(range(len(found)), [name.replace(" ", "\n") for name in found])
    panel.legend(**LEGEND, ncols=len(engines))


def lines(panel: Axes, found: Measured, sizes: Sequence[int]) -> None:
    """A line for each query, and for each engine if there are two."""
    for index, (name, rates) in enumerate(found.items()):
        colour = f"C{index}"
        if isinstance(rates[0], tuple):
            panel.plot(sizes, [one[0] for one in rates], "o:", color=colour, label=f"{name}, basic")
            merged = [one[1] for one in rates]
            panel.plot(sizes, merged, "o-", color=colour, label=f"{name}, merging")
        else:
            panel.plot(sizes, rates, "o-", color=colour, label=name)
    panel.set_xticks(sizes)
    panel.set_xlabel("W, events")
    if found:
        panel.legend(**LEGEND, ncols=3)
