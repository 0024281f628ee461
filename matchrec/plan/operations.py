"""Names for the operators and functions in an expression, and which of them can raise an error.

    A.x / 2 > 1 AND name LIKE 'a%'      `/ n`, `>`, `AND`, `LIKE ''`       none can fail
    upper(name) = A.name OR x / y > 1   `UPPER()`, `=`, `OR`, `/`, `>`    `/` can fail

These names are called operations. Parsers collect them once for each text. There are five forms:

    +          an operator, or a word of an operator with several words
    UPPER()    a function
    / n        a division by a literal that is not zero
    LIKE ''    LIKE or a similar operator, before a literal pattern
    ?          a text that was not parsed

An operation that no table lists can fail.
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

# The operations of a text that was not parsed. No table lists `?`, so they can fail.
UNPARSED: Operations = frozenset({"?"})

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
    """Return the operations of a call.

    The name of the function may be a keyword elsewhere: `DATE '2024-01-31'` never fails, but
    `DATE(x)` may.

    >>> find_call_operations("DATE"), find_operator_operations("DATE")
    (frozenset({'DATE()'}), frozenset({'DATE'}))
    """
    return frozenset({f"{function}()"})


def _find_failing_operations(failure: Failure) -> Operations:
    """Return the operations of the operators in the table that have this way to fail.

    Operators of several words are left out, because each word of them would be an operation.
    """
    names = [name for name in find_failing_operators(failure) if " " not in name]
    return NO_OPERATIONS.union(*(find_operator_operations(name) for name in names))


# Operations that fail only if the result is too large for its type, such as `+` and `ABS()`.
OVERFLOWING = _find_failing_operations(Failure.TOO_LARGE)

_DIVISIONS = find_operator_names(OperatorKind.ARITHMETIC) & find_failing_operators(Failure.DIVISION)
_LIKE_OPERATORS = _find_failing_operations(Failure.PATTERN)

# Signs that never fail and are not in the table of operators: other spellings of operators, the dot
# of `x.field`, and the arrow of a lambda.
_SIGNS = frozenset({"==", "!=", "!", ".", "->"})
_CURRENT_TIMES = frozenset({"CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME", "LOCALTIMESTAMP"})
_UNITS = "YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND"
# A subquery can fail, but not for a row: the engine computes it once, before it reads rows.
_SUBQUERY = "SELECT"

# Functions that never fail.
NEVER_FAILING_FUNCTIONS = read_words("NEVER FAILING") | {
    name
    for name in find_failing_operators(Failure.NEVER)
    if name.isidentifier() and name not in KEYWORDS
}

# Operations that do not fail in ANSI mode if their operands have the right types. Two failures
# remain possible: a decimal of 38 digits may be too large for the type of the result, and a text
# that Spark casts to a number may not be one.
NEVER_FAILING = (
    # Keywords, such as CASE, but not the operators among them that can fail, such as DIV and LIKE.
    (KEYWORDS - OVERFLOWING - _DIVISIONS - _LIKE_OPERATORS)
    | _find_failing_operations(Failure.NEVER)
    | _SIGNS
    | _CURRENT_TIMES
    | {_SUBQUERY}
    # The units of intervals: `INTERVAL 2 DAYS`.
    | frozenset(f"{unit}{plural}" for unit in _UNITS.split() for plural in ("", "S"))
    # The divisor is not zero.
    | frozenset(f"{division} n" for division in _DIVISIONS)
    # A literal pattern is checked before the query runs.
    | frozenset(f"{operator} ''" for operator in _LIKE_OPERATORS)
    | frozenset(f"{function}()" for function in NEVER_FAILING_FUNCTIONS)
)


def name_operation(operator: str, right_operand: str = "") -> str:
    """Return the operation of a binary operator.

    Args:
        operator: the operator.
        right_operand: the operand after it if it is a literal, otherwise empty.

    >>> name_operation("/", "2"), name_operation("/", "0.0"), name_operation("/")
    ('/ n', '/', '/')
    >>> name_operation("LIKE", "'a%'")
    "LIKE ''"
    """
    if operator in _DIVISIONS and _is_nonzero(right_operand):
        return f"{operator} n"
    is_string = right_operand.endswith(("'", '"'))
    if operator in _LIKE_OPERATORS and is_string:
        return f"{operator} ''"
    return operator


def _is_nonzero(literal: str) -> bool:
    """Return whether a literal is a number other than zero, perhaps with a suffix such as `BD`."""
    try:
        return literal[:1].isdecimal() and float(literal.rstrip("bdflsyBDFLSY")) != 0
    except ValueError:
        return False


def may_fail(operations: Operations) -> bool:
    """Return whether these operations can raise an error in ANSI mode, see `NEVER_FAILING`."""
    return not operations <= NEVER_FAILING


def can_fail_besides_overflow(operations: Operations) -> bool:
    """Return whether these operations can fail for another reason than a result that is too large.

    >>> can_fail_besides_overflow(frozenset({"+"})), can_fail_besides_overflow(frozenset({"/"}))
    (False, True)
    """
    return may_fail(operations - OVERFLOWING)


# Calls of functions that take no time worth counting.
QUICK_FUNCTIONS = frozenset(f"{name}()" for name, entry in OPERATORS.items() if entry.is_quick)


def takes_long(operations: Operations) -> bool:
    """Return whether evaluating these operations may take long.

    That is so for functions, which may be the user's, and for subqueries and texts that were not
    parsed, which may do anything.
    """
    slow_operations = UNPARSED | {_SUBQUERY}
    return any(
        operation.endswith("()") or operation in slow_operations
        for operation in operations - QUICK_FUNCTIONS
    )
