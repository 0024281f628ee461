"""Forward the calls of clients to the engine's server, and answer calls about clauses here.

Requests and responses are forwarded as bytes, so that newer clients and engines can use fields that
this program does not know. The gateway reads only the calls in `HANDLERS`, whose request is one
message about a plan, an execution, a session or an error. A handler decides who handles the call:

- the engine: the request is forwarded as the client sent it, or with its SQL replaced;
- the gateway: the handler returns the responses.

All calls share one event loop instead of having a thread each. A client that reads slowly delays
only its own call: gRPC stops reading the engine's responses until the client has read what was
sent.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn, TypeVar
from uuid import uuid4

import grpc
import pyspark.sql.connect.proto as proto

from matchrec.errors import gateway as errors
from matchrec.gateway import statements
from matchrec.gateway.executions import (
    Decision,
    EngineRequest,
    ExecutionLog,
    GatewayResponses,
    build_responses,
    read_execution_key,
    read_session_key,
)
from matchrec.gateway.planner import Caller, Metadata, Planner
from matchrec.gateway.statements import Message
from matchrec.gateway.status import ErrorLog

T = TypeVar("T")

SERVICE = "/spark.connect.SparkConnectService/"
HEALTH_CHECK = "/grpc.health.v1.Health/Check"
SERVING = b"\x08\x01"  # the message HealthCheckResponse with the status SERVING

# Metadata that belongs to one connection, so that it is not forwarded.
CONNECTION_METADATA = ("user-agent", "content-type", "te", "host")
TOKEN_KEY = "authorization"

# How long the gateway waits, in seconds, for the engine's server to accept a new connection after
# one was lost.
RECONNECT_SECONDS = 3.0

# Part of Sail's error message for the id of an execution that it does not know.
SAIL_OPERATION_NOT_FOUND = "operation not found"

NO_TOKEN = "missing or wrong token; pass the token that the gateway was started with"


@dataclass(slots=True)
class GatewayService(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    """The Spark Connect service of the gateway: it forwards a call to the engine, or handles it."""

    # The address of the engine's server without its parameters, for errors.
    engine_address: str
    # The channel to the engine's server.
    channel: grpc.aio.Channel
    # The metadata that is sent with every call to the engine's server, for example its token.
    engine_metadata: Metadata
    # The planner of statements with clauses.
    planner: Planner
    # The threads in which the planner runs, because it waits for the engine.
    planning_threads: ThreadPoolExecutor
    # The token that clients must send as `authorization: Bearer TOKEN`; None if anyone is allowed
    # to call.
    token: str | None
    # The errors of calls, for clients that ask for their whole messages.
    error_log: ErrorLog = field(default_factory=ErrorLog)
    # The executions that the gateway plans, or has planned and answered itself.
    executions: ExecutionLog = field(default_factory=ExecutionLog)

    def service(self, call: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        """Return the gRPC handler that runs a call; None if the gateway has no such method."""
        method: str = call.method
        if method == HEALTH_CHECK:
            return grpc.unary_unary_rpc_method_handler(report_health)
        if not method.startswith(SERVICE):
            return None
        if not self.is_allowed(call.invocation_metadata):
            return grpc.stream_stream_rpc_method_handler(refuse_call)
        handler = HANDLERS.get(method.removeprefix(SERVICE))
        if handler is not None:
            return grpc.unary_stream_rpc_method_handler(partial(self.run_handler, method, handler))
        # gRPC sends a call with one message as a stream of one message, so this handler fits any
        # method.
        return grpc.stream_stream_rpc_method_handler(partial(self.forward_call, method))

    def is_allowed(self, metadata: Metadata) -> bool:
        """Return whether a call may be made: it carries the token, or no token is required."""
        if self.token is None:
            return True
        sent_tokens = [str(value).encode() for name, value in metadata if name == TOKEN_KEY]
        expected_token = write_authorization(self.token).encode()
        return any(hmac.compare_digest(value, expected_token) for value in sent_tokens)

    # Calls that are forwarded.

    async def forward_call(
        self, method: str, requests: AsyncIterator[bytes], context: grpc.aio.ServicerContext
    ) -> AsyncIterator[bytes]:
        """Send the messages of a call to the engine's server, and yield its responses.

        If the client cancels the call, this coroutine is cancelled, and with it the call to the
        engine.
        """
        call = self.channel.stream_stream(method)(
            requests,
            metadata=[
                *self.select_forwarded_metadata(context.invocation_metadata()),
                *self.engine_metadata,
            ],
            timeout=context.time_remaining(),
        )
        try:
            await context.send_initial_metadata(tuple(await call.initial_metadata()))
            async for message in call:
                yield message
            context.set_trailing_metadata(tuple(await call.trailing_metadata()))
        except grpc.aio.AioRpcError as error:
            await self.end_if_engine_is_down(context, error)
            if SAIL_OPERATION_NOT_FOUND in (error.details() or ""):
                await self.end_with_error(context, errors.operation_not_found())
            trailing_metadata = tuple(error.trailing_metadata() or ())
            await context.abort(error.code(), error.details(), trailing_metadata)
        finally:
            call.cancel()

    def select_forwarded_metadata(self, metadata: Metadata) -> Metadata:
        """Return the part of a client's metadata that is forwarded to the engine.

        The gateway's own token is not forwarded. Metadata with a name that the gateway itself sends
        to the engine is not forwarded either, so a client cannot replace the engine's token.
        """
        withheld_names = {*CONNECTION_METADATA, *(name for name, _ in self.engine_metadata)}
        if self.token is not None:
            withheld_names.add(TOKEN_KEY)
        return tuple(
            (name, value)
            for name, value in metadata
            if name not in withheld_names and not name.startswith("grpc-")
        )

    # Calls that end with an error.

    async def end_with_error(self, context: grpc.aio.ServicerContext, error: Exception) -> NoReturn:
        """End a call with the status for an error. gRPC's `abort` raises its own error."""
        status = self.error_log.build_status(error)
        await context.abort(status.code, status.details, status.trailing_metadata)
        raise AssertionError("`abort` raises an error")

    async def end_if_engine_is_down(
        self, context: grpc.aio.ServicerContext, error: Exception
    ) -> None:
        """End a call with a clear error if the call has failed because the engine does not run.

        Clients repeat a call for ten minutes if its status is UNAVAILABLE. Repeating the call helps
        only if the engine runs and the connection was lost. Then, and after any other error, this
        returns, and the caller ends the call itself.

        Args:
            context: the context of the client's call.
            error: the error with which the call to the engine, or the planning, has failed.
        """
        if not is_unavailable(error):
            return
        try:
            await asyncio.wait_for(self.channel.channel_ready(), RECONNECT_SECONDS)
        except asyncio.TimeoutError:
            await self.end_with_error(context, errors.engine_not_reachable(self.engine_address))

    # Calls that the gateway reads.

    async def run_handler(
        self, method: str, handler: Handler, message: bytes, context: grpc.aio.ServicerContext
    ) -> AsyncIterator[bytes]:
        """Let a handler decide who handles a call, and yield the responses to it."""
        decision = await handler(self, message, context)
        if isinstance(decision, GatewayResponses):
            for response in decision.messages:
                yield response
        else:
            requests = stream_message(decision.message)
            async for response in self.forward_call(method, requests, context):
                yield response

    async def handle_execute_plan(
        self, message: bytes, context: grpc.aio.ServicerContext
    ) -> Decision:
        """Plan a statement with a clause here; let the engine execute any other plan.

        An execution is planned only once, even if its client sends the request again.
        """
        if not self.must_parse(message):
            return EngineRequest(message)
        request = proto.ExecutePlanRequest.FromString(message)
        if not request.operation_id:
            # All that the planner runs for the execution is tagged with its id.
            request.operation_id = str(uuid4())
        key = read_execution_key(request)
        planning = self.executions.find(key)
        if planning is None:
            caller = self.read_caller(request, context)
            planning = self.run_in_thread(partial(self.plan_execution, request, message, caller))
            self.executions.keep(key, planning)
        decision = await self.await_result(planning, context)
        if isinstance(decision, EngineRequest):
            # From now on, the engine remembers the execution. If the client reattaches before the
            # engine has got the request, it learns that there is no such execution, and sends the
            # request again.
            self.executions.forget(key)
        return decision

    async def handle_analyze_plan(
        self, message: bytes, context: grpc.aio.ServicerContext
    ) -> Decision:
        """Let the engine analyse a plan, after its SQL with clauses has been replaced."""
        if not self.must_parse(message):
            return EngineRequest(message)
        request = proto.AnalyzePlanRequest.FromString(message)
        caller = self.read_caller(request, context)
        planning = self.run_in_thread(partial(self.replace_clauses, request, message, caller))
        return await self.await_result(planning, context)

    async def handle_reattach(self, message: bytes, context: grpc.aio.ServicerContext) -> Decision:
        """Send the responses that the client has not received.

        The engine does it for the executions that the engine itself runs.
        """
        request = proto.ReattachExecuteRequest.FromString(message)
        planning = self.executions.find(read_execution_key(request))
        if planning is None:
            return EngineRequest(message)
        decision = await self.await_result(planning, context)
        if isinstance(decision, GatewayResponses):
            return decision.drop_received(request.last_response_id)
        return EngineRequest(message)

    async def handle_release_execution(
        self, message: bytes, context: grpc.aio.ServicerContext
    ) -> Decision:
        """Forget an execution whose responses the client has read, or no longer wants.

        A client can also release only the responses up to a certain one. Then nothing is forgotten,
        because an execution has at most two responses.
        """
        request = proto.ReleaseExecuteRequest.FromString(message)
        key = read_execution_key(request)
        planning = self.executions.find(key)
        if planning is None:
            return EngineRequest(message)
        if request.HasField("release_all"):
            if not planning.done():
                caller = self.read_caller(request, context)
                interrupt = partial(self.planner.interrupt, caller, request.operation_id)
                await self.await_result(self.run_in_thread(interrupt), context)
            self.executions.forget(key)
        response = proto.ReleaseExecuteResponse(
            session_id=request.session_id, operation_id=request.operation_id
        )
        return GatewayResponses((response.SerializeToString(),))

    async def handle_interrupt(self, message: bytes, _: grpc.aio.ServicerContext) -> Decision:
        """Let the engine interrupt executions.

        The engine does not know an execution that the gateway plans. But all that the planner runs
        for this execution in the engine has a tag, the operation id, so the engine interrupts by
        the tag.
        """
        request = proto.InterruptRequest.FromString(message)
        if self.executions.find(read_execution_key(request)) is None:
            return EngineRequest(message)
        request.interrupt_type = proto.InterruptRequest.INTERRUPT_TYPE_TAG
        request.operation_tag = request.operation_id
        return EngineRequest(request.SerializeToString())

    async def handle_release_session(self, message: bytes, _: grpc.aio.ServicerContext) -> Decision:
        """Let the engine end a session, and let the planner forget the session."""
        request = proto.ReleaseSessionRequest.FromString(message)
        self.planner.forget_session(read_session_key(request))
        return EngineRequest(message)

    async def handle_fetch_error_details(
        self, message: bytes, _: grpc.aio.ServicerContext
    ) -> Decision:
        """Return the whole message of an error of the gateway.

        The engine answers for its own errors.
        """
        request = proto.FetchErrorDetailsRequest.FromString(message)
        details = self.error_log.answers.get(request.error_id)
        return EngineRequest(message) if details is None else GatewayResponses((details,))

    # Planning, which runs in threads.

    def must_parse(self, message: bytes) -> bool:
        """Return whether the gateway must parse a plan.

        The plan may have a clause, or its session may have to be prepared. Any other plan is
        forwarded without being parsed.
        """
        return self.planner.prepares_sessions or statements.may_need_parsing(message)

    def run_in_thread(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Start a function in a thread, and return its future result."""
        return asyncio.get_running_loop().run_in_executor(self.planning_threads, work)

    async def await_result(self, work: asyncio.Future[T], context: grpc.aio.ServicerContext) -> T:
        """Wait for work in a thread, and return its result.

        If the work fails, the call ends with its error. The work continues even if the client
        cancels the call.
        """
        try:
            return await asyncio.shield(work)
        except Exception as error:  # noqa: BLE001 -- every error has to reach the client
            await self.end_if_engine_is_down(context, error)
            await self.end_with_error(context, error)

    def plan_execution(
        self, request: proto.ExecutePlanRequest, message: bytes, caller: Caller
    ) -> Decision:
        """Plan the statements with clauses of an execution.

        Args:
            request: the client's request. It is changed in place.
            message: the serialized request, as the client has sent it.
            caller: the client that has sent the request.

        Returns:
            The responses if the plan is a SQL command with a clause; otherwise the request without
            clauses.

        Raises:
            MatchRecognizeError, PySparkException: see `Planner.plan`.
        """
        statements.expand_plan(request.plan)
        command = statements.find_command_statement(request.plan)
        if command is None:
            return self.replace_clauses(request, message, caller)
        plan_statement = partial(self.planner.plan, caller)
        is_changed = statements.replace_named_relations(command, plan_statement)
        relation = plan_statement(command)
        if relation is not None:
            return build_responses(request, relation)
        # The command only looked as if it had a clause, for example in a comment.
        return EngineRequest(request.SerializeToString() if is_changed else message)

    def replace_clauses(self, request: Message, message: bytes, caller: Caller) -> EngineRequest:
        """Return a request without clauses: the client's own if it has no clause.

        The client's session is prepared, because the engine will run the request. For the arguments
        and the raised errors, see `plan_execution`.
        """
        self.planner.prepare_session(caller)
        if statements.replace_statements(request, partial(self.planner.plan, caller)):
            return EngineRequest(request.SerializeToString())
        return EngineRequest(message)

    def read_caller(self, request: Message, context: grpc.aio.ServicerContext) -> Caller:
        """Return the client that has sent a request."""
        # Not every request has these fields.
        engine_session = getattr(request, "client_observed_server_side_session_id", "")
        tags = (*getattr(request, "tags", ()), getattr(request, "operation_id", ""))
        return Caller(
            read_session_key(request),
            engine_session=engine_session,
            tags=tuple(tag for tag in tags if tag),
            metadata=self.select_forwarded_metadata(context.invocation_metadata()),
        )


# Decides who handles a call. Its arguments are the service, the request and the context of gRPC.
Handler = Callable[[GatewayService, bytes, grpc.aio.ServicerContext], Awaitable[Decision]]

# The handlers of the calls that the gateway reads, by the names of the calls.
HANDLERS: dict[str, Handler] = {
    "ExecutePlan": GatewayService.handle_execute_plan,
    "AnalyzePlan": GatewayService.handle_analyze_plan,
    "ReattachExecute": GatewayService.handle_reattach,
    "ReleaseExecute": GatewayService.handle_release_execution,
    "Interrupt": GatewayService.handle_interrupt,
}
if hasattr(proto, "FetchErrorDetailsRequest"):  # PySpark 3.5 has no messages for these calls
    HANDLERS["ReleaseSession"] = GatewayService.handle_release_session
    HANDLERS["FetchErrorDetails"] = GatewayService.handle_fetch_error_details


def is_unavailable(error: Exception) -> bool:
    """Return whether a call to the engine failed with the status UNAVAILABLE."""
    if isinstance(error, grpc.aio.AioRpcError):
        return error.code() is grpc.StatusCode.UNAVAILABLE
    # The planner's errors are PySpark's, which have the status only in their text.
    return grpc.StatusCode.UNAVAILABLE.name in str(error)


def write_authorization(token: str) -> str:
    """Return the value of the metadata `authorization` that carries a token: `Bearer TOKEN`."""
    return f"Bearer {token}"


async def stream_message(message: bytes) -> AsyncIterator[bytes]:
    """Yield the only message of a request, as the stream that gRPC sends."""
    yield message


async def report_health(_: bytes, __: grpc.aio.ServicerContext) -> bytes:
    """Answer a health check. A gateway that can answer it is healthy."""
    return SERVING


async def refuse_call(
    _: AsyncIterator[bytes], context: grpc.aio.ServicerContext
) -> AsyncIterator[bytes]:
    """Refuse a call without the token."""
    await context.abort(grpc.StatusCode.UNAUTHENTICATED, NO_TOKEN)
    yield b""  # makes this function a generator, as gRPC needs it; `abort` has raised an error
