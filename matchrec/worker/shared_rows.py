"""The rows of a piece that all rules of a set share, and the parts of them that single rules see.

The rows are sorted and divided into partitions once for the set. A rule can see them in two other
ways: with the partitions of the set divided further, and only the rows of the time in which a
version of the rule is valid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from matchrec.compile.rule_set import RuleSet, Version
from matchrec.search.flat_arrays import add_up_before, find_group_starts
from matchrec.search.matches import Matches, Numbering
from matchrec.search.nearby import set_nearby_bits
from matchrec.search.partitions import BoolArray, IntArray, Partitions, WordArray
from matchrec.search.task import NearbyCondition
from matchrec.worker import internal_names
from matchrec.worker.arrays import find_valid, read_integers, take_column
from matchrec.worker.encode import unpack_conditions
from matchrec.worker.equal_codes import encode_by_equality, number_rows


@dataclass(frozen=True)
class SharedRows:
    """n rows in p whole partitions, with the bits of the conditions of all rules.

    Rules that see the same rows share one object. Two of its fields change in place: when the first
    of these rules needs a condition on neighbouring rows, `add_nearby_bits` sets the bit of the
    condition in `condition_bits` and adds its number to `computed_bits`. For the other rules, the
    bit is there already.
    """

    table: pa.Table
    # int64[p + 1], the row at which each partition starts, then the number of rows.
    starts: IntArray
    # uint64[n, w], which conditions hold on each row, as in `Partitions`.
    condition_bits: WordArray
    # int64[p], for each partition, the partition of the set to which its rows belong; None if the
    # partitions belong to the set.
    set_partitions: IntArray | None = None
    # The bits of conditions on neighbouring rows that `add_nearby_bits` has set.
    computed_bits: set[int] = field(default_factory=set)

    @classmethod
    def create(cls, table: pa.Table, starts: IntArray, rule_set: RuleSet) -> SharedRows:
        """Return rows with the bits of the conditions that the engine has computed.

        Args:
            table: the rows of a piece.
            starts: see the field.
            rule_set: the rules that share the rows.
        """
        bit_count = rule_set.bit_count
        condition_bits = unpack_conditions(table, len(rule_set.row_conditions), bit_count)
        return cls(table, starts, condition_bits)

    def add_nearby_bits(
        self, partitions: Partitions, conditions: Sequence[NearbyCondition]
    ) -> Partitions:
        """Set the bits of conditions on neighbouring rows, except bits that are computed already.

        The bits are set in place. The partitions are returned, as by `search.nearby`.

        Args:
            partitions: these rows as a search sees them, with the same array of bits.
            conditions: the conditions that a rule needs.

        Raises:
            RunFailure: a condition cannot be computed on a row. Some bits may be set then, but
                `computed_bits` has none of them: the next rule that needs one of them also fails.
        """
        assert partitions.condition_bits is self.condition_bits, "the bits are set for all rules"
        missing = [condition for condition in conditions if condition.bit not in self.computed_bits]
        set_nearby_bits(partitions, missing)
        self.computed_bits.update(condition.bit for condition in missing)
        return partitions

    def number_matches(self, matches: Iterator[Matches]) -> Iterator[Matches]:
        """Yield the matches of a rule, numbered in each partition of the set.

        The search numbers matches in each partition of the rule, which may be a part of a partition
        of the set.

        Args:
            matches: the matches in chunks, in the order of their partitions.
        """
        if self.set_partitions is None:
            yield from matches
            return
        numbering = Numbering()
        for chunk in matches:
            in_set_partitions = replace(chunk, partition=self.set_partitions[chunk.partition])
            numbered_chunk = numbering.number_matches(in_set_partitions)
            yield replace(chunk, number=numbered_chunk.number)

    def select_partitions(self, partitions: range) -> SharedRows:
        """Return the rows of some consecutive partitions.

        `self` must have the partitions of the set. The bits of the result are a view of
        `condition_bits`. Bits may be set in both, because the partitions are whole, so rows have
        the same neighbours in both.
        """
        begin = int(self.starts[partitions.start])
        end = int(self.starts[partitions.stop])
        starts = self.starts[partitions.start : partitions.stop + 1] - begin
        rows = self.table.slice(begin, end - begin)
        return SharedRows(rows, starts, self.condition_bits[begin:end])

    def select_version(self, version: Version, rule_set: RuleSet) -> SharedRows:
        """Return the rows that a version of a rule sees. Partitions without such rows are dropped.

        The bits of conditions on neighbouring rows are not copied, because rows have other
        neighbours in the result.

        Args:
            version: the version, with the time in which it is valid.
            rule_set: the rules that share the rows.
        """
        order_values = take_column(self.table, internal_names.name_column(rule_set.order))
        is_seen = select_rows_of_version(
            version, read_integers(order_values), find_valid(order_values)
        )
        if is_seen.all():
            return self
        sizes = np.diff(add_up_before(is_seen)[self.starts])
        starts = find_group_starts(sizes[sizes > 0])
        table = self.table.filter(pa.array(is_seen)).combine_chunks()
        return SharedRows.create(table, starts, rule_set)

    def divide(self, columns: tuple[int, ...]) -> SharedRows:
        """Return the rows with each partition divided by the values of some columns.

        `self` must have the partitions of the set. Rows with equal values get into one partition,
        and stay in their order. The new partitions are in the order of their first rows:

            a column of one partition    x  y  x        new partitions    x x | y

        In the result, rows have other neighbours, but all bits are copied. No rule
        reads a bit that was set for the former neighbours: rules that divide the partitions
        differently have different bits for the same condition
        (`compile.joined_queries.NearbyKey`).

        Args:
            columns: the indices of the columns. Without columns, nothing is divided.
        """
        if not columns:
            return self
        partition = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        codes = [
            encode_by_equality(take_column(self.table, internal_names.name_column(column)))
            for column in columns
        ]
        new_partition = number_rows([partition, *codes]).numbers
        order = np.argsort(new_partition, kind="stable")
        first_rows = np.flatnonzero(np.diff(new_partition[order], prepend=-1))
        return SharedRows(
            table=self.table.take(pa.array(order)).combine_chunks(),
            starts=np.append(first_rows, len(order)).astype(np.int64),
            condition_bits=self.condition_bits[order],
            set_partitions=partition[order[first_rows]],
        )


def select_rows_of_version(version: Version, order: IntArray, has_order: BoolArray) -> BoolArray:
    """Return which rows a version of a rule sees: the rows of the time in which it is valid.

    Args:
        version: the version, with the time in which it is valid.
        order: int64[n], the order value of each row.
        has_order: bool[n], false if the order value is NULL, which comes before all values.

    Returns:
        bool[n].
    """
    is_seen = np.ones(len(order), np.bool_)
    if version.since is not None:
        is_seen &= has_order & (order >= version.since)
    if version.until is not None:
        is_seen &= ~has_order | (order < version.until)
    return is_seen
