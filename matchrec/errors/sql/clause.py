"""Errors in the parts of the MATCH_RECOGNIZE clause: their order, brackets, options and items."""

from __future__ import annotations

import re
from collections.abc import Sequence

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
)
from matchrec.errors.language import name_part
from matchrec.errors.lengths import Length
from matchrec.errors.misspellings import find_keyword
from matchrec.errors.misspelt_keywords import misspelt_keyword
from matchrec.errors.run.origins import read_users_text, read_users_text_around
from matchrec.errors.sql.brackets import CLOSING_BRACKETS
from matchrec.errors.sql.token_advice import MAX_AROUND, PARTS_IN_ORDER, find_hint_for_token
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import join_lines, join_names, quote_in_backticks, shorten
from matchrec.source import Span

_ORDER = f"the order is: {PARTS_IN_ORDER}"


# The beginning of the clause, and its row pattern.


def unexpected_first_word(text: str, span: Span) -> MatchRecognizeParseError:
    """Return the error for a clause that does not begin with one of its parts."""
    hint = None
    note = _ORDER
    if text.upper() in ("SELECT", "WITH", "FROM", "MATCH_RECOGNIZE"):
        note = ""  # the text is a whole query or clause, and the order of its parts may be right
    else:
        hint = find_hint_for_token(text, "MATCH_RECOGNIZE")
        keyword = find_keyword(text)
        if keyword is not None and keyword.split()[0] != text.upper():
            return misspelt_keyword(span, text=text, keyword=keyword, where="MATCH_RECOGNIZE")
    if hint is None:
        alone = "write the clause alone, from PARTITION BY to DEFINE"
        hint = f"{alone}, or pass a whole query to {current_surface().query_call}"
    return MatchRecognizeParseError(
        f"`{text}` is not allowed at the start of MATCH_RECOGNIZE",
        span,
        notes=(note,),
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
    """Return the note on a bracket that may be missing because it is in a comment.

    Args:
        query: the text of the query. The result is empty if the text has no `--`.
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
    """Return the error for a surplus `)`, which closes the clause before one of its parts."""
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
    """Return the error for a comma of a part of the clause without an item on one of its sides."""
    return MatchRecognizeParseError(
        f"{part} has a comma too many", span, hint="remove the comma", code="extra-comma"
    )


# WITHIN and FIRST n MATCHES.


def duplicate_within(*spans: Span) -> MatchRecognizeParseError:
    """Return the error for a clause in which WITHIN has two lengths for the same rows."""
    return MatchRecognizeParseError(
        "WITHIN limits the distance between the same rows twice",
        *spans,
        hint="keep the smaller window",
        code="duplicate-within",
    )


def within_rows_and_time(*spans: Span) -> MatchRecognizeParseError:
    """Return the error for WITHIN with a time and a number of rows for the same rows."""
    texts = [read_users_text(span) or "" for span in spans]
    numbers = [number for text in texts for number in re.findall(r"(?i)(\d+)\s+ROWS", text)]
    rows = numbers[0] if numbers else "20"
    return MatchRecognizeParseError(
        "WITHIN limits both the time and the number of rows",
        *spans,
        hint=f"keep one, and write the other as a condition in DEFINE, such as count(*) <= {rows}",
        code="within-rows-and-time",
    )


def _find_number_in_text(text: str) -> str | None:
    """Return the number in a text such as `'5'`, `LAST 5` or `<= 5`; None for others and for 0."""
    number = re.fullmatch(r"(?:[A-Za-z]+|[<=]+|['\"])?\s*0*([1-9]\d*)['\"]?", text)
    return None if number is None else number[1]


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
        hint=f"write WITHIN {_find_number_in_text(number) or 20} ROWS",
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
        hint=f"write FIRST {_find_number_in_text(number) or 10} MATCHES",
        code="not-a-number-of-matches",
    )


def missing_interval(
    span: Span, *, text: str, sort_key: str, seconds: str
) -> MatchRecognizeParseError:
    """Return the error for WITHIN 30 MINUTES.

    The types of columns are not known yet, so the help says what to write for each type.

    Args:
        span: the length in the text of the query.
        text: the length.
        sort_key: the key of ORDER BY; "" if it is not a name.
        seconds: the length in seconds; "" if it is not a whole number of seconds.
    """
    hint = f"write WITHIN INTERVAL {text}"
    if seconds:
        key = sort_key or name_part("ORDER BY")
        hint += f"; if {key} is a number of seconds instead of a time, write WITHIN {seconds}"
    return MatchRecognizeParseError(
        "missing INTERVAL in WITHIN", span, hint=hint, code="missing-interval"
    )


def variables_after_between(
    span: Span, *, length: str, first: str, last: str
) -> MatchRecognizeParseError:
    """Return the error for WITHIN INTERVAL 1 HOUR BETWEEN A AND B.

    Args:
        span: the text from BETWEEN on in the text of the query.
        length: the length before BETWEEN.
        first: the variable after BETWEEN.
        last: the variable after AND.
    """
    return MatchRecognizeParseError(
        "BETWEEN with two variables is not allowed in WITHIN",
        span,
        hint=f"write WITHIN {length} FROM {first} TO {last}",
        code="variables-after-between",
    )


def unit_without_interval(
    span: Span | None, *, text: str, length: Length, type_name: str = ""
) -> MatchRecognizeParseError:
    """Return the error for WITHIN 30s, WITHIN 10 min and WITHIN PT5M.

    In Spark SQL a letter after a number may be its type, but most users mean a unit.

    Args:
        span: the location in the text of the query.
        text: the length as it is written, `30s`.
        length: the length that the text probably means.
        type_name: the type that Spark SQL reads from the letter; "" if it reads something else.
    """
    hint = f"write WITHIN {length.sql}"
    number = length.amounts[0][0]
    if re.fullmatch(r"\d+[A-Za-z]+", text):
        hint += f", or {number} for a number in the unit of {name_part('ORDER BY')}"
    note = f"Spark SQL reads it as the number {number} of type {type_name}"
    return MatchRecognizeParseError(
        f"`{shorten(text)}` in WITHIN is not a length of time",
        span,
        notes=(note if type_name else "",),
        hint=hint,
        code="unit-without-interval",
    )


def interval_without_unit(
    span: Span, *, number: str, where: str, unit: str
) -> MatchRecognizePlanError:
    """Return the error for INTERVAL 5, and for INTERVAL :gap if the value of :gap has no unit.

    Args:
        span: the location in the text of the query.
        number: the number or the parameter.
        where: the clause.
        unit: the unit that the help writes as an example.
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


# Items of MEASURES, SUBSET and DEFINE.


def measure_without_name(
    span: Span, *, text: str, name: str = "", what: str = "measure", clause: str = "MEASURES"
) -> MatchRecognizeParseError:
    """Return the error for a measure without AS, or for AS without a name.

    Args:
        span: the location in the text of the query.
        text: the expression.
        name: the name that the user probably means; "" if the expression must suggest one.
        what: what the name is for: a measure, or a partition column, which needs no name.
        clause: the part of the clause.
    """
    without_name = f"{shorten(text)}, or " if clause == "PARTITION BY" else ""
    missing = "name"
    hint = f"write {without_name}{shorten(text)} AS {name or _suggest_name(text)}"
    if re.match(r"(?i)AS\s", text):  # `MEASURES AS p`
        missing = "value"
        hint = f"write the value before it, such as LAST(x) {shorten(text)}"
    return MatchRecognizeParseError(
        f"missing {missing} of a {what} in {clause}", span, hint=hint, code="measure-without-name"
    )


# A column, and a call of a function with a column or without arguments.
_NAMED_BY_WORDS = re.compile(r"(?:\w+\.)?\w+|\w+\((?:\w+\.)?\w*\)")


def _suggest_name(text: str) -> str:
    """Return a name for a value: the words of a short expression, or else `name`.

    >>> _suggest_name("LAST(B.price)"), _suggest_name("price"), _suggest_name("price + 1")
    ('last_b_price', 'price', 'name')
    """
    words = re.findall(r"\w+", text.lower())
    is_short = _NAMED_BY_WORDS.fullmatch(text) is not None
    return "_".join(words) if is_short and not words[0].isdigit() else "name"


def name_with_blank(span: Span, *, name: str, text: str) -> MatchRecognizeParseError:
    """Return the error for a measure whose name has a blank: `A.id AS my id`.

    Args:
        span: the name in the text of the query.
        name: the two words of the name.
        text: the expression of the measure.
    """
    return MatchRecognizeParseError(
        f"name `{name}` in MEASURES has a blank",
        span,
        hint=f"write {shorten(text)} AS {quote_in_backticks(name)}, or a comma before the second "
        "word if it is another measure",
        code="name-with-blank",
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
    """Return the error for a string after AS, as in MEASURES x AS 'y'.

    Args:
        span: the string in the text of the query.
        what: what the name is for, such as "measure".
        clause: the part of the clause.
        text: the string with its quotes.
    """
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
        text: the definition.

    >>> print(malformed_subset(Span(0, 8), text="U (A, B)"))
    `U (A, B)` in SUBSET does not have the form U = (A, B) [malformed-subset]
      help: write SUBSET U = (A, B)
    """
    definition, _, text_after = text.partition(")")
    name, *members = re.findall(r"\w+", definition) or [""]
    members = [member for member in members if member.upper() != "AS"]
    if name:
        next_definition = f", {text_after.strip()}" if text_after.strip() else ""
        hint = f"write SUBSET {name} = ({', '.join(members) or 'A, B'}){next_definition}"
    else:
        hint = "write SUBSET U = (A, B)"
    return MatchRecognizeParseError(
        f"`{shorten(text)}` in SUBSET does not have the form U = (A, B)",
        span,
        hint=hint,
        code="malformed-subset",
    )


def malformed_definition(
    span: Span,
    *,
    text: str,
    proposal: tuple[str, str] | None,
    follows_comma: bool,
    number_before: str = "",
) -> MatchRecognizeParseError:
    """Return the error for a definition that does not have the form `A AS condition`.

    Args:
        span: the definition in the text of the query.
        text: the definition.
        proposal: a variable and the text that may be its condition; None if the definition does
            not begin with a name.
        follows_comma: whether a comma precedes the definition.
        number_before: the number before the comma if no blank is on either side of the comma;
            otherwise "".
    """
    hint = _find_definition_hint(text, proposal)
    if follows_comma and not text.isidentifier():
        hint = _find_comma_hint(text, number_before) or f"{hint}, or AND instead of the comma"
    return MatchRecognizeParseError(
        f"`{shorten(text)}` in DEFINE does not have the form A AS condition",
        span,
        hint=hint,
        code="malformed-definition",
    )


def _find_definition_hint(text: str, proposal: tuple[str, str] | None) -> str:
    """Return how to write a definition; the arguments are as for `malformed_definition`."""
    in_parentheses = re.fullmatch(r"(?is)\(\s*(\w+\s+AS\s.+)\)", text)
    if in_parentheses is not None:
        return f"remove the parentheses: DEFINE {shorten(in_parentheses[1])}"
    without_condition = re.fullmatch(r"(?i)([`\w]+)\s+AS", text)
    if without_condition is not None:
        return f"write a condition after AS, such as {without_condition[1]} AS x > 1"
    if re.fullmatch(r"[^\W\d]\w*", text):  # a variable alone
        return f"write {text} AS and a condition, or remove {text}, which then takes any row"
    without_variable = re.match(r"(?i)AS\s+(?=[^\s.=<>!])", text)
    if without_variable is not None:
        return f"write a variable before AS: A {shorten(text)}"
    if proposal is not None:
        variable, condition = proposal
        # the help for `A < 5` is not `A AS < 5`, because no condition begins with an operator
        if condition[0] not in "<>!":
            return f"write {variable} AS {shorten(condition)}"
    return "write DEFINE A AS x > 1, B AS x > 2"


def _find_comma_hint(text: str, number_before: str) -> str | None:
    """Return what to write instead of the comma before a text that is not a definition.

    Returns None unless the text shows that it continues the condition before the comma.

    >>> _find_comma_hint("AND x > 1", ""), _find_comma_hint("B x > 1", "")
    ('remove the comma before AND', None)
    >>> _find_comma_hint("05 AND x > 1", "1")
    'write 1.05: the decimal point is `.`'
    """
    joining_word = re.match(r"(?i)(AND|OR)\b", text)
    if joining_word is not None:
        return f"remove the comma before {joining_word[1]}"
    digits = re.match(r"\d+\b", text)
    if digits is not None and number_before and len(digits[0]) == 3:
        return f"write {number_before}{digits[0]} without the comma"
    if digits is not None and number_before:
        number_before = number_before.replace(".", "")  # `1.000,00`
        return f"write {number_before}.{digits[0]}: the decimal point is `.`"
    return None


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
    where = "between two variables"
    hint = f"write a comma instead: {_join_definitions(span)}"
    if definition:
        where = "before a variable"
        hint = f"remove {word}: {shorten(definition)}"
    return MatchRecognizeParseError(
        f"{word} is not allowed {where} in DEFINE", span, hint=hint, code="and-between-definitions"
    )


def _join_definitions(span: Span) -> str:
    """Return the texts around a word between two definitions, with a comma instead of the word.

    Args:
        span: the word in the text of the query.
    """
    text, start = read_users_text_around(span)
    before = re.split(r"(?i)\bDEFINE\s", text[:start])[-1]
    after = text[start + span.end - span.start :]
    definition = re.match(r"(?s)\s*(\w+\s+AS\s[^,)]{1,40})", after)
    if not before.strip() or definition is None:
        return "DEFINE A AS x > 1, B AS x > 2"
    shown = join_lines(before)
    start_text = f"DEFINE {shown}" if len(shown) <= MAX_AROUND else f"...{shown[-MAX_AROUND:]}"
    return f"{start_text}, {join_lines(definition[1])}"


def initial_or_seek_outside_window(span: Span, *, word: str) -> MatchRecognizeUnsupportedError:
    """Return the error for INITIAL or SEEK in the MATCH_RECOGNIZE clause."""
    return MatchRecognizeUnsupportedError(
        f"{word} in MATCH_RECOGNIZE is not supported",
        span,
        notes=("INITIAL and SEEK belong to row pattern recognition in the WINDOW clause",),
        hint=f"remove {word}",
        code="initial-or-seek-outside-window",
    )
