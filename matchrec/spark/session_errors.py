"""The errors that a session raises, by what fails: what `except` clauses and handlers list."""

from __future__ import annotations

from pyspark.errors import (
    AnalysisException,
    ArithmeticException,
    IllegalArgumentException,
    NumberFormatException,
    PySparkException,
    SparkRuntimeException,
    UnsupportedOperationException,
)

# What is raised if a call of Java fails.
try:
    from py4j.protocol import Py4JError
except ModuleNotFoundError:  # a client of Connect has no Java to speak to
    JAVA_ERRORS: tuple[type[Exception], ...] = ()
else:
    JAVA_ERRORS = (Py4JError,)

# What is raised if a query or a call of the session fails.
SESSION_ERRORS: tuple[type[Exception], ...] = (PySparkException, *JAVA_ERRORS)

# What is raised if code reads Spark's own plan, which is different in another version of Spark.
OTHER_VERSION_ERRORS: tuple[type[Exception], ...] = (*JAVA_ERRORS, TypeError)

# What is raised for words of a query text that a session cannot make sense of.
TEXT_ERRORS = (AnalysisException, IllegalArgumentException, UnsupportedOperationException)

# What is raised for any query text that a session cannot make sense of. Some of it is raised by its
# parser.
QUERY_ERRORS = (*TEXT_ERRORS, ArithmeticException, NumberFormatException, SparkRuntimeException)
