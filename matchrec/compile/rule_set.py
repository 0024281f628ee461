"""Join several rules over one input, so that Spark computes and sends their columns only once.

Each rule has a compiled query of its own. The indices of its columns and the bits of its conditions
are those of the set, which has every column and every condition once. A row is left out only if no
rule needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from matchrec.compile.columns import ComputedValue, find_dividing_columns, find_key_columns
from matchrec.compile.compiled_query import CompiledQuery
from matchrec.compile.path import Draft
from matchrec.conditions.row_column import RowColumn, build_row_column
from matchrec.errors.run.origins import SqlOrigin
from matchrec.plan.expression import Scalar
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quote_name


@dataclass(frozen=True, slots=True)
class Version:
    """A rule as it is valid for some time. It sees only the rows of this time."""

    # The name of the rule.
    rule: str
    # The version is valid for rows whose order value is at least `since` and less than `until`.
    # Both are integers as workers make them of order values. None if there is no such bound.
    since: int | None = None
    until: int | None = None

    @property
    def covers_all_time(self) -> bool:
        """Return whether the version sees all rows."""
        return self.since is None and self.until is None


@dataclass(frozen=True, slots=True)
class LinkedRule:
    """A rule over the columns and conditions of its set. Picklable."""

    name: str  # as messages print it
    compiled_query: CompiledQuery
    # The indices of columns by which this rule divides the partitions of the set further.
    dividing_columns: tuple[int, ...]
    version: Version
    # Over a stream, a digest of everything that the search depends on.
    identity: str = ""


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Linked rules. Picklable: Spark carries them to its workers."""

    rules: tuple[LinkedRule, ...]
    # All columns that are sent, for all rules together.
    columns: tuple[RowColumn, ...]
    # The indices of the partition columns.
    keys: tuple[int, ...]
    # The index of the first order column.
    order: int
    # The indices of the columns that the events of a match have, by their names in the input.
    events: Mapping[str, int]
    # The row conditions that Spark computes.
    row_conditions: tuple[RowColumn, ...]
    # Filters. A row is sent if it passes at least one of them; all rows are sent if there are none.
    row_filters: tuple[RowColumn, ...]
    # Whether some rule has a version that is valid for some time only.
    has_versions: bool = False

    @property
    def bits(self) -> int:
        """Return the number of bits of a row, including those that a worker computes."""
        worker_bits = [
            condition.bit for rule in self.rules for condition in rule.compiled_query.nearby
        ]
        return max([len(self.row_conditions), *(bit + 1 for bit in worker_bits)])


@dataclass(frozen=True)
class SharedDrafts:
    """The drafts of all rules of a set."""

    drafts: Mapping[str, Draft]  # by the names of the rules
    events: tuple[str, ...]  # the names of the columns that the events of a match have

    @property
    def rule_drafts(self) -> tuple[Draft, ...]:
        """Return the draft of each rule, in their order: see `DraftedRules`."""
        return tuple(self.drafts.values())

    def with_rule_drafts(self, drafts: tuple[Draft, ...]) -> SharedDrafts:
        """Return the set with other drafts of its rules: see `DraftedRules`."""
        return replace(self, drafts=dict(zip(self.drafts, drafts, strict=True)))

    @property
    def plan(self) -> MatchPlan:
        """Return a plan with the partitions and the order that all rules share."""
        first_plan = next(iter(self.drafts.values())).plan
        return MatchPlan(first_plan.pattern, first_plan.partition_by, first_plan.order_by)

    @property
    def order(self) -> RowColumn:
        """Return the first column of the order that all rules share."""
        return build_row_column(self.plan.order_by[0].expression.text)

    @cached_property
    def match_columns(self) -> tuple[RowColumn, ...]:
        """Return the columns that every match needs, and those that divide partitions further."""
        events = [build_row_column(quote_name(name)) for name in self.events]
        dividing_columns = [
            column for draft in self.drafts.values() for column in find_dividing_columns(draft.plan)
        ]
        columns = (*find_key_columns(self.plan), self.order, *events, *dividing_columns)
        return tuple(dict.fromkeys(columns))

    def columns(self) -> tuple[RowColumn, ...]:
        """Return every column whose type must be known to link the drafts: see `DraftedRules`."""
        draft_columns = [column for draft in self.drafts.values() for column in draft.columns()]
        return tuple(dict.fromkeys((*self.match_columns, *draft_columns)))

    @cached_property
    def row_conditions(self) -> tuple[RowColumn, ...]:
        """Return the row conditions that Spark computes for all rules, each once."""
        return tuple(
            dict.fromkeys(
                condition for draft in self.drafts.values() for condition in draft.row_conditions
            )
        )

    @property
    def row_filters(self) -> tuple[RowColumn, ...]:
        """Return the filters of all rules. There are none if a rule needs all rows.

        A rule whose matches are consecutive rows needs all rows: those that no measure reads are
        events of its matches, too.
        """
        for draft in self.drafts.values():
            if not draft.plan.selects or not draft.row_filters:
                return ()
        return tuple(
            dict.fromkeys(column for draft in self.drafts.values() for column in draft.row_filters)
        )

    @cached_property
    def joint_draft(self) -> Draft:
        """Return a draft of everything that Spark computes for the rules: see `DraftedRules`.

        It has no conditions of variables: the conditions of the rules are observed instead.
        """
        origins: dict[ComputedValue, SqlOrigin] = {}
        conjuncts: dict[RowColumn, tuple[Scalar, ...]] = {}
        for draft in self.drafts.values():
            origins.update(draft.origins)
            conjuncts.update(draft.conjuncts)
        return replace(
            next(iter(self.drafts.values())),
            plan=self.plan,
            conditions=(),
            outputs=(),
            row_filters=self.row_filters,
            observed=self.row_conditions,
            origins=origins,
            conjuncts=conjuncts,
        )


def join_rules(
    shared: SharedDrafts, compiled_queries: Sequence[CompiledQuery], versions: Mapping[str, Version]
) -> RuleSet:
    """Join rules that were linked one after the other, over the columns of those before, to a set.

    Args:
        shared: the drafts of the rules.
        compiled_queries: what each rule was compiled to, in their order. The last one has all
            columns.
        versions: the versions of the rules that have some, by the names of the rules.
    """
    columns = compiled_queries[-1].sent_columns.columns
    indices = {column: index for index, column in enumerate(columns)}

    def find_indices(columns: Iterable[RowColumn]) -> tuple[int, ...]:
        """Return the indices of columns among the columns that are sent for the set."""
        return tuple(indices[column] for column in columns)

    rules = tuple(
        LinkedRule(
            name=name,
            compiled_query=compiled_query,
            dividing_columns=find_indices(find_dividing_columns(draft.plan)),
            version=versions.get(name, Version(name)),
        )
        for (name, draft), compiled_query in zip(
            shared.drafts.items(), compiled_queries, strict=True
        )
    )
    return RuleSet(
        rules=rules,
        columns=columns,
        keys=find_indices(find_key_columns(shared.plan)),
        order=indices[shared.order],
        events={name: indices[build_row_column(quote_name(name))] for name in shared.events},
        row_conditions=shared.row_conditions,
        row_filters=shared.row_filters,
        has_versions=bool(versions),
    )
