"""Values that Spark computes from the output of the workers, after the match.

aggregates   aggregates that only Spark knows, over the rows of each match
fold, folds  aggregates of one match, as SQL over the array of its rows
statistics   the folds of statistics
expand       arrays of matched rows, and graphs of matches, as rows
"""
