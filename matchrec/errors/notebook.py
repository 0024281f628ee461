"""Errors of notebooks and of pictures."""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizePlanError


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
