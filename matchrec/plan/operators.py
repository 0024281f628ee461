"""The table of operators: what every stage knows about an operator or a function, in one entry.

A function that only Python computes needs no entry here. It has one in `conditions.functions`, and
`words.txt` says whether it can fail. Operators have entries here, and so have functions that the
parser, the typing rules or the kernels treat specially.

    column       question                                                 read by
    kind         who computes it over several rows, and how is it typed?  conditions
    form         which other operations have the same value?              conditions.residual
    target       which operator, function or type computes it?            conditions.typing
    failure      can it raise an error in ANSI mode?                      plan, conditions.typing
    arguments    with how many arguments is a call this operation?        syntax.expressions
    is_strict    is it always NULL if an operand is NULL?                 conditions.split
    operands     which operands does the engine bring to one type?        spark.sail
    is_truth     is it always a truth value?                              conditions.split
    is_quick     does it take no time worth counting?                     plan.operations

The code that computes a value is in three places, because it is written for three kinds of values:
`conditions.evaluate.kernels` for one value in compiled code, `conditions.evaluate.vectors` for the
values of all rows in NumPy, and `conditions.functions` for objects of Python.

Source: the semantics of each function as Spark SQL documents it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeVar


class OperatorKind(Enum):
    """Who computes an operation over several rows of a match, and so how it is typed.

    Spark or Sail computes any operation over a single row.
    """

    # These are instructions of kernels. NumPy computes them over neighbours, and Python if only
    # Python has a value.
    LOGIC = "three-valued logic"
    COMPARISON = "a comparison of two values of one type"
    ARITHMETIC = "arithmetic of numbers, times and intervals"
    DAYS = "a number of days"
    NULL_TEST = "IS NULL"
    CHOICE = "IF"
    # Arithmetic that returns NULL if the operator `target` would raise an error.
    TRY = "arithmetic that raises no error"
    # A compiled function of floats: the `run_condition.MathFunction` with the name `target`.
    MATHEMATICS = "a mathematical function"
    # Other operations, as `form` says.
    REWRITTEN = "other operations"
    # A cast to the type `target`.
    CAST = "a cast"
    # Python computes it if `conditions.functions` has it. Otherwise only Spark or Sail computes it,
    # so its operands cannot come from rows that only a run knows.
    FUNCTION = "a function of Spark"


class Failure(Enum):
    """Whether an operation can raise an error in ANSI mode if its operands have the right types."""

    NEVER = "never"
    # The types say more, see `conditions.typing.failures`.
    TOO_LARGE = "if the result is too large for its type"
    DIVISION = "as TOO_LARGE, and if the divisor is zero"
    PATTERN = (
        "if the pattern has a wrong escape; a literal pattern is checked before the query runs"
    )
    CAST = "if the value has no equivalent in the other type"
    # Another function with the same name is not an operation here: DECODE(bytes, charset).
    OTHER_CALLS = "only in calls with other arguments"
    POSSIBLE = "for some values"


class Operands(Enum):
    """Which operands the engine brings to one type."""

    APART = "none"
    COMPARED = "all, to compare them"
    COMPUTED = "all, to compute with them"
    CHOSEN = "all, since one of them is the value"
    BRANCHES = "the branches, and the compared values: see `expression.split_branches`"


# What a form is built to: a step of a condition, or a text in tests.
Built = TypeVar("Built")


@dataclass(frozen=True, slots=True)
class OperandForm:
    """The operand of the rewritten operation that has this index."""

    index: int


@dataclass(frozen=True, slots=True)
class ZeroForm:
    """The number zero."""


@dataclass(frozen=True, slots=True)
class OperationForm:
    """Another operation, whose operands are forms."""

    operator: str
    operands: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class SameOperandsForm:
    """Another operation with the operands of the rewritten one, all of them and in their order."""

    operator: str


# How an operation is written with other operations. `call` and `call_on_all` make the inner nodes:
#
#     NVL2(a, b, c)      call("IF", call("IS NOT NULL", FIRST), SECOND, THIRD)
#     a NOT IN (b, c)    call("NOT", call_on_all("IN"))
Form = OperandForm | ZeroForm | OperationForm | SameOperandsForm

FIRST = OperandForm(0)
SECOND = OperandForm(1)
THIRD = OperandForm(2)
ZERO = ZeroForm()


class Rewriting(Protocol):
    """A form that depends on the number of operands, so that a function builds it from them."""

    def __call__(self, operands: Sequence[Built], combine: Callable[..., Built]) -> Built:
        """Return the operation. `combine` builds one from an operator and its operands."""


def call(operator: str, *operands: Form) -> OperationForm:
    """Return the form of an operation with these operands."""
    return OperationForm(operator, operands)


def call_on_all(operator: str) -> SameOperandsForm:
    """Return the form of an operation with the operands of the rewritten operation."""
    return SameOperandsForm(operator)


def build_form(
    form: Form | Rewriting, operands: Sequence[Built], combine: Callable[..., Built], zero: Built
) -> Built:
    """Apply a form to operands, and return the operation.

    >>> def combine(operator, *operands):
    ...     return f"{operator}({', '.join(operands)})"
    >>> nanvl = call("IF", call("ISNAN", FIRST), SECOND, FIRST)
    >>> build_form(nanvl, ["a", "b"], combine, "0")
    'IF(ISNAN(a), b, a)'
    >>> build_form(call("NOT", call_on_all("=")), ["a", "b"], combine, "0")
    'NOT(=(a, b))'

    Args:
        form: the form, or the function that builds it.
        operands: the operands.
        combine: builds an operation from an operator and its operands.
        zero: the number zero.
    """
    match form:
        case OperandForm(index):
            return operands[index]
        case ZeroForm():
            return zero
        case SameOperandsForm(operator):
            return combine(operator, *operands)
        case OperationForm(operator, operand_forms):
            inner_operands = [build_form(part, operands, combine, zero) for part in operand_forms]
            return combine(operator, *inner_operands)
        case _:
            return form(operands, combine)


def build_coalesce(operands: Sequence[Built], combine: Callable[..., Built]) -> Built:
    """Return the first operand that is not NULL.

    `COALESCE(a, b, c)` is `IF(a IS NOT NULL, a, IF(b IS NOT NULL, b, c))`.
    """
    *earlier_operands, value = operands
    for operand in reversed(earlier_operands):
        value = combine("IF", combine("IS NOT NULL", operand), operand, value)
    return value


def build_extreme(comparison: str) -> Rewriting:
    """Return the rewriting of GREATEST or LEAST. Both ignore NULLs.

    Args:
        comparison: `>` for GREATEST, `<` for LEAST.
    """
    take_second = call("OR", call("IS NULL", FIRST), call(comparison, SECOND, FIRST))
    greater_or_less = call("IF", take_second, SECOND, FIRST)
    extreme_form = call("IF", call("IS NULL", SECOND), FIRST, greater_or_less)

    def build(operands: Sequence[Built], combine: Callable[..., Built]) -> Built:
        """Return the extreme of the operands, built from the extremes of both halves."""
        # The form repeats each of its two operands. Combining halves, rather than one operand after
        # the other, keeps the depth low, and so the number of repetitions.
        if len(operands) == 1:
            return operands[0]
        middle = len(operands) // 2
        halves = (build(operands[:middle], combine), build(operands[middle:], combine))
        # The form has no zero, so any value does for it.
        return build_form(extreme_form, halves, combine, zero=operands[0])

    return build


def build_membership(operands: Sequence[Built], combine: Callable[..., Built]) -> Built:
    """Return `x IN (a, b)` as `x = a OR x = b`."""
    value, *candidates = operands
    comparisons = [combine("=", value, candidate) for candidate in candidates]
    return combine("OR", *comparisons)


def build_case(operands: Sequence[Built], combine: Callable[..., Built]) -> Built:
    """Return CASE WHEN a THEN x WHEN b THEN y ELSE z END as IF(a, x, IF(b, y, z)).

    The operands are a, x, b, y, z. Without ELSE, the last IF has no third operand.
    """
    condition, result, *later_operands = operands
    has_more_branches = len(later_operands) > 1
    if has_more_branches:
        return combine("IF", condition, result, build_case(later_operands, combine))
    return combine("IF", condition, result, *later_operands)


def build_compared_case(comparison: str) -> Rewriting:
    """Return the rewriting of a CASE that compares one value with others.

    Args:
        comparison: `=` for CASE x WHEN a THEN y ELSE z END; `<=>` for DECODE(x, a, y, z), which
            also finds NULL. The operands are x, a, y, z, and the conditions become x = a.
    """

    def build(operands: Sequence[Built], combine: Callable[..., Built]) -> Built:
        """Return a CASE whose branches are conditions that compare the value."""
        value, *case_operands = operands
        for index in range(0, len(case_operands) - 1, 2):  # without the operand of ELSE
            case_operands[index] = combine(comparison, value, case_operands[index])
        return combine("CASE", *case_operands)

    return build


@dataclass(frozen=True, slots=True)
class ArgumentCount:
    """How many arguments a call may have."""

    least: int
    # None if there is no limit.
    most: int | None = None

    def allows(self, count: int) -> bool:
        """Return whether a call may have this number of arguments."""
        return self.least <= count and (self.most is None or count <= self.most)


ANY_NUMBER = ArgumentCount(1)
ONE = ArgumentCount(1, 1)
TWO = ArgumentCount(2, 2)
THREE = ArgumentCount(3, 3)
AT_LEAST_TWO = ArgumentCount(2)
AT_LEAST_THREE = ArgumentCount(3)


@dataclass(frozen=True, slots=True)
class OperatorEntry:
    """What every stage knows about an operator. The module explains the columns."""

    # The operator, in upper case. Several operators with the same entry have commas between them.
    names: str
    kind: OperatorKind
    # For REWRITTEN: the operations that have the same value.
    form: Form | Rewriting | None = None
    # For TRY the operator that may raise an error, for MATHEMATICS the name of the compiled
    # function, for CAST the type.
    target: str | None = None
    failure: Failure = Failure.NEVER
    # How many arguments a call has. A call with another number of arguments is opaque text.
    arguments: ArgumentCount = ANY_NUMBER
    is_strict: bool = False
    operands: Operands = Operands.APART
    is_truth: bool = False
    is_quick: bool = False


K = OperatorKind
COMPARED, COMPUTED = Operands.COMPARED, Operands.COMPUTED
CHOSEN, BRANCHES = Operands.CHOSEN, Operands.BRANCHES
TOO_LARGE, DIVISION, PATTERN = Failure.TOO_LARGE, Failure.DIVISION, Failure.PATTERN

ENTRIES = (
    # Logic.
    OperatorEntry("AND, OR", K.LOGIC, is_truth=True),
    OperatorEntry("NOT", K.LOGIC, is_strict=True, is_truth=True),
    OperatorEntry("IS NULL", K.NULL_TEST, is_truth=True),
    OperatorEntry("IS UNKNOWN", K.REWRITTEN, call_on_all("IS NULL"), is_truth=True),
    OperatorEntry(
        "IS TRUE", K.REWRITTEN, call("AND", call_on_all("IS NOT NULL"), FIRST), is_truth=True
    ),
    OperatorEntry(
        "IS FALSE",
        K.REWRITTEN,
        call("AND", call_on_all("IS NOT NULL"), call_on_all("NOT")),
        is_truth=True,
    ),
    *(
        OperatorEntry(
            f"IS NOT {word}", K.REWRITTEN, call("NOT", call_on_all(f"IS {word}")), is_truth=True
        )
        for word in ("NULL", "UNKNOWN", "TRUE", "FALSE")
    ),
    OperatorEntry(
        "ISNULL", K.REWRITTEN, call_on_all("IS NULL"), arguments=ONE, is_truth=True, is_quick=True
    ),
    OperatorEntry(
        "ISNOTNULL",
        K.REWRITTEN,
        call("NOT", call_on_all("IS NULL")),
        arguments=ONE,
        is_truth=True,
        is_quick=True,
    ),
    # Comparisons.
    OperatorEntry(
        "=, <>, <, <=, >, >=", K.COMPARISON, is_strict=True, operands=COMPARED, is_truth=True
    ),
    OperatorEntry("<=>", K.COMPARISON, operands=COMPARED, is_truth=True),
    OperatorEntry(
        "IS NOT DISTINCT FROM", K.REWRITTEN, call_on_all("<=>"), operands=COMPARED, is_truth=True
    ),
    OperatorEntry(
        "IS DISTINCT FROM",
        K.REWRITTEN,
        call("NOT", call_on_all("<=>")),
        operands=COMPARED,
        is_truth=True,
    ),
    OperatorEntry(
        "EQUAL_NULL",
        K.REWRITTEN,
        call_on_all("<=>"),
        arguments=TWO,
        operands=COMPARED,
        is_truth=True,
    ),
    OperatorEntry(
        "BETWEEN",
        K.REWRITTEN,
        call("AND", call(">=", FIRST, SECOND), call("<=", FIRST, THIRD)),
        operands=COMPARED,
        is_truth=True,
    ),
    OperatorEntry("NOT BETWEEN", K.REWRITTEN, call("NOT", call_on_all("BETWEEN")), is_truth=True),
    OperatorEntry("IN", K.REWRITTEN, build_membership, operands=COMPARED, is_truth=True),
    OperatorEntry("NOT IN", K.REWRITTEN, call("NOT", call_on_all("IN")), is_truth=True),
    # Arithmetic.
    OperatorEntry(
        "+, -, *, NEG", K.ARITHMETIC, failure=TOO_LARGE, is_strict=True, operands=COMPUTED
    ),
    OperatorEntry("/, %", K.ARITHMETIC, failure=DIVISION, is_strict=True, operands=COMPUTED),
    OperatorEntry("DIV", K.ARITHMETIC, failure=DIVISION, is_strict=True),
    OperatorEntry(
        "MOD",
        K.REWRITTEN,
        call_on_all("%"),
        failure=DIVISION,
        arguments=TWO,
        is_strict=True,
        operands=COMPUTED,
    ),
    OperatorEntry(
        "PMOD", K.FUNCTION, failure=DIVISION, arguments=TWO, is_strict=True, operands=COMPUTED
    ),
    OperatorEntry(
        "NEGATIVE",
        K.REWRITTEN,
        call_on_all("NEG"),
        failure=TOO_LARGE,
        arguments=ONE,
        is_strict=True,
        operands=COMPUTED,
    ),
    OperatorEntry(
        "ABS",
        K.REWRITTEN,
        # NULL and NaN stay as they are.
        call("IF", call("<", FIRST, call("NEG", FIRST)), call("NEG", FIRST), FIRST),
        failure=TOO_LARGE,
        arguments=ONE,
        is_strict=True,
        operands=COMPUTED,
        is_quick=True,
    ),
    OperatorEntry("TRY_ADD", K.TRY, target="+", arguments=TWO),
    OperatorEntry("TRY_SUBTRACT", K.TRY, target="-", arguments=TWO),
    OperatorEntry("TRY_MULTIPLY", K.TRY, target="*", arguments=TWO),
    OperatorEntry("TRY_DIVIDE", K.TRY, target="/", arguments=TWO),
    OperatorEntry("TRY_MOD", K.TRY, target="%", arguments=TWO),
    # Mathematical functions.
    *(
        OperatorEntry(name, K.MATHEMATICS, target=name)
        for name in (
            *("SQRT", "EXP", "LN", "LOG", "LOG2", "LOG10", "POWER", "SIGN", "RADIANS"),
            *("SIN", "COS", "ASIN", "ACOS"),
        )
    ),
    OperatorEntry("POW", K.MATHEMATICS, target="POWER"),
    OperatorEntry("SIGNUM", K.MATHEMATICS, target="SIGN"),
    OperatorEntry("FLOOR", K.MATHEMATICS, target="FLOOR", failure=TOO_LARGE),
    OperatorEntry("CEIL, CEILING", K.MATHEMATICS, target="CEIL", failure=TOO_LARGE),
    OperatorEntry("ROUND", K.MATHEMATICS, target="ROUND", failure=Failure.POSSIBLE),
    OperatorEntry("ISNAN", K.MATHEMATICS, arguments=ONE, is_truth=True, is_quick=True),
    # Operators on bits.
    OperatorEntry("&, |, ^, ~, <<, >>", K.FUNCTION, is_strict=True),
    OperatorEntry(
        "SHIFTLEFT, SHIFTRIGHT, SHIFTRIGHTUNSIGNED",
        K.FUNCTION,
        failure=Failure.POSSIBLE,
        arguments=TWO,
        is_strict=True,
    ),
    # Choices.
    OperatorEntry("IF", K.CHOICE, arguments=THREE, operands=BRANCHES),
    OperatorEntry("CASE", K.REWRITTEN, build_case, operands=BRANCHES),
    OperatorEntry("CASE OF", K.REWRITTEN, build_compared_case("="), operands=BRANCHES),
    OperatorEntry(
        "DECODE",
        K.REWRITTEN,
        build_compared_case("<=>"),
        failure=Failure.OTHER_CALLS,
        arguments=AT_LEAST_THREE,
        operands=BRANCHES,
    ),
    OperatorEntry("COALESCE", K.REWRITTEN, build_coalesce, operands=CHOSEN),
    OperatorEntry("NVL, IFNULL", K.REWRITTEN, build_coalesce, arguments=TWO, operands=CHOSEN),
    OperatorEntry(
        "NVL2", K.REWRITTEN, call("IF", call("IS NOT NULL", FIRST), SECOND, THIRD), arguments=THREE
    ),
    OperatorEntry(
        "NANVL",
        K.REWRITTEN,
        call("IF", call("ISNAN", FIRST), SECOND, FIRST),
        arguments=TWO,
        operands=CHOSEN,
    ),
    OperatorEntry(
        "NULLIF",
        K.REWRITTEN,
        call(
            "IF",
            call("OR", call("IS NULL", call_on_all("=")), call("NOT", call_on_all("="))),
            FIRST,
        ),
        arguments=TWO,
    ),
    OperatorEntry("NULLIFZERO", K.REWRITTEN, call("NULLIF", FIRST, ZERO), arguments=ONE),
    OperatorEntry("ZEROIFNULL", K.REWRITTEN, call("COALESCE", FIRST, ZERO), arguments=ONE),
    OperatorEntry(
        "GREATEST", K.REWRITTEN, build_extreme(">"), arguments=AT_LEAST_TWO, operands=CHOSEN
    ),
    OperatorEntry(
        "LEAST", K.REWRITTEN, build_extreme("<"), arguments=AT_LEAST_TWO, operands=CHOSEN
    ),
    # Dates.
    OperatorEntry("DATEDIFF", K.DAYS, arguments=TWO),
    OperatorEntry("DATE_DIFF", K.REWRITTEN, call_on_all("DATEDIFF"), arguments=TWO),
    OperatorEntry("DATE_ADD", K.REWRITTEN, call_on_all("+"), arguments=TWO),
    OperatorEntry(
        "DATEADD", K.REWRITTEN, call_on_all("+"), failure=Failure.OTHER_CALLS, arguments=TWO
    ),
    OperatorEntry("DATE_SUB", K.REWRITTEN, call_on_all("-"), arguments=TWO),
    # Casts, and functions that are a cast to one type.
    OperatorEntry("CAST", K.FUNCTION, failure=Failure.CAST),
    *(
        OperatorEntry(type_name, K.CAST, target=type_name, failure=Failure.CAST, arguments=ONE)
        for type_name in (
            *("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"),
            *("STRING", "BOOLEAN", "DATE"),
        )
    ),
    OperatorEntry("TO_DATE", K.CAST, target="DATE", failure=Failure.CAST, arguments=ONE),
    OperatorEntry("TO_TIMESTAMP", K.CAST, target="TIMESTAMP", failure=Failure.CAST, arguments=ONE),
    # Whatever TIMESTAMP means in the session.
    OperatorEntry("TIMESTAMP", K.CAST, target="TIMESTAMP_LTZ", failure=Failure.CAST, arguments=ONE),
    # Texts and arrays.
    OperatorEntry("||, CONCAT", K.FUNCTION, is_strict=True),
    OperatorEntry("LIKE, ILIKE", K.FUNCTION, failure=PATTERN, is_strict=True, is_truth=True),
    OperatorEntry(
        "NOT LIKE", K.REWRITTEN, call("NOT", call_on_all("LIKE")), failure=PATTERN, is_truth=True
    ),
    OperatorEntry(
        "NOT ILIKE, RLIKE, NOT RLIKE, REGEXP", K.FUNCTION, failure=PATTERN, is_truth=True
    ),
    OperatorEntry("REGEXP_LIKE", K.FUNCTION, failure=Failure.POSSIBLE, is_truth=True),
    OperatorEntry("CONTAINS, STARTSWITH, ENDSWITH", K.FUNCTION, is_truth=True),
    OperatorEntry("LENGTH, CHAR_LENGTH", K.FUNCTION, is_quick=True),
    OperatorEntry("SIZE, CARDINALITY, ARRAY_SIZE", K.FUNCTION, is_quick=True),
)

OPERATORS: Mapping[str, OperatorEntry] = {
    name: entry for entry in ENTRIES for name in entry.names.split(", ")
}


def is_operation(function: str, arguments: int) -> bool:
    """Return whether a call with this number of arguments is an operation, not opaque text.

    >>> is_operation("NULLIF", 2), is_operation("NULLIF", 3), is_operation("UPPER", 1)
    (True, False, True)
    """
    entry = OPERATORS.get(function)
    count = ANY_NUMBER if entry is None else entry.arguments
    return count.allows(arguments)


def find_operator_names(*kinds: OperatorKind) -> frozenset[str]:
    """Return the names of all operators of some kinds."""
    return frozenset(name for name, entry in OPERATORS.items() if entry.kind in kinds)


def find_operators_with_operands(operands: Operands) -> frozenset[str]:
    """Return the names of all operators whose operands the engine brings to one type this way."""
    return frozenset(name for name, entry in OPERATORS.items() if entry.operands is operands)


def find_failing_operators(failure: Failure) -> frozenset[str]:
    """Return the names of all operators that can fail in this way."""
    return frozenset(name for name, entry in OPERATORS.items() if entry.failure is failure)


# The operators that the search computes itself, so that they are not rewritten.
BASIC_OPERATORS = find_operator_names(
    K.LOGIC, K.COMPARISON, K.ARITHMETIC, K.DAYS, K.NULL_TEST, K.CHOICE
)
