"""Conditions that the worker computes for all rows before the match, since it sorts them.

They are typed as conditions on the run are. What would be slower than Spark's sort, or not what
Spark computes to the last bit, is refused here: such a query is one for Spark's sort.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from matchrec.compile.draft import Draft
from matchrec.conditions.residual import Combined, Nearby, SplitCondition, Step
from matchrec.conditions.row_column import RowColumn, show_column
from matchrec.conditions.run_condition import Call, Mathematics, RunExpression, parts_of
from matchrec.conditions.types import NESTED, is_wide_decimal
from matchrec.conditions.typing.typer import Typer
from matchrec.engine.interface import NearbyCondition
from matchrec.errors.conditions import only_spark_computes


def link_nearby(drafted: Draft, typer: Typer) -> tuple[NearbyCondition, ...]:
    """The conditions of a draft that the worker computes, each once.

    Raises MatchRecognizeUnsupportedError for what only Spark computes.
    """
    found: dict[tuple[int | None, RowColumn], NearbyCondition] = {}
    for variable, nearby, row_condition in nearby_of(drafted):
        key = row_condition, nearby.column
        if key not in found:
            found[key] = NearbyCondition(type_nearby(nearby, typer), *key, variable)
    return tuple(found.values())


def nearby_of(drafted: Draft) -> Iterator[tuple[str, Nearby, int | None]]:
    """What the worker computes: for whom, and the bit of what Spark computes of it."""
    bits = row_bits(drafted)
    for condition in drafted.conditions:
        if condition.nearby is not None:
            yield condition.variable, condition.nearby, bit_of(condition, bits)
    for one in drafted.observed:
        if isinstance(one, Nearby):
            yield show_column(one.column), one, None


def type_nearby(nearby: Nearby, typer: Typer) -> RunExpression:
    """Its expression. Raises MatchRecognizeUnsupportedError for what only Spark computes."""
    expression = typer.condition(nearby.step)
    found = list(operations(nearby.step))
    operands = (typer.type_of(one) for step in found for one in step.operands)
    calls = any(isinstance(part, Call | Mathematics) for part in parts_of(expression))
    wide = any(is_wide_decimal(typer.type_of(one)) for one in found)
    if calls or wide or any(one.family in NESTED for one in operands):
        raise only_spark_computes(show_column(nearby.column), nearby.step.span)
    return expression


def find_row_conditions(
    drafted: Draft, nearby: tuple[NearbyCondition, ...]
) -> Mapping[str, int | None]:
    """By variable the bit of its row condition: Spark's, or the worker's where it has one."""
    bits = row_bits(drafted)
    worker = {
        (one.row_condition, one.column): bit
        for bit, one in enumerate(nearby, len(drafted.row_conditions))
    }
    return {
        one.variable: worker[bit_of(one, bits), one.nearby.column]
        if one.nearby
        else bit_of(one, bits)
        for one in drafted.conditions
    }


def row_bits(drafted: Draft) -> Mapping[RowColumn, int]:
    """The bits of what Spark computes."""
    return {column: bit for bit, column in enumerate(drafted.row_conditions)}


def bit_of(condition: SplitCondition, bits: Mapping[RowColumn, int]) -> int | None:
    """The bit of what Spark computes of a condition; None where that holds of every row."""
    return None if condition.before is None else bits.get(condition.before)


def operations(step: Step) -> Iterator[Combined]:
    """The operations of a step, itself first."""
    if isinstance(step, Combined):
        yield step
        for operand in step.operands:
            yield from operations(operand)
