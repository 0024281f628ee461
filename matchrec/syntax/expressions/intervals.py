"""Read intervals: `INTERVAL '1' DAY`, `INTERVAL -3 DAYS 2 HOURS`, `INTERVAL '1-2' YEAR TO MONTH`.

In this module `reader` is the cursor of the expression. Its position is at the word INTERVAL.
"""

from __future__ import annotations

from matchrec.errors.misspellings import find_nearest
from matchrec.errors.sql import limits as errors
from matchrec.plan.expression import Term
from matchrec.plan.operations import find_operator_operations
from matchrec.syntax.amounts import UNITS, UNITS_OF_TIME, read_interval_amount
from matchrec.syntax.expressions.cursor import AFTER_OPERAND, ExpressionCursor
from matchrec.syntax.tokens import CONSTANT_KINDS, TokenKind

_SIGNS = ("-", "+")


def is_at_interval(reader: ExpressionCursor) -> bool:
    """Return whether the word INTERVAL starts an interval here, and is not a name.

    The word starts an interval before a string, before a number with a unit, and before a parameter
    after a blank. Without the blank, `interval:x` is a field of a column.
    """
    word = reader.position
    has_sign = reader.key_at(word + 1) in _SIGNS
    value = word + 2 if has_sign else word + 1
    if reader.key_at(value) in (":", "?"):
        return reader.tokens[value].span.start > reader.tokens[word].span.end
    kind = reader.kind_at(value)
    # `interval - 3` subtracts from a column, but `INTERVAL - 3 DAYS` is an interval. A number
    # without a sign cannot follow a column, so a missing unit is an error of the interval.
    can_be_value = not has_sign or reader.key_at(value + 1) in UNITS_OF_TIME
    return kind is TokenKind.STRING or (kind is TokenKind.NUMBER and can_be_value)


def read_interval(reader: ExpressionCursor) -> Term:
    """Read an interval: values, each with its unit. A string can contain values and units.

    Raises:
        MatchRecognizeError: a value is a parameter, or has no unit.
    """
    start = reader.position
    reader.position += 1
    if reader.key in (":", "?"):
        parameter = reader.read_parameter()
        raise errors.interval_with_parameter(
            reader.tokens[start].span,
            parameter=reader.sequence.text_at(parameter.span),
            where=reader.where,
        )
    while (value := _find_next_value(reader)) is not None:
        reader.position = value + 1
        is_text = reader.kind_at(value) is TokenKind.STRING
        if is_text and reader.key not in UNITS_OF_TIME:
            continue  # The units are in the string.
        _read_unit(reader)
        if reader.accept("TO"):
            _read_unit(reader)
    values_and_units = reader.tokens[start + 1 : reader.position]
    words = [reader.sequence.text_at(token.span) for token in values_and_units]
    amount = read_interval_amount(words)
    return reader.make_term(start, find_operator_operations("INTERVAL"), amount=amount)


def _find_next_value(reader: ExpressionCursor) -> int | None:
    """Return the index of the number or string that comes next, perhaps after a sign.

    The result is None if another token comes next.
    """
    index = reader.position
    if reader.key in _SIGNS:
        index += 1
    return index if reader.kind_at(index) in CONSTANT_KINDS else None


def _read_unit(reader: ExpressionCursor) -> None:
    """Read the unit of an interval.

    Raises:
        MatchRecognizeError: another token comes next. If a number was read before, the error
            proposes a unit for it.
    """
    key = reader.key
    if key in UNITS_OF_TIME:
        reader.position += 1
        return
    number = reader.tokens[reader.position - 1]
    if number.kind is not TokenKind.NUMBER:
        raise reader.make_unexpected_error()
    is_word = reader.kind_at(reader.position) is TokenKind.WORD and key not in AFTER_OPERAND
    span = number.span.to(reader.next_span) if is_word else number.span
    unit = find_nearest(key.removesuffix("S"), UNITS) or "MINUTE"
    raise errors.interval_without_unit(span, number=number.text, where=reader.where, unit=unit)
