"""Errors in the commands, options and queries of the command line.

`tables` and `schemas` have the errors in tables and their columns, `written_files` those of results
that are written, and `cells` those of `%%matchrec`.
"""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.errors.kinds import MatchRecognizeError, MatchRecognizePlanError
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.surface import ProgramKind, current_surface
from matchrec.errors.wording import join_names, shorten


def not_a_command(*, argument: str) -> MatchRecognizeError:
    """Return the error for a query or its file where the name of a command is needed."""
    is_text = any(character.isspace() for character in argument)
    hint = f"write matchrec run {argument}"
    if is_text:
        hint = "write matchrec run -c before the text of a query"
    return MatchRecognizeError(
        f"`{shorten(argument)}` is not a command", hint=hint, code="not-a-command"
    )


def unknown_command(*, name: str, near: str | None) -> MatchRecognizeError:
    """Return the error for a first argument that is not a command.

    Args:
        name: the argument.
        near: the most similar command; None if none is similar.
    """
    hint = f"write matchrec {near}" if near else "matchrec --help lists the commands"
    if name == "version":  # a command of other programs
        hint = "write matchrec --version"
    return MatchRecognizeError(
        f"unknown command `{shorten(name)}`", hint=hint, code="unknown-command"
    )


def unknown_option(
    *, option: str, command: str, hint: str | None, owners: Sequence[str] = ()
) -> MatchRecognizeError:
    """Return the error for an option that a command does not have.

    Args:
        option: the option.
        command: the command, such as `matchrec run`.
        hint: what to write instead; None if nothing is known.
        owners: other commands that have this option, such as `matchrec why`.
    """
    notes = (f"{option} is an option of {join_names(owners)}",) if owners else ()
    return MatchRecognizeError(
        f"unknown option `{option}` of `{command}`",
        notes=notes,
        hint=f"write {hint}" if hint else f"{command} --help lists the options",
        code="unknown-option",
    )


def option_without_value(*, option: str, count: int) -> MatchRecognizeError:
    """Return the error for an option with too few values, such as one at the end of the arguments.

    Args:
        option: the option.
        count: how many values it needs.
    """
    return MatchRecognizeError(
        f"`{option}` has no value" if count == 1 else f"`{option}` has fewer than {count} values",
        hint=f"write {'a value' if count == 1 else f'{count} values'} after {option}",
        code="option-without-value",
    )


def unexpected_argument(*, arguments: str, command: str, hint: str) -> MatchRecognizeError:
    """Return the error for an argument after the last one that a command takes.

    Args:
        arguments: the arguments that are too many.
        command: the command, such as `matchrec run`.
        hint: what to write instead.
    """
    return MatchRecognizeError(
        f"unexpected argument `{arguments}` of `{command}`", hint=hint, code="unexpected-argument"
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


def two_queries(*, path: str, text: str) -> MatchRecognizeError:
    """Return the error for a command with a file and with -c.

    Args:
        path: the file.
        text: the text of -c. If it is one word, a shell has split a query without quotes.
    """
    is_split = len(text.split()) == 1
    return MatchRecognizeError(
        f"there are two queries, `{path}` and the text of -c",
        hint="put the text after -c in quotes" if is_split else "leave one of them out",
        code="two-queries",
    )


def language_not_for_command(*, language: str) -> MatchRecognizeError:
    """Return the error for SASE+ or a Pattern in a command that takes a clause of SQL only."""
    return MatchRecognizeError(
        f"{language} is not supported by this command",
        hint="write a clause of SQL, the text between the parentheses of MATCH_RECOGNIZE",
        code="language-not-for-command",
    )


def empty_clause() -> MatchRecognizeError:
    """Return the error for a text without a word in a command that takes a clause alone."""
    return MatchRecognizeError(
        "the clause is empty",
        hint="write the text between the parentheses of MATCH_RECOGNIZE",
        code="empty-clause",
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


def option_not_for_language(
    *, option: str, language: str, replacement: str | None
) -> MatchRecognizeError:
    """Return the error for an option that has no meaning for the language of the query.

    Args:
        option: the option.
        language: the language.
        replacement: what to write in the query instead, such as "ORDER BY"; None if nothing is
            known.
    """
    return MatchRecognizeError(
        f"`{option}` is not allowed for {language}",
        hint=f"remove {option}" + (f", and write {replacement}" if replacement else ""),
        code="option-not-for-language",
    )


def sase_text_as_sql() -> MatchRecognizeError:
    """Return the error for SASE+ after -c without --language sase."""
    return MatchRecognizeError(
        "the text of -c is SASE+, but is read as SQL",
        hint="add --language sase",
        code="sase-text-as-sql",
    )


def missing_option(*, option: str, value: str, reader: str) -> MatchRecognizeError:
    """Return the error for a missing option.

    Args:
        option: the option.
        value: what to write after it, such as COLUMN.
        reader: what needs the option: "SASE+", an option such as "--plot", or a command such as
            "matchrec sweep".
    """
    is_typed = reader.startswith(("--", "matchrec "))
    shown_reader = f"`{reader}`" if is_typed else reader
    return MatchRecognizeError(
        f"missing `{option}` for {shown_reader}",
        hint=f"write {option} {value}",
        code="missing-option",
    )


def repeated_name(*, option: str, name: str) -> MatchRecognizeError:
    """Return the error for an option that gives a name two values, as in --arg n=1 --arg n=2."""
    hint = f"write {option} {name}=... once"
    if option == "--grid":
        hint = f"write all values in one option, such as --grid {name}=3,5,8"
    return MatchRecognizeError(f"`{option}` has `{name}` twice", hint=hint, code="repeated-name")


def not_a_whole_number(*, argument: str, least: int, example: int) -> MatchRecognizeError:
    """Return the error for a number in an option that is too small, or for another text.

    Args:
        argument: the value of the option.
        least: the smallest number that the option takes.
        example: a number that the help suggests.
    """
    return MatchRecognizeError(
        f"`{argument}` is not a whole number of {least} or more",
        hint=f"write a number such as {example}",
        code="not-a-whole-number",
    )


def number_too_large(*, argument: str, most: int) -> MatchRecognizeError:
    """Return the error for a number in an option that is too large."""
    return MatchRecognizeError(
        f"`{argument}` is too large", hint=f"write a number up to {most:,}", code="number-too-large"
    )


def no_such_query(*, path: str) -> MatchRecognizeError:
    """Return the error for a query that is neither a file nor passed with -c."""
    return MatchRecognizeError(
        f"the query `{path}` does not exist",
        hint="write -c before it if it is the query itself",
        code="no-such-query",
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


def folder_without_queries(*, path: str) -> MatchRecognizeError:
    """Return the error for a folder that has no file of a query, nor do its subfolders."""
    return MatchRecognizeError(
        f"the folder `{path}` has no .sql or .sase files",
        hint="write the name of a file with a query, or of another folder",
        code="folder-without-queries",
    )


def not_a_text_file(*, path: str) -> MatchRecognizeError:
    """Return the error for a file with a query that is not UTF-8."""
    return MatchRecognizeError(
        f"the query `{path}` is not a text file in UTF-8",
        hint="save the file in UTF-8",
        code="not-a-text-file",
    )


def unreadable_query(*, path: str, reason: str) -> MatchRecognizeError:
    """Return the error for a query in a file or folder that the system does not let the user read.

    Args:
        path: the file or folder.
        reason: what the system says about it, such as "Permission denied".
    """
    return MatchRecognizeError(
        f"the query `{path}` cannot be read: {reason}",
        hint="check the permissions of the file and its folders",
        code="unreadable-query",
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


def malformed_setting(*, argument: str, example: str) -> MatchRecognizeError:
    """Return the error for --conf or --arg without a name or `=`.

    Args:
        argument: the argument.
        example: the option and NAME=VALUE, with the part that the argument has.
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


def python_file_failed(*, path: str, error: Exception, traceback: str) -> MatchRecognizeError:
    """Return the error for a Python file with a Pattern that raises an exception.

    Args:
        path: the file, or the module.
        error: the exception.
        traceback: the lines of its traceback, from the file on.
    """
    return MatchRecognizeError(
        f"`{path}` raised {type(error).__name__}: {error}",
        notes=(f"its traceback, the last call at the end:\n{traceback}",),
        hint=f"correct {path}; python {path} runs it alone" if path.endswith(".py") else None,
        code="python-file-failed",
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


def argument_needs_another(*, argument: str, other: str) -> MatchRecognizePlanError:
    """Return the error for an option of a command, or of %%matchrec, without an option it needs.

    Args:
        argument: the option.
        other: the missing option, with a value if it takes one; or several, with "or" between them.
    """
    shown_other = " or ".join(f"`{option}`" for option in other.split(" or "))
    name = (
        f"`{argument}` of %%matchrec"
        if current_surface().program is ProgramKind.CELL
        else f"`{argument}`"
    )
    return MatchRecognizePlanError(
        f"{name} is not allowed without {shown_other}",
        hint=f"add {other}, or leave {argument} out",
        code="argument-needs-another",
    )
