"""Pictures as SVG that are the same for the same figures."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure


def new_figure(**size: Any) -> Figure:
    """A figure with small text that stays text."""
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "matchrec", "font.size": 8})
    return Figure(layout="constrained", **size)


def save(figure: Figure, path: Path) -> None:
    """Writes an SVG with numbers of two decimals at most."""
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    text = re.sub(r"\d+\.\d{3,}", lambda found: f"{float(found[0]):.2f}", drawn.getvalue())
    path.write_text(text, encoding="utf-8")
