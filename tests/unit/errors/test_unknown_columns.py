"""Messages about a name that is not a column of the input."""

from __future__ import annotations

import pytest

from matchrec.errors.language import PATTERN_CALLS, use_language
from matchrec.errors.sql.engine_errors import find_type_mismatch_hint, rejected_by_engine
from matchrec.errors.sql.unknown_names import KnownNames, unknown_column


@pytest.mark.parametrize(
    ("name", "columns", "hint"),
    [
        ("event_type", ["ts", "event type"], "write `event type`"),
        ("prise", ["ts", "price"], "write price"),
        ("s.q", ["ts", "s"], "write s['q'] if it is a map; printSchema() shows the fields of a "),
        ("price.A", ["ts", "price"], "write A.price"),
        ("1_000", ["ts"], "write 1000 for a number, `1_000` for a name"),
        ("price", ["_c0", "_c1"], "read the file with the names in its first line: spark.read"),
        ("NaN", ["ts"], "write isnan(x) for a test, CAST('NaN' AS DOUBLE) for the value"),
    ],
)
def test_an_unknown_column_has_a_hint(name: str, columns: list[str], hint: str) -> None:
    error = unknown_column(name, "DEFINE", KnownNames(tuple(columns), ("A", "B"), {}), None)
    assert (error.hint or "").startswith(hint)


def test_a_stage_is_no_measure() -> None:
    stages = KnownNames(("ts",), ("b",), {"a": "collect_list(a)"})
    with use_language(PATTERN_CALLS):
        error = unknown_column("a", "DEFINE", stages, None)
    assert error.hint == "write last(a.x) for the event that the stage a has accepted last"


@pytest.mark.parametrize(
    "message",
    [
        "cannot extract value from data type: Int32",
        'Can\'t extract a value from "x". Need a complex type [STRUCT, ARRAY, MAP] but got "INT"',
    ],
)
def test_a_message_about_parts_of_a_value_without_parts(message: str) -> None:
    assert (find_type_mismatch_hint(message) or "").startswith(
        "x[0] and x.y are for arrays, structs and maps"
    )
    error = rejected_by_engine("Sail", "DEFINE", message, None)
    assert error.message == (
        "Sail rejects an expression in DEFINE: a value of type INT has no elements or fields"
    )
    assert error.hint == find_type_mismatch_hint(message)
