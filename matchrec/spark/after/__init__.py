"""Values that Spark computes from the output of the workers, after the match.

aggregates    computes the aggregates that only Spark knows, over the rows of each match
folds         writes aggregates of one match as SQL over the array of its rows
fold_types    the records of folds
statistics    has the folds of statistics
matched_rows  turns arrays of matched rows into rows
graphs        turns graphs of matches into matches
"""
