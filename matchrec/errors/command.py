"""Errors in the arguments of the command line."""

from __future__ import annotations

from matchrec.errors.message import give_codes, plan_error, refused, run_error

malformed_table = refused("""--table `{argument}` is not NAME=PATH
    write --table {example}""")
file_for_table = refused("""`{path}` is a file, but the name of a table is needed
    write --table labels={path} --labels labels""")
rows_for_query = refused("""`{path}` is a file of rows, but a query is needed
    write the query in its own file, and pass --table {name}={path}""")
no_such_file = refused("{what} `{path}` does not exist", hint="{cure}")
no_such_query = refused("""the query `{path}` does not exist
    write -c before it if it is the query itself""")
colon_before_name = refused("""`{name}` begins with a colon, which is written only in the query
    remove it: --arg {plain}=VALUE""")
no_name_of_marker = refused("""`{name}` is not a parameter name
    code: malformed-marker-name
    write the name of a parameter, such as --grid days=3,5,8 for :days in the clause""")
range_of_values = refused("""a range of values, `{values}`, is not supported
    code: malformed-value-range
    write --grid {name}={written}""")
not_a_text_file = refused("""the query `{path}` is not a text file in UTF-8
    save the file in UTF-8""")
unknown_format = refused("""unknown format of `{path}`
    note: known endings: {known}
    name a file that ends with one of these""")
several_formats = refused("""the files of `{pattern}` have several formats: {formats}
    make one table for each format""")
empty_table = refused("""the file of table `{name}`, `{path}`, is empty
    a csv file needs a line of names, or --no-header and a row; a json file an object""")
unreadable_table = refused("the file of table `{name}`, `{path:short}`, cannot be read: {reason}")
different_columns = refused("""the files of table `{name}` have different columns
    note: `{first}` has: {of_first}
    note: `{other}` has: {of_other}
    make one table for the files with each set of columns""")
time_zone_not_for_csv = refused("""time zone `{zone}` is not supported for csv files
    pass --conf spark.sql.session.timeZone= with a region such as Europe/Paris, or an offset such as
        +03:00""")
not_in_utf8 = refused("""the file of table `{name}`, `{path}`, is not in UTF-8: see line {line:,}
    convert it, if it is in {encoding}: iconv -f {encoding} -t utf-8 {plain} > utf8.{suffix}, and
        name the new file""")
no_json = refused("""the file of table `{name}`, `{path}`, is not an array of objects: {reason}
    code: malformed-json
    write an object on each line, or all of them in one array""")
malformed_delimiter = refused(
    "the delimiter `{argument}` is not a single character", hint="write one character, or tab"
)
file_exists = refused("`{path}` already exists", hint="add --overwrite, or name another file")
compressed_parquet = refused("""`{path}` would be compressed twice: Parquet compresses by itself
    leave .gz or .bz2 out""")
malformed_schema = refused("""--schema `{argument}` is not NAME: COLUMNS
    write the name of the table, a colon, and the columns with their types: --schema '{example}'""")
invalid_schema = refused("""the columns of --schema for `{name}` are not SQL: {reason}
    write a name and a type for each column, such as ticker STRING, price DOUBLE""")
output_to_stdout = refused("""`--output {path}` is not a file
    leave --output out: rows go to stdout, with --format csv as CSV""")
output_not_a_file = refused("`{path}` is {what}", hint="name a file")
output_folder_is_a_file = refused("""`{path}` cannot be written: `{folder}` is a
        file, and not a folder""")
output_folder_not_writable = refused("""`{path}` cannot be written: its folder cannot be written
        to: {reason}
    note: the rows go to another file in this folder, which is renamed when it is complete
    name a file in another folder""")
output_not_writable = refused("`{path}` cannot be written: {reason}")
output_not_written = run_error("`{path}` cannot be written: {reason}")
not_one_query = refused("""--output writes the rows of one query, but the text has {count}
    make the other queries views with CREATE TEMPORARY VIEW, or leave them out""")
cannot_write = refused("the result cannot be written: {reason}", code="result-not-written")
no_such_folder = refused("the folder of `{path}` does not exist", hint="create it first")
malformed_setting = refused("""`{argument}` is not NAME=VALUE
    write {example}""")
unknown_engine = refused("""unknown engine `{argument}`
    write sail, spark, or the address of a server, sc://HOST:PORT""")
repeated_column = refused("""the result has two columns named `{name}`, but {whole} allows each
        name only once
    rename one of them with AS, or write csv""")
malformed_pattern = refused("""`{where}` does not name a Pattern
    write {module}.py:NAME for a variable of the file, or {module}:NAME for one of a module""")
no_such_module = refused("`{module}` cannot be imported", notes=("{reason}",))
no_such_pattern = refused("""`{name}` is not a Pattern in `{place}`
    note: Patterns there: {known}""")

# Errors of `plot`, such as missing columns for the begin and end of matches, and of `%%matchrec`.

no_column = plan_error("""`{option[{argument}]}` of `plot` is `{name}`, but there is not exactly
        one column of that name
    code: unknown-plot-column
    note: columns: {known}
    near: write {near:name}
""")
no_axis = plan_error("""`{option[x]}` of `plot` is `{name}`, of type {kind}
    code: wrong-axis-type
    note: it must be a date, a timestamp or a number
    name such a column""")
no_places = plan_error("""no columns of `matches` say where a match begins and ends
    code: no-match-columns
    note: it needs arrays of events with `{x}`, or columns such as first_{x} and last_{x}
    note: for ALL ROWS PER MATCH it needs `{x}` and match_number
    note: columns of the type of `{x}`: {alike}
    {here.ends}""")
no_series = plan_error("""`matches` has no column that `by` of `plot` names
    code: series-column-missing
    add it to the query's result, as PARTITION BY does""")
no_line_of = plan_error("""incidents cannot be drawn along an order of type {kind}
    code: backtest-not-drawable
    sort by a number, a date or a timestamp, or print the figures""")
no_page = plan_error(
    "unknown page {given} of `plot`: there are {pages}",
    hint="write page={pages}",
    code="unknown-page",
)

# The first line of a cell cannot be read. `sentence` is the reason, in the words of argparse.
wrong_arguments = plan_error("""{sentence} of %%matchrec
    code: wrong-cell-arguments
    run %%matchrec? to list the arguments""")
no_text = plan_error("""missing query in %%matchrec
    code: empty-cell
    write the query into the cell, below the line of %%matchrec, or after %matchrec""")
argument_without_other = plan_error("""`{given}` of %%matchrec is not allowed without {other}
    add {other}, or leave {given} out""")
wrong_plot = plan_error("""`--plot {given}` of %%matchrec has {names}
    code: wrong-plot-columns
    note: it needs the column of the horizontal axis, the column of the vertical axis and, if there
        are several series, their column
    write --plot X Y, or --plot X Y SERIES, with names of columns""")
no_events = plan_error("""`--events {name}` of %%matchrec is not the variable of a DataFrame
    code: unknown-dataframe
    note: DataFrames: {known:some}
    near: write %%matchrec --events {near}
    write %%matchrec --events stocks, where stocks is a DataFrame""")
no_order_in_cell = plan_error("""missing --order-by for SASE+ or a Pattern in a cell
    code: order-by-missing-in-cell
    write %%matchrec --events {events} --order-by COLUMN, with the column that sorts the events""")
unfit_in_cell = plan_error(
    "`{option}` of %%matchrec is not allowed for {what}",
    hint="remove it",
    code="option-not-for-cell",
)
wrong_partition = plan_error("""missing value in `--partition {given}` of %%matchrec
    code: partition-without-value
    write --partition {example}""")

give_codes(globals())
