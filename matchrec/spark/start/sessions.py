"""Start a session on the engine that the user has chosen, or on Sail if it is installed.

`start_session` takes these steps:

1. `choose_engine` chooses the engine, and `check_installed` checks that it is installed.
2. If it is Sail, `start_sail` starts it. If Sail does not work with the installed PySpark, the
   engine is Spark instead, unless the user has chosen Sail.
3. For Spark and for a server, `start_spark_or_connect` checks the arguments and the settings
   (`check_one_engine`, `check_limits`), and starts the session (`build_spark_session`).
4. `tune` sets the session's settings.
"""

from __future__ import annotations

import os
import sys
from zoneinfo import available_timezones

from pyspark.sql import SparkSession

from matchrec.conditions.functions.calendar import is_known_zone
from matchrec.errors import MatchRecognizeError
from matchrec.errors import machine as errors
from matchrec.loading import load_in_background
from matchrec.spark.sail import server
from matchrec.spark.start.addresses import check_server
from matchrec.spark.start.engine_choice import (
    SparkSettings,
    check_installed,
    check_one_engine,
    choose_engine,
    has_master,
    is_spark_installed,
    is_started_by_spark,
    is_submitted,
)
from matchrec.spark.start.engine_names import SAIL, SPARK
from matchrec.spark.start.environment_zone import find_environment_zone
from matchrec.spark.start.limits import (
    MEMORY,
    Limits,
    check_limits,
    read_memory_size,
    remember_limits,
)
from matchrec.spark.time_zones import TIME_ZONE
from matchrec.spark.tuning import tune

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

# The line on stderr before Spark starts, without the name of the program.
STARTING_SPARK = "starting Spark; this takes several seconds"


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
    session: SparkSession | None = None
    if chosen_engine == SAIL:
        can_use_spark = engine is None and is_spark_installed()
        session = start_sail(settings, cores, memory, can_use_spark=can_use_spark)
    if session is None:
        other_engine = SPARK if chosen_engine == SAIL else chosen_engine
        session = start_spark_or_connect(other_engine, settings, cores, memory, announces=announces)
    tune(session)
    return session


def start_sail(
    settings: SparkSettings, cores: int | None, memory: str | None, *, can_use_spark: bool
) -> SparkSession | None:
    """Start a session on Sail, and remember its limits.

    Args:
        settings: settings of Spark.
        cores: the number of cores; None for all of them.
        memory: the memory; None for no limit.
        can_use_spark: whether the session can run on Spark instead.

    Returns:
        The session; None if Sail does not work with the installed PySpark, and Spark can be used.

    Raises:
        MatchRecognizeError: Sail does not work with the installed PySpark, and Spark cannot be used
            instead; or Sail cannot have one of the settings.
    """
    limits = Limits(cores or os.cpu_count(), read_memory_size(memory) if memory else None)
    try:
        session = server.start_server(cores, limits.memory)
    except MatchRecognizeError:
        if can_use_spark:
            return None
        raise
    remember_limits(session, limits)
    change_settings(session, {**build_zone_settings(), **settings})
    return session


def build_zone_settings() -> dict[str, str]:
    """Return the setting of the time zone that TZ names; empty if TZ is not set."""
    zone = find_environment_zone()
    return {} if zone is None else {TIME_ZONE: zone}


def change_settings(session: SparkSession, settings: SparkSettings) -> None:
    """Change settings of a running session.

    Raises:
        MatchRecognizeError: a setting cannot be changed once a session runs, or cannot have the
            value.
    """
    for name, value in settings.items():
        if not session.conf.isModifiable(name):
            raise errors.unknown_setting(name=name)
        check_setting_value(session, name, value)
        session.conf.set(name, value)


def check_setting_value(session: SparkSession, name: str, value: str) -> None:
    """Check the value of a setting before it is set.

    Sail does not check values. If a value is wrong, all later queries fail with an error that does
    not name the setting.

    Raises:
        MatchRecognizeError: the value is not a boolean or a time zone, as the setting requires.
    """
    if name == TIME_ZONE and not is_known_zone(value):
        raise errors.wrong_setting_value(name=name, value=value, choices=available_timezones())
    booleans = ("true", "false")
    if session.conf.get(name) in booleans and value.lower() not in booleans:
        raise errors.wrong_setting_value(name=name, value=value, choices=booleans)


def is_java_running() -> bool:
    """Return whether this program already has a Java process for Spark, so that Spark starts fast.

    `spark-submit` starts Java before the program. PySpark has no public sign of a running Java.
    """
    from pyspark import SparkContext

    return is_submitted() or SparkContext._gateway is not None


def start_spark_or_connect(
    engine: str, settings: SparkSettings, cores: int | None, memory: str | None, *, announces: bool
) -> SparkSession:
    """Check the arguments, and start a session on Spark in this program or on a server.

    If Spark must start Java, which takes seconds, the modules of queries are loaded meanwhile.

    Args:
        engine: as in `build_spark_session`.
        settings: as in `build_spark_session`.
        cores: as in `build_spark_session`.
        memory: as in `build_spark_session`.
        announces: whether to print a line on stderr before Java starts.

    Raises:
        MatchRecognizeError: the session cannot have one of the settings or limits, or no server
            answers at the address.
    """
    check_one_engine(engine, settings)
    check_limits(engine, settings, cores, memory)
    if engine != SPARK or is_java_running():
        return build_spark_session(engine, settings, cores, memory)
    if announces:
        sys.stderr.write(f"matchrec: {STARTING_SPARK}\n")
        sys.stderr.flush()
    with load_in_background(MODULES_OF_QUERIES):
        return build_spark_session(engine, settings, cores, memory)


def build_spark_session(
    engine: str, settings: SparkSettings, cores: int | None, memory: str | None
) -> SparkSession:
    """Start a session on Spark in this program, or on the server at an address, by PySpark.

    Args:
        engine: `spark`, the address of a server, or a master of a server that PySpark starts.
        settings: settings of Spark.
        cores: the number of cores; None for all of them. A master in the settings decides instead.
        memory: the memory of Java; None for Spark's default.

    Raises:
        MatchRecognizeError: no server answers at the address.
    """
    if not is_started_by_spark(engine):
        check_server(engine)
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
