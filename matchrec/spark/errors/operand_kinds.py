"""Find the kinds of the types of operands by the form of an expression, without asking the engine.

The kind of a type (number, date, ...) is known if the operand is a column, a literal, or an
operation or an aggregate of these. `operand_checks` finds operands whose kinds do not fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql.types import DataType

from matchrec.errors.sql.type_kinds import LENGTHS_OF_TIME, TIMES, TypeKind, classify_type
from matchrec.plan.expression import (
    Aggregate,
    Classifier,
    ColumnReference,
    MatchFunction,
    MatchValue,
    Operation,
    Scalar,
    Term,
    list_inputs,
    render,
    split_branches,
    walk_scalar,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operators import (
    OPERATORS,
    Coercion,
    OperatorKind,
    find_coercing_operators,
    find_operator_names,
)
from matchrec.plan.parameters import find_positional_parameter
from matchrec.spark.errors.row_expressions import list_scalars
from matchrec.spark.relation import Relation
from matchrec.spark.runner import SqlArguments

# Functions that return one of their arguments: COALESCE.
CHOOSING_FUNCTIONS = find_coercing_operators(Coercion.CHOSEN)
# Operators that choose one of their results by a test: IF and CASE.
BRANCHING_OPERATORS = find_coercing_operators(Coercion.BRANCHES)

# Functions whose value is a date, a time or a number, whatever their arguments are.
DATE_FUNCTIONS = (
    *("TO_DATE", "DATE_ADD", "DATE_SUB", "LAST_DAY", "NEXT_DAY", "ADD_MONTHS", "MAKE_DATE"),
    *("CURRENT_DATE", "TRUNC", "DATE_FROM_UNIX_DATE"),
)
TIMESTAMP_FUNCTIONS = (
    *("DATE_TRUNC", "CURRENT_TIMESTAMP", "NOW", "TIMESTAMP_SECONDS"),
    *("TIMESTAMP_MILLIS", "TIMESTAMP_MICROS"),
)
NUMBER_FUNCTIONS = (
    *("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "QUARTER", "DAYOFWEEK", "LENGTH"),
    *("UNIX_DATE", "UNIX_TIMESTAMP", "DATEDIFF", "SIZE", "DIV"),
    *(find_operator_names(OperatorKind.MATHEMATICS) - {"ISNAN"}),
)
KINDS_OF_FUNCTIONS = {
    **dict.fromkeys(DATE_FUNCTIONS, TypeKind.DATE),
    **dict.fromkeys(TIMESTAMP_FUNCTIONS, TypeKind.TIMESTAMP),
    **dict.fromkeys(NUMBER_FUNCTIONS, TypeKind.NUMBER),
}
# Operators whose value is a number if all operands are numbers.
ARITHMETIC_OPERATORS = ("+", "-", "*", "/", "%", "NEG", "ABS")
# Aggregates whose value has the kind of their argument.
AGGREGATES_OF_SAME_KIND = frozenset(
    ("min", "max", "first", "last", "any_value", "first_value", "last_value")
)

# Literals, perhaps in parentheses: numbers, strings, and dates and times.
NUMBER_LITERAL = re.compile(r"[-+\s(]*(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?:bd|[dflsy])?[\s)]*", re.I)
STRING_LITERAL = re.compile(r"""\s*(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*")\s*""")
TIME_LITERAL = re.compile(r"\s*(?P<type>DATE|TIMESTAMP|TIMESTAMP_NTZ)\s*'[^']*'\s*", re.I)

# A parameter alone, such as `:low`.
PARAMETER = re.compile(r"\s*:\s*(?P<name>\w+)\s*")


@dataclass(frozen=True)
class KindFinder:
    """Finds the kinds of types that operands have over an input."""

    # The input.
    relation: Relation

    def find(self, scalar: Scalar) -> TypeKind | None:
        """Return the kind of an expression's type; None if its form does not show it."""
        if isinstance(scalar, Operation):
            return self._find_of_operation(scalar)
        if not scalar.references:
            return find_kind_of_literal(render(scalar, str))
        match scalar.pieces:
            case (ColumnReference(argument=argument, column_path=column_path),):
                type_ = self.find_column_type(argument, column_path)
                return None if type_ is None else classify_type(type_.simpleString())
            case (Classifier(),):
                return TypeKind.STRING
            case (MatchValue(function=MatchFunction.NUMBER | MatchFunction.ROW_NUMBER),):
                return TypeKind.NUMBER
            case (Aggregate(function="count" | "count_if"),):
                return TypeKind.NUMBER
            case (Aggregate(function, _, (argument,)),) if function in AGGREGATES_OF_SAME_KIND:
                return self.find(argument)
        return None

    def find_column_type(self, argument: str, column_path: tuple[str, ...]) -> DataType | None:
        """Return the type of a reference's column; None if it is not just a column of the input.

        Args:
            argument: the SQL of the reference.
            column_path: its path, see `ColumnReference.column_path`.
        """
        field = self.relation.known_fields.get(argument)
        if field is not None:
            return field.dataType
        if len(column_path) != 1:
            return None
        return self.column_types.get(column_path[0].lower())

    @cached_property
    def column_types(self) -> dict[str, DataType]:
        """Return the types of the columns of the input, by their names in lower case."""
        return {field.name.lower(): field.dataType for field in self.relation.rows.schema.fields}

    def _find_of_operation(self, operation: Operation) -> TypeKind | None:
        """Return the kind of the value of an operation; None if its form does not show it."""
        operator = operation.operator
        operands = operation.operands
        entry = OPERATORS.get(operator)
        if entry is not None and entry.is_truth:
            return TypeKind.BOOLEAN
        if operator in ("CAST", "TRY_CAST"):
            return classify_type(operation.words[0]) if operation.words else None
        if operator in KINDS_OF_FUNCTIONS:
            return KINDS_OF_FUNCTIONS[operator]
        if operator in BRANCHING_OPERATORS:
            return self.find_common(split_branches(operation).results)
        if operator in CHOOSING_FUNCTIONS:
            return self.find_common(operands)
        kinds = [self.find(operand) for operand in operands]
        if operator in ARITHMETIC_OPERATORS and set(kinds) == {TypeKind.NUMBER}:
            return TypeKind.NUMBER
        if operator in ("+", "-") and len(kinds) == 2:
            left, right = kinds
            return find_kind_of_sum(operator, left, right)
        return None

    def find_common(self, operands: Iterable[Scalar]) -> TypeKind | None:
        """Return the common kind of all operands that are not NULL; None if their kinds differ."""
        kinds = {self.find(operand) for operand in operands} - {TypeKind.NULL}
        return kinds.pop() if len(kinds) == 1 else None


def find_kind_of_sum(
    operator: str, left: TypeKind | None, right: TypeKind | None
) -> TypeKind | None:
    """Return the kind of a sum or a difference that begins with a time; None if it is not known.

    Args:
        operator: "+" or "-".
        left: the kind of the first operand.
        right: the kind of the second operand.

    >>> find_kind_of_sum("-", TypeKind.DATE, TypeKind.DATE).name
    'INTERVAL'
    >>> find_kind_of_sum("+", TypeKind.DATE, TypeKind.NUMBER).name
    'DATE'
    """
    if left in TIMES and right in TIMES and operator == "-":
        return TypeKind.INTERVAL
    if left is TypeKind.DATE and right is TypeKind.NUMBER:
        return TypeKind.DATE
    if left in (TypeKind.TIMESTAMP, TypeKind.TIMESTAMP_NTZ) and right in LENGTHS_OF_TIME:
        return left
    return None


def find_kind_of_literal(text: str) -> TypeKind | None:
    """Return the kind of a literal; None for any other text.

    >>> literals = ("5", "'a'", "DATE'2026-01-31'", "NULL")
    >>> [find_kind_of_literal(text).name for text in literals]
    ['NUMBER', 'STRING', 'DATE', 'NULL']
    >>> find_kind_of_literal("f(x)")
    """
    word = text.strip("() \n").upper()
    if word in ("TRUE", "FALSE"):
        return TypeKind.BOOLEAN
    if word == "NULL":
        return TypeKind.NULL
    if NUMBER_LITERAL.fullmatch(text):
        return TypeKind.NUMBER
    time = TIME_LITERAL.fullmatch(text)
    if time is not None:
        return classify_type(time["type"])
    return TypeKind.STRING if STRING_LITERAL.fullmatch(text) else None


def list_operations(plan: MatchPlan) -> Iterator[tuple[str, Operation]]:
    """Yield all operations of conditions and measures, innermost first, each with its clause.

    The operations in arguments of aggregates come first.
    """
    for clause, scalar in list_scalars(plan):
        scalars = [scalar]
        for reference in scalar.references:
            if isinstance(reference, Aggregate):
                scalars += list_inputs(reference)
        parts = [part for inner in scalars for part in walk_scalar(inner)]
        for part in reversed(parts):
            if isinstance(part, Operation):
                yield clause, part


def read_string_literal(scalar: Scalar) -> str | None:
    """Return a string literal with its quotes; None for any other expression."""
    if scalar.references or not isinstance(scalar, Term):
        return None
    literal = STRING_LITERAL.fullmatch(render(scalar, str))
    return None if literal is None else literal["quoted"]


@dataclass(frozen=True, slots=True)
class StringParameter:
    """A parameter of a query whose value is a string."""

    # Its name, `low`; None for `?`.
    name: str | None
    value: str


def read_string_parameter(scalar: Scalar, args: SqlArguments) -> StringParameter | None:
    """Return the parameter that an expression consists of, if its value is a string.

    Args:
        scalar: the expression.
        args: the values of the parameters.
    """
    if scalar.references or not isinstance(scalar, Term) or not isinstance(args, Mapping):
        return None
    parameter = PARAMETER.fullmatch(render(scalar, str))
    if parameter is None:
        return None
    name = parameter["name"]
    value = args.get(name)
    if not isinstance(value, str):
        return None
    is_positional = find_positional_parameter(name) is not None
    return StringParameter(None if is_positional else name, value)
