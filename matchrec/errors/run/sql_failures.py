"""Read the errors of Spark about generated SQL, and describe them in the user's terms.

    [DIVIDE_BY_ZERO] Division by zero. ...    the condition of `A` cannot be computed: division by
    == SQL (line 2, position 24) ==             zero
    /* DEFINE A, line 5 */ 10 / `b` > 2         line 5, column 15
                           ^^^^^^^^                 10/A.b > 2
                                                    ^^^^^^
                                                help: write 10/NULLIF(A.b, 0), or set ...

`find_failure` takes the SQL out of the error, finds what the user wrote for it by `origins`, and
looks for the characters above the carets there. `repairs` rewrites them for the help.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from matchrec.errors.run import repairs
from matchrec.errors.run.expression_text import remove_parentheses, split_at_operator
from matchrec.errors.run.origins import FRAME_LENGTH_ERROR, SqlOrigin, find_origin
from matchrec.errors.wording import uncapitalise
from matchrec.source import Span

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
# The same in the words of matchrec.
_CAST_SENTENCE = re.compile(r"' cannot be cast to (?P<type>[\w(), ]+)$")
_SQL_COMMENT = re.compile(r"/\*.*?\*/")
# A name that matchrec has generated, with the comment of `add_comment`.
_GENERATED_NAME = re.compile(r"(?<![\w`])__(e\.)?[a-z]+\d*( /\*.*?\*/)?")
# A token of SQL: a quoted name, a text, a word or another character.
_TOKEN = re.compile(r"`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|\w+|\S")
# Parentheses, nested at most three deep.
_PARENTHESES = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
# What the user may have written for such a name: `LAST(A.b, 1)`, `PREV(price + 1)`, `A.price`.
_NAVIGATION = rf"[\w`]+(?:\s*\.\s*[\w`*]+)*(?:\s*{_PARENTHESES})?"


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


def find_failure(text: str) -> ComputationFailure | None:
    """Return the failure that the text of an error of Spark describes.

    Returns None if the text shows no SQL, or only SQL that `mark_origin` has not made lately.
    """
    error = _ERROR_WITH_SQL.search(text)
    if error is None:
        return None
    excerpt_lines = error["excerpt"].rstrip("\n").split("\n")
    excerpt = split_excerpt(sql_lines=excerpt_lines[::2], caret_lines=excerpt_lines[1::2])
    sql_origin = find_origin(excerpt.sql)
    if sql_origin is None:
        return None
    failure = build_failure(sql_origin, excerpt.fragment, error["sentence"])
    operand_types = find_operand_types(excerpt.fragment, sql_origin.column_types)
    return failure if operand_types is None else explain_implicit_cast(failure, operand_types)


class OperandTypes(NamedTuple):
    """The names of the types of an operator's two operands; "" for a type that is not known."""

    left: str
    right: str


def find_operand_types(sql: str, column_types: Mapping[str, str]) -> OperandTypes | None:
    """Return the types of the two operands of an operator that failed to cast a string.

    One operand must be a column. Exactly one operand is a string, so if the column is not a string,
    the other operand is. If the column is the string, the other type is not known.

    Args:
        sql: the operation, as SQL over one row.
        column_types: as in `SqlOrigin`.

    Returns:
        The types; None if the SQL has another form.

    >>> find_operand_types("`v` < upper(`s`)", {"`v`": "int", "`s`": "string"})
    OperandTypes(left='int', right='string')
    >>> find_operand_types("`v` + 1 < `s`", {"`v`": "int", "`s`": "string"})
    OperandTypes(left='', right='string')
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
    return OperandTypes(left_type, right_type) if left_type or right_type else None


class SqlExcerpt(NamedTuple):
    """The SQL that an error of Spark shows."""

    # The SQL. It begins and ends with a line break unless Spark has cut it off there, with `...`.
    sql: str
    # The part of the SQL above the carets, which could not be computed.
    fragment: str


def split_excerpt(*, sql_lines: list[str], caret_lines: list[str]) -> SqlExcerpt:
    """Return the SQL that Spark shows in some lines.

    Args:
        sql_lines: the lines of SQL.
        caret_lines: the line of carets below each of them.

    >>> sql_lines = ["...b > 0 AND 10 / `b` > 2"]
    >>> split_excerpt(sql_lines=sql_lines, caret_lines=["             ^^^^^^^^"])
    SqlExcerpt(sql='b > 0 AND 10 / `b` > 2\\n', fragment='10 / `b`')
    """
    shown = "\n".join(sql_lines)
    fragment_start = caret_lines[0].index("^")
    last_line_start = len(shown) - len(sql_lines[-1])
    fragment_end = last_line_start + len(caret_lines[-1].rstrip())
    first_break = "" if shown.startswith("...") else "\n"
    last_break = "" if shown.endswith("...") else "\n"
    sql = shown.removeprefix("...").removesuffix("...")
    return SqlExcerpt(f"{first_break}{sql}{last_break}", shown[fragment_start:fragment_end])


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


def explain_implicit_cast(failure: ComputationFailure, types: OperandTypes) -> ComputationFailure:
    """Return the failure of an operator that casts a string, with a note on its operands' types.

    Other failures are returned as they are.

    Args:
        failure: the failure.
        types: the types of the operands.

    >>> sql_origin = SqlOrigin("the condition of `B`", "DEFINE B", Span(0, 14), "close < ticker")
    >>> failure = build_failure(sql_origin, "", "'A' cannot be cast to INT. Write TRY_CAST")
    >>> explained = explain_implicit_cast(failure, OperandTypes("int", "string"))
    >>> explained.notes
    ('close is of type int, and ticker, of type string, is cast to it',)
    >>> explained.hint
    'write close < TRY_CAST(ticker AS INT), which is NULL for such a value'

    Spark casts to BIGINT:

    >>> failure = build_failure(sql_origin, "", "'A' cannot be cast to BIGINT. Write TRY_CAST")
    >>> explain_implicit_cast(failure, OperandTypes("int", "string")).notes
    ('close is of type int, and ticker, of type string, is cast to bigint',)
    >>> explain_implicit_cast(failure, OperandTypes("", "string")).notes
    ('ticker is of type string, and is cast to bigint',)
    """
    cast = _CAST_SENTENCE.search(failure.message)
    if cast is None or failure.text is None or failure.span is None:
        return failure
    operation = split_at_operator(failure.text[failure.span.start : failure.span.end])
    is_left_string = _is_string_type(types.left)
    if operation is None or is_left_string == _is_string_type(types.right):
        return failure
    is_fraction = _is_fraction_for_integer(failure.message.rpartition(": ")[2])
    string = operation.left if is_left_string else operation.right
    cast_string = f"TRY_CAST({string} AS {cast['type']})"
    effect = ", which is NULL for such a value"
    if is_fraction:
        cast_string = f"CAST({string} AS DOUBLE)"
        effect = ""
    cast_type = cast["type"].lower()
    if is_left_string:
        repaired = f"{cast_string} {operation.operator} {operation.right}"
        note = _describe_cast(string, cast_type, other=operation.right, other_type=types.right)
    else:
        repaired = f"{operation.left} {operation.operator} {cast_string}"
        note = _describe_cast(string, cast_type, other=operation.left, other_type=types.left)
    return replace(failure, notes=(note,), hint=f"write {repaired}{effect}")


def _describe_cast(string: str, cast_type: str, *, other: str, other_type: str) -> str:
    """Return a note on an operand that an operator casts, because of its other operand.

    Args:
        string: the operand that is cast, a string.
        cast_type: the type to which it is cast.
        other: the other operand.
        other_type: its type; "" if it is not known.
    """
    if not other_type:
        return f"{string} is of type string, and is cast to {cast_type}"
    target = "it" if other_type == cast_type else cast_type
    return f"{other} is of type {other_type}, and {string}, of type string, is cast to {target}"


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
