"""An error of Spark as the sentence that a user can act on."""

from __future__ import annotations

import re

# a worker's traceback ends in the exception, printed with its module; then comes Java's stack
_FROM_WORKER = re.compile(
    r"^matchrec\.errors\.\S+?Error: (.+?)(?=\n\s*(?:at |\n|$)|\Z)", re.S | re.M
)
_PLAN_OR_STACK = re.compile(r";?\n(?:\s*\n)?(?:['+]|JVM stacktrace|\s*at |[A-Z]\w+ \[).*", re.S)


def sentence_from_worker(text: str) -> str | None:
    """The message of our own error that a Python worker raised, or None.

    >>> sentence_from_worker("Traceback\\nmatchrec.errors.kinds.MatchRecognizeRunError: it loops")
    'it loops'
    """
    found = _FROM_WORKER.search(text)
    return found[1].rstrip() if found else None


def sentence_of_spark(text: str) -> str:
    """Spark's message without the plan and the stack under it.

    >>> sentence_of_spark("[X] no table `t`; line 1 pos 14;\\n'Project [*]\\n+- 'Relation")
    '[X] no table `t`; line 1 pos 14'
    """
    return _PLAN_OR_STACK.sub("", text).strip()
