"""Charts: figures and matches go in, with their rows; pictures and tables for people come out.

    series   the rows of a page, and the matches there   plot    a page of both
    backtest labelled incidents beside matches           sweep   one clause with many values

Of a long series Spark sends as much as a picture can show, of many series a page.
"""
