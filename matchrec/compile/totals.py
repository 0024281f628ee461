"""Compile aggregates over all matches to totals, which the search carries along its runs.

    aggregate over all matches    of what is read in each match
    count                         anything
    sum, avg                      a count, a sum, a number of the first or last row of a variable
    min, max                      all of these, a minimum, a maximum, and the value of any plain
                                  type of such a row

A sum of the minimums of matches would need each match by itself. So would an average of averages.
Rows that must be absent end runs, see `absences`, or are looked for when a match is found.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from matchrec.automaton.closure import Effect, determinise, may_map_twice
from matchrec.automaton.program import A_MATCH
from matchrec.compile.absences import end_runs_at_absent_rows
from matchrec.compile.executable import ColumnAspect, TotalledColumn
from matchrec.compile.pruning.locality import Shortcut, why_not
from matchrec.conditions.row_column import RowColumn
from matchrec.conditions.types import NUMBERS, SPARKS_OWN, Family, ValueType, is_wide_decimal
from matchrec.errors import calls as errors
from matchrec.output.measure_reader import MeasureReader
from matchrec.output.reads import ReadAt, ReadBasicAggregate, ReadTotal
from matchrec.plan.clauses import EventSelection, Grouping, MatchOutput
from matchrec.plan.expression import End
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.totals import AskedTotal, Totals
from matchrec.search.interface import Task, TaskTotals, Total
from matchrec.shortcuts import taken

# Aggregates of one match that can be added up over all matches, and its other aggregates. The value
# of the first or last row of a variable counts as an aggregate.
ADDED = ("count", "sum", "first", "last")
EXTREMES = ("min", "max")


def link_totals(
    plan: MatchPlan, totals: Totals, task: Task, measures: MeasureReader
) -> tuple[Task, tuple[TotalledColumn, ...]]:
    """Return the task with its totals, and the columns that these read.

    The columns are in the order of `Total.values`.

    Raises:
        NotCarriedError: the matches must be built to compute the totals.
    """
    if not taken().totals:
        raise errors.NotCarriedError(errors.NOT_TAKEN)
    if plan.first_matches is not None:
        raise errors.NotCarriedError(errors.FIRST_MATCHES)
    reason = why_not(Shortcut.TOTALS, plan, task.pattern.follow)
    if reason:
        raise errors.NotCarriedError(reason)
    task = end_runs_at_absent_rows(find_each_match_once(task, totals.grouped))
    linker = TotalLinker(plan, measures)
    linked_totals = tuple(
        linker.link(read) for read in measures.reads if isinstance(read, ReadTotal)
    )
    task = replace(task, totals=TaskTotals(linked_totals, totals.grouped))
    return task, tuple(linker.columns)


def find_each_match_once(task: Task, grouped: Grouping) -> Task:
    """Return the task with a program in which only one run finds each match.

    Otherwise a match would be counted once for each of its runs.

    Raises:
        NotCarriedError: the matches must be built, or no such program is known.
    """
    if task.output is not MatchOutput.ALL:
        raise errors.NotCarriedError(errors.NOT_ALL_MATCHES)
    has_timeouts = task.stages is not None and task.stages.timeouts
    if task.partial is not None or has_timeouts:
        raise errors.NotCarriedError(errors.RUNS_THAT_ARE_NO_MATCH)
    if task.skip is not None:
        raise errors.NotCarriedError(errors.SKIP_STRATEGY)
    if grouped is Grouping.END and has_late_matches(task):
        raise errors.NotCarriedError(errors.COMPLETE_LATER)
    if not may_map_twice(task.pattern.folding, task.waits):
        return task
    if task.selection is EventSelection.SKIP_TILL_NEXT_MATCH or task.stages is not None:
        # Which rows a run may skip depends on the state it is in, so states cannot be merged.
        raise errors.NotCarriedError(errors.MAPPED_TWICE)
    folding = determinise(task.pattern.folding)
    if folding is None:
        raise errors.NotCarriedError(errors.MAPPED_TWICE)
    return replace(task, pattern=replace(task.pattern, folding=folding))


def has_late_matches(task: Task) -> bool:
    """Return whether a match can be complete only after its last row."""
    folding = task.pattern.folding
    effects = {choice.effect for choices in folding.choices for choice in choices}
    return A_MATCH in folding.ends or bool(effects & {Effect.COMPLETES, Effect.TIMES_OUT})


@dataclass
class TotalLinker:
    """Links the totals of a query, and collects the columns that they read."""

    plan: MatchPlan
    measures: MeasureReader
    # The number of each column among those that totals read, in the order of `Total.values`.
    columns: dict[TotalledColumn, int] = field(default_factory=dict)

    def link(self, read: ReadTotal) -> Total:
        """Return the total that the search computes for a read.

        Raises:
            NotCarriedError: runs do not carry this aggregate.
        """
        function = read.asked.function
        if read.of is None:
            return Total(
                over=function, inside="count", members=frozenset(), values=None, floats=False
            )
        inside, variable = find_inner_aggregate(read.of)
        type_ = self.find_type(read.of.column)
        if not is_carried(read.asked, inside, type_):
            raise errors.not_carried(function, inside, "rows" if type_ is None else type_.name)
        aspect = choose_aspect(function, inside)
        is_floating = type_ is not None and type_.family is Family.FLOATING
        return Total(
            over="sum" if function == "avg" else function,
            inside=inside,
            members=self.plan.members[variable],
            values=self.number_column(read.of.column, aspect),
            floats=is_floating and aspect is ColumnAspect.NUMBERS,
        )

    @cached_property
    def columns_by_index(self) -> dict[int, RowColumn]:
        """Return the columns that measures read, by their indices in `Crossing.columns`."""
        return {index: column for column, index in self.measures.columns.items()}

    def find_type(self, index: int | None) -> ValueType | None:
        """Return the type of a column that is sent; None for an aggregate that counts rows."""
        if index is None:
            return None
        return self.measures.types[self.columns_by_index[index]]

    def number_column(self, index: int | None, aspect: ColumnAspect) -> int | None:
        """Return the number of a column among those that totals read; add it if it is new."""
        if index is None:
            return None
        return self.columns.setdefault(TotalledColumn(index, aspect), len(self.columns))


def find_inner_aggregate(read: ReadBasicAggregate | ReadAt) -> tuple[str, str | None]:
    """Return the aggregate that is read in each match, and the variable of its rows.

    Raises:
        NotCarriedError: a row is read that may be mapped to another variable.
    """
    if isinstance(read, ReadBasicAggregate):
        return read.function, read.variable
    navigation = read.navigation
    if navigation.logical_offset or navigation.physical_offset:
        raise errors.NotCarriedError(errors.ROW_BESIDE)
    return "first" if navigation.end is End.FIRST else "last", navigation.variable


def choose_aspect(function: str, inside: str) -> ColumnAspect:
    """Return what a total reads of its column.

    Args:
        function: the aggregate over all matches.
        inside: the aggregate of one match.
    """
    if function == "count" or inside == "count":
        return ColumnAspect.PRESENCE
    if function in EXTREMES and inside != "sum":
        return ColumnAspect.ORDER
    return ColumnAspect.NUMBERS


def is_carried(total: AskedTotal, inside: str, type_: ValueType | None) -> bool:
    """Return whether runs carry an aggregate over all matches, see the table above.

    Args:
        total: the aggregate over all matches.
        inside: the aggregate of one match.
        type_: the type of the values; None if rows are counted.
    """
    function = total.function
    if inside not in (*ADDED, *EXTREMES):
        return False
    if function == "count" or type_ is None or inside == "count":
        return True
    if total.is_double and type_.family is Family.DECIMAL:
        return False  # the double is made of the exact sum, with all of its digits
    if function in ("sum", "avg"):
        return inside in ADDED and type_.family in NUMBERS and not is_wide_decimal(type_)
    if inside == "sum":
        return type_.family in (Family.INTEGER, Family.FLOATING)
    return type_.family not in SPARKS_OWN
