"""`plot`: the matches of a query over the rows that they were found in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matchrec.arguments import DATAFRAME, Kind, are_texts, checked, instance_of, is_whole
from matchrec.charts.columns import Named
from matchrec.charts.plot import Plot, draw_page
from matchrec.charts.series import Charted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME = Kind("the name of a column", instance_of(str), 'write {argument}="name"')
NAMES = Kind(
    "the names of two columns, in which a match begins and ends",
    lambda given: isinstance(given, tuple | list) and len(given) == 2 and are_texts(given),
    'write {argument}=("first", "last")',
)
COUNT = Kind("a whole number from 1", lambda given: is_whole(given) and 1 <= given < 2**31)


@checked(
    matches=DATAFRAME,
    data=DATAFRAME,
    x=NAME,
    y=NAME,
    by=NAME.or_none(),
    between=NAMES.or_none(),
    match=NAME.or_none(),
    page=COUNT,
    panels=COUNT,
)
def plot(  # noqa: PLR0913 -- public signature
    matches: DataFrame,
    data: DataFrame,
    *,
    x: str,
    y: str,
    by: str | None = None,
    between: tuple[str, str] | None = None,
    match: str | None = None,
    page: int = 1,
    panels: int = 6,
) -> Plot:
    """Matches of `sql`, `sase` or `detect` drawn over the rows that they were found in.

    x, y: columns of `data`; x is a date, an instant or a number, y a number, drawn as a line, or a
    text, drawn above a point. by: the column whose values are the series, each with a panel; it is
    also one of `matches`, or of the events in their arrays.

    Where a match lies is told by arrays of events with x in them; or else by two columns of the
    type of x with names such as first_day and last_day, start_time and end_time, from and to; or
    else by x itself and a match number, of ALL ROWS PER MATCH. between: these two columns, where
    their names do not tell. match: the column with the match number.

    Of a long series, each column of pixels shows the first, last, lowest and highest row. page: of
    so many `panels`; series without matches have none. Runs a few jobs. Raises
    MatchRecognizePlanError where columns are missing; needs matplotlib.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> falls = matchrec.match_recognize(ticks, '''
    ...     ORDER BY day MEASURES FIRST(day) AS first_day, LAST(day) AS last_day
    ...     PATTERN (DOWN+) DEFINE DOWN AS price < PREV(price)
    ... ''')
    >>> picture = matchrec.plot(falls, ticks, x="day", y="price")
    >>> picture.figure.get_axes()[0].get_ylabel()
    'price'
    """
    named = Named(x, y, by, between, match)
    return draw_page(Charted(matches, data, named), page, panels)
