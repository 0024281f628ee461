"""The picture of the demo: prices as lines, and every V that was found drawn over them."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matchrec.errors import environment as errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes

LINE, MATCH, BAND, TEXT = "#9aa5b5", "#c8102e", "#fbe9ec", "#2b2f36"
LABEL_WIDTH = timedelta(days=120)
Prices = tuple[list[date], list[float]]


def check_matplotlib() -> None:
    """Raises where matplotlib is not installed."""
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise errors.no_matplotlib()


def draw(prices: Mapping[str, Prices], matches: Iterable[Any], path: Path) -> None:
    """One panel for each share; writes a PNG or SVG, as the name of `path` says.

    matches: rows with ticker, top_date, back_date, bottom_date, bottom, fall_percent.
    """
    from matplotlib.figure import Figure

    found = sorted(matches, key=lambda match: match.bottom_date)
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    figure.suptitle(
        "Falls of at least three days that were won back day after day", color=TEXT, fontsize=15
    )
    panels = figure.subplots(2, (len(prices) + 1) // 2, sharex=True, squeeze=False).flat
    for panel, (ticker, line) in zip(panels, prices.items(), strict=False):
        draw_share(panel, ticker, line, [match for match in found if match.ticker == ticker])
    figure.savefig(path, dpi=130)


def draw_share(panel: Axes, ticker: str, prices: Prices, matches: Sequence[Any]) -> None:
    """The price of one share, its matches in colour, each with the depth of its fall."""
    draw_line(panel, *prices, [(match.top_date, match.back_date) for match in matches])
    for match, depth in zip(matches, label_depths(matches), strict=True):
        panel.annotate(
            f"−{match.fall_percent} %",
            (match.bottom_date, match.bottom),
            xytext=(0, -14 - 11 * depth),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            color=MATCH,
        )
    style(panel, f"{ticker}   {len(matches)} V-shapes", "close, US dollars")


def draw_line(
    panel: Axes, times: Sequence[date], values: Sequence[float], spans: Iterable[tuple[date, date]]
) -> list[Any]:
    """A line, and over it each span in colour, from one of its times to another; their bands."""
    panel.plot(plottable(times), values, color=LINE, linewidth=1.2, zorder=1)
    bands = []
    for start, end in spans:
        first, last = times.index(start), times.index(end) + 1
        bands.append(panel.axvspan(start, end, color=BAND, linewidth=0, zorder=0))  # type: ignore[arg-type]
        panel.plot(plottable(times[first:last]), values[first:last], color=MATCH, linewidth=2.2)
    return bands


def plottable(days: Sequence[date]) -> Any:
    """Dates as matplotlib takes them; its type stubs know numbers only."""
    return days


def label_depths(matches: Sequence[Any]) -> list[int]:
    """How many lines lower each label stands, so that those of one season do not overlap."""
    depths: list[int] = []
    for before, match in zip([None, *matches], matches, strict=False):
        near = before is not None and match.bottom_date - before.bottom_date < LABEL_WIDTH
        depths.append(depths[-1] + 1 if near else 0)
    return depths


def style(panel: Axes, title: str, measured: str) -> None:
    """A panel with a title, what its values are, no box and pale rules."""
    panel.set_title(title, loc="left", color=TEXT, fontsize=12, fontweight="bold")
    panel.set_ylabel(measured, color=TEXT, fontsize=9)
    panel.grid(axis="y", color="#edf0f4")
    panel.set_axisbelow(True)
    panel.margins(x=0.01, y=0.12)
    panel.tick_params(colors=TEXT, labelsize=9)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
