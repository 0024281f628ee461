"""Rounding that compiled code cannot be certain of."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from math import isfinite

from matchrec.conditions.functions.function import Compute, Function, FunctionUse, gives
from matchrec.conditions.types import DOUBLE

_EXACT = Context(prec=800)


def rounding(mode: str) -> Function:
    """ROUND and BROUND of a float, which is rounded as the decimal that it is written as."""

    def build(use: FunctionUse) -> Compute:
        unit = Decimal(1).scaleb(-int(use.words[0]))

        def compute(value: float) -> float:
            if not isfinite(value):
                return value
            return float(Decimal(repr(value)).quantize(unit, mode, _EXACT))

        return compute

    return Function((DOUBLE,), gives(DOUBLE), build)


NUMBERS: Mapping[str, Function] = {
    "ROUND": rounding(ROUND_HALF_UP),
    "BROUND": rounding(ROUND_HALF_EVEN),
}
