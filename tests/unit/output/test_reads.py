"""Each class of values that measures read can be filled, and has a type of Spark."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

from matchrec.conditions.functions.function import AggregateUse
from matchrec.conditions.run_condition import Reduction
from matchrec.output import reads
from matchrec.output.reads import (
    POINTER_TYPES,
    FixedType,
    PointerField,
    Read,
    ReadAccumulated,
    ReadBasicAggregate,
    ReadChosenValue,
    ReadFact,
)
from matchrec.plan.expression import Semantics
from matchrec.spark.read_types import FIXED_TYPES
from matchrec.worker import gather
from matchrec.worker.gather import FILL_FUNCTIONS


def test_every_class_of_reads_is_filled() -> None:
    classes = {
        read_class
        for _, read_class in inspect.getmembers(reads, inspect.isclass)
        if issubclass(read_class, Read) and read_class not in (Read, ReadFact)
    }
    assert classes == FILL_FUNCTIONS.keys()


@pytest.mark.parametrize("read_class", FILL_FUNCTIONS, ids=lambda read_class: read_class.__name__)
def test_a_class_is_filled_by_a_function_of_its_own(read_class: type[Read]) -> None:
    """The second parameter of the function has the type of the class."""
    fill = FILL_FUNCTIONS[read_class]
    annotation = list(inspect.get_annotations(fill).values())[1]
    assert getattr(gather, annotation) is read_class
    assert [other for other, function in FILL_FUNCTIONS.items() if function is fill] == [read_class]


def test_every_class_of_reads_has_its_own_type() -> None:
    """A class that inherits a type says so by being a fact."""
    for read_class in FILL_FUNCTIONS:
        is_fact = issubclass(read_class, ReadFact)
        assert ("type" in vars(read_class)) is not is_fact
        assert not is_fact or isinstance(read_class.fact_type, FixedType)


def test_every_fixed_type_has_a_type_of_spark() -> None:
    assert FIXED_TYPES.keys() == {*FixedType}
    assert POINTER_TYPES.keys() == {*PointerField}


def test_filling_columns_loads_no_pyspark() -> None:
    text = "import sys, matchrec.worker.gather; print('pyspark' in sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", text], check=True, capture_output=True)
    assert loaded.stdout.decode().strip() == "False"


def test_the_text_of_an_aggregate_has_distinct_filter_and_ignore_nulls() -> None:
    """Two reads with different values must not have the same text in `explain`."""
    columns = ["`x`", "`key`", "`x` > 1"]
    count = ReadAccumulated(
        "count", "A", (0,), Semantics.RUNNING, AggregateUse(types=(), distinct=True), condition=2
    )
    assert count.show(columns) == "RUNNING count(DISTINCT A.`x`) FILTER (WHERE A.`x` > 1)"
    value = ReadChosenValue("max_by", "A", 0, Semantics.FINAL, key=1, condition=2)
    assert value.show(columns) == "FINAL max_by(A.`x`, A.`key`) FILTER (WHERE A.`x` > 1)"
    value = ReadChosenValue("first_value", None, 0, Semantics.FINAL, ignores_nulls=True)
    assert value.show(columns) == "FINAL first_value(`x`) IGNORE NULLS"


def test_the_text_of_an_aggregate_has_its_variable_before_each_column() -> None:
    """Without the variable, a column would be read from all rows of the match."""
    columns = ["abs(`x`) * `y`", "`x` > 1 AND `point`.`x` <> 'the `x`'"]
    count = ReadAccumulated(
        "count", "A", (0,), Semantics.FINAL, AggregateUse(types=(), distinct=True), condition=1
    )
    assert count.show(columns) == (
        "FINAL count(DISTINCT abs(A.`x`) * A.`y`)"
        " FILTER (WHERE A.`x` > 1 AND A.`point`.`x` <> 'the `x`')"
    )
    total = ReadBasicAggregate(Reduction.SUM, "A", 0, Semantics.FINAL)
    assert total.show(columns) == "FINAL sum(abs(A.`x`) * A.`y`)"
    row_count = ReadBasicAggregate(Reduction.COUNT, "A", None, Semantics.FINAL)
    assert row_count.show(columns) == "FINAL count(A.*)"
