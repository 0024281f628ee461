"""Skip strategies during a search: few matches are held back, and useless runs are dropped."""

from __future__ import annotations

import numpy as np
import pytest

from matchrec.search import selection, skip_strategies
from matchrec.search.kernel_input import prepare_input
from matchrec.search.kernels import layout
from matchrec.search.runs_search import RunsSearch
from matchrec.search.strategies import ALGORITHMS, SearchAlgorithm
from matchrec.search.task import Capacity
from tests.cases.pattern_notation import Question
from tests.tasks.contiguous import search
from tests.tasks.patterns import make_search

ROWS = 2000
WORDS = tuple(f"{letter}@{time}" for time, letter in enumerate("aabc" * (ROWS // 4), 1))


@pytest.mark.slow  # it waits for the compiler
@pytest.mark.parametrize("skip", ["to next", "past last event", "to last b"])
def test_few_matches_are_held(skip: str) -> None:
    """A window bounds the runs, and so the matches that wait for them."""
    calls = "begin(a).one_or_more().allow_combinations().followed_by_any(b).within(9)"
    task, partitions = make_search(Question(calls, skip, timeouts=False, words=WORDS))
    capacity = Capacity(matches=10)
    arrays = prepare_input(task, partitions)
    search = RunsSearch(task, arrays, capacity, None)
    skip_search = skip_strategies.SkipStrategySearch(search, capacity, capacity)
    most = 0
    count = 0
    for matches in skip_search.find_matches():
        count += matches.count
        most = max(most, skip_search.held_matches.count)
    assert count >= ROWS / 4
    assert most < 300


def test_runs_that_a_match_rules_out_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "SMALL_CAPACITY", Capacity(matches=10))
    calls = 'begin(a).followed_by_any("b").where("is_b AND x IS NULL AND last(a.x) IS NULL")'
    reads = {}
    for skip in ("", "past last event"):
        task, partitions = make_search(Question(calls, skip, timeouts=False, words=WORDS))
        counters = np.zeros(layout.COUNTER_COUNT, np.int64)
        for _ in search(SearchAlgorithm("breadth_first"), task, partitions, counters):
            pass
        reads[skip] = counters[layout.READS]
    assert reads["past last event"] < ROWS * 30 < reads[""]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_partitions_are_output_one_after_another(algorithm: str) -> None:
    """For each partition, the match is followed by the run that timed out."""
    words = tuple(f"{event}/{key}" for key in "pq" for event in ("a@1", "b@2", "a@3"))
    calls = "begin(a).next(b).within(5)"
    task, partitions = make_search(Question(calls, "past last event", timeouts=True, words=words))
    chunks = ALGORITHMS[algorithm].choose_strategy(task).search(task, partitions)
    outputs = [np.stack([chunk.partition, chunk.number, chunk.start], axis=1) for chunk in chunks]
    assert np.concatenate(outputs).tolist() == [[0, 1, 0], [0, -1, 2], [1, 1, 3], [1, -1, 5]]
