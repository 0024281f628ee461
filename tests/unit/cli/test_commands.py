"""Commands: their output, their messages and their exit codes."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import warnings
from pathlib import Path
from typing import NoReturn, get_args

import click
import pandas as pd
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from matchrec.__main__ import main
from matchrec.arguments import Algorithm, DialectName, TargetDialect
from matchrec.cli import files, queries, running
from matchrec.cli.argument_types import WholeNumber
from matchrec.cli.query_command import QueryCommand, format_program_name, write_other_command
from matchrec.dialects.products import PRODUCTS
from matchrec.search.strategies import ALGORITHMS
from tests.quick.embedded import invoke, invoke_failing
from tests.unit.cli.conftest import STREAKS

pytestmark = pytest.mark.one_of(4)

STOCKS = ("--table", "t=prices.csv")


def test_a_table_has_twenty_rows_or_the_limit(embedded: Path) -> None:
    one_row = invoke("run", "-", *STOCKS, "--limit", "1", stdin=STREAKS + " ORDER BY sym")
    assert one_row.exit_code == 0
    assert one_row.stdout.splitlines() == ["sym  low  high  n", "X     10    12  3"]
    assert "showing" not in one_row.stderr
    twenty_rows = invoke("run", "-", stdin="SELECT id FROM range(21)")
    assert len(twenty_rows.stdout.splitlines()) == 1 + 20
    message = "showing 20 rows; --limit N shows more, --output FILE writes all\n"
    assert twenty_rows.stderr.endswith(message)  # after a notice if a search is compiled


@pytest.mark.parametrize("suffix", ["parquet", "csv", "json"])
def test_run_writes_one_file_in_order(suffix: str, embedded: Path) -> None:
    (embedded / "t.json").write_text('[{"k": "b", "n": 1},\n {"k": "a", "n": null}]')
    query = "SELECT k, n FROM t ORDER BY k"
    result = invoke("run", "-", "--table", "t=t.json", "--output", f"rows.{suffix}", stdin=query)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"2 rows written to rows.{suffix}\n"
    read = {"parquet": pd.read_parquet, "csv": pd.read_csv, "json": read_json_lines}[suffix]
    assert list(read(embedded / f"rows.{suffix}")["k"]) == ["a", "b"]


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_file_has_all_rows_of_a_large_result(suffix: str, embedded: Path) -> None:
    query = "SELECT id FROM range(200000) ORDER BY id DESC"
    result = invoke("run", "-", "--output", f"rows.{suffix}", stdin=query)
    assert result.stderr == f"200,000 rows written to rows.{suffix}\n"
    read = {"parquet": pd.read_parquet, "csv": pd.read_csv}[suffix]
    falling = list(range(199_999, -1, -1))
    assert list(read(embedded / f"rows.{suffix}")["id"]) == falling
    printed = invoke("run", "-", "--format", "jsonl", "--limit", "50000", stdin=query).stdout
    assert [json.loads(line)["id"] for line in printed.splitlines()] == falling[:50_000]


def read_json_lines(path: Path) -> pd.DataFrame:
    """Return the rows of a file with one JSON object a line."""
    return pd.read_json(path, lines=True)


def test_parameters_and_settings_reach_the_query(embedded: Path) -> None:
    query = "SELECT :n + 1 AS n, :s AS s, :d AS d, current_timezone() AS zone, :none AS none"
    parameters = ["n=41", "s=O'Hara, 1%", "d=DATE'2026-01-31'", "none=null"]
    arguments = [word for parameter in parameters for word in ("--arg", parameter)]
    zone = ("--conf", "spark.sql.session.timeZone=Asia/Tokyo")
    result = invoke("run", "-", "--format", "jsonl", *arguments, *zone, stdin=query)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == {
        "n": 42,
        "s": "O'Hara, 1%",
        "d": "2026-01-31",
        "zone": "Asia/Tokyo",
        "none": None,
    }


def test_a_parameter_is_a_bound_of_the_pattern(embedded: Path) -> None:
    query = STREAKS.replace("UP+", "UP{:n,}")
    result = invoke("run", "-", *STOCKS, "--format", "csv", "--arg", "n=2", stdin=query)
    assert result.stdout.splitlines() == ["sym,low,high,n", "X,10,12,3"]


def test_a_parameter_is_an_interval(embedded: Path) -> None:
    """Rows are one second apart, and a match ends before the interval does."""
    clause = """ORDER BY at MEASURES COUNT(*) AS n PATTERN (A+) WITHIN {} DEFINE A AS ts > 0"""
    rows = "(SELECT timestamp_seconds(ts) AS at, ts FROM t WHERE sym = 'X')"
    query = f"SELECT * FROM {rows} MATCH_RECOGNIZE ({clause})"
    arguments = ("run", "-", *STOCKS, "--format", "csv", "--arg")
    for gap in ("2 SECONDS", "INTERVAL '2' SECOND", "interval 2 seconds"):
        for within in (":gap", "INTERVAL :gap"):
            result = invoke(*arguments, f"gap={gap}", stdin=query.format(within))
            assert result.stdout.splitlines() == ["n", "2", "1"], result.stderr
    result = invoke(*arguments, "gap=2", stdin=query.format("INTERVAL :gap SECOND"))
    assert result.stdout.splitlines() == ["n", "2", "1"], result.stderr
    query = f"SELECT * FROM {rows} MATCH_RECOGNIZE ({clause.replace('ts > 0', 'at < :gap')})"
    assert "length of time" in invoke_failing(*arguments, "gap=soon", stdin=query.format(":gap"))
    added = query.format("'1 day'").replace("at < :gap", "at < FIRST(at) + :gap")
    message = invoke_failing(*arguments, "gap=10 minutes", stdin=added, code=1)
    assert message.endswith("  help: pass --arg gap=\"INTERVAL '10' MINUTE\"\n")
    assert invoke(*arguments, "gap=INTERVAL '10' MINUTE", stdin=added).exit_code == 0


def test_explain_prints_what_it_counts_and_writes_the_automaton(embedded: Path) -> None:
    result = invoke("explain", "streaks.sql", *STOCKS, "--analyze", "--dot", "nfa.dot")
    assert result.exit_code == 0, result.stderr
    assert "A UP+" in result.stdout
    counters = result.stdout.partition("counters of the last execution\n")[2].split("\n")
    assert [line.split() for line in counters[:3]] == [
        ["events", "6"],
        ["partitions", "2"],
        ["matches", "2"],
    ]
    assert (embedded / "nfa.dot").read_text().startswith("digraph")


def test_why_and_coverage_print_and_draw(embedded: Path) -> None:
    arguments = ("why", "streaks.sql", *STOCKS, "--partition", "sym=Y", "--row", "1")
    why = invoke(*arguments, "--picture", "why.svg")
    assert why.exit_code == 0, why.stderr
    assert "4 > 5" in why.stdout
    assert "<svg" in (embedded / "why.svg").read_text()
    coverage = invoke(
        "coverage",
        "streaks.sql",
        *STOCKS,
        "--clause",
        "1",
        "--sort",
        "worker",
        "--picture",
        "far.svg",
    )
    assert coverage.exit_code == 0, coverage.stderr
    assert "A UP+" in coverage.stdout
    # X: 10 11 12 is a match. Y: 5 is not followed by a rise, 4 9 is a match.
    assert invoke("coverage", "streaks.sql", *STOCKS, "--format", "csv").stdout.splitlines() == [
        "clause,occurrence,variable,rows,reached,stopped,stop_reason,stopped_for_reason",
        "1,0,,0,3,0,,0",
        "1,1,A,1,3,1,UP's condition was not true,1",
        "1,2,UP,1,2,0,,0",
    ]
    assert "<svg" in (embedded / "far.svg").read_text()


def test_a_table_of_coverage_has_all_reasons(embedded: Path) -> None:
    """Rows 1 of X and Y have no UP in the window and no UP; rows 9 of X and 2 of Y are the last."""
    (embedded / "prices.csv").write_text("sym,ts,price\nX,1,10\nX,9,11\nY,1,5\nY,2,4\n")
    query = STREAKS.replace("(A UP+)", "(A UP) WITHIN 5")
    shown = invoke("coverage", "-", *STOCKS, "--format", "json", stdin=query).stdout
    rows = [tuple(row.values()) for row in json.loads(shown)]
    assert rows[0] == (1, 0, None, 0, 4, 0, None, 0)
    assert rows[1] == (1, 1, "A", 1, 4, 4, "the partition ended before UP", 2)
    assert sorted(rows[2:4]) == [
        (1, 1, "A", 1, 4, 4, "UP's condition was not true", 1),
        (1, 1, "A", 1, 4, 4, "the window ended before UP", 1),
    ]
    assert rows[4:] == [(1, 2, "UP", 1, 0, 0, None, 0)]


def test_why_says_how_long_the_window_is(embedded: Path) -> None:
    del embedded
    query = STREAKS.replace("(A UP+)", "(A UP{2}) WITHIN 2").replace("price >", "price + 9 >")
    output = invoke("why", "-", *STOCKS, "--partition", "sym=X", "--limit", "1", stdin=query).stdout
    assert output.startswith("PATTERN (A UP{2}) WITHIN 2\n")
    outside = "row 3 (ts = 3) is outside the window of row 1 (ts = 1), WITHIN 2\n"
    assert output.endswith(f"then it needed a row for UP, but {outside}")


@pytest.mark.parametrize(
    ("partition", "keys", "hint"),
    [
        ("X", "sym", "--partition sym=X"),
        ("sym", "sym", "--partition sym=VALUE"),
        ("=", "sym", "--partition sym=VALUE"),
        ("a b", "sym, `a day`", "--partition 'sym=a b' --partition 'a day=VALUE'"),
        ("X", "", "--partition X=VALUE, or --partition NAME=X if X is the value"),
    ],
)
def test_a_partition_without_a_name_is_rejected(
    embedded: Path, partition: str, keys: str, hint: str
) -> None:
    partition_by = f"PARTITION BY {keys} " if keys else ""
    query = (
        f"SELECT * FROM t MATCH_RECOGNIZE ({partition_by}ORDER BY ts PATTERN (A) DEFINE A AS 1=1)"
    )
    arguments = ("why", "-", *STOCKS, "--partition", partition)
    assert invoke_failing(*arguments, stdin=query, code=2) == (
        f"matchrec: error: wrong value of `--partition`: `{partition}` is not NAME=VALUE"
        f" [malformed-setting]\n  help: write {hint}\n"
    )


def test_a_partition_is_named_by_an_equivalence_test(embedded: Path) -> None:
    query = "PATTERN SEQ(a x, b y) WHERE skip_till_next_match { [gate] } WITHIN 10"
    arguments = ("why", "-", "--language", "sase", *STOCKS, "--order-by", "ts", "--partition", "A1")
    message = invoke_failing(*arguments, stdin=query, code=2)
    assert message.endswith("  help: write --partition gate=A1\n")
    message = invoke_failing(
        *arguments[:-1], "gate=1", "--partition", "gate=2", stdin=query, code=2
    )
    assert message == (
        "matchrec: error: `--partition` has `gate` twice [repeated-name]\n"
        "  help: write --partition gate=... once\n"
    )


def test_backtest_prints_hits_and_misses_and_draws_them(embedded: Path) -> None:
    (embedded / "labels.csv").write_text("sym,begins,ends\nX,1,2\nZ,1,9\n")
    labels = ("--table", "labels=labels.csv", "--labels", "labels")
    arguments = ("--start", "begins", "--end", "ends", "--key", "sym", "--picture", "hits.svg")
    result = invoke("backtest", "streaks.sql", *STOCKS, *labels, *arguments)
    assert result.exit_code == 0, result.stderr
    assert "2 incidents: 1 hit, 1 missed" in result.stdout
    assert "1 no row has this key" in result.stdout
    assert "<svg" in (embedded / "hits.svg").read_text()


def test_a_column_of_labels_that_is_not_there(embedded: Path) -> None:
    (embedded / "labels.csv").write_text("sym,begins,ends\nX,1,2\n")
    labels = ("--table", "labels=labels.csv", "--labels", "labels")
    arguments = ("--start", "begin", "--end", "ends")
    assert invoke_failing("backtest", "streaks.sql", *STOCKS, *labels, *arguments, code=2) == (
        "matchrec: error: unknown column `begin` in `--start` [unknown-label-column]\n"
        "  note: the incidents in `--labels` have: sym, begins, ends\n"
        "  help: write --start begins\n"
    )


def test_a_table_of_labels_that_does_not_exist(embedded: Path) -> None:
    (embedded / "incidents.csv").write_text("sym,begins,ends\nX,1,2\n")
    labels = ("--table", "incidents=incidents.csv", "--labels", "incident")
    arguments = ("--start", "begins", "--end", "ends")
    message = invoke_failing("backtest", "streaks.sql", *STOCKS, *labels, *arguments)
    assert message.startswith(
        "matchrec: error: wrong value of `--labels`: unknown table or view `incident`"
        " [unknown-table]\n  note: the tables are: "
    )
    assert message.endswith("  help: write incidents, or pass --table incident=FILE\n")


def test_sweep_prints_a_row_for_each_value_and_draws_them(embedded: Path) -> None:
    clause = "PARTITION BY sym ORDER BY ts PATTERN (UP{:n,}) DEFINE UP AS price > PREV(price)"
    arguments = ("--events", "t", "--grid", "n=1,2", "--picture", "grid.svg")
    result = invoke("sweep", "-", *STOCKS, *arguments, stdin=clause)
    assert result.exit_code == 0, result.stderr
    lines = [line.split()[:4] for line in result.stdout.splitlines()]
    assert lines == [["n", "matches", "partitions", "rows"], list("1223"), list("2112")]
    assert "<svg" in (embedded / "grid.svg").read_text()
    assert invoke("sweep", "-", *STOCKS, *arguments[2:], stdin=clause).stdout == result.stdout
    oracle_result = invoke("sweep", "-", *STOCKS, *arguments, "--dialect", "oracle", stdin=clause)
    assert oracle_result.stdout == result.stdout


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        ("- --grid n", "NAME=VALUE", 2),
        ("- --grid 1n=3", "`1n` is not a parameter name", 2),
        ("- --grid n=1..3", "write --grid n=1,2,3", 2),
        ("- --grid n=-1..9", "write --grid n=-1,0,1,...", 2),
        ("- --grid n=3 --grid n=4", "`--grid` has `n` twice [repeated-name]\n  help: write all", 2),
        ("- --grid n=3,x", "must be a whole number from 0 to 2,147,483,647, but is 'x'", 2),
        ("- --grid m=3", "has no parameter `:m`", 2),
        ("up.sase --grid n=3", "SASE+ is not supported by this command", 2),
        ("- --grid n=3,,4", "missing value in `n=3,,4` [missing-candidate]\n  help: write --g", 2),
        ("- --grid n=", "write --grid n=VALUE,VALUE, or '' for an empty string", 2),
        ("-c PATTERN(A) --table u=prices.csv --grid n=3", "missing `--events` for a clause", 2),
        ("-c PATTERN(A) --table u=prices.csv --grid n=3", "write --events t or --events u\n", 2),
        ("-c (SELECT(1)) --grid n=3", "a whole query is not supported by this command", 2),
        ("--grid n=3", "missing clause [missing-query]", 2),
    ],
)
def test_a_wrong_sweep_is_rejected(embedded: Path, words: str, message: str, code: int) -> None:
    del embedded
    clause = "ORDER BY ts PATTERN (UP{:n,}) DEFINE UP AS price > PREV(price)"
    stdin = clause if words.startswith("-") and "-c" not in words else None
    assert message in invoke_failing("sweep", *STOCKS, *words.split(), stdin=stdin, code=code)


def test_a_clause_without_a_table_is_rejected() -> None:
    message = invoke_failing("sweep", "-c", "PATTERN (A{:n})", "--grid", "n=3")
    assert message == (
        "matchrec: error: missing `--table` for a clause [missing-option]\n"
        "  help: write --table NAME=PATH\n"
    )


def test_advice_is_in_words_of_a_shell(embedded: Path) -> None:
    del embedded
    arguments = ("-c", "PATTERN SEQ(A a, B b)", *STOCKS)
    assert "add --language sase" in invoke_failing("run", *arguments)
    assert "the query is empty" in invoke_failing("run", "-c", " ")
    lagging = STREAKS.replace("PREV(price)", "LAG(price)")
    message = invoke_failing("run", "-", *STOCKS, stdin=lagging, code=1)
    assert message.endswith("write PREV(price), or pass --dialect snowflake\n")
    rare = STREAKS.replace("> PREV(price)", "> PREV(price) + 1000")
    message = invoke("coverage", "-", *STOCKS, stdin=rare).stdout
    assert "matchrec why - --table t=prices.csv --partition sym=" in message
    assert "write one value, of `ts`" in invoke_failing(
        "why",
        "-",
        *STOCKS,
        *["--row", "1", "--row", "2", "--row", "3", "--partition", "sym=a"],
        stdin=rare,
        code=2,
    )


PYTHON_TERMS = re.compile(
    r"DataFrame|spark\.(read|sql)|f-string|args|Options\(|query\.|matchrec\.\w+\(|labels\.|the call"
)
SKIPPING = STREAKS.replace("DEFINE", "SKIP TILL NEXT MATCH DEFINE")

# Mistakes whose advice for Python names things that a shell does not have: the command, the query,
# and the advice for a shell.
MISTAKES = [
    ("run", STREAKS.replace("FROM t", "FROM {t}"), "write t without braces, and pass --table t="),
    ("run", STREAKS.replace("FROM t", "FROM prices.csv"), "write the path of a file in quotes"),
    ("run", STREAKS.replace("FROM t", "FROM csv.`prices.csv`"), "or pass --table NAME=FILE"),
    ("run --no-header", STREAKS, "has the names, leave out --no-header"),
    ("run", f"INSERT INTO nowhere {STREAKS}", "make the table first: CREATE TABLE nowhere AS"),
    ("run", "INSERT INTO db.runs SELECT 1 AS x", "make the table first: CREATE TABLE db.runs AS"),
    ("run", STREAKS.replace("FROM t", "FROM read_csv('prices.csv')"), "pass --table NAME=FILE"),
    ("run", STREAKS.replace("UP+", "UP{{3,}}"), "help: write {3,}\n"),
    ("run", STREAKS.replace("UP+", "UP(3,)"), "help: write UP{3,}\n"),
    ("run", STREAKS.replace("UP+", "UP3"), "write UP{3} for 3 rows, or add UP to PATTERN"),
    ("run", STREAKS.replace("PREV(price)", "?"), "positional parameter `?` has no value"),
    ("run", STREAKS.replace("PREV(price)", ":low"), "pass --arg low=VALUE"),
    ("run", STREAKS.replace("PREV(price)", "own_score(price)"), "run the query from Python, after"),
    ("run", STREAKS.replace("*", "own_score(low)", 1), "run the query from Python, after"),
    ("run", f"CREATE GLOBAL TEMPORARY VIEW v AS {STREAKS}", "write CREATE TEMPORARY VIEW without"),
    ("run", f"BEGIN {STREAKS}; END", "write the statements one after the other, without BEGIN"),
    ("run", f"EXECUTE IMMEDIATE '{STREAKS}'", "pass --arg for the values of USING"),
    ("run", f"{STREAKS} LIMIT -1", "write a whole number of rows, 0 or more"),
    ("run", STREAKS.replace("SELECT", "SELEC"), "help: write SELECT\n"),
]


# Mistakes in the values of options, which only the query or the data shows.
WRONG_VALUES = [
    ("run --max-steps 9", SKIPPING, "leave out --max-steps, and write WITHIN"),
    ("backtest --labels t --start sym --end ts", STREAKS, "in a statement before the query"),
    ("why --partition symb=X", STREAKS, "unknown column `symb` in `--partition`"),
    ("why --partition sym=X --row 1 --row 2", STREAKS, "`--row` has 2 values"),
    ("run --plot p.png --x prise --y price", STREAKS, "unknown column `prise` in `--x`"),
    ("run --sort ranges", STREAKS, "the partitions of this query cannot be cut into ranges"),
    ("run --aggregate n=foo(n)", STREAKS, "`foo(n)` is not an aggregate over matches"),
    ("run --aggregate n=sum(m)", STREAKS, "unknown measure `m`"),
    (
        "run --arg n=x",
        STREAKS.replace("UP+", "UP{:n}"),
        "must be a whole number from 0 to 2,147,483,647, but is 'x' [parameter-not-a-number]",
    ),
    (
        "run --arg n=x",
        STREAKS.replace("DEFINE", "WITHIN :n DEFINE"),
        ":n in WITHIN needs a length of time, not 'x' [not-a-duration]",
    ),
    (
        "run --language sase --order-by tss",
        "PATTERN SEQ(ANY a, ANY b)",
        "unknown column `tss` in --order-by",
    ),
    (
        "run --language sase --order-by ts+",
        "PATTERN SEQ(ANY a, ANY b)",
        "the expression in --order-by is not complete",
    ),
    (
        "run --language sase --order-by ts --events u",
        "PATTERN SEQ(ANY a, ANY b)",
        "wrong value of `--events`: unknown table or view `u` [unknown-table]",
    ),
    (
        "sweep --grid n=x",
        "ORDER BY ts PATTERN (A{:n}) DEFINE A AS price > 3",
        "is 'x' [parameter-not-a-number]",
    ),
    (
        "sweep --grid n=x",
        "ORDER BY ts PATTERN (A) WITHIN :n DEFINE A AS price > 3",
        "help: pass --grid n='10 minutes,1 hour'",
    ),
    (
        "sweep --grid n=3 --events u",
        "ORDER BY ts PATTERN (A{:n}) DEFINE A AS price > 3",
        "wrong value of `--events`: unknown table or view `u` [unknown-table]",
    ),
]


@pytest.mark.parametrize(("command", "query", "message"), WRONG_VALUES)
def test_a_wrong_value_of_an_option_has_one_exit_code(
    embedded: Path, command: str, query: str, message: str
) -> None:
    del embedded
    name, *options = command.split()
    shown = invoke_failing(name, "-", *STOCKS, *options, stdin=query, code=2)
    assert message in shown
    assert not PYTHON_TERMS.search(shown), shown
    assert "of type str" not in shown
    assert "the session" not in shown


def test_a_file_without_names_needs_an_option(embedded: Path) -> None:
    (embedded / "rows.csv").write_text("X,1,10\nX,2,11\n")
    message = invoke_failing("run", "-", "--table", "t=rows.csv", stdin=STREAKS, code=1)
    assert "note: the input has: X, 1, 10\n" in message
    assert "is a row, pass --no-header, and write _c0, _c1, ...\n" in message


@pytest.mark.parametrize(("command", "query", "advice"), MISTAKES)
def test_no_advice_is_in_words_of_python(
    embedded: Path, command: str, query: str, advice: str
) -> None:
    name, *options = command.split()
    query = query.replace("csv.`", f"csv.`{embedded}/")  # Java has another working folder
    result = invoke(name, "-", *STOCKS, *options, stdin=query)
    assert result.exit_code == 1
    assert advice in result.stderr
    assert not PYTHON_TERMS.search(result.stderr), result.stderr
    assert "engine-failed" not in result.stderr


@pytest.mark.parametrize(
    ("value", "reason", "advice"),
    [
        ("n / (n - n)", "division by zero", "write NULLIF(..., 0) around the divisor"),
        (
            "element_at(array(n), CAST(n - n AS INT))",
            "index 0 is not allowed",
            "write 1 for the first element",
        ),
        ("CAST(sym AS INT)", "cast", "write TRY_CAST(... AS INT), which is NULL for such a value"),
    ],
)
def test_a_value_around_the_clause_that_cannot_be_computed(
    embedded: Path, value: str, reason: str, advice: str
) -> None:
    del embedded
    query = f"SELECT {value} AS x FROM ({STREAKS})"
    result = invoke("run", "-", *STOCKS, stdin=query)
    assert result.exit_code == 3
    headline, *_, last = result.stderr.strip().split("\n")
    assert headline.startswith("matchrec: error: a value of the query cannot be computed: ")
    assert headline.endswith("[value-not-computed]")
    assert reason in headline
    assert last.startswith(f"  help: {advice}")


def test_sase_without_pattern_says_what_is_missing(embedded: Path) -> None:
    """The text is written as SQL, and as SASE+."""
    del embedded
    text = "SEQ(A a, B b) WHERE skip_till_next_match(a, b) { a.x > 1 }"
    as_sql = invoke_failing("run", "-", *STOCKS, stdin=text, code=1)
    assert "missing PATTERN before SEQ" in as_sql
    assert "help: write PATTERN SEQ(...); write --language sase" in as_sql
    sase = ("--language", "sase", "--order-by", "ts")
    assert "help: write PATTERN SEQ(A a, B b)\n" in invoke_failing(
        "run", "-", *STOCKS, *sase, stdin=text, code=1
    )


NOTHING = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (A) DEFINE A AS price > :n)"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (NOTHING, "0 rows; to see how far rows get and what stops them, run\n"),
        ("SELECT * FROM t WHERE price > :n", None),
    ],
)
def test_no_rows_are_explained_at_a_terminal(
    query: str, message: str | None, embedded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (embedded / "all.sql").write_text(query.replace("PATTERN", "ALL ROWS PER MATCH PATTERN"))
    arguments = ("all.sql", *STOCKS, "--arg", "n=100")
    for format_name, notice in (("table", "0 rows\n"), ("markdown", "0 rows\n"), ("csv", "")):
        assert invoke("run", *arguments, "--format", format_name).stderr == notice
    monkeypatch.setattr(running, "is_terminal", lambda: True)
    again = f"matchrec coverage {shlex.join(arguments)}\n"
    result = invoke("run", *arguments, "--sort", "auto")
    assert result.stderr == (f"{message}{again}" if message else "0 rows\n")


def test_other_commands_are_written_with_the_same_arguments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @click.command(cls=QueryCommand)
    @click.argument("query")
    @click.option("--table", "tables", multiple=True)
    def show(query: str, tables: tuple[str, ...]) -> None:
        click.echo(write_other_command("why"))
        click.echo(write_other_command("coverage"))

    monkeypatch.setattr("sys.argv", ["pytest"])
    arguments = ["q.sql", "--table", "a=b.csv"]
    result = CliRunner().invoke(show, arguments, catch_exceptions=False)
    assert result.output.splitlines() == [
        "matchrec why q.sql --table a=b.csv",
        "matchrec coverage q.sql --table a=b.csv",
    ]


def test_a_command_is_written_as_the_program_was_started(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = files / "a folder" / "matchrec"
    started.parent.mkdir()
    started.touch(mode=0o755)
    monkeypatch.setattr("sys.argv", [str(started)])
    assert format_program_name() == f"'{started}'"
    monkeypatch.setenv("PATH", str(started.parent))
    assert format_program_name() == "matchrec"
    monkeypatch.setattr("sys.argv", [str(files / "matchrec" / "__main__.py")])
    assert format_program_name().endswith(" -m matchrec")


def test_an_address_without_a_server_is_rejected() -> None:
    arguments = ("run", "-c", "SELECT 1", "--engine", "sc://localhost:1")
    assert "no server answers at sc://localhost:1" in invoke_failing(*arguments, code=3)
    for address in ("sc://localhost:x", "sc://"):
        assert f"unknown engine `{address}`" in invoke_failing(*arguments[:-1], address, code=2)


def test_a_query_instead_of_its_file_is_recognized(files: Path) -> None:
    del files
    assert "write -c before it" in invoke_failing("run", "SELECT * FROM t", *STOCKS)
    assert "-c" not in invoke_failing("run", "select.sql", *STOCKS)


def test_options_that_events_need_or_forbid_are_named(files: Path) -> None:
    (files / "rises.sase").write_text("PATTERN SEQ(A a, B b) WHERE skip_till_next_match {}")
    assert "missing `--order-by` for SASE+" in invoke_failing("why", "rises.sase", *STOCKS)
    assert "missing `--order-by` for SASE+" in invoke_failing("coverage", "rises.sase", *STOCKS)
    assert "unknown option `--algorithm`" in invoke_failing(
        "coverage", "streaks.sql", *STOCKS, "--algorithm", "auto"
    )
    assert "`--clause` is not allowed for SASE+" in invoke_failing(
        "why", "rises.sase", *STOCKS, "--clause", "1"
    )


@pytest.mark.parametrize(
    ("name", "start"), [("far.png", b"\x89PNG"), ("far.pdf", b"%PDF"), ("far.svg", b"<?xml")]
)
def test_the_suffix_decides_the_format_of_a_picture(
    name: str, start: bytes, embedded: Path
) -> None:
    result = invoke("coverage", "streaks.sql", *STOCKS, "--picture", name)
    assert result.stderr == f"picture written to {name}\n"
    assert (embedded / name).read_bytes().startswith(start)


def test_matplotlib_is_missed_before_an_engine_starts(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del files
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr(queries, "open_local_session", None)
    for command in ("coverage", "why"):
        message = invoke_failing(command, "streaks.sql", *STOCKS, "--picture", "x.png", code=1)
        assert "[missing-matplotlib]" in message


def test_each_clause_has_a_picture(embedded: Path) -> None:
    both = f"{STREAKS.rstrip().rstrip(';')} UNION ALL {STREAKS}"
    assert invoke("explain", "-", *STOCKS, "--picture", "nfa.svg", stdin=both).exit_code == 0
    for name in ("nfa.svg", "nfa.2.svg"):
        assert (embedded / name).read_text().startswith("<svg")


def test_a_mistake_in_the_query_shows_line_and_caret(embedded: Path) -> None:
    query = STREAKS.replace("LAST(price)", "LAST(DOWN.price)")
    assert invoke_failing("run", "-", *STOCKS, stdin=query, code=1) == (
        "matchrec: error: unknown pattern variable `DOWN` in MEASURES [unknown-variable]\n"
        "  line 4, column 38\n"
        "      MEASURES FIRST(price) AS low, LAST(DOWN.price) AS high, COUNT(*) AS n\n"
        "                                         ^^^^\n"
        "  note: PATTERN has: A, UP\n"
        "  help: write price, or add DOWN to PATTERN\n"
    )


def test_a_mistake_in_a_file_shows_the_file(embedded: Path) -> None:
    """Editors and terminals open such a location."""
    mistake = STREAKS.replace("LAST(price)", "LAST(DOWN.price)")
    (embedded / "streaks.sql").write_text(mistake)
    shown = invoke_failing("run", "streaks.sql", *STOCKS, code=1)
    assert shown.splitlines()[1] == "  streaks.sql:4:38"
    view = "CREATE TEMPORARY VIEW one AS SELECT 1 AS n;\n"
    (embedded / "two.sql").write_text(view + mistake)
    assert "\n  two.sql:5:38\n" in invoke_failing("run", "two.sql", *STOCKS, code=1)
    # the engine finds this mistake, and the file has another text than the engine
    query = STREAKS.replace("SELECT *", "SELECT nosuch").replace("FROM t", "FROM 'prices.csv'")
    (embedded / "two.sql").write_text(view.replace("one", "two") + query)
    assert "\n  two.sql:3:8\n" in invoke_failing("run", "two.sql", code=1)
    # the text of -c is in no file
    assert "\n  line 4, column 38\n" in invoke_failing("run", "-c", mistake, *STOCKS, code=1)


def test_a_warning_of_a_file_shows_the_file(embedded: Path) -> None:
    (embedded / "never.sql").write_text(
        STREAKS.replace("price > PREV", "price <> NULL AND price > PREV")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        shown = invoke("run", "never.sql", *STOCKS).stderr
    assert "\n  never.sql:5:32\n" in shown


def test_a_mistake_in_sase_and_in_a_clause_of_a_file_shows_the_file(embedded: Path) -> None:
    (embedded / "pairs.sase").write_text("PATTERN SEQ(A a, B b)\nWHERE a.price > (1")
    shown = invoke_failing("run", "pairs.sase", *STOCKS, "--order-by", "ts", code=1)
    assert "\n  pairs.sase:2:" in shown
    (embedded / "clause.sql").write_text("ORDER BY ts\nPATTERN (A) DEFINE B AS price > :x")
    shown = invoke_failing("sweep", "clause.sql", *STOCKS, "--grid", "x=1,2", code=1)
    assert "\n  clause.sql:2:" in shown


def test_a_traceback_is_shown_on_request(embedded: Path) -> None:
    query = STREAKS.replace("LAST(price)", "LAST(DOWN.price)")
    shown = invoke_failing("run", "-", *STOCKS, "--traceback", stdin=query, code=1)
    assert shown.startswith("Traceback (most recent call last):\n")
    assert (
        "\nmatchrec: error: unknown pattern variable `DOWN` in MEASURES [unknown-variable]\n"
        in shown
    )


def test_a_mistake_in_a_query_without_a_clause_is_explained(embedded: Path) -> None:
    shown = invoke_failing("run", "-", stdin="SELECT * FROM nowhere", code=1)
    assert shown.startswith("matchrec: error: unknown table or view `nowhere` [unknown-table]\n")
    assert "Project [*]" not in shown


@pytest.mark.filterwarnings("ignore::matchrec.warnings.SkipTargetWarning")
@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (
            STREAKS.replace("PATTERN", "AFTER MATCH SKIP TO LAST A PATTERN").replace(
                "A UP", "A+ UP"
            ),
            "AFTER MATCH SKIP",
        ),
        ("SELECT raise_error('no such ' || sym) FROM t", "no such X"),
    ],
)
def test_a_mistake_that_only_rows_show_is_a_failure(
    query: str, sentence: str, embedded: Path
) -> None:
    shown = invoke_failing("run", "-", *STOCKS, stdin=query, code=3)
    assert sentence in shown
    assert "Traceback" not in shown
    assert "\tat " not in shown


def test_a_warning_is_a_notice(embedded: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        result = invoke("run", "-", *STOCKS, stdin=STREAKS.replace("ORDER BY ts", ""))
    assert result.exit_code == 0
    assert result.stderr.startswith(
        "matchrec: warning: MATCH_RECOGNIZE has no ORDER BY [NoOrderWarning]\n  line 4, column 3\n"
    )
    assert ".py" not in result.stderr


def test_warnings_are_ignored_by_name(embedded: Path) -> None:
    unsorted = STREAKS.replace("ORDER BY ts", "")
    (embedded / "many.sql").write_text(f"SELECT 1; {unsorted}")
    for command in (("run", "-"), ("run", "many.sql"), ("check", "-", "--strict")):
        words = (*command, *STOCKS, "--ignore", "TiesWarning", "--ignore", "NoOrderWarning")
        result = invoke(*words, stdin=unsorted)
        assert (result.exit_code, result.stderr) == (0, "")
    message = invoke_failing("check", "many.sql", "--ignore", "NoOrder")
    assert "unknown value `NoOrder` for `--ignore` of `matchrec check`" in message
    assert message.endswith("  help: write --ignore NoOrderWarning\n")


def test_two_columns_with_one_name_are_only_for_csv(embedded: Path) -> None:
    query = "SELECT 1 AS a, 2 AS a"
    shown = invoke_failing("run", "-", "--format", "json", stdin=query, code=1)
    assert "the result has two columns named `a`" in shown
    assert invoke("run", "-", "--format", "csv", stdin=query).stdout == "a,a\n1,2\n"
    shown = invoke_failing("run", "-", "--output", "a.parquet", stdin=query, code=1)
    assert "but a Parquet file allows each name only once" in " ".join(shown.split())


def test_a_query_that_is_not_there() -> None:
    assert "the query file `no.sql` does not exist" in invoke_failing("run", "no.sql")


def test_a_file_of_rows_instead_of_the_query_is_recognized(files: Path) -> None:
    message = invoke_failing("run", "prices.csv")
    assert "`prices.csv` is a file of rows, but a query is needed" in message
    assert "--table prices=prices.csv" in message
    assert "--table events=2.json.gz" in invoke_failing("why", "2.json.gz")


def test_a_query_that_is_no_text(files: Path) -> None:
    (files / "q.sql").write_bytes(b"\xff\xfe\x00")
    assert "is not a text file in UTF-8" in invoke_failing("run", "q.sql")


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        ("prices.csv", "`prices.csv` is not NAME=PATH"),
        ("=prices.csv", "`=prices.csv` is not NAME=PATH"),
        ("a b=prices.csv", "`a b=prices.csv` is not NAME=PATH"),
        ("t=no.csv", "the file `no.csv` of table `t` does not exist"),
        ("t=streaks.sql", "unknown format of `streaks.sql`"),
    ],
)
def test_a_table_argument_that_is_wrong(argument: str, sentence: str, files: Path) -> None:
    assert sentence in invoke_failing("run", "streaks.sql", "--table", argument)


def test_a_table_that_is_named_twice(files: Path) -> None:
    twice = invoke_failing("run", "streaks.sql", *STOCKS, "--table", "T=prices.csv")
    assert "two tables are named `T` [duplicate-table]\n  help: give one of them" in twice
    assert "--table T='T-*.csv'" in twice


@pytest.mark.parametrize(
    ("option", "file", "sentence"),
    [
        ("--output", "rows.xlsx", "unknown format of `rows.xlsx`"),
        ("--output", "rows.xlsx", "help: write rows.parquet\n"),
        ("--output", "no/such/rows.csv", "the folder of `no/such/rows.csv` does not exist"),
    ],
)
def test_a_file_that_cannot_be_written(option: str, file: str, sentence: str, files: Path) -> None:
    assert sentence in invoke_failing("run", "streaks.sql", option, file)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("dance",), "unknown command `dance` [unknown-command]\n  help: matchrec --help lists"),
        (("chek", "-"), "help: write matchrec check"),
        (("convert", "-"), "help: write matchrec transpile"),
        (("run", "-", "--form", "all"), "help: write --result"),
        (("run", "-", "--svg", "x.svg"), "help: matchrec run --help lists the options"),
        (("why", "-", "--svg", "x.svg"), "help: write --picture"),
        (
            ("version",),
            "unknown command `version` [unknown-command]\n  help: write matchrec --version",
        ),
        (("run", "-", "--tabel", "t=t.csv"), "unknown option `--tabel` of `matchrec run`"),
        (("run", "-", "--tabel", "t=t.csv"), "help: write --table"),
        (("run", "-", "--master", "local"), "help: write --engine spark --conf spark.master"),
        (("run", "-", "--to", "oracle"), "help: matchrec run --help lists the options"),
        (("run", "-", "--limit"), "`--limit` has no value [option-without-value]"),
        (("run", "-", "t.csv"), "unexpected argument `t.csv` of `matchrec run`"),
        (("run", "-", "t.csv"), "help: write --table t=t.csv"),
        (("run", "-", "t.csv.gz"), "help: write --table t=t.csv.gz"),
        (("run", "-", "q.sql"), "help: remove q.sql: matchrec run takes one query; several"),
        (("why", "-", "q.sql"), "help: remove q.sql: matchrec why takes one query\n"),
        (("sweep", "-", "q.sql", "--grid", "n=1"), "q.sql: matchrec sweep takes one clause\n"),
        (("warm", "q.sql"), "help: remove q.sql: matchrec warm takes only options\n"),
        (("demo", "x.png"), "help: write --output x.png\n"),
        (("run", "SELECT", "1", "AS", "n"), "help: put the text of a query in quotes, after -c\n"),
        (("run", "-c", "SELECT", "1"), "help: put the text after -c in quotes\n"),
        (("sweep", "-c", "", "--grid", "n=1"), "the clause is empty [empty-clause]\n  help:"),
        (("sweep", "-", "--grid", "n"), "help: write --grid n=VALUE,VALUE\n"),
        (("run", "-", "--max-steps", "0"), "help: write a number such as 1000000\n"),
        (("run", "-", "--conf", "spark.x"), "help: write --conf spark.x=VALUE\n"),
        (("run", "-", "--order-by", "ts"), "remove --order-by, and write ORDER BY in the clause\n"),
        (
            ("serve", "--tls-cert", "no.pem"),
            "wrong value of `--tls-cert`: the file `no.pem` does not exist [no-such-file]\n",
        ),
        (("run", "."), "`.` is a folder, but a query is needed [folder-for-query]"),
        (("transpile", "-", "--dialect", "trino"), "help: write --read"),
        (("run", "-", "--read", "trino"), "help: write --dialect"),
        (("sweep", "-"), "missing `--grid` for `matchrec sweep` [missing-option]"),
        (("STREAKS.SQL",), "not a command [not-a-command]\n  help: write matchrec run STREAKS.SQL"),
        (("streaks.sql",), "not a command [not-a-command]\n  help: write matchrec run streaks.sql"),
        (("SELECT 1 FROM t",), "matchrec run -c before the text of a query"),
        (("run",), "missing query [missing-query]\n  help: write the name of its file"),
        (("run", "-", "-c", "SELECT 1"), "there are two queries, `-` and the text of -c"),
        (("run", "-", "--table", "data/b.csv"), "write --table b=data/b.csv"),
        (("run", "-", "--table", "t="), "write --table t=FILE"),
        (("run", "-", "--arg", "5"), "write --arg NAME=5"),
        (("run", "-", "--arg", "n"), "write --arg n=VALUE, or --arg NAME=n if n is the value"),
        (("run", "-f", "q.sql"), "help: write q.sql without -f\n"),
        (("run", "--query", "q.sql"), "help: write q.sql without --query\n"),
        (("run", "--query=q.sql"), "help: write q.sql without --query\n"),
        (("run", "--sql", "SELECT 1"), "help: write -c 'SELECT 1'\n"),
        (("run", "--sql", f"SELECT {'1 + ' * 20}1"), "help: write -c instead of --sql\n"),
        (("run", "--sql", "SELECT 1 -- one\n+ 2"), "help: write -c instead of --sql\n"),
        (("run", "-", "-f", "csv"), "help: write --format\n"),
        (("run", "-", "--query", "q"), "help: matchrec run --help lists the options\n"),
        (("run", "-", "--partition", "a=1"), "note: --partition is an option of matchrec why\n"),
        (("serve", "--port", "abc"), "help: write a number such as 15002\n"),
        (("run", "-", "--limit", "0"), "wrong value of `--limit`: `0` is not a whole number"),
        (("run", "-", "--limit", "2147483647"), "write a number up to 2,147,483,646"),
        (("serve", "--port", "65536"), "write a number up to 65,535"),
        (("serve", "--host", "0.0.0.0"), "--allow-anyone"),
        (("serve", "--tls-key", __file__), "--tls-cert"),
        (("run", "-", "--algorithm", "x"), "unknown value `x` for `--algorithm` of `matchrec run`"),
        (("run", "-", "--dialect", "tirno"), "help: write --dialect trino\n"),
        (("run", "-", "--arg", "n"), "`n` is not NAME=VALUE"),
        (("run", "-", "--arg", ":n=1"), "remove it: --arg n=VALUE"),
        (("run", "-", "--conf", "=1"), "`=1` is not NAME=VALUE"),
        (("backtest", "-", "--labels", "a.csv"), "write --table labels=a.csv --labels labels"),
        (("explain", "-", "--picture", "no/such/nfa.svg"), "the folder of `no/such/nfa.svg`"),
        (("explain", "-", "--picture", "nfa.png"), "known endings: .svg\n  help: write nfa.svg\n"),
        (
            ("why", "-", "--picture", "x.gif"),
            "known endings: .png, .svg, .pdf\n  help: write x.png\n",
        ),
        (("demo", "--output", "x.gif"), "known endings: .png, .svg, .pdf\n  help: write x.png\n"),
        (("run", "-", "--plot", "x"), "known endings: .png, .svg, .pdf\n  help: write x.png\n"),
        (("check", "-", "--sort", "auto"), "unknown option `--sort` of `matchrec check`"),
        (("check", "-", "--algorithm", "auto"), "unknown option `--algorithm` of `matchrec check`"),
        (("check", "-", "--max-steps", "9"), "unknown option `--max-steps` of `matchrec check`"),
    ],
)
def test_arguments_that_are_wrong(arguments: tuple[str, ...], sentence: str) -> None:
    shown = invoke_failing(*arguments)
    assert shown.startswith("matchrec: error: ")
    assert sentence in shown


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (("run", "query.sql", "--arg", ""), ["least=", "gap=", "low="]),
        (("run", "query.sql", "--table", "t=t.csv", "--arg", "least=2", "--arg", "g"), ["gap="]),
        (("run", "-c", "SELECT :n", "--arg", ""), ["n="]),
        (("sweep", "-c", "PATTERN (A{:n,})", "--grid", ""), ["n="]),
        (("run", "nowhere.sql", "--arg", ""), []),
        (("run", "--arg", ""), []),
    ],
)
def test_a_shell_completes_the_parameters_of_the_query(
    typed: tuple[str, ...], offered: list[str], files: Path
) -> None:
    clause = "PATTERN (A{:least,}) WITHIN :gap DEFINE A AS x > :low AND x::INT < :low"
    (files / "query.sql").write_text(f"SELECT * FROM t MATCH_RECOGNIZE ({clause})")
    *before, incomplete = typed
    completions = ShellComplete(main, {}, "matchrec", "").get_completions(before, incomplete)
    assert [completion.value for completion in completions] == offered


@pytest.mark.parametrize("arguments", [(), ("--help",), ("help",), ("help", "help")])
def test_no_command_shows_the_help(arguments: tuple[str, ...]) -> None:
    shown = invoke(*arguments)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert shown.stdout.startswith("Usage: matchrec [OPTIONS] COMMAND [ARGS]...\n")
    assert shown.stdout.count("\n    matchrec ") == 4
    assert "Exit codes:" in shown.stdout


def test_help_before_a_command_shows_its_help() -> None:
    assert invoke("help", "check").stdout == invoke("check", "--help").stdout
    assert "unknown command `chek` [unknown-command]" in invoke_failing("help", "chek")


@pytest.mark.parametrize("name", list(main.commands))
def test_the_help_of_a_command_has_all_of_its_options_in_short_lines(name: str) -> None:
    shown = invoke(name, "--help").output
    for parameter in main.commands[name].params:
        if parameter.param_type_name == "option":
            assert re.search(rf"^  (-h, )?{parameter.opts[-1]}\b", shown, re.MULTILINE), parameter
    descriptions = re.split(r"\n  (?=-)", shown)[1:]
    assert [text for text in descriptions if text.partition("\n\n")[0].count("\n") > 3] == []
    assert shown.endswith("\n  `matchrec --help` lists the exit codes.\n")


def test_type_checkers_know_all_dialects_and_algorithms() -> None:
    assert get_args(DialectName) == tuple(PRODUCTS)
    written = [name for name, product in PRODUCTS.items() if product.is_translation_target]
    assert list(get_args(TargetDialect)) == written
    assert get_args(Algorithm) == ("auto", *ALGORITHMS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "the file `t.json` of table `t` is empty"),
        ("[1, 2]", "is not an array of objects: it is an array of something else"),
        ('[{"k": 1},', "is not an array of objects: Expecting value: line 1 column 11"),
    ],
)
def test_a_json_array_of_no_objects_is_refused(text: str, message: str, embedded: Path) -> None:
    (embedded / "t.json").write_text(text)
    result = invoke("run", "-", "--table", "t=t.json", stdin="SELECT * FROM t")
    assert result.exit_code == 1
    assert message in result.stderr


@pytest.mark.parametrize(
    ("arguments", "headline"),
    [
        (("run", "q.sql"), "the query `q.sql` cannot be read: Permission denied"),
        (
            ("run", "-c", "SELECT * FROM t", "--table", "t=t.csv"),
            "wrong value of `--table`: `t.csv` of table `t` cannot be read: Permission denied",
        ),
    ],
)
def test_a_file_without_permission_is_named(
    embedded: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], headline: str
) -> None:
    """The user `root` may read every file, so the test replaces what opens files."""

    def refuse(path: Path | str, *_: object) -> NoReturn:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    (embedded / "q.sql").write_text("SELECT 1")
    (embedded / "t.csv").write_text("a\n1\n")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    monkeypatch.setattr(files, "open", refuse, raising=False)
    assert headline in invoke_failing(*arguments, code=2)


@pytest.mark.parametrize(
    ("option", "limit"), [("--limit", "2,147,483,646"), ("--max-steps", "999,999,999,999,999,999")]
)
@pytest.mark.parametrize("digit_count", [19, 5000])
def test_a_number_with_too_many_digits_is_rejected(
    option: str, limit: str, digit_count: int
) -> None:
    message = invoke_failing("run", "-c", "SELECT 1", option, "9" * digit_count)
    assert "is too large [number-too-large]" in message
    assert f"write a number up to {limit}" in message


def test_zeros_before_a_number_are_ignored() -> None:
    zeros = "0" * 5000
    assert WholeNumber().convert(f"{zeros}5", None, None) == 5
    assert WholeNumber(least=0).convert(zeros, None, None) == 0
    with pytest.raises(click.BadParameter, match="is not a whole number of 1 or more"):
        WholeNumber().convert("000", None, None)
    with pytest.raises(click.BadParameter, match="is not a whole number of 1 or more"):
        WholeNumber().convert("²", None, None)
