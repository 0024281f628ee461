"""Convert a float to the 64 bits that hold it, and back, at no cost in compiled code.

The usual way in numba, the method `view`, calls a function.

Source: numba's manual, "Implementing intrinsics".
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeVar

from matchrec.jit.parts import KernelPart

_F = TypeVar("_F", bound=Callable[..., object])

# While Python runs a kernel, these functions are faster than methods of NumPy's scalars.
_FLOAT = struct.Struct("<d")
_BITS = struct.Struct("<q")
_pack_float, _unpack_float = _FLOAT.pack, _FLOAT.unpack
_pack_bits, _unpack_bits = _BITS.pack, _BITS.unpack


class BitCast(KernelPart):
    """A function that kernels call to read the bits of a value as another type.

    Its options have the names of both types, as numba names them: `{"types": (source, target)}`.
    """

    @property
    def dispatcher(self) -> Any:
        """Return numba's intrinsic for the cast."""
        if self._dispatcher is None:
            from numba import types
            from numba.extending import intrinsic

            source, target = (getattr(types, name) for name in self.options["types"])

            def cast(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
                """Generate the code of the cast."""
                return builder.bitcast(values[0], context.get_value_type(target))

            self._dispatcher = intrinsic(lambda _context, _value: (target(source), cast))
        return self._dispatcher


def _make_cast(source: str, target: str) -> Callable[[_F], _F]:
    """Return a decorator that makes a function a cast between two types, named as in numba."""
    options = {"types": (source, target)}
    return lambda function: BitCast(function, options)  # type: ignore[return-value]


@_make_cast("int64", "float64")
def bits_to_float(bits: int) -> float:
    """Return the float that some bits hold."""
    value: float = _unpack_float(_pack_bits(bits))[0]
    return value


@_make_cast("float64", "int64")
def float_to_bits(value: float) -> int:
    """Return the bits that hold a float."""
    bits: int = _unpack_bits(_pack_float(value))[0]
    return bits
