"""Errors of sessions, engines and machines, such as a worker without memory or a full disk."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from matchrec.errors.kinds import (
    MatchRecognizeError,
    MatchRecognizePlanError,
    MatchRecognizeRunError,
    MatchRecognizeUnsupportedError,
    about_argument,
)
from matchrec.errors.language import find_argument, name_part
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import join_names
from matchrec.source import Span


def spark_did_not_start(*, reason: str) -> MatchRecognizeError:
    """Return the error for a local session that could not be started.

    Args:
        reason: the last line that Spark wrote.
    """
    return MatchRecognizeError(
        "Spark did not start",
        notes=(reason, "Spark runs on Java; PySpark 4 needs Java 17 or newer"),
        hint=(
            "install Java 17 (`apt install openjdk-17-jre-headless`, `brew install openjdk@17`) "
            "and set JAVA_HOME to its folder"
        ),
        code="spark-did-not-start",
    )


def engine_not_installed(*, engine: str, reason: str, hint: str) -> MatchRecognizeError:
    """Return the error for a session on an engine that this environment does not have.

    Args:
        engine: Spark or Sail.
        reason: what the environment has instead, or what it lacks.
        hint: how to install the engine, or what to do instead.
    """
    return MatchRecognizeError(
        f"{engine} is not installed", notes=(reason,), hint=hint, code="engine-not-installed"
    )


def incompatible_worker_python(*, worker: str, reason: str, driver: str) -> MatchRecognizeError:
    """Return the error for Python workers that cannot run matchrec.

    Args:
        worker: the Python of the workers.
        reason: the predicate of the sentence: why this Python cannot run matchrec.
        driver: the Python of this program.
    """
    return MatchRecognizeError(
        f"Spark would run its Python workers with `{worker}`, which {reason}",
        hint=(
            f"set the environment variable PYSPARK_PYTHON to {driver} before the Spark session "
            "starts"
        ),
        code="incompatible-worker-python",
    )


def worker_out_of_memory(*, mebibytes: int) -> MatchRecognizeRunError:
    """Return the error for a worker that has reached the limit of its memory."""
    return MatchRecognizeRunError(
        f"a Python worker is out of memory: its limit is {mebibytes:,} MiB",
        notes=(
            (
                "the limit is on address space: the libraries of a worker reserve about 600 MiB of "
                "it, and the rows of a call need more"
            ),
        ),
        hint="set spark.executor.pyspark.memory to 2g or more, or do not set it",
        code="worker-out-of-memory",
    )


def machine_out_of_memory() -> MatchRecognizeRunError:
    """Return the error for a worker on a machine or in a container without more memory."""
    return MatchRecognizeRunError(
        "a Python worker is out of memory: its machine or container has no more",
        hint=(
            "set spark.executor.memoryOverhead to more, or run fewer tasks at a time on a machine "
            "with spark.executor.cores"
        ),
        code="machine-out-of-memory",
    )


def disk_full(*, folder: str) -> MatchRecognizeRunError:
    """Return the error for a full disk on which rows are sorted."""
    surface = current_surface()
    return MatchRecognizeRunError(
        f"the disk of {folder}, where rows are sorted, is full",
        hint=(
            "set spark.local.dir, or TMPDIR on Sail, to folders with more space, or let the engine "
            f"sort: {surface.write_option('sort', 'engine')}"
        ),
        code="disk-full",
    )


def sort_folder_not_writable(*, folder: str, reason: str) -> MatchRecognizeRunError:
    """Return the error for a folder in which rows cannot be sorted."""
    return MatchRecognizeRunError(
        f"the folder {folder}, where rows are sorted, cannot be written to: {reason}",
        hint="set spark.local.dir, or TMPDIR on Sail, to folders that exist and can be written to",
        code="sort-folder-not-writable",
    )


def stopped_session() -> MatchRecognizeError:
    """Return the error for a session that has been stopped."""
    return MatchRecognizeError(
        "the Spark session has been stopped",
        hint="start a new session with matchrec.session(), and read the DataFrames again",
        code="stopped-session",
    )


def signed_zeros_in_key(
    span: Span | None, *, clause: str, type_name: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for a nested key with floating-point numbers in a session with two zeros.

    Args:
        span: the location in the text of the query.
        clause: PARTITION BY or ORDER BY.
        type_name: the type of the key.
    """
    return about_argument(
        MatchRecognizeUnsupportedError(
            f"{name_part(clause)} by {type_name} is not supported in this session, which treats "
            "0.0 and -0.0 as two values",
            span,
            hint="write a key without floating-point numbers, such as to_json(x), or run on Spark",
            code="signed-zeros-in-key",
        ),
        find_argument(clause),
    )


def hours_added_to_date(
    span: Span | None, *, interval: str, key: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for WITHIN with hours along a date in a session that ignores them.

    Args:
        span: the length in the text of the query.
        interval: the length.
        key: the date, as ORDER BY has it.
    """
    return MatchRecognizeUnsupportedError(
        f"WITHIN {interval} along a date is not supported in this session, which adds only whole "
        "days",
        span,
        hint=f"order by CAST({key} AS TIMESTAMP), or run on Spark",
        code="hours-added-to-date",
    )


def missing_session() -> MatchRecognizePlanError:
    """Return the error for a call that needs a session if none is running."""
    return MatchRecognizePlanError(
        "missing session: no Spark session is running",
        hint="write spark = matchrec.session(), and call the function again",
        code="missing-session",
    )


def session_already_runs(
    *, arguments: Sequence[str], engine: str, limits: str
) -> MatchRecognizePlanError:
    """Return the error for arguments of matchrec.session that the running session does not fulfil.

    Args:
        arguments: the names of these arguments.
        engine: a description of the engine of the running session.
        limits: a description of its limits that are not as requested; "" for no such limits.
    """
    verb = "does" if len(arguments) == 1 else "do"
    return MatchRecognizePlanError(
        f"`{join_names(arguments)}` {verb} not fit the running session",
        notes=(f"the running session is on {engine}", limits),
        hint=f"leave out {join_names(arguments)}, or call stop() on the running session first",
        code="session-already-runs",
    )


def server_instead_of_spark(*, name: str, address: str) -> MatchRecognizeError:
    """Return the error for starting Spark in a program in which the address of a server is set.

    Args:
        name: the setting or the variable of the environment with the address.
        address: the address.
    """
    surface = current_surface()
    return MatchRecognizeError(
        f"Spark cannot start in this program, because {name} is set",
        notes=(f"it is {address}, and PySpark connects only to that server",),
        hint=f"unset {name}, or connect to the server: {surface.write_option('engine', address)}",
        code="server-instead-of-spark",
    )


def master_of_server(*, address: str) -> MatchRecognizeError:
    """Return the error for a master of Spark among the settings of a session on a server.

    Args:
        address: the address of the server.
    """
    return MatchRecognizeError(
        "`spark.master` is not allowed in a session on a server",
        notes=(f"the session is on {address}, which has a master of its own",),
        hint="remove spark.master, or the address of the server",
        code="master-of-server",
    )


def limits_of_server(*, arguments: Sequence[str], address: str) -> MatchRecognizePlanError:
    """Return the error for limits of a session on a server, which the server sets.

    Args:
        arguments: the names of the arguments with the limits.
        address: the address of the server.
    """
    verb, pronoun = ("is", "it") if len(arguments) == 1 else ("are", "them")
    return MatchRecognizePlanError(
        f"`{join_names(arguments)}` {verb} not allowed in a session on a server",
        notes=(f"the session is on {address}, which has limits of its own",),
        hint=f"remove {pronoun}, and limit the server where it is started",
        code="limits-of-server",
    )


def limits_of_master(
    *, arguments: Sequence[str], options: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for limits of a session on Spark that `spark-submit` has set before.

    Args:
        arguments: the names of the arguments with the limits.
        options: the options of `spark-submit` that set these limits, each with an example.
    """
    verb, pronoun = ("is", "it") if len(arguments) == 1 else ("are", "them")
    return MatchRecognizePlanError(
        f"`{join_names(arguments)}` {verb} not allowed in a program that spark-submit has set up",
        notes=("spark-submit or PYSPARK_SUBMIT_ARGS has already set the limits",),
        hint=f"remove {pronoun}, and write {' '.join(options)} there",
        code="limits-of-master",
    )


# The settings that users of Sail change, for misspelt names.
_COMMON_SETTINGS = (
    "spark.sql.session.timeZone",
    "spark.sql.ansi.enabled",
    "spark.sql.caseSensitive",
    "spark.sql.shuffle.partitions",
)


def unknown_setting(*, name: str) -> MatchRecognizeError:
    """Return the error for a setting that Sail does not have."""
    surface = current_surface()
    nearest = find_nearest(name, _COMMON_SETTINGS)
    hint = f"remove it, or run on Spark: {surface.write_option('engine', 'spark')}"
    return MatchRecognizeError(
        f"unknown setting `{name}` of this session",
        hint=f"write {nearest}" if nearest else hint,
        code="unknown-setting",
    )


def wrong_setting_value(*, name: str, value: str, choices: Collection[str]) -> MatchRecognizeError:
    """Return the error for a value that a setting of the session cannot have.

    Args:
        name: the setting.
        value: the value.
        choices: the values that it can have. If there are many, the help names one of them.
    """
    surface = current_surface()
    nearest = find_nearest(value, choices)
    if nearest is not None or len(choices) <= 2:
        hint = surface.write_setting(name, nearest or " or ".join(choices))
    else:
        example = surface.write_setting(name, "Europe/Paris")
        hint = f"{example} or another region, or an offset such as +03:00"
    return MatchRecognizeError(
        f"unknown value `{value}` of the setting {name}", hint=hint, code="wrong-setting-value"
    )


def counters_not_supported(*, argument: str) -> MatchRecognizeUnsupportedError:
    """Return the error for counters on Sail, which has no Observation to report them."""
    surface = current_surface()
    return MatchRecognizeUnsupportedError(
        "counters are not supported on Sail",
        hint=f"leave {argument} out, or run on Spark: {surface.write_option('engine', 'spark')}",
        code="counters-not-supported",
    )


def streams_not_supported() -> MatchRecognizeUnsupportedError:
    """Return the error for a stream on Sail."""
    surface = current_surface()
    return MatchRecognizeUnsupportedError(
        "streams are not supported on Sail",
        notes=("Sail has no watermarks",),
        hint=(
            "run on Spark, which needs Java, in a new program: "
            f"{surface.write_option('engine', 'spark')}"
        ),
        code="streams-not-supported",
    )


def server_not_reachable(*, address: str, reason: str) -> MatchRecognizePlanError:
    """Return the error for the address of a server that does not answer."""
    return MatchRecognizePlanError(
        f"no server answers at {address}: {reason}",
        hint="start it, or write the address of one that runs",
        code="server-not-reachable",
    )


def incompatible_pyspark(*, version: str, reason: str) -> MatchRecognizeError:
    """Return the error for a version of PySpark that Sail does not run with."""
    return MatchRecognizeError(
        f"Sail does not run with PySpark {version}",
        notes=(reason,),
        hint=(
            "install matchrec with its extra sail, which brings a PySpark that fits, or run on "
            "Spark"
        ),
        code="incompatible-pyspark",
    )


def missing_matplotlib() -> MatchRecognizeError:
    """Return the error for a chart without matplotlib installed."""
    return MatchRecognizeError(
        "missing matplotlib, which draws the picture",
        hint="run pip install matplotlib",
        code="missing-matplotlib",
    )
