"""Which operators and functions an expression has, and what is known of each: may it fail?

    A.x / 2 > 1 AND name LIKE 'a%'   →   `/ n`, `>`, `AND`, `LIKE ''`      none fails
    upper(name) = A.name OR x / y > 1   →   `UPPER()`, `=`, `OR`, `/`, `>`      `/` may

Whoever reads a text names them once; a function is written with parentheses. Text that nobody has
read has an operation that no table lists, and what is listed in no table may fail.
"""

from __future__ import annotations

Operations = frozenset[str]

NO_OPERATIONS: Operations = frozenset()
"""Those of a column, and of a literal."""

UNREAD: Operations = frozenset({"?"})
"""Those of text that nobody has read."""

_KEYWORDS = """
    ALL AND ANY AS BETWEEN BOTH BY CASE COLLATE DATE DISTINCT DIV ELSE END ESCAPE FALSE FOR FROM
    ILIKE IN INTERVAL IS LEADING LIKE NEG NOT NULL OF OR OVER PLACING REGEXP RLIKE SOME THEN TIME
    TIMESTAMP TIMESTAMP_LTZ TIMESTAMP_NTZ TO TRAILING TRUE UNKNOWN WHEN WHERE chain
"""
KEYWORDS = frozenset(_KEYWORDS.split())
"""Words that are operators, parts of operators, or before a literal; no functions."""

SUMS = frozenset({"+", "-", "*", "NEG", "ABS()", "NEGATIVE()", "CEIL()", "CEILING()", "FLOOR()"})
"""What fails only where its result is too large for its type."""

_DIVISIONS = frozenset({"/", "%", "DIV"})
_LIKENESSES = frozenset({"LIKE", "ILIKE", "RLIKE", "REGEXP"})

_SIGNS = "= == <> != < <= > >= <=> ! | & ^ ~ << >> || . ->"
_VALUES = "CURRENT_DATE CURRENT_TIMESTAMP CURRENT_TIME LOCALTIMESTAMP SELECT"
_UNITS = "YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND"

_FUNCTIONS = """
    BTRIM CHARACTER_LENGTH CHAR_LENGTH CONCAT CONCAT_WS CONTAINS ENDSWITH INITCAP INSTR LCASE LEFT
    LEN LENGTH LEVENSHTEIN LOCATE LOWER LTRIM POSITION REPLACE REVERSE RIGHT RTRIM SOUNDEX
    STARTSWITH SUBSTR SUBSTRING SUBSTRING_INDEX TRANSLATE TRIM UCASE UPPER ASCII BASE64 BIT_LENGTH
    CRC32 HASH HEX MD5 OCTET_LENGTH SHA SHA1 SHA2 XXHASH64 COALESCE EQUAL_NULL GREATEST IF IFNULL
    ISNAN ISNOTNULL ISNULL LEAST NANVL NULLIF NULLIFZERO NVL NVL2 ZEROIFNULL ACOS ACOSH ASIN ASINH
    ATAN ATAN2 ATANH CBRT COS COSH COT CSC DEGREES EXP EXPM1 HYPOT LN LOG LOG10 LOG1P LOG2 POW POWER
    RADIANS RINT SEC SIGN SIGNUM SIN SINH SQRT TAN TANH DATEDIFF DATE_ADD DATE_DIFF DATE_PART
    DATE_SUB DATE_TRUNC DAY DAYNAME DAYOFMONTH DAYOFWEEK DAYOFYEAR EXTRACT HOUR LAST_DAY MINUTE
    MONTH MONTHNAME MONTHS_BETWEEN QUARTER SECOND TIMESTAMPDIFF TRUNC UNIX_DATE UNIX_MICROS
    UNIX_MILLIS UNIX_SECONDS WEEKDAY WEEKOFYEAR YEAR ARRAY ARRAYS_OVERLAP ARRAY_CONTAINS
    ARRAY_DISTINCT ARRAY_EXCEPT ARRAY_INTERSECT ARRAY_JOIN ARRAY_MAX ARRAY_MIN ARRAY_POSITION
    ARRAY_SIZE ARRAY_UNION CARDINALITY FLATTEN GET MAP_CONTAINS_KEY MAP_KEYS MAP_VALUES NAMED_STRUCT
    SIZE SORT_ARRAY STRUCT AGGREGATE EXISTS FILTER FORALL REDUCE TRANSFORM COUNT FIRST_VALUE
    LAST_VALUE MAX MIN CURRENT_DATE CURRENT_TIMESTAMP LOCALTIMESTAMP NOW TRY_ADD TRY_CAST TRY_DIVIDE
    TRY_MOD TRY_MULTIPLY TRY_SUBTRACT
"""
FUNCTIONS = frozenset(_FUNCTIONS.split())
"""Functions that have a result for all values of the types that they take."""

NEVER_FAILING = (
    (KEYWORDS - _DIVISIONS - _LIKENESSES - {"NEG"})
    | frozenset(_SIGNS.split())
    | frozenset(_VALUES.split())
    | frozenset(f"{unit}{plural}" for unit in _UNITS.split() for plural in ("", "S"))
    | frozenset(f"{division} n" for division in _DIVISIONS)
    | frozenset(f"{likeness} ''" for likeness in _LIKENESSES)
    | frozenset(f"{function}()" for function in FUNCTIONS)
)
"""What is known not to fail under ANSI, of values of the types that it takes: a division by a
number that is written and not zero, a pattern that is written. A decimal of 38 digits may still be
too large for the type of a result, and a text that Spark takes for a number may be none.
"""


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


def takes_long(operations: Operations) -> bool:
    """Whether it calls a function, which may be the user's own, or has a query."""
    return any(operation.endswith(("()", "?")) or operation == "SELECT" for operation in operations)
