"""The program in a shell: start-up, exit codes and pipes; and its output in a terminal."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import click
import pytest
from rich.console import Console

import matchrec
from matchrec.__main__ import main
from matchrec.cli import demonstrating, engine_errors, messages
from matchrec.cli.engine_errors import shorten_engine_message
from matchrec.cli.failures import ExitCode
from tests.quick.embedded import invoke

STARTED = """
import sys
from matchrec.__main__ import main
try:
    main({arguments}, prog_name="matchrec")
finally:
    print(*(set(sys.modules) & {{"pyspark", "numba", "pandas", "numpy", "sqlglot", "pyarrow"}}))
"""


def run_program(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program in a folder, as a shell would."""
    command = [sys.executable, "-m", "matchrec", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "no.sql"]])
def test_commands_that_need_no_spark_do_not_load_it(arguments: list[str]) -> None:
    started = [sys.executable, "-c", STARTED.format(arguments=arguments)]
    result = subprocess.run(started, capture_output=True, text=True, check=False)
    assert result.stdout.splitlines()[-1] == ""


def test_without_java_the_error_says_what_to_install(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(files))
    result = run_program(
        files, "run", "streaks.sql", "--table", "t=prices.csv", "--engine", "spark"
    )
    assert (result.returncode, result.stdout) == (ExitCode.FAILED, "")
    assert "Spark did not start" in result.stderr
    assert "install Java 17" in result.stderr
    assert "Traceback" not in result.stderr


# What a program prints first if Sail does not work with the installed PySpark.
STARTING = "matchrec: starting Spark; this takes several seconds\n"


@pytest.mark.slow
def test_run_prints_rows_and_nothing_else(files: Path) -> None:
    result = run_program(files, "run", "streaks.sql", "--table", "t=prices.csv")
    lines = result.stdout.splitlines()
    assert lines[0] == "sym  low  high  n"
    assert sorted(lines[1:]) == ["X     10    12  3", "Y      4     9  2"]
    assert result.returncode == 0
    assert result.stderr in ("", STARTING)


@pytest.mark.slow
def test_a_program_says_that_spark_starts() -> None:
    started = [sys.executable, "-c", "import matchrec; matchrec.session('spark').stop()"]
    result = subprocess.run(started, capture_output=True, text=True, timeout=300, check=True)
    first_line = result.stderr.splitlines()[0]
    assert first_line == "matchrec: starting Spark; this takes several seconds"


@pytest.mark.slow
def test_a_reader_may_stop_reading(files: Path) -> None:
    (files / "many.sql").write_text("SELECT id, repeat('x', 100) AS s FROM range(5000)")
    arguments = [sys.executable, "-m", "matchrec", "run", "many.sql", "--format", "csv"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == b"id,s\n"
        running.stdout.close()
        assert running.stderr.read().decode() in ("", STARTING)
    assert running.returncode == 0


LONG = """
SELECT * FROM (
  SELECT a.id FROM range(100000000) AS a JOIN range(100000000) AS b ON hash(a.id, b.id) = 5)
MATCH_RECOGNIZE (ORDER BY id MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS id >= 0)
"""


@pytest.mark.slow
def test_ctrl_c_ends_a_query_with_one_line(files: Path) -> None:
    (files / "long.sql").write_text(LONG)
    command = [sys.executable, "-m", "matchrec", "run", "long.sql", "--engine", "spark", "--conf"]
    command += ["spark.eventLog.enabled=true", "--conf", f"spark.eventLog.dir={files}", "--conf"]
    command += ["spark.eventLog.compress=false"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(
        command, cwd=files, text=True, start_new_session=True, **pipes
    ) as running:
        wait_for_job(files)
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does: Java and workers get it too
        out, err = running.communicate(timeout=60)
    assert err.splitlines() == [
        "matchrec: starting Spark; this takes several seconds",
        "matchrec: interrupted; the jobs of the query are cancelled",
    ]
    assert (running.returncode, out) == (ExitCode.INTERRUPTED, "")
    assert any(has_ended(running.pid) for _ in range(100)), "Java ends, too"


def has_ended(group: int) -> bool:
    """Return whether no process of a group is left; looks for a moment."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    time.sleep(0.3)
    return False


def wait_for_job(folder: Path) -> None:
    """Return once Spark has written down that a job of the query has begun, or after a minute."""
    for _ in range(300):
        logs = (path for path in folder.rglob("*local-*") if path.is_file())
        if any("SparkListenerJobStart" in log.read_text(errors="replace") for log in logs):
            return
        time.sleep(0.2)


def test_the_version_is_printed() -> None:
    assert invoke("--version").stdout == f"matchrec {matchrec.__version__}\n"
    assert invoke("-V").stdout == invoke("--version").stdout


def test_the_list_of_commands_cuts_no_sentence() -> None:
    listed, _, rest = invoke("--help").stdout.partition("Commands:\n")[2].partition("\n\n")
    assert "..." not in listed
    assert [line[-1] for line in listed.splitlines()] == ["."] * len(main.commands)
    assert rest.startswith("  `matchrec COMMAND --help` shows the options of a command.\n")


@pytest.mark.parametrize("command", main.commands)
def test_every_option_has_a_sentence_with_a_verb_or_a_noun(command: str) -> None:
    """An example is `Write the picture to FILE.` A default comes after it in brackets."""
    for parameter in main.commands[command].params:
        if isinstance(parameter, click.Option):
            sentence = re.sub(r" \[default.*\]$", "", parameter.help or "")
            assert re.fullmatch(r"[A-Z][^\[\]]+ [^\[\]]+\.", sentence), parameter.opts


def test_help_lists_options_in_groups() -> None:
    output = invoke("run", "--help").stdout
    groups = re.findall(r"^(\w.*):$", output, re.MULTILINE)
    assert groups == [
        "Query",
        "Input",
        "Aggregates over all matches",
        "Output",
        "Picture of the matches",
        "Events (only for SASE+ and Patterns)",
        "Warnings",
        "Engine and search",
        "Other options",
    ]
    positions = [
        output.index(words) for words in ("\nInput:", "\n  --table", "\nEngine and search:")
    ]
    assert positions == sorted(positions)


def test_help_says_the_exit_codes() -> None:
    codes = re.findall(r"^    (\d+) ", invoke("--help").stdout, re.MULTILINE)
    assert codes == [str(code) for code in (0, *map(int, ExitCode))]


def test_a_terminal_shows_carets_in_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = StringIO()
    console = Console(file=shown, force_terminal=True, color_system="standard", highlight=False)
    monkeypatch.setattr("rich.console.Console", lambda **_: console)
    messages.print_failure("no [red]\n  line 1\n    SELECT 1^2\n           ^ ^^\n  hint")
    red, off = "\x1b[1;31m", "\x1b[0m"
    assert shown.getvalue().splitlines() == [
        f"{red}matchrec: error: {off}no [red]",
        "  line 1",
        "    SELECT 1^2",
        f"{red}           ^ ^^{off}",
        "  hint",
    ]


def test_a_batch_that_is_too_large_has_a_hint() -> None:
    lost = "Lost task 0.0: org.apache.arrow.vector.util.OversizedAllocationException: Memory"
    output = engine_errors.explain_engine_error(Exception(f"Job aborted: {lost}"))
    assert output == f"Job aborted: {lost}\n  help: {engine_errors.SMALLER_BATCHES}"
    assert engine_errors.explain_engine_error(Exception("Job aborted")) == "Job aborted"


def test_sentence_of_spark_has_no_plan_and_no_stack() -> None:
    text = "[X] no `t`; line 1 pos 14;\n'Project [*]\n+- 'UnresolvedRelation [t]\n"
    assert shorten_engine_message(text) == "[X] no `t`; line 1 pos 14"
    assert shorten_engine_message("[Y] bad\n\nJVM stacktrace:\nat x") == "[Y] bad"
    stack = 'Traceback (most recent call last):\n  File "w.py", line 1, in f\nValueError: no\n'
    assert shorten_engine_message(f"\n An exception was thrown:\n{stack}") == (
        "An exception was thrown:\nValueError: no"
    )


FRAMES = 'Traceback (most recent call last):\n  File "w.py", line 1, in f\n    f(x)\n    ^^^^\n'


@pytest.mark.parametrize("end", ["", "\n", "\n\nJVM stacktrace:\norg.X\n\tat a.B$c(D.scala:1)\n"])
def test_all_lines_of_a_workers_error_are_shown(end: str) -> None:
    error = "ValueError: row 3 is wrong:\nexpected 1\n  got 2\n\nin all"
    assert shorten_engine_message(f"thrown:\n{FRAMES}{error}{end}") == f"thrown:\n{error}"


@pytest.mark.parametrize(
    "sentence",
    [
        "The above exception was the direct cause of the following exception:",
        "During handling of the above exception, another exception occurred:",
    ],
)
def test_the_causes_of_a_workers_error_are_not_shown(sentence: str) -> None:
    cause = f"{FRAMES}KeyError: 1\n  2\n\n{sentence}\n\n"
    text = f"thrown:\n{cause}{cause}{FRAMES}ValueError: no\nreally"
    assert shorten_engine_message(text) == "thrown:\nValueError: no\nreally"


@pytest.mark.parametrize(
    "stack",
    [
        "\n\tat org.apache.Foo.<init>(Foo.scala:1)\n\tat a.B(C)",
        "\n\n\tat java.base/java.lang.Thread.run(Thread.java:833)\n",
        "\n\nJVM stacktrace:\nfoo",
    ],
)
def test_a_stack_of_java_is_not_shown(stack: str) -> None:
    assert shorten_engine_message(f"bad\nrow{stack}") == "bad\nrow"
    assert shorten_engine_message(f"{FRAMES}ValueError: no\nrow{stack}") == "ValueError: no\nrow"


@pytest.mark.parametrize(
    "plan",
    [
        "'UnresolvedRelation [t], [], false",
        "'GlobalLimit 3\n+- 'LocalLimit 3\n   +- OneRowRelation\n",
        "Aggregate [b#9], [a#8]\n+- OneRowRelation",
        "Filter (scalar-subquery#19 [] = x\ny)\n:  +- Project [2 AS 2#21]\n+- OneRowRelation",
        "'Union false, false\n:- Project [1 AS 1#1]\n+- Project [1 AS 1#2]",
        "!Project [a#1]\n+- OneRowRelation",
        "Relation spark_catalog.default.t[a#1] parquet",
    ],
)
def test_a_plan_of_spark_is_not_shown(plan: str) -> None:
    assert shorten_engine_message(f"[X] no `t`;\n{plan}") == "[X] no `t`"
    assert shorten_engine_message(f"[X] no `t`;\n{plan}\n\nJVM stacktrace:\nat x") == "[X] no `t`"


@pytest.mark.parametrize(
    "text",
    [
        "first\nsecond line\n+ more",
        "cannot cast\n'abc' to int. Use try_cast",
        "bad;\n'Abc' is no number",
        "wrong rows:\nRows [1, 2]",
        "wrong;\nrow 2\n  at 12:00 (noon)",
    ],
)
def test_lines_that_only_look_like_a_plan_or_a_stack_are_shown(text: str) -> None:
    assert shorten_engine_message(text) == text


@pytest.mark.slow
def test_the_demo_draws_its_matches(tmp_path: Path) -> None:
    result = run_program(tmp_path, "demo", "--output", "demo.pdf")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "demo.pdf").read_bytes().startswith(b"%PDF")
    written, _, advice, command = result.stdout.splitlines()[-4:]
    assert written == f"picture written to {tmp_path / 'demo.pdf'}"
    assert advice == "To run the query again:"
    assert command.endswith("stocks.csv")


def test_the_demo_suggests_short_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["matchrec"])
    monkeypatch.chdir(str(demonstrating.DATA))
    assert demonstrating.suggest_next_command().splitlines() == [
        "To run the query again:",
        "matchrec run v_shapes.sql --table stocks=stocks.csv",
    ]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sql_examples" / "data").mkdir(parents=True)
    (tmp_path / "sql_examples" / "v_shapes.sql").touch()
    (tmp_path / "sql_examples" / "data" / "stocks.csv").touch()
    assert demonstrating.suggest_next_command().splitlines() == [
        "To run the query for 2007 to 2013:",
        "matchrec run sql_examples/v_shapes.sql --table stocks=sql_examples/data/stocks.csv",
    ]
