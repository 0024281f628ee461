"""The columns that an expression can name, and their kinds.

An expression of a clause reads the columns of the clause's input. An expression of a query reads
the relations in FROM, which may be subqueries or names from WITH: then the kind of a column is the
kind of the expression that the subquery selects.

    WITH s AS (SELECT price / 2 AS half, * FROM ticks) SELECT half, price FROM s

    half     the kind of `price / 2`
    price    the kind that the session knows for the column of the table ticks
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import Enum

from sqlglot import exp

from matchrec.dialects.rules.named_queries import find_definition, list_column_names, list_queries
from matchrec.dialects.rules.value_kinds import ValueKind, combine_kinds, find_kind

# The kinds of columns, by their names in lower case.
ColumnKinds = Mapping[str, ValueKind]

# Returns the kinds of a table's columns, given its name as Spark writes it. None if the table is
# not known.
TableLookup = Callable[[str], ColumnKinds | None]

# Kinds that a column of a UNION has only if no other query gives it a wider kind.
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
    """The columns that an expression can name.

    An expression of a clause names columns of the clause's input, which `look_up_inputs` returns.
    Any other expression names columns of the relations of its query, which the tree shows.
    """

    # Returns the kinds of the columns of the clause's input; None outside of clauses.
    look_up_inputs: Callable[[], ColumnKinds] | None = None
    # The kinds of the columns of the results of clauses, by the names that replace the clauses in
    # FROM.
    clause_results: Mapping[str, ColumnKinds] = field(default_factory=dict)
    # Looks up the kinds of the columns of all other tables.
    look_up_table: TableLookup = find_no_table

    def find_presence(self, select: exp.Select, name: str) -> Presence:
        """Return whether a relation that a query reads has a column of this name."""
        return self._search_inputs(select, name.lower()).presence

    def find_kind(self, column: exp.Column) -> ValueKind | None:
        """Return the kind of a column; None if it is not known."""
        name = column.name.lower()
        if self.look_up_inputs is not None:
            return self.look_up_inputs().get(name)
        select = column.find_ancestor(exp.Select)
        return None if select is None else self._search_inputs(select, name).kind

    def _search_inputs(self, select: exp.Select, name: str) -> ColumnSearchResult:
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
        """Search one relation of FROM for a column.

        A column that is renamed as in `AS t (a, b)` is found, but its kind is not.
        """
        definition = find_definition(relation)
        renamed_columns = list_column_names(relation, definition)
        if renamed_columns:
            is_renamed = name in renamed_columns
            return ColumnSearchResult(Presence.PRESENT if is_renamed else Presence.ABSENT)
        if definition is None:
            return self._search_table(relation, name)
        return self._search_queries(list_queries(definition), name)

    def _search_queries(self, queries: Sequence[exp.Expr], name: str) -> ColumnSearchResult:
        """Search the result of a query, or of several queries in a UNION, for a column.

        Args:
            queries: at least one query, as from `list_queries`.
            name: the name of the column, in lower case.
        """
        first, *others = queries
        if not isinstance(first, exp.Select):
            return ColumnSearchResult(Presence.UNKNOWN)
        for index, item in enumerate(first.expressions):
            if item.alias_or_name.lower() == name:
                kind = find_kind(item.unalias(), self.find_kind)
                kind = _widen_kind(kind, self._find_kinds_of_items(others, index))
                return ColumnSearchResult(Presence.PRESENT, kind)
        if not first.is_star:
            return ColumnSearchResult(Presence.ABSENT)
        result = self._search_inputs(first, name)
        # It is not known which column of the other queries is at the same position as this column.
        return replace(result, kind=_widen_kind(result.kind, {None} if others else set()))

    def _find_kinds_of_items(
        self, queries: Sequence[exp.Expr], index: int
    ) -> set[ValueKind | None]:
        """Return the kinds of the items at an index of select lists.

        None is among the kinds if the kind of an item is not known. A NULL has no kind.
        """
        kinds: set[ValueKind | None] = set()
        for query in queries:
            has_item = isinstance(query, exp.Select) and index < len(query.expressions)
            if not has_item or query.is_star:
                kinds.add(None)
                continue
            item = query.expressions[index].unalias()
            if not isinstance(item, exp.Null):
                kinds.add(find_kind(item, self.find_kind))
        return kinds

    def _search_table(self, relation: exp.Expr, name: str) -> ColumnSearchResult:
        """Search the result of a clause, or a table of the session, for a column."""
        kinds = self.clause_results.get(relation.name)
        if kinds is None and isinstance(relation, exp.Table):
            has_name = isinstance(relation.this, exp.Identifier)  # and is no call as in FROM f(x)
            if has_name:
                kinds = self.look_up_table(exp.table_name(relation, "spark", identify=True))
        if kinds is None:
            return ColumnSearchResult(Presence.UNKNOWN)
        if name in kinds:
            return ColumnSearchResult(Presence.PRESENT, kinds[name])
        return ColumnSearchResult(Presence.ABSENT)


def _widen_kind(kind: ValueKind | None, other_kinds: Set[ValueKind | None]) -> ValueKind | None:
    """Return the kind of a column of a UNION; None if it is not known.

    Queries in which the kind is not known count only if they could widen the kind of the others.

    Args:
        kind: the kind of the column in the first query.
        other_kinds: the kinds in the other queries; None is among them if a kind is not known.
    """
    kinds = {kind, *other_kinds}
    widest = combine_kinds(kinds - {None})
    return None if None in kinds and widest in _WIDENED_BY_UNION else widest
