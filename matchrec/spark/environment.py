"""The machine before Spark meets it: the session, which Python runs its workers.

Where driver and workers are one machine, it is the driver's own interpreter that runs the functions
sent to workers: what stands on PATH may have other versions of what the driver has. Classic reads
the context's `pythonExec` when a function is made, so it is another one for as long as that takes,
and the user's own functions keep theirs. The server of Connect reads its environment, which is
settled when it starts: there it is checked only. Knows nothing of queries.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import RLock

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import types as spark_types

from matchrec.arguments import SESSION, checked
from matchrec.errors import calls as errors
from matchrec.errors.warnings import UntunedSessionWarning, untuned_session
from matchrec.spark.backends import backend_of
from matchrec.spark.session import application, find_context, is_stopped

_TRIED = """
import sys
from importlib.util import find_spec
sys.path = [folder for folder in sys.path if folder]  # a worker does not look in this folder
missing = [name for name in sys.argv[2:] if find_spec(name) is None]
if "%d.%d" % sys.version_info[:2] != sys.argv[1]:
    sys.exit("is Python %d.%d, and this program runs on %s" % (*sys.version_info[:2], sys.argv[1]))
sys.exit("lacks " + ", ".join(missing) if missing else 0)
"""
NEEDED = ("matchrec", "numba", "numpy", "pandas", "pyarrow")
_ONE_AT_A_TIME = RLock()


@contextmanager
def able_workers(spark: SparkSession) -> Iterator[None]:
    """Functions made inside run on this program's interpreter, where workers are on its machine."""
    context = find_context(spark)
    if context is None or not (sys.executable and (context.master or "").startswith("local")):
        yield
        return
    with _ONE_AT_A_TIME:
        before, context.pythonExec = context.pythonExec, sys.executable
        try:
            yield
        finally:
            context.pythonExec = before


def check_session(spark: SparkSession) -> None:
    """Raises for a session that has been stopped, or whose workers cannot do the work."""
    if is_stopped(spark):
        raise errors.stopped_session()
    if find_context(spark) is not None or "SPARK_LOCAL_REMOTE" not in os.environ:
        return  # only of a server inside of this program it is known what its workers can do
    from pyspark import SparkContext

    if (jvm := getattr(SparkContext, "_jvm", None)) is not None:
        set_for = (jvm.System.getenv(name) for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"))
        worker = next(filter(None, set_for), "python3")
        if (reason := why_not(worker)) is not None:
            worker = shutil.which(worker) or worker
            raise errors.worker_cannot(worker=worker, reason=reason, driver=sys.executable)


@lru_cache
def why_not(worker: str) -> str | None:
    """Why an interpreter cannot do the work of this program's workers; None if it can.

    Cost: nothing for the driver's own interpreter, else one start of Python, once.
    A virtual environment's interpreter is a link to the system's, so paths are compared as they are
    written: where the links end says nothing about what is installed.
    """
    if (path := shutil.which(worker)) is None:
        return "is not there"
    if Path(path).absolute() == Path(sys.executable):
        return None
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    command = [path, "-c", _TRIED, own, *NEEDED]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    said = result.stderr.strip().split("\n")[-1]
    return said or "does not run" if result.returncode else None


@contextmanager
def refusing_streams(spark: SparkSession) -> Iterator[None]:
    """Raises MatchRecognizeUnsupportedError where the session does not know what a stream is."""
    from matchrec.spark.sail.words import is_of_streams

    try:
        yield
    except PySparkException as error:
        if not is_of_streams(str(error)) or backend_of(spark).has_watermarks:
            raise
        raise errors.no_watermarks() from None


# Two settings of a session that make its queries faster: which, why, and who sets them.
#
# After each row Spark adds up the bytes of all columns of a batch for Python, unless there is no
# limit of them; and each task of a shuffle writes as many small files as there are partitions.
# docs/contributing/benchmarks.md has the time that both take, and
# docs/contributing/decisions/bytes_of_a_batch.md the time that adding up the bytes takes.

MAX_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
UNLIMITED = str(2**31 - 1)
PARTITIONS = "spark.sql.shuffle.partitions"
PARTITIONS_A_CORE = 8
LOCAL = re.compile(r"local(?:\[(\d+|\*)(?:, *\d+)?\])?")

_asked: set[Hashable] = set()  # the applications whose sessions have been looked at


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of Spark's: its value before, None where it has none, and now; why it is so."""

    name: str
    before: str | None
    now: str | None
    why: str

    @property
    def is_new(self) -> bool:
        return self.before != self.now

    def __str__(self) -> str:
        was = f", was {self.before}" if self.is_new else ""
        value = "is not set" if self.now is None else f"= {self.now}{was}"
        return f"{self.name} {value}\n  {self.why}"


@dataclass(frozen=True, repr=False)
class Tuned:
    """The settings that `tune` has looked at. It prints as text.

    Attributes:
        settings: each setting with its value before and now.

    >>> tuned = matchrec.tune(spark)
    >>> len(tuned.settings)
    2
    """

    settings: tuple[Setting, ...]

    @property
    def text(self) -> str:
        """Each setting with its value and the reason for it."""
        return "\n".join(map(str, self.settings))

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from matchrec.explain.pictures.html import preformatted

        return preformatted(self.text)


@checked(spark=SESSION)
def tune(spark: SparkSession) -> Tuned:
    """Set two settings of Spark that make the queries of a session faster.

    It sets `spark.sql.execution.arrow.maxBytesPerBatch` to no limit. A batch for Python then ends
    at 10,000 rows (`maxRecordsPerBatch`), however wide they are. If queries send values of many
    kilobytes to Python, set a limit before you call `tune`. It sets `spark.sql.shuffle.partitions`
    to 8 for each core of a session on one machine, if that is less than Spark's 200.

    A setting that was set before, in the program or in a file, stays as it is. So does a setting
    that the session or its Spark lacks. The settings apply to all queries of the session.

    Returns:
        What it has set, and why.

    Raises:
        MatchRecognizePlanError: the session is stopped.

    >>> tuned = matchrec.tune(spark)
    >>> print(tuned)
    spark.sql.execution.arrow.maxBytesPerBatch = ...
      ...
    spark.sql.shuffle.partitions = ...
      ...
    """
    check_session(spark)
    found = tuple(wanted_settings(spark))
    for setting in found:
        if setting.is_new:
            spark.conf.set(setting.name, str(setting.now))
    return Tuned(found)


def wanted_settings(spark: SparkSession) -> Iterator[Setting]:
    """Both settings as they are and as they should be; nothing is set."""
    why = "no limit of bytes: Spark need not add up those of a batch after each row"
    yield setting_of(spark, MAX_BYTES, UNLIMITED, why)
    if (cores := local_cores(spark)) is None:
        present = str(spark.conf.get(PARTITIONS))
        why = f"yours to choose on a cluster: two to {PARTITIONS_A_CORE} for each core are enough"
        yield Setting(PARTITIONS, present, present, why)
        return
    why = f"{PARTITIONS_A_CORE} for each core: each task writes as many small files"
    yield setting_of(spark, PARTITIONS, str(PARTITIONS_A_CORE * cores), why)


def setting_of(spark: SparkSession, name: str, value: str, why: str) -> Setting:
    """A setting that should have a value. why: it should."""
    if not spark.conf.isModifiable(name):
        return Setting(name, None, None, "the session cannot set it, or its Spark has none")
    present = str(spark.conf.get(name))
    if spark.conf.get(name, None) is not None:
        return Setting(name, present, present, "as it was set before")
    if name == PARTITIONS and int(value) >= int(present):
        return Setting(name, present, present, f"enough for {value}")
    return Setting(name, present, value, why)


def local_cores(spark: SparkSession) -> int | None:
    """How many cores a session on one machine has; None of a cluster, where they come and go."""
    if (found := LOCAL.fullmatch(spark.conf.get("spark.master", None) or "")) is None:
        return None
    if found[1] != "*":
        return int(found[1] or 1)
    context = find_context(spark)
    return None if context is None else context.defaultParallelism


def untuned(spark: SparkSession) -> UntunedSessionWarning | None:
    names = [setting.name for setting in wanted_settings(spark) if setting.is_new]
    return untuned_session(names=" and ".join(names)) if names else None


def untuned_at_first(
    spark: SparkSession, types: Iterable[spark_types.DataType]
) -> UntunedSessionWarning | None:
    """As `untuned`, at an application's first query of which all values that cross are short."""
    asked = application(spark)  # once: over Connect each question is a message
    if asked in _asked or not are_short(types):
        return None
    _asked.add(asked)
    return untuned(spark)


def are_short(types: Iterable[spark_types.DataType]) -> bool:
    """Whether values of these types all have a few bytes; those of texts may have many."""
    from matchrec.spark.types import has_distance

    return all(
        are_short(field.dataType for field in type_.fields)
        if isinstance(type_, spark_types.StructType)
        else isinstance(type_, spark_types.BooleanType) or has_distance(type_)
        for type_ in types
    )
