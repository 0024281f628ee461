"""Errors in the first line of `%%matchrec`, which has the arguments, and in its cell."""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.errors.kinds import MatchRecognizePlanError
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.wording import join_names


def wrong_cell_arguments(*, sentence: str) -> MatchRecognizePlanError:
    """Return the error for a first line of a cell that argparse cannot read."""
    return MatchRecognizePlanError(
        f"wrong arguments of %%matchrec: {sentence}",
        hint="run %%matchrec? to list the arguments",
        code="wrong-cell-arguments",
    )


def unknown_cell_option(*, option: str, options: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for an option that %%matchrec does not have.

    Args:
        option: the option.
        options: the options that it has.
    """
    hint = "run %%matchrec? to list the arguments"
    names = {name.lstrip("-"): name for name in options}
    near = find_nearest(option.lstrip("-"), names)
    if near:
        hint = f"write {names[near]}"
    if option in ("--x", "--y", "--by"):
        hint = "write --plot X Y, or --plot X Y BY, with names of columns"
    return MatchRecognizePlanError(
        f"unknown option `{option}` of `%%matchrec`", hint=hint, code="unknown-cell-option"
    )


def empty_cell() -> MatchRecognizePlanError:
    """Return the error for %%matchrec in a cell without a query."""
    return MatchRecognizePlanError(
        "missing query in %%matchrec",
        hint="write the query into the cell, below the line of %%matchrec, or after %matchrec",
        code="empty-cell",
    )


def wrong_plot_columns(*, value: str, names: str) -> MatchRecognizePlanError:
    """Return the error for --plot of %%matchrec with too few or too many columns.

    Args:
        value: the names after --plot, joined by blanks.
        names: how many names these are, such as "1 name".
    """
    return MatchRecognizePlanError(
        f"`--plot {value}` of %%matchrec has {names}",
        notes=(
            (
                "it needs the column of the horizontal axis, the column of the vertical axis and, "
                "if there are several series, their column"
            ),
        ),
        hint="write --plot X Y, or --plot X Y BY, with names of columns",
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
        "missing `--order-by` for SASE+ or a Pattern in a cell",
        hint=(
            f"write %%matchrec --events {events} --order-by COLUMN, with the column that sorts the "
            "events"
        ),
        code="order-by-missing-in-cell",
    )


def answers_exclude_each_other(*, first: str, second: str) -> MatchRecognizePlanError:
    """Return the error for two options of %%matchrec that ask for different results of a cell."""
    return MatchRecognizePlanError(
        f"`{second}` of %%matchrec is not allowed with `{first}`",
        notes=("a cell has one result",),
        hint=f"leave one out, or write a second cell for {second}",
        code="answers-exclude-each-other",
    )


def option_not_for_cell(*, option: str, what: str) -> MatchRecognizePlanError:
    """Return the error for an option of %%matchrec that does not apply to a kind of query.

    Args:
        option: the option.
        what: the kind of query, such as SASE+.
    """
    return MatchRecognizePlanError(
        f"`{option}` of %%matchrec is not allowed for {what}",
        hint="remove it",
        code="option-not-for-cell",
    )


def argument_name_in_braces(*, name: str, function: str) -> MatchRecognizePlanError:
    """Return the error for `{options}` in a cell of %%matchrec, where `options` is an argument.

    Args:
        name: the name in braces.
        function: the function with this argument.
    """
    return MatchRecognizePlanError(
        f"`{{{name}}}` is not allowed in %%matchrec",
        notes=(f"`{name}` is the name of an argument of {function}",),
        hint=f"write {{my_{name}}} in the query, and my_{name} = {name} in the cell before",
        code="argument-name-in-braces",
    )


def partition_without_value(*, value: str, example: str) -> MatchRecognizePlanError:
    """Return the error for --partition of %%matchrec with a name but no value.

    Args:
        value: the argument.
        example: the option and NAME=VALUE, with the part that the argument has.
    """
    return MatchRecognizePlanError(
        f"missing value in `--partition {value}` of %%matchrec",
        hint=f"write {example}",
        code="partition-without-value",
    )
