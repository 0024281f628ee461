"""What runs in a Python worker of Spark or Sail: rows in, matches out.

A worker of a query:

    query_worker      the worker: from batches of rows to batches of output rows
    task_input        the form in which rows reach a worker
    column_roles      which columns are sorted by, are parts of structs, and so on
    planned_columns   checks that the columns that arrive have the types they were planned with
    sorting           sorts rows by partition and order
    pieces            groups sorted rows into pieces for the search
    match             searches the partitions of a piece

From Arrow columns to the arrays that the search reads:

    encode            turns a piece into these arrays
    arrays            converts Arrow columns to NumPy arrays, and back
    arrow_types       how Arrow types are stored, and as which types Spark reads them
    python_values     converts Arrow columns to values of Python
    sort_keys         numbers that compare as values do
    equal_codes       numbers that are equal if values are equal
    ranks             ranks values that the search compares and int64 cannot hold
    windows           finds where the windows that begin with each row end
    chains            decides whether matches share their rows

From matches to output columns:

    gather            turns matches into output columns
    row_sizes         divides output rows into batches that are not too large
    match_aggregates  fills the output columns of aggregates over the rows of a match
    accumulated       adds up aggregates row by row in Python, if NumPy cannot compute them
    totals            fills the output columns of aggregates over all matches
    decimals          makes decimals of sums in two words, and finds sums that are too large

Other workers:

    rule_set          the worker of a rule set, which shares one sort
    shared_rows       the rows of a rule set, and the parts of them that single rules see
    rule_batches      the output batches of a rule set
    ranges            chooses the stretches of rows that a match can reach
    coverage          the worker of coverage, which counts how far starting rows come
    attempts          the worker of backtests, which says how far each starting row came
    coverage_input    what the workers of coverage and of backtests share

All workers:

    tally             counts and times the work of a task
    row_locations     names the rows and partitions of failures in errors
    error_reports     loads libraries, and turns failures into errors that the driver can read
    internal_names    the names of matchrec's own columns

Only two modules import PySpark, when they need it: `tally` for the number of a task, and
`planned_columns` for an error.
"""
