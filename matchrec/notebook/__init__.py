"""The notebook: `%load_ext matchrec` makes `%%matchrec` known, and errors short.

The text of a cell goes in; the first rows of its result come out as a table, or what the arguments
ask for beside it; rows beyond them are dropped. `spark.sql` of every session knows the clause.

    %%matchrec --limit 5 -o streaks
    SELECT * FROM stocks MATCH_RECOGNIZE (...) WHERE days >= :days
"""
