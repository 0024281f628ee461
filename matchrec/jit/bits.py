"""A float as the 64 bits that hold it, and back: no function, as numba's own would be.

Source: numba's manual, "Implementing intrinsics".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from matchrec.jit.kept import KernelPart

_F = TypeVar("_F", bound=Callable[..., object])


class SameBits(KernelPart):
    """A function that kernels call, for which a value's bits are those of another type."""

    @property
    def dispatcher(self) -> Any:
        if self._dispatcher is None:
            from numba import types
            from numba.extending import intrinsic

            given, found = (getattr(types, name) for name in self.options["types"])

            def cast(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
                return builder.bitcast(values[0], context.get_value_type(found))

            self._dispatcher = intrinsic(lambda _context, _value: (found(given), cast))
        return self._dispatcher


def _casting(given: str, found: str) -> Callable[[_F], _F]:
    return lambda own: SameBits(own, {"types": (given, found)})  # type: ignore[return-value]


@_casting("int64", "float64")
def float_of(bits: int) -> float:
    return float(np.int64(bits).view(np.float64))


@_casting("float64", "int64")
def bits_of(value: float) -> int:
    return int(np.float64(value).view(np.int64))
