"""Errors of `plot`, of columns that do not tell where matches lie, and of `%%matchrec`."""

from __future__ import annotations

from collections.abc import Iterable

from matchrec.errors.kinds import MatchRecognizePlanError, listed, nearest


def no_column(argument: str, name: str, known: Iterable[str]) -> MatchRecognizePlanError:
    """An argument of `plot` names a column that is not there, or there twice."""
    near = nearest(name, known := list(known))
    return MatchRecognizePlanError(
        f"`{argument}` of `plot` is `{name}`, and no one column has that name",
        notes=(f"columns: {listed(known)}",),
        hint=f'write "{near}"' if near else None,
    )


def no_axis(name: str, kind: str) -> MatchRecognizePlanError:
    """What is no number and no time has no place along a line."""
    return MatchRecognizePlanError(
        f"`x` of `plot` is `{name}`, of type {kind}",
        notes=("wanted: a date, a timestamp or a number",),
        hint="pass data with such a column",
    )


def no_places(x: str, alike: Iterable[str]) -> MatchRecognizePlanError:
    """No columns of the matches say where a match begins and ends."""
    return MatchRecognizePlanError(
        "no columns of `matches` tell where a match begins and ends",
        notes=(
            f"wanted: arrays of events with `{x}`, or columns such as first_{x} and last_{x}",
            f"or, of ALL ROWS PER MATCH, `{x}` and match_number",
            f"columns of the type of `{x}`: {listed(alike)}",
        ),
        hint='write between=("...", "..."), or match="..." for ALL ROWS PER MATCH',
    )


def no_series() -> MatchRecognizePlanError:
    """The matches do not say in which series they are."""
    return MatchRecognizePlanError(
        "`matches` has no column that `by` of `plot` names",
        hint="add it to the query's result, as PARTITION BY does",
    )


def no_page(given: int, pages: int) -> MatchRecognizePlanError:
    """There are fewer pages."""
    return MatchRecognizePlanError(
        f"page {given} of `plot`, and there are {pages}", hint=f"write page={pages}"
    )


def wrong_arguments(sentence: str) -> MatchRecognizePlanError:
    """The first line of a cell is not understood. sentence: why not, in the words of argparse."""
    return MatchRecognizePlanError(
        f"{sentence} of %%matchrec", hint="%%matchrec? lists the arguments and what they take"
    )


def wrong_limit(given: int) -> MatchRecognizePlanError:
    """The table of a cell has at least one row."""
    return MatchRecognizePlanError(
        f"`--limit {given}` of %%matchrec is no number of rows from 1", hint="write --limit 20"
    )


def wrong_plot(given: list[str]) -> MatchRecognizePlanError:
    """What `--plot` needs to know."""
    return MatchRecognizePlanError(
        f"`--plot {' '.join(given)}` of %%matchrec has {len(given)} names",
        notes=("wanted: the rows, the column along the line, that up it, and that of the series",),
        hint="write --plot stocks date close ticker",
    )


def wrong_partition(given: str) -> MatchRecognizePlanError:
    """What `--partition` takes."""
    return MatchRecognizePlanError(
        f"`--partition {given}` of %%matchrec has no value", hint="write --partition ticker=AAPL"
    )
