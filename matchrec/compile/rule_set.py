"""Several executables over one input: the columns and conditions of all of them, each once.

Each rule has an executable of its own, whose columns and row conditions are places and bits of the
set. A row stays behind only where no rule needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from matchrec.compile.columns import find_dividing_columns, find_key_columns
from matchrec.compile.executable import Executable
from matchrec.compile.path import Draft
from matchrec.conditions.row_column import RowColumn, row_column
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quoted


@dataclass(frozen=True, slots=True)
class Version:
    """What a rule was for some time: its rows are those of this time, and no others.

    since, until: it has the rows from one value of the order on, and before another; as integers,
    as workers hold the order. None without such a bound.
    """

    rule: str
    since: int | None = None
    until: int | None = None

    @property
    def covers_all_time(self) -> bool:
        return self.since is None and self.until is None


@dataclass(frozen=True, slots=True)
class LinkedRule:
    """A rule, linked, over the columns and conditions of its set. Picklable.

    name: as messages say it. equal: the places of what divides the partitions of the set further,
    for this rule. identity: of a stream, a digest of all that its search depends on.
    """

    name: str
    executable: Executable
    equal: tuple[int, ...]
    version: Version
    identity: str = ""


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Linked rules. Picklable: Spark carries them to its workers.

    columns: those that cross, for all rules together. keys, order, events: the places among them of
    what is asked of every match; events by the names of the input's columns. conditions: of rows,
    as Spark computes them. relevant: see `Executable`. has_versions: whether rules have times.
    """

    rules: tuple[LinkedRule, ...]
    columns: tuple[RowColumn, ...]
    keys: tuple[int, ...]
    order: int
    events: Mapping[str, int]
    conditions: tuple[RowColumn, ...]
    relevant: tuple[RowColumn, ...]
    has_versions: bool = False

    @property
    def bits(self) -> int:
        """How many truth values a row has, with those that a worker computes."""
        worker = (condition.bit + 1 for rule in self.rules for condition in rule.executable.nearby)
        return max([len(self.conditions), *worker])


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
        further = (column for plan in plans for column in find_dividing_columns(plan))
        order = row_column(self.plan.order_by[0].expression.text)
        events = (row_column(quoted(name)) for name in self.events)
        return tuple(dict.fromkeys((*find_key_columns(self.plan), order, *events, *further)))

    @cached_property
    def columns(self) -> tuple[RowColumn, ...]:
        """Every column whose type the link needs, each once."""
        drafts = self.drafts.values()
        asked = (column for drafted in drafts for column in drafted.columns())
        return tuple(dict.fromkeys((*self.of_matches, *asked)))

    @cached_property
    def conditions(self) -> tuple[RowColumn, ...]:
        drafts = self.drafts.values()
        return tuple(dict.fromkeys(one for drafted in drafts for one in drafted.row_conditions))

    @property
    def relevant(self) -> tuple[RowColumn, ...]:
        """The tests of which a row must satisfy one to be sent at all; none if a rule has none.

        Nor if rows of its matches follow each other: also those that no measure reads are events.
        """
        tests = [one.relevant if one.plan.selects else () for one in self.drafts.values()]
        return tuple(dict.fromkeys(column for own in tests for column in own)) if all(tests) else ()

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


def join_rules(
    shared: SharedDrafts,
    executables: Mapping[str, Executable],
    crossing: Mapping[RowColumn, int],
    versions: Mapping[str, Version],
) -> RuleSet:
    """The set of rules over columns at these places. versions: of the rules that have times."""

    def places(those: Iterable[RowColumn]) -> tuple[int, ...]:
        return tuple(crossing[column] for column in those)

    return RuleSet(
        tuple(
            LinkedRule(
                name,
                executable,
                places(find_dividing_columns(shared.drafts[name].plan)),
                versions.get(name, Version(name)),
            )
            for name, executable in executables.items()
        ),
        tuple(crossing),
        places(find_key_columns(shared.plan)),
        crossing[row_column(shared.plan.order_by[0].expression.text)],
        {name: crossing[row_column(quoted(name))] for name in shared.events},
        shared.conditions,
        shared.relevant,
        bool(versions),
    )
