"""Tables of the command line: the files that are allowed, and the messages about other files."""

from __future__ import annotations

import bz2
import gzip
import shutil
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.quick.embedded import invoke, invoke_failing

pytestmark = pytest.mark.one_of(2)

ROWS = pd.DataFrame({"k": ["a", "b"], "t": [1, 2], "v": [1.5, 2.5]})
QUERY = "SELECT * FROM t ORDER BY 1"
PRINTED = ["k,t,v", "a,1,1.5", "b,2,2.5"]


def print_table(path: str, *options: str) -> list[str]:
    """Return what a query of all rows of a table prints."""
    result = invoke("run", "-c", QUERY, "--table", f"t={path}", "--format", "csv", *options)
    assert result.exit_code == 0, result.stderr
    return result.stdout.splitlines()


def catch_message(*arguments: str, code: int) -> str:
    """Return the message of a query that cannot read its table."""
    return invoke_failing("run", "-c", QUERY, *arguments, code=code)


def write_as(path: Path) -> None:
    """Write the rows in the format that a test names the file by."""
    path.parent.mkdir(parents=True, exist_ok=True)
    match path.suffixes[0] if path.suffixes else "":
        case ".tsv":
            ROWS.to_csv(path, sep="\t", index=False)
        case ".csv":
            ROWS.to_csv(path, index=False)
        case ".json" | ".jsonl" | ".ndjson":
            ROWS.to_json(path, orient="records", lines=True)
        case _:
            ROWS.to_parquet(path)


@pytest.mark.parametrize(
    "name",
    [
        "x.pq",
        "x.parquet",
        "no_suffix",
        "x.tsv",
        "x.tsv.gz",
        "x.csv.bz2",
        "x.ndjson",
        "a[1]{b,c}.csv",
    ],
)
def test_files_of_each_format_are_read(name: str, embedded: Path) -> None:
    write_as(embedded / name)
    assert print_table(name) == PRINTED


def test_nan_of_a_parquet_file_is_read(embedded: Path) -> None:
    """The statistics of the file leave NaN out: according to them, all values are 1.5."""
    nan = pa.array([1.5, float("nan")])
    parquet.write_table(pa.table({"k": ["a", "b"], "v": nan}), embedded / "x.parquet")
    assert print_table("x.parquet") == ["k,v", "a,1.5", "b,NaN"]


@pytest.mark.parametrize("inside", ["part-0", "part-0.csv", "deep/part-0.json"])
def test_a_folder_needs_no_suffix(inside: str, embedded: Path) -> None:
    folder = embedded / "prices"
    write_as(folder / inside)
    (folder / "_SUCCESS").write_text("")
    (folder / ".hidden").write_text("x")
    if inside.startswith("deep"):
        shutil.move(folder / "deep", folder / "deep=1")
        assert print_table("prices") == ["k,t,v,deep", "a,1,1.5,1", "b,2,2.5,1"]
    else:
        assert print_table("prices") == PRINTED


@pytest.mark.parametrize("path", ["hive", "hive/year=*/*.parquet", "hive/**/*.parquet"])
def test_folders_define_columns(path: str, embedded: Path) -> None:
    for year in (2023, 2024):
        write_as(embedded / f"hive/year={year}/rows.parquet")
    one_year = "k,t,v,year", "a,1,1.5,2023", "a,1,1.5,2024", "b,2,2.5,2023", "b,2,2.5,2024"
    assert sorted(print_table(path)) == sorted(one_year)


def test_a_pattern_of_files_reads_files_of_one_format(embedded: Path) -> None:
    for name in ("p1.parquet", "p2.parquet"):
        write_as(embedded / "parts" / name)
    assert print_table("parts/p?.parquet") == [PRINTED[0], *(2 * PRINTED[1:2]), *(2 * PRINTED[2:])]
    write_as(embedded / "parts/p3.csv")
    message = catch_message("--table", "t=parts/p*", code=2)
    assert "the files of `parts/p*` have several formats: parquet, csv" in message
    assert catch_message("--table", "t=parts/q*", code=2) == (
        "matchrec: error: wrong value of `--table`: no file matches `parts/q*` of table `t`"
        " [no-matching-file]\n"
        "  note: the folder `parts` has: p1.parquet, p2.parquet, p3.csv\n"
        "  help: write a pattern that matches these, such as --table t='parts/*.parquet'\n"
    )
    message = catch_message("--table", "t=party/*.csv", code=2)
    assert "note: the folder `party` does not exist\n" in message
    (embedded / "empty").mkdir()
    message = catch_message("--table", "t=empty/*.csv", code=2)
    assert "note: the folder `empty` has no parquet, csv, tsv or json files\n" in message


def test_a_folder_of_several_formats_is_rejected(embedded: Path) -> None:
    write_as(embedded / "evs/a.parquet")
    assert print_table("evs/*.parquet") == PRINTED
    for number in range(5):
        write_as(embedded / f"evs/deep/{number}.csv")
    (embedded / "evs/notes.txt").touch()
    message = catch_message("--table", "t=evs", code=2)
    assert message.partition("the files of ")[2].splitlines() == [
        "`evs` have several formats: parquet, csv, unknown [several-formats]",
        "  note: parquet: evs/a.parquet",
        "  note: csv: evs/deep/0.csv, evs/deep/1.csv, evs/deep/2.csv and 2 more",
        "  note: unknown: evs/notes.txt",
        "  help: write 'evs/**/*.csv' or 'evs/**/*.parquet' for the files of one format",
    ]


def test_a_folder_of_several_formats_with_a_bracket_in_its_name(embedded: Path) -> None:
    write_as(embedded / "x[1]/a.csv")
    (embedded / "x[1]/b.json").write_text("{}")
    message = catch_message("--table", "t=x[1]", code=2)
    assert "help: write 'x[[]1]/*.csv' or 'x[[]1]/*.json' for" in message
    assert print_table("x[[]1]/*.csv") == PRINTED


def test_no_pattern_that_matches_more_files_than_the_folder_has(embedded: Path) -> None:
    """A folder named `_t` does not count, but a pattern would match its files."""
    write_as(embedded / "q/a.csv")
    write_as(embedded / "q/_t/z.csv")
    (embedded / "q/deep").mkdir()
    (embedded / "q/deep/c.json").write_text("{}")
    message = catch_message("--table", "t=q", code=2)
    assert "help: write 'q/**/*.json' for" in message
    (embedded / "q/_t/z.json").write_text("{}")
    message = catch_message("--table", "t=q", code=2)
    assert "help: make one table for each format" in message


def test_no_pattern_that_matches_files_of_two_formats(embedded: Path) -> None:
    write_as(embedded / "w/a.csv")
    write_as(embedded / "w/b.parquet")
    (embedded / "w/b.parquet").rename(embedded / "w/b.csv")
    (embedded / "w/c.json").write_text("{}")
    message = catch_message("--table", "t=w", code=2)
    assert "note: parquet: w/b.csv" in message
    assert "help: write 'w/*.json' for" in message


def test_a_malformed_line_of_json_is_rejected(embedded: Path) -> None:
    """By default, Spark reads such a line as a row of NULLs."""
    (embedded / "x.json").write_text('{"k":1}\n{"k":2, oops\n{"k":3}\n')
    message = catch_message("--table", "t=x.json", code=1)
    assert "line 2 of the file `x.json` of table `t` is not a JSON object: " in message
    (embedded / "y.json").write_text('{"k":1}\n\n[1]\n')
    assert "line 3 of the file `y.json` of table `t` is not a JSON object" in catch_message(
        "--table", "t=y.json", code=1
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.json", '{"k":1}\n{"k":2}\n'),
        ("x.json", '[{"k":1},\n{"k":2}]'),
        ("x.json.gz", '{"k":1}\n{"k":2}\n'),
    ],
)
def test_json_with_a_byte_order_mark(name: str, text: str, embedded: Path) -> None:
    """Sail does not read a byte order mark."""
    content = text.encode("utf-8-sig")
    (embedded / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert print_table(name) == ["k", "1", "2"]


def test_a_malformed_line_of_json_with_a_byte_order_mark(embedded: Path) -> None:
    """The rows are read from a copy, but the error names the user's file."""
    (embedded / "x.json").write_text('{"k":1}\n{"k":2, oops\n', encoding="utf-8-sig")
    message = catch_message("--table", "t=x.json", code=1)
    assert "line 2 of the file `x.json` of table `t` is not a JSON object: " in message


def test_a_folder_can_have_json_arrays_and_lines(embedded: Path) -> None:
    folder = embedded / "both"
    folder.mkdir()
    (folder / "a.json").write_text('[{"k":1}]')
    (folder / "b.json").write_text('{"k":2}\n')
    (folder / "c.json").write_text('{"k":3}\n', encoding="utf-8-sig")
    assert print_table("both") == ["k", "1", "2", "3"]


@pytest.mark.parametrize("table", ["both", "both/*"])
def test_json_files_that_differ_only_in_their_compression(table: str, embedded: Path) -> None:
    """One copy must not replace the other one."""
    folder = embedded / "both"
    folder.mkdir()
    (folder / "a.json").write_text('[{"k":1}]')
    (folder / "a.json.gz").write_bytes(gzip.compress(b'{"k":2}\n'))
    assert print_table(table) == ["k", "1", "2"]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_the_first_line_tells_the_delimiter(delimiter: str, embedded: Path) -> None:
    ROWS.to_csv(embedded / "x.csv", sep=delimiter, index=False)
    assert print_table("x.csv") == PRINTED


def test_a_comma_within_quotes_is_no_delimiter(embedded: Path) -> None:
    (embedded / "x.csv").write_text('"k, or key";t\n"a, b";1\n')
    assert print_table("x.csv") == ['"k, or key",t', '"a, b",1']


def test_options_of_csv_are_for_the_table(embedded: Path) -> None:
    ROWS.to_csv(embedded / "x.csv", sep="~", index=False, header=False)
    printed = print_table("x.csv", "--delimiter", "~", "--no-header")
    assert printed == ["_c0,_c1,_c2", *PRINTED[1:]]
    message = catch_message("--table", "t=x.csv", "--delimiter", "ab", code=2)
    assert "the delimiter `ab` is not a single character [malformed-delimiter]\n" in message
    assert "  help: write one character, or tab" in message


@pytest.mark.parametrize("name", ["x.csv", "x.json"])
def test_an_empty_file_is_rejected(name: str, embedded: Path) -> None:
    (embedded / name).write_text("")
    message = catch_message("--table", f"t={name}", code=1)
    assert message.startswith(
        f"matchrec: error: the file `{name}` of table `t` is empty [empty-table]\n"
    )


def test_a_file_of_pandas_is_read_or_rejected(
    embedded: Path, request: pytest.FixtureRequest
) -> None:
    """Times, durations and categories: Sail reads none of them as pandas writes them.

    Spark refuses times in nanoseconds.
    """
    plain = pd.Timestamp("2026-01-31 10:00:00.123456789")
    of_pandas = {"a t": [plain], "z": [plain.tz_localize("Europe/Berlin")], "s": "x"}
    frame = pd.DataFrame(of_pandas).astype({"s": "category"})
    frame.assign(d=pd.Timedelta(minutes=90)).to_parquet("ns.parquet")
    query = "SELECT `a t`, unix_micros(z) AS z, s, CAST(d / 3 AS STRING) AS d FROM t"
    result = invoke("run", "-c", query, "--table", "t=ns.parquet", "--format", "csv")
    if request.config.getoption("--on") != "sail":
        assert "cannot be read: the file has times in nanoseconds" in result.stderr
        assert "help: write the file with microseconds, in pandas by" in result.stderr
        return
    third = "INTERVAL '0 00:30:00' DAY TO SECOND"
    printed = f"2026-01-31 10:00:00.123456,1769850000123456,x,{third}"
    assert result.stdout.splitlines() == ["a t,z,s,d", printed], result.stderr


def test_a_file_that_cannot_be_read_is_named(embedded: Path) -> None:
    (embedded / "x.parquet").write_text("PAR1 and no more PAR1")
    message = catch_message("--table", "t=x.parquet", code=1)
    assert message.startswith("matchrec: error: `x.parquet` of table `t` cannot be read: ")


@pytest.mark.parametrize(
    ("name", "text", "encoding", "line", "command"),
    [
        ("x.csv", "k\na\nJörg\n", "latin1", 3, "latin1 -t utf-8 x.csv > utf8.csv"),
        ("x.csv", "k" + "\na" * (1 << 20) + "\nö", "latin1", (1 << 20) + 2, "latin1"),
        ("x y.tsv", "k\na\n", "utf-16", 1, "utf-16 -t utf-8 'x y.tsv' > utf8.tsv"),
        ("x.json", '{"k": "ä"}', "latin1", 1, "latin1 -t utf-8 x.json > utf8.json"),
        ("x.json", '[{"k": "ä"}]', "latin1", 1, "latin1 -t utf-8 x.json > utf8.json"),
        ("x.csv.gz", "k\nä\n", "latin1", 2, "latin1 -t utf-8 x.csv > utf8.csv"),
    ],
)
def test_a_file_in_another_encoding_is_rejected(
    name: str, text: str, encoding: str, line: int, command: str, embedded: Path
) -> None:
    written = text.encode(encoding)
    (embedded / name).write_bytes(gzip.compress(written) if name.endswith(".gz") else written)
    message = catch_message("--table", f"t={name}", code=1)
    assert f"the file `{name}` of table `t` is not in UTF-8: see line {line:,}" in message
    assert f"iconv -f {command}" in message


def test_a_character_that_the_file_ends_in(embedded: Path) -> None:
    (embedded / "x.csv").write_bytes("k\nä".encode()[:-1])
    assert "see line 2" in catch_message("--table", "t=x.csv", code=1)


def test_csv_with_a_line_of_names_only(embedded: Path) -> None:
    (embedded / "x.csv").write_text("k,t,v\n")
    result = invoke("run", "-c", QUERY, "--table", "t=x.csv")
    assert (result.exit_code, result.stdout) == (0, "k  t  v\n")


def test_a_first_file_without_a_line_is_skipped(embedded: Path) -> None:
    (embedded / "x0.csv").touch()
    ROWS.to_csv(embedded / "x1.csv", sep=";", index=False)
    alone = invoke("run", "-c", QUERY, "--table", "t=x1.csv", "--delimiter", ";")
    both = invoke("run", "-c", QUERY, "--table", "t=x*.csv", "--delimiter", ";")
    assert (both.exit_code, both.stdout) == (0, alone.stdout)


def test_an_empty_folder_is_rejected(files: Path) -> None:
    (files / "nothing").mkdir()
    message = catch_message("--table", "t=nothing", code=2)
    assert "`nothing` of table `t` cannot be read: it has no files [" in message
    message = catch_message("--table", "t=noth*", code=2)
    assert "`noth*` of table `t` cannot be read: it has no files [" in message


def test_a_file_is_replaced_only_on_request(embedded: Path) -> None:
    arguments = ("run", "-c", "SELECT 1 AS n", "--output", "n.csv")
    assert invoke(*arguments).exit_code == 0
    again = invoke(*arguments)
    assert (again.exit_code, again.stdout) == (2, "")
    assert (
        "`n.csv` already exists [file-exists]\n  help: add --overwrite, or name another file"
        in again.stderr
    )
    assert invoke("run", "-c", "SELECT 2 AS n", "--output", "n.csv", "--overwrite").exit_code == 0
    assert (embedded / "n.csv").read_text() == "n\n2\n"


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip.open), (".bz2", bz2.open)])
def test_a_compressed_file_is_written(suffix: str, opener: object, embedded: Path) -> None:
    assert invoke("run", "-c", "SELECT 1 AS n", "--output", f"n.tsv{suffix}").exit_code == 0
    with opener(embedded / f"n.tsv{suffix}", "rt") as file:  # type: ignore[operator]
        assert file.read() == "n\n1\n"


def test_a_query_is_named_once(files: Path) -> None:
    missing = invoke_failing("run")
    assert "  help: write the name of its file, - for standard input, or -c and its text" in missing
    two = invoke_failing("run", "streaks.sql", "-c", "SELECT 1")
    assert "there are two queries, `streaks.sql` and the text of -c" in two


def test_a_missing_file_lists_the_files_of_its_folder(files: Path) -> None:
    (files / "shelves.sase").write_text("PATTERN SEQ(A a, B b)")
    message = invoke_failing("run", "nosuch.sql")
    assert message.endswith(
        "  note: this folder has: shelves.sase, streaks.sql\n"
        "  help: write the path from the current folder to nosuch.sql\n"
    )
    message = invoke_failing("run", "streaks.sql", "--table", "t=nosuch.csv")
    assert message.endswith("  note: this folder has: prices.csv\n  help: write prices.csv\n")
    (files / "data").mkdir()
    message = invoke_failing("run", "streaks.sql", "--table", "t=data/prices.csv")
    assert message.endswith(
        "  note: the folder `data` has no parquet, csv, tsv or json files\n"
        "  help: write the path from the current folder to prices.csv\n"
    )
    message = invoke_failing("run", "queries/streaks.sql")
    assert message.endswith(
        "  note: the folder `queries` does not exist\n  help: write a folder that exists\n"
    )
    # A similar name is enough.
    message = invoke_failing("run", "streak.sql")
    assert message.endswith("does not exist [no-such-file]\n  help: write streaks.sql\n")


def test_an_unknown_table_names_its_file(embedded: Path) -> None:
    (embedded / "weather_1.json").write_text("{}")
    message = invoke_failing("run", "-c", "SELECT * FROM Weather_1", code=1)
    assert message.endswith("  help: pass --table Weather_1=weather_1.json\n")
    message = invoke_failing("check", "-c", "SELECT * FROM Weather_1", code=1)
    assert message.endswith(
        "  help: pass --schema 'Weather_1: COLUMN TYPE, ...', or --table Weather_1=weather_1.json\n"
    )
    (embedded / "some queries").mkdir()
    (embedded / "some queries" / "q.sql").write_text("SELECT * FROM volumes")
    assert "pass --table volumes=FILE" in invoke_failing("run", "some queries/q.sql", code=1)
    (embedded / "some queries" / "volumes.csv.gz").write_bytes(b"")
    message = invoke_failing("run", "some queries/q.sql", code=1)
    assert message.endswith("pass --table volumes='some queries/volumes.csv.gz'\n")
