"""Syntax nodes of the clause: what its author wrote, with defaults still open.

Clauses that differ in spans only are equal.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum

from matchrec.dataclass import dataclass
from matchrec.frontends.lexing.dialect import SPARK, Dialect
from matchrec.plan.clauses import (
    AfterMatchSkip,
    ColumnOrder,
    EventSelection,
    MatchOutput,
    PartialMatches,
    RowsPerMatch,
    Subset,
)
from matchrec.plan.pattern import RowPattern
from matchrec.source import Span


@dataclass(frozen=True, slots=True)
class ExpressionText:
    """An expression as written, up to its last character."""

    text: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class PartitionKey:
    """One PARTITION BY key, `expression` or `expression AS name`. span: of all of it."""

    expression: ExpressionText
    name: str | None = None
    span: Span = field(compare=False, default=Span(0, 0))


@dataclass(frozen=True, slots=True)
class SortKey:
    """One ORDER BY key; None where nothing is written. span: of all of it."""

    expression: ExpressionText
    descending: bool | None = None
    nulls_first: bool | None = None
    span: Span = field(compare=False, default=Span(0, 0))


@dataclass(frozen=True, slots=True)
class MeasureNode:
    """`expression AS name`. span: of the name."""

    expression: ExpressionText
    name: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class DefinitionNode:
    """`variable AS condition`; the variable is normalized. span: of the variable."""

    variable: str
    condition: ExpressionText
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class WindowNode:
    """How far rows may lie apart: the first and the last one, neighbours, or rows of variables."""

    interval: ExpressionText
    span: Span = field(compare=False)
    between_rows: bool = False
    after: str | None = None
    to: str | None = None


class Search(Enum):
    """Where the first match may start; of the WINDOW clause only."""

    INITIAL = "INITIAL"
    SEEK = "SEEK"


@dataclass(frozen=True, slots=True)
class MatchRecognize:
    """All that stands between the parentheses of MATCH_RECOGNIZE. None: nothing is written.

    pattern_span: of PATTERN's parentheses. dialect: in which its expressions are written. columns:
    their order in the product for which it was written.
    """

    pattern: RowPattern
    pattern_span: Span = field(compare=False, default=Span(0, 0))
    partition_by: tuple[PartitionKey, ...] = ()
    order_by: tuple[SortKey, ...] = ()
    measures: tuple[MeasureNode, ...] = ()
    rows_per_match: RowsPerMatch | None = None
    partial: PartialMatches | None = None
    after_match: AfterMatchSkip | None = None
    search: Search | None = None
    search_span: Span | None = field(compare=False, default=None)
    windows: tuple[WindowNode, ...] = ()
    selection: EventSelection | None = None
    output: MatchOutput | None = None
    subsets: tuple[Subset, ...] = ()
    definitions: tuple[DefinitionNode, ...] = ()
    dialect: Dialect = SPARK
    columns: ColumnOrder = ColumnOrder.STANDARD
    span: Span = field(compare=False, default=Span(0, 0))

    @property
    def within(self) -> ExpressionText | None:
        """How far the last row of a match may lie after the first one."""
        whole = (one for one in self.windows if not one.between_rows and one.after is None)
        return next((one.interval for one in whole), None)

    @property
    def gaps(self) -> tuple[WindowNode, ...]:
        """The windows between neighbours and between variables."""
        return tuple(one for one in self.windows if one.between_rows or one.after is not None)
