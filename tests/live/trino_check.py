"""Runs the case files on a live Trino and lists where it agrees, disagrees or refuses.

`cases/README.md` says how to use it. Not collected by pytest: it needs a server.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
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

TYPES = {
    "string": "varchar",
    "int": "integer",
    "float": "real",
    "binary": "varbinary",
    "timestamp": "timestamp(6)",
    "timestamp_ntz": "timestamp(6)",
}
SPELLINGS: tuple[tuple[str, str], ...] = (
    (r"`([^`]+)`", r'"\1"'),
    (r"\bcollect_list\s*\(", "array_agg("),
    (r"\bAS\s+string\b", "AS varchar"),
    (r"\bAS\s+int\b", "AS integer"),
    (r"\bINTERVAL\s+(\d+)\s+(\w+?)S?\b", r"INTERVAL '\1' \2"),
    (r"==", "="),
    (r"\blocate\s*\(\s*('[^']*')\s*,\s*([\w.]+)\s*\)", r"strpos(\2, \1)"),
)


class TrinoError(Exception):
    """Trino's own message for a query that it refuses."""


class Outcome(Enum):
    AGREES = "agrees"
    DISAGREES = "DISAGREES"
    REFUSED = "REFUSED by Trino"
    KNOWN = "known difference"
    STALE = "NOTE IS STALE: Trino agrees"


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one record; detail is empty when Trino agrees."""

    place: str
    outcome: Outcome
    detail: str


Rows = list[tuple[Cell, ...]]


class Trino:
    """A Trino server, over its statement protocol."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    def query(self, sql: str) -> tuple[list[Column], list[list[Any]]]:
        """Columns and rows of `sql`. Raises TrinoError."""
        headers = {"X-Trino-User": "matchrec", "X-Trino-Catalog": "memory"}
        headers["X-Trino-Schema"] = "default"
        target = f"{self.url}/v1/statement"
        request = urllib.request.Request(target, sql.encode(), headers)
        columns: list[Column] = []
        rows: list[list[Any]] = []
        while True:
            with urllib.request.urlopen(request) as answer:
                reply = json.load(answer)
            if "error" in reply:
                raise TrinoError(reply["error"]["message"])
            columns = [Column(c["name"], c["type"]) for c in reply.get("columns", [])] or columns
            rows += reply.get("data", [])
            if "nextUri" not in reply:
                return columns, rows
            request = urllib.request.Request(reply["nextUri"], headers=headers)


def trino_query(sql: str, tables: Sequence[DataRecord]) -> str:
    """Spark SQL over `tables` as one Trino query that brings its tables along."""
    used = [t for t in tables if re.search(rf"\b{t.name}\b", sql, re.IGNORECASE)]
    for spark, trino in SPELLINGS:
        sql = re.sub(spark, trino, sql, flags=re.IGNORECASE)
    sql = with_define(nulls_first(sql.strip().rstrip(";")))
    prefix = "WITH " + ",\n".join(map(table_expression, used)) if used else ""
    with_clause = re.match(r"WITH\s", sql, re.IGNORECASE)
    if with_clause and used:
        return f"{prefix},\n{sql[with_clause.end() :]}"
    return f"{prefix}\n{sql}"


def table_expression(table: DataRecord) -> str:
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    types = [trino_type(column.type) for column in table.columns]
    rows = table.rows or ((None,) * len(types),)
    values = ", ".join("(" + ", ".join(map(value, row, types)) + ")" for row in rows)
    where = "" if table.rows else " WHERE false"
    return f"{table.name} ({names}) AS (SELECT * FROM (VALUES {values}){where})"


def value(cell: Cell, kind: str) -> str:
    if cell is None:
        return f"CAST(NULL AS {kind})"
    if cell.startswith("("):
        return cell
    return "CAST('" + cell.replace("'", "''") + f"' AS {kind})"


def trino_type(spark: str) -> str:
    return TYPES.get(spark.lower(), spark)


def nulls_first(sql: str) -> str:
    """Sort items that leave it open where NULLs go get what Spark does: first, with DESC last."""
    end = r"\)|MEASURES|ROWS\s+BETWEEN|ONE\s+ROW|ALL\s+ROWS|AFTER\s+MATCH|PATTERN|LIMIT|$"
    clause = re.compile(rf"\bORDER\s+BY\s+((?:[^()]|\([^()]*\))*?)\s*(?=\s(?:{end})|{end})", re.I)
    return clause.sub(
        lambda found: f"ORDER BY {', '.join(map(sort_item, found[1].split(',')))} ", sql
    )


def sort_item(item: str) -> str:
    if re.search(r"\bNULLS\b", item, re.IGNORECASE):
        return item.strip()
    return item.strip() + (" NULLS LAST" if re.search(r"\bDESC\b", item, re.I) else " NULLS FIRST")


def with_define(sql: str) -> str:
    """Trino wants a DEFINE: the first variable of the pattern, true for every row."""
    for found in reversed(list(re.finditer(r"\bPATTERN\s*\(", sql, re.IGNORECASE))):
        end = closing(sql, found.end() - 1)
        subset = re.match(r"\s*(SUBSET\s+((,\s*)?\w+\s*=\s*\([^)]*\)\s*)+)?", sql[end:], re.I)
        assert subset is not None
        end += subset.end()
        variable = re.search(r"\b(?!PERMUTE\b)[A-Za-z]\w*", sql[found.end() : end])
        if sql[end] == ")" and variable:
            sql = f"{sql[:end]} DEFINE {variable[0]} AS TRUE{sql[end:]}"
    return sql


def closing(sql: str, start: int) -> int:
    """Position behind the parenthesis that closes the one at `start`."""
    depth = 0
    for at in range(start, len(sql)):
        depth += (sql[at] == "(") - (sql[at] == ")")
        if depth == 0:
            return at + 1
    raise ValueError(f"no closing parenthesis in {sql!r}")


def text_of(cell: Any, kind: str) -> Cell:
    """A value of Trino's JSON in the words of a case file."""
    if cell is None:
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, list):
        inner = kind[kind.index("(") + 1 : -1] if kind.startswith("array") else ""
        parts = ",".join(text_of(part, inner) or "NULL" for part in cell)
        return f"[{parts}]" if kind.startswith("array") else f"{{{parts}}}"
    if kind.startswith("timestamp"):
        return re.sub(r"\.?0*( UTC)?$", "", cell) if "." in cell else str(cell)
    return str(cell)


def query_rows(trino: Trino, record: QueryRecord, tables: Sequence[DataRecord]) -> Rows:
    columns, rows = trino.query(trino_query(record.sql, tables))
    texts = [tuple(map(text_of, row, (c.type for c in columns))) for row in rows]
    names = [*map(column_name, (c.name for c in columns), record.columns)]
    return [tuple(names), *sorted(texts, key=sort_key)]


def column_name(name: str, expected: str) -> str:
    """The name of a column; one that has none is as good as the one that Spark gives it."""
    return expected.lower() if re.fullmatch(r"_col\d+", name) else name.lower()


def expected_rows(record: QueryRecord) -> Rows:
    return [tuple(map(str.lower, record.columns)), *sorted(record.rows, key=sort_key)]


def sort_key(row: Sequence[Cell]) -> tuple[tuple[bool, str], ...]:
    return tuple((cell is not None, cell or "") for cell in row)


def match_lines(trino: Trino, record: MatchRecord) -> list[str]:
    """The matches of a `match` record as its expected lines write them."""
    if not record.rows:
        return []
    _, rows = trino.query(match_query(record))
    found = {
        number: f"{start}: {' '.join(names or [])}".strip() for start, number, names, *_ in rows
    }
    return [found[number] for number in sorted(found)]


def match_query(record: MatchRecord) -> str:
    """Exclusion becomes a group: it changes what is shown, not what matches."""
    pattern = record.pattern.replace("{-", "(").replace("-}", ")")
    names = sorted(set(re.findall(r"\b[A-Z]\b", pattern)))
    values = ", ".join(f"({row}, '{word}')" for row, word in enumerate(record.rows))
    subsets = ", ".join(f"{u} = ({', '.join(members)})" for u, members in record.subsets.items())
    define = ", ".join(f"{name} AS strpos(word, '{name}') > 0" for name in names)
    return f"""SELECT * FROM (VALUES {values}) t (start, word) MATCH_RECOGNIZE (ORDER BY start
 MEASURES MATCH_NUMBER() AS number, FINAL array_agg(CLASSIFIER()) AS names,
   FINAL FIRST(start) AS origin
 ALL ROWS PER MATCH AFTER MATCH SKIP {record.skip} PATTERN ({pattern})
 {"SUBSET " + subsets if subsets else ""} DEFINE {define})
 WHERE origin IS NULL OR origin = start"""


def judged(place: str, note: str | None, ask: Callable[[], Any], expected: Any) -> Finding:
    """Asks Trino, compares, and weighs the record's `trino:` note."""
    try:
        answer = ask()
    except TrinoError as error:
        return Finding(place, Outcome.KNOWN if note else Outcome.REFUSED, note or str(error))
    if answer == expected:
        return Finding(place, Outcome.STALE if note else Outcome.AGREES, note or "")
    detail = note or f"expected\n{as_text(expected)}\nTrino has\n{as_text(answer)}"
    return Finding(place, Outcome.KNOWN if note else Outcome.DISAGREES, detail)


def as_text(rows: Sequence[Any]) -> str:
    if rows and isinstance(rows[0], tuple):
        rows = format_table([str(name) for name in rows[0]], rows[1:])
    return "\n".join(f"    {row}" for row in rows)


def findings(trino: Trino, paths: Sequence[Path]) -> Iterable[Finding]:
    for file in [read_case_file(path) for path in paths] or list_case_files():
        where = file.path.relative_to(CASES) if file.path.is_relative_to(CASES) else file.path
        for record in file.queries:
            yield judged(
                f"{where}:{record.head.line}",
                record.head.note_of("trino"),
                lambda r=record, t=file.tables: query_rows(trino, r, t),  # type: ignore[misc]
                expected_rows(record),
            )
        for match in file.matches:
            yield judged(
                f"{where}:{match.head.line}",
                match.head.note_of("trino"),
                lambda m=match: match_lines(trino, m),  # type: ignore[misc]
                [re.sub(r"[{}]", "", line) for line in match.expected],
            )


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--url", required=True, help="for instance http://localhost:8080")
    arguments.add_argument("files", nargs="*", type=Path, help="case files; all of them if none")
    options = arguments.parse_args()
    counts: Counter[Outcome] = Counter()
    for finding in findings(Trino(options.url), [path.resolve() for path in options.files]):
        counts[finding.outcome] += 1
        if finding.outcome is not Outcome.AGREES:
            print(f"{finding.place}: {finding.outcome.value}\n  {finding.detail}")
    print(", ".join(f"{counts[outcome]} {outcome.value}" for outcome in Outcome))
    return int(any(counts[o] for o in (Outcome.DISAGREES, Outcome.REFUSED, Outcome.STALE)))


if __name__ == "__main__":
    sys.exit(main())
