"""Plans that cannot run over a stream of rows."""

from __future__ import annotations

import pytest

from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.spark.streaming.stream_checks import check_plan
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.lower import lower_clause

CLAUSE = "ORDER BY ts PATTERN (A B) {} WITHIN 5 BETWEEN ROWS DEFINE B AS x > 1"


def test_windows_between_rows_need_event_selection() -> None:
    with pytest.raises(
        MatchRecognizeUnsupportedError, match="WITHIN BETWEEN ROWS without event selection is not"
    ):
        check_plan(lower_clause(parse_clause(CLAUSE.format(""))))
    skipping = CLAUSE.format("SKIP TILL NEXT MATCH ALL MATCHES")
    check_plan(lower_clause(parse_clause(skipping)))  # there, they are conditions
