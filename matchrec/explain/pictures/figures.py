"""Figures of matplotlib, and objects that a notebook shows as text and picture.

matplotlib is loaded only when something is drawn.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from matchrec.arguments import ArgumentKind, check_arguments
from matchrec.errors import MatchRecognizeError
from matchrec.errors import machine as errors
from matchrec.errors.tables import unknown_format
from matchrec.explain.pictures.html import wrap_in_scroll_block, write_preformatted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The colours. In all pictures a match is green and a failure is red.
# Of text; of what is in the background; of false alarms and other special cases.
INK, FAINT, ACCENT = "#2b2f36", "#9aa5b5", "#e08a1e"

# Of a match and of rows that are mapped; of the band around a match.
MATCHED, MATCH_BAND = "#2f8f57", "#d5ebdb"

# Of what failed, or must not be there; of the inside of a box with such a thing.
MISSED, MISSED_BAND = "#c8102e", "#fbe9ec"

# The colour of starting rows without a match, by how far they came.
REACHED = "#7a9cc6"

# The width of a small letter, in inches.
CHARACTER = 0.085

POINTS_PER_INCH = 72

# The margin around a picture of texts, in inches. The program that shows an SVG chooses its fonts,
# which may be wider than those that matplotlib has measured.
MARGIN = 0.15

DPI = 100


def check_matplotlib() -> None:
    """Check that matplotlib is installed, without loading it.

    Raises:
        MatchRecognizeError: it is not.
    """
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise errors.missing_matplotlib()


def make_figure(width: float, height: float) -> Figure:
    """Return an empty figure.

    Args:
        width: its width in inches.
        height: its height in inches.

    Raises:
        MatchRecognizeError: matplotlib is not installed.
    """
    check_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def fit_figure_to_content(figure: Figure) -> None:
    """Make a figure so large that all its content is visible, with a margin around it.

    The panels keep their sizes in inches. The figure has no layout engine, which would move them.
    """
    panels = [(panel, panel.get_position()) for panel in figure.axes]
    old_width, old_height = figure.get_size_inches()
    content = figure.get_tightbbox()  # in inches
    width, height = content.width + 2 * MARGIN, content.height + 2 * MARGIN
    figure.set_size_inches(width, height)
    for panel, box in panels:
        left = (box.x0 * old_width - content.x0 + MARGIN) / width
        bottom = (box.y0 * old_height - content.y0 + MARGIN) / height
        size = (box.width * old_width / width, box.height * old_height / height)
        panel.set_position((left, bottom, *size))


@contextmanager
def keep_texts() -> Iterator[None]:
    """Draw texts as they are: what is between two `$` is no formula, and an SVG contains texts.

    matplotlib reads the first setting when it makes a text, the second when it writes a file.
    """
    from matplotlib import rc_context

    fonts = ["DejaVu Sans", *find_fallback_fonts()]
    with rc_context({"svg.fonttype": "none", "text.parse_math": False, "font.family": fonts}):
        yield


# Fonts with Chinese, Japanese and Korean letters, which the font of matplotlib lacks.
_FALLBACK_FONTS = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "WenQuanYi Micro Hei", "Hiragino Sans"),
    *("PingFang SC", "Yu Gothic", "Microsoft YaHei", "Malgun Gothic", "Arial Unicode MS"),
)


@cache
def find_fallback_fonts() -> tuple[str, ...]:
    """Return the fonts of this machine for letters that the font of matplotlib lacks."""
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return tuple(font for font in _FALLBACK_FONTS if font in installed)


def render(draw: Callable[[], Figure], form: str) -> bytes:
    """Return a drawing as the content of a file. `keep_texts` applies to its texts.

    Args:
        draw: returns the figure.
        form: the format, such as "svg" or "png".

    Raises:
        MatchRecognizeError: matplotlib is not installed.
    """
    check_matplotlib()
    content = BytesIO()
    with keep_texts(), warnings.catch_warnings():
        if form == "svg":
            # The program that shows the texts chooses their fonts.
            warnings.filterwarnings("ignore", r"Glyph .* missing from", UserWarning)
        figure = draw()
        figure.savefig(content, format=form, dpi=DPI)
    return content.getvalue()


# The argument with the path of a picture.
PATH = ArgumentKind("a path", lambda value: isinstance(value, str | Path))


FORMATS = (".png", ".svg", ".pdf")


def check_picture_format(file: Path) -> None:
    """Check that the ending of a file name chooses a format of pictures.

    Raises:
        MatchRecognizeError: it does not.
    """
    if file.suffix.lower() not in FORMATS:
        raise unknown_format(path=str(file), endings=FORMATS, is_written=True)


class PicturedText(ABC):
    """An object that prints as text. A notebook also shows its picture, if it has one."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The text that `print` shows."""

    @abstractmethod
    def svg(self) -> str:
        """Return the picture as an SVG."""

    @abstractmethod
    def figure(self) -> Figure:
        """Return the picture as a figure of matplotlib."""

    @check_arguments(path=PATH)
    def save(self, path: str | Path) -> None:
        """Write the picture to a file. The ending of its name chooses PNG, SVG or PDF.

        Needs matplotlib.

        Raises:
            MatchRecognizeError: the name has another ending.

        >>> clause = "ORDER BY id PATTERN (A+) DEFINE A AS id > :least"
        >>> counts = matchrec.sweep(spark.range(5), clause, {"least": [1, 3]})
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     counts.save(f"{folder}/counts.png")
        ...     os.listdir(folder)
        ['counts.png']
        """
        file = Path(path)
        check_picture_format(file)
        file.write_bytes(render(self.figure, file.suffix.lower().lstrip(".")))

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    def _repr_html_(self) -> str:
        """Return the text, and below it the picture if there is one."""
        try:
            picture = self.svg()
        except MatchRecognizeError:  # no matplotlib, or nothing that can be drawn along an axis
            return write_preformatted(self.text)
        return write_preformatted(self.text) + wrap_in_scroll_block(
            picture[picture.index("<svg") :]
        )
