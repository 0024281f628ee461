"""Rows of matches go in, what the engine could not compute comes out beside them.

aggregates   those that only Spark knows, over the rows of each match
folds        those of one match, as SQL over its array of rows
expand       arrays of rows, and graphs of matches, as rows
"""
