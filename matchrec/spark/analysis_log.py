"""Silence PySpark's logger of failed analyses if a clearer error follows."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager
from contextvars import ContextVar

from matchrec.errors.language import set_variable

_IS_QUIET: ContextVar[bool] = ContextVar("failed analyses are not logged", default=False)


def silence_analysis() -> AbstractContextManager[None]:
    """Keep PySpark from logging analyses that fail in the `with` block, in this thread.

    The caller raises a clearer error.
    """
    find_analysis_logger().addFilter(is_logged)
    return set_variable(_IS_QUIET, True)


def find_analysis_logger() -> logging.Logger:
    """Return PySpark's logger of failed analyses.

    PySpark before 4.0 has no such logger. The result is then a logger to which nobody writes.
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
