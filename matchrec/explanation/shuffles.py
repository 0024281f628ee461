"""Which clauses of a query Spark shuffles once for all of them, and which by themselves.

Spark takes the shuffle of one clause for another where both have the same plan: the same rows,
divided alike, with the same columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matchrec.dataclass import dataclass
from matchrec.plan.text.template import Template


@dataclass(frozen=True, slots=True)
class Shuffled:
    """What a clause has Spark shuffle. rows: their query. keys: how they are divided and sorted.

    columns: the query of what crosses the shuffle.
    """

    rows: Template
    keys: tuple[str, ...]
    columns: Template


def shuffle_lines(clauses: Sequence[Shuffled | None]) -> Iterator[tuple[str, ...]]:
    """What is to be said of each clause beside those before it. None: what has no shuffle."""
    for place, one in enumerate(clauses):
        before = list(enumerate(clauses[:place], 1))
        alike = [number for number, other in before if one is not None and other == one]
        divided = [number for number, other in before if divides_alike(one, other)]
        if alike:
            yield (f"with the shuffle of clause {alike[0]}: the same columns of the same rows",)
        elif divided:
            other = f"clause {divided[0]} has other columns of these rows, or other tests of them"
            yield (
                f"with a shuffle of its own: {other}",
                "matchrec.match_all shuffles once for many clauses",
            )
        else:
            yield ()


def divides_alike(one: Shuffled | None, other: Shuffled | None) -> bool:
    """Whether two clauses divide the same rows by the same keys."""
    if one is None or other is None:
        return False
    return one.rows == other.rows and one.keys == other.keys
