"""Syntax nodes of a clause and its place in the query: what the user wrote, without defaults.

Expressions are still tokens. Two nodes are equal if they differ only in their spans.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from matchrec.errors.sql import limits as errors
from matchrec.plan import clauses
from matchrec.plan.match_plan import EVERYTHING, MatchPlan, ResultUse
from matchrec.plan.pattern import Parameter, RowPattern
from matchrec.plan.templates import View
from matchrec.source import Span
from matchrec.syntax.tokens import TokenSequence


@dataclass(frozen=True, slots=True)
class PartitionKey:
    """A PARTITION BY key: `expression` or `expression AS name`."""

    expression: TokenSequence
    # The name after AS; None without AS.
    name: str | None = None
    # Where the whole item is written.
    span: Span = field(compare=False, default=Span(0, 0))


@dataclass(frozen=True, slots=True)
class SortKey:
    """An ORDER BY key: `expression [ASC | DESC] [NULLS FIRST | NULLS LAST]`."""

    expression: TokenSequence
    # None if neither ASC nor DESC is written.
    is_descending: bool | None = None
    # None if neither NULLS FIRST nor NULLS LAST is written.
    nulls_first: bool | None = None
    # Where the whole item is written.
    span: Span = field(compare=False, default=Span(0, 0))


@dataclass(frozen=True, slots=True)
class NamedExpression:
    """`expression AS name` of MEASURES, or `name AS expression` of DEFINE."""

    expression: TokenSequence
    # The name of the measure, or the variable: in upper case unless it is quoted.
    name: str
    # Where the name is written.
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class WindowNode:
    """An item of WITHIN, which limits how far two rows of a match may be apart.

    The form of the item says which rows are meant:

        item                                        the two rows
        WITHIN interval                             the first and the last row of the match
        WITHIN n ROWS                               the same, counted in rows of the partition
        WITHIN interval BETWEEN ROWS                neighbouring rows of the match
        WITHIN interval FROM variable TO variable   rows of these variables
    """

    # The length; for `n ROWS`, the number.
    interval: TokenSequence
    # Where the whole item is written.
    span: Span = field(compare=False)
    # Whether BETWEEN ROWS follows the length.
    is_between_rows: bool = False
    # The variable after FROM; None without FROM.
    from_variable: str | None = None
    # The variable after TO; None without TO. An item has both variables, or neither of them.
    to_variable: str | None = None
    # The number of `n ROWS`; 0 if it is a parameter, None for other items.
    rows: int | None = None
    # The parameter that is written instead of the number or the length; None if there is none.
    parameter: Parameter | None = None
    # Whether the length begins with the word INTERVAL.
    has_interval_word: bool = False
    # The unit of time at the end of the length, such as MINUTE; None if there is none.
    unit: str | None = None
    # Where the length is written.
    interval_span: Span = field(compare=False, default=Span(0, 0))

    @property
    def is_gap(self) -> bool:
        """Return whether the window is between rows of a match, and not for the whole match."""
        return self.is_between_rows or self.from_variable is not None


def check_distinct_windows(windows: tuple[WindowNode, ...]) -> None:
    """Check that no two items of WITHIN limit the distance of the same rows.

    Raises:
        MatchRecognizeParseError: two items are for the whole match, for neighbouring rows, or for
            the same variables.
    """
    first_windows: dict[tuple[bool, str | None, str | None], WindowNode] = {}
    for window in windows:
        limited_rows = (window.is_between_rows, window.from_variable, window.to_variable)
        first = first_windows.setdefault(limited_rows, window)
        if first is window:
            continue
        have_same_unit = (first.rows is None) is (window.rows is None)
        if have_same_unit:
            raise errors.duplicate_within(first.span, window.span)
        raise errors.within_rows_and_time(first.span, window.span)


class InitialOrSeek(Enum):
    """The word before PATTERN that says where the match of a row pattern window may start.

    INITIAL: at the current row. SEEK: at the current row or after it. A clause may not have either.
    """

    INITIAL = "INITIAL"
    SEEK = "SEEK"


@dataclass(frozen=True, slots=True)
class MatchRecognize:
    """A clause: everything between the parentheses of MATCH_RECOGNIZE.

    A part that is not written is None or empty.
    """

    pattern: RowPattern
    # Where the row pattern is written, with the parentheses around it.
    pattern_span: Span = field(compare=False, default=Span(0, 0))
    partition_by: tuple[PartitionKey, ...] = ()
    order_by: tuple[SortKey, ...] = ()
    measures: tuple[NamedExpression, ...] = ()
    rows_per_match: clauses.RowsPerMatch | None = None
    partial: clauses.PartialMatches | None = None
    after_match: clauses.AfterMatchSkip | None = None
    # The frame; only row pattern windows have one.
    frame: FrameEnd | None = None
    # INITIAL or SEEK; only row pattern windows have one of them.
    search: InitialOrSeek | None = None
    # Where INITIAL or SEEK is written.
    search_span: Span | None = field(compare=False, default=None)
    # The items of WITHIN.
    windows: tuple[WindowNode, ...] = ()
    selection: clauses.EventSelection | None = None
    output: clauses.MatchOutput | None = None
    first_matches: clauses.FirstMatches | None = None
    # Where `selection`, `output` and `first_matches` are written: the words after PATTERN (...).
    options_span: Span | None = field(compare=False, default=None)
    subsets: tuple[clauses.Subset, ...] = ()
    # Where the keyword SUBSET is written.
    subset_span: Span | None = field(compare=False, default=None)
    definitions: tuple[NamedExpression, ...] = ()
    # The order of output columns in the product for which the query was written.
    column_order: clauses.ColumnOrder = clauses.ColumnOrder.STANDARD
    # The keyword of the first part after PARTITION BY. ORDER BY is written before it.
    part_after_keys: Span | None = field(compare=False, default=None)
    # Where everything between the clause's parentheses is written.
    span: Span = field(compare=False, default=Span(0, 0))
    # A cache of `lower.lower_clause`: empty, or the plan of the clause.
    plans: list[MatchPlan] = field(default_factory=list, init=False, compare=False, repr=False)

    @property
    def within(self) -> WindowNode | None:
        """Return the item `WITHIN interval`; None if it is not written."""
        for window in self.windows:
            if not window.is_gap and window.rows is None:
                return window
        return None

    @property
    def window_of_rows(self) -> WindowNode | None:
        """Return the item `WITHIN n ROWS`; None if it is not written."""
        return next((window for window in self.windows if window.rows is not None), None)


# Sites: clauses and row pattern windows in their query.


@dataclass(frozen=True, slots=True)
class Site:
    """A clause or a row pattern window in a query, and the relation to which it applies."""

    # The position of the site in the order of evaluation, from 0.
    index: int
    # The clause, or the window read as a clause.
    clause: MatchRecognize
    # The name by which columns of the relation may be qualified; None if the relation has no name.
    relation_alias: str | None
    # The relation with its alias; for a window, also with WHERE.
    relation: Span
    # The text that the result replaces: for a clause, the relation and the clause without the alias
    # after it; for a window, the same as `relation`.
    replaced: Span
    # For each WITH clause around the site, the part whose tables the site may read. The outermost
    # WITH clause comes first.
    with_clauses: tuple[Span, ...]
    # The part of the result that the query around the site uses.
    result_use: ResultUse = EVERYTHING
    # The calls over a window, each once; None for a clause.
    calls: tuple[WindowCall, ...] | None = None
    # Whether the site is a window that reads the result of the window before it in the same SELECT.
    reads_previous_window: bool = False
    # The alias after the clause; None if there is none.
    result_alias: str | None = None
    # The new names of the columns, such as `a` and `b` of `AS m (a, b)`.
    renames: tuple[Span, ...] = ()

    @property
    def alias(self) -> str | None:
        """Return the name of the result: the alias after the clause, or else the relation's."""
        return self.result_alias or self.relation_alias

    @property
    def view(self) -> View:
        """Return the hole for the result in the queries that read it."""
        return View(f"match_recognize_{self.index}")


@dataclass(frozen=True, slots=True)
class FrameEnd:
    """The end of a window's frame: `AND ... FOLLOWING`."""

    # The number of rows after the first row of the frame: an integer, an expression or a parameter.
    # None for UNBOUNDED FOLLOWING.
    rows: int | TokenSequence | Parameter | None
    # Where the whole frame is written.
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class WindowCall:
    """A call over a window: one of its measures, or a function over the rows of the match."""

    # The name of the column that replaces the call in the query.
    column: str
    # The tokens before OVER.
    tokens: TokenSequence
    # The name of the measure as it is written in the call; None for a function.
    measure: str | None


def name_uncalled_measure(measure: str) -> str:
    """Return the column name for a measure that no call reads: it is checked, but not computed."""
    return f"{measure} of the window"
