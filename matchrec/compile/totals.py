"""Which aggregates over all matches are carried along the runs, and what an engine is asked.

    over all matches    of what is read in each match
    count               anything
    sum, avg            a count, a sum, a number on its first or last row of a variable
    min, max            all of these, a minimum, a maximum, and such a row's value of any plain type

A sum of the least values of matches would need each match by itself. So would an average of each.
Rows that must be absent end runs, see `absences`, or are looked for as a match is found.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from matchrec.compile.absences import decide_between
from matchrec.compile.executable import ColumnAspect, TotalledColumn
from matchrec.conditions.types import NUMBERS, SPARKS_OWN, Family, ValueType, is_wide_decimal
from matchrec.engine.interface import Task, TaskTotals, Total
from matchrec.errors import calls as errors
from matchrec.nfa.closure import Effect, determinise, may_map_twice
from matchrec.nfa.program import A_MATCH
from matchrec.output.measure_reader import MeasureReader
from matchrec.output.reads import ReadBasicAggregate, ReadTotal
from matchrec.plan.clauses import EventSelection, Grouping, MatchOutput
from matchrec.plan.expression import End
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.totals import AskedTotal, Totals
from matchrec.pruning.locality import Shortcut, why_not
from matchrec.shortcuts import taken

if TYPE_CHECKING:
    from matchrec.conditions.row_column import RowColumn

ADDED = ("count", "sum", "first", "last")
EXTREMES = ("min", "max")


def link_totals(
    plan: MatchPlan, asked: Totals, task: Task, measures: MeasureReader
) -> tuple[Task, tuple[TotalledColumn, ...]]:
    """The task with its totals, and the columns that these read, as `Total.values` numbers them.

    Raises MatchRecognizeUnsupportedError for what only matches that are built can tell.
    """
    if not taken().totals:
        raise errors.NotCarriedError(errors.NOT_TAKEN)
    if plan.first_matches is not None:
        raise errors.NotCarriedError(errors.FIRST_MATCHES)
    if reason := why_not(Shortcut.TOTALS, plan, task.pattern.follow):
        raise errors.NotCarriedError(reason)
    task = decide_between(find_each_once(task, asked.grouped))
    columns = {place: column for column, place in measures.columns.items()}
    totalled: dict[TotalledColumn, int] = {}
    found = tuple(
        link_total(total, plan, measures, columns, totalled)
        for total in measures.reads
        if isinstance(total, ReadTotal)
    )
    return replace(task, totals=TaskTotals(found, asked.grouped)), tuple(totalled)


def find_each_once(task: Task, grouped: Grouping) -> Task:
    """The task with a program that finds each match in one way.

    Raises MatchRecognizeUnsupportedError for matches that only come out one by one.
    """
    if task.output is not MatchOutput.ALL:
        raise errors.NotCarriedError(errors.NOT_ALL_MATCHES)
    if task.partial is not None or (task.stages is not None and task.stages.timeouts):
        raise errors.NotCarriedError(errors.RUNS_THAT_ARE_NO_MATCH)
    if task.skip is not None:
        raise errors.NotCarriedError(errors.SKIP_STRATEGY)
    effects = {choice.effect for choices in task.pattern.folding.choices for choice in choices}
    waits = A_MATCH in task.pattern.folding.ends or effects & {Effect.COMPLETES, Effect.TIMES_OUT}
    if waits and grouped is Grouping.END:
        raise errors.NotCarriedError(errors.COMPLETE_LATER)
    if not may_map_twice(task.pattern.folding, task.waits):
        return task
    depends = task.selection is EventSelection.SKIP_TILL_NEXT_MATCH or task.stages is not None
    folding = None if depends else determinise(task.pattern.folding)
    if folding is None:
        raise errors.NotCarriedError(errors.MAPPED_TWICE)
    return replace(task, pattern=replace(task.pattern, folding=folding))


def link_total(
    read: ReadTotal,
    plan: MatchPlan,
    measures: MeasureReader,
    columns: dict[int, RowColumn],
    totalled: dict[TotalledColumn, int],
) -> Total:
    """One of them. columns: by their place. totalled: those that totals read, to which it adds."""
    function, of = read.asked.function, read.of
    if of is None:
        return Total(function, "count", frozenset(), None, floats=False)
    place = of.column
    if isinstance(of, ReadBasicAggregate):
        inside, variable = of.function, of.variable
    else:
        step = of.navigation
        if step.logical_offset or step.physical_offset:
            raise errors.NotCarriedError(errors.ROW_BESIDE)
        inside, variable = "first" if step.end is End.FIRST else "last", step.variable
    type_ = None if place is None else measures.types[columns[place]]
    if not is_carried(read.asked, inside, type_):
        raise errors.not_carried(function, inside, "rows" if type_ is None else type_.name)
    reads, values = ColumnAspect.PRESENCE, None
    if function != "count" and inside != "count":
        ranked = function in EXTREMES and inside != "sum"
        reads = ColumnAspect.ORDER if ranked else ColumnAspect.NUMBERS
    is_number = type_ is not None and reads is ColumnAspect.NUMBERS
    floats = type_ is not None and is_number and type_.family is Family.FLOATING
    if place is not None:
        values = totalled.setdefault(TotalledColumn(place, reads), len(totalled))
    over = "sum" if function == "avg" else function
    return Total(over, inside, plan.members[variable], values, floats)


def is_carried(asked: AskedTotal, inside: str, type_: ValueType | None) -> bool:
    """Whether runs carry an aggregate over all matches, see the table above."""
    function = asked.function
    if inside not in (*ADDED, *EXTREMES):
        return False
    if function == "count" or type_ is None or inside == "count":
        return True
    if asked.is_double and type_.family is Family.DECIMAL:
        return False  # of all digits of the sum
    if function in ("sum", "avg"):
        return inside in ADDED and type_.family in NUMBERS and not is_wide_decimal(type_)
    if inside == "sum":
        return type_.family in (Family.INTEGER, Family.FLOATING)
    return type_.family not in SPARKS_OWN
