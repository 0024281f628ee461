"""Errors in calls from a kernel to Python: the kernel itself lets none of them through."""

from __future__ import annotations

import pytest

from matchrec.conditions.evaluate.instructions import FUNCTION_FAILED, OVERFLOW, VALUE
from matchrec.conditions.evaluate.python_calls import PythonCalls
from matchrec.conditions.functions.function import FunctionError


class Calls(PythonCalls):
    """Calls whose errors a test chooses in advance."""

    def __init__(self) -> None:
        self.failure = None
        # The errors of the next calls; None for a call that returns VALUE.
        self.errors: list[BaseException | None] = []

    def compute(self, *_: int) -> int:
        """Raise the error of the next call, or return VALUE."""
        error = self.errors.pop(0)
        if error is not None:
            raise error
        return VALUE

    append = compute


def test_ctrl_c_in_a_function_ends_the_search() -> None:
    calls = Calls()
    calls.errors = [KeyboardInterrupt()]
    assert calls.answer(0, 0, 0) == FUNCTION_FAILED
    with pytest.raises(KeyboardInterrupt):
        calls.get_failure()


def test_ctrl_c_while_a_row_is_kept_ends_it_with_the_next_function() -> None:
    calls = Calls()
    calls.errors = [KeyboardInterrupt(), None]
    assert calls.answer(-1, 7, 0) == 7
    assert calls.answer(0, 0, 0) == FUNCTION_FAILED
    with pytest.raises(KeyboardInterrupt):
        calls.get_failure()


def test_an_error_of_a_function_ends_one_call() -> None:
    calls = Calls()
    calls.errors = [FunctionError("no"), OverflowError(), None]
    assert [calls.answer(0, 0, 0) for _ in range(3)] == [FUNCTION_FAILED, OVERFLOW, VALUE]
