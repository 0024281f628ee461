"""Split texts into tokens, pair their brackets, and walk over them.

sqlglot finds the tokens of SQL. They are converted to tokens of our own, which all parsers of this
package read:

- A token is one word: `PARTITION BY` is two.
- Its span is half open and counts from the start of the whole query.
- Every token is in the text, while sqlglot reads `1BD` as `1::BD`.
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
from matchrec.errors.sql import clause as errors
from matchrec.errors.sql.tokens import unclosed_text
from matchrec.plan.clauses import FirstMatches
from matchrec.plan.expression import MatchFunction
from matchrec.plan.text import MICROSECONDS, Amount, read_words
from matchrec.source import Span

T = TypeVar("T")


def split_words(text: str) -> frozenset[str]:
    """Return the words of a text. It keeps long sets of keywords readable."""
    return frozenset(text.split())


# Functions by what they do in an expression over the rows of a match.

PHYSICAL = frozenset({"PREV", "NEXT"})
LOGICAL = frozenset({"FIRST", "LAST"})
NAVIGATION = PHYSICAL | LOGICAL
SEMANTICS = frozenset({"RUNNING", "FINAL"})
MATCH_FUNCTIONS = frozenset(function.value for function in MatchFunction)
FUNCTIONS_OF_MATCH = NAVIGATION | MATCH_FUNCTIONS | {"CLASSIFIER", "MATCHED_ROWS"}

AGGREGATES = read_words("AGGREGATE")
CONSTANT_CALLS = read_words("CONSTANT CALL")

# Functions that are called with OVER only.
WINDOW_ONLY = split_words(
    "LAG LEAD NTH_VALUE ROW_NUMBER RANK DENSE_RANK PERCENT_RANK CUME_DIST NTILE"
)

CALLS_OVER_SEVERAL_ROWS = AGGREGATES | FUNCTIONS_OF_MATCH | WINDOW_ONLY

UNITS = split_words(
    "YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND NANOSECOND"
)
UNITS_OF_TIME = UNITS | {f"{unit}S" for unit in UNITS}


class Dialect(Enum):
    """How a text is read: what double quotes enclose."""

    SPARK = "a string, as in Spark's default"
    QUOTED_NAMES = "a name, as in the standard"


SPARK = Dialect.SPARK


class TokenKind(Enum):
    """What a token is, apart from its text."""

    WORD = "word"
    QUOTED = "quoted name"
    NUMBER = "number"
    STRING = "string"
    SYMBOL = "symbol"
    END = "end of the text"


CONSTANTS = (TokenKind.NUMBER, TokenKind.STRING)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a name in quotes, a number, a string or a symbol."""

    kind: TokenKind
    # The text as it is written; a quoted name has no quotes and is unescaped.
    text: str
    # Where it is in the whole query.
    span: Span
    # What grammars compare: a word in upper case, a symbol, or "" for all other kinds.
    key: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        key = self.text.upper() if self.kind in (TokenKind.WORD, TokenKind.SYMBOL) else ""
        object.__setattr__(self, "key", key)

    @property
    def is_word(self) -> bool:
        """Return whether it is a word without quotes: a keyword or a name."""
        return self.kind is TokenKind.WORD

    @property
    def is_name(self) -> bool:
        """Return whether it can name something: a word, or a name in backticks."""
        return self.is_word or self.kind is TokenKind.QUOTED

    @property
    def is_string(self) -> bool:
        """Return whether it is a string, in single or double quotes."""
        return self.kind is TokenKind.STRING

    @property
    def is_strange(self) -> bool:
        """Return whether it is a character that SQL allows in quotes only, such as `→`."""
        return self.kind is TokenKind.SYMBOL and not self.text.isascii()

    @property
    def is_constant(self) -> bool:
        """Return whether it is a number or a string."""
        return self.kind in CONSTANTS

    @property
    def in_double_quotes(self) -> bool:
        """Return whether it is a string in double quotes, which is a name in other dialects."""
        return self.kind is TokenKind.STRING and self.text.startswith('"')

    @property
    def can_name(self) -> bool:
        """Return whether it is a name if strings are not allowed: double quotes enclose both."""
        return self.is_name or self.in_double_quotes

    @property
    def name(self) -> str:
        """Return the name as it is written, without quotes."""
        if self.kind is TokenKind.STRING:
            return self.text[1:-1].replace('""', '"')
        return self.text

    @property
    def variable(self) -> str:
        """Return the pattern variable that it names: in upper case unless it is quoted."""
        return self.name.upper() if self.is_word else self.name


OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = frozenset(OPENING.values())


def pair_brackets(tokens: Sequence[Token]) -> dict[int, int]:
    """Return the index of the closing bracket for the index of each opening one.

    Brackets that do not pair up are left out. A `]` or `}` that does not close the innermost
    bracket closes nothing. A `)` closes the innermost parenthesis, so brackets that are open inside
    of it have no closing one.

    The tokens `( a [ )` give `{0: 3}`, and `( ] )` gives `{0: 2}`.
    """
    pairs: dict[int, int] = {}
    unclosed: list[int] = []  # a stack of indices
    for index, token in enumerate(tokens):
        if token.key in OPENING:
            unclosed.append(index)
            continue
        if token.key == ")" and any(tokens[opening].key == "(" for opening in unclosed):
            while tokens[unclosed[-1]].key != "(":
                unclosed.pop()
        closes_innermost = (
            token.key in CLOSING and unclosed and OPENING[tokens[unclosed[-1]].key] == token.key
        )
        if closes_innermost:
            pairs[unclosed.pop()] = index
    return pairs


class Cursor:
    """A position in a sequence of tokens, which moves from left to right up to `end`.

    A parser is a subclass with a method for each rule of its grammar. The method reads the tokens
    of its rule, and returns what they mean.
    """

    def __init__(self, text: TokenSequence) -> None:
        self.text = text
        self.tokens = text.tokens
        self.position = 0
        self.end = len(text)

    @property
    def key(self) -> str:
        """Return the key of the next token; "" at the end."""
        return self.key_at(self.position)

    def key_at(self, index: int) -> str:
        """Return the key of a token; "" before the first and after the last one."""
        return self.tokens[index].key if 0 <= index < self.end else ""

    def kind_at(self, index: int) -> TokenKind:
        """Return the kind of a token; END after the last one."""
        return self.tokens[index].kind if index < self.end else TokenKind.END

    def accept(self, *keys: str) -> bool:
        """Read the next tokens if these are their keys, and return whether they are."""
        for index, key in enumerate(keys, self.position):
            if self.key_at(index) != key:
                return False
        self.position += len(keys)
        return True

    def read_several(self, read: Callable[[], T]) -> list[T]:
        """Read one or more items with commas between them, each with `read`."""
        items = [read()]
        while self.accept(","):
            items.append(read())
        return items


# The greatest number of rows or repetitions: what Spark takes as the distance of `lag`.
MOST_ROWS = 2**31 - 1


def read_whole_number(digits: str) -> int | None:
    """Return the number that digits are; None if it is greater than `MOST_ROWS`.

    >>> read_whole_number("007"), read_whole_number("9" * 5000)
    (7, None)
    """
    significant = digits.lstrip("0") or "0"
    if len(significant) > len(str(MOST_ROWS)):  # Python refuses to convert very long ones
        return None
    number = int(significant)
    return number if number <= MOST_ROWS else None


# Amounts of constants: numbers, and intervals of time.
#
# 1800    30.5    INTERVAL '1' HOUR    INTERVAL 1 HOUR 30 MINUTES    INTERVAL '90 minutes'


def read_amount(text: str) -> Amount | None:
    """Return the amount of a number; None if it is not exact or too long.

    It has at most 19 digits, or 18 before a point and 18 after it.

    >>> read_amount("1800L"), read_amount("1e3")
    (Amount(value=Fraction(1800, 1), is_time=False, is_days=False), None)
    """
    number = text
    if "." not in text and text[-1:] in ("L", "l"):  # the suffix of BIGINT
        number = text[:-1]
    integer_digits, point, fraction_digits = number.partition(".")
    most_digits = 18 if point else 19
    if not (integer_digits + fraction_digits).isdecimal():
        return None
    if max(len(integer_digits), len(fraction_digits)) > most_digits:
        return None
    return Amount(Fraction(number))


# Letters after a number that a reader takes for a unit of time, but that are a type in Spark SQL.
_UNITS_IN_NUMBERS = {
    "S": ("SMALLINT", "SECONDS"),
    "D": ("DOUBLE", "DAYS"),
    "Y": ("TINYINT", "YEARS"),
}


def reject_unit_in_number(token: Token) -> None:
    """Reject `30s`, `30d` and `30y` as the length of a window.

    `30L` and `30BD` are accepted, because no unit of time is written like that.

    Raises:
        MatchRecognizeParseError: the token is such a number.
    """
    number = token.text[:-1]
    letter = token.text[-1:].upper()
    if token.kind is TokenKind.NUMBER and letter in _UNITS_IN_NUMBERS and number[-1:].isdigit():
        type_name, unit = _UNITS_IN_NUMBERS[letter]
        raise errors.unit_without_interval(
            token.span, amount=token.text, number=number, type_name=type_name, unit=unit
        )


def read_interval_amount(words: Iterable[str]) -> Amount | None:
    """Return the length of an interval; None if it is not exact.

    It is exact if it consists of numbers, each before its unit, and no unit is months or years.

    Args:
        words: the tokens after INTERVAL; texts have their quotes.

    >>> read_interval_amount(["'1 DAY'"]).is_days, read_interval_amount(["1", "MONTH"])
    (True, None)
    """
    unquoted_text = " ".join(word.strip("'\"") for word in words)
    numbers_and_units = unquoted_text.split()  # such as 1, HOUR, 30, MINUTES
    numbers = [read_amount(word) for word in numbers_and_units[::2]]
    units = [word.upper().removesuffix("S") for word in numbers_and_units[1::2]]
    if not numbers or len(numbers) != len(units):
        return None
    has_only_exact_units = all(unit in MICROSECONDS for unit in units)
    if not has_only_exact_units:
        return None
    microseconds = Fraction(0)
    for number, unit in zip(numbers, units, strict=True):
        if number is None or (number.value.denominator != 1 and unit != "SECOND"):
            return None  # Spark allows fractions of seconds only
        microseconds += number.value * MICROSECONDS[unit]
    if microseconds.denominator != 1:
        return None
    return Amount(microseconds, is_time=True, is_days=set(units) == {"DAY"})


def make_first_matches(number: str, span: Span | None) -> FirstMatches:
    """Return the option `FIRST number MATCHES`.

    Raises:
        MatchRecognizeParseError: the number is not from 1 to `MOST_ROWS`.
    """
    return FirstMatches(read_number_of_rows(number, span, errors.not_a_number_of_matches), span)


def read_number_of_rows(
    number: str,
    span: Span | None,
    make_error: Callable[..., MatchRecognizeParseError] = errors.not_a_number_of_rows,
) -> int:
    """Return the number of `WITHIN number ROWS`.

    Args:
        number: the number as it is written.
        span: what the error points at.
        make_error: makes the error for other numbers.

    Raises:
        MatchRecognizeParseError: the number is not from 1 to `MOST_ROWS`.
    """
    count = read_whole_number(number) if number.isdecimal() else None
    if not count:
        raise make_error(span, number=number, limit=MOST_ROWS)
    return count


# Split a text into tokens: sqlglot finds its own tokens, which are then converted to ours.

_SEVERAL_WORDS = re.compile(r"\w+(\s+\w+)*")
# Our kind for a kind of sqlglot. All others are words or symbols, which depends on their text.
_KINDS = {
    token_type: TokenKind.STRING
    for token_type in TokenType
    if f"_{token_type.name}".endswith("_STRING")
} | {TokenType.IDENTIFIER: TokenKind.QUOTED, TokenType.NUMBER: TokenKind.NUMBER}


def read_sqlglot_tokens(text: str, offset: int = 0, dialect: Dialect = SPARK) -> list[SqlglotToken]:
    """Return the tokens that sqlglot finds in a text of Spark SQL.

    In `"a".x` the quotes enclose a name in every dialect, because no dot follows a string.

    Args:
        text: the text.
        offset: where it starts in the query, for the error.
        dialect: how double quotes are read.

    Raises:
        MatchRecognizeParseError: a string, a quoted name or a comment is not closed.
    """
    try:
        tokens = tokenize_sql(Spark, text)
    except TokenError as error:
        span = _find_unclosed(text)
        mark = text[span.start : span.end]
        raise unclosed_text(span.shift_by(offset), mark=mark) from error
    if '"' not in text:
        return tokens
    if dialect is Dialect.QUOTED_NAMES:
        return list(_read_quoted_names(tokens, text))
    for index, (token, next_token) in enumerate(pairwise(tokens)):
        is_in_double_quotes = token.token_type is TokenType.STRING and text[token.start] == '"'
        if is_in_double_quotes and next_token.token_type is TokenType.DOT:
            tokens[index] = rename_token(token, TokenType.IDENTIFIER, token.text)
    return tokens


@cache
def _make_tokenizer(dialect: type[SqlglotDialect]) -> Any:
    """Return the tokenizer of a dialect without its commands.

    So EXPLAIN, and a column called `show`, are words; a command would take the rest of the text.
    """
    return type("Words", (dialect.tokenizer_class,), {"COMMANDS": set()})


def tokenize_sql(dialect: type[SqlglotDialect], text: str) -> list[SqlglotToken]:
    """Return the tokens that a dialect of sqlglot finds in a query, a script or an expression."""
    tokens: list[SqlglotToken] = _make_tokenizer(dialect)(dialect=dialect()).tokenize(text)
    if _MAY_BE_NAMES.isdisjoint(map(attrgetter("token_type"), tokens)):
        return tokens
    for index, (token, next_token) in enumerate(pairwise(tokens)):
        types = token.token_type, next_token.token_type
        is_window_function = types == (TokenType.WINDOW, TokenType.L_PAREN)  # not the clause
        is_table_named_output = types == (TokenType.INTO, TokenType.RETURNING)
        if is_window_function:
            tokens[index] = rename_token(token, TokenType.VAR, token.text)
        elif is_table_named_output:
            tokens[index + 1] = rename_token(next_token, TokenType.VAR, next_token.text)
    return tokens


_MAY_BE_NAMES = frozenset({TokenType.WINDOW, TokenType.RETURNING})


def _read_quoted_names(tokens: Sequence[SqlglotToken], text: str) -> Iterator[SqlglotToken]:
    """Yield the tokens with a name for each string in double quotes.

    sqlglot reads `"a""b"` as two strings. It is one name.
    """
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
        yield rename_token(first, TokenType.IDENTIFIER, name, last.end)


def rename_token(
    token: SqlglotToken, kind: TokenType, text: str, end: int | None = None
) -> SqlglotToken:
    """Return a copy of a token with another kind and text.

    Args:
        token: the token.
        kind: the new kind.
        text: the new text.
        end: the last character that it replaces, if it replaces tokens after it, too.
    """
    last = token.end if end is None else end
    return SqlglotToken(kind, text, token.line, token.col, token.start, last, token.comments)


def find_frames(tokens: Sequence[Token]) -> Iterator[tuple[str, Span]]:
    """Yield name and span of every `{name}` that is written without blanks."""
    for opening, name, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opening.key == "{" and closing.key == "}" and name.is_word:
            span = opening.span.to(closing.span)
            has_no_blanks = span.end - span.start == len(name.text) + len("{}")
            if has_no_blanks:
                yield name.text, span


def convert_tokens(tokens: Sequence[SqlglotToken], text: str, offset: int = 0) -> tuple[Token, ...]:
    """Convert the tokens of sqlglot to our own.

    Hints to Spark are dropped like comments. A number that sqlglot splits, such as `.5`, is one
    token, and tokens that it invents are dropped: they overlap the one before.

    Args:
        tokens: the tokens of sqlglot.
        text: their text.
        offset: where it starts in the query.
    """
    converted: list[Token] = []
    end = -1  # of the characters that have a token
    for token in tokens:
        if token.start < end or token.token_type is TokenType.HINT:
            continue
        new_tokens = _convert_token(token, text, offset)
        number = new_tokens[0]
        if number.kind is TokenKind.NUMBER and converted and converted[-1].key == ".":
            point = converted[-1]
            if point.span.end == number.span.start:
                converted.pop()
                span = point.span.to(number.span)
                new_tokens = [Token(TokenKind.NUMBER, f".{number.text}", span)]
        converted += new_tokens
        end = token.end + 1
    return tuple(converted)


def _convert_token(token: SqlglotToken, text: str, offset: int) -> list[Token]:
    """Return our tokens for one of sqlglot, which may have several words, such as `PARTITION BY`.

    `text` and `offset` are as for `convert_tokens`.
    """
    token_text = text[token.start : token.end + 1]
    span = Span(token.start + offset, token.end + 1 + offset)
    kind = _KINDS.get(token.token_type)
    if kind is not None:
        return [Token(kind, token.text if kind is TokenKind.QUOTED else token_text, span)]
    if token_text.isascii() and token_text.isidentifier():
        return [Token(TokenKind.WORD, token_text, span)]
    if _SEVERAL_WORDS.fullmatch(token_text):
        return [
            Token(TokenKind.WORD, word[0], Span(*word.span()).shift_by(span.start))
            for word in re.finditer(r"\w+", token_text)
        ]
    return [Token(TokenKind.SYMBOL, token_text, span)]


_QUOTE_OR_COMMENT = re.compile(
    r"""--[^\n]* | /\*.*?\*/ | '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" | `(?:[^`]|``)*`""",
    re.VERBOSE | re.DOTALL,
)


def _find_unclosed(text: str) -> Span:
    """Return the mark that opens a string, a quoted name or a comment that is not closed."""
    without_closed = _QUOTE_OR_COMMENT.sub(lambda closed: " " * len(closed[0]), text)
    opening = re.search(r"""['"`]|/[*]""", without_closed)
    position = opening.start() if opening else len(text)
    return Span(position, position + 1)


TokenRange = tuple[int, int]  # half-open range of indices of tokens

# The first words of queries; some are functions, too.
_QUERY_WORDS_AND_FUNCTIONS = frozenset({"MAP", "REDUCE"})
_QUERY_WORDS = _QUERY_WORDS_AND_FUNCTIONS | {"SELECT", "WITH", "FROM", "VALUES", "TABLE"}

# What follows such a word only if it names a column.
_AFTER_COLUMN_NAME = split_words(
    ") , . [ :: = == <=> <> != < <= > >= + / % || AS AND OR IS IN LIKE BETWEEN"
)


@dataclass(frozen=True)
class TokenSequence:
    """A text and its tokens, with their brackets paired up.

    Methods take and return indices of tokens, unless they say otherwise.
    """

    # The text.
    text: str
    # Its tokens, in order.
    tokens: tuple[Token, ...] = field(compare=False, repr=False)
    # For the index of each opening bracket, the index of its closing one.
    pairs: dict[int, int] = field(compare=False, repr=False)
    # Where the text starts in the query. Spans count from the start of the query.
    offset: int = field(default=0, compare=False)
    # How the text is read.
    dialect: Dialect = field(default=SPARK, compare=False)

    @cached_property
    def openings(self) -> dict[int, int]:
        """Return the opening bracket for each closing one."""
        return {closing: opening for opening, closing in self.pairs.items()}

    @cached_property
    def around(self) -> tuple[int, ...]:
        """Return, for each token, the opening bracket of the innermost pair around it, or -1.

        A bracket is outside of the pair that it belongs to.
        """
        enclosing = []
        open_brackets = [-1]  # a stack
        for index in range(len(self.tokens)):
            if index in self.openings:
                open_brackets.pop()
            enclosing.append(open_brackets[-1])
            if index in self.pairs:
                open_brackets.append(index)
        return tuple(enclosing)

    @cached_property
    def index_at(self) -> dict[int, int]:
        """Return the index of each token by the position in the query where it starts."""
        return {token.span.start: index for index, token in enumerate(self.tokens)}

    @cached_property
    def indices_by_key(self) -> dict[str, list[int]]:
        """Return the indices of the tokens with each key."""
        indices: dict[str, list[int]] = {}
        for index, token in enumerate(self.tokens):
            indices.setdefault(token.key, []).append(index)
        return indices

    @property
    def full_span(self) -> Span:
        """The span of the whole text."""
        return Span(self.offset, self.offset + len(self.text))

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, index: int) -> Token:
        return self.tokens[index]

    def key(self, index: int) -> str:
        """Return the key of a token; "" before the first and after the last one."""
        return self.tokens[index].key if 0 <= index < len(self.tokens) else ""

    def has_keys(self, index: int, *keys: str) -> bool:
        """Return whether the tokens from `index` on have these keys."""
        return tuple(map(self.key, range(index, index + len(keys)))) == keys

    def index_after(self, index: int) -> int:
        """Return the index after a token, or after the bracket that closes it if it opens one."""
        return self.pairs.get(index, index) + 1

    def can_name(self, index: int) -> bool:
        """Return whether a name is at `index`, or a string in double quotes that can be one."""
        return 0 <= index < len(self.tokens) and self.tokens[index].can_name

    def span(self, start: int, end: int) -> Span:
        """Return the characters of tokens `start .. end`."""
        return self.tokens[start].span.to(self.tokens[end - 1].span)

    def text_at(self, span: Span) -> str:
        """Return the text at a span of the query."""
        return self.text[span.start - self.offset : span.end - self.offset]

    def is_call(self, index: int) -> bool:
        """Return whether the name of a function without a qualifier is at `index`, and a `(`."""
        is_word = 0 <= index < len(self.tokens) and self.tokens[index].is_word
        return is_word and self.key(index + 1) == "(" and self.key(index - 1) != "."

    def find_call_span(self, index: int) -> Span:
        """Return the characters of the call at `index`, from its name to its closing `)`."""
        return self.span(index, self.index_after(index + 1))

    def is_subquery(self, index: int) -> bool:
        """Return whether the parenthesis at `index` encloses a query."""
        word = self.key(index + 1)
        after = self.key(index + 2)
        if self.key(index) != "(" or word not in _QUERY_WORDS:
            return False
        is_function = word in _QUERY_WORDS_AND_FUNCTIONS and after == "("
        return not is_function and after not in _AFTER_COLUMN_NAME

    def cut_out(self, start: int, end: int) -> TokenSequence:
        """Return tokens `start .. end` as a new sequence."""
        span = self.span(start, end)
        tokens = self.tokens[start:end]
        text = self.text_at(span)
        return TokenSequence(text, tokens, pair_brackets(tokens), span.start, self.dialect)

    def find_end_of_parentheses(self, index: int) -> int:
        """Return the index of the `)` of the innermost parentheses around a token.

        The number of tokens if there are no parentheses around it.
        """
        if index < len(self.tokens):
            for opening in self.walk_brackets_around(index):
                if self.key(opening) == "(":
                    return self.pairs[opening]
        return len(self.tokens)

    def walk_brackets_around(self, index: int) -> Iterator[int]:
        """Yield the opening brackets of the pairs around a token, innermost first."""
        opening = self.around[index]
        while opening >= 0:
            yield opening
            opening = self.around[opening]

    def walk_level(self, start: int, end: int) -> Iterator[int]:
        """Yield the indices from `start` to `end`, without the insides of brackets.

        An opening bracket is yielded, its closing one is not.
        """
        index = start
        while index < end:
            yield index
            index = self.index_after(index)

    def split_at_commas(self, start: int, end: int) -> tuple[TokenRange, ...]:
        """Return the ranges between the commas of `start .. end` that are in no brackets."""
        commas = [index for index in self.walk_level(start, end) if self.tokens[index].key == ","]
        return tuple(zip([start, *(comma + 1 for comma in commas)], [*commas, end], strict=True))


def read_tokens(text: str, dialect: Dialect = SPARK, offset: int = 0) -> TokenSequence:
    """Return the tokens of a text of Spark SQL.

    Args:
        text: the text.
        dialect: how double quotes are read.
        offset: where the text starts in the query.

    Raises:
        MatchRecognizeParseError: a string, a quoted name or a comment is not closed.

    >>> [token.key for token in read_tokens("order by a.x").tokens]
    ['ORDER', 'BY', 'A', '.', 'X']
    """
    return make_sequence(read_sqlglot_tokens(text, offset, dialect), text, dialect, offset)


def make_sequence(
    sqlglot_tokens: Sequence[SqlglotToken], text: str, dialect: Dialect = SPARK, offset: int = 0
) -> TokenSequence:
    """Return the sequence of the tokens that a tokenizer of sqlglot has found in a text."""
    tokens = convert_tokens(sqlglot_tokens, text, offset)
    return TokenSequence(text, tokens, pair_brackets(tokens), offset, dialect)
