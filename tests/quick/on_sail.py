"""What `pytest --on sail` leaves out, and what fails there: tests/quick/on_sail.txt.

    leave tests/spark/functions                      a folder, a module or a test that is not run
    fails tests/spark/test_x.py::test_y[a parameter] a test that fails, strictly

Both go on with two blanks and the reason. Cases of SQL say it beside themselves: tests/cases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

TABLE = Path(__file__).with_suffix(".txt")


@dataclass(frozen=True)
class Entry:
    """A line of the table. begins: with which the names of the tests begin that it is about."""

    word: str
    begins: str
    reason: str


def entries() -> list[Entry]:
    """The lines of the table."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    found = [re.fullmatch(r"(leave|fails) (.+)  (.+)", line) for line in lines if line[:1] > "#"]
    return [Entry(*one.groups()) for one in found if one is not None]


def choose(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The tests that are run; those that fail are marked."""
    table, chosen = entries(), []
    for item in items:
        entry = next((one for one in table if item.nodeid.startswith(one.begins)), None)
        if entry is not None and entry.word == "leave":
            continue
        if entry is not None:
            item.add_marker(pytest.mark.xfail(reason=entry.reason, strict=True))
        chosen.append(item)
    return chosen
