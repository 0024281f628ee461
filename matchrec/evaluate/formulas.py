"""What computes the formulas of conditions on the run: the functions and aggregates they name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matchrec.conditions.accumulators.aggregate import fold
from matchrec.conditions.accumulators.catalogue import AGGREGATES
from matchrec.conditions.functions.catalogue import FUNCTIONS
from matchrec.conditions.functions.formula import Aggregated, Argument, Formula
from matchrec.conditions.functions.function import Compute, Value

Read = Callable[[], Value]


def build(formula: Formula, arguments: Sequence[Read]) -> Read:
    """What computes a formula. arguments: what reads each of them."""
    if isinstance(formula, Argument):
        return arguments[formula.number]
    if isinstance(formula, Aggregated):
        aggregate, use, rows = AGGREGATES[formula.name], formula.use, arguments[formula.number]
        total = fold(lambda: aggregate.begin_rows(use))
        return lambda: total(rows())
    function = FUNCTIONS[formula.name]
    compute = function.build(formula.use)
    parts = tuple(build(part, arguments) for part in formula.parts)
    if function.takes_nulls:
        return lambda: compute(*[part() for part in parts])
    return _null_in_null_out(compute, parts)


def _null_in_null_out(compute: Compute, parts: Sequence[Read]) -> Read:
    def value() -> Value:
        values = [part() for part in parts]
        return None if None in values else compute(*values)

    return value
