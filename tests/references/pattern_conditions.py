"""The reference for conditions of the Pattern API: compute their SQL text in plain Python.

It is slow but simple, and uses neither Spark nor matchrec; sqlglot parses the text. NULL is None,
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

# An int, a float, a str, a bool or None.
Value = Any
# The value of each column of an event.
Event = Mapping[str, Value]
# By stage, the events that the stage has accepted so far.
AcceptedEvents = Mapping[str, Sequence[Event]]
# Takes the candidate event and the accepted events, and returns the truth of the condition.
Condition = Callable[[Event, AcceptedEvents], Value]

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
    """Return `left AND right`. None is unknown: `FALSE AND NULL` is FALSE, `TRUE AND NULL` NULL."""
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def compute_or(left: bool | None, right: bool | None) -> bool | None:
    """Return `left OR right`. None is unknown: `TRUE OR NULL` is TRUE, `FALSE OR NULL` NULL."""
    if left is True or right is True:
        return True
    return None if left is None or right is None else False


def evaluate(tree: sql.Expression, event: Event, accepted: AcceptedEvents) -> Value:
    """Return the value of an expression for an event.

    Raises:
        ValueError: the reference does not support the expression.
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
            return evaluate_case(tree, event, accepted)
        case sql.Least():
            arguments = (tree.this, *tree.expressions)
            values = [evaluate(argument, event, accepted) for argument in arguments]
            # NULL only if all arguments are NULL.
            return min((value for value in values if value is not None), default=None)
        case sql.If():
            is_true = evaluate(tree.this, event, accepted) is True
            branch = tree.args["true"] if is_true else tree.args.get("false")
            return None if branch is None else evaluate(branch, event, accepted)
        case sql.Cast():
            # The tests cast only values that stay the same.
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
            raise ValueError(f"the reference does not support: {tree.sql()}")


def evaluate_case(tree: sql.Case, event: Event, accepted: AcceptedEvents) -> Value:
    """Return the value of `CASE WHEN condition ...`, or of `CASE x WHEN value ...`.

    A condition that is NULL chooses no branch. NULL equals no value, not even NULL.
    """
    is_simple = tree.this is not None
    operand = evaluate(tree.this, event, accepted) if is_simple else None
    for branch in tree.args["ifs"]:
        value = evaluate(branch.this, event, accepted)
        is_chosen = value is not None and value == operand if is_simple else value is True
        if is_chosen:
            return evaluate(branch.args["true"], event, accepted)
    default = tree.args.get("default")
    return None if default is None else evaluate(default, event, accepted)


def compute_aggregate(tree: sql.AggFunc, accepted: AcceptedEvents) -> Value:
    """Return an aggregate over the events that a stage has accepted.

    SUM and COUNT of no events are 0. The other aggregates of no events are NULL.
    """
    column = tree.this
    if isinstance(tree, sql.Count) and not column.table:
        return len(accepted.get(column.name, ()))
    values = [event[column.name] for event in accepted.get(column.table, ())]
    present = [value for value in values if value is not None]
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
            raise ValueError(f"the reference does not support: {tree.sql()}")
