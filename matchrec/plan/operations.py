"""The operations of an expression, its operators and functions, and which of them can fail.

    A.x / 2 > 1 AND name LIKE 'a%'      `/ n`, `>`, `AND`, `LIKE ''`       none can fail
    upper(name) = A.name OR x / y > 1   `UPPER()`, `=`, `OR`, `/`, `>`    `/` can fail

Parsers collect the operations of a text once. Functions have parentheses. An operation that no
table lists can fail. A text that was not parsed has an operation that no table lists.
"""

from __future__ import annotations

from matchrec.plan.operators import (
    OPERATORS,
    Failure,
    OperatorKind,
    find_failing_operators,
    find_operator_names,
)
from matchrec.plan.words import read_words

Operations = frozenset[str]

# The operations of a column or a literal.
NO_OPERATIONS: Operations = frozenset()

# The operations of a text that was not parsed.
UNREAD: Operations = frozenset({"?"})

KEYWORDS = read_words("KEYWORD")


def find_operator_operations(operator: str) -> Operations:
    """Return the operations of one operator or function.

    >>> sorted(find_operator_operations("IS NOT NULL"))
    ['IS', 'NOT', 'NULL']
    >>> find_operator_operations("ABS"), find_operator_operations("+")
    (frozenset({'ABS()'}), frozenset({'+'}))
    """
    if operator.isidentifier() and operator not in KEYWORDS:
        return frozenset({f"{operator}()"})
    return frozenset(operator.split())


def find_call_operations(function: str) -> Operations:
    """Return the operations of a call, also of a function whose name is a keyword elsewhere.

    `DATE '2024-01-31'` never fails, `DATE(x)` may.

    >>> find_call_operations("DATE"), find_operator_operations("DATE")
    (frozenset({'DATE()'}), frozenset({'DATE'}))
    """
    return frozenset({f"{function}()"})


def _find_failing_operations(failure: Failure) -> Operations:
    """Return the operations of all operators that can fail in this way, if they are one word."""
    names = [name for name in find_failing_operators(failure) if " " not in name]
    return NO_OPERATIONS.union(*(find_operator_operations(name) for name in names))


# Operations that fail only if the result is too large for its type.
SUMS = _find_failing_operations(Failure.TOO_LARGE)

_DIVISIONS = find_operator_names(OperatorKind.ARITHMETIC) & find_failing_operators(Failure.DIVISION)
_LIKE_OPERATORS = _find_failing_operations(Failure.PATTERN)

# Signs that never fail and are not operators of the table: other ways to write one, and `x.field`
# and `x -> y`.
_SIGNS = frozenset({"==", "!=", "!", ".", "->"})
_VALUES = "CURRENT_DATE CURRENT_TIMESTAMP CURRENT_TIME LOCALTIMESTAMP SELECT"
_UNITS = "YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND"

# Functions that never fail.
FUNCTIONS = read_words("NEVER FAILING") | {
    name
    for name in find_failing_operators(Failure.NEVER)
    if name.isidentifier() and name not in KEYWORDS
}

# Operations that do not fail in ANSI mode if their operands have the right types. Among them are a
# division by a literal that is not zero (`/ n`), and LIKE with a literal pattern (`LIKE ''`). Two
# failures remain possible: a decimal of 38 digits may be too large for the type of the result, and
# a text that Spark casts to a number may not be one.
NEVER_FAILING = (
    (KEYWORDS - SUMS - _DIVISIONS - _LIKE_OPERATORS)
    | _find_failing_operations(Failure.NEVER)
    | _SIGNS
    | frozenset(_VALUES.split())
    | frozenset(f"{unit}{plural}" for unit in _UNITS.split() for plural in ("", "S"))
    | frozenset(f"{division} n" for division in _DIVISIONS)
    | frozenset(f"{operator} ''" for operator in _LIKE_OPERATORS)
    | frozenset(f"{function}()" for function in FUNCTIONS)
)


def find_operation_before(operator: str, literal: str = "") -> str:
    """Return the operation of an operator before an operand, which may be a literal.

    Args:
        operator: an operator.
        literal: the literal after it; empty if anything else follows.

    >>> find_operation_before("/", "2"), find_operation_before("/", "0.0")
    ('/ n', '/')
    >>> find_operation_before("LIKE", "'a%'")
    "LIKE ''"
    """
    if operator in _DIVISIONS and _is_nonzero(literal):
        return f"{operator} n"
    return (
        f"{operator} ''" if operator in _LIKE_OPERATORS and literal[-1:] in ("'", '"') else operator
    )


def _is_nonzero(literal: str) -> bool:
    """Return whether a text is a number other than zero, perhaps with a letter for its type."""
    try:
        return literal[:1].isdecimal() and float(literal.rstrip("bdflsyBDFLSY")) != 0
    except ValueError:
        return False


def may_fail(operations: Operations) -> bool:
    """Return whether an expression with these operations can raise an error in ANSI mode."""
    return not operations <= NEVER_FAILING


def is_partial(operations: Operations) -> bool:
    """Return whether it can fail for another reason than a result that is too large."""
    return may_fail(operations - SUMS)


# Functions that take no time worth counting.
QUICK = frozenset(f"{name}()" for name, entry in OPERATORS.items() if entry.is_quick)


def takes_long(operations: Operations) -> bool:
    """Return whether evaluating these operations may take long.

    A function may be one of the user's, and a subquery or a text that was not parsed may do
    anything.
    """
    return any(
        operation.endswith(("()", "?")) or operation == "SELECT" for operation in operations - QUICK
    )
