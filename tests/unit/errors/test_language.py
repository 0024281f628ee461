"""Errors use the words of the language of the query."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable

import pytest

from matchrec.api.transpile import rename_dialect_to_read
from matchrec.errors import MatchRecognizeError
from matchrec.errors.conditions import negated_decimal, types_cannot_be_combined
from matchrec.errors.inspection import unknown_partition_column, write_partition_example
from matchrec.errors.kinds import locate_errors
from matchrec.errors.language import PATTERN_CALLS, SASE, Language, name_part, use_language
from matchrec.errors.plots import series_column_missing
from matchrec.errors.sql.query import missing_value_in_braces
from matchrec.errors.sql.unknown_columns import ambiguous_column
from matchrec.errors.stages import pattern_not_in_sql
from matchrec.errors.surface import (
    CELL,
    COMMAND_LINE,
    GATEWAY,
    PYTHON,
    Surface,
    current_surface,
    use_surface,
)
from matchrec.source import Source, Span


def test_the_innermost_language_counts() -> None:
    with use_language(SASE):
        with use_language(None):
            assert name_part("DEFINE") == "WHERE"
        with use_language(PATTERN_CALLS):
            assert name_part("DEFINE") == "a condition"
        assert name_part("DEFINE") == "WHERE"
    assert name_part("DEFINE") == "DEFINE"


def test_a_language_ends_with_an_error() -> None:
    with (
        pytest.raises(MatchRecognizeError),
        locate_errors(Source("x"), Language({"DEFINE": "here"})),
    ):
        raise types_cannot_be_combined("+", name_part("DEFINE"), "int", Span(0, 1))
    assert name_part("DEFINE") == "DEFINE"


def test_examples_are_written_in_the_language() -> None:
    def hint() -> str | None:
        """Return the hint for a comparison of two dates."""
        return types_cannot_be_combined(">", "date", "date", Span(0, 1)).hint

    assert hint() == "write the days between them: datediff(LAST(A.x), FIRST(A.x))"
    with use_language(SASE):
        assert hint() == "write the days between them: datediff(b.x, a.x)"


def test_a_cell_names_only_its_own_options() -> None:
    with use_surface(CELL):
        assert current_surface().write_option("dialect", "trino") == "--dialect trino"
        assert current_surface().write_option("clause", 1) == "clause=1 in a call of Python"
        assert (
            current_surface().write_option("engine", "spark") == 'matchrec.session(engine="spark")'
        )


def test_a_client_of_the_gateway_sets_options() -> None:
    with use_surface(GATEWAY):
        assert current_surface().write_option("sort", "engine") == "SET matchrec.sort = engine"
        oracle_or_trino = current_surface().write_option("dialect", "oracle", "trino")
        assert oracle_or_trino == "SET matchrec.dialect = oracle or trino"
        assert current_surface().write_option("clause", 1) == "clause=1"


@pytest.mark.parametrize(
    ("surface", "text"), [(PYTHON, 'read="oracle" or "trino"'), (COMMAND_LINE, "--read oracle or")]
)
def test_transpile_reads_a_dialect(surface: Surface, text: str) -> None:
    with use_surface(surface), rename_dialect_to_read():
        assert current_surface().write_option("dialect", "oracle", "trino").startswith(text)


def test_two_values_of_one_type_may_lack_an_operator() -> None:
    error = types_cannot_be_combined("-", "time(6)", "time(6)", Span(0, 1))
    assert error.notes == ("`-` cannot combine values of this type from several rows of the match",)
    assert error.hint == "write minutes of the day: 60 * hour(LAST(A.x)) + minute(LAST(A.x))"


@pytest.mark.parametrize("key", ['x"y', "it's", "a\\b", "line\nbreak", '"', "None", "Zürich"])
def test_a_partition_is_written_so_that_it_can_be_pasted(key: str) -> None:
    keys = {'k"': key, "day": None, "n": "7"}
    with use_surface(PYTHON):
        example = write_partition_example(keys, ["n"]).removeprefix("partition=")
    assert ast.literal_eval(example) == {'k"': key, "day": None, "n": 7}
    with use_surface(COMMAND_LINE):
        words = shlex.split(write_partition_example({"k": key, "day": None, "n": "7"}, ["n"]))
    assert words == ["--partition", f"k={key}", "--partition", "day=NULL", "--partition", "n=7"]


def test_a_partition_is_quoted_with_its_name() -> None:
    keys = {"my sym": "A", "k": "a b", "n_1": "7"}
    with use_surface(COMMAND_LINE):
        example = write_partition_example(keys, ["n_1"])
    assert example == "--partition 'my sym=A' --partition 'k=a b' --partition n_1=7"
    with use_surface(CELL):
        assert write_partition_example({"k": "a b"}, []) == "--partition 'k=a b'"


def test_advice_to_name_a_column_with_a_blank_can_be_pasted() -> None:
    with use_surface(COMMAND_LINE):
        error = unknown_partition_column(name="my co", keys={"my col": "`my col`"})
    assert error.hint == "write --partition 'my col=VALUE'"


def test_a_client_of_the_gateway_gets_no_advice_in_python() -> None:
    terms = ("args=", "spark.", "matchrec.sql", "matchrec.session", "timedelta", "in Python")
    names = ("query_call", "source_of_values", "advice_on_parameter", "advice_on_length")
    statements = ("script", "execute_immediate", "global_view", "inner_view", "own_function")
    advice = [f"advice_on_{name}" for name in (*statements, "header", "clause", "table", "file")]
    for name in (*names, *advice, "advice_on_positional_parameter"):
        assert not [term for term in terms if term in getattr(GATEWAY, name)], name
    with use_surface(GATEWAY):
        assert current_surface().write_option("engine", "spark") == "matchrec serve --engine spark"


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (lambda: pattern_not_in_sql(what="a stage", obstacle="x"), "use matchrec run"),
        (
            lambda: ambiguous_column(None, name="x", clause="DEFINE"),
            "give one of them another name, such as x2, in the table, or in a subquery in FROM",
        ),
        (
            lambda: negated_decimal(Span(0, 1)),
            "write 0 - x instead of - x, or pass --conf spark.sql.ansi.enabled=true",
        ),
        (lambda: series_column_missing(name="sym"), "add sym to PARTITION BY or MEASURES"),
    ],
)
def test_advice_on_the_command_line_names_nothing_of_python(
    error: Callable[[], MatchRecognizeError], advice: str
) -> None:
    with use_surface(COMMAND_LINE):
        made = error()
    assert made.hint == advice
    assert not re.search(r"DataFrame|matchrec\.|`plot`|args", str(made))


def test_on_the_command_line_a_value_in_braces_is_a_parameter() -> None:
    with use_surface(COMMAND_LINE):
        error = missing_value_in_braces(
            Span(0, 1), name="low", clause="DEFINE", values=(), parameters=("high",)
        )
    assert error.notes == ("--arg has: high",)
    assert error.hint == "write :low, and pass --arg low=VALUE"
