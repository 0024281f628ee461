"""Errors in the structure of the MATCH_RECOGNIZE clause: its brackets, and the order of its parts.

Errors in one part are in `clause_items`, `limits`, `match_options` and `pattern`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from matchrec.errors.kinds import MatchRecognizeParseError, MatchRecognizeUnsupportedError
from matchrec.errors.misspellings import find_keyword
from matchrec.errors.misspelt_keywords import misspelt_keyword
from matchrec.errors.run.expression_text import blank_comments
from matchrec.errors.run.origins import read_users_text_around
from matchrec.errors.sql.brackets import CLOSING_BRACKETS
from matchrec.errors.sql.token_advice import PARTS_IN_ORDER, find_hint_for_token
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import join_lines, join_names
from matchrec.source import Span

_ORDER = f"the order is: {PARTS_IN_ORDER}"


# The beginning of the clause, and its row pattern.


def unexpected_first_word(text: str, span: Span) -> MatchRecognizeParseError:
    """Return the error for a clause that does not begin with one of its parts.

    Args:
        text: the first word.
        span: the first word in the text of the clause.
    """
    advice_on_query = (
        "write the clause alone, from PARTITION BY to DEFINE, or pass a whole query to "
        f"{current_surface().query_call}"
    )
    if text.upper() in ("SELECT", "WITH", "FROM", "MATCH_RECOGNIZE"):
        # The text is a whole query or clause, and the order of its parts may be right.
        notes: tuple[str, ...] = ()
        hint = advice_on_query
    else:
        keyword = find_keyword(text)
        if keyword is not None and keyword.split()[0] != text.upper():
            return misspelt_keyword(span, text=text, keyword=keyword, where="MATCH_RECOGNIZE")
        notes = (_ORDER,)
        hint = find_hint_for_token(text, "MATCH_RECOGNIZE") or advice_on_query
    return MatchRecognizeParseError(
        f"`{text}` is not allowed at the start of a clause",
        span,
        notes=notes,
        hint=hint,
        code="unexpected-first-word",
    )


def empty_clause(span: Span, text: str) -> MatchRecognizeParseError:
    """Return the error for MATCH_RECOGNIZE (), or for a clause alone that is "".

    Args:
        span: the location of the text between the parentheses, or of the whole clause.
        text: the whole text of the query. The message shows an excerpt unless the text is blank.
    """
    return MatchRecognizeParseError(
        "missing PATTERN in MATCH_RECOGNIZE",
        span if text.strip() else None,
        notes=("the clause is empty",),
        hint="write at least PATTERN (A)",
        code="missing-pattern",
    )


def missing_pattern(span: Span) -> MatchRecognizeParseError:
    """Return the error for a clause that has parts, but no PATTERN."""
    return MatchRecognizeParseError(
        "missing PATTERN in MATCH_RECOGNIZE",
        span,
        notes=(_ORDER,),
        hint=f"add PATTERN ({_list_defined_variables(span) or 'A B+'}) here",
        code="missing-pattern",
    )


def _list_defined_variables(span: Span) -> str:
    """Return the variables of DEFINE if it begins at a span, with blanks between them; else ""."""
    text, start = read_users_text_around(span)
    if not text[start:].upper().startswith("DEFINE"):
        return ""
    return " ".join(re.findall(r"(?i)(?:^DEFINE|,)\s+([^\W\d]\w*)\s+AS\s", text[start:]))


def skip_with_all_matches(span: Span, *, output: str) -> MatchRecognizeParseError:
    """Return the error for AFTER MATCH SKIP in a clause that does not return preferred matches.

    Args:
        span: AFTER MATCH SKIP in the text of the query.
        output: the choice of matches, such as ALL MATCHES.
    """
    return MatchRecognizeParseError(
        f"AFTER MATCH SKIP is not allowed with {output} in MATCH_RECOGNIZE",
        span,
        notes=("AFTER MATCH SKIP says where the search for the next preferred match begins",),
        hint=f"remove AFTER MATCH SKIP, or remove {output}",
        code="skip-with-all-matches",
    )


def symbol_outside_pattern(span: Span, *, symbol: str, text: str) -> MatchRecognizeParseError:
    """Return the error for a symbol after the parentheses of PATTERN, as in PATTERN (A B) $.

    Args:
        span: the location in the text of the query.
        symbol: the symbol.
        text: the whole row pattern.
    """
    return MatchRecognizeParseError(
        f"`{symbol}` is not allowed outside the parentheses of PATTERN",
        span,
        hint=f"write PATTERN ({join_lines(text)})",
        code="symbol-outside-pattern",
    )


def part_inside_pattern(
    span: Span, *, part: str, text: str, row_pattern: str, precedes_pattern: bool
) -> MatchRecognizeParseError:
    """Return the error for a part of the clause that is in the parentheses of PATTERN.

    An example is `PATTERN (A B+ WITHIN 5 ROWS)`.

    Args:
        span: the part in the text of the query.
        part: the keyword of the part, `WITHIN`.
        text: the part as the help writes it, `WITHIN 5 ROWS`.
        row_pattern: the row pattern without the part, `A B+`.
        precedes_pattern: whether the part must be written before PATTERN.
    """
    pattern = f"PATTERN ({join_lines(row_pattern)})"
    first, second = (text, pattern) if precedes_pattern else (pattern, text)
    return MatchRecognizeParseError(
        f"{part} is not allowed inside the parentheses of PATTERN",
        span,
        hint=f"write {first} {second}",
        code="part-inside-pattern",
    )


def pattern_without_parentheses(
    span: Span, *, row_pattern: str = "A B+"
) -> MatchRecognizeParseError:
    """Return the error for PATTERN A B+.

    Args:
        span: the location in the text of the query.
        row_pattern: the row pattern as the user wrote it; an example if its end is not clear.
    """
    string = re.fullmatch(r"\s*'([^']+)'\s*", row_pattern)
    unquoted = "" if string is None else join_lines(string[1])
    return MatchRecognizeParseError(
        "missing parentheses after PATTERN",
        span,
        hint=f"write PATTERN ({unquoted or join_lines(row_pattern)})",
        code="pattern-without-parentheses",
    )


def sase_as_clause(span: Span) -> MatchRecognizeParseError:
    """Return the error for a text of SASE+, PATTERN SEQ(...), where a clause belongs."""
    surface = current_surface()
    hint = surface.advice_on_clause.format(name="match_sase")
    if surface.has_python_calls:
        hint = 'pass it to matchrec.match_sase(df, text, order_by="...")'
    return MatchRecognizeParseError(
        "PATTERN SEQ is not allowed in MATCH_RECOGNIZE",
        span,
        notes=("a text that begins with PATTERN SEQ is SASE+",),
        hint=hint,
        code="sase-as-clause",
    )


# Brackets.


def list_comment_notes(query: str) -> tuple[str, ...]:
    """Return the note that a bracket may be missing because it is in a comment, or no notes.

    Args:
        query: the text of the query. There is no note if it has no `--`.
    """
    return ("`--` starts a comment, also in `{--` and `--}`",) if "--" in query else ()


def clause_not_closed(*spans: Span, query: str) -> MatchRecognizeParseError:
    """Return the error for a clause whose last `)` closes an inner parenthesis.

    Args:
        spans: the inner parenthesis, then other locations in the text of the query.
        query: the text of the query.
    """
    return MatchRecognizeParseError(
        "missing `)` of MATCH_RECOGNIZE: the last `)` closes this `(`",
        *spans,
        notes=list_comment_notes(query),
        hint="add `)` where this parenthesis ends",
        code="clause-not-closed",
    )


def bracket_not_closed(
    *spans: Span, query: str, opening: str = "(", keyword: str | None = None
) -> MatchRecognizeParseError:
    """Return the error for a bracket in the clause that is not closed.

    Args:
        spans: the locations in the text of the query, the main one first.
        query: the text of the query.
        opening: the opening bracket.
        keyword: the part of the clause before which the bracket must be closed; None if no part
            follows.
    """
    missing_at = f"before {keyword}" if keyword else "where it ends"
    return _bracket_error(
        f"`{opening}` is not closed in MATCH_RECOGNIZE",
        *spans,
        query=query,
        hint=f"add `{CLOSING_BRACKETS[opening]}` {missing_at}",
    )


def clause_bracket_not_closed(span: Span, *, query: str) -> MatchRecognizeParseError:
    """Return the error for a clause whose opening parenthesis alone is not closed."""
    comment = find_comment_with_parenthesis(query, span.end)
    if comment is not None:
        return parenthesis_in_comment(span, comment=comment)
    return _bracket_error(
        "`(` of MATCH_RECOGNIZE is not closed",
        span,
        query=query,
        hint="add `)` at the end of the clause",
    )


def find_comment_with_parenthesis(query: str, start: int) -> Span | None:
    """Return the first comment `-- ...` from `start` on that has a `)`; None if no comment has one.

    The end of the clause is probably in the comment, because the query was joined to one line.

    >>> query = "MATCH_RECOGNIZE (-- by day\\nORDER BY day -- as usual PATTERN (A))"
    >>> span = find_comment_with_parenthesis(query, 17)
    >>> query[span.start : span.end]
    '-- as usual PATTERN (A))'
    >>> find_comment_with_parenthesis("MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS x = '-- )'", 17)
    """
    code = blank_comments(query)
    for comment in re.finditer(r"--[^\n]*\)[^\n]*", query[start:]):
        span = Span(start + comment.start(), start + comment.end())
        if code[span.start : span.end].isspace():
            return span
    return None


def parenthesis_in_comment(opening: Span, *, comment: Span) -> MatchRecognizeParseError:
    """Return the error for a clause whose `)` is in a comment, and is therefore not read.

    Args:
        opening: the `(` of the clause in the text of the query.
        comment: the comment in the text of the query.
    """
    return MatchRecognizeParseError(
        "the `)` of MATCH_RECOGNIZE is in a comment",
        Span(comment.start, comment.start + 2),
        opening,
        notes=("`--` starts a comment up to the end of the line, so its `)` does not count",),
        hint="end the line after the comment, or write the comment as /* ... */",
        code="parenthesis-in-comment",
    )


def brackets_open_at_end(
    *spans: Span, query: str, openings: Sequence[str]
) -> MatchRecognizeParseError:
    """Return the error for a text that ends inside of a bracket of the clause.

    Args:
        spans: the brackets that are not closed, the innermost one first.
        query: the text of the query.
        openings: the characters at these spans, in the same order.
    """
    closings = "".join(CLOSING_BRACKETS[opening] for opening in openings)
    return _bracket_error(
        f"`{openings[0]}` is not closed in MATCH_RECOGNIZE",
        *spans,
        query=query,
        hint=f"add `{closings}` at the end",
    )


def _bracket_error(headline: str, *spans: Span, query: str, hint: str) -> MatchRecognizeParseError:
    """Return an error for a bracket that is not closed."""
    return MatchRecognizeParseError(
        headline, *spans, notes=list_comment_notes(query), hint=hint, code="bracket-not-closed"
    )


def clause_closed_too_early(*spans: Span, keyword: str) -> MatchRecognizeParseError:
    """Return the error for a surplus `)`, which closes the clause before one of its parts.

    Args:
        spans: the surplus `)`, then other locations in the text of the query.
        keyword: the keyword of the first part after the `)`, such as DEFINE.
    """
    return MatchRecognizeParseError(
        f"parenthesis of MATCH_RECOGNIZE is closed before {keyword}",
        *spans,
        hint=f"remove one `)` before {keyword}, or add the `(` that it closes",
        code="clause-closed-too-early",
    )


# Parts of the clause: their location, their order and their content.


def part_outside_clause(span: Span, *, part: str) -> MatchRecognizeParseError:
    """Return the error for a part of the clause that is written after its `)`."""
    match part.upper():
        case "PATTERN":
            hint = "move it into the parentheses"
        case "WITHIN" | "SUBSET" | "DEFINE":
            hint = "move it into the parentheses, after PATTERN (...)"
        case _:
            hint = "move it into the parentheses, before PATTERN"
    return MatchRecognizeParseError(
        f"{part} is not allowed after the closing parenthesis of MATCH_RECOGNIZE",
        span,
        notes=(_ORDER,),
        hint=hint,
        code="part-outside-clause",
    )


def part_out_of_order(
    span: Span, *, earlier: str, later: str, order: Sequence[str]
) -> MatchRecognizeParseError:
    """Return the error for a part of the clause that is written after a part that it must precede.

    Args:
        span: the keyword of the part `earlier` in the text of the query.
        earlier: the part that must be earlier, such as ORDER BY.
        later: the part that must be later, such as MEASURES.
        order: the parts of the clause in the right order.
    """
    return MatchRecognizeParseError(
        f"{earlier} is not allowed after {later} in MATCH_RECOGNIZE",
        span,
        hint=f"write the parts in this order: {join_names(order)}",
        code="part-out-of-order",
    )


def duplicate_part(*spans: Span, part: str) -> MatchRecognizeParseError:
    """Return the error for a part that the clause has twice.

    Args:
        spans: the two keywords in the text of the query, in their order.
        part: the part, such as ORDER BY.
    """
    return MatchRecognizeParseError(
        f"{part} is written twice in MATCH_RECOGNIZE",
        *spans,
        hint=f"write one {part}",
        code="duplicate-part",
    )


def empty_part(span: Span, *, part: str) -> MatchRecognizeParseError:
    """Return the error for a part of the clause with nothing after its keyword."""
    hint: str | None
    match part.upper():
        case "PARTITION BY" | "ORDER BY":
            hint = f"write {part} x, or leave {part} out"
        case "MEASURES":
            hint = f"write MEASURES LAST(x) AS name, or leave {part} out"
        case "WITHIN":
            hint = f"write WITHIN INTERVAL 1 HOUR, or leave {part} out"
        case "SUBSET":
            hint = f"write SUBSET U = (A, B), or leave {part} out"
        case "DEFINE":
            hint = f"write DEFINE A AS x > 1, or leave {part} out"
        case _:
            hint = None
    return MatchRecognizeParseError(
        f"nothing follows {part} in MATCH_RECOGNIZE", span, hint=hint, code="empty-part"
    )


def extra_comma(span: Span, *, part: str) -> MatchRecognizeParseError:
    """Return the error for a comma of a part of the clause without an item on one of its sides."""
    return MatchRecognizeParseError(
        f"{part} has a comma too many", span, hint="remove the comma", code="extra-comma"
    )


def initial_or_seek_outside_window(span: Span, *, word: str) -> MatchRecognizeUnsupportedError:
    """Return the error for INITIAL or SEEK in the MATCH_RECOGNIZE clause."""
    return MatchRecognizeUnsupportedError(
        f"{word} in MATCH_RECOGNIZE is not supported",
        span,
        notes=("INITIAL and SEEK belong to row pattern recognition in the WINDOW clause",),
        hint=f"remove {word}",
        code="initial-or-seek-outside-window",
    )
