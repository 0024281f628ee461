"""Find the part of a query that an engine refuses, if only the user's text shows what it is.

For some mistakes, the engine's message says neither where the mistake is nor what is wrong:

    DATE'2024-13-01'      DateValue { year: 2024, month: 13, day: 1 }
    array(1, 2)[day]      Cannot cast string 'day' to value of bigint type
    sum(x) OVER FROM t    undefined window: FROM
    WHERE count(*) > 1    logical expression AggregateFunction(AggregateFunction { func: ...

Each `find_` function with a message reads such a message, and looks for the part of the text that
explains it. It returns a `MatchRecognizeError` whose span is relative to the text; None if the
message is about something else, or if the text has no such part.

The text is not parsed, because it is a text that the engine could not parse either. Regular
expressions find the parts, after comments and strings have been skipped.
"""

from __future__ import annotations

import re
from calendar import isleap, month_name, monthrange
from collections.abc import Sequence

from matchrec.errors.kinds import MatchRecognizePlanError, MatchRecognizeUnsupportedError
from matchrec.errors.language import name_part
from matchrec.errors.lengths import find_meant_length, find_meant_unit, is_spark_unit
from matchrec.errors.run.expression_text import (
    TextToken,
    blank_comments,
    find_closing,
    fit_on_line,
    list_indexed_values,
    split_tokens,
)
from matchrec.errors.sql.type_kinds import TypeKind
from matchrec.errors.sql.unplanned_parts import find_in_subquery, find_star_over_groups
from matchrec.errors.sql.window import unknown_window
from matchrec.errors.sql.written_times import read_times, write_literal
from matchrec.errors.wording import join_alternatives, shorten
from matchrec.source import Span


def find_refused_part(
    message: str, text: str, clause: str = ""
) -> MatchRecognizePlanError | MatchRecognizeUnsupportedError | None:
    """Return the error for the part of a text that an engine refuses; None if it is not known.

    Args:
        message: the engine's message.
        text: the expression or the query that the engine refuses, as the user wrote it.
        clause: the clause of the expression, such as DEFINE; "" for a query.
    """
    return (
        find_invalid_literal(message, text, clause)
        or find_invalid_interval(message, text, clause)
        or find_computed_index(message, text, clause)
        or find_wrong_window(message, text)
        or find_aggregate_in_where(message, text)
        or find_in_subquery(message, text, clause)
        or find_star_over_groups(message, text)
    )


def _write_clause_suffix(clause: str) -> str:
    """Return " in DEFINE" for a clause; "" for the query around a clause."""
    return f" in {name_part(clause)}" if clause else ""


# Dates and times.

# Messages of engines about a literal that is not a date or a time. Sail's parser of such literals
# names the character that it does not expect.
_TIME_MESSAGE = re.compile(
    r"\b(?:Date|Time)Value \{|INVALID_TYPED_LITERAL|typed literal .* is invalid"
    r"|\bfound (?:\S+|end of input) at \d+:\d+ expected",
    re.DOTALL,
)
# The literal in Spark's message. It is the wrong one, even if others look wrong: for example, Spark
# accepts DATE'now' and TIMESTAMP'10:00:00', unlike Sail.
_LITERAL_IN_MESSAGE = re.compile(
    r"typed literal \"(?P<type>\w+)\" is invalid: '(?P<content>(?:[^'\\]|\\.)*)'"
)
# A typed literal such as DATE'2024-01-31', or text that is skipped because a literal in it does not
# count: a comment, a name in backticks, a string.
_LITERAL_OR_SKIPPED = re.compile(
    r"--[^\n]*|/\*.*?\*/|`[^`]*`"
    r"|\b(?P<type>DATE|TIMESTAMP(?:_NTZ|_LTZ)?)\s*(?P<string>'[^']*'|\"[^\"]*\")"
    r"|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"",
    re.IGNORECASE | re.DOTALL,
)
# The fields of a date or a timestamp: `2024`, `2024-01`, `2024-01-31`, `2024-01-31 10`,
# `2024-01-31 10:30` or `2024-01-31T10:30:59.5+02:00`. These are the forms that Spark casts, without
# a time of day alone.
_FIELDS = re.compile(
    r"\s*[+-]?(?P<year>\d{4,6})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})"
    r"(?:[T ](?:(?P<hour>\d{1,2})(?::(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})\D.*?)?)?)?)?)?)?\s*"
)
# The words that Spark, but not Sail, accepts in DATE and in TIMESTAMP literals, with SQL for the
# same value.
_SQL_BY_DATE_WORD = {
    "epoch": "DATE'1970-01-01'",
    "now": "current_date()",
    "today": "current_date()",
    "tomorrow": "date_add(current_date(), 1)",
    "yesterday": "date_sub(current_date(), 1)",
}
_SQL_BY_TIMESTAMP_WORD = {
    "epoch": "TIMESTAMP'1970-01-01 00:00:00Z'",
    "now": "current_timestamp()",
    "today": "CAST(current_date() AS TIMESTAMP)",
    "tomorrow": "CAST(date_add(current_date(), 1) AS TIMESTAMP)",
    "yesterday": "CAST(date_sub(current_date(), 1) AS TIMESTAMP)",
}


def find_invalid_literal(
    message: str, text: str, clause: str = ""
) -> MatchRecognizePlanError | None:
    """Return the error for the literal of a text that is not a date or a time.

    If the message repeats the literal, as Spark's does, the error is for this literal. Otherwise it
    is for the first one with a fault that we know. For the arguments and the result, see
    `find_refused_part`.

    >>> message = "DateValue { year: 2024, month: 13, day: 1 }"
    >>> error = find_invalid_literal(message, "day > DATE '2024-13-01'", "DEFINE")
    >>> error.message, error.span, error.notes
    ("'2024-13-01' in DEFINE is not a date", Span(start=6, end=23), ('the month is 13',))
    >>> print(find_invalid_literal(message, "day > DATE'2024-12-01' -- DATE'x'"))
    None
    """
    if not _TIME_MESSAGE.search(message):
        return None
    literal_in_message = _LITERAL_IN_MESSAGE.search(message)
    for literal in _LITERAL_OR_SKIPPED.finditer(text):
        if literal["type"] is None:  # skipped text
            continue
        type_name = literal["type"].upper()
        content = literal["string"][1:-1]
        note = _find_literal_fault(type_name, literal["string"])
        if literal_in_message is None:
            is_refused = note is not None
        else:
            is_refused = (type_name, content) == literal_in_message.group("type", "content")
        if is_refused:
            return invalid_literal(
                Span(*literal.span()),
                type_name=type_name,
                string=literal["string"],
                note=note or "",
                clause=clause,
            )
    return None


def reject_invalid_literals(text: str) -> None:
    """Raise an error for the first literal of another product's SQL that is not a date or a time.

    The translation makes casts of such literals, which would fail only when they run. A text with
    a backslash is not checked, because products disagree on what it means in a string. A timestamp
    whose form is not known is not rejected: it may be one of the product.

    >>> reject_invalid_literals("day > DATE '2024-12-31'")
    >>> reject_invalid_literals("day > DATE '31-DEC-2024'")
    Traceback (most recent call last):
    ...
    matchrec...MatchRecognizePlanError: '31-DEC-2024' is not a date [invalid-literal]
      help: write a valid date, such as DATE'2026-01-31'
    """
    if "\\" in text:
        return
    for literal in _LITERAL_OR_SKIPPED.finditer(text):
        if literal["type"] is None or literal["string"][0] != "'":
            continue
        type_name = literal["type"].upper()
        note = _find_literal_fault(type_name, literal["string"])
        if note or (note is not None and type_name == "DATE"):
            raise invalid_literal(
                Span(*literal.span()),
                type_name=type_name,
                string=literal["string"],
                note=note,
                clause="",
            )


def _find_literal_fault(type_name: str, string: str) -> str | None:
    """Return what is wrong in the string of a literal with its quotes, as `find_time_fault`."""
    time_text = string[1:-1]
    if type_name == "DATE":
        # Engines ignore what is after a blank or a T in a date.
        time_text = re.split(r"(?<=\d)[T ]", time_text)[0]
    return find_time_fault(time_text)


def find_time_fault(time_text: str) -> str | None:
    """Return a note on what is wrong in the text of a date or a timestamp; None if it is valid.

    The note is "" if the text does not have the form of a date or a timestamp.

    >>> [find_time_fault(text) for text in ("2024-13-01", "2023-02-29", "2024-01-01 25:00:00")]
    ['the month is 13', 'February 2023 has 28 days', 'the hour is 25']
    >>> [find_time_fault(text) for text in ("next week", "2024-02-29", "2024-01-01 10:00:00+02:00")]
    ['', None, None]
    """
    match = _FIELDS.fullmatch(f"{time_text} ")  # the blank ends a second without a fraction
    if match is None:
        return ""
    fields = {name: int(digits) for name, digits in match.groupdict().items() if digits}
    year, month, day = fields["year"], fields.get("month", 1), fields.get("day", 1)
    if not 1 <= month <= 12:
        return f"the month is {month}"
    # `monthrange` knows only years up to 9999, so it gets a year of the same length.
    year_of_same_length = 2024 if isleap(year) else 2023
    _, day_count = monthrange(year_of_same_length, month)
    if day > day_count:
        return f"{month_name[month]} {year} has {day_count} days"
    if day == 0:
        return "the day is 0"
    for name, limit in (("hour", 24), ("minute", 60), ("second", 60)):
        if fields.get(name, 0) >= limit:
            return f"the {name} is {fields[name]}"
    return None


def invalid_literal(
    span: Span, *, type_name: str, string: str, note: str, clause: str
) -> MatchRecognizePlanError:
    """Return the error for a literal that is not a date or a time, such as DATE'2024-13-01'.

    Args:
        span: the literal in the text of the query.
        type_name: the type in front of the string, in upper case.
        string: the string with its quotes.
        note: what is wrong, see `find_time_fault`; "" if it is not known.
        clause: the clause of the literal; "" for the query around a clause.
    """
    is_date = type_name == "DATE"
    kind = "date" if is_date else "timestamp"
    sql_by_word = _SQL_BY_DATE_WORD if is_date else _SQL_BY_TIMESTAMP_WORD
    sql = sql_by_word.get(string[1:-1].strip().lower())
    if sql is not None:
        note = f"only Spark reads this word as a {kind}"
    return MatchRecognizePlanError(
        f"{shorten(string)}{_write_clause_suffix(clause)} is not a {kind}",
        span,
        notes=(note,) if note else (),
        hint=f"write {sql or _write_valid_literal(type_name, string)}",
        code="invalid-literal",
    )


def _write_valid_literal(type_name: str, string: str) -> str:
    """Return the literals that the user may mean, or else an example of a valid one.

    >>> _write_valid_literal("DATE", "'31.01.2024'")
    "DATE'2024-01-31'"
    >>> _write_valid_literal("DATE", "'next week'")
    "a valid date, such as DATE'2026-01-31'"
    """
    times = read_times(string)
    if times and type_name in TypeKind.__members__:
        return join_alternatives([time.write(TypeKind[type_name]) for time in times])
    if type_name == "DATE":
        return "a valid date, such as DATE'2026-01-31'"
    return f"a valid timestamp, such as {type_name}'2026-01-31 12:00:00'"


# What engines say of a length of time that they cannot read.
_ABOUT_INTERVALS = re.compile(
    r"(?i)is not a number|Syntax error at or near|interval|\bfound .* expected", re.DOTALL
)
_INTERVAL = re.compile(r"\bINTERVAL\s*'(?P<content>[^']*)'(?:\s+(?P<unit>[A-Z]+))?", re.IGNORECASE)


def find_invalid_interval(
    message: str, text: str, clause: str = ""
) -> MatchRecognizePlanError | None:
    """Return the error for the first INTERVAL of a text without a number or with an unknown unit.

    The arguments and the result are described in `find_refused_part`.

    >>> message = "Syntax error at or near 'hr'"
    >>> error = find_invalid_interval(message, "d > INTERVAL '2 hr'", "DEFINE")
    >>> error.message, error.hint
    ('unknown unit `hr` of INTERVAL in DEFINE', "write INTERVAL '2' HOUR")
    >>> find_invalid_interval(message, "d > INTERVAL '2 hours'", "DEFINE")
    """
    if not _ABOUT_INTERVALS.search(message):
        return None
    for interval in _INTERVAL.finditer(text):
        content = interval["content"]
        unit = find_meant_unit(interval["unit"] or "")
        words = re.findall(r"[A-Za-z]+", content)
        unknown_units = [word for word in words if not is_spark_unit(word)]
        if unit is not None and not re.search(r"\d", content):
            headline = (
                f"`{shorten(content)}` of INTERVAL{_write_clause_suffix(clause)} is not a number"
            )
            hint = f"write INTERVAL '1' {unit}"
        elif unit is None and unknown_units and find_meant_length(content) is not None:
            headline = (
                f"unknown unit `{unknown_units[0]}` of INTERVAL{_write_clause_suffix(clause)}"
            )
            hint = f"write {write_literal(TypeKind.INTERVAL, content)}"
        else:
            continue
        span = Span(interval.start(), interval.end() if unit else interval.end("content") + 1)
        return invalid_interval(span, headline=headline, hint=hint)
    return None


def invalid_interval(span: Span, *, headline: str, hint: str) -> MatchRecognizePlanError:
    """Return the error for INTERVAL 'x' HOUR or INTERVAL '1 hr'."""
    return MatchRecognizePlanError(headline, span, hint=hint, code="invalid-interval")


# Elements of arrays.

# Messages of Sail about an index that is not a constant. Sail takes the name of a column for a
# string.
_INDEX_MESSAGE = re.compile(
    r"extraction must be a literal"
    r"|Cannot cast string '(?P<column>[^']*)' to value of (?:bigint|Int64) type"
)
_CONSTANT = re.compile(r"\s*(?:\d+|'[^']*'|\"[^\"]*\")\s*")
_NEGATIVE_NUMBER = re.compile(r"\s*-\s*\d+\s*")


def find_computed_index(
    message: str, text: str, clause: str = ""
) -> MatchRecognizeUnsupportedError | None:
    """Return the error for the first index of a text that is not a constant.

    If the message names a column, the index has to read it. For the arguments and the result, see
    `find_refused_part`.

    >>> message = "Cast error: Cannot cast string 'day' to value of Int64 type"
    >>> error = find_computed_index(message, "array(1, 2)[A.day] > 0", "DEFINE")
    >>> print(error.message, error.hint, sep="; ")
    `array(1, 2)[A.day]` in DEFINE is not supported on Sail; write get(array(1, 2), A.day)
    >>> print(find_computed_index(message, "CAST('day' AS BIGINT) > tags[0]"))
    None
    """
    message_match = _INDEX_MESSAGE.search(message)
    if message_match is None:
        return None
    for indexed in list_indexed_values(text):
        if _CONSTANT.fullmatch(indexed.index):
            continue
        column = message_match["column"]
        if column is not None and not is_word_in(column, indexed.index):
            continue
        return computed_array_index(
            Span(indexed.start, indexed.end),
            value=indexed.value,
            index=indexed.index,
            users_text=text[indexed.start : indexed.end],
            clause=clause,
        )
    return None


def is_word_in(word: str, text: str) -> bool:
    """Return whether a word is in a text, in any case.

    >>> is_word_in("day", "A.DAY + 1"), is_word_in("day", "today")
    (True, False)
    """
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


def computed_array_index(
    span: Span, *, value: str, index: str, users_text: str, clause: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for an element of an array whose index is not a constant, on Sail.

    Args:
        span: the array with its index in the text of the query.
        value: the array, as the user wrote it.
        index: the index, as the user wrote it.
        users_text: the text at the span.
        clause: the clause of the expression; "" for the query around a clause.
    """
    if _NEGATIVE_NUMBER.fullmatch(index):
        sql = fit_on_line(f"element_at({value}, {index})") or "element_at(array, index)"
        hint = f"write {sql}, which counts from the end"
    else:
        sql = fit_on_line(f"get({value}, {index})") or "get(array, index)"
        hint = f"write {sql}"
    return MatchRecognizeUnsupportedError(
        f"`{shorten(users_text)}`{_write_clause_suffix(clause)} is not supported on Sail",
        span,
        notes=("on Sail, the index of an array must be a number, not a column or an expression",),
        hint=hint,
        code="computed-array-index",
    )


# Aggregates in WHERE.

_AGGREGATE_MESSAGE = re.compile(r"INVALID_WHERE_CONDITION|logical expression AggregateFunction")
_AGGREGATES = frozenset(
    (
        *("COUNT", "SUM", "AVG", "MEAN", "MIN", "MAX", "MEDIAN", "MODE", "ANY_VALUE", "COUNT_IF"),
        *("FIRST", "LAST", "STDDEV", "VARIANCE", "COLLECT_LIST", "COLLECT_SET", "ARRAY_AGG"),
        *("BOOL_AND", "BOOL_OR", "EVERY", "SOME", "ANY", "MAX_BY", "MIN_BY"),
    )
)
# The words after the condition of WHERE.
_AFTER_CONDITION = frozenset(
    ("GROUP", "HAVING", "ORDER", "SORT", "LIMIT", "WINDOW", "UNION", "EXCEPT", "INTERSECT")
)


def find_aggregate_in_where(message: str, text: str) -> MatchRecognizePlanError | None:
    """Return the error for the first aggregate in a WHERE of a text, outside of its subqueries.

    For the arguments and the result, see `find_refused_part`.

    >>> message = "Physical plan does not support logical expression AggregateFunction(...)"
    >>> text = "SELECT * FROM t WHERE x > (SELECT max(x) FROM t) AND count(*) > 1"
    >>> error = find_aggregate_in_where(message, text)
    >>> error.message, text[error.span.start : error.span.end]
    ('an aggregate is not allowed in WHERE', 'count(*)')
    >>> print(find_aggregate_in_where(message, "SELECT max(x) FROM t WHERE x > 1"))
    None
    """
    if not _AGGREGATE_MESSAGE.search(message):
        return None
    tokens = split_tokens(blank_comments(text))
    for index, token in enumerate(tokens):
        if token.text.upper() == "WHERE":
            span = _find_aggregate_in_condition(tokens, index + 1)
            if span is not None:
                return aggregate_in_where(span)
    return None


def _find_aggregate_in_condition(tokens: Sequence[TextToken], start: int) -> Span | None:
    """Return the first call of an aggregate in the condition that starts at an index of a token.

    Subqueries of the condition are skipped. Returns None if the condition has no such call.
    """
    index = start
    depth = 0
    while index < len(tokens):
        word = tokens[index].text.upper()
        following = tokens[index + 1].text.upper() if index + 1 < len(tokens) else ""
        if depth == 0 and word in _AFTER_CONDITION:
            return None
        if word in _AGGREGATES and following == "(":
            return Span(tokens[index].start, tokens[find_closing(tokens, index + 1)].end)
        if word == "(" and following in ("SELECT", "WITH"):
            index = find_closing(tokens, index)
        elif word == "(":
            depth += 1
        elif word == ")":
            depth -= 1
        if depth < 0:
            return None
        index += 1
    return None


def aggregate_in_where(span: Span) -> MatchRecognizePlanError:
    """Return the error for an aggregate in WHERE.

    Args:
        span: the call of the aggregate.
    """
    return MatchRecognizePlanError(
        "an aggregate is not allowed in WHERE",
        span,
        hint="write a condition on groups in HAVING, or compute the aggregate in a subquery",
        code="aggregate-in-where",
    )


# Windows.

# Messages of engines about a window without a definition.
_UNKNOWN_WINDOW = re.compile(
    r"undefined window: (?P<sail_name>\w+)|WINDOW_SPECIFICATION\] .* for `?(?P<spark_name>\w+)"
)
# Messages of engines about OVER without a window. Spark reads FROM as the name of the window, and
# then does not find the columns.
_OVER_MESSAGE = re.compile(
    r"undefined window|UNRESOLVED_COLUMN|WINDOW_SPECIFICATION|(?i:syntax error)|found .* expected"
)
_COMMENT_OR_STRING = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^'\\]|\\.)*'", re.DOTALL)
_OVER_WITHOUT_WINDOW = re.compile(
    r"\)\s*(?P<over>OVER)(?=\s*(?:FROM\b|AS\b|,|\)|$))", re.IGNORECASE
)
# A window that WINDOW defines, up to the parenthesis after AS: the first window and further ones.
_DEFINITION_START = r"\s*`?(?P<name>\w+)`?\s+AS\s*\("
_FIRST_WINDOW = re.compile(rf"\bWINDOW\b{_DEFINITION_START}", re.IGNORECASE)
_NEXT_WINDOW = re.compile(rf"\s*,{_DEFINITION_START}", re.IGNORECASE)
_PARENTHESIS = re.compile(r"[()]")


def find_wrong_window(message: str, text: str) -> MatchRecognizePlanError | None:
    """Return the error for OVER without a window, or with a window that has no definition.

    For the arguments and the result, see `find_refused_part`.

    >>> error = find_wrong_window("undefined window: FROM", "SELECT sum(x) OVER FROM t")
    >>> error.message, error.span
    ('missing parentheses after OVER', Span(start=14, end=18))
    >>> text = "SELECT sum(x) OVER weak FROM t WINDOW week AS (ORDER BY x)"
    >>> error = find_wrong_window("undefined window: weak", text)
    >>> error.message, error.hint
    ('unknown window `weak`', 'write week')
    """
    if not _OVER_MESSAGE.search(message):
        return None
    code = _COMMENT_OR_STRING.sub(lambda match: " " * len(match[0]), text)
    over = _OVER_WITHOUT_WINDOW.search(code)
    if over is not None:
        return over_without_window(Span(*over.span("over")))
    unknown = _UNKNOWN_WINDOW.search(message)
    if unknown is None:
        return None
    name = unknown["sail_name"] or unknown["spark_name"]
    use = re.search(rf"\bOVER\s+\(?\s*`?(?P<name>{name})\b", code, re.IGNORECASE)
    if use is None:
        return None
    windows = list_defined_windows(code)
    return unknown_window(Span(*use.span("name")), name=name, windows=windows)


def list_defined_windows(code: str) -> list[str]:
    """Return the names of the windows that the WINDOW clauses of a query define.

    Args:
        code: the query without comments and strings.

    >>> list_defined_windows("WITH a AS (TABLE t) TABLE a WINDOW b AS (ORDER BY (x)),`c` AS ()")
    ['b', 'c']
    """
    names = []
    for first_definition in _FIRST_WINDOW.finditer(code):
        definition: re.Match[str] | None = first_definition
        while definition is not None:
            names.append(definition["name"])
            definition = _NEXT_WINDOW.match(code, find_parentheses_end(code, definition.end()))
    return names


def find_parentheses_end(code: str, start: int) -> int:
    """Return the index after the parenthesis that closes the one before `start`.

    Without such a parenthesis, the result is the end of the text.

    >>> find_parentheses_end("f(g(x)) > 1", 2)
    7
    """
    depth = 1
    for parenthesis in _PARENTHESIS.finditer(code, start):
        depth += 1 if parenthesis[0] == "(" else -1
        if depth == 0:
            return parenthesis.end()
    return len(code)


def over_without_window(span: Span) -> MatchRecognizePlanError:
    """Return the error for OVER without a window after it.

    Args:
        span: the word OVER.
    """
    return MatchRecognizePlanError(
        "missing parentheses after OVER",
        span,
        hint="write OVER () for all rows, or OVER (PARTITION BY ... ORDER BY ...)",
        code="over-without-window",
    )
