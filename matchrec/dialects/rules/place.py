"""What rules may ask: the kinds of expressions, and where one stands; marks that pass sqlglot."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache
from typing import Any, TypeVar, get_type_hints

from sqlglot import Token, TokenType, exp

from matchrec.dialects.edits import Edit, Note, edited
from matchrec.dialects.products import Product
from matchrec.plan.clauses import RowsPerMatch
from matchrec.source import Span, read_table
from matchrec.syntax.expressions.reader import ClausePart
from matchrec.syntax.nodes import MatchRecognize
from matchrec.syntax.tokens import OF_THE_MATCH, SEMANTICS, TokenSequence, sequence_of

N = TypeVar("N", bound=exp.Expr)

UNLIKE = "unlike"  # the mark of what both products read, and understand otherwise

# The kind of a column where it stands, None where it is not known.
Columns = Callable[[exp.Column], "Domain | None"]


class Domain(Enum):
    """What a value is; a difference is of two timestamps: an interval, or a number of days."""

    INTEGER = "integer"
    FRACTION = "number with a fraction"
    DECIMAL = "decimal"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMP_NTZ = "timestamp without time zone"
    INTERVAL = "interval"
    DIFFERENCE = "difference of timestamps"
    TEXT = "text"
    OTHER = "other"


NUMBERS = frozenset({Domain.INTEGER, Domain.FRACTION, Domain.DECIMAL})
_BY_WEIGHT = (Domain.FRACTION, Domain.DECIMAL, Domain.INTEGER)  # what a number and another one give
TIMESTAMPS = frozenset({Domain.TIMESTAMP, Domain.TIMESTAMP_NTZ})
TIMES = TIMESTAMPS | {Domain.DATE}

_ROWS = read_table("matchrec.dialects.rules", "kinds.txt")

# The names of kinds of what calls give, or SAME: what their operand is.
_OF_CALLS = {call: kind for kind, calls in _ROWS for call in calls.split()}

_DECIMALS = {exp.DType.DECIMAL, exp.DType.BIGDECIMAL, exp.DType.MONEY, exp.DType.SMALLMONEY}
_OF_TYPES = (
    (exp.DataType.INTEGER_TYPES, Domain.INTEGER),
    (_DECIMALS, Domain.DECIMAL),
    (exp.DataType.REAL_TYPES - _DECIMALS, Domain.FRACTION),
    (exp.DataType.TEXT_TYPES, Domain.TEXT),
    ({exp.DType.DATE}, Domain.DATE),
    ({exp.DType.INTERVAL}, Domain.INTERVAL),
    ({exp.DType.TIMESTAMPNTZ, exp.DType.DATETIME}, Domain.TIMESTAMP_NTZ),
    (exp.DataType.TEMPORAL_TYPES - {exp.DType.TIME, exp.DType.TIMETZ}, Domain.TIMESTAMP),
)


def kind_of_type(type_: exp.DataType) -> Domain:
    if isinstance(type_.this, exp.Interval):
        return Domain.INTERVAL
    return next((kind for types, kind in _OF_TYPES if type_.this in types), Domain.OTHER)


def kind_named(name: str) -> Domain:
    """The kind of a type by the name that Spark has for it."""
    word = re.split(r"\W", name, maxsplit=1)[0]
    return kind_of_type(exp.DataType.build(word, dialect="spark", udt=True))


def kind_of(node: exp.Expr | None, columns: Columns) -> Domain | None:
    match node:
        case exp.Column():
            return columns(node)
        case exp.Literal():
            if node.is_string:
                return Domain.TEXT
            if node.name.isdigit():
                return Domain.INTEGER
            return Domain.FRACTION if "E" in node.name.upper() else Domain.DECIMAL
        case exp.Cast():
            return kind_of_type(node.to)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.IntDiv() | exp.Mod():
            return _of_arithmetic(node, columns)
        case exp.Coalesce() | exp.If() | exp.Case() | exp.Greatest() | exp.Least():
            found = (kind_of(result, columns) for result in _results(node))
            return next(filter(None, found), None)
        case exp.Predicate():
            return Domain.OTHER
        case exp.Anonymous():
            name, operand = name_of(node) or function_name(node), next(iter(node.expressions), None)
        case exp.Expr():
            name, operand = type(node).__name__, node.this
        case _:
            return None
    kind = _OF_CALLS.get(name)
    return kind_of(operand, columns) if kind == "SAME" else Domain[kind] if kind else None


def _of_arithmetic(node: exp.Expr, columns: Columns) -> Domain | None:
    """Of two numbers, a number; otherwise the kind of what is moved, or of what lies between."""
    left, right = kind_of(node.this, columns), kind_of(node.expression, columns)
    if left in NUMBERS and right in NUMBERS:
        if {left, right} == {Domain.INTEGER} and isinstance(node, exp.Div):
            return Domain.FRACTION
        return next(kind for kind in _BY_WEIGHT if kind in (left, right))
    if left in TIMES and right in TIMES:
        return Domain.DIFFERENCE
    if left is None or right is None:
        return None
    return right if left in NUMBERS else left


def _results(node: exp.Expr) -> list[exp.Expr]:
    match node:
        case exp.Case():
            found = [branch.args["true"] for branch in node.args["ifs"]]
            return [*found, *filter(None, [node.args.get("default")])]
        case exp.If():
            return [*filter(None, [node.args["true"], node.args.get("false")])]
    return [node.this, *node.expressions]


Kinds = Mapping[str, Domain]  # the kinds of columns by their names in lower case

# Whether something has a column, and of which kind it is; None where that is not known.
FoundColumn = tuple[bool | None, Domain | None]

# The columns of a table by its name as Spark writes it, None where they are not known.
Tables = Callable[[str], Kinds | None]


def no_tables(_: str) -> None:
    """Of a text that no session reads, no table is known."""


@dataclass(frozen=True, slots=True)
class ClauseKinds:
    """The columns of a clause's input, and those of its rows; None where they are not known."""

    inputs: Kinds | None = None
    outputs: Kinds | None = None


@dataclass(frozen=True, slots=True)
class KnownColumns:
    """What an expression may name.

    inputs: gives those of the clause in which it stands; None outside of clauses. sources: the
    columns of relations outside, by the names that these have in FROM. tables: of all others.
    missed: columns whose kinds were asked for and are not known.
    """

    inputs: Callable[[], Kinds] | None = None
    sources: Mapping[str, Kinds] = field(default_factory=dict)
    tables: Tables = no_tables
    missed: list[str] = field(default_factory=list)

    def kind(self, column: exp.Column) -> Domain | None:
        """The kind of a column; one that is not known is noted."""
        if (found := self._known(column)) is None:
            self.missed.append(column.name)
        return found

    def has(self, select: exp.Select, name: str) -> bool | None:
        """Whether something that a query reads has a column of this name, None if not known."""
        is_there, _ = self._in_query(select, name.lower())
        if is_there is None:
            self.missed.append(name)
        return is_there

    def _known(self, column: exp.Column) -> Domain | None:
        if self.inputs is not None:
            return self.inputs().get(column.name.lower())
        select = column.find_ancestor(exp.Select)
        return None if select is None else self._in_query(select, column.name.lower())[1]

    def _in_query(self, select: exp.Select, name: str) -> FoundColumn:
        """A column of what a query reads; its kind, if all that have it agree."""
        relations = filter(None, (select.args.get("from_"), *select.args.get("joins", ())))
        found = [self._in_relation(relation.this, name) for relation in relations]
        there = [is_there for is_there, _ in found]
        kinds = {kind for is_there, kind in found if is_there is not False}
        is_there = True if True in there else None if None in there else False
        return is_there, kinds.pop() if len(kinds) == 1 else None

    def _in_relation(self, relation: exp.Expr, name: str) -> FoundColumn:
        named = relation if isinstance(relation, exp.Subquery) else _named_query(relation)
        names = relation.alias_column_names or (named.alias_column_names if named else [])
        if names:
            return name in map(str.lower, names), None
        query = None if named is None else named.this  # of a union, the first one
        while isinstance(query, exp.SetOperation):
            query = query.this
        if isinstance(query, exp.Select):
            for item in query.expressions:
                if item.alias_or_name.lower() == name:
                    return True, kind_of(item.unalias(), self._known)
            return self._in_query(query, name) if query.is_star else (False, None)
        kinds = self.sources.get(relation.name) if query is None else None
        match relation:
            case exp.Table(this=exp.Identifier()) if query is None and kinds is None:
                kinds = self.tables(exp.table_name(relation, "spark", identify=True))
        return (None, None) if kinds is None else (name in kinds, kinds.get(name))


def _named_query(relation: exp.Expr) -> exp.CTE | None:
    """What WITH has given the name of a relation."""
    inside: exp.CTE | None = relation.find_ancestor(exp.CTE)
    scope = relation.find_ancestor(exp.Query)
    while scope is not None and not relation.args.get("db"):
        for cte in scope.ctes:
            if cte is inside:  # which knows those before it, not itself
                inside = inside.find_ancestor(exp.CTE)
                break
            if cte.alias.lower() == relation.name.lower():
                found: exp.CTE = cte
                return found
        scope = scope.find_ancestor(exp.Query)
    return None


# Marks on what sqlglot does not know, drops or takes for others, while it has a fragment.
#
# Functions of row patterns, and pattern variables that are words of SQL: `START.price`.

MARK = "ROW_PATTERN_FUNCTION_"
VARIABLE = "ROW_PATTERN_VARIABLE_"


def marked(node: N, mark: str) -> N:
    """The node with a mark that rules after this one see."""
    node.meta[mark] = True
    return node


def called(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of a function of row patterns."""
    return exp.Anonymous(this=MARK + name, expressions=list(arguments))


def plain_call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of a function of Spark's that sqlglot is to write as it is."""
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def name_of(node: exp.Expr) -> str | None:
    """The name of the function of row patterns that a node calls, or None."""
    name = function_name(node)
    return name.removeprefix(MARK) if name.startswith(MARK) else None


def function_name(node: exp.Expr) -> str:
    """The name, in upper case, of a function that sqlglot does not know; else nothing."""
    return str(node.this).upper() if isinstance(node, exp.Anonymous) else ""


def has_semantics(node: exp.Expr) -> bool:
    """Whether RUNNING or FINAL stands before it."""
    return node.parent is not None and name_of(node.parent) in SEMANTICS


Functions = Mapping[str, str] | None


def masked(text: str, tokens: Sequence[Token], functions: Functions) -> str:
    """The text with marks on functions of row patterns; RUNNING and FINAL become calls.

    tokens: of the text. functions: as a product knows them, by the names that rules have for them;
    None outside of clauses, where RUNNING and FINAL are names.
    """
    keywords = {one.start for one in tokens if one.token_type is not TokenType.VAR}
    return edited(text, _marks(sequence_of(tokens, text), keywords, functions)).text


def _marks(tokens: TokenSequence, keywords: Set[int], functions: Functions) -> Iterator[Edit]:
    semantics = SEMANTICS if functions is not None else frozenset()
    functions = functions or {}
    for index, token in enumerate(tokens.tokens):
        word, opening = token.key, index + 2
        closing = tokens.pairs.get(opening) if tokens.key(opening) == "(" else None
        if tokens.is_call(index) and (word in OF_THE_MATCH or word in functions):
            yield Edit(token.span, MARK + functions.get(word, word))
        elif tokens.key(index - 1) == ".":
            continue
        elif token.is_word and tokens.key(index + 1) == "." and token.span.start in keywords:
            yield Edit(token.span, VARIABLE + token.text)
        elif word in semantics and closing is not None:
            end = tokens[closing].span.end
            yield Edit(Span(token.span.start, tokens[index + 1].span.start), f"{MARK}{word}(")
            yield Edit(Span(end, end), ")")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an expression stands, and for which product it is written.

    clause, part: None outside of clauses. quoted: names of variables that must stand in quotes,
    each as it was written. remarks: of rules, in the order in which they were made, with no span.
    """

    read: Product
    write: Product
    clause: MatchRecognize | None = None
    part: ClausePart | None = None
    columns: KnownColumns = field(default_factory=KnownColumns)
    quoted: Mapping[str, str] = field(default_factory=dict)
    remarks: list[Note] = field(default_factory=list)

    @property
    def is_measure(self) -> bool:
        return self.part is ClausePart.MEASURES

    @property
    def is_condition(self) -> bool:
        return self.part is ClausePart.DEFINE

    @property
    def is_seen_from_rows(self) -> bool:
        """Whether it is a measure of every row of a match, not of the match."""
        one_row = self.clause is None or self.clause.rows_per_match in (None, RowsPerMatch.ONE_ROW)
        return self.is_measure and not one_row

    @property
    def order(self) -> str | None:
        """The first key by which the clause orders."""
        keys = self.clause.order_by if self.clause else ()
        return keys[0].expression.text if keys else None

    def within(self, part: ClausePart) -> Place:
        """The place of an expression in a part of the clause, with no remarks yet."""
        return replace(self, part=part, remarks=[])

    def kind(self, node: exp.Expr) -> Domain | None:
        """The kind of an expression; what is missing for it is noted."""
        return kind_of(node, self.columns.kind)

    def remark(self, message: str, *, is_met: bool = False) -> None:
        self.remarks.append(Note(message, Span(0, 0), is_met))


# Rewrites a node of the class that its first parameter names; it may come back as it is.
Rule = Callable[[Any, Place], exp.Expr]


@cache
def nodes_of(rule: Rule) -> Any:
    """The class of nodes that a rule is about, or several."""
    return next(iter(get_type_hints(rule).values()))
