"""Figures of matplotlib, which is loaded for those who draw; a notebook shows them below a text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING

from matchrec.errors import MatchRecognizeError
from matchrec.errors import calls as errors
from matchrec.explain.pictures.html import preformatted, wide

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, FAINT, BESIDE = "#2b2f36", "#9aa5b5", "#e08a1e"
MATCHED, GIVEN_BACK, MISSED = "#5a9e6f", "#9fd0b3", "#c8102e"
CAME = "#7a9cc6"
CHARACTER = 0.085  # inches of a small letter
DPI = 100


def check_matplotlib() -> None:
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise errors.no_matplotlib()


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of a size in inches. Raises where matplotlib is not installed."""
    check_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def written(draw: Callable[[], Figure], form: str) -> bytes:
    """What is drawn, as a file. The texts of an SVG are texts: none between `$` is a formula."""
    check_matplotlib()
    from matplotlib import rc_context

    content = BytesIO()
    with rc_context({"svg.fonttype": "none", "text.parse_math": False}):
        draw().savefig(content, format=form, dpi=DPI, bbox_inches="tight")
    return content.getvalue()


class Pictured(ABC):
    """What prints as text; a notebook shows its picture too, where it has one."""

    @property
    @abstractmethod
    def text(self) -> str:
        """What it says."""

    @abstractmethod
    def svg(self) -> str:
        """Its picture."""

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        try:
            picture = self.svg()
        except MatchRecognizeError:  # no matplotlib, or nothing that has a place on a line
            return preformatted(self.text)
        return preformatted(self.text) + wide(picture[picture.index("<svg") :])
