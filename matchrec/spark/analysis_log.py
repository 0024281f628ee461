"""Silence PySpark's logger of failed analyses if a clearer error follows."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager
from contextvars import ContextVar

from matchrec.errors.context import set_variable

# True while failed analyses are not logged in this context.
_IS_SILENCED: ContextVar[bool] = ContextVar("is_silenced", default=False)


def silence_analysis() -> AbstractContextManager[None]:
    """Keep PySpark from logging analyses that fail in the `with` block, in this context.

    The caller raises a clearer error.
    """
    find_analysis_logger().addFilter(is_logged)  # a logger has the same filter only once
    return set_variable(_IS_SILENCED, True)


def find_analysis_logger() -> logging.Logger:
    """Return PySpark's logger of failed analyses.

    PySpark before 4.0 does not log failed analyses. The result is then a logger without records.
    """
    name = "SQLQueryContextLogger"
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:
        return logging.getLogger(name)
    return PySparkLogger.getLogger(name)


def is_logged(_: logging.LogRecord) -> bool:
    """Return whether the logger writes a record. This is a filter of the logger."""
    return not _IS_SILENCED.get()
