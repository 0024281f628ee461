"""Link a draft whose conditions are not typed yet."""

from collections.abc import Mapping

from matchrec.compile import path
from matchrec.compile.executable import Executable
from matchrec.compile.path import Draft, type_conditions
from matchrec.conditions.functions.function import SessionSettings
from matchrec.conditions.row_column import RowColumn
from matchrec.conditions.types import ValueType
from matchrec.conditions.typing.typer import DEFAULT_SETTINGS


def link(
    drafted: Draft,
    types: Mapping[RowColumn, ValueType],
    engine: str,
    *,
    ansi: bool,
    session: SessionSettings = DEFAULT_SETTINGS,
) -> Executable:
    """Type the conditions of a draft and link it.

    The arguments are those of `type_conditions` and `path.link_draft`.
    """
    conditions = type_conditions(drafted, types, ansi=ansi, session=session)
    return path.link_draft(drafted, conditions, engine)
