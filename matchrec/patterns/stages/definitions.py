"""Define the tests of a pattern's steps: conditions of stages, ends of loops, and windows.

A test is a definition of the plan with a separate name. A step refers to its tests by their names:

    begin("a").where("price > 10")                    `:a where` is `price > 10`
    followed_by("b").one_or_more().until("x = 0")     `:b until`, `:b not until`,
                                                      `:b where, not until`
    followed_by("c").within("5 minutes", "previous_to_current")
                                                      `:c near`, which is true if a row comes too
                                                      late for `c`

`write_conditions` first writes all conditions into one text. `TestDefinitions` then builds the
steps, and parses a condition from that text each time it defines a test with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from typing_extensions import override

from matchrec.patterns.stages import checks, tree
from matchrec.patterns.stages.conditions import CANDIDATE, NOWHERE, bind_condition, set_variable
from matchrec.patterns.stages.query import PatternQuery
from matchrec.patterns.stages.steps import StepBuilder
from matchrec.plan import clauses
from matchrec.plan.build_expressions import (
    join_conditions,
    make_column,
    make_comparison,
    make_complement,
    make_difference_test,
    make_literal,
    make_number,
)
from matchrec.plan.change_expressions import map_column_references
from matchrec.plan.expression import ColumnReference, End, Navigation, Scalar, Semantics, Term
from matchrec.plan.operations import find_operator_operations
from matchrec.plan.stages import NeighbourWindow, Timeouts, Until
from matchrec.plan.text import write_sum_or_null
from matchrec.source import Source, write_section
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.durations import Duration
from matchrec.syntax.expressions.expression import parse_scalar
from matchrec.syntax.expressions.scope import Scope
from matchrec.syntax.tokenize import read_tokens


def make_sum(navigation: Navigation, sql: str) -> Term:
    """Return a sum of values of one row, evaluated on the row that a navigation finds.

    Args:
        navigation: finds the row.
        sql: the sum as SQL over that row, such as `(ts) + (0L)`.
    """
    reference = ColumnReference(navigation, sql, operations=find_operator_operations("+"))
    return Term((reference,), NOWHERE)


def make_order_column(navigation: Navigation, order: clauses.RowExpression) -> Term:
    """Return the order column on the row that a navigation finds."""
    return make_column(navigation, order.text, column_path=order.column_path)


def write_window_end(order: str, window: str) -> str:
    """Return the end of the window that begins with a row, as SQL over that row.

    The SQL gives NULL if the type of the order column cannot hold the end.

    Args:
        order: the order column as SQL: `ts`.
        window: the length of the window as SQL: `INTERVAL 5 MINUTE` or `10`.
    """
    # With the suffix, the sum is BIGINT even if the order column is a narrower integer.
    return write_sum_or_null(order, f"{window}L" if window.isdigit() else window)


@dataclass(frozen=True, slots=True)
class WrittenConditions:
    """All conditions of a pattern in one text, to which the spans in messages refer.

    Each condition is a section, whose heading names the call and the stage: see `write_section`.
    """

    # The text.
    source: Source
    # The index in the text at which each condition begins, by the `id` of the `StageCondition`,
    # because equal conditions may occur several times. The caller must keep the conditions.
    offsets: dict[int, int]

    def find_offset(self, condition: tree.StageCondition) -> int:
        """Return the index in the text at which a condition of the pattern begins."""
        return self.offsets[id(condition)]


def write_conditions(stages: tuple[tree.Stage, ...]) -> WrittenConditions:
    """Write all conditions of a pattern into one text, each in its own section."""
    text = ""
    offsets = {}
    for call, condition in name_calls(stages):
        text += write_section(call)
        offsets[id(condition)] = len(text)
        text += f"{condition.expression}\n"
    return WrittenConditions(Source(text), offsets)


def name_calls(stages: tuple[tree.Stage, ...]) -> Iterator[tuple[str, tree.StageCondition]]:
    """Yield each condition of a pattern after how messages name its call: where() of stage `a`."""
    for stage in stages:
        yield from name_calls(stage.stages)
        for condition in stage.conditions:
            call = "or_where" if condition.is_alternative else "where"
            yield f"{call}() of {stage.label}", condition
        if stage.until is not None:
            yield f"until() of {stage.label}", stage.until


@dataclass
class TestDefinitions(StepBuilder):
    """A builder of the steps of a plan, which also defines the tests to which the steps refer.

    Call `build_steps` once, and then read `definitions` and the windows.
    """

    # The pattern and the settings of its query.
    query: PatternQuery
    # The conditions of the pattern, in one text.
    written_conditions: WrittenConditions
    # The definitions of the tests so far, by the names of the tests, in the order of `build_steps`.
    definitions: dict[str, clauses.Definition] = field(default_factory=dict)
    # The lengths of the windows between neighbouring events, by the names of the tests that check
    # them.
    windows: dict[str, Duration] = field(default_factory=dict)

    __test__ = False  # not a test for pytest

    @override
    def make_condition_test(self, stage: tree.Stage) -> str:
        """Define the test of the conditions of a stage, and return its name."""
        return self.define(f"{stage.name} where", self.combine_conditions(stage.conditions))

    @override
    def make_until_tests(self, stage: tree.Stage) -> Until | None:
        """Define the tests that end the loop of a stage, and return their names.

        Return None if no event ends the loop.
        """
        if stage.until is None:
            return None
        end_condition = self.parse_condition(stage.until)
        complement = make_complement(end_condition)
        until_test = self.define(f"{stage.name} until", end_condition)
        not_until_test = self.define(f"{stage.name} not until", complement)
        if stage.is_group:
            return Until(until_test, not_until_test)
        stage_condition = self.combine_conditions(stage.conditions)
        take_condition = join_conditions("AND", (stage_condition, complement))
        take_test = self.define(f"{stage.name} where, not until", take_condition)
        return Until(until_test, not_until_test, take_test)

    @override
    def make_distance_test(self, label: str, window: Duration | None) -> str | None:
        """Define the test that a row is too far after the row mapped before it.

        Returns:
            The name of the test. None if there is no window, or if the window is superfluous,
            because the window of the whole match is not longer.
        """
        if window is None:
            return None
        match_window = checks.find_match_window(self.query.pattern._stages)
        is_superfluous = match_window is not None and window >= match_window
        if is_superfluous:
            return None
        test = self.define(label, make_complement(self.compare_distance(window)))
        self.windows[test] = window
        return test

    def compare_distance(self, window: Duration) -> Scalar:
        """Return the condition that the candidate is less than a window after the previous row.

        The previous row is the last row of the match so far, which may be any number of rows before
        the candidate. A window of 10 gives `(candidate.ts + 0L) - (previous.ts + 0L) < 10`, and a
        window of five minutes `candidate.ts < previous.ts + INTERVAL 5 MINUTE`.
        """
        order = self.query.order[0]
        candidate = Navigation(CANDIDATE)
        previous_row = Navigation()
        if window.sql.isdigit():
            # As BIGINT, a difference overflows only if it is longer than any window.
            order_as_bigint = f"({order.text}) + (0L)"
            return make_difference_test(
                make_sum(candidate, order_as_bigint),
                make_sum(previous_row, order_as_bigint),
                make_number(int(window.sql), NOWHERE),
            )
        end = make_sum(previous_row, f"({order.text}) + ({window.sql})")
        return make_comparison("<", make_order_column(candidate, order), end)

    def build_neighbour_windows(self) -> tuple[NeighbourWindow, ...]:
        """Return the windows between neighbouring events, the shortest first."""
        tests = sorted(self.windows, key=lambda test: self.windows[test])
        return tuple(self.build_neighbour_window(test, self.windows[test]) for test in tests)

    def build_neighbour_window(self, test: str, length: Duration) -> NeighbourWindow:
        """Return the window between neighbouring events that a test checks."""
        last_row = Navigation(end=End.LAST, semantics=Semantics.FINAL)
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
            first_row = Navigation(end=End.FIRST, semantics=Semantics.FINAL)
            end_sql = write_window_end(self.query.order_by[0], match_window.sql)
            match_end = make_column(first_row, end_sql)
        return Timeouts(match_end, self.build_neighbour_windows())

    def define(self, label: str, scalar: Scalar) -> str:
        """Define a new test.

        In the definition, the variable of the candidate's columns is the name of the test.

        Args:
            label: the name of the stage and what is tested, such as `a where`.
            scalar: the condition, in which the variable of the candidate's columns is `CANDIDATE`.

        Returns:
            The name of the test, such as `:a where`. No stage has a colon in its name.
        """
        name = f":{label}"
        # Labels can be equal, because all groups have the same name.
        while name in self.definitions:
            name += "'"

        def read_candidate(column: ColumnReference) -> ColumnReference:
            """Return a column of the new test for a column of `CANDIDATE`, else the same column."""
            is_candidate = column.navigation.variable == CANDIDATE
            return set_variable(column, name) if is_candidate else column

        self.definitions[name] = clauses.Definition(
            name, map_column_references(scalar, read_candidate)
        )
        return name

    def combine_conditions(self, conditions: tuple[tree.StageCondition, ...]) -> Scalar:
        """Return the conditions of a stage as one expression; TRUE if there are none."""
        if not conditions:
            return make_literal("TRUE", NOWHERE)
        return tree.combine_conditions(conditions, self.parse_condition, join_conditions)

    def parse_condition(self, condition: tree.StageCondition) -> Scalar:
        """Parse a condition, and return it as an expression over the candidate and over stages.

        Raises:
            MatchRecognizeError: the condition is wrong.
        """
        text = condition.expression
        assert isinstance(text, str), "`tree.name_column_conditions` replaces Columns"
        offset = self.written_conditions.find_offset(condition)
        tokens = read_tokens(text, self.query.dialect, offset=offset)
        return bind_condition(parse_scalar(tokens, self.scope), self.names_by_spelling)

    @cached_property
    def scope(self) -> Scope:
        """Return the scope of a condition: it may refer to the names of stages."""
        return Scope(ClausePart.DEFINE, tuple(self.names_by_spelling))

    @cached_property
    def names_by_spelling(self) -> dict[str, str]:
        """Return the names of stages by the spellings in `Token.variable`.

        These are the name as the user defined it, for a name in backticks, and the name in upper
        case, for a name without backticks.
        """
        names = {}
        for name in self.query.stage_names:
            names[name] = name
            names[name.upper()] = name
        return names
