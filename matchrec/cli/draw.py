"""The picture of the demo: prices as lines, and every V that was found drawn over them."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matchrec.charts.plot import INK, MATCH, check_matplotlib, draw_line, style
from matchrec.charts.series import MatchSpan, Series

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes

__all__ = ["Prices", "check_matplotlib", "draw"]

LABEL_WIDTH = timedelta(days=120)
Prices = tuple[list[date], list[float]]


def draw(prices: Mapping[str, Prices], matches: Iterable[Any], path: Path) -> None:
    """One panel for each share; writes a PNG or SVG, as the name of `path` says.

    matches: rows with ticker, top_date, back_date, bottom_date, bottom, fall_percent.
    """
    from matplotlib.figure import Figure

    found = sorted(matches, key=lambda match: match.bottom_date)
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    figure.suptitle(
        "Falls of at least three days that were won back day after day", color=INK, fontsize=15
    )
    panels = figure.subplots(2, (len(prices) + 1) // 2, sharex=True, squeeze=False).flat
    for panel, (ticker, line) in zip(panels, prices.items(), strict=False):
        draw_share(panel, ticker, line, [match for match in found if match.ticker == ticker])
    figure.savefig(path, dpi=130)


def draw_share(panel: Axes, ticker: str, prices: Prices, matches: Sequence[Any]) -> None:
    """The price of one share, its matches in colour, each with the depth of its fall."""
    spans = [MatchSpan(ticker, match.top_date, match.back_date) for match in matches]
    draw_line(panel, Series(*prices, [True] * len(prices[0])), spans)
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


def label_depths(matches: Sequence[Any]) -> list[int]:
    """How many lines lower each label stands, so that those of one season do not overlap."""
    depths: list[int] = []
    for before, match in zip([None, *matches], matches, strict=False):
        near = before is not None and match.bottom_date - before.bottom_date < LABEL_WIDTH
        depths.append(depths[-1] + 1 if near else 0)
    return depths
