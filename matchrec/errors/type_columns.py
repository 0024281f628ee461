"""Errors about `type_column`, the column that has the types of events, such as `Stock` in SASE+."""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.errors.kinds import MatchRecognizePlanError, about_argument
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import show_list, write_name

# The column of the event types if the user names none.
DEFAULT_TYPE_COLUMN = "event_type"


def unknown_type_column(
    *, name: str, columns: Sequence[str], text_columns: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for type_column with a name that the input does not have.

    Args:
        name: the name.
        columns: the columns of the input.
        text_columns: the columns whose values are strings, as types of events are.
    """
    surface = current_surface()
    option = surface.name_option("type_column")
    near = find_nearest(name, columns)
    if near is None and DEFAULT_TYPE_COLUMN in columns:
        near = DEFAULT_TYPE_COLUMN
    notes = [show_list("the input has", columns, "columns")]
    if near is not None:
        hint = f"write {surface.write_option('type_column', write_name(near))}"
    else:
        # Any of the columns may have the types, also if only one of them has strings.
        notes.append(
            f"its columns of strings: {', '.join(text_columns)}"
            if text_columns
            else "none of its columns has strings"
        )
        hint = (
            f"name the column of the event types in {option}, or write ANY instead of each event "
            "type if events have no types"
        )
    if name == DEFAULT_TYPE_COLUMN:
        notes.append(f"`{name}` is the default of {option}")
    return about_argument(
        MatchRecognizePlanError(
            f"unknown column `{name}` in {option}",
            notes=tuple(notes),
            hint=hint,
            code="unknown-type-column",
        ),
        "type_column",
    )


def type_column_without_texts(*, type_name: str, name: str) -> MatchRecognizePlanError:
    """Return the error for a type_column that does not have strings."""
    surface = current_surface()
    return about_argument(
        MatchRecognizePlanError(
            f"{surface.name_option('type_column')} has type {type_name}, but event types in SEQ "
            "are strings",
            hint=f"write {surface.write_option('type_column', f'CAST({name} AS STRING)')}",
            code="type-column-without-texts",
        ),
        "type_column",
    )
