"""Names, strings, sums and averages as Spark SQL text."""

from __future__ import annotations

import re
from typing import TypeVar

# The type of an operand: its text, or a reference if the SQL is cut up at references.
Operand = TypeVar("Operand")


def quote_name(name: str) -> str:
    """Return a name as an identifier in backticks, which Spark reads literally.

    >>> quote_name("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"


def unquote_name(name: str) -> str:
    """Return the name that an identifier means.

    >>> unquote_name("`a``b`"), unquote_name("price")
    ('a`b', 'price')
    """
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def split_qualified_name(name: str) -> list[str]:
    """Return the parts of a name, without backticks. A dot in backticks does not separate parts.

    >>> split_qualified_name("`m`.`a.b`"), split_qualified_name("m.`a``b`")
    (['m', 'a.b'], ['m', 'a`b'])
    """
    return [unquote_name(part) for part in re.findall(r"(?:`(?:[^`]|``)*`|[^.`])+", name)]


def quote_string(text: str) -> str:
    """Return a text as a string literal.

    >>> print(quote_string("it's"))
    'it\\'s'
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# The functions with which we write sums and averages. If a session lacks such a function, another
# one replaces it. The comment in the name distinguishes our calls from the user's own.
SUM_OR_NULL = "try_add/* NULL beyond the type */"
AVERAGE_OR_NULL = "try_avg/* NULL beyond the type */"


def write_sum_or_null(left: str, right: str) -> str:
    """Return a sum as SQL that is NULL if its type cannot hold it.

    >>> write_sum_or_null("ts", "INTERVAL 1 DAY")
    'try_add/* NULL beyond the type */(ts, INTERVAL 1 DAY)'
    """
    return f"{SUM_OR_NULL}({left}, {right})"


def write_decimal_average(
    total: Operand, count: Operand, type_name: str, cast: str = "CAST"
) -> tuple[str | Operand, ...]:
    """Return the average of decimals as SQL, cut up at its operands.

    As in Spark's avg, the sum is divided by the count as a DECIMAL(20,0). The average is NULL if
    the count is 0.

    >>> "".join(write_decimal_average("s", "n", "DECIMAL(9,6)"))
    'CAST(s / CAST(NULLIF(n, 0) AS DECIMAL(20,0)) AS DECIMAL(9,6))'

    Args:
        total: the sum of the decimals, as text or as a reference.
        count: the number of decimals, as text or as a reference.
        type_name: the type of the average; see `conditions.types.find_average_type`.
        cast: CAST, or TRY_CAST for NULL if the type cannot hold the average.
    """
    divisor = ("CAST(NULLIF(", count, ", 0) AS DECIMAL(20,0))")
    return (f"{cast}(", total, " / ", *divisor, f" AS {type_name})")
