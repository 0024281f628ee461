"""Case files: `.test` text → records, and back with new expected text.

The format is defined in `cases/README.md`. Parsing is strict: a record that is not understood is
an error that names the file and the line, never skipped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

CASES = Path(__file__).parent
SEPARATOR = "----"

Cell = str | None  # the text of a value; None is NULL


class CaseFileError(ValueError):
    """A case file that breaks the format; the message starts with `file:line`."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a data table, its type as Spark's DDL writes it."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Head:
    """Where a record starts (line, from 1), the comment above it, and the rest of its first line.

    note: the comment lines directly above, without `#`.
    rest: what follows the record's keyword, without its `--` comment.
    """

    line: int
    note: tuple[str, ...]
    rest: str

    def note_of(self, key: str) -> str | None:
        """Text of the first note line `key: text`, or None."""
        prefix = f"{key}:"
        found = (line for line in self.note if line.startswith(prefix))
        return next((line.removeprefix(prefix).strip() for line in found), None)


@dataclass(frozen=True, slots=True)
class DataRecord:
    """`data name (column type, ...)`: a table that the queries of the file may read."""

    head: Head
    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """`query`: SQL and the table it gives; the order of the rows does not count.

    types: the type of each column that the case states, None for the others.
    """

    head: Head
    sql: str
    columns: tuple[str, ...]
    types: tuple[str | None, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """`match PATTERN`: the matches of a row pattern over one partition, without SQL or Spark.

    rows: the word of variables that each row satisfies, `""` for none.
    options: lines such as `skip to next row` or `subset U = A, B`, in lower case keywords.
    expected: a line for each match, `start: variables`, nothing after the colon if it is empty,
        the variables of excluded rows in braces.
    """

    head: Head
    pattern: str
    options: tuple[str, ...]
    rows: tuple[str, ...]
    expected: tuple[str, ...]

    @property
    def skip(self) -> str:
        """The AFTER MATCH SKIP option without the word skip, `past last row` if none is given."""
        skips = (line for line in self.options if line.startswith("skip "))
        return next((line.removeprefix("skip ") for line in skips), "past last row")

    @property
    def subsets(self) -> dict[str, tuple[str, ...]]:
        """Union variable → its members."""
        lines = (
            line.removeprefix("subset ") for line in self.options if line.startswith("subset ")
        )
        pairs = (line.split("=") for line in lines)
        return {name.strip(): tuple(re.findall(r"\w+", members)) for name, members in pairs}


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """`error`: SQL and the whole message that it ends in."""

    head: Head
    sql: str
    message: str


@dataclass(frozen=True, slots=True)
class PatternRecord:
    """`pattern CALLS`: the matches of a Pattern over some events; `cases/patterns/README.md`.

    calls: Python text that builds the pattern. skip: the words behind `skip`, "" if there are none.
    timeouts: whether timed-out partial matches are asked for. expected: a line for each match.
    """

    head: Head
    calls: str
    skip: str
    timeouts: bool
    events: tuple[str, ...]
    expected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RefusedRecord:
    """`refused CALLS`: a Pattern that is an error, of that class, whose message has these words."""

    head: Head
    calls: str
    skip: str
    error: str
    words: tuple[str, ...]


Record = DataRecord | QueryRecord | MatchRecord | ErrorRecord | PatternRecord | RefusedRecord


@dataclass(frozen=True, slots=True)
class CaseFile:
    """The records of one file, in their order.

    expected_lines: first line of a record → half open range of the lines below its `----`.
    """

    path: Path
    text: str
    records: tuple[Record, ...]
    expected_lines: Mapping[int, tuple[int, int]] = field(repr=False)

    @property
    def tables(self) -> tuple[DataRecord, ...]:
        return tuple(r for r in self.records if isinstance(r, DataRecord))

    @property
    def queries(self) -> tuple[QueryRecord, ...]:
        return tuple(r for r in self.records if isinstance(r, QueryRecord))

    @property
    def matches(self) -> tuple[MatchRecord, ...]:
        return tuple(r for r in self.records if isinstance(r, MatchRecord))

    @property
    def errors(self) -> tuple[ErrorRecord, ...]:
        return tuple(r for r in self.records if isinstance(r, ErrorRecord))

    @property
    def patterns(self) -> tuple[PatternRecord, ...]:
        return tuple(r for r in self.records if isinstance(r, PatternRecord))

    @property
    def refused(self) -> tuple[RefusedRecord, ...]:
        return tuple(r for r in self.records if isinstance(r, RefusedRecord))

    def with_expected(self, expected: Mapping[int, Sequence[str]]) -> str:
        """The file's text with other lines below `----` in the records that start at these lines.

        All other text stays as it is.
        """
        lines = self.text.splitlines()
        for start in sorted(expected, reverse=True):
            begin, end = self.expected_lines[start]
            lines[begin:end] = expected[start]
        return "\n".join(lines) + "\n"


@lru_cache
def case_files(root: Path = CASES) -> tuple[CaseFile, ...]:
    """Every case file below `root`, by path."""
    return tuple(read_case_file(path) for path in sorted(root.rglob("*.test")))


def read_case_file(path: Path) -> CaseFile:
    return parse_case_file(path.read_text(encoding="utf-8"), path)


def parse_case_file(text: str, path: Path = Path("<text>")) -> CaseFile:
    """The records of `text`; `path` is for messages.

    >>> parse_case_file("match A B?\\nA AB\\n----\\n0: A B\\n").matches[0].rows
    ('A', 'AB')
    """
    return _Reader(path, text).case_file()


def format_cell(cell: Cell) -> str:
    """A value's text as a case file writes it.

    >>> [format_cell(cell) for cell in ("x", None, "", "a b", "NULL")]
    ['x', 'NULL', "''", "'a b'", "'NULL'"]
    """
    if cell is None:
        return "NULL"
    if cell == "" or cell == "NULL" or cell[0] in "'(#" or re.search(r"\s", cell):
        return "'" + cell.replace("'", "''") + "'"
    return cell


def parse_cells(line: str) -> tuple[Cell, ...]:
    """The values of a line: words, 'quoted text', (SQL expressions) or NULL.

    >>> parse_cells("1 'it''s' NULL (array(1, 2))")
    ('1', "it's", None, '(array(1, 2))')
    """
    return tuple(_cell(token) for token in _tokens(line))


def format_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> tuple[str, ...]:
    """Lines of a table, columns aligned, without trailing blanks.

    >>> format_table(("sym", "m"), (("X", "1"), (None, "12")))
    ('sym  m', 'X    1', 'NULL 12')
    """
    table = [list(columns), *([format_cell(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    padded = ([c.ljust(w) for c, w in zip(row, widths, strict=True)] for row in table)
    return tuple(" ".join(row).rstrip() for row in padded)


def _cell(token: str) -> Cell:
    if token == "NULL":
        return None
    if token.startswith("'"):
        return token[1:-1].replace("''", "'")
    return token


def _tokens(line: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    while at < len(line):
        if line[at].isspace():
            at += 1
            continue
        end = _token_end(line, at)
        tokens.append(line[at:end])
        at = end
    return tokens


def _token_end(line: str, at: int) -> int:
    if line[at] == "'":
        return _quote_end(line, at)
    if line[at] == "(":
        return _parenthesis_end(line, at)
    blank = re.compile(r"\s|$").search(line, at)
    assert blank is not None
    return blank.start()


def _quote_end(line: str, at: int) -> int:
    end = re.compile(r"'(?:[^']|'')*'").match(line, at)
    if end is None:
        raise CaseFileError(f"no closing quote in {line!r}")
    return end.end()


def _parenthesis_end(line: str, at: int) -> int:
    depth = 0
    for end in range(at, len(line)):
        depth += (line[end] == "(") - (line[end] == ")")
        if depth == 0:
            return end + 1
    raise CaseFileError(f"no closing parenthesis in {line!r}")


class _Reader:
    """Reads one file from its first line to its last."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.lines = text.splitlines()
        self.at = 0
        self.note: list[str] = []
        self.expected_lines: dict[int, tuple[int, int]] = {}

    def case_file(self) -> CaseFile:
        records: list[Record] = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.startswith("#"):
                self.note.append(line.removeprefix("#").strip())
                self.at += 1
            elif not line.strip():
                self.note.clear()
                self.at += 1
            else:
                records.append(self.record(line))
        names = [r.name for r in records if isinstance(r, DataRecord)]
        for name in names:
            if names.count(name) > 1:
                raise CaseFileError(f"{self.path}: two tables are named {name}")
        return CaseFile(self.path, self.text, tuple(records), self.expected_lines)

    def record(self, line: str) -> Record:
        keyword, _, rest = line.partition(" ")
        head = Head(self.at + 1, tuple(self.note), re.sub(r"\s*(^|\s)--\s.*$", "", rest).strip())
        self.note.clear()
        self.at += 1
        try:
            return self.body(keyword, head)
        except CaseFileError as error:
            raise CaseFileError(f"{self.path}:{head.line}: {error}") from None

    def body(self, keyword: str, head: Head) -> Record:
        match keyword:
            case "data":
                return self.data(head)
            case "query":
                return self.query(head)
            case "match":
                return self.match(head)
            case "error":
                sql = "\n".join(self.upto_separator())
                return ErrorRecord(head, sql, "\n".join(self.expected(head)))
            case "pattern":
                return self.pattern(head)
            case "refused":
                calls, options, _ = self.calls(head)
                error, *words = self.expected(head) or [""]
                return RefusedRecord(head, calls, skip_of(options), error, tuple(words))
            case _:
                raise CaseFileError(f"unknown kind of record {keyword!r}")

    def data(self, head: Head) -> DataRecord:
        found = re.fullmatch(r"(\w+)\s*\((.*)\)", head.rest)
        if found is None:
            raise CaseFileError("data is followed by: name (column type, ...)")
        columns = tuple(_column(text) for text in _split_columns(found[2]))
        rows = tuple(parse_cells(line) for line in self.upto_blank())
        _check_widths(rows, len(columns))
        return DataRecord(head, found[1], columns, rows)

    def query(self, head: Head) -> QueryRecord:
        sql = "\n".join(self.upto_separator())
        lines = self.expected(head)
        if not lines:
            raise CaseFileError("a query has at least its column names below ----")
        names = [str(cell).partition(":") for cell in parse_cells(lines[0])]
        rows = tuple(parse_cells(line) for line in lines[1:])
        _check_widths(rows, len(names))
        columns = tuple(name for name, _, _ in names)
        return QueryRecord(head, sql, columns, tuple(t or None for _, _, t in names), rows)

    def match(self, head: Head) -> MatchRecord:
        options: list[str] = []
        words: list[str] = []
        for line in self.upto_separator():
            if re.match(r"skip |subset ", line):
                options.append(line.strip())
            else:
                words += line.split()
        wrong = [word for word in words if not re.fullmatch(r"[A-Z]+|-", word)]
        if wrong:
            raise CaseFileError(f"a row is a word of variables or -, not {wrong[0]!r}")
        rows = tuple("" if word == "-" else word for word in words)
        return MatchRecord(head, head.rest, tuple(options), rows, tuple(self.expected(head)))

    def pattern(self, head: Head) -> PatternRecord:
        calls, options, events = self.calls(head)
        expected = tuple(self.expected(head))
        timeouts = "timeouts" in options
        return PatternRecord(head, calls, skip_of(options), timeouts, tuple(events), expected)

    def calls(self, head: Head) -> tuple[str, list[str], list[str]]:
        """The calls, which go on in lines that start with a dot, the options and the events."""
        calls, options, words = head.rest, [], []
        for line in self.upto_separator():
            if line.lstrip().startswith("."):
                calls += line.strip()
            elif line == "timeouts" or line.startswith("skip "):
                options.append(line)
            else:
                words += line.split()
        return calls, options, words

    def upto_separator(self) -> list[str]:
        start = self.at
        while self.at < len(self.lines):
            self.at += 1
            if self.lines[self.at - 1] == SEPARATOR:
                return self.lines[start : self.at - 1]
        raise CaseFileError(f"no {SEPARATOR}")

    def upto_blank(self) -> list[str]:
        start = self.at
        while self.at < len(self.lines) and self.lines[self.at].strip():
            self.at += 1
        return self.lines[start : self.at]

    def expected(self, head: Head) -> list[str]:
        start = self.at
        lines = self.upto_blank()
        self.expected_lines[head.line] = (start, self.at)
        return lines


def skip_of(options: Sequence[str]) -> str:
    skips = (line for line in options if line.startswith("skip "))
    return next((line.removeprefix("skip ") for line in skips), "")


def _split_columns(text: str) -> list[str]:
    """`a int, d decimal(5,2)` → its two parts: commas in parentheses or <> do not divide."""
    return re.findall(r"(?:[^,(<]|\([^)]*\)|<[^>]*>)+", text)


def _column(text: str) -> Column:
    name, _, kind = text.strip().partition(" ")
    if not kind.strip():
        raise CaseFileError(f"column {name!r} has no type")
    return Column(name, kind.strip())


def _check_widths(rows: Sequence[Sequence[Cell]], width: int) -> None:
    for row in rows:
        if len(row) != width:
            raise CaseFileError(f"{len(row)} values for {width} columns: {row}")
