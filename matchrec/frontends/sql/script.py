"""SQL scripts, BEGIN ... END: the statements of one that has clauses and runs them in turn."""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.errors.kinds import shown_in
from matchrec.errors.sql import query as errors
from matchrec.frontends.lexing.dialect import SPARK, Dialect
from matchrec.frontends.lexing.function_names import words
from matchrec.frontends.lexing.token_sequence import Range, TokenSequence, read_tokens
from matchrec.frontends.sql.query.brackets import refuse_unbalanced
from matchrec.frontends.sql.query.cuts import find_clauses
from matchrec.frontends.sql.windows.find import find_pattern_windows
from matchrec.source import Source, Span

_CONTROL = words("BEGIN CASE DECLARE FOR GET IF ITERATE LEAVE LOOP OPEN FETCH CLOSE REPEAT WHILE")
_ROWS = words("SELECT WITH FROM VALUES TABLE")
_WRITES = words("INSERT UPDATE DELETE MERGE")


def split_script(text: str, dialect: Dialect = SPARK) -> tuple[str, ...]:
    """The statements of a script with clauses, each at its place in the text; else nothing.

    Raises MatchRecognizeError where they do not simply follow each other, or brackets stay open.

    >>> split_script("BEGIN DROP TABLE v; SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A)); END")[0]
    '      DROP TABLE v'
    """
    tokens = read_tokens(text, dialect)
    if tokens.key(0) != "BEGIN":
        return ()
    with shown_in(Source(text)):
        refuse_unbalanced(tokens)
        if not find_clauses(tokens) and not find_pattern_windows(tokens):
            return ()
        return tuple(_alone(text, _checked(tokens, *one)) for one in _statements(tokens))


def gives_rows(statement: str) -> bool:
    """Whether a statement is a query, whose rows may be the result of a script."""
    tokens = read_tokens(statement)
    first = next((one.key for one in tokens.tokens if one.key != "("), "")
    level = (tokens.key(index) for index in tokens.level(0, len(tokens)))
    return first in _ROWS and not _WRITES & set(level)


def _statements(tokens: TokenSequence) -> Iterator[Range]:
    """The ranges between BEGIN, semicolons and the last END."""
    end = len(tokens) - 1
    while end and tokens.key(end) != "END":
        end -= 1
    first = 1
    for index in tokens.level(1, end):
        if tokens.key(index) == ";":
            yield first, index
            first = index + 1
    if first < end:
        yield first, end


def _checked(tokens: TokenSequence, start: int, end: int) -> Span:
    """Where a statement stands that needs no script around it."""
    word = tokens.key(start)
    sets = word == "SET" and tokens.key(start + 1) not in ("VAR", "VARIABLE")
    if word in _CONTROL or sets or tokens.key(start + 1) == ":":
        raise errors.control_in_script(word, tokens[start].span)
    return tokens.span(start, end)


def _alone(text: str, span: Span) -> str:
    """The text of a statement, with blanks in place of all that stands before it."""
    before = "".join("\n" if one == "\n" else " " for one in text[: span.start])
    return before + text[span.start : span.end]
