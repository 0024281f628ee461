"""The small parts of a match plan: everything but the row pattern and the expressions.

    keys         `RowExpression`, `SortItem`
    options      `RowsPerMatch`, `PartialMatches`, `ColumnOrder`, `AfterMatchSkip`,
                 `EventSelection`, `MatchOutput`, `FirstMatches`; `Grouping` of aggregates over
                 all matches
    windows      `Within`, `Gap`, `Distance`
    variables    `Absence`, `Subset`, `Definition`, `Measure`

The choices of an option are declared once, here: the keywords, the meaning, and what the choice
reads in addition to the rows of a match. See `plan.choices`.
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

from typing_extensions import Self

from matchrec.plan.amounts import Amount
from matchrec.plan.choices import ChoiceDeclaration, Dependency, OptionChoice
from matchrec.plan.expression import End, Scalar
from matchrec.plan.operations import UNPARSED, Operations
from matchrec.plan.pattern import Parameter
from matchrec.source import Span


@dataclass(frozen=True, slots=True)
class RowExpression:
    """SQL over one row of the input."""

    # The SQL.
    text: str
    # Where the SQL was written; None if the user did not write it.
    span: Span | None = field(default=None, compare=False)
    # The name of the result column of a PARTITION BY key, as in `date(ts) AS day`; None without AS.
    output_name: str | None = None
    # The value if it is a literal number or interval, otherwise None.
    amount: Amount | None = field(default=None, compare=False, repr=False)
    # The path of the column: ("price",), or ("t", "price") with a qualifier or for a field. Empty
    # if the SQL is not just a column.
    column_path: tuple[str, ...] = field(default=(), compare=False, repr=False)
    # Whether the value is the same for all rows, but only the engine can compute it: `1 - 1` or
    # `:gap`.
    is_constant: bool = field(default=False, compare=False, repr=False)
    # The operations of the SQL. By default, they are not known.
    operations: Operations = field(default=UNPARSED, compare=False, repr=False)
    # The expression as the user wrote it, for errors; None if they did not write it as SQL.
    scalar: Scalar | None = field(default=None, compare=False, repr=False)

    @property
    def span_or_start(self) -> Span:
        """Return the span of the expression; the start of the query's text if there is no span."""
        return self.span or Span(0, 0)


@dataclass(frozen=True, slots=True)
class SortItem:
    """A key of ORDER BY."""

    expression: RowExpression
    is_descending: bool = False
    # None is the default of Spark SQL: first if ascending, last if descending.
    nulls_first: bool | None = None
    # Where the key is written, with its direction; None if the user did not write it in SQL.
    span: Span | None = field(default=None, compare=False)

    @property
    def direction(self) -> str:
        """Return the words of Spark SQL for the direction, for example `DESC NULLS LAST`."""
        order = "DESC" if self.is_descending else "ASC"
        nulls = "LAST" if self.puts_nulls_last else "FIRST"
        return f"{order} NULLS {nulls}"

    @property
    def puts_nulls_last(self) -> bool:
        """Return whether NULLs come after all values."""
        return self.is_descending if self.nulls_first is None else not self.nulls_first


class RowsPerMatch(OptionChoice):
    """The output rows of a match, of an empty match and of an unmatched row."""

    ONE_ROW = ChoiceDeclaration("ONE ROW PER MATCH")
    ALL_ROWS_SHOW_EMPTY = ChoiceDeclaration("ALL ROWS PER MATCH SHOW EMPTY MATCHES")
    ALL_ROWS_OMIT_EMPTY = ChoiceDeclaration("ALL ROWS PER MATCH OMIT EMPTY MATCHES")
    ALL_ROWS_WITH_UNMATCHED = ChoiceDeclaration(
        "ALL ROWS PER MATCH WITH UNMATCHED ROWS", dependencies=(Dependency.UNMATCHED_ROWS,)
    )
    # Only for row pattern windows: each input row once, with the match that begins at this row.
    EACH_ROW = ChoiceDeclaration(
        "EACH ROW, WITH THE MATCH THAT BEGINS THERE",
        dependencies=(Dependency.UNMATCHED_ROWS, Dependency.NEIGHBOURS),
    )

    # Other modules read these properties instead of comparing members, so that whoever adds a
    # member only has to decide on its properties.

    @property
    def is_window_output(self) -> bool:
        """Return whether each input row is output once, as for a row pattern window."""
        return self is RowsPerMatch.EACH_ROW

    @property
    def has_one_row_per_match(self) -> bool:
        """Return whether a match has one output row, with the measures of its last row."""
        return self in (RowsPerMatch.ONE_ROW, RowsPerMatch.EACH_ROW)

    @property
    def summarizes_matches(self) -> bool:
        """Return whether an output row summarizes a match, and belongs to no input row."""
        return self is RowsPerMatch.ONE_ROW

    @property
    def shows_empty(self) -> bool:
        """Return whether empty matches have output rows."""
        return self is not RowsPerMatch.ALL_ROWS_OMIT_EMPTY

    @property
    def shows_unmatched(self) -> bool:
        """Return whether unmatched rows have output rows."""
        return self in (RowsPerMatch.ALL_ROWS_WITH_UNMATCHED, RowsPerMatch.EACH_ROW)


# The choices that can be written in a MATCH_RECOGNIZE clause.
CLAUSE_CHOICES = tuple(choice for choice in RowsPerMatch if not choice.is_window_output)


@dataclass(frozen=True, slots=True)
class PartialMatches:
    """The runs that are output in addition to matches, from starting rows that begin no match."""

    dependencies: ClassVar = (Dependency.PARTIAL_MATCHES, Dependency.PARTITION_EDGES)

    # Runs that are live when their window ends.
    shows_timed_out: bool = False
    # The longest of the runs that are live when their partition ends before their window does.
    shows_unfinished: bool = False
    # Where the option is written.
    span: Span | None = field(default=None, compare=False)

    @property
    def words(self) -> str:
        """Return the option as it is written."""
        kinds = []
        if self.shows_timed_out:
            kinds.append("TIMEOUT")
        if self.shows_unfinished:
            kinds.append("UNFINISHED")
        return f"SHOW {' AND '.join(kinds)} MATCHES"


class ColumnOrder(Enum):
    """The order of columns in the result of ALL ROWS PER MATCH."""

    STANDARD = "PARTITION BY, ORDER BY, measures, other columns"
    INPUT_FIRST = "columns of the input, measures"


@dataclass(frozen=True, slots=True)
class SkipDeclaration:
    """The declaration of a choice of `SkipTo`."""

    # The keywords of the choice, as in a query.
    words: str
    # The anchor row: the first or the last row.
    end: End
    # How many rows after the anchor row the search goes on.
    past: int = 0
    # The dependencies on more than the values of a match's own rows.
    dependencies: tuple[Dependency, ...] = ()


class SkipTo(Enum):
    """The row at which the search goes on after a non-empty match, in the standard's words.

    The row is `past` rows after the anchor row: the first or the last row (`end`) of the match, or
    of its rows that are mapped to a variable. `search.matches` reads only `past` and `end`.
    """

    NEXT_ROW = SkipDeclaration("TO NEXT ROW", End.FIRST, past=1)
    PAST_LAST_ROW = SkipDeclaration(
        "PAST LAST ROW", End.LAST, past=1, dependencies=(Dependency.OVERLAP,)
    )
    FIRST = SkipDeclaration("TO FIRST", End.FIRST, dependencies=(Dependency.OVERLAP,))
    LAST = SkipDeclaration("TO LAST", End.LAST, dependencies=(Dependency.OVERLAP,))

    # The words of the declaration.
    _value_: str
    # The other fields are as in `SkipDeclaration`.
    end: End
    past: int
    dependencies: tuple[Dependency, ...]

    def __new__(cls, declaration: SkipDeclaration) -> Self:
        """Make a member whose value is its words."""
        member = object.__new__(cls)
        member._value_ = declaration.words
        member.end = declaration.end
        member.past = declaration.past
        member.dependencies = declaration.dependencies
        return member


@dataclass(frozen=True, slots=True)
class AfterMatchSkip:
    """The option AFTER MATCH SKIP: the row at which the search goes on after a match."""

    to: SkipTo = SkipTo.PAST_LAST_ROW
    # The primary or union variable of FIRST and LAST; else None.
    variable: str | None = None
    # Where the variable is written, or else the whole option.
    span: Span | None = field(default=None, compare=False)

    @property
    def words(self) -> str:
        """Return the option as it is written."""
        return f"AFTER MATCH SKIP {self.to.value} {self.variable or ''}".rstrip()

    @property
    def dependencies(self) -> tuple[Dependency, ...]:
        """Return the dependencies of the option, in addition to the rows of the match."""
        return self.to.dependencies


class EventSelection(OptionChoice):
    """The rows that a run may skip between two rows of a match.

    Source: SASE+, "Event selection strategies". Partition contiguity is strict contiguity within
    finer partitions.
    """

    STRICT_CONTIGUITY = ChoiceDeclaration(
        "STRICT CONTIGUITY", "the rows of a match are consecutive; theta_ignore = false"
    )
    SKIP_TILL_NEXT_MATCH = ChoiceDeclaration(
        "SKIP TILL NEXT MATCH",
        "only rows that cannot be mapped may be skipped; theta_ignore = not take, else not begin",
    )
    SKIP_TILL_ANY_MATCH = ChoiceDeclaration(
        "SKIP TILL ANY MATCH", "any row may be skipped; theta_ignore = true"
    )


class MatchOutput(OptionChoice):
    """The matches that are output."""

    PREFERRED = ChoiceDeclaration(
        "PREFERRED MATCHES",
        "the preferred match of each starting row; AFTER MATCH SKIP excludes starting rows",
    )
    # If several matches have the most rows, the preferred one of them is output. AFTER MATCH SKIP
    # excludes starting rows, as for PREFERRED.
    LONGEST = ChoiceDeclaration(
        "LONGEST MATCH", "for each starting row, the match with the most rows"
    )
    # Every mapping of rows to variables that is a match.
    ALL = ChoiceDeclaration("ALL MATCHES", "every match, once")
    # Of several matches that become complete at one row, the match that starts first. Of several
    # that also start at one row, the match whose row positions, compared one by one, are the least.
    NON_OVERLAPPING = ChoiceDeclaration(
        "NON-OVERLAPPING MATCHES",
        "the first match to be complete; the next match begins after it",
        dependencies=(Dependency.OVERLAP,),
    )
    GRAPH = ChoiceDeclaration(
        "MATCH GRAPH",
        "the shared buffer with all matches, one row for each pointer",
        dependencies=(Dependency.POSITIONS,),
    )


@dataclass(frozen=True, slots=True)
class FirstMatches:
    """`FIRST count MATCHES`: only the first matches of each partition are output."""

    dependencies: ClassVar = (Dependency.EARLIER_MATCHES,)
    meaning: ClassVar = "the search of a partition ends after them"

    # How many matches of each partition are output.
    count: int
    # Where the option is written.
    span: Span | None = field(default=None, compare=False)
    # The parameter that is written instead of a number, in which case `count` is 0 until its value
    # is known. None in a plan.
    parameter: Parameter | None = None

    @property
    def words(self) -> str:
        """Return the option as it is written."""
        return f"FIRST {self.parameter.text if self.parameter else self.count} MATCHES"


# An option of a clause.
Option = OptionChoice | PartialMatches | AfterMatchSkip | FirstMatches

# The choices that output at most one match for each starting row. AFTER MATCH SKIP decides which
# rows are starting rows.
ONE_MATCH_PER_START = (MatchOutput.PREFERRED, MatchOutput.LONGEST)


def needs_event_selection(
    selection: EventSelection, output: MatchOutput, absences: Sized, match_condition: object
) -> bool:
    """Return whether a query needs event selection.

    A query does not need event selection if it outputs one match of consecutive rows for each
    starting row, without absences and without a condition on the complete match.

    Args:
        selection: which rows a match may skip.
        output: which matches are output.
        absences: the absences, of any type; only their number makes a difference.
        match_condition: the condition on a complete match, of any type; None if there is none.
    """
    return (
        selection is not EventSelection.STRICT_CONTIGUITY
        or output not in ONE_MATCH_PER_START
        or len(absences) > 0
        or match_condition is not None
    )


class Grouping(OptionChoice):
    """The grouping of matches for aggregates over all matches, see `totals.Totals`."""

    PARTITION = ChoiceDeclaration("partition", "each partition")
    START = ChoiceDeclaration("start", "each row that begins matches")
    END = ChoiceDeclaration("end", "each row that ends matches")


class DistanceForm(Enum):
    """The form of a condition that limits the distance of a row x from the first row of the match.

    The values show it with `<=`. The operator may also be `<`.
    """

    DIFFERENCE = "x - first <= limit"
    DAYS = "datediff(x, first) <= limit"
    SUM = "x <= first + limit"
    LESS = "x - limit <= first"
    TRY_DIFFERENCE = "try_subtract(x, first) <= limit"


@dataclass(frozen=True, slots=True)
class Distance:
    """The exact length of a window: how far a row in the window can be from its first row."""

    # The greatest distance of a row in the window, in the units in which the order column is an
    # int64: days, microseconds, or units of the last digit of a decimal. A float if the column is a
    # DOUBLE; then rounding depends on the form.
    limit: int | float
    # The length as the user wrote it, for explanations, such as `at most 300`.
    text: str
    # The variables whose conditions form the window; empty if the length was written after WITHIN.
    variables: tuple[str, ...] = ()
    # The forms of these conditions; only one form if the column is a DOUBLE.
    forms: tuple[DistanceForm, ...] = ()
    # Whether a row exactly at the limit is outside. Always False unless the column is a DOUBLE.
    excludes_limit: bool = False
    # Whether the first row must be in the window that begins with it. If its order column is NULL,
    # the row is in no window.
    first_must_be_inside: bool = True
    # The number of bits of an integer order column; 0 for a column of another type.
    bits: int = 0


@dataclass(frozen=True, slots=True)
class Within:
    """`WITHIN interval`: the last row of a match comes less than `interval` after the first."""

    # The length as SQL; its text is empty if conditions form the window.
    interval: RowExpression
    # The exact length; None while only the SQL is known. If conditions form the window, the exact
    # length is always known.
    distance: Distance | None = None


@dataclass(frozen=True, slots=True)
class Gap:
    """A window inside a match: each row comes less than `interval` after an earlier row.

    A gap with variables compares each row of `to` with the last row of `after` before it, if such a
    row exists. A gap without variables compares each row of the match with the row before it in the
    match.
    """

    # The length as SQL.
    interval: RowExpression
    # The primary or union variable before the gap; None for a gap without variables.
    after: str | None = None
    # The primary or union variable after the gap; None for a gap without variables.
    to: str | None = None
    # Where the window is written.
    span: Span | None = field(default=None, compare=False)
    # The exact length; None while only the SQL is known.
    distance: Distance | None = None
    # The number of bits of an integer order column; 0 if its type is different or not known.
    bits: int = 0


@dataclass(frozen=True, slots=True)
class Absence:
    """A negated part of a sequence, as in SASE+: `A NOT B C`.

    No row between two rows of the match, here the rows of A and C, may satisfy the condition of
    `variable`, here B.
    """

    # The variable whose condition no row may satisfy.
    variable: str
    # The forbidden rows begin after the last row of these primary or union variables. None if rows
    # before the match are forbidden: each row whose window contains the last row of the match.
    after: tuple[str, ...] | None
    # The forbidden rows end before the first row of these variables that follows. None if rows
    # after the match are forbidden, in the window of the match.
    before: tuple[str, ...] | None
    # Where the NOT is written.
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Subset:
    """A union variable: its rows are the rows of all its members."""

    name: str
    # Primary variables.
    members: tuple[str, ...]
    # Where the name is written.
    span: Span | None = field(default=None, compare=False)
    # Where each member is written, or empty.
    member_spans: tuple[Span, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Definition:
    """An item of DEFINE: a row may be mapped to `variable` only if `condition` is true."""

    variable: str
    condition: Scalar
    # Where the variable is written.
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Measure:
    """An output column computed from a match."""

    name: str
    value: Scalar
    # Where the name is written.
    span: Span | None = field(default=None, compare=False)
    # Whether the measure has a value even in a row without a match, as functions over a row pattern
    # window do. Other measures are NULL in such a row.
    has_value_without_match: bool = False
    # The name by which later measures refer to this measure; None if they refer to it by `name`. In
    # a row pattern window, `name` is the name of a column, and the user wrote another name.
    reference_name: str | None = None
