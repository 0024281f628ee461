"""Write names, strings, sums and averages as Spark SQL, and read names back.

Other modules build the SQL of whole expressions; this module has what several of them share.
"""

from __future__ import annotations

import re
from typing import TypeVar

# An operand in SQL: its text, or a reference that is replaced by a text later.
OperandT = TypeVar("OperandT")


def quote_name(name: str) -> str:
    """Return a name as an identifier in backticks, which Spark reads literally.

    >>> quote_name("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"


def unquote_name(identifier: str) -> str:
    """Return the name that an identifier stands for: without backticks if it has them.

    >>> unquote_name("`a``b`"), unquote_name("price")
    ('a`b', 'price')
    """
    return identifier[1:-1].replace("``", "`") if identifier.startswith("`") else identifier


def split_qualified_name(identifier: str) -> list[str]:
    """Return the names in a qualified identifier, without backticks.

    A dot in backticks does not separate names. The identifier must be valid: a text such as `a..b`
    is not rejected.

    >>> split_qualified_name("`m`.`a.b`"), split_qualified_name("m.`a``b`")
    (['m', 'a.b'], ['m', 'a`b'])
    """
    return [unquote_name(part) for part in re.findall(r"(?:`(?:[^`]|``)*`|[^.`])+", identifier)]


def quote_string(text: str) -> str:
    """Return a text as a string literal.

    The literal is right for Spark's default, spark.sql.parser.escapedStringLiterals=false. With
    true, Spark would not read `\\\\` as one backslash.

    >>> print(quote_string("it's"))
    'it\\'s'
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# The names of the functions with which we write sums and averages. If a session lacks such a
# function, `Backend.adapt_sums` replaces it. The comment tells our calls from the user's own calls
# of `try_add`, which must stay.
SUM_OR_NULL = "try_add/* NULL beyond the type */"
AVERAGE_OR_NULL = "try_avg/* NULL beyond the type */"


def write_sum_or_null(left: str, right: str) -> str:
    """Return SQL for `left + right` that is NULL on overflow.

    >>> write_sum_or_null("ts", "INTERVAL 1 DAY")
    'try_add/* NULL beyond the type */(ts, INTERVAL 1 DAY)'
    """
    return f"{SUM_OR_NULL}({left}, {right})"


def write_decimal_average(
    total: OperandT, count: OperandT, type_name: str, cast: str = "CAST"
) -> tuple[str | OperandT, ...]:
    """Return SQL for the average of decimals, as a sequence of texts and operands.

    As in Spark's avg, the sum is divided by the count as a DECIMAL(20,0). The average is NULL if
    the count is 0.

    Args:
        total: the sum of the decimals, as text or as a reference.
        count: the number of decimals, as text or as a reference.
        type_name: the type of the average; see `conditions.types.find_average_type`.
        cast: the function that makes the average a `type_name`: CAST, or TRY_CAST for NULL if the
            type cannot hold the average.

    >>> write_decimal_average("s", "n", "DECIMAL(9,6)")
    ('CAST(', 's', ' / CAST(NULLIF(', 'n', ', 0) AS DECIMAL(20,0)) AS DECIMAL(9,6))')
    """
    return (f"{cast}(", total, " / CAST(NULLIF(", count, f", 0) AS DECIMAL(20,0)) AS {type_name})")
