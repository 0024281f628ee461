"""Run the `query` and `error` records of `cases/**/*.test`, the queries with both algorithms."""

from __future__ import annotations

import math
import os
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, Row, SparkSession

import matchrec
from tests.cases.case_file import (
    CASES,
    CaseFile,
    Cell,
    DataRecord,
    ErrorRecord,
    QueryRecord,
    format_table,
    list_case_files,
    read_case_file,
)
from tests.quick.scale import OWN_SPARK

ALGORITHMS = ("backtracking", "breadth_first")  # tests/unit/search checks which one "auto" takes
FILES = list_case_files()

registered: list[tuple[Path, str]] = []
"""The file whose tables are registered as views, and the test module that registered them."""


def write_location(file: CaseFile, record: QueryRecord | ErrorRecord) -> str:
    """Return the file and line of a record."""
    return f"{file.path.relative_to(CASES)}:{record.head.line}"


def query_parameters() -> Iterator[Any]:
    """Yield each `query` record with each algorithm that it runs on."""
    for file in FILES:
        for record in file.queries:
            gap = record.head.note_of("gap")
            marks = [pytest.mark.xfail(reason=gap, strict=True)] if gap else []
            for algorithm in list_algorithms(record):
                name = f"{write_location(file, record)}-{algorithm}"
                yield pytest.param(file, record, algorithm, id=name, marks=marks)


def list_algorithms(record: QueryRecord) -> Sequence[str]:
    """Return the algorithms on which a record runs.

    That is the one that its note names, or one chosen by its line number. The worker searches the
    same rows with the other one (tests/quick/both_algorithms.py). If Spark has its own settings,
    the worker does not, so both are returned.
    """
    if only := record.head.note_of("algorithm"):
        return [only]
    return ALGORITHMS if OWN_SPARK else [ALGORITHMS[record.head.line % len(ALGORITHMS)]]


def choose_sort(record: QueryRecord) -> str:
    """Return who sorts: for half of the records Spark, for the others a worker if it can."""
    return "engine" if record.head.line // len(ALGORITHMS) % 2 else "auto"


def error_parameters() -> Iterator[Any]:
    """Yield each `error` record."""
    for file in FILES:
        for record in file.errors:
            yield pytest.param(file, record, id=write_location(file, record))


@pytest.mark.one_of(4)
@pytest.mark.parametrize(("file", "record", "algorithm"), [*query_parameters()])
def test_a_query_returns_its_expected_rows(
    spark: SparkSession,
    request: pytest.FixtureRequest,
    file: CaseFile,
    record: QueryRecord,
    algorithm: str,
) -> None:
    mark_other_engine(request, record)
    register_tables(spark, file)
    with warnings.catch_warnings():  # no DEFINE, no ORDER BY: allowed, with a warning
        warnings.simplefilter("ignore", UserWarning)
        frame = matchrec.sql(
            spark,
            record.sql,
            options=matchrec.Options(algorithm=algorithm, sort=choose_sort(record)),
        )
    assert frame.columns == list(record.columns)
    types = [
        None if expected is None else write_field_type(frame, i)
        for i, expected in enumerate(record.types)
    ]
    assert types == list(record.types)
    rows = [tuple(write_value(value) for value in row) for row in frame.collect()]
    if Counter(rows) != Counter(record.rows):
        assert write_table(record.columns, rows) == write_table(record.columns, list(record.rows))


@pytest.mark.one_of(2)
@pytest.mark.parametrize(("file", "record"), [*error_parameters()])
def test_a_query_raises_its_expected_message(
    spark: SparkSession, request: pytest.FixtureRequest, file: CaseFile, record: ErrorRecord
) -> None:
    mark_other_engine(request, record)
    register_tables(spark, file)
    expected = (matchrec.MatchRecognizeError, PythonException)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with pytest.raises(expected) as caught:
            matchrec.sql(spark, record.sql).collect()
    message = find_message(caught.value)
    on = request.config.getoption("--on")
    is_as_expected = take_common_part(message, on) == take_common_part(record.message, on)
    is_other_on_sail = on == "sail" and record.head.note_of("sail")
    if request.config.getoption("--update") and not is_as_expected and not is_other_on_sail:
        update(file.path, record, message)
        pytest.skip("message rewritten")
    assert is_as_expected


def mark_other_engine(request: pytest.FixtureRequest, record: QueryRecord | ErrorRecord) -> None:
    """Expect a query to fail on Sail if it has a note that Sail computes it differently.

    If it does not fail, the note must be removed.
    """
    reason = record.head.note_of("sail")
    if reason and request.config.getoption("--on") == "sail":
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))


def take_common_part(message: str, on: str) -> str:
    """Return the part of a message that is the same on Sail.

    If an expression is refused, Sail's message about it differs from Spark's. Only Spark says which
    type an argument must have.
    """
    if on == "sail":
        message = re.sub(r"\n  note: its \w+ argument must be [^\n]*", "", message)
    refusal = re.match("(Spark|Sail)( rejects an expression in)", message)
    return f"Sail{refusal[2]}" if refusal and on == "sail" else message


def find_message(error: Exception) -> str:
    """Return the message of an error, even if Spark wraps it because a worker has raised it."""
    if isinstance(error, matchrec.MatchRecognizeError):
        return str(error)
    run_error = matchrec.MatchRecognizeRunError.from_exception(error)
    assert run_error is not None, str(error)
    return str(run_error)


def register_tables(spark: SparkSession, file: CaseFile) -> None:
    """Register the tables of a file as temporary views, unless the last test did.

    They are registered again for another test module, because tests of that one may have replaced
    or dropped them.
    """
    module = os.environ["PYTEST_CURRENT_TEST"].partition("::")[0]
    if registered == [(file.path, module)]:
        return
    for record in file.tables:
        spark.sql(write_select(record)).createOrReplaceTempView(record.name)
    registered[:] = [(file.path, module)]


def write_select(record: DataRecord) -> str:
    """Return SQL for the rows of a data record. Each value is cast from its text."""
    names = [f"c{i}" for i in range(len(record.columns))]
    rows = record.rows or ((None,) * len(names),)
    values = ", ".join("(" + ", ".join(map(write_literal, row)) + ")" for row in rows)
    casts = (
        f"CAST({n} AS {c.type}) AS `{c.name}`" for n, c in zip(names, record.columns, strict=True)
    )
    where = "" if record.rows else " WHERE false"
    return f"SELECT {', '.join(casts)} FROM VALUES {values} AS t({', '.join(names)}){where}"


def write_literal(cell: Cell) -> str:
    """Return SQL for a cell: NULL, an expression in parentheses, or a string."""
    if cell is None:
        return "NULL"
    if cell.startswith("("):
        return cell
    return "'" + cell.replace("\\", "\\\\").replace("'", "\\'") + "'"


def write_field_type(frame: DataFrame, column: int) -> str:
    """Return the type of a column as SQL writes it."""
    return frame.schema.fields[column].dataType.simpleString()


def write_value(value: Any) -> Cell:
    """Return a value from Spark as a case file writes it."""
    match value:
        case None:
            return None
        case bool():
            return str(value).lower()
        case float():
            return "NaN" if math.isnan(value) else repr(value)
        case Decimal():
            return f"{value:f}"
        case bytes() | bytearray():
            return bytes(value).hex()
        case Row():
            return "{" + ",".join(map(write_part, value)) + "}"
        case dict():
            return (
                "{" + ",".join(f"{write_part(k)}:{write_part(v)}" for k, v in value.items()) + "}"
            )
        case list() | tuple():
            return "[" + ",".join(map(write_part, value)) + "]"
        case _:
            return str(value)


def write_part(value: Any) -> str:
    """Return a value inside an array, a map or a struct as a case file writes it."""
    text = write_value(value)
    return "NULL" if text is None else text


def write_table(columns: tuple[str, ...], rows: list[tuple[Cell, ...]]) -> str:
    """Return the sorted rows as one text, so that pytest shows a difference line by line."""
    ordered = sorted(rows, key=lambda row: [(cell is not None, cell or "") for cell in row])
    return "\n".join(format_table(columns, ordered))


def update(path: Path, record: ErrorRecord, message: str) -> None:
    """Write the actual message into a record.

    The record is found by its SQL, because rewriting records above it may have moved its line.
    """
    file = read_case_file(path)
    line = next(r.head.line for r in file.errors if r.sql == record.sql)
    path.write_text(file.with_expected({line: message.splitlines()}), encoding="utf-8")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path.stem)
def test_file_says_how_its_expected_text_was_found(file: CaseFile) -> None:
    header = [line for line in file.text.split("\n\n")[0].splitlines() if line.startswith("#")]
    assert any("Expected" in line for line in header)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path.stem)
def test_rewriting_a_file_with_its_own_text_changes_nothing(file: CaseFile) -> None:
    lines = file.text.splitlines()
    unchanged = {line: lines[begin:end] for line, (begin, end) in file.expected_lines.items()}
    assert file.with_expected(unchanged) == file.text
