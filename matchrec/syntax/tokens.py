"""The tokens of a text, and the cursor by which parsers read them.

- A `Token` is one word, name, number, string or symbol of the text: `PARTITION BY` is two tokens.
  The span of a token is half open and counts from the start of the whole query.
- A `TokenSequence` is a text with its tokens and the pairs of its brackets. Its methods look at
  tokens by their indices, which count from 0.
- A `Cursor` reads a sequence from left to right: it is the base class of the parsers.

`tokenize.read_tokens` makes the tokens of a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import NamedTuple, TypeVar

from matchrec.source import Span

T = TypeVar("T")

# A regular expression for the white space and comments between two tokens. It is for quick tests of
# texts that are not split into tokens, and does not know that comments nest.
BLANKS = r"(?:\s|--[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)*"


def split_words(text: str) -> frozenset[str]:
    """Return the words of a text, so that long sets of keywords can be written as one string."""
    return frozenset(text.split())


class QuoteDialect(Enum):
    """What double quotes enclose in a text. A setting of the session decides it."""

    SPARK = "a string, as in Spark's default"
    QUOTED_NAMES = "a name, as in the standard"


SPARK = QuoteDialect.SPARK


class TokenKind(Enum):
    """The kind of a token.

    Strings are in single or double quotes, quoted names in backticks.
    """

    WORD = "word"
    QUOTED = "quoted name"
    NUMBER = "number"
    STRING = "string"
    SYMBOL = "symbol"
    END = "end of the text"


# The kinds of tokens that are a constant by themselves.
CONSTANT_KINDS = (TokenKind.NUMBER, TokenKind.STRING)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a name in quotes, a number, a string or a symbol."""

    kind: TokenKind
    # The text as it is written; for a quoted name, the name without quotes and escapes.
    text: str
    # Where the token is in the whole query.
    span: Span
    # What grammars compare: a word in upper case, a symbol, or "" for all other kinds.
    key: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        key = self.text.upper() if self.kind in (TokenKind.WORD, TokenKind.SYMBOL) else ""
        object.__setattr__(self, "key", key)

    @property
    def is_word(self) -> bool:
        """Return whether the token is a word without quotes: a keyword or a name."""
        return self.kind is TokenKind.WORD

    @property
    def is_name(self) -> bool:
        """Return whether the token can be a name anywhere: a word, or a name in backticks."""
        return self.is_word or self.kind is TokenKind.QUOTED

    @property
    def is_string(self) -> bool:
        """Return whether the token is a string, in single or double quotes."""
        return self.kind is TokenKind.STRING

    @property
    def needs_quotes(self) -> bool:
        """Return whether the token is a character that SQL allows only in quotes, such as `→`."""
        return self.kind is TokenKind.SYMBOL and not self.text.isascii()

    @property
    def is_constant(self) -> bool:
        """Return whether the token is a number or a string."""
        return self.kind in CONSTANT_KINDS

    @property
    def is_string_in_double_quotes(self) -> bool:
        """Return whether the token is a string in double quotes: a name in other dialects."""
        return self.kind is TokenKind.STRING and self.text.startswith('"')

    @property
    def can_name(self) -> bool:
        """Return whether the token is a name if it is where no string is allowed.

        There, `"a"` can only be a name.
        """
        return self.is_name or self.is_string_in_double_quotes

    @property
    def name(self) -> str:
        """Return the name as it is written, without quotes: `"a""b"` is `a"b`."""
        if self.kind is TokenKind.STRING:
            return self.text[1:-1].replace('""', '"')
        return self.text

    @property
    def variable(self) -> str:
        """Return the token as a pattern variable: in upper case unless it is quoted."""
        return self.name.upper() if self.is_word else self.name


# For each opening bracket, the closing one.
OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = frozenset(OPENING.values())


def pair_brackets(tokens: Sequence[Token]) -> dict[int, int]:
    """Return, for the index of each opening bracket, the index of its closing bracket.

    Brackets that do not pair up are left out. A `]` or `}` that does not close the innermost
    bracket closes nothing. A `)` closes the innermost parenthesis, so brackets that are still open
    inside this parenthesis have no closing bracket.

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

    def __init__(self, sequence: TokenSequence) -> None:
        # The text that is read, with its tokens and the pairs of its brackets.
        self.sequence = sequence
        # The tokens of `sequence`.
        self.tokens = sequence.tokens
        # The index of the next token.
        self.position = 0
        # The index after the last token that the parser may read.
        self.end = len(sequence)

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
        """Read the next tokens if they have these keys, and return whether they do.

        At `ORDER BY x`, `accept("ORDER", "BY")` moves the position to `x` and returns True. If the
        next tokens have other keys, the position does not change.
        """
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


# A half-open range of indices of tokens.
TokenRange = tuple[int, int]

# The first words of queries; some are functions, too.
_QUERY_WORDS_AND_FUNCTIONS = frozenset({"MAP", "REDUCE"})
_QUERY_WORDS = _QUERY_WORDS_AND_FUNCTIONS | {"SELECT", "WITH", "FROM", "VALUES", "TABLE"}

# Keys that can follow one of these words only if the word names a column.
_AFTER_COLUMN_NAME = split_words(
    ") , . [ :: = == <=> <> != < <= > >= + / % || AS AND OR IS IN LIKE BETWEEN"
)


@dataclass(frozen=True)
class TokenSequence:
    """A text and its tokens, with their brackets paired up.

    Unless a docstring says otherwise, the integers in fields, arguments and results are indices of
    tokens. Tokens `start .. end` are half-open ranges.
    """

    text: str
    # The tokens of the text, in order.
    tokens: tuple[Token, ...] = field(compare=False, repr=False)
    # For the index of each opening bracket, the index of its closing bracket; see `pair_brackets`.
    pairs: dict[int, int] = field(compare=False, repr=False)
    # Where the text starts in the query. Spans count from the start of the query.
    offset: int = field(default=0, compare=False)
    # How the text is read.
    dialect: QuoteDialect = field(default=SPARK, compare=False)

    @cached_property
    def openings(self) -> dict[int, int]:
        """Return, for the index of each closing bracket, the index of its opening bracket."""
        return {closing: opening for opening, closing in self.pairs.items()}

    @cached_property
    def enclosing_openings(self) -> tuple[int, ...]:
        """Return, for each token, the opening bracket of the innermost pair around it, or -1.

        A bracket does not count as inside its own pair: `f ( x )` gives `(-1, -1, 1, -1)`.
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
        """Return the index of each token, by the position in the query at which it starts."""
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
        """Return the span of the whole text."""
        return Span(self.offset, self.offset + len(self.text))

    def split_at(self, span: Span) -> tuple[str, str]:
        """Return the text before a span, and the text from the span on."""
        full = self.full_span
        before = self.text_at(Span(full.start, span.start))
        return before, self.text_at(Span(span.start, full.end))

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, index: int) -> Token:
        return self.tokens[index]

    def key(self, index: int) -> str:
        """Return the key of a token; "" before the first and after the last one."""
        return self.tokens[index].key if 0 <= index < len(self.tokens) else ""

    def has_keys(self, index: int, *keys: str) -> bool:
        """Return whether the tokens from `index` on have these keys."""
        return all(self.key(token_index) == key for token_index, key in enumerate(keys, index))

    def index_after(self, index: int) -> int:
        """Return the index after a token, or after the whole pair if it is an opening bracket."""
        return self.pairs.get(index, index) + 1

    def can_name(self, index: int) -> bool:
        """Return whether a name is at `index`, or a string in double quotes that can be one."""
        return 0 <= index < len(self.tokens) and self.tokens[index].can_name

    def span(self, start: int, end: int) -> Span:
        """Return the span of tokens `start .. end`. There must be at least one token."""
        return self.tokens[start].span.to(self.tokens[end - 1].span)

    def text_at(self, span: Span) -> str:
        """Return the text at a span of the query."""
        return self.text[span.start - self.offset : span.end - self.offset]

    def is_call(self, index: int) -> bool:
        """Return whether a function is called at `index`: `f(`, but not `s.f(`."""
        is_word = 0 <= index < len(self.tokens) and self.tokens[index].is_word
        return is_word and self.key(index + 1) == "(" and self.key(index - 1) != "."

    def find_call_span(self, index: int) -> Span:
        """Return the span of the call at `index`, from its name to its closing `)`."""
        return self.span(index, self.index_after(index + 1))

    def is_subquery(self, index: int) -> bool:
        """Return whether the parenthesis at `index` encloses a query, as in `(SELECT ...)`."""
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

        Return the number of tokens if there are no parentheses around it.
        """
        if index < len(self.tokens):
            for opening in self.walk_brackets_around(index):
                if self.key(opening) == "(":
                    return self.pairs[opening]
        return len(self.tokens)

    def walk_brackets_around(self, index: int) -> Iterator[int]:
        """Yield the opening brackets of the pairs around a token, innermost first."""
        opening = self.enclosing_openings[index]
        while opening >= 0:
            yield opening
            opening = self.enclosing_openings[opening]

    def walk_level(self, start: int, end: int) -> Iterator[int]:
        """Yield the indices of tokens `start .. end` that are in no brackets.

        An opening bracket is yielded, its closing bracket is not: for `f ( x ) , y`, the indices of
        `f`, `(`, `,` and `y` are yielded.
        """
        index = start
        while index < end:
            yield index
            index = self.index_after(index)

    def split_at_commas(self, start: int, end: int) -> tuple[TokenRange, ...]:
        """Return the ranges of tokens between the commas of `start .. end` that are in no brackets.

        There is always at least one range, which may be empty.
        """
        commas = [index for index in self.walk_level(start, end) if self.tokens[index].key == ","]
        return tuple(zip([start, *(comma + 1 for comma in commas)], [*commas, end], strict=True))


def read_column_path(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the name of a column, with its qualifiers before it; () for other tokens.

    >>> from matchrec.syntax.tokenize import read_tokens
    >>> read_column_path(read_tokens("t . `a.b`").tokens)
    ('t', 'a.b')
    >>> read_column_path(read_tokens("a + 1").tokens)
    ()
    """
    names = tokens[::2]
    has_dots = len(tokens) % 2 == 1 and all(token.key == "." for token in tokens[1::2])
    if not has_dots:
        return ()
    for name in names:
        # Spark allows letters that are not ASCII only in quotes.
        if not name.is_name or (name.is_word and not name.text.isascii()):
            return ()
    return tuple(name.text for name in names)


class DataFrameName(NamedTuple):
    """A `{name}` in a query, for which a DataFrame can be passed."""

    # The name between the braces.
    name: str
    # The name with the braces.
    span: Span


def find_data_frames(tokens: Sequence[Token]) -> Iterator[DataFrameName]:
    """Yield every `{name}` of a query, from left to right. A name with blanks is left out."""
    for opening, name, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opening.key == "{" and closing.key == "}" and name.is_word:
            span = opening.span.to(closing.span)
            has_no_blanks = span.end - span.start == len(name.text) + len("{}")
            if has_no_blanks:
                yield DataFrameName(name.text, span)
