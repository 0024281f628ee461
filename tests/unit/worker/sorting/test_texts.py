"""Tests of texts as numbers: their order, and their dictionaries."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matchrec.search.kernels import sorting as sorting_kernels
from matchrec.search.kernels import texts as kernels
from matchrec.shortcuts import Shortcuts, use_shortcuts
from matchrec.worker.sorting import texts
from tests.quick.scale import examples

TYPES = [pa.binary(), pa.large_binary()]


@pytest.fixture
def _compiled_kernels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use the compiled kernels for any number of texts."""
    monkeypatch.setattr(kernels, "WORDS_PER_STEP", 1)
    monkeypatch.setattr(sorting_kernels, "WORDS_PER_STEP", 1)
    with use_shortcuts(Shortcuts(max_python_steps=0)):
        yield


def sort_by_numbers(values: list[bytes], data_type: pa.DataType) -> list[bytes]:
    """Return texts in the order of the numbers of `convert_texts`."""
    columns = texts.convert_texts(pa.array(values, data_type))
    rows = sorted(range(len(values)), key=lambda row: [numbers[row] for numbers in columns])
    return [values[row] for row in rows]


EXAMPLES = [
    [b"hot", b"", b"ho", b"hot\0", b"\xff\xff", b"hot", b"\0"],
    [b"1234567", b"123456\0", b"1234567", b"\xff" * 7],  # as long as short texts can be
    [b"12345678", b"abcdefgh", b"12345678", b"\xff" * 8],  # each text fills a number
    [b"12345678", b"1234567", b"123456789"],
    [b"the same eight bytes", b"the same", b"the same eight byteS", b""],
    [b"", b""],
]


@pytest.mark.usefixtures("_compiled_kernels")
@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("values", EXAMPLES)
def test_numbers_compare_as_the_texts_do(values: list[bytes], data_type: pa.DataType) -> None:
    assert sort_by_numbers(values, data_type) == sorted(values)


@pytest.mark.parametrize("values", EXAMPLES)
def test_numbers_without_kernels_compare_as_the_texts_do(values: list[bytes]) -> None:
    assert sort_by_numbers(values, pa.binary()) == sorted(values)


@pytest.mark.usefixtures("_compiled_kernels")
@settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(values=st.lists(st.binary(max_size=20), min_size=1, max_size=30), skipped=st.integers(0, 20))
def test_the_kernel_reads_the_same_bytes_as_numpy(values: list[bytes], skipped: int) -> None:
    content, borders = texts.view_texts(pa.array([b"more than eight", *values])[1:])
    numbers = kernels.read_text_bytes(content, borders, skipped)
    assert numbers is not None
    expected = [
        int.from_bytes(value[skipped : skipped + 8].ljust(8, b"\0")) - (1 << 63) for value in values
    ]
    assert numbers.tolist() == expected
    assert texts.read_text_bytes_with_numpy(content, borders, skipped).tolist() == expected


@pytest.mark.usefixtures("_compiled_kernels")
@pytest.mark.parametrize("data_type", [pa.string(), pa.large_string()])
@pytest.mark.parametrize(
    "values",
    [
        ["hot", "off", "hot", "", "idle", "off"],
        ["über", "uber", "über", "ü\0", "ü"],
        ["12345678", "abcdefgh", "12345678"],
        ["too long for a number", "short"],
        ["hot", None, "off", None],
    ],
)
def test_a_dictionary_equals_that_of_arrow(
    values: list[str | None], data_type: pa.DataType
) -> None:
    column = pa.array(["more", "texts", *values, "end"], data_type).slice(2, len(values))
    encoded = texts.encode_texts(column)
    encoded.validate(full=True)
    assert encoded.equals(column.dictionary_encode())


@pytest.mark.usefixtures("_compiled_kernels")
def test_thousands_of_texts_are_encoded_like_by_arrow() -> None:
    random = np.random.default_rng(7)
    column = pa.array([f"T{number}" for number in random.integers(0, 9_000, 50_000).tolist()])
    assert texts.encode_texts(column).equals(column.dictionary_encode())
