"""Errors in `--schema` on the command line: its form, and the columns in it."""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.errors.kinds import MatchRecognizeError, about_argument
from matchrec.errors.wording import join_names


def unknown_schema_type(
    *, column: str, type_name: str, near: str | None, types: Sequence[str]
) -> MatchRecognizeError:
    """Return the error for a column in --schema with a type that the engine does not have.

    Args:
        column: the column, as the user wrote it.
        type_name: its type, as the user wrote it.
        near: the type that the user probably means; None if none is similar.
        types: the types that columns may have.
    """
    return about_argument(
        MatchRecognizeError(
            f"unknown type `{type_name}` of column `{column.strip('`')}` in `--schema`",
            notes=(f"types: {join_names(types)}",),
            hint=f"write {column} {near}"
            if near
            else f"write one of these, such as {column} STRING",
            code="unknown-schema-type",
        ),
        "schemas",
    )


def missing_schema_column() -> MatchRecognizeError:
    """Return the error for a comma in --schema without a column before or after it."""
    return about_argument(
        MatchRecognizeError(
            "missing column before or after a comma in `--schema`",
            hint="remove the comma, or write a name and a type",
            code="missing-schema-column",
        ),
        "schemas",
    )


def missing_schema_type(*, column: str) -> MatchRecognizeError:
    """Return the error for a column in --schema without a type."""
    return about_argument(
        MatchRecognizeError(
            f"missing type of column `{column.strip('`')}` in `--schema`",
            hint=f"write a type after the name, such as {column} STRING or {column} DOUBLE",
            code="missing-schema-type",
        ),
        "schemas",
    )


def repeated_schema_column(*, table: str, name: str) -> MatchRecognizeError:
    """Return the error for two columns of one table with the same name in --schema."""
    return about_argument(
        MatchRecognizeError(
            f"`--schema` has two columns named `{name}` for table `{table}`",
            hint="rename one of them, or leave it out",
            code="repeated-schema-column",
        ),
        "schemas",
    )


def invalid_schema(*, name: str, reason: str) -> MatchRecognizeError:
    """Return the error for columns in --schema that the engine cannot read."""
    return about_argument(
        MatchRecognizeError(
            f"the columns of `--schema` for `{name}` are not SQL: {reason}",
            hint="write a name and a type for each column, such as ticker STRING, price DOUBLE",
            code="invalid-schema",
        ),
        "schemas",
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
