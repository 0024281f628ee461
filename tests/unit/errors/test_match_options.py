"""Hints for AFTER MATCH SKIP, the options after PATTERN and the directions of ORDER BY."""

from matchrec.errors.sql.match_options import malformed_event_selection, malformed_skip
from matchrec.errors.sql.sort_directions import find_directions_hint
from matchrec.source import Span

SPAN = Span(0, 1)


def write_skip_hint(text: str) -> str | None:
    """Return the hint for the text after AFTER MATCH SKIP, which is wrong."""
    return malformed_skip(SPAN, text=f"AFTER MATCH SKIP {text}").hint


def test_a_skip_to_a_variable_loses_its_whole_quantifier() -> None:
    assert write_skip_hint("TO A{2,3}") == "write AFTER MATCH SKIP TO A"
    assert write_skip_hint("TO LAST `b c`+") == "write AFTER MATCH SKIP TO LAST `b c`"


def test_rows_in_a_skip_strategy_is_not_a_variable() -> None:
    assert write_skip_hint("PAST LAST ROWS") == "write AFTER MATCH SKIP PAST LAST ROW"
    assert write_skip_hint("TO NEXT ROWS") == "write AFTER MATCH SKIP TO NEXT ROW"


def test_words_after_first_matches_are_not_missing_words() -> None:
    error = malformed_event_selection(SPAN, text="FIRST 3 MATCHES PER PARTITION", before="")
    assert error.message == (
        "unknown event selection `FIRST 3 MATCHES PER PARTITION` after PATTERN"
    )
    assert error.hint == "write FIRST 3 MATCHES"


def test_dsc_is_descending() -> None:
    assert find_directions_hint("ts", "DSC NULL LAST") == "write ts DESC NULLS LAST"
