"""A `Pattern` together with how its events are ordered and what is returned of its matches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from matchrec.patterns.stages import tree
from matchrec.patterns.stages.builder import Pattern
from matchrec.plan import clauses
from matchrec.syntax.key_arguments import make_key_expression
from matchrec.syntax.tokens import SPARK, Dialect


@dataclass(frozen=True)
class PatternQuery:
    """A pattern over events, and what is returned of its matches."""

    # The pattern.
    pattern: Pattern
    # The keys by which events are ordered, as SQL over one event.
    order_by: tuple[str, ...]
    # The keys that divide events into partitions, as SQL over one event.
    partition_by: tuple[str, ...]
    # The columns of an event in the result; empty for all columns.
    columns: tuple[str, ...]
    # One row for each match, or one row for each of its events.
    rows: clauses.RowsPerMatch = clauses.RowsPerMatch.ONE_ROW
    # Whether runs that timed out are output, too.
    timeouts: bool = False
    # The dialect of the conditions.
    dialect: Dialect = SPARK

    @cached_property
    def order(self) -> tuple[clauses.RowExpression, ...]:
        """The expressions of `order_by`."""
        return tuple(make_key_expression(text) for text in self.order_by)

    @cached_property
    def stage_names(self) -> tuple[str, ...]:
        """The names of the stages that have events."""
        stages = tree.list_single_stages(self.pattern._stages)
        return tuple(stage.name for stage in stages if not stage.negated)
