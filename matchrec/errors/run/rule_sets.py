"""Errors of rule sets: which rule it is, and what a set cannot have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from matchrec.errors.kinds import (
    Located,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
    listed,
    nearest,
)
from matchrec.errors.streaming import cannot_stream
from matchrec.source import Span

L = TypeVar("L", bound=Located)


def of_rule(name: str, error: L) -> L:
    """The same, which says of which rule it is."""
    said = f"rule `{name}`: "
    if not error.message.startswith(said):
        error.message = said + error.message
        error.args = (error.message,)
    return error


def no_rules() -> MatchRecognizePlanError:
    """An empty dict."""
    return MatchRecognizePlanError(
        "`rules` of match_all() is empty",
        hint='write rules={"name": "PATTERN (...) DEFINE ..."}',
    )


def alike_but_for_case(first: str, second: str) -> MatchRecognizePlanError:
    """Two names that people take for one."""
    return MatchRecognizePlanError(
        f"rules `{first}` and `{second}` differ in case only",
        hint="give one of them another name",
    )


def clause_of_its_own(clause: str, span: Span) -> MatchRecognizePlanError:
    """PARTITION BY or ORDER BY in the clause of a rule."""
    argument = clause.lower().replace(" ", "_")
    return MatchRecognizePlanError(
        f"{clause} in a rule",
        span,
        notes=("all rules of a set have the same partitions and the same order",),
        hint=f'leave it out, and write match_all(..., {argument}="...")',
    )


def taken_name(name: str, what: str) -> MatchRecognizePlanError:
    """A column of the input that has the name of one of ours."""
    return MatchRecognizePlanError(
        f"{what} `{name}` has the name of a column of the result",
        hint=f'rename it first: df.withColumnRenamed("{name}", "{name}_")',
    )


def two_columns_of_one_name(name: str) -> MatchRecognizePlanError:
    """The rows have two columns of one name, and events would have them too."""
    return MatchRecognizePlanError(
        f"the input has two columns `{name}`",
        hint="rename one of them, or write event_columns= with those that events are to have",
    )


def unknown_rule(name: str, known: Iterable[str]) -> MatchRecognizePlanError:
    """.rule() of a name that no rule has."""
    known = list(known)
    near = nearest(name, known) or known[0]
    return MatchRecognizePlanError(
        f"there is no rule `{name}`",
        notes=(f"rules: {listed(known)}",),
        hint=f'write rule("{near}")',
    )


def unknown_event_column(name: str, known: Iterable[str]) -> MatchRecognizePlanError:
    """event_columns= names no column of the input."""
    known = list(known)
    near = nearest(name, known)
    return MatchRecognizePlanError(
        f"`{name}` of event_columns is no column of the input",
        notes=(f"columns: {listed(known)}",),
        hint=f"write {near}" if near else "write one of these",
    )


def not_divided_by(column: str, type_name: str) -> MatchRecognizeUnsupportedError:
    """An equivalence test of SASE+ over values that only Spark can compare."""
    return MatchRecognizeUnsupportedError(
        f"an equivalence test over {column} of type {type_name} in a rule set",
        notes=("rules share their partitions; a worker divides them further for one rule",),
        hint="name the column in partition_by, or call matchrec.sase for this query",
    )


def divided_over_stream(column: str) -> MatchRecognizeUnsupportedError:
    """An equivalence test of SASE+ in a rule set over a stream."""
    return cannot_stream(
        f"an equivalence test over {column} in a rule set",
        "it divides the partitions of its rule further, and matches are numbered by partition",
        "name the column in partition_by, or call matchrec.sase for this query",
    )


def cached_stream() -> MatchRecognizeUnsupportedError:
    """.cache() of a rule set over a stream."""
    return cannot_stream(
        "cache() of a rule set",
        "rows of a stream are not kept",
        "write `matches`, and read what is written",
    )


def rows_of_something_else(missing: Sequence[str]) -> MatchRecognizePlanError:
    """.of() of rows that are not those of the set."""
    return MatchRecognizePlanError(
        f"the rows given to of() have no column `{missing[0]}`",
        notes=("they are `rows` of the same rule set, as they are read where they were written",),
        hint="write and read all columns of `rows`",
    )
