"""Conditions of patterns: their SQL text as Python functions, without Spark and without matchrec.

Three-valued logic over Python values. A name is a column of the event; `stage.column` stands in an
aggregate over the events that the stage has accepted so far, `count(stage)` is how many they are.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlglot
from sqlglot import expressions as sql

Value = Any
Event = Mapping[str, Value]
Accepted = Mapping[str, Sequence[Event]]
Condition = Callable[[Event, Accepted], Value]

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
    sql.SafeAdd: operator.add,  # no number of the tests is too large
    sql.SafeSubtract: operator.sub,
}


def condition(text: str) -> Condition:
    """The condition as a function of the candidate event and the events accepted so far."""
    tree = sqlglot.parse_one(text, read="spark")
    return lambda event, accepted: value(tree, event, accepted)


def both(first: Condition | None, second: Condition) -> Condition:
    if first is None:
        return second
    return lambda event, accepted: conjunction(first(event, accepted), second(event, accepted))


def either(first: Condition | None, second: Condition) -> Condition:
    """One of two conditions; a second one alone stands for itself."""
    if first is None:
        return second
    return lambda event, accepted: disjunction(first(event, accepted), second(event, accepted))


def conjunction(one: bool | None, other: bool | None) -> bool | None:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def disjunction(one: bool | None, other: bool | None) -> bool | None:
    if one is True or other is True:
        return True
    return None if one is None or other is None else False


def value(tree: sql.Expression, event: Event, accepted: Accepted) -> Value:
    """What a term is for an event; None is NULL."""
    if type(tree) in COMPARISONS:
        left = value(tree.this, event, accepted)
        right = value(tree.expression, event, accepted)
        unknown = left is None or right is None
        return None if unknown else COMPARISONS[type(tree)](left, right)
    match tree:
        case sql.Paren():
            return value(tree.this, event, accepted)
        case sql.And():
            sides = (tree.this, tree.expression)
            return conjunction(*(value(side, event, accepted) for side in sides))
        case sql.Or():
            sides = (tree.this, tree.expression)
            return disjunction(*(value(side, event, accepted) for side in sides))
        case sql.Not():
            inner = value(tree.this, event, accepted)
            return None if inner is None else not inner
        case sql.Is(expression=sql.Null()):
            return value(tree.this, event, accepted) is None
        case sql.Is(expression=sql.Boolean()):
            return value(tree.this, event, accepted) is tree.expression.this
        case sql.Case():
            chosen = True if tree.this is None else value(tree.this, event, accepted)
            branches = ((value(one.this, event, accepted), one) for one in tree.args["ifs"])
            found = (one.args["true"] for of, one in branches if of == chosen)
            taken = next(found, tree.args.get("default"))
            return None if taken is None else value(taken, event, accepted)
        case sql.Least():
            return min(value(one, event, accepted) for one in (tree.this, *tree.expressions))
        case sql.If():
            chosen = value(tree.this, event, accepted) is True
            branch = tree.args["true"] if chosen else tree.args.get("false")
            return value(branch, event, accepted)
        case sql.Cast():
            return value(tree.this, event, accepted)
        case sql.Boolean():
            return tree.this
        case sql.Null():
            return None
        case sql.Literal():
            return tree.this if tree.is_string else float(tree.this)
        case sql.Neg():
            inner = value(tree.this, event, accepted)
            return None if inner is None else -inner
        case sql.Column() if not tree.table:
            return event[tree.name]
        case sql.AggFunc():
            return aggregate(tree, accepted)
        case _:
            raise ValueError(f"not read by the tests: {tree.sql()}")


def aggregate(tree: sql.AggFunc, accepted: Accepted) -> Value:
    """An aggregate over what a stage has accepted; over nothing sum and count are 0."""
    column = tree.this
    if isinstance(tree, sql.Count) and not column.table:
        return len(accepted.get(column.name, ()))
    values = [event[column.name] for event in accepted.get(column.table, ())]
    known = [one for one in values if one is not None]
    match tree:
        case sql.Count():
            return len(known)
        case sql.Sum():
            return sum(known)
        case sql.First():
            return values[0] if values else None
        case sql.Last():
            return values[-1] if values else None
        case sql.Min():
            return min(known, default=None)
        case sql.Max():
            return max(known, default=None)
        case sql.Avg():
            return sum(known) / len(known) if known else None
        case _:
            raise ValueError(f"not read by the tests: {tree.sql()}")
