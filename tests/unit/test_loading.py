"""What a worker has loaded is never looked through again for garbage."""

from __future__ import annotations

import gc
import sys
from types import ModuleType

import pytest

from matchrec.loading import for_good


@pytest.mark.parametrize("loads", [True, False])
def test_only_where_modules_are_loaded(loads: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    frozen: list[bool] = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(True))
    with for_good():
        if loads:
            monkeypatch.setitem(sys.modules, "loaded_meanwhile", ModuleType("loaded_meanwhile"))
    assert frozen == [True] * loads
