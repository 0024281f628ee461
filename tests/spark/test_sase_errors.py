"""Messages of SASE+ queries that depend on the DataFrame, with the caret in the user's text.

`tests/unit/patterns/sase/errors.txt` has the messages that depend only on the text. The most
frequent ones are also here, to show that `matchrec.match_sase` passes them on unchanged. Each
record of `sase_errors.txt` is a query and its message; lines `name: value` before PATTERN are
arguments of `match_sase`.
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
    """Return an empty table of events."""
    return spark.createDataFrame([], SCHEMA)


def read_message(events: DataFrame, record: str) -> str:
    """Return the message of a query, which may have arguments before it."""
    argument_lines, pattern, rest_of_query = record.partition("PATTERN")
    arguments: dict[str, Any] = {"order_by": "ts"}
    for line in argument_lines.splitlines():
        name, _, value = line.partition(": ")
        arguments[name] = value if value else ()
    options = {name: arguments.pop(name) for name in OPTION_NAMES & arguments.keys()}
    try:
        arguments["options"] = matchrec.Options(**options)
        matchrec.match_sase(events, pattern + rest_of_query, **arguments)
    except matchrec.MatchRecognizeError as error:
        return str(error)
    return "no error"


def test_wrong_texts_have_the_recorded_messages(
    events: DataFrame, request: pytest.FixtureRequest
) -> None:
    update = bool(request.config.getoption("--update", default=False))
    golden_text.check(
        HERE / "sase_errors.txt", lambda record: read_message(events, record), update, some_of
    )
