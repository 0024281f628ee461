"""Errors of the machine: no Java, too old a Java, Python workers that cannot do the work."""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizeError, MatchRecognizeRunError

INSTALL_JAVA = (
    "install Java 17 (`apt install openjdk-17-jre-headless`, `brew install openjdk@17`)"
    " and set JAVA_HOME to its folder"
)


def no_java(needed: int, java_home: str | None) -> MatchRecognizeError:
    """Spark runs on Java, and there is none where it looks."""
    where = "on PATH" if java_home is None else f"in `{java_home}`, where JAVA_HOME points"
    return MatchRecognizeError(
        f"Spark needs Java {needed} or newer, and there is none {where}",
        hint=INSTALL_JAVA,
    )


def java_too_old(found: int, needed: int, java: str) -> MatchRecognizeError:
    """The Java that Spark would start is older than this Spark can use."""
    return MatchRecognizeError(
        f"Spark needs Java {needed} or newer, and `{java}` is Java {found}",
        hint=INSTALL_JAVA,
    )


def worker_not_found(worker: str, driver: str) -> MatchRecognizeError:
    """The interpreter that Spark would start for its Python workers does not exist."""
    return MatchRecognizeError(
        f"Spark would run its Python workers with `{worker}`, which is not there or does not run",
        hint=set_pyspark_python(driver),
    )


def worker_version(worker: str, worker_version: str, driver_version: str) -> MatchRecognizeError:
    """Driver and workers run different versions of Python."""
    return MatchRecognizeError(
        f"Spark would run its Python workers with `{worker}`, which is Python {worker_version},"
        f" while this program runs on Python {driver_version}",
        hint=set_pyspark_python("this program's interpreter"),
    )


def worker_lacks(worker: str, modules: tuple[str, ...], driver: str) -> MatchRecognizeError:
    """The workers' interpreter has not installed what the match needs."""
    return MatchRecognizeError(
        f"Spark would run its Python workers with `{worker}`, which lacks {', '.join(modules)}",
        hint=set_pyspark_python(driver),
    )


def no_room_in_worker(mebibytes: int) -> MatchRecognizeRunError:
    """A Python worker may not take the memory that its libraries and rows need."""
    return MatchRecognizeRunError(
        f"a Python worker of Spark's has no room: its memory is limited to {mebibytes} MiB",
        notes=("it reserves about 600 MiB for its libraries; the rows of a call come on top",),
        hint="set spark.executor.pyspark.memory to 2g or more, or leave it out",
    )


def no_room_on_disk(folder: str | None) -> MatchRecognizeRunError:
    """Rows that wait to be sorted find no room where Spark has its workers write."""
    return MatchRecognizeRunError(
        f"no room on the disk of {folder or 'temporary files'} for rows that are being sorted",
        hint='name folders with more room in spark.local.dir, or have Spark sort: sort="spark"',
    )


def set_pyspark_python(driver: str) -> str:
    """The cure of every difference between driver and workers."""
    return (
        f"set the environment variable PYSPARK_PYTHON to {driver} before the Spark session starts"
    )


def stopped_session() -> MatchRecognizeError:
    """A query of a session after `stop`."""
    return MatchRecognizeError(
        "the Spark session has been stopped",
        hint="start another, SparkSession.builder.getOrCreate(), and read its DataFrames anew",
    )


def spark_did_not_start(reason: str) -> MatchRecognizeError:
    """The local session could not be made; the reason is what Spark wrote last."""
    return MatchRecognizeError("Spark did not start", notes=(reason,))


def no_matplotlib() -> MatchRecognizeError:
    """Matches are drawn over their rows."""
    return MatchRecognizeError(
        "matches are drawn with matplotlib, which is not installed",
        hint="pip install 'matchrec[demo]'",
    )
