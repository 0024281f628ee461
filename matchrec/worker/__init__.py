"""Find the matches of a partition inside a Python worker of Spark or Sail.

    matching   one call of the worker: batches of rows → batches of output rows
    sorting    rows in any order → rows by partition, in the order of the clause
    arrays     columns of Arrow as arrays of NumPy
    encode     rows → what the search reads
    match      rows of whole partitions → matches
    gather     matches → output columns
    rule_set   the same for the rules of a set, over one sort
    ranges     stretches of one partition
    cover      coverage in place of matches
    count      the counters of a task
    planned    a check that the columns that arrive have the types they were planned with
    wire       the names of columns between the engine and the workers
    failing    errors that the driver can read

PySpark is imported only by `count`, for the number of a task, and by `planned`, for an error.
"""
