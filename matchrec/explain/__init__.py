"""Explain what a query does, and why it matched or did not.

    explanation  `explain`: all clauses of a query
    rule_set     `explain` of a rule set: what its rules share, then each rule
    clause       the explanation of one clause
    sections     the lines of its sections; layout puts titles above them
    formulas     the formulas of edges; nondeterminism; what a run stores
    coverage     `coverage`: how far the starting rows come, shown as funnels
    tracing      `why`: the search in one partition, step by step
    pictures     row patterns as railroad diagrams, and what pictures have in common
    charts       matches over their rows, backtests and sweeps

Texts are for people: they leave out what only the search needs, such as positions in arrays.
"""
