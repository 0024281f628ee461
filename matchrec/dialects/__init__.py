"""Dialects: turn a query in the SQL of one product into the same query in the SQL of another one.

    products            the products, each with its defaults and names
    translate           query or clause → edits of its text, and notes on what differs
    product_tokens      a text in the SQL of a product → our tokens
    query_checks        queries that stay as they are, because both products are the same
    spellings           what only one product writes, in the grammar of all, with
                        `spellings_azure`, `spellings_bigquery`, `product_options` and `comments`
    query_edits         a query, divided into its clauses, their relations, and the rest
    clause_edits        the parts of a clause, and of a row pattern window
    clause_names        the quotes around the names of a clause
    clause_defaults     defaults in which the products differ
    output_differences  notes on what differs in the output of a clause
    alternatives        the alternatives of PATTERN, which Snowflake documents otherwise
    exclusive_loops     the greedy loops of Flink SQL, which give no row back
    limits              the parts of the clause that a product lacks
    fragments           the parts of a query that sqlglot translates one by one
    function_masks      prefixes for functions of row patterns, which sqlglot would misread
    masked_fragments    names instead of what sqlglot cannot read in a fragment
    fragment_errors     errors about fragments
    sqlglot_translation one fragment: parsed, rewritten by our rules, and printed by
                        `sqlglot_printing`
    sqlglot_dialects    sqlglot's dialects of the products, and their tokens
    rules               what sqlglot gets wrong and we rewrite
    differences         what sqlglot gets wrong and we warn about or reject
    edits               edits of a text, which keep positions, and notes
    token_edits         the edits that turn a text into its translation
    writing             SASE+ queries and Patterns → SQL

Nothing is dropped. What need not change stays as it was written, and every position in the new text
leads back to one in the old text.

>>> from matchrec.dialects.products import PRODUCTS
>>> from matchrec.dialects.translate import translate_clause
>>> clause = "ORDER BY ts PATTERN (A B) DEFINE B AS x::int > LAG(x)"
>>> translate_clause(clause, PRODUCTS["snowflake"], PRODUCTS["spark"]).text
'ORDER BY ts NULLS LAST PATTERN (A B) DEFINE B AS CAST(x AS INT) > PREV(x)'
"""
