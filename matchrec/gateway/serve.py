"""`serve`: start a gateway in this program, in front of an engine.

1. A `Listener` says where clients connect, and checks who can connect.
2. `engines.find_or_start_server` finds or starts the server of the engine.
3. `start_gateway` runs a `GatewayServer` in a new thread, and returns the `Gateway`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

from pyspark.sql import SparkSession

from matchrec.arguments import FLAG, SESSION, TEXT, ArgumentKind, check_arguments
from matchrec.gateway.defaults import DEFAULT_PORT, MAX_PORT
from matchrec.gateway.engines import find_or_start_server
from matchrec.gateway.listener import Listener
from matchrec.gateway.planner import Planner
from matchrec.gateway.server import GatewayServer
from matchrec.public_names import public
from matchrec.spark.start.engine_choice import ENGINE

PORT_NUMBER = ArgumentKind(
    f"a port from 0 to {MAX_PORT}",
    lambda value: type(value) is int and 0 <= value <= MAX_PORT,
    f"write {{argument}}={DEFAULT_PORT}",
    right_types=(int,),
)


@public
@dataclass(slots=True, match_args=False)
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

        If the gateway has already stopped, nothing happens.

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


@public
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
    # DEFAULT_HOST and DEFAULT_PORT, written out because the reference shows them.
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
            program, or the address of a server, `"sc://host:port"`, to which you can add
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
            `engine` are passed, the token is empty or cannot be sent, other machines could connect
            without a token, the host is empty or in brackets, or the files for TLS cannot be read
            or used.

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
    return start_gateway(listener, find_or_start_server(spark, engine))


def start_gateway(
    listener: Listener, engine_url: str, prepare: Callable[[SparkSession], None] | None = None
) -> Gateway:
    """Start a gateway in a new thread, and return it once it listens.

    Args:
        listener: where the gateway listens, and who can connect.
        engine_url: the address of the server behind the gateway, with its parameters.
        prepare: a function that is called with each new session of a client; None if sessions need
            no preparation. Then plans without a clause are forwarded unread.

    Raises:
        MatchRecognizePlanError: the gateway cannot listen there.
    """
    server = GatewayServer(listener, engine_url, Planner(engine_url, prepare))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    running = server.started.result()
    return Gateway(
        address=f"sc://{listener.url_host}:{running.port}",
        engine=server.engine_address,
        _thread=thread,
        _stop=running.stop,
    )
