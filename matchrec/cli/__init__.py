"""The command line: `matchrec demo`, `matchrec run QUERY.sql`, `matchrec explain QUERY.sql`, and
`matchrec warm`.

Arguments come in; a table, a picture or a file goes out. Every mistake of the user leaves as a
plain sentence on stderr with exit code 2.

    $ matchrec run v_shapes.sql --table stocks=stocks.csv --limit 2
    ticker  top_date    bottom_date  back_date   fall_percent
    MSFT    2008-10-06  2008-10-10   2008-10-13          13.7
    GOOG    2008-10-06  2008-10-09   2008-10-13          11.4
    the first 2 rows; --limit shows more, --output writes all
"""
