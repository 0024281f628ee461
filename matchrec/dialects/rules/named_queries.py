"""Find the queries behind a relation in FROM: a subquery, or a definition in WITH.

For each relation of this query, `find_definition` returns the following, and `list_queries` the
queries in it:

    WITH s AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM s, (SELECT 2 AS m) AS q

    relation    find_definition                  list_queries
    s           `s AS (...)`, an `exp.CTE`       SELECT 1 AS n, and SELECT n + 1 FROM r
    q           itself, an `exp.Subquery`        SELECT 2 AS m
    r           None, because it is a table
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp


def find_definition(relation: exp.Expr) -> exp.Subquery | exp.CTE | None:
    """Return the definition of a relation: a subquery, or the definition in WITH that it names.

    Return None for other relations, such as tables.
    """
    if isinstance(relation, exp.Subquery):
        return relation
    if relation.args.get("db"):  # `db.t` can only be a table
        return None
    name = relation.name.lower()
    for definition in _walk_visible_definitions(relation):
        if definition.alias.lower() == name:
            return definition
    return None


def _walk_visible_definitions(relation: exp.Expr) -> Iterator[exp.CTE]:
    """Yield the definitions in WITH that a relation can name, inner queries first.

    A relation inside a definition can name only the definitions before it:

        WITH a AS (...), b AS (SELECT * FROM x), c AS (...) SELECT ...      for x only a
    """
    enclosing_definitions = _list_enclosing_definitions(relation)
    query = relation.find_ancestor(exp.Query)
    while query is not None:
        for definition in query.ctes:
            if any(definition is enclosing for enclosing in enclosing_definitions):
                break
            yield definition
        query = query.find_ancestor(exp.Query)


def _list_enclosing_definitions(relation: exp.Expr) -> list[exp.CTE]:
    """Return the definitions in WITH that a relation is inside."""
    definitions = []
    definition = relation.find_ancestor(exp.CTE)
    while definition is not None:
        definitions.append(definition)
        definition = definition.find_ancestor(exp.CTE)
    return definitions


def list_column_names(relation: exp.Expr, definition: exp.Subquery | exp.CTE | None) -> list[str]:
    """Return the names of a relation's columns, in lower case, if they are listed as in `t (a, b)`.

        WITH t (a, b) AS (...) SELECT * FROM t                 a and b
        WITH t (a, b) AS (...) SELECT * FROM t AS s (c, d)     c and d: the list in FROM wins
        WITH t AS (...) SELECT * FROM t                        no names

    Args:
        relation: the relation in FROM.
        definition: its definition, as from `find_definition`.
    """
    names = relation.alias_column_names
    if not names and definition is not None:
        names = definition.alias_column_names
    return [name.lower() for name in names]


def list_queries(definition: exp.Subquery | exp.CTE) -> list[exp.Expr]:
    """Return the queries whose rows a definition has: several if it is a UNION.

    The columns have the names that the first query gives them. The other queries of a recursion,
    which read the defined name itself, are left out: the first query alone decides about the types.
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
    """Return whether a query reads a relation of this name, anywhere in it.

    Args:
        query: the query.
        name: the name, in lower case and without a schema.
    """
    tables = query.find_all(exp.Table)
    return any(table.name.lower() == name and not table.db for table in tables)
