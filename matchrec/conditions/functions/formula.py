"""Formulas: functions over one another and over values of the run, which Python computes.

levenshtein(upper(name || '.'), LAST(A.name))
LEVENSHTEIN( UPPER( ||(argument 0, argument 1) ), argument 2 )
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from matchrec.conditions.types import ValueType

if TYPE_CHECKING:
    from matchrec.conditions.accumulators.aggregate import AggregateUse
    from matchrec.conditions.functions.function import Use


@dataclass(frozen=True, slots=True)
class Argument:
    """A value of the run, by its number among the arguments of the whole formula."""

    number: int
    type: ValueType


@dataclass(frozen=True, slots=True)
class Apply:
    """A function, by its name in the catalogue, of the values of other formulas."""

    name: str
    parts: tuple[Formula, ...]
    use: Use
    type: ValueType


@dataclass(frozen=True, slots=True)
class Aggregated:
    """An aggregate, by its name in the catalogue, of a list, by its number among the arguments."""

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
