"""Which tests run on which engine: most on Sail, which is quick, and what is Spark's own on Spark.

    pytest                      on Sail, but for what tests/quick/on_sail.txt leaves to Spark
    pytest --on spark           the first test of every fourth module that is Spark's own, on the
                                newest Spark the second of the others; of every fifth module
                                of all else one test of 200
    pytest --on spark --whole   all of them

    leave tests/spark/functions                      a folder, module or test that is Spark's own
    fails tests/spark/test_x.py::test_y[a parameter] a test that fails on Sail, strictly
    newest tests/spark/test_x.py                     needs a Spark newer than Sail's PySpark

Lines of the table go on with two blanks and the reason. Cases of SQL say it beside themselves:
tests/cases.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyspark
import pytest

from tests.quick.scale import is_drawn

TABLE = Path(__file__).with_name("on_sail.txt")
NEWEST = (4, 3)
PART_OF_MODULES = 5  # of modules that run on Sail, so many have tests that run on Spark as well
PART = 200  # of the tests of such a module, one of so many
OF_OLDER = 4  # of so many modules that are Spark's own, one runs on an older Spark


@dataclass(frozen=True)
class Entry:
    """A line of the table. begins: with which the names of the tests begin that it is about."""

    word: str
    begins: str
    reason: str


@cache  # asked of each module
def entries() -> list[Entry]:
    """The lines of the table."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    found = [
        re.fullmatch(r"(leave|fails|newest) (.+)  (.+)", line) for line in lines if line[:1] > "#"
    ]
    return [Entry(*one.groups()) for one in found if one is not None]


def entry_of(item: pytest.Item, table: Sequence[Entry]) -> Entry | None:
    """The line that is about a test."""
    return next((one for one in table if item.nodeid.startswith(one.begins)), None)


def is_newest() -> bool:
    """Whether this is the newest Spark, for which the tests are written."""
    release, minor = (int(one) for one in pyspark.__version__.split(".")[:2])
    return (release, minor) >= NEWEST


def for_sail(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The tests that run on Sail; those that fail are marked."""
    table, chosen = entries(), []
    for item in items:
        entry = entry_of(item, table)
        if entry is not None and entry.word in ("leave", "newest"):
            continue
        if entry is not None:
            item.add_marker(pytest.mark.xfail(reason=entry.reason, strict=True))
        chosen.append(item)
    return chosen


def may_have_tests_for_spark(module: str) -> bool:
    """Whether the part of Spark may have tests of a module; those of others are not collected."""
    own = [
        one for one in entries() if one.begins.startswith(module) or module.startswith(one.begins)
    ]
    if is_drawn(module, PART_OF_MODULES) or any(one.word == "newest" for one in own):
        return True
    return bool(own) and is_drawn_of_own(module)


def is_drawn_of_own(module: str) -> bool:
    """Whether this Spark has a test of a module with tests that are Spark's own."""
    return is_drawn(module, OF_OLDER) is not is_newest()


def for_spark(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """A part of what is Spark's own, and a smaller one of all else that has a session.

    Of a module with tests that are Spark's own an older Spark has the first, or the newest Spark
    the second.
    """
    table, chosen, newest = entries(), [], is_newest()
    own: Counter[str] = Counter()  # how many tests of a module there have been
    for item in items:
        entry, module = entry_of(item, table), item.nodeid.partition("::")[0]
        if entry is None:
            is_part = is_drawn(module, PART_OF_MODULES) and is_drawn(item.nodeid, PART)
            now = has_session(item) and is_part
        elif entry.word == "newest":
            now = newest
        else:
            now = own[module] == int(newest) and is_drawn_of_own(module)
            own[module] += 1
        if now:
            chosen.append(item)
    return chosen


def has_session(item: pytest.Item) -> bool:
    """Whether a test runs in the session of all tests."""
    return "spark" in getattr(item, "fixturenames", ())
