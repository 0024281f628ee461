"""MatchPlan: all that a query asks for, whichever language it was asked in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

from matchrec.plan import clauses
from matchrec.plan.expression import (
    MATCHED_ROWS,
    Aggregate,
    Classifier,
    Navigation,
    Reference,
    Scalar,
    Semantics,
    Term,
    column_term,
    with_references,
)
from matchrec.plan.pattern import RowPattern, negated_names, variable_names
from matchrec.source import Span

if TYPE_CHECKING:
    from matchrec.plan.stages import Staging
    from matchrec.plan.totals import Totals


@dataclass(frozen=True)
class MatchPlan:
    """A row pattern query, free of syntax and of any session.

    Every name of a variable is normalized; every expression is SQL text with its references taken
    out; defaults are filled in. within_rows: the match's first and last row lie within so many rows
    of the partition. equal: on what all rows of a match agree; it divides the partitions but does
    not come out. staging: of a pattern of stages, whose rows `pattern` has as a row pattern.
    totals: what comes out in place of matches.
    """

    pattern: RowPattern
    partition_by: tuple[clauses.RowExpression, ...] = ()
    order_by: tuple[clauses.SortItem, ...] = ()
    measures: tuple[clauses.Measure, ...] = ()
    rows_per_match: clauses.RowsPerMatch = clauses.RowsPerMatch.ONE_ROW
    partial: clauses.PartialMatches | None = None
    columns: clauses.ColumnOrder = clauses.ColumnOrder.STANDARD
    after_match: clauses.AfterMatchSkip = clauses.AfterMatchSkip()
    within: clauses.Within | None = None
    within_rows: int | None = None
    gaps: tuple[clauses.Gap, ...] = ()
    equal: tuple[clauses.RowExpression, ...] = ()
    subsets: tuple[clauses.Subset, ...] = ()
    definitions: tuple[clauses.Definition, ...] = ()
    selection: clauses.EventSelection = clauses.EventSelection.STRICT_CONTIGUITY
    output: clauses.MatchOutput = clauses.MatchOutput.PREFERRED
    first_matches: clauses.FirstMatches | None = None
    absences: tuple[clauses.Absence, ...] = ()
    closing: str | None = None
    staging: Staging | None = None
    totals: Totals | None = None
    # The length of a window's frame if it is a constant that only the engine can compute.
    frame_length: clauses.RowExpression | None = None

    @property
    def keys(self) -> tuple[clauses.RowExpression, ...]:
        """All that partitions are made by."""
        return (*self.partition_by, *self.equal)

    @property
    def sorted_by(self) -> tuple[clauses.RowExpression, ...]:
        """What divides the rows, then what orders them."""
        return (*self.keys, *map(attrgetter("expression"), self.order_by))

    @property
    def intervals(self) -> tuple[clauses.RowExpression, ...]:
        """How far rows may lie apart: the whole match, then the windows inside of it."""
        whole = () if self.within is None else (self.within.interval,)
        return (*whole, *map(attrgetter("interval"), self.gaps))

    @property
    def lengths(self) -> tuple[clauses.RowExpression, ...]:
        """These intervals, and those between neighbours of stages, which conditions test."""
        return self.intervals if self.staging is None else self.intervals + self.staging.lengths

    @property
    def expressions(self) -> tuple[Scalar, ...]:
        """The values of measures, then the conditions of variables."""
        conditions = (definition.condition for definition in self.definitions)
        return (*(measure.value for measure in self.measures), *conditions)

    @cached_property
    def row_gap(self) -> clauses.Gap | None:
        """The window between each row and the next one, if there is one."""
        return next((gap for gap in self.gaps if gap.to is None), None)

    @property
    def selects(self) -> bool:
        """Whether it is event selection: rows may be skipped, or all matches are asked for."""
        asked = self.selection, self.output, self.absences, self.closing
        return clauses.goes_beyond_preferred(*asked)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """Primary variables in order of first appearance; a variable's id is its index.

        Behind those of the pattern stand names to which no row is mapped: those under NOT and of
        absences, whose conditions are about rows that must not be there, `closing`, whose condition
        must hold of a whole match, and the tests of stages.
        """
        closing = () if self.closing is None else (self.closing,)
        tests = () if self.staging is None else self.staging.tests
        return (*dict.fromkeys((*variable_names(self.pattern), *self.absent)), *closing, *tests)

    @property
    def unions(self) -> tuple[str, ...]:
        return tuple(map(attrgetter("name"), self.subsets))

    @cached_property
    def forbidden(self) -> frozenset[str]:
        """The variables under NOT and of absences to which no row is mapped."""
        return frozenset(self.absent) - frozenset(variable_names(self.pattern))

    @property
    def absent(self) -> tuple[str, ...]:
        """The variables under NOT, then those of absences."""
        return (*negated_names(self.pattern), *map(attrgetter("variable"), self.absences))

    @property
    def matches_as_values(self) -> tuple[Aggregate, ...]:
        found = chain.from_iterable(measure.value.references for measure in self.measures)
        aggregates = (one for one in found if isinstance(one, Aggregate))
        return tuple(one for one in aggregates if one.function == MATCHED_ROWS)

    @cached_property
    def ids(self) -> Mapping[str, int]:
        return {name: number for number, name in enumerate(self.variables)}

    @cached_property
    def members(self) -> Mapping[str | None, frozenset[int]]:
        """Ids of the primary variables that a name stands for; None is the universal variable."""
        found: dict[str | None, frozenset[int]] = {
            name: frozenset((number,)) for name, number in self.ids.items()
        }
        for subset in self.subsets:
            found[subset.name] = frozenset(self.ids[member] for member in subset.members)
        found[None] = frozenset(range(len(variable_names(self.pattern))))
        return found


# The graph of matches: what a plan asks for when the graph of all matches comes out.
#
# Each pointer stands as a match of one row, so its event and its state are read as any measure is.


def as_graph(plan: MatchPlan) -> MatchPlan:
    """The plan with the columns of a graph, all that divides partitions among them."""
    if plan.output is not clauses.MatchOutput.GRAPH:
        return plan
    here, nowhere = Navigation(semantics=Semantics.FINAL), Span(0, 0)
    state = Term((Classifier(here),), nowhere)
    event = column_term(here, "struct(*)")
    measures = (clauses.Measure("state", state), clauses.Measure("event", event))
    return replace(plan, partition_by=plan.keys, equal=(), measures=measures)


def states_of_variables(plan: MatchPlan) -> dict[str, list[str]]:
    """For each variable of a query the states whose events are its own, in the pattern's order."""
    unions = {member: subset for subset in plan.subsets for member in subset.members}
    found: dict[str, list[str]] = {}
    for state in variable_names(plan.pattern):
        found.setdefault(unions[state].name if state in unions else state, []).append(state)
    return found


# Says what the query around a clause uses of its result: the rest need not be computed.


@dataclass(frozen=True, slots=True)
class KeyTest:
    """`column test` must hold, such as `= 'X'` of the column `symbol`."""

    column: str
    test: str


@dataclass(frozen=True, slots=True)
class Use:
    """columns: lower-case names of all that may be read, None where that may be every column.

    keys: tests that each row must pass to be in the result; those of partition columns decide on
    whole partitions. unread: lower-case names of what is not read in any case.
    """

    columns: frozenset[str] | None = None
    keys: tuple[KeyTest, ...] = ()
    unread: frozenset[str] = frozenset()

    def reads(self, name: str) -> bool:
        own = name.lower()
        return own not in self.unread and (self.columns is None or own in self.columns)


EVERYTHING = Use()


def search_only(plan: MatchPlan, measures: tuple[clauses.Measure, ...]) -> MatchPlan:
    """The plan with a row for each match, without what is said of which of them come out."""
    one_row = replace(plan, measures=measures, rows_per_match=clauses.RowsPerMatch.ONE_ROW)
    return replace(one_row, partial=None, first_matches=None)


def with_expressions(plan: MatchPlan, change: Callable[[Scalar, str | None], Scalar]) -> MatchPlan:
    """The plan with every expression changed: the condition of a variable, or a measure."""
    definitions = (replace(d, condition=change(d.condition, d.variable)) for d in plan.definitions)
    measures = (replace(m, value=change(m.value, None)) for m in plan.measures)
    return replace(plan, definitions=tuple(definitions), measures=tuple(measures))


def with_each(plan: MatchPlan, change: Callable[[Reference], Reference]) -> MatchPlan:
    """The plan with every reference changed: in the condition of a variable, or in a measure."""
    return with_expressions(plan, lambda scalar, _: with_references(scalar, change))
