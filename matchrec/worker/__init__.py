"""What runs in a Python worker of Spark or Sail: rows in, matches out.

    query_worker  the worker of a query: from batches of rows to batches of output rows
    task_input    the form in which rows reach a worker
    column_roles  which columns are sorted by, are parts of structs, and so on
    sorting       sorts rows by partition and order
    pieces        groups sorted rows into pieces for the search
    arrays        converts Arrow columns to NumPy arrays, and back
    arrow_types   how Arrow types are stored, and as which types Spark reads them
    sort_keys     numbers that compare as values do
    equal_codes   numbers that are equal if values are equal
    encode        turns a piece into the arrays that the search reads
    match         searches the partitions of a piece
    chains        decides whether matches share their rows
    locate        names the rows and partitions of failures in errors
    gather        turns matches into output columns
    match_aggregates  fills the output columns of aggregates over the rows of a match
    accumulated   adds up aggregates row by row in Python, if NumPy cannot compute them
    totals        fills the output columns of aggregates over all matches
    decimals      sums of decimals as two words
    rule_set      the worker of a rule set, which shares one sort
    shared_rows   the rows of a rule set, and what single rules see of them
    rule_batches  the output batches of a rule set
    ranges        chooses the stretches of rows that a match can reach
    coverage      the worker of coverage, which counts
    attempts      the worker of back-tests, which says how far each starting row came
    coverage_input  what the workers of coverage and of back-tests share
    count         counts and times the work of a task
    planned       checks that the columns that arrive have the types they were planned with
    wire          the names of our own columns
    failing       loads libraries, and turns failures into errors that the driver can read

PySpark is imported only by `count`, for the number of a task, and by `planned`, for an error.
"""
