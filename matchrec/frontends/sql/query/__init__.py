"""The query around the clauses: text goes in, a `Query` with a `Site` for each clause comes out.

`locate` finds the clauses and what each applies to; `splice` puts holes where they stood. Nothing
else of the query is read, let alone changed.
"""
