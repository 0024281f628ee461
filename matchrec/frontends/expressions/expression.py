"""Scalar syntax → expression: what reads rows of a match becomes references, the rest stays text.

    LAST(A.price) * 1.1 > price      →      > ( * (?, 1.1), ?)   over   `? * 1.1 > ?`

Three steps: `analysis` finds tokens and columns, `references` takes out what reads rows,
`operands` and the reader below find the operations between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from matchrec.errors import MatchRecognizeParseError
from matchrec.errors import calls as calls_errors
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import Language, part
from matchrec.errors.sql import clause as query_errors
from matchrec.errors.sql.expression import constant_key
from matchrec.frontends.expressions.analysis import Analysis, ClausePart, Scope, analyse
from matchrec.frontends.expressions.operands import BINARY, SHIFTS, NotModelled, OperandReader
from matchrec.frontends.expressions.references import Hole, find_holes, refuse_references
from matchrec.frontends.lexing.tokens import CONSTANT_CALLS, SPARK, Dialect, TokenKind
from matchrec.plan.clauses import RowExpression
from matchrec.plan.expression import (
    DEEPEST,
    LONG_CHAIN,
    MATCH_NUMBER,
    Aggregate,
    Operation,
    Reference,
    Scalar,
    Term,
    references,
    with_references,
    with_terms,
)
from matchrec.plan.text import NONDETERMINISTIC
from matchrec.source import Source, Span

# The operations of an expression, by precedence climbing over its tokens and references.
#
#     disjunction := conjunction (OR conjunction)*      conjunction := negation (AND negation)*
#     negation    := (NOT | !) negation | predicate
#     predicate   := binary [IS [NOT] NULL | ... | [NOT] BETWEEN binary AND binary | [NOT] IN (...)
#                            | [NOT] LIKE binary [ESCAPE string]]
#     binary      := comparison over | ^ & shifts, + - ||, * / % DIV, unary, from loose to tight
#
# What is not modelled becomes an opaque `Term`, at the least part that holds it: a Term is always
# right, an operation only lets later passes look inside.
# Source: Spark's SqlBaseParser.g4, booleanExpression, predicate, valueExpression.

_LOOSEST = (-1, "")

LIKENESSES = {"LIKE": "LIKE", "ILIKE": "ILIKE", "RLIKE": "RLIKE", "REGEXP": "RLIKE"}
"""The words between a text and a pattern, each with the operation that it is."""


def with_row_operations(analysis: Analysis, scalar: Scalar) -> Scalar:
    """A condition whose aggregates have the operations of what MATCH_NUMBER() is part of.

    Spark computes before the match what an aggregate evaluates on each row, but not the number:
    what is made of it is computed during the match, as the condition itself is.
    """
    if analysis.scope.clause is not ClausePart.DEFINE:
        return scalar
    return with_references(scalar, lambda one: _in_aggregate(analysis, one))


def _in_aggregate(analysis: Analysis, reference: Reference) -> Reference:
    if not isinstance(reference, Aggregate):
        return reference
    return with_terms(reference, lambda term: _read(analysis, term))


def _read(analysis: Analysis, term: Scalar) -> Scalar:
    """The operations of a term, if MATCH_NUMBER() is in it."""
    found = references(term)
    if MATCH_NUMBER not in found:
        return term
    reader = OperationReader(analysis, tuple(_hole(analysis, one) for one in found))
    places = [token.span.start for token in reader.tokens]
    start = places.index(term.span.start)
    end = next((at for at, place in enumerate(places) if place >= term.span.end), reader.end)
    return reader.read(start, end)


def _hole(analysis: Analysis, reference: Reference) -> Hole:
    """Where a reference of a term stands among the tokens."""
    assert reference.span is not None
    start = analysis.index_at[reference.span.start]
    return Hole(start, analysis.after(start, reference.span), Term((reference,), reference.span))


class OperationReader(OperandReader):
    """One method per rule; each returns its tree or raises NotModelled."""

    def disjunction(self) -> Scalar:
        start = self.position
        operands = [self.conjunction()]
        while self.accept("OR"):
            operands.append(self.conjunction())
        return operands[0] if len(operands) == 1 else self.operation("OR", start, *operands)

    def conjunction(self) -> Scalar:
        start = self.position
        operands = [self.negation()]
        while self.accept("AND"):
            operands.append(self.negation())
        return operands[0] if len(operands) == 1 else self.operation("AND", start, *operands)

    def negation(self) -> Scalar:
        start = self.position
        if self.accept("NOT") or self.accept("!"):
            return self.operation("NOT", start, self.negation())
        return self.predicate()

    def predicate(self) -> Scalar:
        start = self.position
        left = self.binary(0)
        if self.accept("IS"):
            return self.test(start, left)
        negated = "NOT " if self.accept("NOT") else ""
        if self.accept("BETWEEN"):
            low = self.binary(0)
            if not self.accept("AND"):
                raise NotModelled
            return self.operation(f"{negated}BETWEEN", start, left, low, self.binary(0))
        if self.accept("IN"):
            return self.membership(start, left, f"{negated}IN")
        if self.key in LIKENESSES:
            return self.likeness(start, left, negated)
        if negated:
            raise NotModelled
        return left

    def membership(self, start: int, left: Scalar, operator: str) -> Scalar:
        """What follows IN; a subquery is opaque."""
        opening = self.position
        closing = self.pairs.get(opening)
        if self.key != "(" or closing is None:
            raise NotModelled
        self.position = closing + 1
        if self.text.is_subquery(opening):
            return self.term(start, self.position)
        return self.operation(operator, start, left, *self.separated(opening + 1, closing))

    def likeness(self, start: int, left: Scalar, negated: str) -> Scalar:
        """LIKE and its relatives; of several patterns they are opaque."""
        operator, sign = LIKENESSES[self.key], self.position
        self.position += 1
        if self.key in ("ANY", "SOME", "ALL") and self.key_at(self.position + 1) == "(":
            self.position = self.pairs[self.position + 1] + 1
            return self.term(start, self.position)
        parts = [left, self.binary(0)]
        if self.accept("ESCAPE"):
            escape = self.position
            self.skip(1)
            parts.append(self.term(escape, self.position))
        return self.operation(f"{negated}{operator}", start, *parts, sign=sign)

    def test(self, start: int, left: Scalar) -> Operation:
        """What follows IS."""
        negated = "NOT " if self.accept("NOT") else ""
        for word in ("NULL", "TRUE", "FALSE", "UNKNOWN"):
            if self.accept(word):
                return self.operation(f"IS {negated}{word}", start, left)
        if self.accept("DISTINCT", "FROM"):
            return self.operation(f"IS {negated}DISTINCT FROM", start, left, self.binary(0))
        raise NotModelled

    def binary(self, level: int) -> Scalar:
        """Operands and operators that bind at least as tight as `level`."""
        start = self.position
        left = self.unary()
        tightness, chained = _LOOSEST[0], 0
        while (found := BINARY.get(self.symbol(), _LOOSEST))[0] >= level:
            if found[0] != tightness:
                left, chained = self.chain(start, left, chained), 0
            sign = self.position
            self.position += self.length(self.symbol())
            tightness, operator = found
            right = self.binary(tightness + 1)
            chained += 1
            if chained > DEEPEST:
                continue
            left = self.operation(operator, start, left, right, sign=sign)
        return self.chain(start, left, chained)

    def symbol(self) -> str:
        """The operator that comes next: `<<` and `>>` are two tokens, side by side."""
        key = self.key
        shift = key * 2
        return shift if shift in SHIFTS and self.is_next(shift) else key

    def is_next(self, shift: str) -> bool:
        """Whether the next tokens are those of a shift, with nothing between them."""
        tokens = self.tokens[self.position : min(self.position + len(shift), self.end)]
        joined = all(before.span.end == after.span.start for before, after in pairwise(tokens))
        return joined and "".join(token.key for token in tokens) == shift

    def length(self, symbol: str) -> int:
        """How many tokens an operator is."""
        return len(symbol) if symbol in SHIFTS else 1

    def chain(self, start: int, tree: Scalar, length: int) -> Scalar:
        """The tokens from `start` on, read as `tree` unless too many operators stand in a row."""
        if length <= DEEPEST:
            return tree
        return self.operation(LONG_CHAIN, start, self.term(start, self.position))

    def unary(self) -> Scalar:
        start = self.position
        if not (self.accept("-") or self.accept("+") or self.accept("~")):
            return self.primary()
        sign = self.key_at(start)
        operand = self.unary()
        number = isinstance(operand, Term) and self.position == start + 2
        if sign == "~":
            return self.operation("~", start, operand)
        if sign == "-" and not (number and self.kind_at(start + 1) is TokenKind.NUMBER):
            return self.operation("NEG", start, operand)
        return self.term(start, self.position)


def parse_scalar(text: str, offset: int, scope: Scope) -> Scalar:
    """The expression `text`, which starts at character `offset` of its query.

    >>> from matchrec.plan.expression import render
    >>> scope = Scope(ClausePart.DEFINE, ("A",))
    >>> tree = parse_scalar("A.price > 2 * PREV(a.price)", 0, scope)
    >>> tree.operator, render(tree, lambda reference: f"<{reference.argument}>")
    ('>', '<price> > 2 * <price>')
    """
    try:
        analysis = analyse(text, offset, scope)
        reader = OperationReader(analysis, find_holes(analysis))
        return with_row_operations(analysis, reader.read(0, reader.end))
    except RecursionError as error:
        span = Span(offset, offset + len(text))
        raise query_errors.expression_nested_too_deep(
            span, where=part(scope.clause.value)
        ) from error


def parse_row_expression(
    text: str, offset: int, clause: ClausePart, dialect: Dialect = SPARK
) -> RowExpression:
    """SQL over one row of the input, or over none."""
    analysis = analyse(text, offset, Scope(clause, dialect=dialect))
    refuse_references(analysis)
    span = analysis.span(0, len(analysis.tokens))
    if clause is not ClausePart.WITHIN and _is_constant(analysis):
        raise constant_key(analysis.text_at(span), analysis.clause, span)
    return RowExpression(analysis.written(span), span)


def _is_constant(analysis: Analysis) -> bool:
    """Whether an expression has one value for all rows; what `f()` gives may be anything."""
    calls = [index for index in range(len(analysis.tokens)) if analysis.is_call(index)]
    return not analysis.columns and not any(
        analysis.key(index) in NONDETERMINISTIC
        or (analysis.key(index + 2) == ")" and analysis.key(index) not in CONSTANT_CALLS)
        for index in calls
    )


# The arguments `order_by` and `partition_by` of a function: texts, each SQL over one row.

_DIRECTIONS = frozenset({"ASC", "DESC", "NULLS"})


def orders(texts: str | Sequence[str], dialect: Dialect = SPARK) -> tuple[str, ...]:
    """What events are sorted by, at least one. Raises MatchRecognizeError."""
    expressions = _row_expressions("order_by", texts, ClausePart.ORDER_BY, dialect)
    if not expressions:
        raise calls_errors.no_order()
    return expressions


def keys(texts: str | Sequence[str], dialect: Dialect = SPARK) -> tuple[str, ...]:
    """What divides events into streams. Raises MatchRecognizeError."""
    return _row_expressions("partition_by", texts, ClausePart.PARTITION_BY, dialect)


def _row_expressions(
    argument: str, texts: str | Sequence[str], clause: ClausePart, dialect: Dialect
) -> tuple[str, ...]:
    every = (texts,) if isinstance(texts, str) else texts
    return tuple(_row_expression(argument, text, clause, dialect) for text in every)


def _row_expression(argument: str, text: str, clause: ClausePart, dialect: Dialect) -> str:
    with shown_in(Source(text), Language({clause.value: argument})):
        try:
            return parse_row_expression(text, 0, clause, dialect).text
        except MatchRecognizeParseError as error:
            span = error.span or Span(0, 0)
            unexpected = text[span.start : span.end].upper()
            if unexpected == ",":
                raise calls_errors.several_in_one(span, argument=argument) from None
            if unexpected in _DIRECTIONS:
                raise calls_errors.direction(span, word=unexpected, argument=argument) from None
            raise
