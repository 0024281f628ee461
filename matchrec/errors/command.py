"""Errors in the arguments of the command line, of `plot` and of `%%matchrec`.

The first errors are about commands, options and files of the command line.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from matchrec.errors.kinds import MatchRecognizeError, MatchRecognizePlanError
from matchrec.errors.language import current_surface
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.wording import join_alternatives, join_names, shorten, show_count, write_name

# What is missing, or does not go together.


def not_a_command(*, argument: str) -> MatchRecognizeError:
    """Return the error for a query or its file where the name of a command is needed."""
    return MatchRecognizeError(
        f"`{shorten(argument)}` is not a command",
        hint="write matchrec run before a file, matchrec run -c before the text of a query",
        code="not-a-command",
    )


def unknown_command(*, name: str, near: str | None) -> MatchRecognizeError:
    """Return the error for a first argument that is not a command.

    Args:
        name: the argument.
        near: the most similar command; None if none is similar.
    """
    return MatchRecognizeError(
        f"unknown command `{shorten(name)}`",
        hint=f"write matchrec {near}" if near else "matchrec --help lists the commands",
        code="unknown-command",
    )


def unknown_option(*, option: str, command: str, hint: str | None) -> MatchRecognizeError:
    """Return the error for an option that a command does not have.

    Args:
        option: the option.
        command: the command, such as `matchrec run`.
        hint: what to write instead; None if nothing is known.
    """
    return MatchRecognizeError(
        f"unknown option `{option}` of `{command}`",
        hint=f"write {hint}" if hint else f"{command} --help lists the options",
        code="unknown-option",
    )


def option_without_value(*, option: str) -> MatchRecognizeError:
    """Return the error for an option at the end of the arguments that needs a value."""
    return MatchRecognizeError(
        f"`{option}` has no value",
        hint=f"write a value after {option}",
        code="option-without-value",
    )


def unexpected_argument(
    *, arguments: str, command: str, hint: str | None = None
) -> MatchRecognizeError:
    """Return the error for an argument after the last one that a command takes.

    Args:
        arguments: the arguments that are too many.
        command: the command, such as `matchrec run`.
        hint: what to write instead; None if nothing is known.
    """
    return MatchRecognizeError(
        f"unexpected argument `{arguments}` of `{command}`",
        hint=f"write {hint}" if hint else "remove it, or write an option before it",
        code="unexpected-argument",
    )


def missing_query(*, noun: str) -> MatchRecognizeError:
    """Return the error for a command without a query.

    Args:
        noun: "query", or "clause" for a command that takes a clause alone.
    """
    return MatchRecognizeError(
        f"missing {noun}",
        hint="write the name of its file, - for standard input, or -c and its text",
        code="missing-query",
    )


def two_queries(*, path: str) -> MatchRecognizeError:
    """Return the error for a command with a file and with -c."""
    return MatchRecognizeError(
        f"there are two queries, `{path}` and the text of -c",
        hint="leave one of them out",
        code="two-queries",
    )


def blank_query() -> MatchRecognizeError:
    """Return the error for a file or a text without a query."""
    return MatchRecognizeError(
        "the query is empty", hint="write SELECT * FROM t MATCH_RECOGNIZE (...)", code="empty-query"
    )


def language_not_for_command(*, language: str) -> MatchRecognizeError:
    """Return the error for SASE+ or a Pattern in a command that takes a clause of SQL only."""
    return MatchRecognizeError(
        f"{language} is not supported by this command",
        hint="write a clause of SQL, the text between the parentheses of MATCH_RECOGNIZE",
        code="language-not-for-command",
    )


def query_for_clause() -> MatchRecognizeError:
    """Return the error for a whole query in a command that takes a clause alone."""
    return MatchRecognizeError(
        "a whole query is not supported by this command",
        notes=("it counts the matches of one clause over one table",),
        hint=(
            "write only the text between the parentheses of MATCH_RECOGNIZE, from PARTITION BY to "
            "DEFINE"
        ),
        code="query-for-clause",
    )


def option_not_for_language(*, option: str, language: str) -> MatchRecognizeError:
    """Return the error for an option that has no meaning for the language of the query."""
    return MatchRecognizeError(
        f"{option} is not allowed for {language}",
        hint=f"remove {option}",
        code="option-not-for-language",
    )


def missing_option(*, option: str, value: str, reader: str) -> MatchRecognizeError:
    """Return the error for a missing option.

    Args:
        option: the option.
        value: what to write after it, such as COLUMN.
        reader: what needs the option, such as "SASE+" or "--plot".
    """
    return MatchRecognizeError(
        f"missing {option} for {reader}", hint=f"write {option} {value}", code="missing-option"
    )


def repeated_name(*, option: str, name: str) -> MatchRecognizeError:
    """Return the error for an option that gives a name two values, as in --arg n=1 --arg n=2."""
    hint = f"write {option} {name}=... once"
    if option == "--grid":
        hint = f"write all values in one option, such as --grid {name}=3,5,8"
    return MatchRecognizeError(f"{option} has `{name}` twice", hint=hint, code="repeated-name")


def duplicate_table(*, name: str) -> MatchRecognizeError:
    """Return the error for two tables, of --table or --schema, with the same name."""
    return MatchRecognizeError(
        f"two tables are named `{name}`",
        hint=(
            "give one of them another name; for several files of one table, write a folder or a "
            f"pattern, such as --table {name}='{name}-*.csv'"
        ),
        code="duplicate-table",
    )


def not_a_whole_number(*, argument: str, least: int) -> MatchRecognizeError:
    """Return the error for a number in an option that is too small, or for another text."""
    return MatchRecognizeError(
        f"`{argument}` is not a whole number of {least} or more",
        hint=f"write a number such as {max(least, 10)}",
        code="not-a-whole-number",
    )


def number_too_large(*, argument: str, most: int) -> MatchRecognizeError:
    """Return the error for a number in an option that is too large."""
    return MatchRecognizeError(
        f"`{argument}` is too large", hint=f"write a number up to {most:,}", code="number-too-large"
    )


# Tables, files and values.


def malformed_table(*, argument: str, example: str) -> MatchRecognizeError:
    """Return the error for --table without a name or a path.

    Args:
        argument: the argument.
        example: NAME=PATH with the part that the argument has.
    """
    return MatchRecognizeError(
        f"`{argument}` is not NAME=PATH", hint=f"write --table {example}", code="malformed-table"
    )


def file_for_table(*, path: str) -> MatchRecognizeError:
    """Return the error for a path instead of a table's name, as in --labels labels.csv."""
    return MatchRecognizeError(
        f"`{path}` is a file, but the name of a table is needed",
        hint=f"write --table labels={path} --labels labels",
        code="file-for-table",
    )


def rows_for_query(*, path: str, name: str) -> MatchRecognizeError:
    """Return the error for a file of rows, such as a.csv, where a query is needed."""
    return MatchRecognizeError(
        f"`{path}` is a file of rows, but a query is needed",
        hint=f"write the query in its own file, and pass --table {name}={path}",
        code="rows-for-query",
    )


def folder_for_query(*, path: str) -> MatchRecognizeError:
    """Return the error for a folder where the file of a query is needed."""
    return MatchRecognizeError(
        f"`{path}` is a folder, but a query is needed",
        hint="write the name of a file with a query",
        code="folder-for-query",
    )


def no_such_file(*, what: str, path: str, hint: str | None, owner: str = "") -> MatchRecognizeError:
    """Return the error for a file that does not exist.

    Args:
        what: "the file" or "the query file".
        path: the path.
        hint: what to write instead; None if that is not known.
        owner: whose file it is, such as " of table `t`"; may be empty.
    """
    return MatchRecognizeError(
        f"{what} `{path}`{owner} does not exist", hint=hint, code="no-such-file"
    )


def no_such_query(*, path: str) -> MatchRecognizeError:
    """Return the error for a query that is neither a file nor passed with -c."""
    return MatchRecognizeError(
        f"the query `{path}` does not exist",
        hint="write -c before it if it is the query itself",
        code="no-such-query",
    )


def colon_before_name(*, name: str, plain: str) -> MatchRecognizeError:
    """Return the error for --arg :name=VALUE.

    Args:
        name: the name with its colon.
        plain: the name without it.
    """
    return MatchRecognizeError(
        f"`{name}` begins with a colon, which is written only in the query",
        hint=f"remove it: --arg {plain}=VALUE",
        code="colon-before-name",
    )


def malformed_parameter_name(*, name: str) -> MatchRecognizeError:
    """Return the error for a name in --grid that a parameter cannot have."""
    return MatchRecognizeError(
        f"`{name}` is not a parameter name",
        hint="write the name of a parameter, such as --grid days=3,5,8 for :days in the clause",
        code="malformed-parameter-name",
    )


def malformed_value_range(*, values: str, name: str, listed_values: str) -> MatchRecognizeError:
    """Return the error for a range in --grid, as in --grid days=1..5.

    Args:
        values: the range.
        name: the parameter.
        listed_values: the values of the range, one by one.
    """
    return MatchRecognizeError(
        f"a range of values, `{values}`, is not supported",
        hint=f"write --grid {name}={listed_values}",
        code="malformed-value-range",
    )


def missing_candidate(*, argument: str, example: str) -> MatchRecognizeError:
    """Return the error for --grid with nothing between two commas, as in --grid days=3,,5.

    Args:
        argument: the argument.
        example: the argument with the values that it has.
    """
    return MatchRecognizeError(
        f"missing value in `{argument}`",
        hint=f"write --grid {example}, or '' for an empty string",
        code="missing-candidate",
    )


def not_a_text_file(*, path: str) -> MatchRecognizeError:
    """Return the error for a file with a query that is not UTF-8."""
    return MatchRecognizeError(
        f"the query `{path}` is not a text file in UTF-8",
        hint="save the file in UTF-8",
        code="not-a-text-file",
    )


def unknown_format(
    *, path: str, endings: Sequence[str], is_written: bool = False
) -> MatchRecognizeError:
    """Return the error for a file whose ending says no format.

    Args:
        path: the file.
        endings: the endings that say a format.
        is_written: whether the file is for the result, so that the user can choose its name.
    """
    hint = "name a file that ends with one of these"
    if is_written:
        hint = f"write {path.removesuffix(Path(path).suffix)}{endings[0]}"
    return MatchRecognizeError(
        f"unknown format of `{path}`",
        notes=(f"known endings: {join_names(endings)}",),
        hint=hint,
        code="unknown-format",
    )


def several_formats(
    *, pattern: str, files: Mapping[str, Sequence[str]], patterns: Sequence[str]
) -> MatchRecognizeError:
    """Return the error for files of one table that have several formats.

    Args:
        pattern: the folder, or the pattern of files.
        files: the files of each format, by its name, or of "unknown" format.
        patterns: patterns that match the files of one ending; may be empty.
    """
    hint = "make one table for each format"
    if patterns:
        quoted = join_alternatives([shlex.quote(one_format) for one_format in patterns])
        hint = f"write {quoted} for the files of one format"
    return MatchRecognizeError(
        f"the files of `{pattern}` have several formats: {join_names(files)}",
        notes=tuple(
            f"{format_name}: {_list_first(format_files)}"
            for format_name, format_files in files.items()
        ),
        hint=hint,
        code="several-formats",
    )


# A note names this number of files of a format.
_MOST_FILES = 3


def _list_first(files: Sequence[str]) -> str:
    """Return the first files, and how many more there are."""
    first_files = join_names(files[:_MOST_FILES])
    others = len(files) - _MOST_FILES
    return f"{first_files} and {others:,} more" if others > 0 else first_files


def empty_table(*, name: str, path: str) -> MatchRecognizeError:
    """Return the error for a file of a table without any rows or names."""
    return MatchRecognizeError(
        f"the file `{path}` of table `{name}` is empty",
        hint=(
            "write a line of column names into a csv file, or a row and pass --no-header; write "
            "an object into a json file"
        ),
        code="empty-table",
    )


def unreadable_table(*, name: str, path: str, reason: str) -> MatchRecognizeError:
    """Return the error for a file that the engine cannot read."""
    hint = "check the path, and that the file is complete and has the ending of its format"
    if "\n  help: " in reason:  # the reason already says what to write
        hint = ""
    return MatchRecognizeError(
        f"the file `{shorten(path)}` of table `{name}` cannot be read: {reason}",
        hint=hint,
        code="unreadable-table",
    )


def different_columns(
    *, name: str, first: str, of_first: Sequence[str], other: str, of_other: Sequence[str]
) -> MatchRecognizeError:
    """Return the error for two files of a table with different columns.

    Args:
        name: the table.
        first: a file.
        of_first: its columns.
        other: another file.
        of_other: the columns of that file.
    """
    return MatchRecognizeError(
        f"the files of table `{name}` have different columns",
        notes=(f"`{first}` has: {join_names(of_first)}", f"`{other}` has: {join_names(of_other)}"),
        hint="make one table for the files with each set of columns",
        code="different-columns",
    )


def time_zone_not_for_csv(*, zone: str) -> MatchRecognizeError:
    """Return the error for a session's time zone in which times of csv files cannot be read."""
    return MatchRecognizeError(
        f"time zone `{zone}` is not supported for csv files",
        hint=(
            "pass --conf spark.sql.session.timeZone= with a region such as Europe/Paris, or an "
            "offset such as +03:00"
        ),
        code="time-zone-not-for-csv",
    )


def not_in_utf8(  # noqa: PLR0913 -- each is a part of the sentence
    *, name: str, path: str, line: int, encoding: str, plain: str, suffix: str
) -> MatchRecognizeError:
    """Return the error for a csv file in another encoding than UTF-8.

    Args:
        name: the table.
        path: the file.
        line: the first line that is not in UTF-8.
        encoding: the encoding that the file probably has.
        plain: the path without the ending of a compression, quoted for a shell.
        suffix: the ending of the file.
    """
    return MatchRecognizeError(
        f"the file `{path}` of table `{name}` is not in UTF-8: see line {line:,}",
        hint=(
            f"convert it, if it is in {encoding}: iconv -f {encoding} -t utf-8 {plain} > "
            f"utf8.{suffix}, and name the new file"
        ),
        code="not-in-utf8",
    )


def malformed_json(*, name: str, path: str, reason: object) -> MatchRecognizeError:
    """Return the error for a json file that is not an array of objects."""
    return MatchRecognizeError(
        f"the file `{path}` of table `{name}` is not an array of objects: {reason}",
        hint="write an object on each line, or all of them in one array",
        code="malformed-json",
    )


def malformed_delimiter(*, argument: str) -> MatchRecognizeError:
    """Return the error for --delimiter with more than one character."""
    return MatchRecognizeError(
        f"the delimiter `{argument}` is not a single character",
        hint="write one character, or tab",
        code="malformed-delimiter",
    )


def file_exists(*, path: str) -> MatchRecognizeError:
    """Return the error for --output with a file that exists, without --overwrite."""
    return MatchRecognizeError(
        f"`{path}` already exists", hint="add --overwrite, or name another file", code="file-exists"
    )


def format_not_for_file(*, option_value: str, path: str, file_format: str) -> MatchRecognizeError:
    """Return the error for --format with --output and a file of another format.

    Args:
        option_value: the value of --format.
        path: the file.
        file_format: the format in which rows are written to it.
    """
    return MatchRecognizeError(
        f"--format {option_value} is not allowed with --output {path}",
        notes=(f"the name of the file chooses its format, which is {file_format}",),
        hint=f"leave --format out, or leave --output out to print the rows as {option_value}",
        code="format-not-for-file",
    )


def malformed_schema(*, argument: str, example: str) -> MatchRecognizeError:
    """Return the error for --schema without a name or columns.

    Args:
        argument: the argument.
        example: a schema with the part that the argument has.
    """
    return MatchRecognizeError(
        f"`{argument}` is not NAME: COLUMNS",
        hint=(
            "write the name of the table, a colon, and the columns with their types: "
            f"--schema '{example}'"
        ),
        code="malformed-schema",
    )


def not_one_query(*, count: int | str) -> MatchRecognizeError:
    """Return the error for --output with a text that has no query or several."""
    return MatchRecognizeError(
        f"--output writes the rows of one query, but the text has {count}",
        hint="make the other queries views with CREATE TEMPORARY VIEW, or leave them out",
        code="not-one-query",
    )


def result_not_written(*, reason: str) -> MatchRecognizeError:
    """Return the error for a result that cannot be written, such as onto a full disk."""
    return MatchRecognizeError(f"the result cannot be written: {reason}", code="result-not-written")


def malformed_setting(*, argument: str, example: str) -> MatchRecognizeError:
    """Return the error for --conf or --arg without a name or `=`.

    Args:
        argument: the argument.
        example: NAME=VALUE with the part that the argument has.
    """
    return MatchRecognizeError(
        f"`{argument}` is not NAME=VALUE", hint=f"write {example}", code="malformed-setting"
    )


def unknown_engine(*, argument: str) -> MatchRecognizeError:
    """Return the error for --engine with something that is not an engine."""
    return MatchRecognizeError(
        f"unknown engine `{argument}`",
        hint="write sail, spark, or the address of a server, sc://HOST:PORT",
        code="unknown-engine",
    )


def repeated_column(*, name: str, file_format: str) -> MatchRecognizeError:
    """Return the error for two columns of one name in a format that forbids them."""
    return MatchRecognizeError(
        f"the result has two columns named `{name}`, but {file_format} allows each name only once",
        hint="rename one of them with AS, or write csv",
        code="repeated-column",
    )


def malformed_pattern(*, where: str, module: str) -> MatchRecognizeError:
    """Return the error for a text that does not say where a Pattern is.

    Args:
        where: the text.
        module: its file, without .py, or its module.
    """
    return MatchRecognizeError(
        f"`{where}` does not name a Pattern",
        hint=(
            f"write {module}.py:NAME for a variable of the file, or {module}:NAME for one of a "
            "module"
        ),
        code="malformed-pattern",
    )


def no_such_module(*, module: str, reason: str) -> MatchRecognizeError:
    """Return the error for a module with a Pattern that Python cannot import."""
    return MatchRecognizeError(
        f"`{module}` cannot be imported",
        notes=(reason,),
        hint="run matchrec in the folder that has the module, or write the file: FILE.py:NAME",
        code="no-such-module",
    )


def no_such_pattern(*, name: str, module: str, patterns: Sequence[str]) -> MatchRecognizeError:
    """Return the error for a name in a module that is not a Pattern."""
    near = find_nearest(name, patterns) or next(iter(patterns), None)
    hint = f"write {module}:{near}" if near else f"assign a matchrec.Pattern to {name}"
    return MatchRecognizeError(
        f"`{name}` is not a Pattern in `{module}`",
        notes=(f"Patterns there: {join_names(patterns)}",),
        hint=hint,
        code="no-such-pattern",
    )


# Errors of `plot`, such as missing columns for the begin and end of matches, and of `%%matchrec`.


def unknown_plot_column(
    *, argument: str, name: str, columns: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for an argument of `plot` that names no column, or several."""
    option = current_surface().name_option(argument)
    lower_names = [column.lower() for column in columns]
    if lower_names.count(name.lower()) > 1:
        return MatchRecognizePlanError(
            f"column `{name}` in `{option}` of `plot` is ambiguous",
            notes=(f"the columns are: {join_names(columns)}",),
            hint="rename one of these columns in the query",
            code="ambiguous-plot-column",
        )
    near = find_nearest(name, columns)
    return MatchRecognizePlanError(
        f"unknown column `{name}` in `{option}` of `plot`",
        notes=(f"the columns are: {join_names(columns)}",),
        hint=f"write {write_name(near)}" if near else "name one of these",
        code="unknown-plot-column",
    )


def wrong_axis_type(*, name: str, kind: str) -> MatchRecognizePlanError:
    """Return the error for `x` of `plot` with a type that has no axis."""
    surface = current_surface()
    return MatchRecognizePlanError(
        f"column `{name}` in `{surface.name_option('x')}` of `plot` has type {kind}",
        notes=("the horizontal axis needs a date, a timestamp or a number",),
        hint="name a column of one of these types",
        code="wrong-axis-type",
    )


def no_match_columns(*, x: str, candidates: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for a result whose matches have no begin and end that `plot` can find.

    Args:
        x: the column of the horizontal axis.
        candidates: the columns of the same type.
    """
    surface = current_surface()
    ends = candidates if len(candidates) == 2 else surface.example_match_ends
    return MatchRecognizePlanError(
        "the result has no columns that say where a match begins and ends",
        notes=(
            f"`plot` needs arrays of events with `{x}`, or columns such as first_{x} and last_{x}",
            f"for ALL ROWS PER MATCH `plot` needs `{x}` and match_number",
            f"columns of the type of `{x}`: {join_names(candidates)}",
        ),
        hint=surface.advice_on_match_ends.format(first=ends[0], last=ends[1]),
        code="no-match-columns",
    )


def series_column_missing(*, name: str) -> MatchRecognizePlanError:
    """Return the error for `by` of `plot` with a column that the result does not have."""
    option = current_surface().name_option("by")
    return MatchRecognizePlanError(
        f"the result has no column `{name}`, which `{option}` of `plot` names",
        hint=f"add {write_name(name)} to PARTITION BY or MEASURES",
        code="series-column-missing",
    )


def backtest_not_drawable(*, kind: str) -> MatchRecognizePlanError:
    """Return the error for incidents of a back-test whose order has a type without an axis."""
    return MatchRecognizePlanError(
        f"incidents cannot be drawn along an order of type {kind}",
        hint="sort by a number, a date or a timestamp, or print the figures",
        code="backtest-not-drawable",
    )


def unknown_plot_page(*, page: int, pages: int) -> MatchRecognizePlanError:
    """Return the error for `page` of `plot` with a number that is too small or too large."""
    return MatchRecognizePlanError(
        f"unknown page {page} of `plot`: there {'is' if pages == 1 else 'are'} "
        f"{show_count(pages, 'page')}",
        hint=f"write page={pages}",
        code="unknown-plot-page",
    )


def wrong_cell_arguments(*, sentence: str) -> MatchRecognizePlanError:
    """Return the error for a first line of a cell that argparse cannot read."""
    return MatchRecognizePlanError(
        f"wrong arguments of %%matchrec: {sentence}",
        hint="run %%matchrec? to list the arguments",
        code="wrong-cell-arguments",
    )


def empty_cell() -> MatchRecognizePlanError:
    """Return the error for %%matchrec in a cell without a query."""
    return MatchRecognizePlanError(
        "missing query in %%matchrec",
        hint="write the query into the cell, below the line of %%matchrec, or after %matchrec",
        code="empty-cell",
    )


def argument_needs_another(*, argument: str, other: str) -> MatchRecognizePlanError:
    """Return the error for an option of a command, or of %%matchrec, that needs another one."""
    name = f"`{argument}` of %%matchrec" if current_surface().is_cell else argument
    return MatchRecognizePlanError(
        f"{name} is not allowed without {other}",
        hint=f"add {other}, or leave {argument} out",
        code="argument-needs-another",
    )


def wrong_plot_columns(*, value: str, names: str) -> MatchRecognizePlanError:
    """Return the error for --plot of %%matchrec with too few or too many columns."""
    return MatchRecognizePlanError(
        f"`--plot {value}` of %%matchrec has {names}",
        notes=(
            (
                "it needs the column of the horizontal axis, the column of the vertical axis and, "
                "if there are several series, their column"
            ),
        ),
        hint="write --plot X Y, or --plot X Y SERIES, with names of columns",
        code="wrong-plot-columns",
    )


def unknown_dataframe(*, name: str, dataframes: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for --events of %%matchrec with a name that is not a DataFrame."""
    near = find_nearest(name, dataframes)
    hint = "write %%matchrec --events stocks, where stocks is a DataFrame"
    if near:
        hint = f"write %%matchrec --events {near}"
    return MatchRecognizePlanError(
        f"`--events {name}` of %%matchrec is not the variable of a DataFrame",
        notes=(f"DataFrames: {join_names(dataframes)}" if dataframes else "",),
        hint=hint,
        code="unknown-dataframe",
    )


def order_by_missing_in_cell(*, events: str) -> MatchRecognizePlanError:
    """Return the error for SASE+ or a Pattern in a cell without --order-by."""
    return MatchRecognizePlanError(
        "missing --order-by for SASE+ or a Pattern in a cell",
        hint=(
            f"write %%matchrec --events {events} --order-by COLUMN, with the column that sorts the "
            "events"
        ),
        code="order-by-missing-in-cell",
    )


def option_not_for_cell(*, option: str, what: str) -> MatchRecognizePlanError:
    """Return the error for an option of %%matchrec that does not apply to this kind of query."""
    return MatchRecognizePlanError(
        f"`{option}` of %%matchrec is not allowed for {what}",
        hint="remove it",
        code="option-not-for-cell",
    )


def argument_name_in_braces(*, name: str) -> MatchRecognizePlanError:
    """Return the error for `{options}` in a cell of %%matchrec, where `options` is an argument."""
    return MatchRecognizePlanError(
        f"`{{{name}}}` is not allowed in %%matchrec",
        notes=(f"`{name}` is the name of an argument of matchrec.sql",),
        hint=f"write {{my_{name}}} in the query, and my_{name} = {name} in the cell before",
        code="argument-name-in-braces",
    )


def partition_without_value(*, value: str, example: str) -> MatchRecognizePlanError:
    """Return the error for --partition of %%matchrec with a name but no value.

    Args:
        value: the argument.
        example: NAME=VALUE with the part that the argument has.
    """
    return MatchRecognizePlanError(
        f"missing value in `--partition {value}` of %%matchrec",
        hint=f"write --partition {example}",
        code="partition-without-value",
    )
