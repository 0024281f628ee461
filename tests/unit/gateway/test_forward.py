"""Calls reach the engine as clients sent them, and faults reach clients as clear errors.

The engine is a server of gRPC that notes its calls. Nothing is planned but by stand-ins.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

import grpc
import pytest

proto = pytest.importorskip("pyspark.sql.connect.proto")
rpc_status = pytest.importorskip("grpc_status.rpc_status")

import matchrec  # noqa: E402 -- after the check that PySpark has Spark Connect
from matchrec.gateway import executions, forward, serve  # noqa: E402
from matchrec.gateway.forward import SERVICE  # noqa: E402
from matchrec.gateway.planner import Caller  # noqa: E402
from tests.unit.gateway.fake_engine import ANY_LENGTH, FakeEngine, run_engine  # noqa: E402

CLAUSE = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x PATTERN (A) DEFINE A AS x > 1)"
KEYS = Path(__file__).parents[2] / "spark" / "gateway"


@pytest.fixture
def engine() -> FakeEngine:
    """Return the service behind the gateway."""
    return FakeEngine()


@pytest.fixture
def channel(engine: FakeEngine) -> Iterator[Any]:
    """Yield a channel to a gateway in front of the engine."""
    with run_engine(engine) as (port, _), open_channel(f"sc://localhost:{port}") as channel:
        yield channel


class open_channel:  # noqa: N801 -- used as a function
    """Start a gateway in front of an engine, and return a channel to it for a `with` statement."""

    def __init__(self, address: str, **arguments: Any) -> None:
        self.gateway = matchrec.serve(engine=address, port=0, **arguments)
        target = self.gateway.address.removeprefix("sc://")
        self.channel = grpc.insecure_channel(target, ANY_LENGTH)

    def __enter__(self) -> Any:
        """Return the channel."""
        return self.channel

    def __exit__(self, *_: object) -> None:
        """Close the channel and stop the gateway."""
        self.channel.close()
        self.gateway.stop()


def call(channel: Any, name: str, *messages: bytes, **arguments: Any) -> list[bytes]:
    """Return the responses to a call."""
    method = channel.stream_stream(f"{SERVICE}{name}")
    return list(method(iter(messages), timeout=20, **arguments))


def is_available(channel: Any) -> bool:
    """Return whether the engine answers; False if a client should repeat its call."""
    try:
        return call(channel, "Config", b"again") == [b"again"]
    except grpc.RpcError as error:
        assert error.code() is grpc.StatusCode.UNAVAILABLE  # noqa: PT017 -- it may be either
        return False


# What is passed on.


def test_metadata_is_passed_on(engine: FakeEngine, channel: Any) -> None:
    sent = [("x-team", "blue"), ("authorization", "Bearer mine"), ("x-trace-bin", b"\0\1")]
    call(channel, "Config", b"ask", metadata=sent)
    (noted,) = engine.calls
    assert [pair for pair in noted.metadata if pair[0] != "user-agent"] == sent
    assert noted.messages == [b"ask"]


def test_parameters_of_the_engines_address_win(engine: FakeEngine) -> None:
    with (
        run_engine(engine) as (port, _),
        open_channel(f"sc://localhost:{port}/;x-cluster=seven;user_id=me") as channel,
    ):
        call(channel, "Config", b"", metadata=[("x-cluster", "eight"), ("x-team", "blue")])
    (noted,) = engine.calls
    names = {name: value for name, value in noted.metadata if name != "user-agent"}
    assert names == {"x-cluster": "seven", "x-team": "blue"}


def test_metadata_of_the_engine_is_passed_back(engine: FakeEngine, channel: Any) -> None:
    def respond(_messages: list[bytes], context: Any) -> Iterator[bytes]:
        context.send_initial_metadata([("x-begin", "1")])
        context.set_trailing_metadata([("x-end", "2")])
        yield b"response"

    engine.respond = respond
    responses = channel.stream_stream(f"{SERVICE}Config")(iter([b""]))
    assert list(responses) == [b"response"]
    assert ("x-begin", "1") in responses.initial_metadata()
    assert ("x-end", "2") in responses.trailing_metadata()


@pytest.mark.parametrize("name", ["AddArtifacts", "ExecutePlan", "CallOfTheFuture"])
def test_large_messages_pass(channel: Any, name: str) -> None:
    large = bytes(20_000_000)
    assert call(channel, name, large) == [large]


def test_all_messages_of_a_stream_pass(engine: FakeEngine, channel: Any) -> None:
    """An artifact is sent in several messages."""
    messages = [b"begin", b"chunk", b"end"]
    assert call(channel, "AddArtifacts", *messages) == messages
    assert engine.calls[0].messages == messages


def test_a_plan_without_a_clause_is_passed_on_byte_by_byte(channel: Any) -> None:
    request = proto.ExecutePlanRequest(session_id=str(uuid4()))
    request.plan.command.sql_command.sql = "SELECT 'a pattern' AS word"
    message = request.SerializeToString() + b"\xca\x3e\x03new"  # a field 1001 of a newer client
    assert call(channel, "ExecutePlan", message) == [message]


def test_a_deadline_is_passed_on(engine: FakeEngine, channel: Any) -> None:
    left: list[float] = []

    def respond(messages: list[bytes], context: Any) -> list[bytes]:
        left.append(context.time_remaining())
        return messages

    engine.respond = respond
    call(channel, "Config", b"")
    assert 0 < left[0] < 21  # from 20 seconds


def test_an_error_of_the_engine_is_passed_back(engine: FakeEngine, channel: Any) -> None:
    def respond(_messages: list[bytes], context: Any) -> list[bytes]:
        context.set_trailing_metadata([("grpc-status-details-bin", b"details"), ("x-end", "2")])
        context.abort(grpc.StatusCode.UNAVAILABLE, "try again")
        return []

    engine.respond = respond
    with pytest.raises(grpc.RpcError) as caught:
        call(channel, "Config", b"")
    error: Any = caught.value
    # The engine runs, so it helps if the client repeats the call.
    assert (error.code(), error.details()) == (grpc.StatusCode.UNAVAILABLE, "try again")
    assert {("grpc-status-details-bin", b"details"), ("x-end", "2")} <= {*error.trailing_metadata()}


def test_an_execution_that_sail_does_not_know_may_be_sent_again(
    engine: FakeEngine, channel: Any
) -> None:
    """Clients send a query again only if the error has Spark's name."""

    def respond(_messages: list[bytes], context: Any) -> list[bytes]:
        context.abort(grpc.StatusCode.INTERNAL, "invalid argument: operation not found: 4b37")
        return []

    engine.respond = respond
    with pytest.raises(grpc.RpcError) as caught:
        call(channel, "ReattachExecute", b"")
    status = rpc_status.from_call(caught.value)
    assert "INVALID_HANDLE.OPERATION_NOT_FOUND" in status.message


# Faults.


def test_nothing_is_left_in_the_engine_if_a_client_ends_in_mid_stream(
    engine: FakeEngine, channel: Any
) -> None:
    def respond(_messages: list[bytes], context: Any) -> Iterator[bytes]:
        while context.is_active():
            yield bytes(100_000)

    engine.respond = respond
    responses = channel.stream_stream(f"{SERVICE}ExecutePlan")(iter([b""]))
    next(responses)
    assert not engine.call_has_ended.is_set()
    responses.cancel()
    assert engine.call_has_ended.wait(20)


def test_an_engine_that_has_ended_is_a_clear_error(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forward, "RECONNECT_SECONDS", 0.5)

    def respond(_messages: list[bytes], _context: Any) -> Iterator[bytes]:
        yield b"first"
        stops.result().stop(0).wait(5)

    engine.respond = respond
    stops: Future[Any] = Future()
    with run_engine(engine) as (port, server):
        stops.set_result(server)
        with open_channel(f"sc://localhost:{port}/;x-secret=hidden") as channel:
            for _ in range(2):  # in mid-stream, and at the beginning of a call
                began = monotonic()
                with pytest.raises(grpc.RpcError) as caught:
                    call(channel, "ExecutePlan", b"")
                error: Any = caught.value
                # Clients would repeat the call for ten minutes if it were UNAVAILABLE.
                assert error.code() is grpc.StatusCode.INTERNAL
                assert error.details() == (
                    f"the gateway cannot reach the engine at sc://localhost:{port} "
                    "[engine-not-reachable]\n"
                    "  note: a restarted engine has lost the sessions of its clients\n"
                    "  help: start the engine, and connect again"
                )
                assert monotonic() - began < 10
            restarted = FakeEngine()
            monkeypatch.setattr(forward, "RECONNECT_SECONDS", 20.0)
            with run_engine(restarted, port):
                assert any(is_available(channel) or sleep(0.2) for _ in range(50))


def test_an_engine_may_need_tls_and_a_token(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = (KEYS / "localhost.pem").read_bytes()
    key = (KEYS / "localhost.key").read_bytes()
    # The program trusts the certificate, as with GRPC_DEFAULT_SSL_ROOTS_FILE_PATH.
    trusting = partial(grpc.ssl_channel_credentials, certificate)
    monkeypatch.setattr(grpc, "ssl_channel_credentials", trusting)
    credentials = grpc.ssl_server_credentials([(key, certificate)])
    with (
        run_engine(engine, credentials=credentials) as (port, _),
        open_channel(f"sc://localhost:{port}/;use_ssl=true;token=secret") as channel,
    ):
        # The engine's token wins over a client's own.
        call(channel, "Config", b"", metadata=[("authorization", "Bearer guessed")])
    (noted,) = engine.calls
    tokens = [value for name, value in noted.metadata if name == "authorization"]
    assert tokens == ["Bearer secret"]


def test_an_engine_on_this_machine_may_need_a_token_without_tls(engine: FakeEngine) -> None:
    """PySpark itself starts such a server for `remote("local")`."""
    from pyspark.sql.connect import client

    if not hasattr(client, "DefaultChannelBuilder"):
        pytest.skip("PySpark 3.5 sends tokens only over TLS")
    with (
        run_engine(engine) as (port, _),
        open_channel(f"sc://localhost:{port}/;token=secret") as channel,
    ):
        call(channel, "Config", b"")
    assert ("authorization", "Bearer secret") in engine.calls[0].metadata


def test_a_token_of_the_gateway_stays_there(engine: FakeEngine) -> None:
    with (
        run_engine(engine) as (port, _),
        open_channel(f"sc://localhost:{port}", token="mine") as channel,
    ):
        call(channel, "Config", b"", metadata=[("authorization", "Bearer mine")])
    assert "authorization" not in dict(engine.calls[0].metadata)


# Executions that the gateway plans.


class SlowPlanner:
    """A planner whose statements end when a test wants it."""

    prepares_sessions = False

    def __init__(self) -> None:
        self.callers: list[Caller] = []
        self.interrupted: list[str] = []
        self.has_begun = threading.Event()
        self.may_end = threading.Event()
        self.error: Exception | None = None

    def prepare_session(self, _caller: Caller) -> None:
        """Do nothing."""

    def plan(self, caller: Caller, _statement: Any) -> Any:
        """Return a relation of one row, or raise the error, once the statement may end."""
        self.callers.append(caller)
        self.has_begun.set()
        assert self.may_end.wait(20)
        if self.error is not None:
            raise self.error
        relation = proto.Relation()
        relation.range.end = 1
        return relation

    def interrupt(self, _caller: Caller, tag: str) -> None:
        """Note a tag."""
        self.interrupted.append(tag)

    def close(self) -> None:
        """Do nothing."""


@pytest.fixture
def planner(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowPlanner]:
    """Yield the planner of the gateway."""
    planner = SlowPlanner()
    monkeypatch.setattr(serve, "Planner", lambda _address, _prepare: planner)
    yield planner
    planner.may_end.set()


@pytest.fixture
def waiting(planner: SlowPlanner, channel: Any) -> Iterator[Waiting]:
    """Yield an execution that is being planned."""
    with ThreadPoolExecutor(3) as threads:
        yield Waiting(planner, channel, threads)
        planner.may_end.set()


class Waiting:
    """An execution of a client, `first`, while its statement is being planned."""

    def __init__(self, planner: SlowPlanner, channel: Any, threads: ThreadPoolExecutor) -> None:
        self.operation = str(uuid4())
        self.session = str(uuid4())
        self.channel = channel
        self.threads = threads
        request = self.fill(proto.ExecutePlanRequest(tags=["nightly"]))
        request.plan.command.sql_command.sql = CLAUSE
        self.request = request
        self.first = self.send("ExecutePlan", request)
        assert planner.has_begun.wait(20)

    def fill(self, request: Any) -> Any:
        """Return a request with the ids of the execution."""
        request.session_id, request.operation_id = self.session, self.operation
        request.user_context.user_id = "reader"
        return request

    def send(self, name: str, request: Any) -> Future[list[bytes]]:
        """Return the responses to a call, once they are there."""
        return self.threads.submit(call, self.channel, name, request.SerializeToString())


@pytest.mark.parametrize("name", ["ReattachExecute", "ExecutePlan"])
def test_a_client_whose_connection_breaks_while_its_statement_is_planned_gets_the_answer(
    engine: FakeEngine, planner: SlowPlanner, waiting: Waiting, name: str
) -> None:
    """An INSERT must not run twice."""
    again = waiting.fill(proto.ReattachExecuteRequest())
    second = waiting.send(name, again if name == "ReattachExecute" else waiting.request)
    planner.may_end.set()
    responses = waiting.first.result(20)
    assert len(responses) == 2
    assert second.result(20) == responses
    assert len(planner.callers) == 1
    assert engine.calls == []


def test_a_client_that_comes_back_gets_the_error(planner: SlowPlanner, waiting: Waiting) -> None:
    planner.error = matchrec.MatchRecognizePlanError("no such column")
    planner.may_end.set()
    again = waiting.fill(proto.ReattachExecuteRequest())
    for execution in (waiting.first, waiting.send("ReattachExecute", again)):
        with pytest.raises(grpc.RpcError, match="no such column"):
            execution.result(20)


def test_a_running_execution_is_not_dropped_for_newer_ones(
    engine: FakeEngine, planner: SlowPlanner, waiting: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise its client would send it again, and an INSERT would run twice."""
    monkeypatch.setattr(executions, "MAX_EXECUTIONS", 1)
    newer = proto.ExecutePlanRequest(session_id=str(uuid4()))
    newer.plan.command.sql_command.sql = CLAUSE
    second = waiting.send("ExecutePlan", newer)
    end = monotonic() + 20
    while len(planner.callers) < 2 and monotonic() < end:
        sleep(0.05)
    again = waiting.send("ReattachExecute", waiting.fill(proto.ReattachExecuteRequest()))
    planner.may_end.set()
    responses = waiting.first.result(20)
    assert len(responses) == 2
    assert again.result(20) == responses
    assert len(second.result(20)) == 2
    assert len(planner.callers) == 2
    assert engine.calls == []


def test_the_oldest_answer_is_dropped_if_there_are_many(
    engine: FakeEngine, planner: SlowPlanner, waiting: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executions, "MAX_EXECUTIONS", 1)
    planner.may_end.set()
    waiting.first.result(20)
    newer = proto.ExecutePlanRequest(session_id=str(uuid4()))
    newer.plan.command.sql_command.sql = CLAUSE
    assert len(waiting.send("ExecutePlan", newer).result(20)) == 2
    again = waiting.fill(proto.ReattachExecuteRequest())
    message = again.SerializeToString()
    assert waiting.send("ReattachExecute", again).result(20) == [message]  # the engine's answer
    assert [noted.method for noted in engine.calls] == ["ReattachExecute"]


def test_other_sessions_cannot_ask_for_an_answer(
    engine: FakeEngine, planner: SlowPlanner, waiting: Waiting
) -> None:
    planner.may_end.set()
    waiting.first.result(20)
    stolen = waiting.fill(proto.ReattachExecuteRequest())
    stolen.user_context.user_id = "thief"
    message = stolen.SerializeToString()
    assert waiting.send("ReattachExecute", stolen).result(20) == [message]  # the engine's answer
    assert engine.calls[0].method == "ReattachExecute"


def test_the_engine_can_interrupt_what_the_planner_runs(
    engine: FakeEngine, planner: SlowPlanner, waiting: Waiting
) -> None:
    (caller,) = planner.callers
    assert caller.tags == ("nightly", waiting.operation)
    request = waiting.fill(proto.InterruptRequest())
    request.interrupt_type = proto.InterruptRequest.INTERRUPT_TYPE_OPERATION_ID
    (message,) = waiting.send("Interrupt", request).result(20)
    sent = proto.InterruptRequest.FromString(message)
    assert sent.interrupt_type == proto.InterruptRequest.INTERRUPT_TYPE_TAG
    assert sent.operation_tag == waiting.operation
    assert [noted.method for noted in engine.calls] == ["Interrupt"]


def test_an_execution_that_its_client_no_longer_wants_is_interrupted(
    planner: SlowPlanner, waiting: Waiting
) -> None:
    release = waiting.fill(proto.ReleaseExecuteRequest())
    release.release_all.SetInParent()
    (response,) = waiting.send("ReleaseExecute", release).result(20)
    assert proto.ReleaseExecuteResponse.FromString(response).operation_id == waiting.operation
    assert planner.interrupted == [waiting.operation]


def test_a_failed_interruption_is_a_clear_error_and_can_be_repeated(
    planner: SlowPlanner, waiting: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_caller: Caller, _tag: str) -> None:
        raise RuntimeError("the engine is out of threads")

    release = waiting.fill(proto.ReleaseExecuteRequest())
    release.release_all.SetInParent()
    with monkeypatch.context() as patch:
        patch.setattr(planner, "interrupt", fail)
        with pytest.raises(grpc.RpcError) as failure:
            waiting.send("ReleaseExecute", release).result(20)
    assert failure.value.code() is grpc.StatusCode.INTERNAL
    assert "the engine is out of threads" in failure.value.details()
    waiting.send("ReleaseExecute", release).result(20)
    assert planner.interrupted == [waiting.operation]


def test_a_clause_in_a_dataframe_is_replaced_if_the_engine_runs_the_command(
    engine: FakeEngine, planner: SlowPlanner, channel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The word in quotes is no clause, so the engine runs the command, with the DataFrame."""
    text = "SELECT 'match_recognize (' AS word, * FROM df1"

    def plan(_caller: Caller, statement: Any) -> Any:
        relation = proto.Relation()
        relation.range.end = 3
        return relation if statement.text == CLAUSE else None

    monkeypatch.setattr(planner, "plan", plan)
    request = proto.ExecutePlanRequest(session_id=str(uuid4()))
    command_input = request.plan.command.sql_command.input
    command_input.with_relations.root.sql.query = text
    reference = command_input.with_relations.references.add()
    reference.subquery_alias.alias = "df1"
    reference.subquery_alias.input.sql.query = CLAUSE
    (message,) = call(channel, "ExecutePlan", request.SerializeToString())
    received = proto.ExecutePlanRequest.FromString(message)
    with_relations = received.plan.command.sql_command.input.with_relations
    assert with_relations.root.sql.query == text
    assert with_relations.references[0].subquery_alias.input.range.end == 3
    assert [noted.method for noted in engine.calls] == ["ExecutePlan"]


def test_metadata_of_the_client_goes_to_the_planner(planner: SlowPlanner, channel: Any) -> None:
    planner.may_end.set()
    request = proto.ExecutePlanRequest(session_id=str(uuid4()))
    request.plan.command.sql_command.sql = CLAUSE
    sent = [("authorization", "Bearer mine"), ("x-team", "blue")]
    call(channel, "ExecutePlan", request.SerializeToString(), metadata=sent)
    assert [*planner.callers[0].metadata] == sent


def test_a_command_that_takes_long_does_not_hold_the_others(
    planner: SlowPlanner, channel: Any
) -> None:
    """CREATE TABLE AS runs while it is planned."""
    requests = []
    for _ in range(40):
        request = proto.ExecutePlanRequest(session_id=str(uuid4()))
        request.plan.command.sql_command.sql = CLAUSE
        requests.append(request.SerializeToString())
    with ThreadPoolExecutor(40) as threads:
        send: Callable[[bytes], list[bytes]] = partial(call, channel, "ExecutePlan")
        answers = [threads.submit(send, request) for request in requests]
        end = monotonic() + 20
        while len(planner.callers) < 40 and monotonic() < end:
            threading.Event().wait(0.05)
        assert len(planner.callers) == 40
        planner.may_end.set()
        assert all(len(answer.result(20)) == 2 for answer in answers)


def test_only_the_status_of_a_call_says_that_the_engine_is_unavailable() -> None:
    """The details of an error may have the word, for example in a user's text."""
    metadata = grpc.aio.Metadata()
    word = "UNAVAILABLE"
    internal = grpc.aio.AioRpcError(grpc.StatusCode.INTERNAL, metadata, metadata, word)
    unavailable = grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, metadata, metadata, "")
    assert not forward.is_unavailable(internal)
    assert forward.is_unavailable(unavailable)
    assert forward.is_unavailable(RuntimeError("<_InactiveRpcError: StatusCode.UNAVAILABLE>"))
