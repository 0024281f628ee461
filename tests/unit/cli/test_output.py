"""The files that `--output` can write, and the folder after a failed write."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from pyarrow.parquet import ParquetFile
from pyspark.sql import SparkSession

from matchrec.cli import written_files
from matchrec.cli.written_files import replace_when_complete
from matchrec.errors import MatchRecognizeError
from tests.quick.embedded import invoke, invoke_failing
from tests.unit.cli.conftest import list_names

ONE = ("run", "-c", "SELECT 1 AS n")
SUFFIXES = [".csv", ".parquet"]


def catch_message(path: str, *options: str, code: int = 2) -> str:
    """Return the message of a run that does not write its file."""
    return invoke_failing(*ONE, "--output", path, *options, code=code)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "name", ["a b", "ä ü", "a*b", "a[1]{b,c}", "a:b", "a%20b", ".hidden", "-x"]
)
def test_files_of_any_name_are_written_and_can_be_read(
    name: str, suffix: str, embedded: Path
) -> None:
    (embedded / "out").mkdir()
    path = f"out/{name}{suffix}"
    assert invoke(*ONE, "--output", path).exit_code == 0
    assert list_names(embedded / "out") == [f"{name}{suffix}"]
    (embedded / "out" / f"{name}{suffix}").rename(embedded / f"x{suffix}")
    assert invoke("run", "-c", f"SELECT n FROM 'x{suffix}'", "--format", "csv").stdout == "n\n1\n"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("-", "`--output -` is not a file [output-to-stdout]\n"),
        ("/dev/stdout", "`--output /dev/stdout` is not a file [output-to-stdout]\n"),
        ("rows", "unknown format of `rows`"),
        ("rows.txt", "unknown format of `rows.txt`"),
        ("no/x.csv", "the folder of `no/x.csv` does not exist"),
        ("prices.csv/x.csv", "is a file, and not a folder"),
        ("prices.csv/deep/x.csv", "is a file, and not a folder"),
        ("/proc/x.csv", "`/proc/x.csv` cannot be written: its folder cannot be written to: "),
    ],
)
def test_paths_that_cannot_be_written(path: str, message: str, embedded: Path) -> None:
    assert message in catch_message(path)


@pytest.mark.parametrize(
    ("option_value", "path", "file_format"),
    [
        ("json", "x.csv", "csv"),
        ("csv", "x.tsv", "tsv"),
        ("csv", "x.parquet", "parquet"),
        ("table", "x.csv.gz", "csv"),
        ("markdown", "x.ndjson", "jsonl"),
        # JSON files have an object on each line, and --format json prints an array.
        ("json", "x.json", "jsonl"),
    ],
)
def test_a_format_that_the_file_does_not_have(
    option_value: str, path: str, file_format: str, embedded: Path
) -> None:
    message = catch_message(path, "--format", option_value)
    assert (
        f"--format {option_value} is not allowed with --output {path} [format-not-for-file]\n"
        f"  note: the name of the file chooses its format, which is {file_format}\n"
        "  help: leave --format out, or leave --output out to print the rows as "
        f"{option_value}\n"
    ) in message
    assert not (embedded / path).exists()


@pytest.mark.parametrize(
    ("format_name", "path", "text"),
    [("csv", "x.csv", "n\n1\n"), ("tsv", "x.tsv", "n\n1\n"), ("jsonl", "x.json", '{"n":1}\n')],
)
def test_a_format_that_the_file_has(format_name: str, path: str, text: str, embedded: Path) -> None:
    assert invoke(*ONE, "--output", path, "--format", format_name).exit_code == 0
    assert (embedded / path).read_text() == text


def test_overwrite_needs_an_output(embedded: Path) -> None:
    message = invoke_failing(*ONE, "--overwrite", code=2)
    assert (
        "`--overwrite` is not allowed without `--output FILE` [argument-needs-another]\n"
        "  help: add --output FILE, or leave --overwrite out\n"
    ) in message


def test_a_folder_is_not_replaced(embedded: Path) -> None:
    (embedded / "x.csv").mkdir()
    assert "`x.csv` is a folder" in catch_message("x.csv", "--overwrite")
    assert list_names(embedded / "x.csv") == []


def test_a_device_is_not_replaced(embedded: Path) -> None:
    (embedded / "x.csv").symlink_to("/dev/full")
    assert "`x.csv` is not a regular file" in catch_message("x.csv", "--overwrite")
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_symbolic_link_stays(suffix: str, embedded: Path) -> None:
    (embedded / "elsewhere").mkdir()
    (embedded / f"x{suffix}").symlink_to(f"elsewhere/y{suffix}")  # which does not exist yet
    for options in ((), ("--overwrite",)):
        assert invoke(*ONE, "--output", f"x{suffix}", *options).exit_code == 0
        assert (embedded / f"x{suffix}").is_symlink()
        assert list_names(embedded / "elsewhere") == [f"y{suffix}"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_query_can_replace_the_file_it_reads(suffix: str, embedded: Path) -> None:
    invoke("run", "-c", "SELECT 1 AS n", "--output", f"x{suffix}")
    again = "SELECT n FROM t UNION ALL SELECT 2 AS n ORDER BY n"
    output = ("--output", f"x{suffix}", "--overwrite")
    assert invoke("run", "-c", again, "--table", f"t=x{suffix}", *output).exit_code == 0
    shown = invoke("run", "-c", f"SELECT * FROM 'x{suffix}' ORDER BY n", "--format", "csv").stdout
    assert shown == "n\n1\n2\n"


def test_a_replaced_file_keeps_its_permissions(embedded: Path) -> None:
    (embedded / "x.csv").touch()
    (embedded / "x.csv").chmod(0o640)
    assert invoke(*ONE, "--output", "x.csv", "--overwrite").exit_code == 0
    assert (embedded / "x.csv").stat().st_mode & 0o777 == 0o640


@contextmanager
def limit_file_size(size: int) -> Iterator[None]:
    """Make the system refuse to write more bytes to a file, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_error_leaves_the_file_as_it_was(embedded: Path) -> None:
    (embedded / "x.csv").write_text("before")
    query = "SELECT repeat('x', 1000) AS s FROM range(100)"
    with limit_file_size(10_000):
        result = invoke("run", "-c", query, "--output", "x.csv", "--overwrite")
    assert result.exit_code == 3
    assert "`x.csv` cannot be written: File too large" in result.stderr
    assert (embedded / "x.csv").read_text() == "before"
    assert not [
        name for name in list_names(embedded) if name.startswith(written_files.HIDDEN_FOLDER_PREFIX)
    ]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MatchRecognizeError])
def test_an_interruption_leaves_no_half_file(error: type[BaseException], tmp_path: Path) -> None:
    def write_half() -> None:
        with replace_when_complete(tmp_path / "x.csv") as part:
            part.write_text("half")
            raise error("stop")

    with pytest.raises(error):
        write_half()
    assert list_names(tmp_path) == []


@pytest.mark.parametrize(
    ("value", "type_name"), [("array()", "ARRAY<VOID>"), ("INTERVAL 1 MONTH", "INTERVAL MONTH")]
)
def test_a_type_that_parquet_lacks(value: str, type_name: str, embedded: Path) -> None:
    del embedded
    query = f"SELECT 1 AS n, {value} AS x"
    result = invoke("run", "-c", query, "--output", "x.parquet")
    if result.exit_code == 0:  # Spark writes such a file itself
        return
    assert f"column `x` has type {type_name}, which cannot be written" in result.stderr


def test_rows_of_a_remote_engine_are_written_here(spark: SparkSession, embedded: Path) -> None:
    # Over Connect, only the server would find a file that Spark writes.
    assert invoke(*ONE, "--output", "x.parquet").exit_code == 0
    writer = ParquetFile(embedded / "x.parquet").metadata.created_by
    is_remote = type(spark).__module__.startswith("pyspark.sql.connect.")
    assert writer.startswith("parquet-cpp-arrow" if is_remote else "parquet-mr")
    assert list_names(embedded) == ["prices.csv", "streaks.sql", "x.parquet"]


def test_a_file_that_spark_writes_to_another_disk(tmp_path: Path) -> None:
    # Stands for Spark, whose workers write the file where this program does not see it.
    frame = MagicMock()
    message = "`{}` cannot be written: Spark has written no file to"
    with (
        pytest.raises(MatchRecognizeError, match=message.format(tmp_path / "x.parquet")),
        replace_when_complete(tmp_path / "x.parquet") as part,
    ):
        written_files.write_parquet_by_spark(frame, part)
    assert list_names(tmp_path) == []


def test_rows_that_an_old_pyspark_cannot_fetch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = MagicMock(spec=["columns", "sparkSession"], columns=["n"])
    backend = SimpleNamespace(has_shared_files=False)
    monkeypatch.setattr("matchrec.spark.backends.find_backend", lambda _: backend)
    with pytest.raises(MatchRecognizeError, match="not supported over Spark Connect"):
        written_files.write_parquet_file(frame, tmp_path / "x.parquet")
