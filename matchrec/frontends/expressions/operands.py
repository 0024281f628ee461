"""A position in an expression, in which each reference is one token."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from matchrec.frontends.expressions.analysis import Analysis, with_holes
from matchrec.frontends.expressions.references import Hole
from matchrec.frontends.expressions.row_terms import with_field_name
from matchrec.frontends.lexing.tokens import (
    CLOSING,
    UNITS,
    Cursor,
    Token,
    TokenKind,
    TokenSequence,
    pair_brackets,
    words,
)
from matchrec.plan.expression import Operation, Parts, Piece, Scalar, Term, around, enclosed
from matchrec.plan.operations import NO_OPERATIONS, Operations


class ExpressionCursor(Cursor):
    """Reads an expression's tokens, and makes nodes of those already read."""

    def __init__(self, analysis: Analysis, holes: tuple[Hole, ...]) -> None:
        self.analysis = analysis
        self.holes: dict[int, Hole] = {}
        self.operations: list[Operations] = []
        tokens = self._tokens(holes)
        self.pairs = pair_brackets(tokens)
        self.text = TokenSequence(analysis.text, tuple(tokens), self.pairs, offset=analysis.offset)
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
                self.operations.append(self.analysis.operations[index])
                index += 1
            else:
                self.holes[len(tokens)] = hole
                self.operations.append(hole.read.own)
                span = self.analysis.span(hole.start, hole.end)
                tokens.append(Token(TokenKind.REFERENCE, "", span))
                index = hole.end
        return tokens

    def pieces(self, start: int, end: int) -> tuple[Piece, ...]:
        """The exact text of tokens `start .. end`, with holes."""
        holes = [
            (self.tokens[index].span, self._read(self.holes[index]))
            for index in range(start, end)
            if index in self.holes
        ]
        span = self.span(start, end)
        whole = holes[0][1] if len(holes) == 1 and end == start + 1 else None
        return whole or with_holes(self.analysis.written, span, holes)

    def _read(self, hole: Hole) -> tuple[Piece, ...]:
        return with_field_name(self.analysis, hole.start, hole.end, hole.read.pieces)

    def term(self, start: int, end: int) -> Term:
        own = NO_OPERATIONS.union(*self.operations[start:end])
        return Term(self.pieces(start, end), self.span(start, end), own)

    def column_name(self, start: int, end: int) -> str | None:
        """The last name of a column, if the expression's tokens `start .. end` are that."""
        column = self.analysis.columns.get(start)
        if column is None or self.analysis.after(start, column.span) != end:
            return None
        return self.analysis[self.analysis.index_at[column.parts[-1].start]].text

    def operation(
        self,
        operator: str,
        start: int,
        *operands: Scalar,
        words: tuple[str, ...] = (),
        sign: int | None = None,
    ) -> Operation:
        """An operation over the tokens from `start` up to the current position.

        sign: where its operator stands, if what follows that matters to the tables of operations.
        """
        parts, span = self.parts(start, self.position, operands), self.span(start, self.position)
        own = NO_OPERATIONS if sign is None else self.operations[sign]
        return Operation(operator, parts, span, words, own)

    def parts(self, start: int, end: int, operands: Sequence[Scalar]) -> Parts:
        """The exact text of tokens `start .. end`, with operands in their places."""
        return around(operands, self.analysis.written, self.span(start, end))

    def string_at(self, index: int) -> str:
        """The text of a string, as it was written, without its quotes."""
        return self.analysis.text_at(self.tokens[index].span)[1:-1]

    def type_name(self, start: int, end: int) -> str:
        """The tokens `start .. end` of a type, as a word: `DECIMAL(10,2)`, `INTERVAL DAY`."""
        text = " ".join(self.tokens[index].text.upper() for index in range(start, end))
        return re.sub(r" ?([(),<>:]) ?", r"\1", text)

    def top_level(self, key: str, start: int, end: int) -> int | None:
        """Where the first of tokens `start .. end` with a key stands that is in no brackets."""
        return next((at for at in self.text.level(start, end) if self.key_at(at) == key), None)


# The operands of an expression: references, literals, calls, CASE, groups in parentheses.


# Operators and words by which the structure of an expression is read.

SAME_SIGNS = {"==": "=", "!=": "<>"}
"""Other ways to write an operator."""

_LEVELS = ("= == <> != < <= > >= <=>", "|", "^", "&", "<< >>", "+ - ||", "* / % DIV")
BINARY = {
    sign: (level, SAME_SIGNS.get(sign, sign))
    for level, signs in enumerate(_LEVELS)
    for sign in signs.split()
}
"""How tight each binary operator binds, and its name in an Operation."""

SHIFTS = ("<<", ">>")

_OPERATORS = words("AND OR NOT NEG IN BETWEEN IS CASE LIKE ILIKE RLIKE REGEXP IDENTIFIER")
"""Names of operations that no function of that name stands for, and one that is no function."""

_ARGUMENTS: dict[str, tuple[int, int | None]] = {
    **dict.fromkeys(words("ABS NEGATIVE ISNULL ISNOTNULL ISNAN NULLIFZERO ZEROIFNULL"), (1, 1)),
    **dict.fromkeys(words("NULLIF NVL IFNULL NANVL MOD PMOD DATEDIFF DATE_DIFF"), (2, 2)),
    **dict.fromkeys(words("EQUAL_NULL SHIFTLEFT SHIFTRIGHT SHIFTRIGHTUNSIGNED"), (2, 2)),
    **dict.fromkeys(words("TRY_ADD TRY_SUBTRACT TRY_MULTIPLY TRY_DIVIDE TRY_MOD"), (2, 2)),
    **dict.fromkeys(words("NVL2 IF"), (3, 3)),
    **dict.fromkeys(words("GREATEST LEAST"), (2, None)),
    "DECODE": (3, None),
}
"""How many arguments the functions take that are more than their name to later passes."""


def operation_of_call(name: str, arguments: int) -> str | None:
    """The operation that a call of a function is, or None where it is opaque.

    >>> operation_of_call("NULLIF", 2), operation_of_call("NULLIF", 3), operation_of_call("NEG", 1)
    ('NULLIF', None, None)
    """
    least, most = _ARGUMENTS.get(name, (1, None))
    fits = least <= arguments and (most is None or arguments <= most)
    return name if fits and name not in _OPERATORS else None


NOT_PLAIN = frozenset({"->", "=>", "AS", "FROM", "DISTINCT", "ORDER", "USING", "FOR", "TO"})
"""What stands in no argument that is one value."""

CONSTANTS = words("TRUE FALSE NULL CURRENT_DATE CURRENT_TIMESTAMP CURRENT_TIME LOCALTIMESTAMP")
"""Words that are values; other words that are no columns are units: DATEDIFF(HOUR, a, b)."""

AFTER_INTERVAL = frozenset({"AND", "OR", "IS", "NOT", "BETWEEN", "IN", "LIKE", "DIV"}) | CLOSING
"""What may follow INTERVAL '1' where no unit does."""


# Calls with more in their parentheses than values: types, units, and words between the arguments.
#
# CAST(x AS DECIMAL(10, 2))     CAST(x), of the word DECIMAL(10,2)
# TIMESTAMPDIFF(MINUTE, a, b)   TIMESTAMPDIFF(a, b), of the word MINUTE
# EXTRACT(HOUR FROM x)          EXTRACT(x), of the word HOUR
# TRIM(LEADING 'x' FROM y)      LTRIM('x', y)
# POSITION(a IN b)              POSITION(a, b)
# SUBSTRING(x FROM 2 FOR 3)     SUBSTRING(x, 2, 3)
# STRUCT(x, 1 AS y)             STRUCT(x, 1), of the words x and y
# NAMED_STRUCT('x', 1)          STRUCT(1), of the word x


SpecialCall = tuple[str, tuple[Scalar, ...], tuple[str, ...]]
"""The operator, the operands and the words that are read: see `plan.expression.Operation`."""

Form = Callable[["OperandReader", str, int, int], SpecialCall | None]
"""Reads the tokens between the parentheses of a call; None where it is an ordinary one."""


def read_cast(reader: OperandReader, name: str, start: int, end: int) -> SpecialCall | None:
    place = reader.top_level("AS", start, end)
    if place is None:
        return None
    operand = reader.argument(start, place)
    return name, (operand,), (reader.type_name(place + 1, end),)


def read_with_unit(reader: OperandReader, name: str, start: int, end: int) -> SpecialCall | None:
    unit = reader.key_at(start)
    if reader.kind_at(start) is not TokenKind.WORD or reader.key_at(start + 1) != ",":
        return None
    if unit not in UNITS - {"NANOSECOND"} | {"DAYOFYEAR"}:
        return None
    return WITH_UNIT[name], reader.separated(start + 2, end), (unit,)


def read_extract(reader: OperandReader, _: str, start: int, end: int) -> SpecialCall | None:
    if reader.kind_at(start) is not TokenKind.WORD or reader.key_at(start + 1) != "FROM":
        return None
    return "EXTRACT", (reader.argument(start + 2, end),), (reader.key_at(start),)


def read_date_part(reader: OperandReader, _: str, start: int, end: int) -> SpecialCall | None:
    if reader.kind_at(start) is not TokenKind.STRING or reader.key_at(start + 1) != ",":
        return None
    field = reader.string_at(start).upper()
    return "EXTRACT", (reader.argument(start + 2, end),), (field,)


def read_trim(reader: OperandReader, _: str, start: int, end: int) -> SpecialCall | None:
    place = reader.top_level("FROM", start, end)
    if place is None:
        return None
    side = TRIMS.get(reader.key_at(start))
    first = start + (side is not None)
    texts = [reader.argument(first, place)] if first < place else []
    return side or "TRIM", (*texts, reader.argument(place + 1, end)), ()


def read_clauses(*keys: str) -> Form:
    """`x FROM 2 FOR 3`: arguments with words before them, of which the last may be missing."""

    def read(reader: OperandReader, name: str, start: int, end: int) -> SpecialCall | None:
        places = [reader.top_level(key, start, end) for key in keys]
        found = [place for place in places if place is not None]
        if not found:
            return None
        bounds = pairwise((start - 1, *found, end))
        return name, tuple(reader.argument(one + 1, next_) for one, next_ in bounds), ()

    return read


def read_struct(reader: OperandReader, _: str, start: int, end: int) -> SpecialCall:
    names, values = zip(*reader.fields(start, end), strict=True)
    return "STRUCT", values, names


def read_named_struct(reader: OperandReader, _: str, start: int, end: int) -> SpecialCall | None:
    """Names that are no literals, or have a backslash in them, are not read."""
    ranges = reader.text.separated(start, end)
    names = [
        reader.string_at(first)
        for first, last in ranges[::2]
        if reader.kind_at(first) is TokenKind.STRING and last == first + 1
    ]
    if 2 * len(names) != len(ranges) or "\\" in "".join(names):
        return None
    values = tuple(reader.argument(*one) for one in ranges[1::2])
    return "STRUCT", values, tuple(names)


TRIMS = {"BOTH": "TRIM", "LEADING": "LTRIM", "TRAILING": "RTRIM"}

WITH_UNIT = {
    "TIMESTAMPDIFF": "TIMESTAMPDIFF",
    "TIMEDIFF": "TIMESTAMPDIFF",
    "DATEDIFF": "TIMESTAMPDIFF",
    "DATE_DIFF": "TIMESTAMPDIFF",
    "TIMESTAMPADD": "TIMESTAMPADD",
    "DATEADD": "TIMESTAMPADD",
    "DATE_ADD": "TIMESTAMPADD",
}
"""The functions of a unit, each with the one that it is another name of."""

SPECIAL_CALLS: Mapping[str, Form] = {
    "CAST": read_cast,
    "TRY_CAST": read_cast,
    "EXTRACT": read_extract,
    "DATE_PART": read_date_part,
    "DATEPART": read_date_part,
    "TRIM": read_trim,
    "POSITION": read_clauses("IN"),
    "STRUCT": read_struct,
    "NAMED_STRUCT": read_named_struct,
    "SUBSTRING": read_clauses("FROM", "FOR"),
    "SUBSTR": read_clauses("FROM", "FOR"),
    "OVERLAY": read_clauses("PLACING", "FROM", "FOR"),
} | dict.fromkeys(WITH_UNIT, read_with_unit)


class NotModelled(Exception):  # noqa: N818 - a branch not taken, not an error
    """The part being read is opaque."""


class OperandReader(ExpressionCursor, ABC):
    """One method per rule; each returns its tree or raises NotModelled."""

    @abstractmethod
    def disjunction(self) -> Scalar:
        """A whole expression: operands with operators between them."""

    def read(self, start: int, end: int) -> Scalar:
        """The tree of tokens `start .. end`, opaque as a whole if it cannot be read to its end."""
        return self.readable(start, end) or self.term(start, end)

    def readable(self, start: int, end: int) -> Scalar | None:
        """The tree of tokens `start .. end`, or None when something in it is not modelled."""
        outside = self.position, self.end
        self.position, self.end = start, end
        try:
            tree = self.disjunction()
            return tree if self.position == end else None
        except NotModelled:
            return None
        finally:
            self.position, self.end = outside

    def skip(self, count: int) -> None:
        """Goes past so many tokens, if they are there."""
        self.position += count
        if self.position > self.end:
            raise NotModelled

    def separated(self, start: int, end: int) -> tuple[Scalar, ...]:
        """The expressions between the commas of tokens `start .. end`."""
        return tuple(self.argument(*one) for one in self.text.separated(start, end))

    def fields(self, start: int, end: int) -> Iterator[tuple[str, Scalar]]:
        """The expressions between commas, with the names that they have in a struct."""
        for number, (first, last) in enumerate(self.text.separated(start, end), 1):
            if self.key_at(last - 2) == "AS" and self.tokens[last - 1].is_name:
                yield self.tokens[last - 1].text, self.argument(first, last - 2)
            else:
                value = self.argument(first, last)
                yield self.field_name(first, last, value) or f"col{number}", value

    def field_name(self, start: int, end: int, value: Scalar) -> str | None:
        """The name that a value gives to the field of a struct, if it has one."""
        if isinstance(value, Operation) and value.operator == ".":
            return value.words[0]
        if end > start + 1:
            return None
        hole = self.holes.get(start)
        return None if hole is None else self.column_name(hole.start, hole.end)

    def argument(self, start: int, end: int) -> Scalar:
        """One expression; a lambda, and what only some function understands, are not modelled."""
        if any(self.key_at(at) in NOT_PLAIN for at in self.text.level(start, end)):
            raise NotModelled
        unit = self.kind_at(start) is TokenKind.WORD and self.key_at(start) not in CONSTANTS
        if start >= end or (unit and end == start + 1):
            raise NotModelled
        tree = self.readable(start, end)
        if tree is None:
            raise NotModelled
        return tree

    def primary(self) -> Scalar:
        start = self.position
        tree = self.operand()
        while (found := self.postfix(start, tree)) is not None:
            tree = found
        return tree

    def operand(self) -> Scalar:
        """A reference, a literal, a call, a CASE or a group."""
        start = self.position
        if start >= self.end:
            raise NotModelled
        kind = self.kind_at(start)
        if self.key == "(":
            return self.group()
        if self.key == "CASE":
            return self.case()
        if kind is TokenKind.WORD and self.key_at(start + 1) == "(" and self.key != "INTERVAL":
            return self.call()
        if self.key == "INTERVAL" and self.kind_at(start + 1) not in (
            TokenKind.REFERENCE,
            TokenKind.END,
        ):
            return self.interval()
        self.position += 1
        if kind is TokenKind.SYMBOL:
            self.parameter()
        if kind in (TokenKind.STRING, TokenKind.WORD):
            while self.kind_at(self.position) is TokenKind.STRING:
                self.position += 1
        return self.term(start, self.position)

    def parameter(self) -> None:
        """The rest of `?` or `:name`, whose first token was just read."""
        symbol = self.key_at(self.position - 1)
        if symbol == ":" and self.kind_at(self.position) in (TokenKind.WORD, TokenKind.NAME):
            self.position += 1
        elif symbol != "?":
            raise NotModelled

    def postfix(self, start: int, tree: Scalar) -> Scalar | None:
        """The operand with the subscript, field, cast or collation after it, if there is one."""
        place = self.position
        if self.key == "[":
            self.position = closing = self.pairs[place] + 1
            index = self.readable(place + 1, closing - 1)
            return None if index is None else self.operation("[]", start, tree, index)
        if self.key == "::":
            return self.cast(start, tree)
        if self.key == "." and place + 1 < self.end:
            self.position += 2
            name = self.tokens[place + 1]
            if name.is_name:
                return self.operation(".", start, tree, words=(name.text,))
        elif self.key == "COLLATE":
            self.skip(2)
        return self.term(start, self.position) if self.position > place else None

    def cast(self, start: int, tree: Scalar) -> Scalar:
        """`x::T`, where the type is one word, or a word and what it has in parentheses."""
        place = self.position + 1
        self.skip(2)
        if self.key == "(":
            self.position = self.pairs[self.position] + 1
        return self.operation("CAST", start, tree, words=(self.type_name(place, self.position),))

    def interval(self) -> Term:
        """`INTERVAL '1' DAY`, `INTERVAL -3 DAYS 2 HOURS`, `INTERVAL '1-2' YEAR TO MONTH`."""
        start = self.position
        self.position += 1
        while self.kind_at(self.position + (self.key in ("-", "+"))) in (
            TokenKind.NUMBER,
            TokenKind.STRING,
        ):
            self.skip(2 if self.key in ("-", "+") else 1)
            if self.kind_at(self.position) is not TokenKind.WORD or self.key in AFTER_INTERVAL:
                continue
            self.position += 1
            if self.accept("TO"):
                self.skip(1)
        return self.term(start, self.position)

    def case(self) -> Scalar:
        """CASE with its conditions and values in a row, ELSE last; `CASE OF` starts with x."""
        start = self.position
        parts = self.case_parts(start)
        self.position = end = parts.pop() + 1
        ranges = ((first + 1, last) for first, last in pairwise((*parts, end - 1)))
        values = [self.readable(*one) for one in ranges if one[0] < one[1]]
        if None in values:
            return self.term(start, end)
        operator = "CASE" if self.key_at(start + 1) == "WHEN" else "CASE OF"
        return self.operation(operator, start, *(value for value in values if value is not None))

    def case_parts(self, start: int) -> list[int]:
        """The places of CASE, and of the WHEN, THEN, ELSE and END that belong to it."""
        found = []
        depth = 0
        for index in self.text.level(start, self.end):
            key = self.key_at(index)
            depth += {"CASE": 1, "END": -1}.get(key, 0)
            if (depth == 1 and key in ("WHEN", "THEN", "ELSE")) or index == start or depth == 0:
                found.append(index)
            if depth == 0:
                return found
        raise NotModelled

    def group(self) -> Scalar:
        """An expression in parentheses: itself, with the parentheses in its text; else opaque."""
        start = self.position
        closing = self.pairs.get(start)
        if closing is None:
            raise NotModelled
        self.position = closing + 1
        whole = self.term(start, closing + 1)
        inner = None if self.text.is_subquery(start) else self.inside(start, closing)
        return whole if inner is None else enclosed(inner, self.analysis.written, whole.span)

    def inside(self, opening: int, closing: int) -> Scalar | None:
        """What stands between parentheses: an expression, or several, which are a struct."""
        if self.top_level(",", opening + 1, closing) is None:
            return self.readable(opening + 1, closing)
        try:
            names, values = zip(*self.fields(opening + 1, closing), strict=True)
        except NotModelled:
            return None
        return self.operation("STRUCT", opening, *values, words=names)

    def call(self) -> Scalar:
        """A function; an operation when its arguments are plain expressions."""
        start = self.position
        name = self.key
        closing = self.pairs.get(start + 1)
        if closing is None:
            raise NotModelled
        self.position = closing + 1
        if closing == start + 2 or self.text.is_subquery(start + 1):
            return self.term(start, self.position)
        try:
            form = SPECIAL_CALLS.get(name)
            special = form(self, name, start + 2, closing) if form else None
            if special is not None:
                operator, operands, words = special
                return self.operation(operator, start, *operands, words=words)
            arguments = self.separated(start + 2, closing)
        except NotModelled:
            return self.term(start, closing + 1)
        operation = operation_of_call(name, len(arguments))
        if operation is None:
            return self.term(start, closing + 1)
        return self.operation(operation, start, *arguments)
