"""Expressions and plans as text, with every part that tests look at."""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.plan.clauses import Absence
from matchrec.plan.expression import (
    Aggregate,
    Classifier,
    ColumnReference,
    MatchValue,
    Navigation,
    Operation,
    Reference,
    Scalar,
    Semantics,
    Term,
    reads_columns_only,
    render,
    split_conjuncts,
    write_row_sql,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import show_pattern


def show_navigation(navigation: Navigation, read: str) -> str:
    """Return a navigation around a column as text."""
    variable = f"{navigation.variable}." if navigation.variable is not None else ""
    plain = Navigation(navigation.variable) == navigation
    text = f"{variable}{read}"
    if not plain:
        offset = f", {navigation.logical_offset}" if navigation.logical_offset else ""
        text = f"{navigation.end.value}({text}{offset})"
    if navigation.physical_offset:
        text += f" {navigation.physical_offset:+d}"
    return f"FINAL {text}" if navigation.semantics is Semantics.FINAL else text


def show_reference(reference: Reference) -> str:
    """Return a reference as text."""
    match reference:
        case ColumnReference(navigation, argument):
            return f"[{show_navigation(navigation, argument)}]"
        case Classifier(navigation):
            return f"[{show_navigation(navigation, 'CLASSIFIER')}]"
        case MatchValue():
            return "[MATCH_NUMBER]"
        case Aggregate():
            return f"[{show_aggregate(reference)}]"


def show_aggregate(aggregate: Aggregate) -> str:
    """Return an aggregate as text."""
    variable = "" if aggregate.variable is None else f" of {aggregate.variable}"
    arguments = ", ".join(map(show_term, aggregate.arguments)) if aggregate.arguments else "*"
    ordering = ", ".join(f"{show_term(term)} {word}".strip() for term, word in aggregate.ordering)
    distinct = "DISTINCT " if aggregate.is_distinct else ""
    parts = (
        aggregate.semantics.value if aggregate.semantics is Semantics.FINAL else "",
        f"{aggregate.function}({distinct}{arguments}){variable}",
        f"ordered by {ordering}" if ordering else "",
        f"where {show_term(aggregate.condition)}" if aggregate.condition else "",
        "ignoring nulls" if aggregate.ignore_nulls else "",
        "so far" if aggregate.excludes_current_row else "",
    )
    return " ".join(part for part in parts if part)


def show_term(term: Term) -> str:
    """Return what an aggregate evaluates on each row; columns as they are."""
    if reads_columns_only(term):
        return write_row_sql(term)
    return render(term, show_reference)


def show_tree(scalar: Scalar, depth: int = 0) -> str:
    """Return a line for each operation and term. Operands are indented."""
    indent = "  " * depth
    if not isinstance(scalar, Operation):
        return f"{indent}{render(scalar, show_reference)}"
    below = [show_tree(operand, depth + 1) for operand in scalar.operands]
    return "\n".join([indent + " ".join((scalar.operator, *scalar.words)), *below])


def show_plan(plan: MatchPlan) -> str:
    """Return the parts of a plan as text, one in each line."""
    return "\n".join(_lines(plan))


def _lines(plan: MatchPlan) -> Iterator[str]:
    """Yield the lines of a plan."""
    yield f"pattern: {show_pattern(plan.pattern)}"
    for subset in plan.subsets:
        yield f"subset: {subset.name} = ({', '.join(subset.members)})"
    yield f"selection: {plan.selection.value}"
    yield f"output: {plan.output.value}"
    for word, keys in (("partition by", plan.partition_by), ("equal", plan.equivalence_keys)):
        if keys:
            yield f"{word}: {', '.join(key.text for key in keys)}"
    if plan.order_by:
        yield f"order by: {', '.join(item.expression.text for item in plan.order_by)}"
    if plan.within:
        yield f"within: {plan.within.interval.text}"
    if plan.within_rows:
        yield f"within rows: {plan.within_rows}"
    yield from map(_absence, plan.absences)
    if plan.match_condition:
        yield f"closing: {plan.match_condition}"
    for definition in plan.definitions:
        yield f"define {definition.variable}"
        for part in split_conjuncts(definition.condition):
            yield f"    {render(part, show_reference)}"
    for measure in plan.measures:
        yield f"measure {measure.name}: {render(measure.value, show_reference)}"


def _absence(absence: Absence) -> str:
    """Return an absence as text."""
    after = f" after {' | '.join(absence.after)}" if absence.after else ""
    before = f" before {' | '.join(absence.before)}" if absence.before else ""
    return f"absent: {absence.variable}{after}{before}"
