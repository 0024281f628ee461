"""Where the parser of expressions stands in its text, what it has met, and how it makes nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from matchrec.errors import MatchRecognizeError
from matchrec.errors.language import part
from matchrec.errors.sql import clause as syntax_errors
from matchrec.errors.sql import expression as errors
from matchrec.plan.expression import Operation, Scalar, Term, around, pieces_of, written_operations
from matchrec.plan.operations import NO_OPERATIONS, Operations
from matchrec.plan.text import Amount, in_place, parameter_name, quoted, spaced, words_of
from matchrec.source import Span
from matchrec.syntax.row_pattern import Values
from matchrec.syntax.tokens import (
    CLOSING,
    OPENING,
    Cursor,
    Range,
    Token,
    TokenKind,
    TokenSequence,
    words,
)
from matchrec.syntax.written_relations import qualified_names, relation_names


class ClausePart(Enum):
    """The parts of a clause in their order, each with its name in messages."""

    PARTITION_BY = "PARTITION BY"
    ORDER_BY = "ORDER BY"
    MEASURES = "MEASURES"
    FRAME = "ROWS BETWEEN"
    ROWS_PER_MATCH = "ONE ROW or ALL ROWS PER MATCH"
    AFTER_MATCH = "AFTER MATCH SKIP"
    SEARCH = "INITIAL or SEEK"
    PATTERN = "PATTERN"
    WITHIN = "WITHIN"
    SUBSET = "SUBSET"
    DEFINE = "DEFINE"


@dataclass(frozen=True)
class Scope:
    """What an expression may refer to: variables of PATTERN and union variables, normalized."""

    clause: ClausePart
    primary: tuple[str, ...] = ()
    unions: tuple[str, ...] = ()
    of_rows: bool = True  # reads rows of a match; else it is SQL over one row of the input
    values: Values | None = None  # of parameters; None: numbers of rows must be written

    @cached_property
    def variables(self) -> frozenset[str]:
        return frozenset((*self.primary, *self.unions))


@dataclass(frozen=True, slots=True)
class RowRead:
    """A column, or a CLASSIFIER, that was met. variable: None is the universal one."""

    variable: str | None
    span: Span
    is_column: bool


AFTER_OPERAND = words_of("AFTER OPERAND")

SIGNS = words("- + ~ ! (")  # symbols with which an operand begins

_TIGHTER = words("|| [ ::")  # what makes more than a constant of a constant before it


class ExpressionCursor(Cursor, ABC):
    """Reads an expression's tokens, and makes nodes of those already read.

    where: what messages call it, the part of its scope unless it is given.
    """

    def __init__(self, text: TokenSequence, scope: Scope, where: str | None = None) -> None:
        super().__init__(text.tokens)
        self.text = text
        self.scope = scope
        self.clause = where or part(scope.clause.value)
        check_brackets(text, self.clause)
        self.rows_read: list[RowRead] = []  # the columns and classifiers so far
        self.last_read: Span | None = None  # where a column, or what reads rows of a match, stood
        self.functions: list[int] = []  # where ordinary functions are called
        self.caller: int | None = None  # the navigation or aggregate in whose parentheses it reads
        self.parameters: frozenset[str] = frozenset()  # of the lambdas around
        self.respelt = tuple(self.respell())

    def respell(self) -> Iterator[tuple[Span, str]]:
        """What Spark is given for some tokens: a named parameter for `?`, backticks for quotes."""
        for token in self.text.tokens:
            if token.key == "?":
                yield token.span, f":{parameter_name(token.span)}"
            elif token.kind is TokenKind.QUOTED and self.text.text_at(token.span).startswith('"'):
                yield token.span, quoted(token.text)

    @abstractmethod
    def expression(self) -> Scalar:
        """A whole expression: operands with operators between them."""

    @abstractmethod
    def value(self) -> Scalar:
        """An operand, or several with operators that give a value."""

    def between(self, start: int, end: int) -> Scalar:
        """The expression of tokens `start .. end`, and nothing after it."""
        self.position = start
        tree = self.expression()
        if self.position != end:
            raise self.unexpected()
        return tree

    def taken_by(self, caller: int, start: int, end: int) -> Scalar:
        """As `between`, of what the navigation or aggregate at `caller` takes."""
        outside, self.caller = self.caller, caller
        tree = self.between(start, end)
        self.caller = outside
        return tree

    def expect(self, *keys: str) -> None:
        """Reads these keys. Raises MatchRecognizeParseError where they do not stand next."""
        for key in keys:
            if not self.accept(key):
                raise self.unexpected()

    def unexpected(self) -> MatchRecognizeError:
        """The error of the next token, which cannot stand there, or of the end of the text."""
        token = self.tokens[min(self.position, self.end - 1)]
        before = self.tokens[min(max(self.position, 1), self.end) - 1]
        if token.key == "," and before.key in ("(", "[", ","):
            return syntax_errors.nothing_beside_comma(token.span, part=self.clause)
        if before.key == "," and (self.position >= self.end or token.key in CLOSING):
            return syntax_errors.nothing_beside_comma(before.span, part=self.clause)
        if self.position >= self.end or token.key in CLOSING:
            return syntax_errors.unfinished_expression(token.span, where=self.clause)
        if self.text.says(self.position, "ORDER", "BY") and self.text.around[self.position] >= 0:
            by = self.span(self.position, self.position + 2)
            return errors.order_in_call(by, clause=self.clause)
        begun = before.key in ("IF", "CASE") and token.kind is not TokenKind.SYMBOL
        span = before.span if begun else token.span
        return syntax_errors.unexpected_token(self.text.text_at(span), self.clause, span)

    def unknown_variable(self, name: Token) -> MatchRecognizeError:
        """The error of a name that must be a pattern variable and is none."""
        primary, unions = self.scope.primary, self.scope.unions
        return errors.unknown_variable(
            name.span, name=name.variable, clause=self.clause, primary=primary, unions=unions
        )

    @property
    def here(self) -> Span:
        return self.tokens[min(self.position, self.end - 1)].span

    def written(self, span: Span) -> str:
        """The user's text, with a named parameter for each `?`, and backticks for all quotes."""
        text_at = self.text.text_at
        if not self.respelt:
            return text_at(span)
        inside = [one for one in self.respelt if span.start <= one[0].start < span.end]
        edits = ((place, (text,)) for place, text in inside)
        return "".join(spaced(in_place(text_at, span, edits))) if inside else text_at(span)

    def term(
        self, start: int, own: Operations, *parts: Scalar, amount: Amount | None = None
    ) -> Term:
        """The tokens since `start` as text that is Spark's, with what its parts read as holes."""
        span = self.span(start, self.position)
        pieces = pieces_of(around(parts, self.written, span))
        return Term(pieces, span, own.union(*map(written_operations, parts)), amount)

    def operation(
        self,
        operator: str,
        start: int,
        *operands: Scalar,
        words: tuple[str, ...] = (),
        own: Operations = NO_OPERATIONS,
    ) -> Operation:
        """An operation over the tokens since `start`. own: by its name unless it is given."""
        span = self.span(start, self.position)
        return Operation(operator, around(operands, self.written, span), span, words, own)

    def constant_at(self, index: int) -> str:
        """The number or text at `index`, where it is a whole operand; else nothing."""
        is_constant = index < self.end and self.tokens[index].is_constant
        is_whole = self.key_at(index + 1) not in _TIGHTER
        return self.tokens[index].text if is_constant and is_whole else ""

    def subquery(self, start: int, own: Operations, *parts: Scalar) -> Term:
        """The query whose parenthesis stands next, with what was read since `start`: opaque."""
        opening = self.position
        self.position = self.text.past(opening)
        self._refuse_correlation(opening, self.position)
        return self.term(start, own | {"SELECT"}, *parts)

    def _refuse_correlation(self, start: int, end: int) -> None:
        """A column of a variable in a query, none of whose relations has that name."""
        for token, path in qualified_names(self.text, range(start, end)):
            is_variable = token.variable in self.scope.variables
            if is_variable and token.name.upper() not in relation_names(self.text, start, end):
                what = f"pattern variable `{token.variable}`"
                raise errors.correlated_subquery(path, clause=self.clause, what=what)


def refuse_strange(tokens: TokenSequence, where: str) -> None:
    """Raises MatchRecognizeParseError for a character that SQL has in quotes only."""
    if tokens.text.isascii():
        return
    for token in tokens.tokens:
        if token.is_strange:
            raise syntax_errors.strange_sign(token.text, where, token.span)


def items_between(tokens: TokenSequence, inside: Range, where: str) -> tuple[Range, ...]:
    """The ranges between commas. Raises MatchRecognizeParseError for one that is empty."""
    parts = tokens.separated(*inside)
    for start, end in parts:
        if start == end:
            comma = end if end < inside[1] else end - 1
            raise syntax_errors.nothing_beside_comma(tokens[comma].span, part=where)
    return parts


_BRACKETS = CLOSING | OPENING.keys()


def check_brackets(tokens: TokenSequence, where: str) -> None:
    """Raises MatchRecognizeParseError where there are no tokens, or brackets do not pair up."""
    if not tokens.tokens:
        span = Span(tokens.offset, max(tokens.offset + 1, tokens.whole.end))
        raise syntax_errors.missing_expression(span, where=where)
    refuse_strange(tokens, where)
    closed = {*tokens.pairs, *tokens.pairs.values()}
    opened: list[Token] = []
    for index, token in enumerate(tokens.tokens):
        if index in closed or token.key not in _BRACKETS:
            continue
        if token.key in OPENING:
            opened.append(token)
        elif token.key in (OPENING[one.key] for one in opened):
            break
        else:
            raise syntax_errors.unexpected_token(token.text, where, token.span)
    if opened:
        raise syntax_errors.unclosed_bracket(opened[-1].span, opening=opened[-1].text, where=where)
