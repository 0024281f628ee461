"""How often functions of a kernel are compiled, where their code stands, and single numbers."""

from pathlib import Path

import numpy as np
import pytest
from numba.core.errors import TypingError

from matchrec.evaluate.builtin import bits_of, float_of
from matchrec.evaluate.cache import config
from matchrec.evaluate.jit import inlined, inner, kernel


@inner
def apart(number, factor):
    return number * factor


@inlined
def doubled(number):
    return apart(number, 2)


@kernel
def of_constants_and_others(number):
    factor = 1
    while factor < number:
        factor = apart(3, factor)
    return doubled(apart(5, 7) + factor)


@kernel
def least_and_greatest(one, other, holds):
    return 100 * min(one, other) + 10 * max(one, other) + int(holds)


@kernel
def greatest(one, other):
    return max(one, other)


@kernel
def halved(bits):
    return bits_of(float_of(bits) / 2)


def test_a_function_is_compiled_once_and_stays_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))  # where it has not been compiled yet
    assert of_constants_and_others(10) == 2 * (35 + 27)
    (compiled,) = apart.overloads.values()
    assert "noinline" in compiled.library.get_llvm_str()


def test_numbers() -> None:
    assert least_and_greatest(3, 2, True) == 231
    assert least_and_greatest(-1, 4, False) == -60
    assert halved(np.float64(5.0).view(np.int64)) == np.float64(2.5).view(np.int64)


def test_min_and_max_know_integers_only() -> None:
    with pytest.raises(TypingError):
        greatest(1.0, 2.0)
