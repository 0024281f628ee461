"""`TextEdit`: characters of a query, and the text that replaces them."""

from __future__ import annotations

from typing import NamedTuple

from matchrec.source import Span


class TextEdit(NamedTuple):
    """Characters of a query, and the text that replaces them."""

    # Where the characters are in the whole query.
    span: Span
    # The text that replaces them.
    text: str
