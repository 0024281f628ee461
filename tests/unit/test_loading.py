"""What a worker has loaded is never looked through again for garbage."""

from __future__ import annotations

import gc
import sys
from threading import Event
from types import ModuleType

import pytest

from matchrec import loading


@pytest.mark.parametrize("loads", [True, False])
@pytest.mark.parametrize("makes_queries", [True, False])
def test_only_where_modules_are_loaded_and_no_user_is(
    loads: bool, makes_queries: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen: list[bool] = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(True))
    monkeypatch.setattr(loading, "makes_queries", Event())
    if makes_queries:
        loading.makes_queries.set()
    with loading.freeze_loaded_modules():
        if loads:
            monkeypatch.setitem(sys.modules, "loaded_meanwhile", ModuleType("loaded_meanwhile"))
    assert frozen == [True] * (loads and not makes_queries)
