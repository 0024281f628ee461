"""Check and set up a session: its Python workers and its settings.

If driver and workers are on one machine, the driver's own interpreter runs the functions that are
sent to workers, because the interpreter on PATH may have other versions of packages. PySpark
Classic reads `pythonExec` of the context when it creates a function. So this attribute is changed
only while matchrec creates its functions, and the functions of the user keep their interpreter. A
server of Connect reads its environment variables when it starts, so its interpreter can only be
checked.
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

from matchrec.arguments import SESSION, check_arguments
from matchrec.errors import machine as errors
from matchrec.errors.warning_classes import UntunedSessionWarning
from matchrec.errors.warnings import untuned_session
from matchrec.spark.backends import find_backend
from matchrec.spark.session import find_application, find_context, is_connect, is_stopped

# A program that exits with the reason if its interpreter cannot run the workers. Its arguments are
# the version of Python and the packages that the workers need.
_CHECK_INTERPRETER = """
import sys
from importlib.util import find_spec
sys.path = [folder for folder in sys.path if folder]  # a worker does not look in this folder
missing = [name for name in sys.argv[2:] if find_spec(name) is None]
if "%d.%d" % sys.version_info[:2] != sys.argv[1]:
    sys.exit("is Python %d.%d, and this program runs on %s" % (*sys.version_info[:2], sys.argv[1]))
sys.exit("lacks " + ", ".join(missing) if missing else 0)
"""
NEEDED_PACKAGES = ("matchrec", "numba", "numpy", "pandas", "pyarrow")

# Only one thread at a time changes the interpreter of a context.
_changing_interpreter = RLock()


@contextmanager
def use_own_interpreter(spark: SparkSession) -> Iterator[None]:
    """Let functions that are created inside run on this program's interpreter.

    Does nothing on a cluster, and over Connect.
    """
    context = find_context(spark)
    if context is None or not (sys.executable and (context.master or "").startswith("local")):
        yield
        return
    with _changing_interpreter:
        interpreter_before = context.pythonExec
        context.pythonExec = sys.executable
        try:
            yield
        finally:
            context.pythonExec = interpreter_before


def check_session(spark: SparkSession) -> None:
    """Check that a session runs, and that its workers can match rows.

    Workers are checked only for a server of Connect that runs inside this program, because the
    interpreter of other servers is not known.

    Raises:
        MatchRecognizeError: the session is stopped, or its workers lack a package.
    """
    if is_stopped(spark):
        raise errors.stopped_session()
    if find_context(spark) is None and "SPARK_LOCAL_REMOTE" in os.environ:
        check_server_interpreter()


def check_server_interpreter() -> None:
    """Check the interpreter of the workers of a server of Connect inside this program.

    Raises:
        MatchRecognizeError: it cannot run the workers.
    """
    from pyspark import SparkContext

    jvm = getattr(SparkContext, "_jvm", None)
    if jvm is None:
        return
    interpreter = (
        jvm.System.getenv("PYSPARK_PYTHON")
        or jvm.System.getenv("PYSPARK_DRIVER_PYTHON")
        or "python3"
    )
    reason = find_interpreter_problem(interpreter)
    if reason is not None:
        path = shutil.which(interpreter) or interpreter
        raise errors.incompatible_worker_python(worker=path, reason=reason, driver=sys.executable)


@lru_cache
def find_interpreter_problem(interpreter: str) -> str | None:
    """Return why an interpreter cannot run the workers; None if it can.

    The driver's own interpreter needs no check. Any other one is started once, which takes a
    fraction of a second.

    The interpreter of a virtual environment is a link to the system's interpreter, but has other
    packages. So paths are compared without following links.
    """
    path = shutil.which(interpreter)
    if path is None:
        return "is not there"
    if Path(path).absolute() == Path(sys.executable):
        return None
    python_version = f"{sys.version_info.major}.{sys.version_info.minor}"
    command = [path, "-c", _CHECK_INTERPRETER, python_version, *NEEDED_PACKAGES]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if not result.returncode:
        return None
    last_line = result.stderr.strip().split("\n")[-1]
    return last_line or "does not run"


@contextmanager
def translate_stream_errors(spark: SparkSession) -> Iterator[None]:
    """Replace the engine's error, raised inside, that it does not support streams.

    An engine raises it when the columns of a stream are analysed.

    Raises:
        MatchRecognizeUnsupportedError: the session has no watermarks.
    """
    from matchrec.spark.sail.words import is_about_streams

    try:
        yield
    except PySparkException as error:
        if not is_about_streams(str(error)) or find_backend(spark).has_watermarks:
            raise
        raise errors.streams_not_supported() from None


# Two settings of a session that make its queries faster.
#
# After each row, Spark adds up the bytes of all columns of a batch for Python, unless they have no
# limit. Each task of a shuffle writes as many small files as there are partitions.
# docs/contributing/benchmarks.md has the time that both take, and
# docs/contributing/decisions/bytes_of_a_batch.md the time that adding up the bytes takes.

MAX_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
UNLIMITED = str(2**31 - 1)
PARTITIONS = "spark.sql.shuffle.partitions"
PARTITIONS_PER_CORE = 8

# Finds the number of cores in the URL of a master on one machine.
LOCAL_MASTER = re.compile(r"local(?:\[(\d+|\*)(?:, *\d+)?\])?")

# The applications whose sessions were checked for these settings, see `warn_once_if_untuned`.
_checked_applications: set[Hashable] = set()


@dataclass(frozen=True, slots=True)
class TunedSetting:
    """A setting of Spark that `tune` may change, from `TuningReport.settings`.

    Attributes:
        name: the name of the setting.
        before: the value before `tune`. None if the session has no such setting.
        now: the value after it.
        why: the reason for the value.

    >>> [setting.name for setting in matchrec.tune(spark).settings]
    ['spark.sql.execution.arrow.maxBytesPerBatch', 'spark.sql.shuffle.partitions']
    """

    name: str
    before: str | None
    now: str | None
    why: str

    @property
    def is_new(self) -> bool:
        """Return whether `tune` changes the value."""
        return self.before != self.now

    def __str__(self) -> str:
        old_value = f", was {self.before}" if self.is_new else ""
        value = "is not set" if self.now is None else f"= {self.now}{old_value}"
        return f"{self.name} {value}\n  {self.why}"


@dataclass(frozen=True, repr=False)
class TuningReport:
    """The report of `tune`: each setting with its value before and after. It prints as text.

    Attributes:
        settings: each setting with its value before and after.

    >>> report = matchrec.tune(spark)
    >>> len(report.settings)
    2
    """

    settings: tuple[TunedSetting, ...]

    @property
    def text(self) -> str:
        """Each setting with its value and the reason for it."""
        return "\n".join(map(str, self.settings))

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the text as HTML."""
        from matchrec.explain.pictures.html import write_preformatted

        return write_preformatted(self.text)


@check_arguments(spark=SESSION)
def tune(spark: SparkSession) -> TuningReport:
    """Set two settings of Spark that make the queries of a session faster.

    - `spark.sql.execution.arrow.maxBytesPerBatch` gets no limit. A batch for Python then has
      10,000 rows (`maxRecordsPerBatch`), however many bytes that is. If queries send values of
      many kilobytes to Python, set a limit before you call `tune`.
    - `spark.sql.shuffle.partitions` gets 8 for each core of a session on one machine, if that is
      less than Spark's 200.

    `tune` changes no setting that you have set, in the program or in a file, and none that the
    session's version of Spark lacks. The settings apply to all queries of the session.

    Returns:
        A report of both settings: the value before, the value now, and the reason.

    Raises:
        MatchRecognizePlanError: the session is stopped.

    >>> report = matchrec.tune(spark)
    >>> print(report)
    spark.sql.execution.arrow.maxBytesPerBatch = ...
      ...
    spark.sql.shuffle.partitions = ...
      ...
    """
    check_session(spark)
    settings = tuple(choose_settings(spark))
    for setting in settings:
        if setting.is_new:
            spark.conf.set(setting.name, str(setting.now))
    return TuningReport(settings)


def choose_settings(spark: SparkSession) -> Iterator[TunedSetting]:
    """Yield both settings as they are and as they should be. Nothing is set."""
    why = "without a limit, Spark does not measure each row of a batch"
    yield choose_setting(spark, MAX_BYTES, UNLIMITED, why)
    cores = count_local_cores(spark)
    if cores is None:
        value = str(spark.conf.get(PARTITIONS))
        yield TunedSetting(PARTITIONS, value, value, explain_unknown_cores(spark))
        return
    why = f"{PARTITIONS_PER_CORE} for each core, because each task writes a file for each of them"
    yield choose_setting(spark, PARTITIONS, str(PARTITIONS_PER_CORE * cores), why)


def explain_unknown_cores(spark: SparkSession) -> str:
    """Return what to do about the number of partitions if `tune` does not know the cores."""
    if is_connect(spark) and find_backend(spark).engine == "Sail":
        return (
            "Sail does not use it, so there is nothing to do: matchrec chooses the number of tasks "
            "by the cores and the rows"
        )
    return (
        "executors of a cluster may start later, so set it yourself, to 2 to "
        f"{PARTITIONS_PER_CORE} times the number of all cores: "
        f'spark.conf.set("{PARTITIONS}", "400")'
    )


def choose_setting(spark: SparkSession, name: str, best_value: str, why: str) -> TunedSetting:
    """Return a setting with its best value if it may be changed, otherwise with its own value.

    Args:
        spark: the session.
        name: the name of the setting.
        best_value: the value that makes queries fastest.
        why: the reason for this value.
    """
    if not spark.conf.isModifiable(name):
        return TunedSetting(
            name, None, None, "this session cannot change the setting, or does not have it"
        )
    value = str(spark.conf.get(name))
    is_set = spark.conf.get(name, None) is not None
    if is_set:
        return TunedSetting(name, value, value, "unchanged, because it was set before")
    if name == PARTITIONS and int(best_value) >= int(value):
        return TunedSetting(name, value, value, f"enough for {best_value}")
    return TunedSetting(name, value, best_value, why)


def count_local_cores(spark: SparkSession) -> int | None:
    """Return the number of cores of a session on one machine; None on a cluster.

    Executors of a cluster may start later, or only when there is work for them.
    """
    master = LOCAL_MASTER.fullmatch(spark.conf.get("spark.master", None) or "")
    if master is None:
        return None
    if master[1] != "*":
        return int(master[1] or 1)
    context = find_context(spark)
    return None if context is None else context.defaultParallelism


def find_untuned_warning(spark: SparkSession) -> UntunedSessionWarning | None:
    """Return a warning if `tune` would change a setting of a session."""
    names = [setting.name for setting in choose_settings(spark) if setting.is_new]
    return untuned_session(names=" and ".join(names)) if names else None


def warn_once_if_untuned(
    spark: SparkSession, types: Iterable[spark_types.DataType]
) -> UntunedSessionWarning | None:
    """Return the warning that `tune` would help; None after the first query of an application.

    Queries that send long values do not count. An application is checked once, because over Connect
    each check takes a message to the server.

    Args:
        spark: the session.
        types: the types of the values that the query sends to Python.
    """
    app = find_application(spark)
    if app in _checked_applications or not are_short(types):
        return None
    _checked_applications.add(app)
    return find_untuned_warning(spark)


def are_short(types: Iterable[spark_types.DataType]) -> bool:
    """Return whether all values of these types have few bytes. A text may have many."""
    from matchrec.spark.types import has_distance

    return all(
        are_short(field.dataType for field in type_.fields)
        if isinstance(type_, spark_types.StructType)
        else isinstance(type_, spark_types.BooleanType) or has_distance(type_)
        for type_ in types
    )
