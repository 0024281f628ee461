"""The place of an expression: all that a rule may ask about it, and what rules say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace

from sqlglot import exp

from matchrec.dataclass import dataclass
from matchrec.frontends.dialects.product import Product
from matchrec.frontends.dialects.rules.columns import KnownColumns
from matchrec.frontends.dialects.rules.kinds import Kind, kind_of
from matchrec.frontends.sql.clause.nodes import MatchRecognize
from matchrec.frontends.sql.clause.sections import Part
from matchrec.plan.clauses import RowsPerMatch


@dataclass(frozen=True, slots=True)
class Remark:
    """What means something else in the other product. is_met: as of a Note."""

    message: str
    is_met: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where an expression stands, and for which product it is written.

    clause, part: None outside of clauses. quoted: names of variables that must stand in quotes,
    each as it was written. remarks: of rules, in the order in which they were made.
    """

    read: Product
    write: Product
    clause: MatchRecognize | None = None
    part: Part | None = None
    columns: KnownColumns = field(default_factory=KnownColumns)
    quoted: Mapping[str, str] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)

    @property
    def is_measure(self) -> bool:
        """Whether it is one of MEASURES."""
        return self.part is Part.MEASURES

    @property
    def is_condition(self) -> bool:
        """Whether it is one of DEFINE."""
        return self.part is Part.DEFINE

    @property
    def is_seen_from_rows(self) -> bool:
        """Whether it is a measure of every row of a match, not of the match."""
        one_row = self.clause is None or self.clause.rows_per_match in (None, RowsPerMatch.ONE_ROW)
        return self.is_measure and not one_row

    @property
    def order(self) -> str | None:
        """The first key by which the clause orders."""
        keys = self.clause.order_by if self.clause else ()
        return keys[0].expression.text if keys else None

    def within(self, clause: MatchRecognize, part: Part) -> Place:
        """The same in a part of a clause, with no remarks yet."""
        return replace(self, clause=clause, part=part, remarks=[])

    def kind(self, node: exp.Expr) -> Kind | None:
        """The kind of an expression; what is missing for it is noted."""
        return kind_of(node, self.columns.kind)

    def remark(self, message: str, *, is_met: bool = False) -> None:
        """Note what means something else in the other product."""
        self.remarks.append(Remark(message, is_met))


Rule = Callable[[exp.Expr, Place], exp.Expr]
"""Rewrites one node of an expression; a node that it does not concern comes back as it is."""
