"""Errors about how one of the functions was called, not about the query's text."""

from __future__ import annotations

from collections.abc import Iterable

from matchrec.errors.kinds import (
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
    likeliest,
    listed,
)
from matchrec.source import Span


def unknown_engine(name: object, known: Iterable[str]) -> MatchRecognizePlanError:
    """engine= is not the name of an engine."""
    return _unknown("engine", name, known)


def unknown_transport(name: object, known: Iterable[str]) -> MatchRecognizePlanError:
    """transport= is not the name of a transport."""
    return _unknown("transport", name, known)


def unknown_output(name: object, known: Iterable[str]) -> MatchRecognizePlanError:
    """output= is not the name of a set of matches."""
    return _unknown("output", name, known)


def not_a_number_of_slices(slices: object, most: int) -> MatchRecognizePlanError:
    """slices= is no number of slices."""
    return MatchRecognizePlanError(
        f"slices={slices!r}: a partition can be cut into 1 to {most} slices",
        hint="write two to four times the number of cores",
    )


def no_match_graph(columns: Iterable[str]) -> MatchRecognizePlanError:
    """A DataFrame to be unwound that is no result of `sase` in compressed form."""
    return MatchRecognizePlanError(
        f"no match graph: a DataFrame of {listed(columns)}",
        hint='unwind what matchrec.sase(..., form="compressed") gives, with all its columns',
    )


def unknown_form(name: object, known: Iterable[str]) -> MatchRecognizePlanError:
    """form= is not the name of a form."""
    return _unknown("form", name, known)


def not_compressible(output: str) -> MatchRecognizePlanError:
    """The compressed form of some matches only."""
    return MatchRecognizePlanError(
        f"form `compressed` with output `{output}`",
        notes=("the graph that all matches share holds all of them",),
        hint='write output="all", or form="verbose"',
    )


def _unknown(what: str, name: object, known: Iterable[str]) -> MatchRecognizePlanError:
    known = list(known)
    near = likeliest(str(name), known)
    return MatchRecognizePlanError(
        f"unknown {what} `{name}`",
        notes=(f"known: {listed(known)}",),
        hint=f"write {what}={near or known[0]!r}",
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


def no_number_of_steps(given: object) -> MatchRecognizePlanError:
    """max_steps= is no positive integer."""
    return MatchRecognizePlanError(
        f"max_steps={given!r} is no number of steps",
        notes=("a step asks one condition that depends on the run, of one row",),
        hint="write max_steps=1_000_000_000, or leave it out for no limit",
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


def no_text(argument: str, given: object) -> MatchRecognizePlanError:
    """order_by= or partition_by= is neither a text nor several."""
    return MatchRecognizePlanError(
        f"{argument} takes SQL text, or a list of texts, not {type(given).__name__}",
        hint=f'write {argument}="name", or {argument}=["name", "another"]',
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
