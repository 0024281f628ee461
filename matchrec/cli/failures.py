"""An error of Spark, and a warning, as the sentence that a user can act on."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_PLAN_OR_STACK = re.compile(r";?\n(?:\s*\n)?(?:['+]|JVM stacktrace|\s*at |[A-Z]\w+ \[).*", re.S)


def sentence_of_spark(text: str) -> str:
    """Spark's message without the plan and the stack under it.

    >>> sentence_of_spark("[X] no table `t`; line 1 pos 14;\\n'Project [*]\\n+- 'Relation")
    '[X] no table `t`; line 1 pos 14'
    """
    return _PLAN_OR_STACK.sub("", text).strip()


def as_sentence(message: Warning | str, *_: object) -> str:
    """What is printed of a warning."""
    return f"matchrec: {message}\n"


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Warnings given inside are printed as they are, without a line of Python."""
    before = warnings.formatwarning
    plain: Any = as_sentence
    warnings.formatwarning = plain
    try:
        yield
    finally:
        warnings.formatwarning = before
