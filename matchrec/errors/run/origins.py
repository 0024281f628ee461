"""Mark generated SQL with what the user wrote, so that Spark's run-time errors can be located.

    SELECT `day` AS __c0,                       [DIVIDE_BY_ZERO] Division by zero. ...
    /* DEFINE A, line 5 */ 10 / `b` > 2    →    == SQL (line 2, position 24) ==
     AS __x1 FROM t                             /* DEFINE A, line 5 */ 10 / `b` > 2
                                                                       ^^^^^^^^

1. `mark_origin` puts each expression in a separate line, with a comment that says where it is
   from, and remembers the line.
2. If Spark cannot compute the expression, its error shows this line with carets. So the user sees
   the comment, whichever action they call.
3. `MatchRecognizeRunError.from_exception` calls `find_failure`, which looks the line up and finds
   the characters above the carets in the user's text.

The line is all that tells expressions apart: PySpark 3.5 and clients of Connect get nothing else,
and Spark cuts the line off 32 characters from the carets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from matchrec.errors.context import set_variable
from matchrec.errors.run import repairs
from matchrec.errors.run.expression_text import fit_on_line, remove_parentheses, split_at_operator
from matchrec.errors.wording import uncapitalise
from matchrec.source import Source, Span

# The message of the error that generated SQL raises at a row at which a window's frame has no valid
# length. The error is about the length, although the SQL computes a condition.
FRAME_LENGTH_ERROR = "the length of the frame must not be NULL or negative"

# The number of expressions whose origins are remembered. Each has one or a few lines of SQL.
MAX_ORIGINS = 4096

# The text that is being read; None if no text is.
_SOURCE: ContextVar[Source | None] = ContextVar("text of the query", default=None)
# A run-time error of Spark: its sentence, and lines of SQL, each followed by its carets.
_ERROR_WITH_SQL = re.compile(
    r"\[[A-Z][A-Z0-9_.]+\] (?P<sentence>(?:(?!\[[A-Z][A-Z0-9_]+\] ).)*?)(?:\s*SQLSTATE: \w+)?"
    r"\n== SQL[^\n]*==\n(?P<excerpt>(?:[^\n]*\n *\^+ *(?:\n|$))+)",
    re.DOTALL,
)
# A value that cannot be cast, in words of Spark.
_FAILED_CAST = re.compile(
    r"[Tt]he value (?P<value>'.*') of the type \"STRING\" cannot be cast to \"(?P<type>[^\"]+)\"",
    re.DOTALL,
)
# The same in our words.
_CAST_SENTENCE = re.compile(r"' cannot be cast to (?P<type>[\w(), ]+)$")
_PLAIN_COLUMN = re.compile(r"`(?:[^`]|``)*`|\w+")
_SQL_COMMENT = re.compile(r"/\*.*?\*/")
# A name of ours, with the comment of `add_comment`.
_GENERATED_NAME = re.compile(r"(?<![\w`])__(e\.)?[a-z]+\d*( /\*.*?\*/)?")
# A token of SQL: a quoted name, a text, a word or another character.
_TOKEN = re.compile(r"`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|\w+|\S")
# Parentheses, nested at most three deep.
_PARENTHESES = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
# What the user may have written for a name of ours: `LAST(A.b, 1)`, `PREV(price + 1)`, `A.price`.
_NAVIGATION = rf"[\w`]+(?:\s*\.\s*[\w`*]+)*(?:\s*{_PARENTHESES})?"


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


@dataclass(frozen=True, slots=True)
class ComputationFailure:
    """The parts of an error about an expression that could not be computed."""

    # The headline, without a code.
    message: str
    # The location of the expression in `text`, which the user wrote. Both are None for expressions
    # that the user has not written as text.
    span: Span | None
    text: str | None
    # What to write instead; None if that is not known.
    hint: str | None
    # Facts that explain the failure.
    notes: tuple[str, ...] = ()


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


def find_failure(text: str) -> ComputationFailure | None:
    """Return the failure that the text of an error of Spark describes.

    Returns None if the text shows no SQL, or only SQL that `mark_origin` has not made lately.
    """
    error = _ERROR_WITH_SQL.search(text)
    if error is None:
        return None
    excerpt_lines = error["excerpt"].rstrip("\n").split("\n")
    sql, fragment = split_excerpt(sql_lines=excerpt_lines[::2], caret_lines=excerpt_lines[1::2])
    for line, sql_origin in reversed(tuple(_ORIGINS_BY_LINE.items())):
        if sql in line:
            failure = build_failure(sql_origin, fragment, error["sentence"])
            operand_types = find_operand_types(fragment, sql_origin.column_types)
            return explain_implicit_cast(failure, operand_types) if operand_types else failure
    return None


def find_operand_types(sql: str, column_types: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the types of the two operands of an operator that failed to cast a string.

    One operand must be a column. Exactly one operand is a string, so if the column is not a string,
    the other operand is. The type of an operand that is neither a column nor a string is "".

    Args:
        sql: the operation, as SQL over one row.
        column_types: as in `SqlOrigin`.

    Returns:
        The types; None if the SQL has another form.

    >>> find_operand_types("`v` < upper(`s`)", {"`v`": "int", "`s`": "string"})
    ('int', 'string')
    >>> find_operand_types("`v` + 1 < `s`", {"`v`": "int", "`s`": "string"})
    ('', 'string')
    >>> find_operand_types("length(`s`) < upper(`s`)", {"`s`": "string"})
    """
    operation = split_at_operator(_SQL_COMMENT.sub("", sql))
    if operation is None:
        return None
    left_type = column_types.get(remove_parentheses(operation.left), "")
    right_type = column_types.get(remove_parentheses(operation.right), "")
    if left_type and not right_type:
        right_type = "" if _is_string_type(left_type) else "string"
    elif right_type and not left_type:
        left_type = "" if _is_string_type(right_type) else "string"
    return (left_type, right_type) if left_type or right_type else None


def split_excerpt(*, sql_lines: list[str], caret_lines: list[str]) -> tuple[str, str]:
    """Return the SQL that Spark shows, and the part of it above the carets.

    The SQL begins and ends with a line break unless Spark has cut it off there, with `...`.

    Args:
        sql_lines: the lines of SQL.
        caret_lines: the line of carets below each of them.

    >>> sql_lines = ["...b > 0 AND 10 / `b` > 2"]
    >>> split_excerpt(sql_lines=sql_lines, caret_lines=["             ^^^^^^^^"])
    ('b > 0 AND 10 / `b` > 2\\n', '10 / `b`')
    """
    shown = "\n".join(sql_lines)
    fragment_start = caret_lines[0].index("^")
    last_line_start = len(shown) - len(sql_lines[-1])
    fragment_end = last_line_start + len(caret_lines[-1].rstrip())
    first_break = "" if shown.startswith("...") else "\n"
    last_break = "" if shown.endswith("...") else "\n"
    sql = shown.removeprefix("...").removesuffix("...")
    return f"{first_break}{sql}{last_break}", shown[fragment_start:fragment_end]


def build_failure(sql_origin: SqlOrigin, fragment: str, error_text: str) -> ComputationFailure:
    """Return an engine's failure in the user's terms.

    Args:
        sql_origin: where the user wrote what could not be computed.
        fragment: the part of the SQL that failed; empty for all of it.
        error_text: what the engine says: a sentence, then sentences of advice.
    """
    if FRAME_LENGTH_ERROR in error_text:
        return build_frame_failure(sql_origin)
    sentence, *advice = re.split(r"\.\s+(?=[A-Z][a-z ])", error_text.rstrip(". "))
    cast = _FAILED_CAST.search(sentence)
    if cast is not None:
        sentence = f"{cast['value']} cannot be cast to {cast['type'].upper()}"
    span = sql_origin.span
    users_text = ""
    if sql_origin.text is not None and span is not None:
        span = find_fragment(fragment, sql_origin.text, span) if fragment else span
        users_text = sql_origin.text[span.start : span.end]
    hint = find_repair(users_text, sentence, has_try_cast="TRY_CAST" in " ".join(advice).upper())
    return ComputationFailure(
        message=f"{sql_origin.what} cannot be computed: {uncapitalise(sentence)}",
        span=span,
        text=sql_origin.text,
        hint=hint or "; ".join(map(uncapitalise, advice)) or None,
    )


def find_repair(users_text: str, sentence: str, *, has_try_cast: bool) -> str | None:
    """Return how to rewrite an expression that fails so that it is NULL; None if we do not know.

    Args:
        users_text: the expression; empty if it is not known.
        sentence: why it cannot be computed.
        has_try_cast: whether TRY_CAST is NULL for the value.

    >>> find_repair("10/a", "Division by zero", has_try_cast=False)
    'write 10/NULLIF(a, 0), or set spark.sql.ansi.enabled to false'
    >>> find_repair("CAST(w AS INT)", "'x' cannot be cast to INT", has_try_cast=True)
    'write TRY_CAST(w AS INT), which is NULL for such a value'
    >>> find_repair("close > 33", "'34.39' cannot be cast to INT", has_try_cast=True)
    'write CAST(close AS DOUBLE) > 33'
    >>> advice = find_repair("a.w / b.w - 1", "'34.39' cannot be cast to INT", has_try_cast=True)
    >>> advice.partition(";")[2]
    ' read a CSV file with inferSchema=True'
    """
    if re.search("(?i)division by zero", sentence):
        guarded = repairs.guard_divisors(users_text)
        return f"write {guarded}, or set spark.sql.ansi.enabled to false" if guarded else None
    cast = _CAST_SENTENCE.search(sentence)
    if cast is None or not has_try_cast:
        return None
    type_name = cast["type"]
    if _is_fraction_for_integer(sentence) and repairs.try_casts(users_text, type_name) is None:
        return _find_cast_to_double(users_text)
    for repair in (repairs.try_casts, repairs.try_cast_beside_number, repairs.try_cast_only_value):
        tried = repair(users_text, type_name)
        if tried is not None:
            return f"write {tried}, which is NULL for such a value"
    return f"write TRY_CAST(... AS {type_name}) around the string, which is NULL for such a value"


def _is_fraction_for_integer(sentence: str) -> bool:
    """Return whether a sentence says that a number with a fraction cannot be cast to an integer.

    TRY_CAST to the integer would be NULL for all such numbers.

    >>> _is_fraction_for_integer("'34.39' cannot be cast to INT")
    True
    """
    return re.match(r"'\s*[-+]?\d*\.\d*' cannot be cast to (?:BIGINT|INT)$", sentence) is not None


def _find_cast_to_double(users_text: str) -> str:
    """Return how to rewrite an expression that casts a string with a fraction to an integer."""
    for repair in (repairs.try_cast_beside_number, repairs.try_cast_only_value):
        tried = repair(users_text, "DOUBLE")
        if tried is not None:
            return f"write {tried.replace('TRY_CAST(', 'CAST(')}"
    return (
        "write CAST(... AS DOUBLE) around each column of strings in the expression, there or in a "
        "subquery in FROM; read a CSV file with inferSchema=True"
    )


def explain_implicit_cast(
    failure: ComputationFailure, type_names: tuple[str, str]
) -> ComputationFailure:
    """Return the failure of an operator that casts a string, with a note on its operands' types.

    Other failures are returned as they are.

    Args:
        failure: the failure.
        type_names: the types of the left and the right operand; "" if a type is not known.

    >>> sql_origin = SqlOrigin("the condition of `B`", "DEFINE B", Span(0, 14), "close < ticker")
    >>> failure = build_failure(sql_origin, "", "'A' cannot be cast to INT. Write TRY_CAST")
    >>> explained = explain_implicit_cast(failure, ("int", "string"))
    >>> explained.notes
    ('close is of type int, and ticker, of type string, is cast to it',)
    >>> explained.hint
    'write close < TRY_CAST(ticker AS INT), which is NULL for such a value'

    Spark casts to BIGINT:

    >>> failure = build_failure(sql_origin, "", "'A' cannot be cast to BIGINT. Write TRY_CAST")
    >>> explain_implicit_cast(failure, ("int", "string")).notes
    ('close is of type int, and ticker, of type string, is cast to bigint',)
    >>> explain_implicit_cast(failure, ("", "string")).notes
    ('ticker is of type string, and is cast to bigint',)
    """
    cast = _CAST_SENTENCE.search(failure.message)
    if cast is None or failure.text is None or failure.span is None:
        return failure
    operation = split_at_operator(failure.text[failure.span.start : failure.span.end])
    left_type, right_type = type_names
    is_left_string = _is_string_type(left_type)
    is_fraction = _is_fraction_for_integer(failure.message.rpartition(": ")[2])
    function, type_name = ("CAST", "DOUBLE") if is_fraction else ("TRY_CAST", cast["type"])
    if operation is None or is_left_string == _is_string_type(right_type):
        return failure
    left, right = operation.left, operation.right
    if is_left_string:
        string, other, other_type = left, right, right_type
        repaired = f"{function}({left} AS {type_name}) {operation.operator} {right}"
    else:
        string, other, other_type = right, left, left_type
        repaired = f"{left} {operation.operator} {function}({right} AS {type_name})"
    cast_type = cast["type"].lower()
    if not other_type:
        note = f"{string} is of type string, and is cast to {cast_type}"
    elif other_type == cast_type:
        note = f"{other} is of type {other_type}, and {string}, of type string, is cast to it"
    else:
        note = (
            f"{other} is of type {other_type}, and {string}, of type string, is cast to {cast_type}"
        )
    hint = f"write {repaired}"
    if not is_fraction:
        hint = f"{hint}, which is NULL for such a value"
    return replace(failure, notes=(note,), hint=hint)


def _is_string_type(type_name: str) -> bool:
    """Return whether a type is STRING, with or without a collation."""
    return type_name.lower().startswith("string")


def build_frame_failure(length_origin: SqlOrigin) -> ComputationFailure:
    """Return the failure of a frame of a window whose length is NULL or negative at a row.

    Args:
        length_origin: where the user wrote the length.
    """
    text, span = length_origin.text, length_origin.span
    hint = None
    if text is not None and span is not None:
        hint = f"write greatest({text[span.start : span.end]}, 0), which is 0 for such a length"
    return ComputationFailure(message=FRAME_LENGTH_ERROR, span=span, text=text, hint=hint)


def find_fragment(fragment: str, text: str, span: Span) -> Span:
    """Return the span of the user's text from which a fragment of generated SQL comes.

    Args:
        fragment: the generated SQL.
        text: the user's text.
        span: the expression in the text that has the fragment. The result is this span if the
            fragment is not found in it.

    >>> find_fragment("10 / `b`", "A AS b > 1 AND 10/A.b > 2", Span(5, 25))
    Span(start=15, end=21)
    >>> find_fragment("10 / __s0 /* PREV(b) */", "A AS 10 / PREV(b) > 2", Span(5, 21))
    Span(start=5, end=17)
    """
    tokens = _TOKEN.findall(_GENERATED_NAME.sub("\0", fragment))
    pattern = r"\s*".join(map(write_token_pattern, tokens))
    occurrence = re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE).search(
        text, span.start, span.end
    )
    return span if occurrence is None else Span(*occurrence.span())


def write_token_pattern(token: str) -> str:
    """Return a regular expression of what the user may have written for a token of generated SQL.

    For a column `b` it also matches `A.b`, `LAST(A.b)` and `PREV(LAST(A.b), 2)`. For "\\0", which
    stands for a generated name, it matches any navigation.
    """
    if token == "\0":
        return _NAVIGATION
    if token[0] == "`":
        name = rf"(?:[\w`]+\s*\.\s*)*`?{re.escape(token[1:-1])}`?"
        once = rf"(?:{name}|\w+\s*\(\s*{name}\s*(?:,\s*\d+\s*)?\))"
        return rf"(?:{once}|\w+\s*\(\s*{once}\s*(?:,\s*\d+\s*)?\))"
    return re.escape(token)
