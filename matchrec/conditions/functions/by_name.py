"""The functions that Python computes, loaded when a condition first asks: most call none."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matchrec.conditions.functions.function import Function


@cache
def functions() -> Mapping[str, Function]:
    """All functions, by the names by which expressions call them."""
    from matchrec.conditions.functions.catalogue import FUNCTIONS

    return FUNCTIONS
