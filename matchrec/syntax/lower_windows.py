"""A window's clause, frame and calls → MatchPlan: each row once, with the match of its frame.

    avg(x) OVER w, nth_value(x, 2) OVER w    functions over the rows of a match are measures
    SEEK PATTERN (P)    →    PATTERN (X*? P)

where X takes any row: as few rows as can be are passed over before P, and of P the preferred
match is found. Measures and conditions are about the rows of P.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import inf
from types import MappingProxyType

from matchrec.errors.rules import duplicate_measure
from matchrec.errors.sql import window as errors
from matchrec.plan import pattern as patterns
from matchrec.plan.clauses import Definition, Measure, RowsPerMatch, Subset
from matchrec.plan.expression import (
    MATCH_NUMBER,
    MATCHED_ROWS,
    Aggregate,
    Classifier,
    ColumnReference,
    End,
    MatchFunction,
    MatchValue,
    Navigation,
    Operation,
    Reference,
    Scalar,
    Semantics,
    Term,
    comparison,
    inner_references,
    joined,
    looks_at_columns_only,
    names_of,
    number_term,
    row_text,
    terms,
    with_final_semantics,
    with_references,
)
from matchrec.plan.match_plan import MatchPlan, with_each
from matchrec.plan.rules import all_references, refuse_repeated
from matchrec.plan.text import Amount
from matchrec.source import Span
from matchrec.syntax.expressions.expression import parse_row_expression, parse_scalar
from matchrec.syntax.expressions.reader import ClausePart, Scope
from matchrec.syntax.lower import lower
from matchrec.syntax.nodes import FrameEnd, MatchRecognize, Search, WindowCall, uncalled
from matchrec.syntax.row_pattern import Values, read_number
from matchrec.syntax.tokens import TokenSequence, whole_number, words

# What lies outside of a window's frame is not there: neither rows to map nor rows to look at.
#
#     PREV(x)         →  LAST(x, 1)                                     where B may be the first row
#     NEXT(x)         →  CASE WHEN count(*) <= 4 THEN NEXT(x) END       in a frame of 5 rows
#     n FOLLOWING     →  a match lies within n + 1 rows
#     e FOLLOWING     →  count(*) + -1 <= FIRST(e), of every variable, as e + 1 could overflow
#
# The frame starts at the row at which the search starts, so rows of a run are counted from there.
# Measures are read within the frame by the worker.


Rows = tuple[int, float]  # at least and at most so many rows


def rows_before(pattern: patterns.RowPattern) -> dict[str, Rows]:
    """For each variable, how many rows come before a row that is mapped to it.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> rows_before(parse_row_pattern("A B? (C | A D)", Span(0, 14)))
    {'A': (0, 2), 'B': (1, 1), 'C': (1, 2), 'D': (2, 3)}
    """
    found: dict[str, Rows] = {}

    def add(part: patterns.RowPattern, before: Rows) -> None:
        if isinstance(part, patterns.Variable):
            other = found.get(part.name, before)
            found[part.name] = min(other[0], before[0]), max(other[1], before[1])
        for place, inner in enumerate(patterns.children(part)):
            add(inner, _sum((before, _rows_inside(part, place))))

    add(pattern, (0, 0))
    return found


def _rows_inside(pattern: patterns.RowPattern, place: int) -> Rows:
    """How many rows of a pattern come before its part at a place."""
    match pattern:
        case patterns.Concatenation(parts):
            return _sum(map(length, parts[:place]))
        case patterns.Permutation(parts):
            return 0, _sum(map(length, (*parts[:place], *parts[place + 1 :])))[1]
        case patterns.Quantified(part, _, most):
            return 0, _times(length(part)[1], inf if most is None else max(most - 1, 0))
        case patterns.Alternation() | patterns.Exclusion():
            return 0, 0
        case _:  # of an operator nothing is known that is not said here
            return 0, inf


def length(pattern: patterns.RowPattern) -> Rows:
    match pattern:
        case patterns.Variable():
            return 1, 1
        case patterns.Alternation(parts):
            least, most = zip(*map(length, parts), strict=True)
            return min(least), max(most)
        case patterns.Quantified(part, least, most):
            once = length(part)
            return once[0] * least, _times(once[1], inf if most is None else most)
        case patterns.Concatenation() | patterns.Permutation() | patterns.Exclusion():
            return _sum(map(length, patterns.children(pattern)))
        case _:
            return 0, inf if patterns.children(pattern) else 0


def _sum(several: Iterable[Rows]) -> Rows:
    least, most = zip((0, 0), *several, strict=True)
    return sum(least), sum(most)


def _times(rows: float, repetitions: float) -> float:
    """The product, where none of infinitely many is none."""
    return rows * repetitions if rows and repetitions else 0


_LENGTH = "a length of a frame is neither NULL nor negative"


@dataclass(frozen=True)
class WithinFrame:
    """Puts the conditions of a plan within the frame of its window."""

    plan: MatchPlan
    frame: FrameEnd

    @cached_property
    def before(self) -> dict[str, Rows]:
        return rows_before(self.plan.pattern)

    def limited(self) -> MatchPlan:
        """The plan, in which no match and no condition leaves the frame."""
        plan = replace(self.plan, definitions=tuple(map(self.definition, self.plan.definitions)))
        if self.frame.rows is None:
            return plan
        if isinstance(self.frame.rows, int):
            return replace(plan, within_rows=self.frame.rows + 1)
        defined = {one.variable: one for one in plan.definitions}
        names = patterns.variable_names(plan.pattern)
        return replace(plan, definitions=tuple(self.counted(name, defined) for name in names))

    def counted(self, variable: str, defined: dict[str, Definition]) -> Definition:
        """The condition of a variable, and that its row lies in the frame."""
        limit = self.has_row(0, self.frame.span)
        if (own := defined.get(variable)) is None:
            return Definition(variable, limit)
        return replace(own, condition=joined("AND", (own.condition, limit), own.condition.span))

    def definition(self, definition: Definition) -> Definition:
        """The condition of a variable, which looks at no row outside of the frame."""
        candidate = definition.variable
        moved = with_references(definition.condition, lambda one: self.moved_back(one, candidate))
        return replace(definition, condition=self.guarded(moved, candidate))

    def guarded(self, scalar: Scalar, candidate: str) -> Scalar:
        """The expression, in which NEXT is NULL where it would leave the frame."""
        if not (leaves := [one for one in scalar.references if self.leaves_at_end(one, candidate)]):
            return scalar
        match scalar:
            case Operation():
                return scalar.of_operands(lambda operand: self.guarded(operand, candidate))
            case Term(pieces=(ColumnReference(navigation),)):
                has_row = self.has_row(navigation.physical_offset, scalar.span)
                parts = "(CASE WHEN ", has_row, " THEN ", scalar, " END)"
                return Operation("CASE", parts, scalar.span)
        raise errors.rows_beyond_frame(leaves[0].span, function="NEXT")

    def moved_back(self, reference: Reference, candidate: str) -> Reference:
        """PREV where it may leave the frame: the row before is then no row of the run."""
        if isinstance(reference, Aggregate) and reference.frame is not None:
            raise errors.frame_in_condition(reference.span)
        if not isinstance(reference, ColumnReference):
            return reference
        navigation = reference.navigation
        distance = -navigation.physical_offset
        is_candidate = self.is_candidate(navigation, candidate)
        members = self.plan.members[navigation.variable]
        names = [candidate] if is_candidate else [self.plan.variables[one] for one in members]
        if distance <= min((self.before[name][0] for name in names), default=0):
            return reference
        if not is_candidate:
            raise errors.rows_beyond_frame(reference.span, function="PREV")
        back = Navigation(None, End.LAST, distance, 0, navigation.semantics)
        return replace(reference, navigation=back)

    def leaves_at_end(self, reference: Reference, candidate: str) -> bool:
        """Whether NEXT may leave the frame. Raises where that could not be tested."""
        if not isinstance(reference, ColumnReference) or self.frame.rows is None:
            return False
        navigation = reference.navigation
        if navigation.physical_offset <= 0:
            return False
        if not self.is_candidate(navigation, candidate):
            raise errors.rows_beyond_frame(reference.span, function="NEXT")
        rows = self.frame.rows if isinstance(self.frame.rows, int) else 0
        return self.before[candidate][1] + navigation.physical_offset > rows

    def is_candidate(self, navigation: Navigation, candidate: str) -> bool:
        """Whether a logical step finds the row that is tested."""
        members = self.plan.members[navigation.variable]
        return navigation.is_last and self.plan.ids[candidate] in members

    def has_row(self, distance: int, span: Span) -> Operation:
        """That a row so far after the one that is tested lies in the frame."""
        rows = self.frame.rows
        assert not isinstance(rows, patterns.Parameter), "it has a value by now: lower_window"
        counted = Term((Aggregate("count", None, (), span=span),), span)
        if not isinstance(rows, TokenSequence):
            return comparison("<=", counted, number_term((rows or 0) + 1 - distance, span))
        length = ColumnReference(Navigation(end=End.FIRST), length_of(rows.text), rows.whole)
        more = Operation("+", (counted, " + ", number_term(distance - 1, span)), span)
        return comparison("<=", more, Term((length,), span))


def length_of(text: str) -> str:
    """The length of a row's frame, which is tested on every row."""
    return f"CASE WHEN ({text}) >= 0 THEN ({text}) ELSE raise_error('{_LENGTH}') END"


_ROW_VALUES = {
    **dict.fromkeys(words("FIRST_VALUE FIRST NTH_VALUE"), End.FIRST),
    **dict.fromkeys(words("LAST_VALUE LAST"), End.LAST),
}


def read_function(call: WindowCall) -> Measure:
    """A function over a window as a measure, which also stands on rows without a match."""
    tokens = call.written
    is_row_value = tokens.key(0) in _ROW_VALUES and tokens.key(1) == "("
    if (value := _row_value(tokens) if is_row_value else _aggregate(tokens)) is None:
        words = " ".join(tokens.text.split())
        is_call = tokens.key(1) == "(" and tokens.pairs.get(1) == len(tokens) - 1
        raise errors.not_over_rows(tokens.whole, name=tokens[0].text if is_call else words)
    return Measure(call.column, value, tokens.whole, over_rows=True)


_OF_MEASURES = Scope(ClausePart.MEASURES)


def _aggregate(tokens: TokenSequence) -> Scalar | None:
    """Aggregates of columns, which know no pattern; None of anything else."""
    scalar = parse_scalar(tokens, _OF_MEASURES)
    for one in scalar.references:
        if not isinstance(one, Aggregate) or one.function == MATCHED_ROWS:
            return None
        if not all(map(looks_at_columns_only, terms(one))):
            return None
    return with_final_semantics(scalar) if scalar.references else None


def _row_value(tokens: TokenSequence) -> Scalar | None:
    """The value on the match's first, last or n-th row; None where the arguments are others."""
    name, closing = tokens.key(0), tokens.pairs[1]
    arguments = tokens.separated(2, closing)
    wanted = 2 if name == "NTH_VALUE" else 1
    if closing != len(tokens) - 1 or len(arguments) != wanted or closing == 2:
        return None
    nth = tokens.text_at(tokens.span(*arguments[1])) if wanted == 2 else "1"
    number = whole_number(nth) if nth.isdigit() else None
    span = tokens.span(*arguments[0])
    term = parse_scalar(tokens.part(*arguments[0]), _OF_MEASURES)
    read = {one.navigation for one in term.references if isinstance(one, ColumnReference)}
    if not number or not looks_at_columns_only(term) or not read <= {Navigation()}:
        return None
    navigation = Navigation(None, _ROW_VALUES[name], number - 1, 0, Semantics.FINAL)
    text, names = row_text(term), names_of(term)
    return Term((ColumnReference(navigation, text, span, term.operations, names),), span)


PASSED = "before the match"
MATCHED = "the match"


def seek(plan: MatchPlan) -> MatchPlan:
    """The plan of a window whose match may begin after the current row."""
    target, before = plan.after_match.variable, rows_before(plan.pattern)
    firsts = plan.members[target] if target else frozenset[int]()
    # To skip to the first row of a match is an error, which would not be seen after other rows.
    if any(before[plan.variables[member]][0] == 0 for member in firsts):
        words = f"AFTER MATCH SKIP TO {target}, which may be the match's first row,"
        raise errors.not_with_seek(plan.after_match.span, what=words)
    for name in (*plan.variables, *plan.unions):
        if name in (PASSED, MATCHED):
            raise errors.not_with_seek(plan.pattern.span, what=f"a variable called `{name}`")
    passed = patterns.Quantified(patterns.Variable(PASSED), 0, None, greedy=False)
    pattern = patterns.concatenation([passed, plan.pattern], plan.pattern.span)
    members = Subset(MATCHED, patterns.variable_names(plan.pattern))
    found = replace(plan, pattern=pattern, subsets=(*plan.subsets, members))
    return with_each(found, of_match)


def of_match(reference: Reference) -> Reference:
    """The reference to rows of the match, not to those that were passed over."""
    match reference:
        case Aggregate(variable=variable):
            if MatchValue(MatchFunction.ROW_NUMBER) in inner_references(reference):
                raise errors.not_with_seek(reference.span, what="MATCH_ROW_NUMBER()")
            return replace(reference, variable=variable or MATCHED)
        case Classifier(navigation) if navigation.physical_offset:
            raise errors.not_with_seek(reference.span, what="PREV or NEXT of CLASSIFIER()")
        case ColumnReference(navigation) | Classifier(navigation) if not navigation.is_last:
            moved = replace(navigation, variable=navigation.variable or MATCHED)
            return replace(reference, navigation=moved)
        case _:  # a value of the match, or the last row of all, which is one of its rows
            return reference


def lower_window(
    clause: MatchRecognize, calls: tuple[WindowCall, ...], values: Values = MappingProxyType({})
) -> MatchPlan:
    """The plan of a window. Its measures are those of the calls, then all others, unnamed."""
    _refuse_parts(clause)
    plan = lower(replace(clause, search=None, search_span=None), values)
    _refuse_in_plan(plan)
    functions = [read_function(call) for call in calls if not call.measure]
    if clause.search is Search.SEEK:
        plan = seek(plan)
        functions = [replace(one, value=with_references(one.value, of_match)) for one in functions]
    frame = clause.frame
    assert frame is not None
    if isinstance(frame.rows, patterns.Parameter):
        frame = replace(frame, rows=read_number(frame.rows, values, "the length of a frame"))
    constant_length = None  # which the engine computes, such as 2 + 3
    if isinstance(frame.rows, TokenSequence):
        length = parse_row_expression(frame.rows, ClausePart.FRAME)
        if length.amount is not None:
            frame = replace(frame, rows=_count_rows(length.amount, frame.rows.whole))
        elif length.is_constant:
            constant_length = length
    limited = replace(WithinFrame(plan, frame).limited(), frame_length=constant_length)
    measures = (*_called(plan.measures, calls), *functions)
    if isinstance(frame.rows, TokenSequence):
        for one in chain.from_iterable(measure.value.references for measure in measures):
            if isinstance(one, ColumnReference) and one.navigation.physical_offset > 0:
                raise errors.next_in_own_frame(one.span)  # the engine does not know its end
    return replace(limited, measures=measures, rows_per_match=RowsPerMatch.EACH_ROW)


def _count_rows(written: Amount, span: Span) -> int | None:
    """Return the number of rows that a literal stands for; None if no partition has as many.

    Raises MatchRecognizePlanError for a length that is not a whole number of rows, 0 or more.
    """
    if written.is_time:
        raise errors.wrong_frame_length(span, length="an interval")
    if written.value < 0:
        raise errors.wrong_frame_length(span, length="negative")
    if written.value.denominator > 1:
        raise errors.wrong_frame_length(span, length="not a whole number")
    return whole_number(str(written.value.numerator))


def _called(measures: tuple[Measure, ...], calls: tuple[WindowCall, ...]) -> Iterator[Measure]:
    """The measures by the names of the columns that stand for their calls."""
    names = [(measure.name, measure.span) for measure in measures]
    refuse_repeated(names, duplicate_measure, str.lower)
    columns = {call.measure.lower(): call.column for call in calls if call.measure}
    for measure in measures:
        column = columns.get(measure.name.lower(), uncalled(measure.name))
        yield replace(measure, name=column, known_as=measure.name)


def _refuse_parts(clause: MatchRecognize) -> None:
    for window in clause.windows:
        raise errors.not_in_window(window.place, what="WITHIN")
    for option in (clause.partial, clause.first_matches, clause.selection, clause.output):
        if option is not None:
            span = getattr(option, "span", clause.pattern_span)
            raise errors.not_in_window(span or clause.span, what=option.words)
    for node in patterns.walk(clause.pattern):
        if isinstance(node, patterns.Negation | patterns.PartitionStart | patterns.PartitionEnd):
            what = "NOT in PATTERN" if isinstance(node, patterns.Negation) else patterns.show(node)
            raise errors.not_in_window(node.span or clause.pattern_span, what=what)


def _refuse_in_plan(plan: MatchPlan) -> None:
    for reference in chain.from_iterable(map(all_references, plan.expressions)):
        span = reference.span or Span(0, 0)
        if reference == MATCH_NUMBER:
            raise errors.not_in_window(span, what="MATCH_NUMBER()")
        if isinstance(reference, Aggregate) and reference.function == MATCHED_ROWS:
            raise errors.not_in_window(span, what="MATCHED_ROWS()")
