"""Limits of a session: how many cores and how much memory it is allowed to use.

The arguments `cores` and `memory` of `matchrec.session` set them.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from matchrec.arguments import ArgumentKind
from matchrec.errors import machine as errors
from matchrec.spark.session import find_application, is_connect
from matchrec.spark.start.engine_choice import SparkSettings, has_master, is_submitted
from matchrec.spark.start.engine_names import SPARK
from matchrec.spark.tuning import count_local_cores

# The setting of Spark for the memory of Java.
MEMORY = "spark.driver.memory"
# Examples of options of `spark-submit` that set a limit of a session, by our argument for it.
SUBMIT_OPTIONS = {"cores": "--master 'local[4]'", "memory": "--driver-memory 4g"}

# A size of memory: a number, then perhaps a unit.
MEMORY_TEXT = re.compile(r"(\d+)(b|[kmgtp]b?)?", re.IGNORECASE)
# The units of sizes, each as the exponent of a power of two: a KiB has 2 ** 10 bytes.
UNIT_EXPONENTS = {"b": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of the machine a session is allowed to use."""

    # How many tasks run at once; None if that is not known.
    cores: int | None = None
    # How many bytes the engine is allowed to take; None if there is no limit or it is not known.
    memory: int | None = None


# The limits of the sessions on Sail in this program, by their applications.
_limits_of_sail: dict[Hashable, Limits] = {}


def remember_limits(session: SparkSession, limits: Limits) -> None:
    """Remember the limits with which a session on Sail was started in this program."""
    _limits_of_sail[find_application(session)] = limits


def find_limits(session: SparkSession) -> Limits:
    """Return the limits of a running session. Limits of another program's server are unknown."""
    if is_connect(session):
        return _limits_of_sail.get(find_application(session), Limits())
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


# The values that the argument `memory` accepts.
MEMORY_SIZE = ArgumentKind(
    'a size, such as "4g"',
    lambda value: isinstance(value, str) and not value.isdecimal() and read_memory_size(value) > 0,
    'write {argument}="4g" or {argument}="512m", or leave it out',
    right_types=(str,),
)
