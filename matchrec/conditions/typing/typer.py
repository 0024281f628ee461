"""What typing any kind of step needs: columns are read, two values brought to one type.

Types follow Spark. Where two types meet, numbers are brought to one kind (see `numbers`), any other
two must be one type. What Spark would coerce in a way that the engine cannot repeat is an
error that says which CAST to write. So is a run condition that would become too large.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import field

from matchrec.conditions.functions.function import Settings
from matchrec.conditions.guards import is_total
from matchrec.conditions.residual import (
    COMPARISONS,
    Combined,
    Lambda,
    Step,
    Value,
    values_in,
)
from matchrec.conditions.row_column import RowColumn, cast, row_column
from matchrec.conditions.run_condition import (
    Choose,
    Constant,
    IsNull,
    Not,
    ReadValue,
    RunExpression,
)
from matchrec.conditions.types import (
    BOOLEAN,
    DOUBLE,
    NESTED,
    NUMBERS,
    TIMES,
    VOID,
    Family,
    Kind,
    ValueType,
    is_ranked,
    is_wide_decimal,
    unnamed,
)
from matchrec.conditions.typing.numbers import Typed, common_nested, common_type, widen
from matchrec.dataclass import dataclass
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.errors.conditions import (
    cannot_combine,
    not_boolean,
    operations_nested_too_deep,
    too_many_operations,
)
from matchrec.plan.expression import DEEPEST, LambdaVariable, Navigation
from matchrec.plan.text import Amount, amount, literal_text
from matchrec.source import Span

MOST_OPERATIONS = 200_000


@dataclass(slots=True)
class Effort:
    """How many steps have been typed, and how many are being typed now, one in another.

    whole: where the outermost of these was written.
    """

    operations: int = 0
    depth: int = 0
    whole: Span | None = None

    def enter(self, span: Span) -> None:
        """One more step begins. Raises where there are too many."""
        if self.depth == 0:
            self.whole = span
        self.operations += 1
        self.depth += 1
        if self.operations > MOST_OPERATIONS:
            raise too_many_operations(MOST_OPERATIONS, self.whole)
        if self.depth > DEEPEST + 1:
            raise operations_nested_too_deep(DEEPEST, self.whole)

    def leave(self) -> None:
        """The step that began last is done."""
        self.depth -= 1


def constant_of(step: Value, type_: ValueType) -> Typed | None:
    """A column as a constant of a type, if a number or an interval is all that it is."""
    if step.navigation is not None or not step.column.looks_at_one_row:
        return None
    found = amount(step.column.text)
    if found is None or found.is_time is not (type_.family is Family.INTERVAL):
        return None
    if type_ == DOUBLE:
        return Typed(Constant(float(found.value), Kind.FLOATING), DOUBLE)
    held = as_held(found, type_)
    return None if held is None else Typed(Constant(held, Kind.INTEGER), type_)


def as_held(written: Amount, type_: ValueType) -> int | None:
    """The same as the number that holds a value of a type; None where there is none."""
    if is_wide_decimal(type_):
        return None
    if type_.family is Family.DECIMAL:
        held, limit = written.value * 10**type_.scale, 10**type_.precision
    elif type_.family in (Family.INTEGER, Family.INTERVAL):
        held, limit = written.value, 2 ** (type_.bits - 1)
    else:
        return None
    return held.numerator if held.denominator == 1 and held < limit else None


TRUE_COLUMN = row_column("TRUE")
IN_UTC = Settings()


@dataclass(slots=True)
class RunColumns:
    """The columns that run conditions read, in the order in which the engine holds them.

    integers, floats: each with its index. ranked: columns whose values are replaced by their rank
    among all values of these columns.
    """

    integers: dict[RowColumn, int] = field(default_factory=dict)
    floats: dict[RowColumn, int] = field(default_factory=dict)
    ranked: set[RowColumn] = field(default_factory=set)

    def place(self, column: RowColumn, kind: Kind) -> int:
        """The index of a column among those of its kind; it is added on first use."""
        columns = self.integers if kind is Kind.INTEGER else self.floats
        return columns.setdefault(column, len(columns))

    @property
    def ranks(self) -> frozenset[int]:
        """The indices of those integer columns that hold ranks."""
        return frozenset(self.integers[column] for column in self.ranked)


@dataclass(frozen=True)
class Typer(ABC):
    """Types the steps of one query's conditions, each kind of step by a function of its own.

    types: of every column that the steps read. ansi: whether overflow is an error. settings: of the
    session. bound: the types of variables of lambda functions, whose bodies are typed.
    """

    types: Mapping[RowColumn, ValueType]
    ansi: bool
    settings: Settings = IN_UTC
    columns: RunColumns = field(default_factory=RunColumns)
    effort: Effort = field(default_factory=Effort)
    bound: dict[LambdaVariable, ValueType] = field(default_factory=dict)

    @property
    @abstractmethod
    def draft(self) -> Typer:
        """What types steps before it is known whether their columns will be read as they are."""

    @abstractmethod
    def type_by_kind(self, step: Step) -> Typed:
        """A step with its type, whatever kind of step it is."""

    def condition(self, step: Step) -> RunExpression:
        """The expression of a whole condition."""
        typed = self.type_step(step)
        if typed.type.family is not Family.BOOLEAN:
            raise not_boolean(typed.type.name, step.span)
        return typed.expression

    def type_step(self, step: Step) -> Typed:
        """A step with its type. Raises where the expression would be too large or too deep."""
        self.effort.enter(step.span)
        try:
            return self.type_by_kind(step)
        finally:
            self.effort.leave()

    def type_of(self, step: Step) -> ValueType:
        """The type of a step; nothing is read for it."""
        return self.draft.type_step(step).type

    def read_value(self, step: Value, type_: ValueType) -> RunExpression:
        """The column at its row, or what takes its place where there is no such row."""
        there = self.read(step.column, type_, step.navigation)
        if step.missing is None:
            return there
        found = Not(IsNull(self.read(TRUE_COLUMN, BOOLEAN, step.navigation)))
        return Choose(found, there, self.read(step.missing, type_, None))

    def read(self, column: RowColumn, type_: ValueType, navigation: Navigation | None) -> ReadValue:
        if is_ranked(type_):
            self.columns.ranked.add(column)
        return ReadValue(self.columns.place(column, type_.kind), type_.kind, navigation)

    def unify(self, step: Combined, left: Step, right: Step) -> tuple[Typed, Typed]:
        """Both values as one type, as Spark would bring them together."""
        one, other = self.type_of(left), self.type_of(right)
        if one.family in NUMBERS and other.family in NUMBERS:
            return self.numbers(step, left, right)
        if one.family is Family.STRING and other.family in NUMBERS:
            return self.numbers(step, self.as_compared(step, left, other), right)
        if other.family is Family.STRING and one.family in NUMBERS:
            return self.numbers(step, left, self.as_compared(step, right, one))
        if one == VOID:
            return null(other), self.type_step(right)
        if other == VOID:
            return self.type_step(left), null(one)
        if one.family is not other.family or one.family is Family.OTHER:
            raise cannot_combine(step.operator, one.name, other.name, step.span)
        is_compared = step.operator in COMPARISONS and unnamed(one) == unnamed(other)
        if one.family in NESTED and one != other and not is_compared:
            common = common_nested(one, other, self.ansi)
            return self.as_nested(step, left, common), self.as_nested(step, right, common)
        return self.type_step(left), self.type_step(right)

    def as_compared(self, step: Combined, text: Step, number: ValueType) -> Step:
        """A text as the number that Spark makes of it where it is compared with a number.

        Source: Spark's AnsiTypeCoercion, findWiderTypeForString; TypeCoercion,
        findCommonTypeForBinaryComparison.
        """
        if step.operator not in COMPARISONS:
            raise cannot_combine(step.operator, self.type_of(text).name, number.name, step.span)
        is_whole = number.family is Family.INTEGER
        in_ansi = "BIGINT" if is_whole else "DOUBLE"
        lenient = "DOUBLE" if number.family is Family.DECIMAL else number.name.upper()
        return Combined("CAST", (text,), step.span, (in_ansi if self.ansi else lenient,))

    def as_nested(self, step: Combined, part: Step, type_: ValueType | None) -> Typed:
        """A nested value as another type; Spark casts a column."""
        own = self.type_of(part)
        if own == type_:
            return self.type_step(part)
        if type_ is None or not isinstance(part, Value):
            one, other = (self.type_of(operand) for operand in step.operands[-2:])
            raise cannot_combine(step.operator, one.name, other.name, step.span)
        return self.cast_column(part, type_)

    def numbers(self, step: Combined, left: Step, right: Step) -> tuple[Typed, Typed]:
        """Two numbers as one type.

        Decimals too wide for an int64 are cast by Spark, and ranked, where both are columns; where
        the engine computed one of them, it fits an int64 or is an error.
        """
        one, other = self.type_of(left), self.type_of(right)
        common = common_type(one, other, self.ansi)
        if common is None:
            raise cannot_combine(step.operator, one.name, other.name, step.span)
        columns = isinstance(left, Value) and isinstance(right, Value)
        if is_wide_decimal(common) and columns:
            return self.cast_column(left, common), self.cast_column(right, common)
        return self.as_number(step, left, common), self.as_number(step, right, common)

    def as_number(self, step: Combined, part: Step, type_: ValueType) -> Typed:
        """A number as another type; Spark casts a decimal column to double, the engine the rest."""
        own = self.type_of(part)
        to_double = own.family is Family.DECIMAL and type_.family is Family.FLOATING
        if to_double and isinstance(part, Value):
            return self.cast_column(part, type_)
        if is_wide_decimal(own) and own != type_:
            raise cannot_combine(step.operator, own.name, type_.name, step.span)
        return widen(self.type_step(part), type_)

    def cast_column(self, step: Step, type_: ValueType) -> Typed:
        """A column as another type, cast by Spark before the match."""
        assert isinstance(step, Value), step
        if self.type_of(step) == type_:
            return self.type_step(step)
        constant = constant_of(step, type_) if type_.family in NUMBERS else None
        if constant is not None:
            return constant
        missing = step.missing and cast(step.missing, type_.name)
        recast = Value(cast(step.column, type_.name), step.navigation, missing, step.span)
        return Typed(self.read_value(recast, type_), type_)


def null(type_: ValueType) -> Typed:
    """NULL as a value of a type."""
    return Typed(Constant(None, type_.kind), type_)


# Columns that the engine computes instead of Spark.
#
# What may fail, where other rows tell whether it is asked, is computed then, not before the match:
#
#     A.ok AND CAST(B.s AS INT) > A.x    on a row whose `s` is no number, after an A that is not ok
#
# Spark computes a column for every row; it would fail there. Types tell what may fail at all, such
# as sums of integers, but not of doubles.


def type_formula(typer: Typer, step: Value) -> Typed | None:
    """The value of a formula of integers and doubles; None where it is Spark's to compute."""
    type_ = typer.types[step.column]
    if step.formula is None or not is_plain(type_):
        return None
    if not all(is_known(typer, one) for one in values_in(step.formula)):
        return None
    return typer.type_step(step.formula) if typer.type_of(step.formula) == type_ else None


def is_known(typer: Typer, step: Value) -> bool:
    """Whether it is a number that the engine holds as it is, or a constant."""
    type_ = typer.types[step.column]
    return is_plain(type_) or constant_of(step, type_) is not None


def is_plain(type_: ValueType) -> bool:
    """Whether the engine computes with values of a type as Spark does, and holds the results."""
    return type_ == DOUBLE or type_.family is Family.INTEGER


SUMS = frozenset({"+", "-", "*", "NEG", "NEGATIVE", "ABS"})
QUOTIENTS = frozenset({"/", "%", "DIV", "MOD", "PMOD"})
PATTERNS = frozenset({"LIKE", "ILIKE", "RLIKE", "REGEXP", "REGEXP_LIKE"})
MOST_DIGITS = 38
OF_MAPS = frozenset({"[]", "ELEMENT_AT"})  # NULL without such a key


def type_late(typer: Typer, step: Value) -> Typed | None:
    """The value as the engine computes it; None where it cannot fail, or is Spark's alone."""
    if step.late is None or not typer.ansi:
        return None
    try:
        fails = any(may_fail(typer, one) for one in operations(step.late))
    except MatchRecognizeUnsupportedError:
        return None
    return typer.type_step(step.late) if fails else None


def operations(step: Step) -> Iterator[Combined]:
    """All that the engine would compute of a step."""
    if isinstance(step, Value) and step.late is not None:
        yield from operations(step.late)
    elif isinstance(step, Lambda):
        yield from operations(step.body)
    elif isinstance(step, Combined):
        yield step
        for operand in step.operands:
            yield from operations(operand)


def may_fail(typer: Typer, step: Combined) -> bool:
    """Whether an operation may have no result, by its types; its operands are not looked at."""
    type_ = typer.type_of(step)
    from matchrec.conditions.functions.casts import CASTS

    if step.operator in SUMS:
        return overflows(type_)
    if step.operator in QUOTIENTS:
        return overflows(type_) or not is_nonzero(typer, step.operands[1])
    if step.operator in OF_MAPS and typer.type_of(step.operands[0]).family is Family.MAP:
        return False
    if step.operator in CASTS:
        return cast_may_fail(typer.type_of(step.operands[0]), type_)
    if step.operator in PATTERNS:
        return not is_literal(typer, step.operands[1])
    return step.operator == "[]" or (step.operator.isidentifier() and not is_total(step.operator))


def is_literal(typer: Typer, step: Step) -> bool:
    """Whether it is a text that is written there."""
    if not isinstance(step, Value) or step.navigation or not step.column.looks_at_one_row:
        return False
    settings = typer.settings
    text = step.column.text
    return literal_text(text, settings.quotes, keeps_escapes=settings.keeps_escapes) is not None


def overflows(type_: ValueType) -> bool:
    """Whether sums of a type may have too many digits for it; those of times hardly have."""
    wide = type_.family is Family.DECIMAL and type_.precision == MOST_DIGITS
    return wide or type_.family is Family.INTEGER


def is_nonzero(typer: Typer, step: Step) -> bool:
    """Whether it is a number that is written there, and not zero."""
    found = constant_of(step, typer.type_of(step)) if isinstance(step, Value) else None
    return found is not None and getattr(found.expression, "value", None) != 0


def cast_may_fail(own: ValueType, target: ValueType) -> bool:
    """Whether a value of one type may have none of the other."""
    if own == target or target.family in (Family.STRING, Family.BINARY):
        return False
    if own.family in NUMBERS and target.family in NUMBERS:
        is_wider = own.family is target.family is Family.INTEGER and own.bits <= target.bits
        return not (is_wider or target.family is Family.FLOATING)
    return not {own.family, target.family} <= TIMES
