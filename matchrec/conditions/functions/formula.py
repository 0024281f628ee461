"""Formulas: functions over one another and over values of the run, which Python computes.

levenshtein(upper(name || '.'), LAST(A.name))
LEVENSHTEIN( UPPER( ||(argument 0, argument 1) ), argument 2 )
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from matchrec.conditions.functions.aggregate import AggregateUse, fold
from matchrec.conditions.functions.aggregates import AGGREGATES
from matchrec.conditions.functions.catalogue import FUNCTIONS
from matchrec.conditions.functions.function import Compute, Use, Value
from matchrec.conditions.types import ValueType

Read = Callable[[], Value]


@dataclass(frozen=True, slots=True)
class Argument:
    """A value of the run, by its number among the arguments of the whole formula."""

    number: int
    type: ValueType


@dataclass(frozen=True, slots=True)
class Apply:
    """A function, by its name in `FUNCTIONS`, of the values of other formulas."""

    name: str
    parts: tuple[Formula, ...]
    use: Use
    type: ValueType


@dataclass(frozen=True, slots=True)
class Aggregated:
    """An aggregate, by its name in `AGGREGATES`, of a list, by its number among the arguments."""

    name: str
    number: int
    use: AggregateUse
    type: ValueType


Formula = Argument | Apply | Aggregated


def shifted(formula: Formula, distance: int) -> Formula:
    """The formula with its arguments numbered that much further on."""
    if not isinstance(formula, Apply):
        return replace(formula, number=formula.number + distance)
    return replace(formula, parts=tuple(shifted(part, distance) for part in formula.parts))


def names_of(formula: Formula) -> Iterator[str]:
    """The functions of a formula, outermost first."""
    if isinstance(formula, Aggregated):
        yield formula.name
    if isinstance(formula, Apply):
        yield formula.name
        for part in formula.parts:
            yield from names_of(part)


def build(formula: Formula, arguments: Sequence[Read]) -> Read:
    """What computes a formula. arguments: what reads each of them."""
    if isinstance(formula, Argument):
        return arguments[formula.number]
    if isinstance(formula, Aggregated):
        aggregate, use, rows = AGGREGATES[formula.name], formula.use, arguments[formula.number]
        total = fold(lambda: aggregate.begin(use))
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
