"""The queries that relations in FROM are or name: subqueries, and definitions in WITH.

WITH s AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM s, (SELECT 2 AS m) AS q

s     names the definition `s AS (...)`, which has two queries
q     is the subquery `(SELECT 2 AS m) AS q`, which has one
r     names neither: it is a table
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp


def find_definition(relation: exp.Expr) -> exp.Subquery | exp.CTE | None:
    """Return the subquery that a relation is, or the definition in WITH that it names.

    Return None for other relations, such as tables.
    """
    if isinstance(relation, exp.Subquery):
        return relation
    if relation.args.get("db"):  # `db.t` can only be a table
        return None
    name = relation.name.lower()
    query = relation.find_ancestor(exp.Query)
    # The innermost definition around the relation whose WITH was not searched yet.
    enclosing_definition = relation.find_ancestor(exp.CTE)
    while query is not None:
        for definition in query.ctes:
            if definition is enclosing_definition:
                # It may name only the definitions before it, and not itself.
                enclosing_definition = definition.find_ancestor(exp.CTE)
                break
            if definition.alias.lower() == name:
                return definition
        query = query.find_ancestor(exp.Query)
    return None


def list_column_names(relation: exp.Expr, definition: exp.Expr | None) -> list[str]:
    """Return the names, in lower case, that a list as in `AS t (a, b)` gives to columns.

    The list of WITH counts if FROM has none. Without a list there are no names.

    Args:
        relation: the relation in FROM.
        definition: its definition, as from `find_definition`.
    """
    names = relation.alias_column_names
    if not names and definition is not None:
        names = definition.alias_column_names
    return [name.lower() for name in names]


def list_queries(definition: exp.Subquery | exp.CTE) -> list[exp.Expr]:
    """Return the queries of a definition: several if it is a UNION.

    The first one names the columns. Later queries that read the defined name itself are left out: a
    recursion has the types of the query that it starts with.
    """
    first, *others = _walk_queries_of_union(definition.this)
    if isinstance(definition, exp.CTE):
        defined_name = definition.alias.lower()
        others = [query for query in others if not reads_table(query, defined_name)]
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
