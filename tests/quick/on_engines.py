"""Choose which tests run on which engine: most run on Sail, which is quick, some on Spark.

`pytest` runs all tests on Sail, except those that tests/quick/on_sail.txt leaves to Spark.

`pytest --on spark` runs a part of the tests:

- of every fourth module that the table leaves to Spark, the first test; on the newest Spark, of
  every other such module, the second test;
- on the newest Spark, all tests that need it;
- of every fifth other module, one in 200 of the tests that use a session.

`pytest --on spark --whole` runs all tests on Spark.

A line of that table is one of these, followed by two blanks and the reason:

    leave tests/spark/functions                      a folder, module or test only for Spark
    fails tests/spark/test_x.py::test_y[a parameter] a test that must fail on Sail
    newest tests/spark/test_x.py                     needs a Spark newer than Sail's PySpark

SQL cases have such notes in their own files: see tests/cases.
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
PART_OF_MODULES = 5  # one in so many modules that run on Sail has tests that also run on Spark
PART = 200  # of such a module, one in so many tests runs on Spark
OF_OLDER = 4  # one in so many modules for Spark runs on an older Spark


@dataclass(frozen=True)
class Entry:
    """A line of the table."""

    word: str  # leave, fails or newest
    begins: str  # the line is about the tests whose ids begin with this
    reason: str


@cache  # because it is called for each module
def entries() -> list[Entry]:
    """Return the lines of the table."""
    table: list[Entry] = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        fields = re.fullmatch(r"(leave|fails|newest) (.+)  (.+)", line)
        if fields is not None:
            table.append(Entry(*fields.groups()))
    return table


def entry_of(item: pytest.Item, table: Sequence[Entry]) -> Entry | None:
    """Return the first line that is about a test; None without one."""
    return next((entry for entry in table if item.nodeid.startswith(entry.begins)), None)


def is_newest() -> bool:
    """Return whether this is the newest Spark, for which the tests are written."""
    release, minor = (int(part) for part in pyspark.__version__.split(".")[:2])
    return (release, minor) >= NEWEST


def for_sail(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the tests that run on Sail, and mark those that are expected to fail there."""
    table = entries()
    chosen: list[pytest.Item] = []
    for item in items:
        entry = entry_of(item, table)
        if entry is not None and entry.word in ("leave", "newest"):
            continue
        if entry is not None:
            item.add_marker(pytest.mark.xfail(reason=entry.reason, strict=True))
        chosen.append(item)
    return chosen


def may_have_tests_for_spark(module: str) -> bool:
    """Return whether `pytest --on spark` may run a test of a module. Others are not collected."""
    about_module = [
        entry
        for entry in entries()
        if entry.begins.startswith(module) or module.startswith(entry.begins)
    ]
    needs_newest = any(entry.word == "newest" for entry in about_module)
    if is_drawn(module, PART_OF_MODULES) or needs_newest:
        return True
    return bool(about_module) and is_drawn_for_this_spark(module)


def is_drawn_for_this_spark(module: str) -> bool:
    """Return whether this Spark runs a test of a module that the table leaves to Spark.

    An older Spark has one in `OF_OLDER` of these modules, the newest Spark has the others.
    """
    return is_drawn(module, OF_OLDER) is not is_newest()


def for_spark(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the part of the tests that `pytest --on spark` runs: see the module's docstring."""
    table = entries()
    newest = is_newest()
    number_in_module = 1 if newest else 0  # of the test that runs, from 0
    chosen: list[pytest.Item] = []
    counts: Counter[str] = Counter()  # by module, the tests so far that are left to Spark
    for item in items:
        entry = entry_of(item, table)
        module = item.nodeid.partition("::")[0]
        if entry is None:
            is_part = is_drawn(module, PART_OF_MODULES) and is_drawn(item.nodeid, PART)
            runs = has_session(item) and is_part
        elif entry.word == "newest":
            runs = newest
        else:
            runs = counts[module] == number_in_module and is_drawn_for_this_spark(module)
            counts[module] += 1
        if runs:
            chosen.append(item)
    return chosen


def has_session(item: pytest.Item) -> bool:
    """Return whether a test uses the session that all tests share."""
    return "spark" in getattr(item, "fixturenames", ())
