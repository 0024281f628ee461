"""Read intervals, which consist of the word INTERVAL, and values with their units.

INTERVAL '1' DAY    INTERVAL -3 DAYS 2 HOURS    INTERVAL '1-2' YEAR TO MONTH
"""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizeError
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.sql import limits as errors
from matchrec.plan.expression import Term
from matchrec.plan.operations import find_operator_operations
from matchrec.syntax.amounts import UNITS, UNITS_OF_TIME, read_interval_amount
from matchrec.syntax.expressions.cursor import AFTER_OPERAND, ExpressionCursor
from matchrec.syntax.tokens import CONSTANT_KINDS, TokenKind

_SIGNS = ("-", "+")

# How a parameter begins: `:name` has two tokens, `?` has one.
_PARAMETER_STARTS = (":", "?")


def is_at_interval(cursor: ExpressionCursor) -> bool:
    """Return whether the word INTERVAL at the cursor starts an interval, and is not a name.

    It starts an interval before a string, a number or a parameter. There are two exceptions:

    - After a sign, a number or a parameter needs a unit. `INTERVAL - 3 DAYS` is an interval, but
      `interval - 3` subtracts from a column. A number without a sign cannot follow a column, so
      `INTERVAL 3` is an interval, for which `read_interval` raises an error.
    - A parameter without a sign needs a blank before it: `interval:x` is a field of a column.
    """
    interval_index = cursor.position
    has_sign = cursor.key_at(interval_index + 1) in _SIGNS
    value_index = interval_index + 2 if has_sign else interval_index + 1
    if cursor.kind_at(value_index) is TokenKind.STRING:
        return True
    is_parameter = cursor.key_at(value_index) in _PARAMETER_STARTS
    if not is_parameter and cursor.kind_at(value_index) is not TokenKind.NUMBER:
        return False
    if has_sign:
        is_named = cursor.key_at(value_index) == ":"
        return cursor.key_at(value_index + (2 if is_named else 1)) in UNITS_OF_TIME
    if is_parameter:
        interval, parameter = cursor.tokens[interval_index], cursor.tokens[value_index]
        return parameter.span.start > interval.span.end
    return True


def read_interval(cursor: ExpressionCursor) -> Term:
    """Read an interval: the word INTERVAL at the cursor, and values, each with its unit.

    A string can contain values and units.

    Raises:
        MatchRecognizeError: the first value is a parameter, or a value has no unit.
    """
    start = cursor.position
    cursor.position += 1
    _reject_parameter(cursor)
    value_index = _find_next_value_index(cursor)
    if value_index is None:
        raise cursor.make_unexpected_error()
    while value_index is not None:
        cursor.position = value_index + 1
        has_units_in_text = (
            cursor.kind_at(value_index) is TokenKind.STRING and cursor.key not in UNITS_OF_TIME
        )
        if not has_units_in_text:
            _read_unit(cursor)
            if cursor.accept("TO"):
                _read_unit(cursor)
        value_index = _find_next_value_index(cursor)
    values_and_units = cursor.tokens[start + 1 : cursor.position]
    words = [cursor.sequence.text_at(token.span) for token in values_and_units]
    amount = read_interval_amount(words)
    return cursor.make_term(start, find_operator_operations("INTERVAL"), amount=amount)


def _reject_parameter(cursor: ExpressionCursor) -> None:
    """Raise an error if a parameter follows the word INTERVAL, perhaps after a sign.

    Args:
        cursor: its position is after the word INTERVAL.

    Raises:
        MatchRecognizeUnsupportedError: a parameter follows.
    """
    interval_span = cursor.tokens[cursor.position - 1].span
    has_sign = cursor.key in _SIGNS
    if cursor.key_at(cursor.position + has_sign) not in _PARAMETER_STARTS:
        return
    cursor.position += has_sign
    parameter = cursor.read_parameter()
    raise errors.interval_with_parameter(
        interval_span, parameter=cursor.sequence.text_at(parameter.span), where=cursor.where
    )


def _find_next_value_index(cursor: ExpressionCursor) -> int | None:
    """Return the index of the number or string that comes next, perhaps after a sign.

    The result is None if another token comes next.
    """
    index = cursor.position
    if cursor.key in _SIGNS:
        index += 1
    return index if cursor.kind_at(index) in CONSTANT_KINDS else None


def _read_unit(cursor: ExpressionCursor) -> None:
    """Read a unit of time.

    Raises:
        MatchRecognizeError: another token comes next.
    """
    if cursor.key not in UNITS_OF_TIME:
        raise _make_missing_unit_error(cursor)
    cursor.position += 1


def _make_missing_unit_error(cursor: ExpressionCursor) -> MatchRecognizeError:
    """Return the error for the token at the cursor, which is not a unit of time.

    If the token before it is a number, the error proposes a unit for the number.
    """
    previous_token = cursor.tokens[cursor.position - 1]
    if previous_token.kind is not TokenKind.NUMBER:
        return cursor.make_unexpected_error()
    has_wrong_unit = (
        cursor.kind_at(cursor.position) is TokenKind.WORD and cursor.key not in AFTER_OPERAND
    )
    span = previous_token.span
    if has_wrong_unit:
        span = span.to(cursor.next_span)
    unit = find_nearest(cursor.key.removesuffix("S"), UNITS) or "MINUTE"
    return errors.interval_without_unit(
        span, number=previous_token.text, where=cursor.where, unit=unit
    )
