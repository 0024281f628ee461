"""Shapes of plans: find the first part in which two plans differ.

`convert.check_meaning` compares the plan of a query with the plan of the SQL that was written for
it. The plans are compared part by part. The shape of a part is what remains of it without the
differences that cannot change its meaning:

- the order of the conditions that AND joins, and conditions that are TRUE,
- outer parentheses,
- blanks outside of strings,
- quotes around the names of columns.

For example:

    price > 1 AND (  `x` < 2)     x < 2 AND price > 1     equal shapes
    name = 'a  b'                 name = 'a b'            different shapes

Parts with equal shapes mean the same. The opposite is not true: `a + b` and `b + a` have different
shapes. A query with such a difference is rejected although it could be converted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from typing import NamedTuple, TypeAlias

from typing_extensions import assert_never

from matchrec.dialects.writing.names import is_path, split_path
from matchrec.errors import MatchRecognizeError
from matchrec.errors.lengths import WITHIN_CALL
from matchrec.plan import clauses, expression
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import RowPattern, simplify
from matchrec.plan.stages import Staging
from matchrec.plan.totals import Totals
from matchrec.source import Span
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
# A hashable normal form of a part. Parts with equal shapes mean the same.
Shape: TypeAlias = Leaf | tuple["Shape", ...] | frozenset["Shape"]


class DifferingPart(NamedTuple):
    """A part in which two plans differ."""

    # The name of the part in messages: `PATTERN`, or "the condition of `A`".
    name: str
    # Where the first plan has the part; None unless the part is the condition of a variable.
    span: Span | None


def find_differing_part(plan: MatchPlan, other: MatchPlan) -> DifferingPart | None:
    """Return the first part in which two plans differ; None if all parts have equal shapes."""
    shapes = dict(_walk_part_shapes(plan))
    other_shapes = dict(_walk_part_shapes(other))
    for name in shapes | other_shapes:
        if shapes.get(name) != other_shapes.get(name):
            return DifferingPart(name, _find_condition_spans(plan).get(name))
    return None


def _find_condition_spans(plan: MatchPlan) -> dict[str, Span]:
    """Return where the conditions of a plan are written, by the names of these parts."""
    return {
        name_condition(definition.variable): definition.condition.span
        for definition in plan.definitions
    }


def _walk_part_shapes(plan: MatchPlan) -> Iterator[tuple[str, Shape]]:
    """Yield the name of each part of a plan, as in messages, and its shape.

    Every field of a plan is in one of the parts. Facts that are
    computed from other fields are left out, such as the exact length of a window.
    """
    for definition in plan.definitions:
        conjuncts = frozenset(walk_conjunct_shapes(definition.condition))
        if conjuncts:
            yield name_condition(definition.variable), conjuncts
    yield "PATTERN", simplify(plan.pattern)
    output_keys = _make_key_shapes(plan.partition_by)
    yield "PARTITION BY", (output_keys, _make_key_shapes(plan.equivalence_keys))
    order = [(_make_text_shape(key.expression.text), key.direction) for key in plan.order_by]
    yield "ORDER BY", tuple(order)
    match_window = None if plan.within is None else _make_window_shape(plan.within.interval)
    yield "WITHIN", (match_window, plan.within_rows)
    gaps = [(_make_window_shape(gap.interval), gap.after, gap.to) for gap in plan.gaps]
    yield "a window inside the match", tuple(gaps)
    # A union variable that nothing reads makes no difference, so it is not written.
    read_variables = find_read_variables(plan)
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
    yield "negation", frozenset(_make_absence_shape(absence, plan) for absence in plan.absences)
    yield "a condition on the whole match", plan.match_condition
    yield "MEASURES", tuple(_make_measure_shape(measure) for measure in plan.measures)
    yield "the aggregates over all matches", plan.totals
    yield "the stages", plan.staging
    frame_length = None if plan.frame_length is None else _make_text_shape(plan.frame_length.text)
    yield "the length of a window frame", frame_length


def name_condition(variable: str) -> str:
    """Return the name that messages use for the condition of a variable."""
    return f"the condition of `{variable}`"


def walk_conjunct_shapes(condition: expression.Scalar) -> Iterator[Shape]:
    """Yield the shapes of the conditions that AND joins, except for TRUE."""
    for conjunct in expression.split_conjuncts(condition):
        if not _is_true(conjunct):
            yield make_shape(conjunct)


def _is_true(scalar: expression.Scalar) -> bool:
    """Return whether an expression is the literal TRUE, in any case and perhaps in parentheses."""
    match scalar:
        case expression.Term(pieces=(str(text),)):
            return _remove_outer_parentheses(_list_token_shapes(text.upper())) == [_TRUE]
        case _:
            return False


def make_shape(scalar: expression.Scalar) -> Shape:
    """Return the shape of an expression.

    The shape of `b > 1 AND a` is `("AND", {shape of a, shape of b > 1})`.
    """
    match scalar:
        case expression.Operation("AND"):
            return "AND", frozenset(walk_conjunct_shapes(scalar))
        case expression.Operation(operator, operands, words=words):
            return operator, tuple(make_shape(operand) for operand in operands), words
        case expression.Term():
            return _make_term_shape(scalar)


def _make_term_shape(term: expression.Term) -> Shape:
    """Return the shapes of the tokens and references of a term, without outer parentheses.

    A term of a single token or reference has the shape of this token or reference.
    """
    items: list[Shape] = []
    for piece in term.pieces:
        if isinstance(piece, str):
            items += _list_token_shapes(piece)
        else:
            items.append(_make_reference_shape(piece))
    inner_items = _remove_outer_parentheses(items)
    return inner_items[0] if len(inner_items) == 1 else tuple(inner_items)


def _list_token_shapes(text: str) -> list[Shape]:
    """Return the shape of each token of a text: its kind and its text.

    A string is one token, so the blanks in it are a part of the shape.
    """
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


def _make_reference_shape(reference: expression.Reference) -> Shape:
    """Return the shape of a reference to a column, an aggregate or another value of the match."""
    match reference:
        case expression.ColumnReference(argument=argument):
            return replace(reference, argument=""), _make_text_shape(argument)
        case expression.Aggregate(condition=condition):
            return (
                replace(reference, arguments=(), condition=None, ordering=()),
                tuple(make_shape(argument) for argument in reference.arguments),
                None if condition is None else make_shape(condition),
                tuple((make_shape(item.scalar), item.direction) for item in reference.ordering),
            )
        case expression.Classifier() | expression.MatchValue():
            return reference
        case _:
            assert_never(reference)


def _make_text_shape(text: str) -> Shape:
    """Return the shape of SQL over one row: a key, or the length of a window.

    The shape of a column is its path without quotes, in any spelling: `("loc", "x")` for `loc.x`.
    """
    return split_path(text) if is_path(text) else tuple(_list_token_shapes(text))


def _make_key_shapes(keys: tuple[clauses.RowExpression, ...]) -> Shape:
    """Return the shapes of the keys that divide the rows, in order, with their names.

    Order and names matter, because the keys of PARTITION BY are columns of the output.
    """
    return tuple((_make_text_shape(key.text), key.output_name) for key in keys)


def _make_measure_shape(measure: clauses.Measure) -> Shape:
    """Return the shape of a measure, with the names by which it is output and read."""
    return (
        measure.name,
        measure.reference_name,
        measure.has_value_without_match,
        make_shape(measure.value),
    )


def _make_absence_shape(absence: clauses.Absence, plan: MatchPlan) -> Shape:
    """Return the shape of an absence.

    It has the variable that must be absent, the ids of the primary variables before it, and the
    ids of those after it.
    """
    after = _find_member_ids(absence.after, plan)
    before = _find_member_ids(absence.before, plan)
    return absence.variable, after, before


def _find_member_ids(names: tuple[str, ...] | None, plan: MatchPlan) -> Shape:
    """Return the ids of the primary variables that some names stand for; None for no names."""
    if names is None:
        return None
    return frozenset(member for name in names for member in plan.members[name])


def find_read_variables(plan: MatchPlan) -> set[str | None]:
    """Return the variables that conditions, measures, AFTER MATCH SKIP and windows read.

    None, the universal variable, may be among them.
    """
    variables = {plan.after_match.variable}
    for gap in plan.gaps:
        variables |= {gap.after, gap.to}
    for value in plan.expressions:
        for reference in value.references:
            variables.add(expression.find_variable(reference))
    return variables


def _make_window_shape(length: clauses.RowExpression) -> Shape:
    """Return the shape of the length of a window: a Duration, if the text is one.

    60 SECONDS and 1 MINUTE are equal as Durations.
    """
    try:
        return read_positive_duration(length.text, WITHIN_CALL)
    except MatchRecognizeError:
        return _make_text_shape(length.text)
