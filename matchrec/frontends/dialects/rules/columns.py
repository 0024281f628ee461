"""Columns that an expression may name, and their kinds as far as these are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from matchrec.frontends.dialects.rules.kinds import Kind, kind_of

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
        if self.inputs is not None:
            return self.inputs.get(column.name.lower())
        select = column.find_ancestor(exp.Select)
        return None if select is None else self._of_input(select, column.name.lower())

    def _of_input(self, select: exp.Select, name: str) -> Kind | None:
        """The kind of a column that a query reads, if all that have it agree."""
        found = {self._of_relation(one, name) for one in _relations(select)} - {_ABSENT}
        kind = found.pop() if len(found) == 1 else None
        return None if kind is _ABSENT else kind

    def _of_relation(self, relation: exp.Expr, name: str) -> Kind | None:
        """The kind of a column of what stands after FROM; `_ABSENT` if it has no such column."""
        if isinstance(relation, exp.Subquery):
            return self._of_output(relation.this, name)
        if relation.name in self.sources:
            return self.sources[relation.name].get(name, _ABSENT)
        query = _named_query(relation)
        return None if query is None else self._of_output(query, name)

    def _of_output(self, query: exp.Expr, name: str) -> Kind | None:
        """The kind of a column that a query gives."""
        while isinstance(query, exp.SetOperation):
            query = query.this
        if not isinstance(query, exp.Select):
            return None
        for item in query.expressions:
            if item.alias_or_name.lower() == name:
                return kind_of(item.unalias(), self._known)
        return self._of_input(query, name) if query.is_star else _ABSENT


_ABSENT = Kind.OTHER  # of a column that is not there; what is of no kind is not asked for


def _relations(select: exp.Select) -> list[exp.Expr]:
    """What a query reads."""
    found = [select.args.get("from_"), *select.args.get("joins", ())]
    return [one.this for one in found if one is not None]


def _named_query(relation: exp.Expr) -> exp.Expr | None:
    """The query that WITH has given the name of a relation."""
    scope = relation.find_ancestor(exp.Query)
    while scope is not None:
        for one in scope.ctes:
            if one.alias.lower() == relation.name.lower() and not one.args["alias"].columns:
                query: exp.Expr = one.this
                return query
        scope = scope.find_ancestor(exp.Query)
    return None
