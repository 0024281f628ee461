"""Errors in how the MATCH_RECOGNIZE clause is put together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple
from unicodedata import category

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    find_keyword,
    find_nearest,
    join_names,
    shorten,
)
from matchrec.errors.language import current_surface
from matchrec.errors.message import fill_words, give_codes, parse_error, plan_error, unsupported
from matchrec.source import Span, read_table

_PARTS = (
    "PARTITION BY, ORDER BY, MEASURES, ONE ROW or ALL ROWS PER MATCH, AFTER MATCH SKIP, PATTERN, "
    "WITHIN, SUBSET, DEFINE"
)
_ORDER = f"the order is: {_PARTS}"
_IN_ORDER = f"write the parts in this order: {_PARTS}"


def unexpected_start(text: str, span: Span) -> MatchRecognizeParseError:
    """Return the error for a clause that does not begin with one of its parts."""
    cure = None
    if text.upper() not in ("SELECT", "WITH", "FROM"):
        cure = find_cure_of_token(text, "MATCH_RECOGNIZE")
    if cure is None:
        alone = "write the clause alone, from PARTITION BY to DEFINE"
        cure = f"{alone}, or pass a whole query to {current_surface().query}"
    return _unexpected_start(span, text=text, cure=cure)


_unexpected_start = parse_error(
    "`{text}` is not allowed at the start of MATCH_RECOGNIZE", notes=(_ORDER,), hint="{cure}"
)

empty_clause = parse_error("""missing PATTERN in MATCH_RECOGNIZE
    code: missing-pattern
    write at least PATTERN (A)""")
missing_pattern = parse_error(
    "missing PATTERN in MATCH_RECOGNIZE", notes=(_ORDER,), hint="add PATTERN (A B+) here"
)
misspelt_pattern = parse_error("""missing PATTERN in {where}
    note: `{text}` is not a keyword
    write PATTERN""")
malformed_selection = parse_error("""unknown event selection after PATTERN
    note: the event selections are STRICT CONTIGUITY, SKIP TILL NEXT MATCH and SKIP TILL ANY MATCH,
        then ALL MATCHES or NON-OVERLAPPING MATCHES; or LONGEST MATCH; then FIRST 10 MATCHES
    write one of these after PATTERN (...); for partition contiguity write PARTITION BY""")
skip_among_all = parse_error("""AFTER MATCH SKIP is not allowed with {output} in MATCH_RECOGNIZE
    code: skip-with-all-matches
    note: AFTER MATCH SKIP says where the search for the next preferred match begins
    remove AFTER MATCH SKIP, or remove {output}""")

# PATTERN (A B) $: `written` is the symbol after the parentheses, `text` the whole row pattern.
pattern_goes_on = parse_error("""`{written}` is not allowed outside the parentheses of PATTERN
    code: symbol-outside-pattern
    write PATTERN ({text:line})""")
pattern_without_parentheses = parse_error("""missing parentheses after PATTERN
    write PATTERN (A B+)""")
parenthesis_not_closed = parse_error("""parenthesis of {part} is not closed
    note: `--` starts a comment, also in `{--` and `--}`
    add `)` where it ends""")
last_closes_another = parse_error("""missing `)` of MATCH_RECOGNIZE: the last `)` closes this `(`
    code: clause-not-closed
    note: `--` starts a comment, also in `{--` and `--}`
    add `)` where this parenthesis ends""")

_CLOSED = {"(": "add `)` where it ends", "[": "add `]` where it ends", "{": "add `}` where it ends"}
not_closed_before = parse_error(
    "`{opening}` is not closed before {keyword} in MATCH_RECOGNIZE",
    hints=_CLOSED,
    code="bracket-not-closed",
)
closed_before = parse_error("""parenthesis of MATCH_RECOGNIZE is closed before {keyword}
    code: closed-too-early
    remove one `)` before {keyword}, or add the `(` that it closes""")
outside_parentheses = parse_error(
    """{part} is not allowed after the closing parenthesis of MATCH_RECOGNIZE
    code: part-outside-clause
    case PATTERN: move it into the parentheses
    case WITHIN | SUBSET | DEFINE: move it into the parentheses, after PATTERN (...)
    move it into the parentheses, before PATTERN""",
    notes=(_ORDER,),
)

# A part that must come before an earlier one; `order` lists the written parts in the right order.
out_of_order = parse_error("""{earlier} is not allowed after {later} in MATCH_RECOGNIZE
    code: part-out-of-order
    write the parts in this order: {order}""")
written_twice = parse_error(
    "{part} is written twice in MATCH_RECOGNIZE", hint="write one {part}", code="duplicate-part"
)
nothing_in = parse_error("""nothing follows {part} in MATCH_RECOGNIZE
    code: empty-part
    case PARTITION BY | ORDER BY: write {part} x, or leave {part} out
    case MEASURES: write MEASURES LAST(x) AS name, or leave {part} out
    case WITHIN: write WITHIN INTERVAL 1 HOUR, or leave {part} out
    case SUBSET: write SUBSET U = (A, B), or leave {part} out
    case DEFINE: write DEFINE A AS x > 1, or leave {part} out""")
nothing_beside_comma = parse_error("""{part} has a comma too many
    code: extra-comma
    remove the comma, or write what is missing before or after it""")
second_window = parse_error("""WITHIN limits the distance between the same rows twice
    code: duplicate-within
    keep the smaller window""")
window_of_rows_and_time = parse_error("""WITHIN limits both the time and the number of rows
    code: within-rows-and-time
    keep one, and write the other as a condition in DEFINE, such as count(*) <= 20""")
not_a_number_of_rows = parse_error("""`{number}` is not a number of rows for WITHIN
    note: WITHIN n ROWS limits the rows of the partition that a match spans; n is from 1 to
        {limit:,}
    write WITHIN 20 ROWS""")
not_a_number_of_matches = parse_error("""`{number}` is not a number of matches for FIRST
    note: FIRST n MATCHES limits the matches of each partition; n is from 1 to {limit:,}
    write FIRST 10 MATCHES""")
distance_without_interval = parse_error("""missing INTERVAL in WITHIN
    code: missing-interval
    write WITHIN INTERVAL {text}""")

# WITHIN 30s: in Spark SQL a letter after a number is its type, but most users mean a unit.
unit_in_number = parse_error("""`{written}` in WITHIN is not a length of time
    code: unit-without-interval
    note: Spark SQL reads it as the number {number} of type {type_name}
    write INTERVAL {number} {unit}, or {number} for a number in the unit of {part[ORDER BY]}""")

# x + INTERVAL 5; or WITHIN INTERVAL :gap, if the value of the parameter has no unit.
interval_without_unit = plan_error("""INTERVAL {number} in {where} has a number without a unit
    write INTERVAL {number} {unit}""")
interval_of_parameter = unsupported("""INTERVAL {parameter} is not supported in {where}
    note: only WITHIN takes INTERVAL and a parameter
    write {parameter} alone, and {here.length}""")
_OUTPUTS = (
    "ONE ROW PER MATCH",
    "ALL ROWS PER MATCH",
    "ALL ROWS PER MATCH SHOW EMPTY MATCHES",
    "ALL ROWS PER MATCH OMIT EMPTY MATCHES",
    "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
)


def malformed_rows_per_match(text: str, span: Span) -> MatchRecognizeParseError:
    """Return the error for ONE ROWS PER MATCH, or for a combination that does not exist."""
    near = find_nearest(" ".join(text.split()), _OUTPUTS)
    cure = f"write {near}" if near else "write ONE ROW PER MATCH or ALL ROWS PER MATCH"
    return _malformed_rows_per_match(span, text=text, cure=cure)


_malformed_rows_per_match = parse_error("""unknown output option `{text:short}` in MATCH_RECOGNIZE
    note: after ALL ROWS PER MATCH, MATCH_RECOGNIZE takes SHOW EMPTY MATCHES, OMIT EMPTY MATCHES or
        WITH UNMATCHED ROWS
    note: for runs that are not matches, write SHOW TIMEOUT MATCHES, SHOW UNFINISHED MATCHES or SHOW
        TIMEOUT AND UNFINISHED MATCHES
    {cure}""")
malformed_skip = parse_error("""unknown skip strategy `{text:short}` in MATCH_RECOGNIZE
    write AFTER MATCH SKIP PAST LAST ROW, TO NEXT ROW, TO FIRST A, TO LAST A or TO A""")
measure_without_name = parse_error("""missing name of a measure in MEASURES
    write {text:short} AS {name}""")
star_as_measure = parse_error("""`{text}` is not allowed in MEASURES
    note: a measure is one expression with a name
    name the columns: MEASURES A.x AS x; ALL ROWS PER MATCH gives every input column""")
string_as_name = parse_error("""the name of a {what} in {clause} is a string
    write AS {text:quoted}""")
malformed_subset = parse_error("""`{text:short}` in SUBSET does not have the form U = (A, B)
    write SUBSET U = (A, B), V = (B, C)""")


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
    if proposal is not None:
        variable, condition = proposal
        # the help for `A < 5` is not `A AS < 5`, because no condition begins with an operator
        if condition[0] not in "<>!":
            hint = f"write {variable} AS {shorten(condition)}"
    if after_comma:
        hint += ", or AND instead of the comma"
    return _malformed_definition(span, text=text, cure=hint)


_malformed_definition = parse_error("""`{text:short}` in DEFINE does not have the form A AS
        condition
    {cure}""")

joined_definitions = parse_error("""{word} is not allowed between two variables in DEFINE
    code: and-between-definitions
    write a comma instead: DEFINE A AS x > 1, B AS x > 2""")
search_outside_window = unsupported("""{word} in MATCH_RECOGNIZE is not supported
    code: initial-or-seek-outside-window
    note: INITIAL and SEEK belong to row pattern recognition in the WINDOW clause
    remove {word}""")

# Errors in the query around a clause, and in SQL syntax outside PATTERN.


@cache
def _read_languages() -> tuple[list[str], ...]:
    """Return the other languages: for each, its name and a regular expression for its texts."""
    return tuple(read_table("matchrec.errors.sql", "foreign_languages.txt"))


def refuse_other_language(text: str, offset: int = 0) -> None:
    """Refuse a text that is written in another language, such as EPL.

    Args:
        text: the text.
        offset: where the text starts in the text of the query.

    Raises:
        MatchRecognizeParseError: the text is in one of the languages in `foreign_languages.txt`.
    """
    for language, pattern in _read_languages():
        match = re.search(pattern, text, re.IGNORECASE | re.DOTALL)
        if match is not None:
            span = Span(offset + match.start(), offset + match.end())
            raise _other_language(span, meant=language)


_other_language = parse_error("""a pattern in another language is not supported
    code: pattern-of-other-language
    note: this is {meant}
    write SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES ... PATTERN (A B)
        DEFINE ...)""")
misspelt_clause = parse_error(
    "unknown clause `{text}` with a PATTERN", hint="write MATCH_RECOGNIZE"
)
clause_without_parenthesis = parse_error("""missing parenthesis after MATCH_RECOGNIZE
    write FROM t MATCH_RECOGNIZE (... PATTERN (...) ...)""")
point_before_clause = parse_error("""a point is not allowed before MATCH_RECOGNIZE
    write a space instead""")
several_statements = parse_error("""a second statement after `;` is not allowed in one call
    pass each statement in its own call""")
clause_without_relation = parse_error("""missing table before MATCH_RECOGNIZE
    write FROM t MATCH_RECOGNIZE (...)""")
comma_before_from = parse_error("a comma is not allowed before FROM", hint="remove the comma")
misspelt_from = parse_error("""missing FROM before the table of MATCH_RECOGNIZE
    note: `{text}` is not a keyword
    write FROM""")

# FROM 'stocks.csv' MATCH_RECOGNIZE (...), as DuckDB reads a file.
relation_in_quotes = parse_error("""a string is not allowed before MATCH_RECOGNIZE
    code: table-in-quotes
    note: MATCH_RECOGNIZE follows one relation in FROM: a table, a subquery, VALUES or a function
    write {name:quoted} for a table of that name; {here.file}""")
clause_in_wrong_place = parse_error("""MATCH_RECOGNIZE is not allowed here
    note: MATCH_RECOGNIZE follows one relation in FROM: a table, a subquery, VALUES or a function
    wrap what precedes it in a subquery: FROM (SELECT * FROM ...) MATCH_RECOGNIZE (...)""")
clause_in_clause = unsupported("""MATCH_RECOGNIZE in an expression of another MATCH_RECOGNIZE is not
        supported
    name its result: WITH c AS (SELECT ... MATCH_RECOGNIZE (...)), and query c instead""")
# UNPIVOT (v FOR name IN (low AS bottom)): Sail ignores the alias.
unpivot_alias = unsupported("""an alias in UNPIVOT is not supported on Sail
    rename the column in a subquery: FROM (SELECT *, {column} AS {alias} FROM ...) UNPIVOT (... IN
        ({alias}, ...))""")
changed_relation = parse_error("""MATCH_RECOGNIZE is not allowed on the table of {word}
    code: clause-on-changed-table
    note: MATCH_RECOGNIZE returns new rows, but {word} changes the rows of a table
    write the clause in a subquery of its condition: {word} ... WHERE x IN (SELECT ...)""")
lateral_relation = unsupported("""MATCH_RECOGNIZE after a LATERAL relation is not supported
    note: MATCH_RECOGNIZE reads its input once, not once for each row of another relation
    remove LATERAL, or join the relations in a subquery and match its result""")
correlated_relation = unsupported("""the input of MATCH_RECOGNIZE depends on `{name}` of the query
        around it
    note: MATCH_RECOGNIZE reads its input once, not once for each row of another relation
    join the relations in a subquery, match its result, and add the key to PARTITION BY""")
recursive_relation = unsupported("""MATCH_RECOGNIZE in the recursive definition of `{name}` is not
        supported
    match the finished rows instead: SELECT * FROM {name} MATCH_RECOGNIZE (...)""")
stored_text = unsupported("""MATCH_RECOGNIZE in {kind} is not supported
    code: clause-in-stored-text
    note: Spark stores the text, and cannot run the clause without matchrec
    write CREATE TEMPORARY VIEW, once in each session, or CREATE TABLE ... AS to keep the rows""")
global_view = unsupported("""MATCH_RECOGNIZE in the text of a global temporary view is not supported
    code: clause-in-global-view
    note: Spark stores the text, and other sessions do not have what matchrec replaces the clause
        with
    {here.session_view}""")
clause_in_script = unsupported("""MATCH_RECOGNIZE in a script, BEGIN ... END, is not supported
    note: the table that a clause reads may be made by an earlier statement of the script
    {here.statements}""")
clause_in_string = unsupported("""MATCH_RECOGNIZE in the text of EXECUTE IMMEDIATE is not supported
    note: Spark reads this text itself, without matchrec
    {here.using}""")
unknown_frame = plan_error("""missing {here.relation} for `{{name}}`
    code: missing-dataframe
    note: {here.passed[frames]}
    near: write {{near}}
    {here.frame[name]}""")

IN_DOUBLE_QUOTES = (
    "double quotes are for strings in Spark SQL, unless spark.sql.ansi.enabled and "
    "spark.sql.ansi.doubleQuotedIdentifiers are both true"
)

IN_BACKTICKS = "write {text:quoted} in backticks, or pass {option[dialect=snowflake|oracle|trino]}"
alias_in_double_quotes = parse_error(
    "double quotes are not allowed around the alias of MATCH_RECOGNIZE",
    notes=(IN_DOUBLE_QUOTES,),
    hint=IN_BACKTICKS,
)
unreadable_text = parse_error("""a string, a quoted name or a comment is not closed
    code: unclosed-text
    close it where it ends""")


def unexpected_token(text: str, where: str, span: Span) -> MatchRecognizeParseError:
    """Return the error for a word or sign that cannot come next; its headline says why not."""
    what = f"`{text}` is not allowed here"
    hint = find_look_alike_cure(text) or find_cure_of_token(text, where)
    if hint is None:
        hint = _find_cure_of_value(text, where)
        if hint in _NEXT_ITEMS.values():
            what = f"missing comma or operator before `{text}`"
    else:
        keyword = find_keyword(text) or text
        if hint == f"write {keyword}" and not keyword.startswith(f"{text.upper()} "):
            what = f"unknown keyword `{text}`"
    return _unexpected_token(span, what=what, where=where, cure=hint)


_unexpected_token = parse_error("""{what} in {where}
    code: unexpected-word
    {cure}""")


def find_cure_of_token(text: str, where: str) -> str | None:
    """Return what to write instead of a token, such as a misspelt keyword; None if unknown.

    Args:
        text: the token.
        where: the part of the query that has it, such as ORDER BY.

    >>> find_cure_of_token("MEASURE", "MATCH_RECOGNIZE")
    'write MEASURES'
    """
    if (where, text) == ("MATCH_RECOGNIZE", ","):
        return "remove the `,`"
    if where == "the query" and text.upper() in ("PARTITION", "ORDER", "MEASURES"):
        return "write SELECT * FROM t MATCH_RECOGNIZE (...) around a clause"
    if where == "MATCH_RECOGNIZE" and text.upper() in ("LIMIT", "INTERVAL", "DURATION"):
        return "limit the time of a match after PATTERN (...): WITHIN INTERVAL 1 HOUR"
    keyword = find_keyword(text)
    if (where, text.upper()) == ("ORDER BY", "AS"):
        return "remove AS and the name: a key of ORDER BY has no name"
    if keyword == text.upper():
        return _IN_ORDER
    cure = _read_cures_of_words().get(text.upper())
    if keyword or cure:
        return fill_words(cure or f"write {keyword}")
    if text in ")]}":
        return f"remove the `{text}`, or add the bracket that it closes"
    return None


# For the full-width form of each ASCII character: the character.
_WIDE = {chr(0xFEE0 + code): chr(code) for code in range(ord("!"), ord("~") + 1)}

# The signs of SQL to write for typographic and full-width East Asian characters.
LOOK_ALIKES = {
    **{wide: ascii_sign for wide, ascii_sign in _WIDE.items() if not ascii_sign.isalnum()},
    **dict.fromkeys("\u2018\u2019", "'"),
    **dict.fromkeys("\u201c\u201d", '"'),
    **dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\u2014", "-"),
    **dict(zip("\u2264\u2265\u2260", ("<=", ">=", "<>"), strict=True)),
    **dict(zip("\u2227\u2228\u00ac", ("AND", "OR", "NOT"), strict=True)),
    **dict(zip("\u00d7\u00f7\u3001\u3002", "*/,.", strict=True)),
}


def find_look_alike_cure(sentence: str) -> str | None:
    """Return the help for a sentence with a sign that looks like one of SQL; None if it has none.

    Word processors replace quotes and dashes, and East Asian scripts have their own signs.

    >>> find_look_alike_cure("Syntax error at or near '‘'"), find_look_alike_cure("Syntax error")
    ("write ' for ‘", None)
    """
    for character in sentence:
        if character in LOOK_ALIKES:
            return f"write {LOOK_ALIKES[character]} for {character}"
    return None


def strange_sign(text: str, where: str, span: Span) -> MatchRecognizeParseError:
    """Return the error for a word with a character that is not allowed in SQL outside quotes.

    >>> print(strange_sign("n≥", "MATCH_RECOGNIZE", Span(0, 2)))
    `≥` is not allowed here in MATCH_RECOGNIZE [unexpected-word]
      help: write >= for ≥
    """
    signs = [character for character in text if not character.isascii() and not character.isalnum()]
    look_alikes = [character for character in signs if character in LOOK_ALIKES]
    # a sign that can be replaced, or else the first sign, or else the whole word
    sign = next(iter((*look_alikes, *signs)), text)
    start = span.start + text.index(sign)
    if sign in LOOK_ALIKES:
        return unexpected_token(sign, where, Span(start, start + 1))
    if category(sign[0])[0] in "CZ":
        return _unseen(Span(start, start + 1), code=f"U+{ord(sign[0]):04X}", where=where)
    return _not_of_names(span, text=text, where=where)


_unseen = parse_error(
    "the invisible character {code} is not allowed in {where}",
    hint="remove it",
    code="invisible-character",
)
_not_of_names = parse_error("""`{text}` is not allowed in {where}
    code: unquoted-special-character
    write a name with such characters in backticks""")


def _find_cure_of_value(text: str, where: str) -> str | None:
    """Return what to write for a unit of time, a name or a value that cannot come next; or None."""
    if text.upper().removesuffix("S") in _UNITS:
        unit = text.upper().removesuffix("S")
        return f"write a length of time as INTERVAL '1' {unit}, with the number in quotes"
    if text[0].isalnum() or text[0] in "'\"`_":
        return _CURES_BEFORE_VALUE.get(where)
    return None


@cache
def _read_cures_of_words() -> dict[str, str]:
    """Return what to write instead of each word that other products have at this point."""
    rows = read_table("matchrec.errors.sql", "foreign_words.txt")
    return {word: cure for cure, words in rows for word in words.split()}


_UNITS = frozenset({"SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR"})
_NEXT = "write a comma, as in {}, or an operator before it; write a name with a blank in backticks"
_NEXT_ITEMS = {
    "PARTITION BY": _NEXT.format("PARTITION BY a, b"),
    "ORDER BY": _NEXT.format("ORDER BY a, b DESC"),
    "MEASURES": _NEXT.format("MEASURES FIRST(x) AS a, LAST(x) AS b"),
    "DEFINE": _NEXT.format("DEFINE A AS x > 1, B AS x > 2"),
}
# For each part of the clause: what may be missing before a name or a value.
_CURES_BEFORE_VALUE = {
    **_NEXT_ITEMS,
    "WITHIN": "write one interval or number: WITHIN INTERVAL 1 HOUR",
    "MATCH_RECOGNIZE": "write WITHIN, SUBSET or DEFINE after PATTERN (...)",
}

UNFINISHED = "a value is missing before the end, or between two operators"
unfinished_expression = parse_error(
    "the expression in {where} is not complete",
    notes=(UNFINISHED,),
    hint="write the missing value, or remove the operator",
)
case_without_end = parse_error("""missing END of CASE in {where}
    write CASE WHEN x > 1 THEN 'a' ELSE 'b' END""")
in_without_parentheses = parse_error("""missing parentheses after IN in {where}
    write IN ({value}), or = {value}""")
unclosed_bracket = parse_error(
    "`{opening}` is not closed in {where}", hints=_CLOSED, code="unclosed-bracket-in-expression"
)
missing_expression = parse_error("missing expression in {where}")

# Parentheses are nested so deep that the parser's stack overflows.
expression_nested_too_deep = unsupported("""the expression in {where} is nested too deep to read
    note: the marked part is inside more parentheses and calls than matchrec can read
    remove parentheses, or compute parts of it as columns of the input""")
other_number_of_names = plan_error("""the list after MATCH_RECOGNIZE has {given}, but the clause
        returns {found}
    code: wrong-number-of-column-names
    note: the clause returns: {columns}
    write one name for each of these columns""")


class Advice(NamedTuple):
    """The note and the help that matchrec adds to an error of the engine about a column."""

    note: str  # a fact
    cure: str  # what to write


def advice_on_column_inside(name: str, columns: Iterable[str]) -> Advice:
    """Advise on a column of the input that the result of the clause lacks."""
    cure = f"add LAST({name}) AS {name} to MEASURES, or write ALL ROWS PER MATCH"
    return Advice(f"the clause gives: {join_names(columns)}", cure)


def advice_on_column_around(name: str, columns: Iterable[str]) -> Advice:
    """Advise on a column that neither the clause nor its input has."""
    columns = tuple(columns)
    near = find_nearest(name, columns)
    cure = f"write {near}" if near else "write one of these"
    return Advice(f"the clause gives: {join_names(columns)}", cure)


def advice_on_field(column: str) -> Advice:
    """Advise on `column.name` for a column of the clause that has no such field."""
    cure = f"write {column} alone: x.y is for structs and maps"
    return Advice(f"{column} is a column of the clause", cure)


def advice_on_ungrouped(name: str) -> Advice:
    """Advise on a column of the clause that a query with GROUP BY reads outside an aggregate."""
    cure = f"write GROUP BY with {name}, or an aggregate of it, such as max({name})"
    return Advice(f"the clause gives {name}, but the groups of rows do not have it", cure)


def advice_on_qualifier(name: str, alias: str | None) -> Advice:
    """Advise on a column of the clause that is qualified by another name than its rows have."""
    if alias is not None:
        return Advice(f"the rows of the clause are called {alias}", f"write {alias}.{name}")
    note = "the rows of the clause have no name"
    return Advice(note, f"write {name}, or MATCH_RECOGNIZE (...) AS m")


def advice_on_variable(variable: str, name: str) -> Advice:
    """Advise on a value of the rows of a pattern variable that is used outside the clause."""
    value = f"count({variable}.*)" if name == "*" else f"LAST({variable}.{name})"
    cure = f"write {value} AS x in MEASURES, and select x"
    return Advice(f"{variable} is known only inside the clause", cure)


give_codes(globals())
