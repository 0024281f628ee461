"""Errors in calls from a kernel to Python: the kernel itself lets none of them through."""

from __future__ import annotations

import pytest

from matchrec.conditions.evaluate.instructions import FUNCTION_FAILED, OVERFLOW, VALUE
from matchrec.conditions.evaluate.python_calls import PythonCalls
from matchrec.conditions.functions.function import FunctionError


class Calls(PythonCalls):
    """Calls that end in what they are given."""

    def __init__(self) -> None:
        self.failure = None
        self.ends: list[BaseException | None] = []

    def compute(self, *_: int) -> int:
        """Compute the result of a call."""
        if (end := self.ends.pop(0)) is not None:
            raise end
        return VALUE

    append = compute


def test_ctrl_c_in_a_function_ends_the_search() -> None:
    calls = Calls()
    calls.ends = [KeyboardInterrupt()]
    assert calls.answer(0, 0, 0) == FUNCTION_FAILED
    with pytest.raises(KeyboardInterrupt):
        calls.get_failure()


def test_ctrl_c_while_a_row_is_kept_ends_it_with_the_next_function() -> None:
    calls = Calls()
    calls.ends = [KeyboardInterrupt(), None]
    assert calls.answer(-1, 7, 0) == 7
    assert calls.answer(0, 0, 0) == FUNCTION_FAILED
    with pytest.raises(KeyboardInterrupt):
        calls.get_failure()


def test_an_error_of_a_function_ends_one_call() -> None:
    calls = Calls()
    calls.ends = [FunctionError("no"), OverflowError(), None]
    assert [calls.answer(0, 0, 0) for _ in range(3)] == [FUNCTION_FAILED, OVERFLOW, VALUE]
