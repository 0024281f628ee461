"""Compile aggregates over all matches to totals, so that the matches need not be built.

Each run carries a total of what it has read so far. When a run becomes a match, its total is added
to the result. These aggregates can be computed in this way:

    over all matches    of a value in each match
    count               any value
    sum, avg            a count, a sum, or a number on the first or last row of a variable
    min, max            all of these, a minimum, a maximum, and a value of any plain type on the
                        first or last row of a variable

A sum of minimums is not among them: it needs each match by itself. Nor is an average of averages.

A run ends with a row that must be absent between two rows of the match: see `absences`. Rows that
must be absent before or after the match are looked for when a match is found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from matchrec.automaton.facts import can_find_match_twice
from matchrec.automaton.folding import Effect, Folding, determinise
from matchrec.automaton.run_endings import A_MATCH
from matchrec.compile.absences import end_runs_at_absent_rows
from matchrec.compile.compiled_query import ColumnAspect, TotalledColumn
from matchrec.compile.pruning.locality import Shortcut, find_obstacle
from matchrec.conditions.types import COMPARED_BY_SPARK, NUMBERS, Family, ValueType, is_wide_decimal
from matchrec.errors import match_totals as errors
from matchrec.output.read_collector import ReadCollector
from matchrec.output.reads import ReadBasicAggregate, ReadNavigation, ReadTotal
from matchrec.plan.clauses import EventSelection, Grouping, MatchOutput
from matchrec.plan.expression import End
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.totals import TotalAggregate, Totals
from matchrec.search.task import Task, TaskTotals, Total, TotalFunction
from matchrec.shortcuts import current_shortcuts

# The aggregates of one match that runs carry. The value on the first or last row of a variable
# counts as an aggregate. Those in ADDED can be added up over all matches.
ADDED = ("count", "sum", "first", "last")
EXTREMES = ("min", "max")


def link_totals(
    plan: MatchPlan, totals: Totals, task: Task, collector: ReadCollector
) -> tuple[Task, tuple[TotalledColumn, ...]]:
    """Return the task with its totals, and the columns that they read.

    The columns are in the order of the numbers in `Total.values`.

    Args:
        plan: the plan of the query.
        totals: the aggregates over all matches that it asks for.
        task: the task of the search, without totals.
        collector: what all output columns read.

    Raises:
        MustBuildMatchesError: the matches must be built to compute the totals.
    """
    if not current_shortcuts().totals:
        raise errors.MustBuildMatchesError(errors.EACH_MATCH_MUST_BE_BUILT)
    if plan.first_matches is not None:
        raise errors.MustBuildMatchesError(errors.FIRST_MATCHES)
    reason = find_obstacle(Shortcut.TOTALS, plan, task.pattern.follow)
    if reason:
        raise errors.MustBuildMatchesError(reason)
    task = end_runs_at_absent_rows(find_each_match_once(task, totals.grouped))
    types = {index: collector.types[column] for column, index in collector.columns.items()}
    reads = [read for read in collector.reads if isinstance(read, ReadTotal)]
    totalled = [find_totalled_column(read, types) for read in reads]
    columns = tuple(dict.fromkeys(column for column in totalled if column is not None))
    linked_totals = tuple(
        build_total(plan, read, None if column is None else columns.index(column), types)
        for read, column in zip(reads, totalled, strict=True)
    )
    task = replace(task, totals=TaskTotals(linked_totals, totals.grouped))
    return task, columns


def find_each_match_once(task: Task, grouped: Grouping) -> Task:
    """Return the task with a program that finds each match by one run only.

    Otherwise a match would count once for each run that finds it.

    Args:
        task: the task of the search.
        grouped: which matches are added up together: see `Grouping`.

    Raises:
        MustBuildMatchesError: the matches must be built, or no such program is known.
    """
    if task.output is not MatchOutput.ALL:
        raise errors.MustBuildMatchesError(errors.NOT_ALL_MATCHES)
    has_timeouts = task.stages is not None and task.stages.outputs_timeouts
    if task.partial is not None or has_timeouts:
        raise errors.MustBuildMatchesError(errors.RUNS_THAT_ARE_NO_MATCH)
    if task.skip is not None:
        raise errors.MustBuildMatchesError(errors.SKIP_STRATEGY)
    if grouped is Grouping.END and has_late_matches(task):
        raise errors.MustBuildMatchesError(errors.COMPLETE_LATER)
    if not can_find_match_twice(task.pattern.folding, task.waiting_states):
        return task
    if task.selection is EventSelection.SKIP_TILL_NEXT_MATCH or task.stages is not None:
        # Which rows a run may skip depends on the state it is in, so states cannot be merged.
        raise errors.MustBuildMatchesError(errors.MAPPED_TWICE)
    folding = determinise(task.pattern.folding)
    if folding is None:
        # `A+ NOT B` maps rows in one way. But a choice of A tests that the next row is not a B, and
        # another one tests that it is, and nothing shows that the tests exclude each other.
        is_divided = has_tests(task.pattern.folding)
        reason = errors.FOUND_TWICE_BY_NOT if is_divided else errors.MAPPED_TWICE
        raise errors.MustBuildMatchesError(reason)
    return replace(task, pattern=replace(task.pattern, folding=folding))


def has_tests(folding: Folding) -> bool:
    """Return whether NOT has replaced the condition of a choice by a test of several rows."""
    return any(choice.test is not None for choices in folding.choices for choice in choices)


def has_late_matches(task: Task) -> bool:
    """Return whether a match can be complete only after its last row."""
    folding = task.pattern.folding
    effects = {choice.effect for choices in folding.choices for choice in choices}
    return A_MATCH in folding.ending_kinds or bool(effects & {Effect.COMPLETE_RUN, Effect.TIME_OUT})


def find_totalled_column(read: ReadTotal, types: Mapping[int, ValueType]) -> TotalledColumn | None:
    """Return the column that runs read for an aggregate over all matches; None for rows or matches.

    Args:
        read: the aggregate.
        types: the types of the columns that measures read, by their indices in
            `SentColumns.columns`.

    Raises:
        MustBuildMatchesError: runs do not carry this aggregate.
    """
    if read.measure is None:
        return None
    function = read.aggregate.function
    inside, _ = find_inner_aggregate(read.measure)
    column = read.measure.column
    type_ = None if column is None else types[column]
    if not is_carried(read.aggregate, inside, type_):
        raise errors.not_carried(function, inside, "rows" if type_ is None else type_.name)
    return None if column is None else TotalledColumn(column, choose_aspect(function, inside))


def build_total(
    plan: MatchPlan, read: ReadTotal, values: int | None, types: Mapping[int, ValueType]
) -> Total:
    """Return the total that the search computes for an aggregate over all matches.

    Args:
        plan: the plan of the query.
        read: the aggregate, which runs can carry.
        values: the number of its column among those that totals read; None for rows or matches.
        types: as for `find_totalled_column`.

    Raises:
        MustBuildMatchesError: see `find_inner_aggregate`.
    """
    function = read.aggregate.function
    if read.measure is None:
        return Total(
            outer_function=TotalFunction(function),
            inner_function=TotalFunction.COUNT,
            members=frozenset(),
            column=None,
            is_float=False,
        )
    inside, variable = find_inner_aggregate(read.measure)
    column = read.measure.column
    is_floating = column is not None and types[column].family is Family.FLOATING
    adds_numbers = choose_aspect(function, inside) is ColumnAspect.NUMBERS
    return Total(
        outer_function=TotalFunction("sum" if function == "avg" else function),
        inner_function=TotalFunction(inside),
        members=plan.members[variable],
        column=values,
        is_float=is_floating and adds_numbers,
    )


def find_inner_aggregate(read: ReadBasicAggregate | ReadNavigation) -> tuple[str, str | None]:
    """Return the aggregate that is computed in each match, and the variable of its rows.

    For example, `"sum", "A"` for `sum(A.price)`, and `"last", "A"` for `LAST(A.price)`.

    Raises:
        MustBuildMatchesError: it reads a row at an offset, which may be mapped to another variable.
    """
    if isinstance(read, ReadBasicAggregate):
        return read.function.value, read.variable
    navigation = read.navigation
    if navigation.logical_offset or navigation.physical_offset:
        raise errors.MustBuildMatchesError(errors.ROW_BESIDE)
    return "first" if navigation.end is End.FIRST else "last", navigation.variable


def choose_aspect(function: str, inside: str) -> ColumnAspect:
    """Return the aspect of a column's values that a total needs.

    Args:
        function: the aggregate over all matches.
        inside: the aggregate of one match.
    """
    if function == "count" or inside == "count":
        return ColumnAspect.PRESENCE
    if function in EXTREMES and inside != "sum":
        return ColumnAspect.ORDER
    return ColumnAspect.NUMBERS


def is_carried(total: TotalAggregate, inside: str, type_: ValueType | None) -> bool:
    """Return whether runs can carry an aggregate over all matches: see the table above.

    Args:
        total: the aggregate over all matches.
        inside: the aggregate of one match.
        type_: the type of the values in the match; None if rows are counted.
    """
    function = total.function
    if inside not in (*ADDED, *EXTREMES):
        return False
    if function == "count" or type_ is None or inside == "count":
        return True
    if total.is_double and type_.family is Family.DECIMAL:
        return False  # the double must be rounded once, from the exact sum of all matches
    if function in ("sum", "avg"):
        return inside in ADDED and type_.family in NUMBERS and not is_wide_decimal(type_)
    if inside == "sum":
        return type_.family in (Family.INTEGER, Family.FLOATING)
    return type_.family not in COMPARED_BY_SPARK
