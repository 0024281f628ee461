"""Rules of Oracle: texts that are NULL, dates that are numbers of days, formats, functions.

In the order in which they are applied.
"""

from __future__ import annotations

from matchrec.frontends.dialects.rules.aggregates import semantics_of_aggregates
from matchrec.frontends.dialects.rules.by_product.flink import no_hints
from matchrec.frontends.dialects.rules.by_product.oracle.dates import date_with_time, truncated
from matchrec.frontends.dialects.rules.by_product.oracle.days import differences, durations, shifts
from matchrec.frontends.dialects.rules.by_product.oracle.formats import (
    formatted_time,
    parsed_time,
    text_of_date,
    timestamp_literal,
)
from matchrec.frontends.dialects.rules.by_product.oracle.functions import (
    current_time,
    deviation_of_one,
    field_of_json,
    function_of_oracle,
    interval_function,
    remainder,
    unusual_name,
)
from matchrec.frontends.dialects.rules.by_product.oracle.hierarchies import hierarchy
from matchrec.frontends.dialects.rules.by_product.oracle.kept_rows import value_of_kept_rows
from matchrec.frontends.dialects.rules.by_product.oracle.numbers import formatted_number
from matchrec.frontends.dialects.rules.by_product.oracle.row_sources import (
    first_rows,
    listed_values,
    no_dual,
    no_join_marks,
    no_row_order,
    numbered_rows,
    row_generator,
)
from matchrec.frontends.dialects.rules.by_product.oracle.texts import concatenation, empty_text
from matchrec.frontends.dialects.rules.place import Rule
from matchrec.frontends.dialects.rules.queries.recursion import recursive_queries
from matchrec.frontends.dialects.rules.queries.unpivoted_names import unpivoted_names
from matchrec.frontends.dialects.rules.queries.windows import over_each_aggregate
from matchrec.frontends.dialects.rules.values.calendar import later_month, on_another_day
from matchrec.frontends.dialects.rules.values.texts import bounded_text, nothing_is_null, nth_place

ORACLE: tuple[Rule, ...] = (
    no_join_marks,
    no_hints,
    field_of_json,
    empty_text,
    nothing_is_null,
    deviation_of_one,
    remainder,
    over_each_aggregate,
    semantics_of_aggregates,
    row_generator,
    hierarchy,
    listed_values,
    recursive_queries,
    unpivoted_names,
    first_rows,
    numbered_rows,
    no_row_order,
    value_of_kept_rows,
    nth_place,
    unusual_name,
    concatenation,
    timestamp_literal,
    parsed_time,
    formatted_number,
    formatted_time,
    interval_function,
    current_time,
    function_of_oracle,
    no_dual,
    bounded_text,
    date_with_time,
    later_month,
    on_another_day,
    durations,
    differences,
    shifts,
    truncated,
    text_of_date,
)
