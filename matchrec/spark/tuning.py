"""Set two settings of Spark that make queries faster, or warn if they are not set.

docs/contributing/benchmarks.md has the time that both settings save, and
docs/contributing/decisions/bytes_of_a_batch.md the time that Spark takes to measure batches.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql import types as spark_types

from matchrec.arguments import SESSION, check_arguments
from matchrec.errors.warning_classes import UntunedSessionWarning
from matchrec.errors.warnings import untuned_session
from matchrec.public_names import public
from matchrec.spark.backends import find_backend
from matchrec.spark.environment import check_session
from matchrec.spark.session import find_application, find_context

# The setting for the largest number of bytes of a batch for Python. Unless it has the value
# UNLIMITED, Spark adds up the bytes of the batch's columns after each row.
MAX_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
UNLIMITED = str(2**31 - 1)
# The setting for the number of tasks after a shuffle. Each task before the shuffle writes a small
# file for each of them.
PARTITIONS = "spark.sql.shuffle.partitions"
PARTITIONS_PER_CORE = 8

# Matches the master of a session on one machine, such as `local[4]`. The group is the number of
# cores, or `*` for all cores.
LOCAL_MASTER = re.compile(r"local(?:\[(\d+|\*)(?:, *\d+)?\])?")

# The applications for which `warn_once_if_untuned` has checked the settings.
_checked_applications: set[Hashable] = set()


@public
@dataclass(frozen=True, match_args=False)
class TunedSetting:
    """A setting of Spark that `tune` can change, from `TuningReport.settings`.

    Attributes:
        name: the name of the setting.
        before: the value before `tune`. None if the session has no such setting.
        after: the value after it.
        reason: the reason for the value.

    >>> [setting.name for setting in matchrec.tune(spark).settings]
    ['spark.sql.execution.arrow.maxBytesPerBatch', 'spark.sql.shuffle.partitions']
    """

    name: str
    before: str | None
    after: str | None
    reason: str

    @property
    def is_new(self) -> bool:
        """True if `tune` has changed the value."""
        return self.before != self.after

    def __str__(self) -> str:
        old_value = f", was {self.before}" if self.is_new else ""
        value = "is not set" if self.after is None else f"= {self.after}{old_value}"
        return f"{self.name} {value}\n  {self.reason}"


@public
@dataclass(frozen=True, repr=False, match_args=False)
class TuningReport:
    """The report of `tune`: each setting with its value before and after. It prints as text.

    Attributes:
        settings: a `TunedSetting` for each setting.

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


@public
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

    Args:
        spark: the session.

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
    settings = choose_settings(spark)
    for setting in settings:
        if setting.is_new:
            spark.conf.set(setting.name, str(setting.after))
    return TuningReport(settings)


def choose_settings(spark: SparkSession) -> tuple[TunedSetting, TunedSetting]:
    """Return both settings, each with the value that it has and the value that it should have."""
    return choose_max_bytes(spark), choose_partitions(spark)


def choose_max_bytes(spark: SparkSession) -> TunedSetting:
    """Return the setting for the bytes of a batch, with the value that it should have."""
    setting = keep_unless_default(spark, MAX_BYTES)
    if setting is not None:
        return setting
    return TunedSetting(
        name=MAX_BYTES,
        before=str(spark.conf.get(MAX_BYTES)),
        after=UNLIMITED,
        reason="without a limit, Spark does not measure each row of a batch",
    )


def choose_partitions(spark: SparkSession) -> TunedSetting:
    """Return the setting for the number of tasks after a shuffle, with the value it should have.

    The setting keeps its value if the number of cores is not known, or if a larger value would be
    best for them.
    """
    cores = count_local_cores(spark)
    if cores is None:
        value = str(spark.conf.get(PARTITIONS))
        return keep_setting(PARTITIONS, value, explain_unknown_cores(spark))
    setting = keep_unless_default(spark, PARTITIONS)
    if setting is not None:
        return setting
    value = str(spark.conf.get(PARTITIONS))
    best_number = PARTITIONS_PER_CORE * cores
    if int(value) <= best_number:
        return keep_setting(PARTITIONS, value, f"enough for {best_number}")
    reason = (
        f"{PARTITIONS_PER_CORE} for each core, because each task writes a file for each of them"
    )
    return TunedSetting(name=PARTITIONS, before=value, after=str(best_number), reason=reason)


def explain_unknown_cores(spark: SparkSession) -> str:
    """Return the reason why `tune` keeps PARTITIONS if it does not know the number of cores.

    The reason says what users can do.
    """
    backend = find_backend(spark)
    if not backend.uses_shuffle_partitions:
        return (
            f"{backend.engine} does not use it, so there is nothing to do: matchrec chooses the "
            "number of tasks by the cores and the rows"
        )
    return (
        "executors of a cluster can start later, so set it yourself, to 2 to "
        f"{PARTITIONS_PER_CORE} times the number of all cores: "
        f'spark.conf.set("{PARTITIONS}", "400")'
    )


def keep_unless_default(spark: SparkSession, name: str) -> TunedSetting | None:
    """Return a setting that keeps its value; None if `tune` can change it.

    `tune` can change a setting if the session can, and if the setting has its default value.
    """
    if not spark.conf.isModifiable(name):
        reason = "this session cannot change the setting, or does not have it"
        return keep_setting(name, None, reason)
    value_without_default = spark.conf.get(name, None)
    if value_without_default is None:
        return None
    backend = find_backend(spark)
    author = "you"
    if backend.starts_with_settings:
        author = f"you, or {backend.engine} when it starts,"
    return keep_setting(name, str(spark.conf.get(name)), f"unchanged, because {author} set it")


def keep_setting(name: str, value: str | None, reason: str) -> TunedSetting:
    """Return a setting that keeps its value, with the reason why.

    Args:
        name: the name of the setting.
        value: its value; None if the session has no such setting.
        reason: the reason.
    """
    return TunedSetting(name=name, before=value, after=value, reason=reason)


def count_local_cores(spark: SparkSession) -> int | None:
    """Return the number of cores of a session on one machine; None if it is not known.

    On a cluster it is not known, because executors can start later, or only when there is work for
    them.
    """
    master = LOCAL_MASTER.fullmatch(spark.conf.get("spark.master", None) or "")
    if master is None:
        return None
    if master[1] != "*":
        return int(master[1] or 1)
    context = find_context(spark)
    return None if context is None else context.defaultParallelism


def find_untuned_warning(spark: SparkSession) -> UntunedSessionWarning | None:
    """Return a warning if `tune` would change a setting of a session; otherwise None."""
    names = [setting.name for setting in choose_settings(spark) if setting.is_new]
    return untuned_session(names=" and ".join(names)) if names else None


def warn_once_if_untuned(
    spark: SparkSession, types: Iterable[spark_types.DataType]
) -> UntunedSessionWarning | None:
    """Return a warning that `tune` would help, at the first query of an application.

    Returns None for later queries, and if `tune` would change nothing. A query that can send long
    values does not count as the first query, because `tune` does not always help it. An application
    is checked once, because over Connect each check sends a message to the server.

    Args:
        spark: the session.
        types: the types of the values that the query sends to Python.
    """
    application = find_application(spark)
    if application in _checked_applications or not are_short(types):
        return None
    _checked_applications.add(application)
    return find_untuned_warning(spark)


def are_short(types: Iterable[spark_types.DataType]) -> bool:
    """Return whether all values of these types have few bytes."""
    return all(is_short(type_) for type_ in types)


def is_short(type_: spark_types.DataType) -> bool:
    """Return whether all values of a type have few bytes. A text, for instance, can have many.

    True for numbers, booleans, times, intervals, and structs of them.
    """
    from matchrec.spark.types import has_distance

    if isinstance(type_, spark_types.StructType):
        return are_short(field.dataType for field in type_.fields)
    return isinstance(type_, spark_types.BooleanType) or has_distance(type_)
