"""The steps of a worker that cases do not show."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from matchrec.worker import match
from matchrec.worker.tally import Tally, WorkerCounter

SLEEP = 0.01  # seconds


class SlowGatherer:
    """A gatherer that takes long to divide its rows."""

    def __init__(self, *_: object) -> None: ...

    def divide_into_batches(self) -> Iterator[SlowGatherer]:
        """Yield itself twice, each time after a while."""
        for _ in range(2):
            time.sleep(SLEEP)
            yield self

    def build_batch(self) -> str:
        """Return something instead of a batch."""
        return "batch"


def test_dividing_output_rows_counts_as_gathering(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of all work on a batch is counted, also of the work to find its rows."""
    monkeypatch.setattr(match, "Gatherer", SlowGatherer)
    monkeypatch.setattr(match, "MatchReader", lambda *_: None)
    compiled_query = SimpleNamespace(task=SimpleNamespace(members={}), frame=None)
    tally = Tally()
    worker = match.PieceWorker(cast("Any", compiled_query), tally)
    nothing = cast("Any", None)
    assert list(worker.make_batches(nothing, nothing, nothing, nothing)) == ["batch", "batch"]
    assert tally.counts[WorkerCounter.GATHERING] >= 2 * SLEEP * 1e9
