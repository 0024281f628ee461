"""Read SQL text with MATCH_RECOGNIZE and lower each clause to a `MatchPlan`.

Text and tokens:

    tokens             the tokens of a text, their brackets, and the base of parsers
    tokenize           split a text into tokens
    token_checks       check tokens for common mistakes before they are parsed
    function_names     which words name functions of rows of a match
    amounts            read numbers, and lengths of time that are SQL
    named_parameters   find `:name` in a text
    durations          read lengths of windows that are values or texts
    row_pattern        parse the text of PATTERN, which `pattern_tokens` splits into tokens; also
                       for SASE+ and other dialects; `row_pattern_mistakes` explains mistakes
    parameter_values   find parameters in a clause, and replace them by values
    expressions        parse an expression; also for SASE+ and `Pattern`
    key_arguments      read the arguments `order_by` and `partition_by` of functions

The query around the clauses:

    locate             parse a query: find its clauses and windows
    clause_locations   find the clauses of a query
    clause_structure   check that the brackets of a query with clauses pair up
    misspelt_clauses   find clauses that are not spelt right
    stored_text        find statements whose text Spark stores, such as CREATE VIEW
    relation           find the relation of a clause
    from_relations     read the relations in FROM, as they are written
    with_clauses       find the WITH clauses that a relation may read
    result_use         find which part of a clause's rows the query uses
    text_edits         a replacement of some characters of a query
    query_pieces       cut the text of a query up around relations and clauses, and `text_layout`
                       keep lines and columns of the rest
    plain_select       recognise queries that only select columns of a view
    spellings          find what Sail reads differently

One clause or window:

    clause_parts       the parts of a clause, and how to recognise a part in the wrong place
    clause_tokens      the tokens of a clause
    sections           find the parts of a clause and their order, with the errors of
                       `misplaced_patterns`
    grammar            parse the tokens of a clause to a `MatchRecognize` node, with the help of
                       `within`; `item_mistakes` explains malformed items
    nodes              the nodes of a clause, and its `Site` in the query
    lower              lower a clause to a `MatchPlan`
    pattern_windows    find row pattern windows, and read each as a clause
    window_selects     find the SELECT around a row pattern window, and its parts
    window_blocks      read the SELECTs around windows, and what is replaced in them
    lower_windows      lower a row pattern window to a `MatchPlan`, with the help of
                       `window_functions`, `seek` and `frame_restriction`

sqlglot is called but never extended: only the kinds and positions of its tokens are used. Comments
and layout inside clauses are dropped. The rest of a query stays as the user wrote it.

The package cannot be called `sql`, because `matchrec.sql` is a function.
"""
