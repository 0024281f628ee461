"""Errors about how one of the functions was called, not about the query's text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matchrec.errors.arguments import shown
from matchrec.errors.kinds import (
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
    listed,
    nearest,
)
from matchrec.source import Span


def no_match_graph(columns: Iterable[str]) -> MatchRecognizePlanError:
    """A DataFrame to be unwound that is no result of `sase` in compressed form."""
    return MatchRecognizePlanError(
        f"no match graph: a DataFrame of {listed(columns)}",
        hint='unwind what matchrec.sase(..., form="compressed") gives, with all its columns',
    )


def no_rows(
    column: str | None, columns: Iterable[str], arrays: Sequence[str]
) -> MatchRecognizePlanError:
    """A result in which no column, or not the named one, has the rows of a match."""
    cure = 'add MATCHED_ROWS() AS rows to MEASURES, or name another: rows_of(result, "name")'
    what = "the rows of a match" if column is None else f"`{column}` as an array of rows"
    return MatchRecognizePlanError(
        f"no column has {what}: a DataFrame of {listed(columns)}",
        notes=(f"arrays of structs: {listed(arrays)}",) if arrays else (),
        hint=f'name it: rows_of(result, "{arrays[0]}")' if len(arrays) == 1 else cure,
    )


def several_rows(columns: Sequence[str]) -> MatchRecognizePlanError:
    """Several columns of MATCHED_ROWS()."""
    return MatchRecognizePlanError(
        f"several columns have rows of a match: {listed(columns)}",
        hint=f'name one: rows_of(result, "{columns[0]}")',
    )


def column_of_other_type(name: str, of_match: str, of_row: str) -> MatchRecognizePlanError:
    """A measure that is called as a column of the rows."""
    return MatchRecognizePlanError(
        f"column `{name}` is {of_match} of a match and {of_row} of its rows",
        hint=_ANOTHER_NAME.format(name=name),
    )


def other_value(name: str) -> str:
    """The message of an error of Spark's: a match has another value than one of its rows."""
    cure = _ANOTHER_NAME.format(name=name)
    return f"column `{name}` has one value of a match and another of its rows; {cure}"


_ANOTHER_NAME = 'give the measure another name, such as result.withColumnRenamed("{name}", "last")'


def not_compressible(output: str) -> MatchRecognizePlanError:
    """The compressed form of some matches only."""
    return MatchRecognizePlanError(
        f"form `compressed` with output `{output}`",
        notes=("the graph that all matches share holds all of them",),
        hint='write output="all", or form="verbose"',
    )


def engine_cannot(name: str, reason: str) -> MatchRecognizeUnsupportedError:
    """The engine that `engine=` names cannot run the plan."""
    return MatchRecognizeUnsupportedError(
        f"engine `{name}` cannot run this query: {reason}", hint='write engine="auto"'
    )


def worker_cannot_sort(reason: str) -> MatchRecognizeUnsupportedError:
    """The workers are asked to sort what only Spark can."""
    return MatchRecognizeUnsupportedError(
        reason, hint='write sort="auto", and Spark sorts the rows'
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
    """DESC, ASC or NULLS after what events are sorted by."""
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


def altered_in_arrays(column: str, type_name: str) -> MatchRecognizeUnsupportedError:
    """A column that an aggregate of Spark's reads of all rows of a match."""
    return MatchRecognizeUnsupportedError(
        f"transport `pandas` would alter column {column} of type {type_name} in an array",
        notes=("an aggregate that Spark computes takes the values of a match as one array",),
        hint='write transport="arrow", or leave it out',
    )


def unused_name(name: str, known: Iterable[str]) -> MatchRecognizePlanError:
    """`name=` that is no argument of the function and that the query does not name."""
    near = nearest(name, known)
    return MatchRecognizePlanError(
        f"`{name}` is no argument, and the query has no {{{name}}}",
        hint=f"write {near}=" if near else f"write {{{name}}} in the query, or leave {name}= out",
    )


def other_number_of_values(
    passed: int, needed: int, first: Span | None = None
) -> MatchRecognizePlanError:
    """A list that is not as long as the query has markers. first: the first without a value."""
    return MatchRecognizePlanError(
        f"the query has {counted(needed, 'parameter marker')} (?), args has"
        f" {counted(passed, 'value')}",
        first,
        hint="pass a list with one value for each ?, in their order"
        if needed
        else 'leave args out, or for :name pass a dict: args={"name": value}',
    )


def no_values(args: str, needed: int, first: Span) -> MatchRecognizePlanError:
    """Markers, and no list of their values. args: what it is in place of one."""
    return MatchRecognizePlanError(
        f"the query has {counted(needed, 'parameter marker')} (?), args {args}",
        first,
        hint="pass a list with one value for each ?, in their order",
    )


def marker_without_value(marker: Span) -> MatchRecognizePlanError:
    """`?` in what is passed to a function that takes no args."""
    return MatchRecognizePlanError(
        "a parameter marker (?) without a value",
        marker,
        hint="write the value itself, or call matchrec.sql(spark, query, args=[value])",
    )


def unbound_parameter(
    name: str, known: Iterable[str], span: Span | None
) -> MatchRecognizePlanError:
    """`:name` without a value of that name."""
    known = list(known)
    near = nearest(name, known)
    passed = f'call matchrec.sql(spark, query, args={{"{name}": value}})'
    return MatchRecognizePlanError(
        f"parameter `:{name}` has no value",
        span,
        notes=(f"args has: {listed(known)}",),
        hint=f"write :{near}, or {passed}" if near else f"{passed}, or write the value itself",
    )


def no_table(name: str, value: object, span: Span) -> MatchRecognizePlanError:
    """A literal where the clause has its input."""
    return MatchRecognizePlanError(
        f"`{{{name}}}` before MATCH_RECOGNIZE is {shown(value)}",
        span,
        notes=("the clause applies to the rows of a table",),
        hint=f"pass a DataFrame: {name}=df",
    )


def column_refused(column: str, reason: str) -> MatchRecognizePlanError:
    """A condition given as a Column that Spark cannot compute over an event."""
    return MatchRecognizePlanError(
        f"Spark refuses the condition {column}: {reason}",
        notes=("a condition is about one event",),
        hint="write it over the columns of the DataFrame",
    )


def column_is_no_condition(column: str, type_name: str) -> MatchRecognizePlanError:
    """A Column of another type."""
    return MatchRecognizePlanError(
        f"a condition must be boolean, {column} is {type_name}",
        hint="compare it with something, such as col(...) > 0",
    )


def counted(number: int, thing: str) -> str:
    """A number of things.

    >>> counted(0, "value"), counted(1, "value"), counted(2, "value")
    ('no values', '1 value', '2 values')
    """
    return f"{number or 'no'} {thing}{'' if number == 1 else 's'}"
