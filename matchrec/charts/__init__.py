"""Matches drawn over the series that they were found in.

The matches of any query, and the rows they were found in, go in; a picture comes out. Of a long
series Spark sends as much as a picture can show; of many series, a page.

    columns   which columns say where a match lies     panels   the drawing
    series    rows of a page, and the matches there    plot     a page of both
"""
