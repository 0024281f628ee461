"""A first sort by one number, after which Spark's sort by keys and order compares few rows.

Spark sorts by several columns, or by a text, in merges that compare rows with each other; of all
that it does for a clause, that takes longest. By one number it sorts by radix. And its merges take
what is in order already as it is. So the window's input is sorted by a number:

    16 bits of the keys' hash | 48 bits of the first ORDER BY column

This has to be right for most rows only: the sort by keys and order follows in any case. It is a
plain SORT BY, which needs no shuffle: Spark 3.5 does it before the one for the window, 4.3 after
it, where adaptive execution plans anew; without adaptive execution 4.3 leaves it out.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import types as spark_types

ORDER_BITS = 48
ORDER = (1 << ORDER_BITS) - 1


def presorting(
    keys: Sequence[str], order: Sequence[str], first: spark_types.DataType, descending: bool
) -> str | None:
    """What to sort by first, as SQL of a BIGINT; None where that would not help.

    keys, order: names of columns. first: the type of the first one in the order.
    """
    if not keys and len(order) < 2:
        return None  # Spark sorts by one column as well as it can be done
    number = rising(order[0], first)
    if number is None:
        return None if not keys else hashed(keys)
    number = f"coalesce({number}, 0L)"
    if descending:
        number = f"~{number}"
    return f"{hashed(keys)} | {number} & {ORDER}L" if keys else number


def hashed(keys: Sequence[str]) -> str:
    """The uppermost bits of the keys' hash, as SQL; Spark's shuffle goes by the lowest ones."""
    lower_bits = 32 - (64 - ORDER_BITS)
    upper = f"shiftright(hash({', '.join(keys)}), {lower_bits})"
    return f"shiftleft(CAST({upper} AS BIGINT), {ORDER_BITS})"


def rising(name: str, kind: spark_types.DataType) -> str | None:
    """A number that does not fall where the column's value rises, as SQL; None for other types."""
    if isinstance(kind, spark_types.TimestampType | spark_types.TimestampNTZType):
        return f"unix_micros(CAST({name} AS TIMESTAMP))"
    if isinstance(kind, spark_types.DateType):
        return f"CAST(unix_date({name}) AS BIGINT)"
    if isinstance(kind, spark_types.IntegralType):
        return f"CAST({name} AS BIGINT)"
    if isinstance(kind, spark_types.NumericType):
        return f"TRY_CAST(1000 * CAST({name} AS DOUBLE) AS BIGINT)"
    return None
