"""Values that Spark computes from the output of the workers, after the match.

aggregates   computes the aggregates that only Spark knows, over the rows of each match
fold, folds  write aggregates of one match as SQL over the array of its rows
statistics   has the folds of statistics
expand       turns arrays of matched rows, and graphs of matches, into rows
"""
