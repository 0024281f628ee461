"""Join several rules over one input, so that Spark computes and sends their columns only once.

Each rule has its own compiled query, but the set has every column and every condition only once. In
the compiled queries, columns have their index and conditions have their bit in the whole set. A row
is left out only if no rule needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from matchrec.compile.columns import find_dividing_columns, find_key_columns
from matchrec.compile.compiled_query import CompiledQuery
from matchrec.compile.joined_queries import JoinedQueries
from matchrec.compile.origins import ComputedValue
from matchrec.compile.split_query import SplitQuery
from matchrec.conditions.row_column import RowColumn, build_row_column
from matchrec.errors.run.origins import SqlOrigin
from matchrec.plan.expression import Scalar
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quote_name


@dataclass(frozen=True, slots=True)
class Version:
    """The text of a rule for a period of time: it sees only the rows of this period.

    A linked rule always has a version. If the user passed no versions, it covers all time.
    """

    # The name of the rule.
    rule: str
    # The start of the period: the least order value, as the integer that workers make of it. None
    # if the period has no start.
    since: int | None = None
    # The end of the period: all order values are less, as integers. None if it has no end.
    until: int | None = None

    @property
    def covers_all_time(self) -> bool:
        """Return whether the version sees all rows."""
        return self.since is None and self.until is None


@dataclass(frozen=True, slots=True)
class LinkedRule:
    """A compiled rule for the workers, over the columns and bits of its set. Picklable.

    `spark.rule_sets.build.link_rules` makes a linked rule of a `spark.compiled_rules.CompiledRule`.
    """

    # The name of the rule as messages print it.
    name: str
    compiled_query: CompiledQuery
    # The indices of columns by which this rule divides the partitions of the set further.
    dividing_columns: tuple[int, ...]
    version: Version
    # Over a stream, a digest of everything on which the search depends; otherwise empty.
    identity: str


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
    # The indices of the columns that the events of a match have, by the names in the input.
    events: Mapping[str, int]
    # The row conditions that Spark computes.
    row_conditions: tuple[RowColumn, ...]
    # Filters. A row is sent if it passes at least one of them; all rows are sent if there are none.
    row_filters: tuple[RowColumn, ...]
    # Whether the user passed versions of some rule, so that results name the version of a row.
    has_versions: bool

    @property
    def bit_count(self) -> int:
        """Return the number of bits of a row, including the bits that a worker computes."""
        worker_bits = [
            condition.bit
            for rule in self.rules
            for condition in rule.compiled_query.nearby_conditions
        ]
        return max([len(self.row_conditions), *(bit + 1 for bit in worker_bits)])


def join_rule_queries(queries: Sequence[SplitQuery], event_columns: Iterable[str]) -> JoinedQueries:
    """Return the queries of all rules of a set with the values that Spark computes for them.

    Args:
        queries: the query of each rule. All of them have the same partitions and order.
        event_columns: the names of the columns that the events of a match have.
    """
    first_plan = queries[0].plan
    shared_columns = [
        *find_key_columns(first_plan),
        find_order_column(first_plan),
        *(build_row_column(quote_name(name)) for name in event_columns),
    ]
    conditions: list[RowColumn] = []
    origins: dict[ComputedValue, SqlOrigin] = {}
    conjuncts: dict[RowColumn, tuple[Scalar, ...]] = {}
    for query in queries:
        shared_columns += find_dividing_columns(query.plan)
        conditions += query.row_conditions
        origins.update(query.origins)
        conjuncts.update(query.conjuncts)
    return JoinedQueries(
        queries=tuple(queries),
        partition_keys=first_plan.partition_by,  # Equivalence keys belong to a single rule.
        order_by=first_plan.order_by,
        row_conditions=tuple(dict.fromkeys(conditions)),
        row_filters=join_filters(queries),
        shared_columns=tuple(dict.fromkeys(shared_columns)),
        origins=origins,
        conjuncts=conjuncts,
    )


def find_order_column(plan: MatchPlan) -> RowColumn:
    """Return the first column of the order that all rules share."""
    return build_row_column(plan.order_by[0].expression.text)


def join_filters(queries: Sequence[SplitQuery]) -> tuple[RowColumn, ...]:
    """Return the filters of all rules; no filters if a rule needs all rows.

    A rule whose matches are consecutive rows needs all rows, because rows that no measure reads are
    also events of its matches.
    """
    filters: list[RowColumn] = []
    for query in queries:
        if not query.plan.needs_event_selection or not query.row_filters:
            return ()
        filters += query.row_filters
    return tuple(dict.fromkeys(filters))
