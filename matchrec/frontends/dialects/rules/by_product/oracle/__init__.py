"""Rules of Oracle: texts that are NULL, dates that are numbers of days, formats, functions.

In the order in which they are applied.
"""

from __future__ import annotations

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
    function_of_oracle,
    interval_function,
    unusual_name,
)
from matchrec.frontends.dialects.rules.by_product.oracle.numbers import formatted_number
from matchrec.frontends.dialects.rules.by_product.oracle.row_sources import (
    first_rows,
    listed_values,
    no_dual,
    no_join_marks,
    no_row_order,
    row_generator,
)
from matchrec.frontends.dialects.rules.by_product.oracle.texts import concatenation, empty_text
from matchrec.frontends.dialects.rules.place import Rule
from matchrec.frontends.dialects.rules.recursion import recursive_queries
from matchrec.frontends.dialects.rules.values.calendar import later_month, on_another_day
from matchrec.frontends.dialects.rules.values.texts import bounded_text

ORACLE: tuple[Rule, ...] = (
    no_join_marks,
    empty_text,
    row_generator,
    listed_values,
    recursive_queries,
    first_rows,
    no_row_order,
    unusual_name,
    concatenation,
    parsed_time,
    timestamp_literal,
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
