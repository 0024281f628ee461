"""Lexers of Pygments for the code blocks of the site: SQL with the clause, also in Python strings.

`use_lexers` lets Pygments use them for blocks of `sql` and `python`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from pygments import lexers
from pygments.lexers.python import PythonLexer
from pygments.lexers.sql import SqlLexer
from pygments.token import Error, Keyword, Name, Punctuation, String

__all__ = ["ClauseLexer", "PythonWithClauseLexer"]

Token = tuple[int, Any, str]  # where it begins, its type, its text

# The keywords of the clause that SQL's lexer does not know.
KEYWORDS = frozenset(
    [
        *("ALL", "DEFINE", "EMPTY", "EXCLUSION", "FINAL", "FIRST", "INITIAL", "INTERVAL", "LAST"),
        *("LONGEST", "MATCH", "MATCHES", "MATCH_RECOGNIZE", "MEASURES", "NEXT", "ONE", "PARTITION"),
        *("PAST", "PATTERN", "PERMUTE", "PREV", "ROW", "ROWS", "RUNNING", "SEEK", "SHOW", "SKIP"),
        *("STRICT", "SUBSET", "TILL", "UNMATCHED", "WITHIN"),
    ]
)
QUERY = re.compile(
    r'(?P<quotes>"""|\'\'\')(?P<sql>.*\b(?:SELECT|PATTERN|DEFINE)\b.*)(?P=quotes)', re.S
)


class ClauseLexer(SqlLexer):
    """SQL with the keywords of MATCH_RECOGNIZE, and with `{name}` for a DataFrame."""

    name = "SQL with MATCH_RECOGNIZE"

    def get_tokens_unprocessed(self, text: str) -> Iterator[Token]:
        """Yield the tokens of a query."""
        for start, kind, token in super().get_tokens_unprocessed(text):
            if token in KEYWORDS:
                yield start, Keyword, token
            elif kind is Error:
                yield start, Punctuation, token
            elif kind is Keyword and not token.isupper():
                yield start, Name, token  # such as the columns `day` and `match`
            else:
                yield start, kind, token


class PythonWithClauseLexer(PythonLexer):
    """Python in which strings of several lines that are queries have the colours of SQL."""

    name = "Python with MATCH_RECOGNIZE"

    def get_tokens_unprocessed(self, text: str) -> Iterator[Token]:
        """Yield the tokens of a block."""
        tokens = super().get_tokens_unprocessed(text)
        for is_string, group in groupby(tokens, lambda token: token[1] in String):
            parts = list(group)
            query = QUERY.fullmatch("".join(part for _, _, part in parts)) if is_string else None
            if query is None:
                yield from parts
            else:
                yield from list_query_tokens(query, parts[0][0])


def list_query_tokens(query: re.Match[str], start: int) -> Iterator[Token]:
    """Yield the tokens of a Python string that is a query.

    Args:
        query: the match of `QUERY`.
        start: where the string begins in its block.
    """
    yield start, String, query["quotes"]
    for index, kind, token in ClauseLexer().get_tokens_unprocessed(query["sql"]):
        yield start + query.start("sql") + index, kind, token
    yield start + query.end("sql"), String, query["quotes"]


def use_lexers() -> None:
    """Let Pygments use the lexers of this module instead of its own ones for SQL and Python."""
    for replaced, lexer in (("SqlLexer", ClauseLexer), ("PythonLexer", PythonWithClauseLexer)):
        _, _, aliases, files, types = lexers.LEXERS[replaced]
        lexers.LEXERS[replaced] = (__name__, lexer.name, aliases, files, types)
