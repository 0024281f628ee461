"""Choose the engine of a new session: Sail, Spark, or the server at an address.

The user chooses one by the argument `engine`, by a master or an address among the settings, by
SPARK_REMOTE, by `spark-submit`, or by --master in PYSPARK_SUBMIT_ARGS. If the user has not chosen,
the engine is Sail if Sail is installed, and Spark otherwise.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

import pyspark

from matchrec.arguments import ArgumentKind
from matchrec.errors import machine as errors
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import join_names
from matchrec.spark.sail import server
from matchrec.spark.start.engine_names import SAIL, SPARK, is_engine_name

# Names of settings of Spark.
MASTER = "spark.master"
REMOTE = "spark.remote"

# The variable of the environment with the address of a server, to which PySpark then connects.
REMOTE_VARIABLE = "SPARK_REMOTE"
# The variable with arguments of `spark-submit` for the Java process that PySpark starts.
SUBMIT_ARGS_VARIABLE = "PYSPARK_SUBMIT_ARGS"

# Arguments of `spark-submit` that choose a master.
MASTER_IN_SUBMIT_ARGS = re.compile(r"(?:^|\s)--master\b|\bspark\.master=")

# The names and values of settings of Spark.
SparkSettings = Mapping[str, str]


def find_engine_hint(value: object) -> str | None:
    """Return the advice for a misspelt engine; None if no engine has a similar name."""
    nearest_engine = find_nearest(value, (SAIL, SPARK)) if isinstance(value, str) else None
    return f'write {{argument}}="{nearest_engine}"' if nearest_engine else None


# The values that the argument `engine` accepts.
ENGINE = ArgumentKind(
    '"sail", "spark" or the address of a server',
    lambda value: isinstance(value, str) and is_engine_name(value),
    'write {argument}="sail", {argument}="spark", or {argument}="sc://localhost:15002"',
    find_engine_hint,
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
