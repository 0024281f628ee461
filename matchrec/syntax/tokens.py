"""A token of our own, whichever text it is of; how brackets pair up, how parsers go over tokens.

One word each (`PARTITION BY` is two), half-open spans in the whole query, and none that are
invented (sqlglot reads `1BD` as `1::BD`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cache, cached_property
from itertools import pairwise
from operator import attrgetter
from typing import Any, TypeVar

from sqlglot import Dialect as SqlglotDialect
from sqlglot import Token as SqlglotToken
from sqlglot import TokenType
from sqlglot.dialects.spark import Spark
from sqlglot.errors import TokenError

from matchrec.errors.kinds import MatchRecognizeParseError
from matchrec.errors.message import Message
from matchrec.errors.sql import clause as errors
from matchrec.plan.clauses import FirstMatches
from matchrec.plan.expression import MatchFunction
from matchrec.plan.text import MICROSECONDS, NONDETERMINISTIC, Amount, words_of
from matchrec.source import Span

T = TypeVar("T")

# What the names of Spark's functions say about an expression over a match.


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PHYSICAL = frozenset({"PREV", "NEXT"})
LOGICAL = frozenset({"FIRST", "LAST"})
NAVIGATION = PHYSICAL | LOGICAL
SEMANTICS = frozenset({"RUNNING", "FINAL"})
MATCH_FUNCTIONS = frozenset(function.value for function in MatchFunction)
OF_THE_MATCH = NAVIGATION | MATCH_FUNCTIONS | {"CLASSIFIER", "MATCHED_ROWS"}

AGGREGATES = words_of("AGGREGATE")
CONSTANT_CALLS = words_of("CONSTANT CALL")

# Functions that stand with OVER only.
WINDOW_ONLY = words("LAG LEAD NTH_VALUE ROW_NUMBER RANK DENSE_RANK PERCENT_RANK CUME_DIST NTILE")

OF_SEVERAL_ROWS = AGGREGATES | OF_THE_MATCH | WINDOW_ONLY

UNITS = words("YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND NANOSECOND")
UNITS_OF_TIME = UNITS | {f"{unit}S" for unit in UNITS}


class Dialect(Enum):
    """How texts are read, by what stands between double quotes."""

    SPARK = "a string, as in Spark's default"
    QUOTED_NAMES = "a name, as in the standard"


SPARK = Dialect.SPARK


class TokenKind(Enum):
    WORD = "word"
    QUOTED = "quoted name"
    NUMBER = "number"
    STRING = "string"
    SYMBOL = "symbol"
    END = "end of the text"


CONSTANTS = (TokenKind.NUMBER, TokenKind.STRING)


@dataclass(frozen=True, slots=True)
class Token:
    """A token. text: as written; of a quoted name, the name. span: in the whole query."""

    kind: TokenKind
    text: str
    span: Span
    key: str = field(init=False, repr=False, compare=False)  # upper case; "" of no word or symbol

    def __post_init__(self) -> None:
        key = self.text.upper() if self.kind in (TokenKind.WORD, TokenKind.SYMBOL) else ""
        object.__setattr__(self, "key", key)

    @property
    def is_word(self) -> bool:
        """Whether it is written without quotes, whatever it means."""
        return self.kind is TokenKind.WORD

    @property
    def is_name(self) -> bool:
        return self.is_word or self.kind is TokenKind.QUOTED

    @property
    def is_string(self) -> bool:
        return self.kind is TokenKind.STRING

    @property
    def is_strange(self) -> bool:
        """Whether it has a character that SQL has in quotes only."""
        return self.kind is TokenKind.SYMBOL and not self.text.isascii()

    @property
    def is_constant(self) -> bool:
        return self.kind in CONSTANTS

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
        return self.tokens[index].key if 0 <= index < self.end else ""

    def kind_at(self, index: int) -> TokenKind:
        return self.tokens[index].kind if index < self.end else TokenKind.END

    def accept(self, *keys: str) -> bool:
        """Whether these keys stood next; if so, they are read."""
        for index, key in enumerate(keys, self.position):
            if self.key_at(index) != key:
                return False
        self.position += len(keys)
        return True

    def several(self, read: Callable[[], T]) -> list[T]:
        """What stands between commas, each read by `read`."""
        found = [read()]
        while self.accept(","):
            found.append(read())
        return found

    def span(self, start: int, end: int) -> Span:
        return self.tokens[start].span.to(self.tokens[end - 1].span)


# The greatest number of rows or repetitions: what Spark takes as the distance of `lag`.
MOST = 2**31 - 1


def column_names(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The name of a column with its qualifiers before it; none of any other tokens.

    >>> column_names(read_tokens("t . `a.b`").tokens), column_names(read_tokens("a + 1").tokens)
    (('t', 'a.b'), ())
    """
    names = tokens[::2]
    is_path = len(tokens) % 2 == 1 and all(token.key == "." for token in tokens[1::2])
    plain = (one.is_name and (one.text.isascii() or not one.is_word) for one in names)
    return tuple(one.text for one in names) if is_path and all(plain) else ()


def whole_number(digits: str) -> int | None:
    """The number, or None where it is greater than `MOST`.

    >>> whole_number("007"), whole_number("9" * 5000)
    (7, None)
    """
    plain = digits.lstrip("0") or "0"
    number = int(plain) if len(plain) <= len(str(MOST)) else MOST + 1
    return number if number <= MOST else None


# How much constants are: a number, or what stands after INTERVAL.
#
# 1800    30.5    INTERVAL '1' HOUR    INTERVAL 1 HOUR 30 MINUTES    INTERVAL '90 minutes'


def amount_of_number(written: str) -> Amount | None:
    """A number of at most 19 digits, or of 18 before a point and 18 after it; else None.

    >>> amount_of_number("1800L"), amount_of_number("1e3")
    (Amount(value=Fraction(1800, 1), is_time=False, is_days=False), None)
    """
    number = written if "." in written or written[-1:] not in ("L", "l") else written[:-1]
    whole, point, fraction = number.partition(".")
    most = 18 if point else 19
    is_number = (whole + fraction).isdecimal() and max(len(whole), len(fraction)) <= most
    return Amount(Fraction(number)) if is_number else None


# Letters after a number that are its type in Spark SQL, and that are read as units of time.
_UNITS_IN_NUMBERS = {
    "S": ("SMALLINT", "SECONDS"),
    "D": ("DOUBLE", "DAYS"),
    "Y": ("TINYINT", "YEARS"),
}


def refuse_unit_in_number(token: Token) -> None:
    """Raise MatchRecognizeParseError for `30s`, `30d` and `30y` as the length of a window.

    `30L` and `30BD` stay: no unit of time is written so.
    """
    number, letter = token.text[:-1], token.text[-1:].upper()
    if token.kind is TokenKind.NUMBER and letter in _UNITS_IN_NUMBERS and number[-1:].isdigit():
        type_name, unit = _UNITS_IN_NUMBERS[letter]
        written = token.text
        raise errors.unit_in_number(
            token.span, written=written, number=number, type_name=type_name, unit=unit
        )


def amount_of_interval(written: Iterable[str]) -> Amount | None:
    """An interval of numbers, each before its unit; None of one with months, or of no number.

    written: what stands after INTERVAL, quotes around texts included.

    >>> amount_of_interval(["'1 DAY'"]).is_days, amount_of_interval(["1", "MONTH"])
    (True, None)
    """
    words = " ".join(word.strip("'\"") for word in written).split()
    numbers = [amount_of_number(word) for word in words[::2]]
    units = [word.upper().removesuffix("S") for word in words[1::2]]
    if not words or len(numbers) != len(units) or not MICROSECONDS.keys() >= set(units):
        return None
    total = Fraction(0)
    for number, unit in zip(numbers, units, strict=True):
        if number is None or (number.value.denominator != 1 and unit != "SECOND"):
            return None
        total += number.value * MICROSECONDS[unit]
    return Amount(total, True, set(units) == {"DAY"}) if total.denominator == 1 else None


def first_matches(number: str, span: Span | None) -> FirstMatches:
    """What FIRST so many MATCHES says. Raises MatchRecognizeParseError for no such number."""
    return FirstMatches(number_of_rows(number, span, errors.not_a_number_of_matches), span)


def number_of_rows(
    number: str,
    span: Span | None,
    refusal: Message[MatchRecognizeParseError] = errors.not_a_number_of_rows,
) -> int:
    """What WITHIN so many ROWS says, from 1 on. refusal: the error of no such number."""
    count = whole_number(number) if number.isdecimal() else None
    if not count:
        raise refusal(span, number=number, limit=MOST)
    return count


# The tokens of a text in a row, with their brackets: what every parser of SQL text reads.
#
# sqlglot's own tokens, which its parser takes, stand beside ours, which our parsers read.

_WORDS = re.compile(r"\w+(\s+\w+)*")
_KINDS = {one: TokenKind.STRING for one in TokenType if f"_{one.name}".endswith("_STRING")} | {
    TokenType.IDENTIFIER: TokenKind.QUOTED,
    TokenType.NUMBER: TokenKind.NUMBER,
}


def sqlglot_tokens(text: str, offset: int = 0, dialect: Dialect = SPARK) -> list[SqlglotToken]:
    """The tokens that sqlglot finds in `text`, which starts at `offset` of the query."""
    try:
        tokens = tokens_by(Spark, text)
    except TokenError as error:
        raise errors.unreadable_text(_unclosed(text, offset)) from error
    if '"' not in text:
        return tokens
    if dialect is Dialect.QUOTED_NAMES:
        return list(_with_names(tokens, text))
    for index, (token, after) in enumerate(pairwise(tokens)):
        is_text = token.token_type is TokenType.STRING and text[token.start] == '"'
        if is_text and after.token_type is TokenType.DOT:  # which follows names, and no string
            tokens[index] = renamed(token, TokenType.IDENTIFIER, token.text)
    return tokens


@cache
def _tokenizer(dialect: type[SqlglotDialect]) -> Any:
    """The tokenizer of a dialect, in which EXPLAIN and a column `show` are words, no commands."""
    return type("Words", (dialect.tokenizer_class,), {"COMMANDS": set()})


def tokens_by(dialect: type[SqlglotDialect], text: str) -> list[SqlglotToken]:
    """The tokens that a dialect of sqlglot finds in a query, a script or an expression."""
    tokens: list[SqlglotToken] = _tokenizer(dialect)(dialect=dialect()).tokenize(text)
    if _MAY_BE_WORDS.isdisjoint(map(attrgetter("token_type"), tokens)):
        return tokens
    for index, (token, after) in enumerate(pairwise(tokens)):
        kinds = token.token_type, after.token_type
        if kinds == (TokenType.WINDOW, TokenType.L_PAREN):  # a function, which begins no clause
            tokens[index] = renamed(token, TokenType.VAR, token.text)
        elif kinds == (TokenType.INTO, TokenType.RETURNING):  # a table called `output`
            tokens[index + 1] = renamed(after, TokenType.VAR, after.text)
    return tokens


_MAY_BE_WORDS = frozenset({TokenType.WINDOW, TokenType.RETURNING})


def _with_names(tokens: Sequence[SqlglotToken], text: str) -> Iterator[SqlglotToken]:
    """The tokens with a name for each string in double quotes; `"a""b"` is one name."""
    index = 0
    while index < len(tokens):
        first = last = tokens[index]
        index += 1
        if first.token_type is not TokenType.STRING or text[first.start] != '"':
            yield first
            continue
        while index < len(tokens) and text[last.end : last.end + 2] == '""':
            last = tokens[index]
            index += 1
        name = text[first.start + 1 : last.end].replace('""', '"')
        yield renamed(first, TokenType.IDENTIFIER, name, last.end)


def renamed(
    token: SqlglotToken, kind: TokenType, text: str, end: int | None = None
) -> SqlglotToken:
    """A token of another kind and text in the place of `token`, or up to the character `end`."""
    last = token.end if end is None else end
    return SqlglotToken(kind, text, token.line, token.col, token.start, last, token.comments)


def find_frames(tokens: Sequence[Token]) -> Iterator[tuple[str, Span]]:
    """Every `{name}` in a text, written without blanks: the name, and where it stands."""
    for opening, name, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if (opening.key, closing.key) == ("{", "}") and name.is_word:
            span = opening.span.to(closing.span)
            if span.end - span.start == len(name.text) + 2:
                yield name.text, span


def tokens_of(tokens: Sequence[SqlglotToken], text: str, offset: int = 0) -> tuple[Token, ...]:
    """Our tokens of `text`, which starts at `offset` of the query; a hint to Spark is a comment."""
    own: list[Token] = []
    end = -1
    for token in tokens:
        if token.start >= end and token.token_type is not TokenType.HINT:
            found = _own(token, text, offset)
            if found[0].kind is TokenKind.NUMBER and own and own[-1].key == ".":
                point, place = own[-1].span, found[0].span
                if point.end == place.start:  # `.5`
                    own.pop()
                    found = [Token(TokenKind.NUMBER, f".{found[0].text}", point.to(place))]
            own += found
            end = token.end + 1
    return tuple(own)


def _own(token: SqlglotToken, text: str, offset: int) -> list[Token]:
    """Our tokens of one of sqlglot's, of which some have several words."""
    written = text[token.start : token.end + 1]
    span = Span(token.start + offset, token.end + 1 + offset)
    if (kind := _KINDS.get(token.token_type)) is not None:
        return [Token(kind, token.text if kind is TokenKind.QUOTED else written, span)]
    if written.isascii() and written.isidentifier():
        return [Token(TokenKind.WORD, written, span)]
    if _WORDS.fullmatch(written):
        found = re.finditer(r"\w+", written)
        return [
            Token(TokenKind.WORD, one[0], Span(*one.span()).shifted(span.start)) for one in found
        ]
    return [Token(TokenKind.SYMBOL, written, span)]


_QUOTE_OR_COMMENT = re.compile(
    r"""--[^\n]* | /\*.*?\*/ | '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" | `(?:[^`]|``)*`""",
    re.VERBOSE | re.DOTALL,
)


def _unclosed(text: str, offset: int) -> Span:
    """The mark that opens a string, a quoted name or a comment which nothing closes."""
    rest = _QUOTE_OR_COMMENT.sub(lambda closed: " " * len(closed[0]), text)
    opening = re.search(r"""['"`]|/[*]""", rest)
    position = opening.start() if opening else len(text)
    return Span(position, position + 1).shifted(offset)


Range = tuple[int, int]  # indices of tokens, half open

_ALSO_FUNCTIONS = frozenset({"MAP", "REDUCE"})
_QUERY_WORDS = _ALSO_FUNCTIONS | {"SELECT", "WITH", "FROM", "VALUES", "TABLE"}

# What follows a column that is called as a query begins, and no such word of a query.
_AFTER_NAME = words(") , . [ :: = == <=> <> != < <= > >= + / % || AS AND OR IS IN LIKE BETWEEN")


@dataclass(frozen=True)
class TokenSequence:
    """Tokens of a text that starts at `offset` of the query; spans count from the query's start."""

    text: str
    tokens: tuple[Token, ...] = field(compare=False, repr=False)
    pairs: dict[int, int] = field(compare=False, repr=False)  # the closing of each opening one
    offset: int = field(default=0, compare=False)
    dialect: Dialect = field(default=SPARK, compare=False)  # how the text is read

    @cached_property
    def openings(self) -> dict[int, int]:
        """The opening bracket of each closing one."""
        return {closing: opening for opening, closing in self.pairs.items()}

    @cached_property
    def around(self) -> tuple[int, ...]:
        """For each token the bracket that opens the innermost pair around it, -1 for none."""
        around, waiting = [], [-1]
        for index in range(len(self.tokens)):
            if index in self.openings:
                waiting.pop()
            around.append(waiting[-1])
            if index in self.pairs:
                waiting.append(index)
        return tuple(around)

    @cached_property
    def index_at(self) -> dict[int, int]:
        """The index of the token that starts at a place of the query."""
        return {token.span.start: index for index, token in enumerate(self.tokens)}

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Where the tokens of each key stand."""
        found: dict[str, list[int]] = {}
        for index, token in enumerate(self.tokens):
            found.setdefault(token.key, []).append(index)
        return found

    @property
    def whole(self) -> Span:
        return Span(self.offset, self.offset + len(self.text))

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, index: int) -> Token:
        return self.tokens[index]

    def key(self, index: int) -> str:
        """The key of a token; nothing before the first and after the last."""
        return self.tokens[index].key if 0 <= index < len(self.tokens) else ""

    def says(self, index: int, *keys: str) -> bool:
        """Whether tokens with these keys stand at `index` and after it."""
        return tuple(map(self.key, range(index, index + len(keys)))) == keys

    def past(self, index: int) -> int:
        """The index after a token, or after the brackets that it opens."""
        return self.pairs.get(index, index) + 1

    def can_name(self, index: int) -> bool:
        """Whether a name, or a string in double quotes for one, stands at `index`."""
        return 0 <= index < len(self.tokens) and self.tokens[index].can_name

    def span(self, start: int, end: int) -> Span:
        """The characters of tokens `start .. end`."""
        return self.tokens[start].span.to(self.tokens[end - 1].span)

    def text_at(self, span: Span) -> str:
        return self.text[span.start - self.offset : span.end - self.offset]

    def is_call(self, index: int) -> bool:
        """Whether an unqualified function's name and its parenthesis stand at `index`."""
        is_word = 0 <= index < len(self.tokens) and self.tokens[index].is_word
        return is_word and self.key(index + 1) == "(" and self.key(index - 1) != "."

    def may_be_of_one_row(self, start: int, end: int) -> bool:
        """Whether a row may say it: no constant but a whole number, no call of several rows."""
        first = self[start]
        is_constant = first.kind is TokenKind.NUMBER or first.is_string or first.key == "NULL"
        calls = {self.key(index) for index in range(start, end) if self.is_call(index)}
        is_alone = is_constant and end == start + 1 and not first.text.isdigit()
        return not is_alone and calls.isdisjoint(OF_SEVERAL_ROWS | NONDETERMINISTIC)

    def call_span(self, index: int) -> Span:
        """The characters of the call at `index`, from its name to its parenthesis."""
        return self.span(index, self.past(index + 1))

    def is_subquery(self, index: int) -> bool:
        """Whether the parenthesis at `index` holds a query."""
        if self.key(index) != "(" or self.key(index + 1) not in _QUERY_WORDS:
            return False
        is_function = self.key(index + 1) in _ALSO_FUNCTIONS and self.key(index + 2) == "("
        return not is_function and self.key(index + 2) not in _AFTER_NAME

    def part(self, start: int, end: int) -> TokenSequence:
        """The text of tokens `start .. end`, with these; sqlglot's are left out."""
        span, tokens = self.span(start, end), self.tokens[start:end]
        text, pairs = self.text_at(span), pair_brackets(tokens)
        return TokenSequence(text, tokens, pairs, span.start, self.dialect)

    def enclosing(self, index: int) -> int:
        """The end of the innermost parenthesis around `index`, or of the text."""
        around = self.brackets_around(index) if index < len(self.tokens) else ()
        return next((self.pairs[one] for one in around if self.key(one) == "("), len(self.tokens))

    def brackets_around(self, index: int) -> Iterator[int]:
        """The brackets that open around a token, innermost first."""
        opening = self.around[index]
        while opening >= 0:
            yield opening
            opening = self.around[opening]

    def level(self, start: int, end: int) -> Iterator[int]:
        """The indices from `start` to `end`, without what stands in brackets that open there."""
        index = start
        while index < end:
            yield index
            index = self.past(index)

    def separated(self, start: int, end: int) -> tuple[Range, ...]:
        """The ranges between the commas of `start .. end` that stand in no bracket."""
        commas = [index for index in self.level(start, end) if self.tokens[index].key == ","]
        return tuple(zip([start, *(comma + 1 for comma in commas)], [*commas, end], strict=True))


def read_tokens(text: str, dialect: Dialect = SPARK, offset: int = 0) -> TokenSequence:
    """The tokens of a text.

    >>> [token.key for token in read_tokens("order by a.x").tokens]
    ['ORDER', 'BY', 'A', '.', 'X']
    """
    return sequence_of(sqlglot_tokens(text, offset, dialect), text, dialect, offset)


def sequence_of(
    found: Sequence[SqlglotToken], text: str, dialect: Dialect = SPARK, offset: int = 0
) -> TokenSequence:
    """The sequence of the tokens that a tokenizer of sqlglot has found in a text."""
    tokens = tokens_of(found, text, offset)
    return TokenSequence(text, tokens, pair_brackets(tokens), offset, dialect)


def is_time(tokens: TokenSequence, index: int) -> bool:
    """Whether a length of time without INTERVAL stands at `index`: `5 DAYS`, `'5' DAY`."""
    inside = 0 <= index < len(tokens)
    return inside and tokens[index].is_constant and tokens.key(index + 1) in UNITS_OF_TIME


def is_distance(tokens: TokenSequence, index: int) -> bool:
    """Whether an interval stands at `index`, with its word or without, or a number of rows."""
    is_number = 0 <= index < len(tokens) and tokens[index].is_constant
    last = index + (tokens.key(index) == ":")  # of a parameter
    is_rows = is_number or tokens.key(index) in (":", "?")
    is_rows = is_rows and tokens.key(last + 1) == "ROWS"
    return tokens.key(index) == "INTERVAL" or is_time(tokens, index) or is_rows
