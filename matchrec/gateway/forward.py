"""Pass the calls of clients on to the engine's server, and answer those that have a clause.

Messages are passed on as bytes, so that newer clients and engines can use fields that this program
does not know. It reads only the calls of `ANSWERS`: they have one message, which is about a plan,
an execution, a session or an error.

All calls share one event loop instead of having a thread each. A client that reads slowly delays
only its own call: gRPC stops reading the engine's answer until the client has read what was sent.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, NoReturn, TypeVar
from uuid import uuid4

import grpc
import pyspark.sql.connect.proto as proto

from matchrec.errors import gateway as errors
from matchrec.gateway import statements
from matchrec.gateway.planner import Caller, Metadata, Planner, SessionKey
from matchrec.gateway.status import ErrorLog

T = TypeVar("T")

SERVICE = "/spark.connect.SparkConnectService/"
HEALTH_CHECK = "/grpc.health.v1.Health/Check"
SERVING = b"\x08\x01"  # the message HealthCheckResponse with the status SERVING

# Metadata that belongs to one connection, so that it is not passed on.
CONNECTION_METADATA = ("user-agent", "content-type", "te", "host")
TOKEN_KEY = "authorization"

# How many replies to executions are kept until their clients release them. There are more only if
# more are running.
MOST_EXECUTIONS = 1000

# After a connection is lost, how many seconds the engine's server has to accept another one.
PATIENCE = 3.0

# Part of Sail's error message for the id of an execution that it does not know.
SAILS_LOST_OPERATION = "operation not found"

NO_TOKEN = "the call has no token, or another one; pass the token that the gateway was started with"


@dataclass(frozen=True, slots=True)
class OwnResponses:
    """The responses of the gateway itself to a call, in their order."""

    messages: tuple[bytes, ...]
    # The ids of the responses to an execution; empty for other calls.
    ids: tuple[str, ...] = ()

    def after(self, response_id: str) -> OwnResponses:
        """Return the responses that a client has not received yet.

        Args:
            response_id: the id of the last response that it has received; "" if it has none.
        """
        first = self.ids.index(response_id) + 1 if response_id in self.ids else 0
        return OwnResponses(self.messages[first:], self.ids[first:])


# What the gateway does with a call: it passes this message on to the engine, or responds itself.
Reply = bytes | OwnResponses

# An execution of a session, by its operation id.
ExecutionKey = tuple[SessionKey, str]


@dataclass(slots=True)
class Forwarder(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    """The service that clients call."""

    # The address of the engine's server, for errors.
    engine: str
    # The channel to the engine's server.
    channel: Any
    # Sent with every call to the engine's server, for example its token.
    metadata: Metadata
    # Plans statements with clauses.
    planner: Planner
    # The planner runs in these threads, because it waits for the engine.
    threads: ThreadPoolExecutor
    # Clients must send `authorization: Bearer TOKEN`; None if anyone may call.
    token: str | None
    # The errors of calls, for clients that ask for their whole messages.
    errors: ErrorLog = field(default_factory=ErrorLog)
    # The replies to executions that the gateway plans, or has planned and answered itself. Clients
    # may ask for them again. The oldest comes first.
    executions: dict[ExecutionKey, asyncio.Future[Reply]] = field(default_factory=dict)

    def service(self, call: Any) -> Any:
        """Return the handler of a call; None if the gateway has no such method."""
        method: str = call.method
        if method == HEALTH_CHECK:
            return grpc.unary_unary_rpc_method_handler(report_health)
        if not method.startswith(SERVICE):
            return None
        if not self.is_allowed(call.invocation_metadata):
            return grpc.stream_stream_rpc_method_handler(refuse)
        answer = ANSWERS.get(method.removeprefix(SERVICE))
        if answer is not None:
            return grpc.unary_stream_rpc_method_handler(partial(self.respond, method, answer))
        # On the wire, a call with one message is a stream with one message. So streams carry all.
        return grpc.stream_stream_rpc_method_handler(partial(self.forward, method))

    def is_allowed(self, metadata: Metadata) -> bool:
        """Return whether a call carries the token."""
        if self.token is None:
            return True
        sent = [str(value).encode() for name, value in metadata if name == TOKEN_KEY]
        expected = f"Bearer {self.token}".encode()
        return any(hmac.compare_digest(value, expected) for value in sent)

    # Calls that are passed on.

    async def forward(
        self, method: str, requests: AsyncIterator[bytes], context: Any
    ) -> AsyncIterator[bytes]:
        """Send messages to the engine's server, and yield its answers.

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
            await self.check_engine(context, error)
            if SAILS_LOST_OPERATION in (error.details() or ""):
                await self.fail(context, errors.operation_not_found())
            trailing = tuple(error.trailing_metadata() or ())
            await context.abort(error.code(), error.details(), trailing)
        finally:
            call.cancel()

    def list_passed(self, metadata: Metadata) -> Metadata:
        """Return the part of a client's metadata that is passed on to the engine.

        The gateway's own token is not passed on. Metadata with a name that the gateway itself sends
        to the engine is not passed on either, so a client cannot replace the engine's token.
        """
        withheld = {*CONNECTION_METADATA, *(name for name, _ in self.metadata)}
        if self.token is not None:
            withheld.add(TOKEN_KEY)
        return tuple(
            (name, value)
            for name, value in metadata
            if name not in withheld and not name.startswith("grpc-")
        )

    # Calls that end with an error.

    async def fail(self, context: Any, error: Exception) -> NoReturn:
        """End a call with an error of the gateway."""
        status = self.errors.describe(error)
        await context.abort(status.code, status.details, status.trailing_metadata)
        raise AssertionError("`abort` raises an error")

    async def check_engine(self, context: Any, error: Exception) -> None:
        """End a call whose error shows that the connection is lost, if the engine does not run.

        Clients repeat a call for ten minutes if its status is UNAVAILABLE. That helps only if the
        engine runs and only the connection was lost.
        """
        if "UNAVAILABLE" not in str(error):
            return
        try:
            await asyncio.wait_for(self.channel.channel_ready(), PATIENCE)
        except asyncio.TimeoutError:
            await self.fail(context, errors.engine_not_reachable(self.engine))

    # Calls that the gateway reads. Each method returns a message to pass on, or the responses.

    async def respond(
        self, method: str, answer: Answer, message: bytes, context: Any
    ) -> AsyncIterator[bytes]:
        """Answer a call with one message, or pass it on."""
        reply = await answer(self, message, context)
        if isinstance(reply, OwnResponses):
            responses = yield_all(reply.messages)
        else:
            responses = self.forward(method, yield_all([reply]), context)
        async for response in responses:
            yield response

    async def execute(self, message: bytes, context: Any) -> Reply:
        """Plan a statement with a clause here; let the engine execute any other plan.

        The reply to an execution is found only once. If the connection breaks, a client asks for
        it again, with `ReattachExecute` or with the same `ExecutePlan`, and an INSERT must not run
        twice.
        """
        if not self.must_read(message):
            return message
        request = proto.ExecutePlanRequest.FromString(message)
        request.operation_id = request.operation_id or str(uuid4())
        key = read_execution_key(request)
        if key not in self.executions:
            caller = self.read_caller(request, context)
            self.keep_execution(key, self.start(self.plan_execution, request, message, caller))
        reply = await self.finish(self.executions[key], context)
        if isinstance(reply, bytes):
            self.executions.pop(key, None)
        return reply

    async def analyze(self, message: bytes, context: Any) -> Reply:
        """Let the engine analyse a plan, after its SQL with clauses has been replaced."""
        if not self.must_read(message):
            return message
        request = proto.AnalyzePlanRequest.FromString(message)
        caller = self.read_caller(request, context)
        return await self.finish(self.start(self.rewrite, request, message, caller), context)

    async def reattach(self, message: bytes, context: Any) -> Reply:
        """Continue an execution after the last response that the client has received."""
        request = proto.ReattachExecuteRequest.FromString(message)
        execution = self.executions.get(read_execution_key(request))
        if execution is None:
            return message
        reply = await self.finish(execution, context)
        return reply.after(request.last_response_id) if isinstance(reply, OwnResponses) else message

    async def release_execution(self, message: bytes, context: Any) -> Reply:
        """Forget the reply to an execution that the client has read, or no longer wants."""
        request = proto.ReleaseExecuteRequest.FromString(message)
        key = read_execution_key(request)
        if key not in self.executions:
            return message
        if request.HasField("release_all"):
            if not self.executions[key].done():
                caller = self.read_caller(request, context)
                interruption = self.start(self.planner.interrupt, caller, request.operation_id)
                await self.finish(interruption, context)
            self.executions.pop(key, None)  # another call may have dropped it meanwhile
        released = proto.ReleaseExecuteResponse(
            session_id=request.session_id, operation_id=request.operation_id
        )
        return OwnResponses((released.SerializeToString(),))

    async def interrupt(self, message: bytes, _: Any) -> Reply:
        """Let the engine interrupt executions.

        What the planner runs for an execution has a tag in the engine: the operation id.
        """
        request = proto.InterruptRequest.FromString(message)
        if read_execution_key(request) not in self.executions:
            return message
        request.interrupt_type = proto.InterruptRequest.INTERRUPT_TYPE_TAG
        request.operation_tag = request.operation_id
        return bytes(request.SerializeToString())

    async def release_session(self, message: bytes, _: Any) -> Reply:
        """Let the engine end a session, and forget the planner's part of it."""
        self.planner.forget(read_key(proto.ReleaseSessionRequest.FromString(message)))
        return message

    async def fetch_details(self, message: bytes, _: Any) -> Reply:
        """Return the whole message of an error, of the gateway or of the engine."""
        request = proto.FetchErrorDetailsRequest.FromString(message)
        details = self.errors.answers.get(request.error_id)
        return message if details is None else OwnResponses((details,))

    # Planning, which runs in threads.

    def must_read(self, message: bytes) -> bool:
        """Return whether a plan may have a clause, or its session may have to be prepared."""
        return self.planner.prepares_sessions or statements.may_hold_clause(message)

    def start(self, work: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        """Start some work in a thread."""
        return asyncio.get_running_loop().run_in_executor(self.threads, work, *arguments)

    async def finish(self, work: asyncio.Future[T], context: Any) -> T:
        """Wait for some work, and return its result. If it fails, end the call.

        The work goes on if the client ends the call.
        """
        try:
            return await asyncio.shield(work)
        except Exception as error:  # noqa: BLE001 -- every error has to reach the client
            await self.check_engine(context, error)
            await self.fail(context, error)

    def keep_execution(self, key: ExecutionKey, execution: asyncio.Future[Reply]) -> None:
        """Keep the reply to an execution. If there are many, drop the oldest that has ended.

        A running execution is never dropped: its client would send it again, and an INSERT would
        run twice.
        """
        excess = len(self.executions) + 1 - MOST_EXECUTIONS
        ended = (known for known, reply in self.executions.items() if reply.done())
        for oldest in [*islice(ended, max(excess, 0))]:
            del self.executions[oldest]
        self.executions[key] = execution

    def plan_execution(self, request: Any, message: bytes, caller: Caller) -> Reply:
        """Return the reply to an execution.

        Args:
            request: an `ExecutePlanRequest`.
            message: the same request, as the client has sent it.
            caller: the client.
        """
        statements.expand_plan(request.plan)
        command = statements.read_command(request.plan)
        if command is None:
            return self.rewrite(request, message, caller)
        relation = self.planner.plan(caller, command)
        return message if relation is None else build_responses(request, relation)

    def rewrite(self, request: Any, message: bytes, caller: Caller) -> bytes:
        """Return a request without clauses: the message itself if it has none."""
        self.planner.prepare_session(caller)
        replaced = statements.replace_statements(request, partial(self.planner.plan, caller))
        return request.SerializeToString() if replaced else message

    def read_caller(self, request: Any, context: Any) -> Caller:
        """Return the client that has sent a request."""
        tags = (*getattr(request, "tags", ()), getattr(request, "operation_id", ""))
        return Caller(
            read_key(request),
            getattr(request, "client_observed_server_side_session_id", ""),
            tuple(tag for tag in tags if tag),
            self.list_passed(context.invocation_metadata()),
        )


# Returns the reply to a call with one message.
Answer = Callable[[Forwarder, bytes, Any], Awaitable[Reply]]

# The calls that the gateway reads, by their names. PySpark 3.5 has no messages for the last two, so
# they are passed on there.
ANSWERS: dict[str, Answer] = {
    "ExecutePlan": Forwarder.execute,
    "AnalyzePlan": Forwarder.analyze,
    "ReattachExecute": Forwarder.reattach,
    "ReleaseExecute": Forwarder.release_execution,
    "Interrupt": Forwarder.interrupt,
    "ReleaseSession": Forwarder.release_session,
    "FetchErrorDetails": Forwarder.fetch_details,
}
if not hasattr(proto, "FetchErrorDetailsRequest"):
    del ANSWERS["FetchErrorDetails"], ANSWERS["ReleaseSession"]


def read_key(request: Any) -> SessionKey:
    """Return the key of the session of a request."""
    return SessionKey(request.user_context.user_id, request.session_id)


def read_execution_key(request: Any) -> ExecutionKey:
    """Return the key of the execution that a request is about."""
    return read_key(request), request.operation_id


def build_responses(request: Any, relation: Any) -> OwnResponses:
    """Return the responses to a SQL command whose result is a relation.

    Args:
        request: the client's `ExecutePlanRequest`, with an operation id.
        relation: the result.
    """
    head = {"session_id": request.session_id, "operation_id": request.operation_id}
    result = proto.ExecutePlanResponse(**head, response_id=str(uuid4()))
    result.sql_command_result.relation.CopyFrom(relation)
    end = proto.ExecutePlanResponse(**head, response_id=str(uuid4()))
    end.result_complete.SetInParent()
    responses = (result, end)
    return OwnResponses(
        tuple(response.SerializeToString() for response in responses),
        tuple(response.response_id for response in responses),
    )


async def yield_all(messages: Iterable[bytes]) -> AsyncIterator[bytes]:
    """Yield messages as a stream of gRPC."""
    for message in messages:
        yield message


async def report_health(_: bytes, __: Any) -> bytes:
    """Answer a health check. A gateway that can answer it is healthy."""
    return SERVING


async def refuse(_: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
    """Refuse a call without the token."""
    await context.abort(grpc.StatusCode.UNAUTHENTICATED, NO_TOKEN)
    yield b""  # makes this function a generator, as gRPC needs it; `abort` has raised an error
