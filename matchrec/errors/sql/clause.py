"""Errors in how the MATCH_RECOGNIZE clause is put together."""

from __future__ import annotations

from collections.abc import Iterable

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizeUnsupportedError,
    shortened,
)
from matchrec.errors.sql.syntax import meant_by
from matchrec.source import Span

_ORDER = (
    "the order is: PARTITION BY, ORDER BY, MEASURES, ONE ROW or ALL ROWS PER MATCH, "
    "AFTER MATCH SKIP, PATTERN, WITHIN, SUBSET, DEFINE"
)


def unexpected_start(text: str, span: Span) -> MatchRecognizeParseError:
    """The clause begins with none of its parts."""
    return MatchRecognizeParseError(
        f"unexpected `{text}` in MATCH_RECOGNIZE",
        span,
        notes=(_ORDER,),
        hint=meant_by(text, "MATCH_RECOGNIZE"),
    )


def empty_clause(span: Span) -> MatchRecognizeParseError:
    """Nothing between the parentheses."""
    return MatchRecognizeParseError(
        "MATCH_RECOGNIZE without PATTERN", span, hint="the least clause is: PATTERN (A)"
    )


def missing_pattern(span: Span) -> MatchRecognizeParseError:
    """No PATTERN."""
    return MatchRecognizeParseError(
        "MATCH_RECOGNIZE without PATTERN", span, notes=(_ORDER,), hint="add PATTERN (A B+) here"
    )


def misspelt_pattern(text: str, span: Span) -> MatchRecognizeParseError:
    """PATERN (A B)."""
    return MatchRecognizeParseError(
        f"MATCH_RECOGNIZE without PATTERN, but with `{text}`", span, hint="write PATTERN"
    )


def malformed_selection(span: Span) -> MatchRecognizeParseError:
    """Words after PATTERN that are no event selection."""
    return MatchRecognizeParseError(
        "event selection in MATCH_RECOGNIZE is not understood",
        span,
        notes=(
            "after PATTERN (...) may stand: STRICT CONTIGUITY, SKIP TILL NEXT MATCH or",
            "SKIP TILL ANY MATCH, then ALL MATCHES or NON-OVERLAPPING MATCHES; or LONGEST MATCH",
        ),
        hint="for partition contiguity write PARTITION BY: rows of other partitions are not seen",
    )


def skip_among_all(output: str, span: Span) -> MatchRecognizeParseError:
    """AFTER MATCH SKIP where no match is chosen."""
    return MatchRecognizeParseError(
        f"AFTER MATCH SKIP with {output} in MATCH_RECOGNIZE",
        span,
        notes=("AFTER MATCH SKIP says where the search for the next preferred match begins",),
        hint=f"remove AFTER MATCH SKIP, or remove {output}",
    )


def pattern_goes_on(written: str, text: str, span: Span) -> MatchRecognizeParseError:
    """PATTERN (A B) $; `written` is the symbol outside, `text` all of the row pattern."""
    return MatchRecognizeParseError(
        f"`{written}` stands outside of the parentheses of PATTERN",
        span,
        hint=f"write PATTERN ({' '.join(text.split())})",
    )


def pattern_without_parentheses(span: Span) -> MatchRecognizeParseError:
    """PATTERN A B."""
    return MatchRecognizeParseError(
        "PATTERN without parentheses", span, hint="write PATTERN (A B+)"
    )


def parenthesis_not_closed(part: str, span: Span) -> MatchRecognizeParseError:
    """PATTERN ( or MATCH_RECOGNIZE ( without its closing parenthesis."""
    return MatchRecognizeParseError(
        f"parenthesis of {part} is not closed",
        span,
        hint="add `)`; mind that `--` starts a comment, also in `{--` and `--}`",
    )


def last_closes_another(opening: Span, clause: Span) -> MatchRecognizeParseError:
    """A bracket in the clause takes the `)` that was to close the clause."""
    return MatchRecognizeParseError(
        "the last `)` closes this `(`, and none closes that of MATCH_RECOGNIZE",
        opening,
        clause,
        hint=(
            "add `)` where what stands in the first one ends; "
            "mind that `--` starts a comment, also in `{--` and `--}`"
        ),
    )


def not_closed_before(
    opening: str, keyword: str, spans: tuple[Span, Span]
) -> MatchRecognizeParseError:
    """A bracket that swallows the next part of the clause."""
    closing = {"(": ")", "[": "]", "{": "}"}[opening]
    return MatchRecognizeParseError(
        f"`{opening}` is not closed before {keyword} in MATCH_RECOGNIZE",
        *spans,
        hint=f"add `{closing}` where it ends",
    )


def closed_before(keyword: str, spans: tuple[Span, Span]) -> MatchRecognizeParseError:
    """A `)` too many, which ends the clause."""
    return MatchRecognizeParseError(
        f"parenthesis of MATCH_RECOGNIZE is closed before {keyword}",
        *spans,
        hint=f"remove one `)` before {keyword}, or add the `(` that it closes",
    )


def outside_parentheses(part: str, span: Span) -> MatchRecognizeParseError:
    """MATCH_RECOGNIZE (...) WITHIN INTERVAL 1 HOUR."""
    after = part in ("WITHIN", "SUBSET", "DEFINE")
    place = ", after PATTERN (...)" if after else "" if part == "PATTERN" else ", before PATTERN"
    return MatchRecognizeParseError(
        f"{part} stands after the closing parenthesis of MATCH_RECOGNIZE",
        span,
        notes=(_ORDER,),
        hint=f"move it into the parentheses{place}",
    )


def out_of_order(
    later: str, earlier: str, order: Iterable[str], span: Span
) -> MatchRecognizeParseError:
    """A part after one that it must precede; `order` is the right one of those written."""
    return MatchRecognizeParseError(
        f"{earlier} stands after {later} in MATCH_RECOGNIZE",
        span,
        hint=f"write the parts in this order: {', '.join(order)}",
    )


def written_twice(part: str, spans: tuple[Span, Span]) -> MatchRecognizeParseError:
    """A part of the clause that is there twice."""
    return MatchRecognizeParseError(
        f"{part} twice in MATCH_RECOGNIZE", *spans, hint=f"write one {part}"
    )


def nothing_in(part: str, span: Span) -> MatchRecognizeParseError:
    """A part without content."""
    return MatchRecognizeParseError(
        f"nothing follows {part} in MATCH_RECOGNIZE",
        span,
        hint=f"write {_EXAMPLES[part]}, or leave {part} out",
    )


def nothing_beside_comma(part: str, span: Span) -> MatchRecognizeParseError:
    """An item that is missing before or after a comma."""
    return MatchRecognizeParseError(
        f"a comma too many in {part}", span, hint="remove it, or add what it divides"
    )


_EXAMPLES = {
    "PARTITION BY": "PARTITION BY x",
    "ORDER BY": "ORDER BY x",
    "MEASURES": "MEASURES LAST(x) AS name",
    "WITHIN": "WITHIN INTERVAL 1 HOUR",
    "SUBSET": "SUBSET U = (A, B)",
    "DEFINE": "DEFINE A AS x > 1",
}


def second_window(spans: tuple[Span, Span]) -> MatchRecognizeParseError:
    """Two windows of one kind in WITHIN."""
    return MatchRecognizeParseError(
        "two windows between the same rows in WITHIN", *spans, hint="keep the smaller one"
    )


def distance_without_interval(text: str, span: Span) -> MatchRecognizeParseError:
    """WITHIN 5 DAYS."""
    return MatchRecognizeParseError(
        "WITHIN of a time without the word INTERVAL", span, hint=f"write WITHIN INTERVAL {text}"
    )


def malformed_rows_per_match(text: str, span: Span) -> MatchRecognizeParseError:
    """ONE ROW or ALL ROWS with a wrong continuation."""
    hint = (
        "write ONE ROW PER MATCH, or ALL ROWS PER MATCH with SHOW EMPTY MATCHES, "
        "OMIT EMPTY MATCHES, WITH UNMATCHED ROWS or nothing"
    )
    if any(word in text.upper() for word in ("TIME", "UNFINISHED", "PARTIAL")):
        hint = (
            "write ONE ROW PER MATCH or ALL ROWS PER MATCH, and then SHOW TIMEOUT MATCHES, "
            "SHOW UNFINISHED MATCHES or SHOW TIMEOUT AND UNFINISHED MATCHES"
        )
    return MatchRecognizeParseError(
        f"cannot read `{shortened(text)}` in MATCH_RECOGNIZE", span, hint=hint
    )


def malformed_skip(text: str, span: Span) -> MatchRecognizeParseError:
    """AFTER MATCH with a wrong continuation."""
    return MatchRecognizeParseError(
        f"cannot read `{shortened(text)}` in MATCH_RECOGNIZE",
        span,
        hint="write AFTER MATCH SKIP PAST LAST ROW, TO NEXT ROW, TO FIRST A, TO LAST A or TO A",
    )


def measure_without_name(text: str, span: Span) -> MatchRecognizeParseError:
    """A measure without AS."""
    return MatchRecognizeParseError(
        "measure without a name in MEASURES", span, hint=f"write {shortened(text)} AS name"
    )


def star_as_measure(text: str, span: Span) -> MatchRecognizeParseError:
    """`*` or `A.*` among the measures."""
    return MatchRecognizeParseError(
        f"`{text}` in MEASURES",
        span,
        notes=("a measure is one expression with a name",),
        hint="name the columns: MEASURES A.x AS x; ALL ROWS PER MATCH gives every input column",
    )


def string_as_name(what: str, text: str, span: Span) -> MatchRecognizeParseError:
    """`AS 'name'`."""
    name = text.strip("'\"").replace("`", "``")
    return MatchRecognizeParseError(
        f"the name of a {what} is a string", span, hint=f"write AS `{name}`"
    )


def malformed_subset(text: str, span: Span) -> MatchRecognizeParseError:
    """SUBSET that is not U = (A, B)."""
    return MatchRecognizeParseError(
        f"cannot read `{shortened(text)}` in SUBSET",
        span,
        hint="write SUBSET U = (A, B), V = (B, C)",
    )


def malformed_definition(
    text: str, meant: tuple[str, str] | None, span: Span
) -> MatchRecognizeParseError:
    """DEFINE that is not A AS condition; `meant`: a variable and what may be its condition."""
    hint = (
        f"write {meant[0]} AS {shortened(meant[1])}"
        if meant
        else "write DEFINE A AS x > 1, B AS x > 2"
    )
    return MatchRecognizeParseError(f"cannot read `{shortened(text)}` in DEFINE", span, hint=hint)


def search_outside_window(word: str, span: Span) -> MatchRecognizeUnsupportedError:
    """INITIAL or SEEK."""
    return MatchRecognizeUnsupportedError(
        f"{word} in MATCH_RECOGNIZE is not supported",
        span,
        notes=("INITIAL and SEEK belong to row pattern recognition in the WINDOW clause",),
        hint=f"remove {word}",
    )
