"""Which operators and functions an expression has, and what is known of each: may it fail?

    A.x / 2 > 1 AND name LIKE 'a%'   →   `/ n`, `>`, `AND`, `LIKE ''`      none fails
    upper(name) = A.name OR x / y > 1   →   `UPPER()`, `=`, `OR`, `/`, `>`      `/` may

Whoever reads a text names them once; a function is written with parentheses. Text that nobody has
read has an operation that no table lists, and what is listed in no table may fail.
"""

from __future__ import annotations

from matchrec.plan.text import words_of

Operations = frozenset[str]

NO_OPERATIONS: Operations = frozenset()  # those of a column, and of a literal

UNREAD: Operations = frozenset({"?"})  # those of text that nobody has read

KEYWORDS = words_of("KEYWORD")

# What fails only where its result is too large for its type.
SUMS = frozenset({"+", "-", "*", "NEG", "ABS()", "NEGATIVE()", "CEIL()", "CEILING()", "FLOOR()"})

_DIVISIONS = frozenset({"/", "%", "DIV"})
_LIKENESSES = frozenset({"LIKE", "ILIKE", "RLIKE", "REGEXP"})

_SIGNS = "= == <> != < <= > >= <=> ! | & ^ ~ << >> || . ->"
_VALUES = "CURRENT_DATE CURRENT_TIMESTAMP CURRENT_TIME LOCALTIMESTAMP SELECT"
_UNITS = "YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND"

FUNCTIONS = words_of("NEVER FAILING")

# What is known not to fail under ANSI, of values of the types that it takes: a division by a number
# that is written and not zero, a pattern that is written. A decimal of 38 digits may still be too
# large for the type of a result, and a text that Spark takes for a number may be none.
NEVER_FAILING = (
    (KEYWORDS - _DIVISIONS - _LIKENESSES - {"NEG"})
    | frozenset(_SIGNS.split())
    | frozenset(_VALUES.split())
    | frozenset(f"{unit}{plural}" for unit in _UNITS.split() for plural in ("", "S"))
    | frozenset(f"{division} n" for division in _DIVISIONS)
    | frozenset(f"{likeness} ''" for likeness in _LIKENESSES)
    | frozenset(f"{function}()" for function in FUNCTIONS)
)


def named(operator: str) -> Operations:
    """The operations of one operator or function.

    >>> sorted(named("IS NOT NULL")), named("ABS"), named("+")
    (['IS', 'NOT', 'NULL'], frozenset({'ABS()'}), frozenset({'+'}))
    """
    if operator.isidentifier() and operator not in KEYWORDS:
        return frozenset({f"{operator}()"})
    return frozenset(operator.split())


def with_constant(operator: str, written: str = "") -> str:
    """An operation before a number or a text that is written there, or before anything else.

    >>> with_constant("/", "2"), with_constant("/", "0.0"), with_constant("LIKE", "'a%'")
    ('/ n', '/', "LIKE ''")
    """
    if operator in _DIVISIONS and _is_nonzero(written):
        return f"{operator} n"
    return f"{operator} ''" if operator in _LIKENESSES and written[-1:] in ("'", '"') else operator


def _is_nonzero(written: str) -> bool:
    """Whether it is a number, perhaps with a letter for its type, that is not zero."""
    try:
        return written[:1].isdecimal() and float(written.rstrip("bdflsyBDFLSY")) != 0
    except ValueError:
        return False


def may_fail(operations: Operations) -> bool:
    """Whether an expression may have no result under ANSI."""
    return not operations <= NEVER_FAILING


def is_partial(operations: Operations) -> bool:
    """Whether it may fail but for its sums, which may be too large for their type."""
    return may_fail(operations - SUMS)


_SHORT = "SIZE CARDINALITY ARRAY_SIZE LENGTH CHAR_LENGTH ISNULL ISNOTNULL ISNAN ABS"

# Functions that tell in no time how long or how large a value is, or whether there is one.
QUICK = frozenset(f"{function}()" for function in _SHORT.split())


def takes_long(operations: Operations) -> bool:
    """Whether it calls a function, which may be the user's own, or has a query."""
    return any(
        operation.endswith(("()", "?")) or operation == "SELECT" for operation in operations - QUICK
    )
