"""The first line of `%%matchrec`, and where the query of `%matchrec` begins."""

from __future__ import annotations

import pytest

from matchrec.errors import MatchRecognizeError, MatchRecognizePlanError
from matchrec.notebook.arguments import FLAGS, build_why_line, split_line
from matchrec.notebook.magic import MatchrecMagics


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ("--why --partition sym=A ", "SELECT * FROM t"),
        ("--order-by t --partition-by sym ", "PATTERN SEQ(a x) RETURN x.t"),
        ("-o values ", "SELECT 1"),
        ("--output with ", "VALUES (1)"),
        ("--partition 'sym=a from b' ", "select 1"),
        ('--plot t "order" ', "select 1"),
        # These options have no value after them.
        ("--why ", "SELECT 1"),
        ("--cov ", "SELECT 1"),
        ("--output=x ", "SELECT 1"),
        ("-n5 ", "SELECT 1"),
        ("--why --row -1 ", "SELECT 1"),
        ("-n 5 ", "(SELECT 1)"),
        ("-n 5 ", "select*from t"),
        ("--why --partition order=5 ", "SELECT* FROM t"),
        ("--plot order.day price ", "SELECT 1"),
        ("--events t ", "MEASURES A.x AS x PATTERN (A)"),
        ("", "CREATE TABLE u AS SELECT 1"),
        ("", "WITH q AS (SELECT 1) SELECT * FROM q"),
    ],
)
def test_a_query_begins_at_a_keyword_that_is_not_in_the_arguments(
    arguments: str, query: str
) -> None:
    assert split_line(arguments + query) == (arguments, query)


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("rises ", ("", "rises")),
        ("--events t --order-by at  rises \t", ("--events t --order-by at  ", "rises")),
        ("--explain SELECT 1  ", ("--explain ", "SELECT 1")),
        ("  ", ("", "")),
        # There is no query, only an option, or an option with its value.
        ("--why", ("--why", "")),
        ("-n 5", ("-n 5", "")),
    ],
)
def test_blanks_at_the_end_of_a_line_are_not_the_query(line: str, parts: tuple[str, str]) -> None:
    assert split_line(line) == parts


@pytest.mark.parametrize(
    ("line", "why_line"),
    [
        ('--plot "a  b" y -n 3', "%%matchrec -n 3 --why"),
        ("--plot=t v --between a b --row -1", "%%matchrec --row -1 --why"),
        ("--events t  --row 'x --why  y'", "%%matchrec --events t --row 'x --why  y' --why"),
        ("--cov -n 3 --explain", "%%matchrec -n 3 --why"),
    ],
)
def test_a_line_that_asks_why_keeps_the_other_arguments(line: str, why_line: str) -> None:
    assert build_why_line(line) == why_line


@pytest.mark.parametrize("line", ["--explain --why", "--coverage --plot t v", "--why --coverage"])
def test_a_cell_has_one_result(line: str) -> None:
    with pytest.raises(MatchRecognizePlanError, match="is not allowed with"):
        MatchrecMagics().read_arguments(line)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--why --partition sym=A sym=B", "`--partition` has `sym` twice"),
        ("--why --partition =A", "write --partition NAME=A"),
    ],
)
def test_a_partition_has_each_name_once(line: str, message: str) -> None:
    arguments = MatchrecMagics().read_arguments(line)
    with pytest.raises(MatchRecognizeError, match=message):
        arguments.read_partition()


def test_the_options_without_a_value_are_the_flags() -> None:
    actions = MatchrecMagics.matchrec.parser._actions
    options = [action.option_strings[-1] for action in actions if action.nargs == 0]
    assert sorted(options) == sorted(FLAGS)
