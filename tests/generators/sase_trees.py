"""SASE+ queries as trees: `str` writes their text, `value` computes their expressions.

The trees do not use matchrec. Values are Python values, NULL is None, and logic has three values.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

Value = int | float | str | bool | None
Event = Mapping[str, Value]
Bindings = Mapping[str, Sequence[Event]]
"""The events selected so far, by variable. The last one of a Kleene plus may be the candidate."""

COMPARISONS = {
    "=": operator.eq,
    "==": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "%": operator.mod}


class Tree:
    """An expression, or a part of one."""

    def value(self, _: Bindings) -> Value:
        """Return the value for the events selected so far."""
        raise NotImplementedError

    def operands(self) -> tuple[Tree, ...]:
        """Return the direct parts of this expression."""
        return ()

    def leaves(self) -> Iterator[Tree]:
        """Yield the parts without operands: literals, and parts that read events."""
        if not self.operands():
            yield self
        for operand in self.operands():
            yield from operand.leaves()


@dataclass(frozen=True)
class Literal(Tree):
    """A constant."""

    written: Value

    def __str__(self) -> str:
        return "NULL" if self.written is None else repr(self.written).replace("True", "TRUE")

    def value(self, _: Bindings) -> Value:
        """Return the value for the events selected so far."""
        return self.written


@dataclass(frozen=True)
class Attribute(Tree):
    """An attribute of an event: `b.x`, `a[1].x`."""

    variable: str
    index: str  # "", "[1]", "[i]", "[i-1]" or "[a.LEN]"
    column: str

    def __str__(self) -> str:
        return f"{self.variable}{self.index.replace('a', self.variable)}.{self.column}"

    def value(self, bindings: Bindings) -> Value:
        """Return the value for the events selected so far."""
        events = bindings[self.variable]
        position = {"": -1, "[1]": 0, "[i]": -1, "[i-1]": -2, "[a.LEN]": -1}[self.index]
        return events[position][self.column]


@dataclass(frozen=True)
class Aggregate(Tree):
    """An aggregate over events of a Kleene plus: `avg(a[..i-1].x)`, `count(a[])`."""

    function: str
    variable: str
    index: str  # `[..i-1]` for the events before the candidate, `[]` for all
    column: str | None  # None to count events

    def __str__(self) -> str:
        column = f".{self.column}" if self.column else ""
        return f"{self.function}({self.variable}{self.index}{column})"

    def value(self, bindings: Bindings) -> Value:
        """Return the value for the events selected so far."""
        events = bindings[self.variable]
        if self.index == "[..i-1]":
            events = events[:-1]
        if self.column is None:
            return len(events)
        values = [event[self.column] for event in events if event[self.column] is not None]
        if self.function == "count":
            return len(values)
        if not values:
            return None
        if self.function == "avg":
            return sum(values) / len(values)
        return {"sum": sum, "min": min, "max": max}[self.function](values)


@dataclass(frozen=True)
class Length(Tree):
    """The number of events of a Kleene plus: `a.LEN`."""

    variable: str

    def __str__(self) -> str:
        return f"{self.variable}.LEN"

    def value(self, bindings: Bindings) -> Value:
        """Return the value for the events selected so far."""
        return len(bindings[self.variable])


@dataclass(frozen=True)
class Calculated(Tree):
    """An arithmetic operation."""

    symbol: str
    left: Tree
    right: Tree

    def __str__(self) -> str:
        return f"({self.left} {self.symbol} {self.right})"

    def operands(self) -> tuple[Tree, ...]:
        """Return the direct parts of this expression."""
        return self.left, self.right

    def value(self, bindings: Bindings) -> Value:
        """Return the value for the events selected so far."""
        left, right = self.left.value(bindings), self.right.value(bindings)
        return None if left is None or right is None else ARITHMETIC[self.symbol](left, right)


@dataclass(frozen=True)
class Percentage(Tree):
    """A percentage of an integer, `80%*b.x`: computed exactly, then rounded to a double."""

    percent: int
    base: Tree

    def __str__(self) -> str:
        return f"{self.percent}%*{self.base}"

    def operands(self) -> tuple[Tree, ...]:
        """Return the direct parts of this expression."""
        return (self.base,)

    def value(self, bindings: Bindings) -> Value:
        """Return the value for the events selected so far."""
        value = self.base.value(bindings)
        return None if value is None else float(Fraction(self.percent, 100) * value)


@dataclass(frozen=True)
class Comparison(Tree):
    """A comparison; `<=>` is one in which NULL equals NULL."""

    symbol: str
    left: Tree
    right: Tree

    def __str__(self) -> str:
        return f"{self.left} {self.symbol} {self.right}"

    def operands(self) -> tuple[Tree, ...]:
        """Return the direct parts of this expression."""
        return self.left, self.right

    def value(self, bindings: Bindings) -> Value:
        """Return the value for the events selected so far."""
        left, right = self.left.value(bindings), self.right.value(bindings)
        if self.symbol == "<=>":
            return left == right
        return None if left is None or right is None else COMPARISONS[self.symbol](left, right)


@dataclass(frozen=True)
class Membership(Tree):
    """`x [NOT] IN (...)`."""

    tested: Tree
    members: tuple[Value, ...]
    negated: bool

    def __str__(self) -> str:
        members = ", ".join(str(Literal(member)) for member in self.members)
        return f"{self.tested} {'NOT ' * self.negated}IN ({members})"

    def operands(self) -> tuple[Tree, ...]:
        """Return the direct parts of this expression."""
        return (self.tested,)

    def value(self, bindings: Bindings) -> Value:
        """Return the value for the events selected so far."""
        value = self.tested.value(bindings)
        if value is None:
            return None
        if value in self.members:
            return not self.negated
        return None if None in self.members else self.negated


@dataclass(frozen=True)
class Between(Tree):
    """`x [NOT] BETWEEN a AND b`."""

    tested: Tree
    least: Tree
    most: Tree
    negated: bool

    def __str__(self) -> str:
        return f"{self.tested} {'NOT ' * self.negated}BETWEEN {self.least} AND {self.most}"

    def operands(self) -> tuple[Tree, ...]:
        """Return the direct parts of this expression."""
        return self.tested, self.least, self.most

    def value(self, bindings: Bindings) -> Value:
        """Return the value for the events selected so far."""
        above = Comparison(">=", self.tested, self.least).value(bindings)
        below = Comparison("<=", self.tested, self.most).value(bindings)
        inside = compute_and([above, below])
        if inside is None or not self.negated:
            return inside
        return not inside


@dataclass(frozen=True)
class NullTest(Tree):
    """`x IS [NOT] NULL`."""

    tested: Tree
    negated: bool

    def __str__(self) -> str:
        return f"{self.tested} IS {'NOT ' * self.negated}NULL"

    def operands(self) -> tuple[Tree, ...]:
        """Return the direct parts of this expression."""
        return (self.tested,)

    def value(self, bindings: Bindings) -> Value:
        """Return the value for the events selected so far."""
        return (self.tested.value(bindings) is None) is not self.negated


@dataclass(frozen=True)
class Not(Tree):
    """The negation of a condition."""

    inner: Tree

    def __str__(self) -> str:
        return f"NOT ({self.inner})"

    def operands(self) -> tuple[Tree, ...]:
        """Return the direct parts of this expression."""
        return (self.inner,)

    def value(self, bindings: Bindings) -> Value:
        """Return the value for the events selected so far."""
        value = self.inner.value(bindings)
        return None if value is None else not value


@dataclass(frozen=True)
class And(Tree):
    """Conditions connected by AND."""

    parts: tuple[Tree, ...]

    def __str__(self) -> str:
        return " AND ".join(f"({part})" for part in self.parts)

    def operands(self) -> tuple[Tree, ...]:
        """Return the direct parts of this expression."""
        return self.parts

    def value(self, bindings: Bindings) -> Value:
        """Return the value for the events selected so far."""
        return compute_and([part.value(bindings) for part in self.parts])


@dataclass(frozen=True)
class Or(Tree):
    """Conditions connected by OR."""

    parts: tuple[Tree, ...]

    def __str__(self) -> str:
        return " OR ".join(f"({part})" for part in self.parts)

    def operands(self) -> tuple[Tree, ...]:
        """Return the direct parts of this expression."""
        return self.parts

    def value(self, bindings: Bindings) -> Value:
        """Return the value for the events selected so far."""
        values = [part.value(bindings) for part in self.parts]
        if True in values:
            return True
        return None if None in values else False


def compute_and(values: Sequence[Value]) -> Value:
    """Return the value of AND."""
    if False in values:
        return False
    return None if None in values else True


def list_conjuncts(tree: Tree) -> list[Tree]:
    """Return the conjuncts of a condition in conjunctive normal form.

    `NOT (a OR b AND c)` has the conjuncts `NOT a` and `NOT b OR NOT c`. There may be exponentially
    many, but the trees of the tests are small.
    """
    match tree:
        case And(parts):
            return [conjunct for part in parts for conjunct in list_conjuncts(part)]
        case Or((part,)):
            return list_conjuncts(part)
        case Or((first, *others)):
            right_conjuncts = list_conjuncts(Or(tuple(others)))
            return [
                Or((left, right)) for left in list_conjuncts(first) for right in right_conjuncts
            ]
        case Not(Not(inner)):
            return list_conjuncts(inner)
        case Not(And(parts)):
            return list_conjuncts(Or(tuple(Not(part) for part in parts)))
        case Not(Or(parts)):
            return list_conjuncts(And(tuple(Not(part) for part in parts)))
        case _:
            return [tree]


@dataclass(frozen=True)
class Component:
    """A component of SEQ: `TYPE a`, `TYPE+ a[]` or `~(TYPE a)`."""

    event_type: str | None  # None for ANY
    variable: str
    kleene: bool = False
    negated: bool = False

    def __str__(self) -> str:
        event = self.event_type or "ANY"
        if self.kleene:
            return f"{event}+ {self.variable}[]"
        return f"~({event} {self.variable})" if self.negated else f"{event} {self.variable}"


@dataclass(frozen=True)
class Query:
    """A SASE+ query."""

    components: tuple[Component, ...]
    strategy: str  # the event selection strategy
    keys: tuple[str, ...] = ()  # the attributes of the equivalence test
    predicates: tuple[Tree, ...] = ()
    time: int | None = None  # WITHIN, along `t`
    rows: int | None = None  # WITHIN n EVENTS
    items: tuple[tuple[str, Tree], ...] = ()  # RETURN: name and expression

    def __str__(self) -> str:
        tests = [f"[{', '.join(self.keys)}]"] if self.keys else []
        predicates = [*tests, *(f"({predicate})" for predicate in self.predicates)]
        text = f"PATTERN SEQ({', '.join(map(str, self.components))})\n"
        text += f"WHERE {self.strategy} {{ {' AND '.join(predicates)} }}"
        if self.time is not None:
            text += f"\nWITHIN {self.time}"
        if self.rows is not None:
            text += f"\nWITHIN {self.rows} EVENTS"
        items = ", ".join(f"{tree} AS {name}" for name, tree in self.items)
        return text + (f"\nRETURN {items}" if items else "")

    @property
    def positive(self) -> tuple[Component, ...]:
        """Return the components that are not negated."""
        return tuple(component for component in self.components if not component.negated)
