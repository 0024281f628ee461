"""The workload of the benchmark `sase`: engines agree, and it is the paper's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from matchrec.search.kernels import layout
from tests.benchmarks.sase import TEMPLATES, state_at_the_end
from tests.benchmarks.sase_workload import ALGORITHMS, Cell, search

pytestmark = pytest.mark.slow  # of benchmarks, not of what users run


@pytest.mark.parametrize("output", ["all", "non_overlapping"])
@pytest.mark.parametrize("key", [*TEMPLATES, ("p3*", "s2"), ("p3*", "s3")], ids=" ".join)
def test_engines_find_the_same(key: tuple[str, str], output: str) -> None:
    cell = Cell(*key, output=output, windows=5)
    found = [search(replace(cell, engine=engine)).run() for engine in ALGORITHMS]
    assert found[0].matches > 0
    assert len({(one.matches, one.mapped) for one in found}) == 1


@pytest.mark.parametrize(
    ("key", "length"), [(("p1", "s2"), 250), (("p2", "s2"), 4.5), (("p2", "s3"), 140)]
)
def test_matches_are_as_long_as_those_of_the_paper(key: tuple[str, str], length: float) -> None:
    assert search(Cell(*key, windows=200)).run().length == pytest.approx(length, rel=0.1)


def test_without_sequence_construction_the_runs_are_the_same() -> None:
    whole = search(Cell("p2", "s3", windows=5)).run()
    counted = search(Cell("p2", "s3", output="count", windows=5)).run()
    assert counted.matches == 0
    assert counted.counters[layout.MERGES] == whole.counters[layout.MERGES]
    assert counted.counters[layout.READS] == whole.counters[layout.READS]


@pytest.mark.parametrize("engine", ["basic", "merging"])
@pytest.mark.parametrize("predicate", ["p1", "p2", "p3"])
def test_live_state_does_not_grow_with_the_stream(predicate: str, engine: str) -> None:
    cell = Cell(predicate, "s3", engine, windows=10)
    for length in (10, 100):
        work, counters = state_at_the_end(replace(cell, windows=length))
        assert counters[layout.MOST_LIVE] <= 10
        assert work.runs.shape[1] <= 16
        live = cell.window * counters[layout.MOST_LIVE]  # at most
        assert len(work.nodes) < 8 * live  # pruned when half full, doubled when a quarter is live
