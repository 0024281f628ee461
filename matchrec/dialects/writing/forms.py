"""Whether two plans ask for the same, and preferred matches in place of all of them.

The order of conditions joined by AND does not matter, nor do parentheses, blanks, and quotes
around names of columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from matchrec.dialects.writing.names import normalize_expression
from matchrec.errors import MatchRecognizeError
from matchrec.plan import expression, pattern
from matchrec.plan.clauses import Absence, AfterMatchSkip, EventSelection, MatchOutput, SkipTo
from matchrec.plan.match_plan import MatchPlan
from matchrec.syntax.durations import duration

Shape = object  # what of a part of a plan matters; equal and hashed by value


def name_condition(variable: str) -> str:
    return f"the condition of `{variable}`"


def find_conjunct_shapes(condition: expression.Scalar) -> Iterator[Shape]:
    """What must hold, without what always does."""
    shapes = map(find_shape, expression.conjuncts(condition))
    return (shape for shape in shapes if shape != "TRUE")


def find_shape(scalar: expression.Scalar) -> Shape:
    match scalar:
        case expression.Operation("AND"):
            return "AND", frozenset(find_conjunct_shapes(scalar))
        case expression.Operation(operator, operands, words=words):
            return operator, tuple(find_shape(operand) for operand in operands), words
        case expression.Term():
            pieces = tuple(map(_piece, scalar.pieces))
            if all(isinstance(piece, str) for piece in pieces):
                return "".join(map(str, pieces)).strip(" ()")
            kept = tuple(one for one in pieces if not isinstance(one, str) or one.strip(" ()"))
            return kept[0] if len(kept) == 1 else pieces


def _piece(piece: str | expression.Reference) -> Shape:
    match piece:
        case str():
            return " ".join(piece.split()) or " "
        case expression.ColumnReference(argument=argument):
            return replace(piece, argument=normalize_expression(argument))
        case expression.Aggregate():
            inner = tuple(find_shape(term) for term in expression.terms(piece))
            how = tuple(way for _, way in piece.ordering)
            return replace(piece, arguments=(), condition=None, ordering=()), inner, how
        case _:
            return piece


def list_parts(plan: MatchPlan) -> Iterator[tuple[str, Shape]]:
    """The parts of a plan by their names in messages; two plans ask for the same if all agree."""
    for one in plan.definitions:
        if found := frozenset(find_conjunct_shapes(one.condition)):
            yield name_condition(one.variable), found
    used = find_read_variables(plan)
    exclusive = plan.output is MatchOutput.PREFERRED
    yield "PATTERN", pattern.simplify(plan.pattern)
    yield "PARTITION BY", frozenset(normalize_expression(key.text) for key in plan.keys)
    yield (
        "ORDER BY",
        tuple((normalize_expression(one.expression.text), one.direction) for one in plan.order_by),
    )
    yield "WITHIN", (plan.within and normalize_window(plan.within.interval.text), plan.within_rows)
    subsets = (subset for subset in plan.subsets if subset.name in used)
    yield "SUBSET", frozenset((subset.name, frozenset(subset.members)) for subset in subsets)
    yield "event selection", plan.selection
    yield "the output of matches", (plan.output, plan.after_match if exclusive else None)
    yield "FIRST k MATCHES", plan.first_matches
    yield "negation", frozenset(_absence(absence, plan) for absence in plan.absences)
    yield "a condition on the whole match", plan.closing
    yield "MEASURES", tuple((measure.name, find_shape(measure.value)) for measure in plan.measures)


def _absence(absence: Absence, plan: MatchPlan) -> Shape:
    """What must be absent, between rows of which primary variables."""
    return absence.variable, *(
        names and frozenset(member for name in names for member in plan.members[name])
        for names in (absence.after, absence.before)
    )


def find_read_variables(plan: MatchPlan) -> set[str | None]:
    return {expression.variable_of(one) for value in plan.expressions for one in value.references}


def normalize_window(window: str) -> Shape:
    """How long a window is, whatever its units."""
    try:
        return duration(window, "within")
    except MatchRecognizeError:
        return " ".join(window.split()).upper()


def reads_whole_rows(value: expression.Scalar) -> bool:
    """Whether it reads all columns of rows, whichever they are."""
    return any(
        isinstance(each, expression.ColumnReference) and each.argument.endswith("(*)")
        for reference in value.references
        if isinstance(reference, expression.Aggregate)
        for each in expression.inner_references(reference)
    )


# Where to go on for the same matches, of those with one match at most at each row.
_SKIP = {MatchOutput.ALL: SkipTo.NEXT_ROW, MatchOutput.NON_OVERLAPPING: SkipTo.PAST_LAST_ROW}


def prefer_matches(plan: MatchPlan) -> MatchPlan:
    """Preferred matches in place of all of them, where each row starts one match at most."""
    skip = _SKIP.get(plan.output)
    if skip is None or not starts_one_match(plan):
        return plan
    return replace(plan, output=MatchOutput.PREFERRED, after_match=AfterMatchSkip(skip))


def starts_one_match(plan: MatchPlan) -> bool:
    """Whether no row can start two matches: rows follow each other and there is no choice."""
    strict = plan.selection is EventSelection.STRICT_CONTIGUITY
    return strict and not plan.absences and plan.closing is None and has_one_word(plan.pattern)


def has_one_word(row_pattern: pattern.RowPattern) -> bool:
    """Whether the pattern has one word, and that a row."""
    match row_pattern:
        case pattern.Variable() | pattern.Negation():
            return True
        case pattern.Concatenation(parts):
            return all(map(has_one_word, parts))
        case pattern.Quantified(part, least, most):
            return 0 < least == most and has_one_word(part)
        case _:
            return False
