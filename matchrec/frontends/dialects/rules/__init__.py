"""Rules: a node of an expression and the place where it stands → what means the same elsewhere.

    place            what a rule may ask: the products, the part of the clause, kinds of columns
    of_products      which rules each product has, in their order
    snowflake, ...   rules of one product
    times, numbers, aggregates, navigation, texts   rules that several products share
    collected        what an aggregate collects, as an array

sqlglot translates all else. A rule that asks for kinds of columns may meet one that is not known:
then Spark is asked for them, and the query is translated once more.
"""
