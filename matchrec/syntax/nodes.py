"""Syntax nodes of the clause: what its author wrote, before defaults are filled in.

Expressions are still tokens. Two nodes are equal if they differ in their spans only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from matchrec.errors.sql import clause as errors
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
    name: str | None = None
    # All of the item.
    span: Span = field(compare=False, default=Span(0, 0))


@dataclass(frozen=True, slots=True)
class SortKey:
    """An ORDER BY key: `expression [ASC | DESC] [NULLS FIRST | NULLS LAST]`."""

    expression: TokenSequence
    # None if neither ASC nor DESC is written.
    descending: bool | None = None
    # None if neither NULLS FIRST nor NULLS LAST is written.
    nulls_first: bool | None = None
    # All of the item.
    span: Span = field(compare=False, default=Span(0, 0))


@dataclass(frozen=True, slots=True)
class NamedExpression:
    """`expression AS name` of MEASURES, or `name AS expression` of DEFINE."""

    expression: TokenSequence
    # The name of a measure, or a normalized variable.
    name: str
    # The name alone.
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class WindowNode:
    """An item of WITHIN: how far rows of a match may be apart.

    WITHIN interval                             the first and the last row of the match
    WITHIN n ROWS                               the same, in rows of the partition
    WITHIN interval BETWEEN ROWS                neighbouring rows of the match
    WITHIN interval FROM variable TO variable   the rows of two variables
    """

    # The length; the number if it is `n ROWS`.
    interval: TokenSequence
    # All of the item.
    span: Span = field(compare=False)
    # Whether BETWEEN ROWS follows the length.
    between_rows: bool = False
    # The variables after FROM and TO.
    from_variable: str | None = None
    to_variable: str | None = None
    # The number of `n ROWS`; 0 if it is a parameter.
    rows: int | None = None
    # The parameter that is written instead of the number or the length.
    parameter: Parameter | None = None
    # Whether the length begins with the word INTERVAL, and the unit of time at its end.
    has_interval_word: bool = False
    unit: str | None = None
    # Where the length is written.
    interval_span: Span = field(compare=False, default=Span(0, 0))

    @property
    def is_gap(self) -> bool:
        """Return whether it is between rows of a match, and not for the whole match."""
        return self.between_rows or self.from_variable is not None


def check_distinct_windows(windows: tuple[WindowNode, ...]) -> tuple[WindowNode, ...]:
    """Return the windows unchanged, after checking that no two bound the same rows.

    Raises:
        MatchRecognizeParseError: two windows are for the whole match, for neighbouring rows, or
            for the same variables.
    """
    firsts: dict[tuple[bool, str | None, str | None], WindowNode] = {}
    for window in windows:
        first = firsts.setdefault(
            (window.between_rows, window.from_variable, window.to_variable), window
        )
        if first is not window:
            have_same_unit = (first.rows is None) is (window.rows is None)
            if have_same_unit:
                raise errors.duplicate_within(first.span, window.span)
            raise errors.within_rows_and_time(first.span, window.span)
    return windows


class InitialOrSeek(Enum):
    """Where the match of a row pattern window may start; not allowed in a clause."""

    INITIAL = "INITIAL"
    SEEK = "SEEK"


@dataclass(frozen=True, slots=True)
class MatchRecognize:
    """A clause: everything between the parentheses of MATCH_RECOGNIZE.

    What is not written is None or empty.
    """

    pattern: RowPattern
    # PATTERN's parentheses and what is between them.
    pattern_span: Span = field(compare=False, default=Span(0, 0))
    partition_by: tuple[PartitionKey, ...] = ()
    order_by: tuple[SortKey, ...] = ()
    measures: tuple[NamedExpression, ...] = ()
    rows_per_match: clauses.RowsPerMatch | None = None
    partial: clauses.PartialMatches | None = None
    after_match: clauses.AfterMatchSkip | None = None
    # The frame; only row pattern windows have one.
    frame: FrameEnd | None = None
    # INITIAL or SEEK; only row pattern windows have it.
    search: InitialOrSeek | None = None
    search_span: Span | None = field(compare=False, default=None)
    # The items of WITHIN.
    windows: tuple[WindowNode, ...] = ()
    selection: clauses.EventSelection | None = None
    output: clauses.MatchOutput | None = None
    first_matches: clauses.FirstMatches | None = None
    # The words after PATTERN's parentheses that say these three.
    options_span: Span | None = field(compare=False, default=None)
    subsets: tuple[clauses.Subset, ...] = ()
    # The keyword SUBSET.
    subset_span: Span | None = field(compare=False, default=None)
    definitions: tuple[NamedExpression, ...] = ()
    # The order of output columns in the product for which the query was written.
    columns: clauses.ColumnOrder = clauses.ColumnOrder.STANDARD
    # What is between the clause's parentheses.
    span: Span = field(compare=False, default=Span(0, 0))
    # A cache of `lower.lower_clause`: empty, or the plan of the clause.
    plans: list[MatchPlan] = field(default_factory=list, init=False, compare=False, repr=False)

    @property
    def within(self) -> WindowNode | None:
        """Return the length of WITHIN for the whole match."""
        for window in self.windows:
            if not window.is_gap and window.rows is None:
                return window
        return None

    @property
    def window_of_rows(self) -> WindowNode | None:
        """Return the `n ROWS` of WITHIN."""
        return next((window for window in self.windows if window.rows is not None), None)


# Sites: clauses and row pattern windows in their query.


@dataclass(frozen=True, slots=True)
class Site:
    """A clause or a row pattern window in a query, and the relation that it applies to."""

    # Its position in the order of evaluation.
    index: int
    # The clause, or the window read as a clause.
    clause: MatchRecognize
    # The name by which columns of the relation may be qualified, if the relation has a name.
    relation_alias: str | None
    # The relation with its alias; for a window with WHERE, too.
    relation: Span
    # The text that the result replaces: relation and clause, without the alias after it. For a
    # window the same as `relation`.
    replaced: Span
    # The part of each WITH clause around it whose tables it may read, outermost first.
    with_clauses: tuple[Span, ...]
    # The part of its rows that the query around it uses.
    use: ResultUse = EVERYTHING
    # The calls over a window, each once; None for a clause.
    calls: tuple[WindowCall, ...] | None = None
    # Whether it is a window that reads the rows of the window before it, of the same SELECT.
    reads_previous_window: bool = False
    # The alias after the clause, if it has one.
    result_alias: str | None = None
    # The new names of the columns: `AS m (a, b)`.
    renames: tuple[Span, ...] = ()

    @property
    def alias(self) -> str | None:
        """Return the name of its rows: its own alias, or else the relation's."""
        return self.result_alias or self.relation_alias

    @property
    def view(self) -> View:
        """Return the hole for its rows in the queries that read them."""
        return View(f"match_recognize_{self.index}")


@dataclass(frozen=True, slots=True)
class FrameEnd:
    """The end of a frame: `AND ... FOLLOWING`."""

    # The number of rows after the first one of the frame, or an expression or a parameter for it;
    # None for all rows.
    rows: int | TokenSequence | Parameter | None
    # All of the frame.
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class WindowCall:
    """A call over a window: one of its measures, or a function over the rows of the match."""

    # The column that replaces it in the query.
    column: str
    # The tokens before OVER.
    tokens: TokenSequence
    # The name of the measure as it is written here; None for a function.
    measure: str | None


def name_uncalled(measure: str) -> str:
    """Return the column name for a measure that no call reads: it is checked, but not computed."""
    return f"{measure} of the window"
