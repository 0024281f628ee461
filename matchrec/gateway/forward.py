"""Pass the calls of clients on to the engine's server, and answer those that have a clause.

Messages are passed on as bytes, so that a newer client or engine may send what this program does
not know. Only the plans of `ExecutePlan` and `AnalyzePlan` are read.

All calls run in one event loop, without a thread each. A client that reads slowly holds only its
own call: gRPC stops reading from the engine until the client has taken what is there.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import uuid4

import grpc
import pyspark.sql.connect.proto as proto

from matchrec.gateway import statements
from matchrec.gateway.planner import Planner, SessionKey
from matchrec.gateway.status import ErrorLog

SERVICE = "/spark.connect.SparkConnectService/"
HEALTH_CHECK = "/grpc.health.v1.Health/Check"
SERVING = b"\x08\x01"  # the message HealthCheckResponse with the status SERVING

# Metadata that belongs to one connection, so that it is not passed on.
OF_CONNECTION = ("user-agent", "content-type", "te", "host")

# How many answers of the gateway itself are kept until their clients release them.
MOST_ANSWERS = 1000

NO_TOKEN = "the call has no token, or another one; pass the token that the gateway was started with"

Metadata = Sequence[tuple[str, str | bytes]]


@dataclass(frozen=True, slots=True)
class OwnAnswer:
    """The responses of the gateway itself to one execution."""

    ids: tuple[str, ...]
    messages: tuple[bytes, ...]

    def after(self, response_id: str) -> tuple[bytes, ...]:
        """Return the messages after the one that a client has received last; "" for none."""
        first = self.ids.index(response_id) + 1 if response_id in self.ids else 0
        return self.messages[first:]


@dataclass(slots=True)
class Forwarder(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    """The service that clients call.

    Args:
        channel: the channel to the engine's server.
        metadata: what every call to the engine's server carries, such as its token.
        planner: plans statements with clauses.
        threads: run the planner, which waits for the engine.
        token: what clients must send as `authorization: Bearer TOKEN`; None if anyone may call.
    """

    channel: Any
    metadata: Metadata
    planner: Planner
    threads: ThreadPoolExecutor
    token: str | None
    errors: ErrorLog = field(default_factory=ErrorLog)
    # The answers that clients may still ask for again, by operation id; the oldest first.
    answers: dict[str, OwnAnswer] = field(default_factory=dict)

    def service(self, call: Any) -> Any:
        """Return what handles a call; None if the gateway has no such method."""
        method: str = call.method
        if method == HEALTH_CHECK:
            return grpc.unary_unary_rpc_method_handler(report_health)
        if not method.startswith(SERVICE):
            return None
        if not self.is_allowed(call.invocation_metadata):
            return grpc.stream_stream_rpc_method_handler(refuse)
        match method.removeprefix(SERVICE):
            case "ExecutePlan":
                return grpc.unary_stream_rpc_method_handler(self.execute)
            case "AnalyzePlan":
                return grpc.unary_stream_rpc_method_handler(self.analyze)
            case "ReattachExecute":
                return grpc.unary_stream_rpc_method_handler(self.reattach)
            case "ReleaseExecute":
                return grpc.unary_stream_rpc_method_handler(self.release_execution)
            case "ReleaseSession":
                return grpc.unary_stream_rpc_method_handler(self.release_session)
            case "FetchErrorDetails":
                return grpc.unary_stream_rpc_method_handler(self.fetch_details)
        # On the wire, a call with one message is a stream with one message. So streams carry all.
        return grpc.stream_stream_rpc_method_handler(partial(self.forward, method))

    def is_allowed(self, metadata: Metadata) -> bool:
        """Return whether a call carries the token."""
        if self.token is None:
            return True
        sent = [value for name, value in metadata if name == "authorization"]
        expected = f"Bearer {self.token}"
        return any(hmac.compare_digest(str(value), expected) for value in sent)

    # Calls that are passed on.

    async def forward(
        self, method: str, requests: AsyncIterator[bytes], context: Any
    ) -> AsyncIterator[bytes]:
        """Send messages to the engine's server, and yield what it answers.

        If the client ends the call, this coroutine is cancelled, and with it the call to the
        engine.
        """
        call = self.channel.stream_stream(method)(
            requests,
            metadata=[*self.list_passed(context.invocation_metadata()), *self.metadata],
            timeout=context.time_remaining(),
        )
        try:
            await context.send_initial_metadata(tuple(await call.initial_metadata()))
            async for message in call:
                yield message
            context.set_trailing_metadata(tuple(await call.trailing_metadata()))
        except grpc.aio.AioRpcError as error:
            trailing = tuple(error.trailing_metadata() or ())
            await context.abort(error.code(), error.details(), trailing)
        finally:
            call.cancel()

    def pass_on(self, name: str, message: bytes, context: Any) -> AsyncIterator[bytes]:
        """Pass a call with one message on to the method `name` of the engine's service."""
        return self.forward(f"{SERVICE}{name}", yield_all([message]), context)

    def list_passed(self, metadata: Metadata) -> Metadata:
        """Return the metadata of a client that is passed on.

        A token that the gateway has asked for is not for the engine.
        """
        withheld = OF_CONNECTION if self.token is None else (*OF_CONNECTION, "authorization")
        return [
            (name, value)
            for name, value in metadata
            if name not in withheld and not name.startswith("grpc-")
        ]

    # Calls whose plan may have a clause.

    async def execute(self, message: bytes, context: Any) -> AsyncIterator[bytes]:
        """Execute a plan: a statement with a clause here, any other plan in the engine."""
        answer: OwnAnswer | bytes = message
        if self.planner.prepares_sessions or statements.may_hold_clause(message):
            request = proto.ExecutePlanRequest.FromString(message)
            answer = await self.attempt(context, lambda: self.answer(request, message))
        if isinstance(answer, OwnAnswer):
            responses = yield_all(answer.messages)
        else:
            responses = self.pass_on("ExecutePlan", answer, context)
        async for response in responses:
            yield response

    async def analyze(self, message: bytes, context: Any) -> AsyncIterator[bytes]:
        """Let the engine analyse a plan, after its SQL with clauses has been replaced."""
        if self.planner.prepares_sessions or statements.may_hold_clause(message):
            request = proto.AnalyzePlanRequest.FromString(message)
            original = message
            message = await self.attempt(context, lambda: self.rewrite(request, original))
        async for response in self.pass_on("AnalyzePlan", message, context):
            yield response

    async def attempt(self, context: Any, work: Callable[[], Any]) -> Any:
        """Do some work in a thread, and return its result. If it fails, end the call."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self.threads, work)
        except Exception as error:  # noqa: BLE001 -- every error has to reach the client
            failure = self.errors.describe(error)
            return await context.abort(failure.code, failure.message, failure.details)

    def answer(self, request: Any, message: bytes) -> OwnAnswer | bytes:
        """Return the answer to a statement with a clause; for any other plan the message.

        Args:
            request: an `ExecutePlanRequest`.
            message: the same request, as the client has sent it.
        """
        key = read_key(request)
        statements.expand_plan(request.plan)
        command = statements.read_command(request.plan)
        if command is None:
            return self.rewrite(request, message)
        relation = self.planner.plan(key, command)
        if relation is None:
            return message
        operation = request.operation_id or str(uuid4())
        answer = build_answer(request, operation, relation)
        self.answers[operation] = answer
        while len(self.answers) > MOST_ANSWERS:
            del self.answers[next(iter(self.answers))]
        return answer

    def rewrite(self, request: Any, message: bytes) -> bytes:
        """Return a request without clauses: the message itself if it has none."""
        key = read_key(request)
        self.planner.open(key)
        replaced = statements.replace_statements(
            request, lambda statement: self.planner.plan(key, statement)
        )
        return request.SerializeToString() if replaced else message

    # Calls about an execution, a session or an error that the gateway has answered itself.

    async def reattach(self, message: bytes, context: Any) -> AsyncIterator[bytes]:
        """Continue an execution after the last response that the client has received."""
        request = proto.ReattachExecuteRequest.FromString(message)
        answer = self.answers.get(request.operation_id)
        if answer is None:
            responses = self.pass_on("ReattachExecute", message, context)
        else:
            responses = yield_all(answer.after(request.last_response_id))
        async for response in responses:
            yield response

    async def release_execution(self, message: bytes, context: Any) -> AsyncIterator[bytes]:
        """Forget the answer to an execution that the client has read."""
        request = proto.ReleaseExecuteRequest.FromString(message)
        if request.operation_id in self.answers:
            if request.HasField("release_all"):
                del self.answers[request.operation_id]
            released = proto.ReleaseExecuteResponse(
                session_id=request.session_id, operation_id=request.operation_id
            )
            yield released.SerializeToString()
            return
        async for response in self.pass_on("ReleaseExecute", message, context):
            yield response

    async def release_session(self, message: bytes, context: Any) -> AsyncIterator[bytes]:
        """End a session, and the planner's part of it."""
        key = read_key(proto.ReleaseSessionRequest.FromString(message))
        async for response in self.pass_on("ReleaseSession", message, context):
            yield response
        self.planner.close_session(key)

    async def fetch_details(self, message: bytes, context: Any) -> AsyncIterator[bytes]:
        """Return the whole message of an error, of the gateway or of the engine."""
        request = proto.FetchErrorDetailsRequest.FromString(message)
        details = self.errors.answers.get(request.error_id)
        if details is not None:
            yield details
            return
        async for response in self.pass_on("FetchErrorDetails", message, context):
            yield response


def read_key(request: Any) -> SessionKey:
    """Return what identifies the session of a request."""
    return SessionKey(request.user_context.user_id, request.session_id)


def build_answer(request: Any, operation: str, relation: Any) -> OwnAnswer:
    """Return the responses to a SQL command whose result is a relation.

    Args:
        request: the client's `ExecutePlanRequest`.
        operation: the id of the execution.
        relation: the result.
    """
    ids = (str(uuid4()), str(uuid4()))
    result = proto.ExecutePlanResponse(
        session_id=request.session_id, operation_id=operation, response_id=ids[0]
    )
    result.sql_command_result.relation.CopyFrom(relation)
    end = proto.ExecutePlanResponse(
        session_id=request.session_id, operation_id=operation, response_id=ids[1]
    )
    end.result_complete.SetInParent()
    return OwnAnswer(ids, (result.SerializeToString(), end.SerializeToString()))


async def yield_all(messages: Iterable[bytes]) -> AsyncIterator[bytes]:
    """Yield messages as a stream of gRPC."""
    for message in messages:
        yield message


async def report_health(_: bytes, __: Any) -> bytes:
    """Answer a health check. The gateway serves as long as it answers."""
    return SERVING


async def refuse(_: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
    """Refuse a call without the token."""
    await context.abort(grpc.StatusCode.UNAUTHENTICATED, NO_TOKEN)
    yield b""  # makes this function a generator, as gRPC needs it; `abort` has raised an error
