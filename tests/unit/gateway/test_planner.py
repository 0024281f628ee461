"""The planner's sessions: each is prepared once, calls as its client does, and leaves nothing.

No call reaches a server: what prepares a session is a stand-in.
"""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

pytest.importorskip("grpc_status")

from matchrec.gateway import planner
from matchrec.gateway.planner import IDLE_SECONDS, Caller, Planner, SessionKey

KEY = SessionKey("reader", "6e1b1a9e-4b7e-4c0a-9b39-0c6c9f5b9a11")
OTHER = SessionKey("reader", "7a0f4f3b-3f0c-4bb0-8a8e-2d2f4f6f1c22")
CALLER = Caller(KEY, tags=("nightly", "operation"), metadata=(("x-team", "blue"),))


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the sessions that were prepared, in their order."""
    sessions: list[Any] = []
    monkeypatch.setattr(planner, "tune", sessions.append)
    return sessions


@pytest.fixture
def plans() -> Iterator[Planner]:
    """Yield a planner for a server that does not exist."""
    plans = Planner("sc://nowhere:1/;x-cluster=seven", None)
    yield plans
    plans.close()


def test_a_session_calls_as_its_client_does(plans: Planner, prepared: list[Any]) -> None:
    with plans.use_session(CALLER) as spark:
        client: Any = spark.client
        assert (client._user_id, client._session_id) == (KEY.user, KEY.session)
        assert client.get_tags() == {"nightly", "operation"}
        assert list(client._builder.metadata()) == [("x-cluster", "seven"), ("x-team", "blue")]
    assert client.get_tags() == set()
    assert list(client._builder.metadata()) == [("x-cluster", "seven")]
    assert prepared == [spark]


def test_statements_of_a_session_are_planned_at_once(plans: Planner, prepared: list[Any]) -> None:
    """CREATE TABLE AS runs while it is planned, and must not hold the session's other queries."""
    both = threading.Barrier(2, timeout=10)

    def use(tag: str) -> Any:
        with plans.use_session(Caller(KEY, tags=(tag,))) as spark:
            both.wait()
            tags = spark.client.get_tags()
            both.wait()
            return spark, tags

    with ThreadPoolExecutor(2) as threads:
        (first, first_tags), (second, second_tags) = threads.map(use, ("a", "b"))
    assert first is second
    assert (first_tags, second_tags) == ({"a"}, {"b"})
    assert len(prepared) == 1


def test_a_session_that_cannot_be_prepared_is_tried_again(
    plans: Planner, prepared: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_spark: Any) -> None:
        raise ValueError("no view")

    monkeypatch.setattr(planner, "tune", fail)
    with pytest.raises(ValueError, match="no view"), plans.use_session(CALLER):
        pass
    monkeypatch.setattr(planner, "tune", prepared.append)
    with plans.use_session(CALLER):
        pass
    assert len(prepared) == 1


def test_sessions_that_are_not_used_for_long_are_forgotten(
    plans: Planner, prepared: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(planner, "monotonic", lambda: now[0])
    for key, time in ((KEY, 0.0), (OTHER, 0.5), (KEY, 0.9), (OTHER, 1.8), (OTHER, 2.0)):
        now[0] = time * IDLE_SECONDS
        with plans.use_session(Caller(key)):
            pass
    assert list(plans.sessions) == [OTHER]
    assert len(prepared) == 2
    with plans.use_session(CALLER):
        pass
    assert len(prepared) == 3


def test_nothing_is_left_of_a_session_that_has_ended(plans: Planner, prepared: list[Any]) -> None:
    with plans.use_session(CALLER) as spark:
        plans.forget_session(KEY)
        session = weakref.ref(spark)
        assert spark.client is not None  # a statement that runs can go on
    del spark
    prepared.clear()
    gc.collect()
    assert session() is None
    with plans.use_session(CALLER):
        assert len(prepared) == 1
