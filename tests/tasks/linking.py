"""Split the conditions of a plan, and compile it once their types are known."""

from collections.abc import Callable, Mapping

from matchrec.compile.build_query import QueryCompiler, SearchOptions
from matchrec.compile.compiled_query import CompiledQuery
from matchrec.compile.joined_queries import join_query
from matchrec.compile.resolved_query import resolve_query
from matchrec.compile.split_query import SplitQuery, split_query
from matchrec.compile.typed_conditions import type_conditions
from matchrec.conditions.functions.function import DEFAULT_SETTINGS, SessionSettings
from matchrec.conditions.row_column import RowColumn
from matchrec.conditions.split import RowScope
from matchrec.conditions.types import ValueType
from matchrec.conditions.window_columns import OrderType
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns


def split_plan(
    plan: MatchPlan,
    columns: InputColumns,
    name_of: Callable[[str], str] = str,
    scope: RowScope = RowScope.SPARK,
    find_order_type: Callable[[str], OrderType] | None = None,
) -> SplitQuery:
    """Resolve a plan and split its conditions.

    `resolve_query` and `split_query` explain the arguments.
    """
    return split_query(resolve_query(plan, columns, name_of, find_order_type), scope)


def link(
    split: SplitQuery,
    types: Mapping[RowColumn, ValueType],
    algorithm: str,
    *,
    ansi: bool,
    session: SessionSettings = DEFAULT_SETTINGS,
) -> CompiledQuery:
    """Type the conditions of a split query, and compile it.

    `type_conditions` and `SearchOptions` explain the arguments.
    """
    joined = join_query(split)
    conditions = type_conditions(split, types, joined, ansi=ansi, session=session)
    indices = joined.number_shared_columns()
    compiler = QueryCompiler(split, conditions, joined)
    outputs = compiler.translate_outputs(indices)
    return compiler.build_compiled_query(outputs, tuple(indices), SearchOptions(algorithm))
