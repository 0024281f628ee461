"""Run the case files on a live Trino server, and list where it agrees, disagrees or refuses.

    python -m tests.live.trino_check --url http://localhost:8080 [file.test ...]

`cases/README.md` says how to start a server. Each query is translated to Trino's SQL by text
replacements that are enough for the cases, independently of `matchrec.transpile`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

from tests.cases.case_file import (
    CASES,
    Cell,
    Column,
    DataRecord,
    MatchRecord,
    QueryRecord,
    format_table,
    list_case_files,
    read_case_file,
)

# Trino's names of types, by the names in case files. Other names are the same.
TRINO_TYPES = {
    "string": "varchar",
    "int": "integer",
    "float": "real",
    "binary": "varbinary",
    "timestamp": "timestamp(6)",
    "timestamp_ntz": "timestamp(6)",
}
# Regular expressions for Spark's spellings, each with its replacement in Trino's SQL.
SPELLINGS: tuple[tuple[str, str], ...] = (
    (r"`([^`]+)`", r'"\1"'),
    (r"\bcollect_list\s*\(", "array_agg("),
    (r"\bAS\s+string\b", "AS varchar"),
    (r"\bAS\s+int\b", "AS integer"),
    (r"\bINTERVAL\s+(\d+)\s+(\w+?)S?\b", r"INTERVAL '\1' \2"),
    (r"==", "="),
    (r"\blocate\s*\(\s*('[^']*')\s*,\s*([\w.]+)\s*\)", r"strpos(\2, \1)"),
)

# The rows of a table, with its column names as the first row.
Rows = list[tuple[Cell, ...]]


class TrinoError(Exception):
    """Trino's message about a query that it refuses."""


class Outcome(Enum):
    """What became of a record of a case file. The value is printed."""

    AGREES = "agrees"
    DISAGREES = "DISAGREES"
    REFUSED = "REFUSED by Trino"
    # The note `# trino:` of the record says that Trino disagrees or refuses.
    KNOWN = "known difference"
    # The record has such a note, but Trino agrees.
    STALE = "NOTE IS STALE: Trino agrees"


# The outcomes for which the program fails.
FAILURES = (Outcome.DISAGREES, Outcome.REFUSED, Outcome.STALE)


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of a record of a case file."""

    # The file and the line of the record.
    location: str
    outcome: Outcome
    # The note of the record, Trino's message, or the two results. Empty if Trino agrees.
    detail: str


class Trino:
    """A Trino server, over its statement protocol."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    def query(self, sql: str) -> tuple[list[Column], list[list[Any]]]:
        """Return the columns and the rows of a query. Values are as in Trino's JSON.

        Raises:
            TrinoError: Trino refuses the query.
        """
        headers = {
            "X-Trino-User": "matchrec",
            "X-Trino-Catalog": "memory",
            "X-Trino-Schema": "default",
        }
        url = f"{self.url}/v1/statement"
        request = urllib.request.Request(url, sql.encode(), headers)
        columns: list[Column] = []
        rows: list[list[Any]] = []
        while True:
            with urllib.request.urlopen(request) as response:
                reply = json.load(response)
            if "error" in reply:
                raise TrinoError(reply["error"]["message"])
            if reply.get("columns"):
                columns = [Column(column["name"], column["type"]) for column in reply["columns"]]
            rows += reply.get("data", [])
            if "nextUri" not in reply:
                return columns, rows
            request = urllib.request.Request(reply["nextUri"], headers=headers)


# Translate Spark's SQL.


def translate_query(sql: str, tables: Sequence[DataRecord]) -> str:
    """Return a query of a case file in Trino's SQL, with the rows of its tables in WITH."""
    used_tables = [table for table in tables if re.search(rf"\b{table.name}\b", sql, re.IGNORECASE)]
    for spark_spelling, trino_spelling in SPELLINGS:
        sql = re.sub(spark_spelling, trino_spelling, sql, flags=re.IGNORECASE)
    sql = add_missing_definitions(add_null_order(sql.strip().rstrip(";")))
    if not used_tables:
        return f"\n{sql}"
    with_clause = "WITH " + ",\n".join(map(write_table, used_tables))
    written_with = re.match(r"WITH\s", sql, re.IGNORECASE)
    if written_with:
        return f"{with_clause},\n{sql[written_with.end() :]}"
    return f"{with_clause}\n{sql}"


def write_table(table: DataRecord) -> str:
    """Return a table of a case file as an item of WITH."""
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    types = [find_trino_type(column.type) for column in table.columns]
    # VALUES needs a row, so an empty table has a row of NULLs that WHERE leaves out.
    rows = table.rows or ((None,) * len(types),)
    values = ", ".join(f"({', '.join(map(write_value, row, types))})" for row in rows)
    where = "" if table.rows else " WHERE false"
    return f"{table.name} ({names}) AS (SELECT * FROM (VALUES {values}){where})"


def write_value(cell: Cell, type_name: str) -> str:
    """Return a cell of a case file as SQL. A cell in parentheses is SQL already."""
    if cell is None:
        return f"CAST(NULL AS {type_name})"
    if cell.startswith("("):
        return cell
    text = cell.replace("'", "''")
    return f"CAST('{text}' AS {type_name})"


def find_trino_type(spark_type: str) -> str:
    """Return the type of Trino for a type of Spark."""
    return TRINO_TYPES.get(spark_type.lower(), spark_type)


def add_null_order(sql: str) -> str:
    """Return a query whose items of ORDER BY say where NULLs go, as Spark orders them by default.

    >>> add_null_order("SELECT * FROM t ORDER BY a, b DESC")
    'SELECT * FROM t ORDER BY a NULLS FIRST, b DESC NULLS LAST '
    """
    end = r"\)|MEASURES|ROWS\s+BETWEEN|ONE\s+ROW|ALL\s+ROWS|AFTER\s+MATCH|PATTERN|LIMIT|$"
    order_by = re.compile(
        rf"\bORDER\s+BY\s+((?:[^()]|\([^()]*\))*?)\s*(?=\s(?:{end})|{end})", re.IGNORECASE
    )
    return order_by.sub(
        lambda match: f"ORDER BY {', '.join(map(write_sort_item, match[1].split(',')))} ", sql
    )


def write_sort_item(item: str) -> str:
    """Return an item of ORDER BY that says where NULLs go: first, or with DESC last."""
    item = item.strip()
    if re.search(r"\bNULLS\b", item, re.IGNORECASE):
        return item
    is_descending = re.search(r"\bDESC\b", item, re.IGNORECASE)
    return f"{item} NULLS {'LAST' if is_descending else 'FIRST'}"


def add_missing_definitions(sql: str) -> str:
    """Return a query in which every clause has DEFINE, which Trino requires.

    The added condition is TRUE, for the first variable of the pattern.

    >>> add_missing_definitions("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A+))")
    'SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A+) DEFINE A AS TRUE)'
    """
    # From the last clause to the first one, so that the positions before a clause do not change.
    for pattern in reversed(list(re.finditer(r"\bPATTERN\s*\(", sql, re.IGNORECASE))):
        end = find_closing_parenthesis(sql, pattern.end() - 1) + 1
        subset = re.match(
            r"\s*(SUBSET\s+((,\s*)?\w+\s*=\s*\([^)]*\)\s*)+)?", sql[end:], re.IGNORECASE
        )
        assert subset is not None, "all parts of the expression are optional"
        end += subset.end()
        variable = re.search(r"\b(?!PERMUTE\b)[A-Za-z]\w*", sql[pattern.end() : end])
        is_end_of_clause = sql[end] == ")"
        if is_end_of_clause and variable:
            sql = f"{sql[:end]} DEFINE {variable[0]} AS TRUE{sql[end:]}"
    return sql


def find_closing_parenthesis(sql: str, opening: int) -> int:
    """Return the position of the parenthesis that closes the one at `opening`."""
    depth = 0
    for position in range(opening, len(sql)):
        depth += (sql[position] == "(") - (sql[position] == ")")
        if depth == 0:
            return position
    raise ValueError(f"no closing parenthesis in {sql!r}")


def write_match_query(record: MatchRecord) -> str:
    """Return the query for the matches of a `match` record: a row for each row of a match.

    An exclusion becomes a group, because it changes which rows are shown, not which match.
    """
    pattern = record.pattern.replace("{-", "(").replace("-}", ")")
    names = sorted(set(re.findall(r"\b[A-Z]\b", pattern)))
    rows = ", ".join(f"({row}, '{word}')" for row, word in enumerate(record.rows))
    unions = ", ".join(f"{name} = ({', '.join(ms)})" for name, ms in record.subsets.items())
    subset = f"SUBSET {unions}" if unions else ""
    definitions = ", ".join(f"{name} AS strpos(word, '{name}') > 0" for name in names)
    return f"""SELECT * FROM (VALUES {rows}) t (start, word) MATCH_RECOGNIZE (ORDER BY start
 MEASURES MATCH_NUMBER() AS number, FINAL array_agg(CLASSIFIER()) AS names,
   FINAL FIRST(start) AS origin
 ALL ROWS PER MATCH AFTER MATCH SKIP {record.skip} PATTERN ({pattern})
 {subset} DEFINE {definitions})
 WHERE origin IS NULL OR origin = start"""


# Read Trino's results.


def read_query_rows(trino: Trino, record: QueryRecord, tables: Sequence[DataRecord]) -> Rows:
    """Return the result of a `query` record on Trino, with its rows sorted.

    Raises:
        TrinoError: Trino refuses the query.
    """
    columns, rows = trino.query(translate_query(record.sql, tables))
    types = [column.type for column in columns]
    cells = [tuple(map(show_cell, row, types)) for row in rows]
    names = [column.name for column in columns]
    return [tuple(map(fold_column_name, names, record.columns)), *sorted(cells, key=make_sort_key)]


def fold_column_name(name: str, expected_name: str) -> str:
    """Return the name of a column in lower case; for a column without one, the expected name."""
    has_no_name = re.fullmatch(r"_col\d+", name) is not None
    return expected_name.lower() if has_no_name else name.lower()


def show_cell(value: Any, type_name: str) -> Cell:
    """Return a value of Trino's JSON as a case file writes it."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        is_array = type_name.startswith("array")
        inner_type = type_name[type_name.index("(") + 1 : -1] if is_array else ""
        inner_text = ",".join(show_cell(inner, inner_type) or "NULL" for inner in value)
        return f"[{inner_text}]" if is_array else f"{{{inner_text}}}"
    if type_name.startswith("timestamp") and "." in value:
        return re.sub(r"\.?0*( UTC)?$", "", value)
    return str(value)


def list_expected_rows(record: QueryRecord) -> Rows:
    """Return the result that a `query` record expects, in the form of `read_query_rows`."""
    names = tuple(name.lower() for name in record.columns)
    return [names, *sorted(record.rows, key=make_sort_key)]


def make_sort_key(row: Sequence[Cell]) -> tuple[tuple[bool, str], ...]:
    """Return a key by which rows are sorted, NULL first."""
    return tuple((cell is not None, cell or "") for cell in row)


def read_match_lines(trino: Trino, record: MatchRecord) -> list[str]:
    """Return the matches of a `match` record on Trino, as its expected lines write them.

    Raises:
        TrinoError: Trino refuses the query.
    """
    if not record.rows:
        return []
    _, rows = trino.query(write_match_query(record))
    lines = {
        number: f"{start}: {' '.join(names or [])}".strip() for start, number, names, *_ in rows
    }
    return [lines[number] for number in sorted(lines)]


# Compare.


def compare(
    location: str, note: str | None, read_result: Callable[[], Any], expected: Any
) -> Finding:
    """Run a record on Trino, and compare its result.

    Args:
        location: the file and the line of the record.
        note: the text of the record's note `# trino:`; None if it has none.
        read_result: returns Trino's result.
        expected: the result that the record expects.
    """
    try:
        actual = read_result()
    except TrinoError as error:
        if note is not None:
            return Finding(location, Outcome.KNOWN, note)
        return Finding(location, Outcome.REFUSED, str(error))
    if actual == expected:
        return Finding(location, Outcome.STALE if note else Outcome.AGREES, note or "")
    if note is not None:
        return Finding(location, Outcome.KNOWN, note)
    detail = f"expected\n{show_rows(expected)}\nTrino has\n{show_rows(actual)}"
    return Finding(location, Outcome.DISAGREES, detail)


def show_rows(rows: Sequence[Any]) -> str:
    """Return a result as indented lines: a table, or the lines of matches."""
    if rows and isinstance(rows[0], tuple):
        rows = format_table([str(name) for name in rows[0]], rows[1:])
    return "\n".join(f"    {row}" for row in rows)


def compare_files(trino: Trino, paths: Sequence[Path]) -> Iterator[Finding]:
    """Yield the finding for each record of some case files; of all case files if there are none."""
    for file in [read_case_file(path) for path in paths] or list_case_files():
        path = file.path.relative_to(CASES) if file.path.is_relative_to(CASES) else file.path
        for query in file.queries:
            yield compare(
                f"{path}:{query.head.line}",
                query.head.note_of("trino"),
                partial(read_query_rows, trino, query, file.tables),
                list_expected_rows(query),
            )
        for match in file.matches:
            yield compare(
                f"{path}:{match.head.line}",
                match.head.note_of("trino"),
                partial(read_match_lines, trino, match),
                # The braces mark excluded rows, which `write_match_query` does not exclude.
                [re.sub(r"[{}]", "", line) for line in match.expected],
            )


def main() -> int:
    """Run the case files that the command line names, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True, help="for instance http://localhost:8080")
    parser.add_argument("files", nargs="*", type=Path, help="case files; all of them if none")
    arguments = parser.parse_args()
    counts: Counter[Outcome] = Counter()
    paths = [path.resolve() for path in arguments.files]
    for finding in compare_files(Trino(arguments.url), paths):
        counts[finding.outcome] += 1
        if finding.outcome is not Outcome.AGREES:
            print(f"{finding.location}: {finding.outcome.value}\n  {finding.detail}")
    print(", ".join(f"{counts[outcome]} {outcome.value}" for outcome in Outcome))
    return int(any(counts[outcome] for outcome in FAILURES))


if __name__ == "__main__":
    sys.exit(main())
