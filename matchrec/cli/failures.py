"""An error of Spark as the sentence that a user can act on."""

from __future__ import annotations

import re

_PLAN_OR_STACK = re.compile(r";?\n(?:\s*\n)?(?:['+]|JVM stacktrace|\s*at |[A-Z]\w+ \[).*", re.S)


def sentence_of_spark(text: str) -> str:
    """Spark's message without the plan and the stack under it.

    >>> sentence_of_spark("[X] no table `t`; line 1 pos 14;\\n'Project [*]\\n+- 'Relation")
    '[X] no table `t`; line 1 pos 14'
    """
    return _PLAN_OR_STACK.sub("", text).strip()
