"""Which conditions are about an event's type, that SEQ says: `type_column = 'Stock'`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matchrec.plan.combined import conjuncts
from matchrec.plan.expression import ColumnReference, Navigation, Operation, Scalar, Term
from matchrec.plan.match_plan import MatchPlan
from matchrec.writing.columns import plain
from matchrec.writing.same_meaning import shape_of


def declared_type(plan: MatchPlan, variables: Sequence[str], column: str) -> str | None:
    """The type that all variables of a component have, as a literal."""
    first, *others = (list(types(plan, variable, column)) for variable in variables)
    return next((one for one in first if all(one in other for other in others)), None)


def types(plan: MatchPlan, variable: str, column: str) -> Iterator[str]:
    """The literals that the type of a variable's rows must equal."""
    for definition in plan.definitions:
        if definition.variable == variable:
            for one in conjuncts(definition.condition):
                literal = type_in(one, variable, column)
                if literal is not None:
                    yield literal


def type_in(condition: Scalar, variable: str, column: str) -> str | None:
    """The literal of `variable.column = literal`.

    >>> from matchrec.source import Span
    >>> here = Term((ColumnReference(Navigation("a"), "kind"),), Span(0, 1))
    >>> type_in(Operation("=", (here, Term(("'x'",), Span(0, 1))), (), Span(0, 1)), "a", "kind")
    "'x'"
    """
    match condition:
        case Operation("=", (left, Term((str(literal),)))) if literal.strip().startswith("'"):
            here = ColumnReference(Navigation(variable), plain(column))
            return literal.strip() if shape_of(left) == here else None
        case _:
            return None
