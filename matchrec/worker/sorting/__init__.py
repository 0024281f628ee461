"""Sorting in a worker: batches of rows in any order go in, the same rows in order come out.

The output has one partition after the other. The rows of a partition are in its order, and the
first of them is marked. Rows that exceed a budget of memory wait in files. Rows that are equal in
all columns that they are sorted by stay in the order in which they came.

    k t            k t
    b 2            a 3   <- the first of its partition
    a 3     ->     b 1   <- the first of its partition
    b 1            b 2

    sort         sorts the batches of a task
    spills       writes sorted rows that do not fit into memory to files, and merges the files
    matchless    drops partitions that cannot have a match, before the sort
    order        finds the order of the rows of one table
    codes        turns the values of a column into short numbers that compare as the values do
    words        packs the codes of each row into words, and sorts rows by their words
    hashed_keys  replaces keys in words by a hash, if partitions may come in any order
    ties         counts rows that the order does not tell apart
    tie_reports  brings the counts of ties to the program that runs the query
"""
