"""Workers sort batches like Python's sort does: values of all types, with any budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from math import gcd
from threading import BoundedSemaphore, Lock
from time import sleep
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matchrec.search.kernels import sorting as kernels
from matchrec.search.partitions import WordArray
from matchrec.shortcuts import Shortcuts, use_shortcuts
from matchrec.worker import arrays, internal_names
from matchrec.worker.column_roles import SortColumn, Sorting
from matchrec.worker.sorting import budget as budgets
from matchrec.worker.sorting import codes as encoding
from matchrec.worker.sorting import hashed_keys, sort, spills
from matchrec.worker.sorting import words as packing
from matchrec.worker.sorting.order import find_order, sort_table
from matchrec.worker.sorting.sort import sort_batches
from matchrec.worker.sorting.texts import SAMPLE_ROWS
from tests.quick.scale import copies_of, examples
from tests.references.sorting import mark_first_rows, sort_rows
from tests.unit.worker.sorting.values import Rows, rows


@settings(max_examples=examples(160), deadline=None)
@given(case=rows(), most=st.integers(1, 40))
def test_rows_come_in_order(case: Rows, most: int) -> None:
    result = [*sort_batches(iter(case.batches), case.sorting, rows_per_batch=most)]
    check(case, result, most)


def check(case: Rows, result: list[pa.RecordBatch], most: int) -> None:
    """Check that the rows are complete, marked, and in the order of the reference.

    A batch of a single partition may have twice as many rows as a batch of several.
    """
    for batch in result:
        has_one_partition = not any(find_marks(batch)[1:])
        assert 0 < batch.num_rows <= (2 * most if has_one_partition else most)
    if not case.count:
        assert result == []
        return
    before = pa.Table.from_batches(case.batches)
    after = pa.Table.from_batches(result)
    expected = sort_rows(case.keys, case.order, case.count)
    assert after.column("row").to_pylist() == expected
    check_columns(before, after)
    marks = [6 + row for row in mark_first_rows(case.keys, expected)]
    assert after.column(internal_names.FIRST_BITS).to_pylist() == marks


def find_marks(batch: pa.RecordBatch | pa.Table) -> list[int]:
    """Return 1 for each row that begins a partition, and 0 for the others."""
    return [bits & 1 for bits in batch.column(internal_names.FIRST_BITS).to_pylist()]


def check_columns(before: pa.Table, after: pa.Table) -> None:
    """Check that the values of each row are still together."""
    assert after.schema == before.schema
    moved = before.take(after.column("row"))
    for name in set(before.column_names) - {internal_names.FIRST_BITS}:
        assert make_comparable(after.column(name)).equals(make_comparable(moved.column(name)))


def make_comparable(values: pa.ChunkedArray) -> pa.Array:
    """Return values to compare, where NaN equals NaN and -0.0 differs from 0.0."""
    array = values.combine_chunks()
    if not pa.types.is_floating(array.type):
        return array
    return array.view(pa.int32() if pa.types.is_float32(array.type) else pa.int64())


@settings(max_examples=examples(48), deadline=None)
@given(case=rows(), budget=st.integers(0, 2000), at_once=st.integers(2, 4))
def test_rows_come_in_order_through_files(case: Rows, budget: int, at_once: int) -> None:
    with patch.object(spills, "SPILLS_PER_MERGE", at_once):
        result = [*sort_batches(iter(case.batches), case.sorting, 16, budget)]
    check(case, result, 16)


@settings(max_examples=examples(8), deadline=None)
@given(case=rows().filter(lambda case: case.count), budget=st.sampled_from([2000, 50_000]))
def test_thousands_of_rows_come_in_order_through_many_files(case: Rows, budget: int) -> None:
    """The second size of the test: see `tests/tasks/copies.py`."""
    copied = case.times(copies_of(case.count))
    result = [*sort_batches(iter(copied.batches), copied.sorting, 128, budget)]
    check(copied, result, 128)


@pytest.fixture
def _compiled_sort(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use the compiled sort for any number of words, as on a processor on which NumPy is slow."""
    monkeypatch.setattr(packing, "is_numpy_slow", lambda: True)
    monkeypatch.setattr(packing, "MIN_WORDS_FOR_RADIX", 1)
    monkeypatch.setattr(kernels, "WORDS_PER_STEP", 1)
    monkeypatch.setattr(kernels, "WORDS_PER_CHEAP_STEP", 1)
    monkeypatch.setattr(kernels, "MIN_WORDS", 1)
    with use_shortcuts(Shortcuts(max_python_steps=0)):
        yield


@pytest.mark.usefixtures("_compiled_sort")
@settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(case=rows(), copies=st.sampled_from([1, 40]))
def test_the_compiled_sort_brings_the_same_order(case: Rows, copies: int) -> None:
    if not case.count:
        return
    copied = case.times(copies)
    result = pa.Table.from_batches(sort_batches(iter(copied.batches), copied.sorting, 1 << 18))
    check_columns(pa.Table.from_batches(copied.batches), result)
    expected = sort_rows(copied.keys, copied.order, copied.count)
    marks = find_marks(result)
    assert split_partitions(result.column("row").to_pylist(), marks) == split_partitions(
        expected, mark_first_rows(copied.keys, expected)
    )


@pytest.mark.parametrize("count", [3, 2 * SAMPLE_ROWS + 1])
@pytest.mark.parametrize("first", [0, 1, SAMPLE_ROWS, SAMPLE_ROWS + 1, -1])
def test_a_row_out_of_order_is_found_in_any_block(count: int, first: int) -> None:
    """Rows are in order but for one, which comes at position `first` and is the first in order."""
    position = first % count
    values = np.arange(count)
    values[position] = -1
    table = pa.table({"t": values})
    order = find_order(table, Sorting((), (SortColumn("t", False, True),)))
    if position == 0:
        assert order.row_numbers is None
        return
    assert order.row_numbers is not None
    others = [row for row in range(count) if row != position]
    assert order.row_numbers.tolist() == [position, *others]


def test_batches_end_where_partitions_end() -> None:
    """With at most 4 rows in a batch of several partitions, whose lengths are 3, 2, 9, 5 and 1."""
    rows = 20
    starts = np.array([0, 3, 5, 14, 19])
    assert [*sort.find_cuts(starts, rows, 4)] == [0, 3, 5, 13, 14, 19, 20]


@pytest.mark.usefixtures("_compiled_sort")
@pytest.mark.parametrize("position_bits", [1, 10, 20, 40])
@pytest.mark.parametrize("bits", [1, 9, 10, 11, 24])
def test_words_are_sorted_by_all_their_bits(position_bits: int, bits: int) -> None:
    count = min(1 << position_bits, 5_000)
    random = np.random.default_rng(bits)
    keys = random.integers(0, 1 << bits, count, dtype=np.uint64, endpoint=False)
    keys[:2] = 0, (1 << bits) - 1
    words = (keys << np.uint64(position_bits)) | np.arange(count, dtype=np.uint64)
    result = packing.sort_numbered_words(words.copy(), position_bits, bits)
    assert result.tolist() == sorted(words.tolist())


def test_numpy_sorts_until_the_compiled_sort_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The words that NumPy sorts are counted, and for few words nothing is compiled."""
    counted: list[int] = []
    monkeypatch.setattr(packing, "is_numpy_slow", lambda: True)
    monkeypatch.setattr(
        kernels.sort_by_bits, "take_steps", lambda steps, _: counted.append(steps) is None
    )
    words = np.arange(packing.MIN_WORDS_FOR_RADIX, dtype=np.uint64)[::-1].copy()
    assert packing.sort_numbered_words(words, 14, 1).tolist() == list(range(len(words)))
    assert counted == [len(words) // kernels.WORDS_PER_STEP]


@pytest.mark.usefixtures("_compiled_sort")
@pytest.mark.parametrize("most_distinct", [7, 8, 1 << 17])
def test_repeated_numbers_are_ranked(most_distinct: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight distinct numbers, with and without room for them in the kernel's hash table."""
    monkeypatch.setattr(kernels, "MAX_DISTINCT", most_distinct)
    numbers = np.array([5, -(2**63), 2**63 - 1, 0, -1, 5, 1 << 44, -(1 << 44), 0, 6], np.int64)
    is_numbered = kernels.number_distinct(numbers) is not None
    assert is_numbered == (most_distinct >= 8)
    ranks = encoding.rank_repeated_numbers(numbers)
    assert (ranks.numbers - ranks.least).tolist() == [4, 0, 7, 3, 2, 4, 6, 1, 3, 5]
    assert (ranks.numbers.min(), ranks.numbers.max()) == (ranks.least, ranks.greatest)


@pytest.mark.usefixtures("_compiled_sort")
def test_numbers_in_any_order_are_ranked_by_their_first_rows() -> None:
    source = encoding.SortNumbers.measure(np.array([1 << 44, 5, -7, 5, 1 << 44, -7, 0], np.int64))
    assert encoding.shorten_numbers(source) is source  # more than a quarter are distinct
    ranks = encoding.shorten_numbers(source, in_any_order=True)
    assert ranks.numbers.tolist() == [0, 1, 2, 1, 0, 2, 3]
    assert (ranks.least, ranks.greatest) == (0, 3)


@pytest.mark.usefixtures("_compiled_sort")
def test_a_compiled_kernel_removes_positions_from_words() -> None:
    words = np.array([9 << 60 | 5, 3, 1 << 3], np.uint64)
    positions = kernels.remove_positions(words, 3)
    assert positions is not None
    assert positions.tolist() == [5, 3, 0]
    assert words.tolist() == [9 << 57, 0, 1]


@pytest.mark.usefixtures("_compiled_sort")
def test_a_compiled_kernel_marks_words_that_differ_in_some_bits() -> None:
    words = np.array([0b0110, 0b0111, 0b1011, 1 << 63 | 0b1000], np.uint64)
    for bits, expected in [
        (0b1100, [True, False, True, False]),
        (0b0001, [True, True, False, True]),
        (1 << 63, [True, False, False, True]),
    ]:
        changes = kernels.find_changes(words, bits)
        assert changes is not None
        assert changes.tolist() == expected
        assert packing.find_key_changes(words, bits).tolist() == expected


@pytest.mark.usefixtures("_compiled_sort")
def test_numbers_with_the_same_slot_are_told_apart() -> None:
    """All multiples of 2**46 times the inverse of GOLDEN modulo 2**64 have few first slots."""
    inverse = pow(kernels.GOLDEN, -1, 1 << 64)
    numbers = [
        (slot << 46 | low) * inverse % (1 << 64) for slot in (0, 2**18 - 1) for low in (3, 9)
    ]
    values = np.array(numbers * 3, np.uint64).view(np.int64)
    numbered = kernels.number_distinct(values)
    assert numbered is not None
    assert numbered.numbers.tolist() == [0, 1, 2, 3] * 3
    assert numbered.distinct_values.tolist() == values[:4].tolist()


SMALLEST, GREATEST = -(2**63), 2**63 - 1


def check_codes(numbers: list[int], first_bit: int, *, is_descending: bool) -> None:
    """Check the unit and the codes of numbers against integers of Python, which do not wrap."""
    source = encoding.SortNumbers.measure(np.array(numbers, np.int64))
    code = encoding.encode_numbers(source, is_descending=is_descending)
    distances = [number - min(numbers) for number in numbers]
    unit = gcd(*distances) or 1
    assert code.unit == unit
    greatest = (1 << code.bits) - 1
    assert max(distances) // unit <= greatest < 2 * max(distances, default=0) // unit + 1
    codes = [distance // unit for distance in distances]
    if is_descending:
        codes = [greatest - number for number in codes]
    first_bit = min(first_bit, 64 - code.bits)
    expected = [number << first_bit for number in codes]
    words = code.encode(first_bit)
    assert words.tolist() == expected
    assert code.decode(words, first_bit).tolist() == numbers


EXAMPLES_OF_CODES = [
    ([0, 12, 24, 61], 3),  # the unit of the first numbers does not divide the last distance
    ([SMALLEST, GREATEST], 0),  # the distance is greater than any int64
    ([SMALLEST, 0], 1),  # the unit is 2**63
    ([GREATEST, GREATEST - 6, GREATEST - 10], 5),
    ([7, 7, 7], 2),
    ([*range(0, 960, 96), 12, 40], 0),  # the unit gets smaller twice
]


@pytest.mark.parametrize(("numbers", "first_bit"), EXAMPLES_OF_CODES)
@pytest.mark.parametrize("is_descending", [False, True])
def test_codes_are_distances_in_units(
    numbers: list[int], first_bit: int, *, is_descending: bool
) -> None:
    check_codes(numbers, first_bit, is_descending=is_descending)


@pytest.mark.usefixtures("_compiled_sort")
@pytest.mark.parametrize(("numbers", "first_bit"), EXAMPLES_OF_CODES)
@pytest.mark.parametrize("is_descending", [False, True])
def test_compiled_codes_are_distances_in_units(
    numbers: list[int], first_bit: int, *, is_descending: bool
) -> None:
    check_codes(numbers, first_bit, is_descending=is_descending)


@pytest.mark.usefixtures("_compiled_sort")
@settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    least=st.integers(SMALLEST, GREATEST),
    unit=st.integers(1, 1 << 40),
    quotients=st.lists(st.integers(0, 1 << 24), min_size=1, max_size=20),
    others=st.lists(st.integers(SMALLEST, GREATEST), max_size=1),
    first_bit=st.integers(0, 63),
    is_descending=st.booleans(),
)
def test_compiled_codes_are_right_for_any_numbers(
    least: int,
    unit: int,
    quotients: list[int],
    others: list[int],
    first_bit: int,
    *,
    is_descending: bool,
) -> None:
    numbers = [min(least + unit * quotient, GREATEST) for quotient in quotients]
    check_codes(numbers + others, first_bit, is_descending=is_descending)


def test_few_tasks_of_a_process_sort_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other tasks hold their rows meanwhile."""
    lock = Lock()
    running: list[int] = []
    most: list[int] = []
    sort_at_once = sort.sort_table

    def sort_slowly(table: pa.Table, *args: Any, **kwargs: Any) -> pa.Table:
        """Sort a table, and note how many tables are being sorted."""
        with lock:
            running.append(1)
            most.append(len(running))
        sleep(0.02)
        with lock:
            running.pop()
        return sort_at_once(table, *args, **kwargs)

    monkeypatch.setattr(sort, "sort_table", sort_slowly)
    monkeypatch.setattr(sort, "_free_sorts", BoundedSemaphore(2))
    batch = pa.record_batch(
        {"k": [2, 1, 2], internal_names.FIRST_BITS: pa.array([0, 0, 0], pa.int8())}
    )
    sorting = Sorting(("k",), ())
    tasks = 8
    with ThreadPoolExecutor(tasks) as threads:
        sorts = [
            threads.submit(lambda: [*sort_batches(iter([batch]), sorting, 16, task_count=tasks)])
            for _ in range(tasks)
        ]
        result = [task.result()[0].column("k").to_pylist() for task in sorts]
    assert result == [[1, 2, 2]] * tasks
    assert max(most) == 2


def test_a_budget_leaves_room_for_all_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each task holds its budget. A task that sorts takes four times as much in addition."""
    monkeypatch.setattr(budgets, "SORTS_AT_ONCE", 3)
    room = 62 * 100 << 20
    assert budgets.find_budget(room, task_count=50) == 100 << 20  # 50 + 3 * 4 shares
    assert budgets.find_budget(room // 10, task_count=2) == (room // 10) // 10
    assert budgets.find_budget(1, task_count=50) == budgets.MIN_BUDGET


def test_the_room_is_looked_up_once_and_only_for_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    lookups: list[int] = []

    def find_room() -> int:
        """Count the call, and return as much room as one task of one thousand bytes needs."""
        lookups.append(1)
        return 5 * 1000

    monkeypatch.setattr(budgets, "MIN_BUDGET", 100)
    monkeypatch.setattr(budgets.memory, "find_room", find_room)
    budget = budgets.Budget(given_size=None, task_count=1)
    assert not budget.is_exceeded_by(100)
    assert not lookups
    assert not budget.is_exceeded_by(1000)
    assert budget.is_exceeded_by(1001)
    assert len(lookups) == 1

    given = budgets.Budget(given_size=50, task_count=1)
    assert not given.is_exceeded_by(50)
    assert given.is_exceeded_by(51)
    assert len(lookups) == 1


def compute_short_hashes(keys: list[encoding.SortCode]) -> WordArray:
    """Return one of four hashes for each key, so that most keys share their hash with others."""
    return hash_of(keys) & np.uint64(3 << 62)


hash_of = hashed_keys.compute_hashes
HASHES = pytest.mark.parametrize("hashing", [hash_of, compute_short_hashes])


@HASHES
@settings(max_examples=examples(60), deadline=None)
@given(case=rows(), copies=st.sampled_from([1, 40]))
def test_keys_come_together_by_a_hash(
    hashing: Callable[[list[encoding.SortCode]], WordArray], case: Rows, copies: int
) -> None:
    """Partitions are in any order. Each has the rows of the reference."""
    if not case.count:
        return
    copied = case.times(copies)
    with (
        patch.object(hashed_keys, "compute_hashes", hashing),
        use_shortcuts(Shortcuts(min_rows_to_hash=1)),
    ):
        result = pa.Table.from_batches(sort_batches(iter(copied.batches), copied.sorting, 1 << 18))
    check_columns(pa.Table.from_batches(copied.batches), result)
    expected = sort_rows(copied.keys, copied.order, copied.count)
    marks = find_marks(result)
    assert split_partitions(result.column("row").to_pylist(), marks) == split_partitions(
        expected, mark_first_rows(copied.keys, expected)
    )


@settings(max_examples=examples(40), deadline=None)
@given(case=rows(), copies=st.sampled_from([1, 40]))
def test_texts_that_repeat_are_moved_with_a_dictionary(case: Rows, copies: int) -> None:
    if not case.count:
        return
    copied = case.times(copies)
    before = pa.Table.from_batches(copied.batches)
    texts = [("", "a", None, "long " * 9)[row % 4] for row in range(copied.count)]
    before = before.append_column("text", pa.array(texts, pa.string()))
    with use_shortcuts(Shortcuts(min_repeats_of_text=1)):
        result = pa.Table.from_batches(sort_batches(before.to_batches(), copied.sorting, 1 << 18))
    assert pa.types.is_dictionary(result.schema.field("text").type)
    columns = [arrays.take_column(result, name) for name in result.column_names]
    check_columns(before, pa.Table.from_arrays(columns, schema=before.schema))


def split_partitions(numbers: list[int], marks: list[int]) -> list[list[int]]:
    """Return the numbers of each partition, sorted by the numbers."""
    ends = [*np.flatnonzero(marks)[1:], len(numbers)]
    return sorted(numbers[begin:end] for begin, end in zip([0, *ends], ends, strict=False))


@HASHES
def test_a_key_of_many_bits_is_sorted_once(
    hashing: Callable[[list[encoding.SortCode]], WordArray],
) -> None:
    """The hash of a key fits into a word with the order. Equal hashes are sorted once more.

    There are too few keys for a hash, so the test does not let them be numbered.
    """
    count = 1 << 15
    generator = np.random.default_rng(7)
    keys = generator.integers(-(2**63), 2**63 - 1, 1 << 13)[generator.integers(0, 1 << 13, count)]
    order = generator.integers(0, 1000, count)
    table = pa.table(
        {
            "key": keys,
            "order": order,
            "row": range(count),
            internal_names.FIRST_BITS: np.zeros(count, int),
        }
    )
    item = SortColumn("order", descending=True, nulls_first=True)
    sorts: list[int] = []

    def count_and_sort(words: list[packing.SortWord], rows: int) -> object:
        """Sort words, and note the number of sorts that it takes."""
        sorts.append(hashed_keys.count_sorts(words, encoding.WORD_BITS - rows.bit_length()))
        return sort_words(words, rows)

    sort_words = packing.sort_words
    with (
        patch.multiple(hashed_keys, sort_words=count_and_sort, compute_hashes=hashing),
        patch.object(encoding, "number_distinct", lambda _: None),
    ):
        sorting = Sorting(("key",), (item,))
        (result,) = sort.sort_tables(iter(table.to_batches()), sorting, budgets.Budget(1 << 30, 1))
    assert sorts[0] == 1
    assert len(sorts) == (1 if hashing is hash_of else 2)
    check_columns(table, result)
    marks = result.column(internal_names.FIRST_BITS).to_pylist()
    expected_rows = np.lexsort((range(count), -order, keys))
    is_first = np.append(True, np.diff(keys[expected_rows]) != 0)
    assert split_partitions(result.column("row").to_pylist(), marks) == split_partitions(
        expected_rows.tolist(), is_first.tolist()
    )


@pytest.mark.parametrize("unit", [1, 7, 1000, 15_625, 1_000_000, 60_000_000, 1 << 40])
@pytest.mark.parametrize("least", [0, -(2**63), 2**63 - 3 * (1 << 40) - 1])
@pytest.mark.parametrize("descending", [False, True])
def test_numbers_of_units_compare_as_they_are(unit: int, least: int, descending: bool) -> None:
    """The code of a number is its distance from the least number, in units."""
    for steps in ([3, 0, 2, 1, 2, 0], [0, 3], [1, 1]):
        numbers = [least + unit * step for step in steps]
        table = pa.table({"at": pa.array(numbers, pa.timestamp("us")), "row": range(len(steps))})
        sorting = Sorting((), (SortColumn("at", descending, nulls_first=True),))
        result = sort_table(table, sorting).drop_columns([internal_names.FIRST_BITS])
        check_columns(table, result)
        by_hand = sorted(
            range(len(steps)), key=lambda row: -steps[row] if descending else steps[row]
        )
        assert result.column("row").to_pylist() == by_hand


def test_seconds_are_sorted_at_once() -> None:
    """Seconds of ten years fit into a word with a thousand keys and a million rows.

    Microseconds would not.
    """
    year = 365 * 24 * 3600
    seconds = np.random.default_rng(3).integers(0, 10 * year, 1 << 12) * 1_000_000
    (code,) = encoding.encode_column(
        pa.array(seconds, pa.timestamp("us")), SortColumn("at", False, False), is_key=False
    )
    assert code.bits == (10 * year).bit_length()
