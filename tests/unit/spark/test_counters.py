"""Counters that cannot be read yet, or not at all. PySpark's observation is a stand-in."""

from __future__ import annotations

import json
from collections.abc import Callable
from threading import Event
from typing import Any

import pytest

import matchrec
from matchrec.spark import counters as module
from matchrec.spark.tallies import TALLIES, ClauseObservation

NOT_FINISHED = "the counters have no values, because no action on the result of their query has "
OBSERVED = {TALLIES: json.dumps([[4, 1, 2] + [0] * 12])}


class Observation:
    """An observation whose values come from a function."""

    def __init__(self, read: Callable[[], dict[str, Any]]) -> None:
        self.read = read
        self.reads = 0

    @property
    def get(self) -> dict[str, Any]:
        """Return the values, and count the calls."""
        self.reads += 1
        return self.read()


def make_counters(observation: Observation) -> matchrec.Counters:
    """Return counters of a query with one clause."""
    counters = matchrec.Counters()
    counters._clauses.append(
        ClauseObservation(observation, "name", counts_runs=False, keeps_partitions_whole=False)
    )
    return counters


@pytest.fixture(autouse=True)
def wait_only_shortly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `repr` wait only a moment for an action."""
    monkeypatch.setattr(module, "PRINT_TIMEOUT", 0.01)
    monkeypatch.setattr(module, "REPR_TIMEOUT", 0.01)


def test_unused_counters_can_be_printed() -> None:
    assert str(matchrec.Counters()) == f"{NOT_FINISHED}finished"


def test_one_thread_waits_for_an_action_however_often_counters_are_shown() -> None:
    """In Spark Classic `get` waits for an action."""
    action_ends = Event()

    def read() -> dict[str, Any]:
        """Return the values, or raise the error, of the observation."""
        action_ends.wait()
        return OBSERVED

    observation = Observation(read)
    counters = make_counters(observation)
    for _ in range(3):
        assert str(counters) == f"{NOT_FINISHED}finished"
        assert repr(counters) == "<Counters: no action has finished>"
    with pytest.raises(matchrec.MatchRecognizePlanError):
        counters.values(timeout=0)
    action_ends.set()
    assert counters.values()["matches"] == 2
    assert observation.reads == 1


def test_an_observation_that_does_not_wait_is_read_again() -> None:
    """In Spark Connect `get` is empty before an action."""
    answers = [OBSERVED, {}, {}]
    counters = make_counters(Observation(answers.pop))
    assert str(counters) == f"{NOT_FINISHED}finished"
    assert repr(counters) == "<Counters: no action has finished>"
    assert counters.values()["rows"] == 4


def test_an_observation_that_cannot_be_read_says_why() -> None:
    def read() -> dict[str, Any]:
        """Return the values, or raise the error, of the observation."""
        raise ConnectionError("the server is gone\nmore")

    counters = make_counters(Observation(read))
    assert str(counters) == "the counters cannot be read"
    assert repr(counters) == "<Counters: the counters cannot be read>"
    with pytest.raises(matchrec.MatchRecognizeError) as raised:
        counters.values()
    assert raised.value.notes == ("ConnectionError: the server is gone",)
    assert isinstance(raised.value.__cause__, ConnectionError)
