"""Errors of a plan whose parts do not go together, such as two conditions of one variable.

The rules in `plan.rules` check a plan of any language, and raise these errors.

In the arguments, `name` is a variable or a measure as the user wrote it, `selection` is the event
selection, such as SKIP TILL NEXT MATCH, and `words` are the words of the clause that ask for runs
which are not matches: SHOW TIMEOUT MATCHES, SHOW UNFINISHED MATCHES or both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from matchrec.errors.kinds import MatchRecognizePlanError, MatchRecognizeUnsupportedError
from matchrec.errors.language import current_language, name_part
from matchrec.errors.run.origins import read_users_text, read_users_text_around
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import join_lines, show_list
from matchrec.source import Span

# SUBSET.


def subset_name_taken(span: Span | None, *, name: str) -> MatchRecognizePlanError:
    """Return the error for SUBSET A = (B, C) if A is also in PATTERN."""
    return MatchRecognizePlanError(
        f"union variable `{name}` in SUBSET is also a variable of PATTERN",
        span,
        hint="give the union variable another name",
        code="subset-name-taken",
    )


def duplicate_subset(*spans: Span | None, name: str) -> MatchRecognizePlanError:
    """Return the error for a union variable with two definitions in SUBSET."""
    return MatchRecognizePlanError(
        f"union variable `{name}` is defined twice in SUBSET",
        *spans,
        hint="write all its members in one list",
        code="duplicate-subset",
    )


def union_in_subset(
    span: Span | None, *, member: str, name: str, members: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for a member of a union variable that is a union variable, too.

    Args:
        span: the location in the text of the query.
        member: the member.
        name: the union variable whose member it is.
        members: the members of the union variable `member`.
    """
    return MatchRecognizePlanError(
        f"member `{member}` of `{name}` in SUBSET is itself a union variable",
        span,
        hint=f"write the members of {member} instead: {', '.join(members)}",
        code="union-in-subset",
    )


# AFTER MATCH SKIP.


def _explain_skip_to_row(span: Span | None) -> tuple[str, str]:
    """Return the headline and the help for SKIP TO LAST ROW, SKIP TO FIRST ROW or SKIP TO ROW."""
    text, start = read_users_text_around(span)
    skip = re.search(r"(?i)SKIP\s+TO\s+(?:(?P<end>FIRST|LAST)\s+)?$", text[:start])
    end = (skip["end"] or "").upper() if skip else ""
    words = " ".join(f"SKIP TO {end} ROW".split())
    hint = "write AFTER MATCH SKIP PAST LAST ROW"
    if end != "LAST":
        hint += " or AFTER MATCH SKIP TO NEXT ROW"
    return f"unknown skip strategy `{words}` in MATCH_RECOGNIZE", hint


def incomplete_skip(span: Span | None, *, word: str) -> MatchRecognizePlanError:
    """Return the error for AFTER MATCH SKIP TO FIRST, or another strategy without its last word."""
    headline = f"AFTER MATCH SKIP TO {word} is not complete"
    match word.upper():
        case "FIRST":
            hint = "write TO FIRST A, with a variable of PATTERN"
        case "LAST":
            hint = "write TO LAST A, with a variable of PATTERN"
        case "PAST":
            hint = "write AFTER MATCH SKIP PAST LAST ROW"
        case "ROW":  # as in SKIP TO LAST ROW, which is read as the last row of a variable ROW
            headline, hint = _explain_skip_to_row(span)
        case _:
            hint = "write AFTER MATCH SKIP TO NEXT ROW"
    return MatchRecognizePlanError(headline, span, hint=hint, code="incomplete-skip")


def skip_always_to_first_row(
    span: Span | None, *, variable: str, others: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for AFTER MATCH SKIP TO a row that is the first one of every match.

    Args:
        span: the variable in the text of the query.
        variable: the name of the variable.
        others: the other primary variables. For a union variable, they are the variables that are
            not its members.
    """
    hint = "write AFTER MATCH SKIP TO NEXT ROW or PAST LAST ROW"
    if others:
        hint = (
            f"skip to another variable, such as {others[-1]}, or write AFTER MATCH SKIP TO NEXT ROW"
        )
    return MatchRecognizePlanError(
        f"AFTER MATCH SKIP TO `{variable}` always goes to the first row of the match, so the "
        "search would not end",
        span,
        hint=hint,
        code="skip-always-to-first-row",
    )


# DEFINE.


def definition_of_union(span: Span | None, *, name: str) -> MatchRecognizePlanError:
    """Return the error for a condition of a union variable in DEFINE."""
    return MatchRecognizePlanError(
        f"union variable `{name}` is not allowed in DEFINE",
        span,
        hint="write conditions for its members",
        code="definition-of-union",
    )


def definition_not_in_pattern(
    span: Span | None,
    *,
    name: str,
    variables: Sequence[str],
    near: str | None,
    is_pattern_wrong: bool | None,
) -> MatchRecognizePlanError:
    """Return the error for a condition of a variable that PATTERN does not have.

    Args:
        span: the variable in DEFINE.
        name: its name.
        variables: the variables of PATTERN.
        near: the variable of PATTERN that `name` may misspell, or that may misspell `name`; None if
            no variable is similar.
        is_pattern_wrong: whether PATTERN has the misspelling, because the rest of the query uses
            the name in DEFINE; None if the rest of the query uses neither name, or both.
    """
    pattern, define = name_part("PATTERN"), name_part("DEFINE")
    in_pattern = f"{name} instead of {near} in {pattern}"
    in_define = f"{near} instead of {name} in {define}"
    if near is None:
        hint = f"add {name} to {pattern}, or remove its condition"
    elif is_pattern_wrong is None:
        hint = f"write {in_define}, or {in_pattern}"
    else:
        hint = f"write {in_pattern if is_pattern_wrong else in_define}"
    return MatchRecognizePlanError(
        f"DEFINE has `{name}`, which is not in PATTERN",
        span,
        notes=(show_list("PATTERN has", variables, "variables"),),
        hint=hint,
        code="definition-not-in-pattern",
    )


def braces_lost_in_definition(
    span: Span | None, *, name: str, variables: Iterable[str], count: str
) -> MatchRecognizePlanError:
    """Return the error for B in DEFINE and B3 in PATTERN, which a Python f-string makes of B{3}.

    Args:
        span: the variable in DEFINE.
        name: the name of the variable, `B`.
        variables: the variables of PATTERN.
        count: the number in the lost braces, `3`.
    """
    note = ""
    hint = f"write {name}{{{count}}} for {count} rows, or add {name} to PATTERN"
    if current_surface().has_python_calls:
        note = f"a Python f-string turns {name}{{{count}}} into {name}{count}"
        hint = f"write {name}{{{{{count}}}}} in an f-string, or add {name} to PATTERN"
    return MatchRecognizePlanError(
        f"DEFINE has `{name}`, which is not in PATTERN",
        span,
        notes=(show_list("PATTERN has", variables, "variables"), note),
        hint=hint,
        code="definition-not-in-pattern",
    )


def duplicate_definition(*spans: Span | None, name: str) -> MatchRecognizePlanError:
    """Return the error for two conditions of the same variable."""
    return MatchRecognizePlanError(
        f"variable `{name}` is defined twice in DEFINE",
        *spans,
        hint="join the conditions with AND",
        code="duplicate-definition",
        condition="MATCH_RECOGNIZE_DUPLICATE_PATTERN_VARIABLE",
    )


# The output.


def exclusion_with_unmatched_rows(span: Span | None) -> MatchRecognizePlanError:
    """Return the error for {- -} in PATTERN with ALL ROWS PER MATCH WITH UNMATCHED ROWS."""
    return MatchRecognizePlanError(
        "an exclusion in PATTERN is not allowed with ALL ROWS PER MATCH WITH UNMATCHED ROWS",
        span,
        notes=("excluded rows would look the same as rows outside every match",),
        hint="remove {- -}, or write SHOW EMPTY MATCHES or OMIT EMPTY MATCHES",
        code="exclusion-with-unmatched-rows",
    )


def duplicate_measure(*spans: Span | None, name: str) -> MatchRecognizePlanError:
    """Return the error for two measures with the same name."""
    language = current_language()
    return MatchRecognizePlanError(
        f"{name_part('MEASURES')} has two {language.measures} named `{name}`",
        *spans,
        hint="give one of them another name with AS",
        code="duplicate-measure",
    )


# WITHIN.


def within_between_same_variable(span: Span | None, *, name: str) -> MatchRecognizePlanError:
    """Return the error for WITHIN x FROM A TO A, or FROM A TO a union variable that has A."""
    return MatchRecognizePlanError(
        f"WITHIN has the same variable, `{name}`, after FROM and after TO",
        span,
        hint="write WITHIN ... BETWEEN ROWS for the distance between consecutive rows",
        code="within-between-same-variable",
    )


def within_without_order(span: Span | None) -> MatchRecognizePlanError:
    """Return the error for WITHIN with a length of time in a clause without ORDER BY."""
    return MatchRecognizePlanError(
        f"missing {name_part('ORDER BY')} for WITHIN",
        span,
        notes=(f"WITHIN measures the distance along the first {name_part('ORDER BY')} column",),
        hint=f"add {name_part('ORDER BY')}",
        code="within-without-order",
    )


# A length with a minus sign before its number: `-5` and `INTERVAL '-5' DAY`, but not `1 - 1`.
_NEGATIVE_LENGTH = re.compile(
    r"(?P<before>\s*(?:INTERVAL\s*)?'?)\s*-\s*(?P<positive>[\d.]*[1-9][^-+*/()]*)", re.IGNORECASE
)


def within_not_positive(
    span: Span | None, *, length: str, is_time: bool
) -> MatchRecognizePlanError:
    """Return the error for WITHIN with a length that is NULL, 0 or negative.

    Args:
        span: the length in the text of the query.
        length: the length in words, such as "NULL".
        is_time: whether the length is a time rather than a number in the unit of ORDER BY.
    """
    example = current_language().write_window(10, "MINUTE") if is_time else "WITHIN 10"
    text = (read_users_text(span) if span else None) or ""
    hint = f"write a longer one, such as {example}"
    negative = _NEGATIVE_LENGTH.fullmatch(text)
    if negative is not None:
        length = "a negative length"
        hint = f"write WITHIN {join_lines(negative['before'] + negative['positive'])}"
    return MatchRecognizePlanError(
        f"WITHIN needs a length above 0, not {length}", span, hint=hint, code="within-not-positive"
    )


# Event selection and the choice of matches.


def classifier_of_skipped_row(
    span: Span | None, *, selection: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for PREV(CLASSIFIER()) in a condition if a match may skip rows."""
    return MatchRecognizeUnsupportedError(
        f"CLASSIFIER() a physical step away in {name_part('DEFINE')} is not supported with "
        f"{selection}",
        span,
        hint="write LAST(CLASSIFIER(), 1) for the row that the match mapped before",
        code="classifier-of-skipped-row",
    )


def longest_match_skips_rows(
    span: Span | None, *, selection: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for LONGEST MATCH with an event selection that skips rows."""
    return MatchRecognizeUnsupportedError(
        f"LONGEST MATCH with {selection} is not supported",
        span,
        notes=("the longest match is one whose rows follow each other",),
        hint=f"leave out LONGEST MATCH, or {selection}",
        code="longest-match-skips-rows",
    )


def match_number_with_all_matches(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for MATCH_NUMBER() in a condition of a clause with ALL MATCHES."""
    return MatchRecognizeUnsupportedError(
        f"MATCH_NUMBER() in {name_part('DEFINE')} is not supported with ALL MATCHES",
        span,
        notes=("the search finds all matches together, and numbers them when they are complete",),
        hint="use MATCH_NUMBER() in MEASURES, and filter the result by it",
        code="match-number-with-all-matches",
    )


def matched_rows_with_all_rows(span: Span | None) -> MatchRecognizePlanError:
    """Return the error for MATCHED_ROWS in MEASURES with ALL ROWS PER MATCH."""
    return MatchRecognizePlanError(
        f"MATCHED_ROWS in {name_part('MEASURES')} is not allowed with ALL ROWS PER MATCH",
        span,
        notes=("the result already has one row for each row of the match",),
        hint="write ONE ROW PER MATCH, or CLASSIFIER() AS classifier instead of MATCHED_ROWS",
        code="matched-rows-with-all-rows",
    )


def looks_too_far_back(
    span: Span | None, *, function: str, rows: int, limit: int
) -> MatchRecognizeUnsupportedError:
    """Return the error for a navigation in a condition that goes too far back in the match.

    Args:
        span: the location in the text of the query.
        function: the navigation.
        rows: the number of rows that the navigation goes back.
        limit: the largest number of rows that a navigation can go back.
    """
    return MatchRecognizeUnsupportedError(
        f"{function} in {name_part('DEFINE')} looks back {rows:,} rows of the match; the limit is "
        f"{limit:,}",
        span,
        hint="write PREV(x, n) of a column, which counts rows of the partition and has no limit",
        code="looks-too-far-back",
    )


# Runs that are not matches, and FIRST n MATCHES.


def timeouts_without_within(span: Span | None) -> MatchRecognizePlanError:
    """Return the error for SHOW TIMEOUT MATCHES without WITHIN."""
    return MatchRecognizePlanError(
        "missing WITHIN for SHOW TIMEOUT MATCHES",
        span,
        notes=("without a window, no run times out",),
        hint=(
            "add WITHIN INTERVAL ... after PATTERN (...), or write SHOW UNFINISHED MATCHES for the "
            "run that is still open at the end of a partition"
        ),
        code="timeouts-without-within",
    )


def timeouts_within_rows(span: Span | None, *, words: str) -> MatchRecognizeUnsupportedError:
    """Return the error for SHOW TIMEOUT or UNFINISHED MATCHES with WITHIN n ROWS."""
    return MatchRecognizeUnsupportedError(
        f"{words} with WITHIN a number of rows is not supported",
        span,
        notes=("a run that fills a window of rows has neither timed out nor been left unfinished",),
        hint=f"write WITHIN INTERVAL ..., or remove {words}",
        code="timeouts-within-rows",
    )


def timeouts_with_unmatched_rows(span: Span | None, *, words: str) -> MatchRecognizePlanError:
    """Return the error for SHOW TIMEOUT or UNFINISHED MATCHES with WITH UNMATCHED ROWS."""
    return MatchRecognizePlanError(
        f"{words} is not allowed with ALL ROWS PER MATCH WITH UNMATCHED ROWS",
        span,
        notes=("a row of a run that is not a match would be neither matched nor unmatched",),
        hint=f"write ALL ROWS PER MATCH {words}",
        code="timeouts-with-unmatched-rows",
    )


def timeouts_with_output(
    span: Span | None, *, words: str, output: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for SHOW TIMEOUT or UNFINISHED MATCHES with a choice of matches.

    Args:
        span: the location in the text of the query.
        words: see the module.
        output: the choice of matches, such as NON-OVERLAPPING MATCHES.
    """
    return MatchRecognizeUnsupportedError(
        f"{words} with {output} is not supported",
        span,
        hint=f"leave out {output}; only SHOW TIMEOUT MATCHES and ALL MATCHES are allowed together",
        code="timeouts-with-output",
    )


def timeouts_with_negation(span: Span | None, *, words: str) -> MatchRecognizeUnsupportedError:
    """Return the error for SHOW TIMEOUT or UNFINISHED MATCHES with NOT in PATTERN."""
    return MatchRecognizeUnsupportedError(
        f"{words} of a pattern with NOT is not supported",
        span,
        notes=("matchrec looks for forbidden rows only when a match is complete",),
        hint=f"leave out {words}, or use {current_surface().timeouts_call}",
        code="timeouts-with-negation",
    )


def timeouts_with_gaps(span: Span | None, *, words: str) -> MatchRecognizeUnsupportedError:
    """Return the error for SHOW TIMEOUT or UNFINISHED MATCHES with WITHIN between rows."""
    return MatchRecognizeUnsupportedError(
        f"{words} with WITHIN between rows or variables is not supported",
        span,
        notes=("a run times out when the window of the whole match ends",),
        hint=f"leave out {words}, or write the window in DEFINE",
        code="timeouts-with-gaps",
    )


def timeouts_with_first_matches(
    span: Span | None, *, words: str, first: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for SHOW TIMEOUT or UNFINISHED MATCHES with FIRST n MATCHES."""
    return MatchRecognizeUnsupportedError(
        f"{words} with {first} is not supported",
        span,
        notes=("the search stops after these matches",),
        hint=f"leave out {words}, or test MATCH_NUMBER() in the query around the clause",
        code="timeouts-with-first-matches",
    )


def first_matches_not_supported(
    span: Span | None, *, first: str, form: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for FIRST n MATCHES in a query whose result is not only matches.

    The result also has runs that are not matches, or is one graph of all matches.

    Args:
        span: the location in the text of the query.
        first: the words of the clause, such as FIRST 10 MATCHES.
        form: the form of the result.
    """
    return MatchRecognizeUnsupportedError(
        f"{first} with {form} is not supported",
        span,
        notes=("the result has more than matches, and only matches have numbers",),
        hint="leave out one of them",
        code="first-matches-not-supported",
    )


def status_without_timeouts(span: Span | None, *, function: str) -> MatchRecognizePlanError:
    """Return the error for MATCH_STATUS() or MATCH_TIMEOUT() in a query of matches only."""
    return MatchRecognizePlanError(
        f"{function}() is not allowed without SHOW TIMEOUT MATCHES or SHOW UNFINISHED MATCHES",
        span,
        notes=("the result has only matches, and no match has timed out",),
        hint="write ONE ROW PER MATCH SHOW TIMEOUT MATCHES after MEASURES",
        code="status-without-timeouts",
    )
