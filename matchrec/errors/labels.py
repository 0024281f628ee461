"""Errors of backtests and of their DataFrames of labels."""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.errors.kinds import (
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
    about_argument,
)
from matchrec.errors.misspellings import find_nearest_or_part
from matchrec.errors.quoting import quote_for_python
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import join_names, show_count, write_name


def _name_incidents() -> str:
    """Return how a sentence names the incidents.

    This is "the incidents in `labels`" in Python, and "the incidents in `--labels`" in a shell.
    """
    return f"the incidents in `{current_surface().name_option('labels')}`"


def unknown_label_column(
    *, argument: str, name: str, columns: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for an argument of a backtest that names no column of `labels`."""
    surface = current_surface()
    near = find_nearest_or_part(name, columns)
    hint = f"write {surface.write_option(argument, near)}" if near else "name one of these"
    return MatchRecognizePlanError(
        f"unknown column `{name}` in `{surface.name_option(argument)}`",
        notes=(f"{_name_incidents()} have: {join_names(columns)}",),
        hint=hint,
        code="unknown-label-column",
    )


def label_key_missing(*, name: str, columns: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for labels without a column of the query's PARTITION BY."""
    surface = current_surface()
    key = surface.write_option("key", "...")
    hint = f"write {key} with the column of {_name_incidents()} that has its values"
    if surface.has_python_calls:
        hint += ", or key=[] if an incident concerns all partitions"
    return about_argument(
        MatchRecognizePlanError(
            f"{_name_incidents()} have no column `{name}`, by which the query partitions its rows",
            notes=(f"{_name_incidents()} have: {join_names(columns)}",),
            hint=hint,
            code="label-key-missing",
        ),
        "labels",
    )


def wrong_number_of_keys(*, count: int, names: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for `key` of a backtest with more or fewer columns than PARTITION BY."""
    key = current_surface().name_option("key")
    return MatchRecognizePlanError(
        f"`{key}` has {show_count(count, 'column')}, but the query partitions its rows by "
        f"{join_names(names)}",
        hint=f"name a column of {_name_incidents()} for each of these, in their order",
        code="wrong-number-of-keys",
    )


def key_without_partition() -> MatchRecognizePlanError:
    """Return the error for `key` of a backtest of a query without PARTITION BY."""
    key = current_surface().name_option("key")
    return MatchRecognizePlanError(
        f"`{key}` is not allowed: the query has no PARTITION BY",
        hint=f"leave {key} out",
        code="key-without-partition",
    )


def label_type_differs(
    *, name: str, what: str, type_name: str, expected_type: str, in_pandas: str
) -> MatchRecognizePlanError:
    """Return the error for a column of labels whose type does not fit the query.

    Args:
        name: the column.
        what: the column or key of the query with which the column is compared.
        type_name: the type of the column.
        expected_type: the type that the column must have.
        in_pandas: an expression of pandas that converts the column.
    """
    surface = current_surface()
    advice = surface.advice_on_label_type.format(
        name=write_name(name), literal=quote_for_python(name)
    )
    hint = f"{advice} to {expected_type}"
    if surface.has_python_calls and name.isidentifier():
        hint = f"{hint}, or in pandas labels.assign({name}={in_pandas})"
    return about_argument(
        MatchRecognizePlanError(
            f"`{name}` of {_name_incidents()} must be {expected_type}, as {what} is, "
            f"but is {type_name}",
            hint=f"{hint}; in a file write a time as 2026-01-31 12:00:00, and a date as 2026-01-31",
            code="label-type-differs",
        ),
        "labels",
    )


def label_column_taken(*, name: str) -> MatchRecognizePlanError:
    """Return the error for a column of labels whose name the result of a backtest needs."""
    surface = current_surface()
    return about_argument(
        MatchRecognizePlanError(
            f"column `{name}` of {_name_incidents()} has the name of a column of the result",
            hint=surface.advice_on_label_name.format(
                name=write_name(name),
                literal=quote_for_python(name),
                new_name=write_name(f"label_{name}"),
                new_literal=quote_for_python(f"label_{name}"),
            ),
            code="label-column-taken",
        ),
        "labels",
    )


def labels_without_order() -> MatchRecognizePlanError:
    """Return the error for a backtest of a query without ORDER BY."""
    return MatchRecognizePlanError(
        "missing ORDER BY in the query",
        notes=("incidents begin and end along the order of the rows",),
        hint="write ORDER BY with the time of a row",
        code="labels-without-order",
    )


def backtest_of_stream(*, what: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a backtest over a stream, or with labels from a stream.

    Args:
        what: what is a stream, such as `labels`.
    """
    return MatchRecognizeUnsupportedError(
        "a backtest is not supported over a streaming DataFrame",
        notes=(f"{what} is a stream",),
        hint="pass the same rows as a table",
        code="backtest-of-stream",
    )
