"""Modules are loaded when they are needed, and stay out of garbage collection in workers."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
from collections.abc import Sequence
from threading import Event
from types import ModuleType

import pytest

import matchrec
from matchrec import loading
from matchrec.errors import old_names
from matchrec.spark.start.sessions import MODULES_OF_QUERIES


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


def list_loaded(statement: str, packages: Sequence[str]) -> list[str]:
    """Return which of some packages a new process has loaded after a statement."""
    code = f"import sys\n{statement}\nprint(*[name for name in {packages} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return result.stdout.split()


def test_modules_loaded_while_java_starts_do_not_import_pyspark() -> None:
    """Otherwise two threads would import parts of it at once."""
    statement = f"import {', '.join(MODULES_OF_QUERIES)}"
    assert list_loaded(statement, ["pyspark", "pandas", "numpy"]) == ["pandas", "numpy"]


def test_a_session_loads_little_before_java_starts() -> None:
    statement = "import matchrec; matchrec.session"
    assert list_loaded(statement, ["pyspark", "pandas", "numpy", "sqlglot"]) == ["pyspark"]


def test_the_command_line_loads_little_before_it_knows_the_command() -> None:
    packages = ["pyspark", "pandas", "numpy", "sqlglot", "matchrec.patterns"]
    assert list_loaded("import matchrec.__main__", packages) == []


def test_few_queries_need_pandas() -> None:
    """It takes a second to load."""
    assert list_loaded("import matchrec; matchrec.sql", ["pyspark", "pandas"]) == ["pyspark"]


def test_a_missing_module_is_reported_when_it_is_needed() -> None:
    with loading.load_in_background(["matchrec.no_such_module", "calendar"]):
        pass
    assert "calendar" in sys.modules
    assert gc.isenabled()


def test_a_misspelt_name_of_the_package_gets_a_suggestion() -> None:
    with pytest.raises(
        AttributeError, match=r"'match_recognise'; write matchrec\.match_recognize$"
    ):
        matchrec.match_recognise  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no attribute '_rows_'$"):
        matchrec._rows_  # noqa: B018


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("detect", "matchrec.match_pattern"),
        ("Tuned", "matchrec.TuningReport"),
        ("why", "matchrec.query(...).why()"),
    ],
)
def test_an_old_name_is_answered_with_the_new_name(name: str, suggestion: str) -> None:
    with pytest.raises(AttributeError, match=rf"'{name}'; write {re.escape(suggestion)}$"):
        getattr(matchrec, name)


def test_old_names_lead_to_names_that_exist() -> None:
    assert set(old_names.FUNCTIONS.values()) <= set(matchrec.__all__)
    assert not set(old_names.FUNCTIONS) & set(matchrec.__all__)
    assert all(hasattr(matchrec.Query, method) for method in old_names.QUERY_METHODS)


def test_the_beginning_of_several_names_gets_them_all() -> None:
    names = ["match_recognize", "match_pattern", "match_rules", "match_sase"]
    first, *others = [f"matchrec.{name}" for name in names]
    advice = f"{first}, {others[0]}, {others[1]} or {others[2]}"
    with pytest.raises(AttributeError, match=rf"'match'; write {re.escape(advice)}$"):
        matchrec.match  # noqa: B018
