"""Functions that kernels call by a pointer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from matchrec.jit.cached_function import describe_type
from matchrec.jit.callbacks import NO_CALLBACK, compile_for_c, make_callback, make_pointer
from matchrec.jit.decorators import kernel
from matchrec.jit.views import share_with_python


@kernel
def call_function(number: int, function: Any) -> int:
    """Call a function with a number, 2 and 3."""
    return int(function(number, 2, 3))


def weight_and_add(first: int, second: int, third: int) -> int:
    """Return a sum that tells its three arguments apart."""
    return first + 10 * second + 100 * third


@pytest.mark.parametrize("kind", [make_callback, make_pointer])
def test_a_kernel_calls_python_and_compiled_functions_alike(kind: Callable[..., Any]) -> None:
    assert call_function(1, kind(weight_and_add)) == 321


def test_a_compiled_function_is_found_again() -> None:
    assert compile_for_c(weight_and_add) is compile_for_c(weight_and_add)


def test_a_kernel_is_compiled_once_for_all_functions() -> None:
    assert (
        describe_type(make_pointer(weight_and_add))
        == describe_type(NO_CALLBACK)
        == describe_type(make_callback(weight_and_add))
    )


def test_machine_code_and_python_get_functions_of_their_own() -> None:
    pointer = make_callback(lambda *_: 5, compiled=lambda: make_pointer(weight_and_add))
    assert pointer(1, 2, 3) == 5
    assert share_with_python(pointer)(1, 2, 3) == 5
    assert not isinstance(share_with_python(pointer), type(pointer)), "it calls the function itself"
    assert call_function(1, pointer) == 321
