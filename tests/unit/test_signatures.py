"""The signatures and the modules that `help` shows."""

from __future__ import annotations

import inspect
import pickle
import pydoc
import re
from types import ModuleType

import pytest

import matchrec
from matchrec.signatures import make_readable

# What Python shows for a string as an annotation, for a default that is no value, and for an object
# without a text of its own.
UNREADABLE = re.compile(r"""[:>] '[^']|<factory>|<object|~T|\b(?:arguments|matchrec)\.\w+\.""")


def list_functions(value: object) -> list[object]:
    """Return a function, or the public functions of a class."""
    if not isinstance(value, type):
        return [value]
    return [
        member
        for name, member in inspect.getmembers(value, inspect.isfunction)
        if not name.startswith("_")
    ]


@pytest.mark.parametrize("name", matchrec.__all__)
def test_help_shows_readable_signatures(name: str) -> None:
    value = getattr(matchrec, name)
    for function in list_functions(value):
        for line in str(inspect.signature(function)).splitlines():  # type: ignore[arg-type]
            assert not UNREADABLE.search(line), line
            assert len(line) <= 80


def test_help_shows_a_line_for_each_parameter() -> None:
    lines = pydoc.plain(pydoc.render_doc(matchrec.match_recognize)).splitlines()
    start = lines.index("match_recognize(")
    assert lines[start : start + 9] == [
        "match_recognize(",
        "    df: Frame,",
        "    clause: str,",
        "    args: NamedArguments | None = None,",
        "    *,",
        "    dialect: DialectName = 'spark',",
        "    options: Options | None = None,",
        ") -> DataFrame",
        "    Run a MATCH_RECOGNIZE clause over a DataFrame, and return its rows.",
    ]


def test_help_shows_all_forms_of_query() -> None:
    lines = pydoc.plain(pydoc.render_doc(matchrec.query)).splitlines()
    starts = [index for index, line in enumerate(lines) if line == "query("]
    assert [[line.strip() for line in lines[start + 1 : start + 3]] for start in starts] == [
        ["spark: SparkSession,", "query: str,"],
        ["query: str,", "args: Arguments | None = None,"],
        ["df: Frame,", "clause: str,"],
        ["df: Frame,", "text: str,"],
        ["df: Frame,", "pattern: Pattern,"],
    ]


def test_help_shows_that_sql_needs_no_session() -> None:
    lines = pydoc.plain(pydoc.render_doc(matchrec.sql)).splitlines()
    starts = [index for index, line in enumerate(lines) if line == "sql("]
    assert [lines[start + 1] for start in starts] == ["    spark: SparkSession,", "    query: str,"]


@pytest.mark.parametrize("module", [matchrec, matchrec.warnings], ids=lambda m: m.__name__)
def test_public_names_show_the_public_module(module: ModuleType) -> None:
    for name in module.__all__:
        value = getattr(module, name)
        assert value.__module__ == module.__name__, name
        assert pickle.loads(pickle.dumps(value)) is value  # as between Spark and its workers


def test_help_shows_how_to_make_options_but_no_results() -> None:
    options = pydoc.plain(pydoc.render_doc(matchrec.Options))
    assert "\n |  Options(\n |      *,\n |      algorithm: Algorithm = 'auto',\n" in options
    for class_ in (matchrec.AfterMatch, matchrec.Query, matchrec.MatchRecognizePlanError):
        assert "__init__(self)\n" in pydoc.plain(pydoc.render_doc(class_))
    query = pydoc.plain(pydoc.render_doc(matchrec.Query)).splitlines()
    assert " |  A query that has not run, from `query`. Nothing is read" in query[3]


def test_parameters_that_are_only_positional_or_only_keywords() -> None:
    def search(a: int, /, *names: str, option_with_a_long_name: str = "and a long default") -> int:
        return a

    assert str(make_readable(inspect.signature(search))).splitlines() == [
        "(",
        "    a: int,",
        "    /,",
        "    *names: str,",
        "    option_with_a_long_name: str = 'and a long default',",
        ") -> int",
    ]
