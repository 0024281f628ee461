"""Dialects: a query in the SQL of one product goes in, the same query for another one comes out.

    products     the products, each with its defaults and names
    translate    query or clause → edits of its text, and notes on what differs
    spellings    what one product adds or spells in its own way, in the words of all
    clause_edits the parts of a clause, and of a row pattern window
    limits       what of the clause a product lacks
    fragments    what sqlglot translates, one expression or query at a time
    rules        what of the clause's own expressions sqlglot does not translate
    differences  what of all else it translates otherwise: warned of, or refused

Nothing is dropped: what need not change stays as it was written, and every place of the new text
leads back to the old one.

>>> from matchrec.dialects.products import PRODUCTS
>>> from matchrec.dialects.translate import translate_clause
>>> clause = "ORDER BY ts PATTERN (A B) DEFINE B AS x::int > LAG(x)"
>>> translate_clause(clause, PRODUCTS["snowflake"], PRODUCTS["spark"]).text
'ORDER BY ts NULLS LAST PATTERN (A B) DEFINE B AS CAST(x AS INT) > PREV(x)'
"""
