"""Scalar syntax → expression: what reads rows of a match becomes references, the rest stays text.

LAST(A.price) * 1.1 > price      →      > ( * (?, 1.1), ?)   over   `? * 1.1 > ?`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matchrec.errors import MatchRecognizeParseError
from matchrec.errors import calls as calls_errors
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import Language
from matchrec.errors.sql import clause as errors
from matchrec.errors.sql.expression import constant_key
from matchrec.plan.clauses import RowExpression
from matchrec.plan.expression import DEEPEST, LONG_CHAIN, Operation, Scalar, amount_of, names_of
from matchrec.plan.operations import NO_OPERATIONS, Operations, named, with_constant
from matchrec.plan.text import NONDETERMINISTIC
from matchrec.source import Source, Span
from matchrec.syntax import tokens as lexing
from matchrec.syntax.expressions.operands import OperandReader
from matchrec.syntax.expressions.reader import ClausePart, Scope

# Operators and words by which the structure of an expression is read.

SAME_SIGNS = {"==": "=", "!=": "<>"}  # other ways to write an operator

_LEVELS = ("= == <> != < <= > >= <=>", "|", "^", "&", "<< >> >>>", "+ - ||", "* / % DIV")

# How tight each binary operator binds, and its name in an Operation.
BINARY = {
    sign: (level, SAME_SIGNS.get(sign, sign))
    for level, signs in enumerate(_LEVELS)
    for sign in signs.split()
}

SHIFTS = (">>>", ">>", "<<")
_LOOSEST = (-1, "")
_NEGATED = lexing.words("BETWEEN ILIKE IN LIKE REGEXP RLIKE")

# The words between a text and a pattern, each with the operation that it is.
LIKENESSES = {"LIKE": "LIKE", "ILIKE": "ILIKE", "RLIKE": "RLIKE", "REGEXP": "RLIKE"}


class ScalarReader(OperandReader):
    """Operators by precedence climbing, one method per rule.

        expression  := conjunction (OR conjunction)*      conjunction := negation (AND negation)*
        negation    := (NOT | !) negation | predicate
        predicate   := value [IS [NOT] NULL | ... | [NOT] BETWEEN value AND value | [NOT] IN (...)
                              | [NOT] LIKE value [ESCAPE string]]
        value       := comparison over | ^ & shifts, + - ||, * / % DIV, unary, loose to tight

    What is not modelled becomes an opaque `Term`, at the least part that holds it: a Term is always
    right, an operation only lets later passes look inside.
    Source: Spark's SqlBaseParser.g4, booleanExpression, predicate, valueExpression.
    """

    def expression(self) -> Scalar:
        start = self.position
        operands = [self.conjunction()]
        while self.accept("OR"):
            operands.append(self.conjunction())
        return operands[0] if len(operands) == 1 else self.make_operation("OR", start, *operands)

    def conjunction(self) -> Scalar:
        start = self.position
        operands = [self.negation()]
        while self.accept("AND"):
            operands.append(self.negation())
        return operands[0] if len(operands) == 1 else self.make_operation("AND", start, *operands)

    def negation(self) -> Scalar:
        start = self.position
        if self.accept("!") or self.accept("NOT"):
            return self.make_operation("NOT", start, self.negation())
        return self.predicate()

    def predicate(self) -> Scalar:
        start = self.position
        left = self.value()
        if self.accept("IS"):
            return self.test(start, left)
        negated = "NOT " if self.key == "NOT" and self.key_at(self.position + 1) in _NEGATED else ""
        self.position += bool(negated)
        if self.accept("BETWEEN"):
            low = self.value()
            self.expect("AND")
            return self.make_operation(f"{negated}BETWEEN", start, left, low, self.value())
        if self.accept("IN"):
            return self.membership(start, left, f"{negated}IN")
        if self.key in LIKENESSES:
            return self.likeness(start, left, negated)
        return left

    def membership(self, start: int, left: Scalar, operator: str) -> Scalar:
        """What follows IN; a subquery is opaque."""
        if self.key != "(":
            value = self.value()
            text = self.text.text_at(value.span)
            raise errors.in_without_parentheses(value.span, where=self.clause, value=text)
        if self.text.is_subquery(self.position):
            return self.subquery(start, named(operator), left)
        self.position += 1
        values = self.several(self.expression)
        self.expect(")")
        return self.make_operation(operator, start, left, *values)

    def likeness(self, start: int, left: Scalar, negated: str) -> Scalar:
        """LIKE and its relatives; of several patterns they are opaque."""
        word, operator = self.key, LIKENESSES[self.key]
        self.position += 1
        if self.key in ("ANY", "SOME", "ALL") and self.key_at(self.position + 1) == "(":
            self.position += 2
            patterns = self.several(self.expression)
            self.expect(")")
            return self.make_term(start, named(f"{negated}{operator} ANY"), left, *patterns)
        own = with_constant(word, self.constant_at(self.position))
        parts = [left, self.value()]
        if self.accept("ESCAPE"):
            parts.append(self.operand())
        return self.make_operation(
            f"{negated}{operator}", start, *parts, operations=frozenset({own})
        )

    def test(self, start: int, left: Scalar) -> Operation:
        """What follows IS."""
        negated = "NOT " if self.accept("NOT") else ""
        for word in ("NULL", "TRUE", "FALSE", "UNKNOWN"):
            if self.accept(word):
                return self.make_operation(f"IS {negated}{word}", start, left)
        self.expect("DISTINCT", "FROM")
        return self.make_operation(f"IS {negated}DISTINCT FROM", start, left, self.value())

    def value(self) -> Scalar:
        return self.binary(0)

    def binary(self, level: int) -> Scalar:
        """Operands and operators that bind at least as tight as `level`."""
        start = self.position
        tree = self.unary()
        tightness, row, signs = _LOOSEST[0], [tree], NO_OPERATIONS
        while (found := BINARY.get(self.symbol(), _LOOSEST))[0] >= level:
            if found[0] != tightness:
                tree = self.chain(start, tree, row, signs)
                tightness, row, signs = found[0], [tree], NO_OPERATIONS
            sign = self.symbol()
            self.position += len(sign) if sign in SHIFTS else 1
            own = frozenset({with_constant(sign, self.constant_at(self.position))})
            row.append(self.binary(tightness + 1))
            signs |= own
            if len(row) <= DEEPEST + 1:
                tree = self.make_operation(found[1], start, tree, row[-1], operations=own)
        return self.chain(start, tree, row, signs)

    def symbol(self) -> str:
        """The operator that comes next: a shift is two or three tokens, side by side."""
        key = self.key
        if key in ("<", ">") and self.key_at(self.position + 1) == key:
            start = self.tokens[self.position].span.start
            for shift in SHIFTS:
                if self.text.text_at(Span(start, start + len(shift))) == shift:
                    return shift
        return key

    def chain(self, start: int, tree: Scalar, row: Sequence[Scalar], signs: Operations) -> Scalar:
        """The tokens since `start`, read as `tree` unless too many operators stand in a row."""
        if len(row) <= DEEPEST + 1:
            return tree
        return self.make_operation(LONG_CHAIN, start, self.make_term(start, signs, *row))

    def unary(self) -> Scalar:
        start, sign = self.position, self.key
        if sign not in ("-", "+", "~"):
            return self.primary()
        if sign == "~" and self.text.text_at(self.span(start - 1, start + 1)) == "=~":
            raise self.unexpected()
        self.position += 1
        is_number = self.kind_at(start + 1) is lexing.TokenKind.NUMBER
        operand = self.unary()
        if sign == "~":
            return self.make_operation("~", start, operand)
        if is_number and self.position == start + 2:
            found = amount_of(operand)
            if found is not None and sign == "-":
                found = replace(found, value=-found.value)
            return self.make_term(start, NO_OPERATIONS, operand, amount=found)
        if sign == "+":
            return self.make_term(start, NO_OPERATIONS, operand)
        return self.make_operation("NEG", start, operand)


def parse_scalar(tokens: lexing.TokenSequence, scope: Scope) -> Scalar:
    """The expression of all these tokens.

    >>> from matchrec.plan.expression import render
    >>> scope = Scope(ClausePart.DEFINE, ("A",))
    >>> tree = parse_scalar(lexing.read_tokens("A.price > 2 * PREV(a.price)"), scope)
    >>> tree.operator, render(tree, lambda reference: f"<{reference.argument}>")
    ('>', '<price> > 2 * <price>')
    """
    return _read(tokens, scope)[1]


def parse_row_expression(tokens: lexing.TokenSequence, clause: ClausePart) -> RowExpression:
    """SQL over one row of the input, or over none."""
    reader, tree = _read(tokens, Scope(clause, reads_match=False))
    if clause not in (ClausePart.WITHIN, ClausePart.FRAME) and _is_constant(reader):
        raise constant_key(tokens.text_at(tree.span), reader.clause, tree.span)
    text, names, amount = reader.written(tree.span), names_of(tree), amount_of(tree)
    is_constant = amount is None and _is_constant(reader)
    return RowExpression(text, tree.span, amount=amount, names=names, is_constant=is_constant)


def key_expression(text: str) -> RowExpression:
    """SQL over one row that was read before, in Spark's dialect."""
    return RowExpression(text, names=lexing.read_column_path(lexing.read_tokens(text).tokens))


def _read(tokens: lexing.TokenSequence, scope: Scope) -> tuple[ScalarReader, Scalar]:
    """The expression, and the reader that has read it to its end."""
    reader = ScalarReader(tokens, scope)
    try:
        return reader, reader.read_range(0, reader.end)
    except RecursionError as error:
        raise errors.expression_nested_too_deep(reader.here, where=reader.clause) from error


def _is_constant(reader: ScalarReader) -> bool:
    """Whether an expression has one value for all rows; what `f()` gives may be anything."""
    return not reader.rows_read and not any(
        reader.key_at(index) in NONDETERMINISTIC
        or (reader.key_at(index + 2) == ")" and reader.key_at(index) not in lexing.CONSTANT_CALLS)
        for index in reader.functions
    )


# The arguments `order_by` and `partition_by` of a function: texts, each SQL over one row.

_DIRECTIONS = frozenset({"ASC", "DESC", "NULLS"})


def orders(texts: str | Sequence[str], dialect: lexing.Dialect = lexing.SPARK) -> tuple[str, ...]:
    """What events are sorted by, at least one. Raises MatchRecognizeError."""
    expressions = _row_expressions(texts, ClausePart.ORDER_BY, dialect)
    if not expressions:
        raise calls_errors.no_order()
    return expressions


def keys(texts: str | Sequence[str], dialect: lexing.Dialect = lexing.SPARK) -> tuple[str, ...]:
    """What divides events into streams. Raises MatchRecognizeError."""
    return _row_expressions(texts, ClausePart.PARTITION_BY, dialect)


def _row_expressions(
    texts: str | Sequence[str], clause: ClausePart, dialect: lexing.Dialect
) -> tuple[str, ...]:
    """The texts of the argument that is called as a part of the clause."""
    argument, found = clause.name.lower(), []
    for text in (texts,) if isinstance(texts, str) else texts:
        with shown_in(Source(text), Language({clause.value: argument})):
            try:
                found.append(parse_row_expression(lexing.read_tokens(text, dialect), clause).text)
            except MatchRecognizeParseError as error:
                span = error.span or Span(0, 0)
                unexpected = text[span.start : span.end].upper()
                if unexpected == ",":
                    raise calls_errors.several_in_one(span, argument=argument) from None
                if unexpected in _DIRECTIONS:
                    raise calls_errors.direction(span, word=unexpected, argument=argument) from None
                raise
    return tuple(found)
