"""The class of errors of an engine in the user's terms.

`reword` makes such an error. It keeps its class, so that programs that catch it still work: both
`except AnalysisException` and `except MatchRecognizeError` catch a reworded AnalysisException.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from pyspark.errors import (
    AnalysisException,
    ArithmeticException,
    IllegalArgumentException,
    ParseException,
    PySparkException,
    UnsupportedOperationException,
)

from matchrec.errors import (
    MatchRecognizeError,
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
)
from matchrec.errors.kinds import Located

# For each class with which PySpark refuses a query: our class of the same meaning. If an
# error is an instance of several classes, the first counts: a ParseException is also an
# AnalysisException.
OUR_CLASSES: tuple[tuple[type[PySparkException], type[MatchRecognizeError]], ...] = (
    (ParseException, MatchRecognizeParseError),
    (UnsupportedOperationException, MatchRecognizeUnsupportedError),
    (AnalysisException, MatchRecognizePlanError),
    (IllegalArgumentException, MatchRecognizePlanError),
    (ArithmeticException, MatchRecognizePlanError),
)


class RewrittenEngineError(Located):
    """An error of the engine in the user's terms: a message, its location and what to write."""

    # The code, see `MatchRecognizeError`.
    code: str | None = None
    # The parameters of Spark's message in the user's terms, by their names in Spark.
    _parameters: dict[str, str]

    def add_help(self, hint: str, note: str | None = None) -> None:
        """Add a hint after the existing ones.

        Args:
            hint: what to write.
            note: a fact that explains it.
        """
        if note is not None:
            self.notes = (*self.notes, note)
        self.hint = hint if self.hint is None else f"{self.hint}\n{hint}"

    getMessage = Located.__str__  # noqa: N815 -- PySpark's name

    def getMessageParameters(self) -> dict[str, str]:  # noqa: N802 -- PySpark's name
        """Return the parameters of Spark's message in the user's terms, by their names."""
        return self._parameters

    def getQueryContext(self) -> list[Any]:  # noqa: N802 -- PySpark's name
        """Return no contexts: their positions would be in the text that Spark has read."""
        return []


def reword(
    error: PySparkException,
    message: str,
    our_class: type[MatchRecognizeError] | None = None,
    parameters: Mapping[str, str] | None = None,
) -> RewrittenEngineError:
    """Return a copy of an error with another message, as a subclass of its class.

    The copy is a `RewrittenEngineError` without spans, notes and hint.

    Args:
        error: the error of the engine.
        message: the new message.
        our_class: our class that the copy belongs to; None for the class in `OUR_CLASSES`.
        parameters: the parameters of Spark's message in the user's terms; None for no parameters.
    """
    error_class: Any = type(error)
    # `__init__` of PySpark's class is not called, because each class has other arguments.
    rewritten: Any = error_class.__new__(make_subclass(error_class, cast("Any", our_class)))
    rewritten.__dict__.update(error.__dict__)
    Located.__init__(rewritten, message)
    rewritten._parameters = dict(parameters or {})
    return cast("RewrittenEngineError", rewritten)


@cache
def make_subclass(pyspark_class: Any, our_class: Any) -> Any:
    """Return a subclass of a class of PySpark and of `RewrittenEngineError`, with the same name.

    The result is also a subclass of one of our classes, so that both `except AnalysisException` and
    `except MatchRecognizeError` catch it.

    Args:
        pyspark_class: the class of PySpark.
        our_class: our class; None for the class in `OUR_CLASSES`, if that table has one.
    """
    if our_class is None:
        fitting_classes = [ours for base, ours in OUR_CLASSES if issubclass(pyspark_class, base)]
        our_class = next(iter(fitting_classes), None)
    if our_class is None:
        bases: tuple[type, ...] = (RewrittenEngineError, pyspark_class)
    else:
        bases = (RewrittenEngineError, our_class, pyspark_class)
    return type(pyspark_class.__name__, bases, {"__module__": pyspark_class.__module__})
