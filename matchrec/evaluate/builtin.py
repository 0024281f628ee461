"""What kernels do with single numbers: numba would compile a function for each.

In a kernel `int`, `min` and `max` are those here, which know integers and truth values only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite.ir import DoubleType, IntType
from numba.core import types
from numba.core.typing.templates import signature
from numba.extending import intrinsic

_intrinsic: Any = intrinsic  # its types do not know what it makes
_signature: Any = signature

Lowered = tuple[Any, Callable[..., Any]]


def _of_integers(args: tuple[types.Type, ...], lower: Callable[..., Any]) -> Lowered | None:
    """An operation on integers of 64 bits, which others and truth values are made first."""
    if not all(isinstance(one, types.Integer | types.Boolean) for one in args):
        return None
    return _signature(types.int64, *[types.int64] * len(args)), lower


@_intrinsic
def _int(_: Any, number: Any) -> Lowered | None:
    return _of_integers((number,), lambda _, __, ___, args: args[0])


@_intrinsic
def _min(_: Any, one: Any, other: Any) -> Lowered | None:
    return _of_integers((one, other), _less)


@_intrinsic
def _max(_: Any, one: Any, other: Any) -> Lowered | None:
    return _of_integers((one, other), _greater)


def _less(_: Any, builder: Any, __: Any, args: Any) -> Any:
    return builder.select(builder.icmp_signed("<", *args), *args)


def _greater(_: Any, builder: Any, __: Any, args: Any) -> Any:
    return builder.select(builder.icmp_signed(">", *args), *args)


@_intrinsic
def float_of(_: Any, __: Any) -> Lowered:
    """The float held as these bits."""
    return _signature(types.float64, types.int64), _as_float


@_intrinsic
def bits_of(_: Any, __: Any) -> Lowered:
    """The bits that hold a float."""
    return _signature(types.int64, types.float64), _as_bits


def _as_float(_: Any, builder: Any, __: Any, args: Any) -> Any:
    return builder.bitcast(args[0], DoubleType())


def _as_bits(_: Any, builder: Any, __: Any, args: Any) -> Any:
    return builder.bitcast(args[0], IntType(64))


_MEANT = {int: _int, min: _min, max: _max}


def meant(value: Any) -> Any:
    """What a value that is named in a kernel stands for there."""
    return next((ours for theirs, ours in _MEANT.items() if value is theirs), value)
