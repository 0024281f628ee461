"""Says what the query around a clause uses of its result: the rest need not be computed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyTest:
    """`column test` must hold, such as `= 'X'` of the column `symbol`."""

    column: str
    test: str


@dataclass(frozen=True, slots=True)
class Use:
    """columns: lower-case names of all that may be read, None where that may be every column.

    keys: tests that each row must pass to be in the result; those of partition columns decide on
    whole partitions.
    """

    columns: frozenset[str] | None = None
    keys: tuple[KeyTest, ...] = ()

    def reads(self, name: str) -> bool:
        """Whether a column of the clause may be read."""
        return self.columns is None or name.lower() in self.columns


EVERYTHING = Use()
