"""Draw random DEFINE conditions and measures over the references that `expressions` draws.

DEFINE combines values of several rows of the run only in the ways that
`docs/reference/functions.md` allows: by comparisons, AND, OR, NOT, IS NULL, BETWEEN, IN and
arithmetic. MEASURES also combines them with functions and CASE.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import timedelta
from random import Random

from tests.generators.expressions import (
    NUMBERS,
    Expression,
    Expressions,
    MatchContext,
    RowExpression,
    Type,
)
from tests.references.sql_values import (
    Value,
    calculate,
    compare,
    compute_and,
    compute_not,
    compute_or,
    write_constant,
)

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
CONSTANTS: dict[Type, tuple[Value, ...]] = {
    Type.INTEGER: (0, 1, 2, 3),
    Type.FLOATING: (0.0, 0.5, 1.0, 1.75),
    Type.TEXT: ("a", "b", "c"),
}


class Operations(ABC):
    """A source of random operations. A subclass says what their operands are."""

    def __init__(self, random: Random) -> None:
        self.random = random

    @abstractmethod
    def draw_operand(self, type_: Type) -> Expression:
        """Draw an operand of a type."""

    def draw_constant(self, type_: Type) -> Expression:
        """Draw a constant."""
        value = self.random.choice(CONSTANTS[type_])
        return Expression(write_constant(value), type_, lambda _: value)

    def draw_arithmetic(self, type_: Type) -> Expression:
        """Draw an operation on two numbers. A divisor is a constant other than zero."""
        operator = self.random.choice(["+", "-", "*", "/"] if type_ is Type.FLOATING else "+-*%")
        left = self.draw_operand(type_)
        if operator in "%/":
            divisor: Value = 3 if operator == "%" else 2.0
            right = Expression(write_constant(divisor), type_, lambda _: divisor)
        else:
            right = self.draw_operand(self.random.choice([Type.INTEGER, type_]))
        return Expression(
            f"({left.text} {operator} {right.text})",
            type_,
            lambda context: calculate(operator, left.value(context), right.value(context)),
        )

    def draw_comparison(self) -> Expression:
        """Draw a comparison of two operands, or of an operand and a constant."""
        random = self.random
        type_ = random.choice([*NUMBERS, *NUMBERS, Type.TEXT, Type.TIME])
        left = self.draw_operand(type_)
        others = list(NUMBERS) if type_ in NUMBERS else [type_]
        constant = type_ is not Type.TIME and random.random() < 0.4
        right = self.draw_constant(type_) if constant else self.draw_operand(random.choice(others))
        operator = random.choice(COMPARISONS)
        return Expression(
            f"{left.text} {operator} {right.text}",
            Type.TRUTH,
            lambda context: compare(operator, left.value(context), right.value(context)),
        )

    def draw_between(self) -> Expression:
        """Draw `a [NOT] BETWEEN b AND constant`."""
        type_ = self.random.choice([*NUMBERS, Type.TEXT])
        value = self.draw_operand(type_)
        low = self.draw_operand(type_)
        high = self.draw_constant(type_)
        is_inside = self.random.random() < 0.6

        def truth(context: MatchContext) -> Value:
            """Return whether the value is between the bounds, or is not."""
            both = (
                compare(">=", value.value(context), low.value(context)),
                compare("<=", value.value(context), high.value(context)),
            )
            return compute_and(both) if is_inside else compute_not(compute_and(both))

        word = "BETWEEN" if is_inside else "NOT BETWEEN"
        return Expression(f"{value.text} {word} {low.text} AND {high.text}", Type.TRUTH, truth)

    def draw_membership(self) -> Expression:
        """Draw `a [NOT] IN (constant, b)`."""
        type_ = self.random.choice([Type.INTEGER, Type.TEXT])
        value = self.draw_operand(type_)
        other = self.draw_operand(type_)
        first = self.draw_constant(type_)
        parts = [first, other] if self.random.random() < 0.5 else [first, self.draw_constant(type_)]
        is_inside = self.random.random() < 0.6

        def truth(context: MatchContext) -> Value:
            """Return whether the value is among the others, or is not."""
            left = value.value(context)
            is_member = compute_or([compare("=", left, part.value(context)) for part in parts])
            return is_member if is_inside else compute_not(is_member)

        word = "IN" if is_inside else "NOT IN"
        texts = ", ".join(part.text for part in parts)
        return Expression(f"{value.text} {word} ({texts})", Type.TRUTH, truth)

    def draw_null_test(self) -> Expression:
        """Draw `a IS [NOT] NULL`."""
        value = self.draw_operand(self.random.choice(list(Type)))
        is_null = self.random.random() < 0.6
        word = "IS NULL" if is_null else "IS NOT NULL"
        return Expression(
            f"{value.text} {word}",
            Type.TRUTH,
            lambda context: (value.value(context) is None) is is_null,
        )

    def draw_duration(self) -> Expression:
        """Draw a comparison of the distance between two times with an interval."""
        end = self.draw_operand(Type.TIME)
        begin = self.draw_operand(Type.TIME)
        minutes = self.random.choice([10, 20, 30])
        operator = self.random.choice(COMPARISONS)

        def truth(context: MatchContext) -> Value:
            """Return the comparison of the distance with the interval."""
            left = calculate("-", end.value(context), begin.value(context))
            return compare(operator, left, timedelta(minutes=minutes))

        text = f"{end.text} - {begin.text} {operator} INTERVAL '{minutes}' MINUTE"
        return Expression(text, Type.TRUTH, truth)

    def draw_connective(self, parts: Sequence[Expression]) -> Expression:
        """Draw AND or OR of truth values, or NOT of the first one."""
        word = self.random.choice(["AND", "OR", "OR", "OR", "NOT"])
        if word == "NOT":
            part = parts[0]
            return Expression(
                f"NOT ({part.text})",
                Type.TRUTH,
                lambda context: compute_not(find_truth(part, context)),
            )
        join = compute_and if word == "AND" else compute_or
        return Expression(
            "(" + f" {word} ".join(part.text for part in parts) + ")",
            Type.TRUTH,
            lambda context: join([find_truth(part, context) for part in parts]),
        )


def find_truth(expression: Expression, context: MatchContext) -> bool | None:
    """Return the value of a condition; None is NULL."""
    value = expression.value(context)
    assert value is None or isinstance(value, bool)
    return value


class Conditions(Operations):
    """A source of random conditions of one variable."""

    def __init__(self, expressions: Expressions, variable: str) -> None:
        super().__init__(expressions.random)
        self.expressions = expressions
        self.variable = variable

    def draw_condition(self, depth: int = 2) -> Expression:
        """Draw a condition, in which AND, OR and NOT are nested at most `depth` times."""
        random = self.random
        if depth and random.random() < 0.45:
            return self.draw_connective(
                [self.draw_condition(depth - 1) for _ in range(random.randint(2, 3))]
            )
        atoms = [
            *[self.draw_row_condition] * 6,
            *[self.draw_comparison] * 4,
            self.draw_between,
            self.draw_membership,
        ]
        atoms += [
            self.draw_null_test,
            self.draw_duration,
            self.draw_classifier_test,
            self.draw_function_of_one_row,
            self.draw_flag,
        ]
        return random.choice(atoms)()

    def draw_operand(self, type_: Type) -> Expression:
        """Draw a value of the candidate row, or one that depends on the run."""
        random = self.random
        chance = random.random()
        if chance < 0.2:
            return self.draw_own_column(type_)
        if chance < 0.25 and type_ is Type.INTEGER:
            return Expression("MATCH_NUMBER()", type_, lambda context: context.number)
        if chance < 0.35 and type_ in NUMBERS:
            return self.draw_arithmetic(type_)
        if chance < 0.55 and type_ is not Type.TRUTH:
            return self.expressions.draw_aggregate(type_, measure=False)
        argument = self.expressions.draw_navigated(type_)
        return self.expressions.draw_navigation(argument, measure=False, all_rows=False)

    def draw_own_column(self, type_: Type) -> Expression:
        """Draw a column of the candidate row, with or without its variable."""
        column = self.expressions.make_column(type_)
        prefix = self.random.choice(["", f"{self.variable}."])
        return read_current_row(column, prefix)

    def draw_row_condition(self) -> Expression:
        """Draw an easily satisfied condition on the candidate row and perhaps a row near it."""
        random = self.random
        type_ = random.choice([*NUMBERS, *NUMBERS, Type.TEXT])
        value = self.draw_own_column(type_)
        if random.random() < 0.3:
            word = random.choice(["IS NOT NULL", "IS NOT NULL", "IS NULL"])
            return Expression(
                f"{value.text} {word}",
                Type.TRUTH,
                lambda context: (value.value(context) is None) is (word == "IS NULL"),
            )
        operator = random.choice(COMPARISONS)
        right = self.draw_constant(type_) if random.random() < 0.7 else self.draw_neighbour(type_)
        return Expression(
            f"{value.text} {operator} {right.text}",
            Type.TRUTH,
            lambda context: compare(operator, value.value(context), right.value(context)),
        )

    def draw_neighbour(self, type_: Type) -> Expression:
        """Draw PREV or NEXT of a column, from the candidate row."""
        column = self.expressions.make_column(type_)
        name = self.random.choice(["PREV", "NEXT"])
        distance = self.random.choice([1, 1, 2])
        step = -distance if name == "PREV" else distance

        def value(context: MatchContext) -> Value:
            """Return the value of the neighbour; NULL beyond the partition."""
            row = context.start + context.running - 1 + step
            return column.value(context, row) if 0 <= row < len(context.rows) else None

        text = column.text.replace("{v}", self.random.choice(["", f"{self.variable}."]))
        return Expression(f"{name}({text}, {distance})", type_, value)

    def draw_classifier_test(self) -> Expression:
        """Draw a condition on CLASSIFIER(), which reads only the variable of a row."""
        random = self.random
        classifier = self.expressions.draw_navigation(None, measure=False, all_rows=False)
        names = random.sample(self.expressions.primary, min(2, len(self.expressions.primary)))
        if random.random() < 0.3:
            return Expression(
                f"{classifier.text} IS NULL",
                Type.TRUTH,
                lambda context: classifier.value(context) is None,
            )
        texts = ", ".join(write_constant(name) for name in names)
        return Expression(
            f"{classifier.text} IN ({texts})",
            Type.TRUTH,
            lambda context: compute_or(
                [compare("=", classifier.value(context), name) for name in names]
            ),
        )

    def draw_function_of_one_row(self) -> Expression:
        """Draw a function of one row of the run that is not NULL even if there is no such row."""
        navigation = self.expressions.draw_navigation(
            self.expressions.make_column(Type.INTEGER), measure=False, all_rows=False
        )
        operator = self.random.choice(COMPARISONS)

        def truth(context: MatchContext) -> Value:
            """Return the comparison with the value, or with 2 if it is NULL."""
            value = navigation.value(context)
            return compare(operator, 2 if value is None else value, 1)

        return Expression(f"coalesce({navigation.text}, 2) {operator} 1", Type.TRUTH, truth)

    def draw_flag(self) -> Expression:
        """Draw a boolean column as a condition."""
        return self.draw_operand(Type.TRUTH)


def read_current_row(column: RowExpression, prefix: str) -> Expression:
    """Return a column of the candidate row of DEFINE."""
    return Expression(
        column.text.replace("{v}", prefix),
        column.type,
        lambda context: column.value(context, context.start + context.running - 1),
    )


class Measures(Operations):
    """A source of random measures."""

    def __init__(self, expressions: Expressions, *, all_rows: bool) -> None:
        """Create a source.

        Args:
            all_rows: whether measures are computed for every row of the match, with running
                semantics.
        """
        super().__init__(expressions.random)
        self.expressions = expressions
        self.all_rows = all_rows

    def draw_measure(self) -> Expression:
        """Draw a measure."""
        random = self.random
        draw = random.choice(
            [
                *[self.draw_operand] * 3,
                self.draw_arithmetic,
                self.draw_coalesce,
                self.draw_case_when,
            ]
        )
        if draw == self.draw_arithmetic:
            return draw(random.choice(NUMBERS))
        if draw == self.draw_coalesce:
            return draw(random.choice([*NUMBERS, Type.TEXT]))
        if random.random() < 0.1:
            return random.choice([self.draw_comparison, self.draw_null_test, self.draw_between])()
        return draw(random.choice(list(Type)))

    def draw_operand(self, type_: Type) -> Expression:
        """Draw a navigation, an aggregate, CLASSIFIER() or MATCH_NUMBER()."""
        random = self.random
        chance = random.random()
        if type_ is Type.INTEGER and chance < 0.15:
            return Expression("MATCH_NUMBER()", type_, lambda context: context.number)
        if type_ is Type.TEXT and chance < 0.15 and self.expressions.limits.lists:
            return self.expressions.draw_list()
        if type_ is Type.TEXT and chance < 0.5:
            return self.draw_navigation(None)
        if type_ is not Type.TRUTH and chance < 0.55:
            return self.expressions.draw_aggregate(type_, measure=True)
        return self.draw_navigation(self.expressions.draw_navigated(type_))

    def draw_navigation(self, argument: RowExpression | None) -> Expression:
        """Draw a navigation to a row; without an argument it returns CLASSIFIER()."""
        return self.expressions.draw_navigation(argument, measure=True, all_rows=self.all_rows)

    def draw_coalesce(self, type_: Type) -> Expression:
        """Draw `coalesce(a, b, constant)`."""
        parts = [self.draw_operand(type_), self.draw_operand(type_), self.draw_constant(type_)]
        return Expression(
            f"coalesce({', '.join(part.text for part in parts)})",
            type_,
            lambda context: find_first_not_null(part.value(context) for part in parts),
        )

    def draw_case_when(self, type_: Type) -> Expression:
        """Draw `CASE WHEN condition THEN a ELSE b END`."""
        condition = self.draw_comparison()
        then = self.draw_operand(type_)
        otherwise = self.draw_operand(type_)

        def value(context: MatchContext) -> Value:
            """Return the value of the branch that the condition chooses."""
            return (
                then.value(context)
                if condition.value(context) is True
                else otherwise.value(context)
            )

        text = f"CASE WHEN {condition.text} THEN {then.text} ELSE {otherwise.text} END"
        return Expression(text, type_, value)


def find_first_not_null(values: Iterable[Value]) -> Value:
    """Return the first value that is not NULL; NULL if there is none."""
    return next((value for value in values if value is not None), None)
