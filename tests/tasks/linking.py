"""Draft a plan, and link a draft whose conditions are not typed yet."""

from collections.abc import Callable, Mapping

from matchrec.compile import path
from matchrec.compile.compiled_query import CompiledQuery
from matchrec.compile.path import Draft, number_bits, type_conditions
from matchrec.conditions.functions.function import SessionSettings
from matchrec.conditions.row_column import OrderType, RowColumn
from matchrec.conditions.split import RowScope
from matchrec.conditions.types import ValueType
from matchrec.conditions.typing.typer import DEFAULT_SETTINGS
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns


def draft_query(
    plan: MatchPlan,
    columns: InputColumns,
    name_of: Callable[[str], str] = str,
    scope: RowScope = RowScope.SPARK,
    find_order_type: Callable[[str], OrderType] | None = None,
) -> Draft:
    """Resolve a plan and split its conditions.

    The arguments are those of `path.resolve_query` and `path.split_query`.
    """
    return path.split_query(path.resolve_query(plan, columns, name_of, find_order_type), scope)


def link(
    drafted: Draft,
    types: Mapping[RowColumn, ValueType],
    engine: str,
    *,
    ansi: bool,
    session: SessionSettings = DEFAULT_SETTINGS,
) -> CompiledQuery:
    """Type the conditions of a draft and link it.

    The arguments are those of `type_conditions` and `path.link_draft`.
    """
    bits = number_bits(drafted)
    conditions = type_conditions(drafted, types, bits, ansi=ansi, session=session)
    return path.link_draft(drafted, conditions, engine)
