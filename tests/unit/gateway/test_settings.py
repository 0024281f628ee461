"""Statements about the options of a session."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark.sql.connect.proto")

from matchrec.errors import MatchRecognizePlanError
from matchrec.gateway.settings import read_option_statement, read_session_values


@pytest.mark.parametrize("digits", ["0", "²", "1e3", str(2**63), "9" * 5000])
def test_max_steps_is_a_number_of_64_bits(digits: str) -> None:
    with pytest.raises(MatchRecognizePlanError, match=r"whole number from 1 to 9,223,372,036,854,"):
        read_option_statement(f"SET matchrec.max_steps = {digits}")
    with pytest.raises(MatchRecognizePlanError, match=r"whole number from 1 to 9,223,372,036,854,"):
        read_session_values({"max_steps": digits})


def test_max_steps_may_have_zeros_before_it() -> None:
    statement = read_option_statement("SET matchrec.max_steps = '00000000000000000000000000005'")
    assert statement is not None
    session_values = read_session_values({statement.name: statement.value})
    assert (session_values.dialect, session_values.options.max_steps) == ("spark", 5)
