"""Columns that an expression may name, and their kinds as far as these are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from matchrec.frontends.dialects.rules.kinds import Kind

Kinds = Mapping[str, Kind]
"""The kinds of columns by their names in lower case."""


@dataclass(frozen=True, slots=True)
class ClauseKinds:
    """The columns of a clause's input, and those of its rows; None where they are not known."""

    inputs: Kinds | None = None
    outputs: Kinds | None = None


@dataclass(frozen=True, slots=True)
class KnownColumns:
    """What an expression may name.

    inputs: of the clause in which it stands; None outside of clauses. sources: the columns of
    relations outside, by the names that these have in FROM. missed: columns whose kinds were asked
    for and are not known.
    """

    inputs: Kinds | None = None
    sources: Mapping[str, Kinds] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)

    def kind(self, column: exp.Column) -> Kind | None:
        """The kind of a column; one that is not known is noted."""
        found = self._known(column)
        if found is None:
            self.missed.append(column.name)
        return found

    def _known(self, column: exp.Column) -> Kind | None:
        name = column.name.lower()
        if self.inputs is not None:
            return self.inputs.get(name)
        select = column.find_ancestor(exp.Select)
        tables = [] if select is None else _tables(select)
        if not tables or any(table not in self.sources for table in tables):
            return None
        found = {self.sources[table][name] for table in tables if name in self.sources[table]}
        return found.pop() if len(found) == 1 else None


def _tables(select: exp.Select) -> list[str]:
    """The names of what a query reads; of a subquery, none that is known."""
    found = [select.args.get("from_"), *select.args.get("joins", ())]
    return [one.this.name for one in found if one is not None]
