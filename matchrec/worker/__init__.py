"""What runs in a Python worker of Spark or Sail: rows in, matches out.

    query_worker  the worker of a query: from batches of rows to batches of output rows
    task_input    the form in which rows reach a worker
    column_roles  which columns are sorted by, are parts of structs, and so on
    sorting       sorts rows by partition and order
    pieces        groups sorted rows into pieces for the search
    arrays        converts Arrow columns to NumPy arrays, and back
    arrow_types   how Arrow types are stored, and as which types Spark reads them
    python_values  converts Arrow columns to values of Python
    sort_keys     numbers that compare as values do
    equal_codes   numbers that are equal if values are equal
    encode        turns a piece into the arrays that the search reads
    ranks         ranks values that the search compares and int64 cannot hold
    windows       finds where the windows that begin with each row end
    match         searches the partitions of a piece
    chains        decides whether matches share their rows
    locate        names the rows and partitions of failures in errors
    gather        turns matches into output columns
    row_sizes     divides output rows into batches that are not too large
    match_aggregates  fills the output columns of aggregates over the rows of a match
    accumulated   adds up aggregates row by row in Python, if NumPy cannot compute them
    totals        fills the output columns of aggregates over all matches
    decimals      makes decimals of sums in two words, and finds sums that are too large
    rule_set      the worker of a rule set, which shares one sort
    shared_rows   the rows of a rule set, and the parts of them that single rules see
    rule_batches  the output batches of a rule set
    ranges        chooses the stretches of rows that a match can reach
    coverage      the worker of coverage, which counts how far starting rows come
    attempts      the worker of back-tests, which says how far each starting row came
    coverage_input  what the workers of coverage and of back-tests share
    count         counts and times the work of a task
    planned       checks that the columns that arrive have the types they were planned with
    wire          the names of matchrec's own columns
    failing       loads libraries, and turns failures into errors that the driver can read

Only two modules import PySpark, when they need it: `count` for the number of a task, and `planned`
for an error.
"""
