"""Errors in how the MATCH_RECOGNIZE clause is put together."""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizeParseError, MatchRecognizeUnsupportedError
from matchrec.source import Span

_ORDER = (
    "the order is: PARTITION BY, ORDER BY, MEASURES, ONE ROW or ALL ROWS PER MATCH, "
    "AFTER MATCH SKIP, PATTERN, WITHIN, SUBSET, DEFINE"
)


def unexpected_start(text: str, span: Span) -> MatchRecognizeParseError:
    """The clause begins with none of its parts."""
    return MatchRecognizeParseError(
        f"unexpected `{text}` in MATCH_RECOGNIZE", span, notes=(_ORDER,), hint=_SPELLINGS.get(text)
    )


_SPELLINGS = {
    "RETURN": "write ONE ROW PER MATCH or ALL ROWS PER MATCH",
    "SHOW": "write ALL ROWS PER MATCH SHOW EMPTY MATCHES",
    "OMIT": "write ALL ROWS PER MATCH OMIT EMPTY MATCHES",
    "WITH": "write ALL ROWS PER MATCH WITH UNMATCHED ROWS",
    "SKIP": "write AFTER MATCH SKIP",
    "PARTITION": "write PARTITION BY",
    "ORDER": "write ORDER BY",
}


def empty_clause(span: Span) -> MatchRecognizeParseError:
    """Nothing between the parentheses."""
    return MatchRecognizeParseError(
        "MATCH_RECOGNIZE without PATTERN", span, hint="the least clause is: PATTERN (A)"
    )


def missing_pattern(span: Span) -> MatchRecognizeParseError:
    """No PATTERN."""
    return MatchRecognizeParseError(
        "MATCH_RECOGNIZE without PATTERN", span, hint="add PATTERN (...) before DEFINE"
    )


def pattern_without_parentheses(span: Span) -> MatchRecognizeParseError:
    """PATTERN A B."""
    return MatchRecognizeParseError(
        "PATTERN without parentheses", span, hint="write PATTERN (A B+)"
    )


def pattern_not_closed(span: Span) -> MatchRecognizeParseError:
    """PATTERN ( without its closing parenthesis."""
    return MatchRecognizeParseError(
        "parenthesis of PATTERN is not closed",
        span,
        hint="add `)`; mind that `--` starts a comment, also in `{--` and `--}`",
    )


def out_of_order(later: str, earlier: str, span: Span) -> MatchRecognizeParseError:
    """A part after one that it must precede."""
    return MatchRecognizeParseError(
        f"{earlier} after {later} in MATCH_RECOGNIZE",
        span,
        notes=(_ORDER,),
        hint=f"write {earlier} before {later}",
    )


def written_twice(part: str, spans: tuple[Span, Span]) -> MatchRecognizeParseError:
    """A part of the clause that is there twice."""
    return MatchRecognizeParseError(
        f"{part} twice in MATCH_RECOGNIZE", *spans, hint=f"write one {part}"
    )


def missing_after(part: str, span: Span) -> MatchRecognizeParseError:
    """A part without content, or an item missing between commas."""
    return MatchRecognizeParseError(f"nothing where {part} needs an item", span)


def malformed_rows_per_match(span: Span) -> MatchRecognizeParseError:
    """ONE ROW or ALL ROWS with a wrong continuation."""
    return MatchRecognizeParseError(
        "malformed rows per match",
        span,
        hint=(
            "write ONE ROW PER MATCH, or ALL ROWS PER MATCH with SHOW EMPTY MATCHES, "
            "OMIT EMPTY MATCHES, WITH UNMATCHED ROWS or nothing"
        ),
    )


def malformed_skip(span: Span) -> MatchRecognizeParseError:
    """AFTER MATCH with a wrong continuation."""
    return MatchRecognizeParseError(
        "malformed AFTER MATCH SKIP",
        span,
        hint=("write AFTER MATCH SKIP PAST LAST ROW, TO NEXT ROW, TO FIRST A, TO LAST A or TO A"),
    )


def measure_without_name(text: str, span: Span) -> MatchRecognizeParseError:
    """A measure without AS."""
    return MatchRecognizeParseError(
        "measure without a name in MEASURES", span, hint=f"write {text} AS name"
    )


def malformed_subset(span: Span) -> MatchRecognizeParseError:
    """SUBSET that is not U = (A, B)."""
    return MatchRecognizeParseError("malformed SUBSET", span, hint="write SUBSET U = (A, B)")


def malformed_definition(span: Span) -> MatchRecognizeParseError:
    """DEFINE that is not A AS condition."""
    return MatchRecognizeParseError(
        "malformed DEFINE", span, hint="write DEFINE A AS condition, B AS condition"
    )


def search_outside_window(word: str, span: Span) -> MatchRecognizeUnsupportedError:
    """INITIAL or SEEK."""
    return MatchRecognizeUnsupportedError(
        f"{word} in MATCH_RECOGNIZE",
        span,
        notes=("INITIAL and SEEK belong to row pattern recognition in the WINDOW clause",),
        hint=f"remove {word}",
    )
