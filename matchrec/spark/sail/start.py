"""Start a session on the engine that the user has chosen, or on Sail if it is installed.

`start_session` takes these steps:

1. `choose_engine` chooses the engine. The user chooses one by the argument `engine`, by a master or
   an address among the settings, by SPARK_REMOTE, by `spark-submit`, or by --master in
   PYSPARK_SUBMIT_ARGS. If the user has not chosen, the engine is Sail if Sail is installed, and
   Spark otherwise.
2. `check_installed`, `check_one_engine` and `check_limits` check that the engine can start with
   these arguments and settings.
3. `start_sail` or `start_spark` starts the engine, and `tune` sets the session's settings.

`find_unmet_arguments` and `describe_engine` are about a session that already runs.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyspark
from pyspark.sql import SparkSession

from matchrec.arguments import ArgumentKind
from matchrec.errors import MatchRecognizeError
from matchrec.errors import machine as errors
from matchrec.errors.language import current_surface
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.wording import join_names
from matchrec.loading import load_in_background
from matchrec.spark.backends import find_backend
from matchrec.spark.sail import server
from matchrec.spark.session import find_application, is_connect
from matchrec.spark.tuning import count_local_cores, tune

SAIL = "sail"
SPARK = "spark"

# The address of a server: `sc://host:port`, then perhaps parameters.
SERVER_ADDRESS = re.compile(r"sc://(?:\[[^\]\s]+\]|[^\s/:;\[\]]+)(?::\d+)?(?:[/;]\S*)?")
# A size of memory: a number, then perhaps a unit.
MEMORY_TEXT = re.compile(r"(\d+)(b|[kmgtp]b?)?", re.IGNORECASE)
# Arguments of `spark-submit` that choose a master.
MASTER_IN_SUBMIT_ARGS = re.compile(r"(?:^|\s)--master\b|\bspark\.master=")

# Examples of options of `spark-submit` that set a limit of a session, by our argument for it.
SUBMIT_OPTIONS = {"cores": "--master 'local[4]'", "memory": "--driver-memory 4g"}

# The units of sizes, each as the exponent of a power of two: a KiB has 2 ** 10 bytes.
UNIT_EXPONENTS = {"b": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}

# Names of settings of Spark.
MASTER = "spark.master"
REMOTE = "spark.remote"
MEMORY = "spark.driver.memory"
TIME_ZONE = "spark.sql.session.timeZone"

# The variable of the environment with the address of a server, to which PySpark then connects.
REMOTE_VARIABLE = "SPARK_REMOTE"
# The variable with arguments of `spark-submit` for the Java process that PySpark starts.
SUBMIT_ARGS_VARIABLE = "PYSPARK_SUBMIT_ARGS"

# The modules that every query loads, except PySpark. They are loaded while Java starts, which takes
# longer. Spark itself loads pandas as soon as Java has started.
MODULES_OF_QUERIES = (
    "numpy",
    "pyarrow.parquet",
    "pandas",
    "sqlglot",
    "matchrec.syntax.grammar",
    "matchrec.compile.build_query",
)

STARTING_SPARK = "starting Spark; this takes several seconds"

# The path of the file of a time zone.
ZONE_FILE = re.compile(r"/.*/zoneinfo/(?:posix/)?(?P<name>.+)")

# The names and values of settings of Spark.
SparkSettings = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of the machine a session is allowed to use."""

    # How many tasks run at once; None if that is not known.
    cores: int | None = None
    # How many bytes the engine is allowed to take; None if there is no limit or it is not known.
    memory: int | None = None


# The limits of the sessions on Sail in this program, by their applications.
_limits: dict[Hashable, Limits] = {}


def find_engine_hint(value: object) -> str | None:
    """Return the advice for a misspelt engine; None if no engine has a similar name."""
    nearest_engine = find_nearest(value, (SAIL, SPARK)) if isinstance(value, str) else None
    return f'write {{argument}}="{nearest_engine}"' if nearest_engine else None


# The values that the arguments `engine` and `memory` accept.
ENGINE = ArgumentKind(
    '"sail", "spark" or the address of a server',
    lambda value: (
        isinstance(value, str) and (value in (SAIL, SPARK) or bool(SERVER_ADDRESS.fullmatch(value)))
    ),
    'write {argument}="sail", {argument}="spark", or {argument}="sc://localhost:15002"',
    find_engine_hint,
    right_types=(str,),
)
MEMORY_SIZE = ArgumentKind(
    'a size, such as "4g"',
    lambda value: isinstance(value, str) and not value.isdecimal() and read_memory_size(value) > 0,
    'write {argument}="4g" or {argument}="512m", or leave it out',
    right_types=(str,),
)


def choose_engine(engine: str | None, settings: SparkSettings) -> str:
    """Return the engine for a new session: `sail`, `spark`, or the address of a server.

    Args:
        engine: the engine that the caller asks for, if any.
        settings: the settings of the session.
    """
    if engine is not None:
        return engine
    address = settings.get(REMOTE) or os.environ.get(REMOTE_VARIABLE)
    if address:
        return address
    if server.is_installed() and not has_master(settings):
        return SAIL
    return SPARK


def check_installed(
    chosen_engine: str, requested_engine: str | None, settings: SparkSettings
) -> None:
    """Check that the engine of a new session is installed.

    Args:
        chosen_engine: the engine, as `choose_engine` returns it.
        requested_engine: the engine that the caller asks for, if any.
        settings: the settings of the session.

    Raises:
        MatchRecognizeError: the engine is not installed.
    """
    if chosen_engine == SAIL and not server.is_installed():
        option = current_surface().name_option("engine")
        # The extra `sail` installs pyspark-client, which would overwrite files of PySpark.
        location = " in another environment" if is_spark_installed() else ""
        raise errors.engine_not_installed(
            engine="Sail",
            reason=f"missing modules: {join_names(server.find_missing_modules())}",
            hint=f"run pip install '.[sail]'{location}, or leave out {option}",
        )
    if is_started_by_spark(chosen_engine) and not is_spark_installed():
        alternative = find_alternative(requested_engine, settings)
        raise errors.engine_not_installed(
            engine="Spark",
            reason="this environment has pyspark-client, which only connects to a server",
            hint=f"run pip install '.[spark]' in another environment, or {alternative}",
        )


def find_alternative(requested_engine: str | None, settings: SparkSettings) -> str:
    """Return what the user of an environment without Spark can do instead of installing it.

    Args:
        requested_engine: the engine that the caller asks for, if any.
        settings: the settings of the session.
    """
    if not server.is_installed():
        return "run pip install '.[sail]' in this one"
    if requested_engine is not None:
        return f"leave out {current_surface().name_option('engine')}"
    if settings.get(REMOTE):
        return f"leave out {REMOTE}"
    if MASTER in settings:
        return f"leave out {MASTER}"
    if os.environ.get(REMOTE_VARIABLE):
        return f"unset {REMOTE_VARIABLE}"
    return f"unset {SUBMIT_ARGS_VARIABLE}"


def is_spark_installed() -> bool:
    """Return whether Spark itself is installed, not only its client `pyspark-client`."""
    return hasattr(pyspark, "SparkContext")


def is_started_by_spark(engine: str) -> bool:
    """Return whether Spark's own code starts a session: in this program, or a server for it.

    PySpark starts a server itself if the address is a master, such as `local[2]`.
    """
    return engine == SPARK or engine.startswith("local")


def has_master(settings: SparkSettings) -> bool:
    """Return whether the settings or `spark-submit` choose a master of Spark."""
    submit_args = os.environ.get(SUBMIT_ARGS_VARIABLE, "")
    has_master_in_args = MASTER_IN_SUBMIT_ARGS.search(submit_args) is not None
    return MASTER in settings or is_submitted() or has_master_in_args


def is_submitted() -> bool:
    """Return whether `spark-submit` has started this program, and Java before it."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def start_session(
    engine: str | None = None,
    settings: SparkSettings | None = None,
    cores: int | None = None,
    memory: str | None = None,
    *,
    announces: bool = True,
) -> SparkSession:
    """Start a session on the engine that `choose_engine` returns, with the settings of `tune`.

    If the caller asks for no engine and Sail does not work with the installed PySpark, the session
    runs on Spark.

    Args:
        engine: the engine, as in `matchrec.session`.
        settings: settings of Spark.
        cores: the number of cores, as in `matchrec.session`.
        memory: the memory, as in `matchrec.session`.
        announces: whether to print a line on stderr before Spark starts, which takes seconds.

    Raises:
        MatchRecognizeError: the engine is not installed, cannot start, or cannot have one of the
            settings or limits.
    """
    settings = settings or {}
    chosen_engine = choose_engine(engine, settings)
    check_installed(chosen_engine, engine, settings)
    if chosen_engine == SAIL:
        try:
            session = start_sail(cores, memory)
        except MatchRecognizeError:
            if engine == SAIL or not is_spark_installed():
                raise
            chosen_engine = SPARK
        else:
            change_settings(session, {**build_zone_settings(), **settings})
            tune(session)
            return session
    check_one_engine(chosen_engine, settings)
    check_limits(chosen_engine, settings, cores, memory)
    if chosen_engine != SPARK or is_java_running():
        session = start_spark(chosen_engine, settings, cores, memory)
    else:
        if announces:
            sys.stderr.write(f"matchrec: {STARTING_SPARK}\n")
            sys.stderr.flush()
        with load_in_background(MODULES_OF_QUERIES):
            session = start_spark(chosen_engine, settings, cores, memory)
    tune(session)
    return session


def start_sail(cores: int | None, memory: str | None) -> SparkSession:
    """Start a session on Sail, and remember its limits.

    Raises:
        MatchRecognizeError: Sail does not work with the installed PySpark.
    """
    limits = Limits(cores or os.cpu_count(), read_memory_size(memory) if memory else None)
    session = server.start_server(cores, limits.memory)
    _limits[find_application(session)] = limits
    return session


def build_zone_settings() -> dict[str, str]:
    """Return the setting of the time zone that TZ names; empty if TZ is not set."""
    zone = find_environment_zone()
    return {} if zone is None else {TIME_ZONE: zone}


def change_settings(session: SparkSession, settings: SparkSettings) -> None:
    """Change settings of a running session.

    Raises:
        MatchRecognizeError: a setting cannot be changed once a session runs.
    """
    for name, value in settings.items():
        if not session.conf.isModifiable(name):
            raise errors.unknown_setting(name=name)
        session.conf.set(name, value)


def check_one_engine(engine: str, settings: SparkSettings) -> None:
    """Check that the user does not ask for both a server and Spark in this program.

    PySpark would start neither of them.

    Args:
        engine: `spark`, or the address of a server.
        settings: the settings of the session.

    Raises:
        MatchRecognizeError: the settings or the environment ask for both.
    """
    if engine != SPARK and MASTER in settings:
        raise errors.master_of_server(address=engine)
    addresses = {REMOTE: settings.get(REMOTE), REMOTE_VARIABLE: os.environ.get(REMOTE_VARIABLE)}
    for name, address in addresses.items():
        if engine == SPARK and address is not None:
            raise errors.server_instead_of_spark(name=name, address=address)


def check_limits(
    engine: str, settings: SparkSettings, cores: int | None, memory: str | None
) -> None:
    """Check that the caller does not ask for a limit that is already set elsewhere.

    A server already has its limits. A master contains the number of tasks. `spark-submit` starts
    Java before the program, so the memory is fixed by then.

    Args:
        engine: `spark`, or the address of a server.
        settings: the settings of the session.
        cores: the number of cores that the caller asks for, if any.
        memory: the memory that the caller asks for, if any.

    Raises:
        MatchRecognizeError: the session would ignore `cores` or `memory`.
    """
    arguments = []
    if cores is not None and (engine != SPARK or has_master(settings)):
        arguments.append("cores")
    if memory is not None and (engine != SPARK or is_submitted()):
        arguments.append("memory")
    if arguments and engine != SPARK:
        raise errors.limits_of_server(arguments=arguments, address=engine)
    if arguments:
        options = [SUBMIT_OPTIONS[argument] for argument in arguments]
        raise errors.limits_of_master(arguments=arguments, options=options)


def is_java_running() -> bool:
    """Return whether this program already has a Java process for Spark, so that Spark starts fast.

    `spark-submit` starts Java before the program.
    """
    from pyspark import SparkContext

    return is_submitted() or SparkContext._gateway is not None


def start_spark(
    engine: str, settings: SparkSettings, cores: int | None, memory: str | None
) -> SparkSession:
    """Start a session on Spark in this program, or on the server at an address.

    Args:
        engine: `spark`, the address of a server, or a master of a server that PySpark starts.
        settings: settings of Spark.
        cores: the number of cores; None for all of them, or if a master has been chosen.
        memory: the memory of Java; None for Spark's default.

    Raises:
        MatchRecognizeError: no server answers at the address.
    """
    if not is_started_by_spark(engine):
        server.check_server(engine)
    # A session on Sail that has stopped leaves this variable behind.
    os.environ.pop(server.CONNECT_MODE_VARIABLE, None)
    builder = SparkSession.builder
    if engine != SPARK:
        builder = builder.remote(engine)
    elif not has_master(settings):
        builder = builder.master(f"local[{cores or '*'}]")
    # matchrec's own progress bar shows more.
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    if memory is not None:
        builder = builder.config(MEMORY, memory)
    zone = find_environment_zone()
    if engine == SPARK and zone is not None and zone.startswith(("+", "-")):
        # Java calls such a zone GMT+03:00, a name that pytz, and so `toPandas`, does not know.
        builder = builder.config(TIME_ZONE, zone)
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def find_environment_zone() -> str | None:
    """Return the time zone that the environment variable TZ names; None if TZ is not set.

    Sail reads only the system's time zone. Java (so also Spark), Python and pandas read TZ first.
    TZ holds the name of a zone, or the path of its file. For another value, such as `UTC-3`, the
    result is the offset that the C library has for it today, such as `+03:00`, as in Java.

    Source: OpenJDK, TimeZone_md.c.
    """
    zone_text = os.environ.get("TZ", "").removeprefix(":")
    if not zone_text:
        return None
    zone_file = ZONE_FILE.fullmatch(zone_text)
    name = zone_file["name"] if zone_file else zone_text.removeprefix("posix/")
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):  # no such name, a path, or a folder
        offset = datetime.now().astimezone().strftime("%z")  # such as +0300
        return f"{offset[:3]}:{offset[3:5]}"


def find_unmet_arguments(
    session: SparkSession, engine: str | None, cores: int | None, memory: str | None
) -> Iterator[str]:
    """Yield the names of the arguments that a running session does not fulfil.

    Args:
        session: the running session.
        engine: the engine that the caller asks for, if any.
        cores: the number of cores that the caller asks for, if any.
        memory: the memory that the caller asks for, if any.
    """
    limits = find_limits(session)
    if engine is not None and not runs_on(session, engine):
        yield "engine"
    if cores is not None and cores != limits.cores:
        yield "cores"
    if memory is not None and read_memory_size(memory) != limits.memory:
        yield "memory"


def runs_on(session: SparkSession, engine: str) -> bool:
    """Return whether a session runs on an engine.

    Args:
        session: the session.
        engine: `sail`, `spark`, or the address of a server. A session on a server runs on two of
            them: the address, and the engine of the server.
    """
    if engine in (SAIL, SPARK):
        return find_backend(session).engine.lower() == engine
    if not is_connect(session):
        return False
    session_address = str(find_application(session))
    return find_host_and_port(session_address) == find_host_and_port(engine)


def find_host_and_port(address: str) -> tuple[str | None, int]:
    """Return the host and the port of the address of a server.

    >>> find_host_and_port("sc://there/;token=x"), find_host_and_port("there:4040")
    (('there', 15002), ('there', 4040))
    """
    url = urlsplit(address if "://" in address else f"sc://{address}")
    return url.hostname, url.port or server.DEFAULT_PORT


def find_limits(session: SparkSession) -> Limits:
    """Return the limits of a running session. Limits of another program's server are unknown."""
    if is_connect(session):
        return _limits.get(find_application(session), Limits())
    memory = session.conf.get(MEMORY, None)
    return Limits(count_local_cores(session), read_memory_size(memory) if memory else None)


def describe_limits(session: SparkSession, names: Sequence[str]) -> str:
    """Describe some limits of a running session: `it has 4 cores and a memory of 2,048 MiB`.

    Args:
        session: the running session.
        names: arguments of `matchrec.session`. The result is "" if no limit is among them.
    """
    limits = find_limits(session)
    descriptions = []
    if "cores" in names and limits.cores is not None:
        descriptions.append(f"{limits.cores} core{'' if limits.cores == 1 else 's'}")
    if "memory" in names and limits.memory is not None:
        descriptions.append(f"a memory of {limits.memory >> 20:,} MiB")
    if "memory" in names and limits.memory is None:
        descriptions.append("no limit of memory")
    return f"it has {' and '.join(descriptions)}" if descriptions else ""


def describe_engine(session: SparkSession) -> str:
    """Describe the engine of a session: `Spark 4.0.1, in this program`."""
    if find_application(session) in server.started_applications:
        return f"Sail {version('pysail')}, in this program"
    if is_connect(session):
        return f"the server at {find_application(session)}"
    return f"Spark {session.version}, in this program"


def read_memory_size(size: str) -> int:
    """Return the number of bytes of a size of memory as Spark reads it; 0 if it is not a size.

    A number without a unit is a number of MiB, as in the setting `spark.driver.memory`. In Java's
    options it is a number of bytes, so `MEMORY_SIZE` does not accept it from users.

    >>> [read_memory_size(size) for size in ("2g", "512m", "4096", "much")]
    [2147483648, 536870912, 4294967296, 0]
    """
    number_and_unit = MEMORY_TEXT.fullmatch(size)
    if number_and_unit is None:
        return 0
    unit = number_and_unit[2] or "m"
    return int(number_and_unit[1]) << UNIT_EXPONENTS[unit[0].lower()]
