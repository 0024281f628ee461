"""Messages about a name that is not a column of the input."""

from __future__ import annotations

import pytest

from matchrec.errors.language import PATTERN_CALLS, use_language
from matchrec.errors.sql.column_advice import KnownNames
from matchrec.errors.sql.engine_errors import rejected_by_engine
from matchrec.errors.sql.engine_hints import find_type_mismatch_hint
from matchrec.errors.sql.unknown_columns import unknown_column


@pytest.mark.parametrize(
    ("name", "columns", "hint"),
    [
        ("event_type", ["ts", "event type"], "write `event type`"),
        ("prise", ["ts", "price"], "write price"),
        ("s.q", ["ts", "s"], "write s['q'] if it is a map"),
        ("price.A", ["ts", "price"], "write A.price"),
        ("1_000", ["ts"], "write 1000 for a number, `1_000` for a name"),
        ("price", ["_c0", "_c1"], "read the file with the names in its first line: spark.read"),
        ("NaN", ["ts"], "write isnan(x) for a test, CAST('NaN' AS DOUBLE) for the value"),
    ],
)
def test_an_unknown_column_has_a_hint(name: str, columns: list[str], hint: str) -> None:
    error = unknown_column(name, "DEFINE", KnownNames(tuple(columns), ("A", "B"), {}), None)
    assert (error.hint or "").startswith(hint)


@pytest.mark.parametrize(
    ("name", "note", "hint"),
    [
        ("shape.z", "`shape` has the fields: x, centre", "write shape.x or shape.centre"),
        ("SHAPE.center", "`shape` has the fields: x, centre", "write shape.centre"),
        ("t.shape.center", "`shape` has the fields: x, centre", "write t.shape.centre"),
        ("shape.centre.yy", "`shape.centre` has the fields: y", "write shape.centre.y"),
        (
            "tags.a",
            "`tags` is of type map<string,int>, which has keys instead of fields",
            "write tags['a']",
        ),
        (
            "tags.it's",
            "`tags` is of type map<string,int>, which has keys instead of fields",
            r"write tags['it\'s']",
        ),
        ("event info.z", "`event info` has the fields: last day", "write `event info`.`last day`"),
        ("shape.x.z", "`shape.x` is of type int, which has no fields", "write shape.x"),
    ],
)
def test_an_unknown_field_has_the_fields_of_its_column(name: str, note: str, hint: str) -> None:
    types = {
        "shape": "struct<x:int,centre:struct<y:int>>",
        "shape.x": "int",
        "shape.centre": "struct<y:int>",
        "shape.centre.y": "int",
        "tags": "map<string,int>",
        "event info": "struct<`last day`:int>",
        "event info.last day": "int",
    }
    names = KnownNames(("shape", "tags", "event info"), (), {}, types=types)
    error = unknown_column(name, "DEFINE", names, None)
    assert (error.notes, error.hint) == ((note,), hint)


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
def test_parts_of_a_value_without_parts_are_explained(message: str) -> None:
    assert (find_type_mismatch_hint(message) or "").startswith(
        "x[0] and x.y are for arrays, structs and maps"
    )
    error = rejected_by_engine("Sail", "DEFINE", message, None)
    assert error.message == (
        "Sail rejects an expression in DEFINE: a value of type INT has no elements or fields"
    )
    assert error.hint == find_type_mismatch_hint(message)
