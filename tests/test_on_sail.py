"""Each line of the table of tests that run only on Spark names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.quick.on_engines import Entry, read_entries

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("entry", read_entries(), ids=lambda entry: entry.begins)
def test_a_line_is_about_tests_that_exist(entry: Entry) -> None:
    """Otherwise a renamed test would run on Sail and fail there."""
    path, _, name = entry.begins.partition("::")
    assert (ROOT / path).exists() or list(ROOT.glob(f"{path}*"))
    if name:
        function = name.partition("[")[0]
        assert re.search(rf"^def {function}", (ROOT / path).read_text(), re.MULTILINE)
