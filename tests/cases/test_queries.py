"""Runs the `query` and `error` records of `cases/**/*.test` on every engine."""

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
    case_files,
    format_table,
    read_case_file,
)
from tests.quick.scale import OWN_SPARK

ALGORITHMS = ("backtracking", "breadth_first")  # "auto" is one of them: tests/unit/search
FILES = case_files()
registered: list[tuple[Path, str]] = []  # the one file whose tables are there, and for which tests


def place(file: CaseFile, record: QueryRecord | ErrorRecord) -> str:
    return f"{file.path.relative_to(CASES)}:{record.head.line}"


def query_parameters() -> Iterator[Any]:
    for file in FILES:
        for record in file.queries:
            gap = record.head.note_of("gap")
            marks = [pytest.mark.xfail(reason=gap, strict=True)] if gap else []
            for algorithm in algorithms_for(record):
                name = f"{place(file, record)}-{algorithm}"
                yield pytest.param(file, record, algorithm, id=name, marks=marks)


def algorithms_for(record: QueryRecord) -> Sequence[str]:
    """One by the line at which the record stands, or that the record's note names.

    In the worker the other one searches the same rows: tests/quick/both_engines.py; where Spark has
    its own settings, it does not, so both are asked.
    """
    if only := record.head.note_of("algorithm"):
        return [only]
    return ALGORITHMS if OWN_SPARK else [ALGORITHMS[record.head.line % len(ALGORITHMS)]]


def sort_for(record: QueryRecord) -> str:
    """Half of the records, by their lines, have Spark sort; else the workers do where they can."""
    return "spark" if record.head.line // len(ALGORITHMS) % 2 else "auto"


def error_parameters() -> Iterator[Any]:
    for file in FILES:
        for record in file.errors:
            yield pytest.param(file, record, id=place(file, record))


@pytest.mark.one_of(4)
@pytest.mark.parametrize(("file", "record", "algorithm"), [*query_parameters()])
def test_query(
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
            spark, record.sql, options=matchrec.Options(algorithm=algorithm, sort=sort_for(record))
        )
    assert frame.columns == list(record.columns)
    types = [None if want is None else field_type(frame, i) for i, want in enumerate(record.types)]
    assert types == list(record.types)
    rows = [tuple(text_of(value) for value in row) for row in frame.collect()]
    if Counter(rows) != Counter(record.rows):
        assert table(record.columns, rows) == table(record.columns, list(record.rows))


@pytest.mark.one_of(2)
@pytest.mark.parametrize(("file", "record"), [*error_parameters()])
def test_error(
    spark: SparkSession, request: pytest.FixtureRequest, file: CaseFile, record: ErrorRecord
) -> None:
    mark_other_engine(request, record)
    register_tables(spark, file)
    expected = (matchrec.MatchRecognizeError, PythonException)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with pytest.raises(expected) as caught:
            matchrec.sql(spark, record.sql).collect()
    message = message_of(caught.value)
    on = request.config.getoption("--on")
    is_as_expected = of_session(message, on) == of_session(record.message, on)
    is_other_on_sail = on == "sail" and record.head.note_of("sail")
    if request.config.getoption("--update") and not is_as_expected and not is_other_on_sail:
        update(file.path, record, message)
        pytest.skip("message rewritten")
    assert is_as_expected


def mark_other_engine(request: pytest.FixtureRequest, record: QueryRecord | ErrorRecord) -> None:
    """A query that Sail computes otherwise, or not at all, fails there; once it does not, the note
    has to go.
    """
    reason = record.head.note_of("sail")
    if reason and request.config.getoption("--on") == "sail":
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))


def of_session(message: str, on: str) -> str:
    """A message as every session words it: Sail has its own words for what it refuses."""
    found = re.match("(Spark|Sail)( refuses an expression in)", message)
    return f"Sail{found[2]}" if found and on == "sail" else message


def message_of(error: Exception) -> str:
    """The message of an error, also of one that Spark brings back from a Python worker."""
    if isinstance(error, matchrec.MatchRecognizeError):
        return str(error)
    brought = matchrec.MatchRecognizeRunError.from_exception(error)
    assert brought is not None, str(error)
    return str(brought)


def register_tables(spark: SparkSession, file: CaseFile) -> None:
    """Makes the tables of `file` temporary views, unless the last test did.

    Tests of another module may have made or dropped views of their names since.
    """
    module = os.environ["PYTEST_CURRENT_TEST"].partition("::")[0]
    if registered == [(file.path, module)]:
        return
    for record in file.tables:
        spark.sql(select_of(record)).createOrReplaceTempView(record.name)
    registered[:] = [(file.path, module)]


def select_of(record: DataRecord) -> str:
    """SQL that gives the rows of a data record, each value cast from its text."""
    names = [f"c{i}" for i in range(len(record.columns))]
    rows = record.rows or ((None,) * len(names),)
    values = ", ".join("(" + ", ".join(map(literal, row)) + ")" for row in rows)
    casts = (
        f"CAST({n} AS {c.type}) AS `{c.name}`" for n, c in zip(names, record.columns, strict=True)
    )
    where = "" if record.rows else " WHERE false"
    return f"SELECT {', '.join(casts)} FROM VALUES {values} AS t({', '.join(names)}){where}"


def literal(cell: Cell) -> str:
    if cell is None:
        return "NULL"
    if cell.startswith("("):
        return cell
    return "'" + cell.replace("\\", "\\\\").replace("'", "\\'") + "'"


def field_type(frame: DataFrame, column: int) -> str:
    return frame.schema.fields[column].dataType.simpleString()


def text_of(value: Any) -> Cell:
    """A value of Spark's in the words of a case file."""
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
            return "{" + ",".join(map(part, value)) + "}"
        case dict():
            return "{" + ",".join(f"{part(k)}:{part(v)}" for k, v in value.items()) + "}"
        case list() | tuple():
            return "[" + ",".join(map(part, value)) + "]"
        case _:
            return str(value)


def part(value: Any) -> str:
    text = text_of(value)
    return "NULL" if text is None else text


def table(columns: tuple[str, ...], rows: list[tuple[Cell, ...]]) -> str:
    """The rows, sorted, as one text: pytest shows the difference line by line."""
    ordered = sorted(rows, key=lambda row: [(cell is not None, cell or "") for cell in row])
    return "\n".join(format_table(columns, ordered))


def update(path: Path, record: ErrorRecord, message: str) -> None:
    """Rewrites the message of a record, found again by its SQL: lines above it may have moved."""
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
    own = {line: lines[begin:end] for line, (begin, end) in file.expected_lines.items()}
    assert file.with_expected(own) == file.text
