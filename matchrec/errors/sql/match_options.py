"""Errors in the options after PATTERN, such as SKIP TILL NEXT MATCH and ALL MATCHES."""

from __future__ import annotations

import re
from collections.abc import Sequence

from matchrec.errors.kinds import MatchRecognizeParseError
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.wording import join_lines, shorten
from matchrec.source import Span

# The options that can follow PATTERN, in their order; a clause has at most one of each group.
_OPTIONS_AFTER_PATTERN = (
    ("STRICT CONTIGUITY", "SKIP TILL NEXT MATCH", "SKIP TILL ANY MATCH"),
    ("ALL MATCHES", "NON-OVERLAPPING MATCHES", "LONGEST MATCH"),
    ("FIRST 10 MATCHES",),
)


def malformed_event_selection(span: Span, *, text: str, before: str) -> MatchRecognizeParseError:
    """Return the error for words after PATTERN that begin an event selection, but do not make one.

    An example is SKIP TILL MATCH.

    Args:
        span: the words in the text of the query.
        text: the words.
        before: the options of PATTERN before the words, such as LONGEST MATCH; "" for none.

    >>> malformed_event_selection(Span(0, 1), text="ALL MATCHES", before="LONGEST MATCH").message
    'ALL MATCHES is not allowed with LONGEST MATCH after PATTERN'
    """
    words = text.upper().split()
    options = [option for group in _OPTIONS_AFTER_PATTERN for option in group]
    headline = f"unknown event selection `{shorten(text)}` after PATTERN"
    note = (
        "the event selections are STRICT CONTIGUITY, SKIP TILL NEXT MATCH and SKIP TILL "
        "ANY MATCH, then ALL MATCHES or NON-OVERLAPPING MATCHES; or LONGEST MATCH; then "
        "FIRST 10 MATCHES"
    )
    repeated = _find_option(text)
    nearest = find_nearest(" ".join(words), options) or _complete_option(words)
    if repeated is not None and before:
        return _option_after_option(span, text=text, before=before)
    if words[0] == "FIRST":
        number = words[1] if len(words) > 1 and words[1].isdecimal() else "10"
        missing = "MATCHES" if number in words else "number"
        headline = f"missing {missing} in {shorten(text)} after PATTERN"
        note = "FIRST n MATCHES limits the matches of each partition"
        hint = f"write FIRST {number} MATCHES"
    elif words[:2] == ["SKIP", "TILL"]:
        hint = f"write SKIP TILL NEXT MATCH or SKIP TILL ANY MATCH instead of {shorten(text)}"
    elif words[0] == "PARTITION":
        hint = f"write PARTITION BY at the start of the clause instead of {shorten(text)}"
    elif nearest is not None:
        note = ""
        hint = f"write {nearest}"
    else:
        hint = f"leave {shorten(text)} out, or write one of these instead"
    return MatchRecognizeParseError(
        headline, span, notes=(note,), hint=hint, code="malformed-event-selection"
    )


def _complete_option(words: Sequence[str]) -> str | None:
    """Return the option after PATTERN whose first word is `words`; None if there is no such option.

    >>> _complete_option(["STRICT"]), _complete_option(["SKIP"])
    ('STRICT CONTIGUITY', None)
    """
    meant = {"ALL": "ALL MATCHES", "LONGEST": "LONGEST MATCH", "STRICT": "STRICT CONTIGUITY"}
    return meant.get(words[0]) if len(words) == 1 else None


def _find_option(text: str) -> tuple[int, str] | None:
    """Return the option after PATTERN with which a text begins, with the index of its group.

    >>> _find_option("first 3 matches"), _find_option("ALL")
    ((2, 'first 3 matches'), None)
    """
    line = join_lines(text)
    for group, options in enumerate(_OPTIONS_AFTER_PATTERN):
        for option in options:
            pattern = option.replace("10", r"\S+").replace("-", " ?- ?")
            written = re.match(rf"(?i){pattern}\b", line)
            if written is not None:
                return group, written[0]
    return None


def _option_after_option(span: Span, *, text: str, before: str) -> MatchRecognizeParseError:
    """Return the error for an option after PATTERN that does not fit the options before it."""
    group, option = _find_option(text) or (0, text)
    written = []  # the options before it, with their groups
    rest = join_lines(before)
    while (found := _find_option(rest)) is not None:
        written.append(found)
        rest = rest[len(found[1]) :].strip()
    excluded = [other for other_group, other in written if other_group == group]
    if excluded:
        headline = f"{option} is not allowed with {excluded[0]} after PATTERN"
        hint = f"remove {option} or {excluded[0]}"
    else:
        headline = f"{option} is not allowed after {written[-1][1] if written else before}"
        in_order = sorted([*written, (group, option)])
        hint = f"write {' '.join(name for _, name in in_order)}"
    return MatchRecognizeParseError(headline, span, hint=hint, code="misplaced-match-option")
