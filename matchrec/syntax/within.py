"""Read the items of WITHIN, which limit the distance between two rows of a match.

An item has one of these forms:

    WITHIN INTERVAL '1' HOUR                    a length of time
    WITHIN '1 hour'                             a length of time as a string
    WITHIN 500                                  a length in the unit of the ORDER BY key
    WITHIN 100 ROWS                             a number of rows
    WITHIN INTERVAL 5 MINUTE BETWEEN ROWS       between neighbouring rows of the match
    WITHIN INTERVAL 5 MINUTE FROM A TO B        between the rows of two variables
"""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.errors.lengths import WITHIN_CLAUSE, find_meant_length
from matchrec.errors.sql import clause as errors
from matchrec.errors.sql import limits as limit_errors
from matchrec.plan.amounts import MICROSECONDS
from matchrec.syntax import nodes
from matchrec.syntax.amounts import (
    UNITS_OF_TIME,
    read_number_of_rows,
    read_whole_number,
    reject_unit_in_number,
)
from matchrec.syntax.clause_tokens import ClauseTokens
from matchrec.syntax.durations import WrittenDuration, build_interval, is_length_of_time
from matchrec.syntax.parameter_values import read_parameter
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import Token, TokenKind, TokenSequence


def read_within_item(clause: ClauseTokens, start: int, end: int) -> nodes.WindowNode:
    """Read an item of WITHIN, tokens `start .. end`.

    The item is `interval`, `n ROWS`, `interval BETWEEN ROWS` or
    `interval FROM variable TO variable`.

    Raises:
        MatchRecognizeError: the item is malformed.
    """
    if clause.key(end - 1) == "ROWS":
        row_window = _read_row_window(clause, start, end)
        if row_window is not None:
            return row_window
    span = clause.span(start, end)
    is_between_rows = end - start > 1 and clause.has_keys(end - 2, "BETWEEN", "ROWS")
    has_variables = end - start > 4 and (clause.key(end - 4), clause.key(end - 2)) == ("FROM", "TO")
    interval_end = end
    if is_between_rows:
        interval_end = end - len(("BETWEEN", "ROWS"))
    elif has_variables:
        interval_end = end - len(("FROM", "variable", "TO", "variable"))
    if interval_end == start:
        raise errors.empty_part(span, part="WITHIN")
    _reject_variables_after_between(clause, start, end)
    written_interval = _WrittenInterval(clause.cut_out(start, interval_end))
    return nodes.WindowNode(
        interval=_read_interval(written_interval, _find_sort_key(clause, start)),
        span=span,
        is_between_rows=is_between_rows,
        from_variable=clause[end - 3].variable if has_variables else None,
        to_variable=clause[end - 1].variable if has_variables else None,
        parameter=read_parameter(written_interval.value),
        has_interval_word=written_interval.has_interval_word,
        unit=written_interval.unit,
        interval_span=written_interval.tokens.full_span,
    )


def _reject_variables_after_between(clause: ClauseTokens, start: int, end: int) -> None:
    """Reject `INTERVAL 1 HOUR BETWEEN A AND B`, which is written with FROM and TO.

    Raises:
        MatchRecognizeParseError: the item, tokens `start .. end`, has this form.
    """
    between = end - len(("BETWEEN", "variable", "AND", "variable"))
    if between <= start or (clause.key(between), clause.key(end - 2)) != ("BETWEEN", "AND"):
        return
    if clause.can_name(between + 1) and clause.can_name(end - 1):
        raise limit_errors.variables_after_between(
            clause.span(between, end),
            length=clause.cut_out(start, between).text,
            first=clause[between + 1].text,
            last=clause[end - 1].text,
        )


def _read_row_window(clause: ClauseTokens, start: int, end: int) -> nodes.WindowNode | None:
    """Read the item `n ROWS` of WITHIN; return None if the item is `interval BETWEEN ROWS`.

    Raises:
        MatchRecognizeParseError: `n` is not a number of rows, as in `WITHIN LAST 5 ROWS`.
    """
    parameter = read_parameter(clause.tokens[start : end - 1])
    has_number = end - start == len(("n", "ROWS")) or clause[end - 2].kind is TokenKind.NUMBER
    if parameter is None and not has_number:
        return None
    span = clause.span(start, end)
    number = clause.cut_out(start, end - 1)
    rows = 0 if parameter else read_number_of_rows(number.text, span)
    return nodes.WindowNode(
        number, span, rows=rows, parameter=parameter, interval_span=number.full_span
    )


@dataclass(frozen=True, slots=True)
class _WrittenInterval:
    """A length in WITHIN: `[INTERVAL] value [unit]`.

    The value is a number, a string, a parameter or any other expression.
    """

    # All tokens of the length.
    tokens: TokenSequence

    @property
    def has_interval_word(self) -> bool:
        """Return whether the length begins with INTERVAL."""
        return self.tokens.key(0) == "INTERVAL"

    @property
    def unit(self) -> str | None:
        """Return the unit of time at the end of an INTERVAL; None without a unit or INTERVAL."""
        last_key = self.tokens.key(len(self.tokens) - 1)
        return last_key if self.has_interval_word and last_key in UNITS_OF_TIME else None

    @property
    def value(self) -> tuple[Token, ...]:
        """Return the tokens between INTERVAL and the unit."""
        start = 1 if self.has_interval_word else 0
        end = len(self.tokens) if self.unit is None else len(self.tokens) - 1
        return self.tokens.tokens[start:end]


def _find_sort_key(clause: ClauseTokens, end: int) -> str:
    """Return the first key of ORDER BY if it is a name; "" for other keys and without ORDER BY.

    Args:
        clause: the tokens of the clause.
        end: the index before which ORDER BY is searched.
    """
    for index in clause.walk_level(0, end):
        if clause.has_keys(index, "ORDER", "BY") and clause.can_name(index + 2):
            is_plain = clause.key(index + 3) not in (".", "(", "[", "+", "-", "*", "/")
            return clause[index + 2].text if is_plain else ""
    return ""


def _reject_foreign_length(interval: TokenSequence) -> None:
    """Reject a length in another notation: `10 min`, `MINUTES(5)`, `<= INTERVAL 5 MINUTE`.

    A single token is not rejected: a word such as `3m` may name a column, and strings are read with
    the values of parameters.

    Raises:
        MatchRecognizeParseError: the length is such a text.
    """
    start = 1 if interval.key(0) == "INTERVAL" else 0
    words = interval.tokens[start:]
    units_are_sql = all(token.key in UNITS_OF_TIME for token in words[1::2])
    is_sql = units_are_sql and all(token.is_constant for token in words[::2])
    length = find_meant_length(interval.text)
    if len(interval) > 1 and not is_sql and length is not None:
        raise limit_errors.unit_without_interval(
            interval.full_span, text=interval.text, length=length
        )


def _read_interval(written_interval: _WrittenInterval, sort_key: str) -> TokenSequence:
    """Return a length as an expression of Spark SQL.

    A string is read like the value of a parameter: `'2 hours'` becomes `INTERVAL 2 HOUR`. A length
    that Spark can read is returned unchanged.

    Args:
        written_interval: the length.
        sort_key: the key of ORDER BY, for messages; "" if it is not a name.

    Raises:
        MatchRecognizeError: INTERVAL is missing before a number and a unit, the unit is missing
            after INTERVAL, or a string is not a length of time.
    """
    interval = written_interval.tokens
    _reject_foreign_length(interval)
    if is_length_of_time(interval, 0):
        number = interval[0].text.strip("'\"")
        unit_name = interval.key(1).removesuffix("S")
        seconds_per_unit = MICROSECONDS.get(unit_name, 0) // MICROSECONDS["SECOND"]
        has_one_amount = len(interval) == len(("number", "unit")) and number.isdecimal()
        amount = read_whole_number(number) if has_one_amount else None
        in_seconds = ""
        if amount is not None and seconds_per_unit > 0:
            in_seconds = str(amount * seconds_per_unit)
        raise limit_errors.missing_interval(
            interval.full_span, text=interval.text, sort_key=sort_key, seconds=in_seconds
        )
    if len(interval) == 1:
        reject_unit_in_number(interval[0])
    if len(written_interval.value) != 1:
        return interval
    unit = written_interval.unit
    has_interval_word = written_interval.has_interval_word
    token = written_interval.value[0]
    value = token.text
    if token.is_string:
        value = token.text[1:-1].replace("\\'", "'")
    has_letters = any(character.isalpha() for character in value)
    # Spark reads `INTERVAL '2' HOUR`, but neither `'2 hours'` nor `INTERVAL '2 hours' HOUR`.
    is_duration_text = token.is_string and (unit is None or has_letters)
    lacks_unit = token.is_constant and has_interval_word and unit is None
    if not (is_duration_text or lacks_unit):
        return interval
    duration = WrittenDuration(
        value, text=token.text, has_interval_word=has_interval_word, unit=unit
    )
    length = build_interval(duration, WITHIN_CLAUSE, interval.full_span)
    return read_tokens(length.text, offset=interval.offset)
