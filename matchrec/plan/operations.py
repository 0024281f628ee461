"""The operations of an expression, its operators and functions, and which of them can fail.

    A.x / 2 > 1 AND name LIKE 'a%'      `/ n`, `>`, `AND`, `LIKE ''`       none can fail
    upper(name) = A.name OR x / y > 1   `UPPER()`, `=`, `OR`, `/`, `>`    `/` can fail

Parsers collect the operations of a text once. Functions have parentheses. An operation that no
table lists can fail. A text that was not parsed has an operation that no table lists.
"""

from __future__ import annotations

from matchrec.plan.text import words_of

Operations = frozenset[str]

# The operations of a column or a literal.
NO_OPERATIONS: Operations = frozenset()

# The operations of a text that was not parsed.
UNREAD: Operations = frozenset({"?"})

KEYWORDS = words_of("KEYWORD")

# Operations that fail only if the result is too large for its type.
SUMS = frozenset({"+", "-", "*", "NEG", "ABS()", "NEGATIVE()", "CEIL()", "CEILING()", "FLOOR()"})

_DIVISIONS = frozenset({"/", "%", "DIV"})
_LIKENESSES = frozenset({"LIKE", "ILIKE", "RLIKE", "REGEXP"})

_SIGNS = "= == <> != < <= > >= <=> ! | & ^ ~ << >> || . ->"
_VALUES = "CURRENT_DATE CURRENT_TIMESTAMP CURRENT_TIME LOCALTIMESTAMP SELECT"
_UNITS = "YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND"

FUNCTIONS = words_of("NEVER FAILING")

# Operations that do not fail in ANSI mode if their operands have the right types. Among them are a
# division by a literal that is not zero (`/ n`), and LIKE with a literal pattern (`LIKE ''`). Two
# failures remain possible: a decimal of 38 digits may be too large for the type of the result, and
# a text that Spark casts to a number may not be one.
NEVER_FAILING = (
    (KEYWORDS - _DIVISIONS - _LIKENESSES - {"NEG"})
    | frozenset(_SIGNS.split())
    | frozenset(_VALUES.split())
    | frozenset(f"{unit}{plural}" for unit in _UNITS.split() for plural in ("", "S"))
    | frozenset(f"{division} n" for division in _DIVISIONS)
    | frozenset(f"{likeness} ''" for likeness in _LIKENESSES)
    | frozenset(f"{function}()" for function in FUNCTIONS)
)


def operations_of_operator(operator: str) -> Operations:
    """Return the operations of one operator or function.

    >>> sorted(operations_of_operator("IS NOT NULL"))
    ['IS', 'NOT', 'NULL']
    >>> operations_of_operator("ABS"), operations_of_operator("+")
    (frozenset({'ABS()'}), frozenset({'+'}))
    """
    if operator.isidentifier() and operator not in KEYWORDS:
        return frozenset({f"{operator}()"})
    return frozenset(operator.split())


def operation_before(operator: str, written: str = "") -> str:
    """Return the operation of an operator before an operand, which may be a literal.

    Args:
        operator: an operator.
        written: the literal after it; empty if anything else follows.

    >>> operation_before("/", "2"), operation_before("/", "0.0"), operation_before("LIKE", "'a%'")
    ('/ n', '/', "LIKE ''")
    """
    if operator in _DIVISIONS and _is_nonzero(written):
        return f"{operator} n"
    return f"{operator} ''" if operator in _LIKENESSES and written[-1:] in ("'", '"') else operator


def _is_nonzero(written: str) -> bool:
    """Return whether a text is a number other than zero, perhaps with a letter for its type."""
    try:
        return written[:1].isdecimal() and float(written.rstrip("bdflsyBDFLSY")) != 0
    except ValueError:
        return False


def may_fail(operations: Operations) -> bool:
    """Return whether an expression with these operations can raise an error in ANSI mode."""
    return not operations <= NEVER_FAILING


def is_partial(operations: Operations) -> bool:
    """Return whether it can fail for another reason than a result that is too large."""
    return may_fail(operations - SUMS)


_QUICK_FUNCTIONS = "SIZE CARDINALITY ARRAY_SIZE LENGTH CHAR_LENGTH ISNULL ISNOTNULL ISNAN ABS"

# Functions that take no time worth counting.
QUICK = frozenset(f"{function}()" for function in _QUICK_FUNCTIONS.split())


def takes_long(operations: Operations) -> bool:
    """Return whether evaluating these operations may take long.

    A function may be one of the user's, and a subquery or a text that was not parsed may do
    anything.
    """
    return any(
        operation.endswith(("()", "?")) or operation == "SELECT" for operation in operations - QUICK
    )
