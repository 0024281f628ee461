"""Find the statements of a SQL text, and the files in its FROM clauses: `FROM 'prices.csv'`.

The text of a statement keeps its line and column in the file, so that errors point into the file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from matchrec.cli.files import has_known_format, strip_compression
from matchrec.cli.table_arguments import make_table
from matchrec.cli.tables import Table
from matchrec.errors import MatchRecognizeError
from matchrec.plan.words import is_reserved

if TYPE_CHECKING:
    from matchrec.syntax.tokens import Token, TokenSequence

COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
# The beginning of a script, which is one statement that contains others.
SCRIPT = re.compile(r"\s*BEGIN\b", re.IGNORECASE)
# The beginnings of statements that have rows to print and are not queries.
SHOWS_ROWS = re.compile(r"\s*(SHOW|DESC|DESCRIBE|EXPLAIN|SET|TABLE)\b", re.IGNORECASE)
TEMPORARY_VIEW = re.compile(r"\s*CREATE\s+(OR\s+REPLACE\s+)?TEMP(ORARY)?\s+VIEW\b", re.IGNORECASE)
# The definition of a table in WITH; `{name}` stands for the name of the table.
COMMON_TABLE = r"\b{name}\s*(\([^()]*\)\s*)?AS\s*\("

# Keywords before a relation.
RELATION_STARTS = ("FROM", "JOIN")
# Keywords that end a list of relations, in which commas separate relations.
RELATION_LIST_ENDS = ("SELECT", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "WINDOW", "QUALIFY")
# The words, or the bracket, after the opening parenthesis of a subquery.
SUBQUERY_STARTS = ("SELECT", "WITH", "FROM", "(")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a text."""

    # The SQL. The statements before it in the file are replaced by blanks, so that each token keeps
    # its line and column.
    text: str
    # The name of the statement in errors, such as `statement 2 of 3`; "" for the only statement.
    label: str = ""

    @property
    def is_query(self) -> bool:
        """Return whether the statement only returns rows and changes nothing."""
        from matchrec.api.text_kinds import is_query

        return is_query(self.text)

    @property
    def has_rows(self) -> bool:
        """Return whether the statement has rows to print, as queries and SHOW TABLES have.

        The text decides, because Sail returns a row for every statement.
        """
        return self.is_query or SHOWS_ROWS.match(drop_comments(self.text)) is not None

    @property
    def creates_view(self) -> bool:
        """Return whether the statement makes a temporary view."""
        return TEMPORARY_VIEW.match(drop_comments(self.text)) is not None


def drop_comments(text: str) -> str:
    """Replace each comment of a SQL text by a space, to look at its first words.

    `--` and `/*` in a string count as comments, too, so the result is not the same query.
    """
    return COMMENT.sub(" ", text)


def split_statements(text: str) -> tuple[Statement, ...]:
    """Return the statements between semicolons.

    A script (`BEGIN ... END`) is one statement, and so is a text whose tokens cannot be read.

    >>> for statement in split_statements("SELECT ';'; SELECT 2;"):
    ...     print(statement.label, "|", statement.text)
    statement 1 of 2 | SELECT ';'
    statement 2 of 2 |             SELECT 2
    """
    tokens = try_read_tokens(text)
    if tokens is None or SCRIPT.match(drop_comments(text)):
        return (Statement(text),)
    semicolons = [
        index
        for index in tokens.indices_by_key.get(";", ())
        if tokens.enclosing_openings[index] < 0
    ]
    starts = [0, *(index + 1 for index in semicolons)]
    ends = [*semicolons, len(tokens)]
    spans = [
        (tokens[start].span.start, tokens[end - 1].span.end)
        for start, end in zip(starts, ends, strict=True)
        if start < end
    ]
    if len(spans) < 2:
        return (Statement(text),)
    return tuple(
        Statement(blank_out(text[:start]) + text[start:end], f"statement {number} of {len(spans)}")
        for number, (start, end) in enumerate(spans, 1)
    )


def blank_out(text: str) -> str:
    """Replace every character except white space with a space."""
    return re.sub(r"\S", " ", text)


def replace_file_names(text: str, table_names: Collection[str]) -> tuple[str, list[Table]]:
    """Replace each file in FROM and JOIN by the name of a table. Return the text and the tables.

    `choose_table_name` names the tables. Spaces after a name keep the rest of the line in its
    column, unless the name is longer than the path in quotes. A text whose tokens cannot be read,
    and names of files without a known format, stay as they are.

        SELECT * FROM 'data/prices.csv' WHERE x > 1
        SELECT * FROM prices            WHERE x > 1

    Args:
        text: one or more statements.
        table_names: the names of other tables, which the new tables do not get.

    Raises:
        MatchRecognizeError: a file does not exist.
    """
    tokens = try_read_tokens(text)
    if tokens is None:
        return text, []
    tables: dict[str, Table] = {}  # by the path in the text
    new_text = ""
    end = 0  # `new_text` has the text up to here
    for token in find_file_tokens(tokens):
        path = read_path(token)
        if path not in tables:
            used_names = (*table_names, *(table.name for table in tables.values()))
            tables[path] = make_table(choose_table_name(path, used_names, text), path)
        new_text += text[end : token.span.start] + tables[path].name.ljust(len(token.text))
        end = token.span.end
    return new_text + text[end:], list(tables.values())


def try_read_tokens(text: str) -> TokenSequence | None:
    """Return the tokens of a text; None if it has a mistake, which is reported later."""
    from matchrec.syntax.tokenize import read_tokens

    try:
        return read_tokens(text)
    except MatchRecognizeError:
        return None


def find_file_tokens(tokens: TokenSequence) -> Iterator[Token]:
    """Yield the strings in FROM and JOIN that name a file of a known format."""
    # For the index of each opening parenthesis: whether a comma directly in it separates relations
    # at the current token.
    separates_relations: dict[int, bool] = {}
    follows_keyword = False  # FROM or JOIN
    for index in range(len(tokens)):
        token = tokens[index]
        parenthesis = tokens.enclosing_openings[index]
        follows_comma = tokens.key(index - 1) == "," and separates_relations.get(parenthesis, False)
        is_relation = token.is_string and (follows_keyword or follows_comma)
        if is_relation and has_known_format(Path(read_path(token))):
            yield token
        follows_keyword = precedes_relation(tokens, index)
        if follows_keyword:
            separates_relations[parenthesis] = True
        elif token.key in RELATION_LIST_ENDS:
            separates_relations[parenthesis] = False


def precedes_relation(tokens: TokenSequence, index: int) -> bool:
    """Return whether a token is a FROM or JOIN before a relation.

    The FROM in `trim(LEADING 'x' FROM s)` and in `a IS DISTINCT FROM b` precedes no relation.
    """
    parenthesis = tokens.enclosing_openings[index]
    is_in_query = parenthesis < 0 or tokens.key(parenthesis + 1) in SUBQUERY_STARTS
    is_comparison = tokens.key(index - 1) == "DISTINCT"
    return tokens.key(index) in RELATION_STARTS and is_in_query and not is_comparison


def read_path(token: Token) -> str:
    """Return the path in a string of SQL, without quotes and with `''` and `\\'` as one quote."""
    quote = token.text[-1]
    inside = token.text[token.text.index(quote) + 1 : -1]
    return inside.replace(quote * 2, quote).replace(f"\\{quote}", quote)


def choose_table_name(path: str, used_names: Collection[str], text: str) -> str:
    """Return a table name for a file: its name without the endings of format and compression.

    Characters that a name cannot have become `_`. Another `_` comes before a digit at the
    beginning, and after a name that is reserved or in use.

    Args:
        path: the file.
        used_names: the names of other tables. Upper and lower case count as the same.
        text: the query, whose WITH can define tables with other names.

    >>> choose_table_name("data/2026 prices.csv", [], ""), choose_table_name("t.csv", ["T"], "")
    ('_2026_prices', 't_')
    """
    stem = re.sub(r"\W", "_", strip_compression(Path(path)).stem, flags=re.ASCII) or "_"
    name = f"_{stem}" if stem[0].isdigit() else stem
    used_lower_names = {used_name.lower() for used_name in used_names}
    while (
        name.lower() in used_lower_names
        or is_reserved(name.upper())
        or re.search(COMMON_TABLE.format(name=name), text, re.IGNORECASE)
    ):
        name += "_"
    return name
