"""Executions of clients: the gateway's decision about each, and which executions it remembers.

A client executes a statement with the call `ExecutePlan`. If its connection breaks, it asks for the
responses again, with `ReattachExecute` or with the same `ExecutePlan`. The engine answers this call
for the executions that it runs. The gateway must answer it for the executions that it has planned,
without planning them a second time: an INSERT runs while it is planned.
"""

from __future__ import annotations

from asyncio import Future
from dataclasses import dataclass, field
from uuid import uuid4

import pyspark.sql.connect.proto as proto

from matchrec.gateway.planner import SessionKey
from matchrec.gateway.statements import Message, ProtoRelation

# The number of executions that are remembered until their clients release them. More are remembered
# only if more are running.
MAX_EXECUTIONS = 1000


@dataclass(frozen=True, slots=True)
class EngineRequest:
    """The decision to let the engine handle a call."""

    # The serialized request for the engine, as the client sent it or with its SQL replaced.
    message: bytes


@dataclass(frozen=True, slots=True)
class GatewayResponses:
    """The decision that the gateway handles a call itself, with the responses to the call."""

    # The serialized responses, in the order in which the client gets them.
    messages: tuple[bytes, ...]
    # The ids of the responses to an execution, one for each message; empty for other calls.
    ids: tuple[str, ...] = ()

    def drop_received(self, response_id: str) -> GatewayResponses:
        """Return the responses that a client has not received yet.

        Args:
            response_id: the id of the last response that the client has received; "" if it has
                received none.
        """
        first_index = self.ids.index(response_id) + 1 if response_id in self.ids else 0
        return GatewayResponses(self.messages[first_index:], self.ids[first_index:])


# The decision about who handles a call.
Decision = EngineRequest | GatewayResponses


@dataclass(frozen=True, slots=True)
class ExecutionKey:
    """The key of an execution: its session, and its operation in this session."""

    session: SessionKey
    # The id of the operation, which the client or the gateway has chosen.
    operation: str


@dataclass(frozen=True, slots=True)
class ExecutionLog:
    """The executions that clients can still ask about."""

    # The planning of each execution: a future of the decision, which is done once the statement is
    # planned. The oldest execution comes first.
    plannings: dict[ExecutionKey, Future[Decision]] = field(default_factory=dict)

    def find(self, key: ExecutionKey) -> Future[Decision] | None:
        """Return the planning of an execution; None if the gateway does not remember it."""
        return self.plannings.get(key)

    def keep(self, key: ExecutionKey, planning: Future[Decision]) -> None:
        """Remember an execution. If there are many, forget the oldest that has ended.

        A running execution is never forgotten: its client would send it again, and an INSERT would
        run twice.
        """
        excess = len(self.plannings) + 1 - MAX_EXECUTIONS
        if excess > 0:
            ended_keys = [
                other_key
                for other_key, other_planning in self.plannings.items()
                if other_planning.done()
            ]
            for oldest_key in ended_keys[:excess]:
                self.forget(oldest_key)
        self.plannings[key] = planning

    def forget(self, key: ExecutionKey) -> None:
        """Forget an execution, if it is remembered."""
        self.plannings.pop(key, None)


def read_session_key(request: Message) -> SessionKey:
    """Return the key of the session that a request belongs to."""
    return SessionKey(request.user_context.user_id, request.session_id)


def read_execution_key(request: Message) -> ExecutionKey:
    """Return the key of the execution that a request is about.

    Args:
        request: a request to execute, reattach to, release or interrupt an execution.
    """
    return ExecutionKey(read_session_key(request), request.operation_id)


def build_responses(request: proto.ExecutePlanRequest, relation: ProtoRelation) -> GatewayResponses:
    """Return the responses to a SQL command: its result, and the end of the execution.

    Args:
        request: the client's request, with an operation id.
        relation: the result of the command. The client executes it later.
    """
    result = build_response(request)
    result.sql_command_result.relation.CopyFrom(relation)
    end = build_response(request)
    end.result_complete.SetInParent()
    return GatewayResponses(
        messages=(result.SerializeToString(), end.SerializeToString()),
        ids=(result.response_id, end.response_id),
    )


def build_response(request: proto.ExecutePlanRequest) -> proto.ExecutePlanResponse:
    """Return a response with a new id, and without content."""
    return proto.ExecutePlanResponse(
        session_id=request.session_id, operation_id=request.operation_id, response_id=str(uuid4())
    )
