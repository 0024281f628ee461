"""Read the arguments `order_by` and `partition_by` of public functions.

Patterns and SASE+ queries have no ORDER BY and PARTITION BY, so the functions that run them have
these arguments. Each text is an expression over one row of the input: `["market", "date(ts)"]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matchrec.errors import MatchRecognizeParseError
from matchrec.errors import arguments as argument_errors
from matchrec.errors.kinds import blame_argument, locate_errors
from matchrec.errors.language import SASE
from matchrec.plan.clauses import RowExpression
from matchrec.source import Source, Span
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.expressions.expression import parse_row_expression
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import SPARK, QuoteDialect

# Words that may follow an expression in ORDER BY, but not in `order_by`.
_DIRECTIONS = frozenset({"ASC", "DESC", "NULLS"})


def read_order_by(texts: str | Sequence[str], dialect: QuoteDialect = SPARK) -> tuple[str, ...]:
    """Return the expressions of the argument `order_by` as SQL of Spark.

    Raises:
        MatchRecognizeError: there are no expressions, or an expression is malformed or constant.
    """
    expressions = _read_argument(texts, ClausePart.ORDER_BY, dialect)
    if not expressions:
        raise argument_errors.empty_order_by()
    return expressions


def read_partition_by(texts: str | Sequence[str], dialect: QuoteDialect = SPARK) -> tuple[str, ...]:
    """Return the expressions of the argument `partition_by` as SQL of Spark.

    Raises:
        MatchRecognizeError: an expression is malformed or constant.
    """
    return _read_argument(texts, ClausePart.PARTITION_BY, dialect)


def _read_argument(
    texts: str | Sequence[str], part: ClausePart, dialect: QuoteDialect
) -> tuple[str, ...]:
    """Return the expressions of an argument as SQL of Spark.

    Args:
        texts: the value of the argument.
        part: the part of the clause that is named like the argument.
        dialect: how double quotes are read.

    Raises:
        MatchRecognizeError: an expression is malformed or constant. The error for a comma or a
            direction says what to write.
    """
    argument = part.name.lower()
    expressions = []
    texts = (texts,) if isinstance(texts, str) else texts
    for text in texts:
        language = replace(SASE, parts={part.value: argument})
        with blame_argument(argument), locate_errors(Source(text), language):
            try:
                expression = parse_row_expression(read_tokens(text, dialect), part)
            except MatchRecognizeParseError as error:
                span = error.span or Span(0, 0)
                unexpected = text[span.start : span.end].upper()
                if unexpected == ",":
                    raise argument_errors.several_expressions_in_one_text(
                        span, argument=argument
                    ) from None
                if unexpected in _DIRECTIONS:
                    raise argument_errors.direction_in_order_by(
                        span, word=unexpected, key=text[: span.start].strip(), argument=argument
                    ) from None
                raise
            expressions.append(expression.text)
    return tuple(expressions)


def make_key_expression(text: str) -> RowExpression:
    """Return the key with a text that `read_order_by` or `read_partition_by` has returned."""
    expression = parse_row_expression(read_tokens(text), ClausePart.ORDER_BY)
    return RowExpression(text, column_path=expression.column_path, operations=expression.operations)
