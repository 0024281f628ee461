"""The command line: `matchrec run`, `explain`, `why`, `coverage`, `backtest`, `sweep` and others.

Arguments come in; results go to stdout or a file, messages to stderr. Every mistake of the user
ends in a plain sentence and an exit code, see docs/how-to/command_line.md.

    $ matchrec run v_shapes.sql --table stocks=stocks.csv --limit 2
    ticker  first_day   bottom_day  last_day    fall_percent
    MSFT    2008-10-06  2008-10-10  2008-10-13          13.7
    GOOG    2008-10-06  2008-10-09  2008-10-13          11.4
"""
