"""The planner's sessions: nothing runs on a closed connection, and no connection is left open.

The sessions are stand-ins, which only note whether their channel was closed.
"""

from __future__ import annotations

import threading
from typing import Any

import pytest

from matchrec.gateway import planner
from matchrec.gateway.planner import IDLE, Planner, SessionKey

KEY = SessionKey("reader", "1")


class FakeSession:
    """A session, which is its own client and channel as well."""

    def __init__(self) -> None:
        self.is_closed = False
        self.client = self
        self._channel = self

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> list[FakeSession]:
    """All sessions that were made, in their order."""
    made: list[FakeSession] = []

    def connect(_address: str, _key: SessionKey) -> FakeSession:
        made.append(FakeSession())
        return made[-1]

    monkeypatch.setattr(planner, "connect", connect)
    monkeypatch.setattr(planner, "tune", lambda _spark: None)
    return made


def test_a_session_ends_after_its_statement(sessions: list[FakeSession]) -> None:
    plans = Planner("sc://nowhere", None)
    with plans.use_session(KEY):
        plans.close_session(KEY)
        assert not sessions[0].is_closed
    assert sessions[0].is_closed
    plans.open(KEY)
    assert [session.is_closed for session in sessions] == [True, False]
    plans.close()
    assert all(session.is_closed for session in sessions)


def test_a_statement_that_waits_for_an_ended_session_gets_a_new_one(
    sessions: list[FakeSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = Planner("sc://nowhere", None)
    used: list[Any] = []
    is_found = threading.Event()
    find = plans.find_session

    def note(key: SessionKey) -> planner.PlanningSession:
        session = find(key)
        is_found.set()
        return session

    def use() -> None:
        with plans.use_session(KEY) as spark:
            used.append((spark, spark.is_closed))  # type: ignore[attr-defined]

    with plans.use_session(KEY):
        monkeypatch.setattr(plans, "find_session", note)
        thread = threading.Thread(target=use)
        thread.start()
        assert is_found.wait(10)
        plans.close_session(KEY)
    thread.join(10)
    assert used == [(sessions[1], False)]
    assert [one.is_closed for one in sessions] == [True, False]


def test_a_session_that_ends_before_it_is_connected_is_closed(sessions: list[FakeSession]) -> None:
    plans = Planner("sc://nowhere", lambda _spark: plans.close_session(KEY))
    plans.open(KEY)
    assert [session.is_closed for session in sessions] == [True]


def test_a_session_that_cannot_be_prepared_is_closed(sessions: list[FakeSession]) -> None:
    def fail(_spark: Any) -> None:
        raise ValueError("no view")

    plans = Planner("sc://nowhere", fail)
    for _ in range(2):
        with pytest.raises(ValueError, match="no view"):
            plans.open(KEY)
    assert [session.is_closed for session in sessions] == [True, True]


def test_only_sessions_without_a_statement_are_idle(
    sessions: list[FakeSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(planner, "monotonic", lambda: now[0])
    plans = Planner("sc://nowhere", None)
    plans.sessions[KEY] = planner.PlanningSession(last_used=0.0)
    other = SessionKey("reader", "2")
    with plans.use_session(KEY):
        now[0] = 2 * IDLE
        plans.open(other)
        assert not sessions[0].is_closed
    now[0] = 2.5 * IDLE
    plans.open(other)
    assert [session.is_closed for session in sessions] == [True, False]
    assert list(plans.sessions) == [other]
