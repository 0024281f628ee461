"""Pieces of HTML that notebooks show: tables, texts, what is folded away."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

CELL = "padding:2px 10px;border-bottom:1px solid #d5dae2;white-space:pre"


def table(names: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> str:
    """Rows as a table; numbers to the right. No names, no header.

    >>> table([], [["events", "3"]], [False, True]).count("<td")
    2
    """
    aligned = [f"{CELL};text-align:{'right' if right else 'left'}" for right in numeric]
    head = "".join(cells("th", names, aligned)) if names else ""
    body = "".join(f"<tr>{''.join(cells('td', row, aligned))}</tr>" for row in rows)
    heads = f"<thead><tr>{head}</tr></thead>" if head else ""
    return wide(f'<table style="border-collapse:collapse">{heads}<tbody>{body}</tbody></table>')


def cells(tag: str, values: Sequence[str], styles: Sequence[str]) -> list[str]:
    return [
        f'<{tag} style="{style}">{escape(value)}</{tag}>'
        for value, style in zip(values, styles, strict=True)
    ]


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
