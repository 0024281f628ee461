"""Functions that Python computes beside what Spark makes of the same arguments.

A `Case` is a function at types of arguments; a `Table` has rows of arguments of some types, and
asks Spark about all cases over them at once. Without ANSI every row has a value; under ANSI Spark
must fail on just the rows for which Python raises.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from matchrec.conditions.functions import load_functions
from matchrec.conditions.functions.function import FunctionError, FunctionUse, UndecidedError, Value
from matchrec.conditions.types import Family, ValueType
from tests.quick.scale import FULL

MOST_TOLD = 20
ERRORS_ASKED = 2 if FULL else 0  # of each case: every failing query is one of its own

GIVEN: Mapping[Family, str] = {
    Family.DATE: "date_add(DATE'1970-01-01', CAST({} AS INT))",
    Family.TIMESTAMP: "timestamp_micros({})",
    Family.TIMESTAMP_NTZ: "timestampadd(MICROSECOND, {}, TIMESTAMP_NTZ'1970-01-01')",
    Family.INTERVAL: "({} * INTERVAL '0.000001' SECOND)",
    Family.MONTHS: "make_ym_interval(0, CAST({} AS INT))",
}
"""How an argument is made of the number that Python has for it."""

READ: Mapping[Family, str] = {
    Family.DATE: "unix_date({})",
    Family.TIMESTAMP: "unix_micros({})",
    Family.TIMESTAMP_NTZ: "unix_micros(CAST(CAST({} AS STRING) || 'Z' AS TIMESTAMP))",
    Family.MONTHS: "extract(YEAR FROM {0}) * 12 + extract(MONTH FROM {0})",
}
"""How the number that Python has for a result is read."""


@dataclass(frozen=True, slots=True)
class Case:
    """A function, by its name, of the arguments whose places `{0}`, `{1}` stand in the SQL.

    words: see `FunctionUse`.
    """

    name: str
    sql: str
    places: tuple[int, ...]
    words: tuple[str, ...] = ()

    def compute(self, use: FunctionUse) -> Callable[..., Value]:
        """Return what Python computes it with, NULLs and all."""
        function = load_functions()[self.name]
        compute = function.build(use)
        if function.takes_nulls:
            return compute
        return lambda *values: None if None in values else compute(*values)


def call(name: str, *places: int) -> Case:
    """`name({0}, {1})` of those places."""
    arguments = ", ".join(f"{{{place}}}" for place in places)
    return Case(name.upper(), f"{name}({arguments})", places)


@dataclass(frozen=True)
class Table:
    """Rows of arguments of some types."""

    types: tuple[ValueType, ...]
    rows: Sequence[tuple[Value, ...]]

    def check(self, spark: SparkSession, cases: Sequence[Case], zone: str = "UTC") -> None:
        """Python computes what Spark does, with ANSI and without."""
        for case in cases:
            assert load_functions()[case.name].takes_count(len(case.places)), case
        frame = self.frame(spark)
        before = {key: spark.conf.get(key) for key in (ANSI, ZONE)}
        try:
            spark.conf.set(ZONE, zone)
            self.check_types(frame, cases, zone)
            for ansi in (False, True):
                spark.conf.set(ANSI, str(ansi).lower())
                self.check_values(frame, cases, ansi, zone)
        finally:
            for key, value in before.items():
                spark.conf.set(key, value)

    def frame(self, spark: SparkSession) -> DataFrame:
        """Return columns x0, x1, ..., and `n`, the number of the row."""
        schema = ", ".join(f"x{i} {find_column_type(one)}" for i, one in enumerate(self.types))
        rows = [(*row, number) for number, row in enumerate(self.rows)]
        return spark.createDataFrame(rows, f"{schema}, n INT").cache()

    def use(self, case: Case, ansi: bool, zone: str) -> FunctionUse:
        return FunctionUse(
            tuple(self.types[place] for place in case.places), case.words, ansi, zone
        )

    def text(self, case: Case) -> str:
        """Return the case over the columns of the frame."""
        columns = (write_argument(f"x{i}", one) for i, one in enumerate(self.types))
        return case.sql.format(*columns)

    def check_types(self, frame: DataFrame, cases: Sequence[Case], zone: str) -> None:
        texts = [f"{self.text(case)} AS r{i}" for i, case in enumerate(cases)]
        schema = frame.selectExpr(*texts).schema
        for case, column in zip(cases, schema, strict=True):
            type_ = load_functions()[case.name].find_type(self.use(case, True, zone))
            assert type_ is not None, case
            assert type_.name == column.dataType.simpleString(), case

    def check_values(self, frame: DataFrame, cases: Sequence[Case], ansi: bool, zone: str) -> None:
        known = [list(self.answers(case, ansi, zone)) for case in cases]
        texts = []
        for index, (case, answers) in enumerate(zip(cases, known, strict=True)):
            type_ = load_functions()[case.name].find_type(self.use(case, ansi, zone))
            assert type_ is not None
            unsure = [number for number, one in enumerate(answers) if isinstance(one, Failed)]
            failing = [number for number in unsure if answers[number].certain]
            text = READ.get(type_.family, "{}").format(self.text(case))
            if unsure:
                text = f"IF(n IN ({', '.join(map(str, unsure))}), NULL, {text})"
            if failing and ERRORS_ASKED:
                self.check_failures(frame, case, failing[:: -(-len(failing) // ERRORS_ASKED)])
            texts.append(f"{text} AS r{index}")
        differences = []
        for row in frame.selectExpr(*texts, "n").collect():
            for index, case in enumerate(cases):
                expected, ours = convert_value(row[index]), known[index][row["n"]]
                arguments = [self.rows[row["n"]][place] for place in case.places]
                if not isinstance(ours, Failed) and not are_alike(ours, expected):
                    told = f"{case.name} {case.words} of {arguments!r}, ansi {ansi}, {zone}"
                    differences.append(f"{told}: {ours!r}, Spark's is {expected!r}")
        assert not differences, "\n".join(differences[:MOST_TOLD])

    def check_failures(self, frame: DataFrame, case: Case, failing: Sequence[int]) -> None:
        for number in failing:
            arguments = [self.rows[number][place] for place in case.places]
            try:
                found = frame.where(f"n = {number}").selectExpr(self.text(case)).collect()
            except (PySparkException, Py4JJavaError):
                continue
            raise AssertionError(f"{case} of {arguments!r}: an error, Spark's is {found}")

    def answers(self, case: Case, ansi: bool, zone: str) -> Iterator[Value]:
        compute = case.compute(self.use(case, ansi, zone))
        return (answer(compute, [row[place] for place in case.places]) for row in self.rows)


ANSI, ZONE = "spark.sql.ansi.enabled", "spark.sql.session.timeZone"


@dataclass(frozen=True, slots=True)
class Failed:
    """That Python raised, and whether Spark must as well."""

    certain: bool


def answer(compute: Callable[..., Value], arguments: Sequence[Value]) -> Value:
    try:
        return compute(*arguments)
    except (FunctionError, OverflowError) as error:
        return Failed(not isinstance(error, UndecidedError))


def find_column_type(type_: ValueType) -> str:
    """Return the type of the column that brings an argument."""
    return "BIGINT" if type_.family in GIVEN else type_.name


def write_argument(column: str, type_: ValueType) -> str:
    return GIVEN.get(type_.family, "{}").format(column)


def convert_value(value: Value) -> Value:
    """Return a value of Spark as Python computes with it."""
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    if isinstance(value, list):
        return tuple(map(convert_value, value))
    return bytes(value) if isinstance(value, bytearray) else value


def are_alike(one: Value, other: Value) -> bool:
    """Return whether two values and their types are the same, NaN and the sign of zero included."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(are_alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        same = math.copysign(1, one) == math.copysign(1, other)
        return (one == other and same) or (one != one and other != other)
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        return one.as_tuple() == other.as_tuple()
    return type(one) is type(other) and bool(one == other)
