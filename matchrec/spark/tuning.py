"""Set two settings of a session that make its queries faster, or warn if they are not set.

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
from matchrec.spark.session import find_application, find_context, is_connect

# The most bytes of a batch for Python. Spark adds up the bytes of its columns after each row,
# unless there is no limit.
MAX_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
UNLIMITED = str(2**31 - 1)
# The number of tasks after a shuffle. Each task before the shuffle writes a small file for each.
PARTITIONS = "spark.sql.shuffle.partitions"
PARTITIONS_PER_CORE = 8

# Finds the number of cores in the URL of a master on one machine, such as `local[4]`.
LOCAL_MASTER = re.compile(r"local(?:\[(\d+|\*)(?:, *\d+)?\])?")

# The applications whose sessions were checked for these settings: see `warn_once_if_untuned`.
_checked_applications: set[Hashable] = set()


@public
@dataclass(frozen=True)
class TunedSetting:
    """A setting of Spark that `tune` may change, from `TuningReport.settings`.

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
@dataclass(frozen=True, repr=False)
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
    """Return both settings with the value that each has and the value that it should have."""
    return choose_max_bytes(spark), choose_partitions(spark)


def choose_max_bytes(spark: SparkSession) -> TunedSetting:
    """Return the setting for the bytes of a batch."""
    reason = "without a limit, Spark does not measure each row of a batch"
    return choose_setting(spark, MAX_BYTES, UNLIMITED, reason)


def choose_partitions(spark: SparkSession) -> TunedSetting:
    """Return the setting for the number of tasks after a shuffle.

    The setting keeps its value if the number of cores is not known.
    """
    cores = count_local_cores(spark)
    if cores is None:
        value = str(spark.conf.get(PARTITIONS))
        return keep_setting(PARTITIONS, value, explain_unknown_cores(spark))
    reason = (
        f"{PARTITIONS_PER_CORE} for each core, because each task writes a file for each of them"
    )
    return choose_setting(spark, PARTITIONS, str(PARTITIONS_PER_CORE * cores), reason)


def explain_unknown_cores(spark: SparkSession) -> str:
    """Return what users can do about this number if `tune` does not know the number of cores."""
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


def choose_setting(spark: SparkSession, name: str, best_value: str, reason: str) -> TunedSetting:
    """Return a setting with its best value if `tune` may change it; otherwise with its own value.

    Args:
        spark: the session.
        name: the name of the setting.
        best_value: the value that makes queries fastest.
        reason: the reason for this value.
    """
    if not spark.conf.isModifiable(name):
        return keep_setting(
            name, None, "this session cannot change the setting, or does not have it"
        )
    value = str(spark.conf.get(name))
    is_set_by_user = spark.conf.get(name, None) is not None  # otherwise the value is a default
    if is_set_by_user:
        is_set_by_sail = is_connect(spark) and find_backend(spark).engine == "Sail"
        author = "you, or Sail when it starts, set it" if is_set_by_sail else "you set it"
        return keep_setting(name, value, f"unchanged, because {author}")
    if name == PARTITIONS and int(best_value) >= int(value):
        return keep_setting(name, value, f"enough for {best_value}")
    return TunedSetting(name=name, before=value, after=best_value, reason=reason)


def keep_setting(name: str, value: str | None, reason: str) -> TunedSetting:
    """Return a setting that keeps its value, with the reason."""
    return TunedSetting(name=name, before=value, after=value, reason=reason)


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
    """Return a warning if `tune` would change a setting of a session; otherwise None."""
    names = [setting.name for setting in choose_settings(spark) if setting.is_new]
    return untuned_session(names=" and ".join(names)) if names else None


def warn_once_if_untuned(
    spark: SparkSession, types: Iterable[spark_types.DataType]
) -> UntunedSessionWarning | None:
    """Return the warning that `tune` would help, at the first query of an application.

    Returns None for later queries, and if `tune` would change nothing. A query that sends long
    values does not count as the first query, because `tune` may not help it. An application is
    checked once, because over Connect each check takes a message to the server.

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
    """Return whether all values of these types have few bytes. A text may have many."""
    return all(is_short(type_) for type_ in types)


def is_short(type_: spark_types.DataType) -> bool:
    """Return whether all values of a type have few bytes: numbers, times and structs of them."""
    from matchrec.spark.types import has_distance

    if isinstance(type_, spark_types.StructType):
        return are_short(field.dataType for field in type_.fields)
    return isinstance(type_, spark_types.BooleanType) or has_distance(type_)
