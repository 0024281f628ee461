"""The notebook: `%load_ext matchrec` makes `%%matchrec` known, and errors short.

The text of a cell goes in; the first rows of its result come out as a table, or what the arguments
ask for beside it. `spark.sql` of the running session understands the clause as well.

    %%matchrec --limit 5 -o streaks
    SELECT * FROM stocks MATCH_RECOGNIZE (...) WHERE days >= :days
"""
