"""A scalar expression over a match: SQL text with holes for the values that it reads of the match.

`LAST(A.price) * 1.1 > PREV(price)` is the text `? * 1.1 > ?` with two references, which fill the
holes. The search finds the rows that the references read. The text is evaluated by the engine or,
if its structure is known, by the search.

An expression is a tree. Its inner nodes are `Operation`s. Its leaves are `Term`s: a reference, a
literal, or SQL text without a known structure, in which references are holes.

    LAST(A.price) * 1.1 > abs(PREV(price))     Operation >
                                                 Operation *
                                                   Term  LAST(A.price)
                                                   Term  1.1
                                                 Operation ABS
                                                   Term  PREV(price)

Nodes of both types have the SQL text of everything below them, cut up at its references, in
`pieces`. So code that does not need the structure reads only `pieces` and `references`. Spans are
not compared: two expressions are equal wherever they were written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import chain
from string import whitespace
from typing import NamedTuple

from matchrec.plan.amounts import Amount
from matchrec.plan.choices import ChoiceDeclaration, Dependency, OptionChoice
from matchrec.plan.operations import NO_OPERATIONS, UNPARSED, Operations, find_operator_operations
from matchrec.plan.operators import OperatorKind, find_operator_names
from matchrec.plan.templates import join_texts, separate_words
from matchrec.source import Span

# How deeply operations may be nested for the search to evaluate them. Deeper expressions are left
# to the engine, or rejected.
MAX_NESTED = 100

# The name of the aggregate function that returns the mapped rows as an array. Each row of the array
# has the name of its variable in the field CLASSIFIER_FIELD.
MATCHED_ROWS = "matched_rows"

CLASSIFIER_FIELD = "classifier"

# An element of the array of MATCHED_ROWS as SQL over one row. CLASSIFIER_FIELD is empty until the
# match is known.
MATCHED_ROW = f"struct(*, '' AS {CLASSIFIER_FIELD})"

# The operator of an operation that stands for more than MAX_NESTED consecutive operators, such as
# `a + b + c ...`. Its only operand is a term with the text of the whole chain.
LONG_CHAIN = "chain"


class Semantics(Enum):
    """The rows of the match that an expression reads."""

    # The rows up to the current row.
    RUNNING = "RUNNING"
    # All rows of the match.
    FINAL = "FINAL"


class End(Enum):
    """The end of the match from which logical navigation counts."""

    FIRST = "FIRST"
    LAST = "LAST"


@dataclass(frozen=True, slots=True)
class Navigation:
    """The way to a row: a logical step among mapped rows, then a physical step in the partition.

    `PREV(LAST(A.price, 1), 2)` is `Navigation("A", End.LAST, 1, -2)`.

    Source: ISO/IEC 19075-5, row pattern navigation operations.
    """

    # The primary or union variable whose rows are counted; None for the universal variable.
    variable: str | None = None
    end: End = End.LAST
    # How many rows of the variable to move from `end`. 0, the least number, is the row at `end`
    # itself.
    logical_offset: int = 0
    # How many rows to move in the partition: negative for PREV, positive for NEXT.
    physical_offset: int = 0
    # Which rows of the match count.
    semantics: Semantics = Semantics.RUNNING

    @property
    def is_last(self) -> bool:
        """Return whether the logical step finds the variable's last row."""
        return self.end is End.LAST and self.logical_offset == 0


@dataclass(frozen=True, slots=True)
class ColumnReference:
    """SQL over one row, usually a column, evaluated on the row that a navigation finds."""

    # Finds the row.
    navigation: Navigation
    # The SQL, which the engine evaluates on the row.
    argument: str
    # Where the reference was written; None if the user did not write it.
    span: Span | None = field(default=None, compare=False)
    # The names of the operations of the argument, such as `/`: see `plan.operations`.
    operations: Operations = field(default=UNPARSED, compare=False, repr=False)
    # The path of the column: ("price",), or ("t", "price") with a qualifier or for a field. Empty
    # if the argument is not just a column.
    column_path: tuple[str, ...] = field(default=(), compare=False, repr=False)
    # The names of the columns, in their order, if the argument is a struct of columns. Otherwise
    # empty.
    fields: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Frame:
    """Neighbouring rows of the partition, by their distances from the current row.

    `Frame(-2, 0)` is the current row and the two rows before it.
    """

    # The distance of the first row, inclusive; None for the first row of the partition.
    start: int | None
    # The distance of the last row, inclusive; None for the last row of the partition.
    end: int | None


class OrderedInput(NamedTuple):
    """An item of WITHIN GROUP (ORDER BY ...): `x DESC`."""

    scalar: Scalar
    # The text after the expression, such as `DESC`; "" if there is none.
    direction: str


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate over the rows that are mapped to a variable, or over the rows of a frame.

    The *inputs* of an aggregate are its arguments, its condition and its ordering. They are
    evaluated on each of these rows separately. They may read columns of that row, its CLASSIFIER
    and its MATCH_NUMBER.
    """

    # The name of the function, in lower case.
    function: str
    # The variable whose rows are aggregated; None for the universal variable.
    variable: str | None
    # The arguments; empty for `count(*)`.
    arguments: tuple[Scalar, ...]
    # Which rows of the match count.
    semantics: Semantics = Semantics.RUNNING
    # Whether the call has DISTINCT.
    is_distinct: bool = False
    # The condition of FILTER (WHERE ...); None without FILTER.
    condition: Scalar | None = None
    # The items of WITHIN GROUP (ORDER BY ...); empty without WITHIN GROUP.
    ordering: tuple[OrderedInput, ...] = ()
    # Whether the call has IGNORE NULLS.
    ignore_nulls: bool = False
    # Whether the current row is left out, as in `avg(a[..i-1].x)` of SASE+.
    excludes_current_row: bool = False
    # The rows of the partition to aggregate, whether they are mapped or not. None for the rows that
    # are mapped to `variable`.
    frame: Frame | None = None
    # Where the call was written; None if the user did not write it.
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Classifier:
    """CLASSIFIER(U): the primary variable to which the row found by `navigation` is mapped."""

    navigation: Navigation
    span: Span | None = field(default=None, compare=False)


class MatchFunction(OptionChoice):
    """A function whose value is a fact about the match and is not in any column.

    A member has the dependency ROW_COUNTS if its value changes when rows that no condition and no
    measure reads are left out: see `compile.pruning`.
    """

    # The number of the match in its partition, from 1. Empty matches count, too.
    NUMBER = ChoiceDeclaration("MATCH_NUMBER", dependencies=(Dependency.EARLIER_MATCHES,))
    # Whether a run is a match, timed out or is unfinished.
    STATUS = ChoiceDeclaration("MATCH_STATUS")
    # For a run that timed out: when its window ended.
    TIMEOUT = ChoiceDeclaration("MATCH_TIMEOUT")
    # In an aggregate: the number of the aggregated row in the match, from 1.
    ROW_NUMBER = ChoiceDeclaration("MATCH_ROW_NUMBER", dependencies=(Dependency.ROW_COUNTS,))


# Functions that say how a run has ended. A condition cannot call them, because its run has not
# ended. Measures can, if partial matches are output; otherwise every run is a match.
RUN_ENDING_FUNCTIONS = (MatchFunction.STATUS, MatchFunction.TIMEOUT)


@dataclass(frozen=True, slots=True)
class MatchValue:
    """A call of a function of the match: `MATCH_NUMBER()`."""

    function: MatchFunction
    span: Span | None = field(default=None, compare=False)


MATCH_NUMBER = MatchValue(MatchFunction.NUMBER)

# A part of an expression that reads rows of the match, or a fact about it.
Reference = ColumnReference | Aggregate | Classifier | MatchValue
# A piece of the text of an expression, which is cut up at its references.
TextPiece = str | Reference


@dataclass(frozen=True, slots=True)
class Term:
    """A leaf: a reference, a literal, or SQL text without a known structure.

    References are holes in the text.
    """

    # The text, cut up at its references.
    pieces: tuple[TextPiece, ...]
    # Where the text is in the query.
    span: Span = field(compare=False)
    # The names of the operations of the text between the references: see `plan.operations`. By
    # default, they are not known. If there is no text, the set is empty.
    text_operations: Operations = field(default=UNPARSED, compare=False, repr=False)
    # The value if the text is a literal number or interval, otherwise None.
    amount: Amount | None = field(default=None, compare=False, repr=False)
    # `text_operations`, and the names of the operations of the columns that the text reads.
    operations: Operations = field(init=False, compare=False, repr=False)
    # The holes in the order of the text, repeats included.
    references: tuple[Reference, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Compute the facts that follow from the pieces."""
        references = tuple(piece for piece in self.pieces if not isinstance(piece, str))
        has_text = len(references) < len(self.pieces)
        text_operations = self.text_operations if has_text else NO_OPERATIONS
        column_operations = [
            reference.operations
            for reference in references
            if isinstance(reference, ColumnReference)
        ]
        object.__setattr__(self, "text_operations", text_operations)
        object.__setattr__(self, "operations", text_operations.union(*column_operations))
        object.__setattr__(self, "references", references)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation whose operands are known: `a AND b`, `a + b`, `abs(a)`.

    Parentheses around an operation are not another operation: they are texts in `parts`.
    `(a + 1)` has the operator `+` and the parts `(`, a, ` + `, 1, `)`.
    """

    # The operator or the name of the function, in upper case, such as AND, <=, IS NOT NULL or ABS.
    # `plan.operators` lists those that have a special meaning.
    operator: str
    # The exact text of the operation, with the operands as holes.
    parts: OperationParts
    # Where the operation is in the query.
    span: Span = field(compare=False)
    # Arguments that are not values, such as the type of a CAST or the unit of TIMESTAMPDIFF, in
    # upper case.
    words: tuple[str, ...] = ()
    # The names of the operations of the operator without its operands: see `plan.operations`. By
    # default, they follow from the operator.
    operator_operations: Operations = field(default=NO_OPERATIONS, compare=False, repr=False)
    # The parts that are expressions, in the order of the text.
    operands: tuple[Scalar, ...] = field(init=False, compare=False, repr=False)
    # The text of the operation, cut up at its references. Adjacent texts are joined.
    pieces: tuple[TextPiece, ...] = field(init=False, compare=False, repr=False)
    # `operator_operations`, and the names of the operations of all operands.
    operations: Operations = field(init=False, compare=False, repr=False)
    # The references in the order of the text, repeats included.
    references: tuple[Reference, ...] = field(init=False, compare=False, repr=False)

    # `case Operation("IF", operands)` compares these fields: what an operation computes, not how it
    # is written.
    __match_args__ = ("operator", "operands")

    def __post_init__(self) -> None:
        """Compute the facts that follow from the operator and the parts."""
        operator_operations = self.operator_operations or find_operator_operations(self.operator)
        operands = tuple(part for part in self.parts if not isinstance(part, str))
        operations = operator_operations.union(*(operand.operations for operand in operands))
        references = chain.from_iterable(operand.references for operand in operands)
        object.__setattr__(self, "operands", operands)
        object.__setattr__(self, "pieces", flatten_parts(self.parts))
        object.__setattr__(self, "operator_operations", operator_operations)
        object.__setattr__(self, "operations", operations)
        object.__setattr__(self, "references", tuple(references))

    def map_operands(self, change: Callable[[Scalar], Scalar]) -> Operation:
        """Return the operation with changed operands, or the same object if none has changed."""
        parts = tuple(part if isinstance(part, str) else change(part) for part in self.parts)
        return self if are_identical(parts, self.parts) else replace(self, parts=parts)


Scalar = Term | Operation
OperationParts = tuple[str | Scalar, ...]


def are_identical(left: tuple[object, ...], right: tuple[object, ...]) -> bool:
    """Return whether two tuples of the same length hold the same objects.

    Comparing by identity is fast and, unlike `==`, notices a changed span.
    """
    return all(a is b for a, b in zip(left, right, strict=True))


def list_inputs(aggregate: Aggregate) -> tuple[Scalar, ...]:
    """Return the inputs of an aggregate: its arguments, its FILTER and its ordering, if any."""
    condition = () if aggregate.condition is None else (aggregate.condition,)
    ordering = (item.scalar for item in aggregate.ordering)
    return (*aggregate.arguments, *condition, *ordering)


def list_inner_references(aggregate: Aggregate) -> tuple[Reference, ...]:
    """Return the references in the inputs of an aggregate."""
    return tuple(reference for scalar in list_inputs(aggregate) for reference in scalar.references)


def reads_columns_only(scalar: Scalar) -> bool:
    """Return whether an expression reads only columns: no aggregates and no CLASSIFIER.

    If so, an input of an aggregate can be evaluated on one row of the table.
    """
    return all(isinstance(piece, str | ColumnReference) for piece in scalar.pieces)


def write_row_sql(scalar: Scalar) -> str:
    """Return an input of an aggregate, which must read only columns, as SQL over one row.

    The input of `sum(A.price * 2)` becomes `price * 2`.
    """
    return render(scalar, write_argument)


def write_argument(reference: Reference) -> str:
    """Return the SQL over one row of a column reference. Other references must not be passed."""
    assert isinstance(reference, ColumnReference), reference
    return reference.argument


def write_operand(reference: Reference) -> str:
    """Return the SQL of a column reference, in parentheses unless it has no operations.

    Functions are operations, too. Parentheses around their calls do no harm.
    """
    assert isinstance(reference, ColumnReference), reference
    return f"({reference.argument})" if reference.operations else reference.argument


def separate_references(pieces: Iterable[TextPiece]) -> tuple[TextPiece, ...]:
    """Return the pieces with a blank wherever a reference would touch a word.

    In `LAST(x)AND y` the bracket separates the words. The text that replaces the reference may end
    with a letter, as in `_0AND y`, so a blank is added. Adjacent texts are joined and empty ones
    are dropped.
    """
    return join_texts(separate_words(join_texts(pieces)))


def flatten_parts(parts: OperationParts) -> tuple[TextPiece, ...]:
    """Return the text of an operation with these parts, with references as holes."""
    pieces: list[TextPiece] = []
    for part in parts:
        if isinstance(part, str):
            pieces.append(part)
        else:
            pieces += part.pieces
    return separate_references(pieces)


def find_variable(reference: Reference) -> str | None:
    """Return the variable whose rows a reference reads; None for the universal variable.

    The result is also None for a function of the match, which reads no rows.
    """
    match reference:
        case ColumnReference() | Classifier():
            return reference.navigation.variable
        case Aggregate():
            return reference.variable
        case MatchValue():
            return None


def render(scalar: Scalar, write_reference: Callable[[Reference], str]) -> str:
    """Return the text of an expression, with the text that a function returns for each reference.

    >>> reference = ColumnReference(Navigation("A"), "price")
    >>> render(Term((reference, " > 2"), Span(0, 9)), write_argument)
    'price > 2'
    """
    return "".join(
        piece if isinstance(piece, str) else write_reference(piece) for piece in scalar.pieces
    )


def walk_scalar(scalar: Scalar) -> Iterator[Scalar]:
    """Yield the expression and all operands below it, parents first.

    The inputs of aggregates are not entered. The recursion is not too deep, because parsers nest
    operations at most MAX_NESTED times.
    """
    yield scalar
    if isinstance(scalar, Operation):
        for operand in scalar.operands:
            yield from walk_scalar(operand)


# Operators that compare two values. The parsers write `==` as `=` and `!=` as `<>`.
COMPARISONS = find_operator_names(OperatorKind.COMPARISON)

# Operators that choose a result by comparing one value with others. `CASE OF` is our name for
# CASE v WHEN a THEN x WHEN b THEN y ELSE z END. Its operands are the value v, the pairs (a, x) and
# (b, y) of a candidate and a result, and the result z of ELSE if there is one.
COMPARED_CHOICES = frozenset({"CASE OF", "DECODE"})


class Branches(NamedTuple):
    """The operands of an operation that chooses one of several results."""

    # The operands that decide which result is chosen: conditions, or a value followed by the
    # candidates.
    tests: tuple[Scalar, ...]
    # The results that can be chosen. The result of ELSE comes last.
    results: tuple[Scalar, ...]


def split_branches(choice: Operation) -> Branches:
    """Return the tests and the results of IF, CASE, `CASE OF` or DECODE.

    expression                                     tests     results
    CASE WHEN a THEN x WHEN b THEN y ELSE z END    a, b      x, y, z
    CASE v WHEN a THEN x END                       v, a      x
    IF(a, x, y)                                    a         x, y
    """
    operands = choice.operands
    if choice.operator == "IF":
        return Branches(tests=operands[:1], results=operands[1:])
    compared_values = operands[:1] if choice.operator in COMPARED_CHOICES else ()
    # Tests and results alternate. An odd operand at the end is the result of ELSE.
    tests_and_results = operands[len(compared_values) :]
    paired_count = len(tests_and_results) // 2 * 2
    tests = tests_and_results[:paired_count:2]
    results = tests_and_results[1:paired_count:2]
    else_result = tests_and_results[paired_count:]
    return Branches(compared_values + tests, results + else_result)


def find_amount(scalar: Scalar) -> Amount | None:
    """Return the value of an expression that is a literal number or interval, otherwise None."""
    return scalar.amount if isinstance(scalar, Term) else None


def find_column_path(scalar: Scalar) -> tuple[str, ...]:
    """Return the path of the column that an expression consists of.

    The path is as in `ColumnReference.column_path`. The result is empty if the expression is
    anything but a column.
    """
    match scalar.pieces:
        case (ColumnReference(column_path=column_path),):
            return column_path
        case _:
            return ()


def collect_text_operations(scalar: Scalar) -> Operations:
    """Return the operations of an expression's text, without those in the SQL of its references.

    For `LAST(A.x / 2) > 1`, the result is only `>`: the division is inside the reference.
    """
    return NO_OPERATIONS.union(*(find_node_operations(node) for node in walk_scalar(scalar)))


def find_node_operations(node: Scalar) -> Operations:
    """Return the operations of an operator without its operands, or of a text without columns."""
    return node.text_operations if isinstance(node, Term) else node.operator_operations


def split_conjuncts(condition: Scalar) -> tuple[Scalar, ...]:
    """Return the parts of a condition that must all be true: the operands of AND."""
    if isinstance(condition, Operation) and condition.operator == "AND":
        return tuple(part for operand in condition.operands for part in split_conjuncts(operand))
    return (condition,)


def is_constant_word(scalar: Scalar, *words: str) -> bool:
    """Return whether an expression is one of the words, in any case and perhaps in parentheses.

    >>> is_constant_word(Term(("( true )",), Span(0, 8)), "TRUE", "FALSE")
    True

    Args:
        scalar: an expression; with references, it is none of the words.
        words: constants such as TRUE or NULL, in upper case.
    """
    if scalar.references:
        return False
    text = "".join(piece for piece in scalar.pieces if isinstance(piece, str))
    return text.strip(f"{whitespace}()").upper() in words


def is_null(scalar: Scalar) -> bool:
    """Return whether the expression is the literal NULL, perhaps in parentheses."""
    return is_constant_word(scalar, "NULL")
