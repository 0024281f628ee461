"""The products whose queries are read and written."""

from __future__ import annotations

from matchrec.frontends.dialects.product import SPARK, Addition, Nulls, Product
from matchrec.frontends.lexing.function_names import NAVIGATION
from matchrec.plan.clauses import ColumnOrder, SkipTo

_LAG_AND_LEAD = {"LAG": "PREV", "LEAD": "NEXT"}

PRODUCTS = {
    product.name: product
    for product in (
        SPARK,
        Product(
            "standard",
            "the standard",
            "spark",
            is_spark=True,
            has_row_pattern_windows=True,
            extremes_of_nulls=False,
        ),
        Product(
            "databricks",
            "Databricks",
            "databricks",
            is_spark=True,
            functions={f"MATCH_RECOGNIZE_{name}": name for name in NAVIGATION},
            columns=ColumnOrder.INPUT_FIRST,
            finds_empty=False,
            extremes_of_nulls=False,
            names_with_as=True,
        ),
        Product(
            "snowflake",
            "Snowflake",
            "snowflake",
            quote='"',
            nulls=Nulls.LARGE,
            functions=_LAG_AND_LEAD
            | {
                "FIRST_VALUE": "FIRST_VALUE",
                "LAST_VALUE": "LAST_VALUE",
                "MATCH_SEQUENCE_NUMBER": "ROW_NUMBER",
            },
            columns=ColumnOrder.INPUT_FIRST,
            defines_more=True,
            counts_boundaries=True,
            additions=frozenset({Addition.SLASH_COMMENTS}),
            joins_without_nulls=False,
            divides_sequences=True,
        ),
        Product("oracle", "Oracle", "oracle", quote='"', nulls=Nulls.LARGE, has_bare_rows=True),
        Product(
            "trino",
            "Trino",
            "trino",
            quote='"',
            nulls=Nulls.LAST,
            divides_integers=True,
            repeats_keys=True,
            has_row_pattern_windows=True,
            collects_nulls=True,
            names_with_as=True,
        ),
        Product(
            "flink",
            "Flink SQL",
            "flinksql",  # ours: lexing/flink_sql.py, which `sqlglot_translation` loads
            is_spark=True,
            divides_integers=True,
            skip=SkipTo.NEXT_ROW,
            has_exclusive_loops=True,
            within_includes=True,
            has_windows_of_time=True,
            lacks_dialect=True,
            names_with_as=True,
            additions=frozenset({Addition.DOLLAR_NAMES}),
        ),
        Product(
            "bigquery",
            "BigQuery",
            "bigquery",
            parameter="@",
            functions=_LAG_AND_LEAD | {"MATCH_ROW_NUMBER": "ROW_NUMBER"},
            additions=frozenset(
                {
                    Addition.LONGEST_MATCH,
                    Addition.PIPES,
                    Addition.EMPTY_ALTERNATIVES,
                    Addition.HASH_COMMENTS,
                }
            ),
            keeps_case=True,
            collects_nulls=True,
            joins_without_nulls=False,
            names_with_as=True,
        ),
        Product(
            "azure",
            "Azure Stream Analytics",
            "tsql",
            divides_integers=True,
            skip=SkipTo.NEXT_ROW,
            additions=frozenset(
                {Addition.DURATION, Addition.TIMESTAMP_BY, Addition.ANY_ROW, Addition.BRACKETS}
            ),
            keeps_case=True,
            is_written=False,
        ),
    )
}
