"""A server that stands in for an engine, and records the calls that it gets."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc

Respond = Callable[[list[bytes], Any], Iterable[bytes]]

# As in a real server.
ANY_LENGTH = (("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1))


@dataclass
class Call:
    """A call: the name of its method, its metadata and its messages."""

    method: str
    metadata: list[tuple[str, str | bytes]]
    messages: list[bytes]


@dataclass
class FakeEngine(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    """The service of the server. It returns the messages of a call, unless `respond` is set."""

    respond: Respond = lambda messages, _context: messages
    calls: list[Call] = field(default_factory=list)
    # Set once a call is over, for whatever reason.
    call_has_ended: threading.Event = field(default_factory=threading.Event)

    def service(self, call: Any) -> Any:
        """Return what handles a call."""

        def handle(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
            """Note a call, and respond to it."""
            context.add_callback(self.call_has_ended.set)
            messages = list(requests)
            method = call.method.rpartition("/")[2]
            self.calls.append(Call(method, list(context.invocation_metadata()), messages))
            yield from self.respond(messages, context)

        return grpc.stream_stream_rpc_method_handler(handle)


@contextmanager
def run_engine(
    engine: FakeEngine, port: int = 0, credentials: Any = None
) -> Iterator[tuple[int, Any]]:
    """Run a fake engine, and yield its port and what stops it."""
    server = grpc.server(
        ThreadPoolExecutor(8), handlers=[engine], options=[*ANY_LENGTH, ("grpc.so_reuseport", 0)]
    )
    target = f"localhost:{port}"
    if credentials is None:
        port = server.add_insecure_port(target)
    else:
        port = server.add_secure_port(target, credentials)
    server.start()
    try:
        yield port, server
    finally:
        server.stop(0).wait()
