"""A `Pattern` with the order and the partitions of its events, and the columns of the result."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from matchrec.patterns.stages import tree
from matchrec.patterns.stages.builder import Pattern
from matchrec.plan import clauses
from matchrec.syntax.key_arguments import make_key_expression
from matchrec.syntax.tokens import SPARK, QuoteDialect


@dataclass(frozen=True)
class PatternQuery:
    """A pattern over ordered events, and the rows and columns of its result."""

    # The pattern.
    pattern: Pattern
    # The keys by which events are ordered, as SQL over one event.
    order_by: tuple[str, ...]
    # The keys that divide events into partitions, as SQL over one event.
    partition_by: tuple[str, ...]
    # The columns of the input that the result has for each event; empty for all columns.
    columns: tuple[str, ...]
    # The rows of the result: one for each match, or one for each event of a match.
    rows: clauses.RowsPerMatch = clauses.RowsPerMatch.ONE_ROW
    # Whether the result also has runs that timed out.
    timeouts: bool = False
    # The dialect of conditions that are SQL text.
    dialect: QuoteDialect = SPARK

    @cached_property
    def order(self) -> tuple[clauses.RowExpression, ...]:
        """Return the keys of `order_by` as expressions, in the same order."""
        return tuple(make_key_expression(text) for text in self.order_by)

    @cached_property
    def stage_names(self) -> tuple[str, ...]:
        """Return the names of the stages that accept events, without negated stages and groups."""
        stages = tree.list_single_stages(self.pattern._stages)
        return tuple(stage.name for stage in stages if not stage.is_negated)
