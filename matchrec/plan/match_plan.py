"""`MatchPlan`: what a row pattern query means, in whichever language it was written.

Every front end (SQL, SASE+, the fluent `Pattern`) lowers a query to a `MatchPlan`, and calls
`rules.check_plan`, which rejects plans without a meaning. When the columns of the input are known,
`resolve` resolves the names of columns. The package `compile` then compiles the plan to what the
engine and the workers run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from matchrec.plan import clauses
from matchrec.plan.build_expressions import make_column
from matchrec.plan.change_expressions import map_references
from matchrec.plan.expression import (
    MATCHED_ROWS,
    Aggregate,
    Classifier,
    Navigation,
    Reference,
    Scalar,
    Semantics,
    Term,
    are_identical,
)
from matchrec.plan.pattern import RowPattern, list_negated_names, list_variable_names
from matchrec.source import Span

if TYPE_CHECKING:
    from matchrec.plan.stages import Staging
    from matchrec.plan.totals import Totals


@dataclass(frozen=True)
class MatchPlan:
    """A row pattern query, independent of its syntax and of any session.

    Names of variables are normalized, and defaults are filled in. Expressions are trees of SQL text
    and typed references: see `plan.expression`.
    """

    # PATTERN. For a pattern of stages: the rows of its matches, see `staging`.
    pattern: RowPattern

    # The rows: how they are divided and ordered.

    # The columns that divide the rows into partitions and are output.
    partition_by: tuple[clauses.RowExpression, ...] = ()
    order_by: tuple[clauses.SortItem, ...] = ()
    # Expressions that have one value on all rows of a match. They divide the rows into partitions,
    # as `partition_by` does, but are not output.
    equivalence_keys: tuple[clauses.RowExpression, ...] = ()

    # The output options: which matches, rows and columns are output.

    measures: tuple[clauses.Measure, ...] = ()
    rows_per_match: clauses.RowsPerMatch = clauses.RowsPerMatch.ONE_ROW
    # The order of the output columns.
    column_order: clauses.ColumnOrder = clauses.ColumnOrder.STANDARD
    # Which matches are output.
    output: clauses.MatchOutput = clauses.MatchOutput.PREFERRED
    # How many matches of each partition are output; None for all.
    first_matches: clauses.FirstMatches | None = None
    # Which runs are output although they did not complete a match; None for no such runs.
    partial: clauses.PartialMatches | None = None
    # The aggregates over all matches that are output instead of matches; None for matches.
    totals: Totals | None = None

    # What a match is, besides PATTERN.

    after_match: clauses.AfterMatchSkip = clauses.AfterMatchSkip()
    # The window of the whole match, along the first ORDER BY column; None for no such window.
    within: clauses.Within | None = None
    # The window of the whole match in rows: the most rows of the partition that a match may span.
    # None for no such window.
    within_rows: int | None = None
    # Windows inside the match.
    gaps: tuple[clauses.Gap, ...] = ()
    # Union variables.
    subsets: tuple[clauses.Subset, ...] = ()
    # DEFINE: the conditions of variables.
    definitions: tuple[clauses.Definition, ...] = ()
    # Which rows a match may skip between its own.
    selection: clauses.EventSelection = clauses.EventSelection.STRICT_CONTIGUITY
    # Variables whose condition no row may satisfy in a part of the match, as in SASE+.
    absences: tuple[clauses.Absence, ...] = ()
    # The name of the definition whose condition a complete match must satisfy; None for no such
    # condition.
    match_condition: str | None = None
    # The stages of a fluent `Pattern`, which decide how rows are matched; None for other queries.
    staging: Staging | None = None

    # Where the first part after PARTITION BY is written, before which ORDER BY belongs; None if the
    # query is not a clause in SQL.
    part_after_keys: Span | None = field(default=None, compare=False)

    # The length of a row pattern window's frame if it is a constant that only the engine can
    # compute; otherwise None.
    frame_length: clauses.RowExpression | None = None

    @property
    def partition_keys(self) -> tuple[clauses.RowExpression, ...]:
        """Return the expressions that divide the rows into partitions."""
        return (*self.partition_by, *self.equivalence_keys)

    @property
    def sorted_by(self) -> tuple[clauses.RowExpression, ...]:
        """Return the partition keys, then the keys of ORDER BY."""
        return (*self.partition_keys, *(item.expression for item in self.order_by))

    @property
    def window_lengths(self) -> tuple[clauses.RowExpression, ...]:
        """Return the lengths of windows: of the whole match, then of windows inside the match."""
        match_window = () if self.within is None else (self.within.interval,)
        return (*match_window, *(gap.interval for gap in self.gaps))

    @property
    def computed_lengths(self) -> tuple[clauses.RowExpression, ...]:
        """Return the `window_lengths` that are not literals."""
        return tuple(
            length for length in self.window_lengths if length.text and length.amount is None
        )

    @property
    def constant_lengths(self) -> tuple[clauses.RowExpression, ...]:
        """Return the `window_lengths` that are constants which only the engine can compute."""
        return tuple(
            length for length in self.window_lengths if length.is_constant and length.amount is None
        )

    @property
    def all_window_lengths(self) -> tuple[clauses.RowExpression, ...]:
        """Return the `window_lengths`, then the lengths of windows between stages."""
        if self.staging is None:
            return self.window_lengths
        between_stages = (window.length for window in self.staging.neighbour_windows)
        return (*self.window_lengths, *between_stages)

    @property
    def expressions(self) -> tuple[Scalar, ...]:
        """Return the values of measures, then the conditions of variables."""
        values = (measure.value for measure in self.measures)
        conditions = (definition.condition for definition in self.definitions)
        return (*values, *conditions)

    @cached_property
    def row_gap(self) -> clauses.Gap | None:
        """Return the window between each row of a match and the next one; None if there is none."""
        for gap in self.gaps:
            if gap.to is None:
                return gap
        return None

    @property
    def needs_event_selection(self) -> bool:
        """Return whether the query needs event selection: see `clauses.needs_event_selection`."""
        return clauses.needs_event_selection(
            self.selection, self.output, self.absences, self.match_condition
        )

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """Return all names whose conditions the search evaluates. The index of a name is its id.

        First come the primary variables of the pattern, in order of first appearance. Names to
        which no row is mapped follow:

        - `variables_without_rows`, whose conditions are about rows that must not exist,
        - `match_condition`, whose condition is about a complete match,
        - the tests of stages.
        """
        pattern_variables = list_variable_names(self.pattern)
        variables = dict.fromkeys((*pattern_variables, *self.negated_variables))
        match_condition = () if self.match_condition is None else (self.match_condition,)
        tests = () if self.staging is None else self.staging.tests
        return (*variables, *match_condition, *tests)

    @property
    def unions(self) -> tuple[str, ...]:
        """Return the names of the union variables."""
        return tuple(subset.name for subset in self.subsets)

    @property
    def negated_variables(self) -> tuple[str, ...]:
        """Return the variables under NOT, then the variables of absences, repeats included.

        The pattern may also map rows to some of them, as to `B` in `A NOT B C B`.
        """
        return (*list_negated_names(self.pattern), *(absence.variable for absence in self.absences))

    @cached_property
    def variables_without_rows(self) -> frozenset[str]:
        """Return the negated variables without rows. Only their own conditions read them."""
        return frozenset(self.negated_variables) - frozenset(list_variable_names(self.pattern))

    @property
    def matched_rows_calls(self) -> tuple[Aggregate, ...]:
        """Return the calls of MATCHED_ROWS in measures."""
        return tuple(
            reference
            for measure in self.measures
            for reference in measure.value.references
            if isinstance(reference, Aggregate) and reference.function == MATCHED_ROWS
        )

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """Return the id of each name in `variables`."""
        return {name: variable_id for variable_id, name in enumerate(self.variables)}

    @cached_property
    def members(self) -> Mapping[str | None, frozenset[int]]:
        """Return the ids of the primary variables that a name stands for, by the name.

        The key None is the universal variable, which stands for all variables of the pattern.
        """
        members: dict[str | None, frozenset[int]] = {
            name: frozenset((variable_id,)) for name, variable_id in self.ids.items()
        }
        for subset in self.subsets:
            members[subset.name] = frozenset(self.ids[member] for member in subset.members)
        members[None] = frozenset(range(len(list_variable_names(self.pattern))))
        return members


def add_equivalence_keys(plan: MatchPlan) -> MatchPlan:
    """Return the plan with the columns of equivalence tests in PARTITION BY.

    The partitions stay the same, and PARTITION BY names them completely. Keys with the same text
    are one key: the first one is kept.
    """
    unique_keys: dict[str, clauses.RowExpression] = {}
    for key in plan.partition_keys:
        unique_keys.setdefault(key.text, key)
    return replace(plan, partition_by=tuple(unique_keys.values()), equivalence_keys=())


# The graph of all matches is output with one row for each pointer. Each pointer is read like a
# match of one row, so its event and its state are ordinary measures.


def build_graph_plan(plan: MatchPlan) -> MatchPlan:
    """Return the plan with the columns of a graph, if it outputs the graph of all matches.

    All keys of the partitions are output, because a graph belongs to one partition.
    """
    if plan.output is not clauses.MatchOutput.GRAPH:
        return plan
    pointer = Navigation(semantics=Semantics.FINAL)
    state = Term((Classifier(pointer),), Span(0, 0))
    event = make_column(pointer, "struct(*)")
    measures = (clauses.Measure("state", state), clauses.Measure("event", event))
    return replace(plan, partition_by=plan.partition_keys, equivalence_keys=(), measures=measures)


def list_states(plan: MatchPlan) -> dict[str, list[str]]:
    """Return the states of each variable of a query, in the order of the pattern.

    The members of a union variable are its states, as for a Kleene plus of SASE+: `T+ a[], U b`
    gives `{"a": ["a[1]", "a[i]"], "b": ["b"]}`. Any other variable is its only state.
    """
    subset_by_member = {member: subset for subset in plan.subsets for member in subset.members}
    states: dict[str, list[str]] = {}
    for state in list_variable_names(plan.pattern):
        variable = subset_by_member[state].name if state in subset_by_member else state
        states.setdefault(variable, []).append(state)
    return states


# The part of a clause's result that the query around the clause uses. The rest of the result need
# not be computed.


@dataclass(frozen=True, slots=True)
class ColumnTest:
    """A comparison of a column with constants that each row must satisfy: `symbol = 'X'`."""

    # The name of the column: `symbol`.
    column: str
    # The operator and the constants: `= 'X'`.
    comparison: str


@dataclass(frozen=True, slots=True)
class ResultUse:
    """The part of a clause's result that the query around it uses."""

    # The lower-case names of all columns that may be read; None if every column may be.
    columns: frozenset[str] | None = None
    # A row that fails one of these tests is not used. A test of a partition column keeps or drops
    # whole partitions.
    column_tests: tuple[ColumnTest, ...] = ()
    # The lower-case names of columns that are certainly not read.
    unread: frozenset[str] = frozenset()

    def may_read(self, name: str) -> bool:
        """Return whether the column may be read."""
        column = name.lower()
        if column in self.unread:
            return False
        return self.columns is None or column in self.columns


# The use of a result by a query that may read all of its rows and columns.
EVERYTHING = ResultUse()


def drop_output_options(plan: MatchPlan, measures: tuple[clauses.Measure, ...]) -> MatchPlan:
    """Return the plan with other measures, ONE ROW PER MATCH, and no partial or first matches.

    Use it if matches are not output. Only their output depends on the dropped options.
    """
    return replace(
        plan,
        measures=measures,
        rows_per_match=clauses.RowsPerMatch.ONE_ROW,
        partial=None,
        first_matches=None,
    )


def map_expressions(plan: MatchPlan, change: Callable[[Scalar, str | None], Scalar]) -> MatchPlan:
    """Return the plan with every expression changed.

    If no expression has changed, the result is the same object, so that the plan keeps the facts
    that were computed on it.

    Args:
        plan: the plan whose conditions and measures are changed.
        change: returns the new expression. Its second argument is the variable whose condition the
            expression is, or None for the value of a measure.
    """

    def change_definition(definition: clauses.Definition) -> clauses.Definition:
        """Change the condition of a variable."""
        condition = change(definition.condition, definition.variable)
        if condition is definition.condition:
            return definition
        return replace(definition, condition=condition)

    def change_measure(measure: clauses.Measure) -> clauses.Measure:
        """Change the value of a measure."""
        value = change(measure.value, None)
        return measure if value is measure.value else replace(measure, value=value)

    definitions = tuple(map(change_definition, plan.definitions))
    measures = tuple(map(change_measure, plan.measures))
    if are_identical((*definitions, *measures), (*plan.definitions, *plan.measures)):
        return plan
    return replace(plan, definitions=definitions, measures=measures)


def map_plan_references(plan: MatchPlan, change: Callable[[Reference], Reference]) -> MatchPlan:
    """Return the plan with every reference changed, in conditions and in measures."""
    return map_expressions(plan, lambda scalar, _: map_references(scalar, change))
