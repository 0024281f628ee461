"""A token of our own, whichever text it is of; how brackets pair up, how parsers go over tokens.

One word each (`PARTITION BY` is two), half-open spans in the whole query, and none that are
invented (sqlglot reads `1BD` as `1::BD`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from enum import Enum

from matchrec.dataclass import dataclass
from matchrec.source import Span

# What the names of Spark's functions say about an expression over a match.


def words(text: str) -> frozenset[str]:
    """The words of `text`, which stands for a long set."""
    return frozenset(text.split())


PHYSICAL = frozenset({"PREV", "NEXT"})
LOGICAL = frozenset({"FIRST", "LAST"})
NAVIGATION = PHYSICAL | LOGICAL
SEMANTICS = frozenset({"RUNNING", "FINAL"})
ENDINGS = frozenset({"MATCH_STATUS", "MATCH_TIMEOUT"})
OF_THE_MATCH = (
    NAVIGATION | ENDINGS | {"CLASSIFIER", "MATCH_NUMBER", "MATCH_ROW_NUMBER", "MATCHED_ROWS"}
)

AGGREGATES = words(
    """
    ANY ANY_VALUE APPROX_COUNT_DISTINCT APPROX_PERCENTILE APPROX_TOP_K APPROX_TOP_K_ACCUMULATE
    APPROX_TOP_K_COMBINE ARRAY_AGG AVG BIT_AND BIT_OR BIT_XOR BITMAP_AND_AGG BITMAP_CONSTRUCT_AGG
    BITMAP_OR_AGG BOOL_AND BOOL_OR COLLECT_LIST COLLECT_SET COLLECT_UNION CORR COUNT COUNT_IF
    COUNT_MIN_SKETCH COVAR_POP COVAR_SAMP EVERY FIRST_VALUE HISTOGRAM_NUMERIC HLL_SKETCH_AGG
    HLL_UNION_AGG KLL_MERGE_AGG_BIGINT KLL_MERGE_AGG_DOUBLE KLL_MERGE_AGG_FLOAT
    KLL_SKETCH_AGG_BIGINT KLL_SKETCH_AGG_DOUBLE KLL_SKETCH_AGG_FLOAT KURTOSIS LAST_VALUE LISTAGG
    MAX MAX_BY MEAN MEDIAN MIN MIN_BY MODE PERCENTILE PERCENTILE_APPROX PERCENTILE_CONT
    PERCENTILE_DISC REGR_AVGX REGR_AVGY REGR_COUNT REGR_INTERCEPT REGR_R2 REGR_SLOPE REGR_SXX
    REGR_SXY REGR_SYY SCHEMA_OF_VARIANT_AGG SKEWNESS SOME STD STDDEV STDDEV_POP STDDEV_SAMP
    STRING_AGG SUM THETA_INTERSECTION_AGG THETA_SKETCH_AGG THETA_UNION_AGG TRY_AVG TRY_SUM
    TUPLE_INTERSECTION_AGG_DOUBLE TUPLE_INTERSECTION_AGG_INTEGER TUPLE_SKETCH_AGG_DOUBLE
    TUPLE_SKETCH_AGG_INTEGER TUPLE_UNION_AGG_DOUBLE TUPLE_UNION_AGG_INTEGER VAR_POP VAR_SAMP
    VARIANCE VECTOR_AVG VECTOR_SUM
    """
)
"""Spark's aggregates, but for FIRST and LAST, which navigate in a row pattern query."""

NONDETERMINISTIC = words(
    """
    INPUT_FILE_BLOCK_LENGTH INPUT_FILE_BLOCK_START INPUT_FILE_NAME MONOTONICALLY_INCREASING_ID RAND
    RANDN RANDOM RANDSTR SHUFFLE SPARK_PARTITION_ID UNIFORM UUID
    """
)

CONSTANT_CALLS = words(
    """
    ARRAY CURDATE CURRENT_CATALOG CURRENT_DATABASE CURRENT_DATE CURRENT_SCHEMA CURRENT_TIME
    CURRENT_TIMESTAMP CURRENT_TIMEZONE CURRENT_USER E LOCALTIMESTAMP MAP NOW PI SESSION_USER STRUCT
    UNIX_TIMESTAMP USER VERSION
    """
)
"""Functions that give one value to all rows of a query where they have no argument."""

WINDOW_ONLY = {
    "LAG": "PREV(x, n)",
    "LEAD": "NEXT(x, n)",
    "NTH_VALUE": "FIRST(x, n - 1)",
    "ROW_NUMBER": "count(*)",
    "RANK": None,
    "DENSE_RANK": None,
    "PERCENT_RANK": None,
    "CUME_DIST": None,
    "NTILE": None,
}
"""Functions that stand with OVER only, and what does the same over a match."""

UNITS_OF_TIME = words(
    """
    DAY DAYS HOUR HOURS MICROSECOND MICROSECONDS MILLISECOND MILLISECONDS MINUTE MINUTES MONTH
    MONTHS NANOSECOND NANOSECONDS QUARTER QUARTERS SECOND SECONDS WEEK WEEKS YEAR YEARS
    """
)


class DoubleQuotes(Enum):
    """What stands between double quotes."""

    STRING = "a string, as in Spark's default"
    NAME = "a name, as in the standard"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How texts are read; passed to whatever makes tokens of one."""

    double_quotes: DoubleQuotes = DoubleQuotes.STRING


SPARK = Dialect()
"""Spark's default."""


class TokenKind(Enum):
    """What a token is, apart from its text."""

    WORD = "word"
    NAME = "word that can only be a name"
    QUOTED = "quoted name"
    NUMBER = "number"
    STRING = "string"
    SYMBOL = "symbol"
    REFERENCE = "what reads rows of a match"
    END = "end of the text"


@dataclass(frozen=True, slots=True)
class Token:
    """text: as written; of a quoted name, the name. span: in the whole query.

    key: an upper-case word, a symbol, or nothing: what grammars compare.
    """

    kind: TokenKind
    text: str
    span: Span
    key: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        key = self.text.upper() if self.kind in (TokenKind.WORD, TokenKind.SYMBOL) else ""
        object.__setattr__(self, "key", key)

    @property
    def is_word(self) -> bool:
        """Whether it is written without quotes, whatever it means."""
        return self.kind in (TokenKind.WORD, TokenKind.NAME)

    @property
    def is_name(self) -> bool:
        """Whether it can name something."""
        return self.is_word or self.kind is TokenKind.QUOTED

    @property
    def is_string(self) -> bool:
        """Whether it is a string, in either kind of quotes."""
        return self.kind is TokenKind.STRING

    @property
    def is_constant(self) -> bool:
        """Whether it is a number or a string."""
        return self.kind in (TokenKind.NUMBER, TokenKind.STRING)

    @property
    def in_double_quotes(self) -> bool:
        """Whether it is a string in double quotes, which would be a name in another dialect."""
        return self.kind is TokenKind.STRING and self.text.startswith('"')

    @property
    def can_name(self) -> bool:
        """Whether it names something where no string can stand: double quotes are for both."""
        return self.is_name or self.in_double_quotes

    @property
    def name(self) -> str:
        """The name as it was written, without quotes."""
        return self.text[1:-1].replace('""', '"') if self.kind is TokenKind.STRING else self.text

    @property
    def variable(self) -> str:
        """The pattern variable that it names, normalized: upper case unless quoted."""
        return self.name.upper() if self.is_word else self.name


OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = frozenset(OPENING.values())


def pair_brackets(tokens: Sequence[Token]) -> dict[int, int]:
    """For the index of each bracket that opens, the index of the one that closes it.

    A `]` or `}` that does not close the innermost bracket closes nothing; a `)` closes what is open
    inside its parentheses.
    """
    pairs: dict[int, int] = {}
    waiting: list[int] = []
    for index, token in enumerate(tokens):
        if token.key in OPENING:
            waiting.append(index)
        elif token.key == ")" and any(tokens[opening].key == "(" for opening in waiting):
            while tokens[waiting[-1]].key != "(":
                waiting.pop()
            pairs[waiting.pop()] = index
        elif token.key in CLOSING and waiting and OPENING[tokens[waiting[-1]].key] == token.key:
            pairs[waiting.pop()] = index
    return pairs


def level(pairs: dict[int, int], start: int, end: int) -> Iterator[int]:
    """The indices from `start` to `end`, without what stands in brackets that open there."""
    index = start
    while index < end:
        yield index
        index = pairs.get(index, index) + 1


def find_enclosing(pairs: dict[int, int], count: int) -> tuple[int, ...]:
    """For each of `count` tokens, the innermost bracket around it, by its opening; -1 for none."""
    around = []
    waiting = [-1]
    ends = set(pairs.values())
    for index in range(count):
        if index in ends:
            waiting.pop()
        around.append(waiting[-1])
        if index in pairs:
            waiting.append(index)
    return tuple(around)


class Cursor:
    """Reads tokens `position .. end` from left to right; parsers add a method for each rule."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.position = 0
        self.end = len(tokens)

    @property
    def key(self) -> str:
        """The key of the token to be read next; nothing at the end."""
        return self.key_at(self.position)

    def key_at(self, index: int) -> str:
        return self.tokens[index].key if index < self.end else ""

    def kind_at(self, index: int) -> TokenKind:
        return self.tokens[index].kind if index < self.end else TokenKind.END

    def accept(self, *keys: str) -> bool:
        """Whether these keys stood next; if so, they are read."""
        for index, key in enumerate(keys, self.position):
            if self.key_at(index) != key:
                return False
        self.position += len(keys)
        return True

    def span(self, start: int, end: int) -> Span:
        """The characters of tokens `start .. end`."""
        return self.tokens[start].span.to(self.tokens[end - 1].span)


MOST = 2**31 - 1
"""The greatest number of rows or repetitions: what Spark takes as the distance of `lag`."""


def whole_number(digits: str) -> int | None:
    """The number, or None where it is greater than `MOST`.

    >>> whole_number("007"), whole_number("9" * 5000)
    (7, None)
    """
    plain = digits.lstrip("0") or "0"
    number = int(plain) if len(plain) <= len(str(MOST)) else MOST + 1
    return number if number <= MOST else None
