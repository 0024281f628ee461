"""Rules: a node of an expression and the place where it stands → what means the same elsewhere.

place            what a rule may ask: the products, the part of the clause, kinds of columns
of_products      rules of one product, and the table of all that it has, in their order
oracle           those of Oracle
aggregates, values, qualify   rules that several products share

sqlglot translates all else; where that means something else, `differences.txt` says so. A rule
that asks for kinds of columns may meet one that is not known: then Spark is asked for them, and the
query is translated once more.
"""
