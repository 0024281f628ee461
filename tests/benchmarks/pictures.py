"""Pictures as SVG that are the same for the same figures, and readable on a light or dark page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

# The colours of our pictures and what each becomes on a dark page. Other colours are readable on
# both.
DARK = {
    "#2b2f36": "#e6edf3",  # text
    "#000000": "#c9d1d9",  # axes
    "#2f8f57": "#5fc98a",  # matches
    "#9aa5b5": "#8b98a9",  # rows without a match
    "#edf0f4": "#2d333b",  # rules
    "#c8102e": "#ff6b7a",  # failures
    "#fbe9ec": "#4b2027",  # the inside of a box with what must not follow
    "#d5ebdb": "#1f3b29",  # the band behind a match
    "#4477aa": "#6ea8e0",
    "#228833": "#4cc26a",
    "#1f77b4": "#6ea8e0",
    "#2ca02c": "#4cc26a",
    "#6e7781": "#9da7b3",
    "#5b6676": "#9da7b3",  # the lines of a row pattern
    "#eef3fa": "#22304a",  # its boxes
    "#f4f1e8": "#3a3526",  # its boxes for ^ and $
}


def new_figure(**size: Any) -> Figure:
    """Return a figure with small text that stays text."""
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "matchrec", "font.size": 8})
    return Figure(layout="constrained", **size)


def save(figure: Figure, path: Path) -> None:
    """Write a figure as SVG for light and dark pages."""
    drawn = StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(for_both_schemes(drawn.getvalue()), encoding="utf-8")


def for_both_schemes(text: str) -> str:
    """Return an SVG with no ground, other colours on a dark page, and two decimals at most.

    >>> print(for_both_schemes('<svg><path style="fill: #ffffff; stroke: #000000"/></svg>'))
    <svg><path style="fill: none; stroke: #000000"/><style>@media (prefers-color-scheme: dark) {
    text:not([style*="fill:"]) { fill: #e6edf3 }
    [style*="stroke: #000000"] { stroke: #c9d1d9 !important }
    }</style></svg>
    """
    text = re.sub("<[^>]*>", lambda tag: round_numbers(tag[0]), text)
    text = re.sub(r"\s*<dc:date>.*?</dc:date>", "", text)
    text = text.replace("fill: #ffffff", "fill: none").replace("background-color: #ffffff; ", "")
    rules = "\n".join([*rules_for_styles(text), *rules_for_classes(text)])
    style = f"<style>@media (prefers-color-scheme: dark) {{\n{rules}\n}}</style>"
    before, end, after = text.rpartition("</svg>")
    return f"{before}{style}{end}{after}"


def round_numbers(tag: str) -> str:
    """Return a tag of an SVG with two decimals at most. Texts keep their numbers.

    >>> round_numbers('<path d="M 1.2345 2"/>')
    '<path d="M 1.23 2"/>'
    """
    return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", tag)


def rules_for_styles(text: str) -> Iterator[str]:
    """Yield the CSS rules for a dark page that override the `style` attributes of matplotlib."""
    if 'style="' in text:
        yield 'text:not([style*="fill:"]) { fill: #e6edf3 }'
    for light, dark in DARK.items():
        for what in ("fill", "stroke"):
            if re.search(rf'style="[^"]*{what}: {light}', text):
                yield f'[style*="{what}: {light}"] {{ {what}: {dark} !important }}'


def rules_for_classes(text: str) -> Iterator[str]:
    """Yield the CSS rules of a row pattern with the colours for a dark page."""
    for rule in re.findall(r"^svg\.railroad-diagram .*\}$", text, re.M):
        dark = re.sub("#[0-9a-f]{6}", lambda colour: DARK[colour[0]], rule)
        if dark != rule:
            yield dark
