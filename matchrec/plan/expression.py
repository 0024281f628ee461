"""A scalar expression over a match: Spark SQL text with references to rows taken out of it.

`LAST(A.price) * 1.1 > PREV(price)` is the text `? * 1.1 > ?` with two references. Whatever stands
between the references is Spark's to evaluate; what a reference reads is the engine's to find.
An expression whose structure may matter while matching is a tree of operations over such texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from functools import partial
from itertools import chain
from operator import attrgetter, is_

from matchrec.plan.choices import Beyond, OptionChoice
from matchrec.plan.operations import NO_OPERATIONS, UNREAD, Operations, named
from matchrec.plan.text import Amount, in_place, joined_texts, spaced
from matchrec.source import Span

# Operations in one another that the engine evaluates; more are Spark's, or are refused.
DEEPEST = 100

# The function of an aggregate that is the rows of the match as an array, with their variables.
MATCHED_ROWS = "matched_rows"

# SQL of its elements; what matches fills in the last field.
MATCHED_ROW = "struct(*, '' AS classifier)"

CLASSIFIER_FIELD = "classifier"

# The operator of more than DEEPEST operators in a row, such as `a + b + c ...`: it is opaque.
LONG_CHAIN = "chain"


class Semantics(Enum):
    """How much of the match an expression sees: the rows so far, or all of them."""

    RUNNING = "RUNNING"
    FINAL = "FINAL"


class End(Enum):
    """The end of the match from which logical navigation counts."""

    FIRST = "FIRST"
    LAST = "LAST"


@dataclass(frozen=True, slots=True)
class Navigation:
    """Which row to read: a logical step among mapped rows, then a physical one from there.

    Source: ISO/IEC 19075-5, row pattern navigation operations.
    """

    variable: str | None = None  # primary or union, whose rows count; None is the universal one
    end: End = End.LAST
    logical_offset: int = 0  # how many of its rows lie between `end` and the row; never negative
    physical_offset: int = 0  # rows to go on from there, negative for PREV, positive for NEXT
    semantics: Semantics = Semantics.RUNNING

    @property
    def is_last(self) -> bool:
        """Whether the logical step finds the last of the rows."""
        return self.end is End.LAST and self.logical_offset == 0


@dataclass(frozen=True, slots=True)
class ColumnReference:
    """The value of `argument`, Spark SQL over one row, on the row that `navigation` finds.

    names: of the column that it is, perhaps after a qualifier; none of anything else.
    """

    navigation: Navigation
    argument: str
    span: Span | None = field(default=None, compare=False)
    operations: Operations = field(default=UNREAD, compare=False, repr=False)  # of the argument
    names: tuple[str, ...] = field(default=(), compare=False, repr=False)
    fields: tuple[str, ...] = field(default=(), compare=False, repr=False)  # if it is a struct


@dataclass(frozen=True, slots=True)
class Frame:
    """Rows `start` to `end` after the current one, both included; None: to the partition's end."""

    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate over the rows mapped to one variable (None: universal), running or final.

    Arguments, condition and ordering are evaluated on each row by itself: their references are
    columns, CLASSIFIER and MATCH_NUMBER of that row.
    """

    function: str  # in lower case
    variable: str | None
    arguments: tuple[Scalar, ...]  # none for `count(*)`
    semantics: Semantics = Semantics.RUNNING
    distinct: bool = False
    condition: Scalar | None = None  # of FILTER (WHERE ...)
    ordering: tuple[tuple[Scalar, str], ...] = ()  # of WITHIN GROUP, each with what follows it
    ignore_nulls: bool = False
    so_far: bool = False  # without the current row, as in `avg(a[..i-1].x)` of SASE+
    frame: Frame | None = None  # it is over these rows of the partition, whatever is mapped
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Classifier:
    """CLASSIFIER(U): the primary variable to which the row found by `navigation` is mapped."""

    navigation: Navigation
    span: Span | None = field(default=None, compare=False)


class MatchFunction(OptionChoice):
    """What tells something of the match that is in no column, by its name."""

    # Counts the matches of a partition from 1, empty ones included.
    NUMBER = "MATCH_NUMBER", (Beyond.EARLIER,)
    STATUS = "MATCH_STATUS", ()  # whether a run is a match, timed out or unfinished
    TIMEOUT = "MATCH_TIMEOUT", ()  # of a run that timed out, when its window ended
    # In an aggregate, the number of its row in the match, from 1.
    ROW_NUMBER = "MATCH_ROW_NUMBER", (Beyond.DISTANCE,)


# Those whose value is known only when a run has ended.
OF_ENDINGS = (MatchFunction.STATUS, MatchFunction.TIMEOUT)


@dataclass(frozen=True, slots=True)
class MatchValue:
    function: MatchFunction
    span: Span | None = field(default=None, compare=False)


MATCH_NUMBER = MatchValue(MatchFunction.NUMBER)

Reference = ColumnReference | Aggregate | Classifier | MatchValue
Piece = str | Reference


@dataclass(frozen=True, slots=True)
class Term:
    """SQL text that has no structure for us: Spark's to evaluate, references as holes in it."""

    pieces: tuple[Piece, ...]
    span: Span = field(compare=False)
    own: Operations = field(default=UNREAD, compare=False, repr=False)  # of the text
    amount: Amount | None = field(default=None, compare=False, repr=False)  # of a constant
    operations: Operations = field(init=False, compare=False, repr=False)  # and of its columns
    references: tuple[Reference, ...] = field(init=False, compare=False, repr=False)  # in order

    def __post_init__(self) -> None:
        references = tuple(piece for piece in self.pieces if not isinstance(piece, str))
        own = self.own if len(references) < len(self.pieces) else NO_OPERATIONS
        read = [one.operations for one in references if isinstance(one, ColumnReference)]
        object.__setattr__(self, "own", own)
        object.__setattr__(self, "operations", own.union(*read))
        object.__setattr__(self, "references", references)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation whose operands are known apart: `a AND b`, `a + b`, `abs(a)`.

    operator: upper-case operator or function name, e.g. AND OR NOT = <> < <= > >= <=> + - * / % DIV
    BETWEEN, `IS NULL`, `IS NOT NULL`, IN, LIKE, ||, `NEG`, ABS, COALESCE. A parenthesised one is
    the expression itself with the parentheses in `parts`.
    parts: the exact text of the whole operation, with the operands in their places. words: what it
    takes that is no value, such as the type of a CAST or the unit of TIMESTAMPDIFF, in upper case.
    own: itself, as tables of operations list it. operands, pieces, operations, references: of the
    parts, the text with references as holes.
    """

    operator: str
    parts: tuple[str | Scalar, ...]
    span: Span = field(compare=False)
    words: tuple[str, ...] = ()
    own: Operations = field(default=NO_OPERATIONS, compare=False, repr=False)
    operands: tuple[Scalar, ...] = field(init=False, compare=False, repr=False)
    pieces: tuple[Piece, ...] = field(init=False, compare=False, repr=False)
    operations: Operations = field(init=False, compare=False, repr=False)
    references: tuple[Reference, ...] = field(init=False, compare=False, repr=False)

    __match_args__ = ("operator", "operands")

    def __post_init__(self) -> None:
        own = self.own or named(self.operator)
        operands = tuple(part for part in self.parts if not isinstance(part, str))
        operations = own.union(*(operand.operations for operand in operands))
        references = chain.from_iterable(operand.references for operand in operands)
        object.__setattr__(self, "operands", operands)
        object.__setattr__(self, "pieces", pieces_of(self.parts))
        object.__setattr__(self, "own", own)
        object.__setattr__(self, "operations", operations)
        object.__setattr__(self, "references", tuple(references))

    def of_operands(self, change: Callable[[Scalar], Scalar]) -> Operation:
        """The operation with changed operands; itself where none is."""
        parts = tuple(part if isinstance(part, str) else change(part) for part in self.parts)
        return self if all(map(is_, parts, self.parts)) else replace(self, parts=parts)


Scalar = Term | Operation
Parts = tuple[str | Scalar, ...]


def terms(aggregate: Aggregate) -> tuple[Scalar, ...]:
    """All that an aggregate evaluates on each row."""
    ordering = (term for term, _ in aggregate.ordering)
    condition = () if aggregate.condition is None else (aggregate.condition,)
    return (*aggregate.arguments, *condition, *ordering)


def with_terms(aggregate: Aggregate, change: Callable[[Scalar], Scalar]) -> Aggregate:
    """The aggregate with all that it evaluates on each row changed."""
    condition = aggregate.condition
    return replace(
        aggregate,
        arguments=tuple(map(change, aggregate.arguments)),
        condition=None if condition is None else change(condition),
        ordering=tuple((change(term), how) for term, how in aggregate.ordering),
    )


def looks_at_columns_only(term: Scalar) -> bool:
    """Whether an expression reads nothing but columns; of an aggregate, on one row of the input."""
    return all(isinstance(piece, str | ColumnReference) for piece in term.pieces)


def row_text(term: Scalar) -> str:
    """An aggregate's term that looks at columns only, as SQL over one row."""
    return render(term, argument_of)


def argument_of(reference: Reference) -> str:
    """The SQL over one row that a column reference reads; no other reference has one."""
    assert isinstance(reference, ColumnReference), reference
    return reference.argument


def operand_of(reference: Reference) -> str:
    """What a column reference reads, as it can stand beside any operator."""
    assert isinstance(reference, ColumnReference), reference
    return f"({reference.argument})" if reference.operations else reference.argument


def inner_references(aggregate: Aggregate) -> tuple[Reference, ...]:
    """The references in what an aggregate evaluates on each row."""
    return tuple(reference for term in terms(aggregate) for reference in term.references)


def set_apart(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """The pieces that are not empty, with a blank where a reference would run into a word.

    `LAST(x)AND y` is two words, but what stands for the reference may end with a letter. Texts side
    by side are one.
    """
    return joined_texts(spaced(joined_texts(pieces)))


def pieces_of(parts: Parts) -> tuple[Piece, ...]:
    return set_apart(
        piece for part in parts for piece in ((part,) if isinstance(part, str) else part.pieces)
    )


def variable_of(reference: Reference) -> str | None:
    if isinstance(reference, ColumnReference | Classifier):
        return reference.navigation.variable
    return reference.variable if isinstance(reference, Aggregate) else None


def render(scalar: Scalar, write: Callable[[Reference], str]) -> str:
    return "".join(piece if isinstance(piece, str) else write(piece) for piece in scalar.pieces)


def subexpressions(scalar: Scalar) -> Iterator[Scalar]:
    """The expression and all operands below it, parents first."""
    yield scalar
    if isinstance(scalar, Operation):
        for operand in scalar.operands:
            yield from subexpressions(operand)


# What chooses a value by comparing: x, a value to compare it with, what it is then, ...
COMPARED_CHOICES = frozenset({"CASE OF", "DECODE"})


def branches(choice: Operation) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
    """What IF and CASE ask, or `CASE OF` and DECODE compare, and the values of which they are one.

    CASE WHEN a THEN x WHEN b THEN y ELSE z END: (a, b) and (x, y, z)
    CASE v WHEN a THEN x END: (v, a) and (x,)
    """
    operands = choice.operands
    first = 1 if choice.operator in COMPARED_CHOICES else 0
    last = first + (len(operands) - first) // 2 * 2
    if choice.operator == "IF":
        return operands[:1], operands[1:]
    asked = operands[:first] + operands[first:last:2]
    return asked, operands[first + 1 : last : 2] + operands[last:]


def amount_of(scalar: Scalar) -> Amount | None:
    """How much an expression is that is a number or an interval as it is written."""
    return scalar.amount if isinstance(scalar, Term) else None


def names_of(scalar: Scalar) -> tuple[str, ...]:
    """The names of a column, if an expression is nothing else."""
    first, *others = scalar.pieces or ("",)
    return first.names if isinstance(first, ColumnReference) and not others else ()


def written_operations(scalar: Scalar) -> Operations:
    """What an expression itself computes, without what it reads."""
    return NO_OPERATIONS.union(*map(attrgetter("own"), subexpressions(scalar)))


def with_semantics(reference: Reference, semantics: Semantics) -> Reference:
    if isinstance(reference, MatchValue):
        return reference
    if isinstance(reference, Aggregate):
        return replace(reference, semantics=semantics)
    return replace(reference, navigation=replace(reference.navigation, semantics=semantics))


def with_references(scalar: Scalar, change: Callable[[Reference], Piece]) -> Scalar:
    """The expression with each reference changed, or text for it; itself where nothing changes."""
    if isinstance(scalar, Operation):
        return scalar.of_operands(partial(with_references, change=change))
    pieces = tuple(piece if isinstance(piece, str) else change(piece) for piece in scalar.pieces)
    return scalar if all(map(is_, pieces, scalar.pieces)) else replace(scalar, pieces=pieces)


def with_columns(scalar: Scalar, change: Callable[[ColumnReference], ColumnReference]) -> Scalar:
    """The expression with every column changed, those inside of aggregates too."""

    def changed(reference: Reference) -> Reference:
        if isinstance(reference, Aggregate):
            return with_terms(reference, lambda term: with_columns(term, change))
        return change(reference) if isinstance(reference, ColumnReference) else reference

    return with_references(scalar, changed)


def with_operations(scalar: Scalar, change: Callable[[Operation], Scalar]) -> Scalar:
    """The expression with every operation changed, operands first, inside of aggregates too."""
    if isinstance(scalar, Operation):
        return change(scalar.of_operands(lambda one: with_operations(one, change)))

    def inside(reference: Reference) -> Reference:
        if isinstance(reference, Aggregate):
            return with_terms(reference, lambda one: with_operations(one, change))
        return reference

    return with_references(scalar, inside)


def with_final_semantics(scalar: Scalar) -> Scalar:
    return with_references(scalar, partial(with_semantics, semantics=Semantics.FINAL))


# Expressions that are put together of others, with the text that Spark evaluates.


def literal(text: str, span: Span, amount: Amount | None = None) -> Term:
    """A text, an interval or another constant."""
    return Term((text,), span, NO_OPERATIONS, amount)


def number_term(number: int, span: Span) -> Term:
    return literal(str(number), span, Amount(Fraction(number)))


def column_term(
    navigation: Navigation, text: str, span: Span | None = None, names: tuple[str, ...] = ()
) -> Term:
    reference = ColumnReference(navigation, text, span, NO_OPERATIONS, names)
    return Term((reference,), span or Span(0, 0))


def joined(operator: str, parts: Sequence[Scalar], span: Span | None = None) -> Scalar:
    """Conditions joined by AND or OR; one is itself. span: None for the least that covers all."""
    if len(parts) == 1:
        return parts[0]
    written: list[str | Scalar] = []
    for part in parts:
        written += [f" {operator} (" if written else "(", part, ")"]
    return Operation(operator, tuple(written), span or parts[0].span.to(parts[-1].span))


def conjuncts(condition: Scalar) -> tuple[Scalar, ...]:
    """The parts of a condition that must all be true."""
    if isinstance(condition, Operation) and condition.operator == "AND":
        return tuple(part for operand in condition.operands for part in conjuncts(operand))
    return (condition,)


def is_null(scalar: Scalar) -> bool:
    """Whether the expression is NULL, as it is written."""
    return not scalar.references and render(scalar, str).strip(" ()").upper() == "NULL"


def of_a_condition(condition: Scalar) -> Scalar:
    """A condition whose parts have the type of one: NULL has none in Spark."""
    parts = conjuncts(condition)
    if not any(map(is_null, parts)):
        return condition
    null = "CAST(NULL AS BOOLEAN)"
    typed = [literal(null, part.span) if is_null(part) else part for part in parts]
    return joined("AND", typed, condition.span)


def negation(condition: Scalar) -> Operation:
    """NOT of a condition: unknown where the condition is."""
    return Operation("NOT", ("NOT (", condition, ")"), condition.span)


def complement(condition: Scalar) -> Operation:
    """That a condition does not hold: it is false, or unknown.

    Its text is a CASE: Spark casts what IS NOT TRUE is asked of, and a text is no condition.
    """
    parts = "CASE WHEN ", condition, " THEN FALSE ELSE TRUE END"
    return Operation("IS NOT TRUE", parts, condition.span)


def comparison(operator: str, left: Scalar, right: Scalar) -> Operation:
    return Operation(operator, (left, f" {operator} ", right), left.span)


def differs_by_less(there: Term, here: Term, length: Term) -> Operation:
    """`try_subtract(there, here) < length`; what differs by more than its type holds does not."""
    parts = "try_subtract(", there, ", ", here, ")"
    difference = Operation("TRY_SUBTRACT", parts, there.span)
    return Operation("<", (difference, " < ", length), there.span)


def around(operands: Sequence[Scalar], write: Callable[[Span], str], span: Span) -> Parts:
    """The text at `span`, as `write` gives it, with operands in their places."""
    holes = ((operand.span, (operand,)) for operand in operands)
    return tuple(filter(None, in_place(write, span, holes)))


def enclosed(inner: Scalar, write: Callable[[Span], str], span: Span) -> Scalar:
    """The expression with the text around it, such as parentheses."""
    before = write(Span(span.start, inner.span.start))
    after = write(Span(inner.span.end, span.end))
    if isinstance(inner, Operation):
        return replace(inner, parts=(before, *inner.parts, after), span=span)
    return replace(inner, pieces=set_apart((before, *inner.pieces, after)), span=span)
