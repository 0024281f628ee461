"""The table of operators: what every stage knows about an operator or a function, in one entry.

A function that only Python computes needs no entry here. It has one in `conditions.functions`, and
`words.txt` says whether it can fail. Operators have entries here, and so have functions that the
parser, the typing rules or the kernels treat specially.

    column       question                                                 read by
    kind         who computes it over several rows, and how is it typed?  conditions
    form         which other operations have the same value?              conditions.residual
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
from typing import Any


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
    # Arithmetic that returns NULL if the operator `form` would raise an error.
    TRY = "arithmetic that raises no error"
    # A compiled function of floats: the `run_condition.MathFunction` with the name `form`.
    MATHEMATICS = "a mathematical function"
    # Other operations, as `form` says.
    REWRITTEN = "other operations"
    # A cast to the type `form`.
    CAST = "a cast"
    # Python computes it if `conditions.functions` has it. Otherwise only Spark or Sail computes it,
    # so its operands cannot come from rows that only a run knows.
    FUNCTION = "a function of Spark"


class Failure(Enum):
    """Whether an operation can raise an error in ANSI mode if its operands have the right types."""

    NEVER = "never"
    # The types say more, see `conditions.typing.typer.may_fail`.
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


# The form of an operation that is rewritten as other operations:
#
#     a tuple     an operation: its operator, then the forms of its operands
#     a number    the operand with that index
#     a name      that operation on all operands
#     ZERO_FORM   the number zero
#
# If the form depends on the number of operands, a function builds it from them: a `Rewriting`. Its
# second argument is a function that builds an operation from an operator and its operands.
Form = str | int | tuple[Any, ...]
Combine = Callable[..., Any]
Rewriting = Callable[[Sequence[Any], Combine], Any]

ZERO_FORM = "0"


def build_form(form: Form | Rewriting, operands: Sequence[Any], combine: Combine) -> Any:
    """Apply a form to operands, and return the operation.

    >>> def combine(operator, *operands):
    ...     return f"{operator}({', '.join(operands)})"
    >>> build_form(("IF", ("IS NULL", 0), 1, 0), ["a", "b"], combine)
    'IF(IS NULL(a), b, a)'
    >>> build_form("MOD", ["a", "b"], combine)
    'MOD(a, b)'

    Args:
        form: the form, or the function that builds it.
        operands: the operands.
        combine: builds an operation from an operator and its operands.
    """
    match form:
        case int():
            return operands[form]
        case str() if form == ZERO_FORM:
            return combine(ZERO_FORM)
        case str():
            return combine(form, *operands)
        case tuple():
            operator, *forms = form
            return combine(operator, *(build_form(part, operands, combine) for part in forms))
        case _:
            return form(operands, combine)


def build_coalesce(operands: Sequence[Any], combine: Combine) -> Any:
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
    take_second = ("OR", ("IS NULL", 0), (comparison, 1, 0))
    extreme_form = ("IF", ("IS NULL", 1), 0, ("IF", take_second, 1, 0))

    def build(operands: Sequence[Any], combine: Combine) -> Any:
        """Return the extreme of the operands, built from the extremes of both halves."""
        # The form repeats each of its two operands. Combining halves, rather than one operand after
        # the other, keeps the depth low, and so the number of repetitions.
        if len(operands) == 1:
            return operands[0]
        middle = len(operands) // 2
        halves = (build(operands[:middle], combine), build(operands[middle:], combine))
        return build_form(extreme_form, halves, combine)

    return build


def build_membership(operands: Sequence[Any], combine: Combine) -> Any:
    """Return `x IN (a, b)` as `x = a OR x = b`."""
    value, *candidates = operands
    return combine("OR", *(combine("=", value, candidate) for candidate in candidates))


def build_case(operands: Sequence[Any], combine: Combine) -> Any:
    """Return CASE WHEN a THEN x WHEN b THEN y ELSE z END as IF(a, x, IF(b, y, z)).

    The operands are a, x, b, y, z. Without ELSE, the last IF has no third operand.
    """
    others = operands[2:]
    if len(others) > 1:
        others = (build_case(others, combine),)
    return combine("IF", *operands[:2], *others)


def build_compared_case(comparison: str) -> Rewriting:
    """Return the rewriting of a CASE that compares one value with others.

    Args:
        comparison: `=` for CASE x WHEN a THEN y ELSE z END; `<=>` for DECODE(x, a, y, z), which
            also finds NULL. The operands are x, a, y, z, and the conditions become x = a.
    """

    def build(operands: Sequence[Any], combine: Combine) -> Any:
        """Return a CASE whose branches are conditions that compare the value."""
        value, *branches = operands
        for index in range(0, len(branches) - 1, 2):
            branches[index] = combine(comparison, value, branches[index])
        return combine("CASE", *branches)

    return build


# Numbers of arguments: the least, and the most; None for no limit.
ANY_NUMBER = (1, None)
ONE, TWO, THREE = (1, 1), (2, 2), (3, 3)
AT_LEAST_TWO, AT_LEAST_THREE = (2, None), (3, None)


@dataclass(frozen=True, slots=True)
class OperatorEntry:
    """What every stage knows about an operator. The module explains the columns."""

    # The operator, in upper case. Several operators with the same entry have commas between them.
    names: str
    kind: OperatorKind
    # For TRY the operator, for MATHEMATICS the name of the compiled function, for CAST the type.
    form: Form | Rewriting | None = None
    failure: Failure = Failure.NEVER
    # The least and the most number of arguments of a call, None for no limit. A call with another
    # number of arguments is opaque text.
    arguments: tuple[int, int | None] = ANY_NUMBER
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
    OperatorEntry("IS UNKNOWN", K.REWRITTEN, "IS NULL", is_truth=True),
    OperatorEntry("IS TRUE", K.REWRITTEN, ("AND", "IS NOT NULL", 0), is_truth=True),
    OperatorEntry("IS FALSE", K.REWRITTEN, ("AND", "IS NOT NULL", "NOT"), is_truth=True),
    *(
        OperatorEntry(f"IS NOT {word}", K.REWRITTEN, ("NOT", f"IS {word}"), is_truth=True)
        for word in ("NULL", "UNKNOWN", "TRUE", "FALSE")
    ),
    OperatorEntry("ISNULL", K.REWRITTEN, "IS NULL", arguments=ONE, is_truth=True, is_quick=True),
    OperatorEntry(
        "ISNOTNULL", K.REWRITTEN, ("NOT", "IS NULL"), arguments=ONE, is_truth=True, is_quick=True
    ),
    # Comparisons.
    OperatorEntry(
        "=, <>, <, <=, >, >=", K.COMPARISON, is_strict=True, operands=COMPARED, is_truth=True
    ),
    OperatorEntry("<=>", K.COMPARISON, operands=COMPARED, is_truth=True),
    OperatorEntry("IS NOT DISTINCT FROM", K.REWRITTEN, "<=>", operands=COMPARED, is_truth=True),
    OperatorEntry(
        "IS DISTINCT FROM", K.REWRITTEN, ("NOT", "<=>"), operands=COMPARED, is_truth=True
    ),
    OperatorEntry(
        "EQUAL_NULL", K.REWRITTEN, "<=>", arguments=TWO, operands=COMPARED, is_truth=True
    ),
    OperatorEntry(
        "BETWEEN",
        K.REWRITTEN,
        ("AND", (">=", 0, 1), ("<=", 0, 2)),
        operands=COMPARED,
        is_truth=True,
    ),
    OperatorEntry("NOT BETWEEN", K.REWRITTEN, ("NOT", "BETWEEN"), is_truth=True),
    OperatorEntry("IN", K.REWRITTEN, build_membership, operands=COMPARED, is_truth=True),
    OperatorEntry("NOT IN", K.REWRITTEN, ("NOT", "IN"), is_truth=True),
    # Arithmetic.
    OperatorEntry(
        "+, -, *, NEG", K.ARITHMETIC, failure=TOO_LARGE, is_strict=True, operands=COMPUTED
    ),
    OperatorEntry("/, %", K.ARITHMETIC, failure=DIVISION, is_strict=True, operands=COMPUTED),
    OperatorEntry("DIV", K.ARITHMETIC, failure=DIVISION, is_strict=True),
    OperatorEntry(
        "MOD", K.REWRITTEN, "%", failure=DIVISION, arguments=TWO, is_strict=True, operands=COMPUTED
    ),
    OperatorEntry(
        "PMOD", K.FUNCTION, failure=DIVISION, arguments=TWO, is_strict=True, operands=COMPUTED
    ),
    OperatorEntry(
        "NEGATIVE",
        K.REWRITTEN,
        "NEG",
        failure=TOO_LARGE,
        arguments=ONE,
        is_strict=True,
        operands=COMPUTED,
    ),
    OperatorEntry(
        "ABS",
        K.REWRITTEN,
        ("IF", ("<", 0, ("NEG", 0)), ("NEG", 0), 0),  # NULL and NaN stay as they are
        failure=TOO_LARGE,
        arguments=ONE,
        is_strict=True,
        operands=COMPUTED,
        is_quick=True,
    ),
    OperatorEntry("TRY_ADD", K.TRY, "+", arguments=TWO),
    OperatorEntry("TRY_SUBTRACT", K.TRY, "-", arguments=TWO),
    OperatorEntry("TRY_MULTIPLY", K.TRY, "*", arguments=TWO),
    OperatorEntry("TRY_DIVIDE", K.TRY, "/", arguments=TWO),
    OperatorEntry("TRY_MOD", K.TRY, "%", arguments=TWO),
    # Mathematical functions.
    *(
        OperatorEntry(name, K.MATHEMATICS, name)
        for name in (
            *("SQRT", "EXP", "LN", "LOG", "LOG2", "LOG10", "POWER", "SIGN", "RADIANS"),
            *("SIN", "COS", "ASIN", "ACOS"),
        )
    ),
    OperatorEntry("POW", K.MATHEMATICS, "POWER"),
    OperatorEntry("SIGNUM", K.MATHEMATICS, "SIGN"),
    OperatorEntry("FLOOR", K.MATHEMATICS, "FLOOR", failure=TOO_LARGE),
    OperatorEntry("CEIL, CEILING", K.MATHEMATICS, "CEIL", failure=TOO_LARGE),
    OperatorEntry("ROUND", K.MATHEMATICS, "ROUND", failure=Failure.POSSIBLE),
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
    OperatorEntry("NVL2", K.REWRITTEN, ("IF", ("IS NOT NULL", 0), 1, 2), arguments=THREE),
    OperatorEntry("NANVL", K.REWRITTEN, ("IF", ("ISNAN", 0), 1, 0), arguments=TWO, operands=CHOSEN),
    OperatorEntry(
        "NULLIF", K.REWRITTEN, ("IF", ("OR", ("IS NULL", "="), ("NOT", "=")), 0), arguments=TWO
    ),
    OperatorEntry("NULLIFZERO", K.REWRITTEN, ("NULLIF", 0, ZERO_FORM), arguments=ONE),
    OperatorEntry("ZEROIFNULL", K.REWRITTEN, ("COALESCE", 0, ZERO_FORM), arguments=ONE),
    OperatorEntry(
        "GREATEST", K.REWRITTEN, build_extreme(">"), arguments=AT_LEAST_TWO, operands=CHOSEN
    ),
    OperatorEntry(
        "LEAST", K.REWRITTEN, build_extreme("<"), arguments=AT_LEAST_TWO, operands=CHOSEN
    ),
    # Dates.
    OperatorEntry("DATEDIFF", K.DAYS, arguments=TWO),
    OperatorEntry("DATE_DIFF", K.REWRITTEN, "DATEDIFF", arguments=TWO),
    OperatorEntry("DATE_ADD", K.REWRITTEN, "+", arguments=TWO),
    OperatorEntry("DATEADD", K.REWRITTEN, "+", failure=Failure.OTHER_CALLS, arguments=TWO),
    OperatorEntry("DATE_SUB", K.REWRITTEN, "-", arguments=TWO),
    # Casts, and functions that are a cast to one type.
    OperatorEntry("CAST", K.FUNCTION, failure=Failure.CAST),
    *(
        OperatorEntry(type_name, K.CAST, type_name, failure=Failure.CAST, arguments=ONE)
        for type_name in (
            *("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"),
            *("STRING", "BOOLEAN", "DATE"),
        )
    ),
    OperatorEntry("TO_DATE", K.CAST, "DATE", failure=Failure.CAST, arguments=ONE),
    OperatorEntry("TO_TIMESTAMP", K.CAST, "TIMESTAMP", failure=Failure.CAST, arguments=ONE),
    # Whatever TIMESTAMP means in the session.
    OperatorEntry("TIMESTAMP", K.CAST, "TIMESTAMP_LTZ", failure=Failure.CAST, arguments=ONE),
    # Texts and arrays.
    OperatorEntry("||, CONCAT", K.FUNCTION, is_strict=True),
    OperatorEntry("LIKE, ILIKE", K.FUNCTION, failure=PATTERN, is_strict=True, is_truth=True),
    OperatorEntry("NOT LIKE", K.REWRITTEN, ("NOT", "LIKE"), failure=PATTERN, is_truth=True),
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
    least, most = ANY_NUMBER if entry is None else entry.arguments
    return least <= arguments and (most is None or arguments <= most)


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
