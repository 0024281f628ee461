"""Parse an expression: operators by precedence, over the operands that `OperandParser` reads.

A part that reads rows of a match becomes a reference. All other text stays text:

    LAST(A.price) * 1.1 > price      →      > ( * (?, 1.1), ?)   over   `? * 1.1 > ?`
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import incomplete as errors
from matchrec.errors.sql.expression import constant_key
from matchrec.plan.clauses import RowExpression
from matchrec.plan.expression import (
    LONG_CHAIN,
    MAX_NESTED,
    Operation,
    Scalar,
    find_amount,
    find_column_path,
)
from matchrec.plan.operations import NO_OPERATIONS, find_operator_operations, name_operation
from matchrec.plan.words import NONDETERMINISTIC
from matchrec.source import Span
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.expressions.operands import OperandParser
from matchrec.syntax.expressions.scope import Scope
from matchrec.syntax.function_names import CONSTANT_CALLS
from matchrec.syntax.tokens import TokenKind, TokenSequence, split_words

# For each second way to write an operator, the usual sign.
SAME_SIGNS = {"==": "=", "!=": "<>"}

# The signs of the binary operators, by the level of precedence. Level 0 binds loosest.
_SIGNS_BY_LEVEL = ("= == <> != < <= > >= <=>", "|", "^", "&", "<< >> >>>", "+ - ||", "* / % DIV")

# The signs that are several tokens, without blanks between them. The longest sign comes first.
_SHIFTS = (">>>", ">>", "<<")


class BinaryOperator(NamedTuple):
    """An operator between two operands."""

    # The operator as it is written.
    sign: str
    # The name of the operator in an `Operation`.
    name: str
    # The level of precedence, from 0. An operator of a higher level binds tighter.
    level: int

    @property
    def token_count(self) -> int:
        """Return the number of tokens of the sign."""
        return len(self.sign) if self.sign in _SHIFTS else 1


# The binary operators, by their signs.
BINARY_OPERATORS = {
    sign: BinaryOperator(sign, SAME_SIGNS.get(sign, sign), level)
    for level, signs in enumerate(_SIGNS_BY_LEVEL)
    for sign in signs.split()
}

_WORDS_AFTER_NOT = split_words("BETWEEN ILIKE IN LIKE REGEXP RLIKE")

# The most operands of a chain that becomes a tree: see `ScalarParser.read_binary`.
_MAX_OPERANDS = MAX_NESTED + 1

# For each operator between a text and a pattern, the name of its operation.
LIKE_OPERATORS = {"LIKE": "LIKE", "ILIKE": "ILIKE", "RLIKE": "RLIKE", "REGEXP": "RLIKE"}


class ScalarParser(OperandParser):
    """A parser of expressions by precedence climbing, with one method per rule.

        expression  := conjunction (OR conjunction)*      conjunction := negation (AND negation)*
        negation    := (NOT | !) negation | predicate
        predicate   := value [IS [NOT] NULL | ... | [NOT] BETWEEN value AND value | [NOT] IN (...)
                              | [NOT] LIKE value [ESCAPE string]]
        value       := comparison over | ^ & shifts, + - ||, * / % DIV, unary, loose to tight

    A part without a rule becomes an opaque `Term`, which is always correct. Later stages know the
    operands only of an `Operation`.

    Source: Spark's SqlBaseParser.g4, booleanExpression, predicate, valueExpression.
    """

    def read_expression(self) -> Scalar:
        """Read conditions with OR between them."""
        start = self.position
        operands = [self.read_conjunction()]
        while self.accept("OR"):
            operands.append(self.read_conjunction())
        return operands[0] if len(operands) == 1 else self.make_operation("OR", start, *operands)

    def read_conjunction(self) -> Scalar:
        """Read conditions with AND between them."""
        start = self.position
        operands = [self.read_negation()]
        while self.accept("AND"):
            operands.append(self.read_negation())
        return operands[0] if len(operands) == 1 else self.make_operation("AND", start, *operands)

    def read_negation(self) -> Scalar:
        """Read a predicate with any number of NOTs before it."""
        start = self.position
        if self.accept("!") or self.accept("NOT"):
            return self.make_operation("NOT", start, self.read_negation())
        return self.read_predicate()

    def read_predicate(self) -> Scalar:
        """Read a value, or a test of it with IS, BETWEEN, IN or LIKE."""
        start = self.position
        left = self.read_value()
        if self.accept("IS"):
            return self.read_is(start, left)
        negation = ""
        if self.key == "NOT" and self.key_at(self.position + 1) in _WORDS_AFTER_NOT:
            negation = "NOT "
            self.position += 1
        if self.accept("BETWEEN"):
            operator = self.position - 1
            low = self.read_value()
            if not self.accept("AND"):
                raise self.explain_between(operator)
            return self.make_operation(f"{negation}BETWEEN", start, left, low, self.read_value())
        if self.accept("IN"):
            return self.read_membership(start, left, f"{negation}IN")
        if self.key in LIKE_OPERATORS:
            return self.read_like(start, left, negation)
        return left

    def explain_between(self, operator: int) -> MatchRecognizeError:
        """Return the error for BETWEEN without AND after its first bound.

        Args:
            operator: the index of the word BETWEEN. The position is after the first bound.
        """
        bound = self.sequence.text_at(self.sequence.span(operator + 1, self.position))
        upper_bound = ""
        is_followed_by_bound = self.key in (",", "TO") and self.position + 1 < self.end
        if is_followed_by_bound and self.tokens[self.position + 1].is_constant:
            upper_bound = self.tokens[self.position + 1].text
        return errors.between_without_and(
            self.sequence.span(operator, self.position),
            where=self.where,
            lower_bound=bound,
            upper_bound=upper_bound,
        )

    def read_membership(self, start: int, left: Scalar, operator: str) -> Scalar:
        """Read what follows IN. A subquery is opaque.

        Args:
            start: the index of the first token of the operand before IN.
            left: the operand before IN.
            operator: IN or NOT IN.
        """
        if self.key == "[":
            closing = self.sequence.index_after(self.position) - 1
            if closing > self.position + 1:
                inside = self.sequence.span(self.position + 1, closing)
                brackets = self.sequence.span(self.position, closing + 1)
                text = self.sequence.text_at(inside)
                raise errors.in_with_brackets(brackets, where=self.where, values=text)
        if self.key != "(":
            value = self.read_value()
            texts = [self.sequence.text_at(value.span)]
            end = self.position
            while self.key_at(end) == "OR" and self.find_constant_at(end + 1):  # `IN 1 OR 2`
                texts.append(self.find_constant_at(end + 1))
                end += 2
            span = value.span.to(self.tokens[end - 1].span)
            raise errors.in_without_parentheses(
                span, where=self.where, values=texts, operator=operator
            )
        if self.sequence.is_subquery(self.position):
            return self.read_subquery(start, find_operator_operations(operator), left)
        self.position += 1
        values = self.read_several(self.read_expression)
        self.expect(")")
        return self.make_operation(operator, start, left, *values)

    def read_like(self, start: int, left: Scalar, negation: str) -> Scalar:
        """Read LIKE or a similar word, and the pattern after it. LIKE ANY and LIKE ALL are opaque.

        Args:
            start: the index of the first token of the operand before the word.
            left: the operand before the word.
            negation: "NOT " if NOT is before the word, otherwise "".
        """
        word = self.key
        operator = LIKE_OPERATORS[word]
        self.position += 1
        if self.key in ("ANY", "SOME", "ALL") and self.key_at(self.position + 1) == "(":
            self.position += 2
            patterns = self.read_several(self.read_expression)
            self.expect(")")
            return self.make_term(
                start, find_operator_operations(f"{negation}{operator} ANY"), left, *patterns
            )
        operations = frozenset({name_operation(word, self.find_constant_at(self.position))})
        operands = [left, self.read_value()]
        if self.accept("ESCAPE"):
            operands.append(self.read_operand())
        return self.make_operation(f"{negation}{operator}", start, *operands, operations=operations)

    def read_is(self, start: int, left: Scalar) -> Operation:
        """Read the words after IS, and the value after DISTINCT FROM.

        Args:
            start: the index of the first token of the operand before IS.
            left: the operand before IS.
        """
        negation = "NOT " if self.accept("NOT") else ""
        for word in ("NULL", "TRUE", "FALSE", "UNKNOWN"):
            if self.accept(word):
                return self.make_operation(f"IS {negation}{word}", start, left)
        self.expect("DISTINCT", "FROM")
        return self.make_operation(f"IS {negation}DISTINCT FROM", start, left, self.read_value())

    def read_value(self) -> Scalar:
        """Read operands with comparisons and arithmetic between them."""
        return self.read_binary(0)

    def read_binary(self, level: int) -> Scalar:
        """Read operands with operators between them, of `level` or of higher levels.

        Operands with operators of one level between them, such as `a + b - c`, are a chain. A chain
        is read in a loop from left to right, and each operator adds an operation on top of the
        tree. If the tree would be too deep for the recursion of later stages, the chain becomes one
        opaque operation.
        """
        start = self.position
        tree = self.read_unary()
        operator = self.peek_operator()
        while operator is not None and operator.level >= level:
            chain_level = operator.level
            operands = [tree]
            chain_operations = NO_OPERATIONS
            while operator is not None and operator.level == chain_level:
                self.position += operator.token_count
                constant = self.find_constant_at(self.position)
                operations = frozenset({name_operation(operator.sign, constant)})
                operands.append(self.read_binary(chain_level + 1))
                chain_operations |= operations
                if len(operands) <= _MAX_OPERANDS:
                    tree = self.make_operation(
                        operator.name, start, tree, operands[-1], operations=operations
                    )
                operator = self.peek_operator()
            if len(operands) > _MAX_OPERANDS:
                opaque_chain = self.make_term(start, chain_operations, *operands)
                tree = self.make_operation(LONG_CHAIN, start, opaque_chain)
        return tree

    def peek_operator(self) -> BinaryOperator | None:
        """Return the binary operator that comes next, without reading it.

        The result is None if another token comes next.
        """
        key = self.key
        if key in ("<", ">") and self.key_at(self.position + 1) == key:
            start = self.tokens[self.position].span.start
            for shift in _SHIFTS:
                if self.sequence.text_at(Span(start, start + len(shift))) == shift:
                    return BINARY_OPERATORS[shift]
        return BINARY_OPERATORS.get(key)

    def read_unary(self) -> Scalar:
        """Read an operand with any number of signs before it."""
        start = self.position
        sign = self.key
        if sign not in ("-", "+", "~"):
            return self.read_primary()
        if sign == "~" and self.sequence.text_at(self.sequence.span(start - 1, start + 1)) == "=~":
            raise self.make_unexpected_error()
        self.position += 1
        is_number = self.kind_at(start + 1) is TokenKind.NUMBER
        operand = self.read_unary()
        if sign == "~":
            return self.make_operation("~", start, operand)
        if is_number and self.position == start + 2:
            amount = find_amount(operand)
            if amount is not None and sign == "-":
                amount = replace(amount, value=-amount.value)
            return self.make_term(start, NO_OPERATIONS, operand, amount=amount)
        if sign == "+":
            return self.make_term(start, NO_OPERATIONS, operand)
        return self.make_operation("NEG", start, operand)


def parse_scalar(tokens: TokenSequence, scope: Scope) -> Scalar:
    """Parse tokens that must be one expression.

    Raises:
        MatchRecognizeError: the tokens are not an expression, or the expression reads rows that the
            scope forbids.

    >>> from matchrec.plan.expression import render
    >>> from matchrec.syntax.tokenize import read_tokens
    >>> scope = Scope(ClausePart.DEFINE, ("A",))
    >>> tree = parse_scalar(read_tokens("A.price > 2 * PREV(a.price)"), scope)
    >>> tree.operator, render(tree, lambda reference: f"<{reference.argument}>")
    ('>', '<price> > 2 * <price>')
    """
    return _read_whole_expression(ScalarParser(tokens, scope))


def parse_row_expression(tokens: TokenSequence, clause: ClausePart) -> RowExpression:
    """Parse an expression over one row of the input, or a constant.

    Args:
        tokens: the tokens of the expression.
        clause: the part of the clause in which the expression is written.

    Raises:
        MatchRecognizeError: the tokens are not an expression, the expression reads rows of a match,
            or it is a constant in PARTITION BY or ORDER BY.
    """
    parser = ScalarParser(tokens, Scope(clause, reads_match=False))
    tree = _read_whole_expression(parser)
    is_constant = _is_constant(parser)
    if is_constant and clause not in (ClausePart.WITHIN, ClausePart.FRAME):
        raise constant_key(tokens.text_at(tree.span), parser.where, tree.span)
    amount = find_amount(tree)
    return RowExpression(
        parser.write_span(tree.span),
        tree.span,
        amount=amount,
        column_path=find_column_path(tree),
        is_constant=amount is None and is_constant,
        operations=tree.operations,
        scalar=tree,
    )


def _read_whole_expression(parser: ScalarParser) -> Scalar:
    """Read all tokens of a parser, which must be one expression.

    Raises:
        MatchRecognizeError: the tokens are not one expression, or it is nested too deeply.
    """
    try:
        return parser.read_range(0, parser.end)
    except RecursionError as error:
        raise errors.expression_nested_too_deep(parser.next_span, where=parser.where) from error


def _is_constant(parser: ScalarParser) -> bool:
    """Return whether the expression that a parser has read has the same value for all rows.

    A constant reads no column, and calls no function whose value may differ from row to row. An
    unknown function without arguments may be such a function.
    """
    if parser.rows_read:
        return False
    for index in parser.function_indices:
        function = parser.key_at(index)
        has_no_arguments = parser.key_at(index + 2) == ")"
        if function in NONDETERMINISTIC:
            return False
        if has_no_arguments and function not in CONSTANT_CALLS:
            return False
    return True
