"""`Why`, the result of `Query.why`: one story as text, as a table and as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from matchrec.arguments import check_arguments
from matchrec.explain.pictures import figures
from matchrec.explain.pictures.html import make_data_frame
from matchrec.explain.tracing.search import Outcome
from matchrec.explain.tracing.story import AttemptStory, Line, Story
from matchrec.source import replace_control_characters

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# How many lines of an attempt are shown, and how many of them are from its beginning if there are
# more. The others are from its end.
MOST_LINES = 40
FIRST_LINES = 8


def show_story(story: Story) -> str:
    """Return a story as text: what was found, then each attempt, with empty lines between."""
    blocks = ["\n".join((*story.heading, *story.results))]
    blocks += ["\n".join(show_attempt(attempt, story.orders)) for attempt in story.attempts]
    return "\n\n".join(blocks)


def show_attempt(attempt: AttemptStory, orders: str) -> Iterator[str]:
    """Yield the lines of text of an attempt: its title, a table of its trials, how it ended.

    Args:
        attempt: the attempt.
        orders: the ORDER BY columns, the title of the table's second column.
    """
    shown = choose_lines(attempt)
    yield attempt.title
    for line in align_lines(shown, orders):
        yield f"  {line}"
    hidden = len(attempt.lines) - len(shown)
    if hidden:
        yield f"  ... {hidden:,} more trials are not shown; in Python, toPandas() has all of them"
    for line in attempt.ends:
        yield f"  {line}"


def choose_lines(attempt: AttemptStory) -> Sequence[Line]:
    """Choose the lines of an attempt that are shown.

    A short attempt is shown whole. For a long one, the lines are chosen where the outcomes change;
    if these are too many, the lines of its best path; if these are still too many, the first and
    the last lines of that path.
    """
    if len(attempt.lines) <= MOST_LINES:
        return attempt.lines
    lines = fold_lines(attempt.lines)
    if len(lines) > MOST_LINES:
        lines = fold_lines(line for line in attempt.lines if line.is_key)
    if len(lines) > MOST_LINES:
        lines = [*lines[:FIRST_LINES], *lines[FIRST_LINES - MOST_LINES :]]
    return lines


def fold_lines(lines: Iterable[Line]) -> list[Line]:
    """Keep only the first and the last of consecutive rows that have the same outcomes.

    The last line of the first row then says how many rows are not shown.
    """
    rows = [list(row_lines) for _, row_lines in groupby(lines, key=attrgetter("row"))]
    kept: list[Line] = []
    for _, same_rows in groupby(rows, key=list_outcomes):
        first, *others = same_rows
        if len(others) > 1:
            first[-1] = replace(first[-1], folded=len(others) - 1)
        kept += first
        if others:
            kept += others[-1]
    return kept


def list_outcomes(row_lines: Sequence[Line]) -> list[tuple[str, str]]:
    """Return the variables that a row was tried for, each with the outcome."""
    return [(line.variable, line.outcome) for line in row_lines]


def align_lines(lines: Sequence[Line], orders: str) -> Iterator[str]:
    """Yield the lines as a table with aligned columns, its header first.

    The number of a row and its order values are shown only on the first line about the row.
    """
    cells = [("row", orders, "", "", ""), *list_cells(lines)]
    widths = [max(map(len, column)) for column in zip(*(row[:-1] for row in cells), strict=True)]
    for row in cells:
        padded = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=True)]
        yield "  ".join((*padded, row[-1])).rstrip()


def list_cells(lines: Sequence[Line]) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield the cells of each line: row, order values, variable, outcome and condition.

    A line with several conditions has one row of cells for each of them, and one for its fold.
    """
    previous_row = None
    for line in lines:
        is_new_row = line.row != previous_row
        previous_row = line.row
        row = str(line.row) if is_new_row else ""
        order_values = line.order_values if is_new_row else ""
        condition, *other_conditions = line.conditions or ("",)
        yield (row, order_values, line.variable, line.outcome, condition)
        for text in (*other_conditions, line.fold):
            if text:
                yield ("", "", "", "", text)


COLOURS = {
    Outcome.TAKEN.value: figures.MATCHED,
    "given back": figures.GIVEN_BACK,
    Outcome.TRIED_BEFORE.value: figures.GIVEN_BACK,
    Outcome.FAILED.value: figures.MISSED,
    Outcome.SKIPPED.value: figures.FAINT,
}

# The outcomes of rows that were mapped.
TAKEN = (Outcome.TAKEN.value, "given back")

# The height of a line in inches, and the size of its text in points.
LINE_HEIGHT, TEXT = 0.2, 9

# How many characters of the pattern and of the partition are drawn.
MOST_OF_HEADING = 110


def draw_story(story: Story) -> Figure:
    """Draw the attempts below each other, and above them the pattern and what the symbols mean.

    Rows go down, variables go across, and what failed is written to the right of each row.
    """
    lines = [line for attempt in story.attempts for line in attempt.lines]
    names = list(dict.fromkeys(line.variable for line in lines if line.variable))
    figure = figures.make_figure(1, 1)
    figure.set_layout_engine("none")
    panel = figure.add_axes((0, 0, 1, 1))
    panel.set_axis_off()
    draw_key(panel, [line for attempt in story.attempts for line in choose_lines(attempt)])
    y = 0
    for heading in story.heading:
        is_long = len(heading) > MOST_OF_HEADING
        write_line(panel, -0.5, y, f"{heading[:MOST_OF_HEADING]}…" if is_long else heading)
        y += 1
    y += 1  # an empty line
    for attempt in story.attempts:
        y = draw_attempt(panel, attempt, names, y, story.orders)
    if not story.attempts:
        for result in story.results:
            write_line(panel, -0.5, y, result)
            y += 1
        y += 1
    height = max(1, y - 1)  # without the empty line after the last attempt
    width = figures.CHARACTER * max((len(name) + 3 for name in names), default=1)
    figure.set_size_inches(width * max(1, len(names)), LINE_HEIGHT * height)
    panel.set(xlim=(-0.5, max(1, len(names)) - 0.5), ylim=(height, 0))
    return figure


def draw_key(panel: Axes, lines: Iterable[Line]) -> None:
    """Write above the panel what the symbols of some lines mean."""
    from matplotlib.lines import Line2D

    outcomes_by_symbol: dict[Symbol, list[str]] = {}
    for line in lines:
        if line.variable or line.outcome == Outcome.SKIPPED.value:
            outcomes = outcomes_by_symbol.setdefault(choose_symbol(line.outcome), [])
            if line.outcome not in outcomes:
                outcomes.append(line.outcome)
    entries = [
        Line2D([], [], color=symbol.colour, label=" or ".join(outcomes), **symbol.style)
        for symbol, outcomes in outcomes_by_symbol.items()
    ]
    if entries:
        panel.legend(
            handles=entries,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=len(entries),
            frameon=False,
            fontsize=TEXT,
            labelcolor=figures.INK,
            handletextpad=0.5,
        )


def write_line(panel: Axes, x: float, y: int, text: str, **style: Any) -> None:
    """Write a text in the middle of a line."""
    panel.text(x, y + 0.5, text, va="center", fontsize=TEXT, color=figures.INK, **style)


def draw_attempt(
    panel: Axes, attempt: AttemptStory, names: Sequence[str], y: int, orders: str
) -> int:
    """Draw an attempt, and return the number of the line after it.

    Args:
        panel: where to draw.
        attempt: the attempt.
        names: the names of the variables, from left to right.
        y: the number of the first line of the attempt.
        orders: the ORDER BY columns, the title of the column of order values.
    """
    shown = choose_lines(attempt)
    order_width = max(map(len, [orders, *(line.order_values for line in shown)]))

    def name_row(row: str, order_values: str, y: int) -> None:
        """Write the number of a row and its order values, in two columns left of the variables."""
        for text, characters in ((order_values, 0), (row, order_width + 2)):
            offset = (-72 * figures.CHARACTER * characters, 0)  # in points
            style: Any = {"ha": "right", "va": "center", "fontsize": TEXT, "color": figures.INK}
            style |= {"textcoords": "offset points", "annotation_clip": False}
            panel.annotate(text, (-0.7, y + 0.5), offset, **style)

    write_line(panel, -0.5, y, attempt.title, fontweight="bold")
    for x, name in enumerate(names):
        write_line(panel, x, y + 1, name, ha="center")
    name_row("row", orders, y + 1)
    y += 2
    for _, row_lines in groupby(shown, key=attrgetter("row")):
        lines = list(row_lines)
        name_row(str(lines[0].row), lines[0].order_values, y)
        for line in lines:
            draw_trial(panel, line, names, y + 0.5)
        notes = list_notes(lines)
        for index, note in enumerate(notes):
            write_line(panel, len(names) - 0.4, y + index, note)
        y += max(1, len(notes))
    for end in attempt.ends:
        write_line(panel, -0.5, y, end, fontstyle="italic")
        y += 1
    return y + 1


def draw_trial(panel: Axes, line: Line, names: Sequence[str], y: float) -> None:
    """Draw the symbol of a trial: below its variable, or over all variables if it has none."""
    symbol = choose_symbol(line.outcome)
    if line.outcome == Outcome.SKIPPED.value:
        ends = (-0.5, len(names) - 0.5)
        panel.plot(ends, (y, y), color=symbol.colour, zorder=0, **symbol.style)
    elif line.variable:
        panel.plot(names.index(line.variable), y, color=symbol.colour, **symbol.style)


@dataclass(frozen=True, slots=True)
class Symbol:
    """How an outcome is drawn: a disc if the row is mapped, a cross if not, dashes if skipped."""

    colour: str
    marker: str  # empty for dashes

    @property
    def style(self) -> dict[str, Any]:
        """The arguments of matplotlib for a line that is the symbol."""
        if not self.marker:
            return {"linestyle": "--"}
        return {"linestyle": "", "marker": self.marker, "markeredgewidth": 2}


def choose_symbol(outcome: str) -> Symbol:
    """Return the symbol of an outcome."""
    colour = COLOURS.get(outcome, figures.ACCENT)
    if outcome == Outcome.SKIPPED.value:
        return Symbol(colour, "")
    return Symbol(colour, "x" if colour in (figures.MISSED, figures.ACCENT) else "o")


def list_notes(lines: list[Line]) -> list[str]:
    """Return the notes at a row: why it could not be mapped, and how many rows are folded after it.

    There is no note that it was skipped, which the dashes show.
    """
    notes = []
    for line in lines:
        if line.outcome in (*TAKEN, Outcome.SKIPPED.value):
            continue
        for text in line.conditions or (line.outcome,):
            if text.endswith(": true") or " is true" in text:
                continue
            notes.append(f"{line.variable}: {text}" if line.variable else text)
    notes += [line.fold for line in lines if line.fold]
    return list(dict.fromkeys(notes))


# The columns of `Why.toPandas`.
COLUMNS = ("start", "row", "order_value", "rows_before", "variable", "outcome", "condition")


@dataclass(frozen=True, repr=False)
class Why(figures.PicturedText):
    """The search of one partition, row by row, from `Query.why`.

    It prints as text. A notebook shows it as a picture.

    >>> large = matchrec.Pattern.begin("large").where("id > 9")
    >>> why = matchrec.query(spark.range(3), large, order_by="id").why(limit=1)
    >>> print(why.text)
    PATTERN (`large`)
    the only partition: 3 rows
    no match; 3 starting rows tried
    ...
    """

    story: Story

    @property
    def text(self) -> str:
        """The text that `print` shows: the matches, or the result for the chosen row, then each
        attempt.
        """
        return replace_control_characters(show_story(self.story))

    def __repr__(self) -> str:
        """Return the matches, and the title and the end of the first attempt."""
        lines = [*self.story.results]
        if self.story.attempts:
            attempt = self.story.attempts[0]
            lines += [attempt.title, *attempt.ends]
        return f"<Why: {'; '.join(line.strip() for line in lines)}>"

    def toPandas(self) -> pd.DataFrame:  # noqa: N802 -- as PySpark calls it
        """Return a pandas DataFrame with one line for each row that an attempt tried for a
        variable.

        The lines are in the order of the search. The columns are:

        - `start`: the number of the row where the attempt began, from 1;
        - `row`: the number of the row that was tried, from 1;
        - `order_value`: the values of the tried row in the ORDER BY columns;
        - `rows_before`: how many rows were already mapped;
        - `variable`: the variable for which the row was tried, or None;
        - `outcome`: the result, such as "taken" or "failed";
        - `condition`: each part of the condition with its values, or None if no condition was
          tested.

        >>> large = matchrec.Pattern.begin("large").where("id > 9")
        >>> why = matchrec.query(spark.range(3), large, order_by="id").why(limit=1)
        >>> list(why.toPandas()["outcome"])
        ['failed']
        """
        rows = list[tuple[object, ...]]()
        for attempt in self.story.attempts:
            for line in attempt.lines:
                variable = line.variable or None
                condition = "; ".join(line.conditions) or None
                position = (attempt.start, line.row, line.order_values, line.depth)
                rows.append((*position, variable, line.outcome, condition))
        return make_data_frame(COLUMNS, rows)

    def svg(self) -> str:
        """Return an SVG drawing of each attempt: rows down, variables across, and failed
        conditions.

        Needs matplotlib.

        >>> large = matchrec.Pattern.begin("large").where("id > 9")
        >>> print(matchrec.query(spark.range(3), large, order_by="id").why().svg())
        <?xml ...
        """
        return figures.render(self.figure, "svg").decode()

    @check_arguments(path=figures.PATH)
    def save(self, path: str | Path) -> None:
        """Write the picture to a file. The ending of its name chooses PNG, SVG or PDF.

        Needs matplotlib.

        Raises:
            MatchRecognizeError: the name has another ending.

        >>> large = matchrec.Pattern.begin("large").where("id > 9")
        >>> why = matchrec.query(spark.range(3), large, order_by="id").why()
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     why.save(f"{folder}/why.png")
        ...     os.listdir(folder)
        ['why.png']
        """
        super().save(path)

    def figure(self) -> Figure:
        """Return the picture as a figure of matplotlib."""
        return draw_story(self.story)
