"""All functions that Python computes, by the names by which expressions call them."""

from __future__ import annotations

from collections.abc import Mapping

from matchrec.conditions.functions.arrays import ARRAYS
from matchrec.conditions.functions.casts import CASTS
from matchrec.conditions.functions.comparisons import COMPARISONS
from matchrec.conditions.functions.decimals import DECIMALS
from matchrec.conditions.functions.digests import DIGESTS
from matchrec.conditions.functions.function import Function
from matchrec.conditions.functions.like import LIKES
from matchrec.conditions.functions.numbers import NUMBERS
from matchrec.conditions.functions.patterns import PATTERNS
from matchrec.conditions.functions.spans import SPAN_ARITHMETIC
from matchrec.conditions.functions.strings import STRINGS
from matchrec.conditions.functions.time_parts import TIME_PARTS
from matchrec.conditions.functions.time_shifts import TIME_SHIFTS
from matchrec.conditions.functions.times import DISTANCES

FUNCTIONS: Mapping[str, Function] = {
    **COMPARISONS,
    **CASTS,
    **DECIMALS,
    **NUMBERS,
    **STRINGS,
    **DIGESTS,
    **LIKES,
    **PATTERNS,
    **DISTANCES,
    **TIME_PARTS,
    **TIME_SHIFTS,
    **SPAN_ARITHMETIC,
    **ARRAYS,
}
