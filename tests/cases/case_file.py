"""Parse case files (`.test`) to records, and write them back with new expected text.

`cases/README.md` defines the format. Parsing is strict: a record that cannot be parsed raises an
error with the file and line. It is never skipped.
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
    """The first line of a record, and the comment above it."""

    line: int  # the number of the first line, from 1
    note: tuple[str, ...]  # the comment lines directly above, without `#`
    rest: str  # what follows the keyword of the record, without a `--` comment

    def note_of(self, key: str) -> str | None:
        """Return the text of the first note line `key: text`; None without one."""
        prefix = f"{key}:"
        for line in self.note:
            if line.startswith(prefix):
                return line.removeprefix(prefix).strip()
        return None


@dataclass(frozen=True, slots=True)
class DataRecord:
    """`data name (column type, ...)`: a table that the queries of the file may read."""

    head: Head
    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """`query`: SQL and the table that it returns, in any order of the rows."""

    head: Head
    sql: str
    columns: tuple[str, ...]
    types: tuple[str | None, ...]  # of each column; None if the case does not state it
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """`match PATTERN`: the matches of a row pattern over one partition, without SQL or Spark."""

    head: Head
    pattern: str
    options: tuple[str, ...]  # lines such as `skip to next row` or `subset U = A, B`
    rows: tuple[str, ...]  # the variables that each row satisfies, such as "AB"; "" for none
    # A line for each match: `start: variables`. The variables of excluded rows are in braces. For
    # an empty match nothing follows the colon.
    expected: tuple[str, ...]

    @property
    def skip(self) -> str:
        """Return AFTER MATCH SKIP without the word `skip`; `past last row` by default."""
        skips = (line for line in self.options if line.startswith("skip "))
        return next((line.removeprefix("skip ") for line in skips), "past last row")

    @property
    def subsets(self) -> dict[str, tuple[str, ...]]:
        """Return the members of each union variable."""
        lines = (
            line.removeprefix("subset ") for line in self.options if line.startswith("subset ")
        )
        pairs = (line.split("=") for line in lines)
        return {name.strip(): tuple(re.findall(r"\w+", members)) for name, members in pairs}


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """`error`: SQL and the whole message of the error that it raises."""

    head: Head
    sql: str
    message: str


@dataclass(frozen=True, slots=True)
class PatternRecord:
    """`pattern CALLS`: the matches of a Pattern over some events; see `patterns/README.md`."""

    head: Head
    calls: str  # Python that builds the pattern
    skip: str  # the words after `skip`, "" without that line
    timeouts: bool  # whether partial matches that time out are part of the result
    events: tuple[str, ...]
    expected: tuple[str, ...]  # a line for each match


@dataclass(frozen=True, slots=True)
class RefusedRecord:
    """`refused CALLS`: a Pattern that raises an error."""

    head: Head
    calls: str
    skip: str
    error: str  # the name of the class
    words: tuple[str, ...]  # the message contains each of them


Record = DataRecord | QueryRecord | MatchRecord | ErrorRecord | PatternRecord | RefusedRecord


@dataclass(frozen=True, slots=True)
class CaseFile:
    """The records of one file, in their order."""

    path: Path
    text: str
    records: tuple[Record, ...]
    # number of a record's first line, from 1 -> range of the lines below its `----`
    # (from 0, half open)
    expected_lines: Mapping[int, tuple[int, int]] = field(repr=False)

    @property
    def tables(self) -> tuple[DataRecord, ...]:
        """Return the `data` records."""
        return tuple(r for r in self.records if isinstance(r, DataRecord))

    @property
    def queries(self) -> tuple[QueryRecord, ...]:
        """Return the `query` records."""
        return tuple(r for r in self.records if isinstance(r, QueryRecord))

    @property
    def matches(self) -> tuple[MatchRecord, ...]:
        """Return the `match` records."""
        return tuple(r for r in self.records if isinstance(r, MatchRecord))

    @property
    def errors(self) -> tuple[ErrorRecord, ...]:
        """Return the `error` records."""
        return tuple(r for r in self.records if isinstance(r, ErrorRecord))

    @property
    def patterns(self) -> tuple[PatternRecord, ...]:
        """Return the `pattern` records."""
        return tuple(r for r in self.records if isinstance(r, PatternRecord))

    @property
    def refused(self) -> tuple[RefusedRecord, ...]:
        """Return the `refused` records."""
        return tuple(r for r in self.records if isinstance(r, RefusedRecord))

    def with_expected(self, expected: Mapping[int, Sequence[str]]) -> str:
        """Return the text of the file with other expected lines. All other text stays as it is.

        Args:
            expected: number of a record's first line -> its new lines below `----`.
        """
        lines = self.text.splitlines()
        for start in sorted(expected, reverse=True):
            begin, end = self.expected_lines[start]
            lines[begin:end] = expected[start]
        return "\n".join(lines) + "\n"


@lru_cache
def list_case_files(root: Path = CASES) -> tuple[CaseFile, ...]:
    """Return every case file below `root`, sorted by path."""
    return tuple(read_case_file(path) for path in sorted(root.rglob("*.test")))


def read_case_file(path: Path) -> CaseFile:
    """Parse a case file.

    Raises:
        CaseFileError: the file breaks the format.
    """
    return parse_case_file(path.read_text(encoding="utf-8"), path)


def parse_case_file(text: str, path: Path = Path("<text>")) -> CaseFile:
    """Parse the text of a case file. `path` is for messages.

    Raises:
        CaseFileError: the text breaks the format.

    >>> parse_case_file("match A B?\\nA AB\\n----\\n0: A B\\n").matches[0].rows
    ('A', 'AB')
    """
    return _Parser(path, text).parse_file()


def format_cell(cell: Cell) -> str:
    """Return the text of a value as a case file writes it.

    >>> [format_cell(cell) for cell in ("x", None, "", "a b", "NULL")]
    ['x', 'NULL', "''", "'a b'", "'NULL'"]
    """
    if cell is None:
        return "NULL"
    if cell == "" or cell == "NULL" or cell[0] in "'(#" or re.search(r"\s", cell):
        return "'" + cell.replace("'", "''") + "'"
    return cell


def parse_cells(line: str) -> tuple[Cell, ...]:
    """Return the values of a line: words, 'quoted text', (SQL expressions) or NULL.

    >>> parse_cells("1 'it''s' NULL (array(1, 2))")
    ('1', "it's", None, '(array(1, 2))')
    """
    return tuple(_parse_cell(token) for token in _split_tokens(line))


def format_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> tuple[str, ...]:
    """Return the lines of a table, with aligned columns and without trailing blanks.

    >>> format_table(("sym", "m"), (("X", "1"), (None, "12")))
    ('sym  m', 'X    1', 'NULL 12')
    """
    table = [list(columns), *([format_cell(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    padded = ([c.ljust(w) for c, w in zip(row, widths, strict=True)] for row in table)
    return tuple(" ".join(row).rstrip() for row in padded)


def _parse_cell(token: str) -> Cell:
    """Return the value of a token."""
    if token == "NULL":
        return None
    if token.startswith("'"):
        return token[1:-1].replace("''", "'")
    return token


def _split_tokens(line: str) -> list[str]:
    """Split a line into the texts of its values."""
    tokens: list[str] = []
    at = 0
    while at < len(line):
        if line[at].isspace():
            at += 1
            continue
        end = _find_token_end(line, at)
        tokens.append(line[at:end])
        at = end
    return tokens


def _find_token_end(line: str, at: int) -> int:
    """Return the end of the token that begins at a position."""
    if line[at] == "'":
        return _find_quote_end(line, at)
    if line[at] == "(":
        return _find_parenthesis_end(line, at)
    blank = re.compile(r"\s|$").search(line, at)
    assert blank is not None
    return blank.start()


def _find_quote_end(line: str, at: int) -> int:
    """Return the position after the quote that closes the one at a position."""
    end = re.compile(r"'(?:[^']|'')*'").match(line, at)
    if end is None:
        raise CaseFileError(f"no closing quote in {line!r}")
    return end.end()


def _find_parenthesis_end(line: str, at: int) -> int:
    """Return the position after the parenthesis that closes the one at a position."""
    depth = 0
    for end in range(at, len(line)):
        depth += (line[end] == "(") - (line[end] == ")")
        if depth == 0:
            return end + 1
    raise CaseFileError(f"no closing parenthesis in {line!r}")


class _Parser:
    """A parser that goes through one file line by line."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.lines = text.splitlines()
        self.at = 0  # the next line
        self.note: list[str] = []  # the comment lines directly above it
        self.expected_lines: dict[int, tuple[int, int]] = {}  # as in `CaseFile`

    def parse_file(self) -> CaseFile:
        """Parse all records."""
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
                records.append(self.parse_record(line))
        names = [r.name for r in records if isinstance(r, DataRecord)]
        for name in names:
            if names.count(name) > 1:
                raise CaseFileError(f"{self.path}: two tables are named {name}")
        return CaseFile(self.path, self.text, tuple(records), self.expected_lines)

    def parse_record(self, line: str) -> Record:
        """Parse the record that begins with the next line."""
        keyword, _, rest = line.partition(" ")
        head = Head(self.at + 1, tuple(self.note), re.sub(r"\s*(^|\s)--\s.*$", "", rest).strip())
        self.note.clear()
        self.at += 1
        try:
            return self.parse_body(keyword, head)
        except CaseFileError as error:
            raise CaseFileError(f"{self.path}:{head.line}: {error}") from None

    def parse_body(self, keyword: str, head: Head) -> Record:
        """Parse a record whose first line has been read."""
        match keyword:
            case "data":
                return self.parse_data(head)
            case "query":
                return self.parse_query(head)
            case "match":
                return self.parse_match(head)
            case "error":
                sql = "\n".join(self.read_to_separator())
                return ErrorRecord(head, sql, "\n".join(self.read_expected(head)))
            case "pattern":
                return self.parse_pattern(head)
            case "refused":
                calls, options, _ = self.parse_calls(head)
                error, *words = self.read_expected(head) or [""]
                return RefusedRecord(head, calls, find_skip(options), error, tuple(words))
            case _:
                raise CaseFileError(f"unknown kind of record {keyword!r}")

    def parse_data(self, head: Head) -> DataRecord:
        """Parse a `data` record, which ends with a blank line."""
        declaration = re.fullmatch(r"(\w+)\s*\((.*)\)", head.rest)
        if declaration is None:
            raise CaseFileError("data is followed by: name (column type, ...)")
        name, columns_text = declaration.groups()
        columns = tuple(_parse_column(text) for text in _split_columns(columns_text))
        rows = tuple(parse_cells(line) for line in self.read_to_blank())
        _check_widths(rows, len(columns))
        return DataRecord(head, name, columns, rows)

    def parse_query(self, head: Head) -> QueryRecord:
        """Parse a `query` record. Below `----` is a line of columns, `name` or `name:type`."""
        sql = "\n".join(self.read_to_separator())
        lines = self.read_expected(head)
        if not lines:
            raise CaseFileError("a query has at least its column names below ----")
        headings = [str(cell).partition(":") for cell in parse_cells(lines[0])]
        columns = tuple(name for name, _, _ in headings)
        types = tuple(column_type or None for _, _, column_type in headings)
        rows = tuple(parse_cells(line) for line in lines[1:])
        _check_widths(rows, len(columns))
        return QueryRecord(head, sql, columns, types, rows)

    def parse_match(self, head: Head) -> MatchRecord:
        """Parse a `match` record."""
        options: list[str] = []
        words: list[str] = []
        for line in self.read_to_separator():
            if re.match(r"skip |subset ", line):
                options.append(line.strip())
            else:
                words += line.split()
        wrong = [word for word in words if not re.fullmatch(r"[A-Z]+|-", word)]
        if wrong:
            raise CaseFileError(f"a row is a word of variables or -, not {wrong[0]!r}")
        rows = tuple("" if word == "-" else word for word in words)
        return MatchRecord(head, head.rest, tuple(options), rows, tuple(self.read_expected(head)))

    def parse_pattern(self, head: Head) -> PatternRecord:
        """Parse a `pattern` record."""
        calls, options, events = self.parse_calls(head)
        expected = tuple(self.read_expected(head))
        timeouts = "timeouts" in options
        return PatternRecord(head, calls, find_skip(options), timeouts, tuple(events), expected)

    def parse_calls(self, head: Head) -> tuple[str, list[str], list[str]]:
        """Return the calls of a pattern, the options and the events.

        Lines that start with a dot continue the calls.
        """
        calls = head.rest
        options: list[str] = []
        words: list[str] = []
        for line in self.read_to_separator():
            if line.lstrip().startswith("."):
                calls += line.strip()
            elif line == "timeouts" or line.startswith("skip "):
                options.append(line)
            else:
                words += line.split()
        return calls, options, words

    def read_to_separator(self) -> list[str]:
        """Read the lines before `----`, and that line."""
        start = self.at
        while self.at < len(self.lines):
            self.at += 1
            if self.lines[self.at - 1] == SEPARATOR:
                return self.lines[start : self.at - 1]
        raise CaseFileError(f"no {SEPARATOR}")

    def read_to_blank(self) -> list[str]:
        """Read the lines before a blank line or the end of the file."""
        start = self.at
        while self.at < len(self.lines) and self.lines[self.at].strip():
            self.at += 1
        return self.lines[start : self.at]

    def read_expected(self, head: Head) -> list[str]:
        """Read the lines below `----`."""
        start = self.at
        lines = self.read_to_blank()
        self.expected_lines[head.line] = (start, self.at)
        return lines


def find_skip(options: Sequence[str]) -> str:
    """Return the words after `skip`; "" without such a line."""
    skips = (line for line in options if line.startswith("skip "))
    return next((line.removeprefix("skip ") for line in skips), "")


def _split_columns(text: str) -> list[str]:
    """Split `a int, d decimal(5,2)` into two texts, at commas outside of parentheses and <>."""
    return re.findall(r"(?:[^,(<]|\([^)]*\)|<[^>]*>)+", text)


def _parse_column(text: str) -> Column:
    """Parse the name and type of a column."""
    name, _, column_type = text.strip().partition(" ")
    if not column_type.strip():
        raise CaseFileError(f"column {name!r} has no type")
    return Column(name, column_type.strip())


def _check_widths(rows: Sequence[Sequence[Cell]], width: int) -> None:
    """Raise CaseFileError if a row does not have a value for each column."""
    for row in rows:
        if len(row) != width:
            raise CaseFileError(f"{len(row)} values for {width} columns: {row}")
