"""`serve`: start a gateway in this program, in front of an engine.

1. A `Listener` says where clients connect, and checks who could call.
2. `find_server` finds or starts the server of the engine.
3. `start_gateway` runs a `GatewayServer` in a new thread, and returns the `Gateway`.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from typing import Any, cast

import grpc
from pyspark.sql import SparkSession

from matchrec.arguments import FLAG, SESSION, TEXT, ArgumentKind, check_arguments
from matchrec.errors import gateway as errors
from matchrec.errors.machine import session_already_runs
from matchrec.gateway.forward import TOKEN_KEY, Forwarder
from matchrec.gateway.planner import Metadata, Planner
from matchrec.spark.sail.server import UNCOMPRESSED, check_server, make_channel_builder
from matchrec.spark.sail.start import ENGINE, SPARK, choose_engine, describe_engine, runs_on, start
from matchrec.spark.session import find_application, is_connect, unwrap_session

HOST, PORT = "127.0.0.1", 15002

# Settings with which a session of Spark in this program has a server of Spark Connect, at any free
# port.
PLUGIN = "org.apache.spark.sql.connect.SparkConnectPlugin"
SERVER_OF_SPARK = {
    "spark.plugins": PLUGIN,
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
    "spark.sql.artifact.isolation.enabled": "true",
    "spark.sql.artifact.isolation.alwaysApplyClassloader": "true",
}

PORT_NUMBER = ArgumentKind(
    "a port, from 0 to 65535",
    lambda value: type(value) is int and 0 <= value <= 65535,
    "write {argument}=15002",
)

# The number of statements that are planned at once. A thread mostly waits for the engine; for
# CREATE TABLE AS and INSERT, it waits until they have run.
PLANNING_THREADS = 256

# A token that gRPC can send in a header. An empty one would let anyone call.
VISIBLE_ASCII = re.compile("[!-~]+")

# Messages may have any length, as in Spark's own server.
ANY_LENGTH = (("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1))

# Two servers must not share a port: a second one would take some of the calls of the first.
OWN_PORT = ("grpc.so_reuseport", 0)

# The number of seconds for which running calls may go on once the gateway stops.
GRACE_SECONDS = 1.0

# The number of seconds for which the event loop waits for the last events of gRPC after the server
# has stopped. An event that finds its loop closed would be an error in the loop of another gateway
# of this program.
DRAIN_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Listener:
    """The address at which a gateway listens, and the clients that may call it."""

    host: str = HOST
    # The port; 0 for any free one.
    port: int = PORT
    # The token that clients must send; None if anyone may call.
    token: str | None = None
    # The files with the certificate and its key, in PEM format; both None without TLS.
    tls_cert: Path | None = None
    tls_key: Path | None = None
    # Whether other machines may call without a token.
    allow_anyone: bool = False

    @property
    def url_host(self) -> str:
        """The host as URLs have it: an address of IPv6 is in brackets."""
        return f"[{self.host}]" if ":" in self.host else self.host

    def check(self) -> None:
        """Check who could call, and that TLS has both files.

        Raises:
            MatchRecognizePlanError: TLS lacks a file, clients cannot send the token, or other
                machines could call without one.
        """
        if (self.tls_cert is None) != (self.tls_key is None):
            raise errors.incomplete_tls_files(has_key=self.tls_key is not None)
        if self.token is not None and not VISIBLE_ASCII.fullmatch(self.token):
            raise errors.token_not_allowed()
        if self.token is None and not self.allow_anyone and not is_loopback(self.host):
            raise errors.serving_without_token(self.host)

    def bind(self, server: Any) -> int:
        """Let a server of gRPC listen, and return the port.

        Raises:
            MatchRecognizePlanError: the port is in use, or the host is not one of this machine.
        """
        target = f"{self.url_host}:{self.port}"
        try:
            if self.tls_cert is None or self.tls_key is None:
                return int(server.add_insecure_port(target))
            pair = (self.tls_key.read_bytes(), self.tls_cert.read_bytes())
            return int(server.add_secure_port(target, grpc.ssl_server_credentials([pair])))
        except RuntimeError as error:
            raise errors.address_not_available(self.host, self.port) from error


@dataclass(slots=True)
class Gateway:
    """A running gateway. It ends with `stop`, with a `with` statement, or with the program.

    Attributes:
        address: where clients connect, `sc://host:port`.
        engine: the address of the server behind the gateway, without a token or other parameters.

    >>> gateway = matchrec.serve(spark, port=0)
    >>> gateway.is_running
    True
    >>> gateway.stop()
    >>> gateway.is_running
    False
    """

    address: str
    engine: str
    # The thread that serves.
    _thread: Thread = field(repr=False)
    # Makes the server stop.
    _stop: Callable[[], None] = field(repr=False)

    @property
    def is_running(self) -> bool:
        """Return whether clients can connect."""
        return self._thread.is_alive()

    def wait(self) -> None:
        """Wait until the gateway has stopped.

        >>> gateway = matchrec.serve(spark, port=0)
        >>> gateway.stop()
        >>> gateway.wait()
        """
        self._thread.join()

    def stop(self) -> None:
        """Stop the gateway. Calls that have not finished are cancelled after one second.

        >>> gateway = matchrec.serve(spark, port=0)
        >>> gateway.stop()
        """
        self._stop()
        self._thread.join()

    def __enter__(self) -> Gateway:
        """Return the gateway."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the gateway."""
        self.stop()


@check_arguments(
    spark=SESSION.allow_none(),
    engine=ENGINE.allow_none(),
    host=TEXT,
    port=PORT_NUMBER,
    token=TEXT.allow_none(),
    tls_cert=TEXT.allow_none(),
    tls_key=TEXT.allow_none(),
    allow_anyone=FLAG,
)
def serve(  # noqa: PLR0913 -- public signature
    spark: SparkSession | None = None,
    *,
    engine: str | None = None,
    host: str = "127.0.0.1",
    port: int = 15002,
    token: str | None = None,
    tls_cert: str | None = None,
    tls_key: str | None = None,
    allow_anyone: bool = False,
) -> Gateway:
    """Start a Spark Connect server whose SQL understands MATCH_RECOGNIZE.

    Clients in any language connect to it as to Spark's own server. It passes all calls on to an
    engine, except SQL with a clause, which it plans with matchrec. Each client has its own session,
    with its temporary views and settings.

    Args:
        spark: a Spark Connect session or a session on Sail, whose server runs the queries. Clients
            share its catalog, but not its temporary views.
        engine: where the queries run, instead of in a session: `"sail"` or `"spark"` in this
            program, or the address of a server, `"sc://host:port"`, to which you may add
            `/;use_ssl=true;token=...`. If you pass neither `spark` nor `engine`, the queries run in
            the running session, or in a new one, on Sail if it is installed, else on Spark.
        host: the address of this machine at which the gateway listens.
        port: the port, or 0 for any free one.
        token: the token that clients must send, as in `sc://host:port/;token=...`. PySpark sends a
            token only over TLS.
        tls_cert: the file with the TLS certificate, in PEM format.
        tls_key: the file with the private key of the certificate, in PEM format.
        allow_anyone: let other machines connect without a token.

    Returns:
        The running gateway. It stops with `stop`, or with the program.

    Raises:
        MatchRecognizePlanError: the port is in use, the session has no server, both `spark` and
            `engine` are passed, the token is empty or cannot be sent, or other machines could
            connect without a token.

    >>> with matchrec.serve(spark, port=0) as gateway:
    ...     print(gateway.address)
    sc://127.0.0.1:...
    """
    listener = Listener(
        host=host,
        port=port,
        token=token,
        tls_cert=None if tls_cert is None else Path(tls_cert),
        tls_key=None if tls_key is None else Path(tls_key),
        allow_anyone=allow_anyone,
    )
    listener.check()
    return start_gateway(listener, find_server(spark, engine))


def is_loopback(host: str) -> bool:
    """Return whether only programs of this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost"


def find_server(spark: SparkSession | None, engine: str | None) -> str:
    """Return the address of an engine's server. Start the server if it must run here.

    The address has the parameters that its clients need, such as a token.

    Raises:
        MatchRecognizePlanError: the engine is a classic session of Spark, without a server; both
            arguments are passed; or a session runs on another engine.
    """
    if spark is not None and engine is not None:
        raise errors.session_and_engine(engine=engine)
    if engine is not None and engine.startswith("sc://"):
        check_server(engine)
        return engine
    session = find_or_start_session(engine) if spark is None else spark
    return find_address(session) if is_connect(session) else find_server_of_spark(session)


def find_or_start_session(engine: str | None) -> SparkSession:
    """Return the running session, or a new one that has a server.

    Args:
        engine: "sail" or "spark"; None for the engine of the running session, or for the default.

    Raises:
        MatchRecognizePlanError: the running session is on another engine.
    """
    running_session = SparkSession.getActiveSession()
    if running_session is not None:
        if engine is not None and not runs_on(running_session, engine):
            raise session_already_runs(
                arguments=["engine"], engine=describe_engine(running_session)
            )
        return running_session
    if choose_engine(engine, {}) != SPARK:
        return start(engine, {})
    # Otherwise the server's workers would run the first `python3` in PATH.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    return start(engine, SERVER_OF_SPARK)


def find_server_of_spark(spark: SparkSession) -> str:
    """Return the address of the server that a classic session of Spark has in this program.

    Raises:
        MatchRecognizePlanError: it has none.
    """
    if PLUGIN not in (spark.conf.get("spark.plugins", "") or ""):
        raise errors.session_without_server()
    java: Any = spark.sparkContext._jvm
    # An object of Scala, as Java names it.
    service = getattr(java, "org.apache.spark.sql.connect.service.SparkConnectService$")
    return f"sc://localhost:{getattr(service, 'MODULE$').localPort()}"


def find_address(spark: SparkSession) -> str:
    """Return the address of a session of Spark Connect, with the parameters that it was made with.

    A session with a custom builder of channels has only the host and the port.
    """
    client: Any = cast("Any", unwrap_session(spark)).client
    url = getattr(client._builder, "url", None)
    if url is not None:
        return str(url._replace(scheme="sc").geturl())
    endpoint = str(find_application(spark))
    return endpoint if endpoint.startswith("sc://") else f"sc://{endpoint}"


def start_gateway(
    listener: Listener, engine: str, prepare: Callable[[SparkSession], None] | None = None
) -> Gateway:
    """Start a gateway in a new thread, and return it once it listens.

    Args:
        listener: where it listens.
        engine: the address of the server behind it.
        prepare: is called with each new session of a client. Without it, plans without a clause are
            passed on unread.

    Raises:
        MatchRecognizePlanError: it cannot listen there.
    """
    server = GatewayServer(listener, engine, Planner(engine, prepare))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    running = server.started.result()
    return Gateway(
        address=f"sc://{listener.url_host}:{running.port}",
        engine=server.engine_address,
        _thread=thread,
        _stop=running.stop,
    )


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that listens."""

    port: int
    # Makes the server stop. Any thread may call it.
    stop: Callable[[], None]


@dataclass(slots=True)
class GatewayServer:
    """The server of a gateway, with the event loop and the threads that it runs in."""

    listener: Listener
    # The address of the engine's server, with its parameters.
    engine: str
    planner: Planner
    # Is set once the server listens; or has the error for which it cannot.
    started: Future[RunningServer] = field(default_factory=Future)

    @property
    def engine_address(self) -> str:
        """The address of the engine's server, without its parameters."""
        return f"sc://{make_channel_builder(self.engine).endpoint}"

    def run(self) -> None:
        """Serve in this thread until the server is stopped."""
        asyncio.run(self.serve())

    async def serve(self) -> None:
        """Serve until the server is stopped."""
        loop = asyncio.get_running_loop()
        must_stop = asyncio.Event()
        threads = ThreadPoolExecutor(PLANNING_THREADS, "matchrec-gateway")
        try:
            channel, metadata = open_channel(self.engine)
            forwarder = Forwarder(
                engine=self.engine_address,
                channel=channel,
                metadata=metadata,
                planner=self.planner,
                threads=threads,
                token=self.listener.token,
            )
            server = grpc.aio.server(options=[*ANY_LENGTH, OWN_PORT])
            server.add_generic_rpc_handlers((forwarder,))
            port = self.listener.bind(server)
            await server.start()
        except Exception as error:  # noqa: BLE001 -- raised by the thread that waits
            self.started.set_exception(error)
            return

        def stop() -> None:
            """Make the server stop, from any thread."""
            loop.call_soon_threadsafe(must_stop.set)

        self.started.set_result(RunningServer(port, stop))
        await must_stop.wait()
        await server.stop(GRACE_SECONDS)
        await channel.close()
        await asyncio.sleep(DRAIN_SECONDS)
        threads.shutdown(wait=False, cancel_futures=True)
        self.planner.close()


def open_channel(engine: str) -> tuple[Any, Metadata]:
    """Return a channel to an engine's server, and the metadata that each call to it needs.

    PySpark's own channel is not for an event loop, so only its reading of the address is used.
    """
    builder = make_channel_builder(engine)
    options = [*ANY_LENGTH, UNCOMPRESSED]
    metadata: list[tuple[str, str | bytes]] = list(builder.metadata())
    token = builder.token if hasattr(builder, "token") else builder._token  # PySpark 3.5
    if token is not None:
        metadata.append((TOKEN_KEY, f"Bearer {token}"))
    # PySpark 4 sends a token without TLS to a server on this machine, as `remote("local")` has.
    is_local = builder.host == "localhost" and not getattr(builder, "use_ssl", True)
    if is_local or not builder.secure:
        return grpc.aio.insecure_channel(builder.endpoint, options), metadata
    credentials = grpc.ssl_channel_credentials()
    return grpc.aio.secure_channel(builder.endpoint, credentials, options), metadata
