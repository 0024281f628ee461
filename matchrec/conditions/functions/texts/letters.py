"""Upper and lower case of letters, masks of them, and what a word sounds like."""

from __future__ import annotations

import re

from matchrec.conditions.functions.function import UndecidedError

NEW_CASES = re.compile(
    "[\u019b\u0264\u1c89\u1c8a\u2c2f\u2c5f\ua7c0-\ua7ff\U00010570-\U000105bf\U00010d50-\U00010d8f"
    "\U00016ea0-\U00016edf]"
)
"""Letters with a case that Unicode 12 did not have, the oldest of a Spark or a Python."""


def settled(text: str) -> str:
    """The text, if its letters have had their cases for long."""
    found = NEW_CASES.search(text)
    if found is not None:
        raise UndecidedError(f"the case of U+{ord(found[0]):04X} depends on the version of Unicode")
    return text


def upper(text: str) -> str:
    return settled(text).upper()


def lower(text: str) -> str:
    return settled(text).lower()
