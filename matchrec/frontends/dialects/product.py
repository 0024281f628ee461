"""A product: how its SQL is read, and what it means where nothing is written."""

from __future__ import annotations

from dataclasses import field
from enum import Enum

from matchrec.dataclass import dataclass
from matchrec.plan.clauses import ColumnOrder, SkipTo


class Nulls(Enum):
    """Where NULL comes in ORDER BY when nothing is said."""

    SMALL = "before all values, or after them where the order descends"
    LARGE = "after all values, or before them where the order descends"
    LAST = "after all values"


class Addition(Enum):
    """What one product has added to the clause or has before it; the value names it in messages."""

    LONGEST_MATCH = "OPTIONS (use_longest_match = ...)"
    DURATION = "LIMIT DURATION"
    TIMESTAMP_BY = "TIMESTAMP BY"
    PIPES = "|> MATCH_RECOGNIZE"
    EMPTY_ALTERNATIVES = "PATTERN (a | )"
    ANY_ROW = "PATTERN (.)"
    BRACKETS = "[name]"
    DOLLAR_NAMES = "$rowtime"
    SLASH_COMMENTS = "//"
    HASH_COMMENTS = "#"


@dataclass(frozen=True, slots=True)
class Product:
    """A system whose queries are read and written; its rules are in `rules/of_products.py`.

    name: as `dialect=` has it. title: in messages. sqlglot: the name of sqlglot's dialect.
    is_spark: its SQL is Spark's but for what the rules say, so what Spark reads alike stays as it
    is. divides_integers: whether `/` of two integers is an integer. skip: where the search goes on
    where AFTER MATCH is left out. quote: what stands around a name. parameter: its mark.
    functions: names of functions of row patterns here, each with the name by which the rules know
    it. additions: what it adds to the clause. columns: their order with ALL ROWS.

    keeps_case           whether CLASSIFIER names a variable as it was written, not in upper case
    defines_more         whether DEFINE may have variables that PATTERN has not
    has_exclusive_loops  whether a greedy quantifier never gives rows back
    within_includes      whether WITHIN holds for the last moment of its interval
    finds_empty          whether a match may have no rows
    repeats_keys         whether a key that is written twice comes out twice
    has_windows_of_time  whether it has TUMBLE and the like
    has_row_pattern_windows  whether PATTERN may stand in OVER and WINDOW
    lacks_dialect        whether sqlglot has none: what is not Spark's is edited before it is read
    collects_nulls       whether ARRAY_AGG keeps NULLs
    counts_boundaries    whether DATEDIFF(minute, a, b) counts how many minutes begin
    joins_without_nulls  whether CONCAT_WS leaves NULLs out
    extremes_of_nulls    whether GREATEST and LEAST are NULL if one of their values is
    names_with_as        whether AS must stand before the name of a measure
    divides_sequences    whether `A B | C` in PATTERN is `A (B | C)`, as its page says
    has_bare_rows        whether the rows of a clause may have no column, which COUNT(*) needs not
    is_written           whether queries are converted to it, too
    """

    name: str
    title: str
    sqlglot: str
    is_spark: bool = False
    nulls: Nulls = Nulls.SMALL
    divides_integers: bool = False
    skip: SkipTo = SkipTo.PAST_LAST_ROW
    quote: str = "`"
    parameter: str = ":"
    functions: dict[str, str] = field(default_factory=dict)
    additions: frozenset[Addition] = frozenset()
    columns: ColumnOrder = ColumnOrder.STANDARD
    keeps_case: bool = False
    defines_more: bool = False
    has_exclusive_loops: bool = False
    within_includes: bool = False
    finds_empty: bool = True
    repeats_keys: bool = False
    has_windows_of_time: bool = False
    has_row_pattern_windows: bool = False
    lacks_dialect: bool = False
    collects_nulls: bool = False
    counts_boundaries: bool = False
    joins_without_nulls: bool = True
    extremes_of_nulls: bool = True
    names_with_as: bool = False
    divides_sequences: bool = False
    has_bare_rows: bool = False
    is_written: bool = True

    @property
    def has_functions_of_spark(self) -> bool:
        """Whether a function means what Spark means by its name."""
        return self.is_spark and not self.lacks_dialect


SPARK = Product(
    "spark",
    "Spark SQL",
    "spark",
    is_spark=True,
    has_row_pattern_windows=True,
    extremes_of_nulls=False,
)
