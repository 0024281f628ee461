"""All functions that Python computes, by the names by which expressions call them."""

from __future__ import annotations

from collections.abc import Mapping

from matchrec.conditions.functions.comparisons import COMPARISONS
from matchrec.conditions.functions.function import Function
from matchrec.conditions.functions.strings import STRINGS

FUNCTIONS: Mapping[str, Function] = {**COMPARISONS, **STRINGS}
