"""Messages of the command line say what to write in a shell, and nothing about Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.quick.embedded import invoke_failing
from tests.unit.cli.conftest import STREAKS

TABLE = ("--table", "t=prices.csv")
BRACES = STREAKS.replace("price > PREV(price)", "price > {low}")
PATTERN = "import matchrec\npattern = matchrec.Pattern.begin('a').where('price > 1')\n"


@pytest.mark.parametrize(
    ("query", "arguments", "code", "message"),
    [
        (BRACES, ("--arg", "low=3"), 1, "note: --arg has: low\n  help: write :low\n"),
        (BRACES, (), 1, "help: write :low, and pass --arg low=VALUE\n"),
        ("SELECT * FROM {t}", (), 1, "help: write t without braces, and pass --table t=FILE\n"),
        ("SELECT 1 / 0 AS x", (), 3, "or pass --conf spark.sql.ansi.enabled=false\n"),
        (STREAKS, ("--between", "a"), 2, "`--between` has fewer than 2 values"),
        (STREAKS, ("--plot", "a.svg", "--x", "ts", "--y", "prise"), 2, "`prise` in `--y` ["),
    ],
)
def test_a_mistake_in_run(
    query: str, arguments: tuple[str, ...], code: int, message: str, embedded: Path
) -> None:
    assert message in invoke_failing("run", "-", *TABLE, *arguments, stdin=query, code=code)


def test_a_result_that_a_pattern_does_not_have(embedded: Path) -> None:
    (embedded / "p.py").write_text(PATTERN)
    message = invoke_failing("run", "p.py", *TABLE, "--order-by", "ts", "--result", "graph", code=2)
    assert message.startswith("matchrec: error: unknown value `graph` for `--result` [")


def test_sase_that_transpile_reads_as_sql(embedded: Path) -> None:
    message = invoke_failing("transpile", "-c", "PATTERN SEQ(A a)", "--write", "trino", code=1)
    assert "a text of SASE+ is read as SQL [sase-read-as-sql]" in message
    assert message.endswith("help: write --read sase\n")


def test_a_query_without_quotes_is_recognized(embedded: Path) -> None:
    for words in (("SELECT", "1"), ("select", "*", "from", "t")):
        message = invoke_failing("run", *words, code=2)
        assert message.endswith("help: put the text of a query in quotes, after -c\n")
