"""Read SQL text with MATCH_RECOGNIZE and lower each clause to a `MatchPlan`.

    tokens             text → tokens of sqlglot, with their places in the text
    written_relations  the relations in FROM, as they are written
    relation           where the clauses of a query and their relations stand
    row_pattern        the text in PATTERN → RowPattern; shared with SASE+ and dialects
    expressions        the text of one expression → Scalar; shared with SASE+ and patterns
    durations          the length in WITHIN, as text or value → Window
    grammar            the tokens between a clause's parentheses → MatchRecognize
    pattern_windows    row pattern windows → clauses of their own
    locate             query → each clause in the order of evaluation, and the query's text with
                       holes where relations and clauses stood
    lower              clause → MatchPlan
    lower_windows      row pattern window → MatchPlan
    spellings          what Sail must read in place of what is written

sqlglot is called, never extended: only kinds and positions of its tokens are used. Comments and
layout inside clauses are dropped. The rest of a query stays as it was written.

The room cannot be named `sql`, because `matchrec.sql` is a function.
"""
