"""A position in an expression, in which each reference is one token."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from matchrec.dataclass import dataclass
from matchrec.frontends.expressions.analysis import Analysis, with_holes
from matchrec.frontends.expressions.references import Hole
from matchrec.frontends.expressions.row_terms import with_field_name
from matchrec.frontends.lexing.tokens import CLOSING, Cursor, Token, TokenKind, level, pair_brackets
from matchrec.plan.expression import LambdaVariable, Operation, Piece, Scalar, Term

# Lambda functions among the tokens of an expression, and where their variables stand.
#
# exists(A.xs, x -> x > B.y)      aggregate(A.xs, 0, (sum, x) -> sum + x)


@dataclass(frozen=True, slots=True)
class WrittenLambda:
    """Tokens `start .. end`, of which those after `arrow` are the body.

    names: where the names of its variables stand, before the arrow.
    """

    start: int
    arrow: int
    end: int
    names: tuple[int, ...]


def find_lambdas(tokens: Sequence[Token], pairs: dict[int, int]) -> dict[int, WrittenLambda]:
    """The lambda functions by their first tokens, outer ones before those inside."""
    openings = {closing: opening for opening, closing in pairs.items()}
    found = {}
    for arrow, token in enumerate(tokens):
        if token.key != "->":
            continue
        start = openings.get(arrow - 1, arrow - 1)
        names = (start,) if start == arrow - 1 else tuple(range(start + 1, arrow - 1, 2))
        if all(tokens[name].is_word for name in names):
            found[start] = WrittenLambda(start, arrow, end_of_body(tokens, pairs, arrow), names)
    return found


def end_of_body(tokens: Sequence[Token], pairs: dict[int, int], arrow: int) -> int:
    """The comma or the bracket after what an arrow leads to."""
    ends = (
        at
        for at in level(pairs, arrow + 1, len(tokens))
        if tokens[at].key == "," or tokens[at].key in CLOSING
    )
    return next(ends, len(tokens))


def find_variables(
    tokens: Sequence[Token], lambdas: Iterable[WrittenLambda]
) -> dict[int, WrittenLambda]:
    """By the place of each variable in a body, the lambda function whose variable it is."""
    found: dict[int, WrittenLambda] = {}
    for one in lambdas:
        names = {tokens[name].text for name in one.names}
        for place in range(one.arrow + 1, one.end):
            if tokens[place].text in names and may_be_variable(tokens, place):
                found[place] = one
    named = {name for one in lambdas for name in one.names}
    return {place: one for place, one in found.items() if place not in named}


def may_be_variable(tokens: Sequence[Token], place: int) -> bool:
    """Whether a word is neither a field, nor a function."""
    after = tokens[place + 1].key if place + 1 < len(tokens) else ""
    return tokens[place].is_word and tokens[place - 1].key != "." and after != "("


class ExpressionCursor(Cursor):
    """Reads an expression's tokens, and makes nodes of those already read."""

    def __init__(self, analysis: Analysis, holes: tuple[Hole, ...]) -> None:
        self.analysis = analysis
        self.holes: dict[int, Hole] = {}
        tokens = self._tokens(holes)
        self.pairs = pair_brackets(tokens)
        self.lambdas = find_lambdas(tokens, self.pairs)
        self.variables = find_variables(tokens, self.lambdas.values())
        self.names = {place: tokens[place].text for place in self.variables}
        for place in self.variables:
            tokens[place] = Token(TokenKind.REFERENCE, "", tokens[place].span)
        super().__init__(tokens)

    def _tokens(self, holes: tuple[Hole, ...]) -> list[Token]:
        """The tokens, with one for each hole."""
        starts = {hole.start: hole for hole in holes}
        tokens: list[Token] = []
        index = 0
        while index < len(self.analysis):
            hole = starts.get(index)
            if hole is None:
                tokens.append(self.analysis[index])
                index += 1
            else:
                self.holes[len(tokens)] = hole
                span = self.analysis.span(hole.start, hole.end)
                tokens.append(Token(TokenKind.REFERENCE, "", span))
                index = hole.end
        return tokens

    def pieces(self, start: int, end: int) -> tuple[Piece, ...]:
        """The exact text of tokens `start .. end`, with holes."""
        holes = (
            (self.tokens[index].span, self._read(self.holes[index]))
            for index in range(start, end)
            if index in self.holes
        )
        return with_holes(self.analysis.written, self.span(start, end), holes)

    def _read(self, hole: Hole) -> tuple[Piece, ...]:
        return with_field_name(self.analysis, hole.start, hole.end, hole.read.pieces)

    def term(self, start: int, end: int) -> Term:
        return Term(self.pieces(start, end), self.span(start, end), self._variables(start, end))

    def _variables(self, start: int, end: int) -> tuple[LambdaVariable, ...]:
        """Those that tokens `start .. end` name, of lambda functions around them."""
        if not self.variables:
            return ()
        places = (place for place in range(start, end) if place in self.variables)
        outer = (place for place in places if self.variables[place].start < start)
        return tuple(dict.fromkeys(map(self._variable, outer)))

    def _variable(self, place: int) -> LambdaVariable:
        return LambdaVariable(
            self.names[place], self.tokens[self.variables[place].start].span.start
        )

    def variables_of(self, written: WrittenLambda) -> tuple[Term, ...]:
        """The variables of a lambda function."""
        first = self.tokens[written.start].span.start
        tokens = (self.tokens[place] for place in written.names)
        return tuple(
            Term((one.text,), one.span, (LambdaVariable(one.text, first),)) for one in tokens
        )

    def is_ambiguous(self, written: WrittenLambda) -> bool:
        """Whether a word of the body may be meant as a variable, and may not.

        It has other letters, is a variable of another lambda function, or stands in a navigation.
        """
        keys = {self.tokens[place].key for place in written.names}
        for place in range(written.arrow + 1, written.end):
            hole = self.holes.get(place)
            if hole is None and self.key_at(place) in keys and may_be_variable(self.tokens, place):
                return True
            if hole is not None and any(
                self.analysis.key(at) in keys and self.analysis.key(at - 1) != "."
                for at in range(hole.start, hole.end)
            ):
                return True
        return False

    def column_name(self, start: int, end: int) -> str | None:
        """The last name of a column, if the expression's tokens `start .. end` are that."""
        column = self.analysis.columns.get(start)
        if column is None or self.analysis.after(start, column.span) != end:
            return None
        return self.analysis[self.analysis.index_at[column.parts[-1].start]].text

    def operation(
        self, operator: str, start: int, *operands: Scalar, words: tuple[str, ...] = ()
    ) -> Operation:
        """An operation over the tokens from `start` up to the current position."""
        end = self.position
        return Operation(operator, operands, self.pieces(start, end), self.span(start, end), words)

    def string_at(self, index: int) -> str:
        """The text of a string, as it was written, without its quotes."""
        return self.analysis.text_at(self.tokens[index].span)[1:-1]

    def type_name(self, start: int, end: int) -> str:
        """The tokens `start .. end` of a type, as a word: `DECIMAL(10,2)`, `INTERVAL DAY`."""
        text = " ".join(self.tokens[index].text.upper() for index in range(start, end))
        return re.sub(r" ?([(),<>:]) ?", r"\1", text)

    def top_level(self, key: str, start: int, end: int) -> int | None:
        """Where the first of tokens `start .. end` with a key stands that is in no brackets."""
        return next((at for at in self.level(start, end) if self.key_at(at) == key), None)

    def level(self, start: int, end: int) -> Iterator[int]:
        """The places of tokens `start .. end` that are in no brackets."""
        return level(self.pairs, start, end)

    def is_subquery(self, opening: int) -> bool:
        start = self.tokens[opening].span.start
        return self.analysis.is_subquery(self.analysis.index_at[start])
