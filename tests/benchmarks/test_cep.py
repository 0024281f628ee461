"""Compare the workloads of the benchmark `cep`, on few events, with loops by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from tests.benchmarks.cep import (
    WORKLOADS,
    Result,
    Workload,
    create_ticks,
    make_events,
    report,
    summarize_matches,
)

WINDOW = 600_000
Stream = list[tuple[int, str, float]]  # milliseconds, kind, price


def find_vshapes(stream: Stream) -> Iterator[int]:
    """Yield the length of each match in milliseconds."""
    begin = 0
    while begin < len(stream):
        index = begin + 1
        while index < len(stream) and stream[index][2] < stream[index - 1][2]:
            index += 1
        if begin + 1 < index < len(stream) and stream[index][2] > stream[index - 1][2]:
            yield stream[index][0] - stream[begin][0]
            begin = index
        begin += 1


def find_relaxed(stream: Stream) -> Iterator[int]:
    """Yield the time from each a to the next b within the window."""
    for index, (begin, kind, _) in enumerate(stream):
        later = [time for time, other, _ in stream[index + 1 :] if other == "b"]
        if kind == "a" and later and later[0] - begin < WINDOW:
            yield later[0] - begin


def find_loops(stream: Stream) -> Iterator[int]:
    """Yield the time from each a to each b after each later a, or the same a, within the window."""
    for first, (begin, kind, _) in enumerate(stream):
        for last in range(first, len(stream) if kind == "a" else first):
            for time, other, _ in stream[last + 1 :] if stream[last][1] == "a" else ():
                if other == "b" and time - begin < WINDOW:
                    yield time - begin


BY_HAND: dict[str, Callable[[Stream], Iterator[int]]] = {
    "vshape": find_vshapes,
    "relaxed": find_relaxed,
    "loop": find_loops,
}


@pytest.fixture(scope="module")
def few_events() -> pd.DataFrame:
    return make_events(1500, 3)


@pytest.mark.bench
@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_matchrec_finds_the_matches_of_loops_by_hand(
    spark: SparkSession, few_events: pd.DataFrame, workload: Workload
) -> None:
    few_events = few_events.assign(millis=few_events.millis * 10)  # so that windows end
    streams = [
        list(zip(events.millis.tolist(), events.kind, events.price, strict=True))
        for _, events in few_events.groupby("key")
    ]
    lengths = [length for events in streams for length in BY_HAND[workload.name](events)]
    ticks = create_ticks(spark, few_events)
    assert summarize_matches(ticks, workload) == (len(lengths), sum(lengths))
    assert lengths


def test_other_matches_are_noticed() -> None:
    ours = {workload.name: Result((1.0,), 5, 10) for workload in WORKLOADS}
    assert "5" in "".join(report(100, ours, {}))
    with pytest.raises(AssertionError, match="vshape: other matches"):
        list(report(100, ours, {workload.name: Result((1.0,), 5, 11) for workload in WORKLOADS}))
