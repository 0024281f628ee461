"""Random expressions for DEFINE and MEASURES: the SQL text, and what it is worth, side by side.

The worth is plain Python after `semantics.md` section 5, and shares nothing with matchrec. The text
is the same in Spark's SQL and in Trino's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from random import Random

from tests.references.sql_values import Value, aggregate, calculate, different, literal

Row = dict[str, Value]


class Type(Enum):
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
class Seen:
    """What an expression sees of one match. variables: of the rows from `start` on.

    running: how many of those rows come before the current one, itself included.
    """

    rows: Sequence[Row]
    start: int
    variables: tuple[str, ...]
    running: int
    number: int
    members: dict[str, frozenset[str]]

    def mapped(self, variable: str | None, *, final: bool) -> list[int]:
        """Row positions mapped to a variable; None is the universal one."""
        seen = self.variables if final else self.variables[: self.running]
        return [
            self.start + place
            for place, name in enumerate(seen)
            if variable is None or name in self.members[variable]
        ]

    def classifier(self, row: int) -> str | None:
        place = row - self.start
        return self.variables[place] if 0 <= place < len(self.variables) else None


@dataclass(frozen=True)
class RowExpression:
    """An expression over one row. `{v}` in the text stands before every column."""

    text: str
    type: Type
    value: Callable[[Seen, int], Value]


@dataclass(frozen=True)
class Expression:
    """An expression over a match."""

    text: str
    type: Type
    value: Callable[[Seen], Value]


@dataclass(frozen=True)
class Place:
    """Which row a navigation reads: a logical step, then a physical one."""

    variable: str | None
    end: str = "LAST"
    offset: int = 0
    step: int = 0
    final: bool = False

    def row(self, seen: Seen) -> int | None:
        """Its position, None where there is no such row."""
        rows = seen.mapped(self.variable, final=self.final)
        if self.offset >= len(rows):
            return None
        row = rows[self.offset if self.end == "FIRST" else -1 - self.offset] + self.step
        return row if 0 <= row < len(seen.rows) else None


@dataclass(frozen=True)
class Limits:
    """What a run of random expressions leaves out because Trino differs.

    docs/how-to/migration/trino.md says why.

    running_first: FIRST with running semantics may find a row after the current one.
    final_classifier: FINAL CLASSIFIER() may be written. filled_navigation: navigation may hold an
    expression that is not NULL where its columns are. distinct: DISTINCT in aggregates. within:
    WITHIN. lists: aggregates that are lists, which Spark computes.
    """

    running_first: bool = True
    final_classifier: bool = True
    filled_navigation: bool = True
    distinct: bool = True
    within: bool = True
    lists: bool = True


class Expressions:
    """Draws expressions over some pattern variables."""

    def __init__(
        self, random: Random, primary: Sequence[str], unions: Sequence[str], limits: Limits
    ) -> None:
        self.random, self.limits = random, limits
        self.primary = list(primary)
        self.names: list[str | None] = [None, *primary, *unions]

    # -- over one row

    def column(self, type_: Type) -> RowExpression:
        name = next(name for name, kind in COLUMNS.items() if kind is type_)
        return RowExpression("{v}" + name, type_, lambda seen, row: seen.rows[row][name])

    def row_expression(self, type_: Type, *, filled: bool = True) -> RowExpression:
        """Mostly a column; else a function of it, some of which are not NULL for NULL."""
        inner = self.column(type_)
        functions = [self.filled] if filled else []
        if type_ in NUMBERS:
            functions += [self.doubled, self.absolute]
        elif type_ is Type.TEXT:
            functions += [self.upper]
        else:
            return inner
        return inner if self.random.random() < 0.7 else self.random.choice(functions)(inner)

    def navigated(self, type_: Type) -> RowExpression:
        """What navigation may hold."""
        return self.row_expression(type_, filled=self.limits.filled_navigation)

    def filled(self, inner: RowExpression) -> RowExpression:
        filler: Value = {Type.INTEGER: 2, Type.FLOATING: 0.5, Type.TEXT: "b"}[inner.type]

        def value(seen: Seen, row: int) -> Value:
            found = inner.value(seen, row)
            return filler if found is None else found

        return RowExpression(f"coalesce({inner.text}, {literal(filler)})", inner.type, value)

    def doubled(self, inner: RowExpression) -> RowExpression:
        def value(seen: Seen, row: int) -> Value:
            found = inner.value(seen, row)
            return calculate("*", found, 2)

        return RowExpression(f"{inner.text} * 2", inner.type, value)

    def absolute(self, inner: RowExpression) -> RowExpression:
        def value(seen: Seen, row: int) -> Value:
            found = calculate("-", inner.value(seen, row), 2)
            return None if found is None else abs(found)

        return RowExpression(f"abs({inner.text} - 2)", inner.type, value)

    def upper(self, inner: RowExpression) -> RowExpression:
        def value(seen: Seen, row: int) -> Value:
            found = inner.value(seen, row)
            return found.upper() if isinstance(found, str) else None

        return RowExpression(f"upper({inner.text})", inner.type, value)

    # -- references

    def navigation(
        self, argument: RowExpression | None, *, measure: bool, all_rows: bool
    ) -> Expression:
        """FIRST, LAST, PREV, NEXT of an argument, or none of them; None is CLASSIFIER."""
        random = self.random
        variable = random.choice(self.names)
        shape = random.choice(["bare", "logical", "logical", "physical", "nested"])
        if argument is None:
            read, text = Place(variable), f"CLASSIFIER({variable or ''})"
        else:
            argument = self.column(argument.type) if shape == "bare" else argument
            read, text = Place(variable), prefixed(argument, variable)
        if shape in ("logical", "nested"):
            ahead = all_rows and not self.limits.running_first
            read, text = self.logical(read, text, measure=measure, ahead=ahead)
        elif argument is None and measure and self.limits.final_classifier:
            read, text = self.prefixed_final(read, text, 0.2)
        if shape in ("physical", "nested"):
            read, text = self.physical(read, text)

        def value(seen: Seen) -> Value:
            row = read.row(seen)
            if row is None:
                return None
            return seen.classifier(row) if argument is None else argument.value(seen, row)

        return Expression(text, Type.TEXT if argument is None else argument.type, value)

    def logical(self, read: Place, text: str, *, measure: bool, ahead: bool) -> tuple[Place, str]:
        """FIRST or LAST. ahead: running FIRST must not find a row after the current one."""
        random = self.random
        end, offset = random.choice(["FIRST", "LAST"]), random.choice([0, 0, 1, 2])
        read = replace(read, end=end, offset=offset)
        text = f"{end}({text}{f', {offset}' if offset or random.random() < 0.2 else ''})"
        if not measure:
            return read, text
        finds_later = end == "FIRST" and (offset > 0 or read.variable is not None)
        read, text = self.prefixed_final(read, text, 1 if ahead and finds_later else 0.4)
        return read, text if read.final or random.random() < 0.7 else f"RUNNING {text}"

    def prefixed_final(self, read: Place, text: str, chance: float) -> tuple[Place, str]:
        if self.random.random() < chance:
            return replace(read, final=True), f"FINAL {text}"
        return read, text

    def physical(self, read: Place, text: str) -> tuple[Place, str]:
        """PREV or NEXT."""
        name = self.random.choice(["PREV", "NEXT"])
        distance = self.random.choice([None, None, 0, 1, 2])
        step = 1 if distance is None else distance
        written = "" if distance is None else f", {distance}"
        return replace(read, step=-step if name == "PREV" else step), f"{name}({text}{written})"

    def aggregate(self, type_: Type, *, measure: bool) -> Expression:
        """An aggregate of that type."""
        variable = self.random.choice(self.names)
        final = measure and self.random.random() < 0.4
        function = self.random.choice(AGGREGATES.get(type_, ("min", "max")))
        argument = self.aggregated(function, type_, variable, measure=measure)
        text = prefixed(argument, variable) if argument else f"{variable}.*" if variable else "*"
        distinct = measure and argument is not None and self.draws_distinct(function)
        text = f"DISTINCT {text}" if distinct else text

        def value(seen: Seen) -> Value:
            rows = seen.mapped(variable, final=final)
            if argument is None:
                return len(rows)
            values = [argument.value(seen, row) for row in rows]
            return aggregate(function, different(values) if distinct else values)

        return Expression(f"{'FINAL ' if final else ''}{function}({text})", type_, value)

    def listed(self) -> Expression:
        """The texts of some rows of a match in their order, without NULL."""
        variable = self.random.choice(self.names)
        final = self.random.random() < 0.4
        function = self.random.choice(["collect_list", "array_agg"])
        argument = self.aggregated("max", Type.TEXT, variable, measure=True)
        assert argument is not None

        def value(seen: Seen) -> Value:
            rows = seen.mapped(variable, final=final)
            values = (argument.value(seen, row) for row in rows)
            return ",".join(str(one) for one in values if one is not None)

        call = f"{'FINAL ' if final else ''}{function}({prefixed(argument, variable)})"
        return Expression(f"array_join({call}, ',')", Type.TEXT, value)

    def draws_distinct(self, function: str) -> bool:
        chance = 0.15 if self.limits.distinct and function in ("count", "max") else 0
        return self.random.random() < chance

    def aggregated(
        self, function: str, type_: Type, variable: str | None, *, measure: bool
    ) -> RowExpression | None:
        """The argument of an aggregate, None for all rows."""
        random = self.random
        if function == "count":
            wanted = random.choice(list(Type))
            return None if random.random() < 0.4 else self.row_expression(wanted)
        if measure and type_ is Type.TEXT and random.random() < 0.4:
            text = f"CLASSIFIER({variable or ''})"
            return RowExpression(text, type_, lambda seen, row: seen.classifier(row))
        if measure and type_ is Type.INTEGER and variable is None and random.random() < 0.3:
            return RowExpression("MATCH_NUMBER()", type_, number_of)
        return self.row_expression(random.choice(NUMBERS) if function == "avg" else type_)


def prefixed(argument: RowExpression, variable: str | None) -> str:
    """The text of an argument whose columns belong to a variable."""
    return argument.text.replace("{v}", f"{variable}." if variable else "")


def number_of(seen: Seen, _row: int) -> Value:
    return seen.number
