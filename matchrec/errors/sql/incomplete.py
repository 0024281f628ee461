"""Errors in expressions that are not complete: a value, a word or a bracket is missing.

In the arguments, `where` is the part of the query that has the expression, such as DEFINE.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from matchrec.errors.kinds import MatchRecognizeParseError, MatchRecognizeUnsupportedError
from matchrec.errors.sql.brackets import CLOSING_BRACKETS
from matchrec.errors.sql.type_kinds import TypeKind
from matchrec.errors.sql.written_times import read_times
from matchrec.errors.wording import join_alternatives, shorten
from matchrec.source import Span

# The note of an expression that ends where a value is needed.
UNFINISHED = "a value is missing before the end, or between two operators"


def unfinished_expression(span: Span, *, where: str, last_word: str) -> MatchRecognizeParseError:
    """Return the error for an expression that ends where a value is needed.

    Args:
        span: the location in the text of the query.
        where: the part of the clause.
        last_word: the last word or sign of the expression, such as AND or `>`.
    """
    shown_word = last_word if last_word.isidentifier() else f"`{last_word}`"
    if last_word in ("(", "["):
        hint = f"write a value after {shown_word}"
    elif last_word.upper() in ("AND", "OR", "NOT"):
        hint = f"write a condition after {shown_word}, or remove {shown_word}"
    else:
        hint = f"write a value after {shown_word}, or remove {shown_word}"
    remainder = "`%` is the remainder of a division; 5 percent is 0.05" if last_word == "%" else ""
    return MatchRecognizeParseError(
        f"the expression in {where} is not complete",
        span,
        notes=(UNFINISHED, remainder),
        hint=hint,
        code="unfinished-expression",
    )


def outer_join_sign(span: Span, *, where: str, text: str) -> MatchRecognizeUnsupportedError:
    """Return the error for `(+)` after a column, which makes an outer join in Oracle SQL.

    Args:
        span: the location in the text of the query.
        where: the part of the clause.
        text: the sign as it is written, perhaps with blanks.
    """
    return MatchRecognizeUnsupportedError(
        f"`{text}` is not supported in {where}",
        span,
        notes=("Spark has no joins by (+)",),
        hint="write LEFT JOIN in a subquery in FROM",
        code="outer-join-sign",
    )


# A date without quotes and without blanks between its numbers, perhaps with a time of day.
_UNQUOTED_DATE = re.compile(
    r"(?:\d{4}-\d{2}-\d{2}|(?:19|20)\d\d/\d{1,2}/\d{1,2}|\d{1,2}/\d{1,2}/(?:19|20)\d\d)"
    r"(?:[ T]\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?Z?)?(?![\w.:*/+-])"
)


def find_unquoted_date(text: str) -> str:
    """Return the date without quotes at the beginning of a text; "" if there is none.

    A division such as `1000/10/5` is a date only if its year is from 1900 to 2099.

    >>> find_unquoted_date("2026-01-01 10:00 AND x"), find_unquoted_date("2026 - 01 - 01")
    ('2026-01-01 10:00', '')
    >>> find_unquoted_date("2026-01-01T10:00:00.5Z")
    '2026-01-01T10:00:00.5Z'
    >>> find_unquoted_date("1000/10/5"), find_unquoted_date("2026/10/5")
    ('', '2026/10/5')
    """
    date = _UNQUOTED_DATE.match(text)
    return date[0] if date is not None and read_times(date[0]) else ""


def date_without_quotes(
    span: Span, *, text: str, where: str, type_name: str = ""
) -> MatchRecognizeParseError:
    """Return the error for `ts > 2026-01-01`, whose right side is arithmetic in SQL.

    Args:
        span: the date in the text of the query.
        text: the date, see `find_unquoted_date`.
        where: the part of the clause.
        type_name: DATE or TIMESTAMP if this word is before the date; otherwise "".
    """
    times = read_times(text)
    kinds = [TypeKind.DATE, TypeKind.TIMESTAMP]
    if type_name in TypeKind.__members__:
        kinds = [TypeKind[type_name]]
    elif times and times[0].time_of_day:
        kinds = [TypeKind.TIMESTAMP]
    # a text that may be two dates gets one literal of each
    kinds = kinds if len(times) == 1 else kinds[:1]
    literals = [time.write(kind) for time in times for kind in kinds]
    operation = "a division"
    if re.fullmatch(r"[\d-]+", text):
        year, month, day = (int(number) for number in text.split("-"))
        operation = f"the subtraction {year} - {month} - {day} = {year - month - day}"
    is_alone = len(text.split()) == 1 and not type_name
    return MatchRecognizeParseError(
        f"missing quotes around the date {text} in {where}",
        span,
        notes=(f"without quotes, {text} is {operation}" if is_alone else "",),
        hint=f"write {join_alternatives(literals or [shorten(text)])}",
        code="date-without-quotes",
    )


# Two bounds in parentheses or brackets, and two bounds with a minus sign between them.
_TWO_BOUNDS = re.compile(
    r"[(\[]\s*(?P<low>[^(),]+?)\s*,\s*(?P<high>[^(),]+?)\s*[)\]]|(?P<from>\d+)\s*-\s*(?P<to>\d+)"
)


def between_without_and(
    span: Span, *, where: str, lower_bound: str, upper_bound: str
) -> MatchRecognizeParseError:
    """Return the error for BETWEEN without AND and a second bound.

    Args:
        span: BETWEEN and its first bound in the text of the query.
        where: the part of the clause.
        lower_bound: the first bound, which may be both bounds, as in `(1, 5)`.
        upper_bound: the second bound, if another word is written instead of AND; otherwise "".

    >>> between_without_and(Span(0, 9), where="DEFINE", lower_bound="1", upper_bound="").hint
    'write BETWEEN 1 AND x, with the upper bound instead of x'
    >>> between_without_and(Span(0, 9), where="DEFINE", lower_bound="(1, 5)", upper_bound="").hint
    'write BETWEEN 1 AND 5'
    """
    bounds = _TWO_BOUNDS.fullmatch(lower_bound)
    if bounds is not None:
        lower_bound = bounds["low"] or bounds["from"]
        upper_bound = bounds["high"] or bounds["to"]
    hint = f"write BETWEEN {shorten(lower_bound)} AND {upper_bound or 'x'}"
    if not upper_bound:
        hint += ", with the upper bound instead of x"
    return MatchRecognizeParseError(
        f"missing AND after BETWEEN in {where}", span, hint=hint, code="between-without-and"
    )


def case_without_end(span: Span, *, where: str, last_word: str) -> MatchRecognizeParseError:
    """Return the error for CASE without END.

    Args:
        span: the word CASE.
        where: the part of the clause.
        last_word: the last word of the CASE.
    """
    return MatchRecognizeParseError(
        f"missing END of CASE in {where}",
        span,
        hint=f"add END after {shorten(last_word)}",
        code="case-without-end",
    )


def in_without_parentheses(
    span: Span, *, where: str, values: Sequence[str], operator: str = "IN"
) -> MatchRecognizeParseError:
    """Return the error for `x IN 3`, and for `x IN 1, 2`.

    Args:
        span: the values in the text of the query.
        where: the part of the clause.
        values: the values after IN.
        operator: IN or NOT IN.

    >>> in_without_parentheses(Span(0, 1), where="DEFINE", values=["3"], operator="NOT IN").hint
    'write NOT IN (3), or <> 3'
    """
    hint = f"write {operator} ({shorten(', '.join(values))})"
    if len(values) == 1:
        hint += f", or {'=' if operator == 'IN' else '<>'} {values[0]}"
    return MatchRecognizeParseError(
        f"missing parentheses after {operator} in {where}",
        span,
        hint=hint,
        code="in-without-parentheses",
    )


def in_with_brackets(span: Span, *, where: str, values: str) -> MatchRecognizeParseError:
    """Return the error for x IN [1, 2].

    Args:
        span: the brackets and what is inside.
        where: the part of the clause.
        values: the text between the brackets.
    """
    return MatchRecognizeParseError(
        f"brackets are not allowed after IN in {where}",
        span,
        hint=f"write IN ({shorten(values)})",
        code="in-with-brackets",
    )


def unclosed_bracket_in_expression(
    span: Span, *, opening: str, where: str, before: str = ""
) -> MatchRecognizeParseError:
    """Return the error for a bracket in an expression that is never closed.

    Args:
        span: the bracket in the text of the query.
        opening: the bracket.
        where: the part of the query.
        before: the keyword before which the bracket must be closed; "" if that is not clear.
    """
    end = f"before {before}" if before else "where it ends"
    return MatchRecognizeParseError(
        f"`{opening}` is not closed in {where}",
        span,
        hint=f"add `{CLOSING_BRACKETS[opening]}` {end}",
        code="unclosed-bracket-in-expression",
    )


def missing_expression(span: Span, *, where: str) -> MatchRecognizeParseError:
    """Return the error for an empty text where an expression is needed."""
    return MatchRecognizeParseError(
        f"missing expression in {where}",
        span,
        hint="write a column or another expression",
        code="missing-expression",
    )


def expression_nested_too_deep(span: Span, *, where: str) -> MatchRecognizeUnsupportedError:
    """Return the error for parentheses so deep that the parser's stack overflows."""
    return MatchRecognizeUnsupportedError(
        f"the expression in {where} is too deeply nested to read",
        span,
        notes=("the marked part is inside more parentheses and calls than matchrec can read",),
        hint="remove parentheses, or compute parts of it as columns of the input",
        code="expression-nested-too-deep",
    )
