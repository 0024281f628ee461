"""Lower a row pattern window to a `MatchPlan`, which outputs each row with the match of its frame.

1. `lower_clause` makes the plan of the window's clause.
2. Functions over the rows of a match, such as `avg(x) OVER w` and `nth_value(x, 2) OVER w`, become
   measures: `read_function`.
3. `SEEK PATTERN (P)` becomes `PATTERN (X*? P)`, where X takes any row: as few rows as possible are
   passed over before P, and the preferred match of P is found. Measures and conditions read only
   the rows of P: `build_seek_plan`.
4. Conditions are changed so that they see no row outside of the frame: `FrameRestriction`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
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
    compare_scalars,
    find_column_names,
    join_conditions,
    list_inner_references,
    list_terms,
    make_number,
    map_references,
    reads_columns_only,
    set_final_semantics,
    write_row_sql,
)
from matchrec.plan.match_plan import MatchPlan, map_plan_references
from matchrec.plan.row_counts import RowCount, count_rows_before
from matchrec.plan.rules import check_unique, list_all_references
from matchrec.plan.text import Amount
from matchrec.source import Span
from matchrec.syntax.expressions.expression import parse_row_expression, parse_scalar
from matchrec.syntax.expressions.reader import ClausePart, Scope
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.nodes import FrameEnd, InitialOrSeek, MatchRecognize, WindowCall, name_uncalled
from matchrec.syntax.row_pattern import ParameterValues, read_number
from matchrec.syntax.tokens import TokenSequence, read_whole_number, split_words

# Rows outside of a window's frame do not exist for it: they can be neither mapped nor read.
#
#     PREV(x)         →  LAST(x, 1)                                  if it may be on the first row
#     NEXT(x)         →  CASE WHEN count(*) <= 4 THEN NEXT(x) END    in a frame of 5 rows
#     n FOLLOWING     →  a match spans at most n + 1 rows
#     e FOLLOWING     →  count(*) + -1 <= FIRST(e), for every variable; e + 1 could overflow
#
# The search starts at the first row of the frame, so the rows of a run are counted from there.
# The worker restricts measures to the frame when it reads them.


_LENGTH_ERROR = "a length of a frame is neither NULL nor negative"


@dataclass(frozen=True)
class FrameRestriction:
    """The restriction of a plan to the frame of its window.

    In the methods `candidate` is the variable whose condition is restricted.
    """

    plan: MatchPlan
    # The frame. Its length is not a parameter.
    frame: FrameEnd

    @cached_property
    def rows_before(self) -> dict[str, RowCount]:
        """The number of rows of a match before a row of each variable, see `count_rows_before`."""
        return count_rows_before(self.plan.pattern)

    def restrict_plan(self) -> MatchPlan:
        """Return the plan restricted to the frame."""
        definitions = [self.restrict_definition(definition) for definition in self.plan.definitions]
        plan = replace(self.plan, definitions=tuple(definitions))
        if self.frame.rows is None:
            return plan
        if isinstance(self.frame.rows, int):
            return replace(plan, within_rows=self.frame.rows + 1)
        conditions = {definition.variable: definition for definition in plan.definitions}
        counted = [
            self.add_row_limit(name, conditions.get(name))
            for name in patterns.list_variable_names(plan.pattern)
        ]
        return replace(plan, definitions=tuple(counted))

    def add_row_limit(self, variable: str, definition: Definition | None) -> Definition:
        """Return the definition of a variable whose rows must also be in the frame."""
        limit = self.has_row(0, self.frame.span)
        if definition is None:
            return Definition(variable, limit)
        condition = definition.condition
        return replace(
            definition, condition=join_conditions("AND", (condition, limit), condition.span)
        )

    def restrict_definition(self, definition: Definition) -> Definition:
        """Return a definition whose condition reads no row outside of the frame.

        Raises:
            MatchRecognizeError: that cannot be expressed.
        """
        candidate = definition.variable
        moved = map_references(
            definition.condition, lambda reference: self.keep_after_start(reference, candidate)
        )
        return replace(definition, condition=self.guard_end(moved, candidate))

    def guard_end(self, scalar: Scalar, candidate: str) -> Scalar:
        """Return an expression in which NEXT is NULL if its row is after the end of the frame."""
        leaving = [
            reference
            for reference in scalar.references
            if self.may_leave_at_end(reference, candidate)
        ]
        if not leaving:
            return scalar
        match scalar:
            case Operation():
                return scalar.map_operands(lambda operand: self.guard_end(operand, candidate))
            case Term(pieces=(ColumnReference(navigation),)):
                has_row = self.has_row(navigation.physical_offset, scalar.span)
                parts = "(CASE WHEN ", has_row, " THEN ", scalar, " END)"
                return Operation("CASE", parts, scalar.span)
        raise errors.rows_beyond_frame(leaving[0].span, function="NEXT")

    def keep_after_start(self, reference: Reference, candidate: str) -> Reference:
        """Return a reference that is NULL if its row is before the start of the frame.

        If PREV may leave the frame, it becomes LAST, because the frame has no other rows before
        the candidate than the run.
        """
        if isinstance(reference, Aggregate) and reference.frame is not None:
            raise errors.over_in_window_define(reference.span)
        if not isinstance(reference, ColumnReference):
            return reference
        navigation = reference.navigation
        distance = -navigation.physical_offset
        is_candidate = self.is_candidate(navigation, candidate)
        if is_candidate:
            names = [candidate]
        else:
            members = self.plan.members[navigation.variable]
            names = [self.plan.variables[member] for member in members]
        least_rows_before = min((self.rows_before[name][0] for name in names), default=0)
        if distance <= least_rows_before:
            return reference
        if not is_candidate:
            raise errors.rows_beyond_frame(reference.span, function="PREV")
        in_run = Navigation(None, End.LAST, distance, 0, navigation.semantics)
        return replace(reference, navigation=in_run)

    def may_leave_at_end(self, reference: Reference, candidate: str) -> bool:
        """Return whether a reference is a NEXT whose row may be after the end of the frame.

        Raises:
            MatchRecognizeError: it starts at another row than the candidate's, so that the frame
                cannot be checked.
        """
        if not isinstance(reference, ColumnReference) or self.frame.rows is None:
            return False
        navigation = reference.navigation
        if navigation.physical_offset <= 0:
            return False
        if not self.is_candidate(navigation, candidate):
            raise errors.rows_beyond_frame(reference.span, function="NEXT")
        rows = self.frame.rows if isinstance(self.frame.rows, int) else 0
        return self.rows_before[candidate][1] + navigation.physical_offset > rows

    def is_candidate(self, navigation: Navigation, candidate: str) -> bool:
        """Return whether a navigation starts at the row that the condition of `candidate` tests."""
        members = self.plan.members[navigation.variable]
        return navigation.is_last and self.plan.ids[candidate] in members

    def has_row(self, distance: int, span: Span) -> Operation:
        """Return the condition that a row is in the frame.

        Args:
            distance: how many rows after the tested row it is.
            span: what errors point at.
        """
        rows = self.frame.rows
        assert not isinstance(rows, patterns.Parameter), "it has a value by now: lower_window"
        counted = Term((Aggregate("count", None, (), span=span),), span)
        if not isinstance(rows, TokenSequence):
            return compare_scalars("<=", counted, make_number((rows or 0) + 1 - distance, span))
        length = ColumnReference(
            Navigation(end=End.FIRST), write_frame_length(rows.text), rows.full_span
        )
        rows_after_first = Operation("+", (counted, " + ", make_number(distance - 1, span)), span)
        return compare_scalars("<=", rows_after_first, Term((length,), span))


def write_frame_length(text: str) -> str:
    """Return SQL for the length of a row's frame, which raises an error if it is not valid."""
    return f"CASE WHEN ({text}) >= 0 THEN ({text}) ELSE raise_error('{_LENGTH_ERROR}') END"


_ROW_VALUES = {
    **dict.fromkeys(split_words("FIRST_VALUE FIRST NTH_VALUE"), End.FIRST),
    **dict.fromkeys(split_words("LAST_VALUE LAST"), End.LAST),
}


def read_function(call: WindowCall) -> Measure:
    """Return a function over a window as a measure.

    Unlike the measures of a clause, it is computed for rows without a match, too.

    Raises:
        MatchRecognizeError: it is not a function over the rows of a match.
    """
    tokens = call.tokens
    is_row_value = tokens.key(0) in _ROW_VALUES and tokens.key(1) == "("
    value = _read_row_value(tokens) if is_row_value else _read_aggregates(tokens)
    if value is None:
        is_call = tokens.key(1) == "(" and tokens.pairs.get(1) == len(tokens) - 1
        name = tokens[0].text if is_call else " ".join(tokens.text.split())
        raise errors.function_not_over_pattern_window(tokens.full_span, name=name)
    return Measure(call.column, value, tokens.full_span, has_value_without_match=True)


_SCOPE_OF_FUNCTIONS = Scope(ClausePart.MEASURES)


def _read_aggregates(tokens: TokenSequence) -> Scalar | None:
    """Return an expression over aggregates of columns; None for other expressions."""
    scalar = parse_scalar(tokens, _SCOPE_OF_FUNCTIONS)
    for reference in scalar.references:
        if not isinstance(reference, Aggregate) or reference.function == MATCHED_ROWS:
            return None
        if not all(reads_columns_only(term) for term in list_terms(reference)):
            return None
    return set_final_semantics(scalar) if scalar.references else None


def _read_row_value(tokens: TokenSequence) -> Scalar | None:
    """Return FIRST_VALUE, LAST_VALUE or NTH_VALUE of a column; None if its arguments are others."""
    name = tokens.key(0)
    closing = tokens.pairs[1]
    arguments = tokens.split_at_commas(2, closing)
    has_number = name == "NTH_VALUE"
    number_of_arguments = 2 if has_number else 1
    is_empty = closing == 2
    if closing != len(tokens) - 1 or len(arguments) != number_of_arguments or is_empty:
        return None
    digits = tokens.text_at(tokens.span(*arguments[1])) if has_number else "1"
    number = read_whole_number(digits) if digits.isdigit() else None
    span = tokens.span(*arguments[0])
    term = parse_scalar(tokens.cut_out(*arguments[0]), _SCOPE_OF_FUNCTIONS)
    navigations = {
        reference.navigation
        for reference in term.references
        if isinstance(reference, ColumnReference)
    }
    reads_current_row = navigations <= {Navigation()}
    if not number or not reads_columns_only(term) or not reads_current_row:
        return None
    navigation = Navigation(None, _ROW_VALUES[name], number - 1, 0, Semantics.FINAL)
    text, names = write_row_sql(term), find_column_names(term)
    return Term((ColumnReference(navigation, text, span, term.operations, names),), span)


PASSED = "before the match"
MATCHED = "the match"


def build_seek_plan(plan: MatchPlan) -> MatchPlan:
    """Return the plan of a window with SEEK: its match may start after the current row.

    Raises:
        MatchRecognizeError: the plan has what cannot be expressed once rows are passed over.
    """
    target = plan.after_match.variable
    if target:
        # To skip to the first row of a match is an error when the query runs. If rows were passed
        # over, that row would not be the first one any more, and the error would be missed.
        rows_before = count_rows_before(plan.pattern)
        members = [plan.variables[member] for member in plan.members[target]]
        if any(rows_before[member][0] == 0 for member in members):
            what = f"AFTER MATCH SKIP TO {target}, which may be the match's first row,"
            raise errors.part_not_allowed_with_seek(plan.after_match.span, what=what)
    for name in (*plan.variables, *plan.unions):
        if name in (PASSED, MATCHED):
            raise errors.part_not_allowed_with_seek(
                plan.pattern.span, what=f"a variable called `{name}`"
            )
    passed = patterns.Quantified(patterns.Variable(PASSED), 0, None, greedy=False)
    pattern = patterns.make_concatenation([passed, plan.pattern], plan.pattern.span)
    union = Subset(MATCHED, patterns.list_variable_names(plan.pattern))
    with_union = replace(plan, pattern=pattern, subsets=(*plan.subsets, union))
    return map_plan_references(with_union, read_match_only)


def read_match_only(reference: Reference) -> Reference:
    """Return a reference to rows of the match alone, and not to those that were passed over.

    Raises:
        MatchRecognizeError: that cannot be expressed.
    """
    match reference:
        case Aggregate(variable=variable):
            if MatchValue(MatchFunction.ROW_NUMBER) in list_inner_references(reference):
                raise errors.part_not_allowed_with_seek(reference.span, what="MATCH_ROW_NUMBER()")
            return replace(reference, variable=variable or MATCHED)
        case Classifier(navigation) if navigation.physical_offset:
            raise errors.part_not_allowed_with_seek(
                reference.span, what="PREV or NEXT of CLASSIFIER()"
            )
        case ColumnReference(navigation) | Classifier(navigation) if not navigation.is_last:
            moved = replace(navigation, variable=navigation.variable or MATCHED)
            return replace(reference, navigation=moved)
        case _:  # a value of the match, or the last row, which is one of the match's
            return reference


def lower_window(
    clause: MatchRecognize,
    calls: tuple[WindowCall, ...],
    values: ParameterValues = MappingProxyType({}),
) -> MatchPlan:
    """Return the plan of a window.

    Its measures are named like the columns that replace their calls. Measures that nothing calls
    are checked, and named by `name_uncalled`.

    Args:
        clause: the clause of the window.
        calls: the calls over it.
        values: the values of parameters, see `lower_clause`.

    Raises:
        MatchRecognizeError: the window is malformed, or has what a window may not have.
    """
    _reject_options_in_window(clause)
    plan = lower_clause(replace(clause, search=None, search_span=None), values)
    _reject_functions_in_window(plan)
    functions = [read_function(call) for call in calls if not call.measure]
    if clause.search is InitialOrSeek.SEEK:
        plan = build_seek_plan(plan)
        functions = [
            replace(function, value=map_references(function.value, read_match_only))
            for function in functions
        ]
    frame = clause.frame
    assert frame is not None
    if isinstance(frame.rows, patterns.Parameter):
        frame = replace(frame, rows=read_number(frame.rows, values, "the length of a frame"))
    constant_length = None  # one that the engine computes, such as 2 + 3
    if isinstance(frame.rows, TokenSequence):
        length = parse_row_expression(frame.rows, ClausePart.FRAME)
        if length.amount is not None:
            frame = replace(frame, rows=_count_rows(length.amount, frame.rows.full_span))
        elif length.is_constant:
            constant_length = length
    restricted = replace(
        FrameRestriction(plan, frame).restrict_plan(), frame_length=constant_length
    )
    measures = (*_rename_measures(plan.measures, calls), *functions)
    if isinstance(frame.rows, TokenSequence):
        _reject_next_in_measures(measures)
    return replace(restricted, measures=measures, rows_per_match=RowsPerMatch.EACH_ROW)


def _reject_next_in_measures(measures: tuple[Measure, ...]) -> None:
    """Raise an error for NEXT in a frame of a length that differs from row to row.

    The worker does not know the end of such a frame.
    """
    for measure in measures:
        for reference in measure.value.references:
            if not isinstance(reference, ColumnReference):
                continue
            if reference.navigation.physical_offset > 0:
                raise errors.next_with_varying_frame(reference.span)


def _count_rows(amount: Amount, span: Span) -> int | None:
    """Return the number of rows that a literal is; None if no partition has as many.

    Raises MatchRecognizePlanError for a length that is not a whole number of rows, 0 or more.
    """
    if amount.is_time:
        raise errors.wrong_frame_length(span, length="an interval")
    if amount.value < 0:
        raise errors.wrong_frame_length(span, length="negative")
    if amount.value.denominator > 1:
        raise errors.wrong_frame_length(span, length="not a whole number")
    return read_whole_number(str(amount.value.numerator))


def _rename_measures(
    measures: tuple[Measure, ...], calls: tuple[WindowCall, ...]
) -> Iterator[Measure]:
    """Yield the measures with the names of the columns that replace their calls.

    Raises:
        MatchRecognizeError: two measures have the same name.
    """
    names = [(measure.name, measure.span) for measure in measures]
    check_unique(names, duplicate_measure, str.lower)
    columns = {call.measure.lower(): call.column for call in calls if call.measure}
    for measure in measures:
        column = columns.get(measure.name.lower(), name_uncalled(measure.name))
        yield replace(measure, name=column, reference_name=measure.name)


def _reject_options_in_window(clause: MatchRecognize) -> None:
    """Raise an error for options and pattern symbols that a window may not have."""
    for window in clause.windows:
        raise errors.part_not_allowed_in_window(window.interval_span, what="WITHIN")
    for option in (clause.partial, clause.first_matches, clause.selection, clause.output):
        if option is not None:
            span = getattr(option, "span", clause.pattern_span)
            raise errors.part_not_allowed_in_window(span or clause.span, what=option.words)
    for node in patterns.walk_pattern(clause.pattern):
        if isinstance(node, patterns.Negation | patterns.PartitionStart | patterns.PartitionEnd):
            what = (
                "NOT in PATTERN"
                if isinstance(node, patterns.Negation)
                else patterns.show_pattern(node)
            )
            raise errors.part_not_allowed_in_window(node.span or clause.pattern_span, what=what)


def _reject_functions_in_window(plan: MatchPlan) -> None:
    """Raise an error for functions that a window may not call."""
    for reference in chain.from_iterable(map(list_all_references, plan.expressions)):
        span = reference.span or Span(0, 0)
        if reference == MATCH_NUMBER:
            raise errors.part_not_allowed_in_window(span, what="MATCH_NUMBER()")
        if isinstance(reference, Aggregate) and reference.function == MATCHED_ROWS:
            raise errors.part_not_allowed_in_window(span, what="MATCHED_ROWS()")
