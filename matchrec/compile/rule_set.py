"""Several executables over one input: the columns and conditions of all of them, each once.

Each rule keeps its own executable, whose columns are found among those of the set by their places,
and whose row conditions are bits of the set. A row stays behind only where no rule needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TypeVar

from matchrec.compile.columns import key_columns
from matchrec.compile.executable import Executable
from matchrec.compile.path import Draft
from matchrec.conditions.row_column import RowColumn, row_column
from matchrec.dataclass import dataclass
from matchrec.engine.interface import Condition, NearbyCondition
from matchrec.output.reads import moved
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quoted

C = TypeVar("C", Condition, NearbyCondition)


@dataclass(frozen=True, slots=True)
class LinkedRule:
    """A rule, linked, over the columns and conditions of its set. Picklable.

    equal: the places of what divides the partitions of the set further, for this rule. nearby: the
    bits of the conditions over neighbours that a worker computes.
    """

    name: str
    executable: Executable
    equal: tuple[int, ...]
    nearby: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Linked rules. Picklable: Spark carries them to its workers.

    columns: those that cross, for all rules together. keys, order, events: the places among them of
    what is asked of every match; events by the names of the input's columns. conditions: of rows,
    as Spark computes them. bits: how many truth values a row has, with those that a worker computes
    where it sorts the rows. relevant: see `Executable`.
    """

    rules: tuple[LinkedRule, ...]
    columns: tuple[RowColumn, ...]
    keys: tuple[int, ...]
    order: int
    events: Mapping[str, int]
    conditions: tuple[RowColumn, ...]
    bits: int
    relevant: tuple[RowColumn, ...]


@dataclass(frozen=True)
class SharedDrafts:
    """The drafts of all rules, by name. events: the names of the columns of a match's rows."""

    drafts: Mapping[str, Draft]
    events: tuple[str, ...]

    @property
    def plan(self) -> MatchPlan:
        """The partitions and the order that all rules share."""
        first = next(iter(self.drafts.values())).plan
        return MatchPlan(first.pattern, first.partition_by, first.order_by)

    @cached_property
    def of_matches(self) -> tuple[RowColumn, ...]:
        """The columns that are asked of every match, and those that divide partitions further."""
        plans = [drafted.plan for drafted in self.drafts.values()]
        further = (column for plan in plans for column in further_keys(plan))
        order = row_column(self.plan.order_by[0].expression.text)
        events = (row_column(quoted(name)) for name in self.events)
        return tuple(dict.fromkeys((*key_columns(self.plan), order, *events, *further)))

    @cached_property
    def columns(self) -> tuple[RowColumn, ...]:
        """Every column whose type the link needs, each once."""
        drafts = self.drafts.values()
        asked = (column for drafted in drafts for column in drafted.columns())
        return tuple(dict.fromkeys((*self.of_matches, *asked)))

    @cached_property
    def conditions(self) -> tuple[RowColumn, ...]:
        """The row conditions of all rules, each once."""
        drafts = self.drafts.values()
        return tuple(dict.fromkeys(one for drafted in drafts for one in drafted.row_conditions))

    @property
    def relevant(self) -> tuple[RowColumn, ...]:
        """The tests of which a row must satisfy one to be sent at all; none if a rule has none."""
        tests = [drafted.relevant for drafted in self.drafts.values()]
        return tuple(dict.fromkeys(one for own in tests for one in own)) if all(tests) else ()

    def draft(self) -> Draft:
        """What Spark is to compute, as a draft without a condition of a variable."""
        first = next(iter(self.drafts.values()))
        return replace(
            first,
            plan=self.plan,
            conditions=(),
            outputs=(),
            relevant=self.relevant,
            observed=self.conditions,
            origins={k: v for one in self.drafts.values() for k, v in one.origins.items()},
        )


def further_keys(plan: MatchPlan) -> tuple[RowColumn, ...]:
    """What divides the partitions of a set for one rule only."""
    known = key_columns(plan)
    keys = dict.fromkeys(row_column(part.text) for part in plan.equal)
    return tuple(key for key in keys if key not in known)


def join_rules(shared: SharedDrafts, executables: Mapping[str, Executable]) -> RuleSet:
    """The set of rules that are linked each by itself."""
    crossing = (c for one in executables.values() for c in one.crossing.columns)
    columns = tuple(dict.fromkeys((*shared.of_matches, *crossing)))
    place = {column: number for number, column in enumerate(columns)}
    conditions = shared.conditions
    numbers = BitNumbers({one: bit for bit, one in enumerate(conditions)}, len(conditions))

    def places(those: Iterable[RowColumn]) -> tuple[int, ...]:
        return tuple(place[column] for column in those)

    def linked(name: str, executable: Executable) -> LinkedRule:
        equal = places(further_keys(shared.drafts[name].plan))
        own, nearby = numbers.number_conditions(executable, equal)
        of_set = places(own.crossing.columns)
        wide = replace(
            own,
            crossing=own.crossing.moved(columns, of_set),
            conditions=conditions,
            relevant=shared.relevant,
            reads=tuple(moved(read, of_set) for read in own.reads),
        )
        return LinkedRule(name, wide, equal, nearby)

    rules = tuple(linked(name, executable) for name, executable in executables.items())
    return RuleSet(
        rules,
        columns,
        places(key_columns(shared.plan)),
        place[row_column(shared.plan.order_by[0].expression.text)],
        {name: place[row_column(quoted(name))] for name in shared.events},
        conditions,
        numbers.end,
        shared.relevant,
    )


@dataclass
class BitNumbers:
    """Numbers the truth values of a set's rows.

    spark: the bits of what Spark computes. end: the first bit that is free. worker: those of what a
    worker computes, once for all rules that divide the partitions alike.
    """

    spark: Mapping[RowColumn, int]
    end: int
    worker: dict[tuple[tuple[int, ...], RowColumn, int | None], int] = field(default_factory=dict)

    def number_conditions(
        self, executable: Executable, equal: tuple[int, ...]
    ) -> tuple[Executable, tuple[int, ...]]:
        """The executable with its row conditions at bits of the set, and those of a worker.

        equal: what divides the partitions for the rule.
        """
        places = [self.spark[one] for one in executable.conditions]
        nearby = tuple(at_bits(one, places) for one in executable.nearby)
        own = tuple(self.number_nearby(one, equal) for one in nearby)
        task = executable.task
        conditions = tuple(at_bits(one, (*places, *own)) for one in task.conditions)
        found = replace(executable, task=replace(task, conditions=conditions), nearby=nearby)
        return found, own

    def number_nearby(self, one: NearbyCondition, equal: tuple[int, ...]) -> int:
        """The bit of a condition over neighbours."""
        key = equal, one.column, one.row_condition
        if key not in self.worker:
            self.worker[key] = self.end
            self.end += 1
        return self.worker[key]


def at_bits(one: C, places: Sequence[int]) -> C:
    """The condition with its row condition at another bit. places: by its bit so far."""
    number = one.row_condition
    return one if number is None else replace(one, row_condition=places[number])
