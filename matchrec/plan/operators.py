"""The table of operators: what every stage knows about an operator or a function, in one entry.

`ENTRIES` is the table, `OPERATORS` looks up an entry by the name of an operator, and the fields of
`OperatorEntry` are the columns. They are read by:

    kind, target            conditions, conditions.typing
    form                    conditions.residual
    failure                 plan.operations, conditions.typing
    arguments               syntax.expressions
    is_strict, is_truth     conditions.split
    coercion                spark.sail
    is_quick                plan.operations

A function that only Python computes needs no entry here. It has one in `conditions.functions`, and
`words.txt` says whether it can fail. Operators have entries here, and so have functions that the
parser, the typing rules or the kernels treat specially.

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
    build_compared_case,
    build_extreme,
    build_membership,
    call,
    call_on_all,
)


class OperatorKind(Enum):
    """The kind of an operation: who computes it over several rows of a match, and how it is typed.

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
    """The cases in which an operation with operands of the right types fails in ANSI mode."""

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


class Coercion(Enum):
    """The operands of an operation that the engine casts to one common type."""

    NONE = "none"
    COMPARED = "all, to compare them"
    COMPUTED = "all, to compute with them"
    CHOSEN = "all, since one of them is the value"
    BRANCHES = "the results, and the compared values: see `expression.split_branches`"


@dataclass(frozen=True, slots=True)
class ArgumentCount:
    """The numbers of arguments that a call may have."""

    least: int
    # None if there is no limit.
    most: int | None = None

    def allows(self, count: int) -> bool:
        """Return whether a call may have this number of arguments."""
        return self.least <= count and (self.most is None or count <= self.most)


# One argument or more.
ANY_NUMBER = ArgumentCount(1)
ONE = ArgumentCount(1, 1)
TWO = ArgumentCount(2, 2)
THREE = ArgumentCount(3, 3)
AT_LEAST_TWO = ArgumentCount(2)
AT_LEAST_THREE = ArgumentCount(3)


@dataclass(frozen=True, slots=True)
class OperatorEntry:
    """An entry of the table: all facts about an operator or a function."""

    # The operator, in upper case. Several operators with the same entry have commas between them.
    names: str
    # Who computes the operation over several rows, and so how it is typed.
    kind: OperatorKind
    # For REWRITTEN: the operations that have the same value.
    form: Form | FormFunction | None = None
    # For TRY the operator that may raise an error, for MATHEMATICS the name of the compiled
    # function, for CAST the type.
    target: str | None = None
    # Whether the operation can raise an error in ANSI mode.
    failure: Failure = Failure.NEVER
    # How many arguments a call has. A call with another number of arguments is opaque text.
    arguments: ArgumentCount = ANY_NUMBER
    # Whether the operation is always NULL if an operand is NULL.
    is_strict: bool = False
    # Which operands the engine casts to one type.
    coercion: Coercion = Coercion.NONE
    # Whether the value is always a truth value.
    is_truth: bool = False
    # For a function: whether it takes no time worth counting. Operators never do.
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
    OperatorEntry("IS UNKNOWN", OperatorKind.REWRITTEN, call_on_all("IS NULL"), is_truth=True),
    OperatorEntry(
        "IS TRUE",
        OperatorKind.REWRITTEN,
        call("AND", call_on_all("IS NOT NULL"), FIRST),
        is_truth=True,
    ),
    OperatorEntry(
        "IS FALSE",
        OperatorKind.REWRITTEN,
        call("AND", call_on_all("IS NOT NULL"), call_on_all("NOT")),
        is_truth=True,
    ),
    *(
        OperatorEntry(
            f"IS NOT {word}",
            OperatorKind.REWRITTEN,
            call("NOT", call_on_all(f"IS {word}")),
            is_truth=True,
        )
        for word in ("NULL", "UNKNOWN", "TRUE", "FALSE")
    ),
    OperatorEntry(
        "ISNULL",
        OperatorKind.REWRITTEN,
        call_on_all("IS NULL"),
        arguments=ONE,
        is_truth=True,
        is_quick=True,
    ),
    OperatorEntry(
        "ISNOTNULL",
        OperatorKind.REWRITTEN,
        call("NOT", call_on_all("IS NULL")),
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
        call_on_all("<=>"),
        coercion=COMPARED,
        is_truth=True,
    ),
    OperatorEntry(
        "IS DISTINCT FROM",
        OperatorKind.REWRITTEN,
        call("NOT", call_on_all("<=>")),
        coercion=COMPARED,
        is_truth=True,
    ),
    OperatorEntry(
        "EQUAL_NULL",
        OperatorKind.REWRITTEN,
        call_on_all("<=>"),
        arguments=TWO,
        coercion=COMPARED,
        is_truth=True,
    ),
    OperatorEntry(
        "BETWEEN",
        OperatorKind.REWRITTEN,
        call("AND", call(">=", FIRST, SECOND), call("<=", FIRST, THIRD)),
        coercion=COMPARED,
        is_truth=True,
    ),
    OperatorEntry(
        "NOT BETWEEN", OperatorKind.REWRITTEN, call("NOT", call_on_all("BETWEEN")), is_truth=True
    ),
    OperatorEntry("IN", OperatorKind.REWRITTEN, build_membership, coercion=COMPARED, is_truth=True),
    OperatorEntry("NOT IN", OperatorKind.REWRITTEN, call("NOT", call_on_all("IN")), is_truth=True),
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
        call_on_all("%"),
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
        call_on_all("NEG"),
        failure=TOO_LARGE,
        arguments=ONE,
        is_strict=True,
        coercion=COMPUTED,
    ),
    OperatorEntry(
        "ABS",
        OperatorKind.REWRITTEN,
        # NULL and NaN stay as they are.
        call("IF", call("<", FIRST, call("NEG", FIRST)), call("NEG", FIRST), FIRST),
        failure=TOO_LARGE,
        arguments=ONE,
        is_strict=True,
        coercion=COMPUTED,
        is_quick=True,
    ),
    OperatorEntry("TRY_ADD", OperatorKind.TRY, target="+", arguments=TWO),
    OperatorEntry("TRY_SUBTRACT", OperatorKind.TRY, target="-", arguments=TWO),
    OperatorEntry("TRY_MULTIPLY", OperatorKind.TRY, target="*", arguments=TWO),
    OperatorEntry("TRY_DIVIDE", OperatorKind.TRY, target="/", arguments=TWO),
    OperatorEntry("TRY_MOD", OperatorKind.TRY, target="%", arguments=TWO),
    # Mathematical functions.
    *(
        OperatorEntry(name, OperatorKind.MATHEMATICS, target=name)
        for name in (
            *("SQRT", "EXP", "LN", "LOG", "LOG2", "LOG10", "POWER", "SIGN", "RADIANS"),
            *("SIN", "COS", "ASIN", "ACOS"),
        )
    ),
    OperatorEntry("POW", OperatorKind.MATHEMATICS, target="POWER"),
    OperatorEntry("SIGNUM", OperatorKind.MATHEMATICS, target="SIGN"),
    OperatorEntry("FLOOR", OperatorKind.MATHEMATICS, target="FLOOR", failure=TOO_LARGE),
    OperatorEntry("CEIL, CEILING", OperatorKind.MATHEMATICS, target="CEIL", failure=TOO_LARGE),
    OperatorEntry("ROUND", OperatorKind.MATHEMATICS, target="ROUND", failure=Failure.POSSIBLE),
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
    OperatorEntry("CASE OF", OperatorKind.REWRITTEN, build_compared_case("="), coercion=BRANCHES),
    OperatorEntry(
        "DECODE",
        OperatorKind.REWRITTEN,
        build_compared_case("<=>"),
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
        call("IF", call("IS NOT NULL", FIRST), SECOND, THIRD),
        arguments=THREE,
    ),
    OperatorEntry(
        "NANVL",
        OperatorKind.REWRITTEN,
        call("IF", call("ISNAN", FIRST), SECOND, FIRST),
        arguments=TWO,
        coercion=CHOSEN,
    ),
    OperatorEntry(
        "NULLIF",
        OperatorKind.REWRITTEN,
        call(
            "IF",
            call("OR", call("IS NULL", call_on_all("=")), call("NOT", call_on_all("="))),
            FIRST,
        ),
        arguments=TWO,
    ),
    OperatorEntry("NULLIFZERO", OperatorKind.REWRITTEN, call("NULLIF", FIRST, ZERO), arguments=ONE),
    OperatorEntry(
        "ZEROIFNULL", OperatorKind.REWRITTEN, call("COALESCE", FIRST, ZERO), arguments=ONE
    ),
    OperatorEntry(
        "GREATEST",
        OperatorKind.REWRITTEN,
        build_extreme(">"),
        arguments=AT_LEAST_TWO,
        coercion=CHOSEN,
    ),
    OperatorEntry(
        "LEAST", OperatorKind.REWRITTEN, build_extreme("<"), arguments=AT_LEAST_TWO, coercion=CHOSEN
    ),
    # Dates.
    OperatorEntry("DATEDIFF", OperatorKind.DAYS, arguments=TWO),
    OperatorEntry("DATE_DIFF", OperatorKind.REWRITTEN, call_on_all("DATEDIFF"), arguments=TWO),
    OperatorEntry("DATE_ADD", OperatorKind.REWRITTEN, call_on_all("+"), arguments=TWO),
    OperatorEntry(
        "DATEADD",
        OperatorKind.REWRITTEN,
        call_on_all("+"),
        failure=Failure.OTHER_CALLS,
        arguments=TWO,
    ),
    OperatorEntry("DATE_SUB", OperatorKind.REWRITTEN, call_on_all("-"), arguments=TWO),
    # Casts, and functions that are a cast to one type.
    OperatorEntry("CAST", OperatorKind.FUNCTION, failure=Failure.CAST),
    *(
        OperatorEntry(
            type_name, OperatorKind.CAST, target=type_name, failure=Failure.CAST, arguments=ONE
        )
        for type_name in (
            *("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"),
            *("STRING", "BOOLEAN", "DATE"),
        )
    ),
    OperatorEntry("TO_DATE", OperatorKind.CAST, target="DATE", failure=Failure.CAST, arguments=ONE),
    OperatorEntry(
        "TO_TIMESTAMP", OperatorKind.CAST, target="TIMESTAMP", failure=Failure.CAST, arguments=ONE
    ),
    # Whatever TIMESTAMP means in the session.
    OperatorEntry(
        "TIMESTAMP", OperatorKind.CAST, target="TIMESTAMP_LTZ", failure=Failure.CAST, arguments=ONE
    ),
    # Texts and arrays.
    OperatorEntry("||, CONCAT", OperatorKind.FUNCTION, is_strict=True),
    OperatorEntry(
        "LIKE, ILIKE", OperatorKind.FUNCTION, failure=PATTERN, is_strict=True, is_truth=True
    ),
    OperatorEntry(
        "NOT LIKE",
        OperatorKind.REWRITTEN,
        call("NOT", call_on_all("LIKE")),
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
    allowed = ANY_NUMBER if entry is None else entry.arguments
    return allowed.allows(argument_count)


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
