"""The columns that an expression can name, and their kinds.

An expression of a clause reads the columns of the clause's input. An expression of a query reads
the relations in FROM, which may be subqueries or names from WITH: then the kind of a column is the
kind of the expression that the subquery selects.

    WITH s AS (SELECT price / 2 AS half, * FROM ticks) SELECT half, price FROM s

    half     the kind of `price / 2`
    price    the kind that the session knows for the column of the table ticks
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from sqlglot import exp

from matchrec.dialects.rules.value_kinds import ValueKind, combine_kinds, find_kind

# The kinds of columns, by their names in lower case.
ColumnKinds = Mapping[str, ValueKind]

# Returns the columns of a table, given its name as Spark writes it; None if they are not known.
TableLookup = Callable[[str], ColumnKinds | None]

# Kinds that a UNION changes if the values of another query have a wider kind.
_WIDENED_BY_UNION = frozenset(
    {ValueKind.INTEGER, ValueKind.DECIMAL, ValueKind.DATE, ValueKind.TIMESTAMP_NTZ}
)


def find_no_table(_: str) -> None:
    """Return None for every table, because there is no session that could look it up."""


class Presence(Enum):
    """Whether a relation has a column of some name."""

    PRESENT = "it has the column"
    ABSENT = "it does not have the column"
    UNKNOWN = "its columns are not known"


@dataclass(frozen=True, slots=True)
class ColumnSearchResult:
    """The result of a search for a column in one or several relations."""

    presence: Presence
    # The kind of the column; None if it is not known.
    kind: ValueKind | None = None


@dataclass(frozen=True, slots=True)
class ClauseKinds:
    """The kinds of the columns around a clause."""

    # The columns of its input; None if they are not known.
    inputs: ColumnKinds | None = None
    # The columns of its result; None if they are not known.
    outputs: ColumnKinds | None = None


@dataclass(frozen=True, slots=True)
class VisibleColumns:
    """The columns that an expression can name."""

    # Returns the columns of the clause's input. None if the expression is in no clause.
    look_up_inputs: Callable[[], ColumnKinds] | None = None
    # The columns of the results of clauses, by the names that stand for the clauses in FROM.
    clause_results: Mapping[str, ColumnKinds] = field(default_factory=dict)
    # Looks up the columns of all other tables.
    look_up_table: TableLookup = find_no_table

    def find_presence(self, select: exp.Select, name: str) -> Presence:
        """Return whether a relation that a query reads has a column of this name."""
        return self._search_query(select, name.lower()).presence

    def find_kind(self, column: exp.Column) -> ValueKind | None:
        """Return the kind of a column; None if it is not known."""
        name = column.name.lower()
        if self.look_up_inputs is not None:
            return self.look_up_inputs().get(name)
        select = column.find_ancestor(exp.Select)
        return None if select is None else self._search_query(select, name).kind

    def _search_query(self, select: exp.Select, name: str) -> ColumnSearchResult:
        """Search the relations that a query reads for a column.

        The kind is only known if all relations that have the column, or may have it, agree.
        """
        clauses = [select.args.get("from_"), *select.args.get("joins", ())]
        results = [self._search_relation(clause.this, name) for clause in clauses if clause]
        kinds = {result.kind for result in results if result.presence is not Presence.ABSENT}
        kind = kinds.pop() if len(kinds) == 1 else None
        presences = {result.presence for result in results}
        for presence in (Presence.PRESENT, Presence.UNKNOWN):
            if presence in presences:
                return ColumnSearchResult(presence, kind)
        return ColumnSearchResult(Presence.ABSENT)

    def _search_relation(self, relation: exp.Expr, name: str) -> ColumnSearchResult:
        """Search a table or subquery of FROM for a column."""
        definition = relation if isinstance(relation, exp.Subquery) else _find_definition(relation)
        column_names = _list_column_names(relation, definition)
        if column_names:
            is_listed = name in column_names
            return ColumnSearchResult(Presence.PRESENT if is_listed else Presence.ABSENT)
        if definition is None:
            return self._search_table(relation, name)
        query, *other_queries = _list_queries(definition)
        if not isinstance(query, exp.Select):
            return ColumnSearchResult(Presence.UNKNOWN)
        for index, item in enumerate(query.expressions):
            if item.alias_or_name.lower() == name:
                kind = find_kind(item.unalias(), self.find_kind)
                kind = self._widen_kind(kind, other_queries, index)
                return ColumnSearchResult(Presence.PRESENT, kind)
        if not query.is_star:
            return ColumnSearchResult(Presence.ABSENT)
        result = self._search_query(query, name)
        return replace(result, kind=self._widen_kind(result.kind, other_queries, None))

    def _search_table(self, relation: exp.Expr, name: str) -> ColumnSearchResult:
        """Search the result of a clause, or a table of the session, for a column."""
        kinds = self.clause_results.get(relation.name)
        if (
            kinds is None
            and isinstance(relation, exp.Table)
            and isinstance(relation.this, exp.Identifier)
        ):
            kinds = self.look_up_table(exp.table_name(relation, "spark", identify=True))
        if kinds is None:
            return ColumnSearchResult(Presence.UNKNOWN)
        if name in kinds:
            return ColumnSearchResult(Presence.PRESENT, kinds[name])
        return ColumnSearchResult(Presence.ABSENT)

    def _widen_kind(
        self, kind: ValueKind | None, other_queries: Sequence[exp.Expr], index: int | None
    ) -> ValueKind | None:
        """Return the kind of a column of a UNION; None if it is not known.

        Queries in which the column is not known do not count if the kind cannot be widened.

        Args:
            kind: the kind of the column in the first query.
            other_queries: the queries after the first one.
            index: the index of the column in each query; None if it comes from `*`.
        """
        kinds = {kind}
        for query in other_queries:
            item: exp.Expr | None = None
            if isinstance(query, exp.Select) and not query.is_star and index is not None:
                item = next(iter(query.expressions[index : index + 1]), None)
            if item is None:
                kinds.add(None)
            elif not isinstance(item.unalias(), exp.Null):
                kinds.add(find_kind(item.unalias(), self.find_kind))
        widest = combine_kinds(kinds - {None})
        return None if None in kinds and widest in _WIDENED_BY_UNION else widest


def _list_column_names(relation: exp.Expr, definition: exp.Expr | None) -> list[str]:
    """Return the names, in lower case, that a list as in `AS t (a, b)` gives to columns.

    The list of WITH counts if FROM has none. Without a list there are no names.

    Args:
        relation: the relation in FROM.
        definition: the subquery, or the definition in WITH, that the relation is or names.
    """
    names = relation.alias_column_names
    if not names and definition is not None:
        names = definition.alias_column_names
    return [name.lower() for name in names]


def _list_queries(definition: exp.Expr) -> list[exp.Expr]:
    """Return the queries of a subquery or of a definition in WITH: several if it is a UNION.

    The columns have the names of the first query's. Later queries that read the defined name itself
    are left out: a recursion has the types of the query that it starts with.
    """
    first, *others = _walk_queries_of_union(definition.this)
    if isinstance(definition, exp.CTE):
        own_name = definition.alias.lower()
        others = [query for query in others if not reads_table(query, own_name)]
    return [first, *others]


def _walk_queries_of_union(query: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the queries that a UNION, INTERSECT or EXCEPT combines; else the query itself."""
    if isinstance(query, exp.SetOperation):
        yield from _walk_queries_of_union(query.this)
        yield from _walk_queries_of_union(query.expression)
    else:
        yield query


def reads_table(query: exp.Expr, name: str) -> bool:
    """Return whether a query reads a table of this name, which is in lower case."""
    tables = query.find_all(exp.Table)
    return any(table.name.lower() == name and not table.db for table in tables)


def _find_definition(relation: exp.Expr) -> exp.CTE | None:
    """Return the definition in WITH of the name of a relation; None if there is none."""
    inside: exp.CTE | None = relation.find_ancestor(exp.CTE)
    scope = relation.find_ancestor(exp.Query)
    while scope is not None and not relation.args.get("db"):
        for cte in scope.ctes:
            if cte is inside:  # a definition knows those before it, but not itself
                inside = inside.find_ancestor(exp.CTE)
                break
            if cte.alias.lower() == relation.name.lower():
                definition: exp.CTE = cte
                return definition
        scope = scope.find_ancestor(exp.Query)
    return None
