"""Items of select lists, and the items that pack truth values into columns of bits.

A column of bits holds up to 62 truth values, so that they are sent as one column.
`worker.internal_names` explains which bit stands for which condition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from matchrec.worker import internal_names


class SelectItem(NamedTuple):
    """An item of a select list: an expression in SQL, and the name of its column.

    >>> f"SELECT {SelectItem('a + 1', 'b')}, {SelectItem('a', 'a')}"
    'SELECT a + 1 AS b, a'
    """

    sql: str
    name: str

    def __str__(self) -> str:
        """Return the item as it is written in a select list."""
        return self.name if self.sql == self.name else f"{self.sql} AS {self.name}"


def pack_bit_columns(
    tests: Sequence[str], name_bit_column: Callable[[int], str], type_name: str = "BIGINT"
) -> list[SelectItem]:
    """Return columns of bits that hold the truth values of some tests, up to 62 in each.

    >>> [item] = pack_bit_columns(["a > 1", "b IS NULL"], internal_names.name_bits)
    >>> item.name, item.sql
    ('__bits0', 'CASE WHEN a > 1 THEN 1L ELSE 0L END | CASE WHEN b IS NULL THEN 2L ELSE 0L END')

    Args:
        tests: conditions in SQL. A condition that is NULL counts as false.
        name_bit_column: returns the name of a column, given its number.
        type_name: the type of the columns, see `Backend.choose_bit_column_type`.
    """
    size = internal_names.count_bits_per_column()
    tests_by_column = [tests[begin : begin + size] for begin in range(0, len(tests), size)]
    return [
        SelectItem(pack_bits(column_tests, type_name), name_bit_column(number))
        for number, column_tests in enumerate(tests_by_column)
    ]


def pack_bits(tests: Sequence[str], type_name: str) -> str:
    """Return SQL that packs some tests into one integer, the first one as its lowest bit.

    Args:
        tests: conditions in SQL.
        type_name: the type of the integer.
    """
    return " | ".join(
        f"CASE WHEN {test} THEN {write_integer(1 << bit, type_name)} "
        f"ELSE {write_integer(0, type_name)} END"
        for bit, test in enumerate(tests)
    )


def write_integer(number: int, type_name: str) -> str:
    """Return SQL of an integer of some type.

    >>> write_integer(4, "BIGINT"), write_integer(4, "TINYINT")
    ('4L', 'CAST(4 AS TINYINT)')
    """
    return f"{number}L" if type_name == "BIGINT" else f"CAST({number} AS {type_name})"
