"""Shapes of plans: find the first part in which two plans differ.

`convert.check_meaning` compares the plan of a query with the plan of the SQL that was written for
it. A plan is compared by its parts, and a part by its shape. The order of conditions joined by AND
is not part of the shape, nor are outer parentheses, blanks outside of strings, and quotes around
names of columns:

    price > 1 AND (  `x` < 2)     x < 2 AND price > 1     the same shape
    name = 'a  b'                 name = 'a b'            different shapes

Two parts that mean the same may have different shapes, for example `a + b` and `b + a`. Then the
query is rejected although it could be converted. Two parts with equal shapes must mean the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from typing import TypeAlias

from matchrec.dialects.writing.names import is_path, split_path
from matchrec.errors import MatchRecognizeError
from matchrec.plan import clauses, expression
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import RowPattern, simplify
from matchrec.plan.stages import Staging
from matchrec.plan.totals import Totals
from matchrec.syntax.durations import Duration, read_positive_duration
from matchrec.syntax.tokenize import read_tokens

# A part that is compared as it is.
Leaf: TypeAlias = (
    str
    | int
    | Enum
    | expression.Reference
    | RowPattern
    | Duration
    | clauses.AfterMatchSkip
    | clauses.FirstMatches
    | clauses.PartialMatches
    | Totals
    | Staging
    | None
)
# A hashable normal form of a plan part. Parts with equal shapes mean the same.
Shape: TypeAlias = Leaf | tuple["Shape", ...] | frozenset["Shape"]


def find_differing_part(plan: MatchPlan, other: MatchPlan) -> str | None:
    """Return the first part in which two plans differ, as messages name it.

    None if the plans have equal parts.
    """
    shapes = dict(walk_shapes(plan))
    other_shapes = dict(walk_shapes(other))
    for name in shapes | other_shapes:
        if shapes.get(name) != other_shapes.get(name):
            return name
    return None


def walk_shapes(plan: MatchPlan) -> Iterator[tuple[str, Shape]]:
    """Yield the parts of a plan: their names in messages, and their shapes.

    Every field of a plan is in one of the parts. The order of the keys of PARTITION BY matters, and
    so do their names, because they are columns of the output, in this order.

    The exact length of a window is not compared, because it is computed from the text.
    """
    for definition in plan.definitions:
        conjuncts = frozenset(walk_conjunct_shapes(definition.condition))
        if conjuncts:
            yield name_condition(definition.variable), conjuncts
    read_variables = find_read_variables(plan)
    yield "PATTERN", simplify(plan.pattern)
    yield (
        "PARTITION BY",
        (_list_key_shapes(plan.partition_by), _list_key_shapes(plan.equivalence_keys)),
    )
    order = [(find_text_shape(key.expression.text), key.direction) for key in plan.order_by]
    yield "ORDER BY", tuple(order)
    window = None if plan.within is None else normalize_window(plan.within.interval.text)
    yield "WITHIN", (window, plan.within_rows)
    gaps = [(normalize_window(gap.interval.text), gap.after, gap.to) for gap in plan.gaps]
    yield "a window inside the match", tuple(gaps)
    subsets = [subset for subset in plan.subsets if subset.name in read_variables]
    yield "SUBSET", frozenset((subset.name, frozenset(subset.members)) for subset in subsets)
    yield "event selection", plan.selection
    # The other outputs have no AFTER MATCH SKIP.
    skip = plan.after_match if plan.output in clauses.ONE_MATCH_PER_START else None
    yield "the output of matches", (plan.output, skip)
    yield "ROWS PER MATCH", plan.rows_per_match
    yield "the order of the columns", plan.column_order
    yield "the output of partial matches", plan.partial
    yield "FIRST k MATCHES", plan.first_matches
    yield "negation", frozenset(_find_absence_shape(absence, plan) for absence in plan.absences)
    yield "a condition on the whole match", plan.match_condition
    yield "MEASURES", tuple(_find_measure_shape(measure) for measure in plan.measures)
    yield "the aggregates over all matches", plan.totals
    yield "the stages", plan.staging
    yield "the length of a window frame", _find_optional_length_shape(plan.frame_length)


def name_condition(variable: str) -> str:
    """Return the name of a variable's condition in messages."""
    return f"the condition of `{variable}`"


def walk_conjunct_shapes(condition: expression.Scalar) -> Iterator[Shape]:
    """Yield the shapes of the conditions that AND joins, except for TRUE."""
    for conjunct in expression.split_conjuncts(condition):
        if not _is_true(conjunct):
            yield find_shape(conjunct)


def _is_true(scalar: expression.Scalar) -> bool:
    """Return whether an expression is the literal TRUE, in any case and perhaps in parentheses."""
    match scalar:
        case expression.Term(pieces=(str(text),)):
            items = _remove_outer_parentheses(_list_token_shapes(text.upper()))
            return items == [_TRUE]
        case _:
            return False


def find_shape(scalar: expression.Scalar) -> Shape:
    """Return the shape of an expression.

    The shape of `b > 1 AND a` is `("AND", {shape of a, shape of b > 1})`.
    """
    match scalar:
        case expression.Operation("AND"):
            return "AND", frozenset(walk_conjunct_shapes(scalar))
        case expression.Operation(operator, operands, words=words):
            return operator, tuple(find_shape(operand) for operand in operands), words
        case expression.Term():
            return _find_term_shape(scalar)


def _find_term_shape(term: expression.Term) -> Shape:
    """Return the shapes of the tokens and references of a term, without outer parentheses.

    A reference in parentheses has the shape of the reference.
    """
    items: list[Shape] = []
    for piece in term.pieces:
        if isinstance(piece, str):
            items += _list_token_shapes(piece)
        else:
            items.append(_find_reference_shape(piece))
    essential_items = _remove_outer_parentheses(items)
    return essential_items[0] if len(essential_items) == 1 else tuple(essential_items)


def _list_token_shapes(text: str) -> list[Shape]:
    """Return the kind and the text of each token of a text. Strings keep their blanks."""
    return [(token.kind, token.text) for token in read_tokens(text).tokens]


_OPENING_PARENTHESIS, _CLOSING_PARENTHESIS = _list_token_shapes("()")
(_TRUE,) = _list_token_shapes("TRUE")


def _remove_outer_parentheses(items: list[Shape]) -> list[Shape]:
    """Return what is inside the parentheses that enclose all items, if there are any.

    `((a) + (b))` becomes `(a) + (b)`, whose first parenthesis is not closed by the last one.
    """
    depth = 0
    for index, item in enumerate(items):
        if item == _OPENING_PARENTHESIS:
            depth += 1
        elif item == _CLOSING_PARENTHESIS:
            depth -= 1
        if depth == 0:
            is_enclosed = index > 0 and index == len(items) - 1
            return _remove_outer_parentheses(items[1:-1]) if is_enclosed else items
    return items


def _find_reference_shape(reference: expression.Reference) -> Shape:
    """Return the shape of a reference."""
    match reference:
        case expression.ColumnReference(argument=argument):
            return replace(reference, argument=""), find_text_shape(argument)
        case expression.Aggregate(condition=condition):
            return (
                replace(reference, arguments=(), condition=None, ordering=()),
                tuple(find_shape(argument) for argument in reference.arguments),
                None if condition is None else find_shape(condition),
                tuple((find_shape(item.scalar), item.direction) for item in reference.ordering),
            )
        case _:
            return reference


def find_text_shape(text: str) -> Shape:
    """Return the shape of SQL without references, which is often just a column."""
    return split_path(text) if is_path(text) else tuple(_list_token_shapes(text))


def _list_key_shapes(keys: tuple[clauses.RowExpression, ...]) -> Shape:
    """Return the shape and the name of each key that divides the rows."""
    return tuple((find_text_shape(key.text), key.name) for key in keys)


def _find_measure_shape(measure: clauses.Measure) -> Shape:
    """Return the shape of a measure, with the names by which it is output and read."""
    return (
        measure.name,
        measure.reference_name,
        measure.has_value_without_match,
        find_shape(measure.value),
    )


def _find_optional_length_shape(length: clauses.RowExpression | None) -> Shape:
    """Return the shape of the length of a window frame; None if there is no length."""
    return None if length is None else find_text_shape(length.text)


def _find_absence_shape(absence: clauses.Absence, plan: MatchPlan) -> Shape:
    """Return the variable that must be absent, and the primary variables before and after it."""

    def find_members(names: tuple[str, ...] | None) -> Shape:
        """Return the primary variables of the named variables; None for None."""
        if names is None:
            return None
        return frozenset(member for name in names for member in plan.members[name])

    return absence.variable, find_members(absence.after), find_members(absence.before)


def find_read_variables(plan: MatchPlan) -> set[str | None]:
    """Return the variables that a plan reads by name; None stands for all rows.

    Conditions and measures read variables, and so do AFTER MATCH SKIP and windows inside the match.
    """
    variables = {plan.after_match.variable}
    for gap in plan.gaps:
        variables |= {gap.after, gap.to}
    for value in plan.expressions:
        for reference in value.references:
            variables.add(expression.find_variable(reference))
    return variables


def normalize_window(text: str) -> Shape:
    """Return the duration as a number, so that 60 SECONDS equals 1 MINUTE.

    If it cannot be parsed, return the shape of its text.
    """
    try:
        return read_positive_duration(text, "within")
    except MatchRecognizeError:
        return find_text_shape(text)
