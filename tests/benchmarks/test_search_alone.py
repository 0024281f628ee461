"""The searches of the benchmark `search_alone`, over few rows."""

from __future__ import annotations

import numpy as np

from tests.benchmarks.search_alone import (
    FALLS,
    RISES,
    make_partitions,
    make_task,
    measure_algorithms,
)


def test_each_algorithm_finds_the_v_shape_of_each_partition() -> None:
    """Each partition has a row, then a row that falls and a row that rises: a V."""
    moves = np.array([0, 1 << FALLS, 1 << RISES] * 2)
    v_shape = make_task("A B+ C+", {"B": FALLS, "C": RISES})
    assert measure_algorithms(v_shape, make_partitions(moves, 3)).match_count == 2
