"""The products whose queries are read and written."""

from __future__ import annotations

from matchrec.frontends.dialects import oracle, trino
from matchrec.frontends.dialects.flink import average_of_integers, group_window, match_rowtime
from matchrec.frontends.dialects.product import SPARK, Nulls, Product
from matchrec.frontends.dialects.rules import (
    bare_classifier,
    bounded_text,
    count_of_rows,
    lag_and_lead,
    named_parameter,
    navigation_with_default,
    no_dual,
    row_number_in_match,
)
from matchrec.frontends.dialects.typed import oracle_dates
from matchrec.frontends.dialects.typed.elapsed import elapsed
from matchrec.frontends.dialects.typed.oracle_times import differences, durations, shifts
from matchrec.plan.clauses import SkipTo

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
            functions={"MATCH_RECOGNIZE_PREV": "PREV", "MATCH_RECOGNIZE_NEXT": "NEXT"},
        ),
        Product(
            "snowflake",
            "Snowflake",
            "snowflake",
            quote='"',
            nulls=Nulls.LARGE,
            functions=_LAG_AND_LEAD
            | {
                "FIRST_VALUE": "FIRST",
                "LAST_VALUE": "LAST",
                "MATCH_SEQUENCE_NUMBER": "ROW_NUMBER",
            },
            reads=(navigation_with_default, row_number_in_match, bare_classifier),
            writes=(lag_and_lead,),
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
            reads=(navigation_with_default, row_number_in_match, named_parameter),
            writes=(lag_and_lead,),
        ),
    )
}
