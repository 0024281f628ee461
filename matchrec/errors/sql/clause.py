"""Errors in the parts of the MATCH_RECOGNIZE clause: their order, brackets, options and items."""

from __future__ import annotations

import re
from collections.abc import Sequence

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
)
from matchrec.errors.language import current_surface, name_part
from matchrec.errors.misspellings import find_keyword, find_nearest
from matchrec.errors.sql.tokens import CLOSING_BRACKETS, PARTS_IN_ORDER, find_hint_for_token
from matchrec.errors.wording import join_lines, join_names, quote_in_backticks, shorten
from matchrec.source import Span

_ORDER = f"the order is: {PARTS_IN_ORDER}"


# The beginning of the clause, and its row pattern.


def unexpected_first_word(text: str, span: Span) -> MatchRecognizeParseError:
    """Return the error for a clause that does not begin with one of its parts."""
    hint = None
    order = _ORDER
    if text.upper() in ("SELECT", "WITH", "FROM", "MATCH_RECOGNIZE"):
        order = ""  # it is a whole query or clause, and the order of its parts may be right
    else:
        hint = find_hint_for_token(text, "MATCH_RECOGNIZE")
        keyword = find_keyword(text)
        if keyword is not None and keyword.split()[0] != text.upper():
            order = f"`{text}` is not a keyword"
    if hint is None:
        alone = "write the clause alone, from PARTITION BY to DEFINE"
        hint = f"{alone}, or pass a whole query to {current_surface().query_call}"
    return MatchRecognizeParseError(
        f"`{text}` is not allowed at the start of MATCH_RECOGNIZE",
        span,
        notes=(order,),
        hint=hint,
        code="unexpected-first-word",
    )


def empty_clause(span: Span, text: str) -> MatchRecognizeParseError:
    """Return the error for MATCH_RECOGNIZE (), or for a clause alone that is "".

    Args:
        span: what is between the parentheses, or all of the clause.
        text: the whole text. Only if something is written there, the message shows it.
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
        hint="add PATTERN (A B+) here",
        code="missing-pattern",
    )


def misspelt_pattern(span: Span, *, where: str, text: str) -> MatchRecognizeParseError:
    """Return the error for a word such as PATERN before the row pattern."""
    return MatchRecognizeParseError(
        f"missing PATTERN in {where}",
        span,
        notes=(f"`{text}` is not a keyword",),
        hint="write PATTERN",
        code="misspelt-pattern",
    )


def malformed_event_selection(span: Span, *, text: str) -> MatchRecognizeParseError:
    """Return the error for words of an event selection after PATTERN that do not make one.

    Args:
        span: the location in the text of the query.
        text: the words.
    """
    words = text.upper().split()
    if words[:2] == ["SKIP", "TILL"]:
        hint = f"write SKIP TILL NEXT MATCH or SKIP TILL ANY MATCH instead of {shorten(text)}"
    elif words[0] == "PARTITION":
        hint = f"write PARTITION BY at the start of the clause instead of {shorten(text)}"
    else:
        hint = f"leave {shorten(text)} out, or write one of these instead"
    return MatchRecognizeParseError(
        "unknown event selection after PATTERN",
        span,
        notes=(
            (
                "the event selections are STRICT CONTIGUITY, SKIP TILL NEXT MATCH and SKIP TILL "
                "ANY MATCH, then ALL MATCHES or NON-OVERLAPPING MATCHES; or LONGEST MATCH; then "
                "FIRST 10 MATCHES"
            ),
        ),
        hint=hint,
        code="malformed-event-selection",
    )


def skip_with_all_matches(span: Span, *, output: str) -> MatchRecognizeParseError:
    """Return the error for AFTER MATCH SKIP in a clause that returns other than preferred matches.

    An example is ALL MATCHES.
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


def pattern_without_parentheses(
    span: Span, *, row_pattern: str = "A B+"
) -> MatchRecognizeParseError:
    """Return the error for PATTERN A B+.

    Args:
        span: the location in the text of the query.
        row_pattern: the row pattern as the user wrote it, if it can be told from what follows.
    """
    return MatchRecognizeParseError(
        "missing parentheses after PATTERN",
        span,
        hint=f"write PATTERN ({join_lines(row_pattern)})",
        code="pattern-without-parentheses",
    )


def sase_as_clause(span: Span) -> MatchRecognizeParseError:
    """Return the error for a text of SASE+, PATTERN SEQ(...), where a clause belongs."""
    surface = current_surface()
    hint = surface.advice_on_clause.format(name="match_sase")
    if surface.is_python:
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
    """Return the notes on a missing bracket that a comment may have swallowed.

    Args:
        query: the text of the query. There is no note if nothing in it starts a comment.
    """
    return ("`--` starts a comment, also in `{--` and `--}`",) if "--" in query else ()


def clause_not_closed(*spans: Span, query: str) -> MatchRecognizeParseError:
    """Return the error for a clause whose last `)` closes an inner parenthesis.

    Args:
        spans: the locations in the text of the query, the main one first.
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
        opening: the bracket.
        keyword: the part before which it should be closed, if there is one.
    """
    missing_at = f"before {keyword}" if keyword else "where it ends"
    return _bracket_error(
        f"`{opening}` is not closed in MATCH_RECOGNIZE",
        *spans,
        query=query,
        hint=f"add `{CLOSING_BRACKETS[opening]}` {missing_at}",
    )


def clause_bracket_not_closed(span: Span, *, query: str) -> MatchRecognizeParseError:
    """Return the error for the opening parenthesis of the clause if only it is not closed."""
    return _bracket_error(
        "`(` of MATCH_RECOGNIZE is not closed",
        span,
        query=query,
        hint="add `)` at the end of the clause",
    )


def brackets_open_at_end(
    *spans: Span, query: str, openings: Sequence[str]
) -> MatchRecognizeParseError:
    """Return the error for a text that ends inside of a bracket of the clause.

    Args:
        spans: the brackets that are not closed, the innermost one first.
        query: the text of the query.
        openings: these brackets.
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
    """Return the error for a `)` too many, which closes the clause before one of its parts."""
    return MatchRecognizeParseError(
        f"parenthesis of MATCH_RECOGNIZE is closed before {keyword}",
        *spans,
        hint=f"remove one `)` before {keyword}, or add the `(` that it closes",
        code="clause-closed-too-early",
    )


# Parts of the clause: their place and order.


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
    """Return the error for a part of the clause that must precede an earlier one.

    Args:
        span: the location in the text of the query.
        earlier: the part.
        later: the part that precedes it in the clause.
        order: the parts of the clause in the right order.
    """
    return MatchRecognizeParseError(
        f"{earlier} is not allowed after {later} in MATCH_RECOGNIZE",
        span,
        hint=f"write the parts in this order: {join_names(order)}",
        code="part-out-of-order",
    )


def duplicate_part(*spans: Span, part: str) -> MatchRecognizeParseError:
    """Return the error for a part that the clause has twice."""
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
    """Return the error for a comma with nothing before or after it."""
    return MatchRecognizeParseError(
        f"{part} has a comma too many", span, hint="remove the comma", code="extra-comma"
    )


# WITHIN and FIRST n MATCHES.


def duplicate_within(*spans: Span) -> MatchRecognizeParseError:
    """Return the error for two lengths of WITHIN between the same rows."""
    return MatchRecognizeParseError(
        "WITHIN limits the distance between the same rows twice",
        *spans,
        hint="keep the smaller window",
        code="duplicate-within",
    )


def within_rows_and_time(*spans: Span) -> MatchRecognizeParseError:
    """Return the error for WITHIN between the same rows as a time and as a number of rows."""
    return MatchRecognizeParseError(
        "WITHIN limits both the time and the number of rows",
        *spans,
        hint="keep one, and write the other as a condition in DEFINE, such as count(*) <= 20",
        code="within-rows-and-time",
    )


def _find_number_in_quotes(text: str) -> str | None:
    """Return the number in a string such as `'5'`; None for other texts and for 0."""
    number = text.strip("'\"")
    is_in_quotes = number != text and number.isdecimal() and number.strip("0") != ""
    return number if is_in_quotes else None


def not_a_number_of_rows(span: Span | None, *, number: str, limit: int) -> MatchRecognizeParseError:
    """Return the error for WITHIN n ROWS if n is not a number from 1 to the limit."""
    return MatchRecognizeParseError(
        f"`{number}` is not a number of rows for WITHIN",
        span,
        notes=(
            (
                "WITHIN n ROWS limits the rows of the partition that a match spans; n is from 1 to "
                f"{limit:,}"
            ),
        ),
        hint=f"write WITHIN {_find_number_in_quotes(number) or 20} ROWS",
        code="not-a-number-of-rows",
    )


def not_a_number_of_matches(
    span: Span | None, *, number: str, limit: int
) -> MatchRecognizeParseError:
    """Return the error for FIRST n MATCHES if n is not a number from 1 to the limit."""
    return MatchRecognizeParseError(
        f"`{number}` is not a number of matches for FIRST",
        span,
        notes=(f"FIRST n MATCHES limits the matches of each partition; n is from 1 to {limit:,}",),
        hint=f"write FIRST {_find_number_in_quotes(number) or 10} MATCHES",
        code="not-a-number-of-matches",
    )


def missing_interval(span: Span, *, text: str) -> MatchRecognizeParseError:
    """Return the error for WITHIN 30 MINUTES."""
    return MatchRecognizeParseError(
        "missing INTERVAL in WITHIN",
        span,
        hint=f"write WITHIN INTERVAL {text}",
        code="missing-interval",
    )


def unit_without_interval(
    span: Span, *, amount: str, number: str, type_name: str, unit: str
) -> MatchRecognizeParseError:
    """Return the error for WITHIN 30s.

    In Spark SQL a letter after a number is its type, but most users mean a unit.

    Args:
        span: the location in the text of the query.
        amount: the number with its letter.
        number: the number.
        type_name: the type that Spark SQL reads.
        unit: the unit that the letter probably means.
    """
    return MatchRecognizeParseError(
        f"`{amount}` in WITHIN is not a length of time",
        span,
        notes=(f"Spark SQL reads it as the number {number} of type {type_name}",),
        hint=(
            f"write INTERVAL {number} {unit}, or {number} for a number in the unit of "
            f"{name_part('ORDER BY')}"
        ),
        code="unit-without-interval",
    )


def interval_without_unit(
    span: Span, *, number: str, where: str, unit: str
) -> MatchRecognizePlanError:
    """Return the error for INTERVAL 5.

    It is also for WITHIN INTERVAL :gap if the value of the parameter has no unit.

    Args:
        span: the location in the text of the query.
        number: the number or the parameter.
        where: the clause.
        unit: the unit to write.
    """
    return MatchRecognizePlanError(
        f"INTERVAL {number} in {where} has a number without a unit",
        span,
        hint=f"write INTERVAL {number} {unit}",
        code="interval-without-unit",
    )


def interval_with_parameter(
    span: Span, *, parameter: str, where: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for INTERVAL and a parameter outside WITHIN."""
    surface = current_surface()
    return MatchRecognizeUnsupportedError(
        f"INTERVAL {parameter} is not supported in {where}",
        span,
        notes=("only WITHIN takes INTERVAL and a parameter",),
        hint=f"write {parameter} alone, and {surface.advise_on_length(parameter)}",
        code="interval-with-parameter",
    )


# Output options and AFTER MATCH SKIP.

_OUTPUTS = (
    "ONE ROW PER MATCH",
    "ALL ROWS PER MATCH",
    "ALL ROWS PER MATCH SHOW EMPTY MATCHES",
    "ALL ROWS PER MATCH OMIT EMPTY MATCHES",
    "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
)


def malformed_rows_per_match(text: str, span: Span) -> MatchRecognizeParseError:
    """Return the error for ONE ROWS PER MATCH, or for a combination that does not exist."""
    words = " ".join(text.upper().split())
    near = find_nearest(words, _OUTPUTS)
    headline = f"unknown output option `{shorten(text)}` in MATCH_RECOGNIZE"
    notes: tuple[str, ...] = (
        (
            "after ALL ROWS PER MATCH, MATCH_RECOGNIZE takes SHOW EMPTY MATCHES, OMIT EMPTY "
            "MATCHES or WITH UNMATCHED ROWS"
        ),
        (
            "for runs that are not matches, write SHOW TIMEOUT MATCHES, SHOW UNFINISHED MATCHES or "
            "SHOW TIMEOUT AND UNFINISHED MATCHES"
        ),
    )
    for rows in ("ONE ROW", "ALL ROWS"):
        output = words.replace(rows, f"{rows} PER MATCH", 1)
        if words.startswith(rows) and output in _OUTPUTS:
            headline, notes, near = f"missing PER MATCH after {rows}", (), output
    hint = f"write {near}" if near else "write ONE ROW PER MATCH or ALL ROWS PER MATCH"
    return MatchRecognizeParseError(
        headline, span, notes=notes, hint=hint, code="malformed-rows-per-match"
    )


# What people write after AFTER MATCH SKIP, and what they mean by it.
_MEANT_SKIPS = {
    "PAST NEXT ROW": "TO NEXT ROW",
    "TO THE NEXT ROW": "TO NEXT ROW",
    "TO NEXT": "TO NEXT ROW",
    "NEXT": "TO NEXT ROW",
    "TO LAST ROW": "PAST LAST ROW",
    "LAST ROW": "PAST LAST ROW",
    "PAST THE LAST ROW": "PAST LAST ROW",
    "TO PAST LAST ROW": "PAST LAST ROW",
    "PAST LAST": "PAST LAST ROW",
    "PAST ROW": "PAST LAST ROW",
    "PAST": "PAST LAST ROW",
}
_CORRECT_SKIP = re.compile(r"TO NEXT ROW|PAST LAST ROW|TO (?:FIRST |LAST )?\w+", re.IGNORECASE)
_SKIP_WITHOUT_TO = re.compile(r"(?:NEXT ROW|(?:FIRST|LAST) (?!ROW$)\S+)", re.IGNORECASE)
# These two are allowed for every PATTERN.
_SKIPS_OF_EVERY_PATTERN = "write AFTER MATCH SKIP PAST LAST ROW or AFTER MATCH SKIP TO NEXT ROW"
_SKIPS_TO_VARIABLES = (
    "the other strategies are SKIP TO FIRST and SKIP TO LAST, with a variable of PATTERN"
)


def malformed_skip(span: Span, *, text: str) -> MatchRecognizeParseError:
    """Return the error for AFTER MATCH SKIP with other words than it has."""
    written = " ".join(text.split())
    words = written.upper()
    strategy = re.sub("(?i)^AFTER MATCH ?(SKIP)? ?", "", written)
    headline = f"unknown skip strategy `{shorten(text)}` in MATCH_RECOGNIZE"
    notes: tuple[str, ...] = ()
    if strategy.upper() in _MEANT_SKIPS:
        hint = f"write AFTER MATCH SKIP {_MEANT_SKIPS[strategy.upper()]}"
    elif _CORRECT_SKIP.fullmatch(strategy) and "SKIP" not in words.split():
        hint = f"write AFTER MATCH SKIP {strategy}"
    elif _SKIP_WITHOUT_TO.fullmatch(strategy):
        headline, hint = "missing TO in AFTER MATCH SKIP", f"write SKIP TO {strategy}"
    else:
        hint = _SKIPS_OF_EVERY_PATTERN
        notes = (_SKIPS_TO_VARIABLES,)
    if words in ("AFTER MATCH SKIP", "AFTER MATCH SKIP TO"):
        headline = f"missing row to skip to after {words} in MATCH_RECOGNIZE"
    return MatchRecognizeParseError(headline, span, notes=notes, hint=hint, code="malformed-skip")


# Items of MEASURES, SUBSET and DEFINE.


def measure_without_name(span: Span, *, text: str, name: str) -> MatchRecognizeParseError:
    """Return the error for a measure without AS.

    Args:
        span: the location in the text of the query.
        text: the expression.
        name: a name that it could have.
    """
    return MatchRecognizeParseError(
        "missing name of a measure in MEASURES",
        span,
        hint=f"write {shorten(text)} AS {name}",
        code="measure-without-name",
    )


def star_as_measure(span: Span, *, text: str) -> MatchRecognizeParseError:
    """Return the error for `*` or `A.*` as a measure."""
    prefix = text.removesuffix("*").strip()
    return MatchRecognizeParseError(
        f"`{text}` is not allowed in MEASURES",
        span,
        notes=("a measure is one expression with a name",),
        hint=f"name each column, as in {prefix}x AS x; ALL ROWS PER MATCH gives every input column",
        code="star-as-measure",
    )


def string_as_name(span: Span, *, what: str, clause: str, text: str) -> MatchRecognizeParseError:
    """Return the error for a string after AS, as in MEASURES x AS 'y'."""
    return MatchRecognizeParseError(
        f"the name of a {what} in {clause} is a string",
        span,
        hint=f"write AS {quote_in_backticks(text)}",
        code="string-as-name",
    )


def malformed_subset(span: Span, *, text: str) -> MatchRecognizeParseError:
    """Return the error for a definition in SUBSET without parentheses or members.

    Args:
        span: the location in the text of the query.
        text: the definition. `U = A` may be the beginning of `U = A, B`.

    >>> print(malformed_subset(Span(0, 8), text="U (A, B)"))
    `U (A, B)` in SUBSET does not have the form U = (A, B) [malformed-subset]
      help: write SUBSET U = (A, B)
    """
    definition, closing, rest = text.partition(")")
    names = re.findall(r"\w+", definition)
    if names:
        members = ", ".join(names[1:]) or "A, B"
        more = ", ..." if names[1:] and not closing else ""
        next_definition = f", {rest.strip()}" if rest.strip() else ""
        hint = f"write SUBSET {names[0]} = ({members}{more}){next_definition}"
    else:
        hint = "write SUBSET U = (A, B)"
    return MatchRecognizeParseError(
        f"`{shorten(text)}` in SUBSET does not have the form U = (A, B)",
        span,
        hint=hint,
        code="malformed-subset",
    )


def malformed_definition(
    text: str, proposal: tuple[str, str] | None, after_comma: bool, span: Span
) -> MatchRecognizeParseError:
    """Return the error for a definition that does not have the form `A AS condition`.

    Args:
        text: the definition.
        proposal: a variable and the text that may be its condition; None if the definition does
            not begin with a name.
        after_comma: whether a comma precedes the definition.
        span: the definition in the text of the query.
    """
    hint = "write DEFINE A AS x > 1, B AS x > 2"
    without_condition = re.fullmatch(r"(?i)([`\w]+)\s+AS", text)
    without_variable = re.match(r"(?i)AS\s+(?=[^\s.=<>!])", text)
    if without_condition is not None:
        hint = f"write a condition after AS, such as {without_condition[1]} AS x > 1"
    elif without_variable is not None:
        hint = f"write a variable before AS: A {shorten(text)}"
    elif proposal is not None:
        variable, condition = proposal
        # the help for `A < 5` is not `A AS < 5`, because no condition begins with an operator
        if condition[0] not in "<>!":
            hint = f"write {variable} AS {shorten(condition)}"
    joining_word = re.match(r"(?i)(AND|OR)\b", text)
    if after_comma and joining_word is not None:
        hint = f"remove the comma before {joining_word[1]}"
    elif after_comma and re.fullmatch(r"\d+", text):
        hint = "write AND between the bounds of BETWEEN, and a point before decimals: 1.05"
    elif after_comma:
        hint += ", or AND instead of the comma"
    return MatchRecognizeParseError(
        f"`{shorten(text)}` in DEFINE does not have the form A AS condition",
        span,
        hint=hint,
        code="malformed-definition",
    )


def and_between_definitions(
    span: Span, *, word: str, definition: str = ""
) -> MatchRecognizeParseError:
    """Return the error for AND or OR instead of the comma between two definitions.

    Args:
        span: the word in the text of the query.
        word: AND or OR.
        definition: the definition that the word precedes, if no comma is missing, as in
            `DEFINE A AS x > 1, AND B AS x > 2`; otherwise "".
    """
    where, hint = "between two variables", "write a comma instead: DEFINE A AS x > 1, B AS x > 2"
    if definition:
        where, hint = "before a variable", f"remove {word}: {shorten(definition)}"
    return MatchRecognizeParseError(
        f"{word} is not allowed {where} in DEFINE", span, hint=hint, code="and-between-definitions"
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
