"""Syntax nodes of the clause: what its author wrote, with defaults still open.

Clauses that differ in spans only are equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from matchrec.errors.sql import clause as errors
from matchrec.plan import clauses
from matchrec.plan.match_plan import EVERYTHING, MatchPlan, Use
from matchrec.plan.pattern import Parameter, RowPattern
from matchrec.plan.text import View
from matchrec.source import Span
from matchrec.syntax.tokens import TokenSequence


@dataclass(frozen=True, slots=True)
class PartitionKey:
    """One PARTITION BY key, `expression` or `expression AS name`. span: of all of it."""

    expression: TokenSequence
    name: str | None = None
    span: Span = field(compare=False, default=Span(0, 0))


@dataclass(frozen=True, slots=True)
class SortKey:
    """One ORDER BY key; None where nothing is written. span: of all of it."""

    expression: TokenSequence
    descending: bool | None = None
    nulls_first: bool | None = None
    span: Span = field(compare=False, default=Span(0, 0))


@dataclass(frozen=True, slots=True)
class NamedExpression:
    """`expression AS name` of MEASURES, `name AS expression` of DEFINE, a normalized variable."""

    expression: TokenSequence
    name: str
    span: Span = field(compare=False)  # of the name


@dataclass(frozen=True, slots=True)
class WindowNode:
    """How far rows may lie apart: the first and the last one, neighbours, or rows of variables."""

    interval: TokenSequence
    span: Span = field(compare=False)
    between_rows: bool = False
    after: str | None = None
    to: str | None = None
    rows: int | None = None  # that a match spans at most; `interval` is their number then
    parameter: Parameter | None = None  # whose value that is, or the interval
    unit: str | None = None  # after INTERVAL and a parameter, empty where none is
    place: Span = field(compare=False, default=Span(0, 0))  # of the interval, or of its text

    @property
    def is_gap(self) -> bool:
        """Whether it is between neighbours or variables, and not of a whole match."""
        return self.between_rows or self.after is not None


def check_windows(found: tuple[WindowNode, ...]) -> tuple[WindowNode, ...]:
    """The windows as they are. Raises unless each is of another kind or between other variables."""
    first: dict[tuple[bool, str | None, str | None], WindowNode] = {}
    for node in found:
        other = first.setdefault((node.between_rows, node.after, node.to), node)
        if other is not node:
            same = (other.rows is None) is (node.rows is None)
            error = errors.second_window if same else errors.window_of_rows_and_time
            raise error((other.span, node.span))
    return found


class Search(Enum):
    """Where the first match may start; of the WINDOW clause only."""

    INITIAL = "INITIAL"
    SEEK = "SEEK"


@dataclass(frozen=True, slots=True)
class MatchRecognize:
    """All that stands between the parentheses of MATCH_RECOGNIZE. None: nothing is written."""

    pattern: RowPattern
    pattern_span: Span = field(compare=False, default=Span(0, 0))  # of its parentheses
    partition_by: tuple[PartitionKey, ...] = ()
    order_by: tuple[SortKey, ...] = ()
    measures: tuple[NamedExpression, ...] = ()
    rows_per_match: clauses.RowsPerMatch | None = None
    partial: clauses.PartialMatches | None = None
    after_match: clauses.AfterMatchSkip | None = None
    frame: FrameEnd | None = None  # of a window only
    search: Search | None = None  # of a window only
    search_span: Span | None = field(compare=False, default=None)
    windows: tuple[WindowNode, ...] = ()
    selection: clauses.EventSelection | None = None
    output: clauses.MatchOutput | None = None
    first_matches: clauses.FirstMatches | None = None
    subsets: tuple[clauses.Subset, ...] = ()
    definitions: tuple[NamedExpression, ...] = ()
    columns: clauses.ColumnOrder = clauses.ColumnOrder.STANDARD  # of the product it is for
    span: Span = field(compare=False, default=Span(0, 0))
    # its plan, once somebody has asked for it
    plans: list[MatchPlan] = field(default_factory=list, init=False, compare=False, repr=False)

    @property
    def within(self) -> WindowNode | None:
        """How far the last row of a match may lie after the first one."""
        return next((one for one in self.windows if not one.is_gap and one.rows is None), None)

    @property
    def window_of_rows(self) -> WindowNode | None:
        """How many rows of the partition a match spans at most."""
        return next((window for window in self.windows if window.rows is not None), None)


# Where a clause or a row pattern window stands in its query, and what the window has beside it.


@dataclass(frozen=True, slots=True)
class Site:
    """One clause and the relation that it applies to."""

    index: int  # its turn in the order of evaluation
    clause: MatchRecognize
    relation_alias: str | None  # by which its columns may be qualified
    relation: Span  # the input's text, its alias included; of a window also WHERE
    whole: Span  # relation and clause, without the alias after it
    with_clauses: tuple[Span, ...]  # of each WITH around it, outermost first, what it can use
    use: Use = EVERYTHING  # what the query around the clause uses of its rows
    calls: tuple[WindowCall, ...] | None = None  # over a window, each once; None of a clause
    goes_on: bool = False  # over the rows of the window before it, of the same SELECT
    own_alias: str | None = None  # that stands after the clause
    renames: tuple[Span, ...] = ()  # the names that it gives to the columns, `AS m (a, b)`

    @property
    def alias(self) -> str | None:
        """What its rows are called, or else its relation, or None."""
        return self.own_alias or self.relation_alias

    @property
    def view(self) -> View:
        """What stands for the clause's rows once it is evaluated."""
        return View(f"match_recognize_{self.index}")


@dataclass(frozen=True, slots=True)
class FrameEnd:
    """`AND ... FOLLOWING`: how many rows the frame has after its first one; None: all of them."""

    rows: int | TokenSequence | Parameter | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class WindowCall:
    """What stands before OVER: a measure of the window, or a function over the match's rows."""

    column: str  # that stands for it
    written: TokenSequence
    measure: str | None  # None of a function


def uncalled(measure: str) -> str:
    """The column of a measure that nothing calls: it is checked, and not computed."""
    return f"{measure} of the window"
