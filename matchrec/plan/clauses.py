"""The small parts of a match plan: sorting, rows per match, where to go on, union variables.

An option is declared here once: see `plan.choices`.
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

from typing_extensions import Self

from matchrec.plan.choices import Beyond, OptionChoice
from matchrec.plan.expression import End, Scalar
from matchrec.plan.pattern import Parameter
from matchrec.plan.text import Amount
from matchrec.source import Span


@dataclass(frozen=True, slots=True)
class RowExpression:
    """SQL over one row of the input. name: of a partition column in the result, if one is given."""

    text: str
    span: Span | None = field(default=None, compare=False)
    name: str | None = None
    amount: Amount | None = field(default=None, compare=False, repr=False)
    names: tuple[str, ...] = field(default=(), compare=False, repr=False)
    # Whether it has one value for all rows that only the engine can tell, as `1 - 1` or `:gap`.
    is_constant: bool = field(default=False, compare=False, repr=False)

    @property
    def place(self) -> Span:
        return self.span or Span(0, 0)


@dataclass(frozen=True, slots=True)
class SortItem:
    """One ORDER BY key. nulls_first None: Spark's default, first when ascending."""

    expression: RowExpression
    descending: bool = False
    nulls_first: bool | None = None

    @property
    def direction(self) -> str:
        way = "DESC" if self.descending else "ASC"
        return f"{way} NULLS {'LAST' if self.puts_nulls_last else 'FIRST'}"

    @property
    def puts_nulls_last(self) -> bool:
        return self.descending if self.nulls_first is None else not self.nulls_first


class RowsPerMatch(OptionChoice):
    """Which rows come out for a match, an empty match and an unmatched row.

    EACH_ROW, of a row pattern window: each row of the input once, with the match that begins there.
    """

    ONE_ROW = "ONE ROW PER MATCH", ()
    ALL_ROWS_SHOW_EMPTY = "ALL ROWS PER MATCH SHOW EMPTY MATCHES", ()
    ALL_ROWS_OMIT_EMPTY = "ALL ROWS PER MATCH OMIT EMPTY MATCHES", ()
    ALL_ROWS_WITH_UNMATCHED = "ALL ROWS PER MATCH WITH UNMATCHED ROWS", (Beyond.UNMATCHED,)
    EACH_ROW = "EACH ROW, WITH THE MATCH THAT BEGINS THERE", (Beyond.UNMATCHED, Beyond.BESIDE)

    @property
    def is_one_row(self) -> bool:
        """Whether a match comes out as one row, seen from its last one."""
        return self in (RowsPerMatch.ONE_ROW, RowsPerMatch.EACH_ROW)

    @property
    def shows_unmatched(self) -> bool:
        return self in (RowsPerMatch.ALL_ROWS_WITH_UNMATCHED, RowsPerMatch.EACH_ROW)


# Those that a clause may say.
OF_CLAUSES = tuple(literal for literal in RowsPerMatch if literal is not RowsPerMatch.EACH_ROW)


@dataclass(frozen=True, slots=True)
class PartialMatches:
    """Runs that are no matches and come out beside them, of starting rows that begin none."""

    beyond: ClassVar = (Beyond.LIVE, Beyond.EDGES)

    timed_out: bool = False  # those that are live where their window ends
    unfinished: bool = False  # of those live where their partition ends, in windows, the longest
    span: Span | None = field(default=None, compare=False)

    @property
    def words(self) -> str:
        kinds = ["TIMEOUT"] * self.timed_out + ["UNFINISHED"] * self.unfinished
        return f"SHOW {' AND '.join(kinds)} MATCHES"


class ColumnOrder(Enum):
    """In which order the columns of the input and the measures come with ALL ROWS PER MATCH."""

    STANDARD = "PARTITION BY, ORDER BY, measures, other columns"
    INPUT_FIRST = "columns of the input, measures"


class SkipTo(Enum):
    """Where the search goes on after a non-empty match, as the standard words it.

    That is `past` rows after the match's first or last row, as `end` says, of all of its rows or of
    those mapped to a variable. The engine knows no more of a strategy, see `search.matches`.
    """

    NEXT_ROW = "TO NEXT ROW", End.FIRST, 1, ()
    PAST_LAST_ROW = "PAST LAST ROW", End.LAST, 1, (Beyond.OVERLAP,)
    FIRST = "TO FIRST", End.FIRST, 0, (Beyond.OVERLAP,)
    LAST = "TO LAST", End.LAST, 0, (Beyond.OVERLAP,)

    _value_: str
    end: End
    past: int
    beyond: tuple[Beyond, ...]

    def __new__(cls, words: str, end: End, past: int, beyond: tuple[Beyond, ...]) -> Self:
        member = object.__new__(cls)
        member._value_, member.end, member.past, member.beyond = words, end, past, beyond
        return member


@dataclass(frozen=True, slots=True)
class AfterMatchSkip:
    """AFTER MATCH SKIP; `variable`: of FIRST and LAST. span: of the variable, or of all of it."""

    to: SkipTo = SkipTo.PAST_LAST_ROW
    variable: str | None = None
    span: Span | None = field(default=None, compare=False)

    @property
    def words(self) -> str:
        return f"AFTER MATCH SKIP {self.to.value} {self.variable or ''}".rstrip()

    @property
    def beyond(self) -> tuple[Beyond, ...]:
        return self.to.beyond


class EventSelection(OptionChoice):
    """Which rows a run may skip between two rows of a match.

    Source: SASE+, "Event selection strategies". Partition contiguity is strict contiguity within
    finer partitions.
    """

    STRICT_CONTIGUITY = (
        "STRICT CONTIGUITY",
        (),
        "no row of a partition may be skipped; theta_ignore = false",
    )
    SKIP_TILL_NEXT_MATCH = (
        "SKIP TILL NEXT MATCH",
        (),
        "a row that could be mapped may not be skipped; theta_ignore = not take, or else not begin",
    )
    SKIP_TILL_ANY_MATCH = "SKIP TILL ANY MATCH", (), "any row may be skipped; theta_ignore = true"


class MatchOutput(OptionChoice):
    """Which matches come out.

    LONGEST: among those as long the preferred one; AFTER MATCH SKIP as for PREFERRED.
    NON_OVERLAPPING: of those that complete first, the first to start, ties by the least positions.
    """

    PREFERRED = (
        "PREFERRED MATCHES",
        (),
        "the preferred match at each starting row that AFTER MATCH SKIP leaves",
    )
    LONGEST = "LONGEST MATCH", (), "of the matches at each starting row the one with the most rows"
    ALL = "ALL MATCHES", (), "every match, once"
    NON_OVERLAPPING = (
        "NON-OVERLAPPING MATCHES",
        (Beyond.OVERLAP,),
        "the match that is complete first, then on behind it",
    )
    GRAPH = "MATCH GRAPH", (Beyond.PLACES,), "the shared buffer of every match, a row per pointer"


@dataclass(frozen=True, slots=True)
class FirstMatches:
    """`FIRST count MATCHES`: of each partition no match comes out whose number is greater."""

    beyond: ClassVar = (Beyond.EARLIER,)
    meaning: ClassVar = "of a partition, which is not searched any further"

    count: int
    span: Span | None = field(default=None, compare=False)
    parameter: Parameter | None = None  # in the place of `count`; no plan has one

    @property
    def words(self) -> str:
        return f"FIRST {self.parameter.written if self.parameter else self.count} MATCHES"


# What a clause may ask for beside its row pattern, conditions and measures.
Option = OptionChoice | PartialMatches | AfterMatchSkip | FirstMatches

# Those that give one match for each starting row, and AFTER MATCH SKIP says which row is one.
ONE_OF_A_ROW = (MatchOutput.PREFERRED, MatchOutput.LONGEST)


def goes_beyond_preferred(
    selection: EventSelection, output: MatchOutput, absences: Sized, closing: object
) -> bool:
    """Whether more is asked for than one match of consecutive rows for each starting row."""
    return (
        selection is not EventSelection.STRICT_CONTIGUITY
        or output not in ONE_OF_A_ROW
        or len(absences) > 0
        or closing is not None
    )


class Grouping(OptionChoice):
    """By what matches are put together that are counted and not built: see `totals.Totals`."""

    PARTITION = "partition", (), "each partition"
    START = "start", (), "each row with which matches start"
    END = "end", (), "each row with which matches end"


class Form(Enum):
    """How a condition says that a row lies no further than so much after the first one."""

    DIFFERENCE = "x - first <= so much"
    DAYS = "datediff(x, first) <= so much"
    SUM = "x <= first + so much"
    LESS = "x - so much <= first"
    TRIED = "try_subtract(x, first) <= so much"


@dataclass(frozen=True, slots=True)
class Distance:
    """How far a row in a window may lie after another one, exactly.

    limit: in units of the order column, to which int64 values are exact (days, microseconds, digits
    of a decimal); a float along a DOUBLE, where rounding depends on the form.
    """

    limit: int | float
    written: str  # how far, as it is written
    variables: tuple[str, ...] = ()  # whose conditions say it
    forms: tuple[Form, ...] = ()  # in which they say it; of a DOUBLE one only
    strict: bool = False  # a row at the limit is outside, for a DOUBLE only
    tests_first: bool = True  # the first row must be in its own window, which no NULL is
    bits: int = 0  # of an integer order column, else 0


@dataclass(frozen=True, slots=True)
class Within:
    """`WITHIN interval`: the match's last row lies less than this after its first."""

    interval: RowExpression  # as SQL; empty for a window that conditions say
    distance: Distance | None = None  # where it is known; always of a window that conditions say


@dataclass(frozen=True, slots=True)
class Gap:
    """A window inside of a match: each row lies less than the interval after another one.

    after, to: each row of the variable `to` lies so after the last row of `after` before it, if
    there is one; None for both: each row but the first one after the row before it in the match.
    distance: as in `Within`. bits: of an integer order column whose type is known, else 0.
    """

    interval: RowExpression
    after: str | None = None
    to: str | None = None
    span: Span | None = field(default=None, compare=False)
    distance: Distance | None = None
    bits: int = 0


@dataclass(frozen=True, slots=True)
class Absence:
    """No row in a part of the match may satisfy the condition of `variable`.

    after, before: the variables, primary or union, of which the last row and the first one after
    it enclose that part. At the beginning `after` is None: rows before the match whose window holds
    its last row. At the end `before` is None: rows after the match, in its window. As in SASE+.
    """

    variable: str
    after: tuple[str, ...] | None
    before: tuple[str, ...] | None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Subset:
    """A union variable: `name` stands for the rows of any of `members`, primary variables."""

    name: str
    members: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)  # of the name
    member_spans: tuple[Span, ...] = field(default=(), compare=False)  # of each, or none


@dataclass(frozen=True, slots=True)
class Definition:
    """A row may be mapped to `variable` only where `condition` is true. span: of the variable."""

    variable: str
    condition: Scalar
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Measure:
    """An output column computed from a match."""

    name: str
    value: Scalar
    span: Span | None = field(default=None, compare=False)  # of its name
    over_rows: bool = False  # also where there are none; other measures are NULL without a match
    known_as: str | None = None  # by which later measures know that of a window
