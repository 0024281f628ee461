"""Columns that an expression may name, and their kinds as far as these are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from sqlglot import exp

from matchrec.dataclass import dataclass
from matchrec.frontends.dialects.rules.kinds import Kind, kind_of

Kinds = Mapping[str, Kind]
"""The kinds of columns by their names in lower case."""

Tables = Callable[[str], Kinds | None]
"""The columns of a table by its name as Spark writes it, None where they are not known."""


def no_tables(_: str) -> None:
    """Of a text that no session reads, no table is known."""


@dataclass(frozen=True, slots=True)
class ClauseKinds:
    """The columns of a clause's input, and those of its rows; None where they are not known."""

    inputs: Kinds | None = None
    outputs: Kinds | None = None


@dataclass(frozen=True, slots=True)
class KnownColumns:
    """What an expression may name.

    inputs: of the clause in which it stands; None outside of clauses. sources: the columns of
    relations outside, by the names that these have in FROM. tables: of all others. missed: columns
    whose kinds were asked for and are not known.
    """

    inputs: Kinds | None = None
    sources: Mapping[str, Kinds] = field(default_factory=dict)
    tables: Tables = no_tables
    missed: list[str] = field(default_factory=list)

    def kind(self, column: exp.Column) -> Kind | None:
        """The kind of a column; one that is not known is noted."""
        found = self._known(column)
        if found is None:
            self.missed.append(column.name)
        return found

    def has(self, select: exp.Select, name: str) -> bool | None:
        """Whether something that a query reads has a column of this name, None if not known."""
        found = {self._has(one, name.lower()) for one in _relations(select)}
        if True in found:
            return True
        if None in found:
            self.missed.append(name)
            return None
        return False

    def _has(self, relation: exp.Expr, name: str) -> bool | None:
        """Whether what stands after FROM has a column, None where that is not known."""
        query, names = _query_of(relation)
        if names:
            return name in names
        if query is None:
            kinds = self._of_table(relation)
            return None if kinds is None else name in kinds
        if not isinstance(query, exp.Select):
            return None
        if any(item.alias_or_name.lower() == name for item in query.expressions):
            return True
        return self.has(query, name) if query.is_star else False

    def _of_table(self, relation: exp.Expr) -> Kinds | None:
        """The columns of a clause's rows, or of a table."""
        if relation.name in self.sources:
            return self.sources[relation.name]
        if not isinstance(relation, exp.Table) or not isinstance(relation.this, exp.Identifier):
            return None
        return self.tables(exp.table_name(relation, "spark", identify=True))

    def _known(self, column: exp.Column) -> Kind | None:
        if self.inputs is not None:
            return self.inputs.get(column.name.lower())
        select = column.find_ancestor(exp.Select)
        return None if select is None else self.of_input(select, column.name.lower())

    def of_input(self, select: exp.Select, name: str) -> Kind | None:
        """The kind of a column that a query reads, if all that have it agree."""
        found = {self._of_relation(one, name) for one in _relations(select)} - {_ABSENT}
        kind = found.pop() if len(found) == 1 else None
        return None if kind is _ABSENT else kind

    def _of_relation(self, relation: exp.Expr, name: str) -> Kind | None:
        """The kind of a column of what stands after FROM; `_ABSENT` if it has no such column."""
        query, names = _query_of(relation)
        if names:
            return None if name in names else _ABSENT
        if query is not None:
            return self._of_output(query, name)
        kinds = self._of_table(relation)
        return None if kinds is None else kinds.get(name, _ABSENT)

    def _of_output(self, query: exp.Expr, name: str) -> Kind | None:
        """The kind of a column that a query gives."""
        if not isinstance(query, exp.Select):
            return None
        for item in query.expressions:
            if item.alias_or_name.lower() == name:
                return kind_of(item.unalias(), self._known)
        return self.of_input(query, name) if query.is_star else _ABSENT


_ABSENT = Kind.OTHER  # of a column that is not there; what is of no kind is not asked for


def _relations(select: exp.Select) -> list[exp.Expr]:
    """What a query reads."""
    found = [select.args.get("from_"), *select.args.get("joins", ())]
    return [one.this for one in found if one is not None]


def _query_of(relation: exp.Expr) -> tuple[exp.Expr | None, list[str]]:
    """The query that a relation is, itself or by WITH, and the names that it gives to columns."""
    named = relation if isinstance(relation, exp.Subquery) else _named_query(relation)
    names = relation.alias_column_names or (named.alias_column_names if named else [])
    query = None if named is None else named.this
    while isinstance(query, exp.SetOperation):
        query = query.this
    return query, [name.lower() for name in names]


def _named_query(relation: exp.Expr) -> exp.CTE | None:
    """What WITH has given the name of a relation."""
    inside: exp.CTE | None = relation.find_ancestor(exp.CTE)
    scope = relation.find_ancestor(exp.Query)
    while scope is not None and not relation.args.get("db"):
        for one in scope.ctes:
            if one is inside:  # which knows those before it, not itself
                inside = inside.find_ancestor(exp.CTE)
                break
            if one.alias.lower() == relation.name.lower():
                found: exp.CTE = one
                return found
        scope = scope.find_ancestor(exp.Query)
    return None
