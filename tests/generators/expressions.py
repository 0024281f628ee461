"""Draw random expressions for DEFINE and MEASURES: their SQL, and a Python function.

The function computes the value of the SQL as docs/reference/expressions.md defines it, without
matchrec. The SQL is the same in Spark and in Trino.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from random import Random

from tests.references.sql_values import Value, aggregate, calculate, drop_repeated, write_constant

Row = dict[str, Value]


class Type(Enum):
    """The type of an expression, as SQL calls it."""

    INTEGER = "int"
    FLOATING = "double"
    TEXT = "string"
    TIME = "timestamp"
    TRUTH = "boolean"


AGGREGATES = {
    Type.INTEGER: ("count", "count", "sum", "min", "max"),
    Type.FLOATING: ("sum", "avg", "min", "max"),
}
NUMBERS = (Type.INTEGER, Type.FLOATING)
COLUMNS = {"x": Type.INTEGER, "y": Type.FLOATING, "s": Type.TEXT, "t": Type.TIME, "b": Type.TRUTH}


@dataclass(frozen=True)
class MatchContext:
    """What an expression can read: a match, or a run and its candidate row."""

    rows: Sequence[Row]  # of the partition
    start: int  # the starting row
    variables: tuple[str, ...]  # of the rows from the starting row on
    running: int  # number of these rows up to the current one, which is included
    number: int  # of the match
    primary_variables: dict[
        str, frozenset[str]
    ]  # for each variable, the primary ones it stands for

    def list_mapped_rows(self, variable: str | None, *, final: bool) -> list[int]:
        """Return the rows mapped to a variable, or all of them for None.

        Args:
            final: whether rows after the current one count.
        """
        variables = self.variables if final else self.variables[: self.running]
        return [
            self.start + index
            for index, name in enumerate(variables)
            if variable is None or name in self.primary_variables[variable]
        ]

    def find_variable(self, row: int) -> str | None:
        """Return the variable of a row; None if it is not a row of the match."""
        index = row - self.start
        return self.variables[index] if 0 <= index < len(self.variables) else None


@dataclass(frozen=True)
class RowExpression:
    """An expression over one row. Its text has `{v}` before every column, for a variable."""

    text: str
    type: Type
    value: Callable[[MatchContext, int], Value]


@dataclass(frozen=True)
class Expression:
    """An expression over a match."""

    text: str
    type: Type
    value: Callable[[MatchContext], Value]


@dataclass(frozen=True)
class RowNavigation:
    """A navigation to a row: FIRST or LAST, then PREV or NEXT."""

    variable: str | None
    end: str = "LAST"  # or FIRST
    offset: int = 0  # of FIRST or LAST
    step: int = 0  # of NEXT; negative for PREV
    final: bool = False

    def find_row(self, context: MatchContext) -> int | None:
        """Return the row that it finds; None if there is no such row."""
        rows = context.list_mapped_rows(self.variable, final=self.final)
        if self.offset >= len(rows):
            return None
        row = rows[self.offset if self.end == "FIRST" else -1 - self.offset] + self.step
        return row if 0 <= row < len(context.rows) else None


@dataclass(frozen=True)
class Limits:
    """Which constructs random expressions may have.

    Some are left out if queries also run on Trino: docs/how-to/migration/trino.md says why.
    """

    running_first: bool = True  # FIRST with running semantics may find a row after the current one
    final_classifier: bool = True  # FINAL CLASSIFIER()
    filled_navigation: bool = True  # navigation to an expression that turns NULL into a value
    distinct: bool = True  # DISTINCT in aggregates
    within: bool = True  # WITHIN
    lists: bool = True  # aggregates that return arrays, which Spark computes


class Expressions:
    """A source of random expressions over some pattern variables."""

    def __init__(
        self, random: Random, primary: Sequence[str], unions: Sequence[str], limits: Limits
    ) -> None:
        self.random = random
        self.limits = limits
        self.primary = list(primary)
        self.names: list[str | None] = [None, *primary, *unions]

    # Expressions over one row

    def make_column(self, type_: Type) -> RowExpression:
        """Return the column of a type."""
        name = next(name for name, kind in COLUMNS.items() if kind is type_)
        return RowExpression("{v}" + name, type_, lambda context, row: context.rows[row][name])

    def draw_row_expression(self, type_: Type, *, filled: bool = True) -> RowExpression:
        """Draw a column, or less often a function of it.

        Args:
            filled: whether the function may turn NULL into a value.
        """
        inner = self.make_column(type_)
        functions = [self.make_coalesce] if filled else []
        if type_ in NUMBERS:
            functions += [self.make_double, self.make_absolute]
        elif type_ is Type.TEXT:
            functions += [self.make_upper]
        else:
            return inner
        return inner if self.random.random() < 0.7 else self.random.choice(functions)(inner)

    def draw_navigated(self, type_: Type) -> RowExpression:
        """Draw an expression to which a navigation can be applied."""
        return self.draw_row_expression(type_, filled=self.limits.filled_navigation)

    def make_coalesce(self, inner: RowExpression) -> RowExpression:
        """Return `coalesce(inner, constant)`."""
        filler: Value = {Type.INTEGER: 2, Type.FLOATING: 0.5, Type.TEXT: "b"}[inner.type]

        def value(context: MatchContext, row: int) -> Value:
            """Return the inner value, or the constant if it is NULL."""
            inner_value = inner.value(context, row)
            return filler if inner_value is None else inner_value

        return RowExpression(f"coalesce({inner.text}, {write_constant(filler)})", inner.type, value)

    def make_double(self, inner: RowExpression) -> RowExpression:
        """Return `inner * 2`."""

        def value(context: MatchContext, row: int) -> Value:
            """Return twice the inner value."""
            return calculate("*", inner.value(context, row), 2)

        return RowExpression(f"{inner.text} * 2", inner.type, value)

    def make_absolute(self, inner: RowExpression) -> RowExpression:
        """Return `abs(inner - 2)`."""

        def value(context: MatchContext, row: int) -> Value:
            """Return the distance of the inner value from 2."""
            difference = calculate("-", inner.value(context, row), 2)
            return None if difference is None else abs(difference)

        return RowExpression(f"abs({inner.text} - 2)", inner.type, value)

    def make_upper(self, inner: RowExpression) -> RowExpression:
        """Return `upper(inner)`."""

        def value(context: MatchContext, row: int) -> Value:
            """Return the inner text in upper case."""
            text = inner.value(context, row)
            return text.upper() if isinstance(text, str) else None

        return RowExpression(f"upper({inner.text})", inner.type, value)

    # References

    def draw_navigation(
        self, argument: RowExpression | None, *, measure: bool, all_rows: bool
    ) -> Expression:
        """Draw a navigation: none, FIRST or LAST, PREV or NEXT, or PREV or NEXT of FIRST or LAST.

        Args:
            argument: the expression over the row that is found; None for CLASSIFIER().
            measure: whether the navigation is for MEASURES, in which FINAL is allowed.
            all_rows: whether the navigation is computed for every row of the match.
        """
        random = self.random
        variable = random.choice(self.names)
        shape = random.choice(["bare", "logical", "logical", "physical", "nested"])
        target = RowNavigation(variable)
        if argument is None:
            text = f"CLASSIFIER({variable or ''})"
        else:
            argument = self.make_column(argument.type) if shape == "bare" else argument
            text = add_variable(argument, variable)
        if shape in ("logical", "nested"):
            ahead = all_rows and not self.limits.running_first
            target, text = self.add_first_or_last(target, text, measure=measure, ahead=ahead)
        elif argument is None and measure and self.limits.final_classifier:
            target, text = self.add_final(target, text, 0.2)
        if shape in ("physical", "nested"):
            target, text = self.add_prev_or_next(target, text)

        def value(context: MatchContext) -> Value:
            """Return the value on the row that the navigation finds; NULL if there is none."""
            row = target.find_row(context)
            if row is None:
                return None
            return context.find_variable(row) if argument is None else argument.value(context, row)

        return Expression(text, Type.TEXT if argument is None else argument.type, value)

    def add_first_or_last(
        self, target: RowNavigation, text: str, *, measure: bool, ahead: bool
    ) -> tuple[RowNavigation, str]:
        """Add FIRST or LAST to a navigation and its text.

        Args:
            ahead: whether running FIRST must be avoided if it could find a row after the current
                one.
        """
        random = self.random
        end = random.choice(["FIRST", "LAST"])
        offset = random.choice([0, 0, 1, 2])
        target = replace(target, end=end, offset=offset)
        text = f"{end}({text}{f', {offset}' if offset or random.random() < 0.2 else ''})"
        if not measure:
            return target, text
        finds_later = end == "FIRST" and (offset > 0 or target.variable is not None)
        target, text = self.add_final(target, text, 1 if ahead and finds_later else 0.4)
        return target, text if target.final or random.random() < 0.7 else f"RUNNING {text}"

    def add_final(
        self, target: RowNavigation, text: str, chance: float
    ) -> tuple[RowNavigation, str]:
        """Add FINAL with some probability."""
        if self.random.random() < chance:
            return replace(target, final=True), f"FINAL {text}"
        return target, text

    def add_prev_or_next(self, target: RowNavigation, text: str) -> tuple[RowNavigation, str]:
        """Add PREV or NEXT to a navigation and its text."""
        name = self.random.choice(["PREV", "NEXT"])
        distance = self.random.choice([None, None, 0, 1, 2])
        step = 1 if distance is None else distance
        written = "" if distance is None else f", {distance}"
        return replace(target, step=-step if name == "PREV" else step), f"{name}({text}{written})"

    def draw_aggregate(self, type_: Type, *, measure: bool) -> Expression:
        """Draw an aggregate of a type."""
        variable = self.random.choice(self.names)
        final = measure and self.random.random() < 0.4
        function = self.random.choice(AGGREGATES.get(type_, ("min", "max")))
        argument = self.draw_argument(function, type_, variable, measure=measure)
        text = (
            add_variable(argument, variable) if argument else f"{variable}.*" if variable else "*"
        )
        distinct = measure and argument is not None and self.draw_distinct(function)
        text = f"DISTINCT {text}" if distinct else text

        def value(context: MatchContext) -> Value:
            """Return the aggregate over the rows of the variable."""
            rows = context.list_mapped_rows(variable, final=final)
            if argument is None:
                return len(rows)
            values = [argument.value(context, row) for row in rows]
            return aggregate(function, drop_repeated(values) if distinct else values)

        return Expression(f"{'FINAL ' if final else ''}{function}({text})", type_, value)

    def draw_list(self) -> Expression:
        """Draw an array of the texts of some rows, in their order and without NULL, as one text."""
        variable = self.random.choice(self.names)
        final = self.random.random() < 0.4
        function = self.random.choice(["collect_list", "array_agg"])
        argument = self.draw_argument("max", Type.TEXT, variable, measure=True)
        assert argument is not None

        def value(context: MatchContext) -> Value:
            """Return the texts of the rows of the variable, joined by commas."""
            rows = context.list_mapped_rows(variable, final=final)
            values = (argument.value(context, row) for row in rows)
            return ",".join(str(text) for text in values if text is not None)

        call = f"{'FINAL ' if final else ''}{function}({add_variable(argument, variable)})"
        return Expression(f"array_join({call}, ',')", Type.TEXT, value)

    def draw_distinct(self, function: str) -> bool:
        """Draw whether an aggregate has DISTINCT."""
        chance = 0.15 if self.limits.distinct and function in ("count", "max") else 0
        return self.random.random() < chance

    def draw_argument(
        self, function: str, type_: Type, variable: str | None, *, measure: bool
    ) -> RowExpression | None:
        """Draw the argument of an aggregate; None for `count(*)`."""
        random = self.random
        if function == "count":
            counted_type = random.choice(list(Type))
            return None if random.random() < 0.4 else self.draw_row_expression(counted_type)
        if measure and type_ is Type.TEXT and random.random() < 0.4:
            text = f"CLASSIFIER({variable or ''})"
            return RowExpression(text, type_, lambda context, row: context.find_variable(row))
        if measure and type_ is Type.INTEGER and variable is None and random.random() < 0.3:
            return RowExpression("MATCH_NUMBER()", type_, read_match_number)
        return self.draw_row_expression(random.choice(NUMBERS) if function == "avg" else type_)


def add_variable(argument: RowExpression, variable: str | None) -> str:
    """Return the text of an argument with a variable before its columns."""
    return argument.text.replace("{v}", f"{variable}." if variable else "")


def read_match_number(context: MatchContext, _row: int) -> Value:
    """Return MATCH_NUMBER()."""
    return context.number
