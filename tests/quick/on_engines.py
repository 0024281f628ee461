"""Choose the engine of each test: most tests run on Sail, which is quick, and some on Spark.

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
ONE_IN_MODULES = 5  # one in 5 of the modules for Sail has tests that run on Spark, too
ONE_IN_TESTS = 200  # one in 200 of the tests in such a module runs on Spark, too
ONE_IN_MODULES_ON_OLDER_SPARK = 4  # one in 4 of the modules only for Spark runs on an older one


@dataclass(frozen=True)
class Entry:
    """A line of the table."""

    word: str  # leave, fails or newest
    begins: str  # the line is about the tests whose ids begin with this
    reason: str


@cache  # because it is called for each module
def read_entries() -> list[Entry]:
    """Return the lines of the table."""
    table: list[Entry] = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        fields = re.fullmatch(r"(leave|fails|newest) (.+)  (.+)", line)
        if fields is not None:
            table.append(Entry(*fields.groups()))
    return table


def find_table_entry(item: pytest.Item, table: Sequence[Entry]) -> Entry | None:
    """Return the first line that is about a test; None without one."""
    return next((entry for entry in table if item.nodeid.startswith(entry.begins)), None)


def is_newest() -> bool:
    """Return whether this is the newest Spark, for which the tests are written."""
    release, minor = (int(part) for part in pyspark.__version__.split(".")[:2])
    return (release, minor) >= NEWEST


def choose_for_sail(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the tests that run on Sail, and mark those that are expected to fail there."""
    table = read_entries()
    chosen: list[pytest.Item] = []
    for item in items:
        entry = find_table_entry(item, table)
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
        for entry in read_entries()
        if entry.begins.startswith(module) or module.startswith(entry.begins)
    ]
    needs_newest = any(entry.word == "newest" for entry in about_module)
    if is_drawn(module, ONE_IN_MODULES) or needs_newest:
        return True
    return bool(about_module) and is_drawn_for_this_spark(module)


def is_drawn_for_this_spark(module: str) -> bool:
    """Return whether this Spark runs a test of a module that the table leaves to Spark.

    An older Spark has one in `ONE_IN_MODULES_ON_OLDER_SPARK` of these modules. The newest Spark
    has the others.
    """
    return is_drawn(module, ONE_IN_MODULES_ON_OLDER_SPARK) is not is_newest()


def choose_for_spark(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the part of the tests that `pytest --on spark` runs: see the module's docstring."""
    table = read_entries()
    newest = is_newest()
    chosen_index = 1 if newest else 0  # which of a module's tests that are left to Spark runs
    chosen: list[pytest.Item] = []
    counts: Counter[str] = Counter()  # for each module, its tests so far that are left to Spark
    for item in items:
        entry = find_table_entry(item, table)
        module = item.nodeid.partition("::")[0]
        if entry is None:
            is_part = is_drawn(module, ONE_IN_MODULES) and is_drawn(item.nodeid, ONE_IN_TESTS)
            runs = has_session(item) and is_part
        elif entry.word == "newest":
            runs = newest
        else:
            runs = counts[module] == chosen_index and is_drawn_for_this_spark(module)
            counts[module] += 1
        if runs:
            chosen.append(item)
    return chosen


def has_session(item: pytest.Item) -> bool:
    """Return whether a test uses the session that all tests share."""
    return "spark" in getattr(item, "fixturenames", ())
