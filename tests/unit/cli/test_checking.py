"""`matchrec check` of several queries: the line of each, the count at the end, the exit code."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from matchrec.cli import queries
from tests.quick.embedded import invoke, invoke_failing
from tests.unit.cli.conftest import PRICES, STREAKS

TABLE = ("--table", "t=prices.csv")
OK = "ok; columns of the result: sym STRING, low INT, high INT, n BIGINT"


@pytest.fixture
def several(embedded: Path) -> Path:
    """Return the folder, with a query that is right and two with a mistake."""
    (embedded / "column.sql").write_text(STREAKS.replace("PREV(price)", "PREV(prise)"))
    (embedded / "keyword.sql").write_text(STREAKS.replace("PATTERN", "PATERN"))
    return embedded


def test_all_mistakes_are_reported_and_counted(several: Path) -> None:
    result = invoke("check", "column.sql", "streaks.sql", "keyword.sql", *TABLE)
    assert result.exit_code == 1
    assert result.stdout == f"streaks.sql: {OK}\n"
    headlines = [line for line in result.stderr.splitlines() if not line.startswith(" ")]
    assert headlines == [
        # It is in the text alone, so it is reported before an engine starts.
        (
            "matchrec: error: keyword.sql: unknown keyword `PATERN` in MATCH_RECOGNIZE "
            "[misspelt-keyword]"
        ),
        "matchrec: error: column.sql: unknown column `prise` in DEFINE [unknown-column]",
        "3 queries checked, 2 with mistakes",
    ]
    result = invoke("check", "streaks.sql", "keyword.sql", "streaks.sql", *TABLE)
    assert result.exit_code == 1
    assert result.stderr.endswith("\n2 queries checked, 1 with a mistake\n"), "the same file twice"


def test_queries_without_a_mistake_are_ok(several: Path) -> None:
    (several / "one.sql").write_text("SELECT 1 AS one; SELECT sym FROM t")
    result = invoke("check", "streaks.sql", "one.sql", "--strict", *TABLE)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"streaks.sql: {OK}",
        "one.sql: statement 1 of 2: ok; columns of the result: one INT",
        "one.sql: statement 2 of 2: ok; columns of the result: sym STRING",
    ]
    assert result.stderr == "2 queries checked, no mistakes\n"


def test_warnings_of_several_queries_are_mistakes_on_request(several: Path) -> None:
    (several / "all.sql").write_text(STREAKS.partition("DEFINE")[0] + ")")
    result = invoke("check", "streaks.sql", "all.sql", "--strict", *TABLE)
    assert result.exit_code == 1
    assert result.stderr.endswith(
        "2 queries checked, no mistakes; 1 warning\n1 warning; --strict exits with code 1\n"
    )
    result = invoke("check", "keyword.sql", "all.sql", *TABLE)
    assert result.stderr.endswith("2 queries checked, 1 with a mistake; 1 warning\n")
    result = invoke("check", "streaks.sql", "all.sql", "--strict", *TABLE, "--ignore=AnyRows")
    assert result.exit_code == 2
    ignored = ("--ignore=NoConditionsWarning", "--ignore=AnyRowsWarning")
    result = invoke("check", "streaks.sql", "all.sql", "--strict", *TABLE, *ignored)
    assert (result.exit_code, result.stderr) == (0, "2 queries checked, no mistakes\n")


def test_no_engine_starts_if_all_texts_have_mistakes(several: Path) -> None:
    (several / "open.sql").write_text("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A")
    with patch.object(queries, "open_local_session", None):
        result = invoke("check", "keyword.sql", "open.sql", *TABLE)
    assert result.exit_code == 1
    assert result.stderr.endswith("\n2 queries checked, 2 with mistakes\n")


def test_views_of_a_query_are_unknown_to_the_next_one(several: Path) -> None:
    (several / "view.sql").write_text(
        "CREATE TEMP VIEW check_v AS SELECT sym FROM t;"
        "CREATE OR REPLACE TEMP VIEW t AS SELECT 1 AS one; SELECT * FROM check_v"
    )
    (several / "reader.sql").write_text("SELECT * FROM check_v")
    result = invoke("check", "view.sql", "streaks.sql", "reader.sql", *TABLE)
    assert result.exit_code == 1
    assert f"streaks.sql: {OK}\n" in result.stdout, "the table is back"
    assert "error: reader.sql: unknown table or view `check_v`" in result.stderr


def test_a_pipe_is_read_once_for_all_queries(several: Path) -> None:
    (several / "twice.sql").write_text(f"CREATE TEMP VIEW check_w AS {STREAKS}; SELECT * FROM t")
    result = invoke("check", "streaks.sql", "twice.sql", "streaks.sql", "--table=t=-", stdin=PRICES)
    assert (result.exit_code, result.stderr) == (0, "2 queries checked, no mistakes\n")
    result = invoke("check", "twice.sql", "streaks.sql", "--table=t=-", stdin=PRICES)
    assert (result.exit_code, result.stderr) == (0, "2 queries checked, no mistakes\n")


def test_files_in_different_folders_can_have_one_name(several: Path) -> None:
    for folder, header in (("a", "x"), ("b", "y")):
        (several / folder).mkdir()
        (several / folder / "rows.csv").write_text(f"{header}\n1\n")
        (several / folder / "q.sql").write_text(f"SELECT * FROM '{folder}/rows.csv'")
    result = invoke("check", "a", "b")
    assert result.stdout.splitlines() == [
        "a/q.sql: ok; columns of the result: x INT",
        "b/q.sql: ok; columns of the result: y INT",
    ]


def test_each_query_gets_the_values_that_it_uses(several: Path) -> None:
    (several / "least.sql").write_text(STREAKS.replace("UP+", "UP{:least,}"))
    result = invoke("check", "streaks.sql", "least.sql", "--arg", "least=2", *TABLE)
    assert (result.exit_code, result.stdout.count(OK)) == (0, 2)
    message = invoke_failing("check", "streaks.sql", "column.sql", "--arg", "least=2", *TABLE)
    assert "the query has no `:least` [unknown-parameter]" in message


def test_queries_in_several_languages_are_checked(several: Path) -> None:
    (several / "ups.sase").write_text("PATTERN SEQ(A a, B b) RETURN a.price AS price")
    result = invoke(
        "check", "streaks.sql", "ups.sase", *TABLE, "--order-by", "ts", "--dialect=trino"
    )
    assert "streaks.sql: ok" in result.stdout
    assert "unknown column `event_type`" in result.stderr
    message = invoke_failing("check", "streaks.sql", "column.sql", *TABLE, "--order-by", "ts")
    assert "`--order-by` is not allowed for SQL [option-not-for-language]" in message


def test_a_query_without_a_clause_needs_values_of_parameters(several: Path) -> None:
    (several / "dear.sql").write_text("SELECT * FROM t\nWHERE price > :least AND sym <> ':x'")
    message = invoke_failing("check", "dear.sql", *TABLE, code=1)
    assert message.startswith("matchrec: error: parameter `:least` has no value [")
    result = invoke("check", "dear.sql", "--arg", "least=3", *TABLE)
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_positional_parameter_is_rejected_with_advice(several: Path) -> None:
    message = invoke_failing("check", "-c", "SELECT ? AS x", *TABLE, code=1)
    headline, *_, advice = message.splitlines()
    assert headline.startswith("matchrec: error: positional parameter `?` has no value [")
    assert advice.endswith("write :name instead of it, and pass --arg name=VALUE")


def test_all_queries_of_a_folder_are_checked(several: Path) -> None:
    (several / "some" / "more").mkdir(parents=True)
    (several / "some" / "b.sql").write_text(STREAKS)
    (several / "some" / "prices.csv").write_text(PRICES)
    (several / "some" / "more" / "a.sql").write_text(STREAKS)
    result = invoke("check", "some", *TABLE)
    assert result.stdout == f"some/b.sql: {OK}\nsome/more/a.sql: {OK}\n"
    # The name of the only file of a folder is printed, too.
    result = invoke("check", "some/more", *TABLE)
    assert (result.stdout, result.stderr) == (
        f"some/more/a.sql: {OK}\n",
        "1 query checked, no mistakes\n",
    )
    (several / "none").mkdir()
    message = invoke_failing("check", "none", *TABLE)
    assert "the folder `none` has no .sql or .sase files [folder-without-queries]" in message


def test_a_file_of_a_folder_that_needs_an_option(several: Path) -> None:
    (several / "mixed").mkdir()
    (several / "mixed" / "a.sql").write_text(STREAKS)
    (several / "mixed" / "b.sase").write_text("PATTERN SEQ(Up a, Down b)")
    assert invoke_failing("check", "mixed", *TABLE, code=2) == (
        "matchrec: error: mixed/b.sase: missing `--order-by` for SASE+ [missing-option]\n"
        "  help: write --order-by COLUMN, or check the other files alone\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "missing query [missing-query]"),
        (("streaks.sql", "nosuch.sql"), "the query file `nosuch.sql` does not exist"),
        (("streaks.sql", "prices.csv"), "pass --table prices=prices.csv"),
        (("streaks.sql", "-c", "SELECT 1"), "`streaks.sql` and the text of -c [two-queries]"),
        (("streaks.sql", "-", "--table", "u=-"), "[repeated-pipe]"),
    ],
)
def test_wrong_arguments_of_check_are_rejected(
    arguments: tuple[str, ...], message: str, files: Path
) -> None:
    del files
    assert message in invoke_failing("check", *arguments)
