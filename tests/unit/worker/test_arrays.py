"""Ranks of values, also of repeated ones; arrays that share memory; no use of pandas."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from matchrec.worker.arrays import find_valid, make_array, read_floats, read_integers
from matchrec.worker.encode import encode_for_conditions
from matchrec.worker.sort_keys import rank_repeated_values, rank_values

VALUES = {
    pa.string(): ["b", None, "", "a", "\U0001f600", "\uffff", "b", "é"],
    pa.binary(): [b"b", b"", None, b"\xff", b"a", b"b"],
    pa.decimal128(38, 1): [Decimal("1e30"), None, Decimal("-1.5"), Decimal(0), Decimal("-1.5")],
}


@pytest.mark.parametrize("kind", VALUES, ids=str)
@pytest.mark.parametrize("ranks", [rank_values, rank_repeated_values])
def test_equal_values_have_one_rank(
    kind: pa.DataType, ranks: Callable[[pa.Array], pa.Array]
) -> None:
    """Texts are in the order of their UTF-8 bytes."""
    values = VALUES[kind]

    def find_bytes(value: object) -> object:
        """Return the bytes of a text; any other value unchanged."""
        return value.encode() if isinstance(value, str) else value

    distinct = sorted({find_bytes(value) for value in values if value is not None})  # type: ignore[type-var]
    expected = [
        None if value is None else distinct.index(find_bytes(value)) + 1 for value in values
    ]
    assert ranks(pa.array(values, kind)).to_pylist() == expected
    assert ranks(pa.array([None, None], kind)).to_pylist() == [None, None]
    assert ranks(pa.array([], kind)).to_pylist() == []


@pytest.mark.parametrize("kind", ["int8", "int32", "int64", "float32", "float64", "bool"])
@pytest.mark.parametrize("slice_of", [(0, 9), (3, 5), (9, 0)])
def test_a_part_of_an_array_is_read_and_made(kind: str, slice_of: tuple[int, int]) -> None:
    """Arrow's own conversions say what is right; values that are NULL are 0."""
    first, length = slice_of
    numbers = np.arange(9).astype(kind)
    is_null = np.arange(9) % 4 == 1
    expected = pa.array(numbers, mask=is_null)
    made = make_array(numbers, is_null)
    made.validate(full=True)
    assert made.equals(expected)
    part = made.slice(first, length)
    read = read_floats(part) if kind.startswith("float") else read_integers(part)
    assert read.tolist() == np.where(is_null, 0, numbers)[first : first + length].tolist()
    assert find_valid(part).tolist() == (~is_null)[first : first + length].tolist()


def test_pandas_is_not_loaded() -> None:
    """Loading it would take a new worker longer than all the rest of Arrow."""
    program = """
import sys, numpy as np
from matchrec.worker.arrays import find_valid, make_array, read_integers
made = make_array(np.arange(3), np.arange(3) == 1)
read_integers(made), find_valid(made), read_integers(made.take(make_array(np.arange(2))))
assert "pandas" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.month_day_nano_interval(), (1, 2, 3)),
        (pa.string(), "a"),
        (pa.struct([("value", pa.binary())]), {"value": b"1"}),
    ],
    ids=str,
)
def test_values_without_numbers_become_zeros(kind: pa.DataType, value: object) -> None:
    values = pa.array([value, None], kind)
    assert encode_for_conditions(values).tolist() == [0, 0]
    assert find_valid(values).tolist() == [True, False]
