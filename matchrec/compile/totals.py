"""Compile aggregates over all matches to totals, so that the matches need not be built.

Each run carries a total of what it has read so far. When a run becomes a match, its total is added
to the result. These aggregates can be computed in this way:

    over all matches    of a value in each match
    count               any value
    sum, avg            a count, a sum, or a number on the first or last row of a variable
    min, max            all of these, a minimum, a maximum, and a value of any plain type on the
                        first or last row of a variable

Some types of values have more restrictions: see `is_carried`.

A sum of minimums cannot be computed in this way, because it needs the minimum of each match. The
same is true of an average of averages.

A run ends at a row that must be absent between two rows of the match: see `absences`. Rows that
must be absent before or after the match are looked for when a match is found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from matchrec.automaton.ambiguity import can_find_match_twice
from matchrec.automaton.determinise import determinise
from matchrec.automaton.folding import Effect, Folding
from matchrec.automaton.program import VariableIds
from matchrec.automaton.run_endings import A_MATCH
from matchrec.compile.absences import end_runs_at_absent_rows
from matchrec.compile.compiled_query import ColumnAspect, TotalledColumn
from matchrec.compile.pruning.proven_shortcuts import Shortcut, find_obstacle
from matchrec.conditions.row_column import RowColumn
from matchrec.conditions.types import (
    COMPARED_BY_ENGINE,
    NUMBERS,
    Family,
    ValueType,
    is_wide_decimal,
)
from matchrec.errors import match_totals as errors
from matchrec.output.read_collector import ReadCollector
from matchrec.output.reads import ReadBasicAggregate, ReadNavigation, ReadTotal
from matchrec.plan.clauses import EventSelection, Grouping, MatchOutput
from matchrec.plan.expression import End
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.totals import TotalAggregate, Totals
from matchrec.search.task import Task, TaskTotals, Total, TotalFunction
from matchrec.shortcuts import current_shortcuts

# The functions of aggregates that runs can carry, by their names. Runs cannot carry the `avg` of
# one match, so `avg` is not among them.
TOTAL_FUNCTIONS = {function.value: function for function in TotalFunction}

# The functions whose value is one of the aggregated values.
EXTREMES = (TotalFunction.MIN, TotalFunction.MAX)


class TaskWithTotals(NamedTuple):
    """A task with its totals, and the columns that the totals read."""

    task: Task
    # The columns that the totals read. `Total.column` is an index in this tuple.
    columns: tuple[TotalledColumn, ...]


def link_totals(
    plan: MatchPlan,
    totals: Totals,
    task: Task,
    collector: ReadCollector,
    column_types: Mapping[RowColumn, ValueType],
) -> TaskWithTotals:
    """Add the totals of a plan to its task, and return the columns that they read, too.

    Args:
        plan: the plan of the query.
        totals: the aggregates over all matches of the plan.
        task: the task of the search, without totals.
        collector: the reads of all output columns.
        column_types: the types of all columns that the output may read.

    Raises:
        MustBuildMatchesError: the matches must be built to compute the totals.
    """
    if not current_shortcuts().totals:  # some tests compare totals with built matches
        raise errors.MustBuildMatchesError(errors.EACH_MATCH_MUST_BE_BUILT)
    if plan.first_matches is not None:
        raise errors.MustBuildMatchesError(errors.FIRST_MATCHES)
    reason = find_obstacle(Shortcut.TOTALS, plan, task.pattern.follow_sets)
    if reason:
        raise errors.MustBuildMatchesError(reason)
    task = end_runs_at_absent_rows(require_one_run_per_match(task, totals.grouping))
    types = {index: column_types[column] for column, index in collector.columns.items()}
    reads = [read for read in collector.reads if isinstance(read, ReadTotal)]
    aggregates = [compile_aggregate(plan, read, types) for read in reads]
    read_columns = (aggregate.column for aggregate in aggregates if aggregate.column is not None)
    columns = tuple(dict.fromkeys(read_columns))
    compiled_totals = tuple(
        Total(
            outer_function=aggregate.outer_function,
            inner_function=aggregate.inner_function,
            members=aggregate.members,
            column=None if aggregate.column is None else columns.index(aggregate.column),
            is_float=aggregate.is_float,
        )
        for aggregate in aggregates
    )
    task = replace(task, totals=TaskTotals(compiled_totals, totals.grouping))
    return TaskWithTotals(task, columns)


def require_one_run_per_match(task: Task, grouping: Grouping) -> Task:
    """Return the task, or a task with an equivalent program, that finds each match by only one run.

    Otherwise a match would count once for each run that finds it.

    Args:
        task: the task of the search.
        grouping: which matches are added up together.

    Raises:
        MustBuildMatchesError: not all runs that the search finds are matches of the output, or no
            such program is known.
    """
    check_all_matches_are_output(task, grouping)
    if not can_find_match_twice(task.pattern.folding, task.states_after_skip):
        return task
    if task.selection is EventSelection.SKIP_TILL_NEXT_MATCH or task.stages is not None:
        # Which rows a run may skip depends on its state, so states cannot be merged.
        raise errors.MustBuildMatchesError(errors.MAPPED_TWICE)
    folding = determinise(task.pattern.folding)
    if folding is None:
        # `A+ NOT B` maps rows in only one way. But one choice of A tests that the next row is not a
        # B, and another choice tests that it is, and nothing shows that they exclude each other.
        tests_next_row = has_negation_tests(task.pattern.folding)
        reason = errors.FOUND_TWICE_BY_NOT if tests_next_row else errors.MAPPED_TWICE
        raise errors.MustBuildMatchesError(reason)
    return replace(task, pattern=replace(task.pattern, folding=folding))


def check_all_matches_are_output(task: Task, grouping: Grouping) -> None:
    """Check that all matches are output, and no other runs.

    If matches are added up for each row that ends matches, they must also be complete at that row.

    Raises:
        MustBuildMatchesError: some matches are not output, other runs are output, or matches may be
            complete too late.
    """
    if task.output is not MatchOutput.ALL:
        raise errors.MustBuildMatchesError(errors.NOT_ALL_MATCHES)
    has_timeouts = task.stages is not None and task.stages.outputs_timeouts
    if task.partial is not None or has_timeouts:
        raise errors.MustBuildMatchesError(errors.RUNS_THAT_ARE_NO_MATCH)
    if task.skip is not None:
        raise errors.MustBuildMatchesError(errors.SKIP_STRATEGY)
    if grouping is Grouping.END and has_late_matches(task):
        raise errors.MustBuildMatchesError(errors.COMPLETE_LATER)


def has_negation_tests(folding: Folding) -> bool:
    """Return whether NOT has replaced the condition of a choice by a test of several rows."""
    return any(choice.test is not None for choices in folding.choices for choice in choices)


def has_late_matches(task: Task) -> bool:
    """Return whether a match can be complete only after its last row."""
    folding = task.pattern.folding
    effects = {choice.effect for choices in folding.choices for choice in choices}
    return A_MATCH in folding.ending_kinds or bool(effects & {Effect.COMPLETE_RUN, Effect.TIME_OUT})


@dataclass(frozen=True, slots=True)
class CarriedAggregate:
    """An aggregate over all matches that runs can carry, such as `sum(FIRST(A.price))`.

    It is a `Total` before its column has an index.
    """

    # The function over the values of all matches: SUM in the example.
    outer_function: TotalFunction
    # The function over the rows of one match: FIRST in the example.
    inner_function: TotalFunction
    # The ids of the variables whose rows the inner function reads: the id of A in the example.
    members: VariableIds
    # The column that runs read: `price` in the example. None for a count of rows or matches.
    column: TotalledColumn | None = None
    # Whether runs carry doubles, as the integers with the same bits.
    is_float: bool = False


# The number of matches: `count(*)` over all matches.
COUNT_OF_MATCHES = CarriedAggregate(
    outer_function=TotalFunction.COUNT, inner_function=TotalFunction.COUNT, members=VariableIds()
)


def compile_aggregate(
    plan: MatchPlan, read: ReadTotal, types: Mapping[int, ValueType]
) -> CarriedAggregate:
    """Compile an aggregate over all matches to the form that runs carry.

    Args:
        plan: the plan of the query.
        read: the aggregate.
        types: the types of the columns that measures read, by their indices in
            `SentColumns.columns`.

    Raises:
        MustBuildMatchesError: runs do not carry this aggregate.
    """
    if read.measure is None:
        return COUNT_OF_MATCHES
    # For an average, the search adds the values up. SQL later divides the sum by the count.
    function = read.aggregate.function
    outer_function = TotalFunction.SUM if function == "avg" else TotalFunction(function)
    inner_name = find_inner_function_name(read.measure)
    inner_function = TOTAL_FUNCTIONS.get(inner_name)
    index = read.measure.column
    type_ = None if index is None else types[index]
    if inner_function is None or not is_carried(
        read.aggregate, outer_function, inner_function, type_
    ):
        type_name = "rows" if type_ is None else type_.name
        raise errors.not_carried(function, inner_name, type_name)

    members = plan.members[find_inner_variable(read.measure)]
    if index is None or type_ is None:  # a count of rows, which reads no column
        return CarriedAggregate(outer_function, inner_function, members)
    aspect = choose_aspect(outer_function, inner_function)
    return CarriedAggregate(
        outer_function=outer_function,
        inner_function=inner_function,
        members=members,
        column=TotalledColumn(index, aspect),
        is_float=type_.family is Family.FLOATING and aspect is ColumnAspect.NUMBERS,
    )


def find_inner_function_name(read: ReadBasicAggregate | ReadNavigation) -> str:
    """Return the name of the function that computes the value of each match.

    The name is `sum` for `sum(A.price)`, and `last` for `LAST(A.price)`.

    Raises:
        MustBuildMatchesError: the function reads a row at an offset, which may be mapped to another
            variable.
    """
    if isinstance(read, ReadBasicAggregate):
        return read.reduction.value
    navigation = read.navigation
    if navigation.logical_offset or navigation.physical_offset:
        raise errors.MustBuildMatchesError(errors.ROW_BESIDE)
    return "first" if navigation.end is End.FIRST else "last"


def find_inner_variable(read: ReadBasicAggregate | ReadNavigation) -> str | None:
    """Return the variable whose rows are read in each match; None for all rows."""
    return read.variable if isinstance(read, ReadBasicAggregate) else read.navigation.variable


def choose_aspect(outer_function: TotalFunction, inner_function: TotalFunction) -> ColumnAspect:
    """Return the aspect of a column's values that an aggregate over all matches needs."""
    if TotalFunction.COUNT in (outer_function, inner_function):
        return ColumnAspect.PRESENCE
    if outer_function in EXTREMES and inner_function is not TotalFunction.SUM:
        return ColumnAspect.ORDER
    return ColumnAspect.NUMBERS


def is_carried(
    aggregate: TotalAggregate,
    outer_function: TotalFunction,
    inner_function: TotalFunction,
    type_: ValueType | None,
) -> bool:
    """Return whether runs can carry an aggregate over all matches.

    The table at the start of the module shows which aggregates they can carry. These are excluded:

    - an average of decimals and a sum of decimals in `CAST(... AS DOUBLE)`, because the double must
      be rounded only once, from the exact sum of all matches;
    - a sum of wide decimals, which do not fit into the 64-bit integers that runs carry;
    - a minimum or maximum of sums of decimals, which can be too large for these integers;
    - a minimum or maximum of values that only the engine can compare.

    Args:
        aggregate: the aggregate over all matches.
        outer_function: the function over all matches; SUM for an average.
        inner_function: the function over the rows of one match.
        type_: the type of the values in the match; None if rows are counted.
    """
    if type_ is None or TotalFunction.COUNT in (outer_function, inner_function):
        return True
    if aggregate.is_double and type_.family is Family.DECIMAL:
        return False
    if outer_function is TotalFunction.SUM:
        is_added = inner_function not in EXTREMES
        return is_added and type_.family in NUMBERS and not is_wide_decimal(type_)
    if inner_function is TotalFunction.SUM:
        return type_.family in (Family.INTEGER, Family.FLOATING)
    return type_.family not in COMPARED_BY_ENGINE
