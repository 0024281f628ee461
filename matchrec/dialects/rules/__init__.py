"""Rules: a node of an expression and the place where it stands → what means the same elsewhere.

sqlglot translates all else; where that means something else, `differences.txt` says so. A rule
that asks for kinds of columns may meet one that is not known: then Spark is asked for them, and the
query is translated once more.
"""
