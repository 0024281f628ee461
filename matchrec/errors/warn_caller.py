"""Give warnings to the user's program, at the line that has called matchrec."""

from __future__ import annotations

import inspect
import warnings

from matchrec.errors.warning_classes import MatchRecognizeWarning

# Packages that can be on the call stack between the user's program and a warning.
_PACKAGES = frozenset({"matchrec", "pyspark", "py4j", "functools", "contextlib"})


def warn_caller(*given_warnings: MatchRecognizeWarning) -> None:
    """Give warnings at the line of the user's program.

    That is the innermost frame of the call stack that is in none of `_PACKAGES`.
    """
    frame = inspect.currentframe()
    level = 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _PACKAGES:
        frame = frame.f_back
        level += 1
    for warning in given_warnings:
        warnings.warn(warning, stacklevel=level)
