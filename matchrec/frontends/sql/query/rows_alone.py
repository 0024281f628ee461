"""The query around a clause that asks for nothing but its rows: `SELECT * FROM □ [[AS] m]`.

Most queries are written so. Spark need not be asked for what is there already.
"""

from __future__ import annotations

import re

from sqlglot import TokenType

from matchrec.dataclass import dataclass
from matchrec.frontends.lexing.sqlglot_tokens import sqlglot_tokens
from matchrec.plan.text.reserved import is_reserved
from matchrec.plan.text.template import Template, View

_BEFORE = re.compile(r"\s*SELECT\s*\*\s*FROM\s*", re.IGNORECASE)
_BEHIND = re.compile(r"\s*(?:(?:AS\s+)?(?P<alias>[A-Za-z_]\w*)\s*)?;?\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RowsAlone:
    """What stands for the rows, and by what their columns may be qualified, or None."""

    view: View
    alias: str | None


def rows_alone(text: Template) -> RowsAlone | None:
    """What a query text asks for all rows of; None where it asks for anything else.

    >>> rows_alone(("SELECT * FROM ", View("t"), " AS m"))
    RowsAlone(view=View(name='t'), alias='m')
    >>> rows_alone(("SELECT * FROM ", View("t"), " WHERE x"))
    """
    match text:
        case (str(before), View() as view, str(behind)) if _BEFORE.fullmatch(before):
            found = _BEHIND.fullmatch(behind)
            if found is None or not _is_plain(found["alias"]):
                return None
            return RowsAlone(view, found["alias"])
        case _:
            return None


def _is_plain(alias: str | None) -> bool:
    """Whether Spark reads an alias as such under all settings: it is none of SQL's words."""
    if alias is None:
        return True
    (token,) = sqlglot_tokens(alias)
    return token.token_type is TokenType.VAR and not is_reserved(alias)
