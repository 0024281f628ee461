"""Errors in how the MATCH_RECOGNIZE clause is put together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple
from unicodedata import category

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    listed,
    meant_keyword,
    nearest,
    shortened,
)
from matchrec.errors.language import current_surface
from matchrec.errors.message import give_codes, parse_error, plan_error, unsupported, worded
from matchrec.source import Span, read_table

_ORDER = (
    "the order is: PARTITION BY, ORDER BY, MEASURES, ONE ROW or ALL ROWS PER MATCH, "
    "AFTER MATCH SKIP, PATTERN, WITHIN, SUBSET, DEFINE"
)


def unexpected_start(text: str, span: Span) -> MatchRecognizeParseError:
    start = "MATCH_RECOGNIZE"
    meant = None if text.upper() in ("SELECT", "WITH", "FROM") else meant_by(text, start)
    alone = "write the clause alone, from PARTITION BY to DEFINE"
    hint = meant or f"{alone}, or pass a whole query to {current_surface().query}"
    return _unexpected_start(span, text=text, cure=hint)


_unexpected_start = parse_error(
    "unexpected `{text}` in MATCH_RECOGNIZE", notes=(_ORDER,), hint="{cure}"
)

empty_clause = parse_error("""MATCH_RECOGNIZE without PATTERN
    code: missing-pattern
    the least clause is: PATTERN (A)""")
missing_pattern = parse_error(
    "MATCH_RECOGNIZE without PATTERN", notes=(_ORDER,), hint="add PATTERN (A B+) here"
)
misspelt_pattern = parse_error("{where} without PATTERN, but with `{text}`", hint="write PATTERN")
malformed_selection = parse_error("""event selection in MATCH_RECOGNIZE is not understood
    note: after PATTERN (...) may stand: STRICT CONTIGUITY, SKIP TILL NEXT MATCH or SKIP TILL ANY
        MATCH, then ALL MATCHES or NON-OVERLAPPING MATCHES; or LONGEST MATCH; then FIRST 10 MATCHES
    for partition contiguity write PARTITION BY: rows of other partitions are not seen""")
skip_among_all = parse_error("""AFTER MATCH SKIP with {output} in MATCH_RECOGNIZE
    code: skip-with-all-matches
    note: AFTER MATCH SKIP says where the search for the next preferred match begins
    remove AFTER MATCH SKIP, or remove {output}""")

# PATTERN (A B) $; `written` is the symbol outside, `text` all of the row pattern.
pattern_goes_on = parse_error("""`{written}` stands outside of the parentheses of PATTERN
    code: symbol-outside-pattern
    write PATTERN ({text:line})""")
pattern_without_parentheses = parse_error("""PATTERN without parentheses
    write PATTERN (A B+)""")
parenthesis_not_closed = parse_error("""parenthesis of {part} is not closed
    add `)`; mind that `--` starts a comment, also in `{--` and `--}`""")
last_closes_another = parse_error("""the last `)` closes this `(`, and none closes that of
        MATCH_RECOGNIZE
    code: clause-not-closed
    add `)` where what stands in the first one ends; mind that `--` starts a comment, also in `{--`
        and `--}`""")

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
    """{part} stands after the closing parenthesis of MATCH_RECOGNIZE
    code: part-outside-clause
    case PATTERN: move it into the parentheses
    case WITHIN | SUBSET | DEFINE: move it into the parentheses, after PATTERN (...)
    move it into the parentheses, before PATTERN""",
    notes=(_ORDER,),
)

# A part after one that it must precede; `order` is the right one of those written.
out_of_order = parse_error("""{earlier} stands after {later} in MATCH_RECOGNIZE
    code: part-out-of-order
    write the parts in this order: {order}""")
written_twice = parse_error(
    "{part} twice in MATCH_RECOGNIZE", hint="write one {part}", code="duplicate-part"
)
nothing_in = parse_error("""nothing follows {part} in MATCH_RECOGNIZE
    code: empty-part
    case PARTITION BY | ORDER BY: write {part} x, or leave {part} out
    case MEASURES: write MEASURES LAST(x) AS name, or leave {part} out
    case WITHIN: write WITHIN INTERVAL 1 HOUR, or leave {part} out
    case SUBSET: write SUBSET U = (A, B), or leave {part} out
    case DEFINE: write DEFINE A AS x > 1, or leave {part} out""")
nothing_beside_comma = parse_error("""a comma too many in {part}
    code: extra-comma
    remove it, or add what it divides""")
second_window = parse_error("""two windows between the same rows in WITHIN
    code: duplicate-within
    keep the smaller one""")
window_of_rows_and_time = parse_error("""a window of time and one of rows in WITHIN
    code: within-rows-and-time
    keep one, and write the other as a condition in DEFINE, such as count(*) <= 20""")
not_a_number_of_rows = parse_error("""`{number}` is no number of rows in WITHIN
    note: a match spans so many rows of its partition at most, from 1 to {limit:,}
    write WITHIN 20 ROWS""")
not_a_number_of_matches = parse_error("""`{number}` is no number of matches in FIRST
    note: so many matches of a partition come out at most, from 1 to {limit:,}
    write FIRST 10 MATCHES""")
distance_without_interval = parse_error("""WITHIN of a time without the word INTERVAL
    code: missing-interval
    write WITHIN INTERVAL {text}""")

# WITHIN 30s: a letter after a number is its type in Spark SQL, and most often meant as a unit.
unit_in_number = parse_error("""`{written}` in WITHIN is not a length of time
    code: unit-without-interval
    note: Spark SQL reads it as the number {number} of type {type_name}
    write INTERVAL {number} {unit}, or {number} for a number in the unit of {part[ORDER BY]}""")

# x + INTERVAL 5; WITHIN INTERVAL :gap, and the value has no unit.
interval_without_unit = plan_error("""INTERVAL {number} in {where} has a number without a unit
    write INTERVAL {number} {unit}""")
interval_of_parameter = unsupported("""INTERVAL {parameter} in {where}
    note: only WITHIN takes INTERVAL and a parameter
    write {parameter} alone, and {here.length}""")
malformed_rows_per_match = parse_error("""cannot read `{text:short}` in MATCH_RECOGNIZE
    note: ALL ROWS PER MATCH may go on with SHOW EMPTY MATCHES, OMIT EMPTY MATCHES or WITH UNMATCHED
        ROWS; runs that are no matches come out by SHOW TIMEOUT MATCHES, SHOW UNFINISHED MATCHES or
        SHOW TIMEOUT AND UNFINISHED MATCHES
    write ONE ROW PER MATCH or ALL ROWS PER MATCH, and one of these or nothing""")
malformed_skip = parse_error("""cannot read `{text:short}` in MATCH_RECOGNIZE
    write AFTER MATCH SKIP PAST LAST ROW, TO NEXT ROW, TO FIRST A, TO LAST A or TO A""")
measure_without_name = parse_error("""measure without a name in MEASURES
    write {text:short} AS {name}""")
star_as_measure = parse_error("""`{text}` in MEASURES
    note: a measure is one expression with a name
    name the columns: MEASURES A.x AS x; ALL ROWS PER MATCH gives every input column""")
string_as_name = parse_error("""the name of a {what} in {clause} is a string
    write AS {text:quoted}""")
malformed_subset = parse_error("""cannot read `{text:short}` in SUBSET
    write SUBSET U = (A, B), V = (B, C)""")


def malformed_definition(
    text: str, meant: tuple[str, str] | None, after_comma: bool, span: Span
) -> MatchRecognizeParseError:
    """DEFINE that is not A AS condition; `meant`: a variable and what may be its condition."""
    hint = "write DEFINE A AS x > 1, B AS x > 2"
    if meant and meant[1][0] not in "<>!":
        hint = f"write {meant[0]} AS {shortened(meant[1])}"
    if after_comma:
        hint += ", or AND in place of the comma"
    return _malformed_definition(span, text=text, cure=hint)


_malformed_definition = parse_error("""cannot read `{text:short}` in DEFINE
    {cure}""")

joined_definitions = parse_error("""{word} before another variable in DEFINE
    code: and-between-definitions
    write a comma in its place: DEFINE A AS x > 1, B AS x > 2""")
search_outside_window = unsupported("""{word} in MATCH_RECOGNIZE is not supported
    code: initial-or-seek-outside-window
    note: INITIAL and SEEK belong to row pattern recognition in the WINDOW clause
    remove {word}""")

# Errors in the query around a clause, and of SQL syntax outside PATTERN.


@cache
def _languages() -> tuple[list[str], ...]:
    """What such texts are, and regular expressions of them."""
    return tuple(read_table("matchrec.errors.sql", "foreign_languages.txt"))


def refuse_other_language(text: str, offset: int = 0) -> None:
    """Raises MatchRecognizeParseError for a text, which starts at `offset`, in another language."""
    for meant, written in _languages():
        if found := re.search(written, text, re.IGNORECASE | re.DOTALL):
            start, end = found.span()
            raise _other_language(Span(offset + start, offset + end), meant=meant)


_other_language = parse_error("""a pattern in another language
    code: pattern-of-other-language
    note: this is {meant}
    write SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES ... PATTERN (A B)
        DEFINE ...)""")
misspelt_clause = parse_error("unexpected `{text}` with a PATTERN", hint="write MATCH_RECOGNIZE")
clause_without_parenthesis = parse_error("""MATCH_RECOGNIZE without a parenthesis after it
    write FROM t MATCH_RECOGNIZE (... PATTERN (...) ...)""")
point_before_clause = parse_error("""a point before MATCH_RECOGNIZE
    write a space in its place""")
several_statements = parse_error("""another statement after `;`
    write each statement in a call of its own""")
clause_without_relation = parse_error("""MATCH_RECOGNIZE without a relation before it
    write FROM t MATCH_RECOGNIZE (...)""")
comma_before_from = parse_error("a comma before FROM", hint="remove the comma")
misspelt_from = parse_error("`{text}` before the relation of MATCH_RECOGNIZE", hint="write FROM")

# FROM 'stocks.csv' MATCH_RECOGNIZE (...), as DuckDB reads a file.
relation_in_quotes = parse_error("""a string before MATCH_RECOGNIZE
    code: table-in-quotes
    note: it follows one relation in FROM: a table, a subquery, VALUES or a function
    write {name:quoted} for a table of that name; {here.file}""")
clause_in_wrong_place = parse_error("""MATCH_RECOGNIZE cannot stand here
    note: it follows one relation in FROM: a table, a subquery, VALUES or a function
    wrap what precedes it in a subquery: FROM (SELECT * FROM ...) MATCH_RECOGNIZE (...)""")
clause_in_clause = unsupported("""MATCH_RECOGNIZE in an expression of another MATCH_RECOGNIZE is not
        supported
    name its result: WITH c AS (SELECT ... MATCH_RECOGNIZE (...)), and query c instead""")
# UNPIVOT (v FOR name IN (low AS bottom)): Sail leaves the alias out of the rows.
unpivot_alias = unsupported("""an alias in UNPIVOT is not supported on Sail
    rename the column in a subquery: FROM (SELECT *, {column} AS {alias} FROM ...) UNPIVOT (... IN
        ({alias}, ...))""")
changed_relation = parse_error("""MATCH_RECOGNIZE on the table of {word}
    code: clause-on-changed-table
    note: the clause gives new rows, and {word} changes those of a table
    write the clause in a subquery of its condition: {word} ... WHERE x IN (SELECT ...)""")
lateral_relation = unsupported("""MATCH_RECOGNIZE after a LATERAL relation is not supported
    note: its input is matched once, not once for each row of another relation
    remove LATERAL, or join the relations in a subquery and match its result""")
correlated_relation = unsupported("""input of MATCH_RECOGNIZE depends on `{name}` of the query
        around it
    note: its input is matched once, not once for each row of another relation
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
    note: Spark stores the text, and other sessions have not what stands in it for clauses
    make it of the result: spark.sql("SELECT ...").createGlobalTempView("name")""")
clause_in_script = unsupported("""MATCH_RECOGNIZE in a script, BEGIN ... END, is not supported
    note: the table that a clause reads may be made by a statement before it
    pass the statements one by one, and write loops and branches in Python""")
clause_in_string = unsupported("""MATCH_RECOGNIZE in the text of EXECUTE IMMEDIATE is not supported
    note: Spark reads this text by itself, without matchrec
    pass the query itself, with args= for USING, and SET VARIABLE x = (SELECT ...) for INTO""")
unknown_frame = plan_error("""no DataFrame is passed for `{{name}}`
    code: missing-dataframe
    note: passed: {frames}
    near: write {{near}}
    {here.frame[name]}""")

IN_DOUBLE_QUOTES = (
    "double quotes are for strings in Spark SQL, unless spark.sql.ansi.enabled and "
    "spark.sql.ansi.doubleQuotedIdentifiers are both true"
)

IN_BACKTICKS = "write {text:quoted} in backticks, or pass {option[dialect=snowflake|oracle|trino]}"
alias_in_double_quotes = parse_error(
    "alias of MATCH_RECOGNIZE in double quotes", notes=(IN_DOUBLE_QUOTES,), hint=IN_BACKTICKS
)
unreadable_text = parse_error("""text that is opened here and never closed
    code: unclosed-text
    close the string, the quoted name or the comment""")


def unexpected_token(text: str, where: str, span: Span) -> MatchRecognizeParseError:
    hint = cure_of_look_alike(text) or meant_by(text, where) or _separated(text, where)
    return _unexpected_token(span, text=text, where=where, cure=hint)


_unexpected_token = parse_error("""unexpected `{text}` in {where}
    code: unexpected-word
    {cure}""")


def meant_by(text: str, where: str) -> str | None:
    """What was probably meant by a token, such as a keyword spelled otherwise."""
    if (where, text) == ("MATCH_RECOGNIZE", ","):
        return "remove the `,`"
    if where == "the query" and text.upper() in ("PARTITION", "ORDER", "MEASURES"):
        return "write SELECT * FROM t MATCH_RECOGNIZE (...) around a clause"
    if where == "MATCH_RECOGNIZE" and text.upper() in ("LIMIT", "INTERVAL", "DURATION"):
        return "limit the time of a match after PATTERN (...): WITHIN INTERVAL 1 HOUR"
    keyword = meant_keyword(text)
    if (where, text.upper()) == ("ORDER BY", "AS"):
        return "leave AS and the name out: a key of ORDER BY has none"
    if keyword == text.upper():
        return _ORDER
    cure = _cures_of_words().get(text.upper())
    if keyword or cure:
        return worded(cure or f"write {keyword}")
    if text in ")]}":
        return f"remove the `{text}`, or add the bracket that it closes"
    return None


_WIDE = {chr(0xFEE0 + code): chr(code) for code in range(ord("!"), ord("~") + 1)}

# Characters of printed text, and of the wide forms of East Asian scripts, with those of SQL.
LOOK_ALIKES = {
    **{wide: one for wide, one in _WIDE.items() if not one.isalnum()},
    **dict.fromkeys("\u2018\u2019", "'"),
    **dict.fromkeys("\u201c\u201d", '"'),
    **dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\u2014", "-"),
    **dict(zip("\u2264\u2265\u2260", ("<=", ">=", "<>"), strict=True)),
    **dict(zip("\u2227\u2228\u00ac", ("AND", "OR", "NOT"), strict=True)),
    **dict(zip("\u00d7\u00f7\u3001\u3002", "*/,.", strict=True)),
}


def cure_of_look_alike(sentence: str) -> str | None:
    """What to write where a word processor or another script has put its own sign, or None.

    >>> cure_of_look_alike("Syntax error at or near '‘'"), cure_of_look_alike("Syntax error")
    ("write ' for ‘", None)
    """
    found = next((one for one in sentence if one in LOOK_ALIKES), None)
    return None if found is None else f"write {LOOK_ALIKES[found]} for {found}"


def strange_sign(text: str, where: str, span: Span) -> MatchRecognizeParseError:
    """A word with a character that no SQL has outside of quotes.

    >>> print(strange_sign("n≥", "MATCH_RECOGNIZE", Span(0, 2)))
    unexpected `≥` in MATCH_RECOGNIZE [unexpected-word]
      help: write >= for ≥
    """
    strange = [one for one in text if not one.isascii() and not one.isalnum()]
    sign = next((one for one in strange if one in LOOK_ALIKES), strange[0] if strange else text)
    start = span.start + text.index(sign)
    if sign in LOOK_ALIKES:
        return unexpected_token(sign, where, Span(start, start + 1))
    if category(sign[0])[0] in "CZ":
        return _unseen(Span(start, start + 1), code=f"U+{ord(sign[0]):04X}", where=where)
    return _not_of_names(span, text=text, where=where)


_unseen = parse_error(
    "the character {code} in {where} is not seen", hint="remove it", code="invisible-character"
)
_not_of_names = parse_error("""unexpected `{text}` in {where}
    code: unquoted-special-character
    write a name with such characters in backticks""")


def _separated(text: str, where: str) -> str | None:
    if text.upper().removesuffix("S") in _UNITS:
        unit = text.upper().removesuffix("S")
        return f"write a length of time as INTERVAL '1' {unit}, with the number in quotes"
    return _SEPARATED.get(where) if text[0].isalnum() or text[0] in "'\"`_" else None


@cache
def _cures_of_words() -> dict[str, str]:
    rows = read_table("matchrec.errors.sql", "foreign_words.txt")
    return {word: cure for cure, words in rows for word in words.split()}


_UNITS = frozenset({"SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR"})
_NEXT = "write an operator before it, or a comma: {}; a name with a blank stands in backticks"
_SEPARATED = {
    "PARTITION BY": _NEXT.format("PARTITION BY a, b"),
    "ORDER BY": _NEXT.format("ORDER BY a, b DESC"),
    "MEASURES": _NEXT.format("MEASURES FIRST(x) AS a, LAST(x) AS b"),
    "DEFINE": _NEXT.format("DEFINE A AS x > 1, B AS x > 2"),
    "WITHIN": "write one interval or number: WITHIN INTERVAL 1 HOUR",
    "MATCH_RECOGNIZE": "after PATTERN come WITHIN, SUBSET and DEFINE",
}

UNFINISHED = "something is missing before the end, or between two operators"
unfinished_expression = parse_error("cannot read the expression in {where}", notes=(UNFINISHED,))
case_without_end = parse_error("""cannot read the expression in {where}
    note: CASE has no END""")
in_without_parentheses = parse_error("""IN without parentheses in {where}
    write IN ({value}), or = {value}""")
unclosed_bracket = parse_error(
    "`{opening}` is not closed in {where}", hints=_CLOSED, code="unclosed-bracket-in-expression"
)
missing_expression = parse_error("expression missing in {where}")

# Parentheses in parentheses beyond the parser's stack.
expression_nested_too_deep = unsupported("""expression in {where} is nested too deep to read
    note: what is marked lies in more parentheses and calls than can be read
    remove parentheses, or compute parts of it as columns of the input""")
other_number_of_names = plan_error("""the list after MATCH_RECOGNIZE has {given}, and the clause
        gives {found}
    code: wrong-number-of-column-names
    note: the clause gives: {columns}
    write a name for each of them""")


class Advice(NamedTuple):
    """What matchrec adds to an error of the engine about a column."""

    note: str  # a fact
    cure: str  # what to write


def advice_on_column_inside(name: str, columns: Iterable[str]) -> Advice:
    """Advise on a column of the input that the result of the clause lacks."""
    cure = f"add LAST({name}) AS {name} to MEASURES, or write ALL ROWS PER MATCH"
    return Advice(f"the clause gives: {listed(columns)}", cure)


def advice_on_column_around(name: str, columns: Iterable[str]) -> Advice:
    """Advise on a column that neither the clause nor its input has."""
    columns = tuple(columns)
    near = nearest(name, columns)
    cure = f"write {near}" if near else "write one of these"
    return Advice(f"the clause gives: {listed(columns)}", cure)


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
