"""Check the workload of the benchmark `sase`: algorithms agree, and it is that of the paper."""

from __future__ import annotations

from dataclasses import replace

import pytest

from matchrec.search.kernels import layout
from tests.benchmarks.sase import QUERIES, find_final_state
from tests.benchmarks.sase_workload import ALGORITHMS, Cell, prepare_search

pytestmark = pytest.mark.slow  # they test benchmarks, not what users run


@pytest.mark.parametrize("output", ["all", "non_overlapping"])
@pytest.mark.parametrize("key", [*QUERIES, ("p3*", "s2"), ("p3*", "s3")], ids=" ".join)
def test_algorithms_find_equally_many_matches_and_events(key: tuple[str, str], output: str) -> None:
    cell = Cell(*key, output=output, windows=5)
    results = [prepare_search(replace(cell, algorithm=algorithm)).run() for algorithm in ALGORITHMS]
    assert results[0].matches > 0
    assert len({(result.matches, result.mapped) for result in results}) == 1


@pytest.mark.parametrize(
    ("key", "length"), [(("p1", "s2"), 250), (("p2", "s2"), 4.5), (("p2", "s3"), 140)]
)
def test_mean_length_of_matches_is_that_of_the_paper(key: tuple[str, str], length: float) -> None:
    assert prepare_search(Cell(*key, windows=200)).run().length == pytest.approx(length, rel=0.1)


def test_runs_are_the_same_without_sequence_construction() -> None:
    constructed = prepare_search(Cell("p2", "s3", windows=5)).run()
    counted = prepare_search(Cell("p2", "s3", output="count", windows=5)).run()
    assert counted.matches == 0
    assert counted.counters[layout.MERGES] == constructed.counters[layout.MERGES]
    assert counted.counters[layout.READS] == constructed.counters[layout.READS]


@pytest.mark.parametrize("algorithm", ["basic", "merging"])
@pytest.mark.parametrize("predicate", ["p1", "p2", "p3"])
def test_live_state_does_not_grow_with_the_stream(predicate: str, algorithm: str) -> None:
    cell = Cell(predicate, "s3", algorithm, windows=10)
    for length in (10, 100):
        work, counters = find_final_state(replace(cell, windows=length))
        assert counters[layout.MAX_LIVE] <= 10
        assert work.runs.shape[1] <= 16
        live = cell.window * counters[layout.MAX_LIVE]  # at most
        assert len(work.nodes) < 8 * live  # pruned when half full, doubled when a quarter is live
