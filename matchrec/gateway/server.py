"""The server of a gateway: its event loop, its threads, and its channel to the engine.

`GatewayServer.run` serves until another thread calls `RunningServer.stop`.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

import grpc

from matchrec.gateway.forward import TOKEN_KEY, GatewayService, write_authorization
from matchrec.gateway.listener import Listener
from matchrec.gateway.planner import Metadata, Planner
from matchrec.spark.sail.server import UNCOMPRESSED_OPTION, make_channel_builder

# The number of statements that are planned at once. A thread mostly waits for the engine; for
# CREATE TABLE AS and INSERT, it waits until they have run.
PLANNING_THREADS = 256

# Options of gRPC: messages can have any length, as in Spark's own server.
ANY_LENGTH_OPTIONS = (("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1))

# An option of gRPC: two servers must not share a port, because the second server would take some of
# the calls of the first.
OWN_PORT_OPTION = ("grpc.so_reuseport", 0)

# The number of seconds for which running calls can go on once the gateway stops.
GRACE_SECONDS = 1.0

# The number of seconds for which the event loop waits for the last events of gRPC after the server
# has stopped. If the loop is closed too early, a late event of gRPC raises an error in the loop of
# another gateway of this process.
DRAIN_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that listens."""

    port: int
    # The event loop of the server, and the event that ends it.
    _loop: asyncio.AbstractEventLoop
    _must_stop: asyncio.Event

    def stop(self) -> None:
        """Make the server stop, without waiting for that.

        Any thread can call this method. If the server has already stopped, nothing happens.
        """
        with suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(self._must_stop.set)


@dataclass(slots=True)
class GatewayServer:
    """The server of a gateway, which `run` starts."""

    listener: Listener
    # The address of the engine's server, with its parameters.
    engine_url: str
    planner: Planner
    # The running server, once it listens; or the error that kept it from listening.
    started: Future[RunningServer] = field(default_factory=Future)

    @property
    def engine_address(self) -> str:
        """Return the address of the engine's server, without its parameters."""
        return f"sc://{make_channel_builder(self.engine_url).endpoint}"

    def run(self) -> None:
        """Serve in this thread until the server is stopped.

        If the server cannot start, the error is not raised here: `started` has it.
        """
        asyncio.run(self.serve())

    async def serve(self) -> None:
        """Start the server, wait until it is stopped, and close all that it has opened.

        If the server cannot start, what was opened before the error is closed, too.
        """
        loop = asyncio.get_running_loop()
        must_stop = asyncio.Event()
        async with AsyncExitStack() as exit_stack:
            try:
                port = await self.start(exit_stack)
            except Exception as error:  # noqa: BLE001 -- raised by the thread that waits
                self.started.set_exception(error)
                return
            self.started.set_result(RunningServer(port, loop, must_stop))
            await must_stop.wait()

    async def start(self, exit_stack: AsyncExitStack) -> int:
        """Start the server, and return its port.

        Args:
            exit_stack: gets the functions that release what the server needs. They are called in
                reverse order, also if the server cannot start.

        Raises:
            MatchRecognizePlanError: the server cannot listen.
        """
        exit_stack.callback(self.planner.close)
        threads = ThreadPoolExecutor(PLANNING_THREADS, "matchrec-gateway")
        exit_stack.callback(threads.shutdown, wait=False, cancel_futures=True)
        exit_stack.push_async_callback(asyncio.sleep, DRAIN_SECONDS)
        channel, metadata = open_channel(self.engine_url)
        exit_stack.push_async_callback(channel.close)
        service = GatewayService(
            engine_address=self.engine_address,
            channel=channel,
            engine_metadata=metadata,
            planner=self.planner,
            planning_threads=threads,
            token=self.listener.token,
        )
        server = grpc.aio.server(options=[*ANY_LENGTH_OPTIONS, OWN_PORT_OPTION])
        exit_stack.push_async_callback(server.stop, GRACE_SECONDS)
        server.add_generic_rpc_handlers((service,))
        port = self.listener.bind(server)
        await server.start()
        return port


def open_channel(engine_url: str) -> tuple[Any, Metadata]:
    """Return a channel to an engine's server, and the metadata that each call to it needs.

    PySpark's ChannelBuilder opens a blocking channel, so only its parser of addresses is used.

    Args:
        engine_url: the address of the engine's server, with its parameters.
    """
    builder = make_channel_builder(engine_url)
    options = [*ANY_LENGTH_OPTIONS, UNCOMPRESSED_OPTION]
    metadata: list[tuple[str, str | bytes]] = list(builder.metadata())
    token = find_token(builder)
    if token is not None:
        metadata.append((TOKEN_KEY, write_authorization(token)))
    if not uses_tls(builder):
        return grpc.aio.insecure_channel(builder.endpoint, options), metadata
    credentials = grpc.ssl_channel_credentials()
    return grpc.aio.secure_channel(builder.endpoint, credentials, options), metadata


def find_token(builder: Any) -> str | None:
    """Return the token that a ChannelBuilder of PySpark sends; None if it sends none."""
    has_token = hasattr(builder, "token")  # PySpark 3.5 only has `_token`
    token: str | None = builder.token if has_token else builder._token
    return token


def uses_tls(builder: Any) -> bool:
    """Return whether a ChannelBuilder of PySpark opens a channel with TLS.

    A token needs TLS. But PySpark 4 sends it without TLS to a server on this machine, unless the
    address has `use_ssl`: the server that `SparkSession.builder.remote("local")` starts has a token
    and no TLS. PySpark 3.5 has no `builder.use_ssl`.
    """
    is_local_without_tls = builder.host == "localhost" and not getattr(builder, "use_ssl", True)
    return bool(builder.secure) and not is_local_without_tls
