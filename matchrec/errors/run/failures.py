"""Errors that appear while a query runs, errors of rule sets, and errors of `why` and `coverage`.

Errors of a running query say in which partition and at which row they happened.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from matchrec.errors.kinds import Located, MatchRecognizePlanError
from matchrec.errors.language import current_surface
from matchrec.errors.message import give_codes, plan_error, run_error, unsupported
from matchrec.source import show_count

skip_to_no_row = run_error("""AFTER MATCH SKIP TO `{variable}`: the match has no row of {variable}
    code: skip-to-missing-row
    note: the match starts {place}
    make {variable} match at least one row, or write AFTER MATCH SKIP PAST LAST ROW""")

# SKIP TO the first row of the match would find the same match for ever.
skip_to_first_row = run_error("""AFTER MATCH SKIP TO `{variable}` goes to the first row of the
        match, so the search would not end
    note: the match starts {place}
    skip to a later variable, or write AFTER MATCH SKIP TO NEXT ROW""")
stage_missed = run_error("""the skip to stage `{stage}` fails: the match has no event of it
    code: skip-to-missing-stage
    note: the match starts {place}
    remove throw_on_miss(), or make the stage mandatory""")

# throw_on_miss() of a stage whose event is the first event of the match.
stage_is_first = run_error("""the skip to stage `{stage}` goes to the first event of the match, so
        the search would not end
    code: skip-to-first-event
    note: the match starts {place}
    remove throw_on_miss(), or skip to a later stage""")

# The engine failed to prepare a row; it says what kind of failure it is, but not at which row.
row_not_computed = run_error("""a row of the input cannot be computed: {reason}
    {cure}""")

# The same for a value around the clause, or in a query without a clause.
value_not_computed = run_error("""a value of the query cannot be computed: {reason}
    {cure}""")


# Any other failure of the engine while the command line runs a query, in the engine's words.
engine_failed = run_error("{sentence}")

# After the query was built, a view was replaced by one with other columns.
_QUERY_IS_OLD = (
    "the input has changed since this DataFrame was made, such as a view that was replaced"
)
_BUILD_AGAIN = "build the query again, by the call that made this DataFrame"
column_of_other_type = run_error(
    "column {column} is {arrived}, and was {planned} when the query was built",
    code="column-type-changed",
    notes=(_QUERY_IS_OLD,),
    hint=_BUILD_AGAIN,
)
column_has_null = run_error(
    "column {column} has a NULL, and was NOT NULL when the query was built",
    notes=(_QUERY_IS_OLD,),
    hint=_BUILD_AGAIN,
)
overflow_in_condition = run_error("""a number in the condition of `{variable}` is too large for its
        type
    note: {place}
    cast the operands to a wider type, such as BIGINT or DOUBLE""")
window_wraps = run_error("""the distance in the conditions of {variables} is too large for the type
        of the order column, and would wrap around
    code: window-overflow
    note: {place}
    order by a wider type, or set spark.sql.ansi.enabled to true""")

# WITHIN whose length differs from row to row, or has days and months, so that SQL computes it.
window_without_end = run_error("""the length of {words} is NULL, negative or too large at this row
    note: {place}
    write a number or an INTERVAL of weeks to microseconds, or order by a wider type""")
division_by_zero = run_error("""the condition of `{variable}` divides by zero
    note: {place}
    write NULLIF(divisor, 0), or set spark.sql.ansi.enabled to false""")

_not_computed = partial(
    run_error, "the condition of `{variable}` cannot be computed: {reason}", notes=("{place}",)
)
_LEAVE_OUT = "add a condition that excludes such rows"

# A function in a condition fails for its arguments; `reason` is Spark's sentence.
function_failed = _not_computed(hint=f"change the arguments of the function, or {_LEAVE_OUT}")

# The same for a function that would return NULL if ANSI mode were off.
function_failed_under_ansi = _not_computed(
    hint=f"{_LEAVE_OUT}, or set spark.sql.ansi.enabled to false", code="function-failed"
)
too_many_steps = run_error("""conditions that depend on the run were evaluated more than {limit}
        times in a partition
    note: the search has reached a match that would begin {place}
    bound the quantifiers, write WITHIN, or test rows instead of the run; or raise the limit,
        max_steps in Options or --max-steps""")

_MORE_MEMORY = (
    "give workers more memory, by spark.executor.memoryOverhead (spark.executor.pyspark.memory "
    "if it is set) or by fewer tasks at a time on a machine"
)

# There is too little memory for the runs of a search, or for the matches of one row.
_no_room = partial(
    run_error,
    "a Python worker of Spark has too little memory for the runs of a search: they need "
    "{mebibytes} MiB more",
    notes=("the search has reached a match that would begin {place}",),
)
_FEWER_RUNS = "bound the quantifiers or write WITHIN, so that fewer runs live at a time, or "
no_room_for_search = _no_room(hint=_FEWER_RUNS + _MORE_MEMORY, code="search-out-of-memory")
no_room_for_matches = _no_room(
    hint="if counts of matches or sums over them are enough, use `matchrec.query(...)"
    ".aggregate(...)` or `matchrec run --aggregate`, which build no match; else "
    + _FEWER_RUNS
    + _MORE_MEMORY,
    code="search-out-of-memory",
)
partition_without_room = run_error(
    "a Python worker of Spark has too little memory for a partition: this query needs the whole "
    "partition, and {rows:,} rows of it take {mebibytes:,} MiB",
    notes=("it is {place}",),
    hint=f"write a finer PARTITION BY, or {_MORE_MEMORY}",
    code="partition-out-of-memory",
)
undecided_without_room = run_error(
    "a Python worker of Spark has too little memory for a partition: {rows:,} rows of it, which "
    "take {mebibytes:,} MiB, wait until it is known whether a match begins with the first",
    notes=("they end {place}",),
    hint="write WITHIN or bound the quantifiers, so that matches end sooner, or a finer "
    f"PARTITION BY, or {_MORE_MEMORY}",
    code="waiting-rows-out-of-memory",
)
row_too_large = run_error("""a row of the result would take {mebibytes:,} MiB, but a Python worker
        can send at most {limit:,} MiB to Spark
    note: {place}
    bound the quantifiers or write WITHIN, so that matches are shorter; or read fewer columns, in
        rules with event_columns""")

# Rows that an engine in this process holds together; often each has all rows of its match.
rows_too_large = run_error("""rows of the result that are returned together take {mebibytes:,} MiB,
        which do not fit into memory
    note: {place}
    note: some measures add all rows of a match to each of its rows
    write ONE ROW PER MATCH and join it with the rows, bound the quantifiers or write WITHIN, so
        that matches are shorter, or read fewer columns of long values""")
sum_too_large = run_error("""a sum in MEASURES is too large for {type_name}
    note: {place}
    case BIGINT: write a CAST to DECIMAL(38, 0) or DOUBLE inside the sum
    write a CAST to DOUBLE inside the sum""")

L = TypeVar("L", bound=Located)


def name_rule(name: str, error: L) -> L:
    """Let an error or warning say to which rule it belongs, and return it.

    An error that says so already stays as it is.
    """
    prefix = f"rule `{name}`: "
    if not error.message.startswith(prefix):
        error.message = prefix + error.message
        error.args = (error.message,)
        error.rule = name
    return error


no_rules = plan_error("""`rules` of `match_rules` is empty
    write rules={"name": "PATTERN (...) DEFINE ..."}""")
no_rule = plan_error("""rule `{name}` of `match_rules` is {value:shown}
    code: not-a-rule
    note: it must be the text of a clause or of SASE+, a Pattern, or a dict of these with the time
        from which each is valid as key
    write "{name}": "PATTERN (...) DEFINE ..."
""")
alike_but_for_case = plan_error("""rules `{first}` and `{second}` differ only in case
    code: rule-names-differ-in-case
    give one of them another name""")
clause_of_its_own = plan_error("""{clause} is not allowed in a rule
    code: keys-in-rule
    note: all rules of a set have the same partitions and the same order
    remove it, and write match_rules(..., {argument}="...")""")
taken_name = plan_error("""{what} `{name}` has the name of a column of the result
    code: name-taken
    rename it first: df.withColumnRenamed("{name}", "{name}_")""")
two_columns_of_one_name = plan_error("""the input has two columns `{name}`
    code: duplicate-input-column
    rename one of them, or write event_columns= with the columns that events need""")
no_times_of_order = unsupported("""times of rules are not supported for rows ordered by {order} of
        type {type_name}
    code: rule-versions-need-time
    note: the first column of order_by decides which version of a rule applies to a row
    order by a timestamp, a date or a whole number first""")

# {"fall": {"monday": "PATTERN ..."}}: "monday" is not a value of the order.
wrong_valid_from = plan_error("""a version of rule `{name}` is valid from {value:shown}, which does
        not fit the order
    write {wanted}, like the values that sort the rows, or None for the beginning""")
two_versions_at_once = plan_error("""rule `{name}` has two versions that are valid from {time}
    code: duplicate-rule-version
    remove one of them""")
rules_column_missing = plan_error("""the table of rules has no column `{name}`
    note: columns: {known}
    name its columns rule, text and valid_from""")
rules_column_of_type = plan_error("""column `{name}` of the table of rules is of type {given}
    code: rules-column-type
    cast it to {wanted}""")
rule_marker_without_value = plan_error("""parameter `:{name}` has no value
    code: parameter-without-value
    note: the parameters of the rule are: {known}
    near: write :{near}, or the value itself
    write the value itself, or put it into column `parameters` of a table of rules""")
wrong_parameters = plan_error("""the parameters are {text:repr}, which is not a JSON object of
        numbers, strings and booleans
    code: malformed-rule-parameters
    write {"name": value} for :name, with null for NULL""")
no_name_in_rules = plan_error("""missing name of a rule in a row of the table of rules
    code: rule-without-name
    write a name into column `rule`""")
versions_over_stream = unsupported("""rule(...) of `{name}`, which has several versions, is not
        supported over a streaming DataFrame
    code: rule-versions-over-stream
    note: each version is its own view, and Spark would search for each of them
    write `rows` with foreachBatch, and take split(rows).rule(...) there""")
versions_of_other_columns = plan_error("""the versions of rule `{name}` have different columns
    code: rule-versions-differ
    note: {columns[0]}
    note: {columns[1]}
    give the measures the same names and types, or use `matches`""")
unknown_rule = plan_error("""unknown rule `{name}`
    note: rules: {known}
    near: write rule("{near}")
    write rule("{known[0]}")""")
unknown_event_column = plan_error("""unknown column `{name}` in event_columns
    note: the input has: {known}
    near: write {near}
    write one of these""")
not_divided_by = unsupported("""an equivalence test over {column} of type {type_name} is not
        supported in a rule set
    code: equivalence-test-in-rule-set
    note: rules share their partitions, and a worker divides them further for one rule
    name the column in partition_by, or call matchrec.match_sase for this query""")
rows_of_something_else = plan_error("""the rows passed to split() have no column `{missing[0]}`
    code: not-rows-of-rule-set
    note: split() takes `rows` of the same rule set, or a table to which they were written
    write and read all columns of `rows`""")

# Errors of `why` and `coverage` about the clause, partition or row that the user names.

no_literal = plan_error("""a value of `{argument}` is {value:shown}
    code: not-a-literal
    note: it must be a string, a number, True, False, None, a date, a datetime or a timedelta
    write the value as a string; an array as "[1, 2]", like CAST(x AS STRING)""")
no_value_of_type = plan_error("""`{argument}` is {value:repr}, but `{name}` is {kind}
    code: value-of-wrong-type
    note: a value of `{name}`: {example}
    write a value of this type, or remove {argument}""")
asked_of_stream = unsupported("""{asked} is not supported over a stream, whose rows come over time
    code: question-about-stream
    read the same rows as a table: spark.read instead of spark.readStream""")
no_clause = plan_error("""missing MATCH_RECOGNIZE clause in the query
    code: missing-clause
    pass the query that has the clause""")

# `names` has a line for each clause, in the order in which they are evaluated.
several_clauses = plan_error("""the query has {count} MATCH_RECOGNIZE clauses, but none is chosen
    note: they are:{names}
    write {option[clause=1]} for the first of them""")
unknown_clause = plan_error("""unknown clause {asked:repr}
    note: the query has:{names:some}
    write the number of one of them, {option[clause=1]}""")
unknown_partition_column = plan_error("""unknown column `{name}` in `{option[partition]}`
    note: PARTITION BY has: {known}
    near: write {near}
    write one of these, or leave {option[partition]} out""")


def partition_column_missing(name: str, keys: Iterable[str]) -> MatchRecognizePlanError:
    """Return the error for a partition without a value of the key `name`; `keys` are all keys."""
    example = current_surface().keys([(key, "...") for key in keys])
    return _partition_column_missing(name=name, wanted=example)


_partition_column_missing = plan_error("""missing value of `{name}` in `{option[partition]}`
    write {wanted}""")

# The user named no partition. `some` has a line for each of some partitions.
several_partitions = plan_error("""`why` looks at one partition, but there are several
    note: some of them:{some}
    write {example}""")

# `some` has a line for each of some partitions with rows.
no_such_partition = plan_error("""the partition with {wanted} has no rows
    code: unknown-partition
    note: some of them:{some}
    write {example}""")
no_rows_at_all = plan_error("there are no rows", code="no-rows")


def show_key_value(text: str | None) -> str:
    """Return a value as a message shows it; None is NULL."""
    return "NULL" if text is None else text


def format_rows(rows: Iterable[Mapping[str, str | None]]) -> str:
    """Return rows as lines of a message, each after a line break.

    >>> format_rows([{"sym": "A", "day": None}, {"sym": "B", "day": "2"}])
    '\\nsym = A, day = NULL\\nsym = B, day = 2'
    """
    lines = []
    for row in rows:
        values = ", ".join(f"{name} = {show_key_value(value)}" for name, value in row.items())
        lines.append(f"\n{values}")
    return "".join(lines)


def write_partition_example(keys: Mapping[str, str | None], numbers: Collection[str]) -> str:
    """Return how the user writes a partition.

    Args:
        keys: the values of the keys by the names of their columns; None is NULL.
        numbers: the keys that are whole numbers, which need no quotes.
    """
    pairs = []
    for name, value in keys.items():
        needs_quotes = value is not None and name not in numbers
        pairs.append((name, f'"{value}"' if needs_quotes else str(value)))
    return current_surface().keys(pairs)


partition_too_large = unsupported("""the partition has more than {limit:,} rows, which is too many
        for `why`
    look at a part of it: write WHERE before the clause, or pass fewer rows""")


def other_number_of_order_values(
    value_count: int, orders: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for `row=` with no values, or with more than ORDER BY has columns.

    Args:
        value_count: the number of values in `row=`.
        orders: the columns of ORDER BY.
    """
    surface = current_surface()
    if orders:
        cure = f"write the value of the first one, or {surface.all_of_row}"
    else:
        cure = f"write ORDER BY, or leave {surface.name_of_option('row')} out"
    return _other_number_of_order_values(
        values=show_count(value_count, "value"),
        columns=show_count(len(orders), "column"),
        orders=orders,
        cure=cure,
    )


_other_number_of_order_values = plan_error("""`{option[row]}` has {values}, but ORDER BY has
        {columns}
    code: wrong-number-of-order-values
    note: ORDER BY: {orders}
    {cure}""")

# `rows` has a line for each of the rows nearest to these values.
no_such_row = plan_error("""the partition has no row with {wanted}
    code: unknown-row
    note: the nearest rows:{rows}
    {here.row}""")
coverage_of_match_number = unsupported("""coverage is not supported for a query with event selection
        and MATCH_NUMBER() in a condition
    note: there every row is a starting row, so matches have no numbers
    remove that condition, or call why() for a partition""")
coverage_of_longest = unsupported("""coverage is not supported for LONGEST MATCH
    code: coverage-of-longest-match
    note: coverage follows the search for the preferred match of each starting row
    remove LONGEST MATCH: the same starting rows begin no match""")
coverage_of_negation = unsupported("""coverage is not supported for a query with NOT in PATTERN
    code: coverage-of-not
    note: coverage counts how often each variable takes a row, and NOT takes none
    call why() for a starting row""")

give_codes(globals())
