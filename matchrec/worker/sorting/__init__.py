"""Sorting in a worker: batches of rows in any order go in, the same rows in order come out.

Partitions come out one after the other, the rows of each in its order, and the first row of each
is marked. What exceeds a budget of memory waits in files. The order of the input stays only among
rows that are equal in all columns they are sorted by.

    k t            k t
    b 2            a 3   <- the first of its partition
    a 3     ->     b 1   <- the first of its partition
    b 1            b 2
"""
