"""The counters of a task fit their column, however many matches are counted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from matchrec.search.kernels.carried_totals import PATH_COUNT
from matchrec.search.matches import DOUBLE_WORD
from matchrec.worker import tally as tally_module
from matchrec.worker.tally import Tally, WorkerCounter

GREATEST = 2**63 - 1024  # the greatest double that is a BIGINT


def make_chunk(matches: float) -> Any:
    """Return a chunk whose matches are counted without being built."""
    totals = np.zeros((1, PATH_COUNT + DOUBLE_WORD + 1), np.int64)
    totals[0, PATH_COUNT + DOUBLE_WORD] = np.float64(matches).view(np.int64)
    return SimpleNamespace(totals=totals)


@pytest.mark.parametrize(
    ("matches", "total"),
    [
        ([3.0, 4.0], 7),
        ([2.0**63], GREATEST),
        ([2.0**62, 2.0**62], GREATEST),
        ([1e300, 1e300, 1.0], GREATEST),
    ],
)
def test_the_number_of_matches_is_a_bigint(matches: list[float], total: int) -> None:
    tally = Tally(schema=pa.schema([("x", pa.int64())]))
    tally.append_empty_counter_column(pa.RecordBatch.from_arrays([pa.array([1])], ["x"]))
    for number in matches:
        piece: Any = SimpleNamespace(new_rows=1, new_partitions=1)
        (_,) = tally.count_while_matching(iter([make_chunk(number)]), piece)
    (row,) = tally.make_counter_row()
    assert row.column(1)[0].as_py()[WorkerCounter.MATCHES] == total


def test_the_time_of_a_block_that_raises_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100, 130])
    monkeypatch.setattr(tally_module, "perf_counter_ns", lambda: next(clock))
    tally = Tally()
    with pytest.raises(ValueError, match="stop"), tally.measure_time(WorkerCounter.MATCHING):
        raise ValueError("stop")
    assert tally.counts[WorkerCounter.MATCHING] == 30
