"""The notebook: `%load_ext matchrec` makes `%%matchrec` known, and errors short.

A cell with a query shows the first rows of its result as a table. With arguments, it shows a plan,
an explanation or a picture instead. `spark.sql` of every session understands the clause, too.

    %%matchrec --limit 5 -o streaks
    SELECT * FROM stocks MATCH_RECOGNIZE (...) WHERE days >= :days
"""
