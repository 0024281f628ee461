"""All functions that Python computes, by the names by which expressions call them."""

from __future__ import annotations

from collections.abc import Mapping

from matchrec.conditions.functions.arrays import ARRAYS
from matchrec.conditions.functions.casts import CASTS
from matchrec.conditions.functions.comparisons import COMPARISONS
from matchrec.conditions.functions.function import Function
from matchrec.conditions.functions.lambdas import LAMBDAS
from matchrec.conditions.functions.numbers import NUMBERS
from matchrec.conditions.functions.numerals import DECIMALS
from matchrec.conditions.functions.structs_and_maps import STRUCTS_AND_MAPS
from matchrec.conditions.functions.texts.like import LIKES
from matchrec.conditions.functions.texts.patterns import PATTERNS
from matchrec.conditions.functions.texts.strings import STRINGS
from matchrec.conditions.functions.times.distances import DISTANCES
from matchrec.conditions.functions.times.parts import SPAN_ARITHMETIC, TIME_PARTS
from matchrec.conditions.functions.times.shifts import TIME_SHIFTS

FUNCTIONS: Mapping[str, Function] = {
    **COMPARISONS,
    **CASTS,
    **DECIMALS,
    **NUMBERS,
    **STRINGS,
    **LIKES,
    **PATTERNS,
    **DISTANCES,
    **TIME_PARTS,
    **TIME_SHIFTS,
    **SPAN_ARITHMETIC,
    **ARRAYS,
    **STRUCTS_AND_MAPS,
    **LAMBDAS,
}
