"""Decide whether a search returns its matches as chains, which share their rows.

Matches that overlap often end with the same rows. In chains (`search.matches.Chains`), these rows
are stored only once. Chains are possible if every value that the output needs can be read from
them. For sums, this depends on the values in the table.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.conditions.run_condition import Reduction
from matchrec.output.exact_sums import are_integer_sums_exact
from matchrec.output.reads import ReadBasicAggregate, can_read_all_from_chains
from matchrec.search.task import Task
from matchrec.worker import arrays, internal_names
from matchrec.worker.arrays import take_column
from matchrec.worker.decimals import has_exact_sums


def request_chains(compiled_query: CompiledQuery, table: pa.Table) -> Task:
    """Return the task of a query, with `wants_chains` set if all reads can be read from chains.

    A sum can be read from chains only if the values of the table allow it, see `can_sum_in_chains`.
    An average always can, because it is computed from a sum of doubles: integers are added up as
    doubles, too, and the average of decimals is not a separate read.

    Args:
        compiled_query: has the task, and the reads of its output.
        table: the rows that are searched.
    """
    task = compiled_query.task
    reads = compiled_query.reads
    if not (task.can_share_rows and can_read_all_from_chains(reads, compiled_query.rows_per_match)):
        return task
    summed_columns = {
        read.column
        for read in reads
        if isinstance(read, ReadBasicAggregate) and read.reduction is Reduction.SUM
        if read.column is not None
    }
    wants_chains = all(
        can_sum_in_chains(
            take_column(table, internal_names.name_column(column)), ansi=compiled_query.ansi
        )
        for column in summed_columns
    )
    return replace(task, wants_chains=wants_chains)


def can_sum_in_chains(values: pa.Array, *, ansi: bool) -> bool:
    """Return whether sums of some of these values can be read from chains.

    Integers and decimals can if their sum is the same in any order of additions, and if no
    intermediate sum raises an error that another order would not raise. Doubles always can: if
    their sums may be rounded, they are added up in the order of the rows, even if matches share
    their rows.

    Args:
        values: the values of the column of the sum.
        ansi: whether a sum that is too large is an error.
    """
    if pa.types.is_decimal(values.type):
        return has_exact_sums(values)
    if pa.types.is_floating(values.type):
        return True
    return not ansi or are_integer_sums_exact(arrays.read_integers(values))
