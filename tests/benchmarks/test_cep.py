"""The workloads of the benchmark `cep` on few events, beside loops by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from tests.benchmarks.cep import WORKLOADS, Found, Workload, events, in_spark, matches, report

WINDOW = 600_000
Stream = list[tuple[int, str, float]]  # milliseconds, kind, price


def vshape(stream: Stream) -> Iterator[int]:
    """The length of each match."""
    begin = 0
    while begin < len(stream):
        at = begin + 1
        while at < len(stream) and stream[at][2] < stream[at - 1][2]:
            at += 1
        if begin + 1 < at < len(stream) and stream[at][2] > stream[at - 1][2]:
            yield stream[at][0] - stream[begin][0]
            begin = at
        begin += 1


def relaxed(stream: Stream) -> Iterator[int]:
    for at, (begin, kind, _) in enumerate(stream):
        later = [time for time, other, _ in stream[at + 1 :] if other == "b"]
        if kind == "a" and later and later[0] - begin < WINDOW:
            yield later[0] - begin


def loop(stream: Stream) -> Iterator[int]:
    for first, (begin, kind, _) in enumerate(stream):
        for last in range(first, len(stream) if kind == "a" else first):
            for time, other, _ in stream[last + 1 :] if stream[last][1] == "a" else ():
                if other == "b" and time - begin < WINDOW:
                    yield time - begin


BY_HAND: dict[str, Callable[[Stream], Iterator[int]]] = {
    "vshape": vshape,
    "relaxed": relaxed,
    "loop": loop,
}


@pytest.fixture(scope="module")
def few() -> pd.DataFrame:
    return events(1500, 3)


@pytest.mark.bench
@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda one: one.name)
def test_matches(spark: SparkSession, few: pd.DataFrame, workload: Workload) -> None:
    few = few.assign(millis=few.millis * 10)  # so that windows end
    streams = [
        list(zip(one.millis.tolist(), one.kind, one.price, strict=True))
        for _, one in few.groupby("key")
    ]
    lengths = [length for one in streams for length in BY_HAND[workload.name](one)]
    assert matches(in_spark(spark, few), workload) == (len(lengths), sum(lengths))
    assert lengths


def test_other_matches_are_noticed() -> None:
    ours = {one.name: Found((1.0,), 5, 10) for one in WORKLOADS}
    assert "5" in "".join(report(100, ours, {}))
    with pytest.raises(AssertionError, match="vshape: other matches"):
        list(report(100, ours, {one.name: Found((1.0,), 5, 11) for one in WORKLOADS}))
