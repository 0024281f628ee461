"""Errors about how one of the functions was called, not about the query's text."""

from __future__ import annotations

from collections.abc import Iterable

from matchrec.errors.kinds import (
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
    listed,
)
from matchrec.source import Span


def no_match_graph(columns: Iterable[str]) -> MatchRecognizePlanError:
    """A DataFrame to be unwound that is no result of `sase` in compressed form."""
    return MatchRecognizePlanError(
        f"no match graph: a DataFrame of {listed(columns)}",
        hint='unwind what matchrec.sase(..., form="compressed") gives, with all its columns',
    )


def not_compressible(output: str) -> MatchRecognizePlanError:
    """The compressed form of some matches only."""
    return MatchRecognizePlanError(
        f"form `compressed` with output `{output}`",
        notes=("the graph that all matches share holds all of them",),
        hint='write output="all", or form="verbose"',
    )


def engine_cannot(name: str, reason: str) -> MatchRecognizeUnsupportedError:
    """The engine that was asked for cannot run the plan."""
    return MatchRecognizeUnsupportedError(
        f"engine `{name}` cannot run this query: {reason}", hint='write engine="auto"'
    )


def unconstrained_proceed() -> MatchRecognizeUnsupportedError:
    """Skip till next match without constrained proceed edges, which would find other matches."""
    return MatchRecognizeUnsupportedError(
        "proceed edges cannot be left unconstrained under skip till next match",
        notes=("a run waiting in the next component would skip events that it had to take",),
        hint="leave out constrain_proceed=False, or write another strategy",
    )


def steps_of_event_selection() -> MatchRecognizeUnsupportedError:
    """max_steps= of a query with event selection."""
    return MatchRecognizeUnsupportedError(
        "max_steps of a query with event selection",
        notes=("steps are counted where the rows of a match follow each other",),
        hint="leave out max_steps, and write WITHIN to bound the runs",
    )


def no_order() -> MatchRecognizePlanError:
    """order_by= is empty."""
    return MatchRecognizePlanError(
        "order_by names nothing", hint='write what the events are sorted by: order_by="ts"'
    )


def several_in_one(argument: str, span: Span) -> MatchRecognizePlanError:
    """`"a, b"` for `["a", "b"]`."""
    return MatchRecognizePlanError(
        f"a text in {argument} is one expression",
        span,
        hint=f'write each on its own: {argument}=["a", "b"]',
    )


def direction(argument: str, word: str, span: Span) -> MatchRecognizePlanError:
    """DESC, ASC or NULLS behind what events are sorted by."""
    return MatchRecognizePlanError(
        f"{word} in {argument}",
        span,
        notes=("events come in ascending order, NULL first",),
        hint="leave it out; for another order sort by an expression, such as -rank",
    )


def nothing_counted() -> MatchRecognizePlanError:
    """Counters are asked for their values before there are any."""
    return MatchRecognizePlanError(
        "the counters have no values: no action on the result of a query with them has finished",
        hint="pass them as counters= to one query, and run an action on its result",
    )


def altered_by_pandas(column: str, type_name: str) -> MatchRecognizeUnsupportedError:
    """A column whose values would not survive the way through pandas."""
    return MatchRecognizeUnsupportedError(
        f"transport `pandas` would alter column {column} of type {type_name}",
        hint='write transport="arrow", or leave it out',
    )


def too_few_arguments(given: int, needed: int) -> MatchRecognizePlanError:
    """Args is shorter than the query has markers."""
    return MatchRecognizePlanError(
        f"the query has {needed} parameter markers (?), args has {given} values",
        hint="pass one value for each ?, in their order",
    )
