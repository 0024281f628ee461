"""Sail: a server of Spark Connect inside of this program, over Arrow and without Java.

The only module that knows Sail. A session on it is a session of Connect like any other: what it
takes and computes otherwise than Spark is found out by asking it, once, and not told by a version.
Workers are threads of this program.
"""

from __future__ import annotations

import atexit
import os
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql.types import DateType

from matchrec.errors import calls as errors
from matchrec.spark.session import application, plain_sql, quiet_analysis

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

started: set[Hashable] = set()  # the applications whose servers run in this program

EXTRA = ("pysail", "grpc", "grpc_status", "google.protobuf", "pyspark")


def is_installed() -> bool:
    """Whether the extra `sail` is there: the server, and what PySpark needs to speak to one."""
    return all(map(is_there, EXTRA))


def is_there(module: str) -> bool:
    """Whether a module could be imported."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it is missing
        return False


def start_sail(cores: int | None = None, memory: int | None = None) -> SparkSession:
    """A session on a server that starts here and ends with the program.

    cores: into how many tasks a query is divided; all cores where nothing is said. memory: how many
    bytes the engine itself takes at most; else as many as it needs.
    Raises MatchRecognizeError where Sail does not take the PySpark that is installed.
    """
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    folder = TemporaryDirectory(prefix="matchrec-")
    with environment(settings(cores, memory, Path(folder.name))):
        server = SparkConnectServer()
        server.start()
    host, port = server.listening_address
    address = f"sc://{host}:{port}"
    check_client(address)
    session = SparkSession.builder.remote(address).getOrCreate()
    started.add(application(session))
    atexit.register(end, session, server, folder)
    return session


def engine_here(session: SparkSession) -> str | None:
    """Sail and its version, where it runs in this program; None of any other session."""
    return f"Sail {version('pysail')}" if application(session) in started else None


def settings(cores: int | None, memory: int | None, folder: Path) -> dict[str, str]:
    """How the server is made, in its environment; it writes nothing of its own to the terminal.

    folder: for what `checkpoint` and `localCheckpoint` keep.
    """
    found = {
        "RUST_LOG": os.environ.get("RUST_LOG", "off"),
        "SAIL_EXECUTION__CHECKPOINT__PATH": folder.as_uri(),
    }
    if cores is not None:
        found["SAIL_EXECUTION__DEFAULT_PARALLELISM"] = str(cores)
    if memory is not None:
        found["SAIL_RUNTIME__MEMORY_POOL__TYPE"] = "fair"
        found["SAIL_RUNTIME__MEMORY_POOL__FAIR__MAX_SIZE"] = str(memory)
    return found


@contextmanager
def environment(changed: Mapping[str, str]) -> Iterator[None]:
    """Some variables of the environment, for as long as the server is made."""
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def check_client(address: str) -> None:
    """Raises where the server does not take this PySpark, as it says when it is first asked.

    Asked by a client of its own: a session would be PySpark's one from then on.
    """
    from pyspark import __version__
    from pyspark.sql.connect.client import SparkConnectClient

    client: Any = SparkConnectClient(address)
    try:
        client.get_configs("spark.sql.session.timeZone")
    except PySparkException as error:
        raise errors.sail_refuses_client(__version__, str(error)) from error
    finally:
        client.close()


def end(session: SparkSession, server: Any, folder: TemporaryDirectory[str]) -> None:
    """Ends a session and its server with the program."""
    session.stop()
    server.stop()
    folder.cleanup()


# What a session does otherwise than Spark: each is asked of it once, by a query of one row.


def asked_once(probe: Callable[[SparkSession], bool]) -> Callable[[SparkSession], bool]:
    """The probe, whose answer is kept for all sessions of an application."""
    known: dict[Hashable, bool] = {}

    @wraps(probe)
    def answer(spark: SparkSession) -> bool:
        key = application(spark)
        if key not in known:
            with quiet_analysis():
                known[key] = probe(spark)
        return known[key]

    return answer


def accepts(frame: Callable[[], DataFrame]) -> bool:
    """Whether the session makes a DataFrame of it, as far as it looks before it runs."""
    try:
        _ = frame().schema
    except PySparkException:
        return False
    return True


@asked_once
def takes_any_condition(spark: SparkSession) -> bool:
    """Whether CASE takes a number for a condition, which Spark's analysis refuses."""
    return accepts(lambda: plain_sql(spark)("SELECT CASE WHEN 1 THEN 1 END"))


@asked_once
def analyses_late(spark: SparkSession) -> bool:
    """Whether a query that cannot run has a schema all the same."""
    return accepts(lambda: plain_sql(spark)("SELECT NOT 1"))


@asked_once
def can_observe(spark: SparkSession) -> bool:
    """Whether a query tells what an Observation has seen."""
    from pyspark.sql.functions import count, lit

    return accepts(lambda: spark.range(1).observe("seen", count(lit(1)).alias("n")))


@asked_once
def has_watermarks(spark: SparkSession) -> bool:
    """Whether streams have watermarks."""
    rows = spark.readStream.format("rate").load
    return accepts(lambda: rows().withWatermark("timestamp", "1 second"))


@asked_once
def drops_hours(spark: SparkSession) -> bool:
    """Whether a date and an interval of hours make a date; Spark makes a timestamp of them."""
    found = plain_sql(spark)("SELECT DATE'2000-01-01' + INTERVAL 1 HOUR AS at")
    return isinstance(found.schema["at"].dataType, DateType)


@asked_once
def tells_zeros_apart(spark: SparkSession) -> bool:
    """Whether 0.0 and -0.0 in a struct are two values, which are one to Spark."""
    same = "SELECT named_struct('x', x) = named_struct('x', -x) FROM VALUES (0.0D) AS t(x)"
    return not plain_sql(spark)(same).collect()[0][0]


NAMED = r"(?:ObjectName\(\[(?P<parts>[^\]]*)\]\)|`?(?P<name>[\w.]+)`?)"
SAID = {
    rf"attribute {NAMED} is missing": "UNRESOLVED_COLUMN",
    rf"ambiguous attribute: {NAMED}": "AMBIGUOUS_REFERENCE",
    rf"unknown function: {NAMED}": "UNRESOLVED_ROUTINE",
    rf"Table or view not found: {NAMED}": "TABLE_OR_VIEW_NOT_FOUND",
}
"""What Sail says of a name, and Spark's name for that."""


def condition_of(said: str) -> tuple[str, str] | None:
    """Spark's condition and the name that a refusal of Sail's is about; None of other text.

    >>> condition_of('attribute ObjectName([Identifier("A"), Identifier("x")]) is missing from')
    ('UNRESOLVED_COLUMN', 'A.x')
    >>> condition_of("unknown function: uper")
    ('UNRESOLVED_ROUTINE', 'uper')
    """
    for pattern, condition in SAID.items():
        found = re.search(pattern, said)
        if found is not None:
            parts = re.findall(r'Identifier\("([^"]*)"\)', found["parts"] or "")
            return condition, ".".join(parts) or found["name"]
    return None
