"""Errors in single words, signs and brackets, and in expressions that are not complete.

The text is a clause, an expression in a clause, or the query around a clause. In the arguments,
`where` is the part of the query that has the text, such as ORDER BY or "the query".
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple
from unicodedata import category

from matchrec.errors.kinds import MatchRecognizeParseError
from matchrec.errors.language import current_surface
from matchrec.errors.lengths import find_meant_length
from matchrec.errors.misspellings import find_keyword, find_misspelt_operator, find_nearest
from matchrec.errors.misspelt_keywords import misspelt_keyword
from matchrec.errors.sql.brackets import find_bracket_hint
from matchrec.errors.sql.foreign_names import add_dialect_hint
from matchrec.errors.sql.look_alikes import LOOK_ALIKES, find_look_alike_hint
from matchrec.errors.sql.sort_directions import find_direction
from matchrec.errors.wording import join_lines, quote_in_backticks, shorten
from matchrec.source import Span, read_table

# The parts of a clause, as a sentence lists them.
PARTS_IN_ORDER = (
    "PARTITION BY, ORDER BY, MEASURES, ONE ROW or ALL ROWS PER MATCH, AFTER MATCH SKIP, PATTERN, "
    "WITHIN, SUBSET, DEFINE"
)
CLOSING_BRACKETS = {"(": ")", "[": "]", "{": "}"}
IN_DOUBLE_QUOTES = (
    "double quotes are for strings in Spark SQL, unless spark.sql.ansi.enabled and "
    "spark.sql.ansi.doubleQuotedIdentifiers are both true"
)


def advise_backticks(text: str) -> str:
    """Return advice for a name in double quotes, which make a string in Spark SQL.

    >>> advise_backticks('"price"')
    'write `price` in backticks, or pass dialect="snowflake", "oracle" or "trino"'
    """
    dialects = current_surface().write_option("dialect", "snowflake", "oracle", "trino")
    return f"write {quote_in_backticks(text)} in backticks, or pass {dialects}"


# For each mark that opens a text: what it opens, and the mark that closes it.
_CLOSING_MARKS = {
    "'": ("string", "'"),
    '"': ("text in double quotes", '"'),
    "`": ("quoted name", "`"),
    "/": ("comment", "*/"),
}


def unclosed_text(span: Span, *, mark: str = "") -> MatchRecognizeParseError:
    """Return the error for a quote or a comment that is opened and not closed.

    Args:
        span: the location in the text of the query.
        mark: the first character of the quote or the comment; "" if it is not known.
    """
    what = "a string, a quoted name or a comment"
    hint = "close it where it ends"
    if mark in _CLOSING_MARKS:
        opened, closing = _CLOSING_MARKS[mark]
        what = f"the {opened} that begins here"
        hint = f"add {closing} where the {opened} ends"
    return MatchRecognizeParseError(f"{what} is not closed", span, hint=hint, code="unclosed-text")


def malformed_binary(span: Span, *, text: str) -> MatchRecognizeParseError:
    """Return the error for a malformed binary value, such as `X'1G'`.

    Args:
        span: the location in the text of the query.
        text: the value as it is written.
    """
    return MatchRecognizeParseError(
        f"`{text}` is not a binary value",
        span,
        hint="write X'1F', with the digits 0 to 9 and A to F only",
        code="malformed-binary",
    )


def unexpected_token(
    text: str,
    where: str,
    span: Span,
    text_around: tuple[str, str] = ("", ""),
    *,
    word_before: str = "",
) -> MatchRecognizeParseError:
    """Return the error for a word or sign that is not allowed at its location.

    Args:
        text: the word or sign.
        where: the part of the query.
        span: the word or sign in the text of the query.
        text_around: the text of this part before the word, and the text from the word on; empty if
            they are not known.
        word_before: the word or sign before it in the same expression; "" if there is none.
    """
    before, after = text_around
    if re.match(r"(?i)GROUP\s+BY\b", after):
        return group_by_in_clause(" ".join(after.split()), where, span)
    without_by = missing_by(after, span, where=where)
    if without_by is not None and where != "the query":
        return without_by
    explanation = _explain_token(text, where, before, after, word_before)
    if explanation.keyword is not None:
        return misspelt_keyword(span, text=text, keyword=explanation.keyword, where=where)
    if explanation.text is not None:
        span = Span(span.start, span.start + len(explanation.text))
    return MatchRecognizeParseError(
        f"{explanation.problem} in {where}", span, hint=explanation.hint, code="unexpected-word"
    )


# PARTITION or ORDER without BY, with ON or FOR that may be written instead, and the first key.
_WITHOUT_BY = re.compile(
    r"(?P<keyword>PARTITION|ORDER)\b(?!\s+BY\b)(?P<instead>\s+(?:ON|FOR|WITH|OF)\b)?"
    r"(?:\s+(?P<keys>[\w`].*))?",
    re.IGNORECASE | re.DOTALL,
)


# BY with one wrong letter, or with its letters swapped, before a key.
_MISSPELT_BY = re.compile(
    r"(?:B\w|\wY|YB|BY\w|B\wY)\b(?=\s+(?!(?:ASC|DESC|NULLS)\b)[\w`])", re.IGNORECASE
)


def missing_by(text: str, span: Span, *, where: str) -> MatchRecognizeParseError | None:
    """Return the error for PARTITION or ORDER without BY; None if a text begins with other words.

    Args:
        text: the text of the clause from the word up to the next part.
        span: the word in the text of the query.
        where: the part of the clause before the word.

    >>> print(missing_by("PARTITION ON sym", Span(0, 9), where="MATCH_RECOGNIZE"))
    missing BY after PARTITION in MATCH_RECOGNIZE [missing-by]
      help: write PARTITION BY sym
    """
    written = _WITHOUT_BY.match(text)
    if written is None:
        return None
    keyword = written["keyword"].upper()
    misspelt_by = _MISSPELT_BY.match(written["keys"] or "")
    if misspelt_by is not None and not written["instead"]:
        start = span.start + written.start("keys")
        return misspelt_keyword(
            Span(start, start + len(misspelt_by[0])),
            text=misspelt_by[0],
            keyword="BY",
            where="MATCH_RECOGNIZE",
        )
    keys = f" {shorten(written['keys'])}" if written["keys"] else ""
    location = " before ORDER BY" if (keyword, where) == ("PARTITION", "ORDER BY") else ""
    marked = written["keyword"] + (written["instead"] or "")
    return MatchRecognizeParseError(
        f"missing BY after {keyword} in MATCH_RECOGNIZE",
        Span(span.start, span.start + len(marked)),
        hint=f"write {keyword} BY{keys}{location}",
        code="missing-by",
    )


# For each option of the clause, or end of one, that cannot begin a part: what is missing before it,
# as a message says it, and as the help writes it.
_ALL_ROWS = "ALL ROWS PER MATCH"
_ONE_OR_ALL_ROWS = "ONE ROW PER MATCH or ALL ROWS PER MATCH"
_PARTIAL = r"(?:TIMEOUT AND UNFINISHED|TIMEOUT|UNFINISHED) MATCHES"
_CUT_OFF_OPTIONS = tuple(
    (re.compile(words.replace(" ", r"\s+") + r"\b", re.IGNORECASE), missing, start)
    for words, missing, start in (
        ("(?:SHOW|OMIT) EMPTY MATCHES", _ALL_ROWS, _ALL_ROWS),
        ("EMPTY MATCHES", f"{_ALL_ROWS} SHOW", f"{_ALL_ROWS} SHOW"),
        ("WITH UNMATCHED ROWS", _ALL_ROWS, _ALL_ROWS),
        ("UNMATCHED ROWS", f"{_ALL_ROWS} WITH", f"{_ALL_ROWS} WITH"),
        (f"SHOW {_PARTIAL}", _ONE_OR_ALL_ROWS, "ONE ROW PER MATCH"),
        (_PARTIAL, "ONE ROW PER MATCH SHOW", "ONE ROW PER MATCH SHOW"),
        ("ROW PER MATCH", "ONE", "ONE"),
        ("ROWS PER MATCH", "ALL", "ALL"),
        ("PER MATCH", "ONE ROW or ALL ROWS", "ONE ROW"),
        ("MATCH SKIP (?:TO|PAST)", "AFTER", "AFTER"),
        ("SKIP (?:TO|PAST)", "AFTER MATCH", "AFTER MATCH"),
        ("PAST LAST ROW", "AFTER MATCH SKIP", "AFTER MATCH SKIP"),
        ("TO NEXT ROW", "AFTER MATCH SKIP", "AFTER MATCH SKIP"),
    )
)
# The words after AFTER MATCH SKIP TO.
_SKIP_TARGET = re.compile(r"(?i)\s+(?:(?:NEXT|LAST)\s+ROW|(?:FIRST|LAST)\s+\w+|\w+)")
# The marks of templates of Jinja, as dbt uses them.
_TEMPLATE_MARKS = ("{{", "{%", "{#")
_TEMPLATE_HINT = "render the template first, and pass the SQL that it makes"
# For a word of the query around the clause: the text that the help repeats, and the help.
_HINTS_FOR_WORDS_OF_QUERY = {
    "LIMIT": (
        r"LIMIT (\d+)",
        "write LIMIT {0} after the clause, or FIRST {0} MATCHES after PATTERN (...)",
    ),
    "HAVING": (
        r"HAVING (.{1,60})$",
        "write WHERE {0} after the ) of MATCH_RECOGNIZE to filter the matches",
    ),
    "WHERE": (
        r"(WHERE .{1,60})$",
        (
            "write FROM (SELECT * FROM ... {0}) to filter the input, {0} after the ) of "
            "MATCH_RECOGNIZE to filter the matches, or a condition in DEFINE"
        ),
    ),
}
# What to write for "not greater" and "not less" of T-SQL.
_NEGATED_COMPARISONS = {"!>": "<=", "!<": ">="}


class _TokenExplanation(NamedTuple):
    """Why a word or sign is not allowed at its location, and what to write instead."""

    problem: str  # the headline without the part of the query
    hint: str | None  # None if it is not clear what to write
    # The text that is not allowed, from the word on; None for the word alone.
    text: str | None = None
    # The keyword that the word misspells, if it does.
    keyword: str | None = None


def _misspells(keyword: str) -> _TokenExplanation:
    """Explain a misspelt keyword."""
    return _TokenExplanation("", None, keyword=keyword)


def _explain_cut_off_option(after: str) -> _TokenExplanation | None:
    """Explain an option of the clause without the words that come before it; None for other texts.

    Args:
        after: the text of the query from the option on.

    >>> _explain_cut_off_option("SHOW EMPTY MATCHES").problem
    'missing ALL ROWS PER MATCH before SHOW EMPTY MATCHES'
    >>> _explain_cut_off_option("PAST LAST ROW PATTERN").hint
    'write AFTER MATCH SKIP PAST LAST ROW'
    """
    for pattern, missing, start in _CUT_OFF_OPTIONS:
        option = pattern.match(after)
        if option is None:
            continue
        end = option.end()
        if option[0].upper().endswith((" TO", " PAST")):
            target = _SKIP_TARGET.match(after, end)
            end = target.end() if target else end
        words = " ".join(after[:end].split())
        problem = f"missing {missing} before {words}"
        return _TokenExplanation(problem, f"write {start} {words}", after[:end])
    return None


# For each word of CASE without the words before it: what to write.
_HINTS_FOR_CASE = {
    "WHEN": "write CASE before WHEN",
    "THEN": "write CASE WHEN and a condition before THEN",
    "ELSE": "write CASE WHEN condition THEN value before ELSE, and END after the value of ELSE",
    "END": "write CASE WHEN condition THEN value before END, or remove END",
}


def _explain_token(
    text: str, where: str, before: str, after: str, word_before: str
) -> _TokenExplanation:
    """Explain why a word or sign is not allowed, by the first explanation that fits.

    Args:
        text: the word or sign.
        where: the part of the query.
        before: the text of this part before the word.
        after: the text from the word on.
        word_before: the word or sign before it in the same expression; "" if there is none.
    """
    not_allowed = f"`{text}` is not allowed here"
    missing_comma = f"missing comma or operator before `{text}`"
    explanation = _explain_text_from_elsewhere(text, where, before, after)
    if explanation is not None:
        return explanation
    if text.upper() in ("AND", "OR") and word_before.upper() in ("AND", "OR"):
        return _explain_missing_condition(word_before, text)
    if where == "DEFINE" and word_before and (operator := find_misspelt_operator(text)):
        return _misspells(operator)
    if text.upper() in _HINTS_FOR_CASE:
        return _TokenExplanation(not_allowed, _HINTS_FOR_CASE[text.upper()])
    if where == "ORDER BY":
        explanation = _explain_in_order_by(text, before, after)
        if explanation is not None:
            return explanation
    if where == "WITHIN":
        limit_hint = _find_limit_hint(before, text)
        if limit_hint is not None:
            return _TokenExplanation(not_allowed, limit_hint)
    if where in ("PARTITION BY", "ORDER BY") and before.strip().upper() == "MEASURES":
        return _TokenExplanation("a key is missing before MEASURES", f"write {where} x MEASURES")
    text_with_comma = _write_with_comma(where, before, after)
    follows_number = before.rstrip()[-1:].isdigit()
    if text_with_comma and _find_unit(text) and not follows_number:  # `day` is a column here
        return _TokenExplanation(missing_comma, text_with_comma)
    known_hint = find_look_alike_hint(text) or find_hint_for_token(text, where)
    if known_hint is not None:
        keyword = find_keyword(text) or text
        is_first_word = keyword.startswith(f"{text.upper()} ")  # PARTITION of PARTITION BY
        if known_hint == f"write {keyword}" and not is_first_word:
            return _misspells(keyword)
        return _TokenExplanation(not_allowed, known_hint)
    value_hint = _find_hint_for_value(text, where, word_before)
    if value_hint in _HINTS_TO_ADD_COMMA.values():
        separator_hint = text_with_comma or _separate_words(where, word_before, text)
        return _TokenExplanation(missing_comma, separator_hint or value_hint)
    return _TokenExplanation(not_allowed, value_hint)


def _explain_in_order_by(text: str, before: str, after: str) -> _TokenExplanation | None:
    """Explain a direction or a measure after a key of ORDER BY; None for other words.

    The arguments are as for `_explain_token`.
    """
    not_allowed = f"`{text}` is not allowed here"
    if text.upper() in ("ASC", "DESC", "NULLS"):
        hint = "write one direction after each key, such as x DESC or x ASC NULLS LAST"
        if not before.strip() and len(after.split()) > 1:  # `DESC ts`
            hint = f"write {shorten(after.split(maxsplit=1)[1])} {text.upper()}"
        return _TokenExplanation(not_allowed, hint)
    direction = find_direction(text)
    if direction is not None:
        return _misspells(direction)
    measure = re.fullmatch(r"\w+[.(].*\bAS\s+\w+", join_lines(after), re.IGNORECASE)
    if measure is not None and before.strip().upper() != "MEASURES":
        hint = f"write MEASURES {shorten(measure[0])}"
        return _TokenExplanation(f"missing MEASURES before `{text}`", hint)
    return None


def _explain_missing_condition(first: str, second: str) -> _TokenExplanation:
    """Explain two of AND and OR without a condition between them, as in `a > 1 AND AND b > 2`."""
    hint = f"write the condition between them, or remove {first} or {second}"
    if first.upper() == second.upper():
        hint = f"remove one {second}, or write the condition between the two"
    return _TokenExplanation(f"missing condition between `{first}` and `{second}`", hint)


def _explain_text_from_elsewhere(
    text: str, where: str, before: str, after: str
) -> _TokenExplanation | None:
    """Explain text of another language or another place; None if it is neither.

    Examples are `[t]`, SAFE_CAST, `{{`, `!>`, and an output option such as SHOW EMPTY MATCHES.

    Args:
        text: the word or sign.
        where: the part of the query.
        before: the text of this part before the word.
        after: the text from the word on.
    """
    hint = find_bracket_hint(text, before, after) or find_foreign_cast_hint(before, after)
    if hint is not None:
        return _TokenExplanation(f"`{text}` is not allowed here", hint)
    case = _write_case(after) if text.upper() in ("CASE", "IF") else None
    if case is not None:
        return _TokenExplanation(f"`{text}` is not allowed here", f"write {shorten(case)}")
    window = re.match(
        r"(?i)(?:(?:INTERVAL|DURATION)\s+)?(?:'[^']*'(?:\s+[a-z]+)?|\d+\s*[a-z]+)", after
    )
    length = None if window is None or before else find_meant_length(window[0])
    if length is not None and where == "MATCH_RECOGNIZE":
        return _TokenExplanation(f"`{text}` is not allowed here", f"write WITHIN {length.sql}")
    if re.match(r"(?i)NOT\s+NULL\b", after):
        return _TokenExplanation("`NOT NULL` is not allowed here", "write IS NOT NULL", after[:8])
    swapped = re.search(r"(?P<name>\w+)\s+AS\s+(?P<variable>\w+)\s*$", before, re.IGNORECASE)
    column = re.match(r"\.\s*(?P<name>\w+)", after)
    if where == "MEASURES" and swapped is not None and column is not None:
        hint = f"write {swapped['variable']}.{column['name']} AS {swapped['name']}"
        return _TokenExplanation(f"`{text}` is not allowed here", hint)
    definition = re.match(r"(?i)WHERE\s+(?P<text>\w+\s+AS\s.+)", join_lines(after))
    if definition is not None:
        hint = f"write DEFINE {shorten(definition['text'])}"
        return _TokenExplanation(f"`{text}` is not allowed here", hint)
    if text.upper() in _HINTS_FOR_WORDS_OF_QUERY:
        pattern, hint = _HINTS_FOR_WORDS_OF_QUERY[text.upper()]
        written = re.match(pattern, join_lines(after), re.IGNORECASE)
        if written is not None:
            return _TokenExplanation(f"`{text}` is not allowed here", hint.format(written[1]))
    operator = after[:2]
    if operator in _TEMPLATE_MARKS:
        return _TokenExplanation(f"`{operator}` is not allowed here", _TEMPLATE_HINT)
    option = _explain_cut_off_option(after)
    if option is not None:
        return option
    if operator in _NEGATED_COMPARISONS:
        hint = f"write {_NEGATED_COMPARISONS[operator]}"
        return _TokenExplanation(f"`{operator}` is not allowed here", hint)
    return None


def find_foreign_cast_hint(before: str, after: str) -> str | None:
    """Return what to write for a word of a cast or a function that Spark lacks; else None.

    The words are AS, USING, SEPARATOR and AT TIME ZONE, and the comma of `CAST(x, INT)`.

    Args:
        before: the text of the part before the word.
        after: the text from this word on.

    >>> find_foreign_cast_hint("DEFINE A AS TRY_PARSE(x ", "AS INT) > 1")
    'write TRY_CAST(x AS INT)'
    >>> find_foreign_cast_hint("A AS CAST(x", ", INT) > 1")
    'write CAST(x AS INT)'
    >>> find_foreign_cast_hint("CONVERT(LAST(sym) ", "USING latin1) = 'a'")
    "write encode(LAST(sym), 'latin1')"
    """
    concatenated = re.search(r"(?i).*\bGROUP_CONCAT\s*\((?P<value>.+)$", before, re.DOTALL)
    separator = re.match(r"(?i)SEPARATOR\s+(?P<text>'[^']*')", after)
    if concatenated is not None and separator is not None:
        return f"write listagg({join_lines(concatenated['value'])}, {separator['text']})"
    value_before = re.search(r"(?P<value>[\w.]+(?:\([^()]*\))?)\s*$", before)
    zone = re.match(r"(?i)AT\s+TIME\s+ZONE\s+(?P<name>'[^']*')", after)
    if value_before is not None and zone is not None:
        return f"write convert_timezone({zone['name']}, {value_before['value']})"
    charset = re.match(r"(?i)USING\s+(?P<name>\w+)\s*\)", after)
    converted = re.search(r"(?i).*\bCONVERT\s*\((?P<value>.+)$", before, re.DOTALL)
    if charset is not None and converted is not None:
        value = join_lines(converted["value"])
        if charset["name"].upper().startswith("UTF8"):
            return f"write {value} alone: strings are always UTF-8"
        return f"write encode({value}, '{charset['name']}')"
    opened = re.search(
        r"(?i)\b(?P<name>(?:SAFE_|TRY_)?CAST|(?:TRY_)?PARSE)\s*\((?P<value>[^()]+)$", before
    )
    target = re.match(r"(?i)(?:AS\s+|,\s*)(?P<type>\w+(?:\s*\([\d, ]*\))?)\s*[,)]", after)
    if opened is None or target is None:
        return None
    cast = "CAST" if opened["name"].upper() in ("CAST", "PARSE") else "TRY_CAST"
    hint = f"write {cast}({opened['value'].strip()} AS {target['type']})"
    is_of_bigquery = opened["name"].upper() == "SAFE_CAST"
    return add_dialect_hint(hint, "bigquery") if is_of_bigquery else hint


def group_by_in_clause(text: str, where: str, span: Span) -> MatchRecognizeParseError:
    """Return the error for GROUP BY inside of a clause.

    Args:
        text: the text of the part from GROUP BY on.
        where: the part of the clause before it.
        span: the word GROUP.
    """
    return MatchRecognizeParseError(
        f"GROUP BY is not allowed here in {where}",
        span,
        notes=("MATCH_RECOGNIZE groups rows with PARTITION BY",),
        hint=f"write {text[:_MAX_AROUND]} after the ) of MATCH_RECOGNIZE to group the matches; "
        "or write PARTITION BY instead, after the opening (, to search each group of rows alone",
        code="group-by-in-clause",
    )


# The most characters that a help repeats of the text before an error, and of the text after it.
_MAX_AROUND = 40


# Functions whose parentheses are often forgotten, as in `LAST A.price`.
_CALLED_WITH_PARENTHESES = frozenset(
    ("PREV", "NEXT", "FIRST", "LAST", "SUM", "AVG", "MIN", "MAX", "COUNT", "ABS")
)


def _separate_words(where: str, first: str, second: str) -> str | None:
    """Return the help for two words or signs of an expression between which something is missing.

    Returns None if the first one is "".

    >>> _separate_words("DEFINE", "5", "volume")
    'write AND or another operator between 5 and volume'
    >>> _separate_words("MEASURES", "best", "price")
    'write a comma or an operator between best and price, or backticks around a name with a blank'
    """
    if not first:
        return None
    if first.upper() in _CALLED_WITH_PARENTHESES:
        return f"write parentheses around the argument of {first}"
    if first.upper() in ("ORDER", "PARTITION"):
        return f"write {first} BY {shorten(second)}"
    separator = "AND or another operator" if where == "DEFINE" else "a comma or an operator"
    location = f"before {shorten(second)}"
    if first not in CLOSING_BRACKETS.values():
        location = f"between {shorten(first)} and {shorten(second)}"
    hint = f"write {separator} {location}"
    if first.isidentifier() and second.isidentifier():
        hint += ", or backticks around a name with a blank"
    return hint


def _write_case(text: str) -> str | None:
    """Return a CASE that lacks WHEN, or that is written IF, as SQL writes it; else None.

    >>> _write_case("IF price > 3 THEN 1 ELSE 2 END IF")
    'CASE WHEN price > 3 THEN 1 ELSE 2 END'
    """
    case = re.fullmatch(
        r"(?i)(?:CASE|IF)\s+(?!WHEN\b)(?P<condition>.+?)\s+THEN\s+(?P<values>.+?)(?:\s+END(?:\s+IF)?)?",
        join_lines(text),
    )
    if case is None or re.search(r"(?i)\bEND\b", case["values"]):
        return None
    return f"CASE WHEN {case['condition']} THEN {case['values']} END"


def _write_with_comma(where: str, before: str, after: str) -> str | None:
    """Return the help for a missing comma, with the user's text on both sides of the comma.

    Returns None if the part of the query is not a list, or if one of the sides has no text.

    >>> _write_with_comma("PARTITION BY", "sym ", "day")
    'write a comma: PARTITION BY sym, day'
    >>> _write_with_comma("DEFINE", "A AS x > 1 THEN ", "B AS x > 2")
    'write a comma instead of THEN: DEFINE A AS x > 1, B AS x > 2'
    """
    if where not in _HINTS_TO_ADD_COMMA or not before.strip() or not after.strip():
        return None
    before, after = " ".join(before.split()), " ".join(after.split())
    separator = re.search(r"(?i)\s(THEN)$|(;)$", before)
    if separator is not None and not re.search(r"(?i)\bCASE\b", before):
        comma_hint = _write_with_comma(where, before[: separator.start()], after) or ""
        instead = separator[1] or separator[2]
        return comma_hint.replace("a comma:", f"a comma instead of {instead}:", 1)
    start = f"{where} {before}"
    if len(before) > _MAX_AROUND:
        start = f"...{before[-_MAX_AROUND:]}"
    end = after if len(after) <= _MAX_AROUND else f"{after[:_MAX_AROUND]}..."
    return f"write a comma: {start}, {end}"


# For two signs with a space between them or in the wrong order: the operator that is meant.
_MEANT_OPERATORS = {
    ("=", "<"): "<=",
    ("=", ">"): ">=",
    (">", "="): ">=",
    ("<", "="): "<=",
    ("<", ">"): "<>",
    ("!", "="): "<>",
    ("=", "!"): "<>",
    ("=", "="): "=",
    ("|", "|"): "||",
    ("&", "&"): "AND",
}


def two_operators(first: str, second: str, span: Span, *, where: str) -> MatchRecognizeParseError:
    """Return the error for two operators in succession, as in `price = < 5`."""
    intended_operator = _MEANT_OPERATORS.get((first, second))
    hint = (
        f"write {intended_operator}" if intended_operator else f"write only `{first}` or `{second}`"
    )
    if first == second == "/":
        hint = "write -- before a comment, up to the end of the line, or /* ... */ around it"
    elif intended_operator is None and first == second:
        hint = f"write `{first}` once, or the value between the two"
    return MatchRecognizeParseError(
        f"`{first} {second}` is not allowed in {where}",
        span,
        notes=("a value is missing between two operators",),
        hint=hint,
        code="two-operators",
    )


def placeholder_of_python(span: Span, *, text: str, name: str) -> MatchRecognizeParseError:
    """Return the error for `%s` or `%(name)s`, for which a driver of Python inserts a value.

    Args:
        span: the placeholder in the text of the query.
        text: the placeholder.
        name: the name in it; "" for `%s`.
    """
    parameter = f":{name or 'name'}"
    advice = current_surface().advice_on_parameter.format(name=name or "name")
    return MatchRecognizeParseError(
        f"placeholder `{text}` is not supported",
        span,
        notes=("parameters begin with a colon",),
        hint=f"write {parameter}, and {advice}",
        code="placeholder-of-python",
    )


def no_value_before_operator(operator: str, span: Span, *, where: str) -> MatchRecognizeParseError:
    """Return the error for an operator with which an expression begins, as in `A AS = 5`."""
    return MatchRecognizeParseError(
        f"a value is missing before `{operator}` in {where}",
        span,
        hint=f"write a column or another value before `{operator}`",
        code="no-value-before-operator",
    )


def value_after_is(span: Span, *, where: str, operator: str) -> MatchRecognizeParseError:
    """Return the error for IS or IS NOT before a value, as in `price IS NOT PREV(price)`.

    Args:
        span: IS or IS NOT in the text of the query.
        where: the part of the query.
        operator: the operator that the help writes instead, such as `<>`.
    """
    return MatchRecognizeParseError(
        f"IS is not allowed before a value in {where}",
        span,
        notes=("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM follow IS and IS NOT",),
        hint=f"write {operator}",
        code="is-before-value",
    )


def find_hint_for_token(text: str, where: str) -> str | None:
    """Return what to write instead of a token, such as a misspelt keyword.

    Returns None if that is not clear.

    Args:
        text: the token.
        where: the part of the query that has it, such as ORDER BY.

    >>> find_hint_for_token("MEASURE", "MATCH_RECOGNIZE")
    'write MEASURES'
    """
    word = text.upper()
    if (where, text) == ("MATCH_RECOGNIZE", ","):
        return "remove the `,`"
    if where == "the query" and word in ("PARTITION", "ORDER", "MEASURES"):
        return "write SELECT * FROM t MATCH_RECOGNIZE (...) around a clause"
    if where == "MATCH_RECOGNIZE" and word in ("LIMIT", "INTERVAL", "DURATION"):
        return "limit the time of a match after PATTERN (...): WITHIN INTERVAL 1 HOUR"
    if (where, word) == ("ORDER BY", "AS"):
        return "remove AS and the name: a key of ORDER BY has no name"
    keyword = find_keyword(text)
    if keyword == word:
        return f"write the parts in this order: {PARTS_IN_ORDER}"
    foreign_word_hint = _find_foreign_word_hint(text)
    if foreign_word_hint is not None:
        return foreign_word_hint
    if keyword:
        return f"write {keyword}"
    if text in ")]}":
        return f"remove the `{text}`, or add the bracket that it closes"
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
        code = f"U+{ord(sign[0]):04X}"
        return MatchRecognizeParseError(
            f"the invisible character {code} is not allowed in {where}",
            Span(start, start + 1),
            hint="remove it",
            code="invisible-character",
        )
    return MatchRecognizeParseError(
        f"`{text}` is not allowed in {where}",
        span,
        hint="write a name with such characters in backticks",
        code="unquoted-special-character",
    )


def _find_hint_for_value(text: str, where: str, word_before: str) -> str | None:
    """Return what to write for a unit of time, a name or a value that is not allowed.

    Returns None for symbols, and if it is not clear what to write. `word_before` is as for
    `unexpected_token`.
    """
    unit = _find_unit(text)
    if unit is not None:
        number = word_before.strip("'")
        if re.fullmatch(r"\d+(?:\.\d+)?", number):
            return f"write INTERVAL '{number}' {unit}"
        return f"write a length of time as INTERVAL '1' {unit}, with the number in quotes"
    is_name_or_value = text[0].isalnum() or text[0] in "'\"`_"
    if not is_name_or_value:
        return None
    if where == "MATCH_RECOGNIZE":
        return f"write WITHIN, SUBSET or DEFINE before {text}"
    return _HINTS_BEFORE_VALUE.get(where)


_UNITS = frozenset({"SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR"})


# Words that people write for ROWS in WITHIN.
_WORDS_FOR_ROWS = ("ROW", "ROWS", "EVENT", "EVENTS", "RECORD", "RECORDS", "TUPLES")


def _find_limit_hint(before: str, word: str) -> str | None:
    """Return what to write instead of a number and a word in WITHIN; None for other texts.

    Args:
        before: the text of WITHIN before the word.
        word: the word.

    >>> _find_limit_hint("5", "ROW"), _find_limit_hint("INTERVAL 5", "MINUTS")
    ('write WITHIN 5 ROWS', 'write WITHIN INTERVAL 5 MINUTE')
    """
    if before.strip().upper() in ("ROWS", "EVENTS") and word.isdecimal():
        return f"write WITHIN {word} ROWS"
    limit = re.search(r"(?i)(?:^|,|\bWITHIN\s)\s*(INTERVAL\s+)?('?)(\d+)\2\s*$", before)
    if limit is None or not word.isalpha():
        return None
    has_interval, number = limit[1], limit[3]
    if word.upper() in _WORDS_FOR_ROWS and not has_interval:
        return f"write WITHIN {number} ROWS"
    unit = find_nearest(word.upper().removesuffix("S"), sorted(_UNITS))
    if unit is not None:
        return f"write WITHIN INTERVAL {number} {unit}"
    if not has_interval and find_nearest(word, ("ROWS",)):
        return f"write WITHIN {number} ROWS"
    return None


def _find_unit(text: str) -> str | None:
    """Return the unit of time that a word is, in singular and upper case; None for other words.

    >>> _find_unit("days"), _find_unit("price")
    ('DAY', None)
    """
    unit = text.upper().removesuffix("S")
    return unit if unit in _UNITS else None


class _ForeignWord(NamedTuple):
    """A word of other products, as the table `foreign_words.txt` has it."""

    # What to write instead.
    hint: str
    # A value of `dialect=` that understands the word; "" if none does.
    dialect: str


def _find_foreign_word_hint(text: str) -> str | None:
    """Return what to write instead of a word of other products; None for other words."""
    word = _read_foreign_words().get(text.upper())
    if word is None:
        return None
    if not word.dialect:
        return word.hint
    return f"{word.hint}, or pass {current_surface().write_option('dialect', word.dialect)}"


@cache
def _read_foreign_words() -> dict[str, _ForeignWord]:
    """Return the table of words of other products, by the words in upper case."""
    foreign_words = {}
    for hint, entries in read_table("matchrec.errors.sql", "foreign_words.txt"):
        for entry in entries.split():
            word, _, dialect = entry.partition("@")
            # `@` itself is a word, without a dialect
            foreign_words[word or entry] = _ForeignWord(hint, dialect)
    return foreign_words


_ADD_COMMA = (
    "write a comma, as in {}, or an operator before it; write a name with a blank in backticks"
)
# For each part of the clause that is a list: the hint for an item without a comma before it.
_HINTS_TO_ADD_COMMA = {
    "PARTITION BY": _ADD_COMMA.format("PARTITION BY a, b"),
    "ORDER BY": _ADD_COMMA.format("ORDER BY a, b DESC"),
    "MEASURES": _ADD_COMMA.format("MEASURES FIRST(x) AS a, LAST(x) AS b"),
    "DEFINE": _ADD_COMMA.format("DEFINE A AS x > 1, B AS x > 2"),
}

# For each part of the clause: what may be missing before a name or a value.
_HINTS_BEFORE_VALUE = {
    **_HINTS_TO_ADD_COMMA,
    "WITHIN": "write one interval or number: WITHIN INTERVAL 1 HOUR",
}
