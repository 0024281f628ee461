"""Errors in the options of the clause: output, AFTER MATCH SKIP, and the words after PATTERN."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from matchrec.errors.kinds import MatchRecognizeParseError
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.misspelt_keywords import explain_misspelt_option
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
    option_texts = [option for group in _OPTIONS_AFTER_PATTERN for option in group]
    misspelt = explain_misspelt_option(
        text, span, options=[*option_texts[:-1], "FIRST * MATCHES"], where="MATCH_RECOGNIZE"
    )
    if misspelt is not None:
        return misspelt
    headline = f"unknown event selection `{shorten(text)}` after PATTERN"
    note = (
        "the event selections are STRICT CONTIGUITY, SKIP TILL NEXT MATCH and SKIP TILL "
        "ANY MATCH, then ALL MATCHES or NON-OVERLAPPING MATCHES; or LONGEST MATCH; then "
        "FIRST 10 MATCHES"
    )
    option = _read_option(text)
    if option is not None and before:
        return _option_after_option(span, option=option, before=before)
    nearest = find_nearest(" ".join(words), option_texts) or _complete_option(words)
    if words[0] == "FIRST":
        number = words[1] if len(words) > 1 and words[1].isdecimal() else "10"
        if option is None:
            missing_word = "MATCHES" if number in words else "number"
            headline = f"missing {missing_word} in {shorten(text)} after PATTERN"
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
    options_by_word = {
        "ALL": "ALL MATCHES",
        "LONGEST": "LONGEST MATCH",
        "STRICT": "STRICT CONTIGUITY",
    }
    return options_by_word.get(words[0]) if len(words) == 1 else None


class _WrittenOption(NamedTuple):
    """An option after PATTERN in the user's text. Options sort in the order of their groups."""

    # The index of its group in `_OPTIONS_AFTER_PATTERN`.
    group: int
    # The words of the option, as the user wrote them.
    text: str


def _read_option(text: str) -> _WrittenOption | None:
    """Return the option after PATTERN with which a text begins, or None.

    >>> _read_option("first 3  matches"), _read_option("ALL")
    (_WrittenOption(group=2, text='first 3 matches'), None)
    """
    line = join_lines(text)
    for group, options in enumerate(_OPTIONS_AFTER_PATTERN):
        for option in options:
            pattern = option.replace("10", r"\S+").replace("-", " ?- ?")
            written = re.match(rf"(?i){pattern}\b", line)
            if written is not None:
                return _WrittenOption(group, written[0])
    return None


def _read_options(text: str) -> list[_WrittenOption]:
    """Return the options after PATTERN with which a text begins, in the order of the text."""
    options = []
    unread_text = join_lines(text)
    while (option := _read_option(unread_text)) is not None:
        options.append(option)
        unread_text = unread_text[len(option.text) :].strip()
    return options


def _option_after_option(
    span: Span, *, option: _WrittenOption, before: str
) -> MatchRecognizeParseError:
    """Return the error for an option after PATTERN that does not fit the options before it.

    Args:
        span: the option in the text of the query.
        option: the option.
        before: the text of the options before it.
    """
    earlier_options = _read_options(before)
    same_group = [earlier for earlier in earlier_options if earlier.group == option.group]
    if same_group:
        headline = f"{option.text} is not allowed with {same_group[0].text} after PATTERN"
        hint = f"remove {option.text} or {same_group[0].text}"
    else:
        last_text = earlier_options[-1].text if earlier_options else before
        headline = f"{option.text} is not allowed after {last_text}"
        sorted_options = sorted([*earlier_options, option])
        hint = f"write {' '.join(sorted_option.text for sorted_option in sorted_options)}"
    return MatchRecognizeParseError(headline, span, hint=hint, code="misplaced-match-option")


# Output options and AFTER MATCH SKIP.

_OUTPUTS = (
    "ONE ROW PER MATCH",
    "ALL ROWS PER MATCH",
    "ALL ROWS PER MATCH SHOW EMPTY MATCHES",
    "ALL ROWS PER MATCH OMIT EMPTY MATCHES",
    "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
)


def malformed_rows_per_match(text: str, span: Span) -> MatchRecognizeParseError:
    """Return the error for ONE ROWS PER MATCH, or for a combination that does not exist.

    Args:
        text: the words of the option, up to the next part of the clause.
        span: these words in the text of the query.
    """
    with_skip = [f"{output} AFTER MATCH SKIP" for output in _OUTPUTS]
    misspelt = explain_misspelt_option(
        text, span, options=[*with_skip, *reversed(_OUTPUTS)], where="MATCH_RECOGNIZE"
    )
    if misspelt is not None:
        return misspelt
    words = " ".join(text.upper().split())
    output = _insert_per_match(words)
    if output is not None:
        headline = f"missing PER MATCH after {output.partition(' PER MATCH')[0]}"
        notes: tuple[str, ...] = ()
    else:
        output = find_nearest(words, _OUTPUTS)
        rows = re.match(r"(ONE ROWS?|ALL ROWS?) PER \w+$", words)
        if rows is not None:  # as in ONE ROW PER PATTERN
            output = f"{'ONE ROW' if words.startswith('ONE') else 'ALL ROWS'} PER MATCH"
        headline = f"unknown output option `{shorten(text)}` in MATCH_RECOGNIZE"
        notes = (
            (
                "after ALL ROWS PER MATCH, MATCH_RECOGNIZE takes SHOW EMPTY MATCHES, OMIT EMPTY "
                "MATCHES or WITH UNMATCHED ROWS"
            ),
            (
                "for runs that are not matches, write SHOW TIMEOUT MATCHES, SHOW UNFINISHED "
                "MATCHES or SHOW TIMEOUT AND UNFINISHED MATCHES"
            ),
        )
        if output is not None and (words.endswith("PER MATCH") or rows is not None):
            notes = ()  # as in ONE ROWS PER MATCH
    hint = f"write {output}" if output else "write ONE ROW PER MATCH or ALL ROWS PER MATCH"
    return MatchRecognizeParseError(
        headline, span, notes=notes, hint=hint, code="malformed-rows-per-match"
    )


def _insert_per_match(words: str) -> str | None:
    """Return the output option that lacks PER MATCH in a text; None if it lacks something else.

    >>> _insert_per_match("ALL ROWS SHOW EMPTY MATCHES"), _insert_per_match("ONE ROWS PER MATCH")
    ('ALL ROWS PER MATCH SHOW EMPTY MATCHES', None)
    """
    for rows in ("ONE ROW", "ALL ROWS"):
        output = words.replace(rows, f"{rows} PER MATCH", 1)
        if words.startswith(rows) and output in _OUTPUTS:
            return output
    return None


# For words that people write after AFTER MATCH SKIP: the strategy that they mean.
_MEANT_SKIPS = {
    "PAST NEXT ROW": "TO NEXT ROW",
    "TO THE NEXT ROW": "TO NEXT ROW",
    "TO NEXT": "TO NEXT ROW",
    "TO NEXT ROWS": "TO NEXT ROW",
    "NEXT ROWS": "TO NEXT ROW",
    "NEXT": "TO NEXT ROW",
    "TO LAST ROW": "PAST LAST ROW",
    "TO LAST ROWS": "PAST LAST ROW",
    "PAST LAST ROWS": "PAST LAST ROW",
    "LAST ROW": "PAST LAST ROW",
    "PAST LASTROW": "PAST LAST ROW",
    "PAST THE LAST ROW": "PAST LAST ROW",
    "TO PAST LAST ROW": "PAST LAST ROW",
    "PAST LAST": "PAST LAST ROW",
    "PAST ROW": "PAST LAST ROW",
    "PAST": "PAST LAST ROW",
}
_SKIPS = tuple(
    f"AFTER MATCH SKIP {strategy}"
    for strategy in ("PAST LAST ROW", "TO NEXT ROW", "TO FIRST *", "TO LAST *", "TO *")
)
_CORRECT_SKIP = re.compile(r"TO NEXT ROW|PAST LAST ROW|TO (?:FIRST |LAST )?\w+", re.IGNORECASE)
# A variable with a quantifier, as in PATTERN.
_QUANTIFIED_SKIP = re.compile(
    r"(?P<skip>TO (?:FIRST |LAST )?(?:\w+|`[^`]+`)) ?[*+?{][*+?{},\d ]*", re.IGNORECASE
)
_SKIP_WITHOUT_TO = re.compile(r"(?:NEXT ROW|(?:FIRST|LAST) (?!ROW$)\S+)", re.IGNORECASE)
# These two are allowed for every PATTERN.
_SKIPS_OF_EVERY_PATTERN = "write AFTER MATCH SKIP PAST LAST ROW or AFTER MATCH SKIP TO NEXT ROW"
_SKIPS_TO_VARIABLES = (
    "the other strategies are SKIP TO FIRST and SKIP TO LAST, with a variable of PATTERN"
)


def malformed_skip(span: Span, *, text: str) -> MatchRecognizeParseError:
    """Return the error for AFTER MATCH SKIP that no skip strategy follows.

    Args:
        span: the location in the text of the query.
        text: AFTER MATCH SKIP with the words that follow it. SKIP may be missing.
    """
    misspelt = explain_misspelt_option(text, span, options=_SKIPS, where="MATCH_RECOGNIZE")
    if misspelt is not None:
        return misspelt
    line = join_lines(text)
    words = line.upper()
    strategy = re.sub("(?i)^AFTER MATCH ?(SKIP)? ?", "", line)
    headline = f"unknown skip strategy `{shorten(text)}` in MATCH_RECOGNIZE"
    notes: tuple[str, ...] = ()
    quantified_skip = _QUANTIFIED_SKIP.fullmatch(strategy)
    past_variable = re.fullmatch(r"(?i)PAST ((?:FIRST |LAST )?(?!ROW$)(?:\w+|`[^`]+`))", strategy)
    if strategy.upper() in _MEANT_SKIPS:
        hint = f"write AFTER MATCH SKIP {_MEANT_SKIPS[strategy.upper()]}"
    elif _CORRECT_SKIP.fullmatch(strategy) and "SKIP" not in words.split():
        hint = f"write AFTER MATCH SKIP {strategy}"
    elif quantified_skip is not None:
        hint = f"write AFTER MATCH SKIP {quantified_skip['skip']}"
    elif past_variable is not None:
        hint = f"write AFTER MATCH SKIP PAST LAST ROW, or SKIP TO {past_variable[1]}"
    elif _SKIP_WITHOUT_TO.fullmatch(strategy):
        headline = "missing TO in AFTER MATCH SKIP"
        hint = f"write SKIP TO {strategy}"
    else:
        hint = _SKIPS_OF_EVERY_PATTERN
        notes = (_SKIPS_TO_VARIABLES,)
    if words in ("AFTER MATCH SKIP", "AFTER MATCH SKIP TO"):
        headline = f"missing row to skip to after {words} in MATCH_RECOGNIZE"
    return MatchRecognizeParseError(headline, span, notes=notes, hint=hint, code="malformed-skip")
