"""Which rules are for the expressions of any product, in the order in which they are applied."""

from __future__ import annotations

from matchrec.frontends.dialects.rules.aggregates import count_in_pivot
from matchrec.frontends.dialects.rules.place import Rule
from matchrec.frontends.dialects.rules.queries.absent import absent_in_spark
from matchrec.frontends.dialects.rules.queries.fetched_rows import fetched_rows
from matchrec.frontends.dialects.rules.queries.windows import ratio_to_report
from matchrec.frontends.dialects.rules.values.calendar import (
    date_or_day_of_year,
    day_of_week,
    last_day_of_unit,
    week_of_year,
)
from matchrec.frontends.dialects.rules.values.casts import no_time_of_day
from matchrec.frontends.dialects.rules.values.formats import same_text_of_number
from matchrec.frontends.dialects.rules.values.json import json_of_columns, value_of_json
from matchrec.frontends.dialects.rules.values.numbers import (
    cut_number,
    exact_percentile,
    extremes,
    quotient,
)
from matchrec.frontends.dialects.rules.values.regular_expressions import (
    counted_matches,
    first_match,
    nth_match,
    replaced_matches,
    whole_or_part,
)
from matchrec.frontends.dialects.rules.values.texts import initial_capitals
from matchrec.frontends.dialects.rules.values.times import whole_second

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
