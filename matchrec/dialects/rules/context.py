"""The context of a rule: where its expression is, and the kind of its values.

- `find_kind` returns the kind of an expression's values, if the kinds of its columns are known.
- `VisibleColumns` finds the kind of a column in the relations that its query reads.
- `mask_functions` renames functions and variables that sqlglot does not know, would drop, or would
  read as something else.
- `RuleContext` says where an expression is. Rules add what they find out to its `findings`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache
from typing import Any, TypeVar, get_type_hints

from sqlglot import Token, TokenType, exp

from matchrec.dialects.edits import Edit, Note, apply_edits
from matchrec.dialects.products import Product
from matchrec.plan.clauses import RowsPerMatch
from matchrec.source import Span, read_table
from matchrec.syntax.expressions.reader import ClausePart
from matchrec.syntax.nodes import MatchRecognize
from matchrec.syntax.tokens import FUNCTIONS_OF_MATCH, SEMANTICS, TokenSequence, make_sequence

Node = TypeVar("Node", bound=exp.Expr)

# A mark on nodes that both products read, but understand differently.
DIFFERS = "differs"

# Returns the kind of a column, given the node that names the column; None if it is not known.
ColumnLookup = Callable[[exp.Column], "ValueKind | None"]


class ValueKind(Enum):
    """A kind of values: types that rules treat alike."""

    INTEGER = "integer"
    FRACTION = "number with a fraction"
    DECIMAL = "decimal"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMP_NTZ = "timestamp without time zone"
    INTERVAL = "interval"
    # An interval or a number of days: products disagree on what `t - u` of two timestamps is.
    DIFFERENCE = "difference of timestamps"
    TEXT = "text"
    OTHER = "other"


NUMBERS = frozenset({ValueKind.INTEGER, ValueKind.FRACTION, ValueKind.DECIMAL})
TIMESTAMPS = frozenset({ValueKind.TIMESTAMP, ValueKind.TIMESTAMP_NTZ})
TIMES = TIMESTAMPS | {ValueKind.DATE}

# Intervals, and what may be one.
_DURATIONS = frozenset({ValueKind.INTERVAL, ValueKind.DIFFERENCE})

# The kind of an operation on two numbers is the first of these that one of its operands has.
_WIDEST_FIRST = (ValueKind.FRACTION, ValueKind.DECIMAL, ValueKind.INTEGER)

# Kinds that a UNION changes if the values of another query have a wider kind.
_WIDENED = frozenset(
    {ValueKind.INTEGER, ValueKind.DECIMAL, ValueKind.DATE, ValueKind.TIMESTAMP_NTZ}
)

# The entry in `kinds.txt` for a call whose result has the kind of its first operand.
_SAME_AS_OPERAND = "SAME"

# The name of the kind of each call's result. A call is named by sqlglot's class, or by the
# function's name if sqlglot does not know it.
_KIND_NAMES_OF_CALLS = {
    call: kind
    for kind, calls in read_table("matchrec.dialects.rules", "kinds.txt")
    for call in calls.split()
}

_DECIMALS = {exp.DType.DECIMAL, exp.DType.BIGDECIMAL, exp.DType.MONEY, exp.DType.SMALLMONEY}
_KINDS_OF_TYPES = (
    (exp.DataType.INTEGER_TYPES, ValueKind.INTEGER),
    (_DECIMALS, ValueKind.DECIMAL),
    (exp.DataType.REAL_TYPES - _DECIMALS, ValueKind.FRACTION),
    (exp.DataType.TEXT_TYPES, ValueKind.TEXT),
    ({exp.DType.DATE}, ValueKind.DATE),
    ({exp.DType.INTERVAL}, ValueKind.INTERVAL),
    ({exp.DType.TIMESTAMPNTZ, exp.DType.DATETIME}, ValueKind.TIMESTAMP_NTZ),
    (exp.DataType.TEMPORAL_TYPES - {exp.DType.TIME, exp.DType.TIMETZ}, ValueKind.TIMESTAMP),
)


def find_kind_of_type(type_: exp.DataType) -> ValueKind:
    """Return the kind of a type's values."""
    if isinstance(type_.this, exp.Interval):
        return ValueKind.INTERVAL
    for types, kind in _KINDS_OF_TYPES:
        if type_.this in types:
            return kind
    return ValueKind.OTHER


def find_kind_of_type_name(name: str) -> ValueKind:
    """Return the kind of a type, given its name in Spark, such as `decimal(10,2)`."""
    word = re.split(r"\W", name, maxsplit=1)[0]
    return find_kind_of_type(exp.DataType.build(word, dialect="spark", udt=True))


def find_kind(node: exp.Expr | None, look_up: ColumnLookup) -> ValueKind | None:
    """Return the kind of an expression; None if it is not known.

    Args:
        node: the expression.
        look_up: returns the kinds of the columns in it.
    """
    match node:
        case exp.Column():
            return look_up(node)
        case exp.Literal():
            return _find_kind_of_literal(node)
        case exp.Cast():
            return find_kind_of_type(node.to)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.IntDiv() | exp.Mod():
            return _find_kind_of_arithmetic(node, look_up)
        case exp.Coalesce() | exp.If() | exp.Case() | exp.Greatest() | exp.Least():
            return _find_kind_of_alternatives(_list_alternatives(node), look_up)
        case exp.Lag() | exp.Lead():
            return _find_kind_of_alternatives(_list_alternatives(node), look_up)
        case exp.Anonymous(this=str(name)) if name.upper() == "MOD":
            return _find_kind_of_alternatives(node.expressions, look_up)
        case exp.Predicate():
            return ValueKind.OTHER
        case exp.Anonymous():
            name = find_pattern_function(node) or find_function_name(node)
            operand = node.expressions[0] if node.expressions else None
        case exp.Expr():
            name = type(node).__name__
            operand = node.this
        case _:
            return None
    kind_name = _KIND_NAMES_OF_CALLS.get(name)
    if kind_name == _SAME_AS_OPERAND:
        return find_kind(operand, look_up)
    return ValueKind[kind_name] if kind_name else None


def _find_kind_of_literal(node: exp.Literal) -> ValueKind:
    """Return the kind of a string or a number: `1.5` is a decimal, `1.5E0` is not."""
    if node.is_string:
        return ValueKind.TEXT
    if node.name.isdigit():
        return ValueKind.INTEGER
    return ValueKind.FRACTION if "E" in node.name.upper() else ValueKind.DECIMAL


def _find_kind_of_arithmetic(node: exp.Expr, look_up: ColumnLookup) -> ValueKind | None:
    """Return the kind of a sum, difference, product, quotient or remainder; None if not known.

        number and number               the wider number; a fraction for `/` of two integers
        time - time                     DIFFERENCE
        time + duration, duration + time, time - duration
                                        the time
        time + number, number + time, time - number
                                        the time, moved by days; a date and a fraction of days
                                        give a timestamp
        duration + duration, duration - duration
                                        the duration; DIFFERENCE if one of them is
        duration * number, number * duration, duration / number
                                        the duration

    A duration is an INTERVAL or a DIFFERENCE. The kinds of all other pairs are not known.
    """
    left = find_kind(node.this, look_up)
    right = find_kind(node.expression, look_up)
    if left is None or right is None:
        return None
    if left in NUMBERS and right in NUMBERS:
        if left is right is ValueKind.INTEGER and isinstance(node, exp.Div):
            return ValueKind.FRACTION
        return _combine_kinds({left, right})
    match node:
        case exp.Sub() if left in TIMES and right in TIMES:
            return ValueKind.DIFFERENCE
        case exp.Add() | exp.Sub() if left in TIMES:
            return _find_kind_of_moved_time(left, right)
        case exp.Add() if right in TIMES:
            return _find_kind_of_moved_time(right, left)
        case exp.Add() | exp.Sub() if left in _DURATIONS and right in _DURATIONS:
            return left if left is right else ValueKind.DIFFERENCE
        case exp.Mul() | exp.Div() if left in _DURATIONS and right in NUMBERS:
            return left
        case exp.Mul() if left in NUMBERS and right in _DURATIONS:
            return right
    return None


def _find_kind_of_moved_time(time: ValueKind, shift: ValueKind) -> ValueKind | None:
    """Return the kind of a time that is moved by a duration or by a number of days."""
    if shift in _DURATIONS:
        return time
    if shift not in NUMBERS:
        return None
    if time is ValueKind.DATE and shift is not ValueKind.INTEGER:
        return ValueKind.TIMESTAMP
    return time


def _find_kind_of_alternatives(
    alternatives: Sequence[exp.Expr], look_up: ColumnLookup
) -> ValueKind | None:
    """Return the kind of an expression whose value is one of several; None if it is not known.

    A NULL does not count, because it takes the type of the other alternatives.
    """
    values = [value for value in alternatives if not isinstance(value.unnest(), exp.Null)]
    return _combine_kinds({find_kind(value, look_up) for value in values})


def _combine_kinds(kinds: Set[ValueKind | None]) -> ValueKind | None:
    """Return the kind that values of several kinds have in common; None if it is not known.

    This is the widest kind of numbers. A date and a timestamp are both timestamps.
    """
    if len(kinds) == 1:
        return next(iter(kinds))
    if kinds and kinds <= NUMBERS:
        return next(kind for kind in _WIDEST_FIRST if kind in kinds)
    timestamps = kinds - {ValueKind.DATE}
    if len(timestamps) == 1 and timestamps <= TIMESTAMPS:
        return next(iter(timestamps))
    return None


def _list_alternatives(node: exp.Expr) -> list[exp.Expr]:
    """Return the possible values of CASE, IF, COALESCE, GREATEST, LEAST, LAG or LEAD."""
    match node:
        case exp.Case():
            results = [branch.args["true"] for branch in node.args["ifs"]]
            results.append(node.args.get("default"))
        case exp.If():
            results = [node.args["true"], node.args.get("false")]
        case exp.Lag() | exp.Lead():
            results = [node.this, node.args.get("default")]
        case _:
            return [node.this, *node.expressions]
    return [result for result in results if result]


# The kinds of columns, by their names in lower case.
ColumnKinds = Mapping[str, ValueKind]

# Whether a relation has a column, and the column's kind. Each is None if it is not known.
ColumnSearch = tuple[bool | None, ValueKind | None]

# Returns the columns of a table, given its name as Spark writes it; None if they are not known.
TableLookup = Callable[[str], ColumnKinds | None]


def find_no_table(_: str) -> None:
    """Return None for every table, because there is no session that could look it up."""


@dataclass(frozen=True, slots=True)
class ClauseKinds:
    """The kinds of the columns around a clause."""

    # The columns of its input; None if they are not known.
    inputs: ColumnKinds | None = None
    # The columns of its result; None if they are not known.
    outputs: ColumnKinds | None = None


@dataclass(frozen=True, slots=True)
class VisibleColumns:
    """The columns that an expression can name."""

    # Returns the columns of the clause's input. None if the expression is in no clause.
    inputs: Callable[[], ColumnKinds] | None = None
    # The columns of the results of clauses, by the names that stand for the clauses in FROM.
    sources: Mapping[str, ColumnKinds] = field(default_factory=dict)
    # Looks up the columns of all other tables.
    tables: TableLookup = find_no_table

    def has_column(self, select: exp.Select, name: str) -> bool | None:
        """Return whether a relation that a query reads has a column of this name.

        None if that is not known.
        """
        exists, _ = self._search_query(select, name.lower())
        return exists

    def find_kind(self, column: exp.Column) -> ValueKind | None:
        """Return the kind of a column; None if it is not known."""
        name = column.name.lower()
        if self.inputs is not None:
            return self.inputs().get(name)
        select = column.find_ancestor(exp.Select)
        if select is None:
            return None
        _, kind = self._search_query(select, name)
        return kind

    def _search_query(self, select: exp.Select, name: str) -> ColumnSearch:
        """Search the relations that a query reads for a column.

        The kind is only known if all relations that have the column, or may have it, agree.
        """
        clauses = [select.args.get("from_"), *select.args.get("joins", ())]
        searches = [self._search_relation(clause.this, name) for clause in clauses if clause]
        kinds = {kind for exists, kind in searches if exists is not False}
        answers = [exists for exists, _ in searches]
        exists: bool | None = False
        if True in answers:
            exists = True
        elif None in answers:
            exists = None
        return exists, kinds.pop() if len(kinds) == 1 else None

    def _search_relation(self, relation: exp.Expr, name: str) -> ColumnSearch:
        """Search a table or subquery of FROM for a column."""
        queries, column_names = _find_queries(relation)
        if column_names:
            return name in column_names, None
        if not queries:
            kinds = self._find_columns_of_table(relation)
            return (None, None) if kinds is None else (name in kinds, kinds.get(name))
        query = queries[0]
        if not isinstance(query, exp.Select):
            return None, None
        for index, item in enumerate(query.expressions):
            if item.alias_or_name.lower() == name:
                kind = find_kind(item.unalias(), self.find_kind)
                return True, self._widen_kind(kind, queries[1:], index)
        if not query.is_star:
            return False, None
        exists, kind = self._search_query(query, name)
        return exists, self._widen_kind(kind, queries[1:], None)

    def _widen_kind(
        self, kind: ValueKind | None, queries: Sequence[exp.Expr], index: int | None
    ) -> ValueKind | None:
        """Return the kind of a column of a UNION; None if it is not known.

        Queries in which the column is not known do not count if the kind cannot be widened.

        Args:
            kind: the kind of the column in the first query.
            queries: the other queries.
            index: the index of the column in each query; None if it comes from `*`.
        """
        kinds = {kind}
        for query in queries:
            items: list[exp.Expr] = []
            if isinstance(query, exp.Select) and not query.is_star and index is not None:
                items = query.expressions[index : index + 1]
            if items and isinstance(items[0].unalias(), exp.Null):
                continue
            kinds.add(find_kind(items[0].unalias(), self.find_kind) if items else None)
        widest = _combine_kinds(kinds - {None})
        return None if None in kinds and widest in _WIDENED else widest

    def _find_columns_of_table(self, relation: exp.Expr) -> ColumnKinds | None:
        """Return the columns of a clause's result or of a table; None if they are not known."""
        kinds = self.sources.get(relation.name)
        if kinds is not None:
            return kinds
        if isinstance(relation, exp.Table) and isinstance(relation.this, exp.Identifier):
            return self.tables(exp.table_name(relation, "spark", identify=True))
        return None


def _find_queries(relation: exp.Expr) -> tuple[list[exp.Expr], list[str]]:
    """Return the queries of a subquery or of a name that WITH defines, and its column names.

    There are several queries if it is a UNION, whose columns have the names of the first query's,
    and none if the relation is neither a subquery nor a name that WITH defines. Queries that read
    the name itself are left out: a recursion has the types of the query that it starts with.

    The names come from a list as in `AS t (a, b)` and are in lower case; without a list there are
    none.
    """
    definition = relation if isinstance(relation, exp.Subquery) else _find_definition(relation)
    column_names = relation.alias_column_names
    if not column_names and definition is not None:
        column_names = definition.alias_column_names
    queries = [] if definition is None else list(_list_queries_of_union(definition.this))
    if isinstance(definition, exp.CTE):
        own_name = definition.alias.lower()
        queries = [
            query for query in queries if query is queries[0] or not _reads_table(query, own_name)
        ]
    return queries, [column_name.lower() for column_name in column_names]


def _list_queries_of_union(query: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the queries that a UNION, INTERSECT or EXCEPT combines; else the query itself."""
    if isinstance(query, exp.SetOperation):
        yield from _list_queries_of_union(query.this)
        yield from _list_queries_of_union(query.expression)
    else:
        yield query


def _reads_table(query: exp.Expr, name: str) -> bool:
    """Return whether a query reads a table of this name, which is in lower case."""
    tables = query.find_all(exp.Table)
    return any(table.name.lower() == name and not table.db for table in tables)


def _find_definition(relation: exp.Expr) -> exp.CTE | None:
    """Return the definition in WITH of the name of a relation; None if there is none."""
    inside: exp.CTE | None = relation.find_ancestor(exp.CTE)
    scope = relation.find_ancestor(exp.Query)
    while scope is not None and not relation.args.get("db"):
        for cte in scope.ctes:
            if cte is inside:  # a definition knows those before it, but not itself
                inside = inside.find_ancestor(exp.CTE)
                break
            if cte.alias.lower() == relation.name.lower():
                definition: exp.CTE = cte
                return definition
        scope = scope.find_ancestor(exp.Query)
    return None


# Prefixes that a name has while sqlglot reads a fragment, because without them sqlglot would not
# know, would drop or would misread it: `LAST(x, 1)` loses its offset in Spark's dialect.

# The prefix of functions of row patterns.
FUNCTION_PREFIX = "ROW_PATTERN_FUNCTION_"

# The prefix of pattern variables that are keywords of SQL, as in `START.price`.
VARIABLE_PREFIX = "ROW_PATTERN_VARIABLE_"


def mark_node(node: Node, mark: str) -> Node:
    """Mark a node for later rules, and return it."""
    node.meta[mark] = True
    return node


def call_pattern_function(name: str, *arguments: exp.Expr) -> exp.Expr:
    """Return a call of a function of row patterns."""
    return exp.Anonymous(this=FUNCTION_PREFIX + name, expressions=list(arguments))


def call_function(name: str, *arguments: exp.Expr) -> exp.Expr:
    """Return a call of a function of Spark that sqlglot writes as it is, with copied arguments."""
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def find_pattern_function(node: exp.Expr) -> str | None:
    """Return the name of the function of row patterns that a node calls; None if it calls none."""
    name = find_function_name(node)
    return name.removeprefix(FUNCTION_PREFIX) if name.startswith(FUNCTION_PREFIX) else None


def find_function_name(node: exp.Expr) -> str:
    """Return the name of a function that sqlglot does not know, in upper case; "" for others."""
    return str(node.this).upper() if isinstance(node, exp.Anonymous) else ""


def has_semantics(node: exp.Expr) -> bool:
    """Return whether a node is the operand of RUNNING or FINAL."""
    return node.parent is not None and find_pattern_function(node.parent) in SEMANTICS


# The functions of row patterns of a product, each with the name by which the rules know it. None
# outside of clauses, where RUNNING and FINAL are ordinary names.
FunctionMapping = Mapping[str, str] | None


def mask_functions(text: str, tokens: Sequence[Token], functions: FunctionMapping) -> str:
    """Return a text in which functions of row patterns have a prefix.

    RUNNING and FINAL become calls, too, and variables that are keywords get their prefix:

        FINAL LAST(START.x)
        ROW_PATTERN_FUNCTION_FINAL(ROW_PATTERN_FUNCTION_LAST(ROW_PATTERN_VARIABLE_START.x))

    Args:
        text: the fragment.
        tokens: its tokens.
        functions: the functions of the product that is read.
    """
    keywords = {token.start for token in tokens if token.token_type is not TokenType.VAR}
    edits = _find_masking_edits(make_sequence(tokens, text), keywords, functions)
    return apply_edits(text, edits).text


def _find_masking_edits(
    tokens: TokenSequence, keywords: Set[int], functions: FunctionMapping
) -> Iterator[Edit]:
    """Yield the edits that add prefixes.

    Args:
        tokens: the tokens of the fragment.
        keywords: the offsets at which a token starts that sqlglot does not read as a plain name.
        functions: the functions of the product that is read.
    """
    semantics = SEMANTICS if functions is not None else frozenset()
    functions = functions or {}
    for index, token in enumerate(tokens.tokens):
        word = token.key
        opening = index + 2  # of `(` in `FINAL LAST(x)`
        closing = tokens.pairs.get(opening) if tokens.key(opening) == "(" else None
        if tokens.is_call(index) and (word in FUNCTIONS_OF_MATCH or word in functions):
            yield Edit(token.span, FUNCTION_PREFIX + functions.get(word, word))
        elif tokens.key(index - 1) == ".":
            continue
        elif token.is_word and tokens.key(index + 1) == "." and token.span.start in keywords:
            yield Edit(token.span, VARIABLE_PREFIX + token.text)
        elif word in semantics and closing is not None:
            end = tokens[closing].span.end
            until_operand = Span(token.span.start, tokens[index + 1].span.start)
            yield Edit(until_operand, f"{FUNCTION_PREFIX}{word}(")
            yield Edit(Span(end, end), ")")


@dataclass(frozen=True, slots=True)
class RuleFindings:
    """What rules find out while they rewrite one fragment. `translate_fragment` returns it."""

    # What rules remark on, in the order of their remarks. The spans are filled in later.
    remarks: list[Note] = field(default_factory=list)
    # The names of columns whose kinds rules needed, but that are not known, in the order of need.
    untyped_columns: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RuleContext:
    """Where an expression is, and which products read and write it."""

    # The product whose SQL the expression is.
    read: Product
    # The product for which it is written.
    write: Product
    # The clause and the part of it that the expression is in; None outside of clauses.
    clause: MatchRecognize | None = None
    part: ClausePart | None = None
    # The columns that the expression can name.
    columns: VisibleColumns = field(default_factory=VisibleColumns)
    # Pattern variables that must be quoted to keep their case: the text as written, by the name in
    # upper case.
    quoted_variables: Mapping[str, str] = field(default_factory=dict)
    # What rules have found out about the expression. Fragments do not share their findings.
    findings: RuleFindings = field(default_factory=RuleFindings)

    @property
    def is_measure(self) -> bool:
        """True if the expression is a part of MEASURES."""
        return self.part is ClausePart.MEASURES

    @property
    def is_condition(self) -> bool:
        """True if the expression is a part of DEFINE."""
        return self.part is ClausePart.DEFINE

    @property
    def is_measure_of_rows(self) -> bool:
        """True if it is a measure of each row of a match, because of ALL ROWS PER MATCH."""
        if self.clause is None or not self.is_measure:
            return False
        rows_per_match = self.clause.rows_per_match or RowsPerMatch.ONE_ROW
        return not rows_per_match.summarizes_matches

    @property
    def order(self) -> str | None:
        """The text of the first key in the clause's ORDER BY; None if there is none."""
        keys = self.clause.order_by if self.clause else ()
        return keys[0].expression.text if keys else None

    def enter_part(self, part: ClausePart) -> RuleContext:
        """Return the context of an expression in a part of the clause."""
        return replace(self, part=part)

    def find_kind(self, node: exp.Expr) -> ValueKind | None:
        """Return the kind of an expression; None if it is not known.

        Columns in it whose kinds are not known are added to `findings`.
        """
        return find_kind(node, self._find_kind_of_column)

    def _find_kind_of_column(self, column: exp.Column) -> ValueKind | None:
        """Return the kind of a column. If it is not known, add it to `findings`, return None."""
        kind = self.columns.find_kind(column)
        if kind is None:
            self.findings.untyped_columns.append(column.name)
        return kind

    def has_column(self, select: exp.Select, name: str) -> bool | None:
        """Return whether a relation that a query reads has a column of this name.

        If that is not known, add the name to `findings`, and return None.
        """
        exists = self.columns.has_column(select, name)
        if exists is None:
            self.findings.untyped_columns.append(name)
        return exists

    def remark(self, message: str, *, is_compensated: bool = False) -> None:
        """Add a note about a difference in the target product.

        Args:
            message: the difference, in one sentence.
            is_compensated: see `Note.is_compensated`.
        """
        self.findings.remarks.append(Note(message, Span(0, 0), is_compensated))


# Rewrites a node of the type that its first parameter has. It may return the node as it is, or
# raise UnsupportedError if the product that is written has nothing that means the same.
RewriteRule = Callable[[Any, RuleContext], exp.Expr]


@cache
def find_node_types(rule: RewriteRule) -> Any:
    """Return the class, or union of classes, of the nodes that a rule rewrites."""
    return next(iter(get_type_hints(rule).values()))
