"""Draw random SASE+ queries and small streams of events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from random import Random

from tests.generators.sase_trees import (
    Aggregate,
    And,
    Attribute,
    Between,
    Calculated,
    Comparison,
    Component,
    Event,
    Length,
    Literal,
    Membership,
    Not,
    NullTest,
    Or,
    Percentage,
    Query,
    Tree,
)

SCHEMA = (
    "s int, n int, t int, bit bigint, event_type string, k int, x int, y int, w string, z double"
)
NAMES = tuple(part.split()[0] for part in SCHEMA.split(", "))
NUMBERS = ("x", "x", "x", "y", "z")
STRATEGIES = (
    "strict_contiguity",
    "partition_contiguity",
    "skip_till_next_match",
    "skip_till_any_match",
)
EARLIER = ("[1]", "[a.LEN]")
FUNCTIONS = ("avg", "sum", "min", "max", "count")


def random_stream(random: Random, number: int) -> list[Event]:
    """Draw 3 to 9 events, ordered by `t`, then by `n`.

    `bit` is 2 to the power of the position, so that a sum of bits tells which events it has.
    """
    events: list[Event] = []
    time = 0
    for position in range(random.choice((3, 4, 5, 6, 7, 7, 8, 8, 9, 9))):
        time += random.choice((0, 1, 1, 1, 2, 3))
        events.append(
            {
                "s": number,
                "n": position,
                "t": time,
                "bit": 1 << position,
                "event_type": random.choice(("A", "A", "A", "A", "B", "B", "B", "B", "C", None)),
                "k": random.choice((1, 1, 1, 2, 2, None)),
                "x": random.choice((0, 1, 2, 3, 4, 5, None)),
                "y": random.choice((0, 1, 2, 3, None, None)),
                "w": random.choice(("p", "p", "q", None)),
                "z": random.choice((0.0, 0.5, 1.0, 2.5, None)),
            }
        )
    return events


@dataclass(frozen=True)
class Generator:
    """A source of random predicates over the components of a query."""

    random: Random
    components: tuple[Component, ...]

    @property
    def positive(self) -> list[Component]:
        """Return the components that are not negated."""
        return [component for component in self.components if not component.negated]

    # Values that a predicate may read

    def draw_closed_value(self, component: Component) -> Tree:
        """Draw a value of a component that has all its events."""
        name = component.variable
        if not component.kleene:
            return Attribute(name, "", self.draw_column())
        return self.random.choice(
            (
                lambda: Attribute(name, self.random.choice(EARLIER), self.draw_column()),
                lambda: self.draw_aggregate(name, "[]"),
                lambda: Length(name),
            )
        )()

    def draw_aggregate(self, name: str, index: str) -> Tree:
        """Draw an aggregate over events of a Kleene plus."""
        function = self.random.choice(FUNCTIONS)
        counts_events = function == "count" and self.random.random() < 0.5
        return Aggregate(function, name, index, None if counts_events else self.draw_column())

    def draw_column(self) -> str:
        """Draw the name of a numeric attribute."""
        return self.random.choice(NUMBERS)

    def draw_element_value(self, name: str) -> Tree:
        """Draw a value of the events before a[i], or of a[i]."""
        index = self.random.choice(("[1]", "[i-1]", "[i-1]", "[..i-1]", "[..i-1]", "[i]"))
        if index == "[..i-1]":
            return self.draw_aggregate(name, index)
        return Attribute(name, index, self.draw_column())

    # Predicates

    def draw_predicate(self) -> Tree:
        """Draw a predicate on an event or on the whole match, which may read earlier events."""
        kind = self.random.random()
        negated = [component for component in self.components if component.negated]
        if negated and kind < 0.45:
            component = self.random.choice(negated)
            others = self.list_readers(self.positive)
            return self.draw_condition(
                Attribute(component.variable, "", self.draw_column()), others
            )
        if self.positive[-1].kleene and kind < 0.6:  # at the end of the match
            last = self.positive[-1]
            others = self.list_readers(self.positive)
            return self.draw_condition(self.draw_closed_value(last), others)
        number = self.random.randrange(len(self.positive))
        component = self.positive[number]
        others = self.list_readers(self.positive[:number])
        name = component.variable
        if not component.kleene:
            return self.draw_condition(Attribute(name, "", self.draw_column()), others)
        if self.random.random() < 0.3:
            return self.draw_condition(Attribute(name, "[1]", self.draw_column()), others)
        others += [lambda: self.draw_element_value(name)] * 3
        return self.draw_condition(Attribute(name, "[i]", self.draw_column()), others)

    def list_readers(self, components: list[Component]) -> list[Callable[[], Tree]]:
        """Return for each component a function that draws one of its values."""
        return [partial(self.draw_closed_value, component) for component in components]

    def draw_condition(self, tested: Tree, others: list[Callable[[], Tree]]) -> Tree:
        """Draw a condition on a value, perhaps connected with a second one.

        Args:
            tested: the value.
            others: functions that draw the values that it may be compared with.
        """
        first = self.draw_simple_condition(tested, others)
        kind = self.random.random()
        if kind < 0.6:
            return first
        second = self.draw_simple_condition(self.random.choice([lambda: tested, *others])(), others)
        if kind < 0.7:
            return Not(Or((first, second)))
        if kind < 0.8:
            return Not(And((first, Not(second))))
        if kind < 0.9:
            return Or((first, And((second, self.draw_simple_condition(tested, others)))))
        return Or((first, second))

    def draw_simple_condition(self, tested: Tree, others: list[Callable[[], Tree]]) -> Tree:
        """Draw a comparison, IN, BETWEEN or IS NULL."""
        random = self.random
        if isinstance(tested, Attribute) and random.random() < 0.15:
            return self.draw_text_comparison(tested, others)
        kind = random.random()
        if kind < 0.7:
            symbol = random.choice(("=", "==", "<>", "!=", "<", "<=", ">", ">=", ">=", "<=", "<=>"))
            left, right = self.draw_computed_value(tested), self.draw_operand(others)
            return Comparison(symbol, *random.choice(((left, right), (right, left))))
        negated = random.random() < 0.4
        if kind < 0.8:
            members = random.sample((0, 1, 2, 3, 4), 2) + random.choice(([], [], [None]))
            return Membership(tested, tuple(members), negated)
        if kind < 0.9:
            return Between(
                self.draw_computed_value(tested),
                self.draw_operand(others),
                self.draw_operand(others),
                negated,
            )
        return NullTest(tested, random.random() < 0.7)

    def draw_text_comparison(self, tested: Attribute, others: list[Callable[[], Tree]]) -> Tree:
        """Draw a comparison of the text attribute `w`."""
        word = replace(tested, column="w")
        operands = (draw() for draw in others)
        other = next((tree for tree in operands if isinstance(tree, Attribute)), None)
        if other is not None and self.random.random() < 0.5:
            return Comparison(self.random.choice(("=", "<>")), word, replace(other, column="w"))
        return Comparison("=", word, Literal(self.random.choice(("p", "q"))))

    def draw_operand(self, others: list[Callable[[], Tree]]) -> Tree:
        """Draw a value to compare with: one of the others, or a constant."""
        if others and self.random.random() < 0.7:
            return self.draw_computed_value(self.random.choice(others)())
        return Literal(self.random.randrange(5))

    def draw_computed_value(self, tree: Tree) -> Tree:
        """Return a value, or draw something computed from it."""
        kind = self.random.random()
        exact = isinstance(tree, Length) or getattr(tree, "column", None) in ("x", "y")
        if kind < 0.7 or not exact or getattr(tree, "function", None) in ("avg", "sum"):
            return tree
        if kind < 0.8:
            return Percentage(self.random.choice((50, 80, 120)), tree)
        if kind < 0.9:
            return Calculated("%", tree, Literal(2))
        return Calculated(self.random.choice("+-"), tree, Literal(1))


def random_query(random: Random) -> Query:
    """Draw a query. If it begins or ends with a negated component, it has WITHIN."""
    components = random_components(random)
    strategy = random.choice(STRATEGIES)
    keys = random.choice(((), ("k",), ("k",), ("k", "w")))
    if strategy == "partition_contiguity" and not keys:
        keys = ("k",)
    generator = Generator(random, components)
    query = Query(
        components,
        strategy,
        keys,
        tuple(generator.draw_predicate() for _ in range(random.choice((0, 1, 1, 2, 2, 3)))),
        items=random_items(random, generator),
    )
    open_negation = components[0].negated or components[-1].negated
    window = random.choice(("time", "rows") if open_negation else ("time", "rows", None))
    return query if window is None else replace(query, **{window: random.randint(2, 10)})


def random_components(random: Random) -> tuple[Component, ...]:
    """Draw 1 to 4 components. At most two of them are negated, and at least one is not."""
    count = random.choice((1, 2, 2, 3, 3, 3, 4))
    always_positive = random.randrange(count)
    components: list[Component] = []
    for index in range(count):
        event_type = random.choice(("A", "A", "B", "B", None))
        negations = sum(component.negated for component in components)
        if index != always_positive and negations < 2 and random.random() < 0.25:
            components.append(Component(event_type, "nm"[negations], negated=True))
        else:
            name = "abcd"[index - negations]
            components.append(Component(event_type, name, kleene=random.random() < 0.45))
    return tuple(components)


def random_items(random: Random, generator: Generator) -> tuple[tuple[str, Tree], ...]:
    """Draw RETURN: the events of each variable, as the sum of their bits, and other values."""
    items: list[tuple[str, Tree]] = []
    for component in generator.positive:
        name = component.variable
        bits = (
            Aggregate("sum", name, "[]", "bit") if component.kleene else Attribute(name, "", "bit")
        )
        items.append((f"events_{name}", bits))
    for number in range(random.randrange(3)):
        value = generator.draw_computed_value(
            generator.draw_closed_value(random.choice(generator.positive))
        )
        items.append((f"item_{number}", value))
    return tuple(items)
