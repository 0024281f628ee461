"""SQL: query text in, clauses and the text around them out.

    relation         where the clauses of a query and their relations stand
    grammar          the tokens between a clause's parentheses → MatchRecognize
    pattern_windows  row pattern windows → clauses of their own, columns in the place of calls
    locate           query → Query: each clause as a node, in the order of evaluation; and the
                     query's text with holes where relations and clauses stood
    lower            clause → MatchPlan; lower_windows: that of a row pattern window

Dropped: comments and layout inside clauses. Nothing else of the query is read, let alone changed.
"""
