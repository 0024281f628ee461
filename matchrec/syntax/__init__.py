"""Read SQL text with MATCH_RECOGNIZE and lower each clause to a `MatchPlan`.

    tokens             split a text into tokens, and pair its brackets
    from_relations     read the relations in FROM, as they are written
    relation           find the clauses of a query, and the relation of each
    row_pattern        parse the text of PATTERN; also for SASE+ and other dialects
    expressions        parse an expression; also for SASE+ and `Pattern`
    durations          read lengths of windows that are values or texts
    sections           find the parts of a clause and their order
    grammar            parse the tokens of a clause to a `MatchRecognize` node
    nodes              the nodes of a clause, and its `Site` in the query
    pattern_windows    find row pattern windows, and read each as a clause
    window_blocks      read the SELECTs around windows, and what is replaced in them
    locate             parse a query, and cut its text up around relations and clauses
    lower              lower a clause to a `MatchPlan`
    lower_windows      lower a row pattern window to a `MatchPlan`, with the help of
                       `window_functions`, `seek` and `frame_restriction`
    spellings          find what Sail reads differently

sqlglot is called but never extended: only the kinds and positions of its tokens are used. Comments
and layout inside of clauses are dropped. The rest of a query stays as the user wrote it.

The package cannot be called `sql`, because `matchrec.sql` is a function.
"""
