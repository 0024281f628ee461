"""An expression's tokens and columns side by side, and the text of any part of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from sqlglot import ErrorLevel, Parser, TokenType, exp
from sqlglot import Token as SqlglotToken
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError

from matchrec.errors import MatchRecognizeError
from matchrec.errors.language import part
from matchrec.errors.sql import clause as syntax_errors
from matchrec.errors.sql import expression as errors
from matchrec.frontends.lexing.names import with_names
from matchrec.frontends.lexing.tokens import (
    AGGREGATES,
    CLOSING,
    NAVIGATION,
    OF_THE_MATCH,
    OPENING,
    SEMANTICS,
    SPARK,
    Dialect,
    Token,
    TokenKind,
    TokenSequence,
    frame_at,
    read_tokens,
    renamed,
    words,
)
from matchrec.plan.expression import Piece, set_apart
from matchrec.plan.operations import (
    KEYWORDS,
    NO_OPERATIONS,
    UNREAD,
    Operations,
    named,
    with_constant,
)
from matchrec.plan.text import in_place, parameter_name, quoted, spaced
from matchrec.source import Span


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
    """What an expression may refer to: variables of PATTERN and union variables, normalized.

    dialect: in which it is written.
    """

    clause: ClausePart
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

    @cached_property
    def operations(self) -> tuple[Operations, ...]:
        """What each token does: an operator, or the function that is called there."""
        return operations_of(self)

    def operations_in(self, start: int, end: int) -> Operations:
        """What tokens `start .. end` do."""
        return NO_OPERATIONS.union(*self.operations[start:end])

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
        edits = [(gone, ("",)) for gone in removed]  # of these one may be a quoted variable
        edits += [
            (place, (text,)) for place, text in self.respelt if span.start <= place.start < span.end
        ]
        return "".join(spaced(in_place(self.text_at, span, edits)))


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
        name.span,
        name=name.variable,
        clause=analysis.clause,
        primary=scope.primary,
        unions=scope.unions,
    )


def analyse(text: str, offset: int, scope: Scope) -> Analysis:
    """Tokens and columns of the expression `text`, which starts at `offset` of the query."""
    where = part(scope.clause.value)
    tokens = with_names(read_tokens(text, scope.dialect, offset))
    if not tokens.tokens:
        raise syntax_errors.missing_expression(
            Span(offset, offset + max(1, len(text))), where=where
        )
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


# What of an expression is computed: operators and functions, by the tokens that say so.

_STRUCTURE = words("( ) , . ? : => { } ]")
_BEFORE_NAMES = words(". : AS COLLATE")
_TIGHTER = words("|| [ ::")
"""What makes more than a constant of a constant before it."""


def operations_of(analysis: Analysis) -> tuple[Operations, ...]:
    """For each token what it does; nothing for columns, literals, and what stands in a subquery."""
    found = [NO_OPERATIONS] * len(analysis)
    parameters = _lambda_parameters(analysis)
    index = 0
    while index < len(analysis):
        column = analysis.columns.get(index)
        if column is not None:
            index = analysis.after(index, column.span)
        elif analysis.is_subquery(index):
            found[index] = frozenset({"SELECT"})
            index = analysis.past(index)
        elif analysis.is_call(index) and analysis.key(index) in OF_THE_MATCH:
            is_navigation = analysis.key(index) in NAVIGATION
            index = index + 1 if is_navigation else analysis.past(index + 1)
        else:
            if analysis[index].text not in parameters or analysis.key(index + 1) == "(":
                found[index] = _operation_at(analysis, index)
            index += 1
    return tuple(found)


def _operation_at(analysis: Analysis, index: int) -> Operations:
    token = analysis[index]
    opens = analysis.key(index + 1) == "("
    if token.is_name and opens and token.key not in KEYWORDS:
        return named(token.key) if analysis.is_call(index) else UNREAD
    is_name = token.kind is TokenKind.QUOTED or analysis.key(index - 1) in _BEFORE_NAMES
    if not token.key or token.key in _STRUCTURE or is_name:
        return NO_OPERATIONS
    following = analysis.tokens[index + 1 : index + 2]
    is_whole = analysis.key(index + 2) not in _TIGHTER
    written = [one.text for one in following if one.is_constant and is_whole]
    return frozenset({with_constant(token.key, *written)})


def _lambda_parameters(analysis: Analysis) -> frozenset[str]:
    """The names before the arrows of lambdas."""
    arrows = (index for index, token in enumerate(analysis.tokens) if token.key == "->")
    starts = ((analysis.openings.get(index - 1, index - 1), index) for index in arrows)
    return frozenset(
        analysis[at].text
        for first, last in starts
        for at in range(first, last)
        if analysis[at].is_name
    )


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
        if token.text.upper() == "INTERVAL":
            _refuse_interval_of_parameter(analysis, index)
        _refuse_double_quotes(analysis, index)
    for index, token in enumerate(analysis.tokens):
        if token.key in OPENING and index not in closed:
            raise syntax_errors.unclosed_bracket(
                token.span, opening=token.text, where=analysis.clause
            )


def _refuse_interval_of_parameter(analysis: Analysis, index: int) -> None:
    """`INTERVAL :gap MINUTE`: Spark reads literals there."""
    marker = analysis.tokens[index + 1 : index + 3]
    if marker and marker[0].key in (":", "?") and marker[0].span.start > analysis[index].span.end:
        parameter = "?" if marker[0].key == "?" else "".join(token.text for token in marker)
        raise syntax_errors.interval_of_parameter(
            analysis[index].span, parameter=parameter, where=analysis.clause
        )


def _is_split_shift(left: Token, right: Token) -> bool:
    """Whether two signs have a gap between them, which sqlglot would read as one."""
    return left.key == right.key and left.key in ("<", ">") and left.span.end < right.span.start


def _refuse_double_quotes(analysis: Analysis, index: int) -> None:
    """A column, or a qualifier that is no variable, which the dialect reads as a string."""
    token = analysis.tokens[index]
    written = analysis.text_at(token.span)
    if not written.startswith('"') or analysis.scope.dialect is Dialect.QUOTED_NAMES:
        return
    qualifies = analysis.key(index + 1) == "." and token.variable not in analysis.scope.variables
    if qualifies or analysis.key(index - 1) == ".":
        raise errors.column_in_double_quotes(token.span, clause=analysis.clause, text=written)


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

    >>> text = "max(x) + 1"
    >>> with_holes(lambda at: text[at.start : at.end], Span(0, 10), [(Span(0, 6), ("y", ""))])
    ('y', ' + 1')
    """
    return set_apart(in_place(write, span, holes))


# What the sqlglot parser says of an expression: that it is SQL, where its columns are.
#
# sqlglot is called, never extended: the functions of a match and some others get names that it does
# not know (it drops the offset of `LAST(x, 1)`), RUNNING and FINAL are left out, `{frame}` is a
# name. Only positions are taken from its tree; all text is the user's.


Trees = list[exp.Expr | None]
_STUMBLES = (TokenError, LookupError, AttributeError, TypeError, ValueError, AssertionError)

_ABOUT_ARGUMENTS = re.compile(
    r"number of provided arguments|missing for <class 'sqlglot\.expressions\.(?!core\.)"
)


def sqlglot_parse(parse: Callable[[Parser], Trees]) -> Trees:
    """What `parse` gives with the sqlglot parser.

    How many arguments a function takes is for Spark to say, whose functions sqlglot does not know
    in every version; only its errors of syntax count. On some texts that are no SQL it fails by
    itself.
    """
    try:
        return _parsed(parse, Spark().parser())
    except ParseError as error:
        if not _ABOUT_ARGUMENTS.search(_description(error)):
            raise
        lenient = Spark().parser(error_level=ErrorLevel.IGNORE)
        try:
            trees = _parsed(parse, lenient)
        except ParseError:  # the compiled build, on a tree that lacks a part
            raise error from None
        if lenient.errors:
            raise
        return trees


def _parsed(parse: Callable[[Parser], Trees], parser: Parser) -> Trees:
    """What the parser gives; where it stumbles, such as over `map('a' x)`, that is no SQL."""
    try:
        return parse(parser)
    except _STUMBLES as error:
        raise ParseError("this is no SQL") from error


def stopped_at(error: ParseError, tokens: Sequence[SqlglotToken]) -> SqlglotToken | None:
    """The token at which the parser gave up, or None where it does not say."""
    detail = error.errors[0] if error.errors else {}
    place = (detail.get("line"), detail.get("col"))
    return next((token for token in tokens if (token.line, token.col) == place), None)


def is_unexpected_token(error: ParseError) -> bool:
    """Whether the parser found nothing wrong but the token at which it gave up."""
    return "Unexpected token" in _description(error)


def reason_of(error: ParseError) -> str:
    """What the parser says, without the names of its classes."""
    reason = _description(error)
    if "Required keyword" in reason:
        return "something is missing before the end, or between two operators"
    return reason


def _description(error: ParseError) -> str:
    return str((error.errors[0] if error.errors else {}).get("description") or error)


UNKNOWN_TO_SQLGLOT = OF_THE_MATCH | {"DATE_TRUNC", "PERCENTILE", "TRUNC"}
"""Functions whose names it does not get to see, as it would drop one of their arguments."""


@dataclass(frozen=True, slots=True)
class WrittenColumn:
    """A column in an expression's text. parts: where each of its names stands.

    in_query: it stands in a subquery but is of none of its relations. star: its last part is `*`.
    """

    parts: tuple[Span, ...]
    in_query: bool
    star: bool

    @property
    def span(self) -> Span:
        """From the first name to the last."""
        return self.parts[0].to(self.parts[-1])


def find_columns(
    text: TokenSequence, left_out: frozenset[int], where: str
) -> tuple[WrittenColumn, ...]:
    """The columns of an expression, in order.

    left_out: where RUNNING and FINAL stand that are no columns. where: the clause, for messages.
    """
    known = list(_renamed(text, left_out))
    try:
        trees = sqlglot_parse(lambda parser: parser.parse_into(exp.Condition, known, text.text))
    except ParseError as error:
        raise _unreadable(error, known, text, where) from error
    except RecursionError as error:
        raise syntax_errors.expression_nested_too_deep(text.whole, where=where) from error
    semicolons = [token for token in known if token.token_type is TokenType.SEMICOLON]
    if semicolons or not trees or trees[0] is None:
        unexpected = (semicolons or known)[0]
        first = Span(unexpected.start, unexpected.end + 1).shifted(text.offset)
        raise syntax_errors.unexpected_token(text.text_at(first), where, first)
    places = {place.span.start: place for place in _places(trees[0], text.offset)}
    _refuse_bare_in(trees[0], text, where)
    return tuple(places[start] for start in sorted(places))


def _refuse_bare_in(tree: exp.Expr, text: TokenSequence, where: str) -> None:
    """`x IN y`, which sqlglot reads, and Spark does not."""
    for test in tree.find_all(exp.In):
        value = test.args.get("field")
        if isinstance(value, exp.Column) and "start" in value.parts[0].meta:
            first, last = (value.parts[at].meta for at in (0, -1))
            span = Span(first["start"], last["end"] + 1).shifted(text.offset)
            raise syntax_errors.in_without_parentheses(span, where=where, value=text.text_at(span))


def _renamed(text: TokenSequence, left_out: frozenset[int]) -> Iterator[SqlglotToken]:
    tokens = text.sqlglot
    index = 0
    while index < len(tokens):
        token = tokens[index]
        following = tokens[index + 1].token_type if index + 1 < len(tokens) else None
        if frame := frame_at(tokens, index):
            yield renamed(token, TokenType.VAR, frame, tokens[index + 2].end)
            index += 2
        elif (
            token.text.upper() in UNKNOWN_TO_SQLGLOT
            and following is TokenType.L_PAREN
            and token.token_type is not TokenType.IDENTIFIER
            and not (index and tokens[index - 1].token_type is TokenType.DOT)
        ):
            yield renamed(token, TokenType.VAR, f"__match_{token.text.lower()}")
        elif _names_parameter(tokens, index):
            yield renamed(token, TokenType.VAR, token.text)
        elif token.start + text.offset not in left_out and not _is_all(tokens, index):
            yield token
        index += 1


def _names_parameter(tokens: Sequence[SqlglotToken], index: int) -> bool:
    """The name of a parameter marker, `:end`, also where it is a keyword; no type of a field."""
    colon = tokens[index - 1] if index else None
    if colon is None or colon.token_type is not TokenType.COLON:
        return False
    before = tokens[index - 2] if index > 1 else None
    of_field = before is not None and (
        before.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
        or (before.end + 1 == colon.start and before.text.isidentifier())
    )
    return not of_field and tokens[index].text.isidentifier()


def _is_all(tokens: Sequence[SqlglotToken], index: int) -> bool:
    """ALL of `count(ALL x)`, which sqlglot did not always know."""
    opened = index > 0 and tokens[index - 1].token_type is TokenType.L_PAREN
    return opened and tokens[index].token_type is TokenType.ALL


def _places(tree: exp.Expr, offset: int) -> Iterator[WrittenColumn]:
    relations = _relations_around(tree)
    for column in tree.find_all(exp.Column):
        parts = tuple(
            Span(part.meta["start"], part.meta["end"] + 1).shifted(offset)
            for part in column.parts
            if "start" in part.meta
        )
        names = relations.get(id(column))
        if parts and (names is None or not _is_of_its_query(column, names)):
            yield WrittenColumn(parts, names is not None, isinstance(column.this, exp.Star))


def _relations_around(tree: exp.Expr) -> dict[int, frozenset[str]]:
    """The relations in the outermost subquery around each column that stands in one, by its id."""
    found: dict[int, frozenset[str]] = {}
    for query in tree.find_all(exp.Query, bfs=True):  # outer ones come first
        inside = [id(column) for column in query.find_all(exp.Column)]
        if any(column not in found for column in inside):
            relations = query.find_all(exp.Table, exp.Query)
            names = frozenset(relation.alias_or_name.upper() for relation in relations)
            found = dict.fromkeys(inside, names) | found
    return found


def _is_of_its_query(column: exp.Column, relations: frozenset[str]) -> bool:
    """Whether a column in a subquery has no qualifier, or that of one of the query's relations."""
    return len(column.parts) == 1 or column.parts[0].name.upper() in relations


def _unreadable(
    error: ParseError, known: Sequence[SqlglotToken], text: TokenSequence, where: str
) -> MatchRecognizeError:
    """The sqlglot parser's complaint, at the token where it gave up."""
    token = stopped_at(error, known)
    if token is None:
        return syntax_errors.unreadable_expression(text.whole, where=where, reason=reason_of(error))
    span = Span(token.start, token.end + 1).shifted(text.offset)
    if is_unexpected_token(error):
        return syntax_errors.unexpected_token(text.text_at(span), where, span)
    return syntax_errors.unreadable_expression(span, where=where, reason=reason_of(error))
