"""A session where nobody has given one: on which engine it runs, and how it starts.

What somebody has said wins: `engine`, a master or an address among the settings, SPARK_REMOTE, the
program that `spark-submit` runs in, or its --master in PYSPARK_SUBMIT_ARGS. Else it is Sail where
that is installed, and Spark where not.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from datetime import datetime
from importlib.metadata import version
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pyspark.sql import SparkSession

from matchrec.arguments import ArgumentKind
from matchrec.errors import MatchRecognizeError
from matchrec.errors import calls as errors
from matchrec.spark.environment import tune
from matchrec.spark.sail import server
from matchrec.spark.session import application, is_connect

SAIL, SPARK = "sail", "spark"
ADDRESS = re.compile(r"sc://\S+")
SIZE = re.compile(r"(\d+)([kmgt])b?", re.IGNORECASE)
SUBMITTED = re.compile(r"(?:^|\s)--master\b|\bspark\.master=")
UNITS = {"k": 10, "m": 20, "g": 30, "t": 40}
MASTER, REMOTE, MEMORY = "spark.master", "spark.remote", "spark.driver.memory"
TIME_ZONE = "spark.sql.session.timeZone"
STARTING_SPARK = "starting Spark; this takes several seconds"
ZONE_FILE = re.compile(r"/.*/zoneinfo/(?:posix/)?(?P<name>.+)")

Settings = Mapping[str, str]

ENGINE = ArgumentKind(
    "'sail', 'spark' or the address of a server",
    lambda one: isinstance(one, str) and (one in (SAIL, SPARK) or bool(ADDRESS.fullmatch(one))),
    "write {argument}='sail', {argument}='spark', or {argument}='sc://localhost:15002'",
)
MEMORY_SIZE = ArgumentKind(
    "a size, such as '4g'",
    lambda one: isinstance(one, str) and bytes_of(one) > 0,
    "write {argument}='4g' or {argument}='512m', or leave it out",
)


def engine_for(engine: str | None, settings: Settings) -> str:
    remote = settings.get(REMOTE) or os.environ.get("SPARK_REMOTE")
    if engine is not None or remote:
        return engine or remote or SPARK
    return SAIL if server.is_installed() and not has_master(settings) else SPARK


def has_master(settings: Settings) -> bool:
    submitted = SUBMITTED.search(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    return MASTER in settings or "PYSPARK_GATEWAY_PORT" in os.environ or submitted is not None


def start(
    engine: str | None = None,
    settings: Settings | None = None,
    cores: int | None = None,
    memory: str | None = None,
    *,
    announces: bool = True,
) -> SparkSession:
    """Return a new session with the settings of `tune`.

    If no engine was asked for and Sail does not run with the installed PySpark, Spark starts.

    Args:
        engine: the engine, as in `matchrec.session`.
        settings: settings of Spark.
        cores: the number of cores, as in `matchrec.session`.
        memory: the memory, as in `matchrec.session`.
        announces: whether to print a line on stderr before Spark starts, which takes seconds.
    """
    given = dict(settings or {})
    if (chosen := engine_for(engine, given)) == SAIL:
        try:
            session = server.start_sail(cores, bytes_of(memory) if memory else None)
        except MatchRecognizeError:
            if engine == SAIL or not server.is_there("py4j"):
                raise
            chosen = SPARK
        else:
            zone = zone_of_environment()
            return tuned(session, given if zone is None else {TIME_ZONE: zone, **given})
    if announces and chosen == SPARK and not java_runs():
        sys.stderr.write(f"matchrec: {STARTING_SPARK}\n")
        sys.stderr.flush()
    return tuned(start_spark(chosen, given, cores, memory), {})


def java_runs() -> bool:
    """Return whether this program has a Java process for Spark, as `spark-submit` gives it one."""
    from pyspark import SparkContext

    return "PYSPARK_GATEWAY_PORT" in os.environ or SparkContext._gateway is not None


def start_spark(
    engine: str, settings: Settings, cores: int | None, memory: str | None
) -> SparkSession:
    """A session of Spark in this program, or of the server at an address."""
    if engine != SPARK and not engine.startswith("local"):  # a server that PySpark starts itself
        server.check_server(engine)
    os.environ.pop(server.CONNECTED, None)  # as a session on Sail that is stopped leaves it behind
    builder = SparkSession.builder
    if engine != SPARK:
        builder = builder.remote(engine)
    elif not has_master(settings):
        builder = builder.master(f"local[{cores or '*'}]")
    builder = builder.config("spark.ui.showConsoleProgress", "false")  # `progress` shows more
    if memory is not None:
        builder = builder.config(MEMORY, memory)
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def tuned(session: SparkSession, settings: Settings) -> SparkSession:
    """The session with settings; raises MatchRecognizeError for one that it cannot have."""
    for name, value in settings.items():
        if not session.conf.isModifiable(name):
            raise errors.setting_of_spark(name=name)
        session.conf.set(name, value)
    tune(session)
    return session


def zone_of_environment() -> str | None:
    """Return the time zone that TZ names, or None if the system's zone holds.

    Sail reads only the system's zone. In Java, and so in Spark, TZ wins, and in Python and pandas
    too. TZ holds the name of a zone, or the path of its file. For another value, such as `UTC-3`,
    this function returns the offset that the C library has for it today, as Java does.

    Source: OpenJDK, TimeZone_md.c.
    """
    text = os.environ.get("TZ", "").removeprefix(":")
    if not text:
        return None
    file = ZONE_FILE.fullmatch(text)
    name = file["name"] if file else text.removeprefix("posix/")
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):  # no such name, a path, or a folder
        offset = datetime.now().astimezone().strftime("%z")  # as +0300
        return f"{offset[:3]}:{offset[3:5]}"


def engine_of(session: SparkSession) -> str:
    if application(session) in server.started:
        return f"Sail {version('pysail')}, in this program"
    if is_connect(session):
        return f"the server at {application(session)}"
    return f"Spark {session.version}, in this program"


def bytes_of(size: str) -> int:
    """A size as Spark writes it, in bytes; 0 for what is none.

    >>> bytes_of("2g"), bytes_of("512m"), bytes_of("much")
    (2147483648, 536870912, 0)
    """
    found = SIZE.fullmatch(size)
    return int(found[1]) << UNITS[found[2].lower()] if found else 0
