"""Read calls of functions that compute a value of one row, and the fields of structs.

    abs(x)    count_if(DISTINCT x)    transform(xs, x -> x + 1)    f(name => 1)    STRUCT(x, 1 AS y)

Calls that read rows of a match are passed to `references`, and calls whose parentheses enclose more
than values to `special_calls`.

Spark names the fields of a struct after the columns that are passed to the function. But the values
that a measure reads from a match are in columns with internal names. So the names of the fields are
written out:

    STRUCT(A.x, LAST(y))      STRUCT(? AS `x`, ? AS `col2`)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matchrec.errors.sql import expression as errors
from matchrec.plan.expression import ColumnReference, Operation, Scalar, Term, TextPiece
from matchrec.plan.operations import LAMBDA, UNPARSED, find_call_operations
from matchrec.plan.operators import is_operation
from matchrec.plan.text import quote_name
from matchrec.plan.words import NONDETERMINISTIC
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.expressions import references
from matchrec.syntax.expressions.cursor import (
    AFTER_OPERAND,
    OPERAND_STARTS,
    ExpressionCursor,
    StructField,
)
from matchrec.syntax.expressions.special_calls import SPECIAL_CALLS
from matchrec.syntax.function_names import AGGREGATES, FUNCTIONS_OF_MATCH, WINDOW_ONLY
from matchrec.syntax.tokens import TokenKind, split_words

# Functions that name the fields of a struct after their arguments.
_NAMING = frozenset({"STRUCT", "ARRAYS_ZIP"})

# The set quantifiers of the standard, which may come before the arguments.
_SET_QUANTIFIERS = split_words("DISTINCT ALL")

# Operators that are words. A call of a function with such a name is opaque text: as an operation,
# it would look like the operator.
_OPERATORS = split_words("AND OR NOT NEG IN BETWEEN IS CASE LIKE ILIKE RLIKE REGEXP IDENTIFIER")


class _Arguments(NamedTuple):
    """The arguments of a call, after they were read."""

    values: tuple[Scalar, ...]
    # Whether all arguments are only expressions: no DISTINCT or ALL, no names (`f(name => 1)`), and
    # no lambdas.
    are_plain: bool


class CallParser(ExpressionCursor):
    """A parser of calls and of the fields of structs."""

    def read_call(self) -> Scalar:
        """Read a call.

        The result is an operation if the arguments are plain expressions, a reference if the call
        reads rows of a match, and otherwise opaque text.
        """
        start = self.position
        token = self.tokens[start]
        key = self.key
        if not self.sequence.is_call(start):
            self.position += 1
            return self.read_unknown_call(start)
        if key in FUNCTIONS_OF_MATCH or key in AGGREGATES:
            return references.read_call(self, start)
        if self.scope.reads_match and key in WINDOW_ONLY:
            call_span = self.sequence.find_call_span(start)
            raise errors.window_function_not_allowed(
                token.span,
                function=token.text,
                clause=self.where,
                arguments=self.sequence.text_at(call_span)[len(token.text) :].strip(),
            )
        if self.scope.part is ClausePart.DEFINE and key in NONDETERMINISTIC:
            raise errors.nondeterministic_condition(token.span, function=token.text.lower())
        if key == "IDENTIFIER":  # This computes the name of a column, so its row is not known.
            raise errors.identifier_not_supported(
                self.sequence.find_call_span(start), clause=self.where
            )
        self.function_indices.append(start)
        self.position += 1
        if self.sequence.is_subquery(self.position):
            return self.read_subquery(start, find_call_operations(key))
        self.position += 1
        read_special = SPECIAL_CALLS.get(key)
        special = read_special(self, key, start) if read_special else None
        return self.read_ordinary_call(start) if special is None else special

    def read_unknown_call(self, start: int) -> Term:
        """Read a call of a function whose name is in quotes or has qualifiers."""
        self.expect("(")
        arguments = self.read_arguments()
        self.expect(")")
        return self.make_term(start, UNPARSED, *arguments.values)

    def read_ordinary_call(self, start: int) -> Scalar:
        """Read the arguments and the closing parenthesis of the call at `start`."""
        name = self.key_at(start)
        values, are_plain = self.read_arguments(name)
        self.expect(")")
        operations = find_call_operations(name)
        if are_plain and name not in _OPERATORS and is_operation(name, len(values)):
            return self.make_operation(name, start, *values, operations=operations)
        return self.make_term(start, operations, *values)

    def read_arguments(self, function: str = "") -> _Arguments:
        """Read the arguments of a call up to its closing parenthesis.

        Args:
            function: the function; empty if its name is in quotes or has qualifiers.
        """
        if self.key == ")":
            return _Arguments((), are_plain=True)
        are_plain = True
        if self.is_at_set_quantifier():
            are_plain = False
            self.position += 1
        values: list[Scalar] = []
        while True:
            is_name = self.position < self.end and self.tokens[self.position].is_name
            after = self.key_at(self.sequence.index_after(self.position))
            if after == "->" and (is_name or self.key == "("):
                are_plain = False
                values.append(self.read_lambda_body())
            elif after == "=>" and is_name:
                are_plain = False
                self.position += 2
                values.append(self.read_expression())
            elif function in _NAMING:
                values.append(self.read_field(len(values) + 1, function).value)
            else:
                values.append(self.read_expression())
            if not self.accept(","):
                return _Arguments(tuple(values), are_plain)

    def is_at_set_quantifier(self) -> bool:
        """Return whether DISTINCT or ALL comes next, before an argument, and is not a name."""
        if self.key not in _SET_QUANTIFIERS:
            return False
        after = self.key_at(self.position + 1)
        if self.kind_at(self.position + 1) is TokenKind.SYMBOL:
            return after in OPERAND_STARTS | {"*", ":", "?", "{"}
        return after not in AFTER_OPERAND or self.key_at(self.position + 2) in (")", ",", ".")

    def read_lambda_body(self) -> Scalar:
        """Read `x -> body` or `(x, y) -> body`, and return the body as a term."""
        if self.accept("("):
            names = self.read_several(self.read_name)
            self.expect(")", "->")
        else:
            names = [self.read_name()]
            self.expect("->")
        outer_parameters = self.lambda_parameters
        self.lambda_parameters = outer_parameters.union(names)
        try:
            body = self.read_expression()
        finally:
            self.lambda_parameters = outer_parameters
        return Term(body.pieces, body.span, body.operations | {LAMBDA})

    def read_fields(self, function: str = "") -> list[StructField]:
        """Read expressions with commas between them, each as a field of a struct.

        Args:
            function: the function whose arguments the fields are; empty for fields in parentheses
                without a function.
        """
        fields = [self.read_field(1, function)]
        while self.accept(","):
            fields.append(self.read_field(len(fields) + 1, function))
        return fields

    def read_field(self, number: int, function: str) -> StructField:
        """Read a field of a struct.

        Args:
            number: the number of the field in the struct, from 1.
            function: as for `read_fields`.
        """
        value = self.read_expression()
        if function == "STRUCT" and self.accept("AS"):
            return StructField(self.read_name(), value)
        column = self.find_column_name(value)
        name = column or f"col{number}"
        reads_match = isinstance(value, Term) and value.span == self.last_read
        if function and reads_match and self.scope.part is ClausePart.MEASURES:
            pieces = _write_field_name(value.pieces, function, quote_name(name), column)
            value = Term(pieces, value.span, value.operations)
        return StructField(name, value)

    def find_column_name(self, value: Scalar) -> str | None:
        """Return the name of a column or field that was just read; None for other values."""
        if isinstance(value, Operation):
            return value.words[0] if value.operator == "." else None
        last = self.tokens[self.position - 1]
        is_reference = [type(piece) for piece in value.pieces] == [ColumnReference]
        return last.text if is_reference and last.is_name else None


def _write_field_name(
    pieces: Sequence[TextPiece], function: str, name: str, column: str | None
) -> tuple[TextPiece, ...]:
    """Return an argument that reads rows of a match, with the name that its field must have.

    Args:
        pieces: the argument.
        function: the function whose argument it is.
        name: the name of the field, in backticks.
        column: the name of the column if the argument is a column, otherwise None.
    """
    if function == "STRUCT":
        return (*pieces, f" AS {name}")
    if column is None:
        # Spark numbers the field of an argument that is not just a column.
        return ("COALESCE(", *pieces, ")")
    return ("STRUCT(", *pieces, f" AS {name}).{name}")
