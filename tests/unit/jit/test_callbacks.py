"""Functions that kernels call by a pointer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from matchrec.jit.callbacks import callback, pointer_to
from matchrec.jit.decorators import kernel


@kernel
def added(one: int, function: Any) -> int:
    return int(function(one, 2, 3))


def weighted(one: int, two: int, three: int) -> int:
    return one + 10 * two + 100 * three


@pytest.mark.parametrize("kind", [callback, pointer_to])
def test_a_kernel_calls_python_and_compiled_functions_alike(kind: Callable[..., Any]) -> None:
    assert added(1, kind(weighted)) == 321


def test_a_compiled_function_is_found_again() -> None:
    assert pointer_to(weighted) is pointer_to(weighted)
