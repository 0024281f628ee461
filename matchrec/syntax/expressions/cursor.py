"""The base of the parser of expressions: a cursor over the tokens of an expression.

`ExpressionCursor` has no rules of the grammar: its subclasses in `calls`, `operands` and
`expression` have them. It keeps the position and what was read so far, makes nodes of the tokens
that a rule has read, and makes the error for a token that no rule can read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from matchrec.errors import MatchRecognizeError
from matchrec.errors.language import name_part
from matchrec.errors.sql import expression as errors
from matchrec.plan.amounts import Amount
from matchrec.plan.build_expressions import build_operation_parts
from matchrec.plan.expression import Operation, Scalar, Term, collect_text_operations, flatten_parts
from matchrec.plan.operations import NO_OPERATIONS, SUBQUERY, Operations
from matchrec.plan.parameters import name_parameter
from matchrec.plan.templates import replace_spans, separate_words
from matchrec.plan.text import quote_name
from matchrec.plan.words import read_words
from matchrec.source import Span
from matchrec.syntax.expressions.scope import Scope
from matchrec.syntax.expressions.unexpected_tokens import UnexpectedToken
from matchrec.syntax.from_relations import find_qualified_names, list_relation_names
from matchrec.syntax.text_edits import TextEdit
from matchrec.syntax.token_checks import check_brackets, reject_unquoted_dates
from matchrec.syntax.tokens import Cursor, Token, TokenKind, TokenSequence, split_words


@dataclass(frozen=True, slots=True)
class RowRead:
    """A column, or a CLASSIFIER, that an expression reads."""

    # The variable whose rows are read; None for the universal variable.
    variable: str | None
    # Where the column or the CLASSIFIER is written.
    span: Span
    # True for a column, False for a CLASSIFIER.
    is_column: bool


@dataclass(frozen=True, slots=True)
class StructField:
    """A field of a struct."""

    name: str
    value: Scalar


# Keywords that may follow an operand.
AFTER_OPERAND = read_words("AFTER OPERAND")

# Symbols with which an operand may begin.
OPERAND_STARTS = split_words("- + ~ ! (")

# Operators that bind tighter than a comparison. If one of them follows a constant, the constant is
# not the whole right operand of the comparison, as in `x = 1 || y`.
_TIGHT_OPERATORS = split_words("|| [ ::")


class ExpressionCursor(Cursor, ABC):
    """A cursor over the tokens of an expression, which makes nodes of the tokens it has read.

    Args:
        sequence: the tokens of the expression.
        scope: what the expression may refer to.
        where: where the expression is written, for messages; by default, the part of the clause.

    Raises:
        MatchRecognizeParseError: there are no tokens, or their brackets do not pair up.
    """

    def __init__(self, sequence: TokenSequence, scope: Scope, where: str | None = None) -> None:
        super().__init__(sequence)
        self.scope = scope
        # Where the expression is written, for messages.
        self.where = where or name_part(scope.part.value)
        check_brackets(sequence, self.where)
        reject_unquoted_dates(sequence, self.where)
        # The columns and CLASSIFIERs that were read so far.
        self.rows_read: list[RowRead] = []
        # The span of the last column, or of the last call that reads rows of a match; None if there
        # is none, or if it was a `*`.
        self.last_read: Span | None = None
        # The indices of the names of called functions, without calls that read rows of a match.
        self.function_indices: list[int] = []
        # The index of the name of the navigation or aggregate around the position; None if there is
        # none.
        self.caller: int | None = None
        # The names of the parameters of the lambdas around the position.
        self.lambda_parameters: frozenset[str] = frozenset()
        # The tokens that Spark gets in another spelling, see `find_respellings`.
        self.respellings = tuple(self.find_respellings())

    def find_respellings(self) -> Iterator[TextEdit]:
        """Yield an edit for each token that Spark gets in another spelling, from left to right.

        A `?` becomes a named parameter, and a name in double quotes gets backticks.
        """
        for token in self.sequence.tokens:
            if token.key == "?":
                yield TextEdit(token.span, f":{name_parameter(token.span)}")
            elif token.kind is TokenKind.QUOTED and self._is_in_double_quotes(token):
                yield TextEdit(token.span, quote_name(token.text))

    def _is_in_double_quotes(self, token: Token) -> bool:
        """Return whether a token is in double quotes, which a quoted name can also be."""
        return self.sequence.text_at(token.span).startswith('"')

    @abstractmethod
    def read_expression(self) -> Scalar:
        """Read an expression: operands with operators between them."""

    @abstractmethod
    def read_value(self) -> Scalar:
        """Read an operand, or operands with arithmetic or comparisons between them."""

    @abstractmethod
    def read_type_name(self, end: int | None = None) -> str:
        """Read a type and return it as one word."""

    @abstractmethod
    def read_fields(self, function: str = "") -> list[StructField]:
        """Read the fields of a struct."""

    @abstractmethod
    def read_parameter(self) -> Term:
        """Read `?` or `:name`."""

    def read_name(self) -> str:
        """Read a name and return it without quotes.

        Raises:
            MatchRecognizeError: the next token is not a name.
        """
        if self.position >= self.end or not self.tokens[self.position].is_name:
            raise self.make_unexpected_error()
        self.position += 1
        return self.tokens[self.position - 1].text

    def read_range(self, start: int, end: int) -> Scalar:
        """Read tokens `start .. end`, which are one expression.

        Raises:
            MatchRecognizeParseError: the expression ends before `end`, or does not end there.
        """
        self.position = start
        tree = self.read_expression()
        if self.position != end:
            raise self.make_unexpected_error()
        return tree

    def read_argument(self, caller: int, start: int, end: int) -> Scalar:
        """Read tokens `start .. end`, an argument of the navigation or aggregate at `caller`.

        The errors are the same as for `read_range`.
        """
        outer_caller = self.caller
        self.caller = caller
        try:
            return self.read_range(start, end)
        finally:
            self.caller = outer_caller

    def expect(self, *keys: str) -> None:
        """Read tokens with these keys.

        Raises:
            MatchRecognizeParseError: the next tokens have other keys.
        """
        for key in keys:
            if not self.accept(key):
                raise self.make_unexpected_error()

    def make_unexpected_error(self) -> MatchRecognizeError:
        """Return the error for the next token, which no rule can read, or for the end."""
        return UnexpectedToken(self.sequence, self.position, self.where, self.scope.part).explain()

    def make_unknown_variable_error(self, name: Token) -> MatchRecognizeError:
        """Return the error for a name that is not a pattern variable, as it must be."""
        return errors.unknown_variable(
            name.span,
            name=name.variable,
            clause=self.where,
            primary=self.scope.primary,
            unions=self.scope.unions,
        )

    @property
    def next_span(self) -> Span:
        """Return the span of the next token, or of the last one at the end."""
        return self.tokens[min(self.position, self.end - 1)].span

    def write_span(self, span: Span) -> str:
        """Return the user's text at a span, with the spellings that Spark gets."""
        text_at = self.sequence.text_at
        replacements = [
            (respelling.span, (respelling.text,))
            for respelling in self.respellings
            if span.start <= respelling.span.start < span.end
        ]
        if not replacements:
            return text_at(span)
        return "".join(separate_words(replace_spans(text_at, span, replacements)))

    def make_term(
        self, start: int, operations: Operations, *parts: Scalar, amount: Amount | None = None
    ) -> Term:
        """Make a term of the tokens since `start`: text that only Spark understands.

        Args:
            start: the index of the first token.
            operations: the operations of the text around `parts`.
            parts: the expressions in the text. Their references become holes of the text.
            amount: the value of the text if it is a literal number or interval, otherwise None.
        """
        span = self.sequence.span(start, self.position)
        pieces = flatten_parts(build_operation_parts(parts, self.write_span, span))
        all_operations = operations.union(*(collect_text_operations(part) for part in parts))
        return Term(pieces, span, all_operations, amount)

    def make_operation(
        self,
        operator: str,
        start: int,
        *operands: Scalar,
        words: tuple[str, ...] = (),
        operations: Operations = NO_OPERATIONS,
    ) -> Operation:
        """Make an operation of the tokens since `start`.

        Args:
            operator: the name of the operator.
            start: the index of the first token.
            operands: the operands, whose spans are inside these tokens.
            words: words of the text that are not operands, such as a type.
            operations: the operations of the operator; by default, they follow from its name.
        """
        span = self.sequence.span(start, self.position)
        return Operation(
            operator,
            build_operation_parts(operands, self.write_span, span),
            span,
            words,
            operations,
        )

    def make_struct(self, start: int, fields: Sequence[StructField]) -> Operation:
        """Make a struct of the tokens since `start`. Its words are the names of the fields."""
        values = [field.value for field in fields]
        return self.make_operation(
            "STRUCT", start, *values, words=tuple(field.name for field in fields)
        )

    def find_constant_at(self, index: int) -> str:
        """Return the text of the number or string at `index`; "" if it is not a whole operand."""
        is_constant = index < self.end and self.tokens[index].is_constant
        is_operand = self.key_at(index + 1) not in _TIGHT_OPERATORS
        return self.tokens[index].text if is_constant and is_operand else ""

    def read_subquery(self, start: int, operations: Operations, *parts: Scalar) -> Term:
        """Read the query in the parentheses that come next, and make a term of it.

        The arguments are as for `make_term`.
        """
        opening = self.position
        self.position = self.sequence.index_after(opening)
        self._reject_correlation(opening, self.position)
        return self.make_term(start, operations | {SUBQUERY}, *parts)

    def _reject_correlation(self, start: int, end: int) -> None:
        """Raise an error if a subquery reads a column of a pattern variable.

        If a relation of the subquery has the name of a variable, the name means the relation.

        Args:
            start: the index of the parenthesis that opens the subquery.
            end: the index after the parenthesis that closes it.
        """
        for token, path_span in find_qualified_names(self.sequence, range(start, end)):
            is_variable = token.variable in self.scope.variables
            if is_variable and token.name.upper() not in list_relation_names(
                self.sequence, start, end
            ):
                what = f"pattern variable `{token.variable}`"
                raise errors.correlated_subquery(path_span, clause=self.where, what=what)
