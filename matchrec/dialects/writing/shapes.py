"""Shapes of plans: compare two plans, and replace all matches by preferred ones if they are equal.

A plan is compared by its parts, and a part by its shape. The order of conditions joined by AND is
not part of the shape, nor are parentheses, blanks, and quotes around names of columns:

    price > 1 AND (  `x` < 2)     x < 2 AND price > 1     the same shape
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from matchrec.dialects.writing.names import normalize_expression
from matchrec.errors import MatchRecognizeError
from matchrec.plan import expression, pattern
from matchrec.plan.clauses import Absence, AfterMatchSkip, EventSelection, MatchOutput, SkipTo
from matchrec.plan.match_plan import MatchPlan
from matchrec.syntax.durations import read_positive_duration

# A part of a plan without what does not matter. Shapes are hashed and compared by value.
Shape = object


def find_differing_part(plan: MatchPlan, other: MatchPlan) -> str | None:
    """Return the first part in which two plans differ, as messages name it.

    None if the plans have equal parts.
    """
    shapes = dict(list_shapes(plan))
    other_shapes = dict(list_shapes(other))
    for name in shapes | other_shapes:
        if shapes.get(name) != other_shapes.get(name):
            return name
    return None


def list_shapes(plan: MatchPlan) -> Iterator[tuple[str, Shape]]:
    """Yield the parts of a plan: their names in messages, and their shapes.

    Two plans mean the same if all parts are equal.
    """
    for definition in plan.definitions:
        conjuncts = frozenset(find_conjunct_shapes(definition.condition))
        if conjuncts:
            yield name_condition(definition.variable), conjuncts
    used = find_read_variables(plan)
    yield "PATTERN", pattern.simplify(plan.pattern)
    yield "PARTITION BY", frozenset(normalize_expression(key.text) for key in plan.keys)
    order = [(normalize_expression(key.expression.text), key.direction) for key in plan.order_by]
    yield "ORDER BY", tuple(order)
    yield "WITHIN", (plan.within and normalize_window(plan.within.interval.text), plan.within_rows)
    subsets = [subset for subset in plan.subsets if subset.name in used]
    yield "SUBSET", frozenset((subset.name, frozenset(subset.members)) for subset in subsets)
    yield "event selection", plan.selection
    skip = plan.after_match if plan.output is MatchOutput.PREFERRED else None
    yield "the output of matches", (plan.output, skip)
    yield "FIRST k MATCHES", plan.first_matches
    yield "negation", frozenset(_find_absence_shape(absence, plan) for absence in plan.absences)
    yield "a condition on the whole match", plan.match_condition
    yield "MEASURES", tuple((measure.name, find_shape(measure.value)) for measure in plan.measures)


def name_condition(variable: str) -> str:
    """Return the name of a variable's condition in messages."""
    return f"the condition of `{variable}`"


def find_conjunct_shapes(condition: expression.Scalar) -> Iterator[Shape]:
    """Yield the shapes of the conditions that AND joins, except for TRUE."""
    for conjunct in expression.split_conjuncts(condition):
        shape = find_shape(conjunct)
        if shape != "TRUE":
            yield shape


def find_shape(scalar: expression.Scalar) -> Shape:
    """Return the shape of an expression.

    The shape of `b > 1 AND a` is `("AND", {shape of a, shape of b > 1})`.
    """
    match scalar:
        case expression.Operation("AND"):
            return "AND", frozenset(find_conjunct_shapes(scalar))
        case expression.Operation(operator, operands, words=words):
            return operator, tuple(find_shape(operand) for operand in operands), words
        case expression.Term():
            return _find_shape_of_pieces([_find_piece_shape(piece) for piece in scalar.pieces])


def _find_shape_of_pieces(pieces: list[Shape]) -> Shape:
    """Return the shape of a term, given the shapes of its texts and references.

    A reference in parentheses has the shape of the reference.
    """
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(map(str, pieces)).strip(" ()")
    kept = [piece for piece in pieces if not isinstance(piece, str) or piece.strip(" ()")]
    return kept[0] if len(kept) == 1 else tuple(pieces)


def _find_piece_shape(piece: str | expression.Reference) -> Shape:
    """Return the shape of a text or a reference in a term."""
    match piece:
        case str():
            return " ".join(piece.split()) or " "
        case expression.ColumnReference(argument=argument):
            return replace(piece, argument=normalize_expression(argument))
        case expression.Aggregate():
            terms = tuple(find_shape(term) for term in expression.list_inputs(piece))
            directions = tuple(item.direction for item in piece.ordering)
            without_terms = replace(piece, arguments=(), condition=None, ordering=())
            return without_terms, terms, directions
        case _:
            return piece


def _find_absence_shape(absence: Absence, plan: MatchPlan) -> Shape:
    """Return the variable that must be absent, and the primary variables before and after it."""

    def find_members(names: tuple[str, ...] | None) -> Shape:
        """Return the primary variables of the named variables; None for None."""
        return names and frozenset(member for name in names for member in plan.members[name])

    return absence.variable, find_members(absence.after), find_members(absence.before)


def find_read_variables(plan: MatchPlan) -> set[str | None]:
    """Return the variables that conditions and measures read; None stands for all rows."""
    variables = set()
    for value in plan.expressions:
        for reference in value.references:
            variables.add(expression.find_variable(reference))
    return variables


def normalize_window(text: str) -> Shape:
    """Return the length of a window, equal for equal lengths in other units, or else its text."""
    try:
        return read_positive_duration(text, "within")
    except MatchRecognizeError:
        return " ".join(text.split()).upper()


def reads_whole_rows(value: expression.Scalar) -> bool:
    """Return whether a value reads all columns of rows, whichever there are."""
    for reference in value.references:
        if not isinstance(reference, expression.Aggregate):
            continue
        for inner in expression.list_inner_references(reference):
            if isinstance(inner, expression.ColumnReference) and inner.argument.endswith("(*)"):
                return True
    return False


# Where the search has to go on to find the same matches, if each row starts at most one match.
_SKIP = {MatchOutput.ALL: SkipTo.NEXT_ROW, MatchOutput.NON_OVERLAPPING: SkipTo.PAST_LAST_ROW}


def prefer_matches(plan: MatchPlan) -> MatchPlan:
    """Return the plan with the standard's preferred matches instead of all matches.

    The plan is returned as it is unless each row starts at most one match, so that both are the
    same.
    """
    skip = _SKIP.get(plan.output)
    if skip is None or not starts_one_match(plan):
        return plan
    return replace(plan, output=MatchOutput.PREFERRED, after_match=AfterMatchSkip(skip))


def starts_one_match(plan: MatchPlan) -> bool:
    """Return whether each row starts at most one match.

    That is so if no row may be skipped and the row pattern has a single word.
    """
    is_strict = plan.selection is EventSelection.STRICT_CONTIGUITY
    has_conditions_on_match = bool(plan.absences) or plan.match_condition is not None
    return is_strict and not has_conditions_on_match and has_one_word(plan.pattern)


def has_one_word(row_pattern: pattern.RowPattern) -> bool:
    """Return whether the pattern has exactly one word, and it is not empty."""
    match row_pattern:
        case pattern.Variable() | pattern.Negation():
            return True
        case pattern.Concatenation(parts):
            return all(has_one_word(part) for part in parts)
        case pattern.Quantified(part, least, most):
            return 0 < least == most and has_one_word(part)
        case _:
            return False
