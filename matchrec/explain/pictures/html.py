"""Pieces of HTML that notebooks show: tables, texts, what is folded away."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows as pandas shows them, but whole.

    >>> table(["events"], [["3"]]).count("<td")
    1
    """
    import pandas as pd

    with pd.option_context("display.max_colwidth", None):
        return wide(data_frame(names, rows).to_html(index=False, border=0))


def data_frame(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> pd.DataFrame:
    """Rows as a DataFrame of pandas, which is loaded for those who ask for one."""
    import pandas as pd

    found: pd.DataFrame = pd.DataFrame(list(rows), columns=list(names))
    return found


def wide(inner: str) -> str:
    """What may be wider than the page, with a bar to move it."""
    return f'<div style="overflow-x:auto">{inner}</div>'


def folded(title: str, inner: str) -> str:
    """What is shown once its title is pressed."""
    return f"<details><summary>{escape(title)}</summary>{inner}</details>"


def preformatted(text: str) -> str:
    """Text as a terminal shows it, also on pages whose own style gives `pre` another font."""
    style = "font-family:monospace;line-height:1.3;overflow-x:auto"
    return f'<pre style="{style}">{escape(text)}</pre>'


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"
