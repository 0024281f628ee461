"""Functions over the rows of a match: `avg(x) OVER w`, `nth_value(x, 2) OVER w`."""

from __future__ import annotations

from collections.abc import Callable

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import window as errors
from matchrec.frontends.expressions.analysis import Clause, Scope
from matchrec.frontends.expressions.expression import parse_scalar
from matchrec.frontends.lexing.dialect import Dialect
from matchrec.frontends.lexing.numbers import whole_number
from matchrec.frontends.lexing.token_sequence import Range, TokenSequence, read_tokens
from matchrec.frontends.sql.windows.nodes import WindowCall
from matchrec.plan.clauses import Measure
from matchrec.plan.expression import (
    MATCHED_ROWS,
    Aggregate,
    ColumnReference,
    End,
    Navigation,
    Reference,
    Scalar,
    Semantics,
    Term,
    looks_at_columns_only,
    references,
    row_text,
    terms,
    with_final_semantics,
)

_FIRST = ("FIRST_VALUE", "FIRST")
_LAST = ("LAST_VALUE", "LAST")


def read_function(call: WindowCall, dialect: Dialect) -> Measure:
    """A function over a window as a measure, which also stands on rows without a match."""
    written = call.written
    tokens = read_tokens(written.text, dialect, written.span.start)
    value = _row_value(call, tokens) or _aggregate(call, dialect, tokens)
    return Measure(call.column, value, written.span, over_rows=True)


def _aggregate(call: WindowCall, dialect: Dialect, tokens: TokenSequence) -> Scalar:
    written = call.written
    scalar = parse_scalar(written.text, written.span.start, Scope(Clause.MEASURES, dialect=dialect))
    found = references(scalar)
    if not found or not all(map(_is_of_columns, found)):
        raise _refusal(call, tokens)
    return with_final_semantics(scalar)


def _is_of_columns(reference: Reference) -> bool:
    """Whether it is an aggregate that knows no pattern."""
    if not isinstance(reference, Aggregate) or reference.function == MATCHED_ROWS:
        return False
    return all(map(looks_at_columns_only, terms(reference)))


def _row_value(call: WindowCall, tokens: TokenSequence) -> Scalar | None:
    """The value on the match's first, last or n-th row; None of another function."""
    name = tokens.key(0)
    if tokens.key(1) != "(" or name not in (*_FIRST, *_LAST, "NTH_VALUE"):
        return None
    closing = tokens.pairs[1]
    arguments = tokens.separated(2, closing)
    wanted = 2 if name == "NTH_VALUE" else 1
    if closing != len(tokens) - 1 or len(arguments) != wanted or closing == 2:
        raise _refusal(call, tokens)
    offset = _row_number(tokens, arguments[1], lambda: _refusal(call, tokens)) if wanted == 2 else 0
    end = End.LAST if name in _LAST else End.FIRST
    scope = Scope(Clause.MEASURES, dialect=tokens.dialect)
    span = tokens.span(*arguments[0])
    term = parse_scalar(tokens.text_at(span), span.start, scope)
    plain = looks_at_columns_only(term) and all(
        isinstance(one, ColumnReference) and one.navigation == Navigation()
        for one in references(term)
    )
    if not plain:
        raise _refusal(call, tokens)
    navigation = Navigation(None, end, offset, 0, Semantics.FINAL)
    return Term((ColumnReference(navigation, row_text(term), span),), span)


def _row_number(
    tokens: TokenSequence, part: Range, refusal: Callable[[], MatchRecognizeError]
) -> int:
    """How many rows come before the row whose number stands there."""
    text = tokens.text_at(tokens.span(*part))
    number = whole_number(text) if text.isdigit() else None
    if not number:
        raise refusal()
    return number - 1


def _refusal(call: WindowCall, tokens: TokenSequence) -> MatchRecognizeError:
    words = " ".join(call.written.text.split())
    name = tokens.text_at(tokens.span(0, 1)) if tokens.key(1) == "(" else words
    plain = tokens.key(1) == "(" and tokens.pairs.get(1) == len(tokens) - 1
    return errors.not_over_rows(name if plain else words, call.written.span)
