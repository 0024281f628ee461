"""Errors of a clause that is well formed and contradicts itself."""

from __future__ import annotations

from collections.abc import Iterable

from matchrec.errors.kinds import (
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
    listed,
    nearest,
)
from matchrec.errors.language import current, part
from matchrec.source import Span

TwoSpans = tuple[Span | None, Span | None]


def subset_is_primary(name: str, span: Span | None) -> MatchRecognizePlanError:
    """SUBSET A = (...) where PATTERN has A."""
    return MatchRecognizePlanError(
        f"union variable `{name}` in SUBSET is also a variable of PATTERN",
        span,
        hint="give the union variable another name",
    )


def duplicate_subset(name: str, spans: TwoSpans) -> MatchRecognizePlanError:
    """Two union variables of one name."""
    return MatchRecognizePlanError(
        f"union variable `{name}` is defined twice in SUBSET",
        *spans,
        hint="write all its members in one list",
    )


def union_in_subset(member: str, name: str, span: Span | None) -> MatchRecognizePlanError:
    """SUBSET V = (U) where U is a union variable."""
    return MatchRecognizePlanError(
        f"member `{member}` of `{name}` in SUBSET is itself a union variable",
        span,
        hint=f"write the members of {member} instead",
    )


def incomplete_skip(word: str, span: Span | None) -> MatchRecognizePlanError:
    """SKIP TO NEXT, SKIP TO FIRST."""
    return MatchRecognizePlanError(
        f"AFTER MATCH SKIP TO {word} is not complete",
        span,
        hint={
            "FIRST": "write TO FIRST A, with a variable of PATTERN",
            "LAST": "write TO LAST A, with a variable of PATTERN",
            "PAST": "write AFTER MATCH SKIP PAST LAST ROW",
        }.get(word, "write AFTER MATCH SKIP TO NEXT ROW"),
    )


def definition_of_union(name: str, span: Span | None) -> MatchRecognizePlanError:
    """DEFINE U where U is a union variable."""
    return MatchRecognizePlanError(
        f"DEFINE of `{name}`, which SUBSET makes a union variable",
        span,
        hint="write conditions for its members",
    )


def definition_not_in_pattern(
    name: str, variables: Iterable[str], span: Span | None
) -> MatchRecognizePlanError:
    """DEFINE of a variable that PATTERN does not have."""
    variables = list(variables)
    meant = nearest(name, variables)
    return MatchRecognizePlanError(
        f"DEFINE of `{name}`, which is not in PATTERN",
        span,
        notes=(f"PATTERN has: {listed(variables)}",),
        hint=f"write {meant}, or add {name} to PATTERN" if meant else f"add {name} to PATTERN",
    )


def duplicate_definition(name: str, spans: TwoSpans) -> MatchRecognizePlanError:
    """Two conditions for one variable."""
    return MatchRecognizePlanError(
        f"variable `{name}` is defined twice in DEFINE", *spans, hint="join the conditions with AND"
    ).named("MATCH_RECOGNIZE_DUPLICATE_PATTERN_VARIABLE")


def exclusion_with_unmatched_rows(span: Span | None) -> MatchRecognizePlanError:
    """`{- -}` with ALL ROWS PER MATCH WITH UNMATCHED ROWS."""
    return MatchRecognizePlanError(
        "exclusion in PATTERN with ALL ROWS PER MATCH WITH UNMATCHED ROWS",
        span,
        notes=("an excluded row could not be told from one that no match contains",),
        hint="remove {- -}, or write SHOW EMPTY MATCHES or OMIT EMPTY MATCHES",
    )


def duplicate_measure(name: str, spans: TwoSpans) -> MatchRecognizePlanError:
    """Two measures of one name."""
    return MatchRecognizePlanError(
        f"two {current().measures} named `{name}` in {part('MEASURES')}",
        *spans,
        hint="give one of them another name",
    )


def gap_of_one_variable(name: str, span: Span | None) -> MatchRecognizePlanError:
    """WITHIN x FROM A TO A, or to a union variable of which A is a member."""
    return MatchRecognizePlanError(
        f"WITHIN FROM and TO rows of one variable, `{name}`",
        span,
        hint="write WITHIN ... BETWEEN ROWS for the distance between rows that follow each other",
    )


def within_without_order(span: Span | None) -> MatchRecognizePlanError:
    """WITHIN and no ORDER BY."""
    return MatchRecognizePlanError(
        f"WITHIN without {part('ORDER BY')}",
        span,
        notes=(f"WITHIN measures the distance along the first {part('ORDER BY')} column",),
        hint=f"add {part('ORDER BY')}",
    )


def classifier_of_skipped_row(selection: str, span: Span | None) -> MatchRecognizeUnsupportedError:
    """PREV(CLASSIFIER()) in DEFINE where the row before may have been skipped."""
    return MatchRecognizeUnsupportedError(
        f"CLASSIFIER() a physical step away in {part('DEFINE')} is not supported with {selection}",
        span,
        hint="write LAST(CLASSIFIER(), 1) for the row that the match has mapped before",
    )


def longest_that_skips_rows(selection: str, span: Span | None) -> MatchRecognizeUnsupportedError:
    """LONGEST MATCH with SKIP TILL NEXT MATCH."""
    return MatchRecognizeUnsupportedError(
        f"LONGEST MATCH with {selection} is not supported",
        span,
        notes=("the longest match is one whose rows follow each other",),
        hint=f"leave out LONGEST MATCH, or {selection}",
    )


def match_number_of_all_matches(span: Span | None) -> MatchRecognizeUnsupportedError:
    """MATCH_NUMBER() in DEFINE with ALL MATCHES."""
    return MatchRecognizeUnsupportedError(
        f"MATCH_NUMBER() in {part('DEFINE')} has no meaning with ALL MATCHES",
        span,
        notes=("all matches are tried at once, and numbered when they are complete",),
        hint="use MATCH_NUMBER() in MEASURES, and filter the result by it",
    )


def match_on_each_row(span: Span | None) -> MatchRecognizePlanError:
    """MATCHED_ROWS with ALL ROWS PER MATCH."""
    return MatchRecognizePlanError(
        f"MATCHED_ROWS in {part('MEASURES')} with ALL ROWS PER MATCH",
        span,
        notes=("the rows of the match come out by themselves there",),
        hint="write ONE ROW PER MATCH, or CLASSIFIER() AS classifier in place of MATCHED_ROWS",
    )


def too_far_back(
    function: str, rows: int, limit: int, span: Span | None
) -> MatchRecognizeUnsupportedError:
    """LAST(x, 5000) in DEFINE."""
    return MatchRecognizeUnsupportedError(
        f"{function} in {part('DEFINE')} looks back {rows:,} rows of the match; "
        f"the limit is {limit:,}",
        span,
        hint="write PREV(x, n) of a column, which counts rows of the partition and has no limit",
    )


def timeouts_without_within(span: Span | None) -> MatchRecognizePlanError:
    """SHOW TIMEOUT MATCHES and no WITHIN."""
    return MatchRecognizePlanError(
        "SHOW TIMEOUT MATCHES without WITHIN",
        span,
        notes=("without a window no run times out",),
        hint=(
            "add WITHIN INTERVAL ... after PATTERN (...), or write SHOW UNFINISHED MATCHES for the "
            "run that the end of a partition has left"
        ),
    )


def partial_with_unmatched_rows(words: str, span: Span | None) -> MatchRecognizePlanError:
    """SHOW TIMEOUT MATCHES behind WITH UNMATCHED ROWS."""
    return MatchRecognizePlanError(
        f"{words} with ALL ROWS PER MATCH WITH UNMATCHED ROWS",
        span,
        notes=("a row of a run that is no match would be neither matched nor unmatched",),
        hint=f"write ALL ROWS PER MATCH {words}",
    )


def partial_of_other_matches(
    words: str, output: str, span: Span | None
) -> MatchRecognizeUnsupportedError:
    """SHOW TIMEOUT MATCHES with NON-OVERLAPPING MATCHES, SHOW UNFINISHED MATCHES with all."""
    return MatchRecognizeUnsupportedError(
        f"{words} with {output} is not supported",
        span,
        hint=f"leave out {output}; ALL MATCHES can stand with SHOW TIMEOUT MATCHES",
    )


def partial_with_negation(words: str, span: Span | None) -> MatchRecognizeUnsupportedError:
    """SHOW TIMEOUT MATCHES of a pattern with rows that must not be there."""
    return MatchRecognizeUnsupportedError(
        f"{words} of a pattern with NOT is not supported",
        span,
        notes=("what must not be there is looked for when a match is complete",),
        hint=f"leave out {words}, or use detect with timeouts=True",
    )


def partial_with_gaps(words: str, span: Span | None) -> MatchRecognizeUnsupportedError:
    """SHOW TIMEOUT MATCHES of a pattern with windows between rows or variables."""
    return MatchRecognizeUnsupportedError(
        f"{words} with WITHIN between rows or variables is not supported",
        span,
        notes=("a run times out where the window of the whole match ends",),
        hint=f"leave out {words}, or write the window in DEFINE",
    )


def ending_of_matches_only(function: str, span: Span | None) -> MatchRecognizePlanError:
    """MATCH_STATUS() where only matches come out."""
    return MatchRecognizePlanError(
        f"{function}() without SHOW TIMEOUT MATCHES or SHOW UNFINISHED MATCHES",
        span,
        notes=("only matches come out, none of which has timed out",),
        hint="write ONE ROW PER MATCH SHOW TIMEOUT MATCHES after MEASURES",
    )
