"""Sorting in a worker: batches of rows in any order go in, the same rows in order come out.

Partitions come out one after the other, the rows of each in its order, and the first row of each
is marked. Rows that exceed a budget of memory wait in files. Rows that are equal in all columns
that they are sorted by stay in the order in which they came.

    k t            k t
    b 2            a 3   <- the first of its partition
    a 3     ->     b 1   <- the first of its partition
    b 1            b 2

    sort         from batches to batches
    spills       files of sorted rows that do not fit into memory, which are merged
    matchless    partitions that cannot have a match, which are not sorted
    order        the order of the rows of one table
    codes        short numbers that compare as the values of a column do
    words        the codes of each row, packed into words, and sorts of rows by their words
    hashed_keys  words with a hash of the keys, if partitions may come in any order
    ties         counts rows that the order does not tell apart
    tie_reports  brings these counts to the program that runs the query
"""
