"""The classes of errors that a session raises, by what fails, for `except` clauses."""

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

# Raised if a call of Java fails.
try:
    from py4j.protocol import Py4JError
except ModuleNotFoundError:  # a client of Connect has no Java to speak to
    JAVA_ERRORS: tuple[type[Exception], ...] = ()
else:
    JAVA_ERRORS = (Py4JError,)

# Raised if a query or a call of the session fails.
SESSION_ERRORS: tuple[type[Exception], ...] = (PySparkException, *JAVA_ERRORS)

# Raised if code reads Spark's own plan, and another version of Spark has another form of plans.
OTHER_VERSION_ERRORS: tuple[type[Exception], ...] = (*JAVA_ERRORS, TypeError)

# Raised if a session rejects the names or the structure of a query text.
TEXT_ERRORS = (AnalysisException, IllegalArgumentException, UnsupportedOperationException)

# Raised if a session rejects a query text. Sail raises SparkRuntimeException for an index that it
# cannot read.
REFUSALS = (*TEXT_ERRORS, SparkRuntimeException)

# Raised if a session rejects a query text for any reason, such as a constant that cannot be
# computed.
QUERY_ERRORS = (*TEXT_ERRORS, ArithmeticException, NumberFormatException, SparkRuntimeException)

# The exceptions that calls of a session raise after the session has ended.
SESSION_ENDED: tuple[type[Exception], ...] = (*SESSION_ERRORS, OSError, AttributeError)
