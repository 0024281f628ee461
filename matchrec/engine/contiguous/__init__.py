"""Standard SQL: the rows of a match follow each other, and one match of a starting row is sought.

A task and its partitions go in, matches come out in order. Depth-first search, and two algorithms
that are faster where conditions depend on the data only: `chained` for matches that overlap,
`distances` for matches in windows and longest ones.
"""
