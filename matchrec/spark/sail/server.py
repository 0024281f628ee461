"""Sail's server of Spark Connect inside of this program: over Arrow, without Java.

Workers are threads of this program.
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import current_thread, main_thread
from typing import Any, cast
from urllib.parse import urlsplit

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from matchrec.errors import calls as errors
from matchrec.memory import keep_freed, settings_of_mimalloc
from matchrec.spark.session import application

started: set[Hashable] = set()  # the applications whose servers run in this program

# Of the server. The end of a task waits in one of them for the search to end, also of a query that
# is interrupted: without others, the server would answer nobody meanwhile.
THREADS_A_CORE = 4

# What PySpark sets for all sessions of this program that come after one of Connect.
CONNECTED = "SPARK_CONNECT_MODE_ENABLED"

# What a client takes: of the ways to compress only that of none, which is bit 0.
UNCOMPRESSED = ("grpc.compression_enabled_algorithms_bitset", 1)

# Of a server whose address names no port; and for how many seconds nothing need answer.
PORT, PATIENCE = 15002, 10

# Where one of these is set, a server may be reached by a proxy only.
PROXIES = ("grpc_proxy", "https_proxy", "http_proxy", "HTTPS_PROXY")

ARROWS_POOL = "ARROW_DEFAULT_MEMORY_POOL"

# Each batch goes from thread to thread, those of Sail's own 8,192 rows four times as often.
BATCH_SIZE, ROWS_A_BATCH = "SAIL_EXECUTION__BATCH_SIZE", 1 << 15

# After how many idle seconds the server forgets a session. By default these are 15 minutes, after
# which a notebook has lost its views; the server ends with this program, so no session need end.
IDLE = "SAIL_SPARK__SESSION_TIMEOUT_SECS"
TEN_YEARS = 10 * 365 * 24 * 3600

# If this is true, Sail takes a column of a Parquet file whose least and greatest values are equal
# for a constant. Writers leave NaN out of these two values, so NaN would be read as the other one.
COLLECT_STATISTICS = "SAIL_EXECUTION__COLLECT_STATISTICS"


def is_installed() -> bool:
    """Whether the extra `sail` is there: the server, and what PySpark needs to speak to one."""
    return all(map(is_there, ("pysail", "grpc", "grpc_status", "google.protobuf", "pyspark")))


def is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it is missing
        return False


def keep_memory() -> None:
    """Have this program keep memory that it frees, and Arrow take its memory there, if nobody says
    otherwise: it has read the environment already, where a program imports pandas first.

    Source: Arrow's documentation, Memory Management.
    """
    if keep_freed() and ARROWS_POOL not in os.environ:
        import pyarrow as pa

        pa.set_memory_pool(pa.system_memory_pool())


def start_sail(cores: int | None = None, memory: int | None = None) -> SparkSession:
    """A session on a server that starts here and ends with the program.

    cores: into how many tasks a query is divided; all cores where nothing is said. memory: how many
    bytes the engine itself takes at most; else as many as it needs.
    Raises MatchRecognizeError where Sail does not take the PySpark that is installed.
    """
    keep_memory()
    with environment(settings_of_mimalloc()):
        from pysail.spark import SparkConnectServer

    folder = TemporaryDirectory(prefix="matchrec-")
    with environment(settings(cores, memory, Path(folder.name))):
        server = SparkConnectServer()
        server.start()
    host, port = server.listening_address
    address = f"sc://{host}:{port}"
    check_client(address)
    # Ctrl-C is Python's alone again: the server has answered, so it waits for interrupts, too, and
    # would end with one, and all later queries wait. Only a main thread may say so.
    handler = signal.getsignal(signal.SIGINT)
    if current_thread() is main_thread() and handler is not None:
        signal.signal(signal.SIGINT, handler)
    from pyspark.sql.connect.session import SparkSession as RemoteSession

    os.environ[CONNECTED] = "1"  # as PySpark does where it makes the channel
    builder = RemoteSession.builder.channelBuilder(channel_to(address))
    session = cast("SparkSession", builder.getOrCreate())
    started.add(application(session))
    atexit.register(end, session, server, folder)
    return session


def channel_to(address: str) -> Any:
    """What makes a channel on which answers come as they are: Sail compresses them where it may,
    which takes it a second for 40 MB that stay in this program.
    """
    from pyspark.sql.connect import client

    builder: Any = getattr(client, "DefaultChannelBuilder", client.ChannelBuilder)  # of PySpark 3.5
    return builder(address, [UNCOMPRESSED])


def settings(cores: int | None, memory: int | None, folder: Path) -> dict[str, str]:
    """The environment of the server, which writes nothing of its own to the terminal. folder: for
    what `checkpoint` and `localCheckpoint` keep.
    """
    threads = THREADS_A_CORE * (cores or os.cpu_count() or 1)
    found = {
        "RUST_LOG": os.environ.get("RUST_LOG", "off"),
        "TOKIO_WORKER_THREADS": os.environ.get("TOKIO_WORKER_THREADS", str(threads)),
        "SAIL_EXECUTION__CHECKPOINT__PATH": folder.as_uri(),
        BATCH_SIZE: os.environ.get(BATCH_SIZE, str(ROWS_A_BATCH)),
        IDLE: os.environ.get(IDLE, str(TEN_YEARS)),
        COLLECT_STATISTICS: os.environ.get(COLLECT_STATISTICS, "false"),
    }
    if cores is not None:
        found["SAIL_EXECUTION__DEFAULT_PARALLELISM"] = str(cores)
    if memory is not None:
        found["SAIL_RUNTIME__MEMORY_POOL__TYPE"] = "fair"
        found["SAIL_RUNTIME__MEMORY_POOL__FAIR__MAX_SIZE"] = str(memory)
    return found


@contextmanager
def environment(changed: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ[name] for name in changed if name in os.environ}
    os.environ.update(changed)
    try:
        yield
    finally:
        for name in changed:
            del os.environ[name]
        os.environ.update(before)


def check_client(address: str) -> None:
    """Raises where the server does not take this PySpark, as it says when it is first asked: by a
    client of its own, as a session would be PySpark's one from then on.
    """
    from pyspark import __version__
    from pyspark.sql.connect.client import SparkConnectClient

    client: Any = SparkConnectClient(address)
    try:
        client.get_configs("spark.sql.session.timeZone")
    except PySparkException as error:
        raise errors.sail_refuses_client(version=__version__, reason=str(error)) from error
    finally:
        client.close()


def check_server(address: str) -> None:
    """Raises where nothing listens at an address: PySpark's client tries for ten minutes. Behind a
    proxy nobody can tell.
    """
    if any(os.environ.get(name) for name in PROXIES):
        return
    try:
        place = urlsplit(address)
        socket.create_connection((place.hostname, place.port or PORT), PATIENCE).close()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise errors.no_server(address=address, reason=reason) from error


def end(session: SparkSession, server: Any, folder: TemporaryDirectory[str]) -> None:
    session.stop()
    server.stop()
    folder.cleanup()
