"""Charts: pictures and tables of matches.

    series     the rows of a page, and the matches in them
    plot       a picture of both
    backtest   labelled incidents compared with matches
    sweep      the results of one clause with many values

Of a long series Spark sends only as many rows as a picture can show, and of many series one page.
"""
