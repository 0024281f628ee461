"""Messages of SASE+ queries that need the DataFrame, whole, with the caret in the user's own text.

Those that the text alone shows are in tests/unit/patterns/sase/errors.txt; the situations that
users meet most are here again, to show that they come through `matchrec.match_sase` unchanged.
sase_errors.txt: query and message; lines `name: value` before PATTERN are arguments of
`match_sase`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from tests.quick.scale import some_of
from tests.unit import golden_text

HERE = Path(__file__).parent
OPTION_NAMES = {"algorithm", "sort", "transport"}
SCHEMA = """ts int, day date, at timestamp, event_type string, name string, x int, y double,
    tags map<string, int>, place struct<city: string>"""


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([], SCHEMA)


def read_message(events: DataFrame, given: str) -> str:
    """Return the message of a query with its arguments before it."""
    before, pattern, behind = given.partition("PATTERN")
    arguments: dict[str, Any] = {"order_by": "ts"}
    for line in before.splitlines():
        name, _, value = line.partition(": ")
        arguments[name] = value if value else ()
    options = {name: arguments.pop(name) for name in OPTION_NAMES & arguments.keys()}
    try:
        arguments["options"] = matchrec.Options(**options)
        matchrec.match_sase(events, pattern + behind, **arguments)
    except matchrec.MatchRecognizeError as error:
        return str(error)
    return "no error"


def test_messages(events: DataFrame, request: pytest.FixtureRequest) -> None:
    update = bool(request.config.getoption("--update", default=False))
    golden_text.check(
        HERE / "sase_errors.txt", lambda given: read_message(events, given), update, some_of
    )
