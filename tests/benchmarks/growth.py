"""How the time of a row changes as rows, keys and output grow: a table of ratios, and a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.benchmarks.pictures import new_figure, save

COLOURS = ("#4477aa", "#228833", "#bbbbbb")  # Spark, Sail, DuckDB
Series = Mapping[str, Mapping[int, Sequence[float]]]


def flatness(series: Series) -> Iterator[list[str]]:
    """By series, for each engine: how many times the least time of a row the most is."""
    for name, found in series.items():
        yield [name, *(f"{max(times) / min(times):.2f}" for times in by_engine(found))]


def by_engine(found: Mapping[int, Sequence[float]]) -> Iterator[tuple[float, ...]]:
    """The times of each engine along a series."""
    return zip(*found.values(), strict=True)


def in_short(number: int) -> str:
    """A number as an axis shows it: 20 M are twenty million."""
    return f"{number // 10**6} M" if number >= 10**6 else f"{number:,}"


def draw(series: Series, engines: Sequence[str], path: Path) -> None:
    """A panel for each series, a line for each engine."""
    figure = new_figure(figsize=(8, 2.4))
    for panel, (name, found) in zip(figure.subplots(1, len(series)), series.items(), strict=True):
        places = range(len(found))  # the points of a series stand at equal distances
        for colour, engine, times in zip(COLOURS, engines, by_engine(found), strict=False):
            panel.plot(places, times, "o-", color=colour, label=engine)
        panel.set_xticks(places, map(in_short, found))
        panel.set_xlabel("\n".join(name.split(", ")))
        panel.set_ylim(bottom=0)
    panels = figure.axes
    panels[0].set_ylabel("microseconds a row")
    panels[0].legend(fontsize=6)
    save(figure, path)
