"""All functions that Python computes, by the names by which expressions call them."""

from __future__ import annotations

from collections.abc import Mapping

from matchrec.conditions.functions.comparisons import COMPARISONS
from matchrec.conditions.functions.decimals import DECIMALS
from matchrec.conditions.functions.function import Function
from matchrec.conditions.functions.numbers import NUMBERS
from matchrec.conditions.functions.strings import STRINGS

FUNCTIONS: Mapping[str, Function] = {**COMPARISONS, **DECIMALS, **NUMBERS, **STRINGS}
