"""The command line as its users meet it: programs are started, their output is read."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from matchrec.__main__ import main
from matchrec.cli.arguments import DIALECTS
from matchrec.cli.failures import plain_warnings, sentence_of_spark
from matchrec.frontends.dialects.products import PRODUCTS
from tests.quick.embedded import commands_in

STREAKS = """
SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES FIRST(price) AS low, LAST(price) AS high, COUNT(*) AS n
  PATTERN (A UP+) DEFINE UP AS price > PREV(price))
"""
PRICES = "sym,ts,price\nX,1,10\nX,2,11\nX,3,12\nY,1,5\nY,2,4\nY,3,9\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a query and its table."""
    (tmp_path / "streaks.sql").write_text(STREAKS)
    (tmp_path / "prices.csv").write_text(PRICES)
    return tmp_path


def matchrec(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the program in a folder, as a shell would."""
    command = [sys.executable, "-m", "matchrec", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The sentence that the program prints for a mistake that it sees before Spark starts."""
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err


@pytest.fixture
def embedded(spark: SparkSession, files: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of `files`, with commands that run in the session of the tests."""
    monkeypatch.chdir(files)
    with commands_in(spark):
        yield files


def given(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the query on standard input."""
    monkeypatch.setattr(sys, "stdin", StringIO(query))


@pytest.mark.slow
def test_run_prints_an_aligned_table(files: Path) -> None:
    result = matchrec(files, "run", "streaks.sql", "--table", "t=prices.csv")
    assert result.stderr.splitlines() == ["Starting Spark ...", "Matching ..."]
    lines = result.stdout.splitlines()
    assert lines[0] == "sym  low  high  n"
    assert sorted(lines[1:]) == ["X     10    12  3", "Y      4     9  2"]
    assert result.returncode == 0


def test_run_reads_the_query_from_stdin_and_stops_at_the_limit(
    embedded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given(STREAKS + " ORDER BY sym", monkeypatch)
    assert main(["run", "-", "--table", "t=prices.csv", "--limit", "1"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "sym  low  high  n",
        "X     10    12  3",
        "the first 1 rows; --limit shows more, --output writes all",
    ]


@pytest.mark.parametrize("suffix", ["parquet", "csv", "json"])
def test_run_writes_one_file_in_order(
    suffix: str,
    embedded: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (embedded / "t.json").write_text('[{"k": "b", "n": 1},\n {"k": "a", "n": null}]')
    given("SELECT k, n FROM t ORDER BY k", monkeypatch)
    assert main(["run", "-", "--table", "t=t.json", "--output", f"rows.{suffix}"]) == 0
    assert capsys.readouterr().out == f"2 rows written to rows.{suffix}\n"
    read = {"parquet": pd.read_parquet, "csv": pd.read_csv, "json": read_json_lines}[suffix]
    assert list(read(embedded / f"rows.{suffix}")["k"]) == ["a", "b"]


def read_json_lines(path: Path) -> pd.DataFrame:
    return pd.read_json(path, lines=True)


def test_explain_prints_and_writes_the_automaton(
    embedded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["explain", "streaks.sql", "--table", "t=prices.csv", "--dot", "nfa.dot"]
    assert main(arguments) == 0
    assert "UP" in capsys.readouterr().out
    assert (embedded / "nfa.dot").read_text().startswith("digraph")


def test_mistake_in_the_query_shows_line_and_caret(
    embedded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given(STREAKS.replace("LAST(price)", "LAST(DOWN.price)"), monkeypatch)
    assert main(["run", "-", "--table", "t=prices.csv"]) == 2
    printed = capsys.readouterr().err
    assert "DOWN" in printed
    assert "^" in printed


def test_mistake_outside_the_clause_is_spark_s_own_sentence(
    embedded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given("SELECT * FROM nowhere", monkeypatch)
    assert main(["run", "-"]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("matchrec: [TABLE_OR_VIEW_NOT_FOUND]")
    assert "Project [*]" not in printed


def test_mistake_that_only_rows_show_is_a_sentence(
    embedded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given(STREAKS.replace("PATTERN", "AFTER MATCH SKIP TO FIRST A PATTERN"), monkeypatch)
    assert main(["run", "-", "--table", "t=prices.csv"]) == 2
    printed = capsys.readouterr().err
    assert "AFTER MATCH SKIP" in printed
    assert "Traceback" not in printed
    assert "\tat " not in printed


@pytest.mark.slow
def test_demo_shows_query_table_and_picture(tmp_path: Path) -> None:
    result = matchrec(tmp_path, "demo")
    assert result.returncode == 0, result.stderr
    assert "MATCH_RECOGNIZE" in result.stdout
    assert "MSFT    2008-10-06   24.91  2008-10-10     21.5  2008-10-13          13.7" in (
        result.stdout
    )
    assert (tmp_path / "matchrec-demo.png").read_bytes().startswith(b"\x89PNG")
    assert result.stderr.splitlines() == ["Starting Spark ...", "Matching ...", "Drawing ..."]


def test_no_java(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(files))
    result = matchrec(files, "run", "streaks.sql", "--table", "t=prices.csv")
    assert result.returncode == 2
    assert "there is none in" in result.stderr
    assert "Traceback" not in result.stderr


def test_query_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert "the query `no.sql` does not exist" in refused(capsys, "run", "no.sql")


def test_query_that_is_no_text(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "q.sql").write_bytes(b"\xff\xfe\x00")
    assert "is not a text file in UTF-8" in refused(capsys, "run", str(files / "q.sql"))


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        ("prices.csv", "--table `prices.csv` is not NAME=PATH"),
        ("=prices.csv", "--table `=prices.csv` is not NAME=PATH"),
        ("a b=prices.csv", "--table `a b=prices.csv` is not NAME=PATH"),
        ("t=no.csv", "the file of table `t`, `no.csv` does not exist"),
        ("t=streaks.sql", "the name of `streaks.sql` does not tell its format"),
    ],
)
def test_table_argument_that_is_wrong(
    argument: str,
    sentence: str,
    files: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(files)
    assert sentence in refused(capsys, "run", "streaks.sql", "--table", argument)


def test_table_that_is_named_twice(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(files / "prices.csv")
    query = str(files / "streaks.sql")
    twice = refused(capsys, "run", query, "--table", f"t={path}", "--table", f"T={path}")
    assert "--table names `T` twice" in twice


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("rows.xlsx", "the name of `rows.xlsx` does not tell its format"),
        ("no/such/rows.csv", "the folder of `no/such/rows.csv` does not exist"),
    ],
)
def test_output_that_cannot_be_written(
    output: str, sentence: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sentence in refused(capsys, "run", str(files / "streaks.sql"), "--output", output)


@pytest.mark.parametrize(
    "arguments",
    [(), ("dance",), ("run",), ("run", "q.sql", "--limit", "0"), ("run", "-", "--engine", "x")],
)
def test_arguments_that_argparse_refuses(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_code:
        main(arguments)
    assert exit_code.value.code == 2
    assert "usage: matchrec" in capsys.readouterr().err


def test_sentence_of_spark_has_no_plan_and_no_stack() -> None:
    text = "[X] no `t`; line 1 pos 14;\n'Project [*]\n+- 'UnresolvedRelation [t]\n"
    assert sentence_of_spark(text) == "[X] no `t`; line 1 pos 14"
    assert sentence_of_spark("[Y] bad\n\nJVM stacktrace:\nat x") == "[Y] bad"


def test_the_command_line_knows_all_dialects() -> None:
    assert set(PRODUCTS) == set(DIALECTS)


def test_a_warning_is_printed_without_a_line_of_python() -> None:
    before = warnings.formatwarning
    with plain_warnings():
        assert warnings.formatwarning("no order", UserWarning, "f.py", 1) == "matchrec: no order\n"
    assert warnings.formatwarning is before
