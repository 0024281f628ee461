"""Attacks on `--output`: strange names, links that lead nowhere, and programs that are killed.

At every moment the file is absent, has what it had before, or has all rows of the query.
"""

from __future__ import annotations

import gzip
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from tests.quick.embedded import invoke
from tests.unit.cli.conftest import list_names

ONE_ROW = ("run", "-c", "SELECT 1 AS n")
ROWS = 200_000
MANY_ROWS = f"SELECT id, repeat('x', 100) AS s FROM range({ROWS})"


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".csv.gz", ".parquet"])
@pytest.mark.parametrize("name", ["it's", 'say "n"', "two\nlines", "`n`", "$HOME", "~", "é" * 120])
def test_the_file_has_exactly_the_name_that_was_given(
    name: str, suffix: str, embedded: Path
) -> None:
    (embedded / "out").mkdir()
    result = invoke(*ONE_ROW, "--output", f"out/{name}{suffix}")
    assert result.exit_code == 0, result.stderr
    assert list_names(embedded / "out") == [f"{name}{suffix}"]
    (embedded / "out" / f"{name}{suffix}").rename(embedded / f"x{suffix}")
    read = invoke("run", "-c", "SELECT n FROM t", "--table", f"t=x{suffix}", "--format", "csv")
    assert read.stdout == "n\n1\n"


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("folder", ["my results", "a%20b", "a#b", "\u00fc"])
def test_the_folder_of_the_file_may_have_any_name(folder: str, suffix: str, embedded: Path) -> None:
    (embedded / folder).mkdir()
    result = invoke(*ONE_ROW, "--output", f"{folder}/x{suffix}")
    assert result.exit_code == 0, result.stderr
    assert list_names(embedded / folder) == [f"x{suffix}"]


def test_a_name_that_is_too_long(embedded: Path) -> None:
    result = invoke(*ONE_ROW, "--output", f"{'x' * 300}.csv")
    assert result.exit_code != 0
    assert "Traceback" not in result.stderr
    assert "File name too long" in result.stderr


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_the_longest_names(suffix: str, embedded: Path) -> None:
    (embedded / "out").mkdir()
    name = "a." + (255 - 2 - len(suffix)) * "b" + suffix
    result = invoke(*ONE_ROW, "--output", f"out/{name}")
    assert result.exit_code == 0, result.stderr
    assert list_names(embedded / "out") == [name]


def test_the_format_is_that_of_the_link_and_not_of_its_file(embedded: Path) -> None:
    (embedded / "x.csv.gz").symlink_to("latest")
    result = invoke(*ONE_ROW, "--output", "x.csv.gz")
    assert result.exit_code == 0, result.stderr
    assert gzip.decompress((embedded / "latest").read_bytes()) == b"n\n1\n"


def test_a_link_to_itself_is_replaced_or_rejected(embedded: Path) -> None:
    (embedded / "x.csv").symlink_to("x.csv")
    result = invoke(*ONE_ROW, "--output", "x.csv", "--overwrite")
    if result.exit_code == 0:  # the link has been replaced
        assert (embedded / "x.csv").read_text() == "n\n1\n"
    else:
        assert (embedded / "x.csv").is_symlink()
        assert "`x.csv`" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_query_that_fails_leaves_the_file_as_it_was(embedded: Path) -> None:
    (embedded / "x.csv").write_text("before")
    names = list_names(embedded)
    query = f"SELECT raise_error('no') AS e, * FROM ({MANY_ROWS}) WHERE id > {ROWS - 5}"
    result = invoke("run", "-c", query, "--output", "x.csv", "--overwrite")
    assert result.exit_code != 0
    assert (embedded / "x.csv").read_text() == "before"
    assert list_names(embedded) == names


@pytest.mark.night
@pytest.mark.parametrize("before", [None, "before\n"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_killed_program_leaves_no_half_file(suffix: str, before: str | None, files: Path) -> None:
    """Kill the program with SIGKILL at different times, also while it writes."""
    target, random = files / f"x{suffix}", Random(0)
    command = [sys.executable, "-m", "matchrec", "run", "-c", MANY_ROWS, "--output", target.name]
    command += ["--overwrite"]
    begin = time.monotonic()
    subprocess.run(command, cwd=files, check=True, capture_output=True)
    seconds = time.monotonic() - begin
    full_size = target.stat().st_size
    for number in range(6):
        target.unlink(missing_ok=True)
        if before is not None:
            target.write_text(before)
        with subprocess.Popen(
            command, cwd=files, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as program:
            # the later half of the time, in which rows are written
            time.sleep(seconds * (0.5 + 0.5 * random.random()))
            program.send_signal(signal.SIGKILL)
        size = target.stat().st_size if target.exists() else None
        assert size in (full_size, None if before is None else len(before)), number


@pytest.mark.night
def test_two_programs_cannot_mix_their_rows_in_one_file(files: Path) -> None:
    """The file has all rows of one of them."""
    query = "SELECT id, '{}' AS s FROM range(100000)"
    programs = []
    for text in "ab":
        command = [sys.executable, "-m", "matchrec", "run", "-c", query.format(text)]
        command += ["--output", "x.csv", "--overwrite"]
        programs.append(subprocess.Popen(command, cwd=files))
    assert [program.wait() for program in programs] == [0, 0]
    lines = (files / "x.csv").read_text().splitlines()
    assert len(lines) == 100_001
    assert len({line.split(",")[1] for line in lines[1:]}) == 1
