"""Errors in the text of the parts that limit matches: WITHIN and FIRST n MATCHES.

`matchrec.errors.within` has the errors of WITHIN that depend on the type of the ORDER BY key.
"""

from __future__ import annotations

import re

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
)
from matchrec.errors.language import SASE, current_language, name_part
from matchrec.errors.lengths import Length
from matchrec.errors.run.origins import read_users_text
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import shorten
from matchrec.source import Span


def duplicate_within(*spans: Span) -> MatchRecognizeParseError:
    """Return the error for a clause in which WITHIN has two lengths for the same rows."""
    return MatchRecognizeParseError(
        "WITHIN limits the distance between the same rows twice",
        *spans,
        hint="keep the smaller window",
        code="duplicate-within",
    )


def within_rows_and_time(*spans: Span) -> MatchRecognizeParseError:
    """Return the error for WITHIN with a time and a number of rows for the same rows."""
    texts = [read_users_text(span) or "" for span in spans]
    numbers = [number for text in texts for number in re.findall(r"(?i)(\d+)\s+ROWS", text)]
    rows = numbers[0] if numbers else "20"
    return MatchRecognizeParseError(
        "WITHIN limits both the time and the number of rows",
        *spans,
        hint=f"keep one, and write the other as a condition in DEFINE, such as count(*) <= {rows}",
        code="within-rows-and-time",
    )


def _find_number_in_text(text: str) -> str | None:
    """Return the number in a text such as `'5'`, `LAST 5` or `<= 5`; None for others and for 0."""
    number = re.fullmatch(r"(?:[A-Za-z]+|[<=]+|['\"])?\s*0*([1-9]\d*)['\"]?", text)
    return None if number is None else number[1]


def not_a_number_of_rows(span: Span | None, *, number: str, limit: int) -> MatchRecognizeParseError:
    """Return the error for WITHIN n ROWS if n is not a number from 1 to the limit."""
    return MatchRecognizeParseError(
        f"`{number}` is not a number of rows for WITHIN",
        span,
        notes=(
            (
                "WITHIN n ROWS limits the rows of the partition that a match spans; n is from 1 to "
                f"{limit:,}"
            ),
        ),
        hint=f"write WITHIN {_find_number_in_text(number) or 20} ROWS",
        code="not-a-number-of-rows",
    )


def not_a_number_of_matches(
    span: Span | None, *, number: str, limit: int
) -> MatchRecognizeParseError:
    """Return the error for FIRST n MATCHES if n is not a number from 1 to the limit."""
    return MatchRecognizeParseError(
        f"`{number}` is not a number of matches for FIRST",
        span,
        notes=(f"FIRST n MATCHES limits the matches of each partition; n is from 1 to {limit:,}",),
        hint=f"write FIRST {_find_number_in_text(number) or 10} MATCHES",
        code="not-a-number-of-matches",
    )


def missing_interval(
    span: Span, *, text: str, sort_key: str, seconds: str
) -> MatchRecognizeParseError:
    """Return the error for WITHIN 30 MINUTES.

    The types of columns are not known yet, so the help says what to write for each type.

    Args:
        span: the length in the text of the query.
        text: the length.
        sort_key: the key of ORDER BY; "" if it is not a name.
        seconds: the length in seconds; "" if it is not a whole number of seconds.
    """
    hint = f"write WITHIN INTERVAL {text}"
    if seconds:
        key = sort_key or name_part("ORDER BY")
        hint += f"; if {key} is a number of seconds instead of a time, write WITHIN {seconds}"
    return MatchRecognizeParseError(
        "missing INTERVAL in WITHIN", span, hint=hint, code="missing-interval"
    )


def variables_after_between(
    span: Span, *, length: str, first: str, last: str
) -> MatchRecognizeParseError:
    """Return the error for WITHIN INTERVAL 1 HOUR BETWEEN A AND B.

    Args:
        span: the text from BETWEEN on in the text of the query.
        length: the length before BETWEEN.
        first: the variable after BETWEEN.
        last: the variable after AND.
    """
    return MatchRecognizeParseError(
        "BETWEEN with two variables is not allowed in WITHIN",
        span,
        hint=f"write WITHIN {length} FROM {first} TO {last}",
        code="variables-after-between",
    )


def unit_without_interval(
    span: Span | None, *, text: str, length: Length, type_name: str = ""
) -> MatchRecognizeParseError:
    """Return the error for WITHIN 30s, WITHIN 10 min and WITHIN PT5M.

    In Spark SQL a letter after a number may be its type, but most users mean a unit.

    Args:
        span: the location in the text of the query.
        text: the length as it is written, `30s`.
        length: the length that the text probably means.
        type_name: the type that Spark SQL reads from the letter; "" if it reads something else.
    """
    is_sase = current_language() is SASE
    hint = f"write WITHIN {length.words if is_sase else length.sql}"
    number = length.amounts[0].number
    if re.fullmatch(r"\d+[A-Za-z]+", text):
        hint += f", or {number} for a number in the unit of {name_part('ORDER BY')}"
    note = f"Spark SQL reads it as the number {number} of type {type_name}"
    return MatchRecognizeParseError(
        f"`{shorten(text)}` in WITHIN is not a length of time",
        span,
        notes=(note if type_name else "",),
        hint=hint,
        code="unit-without-interval",
    )


def interval_without_unit(
    span: Span, *, number: str, where: str, unit: str
) -> MatchRecognizePlanError:
    """Return the error for INTERVAL 5, and for INTERVAL :gap if the value of :gap has no unit.

    Args:
        span: the location in the text of the query.
        number: the number or the parameter.
        where: the clause.
        unit: the unit that the help writes as an example.
    """
    return MatchRecognizePlanError(
        f"INTERVAL {number} in {where} has a number without a unit",
        span,
        hint=f"write INTERVAL {number} {unit}",
        code="interval-without-unit",
    )


def interval_with_parameter(
    span: Span, *, parameter: str, where: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for INTERVAL and a parameter outside WITHIN."""
    surface = current_surface()
    return MatchRecognizeUnsupportedError(
        f"INTERVAL {parameter} is not supported in {where}",
        span,
        notes=("only WITHIN takes INTERVAL and a parameter",),
        hint=f"write {parameter} alone, and {surface.advise_on_length(parameter)}",
        code="interval-with-parameter",
    )
