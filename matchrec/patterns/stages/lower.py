"""Lower a `Pattern` to a `MatchPlan`.

1. Write all conditions into one text, one below the other, so that errors can show them.
2. Stages become steps, see `plan.stages`. Each condition becomes a test: a definition that has a
   name of its own. The window of the whole match becomes WITHIN, and a window between neighbouring
   events becomes a test, too.
3. The rows of matches become a row pattern, and the fields of the result become measures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from matchrec.errors import stages as errors
from matchrec.errors.kinds import locate_errors
from matchrec.errors.language import PATTERN_CALLS
from matchrec.patterns.stages import checks, tree
from matchrec.patterns.stages.builder import Pattern
from matchrec.plan import clauses
from matchrec.plan.expression import (
    MATCH_NUMBER,
    Aggregate,
    Classifier,
    ColumnReference,
    End,
    MatchValue,
    Navigation,
    Operation,
    Reference,
    Scalar,
    Semantics,
    Term,
    build_difference_test,
    compare_scalars,
    join_conditions,
    list_inner_references,
    make_column,
    make_complement,
    make_literal,
    make_number,
    map_column_references,
    map_terms,
    write_row_sql,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operations import find_operator_operations
from matchrec.plan.rules import check_plan
from matchrec.plan.stages import NeighbourWindow, Skip, Staging, Timeouts, Until, build_row_pattern
from matchrec.plan.text import quote_name, write_sum_or_null
from matchrec.source import Source, Span
from matchrec.syntax.durations import Duration
from matchrec.syntax.expressions.expression import make_key_expression, parse_scalar
from matchrec.syntax.expressions.reader import ClausePart, Scope
from matchrec.syntax.tokens import SPARK, Dialect, read_tokens

# Conditions of stages as expressions.
#
# While a condition is evaluated, the event that it tests, the candidate, is not mapped yet. So a
# plain column is read through the name of the test, which stands for the candidate; the name of a
# stage stands for the events that the stage has accepted so far.

# Stands for the name of the test until the test is defined. No stage has a colon in its name.
_CANDIDATE = ":candidate"

NOWHERE = Span(0, 0)
FINAL = Semantics.FINAL


def bind_condition(scalar: Scalar, stage_names: Mapping[str, str]) -> Scalar:
    """Return a condition as an expression over the candidate and over stages.

    A sum over no events is 0, as in Flink.

    Args:
        scalar: the condition as SQL over variables.
        stage_names: each spelling of a stage, and its name.

    Raises:
        MatchRecognizeError: the condition reads anything else, such as a neighbouring event.
    """
    if isinstance(scalar, Operation):
        return scalar.map_operands(lambda operand: bind_condition(operand, stage_names))
    pieces = tuple(
        piece if isinstance(piece, str) else _bind_reference(piece, stage_names)
        for piece in scalar.pieces
    )
    term = replace(scalar, pieces=pieces)
    if not _is_single_sum(term):
        return term
    zero = make_number(0, term.span)
    return Operation("COALESCE", ("coalesce(", term, ", ", zero, ")"), term.span)


def _is_single_sum(term: Term) -> bool:
    """Return whether a term is nothing but one sum over events, perhaps in parentheses."""
    texts = [piece for piece in term.pieces if isinstance(piece, str)]
    if any(text.strip(" ()\t\r\n") for text in texts):
        return False
    sums = [
        reference
        for reference in term.references
        if isinstance(reference, Aggregate) and reference.function == "sum"
    ]
    return len(sums) == 1


def _bind_reference(reference: Reference, stage_names: Mapping[str, str]) -> Reference:
    """Return a reference that reads the candidate, or an event or the events of a stage.

    Raises:
        MatchRecognizeError: it reads anything else.
    """
    match reference:
        case ColumnReference(navigation=navigation):
            if navigation.physical_offset:
                raise errors.neighbour_in_stage(reference.span)
            if navigation.variable is not None:
                return _read_from(reference, stage_names[navigation.variable])
            if navigation.end is End.FIRST or navigation.logical_offset:
                function = navigation.end.value.lower()
                raise errors.aggregate_over_no_stage(reference.span, function=function)
            return _read_from(reference, _CANDIDATE)
        case Aggregate():
            return _bind_aggregate(reference, stage_names)
        case Classifier():
            raise errors.match_function_in_stage(reference.span, function="CLASSIFIER")
        case MatchValue(function):
            raise errors.match_function_in_stage(reference.span, function=function.value)


def _bind_aggregate(aggregate: Aggregate, stage_names: Mapping[str, str]) -> Aggregate:
    """Return an aggregate over the events of a stage: `sum(a.x)`, `count(a)`.

    Raises:
        MatchRecognizeError: it reads MATCH_NUMBER, or is not over the events of one stage.
    """
    for reference in list_inner_references(aggregate):
        if reference == MATCH_NUMBER:
            raise errors.match_function_in_stage(reference.span, function="MATCH_NUMBER")
    if aggregate.variable is not None:
        stage = stage_names[aggregate.variable]
        return map_terms(
            replace(aggregate, variable=stage),
            lambda term: map_column_references(term, lambda column: _read_from(column, stage)),
        )
    # In `count(a)`, the stage has been read as a column.
    pieces = [piece for argument in aggregate.arguments for piece in argument.pieces]
    is_column = len(pieces) == 1 and isinstance(pieces[0], ColumnReference)
    column = write_row_sql(aggregate.arguments[0]) if is_column else ""
    counted_stage = stage_names.get(column.replace("`", "")) or stage_names.get(column.upper())
    if aggregate.function != "count" or counted_stage is None:
        raise errors.aggregate_over_no_stage(aggregate.span, function=aggregate.function)
    return replace(aggregate, variable=counted_stage, arguments=())


def _read_from(column: ColumnReference, name: str) -> ColumnReference:
    """Return the column, read on a row of a stage or of a test."""
    return replace(column, navigation=replace(column.navigation, variable=name))


# Times along the order column.


def read_sum(navigation: Navigation, text: str) -> Term:
    """Return a sum over one row, such as `(ts) + (0L)`, on the row that a navigation finds."""
    return Term((ColumnReference(navigation, text, None, find_operator_operations("+")),), NOWHERE)


def read_order(navigation: Navigation, order: clauses.RowExpression) -> Term:
    """Return the order column on the row that a navigation finds."""
    return make_column(navigation, order.text, names=order.names)


def write_window_end(order: str, window: str) -> str:
    """Return the end of the window that begins with a row, as SQL over that row.

    The value is NULL if the type of the order column cannot hold it.

    Args:
        order: the order column as SQL.
        window: the length of the window as SQL.
    """
    return write_sum_or_null(order, f"{window}L" if window.isdigit() else window)


# The fields of the result.


def list_measures(query: PatternQuery) -> Iterator[clauses.Measure]:
    """Yield the measures of a query.

    A match has its number, its first and last time, and for each stage the array of its events. An
    event has the number of its match and the name of its stage.
    """
    yield make_measure("match_number", MATCH_NUMBER)
    if not query.rows.summarizes_matches:
        yield make_measure("stage", Classifier(Navigation()))
        return
    for name, end in ("start_time", End.FIRST), ("end_time", End.LAST):
        navigation = Navigation(end=end, semantics=FINAL)
        yield clauses.Measure(name, read_order(navigation, query.order[0]))
    event = f"struct({', '.join(quote_name(column) for column in query.columns) or '*'})"
    for stage in query.stage_names:
        reference = ColumnReference(Navigation(stage), event, fields=query.columns)
        argument = Term((reference,), NOWHERE)
        yield make_measure(stage, Aggregate("collect_list", stage, (argument,), FINAL))


def make_measure(name: str, reference: Reference) -> clauses.Measure:
    """Return a measure that is one reference."""
    return clauses.Measure(name, Term((reference,), NOWHERE))


@dataclass(frozen=True)
class PatternQuery:
    """A pattern over events, and what is returned of its matches."""

    # The pattern.
    pattern: Pattern
    # The keys by which events are ordered, as SQL over one event.
    order_by: tuple[str, ...]
    # The keys that divide events into partitions, as SQL over one event.
    partition_by: tuple[str, ...]
    # The columns of an event in the result; empty for all columns.
    columns: tuple[str, ...]
    # One row for each match, or one row for each of its events.
    rows: clauses.RowsPerMatch = clauses.RowsPerMatch.ONE_ROW
    # Whether runs that timed out are output, too.
    timeouts: bool = False
    # The dialect of the conditions.
    dialect: Dialect = SPARK

    @cached_property
    def order(self) -> tuple[clauses.RowExpression, ...]:
        """The expressions of `order_by`."""
        return tuple(make_key_expression(text) for text in self.order_by)

    @cached_property
    def stage_names(self) -> tuple[str, ...]:
        """The names of the stages that have events."""
        stages = tree.list_named_stages(self.pattern.stages)
        return tuple(stage.name for stage in stages if not stage.negated)


def lower_pattern(query: PatternQuery) -> tuple[MatchPlan, Source]:
    """Return the plan of a pattern, and the text of its conditions, which spans refer to.

    Raises:
        MatchRecognizeError: the pattern or a condition is wrong.
    """
    pattern = query.pattern
    checks.check_end(pattern.stages)
    check_skip_target(query)
    source, offsets = write_conditions(pattern.stages)
    with locate_errors(source, PATTERN_CALLS):
        tests = TestDefinitions(query, offsets)
        steps = tests.build_steps(pattern.stages)
        match_window = checks.find_match_window(pattern.stages)
        skip = None
        if pattern.skip.to is not None:
            skip = Skip(pattern.skip.to, pattern.skip.stage, pattern.skip.throws)
        most_matches = pattern.most_matches
        plan = MatchPlan(
            pattern=build_row_pattern(steps),
            partition_by=tuple(make_key_expression(text) for text in query.partition_by),
            order_by=tuple(clauses.SortItem(key) for key in query.order),
            measures=tuple(list_measures(query)),
            rows_per_match=query.rows,
            within=None
            if match_window is None
            else clauses.Within(match_window.build_expression()),
            definitions=tuple(tests.definitions.values()),
            output=clauses.MatchOutput.ALL,
            first_matches=None if most_matches is None else clauses.FirstMatches(most_matches),
            staging=Staging(
                steps,
                tests=tuple(tests.definitions),
                neighbour_windows=tests.build_neighbour_windows(),
                skip=skip,
                timeouts=tests.build_timeouts(match_window) if query.timeouts else None,
            ),
        )
        check_plan(plan)
        return plan, source


def check_skip_target(query: PatternQuery) -> None:
    """Check that the stage of `skip_to_first` or `skip_to_last` has events.

    Raises:
        MatchRecognizePlanError: the pattern has no such stage.
    """
    skip = query.pattern.skip
    if skip.stage is not None and skip.stage not in query.stage_names:
        call = "skip_to_first" if skip.to is clauses.SkipTo.FIRST else "skip_to_last"
        raise errors.unknown_skip_target(call=call, name=skip.stage, stages=query.stage_names)


def write_conditions(stages: tuple[tree.Stage, ...]) -> tuple[Source, dict[int, int]]:
    """Write all conditions into one text for messages: `a, where: price > 10`, one on each line.

    Returns:
        The text, and the offset of each condition in it by the condition's `id`: equal conditions
        may occur several times.
    """
    text = ""
    offsets = {}
    for label, condition in label_conditions(stages):
        offsets[id(condition)] = len(f"{text}{label}: ")
        text += f"{label}: {condition.expression}\n"
    return Source(text), offsets


def label_conditions(stages: tuple[tree.Stage, ...]) -> Iterator[tuple[str, tree.Test]]:
    """Yield every condition of a pattern after the label that messages give it."""
    for stage in stages:
        yield from label_conditions(stage.stages)
        for condition in stage.conditions:
            yield f"{stage.name}, where", condition
        if stage.until is not None:
            yield f"{stage.name}, until", stage.until


@dataclass
class TestDefinitions(tree.StepBuilder):
    """A builder of steps from stages, which also defines the tests of the steps."""

    # The pattern and the settings of its query.
    query: PatternQuery
    # Where each condition begins in the text of all conditions, by its `id`.
    offsets: dict[int, int]
    # The definitions so far, by the name of the test.
    definitions: dict[str, clauses.Definition] = field(default_factory=dict)
    # The windows between neighbouring events, by the name of the test.
    windows: dict[str, Duration] = field(default_factory=dict)

    __test__ = False  # not a test for pytest

    def name_condition(self, stage: tree.Stage) -> str:
        """Define the test of the conditions of a stage, and return its name."""
        return self.define(f"{stage.name} where", self.combine_conditions(stage.conditions))

    def name_until(self, stage: tree.Stage) -> Until | None:
        """Define the tests that end the loop of a stage, and return their names."""
        if stage.until is None:
            return None
        ends = self.parse_condition(stage.until)
        test = self.define(f"{stage.name} until", ends)
        goes_on = self.define(f"{stage.name} not until", make_complement(ends))
        if stage.is_group:
            return Until(test, goes_on)
        take = join_conditions(
            "AND", (self.combine_conditions(stage.conditions), make_complement(ends))
        )
        return Until(test, goes_on, self.define(f"{stage.name} where, not until", take))

    def name_distance(self, label: str, window: Duration | None) -> str | None:
        """Define the test that a row is too far after the row mapped before it.

        Returns:
            The name of the test, or None if the window of the whole match is not longer, so that it
            makes the test superfluous.
        """
        match_window = checks.find_match_window(self.query.pattern.stages)
        if window is None or (match_window is not None and window >= match_window):
            return None
        test = self.define(label, make_complement(self.compare_distance(window)))
        self.windows[test] = window
        return test

    def compare_distance(self, window: Duration) -> Scalar:
        """Return the test that the candidate is less than a window after the row before it."""
        order = self.query.order[0]
        candidate = Navigation(_CANDIDATE)
        row_before = Navigation()
        if window.sql.isdigit():
            # As BIGINT, a difference overflows only if it is longer than any window.
            wide_order = f"({order.text}) + (0L)"
            return build_difference_test(
                read_sum(candidate, wide_order),
                read_sum(row_before, wide_order),
                make_number(int(window.sql), NOWHERE),
            )
        end = read_sum(row_before, f"({order.text}) + ({window.sql})")
        return compare_scalars("<", read_order(candidate, order), end)

    def build_neighbour_windows(self) -> tuple[NeighbourWindow, ...]:
        """Return the windows between neighbouring events, the shortest first."""
        tests = sorted(self.windows, key=lambda test: self.windows[test])
        return tuple(self.build_neighbour_window(test, self.windows[test]) for test in tests)

    def build_neighbour_window(self, test: str, length: Duration) -> NeighbourWindow:
        """Return the window of a test and of a length."""
        last_row = Navigation(end=End.LAST, semantics=FINAL)
        end_sql = write_window_end(self.query.order_by[0], length.sql)
        return NeighbourWindow(
            test,
            length=length.build_expression(),
            end_sql=end_sql,
            end=make_column(last_row, end_sql),
        )

    def build_timeouts(self, match_window: Duration | None) -> Timeouts:
        """Return the windows at whose end a run times out.

        Args:
            match_window: the length of the window of the whole match; None if there is none.
        """
        match_end = None
        if match_window is not None:
            first_row = Navigation(end=End.FIRST, semantics=FINAL)
            end_sql = write_window_end(self.query.order_by[0], match_window.sql)
            match_end = make_column(first_row, end_sql)
        return Timeouts(match_end, self.build_neighbour_windows())

    def define(self, label: str, scalar: Scalar) -> str:
        """Define a new test, which reads the candidate through its own name.

        Returns:
            The name. It begins with a colon, which no stage has in its name.
        """
        name = f":{label}"
        while name in self.definitions:
            name += "'"

        def read_candidate(column: ColumnReference) -> ColumnReference:
            """Return the column read from the new test if it was read from the candidate."""
            is_candidate = column.navigation.variable == _CANDIDATE
            return _read_from(column, name) if is_candidate else column

        self.definitions[name] = clauses.Definition(
            name, map_column_references(scalar, read_candidate)
        )
        return name

    def combine_conditions(self, tests: tree.StageTests) -> Scalar:
        """Return the conditions of a stage as one expression. Without any, every event is taken."""
        if not tests:
            return make_literal("TRUE", NOWHERE)
        return tree.combine_tests(tests, self.parse_condition, join_conditions)

    def parse_condition(self, test: tree.Test) -> Scalar:
        """Return a condition as an expression over the candidate and over stages."""
        tokens = read_tokens(test.expression, self.query.dialect, self.offsets[id(test)])
        return bind_condition(parse_scalar(tokens, self.scope), self.spellings)

    @cached_property
    def scope(self) -> Scope:
        """The names that a condition may refer to."""
        return Scope(ClausePart.DEFINE, tuple(self.spellings))

    @cached_property
    def spellings(self) -> dict[str, str]:
        """Each spelling of a stage in a condition, and the name of the stage."""
        spellings = {}
        for name in self.query.stage_names:
            spellings[name] = name
            spellings[name.upper()] = name
        return spellings
