"""Errors about calls of the Python API: wrong arguments, options, tables and sessions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matchrec.errors.kinds import (
    SHORT,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
    find_library,
    find_nearest,
)
from matchrec.errors.language import current_surface
from matchrec.errors.message import give_codes, plan_error, refused, run_error, unsupported
from matchrec.source import Span, show_count

no_match_graph = plan_error("""this DataFrame is not a match graph: it has {columns}
    code: not-a-match-graph
    pass the result of matchrec.match_sase(..., output="graph") with all its columns""")


def no_rows(
    column: str | None, columns: Iterable[str], arrays: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for a result without a column that has the rows of a match.

    Args:
        column: the column that the user named, which has no rows; None if the user named none.
        columns: the columns of the result.
        arrays: those that are arrays of structs.
    """
    sentence = "no column has the rows of a match"
    if column is not None:
        sentence = f"`{column}` is not a column with the rows of a match"
    cure = 'add MATCHED_ROWS() AS rows to MEASURES, or name another: explode_matches(df, "name")'
    if len(arrays) == 1:
        cure = f'name it: explode_matches(df, "{arrays[0]}")'
    return _no_matched_rows(sentence=sentence, columns=columns, arrays=arrays, cure=cure)


_no_matched_rows = plan_error("""{sentence}
    note: the DataFrame has: {columns}
    note: arrays of structs: {arrays:some}
    {cure}""")

several_rows = plan_error("""several columns have rows of a match: {columns}
    code: several-matched-rows
    name one: explode_matches(df, "{columns[0]}")""")

_ANOTHER_NAME = 'give the measure another name, such as result.withColumnRenamed("{name}", "last")'
column_of_other_type = plan_error(
    "column `{name}` is {of_match} of a match and {of_row} of its rows",
    hint=_ANOTHER_NAME,
    code="column-types-differ",
)
_other_value = run_error(
    "column `{name}` has one value of a match and another of its rows",
    hint=_ANOTHER_NAME,
    code="column-values-differ",
)


def write_other_value_message(name: str) -> str:
    """Return the message for a column whose value differs between a match and one of its rows.

    It is a text, because Spark raises the error, by `raise_error` in a query.
    """
    error = _other_value(name=name)
    return f"{error.headline}; {error.hint}"


algorithm_cannot = unsupported("""algorithm `{name}` cannot run this query: {reason}
    code: algorithm-not-possible
    write {option[algorithm=auto]}""")
worker_cannot_sort = unsupported("""{reason}
    code: worker-cannot-sort-rows
    write {option[sort=auto]}, and Spark sorts the rows""")
cannot_cut = unsupported("""the partitions of this query cannot be cut into ranges: {reason}
    code: partitions-cannot-be-cut
    write {option[sort=auto]}, so that one task searches each partition""")
times_without_workers = unsupported("""rules with times are not supported if Spark sorts the rows:
        {reason}
    code: rule-versions-need-workers
    note: the workers separate the rows of each version before they test its conditions
    leave out {option[sort=spark]}, and compute what only Spark can as a column of the input""")
steps_of_event_selection = unsupported("""{option[max_steps]} is not supported for a query with
        event selection
    code: max-steps-with-event-selection
    note: steps are counted only if the rows of a match follow each other
    leave out {option[max_steps]}, and write WITHIN to bound the runs""")
no_order = plan_error(
    "order_by is empty",
    hint='write what the events are sorted by: order_by="ts"',
    code="empty-order-by",
)


def several_in_one(span: Span, argument: str) -> MatchRecognizePlanError:
    """Return the error for several expressions, with commas between them, in one text."""
    surface = current_surface()
    name = surface.name_of_option(argument)
    example = f'{argument}=["a", "b"]' if surface.is_python else f"{name} a {name} b"
    return _several_in_one(span, name=name, each=example)


_several_in_one = plan_error("""one text in {name} must be one expression
    code: several-expressions-in-one-text
    write each expression on its own: {each}""")
direction = plan_error("""{word} is not allowed in {option[{argument}]}
    code: direction-in-order-by
    note: events come in ascending order, NULL first
    remove it; for another order, sort by an expression, such as -rank""")
nothing_counted = plan_error("""the counters have no values, because no action on the result of
        their query has finished
    code: counters-without-values
    pass them to one query, options=matchrec.Options(counters=counters), and run an action on its
        result""")
altered_by_pandas = unsupported("""transport `pandas` would alter column {column} of type
        {type_name}
    code: column-altered-by-pandas
    write transport="arrow", or leave it out""")
too_many_points = unsupported("""{count:,} combinations of values are too many
    code: too-many-combinations
    pass fewer values, or call sweep several times, with at most {limit:,} combinations in each
        call""")
no_such_marker = plan_error("""the clause has no marker `:{name}`
    code: unknown-marker
    write :{name} in it, or leave {name} out""")

# `:name` in a clause of `sweep` whose grid has no values for it.
marker_without_values = plan_error("""missing values of parameter `:{name}`
    code: sweep-parameter-without-values
    note: there are values of: {known}
    near: write :{near}, or add values of {name}
    add values of {name} beside those, or write the value itself""")

# Errors of `backtest` and its DataFrame of labels.
no_label_column = plan_error("""`{option[{argument}={name}]}` does not name a column of `labels`
    code: unknown-label-column
    note: it has: {columns}
    near: write {option[{argument}={near}]}
    name one of these""")
no_key_of_labels = plan_error("""`labels` has no column `{name}`, by which the query partitions its
        rows
    code: label-key-missing
    note: it has: {columns}
    write {option[key=...]} with the column of `labels` that has the same values, or key=[] if an
        incident belongs to all partitions""")
other_number_of_keys = plan_error("""`key` of `Query.backtest` has {count} columns, but the query
        partitions its rows by {names}
    code: wrong-number-of-keys
    name a column of `labels` for each of these, in their order""")


def labels_do_not_compare(
    name: str, what: str, kind: str, wanted: str, in_pandas: str
) -> MatchRecognizePlanError:
    """Return the error for a column of labels of another type than what it is compared with.

    Args:
        name: the column.
        what: what it is compared with.
        kind: the type of the column.
        wanted: the type that it must have.
        in_pandas: an expression of pandas that converts the column.
    """
    surface = current_surface()
    cure = f"{surface.recast.format(name=name)} to {wanted}"
    if surface.is_python:
        cure = f"{cure}, or in pandas labels.assign({name}={in_pandas})"
    return _labels_do_not_compare(name=name, what=what, kind=kind, wanted=wanted, cure=cure)


_labels_do_not_compare = plan_error("""`{name}` of `labels` is {kind}, but {what} is {wanted}
    code: label-type-differs
    {cure}; in a file write a time as 2026-01-31 12:00:00, and a date as 2026-01-31""")
label_column_taken = plan_error("""`labels` has a column `{name}`, and so has the table of
        `Query.backtest`
    {here.renamed[name]}""")
no_order_of_labels = plan_error("""missing ORDER BY in the query
    code: labels-without-order
    note: incidents begin and end along the order of the rows
    write ORDER BY with the time of a row""")
backtest_of_stream = unsupported("""`Query.backtest` is not supported for rows of a stream, {what}
    pass the same rows as a table""")


def no_attribute(
    owner: object, name: str, frame: str = "", of_frames: type | None = None
) -> AttributeError:
    """Return the error for an attribute that an object of ours does not have.

    It suggests the most similar attribute. A name in camel case is similar, too: for `followedBy`
    of Flink it suggests `followed_by`.

    Args:
        owner: the object.
        name: the attribute.
        frame: how a DataFrame is made from the object, such as `to_df()`; "" if none can be made.
        of_frames: the class of that DataFrame, whose attributes are suggested, too.
    """
    near = None
    # Python and notebooks look for private names, such as `_repr_html_`: they get no suggestion
    if not name.startswith("_"):
        near = find_nearest(name, find_public_names(type(owner)))
        if of_frames and hasattr(of_frames, name):
            near = f"{frame}.{name}"
        elif of_frames and near is None:
            frame_attribute = find_nearest(name, find_public_names(of_frames))
            near = frame_attribute and f"{frame}.{frame_attribute}"
    cure = f"; write .{near}" if near else ""
    return AttributeError(f"a {type(owner).__name__} has no `{name}`{cure}")


def find_public_names(class_: type) -> list[str]:
    """Return the attributes of a class whose names do not begin with an underscore."""
    return [name for name in dir(class_) if not name.startswith("_")]


def unused_name(
    name: str, arguments: Iterable[str], options: Iterable[str]
) -> MatchRecognizePlanError:
    """Return the error for `name=` if the function has no such argument and the query no {name}.

    Args:
        name: the name before `=`.
        arguments: the arguments of the function.
        options: the fields of `Options`.
    """
    argument = find_nearest(name, arguments)
    option = find_nearest(name, options)
    if argument:
        cure = f"write {argument}="
    elif option:
        cure = f"write options=matchrec.Options({option}=...)"
    else:
        cure = f"write {{{name}}} in the query, pass the value of :{name} in args, "
        cure += f"or leave {name}= out"
    return _unused_name(name=name, cure=cure)


_unused_name = plan_error("""`{name}` is not an argument, and the query has no {{name}}
    code: unknown-argument
    {cure}""")

field_as_argument = plan_error("""`{name}` is an option, not an argument of {call}
    code: option-as-argument
    write {argument}=matchrec.Options({name}=...)""")
no_query = plan_error("""a query of SQL does not begin with {word}
    code: not-a-query
    {here.clause[call]}, or write SELECT * FROM t MATCH_RECOGNIZE (...) around a clause""")
no_pattern_of_sase = plan_error("""missing PATTERN before {word}, with which a text of SASE+ begins
    code: sase-without-pattern
    write PATTERN {word}(...); {here.clause[call]}""")
option_of_others = plan_error(
    "option `{name}` is not allowed in {call}", hint="remove {name}", code="option-not-for-call"
)
unconverted_option = unsupported("""a query with {option} cannot be converted
    code: option-not-convertible
    note: other languages write this differently, or not at all
    remove it, and choose the matches in the other language""")


def other_number_of_values(
    args: str, marker_count: int, *first_without_value: Span
) -> MatchRecognizePlanError:
    """Return the error for more or fewer values than the query has markers (?).

    Args:
        args: a description of the values, such as "has 2 values".
        marker_count: the number of markers in the query.
        first_without_value: the first marker without a value, if there is one.
    """
    if marker_count:
        markers = show_count(marker_count, "parameter marker")
        cure = current_surface().markers
    else:
        markers = "no parameter markers"
        cure = 'write ? for each value, or :name and args={"name": value}, or leave args out'
    return _other_number_of_values(first_without_value, markers=markers, args=args, cure=cure)


_other_number_of_values = plan_error("""the query has {markers} (?), but {here.values} {args}
    code: wrong-number-of-values
    {cure}""")

# `?` in a text for a function that has no argument `args`.
marker_without_value = plan_error("""missing value of a parameter marker (?)
    write the value itself, or {here.marker}""")
unbound_parameter = plan_error("""parameter `:{name}` has no value
    code: parameter-without-value
    note: {here.values} has: {known}
    near: write :{near}, or {here.parameter[name]}
    {here.parameter[name]}, or write the value itself""")
lost_value = plan_error("""this session ignores the value of {parameter} in {here.values}
    code: parameter-value-lost
    note: spark.sql without a clause ignores it too; the cause is an extension such as Delta's
    write the value itself, or set spark.sql.legacy.parameterSubstitution.constantsOnly=true""")
unused_value = plan_error("""the query has no `:{name}`
    code: unknown-parameter
    note: its parameters are: {known:some}
    near: {here.parameter[near]}
    leave {name} out of {here.values}""")
no_table = plan_error("""`{{name}}` before MATCH_RECOGNIZE is {value}
    code: not-a-table
    note: the clause applies to the rows of a table
    pass a DataFrame: {name}=df""")
table_of_another_session = plan_error("""`{{name}}` is a DataFrame of another session
    note: a session knows its own temporary views, and no others
    ask that session, {name}.sparkSession, or read the rows of {name} in this one""")
computed_column = plan_error("""a Column in `{argument}` must be a column of the DataFrame, not
        `{written}`
    add it by df.withColumn("name", ...), or write it as SQL: {argument}="upper(name)"
""")
no_arrow_tables = plan_error("""PySpark {version} cannot make a DataFrame of the Arrow table
        `{name}`
    code: arrow-table-not-supported
    note: PySpark 4.0 and newer can
    pass {name}=spark.createDataFrame({name}.to_pandas())""")

# A DataFrame of this program's rows is too large for an engine that gets rows only within calls.
too_much_to_send = plan_error("""a DataFrame with {size:,} MiB of this program's rows cannot be sent
        to the engine, which takes {most:,} MiB at once
    pass the pandas, Polars or Arrow frame itself, which is sent in parts, or read the rows from a
        file""")
row_too_long = plan_error("""row {row:,} has {size:,} MiB, and the engine takes {most:,} MiB at once
    note: rows are counted from 0
    shorten the values of this row, or write the rows to a Parquet file and read it""")
no_columns = plan_error("""`{name}` is a pandas frame without columns
    code: frame-without-columns
    give it columns with types, such as
        pandas.DataFrame({"symbol": pandas.Series(dtype="string")})""")
beyond_bigint = plan_error("""column `{column}` of `{name}` has type uint64 and numbers beyond
        BIGINT, which PySpark would make negative
    pass {name}=pyarrow.Table.from_pandas({name}), which gives a DECIMAL(20, 0), or cast it""")
whole_number_beyond_bigint = plan_error("""column `{column}` of `{name}` has whole numbers
        beyond BIGINT
    note: row {row:,}, counted from 0, has {value}
    pass {name}.assign({column}={name}["{column}"].map(decimal.Decimal, na_action="ignore"))""")
time_would_change = plan_error("""column `{column}` of `{name}` has times of different types
    code: mixed-time-types
    note: row {row:,}, counted from 0, has {value}, {reason}
    convert them first, such as by pandas.to_datetime({name}["{column}"], utc=True)""")
values_without_common_type = plan_error("""column `{column}` of `{name}` has values without a common
        type
    note: row {row:,}, counted from 0, is the first that does not fit: {reason:note}
    convert them to one type first, such as by {name}["{column}"].astype("string"), or leave the
        column out""")
no_dataframe_of = plan_error("""PySpark cannot make a DataFrame of `{name}`: {reason:note}
    code: cannot-make-dataframe
    cast the columns to other types first, or leave them out""")
column_refused = plan_error("""{engine} refuses the condition {column:short}: {reason}
    code: condition-refused-by-engine
    note: a condition is about one event
    write it over the columns of the DataFrame, or compute it before: df.withColumn("name", ...),
        and where("name")""")
column_is_no_condition = plan_error("""a condition must be boolean, but {column:short} is
        {type_name}
    code: condition-not-boolean
    compare it with something, such as col(...) > 0; declare the type of your own function: udf(f,
        "boolean")""")
cannot_write = unsupported("""MATCH_RECOGNIZE has no equivalent of {what}
    code: no-equivalent
    {cure}""")

# read="pattern", or a Pattern together with the name of a language.
pattern_as_text = plan_error("""a Pattern is converted as an object, without read=
    write matchrec.transpile(matchrec.Pattern.begin("a"), write="spark", order_by="time")""")

# Errors about arguments of a wrong type.

# For libraries of frames: how to make a DataFrame of Spark.
_FRAMES = {
    "pandas": "write spark.createDataFrame(...) around it; a Series has to_frame(), and groups are "
    "made by PARTITION BY",
    "Polars": "write spark.createDataFrame(...) around its to_pandas(); a LazyFrame has collect()",
    "pyarrow": "write spark.createDataFrame(...) around its to_pandas()",
    "pandas-on-Spark": "write .to_spark() after it",
}
# For other types that users pass instead of a DataFrame: what to write.
_NO_FRAMES = {
    **dict.fromkeys(("list", "dict", "ndarray"), "write pandas.DataFrame(...) around it"),
    "GroupedData": "pass the DataFrame itself: groups are made by PARTITION BY",
    "Pattern": "pass the DataFrame first, and then the Pattern",
}


def wrong_argument(
    call: str, argument: str, value: object, expected: str, cure: str
) -> MatchRecognizePlanError:
    """Return the error for an argument of a wrong type.

    Args:
        call: the function.
        argument: the argument.
        value: what the user passed.
        expected: the types that the argument can have, in words, such as "a DataFrame".
        cure: what to write, unless the type of the value shows something better.
    """
    if expected.startswith("a DataFrame"):
        cure = _NO_FRAMES.get(type(value).__name__, cure)
    if "DataFrame" in expected:
        cure = _FRAMES.get(find_library(value) or "", cure)
    return _wrong_argument(argument=argument, call=call, value=value, wanted=expected, cure=cure)


_wrong_argument = plan_error("""`{argument}` of {call} is {value:shown}
    note: wanted: {wanted}
    {cure}""")


def unknown_word(
    call: str, argument: str, value: str, words: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for an argument that is none of the words that it can be.

    Args:
        call: the function.
        argument: the argument.
        value: the word that the user passed.
        words: the words that the argument can be.
    """
    near = find_nearest(value, words)
    cure = f"write {current_surface().option(argument, near or words[0])}"
    if argument == "write" and value in ("sase", "pattern"):
        cure = f"SASE+ and Patterns can be read, but not written: {cure}"
    written = SHORT.repr(value)[1:-1]
    return _unknown_word(argument=argument, written=written, call=call, known=words, cure=cure)


_unknown_word = plan_error("""unknown {argument} `{written}` of {call}
    note: known: {known}
    code: unknown-option-value
    {cure}""")


# Errors of the machine, such as no session of Spark, or workers without memory.

# The local session could not be started; the reason is the last line that Spark wrote.
spark_did_not_start = refused("""Spark did not start
    note: {reason}
    note: Spark runs on Java; PySpark 4 needs Java 17 or newer
    install Java 17 (`apt install openjdk-17-jre-headless`, `brew install openjdk@17`) and set
        JAVA_HOME to its folder""")
worker_cannot = refused("""Spark would run its Python workers with `{worker}`, which {reason}
    code: incompatible-worker-python
    set the environment variable PYSPARK_PYTHON to {driver} before the Spark session starts""")
no_room_in_worker = run_error("""a Python worker of Spark is out of memory: its limit is {mebibytes}
        MiB
    code: worker-out-of-memory
    note: it reserves about 600 MiB for its libraries, and needs more for the rows of a call
    set spark.executor.pyspark.memory to 2g or more, or do not set it""")
no_room_on_machine = run_error("""a Python worker of Spark is out of memory: its machine or
        container has no more
    code: machine-out-of-memory
    set spark.executor.memoryOverhead to more, or run fewer tasks at a time on a machine with
        spark.executor.cores""")
no_room_on_disk = run_error("""the disk of {folder}, where rows are sorted, is full
    code: disk-full
    set spark.local.dir, or TMPDIR on Sail, to folders with more space, or let Spark sort:
        {option[sort=spark]}""")
no_file_for_sorting = run_error("""the folder {folder}, where rows are sorted, cannot be written to:
        {reason}
    code: sort-folder-not-writable
    set spark.local.dir, or TMPDIR on Sail, to folders that exist and can be written to""")
stopped_session = refused("""the Spark session has been stopped
    start a new session with matchrec.session(), and read the DataFrames again""")
nested_zeros = unsupported("""{clause:part} by {type_name} is not supported in this session, which
        treats 0.0 and -0.0 as two values
    code: signed-zeros-in-key
    write a key without floating-point numbers, such as to_json(x), or run on Spark""")
hours_along_dates = unsupported("""WITHIN {interval} along a date is not supported in this session,
        which adds only whole days
    write ORDER BY CAST(x AS TIMESTAMP), or run on Spark""")
no_session = plan_error("""missing session: no Spark session is running
    code: missing-session
    write spark = matchrec.session(), and call the function again""")
session_runs = plan_error("""`{given}` is not allowed while a session is running
    code: session-already-runs
    remove it, or call stop() on the running session first""")
setting_of_spark = refused("""unknown setting `{name}` of this session
    code: unknown-setting
    remove it, or run on Spark: {option[engine=spark]}""")
nothing_observed = unsupported("""counters are not supported in this session, which has no
        Observation
    code: counters-not-supported
    leave {given} out, or run on Spark: {option[engine=spark]}""")
no_watermarks = unsupported("""streams are not supported in this session, which has no watermarks
    code: streams-not-supported
    run on Spark: {option[engine=spark]}""")
no_server = plan_error("""no server answers at {address}: {reason}
    code: server-not-reachable
    start it, or write the address of one that runs""")
sail_refuses_client = refused("""Sail does not run with PySpark {version}
    code: incompatible-pyspark
    note: {reason}
    install matchrec with its extra sail, which brings a PySpark that fits, or run on Spark""")
no_matplotlib = refused("""missing matplotlib, which draws the matches
    code: missing-matplotlib
    run pip install matplotlib""")


class MustBuildMatchesError(MatchRecognizeUnsupportedError):
    """An aggregate over all matches that cannot be computed without building each match.

    A run would have to carry the value. `reason` says why it cannot.
    """

    def __init__(self, reason: str) -> None:
        error = _not_carried(reason=reason)
        super().__init__(error.message, hint=error.hint)
        self.code = error.code
        self.reason = reason


_not_carried = unsupported("""matches cannot be counted without building them: {reason}
    code: matches-must-be-built
    aggregate the matches instead, in a query over the result""")


no_aggregate = plan_error("""`{text:short}` is not an aggregate over matches
    code: not-an-aggregate
    note: measures: {measures}
    write count(*), or count, sum, avg, min or max of a measure, such as sum(n); a count or a sum
        may be in CAST(... AS DOUBLE) or CAST(... AS DECIMAL(38, 0))""")
rounding_cast = plan_error("""`{asked}` casts to a type that cannot hold all digits of the value
    code: inexact-cast
    write {exact}""")
unknown_measure = plan_error("""unknown measure `{name}`
    note: measures: {measures}
    name one of these""")
no_column_of_order = plan_error("""{option[per={per}]} is not supported unless the rows are sorted
        by a column
    code: no-sort-column
    leave out {option[per={per}]}, or sort by a column""")
unfinished_groups = unsupported("""aggregates over all matches with per="{per}" are not supported
        over a streaming DataFrame
    code: unfinished-groups-over-stream
    note: more matches of such a group may still come
    write {option[per=end]}, whose rows are final, and add these up afterwards""")

EACH_MATCH_MUST_BE_BUILT = "each match must be built"
total_too_large = run_error("""an aggregate over all matches is too large for {type_name}
    note: it is {asked}
    note: {place}
    case BIGINT: write it as CAST(... AS DECIMAL(38, 0)) or CAST(... AS DOUBLE)
    case DECIMAL(38, 0): write it as CAST(... AS DOUBLE)
    case DOUBLE: bound the quantifiers or write WITHIN, so that there are fewer matches
    write a CAST to DOUBLE in MEASURES, or a sum as CAST(... AS DECIMAL(38, ...))""")


def write_total_message(type_name: str, aggregate: str) -> str:
    """Return the message for an aggregate that is too large over several groups together.

    It is a text, because Spark raises the error, by `raise_error` in a query.
    """
    error = total_too_large(type_name=type_name, asked=aggregate, place="together")
    return f"{error.message}: {aggregate} [{error.code}]; {error.hint}"


# Reasons why the matches must be built, for `MustBuildMatchesError`.
BY_ONE_AT_A_TIME = "the chosen algorithm finds one match at a time"
MEASURE_BY_SPARK = "Spark computes a measure after the match"
FIRST_MATCHES = "the query returns only the first matches of a partition"
NOT_ALL_MATCHES = "the query does not return all matches"
RUNS_THAT_ARE_NO_MATCH = "the query also returns runs that are not matches"
SKIP_STRATEGY = "a skip strategy leaves some matches out"
ABSENT_ROWS = "the rows that NOT forbids depend on the whole match"
ABSENCE_BY_LATER_ROW = "the condition of a forbidden row reads a later row of the match"
ABSENCE_MAY_FAIL = "the condition of a forbidden row may raise, so only matches may evaluate it"
COMPLETE_LATER = "a match that waits for the end of its window is not complete at its last row"
MAPPED_TWICE = "PATTERN has several ways to map the same rows to the same variables"
ROW_BESIDE = "a measure reads a row that is not the first or last row of a variable"


def not_carried(function: str, inside: str, type_name: str) -> MustBuildMatchesError:
    """Return the error for a function over values of a type that a run cannot carry."""
    return MustBuildMatchesError(
        f"no run carries {function} over matches of {inside} of {type_name}"
    )


give_codes(globals())
