"""Parse an expression: operators by precedence, over the operands that `OperandReader` reads.

A part that reads rows of a match becomes a reference. All other text stays text:

    LAST(A.price) * 1.1 > price      →      > ( * (?, 1.1), ?)   over   `? * 1.1 > ?`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matchrec.errors import MatchRecognizeParseError
from matchrec.errors import calls as calls_errors
from matchrec.errors.kinds import locate_errors
from matchrec.errors.language import Language
from matchrec.errors.sql import tokens as errors
from matchrec.errors.sql.expression import constant_key
from matchrec.plan.clauses import RowExpression
from matchrec.plan.expression import (
    LONG_CHAIN,
    MOST_NESTED,
    Operation,
    Scalar,
    find_amount,
    find_column_names,
)
from matchrec.plan.operations import (
    NO_OPERATIONS,
    Operations,
    find_operation_before,
    find_operator_operations,
)
from matchrec.plan.words import NONDETERMINISTIC
from matchrec.source import Source, Span
from matchrec.syntax.expressions.operands import OperandReader
from matchrec.syntax.expressions.reader import ClausePart, Scope, read_column_path
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import (
    CONSTANT_CALLS,
    SPARK,
    Dialect,
    TokenKind,
    TokenSequence,
    split_words,
)

# Other ways to write an operator.
SAME_SIGNS = {"==": "=", "!=": "<>"}

# The binary operators, those that bind loosest first.
_LEVELS = ("= == <> != < <= > >= <=>", "|", "^", "&", "<< >> >>>", "+ - ||", "* / % DIV")

# For each binary operator: its level, which is higher the tighter it binds, and its name in an
# Operation.
BINARY = {
    sign: (level, SAME_SIGNS.get(sign, sign))
    for level, signs in enumerate(_LEVELS)
    for sign in signs.split()
}

SHIFTS = (">>>", ">>", "<<")
_NO_OPERATOR = (-1, "")
_WORDS_AFTER_NOT = split_words("BETWEEN ILIKE IN LIKE REGEXP RLIKE")

# For each word between a text and a pattern, the name of its operation.
LIKE_OPERATORS = {"LIKE": "LIKE", "ILIKE": "ILIKE", "RLIKE": "RLIKE", "REGEXP": "RLIKE"}


class ScalarReader(OperandReader):
    """A reader of expressions by precedence climbing, with one method per rule.

        expression  := conjunction (OR conjunction)*      conjunction := negation (AND negation)*
        negation    := (NOT | !) negation | predicate
        predicate   := value [IS [NOT] NULL | ... | [NOT] BETWEEN value AND value | [NOT] IN (...)
                              | [NOT] LIKE value [ESCAPE string]]
        value       := comparison over | ^ & shifts, + - ||, * / % DIV, unary, loose to tight

    A part that has no rule here becomes an opaque `Term`, which is always correct. Of an operation,
    later passes can also use the operands.

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
        negated = ""
        if self.key == "NOT" and self.key_at(self.position + 1) in _WORDS_AFTER_NOT:
            negated = "NOT "
            self.position += 1
        if self.accept("BETWEEN"):
            low = self.read_value()
            self.expect("AND")
            return self.make_operation(f"{negated}BETWEEN", start, left, low, self.read_value())
        if self.accept("IN"):
            return self.read_membership(start, left, f"{negated}IN")
        if self.key in LIKE_OPERATORS:
            return self.read_like(start, left, negated)
        return left

    def read_membership(self, start: int, left: Scalar, operator: str) -> Scalar:
        """Read what follows IN. A subquery is opaque.

        Args:
            start: the index of the first token of the operand before it.
            left: that operand.
            operator: IN or NOT IN.
        """
        if self.key != "(":
            value = self.read_value()
            text = self.text.text_at(value.span)
            raise errors.in_without_parentheses(value.span, where=self.where, value=text)
        if self.text.is_subquery(self.position):
            return self.read_subquery(start, find_operator_operations(operator), left)
        self.position += 1
        values = self.read_several(self.read_expression)
        self.expect(")")
        return self.make_operation(operator, start, left, *values)

    def read_like(self, start: int, left: Scalar, negated: str) -> Scalar:
        """Read LIKE or a similar word, and what follows it. LIKE ANY and LIKE ALL are opaque.

        Args:
            start: the index of the first token of the operand before it.
            left: that operand.
            negated: "NOT " if NOT is before the word, else "".
        """
        word = self.key
        operator = LIKE_OPERATORS[word]
        self.position += 1
        if self.key in ("ANY", "SOME", "ALL") and self.key_at(self.position + 1) == "(":
            self.position += 2
            patterns = self.read_several(self.read_expression)
            self.expect(")")
            return self.make_term(
                start, find_operator_operations(f"{negated}{operator} ANY"), left, *patterns
            )
        operations = frozenset({find_operation_before(word, self.find_constant_at(self.position))})
        operands = [left, self.read_value()]
        if self.accept("ESCAPE"):
            operands.append(self.read_operand())
        return self.make_operation(f"{negated}{operator}", start, *operands, operations=operations)

    def read_is(self, start: int, left: Scalar) -> Operation:
        """Read what follows IS.

        Args:
            start: the index of the first token of the operand before it.
            left: that operand.
        """
        negated = "NOT " if self.accept("NOT") else ""
        for word in ("NULL", "TRUE", "FALSE", "UNKNOWN"):
            if self.accept(word):
                return self.make_operation(f"IS {negated}{word}", start, left)
        self.expect("DISTINCT", "FROM")
        return self.make_operation(f"IS {negated}DISTINCT FROM", start, left, self.read_value())

    def read_value(self) -> Scalar:
        """Read operands with comparisons and arithmetic between them."""
        return self.read_binary(0)

    def read_binary(self, level: int) -> Scalar:
        """Read operands with operators between them that bind at least as tight as `level`.

        A chain is operands with operators of one level between them, such as `a + b - c`. It is
        read in a loop, left to right: the tree grows by an operation for each operator. If later
        passes cannot recur that deep, the chain becomes one opaque operation: see `build_chain`.
        """
        start = self.position
        tree = self.read_unary()
        chain_level = _NO_OPERATOR[0]
        chain = [tree]  # the operands of the current chain
        chain_operations = NO_OPERATIONS  # its operators
        while True:
            sign = self.peek_operator()
            sign_level, operator = BINARY.get(sign, _NO_OPERATOR)
            if sign_level < level:
                return self.build_chain(start, tree, chain, chain_operations)
            if sign_level != chain_level:
                tree = self.build_chain(start, tree, chain, chain_operations)
                chain_level = sign_level
                chain = [tree]
                chain_operations = NO_OPERATIONS
            self.position += len(sign) if sign in SHIFTS else 1
            operations = frozenset(
                {find_operation_before(sign, self.find_constant_at(self.position))}
            )
            chain.append(self.read_binary(chain_level + 1))
            chain_operations |= operations
            if len(chain) <= MOST_NESTED + 1:
                tree = self.make_operation(operator, start, tree, chain[-1], operations=operations)

    def peek_operator(self) -> str:
        """Return the operator that comes next.

        A shift is two or three tokens without blanks between them. It is not read yet.
        """
        key = self.key
        if key in ("<", ">") and self.key_at(self.position + 1) == key:
            start = self.tokens[self.position].span.start
            for shift in SHIFTS:
                if self.text.text_at(Span(start, start + len(shift))) == shift:
                    return shift
        return key

    def build_chain(
        self, start: int, tree: Scalar, chain: Sequence[Scalar], chain_operations: Operations
    ) -> Scalar:
        """Return a chain of operators as a tree, or as one opaque operation if it is too long.

        Args:
            start: the index of the first token.
            tree: the tree of the chain, or of its beginning if the chain is too long.
            chain: the operands.
            chain_operations: the operations of its operators.
        """
        if len(chain) <= MOST_NESTED + 1:
            return tree
        return self.make_operation(
            LONG_CHAIN, start, self.make_term(start, chain_operations, *chain)
        )

    def read_unary(self) -> Scalar:
        """Read an operand with any number of signs before it."""
        start = self.position
        sign = self.key
        if sign not in ("-", "+", "~"):
            return self.read_primary()
        if sign == "~" and self.text.text_at(self.text.span(start - 1, start + 1)) == "=~":
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
        MatchRecognizeError: they are not an expression, or it reads rows that its scope forbids.

    >>> from matchrec.plan.expression import render
    >>> scope = Scope(ClausePart.DEFINE, ("A",))
    >>> tree = parse_scalar(read_tokens("A.price > 2 * PREV(a.price)"), scope)
    >>> tree.operator, render(tree, lambda reference: f"<{reference.argument}>")
    ('>', '<price> > 2 * <price>')
    """
    return _read(tokens, scope)[1]


def parse_row_expression(tokens: TokenSequence, clause: ClausePart) -> RowExpression:
    """Parse an expression over one row of the input, or a constant.

    Args:
        tokens: its tokens.
        clause: the part of the clause in which it is written.

    Raises:
        MatchRecognizeError: they are not an expression, it reads rows of a match, or it is a
            constant in PARTITION BY or ORDER BY.
    """
    reader, tree = _read(tokens, Scope(clause, reads_match=False))
    is_constant = _is_constant(reader)
    if is_constant and clause not in (ClausePart.WITHIN, ClausePart.FRAME):
        raise constant_key(tokens.text_at(tree.span), reader.where, tree.span)
    amount = find_amount(tree)
    return RowExpression(
        reader.write_span(tree.span),
        tree.span,
        amount=amount,
        names=find_column_names(tree),
        is_constant=amount is None and is_constant,
    )


def make_key_expression(text: str) -> RowExpression:
    """Return an expression over one row, given its text in Spark's dialect. It must be valid."""
    return RowExpression(text, names=read_column_path(read_tokens(text).tokens))


def _read(tokens: TokenSequence, scope: Scope) -> tuple[ScalarReader, Scalar]:
    """Parse tokens that must be one expression. Return the reader, too."""
    reader = ScalarReader(tokens, scope)
    try:
        return reader, reader.read_range(0, reader.end)
    except RecursionError as error:
        raise errors.expression_nested_too_deep(reader.here, where=reader.where) from error


def _is_constant(reader: ScalarReader) -> bool:
    """Return whether an expression has the same value for all rows.

    A constant reads no column, and calls no function whose value may differ from row to row. A
    function without arguments may be such a function, unless it is known.
    """
    if reader.rows_read:
        return False
    for index in reader.functions:
        function = reader.key_at(index)
        has_no_arguments = reader.key_at(index + 2) == ")"
        if function in NONDETERMINISTIC:
            return False
        if has_no_arguments and function not in CONSTANT_CALLS:
            return False
    return True


# Read the arguments `order_by` and `partition_by` of a function: texts of SQL over one row.

_DIRECTIONS = frozenset({"ASC", "DESC", "NULLS"})


def read_order_by(texts: str | Sequence[str], dialect: Dialect = SPARK) -> tuple[str, ...]:
    """Return the expressions of the argument `order_by` as SQL of Spark.

    Raises:
        MatchRecognizeError: there are none, or one is malformed or constant.
    """
    expressions = _read_argument(texts, ClausePart.ORDER_BY, dialect)
    if not expressions:
        raise calls_errors.empty_order_by()
    return expressions


def read_partition_by(texts: str | Sequence[str], dialect: Dialect = SPARK) -> tuple[str, ...]:
    """Return the expressions of the argument `partition_by` as SQL of Spark.

    Raises:
        MatchRecognizeError: one is malformed or constant.
    """
    return _read_argument(texts, ClausePart.PARTITION_BY, dialect)


def _read_argument(
    texts: str | Sequence[str], part: ClausePart, dialect: Dialect
) -> tuple[str, ...]:
    """Return the expressions of the argument with the name of a part of the clause.

    Raises:
        MatchRecognizeError: one is malformed. The error for a comma or a direction says what to
            write.
    """
    argument = part.name.lower()
    expressions = []
    for text in (texts,) if isinstance(texts, str) else texts:
        with locate_errors(Source(text), Language({part.value: argument})):
            try:
                expression = parse_row_expression(read_tokens(text, dialect), part)
            except MatchRecognizeParseError as error:
                span = error.span or Span(0, 0)
                unexpected = text[span.start : span.end].upper()
                if unexpected == ",":
                    raise calls_errors.several_expressions_in_one_text(
                        span, argument=argument
                    ) from None
                if unexpected in _DIRECTIONS:
                    raise calls_errors.direction_in_order_by(
                        span, word=unexpected, argument=argument
                    ) from None
                raise
            expressions.append(expression.text)
    return tuple(expressions)
