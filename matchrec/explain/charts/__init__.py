"""Charts: pictures and tables of matches.

    plot              `Plot`, the result of `Query.plot`: a picture of series and matches
    lines, lanes      the panels of this picture, for numbers and for texts
    legend            the legend of this picture
    series            the rows of a page of series, and the matches in them
    match_spans       SQL for the span of each match, from the columns of a result
    columns           columns of a DataFrame by their names, and SQL for them
    backtest          `Backtest`, the result of `Query.backtest`: incidents compared with matches
    backtest_picture  the picture of a backtest
    sweep             `Sweep`, the result of `sweep`: what a clause finds with many values
    sweep_picture     the line chart of a sweep
    axes              the style and the labels of axes

Spark sends only the series of one page, and only as many rows of a series as a picture can show.
"""
