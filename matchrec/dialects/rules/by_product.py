"""The rules between two products, in the order in which they are applied.

A product's own rules are in the module with its name, or are imported there. They come before the
rules that all products share, and the rules for the product that is written come last.
"""

from __future__ import annotations

from matchrec.dialects.products import Product
from matchrec.dialects.rules import (
    aggregates,
    azure,
    bigquery,
    choices,
    flink,
    numbers,
    oracle,
    recursion,
    row_patterns,
    snowflake,
    texts,
    times,
    trino,
)
from matchrec.dialects.rules.context import RewriteRule
from matchrec.dialects.rules.qualify import rewrite_qualify

# The rules of each product, in the order in which they are applied.

# The rules for expressions in the SQL of a product, whichever product is written.
READS: dict[str, tuple[RewriteRule, ...]] = {
    "spark": (flink.rewrite_failing_cast,),
    "databricks": (aggregates.add_final,),
    "snowflake": snowflake.READS,
    "oracle": oracle.READS,
    "trino": trino.READS,
    "flink": flink.READS,
    "bigquery": bigquery.READS,
    "azure": azure.READS,
}

# The rules for expressions of any product, applied after `READS`.
COMMON: tuple[RewriteRule, ...] = (
    times.drop_fraction_of_second,
    numbers.rewrite_division,
    choices.rewrite_greatest_and_least,
    recursion.rewrite_recursion,
    texts.rewrite_split,
    choices.rewrite_decode,
    aggregates.reject_ordered_array,
)

# The rules for expressions that are written for a product, after all others.
WRITES: dict[str, tuple[RewriteRule, ...]] = {
    "snowflake": (row_patterns.rename_prev_and_next, aggregates.note_array_nulls),
    "oracle": (
        row_patterns.rewrite_first_and_last_value,
        aggregates.reject_distinct_and_filter,
        oracle.write_bitwise_operator,
    ),
    "trino": (
        numbers.note_average_of_decimals,
        row_patterns.rewrite_first_and_last_value,
        aggregates.note_array_nulls,
        trino.note_first_of_later_rows,
        aggregates.reject_distinct_and_filter,
    ),
    "bigquery": (row_patterns.rewrite_first_and_last_value, aggregates.note_array_nulls),
    "flink": (aggregates.note_array_nulls,),
    "databricks": (aggregates.remove_final,),
    "spark": (rewrite_qualify,),
}


def find_rules(read: Product, write: Product) -> tuple[RewriteRule, ...]:
    """Return the rules between two products, in the order in which they are applied."""
    return (
        numbers.round_or_cut_cast,
        *READS.get(read.name, ()),
        *COMMON,
        *WRITES.get(write.name, ()),
    )
