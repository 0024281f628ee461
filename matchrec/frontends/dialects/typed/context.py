"""Where an expression stands: what its columns are, and what rules have found out about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from matchrec.frontends.dialects.typed.kinds import Kind, kind_of

Kinds = Mapping[str, Kind]
"""The kinds of columns by their names in lower case."""


@dataclass(frozen=True, slots=True)
class ClauseKinds:
    """The columns of a clause's input, and those of its rows; None where they are not known."""

    inputs: Kinds | None = None
    outputs: Kinds | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """Where an expression stands.

    columns: of a clause's input; None outside a clause. sources: the columns of relations outside,
    by the names that these have in FROM. order: the first key by which a clause orders. of_rows:
    whether it is a measure that is seen from every row of a match. in_define: whether it is a
    condition of a variable. remarks:
    what means something else in the other product. missed: columns whose kinds rules do not know.
    """

    columns: Kinds | None = None
    sources: Mapping[str, Kinds] = field(default_factory=dict)
    order: str | None = None
    of_rows: bool = False
    in_define: bool = False
    remarks: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def kind(self, node: exp.Expr) -> Kind | None:
        """The kind of an expression; what is missing for it is noted."""
        return kind_of(node, self._column)

    def _column(self, column: exp.Column) -> Kind | None:
        found = self._known(column)
        if found is None:
            self.missed.append(column.name)
        return found

    def _known(self, column: exp.Column) -> Kind | None:
        name = column.name.lower()
        if self.columns is not None:
            return self.columns.get(name)
        select = column.find_ancestor(exp.Select)
        tables = [] if select is None else _tables(select)
        if not tables or any(table not in self.sources for table in tables):
            return None
        found = {self.sources[table][name] for table in tables if name in self.sources[table]}
        return found.pop() if len(found) == 1 else None


TypedRule = Callable[[exp.Expr, Context], exp.Expr]
"""Rewrites one node of an expression; a node that it does not concern comes back as it is."""


def _tables(select: exp.Select) -> list[str]:
    """The names of what a query reads; of a subquery, none that is known."""
    found = [select.args.get("from_"), *select.args.get("joins", ())]
    return [one.this.name for one in found if one is not None]
