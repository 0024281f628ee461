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

# Colours. In all pictures, a match is green and a failure is red.

# Texts.
TEXT_COLOUR = "#2b2f36"
# Things in the background.
FAINT_COLOUR = "#9aa5b5"
# False alarms and other special cases.
ACCENT_COLOUR = "#e08a1e"
# Matches, and rows that are mapped.
MATCH_COLOUR = "#2f8f57"
# The band around a match.
MATCH_BAND_COLOUR = "#d5ebdb"
# Failed conditions and missed incidents; parts of a row pattern that must not occur.
FAILURE_COLOUR = "#c8102e"
# The inside of boxes whose border has `FAILURE_COLOUR`.
FAILURE_FILL_COLOUR = "#fbe9ec"
# The bars of `coverage` for starting rows that reached a variable.
REACHED_COLOUR = "#7a9cc6"

# The width of a small letter, in inches.
CHARACTER_WIDTH = 0.085

POINTS_PER_INCH = 72

# The margin around a picture of texts, in inches. The program that shows an SVG chooses its fonts,
# which may be wider than those that matplotlib has measured.
MARGIN = 0.15

# The resolution of pictures that consist of pixels, such as PNG.
DOTS_PER_INCH = 100

# Fonts with Chinese, Japanese and Korean letters, which the font of matplotlib lacks.
FALLBACK_FONTS = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "WenQuanYi Micro Hei",
    "Hiragino Sans",
    "PingFang SC",
    "Yu Gothic",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Arial Unicode MS",
)

# An argument with the path of a picture file.
PATH_ARGUMENT = ArgumentKind("a path", lambda value: isinstance(value, str | Path))

# The endings of picture files, one for each format.
PICTURE_ENDINGS = (".png", ".svg", ".pdf")


def check_matplotlib() -> None:
    """Check that matplotlib is installed, without loading it.

    Raises:
        MatchRecognizeError: matplotlib is not installed.
    """
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise errors.missing_matplotlib()


def make_figure(width: float, height: float) -> Figure:
    """Return an empty figure.

    Args:
        width: the width in inches.
        height: the height in inches.

    Raises:
        MatchRecognizeError: matplotlib is not installed.
    """
    check_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def fit_figure_to_content(figure: Figure) -> None:
    """Resize a figure so that all its content is visible, with a margin around the content.

    The panels keep their sizes in inches. The layout engine is switched off, because it would move
    the panels when the figure is drawn.
    """
    figure.set_layout_engine("none")
    old_boxes = [(panel, panel.get_position()) for panel in figure.axes]  # in shares of the figure
    old_width, old_height = figure.get_size_inches()
    content = figure.get_tightbbox()  # in inches
    width = content.width + 2 * MARGIN
    height = content.height + 2 * MARGIN
    figure.set_size_inches(width, height)
    for panel, old_box in old_boxes:
        left = (old_box.x0 * old_width - content.x0 + MARGIN) / width
        bottom = (old_box.y0 * old_height - content.y0 + MARGIN) / height
        panel_width = old_box.width * old_width / width
        panel_height = old_box.height * old_height / height
        panel.set_position((left, bottom, panel_width, panel_height))


@contextmanager
def keep_texts() -> Iterator[None]:
    """Let matplotlib draw texts literally: `$` begins no formula, and an SVG contains the texts.

    The fonts include the fonts of this machine that have Chinese, Japanese and Korean letters.

    matplotlib reads `text.parse_math` and `font.family` when a text is made, and `svg.fonttype`
    when the file is written. So both must happen inside the `with` block.
    """
    from matplotlib import rc_context

    fonts = ["DejaVu Sans", *find_fallback_fonts()]
    with rc_context({"svg.fonttype": "none", "text.parse_math": False, "font.family": fonts}):
        yield


@cache
def find_fallback_fonts() -> tuple[str, ...]:
    """Return the fonts of this machine for letters that the font of matplotlib lacks."""
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return tuple(font for font in FALLBACK_FONTS if font in installed)


def render_picture(draw: Callable[[], Figure], file_format: str) -> bytes:
    """Draw a picture and return the content of its file.

    Args:
        draw: makes the figure. It is called inside `keep_texts`, which must be active when texts
            are made.
        file_format: the format of the file, such as "svg" or "png".

    Raises:
        MatchRecognizeError: matplotlib is not installed, or `draw` raises the error because there
            is nothing to draw.
    """
    check_matplotlib()
    content = BytesIO()
    with keep_texts(), warnings.catch_warnings():
        if file_format == "svg":
            # The program that shows the texts chooses their fonts.
            warnings.filterwarnings("ignore", r"Glyph .* missing from", UserWarning)
        figure = draw()
        figure.savefig(content, format=file_format, dpi=DOTS_PER_INCH)
    return content.getvalue()


def check_picture_format(file: Path) -> None:
    """Check that the ending of a file name is one of `PICTURE_ENDINGS`.

    Raises:
        MatchRecognizeError: the file name has another ending.
    """
    if file.suffix.lower() not in PICTURE_ENDINGS:
        raise unknown_format(path=str(file), endings=PICTURE_ENDINGS, is_written=True)


class PicturedText(ABC):
    """An object that prints as text. A notebook also shows its picture, if it has one."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The text that `print` shows."""

    @abstractmethod
    def svg(self) -> str:
        """Return the picture as an SVG.

        Raises:
            MatchRecognizeError: matplotlib is not installed, or the picture cannot be drawn.
        """

    @abstractmethod
    def figure(self) -> Figure:
        """Return the picture as a figure of matplotlib.

        Raises:
            MatchRecognizeError: matplotlib is not installed, or the picture cannot be drawn.
        """

    @check_arguments(path=PATH_ARGUMENT)
    def save(self, path: str | Path) -> None:
        """Write the picture to a file. The ending of its name chooses PNG, SVG or PDF.

        Raises:
            MatchRecognizeError: the name has another ending, matplotlib is not installed, or the
                picture cannot be drawn.
            OSError: the file cannot be written.

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
        file.write_bytes(render_picture(self.figure, file.suffix.lower().lstrip(".")))

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    def _repr_html_(self) -> str:
        """Return the text as HTML, and below the text the picture if it can be drawn."""
        try:
            picture = self.svg()
        except MatchRecognizeError:  # an error of the picture must not hide the text
            return write_preformatted(self.text)
        return write_preformatted(self.text) + wrap_in_scroll_block(
            picture[picture.index("<svg") :]
        )
