"""Write the HTML that notebooks show: tables, texts, and blocks that can be unfolded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# The beginning of a cell in the HTML of a table of pandas.
CELL = re.compile("<t[hd](?=>)")

# The attribute of a cell that aligns its text to the left.
ALIGN_LEFT = ' style="text-align:left"'

# The text of a cell in a column of numbers: a number, NULL or nothing.
NUMBER = re.compile(r"-?[\d,]+(\.\d+)?(E-?\d+)?|NULL|NaN|-?Infinity|", re.IGNORECASE)


def build_html_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as HTML in the style of pandas. Long texts are not cut off.

    Numbers are aligned to the right, as notebooks align all cells, and other columns to the left.

    >>> build_html_table(["name", "rows"], [["a", "3"]]).count("text-align:left")
    2
    """
    import pandas as pd

    with pd.option_context("display.max_colwidth", None):
        html = make_data_frame(names, rows).to_html(index=False, border=0)
    attributes = [
        "" if all(NUMBER.fullmatch(row[column]) for row in rows) else ALIGN_LEFT
        for column in range(len(names))
    ]
    return wrap_in_scroll_block(add_cell_attributes(html, attributes))


def add_cell_attributes(html: str, attributes: Sequence[str]) -> str:
    """Return the HTML of a table with an attribute in each cell of each column.

    >>> html = "<tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr>"
    >>> add_cell_attributes(html, [" x", ""])
    '<tr><th x>a</th><th>b</th></tr><tr><td x>1</td><td>2</td></tr>'

    Args:
        html: the table.
        attributes: the attribute of each column, with a blank before it; "" for none.
    """
    pieces = []
    end_of_last_cell = 0
    # The cells of the header come first, then the cells of each row, from left to right.
    for index, cell in enumerate(CELL.finditer(html)):
        pieces += [html[end_of_last_cell : cell.end()], attributes[index % len(attributes)]]
        end_of_last_cell = cell.end()
    return "".join([*pieces, html[end_of_last_cell:]])


def make_data_frame(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> pd.DataFrame:
    """Return rows as a pandas DataFrame. pandas is loaded only here, because it is slow to load."""
    import pandas as pd

    frame: pd.DataFrame = pd.DataFrame(list(rows), columns=list(names))
    return frame


def wrap_in_scroll_block(inner: str) -> str:
    """Wrap HTML that can be wider than the page in a block with a scroll bar."""
    return f'<div style="overflow-x:auto">{inner}</div>'


def wrap_in_details(title: str, inner: str) -> str:
    """Wrap HTML in a block that shows only its title until one clicks on it."""
    return f"<details><summary>{escape(title)}</summary>{inner}</details>"


def write_preformatted(text: str) -> str:
    """Return text as HTML that keeps its line breaks and blanks, in a monospaced font.

    The font is set here, because the page's style can give `pre` another one.
    """
    style = "font-family:monospace;line-height:1.3;overflow-x:auto"
    return f'<pre style="{style}">{escape(text)}</pre>'


def write_paragraph(text: str) -> str:
    """Return text as a paragraph of HTML."""
    return f"<p>{escape(text)}</p>"
