"""Charts: pictures and tables of matches.

    series            the rows of a page, and the matches in them
    match_spans       where the matches are, from the columns of a result
    columns           columns of a DataFrame by their names, and SQL for them
    plot              a picture of series and matches
    lines, lanes      the panels of such a picture, for numbers and for texts
    legend            the legend of such a picture
    backtest          labelled incidents compared with matches
    backtest_picture  a picture of both
    sweep             the results of one clause with many values
    sweep_picture     a line chart of these
    axes              the style and the labels of axes

Of a long series Spark sends only as many rows as a picture can show, and of many series one page.
"""
