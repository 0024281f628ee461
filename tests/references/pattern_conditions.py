"""The reference for conditions of the Pattern API: compute their SQL text in plain Python.

It is slow and obvious, and uses neither Spark nor matchrec; sqlglot parses the text. NULL is None,
and logic has three values. In a condition

- `x` is a column of the candidate event;
- `sum(a.x)` is an aggregate over the events that stage `a` has accepted so far;
- `count(a)` is the number of these events.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlglot
from sqlglot import expressions as sql

Value = Any  # int, float, str, bool or None
Event = Mapping[str, Value]
Accepted = Mapping[str, Sequence[Event]]  # stage -> events that it has accepted so far
Condition = Callable[[Event, Accepted], Value]  # is given the candidate event

COMPARISONS: dict[type[sql.Expression], Callable[[Value, Value], Value]] = {
    sql.EQ: operator.eq,
    sql.NEQ: operator.ne,
    sql.LT: operator.lt,
    sql.LTE: operator.le,
    sql.GT: operator.gt,
    sql.GTE: operator.ge,
    sql.Add: operator.add,
    sql.Sub: operator.sub,
    sql.Mul: operator.mul,
    # These are try_add and try_subtract. No number in the tests is large enough to overflow.
    sql.SafeAdd: operator.add,
    sql.SafeSubtract: operator.sub,
}


def build_condition(text: str) -> Condition:
    """Return a condition as a function of the candidate event and the events accepted so far."""
    tree = sqlglot.parse_one(text, read="spark")
    return lambda event, accepted: evaluate(tree, event, accepted)


def join_by_and(first: Condition | None, second: Condition) -> Condition:
    """Return the AND of two conditions, or the second one if there is no first."""
    if first is None:
        return second
    return lambda event, accepted: compute_and(first(event, accepted), second(event, accepted))


def join_by_or(first: Condition | None, second: Condition) -> Condition:
    """Return the OR of two conditions, or the second one if there is no first."""
    if first is None:
        return second
    return lambda event, accepted: compute_or(first(event, accepted), second(event, accepted))


def compute_and(left: bool | None, right: bool | None) -> bool | None:
    """Return the value of AND."""
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def compute_or(left: bool | None, right: bool | None) -> bool | None:
    """Return the value of OR."""
    if left is True or right is True:
        return True
    return None if left is None or right is None else False


def evaluate(tree: sql.Expression, event: Event, accepted: Accepted) -> Value:
    """Return the value of an expression for an event.

    Raises:
        ValueError: the expression has a construct that the tests do not use.
    """
    if type(tree) in COMPARISONS:
        left = evaluate(tree.this, event, accepted)
        right = evaluate(tree.expression, event, accepted)
        if left is None or right is None:
            return None
        return COMPARISONS[type(tree)](left, right)
    match tree:
        case sql.Paren():
            return evaluate(tree.this, event, accepted)
        case sql.And():
            left = evaluate(tree.this, event, accepted)
            right = evaluate(tree.expression, event, accepted)
            return compute_and(left, right)
        case sql.Or():
            left = evaluate(tree.this, event, accepted)
            right = evaluate(tree.expression, event, accepted)
            return compute_or(left, right)
        case sql.Not():
            inner = evaluate(tree.this, event, accepted)
            return None if inner is None else not inner
        case sql.Is(expression=sql.Null()):
            return evaluate(tree.this, event, accepted) is None
        case sql.Is(expression=sql.Boolean()):
            return evaluate(tree.this, event, accepted) is tree.expression.this
        case sql.Case():
            return choose(tree, event, accepted)
        case sql.Least():
            arguments = (tree.this, *tree.expressions)
            return min(evaluate(argument, event, accepted) for argument in arguments)
        case sql.If():
            is_true = evaluate(tree.this, event, accepted) is True
            branch = tree.args["true"] if is_true else tree.args.get("false")
            return evaluate(branch, event, accepted)
        case sql.Cast():
            return evaluate(tree.this, event, accepted)
        case sql.Boolean():
            return tree.this
        case sql.Null():
            return None
        case sql.Literal():
            return tree.this if tree.is_string else float(tree.this)
        case sql.Neg():
            inner = evaluate(tree.this, event, accepted)
            return None if inner is None else -inner
        case sql.Column() if not tree.table:
            return event[tree.name]
        case sql.AggFunc():
            return compute_aggregate(tree, accepted)
        case _:
            raise ValueError(f"not read by the tests: {tree.sql()}")


def choose(tree: sql.Case, event: Event, accepted: Accepted) -> Value:
    """Return the value of `CASE WHEN condition ...`, or of `CASE x WHEN value ...`."""
    operand = True if tree.this is None else evaluate(tree.this, event, accepted)
    for branch in tree.args["ifs"]:
        if evaluate(branch.this, event, accepted) == operand:
            return evaluate(branch.args["true"], event, accepted)
    default = tree.args.get("default")
    return None if default is None else evaluate(default, event, accepted)


def compute_aggregate(tree: sql.AggFunc, accepted: Accepted) -> Value:
    """Compute an aggregate over what a stage has accepted. SUM and COUNT of nothing are 0."""
    column = tree.this
    if isinstance(tree, sql.Count) and not column.table:
        return len(accepted.get(column.name, ()))
    values = [event[column.name] for event in accepted.get(column.table, ())]
    present = [item for item in values if item is not None]
    match tree:
        case sql.Count():
            return len(present)
        case sql.Sum():
            return sum(present)
        case sql.First():
            return values[0] if values else None
        case sql.Last():
            return values[-1] if values else None
        case sql.Min():
            return min(present, default=None)
        case sql.Max():
            return max(present, default=None)
        case sql.Avg():
            return sum(present) / len(present) if present else None
        case _:
            raise ValueError(f"not read by the tests: {tree.sql()}")
