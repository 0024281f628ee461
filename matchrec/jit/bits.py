"""A float as the 64 bits that hold it, and back."""

import numpy as np

from matchrec.jit.decorators import inlined


@inlined
def float_of(bits: int) -> float:
    """The float held as these bits."""
    return float(np.int64(bits).view(np.float64))


@inlined
def bits_of(value: float) -> int:
    """The bits that hold a float."""
    return int(np.float64(value).view(np.int64))
