"""Look up a text of an engine in a table whose keys are regular expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

TableValue = TypeVar("TableValue")


def find_matching_row(
    table: Mapping[str, TableValue], error_text: str
) -> tuple[re.Match[str], TableValue] | None:
    """Return the first row of a table whose regular expression is found in an error text.

    Args:
        table: a value for each regular expression.
        error_text: the text.

    Returns:
        The match in the text, and the value for its expression; None if no expression is found.

    >>> find_matching_row({"a": 1, "b+": 2}, "rubble")
    (<re.Match object; span=(2, 4), match='bb'>, 2)
    """
    for pattern, value in table.items():
        pattern_match = re.search(pattern, error_text)
        if pattern_match is not None:
            return pattern_match, value
    return None
