"""The table of operators: all facts about an operator or a function, in one entry.

`ENTRIES` is the table, `OPERATORS` looks up an entry by the name of an operator, and the fields of
`OperatorEntry` are the columns:

    column                                   what is decided by it
    kind, form, the three after `form`       who computes an operation, and its type
    failure                                  whether a condition needs a guard
    arguments                                whether a call is an operation or opaque text
    is_strict, is_truth                      which rewrites keep the value
    coercion                                 the casts for Sail, and the errors about operands
    is_quick                                 whether a condition can be evaluated twice

A function that only Python computes has no entry here but in `conditions.functions`, and the list
NEVER FAILING of `words.txt` says whether it can fail. The operators have entries here, and so have
the functions that the parser, the typing rules or the kernels treat specially.

The code that computes a value is in three places, because it is written for three kinds of values:
`conditions.evaluate.kernels` for one value in compiled code, `conditions.evaluate.vectors` for the
values of all rows in NumPy, and `conditions.functions` for objects of Python.

Source: the semantics of each function as Spark SQL documents it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from matchrec.plan.forms import (
    FIRST,
    SECOND,
    THIRD,
    ZERO,
    Form,
    FormFunction,
    build_case,
    build_coalesce,
    build_membership,
    make_compared_case_form,
    make_extreme_form,
    make_form,
    make_same_operands_form,
)


class OperatorKind(Enum):
    """The kind of an operation: who computes it over several rows of a match, and how it is typed.

    The engine computes every operation over a single row.
    """

    # The first six kinds are instructions of kernels. NumPy computes them over neighbouring rows,
    # and Python if only Python has the value of an operand.
    LOGIC = "three-valued logic"
    COMPARISON = "a comparison of two values of one type"
    ARITHMETIC = "arithmetic of numbers, times and intervals"
    DAYS = "a number of days"
    NULL_TEST = "IS NULL"
    CHOICE = "IF"
    # Arithmetic that returns NULL if `tried_operator` would raise an error.
    TRY = "arithmetic that raises no error"
    # A compiled function of floats: the `run_condition.MathFunction` with the value
    # `math_function`, or ISNAN, which becomes a comparison.
    MATHEMATICS = "a mathematical function"
    # The operations that `form` builds.
    REWRITTEN = "other operations"
    # A cast to the type `cast_type`.
    CAST = "a cast"
    # Python computes the function if `conditions.functions` has it. Otherwise only the engine does,
    # so the operands cannot come from rows that only a run knows.
    FUNCTION = "a function of Spark"


class Failure(Enum):
    """The cases in which an operation with operands of the right types fails in ANSI mode."""

    NEVER = "never"
    # The type of the result says more: see `conditions.typing.failures`.
    TOO_LARGE = "if the result is too large for its type"
    DIVISION = "as TOO_LARGE, and if the divisor is zero"
    PATTERN = (
        "if the pattern has a wrong escape; a literal pattern is checked before the query runs"
    )
    CAST = "if the value has no equivalent in the other type"
    # The calls that can fail are not operations, because their number of arguments differs:
    # DECODE(bytes, charset).
    OTHER_CALLS = "only in calls with other arguments"
    POSSIBLE = "for some values"


class Coercion(Enum):
    """The operands of an operation that the engine casts to one common type."""

    NONE = "none"
    COMPARED = "all, to compare them"
    COMPUTED = "all, to compute with them"
    CHOSEN = "all, since one of them is the value"
    BRANCHES = "the results, and the compared values: see `expression.split_branches`"


@dataclass(frozen=True, slots=True)
class ArgumentLimits:
    """The limits of the number of arguments that a call can have."""

    least: int
    # None if there is no upper limit.
    most: int | None = None

    def allows_count(self, count: int) -> bool:
        """Return whether a call can have this number of arguments."""
        return self.least <= count and (self.most is None or count <= self.most)


# At least one argument.
ANY_NUMBER = ArgumentLimits(1)
ONE = ArgumentLimits(1, 1)
TWO = ArgumentLimits(2, 2)
THREE = ArgumentLimits(3, 3)
AT_LEAST_TWO = ArgumentLimits(2)
AT_LEAST_THREE = ArgumentLimits(3)


@dataclass(frozen=True, slots=True)
class OperatorEntry:
    """An entry of the table: all facts about an operator or a function."""

    # The operators or functions that the entry describes, in upper case and separated by ", ".
    names: str
    # Who computes the operation over several rows, and how it is typed.
    kind: OperatorKind
    # For REWRITTEN: the operations that have the same value. None for the other kinds.
    form: Form | FormFunction | None = None
    # For TRY: the operator with the same value, which can raise an error.
    tried_operator: str | None = None
    # For MATHEMATICS: the value of a `run_condition.MathFunction`. None for ISNAN.
    math_function: str | None = None
    # For CAST: the name of the type.
    cast_type: str | None = None
    # When the operation raises an error in ANSI mode, apart from errors in its operands.
    failure: Failure = Failure.NEVER
    # How many arguments a call can have. A call with another number of arguments is opaque text.
    arguments: ArgumentLimits = ANY_NUMBER
    # Whether the operation is always NULL if an operand is NULL.
    is_strict: bool = False
    # Which operands the engine casts to one type.
    coercion: Coercion = Coercion.NONE
    # Whether the value is always TRUE, FALSE or NULL.
    is_truth: bool = False
    # For a function: whether its time can be neglected. Operators are always quick, so they have
    # False here.
    is_quick: bool = False


# Short names, so that the table can be read.
COMPARED, COMPUTED = Coercion.COMPARED, Coercion.COMPUTED
CHOSEN, BRANCHES = Coercion.CHOSEN, Coercion.BRANCHES
TOO_LARGE, DIVISION, PATTERN = Failure.TOO_LARGE, Failure.DIVISION, Failure.PATTERN

ENTRIES = (
    # Logic.
    OperatorEntry("AND, OR", OperatorKind.LOGIC, is_truth=True),
    OperatorEntry("NOT", OperatorKind.LOGIC, is_strict=True, is_truth=True),
    OperatorEntry("IS NULL", OperatorKind.NULL_TEST, is_truth=True),
    OperatorEntry(
        "IS UNKNOWN", OperatorKind.REWRITTEN, make_same_operands_form("IS NULL"), is_truth=True
    ),
    OperatorEntry(
        "IS TRUE",
        OperatorKind.REWRITTEN,
        make_form("AND", make_same_operands_form("IS NOT NULL"), FIRST),
        is_truth=True,
    ),
    OperatorEntry(
        "IS FALSE",
        OperatorKind.REWRITTEN,
        make_form("AND", make_same_operands_form("IS NOT NULL"), make_same_operands_form("NOT")),
        is_truth=True,
    ),
    *(
        OperatorEntry(
            f"IS NOT {word}",
            OperatorKind.REWRITTEN,
            make_form("NOT", make_same_operands_form(f"IS {word}")),
            is_truth=True,
        )
        for word in ("NULL", "UNKNOWN", "TRUE", "FALSE")
    ),
    OperatorEntry(
        "ISNULL",
        OperatorKind.REWRITTEN,
        make_same_operands_form("IS NULL"),
        arguments=ONE,
        is_truth=True,
        is_quick=True,
    ),
    OperatorEntry(
        "ISNOTNULL",
        OperatorKind.REWRITTEN,
        make_form("NOT", make_same_operands_form("IS NULL")),
        arguments=ONE,
        is_truth=True,
        is_quick=True,
    ),
    # Comparisons.
    OperatorEntry(
        "=, <>, <, <=, >, >=",
        OperatorKind.COMPARISON,
        is_strict=True,
        coercion=COMPARED,
        is_truth=True,
    ),
    OperatorEntry("<=>", OperatorKind.COMPARISON, coercion=COMPARED, is_truth=True),
    OperatorEntry(
        "IS NOT DISTINCT FROM",
        OperatorKind.REWRITTEN,
        make_same_operands_form("<=>"),
        coercion=COMPARED,
        is_truth=True,
    ),
    OperatorEntry(
        "IS DISTINCT FROM",
        OperatorKind.REWRITTEN,
        make_form("NOT", make_same_operands_form("<=>")),
        coercion=COMPARED,
        is_truth=True,
    ),
    OperatorEntry(
        "EQUAL_NULL",
        OperatorKind.REWRITTEN,
        make_same_operands_form("<=>"),
        arguments=TWO,
        coercion=COMPARED,
        is_truth=True,
    ),
    OperatorEntry(
        "BETWEEN",
        OperatorKind.REWRITTEN,
        make_form("AND", make_form(">=", FIRST, SECOND), make_form("<=", FIRST, THIRD)),
        coercion=COMPARED,
        is_truth=True,
    ),
    OperatorEntry(
        "NOT BETWEEN",
        OperatorKind.REWRITTEN,
        make_form("NOT", make_same_operands_form("BETWEEN")),
        is_truth=True,
    ),
    OperatorEntry("IN", OperatorKind.REWRITTEN, build_membership, coercion=COMPARED, is_truth=True),
    OperatorEntry(
        "NOT IN",
        OperatorKind.REWRITTEN,
        make_form("NOT", make_same_operands_form("IN")),
        is_truth=True,
    ),
    # Arithmetic.
    OperatorEntry(
        "+, -, *, NEG",
        OperatorKind.ARITHMETIC,
        failure=TOO_LARGE,
        is_strict=True,
        coercion=COMPUTED,
    ),
    OperatorEntry(
        "/, %", OperatorKind.ARITHMETIC, failure=DIVISION, is_strict=True, coercion=COMPUTED
    ),
    OperatorEntry("DIV", OperatorKind.ARITHMETIC, failure=DIVISION, is_strict=True),
    OperatorEntry(
        "MOD",
        OperatorKind.REWRITTEN,
        make_same_operands_form("%"),
        failure=DIVISION,
        arguments=TWO,
        is_strict=True,
        coercion=COMPUTED,
    ),
    OperatorEntry(
        "PMOD",
        OperatorKind.FUNCTION,
        failure=DIVISION,
        arguments=TWO,
        is_strict=True,
        coercion=COMPUTED,
    ),
    OperatorEntry(
        "NEGATIVE",
        OperatorKind.REWRITTEN,
        make_same_operands_form("NEG"),
        failure=TOO_LARGE,
        arguments=ONE,
        is_strict=True,
        coercion=COMPUTED,
    ),
    OperatorEntry(
        "ABS",
        OperatorKind.REWRITTEN,
        # The comparison is not true for NULL and NaN, so they stay as they are.
        make_form(
            "IF", make_form("<", FIRST, make_form("NEG", FIRST)), make_form("NEG", FIRST), FIRST
        ),
        failure=TOO_LARGE,
        arguments=ONE,
        is_strict=True,
        coercion=COMPUTED,
        is_quick=True,
    ),
    OperatorEntry("TRY_ADD", OperatorKind.TRY, tried_operator="+", arguments=TWO),
    OperatorEntry("TRY_SUBTRACT", OperatorKind.TRY, tried_operator="-", arguments=TWO),
    OperatorEntry("TRY_MULTIPLY", OperatorKind.TRY, tried_operator="*", arguments=TWO),
    OperatorEntry("TRY_DIVIDE", OperatorKind.TRY, tried_operator="/", arguments=TWO),
    OperatorEntry("TRY_MOD", OperatorKind.TRY, tried_operator="%", arguments=TWO),
    # Mathematical functions.
    *(
        OperatorEntry(name, OperatorKind.MATHEMATICS, math_function=name)
        for name in (
            *("SQRT", "EXP", "LN", "LOG", "LOG2", "LOG10", "POWER", "SIGN", "RADIANS"),
            *("SIN", "COS", "ASIN", "ACOS"),
        )
    ),
    OperatorEntry("POW", OperatorKind.MATHEMATICS, math_function="POWER"),
    OperatorEntry("SIGNUM", OperatorKind.MATHEMATICS, math_function="SIGN"),
    OperatorEntry("FLOOR", OperatorKind.MATHEMATICS, math_function="FLOOR", failure=TOO_LARGE),
    OperatorEntry(
        "CEIL, CEILING", OperatorKind.MATHEMATICS, math_function="CEIL", failure=TOO_LARGE
    ),
    OperatorEntry(
        "ROUND", OperatorKind.MATHEMATICS, math_function="ROUND", failure=Failure.POSSIBLE
    ),
    OperatorEntry("ISNAN", OperatorKind.MATHEMATICS, arguments=ONE, is_truth=True, is_quick=True),
    # Operators on bits.
    OperatorEntry("&, |, ^, ~, <<, >>", OperatorKind.FUNCTION, is_strict=True),
    OperatorEntry(
        "SHIFTLEFT, SHIFTRIGHT, SHIFTRIGHTUNSIGNED",
        OperatorKind.FUNCTION,
        failure=Failure.POSSIBLE,
        arguments=TWO,
        is_strict=True,
    ),
    # Choices.
    OperatorEntry("IF", OperatorKind.CHOICE, arguments=THREE, coercion=BRANCHES),
    OperatorEntry("CASE", OperatorKind.REWRITTEN, build_case, coercion=BRANCHES),
    OperatorEntry(
        "CASE OF", OperatorKind.REWRITTEN, make_compared_case_form("="), coercion=BRANCHES
    ),
    OperatorEntry(
        "DECODE",
        OperatorKind.REWRITTEN,
        make_compared_case_form("<=>"),
        failure=Failure.OTHER_CALLS,
        arguments=AT_LEAST_THREE,
        coercion=BRANCHES,
    ),
    OperatorEntry("COALESCE", OperatorKind.REWRITTEN, build_coalesce, coercion=CHOSEN),
    OperatorEntry(
        "NVL, IFNULL", OperatorKind.REWRITTEN, build_coalesce, arguments=TWO, coercion=CHOSEN
    ),
    OperatorEntry(
        "NVL2",
        OperatorKind.REWRITTEN,
        make_form("IF", make_form("IS NOT NULL", FIRST), SECOND, THIRD),
        arguments=THREE,
    ),
    OperatorEntry(
        "NANVL",
        OperatorKind.REWRITTEN,
        make_form("IF", make_form("ISNAN", FIRST), SECOND, FIRST),
        arguments=TWO,
        coercion=CHOSEN,
    ),
    OperatorEntry(
        "NULLIF",
        OperatorKind.REWRITTEN,
        make_form(
            "IF",
            make_form(
                "OR",
                make_form("IS NULL", make_same_operands_form("=")),
                make_form("NOT", make_same_operands_form("=")),
            ),
            FIRST,
        ),
        arguments=TWO,
    ),
    OperatorEntry(
        "NULLIFZERO", OperatorKind.REWRITTEN, make_form("NULLIF", FIRST, ZERO), arguments=ONE
    ),
    OperatorEntry(
        "ZEROIFNULL", OperatorKind.REWRITTEN, make_form("COALESCE", FIRST, ZERO), arguments=ONE
    ),
    OperatorEntry(
        "GREATEST",
        OperatorKind.REWRITTEN,
        make_extreme_form(">"),
        arguments=AT_LEAST_TWO,
        coercion=CHOSEN,
    ),
    OperatorEntry(
        "LEAST",
        OperatorKind.REWRITTEN,
        make_extreme_form("<"),
        arguments=AT_LEAST_TWO,
        coercion=CHOSEN,
    ),
    # Dates.
    OperatorEntry("DATEDIFF", OperatorKind.DAYS, arguments=TWO),
    OperatorEntry(
        "DATE_DIFF", OperatorKind.REWRITTEN, make_same_operands_form("DATEDIFF"), arguments=TWO
    ),
    OperatorEntry("DATE_ADD", OperatorKind.REWRITTEN, make_same_operands_form("+"), arguments=TWO),
    OperatorEntry(
        "DATEADD",
        OperatorKind.REWRITTEN,
        make_same_operands_form("+"),
        failure=Failure.OTHER_CALLS,
        arguments=TWO,
    ),
    OperatorEntry("DATE_SUB", OperatorKind.REWRITTEN, make_same_operands_form("-"), arguments=TWO),
    # Casts, and functions that are a cast to one type.
    OperatorEntry("CAST", OperatorKind.FUNCTION, failure=Failure.CAST),
    *(
        OperatorEntry(
            type_name, OperatorKind.CAST, cast_type=type_name, failure=Failure.CAST, arguments=ONE
        )
        for type_name in (
            *("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"),
            *("STRING", "BOOLEAN", "DATE"),
        )
    ),
    OperatorEntry(
        "TO_DATE", OperatorKind.CAST, cast_type="DATE", failure=Failure.CAST, arguments=ONE
    ),
    OperatorEntry(
        "TO_TIMESTAMP",
        OperatorKind.CAST,
        cast_type="TIMESTAMP",
        failure=Failure.CAST,
        arguments=ONE,
    ),
    # The function TIMESTAMP casts to TIMESTAMP_LTZ, even in sessions in which the type TIMESTAMP
    # means TIMESTAMP_NTZ.
    OperatorEntry(
        "TIMESTAMP",
        OperatorKind.CAST,
        cast_type="TIMESTAMP_LTZ",
        failure=Failure.CAST,
        arguments=ONE,
    ),
    # Texts and arrays.
    OperatorEntry("||, CONCAT", OperatorKind.FUNCTION, is_strict=True),
    OperatorEntry(
        "LIKE, ILIKE", OperatorKind.FUNCTION, failure=PATTERN, is_strict=True, is_truth=True
    ),
    OperatorEntry(
        "NOT LIKE",
        OperatorKind.REWRITTEN,
        make_form("NOT", make_same_operands_form("LIKE")),
        failure=PATTERN,
        is_truth=True,
    ),
    OperatorEntry(
        "NOT ILIKE, RLIKE, NOT RLIKE, REGEXP", OperatorKind.FUNCTION, failure=PATTERN, is_truth=True
    ),
    OperatorEntry("REGEXP_LIKE", OperatorKind.FUNCTION, failure=Failure.POSSIBLE, is_truth=True),
    OperatorEntry("CONTAINS, STARTSWITH, ENDSWITH", OperatorKind.FUNCTION, is_truth=True),
    OperatorEntry("LENGTH, CHAR_LENGTH", OperatorKind.FUNCTION, is_quick=True),
    OperatorEntry("SIZE, CARDINALITY, ARRAY_SIZE", OperatorKind.FUNCTION, is_quick=True),
)

OPERATORS: Mapping[str, OperatorEntry] = {
    name: entry for entry in ENTRIES for name in entry.names.split(", ")
}


def is_operation(function: str, argument_count: int) -> bool:
    """Return whether a call with this number of arguments is an operation, not opaque text.

    A call of a function without an entry is an operation if it has arguments.

    >>> is_operation("NULLIF", 2), is_operation("NULLIF", 3), is_operation("UPPER", 1)
    (True, False, True)
    """
    entry = OPERATORS.get(function)
    limits = ANY_NUMBER if entry is None else entry.arguments
    return limits.allows_count(argument_count)


def find_operator_names(*kinds: OperatorKind) -> frozenset[str]:
    """Return the names of all operators of some kinds."""
    return frozenset(name for name, entry in OPERATORS.items() if entry.kind in kinds)


def find_coercing_operators(coercion: Coercion) -> frozenset[str]:
    """Return the names of all operators with this coercion of their operands."""
    return frozenset(name for name, entry in OPERATORS.items() if entry.coercion is coercion)


def find_failing_operators(failure: Failure) -> frozenset[str]:
    """Return the names of all operators that can fail in this way."""
    return frozenset(name for name, entry in OPERATORS.items() if entry.failure is failure)


# The operators that the search computes itself, so that they are not rewritten.
BASIC_OPERATORS = find_operator_names(
    OperatorKind.LOGIC,
    OperatorKind.COMPARISON,
    OperatorKind.ARITHMETIC,
    OperatorKind.DAYS,
    OperatorKind.NULL_TEST,
    OperatorKind.CHOICE,
)
