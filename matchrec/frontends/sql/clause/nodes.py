"""Syntax nodes of the clause: what its author wrote, with defaults still open.

A clause prints itself; parsing the print gives an equal clause (spans do not count).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum

from matchrec.frontends.lexing.dialect import SPARK, Dialect
from matchrec.plan.clauses import AfterMatchSkip, EventSelection, MatchOutput, RowsPerMatch, Subset
from matchrec.plan.pattern import RowPattern, show, show_name
from matchrec.source import Span


@dataclass(frozen=True, slots=True)
class ExpressionText:
    """An expression as written, up to its last character."""

    text: str
    span: Span = field(compare=False)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class SortKey:
    """One ORDER BY key; None where nothing is written."""

    expression: ExpressionText
    descending: bool | None = None
    nulls_first: bool | None = None

    def __str__(self) -> str:
        direction = {None: "", True: " DESC", False: " ASC"}[self.descending]
        nulls = {None: "", True: " NULLS FIRST", False: " NULLS LAST"}[self.nulls_first]
        return f"{self.expression}{direction}{nulls}"


@dataclass(frozen=True, slots=True)
class MeasureNode:
    """`expression AS name`. span: of the name."""

    expression: ExpressionText
    name: str
    span: Span = field(compare=False)

    def __str__(self) -> str:
        return f"{self.expression} AS {show_column(self.name)}"


@dataclass(frozen=True, slots=True)
class DefinitionNode:
    """`variable AS condition`; the variable is normalized. span: of the variable."""

    variable: str
    condition: ExpressionText
    span: Span = field(compare=False)

    def __str__(self) -> str:
        return f"{show_name(self.variable)} AS {self.condition}"


class Search(Enum):
    """Where the first match may start; of the WINDOW clause only."""

    INITIAL = "INITIAL"
    SEEK = "SEEK"


@dataclass(frozen=True, slots=True)
class MatchRecognize:
    """All that stands between the parentheses of MATCH_RECOGNIZE. None: nothing is written.

    dialect: in which its expressions are written.
    """

    pattern: RowPattern
    partition_by: tuple[ExpressionText, ...] = ()
    order_by: tuple[SortKey, ...] = ()
    measures: tuple[MeasureNode, ...] = ()
    rows_per_match: RowsPerMatch | None = None
    after_match: AfterMatchSkip | None = None
    search: Search | None = None
    search_span: Span | None = field(compare=False, default=None)
    within: ExpressionText | None = None
    selection: EventSelection | None = None
    output: MatchOutput | None = None
    subsets: tuple[Subset, ...] = ()
    definitions: tuple[DefinitionNode, ...] = ()
    dialect: Dialect = SPARK
    span: Span = field(compare=False, default=Span(0, 0))

    def __str__(self) -> str:
        words = "".join(f" {one.value}" for one in (self.selection, self.output) if one)
        within = f" WITHIN {self.within}" if self.within else ""
        lines = (
            _list("PARTITION BY", self.partition_by),
            _list("ORDER BY", self.order_by),
            _list("MEASURES", self.measures),
            self.rows_per_match.value if self.rows_per_match else "",
            _show_skip(self.after_match) if self.after_match else "",
            self.search.value if self.search else "",
            f"PATTERN ({show(self.pattern)}){words}{within}",
            _list("SUBSET", tuple(_show_subset(subset) for subset in self.subsets)),
            _list("DEFINE", self.definitions),
        )
        return "\n".join(line for line in lines if line)


def _list(keyword: str, items: tuple[object, ...]) -> str:
    return f"{keyword} {', '.join(str(item) for item in items)}" if items else ""


def _show_skip(skip: AfterMatchSkip) -> str:
    variable = "" if skip.variable is None else f" {show_name(skip.variable)}"
    return f"AFTER MATCH SKIP {skip.to.value}{variable}"


def _show_subset(subset: Subset) -> str:
    members = ", ".join(show_name(member) for member in subset.members)
    return f"{show_name(subset.name)} = ({members})"


def show_column(name: str) -> str:
    """A column's name as it would be written: quoted unless it is one plain word."""
    quoted = name.replace("`", "``")
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else f"`{quoted}`"
