"""The notebook extension: `%load_ext matchrec` adds `%%matchrec`, and makes errors short.

A cell with a query shows the first rows of its result as a table. With arguments, it shows a plan,
an explanation or a picture instead. `spark.sql` of every session understands the clause, too.

    %%matchrec --limit 5 -o streaks
    SELECT * FROM stocks MATCH_RECOGNIZE (...) WHERE days >= :days

    magic      defines the magics, and loads and unloads the extension
    arguments  reads the arguments in the first line of a cell
    cells      runs a cell
    variables  finds the session, DataFrames and values among the variables of the notebook
    result     the table that a cell shows
    messages   shows errors and notices below a cell
"""
