"""Dialects: turn a query in the SQL of one product into the same query in the SQL of another one.

    products            the products, each with its defaults and names
    translate           query or clause → edits of its text, and notes on what differs
    product_tokens      a text in the SQL of a product → our tokens
    query_checks        checks of a query of Spark SQL, and of a query for the same product
    spellings           what only one product can read, rewritten in the grammar of all; with
                        `spellings_azure`, `spellings_bigquery`, `product_options` and `comments`
    query_edits         a query, divided into its clauses, their relations, and the rest
    clause_edits        the parts of a clause, and of a row pattern window
    clause_names        the quotes around the names of a clause
    clause_defaults     defaults in which the products differ
    output_differences  notes on what differs in the output of a clause
    alternatives        the alternatives of PATTERN, whose meaning Snowflake documents differently
    exclusive_loops     the greedy loops of Flink SQL, which give no row back, and its `?`
    features            the parts of a clause that some product lacks
    limits              which products lack these parts
    fragments           the parts of a query that sqlglot translates one by one
    masked_fragments    names instead of the parts of a fragment that sqlglot cannot read
    operator_groups     parentheses around operations that sqlglot would group otherwise
    function_masks      prefixes for functions of row patterns, which sqlglot would misread
    fragment_errors     errors about fragments
    sqlglot_translation one fragment: parsed, rewritten by our rules, and printed by
                        `sqlglot_printing`
    sqlglot_dialects    sqlglot's dialects of the products, and their tokens
    rules               what sqlglot translates wrongly and our rules rewrite
    differences         what sqlglot translates wrongly, with a warning, a note or an error for it
    edits               edits of a text, which keep positions, and notes
    token_edits         the edits that turn a text into its translation
    writing             SASE+ queries and Patterns → SQL

In all of these modules, `read` is the product whose SQL is read, and `write` is the product for
which it is written, as in `transpile(query, read="oracle", write="spark")`.

No part of a query is dropped without a note. Text that need not change stays as the user wrote it,
and every position in the new text leads back to a position in the old text.

>>> from matchrec.dialects.products import PRODUCTS
>>> from matchrec.dialects.translate import translate_clause
>>> clause = "ORDER BY ts PATTERN (A B) DEFINE B AS x::int > LAG(x)"
>>> translate_clause(clause, PRODUCTS["snowflake"], PRODUCTS["spark"]).text
'ORDER BY ts NULLS LAST PATTERN (A B) DEFINE B AS CAST(x AS INT) > PREV(x)'
"""
