"""The products whose queries are read and written."""

from __future__ import annotations

from matchrec.frontends.dialects import oracle, trino
from matchrec.frontends.dialects.flink import average_of_integers, group_window, match_rowtime
from matchrec.frontends.dialects.parts import (
    azure_parts,
    bigquery_parts,
    databricks_parts,
    snowflake_parts,
)
from matchrec.frontends.dialects.product import SPARK, Addition, Nulls, Product
from matchrec.frontends.dialects.rules import (
    bare_classifier,
    bounded_text,
    count_of_rows,
    lag_and_lead,
    named_parameter,
    navigation_with_default,
    no_dual,
    no_into,
    row_number_in_match,
    unnested_structs,
)
from matchrec.frontends.dialects.times import added_time, crossed_boundaries
from matchrec.frontends.dialects.typed import oracle_dates
from matchrec.frontends.dialects.typed.elapsed import elapsed
from matchrec.frontends.dialects.typed.oracle_times import differences, durations, shifts
from matchrec.frontends.lexing.function_names import NAVIGATION
from matchrec.plan.clauses import ColumnOrder, SkipTo

_LAG_AND_LEAD = {"LAG": "PREV", "LEAD": "NEXT"}

PRODUCTS = {
    product.name: product
    for product in (
        SPARK,
        Product("standard", "the standard", "spark", is_spark=True),
        Product(
            "databricks",
            "Databricks",
            "databricks",
            is_spark=True,
            functions={f"MATCH_RECOGNIZE_{name}": name for name in NAVIGATION},
            reads_part=databricks_parts,
            columns=ColumnOrder.INPUT_FIRST,
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
            reads_part=snowflake_parts,
            reads=(
                navigation_with_default,
                row_number_in_match,
                bare_classifier,
                added_time,
                crossed_boundaries,
            ),
            writes=(lag_and_lead,),
            columns=ColumnOrder.INPUT_FIRST,
            defines_more=True,
        ),
        Product(
            "oracle",
            "Oracle",
            "oracle",
            quote='"',
            nulls=Nulls.LARGE,
            reads=(*oracle.RULES, no_dual, bounded_text),
            typed=(durations, differences, shifts, *oracle_dates.RULES),
        ),
        Product(
            "trino",
            "Trino",
            "trino",
            quote='"',
            nulls=Nulls.LAST,
            divides_integers=True,
            reads=(count_of_rows, *trino.RULES, bounded_text),
            typed=(trino.first_of_match, elapsed),
        ),
        Product(
            "flink",
            "Flink SQL",
            "spark",
            is_spark=True,
            divides_integers=True,
            skip=SkipTo.NEXT_ROW,
            has_exclusive_loops=True,
            within_includes=True,
            reads=(group_window, bounded_text),
            typed=(match_rowtime, average_of_integers, elapsed),
        ),
        Product(
            "bigquery",
            "BigQuery",
            "bigquery",
            functions=_LAG_AND_LEAD | {"MATCH_ROW_NUMBER": "ROW_NUMBER"},
            reads_part=bigquery_parts,
            reads=(
                navigation_with_default,
                row_number_in_match,
                named_parameter,
                added_time,
                unnested_structs,
                crossed_boundaries,
            ),
            additions=frozenset({Addition.LONGEST_MATCH}),
            keeps_case=True,
        ),
        Product(
            "azure",
            "Azure Stream Analytics",
            "tsql",
            skip=SkipTo.NEXT_ROW,
            reads_part=azure_parts,
            reads=(no_into, added_time, crossed_boundaries),
            additions=frozenset({Addition.DURATION, Addition.TIMESTAMP_BY}),
            keeps_case=True,
            is_written=False,
        ),
    )
}
