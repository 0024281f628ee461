"""SASE+ queries as trees of the tests' own: `str` prints the language, `value` evaluates it.

Nothing of matchrec is used. A value is a Python one, NULL is None, truth has three values.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

Value = int | float | str | bool | None
Event = Mapping[str, Value]
Bindings = Mapping[str, Sequence[Event]]
"""The events selected so far, by variable; of a Kleene plus the last one may be a candidate."""

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
INDICES = ("", "[1]", "[i]", "[i-1]", "[a.LEN]", "[..i-1]", "[]")


class Tree:
    """A part of an expression."""

    def value(self, _: Bindings) -> Value:
        raise NotImplementedError

    def operands(self) -> tuple[Tree, ...]:
        return ()

    def leaves(self) -> Iterator[Tree]:
        """What reads events, and literals."""
        if not self.operands():
            yield self
        for one in self.operands():
            yield from one.leaves()


@dataclass(frozen=True)
class Literal(Tree):
    written: Value

    def __str__(self) -> str:
        return "NULL" if self.written is None else repr(self.written).replace("True", "TRUE")

    def value(self, _: Bindings) -> Value:
        return self.written


@dataclass(frozen=True)
class Attribute(Tree):
    """`b.x`, `a[1].x`; index: one of INDICES, but no range."""

    variable: str
    index: str
    column: str

    def __str__(self) -> str:
        return f"{self.variable}{self.index.replace('a', self.variable)}.{self.column}"

    def value(self, bindings: Bindings) -> Value:
        events = bindings[self.variable]
        place = {"": -1, "[1]": 0, "[i]": -1, "[i-1]": -2, "[a.LEN]": -1}[self.index]
        return events[place][self.column]


@dataclass(frozen=True)
class Aggregate(Tree):
    """`avg(a[..i-1].x)`, `count(a[])`; index: `[..i-1]` or `[]`."""

    function: str
    variable: str
    index: str
    column: str | None

    def __str__(self) -> str:
        column = f".{self.column}" if self.column else ""
        return f"{self.function}({self.variable}{self.index}{column})"

    def value(self, bindings: Bindings) -> Value:
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
    variable: str

    def __str__(self) -> str:
        return f"{self.variable}.LEN"

    def value(self, bindings: Bindings) -> Value:
        return len(bindings[self.variable])


@dataclass(frozen=True)
class Calculated(Tree):
    symbol: str
    left: Tree
    right: Tree

    def __str__(self) -> str:
        return f"({self.left} {self.symbol} {self.right})"

    def operands(self) -> tuple[Tree, ...]:
        return self.left, self.right

    def value(self, bindings: Bindings) -> Value:
        left, right = self.left.value(bindings), self.right.value(bindings)
        return None if left is None or right is None else ARITHMETIC[self.symbol](left, right)


@dataclass(frozen=True)
class Percentage(Tree):
    """`80%*b.x`, of an integer: exact, then as a double."""

    percent: int
    of: Tree

    def __str__(self) -> str:
        return f"{self.percent}%*{self.of}"

    def operands(self) -> tuple[Tree, ...]:
        return (self.of,)

    def value(self, bindings: Bindings) -> Value:
        value = self.of.value(bindings)
        return None if value is None else float(Fraction(self.percent, 100) * value)


@dataclass(frozen=True)
class Comparison(Tree):
    symbol: str
    left: Tree
    right: Tree

    def __str__(self) -> str:
        return f"{self.left} {self.symbol} {self.right}"

    def operands(self) -> tuple[Tree, ...]:
        return self.left, self.right

    def value(self, bindings: Bindings) -> Value:
        left, right = self.left.value(bindings), self.right.value(bindings)
        if self.symbol == "<=>":
            return left == right
        return None if left is None or right is None else COMPARISONS[self.symbol](left, right)


@dataclass(frozen=True)
class Membership(Tree):
    tested: Tree
    members: tuple[Value, ...]
    negated: bool

    def __str__(self) -> str:
        members = ", ".join(str(Literal(member)) for member in self.members)
        return f"{self.tested} {'NOT ' * self.negated}IN ({members})"

    def operands(self) -> tuple[Tree, ...]:
        return (self.tested,)

    def value(self, bindings: Bindings) -> Value:
        value = self.tested.value(bindings)
        if value is None:
            return None
        if value in self.members:
            return not self.negated
        return None if None in self.members else self.negated


@dataclass(frozen=True)
class Between(Tree):
    tested: Tree
    least: Tree
    most: Tree
    negated: bool

    def __str__(self) -> str:
        return f"{self.tested} {'NOT ' * self.negated}BETWEEN {self.least} AND {self.most}"

    def operands(self) -> tuple[Tree, ...]:
        return self.tested, self.least, self.most

    def value(self, bindings: Bindings) -> Value:
        above = Comparison(">=", self.tested, self.least).value(bindings)
        below = Comparison("<=", self.tested, self.most).value(bindings)
        inside = conjunction([above, below])
        return (None if inside is None else not inside) if self.negated else inside


@dataclass(frozen=True)
class NullTest(Tree):
    tested: Tree
    negated: bool

    def __str__(self) -> str:
        return f"{self.tested} IS {'NOT ' * self.negated}NULL"

    def operands(self) -> tuple[Tree, ...]:
        return (self.tested,)

    def value(self, bindings: Bindings) -> Value:
        return (self.tested.value(bindings) is None) is not self.negated


@dataclass(frozen=True)
class Not(Tree):
    inner: Tree

    def __str__(self) -> str:
        return f"NOT ({self.inner})"

    def operands(self) -> tuple[Tree, ...]:
        return (self.inner,)

    def value(self, bindings: Bindings) -> Value:
        value = self.inner.value(bindings)
        return None if value is None else not value


@dataclass(frozen=True)
class And(Tree):
    parts: tuple[Tree, ...]

    def __str__(self) -> str:
        return " AND ".join(f"({part})" for part in self.parts)

    def operands(self) -> tuple[Tree, ...]:
        return self.parts

    def value(self, bindings: Bindings) -> Value:
        return conjunction([part.value(bindings) for part in self.parts])


@dataclass(frozen=True)
class Or(Tree):
    parts: tuple[Tree, ...]

    def __str__(self) -> str:
        return " OR ".join(f"({part})" for part in self.parts)

    def operands(self) -> tuple[Tree, ...]:
        return self.parts

    def value(self, bindings: Bindings) -> Value:
        values = [part.value(bindings) for part in self.parts]
        return True if True in values else (None if None in values else False)


def conjunction(values: Sequence[Value]) -> Value:
    return False if False in values else (None if None in values else True)


def conjuncts(tree: Tree) -> list[Tree]:
    """Conjunctive normal form: NOT inside, OR over AND. The trees are small: no bound."""
    match tree:
        case And(parts):
            return [one for part in parts for one in conjuncts(part)]
        case Or((first,)):
            return conjuncts(first)
        case Or((first, *others)):
            rest = conjuncts(Or(tuple(others)))
            return [Or((one, other)) for one in conjuncts(first) for other in rest]
        case Not(Not(inner)):
            return conjuncts(inner)
        case Not(And(parts)):
            return conjuncts(Or(tuple(Not(part) for part in parts)))
        case Not(Or(parts)):
            return conjuncts(And(tuple(Not(part) for part in parts)))
        case _:
            return [tree]


@dataclass(frozen=True)
class Component:
    """event_type None: any."""

    event_type: str | None
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
    """keys: the attributes of the equivalence test. time, rows: WITHIN. items: RETURN."""

    components: tuple[Component, ...]
    strategy: str
    keys: tuple[str, ...] = ()
    predicates: tuple[Tree, ...] = ()
    time: int | None = None
    rows: int | None = None
    items: tuple[tuple[str, Tree], ...] = ()

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
        return tuple(one for one in self.components if not one.negated)
