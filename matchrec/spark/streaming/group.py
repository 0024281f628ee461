"""What is used of PySpark's state of a group, and what its timer is set for."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from matchrec.compile.executable import Executable
from matchrec.engine.partitions import IntArray
from matchrec.spark import wire
from matchrec.spark.worker.arrays import as_integers, column

FOREVER = int(np.iinfo(np.int64).max)


class Group(Protocol):
    """What is used of PySpark's GroupState."""

    @property
    def exists(self) -> bool: ...
    @property
    def get(self) -> tuple[Any, ...]: ...
    def update(self, newValue: tuple[Any, ...]) -> None: ...  # noqa: N803
    def remove(self) -> None: ...
    def setTimeoutTimestamp(self, timestampMs: int) -> None: ...  # noqa: N802, N803
    def getCurrentWatermarkMs(self) -> int: ...  # noqa: N802


def wake(group: Group, time: int, watermark: int) -> None:
    """Ask to be called when the watermark has passed a time, in microseconds, if it ever does.

    Spark calls when the watermark is beyond the timer.
    """
    if time != FOREVER:
        before = -(-int(time) // 1000) - 1
        group.setTimeoutTimestamp(max(before, watermark // 1000 + 1, 1))


def window_bounds(executable: Executable, rows: pa.Table) -> IntArray:
    """When the window ends that begins with a row, FOREVER without one; microseconds."""
    if not executable.crossing.window or not rows.num_rows:
        return np.full(rows.num_rows, FOREVER, np.int64)
    return as_integers(column(rows, wire.column(executable.crossing.window[1])))
