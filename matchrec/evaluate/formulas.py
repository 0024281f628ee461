"""What computes the formulas of conditions on the run: the functions and aggregates they name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from matchrec.conditions.accumulators.aggregate import fold
from matchrec.conditions.accumulators.catalogue import AGGREGATES
from matchrec.conditions.functions.catalogue import FUNCTIONS
from matchrec.conditions.functions.formula import (
    Aggregated,
    Apply,
    Argument,
    Bound,
    Calculated,
    Formula,
    LambdaFunction,
)
from matchrec.conditions.functions.function import Compute, Value
from matchrec.dataclass import dataclass
from matchrec.evaluate.calculations import calculation, holder, taker
from matchrec.plan.expression import LambdaVariable

Read = Callable[[], Value]


def build(formula: Formula, arguments: Sequence[Read]) -> Read:
    """What computes a formula. arguments: what reads each of them."""
    return Builder(arguments).build(formula)


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds what computes formulas. bound: what variables of lambda functions have just now."""

    arguments: Sequence[Read]
    bound: dict[LambdaVariable, Value] = field(default_factory=dict)

    def build(self, formula: Formula) -> Read:
        """What computes a formula."""
        match formula:
            case Argument(number):
                return self.arguments[number]
            case Aggregated(name, number):
                aggregate, use, rows = AGGREGATES[name], formula.use, self.arguments[number]
                total = fold(lambda: aggregate.begin_rows(use))
                return lambda: total(rows())
            case Apply(name, parts, use):
                function = FUNCTIONS[name]
                compute, reads = function.build(use), tuple(map(self.build, parts))
                if name == "IF":
                    return _choice(*reads)
                if function.takes_nulls:
                    return lambda: compute(*[read() for read in reads])
                return _null_in_null_out(compute, reads)
            case Bound(variable):
                bound = self.bound
                return lambda: bound[variable]
            case LambdaFunction(variables, body):
                return self.function(variables, self.build(body))
            case Calculated(expression, parts, type_):
                held = [holder(part.type, self.build(part)) for part in parts]
                return taker(type_, calculation(expression, held))

    def function(self, variables: tuple[LambdaVariable, ...], body: Read) -> Read:
        """What computes a function; values beyond those of its variables are left out."""
        bound = self.bound

        def compute(*values: Value) -> Value:
            bound.update(zip(variables, values, strict=False))
            return body()

        return lambda: compute


def _choice(condition: Read, then: Read, otherwise: Read = lambda: None) -> Read:
    """IF, which does not compute what it does not choose."""
    return lambda: then() if condition() else otherwise()


def _null_in_null_out(compute: Compute, reads: Sequence[Read]) -> Read:
    def value() -> Value:
        values = [read() for read in reads]
        return None if None in values else compute(*values)

    return value
