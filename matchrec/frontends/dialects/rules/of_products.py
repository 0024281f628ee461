"""Which rules each product has, in the order in which they are applied."""

from __future__ import annotations

from matchrec.frontends.dialects.product import Product
from matchrec.frontends.dialects.rules.aggregates import (
    arrays,
    count_in_pivot,
    count_of_rows,
    ordered_aggregates,
    semantics_of_aggregates,
    texts,
    value_at_extreme,
)
from matchrec.frontends.dialects.rules.by_product.azure import (
    functions_of_azure,
    names_of_variables,
    no_into,
    time_of_event,
)
from matchrec.frontends.dialects.rules.by_product.bigquery import (
    array_of_elements,
    dates_of_texts,
    named_fields,
    named_parameter,
    numbers_in_format,
    numbers_of_first_and_last,
    parts_of_time,
    text_of_json,
    time_in_zone,
    unnested_structs,
    weeks_from_any_day,
)
from matchrec.frontends.dialects.rules.by_product.databricks import final_aggregates
from matchrec.frontends.dialects.rules.by_product.flink import (
    element as element_of_flink,
)
from matchrec.frontends.dialects.rules.by_product.flink import (
    failing_cast,
    match_rowtime,
    moment_of_number,
    no_hints,
    no_versions,
    nth_part,
    processing_time,
    rounded_time,
)
from matchrec.frontends.dialects.rules.by_product.oracle import ORACLE
from matchrec.frontends.dialects.rules.by_product.snowflake import SNOWFLAKE
from matchrec.frontends.dialects.rules.by_product.trino import (
    counted_values,
    first_of_match,
    if_without_else,
    joda_format,
    mapped_values,
    matching_elements,
    navigation_inside,
    numbered_elements,
    seconds_since_1970,
    several_extremes,
    tried,
)
from matchrec.frontends.dialects.rules.by_product.trino import (
    nth_part as nth_part_of_trino,
)
from matchrec.frontends.dialects.rules.navigation import (
    lag_and_lead,
    navigation_with_default,
    row_number_in_match,
)
from matchrec.frontends.dialects.rules.place import Rule
from matchrec.frontends.dialects.rules.queries.absent import absent_in_spark
from matchrec.frontends.dialects.rules.queries.fetched_rows import fetched_rows
from matchrec.frontends.dialects.rules.queries.qualify import qualified_rows
from matchrec.frontends.dialects.rules.queries.windows import over_each_aggregate, ratio_to_report
from matchrec.frontends.dialects.rules.values.arrays import arrays_of_flink, arrays_of_trino
from matchrec.frontends.dialects.rules.values.calendar import (
    date_or_day_of_year,
    day_of_week,
    last_day_of_unit,
    week_of_year,
)
from matchrec.frontends.dialects.rules.values.casts import (
    no_time_of_day,
    text_of_moment,
    text_of_number_or_moment,
    whole_number,
)
from matchrec.frontends.dialects.rules.values.formats import (
    number_in_format,
    part_of_text,
    same_text_of_number,
    time_of_text,
    unit_without_quotes,
)
from matchrec.frontends.dialects.rules.values.json import json_of_columns, value_of_json
from matchrec.frontends.dialects.rules.values.numbers import (
    average_of_decimals,
    average_of_integers,
    cut_number,
    exact_percentile,
    extremes,
    quotient,
    quotient_of_decimals,
)
from matchrec.frontends.dialects.rules.values.regular_expressions import (
    counted_matches,
    first_match,
    nth_match,
    replaced_matches,
    whole_or_part,
)
from matchrec.frontends.dialects.rules.values.texts import (
    bounded_text,
    initial_capitals,
    length_without_blanks,
    nth_place,
    part_from_zero,
    text_of_subquery,
)
from matchrec.frontends.dialects.rules.values.times import (
    added_time,
    counted_boundaries,
    crossed_boundaries,
    elapsed,
    passed_months,
    truncated_date,
    whole_second,
)
from matchrec.frontends.dialects.rules.variables import quoted_variable
from matchrec.frontends.dialects.rules.written import (
    aggregate_of_all_rows,
    arrays_and_nulls,
    day_without_time,
    days_between,
    elapsed_time,
    first_of_later_rows,
    joined_text,
    json_of_oracle,
    keys_of_group,
    match_of_oracle,
    named_unit,
    no_arrays,
    running_aggregate,
    whole_quotient,
)

READS: dict[str, tuple[Rule, ...]] = {
    "databricks": (final_aggregates,),
    "snowflake": SNOWFLAKE,
    "oracle": ORACLE,
    "trino": (
        count_of_rows,
        tried,
        nth_part_of_trino,
        nth_place,
        part_from_zero,
        arrays_of_trino,
        text_of_number_or_moment,
        passed_months,
        navigation_inside,
        several_extremes,
        if_without_else,
        counted_values,
        mapped_values,
        ordered_aggregates,
        arrays,
        over_each_aggregate,
        semantics_of_aggregates,
        added_time,
        truncated_date,
        seconds_since_1970,
        matching_elements,
        numbered_elements,
        joda_format,
        bounded_text,
        first_of_match,
        elapsed,
        average_of_decimals,
        quotient_of_decimals,
    ),
    "flink": (
        failing_cast,
        processing_time,
        match_rowtime,
        rounded_time,
        truncated_date,
        arrays_of_flink,
        no_hints,
        no_versions,
        nth_part,
        element_of_flink,
        moment_of_number,
        numbered_elements,
        added_time,
        average_of_integers,
        elapsed,
    ),
    "bigquery": (
        quoted_variable,
        weeks_from_any_day,
        parts_of_time,
        time_in_zone,
        numbers_in_format,
        numbers_of_first_and_last,
        arrays,
        texts,
        over_each_aggregate,
        text_of_json,
        named_fields,
        value_at_extreme,
        ordered_aggregates,
        navigation_with_default,
        row_number_in_match,
        named_parameter,
        added_time,
        unnested_structs,
        array_of_elements,
        dates_of_texts,
        text_of_moment,
        nth_place,
        crossed_boundaries,
    ),
    "azure": (
        quoted_variable,
        time_of_event,
        names_of_variables,
        counted_boundaries,
        no_into,
        length_without_blanks,
        functions_of_azure,
        added_time,
        crossed_boundaries,
    ),
}
"""What is rewritten of the expressions of a product."""

COMMON: tuple[Rule, ...] = (
    fetched_rows,
    absent_in_spark,
    initial_capitals,
    whole_second,
    same_text_of_number,
    quotient,
    extremes,
    exact_percentile,
    count_in_pivot,
    json_of_columns,
    value_of_json,
    first_match,
    nth_match,
    whole_or_part,
    replaced_matches,
    counted_matches,
    day_of_week,
    week_of_year,
    date_or_day_of_year,
    last_day_of_unit,
    no_time_of_day,
    ratio_to_report,
    cut_number,
)
"""What is rewritten of the expressions of any product."""

WRITES: dict[str, tuple[Rule, ...]] = {
    "snowflake": (lag_and_lead, arrays_and_nulls, elapsed_time, named_unit, number_in_format),
    "oracle": (
        qualified_rows,
        keys_of_group,
        json_of_oracle,
        match_of_oracle,
        days_between,
        no_arrays,
        aggregate_of_all_rows,
        whole_quotient,
        joined_text,
        named_unit,
        unit_without_quotes,
        number_in_format,
        part_of_text,
        time_of_text,
        day_without_time,
    ),
    "trino": (
        qualified_rows,
        keys_of_group,
        ordered_aggregates,
        arrays_and_nulls,
        first_of_later_rows,
        aggregate_of_all_rows,
        named_unit,
        unit_without_quotes,
        number_in_format,
        part_of_text,
    ),
    "bigquery": (arrays_and_nulls, named_unit, number_in_format),
    "databricks": (running_aggregate, text_of_subquery),
    "spark": (qualified_rows, text_of_subquery),
}
"""What is rewritten of expressions for a product."""


def rules_between(read: Product, write: Product) -> tuple[Rule, ...]:
    """The rules for expressions of one product that another one will read."""
    return (whole_number, *READS.get(read.name, ()), *COMMON, *WRITES.get(write.name, ()))
