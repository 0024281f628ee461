"""Queries and tables that come through a pipe: standard input, `<(...)` and named pipes."""

from __future__ import annotations

import bz2
import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from threading import Thread

import pandas as pd
import pytest

from tests.quick.embedded import invoke, invoke_failing

pytestmark = pytest.mark.one_of(2)

QUERY = "SELECT * FROM t ORDER BY 1"
CSV = b"k,v\na,1.5\nb,2.5\n"
PRINTED = ["k,v", "a,1.5", "b,2.5"]


def run_over(*options: str, stdin: bytes | None = None) -> list[str]:
    """Return what a query of all rows of a table prints."""
    result = invoke("run", "-c", QUERY, "--format", "csv", *options, stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return result.stdout.splitlines()


@contextmanager
def opened_pipe(content: bytes) -> Iterator[str]:
    """Yield the path of an open pipe with a content, as a shell passes it for `<(...)`."""
    reader, writer = os.pipe()
    os.write(writer, content)
    os.close(writer)
    yield f"/dev/fd/{reader}"
    os.close(reader)


def write_parquet() -> bytes:
    """Return a Parquet file with the rows."""
    file = BytesIO()
    pd.DataFrame({"k": ["a", "b"], "v": [1.5, 2.5]}).to_parquet(file)
    return file.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        CSV,
        b"\xef\xbb\xbf" + CSV,
        CSV.replace(b",", b"\t"),
        gzip.compress(CSV, mtime=0),
        bz2.compress(CSV),
        b'{"k": "a", "v": 1.5}\n{"k": "b", "v": 2.5}\n',
        b'[{"k": "a", "v": 1.5},\n {"k": "b", "v": 2.5}]',
        write_parquet(),
    ],
)
def test_the_first_bytes_of_standard_input_show_its_format(content: bytes, embedded: Path) -> None:
    assert run_over("--table", "t=-", stdin=content) == PRINTED


def test_an_open_file_of_a_shell(embedded: Path) -> None:
    with opened_pipe(CSV) as path:
        assert run_over("--table", f"t={path}") == PRINTED
    with opened_pipe(b"SELECT 1 AS one") as path:
        assert invoke("run", path, "--format", "csv").stdout == "one\n1\n"


def test_a_named_pipe_is_read(embedded: Path) -> None:
    os.mkfifo(embedded / "rows.csv")
    writer = Thread(target=(embedded / "rows.csv").write_bytes, args=[CSV])
    writer.start()
    assert run_over("--table", "t=rows.csv") == PRINTED
    writer.join()


def test_the_format_of_a_pipe_may_be_said(embedded: Path) -> None:
    rows = run_over("--table", "t=-", "--input-format", "csv", stdin=b"{k},v\na,1.5\n")
    assert rows == ["{k},v", "a,1.5"]
    rows = run_over("--table", "t=-", "--input-format", "tsv", stdin=b"a,b\tc\n1\t2\n")
    assert rows == ['"a,b",c', "1,2"]
    rows = run_over("--table", "t=-", "--no-header", "--delimiter", ":", stdin=b"a:b\n")
    assert rows == ["_c0,_c1", "a,b"]


def test_an_error_in_the_rows_of_a_pipe_names_the_pipe(embedded: Path) -> None:
    arguments = ("run", "-c", QUERY, "--table", "t=-")
    empty = invoke_failing(*arguments, stdin="", code=1)
    assert "standard input for table `t` is empty [empty-table]" in empty
    malformed = invoke_failing(*arguments, stdin='{"a": 1}\n{"a": \n', code=1)
    assert "line 2 of standard input for table `t` is not a JSON object" in malformed


def test_a_pipe_is_read_once(files: Path) -> None:
    query_and_rows = invoke_failing("run", "-", "--table", "t=-")
    assert "standard input is read twice" in query_and_rows
    assert "[repeated-pipe]\n  help: write the query or the rows of `t` to a file" in query_and_rows
    two_tables = invoke_failing("run", "-c", QUERY, "--table", "t=-", "--table", "u=/dev/stdin")
    assert "`/dev/stdin` is read twice" in two_tables


def test_a_format_is_only_for_pipes(files: Path) -> None:
    options = ("--table", "t=prices.csv", "--input-format", "csv")
    shown = invoke_failing("run", "-c", QUERY, *options)
    assert "`--input-format` is not allowed without `--table NAME=-`" in shown


def test_a_device_without_a_query_is_rejected() -> None:
    assert "the query is empty [empty-query]" in invoke_failing("run", "/dev/null")


def test_no_advice_repeats_what_was_typed(files: Path) -> None:
    assert "help: write /dev/fd/999\n" not in invoke_failing("run", "/dev/fd/999")


def test_messages_name_standard_input(embedded: Path) -> None:
    del embedded
    words = ("run", "-c", "SELECT * FROM u", "--table=u=-")
    result = invoke(*words, stdin="k\nJörg\n".encode("latin1"))
    assert result.stderr == (
        "matchrec: error: standard input for table `u` is not in UTF-8: see line 2 [not-in-utf8]\n"
        "  help: convert it, if it is in latin1: iconv -f latin1 -t utf-8 | matchrec ...\n"
    )
    message = invoke_failing(*words, stdin="", code=1)
    assert message.startswith("matchrec: error: standard input for table `u` is empty [")
