"""One partition of a clause's input on the driver, as an engine sees it.

All of its rows come, those too that a query leaves behind before the search: what the engine would
not see is marked. Spark computes columns and bits as for any query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
from pyspark.sql import types as spark_types

from matchrec.compile.draft import Draft
from matchrec.compile.executable import Executable
from matchrec.compile.path import draft, link
from matchrec.conditions.row_column import RowColumn, row_column
from matchrec.conditions.within import check_order
from matchrec.dataclass import dataclass
from matchrec.engine.partitions import Partitions
from matchrec.errors.run import tracing as errors
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns
from matchrec.spark.before.columns import Preparation
from matchrec.spark.before.sent import Prepared
from matchrec.spark.execute import in_terms_of_the_query, input_columns, is_streaming
from matchrec.spark.prepare import type_of_order
from matchrec.spark.relation import Relation
from matchrec.spark.session import quiet_analysis, settings_of
from matchrec.spark.tracing.collect import collect_table
from matchrec.spark.tracing.further import Further
from matchrec.spark.tracing.literals import literal
from matchrec.spark.worker.encode import partitions_of

MOST_KEYS = 5  # partitions that a message names


@dataclass(frozen=True)
class Asked:
    """Which partition of a clause, and which row of it.

    partition: values by the names of their columns, None where none is named. row: values of the
    first ORDER BY columns, None for all rows.
    """

    partition: Mapping[str, object] | None = None
    row: tuple[object, ...] | None = None


@dataclass(frozen=True)
class CollectedPartition:
    """What is known of one partition.

    plan: resolved. table: its rows, as a worker gets them. fields: of the columns that cross.
    keys: the partition, as text by column. orders: names of the ORDER BY columns. places: of each
    row their values, as text. asked: positions of the rows asked for. irrelevant: of those that
    are left out before the search.
    """

    relation: Relation
    plan: MatchPlan
    executable: Executable
    table: pa.Table
    partitions: Partitions
    fields: tuple[spark_types.StructField, ...]
    keys: dict[str, str]
    orders: tuple[str, ...]
    places: tuple[tuple[str, ...], ...]
    asked: tuple[int, ...]
    irrelevant: frozenset[int]


def collect_partition(
    plan: MatchPlan, relation: Relation, alias: str | None, engine: str, asked: Asked
) -> CollectedPartition:
    """The partition that is asked for. Runs a job; raises MatchRecognizeError."""
    rows = relation.rows
    if is_streaming(rows):
        raise errors.trace_of_stream()
    columns = input_columns(relation.runner, rows.columns, alias)
    check_order(plan)
    with quiet_analysis(), in_terms_of_the_query(plan, relation, columns):
        drafted = draft(plan, columns, relation.name_of, type_of_order=type_of_order(relation))
        keys = partition_keys(drafted.plan, columns)
        return PartitionRequest(relation, drafted, columns, keys, asked).collect(engine)


def partition_keys(plan: MatchPlan, columns: InputColumns) -> dict[str, str]:
    """The texts of what divides a plan's input, by their names."""
    return {key.name or columns.name(key.text) or key.text: key.text for key in plan.keys}


@dataclass(frozen=True)
class PartitionRequest:
    """A partition to be collected. keys: see `partition_keys`."""

    relation: Relation
    drafted: Draft
    columns: InputColumns
    keys: Mapping[str, str]
    asked: Asked

    def collect(self, engine: str) -> CollectedPartition:
        """The partition, one job later. engine: its name, or "auto"."""
        drafted = replace(self.drafted, relevant=(), neighbours=())
        keys = self.key_values()
        tests = tuple(f"{self.keys[name]} <=> {value}" for name, value in keys.items())
        preparation = Preparation(self.relation, drafted.plan, tests)
        wanted = drafted.columns()
        runner = self.relation.runner
        executable = link(
            drafted,
            Prepared(preparation.dataframe(wanted, drafted), wanted).types,
            engine,
            ansi=runner.setting("spark.sql.ansi.enabled") == "true",
            session=settings_of(runner),
        )
        crossing = executable.crossing.columns
        further = self.further_columns()
        prepared = preparation.dataframe((*crossing, *further), drafted)
        table = collect_table(prepared)
        if not table.num_rows:
            raise self.no_such_partition()
        found = Further(table, len(crossing), len(self.orders), len(self.drafted.relevant))
        return CollectedPartition(
            self.relation,
            drafted.plan,
            executable,
            table,
            partitions_of(executable, table, np.array([0, table.num_rows], np.int64)),
            tuple(prepared.schema.fields[: len(crossing)]),
            self.named_keys(keys),
            tuple(self.columns.name(text) or text for text in self.orders),
            found.places,
            self.rows_asked(found),
            found.irrelevant,
        )

    @property
    def orders(self) -> tuple[str, ...]:
        """What the rows are sorted by, as SQL over one row."""
        return tuple(item.expression.text for item in self.drafted.plan.order_by)

    def key_values(self) -> dict[str, str]:
        """The partition as SQL literals by name. Raises where it is not the only one."""
        given = self.asked.partition
        if given is None:
            return self.only_partition()
        names = {self.columns.folded(name): name for name in self.keys}
        known = {names.get(self.columns.folded(name), name): name for name in given}
        if unknown := [one for name, one in known.items() if name not in self.keys]:
            raise errors.unknown_partition_column(unknown[0], self.keys)
        if missing := [name for name in self.keys if name not in known]:
            raise errors.partition_column_missing(missing[0], self.keys)
        return {name: literal(given[one], "partition") for name, one in known.items()}

    def only_partition(self) -> dict[str, str]:
        """No test, where there is but one partition. Raises where there are several."""
        if self.keys:
            found = self.some_keys()
            if len(found) > 1:
                raise errors.several_partitions(tuple(self.keys), found)
        return {}

    def some_keys(self) -> list[tuple[str, ...]]:
        """The keys of some partitions, as text."""
        items = [f"CAST({text} AS STRING) AS k{i}" for i, text in enumerate(self.keys.values())]
        found = self.relation.select(items).distinct().limit(MOST_KEYS + 1).collect()
        return sorted(tuple("NULL" if one is None else one for one in row) for row in found)

    def no_such_partition(self) -> Exception:
        """The error of a partition without rows."""
        return errors.no_such_partition(tuple(self.keys), self.some_keys() if self.keys else [])

    def named_keys(self, values: Mapping[str, str]) -> dict[str, str]:
        """The partition as it is shown."""
        return {name: values[name] for name in self.keys if name in values}

    def further_columns(self) -> tuple[RowColumn, ...]:
        """What is collected beside what the engine needs: see `Further`."""
        places = (row_column(f"CAST({text} AS STRING)") for text in self.orders)
        return (*places, *self.row_tests(), *self.drafted.relevant)

    def row_tests(self) -> tuple[RowColumn, ...]:
        """Whether a row is one that is asked for, and whether it comes before."""
        if self.asked.row is None:
            return (row_column("TRUE"), row_column("TRUE"))
        given = self.asked.row
        if not 1 <= len(given) <= len(self.orders):
            raise errors.other_number_of_order_values(len(given), self.orders)
        values = [literal(value, "row") for value in given]
        same = (f"({t} <=> {v})" for t, v in zip(self.orders, values, strict=False))
        descending = self.drafted.plan.order_by[0].descending
        earlier = f"({self.orders[0]} {'>' if descending else '<'} {values[0]})"
        return (row_column(" AND ".join(same)), row_column(f"coalesce({earlier}, TRUE)"))

    def rows_asked(self, found: Further) -> tuple[int, ...]:
        """The rows asked for; none where none is. Raises where there is no such row."""
        if self.asked.row is None:
            return ()
        if not found.asked:
            near = found.places[max(0, found.earlier - 2) : found.earlier + 2]
            raise errors.no_such_row(self.asked.row, self.orders, near)
        return found.asked
