"""Names for the operators and functions in an expression, and which of them can raise an error.

    A.x / 2 > 1 AND name LIKE 'a%'      `/ n`, `>`, `AND`, `LIKE ''`       none can fail
    upper(name) = A.name OR x / y > 1   `UPPER()`, `=`, `OR`, `/`, `>`    `/` can fail

These names are called operations. Parsers collect the operations of each text once. An operation
has one of five forms:

    +          an operator, or a word of an operator with several words
    UPPER()    a function
    / n        a division by a literal that is not zero
    LIKE ''    LIKE or a similar operator, before a literal pattern
    ?          a text that was not parsed

An operation that is not in `NEVER_FAILING` counts as one that can fail.
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

# The names of operations, each in one of the five forms.
Operations = frozenset[str]

# The operations of a column or a literal.
NO_OPERATIONS: Operations = frozenset()

# The operations of a text that was not parsed. `?` is not in `NEVER_FAILING`, so they can fail.
UNPARSED: Operations = frozenset({"?"})

# The operation of a subquery, whatever is in it.
SUBQUERY = "SELECT"

# The operation of a lambda, such as `value -> value > 1`.
LAMBDA = "->"

# Operations of texts that can compute anything.
_OPAQUE = UNPARSED | {SUBQUERY}

KEYWORDS = read_words("KEYWORD")


def find_operator_operations(operator: str) -> Operations:
    """Return the operations of one operator or function: one for each word of an operator.

    >>> sorted(find_operator_operations("IS NOT NULL"))
    ['IS', 'NOT', 'NULL']
    >>> find_operator_operations("ABS"), find_operator_operations("+")
    (frozenset({'ABS()'}), frozenset({'+'}))
    """
    if operator.isidentifier() and operator not in KEYWORDS:
        return find_call_operations(operator)
    return frozenset(operator.split())


def find_call_operations(function: str) -> Operations:
    """Return the operations of a call, arguments left aside.

    Unlike in `find_operator_operations`, the name of the function can be a keyword: the literal
    `DATE '2024-01-31'` never fails, but `DATE(x)` can.

    >>> find_call_operations("DATE"), find_operator_operations("DATE")
    (frozenset({'DATE()'}), frozenset({'DATE'}))
    """
    return frozenset({_name_call(function)})


def _name_call(function: str) -> str:
    """Return the operation of a call of a function: `UPPER()`."""
    return f"{function}()"


def _name_division_by_nonzero(operator: str) -> str:
    """Return the operation of a division by a literal that is not zero: `/ n`, `% n`, `DIV n`."""
    return f"{operator} n"


def _name_literal_pattern(operator: str) -> str:
    """Return the operation of LIKE or a similar operator before a literal pattern: `LIKE ''`."""
    return f"{operator} ''"


def find_called_functions(operations: Operations) -> frozenset[str] | None:
    """Return the functions that are called; None if not all of them are known.

    A subquery or a text that was not parsed can call any function.

    >>> sorted(find_called_functions(frozenset({"UPPER()", "+", "f()"})))
    ['UPPER', 'f']
    """
    if operations & _OPAQUE:
        return None
    return frozenset(name.removesuffix("()") for name in operations if name.endswith("()"))


def _find_failing_operations(failure: Failure) -> Operations:
    """Return the operations of the operators and functions in the table with this `failure`.

    Operators of several words, such as NOT LIKE, are left out: otherwise each of their words would
    become an operation that fails in this way.
    """
    names = [name for name in find_failing_operators(failure) if " " not in name]
    return NO_OPERATIONS.union(*(find_operator_operations(name) for name in names))


# Operations that fail only if the result is too large for its type, such as `+` and `ABS()`.
OVERFLOWING = _find_failing_operations(Failure.TOO_LARGE)

_DIVISIONS = find_operator_names(OperatorKind.ARITHMETIC) & find_failing_operators(Failure.DIVISION)
_LIKE_OPERATORS = _find_failing_operations(Failure.PATTERN)

# Signs that never fail and are not in the table of operators: other spellings of operators, and the
# dot of `x.field`.
_SIGNS = frozenset({"==", "!=", "!", ".", LAMBDA})
_CURRENT_TIMES = frozenset({"CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME", "LOCALTIMESTAMP"})
_UNITS = "YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND"

# Functions that never fail.
NEVER_FAILING_FUNCTIONS = read_words("NEVER FAILING") | {
    name
    for name in find_failing_operators(Failure.NEVER)
    if name.isidentifier() and name not in KEYWORDS
}

# Operations that do not fail in ANSI mode if their operands have the right types. Two failures
# remain possible: a decimal can have more than the 38 digits that its type holds, and Spark can
# cast a text to a number although the text is not a number.
NEVER_FAILING = (
    # Keywords such as CASE, without the operators among them that can fail, such as DIV and LIKE.
    (KEYWORDS - OVERFLOWING - _DIVISIONS - _LIKE_OPERATORS)
    | _find_failing_operations(Failure.NEVER)
    | _SIGNS
    | _CURRENT_TIMES
    # A subquery that returns two rows raises an error, but no guard could prevent the error: Spark
    # computes the subquery before it reads rows. (If the subquery reads a column, Spark joins its
    # result to all rows, which Sail rejects.)
    | {SUBQUERY}
    # The units of intervals: `INTERVAL 2 DAYS`.
    | frozenset(f"{unit}{plural}" for unit in _UNITS.split() for plural in ("", "S"))
    | frozenset(map(_name_division_by_nonzero, _DIVISIONS))
    # A wrong literal pattern, such as RLIKE '(', raises an error that no guard could prevent,
    # either: Spark compiles the pattern before it reads rows.
    | frozenset(map(_name_literal_pattern, _LIKE_OPERATORS))
    | frozenset(map(_name_call, NEVER_FAILING_FUNCTIONS))
)


def name_operation(operator: str, right_operand: str = "") -> str:
    """Return the operation of a binary operator, which can depend on a literal right operand.

    For example, a division by a literal other than zero is an operation that cannot fail.

    Args:
        operator: one word or sign, in upper case.
        right_operand: the text of the right operand if it is a literal, otherwise empty.

    >>> name_operation("/", "2"), name_operation("/", "0.0"), name_operation("/")
    ('/ n', '/', '/')
    >>> name_operation("LIKE", "'a%'")
    "LIKE ''"
    """
    if operator in _DIVISIONS and _is_nonzero(right_operand):
        return _name_division_by_nonzero(operator)
    is_string = right_operand.endswith(("'", '"'))
    if operator in _LIKE_OPERATORS and is_string:
        return _name_literal_pattern(operator)
    return operator


def _is_nonzero(literal: str) -> bool:
    """Return whether a literal is a number other than zero, with or without a suffix like `BD`."""
    try:
        return literal[:1].isdecimal() and float(literal.rstrip("bdflsyBDFLSY")) != 0
    except ValueError:
        return False


def can_fail(operations: Operations) -> bool:
    """Return whether these operations can raise an error in ANSI mode, see `NEVER_FAILING`."""
    return not operations <= NEVER_FAILING


def can_fail_besides_overflow(operations: Operations) -> bool:
    """Return whether these operations can fail for another reason than a result that is too large.

    >>> can_fail_besides_overflow(frozenset({"+"})), can_fail_besides_overflow(frozenset({"/"}))
    (False, True)
    """
    return can_fail(operations - OVERFLOWING)


# Functions whose time can be neglected.
_QUICK_FUNCTIONS = frozenset(name for name, entry in OPERATORS.items() if entry.is_quick)


def can_take_long(operations: Operations) -> bool:
    """Return whether the time to evaluate these operations cannot be neglected.

    The result is True for functions that are not marked as quick in the table of operators, since
    the function can be the user's own, and for subqueries and texts that were not parsed, since
    they can compute anything.
    """
    functions = find_called_functions(operations)
    return functions is None or not functions <= _QUICK_FUNCTIONS
