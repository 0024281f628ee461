"""PySpark's logger of failed analyses, which is silenced if a clearer error follows."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager
from contextvars import ContextVar

from matchrec.errors.language import set_variable

_IS_QUIET: ContextVar[bool] = ContextVar("failed analyses are not logged", default=False)


def silence_analysis() -> AbstractContextManager[None]:
    """Keep PySpark from logging the analyses that fail inside, in this thread.

    The caller raises a clearer error.
    """
    find_analysis_logger().addFilter(is_logged)
    return set_variable(_IS_QUIET, True)


def find_analysis_logger() -> logging.Logger:
    """Return PySpark's logger of failed analyses.

    Before PySpark 4.0 there is none. The logger that is returned then is silent.
    """
    name = "SQLQueryContextLogger"
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:
        return logging.getLogger(name)
    return PySparkLogger.getLogger(name)


def is_logged(_: logging.LogRecord) -> bool:
    """Return whether a failed analysis is logged, as a filter of a logger."""
    return not _IS_QUIET.get()
