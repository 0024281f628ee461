"""The rules between two products, in the order in which they are applied.

From Trino to Spark, `find_rules` returns these rules, one after another:

    round_or_cut_cast         first, so that it sees no casts that other rules add, as for TRUNC(x)
    READ_RULES["trino"]       what Trino means otherwise than sqlglot translates it
    COMMON_RULES              what many products mean otherwise
    WRITE_RULES["spark"]      what sqlglot writes wrongly for Spark, whichever product is read
    quote_reserved_name       last, so that it sees the names that other rules add

The module of a product has the rules that only this product needs, and lists all of its
`READ_RULES`.
"""

from __future__ import annotations

from matchrec.dialects.products import Product
from matchrec.dialects.rules import (
    aggregates,
    azure,
    bigquery,
    casts,
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

# By product, the rules for expressions in SQL of this product, whichever product is written.
READ_RULES: dict[str, tuple[RewriteRule, ...]] = {
    "spark": (casts.restore_cast,),
    "databricks": (aggregates.add_final,),
    "snowflake": snowflake.READ_RULES,
    "oracle": oracle.READ_RULES,
    "trino": trino.READ_RULES,
    "flink": flink.READ_RULES,
    "bigquery": bigquery.READ_RULES,
    "azure": azure.READ_RULES,
}

# The rules for expressions in SQL of any product.
COMMON_RULES: tuple[RewriteRule, ...] = (
    times.drop_fraction_of_second,
    numbers.rewrite_division,
    choices.rewrite_greatest_and_least,
    recursion.rewrite_recursion,
    texts.rewrite_split,
    choices.rewrite_decode,
    aggregates.reject_ordered_array,
)

# By product, the rules for expressions that are written for this product.
WRITE_RULES: dict[str, tuple[RewriteRule, ...]] = {
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
        *READ_RULES.get(read.name, ()),
        *COMMON_RULES,
        *WRITE_RULES.get(write.name, ()),
        row_patterns.quote_reserved_name,
    )
