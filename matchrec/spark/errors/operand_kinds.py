"""Find operands of incompatible types by the form of an expression, without asking the engine.

Sail compares a date with a number, and takes a number as the condition of IF, without an error.
Spark's analysis rejects both. So these operations are rejected before a query runs:

    size > day                number and date
    day IN (1, 2)             date and numbers
    IF(price, 1, 2)           a number that is used as a condition

A string that is compared with a number, and does not look like one, is rejected on each engine,
because no row can be compared with it: `price > 'abc'`.

The kind of an operand is known if it is a column, a literal, or an operation or an aggregate of
these. Other operands are not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql.types import DataType

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql.type_mismatches import classify_type
from matchrec.errors.sql.wrong_types import incompatible_types, unreadable_literal
from matchrec.plan.expression import (
    COMPARED_CHOICES,
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
from matchrec.spark.errors.refused_operations import type_operand
from matchrec.spark.errors.row_expressions import list_scalars
from matchrec.spark.relation import Relation

TIMES = frozenset(("date", "timestamp", "timestamp_ntz"))
# Kinds of types that are never converted to one of `TIMES`.
NEVER_TIMES = frozenset(("number", "boolean", "interval", "months"))

COMPARED = find_coercing_operators(Coercion.COMPARED) | {"NOT BETWEEN", "NOT IN", "NULLIF"}
CHOSEN = find_coercing_operators(Coercion.CHOSEN)
CHOICES = find_coercing_operators(Coercion.BRANCHES)

# Functions whose value is a date, a time or a number, whatever their arguments are.
KINDS_OF_FUNCTIONS = {
    **dict.fromkeys(
        ("TO_DATE", "DATE_ADD", "DATE_SUB", "LAST_DAY", "NEXT_DAY", "ADD_MONTHS", "MAKE_DATE"),
        "date",
    ),
    **dict.fromkeys(("CURRENT_DATE", "TRUNC", "DATE_FROM_UNIX_DATE"), "date"),
    **dict.fromkeys(("DATE_TRUNC", "CURRENT_TIMESTAMP", "NOW", "TIMESTAMP_SECONDS"), "timestamp"),
    **dict.fromkeys(("TIMESTAMP_MILLIS", "TIMESTAMP_MICROS"), "timestamp"),
    **dict.fromkeys(
        ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "QUARTER", "DAYOFWEEK", "LENGTH"),
        "number",
    ),
    **dict.fromkeys(("UNIX_DATE", "UNIX_TIMESTAMP", "DATEDIFF", "SIZE", "DIV"), "number"),
    **dict.fromkeys(find_operator_names(OperatorKind.MATHEMATICS) - {"ISNAN"}, "number"),
}
# Aggregates whose value has the kind of their argument.
ALIKE = frozenset(("min", "max", "first", "last", "any_value", "first_value", "last_value"))

NUMBER = re.compile(r"[-+\s(]*(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?:bd|[dflsy])?[\s)]*", re.I)
STRING = re.compile(r"\s*'(?P<text>(?:[^']|'')*)'\s*")
TYPED = re.compile(r"\s*(?P<type>DATE|TIMESTAMP|TIMESTAMP_NTZ)\s*'[^']*'\s*", re.I)
# Strings that are numbers without a digit.
NUMBERS_IN_LETTERS = frozenset(("nan", "inf", "infinity"))


@dataclass(frozen=True)
class OperandKinds:
    """Finds the kinds of the types of operands over an input."""

    relation: Relation

    def find(self, scalar: Scalar) -> str | None:
        """Return the kind of a type, as `classify_type` has it; None if the form does not tell."""
        if isinstance(scalar, Operation):
            return self._find_of_operation(scalar)
        if not scalar.references:
            return read_literal_kind(render(scalar, str))
        match scalar.pieces:
            case (ColumnReference(argument=argument, names=names),):
                type_ = self.find_column_type(argument, names)
                return None if type_ is None else classify_type(type_.simpleString())
            case (Classifier(),):
                return "string"
            case (MatchValue(function=MatchFunction.NUMBER | MatchFunction.ROW_NUMBER),):
                return "number"
            case (Aggregate(function="count" | "count_if"),):
                return "number"
            case (Aggregate(function, _, (argument,)),) if function in ALIKE:
                return self.find(argument)
        return None

    def find_column_type(self, argument: str, names: tuple[str, ...]) -> DataType | None:
        """Return the type of a column; None if the SQL is not just a column.

        Args:
            argument: the SQL of a reference.
            names: its names, see `ColumnReference.names`.
        """
        field = self.relation.known_fields.get(argument)
        if field is not None:
            return field.dataType
        return self.column_types.get(names[0].lower()) if len(names) == 1 else None

    @cached_property
    def column_types(self) -> dict[str, DataType]:
        """The types of the columns, by their names in small letters."""
        return {field.name.lower(): field.dataType for field in self.relation.rows.schema.fields}

    def _find_of_operation(self, operation: Operation) -> str | None:
        """Return the kind of the value of an operation; None if the form does not tell."""
        operator, operands = operation.operator, operation.operands
        entry = OPERATORS.get(operator)
        if entry is not None and entry.is_truth:
            return "boolean"
        if operator in ("CAST", "TRY_CAST"):
            return classify_type(operation.words[0]) if operation.words else None
        if operator in KINDS_OF_FUNCTIONS:
            return KINDS_OF_FUNCTIONS[operator]
        if operator in CHOICES:
            return self.find_common(split_branches(operation).results)
        if operator in CHOSEN:
            return self.find_common(operands)
        kinds = [self.find(operand) for operand in operands]
        if set(kinds) == {"number"} and operator in ("+", "-", "*", "/", "%", "NEG", "ABS"):
            return "number"
        if operator in ("+", "-") and len(kinds) == 2:
            return find_kind_of_sum(operator, *kinds)
        return None

    def find_common(self, operands: Iterable[Scalar]) -> str | None:
        """Return the kind that all operands have that are not NULL; None if there is none."""
        kinds = {self.find(operand) for operand in operands} - {"void"}
        return kinds.pop() if len(kinds) == 1 else None


def find_kind_of_sum(operator: str, left: str | None, right: str | None) -> str | None:
    """Return the kind of a sum or a difference with a time; None if the kinds do not tell.

    >>> find_kind_of_sum("-", "date", "date"), find_kind_of_sum("+", "date", "number")
    ('interval', 'date')
    """
    if left in TIMES and right in TIMES and operator == "-":
        return "interval"
    if left == "date" and right == "number":
        return "date"
    if left in TIMES - {"date"} and right in ("interval", "months"):
        return left
    return None


def read_literal_kind(text: str) -> str | None:
    """Return the kind of a literal; None for any other text.

    >>> [read_literal_kind(text) for text in ("5", "'a'", "DATE'2026-01-31'", "NULL", "f(x)")]
    ['number', 'string', 'date', 'void', None]
    """
    word = text.strip("() \n").upper()
    if word in ("TRUE", "FALSE"):
        return "boolean"
    if word == "NULL":
        return "void"
    if NUMBER.fullmatch(text):
        return "number"
    typed = TYPED.fullmatch(text)
    if typed is not None:
        return typed["type"].lower()
    return "string" if STRING.fullmatch(text) else None


def list_operations(plan: MatchPlan) -> Iterator[tuple[str, Operation]]:
    """Yield all operations of conditions and measures with their clauses, innermost first."""
    for clause, scalar in list_scalars(plan):
        scalars = [scalar]
        for reference in scalar.references:
            if isinstance(reference, Aggregate):
                scalars += list_inputs(reference)
        for part in reversed([node for inner in scalars for node in walk_scalar(inner)]):
            if isinstance(part, Operation):
                yield clause, part


def group_operands(operation: Operation) -> Iterator[tuple[Scalar, ...]]:
    """Yield the groups of operands that must have one type."""
    operator = operation.operator
    if operator in COMPARED or operator in CHOSEN or operator == "DATEDIFF":
        yield operation.operands
    elif operator in CHOICES:
        branches = split_branches(operation)
        if operator in COMPARED_CHOICES:
            yield branches.tests
        yield branches.results


def list_tests(operation: Operation) -> Sequence[Scalar]:
    """Return the operands of IF and CASE that must be conditions."""
    return split_branches(operation).tests if operation.operator in ("IF", "CASE") else ()


def find_incompatible_operands(
    plan: MatchPlan, relation: Relation
) -> Iterator[MatchRecognizeError]:
    """Yield the errors of operations that Spark rejects because of the types of operands."""
    kinds = OperandKinds(relation)
    for clause, operation in list_operations(plan):
        for test in list_tests(operation):
            if kinds.find(test) in TIMES | NEVER_TIMES - {"boolean"}:
                yield make_error(operation, (test,), clause, kinds)
        for operands in group_operands(operation):
            if are_incompatible(operation, {kinds.find(operand) for operand in operands}):
                yield make_error(operation, operands, clause, kinds)


def are_incompatible(operation: Operation, found: Set[str | None]) -> bool:
    """Return whether Spark rejects an operation whose operands have these kinds of types."""
    if operation.operator == "DATEDIFF":
        return bool(found & NEVER_TIMES)
    has_length_and_number = "number" in found and bool(found & {"interval", "months"})
    return has_length_and_number or bool(found & NEVER_TIMES and found & TIMES)


def make_error(
    operation: Operation, operands: Sequence[Scalar], clause: str, kinds: OperandKinds
) -> MatchRecognizeError:
    """Return the error of an operation whose operands have incompatible types.

    The difference of two dates is an interval, also if the engine makes a number of it.
    """
    typed_operands = []
    for operand in operands:
        typed = type_operand(operand, kinds.relation)
        if typed is not None and kinds.find(operand) == "interval" and typed.kind == "number":
            typed = typed._replace(type_name="interval day")
        if typed is not None:
            typed_operands.append(typed)
    return incompatible_types(operation.operator, typed_operands, operation.span, clause=clause)


def find_unreadable_literals(plan: MatchPlan, relation: Relation) -> Iterator[MatchRecognizeError]:
    """Yield the errors of strings that are compared with numbers or times and look like neither.

    In ANSI mode such a comparison fails on each row. In other modes it is NULL, so it is no error.
    """
    kinds = OperandKinds(relation)
    for clause, operation in list_operations(plan):
        error = find_unreadable_literal(operation, clause, kinds)
        if error is not None and relation.runner.settings["spark.sql.ansi.enabled"] == "true":
            yield error


def find_unreadable_literal(
    operation: Operation, clause: str, kinds: OperandKinds
) -> MatchRecognizeError | None:
    """Return the error of a string in a comparison that cannot be converted; None if all can be."""
    if operation.operator not in COMPARED:
        return None
    others = [operand for operand in operation.operands if kinds.find(operand) != "string"]
    expected = next((other for other in others if is_converted_to(kinds.find(other))), None)
    if expected is None:
        return None
    kind = kinds.find(expected) or ""
    for operand in operation.operands:
        string = STRING.fullmatch(render(operand, str)) if not operand.references else None
        if isinstance(operand, Term) and string is not None and not can_read(string["text"], kind):
            value = type_operand(expected, kinds.relation)
            if value is not None:
                columns = kinds.relation.rows.columns
                return unreadable_literal(
                    string["text"], operand.span, clause=clause, value=value, columns=columns
                )
    return None


def is_converted_to(kind: str | None) -> bool:
    """Return whether strings are converted to a kind of types if they are compared with it."""
    return kind == "number" or kind in TIMES


def can_read(text: str, kind: str) -> bool:
    """Return whether a string may be a number or a time.

    >>> can_read("12", "number"), can_read("abc", "number"), can_read("2026-01", "date")
    (True, False, True)
    """
    if kind == "number" and text.strip().lower().lstrip("+-") in NUMBERS_IN_LETTERS:
        return True
    return any(letter.isdigit() for letter in text)
