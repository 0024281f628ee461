"""Start Sail's server of Spark Connect inside of this program.

The server needs no Java. Its workers are threads of this program, and get and return rows as Arrow
batches.
"""

from __future__ import annotations

import atexit
import os
import signal
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import current_thread, main_thread
from typing import Any, cast

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from matchrec.errors import machine as errors
from matchrec.memory import find_mimalloc_settings, keep_freed_memory
from matchrec.spark.sail.ending import wait_for_tasks
from matchrec.spark.session import find_application

# The modules that the extra `sail` installs: the server, and what PySpark needs to connect to it.
MODULES = ("pysail", "grpc", "grpc_status", "google.protobuf", "pyspark")

# The applications whose servers run in this program.
started_applications: set[Hashable] = set()

# The number of threads of the server for each core. At the end of a task, a thread waits until the
# search has ended, even if the query was interrupted. Without further threads, the server would not
# answer meanwhile.
THREADS_PER_CORE = 4

# The variable of the environment that PySpark sets once a program has a session of Spark Connect.
CONNECT_MODE_VARIABLE = "SPARK_CONNECT_MODE_ENABLED"

# The option of a channel that turns compression off. Bit 0 stands for the algorithm "identity".
UNCOMPRESSED_OPTION = ("grpc.compression_enabled_algorithms_bitset", 1)

# The variable by which users choose the memory pool of Arrow.
ARROW_POOL_VARIABLE = "ARROW_DEFAULT_MEMORY_POOL"

# The variable for the number of rows of a batch. Each batch is passed from thread to thread. With
# Sail's default of 8,192 rows there are four times as many batches.
BATCH_SIZE_VARIABLE = "SAIL_EXECUTION__BATCH_SIZE"
ROWS_PER_BATCH = 1 << 15

# The variable for the number of idle seconds after which the server forgets a session. The default
# is 15 minutes, after which a notebook would lose its views. No session needs to end, because the
# server ends with this program.
IDLE_SECONDS_VARIABLE = "SAIL_SPARK__SESSION_TIMEOUT_SECS"
SECONDS_OF_TEN_YEARS = 10 * 365 * 24 * 3600

# The variable for the use of statistics. If it is true, Sail treats a column of a Parquet file as a
# constant if its least and its greatest value are equal. Writers leave NaN out of these two values,
# so NaN would be read as the constant.
COLLECT_STATISTICS_VARIABLE = "SAIL_EXECUTION__COLLECT_STATISTICS"


def is_installed() -> bool:
    """Return whether the extra `sail` is installed: the server, and what PySpark needs for it."""
    return not find_missing_modules()


def find_missing_modules() -> list[str]:
    """Return the modules of the extra `sail` that are not installed."""
    return [module for module in MODULES if not is_module_installed(module)]


def is_module_installed(module: str) -> bool:
    """Return whether a module is installed."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it is missing
        return False


def keep_memory() -> None:
    """Let this program keep freed memory, and let Arrow use it unless the user has chosen a pool.

    The pool is set by a call, because Arrow reads the environment only when it is imported, and
    pandas can have imported Arrow before.

    Source: Arrow's documentation, Memory Management.
    """
    if keep_freed_memory() and ARROW_POOL_VARIABLE not in os.environ:
        import pyarrow as pa

        pa.set_memory_pool(pa.system_memory_pool())


def start_server(cores: int | None = None, memory: int | None = None) -> SparkSession:
    """Start a server that ends with the program, and return a session on it.

    Args:
        cores: the number of tasks that a query is divided into; None for the number of all cores.
        memory: the largest number of bytes that the engine itself takes; None for no limit.

    Raises:
        MatchRecognizeError: Sail does not work with the installed PySpark.
    """
    keep_memory()
    with set_environment(find_mimalloc_settings()):
        from pysail.spark import SparkConnectServer

    folder = TemporaryDirectory(prefix="matchrec-")
    with set_environment(build_environment(cores, memory, Path(folder.name))):
        server = SparkConnectServer()
        server.start()
    host, port = server.listening_address
    address = f"sc://{host}:{port}"
    check_client(address)
    # Give Ctrl-C back to Python. The server listens for interrupts as soon as it has answered. It
    # would end at the first interrupt, and all later queries would wait. Only the main thread is
    # allowed to set handlers.
    handler = signal.getsignal(signal.SIGINT)
    if current_thread() is main_thread() and handler is not None:
        signal.signal(signal.SIGINT, handler)
    from pyspark.sql.connect.session import SparkSession as RemoteSession

    os.environ[CONNECT_MODE_VARIABLE] = "1"  # as PySpark does when it makes the channel itself
    builder = RemoteSession.builder.channelBuilder(make_channel_builder(address))
    session = cast("SparkSession", builder.getOrCreate())
    started_applications.add(find_application(session))
    atexit.register(end_session, session, server, folder)
    return session


def make_channel_builder(address: str) -> Any:
    """Return PySpark's builder of channels to a server, without compression.

    Sail compresses answers if the client allows it, which takes a second for 40 MB. The answers
    stay in this program, so compression gains nothing.
    """
    return find_channel_builder()(address, [UNCOMPRESSED_OPTION])


def find_channel_builder() -> Any:
    """Return PySpark's class of builders of channels to an address."""
    from pyspark.sql.connect import client

    # PySpark 3.5 has only `ChannelBuilder`.
    return getattr(client, "DefaultChannelBuilder", client.ChannelBuilder)


def build_environment(cores: int | None, memory: int | None, folder: Path) -> dict[str, str]:
    """Return the environment of the server.

    Variables of the user win over defaults, but not over the arguments of this function.

    Args:
        cores: as in `start_server`.
        memory: as in `start_server`.
        folder: the folder to which `checkpoint` and `localCheckpoint` write rows.
    """
    threads = THREADS_PER_CORE * (cores or os.cpu_count() or 1)
    defaults = {
        "RUST_LOG": "off",  # nothing in the user's terminal
        "TOKIO_WORKER_THREADS": str(threads),
        BATCH_SIZE_VARIABLE: str(ROWS_PER_BATCH),
        IDLE_SECONDS_VARIABLE: str(SECONDS_OF_TEN_YEARS),
        COLLECT_STATISTICS_VARIABLE: "false",
    }
    variables = {name: os.environ.get(name, default) for name, default in defaults.items()}
    variables["SAIL_EXECUTION__CHECKPOINT__PATH"] = folder.as_uri()
    if cores is not None:
        variables["SAIL_EXECUTION__DEFAULT_PARALLELISM"] = str(cores)
    if memory is not None:
        variables["SAIL_RUNTIME__MEMORY_POOL__TYPE"] = "fair"
        variables["SAIL_RUNTIME__MEMORY_POOL__FAIR__MAX_SIZE"] = str(memory)
    return variables


@contextmanager
def set_environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables of the environment inside the `with` block, and restore them after it."""
    values_before = {name: os.environ[name] for name in variables if name in os.environ}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]
        os.environ.update(values_before)


def check_client(address: str) -> None:
    """Check that a server works with the installed PySpark, by one request.

    The request uses a new client, not a session of PySpark, because a session would become the
    active session even if the check fails.

    Raises:
        MatchRecognizeError: the server does not accept this PySpark.
    """
    from pyspark import __version__
    from pyspark.sql.connect.client import SparkConnectClient

    client: Any = SparkConnectClient(address)
    try:
        client.get_configs("spark.sql.session.timeZone")
    except PySparkException as error:
        raise errors.incompatible_pyspark(version=__version__, reason=str(error)) from error
    finally:
        client.close()


def end_session(session: SparkSession, server: Any, folder: TemporaryDirectory[str]) -> None:
    """End a session, its server and the server's folder."""
    session.stop()
    server.stop()
    wait_for_tasks()
    folder.cleanup()
