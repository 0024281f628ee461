"""Functions that kernels call by a pointer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from matchrec.jit.callbacks import NO_CALLBACK, callback, compiled, pointer_to
from matchrec.jit.decorators import kernel
from matchrec.jit.kept import type_of


@kernel
def added(one: int, function: Any) -> int:
    return int(function(one, 2, 3))


def weighted(one: int, two: int, three: int) -> int:
    return one + 10 * two + 100 * three


@pytest.mark.parametrize("kind", [callback, pointer_to])
def test_a_kernel_calls_python_and_compiled_functions_alike(kind: Callable[..., Any]) -> None:
    assert added(1, kind(weighted)) == 321


def test_a_compiled_function_is_found_again() -> None:
    assert compiled(weighted) is compiled(weighted)


def test_a_kernel_is_compiled_once_for_all_functions() -> None:
    assert type_of(pointer_to(weighted)) == type_of(NO_CALLBACK) == type_of(callback(weighted))
