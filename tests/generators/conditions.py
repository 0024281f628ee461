"""Random DEFINE conditions and measures, out of random references.

In DEFINE, values of several rows of the run are combined as `docs/reference/expressions.md` allows:
by comparisons, AND, OR, NOT, IS NULL, BETWEEN, IN and arithmetic. In MEASURES by anything.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta
from random import Random

from tests.generators.expressions import NUMBERS, Expression, Expressions, RowExpression, Seen, Type
from tests.references.sql_values import (
    Value,
    calculate,
    compare,
    conjunction,
    disjunction,
    literal,
    negation,
)

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
CONSTANTS: dict[Type, tuple[Value, ...]] = {
    Type.INTEGER: (0, 1, 2, 3),
    Type.FLOATING: (0.0, 0.5, 1.0, 1.75),
    Type.TEXT: ("a", "b", "c"),
}


class Operations(ABC):
    """Draws operations; a subclass says what they are made of."""

    def __init__(self, random: Random) -> None:
        self.random = random

    @abstractmethod
    def operand(self, type_: Type) -> Expression:
        """Anything of that type."""

    def constant(self, type_: Type) -> Expression:
        value = self.random.choice(CONSTANTS[type_])
        return Expression(literal(value), type_, lambda _: value)

    def arithmetic(self, type_: Type) -> Expression:
        """Of two numbers; a divisor is a constant other than zero."""
        operator = self.random.choice(["+", "-", "*", "/"] if type_ is Type.FLOATING else "+-*%")
        left = self.operand(type_)
        if operator in "%/":
            divisor: Value = 3 if operator == "%" else 2.0
            right = Expression(literal(divisor), type_, lambda _: divisor)
        else:
            right = self.operand(self.random.choice([Type.INTEGER, type_]))
        return Expression(
            f"({left.text} {operator} {right.text})",
            type_,
            lambda seen: calculate(operator, left.value(seen), right.value(seen)),
        )

    def comparison(self) -> Expression:
        random = self.random
        type_ = random.choice([*NUMBERS, *NUMBERS, Type.TEXT, Type.TIME])
        left = self.operand(type_)
        others = list(NUMBERS) if type_ in NUMBERS else [type_]
        constant = type_ is not Type.TIME and random.random() < 0.4
        right = self.constant(type_) if constant else self.operand(random.choice(others))
        operator = random.choice(COMPARISONS)
        return Expression(
            f"{left.text} {operator} {right.text}",
            Type.TRUTH,
            lambda seen: compare(operator, left.value(seen), right.value(seen)),
        )

    def between(self) -> Expression:
        type_ = self.random.choice([*NUMBERS, Type.TEXT])
        value, low, high = self.operand(type_), self.operand(type_), self.constant(type_)
        inside = self.random.random() < 0.6

        def truth(seen: Seen) -> Value:
            both = (
                compare(">=", value.value(seen), low.value(seen)),
                compare("<=", value.value(seen), high.value(seen)),
            )
            return conjunction(both) if inside else negation(conjunction(both))

        word = "BETWEEN" if inside else "NOT BETWEEN"
        return Expression(f"{value.text} {word} {low.text} AND {high.text}", Type.TRUTH, truth)

    def membership(self) -> Expression:
        type_ = self.random.choice([Type.INTEGER, Type.TEXT])
        value, other = self.operand(type_), self.operand(type_)
        first = self.constant(type_)
        parts = [first, other] if self.random.random() < 0.5 else [first, self.constant(type_)]
        inside = self.random.random() < 0.6

        def truth(seen: Seen) -> Value:
            one = value.value(seen)
            found = disjunction([compare("=", one, part.value(seen)) for part in parts])
            return found if inside else negation(found)

        word = "IN" if inside else "NOT IN"
        texts = ", ".join(part.text for part in parts)
        return Expression(f"{value.text} {word} ({texts})", Type.TRUTH, truth)

    def absence(self) -> Expression:
        value = self.operand(self.random.choice(list(Type)))
        is_null = self.random.random() < 0.6
        word = "IS NULL" if is_null else "IS NOT NULL"
        return Expression(
            f"{value.text} {word}", Type.TRUTH, lambda seen: (value.value(seen) is None) is is_null
        )

    def duration(self) -> Expression:
        """How far two times are apart, against an interval."""
        one, other = self.operand(Type.TIME), self.operand(Type.TIME)
        minutes = self.random.choice([10, 20, 30])
        operator = self.random.choice(COMPARISONS)

        def truth(seen: Seen) -> Value:
            left = calculate("-", one.value(seen), other.value(seen))
            return compare(operator, left, timedelta(minutes=minutes))

        text = f"{one.text} - {other.text} {operator} INTERVAL '{minutes}' MINUTE"
        return Expression(text, Type.TRUTH, truth)

    def connected(self, parts: Sequence[Expression]) -> Expression:
        """AND, OR or NOT of truth values."""
        word = self.random.choice(["AND", "OR", "OR", "OR", "NOT"])
        if word == "NOT":
            part = parts[0]
            return Expression(
                f"NOT ({part.text})", Type.TRUTH, lambda seen: negation(truth_of(part, seen))
            )
        join = conjunction if word == "AND" else disjunction
        return Expression(
            "(" + f" {word} ".join(part.text for part in parts) + ")",
            Type.TRUTH,
            lambda seen: join([truth_of(part, seen) for part in parts]),
        )


def truth_of(expression: Expression, seen: Seen) -> bool | None:
    value = expression.value(seen)
    assert value is None or isinstance(value, bool)
    return value


class Conditions(Operations):
    """Draws the condition of one variable."""

    def __init__(self, expressions: Expressions, variable: str) -> None:
        super().__init__(expressions.random)
        self.expressions, self.variable = expressions, variable

    def condition(self, depth: int = 2) -> Expression:
        random = self.random
        if depth and random.random() < 0.45:
            return self.connected([self.condition(depth - 1) for _ in range(random.randint(2, 3))])
        atoms = [*[self.on_the_row] * 6, *[self.comparison] * 4, self.between, self.membership]
        atoms += [self.absence, self.duration, self.by_classifier, self.of_one_row, self.flag]
        return random.choice(atoms)()

    def operand(self, type_: Type) -> Expression:
        """Something that the run decides, or the candidate row's own column."""
        random = self.random
        chance = random.random()
        if chance < 0.2:
            return self.own(type_)
        if chance < 0.25 and type_ is Type.INTEGER:
            return Expression("MATCH_NUMBER()", type_, lambda seen: seen.number)
        if chance < 0.35 and type_ in NUMBERS:
            return self.arithmetic(type_)
        if chance < 0.55 and type_ is not Type.TRUTH:
            return self.expressions.aggregate(type_, measure=False)
        argument = self.expressions.navigated(type_)
        return self.expressions.navigation(argument, measure=False, all_rows=False)

    def own(self, type_: Type) -> Expression:
        """A column of the candidate row, with or without its variable."""
        column = self.expressions.column(type_)
        prefix = self.random.choice(["", f"{self.variable}."])
        return on_current(column, prefix)

    def on_the_row(self) -> Expression:
        """A condition on the candidate row, or on one a fixed distance away: easily satisfied."""
        random = self.random
        type_ = random.choice([*NUMBERS, *NUMBERS, Type.TEXT])
        value = self.own(type_)
        if random.random() < 0.3:
            word = random.choice(["IS NOT NULL", "IS NOT NULL", "IS NULL"])
            return Expression(
                f"{value.text} {word}",
                Type.TRUTH,
                lambda seen: (value.value(seen) is None) is (word == "IS NULL"),
            )
        operator = random.choice(COMPARISONS)
        right = self.constant(type_) if random.random() < 0.7 else self.beside(type_)
        return Expression(
            f"{value.text} {operator} {right.text}",
            Type.TRUTH,
            lambda seen: compare(operator, value.value(seen), right.value(seen)),
        )

    def beside(self, type_: Type) -> Expression:
        """PREV or NEXT of a column, from the candidate row."""
        column = self.expressions.column(type_)
        name, distance = self.random.choice(["PREV", "NEXT"]), self.random.choice([1, 1, 2])
        step = -distance if name == "PREV" else distance

        def value(seen: Seen) -> Value:
            row = seen.start + seen.running - 1 + step
            return column.value(seen, row) if 0 <= row < len(seen.rows) else None

        text = column.text.replace("{v}", self.random.choice(["", f"{self.variable}."]))
        return Expression(f"{name}({text}, {distance})", type_, value)

    def by_classifier(self) -> Expression:
        """A condition that only the variable of some row decides."""
        random = self.random
        here = self.expressions.navigation(None, measure=False, all_rows=False)
        wanted = random.sample(self.expressions.primary, min(2, len(self.expressions.primary)))
        if random.random() < 0.3:
            return Expression(
                f"{here.text} IS NULL", Type.TRUTH, lambda seen: here.value(seen) is None
            )
        texts = ", ".join(literal(name) for name in wanted)
        return Expression(
            f"{here.text} IN ({texts})",
            Type.TRUTH,
            lambda seen: disjunction([compare("=", here.value(seen), name) for name in wanted]),
        )

    def of_one_row(self) -> Expression:
        """A function of one row of the run, which need not be NULL where there is no row."""
        place = self.expressions.navigation(
            self.expressions.column(Type.INTEGER), measure=False, all_rows=False
        )
        operator = self.random.choice(COMPARISONS)

        def truth(seen: Seen) -> Value:
            found = place.value(seen)
            return compare(operator, 2 if found is None else found, 1)

        return Expression(f"coalesce({place.text}, 2) {operator} 1", Type.TRUTH, truth)

    def flag(self) -> Expression:
        """A boolean column, by itself."""
        return self.operand(Type.TRUTH)


def on_current(column: RowExpression, prefix: str) -> Expression:
    """A column of the current row of DEFINE."""
    return Expression(
        column.text.replace("{v}", prefix),
        column.type,
        lambda seen: column.value(seen, seen.start + seen.running - 1),
    )


class Measures(Operations):
    """Draws measures. all_rows: they are seen from every row of the match."""

    def __init__(self, expressions: Expressions, *, all_rows: bool) -> None:
        super().__init__(expressions.random)
        self.expressions, self.all_rows = expressions, all_rows

    def measure(self) -> Expression:
        random = self.random
        made = random.choice([*[self.operand] * 3, self.arithmetic, self.filled, self.chosen])
        if made == self.arithmetic:
            return made(random.choice(NUMBERS))
        if made == self.filled:
            return made(random.choice([*NUMBERS, Type.TEXT]))
        if random.random() < 0.1:
            return random.choice([self.comparison, self.absence, self.between])()
        return made(random.choice(list(Type)))

    def operand(self, type_: Type) -> Expression:
        random = self.random
        chance = random.random()
        if type_ is Type.INTEGER and chance < 0.15:
            return Expression("MATCH_NUMBER()", type_, lambda seen: seen.number)
        if type_ is Type.TEXT and chance < 0.15 and self.expressions.limits.lists:
            return self.expressions.listed()
        if type_ is Type.TEXT and chance < 0.5:
            return self.navigation(None)
        if type_ is not Type.TRUTH and chance < 0.55:
            return self.expressions.aggregate(type_, measure=True)
        return self.navigation(self.expressions.navigated(type_))

    def navigation(self, argument: RowExpression | None) -> Expression:
        return self.expressions.navigation(argument, measure=True, all_rows=self.all_rows)

    def filled(self, type_: Type) -> Expression:
        """coalesce(a, b, constant)."""
        parts = [self.operand(type_), self.operand(type_), self.constant(type_)]
        return Expression(
            f"coalesce({', '.join(part.text for part in parts)})",
            type_,
            lambda seen: next((v for p in parts if (v := p.value(seen)) is not None), None),
        )

    def chosen(self, type_: Type) -> Expression:
        """CASE WHEN condition THEN a ELSE b END."""
        condition, one, other = self.comparison(), self.operand(type_), self.operand(type_)

        def value(seen: Seen) -> Value:
            return one.value(seen) if condition.value(seen) is True else other.value(seen)

        text = f"CASE WHEN {condition.text} THEN {one.text} ELSE {other.text} END"
        return Expression(text, type_, value)
