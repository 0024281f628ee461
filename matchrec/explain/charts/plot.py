"""`Plot`, the result of `Query.plot`: a picture of matches over the rows in which they were found.

`lines` draws numbers as lines, and `lanes` draws texts as points on lanes. A picture has one page
of series.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from matchrec.arguments import check_arguments
from matchrec.errors.wording import show_count
from matchrec.explain.charts.axes import SMALL_SIZE, WIDTH, AxisLabels
from matchrec.explain.charts.lanes import draw_lanes
from matchrec.explain.charts.lines import draw_lines
from matchrec.explain.charts.series import MAX_MATCHES, ChartSource, Page
from matchrec.explain.pictures.figures import (
    PATH_ARGUMENT,
    TEXT_COLOUR,
    check_matplotlib,
    check_picture_format,
    keep_texts,
    make_figure,
    render_picture,
)
from matchrec.public_names import public

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# The resolution of a PNG file, which is sharper than a picture in a notebook.
FILE_DOTS_PER_INCH = 130


@public
@dataclass(frozen=True, repr=False, match_args=False)
class Plot:
    """A picture of matches, from `Query.plot`. A notebook shows it.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> falls = matchrec.query(ticks, '''
    ...     ORDER BY day MEASURES FIRST(day) AS first_day, LAST(day) AS last_day
    ...     PATTERN (FALL+) DEFINE FALL AS price < PREV(price)
    ... ''')
    >>> falls.plot(x="day", y="price")
    <Plot: 1 match in 1 series, page 1 of 1>
    """

    # The picture.
    _figure: Figure
    # The series and matches in it.
    _page: Page

    def svg(self) -> str:
        """Return the picture as an SVG drawing.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80) AS t(day, price)")
        >>> falls = matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES FIRST(day) AS first_day, LAST(day) AS last_day
        ...     PATTERN (FALL) DEFINE FALL AS price < PREV(price)
        ... ''')
        >>> print(falls.plot(x="day", y="price").svg())
        <?xml ...
        """
        return render_picture(self.figure, "svg").decode()

    @check_arguments(path=PATH_ARGUMENT)
    def save(self, path: str | Path) -> None:
        """Write the picture to a file. The ending of its name chooses PNG, SVG or PDF.

        Raises:
            MatchRecognizeError: the name has another ending.
            OSError: the file cannot be written.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80) AS t(day, price)")
        >>> falls = matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES FIRST(day) AS first_day, LAST(day) AS last_day
        ...     PATTERN (FALL) DEFINE FALL AS price < PREV(price)
        ... ''')
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     falls.plot(x="day", y="price").save(f"{folder}/falls.png")
        ...     os.listdir(folder)
        ['falls.png']
        """
        check_picture_format(Path(path))
        with keep_texts():
            self._figure.savefig(path, dpi=FILE_DOTS_PER_INCH)

    def figure(self) -> Figure:
        """Return the picture as a figure of matplotlib, for example to change its size.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80) AS t(day, price)")
        >>> falls = matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES FIRST(day) AS first_day, LAST(day) AS last_day
        ...     PATTERN (FALL) DEFINE FALL AS price < PREV(price)
        ... ''')
        >>> type(falls.plot(x="day", y="price").figure()).__name__
        'Figure'
        """
        return self._figure

    def _repr_html_(self) -> str:
        """Return the picture as a PNG inside of HTML."""
        picture = b64encode(render_picture(self.figure, "png")).decode()
        return f'<img alt="{self.summary}" src="data:image/png;base64,{picture}">'

    def __repr__(self) -> str:
        """Return the summary."""
        return f"<Plot: {self.summary}>"

    @property
    def summary(self) -> str:
        """The number of matches and series, and the number of the page.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80) AS t(day, price)")
        >>> falls = matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES FIRST(day) AS first_day, LAST(day) AS last_day
        ...     PATTERN (FALL) DEFINE FALL AS price < PREV(price)
        ... ''')
        >>> falls.plot(x="day", y="price").summary
        '1 match in 1 series, page 1 of 1'
        """
        matches = show_count(len(self._page.spans), "match", "matches")
        counts = f"{matches} in {len(self._page.series)} series"
        return f"{counts}, page {self._page.number} of {self._page.page_count}"


def plot(source: ChartSource, page: int, panels: int) -> Plot:
    """Draw one page of the series and matches of a chart, as `Query.plot` returns it. Runs jobs.

    Args:
        source: the rows and the matches.
        page: the number of the page, from 1.
        panels: the largest number of series on a page: panels with lines, or lanes if the values
            are not numbers.

    Raises:
        MatchRecognizeError: matplotlib is not installed, or a column or the page does not exist.
    """
    check_matplotlib()  # before any job runs
    drawn_page = source.read_page(page, panels)
    figure = make_figure(WIDTH, 1)  # the drawing function below sets the height
    labels = AxisLabels(source.x, source.y, source.by or "")
    draw = draw_lines if source.has_numbers else draw_lanes
    with keep_texts():
        draw(figure, drawn_page.series, drawn_page.spans, labels)
    notes = []
    if drawn_page.page_count > 1:
        notes.append(f"page {page} of {drawn_page.page_count}")
    if not drawn_page.has_all_matches:
        notes.append(f"the first {MAX_MATCHES} matches")
    if notes:
        figure.suptitle(", ".join(notes), color=TEXT_COLOUR, fontsize=SMALL_SIZE)
    return Plot(figure, drawn_page)
