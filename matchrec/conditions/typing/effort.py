"""Refuses run conditions that would become too large, while they are being typed."""

from __future__ import annotations

from matchrec.dataclass import dataclass
from matchrec.errors.conditions import operations_nested_too_deep, too_many_operations
from matchrec.plan.expression import DEEPEST
from matchrec.source import Span

MOST_OPERATIONS = 200_000


@dataclass(slots=True)
class Effort:
    """How many steps have been typed, and how many are being typed now, one in another.

    whole: where the outermost of these was written.
    """

    operations: int = 0
    depth: int = 0
    whole: Span | None = None

    def enter(self, span: Span) -> None:
        """One more step begins. Raises where there are too many."""
        if self.depth == 0:
            self.whole = span
        self.operations += 1
        self.depth += 1
        if self.operations > MOST_OPERATIONS:
            raise too_many_operations(MOST_OPERATIONS, self.whole)
        if self.depth > DEEPEST + 1:
            raise operations_nested_too_deep(DEEPEST, self.whole)

    def leave(self) -> None:
        """The step that began last is done."""
        self.depth -= 1
