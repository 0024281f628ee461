"""Two settings of a session that make its queries faster: which, why, and who sets them.

After each row Spark adds up the bytes of all columns of a batch for Python, unless there is no
limit of them; and each task of a shuffle writes as many small files as there are partitions.
docs/explanation/performance.md has the time that both take, docs/decisions/bytes_of_a_batch.md
that of the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql import types as spark_types

from matchrec.arguments import SESSION, checked
from matchrec.errors.warnings import UntunedSessionWarning, untuned_session
from matchrec.spark.environment import check_session
from matchrec.spark.session import application, is_connect

MAX_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
UNLIMITED = str(2**31 - 1)
PARTITIONS = "spark.sql.shuffle.partitions"
PARTITIONS_A_CORE = 8
FIXED_WIDTH = (
    spark_types.NumericType,
    spark_types.BooleanType,
    spark_types.DateType,
    spark_types.TimestampType,
    spark_types.TimestampNTZType,
    spark_types.DayTimeIntervalType,
    spark_types.YearMonthIntervalType,
)
LOCAL = re.compile(r"local(?:\[(\d+|\*)(?:, *\d+)?\])?")

_asked: set[Hashable] = set()  # the applications whose sessions have been looked at


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of Spark's. before: its value, None where the session has no such setting.

    now: its value from now on. why: it is so.
    """

    name: str
    before: str | None
    now: str | None
    why: str

    @property
    def is_new(self) -> bool:
        """Whether it has another value than before."""
        return self.before != self.now

    def __str__(self) -> str:
        was = f", was {self.before}" if self.is_new else ""
        value = "is not set" if self.now is None else f"= {self.now}{was}"
        return f"{self.name} {value}\n  {self.why}"


@dataclass(frozen=True, repr=False)
class Tuned:
    """What `tune` has done; prints as text. settings: each with its value before and now."""

    settings: tuple[Setting, ...]

    @property
    def text(self) -> str:
        """Each setting, its value, and why."""
        return "\n".join(map(str, self.settings))

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from matchrec.pictures.html import preformatted

        return preformatted(self.text)


@checked(spark=SESSION)
def tune(spark: SparkSession) -> Tuned:
    """Sets what makes the queries of a session faster. The result says what it has set, and why.

    It sets `spark.sql.execution.arrow.maxBytesPerBatch` to no limit. A batch for Python then ends
    at 10,000 rows (`maxRecordsPerBatch`), however wide they are; if queries send values of many
    kilobytes to Python, set a limit before. It sets `spark.sql.shuffle.partitions` to 8 for each
    core of a session on one machine, if that is less than Spark's 200.

    A setting that was set before, in the program or in a file, stays as it is. So does a setting
    that the session or its Spark lacks. The settings hold for all queries of the session. Raises
    MatchRecognizePlanError for a stopped session.

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
    cores = local_cores(spark)
    if cores is None:
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
    """How many cores a session on one machine has; None of a cluster, and where nobody tells.

    Executors of a cluster may come later, or only when there is work for them.
    """
    found = LOCAL.fullmatch(spark.conf.get("spark.master", None) or "")
    if found is None:
        return None
    if found[1] != "*":
        return int(found[1] or 1)
    return None if is_connect(spark) else spark.sparkContext.defaultParallelism


def untuned(spark: SparkSession) -> UntunedSessionWarning | None:
    """What to say of a session that `tune` would change."""
    names = [setting.name for setting in wanted_settings(spark) if setting.is_new]
    return untuned_session(names=" and ".join(names)) if names else None


def untuned_at_first(
    spark: SparkSession, types: Iterable[spark_types.DataType]
) -> UntunedSessionWarning | None:
    """As `untuned`, at an application's first query of which all values that cross are short.

    types: of these values. A session is not asked again: over Connect that is a message each time.
    """
    asked = application(spark)
    if asked in _asked or not are_short(types):
        return None
    _asked.add(asked)
    return untuned(spark)


def are_short(types: Iterable[spark_types.DataType]) -> bool:
    """Whether values of these types all have a few bytes; those of texts may have many."""
    return all(
        are_short(field.dataType for field in type_.fields)
        if isinstance(type_, spark_types.StructType)
        else isinstance(type_, FIXED_WIDTH)
        for type_ in types
    )
