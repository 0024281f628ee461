"""Says what the query around a clause uses of its result: the rest need not be computed."""

from __future__ import annotations

from matchrec.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class KeyTest:
    """`column test` must hold, such as `= 'X'` of the column `symbol`."""

    column: str
    test: str


@dataclass(frozen=True, slots=True)
class Use:
    """columns: lower-case names of all that may be read, None where that may be every column.

    keys: tests that each row must pass to be in the result; those of partition columns decide on
    whole partitions. unread: lower-case names of what is not read in any case.
    """

    columns: frozenset[str] | None = None
    keys: tuple[KeyTest, ...] = ()
    unread: frozenset[str] = frozenset()

    def reads(self, name: str) -> bool:
        """Whether a column of the clause may be read."""
        own = name.lower()
        return own not in self.unread and (self.columns is None or own in self.columns)


EVERYTHING = Use()
