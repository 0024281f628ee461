"""An expression's tokens and columns side by side, and the text of any part of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import cached_property

from matchrec.dataclass import dataclass
from matchrec.errors import MatchRecognizeError
from matchrec.errors.language import part
from matchrec.errors.sql import clause as syntax_errors
from matchrec.errors.sql import expression as errors
from matchrec.frontends.lexing.names import with_names
from matchrec.frontends.lexing.sqlglot_columns import WrittenColumn, find_columns
from matchrec.frontends.lexing.token_sequence import TokenSequence, read_tokens
from matchrec.frontends.lexing.tokens import (
    AGGREGATES,
    CLOSING,
    OF_THE_MATCH,
    OPENING,
    SEMANTICS,
    SPARK,
    Dialect,
    DoubleQuotes,
    Token,
    TokenKind,
    words,
)
from matchrec.plan.expression import Piece, set_apart
from matchrec.plan.text import parameter_name, quoted, run_together
from matchrec.source import Span


class Clause(Enum):
    """Where an expression stands."""

    PARTITION_BY = "PARTITION BY"
    ORDER_BY = "ORDER BY"
    MEASURES = "MEASURES"
    WITHIN = "WITHIN"
    DEFINE = "DEFINE"


@dataclass(frozen=True)
class Scope:
    """What an expression may refer to: variables of PATTERN and union variables, normalized.

    dialect: in which it is written.
    """

    clause: Clause
    primary: tuple[str, ...] = ()
    unions: tuple[str, ...] = ()
    dialect: Dialect = SPARK

    @cached_property
    def variables(self) -> frozenset[str]:
        """Primary and union variables."""
        return frozenset((*self.primary, *self.unions))


@dataclass(frozen=True, kw_only=True)
class Analysis(TokenSequence):
    """One expression: its tokens and, by the index of their first token, its columns."""

    scope: Scope
    columns: dict[int, WrittenColumn]

    @property
    def clause(self) -> str:
        """The name of the clause, for messages."""
        return part(self.scope.clause.value)

    @cached_property
    def respelt(self) -> tuple[tuple[Span, str], ...]:
        """What Spark is given for some tokens: a named parameter for `?`, backticks for quotes."""
        return tuple(_respelt(self))

    def after(self, index: int, span: Span) -> int:
        """The first token from `index` on that starts after `span`."""
        while index < len(self.tokens) and self.tokens[index].span.start < span.end:
            index += 1
        return index

    def variable(self, column: WrittenColumn) -> str | None:
        """The pattern variable of a column; None is the universal one."""
        name = self.tokens[self.index_at[column.parts[0].start]].variable
        qualified = len(column.parts) > 1
        return name if qualified and name in self.scope.variables else None

    def columns_in(self, start: int, end: int) -> tuple[WrittenColumn, ...]:
        """The columns of the row, so not those of subqueries, among tokens `start .. end`."""
        found = (self.columns[i] for i in range(start, end) if i in self.columns)
        return tuple(place for place in found if not place.in_query)

    def written(self, span: Span) -> str:
        """The user's text, with a named parameter for each `?`, and backticks for all quotes."""
        return self._edited(span, ()) if self.respelt else self.text_at(span)

    def row_text(self, start: int, end: int) -> str:
        """SQL over one row: tokens `start .. end` without the variables before their columns."""
        qualifiers = (
            Span(place.parts[0].start, place.parts[1].start)
            for place in self.columns_in(start, end)
            if self.variable(place) is not None
        )
        return self._edited(self.span(start, end), qualifiers)

    def _edited(self, span: Span, removed: Iterable[Span]) -> str:
        edits = [(gone, "") for gone in removed]
        edits += self._respelt_in(span)
        text = ""
        position = span.start
        for gone, replacement in sorted(edits, key=lambda edit: (edit[0].start, -edit[0].end)):
            if gone.start < position:  # a quoted variable before a column
                continue
            for piece in (self.text_at(Span(position, gone.start)), replacement):
                text += f" {piece}" if run_together(text, piece) else piece
            position = gone.end
        rest = self.text_at(Span(position, span.end))
        return f"{text} {rest}" if run_together(text, rest) else text + rest

    def _respelt_in(self, span: Span) -> tuple[tuple[Span, str], ...]:
        first, end = (
            bisect_left(self.respelt, place, key=lambda edit: edit[0].start)
            for place in (span.start, span.end)
        )
        return self.respelt[first:end]


_NOT_A_FUNCTION = words(
    """
    AND AS ASC AT BETWEEN COLLATE DESC DISTINCT DIV ELSE END ESCAPE FROM ILIKE IN IS LIKE NOT NULLS
    OR REGEXP RLIKE THEN WHEN XOR
    """
)


def is_semantics(analysis: TokenSequence, index: int) -> bool:
    """Whether RUNNING or FINAL stands at `index` before a function, and is no column."""
    return (
        analysis.key(index) in SEMANTICS
        and analysis.key(index - 1) != "."
        and analysis.key(index + 1) not in _NOT_A_FUNCTION
        and analysis.is_call(index + 1)
    )


def unknown_variable(analysis: Analysis, name: Token) -> MatchRecognizeError:
    """The error of a name that must be a pattern variable and is none."""
    scope = analysis.scope
    return errors.unknown_variable(
        name.variable, scope.primary, analysis.clause, name.span, scope.unions
    )


def analyse(text: str, offset: int, scope: Scope) -> Analysis:
    """Tokens and columns of the expression `text`, which starts at `offset` of the query."""
    where = part(scope.clause.value)
    tokens = with_names(read_tokens(text, scope.dialect, offset))
    if not tokens.tokens:
        raise syntax_errors.missing_expression(where, Span(offset, offset + max(1, len(text))))
    columns: dict[int, WrittenColumn] = {}
    analysis = Analysis(
        text,
        tokens.tokens,
        tokens.pairs,
        tokens.sqlglot,
        offset,
        scope.dialect,
        scope=scope,
        columns=columns,
    )
    _refuse_malformed(analysis)
    prefixes = frozenset(i for i in range(len(tokens)) if is_semantics(tokens, i))
    _refuse_misplaced_semantics(analysis, prefixes)
    left_out = frozenset(tokens[i].span.start for i in prefixes)
    for place in find_columns(analysis, left_out, where):
        columns[analysis.index_at[place.span.start]] = place
    return analysis


def _respelt(text: TokenSequence) -> Iterator[tuple[Span, str]]:
    for token in text.tokens:
        if token.key == "?":
            yield token.span, f":{parameter_name(token.span)}"
        elif token.kind is TokenKind.QUOTED and text.text[token.span.start - text.offset] == '"':
            yield token.span, quoted(token.text)


def _refuse_malformed(analysis: Analysis) -> None:
    closed = {*analysis.pairs, *analysis.pairs.values()}
    for index, token in enumerate(analysis.tokens):
        if token.key in CLOSING and index not in closed:
            raise syntax_errors.unexpected_token(token.text, analysis.clause, token.span)
        if token.key == "->" and not _is_in_call(analysis, index):
            raise syntax_errors.unexpected_token(token.text, analysis.clause, token.span)
        if index and _is_split_shift(*analysis.tokens[index - 1 : index + 1]):
            raise syntax_errors.unexpected_token(token.text, analysis.clause, token.span)
        _refuse_double_quotes(analysis, index)
    for index, token in enumerate(analysis.tokens):
        if token.key in OPENING and index not in closed:
            raise syntax_errors.unclosed_bracket(token.text, analysis.clause, token.span)


def _is_split_shift(one: Token, other: Token) -> bool:
    """Whether two signs have a gap between them, which sqlglot would read as one."""
    return one.key == other.key and one.key in ("<", ">") and one.span.end < other.span.start


def _refuse_double_quotes(analysis: Analysis, index: int) -> None:
    """A column, or a qualifier that is no variable, which the dialect reads as a string."""
    token = analysis.tokens[index]
    written = analysis.text_at(token.span)
    if not written.startswith('"') or analysis.scope.dialect.double_quotes is DoubleQuotes.NAME:
        return
    qualifies = analysis.key(index + 1) == "." and token.variable not in analysis.scope.variables
    if qualifies or analysis.key(index - 1) == ".":
        raise errors.column_in_double_quotes(written, analysis.clause, token.span)


def _is_in_call(analysis: Analysis, index: int) -> bool:
    """Whether the innermost bracket around a token is that of a function over one row."""
    name = analysis.around[index] - 1
    return analysis.is_call(name) and analysis.key(name) not in OF_THE_MATCH | AGGREGATES


def _refuse_misplaced_semantics(analysis: Analysis, prefixes: frozenset[int]) -> None:
    for index, token in enumerate(analysis.tokens[:-1]):
        following = analysis.tokens[index + 1]
        if (
            index not in prefixes
            and token.key in SEMANTICS
            and analysis.key(index - 1) not in (".", "AS")
            and following.is_name
            and following.key not in _NOT_A_FUNCTION
        ):
            span = token.span.to(following.span)
            raise errors.semantics_before(token.key, None, analysis.clause, span)


# Text with other pieces in the places of some of its parts.


def with_holes(
    write: Callable[[Span], str], span: Span, holes: Iterable[tuple[Span, Iterable[Piece]]]
) -> tuple[Piece, ...]:
    """The text at `span`, as `write` gives it, with other pieces in the places of `holes`.

    The holes come in order; one that starts inside of another is left out.

    >>> text = "max(x) + 1"
    >>> with_holes(lambda at: text[at.start : at.end], Span(0, 10), [(Span(0, 6), ("y", ""))])
    ('y', ' + 1')
    """
    pieces: list[Piece] = []
    position = span.start
    for hole, inside in holes:
        if hole.start >= position:
            pieces += [write(Span(position, hole.start)), *inside]
            position = hole.end
    pieces.append(write(Span(position, span.end)))
    return set_apart(pieces)
