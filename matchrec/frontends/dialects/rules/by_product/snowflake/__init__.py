"""Rules of Snowflake: its tables, functions and measures.

In the order in which they are applied.
"""

from __future__ import annotations

from matchrec.frontends.dialects.rules.by_product.snowflake.functions import (
    days_between_dates,
    equal_with_nulls,
    formatted_time,
    nth_token,
    number_in_format,
    numbered_events,
    seconds_of_epoch,
    slice_of_time,
    start_of_unit,
    tried_time,
    units_of_interval,
)
from matchrec.frontends.dialects.rules.by_product.snowflake.measures import (
    alias_in_grouped_item,
    alias_in_where,
    bare_classifier,
    first_and_last,
    first_and_last_of_partition,
    inside_of_match,
)
from matchrec.frontends.dialects.rules.by_product.snowflake.tables import (
    columns_of_values,
    element,
    flattened,
    generated_rows,
    listed_values,
    no_variant,
    number_of_text,
    place_in_array,
    slice_of_array,
    split_parts,
    text_of_object,
)
from matchrec.frontends.dialects.rules.navigation import (
    navigation_with_default,
    row_number_in_match,
)
from matchrec.frontends.dialects.rules.place import Rule
from matchrec.frontends.dialects.rules.queries.recursion import recursive_queries
from matchrec.frontends.dialects.rules.queries.unpivoted_names import unpivoted_names
from matchrec.frontends.dialects.rules.values.arrays import overlapping_arrays
from matchrec.frontends.dialects.rules.values.calendar import later_month
from matchrec.frontends.dialects.rules.values.casts import text_of_moment
from matchrec.frontends.dialects.rules.values.times import (
    added_time,
    crossed_boundaries,
    truncated_date,
)

SNOWFLAKE: tuple[Rule, ...] = (
    recursive_queries,
    text_of_object,
    columns_of_values,
    generated_rows,
    flattened,
    split_parts,
    unpivoted_names,
    overlapping_arrays,
    units_of_interval,
    element,
    slice_of_array,
    no_variant,
    place_in_array,
    listed_values,
    alias_in_where,
    alias_in_grouped_item,
    number_of_text,
    first_and_last,
    first_and_last_of_partition,
    inside_of_match,
    navigation_with_default,
    row_number_in_match,
    bare_classifier,
    equal_with_nulls,
    number_in_format,
    formatted_time,
    tried_time,
    text_of_moment,
    slice_of_time,
    numbered_events,
    seconds_of_epoch,
    nth_token,
    truncated_date,
    added_time,
    later_month,
    days_between_dates,
    start_of_unit,
    crossed_boundaries,
)
