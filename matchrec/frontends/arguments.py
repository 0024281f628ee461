"""The arguments `order_by` and `partition_by` of a function: texts, each SQL over one row."""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.errors import MatchRecognizeParseError
from matchrec.errors import calls as errors
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import Language
from matchrec.frontends.expressions.analysis import Clause
from matchrec.frontends.expressions.expression import parse_row_expression
from matchrec.frontends.lexing.dialect import SPARK, Dialect
from matchrec.source import Source, Span

_DIRECTIONS = frozenset({"ASC", "DESC", "NULLS"})


def orders(texts: str | Sequence[str], dialect: Dialect = SPARK) -> tuple[str, ...]:
    """What events are sorted by, at least one. Raises MatchRecognizeError."""
    expressions = _row_expressions("order_by", texts, Clause.ORDER_BY, dialect)
    if not expressions:
        raise errors.no_order()
    return expressions


def keys(texts: str | Sequence[str], dialect: Dialect = SPARK) -> tuple[str, ...]:
    """What divides events into streams. Raises MatchRecognizeError."""
    return _row_expressions("partition_by", texts, Clause.PARTITION_BY, dialect)


def _row_expressions(
    argument: str, texts: str | Sequence[str], clause: Clause, dialect: Dialect
) -> tuple[str, ...]:
    every = (texts,) if isinstance(texts, str) else texts
    return tuple(_row_expression(argument, text, clause, dialect) for text in every)


def _row_expression(argument: str, text: str, clause: Clause, dialect: Dialect) -> str:
    with shown_in(Source(text), Language({clause.value: argument})):
        try:
            return parse_row_expression(text, 0, clause, dialect).text
        except MatchRecognizeParseError as error:
            span = error.span or Span(0, 0)
            unexpected = text[span.start : span.end].upper()
            if unexpected == ",":
                raise errors.several_in_one(argument, span) from None
            if unexpected in _DIRECTIONS:
                raise errors.direction(argument, unexpected, span) from None
            raise
