"""Errors of row pattern windows: PATTERN in OVER or WINDOW."""

from __future__ import annotations

from matchrec.errors.message import give_codes, parse_error, plan_error, unsupported

_FRAMES = (
    "the frames are: ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING, AND n FOLLOWING, "
    "AND CURRENT ROW"
)
window_without_select = unsupported("""PATTERN in a window outside of a SELECT is not supported
    code: pattern-window-outside-select
    write SELECT ... OVER w FROM t WINDOW w AS (...)""")
window_without_relation = unsupported("""missing FROM in a SELECT with PATTERN in a window
    code: pattern-window-without-from
    write SELECT ... FROM t""")
joined_rows = unsupported("""PATTERN in a window over several relations is not supported
    code: pattern-window-with-join
    join them in a subquery: FROM (SELECT ... FROM a JOIN b ...) AS t""")
grouped_rows = unsupported("""PATTERN in a window is not supported together with {word}
    code: pattern-window-with-grouping
    case QUALIFY: keep rows in a query around this one: SELECT * FROM (SELECT ...) WHERE ...
    group in a subquery: FROM (SELECT ... GROUP BY ...) AS t""")
duplicate_window = parse_error("""window `{name}` is defined twice in WINDOW
    give one of them another name""")
derived_window = unsupported("""a window derived from `{name}`, which has PATTERN, is not supported
    code: derived-from-pattern-window
    note: a window that has a frame cannot be extended
    derive both from a window without PATTERN, or write OVER {name}""")
unknown_base = plan_error("""unknown window `{name}`
    code: unknown-window
    note: WINDOW has: {known}
    near: write {near}
    add WINDOW {name} AS (PARTITION BY ... ORDER BY ...), or write these in OVER""")
second_keys = parse_error("""{part} is not allowed in a window derived from `{name}`
    code: derived-window-keys
    note: only ORDER BY can be added, if `{name}` has none
    remove {part}, or write the whole window without `{name}`""")
base_with_frame = parse_error("""a window with PATTERN is not allowed to derive from `{name}`, which
        has a frame
    code: window-base-has-frame
    remove the frame of `{name}`""")
call_in_wrong_place = unsupported("""a call over a window with PATTERN is supported only in the
        SELECT list and in ORDER BY
    code: misplaced-pattern-window-call
    test it in a query around this one: SELECT * FROM (SELECT ...) WHERE ...""")
star_with_changes = unsupported("""* {word} in a SELECT with PATTERN in a window is not supported
    code: star-with-pattern-window
    name the columns, or write it in a query around this one""")
window_without_frame = parse_error(
    "missing frame in a window with PATTERN",
    notes=(_FRAMES,),
    hint="write ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING after MEASURES",
    code="pattern-window-without-frame",
)

# RANGE, GROUPS, another start than CURRENT ROW, EXCLUDE, a length such as 1.5 or count(*).
wrong_frame = parse_error(
    "frame `{text}` is not allowed in a window with PATTERN",
    notes=(_FRAMES, "a match begins at the current row"),
    hint="write ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    code="wrong-pattern-window-frame",
)
wrong_frame_length = plan_error("""the length of a frame is {length}
    code: wrong-frame-length
    note: a length is a whole number of rows after the current row, 0 or more
    write AND 5 FOLLOWING, or AND UNBOUNDED FOLLOWING""")
not_in_window = unsupported("""{what} is not supported in a window
    code: not-in-pattern-window
    case ONE ROW PER MATCH | ALL ROWS PER MATCH: remove it: the result has each row of the input
        once
    case MATCHED_ROWS(): write collect_list(struct(x, y)) with the columns that you need
    case WITHIN: limit the frame instead: AND n FOLLOWING, or write FROM t MATCH_RECOGNIZE (...)
    remove {what}, or write FROM t MATCH_RECOGNIZE (...)""")
not_with_seek = unsupported("""{what} in a window with SEEK is not supported
    write INITIAL, or leave SEEK out""")
frame_in_condition = unsupported("""OVER in DEFINE of a window with PATTERN is not supported
    code: over-in-window-define
    note: a match sees the rows of the window's frame only
    compute it in a subquery: FROM (SELECT *, avg(x) OVER (...) AS y FROM t)""")
rows_beyond_frame = unsupported("""{function} of a row that may be outside the window's frame is not
        supported
    note: the end of the frame is known only relative to the tested row
    write {function}(x) of that row, or move functions into it: {function}(upper(x))""")
next_in_own_frame = unsupported("""NEXT in MEASURES of a window is not supported if the frame's
        length varies
    code: next-with-varying-frame
    write a number of rows, AND 5 FOLLOWING, or AND UNBOUNDED FOLLOWING""")

# t.m OVER w; `measure` is m.
qualified_measure = parse_error("""`{name}` before OVER is neither a measure nor a function
    note: a measure of a window has no qualifier
    write {measure} OVER ...""")
unknown_measure = plan_error("""unknown measure `{name}` of window {window}
    code: unknown-window-measure
    note: MEASURES has: {known}
    near: write {near}
    add it: MEASURES LAST({name}) AS {name}""")
measure_of_plain_window = plan_error("""`{name}` before OVER is not a function, and the window has
        no PATTERN
    note: measures are those of a window with PATTERN in the same SELECT
    name that window, or call a function: max({name}) OVER ...""")

# upper(x) OVER w, prev(x) OVER w, first_value(x) IGNORE NULLS OVER w.
not_over_rows = unsupported("""`{name}` over a window with PATTERN is not supported
    code: call-not-over-pattern-window
    note: these are supported: a measure, an aggregate, first_value, last_value, nth_value,
        row_number, rank, dense_rank, percent_rank, cume_dist, ntile, lag and lead
    make it a measure of the window: MEASURES ... AS m, then m OVER w""")
needs_order = parse_error(
    "missing ORDER BY in a window with PATTERN",
    hint="add ORDER BY",
    code="pattern-window-without-order",
)
window_asked_about = unsupported("""{call} of a window with PATTERN is not supported
    code: question-about-pattern-window
    ask about the same pattern in FROM t MATCH_RECOGNIZE (...)""")

# Errors and notes about queries of other products.

unreadable = parse_error(
    "this is not valid {product:sql}", notes=("{reason:note}",), code="unreadable-in-product"
)
without_equivalent = unsupported("""{product:sql} has no equivalent of {what}
    code: no-equivalent-in-product
    note: {reason}
    {cure}""")
moved = unsupported("""this cannot be translated to {product:sql} without reordering its parts
    code: translation-reorders-parts
    write the query around the clause as Spark SQL""")
unknown_option = unsupported("""unknown option of MATCH_RECOGNIZE
    code: unknown-clause-option
    write {known} = TRUE, or remove it""")
no_windows = unsupported("""{product:sql} has no PATTERN in windows
    code: product-without-pattern-windows
    write FROM t MATCH_RECOGNIZE (...)""")
malformed_duration = parse_error("""LIMIT DURATION is malformed
    code: malformed-limit-duration
    write LIMIT DURATION (minute, 5)""")
ordered_by_arrival = unsupported("""{product} orders events by their time of arrival, which a table
        does not have
    code: order-of-arrival
    write TIMESTAMP BY and a column of the table after its name""")
own_time = unsupported("""each `{key}` has its own time, but PARTITION BY does not have `{key}`
    code: time-per-key
    add {key} to PARTITION BY, or leave OVER out""")
not_written = unsupported(
    "writing queries for {product} is not supported", code="product-not-written"
)
not_in = unsupported("""{product} has no {what}
    code: not-in-product
    {cure}""")

no_within = unsupported("""{product} has no WITHIN
    code: product-without-within
    write it as a condition of each variable in DEFINE: {condition}""")

# `.` in PATTERN beside Classifier(), of Azure Stream Analytics.
name_of_any_row = unsupported("""`.` in PATTERN has no name that Classifier() could give
    code: any-row-without-name
    write a variable that DEFINE does not mention""")

# `FROM input PARTITION BY key` before a clause, of Azure Stream Analytics.
divided_input = unsupported("""PARTITION BY of an input is not supported
    code: partitioned-input
    leave it out here, and write PARTITION BY in the clause""")

# TIMESTAMP BY in a query that no clause follows, of Azure Stream Analytics.
time_of_step = unsupported("""TIMESTAMP BY is not supported without MATCH_RECOGNIZE after it
    code: misplaced-timestamp-by
    write it right before MATCH_RECOGNIZE, as in FROM step TIMESTAMP BY time""")

give_codes(globals())
