"""Mark generated SQL with what the user wrote, so that Spark's run-time errors can be located.

    SELECT `day` AS __c0,                       [DIVIDE_BY_ZERO] Division by zero. ...
    /* DEFINE A, line 5 */ 10 / `b` > 2    →    == SQL (line 2, position 24) ==
     AS __x1 FROM t                             /* DEFINE A, line 5 */ 10 / `b` > 2
                                                                       ^^^^^^^^

1. `mark_origin` puts each expression in a separate line, with a comment that says where it is
   from, and remembers the line.
2. If Spark cannot compute the expression, its error shows this line with carets. So the user sees
   the comment, whichever action they call.
3. `MatchRecognizeRunError.from_exception` calls `sql_failures.find_failure`, which looks the line
   up by `find_origin`, and finds the characters above the carets in the user's text.

The line is all that tells expressions apart: PySpark 3.5 and clients of Connect get nothing else,
and Spark cuts the line off 32 characters from the carets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from matchrec.errors.context import set_variable
from matchrec.errors.run.expression_text import fit_on_line, remove_parentheses
from matchrec.source import Source, Span

# The message of the error that generated SQL raises at a row at which a window's frame has no valid
# length. The error is about the length, although the SQL computes a condition.
FRAME_LENGTH_ERROR = "the length of the frame must not be NULL or negative"

# The number of expressions whose origins are remembered. Each has one or a few lines of SQL.
MAX_ORIGINS = 4096

# The text that is being read; None if no text is.
_SOURCE: ContextVar[Source | None] = ContextVar("text of the query", default=None)
_PLAIN_COLUMN = re.compile(r"`(?:[^`]|``)*`|\w+")


@dataclass(frozen=True, slots=True)
class SqlOrigin:
    """The expression of the user that generated SQL computes. Instances can be pickled."""

    # How a sentence names the expression: "the condition of `A`".
    what: str
    # How the comment in the SQL names the expression, by its clause and name: "DEFINE A".
    label: str
    # The location of the expression in `text`, which the user wrote. Both are None for expressions
    # that the user has not written as text.
    span: Span | None = None
    text: str | None = None
    # The types of the input's columns, by their quoted names; empty if they are not known. If an
    # operator could not cast a string, they show which of its operands is the string.
    column_types: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OperationOrigin:
    """The arithmetic operation of the user that a search computes. Instances can be pickled."""

    # The text of the query.
    text: str
    # The location of the operation in the text.
    span: Span
    # The location of its first operand in the text.
    first_operand: Span
    # A type of the first operand for which the operation does not overflow so soon; None if that is
    # not known.
    wider_type: str | None

    @property
    def operation(self) -> str:
        """The operation as the user wrote it."""
        return self.text[self.span.start : self.span.end]

    def write_wider(self) -> str | None:
        """Return the operation with a CAST to the wider type; None if there is none.

        >>> origin = OperationOrigin("B AS A.v * 7 > v", Span(5, 12), Span(5, 8), "BIGINT")
        >>> origin.write_wider()
        'CAST(A.v AS BIGINT) * 7'
        """
        if self.wider_type is None:
            return None
        operand = self.first_operand
        value = remove_parentheses(self.text[operand.start : operand.end])
        cast = f"CAST({value} AS {self.wider_type})"
        before = self.text[self.span.start : operand.start]
        after = self.text[operand.end : self.span.end]
        return fit_on_line(f"{before}{cast}{after}")


# For each line of SQL that `mark_origin` has made lately: its origin. The oldest line is first.
_ORIGINS_BY_LINE: dict[str, SqlOrigin] = {}


def use_source(source: Source) -> AbstractContextManager[None]:
    """Let origins that are made inside of the `with` statement point into a text."""
    return set_variable(_SOURCE, source)


def make_origin(what: str, label: str, span: Span | None) -> SqlOrigin:
    """Return the origin of SQL that was made from the text that is being read.

    Args:
        what: how a sentence names the expression.
        label: how a comment names the expression.
        span: the location of the expression in the text; None if it is in no text.
    """
    read_source = _SOURCE.get()
    if read_source is None or span is None:
        return SqlOrigin(what, label)
    source, source_span = read_source.trace_to_author(span)
    return SqlOrigin(what, label, source_span, source.text)


def read_users_text(span: Span) -> str | None:
    """Return what the user wrote at a span of the text that is being read.

    If matchrec has made this text from the user's text, the result is the user's original text.

    Returns:
        None if the span is empty, or if no text is being read.
    """
    read_source = _SOURCE.get()
    if read_source is None or span.start == span.end:
        return None
    source, source_span = read_source.trace_to_author(span)
    return source.text_at(source_span)


class TextAround(NamedTuple):
    """What the user wrote around a span."""

    text: str
    # The position in `text` at which the span begins.
    start: int


def read_users_text_around(span: Span | None, distance: int = 200) -> TextAround:
    """Return what the user wrote at a span, before it and after it.

    Args:
        span: the span in the text that is being read.
        distance: the number of characters before the span, and after it.

    Returns:
        An empty text if the span is None or empty, or if no text is being read.
    """
    read_source = _SOURCE.get()
    if read_source is None or span is None or span.start == span.end:
        return TextAround("", 0)
    source, source_span = read_source.trace_to_author(span)
    start = max(source_span.start - distance, 0)
    return TextAround(source.text[start : source_span.end + distance], source_span.start - start)


def read_text(span: Span | None) -> str | None:
    """Return the text that is being read at a span, even if matchrec has made it.

    Returns:
        None if the span is None or empty, or if no text is being read.
    """
    read_source = _SOURCE.get()
    if read_source is None or span is None or span.start == span.end:
        return None
    return read_source.text_at(span)


def make_operation_origin(
    operation: Span, first_operand: Span | None, wider_type: str | None
) -> OperationOrigin | None:
    """Return the origin of an arithmetic operation in the text that is being read.

    Args:
        operation: the location of the operation.
        first_operand: the location of its first operand; None if it is in no text.
        wider_type: see `OperationOrigin`.

    Returns:
        None if the user did not write the operation: matchrec has made it for another function.
    """
    read_source = _SOURCE.get()
    if read_source is None or first_operand is None:
        return None
    source, span = read_source.trace_to_author(operation)
    _, operand_span = read_source.trace_to_author(first_operand)
    is_inside = span.start <= operand_span.start < operand_span.end <= span.end
    if not is_inside or operand_span == span:
        return None
    return OperationOrigin(source.text, span, operand_span, wider_type)


def mark_origin(sql: str, sql_origin: SqlOrigin | None) -> str:
    """Return SQL on a separate line, with a comment about its origin, and remember the line.

    A plain column, which cannot fail, and SQL without an origin are returned as they are.

    >>> mark_origin("10 / `b` > 2", SqlOrigin("the condition of `A`", "DEFINE A"))
    '\\n/* DEFINE A */ 10 / `b` > 2\\n'
    """
    if sql_origin is None or _PLAIN_COLUMN.fullmatch(sql):
        return sql
    line = f"\n/* {describe_origin(sql_origin)} */ {sql}\n"
    _ORIGINS_BY_LINE.pop(line, None)  # so that the line becomes the newest
    _ORIGINS_BY_LINE[line] = sql_origin
    surplus = max(0, len(_ORIGINS_BY_LINE) - MAX_ORIGINS)
    for oldest in tuple(islice(_ORIGINS_BY_LINE, surplus)):
        _ORIGINS_BY_LINE.pop(oldest, None)
    return line


def find_origin(sql: str) -> SqlOrigin | None:
    """Return the origin of the newest line that contains some SQL; None if no line does.

    Args:
        sql: a line of `mark_origin`, or the part of it that an error of Spark shows.
    """
    for line, sql_origin in reversed(tuple(_ORIGINS_BY_LINE.items())):
        if sql in line:
            return sql_origin
    return None


def describe_origin(sql_origin: SqlOrigin) -> str:
    """Return the comment about an origin: its clause, its name and its line."""
    label = re.sub(r"[^\w ,.]", "_", sql_origin.label)
    if sql_origin.text is None or sql_origin.span is None:
        return label
    line_number, _ = Source(sql_origin.text).find_position(sql_origin.span.start)
    return f"{label}, line {line_number}"


def add_comment(name: str, meaning: str) -> str:
    """Return a generated name with a comment that repeats the user's text.

    >>> add_comment("__r1", "LAST(A.b)")
    '__r1 /* LAST(A.b) */'
    """
    comment = re.sub(r"\s+|[*]/|/[*]", " ", meaning)
    return f"{name} /* {comment} */"
