"""Rows that go back in cells: each row once, in order, as many cells as rows have come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchrec.spark.worker.cells import ROWS_A_CELL, InCells
from tests.quick.scale import examples

STRUCT = pa.struct([("n", pa.int64()), ("text", pa.string())])
CELLS = pa.list_(pa.field("element", STRUCT, nullable=False))


@dataclass(frozen=True)
class Scripted:
    """Gives batches of so many rows after each batch that it takes; stops after some batches.

    at_end: gives all of them when no more come, as a worker that sorts does.
    """

    gives: tuple[tuple[int, ...], ...]
    at_end: bool = False

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        number = 0
        taken = iter(batches)
        for sizes in self.gives:
            if self.at_end:
                list(taken)
            elif next(taken, None) is None:
                return
            for size in sizes:
                numbers = range(number, number + size)
                number += size
                texts = pa.array([f"row {one}" for one in numbers], pa.string())
                yield pa.RecordBatch.from_arrays(
                    [pa.array(numbers, pa.int64()), texts], ["n", "text"]
                )


def run(worker: Scripted, sizes: list[int]) -> list[pa.Array]:
    """The cells. Fails where more go back than rows have come, as Spark's own check does."""
    come = gone = 0

    def parts() -> Iterator[tuple[pa.Array, ...]]:
        nonlocal come
        for size in sizes:
            come += size
            yield pa.array(range(size)), pa.array(["x"] * size)

    found = []
    for cells in InCells(worker, ("a", "b"), CELLS).run(parts()):
        gone += len(cells)
        assert gone <= come
        assert cells.type == CELLS
        found.append(cells)
    assert gone == come == sum(sizes)
    return found


def rows_in(found: list[pa.Array]) -> list[int]:
    return [row["n"] for cells in found for cell in cells.to_pylist() for row in cell]


@given(st.data())
def test_every_row_comes_once_and_in_order(data: st.DataObject) -> None:
    for _ in range(examples(4)):
        sizes = data.draw(st.lists(st.integers(1, 40), max_size=8))
        gives = [data.draw(st.lists(st.integers(0, 60), max_size=4).map(tuple)) for _ in sizes]
        worker = Scripted(tuple(gives), at_end=data.draw(st.booleans()))
        found = run(worker, sizes)
        asked = sum(map(sum, gives))
        assert rows_in(found) == list(range(asked))


def test_a_task_without_rows_gives_none() -> None:
    assert run(Scripted(((3,),), at_end=True), []) == []


def test_a_worker_may_be_done_before_its_rows() -> None:
    assert rows_in(run(Scripted(((2,),)), [10, 10, 10])) == [0, 1]


def test_one_column_comes_without_a_tuple() -> None:
    cells = InCells(Scripted(((1,),)), ("a",), CELLS).run(iter([pa.array([1, 2])]))
    assert [len(cell) for one in cells for cell in one.to_pylist()] == [1, 0]


@pytest.mark.parametrize("at_end", [False, True])
def test_cells_go_back_soon_and_have_few_rows(*, at_end: bool) -> None:
    """Of rows in a task as of batches in a query: no cell is much larger than the others."""
    gives = tuple((size,) for size in (10_000, 0, 3, 10_000) * 10)
    found = run(Scripted(gives[:1] * 40 if at_end else gives, at_end), [10_000] * 40)
    most = max(len(cell) for cells in found for cell in cells.to_pylist())
    assert most <= 2 * ROWS_A_CELL
    if not at_end:
        assert len(found[0]) > 9_900


class Large:
    """Gives a row of a million bytes for each row."""

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = batch.num_rows
            texts = pa.array(["x" * 1_000_000] * rows)
            yield pa.RecordBatch.from_arrays([pa.array(range(rows)), texts], ["n", "text"])


def test_large_rows_are_far_apart() -> None:
    parts = iter([(pa.array(range(32)),)] * 2)
    cells = [cell for one in InCells(Large(), ("a",), CELLS).run(parts) for cell in one.to_pylist()]
    assert sum(map(len, cells)) == 64
    assert max(map(len, cells)) <= 5
