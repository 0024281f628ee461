"""Lengths of windows given as Python values: their meaning, and their SQL."""

from __future__ import annotations

from decimal import Decimal

import pytest

from matchrec.errors import MatchRecognizePlanError, MatchRecognizeUnsupportedError
from matchrec.errors.lengths import WITHIN_CALL, LengthLocation, LengthSource
from matchrec.errors.surface import GATEWAY, use_surface
from matchrec.syntax.durations import read_positive_duration


@pytest.mark.parametrize(
    ("value", "sql"),
    [
        (Decimal("12345678901234567.5"), "12345678901234567.5"),
        ("12345678901234567.5", "12345678901234567.5"),
        (Decimal("500.00"), "500"),
        (2**63 - 1, "9223372036854775807"),
        (0.1, "0.1"),
        (1e-05, "0.00001"),
        (2.5, "2.5"),
        (1e-300, "1e-300"),  # no DECIMAL has as many digits
    ],
)
def test_a_number_is_written_as_it_was_passed(value: object, sql: str) -> None:
    assert read_positive_duration(value, WITHIN_CALL).sql == sql


@pytest.mark.parametrize(
    "text",
    [
        "10 minutes",
        "INTERVAL '10' MINUTES",
        "'10 minutes'",
        "INTERVAL '8 minutes' ",
        "'5' minutes 5 minutes",
    ],
)
def test_an_interval_may_have_quotes(text: str) -> None:
    expected = "8" if "8" in text else "10"
    assert read_positive_duration(text, WITHIN_CALL).sql == f"INTERVAL {expected} MINUTE"


@pytest.mark.parametrize(
    "text", ["'10 minutes", "10' minutes", "INTERVAL '10 minutes", "'10 minutes' '"]
)
def test_a_quote_must_be_closed(text: str) -> None:
    with pytest.raises(MatchRecognizePlanError, match="needs a length of time"):
        read_positive_duration(text, WITHIN_CALL)


def test_a_length_that_no_interval_has() -> None:
    with pytest.raises(MatchRecognizeUnsupportedError) as caught:
        read_positive_duration(10**30, WITHIN_CALL)
    assert str(caught.value).startswith("the length 1000000000000000000000000000000 of within() is")
    with pytest.raises(MatchRecognizeUnsupportedError, match="the length '200000000 days'"):
        read_positive_duration("200000000 days", WITHIN_CALL)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("10 minutes", "10 minutes"),
        ("60 minutes", "1 hour"),
        ("11 days", "11 days"),
        (1, "1"),
        (500, "500"),
    ],
)
def test_messages_show_a_duration_in_plain_english(value: object, shown: str) -> None:
    assert str(read_positive_duration(value, WITHIN_CALL)) == shown


@pytest.mark.parametrize("parameter", [":gap", "?"])
def test_a_client_of_the_gateway_gets_no_advice_in_python(parameter: str) -> None:
    location = LengthLocation(LengthSource.PARAMETER, f"{parameter} in WITHIN", parameter)
    with use_surface(GATEWAY), pytest.raises(MatchRecognizePlanError) as caught:
        read_positive_duration("soon", location)
    assert caught.value.message == f"{parameter} in WITHIN needs a length of time, not 'soon'"
    assert caught.value.hint == f"bind an interval to {parameter}, such as INTERVAL '10' MINUTE"
